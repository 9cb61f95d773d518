"""The figures of a chain study that do not move: what the swept numbers change, as SVG in the page's colors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from garra.chain.words import key_words
from garra.page import words
from garra.page.measures import Scale, measure, quantile, scale
from garra.page.mpl_figures import ACCENT, BREAK, GRID, HELD, INK, MUTED, SLIP, percent_axis, svg
from garra.page.study_parts import axis as said
from garra.page.words import HALF

THIRD = (310, 215)  # [px]
DECADES = 1.5  # an axis that spans more is logarithmic
HUES = (HELD, ACCENT, SLIP)  # best, first and last design, here and in the animation

Table = dict[str, Any]


@dataclass(frozen=True)
class Swept:
    """The axis of a swept number."""

    label: str
    values: np.ndarray  # one per design, as shown
    log: bool

    @property
    def order(self) -> np.ndarray:
        return np.argsort(self.values, kind="stable")


def swept(summary: Table, key: int = 0) -> Swept:
    entry = summary["sweep"][key]
    values = np.array([design["values"][key] for design in summary["designs"]])
    shown = scale(entry["unit"], float(np.abs(values).max()))
    label = f"{key_words(entry['key'])} [{shown.unit}]" if shown.unit else key_words(entry["key"])
    return Swept(label, values * shown.factor, entry["scale"] == "log" and bool((values > 0).all()))


# --- axes


def _log_axis(axis: Any, low: float, high: float) -> None:
    """Labels that stay apart: powers of ten over many decades, 1, 2 and 5 over few."""
    few = high / low < 300
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,), numticks=9))
    axis.set_major_formatter(FuncFormatter(_log_label(low, high)))
    axis.set_minor_formatter(NullFormatter())


def _log_label(low: float, high: float) -> Callable[[float, object], str]:
    """One style for all labels of an axis: powers of ten as soon as one number would be long."""
    powers = high >= 1e5 or low < 1e-3

    def label(x: float, _: object) -> str:
        exponent = round(math.log10(x))
        if powers and math.isclose(x, 10.0**exponent):
            return words.power_of_ten(exponent)
        return words.number(x)

    return label


def _along(ax: Axes, axis: Swept) -> None:
    low, high = float(axis.values.min()), float(axis.values.max())
    if axis.log:
        ax.set_xscale("log")
        pad = (high / low) ** 0.03 if high > low else 1.5
        ax.set_xlim(low / pad, high * pad)
        _log_axis(ax.xaxis, low / pad, high * pad)
    elif low == 0 and high > 30 * (least := float(axis.values[axis.values > 0].min(initial=high))):
        # Zero beside values of several decades: linear below the least of them, then by powers of ten.
        ax.set_xscale("symlog", linthresh=least, linscale=0.5)
        ax.set_xlim(-0.1 * least, 1.2 * high)
        ax.set_xticks([0.0, *(10.0**k for k in range(math.ceil(math.log10(least)), math.floor(math.log10(high)) + 1))])
        label = _log_label(least, high)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, at: label(x, at) if x > 0 else "0"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    else:
        pad = 0.03 * (high - low) or max(abs(high), 1.0) * 0.5
        ax.set_xlim(low - pad, high + pad)
        ax.xaxis.set_major_locator(MaxNLocator(6))
        _plain_ticks(ax.xaxis)
    ax.set_xlabel(axis.label)


def _plain_ticks(axis: Any) -> None:
    axis.set_major_formatter(FuncFormatter(lambda x, _: words.number(x, 4)))


def _spans_decades(values: np.ndarray) -> bool:
    values = values[np.isfinite(values)]
    return bool(len(values)) and values.min() > 0 and math.log10(values.max() / values.min()) > DECADES


def _upwards(ax: Axes, values: np.ndarray, log: bool) -> None:
    """The vertical axis of numbers of which some may lie beyond their bins; those are left out of its range."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    if log and low > 0:
        ax.set_yscale("log")
        pad = max((high / low) ** 0.06, 1.1)
        ax.set_ylim(low / pad, high * pad)
        _log_axis(ax.yaxis, low / pad, high * pad)
        return
    low, high = min(low, 0.0), max(high, 0.0)
    pad = 0.06 * (high - low) or 1.0
    ax.set_ylim(low - pad if low < 0 else 0.0, high + pad)
    ax.yaxis.set_major_locator(MaxNLocator(5))
    _plain_ticks(ax.yaxis)


def _band(ax: Axes, axis: Swept, levels: np.ndarray, color: str) -> None:
    """5 to 95 % as a band, the median as a line; `levels` [3, designs], infinite where beyond the axis."""
    low, high = ax.get_ylim()
    edges = np.nan_to_num(levels, nan=math.nan, posinf=high, neginf=low)[:, axis.order]
    x = axis.values[axis.order]
    if len(x) == 1:
        ax.plot([x[0]] * 2, edges[[0, 2], 0], color=color, lw=5, alpha=0.35, solid_capstyle="butt")
    ax.fill_between(x, edges[0], edges[2], color=color, alpha=0.2, lw=0)
    ax.plot(x, edges[1], "o-", color=color, lw=1.8, ms=3.2)


def _levels(tables: Sequence[Table], factor: float) -> np.ndarray:
    return factor * np.array([[quantile(table, level) for table in tables] for level in ("0.05", "0.5", "0.95")])


# --- one swept number


def probability(axis: Swept, designs: Sequence[Table], best: int | None) -> str:
    def draw(ax: Axes) -> None:
        p, low, high = (np.array([d[key] for d in designs], dtype=float) for key in ("probability", "low", "high"))
        x, order = axis.values, axis.order
        ax.fill_between(x[order], low[order], high[order], color=HELD, alpha=0.2, lw=0)
        ax.plot(x[order], p[order], "o-", color=HELD, lw=1.8, ms=3.6)
        if len(x) == 1:
            ax.errorbar(x, p, [p - low, high - p], fmt="none", color=HELD, capsize=4)
        _along(ax, axis)
        percent_axis(ax, 0, 1)
        if best is not None:
            ax.plot(x[best], p[best], "o", ms=9, mfc="none", mec=INK, mew=1.4)
            ax.annotate("best", (x[best], p[best]), (0, 8), textcoords="offset points", ha="center", fontsize=11)

    return svg("probability", HALF, "Probability of settling in time against the swept number", draw)


def settling(axis: Swept, designs: Sequence[Table], limit: float, duration: float) -> str:
    shown = scale("s", duration)
    levels = _levels([design["settling_time"] for design in designs], shown.factor)

    def draw(ax: Axes) -> None:
        end, wanted = duration * shown.factor, limit * shown.factor
        log = _spans_decades(np.append(levels[np.isfinite(levels)], wanted))
        _upwards(ax, np.append(levels, [wanted, end]), log)
        ax.set_ylim(top=end)
        _band(ax, axis, levels, ACCENT)
        ax.axhline(wanted, color=BREAK, lw=1.4)
        _along(ax, axis)
        ax.annotate(f"limit {measure(limit, 's')}", (0.995, wanted), xycoords=("axes fraction", "data"),
                    xytext=(0, 3), textcoords="offset points", ha="right", fontsize=11, color=MUTED)  # fmt: skip
        ax.set_ylabel(f"{said(designs[0]['settling_time'], 'settling time')} [{shown.unit}]")

    return svg("settling", HALF, "Settling time against the swept number", draw)


def peak_torque(axis: Swept, designs: Sequence[Table], joint: int, name: str, limits: Table) -> str:
    """`limits`: of torque_limits, shared by the joints with this one's unit."""
    shown: Scale = limits["scale"]
    levels = _levels([design["peak_torque"][joint] for design in designs], shown.factor)

    def draw(ax: Axes) -> None:
        _upwards(ax, limits["values"] * shown.factor, limits["log"])
        _band(ax, axis, levels, HELD)
        _along(ax, axis)
        otherwise = "peak torque" if "N·m" in shown.unit else "peak force"
        ax.set_ylabel(f"{said(designs[0]['peak_torque'][joint], otherwise)} [{shown.unit}]")

    size = THIRD if len(designs[0]["peak_torque"]) > 2 else HALF
    return svg(f"peak{joint + 1}", size, f"Peak torque of {name} against the swept number", draw)


def torque_limits(summary: Table) -> dict[str, Table]:
    """Per unit of torque the range of all joints, so that their plots compare."""
    limits = {}
    for unit in dict.fromkeys(summary["robot"]["torque_units"]):
        joints = [i for i, u in enumerate(summary["robot"]["torque_units"]) if u == unit]
        tables = [design["peak_torque"][i] for i in joints for design in summary["designs"]]
        values = _levels(tables, 1.0).ravel()
        finite = values[np.isfinite(values)]
        top = float(finite.max()) if len(finite) else 0.0
        limits[unit] = {"scale": scale(unit, top), "values": values, "log": _spans_decades(values)}
    return limits


def energy(axis: Swept, designs: Sequence[Table]) -> str:
    """Work of the torques and energy that damping takes, one over the other."""
    tables = {key: [design[key] for design in designs] for key in ("work", "dissipated")}
    otherwise = {"work": "work of the torques", "dissipated": "dissipated"}
    raw = {key: _levels(table, 1.0) for key, table in tables.items()}
    values = np.concatenate([v.ravel() for v in raw.values()])
    finite = np.abs(values[np.isfinite(values)])
    shown = scale("J", float(finite.max()) if len(finite) else 0.0)

    def draw(ax: Axes) -> None:
        _upwards(ax, values * shown.factor, _spans_decades(values))
        for (name, levels), color in zip(raw.items(), (ACCENT, SLIP), strict=True):
            _band(ax, axis, levels * shown.factor, color)
            ax.plot([], [], color=color, lw=3, label=said(designs[0][name], otherwise[name]))
        ax.legend(loc="best", labelcolor=INK)
        _along(ax, axis)
        ax.set_ylabel(f"energy [{shown.unit}]")

    return svg("energy", HALF, "Work and dissipated energy against the swept number", draw)


def balance(axis: Swept, designs: Sequence[Table]) -> str:
    values = np.array([d["worst_balance"] for d in designs], dtype=float)
    top = np.nanmax(values, initial=0.0)

    def draw(ax: Axes) -> None:
        log = _spans_decades(values[values > 0])
        shown = Scale("J") if log else scale("J", float(top))
        _upwards(ax, np.where(values > 0, values, np.nan) * shown.factor, log)
        ax.plot(axis.values[axis.order], values[axis.order] * shown.factor, "o-", color=ACCENT, lw=1.4, ms=3.6)
        _along(ax, axis)
        ax.set_ylabel(f"largest |balance| [{shown.unit}]")

    return svg("balance", HALF, "Largest energy balance against the swept number", draw)


# --- two swept numbers


def heat(name: str, title: str, summary: Table, values: Sequence[float], best: int | None) -> str:
    """A cell per design, the fuller in color the larger its value; empty where that lies beyond its bins.

    Rectangles instead of a raster: their color is the page's.
    """
    columns, rows = ([*dict.fromkeys(d["values"][k] for d in summary["designs"])] for k in (0, 1))
    top = max((abs(v) for v in values if math.isfinite(v)), default=1.0) or 1.0
    few = len(columns) <= 10 and len(rows) <= 16

    def draw(ax: Axes) -> None:
        for index, (design, value) in enumerate(zip(summary["designs"], values, strict=True)):
            x, y = columns.index(design["values"][0]), rows.index(design["values"][1])
            shade = 0.62 * abs(value) / top if math.isfinite(value) else 0.0
            ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, color=HELD, alpha=shade, lw=0))
            if index == best:
                ax.add_patch(Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, fill=False, edgecolor=INK, lw=1.6, zorder=3))
            if few:
                ax.text(x, y, _cell(value), ha="center", va="center", fontsize=11, color=INK)
        ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(-0.5, len(rows) - 0.5))
        ax.grid(visible=False)
        for axis, entry, ticks in ((ax.xaxis, summary["sweep"][0], columns), (ax.yaxis, summary["sweep"][1], rows)):
            _cell_ticks(axis, entry, ticks)
        ax.add_patch(Rectangle((-0.5, -0.5), len(columns), len(rows), fill=False, edgecolor=GRID, lw=1))

    size = (HALF[0], max(200, 80 + 24 * min(len(rows), 20)))
    return svg(f"heat{name}", size, f"{title} over the two swept numbers", draw)


def _cell(x: float) -> str:
    return {math.inf: "beyond", -math.inf: "below"}.get(x, words.number(x, 2 if abs(x) < 100 else 3))


def _cell_ticks(axis: Any, entry: Table, values: Sequence[float]) -> None:
    shown = scale(entry["unit"], max(map(abs, values)))
    step = -(-len(values) // 7)
    places = range(0, len(values), step)
    axis.set_ticks(list(places), [words.number(values[i] * shown.factor) for i in places])
    axis.set_label_text(f"{key_words(entry['key'])} [{shown.unit}]" if shown.unit else key_words(entry["key"]))


# --- one design


def survival(curves: Sequence[tuple[str, Table]], limit: float, duration: float) -> str:
    """The share of samples that have not settled after t, of up to three designs."""
    shown = scale("s", duration)

    def draw(ax: Axes) -> None:
        for (name, table), color in reversed(list(zip(curves, HUES, strict=False))):
            edges = np.linspace(table["low"], table["high"], len(table["counts"]) + 1) * shown.factor
            total = sum(table["counts"]) + table["below"] + table["above"]
            if total:
                left = 1 - (table["below"] + np.concatenate([[0], np.cumsum(table["counts"])])) / total
                ax.plot(edges, left, drawstyle="steps-post", color=color, lw=1.9)
            ax.plot([], [], color=color, lw=3, label=name)
        ax.axvline(limit * shown.factor, color=BREAK, lw=1.4)
        ax.set_xlim(0, duration * shown.factor)
        percent_axis(ax, 0, 1)
        handles, labels = ax.get_legend_handles_labels()
        if len(curves) > 1:
            ax.legend(handles[::-1], labels[::-1], loc="best", labelcolor=INK)
        ax.set_xlabel(f"t [{shown.unit}]")

    return svg("survival", HALF, "Share of samples that have not settled yet, against time", draw)
