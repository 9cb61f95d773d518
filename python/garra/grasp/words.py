"""The probability and the scenario of a grasp study as people read them."""

from __future__ import annotations

import re
from typing import Any

from garra.page import words


def odds(probability: float, low: float, high: float, confidence: float = 0.95) -> str:
    """The estimate as a sentence for someone who does not read probabilities every day."""
    level = words.percent(confidence, 0)
    if probability >= 1:
        if low >= 1:
            return "All samples hold."
        return f"Not one sample failed: with {level} confidence at most {_few(1 - low, 'fail')}."
    if probability <= 0:
        if high <= 0:
            return "No sample held."
        return f"Not one sample held: with {level} confidence at most {_few(high, 'hold')}."
    if probability > 0.99:
        return f"About {words.one_in(1 - probability)} grasps fails."
    if probability < 0.01:
        return f"About {words.one_in(probability)} grasps holds."
    return f"About {round(100 * probability)} of 100 grasps hold."


def _few(p: float, verb: str) -> str:
    return f"{words.one_in(p)} grasps {verb}" + ("s" if p <= words.RARE else "")


def about_nominal(inputs: dict[str, Any]) -> dict[str, Any]:
    """Fields of study_parts.inputs() that say which inputs are deviations from what the scenario gives."""
    for row in inputs["families"]:
        if re.fullmatch(r"object .*(position|turn) [xyz]|contact angle", row["name"]):
            row["distribution"] += ", about the nominal value"
    return inputs


# --- the scenario in one line


QUANTITIES = {"radius": "m", "height": "m", "size": "m", "mass": "kg", "angle": "rad", "grip_force": "N"}


def _table(scenario: dict[str, Any], key: str) -> dict[str, Any]:
    """A table of the scenario; empty where it is absent or written in a way this line does not know."""
    found = scenario.get(key, {})
    return found if isinstance(found, dict) else {}


def study_line(scenario: dict[str, Any], contacts: int, levels: list[float] | None = None) -> list[str]:
    """Description of the study: hand, object, contacts, friction (`levels` replace the scenario's), grip force; as far as
    given in the scenario."""
    hand, body = _table(scenario, "hand"), _table(scenario, "object")
    parts = [f"{words.plain(name)} hand"] if (name := _hand_name(hand)) else []
    sizes = ("radius", "height", "size", "mass")
    body_parts = [f"{key} {words.value(body[key], QUANTITIES[key])}" for key in sizes if key in body]
    if "shape" in body:
        parts.append(", ".join([str(body["shape"]), *body_parts]))
    parts.append(words.plural(contacts, "contact"))
    places = {"friction": "contacts", "angle": "contacts", "grip_force": "load"}
    for key, table in places.items():
        if key == "friction" and levels:
            parts.append(
                f"{len(levels)} levels of friction, {words.number(min(levels))} to {words.number(max(levels))}"
            )
        elif key in _table(scenario, table):
            parts.append(f"{words.plain(key)} {words.value(_table(scenario, table)[key], QUANTITIES.get(key, ''))}")
    return parts


def _hand_name(hand: dict[str, Any]) -> str:
    if "urdf" in hand:
        return str(hand["urdf"]).rsplit("/", 1)[-1].removesuffix(".urdf")
    fingers = hand.get("finger")
    if not isinstance(fingers, list):
        return str(hand.get("model", ""))
    models = {finger["model"] for finger in fingers if isinstance(finger, dict) and "model" in finger}
    return " ".join([f"{len(fingers)}-finger", *(models if len(models) == 1 else ())])
