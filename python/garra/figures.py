"""The figures of a report, as SVG that belongs to the page: its colors, its font, its width.

Matplotlib draws with the stand-in colors below; `_svg` replaces each by the page's CSS variable, so one drawing
serves light, dark and print.
"""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, PercentFormatter

from garra.words import NARROW, number, percent, power_of_ten

INK, MUTED, GRID, HELD, SLIP, BREAK, ACCENT, PAPER = (f"#0{i}0{i}0{i}" for i in range(1, 9))
VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    HELD: "held",
    SLIP: "slip",
    BREAK: "break",
    ACCENT: "accent",
    PAPER: "paper",
}
# The cone's picture is a raster, where CSS does not reach: two hues that read on light and on dark paper.
RASTER_HELD, RASTER_SLIP = (0.16, 0.55, 0.56), (0.85, 0.55, 0.16)

STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "garra",
    "image.interpolation": "none",
    "font.family": "DejaVu Sans",  # for measuring only; the page's font replaces it
    "font.size": 11,
    "text.parse_math": False,  # names are the user's
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.labelsize": 11,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "path.simplify": True,
    "path.simplify_threshold": 0.3,
}
UNITS = {"m": ("mm", 1e3), "rad": ("°", 180 / math.pi)}  # shown in what people say

HALF = (400, 240)  # size of a figure that fills half the page [px]

Table = dict[str, Any]


def _draw(name: str, size: tuple[int, int], title: str, draw: Callable[[Axes], None]) -> str:
    """One set of axes, `size` in pixels at the page's natural scale."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(size[0] / 72, size[1] / 72), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _svg(buffer.getvalue(), name, title)


def _svg(text: str, name: str, title: str) -> str:
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", "", text, flags=re.S)
    view = re.search(r'viewBox="([^"]+)"', text)
    opening = f'<svg viewBox="{view[1] if view else ""}" role="img" aria-label="{html.escape(title)}">'
    text = re.sub(r"<svg[^>]*>", lambda _: opening, text, count=1)
    text = re.sub(r"<style.*?</style>", "", text, flags=re.S)  # would reach beyond its figure
    for color, variable in VARIABLES.items():
        text = text.replace(color, f"var(--{variable})")
    text = re.sub(r"(?:'DejaVu Sans'|DejaVu Sans|&quot;DejaVu Sans&quot;)[^;\"]*", "var(--sans)", text)
    text = re.sub(r' id="(?:figure|axes|patch|line2d|text|matplotlib|xtick|ytick|legend)[\w.]*"', "", text)
    text = re.sub(r"(?<= id=\")|(?<=href=\"#)|(?<=url\(#)", f"{name}-", text)
    text = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]), text)
    return re.sub(r">\s+<", "><", text).replace(" \n", " ").strip()


# --- axes that read well


def _sample_count(x: float, _: object) -> str:
    """1, 10, …, 10,000, 10⁵."""
    if x < 1:
        return "0" if x == 0 else ""
    return f"{x:,.0f}" if x < 1e5 else power_of_ten(round(math.log10(x)))


def _log_counts(axis: Any) -> None:
    axis.set_major_formatter(FuncFormatter(_sample_count))
    axis.set_minor_formatter(NullFormatter())


def _percent_axis(ax: Axes, low: float, high: float) -> None:
    pad = max(0.06 * (high - low), 1e-7)
    ax.set_ylim(max(low - pad, -0.02), min(high + pad, 1.02))
    span = ax.get_ylim()[1] - ax.get_ylim()[0]
    decimals = 0 if span > 0.05 else min(1 - math.floor(math.log10(100 * span)), 6)
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=decimals, symbol=f"{NARROW}%"))


def _finite(values: Sequence[float | None]) -> np.ndarray:
    return np.array([math.nan if v is None else v for v in values], dtype=float)


def _beside(ax: Axes, text: str, point: tuple[Any, Any], left: bool = False) -> None:
    """Text to the right or left of a point, at its height."""
    shift, align = (-6, "right") if left else (6, "left")
    ax.annotate(text, point, (shift, 0), textcoords="offset points", ha=align, va="center", color=MUTED, fontsize=10)


def _label(name: str, unit: str) -> str:
    return name if unit in ("1", "") else f"{name} [{unit}]"


def wilson(held: np.ndarray, decided: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """95 % Wilson score interval, one per bin; bins without samples give NaN."""
    z2 = 1.959963984540054**2
    with np.errstate(divide="ignore", invalid="ignore"):
        p = held / decided
        center = (p + z2 / (2 * decided)) / (1 + z2 / decided)
        half = np.sqrt(z2 * (p * (1 - p) / decided + z2 / (4 * decided**2))) / (1 + z2 / decided)
    return np.minimum(center - half, p), np.maximum(center + half, p)


# --- the estimate


def convergence(table: Table, estimate: float, what: str = "P(held)") -> str:
    samples, p = np.array(table["samples"]), np.array(table["probability"])
    low, high = np.array(table["low"]), np.array(table["high"])

    def draw(ax: Axes) -> None:
        ax.axhline(estimate, color=INK, lw=0.8, ls=(0, (4, 3)))
        if len(samples) > 1:
            ax.fill_between(samples, low, high, color=HELD, alpha=0.22, lw=0)
            ax.plot(samples, p, color=HELD, lw=1.8)
        elif len(samples):
            ax.errorbar(samples, p, [p - low, high - p], fmt="o", color=HELD, capsize=4)
        ax.set_xscale("log")
        _log_counts(ax.xaxis)
        ax.set_xlabel("samples")
        late = samples >= 0.003 * samples.max(initial=1)  # the first samples' wide band would flatten the rest
        _percent_axis(ax, low[late].min(initial=estimate), high[late].max(initial=estimate))

    return _draw("convergence", HALF, f"Estimate of {what} against the number of samples", draw)


def held_against_friction(table: Table, spreads: Sequence[tuple[str, Sequence[float]]]) -> str:
    """`spreads`: name and values (quantiles, or one constant) of the friction that the study drew from."""
    friction, p = np.array(table["friction"]), np.array(table["probability"])

    def draw(ax: Axes) -> None:
        ax.fill_between(friction, table["low"], table["high"], color=HELD, alpha=0.22, lw=0)
        ax.plot(friction, p, color=HELD, lw=1.8)
        _percent_axis(ax, 0, 1)
        if len(friction):
            ax.set_xlim(friction[0], friction[-1])
        for row, (name, values) in enumerate(spreads):
            _spread(ax, values, 0.035 + 0.085 * row, name)
        ax.set_xlabel("friction coefficient, the same at every contact")

    return _draw("friction", HALF, "Probability of holding against friction", draw)


def _spread(ax: Axes, values: Sequence[float], height: float, name: str) -> None:
    """A box without box: range, middle half, median."""
    lo, q1, mid, q3, hi = np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
    ax.plot([lo, hi], [height] * 2, color=SLIP, lw=1.6, solid_capstyle="round")
    ax.plot([q1, q3], [height] * 2, color=SLIP, lw=5, solid_capstyle="butt")
    ax.plot([mid], [height], "o", color=PAPER, mec=SLIP, mew=1.6, ms=6)
    left = mid > np.mean(ax.get_xlim())
    _beside(ax, name, (lo if left else hi, height), left=left)


# --- histograms


def _bars(table: Table, most: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Edges and counts, cut to where samples are and merged so that bins hold enough samples to be read."""
    counts = np.array(table["counts"], dtype=float)
    edges = np.linspace(table["low"], table["high"], len(counts) + 1)
    filled = np.flatnonzero(np.cumsum(counts) > 5e-4 * counts.sum())
    tail = np.flatnonzero(np.cumsum(counts[::-1]) > 5e-4 * counts.sum())
    if not len(filled):
        return edges[[0, -1]], np.zeros(1)
    first, last = max(filled[0] - 1, 0), min(len(counts) - tail[0] + 1, len(counts))
    bins = min(max(12, 2 * counts.sum() ** (1 / 3)), most)
    merge = max(1, math.ceil((last - first) / bins))
    last = min(first + merge * math.ceil((last - first) / merge), len(counts))
    starts = np.arange(first, last, merge)
    return np.append(edges[starts], edges[last]), np.add.reduceat(counts[:last], starts)


def _histogram(ax: Axes, table: Table, color: str) -> None:
    edges, counts = _bars(table)
    density = counts / np.diff(edges)
    ax.stairs(density, edges, fill=True, color=color, alpha=0.3, lw=0)
    ax.stairs(density, edges, color=color, lw=1.3)
    ax.set_yticks([])
    ax.set_xlim(edges[0], edges[-1])
    spike = edges[0] == 0 and density[0] > 1.5 * density[1:].max(initial=math.inf if len(density) < 4 else 0)
    ax.set_ylim(0, max(density[int(spike) :].max(), 1e-12) * (1.4 if spike else 1.22))
    if spike:  # samples without any reserve; the bar is cut, its share is written beside it
        share = f"{percent(counts[0] / counts.sum())} below {number(edges[1])}"
        _beside(ax, share, (edges[1], 0.97 * ax.get_ylim()[1]))
    ax.xaxis.set_major_locator(MaxNLocator(5))


def _quantile_marks(ax: Axes, quantiles: dict[str, float | None]) -> None:
    """5, 50 and 95 % with their values above the bars, as far as these have room."""
    lo, hi = ax.get_xlim()
    median = quantiles["0.5"]
    for q, align in (("0.05", "right"), ("0.5", "center"), ("0.95", "left")):
        v = quantiles[q]
        if v is None or not lo <= v <= hi or lo == v == 0:
            continue
        ax.axvline(v, ymax=0.84, color=INK, lw=1.3 if q == "0.5" else 0.8, ls="-" if q == "0.5" else (0, (3, 2)))
        if q != "0.5" and median is not None and abs(v - median) < 0.07 * (hi - lo):
            continue
        if not 0.12 < (v - lo) / (hi - lo) < 0.88:
            align = "left" if v - lo < hi - v else "right"
        ax.annotate(number(v), (v, 0.86), xycoords=("data", "axes fraction"), ha=align, va="bottom", fontsize=10)


def force_range(tables: Sequence[Table]) -> tuple[float, float]:
    """One range for all contacts, so that they compare."""
    edges = [_bars(table)[0] for table in tables if sum(table["counts"])]
    if not edges:
        return tables[0]["low"], tables[0]["high"]
    return float(min(e[0] for e in edges)), float(max(e[-1] for e in edges))


def normal_force(name: str, table: Table, limits: tuple[float, float], width: int) -> str:
    def draw(ax: Axes) -> None:
        _histogram(ax, table, HELD)
        ax.set_xlim(*limits)
        ax.xaxis.set_major_locator(MaxNLocator(4))
        _quantile_marks(ax, table["quantiles"])
        ax.set_xlabel(_label("normal force", table["unit"]))

    return _draw(name, (width, 90 + width // 3), "Histogram of the normal force", draw)


def metric(name: str, table: Table, reference: float | None) -> str:
    """`reference`: the value that separates good from bad, drawn where it is in view."""

    def draw(ax: Axes) -> None:
        _histogram(ax, table, ACCENT)
        lo, hi = ax.get_xlim()
        if reference is not None and lo <= reference <= hi:
            ax.axvline(reference, color=BREAK, lw=1.6)
        _quantile_marks(ax, table["quantiles"])
        ax.set_xlabel(_label(name.replace("_", " "), table["unit"]))

    return _draw(f"metric-{name}", (HALF[0], 210), f"Histogram of the {name.replace('_', ' ')}", draw)


def cone(name: str, table: Table, width: int) -> str:
    """Tangential over friction times normal force; the unit circle is the cone's section."""
    counts, extent = np.array(table["counts"], dtype=float), table["extent"]
    center = (np.arange(len(counts)) + 0.5) / len(counts) * 2 * extent - extent
    inside = np.hypot(*np.meshgrid(center, center)) <= 1
    picture = np.empty((*counts.shape, 4))
    picture[..., :3] = np.where(inside[..., None], RASTER_HELD, RASTER_SLIP)
    shade = np.log1p(counts) / max(math.log1p(counts.max(initial=0)), 1e-12)
    picture[..., 3] = np.where(counts > 0, 0.08 + 0.92 * shade, 0)

    def draw(ax: Axes) -> None:
        ax.imshow(picture, origin="lower", extent=(-extent, extent, -extent, extent), interpolation="none")
        ax.add_patch(Circle((0, 0), 1, fill=False, color=INK, lw=1.2))
        ax.grid(visible=False)
        ax.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1], xlabel="along t", ylabel="along o")
        ax.spines["bottom"].set_visible(False)

    return _draw(name, (width, width - 6), "Where the contact force lies in its friction cone", draw)


# --- inputs


def influence(inputs: Sequence[Table]) -> str:
    """First-order Sobol indices, largest first, each on the noise that an idle input would show."""
    values = _finite([entry["influence"] for entry in inputs])
    noise = _finite([entry["noise"] for entry in inputs])
    rows = np.arange(len(inputs))

    def draw(ax: Axes) -> None:
        colors = [ACCENT if v > n else MUTED for v, n in zip(values, noise, strict=True)]
        ax.barh(rows, np.nan_to_num(values).clip(0), height=0.62, color=colors)
        ax.barh(rows, np.nan_to_num(noise), height=0.9, color=SLIP, alpha=0.35)
        for row, v in zip(rows, values, strict=True):
            _beside(ax, _influence_text(v), (max(np.nan_to_num(v), np.nan_to_num(noise[row])), row))
        ax.set_yticks(rows, [entry["name"] for entry in inputs])
        ax.tick_params(axis="y", labelcolor=INK)
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.set_xlim(0, 1.18 * max(np.nan_to_num(values).max(initial=0), np.nan_to_num(noise).max(initial=0), 1e-3))
        ax.grid(axis="y", visible=False)
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.set_xlabel("share of the outcome's variance (first-order Sobol index)")

    return _draw("influence", (HALF[0], 60 + 24 * len(inputs)), "Influence of the uncertain inputs", draw)


def _influence_text(v: float) -> str:
    return "–" if math.isnan(v) else f"{max(v, 0):.3f}"


def held_given_input(
    name: str, entry: Table, estimate: float, limits: tuple[float, float], event: str = "holding"
) -> str:
    unit, factor = UNITS.get(entry["unit"], (entry["unit"], 1.0))
    value = _finite(entry["bins"]["value"]) * factor
    held, decided = (np.array(entry["bins"][key], dtype=float) for key in ("held", "decided"))
    low, high = wilson(held, decided)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = held / decided

    def draw(ax: Axes) -> None:
        ax.axhline(estimate, color=MUTED, lw=0.8, ls=(0, (4, 3)))
        ax.errorbar(value, p, [p - low, high - p], fmt="o", ms=3.6, color=ACCENT, lw=1, capsize=2)
        _percent_axis(ax, *limits)
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.set_xlabel(_label(entry["name"], unit))

    return _draw(name, (310, 200), f"Probability of {event} given {entry['name']}", draw)


def input_limits(inputs: Sequence[Table]) -> tuple[float, float]:
    """One vertical range for the small plots, so that they compare."""
    held = np.concatenate([np.array(entry["bins"]["held"], dtype=float) for entry in inputs])
    decided = np.concatenate([np.array(entry["bins"]["decided"], dtype=float) for entry in inputs])
    low, high = wilson(held, decided)
    if np.isnan(low).all():
        return 0.0, 1.0
    return float(np.nanmin(low)), float(np.nanmax(high))


# --- solver


def iterations(counts: Sequence[int]) -> str:
    last = max((i for i, n in enumerate(counts) if n), default=0)

    def draw(ax: Axes) -> None:
        ax.bar(range(last + 1), counts[: last + 1], width=0.82, color=ACCENT, alpha=0.75)
        _log_heights(ax, counts)
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        ax.set_xlabel("Newton steps per sample")
        ax.set_ylabel("samples")

    return _draw("iterations", (HALF[0], 210), "Histogram of the solver's iterations", draw)


def residuals(table: Table, tol: float) -> str:
    counts = np.array(table["counts"])
    edges = np.linspace(table["low"], table["high"], len(counts) + 1)

    def draw(ax: Axes) -> None:
        ax.stairs(counts, edges, fill=True, color=ACCENT, alpha=0.75)
        _log_heights(ax, counts)
        if tol > 0:
            ax.axvline(math.log10(tol), color=BREAK, lw=1.6)
            _beside(ax, "tolerance", (math.log10(tol), 0.7 * ax.get_ylim()[1]), left=True)
        ax.set_xlim(table["low"], max(table["high"], math.log10(tol) + 0.5 if tol > 0 else table["high"]))
        ax.xaxis.set_major_locator(MaxNLocator(7, integer=True))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: power_of_ten(round(x))))
        ax.set_xlabel("residual (scale-invariant)")
        ax.set_ylabel("samples")

    return _draw("residuals", (HALF[0], 210), "Histogram of the solver's residuals", draw)


def _log_heights(ax: Axes, counts: Sequence[int] | np.ndarray) -> None:
    ax.set_yscale("log")
    ax.set_ylim(0.7, max(10, 2 * max(counts, default=1)))
    _log_counts(ax.yaxis)
    ax.grid(axis="x", visible=False)
