"""What the folder of a grasp study in time holds: summary.json and motion.h5 (a few trajectories in full).

Whatever is missing or contradicts itself is refused with its file and field.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from garra.h5_tables import data_sets, opened, text
from garra.run_folder import (
    COUNT, HISTOGRAM, INPUT, MAYBE, MAYBE_TABLE, REAL, STUDY, TEXT, At, DamagedFile, check, same_lengths
)  # fmt: skip

OUTCOMES = ("held", "slipped", "dropped", "turned", "joint_limit", "unreachable", "unsolved", "non_finite")
UNDECIDED = ("unsolved", "non_finite")
METRICS = ("slip_path", "peak_drift", "peak_turn", "peak_force", "peak_torque", "least_margin")
BANDS = ("drift", "turn", "margin", "slip", "force")
QUANTILES = ("q05", "q25", "q50", "q75", "q95")
AUDIT = ("energy_balance", "momentum_balance", "worst_gap", "worst_cone", "worst_residual")
SHAPES = ("sphere", "box", "cylinder", "points")

Table = dict[str, Any]

INTERVAL = {"probability": MAYBE, "low": MAYBE, "high": MAYBE}
CURVES = {"probability": [MAYBE], "low": [MAYBE], "high": [MAYBE]}
LEVEL = {
    "friction": MAYBE,
    "samples": COUNT,
    "outcomes": dict.fromkeys(OUTCOMES, COUNT),
    "held": INTERVAL,
    "no_slip": INTERVAL,
    "survival": {"time": [REAL], "drop": CURVES, "slip": CURVES},
    **dict.fromkeys(METRICS, MAYBE_TABLE),
    "bands": {"time": [REAL], "alive": [COUNT], **dict.fromkeys(BANDS, MAYBE_TABLE)},
}
BAND = {"unit": TEXT, **dict.fromkeys(QUANTILES, [MAYBE])}
SAMPLE = {"sample": COUNT, "level": COUNT, "friction": MAYBE, "outcome": TEXT, "end_time": MAYBE, "peak_drift": MAYBE}
SUMMARY = {
    **STUDY,
    "time": {
        "until": REAL,
        "step": REAL,
        "scheme": TEXT,
        "slip": REAL,
        "drop": REAL,
        "drop_turn": REAL,
        "drive": TEXT,
        "instants": COUNT,
        "restitution": REAL,
    },
    "held": INTERVAL | {"confidence": REAL},
    "outcomes": dict.fromkeys(OUTCOMES, COUNT),
    "levels": [LEVEL],
    "contacts": [{"name": TEXT, "slipped_first": COUNT, "slip_path": HISTOGRAM, "peak_force": HISTOGRAM}],
    "inputs": [INPUT],
    "audit": {**dict.fromkeys(AUDIT, MAYBE), "unstable_share": MAYBE, "worst_ratio": MAYBE},
    "solver": {"method": TEXT, "tol": REAL, "mean_iterations": MAYBE, "steps": REAL},
    "convergence": {"samples": [COUNT], "probability": [MAYBE], "low": [MAYBE], "high": [MAYBE]},
    "failures_kept": COUNT,
    "worst": [SAMPLE | {"slip": MAYBE}],
    "closest": [SAMPLE | {"slip": MAYBE}],
}


def check_summary(summary: Table, at: At) -> None:
    """Raises DamagedFile where the summary misses a field or contradicts itself."""
    check(summary, SUMMARY, at)
    for key in ("levels", "contacts"):
        if not summary[key]:
            raise at.key(key).fail("empty; a study has at least one")
    if sum(summary["outcomes"][key] for key in OUTCOMES) != summary["samples"]:
        raise at.key("outcomes").fail(f"do not add up to the {summary['samples']} samples")
    if sum(level["samples"] for level in summary["levels"]) != summary["samples"]:
        raise at.key("levels").fail(f"do not add up to the {summary['samples']} samples")
    tables = [(summary["convergence"], at.key("convergence"))]
    tables += [(row["bins"], at.key("inputs").item(i).key("bins")) for i, row in enumerate(summary["inputs"])]
    for i, level in enumerate(summary["levels"]):
        place = at.key("levels").item(i)
        if len(summary["levels"]) > 1 and level["friction"] is None:
            raise place.key("friction").fail("null; with several levels each has one")
        if sum(level["outcomes"][key] for key in OUTCOMES) != level["samples"]:
            raise place.key("outcomes").fail(f"do not add up to the {level['samples']} samples")
        tables += _check_level(level, place)
    same_lengths(tables)


def _check_level(level: Table, at: At) -> list[tuple[Table, At]]:
    """What a level may leave out; returns its tables of lists that must be equally long."""
    for key in METRICS:
        if level[key] is not None:
            check(level[key], HISTOGRAM, at.key(key))
    time, bands = level["survival"]["time"], level["bands"]
    curves = {f"{kind} {key}": level["survival"][kind][key] for kind in ("drop", "slip") for key in CURVES}
    columns = {"time": bands["time"], "alive": bands["alive"]}
    for key in BANDS:
        if bands[key] is not None:
            check(bands[key], BAND, at.key("bands").key(key))
            columns |= {f"{key} {q}": bands[key][q] for q in QUANTILES}
    return [({"time": time} | curves, at.key("survival")), (columns, at.key("bands"))]


# --- motion.h5

# data set of a trajectory: its shape; "t" is the number of instants, "n" that of the contacts
MOTION = {
    "time": ("t",),
    "position": ("t", 3),
    "quaternion": ("t", 4),
    "load": ("t", 6),
    "gravity": ("t", 3),
    "normal": ("t", "n", 3),
    "force": ("t", "n", 3),
    "force_palm": ("t", "n", 3),
    "slip_speed": ("t", "n"),
    "state": ("t", "n"),
    "kinetic": ("t",),
    "balance": ("t",),
}
# decimals: 0.01 mm, 1e-5 rad, 1 mN
DECIMALS = {"time": 6, "position": 5, "quaternion": 5, "normal": 4, "slip_speed": 5}
OTHER_DECIMALS = 3
DIGITS = {"kinetic": 4, "balance": 4}  # significant ones


def read_motion(folder: str) -> Table | None:
    """The trajectories of motion.h5, rounded for the page, each up to where it stopped; those that never began are left
    out. None where there is nothing to show, or no file."""
    file = Path(folder) / "motion.h5"
    found = opened(file, lambda h5: _read(h5, file)) if file.exists() else {"runs": []}
    return found if found["runs"] else None


def _read(h5: Any, file: Path) -> Table:
    shape = text(_attribute(h5, "shape", file))
    if shape not in SHAPES:
        raise DamagedFile(f'{file}: shape: is "{shape}"; expected one of {", ".join(SHAPES)}')
    joints = [int(n) for n in _attribute(h5, "joints", file)]
    runs = [_trajectory(h5[name], name, joints, file) for name in _order(h5)]
    return {
        "shape": shape,
        "radius": float(_attribute(h5, "radius", file)),
        "height": float(_attribute(h5, "height", file)),
        "size": [float(x) for x in _attribute(h5, "size", file)],
        "runs": [run for run in runs if run],
    }


def _order(h5: Any) -> list[str]:
    """The nominal trajectory first."""
    import h5py

    names = [name for name in h5 if isinstance(h5[name], h5py.Group)]
    return sorted(names, key=lambda name: (name != "nominal", _sample(name) or 0))


def _sample(name: str) -> int | None:
    digits = name.removeprefix("sample_")
    return int(digits) if digits.isdigit() else None


def _attribute(where: Any, key: str, file: Path) -> Any:
    if key not in where.attrs:
        raise DamagedFile(f"{file}: {where.name.strip('/')}{':' if where.name != '/' else ''}{key}: no such attribute")
    return where.attrs[key]


def _trajectory(group: Any, name: str, joints: list[int], file: Path) -> Table:
    """Empty where it never began."""
    if not data_sets(group, {"time": ("t",)}, file, f"{name}/")["time"]:
        return {}
    shapes = MOTION | {f"finger_{j}/links": ("t", n + 2, 3) for j, n in enumerate(joints, start=1)}
    rows = data_sets(group, shapes, file, f"{name}/")
    end = _end(rows)
    if not end:
        return {}
    rows = {key: [_rounded(row, key) for row in values[:end]] for key, values in rows.items()}
    return rows | {
        "sample": _sample(name),
        "title": text(group.attrs.get("title", name)),
        "outcome": text(_attribute(group, "outcome", file)),
        **{key: _finite(_attribute(group, key, file)) for key in ("friction", "end_time", "slip_time", "drop_time")},
        "mu": [float(x) for x in group.attrs["mu"]] if "mu" in group.attrs else None,
        "links": [rows.pop(f"finger_{j}/links") for j in range(1, len(joints) + 1)],
    }


def _end(rows: Table) -> int:
    """Instants before the first one at which the object's place is not known."""
    for i, (x, q) in enumerate(zip(rows["position"], rows["quaternion"], strict=True)):
        if None in x or None in q or rows["time"][i] is None:
            return i
    return len(rows["time"])


def _rounded(value: Any, key: str) -> Any:
    if isinstance(value, list):
        return [_rounded(item, key) for item in value]
    if value is None:
        return None
    if key in DIGITS:
        return float(f"{value:.{DIGITS[key]}g}")
    if key == "state":
        return int(value)
    decimals = 4 if key.endswith("/links") else DECIMALS.get(key, OTHER_DECIMALS)
    return round(value, decimals) + 0.0  # no -0.0


def _finite(value: Any) -> float | None:
    return float(value) if math.isfinite(float(value)) else None
