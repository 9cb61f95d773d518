"""The page of one motion of a platform, with an animation; reports of platforms show the same parts.

`python -m garra.platform_page` writes it.
"""

from __future__ import annotations

from typing import Any

from garra.page.html import page
from garra.page.words import MISSING
from garra.platform import figures as platform_figures

Table = dict[str, Any]


SCRIPTS = ["page/player.js", "platform/scene.js"]


def legs(motion: Table) -> list[list[Any]]:
    """Per leg the smallest and largest length with the stroke's limits [mm], and the largest force [N]."""
    rows = []
    for leg in range(6):
        lengths = [row[leg] for row in motion["lengths"] if row[leg] is not None]
        forces = [abs(row[leg]) for row in motion["force"] or [] if row[leg] is not None]
        low, high = (_shown(motion[key][leg], 1e3) for key in ("length_min", "length_max"))
        allowed = low if motion["length_min"][leg] is None else f"{low} to {high}"
        ends = (_shown(pick(lengths, default=None), 1e3) for pick in (min, max))
        rows.append([leg, *ends, allowed, _shown(max(forces, default=None))])
    return rows


def _shown(x: float | None, factor: float = 1.0) -> str:
    return MISSING if x is None else f"{factor * x:.1f}"


def parts(motion: Table, **played: Any) -> Table:
    """Fields of parts.html for a motion; `played`: what its animation has otherwise."""
    return {
        "motion": motion,
        "figures": platform_figures.over_time(motion),
        "legs": legs(motion),
        "styles": ["page/motion.css"],
        "scripts": SCRIPTS,
        "starts": [("platform", "PlatformScene.start")],
        "data": {"platform": motion | played},
    }


def build(motion: Table) -> str:
    return page("platform/page.html", **parts(motion))
