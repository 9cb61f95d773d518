"""The figures of an experiment on a platform, as SVG that belongs to the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from garra.page.mpl_figures import ACCENT, BREAK, HELD, INK, SLIP, finite, svg
from garra.page.words import HALF, number, power_of_ten
from garra.platform.figures import HUES, SMALL, curve, time_axis

FORMS = {"full": ("91 coordinates", ACCENT), "minimal": ("six coordinates", HELD)}
SOLVERS = {"dense": ("91, dense", SLIP), "full": ("91, leg by leg", ACCENT), "minimal": ("six", HELD)}
LEAST = 1e-17  # what is no larger is drawn there on axes of powers of ten
VIEW = (math.radians(-60), math.radians(16))  # azimuth and elevation, as the animation begins

Table = dict[str, Any]


Draw = Callable[[Axes], None]
Row = tuple[str, str, str]  # title, picture, sentence


def path_figures(paths: Sequence[Table], titles: dict[str, str], tolerance: float) -> list[tuple[str, str, str, list]]:
    """Sections of the paths: id, title, lead, pictures; one per figure, or one of all where there is one way to cut."""
    groups = {kind: own for kind in titles if (own := [path for path in paths if path["parts"] == kind])}
    size = HALF if len(groups) > 1 else SMALL
    several = any(len(own) > 1 for own in groups.values())
    rows = (
        ("steps", "Newton steps", "Of a segment, with the pose before as the guess"
         + ("; means over the segments of a path." if several else "."), _iterations),
        ("flops", "Operations",
         "Floating-point operations of a segment, as in the paper’s figure 3: its 91 equations eliminated as dense "
         "ones (assembly not counted), leg by leg, and the minimal form.", _flops),
        ("agreement", "Agreement", "How far the poses of the two forms are apart, position [m] and Euler parameters. "
         "Dotted red: the tolerance of the lengths.", lambda own: _agreement(own, tolerance)),
    )  # fmt: skip
    drawn = [
        (key, title, meaning, [
            (titles[kind], svg(f"{key}-{kind}", size, f"{title}: {titles[kind]}", draw(own))) for kind, own in groups.items()
        ])
        for key, title, meaning, draw in rows
    ]  # fmt: skip
    if len(groups) > 1:
        return drawn
    lead = f"{titles[next(iter(groups))]}."
    return [("forms", "Both forms", lead, [(title, pictures[0][1], meaning) for _, title, meaning, pictures in drawn])]


def _bars(ax: Axes, values: Sequence[np.ndarray], styles: Sequence[tuple[str, str]]) -> None:
    """A group of bars per place; `values` [bar in the group][place]."""
    width = 0.8 / len(values)
    places = np.arange(len(values[0]))
    for k, (heights, (label, hue)) in enumerate(zip(values, styles, strict=True)):
        ax.bar(places + (k - (len(values) - 1) / 2) * width, heights, 0.92 * width, color=hue, label=label)
    ax.grid(axis="x", visible=False)
    ax.legend(ncols=len(values), loc="lower center", bbox_to_anchor=(0.5, 1), handlelength=1.2, columnspacing=1.2)


def _places(ax: Axes, paths: Sequence[Table]) -> None:
    """Axis labels of the groups: segments of the only path, or paths."""
    if len(paths) == 1:
        segments = paths[0]["segments"]
        ax.xaxis.set_major_locator(MaxNLocator(11, integer=True))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x + 1:.0f}" if 0 <= x < segments else ""))
        ax.set_xlabel("segment")
        return
    ax.set_xticks(range(len(paths)), [str(path["segments"]) for path in paths])
    ax.set_xlabel("segments of the path")


def _per_place(paths: Sequence[Table], of: Callable[[Table], Sequence[float]]) -> np.ndarray:
    """Value of each segment of the only path; with several paths the mean over the segments of each."""
    if len(paths) == 1:
        return np.array(of(paths[0]), dtype=float)
    return np.array([np.mean(of(path)) for path in paths])


def _iterations(paths: Sequence[Table]) -> Draw:
    def draw(ax: Axes) -> None:
        values = [_per_place(paths, lambda path, form=form: path[f"iterations_{form}"]) for form in FORMS]
        _bars(ax, values, list(FORMS.values()))
        ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        _places(ax, paths)
        ax.set_ylabel("Newton steps per segment")

    return draw


def _flops(paths: Sequence[Table]) -> Draw:
    def draw(ax: Axes) -> None:
        values = [_per_place(paths, lambda path, key=key: path["flops"][key]) for key in SOLVERS]
        _bars(ax, values, list(SOLVERS.values()))
        _powers(ax)
        ax.set_ylim(bottom=10 ** math.floor(math.log10(min(v.min() for v in values)) - 0.5))
        _places(ax, paths)
        ax.set_ylabel("flops per segment")

    return draw


def flops_over_time(summary: Table) -> str:
    """The paper's figure 5: operations from the start on, for each step size."""
    styles = ("-", (0, (5, 2)), (0, (1, 1.5)))

    def draw(ax: Axes) -> None:
        for key, (label, hue) in SOLVERS.items():
            for k, of in enumerate(summary["steps"]):
                named = f"{label}, {number(1e3 * of['step'])} ms"
                ax.plot(summary["time"][1:], of["flops"][key][1:], color=hue, lw=1.5, ls=styles[k % 3], label=named)
        _powers(ax)
        time_axis(ax, summary, "operations since the start")
        ax.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1), fontsize=9, handlelength=2, columnspacing=1)

    return svg("flops-time", HALF, "Operations over time of both forms for several step sizes", draw)


def _powers(ax: Axes) -> None:
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(10, numticks=7))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: power_of_ten(round(math.log10(y))) if y > 0 else ""))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.tick_params(axis="y", which="minor", length=0)


def _agreement(paths: Sequence[Table], tolerance: float) -> Draw:
    def draw(ax: Axes) -> None:
        for k, path in enumerate(paths):
            n, apart = path["segments"], np.maximum(finite(path["difference"]), LEAST)
            hue = HUES[k % len(HUES)]
            ax.plot(np.arange(1, n + 1) / n, apart, color=hue, lw=1.2, marker="o", ms=3.5, label=str(n))
        ax.axhline(tolerance, color=BREAK, lw=1, ls=(0, (1, 2)))
        _powers(ax)
        ax.set_xlim(0, 1.03)
        ax.set_xlabel("share of the path")
        ax.set_ylabel("poses apart [m, 1]")
        if len(paths) > 1:
            columns = min(len(paths), 6)
            ax.legend(title="segments", ncols=columns, loc="lower center", bbox_to_anchor=(0.5, 1), handlelength=1)

    return draw


def both_forms(summary: Table) -> list[Row]:
    draw = curve(summary, "difference", "poses apart [m, 1]")
    apart = svg("apart", HALF, "How far the poses of the two forms are apart over time", draw)
    drift = "In 91 coordinates how far the 85 constraints are violated; in six how far the quaternion leaves length 1."
    return [
        ("Poses apart", apart, "Largest difference of positions [m] and Euler parameters."),
        ("Energy balance", _over_time(summary, "balance", "balance [J]"),
         "Energy gained minus work done: 0 but for the integrator’s errors."),
        ("Drift", _over_time(summary, "drift", "drift"), drift),
    ]  # fmt: skip


def _over_time(summary: Table, key: str, label: str) -> str:
    """The same measure of both forms."""

    def draw(ax: Axes) -> None:
        for form, (name, hue) in FORMS.items():
            ax.plot(finite(summary["time"]), finite(summary[form][key]), color=hue, lw=1.5, label=name)
        ax.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: number(y)))
        time_axis(ax, summary, label)

    return svg(f"both-{key}", HALF, f"{label} over time, both forms", draw)


# --- the paper's figures 2 and 4: two poses


def poses(motion: Table) -> list[tuple[str, str]]:
    """The first and the last pose, drawn alike, base axes."""
    base = np.array(motion["base_anchors"])
    rings = [_ring(motion, i) for i in (0, -1)]
    seen = np.concatenate([_seen(points) for points in (base, *rings)])
    low, high = seen.min(axis=0), seen.max(axis=0)
    pad = 0.06 * (high - low).max()

    def figure(name: str, ring: np.ndarray) -> str:
        def draw(ax: Axes) -> None:
            feet, tips = _seen(base), _seen(ring)
            for corners in (feet, tips):
                ax.fill(*corners.T, color=INK, alpha=0.15, lw=0)
                ax.plot(*np.vstack([corners, corners[:1]]).T, color=INK, lw=2.2)
            for leg in range(len(feet)):
                foot, tip = feet[leg], tips[leg]
                ax.plot(*np.stack([foot, tip]).T, color=ACCENT, lw=2.2)
                ax.plot(*np.stack([foot, foot + 0.5 * (tip - foot)]).T, color=ACCENT, lw=4.5)
            ax.set_xlim(low[0] - pad, high[0] + pad)
            ax.set_ylim(low[1] - pad, high[1] + pad)
            ax.set_aspect("equal")
            ax.set_axis_off()

        return svg(f"pose-{name}", (HALF[0], 320), f"The platform's {name} pose", draw)

    return [("Start", figure("first", rings[0])), ("End", figure("last", rings[1]))]


def _ring(motion: Table, i: int) -> np.ndarray:
    w, x, y, z = motion["quaternion"][i]
    v = np.array([x, y, z])
    arms = np.array(motion["platform_anchors"])
    across = np.cross(v, arms)
    return arms + 2 * (w * across + np.cross(v, across)) + np.array(motion["position"][i])


def _seen(points: np.ndarray) -> np.ndarray:
    """Points [n,3] as [n,2] in the plane of the picture."""
    turn, lift = VIEW
    right = np.array([-math.sin(turn), math.cos(turn), 0])
    up = np.array([-math.sin(lift) * math.cos(turn), -math.sin(lift) * math.sin(turn), math.cos(lift)])
    return points @ np.stack([right, up], axis=1)
