"""Sets of candidate grasps, and which of them holds best (docs/grasp-sets.md)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from garra import _core
from garra.study.distributions import Ball, Normal, Uniform

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

STATUS: tuple[str, ...] = _core.grasp_statuses
"""Names of the numbers in Ranking.status; 0 is "ranked"."""

# Name: shape of one contact's, and of one grasp's, part.
_OF_CONTACTS = {"point": (3,), "normal": (3,), "tangent": (3,), "friction": (), "curvature": (2,), "force_limit": ()}
_OF_GRASPS = {"mass": (), "com": (3,), "inertia": (3, 3), "gravity": (3,), "wrench": (6,)}
_CONSTANT_ONE = ("constant", 1.0, 0.0, 0.0, 0.0)


class Set:
    """G candidate grasps of k contacts each, or of any numbers of contacts; SI units, axes of the object's.

    A grasp is contact points, normals into the object and friction coefficients; mass, centre of mass, gravity
    (default: (0, 0, -9.81) m/s^2) and wrench say what it has to hold. The hand is ideal: it presses with any forces
    that friction and force_limit allow.
    """

    def __init__(self, first: np.ndarray, arrays: dict[str, np.ndarray]) -> None:
        self.first = first
        """[G+1] rows of each grasp"""
        self.arrays = arrays
        """By name, as in a file: point, normal [m, 3], friction [m], ..., mass [G], ..."""
        self.object: tuple[np.ndarray, np.ndarray] | None = None
        """The object's mesh, where it is known: vertices [v, 3], faces [f, 3]"""
        self.about: dict[str, Any] = {}
        """Of a set that propose() made: samples drawn, fate (what became of them), mesh, warning"""
        self.sample: np.ndarray | None = None
        """Of a set that propose() made: [G] number of the sample that each grasp is"""

    @classmethod
    def from_arrays(cls, points: Any, normals: Any, friction: Any = None, *, first: Any = None, **others: Any) -> Set:
        """points, normals: [G, k, 3], or [m, 3] with first [G+1], the first row of each grasp and the number of rows.

        friction: a number, [G, k] or [m]. others: tangent, curvature, force_limit of contacts; mass [G] or a number,
        com [G, 3] or [3], inertia, gravity, wrench of grasps (force; moment about com).
        """
        points = np.asarray(points, dtype=np.float64)
        if points.ndim != (3 if first is None else 2) or points.shape[-1] != 3:
            expected = "[G, k, 3] (or [m, 3] with first)" if first is None else "[m, 3]"
            raise ValueError(f"points has the shape {points.shape}, not {expected}")
        lead = points.shape[:-1]
        if first is None:
            first = np.arange(lead[0] + 1, dtype=np.int64) * lead[1]
        first = np.ascontiguousarray(first, dtype=np.int64)
        if first.ndim != 1 or not len(first):
            raise ValueError(f"first has the shape {first.shape}, not [G+1]")
        given = {"point": points, "normal": normals, "friction": friction, **others}
        unknown = given.keys() - _OF_CONTACTS.keys() - _OF_GRASPS.keys()
        if unknown:
            raise TypeError(f"no such part of a set: {', '.join(sorted(unknown))}")
        arrays = {}
        for name, value in given.items():
            if value is None:
                continue
            tail = _OF_CONTACTS.get(name)
            shape = (len(first) - 1, *_OF_GRASPS[name]) if tail is None else (*lead, *tail)
            try:
                array = np.broadcast_to(np.asarray(value, dtype=np.float64), shape)
            except ValueError:
                raise ValueError(f"{name} has the shape {np.shape(value)}, not {list(shape)}") from None
            rows = shape if tail is None else (int(np.prod(lead)), *tail)
            arrays[name] = np.ascontiguousarray(array.reshape(rows))
        return cls(first, arrays)

    @classmethod
    def from_hdf5(cls, path: str | PathLike[str]) -> Set:
        """A file as `garra grasp rank` reads it: the arrays by their names."""
        import h5py

        with h5py.File(path) as file:
            out = cls._from_named({name: file[name][()] for name in _names() if name in file}, path)
            if "object/vertex" in file and "object/face" in file:
                out.object = file["object/vertex"][()], file["object/face"][()]
            if "sample" in file:
                out.sample = file["sample"][()]
        return out

    @classmethod
    def from_npz(cls, path: str | PathLike[str]) -> Set:
        """The same names in a file of numpy.savez."""
        with np.load(path, allow_pickle=False) as file:
            return cls._from_named({name: file[name] for name in _names() if name in file}, path)

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
        """Writes a file that `garra grasp rank` and from_hdf5() read."""
        import h5py

        with h5py.File(path, "w") as file:
            file["first"] = self.first
            for name, array in self.arrays.items():
                file[name] = array
            if self.object is not None:
                file["object/vertex"], file["object/face"] = self.object
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


@dataclass(frozen=True, repr=False)
class Ranking:
    """One of everything for each grasp; NaN and rank 0 where its status is not "ranked"."""

    p_held: np.ndarray  #: [G] share of samples in which forces inside the cones balance the wrench
    low: np.ndarray  #: [G] 95 % interval of p_held (Wilson's)
    high: np.ndarray  #: [G]
    difference: np.ndarray  #: [G] p_held less the best grasp's, of the same draws
    difference_low: np.ndarray  #: [G] its 95 % interval
    difference_high: np.ndarray  #: [G]
    critical_friction: np.ndarray  #: [G, 3] 5, 50, 95 % of the least coefficient that would do; inf: none up to 10
    rank: np.ndarray  #: [G] 1 is the best
    status: np.ndarray  #: [G] index in STATUS
    held: np.ndarray  #: [G] samples
    unsolved: np.ndarray  #: [G] samples that were not decided
    samples: int  #: of each grasp

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
                "unsolved": self.unsolved,
                "status": pandas.Categorical.from_codes(self.status.astype(int), list(STATUS)),
            },
            index=pandas.Index(np.arange(len(self.rank)), name="grasp"),
        )
        return frame.iloc[np.concatenate([self.order, np.flatnonzero(self.rank == 0)])]

    def plot(self, ax: Axes | None = None, most: int = 20) -> Axes:
        """P(held) of the best grasps with 95 % intervals, on matplotlib axes, which are returned."""
        import matplotlib.pyplot as plt

        if ax is None:
            ax = plt.subplots()[1]
        shown = self.order[:most]
        p = self.p_held[shown]
        errors = np.abs(np.stack([p - self.low[shown], self.high[shown] - p]))
        ax.errorbar(p, np.arange(len(shown)), xerr=errors, fmt="o", capsize=3)
        ax.set_yticks(np.arange(len(shown)), [f"grasp {g}" for g in shown])
        ax.invert_yaxis()
        ax.set_xlabel("P(held), 95 % interval")
        return ax

    def __repr__(self) -> str:
        lines = [f"<Ranking: {len(self.order):,} of {len(self.rank):,} grasps, {self.samples:,} samples each"]
        for g in self.order[:3]:
            lines.append(
                f"  {self.rank[g]}. grasp {g}: P(held) = {self.p_held[g]:.4f} [{self.low[g]:.4f}, {self.high[g]:.4f}]"
            )
        lines += [f"  {count:,} {name.replace('_', ' ')}" for name, count in self.refused.items()]
        return "\n".join(lines) + ">"


def rank(
    grasps: Set | str | PathLike[str] | None = None,
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
    any_gravity: bool = False,
    samples: int = 1000,
    friction_samples: int = 100,
    seed: int = 1,
    device: str = "auto",
    threads: int = 0,
    **others: Any,
) -> Ranking:
    """How probably each candidate grasp of an ideal hand holds, and their order.

    grasps: a Set, or a file (.h5, .npz); or points, normals and `others` as Set.from_arrays() takes them. friction, mass:
    numbers, arrays of the set, or garra.uniform(), garra.normal() (the value itself), garra.scale() (a factor on the
    set's). com: the set's centres of mass, or garra.ball() for how far they are off [m]. slide: standard deviation, or
    distribution, of contact points along the surface in both directions [m]. tilt: half angle of a cone that the true
    normals lie in, uniformly [rad]. force, torque: garra.ball() of disturbances [N, N m]. any_gravity: from a direction
    uniform on the sphere. Sample i has the same draws in every grasp. `friction_samples` of the samples are also asked
    for the least friction coefficient that would do.
    """
    offset = com if isinstance(com, Ball) else Ball(0.0)
    parts = {
        "friction": None if _is_drawn(friction) else friction,
        "mass": None if _is_drawn(mass) else mass,
        "com": None if isinstance(com, Ball) else com,
        **others,
    }
    candidates = _set_of(grasps, points, normals, {k: v for k, v in parts.items() if v is not None})
    common, own, friction_is_factor = _friction(friction)
    uncertain = {
        "friction": common,
        "own_friction": own,
        "friction_is_factor": friction_is_factor,
        "mass": _tuple(mass, 0.0) if _is_drawn(mass) else _CONSTANT_ONE,
        "mass_is_factor": mass.relative if _is_drawn(mass) else True,
        "com_ball": offset.radius,
        "slide": _tuple(slide if _is_drawn(slide) else Normal(0.0, float(slide), -np.inf, np.inf)),
        "tilt": ("cone", float(tilt), 0.0, 0.0, 0.0) if tilt else ("constant", 0.0, 0.0, 0.0, 0.0),
        "force_ball": _radius("force", force),
        "torque_ball": _radius("torque", torque),
        "any_gravity": any_gravity,
        "samples": samples,
        "friction_samples": friction_samples,
        "seed": seed,
    }
    return Ranking(
        samples=samples, **_core.grasp_set_rank(candidates.first, candidates.arrays, uncertain, device, threads)
    )


def _names() -> tuple[str, ...]:
    return ("first", *_OF_CONTACTS, *_OF_GRASPS)


def _is_drawn(value: Any) -> bool:
    return isinstance(value, Uniform | Normal)


def _radius(name: str, given: Ball | None) -> float:
    if given is None:
        return 0.0
    if not isinstance(given, Ball):
        raise TypeError(f"{name}: garra.ball(radius) is needed, not {given!r}; a constant one is part of wrench")
    return given.radius


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
    if not isinstance(grasps, Set):
        grasps = Set.from_npz(grasps) if Path(grasps).suffix == ".npz" else Set.from_hdf5(grasps)
    if not parts:
        return grasps
    # What is given here stands in place of the set's.
    arrays = dict(grasps.arrays)
    kept = {name: arrays.pop(name) for name in ("point", "normal")}
    return Set.from_arrays(kept["point"], kept["normal"], first=grasps.first, **{**arrays, **parts})
