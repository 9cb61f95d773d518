"""Climbing: two rings of a six-legged platform hold a trunk alternately (docs/theory/platform-climb.md)."""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

import garra
from garra import contact
from garra.page import command
from garra.page.interval import clopper_pearson
from garra.page.run_folder import DamagedFile

OUTCOMES = ("climbed", "limit", "singular", "force", "not_resisted", "slips")
"""Outcomes of a sample: the first failure in time, and of one instant the first in this order."""

_CHUNK = 256  # samples whose rows are in memory at once
_SOFT = 1.0  # displacement of a ring per newton that is not balanced [m/N]: any excess is far beyond an allowed slip


@dataclass(frozen=True, kw_only=True)
class Ring:
    """A holding ring: pads at equal angles, pressed on the trunk and then locked.

    Examples
    --------
    >>> garra.platform.climb.Ring(pads=4).pads
    4
    """

    pads: int = 3
    """at least three"""
    trunk_radius: float = 0.15
    """[m]"""
    height: float = 0.0
    """of the pads above the ring's frame, along the trunk [m]"""
    squeeze: float = 2000.0
    """normal force of every pad before the load comes [N]"""
    force_limit: float = 6000.0
    """largest normal force of a pad [N]"""
    normal_stiffness: float = 2e6
    """of a pad [N/m]"""
    tangential_stiffness: float = 1e6
    """of a pad [N/m]"""
    mass: float = 25.0
    """[kg]"""

    def __post_init__(self) -> None:
        if self.pads < 3:
            raise ValueError(f"pads: {self.pads}; a ring holds with at least three")

    def wrench_matrix(self, trunk_radius: Any = None) -> np.ndarray:
        """Wrenches at the ring's frame of unit pad forces (n, t, o); n away from the trunk, t along it.

        Parameters
        ----------
        trunk_radius : array_like [...], optional
            Default: the ring's own [m].

        Returns
        -------
        numpy.ndarray [..., 6, 3 pads]

        Examples
        --------
        >>> garra.platform.climb.Ring().wrench_matrix().shape
        (6, 9)
        """
        radius = np.asarray(self.trunk_radius if trunk_radius is None else trunk_radius, dtype=float)[..., None]
        angle = 2 * np.pi * np.arange(self.pads) / self.pads
        n = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
        t = np.broadcast_to([0.0, 0.0, 1.0], n.shape)
        frames = np.stack([n, t, np.cross(n, t)], axis=-2)  # [pad, direction, xyz]
        arms = radius[..., None] * n + np.array([0, 0, self.height])
        moments = np.cross(arms[..., :, None, :], frames)
        forces = np.broadcast_to(frames, moments.shape)
        rows = np.concatenate([forces, moments], axis=-1).reshape(*moments.shape[:-3], 3 * self.pads, 6)
        return np.swapaxes(rows, -1, -2)


@dataclass(frozen=True, kw_only=True)
class Gait:
    """A cycle: the upper ring goes up while the lower one holds, then the lower ring follows.

    Examples
    --------
    >>> garra.platform.climb.Gait(stride=0.3).duration
    2.0
    """

    low: float = 1.1
    """distance of the rings' frames at the start of a cycle [m]"""
    stride: float = 0.4
    """climbed in a cycle [m]"""
    duration: float = 2.0
    """of each of the two moves, from rest to rest [s]"""
    instants: int = 41
    """of each move, both ends included"""
    cycles: int = 5
    """one after another; friction is drawn anew for every hold"""


@dataclass(frozen=True, kw_only=True)
class Uncertain:
    """Uniform ranges of what differs from climb to climb, and from hold to hold.

    Examples
    --------
    >>> garra.platform.climb.Uncertain(friction=(0.4, 0.4)).friction
    (0.4, 0.4)
    """

    friction: tuple[float, float] = (0.4, 0.7)
    """of each pad, at each hold"""
    squeeze: tuple[float, float] = (0.9, 1.1)
    """factor on the squeeze, at each hold"""
    trunk_radius: tuple[float, float] = (0.95, 1.05)
    """factor"""
    payload: tuple[float, float] = (15.0, 25.0)
    """fixed to the upper ring [kg]"""
    payload_offset: tuple[float, float] = (-0.1, 0.1)
    """of its center of mass from the ring's, along x and y [m]"""
    push: tuple[float, float] = (0.0, 60.0)
    """horizontal force on the upper ring, of any direction [N]"""


@dataclass(frozen=True)
class Climb:
    """Result of a climb under uncertainty; [n] are the samples.

    Examples
    --------
    >>> r = garra.platform.climb.climb(garra.platform.load("trepa_like"), samples=64)
    >>> r.outcome.shape, 0 <= r.probability <= 1
    ((64,), True)
    """

    outcome: np.ndarray
    """[n] index in OUTCOMES"""
    time: np.ndarray
    """[n] of the first failure [s]; NaN: none"""
    margin: np.ndarray
    """[n] smallest friction margin: 1 - |c_T| / (mu c_n) of the pad nearest to slipping; 0: a pad slips"""
    peak_force: np.ndarray
    """[n] largest actuator force [N]"""
    sigma_min: float
    """smallest singular value along the gait"""
    interval: tuple[float, float]
    """95 % interval of the probability"""
    nominal: dict[str, np.ndarray] = field(repr=False)
    """over one cycle, with every input at the middle of its range: time [t], lower and upper ring heights [t], actuator
    force [t, 6], margin [t], wrench on the holding ring [t, 6], sigma_min [t]"""

    @property
    def probability(self) -> float:
        """P(climb succeeds).

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> slippery = garra.platform.climb.Uncertain(friction=(0.01, 0.02))
        >>> garra.platform.climb.climb(p, uncertain=slippery, samples=8).probability
        0.0
        """
        return float(np.mean(self.outcome == 0))

    @property
    def counts(self) -> dict[str, int]:
        """Samples of each outcome.

        Examples
        --------
        >>> r = garra.platform.climb.climb(garra.platform.load("trepa_like"), samples=16)
        >>> sum(r.counts.values())
        16
        """
        return {name: int(np.sum(self.outcome == k)) for k, name in enumerate(OUTCOMES)}


    def animation(self, platform: garra.platform.Platform, ring: Ring | None = None) -> str:
        """The nominal climb of all cycles from the side, as an animated SVG that needs no script.

        Parameters
        ----------
        platform : garra.platform.Platform
            The machine that climbs.
        ring : Ring, optional
            As in climb().

        Returns
        -------
        str

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> garra.platform.climb.climb(p, samples=4).animation(p).startswith("<svg")
        True
        """
        return _animation(self, platform, ring or Ring())


def inverted(platform: garra.platform.Platform, mass: float = 25.0) -> garra.platform.Platform:
    """The same machine with the upper ring as its base: the lower ring, of `mass`, moves.

    Assumption: joints change places, so that the universal joints are at the ring that holds. This changes only the
    spin of a leg about its own axis.

    Parameters
    ----------
    platform : garra.platform.Platform
    mass : float
        Of the ring that moves [kg]; its inertia is that of the platform, scaled by the mass.

    Returns
    -------
    Platform

    Examples
    --------
    >>> q = garra.platform.climb.inverted(garra.platform.load("trepa_like"))
    >>> q.inverse_kinematics(*q.home).lengths.round(4)  # as those of the machine itself
    array([1.1483, 1.1483, 1.1483, 1.1483, 1.1483, 1.1483])
    """
    table = _table(platform)
    body = table["platform"]
    down = [-float(x) for x in platform.home[0]]
    inertia = ", ".join(f"{key} = {value * mass / body['mass']!r}" for key, value in body["inertia"].items())
    lines = [
        "schema = 1",
        "[platform]",
        f'name = "{body["name"]}, upside down"',
        f"mass = {mass!r}",
        f"inertia = {{ {inertia} }}",
        f"gravity = {body['gravity']!r}",
        f"home = {{ position = {down!r} }}",
        f"leg_radius = {body.get('leg_radius', 0)!r}",
    ]
    for leg in table["leg"]:
        links = {"tube": leg["rod"], "rod": leg["tube"]}
        lines += ["[[leg]]", f"base = {leg['anchor']!r}", f"anchor = {leg['base']!r}", f"axis = {leg['axis']!r}"]
        lines += [f"stroke = {leg['stroke']!r}"]
        lines += [f'{key} = "{leg[other]}"' for key, other in _CONES if other in leg]
        lines += [
            f"{name} = {{ mass = {part['mass']!r}, com = {part['com']!r}, inertia = {part['inertia']!r} }}"
            for name, part in links.items()
        ]
    return garra.platform.Platform.from_toml("\n".join(lines) + "\n")


def _table(platform: garra.platform.Platform) -> dict[str, Any]:
    return tomllib.loads(platform.to_toml())


_CONES = (("universal_cone", "spherical_cone"), ("spherical_cone", "universal_cone"))


def held_wrench(platform: garra.platform.Platform, position: Any, dynamics: Any, ring_mass: float) -> np.ndarray:
    """Wrench (force; moment) of legs and own weight on the ring that holds, at its frame and in its axes.

    Parameters
    ----------
    platform : garra.platform.Platform
    position : array_like [..., 3]
        Of the moving ring, not turned [m].
    dynamics : InverseDynamics
        Of these positions.
    ring_mass : float
        Of the holding ring, whose center of mass is its frame's origin [kg].

    Returns
    -------
    numpy.ndarray [..., 6]
        [N; N m].

    Examples
    --------
    >>> p = garra.platform.load("trepa_like")
    >>> w = garra.platform.climb.held_wrench(p, p.home[0], p.inverse_dynamics(*p.home), 25.0)
    >>> w[:3].round(2) + 0.0  # the weight of two rings of 25 kg and six legs of 6 kg
    array([   0.  ,    0.  , -843.66])
    """
    table = _table(platform)
    legs = [{key: np.array(leg[key]) for key in ("base", "anchor", "axis")} for leg in table["leg"]]
    out = np.zeros((*np.shape(position)[:-1], 6))
    for i, leg in enumerate(legs):
        d = np.asarray(position) + leg["anchor"] - leg["base"]
        x = np.cross(d, leg["axis"])
        about = np.cross(leg["axis"], x)
        about = about / np.linalg.norm(about, axis=-1, keepdims=True)
        force = dynamics.universal_force[..., i, :]
        out[..., :3] -= force
        out[..., 3:] -= np.cross(leg["base"], force) + dynamics.universal_moment[..., i, None] * about
    out[..., :3] += ring_mass * np.array(table["platform"]["gravity"])
    return out


def _move(gait: Gait, start: float, end: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Heights, speeds and accelerations of a quintic move at its instants."""
    x = np.linspace(0, 1, gait.instants)
    s = x**3 * (10 + x * (6 * x - 15))
    rate = 30 * x**2 * (1 - x) ** 2 / gait.duration
    bend = 60 * x * (1 - x) * (1 - 2 * x) / gait.duration**2
    return start + s * (end - start), rate * (end - start), bend * (end - start)


def _grip(
    ring: Ring, W: np.ndarray, w: np.ndarray, mu: np.ndarray, squeeze: np.ndarray, slip: float
) -> tuple[np.ndarray, ...]:
    """(resisted, held, margin) of wrenches w [..., 6] on a ring with squeezed and locked pads."""
    length = ring.trunk_radius
    k = ring.pads
    resisted = contact.is_resisted(W, w, mu, ring.force_limit, length=length).status == contact.POSSIBLE
    free = np.diag([_SOFT] * 3 + [_SOFT / length**2] * 3)
    give = np.tile([1 / ring.normal_stiffness, 1 / ring.tangential_stiffness, 1 / ring.tangential_stiffness], k)
    across = np.swapaxes(W, -1, -2) @ free
    A = across @ W + np.diag(give)
    preload = np.zeros((*squeeze.shape, 3 * k))
    preload[..., ::3] = squeeze[..., None]
    b = (across @ w[..., None])[..., 0] - give * preload
    solution = contact.solve(A, b, mu)
    c = solution.c.reshape(*solution.c.shape[:-1], k, 3)
    a = solution.a.reshape(c.shape)
    solved = np.isfinite(c).all(axis=(-1, -2))
    slipped = np.linalg.norm(a[..., 1:], axis=-1).max(axis=-1)
    normal = c[..., 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        used = np.linalg.norm(c[..., 1:], axis=-1) / (mu * normal)
    margin = np.clip(1 - np.where(normal > 0, used, 1).max(axis=-1), 0, 1)
    held = solved & (slipped <= slip) & (normal <= ring.force_limit).all(axis=-1)
    return resisted, held, np.where(solved, margin, 0)


@dataclass(frozen=True)
class _Phase:
    """One move of the cycle, by the machine whose base holds."""

    machine: garra.platform.Platform
    position: np.ndarray  # [t, 3] of the moving ring in the frame of the holding one
    velocity: np.ndarray
    acceleration: np.ndarray
    moves_upper: bool
    limit: np.ndarray  # [t]
    sigma: np.ndarray  # [t]


def _phases(platform: garra.platform.Platform, ring: Ring, gait: Gait) -> list[_Phase]:
    out = []
    for upper in (True, False):
        machine = platform if upper else inverted(platform, ring.mass)
        ends = (gait.low, gait.low + gait.stride)
        # Seen from the upper ring the lower one comes nearer from below.
        z, v, a = _move(gait, *ends) if upper else _move(gait, -ends[1], -ends[0])
        up = np.array([0.0, 0.0, 1.0])
        zeros = np.zeros((gait.instants, 3))
        position = z[:, None] * up
        ik = machine.inverse_kinematics(position, np.tile([1.0, 0, 0, 0], (gait.instants, 1)))
        twist = [np.concatenate([x[:, None] * up, zeros], axis=-1) for x in (v, a)]
        out.append(_Phase(machine, position, *twist, upper, np.asarray(ik.mask) != 0, np.asarray(ik.sigma_min)))
    return out


def _loads(
    phase: _Phase, ring: Ring, drawn: dict[str, np.ndarray], gravity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(actuator forces [n, t, 6], wrench on the holding ring [n, t, 6]) with payload and push."""
    n, t = len(drawn["payload"]), len(phase.position)
    # Payload: what gravity and its own acceleration ask for. It is on the upper ring, which may be the one that holds.
    acceleration = phase.acceleration[:, :3] if phase.moves_upper else np.zeros((t, 3))
    force = drawn["payload"][:, None, None] * (gravity - acceleration)
    arm = np.broadcast_to(drawn["offset"][:, None, :], force.shape)
    force = force + drawn["push"][:, None, :]
    moment = np.cross(arm, force - drawn["push"][:, None, :])
    extra = np.concatenate([force, moment], axis=-1)
    shape = (n, t)
    rows = (np.broadcast_to(x, (*shape, x.shape[-1])) for x in (phase.position, phase.velocity, phase.acceleration))
    position, velocity, acceleration = rows
    quaternion = np.broadcast_to([1.0, 0, 0, 0], (*shape, 4))
    on_moving = extra if phase.moves_upper else None
    dynamics = phase.machine.inverse_dynamics(position, quaternion, velocity, acceleration, on_moving)
    wrench = held_wrench(phase.machine, position, dynamics, ring.mass)
    return np.asarray(dynamics.force), wrench if phase.moves_upper else wrench + extra


def climb(
    platform: garra.platform.Platform,
    ring: Ring | None = None,
    gait: Gait | None = None,
    uncertain: Uncertain | None = None,
    *,
    force_limit: float = np.inf,
    near_singular: float = 0.02,
    slip: float = 1e-3,
    samples: int = 1000,
    seed: int = 1,
) -> Climb:
    """P(climb succeeds): two rings hold a vertical trunk alternately.

    Parameters
    ----------
    platform : garra.platform.Platform
        With masses. Its base is the lower ring, its platform the upper one.
    ring : Ring, optional
        Both rings.
    gait : Gait, optional
    uncertain : Uncertain, optional
        Ranges of the draws.
    force_limit : float
        Of every actuator [N].
    near_singular : float
        Smallest allowed singular value.
    slip : float
        Largest slip of a pad while its ring holds [m].
    samples, seed : int
        Sample i depends on (seed, i) only.

    Returns
    -------
    Climb

    Raises
    ------
    ValueError
        For fewer than three pads, or a number of samples below 1.
    garra.UsageError
        For a platform without masses.

    Examples
    --------
    >>> p = garra.platform.load("trepa_like")
    >>> r = garra.platform.climb.climb(p, samples=200, seed=3)
    >>> r.counts["climbed"] > 100, r.margin.shape
    (True, (200,))
    """
    ring, gait, uncertain = ring or Ring(), gait or Gait(), uncertain or Uncertain()
    if samples < 1:
        raise ValueError(f"samples: {samples}, expected at least 1")
    phases = _phases(platform, ring, gait)
    rules = {"force": force_limit, "singular": near_singular, "slip": slip}
    parts = [
        _run(phases, ring, gait, _draw(uncertain, ring, gait, first, min(_CHUNK, samples - first), seed), rules)
        for first in range(0, samples, _CHUNK)
    ]
    keys = ("outcome", "time", "margin", "peak")
    outcome, time, margin, peak = (np.concatenate([part[key] for part in parts]) for key in keys)
    low, high = clopper_pearson(int(np.sum(outcome == 0)), samples)
    middle = _run(phases, ring, gait, _draw(uncertain, ring, gait, 0, 1, None), rules)
    height = np.concatenate([np.zeros(gait.instants), gait.stride + (gait.low + phases[1].position[:, 2])])
    nominal = {key: middle[key][0] for key in ("force", "friction_margin", "wrench")}
    nominal |= {
        "time": np.concatenate([np.linspace(0, gait.duration, gait.instants) + k * gait.duration for k in (0, 1)]),
        "lower": np.where(np.arange(2 * gait.instants) < gait.instants, 0.0, height),
        "upper": np.concatenate([phases[0].position[:, 2], np.full(gait.instants, gait.low + gait.stride)]),
        "sigma_min": np.concatenate([phase.sigma for phase in phases]),
    }
    sigma = float(min(phase.sigma.min() for phase in phases))
    return Climb(outcome, time, margin, peak, sigma, (low, high), nominal)


def from_toml(file: str | PathLike[str], **changes: Any) -> tuple[Climb, str]:
    """Runs a climb that a file describes: tables platform (model), ring, gait, uncertain and climb, SI numbers.

    Parameters
    ----------
    file : path
        As data/climbs/trunk.toml.
    **changes
        Keywords of climb() that replace those of the file.

    Returns
    -------
    tuple[Climb, str]
        The result and its animation.

    Raises
    ------
    ValueError
        For an unknown table or key.

    Examples
    --------
    >>> (tmp / "climb.toml").write_text('[platform]\\nmodel = "trepa_like"\\n[ring]\\nsqueeze = 3000.0\\n') > 0
    True
    >>> result, svg = garra.platform.climb.from_toml(tmp / "climb.toml", samples=8)
    >>> result.outcome.shape
    (8,)
    """
    with open(file, "rb") as stream:
        table = tomllib.load(stream)
    known = {"ring": Ring, "gait": Gait, "uncertain": Uncertain}
    if extra := sorted(set(table) - {*known, "platform", "climb"}):
        raise ValueError(f"{file}: {extra[0]}: unknown table; known are platform, ring, gait, uncertain, climb")
    parts: dict[str, Any] = {}
    for name, kind in known.items():
        if extra := sorted(set(table.get(name, {})) - {f.name for f in fields(kind)}):
            raise ValueError(f"{file}: {name}.{extra[0]}: unknown key; known are {', '.join(f.name for f in fields(kind))}")
        parts[name] = kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in table.get(name, {}).items()})
    given = table.get("climb", {})
    if extra := sorted(set(given) - set(climb.__kwdefaults__ or {})):
        raise ValueError(f"{file}: climb.{extra[0]}: unknown key; known are {', '.join(climb.__kwdefaults__ or {})}")
    machine = garra.platform.load(table.get("platform", {}).get("model", "trepa_like"))
    result = climb(machine, **parts, **given | changes)
    return result, result.animation(machine, parts["ring"])


def _main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="garra platform climb", description="P(climb succeeds) of a file")
    parser.add_argument("file", help="as data/climbs/trunk.toml")
    parser.add_argument("-o", "--output", help="SVG file of the animation")
    parser.add_argument("--samples", type=int, help="instead of the file's")
    parser.add_argument("--format", choices=("human", "json"), default="human")
    given = parser.parse_args(arguments)

    def run() -> None:
        try:
            result, svg = from_toml(given.file, **({} if given.samples is None else {"samples": given.samples}))
        except (TypeError, ValueError) as error:  # of TOML, too
            name = "" if str(error).startswith(str(given.file)) else f"{given.file}: "
            raise DamagedFile(f"{name}{error}") from error
        print(json.dumps(_to_json(result), indent=1) if given.format == "json" else _answer(result))
        if given.output:
            Path(given.output).write_text(svg)

    return command.run("garra platform climb", run)


def _to_json(of: Climb) -> dict[str, Any]:
    margins = np.quantile(of.margin, [0.05, 0.5])
    return {
        "p_climbed": of.probability,
        "interval": list(of.interval),
        "outcomes": of.counts,
        "friction_margin": {"q05": margins[0], "median": margins[1]},
        "largest_actuator_force": float(of.peak_force.max()),
        "smallest_singular_value": of.sigma_min,
    }


def _answer(of: Climb) -> str:
    low, high = of.interval
    lines = [f"P(climb succeeds) = {of.probability:.4f}   95 % interval [{low:.4f}, {high:.4f}]"]
    lines += [f"  {name:<14} {count:>8}" for name, count in of.counts.items()]
    lines.append(f"friction margin, 5 % and median: {np.quantile(of.margin, 0.05):.3f}, {np.median(of.margin):.3f}")
    peak = of.peak_force.max()
    return "\n".join([*lines, f"largest actuator force {peak:.1f} N, smallest singular value {of.sigma_min:.3f}"])


def _draw(u: Uncertain, ring: Ring, gait: Gait, first: int, count: int, seed: int | None) -> dict[str, np.ndarray]:
    """Inputs of samples first .. first + count - 1; seed None: the middle of every range, no push."""
    holds = 2 * gait.cycles
    own = 6 + holds * (1 + ring.pads)
    if seed is None:
        x = np.full((count, own), 0.5)
    else:
        bits = np.random.Philox(key=seed)
        # Draws of 64 bits: four per step of the counter.
        steps = -(-own // 4)
        bits.advance(first * steps)
        x = np.random.Generator(bits).random((count, 4 * steps))[:, :own]

    def within(ends: tuple[float, float], values: np.ndarray) -> np.ndarray:
        return ends[0] + values * (ends[1] - ends[0])

    way = 2 * np.pi * x[:, 4]
    size = within(u.push, x[:, 3]) if seed is not None else np.zeros(count)
    offset = within(u.payload_offset, x[:, 1:3])
    return {
        "payload": within(u.payload, x[:, 0]),
        "offset": np.concatenate([offset, np.zeros((count, 1))], axis=-1),
        "push": np.stack([size * np.cos(way), size * np.sin(way), 0 * way], axis=-1),
        "radius": ring.trunk_radius * within(u.trunk_radius, x[:, 5]),
        "squeeze": ring.squeeze * within(u.squeeze, x[:, 6 : 6 + holds]),
        "mu": within(u.friction, x[:, 6 + holds :]).reshape(count, holds, ring.pads),
    }


def _run(
    phases: list[_Phase], ring: Ring, gait: Gait, drawn: dict[str, np.ndarray], rules: dict[str, float]
) -> dict[str, Any]:
    """Outcomes of these samples; and of the first cycle the series."""
    gravity = np.array(_table(phases[0].machine)["platform"]["gravity"])
    n = len(drawn["payload"])
    loads = [_loads(phase, ring, drawn, gravity) for phase in phases]
    W = ring.wrench_matrix(drawn["radius"])[:, None]
    outcome, time = np.zeros(n, dtype=int), np.full(n, np.nan)
    margin, series = np.full(n, np.inf), {"force": [], "friction_margin": [], "wrench": []}
    step = gait.duration / (gait.instants - 1)
    for hold in range(2 * gait.cycles):
        phase, (force, wrench) = phases[hold % 2], loads[hold % 2]
        shape = wrench.shape[:2]
        mu = np.broadcast_to(drawn["mu"][:, hold, None, :], (*shape, ring.pads))
        squeeze = np.broadcast_to(drawn["squeeze"][:, hold, None], shape)
        pads = np.broadcast_to(W, (*shape, *W.shape[-2:]))
        resisted, held, left = _grip(ring, pads, wrench, mu, squeeze, rules["slip"])
        bad = np.stack(
            [
                np.broadcast_to(phase.limit, shape),
                np.broadcast_to(phase.sigma < rules["singular"], shape),
                np.abs(force).max(axis=-1) > rules["force"],
                ~resisted,
                ~held,
            ],
            axis=-1,
        )
        fails = bad.any(axis=-1)
        at = np.argmax(fails, axis=1)
        new = fails.any(axis=1) & (outcome == 0)
        outcome[new] = 1 + np.argmax(bad[np.arange(n), at], axis=-1)[new]
        time[new] = hold * gait.duration + step * at[new]
        margin = np.minimum(margin, left.min(axis=1))
        if hold < 2:
            for key, value in (("force", force), ("friction_margin", left), ("wrench", wrench)):
                series[key].append(value)
    peak = np.maximum(*(np.abs(force).max(axis=(1, 2)) for force, _ in loads))
    whole = {key: np.concatenate(values, axis=1) for key, values in series.items()}
    return {"outcome": outcome, "time": time, "margin": margin, "peak": peak} | whole


def _animation(of: Climb, platform: garra.platform.Platform, ring: Ring) -> str:
    legs = [(np.array(leg["base"]), np.array(leg["anchor"])) for leg in _table(platform)["leg"]]
    frames, cycles, scale, margin = of.nominal, 3, 160.0, 0.8
    stride = frames["lower"][-1]
    lower, upper = (np.concatenate([frames[key] + k * stride for k in range(cycles)]) for key in ("lower", "upper"))
    half = len(frames["time"]) // 2
    holds_low = np.tile(np.arange(2 * half) < half, cycles)
    top = upper.max() + margin
    seconds = cycles * frames["time"][-1]

    def y(heights: np.ndarray) -> str:
        return ";".join(f"{scale * (top - h):.1f}" for h in heights)

    def x(value: float) -> str:
        return f"{scale * (1 + value):.1f}"

    def animate(name: str, values: str) -> str:
        return f'<animate attributeName="{name}" dur="{seconds:g}s" repeatCount="indefinite" values="{values}"/>'

    parts = [
        f'<rect x="{x(-ring.trunk_radius)}" y="0" width="{2 * scale * ring.trunk_radius:.1f}" '
        f'height="{scale * (top + margin):.1f}" fill="#b9a184"/>'
    ]
    for base, anchor in legs:
        ends = animate("y1", y(lower + base[2])) + animate("y2", y(upper + anchor[2]))
        parts.append(f'<line x1="{x(base[0])}" x2="{x(anchor[0])}" stroke="#2a5d8a" stroke-width="4">{ends}</line>')
    for heights, holds in ((lower, holds_low), (upper, ~holds_low)):
        colors = ";".join("#2f7d4f" if h else "#888888" for h in holds)
        change = animate("y", y(heights + 0.03)) + animate("fill", colors)
        parts.append(f'<rect x="{x(-0.45)}" width="{0.9 * scale:.1f}" height="{0.06 * scale:.1f}">{change}</rect>')
    size = f'viewBox="0 0 {2 * scale:g} {scale * (top + margin):.0f}"'
    label = "The climb from the side: the ring that holds is green"
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" {size}>{"".join(parts)}</svg>'


if __name__ == "__main__":
    sys.exit(_main())
