"""The figures that most reports have: estimates, distributions, inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from garra.page.interval import clopper_pearson
from garra.page.plot import Axis, Plot, Ticks, decades, ticks
from garra.page.words import HALF, NARROW, UNITS, digits_for, number, percent, pretty, shortened

Table = dict[str, Any]
Values = Sequence[float | None]


# --- axes that read well


def percent_axis(low: float, high: float) -> Axis:
    pad = max(0.06 * (high - low), 1e-7)
    bottom, top = max(low - pad, -0.02), min(high + pad, 1.02)
    span = top - bottom
    decimals = 0 if span > 0.05 else min(1 - math.floor(math.log10(100 * span)), 6)
    return Axis((bottom, top), ticks(bottom, top, 5, lambda v: f"{100 * v:.{decimals}f}{NARROW}%"))


def labeled(name: str, unit: str) -> str:
    return name if unit in ("1", "") else f"{name} [{pretty(unit)}]"


def finite(values: Values) -> list[float]:
    return [math.nan if v is None else float(v) for v in values]


# --- the estimate


def convergence(table: Table, estimate: float, what: str = "P(held)", label: str = "samples") -> str:
    samples, p, low, high = (table[key] for key in ("samples", "probability", "low", "high"))
    most = max(samples, default=1)
    late = [k for k, n in enumerate(samples) if n >= 0.003 * most]  # the first's wide band would flatten the rest
    bottom = min([estimate, *(low[k] for k in late)])
    top = max([estimate, *(high[k] for k in late)])
    ends = (min(samples, default=1), max(most, 1)) if len(samples) > 1 else (max(most, 1) / 2, 2 * max(most, 1))
    x = Axis(ends, decades(*ends), label, log=True)
    plot = Plot("convergence", HALF, x, percent_axis(bottom, top), right=20)
    plot.horizontal(estimate, "ink", 0.8, "4 3")
    if len(samples) > 1:
        plot.area(samples, low, high, "held", 0.22)
        plot.line(samples, p, "held", 1.8)
    elif samples:
        plot.whisker(samples[0], low[0], high[0], "held")
        plot.dot(samples[0], p[0], "held", 3)
    return plot.svg(f"Estimate of {what} against the number of samples")


# --- histograms


def bars(table: Table, most: int = 80) -> tuple[list[float], list[float]]:
    """Edges and counts, cut to where samples are and merged so that bins hold enough samples to be read."""
    counts, n = table["counts"], len(table["counts"])
    width = (table["high"] - table["low"]) / n
    total, least = sum(counts), 5e-4 * sum(counts)
    if not total:
        return [table["low"], table["high"]], [0.0]
    first = max(_reached(counts, least) - 1, 0)
    last = min(n - _reached(counts[::-1], least) + 1, n)
    merge = max(1, math.ceil((last - first) / min(max(12, 2 * total ** (1 / 3)), most)))
    last = min(first + merge * math.ceil((last - first) / merge), n)
    starts = list(range(first, last, merge))
    edges = [table["low"] + width * k for k in [*starts, last]]
    return edges, [float(sum(counts[k : min(k + merge, last)])) for k in starts]


def _reached(counts: Sequence[int], least: float) -> int:
    """The first bin by which more than `least` has been counted."""
    so_far = 0
    for k, n in enumerate(counts):
        so_far += n
        if so_far > least:
            return k
    return len(counts) - 1


def densities(edges: Sequence[float], counts: Sequence[float]) -> list[float]:
    return [n / (b - a) for a, b, n in zip(edges, edges[1:], counts, strict=False)]


def histogram(plot_of: Any, table: Table, color: str, limits: tuple[float, float] | None = None) -> Plot:
    """`plot_of(x range, y axis)` makes the plot."""
    edges, counts = bars(table)
    heights = densities(edges, counts)
    others = max(heights[1:], default=0.0) if len(heights) >= 4 else math.inf
    spike = edges[0] == 0 and heights[0] > 1.5 * others
    top = max([*heights[int(spike) :], 1e-12]) * (1.4 if spike else 1.22)
    plot = plot_of(limits or (edges[0], edges[-1]), Axis((0, top)))
    plot.steps(edges, heights, color, 0.3, 1.3)
    if spike:  # samples without any reserve; the bar is cut, its share is written beside it
        share = f"{percent(counts[0] / sum(counts))} below {number(edges[1])}"
        plot.text(share, edges[1], 0.97 * top, shift=6)
    return plot


ALIGN = {0.0: "start", 0.5: "middle", 1.0: "end"}


def quantile_marks(plot: Plot, quantiles: dict[str, float | None]) -> None:
    """5, 50 and 95 % with their values above the bars, as far as these have room."""
    lo, hi = plot.x.range
    digits = digits_for(quantiles["0.05"], quantiles["0.95"])
    taken: list[tuple[float, float]] = []
    for q, part in (("0.5", 0.5), ("0.05", 1.0), ("0.95", 0.0)):  # the part of the text that is left of the line
        v = quantiles[q]
        if v is None or not lo <= v <= hi or lo == v == 0:
            continue
        thick = q == "0.5"
        plot.vertical(v, "ink", 1.3 if thick else 0.8, "" if thick else "3 2", 0.81)
        said, at = number(v, digits), plot.px(v)
        width = plot.text_width(said)
        if at - part * width < plot.left:
            part, at = 0.0, max(at, plot.left)
        elif at + (1 - part) * width > plot.right:
            part, at = 1.0, min(at, plot.right)
        left = at - part * width
        if all(left > b + 4 or left + width < a - 4 for a, b in taken):
            taken.append((left, left + width))
            plot.label(said, at, plot.py(0.87 * plot.y.range[1]) + 0.35 * plot.font, "ink", ALIGN[part])


def metric(name: str, words: str, table: Table, reference: float | None) -> str:
    """`words`: of the axis; `reference`: the value that separates good from bad, drawn where it is in view."""

    def plot_of(x: tuple[float, float], y: Axis) -> Plot:
        return Plot(f"metric-{name}", (HALF[0], 210), Axis(x, ticks(*x), labeled(words, table["unit"])), y)

    plot = histogram(plot_of, table, "accent")
    if reference is not None and plot.x.range[0] <= reference <= plot.x.range[1]:
        plot.vertical(reference, "break", 1.6)
    quantile_marks(plot, table["quantiles"])
    return plot.svg(f"Histogram of the {words}", grid="x")


# --- inputs


def influence(inputs: Sequence[Table]) -> str:
    """First-order Sobol indices, largest first, each on the noise that an idle input would show."""
    values = [entry["influence"] for entry in inputs]
    noise = [entry["noise"] or 0.0 for entry in inputs]
    n = len(inputs)
    top = 1.22 * max([v or 0.0 for v in values] + noise + [1e-3])
    rows: Ticks = [(-k, shortened(entry["name"])) for k, entry in enumerate(inputs)]
    x = Axis((0, top), ticks(0, top, 4), "share of the outcome’s variance")
    plot = Plot("influence", (HALF[0], 60 + 24 * n), x, Axis((0.6 - n, 0.6), rows), right=20)
    for k, (v, idle) in enumerate(zip(values, noise, strict=True)):
        plot.block((0, max(v or 0.0, 0.0)), (-k - 0.31, -k + 0.31), "accent" if (v or 0.0) > idle else "muted")
        plot.block((0, idle), (-k - 0.45, -k + 0.45), "slip", 0.35)
        plot.text("–" if v is None else f"{max(v, 0):.3f}", max(v or 0.0, idle), -k, shift=6)
    return plot.svg("Influence of the uncertain inputs, first-order Sobol indices", grid="x")


def held_given_input(
    name: str, entry: Table, estimate: float, limits: tuple[float, float], event: str = "holding"
) -> str:
    unit, factor = UNITS.get(entry["unit"], (entry["unit"], 1.0))
    rows = zip(entry["bins"]["value"], entry["bins"]["held"], entry["bins"]["decided"], strict=True)
    known = [(factor * v, held / n, *clopper_pearson(held, n)) for v, held, n in rows if v is not None and n]
    lo, hi = min((row[0] for row in known), default=0.0), max((row[0] for row in known), default=1.0)
    pad = 0.05 * (hi - lo) or 0.05 * abs(hi) or 0.5
    x = Axis((lo - pad, hi + pad), ticks(lo - pad, hi + pad, 4), labeled(shortened(entry["name"]), unit))
    plot = Plot(name, (310, 200), x, percent_axis(*limits))
    plot.horizontal(estimate, "muted", 0.8, "4 3")
    for v, p, low, high in known:
        plot.whisker(v, low, high, "accent")
        plot.dot(v, p, "accent", 2.4)
    return plot.svg(f"Probability of {event} given {entry['name']}")


def input_limits(inputs: Sequence[Table]) -> tuple[float, float]:
    """One vertical range for the small plots, so that they compare."""
    pairs = [pair for entry in inputs for pair in zip(entry["bins"]["held"], entry["bins"]["decided"], strict=True)]
    ends = [clopper_pearson(held, n) for held, n in pairs if n]
    return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else (0.0, 1.0)
