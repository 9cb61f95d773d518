"""A ranking of candidate grasps as people read it: what was uncertain."""

from __future__ import annotations

from typing import Any

from garra.page import words

Table = dict[str, Any]

# Name, value without effect, label, unit, whether a ball, text of what is drawn for each contact or joint: the reported rows of
# kSetOptions, which pages need without the compiled module (a test compares them).
_REPORTED = (
    ("com_radius", 0.0, "center of mass off by", "m", True, ""),
    ("tilt", 0.0, "normals tilted by", "rad", False, ""),
    ("displacement_radius", 0.0, "contacts displaced together by", "m", True, ""),
    ("force_radius", 0.0, "disturbing force", "N", True, ""),
    ("torque_radius", 0.0, "disturbing torque", "N m", True, ""),
    ("grip_force_error", 0.0, "errors of the normal forces", "N", False, "for each contact on its own"),
    ("torque_error", 0.0, "errors of the torques", "N m", False, "for each joint on its own"),
)


def study(said: Table, arrays: Table) -> list[tuple[str, str]]:
    """Uncertain inputs with units; `arrays`: arrays of the set, as far as known."""
    if not said:
        return []
    rows = [("friction", _friction(said))]
    if not said.get("mass_is_factor", True):
        rows.append(("mass", _said(said["mass"], "kg")))
    elif "mass" in arrays or _matters(said.get("mass", 1), 1):
        rows.append(("mass", "the set’s" + _times(said.get("mass", 1))))
    slides = [said.get(key, 0) for key in ("slide_t", "slide_o")]
    if slides[0] == slides[1] and _matters(slides[0], 0):
        rows.append(("contacts slide by", _said(slides[0], "m") + ", along t and o of the surface, each on its own"))
    else:
        rows += [
            (f"contacts slide by, along {along}", _said(slide, "m"))
            for slide, along in zip(slides, "to", strict=True)
            if _matters(slide, 0)
        ]
    if _matters(said.get("command", 1), 1):
        rows.append(("command", "the set’s" + _times(said["command"])))
    for name, default, label, unit, is_ball, each in _REPORTED:
        given = said.get(name, default)
        if _matters(given, default):
            rows.append((label, _said(f"ball({given})" if is_ball else given, unit) + (f", {each}" if each else "")))
    if said.get("force_limit"):
        rows.append(("normal forces at most", words.shown(float(said["force_limit"]), "N")))
    if said.get("wrenches"):
        rows.append(("one of the wrenches acts", "; ".join(_wrench(w) for w in said["wrenches"])))
    if said.get("random_gravity_direction"):
        rows.append(("gravity", "from any direction, uniform on the sphere"))
    return rows


def torsion(arrays: Table) -> str:
    """Torsion radii of a set with soft contacts, "5 mm" or "2 mm to 5 mm"; "" for points."""
    radii = arrays.get("torsion_radius")
    if radii is None or not len(radii) or not radii.max() > 0:
        return ""
    low, high = (words.shown(float(x), "m") for x in (radii.min(), radii.max()))
    return low if low == high else f"{low} to {high}"


def _wrench(wrench: list[float]) -> str:
    force, moment = (", ".join(words.number(float(x)) for x in wrench[k : k + 3]) for k in (0, 3))
    return f"({force}) N, ({moment}) N m"


def _friction(said: Table) -> str:
    common, own = said.get("friction", 1), said.get("per_contact_friction_factor", 1)
    if said.get("friction_is_factor", True):
        return "the set’s" + _times(common, own)
    if _number(common) == 1 and is_drawn(own):  # as Python says it
        return _said(own, "1") + ", for each contact on its own"
    shared = ", common to all contacts" if is_drawn(common) else ""
    return _said(common, "1") + shared + _times(1, own)


def _times(common: Any, own: Any = 1) -> str:
    factors = [_said(factor, "1") for factor in (common,) if _matters(factor, 1)]
    factors += [f"{_said(factor, '1')}, for each contact on its own" for factor in (own,) if _matters(factor, 1)]
    return "".join(f" × ({factor})" for factor in factors)


def _said(given: Any, unit: str) -> str:
    number = _number(given)
    return words.distribution(str(given), unit) if number is None else words.shown(number, unit)


def _number(given: Any) -> float | None:
    """None: a distribution."""
    try:
        return float(given)
    except ValueError:
        return None


def is_drawn(given: Any) -> bool:
    return _number(given) is None


def _matters(given: Any, neutral: float) -> bool:
    return _number(given) != neutral
