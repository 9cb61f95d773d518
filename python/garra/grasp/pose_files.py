"""Hand poses of data sets and planners (docs/howto/grasp-poses.md)."""

from __future__ import annotations

import io
import json
import pickle
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from garra import _core

MOST_BYTES = 1 << 30  # of a pickled or JSON file, and of an array in it
MOST_ENTRIES = 1 << 26  # of a pickled file, those of lists that it has twice counted twice


@dataclass(frozen=True)
class PoseFile:
    """Hand poses of one object. SI units; hand axes: x closes, z out of the palm."""

    pose: np.ndarray
    """[P, 4, 4] hand in object axes"""
    outcome: np.ndarray | None = None
    """[P] True: held, where the file says it; as numbers with NaN where some are not known"""
    joints: dict[str, np.ndarray] | np.ndarray = field(default_factory=dict)
    """[P] joint values of the hand by name, where the file has them; of an .npz [P, n], without names"""
    squeeze: dict[str, np.ndarray] = field(default_factory=dict)
    """[P] targets of the joints that press, where the file has them (BODex)"""
    mesh: str | None = None
    """Path of the object's mesh, as the file has it"""
    scale: np.ndarray | float = 1.0
    """Factor on the mesh; [P] if each pose has one of its own"""
    mass: float | None = None
    """[kg]"""
    com: np.ndarray | None = None
    """[3] center of mass in object axes [m]"""


def read_poses(path: str | PathLike[str]) -> PoseFile:
    """Reads hand poses: ACRONYM (.h5), GraspGen (.json), Isaac (.yaml), DexGraspNet, BODex (.npy), or arrays (.npz).

    Pickled .npy files are interpreted without running code: numbers, texts, lists, dictionaries and NumPy arrays only.

    Parameters
    ----------
    path : str or path
        File. An .npz has `pose` [P, 4, 4] and perhaps `joints` [P, n], `outcome` and `scale` [P].

    Returns
    -------
    PoseFile

    Raises
    ------
    garra.FileError
        For another layout, with the file, the entry and what is expected.
    OSError
        Without a readable file.
    ImportError
        For YAML without PyYAML.

    Examples
    --------
    >>> np.savez("poses.npz", pose=np.eye(4)[None], outcome=[True])
    >>> poses = garra.grasp.read_poses("poses.npz")
    >>> poses.pose.shape, poses.outcome.tolist()
    ((1, 4, 4), [True])
    """
    path = Path(path)
    readers = {".h5": _acronym, ".hdf5": _acronym, ".json": _graspgen, ".yaml": _isaac, ".yml": _isaac}
    readers |= {".npy": _pickled, ".npz": _arrays}
    if path.suffix not in readers:
        raise _core.FileError(f"{path}: {path.suffix or 'no ending'}: known are {', '.join(readers)}")
    with path.open("rb") as file:
        if file.seek(0, 2) > MOST_BYTES:
            raise _core.FileError(f"{path}: larger than {MOST_BYTES >> 20} MB")
    try:
        return readers[path.suffix](path)
    except (_core.FileError, ImportError):
        raise
    except Exception as error:  # readers of damaged files raise of every kind
        said = f"{error} is missing" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise _core.FileError(
            f"{path}: {said}\n  Known layouts: docs/howto/grasp-poses.md. Of another one, store pose [P, 4, 4] by np.savez."
        ) from None


def refuse_suction(hand: str) -> None:
    """Raises ValueError for the name of a suction gripper."""
    if any(word in hand.lower() for word in ("suction", "vacuum")):
        raise ValueError(
            f"hand {hand!r}: suction grippers hold by a pressure difference, which no contact force of garra is: only "
            "hands that press are taken"
        )


def _poses(value: Any) -> np.ndarray:
    poses = np.asarray(value)
    if np.iscomplexobj(poses):
        raise ValueError("poses are complex numbers")
    poses = poses.astype(float)
    if poses.ndim != 3 or poses.shape[1:] != (4, 4):
        raise ValueError(f"poses of the shape {poses.shape}, not [P, 4, 4]")
    return poses


def _outcomes(value: Any, count: int) -> np.ndarray:
    outcome = np.asarray(value)
    known = np.isin(outcome, (0, 1))
    if outcome.shape != (count,) or not (known | np.isnan(outcome.astype(float))).all():
        raise ValueError(f"outcomes: not {count} times 0, 1 or NaN (not known)")
    return outcome.astype(bool if known.all() else float)


def _scale(value: Any, count: int) -> np.ndarray | float:
    scale = np.asarray(value, dtype=float)
    if scale.size == 1:
        scale = scale.reshape(())
    if scale.shape not in ((), (count,)) or not (np.isfinite(scale) & (scale > 0)).all():
        raise ValueError(f"scale: no positive number, nor {count} of them")
    return scale if scale.ndim else float(scale)


def _require(file: Any, *names: str) -> None:
    for name in names:
        if name not in file:
            raise KeyError(name)


def _acronym(path: Path) -> PoseFile:
    import h5py

    with h5py.File(path, "r") as file:
        _require(file, "grasps/transforms", "grasps/qualities/flex/object_in_gripper")
        poses = _poses(file["grasps/transforms"][()])
        held = _outcomes(file["grasps/qualities/flex/object_in_gripper"][()], len(poses))
        mesh = file["object/file"][()]
        com, mass = np.asarray(file["object/com"][()], dtype=float), float(file["object/mass"][()])
        if not 0 < mass < np.inf:
            raise ValueError(f"object/mass: {mass} is no positive number")
        mesh = mesh.decode() if isinstance(mesh, bytes) else str(mesh)
        return PoseFile(poses, held, mesh=mesh, scale=_scale(file["object/scale"][()], len(poses)), mass=mass, com=com)


def _graspgen(path: Path) -> PoseFile:
    said = json.loads(path.read_text(encoding="utf-8"))
    if (gripper := said.get("gripper")) is not None:
        refuse_suction(str(gripper.get("name", "") if isinstance(gripper, dict) else gripper))
    poses = _poses(said["grasps"]["transforms"])
    held = said["grasps"].get("object_in_gripper")
    outcome = None if held is None else _outcomes(held, len(poses))
    about = said.get("object", {})
    return PoseFile(poses, outcome, mesh=about.get("file"), scale=_scale(about.get("scale", 1.0), len(poses)))


def _isaac(path: Path) -> PoseFile:
    import yaml

    try:
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
    refuse_suction(str(said.get("gripper", "")))
    grasps = list(said["grasps"].values())
    poses = [_pose(g["position"], [g["orientation"]["w"], *g["orientation"]["xyz"]]) for g in grasps]
    names = sorted({name for g in grasps for name in g.get("cspace_position", {})})
    joints = {name: np.array([float(g["cspace_position"][name]) for g in grasps]) for name in names}
    return PoseFile(_poses(np.array(poses).reshape(-1, 4, 4)), joints=joints, mesh=said.get("object"))


def _arrays(path: Path) -> PoseFile:
    with np.load(path, allow_pickle=False) as file:
        _require(file, "pose")
        poses = _poses(file["pose"])
        outcome = _outcomes(file["outcome"], len(poses)) if "outcome" in file else None
        joints = np.array(file["joints"], dtype=float) if "joints" in file else {}
        if np.ndim(joints) > 1 and len(joints) != len(poses):
            raise ValueError(f"joints: {len(joints)} rows for {len(poses)} poses")
        return PoseFile(poses, outcome, joints=joints, scale=_scale(file["scale"], len(poses)) if "scale" in file else 1.0)


def _pose(position: Any, quaternion: Any) -> np.ndarray:
    """Pose of a position and a quaternion (w, x, y, z) of any length; NaN where it is 0."""
    w, x, y, z = np.asarray(quaternion, dtype=float)
    out = np.eye(4)
    square = w * w + x * x + y * y + z * z
    n = 2 / square if square > 0 else np.nan
    out[:3, :3] -= n * np.array([[y * y + z * z, w * z - x * y, -w * y - x * z],
                                 [-w * z - x * y, x * x + z * z, w * x - y * z],
                                 [w * y - x * z, -w * x - y * z, x * x + y * y]])  # fmt: skip
    out[:3, 3] = position
    return out


def _pickled(path: Path) -> PoseFile:
    said = read_pickled(path)
    if isinstance(said, np.ndarray) and said.dtype == object:
        said = said.item() if said.ndim == 0 else said.ravel().tolist()
    if isinstance(said, dict) and "grasp_qpos" in said:  # of DexGraspBench: one grasp
        stages = [said.get(f"{name}_qpos", said["grasp_qpos"]) for name in ("pregrasp", "grasp", "squeeze")]
        said = said | {"robot_pose": [[stages]], "obj_pose": np.reshape(said["obj_pose"], (1, 7))}
    if isinstance(said, dict) and "robot_pose" in said:
        return _bodex(said)
    if not isinstance(said, list) or not all(isinstance(row, dict) for row in said):
        raise ValueError("neither a list of dictionaries with 'qpos' nor a dictionary with 'robot_pose' or 'grasp_qpos'")
    return _dexgraspnet(said)


def _dexgraspnet(said: Any) -> PoseFile:
    """A list of {"qpos": {WRJTx, ..., WRJRx, ..., joints}, "scale"}; angles of fixed axes x, y, z [rad]."""
    rows = [row["qpos"] for row in said]
    poses = []
    for q in rows:
        (cx, cy, cz), (sx, sy, sz) = (f([float(q[f"WRJR{a}"]) for a in "xyz"]) for f in (np.cos, np.sin))
        pose = np.eye(4)
        pose[:3, :3] = (
            np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
            @ np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
            @ np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
        )
        pose[:3, 3] = [float(q[f"WRJT{a}"]) for a in "xyz"]
        poses.append(pose)
    names = [name for name in rows[0] if not name.startswith("WRJ")] if rows else []
    for k, q in enumerate(rows):
        if extra := [name for name in q if not name.startswith("WRJ") and name not in names]:
            raise ValueError(f"grasp {k} has the joint {extra[0]!r}, which the first one has not")
    joints = {name: np.array([float(q[name]) for q in rows]) for name in names}
    scale = _scale([float(row.get("scale", 1.0)) for row in said], len(said))
    return PoseFile(_poses(np.array(poses).reshape(-1, 4, 4)), joints=joints, scale=scale)


def _bodex(said: dict) -> PoseFile:
    """robot_pose [E, S, 3, 7 + n] in the world: pregrasp, grasp, squeeze; position, quaternion, joints. obj_pose [E, 7] and
    obj_scale [E] are those of the object."""
    stages = np.asarray(said["robot_pose"], dtype=float)
    if stages.ndim < 3 or stages.shape[-1] < 7:
        raise ValueError(f"robot_pose has the shape {list(stages.shape)}, not [..., 3, 7 + joints]")
    if stages.shape[-2] != 3:
        raise ValueError(
            f"robot_pose has {stages.shape[-2]} stages, not pregrasp, grasp and squeeze: those of an arm hold joint values "
            "of the arm in place of poses of the hand"
        )
    stages = stages.reshape(-1, *stages.shape[-3:])
    stage = stages[..., 1, :].reshape(-1, stages.shape[-1])
    poses = np.array([_pose(row[:3], row[3:7]) for row in stage]).reshape(-1, 4, 4)
    each = stages.shape[1]  # grasps of an object
    if "obj_pose" in said:
        objects = np.asarray(said["obj_pose"], dtype=float).reshape(-1, 7)
        if len(objects) != len(stages):
            raise ValueError(f"obj_pose: {len(objects)} objects, robot_pose: {len(stages)}")
        poses = np.linalg.inv([_pose(row[:3], row[3:]) for row in objects]).repeat(each, axis=0) @ poses
    scale: Any = np.ravel(said.get("obj_scale", 1.0))
    scale = _scale(scale[0] if (scale == scale[0]).all() else scale.repeat(each), len(poses))
    names = [str(name) for name in np.asarray(said.get("joint_names", range(stage.shape[1] - 7))).ravel()]
    if len(names) != stage.shape[1] - 7:
        raise ValueError(f"joint_names: {len(names)} names of {stage.shape[1] - 7} joints")
    last = stages[..., 2, :].reshape(-1, stages.shape[-1])
    joints, squeeze = ({name: rows[:, 7 + k] for k, name in enumerate(names)} for rows in (stage, last))
    return PoseFile(_poses(poses), joints=joints, squeeze=squeeze, scale=scale)


class _Unpickler(pickle.Unpickler):
    """Interprets NumPy arrays and numbers; refuses every other global."""

    def find_class(self, module: str, name: str) -> Any:
        module = module.replace("numpy.core", "numpy._core")
        if (module, name) == ("numpy._core.multiarray", "_reconstruct"):
            return _reconstruct
        if (module, name) == ("numpy._core.multiarray", "scalar"):
            return _scalar
        if (module, name) == ("numpy._core.numeric", "_frombuffer"):
            return _frombuffer
        if (module, name) in (("numpy", "ndarray"), ("numpy", "dtype")):
            return np.ndarray if name == "ndarray" else _dtype
        raise pickle.UnpicklingError(f"it would call {module}.{name}, which is no number, text, list or array")

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("it refers to data outside the file")


class _Dtype:
    """Element type of an array while it is read; its state is ignored but for the byte order."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or name[:1] not in "fiubUSO" or not (name[1:].isdigit()):
            raise pickle.UnpicklingError(f"an array of {name!r}, which are no numbers or texts")
        self.dtype = np.dtype(object) if name[0] == "O" else np.dtype(name)

    def __setstate__(self, state: tuple) -> None:
        if state[1] in ("<", ">") and self.dtype != object:
            self.dtype = self.dtype.newbyteorder(state[1])


class _Array:
    """An array while it is read."""

    def __init__(self) -> None:
        self.value: np.ndarray | None = None

    def __setstate__(self, state: tuple) -> None:
        _, shape, dtype, fortran, data = state
        shape = tuple(int(n) for n in shape)
        size = int(np.prod([float(n) for n in shape])) if shape else 1
        if min(shape, default=0) < 0 or size * dtype.dtype.itemsize > MOST_BYTES:
            raise pickle.UnpicklingError(f"an array of the shape {shape}")
        if dtype.dtype == object:
            if not isinstance(data, list) or len(data) != size:
                raise pickle.UnpicklingError("an array of objects whose number is not its shape's")
            flat = np.empty(size, dtype=object)
            flat[:] = data
        else:
            flat = np.frombuffer(data.encode("latin-1") if isinstance(data, str) else data, dtype=dtype.dtype)
        self.value = flat.reshape(shape, order="F" if fortran else "C")


def _dtype(name: str, *_: Any) -> _Dtype:
    return _Dtype(name)


def _reconstruct(*_: Any) -> _Array:
    return _Array()


def _frombuffer(data: Any, dtype: _Dtype, shape: Any, order: str, *_: Any) -> _Array:
    out = _Array()
    out.__setstate__((1, shape, dtype, order == "F", bytes(data)))
    return out


def _scalar(dtype: _Dtype, data: Any) -> Any:
    return np.frombuffer(data.encode("latin-1") if isinstance(data, str) else data, dtype=dtype.dtype)[0].item()


class _Finisher:
    """Puts arrays in place of what they were read into. What a file has twice is finished once, and counted twice."""

    def __init__(self) -> None:
        self.done: dict[int, tuple[Any, int]] = {}

    def __call__(self, value: Any) -> tuple[Any, int]:
        """The value, and the number of its entries."""
        if not isinstance(value, _Array | dict | list | tuple):
            return value, 1
        if id(value) not in self.done:
            self.done[id(value)] = self._finish(value)
        return self.done[id(value)]

    def _finish(self, value: Any) -> tuple[Any, int]:
        array = value.value if isinstance(value, _Array) else None
        if array is not None and array.dtype != object:
            return array, array.size
        inner = array.ravel().tolist() if array is not None else list(value.values() if isinstance(value, dict) else value)
        parts = [self(entry) for entry in inner]
        count = 1 + sum(n for _, n in parts)
        if count > MOST_ENTRIES:
            raise pickle.UnpicklingError(f"more than {MOST_ENTRIES} entries")
        entries = [entry for entry, _ in parts]
        if isinstance(value, dict):
            return dict(zip(value, entries, strict=True)), count
        if array is None:
            return type(value)(entries), count
        flat = np.empty(len(entries), dtype=object)
        for k, entry in enumerate(entries):
            flat[k] = entry
        return flat.reshape(array.shape), count


def read_pickled(path: Path) -> Any:
    """Contents of an .npy file, pickled or not, without running code of the file. Raises FileError."""
    bytes_ = path.read_bytes()
    stream = io.BytesIO(bytes_)
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
        if not dtype.hasobject:
            return np.load(io.BytesIO(bytes_), allow_pickle=False)
        value, _ = _Finisher()(_Unpickler(stream, encoding="latin1").load())
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
        raise _core.FileError(f"{path}: {error}") from None
    if not isinstance(value, np.ndarray):
        raise _core.FileError(f"{path}: no array, as NumPy writes it")
    return value
