"""Sets of candidate grasps, and which of them holds best (docs/theory/grasp-sets.md)."""

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
from garra.arguments import finite, numbers, place, positive, real, seed_of, whole, whole_numbers
from garra.grasp import ranking_file, ranking_folder, redundant
from garra.grasp.ranking_file import NPZ_ERRORS, is_npz, mesh_of, names_of, sound_mesh
from garra.grasp.robustness import ACCELERATION
from garra.page.outcomes import said_of
from garra.renamed import accept_old
from garra.study.distributions import Ball, Normal, Uniform
from garra.study.run import RESULTS, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

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
# Of a hand that is not ideal; their shapes depend on one another.
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


class Set:
    """G candidate grasps of k contacts each, or of any numbers of contacts; SI units, axes of the object's.

    A grasp is contact points, normals into the object and friction coefficients; mass, centre of mass, gravity
    (default: (0, 0, -9.81) m/s^2) and wrench say what it has to hold. Without more the hand is ideal: it presses with
    any forces that friction and force_limit allow; with torsion_radius its contacts are soft fingers. With mobility and
    force it is compliant, with jacobian, mass_matrix and torque (or force) a whole hand: then it has a command, and that
    has to hold the object; torque_limit limits its motors.
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
        """[G+1] rows of each grasp"""
        self.arrays = arrays
        """By name, as in a file: point, normal [m, 3], friction [m], ..., mass [G], ..."""
        self.mesh = mesh
        """Vertices [v, 3] and triangles [f, 3] of the object, for pictures and for grasps from within"""
        self.names = names
        """Of the grasps, for what is printed and for reports"""
        self.contact_names = contact_names
        """Of the rows of contacts [m], for the same"""
        self.about: dict[str, Any] = {}
        """Of a set that propose() made: samples drawn, fate (what became of them), mesh, warning"""
        self.sample: np.ndarray | None = None
        """Of a set that propose() made: [G] number of the sample that each grasp is"""

    def _arrays(self) -> dict[str, np.ndarray]:
        """All that a ranking reads."""
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
    ) -> Set:
        """points, normals: [G, k, 3], or [m, 3] with first [G+1], the first row of each grasp and the number of rows.

        friction: a number, [G, k] or [m]. others: tangent, curvature, force_limit of contacts; torsion_radius r of soft
        ones [m], |(c_t, c_o, tau / r)| <= friction c_n with the moment tau about the normal; mass [G] or a number,
        com [G, 3] or [3], inertia, gravity, wrench of grasps (force; moment about com). A compliant hand: mobility, a
        number, one for each contact, or [..., 3, 3] in the object's axes [1/kg]; force [..., 3], the commanded (n, t,
        o) [N]. A whole hand: jacobian [G, k, 3, nq] (or [G, 3 k, nq], [m, 3, nq], [3 m, nq]), the velocity of the
        contact points in the object's axes; mass_matrix [nq, nq] or [G, nq, nq]; torque, bias [nq] or [G, nq], or
        force; torque_limit [nq] or [G, nq] of the motors, numpy.inf where there is none. Soft contacts of such hands:
        torsion, the moment about the normal that goes with force [N m]; angular_mobility as mobility, of moments
        [1/(kg m^2)], or angular_jacobian as jacobian, the angular velocity of what touches there. mesh: the object's vertices
        [v, 3] and triangles [f, 3], counterclockwise from outside, for pictures and for grasps from within, whose
        normals all point away from the centre of mass. For what is printed and for reports: names, a text for each
        grasp, and contact_names, [G, k] or [m] texts.
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
    def from_grasps(cls, grasps: Sequence[Grasp], **others: Any) -> Set:
        """Grasps of whole hands out of `garra.grasp.from_mujoco` (world axes): one of each, in any number of contacts.

        Their joints are those that move the contacts: as many as A_h = J M^-1 J^T has rank, with unit inertia, and the
        torques are all that moves the hand, its own weight included. What the hand leans on at this instant
        (`Grasp.props`) is taken as fixed to it.
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
    ) -> Set:
        """Grasps as data sets have them: points and normals in world axes, and the object's pose there.

        pose: [4, 4] or [G, 4, 4], of the object's axes in those of the points; scale: metres in the unit of points and
        of the pose's translation. gravity: in world axes, [3] or [G, 3]; the set's is in the object's. The rest is as
        in from_arrays(), in SI units and the object's axes; normals have to point into the object.
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
    def from_hdf5(cls, path: str | PathLike[str]) -> Set:
        """A file as `garra grasp rank` reads it: the arrays by their names."""
        import h5py

        with h5py.File(path) as file:
            read = cls._from_named({name: file[name][()] for name in _names() if name in file}, path)
            return read._with_names(file)

    @classmethod
    def from_npz(cls, path: str | PathLike[str]) -> Set:
        """The same names in a file of numpy.savez or numpy.savez_compressed."""
        try:
            with np.load(path, allow_pickle=False) as file:
                read = cls._from_named({name: file[name] for name in _names() if name in file}, path)
                return read._with_names(file)
        except (FileNotFoundError, IsADirectoryError, PermissionError, _core.FileError):
            raise
        except NPZ_ERRORS as error:
            raise _core.FileError(f"{path}: {error}") from None

    def _with_names(self, file: Any) -> Set:
        """With what a file has for people."""
        self.mesh, self.names = mesh_of(file), names_of(file, "name", len(self))
        self.contact_names = names_of(file, "contact_name", int(self.first[-1]))
        self.sample = file["sample"][()] if "sample" in file else None
        return self

    @classmethod
    def _from_named(cls, arrays: dict[str, np.ndarray], path: Any) -> Set:
        for name in ("point", "normal"):
            if name not in arrays:
                raise _core.FileError(f"{path}: {name} is missing")
        try:
            return cls.from_arrays(arrays.pop("point"), arrays.pop("normal"), **arrays)
        except (ValueError, TypeError) as error:
            raise _core.FileError(f"{path}: {error}") from None

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a file that `garra grasp rank` reads: NPZ where its name ends in .npz, else HDF5."""
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
    """One of everything for each grasp; NaN and rank 0 where its status is not "ranked"."""

    p_held: np.ndarray  #: [G] share of samples that are held (docs/theory/grasp-sets.md)
    low: np.ndarray  #: [G] 95 % interval of p_held (Clopper-Pearson)
    high: np.ndarray  #: [G]
    difference: np.ndarray  #: [G] p_held less the best grasp's, of the same draws
    difference_low: np.ndarray  #: [G] its 95 % interval
    difference_high: np.ndarray  #: [G]
    critical_friction: np.ndarray  #: [G, 3] 5, 50, 95 % of the least coefficient that would do; inf: none up to 10
    p_no_slip: np.ndarray  #: [G] share of samples in which every contact sticks; NaN of an ideal hand
    p_can_be_held: np.ndarray  #: [G] share in which some forces inside the cones balance the wrench
    margin: np.ndarray  #: [G, 3] 5, 50, 95 % of the smallest friction margin; NaN of an ideal hand
    wrench_radius: np.ndarray  #: [G] median of the push that may be added in any direction [N]; NaN: ideal, no limit
    fails_first: np.ndarray  #: [G] contact of the grasp, from 0, that fails most often; -1: none does
    non_unique: np.ndarray  #: [G] samples with another certified solution that moves otherwise
    outcomes: np.ndarray  #: [G, 9] samples of each of OUTCOMES
    rank: np.ndarray  #: [G] 1 is the best
    status: np.ndarray  #: [G] index in STATUS
    held: np.ndarray  #: [G] samples
    unsolved: np.ndarray  #: [G] samples that were not decided
    samples: np.ndarray  #: [G] of each grasp
    hand: str = "ideal"  #: what the set was ranked with: "ideal", "compliant" or "whole"
    decided: bool = True  #: the best that were asked for are surely found
    candidates: Set | None = None  #: what was ranked
    study: dict[str, Any] = field(default_factory=dict)  #: what was uncertain, as a ranking's file says it
    seconds: float | None = None
    uncertain: dict[str, Any] = field(default_factory=dict)  #: the same as study, as replay() needs it

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Ranking:
        """What `garra grasp rank -o` or a run has written, with its set where that has not changed. Its samples are
        replayed by `garra replay`."""
        found = ranking_file.read(path)
        grasps = found.grasps
        return cls(
            **found.columns,
            hand=found.hand,
            decided=found.decided,
            candidates=Set(grasps.first, grasps.arrays, grasps.mesh, grasps.names, grasps.contact_names)
            if grasps
            else None,
            study=found.study,
            seconds=found.seconds,
        )

    @property
    def order(self) -> np.ndarray:
        """Grasps that have a rank, the best first."""
        ranked = np.flatnonzero(self.rank > 0)
        return ranked[np.argsort(self.rank[ranked], kind="stable")]

    @property
    def best(self) -> int:
        """The grasp with rank 1."""
        order = self.order
        if not len(order):
            raise ValueError("no grasp of this set could be ranked: status says why")
        return int(order[0])

    @property
    def refused(self) -> dict[str, int]:
        """How many grasps are not ranked, by reason."""
        return {name: int((self.status == k).sum()) for k, name in enumerate(STATUS) if k and (self.status == k).any()}

    def name(self, grasp: int) -> str:
        """can (grasp 38); grasp 38 where the set has no names."""
        return ranking_file.name_of(self.candidates.names if self.candidates else None, grasp)

    def contact_name(self, grasp: int, contact: int) -> str:
        """Of a contact of a grasp, both from 0: its name in the set, else contact 0; none: -1."""
        if contact < 0:
            return "none"
        names = self.candidates.contact_names if self.candidates else None
        return ranking_file.contact_name_of(names, self.candidates.first if names else None, grasp, contact)

    def replay(self, grasp: int | None = None, sample: int = 0) -> Replay:
        """One sample of one grasp (the best), in full: what was drawn, contacts, forces, outcome, margins. It prints a
        line for each contact."""
        if self.candidates is None or not self.uncertain:
            raise ValueError("this ranking does not know its set")
        which = self.best if grasp is None else grasp
        found = _core.grasp_set_replay(
            self.candidates.first, self.candidates._arrays(), self.uncertain, whole("grasp", which), whole("sample", sample, 0, 2**63 - 1)
        )
        contacts = [self.contact_name(which, j) for j in range(len(found["point"]))]
        return Replay(found, title=f"{self.name(which)}, sample {sample}", contacts=contacts)

    def outcomes_of(self, grasp: int) -> dict[str, int]:
        """Samples of each outcome of a grasp, those that there are."""
        return {name: int(n) for name, n in zip(OUTCOMES, self.outcomes[grasp], strict=True) if n}

    def variants(
        self, grasp: int | None = None, *, share: float = 0.2, move: float = 0.005, device: str = "auto", threads: int = 0
    ) -> Ranking:
        """What would help most: a grasp (the best) as it is and with one thing changed, ranked on the same draws.

        What the grasp has of command (force, torsion, torque), force limits, friction and mass becomes `share` more, the
        mass less; friction and mass only where the study draws a factor on them. A contact of a hand without a jacobian
        also moves by `move` [m] along the surface in both directions, by its curvature where it is known. `name()` says
        what was changed; differences are to the best of them.
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
        changed = Set(first, parts, one.mesh, names, contacts)
        columns = _core.grasp_set_rank(first, changed._arrays(), self.uncertain, *place(device, threads))
        return Ranking(candidates=changed, study=self.study, uncertain=self.uncertain, **columns)

    def to_pandas(self) -> pandas.DataFrame:
        """A row a grasp, by its index in the set, the best first."""
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
                "critical_friction": self.critical_friction[:, 1],
                "p_no_slip": self.p_no_slip,
                "p_can_be_held": self.p_can_be_held,
                "margin": self.margin[:, 1],
                "wrench_radius": self.wrench_radius,
                "fails_first": self.fails_first,
                "non_unique": self.non_unique,
                "unsolved": self.unsolved,
                "status": pandas.Categorical.from_codes(self.status.astype(int), list(STATUS)),
            },
            index=pandas.Index(np.arange(len(self.rank)), name="grasp"),
        )
        if self.candidates and self.candidates.names:
            frame.insert(0, "name", self.candidates.names)
        if self.candidates and self.candidates.contact_names:
            frame["fails_first_name"] = [self.contact_name(g, int(j)) for g, j in enumerate(self.fails_first)]
        return frame.iloc[np.concatenate([self.order, np.flatnonzero(self.rank == 0)])]

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """What to_pandas() gives, with held, samples and all quantiles of the friction needed, as a Parquet file."""
        try:
            import pandas
            import pyarrow  # noqa: F401  what pandas writes it with
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"to_parquet() needs {error.name}: pip install pandas pyarrow", name=error.name
            ) from None
        frame = self.to_pandas().drop(columns=["critical_friction", "margin"])
        rows = frame.index
        quantiles = {
            f"{name}_{q}": pandas.Series(getattr(self, name)[rows, k], index=rows)
            for name in ("critical_friction", "margin")
            for k, q in enumerate((5, 50, 95))
        }
        frame.assign(**quantiles, held=self.held[rows], samples=self.samples[rows]).to_parquet(path, engine="pyarrow")

    def report(self, path: str | PathLike[str], title: str = "") -> Path:
        """Writes the page of this ranking, one HTML file: table, distributions, pictures of the grasps."""
        from garra.grasp import ranking_report
        from garra.page import html

        output = Path(path)
        html.write(ranking_report.build(self._found(title)), output)
        return output

    def _found(self, title: str) -> ranking_file.Found:
        set_ = self.candidates
        return ranking_file.Found(
            columns={name: np.asarray(getattr(self, name)).astype(t) for name, (_, t) in ranking_file.COLUMNS.items()},
            statuses={name: said_of(words) for name, words in _core.grasp_statuses.items()},
            outcomes={name: said_of(words) for name, words in _core.grasp_outcomes.items()},
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
        """P(held) of the best grasps with 95 % intervals, on matplotlib axes, which are returned."""
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
    """A sample of a grasp by the names of its parts; `contacts` has the names of the contacts."""

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
    """A finished run of a set of grasps: `ranking`, beside what every run has (docs/theory/grasp-sets.md)."""

    @cached_property
    def ranking(self) -> Ranking:
        """Read when it is first asked for."""
        return Ranking.read(self.folder / ranking_folder.RANKING)


RESULTS["grasp_set"] = RankedRun


@accept_old
def rank(
    grasps: Set | Sequence[Grasp] | str | PathLike[str] | None = None,
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
    any_gravity: bool = False,
    from_within: bool = False,
    hand: str = "auto",
    command: Any = 1.0,
    squeeze_error: Any = 0.0,
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
    **others: Any,
) -> Ranking:
    """How probably each candidate grasp holds, and their order.

    grasps: a Set, grasps out of garra.grasp.from_mujoco, or a file (HDF5, NPZ); or points, normals and `others` as Set.from_arrays() takes them. friction,
    mass: numbers, arrays of the set, or garra.uniform(), garra.normal() (the value itself), garra.scale() (a factor on
    the set's). com: the set's centres of mass, or garra.ball() for how far they are off [m]. slide: standard deviation,
    or distribution, of contact points along the surface in both directions [m]. tilt: half angle of a cone that the
    true normals lie in, uniformly [rad]. force, torque: garra.ball() of disturbances [N, N m]. wrenches: [n, 6]
    (force; moment about the centre of mass), one of which acts besides, at random. any_gravity: from a direction
    uniform on the sphere. from_within: normals of a set without its mesh may all point away from the centre
    of mass, as in a ring held from within. hand: "auto" (what the set has arrays of), "ideal", "compliant" or "whole";
    of the
    last two: command, a factor on the commanded forces or torques, squeeze_error, added to the normal force of each
    contact [N], and torque_error, added to each joint's torque of a whole hand [N m], numbers or distributions; imbalance, how much of the wrench the command may leave; acceleration [m/s^2] of a contact at rest;
    check_uniqueness,
    whether a second solution of a contact problem is looked for. Sample i has the same draws in every grasp.
    `friction_samples` of the samples are also asked for the least friction coefficient that would do, `radius_samples`
    (-1: a twentieth of those) for the wrench radius, where the hand is ideal and the set has force limits. best: only so
    many best grasps are wanted; a grasp that is surely not among them is given up, which takes a fraction of the
    samples (`samples` is the most of a grasp). With this confidence none of the true best is given up; `decided` says
    whether the others are.
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
        "own_friction": own,
        "friction_is_factor": friction_is_factor,
        "mass": _tuple(mass, 0.0) if _is_drawn(mass) else _CONSTANT_ONE,
        "mass_is_factor": mass.relative if _is_drawn(mass) else True,
        "com_ball": offset.radius,
        "slide": _tuple(slide if _is_drawn(slide) else Normal(0.0, finite("slide", slide), -np.inf, np.inf)),
        "tilt": ("cone", real("tilt", tilt, 0), 0.0, 0.0, 0.0) if tilt else ("constant", 0.0, 0.0, 0.0, 0.0),
        "force_ball": _radius("force", force),
        "torque_ball": _radius("torque", torque),
        "wrenches": [] if wrenches is None else np.atleast_2d(numbers("wrenches", wrenches)).tolist(),
        "any_gravity": bool(any_gravity),
        "from_within": bool(from_within),
        "hand": hand,
        "command": _tuple(command) if _is_drawn(command) else ("constant", finite("command", command), 0.0, 0.0, 0.0),
        "squeeze_error": _tuple(squeeze_error)
        if _is_drawn(squeeze_error)
        else ("constant", finite("squeeze_error", squeeze_error), 0.0, 0.0, 0.0),
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
        "seed": seed_of(seed),
    }
    start = time.perf_counter()
    columns = _core.grasp_set_rank(candidates.first, candidates._arrays(), uncertain, *place(device, threads))
    return Ranking(
        candidates=candidates,
        study=_said(uncertain),
        seconds=time.perf_counter() - start,
        uncertain=uncertain,
        **columns,
    )


def _changed(
    of: Set, grasp: int, uncertain: dict[str, Any], share: float, move: float
) -> tuple[list[str], list[dict[str, np.ndarray]]]:
    """Names of changes of a grasp, and its arrays with each of them."""
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
        contact = ranking_file.contact_name_of(of.contact_names, of.first, grasp, j)
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
    """One of _OF_HANDS as a file has it. lead: the axes of contacts; joints: (nq,), () without a jacobian."""
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
    for key in ("friction", "own_friction"):
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
    """Of all contacts, of each contact, and whether they are factors on the set's."""
    if not _is_drawn(friction):
        return _CONSTANT_ONE, _CONSTANT_ONE, True
    drawn = _tuple(friction, 0.0)
    return (drawn, _CONSTANT_ONE, friction.relative) if friction.common else (_CONSTANT_ONE, drawn, friction.relative)


def _set_of(grasps: Any, points: Any, normals: Any, parts: dict[str, Any]) -> Set:
    if grasps is None:
        if points is None or normals is None:
            raise TypeError("rank() needs a set of grasps, or points and normals")
        return Set.from_arrays(points, normals, **parts)
    if points is not None or normals is not None:
        raise TypeError("rank() takes a set of grasps, or points and normals, not both")
    if isinstance(grasps, list | tuple):
        grasps = Set.from_grasps(grasps)
    if isinstance(grasps, np.ndarray):
        raise TypeError("rank() takes arrays by their names: rank(points=..., normals=..., friction=...)")
    if not isinstance(grasps, Set):
        grasps = Set.from_npz(grasps) if is_npz(grasps) else Set.from_hdf5(grasps)
    if not parts:
        return grasps
    # What is given here stands in place of the set's.
    arrays = dict(grasps.arrays)
    kept = {name: arrays.pop(name) for name in ("point", "normal")}
    known = {"first": grasps.first, "mesh": grasps.mesh, "names": grasps.names, "contact_names": grasps.contact_names}
    return Set.from_arrays(kept["point"], kept["normal"], **known, **{**arrays, **parts})
