"""The page of a climb under uncertainty: that of every system, and the nominal cycle of climb.h5 with an animation."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from garra.own import report
from garra.page.h5_tables import data_sets, opened
from garra.page.run_folder import Run
from garra.platform.figures import over_time

SHAPES = {"time": ("t",), "lower": ("t",), "upper": ("t",), "force": ("t", 6), "friction_margin": ("t",),
          "sigma_min": ("t",), "base_anchors": (6, 3), "platform_anchors": (6, 3)}  # fmt: skip
CYCLES, SCALE, MARGIN = 3, 160.0, 0.8  # of the animation: cycles, pixels in a meter, meters above the upper ring

Table = dict[str, Any]


def build(run: Run) -> str:
    """The report as HTML; raises RunError where climb.h5 is missing or damaged."""
    file = Path(run.folder) / "climb.h5"
    radius: list[float] = []
    cycle = opened(file, lambda h5: radius.append(float(h5.attrs["trunk_radius"])) or data_sets(h5, SHAPES, file))
    return report.build(
        run,
        "platform/climb.html",
        animation=_animation(cycle, radius[0]),
        figures=over_time(cycle | {"force_limit": None}),
    )


def _animation(cycle: Table, radius: float) -> str:
    """Some cycles from the side, as an animated SVG without script."""
    lower, upper = ([h + k * cycle["lower"][-1] for k in range(CYCLES) for h in cycle[key]] for key in ("lower", "upper"))
    half = len(cycle["time"]) // 2
    top, seconds = max(upper) + MARGIN, CYCLES * cycle["time"][-1]
    ring = 0.05 + max(abs(anchor[0]) for key in ("base_anchors", "platform_anchors") for anchor in cycle[key])
    wide = 2 * ring + 0.5  # with the heights at the left

    def animate(name: str, values: list[str]) -> str:
        text = ";".join(values)
        return f'<animate attributeName="{name}" dur="{seconds:g}s" repeatCount="indefinite" values="{text}"/>'

    def heights(name: str, of: list[float], above: float) -> str:
        return animate(name, [f"{SCALE * (top - h - above):.1f}" for h in of])

    def x(value: float) -> str:
        return f"{SCALE * (wide - ring + value):.1f}"

    tall = SCALE * (top + MARGIN)
    width = f'width="{2 * SCALE * radius:.1f}" height="{tall:.1f}"'
    parts = [f'<rect x="{x(-radius)}" y="0" {width} style="fill:var(--grid)"/>']
    for h in range(math.floor(top) + 1):
        parts.append(f'<text x="0" y="{SCALE * (top - h) + 5:.1f}" font-size="15" fill="var(--muted)">{h} m</text>')
    for base, anchor in zip(cycle["base_anchors"], cycle["platform_anchors"], strict=True):
        ends = heights("y1", lower, base[2]) + heights("y2", upper, anchor[2])
        style = "stroke:var(--accent);stroke-width:4"
        parts.append(f'<line x1="{x(base[0])}" x2="{x(anchor[0])}" style="{style}">{ends}</line>')
    for of, holds_first in ((lower, True), (upper, False)):
        holds = [((k // half) % 2 == 0) == holds_first for k in range(len(of))]
        change = heights("y", of, 0.03) + animate("fill", ["#2f7d4f" if held else "#888888" for held in holds])
        parts.append(f'<rect x="{x(-ring)}" width="{2 * ring * SCALE:.1f}" height="{0.06 * SCALE:.1f}">{change}</rect>')
    label = "The climb from the side: the ring that holds is green"
    box = f'viewBox="0 0 {wide * SCALE:.0f} {tall:.0f}" style="max-height:600px"'
    return f'<svg class="figure" role="img" aria-label="{label}" {box}>{"".join(parts)}</svg>'
