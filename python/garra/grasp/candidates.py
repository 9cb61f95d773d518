"""Sets of candidate grasps and their ranking (docs/theory/grasp-sets.md)."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from garra import _core
from garra.arguments import check_seed, numbers, place, positive, real, whole, whole_numbers
from garra.grasp import in_time, loads, ranking_file, ranking_folder, trials
from garra.grasp.in_time import Motion
from garra.grasp.outcomes import Comparison
from garra.grasp.drawing import Solid, draw_grasp
from garra.grasp.hand_poses import HandOptions, JointedHand
from garra.grasp.poses import ParallelJaw, Touch, close_hand, close_jaw, hand_solids, is_jaw, read_jaw
from garra.grasp.ranking_file import NPZ_ERRORS, is_npz, read_mesh, read_names, sound_mesh
from garra.grasp.robustness import OUTCOMES
from garra.grasp.set_options import OF_CONTACTS, OF_GRASPS, OF_HANDS, GraspArrays, RankOptions, is_drawn, study_of
from garra.grasp.what_helps import WhatHelps, grasp_arrays, rows_of_cases, stronger, what_helps
from garra.options import accept_options
from garra.page.outcomes import read_outcome
from garra.page.run_folder import RunError
from garra.renamed import accept_old
from garra.study.progress import Progress, count_listener
from garra.study.run import RESULTS, Result, axes, error_of, import_pandas
from garra.turns import rotation_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas
    from matplotlib.axes import Axes
    from mpl_toolkits.mplot3d import Axes3D

STATUS = tuple(_core.grasp_statuses)
"""Names of the numbers in Ranking.status; 0 is "ranked"."""

STATES = {0: "stick", 1: "slip", 2: "open"}
MAX_TURN, MAX_PUSH = 1.2, 0.005  # defaults of from_poses() [rad, m]
NULL = 1e-10  # of the largest eigenvalue of a hand's mobility: a direction in which it does not move
# Columns of to_pandas(); of quantiles the median.
_SHOWN = ("rank", "p_held", "low", "high", "difference", "difference_low", "difference_high", "required_friction")
_SHOWN += ("p_no_slip", "p_resisted", "margin", "resisted_force_radius", "limiting_contact", "non_unique", "unsolved")
MOST_CONTACTS = 8  # lines of a replay that is printed


class GraspSet:
    """Set of G candidate grasps with k contacts each, or with any numbers of contacts. SI units, object axes.

    A grasp consists of contact points, normals into the object and friction coefficients. Its load is mass, center of
    mass, gravity (default: (0, 0, -9.81) m/s^2) and wrench. The arrays define the hand.

    Without hand arrays the hand is ideal: any forces within friction and force_limit; with torsion_radius soft fingers.
    With mobility and force it is compliant, with jacobian, mass_matrix and torque (or force) a whole hand. Its command
    then has to hold the object, and torque_limit limits its motors.

    Parameters
    ----------
    first : array [G+1]
        First row of each grasp, and the number of rows m.
    arrays : dict
        By name: point, normal [m, 3], friction [m], ..., mass [G], ...
    mesh : tuple of arrays [v, 3] and [f, 3], optional
        Surface of the object [m].
    names, contact_names : list of str [G], [m], optional
        Names for output and reports.
    group_names : list of str, optional
        Names of the numbers in arrays["group"], the objects of trials.

    Examples
    --------
    >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
    >>> len(grasps), grasps.first.tolist(), grasps.arrays["point"].shape
    (4, [0, 3, 6, 9, 12], (12, 3))
    """

    def __init__(
        self,
        first: np.ndarray,
        arrays: dict[str, np.ndarray],
        mesh: tuple[np.ndarray, np.ndarray] | None = None,
        names: list[str] | None = None,
        contact_names: list[str] | None = None,
        group_names: list[str] | None = None,
    ) -> None:
        self.first = first
        """[G+1] first row of each grasp, and the number of rows m"""
        self.arrays = arrays
        """By name, as in a file: point, normal [m, 3], friction [m], ..., mass [G], ..."""
        self.mesh = mesh
        """Vertices [v, 3] and triangles [f, 3] of the object, for pictures and for grasps from inside"""
        self.names = names
        """[G] names of the grasps, for output and reports"""
        self.contact_names = contact_names
        """[m] names of the contacts, for output and reports"""
        self.group_names = group_names
        """Names of the numbers in arrays["group"]"""
        self.about: dict[str, Any] = {}
        """Sets of propose(): samples drawn, counts of rejection reasons, mesh, warning"""
        self.sample: np.ndarray | None = None
        """Sets of propose(): [G] number of the sample of each grasp"""
        self.touch: Touch | None = None
        """Sets of from_poses(): status, pose number and displacements of each grasp"""
        self.hand: ParallelJaw | JointedHand | None = None
        """Sets of from_poses(): the hand, for pictures; it is not written to files"""

    def _arrays(self) -> dict[str, np.ndarray]:
        """Arrays that a ranking reads, with the mesh."""
        if self.mesh is None:
            return self.arrays
        vertices, faces = (np.ascontiguousarray(part) for part in self.mesh)
        return {**self.arrays, "object/vertex": vertices.astype(np.float64), "object/face": faces.astype(np.int64)}

    @classmethod
    @accept_options(arrays=GraspArrays)
    def from_arrays(
        cls, points: Any, normals: Any, friction: Any = None, *, first: Any = None, arrays: GraspArrays | None = None
    ) -> GraspSet:
        """Makes a set from arrays in SI units and object axes.

        Parameters
        ----------
        points, normals : array_like [G, k, 3] or [m, 3]
            Contact points [m] and normals into the object; [m, 3] needs `first`.
        friction : float or array_like [G, k] or [m], optional
            Friction coefficients.
        first : array_like [G+1], optional
            First row of each grasp, and the number of rows.
        arrays : GraspArrays, optional
            Load and hand. Its fields are keywords too.

        Returns
        -------
        GraspSet

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> points, normals = [[[-0.03, 0, 0], [0.03, 0, 0]]], [[[1, 0, 0], [-1, 0, 0]]]
        >>> grasps = garra.grasp.GraspSet.from_arrays(points, normals, friction=0.5, mass=0.2)
        >>> len(grasps), grasps.arrays["friction"], grasps.arrays["mass"]
        (1, array([0.5, 0.5]), array([0.2]))
        """
        points = numbers("points", points)
        if points.ndim != (3 if first is None else 2) or points.shape[-1] != 3:
            expected = "[G, k, 3] (or [m, 3] with first)" if first is None else "[m, 3]"
            raise ValueError(f"points has the shape {points.shape}, not {expected}")
        lead = points.shape[:-1]
        if first is None:
            first = np.arange(lead[0] + 1, dtype=np.int64) * lead[1]
        first = whole_numbers("first", first)
        if first.ndim != 1 or not len(first):
            raise ValueError(f"first has the shape {first.shape}, not [G+1]")
        given = {"point": points, "normal": normals, "friction": friction} | arrays._given()
        texts = ("mesh", "names", "contact_names", "group_names")
        mesh, names, contact_names, group_names = (given.pop(name, None) for name in texts)
        if np.asarray(given.get("group", 0)).dtype.kind in "US":
            group_names, given["group"] = _numbered(given["group"])
        of_set = {}
        for name, value in given.items():
            if value is None:
                continue
            if name in OF_HANDS:
                of_set[name] = _of_hand(name, value, lead, len(first) - 1, np.shape(given.get("jacobian", 0))[-1:])
                continue
            tail = OF_CONTACTS.get(name)
            if name in ("com", "gravity", "wrench") and np.ndim(value) == 0:
                raise ValueError(f"{name} is one number: give {OF_GRASPS[name][0]}, or as many for each grasp")
            shape = (len(first) - 1, *OF_GRASPS[name]) if tail is None else (*lead, *tail)
            try:
                array = np.broadcast_to(numbers(name, value), shape)
            except ValueError:
                raise ValueError(f"{name} has the shape {np.shape(value)}, not {list(shape)}") from None
            rows = shape if tail is None else (int(np.prod(lead)), *tail)
            of_set[name] = np.ascontiguousarray(array.reshape(rows))
        if mesh is not None and (mesh := sound_mesh(numbers("mesh", mesh[0]), mesh[1])) is None:
            raise ValueError("mesh: expected finite vertices [v, 3] and triangles [f, 3], whole numbers below v")
        if names is not None and len(names := [str(name) for name in names]) != len(first) - 1:
            raise ValueError(f"names: {len(names)} of them, not {len(first) - 1}")
        if contact_names is not None:
            contact_names = [str(name) for name in np.asarray(contact_names, dtype=str).ravel()]
            if len(contact_names) != int(np.prod(lead)):
                raise ValueError(f"contact_names: {len(contact_names)} of them, not {int(np.prod(lead))}")
        return cls(first, of_set, mesh, names, contact_names, group_names)

    @classmethod
    @accept_options(arrays=GraspArrays)
    def from_grasps(cls, grasps: Sequence[Any], *, arrays: GraspArrays | None = None) -> GraspSet:
        """Makes a set of whole hands from grasps of `garra.grasp.from_mujoco` or `from_urdf`, in their world axes.

        The joints of the set span the range of A_h = J M^-1 J^T with unit inertia. Torques include the hand's own
        weight. Supports of the hand at this instant (`Grasp.props`) count as fixed to it.

        Parameters
        ----------
        grasps : sequence of Grasp
            Any numbers of contacts.
        arrays : GraspArrays, optional
            Further arrays, and those that replace the grasps' own. Its fields are keywords too.

        Returns
        -------
        GraspSet

        Raises
        ------
        ValueError
            For further arrays of inconsistent shapes.

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> garra.grasp.GraspSet.from_grasps([grasp, grasp], mass=[0.5, 1.0]).arrays["jacobian"].shape
        (6, 1)
        """
        grasps = [grasp.propped() for grasp in grasps]
        soft = any(grasp.torsion is not None for grasp in grasps)
        sides = [grasp.torsion or grasp for grasp in grasps]
        factors = [_mobility_factor(side.hand_A) for side in sides]
        joints = max((J.shape[1] for J, _ in factors), default=0) or 1  # a hand that stands has one that moves nothing
        rows, turns, radii, torques = [], [], [], []
        for grasp, side, (J, inverse) in zip(grasps, sides, factors, strict=True):
            k = len(grasp.mu)
            padding = (0, 0), (0, 0), (0, joints - J.shape[1])
            turned = np.einsum("jxc,jcq->jxq", grasp.frames, J[: 3 * k].reshape(k, 3, -1))
            rows.append(np.pad(turned, padding).reshape(-1, joints))
            radius = np.zeros(k) if grasp.torsion is None else grasp.torsion.radius
            about = np.zeros((k, J.shape[1])) if side is grasp else J[3 * k :] / np.where(radius > 0, radius, np.inf)[:, None]
            turns.append(np.pad(grasp.frames[:, :, :1] * about[:, None], padding).reshape(-1, joints))
            radii.append(radius)
            torques.append(np.pad(-inverse @ side.hand_b, padding[2]))
        of_grasps = GraspArrays(
            friction=np.concatenate([grasp.mu for grasp in grasps]),
            tangent=np.concatenate([grasp.frames[:, :, 1] for grasp in grasps]),
            mass=np.array([grasp.mass for grasp in grasps]),
            com=np.array([grasp.com for grasp in grasps]),
            inertia=np.array([grasp.inertia for grasp in grasps]),
            gravity=np.array([grasp.gravity for grasp in grasps]),
            wrench=np.array([grasp.applied + np.concatenate([np.zeros(3), grasp.gyroscopic]) for grasp in grasps]),
            drift=np.concatenate([np.einsum("jxi,ji->jx", grasp.frames, grasp.drift.reshape(-1, 3)) for grasp in grasps]),
            jacobian=np.concatenate(rows),
            angular_jacobian=np.concatenate(turns) if soft else None,
            torsion_radius=np.concatenate(radii) if soft else None,
            mass_matrix=np.eye(joints),
            torque=np.array(torques),
            names=[grasp.name for grasp in grasps],
            contact_names=[name for grasp in grasps for name in grasp.contact_names],
        )
        return cls.from_arrays(
            np.concatenate([grasp.points for grasp in grasps]),
            np.concatenate([grasp.frames[:, :, 0] for grasp in grasps]),
            first=np.cumsum([0, *(len(grasp.mu) for grasp in grasps)]),
            arrays=replace(of_grasps, **arrays._given()),
        )

    @classmethod
    @accept_options(arrays=GraspArrays)
    def from_world(
        cls,
        points: Any,
        normals: Any,
        pose: Any,
        *,
        scale: float = 1.0,
        gravity: Any = (0, 0, -9.81),
        first: Any = None,
        arrays: GraspArrays | None = None,
    ) -> GraspSet:
        """Makes a set from points and normals in world axes and the object's pose, as in data sets.

        Parameters
        ----------
        points, normals : array_like
            As in from_arrays(), in world axes; normals point into the object.
        pose : array_like [4, 4] or [G, 4, 4]
            Pose of the object's axes in the axes of the points.
        scale : float
            Meters per unit of the points and of the pose's translation.
        gravity : array_like [3] or [G, 3]
            World axes [m/s^2].
        first : array_like [G+1], optional
            As in from_arrays().
        arrays : GraspArrays, optional
            As in from_arrays(), in SI units and object axes, but gravity.

        Returns
        -------
        GraspSet

        Raises
        ------
        ValueError
            For inconsistent shapes or a pose that is no rotation and translation.

        Examples
        --------
        >>> points, normals, pose = [[[470, 0, 0], [530, 0, 0]]], [[[1, 0, 0], [-1, 0, 0]]], np.eye(4)
        >>> pose[0, 3] = 500
        >>> grasps = garra.grasp.GraspSet.from_world(points, normals, pose, scale=0.001, friction=0.5, mass=0.2)
        >>> grasps.arrays["point"].round(3)
        array([[-0.03,  0.  ,  0.  ],
               [ 0.03,  0.  ,  0.  ]])
        """
        points, normals, scale = numbers("points", points), numbers("normals", normals), positive("scale", scale)
        count = len(points) if first is None else len(first) - 1
        pose = np.broadcast_to(numbers("pose", pose), (count, 4, 4))
        R_WO, p_WO = pose[:, :3, :3], pose[:, :3, 3]
        wrong = np.flatnonzero(~(rotation_error(R_WO) <= 1e-4))
        if len(wrong):
            raise ValueError(f"pose {wrong[0]} is no rotation and translation; a scale is given by `scale`")
        into = np.arange(count)[:, None] if first is None else np.repeat(np.arange(count), np.diff(first))
        return cls.from_arrays(
            scale * np.einsum("...ji,...j->...i", R_WO[into], points - p_WO[into]),
            np.einsum("...ji,...j->...i", R_WO[into], normals),
            first=first,
            arrays=replace(
                arrays,
                gravity=np.einsum("gji,gj->gi", R_WO, np.broadcast_to(numbers("gravity", gravity), (count, 3))),
            ),
        )

    @classmethod
    def from_poses(
        cls,
        hand: Any,
        poses: Any,
        mesh: Any,
        *,
        joints: Any = None,
        torque: Any = None,
        squeeze: Any = None,
        stiffness: Any = None,
        base: str | int | None = None,
        convention: Any = None,
        force: float | None = None,
        points: int = 4,
        reach: float = 0.005,
        joint_noise: float = 0.0,
        friction: float = 0.5,
        mass: float | None = None,
        density: float = 1000.0,
        com: Any = None,
        gravity: Any = None,
        up: Any = None,
        soft: bool = False,
        depth: float = 2e-3,
        cell: float | None = None,
        close: bool = True,
        closing_friction: float = 0.0,
        max_turn: float = MAX_TURN,
        max_push: float = MAX_PUSH,
        position_noise: float = 0.0,
        rotation_noise: float = 0.0,
        moment_length: float | None = None,
        draws: int = 1,
        scale: Any = None,
        outcome: Any = None,
        group: Any = None,
        seed: int = 1,
        threads: int = 0,
    ) -> GraspSet:
        """Closes a hand on an object at given hand poses: a parallel jaw, or any hand with joints (MuJoCo, URDF).

        The pads of a jaw advance along x until both touch. The object turns until the line between their forces lies in
        the friction cones about the pads' normals. Cells of a pad within `depth` of first touch bear force; four points have its center and
        moments. The jaw is a whole hand of one joint with torque 2 force.

        Links of a hand with joints touch where cells of their collision geometry are within `reach` of the object's
        surface, outside or inside. Joints move until these links just touch (`close`). Up to `points` points of a link
        have the center and moments of its patch. With `torque`, or `squeeze` and `stiffness`, the hand is a whole hand;
        else it is ideal, and the normal forces of a link are limited by `force`.

        Grasps without contact keep their row.

        Parameters
        ----------
        hand : str, ParallelJaw, path or mujoco.MjModel
            "panda", "robotiq_2f85", "robotiq_2f140", "wsg50" or a jaw of your own; a MuJoCo model, or the path of an MJCF
            or URDF file with collision geometry.
        poses : array_like [P, 4, 4]
            Hand in object axes. Jaw: origin at its base, x along the closing direction, z out of the palm. Hand with
            joints: the axes of its base body.
        mesh : str, path, (vertices, faces) or mesh
            Object, as in propose().
        joints : array_like [P, n] or [n], or dict of array_like [P], optional
            Joint values [rad or m], in the model's order or by name; default: those of the model.
        torque : as joints, optional
            Motor torques [N m or N], in place of squeeze.
        squeeze, stiffness : as joints, array_like [n], optional
            Targets of position controllers and their gain: torque = stiffness (squeeze - joint value).
        base : str or int, optional
            Body of the model whose axes the poses are of; default: the hand's root.
        convention : array_like [4, 4], optional
            Axes of the hand as defined here, in the hand's axes of the given poses; default: they are the same.
        force : float, optional
            Largest normal force of a link without torques, default 10; of a jaw, in place of its grip force [N].
        points : int
            Most points of a link: 1, 2 or 4.
        reach : float
            Distance, outside or inside, at which a link counts as touching [m]; deeper is a collision.
        joint_noise : float
            Standard deviation of joint values [rad or m].
        friction : float
            Coefficient of the set.
        mass, density : float, optional
            Of the object [kg] or [kg/m^3].
        com : array_like [3], optional
            Center of mass [m]; default: of the mesh with even density.
        gravity : array_like [3] or [P, 3], optional
            Object axes before closing [m/s^2]; default: 9.81 m/s^2 against `up`, or along -z. It stays where it is while
            a jaw turns the object.
        up : array_like [3] or [P, 3], optional
            Upward normal of the table on which the object stands: it turns about this normal only. None: free.
        soft : bool
            One soft contact per pad in place of four points.
        depth, cell : float
            Compliance depth of pads and links, and size of their cells [m]; cells default to 1.5 mm of a jaw, 3 mm of
            other hands.
        close : bool
            Turn the object until it is jammed, or close the joints. False: contacts at the stored pose.
        closing_friction : float
            Coefficient between pads and object while the jaw closes.
        max_turn, max_push : float
            Largest rotation [rad] and shift [m] of an object that is still grasped.
        position_noise, rotation_noise : float
            Standard deviations of the hand's pose, per axis [m] and per component of its rotation vector [rad]. It turns
            about the middle of its pads, or of its links.
        draws : int
            Grasps per pose, each with a pose error of its own.
        moment_length : float, optional
            Length that scales moments to forces [m]; default: the object's radius of gyration.
        scale : float or array_like [P], optional
            Factor on the lengths of the object, 0.001 for millimeters; or one for each pose, as in PoseFile.scale.
        outcome : array_like [P], optional
            Outcomes of trials, for Ranking.compare(): 1 held, 0 not, NaN not known.
        group : str, int or array_like [P], optional
            Object of each trial, a name or number.
        seed, threads : int
            Of the pose errors; CPU threads, 0: all.

        Returns
        -------
        GraspSet
            P times draws grasps; `touch` says what became of each.

        Raises
        ------
        ValueError, TypeError
            For other shapes, an unknown hand or an unusable mesh.
        garra.UsageError, garra.FileError
            For options out of range, and for bad mesh files.

        Examples
        --------
        >>> pose = np.eye(4)
        >>> pose[:3, :3] = [[1, 0, 0], [0, -1, 0], [0, 0, -1]]  # from above, closing along x
        >>> pose[2, 3] = 0.11
        >>> grasps = garra.grasp.GraspSet.from_poses("panda", [pose], "box:0.04,0.04,0.06", mass=0.1)
        >>> grasps.touch.counts(), grasps.touch.width.round(3).tolist()
        ({'touched': 1}, [0.04])
        """
        poses = numbers("poses", poses)
        if convention is not None:
            change = numbers("convention", convention)
            if change.shape != (4, 4) or poses.shape[-2:] != (4, 4):
                raise ValueError(f"convention and poses have the shapes {change.shape}, {poses.shape}, not [4, 4], [P, 4, 4]")
            poses = poses @ change
        of_hand = {"joints": joints, "torque": torque, "squeeze": squeeze, "stiffness": stiffness, "base": base}
        if is_jaw(hand):
            if given := [name for name, value in of_hand.items() if value is not None]:
                raise ValueError(f"{given[0]}: a parallel jaw has none; hands with joints are a model or its file")
        else:
            of_jaws = {"closing_friction": closing_friction != 0, "max_turn": max_turn != MAX_TURN, "max_push": max_push != MAX_PUSH}
            if given := [name for name, is_given in of_jaws.items() if is_given]:
                raise ValueError(f"{given[0]}: the object does not move while a hand with joints closes; jaws take it")
            out = cls._from_joints(
                hand,
                poses,
                mesh,
                HandOptions(
                    friction=positive("friction", friction),
                    reach=positive("reach", reach),
                    depth=positive("depth", depth),
                    cell=positive("cell", 3e-3 if cell is None else cell),
                    points=_one_two_four(points),
                    soft=bool(soft),
                    close=bool(close),
                    draws=whole("draws", draws, 1),
                    position_noise=real("position_noise", position_noise, 0),
                    rotation_noise=real("rotation_noise", rotation_noise, 0),
                    joint_noise=real("joint_noise", joint_noise, 0),
                    force=10.0 if force is None else positive("force", force),
                    seed=check_seed(seed),
                    threads=whole("threads", threads),
                ),
                {**of_hand, "scale": scale, "mass": None if mass is None else positive("mass", mass),
                 "density": positive("density", density)},
            )  # fmt: skip
            if moment_length is not None:
                out.arrays["moment_length"] = np.full(len(out), positive("moment_length", moment_length))
            return out._with_load(draws, {"com": com, "gravity": gravity, "up": up}, outcome, group)
        options = {
            "friction": positive("friction", friction),
            "mass": 0.0 if mass is None else positive("mass", mass),
            "density": positive("density", density),
            "depth": positive("depth", depth),
            "cell": positive("cell", 1.5e-3 if cell is None else cell),
            "closing_friction": real("closing_friction", closing_friction, 0),
            "max_turn": real("max_turn", max_turn, 0),
            "max_push": real("max_push", max_push, 0),
            "position_noise": real("position_noise", position_noise, 0),
            "rotation_noise": real("rotation_noise", rotation_noise, 0),
            "moment_length": 0.0 if moment_length is None else positive("moment_length", moment_length),
            "soft": bool(soft),
            "close": bool(close),
            "draws": whole("draws", draws, 1),
            "seed": check_seed(seed),
        }
        jaw = ParallelJaw.built_in(hand) if isinstance(hand, str) else hand
        if force is not None:
            jaw = replace(jaw, force=positive("force", force))
        made = close_jaw(jaw, poses, mesh, up, options, scale, threads)
        if "warning" in made:
            warnings.warn(made["warning"], stacklevel=2)
        arrays = made["arrays"]
        arrays |= {name: J.reshape(-1, J.shape[-1]) for name, J in arrays.items() if name in ("jacobian", "angular_jacobian")}
        out = cls(made["first"], arrays, (made["vertex"], made["face"]))
        columns = (made[name] for name in ("status", "collision", "turn", "shift", "width", "pose"))
        size = None if scale is None or np.ndim(scale) == 0 else np.repeat(numbers("scale", scale), draws)
        out.touch = Touch(np.repeat(np.arange(len(poses)), draws), *columns, scale=size)
        out.hand = jaw
        return out._with_load(draws, {"com": com, "gravity": gravity}, outcome, group, made["rotation"])

    @classmethod
    def _from_joints(cls, hand: Any, poses: Any, mesh: Any, options: HandOptions, of: dict[str, Any]) -> GraspSet:
        first, arrays, picture, names, touch, warning, model = close_hand(hand, poses, mesh, options, of)
        if warning:
            warnings.warn(warning, stacklevel=4)
        out = cls(first, arrays, picture, contact_names=names or None)
        out.touch, out.hand = touch, model
        return out

    def _with_load(
        self, draws: int, load: dict[str, Any], outcome: Any, group: Any, rotation: np.ndarray | None = None
    ) -> GraspSet:
        """Adds arrays of the poses for each of their draws. `rotation` [G, 3, 3]: from the object's axes before closing to
        those after it; gravity stays where it is while the object turns."""
        count = len(self) // draws
        rows = np.repeat(np.arange(count), draws)
        for name, value in load.items():
            if value is not None:
                array = _of_poses(name, value, count, 3)
                if name == "up":
                    name, array = "gravity", -9.81 * array / np.linalg.norm(array, axis=1, keepdims=True)
                    if load["gravity"] is not None:
                        continue
                array = array[rows]
                if name == "gravity" and rotation is not None:
                    array = np.einsum("gij,gj->gi", rotation, array)
                self.arrays[name] = np.ascontiguousarray(array)
        if group is not None and np.asarray(group).dtype.kind in "US":
            self.group_names, group = _numbered(group)
        for name, value in (("outcome", outcome), ("group", group)):
            if value is not None:
                self.arrays[name] = _of_poses(name, value, count)[rows]
        return self

    def solids(self, grasp: int) -> list[Solid]:
        """Returns the object and, of a set of from_poses(), the hand, in object axes.

        Parameters
        ----------
        grasp : int
            Number from 0.

        Returns
        -------
        list of Solid
            Vertices and faces of each body.

        Examples
        --------
        >>> pose = np.diag([1.0, -1, -1, 1])
        >>> pose[2, 3] = 0.11
        >>> grasps = garra.grasp.GraspSet.from_poses("panda", [pose], "box:0.04,0.04,0.06", mass=0.1)
        >>> [solid.name for solid in grasps.solids(0)]
        ['object', 'palm', 'finger at +x', 'finger at -x']
        """
        grasp = whole("grasp", grasp, 0, len(self) - 1)
        size = 1.0 if self.touch is None or self.touch.scale is None else self.touch.scale[grasp]
        out = [] if self.mesh is None else [Solid("object", "object", size * self.mesh[0], np.asarray(self.mesh[1]))]
        if self.hand is None or self.touch is None:
            return out
        return out + hand_solids(self.hand, vars(self.touch), grasp)

    def plot(self, grasp: int = 0, ax: Axes3D | None = None) -> Axes3D:
        """Plots object, hand, contacts and friction cones of a grasp, in object axes.

        Parameters
        ----------
        grasp : int
            Number from 0.
        ax : matplotlib 3-D axes, optional
            Axes; default: new ones.

        Returns
        -------
        matplotlib 3-D axes

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> grasps.plot(2).get_xlabel()
        'x [m]'
        """
        return draw_grasp(ax, *self._picture(grasp))

    def _picture(self, grasp: int) -> tuple[list[Solid], np.ndarray, np.ndarray, np.ndarray]:
        """Bodies, contact points, normals and friction."""
        solids = self.solids(grasp)
        rows = slice(int(self.first[grasp]), int(self.first[grasp + 1]))
        friction = self.arrays.get("friction", np.full(len(self.arrays["point"]), 0.5))
        return solids, self.arrays["point"][rows], self.arrays["normal"][rows], friction[rows]

    def simulate(
        self, grasp: int = 0, *, duration: float = 0.5, step: float = 1e-3, acceleration: Any = None, friction: Any = None,
        most_shift: float = 0.01, most_turn: float = 0.3,
    ) -> Motion:  # fmt: skip
        """Simulates a grasp of a whole hand in time, from rest, under an acceleration of the hand's base.

        Contact points are fixed to the object; normals and the hand's Jacobian stay those of the instant. Each step of
        J. J. Moreau's scheme solves the contact problem with exact cones.

        Parameters
        ----------
        grasp : int
            Number from 0.
        duration, step : float
            [s].
        acceleration : array_like [3] or callable, optional
            Of the base in object axes [m/s^2], or a function of the time [s].
        friction : float or array_like [k], optional
            Default: that of the set.
        most_shift, most_turn : float
            Motion of an object that is held, relative to the base [m], [rad].

        Returns
        -------
        Motion

        Raises
        ------
        ValueError
            For a set without a whole hand, or with soft contacts.

        Examples
        --------
        >>> pose = np.diag([1.0, -1, -1, 1])
        >>> pose[2, 3] = 0.1032
        >>> grasps = garra.grasp.GraspSet.from_poses("panda", [pose], "box:0.04,0.04,0.06", mass=0.1)
        >>> shake = lambda t: [0, 0, 20 * np.sin(60 * t)]
        >>> grasps.simulate(0, duration=0.05, acceleration=shake).held
        True
        >>> grasps.simulate(0, duration=0.2, friction=0.005).held
        False
        """
        times = positive("duration", duration), positive("step", step)
        most = positive("most_shift", most_shift), positive("most_turn", most_turn)
        return in_time.simulate(self, whole("grasp", grasp, 0, len(self) - 1), friction, *times, acceleration, most)

    def with_loads(
        self, *, gravity: Any = None, wrench: Any = None, acceleration: Any = None, angular_acceleration: Any = None,
        about: Any = None,
    ) -> GraspSet:  # fmt: skip
        """Returns the set under k load cases: P(held) is then the probability of holding in all, or in any of them.

        Sample i has the same draws in all cases. Every grasp has k rows in a row; the ranking has P(held) in the first,
        and the status "load_case" in the others. `rank(any_load_case=True)`: any case is enough.

        Parameters
        ----------
        gravity : array_like [k, 3] or [k, G, 3], optional
            Object axes [m/s^2]; default: that of the set.
        wrench : array_like [k, 6] or [k, G, 6], optional
            External (force; moment about the center of mass) [N; N m]; default: that of the set.
        acceleration : array_like [k, 3] or [k, G, 3], optional
            Of hand and object [m/s^2]: an inertial force -m a.
        angular_acceleration : array_like [k, 3] or [k, G, 3], optional
            Of hand and object at rest [rad/s^2], about the point `about`: -m (alpha x r) and a moment -I alpha.
        about : array_like [3] or [G, 3], optional
            Object axes [m]; default: the origin.

        Returns
        -------
        GraspSet
            k times as many rows.

        Raises
        ------
        ValueError
            For inconsistent shapes, or a set that has load cases.

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> shaken = grasps.with_loads(acceleration=[[0, 0, 5], [0, 0, -5]])
        >>> ranking = garra.grasp.rank(shaken, friction=garra.uniform(0.2, 0.6), samples=50)
        >>> ranking.p_held.shape, len(ranking.order)
        ((8,), 4)
        """
        return loads.with_loads(self, gravity, wrench, acceleration, angular_acceleration, about)

    def with_protocol(self, name: str, *, acceleration: float = 0.0, angular_acceleration: float = 0.0) -> GraspSet:
        """Returns the set under the load cases of a published test.

        The test "six_gravity_directions" has the weight along the six half axes of the object. The test "dexgraspbench"
        has the same forces of 0.1 kg without gravity, with friction 0.6 and, for soft contacts, 0.02 m of torsional
        friction. The test "acronym_shake" has no gravity. The hand accelerates along and against its approach, and turns
        about the closing axis through its base.

        Parameters
        ----------
        name : str
            Of the test.
        acceleration, angular_acceleration : float
            Of "acronym_shake" [m/s^2], [rad/s^2].

        Returns
        -------
        GraspSet
            As with_loads().

        Raises
        ------
        ValueError
            For another name, or a set without hand poses where the test needs them.

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> six = grasps.with_protocol("six_gravity_directions")
        >>> len(six), six.arrays["load_case"][:7].tolist()
        (24, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0])
        """
        return loads.with_protocol(self, name, acceleration, angular_acceleration)

    @classmethod
    def from_hdf5(cls, path: str | PathLike[str]) -> GraspSet:
        """Reads a set from an HDF5 file of `garra grasp rank`.

        Parameters
        ----------
        path : str or path
            HDF5 file.

        Returns
        -------
        GraspSet

        Raises
        ------
        garra.FileError
            For a file that is no HDF5 file, or a set with missing or inconsistent arrays.
        FileNotFoundError, IsADirectoryError, PermissionError
            Without a readable file.

        Examples
        --------
        >>> garra.grasp.propose("sphere:0.03", n=4).save("set.h5")
        >>> len(garra.grasp.GraspSet.from_hdf5("set.h5"))
        4
        """
        import h5py

        try:
            with h5py.File(path) as file:
                read = cls._from_named({name: file[name][()] for name in _names() if name in file}, path)
                return read._with_names(file)
        except (FileNotFoundError, IsADirectoryError, PermissionError, _core.FileError):
            raise
        except (OSError, KeyError, RuntimeError, ValueError, TypeError) as error:  # what h5py says of damaged files
            raise _core.FileError(f"{path}: no HDF5 file that can be read: {error}") from None

    @classmethod
    def from_npz(cls, path: str | PathLike[str]) -> GraspSet:
        """Reads a set from a file of numpy.savez with the names of from_hdf5().

        Parameters
        ----------
        path : str or path
            NPZ file.

        Returns
        -------
        GraspSet

        Raises
        ------
        garra.FileError
            For a bad file.
        FileNotFoundError, IsADirectoryError, PermissionError
            Without a readable file.

        Examples
        --------
        >>> garra.grasp.propose("sphere:0.03", n=4).save("set.npz")
        >>> len(garra.grasp.GraspSet.from_npz("set.npz"))
        4
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                read = cls._from_named({name: file[name] for name in _names() if name in file}, path)
                return read._with_names(file)
        except (FileNotFoundError, IsADirectoryError, PermissionError, _core.FileError):
            raise
        except NPZ_ERRORS as error:
            raise _core.FileError(f"{path}: {error}") from None

    def _with_names(self, file: Any) -> GraspSet:
        """Adds mesh, names and sample numbers of a file."""
        self.mesh, self.names = read_mesh(file), read_names(file, "name", len(self))
        self.contact_names = read_names(file, "contact_name", int(self.first[-1]))
        self.sample = file["sample"][()] if "sample" in file else None
        self.group_names = ranking_file.read_group_names(file)
        self._set_touch(ranking_file.read_touch(file, len(self)))
        self.hand = read_jaw(file)
        return self

    def _set_touch(self, columns: dict[str, np.ndarray]) -> None:
        """Makes `touch` of the columns of a file."""
        if columns.keys() >= set(ranking_file.OF_TOUCH.values()) and "pose_number" in self.arrays:
            pose, case = self.arrays["pose_number"].astype(np.int64), self.arrays.get("load_case")
            self.touch = Touch(pose=pose, load_case=case, **columns)

    @classmethod
    def _from_named(cls, arrays: dict[str, np.ndarray], path: Any) -> GraspSet:
        for name in ("point", "normal"):
            if name not in arrays:
                raise _core.FileError(f"{path}: {name} is missing")
        try:
            return cls.from_arrays(arrays.pop("point"), arrays.pop("normal"), **arrays)
        except (ValueError, TypeError) as error:
            raise _core.FileError(f"{path}: {error}") from None

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a file for `garra grasp rank`.

        Parameters
        ----------
        path : str or path
            NPZ if the name ends in .npz, else HDF5.

        Raises
        ------
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> garra.grasp.propose("sphere:0.03", n=4).save("set.npz")
        >>> sorted(np.load("set.npz"))[:4]
        ['com', 'curvature', 'first', 'friction']
        """
        parts: dict[str, Any] = {"first": self.first, **self.arrays}
        if self.mesh is not None:
            parts["object/vertex"], parts["object/face"] = self.mesh
        if self.touch is not None:
            columns = ranking_file.OF_TOUCH | ranking_file.OF_HAND_TOUCH
            parts |= {name: x for name, key in columns.items() if (x := getattr(self.touch, key)) is not None}
        texts = {"name": self.names, "contact_name": self.contact_names, "group_name": self.group_names}
        parts |= {key: np.array(names, dtype=str) for key, names in texts.items() if names is not None}
        if self.sample is not None:
            parts["sample"] = self.sample
        if Path(path).suffix == ".npz":
            np.savez(path, **parts)
            return
        import h5py

        with h5py.File(path, "w") as file:
            for name, part in parts.items():
                file[name] = part.astype(h5py.string_dtype()) if name in texts else part
            if isinstance(self.hand, ParallelJaw):
                file.attrs["jaw"] = " ".join(repr(float(getattr(self.hand, name))) for name in _core.jaws["panda"])

    def _described(self) -> ranking_file.Grasps:
        """As a page wants the set."""
        kept = (*ranking_file.OF_TOUCH.values(), "scale")
        touch = {} if self.touch is None else {k: x for k in kept if (x := getattr(self.touch, k)) is not None}
        names = self.names, self.contact_names, self.group_names
        hand = None if self.hand is None or self.touch is None else partial(hand_solids, self.hand, vars(self.touch))
        return ranking_file.Grasps(self.first, self.arrays, self.mesh, *names, touch, hand=hand)

    def __len__(self) -> int:
        return len(self.first) - 1

    def __repr__(self) -> str:
        contacts = np.unique(np.diff(self.first))
        numbers = (
            f"{contacts[0]}" if len(contacts) == 1 else f"{contacts.min()} to {contacts.max()}" if len(self) else "no"
        )
        return f"<GraspSet of {len(self):,} grasps, {numbers} contacts each; {', '.join(self.arrays)}>"


@accept_old
@dataclass(frozen=True, repr=False)
class Ranking:
    """Ranking of G grasps.

    Grasps with a status other than "ranked" have NaN and rank 0.

    Examples
    --------
    >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
    >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
    >>> ranking.order.tolist(), ranking.p_held.tolist(), ranking.status.tolist()
    ([3, 0, 2, 1], [0.76, 0.28, 0.32, 1.0], [0, 0, 0, 0])
    """

    p_held: np.ndarray  #: [G] fraction of the decided samples that are held (docs/theory/grasp-sets.md)
    low: np.ndarray  #: [G] interval of p_held, 95 % Clopper-Pearson; with `best` sequential, of `confidence`
    high: np.ndarray  #: [G]
    difference: np.ndarray  #: [G] p_held minus the best grasp's, over the same draws
    difference_low: np.ndarray  #: [G] its 95 % interval
    difference_high: np.ndarray  #: [G]
    required_friction: np.ndarray  #: [G, 3] 5, 50, 95 % quantiles of the least sufficient coefficient; inf: above 10
    p_no_slip: np.ndarray  #: [G] fraction of samples in which every contact sticks; NaN for an ideal hand
    p_resisted: np.ndarray  #: [G] fraction in which forces inside the cones can balance the wrench
    margin: np.ndarray  #: [G, 3] 5, 50, 95 % quantiles of the smallest friction margin; NaN for an ideal hand
    resisted_force_radius: np.ndarray  #: [G] median radius of the ball of additional wrenches [N]; NaN: ideal, no limits
    limiting_contact: np.ndarray  #: [G] contact of the grasp, from 0, that fails most often; -1: none
    non_unique: np.ndarray  #: [G] samples with a second certified solution of different motion
    outcomes: np.ndarray  #: [G, 9] samples of each outcome in OUTCOMES
    rank: np.ndarray  #: [G] 1 is the best
    status: np.ndarray  #: [G] index in STATUS
    held: np.ndarray  #: [G] samples
    unsolved: np.ndarray  #: [G] undecided samples
    samples: np.ndarray  #: [G] samples per grasp
    hand: str = "ideal"  #: model of the hand: "ideal", "compliant" or "whole"
    decided: bool = True  #: True if the `best` grasps asked for were found
    candidates: GraspSet | None = None  #: the ranked set
    study: dict[str, Any] = field(default_factory=dict)  #: uncertain inputs, as in a ranking file
    seconds: float | None = None
    uncertain: dict[str, Any] = field(default_factory=dict)  #: uncertain inputs in the form of replay()

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Ranking:
        """Reads a ranking of `garra grasp rank -o` or of a run, with its set if the set is unchanged.

        `garra replay` replays its samples.

        Parameters
        ----------
        path : str or path
            HDF5 file of a ranking.

        Returns
        -------
        Ranking

        Raises
        ------
        garra.FileError
            For a bad file.
        garra.InputOutputError
            Without a file.

        Examples
        --------
        >>> garra.grasp.Ranking.read("absent.h5")
        Traceback (most recent call last):
            ...
        garra.InputOutputError: ...
        """
        try:
            found = ranking_file.read(path)
        except RunError as error:
            raise error_of(error) from None
        return cls(
            **found.columns,
            hand=found.hand,
            decided=found.decided,
            candidates=_set_in(found.grasps) if found.grasps else None,
            study=found.study,
            seconds=found.seconds,
        )

    @property
    def order(self) -> np.ndarray:
        """Ranked grasps, the best first.

        Returns
        -------
        array of int

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
        >>> ranking.order.tolist()
        [3, 0, 2, 1]
        """
        return ranking_file.order_of(self.rank)

    @property
    def best(self) -> int:
        """Grasp with rank 1.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If none is ranked.

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
        >>> ranking.best
        3
        """
        order = self.order
        if not len(order):
            raise ValueError("no grasp of this set could be ranked: status says why")
        return int(order[0])

    @property
    def refused(self) -> dict[str, int]:
        """Numbers of grasps that are not ranked, by reason.

        Returns
        -------
        dict

        Examples
        --------
        >>> points, normals = [[[-0.03, 0, 0], [0.03, 0, 0]]], [[[1, 0, 0], [0, 0, 0]]]
        >>> garra.grasp.rank(points=points, normals=normals, friction=0.5, mass=0.2).refused
        {'bad_normal': 1}
        """
        return {name: int((self.status == k).sum()) for k, name in enumerate(STATUS) if k and (self.status == k).any()}

    def name(self, grasp: int) -> str:
        """Name of a grasp: "can (grasp 38)", or "grasp 38" without names.

        Parameters
        ----------
        grasp : int
            Number from 0.

        Returns
        -------
        str

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
        >>> ranking.name(2)
        'grasp 2'
        """
        return ranking_file.name_of(self.candidates.names if self.candidates else None, grasp)

    def contact_name(self, grasp: int, contact: int) -> str:
        """Name of a contact: "contact 1" without names, "none" for -1.

        Parameters
        ----------
        grasp, contact : int
            Numbers from 0.

        Returns
        -------
        str

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
        >>> ranking.contact_name(0, 1), ranking.contact_name(0, -1)
        ('contact 1', 'none')
        """
        if contact < 0:
            return "none"
        names = self.candidates.contact_names if self.candidates else None
        return ranking_file.find_contact_name(names, self.candidates.first if names else None, grasp, contact)

    def replay(self, grasp: int | None = None, sample: int = 0) -> Replay:
        """Recomputes one sample of one grasp in full: drawn inputs, contacts, forces, outcome, margins.

        Of a grasp with load cases, the case that decides (`load_case`): one that is not held, else the one that needs the
        most friction; the other way for `any_load_case`.

        Parameters
        ----------
        grasp : int, optional
            Number (row) from 0; default: the best. The first row of load cases stands for all of them.
        sample : int
            Number from 0.

        Returns
        -------
        Replay
            A dict; printing it shows one line per contact.

        Raises
        ------
        ValueError
            If the ranking does not hold its set.
        garra.UsageError
            For a grasp or sample that does not exist, or a grasp that is not ranked.

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
        >>> replay = ranking.replay(ranking.best, sample=3)
        >>> replay["outcome"], replay["friction"].shape
        ('held', (3,))
        """
        one = self._known_set()
        which = self.best if grasp is None else grasp
        found = _core.grasp_set_replay(
            one.first, one._arrays(), self.uncertain, whole("grasp", which), whole("sample", sample, 0, 2**63 - 1)
        )
        contacts = [self.contact_name(which, j) for j in range(len(found["point"]))]
        case = f", load case {found['load_case']}" if "load_case" in found else ""
        return Replay(found, title=f"{self.name(which)}, sample {sample}{case}", contacts=contacts)

    def _known_set(self) -> GraspSet:
        if self.candidates is None or not self.uncertain:
            raise ValueError("this ranking does not know its set")
        return self.candidates

    def outcome_counts(self, grasp: int) -> dict[str, int]:
        """Samples per outcome of a grasp, without outcomes that did not occur.

        Parameters
        ----------
        grasp : int
            Number from 0.

        Returns
        -------
        dict

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
        >>> ranking.outcome_counts(0)
        {'held': 38, 'not_resisted': 12}
        """
        return {name: int(n) for name, n in zip(OUTCOMES, self.outcomes[grasp], strict=True) if n}

    def variants(
        self, grasp: int | None = None, *, share: float = 0.2, move: float = 0.005, device: str = "auto",
        threads: int = 0, progress: Progress = False,
    ) -> Ranking:  # fmt: skip
        """Ranks a grasp and variants of it with one change each, on the same draws.

        Command (force, torsion, torque), force limits and friction grow by `share`, the mass shrinks. Friction and mass
        change only if the study draws a factor on them. Contacts of a hand without a jacobian also move along the
        surface, by its curvature if known. `name()` names the change; differences refer to the best variant.

        Parameters
        ----------
        grasp : int, optional
            Number (row) from 0; default: the best. With load cases, a variant has a row for each of them.
        share : float
            Relative change.
        move : float
            Shift of a contact [m].
        device : str
            "auto", "cpu", "scalar", "cuda", "cuda:1".
        threads : int
            CPU threads; 0: all.
        progress : bool or callable
            As in garra.grasp.rank().

        Returns
        -------
        Ranking

        Raises
        ------
        ValueError
            If the ranking does not hold its set.

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
        >>> variants = ranking.variants(0)
        >>> [variants.name(g) for g in range(3)]
        ['as it is (grasp 0)', 'mass x 0.8 (grasp 1)', 'contact 0 +5 mm along t (grasp 2)']
        """
        one = self._known_set()
        which = self.best if grasp is None else whole("grasp", grasp, 0, len(self.rank) - 1)
        cases = rows_of_cases(one, which)
        share, move = positive("share", share), positive("move", move)
        changes = list(zip(*(_changed(one, row, self.uncertain, share, move) for row in cases), strict=True))
        names = [change[0][0] for change in changes for _ in cases]
        rows = slice(int(one.first[which]), int(one.first[which + 1]))
        contacts = None if one.contact_names is None else one.contact_names[rows] * len(names)
        sets = [arrays for change in changes for _, arrays in change]
        parts = {name: np.concatenate([arrays[name] for arrays in sets]) for name in sets[0]}
        if len(cases) > 1:
            parts["load_case"] = np.tile(np.arange(len(cases), dtype=float), len(changes))
        first = np.arange(len(names) + 1, dtype=np.int64) * (rows.stop - rows.start)
        changed = GraspSet(first, parts, one.mesh, names, contacts)
        columns = _core.grasp_set_rank(
            first, changed._arrays(), self.uncertain, *place(device, threads), count_listener(progress, len(names))
        )
        return Ranking(candidates=changed, study=self.study, uncertain=self.uncertain, **columns)

    def what_helps(
        self, grasp: int | None = None, *, share: float = 0.2, move: float = 0.005, device: str = "auto", threads: int = 0
    ) -> WhatHelps:
        """Ranks changes of a grasp on the same draws, the most helpful first.

        Grip force (or force limits) and friction grow by `share`. The contacts of a link, or of a pad of a jaw, move
        along the surface by `move`, in the best of four directions. One more finger presses with the mean force of the
        others, at the best of 32 places of the object's mesh.

        Parameters
        ----------
        grasp : int, optional
            Number (row) from 0; default: the best. All load cases of a grasp count.
        share : float
            Relative change.
        move : float
            Shift of contacts [m].
        device, threads
            As in garra.grasp.rank().

        Returns
        -------
        WhatHelps
            Printing it shows a table.

        Raises
        ------
        ValueError
            If the ranking does not hold its set.

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
        >>> ranking.what_helps(1).change[0].startswith("one more finger")
        True
        """
        one = self._known_set()
        which = self.best if grasp is None else whole("grasp", grasp, 0, len(self.rank) - 1)

        def ranked(of: tuple[np.ndarray, dict[str, np.ndarray]], uncertain: dict[str, Any]) -> Ranking:
            uncertain = uncertain | {"friction_samples": 0}
            return Ranking(**_core.grasp_set_rank(*of, uncertain, *place(device, threads), None))

        return what_helps(self, one, which, positive("share", share), positive("move", move), ranked)

    def compare(self, *, arrived: bool = False, resamples: int = 2000, seed: int = 1) -> Comparison:
        """Compares P(held) with the outcomes of the set's trials (docs/theory/grasp-outcomes.md).

        Draws of one pose (`pose_number`) are pooled. A pose without an answer counts as P = 0. Baselines are the
        antipodal angle, area and distance of the contacts, epsilon (with SciPy), and the rate of the object's trials.

        Parameters
        ----------
        arrived : bool
            Leave out draws that end in a collision, as where the hand is known to have reached its pose.
        resamples, seed : int
            Of the bootstrap over groups.

        Returns
        -------
        Comparison

        Raises
        ------
        garra.FileError
            If the set has no outcome.

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> held = [1, 0, 0, 1]
        >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50, outcome=held)
        >>> ranking.compare(resamples=100).auc
        1.0
        """
        try:
            found = trials.find_trials(self._found(""), arrived=arrived)
        except RunError as error:
            raise error_of(error) from None
        return trials.compare_trials(found, resamples=resamples, seed=seed)

    def to_pandas(self) -> pandas.DataFrame:
        """Data frame with a row per grasp, indexed as in the set, the best first.

        Returns
        -------
        pandas.DataFrame
            Of quantiles the median.

        Raises
        ------
        ImportError
            Without pandas.

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
        >>> ranking.to_pandas()[["rank", "p_held"]]  # doctest: +SKIP
        """
        pandas = import_pandas()
        columns = {name: np.asarray(getattr(self, name)) for name in _SHOWN}
        frame = pandas.DataFrame(
            {name: column if column.ndim == 1 else column[:, 1] for name, column in columns.items()},
            index=pandas.Index(np.arange(len(self.rank)), name="grasp"),
        )
        frame["status"] = pandas.Categorical.from_codes(self.status.astype(int), list(STATUS))
        if self.candidates and self.candidates.names:
            frame.insert(0, "name", self.candidates.names)
        if self.candidates and self.candidates.contact_names:
            frame["limiting_contact_name"] = [self.contact_name(g, int(j)) for g, j in enumerate(self.limiting_contact)]
        return frame.iloc[np.concatenate([self.order, np.flatnonzero(self.rank == 0)])]

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Writes to_pandas() with held, samples and all quantiles to a Parquet file.

        Parameters
        ----------
        path : str or path
            Parquet file.

        Raises
        ------
        ModuleNotFoundError
            Without pandas and pyarrow.

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
        >>> ranking.to_parquet("ranking.parquet")  # doctest: +SKIP
        """
        try:
            import pandas
            import pyarrow  # noqa: F401  what pandas writes it with
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"to_parquet() needs {error.name}: pip install pandas pyarrow", name=error.name
            ) from None
        frame = self.to_pandas().drop(columns=["required_friction", "margin"])
        rows = frame.index
        quantiles = {
            f"{name}_{q}": pandas.Series(getattr(self, name)[rows, k], index=rows)
            for name in ("required_friction", "margin")
            for k, q in enumerate((5, 50, 95))
        }
        frame.assign(**quantiles, held=self.held[rows], samples=self.samples[rows]).to_parquet(path, engine="pyarrow")

    def report(self, path: str | PathLike[str], title: str = "") -> Path:
        """Writes the report of this ranking, one HTML file with table, distributions and pictures.

        Parameters
        ----------
        path : str or path
            HTML file.
        title : str
            Title; default: "Candidate grasps".

        Returns
        -------
        Path
            Path of the file.

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
        >>> ranking.report(tmp / "ranking.html").name
        'ranking.html'
        """
        from garra.grasp import ranking_report
        from garra.page import html

        output = Path(path)
        html.write(ranking_report.build(self._found(title)), output)
        return output

    def _found(self, title: str) -> ranking_file.Found:
        one = self.candidates
        return ranking_file.Found(
            columns={name: np.asarray(getattr(self, name)).astype(t) for name, (_, t) in ranking_file.COLUMNS.items()},
            statuses={name: read_outcome(words) for name, words in _core.grasp_statuses.items()},
            outcomes={name: read_outcome(words) for name, words in _core.grasp_outcomes.items()},
            hand=self.hand,
            decided=self.decided,
            title=title or "Candidate grasps",
            study=self.study,
            seconds=self.seconds,
            version=_core.version,
            grasps=one._described() if one else None,
            without="" if one else "this ranking does not know its set",
        )

    def _drawn(self) -> str:
        if not self.study.get("best"):
            return f"{int(self.samples.max(initial=0)):,} samples each"
        return f"{int(self.samples.sum()):,} samples; the best {self.study['best']} are {'' if self.decided else 'not '}decided"

    def plot(self, ax: Axes | None = None, most: int = 20) -> Axes:
        """Plots P(held) of the best grasps with their intervals.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes; default: new ones.
        most : int
            Largest number of grasps.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
        >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
        >>> ranking.plot().get_xlabel()  # doctest: +SKIP
        """
        ax = axes(ax)
        shown = self.order[:most]
        p = self.p_held[shown]
        errors = np.abs(np.stack([p - self.low[shown], self.high[shown] - p]))
        ax.errorbar(p, np.arange(len(shown)), xerr=errors, fmt="o", capsize=3)
        ax.set_yticks(np.arange(len(shown)), [self.name(g) for g in shown])
        ax.invert_yaxis()
        ax.set_xlabel("P(held), 95 % interval")
        return ax

    def __repr__(self) -> str:
        # A grasp has a row for each of its load cases.
        refused = self.refused
        cases = len(self.rank) // max(len(self.rank) - refused.pop("load_case", 0), 1) or 1
        under = f" under {cases} load cases" if cases > 1 else ""
        lines = [f"<Ranking: {len(self.order):,} of {len(self.rank) // cases:,} grasps{under}, {self._drawn()}"]
        for g in self.order[:3]:
            name = self.name(g) if cases == 1 else self.name(g).replace(f"grasp {g}", f"grasp {g // cases}, row {g}")
            lines.append(f"  {self.rank[g]}. {name}: P(held) = {self.p_held[g]:.4f} [{self.low[g]:.4f}, {self.high[g]:.4f}]")
        for name, count in refused.items():
            lines.append(f"  {count:,} refused, {name.replace('_', ' ')}: {_core.grasp_statuses[name]['meaning']}")
            if name == "no_contact" and self.candidates and (touch := self.candidates.touch):
                why = (f"{n:,} {kind.replace('_', ' ')}" for kind, n in touch.counts().items() if kind != "touched")
                lines[-1] += f" ({', '.join(why)})"
        return "\n".join(lines) + ">"


class Replay(dict[str, Any]):
    """One sample of a grasp as a dict of its parts.

    Parameters
    ----------
    found : dict
        Parts of the sample.
    title : str
        Names of grasp and sample.
    contacts : list of str [k]
        Names of the contacts.

    Examples
    --------
    >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
    >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
    >>> ranking.replay(0).title, ranking.replay(0).contacts
    ('grasp 0, sample 0', ['contact 0', 'contact 1', 'contact 2'])
    """

    def __init__(self, found: dict[str, Any], title: str, contacts: list[str]) -> None:
        super().__init__(found)
        self.title, self.contacts = title, contacts

    def __repr__(self) -> str:
        lines = [f"{self.title}: {self['outcome'].replace('_', ' ')}"]
        states = [STATES.get(int(state), "unknown") for state in self.get("state", ())]
        for j, name in enumerate(self.contacts[:MOST_CONTACTS]):
            n, t, o = self["force"][j]
            state = f"{states[j]}, " if states else ""
            lines.append(f"  {name}: {state}{n:.4g} {t:.4g} {o:.4g} N, friction {self['friction'][j]:.4g}")
        if len(self.contacts) > MOST_CONTACTS:
            lines.append(f"  and {len(self.contacts) - MOST_CONTACTS} more")
        return "\n".join(lines)


class RankedRun(Result):
    """Finished run of a set of grasps: a Result with a `ranking` (docs/theory/grasp-sets.md).

    Examples
    --------
    The run needs the program and a scenario whose job is "grasp_set".

    >>> garra.run("study.toml").ranking.best  # doctest: +SKIP
    """

    @cached_property
    def ranking(self) -> Ranking:
        """Ranking of the run, read on first access.

        Returns
        -------
        Ranking

        Raises
        ------
        garra.FileError
            For a damaged ranking.

        Examples
        --------
        >>> garra.run("study.toml").ranking.best  # doctest: +SKIP
        """
        return Ranking.read(self.folder / ranking_folder.RANKING)


RESULTS["grasp_set"] = RankedRun


@accept_old
@accept_options(options=RankOptions, arrays=GraspArrays)
def rank(
    grasps: GraspSet | Sequence[Any] | str | PathLike[str] | None = None,
    options: RankOptions | None = None,
    *,
    points: Any = None,
    normals: Any = None,
    first: Any = None,
    arrays: GraspArrays | None = None,
    progress: Progress = False,
) -> Ranking:
    """Ranks candidate grasps by the probability that each holds. Sample i has the same draws in every grasp.

    Parameters
    ----------
    grasps : GraspSet, sequence of Grasp, str or path, optional
        A set, grasps of garra.grasp.from_mujoco, or a file (HDF5, NPZ).
    options : RankOptions, optional
        Uncertain inputs and size of the ranking. Its fields are keywords too, which override it.
    points, normals, first
        Instead of `grasps`: arguments of GraspSet.from_arrays().
    arrays : GraspArrays, optional
        Arrays that replace those of the set. Its fields are keywords too, but `force` and `torque`.
    progress : bool or callable
        True: a line with the grasps that are done and the seconds left. A function receives {"grasps": ..., "of": ...,
        "seconds": ..., "seconds_left": ...}.

    Returns
    -------
    Ranking
        A grasp that cannot be ranked has a status, never an exception.

    Raises
    ------
    garra.Error
        UsageError for options, a set without friction or without a load; FileError for bad files and arrays.
    ValueError, TypeError
        As RankOptions and GraspSet.from_arrays().

    Examples
    --------
    >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
    >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.3, 0.8), force=garra.ball(2.0), samples=50)
    >>> ranking.best
    3
    """
    parts = arrays._given() | options._of_set() | ({} if first is None else {"first": first})
    candidates = _set_of(grasps, points, normals, parts)
    friction = options.friction
    if candidates.first[-1] and "friction" not in candidates.arrays and (not is_drawn(friction) or friction.relative):
        raise _core.UsageError(
            "rank() without friction: the set has none\n"
            "Give friction=0.5, an array [G, k], garra.uniform(0.3, 0.8) or garra.normal(0.5, 0.1)."
        )
    if is_drawn(friction) and not friction.common and "torque" in candidates.arrays and _shares_pads(candidates):
        warnings.warn(
            "friction is drawn for each point of a pad, and the pad presses on the best: common=True has one value for all",
            stacklevel=2,
        )
    uncertain = options._uncertain()
    start = time.perf_counter()
    columns = _core.grasp_set_rank(
        candidates.first,
        candidates._arrays(),
        uncertain,
        *place(options.device, options.threads),
        count_listener(progress, len(candidates.first) - 1),
    )
    return Ranking(
        candidates=candidates,
        study=study_of(uncertain),
        seconds=time.perf_counter() - start,
        uncertain=uncertain,
        **columns,
    )


def _changed(
    of: GraspSet, grasp: int, uncertain: dict[str, Any], share: float, move: float
) -> list[tuple[str, dict[str, np.ndarray]]]:
    """Names of the changes of a row, and its arrays with each change."""
    arrays, rows = grasp_arrays(of, grasp)
    out = [("as it is", arrays)]

    def add(name: str, changed: dict[str, np.ndarray]) -> None:
        out.append((name, {**arrays, **changed}))

    if command := stronger(arrays, share):
        add(f"command x {1 + share:g}", command)
    for name, part in (("force limits", "force_limit"), ("friction", "friction")):
        if part in arrays and (part == "force_limit" or uncertain["friction_is_factor"]):
            add(f"{name} x {1 + share:g}", {part: (1 + share) * arrays[part]})
    if "mass" in arrays and uncertain["mass_is_factor"]:
        less = ("mass", "inertia") if "inertia" in arrays else ("mass",)
        add(f"mass x {1 - share:g}", {part: (1 - share) * arrays[part] for part in less})
    for j in range(rows.stop - rows.start) if "jacobian" not in arrays else ():
        contact = ranking_file.find_contact_name(of.contact_names, of.first, grasp, j)
        n = arrays["normal"][j] / np.linalg.norm(arrays["normal"][j])
        t = arrays["tangent"][j] if "tangent" in arrays else np.eye(3)[np.abs(n).argmin()]
        t = t - (t @ n) * n
        t /= np.linalg.norm(t)
        for axis, (along, label) in enumerate(((t, "t"), (np.cross(n, t), "o"))):
            bend = arrays["curvature"][j, axis] if "curvature" in arrays else 0.0
            for sign in (1, -1):
                point, normal = arrays["point"].copy(), arrays["normal"].copy()
                # n points into the object: on a convex surface it turns against the step.
                point[j] += sign * move * along + 0.5 * bend * move**2 * n
                normal[j] = n - sign * move * bend * along
                add(f"{contact} {sign * 1000 * move:+g} mm along {label}", {"point": point, "normal": normal})
    return out


def _names() -> tuple[str, ...]:
    return ("first", *OF_CONTACTS, *OF_GRASPS, *OF_HANDS)


def _of_hand(name: str, value: Any, lead: tuple[int, ...], grasps: int, joints: tuple[int, ...]) -> np.ndarray:
    """Array of OF_HANDS in the shape of a file. lead: axes of contacts; joints: (nq,), or () without a jacobian."""
    array = numbers(name, value)
    rows = int(np.prod(lead))
    if name in ("jacobian", "angular_jacobian"):
        by_row = (*lead[:-1], 3 * lead[-1], *joints)
        if array.shape not in ((*lead, 3, *joints), by_row) or not array.size and rows:
            raise ValueError(f"{name} has the shape {array.shape}, not {[*lead, 3, 'nq']} or {[*by_row[:-1], 'nq']}")
        return np.ascontiguousarray(array.reshape(3 * rows, *joints))
    if name in ("mobility", "angular_mobility"):
        shape = (*lead, 3, 3) if array.ndim > len(lead) else lead
        flat = (rows, 3, 3) if array.ndim > len(lead) else (rows,)
    else:
        if not joints:
            raise ValueError(f"{name} without jacobian: what do the joints move?")
        flat = shape = (grasps, *joints, *joints) if name == "mass_matrix" else (grasps, *joints)
    try:
        return np.ascontiguousarray(np.broadcast_to(array, shape).reshape(flat))
    except ValueError:
        raise ValueError(f"{name} has the shape {array.shape}, not {list(shape)}") from None


def _mobility_factor(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """J with J J^T = A, of as many columns as A has rank, and its left inverse."""
    values, vectors = np.linalg.eigh(A)
    moves = values > NULL * max(values[-1], 0)
    root = np.sqrt(values[moves])
    return vectors[:, moves] * root, vectors[:, moves].T / root[:, None]


def _shares_pads(grasps: GraspSet) -> bool:
    """Whether neighboring contacts of a grasp are of one pad."""
    pad = grasps.arrays.get("pad", np.zeros(0))
    same = pad[1:] == pad[:-1]
    same[grasps.first[1:-1][(grasps.first[1:-1] > 0) & (grasps.first[1:-1] < len(pad))] - 1] = False
    return bool(same.any())


def _set_of(grasps: Any, points: Any, normals: Any, parts: dict[str, Any]) -> GraspSet:
    if grasps is None:
        if points is None or normals is None:
            raise TypeError("rank() needs a set of grasps, or points and normals")
        return GraspSet.from_arrays(points, normals, **parts)
    if points is not None or normals is not None:
        raise TypeError("rank() takes a set of grasps, or points and normals, not both")
    if isinstance(grasps, list | tuple):
        if absent := [k for k, grasp in enumerate(grasps) if grasp is None]:
            raise ValueError(f"grasps[{absent[0]}] is None: leave out states without contact (filter(None, grasps))")
        grasps = GraspSet.from_grasps(grasps)
    if isinstance(grasps, np.ndarray):
        raise TypeError("rank() takes arrays by their names: rank(points=..., normals=..., friction=...)")
    if not isinstance(grasps, GraspSet):
        grasps = GraspSet.from_npz(grasps) if is_npz(grasps) else GraspSet.from_hdf5(grasps)
    if not parts:
        return grasps
    # Arguments replace arrays of the set.
    arrays = dict(grasps.arrays)
    kept = {name: arrays.pop(name) for name in ("point", "normal")}
    known = {"first": grasps.first, "mesh": grasps.mesh, "names": grasps.names, "contact_names": grasps.contact_names}
    known["group_names"] = grasps.group_names
    out = GraspSet.from_arrays(kept["point"], kept["normal"], **{**known, **arrays, **parts})
    out.touch, out.hand = grasps.touch, grasps.hand
    return out


def _set_in(grasps: ranking_file.Grasps) -> GraspSet:
    """The set of a page."""
    out = GraspSet(grasps.first, grasps.arrays, grasps.mesh, grasps.names, grasps.contact_names, grasps.group_names)
    out._set_touch(grasps.touch)
    return out


def _one_two_four(points: Any) -> int:
    if whole("points", points, 1, 4) == 3:
        raise ValueError("points = 3: a link has 1, 2 or 4; three would favor a direction")
    return int(points)


def _of_poses(name: str, value: Any, count: int, *tail: int) -> np.ndarray:
    """[count, *tail] of numbers for all poses, or for each."""
    array = numbers(name, value)
    if array.shape not in (tail, (1, *tail), (count, *tail)):
        raise ValueError(f"{name} has the shape {list(array.shape)}, not {list(tail) or 'of a number'} or {[count, *tail]}")
    return np.broadcast_to(array, (count, *tail))


def _numbered(texts: Any) -> tuple[list[str], np.ndarray]:
    """Different texts, and the number of each."""
    names, number = np.unique(np.asarray(texts, dtype=str), return_inverse=True)
    return names.tolist(), number.reshape(np.shape(texts))
