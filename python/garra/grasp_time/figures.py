"""The figures of a grasp study in time that do not depend on the level shown, as SVG that belongs to the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from garra.page.figures import bars, densities, finite, labeled, percent_axis
from garra.page.plot import Axis, Plot, ticks
from garra.page.words import HALF, UNITS

Table = dict[str, Any]


def against_friction(levels: Sequence[Table]) -> str:
    """P(held) and P(no slip) with their intervals; `levels` in the order of their friction."""
    friction = finite([level["friction"] for level in levels])
    plot = Plot("against-friction", HALF, _friction_axis(friction), percent_axis(0, 1))
    for key, hue in (("no_slip", "accent"), ("held", "held")):
        p, low, high = (finite([level[key][part] for level in levels]) for part in ("probability", "low", "high"))
        plot.area(friction, low, high, hue, 0.16)
        plot.line(friction, p, hue, 1.6)
        for row in zip(friction, p, low, high, strict=True):
            if all(map(math.isfinite, row)):
                plot.whisker(row[0], row[2], row[3], hue)
                plot.dot(row[0], row[1], hue, 2.6)
    return plot.svg("Probability of being held and of no slip against friction")


def _friction_axis(friction: Sequence[float]) -> Axis:
    pad = 0.04 * (friction[-1] - friction[0]) or 0.05
    low, high = friction[0] - pad, friction[-1] + pad
    return Axis((low, high), ticks(low, high, 6), "nominal friction coefficient")


def survival(levels: Sequence[Table], names: Sequence[str]) -> str:
    """Per level the share still in the hand over time, named at its end; the more friction the darker."""
    time = levels[0]["survival"]["time"]
    until = (time[0], time[-1]) if len(time) > 1 else (0.0, 1.0)
    several = len(levels) > 1
    x = Axis(until, ticks(*until, 6), "time [s]")
    plot = Plot("survival", HALF, x, percent_axis(0, 1), right=64 if several else 14)
    ends = []
    for k, level in enumerate(levels):
        p, low, high = (finite(level["survival"]["drop"][key]) for key in ("probability", "low", "high"))
        plot.area(level["survival"]["time"], low, high, "held", 0.13)
        plot.line(level["survival"]["time"], p, "held", 1.7, alpha=0.35 + 0.65 * (k + 1) / len(levels))
        ends.append(p[-1] if p else math.nan)
    if several:
        for k, (end, height) in _names(plot, ends).items():
            plot.leader(
                [(plot.right, end), (plot.right + 5, end), (plot.right + 19, height), (plot.right + 24, height)], "held"
            )
            plot.label(names[k], plot.right + 27, height + 0.35 * plot.font, "ink")
    return plot.svg("Share still in the hand over time")


def _names(plot: Plot, ends: Sequence[float]) -> dict[int, tuple[float, float]]:
    """Heights of the end and of the name of each curve [px]. Names that would touch are moved apart as little as
    possible, in order: leader lines do not cross."""
    order = sorted((k for k in range(len(ends)) if math.isfinite(ends[k])), key=lambda k: (-ends[k], -k))
    at = [plot.py(ends[k]) for k in order]
    room = 1.12 * plot.font
    groups: list[list[float]] = []  # [first height, names in it]
    for k, y in enumerate(at):
        groups.append([y, 1])
        while len(groups) > 1 and groups[-2][0] + room * groups[-2][1] > groups[-1][0]:
            n = int(groups.pop()[1] + groups[-1][1])
            members = at[k + 1 - n : k + 1]
            groups[-1] = [sum(h - room * i for i, h in enumerate(members)) / n, n]
            least, most = plot.top, plot.bottom - room * (n - 1)
            groups[-1][0] = min(max(groups[-1][0], least), most)
    heights = [first + room * i for first, n in groups for i in range(int(n))]
    return {k: (at[i], heights[i]) for i, k in enumerate(order)}


def quantiles(key: str, label: str, levels: Sequence[Table], reference: float | None) -> str:
    """A quantity's 5, 25, 50, 75 and 95 % quantiles against friction; `reference` as it is shown."""
    tables = [level[key] for level in levels]
    unit, factor = UNITS.get(tables[0]["unit"], (tables[0]["unit"], 1.0))
    friction = finite([level["friction"] for level in levels])
    rows = {q: [factor * v for v in finite([t["quantiles"][q] for t in tables])] for q in tables[0]["quantiles"]}
    known = [v for q in ("0.05", "0.95", "0.5") for v in rows[q] if math.isfinite(v)] or [0.0, 1.0]
    pad = 0.06 * (max(known) - min(known)) or 0.1 * abs(max(known)) or 0.1
    low, high = min(known) - (pad if min(known) < 0 else min(pad, min(known))), max(known) + pad
    y = Axis((low, high), ticks(low, high, 5), labeled(label.lower(), unit))
    plot = Plot(f"quantiles-{key}", (310, 200), _friction_axis(friction), y)
    for bottom, top, alpha in (("0.05", "0.95", 0.16), ("0.25", "0.75", 0.3)):
        plot.area(friction, rows[bottom], rows[top], "accent", alpha)
    plot.line(friction, rows["0.5"], "accent", 1.6)
    for v, median in zip(friction, rows["0.5"], strict=True):
        if math.isfinite(median):
            plot.dot(v, median, "accent", 2.2)
    if reference is not None and low <= reference <= high:
        plot.horizontal(reference, "break", 1.2, "1 2")
    return plot.svg(f"{label} against friction")


def histogram_steps(table: Table) -> tuple[list[float], list[float]]:
    """A histogram as edges and heights (at most 1) of bins that hold enough samples to be read."""
    edges, counts = bars(table, 40)
    heights = densities(edges, counts)
    most = max([*heights, 1e-300])
    return edges, [h / most for h in heights]
