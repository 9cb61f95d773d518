"""The page of an experiment on a platform: the same motion in the paper's 91 coordinates and in six.

`python -m garra.report RUN` calls this for runs whose job is "platform_experiment".
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from garra.page import words
from garra.page.html import dumps, study_page
from garra.page.run_folder import Run
from garra.platform import folder as platform_folder
from garra.platform.page import parts
from garra.platform_experiment import figures
from garra.platform_experiment import folder as platform_experiment_folder

FORMS = platform_experiment_folder.FORMS
PARTS = {"pose": "Equal parts of the pose", "lengths": "Equal parts of the leg lengths"}
SECONDS = 3.0  # that the animation takes for a path, which has no time of its own
MINIMAL = 1  # sample of motion.h5

Table = dict[str, Any]


def build(run: Run) -> str:
    """The report as HTML; raises RunError where path.h5 or motion.h5 is missing or damaged."""
    summary = run.summary
    is_motion = summary["kind"] == "free_motion"
    own = _motion_parts(run) if is_motion else _path_parts(run)
    return study_page(
        "platform_experiment/report.html",
        run,
        is_motion=is_motion,
        facts=_facts(summary),
        unsolved=summary["samples"] - summary["solved"],
        what="instant" if is_motion else "pose",
        ratio=ratio,
        spread=spread,
        largest=largest,
        **own,
    )


def ratio(flops: Table) -> str:
    """91 dense : 91 leg by leg : minimal, of numbers or of lists."""
    dense, full, minimal = (np.sum(flops[key]) for key in platform_experiment_folder.SOLVERS)
    return f"{dense / minimal:,.0f} : {full / minimal:.1f} : 1"


def spread(values: list[int]) -> str:
    """4, or 4 to 5."""
    return str(min(values)) if min(values) == max(values) else f"{min(values)} to {max(values)}"


def largest(values: Iterable[float | None]) -> float | None:
    return max((v for v in values if v is not None), default=None)


def _facts(summary: Table) -> list[str]:
    name = summary["platform"]["name"]
    if summary["kind"] == "move":
        moved = math.hypot(*summary["translation"])
        turned = math.degrees(summary["rotation"]["angle"])
        return [name, f"moved by {words.number(1e3 * moved)} mm", f"turned by {words.number(turned)}°"]
    if summary["kind"] == "stroke":
        return [name, f"all legs grow by {words.number(1e3 * summary['travel'])} mm from their shortest"]
    forces = [f for f in summary["forces"] if f is not None]
    few, many = (words.number(pick(forces, default=None)) for pick in (min, max))
    of = few if few == many else f"{few} to {many}"
    return [name, f"{of} N on every actuator", f"{words.number(summary['duration'])} s from rest"]


# --- a move or stroke


def _path_parts(run: Run) -> Table:
    summary, paths = run.summary, run.summary["paths"]
    motion = platform_experiment_folder.read_path(Path(run.folder) / "path.h5")
    last = len(motion["time"]) - 1
    labels = [f"segment {k} of {last}" if k else "start" for k in range(last + 1)]
    played = motion | {"time": [SECONDS * k / max(last, 1) for k in range(last + 1)], "labels": labels}
    groups = [
        {"parts": kind, "title": title, "paths": own}
        for kind, title in PARTS.items()
        if (own := [path for path in paths if path["parts"] == kind])
    ]
    totals = {key: sum(sum(path["flops"][key]) for path in paths) for key in platform_experiment_folder.SOLVERS}
    beyond = summary["smallest"]["stroke_margin"]
    return parts(motion) | {
        "motion_json": dumps(played),
        "poses": figures.poses(motion),
        "rows": figures.path_figures(groups, summary["tolerance"]),
        "steps": {form: max(max(path[f"iterations_{form}"]) for path in paths) for form in FORMS},
        "apart": largest(v for path in paths for v in path["difference"]),
        "flops": totals,
        "table": [path | {"title": PARTS[path["parts"]]} for path in paths],
        "beyond": -beyond if beyond is not None and beyond < -1e-9 else None,
    }


# --- a free motion


def _motion_parts(run: Run) -> Table:
    summary = run.summary
    motion = platform_folder.read_motion(Path(run.folder) / "motion.h5", MINIMAL)
    both = [
        (
            "Poses apart",
            "Largest difference of positions [m] and Euler parameters.",
            figures.difference(summary),
        ),
        (
            "Energy balance",
            "Energy gained minus work done: 0 but for the integrator’s errors.",
            figures.over_time(summary, "balance", "balance [J]"),
        ),
        (
            "Drift",
            "In 91 coordinates how far the 85 constraints are violated; in six how far the quaternion leaves length 1.",
            figures.over_time(summary, "drift", "drift"),
        ),
    ]
    shown = {title for title, _, _ in both}
    played = parts(motion)
    return played | {
        "figures": [row for row in played["figures"] if row["title"] not in shown],
        "poses": figures.poses(motion),
        "both": [{"title": title, "meaning": meaning, "figure": figure} for title, meaning, figure in both],
        "flops_figure": figures.flops_per_step(summary["flops_per_step"]),
        "apart": largest(summary["difference"]),
        "flops": summary["flops_per_step"],
    }
