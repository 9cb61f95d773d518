"""Numbers, intervals and scenarios as people read them."""

from __future__ import annotations

import math
from typing import Any

NARROW = "\u202f"  # no-break space before a unit
MISSING = "–"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def count(n: int) -> str:
    return f"{n:,}"


def plural(n: int, noun: str) -> str:
    return f"{count(n)} {noun}" + ("" if n == 1 else "s")


def decimals_for(low: float, high: float) -> int:
    """Decimals of a percentage that show one digit of the interval's half width."""
    half = 50 * (high - low)
    return 1 if half <= 0 else min(max(-math.floor(math.log10(half)), 1), 6)


def percent(p: float | None, decimals: int = 1) -> str:
    """Never rounds to 0 or 100 % what is not exactly that."""
    if p is None or math.isnan(p):
        return MISSING
    if p in (0, 1):
        return f"{100 * p:.0f}{NARROW}%"
    while decimals < 8 and f"{100 * p:.{decimals}f}" in (f"{0:.{decimals}f}", f"{100:.{decimals}f}"):
        decimals += 1
    return f"{100 * p:.{decimals}f}{NARROW}%"


def share(part: int, whole: int) -> str:
    return percent(part / whole) if whole else MISSING


def power_of_ten(exponent: int) -> str:
    return "10" + str(exponent).translate(SUPERSCRIPTS)


def number(x: float | None, digits: int = 3) -> str:
    """`digits` significant digits, without trailing zeros; powers of ten where that is shorter."""
    if x is None or math.isnan(x):
        return MISSING
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    if x != 0 and not 1e-3 <= abs(x) < 1e6:
        mantissa, exponent = f"{x:.{max(digits - 2, 0)}e}".split("e")
        return f"{mantissa.replace('-', '−')}{NARROW}×{NARROW}{power_of_ten(int(exponent))}"
    decimals = digits - 1 - (math.floor(math.log10(abs(x))) if x else 0)
    text = f"{x:,.{max(decimals, 0)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "−")


def quantity(x: float | None, unit: str) -> str:
    return number(x) if unit in ("1", "") or x is None else f"{number(x)}{NARROW}{unit}"


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{number(seconds)}{NARROW}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def one_in(p: float) -> str:
    return f"1 in {count(int(float(f'{1 / p:.2g}')))}"


def odds(probability: float, low: float, high: float) -> str:
    """The estimate as a sentence for someone who does not read probabilities every day."""
    if probability >= 1:
        return f"Not one sample failed; at most {one_in(1 - low)} grasps may fail." if low < 1 else "All samples hold."
    if probability <= 0:
        return f"Not one sample held; at most {one_in(high)} grasps may hold." if high > 0 else "No sample held."
    if probability > 0.99:
        return f"About {one_in(1 - probability)} grasps fails."
    if probability < 0.01:
        return f"About {one_in(probability)} grasps holds."
    return f"About {round(100 * probability)} of 100 grasps hold."


def stopped_by(reason: str) -> str:
    reasons = {
        "samples": "all requested samples were drawn",
        "half_width": "the interval reached the requested half width",
        "time_limit": "stopped at its time limit before all samples were drawn",
        "signal": "stopped by a signal before all samples were drawn",
    }
    return reasons.get(reason, reason)


# --- the scenario in one line


def value(entry: Any) -> str:
    """A scenario's value or distribution."""
    if isinstance(entry, dict) and "common" in entry:
        each = f" × {value(entry['each'])}" if "each" in entry else ""
        return f"{value(entry['common'])}{each}, common to all contacts"
    if isinstance(entry, dict):
        kinds = [key for key in entry if key not in ("min", "max")]
        return _distribution(kinds[0], entry[kinds[0]]) if kinds else MISSING
    if isinstance(entry, list):
        return " × ".join(value(item) for item in entry)
    if isinstance(entry, float | int) and not isinstance(entry, bool):
        return number(entry)
    return str(entry).replace(" deg", "°").replace(" ", "\u00a0")


def _distribution(kind: str, parameters: Any) -> str:
    pair = [value(p) for p in parameters] if isinstance(parameters, list) else [value(parameters)]
    if len(pair) == 2 and kind == "normal":
        return f"{pair[0]} ± {pair[1]}"
    if len(pair) == 2 and kind == "uniform":
        return f"{pair[0]} … {pair[1]}"
    return f"{kind.replace('_', ' ')} {', '.join(pair)}"


def _table(scenario: dict[str, Any], key: str) -> dict[str, Any]:
    """A table of the scenario; empty where it is absent or written in a way this line does not know."""
    found = scenario.get(key, {})
    return found if isinstance(found, dict) else {}


def study_line(scenario: dict[str, Any], contacts: int) -> list[str]:
    """What was studied: hand, object, contacts, friction, squeeze; as far as the scenario says."""
    hand, body = _table(scenario, "hand"), _table(scenario, "object")
    parts = [f"{name.replace('_', ' ')} hand"] if (name := _hand_name(hand)) else []
    sizes = [f"{key} {value(body[key])}" for key in ("radius", "height", "size", "mass") if key in body]
    if "shape" in body:
        parts.append(", ".join([str(body["shape"]), *sizes]))
    parts.append(plural(contacts, "contact"))
    places = {"friction": "contacts", "angle": "contacts", "squeeze": "load"}
    for key, table in places.items():
        if key in _table(scenario, table):
            parts.append(f"{key} {value(_table(scenario, table)[key])}")
    return parts


def _hand_name(hand: dict[str, Any]) -> str:
    if "urdf" in hand:
        return str(hand["urdf"]).rsplit("/", 1)[-1].removesuffix(".urdf")
    fingers = hand.get("finger")
    if not isinstance(fingers, list):
        return str(hand.get("model", ""))
    models = {finger["model"] for finger in fingers if isinstance(finger, dict) and "model" in finger}
    return " ".join([f"{len(fingers)}-finger", *(models if len(models) == 1 else ())])
