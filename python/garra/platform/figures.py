"""The figures of a platform's motion and of a study of it, as SVG that belongs to the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from garra.page.mpl_figures import ACCENT, BREAK, HELD, INK, MUTED, SLIP, finite, svg
from garra.page.words import HALF, number

HUES = (HELD, ACCENT, SLIP, BREAK, INK, MUTED)  # of the legs 0 to 5
DEGREES = 180 / math.pi
SMALL = (310, 190)  # size of one of three figures side by side [px]

Table = dict[str, Any]
Row = tuple[str, str, str]  # title, picture, sentence


# data set, title, axis, its scale, meaning
MEASURES = (
    ("force", "Leg forces", "force [N]", 1.0, "What the actuators push with; a leg that is pulled has a negative force."),
    ("sigma_min", "Nearness to a singular pose", "smallest singular value", 1.0,
     "Smallest singular value, scaled; at 0 the platform can move although no leg changes its length."),
    ("friction_margin", "Friction margin", "margin", 1.0, "Of the pad nearest to slipping; at 0 it slips."),
    ("stroke_margin", "Stroke left", "stroke left [mm]", 1e3, "From each leg to the nearer end of its stroke."),
    ("universal_margin", "Lower joints", "angle left [°]", DEGREES, "Angle left in the cone of each universal joint."),
    ("spherical_margin", "Upper joints", "angle left [°]", DEGREES, "Angle left in the cone of each spherical joint."),
    ("position_error", "Distance from the path", "distance [mm]", 1e3, "From where the platform should be at that time."),
    ("angle_error", "Angle from the path", "angle [°]", DEGREES, "Of its orientation."),
    ("clearance", "Clearance", "clearance [mm]", 1e3, "Between the two nearest legs, less their thickness."),
)  # fmt: skip


def over_time(motion: Table) -> list[Row]:
    """One motion; what was not recorded or is not limited is left out."""
    limit = motion["force_limit"]
    rows = []
    if "lengths" in motion:
        rows += [("Leg lengths", lengths(motion), "Dotted red, where all legs have the same limits: shortest and longest.")]
    for key, title, label, factor, meaning in MEASURES:
        if _seen(motion.get(key)):
            limits = [0.0] if key.endswith("margin") else [] if limit is None else [-limit, limit]
            draw = _legs if isinstance(motion[key][0], list) else _single
            rows.append((title, draw(key, label, motion, factor, limits), meaning))
    return rows + (_energies(motion) if _seen(motion.get("balance")) else [])


ENERGIES = (("kinetic_energy", "kinetic", ACCENT), ("potential_energy", "potential", HELD), ("work", "work", SLIP))


def _energies(motion: Table) -> list[Row]:
    """Energy figures of a simulation, with its numerical errors."""

    def draw(ax: Axes) -> None:
        for key, label, hue in ENERGIES:
            ax.plot(finite(motion["time"]), finite(motion[key]), color=hue, lw=1.5, label=label)
        time_axis(ax, motion, "energy [J]")
        ax.legend(loc="best")

    energies = svg("energy", HALF, "Energies over time", draw)
    rows = (
        ("Energy balance", "balance", "balance [J]", "Energy gained minus work: 0 but for the integrator’s errors."),
        ("Drift", "drift", "drift", "How far the numbers have left what the legs allow."),
    )
    return [("Energies", energies, "Work: of actuators, friction and wrench since the start.")] + [
        (title, svg(key, HALF, f"{title} over time", curve(motion, key, label)), meaning)
        for title, key, label, meaning in rows
    ]


def curve(motion: Table, key: str, label: str) -> Callable[[Axes], None]:
    def draw(ax: Axes) -> None:
        ax.plot(finite(motion["time"]), finite(motion[key]), color=ACCENT, lw=1.5)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda x, _: number(x)))
        time_axis(ax, motion, label)

    return draw


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


def _single(key: str, label: str, motion: Table, factor: float, _: Sequence[float]) -> str:
    def draw(ax: Axes) -> None:
        data = factor * finite(motion[key])
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


def envelopes(motion: Table) -> list[tuple[str, str]]:
    """Per leg the force over time: of the nominal motion, and between the smallest and largest of all samples."""
    if not _seen(motion["force_low"]) or not _seen(motion["force_high"]):
        return []
    limit = motion["force_limit"]
    low, high = (_leg_columns(motion[key]) for key in ("force_low", "force_high"))
    force = _leg_columns(motion["force"])
    ends = np.array([np.nanmin(np.minimum(low, force)), np.nanmax(np.maximum(high, force))])
    pad = 0.08 * (ends[1] - ends[0] or 1)

    def figure(leg: int) -> tuple[str, str]:
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

        return f"Leg {leg}", svg(f"envelope{leg}", SMALL, f"Force of leg {leg} over time, all samples", draw)

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
