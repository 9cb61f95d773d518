"""Options of sets of candidate grasps and of their ranking (docs/theory/grasp-sets.md)."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any

import numpy as np

from garra.arguments import check_seed, finite, numbers, place, real, whole
from garra.grasp.robustness import ACCELERATION
from garra.study.distributions import Ball, Normal, Uniform


def constant(value: float) -> tuple[str, float, float, float, float]:
    """As the compiled module takes a number that is not drawn."""
    return "constant", value, 0.0, 0.0, 0.0


def _of(what: str, *shape: int) -> Any:
    """A field of GraspArrays, optional; `shape` of one contact's or one grasp's part."""
    return field(default=None, metadata={"of": what, "shape": shape})


@dataclass(frozen=True)
class GraspArrays:
    """Arrays of a set beside contact points and normals, in SI units and object axes.

    Parameters
    ----------
    friction : float or array_like [G, k] or [m], optional
        Friction coefficients.
    tangent, curvature, force_limit : array_like, optional
        Per contact: direction t, curvature along t and o [1/m], largest normal force [N].
    torsion_radius : array_like, optional
        Radius r of soft contacts [m]: |(c_t, c_o, tau / r)| <= friction c_n with the moment tau about the normal.
    mass, com, inertia, gravity, wrench : array_like, optional
        Per grasp, or one for all; wrench is (force; moment about com).
    mobility, force : array_like, optional
        Compliant hand: mobility as a number, one per contact or [..., 3, 3] [1/kg]; commanded force (n, t, o)
        [..., 3] [N].
    jacobian, mass_matrix, torque, bias, torque_limit : array_like, optional
        Whole hand: contact point velocities [G, k, 3, nq] (or [G, 3 k, nq], [m, 3, nq], [3 m, nq]); mass matrix
        [nq, nq] or [G, nq, nq]; torques [nq] or [G, nq], numpy.inf for no limit. `force` may replace `torque`.
    drift : array_like [..., 3], optional
        Acceleration of the object's contact points minus those of the hand, from velocities alone [m/s^2].
    torsion, angular_mobility, angular_jacobian : array_like, optional
        Soft contacts of these hands: commanded moment about the normal [N m]; mobility of moments [1/(kg m^2)], or
        angular velocity of the touching body per joint rate.
    mesh : (array_like [v, 3], array_like [f, 3]), optional
        Object surface [m], triangles counterclockwise from outside, for pictures and for grasps from inside, whose
        normals all point away from the center of mass.
    names : list of str [G], optional
        Names of the grasps.
    contact_names : array_like [G, k] or [m], optional
        Names of the contacts.

    Examples
    --------
    >>> arrays = garra.grasp.GraspArrays(friction=0.5, mass=0.2)
    >>> points, normals = [[[-0.03, 0, 0], [0.03, 0, 0]]], [[[1, 0, 0], [-1, 0, 0]]]
    >>> garra.grasp.GraspSet.from_arrays(points, normals, arrays=arrays, mass=0.3).arrays["mass"]
    array([0.3])
    """

    friction: Any = _of("contact")
    tangent: Any = _of("contact", 3)
    curvature: Any = _of("contact", 2)
    force_limit: Any = _of("contact")
    torsion_radius: Any = _of("contact")
    force: Any = _of("contact", 3)
    torsion: Any = _of("contact")
    drift: Any = _of("contact", 3)
    mass: Any = _of("grasp")
    com: Any = _of("grasp", 3)
    inertia: Any = _of("grasp", 3, 3)
    gravity: Any = _of("grasp", 3)
    wrench: Any = _of("grasp", 6)
    mobility: Any = _of("hand")
    angular_mobility: Any = _of("hand")
    jacobian: Any = _of("hand")
    angular_jacobian: Any = _of("hand")
    mass_matrix: Any = _of("hand")
    torque: Any = _of("hand")
    bias: Any = _of("hand")
    torque_limit: Any = _of("hand")
    mesh: tuple[Any, Any] | None = None
    names: Any = None
    contact_names: Any = None

    def _given(self) -> dict[str, Any]:
        """Fields that are not None, by name."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) is not None}


def _shapes(what: str) -> dict[str, tuple[int, ...]]:
    return {f.name: f.metadata["shape"] for f in fields(GraspArrays) if f.metadata.get("of") == what}


OF_CONTACTS = {"point": (3,), "normal": (3,), **_shapes("contact")}
"""Shapes of one contact's parts, by name"""
OF_GRASPS = _shapes("grasp")
"""Shapes of one grasp's parts, by name"""
OF_HANDS = tuple(_shapes("hand"))
"""Names of the arrays of hands that are not ideal; their shapes depend on one another."""


@dataclass(frozen=True)
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
    method : str
        Method for the contact problems of a hand that is not ideal: one of garra.contact.METHODS but "lemke".
    check_uniqueness : bool
        Search a second solution of each contact problem.
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
    force: Ball | None = None
    torque: Ball | None = None
    wrenches: Any = None
    random_gravity_direction: bool = False
    interior_grasp: bool = False
    hand: str = "auto"
    command: Any = 1.0
    grip_force_error: Any = 0.0
    torque_error: Any = 0.0
    imbalance: float = 0.5
    acceleration: float = ACCELERATION
    method: str = "auto"
    check_uniqueness: bool = True
    samples: int = 1000
    friction_samples: int = 100
    radius_samples: int = -1
    best: int = 0
    confidence: float = 0.95
    seed: int = 1
    device: str = "auto"
    threads: int = 0

    def __post_init__(self) -> None:
        self._uncertain()
        place(self.device, self.threads)

    def _of_set(self) -> dict[str, Any]:
        """Arrays that replace those of a set, by name."""
        drawn = {"friction": is_drawn(self.friction), "mass": is_drawn(self.mass), "com": isinstance(self.com, Ball)}
        return {name: getattr(self, name) for name in drawn if not drawn[name] and getattr(self, name) is not None}

    def _uncertain(self) -> dict[str, Any]:
        """Uncertain inputs and sizes as the compiled module takes them."""
        common, own, is_factor = split_friction(self.friction)
        slide = self.slide if is_drawn(self.slide) else Normal(0.0, finite("slide", self.slide), -np.inf, np.inf)
        tilt = real("tilt", self.tilt, 0)
        return {
            "friction": common,
            "per_contact_friction_factor": own,
            "friction_is_factor": is_factor,
            "mass": as_tuple(self.mass, 0.0) if is_drawn(self.mass) else constant(1.0),
            "mass_is_factor": self.mass.relative if is_drawn(self.mass) else True,
            "com_radius": self.com.radius if isinstance(self.com, Ball) else 0.0,
            "slide": as_tuple(slide),
            "tilt": ("cone", tilt, 0.0, 0.0, 0.0) if tilt else constant(0.0),
            "force_radius": _radius("force", self.force),
            "torque_radius": _radius("torque", self.torque),
            "wrenches": [] if self.wrenches is None else np.atleast_2d(numbers("wrenches", self.wrenches)).tolist(),
            "random_gravity_direction": bool(self.random_gravity_direction),
            "interior_grasp": bool(self.interior_grasp),
            "hand": self.hand,
            "command": self._number("command"),
            "grip_force_error": self._number("grip_force_error"),
            "torque_error": self._number("torque_error"),
            "held_imbalance": real("imbalance", self.imbalance),
            "held_acceleration": real("acceleration", self.acceleration),
            "method": str(self.method),
            "check_uniqueness": bool(self.check_uniqueness),
            "samples": whole("samples", self.samples, 1, 2**63 - 1),
            "friction_samples": whole("friction_samples", self.friction_samples, 0, 2**63 - 1),
            "radius_samples": whole("radius_samples", self.radius_samples, -1, 2**63 - 1),
            "best": whole("best", self.best, 0, 2**63 - 1),
            "confidence": real("confidence", self.confidence),
            "seed": check_seed(self.seed),
        }

    def _number(self, name: str) -> tuple[str, float, float, float, float]:
        value = getattr(self, name)
        return as_tuple(value) if is_drawn(value) else constant(finite(name, value))


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
    said = {key: _text(value) if isinstance(value, tuple) else value for key, value in uncertain.items()}
    said["slide_t"] = said["slide_o"] = said.pop("slide")
    # The median, but for a normal distribution that is cut off askew.
    for key in ("friction", "per_contact_friction_factor"):
        kind, a, b = uncertain[key][:3]
        said[f"{key}_nominal"] = (a + b) / 2 if kind == "uniform" else a
    return said


def _text(drawn: tuple[str, float, float, float, float]) -> str:
    """normal(0.5, 0.1)"""
    kind, a, b, low, high = drawn
    if kind in ("constant", "cone"):
        return f"{float(a)}" if kind == "constant" else f"cone({float(a)})"
    # Ends that as_tuple() gives to a distribution that has none do not cut it.
    cut = kind == "normal" and min(a - low, high - a) < 8 * b
    return f"{kind}({float(a)}, {float(b)})" + (", truncated" if cut else "")


def as_tuple(drawn: Uniform | Normal, least: float = -np.inf) -> tuple[str, float, float, float, float]:
    """As the compiled module takes it; a normal distribution is cut off at `least` at the latest."""
    if isinstance(drawn, Uniform):
        if drawn.low < least:
            raise ValueError(f"{drawn}: below {least:g}")
        return "uniform", drawn.low, drawn.high, 0.0, 0.0
    if drawn.sd == 0:
        return constant(drawn.mean)
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


def split_friction(friction: Any) -> tuple[tuple, tuple, bool]:
    """Friction distributions common to all contacts and per contact, and whether they are factors on the set's."""
    if not is_drawn(friction):
        return constant(1.0), constant(1.0), True
    drawn = as_tuple(friction, 0.0)
    return (drawn, constant(1.0), friction.relative) if friction.common else (constant(1.0), drawn, friction.relative)
