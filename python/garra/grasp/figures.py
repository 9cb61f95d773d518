"""The figures of a grasp study at an instant: friction, normal forces, friction cones, the solver."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from garra.page.figures import bars, histogram, labeled, percent_axis, quantile_marks
from garra.page.plot import Axis, Plot, Ticks, decades, ticks
from garra.page.words import HALF, NARROW, power_of_ten

# The cone's picture is a raster, where CSS does not reach: two hues that read on light and on dark paper.
RASTER_HELD, RASTER_SLIP = (41, 140, 143), (217, 140, 41)

Table = dict[str, Any]


# --- friction


def _quantile(values: Sequence[float], q: float) -> float:
    """On straight lines between the sorted values."""
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    k = min(int(at), len(ordered) - 2) if len(ordered) > 1 else 0
    return ordered[k] + (at - k) * (ordered[min(k + 1, len(ordered) - 1)] - ordered[k])


def held_against_friction(table: Table, spreads: Sequence[Sequence[float]]) -> str:
    """`spreads`: values (quantiles, or one constant) of each distribution that the study drew friction from."""
    friction, p = table["friction"], table["probability"]
    if None in p:
        return ""  # redundant contacts: the friction needed is not defined
    right = _last_change(friction, p, max(map(max, spreads), default=0.0))
    low = friction[0] if friction else 0.0
    x = Axis((low, right), ticks(low, right, 6), "friction coefficient, the same at every contact")
    y = Axis((-0.02 - 0.1 * len(spreads), 1.02), percent_axis(0, 1).ticks)  # below 0: rows without a curve
    plot = Plot("friction", HALF, x, y)
    plot.area(friction, table["low"], table["high"], "held", 0.22)
    plot.line(friction, p, "held", 1.8)
    for row, values in enumerate(spreads):
        _spread(plot, values, -0.06 - 0.1 * row)
    return plot.svg("Probability that no contact slips, against friction")


def _last_change(friction: Sequence[float], p: Sequence[float], least: float) -> float:
    """End of the axis: a little beyond the last friction at which the curve changes, and beyond `least`."""
    if not friction:
        return 1.0
    moving = [f for f, v in zip(friction, p, strict=True) if abs(v - p[-1]) > 1e-3]
    wanted = 1.2 * max(moving[-1] if moving else 0.0, least)
    return min((f for f in friction if f >= wanted), default=friction[-1]) if wanted > friction[0] else friction[-1]


def _spread(plot: Plot, values: Sequence[float], height: float) -> None:
    """A box without box: range, middle half, median."""
    lo, q1, mid, q3, hi = (_quantile(values, q) for q in (0, 0.25, 0.5, 0.75, 1))
    plot.line([lo, hi], [height] * 2, "slip", 1.6)
    plot.line([q1, q3], [height] * 2, "slip", 5)
    plot.dot(mid, height, "slip", 3.2, inner="paper")


# --- forces


def force_range(tables: Sequence[Table]) -> tuple[float, float]:
    """One range for all contacts, so that they compare."""
    edges = [bars(table)[0] for table in tables if sum(table["counts"])]
    if not edges:
        return tables[0]["low"], tables[0]["high"]
    return min(e[0] for e in edges), max(e[-1] for e in edges)


def normal_force(name: str, table: Table, limits: tuple[float, float], width: int) -> str:
    def plot_of(x: tuple[float, float], y: Axis) -> Plot:
        axis = Axis(x, ticks(*x, 4), labeled("normal force", table["unit"]))
        return Plot(name, (width, 90 + width // 3), axis, y)

    plot = histogram(plot_of, table, "held", limits)
    quantile_marks(plot, table["quantiles"])
    return plot.svg("Histogram of the normal force", grid="x")


# --- friction cones


def cone_reach(tables: Sequence[Table]) -> float:
    """How far the pictures of several cones reach, in radii of the cone: as far as samples lie, one for all."""
    farthest = 1.0
    for table in tables:
        cell, n = 2 * table["extent"] / table["bins"], table["bins"]
        for i, row in enumerate(table["counts"]):
            for k, count in enumerate(row):
                if count:
                    farthest = max(farthest, cell * max(abs(i + 0.5 - n / 2), abs(k + 0.5 - n / 2)) + cell / 2)
    return min(max(math.ceil(10 * farthest - 1e-6) / 10, 1.2), max(table["extent"] for table in tables))


def cone(name: str, table: Table, reach: float, width: int) -> str:
    """Tangential over friction times normal force; the unit circle is the cone's section. If samples
    lie beyond the counted range, the picture is round, without an edge that could be mistaken for theirs."""
    n, extent = table["bins"], table["extent"]
    cell = 2 * extent / n
    most = max(max(row) for row in table["counts"])
    rows = []
    for i in range(n - 1, -1, -1):  # from the top
        y = (i + 0.5) * cell - extent
        row = bytearray()
        for k, count in enumerate(table["counts"][i]):
            radius = math.hypot((k + 0.5) * cell - extent, y)
            shown = count and radius <= extent
            shade = math.log1p(count) / max(math.log1p(most), 1e-12) if shown else 0
            row += bytes(
                (*(RASTER_HELD if radius <= 1 else RASTER_SLIP), round(255 * (0.08 + 0.92 * shade)) if shown else 0)
            )
        rows.append(bytes(row))
    cut = max(0, round((extent - reach) / cell))
    rows = [row[4 * cut : 4 * (n - cut)] for row in rows[cut : n - cut]]
    half = extent - cut * cell
    marks: Ticks = [(v, f"{v}".replace("-", "−")) for v in ((-1, 0, 1) if half < 2 else (-2, -1, 0, 1, 2))]
    x, y_axis = Axis((-half, half), marks, "along t"), Axis((-half, half), marks, "along o")
    plot = Plot(name, (width, width), x, y_axis)
    side = min(plot.right - plot.left, plot.bottom - plot.top)  # one scale for both axes
    plot.right, plot.top = plot.left + side, plot.bottom - side
    plot.image(rows, (-half, half), (-half, half))
    plot.circle(1, "ink", 1.2)
    return plot.svg("Where the contact force lies in its friction cone", grid="", base=False)


# --- rankings of many grasps


def held_of_grasps(counts: Sequence[int]) -> str:
    """How many grasps hold how probably, in equal bins from 0 to 1."""
    marks = [(v, f"{100 * v:.0f}{NARROW}%") for v in (0, 0.25, 0.5, 0.75, 1)]
    plot = Plot("shares", HALF, Axis((0, 1), marks, "P(held)"), _log_heights(counts, "grasps"), right=22)
    for k, n in enumerate(counts):
        if n:
            plot.block(((k + 0.06) / len(counts), (k + 0.94) / len(counts)), (0.7, n), "held", 0.75)
    return plot.svg("Histogram of P(held) over the grasps", grid="y")


def share_against_friction(friction: Sequence[float], curves: Sequence[tuple[str, str, Sequence[float]]]) -> str:
    """Share of the grasps that hold, at a friction; `curves`: color, dash, shares."""
    right = friction[-1]
    x = Axis((0, right), ticks(0, right, 6), "friction coefficient, the same at every contact")
    plot = Plot("friction", HALF, x, percent_axis(0, 1))
    for color, dash, shares in curves:
        plot.line(friction, shares, color, 1.8, dash)
    return plot.svg("Share of the grasps that hold, against friction")


# --- solver


def _log_heights(counts: Sequence[int], of: str = "samples") -> Axis:
    top = max(10.0, 2.0 * max(counts, default=1))
    return Axis((0.7, top), decades(1, top), of, log=True)


def iterations(counts: Sequence[int]) -> str:
    last = max((i for i, n in enumerate(counts) if n), default=0)
    every = max(1, math.ceil((last + 1) / 9))
    x = Axis((-0.6, last + 0.6), [(k, str(k)) for k in range(0, last + 1, every)], "Newton steps per sample")
    plot = Plot("iterations", (HALF[0], 210), x, _log_heights(counts))
    for k, n in enumerate(counts[: last + 1]):
        if n:
            plot.block((k - 0.41, k + 0.41), (0.7, n), "accent", 0.75)
    return plot.svg("Histogram of the solver’s iterations", grid="y")


def residuals(table: Table, tolerance: float) -> str:
    counts, low, high = table["counts"], table["low"], table["high"]
    width = (high - low) / max(len(counts), 1)
    limit = math.log10(tolerance) if tolerance > 0 else None
    end = max(high, limit + 0.5) if limit is not None else high
    every = max(1, math.ceil((end - low) / 7))
    marks = [(k, power_of_ten(k)) for k in range(math.ceil(low), math.floor(end) + 1, every)]
    plot = Plot(
        "residuals", (HALF[0], 210), Axis((low, end), marks, "residual (scale-invariant)"), _log_heights(counts)
    )
    plot.steps([low + width * k for k in range(len(counts) + 1)], counts, "accent", 0.75)
    if limit is not None:
        plot.vertical(limit, "break", 1.6)
        plot.text("tolerance", limit, 0.5 * plot.y.range[1], align="end", shift=-6)
    return plot.svg("Histogram of the solver’s residuals", grid="y")
