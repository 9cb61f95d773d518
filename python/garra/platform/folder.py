"""Content of the folder of a platform study: summary.json, path.h5 (the nominal motion) and map.h5 (a workspace map).

Whatever is missing or contradicts itself is refused with its file and field.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from garra.page.h5_tables import UNLIMITED, Shapes, data_sets, opened, text
from garra.page.outcomes import check_study
from garra.page.run_folder import (
    CONVERGENCE,
    COUNT,
    INPUT,
    MAYBE,
    MAYBE_INTERVAL,
    REAL,
    STUDY,
    TEXT,
    At,
    DamagedFile,
    check,
)

LEGS = 6

SUMMARY = {
    **STUDY,
    "kind": TEXT,
    "platform": {"name": TEXT},
    "p_feasible": MAYBE_INTERVAL,
    "outcomes": {"feasible": COUNT},  # and what can go wrong
    "allowed": {"force": MAYBE, "near_singular": REAL, "characteristic_length": REAL},
    "first_failure": {"legs": [(dict,)], "time": [REAL], "count": [COUNT]},
    "peak_force_at": {"legs": [COUNT], "time": [REAL], "count": [COUNT]},
    "metrics": {},  # any names, each a HISTOGRAM
    "inputs": [INPUT | {"bins": ({"value": [MAYBE], "feasible": [COUNT], "decided": [COUNT]},)}],
    "convergence": CONVERGENCE,
    "earliest": (dict,),
    "highest_force": [{"sample": COUNT, "outcome": TEXT, "force": MAYBE}],
    "failures_kept": COUNT,
}
KINDS = {
    "path": {"path": {"kind": TEXT, "law": TEXT, "instants": COUNT}},
    "map": {
        "map": {"points": [COUNT], "nodes": COUNT, "orientations": COUNT},
        "nodes": {"always": COUNT, "never": COUNT, "sigma_min_where_always": MAYBE, "worst_force_where_always": MAYBE},
    },
}

Table = dict[str, Any]


def check_summary(summary: Table, at: At) -> None:
    """Raises DamagedFile where the summary of a platform study misses a field or contradicts itself."""
    check(summary, {"kind": TEXT}, at)
    if summary["kind"] not in KINDS:
        raise at.key("kind").fail(f'is "{summary["kind"]}"; only "path" and "map" have a report')
    check_study(summary, SUMMARY | KINDS[summary["kind"]], at)
    failures = [key for key in summary["outcomes"] if key != "feasible"]
    check(summary["first_failure"]["legs"], [dict.fromkeys(failures, COUNT)], at.key("first_failure").key("legs"))
    check(summary["earliest"], dict.fromkeys(failures, [{"sample": COUNT, "instant": MAYBE}]), at.key("earliest"))
    for key, rows in (("first_failure", LEGS + 1), ("peak_force_at", LEGS)):
        if len(summary[key]["legs"]) != rows:
            raise at.key(key).key("legs").fail(f"has {len(summary[key]['legs'])} entries, expected {rows}")
        if len(summary[key]["time"]) != len(summary[key]["count"]):
            raise at.key(key).fail("time and count: lists of different lengths")


# --- path.h5

# data set: its shape; "t" is the number of instants
PATH = {
    "time": ("t",),
    "position": ("t", 3),
    "quaternion": ("t", 4),
    "lengths": ("t", 6),
    "force": ("t", 6),
    "sigma_min": ("t",),
    "base_anchors": (6, 3),
    "platform_anchors": (6, 3),
    "length_min": (6,),
    "length_max": (6,),
}
# what a study adds to a motion
MARGINS = {
    "stroke_margin": ("t", 6),
    "universal_margin": ("t", 6),
    "spherical_margin": ("t", 6),
    "clearance": ("t",),
    "force_low": ("t", 6),
    "force_high": ("t", 6),
    "position_error": ("t",),
    "angle_error": ("t",),
}


def read_path(file: Path) -> Table:
    """The data sets of PATH, and those of MARGINS that are there (else None), as nested lists, NaN and infinity as None,
    with title, force_limit and gravity."""

    def read(h5: Any) -> Table:
        keys = PATH | {key: shape for key, shape in MARGINS.items() if key in h5}
        limit = float(h5.attrs.get("force_limit", math.inf))
        return dict.fromkeys(MARGINS) | {
            **read_poses(h5, keys, file),
            "force_limit": limit if 0 < limit < UNLIMITED else None,
        }

    table = opened(file, read)
    if not table["time"]:
        raise DamagedFile(f"{file}: time: empty; a path has at least one instant")
    return table


def read_poses(h5: Any, shapes: Shapes, file: Path) -> Table:
    """Data sets with finite poses, the title and gravity of an open file."""
    table = data_sets(h5, shapes, file)
    for key in ("position", "quaternion"):
        if any(x is None for row in table[key] for x in row):
            raise DamagedFile(f"{file}: {key}: not finite")
    return table | {"title": text(h5.attrs.get("title", "platform")), "gravity": gravity(h5)}


def gravity(h5: Any) -> list[float]:
    return [float(x) for x in h5.attrs.get("gravity", (0.0, 0.0, 0.0))]


# --- output of `garra platform simulate`

TRAJECTORIES = {
    "times": ("t",),
    "position": ("n", "t", 3),
    "quaternion": ("n", "t", 4),
    "lengths": ("n", "t", 6),
    "kinetic_energy": ("n", "t"),
    "potential_energy": ("n", "t"),
    "work": ("n", "t"),
    "balance": ("n", "t"),
    "drift": ("n", "t"),
    "base_anchors": (6, 3),
    "platform_anchors": (6, 3),
}


def read_motion(file: Path, sample: int) -> Table:
    """One motion: a path.h5, or a sample of what `garra platform simulate` wrote, up to where it ended."""
    kinds: list[bool] = []
    opened(file, lambda h5: kinds.append("times" in h5) or {})
    if not kinds[0]:
        return read_path(file)

    def read(h5: Any) -> Table:
        rows = data_sets(h5, TRAJECTORIES, file)
        if not 0 <= sample < len(rows["position"]):
            raise DamagedFile(f"{file}: sample {sample}: the file has {len(rows['position'])} samples, from 0")
        return rows | {
            "status": _status(h5, sample),
            "title": text(h5.attrs.get("model", file.stem)),
            "gravity": gravity(h5),
        }

    table = opened(file, read)
    own = {key: table[key][sample] for key, shape in TRAJECTORIES.items() if shape[0] == "n"}
    reached = [i for i, row in enumerate(own["position"]) if None not in row and None not in own["quaternion"][i]]
    if not reached:
        raise DamagedFile(f"{file}: sample {sample}: position or quaternion: not finite")
    end = reached[-1] + 1
    cut = {key: values[:end] for key, values in own.items()}
    motion = dict.fromkeys((*PATH, *MARGINS)) | cut | {key: table[key] for key in ("base_anchors", "platform_anchors")}
    early = "" if end == len(table["times"]) else f", ends at {table['times'][end - 1]:g} s: {table['status']}"
    return motion | {
        "time": table["times"][:end],
        "title": f"{table['title']}, sample {sample}{early}",
        "force_limit": None,
        "gravity": table["gravity"],
        "length_min": [None] * LEGS,
        "length_max": [None] * LEGS,
    }


def _status(h5: Any, sample: int) -> str:
    names = h5["status"].attrs.get("names", ()) if "status" in h5 else ()
    code = int(h5["status"][sample]) if len(names) else -1
    return text(names[code]) if 0 <= code < len(names) else "unknown"


# --- map.h5

NODES = ("z", "y", "x")
MAP = {"z": ("z",), "y": ("y",), "x": ("x",), "feasible_share": NODES, "sigma_min": NODES, "worst_force": NODES}


def read_map(folder: str) -> Table:
    """Axes x, y, z and the numbers of the nodes [z][y][x] as nested lists, None where a node has none."""
    file = Path(folder) / "map.h5"
    table = opened(file, lambda h5: data_sets(h5, MAP, file))
    for key in NODES:
        values = table[key]
        if not values or None in values or any(b <= a for a, b in zip(values, values[1:], strict=False)):
            raise DamagedFile(f"{file}: {key}: expected growing numbers")
    return table
