"""The page of an experiment on a platform: the same motion in the paper's 91 coordinates and in six.

`python -m garra.report RUN` calls this for runs whose job is "platform_experiment".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from garra.page import words
from garra.page.html import study_page
from garra.page.run_folder import Run
from garra.platform import folder as platform_folder
from garra.platform.page import parts
from garra.platform_experiment import figures
from garra.platform_experiment import folder as platform_experiment_folder
from garra.platform_experiment.folder import FORMS, SOLVERS

PARTS = {"pose": "Equal parts of the pose", "lengths": "Equal parts of the leg lengths"}
SECONDS = 3.0  # that the animation takes for a path, which has no time of its own
MINIMAL = 1  # sample of motion.h5

Table = dict[str, Any]


def build(run: Run) -> str:
    """The report as HTML; raises RunError where path.h5 or motion.h5 is missing or damaged."""
    summary = run.summary
    is_motion = summary["kind"] == "free_motion"
    own = _motion_parts(run) if is_motion else _path_parts(run)
    unsolved = summary["samples"] - summary["solved"]
    return study_page(
        "platform_experiment/report.html", run, is_motion=is_motion, facts=_facts(summary), unsolved=unsolved, **own
    )


def _operations(flops: Table) -> list[str]:
    """91 dense, 91 leg by leg, minimal, and their ratio; of numbers or of lists."""
    dense, full, minimal = (np.sum(flops[key]) for key in SOLVERS)
    shown = [words.number(float(n), 4) for n in (dense, full, minimal)]
    return [*shown, f"{dense / minimal:,.0f} : {full / minimal:.1f} : 1"]


def _spread(values: list[int]) -> str:
    """4, or 4 to 5."""
    return str(min(values)) if min(values) == max(values) else f"{min(values)} to {max(values)}"


def _largest(values: Iterable[float | None]) -> float | None:
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
    beyond = summary["smallest"]["stroke_margin"]
    return parts(motion, time=[SECONDS * k / max(last, 1) for k in range(last + 1)], labels=labels) | {
        "poses": figures.poses(motion),
        "rows": figures.path_figures(paths, PARTS, summary["tolerance"]),
        "steps": {form: max(max(path[f"iterations_{form}"]) for path in paths) for form in FORMS},
        "apart": _largest(v for path in paths for v in path["difference"]),
        "flops": {key: sum(sum(path["flops"][key]) for path in paths) for key in SOLVERS},
        "paths": [_path_row(path) for path in paths],
        "modes": [[of["segment"], of["modes"], of["within"]] for of in summary["modes"]],
        "beyond": -beyond if beyond is not None and beyond < -1e-9 else None,
    }


def _path_row(path: Table) -> list[Any]:
    solved = f", {path['solved']} solved" if path["solved"] < path["segments"] else ""
    steps = (_spread(path[f"iterations_{form}"]) for form in FORMS)
    apart = words.number(_largest(path["difference"]))
    return [PARTS[path["parts"]], f"{path['segments']}{solved}", *steps, apart, *_operations(path["flops"])]


# --- a free motion


def _motion_parts(run: Run) -> Table:
    summary = run.summary
    motion = platform_folder.read_motion(Path(run.folder) / "motion.h5", MINIMAL)
    both = figures.both_forms(summary)
    shown = parts(motion)
    whole = [{key: of["flops"][key][-1] for key in SOLVERS} for of in summary["steps"]]
    names = [f"{words.number(1e3 * of['step'])} ms" for of in summary["steps"]]
    counted = [("an evaluation at rest", summary["flops_per_evaluation"])]
    counted += [(f"all steps of {name}", flops) for name, flops in zip(names, whole, strict=True)]
    return shown | {
        "figures": [row for row in shown["figures"] if row[0] not in {title for title, *_ in both}],
        "poses": figures.poses(motion),
        "both": both,
        "whole": _whole(summary),
        "counted": [[name, *_operations(flops)] for name, flops in counted],
        "flops_figure": figures.flops_over_time(summary),
        "corrections": [_correction_row(of) for of in summary["steps"]],
        "apart": _largest(summary["difference"]),
        "flops": whole[0],
        "beyond": None,
    }


def _correction_row(of: Table) -> list[str]:
    better = {None: "nothing to correct", True: "they improve the motion", False: "they do not improve it"}
    errors = (words.number(of[f"error_{form}"]) for form in ("full", "uncorrected", "minimal"))
    step = f"{words.number(1e3 * of['step'])} ms"
    return [step, words.count(of["corrections"]), *errors, better[of["corrections_improve"]]]


def _whole(summary: Table) -> list[list[str]]:
    """Rows of both forms side by side. The minimal one is never corrected."""
    rows: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
        ("method", "method", str),
        ("ended", "status", words.plain),
        (f"steps of {words.number(1e3 * summary['step'])} ms", "steps", words.count),
        ("corrections", "corrections", words.count),
        ("largest drift", "worst_drift", words.number),
        ("energy off by [J]", "worst_balance", words.number),
    )
    full, minimal = summary["full"], summary["minimal"] | {"corrections": None}
    return [[name, show(full[key]), words.MISSING if minimal[key] is None else show(minimal[key])] for name, key, show in rows]
