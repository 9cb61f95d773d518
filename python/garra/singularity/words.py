"""Joints, sets of joints, wrenches and angles of a singularity map as people read them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from garra.page import words

Table = dict[str, Any]

# Hues of the most frequent sets of responsible joints, readable on light, on dark and on the dark end of the ramp.
HUES = ("#e4572e", "#f0a202", "#c65cc0", "#4d9de0", "#6bbf3f", "#9a7bff", "#17b3a6", "#b07a4f")
OTHER = "#8b95a1"
ALONG = 0.9998  # cosine of the degree within which a direction is called by its axis


def sentence(words_: str) -> str:
    """With a capital letter, the rest as it is."""
    return words_[:1].upper() + words_[1:]


def joint_set(joints: Sequence[int]) -> str:
    """{4, 6}"""
    return "{" + ", ".join(map(str, joints)) + "}"


def listed(items: Sequence[Any]) -> str:
    """2, 3 and 5"""
    texts = [str(item) for item in items]
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + f" and {texts[-1]}"


def joints_text(joints: Sequence[int]) -> str:
    """joint 4; joints 4 and 6"""
    if not joints:
        return "no joint"
    return f"joint{'' if len(joints) == 1 else 's'} {listed(joints)}"


def own_name(joint: int, names: Sequence[str]) -> str:
    """A joint's name; empty where it says no more than its number, like joint_4."""
    name = names[joint]
    return "" if re.fullmatch(rf"(joint|axis|j)?[\W_]*(?:{joint})?", name.lower()) else name


def names_text(joints: Sequence[int], names: Sequence[str]) -> str:
    """The names behind the numbers; empty where some have none of their own."""
    found = [own_name(k, names) for k in joints]
    return listed(found) if all(found) else ""


def members(bits: int) -> list[int]:
    """Joints of a set of bits, joint k (from 0) worth 2^k."""
    return [k for k in range(int(bits).bit_length()) if int(bits) >> k & 1]


def bits_of(joints: Sequence[int]) -> int:
    return sum(1 << k for k in joints)


def position(value: float, prismatic: bool) -> str:
    """A joint's value: degrees, or millimeters, to hundredths."""
    shown = round(1e3 * value if prismatic else math.degrees(value), 2) + 0.0
    text = f"{shown:,.2f}".rstrip("0").rstrip(".").replace("-", "−")
    return f"{text}{words.NARROW}mm" if prismatic else f"{text}°"


def angle(value: float | None) -> str:
    """A distance in joint space [rad] in degrees."""
    return words.MISSING if value is None or math.isnan(value) else f"{words.number(math.degrees(value))}°"


def small(x: float | None, digits: int = 3) -> str:
    """A number that is called 0 where it is rounding of one."""
    if x is None:
        return words.MISSING
    return "0" if abs(x) < 1e-12 else words.number(x, digits)


def vector(values: Sequence[float], digits: int = 3) -> str:
    return "(" + ", ".join(small(v, digits) for v in values) + ")"


def direction(d: np.ndarray) -> str:
    """A unit vector by the world axis that it follows, else by its coordinates."""
    axis = int(np.abs(d).argmax())
    if abs(d[axis]) >= ALONG:
        return f"the {'xyz'[axis]} axis"
    return vector(d if d[axis] > 0 else -d)


def wrench(values: Sequence[float]) -> str:
    """Name of a lost wrench (force; moment about the origin): a moment, a force along a line, or a screw of both."""
    force, moment = np.array(values[:3], dtype=float), np.array(values[3:], dtype=float)
    size, turning = float(np.linalg.norm(force)), float(np.linalg.norm(moment))
    if max(size, turning) < 1e-12:
        return "none"
    if size < 1e-6 * turning:
        return f"a pure moment about {direction(moment / turning)}: the arm cannot turn there"
    along = force / size
    through, pitch = np.cross(force, moment) / size**2, float(force @ moment) / size**2
    line = f"along {direction(along)} through the point {vector(through)}{words.NARROW}m"
    if abs(pitch) < 1e-6:
        return f"a pure force {line}: no point of this line can move along it"
    return f"a force {line}, with a moment about the same line of {words.number(pitch)}{words.NARROW}N·m per newton"


def sign_text(signs: Sequence[int]) -> str:
    """Directions of the joints: +, −, or either."""
    return ", ".join({1: "+", -1: "−"}.get(sign, "either way") for sign in signs) or words.MISSING


SELF_MOTION = {
    "escapes": "leads out of the singularity",
    "none": "does not lead out",
    "undecided": "does not lead out to second order",
    "not_checked": "was not checked: more than one freedom is lost",
}


def self_motion(answer: str) -> str:
    return SELF_MOTION.get(answer.replace(" ", "_"), answer.replace("_", " "))


def center(scaling: Table) -> str:
    """The rule by which screws were scaled."""
    named = {"natural": "the point nearest to all revolute axes", "tool": "the tool point"}
    place = named.get(scaling["center"], f"the origin of {scaling['center']}’s frame")
    if scaling["length"] is None:
        return f"{place}; lengths in units of the axes’ root mean square distance to it"
    return f"{place}; lengths in units of {words.number(scaling['length'])}{words.NARROW}m"
