"""Numbers, intervals and scenarios as people read them."""

from __future__ import annotations

import math
import re
from typing import Any

NARROW = "\u202f"  # no-break space before a unit
MISSING = "–"
UNITS = {"m": ("mm", 1e3), "rad": ("°", 180 / math.pi)}  # shown in what people say
HALF = (400, 240)  # size of a figure that fills half the page [px]
RARE = 0.1  # shares up to it are said as 1 in N
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def plain(key: str) -> str:
    return key.replace("_", " ")


def count(n: int) -> str:
    return f"{n:,}"


def plural(n: int, noun: str) -> str:
    return f"{count(n)} {noun}" + ("" if n == 1 else "s")


def shortened(name: str, most: int = 28) -> str:
    """A name with room in a figure: of a long one both ends."""
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-(most // 2 - 1) :]}"


def numbered(noun: str, numbers: list[int]) -> str:
    """Things by their numbers: contact 1; contacts 0, 2; contacts 0 to 29."""
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{noun}s {numbers[0]} to {numbers[-1]}"
    return f"{noun}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


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


def digits_for(low: float | None, high: float | None) -> int:
    """Significant digits that show the difference of two numbers: 3, or more where they are close."""
    if None in (low, high) or low == high:
        return 3
    return min(max(3, 2 + math.ceil(math.log10(max(abs(low), abs(high)) / (high - low)))), 6)


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


def quantity(x: float | None, unit: str, digits: int = 3) -> str:
    """A number with its unit behind it: a degree sign without a space, nothing of 1."""
    if x is None or math.isnan(x):
        return MISSING
    said = pretty(unit)
    return number(x, digits) + (said if said.startswith("°") or not said else NARROW + said)


def pretty(unit: str) -> str:
    """N*m*s/rad -> N·m·s/rad, kg*m^2 -> kg·m²."""
    unit = re.sub(r"\^(-?\d+)", lambda power: power[1].translate(SUPERSCRIPTS), unit)
    return "" if unit == "1" else unit.replace("*", "·").replace(" ", "·")


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{number(seconds)}{NARROW}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def one_in(p: float) -> str:
    return f"1 in {count(int(float(f'{1 / p:.2g}')))}" if p <= RARE else f"{math.ceil(100 * p)} of 100"


def stopped_by(reason: str) -> str:
    reasons = {
        "samples": "all requested samples were drawn",
        "half_width": "the interval reached the requested half width",
        "time_limit": "stopped at its time limit before all samples were drawn",
        "signal": "stopped by a signal before all samples were drawn",
    }
    return reasons.get(reason, reason)


# --- distributions


def distribution(text: str, unit: str) -> str:
    """A summary's `normal(0.0, 0.0349)` with its unit as people write it: normal, 0 ± 2°; a constant is its number."""
    match = re.fullmatch(r"(\w+)\((.*)\)(, truncated)?", text)
    try:
        found = [float(x) for x in (match[2] if match else text).split(",")]
    except ValueError:
        return text
    if not match:
        return shown(found[0], unit)
    kind, cut = match[1].removesuffix("_uniform"), ", truncated" if match[3] else ""
    if kind == "lognormal" and len(found) == 2:
        return f"log-normal, median {shown(found[0], unit)}, sd of the logarithm {number(found[1])}{cut}"
    if kind in ("cone", "ball") and len(found) == 1:
        return f"uniform in a {kind} of {shown(found[0], unit)}{cut}"
    if kind == "normal" and len(found) == 2:
        return f"normal, {_pair(found, unit, ' ± ')}{cut}"
    if kind == "uniform" and len(found) == 2:
        return f"uniform, {_pair(found, unit, ' to ')}{cut}"
    return text


def shown(x: float, unit: str) -> str:
    """A number of an SI unit in what people say: 0.0349 rad is 2°, 0.002 m is 2 mm."""
    said, factor = UNITS.get(unit, (unit, 1.0))
    return quantity(float(f"{factor * x:.6g}"), said)  # 1.9999999999999998° is 2°


def _pair(values: list[float], unit: str, between: str) -> str:
    """Two numbers and their unit once: 0 ± 2°, but −180° to 180°."""
    first, second = (shown(v, unit) for v in values)
    behind = second[len(second.rstrip("°")) :] or (NARROW + second.split(NARROW, 1)[1] if NARROW in second else "")
    once = behind and not (behind == "°" and between == " to ")
    return (first.removesuffix(behind) if once else first) + between + second


# --- entries of a scenario


def value(entry: Any, unit: str = "") -> str:
    """A scenario's value or distribution; `unit`: of plain numbers."""
    if isinstance(entry, dict) and "common" in entry:
        each = f" × {value(entry['each'])}" if "each" in entry else ""
        return f"{value(entry['common'], unit)}{each}, common to all contacts"
    if isinstance(entry, dict):
        kinds = [key for key in entry if key not in ("min", "max")]
        cut = ", truncated" if len(kinds) < len(entry) else ""
        return _distribution(kinds[0], entry[kinds[0]], unit) + cut if kinds else MISSING
    if isinstance(entry, list):
        return " × ".join(value(item, unit) for item in entry)
    if isinstance(entry, float | int) and not isinstance(entry, bool):
        return shown(float(entry), unit)
    return str(entry).replace(" deg", "°").replace(" ", "\u00a0")


def _distribution(kind: str, parameters: Any, unit: str) -> str:
    pair = [value(p, unit) for p in parameters] if isinstance(parameters, list) else [value(parameters, unit)]
    if len(pair) == 2 and kind == "normal":
        return f"{pair[0]} ± {pair[1]}"
    if len(pair) == 2 and kind == "uniform":
        return f"{pair[0]} … {pair[1]}"
    if len(pair) == 2 and kind == "lognormal":  # the second is of the logarithm
        return f"lognormal {pair[0]}, sd of the logarithm {value(parameters[1])}"
    return f"{plain(kind)} {', '.join(pair)}"
