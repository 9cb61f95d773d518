"""A ranking and the set that it ranks, as the page wants them: from RANKING.h5 and the file that it names."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from garra.page.h5_tables import numbers, opened, text
from garra.page.outcomes import Outcome
from garra.page.run_folder import At, DamagedFile, MissingFile, RunError
from garra.page.words import plain
from garra.renamed import with_new_names

# Columns of a ranking: what follows the grasps' axis, and their type.
COLUMNS: dict[str, tuple[tuple[int, ...], type]] = {
    **dict.fromkeys(("status", "rank", "held", "unsolved", "samples", "limiting_contact", "non_unique"), ((), np.int64)),
    **dict.fromkeys(("p_held", "low", "high", "difference", "difference_low", "difference_high"), ((), np.float64)),
    **dict.fromkeys(("p_no_slip", "p_resisted", "resisted_force_radius"), ((), np.float64)),
    **dict.fromkeys(("required_friction", "margin"), ((3,), np.float64)),
    "outcomes": ((9,), np.int64),
}
# Arrays of a set that the page shows, with their shapes behind the axis of contacts and of grasps.
OF_CONTACTS = {"point": (3,), "normal": (3,), "friction": (), "force_limit": (), "torsion_radius": ()}
OF_GRASPS = {"mass": (), "com": (3,), "gravity": (3,), "wrench": (6,)}
OF_GRASPS |= {"outcome": (), "group": (), "pose_number": (), "load_case": ()}
# Columns of sets that `garra grasp touch` made, and the names in Touch.
OF_TOUCH = {"touch_status": "status", "collision_depth": "collision", "object_turn": "turn", "object_shift": "shift"}
OF_TOUCH |= {"jaw_width": "width", "hand_pose": "hand"}
OF_HAND_TOUCH = {"hand_distance": "distance", "hand_joints": "joints"}  # of hands with joints
OF_HAND_TOUCH |= {"object_scale": "scale"}
TOUCH_STATUS = ("touched", "no_touch", "one_side", "collision", "pushed_away", "bad_pose", "joint_limits")

# Exceptions of numpy.load() for a damaged file or another format.
NPZ_ERRORS = (OSError, ValueError, TypeError, KeyError, EOFError, MemoryError, RuntimeError, SyntaxError,
              zipfile.BadZipFile, zlib.error)  # fmt: skip

Table = dict[str, Any]


@dataclass(frozen=True)
class Grasps:
    """What was ranked."""

    first: np.ndarray  #: [G+1]
    arrays: dict[str, np.ndarray]  #: point, normal [m, 3], ... as far as they are there
    mesh: tuple[np.ndarray, np.ndarray] | None = None  #: vertices [v, 3], triangles [f, 3] of the object
    names: list[str] | None = None  #: of the grasps
    contact_names: list[str] | None = None  #: of the rows of contacts
    group_names: list[str] | None = None  #: of the numbers in arrays["group"]
    touch: dict[str, np.ndarray] = field(default_factory=dict)  #: status, ... of sets made of hand poses
    touch_names: tuple[str, ...] = TOUCH_STATUS  #: of the numbers in touch["status"]
    hand: Callable[[int], list[Any]] | None = None  #: solids of the hand at a grasp, if it is known
    jaw: str = ""  #: numbers of the parallel jaw, as a file of a set has them


@dataclass(frozen=True)
class Found:
    """One of everything for each grasp, and where it comes from."""

    columns: dict[str, np.ndarray]
    statuses: dict[str, Outcome]  #: by the names of the numbers in columns["status"]
    outcomes: dict[str, Outcome]  #: by the names of columns["outcomes"]
    title: str
    hand: str = "ideal"  #: or "compliant", "whole"
    decided: bool = True  #: study["best"] grasps, where so many were asked for, are surely the best
    study: Table = field(default_factory=dict)  #: by the names of SetStudy; empty: not known
    seconds: float | None = None
    device: str = ""
    version: str = ""
    file: str = ""  #: of the ranking
    set_file: str = ""
    grasps: Grasps | None = None
    without: str = ""  #: why there are no grasps

    @property
    def samples(self) -> int:
        """The most of a grasp; all have as many unless some were given up early."""
        return int(self.columns["samples"].max(initial=0))

    @property
    def drawn(self) -> int:
        """Samples of all ranked grasps."""
        return int(self.columns["samples"][self.columns["rank"] > 0].sum())

    @property
    def best(self) -> int:
        """How many best grasps were asked for; 0: all samples of all grasps were."""
        return int(self.study.get("best", 0))

    @property
    def order(self) -> np.ndarray:
        """Grasps that have a rank, the best first."""
        return order_of(self.columns["rank"])


def order_of(rank: np.ndarray) -> np.ndarray:
    """Grasps with a rank above 0, the best first."""
    ranked = np.flatnonzero(rank > 0)
    return ranked[np.argsort(rank[ranked], kind="stable")]


def read(path: str | Path) -> Found:
    """The ranking in a file, with its set if that is where the ranking says and has not changed. Raises RunError."""
    file = Path(path)
    table = opened(file, lambda h5: _ranking(h5, file), "`garra grasp rank SET.h5 -o RANKING.h5` writes one")
    kept = table.pop("set_checksum")
    grasps, without = _set_of(table["set_file"], kept, file, len(table["columns"]["rank"]))
    return Found(**table, grasps=grasps, without=without)


def _ranking(h5: Any, file: Path) -> Table:
    columns, sizes = {}, {}
    for name, (tail, kind) in COLUMNS.items():
        if name == "non_unique" and name not in h5:  # rankings of 0.1 have none
            columns[name] = np.zeros(sizes["G"], kind)
            continue
        columns[name] = numbers(h5, name, ("G", *tail), sizes, At(str(file), name)).astype(kind)
    statuses = _words(h5["status"])
    status, rank = columns["status"], columns["rank"]
    if len(status) and not 0 <= status.min() <= status.max() < len(statuses):
        raise DamagedFile(f"{file}: status: a number that its attribute `names` has no name for")
    if ((rank > 0) != (status == 0)).any():
        raise DamagedFile(f"{file}: rank: contradicts status")
    if (columns["held"] + columns["unsolved"] > columns["samples"]).any():
        raise DamagedFile(f"{file}: samples: less than held and unsolved ones together")
    said = {name: text(h5.attrs.get(name, "")) for name in ("set", "set_checksum", "study", "device", "version")}
    return {
        "columns": columns,
        "statuses": statuses,
        "outcomes": _words(h5["outcomes"]),
        "hand": text(h5.attrs.get("hand", "ideal")),
        "decided": text(h5.attrs.get("decided", "true")) == "true",
        "title": Path(said["set"]).name or file.name,
        "study": _study(said["study"], file),
        "seconds": _seconds(text(h5.attrs.get("seconds", ""))),
        "device": said["device"],
        "version": said["version"],
        "file": str(file),
        "set_file": said["set"],
        "set_checksum": said["set_checksum"],
    }


def _study(said: str, file: Path) -> Table:
    try:
        study = with_new_names(json.loads(said), "json") if said else {}
    except ValueError:
        study = None
    if not isinstance(study, dict):
        raise DamagedFile(f"{file}: study: the attribute is not a JSON object")
    return study


def _words(data: Any) -> dict[str, Outcome]:
    """Meanings of the numbers of a data set; older versions of garra wrote their names only."""
    names, labels, meanings = ([text(t) for t in data.attrs.get(key, ())] for key in ("names", "labels", "meanings"))
    labels, meanings = labels or list(map(plain, names)), meanings or [""] * len(names)
    names = with_new_names(list(names), "json")
    return {name: Outcome(label, meaning=m) for name, label, m in zip(names, labels, meanings, strict=False)}


def _seconds(said: str) -> float | None:
    try:
        return float(said)
    except ValueError:
        return None


# --- the set


def _set_of(named: str, checksum: str, ranking: Path, count: int) -> tuple[Grasps | None, str]:
    """The set, or why there is none: what has changed since it was ranked is not shown beside these numbers."""
    if not named or not checksum:
        return None, "the ranking does not say what set it is of"
    seen = ""
    # At its old path, or beside the ranking: both files may have been moved together.
    for place in (Path(named), ranking.parent / Path(named).name):
        if not place.is_file():
            continue
        if f"crc32:{_crc32(place):08x}" != checksum:
            seen = f"{place.name} has changed since it was ranked"
            continue
        try:
            return read_set(place, count), ""
        except RunError as error:
            return None, str(error)
    return None, seen or f"{Path(named).name} is no longer where it was"


def _crc32(path: Path) -> int:
    total = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            total = zlib.crc32(block, total)
    return total


def read_set(path: Path, count: int) -> Grasps:
    """The set of `count` grasps in a file, HDF5 or NPZ. Raises RunError."""
    if not is_npz(path):
        return opened(path, lambda h5: _grasps(h5, path, count))
    try:
        with np.load(path, allow_pickle=False) as npz:
            return _grasps(npz, path, count)
    except PermissionError as error:
        raise MissingFile(f"{path}: {error.strerror}") from error
    except NPZ_ERRORS as error:
        raise DamagedFile(f"{path}: {error}") from error


def is_npz(path: str | PathLike[str]) -> bool:
    """Whether a file is one of numpy.savez, as the program tells it: by how it begins."""
    with suppress(OSError), open(path, "rb") as file:
        return file.read(4) in (b"PK\3\4", b"PK\5\6")
    return False


def _grasps(h5: Any, file: Path, count: int) -> Grasps:
    arrays = {name: np.asarray(h5[name][()], float) for name in (*OF_CONTACTS, *OF_GRASPS) if name in h5}
    if "point" not in arrays or "normal" not in arrays:
        raise DamagedFile(f"{file}: point, normal: no such data sets")
    if "first" in h5:
        first = np.asarray(h5["first"][()]).astype(np.int64)
    else:
        first = np.arange(count + 1) * (arrays["point"].shape[1] if arrays["point"].ndim == 3 else -1)
    rows = int(first[-1]) if len(first) == count + 1 and first[0] == 0 and (np.diff(first) >= 0).all() else -1
    for name, array in arrays.items():
        shape = (rows, *OF_CONTACTS[name]) if name in OF_CONTACTS else (count, *OF_GRASPS[name])
        if rows < 0 or array.size != np.prod(shape):
            raise DamagedFile(f"{file}: {name}: does not fit the {count} grasps of the ranking")
        arrays[name] = array.reshape(shape)
    names = {"names": read_names(h5, "name", count), "contact_names": read_names(h5, "contact_name", rows)}
    names["group_names"] = read_group_names(h5)
    jaw = str(getattr(h5, "attrs", {}).get("jaw", ""))
    return Grasps(first, arrays, read_mesh(h5), **names, touch=read_touch(h5, count), jaw=jaw)


def read_touch(h5: Any, count: int) -> dict[str, np.ndarray]:
    """Columns of a set that was made of hand poses, by their names in Touch; {} of other sets."""
    columns = {key: np.asarray(h5[name][()]) for name, key in (OF_TOUCH | OF_HAND_TOUCH).items() if name in h5}
    return columns if "status" in columns and all(len(column) == count for column in columns.values()) else {}


def read_mesh(h5: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """object/vertex [v, 3] and object/face [f, 3], or None if they are missing or no mesh."""
    if "object/vertex" not in h5 or "object/face" not in h5:
        return None
    return sound_mesh(h5["object/vertex"][()], h5["object/face"][()])


def sound_mesh(vertex: Any, face: Any) -> tuple[np.ndarray, np.ndarray] | None:
    vertex, face = np.asarray(vertex, float), np.asarray(face)
    shaped = vertex.ndim == face.ndim == 2 and vertex.shape[1] == face.shape[1] == 3 and len(vertex) and len(face)
    if not shaped or face.dtype.kind not in "iu" or not np.isfinite(vertex).all():
        return None
    face = face.astype(np.int64)
    return (vertex, face) if 0 <= face.min() <= face.max() < len(vertex) else None


def name_of(names: list[str] | None, grasp: int) -> str:
    return f"{names[grasp]} (grasp {grasp})" if names and names[grasp] else f"grasp {grasp}"


def find_contact_name(names: list[str] | None, first: np.ndarray | None, grasp: int, contact: int) -> str:
    """Name of a contact of a grasp; both count from 0."""
    name = names[int(first[grasp]) + contact] if names and first is not None else ""
    return name or f"contact {contact}"


def read_group_names(h5: Any) -> list[str] | None:
    """Names of the numbers in `group`, where the set has them."""
    try:
        return read_names(h5, "group_name", len(h5["group_name"])) if "group_name" in h5 else None
    except ValueError:
        return None


def read_names(h5: Any, key: str, count: int) -> list[str] | None:
    """Texts [count], where the set has them."""
    try:
        names = h5[key] if key in h5 else None
    except ValueError:  # of an NPZ file a pickle, which is never read
        return None
    if names is None or names.shape != (count,) or names.dtype.kind not in "OSU":
        return None
    return [name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name) for name in names[()]]
