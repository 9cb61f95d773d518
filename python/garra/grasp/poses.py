"""Contacts of a parallel jaw at given hand poses (docs/howto/grasp-poses.md)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from garra import _core
from garra.arguments import numbers, path_text, positive, whole
from garra.grasp.drawing import Solid, box_solid, place_solid
from garra.grasp.hand_poses import HandOptions, JointedHand, touch_hand
from garra.grasp.pose_files import refuse_suction
from garra.grasp.trials import p_of_poses

STATUS = tuple(_core.touch_statuses)
"""Names of the numbers in Touch.status"""


@dataclass(frozen=True)
class ParallelJaw:
    """Gripper with two flat, rectangular pads that close symmetrically along x; z points out of the palm.

    Parameters
    ----------
    opening : float
        Distance of the open pads [m].
    pad_width, pad_height : float
        Of a pad along y and z [m].
    tip, palm : float
        Height z of the fingertips and of the palm above the hand's base [m].
    thickness : float
        Of a finger along x, behind its pad [m].
    palm_length, palm_width : float
        Of the palm along x and y [m].
    force : float
        Grip force of each pad [N].

    Examples
    --------
    >>> garra.grasp.ParallelJaw.built_in("panda").opening
    0.08
    >>> garra.grasp.ParallelJaw(opening=0.05, pad_width=0.01, pad_height=0.02, tip=0.1, force=20).force
    20
    """

    opening: float
    pad_width: float
    pad_height: float
    tip: float
    force: float
    palm: float = 0.0
    thickness: float = 0.014
    palm_length: float = 0.1
    palm_width: float = 0.05

    def solids(self, width: float) -> list[Solid]:
        """Returns fingers and palm at a distance of the pads [m], in hand axes.

        Parameters
        ----------
        width : float
            Distance of the pads; NaN: open.

        Returns
        -------
        list of Solid

        Examples
        --------
        >>> [solid.name for solid in garra.grasp.ParallelJaw.built_in("panda").solids(0.03)]
        ['palm', 'finger at +x', 'finger at -x']
        """
        half, y = (self.opening if np.isnan(width) else width) / 2, self.pad_width / 2
        palm = self.palm_length / 2, self.palm_width / 2
        out = [box_solid("hand", "palm", (-palm[0], -palm[1], 0), (*palm, self.palm))] if self.palm > 0 else []
        for name, low, high in (("+x", half, half + self.thickness), ("-x", -half - self.thickness, -half)):
            out.append(box_solid("hand", f"finger at {name}", (low, -y, self.palm), (high, y, self.tip)))
        return out

    @classmethod
    def built_in(cls, name: str) -> ParallelJaw:
        """Returns a built-in jaw: "panda", "robotiq_2f85", "robotiq_2f140", "wsg50".

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        ParallelJaw

        Raises
        ------
        ValueError
            For another name.

        Examples
        --------
        >>> garra.grasp.ParallelJaw.built_in("wsg50").opening
        0.11
        """
        if name not in _core.jaws:
            raise ValueError(f"hand {name!r}: known jaws are {', '.join(_core.jaws)}; others are a ParallelJaw(...)")
        return cls(**_core.jaws[name])


@dataclass(frozen=True)
class Touch:
    """What closing the hand gave, per grasp of a set: grasp g is draw g % draws of pose g // draws."""

    pose: np.ndarray
    """[G] number of the pose"""
    status: np.ndarray
    """[G] number in STATUS; 0 is "touched" """
    collision: np.ndarray
    """[G] depth of a finger or the palm in the object before closing [m]"""
    turn: np.ndarray
    """[G] rotation of the object while the jaw closed [rad]; 0 of hands with joints"""
    shift: np.ndarray
    """[G] shift of the object along the closing direction [m]"""
    width: np.ndarray
    """[G] distance of the closed pads [m], NaN without contact"""
    hand: np.ndarray
    """[G, 4, 4] hand in the axes of the turned object"""
    distance: np.ndarray | None = None
    """[G] of a hand with joints: signed distance of its nearest cell at the stored pose, below 0 in the object [m]"""
    joints: np.ndarray | None = None
    """[G, n] its joint values after closing"""
    load_case: np.ndarray | None = None
    """[G] load case of a set that has them"""
    scale: np.ndarray | None = None
    """[G] factor on the object's lengths, where each pose has one of its own"""

    def p_held(self, ranking: Any, *, arrived: bool = False) -> np.ndarray:
        """Returns P(held) of each pose, over its draws: (h + 1/2) / (n + 1) with h of n samples held.

        Parameters
        ----------
        ranking : Ranking
            Of the set.
        arrived : bool
            False: a draw without contacts counts as samples that failed. True: draws that end in a collision are left
            out, as where the hand is known to have arrived.

        Returns
        -------
        array [P]

        Examples
        --------
        >>> pose = np.eye(4)
        >>> pose[:3, :3] = [[1, 0, 0], [0, -1, 0], [0, 0, -1]]
        >>> pose[2, 3] = 0.11
        >>> poses, box = [pose, np.eye(4)], "box:0.04,0.04,0.06"
        >>> grasps = garra.grasp.GraspSet.from_poses("panda", poses, box, mass=0.1, draws=4, position_noise=0.001)
        >>> ranking = garra.grasp.rank(grasps, samples=25, friction_samples=0)
        >>> grasps.touch.p_held(ranking).round(2).tolist()
        [1.0, 0.0]
        """
        counted = ~((self.status == STATUS.index("collision")) & arrived)
        counted &= True if self.load_case is None else self.load_case == 0
        return p_of_poses(self.pose, ranking.p_held, ranking.samples, counted)

    def counts(self) -> dict[str, int]:
        """Returns the number of grasps of each status that occurs."""
        return {name: n for k, name in enumerate(STATUS) if (n := int((self.status == k).sum()))}


def hand_solids(hand: ParallelJaw | JointedHand, columns: dict[str, np.ndarray], grasp: int) -> list[Solid]:
    """The hand at a grasp, in object axes; `columns`: of a Touch, by name."""
    own = hand.solids(float(columns["width"][grasp]) if isinstance(hand, ParallelJaw) else columns["joints"][grasp])
    return [place_solid(solid, columns["hand"][grasp]) for solid in own]


def read_jaw(file: Any) -> ParallelJaw | None:
    """The jaw that an HDF5 file of a set names, if it is one."""
    return parse_jaw(str(getattr(file, "attrs", {}).get("jaw", "")))


def parse_jaw(numbers: str) -> ParallelJaw | None:
    """The jaw of its numbers in the order of the fields; None of others."""
    said = numbers.split()
    names = _core.jaws["panda"]
    return ParallelJaw(**dict(zip(names, map(float, said), strict=True))) if len(said) == len(names) else None


def is_jaw(hand: Any) -> bool:
    """Whether a hand is a parallel jaw, and no model or file of a hand with joints. Refuses suction grippers."""
    if not isinstance(hand, str | PathLike):
        return isinstance(hand, ParallelJaw)
    refuse_suction(str(hand))
    return Path(hand).suffix.lower() not in (".xml", ".mjcf", ".urdf", ".mjb")


def close_jaw(
    jaw: ParallelJaw, poses: Any, mesh: Any, up: Any, options: dict[str, Any], scale: Any, threads: int
) -> dict[str, Any]:
    """Result of the compiled module for poses [P, 4, 4] of a jaw in object axes."""
    poses = numbers("poses", poses)
    if poses.ndim != 3 or poses.shape[1:] != (4, 4):
        raise ValueError(f"poses has the shape {poses.shape}, not [P, 4, 4]")
    up = np.zeros(0) if up is None else numbers("up", up)
    if up.shape not in ((0,), (3,), (len(poses), 3)):
        raise ValueError(f"up has the shape {up.shape}, not [3] or [P, 3]")
    factor, each = split_scale(scale, len(poses))
    poses, up = np.ascontiguousarray(poses), np.ascontiguousarray(up.ravel())
    return _core.grasp_touch(
        *parse_object(mesh), factor, poses, asdict(jaw), options, up, each, whole("threads", threads, 0)
    )


def split_scale(scale: Any, count: int) -> tuple[float, np.ndarray]:
    """Factor on the mesh, 0 if none is given, and [count] of each pose, empty if they have none of their own."""
    if scale is None or np.ndim(scale) == 0:
        return 0.0 if scale is None else positive("scale", scale), np.zeros(0)
    each = numbers("scale", scale)
    if each.shape != (count,) or not (each > 0).all():
        raise ValueError(f"scale: expected a number or [{count}] above 0, got the shape {each.shape}")
    return 1.0, np.ascontiguousarray(each)


def parse_object(given: Any) -> tuple[str, np.ndarray | None, np.ndarray | None]:
    """Name of the object, or its arrays."""
    if isinstance(given, str | PathLike):
        return path_text(given), None, None
    if hasattr(given, "vertices") and hasattr(given, "faces"):
        given = given.vertices, given.faces
    try:
        vertices, faces = given
    except (TypeError, ValueError):
        raise TypeError(
            f"object: a file, a shape, (vertices, faces) or a mesh with these attributes, not {type(given).__name__}"
        ) from None
    vertices, faces = numbers("vertices", vertices), np.asarray(faces)
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise ValueError(f"vertices has the shape {vertices.shape}, not [v, 3]")
    if faces.ndim != 2 or faces.shape[1] != 3 or not np.issubdtype(faces.dtype, np.integer):
        raise ValueError(f"faces is {faces.dtype} of the shape {faces.shape}, not whole numbers [f, 3]")
    if faces.size and (faces.min() < 0 or faces.max() >= len(vertices)):
        raise ValueError(f"faces name vertices {faces.min()} to {faces.max()} of {len(vertices)}")
    return "mesh", np.ascontiguousarray(vertices), np.ascontiguousarray(faces, dtype=np.int32)


def close_hand(
    hand: Any, poses: Any, mesh: Any, options: HandOptions, of: dict[str, Any]
) -> tuple[np.ndarray, dict[str, np.ndarray], Any, list[str], Touch, str, JointedHand]:
    """first, arrays, mesh, contact names, touch, a warning and the model of a hand with joints. `of`: base, joints, torque, squeeze,
    stiffness, scale, mass, density."""
    poses = numbers("poses", poses)
    if poses.ndim != 3 or poses.shape[1:] != (4, 4):
        raise ValueError(f"poses has the shape {poses.shape}, not [P, 4, 4]")
    factor, each = split_scale(of["scale"], len(poses))
    surface = _core.MeshObject(*parse_object(mesh), factor)
    model = JointedHand(hand, options.cell, of["base"], options.seed)
    q = model.follow(model.joint_values(of["joints"], len(poses)))
    found = touch_hand(model, surface, poses, q, options, _command(model, q, of), each)
    count = len(found.status)
    size = np.repeat(each, options.draws) if len(each) else np.ones(count)
    body = _body(surface, size, of)
    arrays = {name: np.array(rows, dtype=float) for name, rows in found.rows.items()}
    for name in ("point", "normal"):
        arrays.setdefault(name, np.zeros((0, 3)))
    arrays.setdefault("friction", np.zeros(0))
    if not found.first[-1]:
        arrays.pop("torque", None), arrays.pop("mass_matrix", None)
    for name in ("jacobian", "angular_jacobian"):
        if name in arrays:
            arrays[name] = arrays[name].reshape(-1, arrays[name].shape[-1])
    arrays |= body
    number = np.repeat(np.arange(len(poses)), options.draws)
    arrays["pose_number"] = number.astype(float)
    nothing = np.zeros(count)
    touch = Touch(
        number, found.status, found.collision, nothing, nothing, np.full(count, np.nan), found.pose, found.distance, found.joints,
        scale=size if len(each) else None,
    )  # fmt: skip
    return np.array(found.first, np.int64), arrays, surface.picture(), found.names, touch, surface.warning, model


def _body(surface: Any, size: np.ndarray, of: dict[str, Any]) -> dict[str, np.ndarray]:
    """mass [G], com [G, 3] and inertia [G, 3, 3] of objects of these sizes."""
    body = surface.body(of["mass"] or 0.0, of["density"])
    own = body["mass"] * size**3
    mass = np.full(len(size), of["mass"]) if of["mass"] else own
    inertia = (mass / body["mass"] * size**2)[:, None, None] * body["inertia"]
    return {"mass": mass, "com": size[:, None] * body["com"], "inertia": inertia}


def _command(model: JointedHand, q: np.ndarray, of: dict[str, Any]) -> Any:
    """Torques of pose p at joint values x, from `torque`, or from `squeeze` and `stiffness`; None: none are known."""
    if of["torque"] is not None:
        if of["squeeze"] is not None:
            raise ValueError("give one of torque and squeeze")
        torque = model.joint_values(of["torque"], len(q), "torque")
        return lambda p, x: torque[p]
    if of["squeeze"] is None:
        if of["stiffness"] is not None:
            raise ValueError("stiffness needs squeeze, the targets of the position controllers")
        return None
    if of["stiffness"] is None:
        raise ValueError("squeeze needs stiffness, the gain of the position controllers [N m/rad]")
    target = model.joint_values(of["squeeze"], len(q), "squeeze")
    gain = np.broadcast_to(numbers("stiffness", of["stiffness"]), (len(model.joint_names),))
    if not (gain >= 0).all():
        raise ValueError("stiffness: gains of at least 0")
    return lambda p, x: gain * (target[p] - x)
