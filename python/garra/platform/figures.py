"""The figures of a platform's motion and of a study of it, as SVG that belongs to the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from garra.page.mpl_figures import ACCENT, BREAK, HELD, INK, MUTED, SLIP, finite, svg
from garra.page.words import HALF, UNITS, number

HUES = (HELD, ACCENT, SLIP, BREAK, INK, MUTED)  # of the legs 0 to 5
SMALL = (310, 190)  # size of one of three figures side by side [px]

Table = dict[str, Any]


def over_time(motion: Table) -> list[Table]:
    """One motion: a title, a sentence and a picture each; what was not recorded or is not limited is left out."""
    limit = motion["force_limit"]
    meaning = "Dotted red, where all legs have the same limits: shortest and longest."
    figures = [_row("Leg lengths", meaning, lengths(motion))]
    if _seen(motion["force"]):
        meaning = "What the actuators push with; a leg that is pulled has a negative force."
        limits = [] if limit is None else [-limit, limit]
        figures.append(_row("Leg forces", meaning, _legs("force", "force [N]", motion, 1.0, limits)))
    if _seen(motion["sigma_min"]):
        meaning = "Smallest singular value, scaled; at 0 the platform can move although no leg changes its length."
        figure = _single("sigma", "smallest singular value [1]", motion, motion["sigma_min"])
        figures.append(_row("Nearness to a singular pose", meaning, figure))
    margins = (
        ("stroke_margin", "Stroke left", "From each leg to the nearer end of its stroke.", "stroke left", "m"),
        ("universal_margin", "Lower joints", "Angle left in the cone of each universal joint.", "angle left", "rad"),
        ("spherical_margin", "Upper joints", "Angle left in the cone of each spherical joint.", "angle left", "rad"),
    )
    for key, title, meaning, label, si in margins:
        unit, factor = UNITS[si]
        if _seen(motion[key]):
            figures.append(_row(title, meaning, _legs(key, f"{label} [{unit}]", motion, factor, [0.0])))
    if _seen(motion["clearance"]):
        values = [None if v is None else 1e3 * v for v in motion["clearance"]]
        figure = _single("clearance", "clearance [mm]", motion, values)
        figures.append(_row("Clearance", "Between the two nearest legs, less their thickness.", figure))
    return figures + _energies(motion)


def _energies(motion: Table) -> list[Table]:
    """Energy figures of a simulation, with its numerical errors."""
    if not _seen(motion.get("balance")):
        return []

    def draw(ax: Axes) -> None:
        names = (("kinetic_energy", "kinetic", ACCENT), ("potential_energy", "potential", HELD), ("work", "work", SLIP))
        for key, label, hue in names:
            ax.plot(finite(motion["time"]), finite(motion[key]), color=hue, lw=1.5, label=label)
        time_axis(ax, motion, "energy [J]")
        ax.legend(loc="best")

    balance, drift = (
        svg(key, HALF, f"{label} over time", curve(motion, key, unit))
        for key, label, unit in (("balance", "Energy balance", "balance [J]"), ("drift", "Drift", "drift [1]"))
    )
    energies = svg("energy", HALF, "Energies over time", draw)
    return [
        _row("Energies", "Work: of actuators, friction and wrench since the start.", energies),
        _row("Energy balance", "Energy gained minus work: 0 but for the integrator’s errors.", balance),
        _row("Drift", "How far the numbers have left what the legs allow.", drift),
    ]


def curve(motion: Table, key: str, label: str) -> Callable[[Axes], None]:
    def draw(ax: Axes) -> None:
        ax.plot(finite(motion["time"]), finite(motion[key]), color=ACCENT, lw=1.5)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda x, _: number(x)))
        time_axis(ax, motion, label)

    return draw


def _row(title: str, meaning: str, figure: str) -> Table:
    return {"title": title, "meaning": meaning, "figure": figure}


def _seen(values: Any) -> bool:
    """Whether a list, or a list of lists, holds a number."""
    if isinstance(values, list):
        return any(_seen(value) for value in values)
    return values is not None


def lengths(motion: Table) -> str:
    """Limits are drawn where all legs have the same ones."""
    ends = [set(motion[key]) for key in ("length_min", "length_max")]
    limits = [1e3 * v for values in ends if len(values) == 1 for v in values if v is not None]
    return _legs("lengths", "length [mm]", motion, 1e3, limits)


def _legs(key: str, label: str, motion: Table, factor: float, limits: Sequence[float]) -> str:
    def draw(ax: Axes) -> None:
        for leg, hue in enumerate(HUES):
            values = factor * finite([row[leg] for row in motion[key]])
            dashes = "-" if leg < 3 else (0, (4, 3))  # of two legs with the same numbers both are seen
            ax.plot(finite(motion["time"]), values, color=hue, lw=1.5, ls=dashes, label=f"leg {leg}")
        for limit in limits:
            ax.axhline(limit, color=BREAK, lw=1, ls=(0, (1, 2)))
        time_axis(ax, motion, label)
        ax.legend(ncols=6, loc="lower center", bbox_to_anchor=(0.5, 1), handlelength=1.4, columnspacing=0.8)

    return svg(key, HALF, f"{label} over time", draw)


def _single(key: str, label: str, motion: Table, values: Sequence[float | None]) -> str:
    def draw(ax: Axes) -> None:
        data = finite(values)
        ax.plot(finite(motion["time"]), data, color=ACCENT, lw=1.6)
        seen = data[np.isfinite(data)]
        ax.set_ylim(min(0, 1.08 * seen.min(initial=0)), 1.08 * seen.max(initial=0) or 1)
        time_axis(ax, motion, label)

    return svg(key, HALF, f"{label} over time", draw)


def time_axis(ax: Axes, motion: Table, label: str) -> None:
    time = motion["time"]
    if len(time) > 1:
        ax.set_xlim(time[0], time[-1])
    ax.set_xlabel(motion.get("axis", "time [s]"))
    ax.set_ylabel(label)


def envelopes(motion: Table) -> list[str]:
    """Per leg the force over time: of the nominal motion, and between the smallest and largest of all samples."""
    if not _seen(motion["force_low"]) or not _seen(motion["force_high"]):
        return []
    limit = motion["force_limit"]
    low, high = (_leg_columns(motion[key]) for key in ("force_low", "force_high"))
    force = _leg_columns(motion["force"])
    ends = np.array([np.nanmin(np.minimum(low, force)), np.nanmax(np.maximum(high, force))])
    pad = 0.08 * (ends[1] - ends[0] or 1)

    def figure(leg: int) -> str:
        def draw(ax: Axes) -> None:
            time = finite(motion["time"])
            ax.fill_between(time, low[:, leg], high[:, leg], color=HUES[leg], alpha=0.25, lw=0)
            ax.plot(time, force[:, leg], color=HUES[leg], lw=1.5)
            ax.set_ylim(ends[0] - pad, ends[1] + pad)
            for at in [] if limit is None else [-limit, limit]:
                if ends[0] - pad < at < ends[1] + pad:
                    ax.axhline(at, color=BREAK, lw=1, ls=(0, (1, 2)))
            ax.yaxis.set_major_locator(MaxNLocator(4))
            time_axis(ax, motion, "force [N]")

        return svg(f"envelope{leg}", SMALL, f"Force of leg {leg} over time, all samples", draw)

    return [figure(leg) for leg in range(len(HUES))]


def _leg_columns(rows: Any) -> np.ndarray:
    return np.array([[math.nan if v is None else v for v in row] for row in rows], dtype=float)


def when(name: str, table: Table, label: str, color: str) -> str:
    """How many samples per instant."""
    time, counts = np.array(table["time"], dtype=float), np.array(table["count"], dtype=float)

    def draw(ax: Axes) -> None:
        width = (time[-1] - time[0]) / max(len(time) - 1, 1) or 1.0
        ax.bar(time, counts, width=width, color=color, alpha=0.75)
        ax.set_xlim(time[0] - width / 2, time[-1] + width / 2)
        ax.grid(axis="x", visible=False)
        ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        ax.set_xlabel(f"{label} [s]")
        ax.set_ylabel("samples")

    return svg(name, HALF, f"Histogram of the {label}", draw)
