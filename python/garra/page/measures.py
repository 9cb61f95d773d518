"""Numbers with units as people read them (31 ms, 4.1 mN·m, 12.5°), and quantiles of distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from garra.page import words
from garra.page.words import pretty

Table = dict[str, Any]

PREFIXED = ("s", "N*m", "N", "J")  # shown with a prefix that fits: 31 ms, 4.1 mN·m
PREFIXES = ((1.0, ""), (1e3, "m"), (1e6, "µ"), (1e9, "n"), (1e12, "p"), (1e15, "f"))
ANGLES = {"rad": "°", "rad/s": "°/s"}


@dataclass(frozen=True)
class Scale:
    """How an SI number is shown: times `factor`, with `unit` behind it."""

    unit: str = ""
    factor: float = 1.0

    def text(self, x: float | None) -> str:
        return words.quantity(None if x is None else x * self.factor, self.unit)


def scale(unit: str, magnitude: float) -> Scale:
    """The scale in which numbers up to `magnitude` (SI) read well."""
    if unit in ANGLES:
        return Scale(ANGLES[unit], 180 / math.pi)
    if unit in ("m", "m/s"):
        return Scale("m" + unit, 1e3) if magnitude < 1 else Scale(unit)
    if unit in PREFIXED and 0 < magnitude < math.inf:
        factor, prefix = next((p for p in PREFIXES if magnitude * p[0] >= 0.9995), PREFIXES[-1])
        return Scale(prefix + pretty(unit), factor)
    return Scale(pretty(unit))


def measure(x: float | None, unit: str) -> str:
    """A number with its unit: 31 ms, 4.1 mN·m, 12.5°."""
    return scale(unit, abs(x) if x is not None and math.isfinite(x) else 0).text(x)


def quantile(table: Table, level: str) -> float:
    """A quantile of a distribution in SI units; ±infinity where it lies outside the bins, NaN without values."""
    if table["quantiles"][level] is not None:
        return float(table["quantiles"][level])
    total = defined(table)
    if not total:
        return math.nan
    if table["below"] >= float(level) * total:
        return -math.inf
    return math.inf


def defined(table: Table) -> int:
    """Samples that have a value."""
    return sum(table["counts"]) + table["below"] + table["above"]


def quantile_text(table: Table, level: str) -> str:
    """A quantile with its unit; `> 400 ms` where it lies beyond the bins."""
    value = quantile(table, level)
    if math.isinf(value):
        sign, end = (">", table["high"]) if value > 0 else ("<", table["low"])
        return f"{sign}{words.NARROW}{measure(end, table['unit'])}"
    return measure(value, table["unit"])
