"""The page of one motion of a platform, with an animation; reports of platforms show the same parts.

`python -m garra.platform_page` writes it.
"""

from __future__ import annotations

from typing import Any

from garra.page.html import dumps, page
from garra.platform import figures as platform_figures

Table = dict[str, Any]


def legs(motion: Table) -> list[Table]:
    """Per leg the smallest and largest length [m] with the stroke's limits, and the largest force [N]."""
    rows = []
    for leg in range(6):
        lengths = [row[leg] for row in motion["lengths"] if row[leg] is not None]
        forces = [abs(row[leg]) for row in motion["force"] or [] if row[leg] is not None]
        rows.append(
            {
                "leg": leg,
                "shortest": min(lengths, default=None),
                "longest": max(lengths, default=None),
                "low": motion["length_min"][leg],
                "high": motion["length_max"][leg],
                "force": max(forces, default=None),
            }
        )
    return rows


def parts(motion: Table) -> Table:
    """Fields of motion.html, script.html and time.html for a motion."""
    return {
        "motion": motion,
        "motion_json": dumps(motion),
        "figures": platform_figures.over_time(motion),
        "legs": legs(motion),
    }


def build(motion: Table) -> str:
    return page("platform/page.html", **parts(motion))
