"""Options of sets of candidate grasps and of their ranking (docs/theory/grasp-sets.md)."""

from __future__ import annotations

import json
from dataclasses import fields
from math import erfc, isfinite, sqrt
from typing import Any

import numpy as np

from garra import _core
from garra.arguments import check_seed, finite, numbers, place, real, whole
from garra.options import from_table
from garra.study.distributions import Ball, Normal, Uniform


def constant(value: float) -> tuple[str, float, float, float, float]:
    """As the compiled module takes a number that is not drawn."""
    return "constant", value, 0.0, 0.0, 0.0


_AXES = {name: (per_contact, axes, or_number) for name, per_contact, axes, or_number, _ in _core.grasp_set_arrays}
_LEAST_KEPT = 1e-6  # of a normal distribution; draws of less would be inexact
_HAND = {name for name, (_, axes, or_number) in _AXES.items() if or_number or -1 in axes}
OF_CONTACTS = {name: axes for name, (per_contact, axes, _) in _AXES.items() if per_contact and name not in _HAND}
"""Shapes of one contact's parts, by name"""
OF_GRASPS = {name: axes for name, (per_contact, axes, _) in _AXES.items() if not per_contact and name not in _HAND}
"""Shapes of one grasp's parts, by name"""
OF_HANDS = tuple(name for name in _AXES if name in _HAND)
"""Names of the arrays of hands that are not ideal; their shapes depend on one another."""


def _array_row(name: str, per_contact: bool, axes: tuple[int, ...], or_number: bool, doc: str) -> dict[str, Any]:
    shape = ", ".join(["m" if per_contact else "G", *("nq" if axis < 0 else str(axis) for axis in axes)])
    takes = f"array_like [{shape}]{' or [m]' if or_number else ''}, optional"
    return {"name": name, "default": None, "takes": takes, "doc": doc}


@from_table(*(_array_row(*row) for row in _core.grasp_set_arrays if row[0] not in ("point", "normal")))
class GraspArrays:
    """Arrays of a set beside contact points and normals, in SI units and object axes.

    Arrays of contacts may be [G, k, ...], or one value for all; those of grasps one for all. A jacobian may be
    [G, k, 3, nq], [G, 3 k, nq] or [3 m, nq]; `force` may replace `torque`.

    Parameters
    ----------
    mesh : (array_like [v, 3], array_like [f, 3]), optional
        Object surface [m], triangles counterclockwise from outside, for pictures and for grasps from inside, whose
        normals all point away from the center of mass.
    names : list of str [G], optional
        Names of the grasps.
    contact_names : array_like [G, k] or [m], optional
        Names of the contacts.
    group_names : list of str, optional
        Names of the numbers in `group`, which may be names itself.
    {rows}

    Examples
    --------
    >>> arrays = garra.grasp.GraspArrays(friction=0.5, mass=0.2)
    >>> points, normals = [[[-0.03, 0, 0], [0.03, 0, 0]]], [[[1, 0, 0], [-1, 0, 0]]]
    >>> garra.grasp.GraspSet.from_arrays(points, normals, arrays=arrays, mass=0.3).arrays["mass"]
    array([0.3])
    """

    mesh: tuple[Any, Any] | None = None
    names: Any = None
    contact_names: Any = None
    group_names: Any = None

    def _given(self) -> dict[str, Any]:
        """Fields that are not None, by name."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) is not None}


def _option_row(option: dict[str, Any]) -> dict[str, Any]:
    takes = "Ball, optional" if option["ball"] else "float or distribution" if option["drawn"] else type(option["default"]).__name__
    unit = f" [{option['unit'].replace('*', ' ')}]" if option["unit"] not in ("", "1") else ""
    doc = option["doc"][0].upper() + option["doc"][1:] + unit + "."
    return {**option, "name": option["keyword"], "key": option["name"], "takes": takes, "doc": doc} | (
        {"default": None} if option["ball"] else {}
    )


_OPTIONS = [_option_row(option) for option in _core.grasp_set_options if option["keyword"]]


@from_table(*_OPTIONS)
class RankOptions:
    """Uncertain inputs and size of a ranking.

    Parameters
    ----------
    friction, mass : float, array_like or distribution, optional
        Numbers, arrays of the set, garra.uniform() or garra.normal() of the value, or garra.scale() of a factor.
    com : array_like or Ball, optional
        Centers of mass, or garra.ball() of their error [m].
    slide : float or distribution
        Error of contact points along the surface in both directions; a number is the standard deviation [m].
    tilt : float
        Half angle of a cone in which the true normals are uniform [rad].
    wrenches : array_like [n, 6], optional
        Additional (force; moment about the center of mass) [N, N m], of which each sample draws one.
    hand : str
        "auto" (by the arrays of the set), "ideal", "compliant" or "whole".
    method : str
        Method for the contact problems of a hand that is not ideal: one of garra.contact.METHODS but "lemke".
    samples : int
        Samples per grasp; with `best` the maximum.
    friction_samples : int
        First samples for which the required friction is computed.
    radius_samples : int
        First samples for the resisted force radius of an ideal hand with force limits; -1: a twentieth of
        `friction_samples`.
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
    {rows}

    Raises
    ------
    garra.UsageError
        For values out of range.
    ValueError, TypeError
        For values of another kind.

    Examples
    --------
    >>> options = garra.grasp.RankOptions(friction=garra.uniform(0.3, 0.8), samples=10_000)
    >>> grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
    >>> garra.grasp.rank(grasps, options, samples=50).samples.tolist()
    [50, 50, 50, 50]
    """

    friction: Any = None
    mass: Any = None
    com: Any = None
    slide: Any = 0.0
    tilt: float = 0.0
    wrenches: Any = None
    hand: str = "auto"
    method: str = "auto"
    samples: int = 1000
    friction_samples: int = 100
    radius_samples: int = -1
    best: int = 0
    confidence: float = 0.95
    seed: int = 1
    device: str = "auto"
    threads: int = 0

    def __post_init__(self) -> None:
        for name, value in (("friction", self.friction), ("mass", self.mass)):
            if value is not None and not is_drawn(value) and np.ndim(value) == 0:
                real(name, finite(name, value), 0)
        self._uncertain()
        place(self.device, self.threads)

    def _of_set(self) -> dict[str, Any]:
        """Arrays that replace those of a set, by name."""
        drawn = {"friction": is_drawn(self.friction), "mass": is_drawn(self.mass), "com": isinstance(self.com, Ball)}
        return {name: getattr(self, name) for name in drawn if not drawn[name] and getattr(self, name) is not None}

    def _uncertain(self) -> dict[str, Any]:
        """Uncertain inputs and sizes as the compiled module takes them."""
        common, own, is_factor = split_friction(self.friction)
        slide = as_tuple(
            self.slide if is_drawn(self.slide) else Normal(0.0, finite("slide", self.slide), -np.inf, np.inf)
        )
        tilt = real("tilt", self.tilt, 0)
        return {
            "friction": common,
            "per_contact_friction_factor": own,
            "friction_is_factor": is_factor,
            "mass": as_tuple(self.mass, 0.0) if is_drawn(self.mass) else constant(1.0),
            "mass_is_factor": self.mass.relative if is_drawn(self.mass) else True,
            "com_radius": self.com.radius if isinstance(self.com, Ball) else 0.0,
            "slide_t": slide,
            "slide_o": slide,
            "tilt": ("cone", tilt, 0.0, 0.0, 0.0) if tilt else constant(0.0),
            "wrenches": [] if self.wrenches is None else np.atleast_2d(numbers("wrenches", self.wrenches)).tolist(),
            "hand": self.hand,
            "method": str(self.method),
            "samples": whole("samples", self.samples, 1, 2**63 - 1),
            "friction_samples": whole("friction_samples", self.friction_samples, 0, 2**63 - 1),
            "radius_samples": whole("radius_samples", self.radius_samples, -1, 2**63 - 1),
            "best": whole("best", self.best, 0, 2**63 - 1),
            "confidence": real("confidence", self.confidence),
            "seed": check_seed(self.seed),
        } | {row["key"]: _value(row, getattr(self, row["name"])) for row in _OPTIONS}


def _value(row: dict[str, Any], given: Any) -> Any:
    """The option of a row of the table as the compiled module takes it."""
    name = row["name"]
    if row["ball"]:
        return _radius(name, given)
    if row["drawn"]:
        return as_tuple(given) if is_drawn(given) else constant(finite(name, given))
    kind = type(row["default"])
    return kind(given) if kind in (bool, str) else real(name, given)


def is_drawn(value: Any) -> bool:
    return isinstance(value, Uniform | Normal)


def _radius(name: str, given: Ball | None) -> float:
    if given is None:
        return 0.0
    if not isinstance(given, Ball):
        raise TypeError(
            f"{name}: garra.ball(radius) is needed, not {given!r}; a constant one is part of wrench, and commanded "
            "forces are part of a GraspSet"
        )
    return given.radius


def study_of(uncertain: dict[str, Any]) -> dict[str, Any]:
    """As `garra grasp rank` writes it into a ranking's file."""
    return json.loads(_core.grasp_set_study(uncertain))


def _normal_share(low: float, high: float) -> float:
    """Share of a standard normal distribution in [low, high]."""
    if low > 0:  # small shares of the lower tail are exact
        low, high = -high, -low
    return (erfc(-high / sqrt(2)) - erfc(-low / sqrt(2))) / 2


def as_tuple(drawn: Uniform | Normal, least: float = -np.inf) -> tuple[str, float, float, float, float]:
    """As the compiled module takes it; a normal distribution is cut off at `least` at the latest."""
    if isinstance(drawn, Uniform):
        if drawn.low < least:
            raise ValueError(f"{drawn}: below {least:g}")
        return "uniform", drawn.low, drawn.high, 0.0, 0.0
    if drawn.sd == 0:
        return constant(drawn.mean)
    low, high = max(drawn.min, least), drawn.max
    if _normal_share((low - drawn.mean) / drawn.sd, (high - drawn.mean) / drawn.sd) < _LEAST_KEPT:
        raise ValueError(f"{drawn}: min and max leave less than a millionth of it; give garra.uniform(min, max)")
    # Ends that no draw reaches: a normal distribution has none of its own.
    far = 40 * drawn.sd
    return (
        "normal",
        drawn.mean,
        drawn.sd,
        low if isfinite(low) else drawn.mean - far,
        high if isfinite(high) else drawn.mean + far,
    )


def split_friction(friction: Any) -> tuple[tuple, tuple, bool]:
    """Friction distributions common to all contacts and per contact, and whether they are factors on the set's."""
    if not is_drawn(friction):
        return constant(1.0), constant(1.0), True
    drawn = as_tuple(friction, 0.0)
    return (drawn, constant(1.0), friction.relative) if friction.common else (constant(1.0), drawn, friction.relative)
