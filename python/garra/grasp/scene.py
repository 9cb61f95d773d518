"""Hand and object as scene.js draws them: the trajectories of motion.h5, the instants of grasp.h5."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from garra.page.h5_tables import data_sets, opened, text
from garra.page.run_folder import DamagedFile

SHAPES = ("sphere", "box", "cylinder", "points")

Table = dict[str, Any]

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
DECIMALS = {"time": 6, "position": 5, "quaternion": 5, "point": 5, "normal": 4, "slip_speed": 5}
OTHER_DECIMALS = 3
DIGITS = {"kinetic": 4, "balance": 4}  # significant ones


def read_motion(folder: str) -> Table | None:
    """The trajectories of motion.h5, rounded for the page, each up to its end. Trajectories without a start are left out.
    Returns None without a file or content."""
    return read_file(Path(folder) / "motion.h5")


def read_pictures(folder: str) -> Table | None:
    """The samples of grasp.h5, each at its instant, and those that `garra replay -o RUN/samples/N.h5` has added.
    Returns None without a file or content."""
    found = read_file(Path(folder) / "grasp.h5")
    if found:
        known = {run["sample"] for run in found["runs"]}
        for file in sorted((Path(folder) / "samples").glob("*.h5")):
            added = (read_file(file) or {"runs": []})["runs"]
            found["runs"] += [run for run in added if run["sample"] not in known]
            known |= {run["sample"] for run in added}
    return found


def read_file(file: Path) -> Table | None:
    """Trajectories of one file, or None without a file or content."""
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
        "others": _others(h5, file),
        "contact_objects": [int(k) for k in h5.attrs.get("contact_objects", [])],
        "runs": [run for run in runs if run],
    }


def _others(h5: Any, file: Path) -> list[Table]:
    """The further objects of a group."""
    if "object_names" not in h5.attrs:
        return []
    lists = {key: list(_attribute(h5, f"object_{key}", file)) for key in ("names", "shapes", "radii", "heights", "sizes")}
    count = len(lists["names"])
    if any(len(values) != (3 * count if key == "sizes" else count) for key, values in lists.items()):
        raise DamagedFile(f"{file}: object_names: not as many as the other lists of objects")
    return [
        {
            "name": text(lists["names"][k]),
            "shape": text(lists["shapes"][k]),
            "radius": float(lists["radii"][k]),
            "height": float(lists["heights"][k]),
            "size": [float(x) for x in lists["sizes"][3 * k : 3 * k + 3]],
        }
        for k in range(1, count)
    ]


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
    first = 1 if f"finger_{len(joints)}" in group else 0  # files of version 0.2 and older count fingers from 1
    shapes = MOTION | {f"finger_{j}/links": ("t", n + 2, 3) for j, n in enumerate(joints, start=first)}
    if "point" in group:
        shapes["point"] = ("t", "n", 3)
    others = [f"object_{k}" for k in range(1, len(group)) if f"object_{k}" in group]
    for other in others:
        shapes |= {f"{other}/position": ("t", 3), f"{other}/quaternion": ("t", 4)}
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
        "scale": float(group.attrs.get("scale", 1.0)),
        "links": [rows.pop(f"finger_{j}/links") for j in range(first, first + len(joints))],
        "others": [
            {key: rows.pop(f"{other}/{key}") for key in ("position", "quaternion")}
            | {"scale": float(group[other].attrs.get("scale", 1.0))}
            for other in others
        ],
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
    name = key.rpartition("/")[2]
    decimals = 4 if name == "links" else DECIMALS.get(name, OTHER_DECIMALS)
    return round(value, decimals) + 0.0  # no -0.0


def _finite(value: Any) -> float | None:
    return float(value) if math.isfinite(float(value)) else None
