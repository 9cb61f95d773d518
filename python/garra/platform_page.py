"""The page of one motion of a platform, with an animation: one HTML file that loads nothing else.

usage: python -m garra.platform_page MOTION.h5 [--sample S] -o page.html

MOTION.h5: path.h5 of a run folder, or what `garra platform simulate` wrote with outputs over time.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from garra import command, platform_figures, platform_folder
from garra.html import dumps, page

Table = dict[str, Any]


def legs(motion: Table) -> list[Table]:
    """Per leg the smallest and largest length [m] with the stroke's limits, and the largest force [N]."""
    rows = []
    for leg in range(6):
        lengths = [row[leg] for row in motion["lengths"] if row[leg] is not None]
        forces = [abs(row[leg]) for row in motion["force"] or [] if row[leg] is not None]
        rows.append(
            {
                "leg": leg + 1,
                "shortest": min(lengths, default=None),
                "longest": max(lengths, default=None),
                "low": motion["length_min"][leg],
                "high": motion["length_max"][leg],
                "force": max(forces, default=None),
            }
        )
    return rows


def parts(motion: Table) -> Table:
    """What platform_motion.html, platform_script.html and platform_time.html show of a motion."""
    return {
        "motion": motion,
        "motion_json": dumps(motion),
        "figures": platform_figures.over_time(motion),
        "legs": legs(motion),
    }


def build(motion: Table) -> str:
    return page("platform_page.html", **parts(motion))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="garra.platform_page", description="Writes the page of a platform's motion.")
    parser.add_argument("input", metavar="MOTION.h5", help="path.h5 of a run, or output of `garra platform simulate`")
    parser.add_argument("--sample", type=int, default=0, metavar="S", help="of a simulation, from 0")
    parser.add_argument("-o", "--output", metavar="FILE", required=True)
    options = parser.parse_args(arguments)

    def built() -> str:
        return build(platform_folder.read_motion(Path(options.input), options.sample))

    return command.make("garra platform", Path(options.output), built)


if __name__ == "__main__":
    sys.exit(main())
