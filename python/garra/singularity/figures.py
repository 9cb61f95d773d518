"""The figures of a singularity map: histograms, slices with the singular locus, sections through the workspace.

Fields are rasters in the colors of RAMP, dark where an arm is near a singularity, on light and on dark paper alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

from garra.page import words
from garra.page.colors import RAMP
from garra.page.figures import histogram
from garra.page.measures import quantile
from garra.page.mpl_figures import ACCENT, BREAK, GRID, MUTED, PAPER, svg
from garra.page.plot import Axis, Plot, Ticks, ticks
from garra.page.words import HALF
from garra.singularity.folder import Slice, Voxels

Table = dict[str, Any]

THIRD = (310, 265)
CELLS = 400  # points of a locus nearer than this part of an axis are drawn once


@dataclass(frozen=True)
class Scale:
    """Colors for numbers from `low` to `high`: of log10 where `log`; dark is near a singularity."""

    low: float
    high: float
    log: bool = True
    reverse: bool = False  # large numbers are dark

    def place(self, values: np.ndarray) -> np.ndarray:
        """0 to 1 along the ramp; NaN stays."""
        with np.errstate(divide="ignore", invalid="ignore"):
            x = np.log10(values) if self.log else np.asarray(values, dtype=float)
        x = ((x - self.low) / (self.high - self.low)).clip(0, 1)
        return 1 - x if self.reverse else x

    def ticks(self) -> list[Table]:
        """Labels of the legend: where along the ramp [%], and what; the ends hold all beyond."""
        if not self.log:
            values = [self.low + k * (self.high - self.low) / 4 for k in range(5)]
            texts = [words.percent(v, 0 if self.high > 0.2 else 1) for v in values]
        else:
            exponents = np.arange(math.ceil(self.low), self.high + 1e-9)
            marks = sorted({*exponents, *(exponents + math.log10(3)), *(exponents - 1 + math.log10(3))})
            values = [x for x in marks if self.low - 0.03 <= x <= self.high + 0.03]
            values = values if self.high - self.low < 3.1 else exponents.tolist()
            texts = [_tick(x) for x in values]
        places = [min(max((v - self.low) / (self.high - self.low), 0.0), 1.0) for v in values]
        return [{"at": 100 * p, "text": text} for p, text in zip(places, texts, strict=True)]


def choose_scale(values: np.ndarray) -> Scale:
    """Half decades that hold all but the outermost hundredths of the numbers, at most three decades."""
    known = values[np.isfinite(values) & (values > 0)]
    if not known.size:
        return Scale(-2, 0)
    low, high = np.log10(np.quantile(known, [0.02, 0.995]))
    high = math.ceil(2 * high - 0.02) / 2
    return Scale(max(min(math.floor(2 * low) / 2, high - 1), high - 3), high)


def share_scale(values: np.ndarray) -> Scale:
    known = values[np.isfinite(values)]
    top = float(np.quantile(known, 0.99)) if known.size else 1.0
    steps = (0.02, 0.04, 0.08, 0.2, 0.4, 0.6, 0.8, 1.0)
    return Scale(0, next((s for s in steps if s >= top), 1.0), log=False, reverse=True)


# --- histograms


def log_histogram(name: str, table: Table, label: str, near: float | None = None) -> str:
    """Histogram of log10 of a number, labeled with powers of ten; values beyond `near` are near a singularity."""

    def pick_ticks(low: float, high: float) -> Ticks:
        step = 1 if high - low > 1.2 else 0.5
        places = [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
        return [(v, _tick(v)) for v in places]

    return _histogram(name, table, label, "accent", pick_ticks, lambda x: words.number(10**x), near)


def plain_histogram(name: str, table: Table, label: str, factor: float = 1.0) -> str:
    """Histogram of a number times `factor`."""
    shown = table | {key: table[key] * factor for key in ("low", "high")}
    quantiles = {key: None if v is None else v * factor for key, v in table["quantiles"].items()}
    color = "held" if name == "distance" else "accent"
    return _histogram(name, shown | {"quantiles": quantiles}, label, color, ticks, words.number)


def _histogram(name: str, table: Table, label: str, color: str, pick_ticks: Any, say: Any, near: float | None = None) -> str:
    """`pick_ticks` an interval, `say` what the median is; empty where no number lies within the bins."""
    if not sum(table["counts"]):
        return ""
    size = (HALF[0], 210) if name == "distance" else (THIRD[0], 200)
    plot = histogram(lambda x, y: Plot(name, size, Axis(x, pick_ticks(*x), label), y), table, color)
    (low, high), top = plot.x.range, plot.y.range[1]
    if near is not None and low < near < high:
        plot.block((near, high), plot.y.range, "break", 0.13)
        plot.vertical(near, "break", 1.4)
        plot.text("near", near, 0.95 * top, "break", shift=5)
    median = quantile(table, "0.5")
    if low < median < high:
        plot.vertical(median, "ink", 1.2, top=0.84)
        plot.text(say(median), median, 0.9 * top, "ink", "middle")
    return plot.svg(f"Histogram of the {label}", grid="x")


def _tick(x: float) -> str:
    """10^x: 0.03, 1, 10⁻⁴"""
    whole = abs(x - round(x)) < 1e-9
    return words.power_of_ten(round(x)) if whole and not -3 <= x <= 3 else words.number(10.0**x, 1)


# --- slices


def _dots(ax: Axes, points: np.ndarray, color: str, width: float) -> None:
    """Points as one path of strokes without length and with round ends."""
    vertices = np.repeat(points, 2, axis=0)
    codes = np.tile([Path.MOVETO, Path.LINETO], len(points))
    path = Path(vertices, codes)
    path.should_simplify = False  # would drop strokes without length
    patch = PathPatch(path, fill=False, edgecolor=color, lw=width, capstyle="round", zorder=3)
    patch.set_clip_on(False)
    ax.add_patch(patch)


def thinned(points: np.ndarray, low: np.ndarray, span: np.ndarray) -> np.ndarray:
    """One of all points that share a cell."""
    cells = np.floor((points - low) / span * CELLS)
    return points[np.unique(cells, axis=0, return_index=True)[1]] if len(points) else points


def slice_map(name: str, part: Slice, scale: Scale, axes: Sequence[Table], hues: dict[int, str]) -> str:
    """`axes`: label and factor of x and y; `hues`: colors of sets of responsible joints, None for all others."""
    factor = np.array([axis["factor"] for axis in axes])
    low = np.array([part.x[0], part.y[0]]) * factor
    high = np.array([part.x[-1], part.y[-1]]) * factor
    half = (high - low) / (2 * np.array([part.x.size - 1, part.y.size - 1]))
    extent = (low[0] - half[0], high[0] + half[0], low[1] - half[1], high[1] + half[1])
    picture = RAMP(np.nan_to_num(scale.place(part.sigma_min), nan=0.0))
    picture[~np.isfinite(part.sigma_min)] = 0
    locus = np.column_stack([part.locus_x, part.locus_y]) * factor

    def draw(ax: Axes) -> None:
        ax.imshow(picture, origin="lower", extent=extent, aspect="auto", interpolation="none")
        for bits in sorted(set(part.locus_dependent_joints.tolist()), key=lambda b: hues[b] == hues[0]):
            points = thinned(locus[part.locus_dependent_joints == bits], low, high - low)
            _dots(ax, points, "#ffffff", 3.8)
            _dots(ax, points, hues[bits], 2.6)
        ax.set(xlim=extent[:2], ylim=extent[2:], xlabel=axes[0]["label"], ylabel=axes[1]["label"])
        ax.grid(visible=False)
        for axis, entry in ((ax.xaxis, axes[0]), (ax.yaxis, axes[1])):
            axis.set_major_locator(MultipleLocator(entry["step"]) if entry["step"] else MaxNLocator(6))

    title = f"Smallest singular value over joints {part.joints[0]} and {part.joints[1]}, singular configurations marked"
    return svg(name, (HALF[0], 370), title, draw)


def axis_of(joint: int, name: str, prismatic: bool, values: np.ndarray) -> Table:
    """Label, factor and tick step of a joint's axis."""
    title = f"joint {joint}" + (f", {name}" if name else "")
    if prismatic:
        return {"label": f"{title} [mm]", "factor": 1e3, "step": 0.0, "unit": "mm"}
    span = math.degrees(float(values[-1] - values[0]))
    step = 90 if span > 300 else 45 if span > 130 else 0
    return {"label": f"{title} [°]", "factor": 180 / math.pi, "step": step, "unit": "°"}


# --- the workspace


def section(voxels: Voxels, axis: int, values: np.ndarray, scale: Scale) -> tuple[str, float]:
    """The middle layer of cubes across a world axis (0: x) that is not rather empty, and where its middle is [m]."""
    along = 2 - axis  # arrays are [z, y, x]
    others = tuple(a for a in range(3) if a != along)
    occupied = (voxels.count > 0).sum(axis=others)
    layers = np.arange(len(occupied))
    middle = np.average(layers, weights=occupied) if occupied.any() else 0.0
    full = layers[2 * occupied >= occupied.max()]  # the nodes of a grid can leave layers empty
    best = int(full[np.abs(full - middle).argmin()])
    layer = np.take(values, best, axis=along)
    where = voxels.low[axis] + (best + 0.5) * voxels.side
    horizontal, vertical = [a for a in range(3) if a != axis]
    size = layer.shape
    low = 1e3 * voxels.low
    extent = (low[horizontal], low[horizontal] + 1e3 * voxels.side * size[1],
              low[vertical], low[vertical] + 1e3 * voxels.side * size[0])  # fmt: skip
    picture = RAMP(np.nan_to_num(scale.place(layer), nan=0.0))
    picture[~np.isfinite(layer)] = 0

    def draw(ax: Axes) -> None:
        ax.imshow(picture, origin="lower", extent=extent, interpolation="none")
        ax.set(xlabel=f"{'xyz'[horizontal]} [mm]", ylabel=f"{'xyz'[vertical]} [mm]")
        ax.grid(visible=False)
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.yaxis.set_major_locator(MaxNLocator(5))
        for spine in ax.spines.values():
            spine.set(visible=True, color=GRID)

    return svg(f"section{axis}", THIRD, f"Section through the workspace across {'xyz'[axis]}", draw), where


# --- one configuration


def spectrum(name: str, values: Sequence[float], tolerance: float) -> str:
    """Singular values over their number, on a logarithmic axis; those that count as zero are open."""
    floor = 1e-17
    heights = np.maximum(np.array(values, dtype=float), floor)
    lost = heights <= tolerance * heights.max(initial=floor)
    rows = np.arange(1, len(heights) + 1)

    def draw(ax: Axes) -> None:
        ax.vlines(rows, floor, heights, color=GRID, lw=1.2)
        ax.plot(rows[~lost], heights[~lost], "o", color=ACCENT, ms=7)
        ax.plot(rows[lost], heights[lost], "o", mfc=PAPER, mec=BREAK, mew=1.8, ms=7, clip_on=False)
        ax.axhline(tolerance * heights.max(initial=floor), color=MUTED, lw=0.8, ls=(0, (4, 3)))
        ax.set_yscale("log")
        ax.set_ylim(floor, 30 * max(heights.max(initial=1.0), 1.0))
        ax.set_xlim(0.4, len(rows) + 0.6)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda x, _: words.power_of_ten(round(math.log10(x)))))
        ax.grid(axis="x", visible=False)
        ax.set_xlabel("number of the singular value")

    return svg(name, (HALF[0], 215), "Singular values of the scaled screws", draw)
