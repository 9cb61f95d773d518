"""Content of the folder of an experiment on a platform: summary.json, path.h5 (a move or stroke) and motion.h5 (a free
motion).

Whatever is missing or contradicts itself is refused with its file and field.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from garra.page.h5_tables import opened
from garra.page.run_folder import COUNT, MAYBE, REAL, TEXT, At, check
from garra.platform.folder import MARGINS, read_poses
from garra.platform.folder import PATH as PATH_SHAPES

FORMS = ("full", "minimal")
SOLVERS = ("dense", "full", "minimal")
KINDS = ("move", "stroke", "free_motion")
PARTS = ("pose", "lengths")

END = {"position": [MAYBE], "quaternion": [MAYBE], "lengths": [MAYBE]}
PATH = {
    "parts": TEXT,
    "segments": COUNT,
    "solved": COUNT,
    "iterations_full": [COUNT],
    "iterations_minimal": [COUNT],
    "difference": [MAYBE],
    "flops": dict.fromkeys(SOLVERS, [REAL]),
}
FORM = {
    "method": TEXT,
    "status": TEXT,
    "steps": COUNT,
    "corrections": COUNT,
    "worst_drift": MAYBE,
    "worst_balance": MAYBE,
    "drift": [MAYBE],
    "balance": [MAYBE],
}
STEP = {
    "step": REAL,
    "steps": COUNT,
    "corrections": COUNT,
    "error_full": MAYBE,
    "error_uncorrected": MAYBE,
    "error_minimal": MAYBE,
    "corrections_improve": (bool, type(None)),
    "flops": dict.fromkeys(SOLVERS, [REAL]) | {"corrections": REAL},
}
SUMMARY = {
    "title": TEXT,
    "kind": TEXT,
    "samples": COUNT,
    "requested": COUNT,
    "stopped_by": TEXT,
    "solved": COUNT,
    "platform": {"name": TEXT},
}
PATHS = {"tolerance": REAL, "start": END, "end": END, "smallest": {"stroke_margin": MAYBE}, "paths": [PATH],
         "claim": {"statement": TEXT, "result": TEXT, "result_within": TEXT},
         "modes": [{"segment": COUNT, "modes": COUNT, "within": COUNT, "missing": REAL}]}  # fmt: skip
MOTION = {
    "forces": [MAYBE],
    "duration": REAL,
    "step": REAL,
    "time": [REAL],
    "full": FORM,
    "minimal": FORM,
    "difference": [MAYBE],
    "flops_per_evaluation": dict.fromkeys(SOLVERS, REAL),
    "steps": [STEP],
}
OF_KIND: dict[str, dict[str, Any]] = {
    "move": PATHS | {"translation": [REAL], "rotation": {"axis": [REAL], "angle": REAL}},
    "stroke": PATHS | {"travel": REAL},
    "free_motion": MOTION,
}

Table = dict[str, Any]


def check_summary(summary: Table, at: At) -> None:
    """Raises DamagedFile where the summary of an experiment misses a field or contradicts itself."""
    check(summary, SUMMARY, at)
    if summary["kind"] not in KINDS:
        raise at.key("kind").fail(f'is "{summary["kind"]}"; only {", ".join(KINDS)} have a report')
    check(summary, OF_KIND[summary["kind"]], at)
    if summary["solved"] > summary["samples"]:
        raise at.key("solved").fail(f"more than the {summary['samples']} samples")
    _check_counts(summary, at)


def _check_counts(summary: Table, at: At) -> None:
    """Every list has an entry for each pose or instant."""
    if summary["kind"] == "free_motion":
        lists = [(summary["difference"], at.key("difference"))]
        lists += [(summary[form][key], at.key(form).key(key)) for form in FORMS for key in ("drift", "balance")]
        for i, of in enumerate(summary["steps"]):
            lists += [(of["flops"][key], at.key("steps").item(i).key("flops").key(key)) for key in SOLVERS]
        _require(lists, len(summary["time"]))
        if not summary["steps"]:
            raise at.key("steps").fail("is empty")
        found = len(summary["time"])
    else:
        for i, path in enumerate(summary["paths"]):
            place = at.key("paths").item(i)
            lists = [(path[key], place.key(key)) for key in ("iterations_full", "iterations_minimal", "difference")]
            lists += [(path["flops"][key], place.key("flops").key(key)) for key in SOLVERS]
            _require(lists, path["segments"])
            if path["parts"] not in PARTS:
                raise place.key("parts").fail(f'is "{path["parts"]}", expected {" or ".join(PARTS)}')
            if any(n <= 0 for key in SOLVERS for n in path["flops"][key]):
                raise place.key("flops").fail("not positive")
        found = sum(path["segments"] for path in summary["paths"])
    if found != summary["samples"] or not found:
        raise at.key("samples").fail(f"is {summary['samples']}; {found} are listed")


def _require(lists: list[tuple[list[Any], At]], size: int) -> None:
    for values, place in lists:
        if len(values) != size:
            raise place.fail(f"has {len(values)} entries, expected {size}")


# --- path.h5

SHAPES = {"segment": ("t",)} | {
    key: shape
    for key, shape in (PATH_SHAPES | MARGINS).items()
    if key not in ("time", "force", "force_low", "force_high", "position_error", "angle_error")
}


def read_path(file: Path) -> Table:
    """The finest path as a motion, whose time counts segments."""

    table = opened(file, lambda h5: read_poses(h5, SHAPES, file))
    return table | {"time": table["segment"], "axis": "segment", "force": None, "force_limit": None}
