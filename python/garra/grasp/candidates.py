"""Sets of candidate grasps and their ranking (docs/theory/grasp-sets.md)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from garra import _core
from garra.arguments import finite, numbers, place, positive, real, check_seed, whole, whole_numbers
from garra.grasp import ranking_file, ranking_folder, redundant
from garra.grasp.ranking_file import NPZ_ERRORS, is_npz, read_mesh, read_names, sound_mesh
from garra.grasp.robustness import ACCELERATION
from garra.page.outcomes import read_outcome
from garra.renamed import accept_old
from garra.study.distributions import Ball, Normal, Uniform
from garra.study.progress import grasps_listener
from garra.study.run import RESULTS, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas
    from matplotlib.axes import Axes

    from garra.grasp.hand import Grasp

STATUS = tuple(_core.grasp_statuses)
"""Names of the numbers in Ranking.status; 0 is "ranked"."""
OUTCOMES = tuple(_core.grasp_outcomes)
"""Names of the columns of Ranking.outcomes"""

# Name: shape of one contact's, and of one grasp's, part.
_OF_CONTACTS = {
    "point": (3,),
    "normal": (3,),
    "tangent": (3,),
    "friction": (),
    "curvature": (2,),
    "force_limit": (),
    "torsion_radius": (),
    "force": (3,),
    "torsion": (),
}
_OF_GRASPS = {"mass": (), "com": (3,), "inertia": (3, 3), "gravity": (3,), "wrench": (6,)}
# Arrays of hands that are not ideal; their shapes depend on one another.
_OF_HANDS = (
    "mobility",
    "angular_mobility",
    "jacobian",
    "angular_jacobian",
    "mass_matrix",
    "torque",
    "bias",
    "torque_limit",
)
_STATES = {0: "stick", 1: "slip", 2: "open"}
MOST_CONTACTS = 8  # lines of a replay that is printed
_CONSTANT_ONE = ("constant", 1.0, 0.0, 0.0, 0.0)


class GraspSet:
    """GraspSet of G candidate grasps with k contacts each, or with any numbers of contacts. SI units, object axes.

    A grasp consists of contact points, normals into the object and friction coefficients. Its load is mass, center of
    mass, gravity (default: (0, 0, -9.81) m/s^2) and wrench. The arrays define the hand.

    Without hand arrays the hand is ideal: any forces within friction and force_limit; with torsion_radius soft fingers.
    With mobility and force it is compliant, with jacobian, mass_matrix and torque (or force) a whole hand. Its command
    then has to hold the object, and torque_limit limits its motors.
    """

    def __init__(
        self,
        first: np.ndarray,
        arrays: dict[str, np.ndarray],
        mesh: tuple[np.ndarray, np.ndarray] | None = None,
        names: list[str] | None = None,
        contact_names: list[str] | None = None,
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
        self.about: dict[str, Any] = {}
        """Sets of propose(): samples drawn, counts of rejection reasons, mesh, warning"""
        self.sample: np.ndarray | None = None
        """Sets of propose(): [G] number of the sample of each grasp"""

    def _arrays(self) -> dict[str, np.ndarray]:
        """Arrays that a ranking reads, with the mesh."""
        if self.mesh is None:
            return self.arrays
        vertices, faces = (np.ascontiguousarray(part) for part in self.mesh)
        return {**self.arrays, "object/vertex": vertices.astype(np.float64), "object/face": faces.astype(np.int64)}

    @classmethod
    def from_arrays(
        cls,
        points: Any,
        normals: Any,
        friction: Any = None,
        *,
        first: Any = None,
        mesh: tuple[Any, Any] | None = None,
        names: Any = None,
        contact_names: Any = None,
        **others: Any,
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
        mesh : (array_like [v, 3], array_like [f, 3]), optional
            Object surface [m], triangles counterclockwise from outside, for pictures and for grasps from inside, whose
            normals all point away from the center of mass.
        names : list of str [G], optional
            Names of the grasps.
        contact_names : array_like [G, k] or [m], optional
            Names of the contacts.
        tangent, curvature, force_limit : array_like
            Per contact: direction t, curvature along t and o [1/m], largest normal force [N].
        torsion_radius : array_like
            Radius r of soft contacts [m]: |(c_t, c_o, tau / r)| <= friction c_n with the moment tau about the normal.
        mass, com, inertia, gravity, wrench : array_like
            Per grasp, or one for all; wrench is (force; moment about com).
        mobility, force : array_like
            Compliant hand: mobility as a number, one per contact or [..., 3, 3] [1/kg]; commanded force (n, t, o)
            [..., 3] [N].
        jacobian, mass_matrix, torque, bias, torque_limit : array_like
            Whole hand: contact point velocities [G, k, 3, nq] (or [G, 3 k, nq], [m, 3, nq], [3 m, nq]); mass matrix
            [nq, nq] or [G, nq, nq]; torques [nq] or [G, nq], numpy.inf for no limit. `force` may replace `torque`.
        torsion, angular_mobility, angular_jacobian : array_like
            Soft contacts of these hands: commanded moment about the normal [N m]; mobility of moments [1/(kg m^2)], or
            angular velocity of the touching body per joint rate.

        Returns
        -------
        GraspSet

        Raises
        ------
        ValueError
            For inconsistent shapes.
        TypeError
            For unknown names.
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
        given = {"point": points, "normal": normals, "friction": friction, **others}
        unknown = given.keys() - _OF_CONTACTS.keys() - _OF_GRASPS.keys() - set(_OF_HANDS)
        if unknown:
            raise TypeError(f"no such part of a set: {', '.join(sorted(unknown))}")
        arrays = {}
        for name, value in given.items():
            if value is None:
                continue
            if name in _OF_HANDS:
                arrays[name] = _of_hand(name, value, lead, len(first) - 1, np.shape(given.get("jacobian", 0))[-1:])
                continue
            tail = _OF_CONTACTS.get(name)
            shape = (len(first) - 1, *_OF_GRASPS[name]) if tail is None else (*lead, *tail)
            try:
                array = np.broadcast_to(numbers(name, value), shape)
            except ValueError:
                raise ValueError(f"{name} has the shape {np.shape(value)}, not {list(shape)}") from None
            rows = shape if tail is None else (int(np.prod(lead)), *tail)
            arrays[name] = np.ascontiguousarray(array.reshape(rows))
        if mesh is not None and (mesh := sound_mesh(numbers("mesh", mesh[0]), mesh[1])) is None:
            raise ValueError("mesh: expected finite vertices [v, 3] and triangles [f, 3], whole numbers below v")
        if names is not None and len(names := [str(name) for name in names]) != len(first) - 1:
            raise ValueError(f"names: {len(names)} of them, not {len(first) - 1}")
        if contact_names is not None:
            contact_names = [str(name) for name in np.asarray(contact_names, dtype=str).ravel()]
            if len(contact_names) != int(np.prod(lead)):
                raise ValueError(f"contact_names: {len(contact_names)} of them, not {int(np.prod(lead))}")
        return cls(first, arrays, mesh, names, contact_names)

    @classmethod
    def from_grasps(cls, grasps: Sequence[Grasp], **others: Any) -> GraspSet:
        """Makes a set of whole hands from grasps of `garra.grasp.from_mujoco` or `from_urdf`, in their world axes.

        The joints of the set span the range of A_h = J M^-1 J^T with unit inertia. Torques include the hand's own
        weight. Supports of the hand at this instant (`Grasp.props`) count as fixed to it.

        Parameters
        ----------
        grasps : sequence of Grasp
            Any numbers of contacts.
        **others
            As in from_arrays().

        Returns
        -------
        GraspSet
        """
        hands = [grasp.propped() for grasp in grasps]
        factors = [_mobility_factor(hand_A) for hand_A, _ in hands]
        joints = max((J.shape[1] for J, _ in factors), default=0)
        rows, torques = [], []
        for grasp, (J, inverse), (_, hand_b) in zip(grasps, factors, hands, strict=True):
            turned = np.einsum("jxc,jcq->jxq", grasp.frames, J.reshape(len(grasp.mu), 3, -1))
            padding = joints - J.shape[1]
            rows.append(np.pad(turned, ((0, 0), (0, 0), (0, padding))).reshape(-1, joints))
            torques.append(np.pad(-inverse @ hand_b, (0, padding)))
        return cls.from_arrays(
            np.concatenate([grasp.points for grasp in grasps]),
            np.concatenate([grasp.frames[:, :, 0] for grasp in grasps]),
            np.concatenate([grasp.mu for grasp in grasps]),
            tangent=np.concatenate([grasp.frames[:, :, 1] for grasp in grasps]),
            first=np.cumsum([0, *(len(grasp.mu) for grasp in grasps)]),
            mass=np.array([grasp.mass for grasp in grasps]),
            com=np.array([grasp.com for grasp in grasps]),
            inertia=np.array([grasp.inertia for grasp in grasps]),
            gravity=np.array([grasp.gravity for grasp in grasps]),
            wrench=np.array([grasp.applied + np.concatenate([np.zeros(3), grasp.gyroscopic]) for grasp in grasps]),
            jacobian=np.concatenate(rows),
            mass_matrix=np.eye(joints),
            torque=np.array(torques),
            **{"names": [g.name for g in grasps], "contact_names": [n for g in grasps for n in g.contact_names], **others},
        )

    @classmethod
    def from_world(
        cls,
        points: Any,
        normals: Any,
        pose: Any,
        *,
        scale: float = 1.0,
        gravity: Any = (0, 0, -9.81),
        first: Any = None,
        **others: Any,
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
        **others
            As in from_arrays(), in SI units and object axes.

        Returns
        -------
        GraspSet

        Raises
        ------
        ValueError
            For inconsistent shapes or a pose that is no rotation and translation.
        """
        points, normals, scale = numbers("points", points), numbers("normals", normals), positive("scale", scale)
        count = len(points) if first is None else len(first) - 1
        pose = np.broadcast_to(numbers("pose", pose), (count, 4, 4))
        R_WO, p_WO = pose[:, :3, :3], pose[:, :3, 3]
        error = np.abs(R_WO.transpose(0, 2, 1) @ R_WO - np.eye(3)).max(axis=(1, 2), initial=0)
        wrong = np.flatnonzero(~((error <= 1e-4) & (np.linalg.det(R_WO) > 0)))
        if len(wrong):
            raise ValueError(f"pose {wrong[0]} is no rotation and translation; a scale is given by `scale`")
        into = np.arange(count)[:, None] if first is None else np.repeat(np.arange(count), np.diff(first))
        return cls.from_arrays(
            scale * np.einsum("...ji,...j->...i", R_WO[into], points - p_WO[into]),
            np.einsum("...ji,...j->...i", R_WO[into], normals),
            first=first,
            gravity=np.einsum("gji,gj->gi", R_WO, np.broadcast_to(numbers("gravity", gravity), (count, 3))),
            **others,
        )

    @classmethod
    def from_hdf5(cls, path: str | PathLike[str]) -> GraspSet:
        """Reads a set from an HDF5 file of `garra grasp rank`. Raises garra.FileError for a bad file."""
        import h5py

        with h5py.File(path) as file:
            read = cls._from_named({name: file[name][()] for name in _names() if name in file}, path)
            return read._with_names(file)

    @classmethod
    def from_npz(cls, path: str | PathLike[str]) -> GraspSet:
        """Reads a set from a file of numpy.savez with the same names. Raises garra.FileError for a bad file."""
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
        return self

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
        """Writes a file for `garra grasp rank`: NPZ if its name ends in .npz, else HDF5."""
        if Path(path).suffix == ".npz":
            more = {} if self.mesh is None else {"object/vertex": self.mesh[0], "object/face": self.mesh[1]}
            more |= {} if self.names is None else {"name": np.array(self.names, dtype=str)}
            more |= {} if self.contact_names is None else {"contact_name": np.array(self.contact_names, dtype=str)}
            more |= {} if self.sample is None else {"sample": self.sample}
            np.savez(path, first=self.first, **self.arrays, **more)
            return
        import h5py

        with h5py.File(path, "w") as file:
            file["first"] = self.first
            for name, array in self.arrays.items():
                file[name] = array
            if self.mesh is not None:
                file["object/vertex"], file["object/face"] = self.mesh
            if self.names is not None:
                file.create_dataset("name", data=self.names, dtype=h5py.string_dtype())
            if self.contact_names is not None:
                file.create_dataset("contact_name", data=self.contact_names, dtype=h5py.string_dtype())
            if self.sample is not None:
                file["sample"] = self.sample

    def __len__(self) -> int:
        return len(self.first) - 1

    def __repr__(self) -> str:
        contacts = np.unique(np.diff(self.first))
        numbers = (
            f"{contacts[0]}" if len(contacts) == 1 else f"{contacts.min()} to {contacts.max()}" if len(self) else "no"
        )
        return f"<Set of {len(self):,} grasps, {numbers} contacts each; {', '.join(self.arrays)}>"


@accept_old
@dataclass(frozen=True, repr=False)
class Ranking:
    """Ranking of G grasps. Grasps with a status other than "ranked" have NaN and rank 0."""

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

        `garra replay` replays its samples. Raises garra.FileError for a bad file.
        """
        found = ranking_file.read(path)
        grasps = found.grasps
        return cls(
            **found.columns,
            hand=found.hand,
            decided=found.decided,
            candidates=GraspSet(grasps.first, grasps.arrays, grasps.mesh, grasps.names, grasps.contact_names)
            if grasps
            else None,
            study=found.study,
            seconds=found.seconds,
        )

    @property
    def order(self) -> np.ndarray:
        """Ranked grasps, the best first."""
        ranked = np.flatnonzero(self.rank > 0)
        return ranked[np.argsort(self.rank[ranked], kind="stable")]

    @property
    def best(self) -> int:
        """Grasp with rank 1. Raises ValueError if none is ranked."""
        order = self.order
        if not len(order):
            raise ValueError("no grasp of this set could be ranked: status says why")
        return int(order[0])

    @property
    def refused(self) -> dict[str, int]:
        """Numbers of grasps that are not ranked, by reason."""
        return {name: int((self.status == k).sum()) for k, name in enumerate(STATUS) if k and (self.status == k).any()}

    def name(self, grasp: int) -> str:
        """Name of a grasp: "can (grasp 38)", or "grasp 38" without names."""
        return ranking_file.name_of(self.candidates.names if self.candidates else None, grasp)

    def contact_name(self, grasp: int, contact: int) -> str:
        """Name of a contact (grasp and contact from 0), "contact 1" without names, "none" for -1."""
        if contact < 0:
            return "none"
        names = self.candidates.contact_names if self.candidates else None
        return ranking_file.find_contact_name(names, self.candidates.first if names else None, grasp, contact)

    def replay(self, grasp: int | None = None, sample: int = 0) -> Replay:
        """Recomputes one sample of one grasp in full: drawn inputs, contacts, forces, outcome, margins.

        Parameters
        ----------
        grasp : int, optional
            Number from 0; default: the best.
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
        """
        if self.candidates is None or not self.uncertain:
            raise ValueError("this ranking does not know its set")
        which = self.best if grasp is None else grasp
        found = _core.grasp_set_replay(
            self.candidates.first, self.candidates._arrays(), self.uncertain, whole("grasp", which), whole("sample", sample, 0, 2**63 - 1)
        )
        contacts = [self.contact_name(which, j) for j in range(len(found["point"]))]
        return Replay(found, title=f"{self.name(which)}, sample {sample}", contacts=contacts)

    def outcome_counts(self, grasp: int) -> dict[str, int]:
        """Samples per outcome of a grasp, without outcomes that did not occur."""
        return {name: int(n) for name, n in zip(OUTCOMES, self.outcomes[grasp], strict=True) if n}

    def variants(
        self, grasp: int | None = None, *, share: float = 0.2, move: float = 0.005, device: str = "auto", threads: int = 0
    ) -> Ranking:
        """Ranks a grasp and variants of it with one change each, on the same draws.

        Command (force, torsion, torque), force limits and friction grow by `share`, the mass shrinks. Friction and mass
        change only if the study draws a factor on them. Contacts of a hand without a jacobian also move along the
        surface, by its curvature if known. `name()` names the change; differences refer to the best variant.

        Parameters
        ----------
        grasp : int, optional
            Number from 0; default: the best.
        share : float
            Relative change.
        move : float
            Shift of a contact [m].
        device : str
            "auto", "cpu", "scalar", "cuda", "cuda:1".
        threads : int
            CPU threads; 0: all.

        Returns
        -------
        Ranking

        Raises
        ------
        ValueError
            If the ranking does not hold its set.
        """
        if self.candidates is None or not self.uncertain:
            raise ValueError("this ranking does not know its set")
        which = self.best if grasp is None else whole("grasp", grasp, 0, len(self.rank) - 1)
        names, sets = _changed(self.candidates, which, self.uncertain, positive("share", share), positive("move", move))
        one = self.candidates
        rows = slice(int(one.first[which]), int(one.first[which + 1]))
        contacts = None if one.contact_names is None else one.contact_names[rows] * len(names)
        parts = {name: np.concatenate([arrays[name] for arrays in sets]) for name in sets[0]}
        first = np.arange(len(names) + 1, dtype=np.int64) * (rows.stop - rows.start)
        changed = GraspSet(first, parts, one.mesh, names, contacts)
        columns = _core.grasp_set_rank(first, changed._arrays(), self.uncertain, *place(device, threads), None)
        return Ranking(candidates=changed, study=self.study, uncertain=self.uncertain, **columns)

    def to_pandas(self) -> pandas.DataFrame:
        """Data frame with a row per grasp, indexed as in the set, the best first."""
        import pandas

        frame = pandas.DataFrame(
            {
                "rank": self.rank,
                "p_held": self.p_held,
                "low": self.low,
                "high": self.high,
                "difference": self.difference,
                "difference_low": self.difference_low,
                "difference_high": self.difference_high,
                "required_friction": self.required_friction[:, 1],
                "p_no_slip": self.p_no_slip,
                "p_resisted": self.p_resisted,
                "margin": self.margin[:, 1],
                "resisted_force_radius": self.resisted_force_radius,
                "limiting_contact": self.limiting_contact,
                "non_unique": self.non_unique,
                "unsolved": self.unsolved,
                "status": pandas.Categorical.from_codes(self.status.astype(int), list(STATUS)),
            },
            index=pandas.Index(np.arange(len(self.rank)), name="grasp"),
        )
        if self.candidates and self.candidates.names:
            frame.insert(0, "name", self.candidates.names)
        if self.candidates and self.candidates.contact_names:
            frame["limiting_contact_name"] = [self.contact_name(g, int(j)) for g, j in enumerate(self.limiting_contact)]
        return frame.iloc[np.concatenate([self.order, np.flatnonzero(self.rank == 0)])]

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Writes to_pandas() with held, samples and all quantiles to a Parquet file. Needs pandas and pyarrow."""
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
        """Writes the report of this ranking, one HTML file with table, distributions and pictures; returns its path."""
        from garra.grasp import ranking_report
        from garra.page import html

        output = Path(path)
        html.write(ranking_report.build(self._found(title)), output)
        return output

    def _found(self, title: str) -> ranking_file.Found:
        set_ = self.candidates
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
            grasps=ranking_file.Grasps(set_.first, set_.arrays, set_.mesh, set_.names, set_.contact_names)
            if set_
            else None,
            without="" if set_ else "this ranking does not know its set",
        )

    def _drawn(self) -> str:
        if not self.study.get("best"):
            return f"{int(self.samples.max(initial=0)):,} samples each"
        return f"{int(self.samples.sum()):,} samples; the best {self.study['best']} are {'' if self.decided else 'not '}decided"

    def plot(self, ax: Axes | None = None, most: int = 20) -> Axes:
        """Plots P(held) of the `most` best grasps with their intervals on matplotlib axes, which are returned."""
        import matplotlib.pyplot as plt

        if ax is None:
            ax = plt.subplots()[1]
        shown = self.order[:most]
        p = self.p_held[shown]
        errors = np.abs(np.stack([p - self.low[shown], self.high[shown] - p]))
        ax.errorbar(p, np.arange(len(shown)), xerr=errors, fmt="o", capsize=3)
        ax.set_yticks(np.arange(len(shown)), [self.name(g) for g in shown])
        ax.invert_yaxis()
        ax.set_xlabel("P(held), 95 % interval")
        return ax

    def __repr__(self) -> str:
        lines = [f"<Ranking: {len(self.order):,} of {len(self.rank):,} grasps, {self._drawn()}"]
        for g in self.order[:3]:
            lines.append(
                f"  {self.rank[g]}. {self.name(g)}: P(held) = {self.p_held[g]:.4f} [{self.low[g]:.4f}, {self.high[g]:.4f}]"
            )
        for name, count in self.refused.items():
            lines.append(f"  {count:,} refused, {name.replace('_', ' ')}: {_core.grasp_statuses[name]['meaning']}")
        return "\n".join(lines) + ">"


class Replay(dict[str, Any]):
    """One sample of a grasp as a dict of its parts; `contacts` holds the names of the contacts."""

    def __init__(self, found: dict[str, Any], title: str, contacts: list[str]) -> None:
        super().__init__(found)
        self.title, self.contacts = title, contacts

    def __repr__(self) -> str:
        lines = [f"{self.title}: {self['outcome'].replace('_', ' ')}"]
        states = [_STATES.get(int(state), "unknown") for state in self.get("state", ())]
        for j, name in enumerate(self.contacts[:MOST_CONTACTS]):
            n, t, o = self["force"][j]
            state = f"{states[j]}, " if states else ""
            lines.append(f"  {name}: {state}{n:.4g} {t:.4g} {o:.4g} N, friction {self['friction'][j]:.4g}")
        if len(self.contacts) > MOST_CONTACTS:
            lines.append(f"  and {len(self.contacts) - MOST_CONTACTS} more")
        return "\n".join(lines)


class RankedRun(Result):
    """Finished run of a set of grasps: a Result with a `ranking` (docs/theory/grasp-sets.md)."""

    @cached_property
    def ranking(self) -> Ranking:
        """Ranking of the run, read on first access."""
        return Ranking.read(self.folder / ranking_folder.RANKING)


RESULTS["grasp_set"] = RankedRun


@accept_old
def rank(
    grasps: GraspSet | Sequence[Grasp] | str | PathLike[str] | None = None,
    *,
    points: Any = None,
    normals: Any = None,
    friction: Any = None,
    mass: Any = None,
    com: Any = None,
    slide: Any = 0.0,
    tilt: float = 0.0,
    force: Ball | None = None,
    torque: Ball | None = None,
    wrenches: Any = None,
    random_gravity_direction: bool = False,
    interior_grasp: bool = False,
    hand: str = "auto",
    command: Any = 1.0,
    grip_force_error: Any = 0.0,
    torque_error: Any = 0.0,
    imbalance: float = 0.5,
    acceleration: float = ACCELERATION,
    check_uniqueness: bool = True,
    samples: int = 1000,
    friction_samples: int = 100,
    radius_samples: int = -1,
    best: int = 0,
    confidence: float = 0.95,
    seed: int = 1,
    device: str = "auto",
    threads: int = 0,
    progress: bool | Callable[[dict[str, Any]], object] = False,
    **others: Any,
) -> Ranking:
    """Ranks candidate grasps by the probability that each holds. Sample i has the same draws in every grasp.

    Parameters
    ----------
    grasps : GraspSet, sequence of Grasp, str or path, optional
        A set, grasps of garra.grasp.from_mujoco, or a file (HDF5, NPZ).
    points, normals, **others
        Instead of `grasps`: arguments of GraspSet.from_arrays().
    friction, mass : float, array_like or distribution, optional
        Numbers, arrays of the set, garra.uniform() or garra.normal() of the value, or garra.scale() of a factor.
    com : array_like or Ball, optional
        Centers of mass, or garra.ball() of their error [m].
    slide : float or distribution
        Error of contact points along the surface in both directions; a number is the standard deviation [m].
    tilt : float
        Half angle of a cone in which the true normals are uniform [rad].
    force, torque : Ball, optional
        Disturbances [N, N m].
    wrenches : array_like [n, 6], optional
        Additional (force; moment about the center of mass) [N, N m], of which each sample draws one.
    random_gravity_direction : bool
        Gravity from a direction uniform on the sphere.
    interior_grasp : bool
        Accept normals that all point away from the center of mass, as in a ring held from inside.
    hand : str
        "auto" (by the arrays of the set), "ideal", "compliant" or "whole".
    command : float or distribution
        Factor on the commanded forces or torques.
    grip_force_error, torque_error : float or distribution
        Added to each normal force [N], or to each joint torque of a whole hand [N m].
    imbalance : float
        Largest fraction of the wrench that the command may leave unbalanced.
    acceleration : float
        Largest acceleration of a contact at rest [m/s^2].
    check_uniqueness : bool
        Search a second solution of each contact problem.
    samples : int
        Samples per grasp; with `best` the maximum.
    friction_samples : int
        First samples for which the required friction is computed.
    radius_samples : int
        First samples for the resisted force radius of an ideal hand with force limits; -1: a twentieth of friction_samples.
    best : int
        Number of best grasps wanted; others are dropped early. 0: rank all.
    confidence : float
        Probability that no true best grasp is dropped; `Ranking.decided` says if the best were found.
    seed : int
        Seed of the draws.
    device : str
        "auto", "cpu", "scalar", "cuda", "cuda:1".
    threads : int
        CPU threads; 0: all.
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
        As GraspSet.from_arrays().

    Examples
    --------
    >>> ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.3, 0.8), force=garra.ball(2.0))
    >>> ranking.best
    """
    offset = com if isinstance(com, Ball) else Ball(0.0)
    parts = {
        "friction": None if _is_drawn(friction) else friction,
        "mass": None if _is_drawn(mass) else mass,
        "com": None if isinstance(com, Ball) else com,
        **others,
    }
    candidates = _set_of(grasps, points, normals, {k: v for k, v in parts.items() if v is not None})
    if "friction" not in candidates.arrays and (not _is_drawn(friction) or friction.relative):
        raise _core.UsageError(
            "rank() without friction: the set has none\n"
            "Give friction=0.5, an array [G, k], garra.uniform(0.3, 0.8) or garra.normal(0.5, 0.1)."
        )
    common, own, friction_is_factor = _friction(friction)
    uncertain = {
        "friction": common,
        "per_contact_friction_factor": own,
        "friction_is_factor": friction_is_factor,
        "mass": _tuple(mass, 0.0) if _is_drawn(mass) else _CONSTANT_ONE,
        "mass_is_factor": mass.relative if _is_drawn(mass) else True,
        "com_radius": offset.radius,
        "slide": _tuple(slide if _is_drawn(slide) else Normal(0.0, finite("slide", slide), -np.inf, np.inf)),
        "tilt": ("cone", real("tilt", tilt, 0), 0.0, 0.0, 0.0) if tilt else ("constant", 0.0, 0.0, 0.0, 0.0),
        "force_radius": _radius("force", force),
        "torque_radius": _radius("torque", torque),
        "wrenches": [] if wrenches is None else np.atleast_2d(numbers("wrenches", wrenches)).tolist(),
        "random_gravity_direction": bool(random_gravity_direction),
        "interior_grasp": bool(interior_grasp),
        "hand": hand,
        "command": _tuple(command) if _is_drawn(command) else ("constant", finite("command", command), 0.0, 0.0, 0.0),
        "grip_force_error": _tuple(grip_force_error)
        if _is_drawn(grip_force_error)
        else ("constant", finite("grip_force_error", grip_force_error), 0.0, 0.0, 0.0),
        "torque_error": _tuple(torque_error)
        if _is_drawn(torque_error)
        else ("constant", finite("torque_error", torque_error), 0.0, 0.0, 0.0),
        "held_imbalance": real("imbalance", imbalance),
        "held_acceleration": real("acceleration", acceleration),
        "check_uniqueness": bool(check_uniqueness),
        "samples": whole("samples", samples, 1, 2**63 - 1),
        "friction_samples": whole("friction_samples", friction_samples, 0, 2**63 - 1),
        "radius_samples": whole("radius_samples", radius_samples, -1, 2**63 - 1),
        "best": whole("best", best, 0, 2**63 - 1),
        "confidence": real("confidence", confidence),
        "seed": check_seed(seed),
    }
    start = time.perf_counter()
    columns = _core.grasp_set_rank(
        candidates.first,
        candidates._arrays(),
        uncertain,
        *place(device, threads),
        grasps_listener(progress, len(candidates.first) - 1),
    )
    return Ranking(
        candidates=candidates,
        study=_said(uncertain),
        seconds=time.perf_counter() - start,
        uncertain=uncertain,
        **columns,
    )


def _changed(
    of: GraspSet, grasp: int, uncertain: dict[str, Any], share: float, move: float
) -> tuple[list[str], list[dict[str, np.ndarray]]]:
    """Names of the changes of a grasp, and its arrays with each change."""
    begin, end = int(of.first[grasp]), int(of.first[grasp + 1])
    rows = {**dict.fromkeys(_OF_CONTACTS, 1), "mobility": 1, "angular_mobility": 1, "jacobian": 3, "angular_jacobian": 3}
    arrays = {
        name: array[rows[name] * begin : rows[name] * end] if name in rows else array[grasp : grasp + 1]
        for name, array in of.arrays.items()
    }
    names, sets = ["as it is"], [arrays]

    def add(name: str, changed: dict[str, np.ndarray]) -> None:
        names.append(name)
        sets.append({**arrays, **changed})

    factors = [("command", ("force", "torsion", "torque")), ("force limits", ("force_limit",))]
    factors += [("friction", ("friction",))] if uncertain["friction_is_factor"] else []
    for name, parts in factors:
        if found := [part for part in parts if part in arrays]:
            add(f"{name} x {1 + share:g}", {part: (1 + share) * arrays[part] for part in found})
    if "mass" in arrays and uncertain["mass_is_factor"]:
        less = ("mass", "inertia") if "inertia" in arrays else ("mass",)
        add(f"mass x {1 - share:g}", {part: (1 - share) * arrays[part] for part in less})
    for j in range(end - begin) if "jacobian" not in arrays else ():
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
    return names, sets


def _names() -> tuple[str, ...]:
    return ("first", *_OF_CONTACTS, *_OF_GRASPS, *_OF_HANDS)


def _of_hand(name: str, value: Any, lead: tuple[int, ...], grasps: int, joints: tuple[int, ...]) -> np.ndarray:
    """Array of _OF_HANDS in the shape of a file. lead: axes of contacts; joints: (nq,), or () without a jacobian."""
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
    moves = values > redundant.NULL * max(values[-1], 0)
    root = np.sqrt(values[moves])
    return vectors[:, moves] * root, vectors[:, moves].T / root[:, None]


def _is_drawn(value: Any) -> bool:
    return isinstance(value, Uniform | Normal)


def _radius(name: str, given: Ball | None) -> float:
    if given is None:
        return 0.0
    if not isinstance(given, Ball):
        raise TypeError(
            f"{name}: garra.ball(radius) is needed, not {given!r}; a constant one is part of wrench, and commanded "
            "forces are part of a Set"
        )
    return given.radius


def _said(uncertain: dict[str, Any]) -> dict[str, Any]:
    """As `garra grasp rank` writes it into a ranking's file."""
    said = {key: _text(value) if isinstance(value, tuple) else value for key, value in uncertain.items()}
    said["slide_t"] = said["slide_o"] = said.pop("slide")
    # The median, but for a normal distribution that is cut off askew.
    middle = {"uniform": lambda a, b: (a + b) / 2}
    for key in ("friction", "per_contact_friction_factor"):
        kind, a, b = uncertain[key][:3]
        said[f"{key}_nominal"] = middle.get(kind, lambda a, _: a)(a, b)
    return said


def _text(drawn: tuple[str, float, float, float, float]) -> str:
    """normal(0.5, 0.1)"""
    kind, a, b, low, high = drawn
    if kind in ("constant", "cone"):
        return f"{float(a)}" if kind == "constant" else f"cone({float(a)})"
    # Ends that _tuple() gives to a distribution that has none do not cut it.
    cut = kind == "normal" and min(a - low, high - a) < 8 * b
    return f"{kind}({float(a)}, {float(b)})" + (", truncated" if cut else "")


def _tuple(drawn: Uniform | Normal, least: float = -np.inf) -> tuple[str, float, float, float, float]:
    """As the compiled module takes it; a normal distribution is cut off at `least` at the latest."""
    if isinstance(drawn, Uniform):
        if drawn.low < least:
            raise ValueError(f"{drawn}: below {least:g}")
        return "uniform", drawn.low, drawn.high, 0.0, 0.0
    if drawn.sd == 0:
        return "constant", drawn.mean, 0.0, 0.0, 0.0
    low, high = max(drawn.min, least), drawn.max
    # Ends that no draw reaches: a normal distribution has none of its own.
    far = 40 * drawn.sd
    return (
        "normal",
        drawn.mean,
        drawn.sd,
        low if isfinite(low) else drawn.mean - far,
        high if isfinite(high) else drawn.mean + far,
    )


def _friction(friction: Any) -> tuple[tuple, tuple, bool]:
    """Friction distributions common to all contacts and per contact, and whether they are factors on the set's."""
    if not _is_drawn(friction):
        return _CONSTANT_ONE, _CONSTANT_ONE, True
    drawn = _tuple(friction, 0.0)
    return (drawn, _CONSTANT_ONE, friction.relative) if friction.common else (_CONSTANT_ONE, drawn, friction.relative)


def _set_of(grasps: Any, points: Any, normals: Any, parts: dict[str, Any]) -> GraspSet:
    if grasps is None:
        if points is None or normals is None:
            raise TypeError("rank() needs a set of grasps, or points and normals")
        return GraspSet.from_arrays(points, normals, **parts)
    if points is not None or normals is not None:
        raise TypeError("rank() takes a set of grasps, or points and normals, not both")
    if isinstance(grasps, list | tuple):
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
    return GraspSet.from_arrays(kept["point"], kept["normal"], **known, **{**arrays, **parts})
