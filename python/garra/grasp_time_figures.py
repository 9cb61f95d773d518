"""The figures of a grasp study in time that do not depend on the level shown, as SVG that belongs to the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from garra.figures import ACCENT, BREAK, HALF, HELD, MUTED, UNITS, _bars, _draw, _finite, _label, _percent_axis

Table = dict[str, Any]


def against_friction(levels: Sequence[Table]) -> str:
    """P(held) and P(no slip) with their intervals; `levels` in the order of their friction."""

    def draw(ax: Axes) -> None:
        friction = _finite([level["friction"] for level in levels])
        for key, label, hue in (("held", "in the hand", HELD), ("no_slip", "without slip", ACCENT)):
            p, low, high = (_finite([level[key][part] for level in levels]) for part in ("probability", "low", "high"))
            ax.fill_between(friction, low, high, color=hue, alpha=0.16, lw=0)
            bars = np.maximum([p - low, high - p], 0)
            ax.errorbar(friction, p, bars, fmt="o-", ms=4, lw=1.6, elinewidth=1, capsize=2.5, color=hue, label=label)
        _percent_axis(ax, 0, 1)
        _friction_axis(ax, friction)
        ax.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))

    return _draw("against-friction", HALF, "Probability of being held and of no slip against friction", draw)


def _friction_axis(ax: Axes, friction: np.ndarray) -> None:
    pad = 0.04 * (friction[-1] - friction[0]) or 0.05
    ax.set_xlim(friction[0] - pad, friction[-1] + pad)
    ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    ax.set_xlabel("nominal friction coefficient")


def survival(levels: Sequence[Table], names: Sequence[str]) -> str:
    """Per level the share still in the hand over time; the more friction the darker."""

    def draw(ax: Axes) -> None:
        ends = []
        for k, level in enumerate(levels):
            time, curve = _finite(level["survival"]["time"]), level["survival"]["drop"]
            shade = 0.35 + 0.65 * (k + 1) / len(levels)
            p, low, high = (_finite(curve[key]) for key in ("probability", "low", "high"))
            ax.fill_between(time, low, high, color=HELD, alpha=0.13, lw=0)
            ax.plot(time, p, color=HELD, alpha=shade, lw=1.7)
            ends.append(p[-1] if len(p) and np.isfinite(p[-1]) else np.nan)
        _percent_axis(ax, 0, 1)
        _time_axis(ax, levels[0]["survival"]["time"])
        if len(levels) > 1:
            _names(ax, ends, names)

    return _draw("survival", HALF, "Share still in the hand over time", draw)


def _names(ax: Axes, ends: Sequence[float], names: Sequence[str]) -> None:
    """Beside the ends of the curves, moved apart where they would touch."""
    low, high = ax.get_ylim()
    room, order = 0.075 * (high - low), [int(k) for k in np.argsort(ends) if np.isfinite(ends[k])]
    height = low
    places = []
    for k in order:
        height = max(ends[k], height + room)
        places.append(height)
    for n in range(len(places) - 1, -1, -1):  # from the top down, so that none leaves the picture
        most = high if n == len(places) - 1 else places[n + 1] - room
        places[n] = min(places[n], most)
    for k, place in zip(order, places, strict=True):
        point = (1.015, (place - low) / (high - low))
        ax.annotate(names[k], point, xycoords="axes fraction", va="center", color=MUTED, fontsize=9)


def _time_axis(ax: Axes, time: Sequence[float]) -> None:
    if len(time) > 1:
        ax.set_xlim(time[0], time[-1])
    ax.set_xlabel("time [s]")


def quantiles(key: str, label: str, levels: Sequence[Table], reference: float | None) -> str:
    """A quantity's 5, 25, 50, 75 and 95 % quantiles against friction; `reference` as it is shown."""
    tables = [level[key] for level in levels]
    unit, factor = UNITS.get(tables[0]["unit"], (tables[0]["unit"], 1.0))
    friction = _finite([level["friction"] for level in levels])
    rows = {q: factor * _finite([table["quantiles"][q] for table in tables]) for q in tables[0]["quantiles"]}

    def draw(ax: Axes) -> None:
        for low, high, alpha in (("0.05", "0.95", 0.16), ("0.25", "0.75", 0.3)):
            ax.fill_between(friction, rows[low], rows[high], color=ACCENT, alpha=alpha, lw=0)
        ax.plot(friction, rows["0.5"], "o-", ms=3.5, color=ACCENT, lw=1.6)
        bottom, top = ax.get_ylim()
        if reference is not None and bottom <= reference <= top:
            ax.axhline(reference, color=BREAK, lw=1.2, ls=(0, (1, 2)))
        ax.yaxis.set_major_locator(MaxNLocator(5))
        _friction_axis(ax, friction)
        ax.set_ylabel(_label(label.lower(), unit))

    return _draw(f"quantiles-{key}", (310, 200), f"{label} against friction", draw)


def steps_of(table: Table) -> tuple[list[float], list[float]]:
    """A histogram as edges and heights (at most 1) of bins that hold enough samples to be read."""
    edges, counts = _bars(table, 40)
    density = counts / np.diff(edges)
    return edges.tolist(), (density / max(density.max(), 1e-300)).tolist()


