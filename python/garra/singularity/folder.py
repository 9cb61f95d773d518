"""Content of the folder of a singularity map: summary.json and configurations.json field by field, map.h5 and
results.h5 dataset by dataset."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from garra.page.h5_tables import numbers, opened
from garra.page.outcomes import check_outcomes
from garra.page.run_folder import (
    COUNT,
    HISTOGRAM,
    MAYBE,
    MAYBE_INTERVAL,
    QUANTILES,
    REAL,
    TEXT,
    At,
    check,
    read_json,
    require_length,
)  # fmt: skip
from garra.renamed import with_new_names

Table = dict[str, Any]

NULL = type(None)
JOINTS = [COUNT]  # numbers of joints, from 0; where schema is 1, the file has them from 1

SUMMARY = {
    "title": TEXT,
    "seed": COUNT,
    "samples": COUNT,
    "stopped_by": TEXT,
    "robot": {"name": TEXT, "joints": COUNT, "names": [TEXT], "prismatic": [(bool,)], "generic_rank": COUNT},
    "sampling": {"kind": TEXT, "ranges": [{"joint": COUNT, "kind": TEXT, "low": REAL, "high": REAL}]},
    "near": REAL,
    "tolerance": REAL,
    "precision": TEXT,
    "scaling": {"center": TEXT, "length": MAYBE},
    "outcomes": {"unreached": COUNT},  # and others
    "p_near": MAYBE_INTERVAL,
    "histograms": dict.fromkeys(("log_sigma", "log_condition", "manipulability"), HISTOGRAM),
    "quantiles": dict.fromkeys(("sigma_min", "condition"), dict.fromkeys(QUANTILES, MAYBE)),
    "worst": [{"sample": COUNT, "inverse_condition": MAYBE}],
}
NEAREST = {
    "converged": COUNT,
    "diverged": COUNT,
    "outside_range": COUNT,
    "distance": HISTOGRAM,
    "lost_freedoms": [{"lost": COUNT, "count": COUNT}],
    "dependent_joints": [{"joints": JOINTS, "count": COUNT, "share": REAL, "low": REAL, "high": REAL, "example": COUNT}],
    "subsets": [{"joints": JOINTS, "count": COUNT}],
    "subsets_per_configuration": [COUNT],
    "escape": [{"joint": COUNT, "order_1": COUNT, "order_2": COUNT}],
    "no_single_joint": COUNT,
}
VOXELS = {"low": [REAL], "side": REAL, "n": [COUNT], "occupied": COUNT, "with_near": COUNT}
CELL_PART = {"samples": COUNT, "near": COUNT, "cubes": COUNT, "tenth": COUNT, "half": COUNT}
CELL = CELL_PART | {"by_distance": [CELL_PART | {"low": REAL, "high": REAL}]}
CELL_WORST = {"center": [REAL], "samples": COUNT, "near": COUNT}
SINGLE = {"rechecked": COUNT, "missed": COUNT, "false_near": COUNT, "largest_error": MAYBE}


def check_summary(summary: Table, at: At) -> None:
    """Raises DamagedFile where the summary of a map misses a field or contradicts itself. Numbers of joints then count
    from 0, whatever the schema."""
    check(summary, SUMMARY, at)
    joints = summary["robot"]["joints"]
    for key in ("names", "prismatic"):
        require_length(summary["robot"][key], joints, "joints", at.key("robot").key(key))
    check_outcomes(summary, at)
    for key, shape in (("nearest", NEAREST), ("voxels", VOXELS), ("single_precision", SINGLE)):
        check(summary.setdefault(key, None), (shape,), at.key(key))
    if _first_joint(summary):
        _summary_from_zero(summary)
    for i, row in enumerate(summary["sampling"]["ranges"]):
        _check_joints([row["joint"]], joints, at.key("sampling").key("ranges").item(i).key("joint"))
    if summary["nearest"]:
        _check_nearest(summary["nearest"], joints, at.key("nearest"))
    if summary["voxels"]:
        _check_cell(summary["voxels"], at.key("voxels").key("cell"))
        require_length(summary["voxels"]["n"], 3, "axes", at.key("voxels").key("n"))
        require_length(summary["voxels"]["low"], 3, "axes", at.key("voxels").key("low"))


def _check_cell(voxels: Table, at: At) -> None:
    """Runs of older versions have no cell."""
    cell = voxels.setdefault("cell", None)
    if cell is None:
        return
    check(cell, CELL, at)
    if cell.setdefault("worst", None) is not None:
        check(cell["worst"], CELL_WORST, at.key("worst"))
        require_length(cell["worst"]["center"], 3, "axes", at.key("worst").key("center"))


def _check_nearest(nearest: Table, joints: int, at: At) -> None:
    for key in ("dependent_joints", "subsets"):
        for i, row in enumerate(nearest[key]):
            _check_joints(row["joints"], joints, at.key(key).item(i).key("joints"))
    for i, row in enumerate(nearest["escape"]):
        _check_joints([row["joint"]], joints, at.key("escape").item(i).key("joint"))
    if sum(row["count"] for row in nearest["dependent_joints"]) > nearest["converged"]:
        raise at.key("dependent_joints").fail(f"add up to more than the {nearest['converged']} that converged")


def _check_joints(numbers: list[int], joints: int, at: At) -> None:
    if any(not 0 <= k < joints for k in numbers):
        raise at.fail(f"is {numbers}; there are joints 0 to {joints - 1}")


# --- runs of schema 1, where joints count from 1 and wrenches are (moment; force)


def _first_joint(summary: Table) -> int:
    """The number of the first joint in the files of the run."""
    return 1 if summary["schema"] == 1 else 0


def _lower(row: Table, *keys: str) -> None:
    for key in keys:
        row[key] = [k - 1 for k in row[key]] if isinstance(row[key], list) else row[key] - 1


def _summary_from_zero(summary: Table) -> None:
    robot, scaling, nearest = summary["robot"], summary["scaling"], summary["nearest"]
    # Joints without a name were given one by their number.
    robot["names"] = [f"joint {k}" if name == f"joint {k + 1}" else name for k, name in enumerate(robot["names"])]
    scaling["center"] = re.sub(r"^joint (\d+)$", lambda found: f"joint {int(found[1]) - 1}", scaling["center"])
    for row in summary["sampling"]["ranges"]:
        _lower(row, "joint")
    if nearest:
        for row in nearest["dependent_joints"] + nearest["subsets"]:
            _lower(row, "joints")
        for row in nearest["escape"]:
            _lower(row, "joint")


def _configuration_from_zero(entry: Table, at: At) -> None:
    analysis = entry["analysis"]
    if entry["joints"] is not None:
        _lower(entry, "joints")
    _lower(analysis, "dependent_joints")
    analysis["lost_wrenches"] = [wrench[3:] + wrench[:3] for wrench in analysis["lost_wrenches"]]
    analysis["clearing_sets"] = [[k - 1 for k in joints] for joints in analysis["clearing_sets"]]
    for row in analysis["escape"]:
        _lower(row, "joints")
    for row in analysis["sosm"]:
        _lower(row, "first", "last", "ssm")
        actuators = row.get("actuators", [])
        check(actuators, [{"joint": COUNT}], at.key("analysis").key("sosm"))
        for actuator in actuators:
            _lower(actuator, "joint")
    entry["text"] = "Written by an older garra: joints count from 1 here.\n" + entry["text"]


# --- configurations.json

ANALYSIS = {
    "joints": COUNT,
    "rank": COUNT,
    "generic_rank": COUNT,
    "lost_freedoms": COUNT,
    "arm_singular": (bool,),
    "subchain_singular": (bool,),
    "dependent_joints": JOINTS,
    "sosm": [{"first": COUNT, "last": COUNT, "dim": COUNT, "ssm": JOINTS}],
    "lost_wrenches": [[REAL]],
    "escape": [{"joints": JOINTS, "order": COUNT, "rate": MAYBE, "sign": [COUNT], "sigma": MAYBE}],
    "clearing_sets": [JOINTS],
    "self_motion": TEXT,
    "singular_values": [REAL],
    "scaling": {"origin": [REAL], "length": REAL},
}
CONFIGURATION = {"screws": [[REAL]], "analysis": ANALYSIS, "text": TEXT}
OPTIONAL = {
    "why": (str, NULL),
    "share": MAYBE,
    "sample": (int, NULL),
    "distance": MAYBE,
    "q": ([REAL],),
    "singular_q": ([REAL],),
    "joints": (JOINTS,),
}


def check_configuration(entry: Any, at: At, first_joint: int = 0) -> Table:
    """The entry with every optional field, null where it has none, joints from 0; raises DamagedFile.

    first_joint: the number of the first joint in the file.
    """
    check(entry, CONFIGURATION, at)
    joints = len(entry["screws"])
    for i, screw in enumerate(entry["screws"]):
        require_length(screw, 6, "coordinates", at.key("screws").item(i))
    for i, wrench in enumerate(entry["analysis"]["lost_wrenches"]):
        require_length(wrench, 6, "coordinates", at.key("analysis").key("lost_wrenches").item(i))
    for key, shape in OPTIONAL.items():
        check(entry.setdefault(key, None), shape, at.key(key))
    for key in ("q", "singular_q"):
        if entry[key] is not None:
            require_length(entry[key], joints, "joints", at.key(key))
    if first_joint:
        _configuration_from_zero(entry, at)
    sets = [entry["analysis"]["dependent_joints"], *(row["joints"] for row in entry["analysis"]["escape"])]
    for joint_set in sets:
        _check_joints(joint_set, joints, at.key("analysis"))
    return entry


def read_configurations(folder: str, summary: Table) -> list[Table]:
    """The analyzed configurations of a run whose summary was checked; raises RunError."""
    path = Path(folder) / "configurations.json"
    at = At(str(path))
    content = with_new_names(read_json(path, remedy=f"`garra resume {folder}` writes it"), "json")
    check(content, {"configurations": [(dict,)]}, at)
    place = at.key("configurations")
    first = _first_joint(summary)
    return [check_configuration(entry, place.item(i), first) for i, entry in enumerate(content["configurations"])]


# --- map.h5


# Statistics of the tool points in each cube: `low` [3] m, world axes, `side` [m], arrays [nz, ny, nx], NaN for an empty cube.
Voxels = SimpleNamespace
VOXEL_ARRAYS = ("count", "near", "sigma_min", "sigma_max", "sigma_p10", "sigma_p50")

# Two joints on a grid [y, x], the others fixed at `q`, and the singular configurations between the grid's nodes: their
# dependent joints as sets, joint k (from 0) worth 2^k, and their escape joints, -1: none.
Slice = SimpleNamespace
SLICE_ARRAYS = ("sigma_min", "inverse_condition", "manipulability")
LOCUS_ARRAYS = ("locus_x", "locus_y", "locus_dependent_joints", "locus_escape")


def read_map(folder: str, summary: Table) -> tuple[Voxels | None, list[Slice]]:
    """Voxels and slices of a run whose summary was checked; raises RunError."""

    def read(file: Any, at: At) -> tuple[Voxels | None, list[Slice]]:
        names = sorted(file["slices"], key=int) if "slices" in file else []
        slices = [_slice(file["slices"][n], summary, at.key(f"slices/{n}")) for n in names]
        return (_voxels(file["voxels"], at.key("voxels")) if "voxels" in file else None), slices

    return _opened(folder, "map.h5", read)


def _opened(folder: str, name: str, read: Callable[[Any, At], Any]) -> Any:
    path = Path(folder) / name
    return opened(path, lambda file: read(file, At(str(path))), f"`garra resume {folder}` writes it")


def _voxels(group: Any, at: At) -> Voxels | None:
    low, side = _attribute(group, "low", at), _attribute(group, "side", at)
    count = numbers(group, "count", ("z", "y", "x"), {}, at.key("count"))
    if not count.size:
        return None
    arrays = {name: numbers(group, name, count.shape, {}, at.key(name)) for name in VOXEL_ARRAYS}
    if low.size != 3 or side.size != 1 or not side.ravel()[0] > 0:
        raise at.fail("attributes `low` [3] and `side` > 0 are wanted")
    return Voxels(low=low, side=float(side.ravel()[0]), **arrays)


def _slice(group: Any, summary: Table, at: At) -> Slice:
    first = _first_joint(summary)
    pair = [int(_attribute(group, name, at).ravel()[0]) - first for name in ("x", "y")]
    _check_joints(pair, summary["robot"]["joints"], at)
    axes = {name: numbers(group, name, "n", {}, at.key(name)) for name in ("x", "y")}
    if min(axis.size for axis in axes.values()) < 2:
        raise at.fail("at least two points along each side are wanted")
    shape = (axes["y"].size, axes["x"].size)
    measures = {name: numbers(group, name, shape, {}, at.key(name)) for name in SLICE_ARRAYS}
    sizes: dict[str, int] = {}
    locus = {name: numbers(group, name, "n", sizes, at.key(name)) for name in LOCUS_ARRAYS}
    locus |= {name: locus[name].astype(np.int64) for name in LOCUS_ARRAYS[2:]}
    locus["locus_escape"] -= first
    return Slice(joints=(pair[0], pair[1]), q=_attribute(group, "q", at), **axes, **measures, **locus)


def _attribute(group: Any, name: str, at: At) -> np.ndarray:
    if name not in group.attrs:
        raise at.fail(f"attribute `{name}` is missing")
    return np.asarray(group.attrs[name], dtype=float)


# --- results.h5


# Kept near samples [n] that converged on a singular configuration: tool point [n, 3] m, sets of joints, distance [rad], escape
# joint from 0, -1: none.
Rows = SimpleNamespace
ROWS = {"tool": ("n", 3), **dict.fromkeys(("inverse_condition", "dependent_joints", "distance", "escape_joint"), ("n",))}


def read_rows(folder: str, summary: Table) -> Rows | None:
    """The kept rows of a run whose summary was checked; None where the run kept none. Raises RunError where the file is
    damaged."""

    def read(file: Any, at: At) -> Rows | None:
        if "index" not in file or not file["index"].size:
            return None
        sample = numbers(file, "index", "n", {}, at.key("index"))
        sizes = {"n": sample.size}
        data = {name: numbers(file, name, shape, sizes, at.key(name)) for name, shape in ROWS.items()}
        converged = np.isfinite(data["distance"]) & (data["dependent_joints"] > 0) & np.isfinite(data["tool"]).all(axis=1)
        chosen = {name: column[converged] for name, column in data.items()}
        for name in ("dependent_joints", "escape_joint"):
            chosen[name] = chosen[name].astype(np.int64)
        chosen["escape_joint"] -= _first_joint(summary)
        return Rows(sample=sample[converged].astype(np.int64), **chosen) if converged.any() else None

    return _opened(folder, "results.h5", read) if (Path(folder) / "results.h5").is_file() else None
