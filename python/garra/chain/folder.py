"""Content of the folder of a chain study: summary.json checked field by field, nominal.h5 dataset by dataset."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from garra.page.h5_tables import numbers, opened
from garra.page.outcomes import check_counts, check_study
from garra.page.run_folder import (
    CONVERGENCE,
    COUNT,
    HISTOGRAM,
    MAYBE,
    MAYBE_INTERVAL,
    REAL,
    STUDY,
    TEXT,
    At,
    require_length,
)  # fmt: skip

DESIGN = {
    "values": [REAL],
    "samples": COUNT,
    "outcomes": (dict,),
    **MAYBE_INTERVAL,
    "settling_time": HISTOGRAM,
    "peak_torque": [HISTOGRAM],
    "peak_speed": [HISTOGRAM],
    "work": HISTOGRAM,
    "dissipated": HISTOGRAM,
    "worst_balance": MAYBE,
}
SUMMARY = {
    **STUDY,
    "robot": {"name": TEXT, "joints": COUNT, "joint_names": [TEXT], "units": [TEXT], "torque_units": [TEXT]},
    "settle": ({"within": REAL, "speed": REAL, "band": MAYBE, "at": ([REAL],)},),
    "method": {"integrator": TEXT, "step": MAYBE, "duration": REAL, "torque": TEXT, "limits": TEXT},
    "sweep": [{"key": TEXT, "unit": TEXT, "values": [REAL], "scale": TEXT}],
    "outcomes": {"settled": COUNT, "late": COUNT},  # and others
    "designs": [DESIGN],
    "best": ({"design": COUNT, "why": TEXT},),
    "inputs": [{"name": TEXT, "unit": TEXT, "distribution": TEXT}],
    "convergence": CONVERGENCE,
    "worst": [{"sample": COUNT, "design": COUNT, "balance": MAYBE}],
    "slowest": [{"sample": COUNT, "design": COUNT, "settling_time": MAYBE}],
    "failures_kept": COUNT,
}


def check_summary(summary: dict[str, Any], at: At) -> None:
    """Raises DamagedFile where the summary of a chain study misses a field or contradicts itself."""
    check_study(summary, SUMMARY, at)
    _check_robot(summary, at)
    if not summary["designs"]:
        raise at.key("designs").fail("empty; a study has at least one design")
    combinations = math.prod(len(entry["values"]) for entry in summary["sweep"])
    if len(summary["designs"]) != combinations:
        raise at.key("designs").fail(f"are {len(summary['designs'])}; the sweep has {combinations} combinations")
    for index, design in enumerate(summary["designs"]):
        _check_design(summary, design, at.key("designs").item(index))
    if sum(design["samples"] for design in summary["designs"]) != summary["samples"]:
        raise at.key("designs").fail(f"do not add up to the {summary['samples']} samples")
    _check_references(summary, at)


def _check_robot(summary: dict[str, Any], at: At) -> None:
    joints = summary["robot"]["joints"]
    for key in ("joint_names", "units", "torque_units"):
        require_length(summary["robot"][key], joints, "joints", at.key("robot").key(key))
    if summary["settle"] is not None and summary["settle"]["at"] is not None:
        require_length(summary["settle"]["at"], joints, "joints", at.key("settle").key("at"))


def _check_design(summary: dict[str, Any], design: dict[str, Any], at: At) -> None:
    require_length(design["values"], len(summary["sweep"]), "swept keys", at.key("values"))
    for key in ("peak_torque", "peak_speed"):
        require_length(design[key], summary["robot"]["joints"], "joints", at.key(key))
    check_counts(design, summary["outcomes"], at)


def _check_references(summary: dict[str, Any], at: At) -> None:
    """Designs that are named by their number exist."""
    designs = len(summary["designs"])
    named = [(row, at.key(key).item(i)) for key in ("worst", "slowest") for i, row in enumerate(summary[key])]
    if summary["best"] is not None:
        named.append((summary["best"], at.key("best")))
    for row, place in named:
        if not 0 <= row["design"] < designs:
            raise place.key("design").fail(f"is {row['design']}; there are {designs} designs")


# --- nominal.h5

# dataset: its axes, of d designs, t times, j joints, k points
DATASETS = {
    "times": "t",
    "q": "dtj",
    "qd": "dtj",
    "torque": "dtj",
    "tip": "dt3",
    "points": "dtk3",
    "kinetic_energy": "dt",
    "potential_energy": "dt",
    "dissipated": "dt",
    "work": "dt",
    "balance": "dt",
    "settling_time": "d",
    "status": "d",
    "design": "d",
}


# Trajectories of designs with nominal inputs: SI units, world axes, NaN where a trajectory had ended before. `points`:
# base, origins of the link frames, tool tip. `settling_time` is infinite where a chain never settled, `status` has names,
# `design` are indices into the summary's designs.
Nominal = SimpleNamespace


def read_nominal(folder: str, summary: dict[str, Any]) -> Nominal:
    """The trajectories of a run whose summary was checked; raises RunError."""
    path = Path(folder) / "nominal.h5"
    return opened(path, lambda file: _read(file, summary, At(str(path))), f"`garra resume {folder}` writes it")


def _read(file: Any, summary: dict[str, Any], at: At) -> Nominal:
    sizes = {"j": summary["robot"]["joints"], "k": summary["robot"]["joints"] + 2, "3": 3}
    arrays = {name: numbers(file, name, axes, sizes, at.key(name)) for name, axes in DATASETS.items()}
    if sizes["t"] < 2 or (np.diff(arrays["times"]) <= 0).any():
        raise at.key("times").fail("expected at least two times, growing")
    designs = arrays["design"].astype(int).tolist()
    if not designs or any(not 0 <= d < len(summary["designs"]) for d in designs):
        raise at.key("design").fail(f"names a design beyond the {len(summary['designs'])} of summary.json")
    arrays["design"] = designs
    arrays["status"] = _named(arrays["status"], file["status"].attrs.get("names"), at.key("status"))
    return Nominal(**arrays)


def _named(codes: np.ndarray, names: Any, at: At) -> list[str]:
    if names is None:
        raise at.fail("attribute `names` is missing")
    texts = [name.decode() if isinstance(name, bytes) else str(name) for name in np.atleast_1d(names)]
    if any(not 0 <= code < len(texts) for code in codes):
        raise at.fail(f"holds a code beyond its {len(texts)} names")
    return [texts[int(code)] for code in codes]
