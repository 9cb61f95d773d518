"""Reach of an arm in every branch of inverse kinematics, without collisions (docs/howto/all-solutions.md)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from garra import _core
from garra.arguments import check_seed, positive, vector, whole
from garra.chain.branches import name_branches
from garra.page.interval import clopper_pearson
from garra.summary import Summary
from garra.turns import turn_matrix

if TYPE_CHECKING:
    from garra.chain.robot import Chain

_BLOCK = 4096  # points at once


@dataclass(frozen=True, repr=False)
class ReachMap(Summary):
    """Which points of a box the tool reaches, in which branches.

    Examples
    --------
    >>> robot = garra.models.puma560()
    >>> found = garra.chain.reach_map(robot, [0.2, -0.5, -0.5], [0.8, 0.5, 0.5], samples=500)
    >>> 0 < found.volume < 0.6, found.interval[0] < found.volume < found.interval[1]
    (True, True)
    """

    points: np.ndarray
    """[samples, 3] of the tool [m]"""
    solutions: np.ndarray
    """[samples] solutions within the limits"""
    free: np.ndarray
    """[samples] of these, solutions without collision"""
    volume: float
    """in which the tool is reached without collision [m^3]"""
    interval: tuple[float, float]
    """95 % interval of `volume` (Clopper-Pearson) [m^3]"""
    branches: dict[str, tuple[float, float, float]]
    """name of a branch -> its volume without collision, and the interval of that [m^3]; "": arms without names"""


def reach_map(
    robot: Chain,
    low: Any,
    high: Any,
    *,
    task: str = "pose",
    orientation: Any = None,
    radius: Any = None,
    obstacles: Sequence[Mapping[str, Any]] = (),
    fixed: Mapping[int | str, float] | None = None,
    samples: int = 10_000,
    seed: int = 1,
) -> ReachMap:
    """Draws points of a box, finds all joint values for each, and leaves out those in collision.

    Parameters
    ----------
    robot : Chain
        As for inverse_kinematics_all().
    low, high : array_like [3]
        Corners of the box in the world [m].
    task : str
        What counts of a pose, as in inverse_kinematics_all(). Arms of fewer than six joints reach hardly any random
        pose: they need a task or an orientation.
    orientation : array_like [3, 3], optional
        Of the tool; default: uniform at random for each point.
    radius : float or array_like [links + 1], optional
        Of capsules from the base to the origin of link frame 0, between the origins of successive link frames, and from
        the last one to the tool [m]. They collide with obstacles and with each other, but for those that are too near
        along the arm to be apart. The base is that of a DH table, otherwise the point of axis 0 next to it. Default: none.
    obstacles : sequence of mapping
        {"sphere": center, "radius": r}, {"capsule": [a, b], "radius": r}, {"box": [corner, opposite corner]}, along the
        world's axes [m]. They need `radius`, which may be 0.
    fixed : mapping, optional
        Joint number or name -> value, as in inverse_kinematics_all().
    samples : int
        Number of points.
    seed : int
        Of the random points.

    Returns
    -------
    ReachMap

    Raises
    ------
    ValueError
        For unknown obstacles and keys of them.
    garra.UsageError
        For wrong shapes, for fewer than six joints without a task or an orientation, and as of
        inverse_kinematics_all().
    """
    ends = np.array([vector("low", low, 3), vector("high", high, 3)])
    for axis in np.flatnonzero(~(ends[0] < ends[1])):
        raise _core.UsageError(f"low[{axis}] = {ends[0, axis]:g}, high[{axis}] = {ends[1, axis]:g}\nGive low < high.")
    random = np.random.Generator(np.random.Philox(key=check_seed(seed)))
    count = whole("samples", samples, 1)
    pose = np.tile(np.eye(4), (count, 1, 1))
    pose[:, :3, 3] = ends[0] + random.random((count, 3)) * (ends[1] - ends[0])
    if orientation is None:
        moving = len(robot._locked(fixed)[1])
        if task == "pose" and moving < 6:
            remedy = 'Give task="point" (with fixed= of all joints but three), another task, or an orientation.'
            raise _core.UsageError(f"{moving} joints move: they reach hardly any random orientation\n{remedy}")
        pose[:, :3, :3] = _random_turns(random, count)
    else:
        pose[:, :3, :3] = np.reshape(vector("orientation", np.ravel(orientation), 9), (3, 3))
    shapes = [_shape(one) for one in obstacles]
    radii = None if radius is None else np.array(radius, float)
    capsules = robot.link_poses(np.zeros(robot.n)).shape[0] + 1  # more than n + 1 where joints follow others
    if radii is not None and radii.shape not in ((), (capsules,)):
        remedy = "Give one number, or those of the base, of the ways between link frames and of the way to the tool."
        raise _core.UsageError(f"radius has the shape {radii.shape}, not [{capsules}]\n{remedy}")
    if shapes and radii is None:
        raise _core.UsageError("obstacles without the radius of links\nGive radius=0 for links without thickness.")
    if radii is not None and not (radii >= 0).all():
        raise _core.UsageError(f"radius = {radius}\nGive meters, at least 0.")
    radii = None if radii is None else np.broadcast_to(radii, capsules)
    base = np.array(tomllib.loads(robot.to_toml()).get("base", {}).get("position", [0, 0, 0]), float)
    solutions, free, names = np.zeros(count, int), np.zeros(count, int), {}
    for first in range(0, count, _BLOCK):
        found = robot.inverse_kinematics_all(pose[first : first + _BLOCK], task=task, fixed=fixed, proofs=False)
        q, row = found.q.all, first + np.repeat(np.arange(len(found.q)), found.count)
        solutions[first : first + _BLOCK] = found.count
        if radii is not None:
            kept = ~_collides(robot, base, q, radii, shapes)
            q, row = q[kept], row[kept]
        np.add.at(free, row, 1)
        letters = np.array(name_branches(robot.jacobian(q, form="screws")) if robot.n == 6 else [""] * len(q))
        for name in set(letters.tolist()):
            names.setdefault(name, set()).update(row[letters == name].tolist())
    size = float(np.prod(ends[1] - ends[0]))

    def volume(hits: int) -> tuple[float, float, float]:
        a, b = clopper_pearson(hits, count)
        return size * hits / count, size * a, size * b

    own, *interval = volume(int((free > 0).sum()))
    branches = {name: volume(len(rows)) for name, rows in sorted(names.items())}
    return ReachMap(pose[:, :3, 3], solutions, free, own, (interval[0], interval[1]), branches)


def _random_turns(random: np.random.Generator, count: int) -> np.ndarray:
    """Uniform rotations [count, 3, 3], from unit quaternions."""
    w = random.standard_normal((count, 4))
    size = np.linalg.norm(w[:, 1:], axis=1, keepdims=True)
    return turn_matrix(2 * np.arctan2(size, w[:, :1]) * w[:, 1:] / size)


def _shape(obstacle: Mapping[str, Any]) -> tuple[str, np.ndarray, float]:
    """Kind, ends [2, 3] and radius; a sphere is a capsule without length."""
    kinds = [kind for kind in ("sphere", "capsule", "box") if kind in obstacle]
    if len(kinds) != 1:
        raise ValueError(f"obstacle {dict(obstacle)!r}: give one of sphere, capsule, box")
    kind = kinds[0]
    own = {kind} if kind == "box" else {kind, "radius"}
    if more := set(obstacle) - own:
        raise ValueError(f"obstacle {dict(obstacle)!r}: a {kind} has no {sorted(more)[0]!r}")
    if kind == "sphere":
        ends = np.tile(vector("the center of a sphere", obstacle[kind], 3), (2, 1))
    else:
        ends = np.reshape(vector(f"the ends of a {kind}", np.ravel(obstacle[kind]), 6), (2, 3))
        ends = np.sort(ends, axis=0) if kind == "box" else ends  # any two opposite corners
    return kind, ends, 0.0 if kind == "box" else positive(f"the radius of a {kind}", obstacle.get("radius", np.nan))


def _collides(
    robot: Chain, base: np.ndarray, q: np.ndarray, radii: np.ndarray, shapes: list[tuple[str, np.ndarray, float]]
) -> np.ndarray:
    """[m] True: two capsules of the arm, or one of them and an obstacle, touch."""
    links, tool = robot.link_poses(q)[:, :, :3, 3], robot.forward_kinematics(q)[:, None, :3, 3]
    places = np.concatenate([np.broadcast_to(base, tool.shape), links, tool], axis=1)
    a, b = places[:, :-1], places[:, 1:]  # [m, links + 1, 3]
    lengths = np.linalg.norm(b - a, axis=2)
    out = np.zeros(len(q), bool)
    for i in range(len(radii)):
        for j in range(i + 2, len(radii)):
            near = radii[i] + radii[j]
            separable = lengths[:, i + 1 : j].sum(axis=1) > near
            out |= separable & (_segments_apart(a[:, i], b[:, i], a[:, j], b[:, j]) < near)
        for kind, ends, radius in shapes:
            apart = (
                _box_apart(a[:, i], b[:, i], ends) if kind == "box" else _segments_apart(a[:, i], b[:, i], *ends[:, None])
            )
            out |= apart < radii[i] + radius
    return out


def _segments_apart(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Distances of segments ab and cd [m]: the least of the quadratic function on its square is inside or on a side."""
    u, v, w = b - a, d - c, c - a
    uu, vv, uv = ((x * y).sum(-1) for x, y in ((u, u), (v, v), (u, v)))
    uw, vw = (u * w).sum(-1), (v * w).sum(-1)
    det = uu * vv - uv**2

    def clamped(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.clip(np.divide(x, y, out=np.zeros(np.broadcast(x, y).shape), where=y > 1e-15), 0, 1)

    zero = np.zeros_like(uw + vv)
    inside = clamped(uw * vv - uv * vw, det + zero)
    pairs = [(clamped(uw + zero, uu + zero), zero), (clamped(uw + uv, uu + zero), zero + 1)]
    pairs += [(s, clamped(s * uv - vw, vv + zero)) for s in (zero, zero + 1, inside)]
    return np.min([np.linalg.norm(w + t[:, None] * v - s[:, None] * u, axis=-1) for s, t in pairs], axis=0)


def _box_apart(a: np.ndarray, b: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Distances of segments ab from a box along the axes [m]: a convex function along the segment, by sections."""
    low, high = np.zeros(len(a)), np.ones(len(a))

    def apart(s: np.ndarray) -> np.ndarray:
        p = a + s[:, None] * (b - a)
        return np.linalg.norm(p - np.clip(p, *box), axis=1)

    for _ in range(40):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        nearer = apart(left) < apart(right)
        low, high = np.where(nearer, low, left), np.where(nearer, right, high)
    return np.minimum(apart((low + high) / 2), np.minimum(apart(np.zeros(len(a))), apart(np.ones(len(a)))))
