"""Probability that an arm with uncertain joint frames can follow a path of the tool (docs/howto/arm-paths.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from garra import _core
from garra.arguments import check_seed, real, whole
from garra.page.interval import clopper_pearson
from garra.summary import Summary
from garra.turns import turn_matrix

if TYPE_CHECKING:
    from garra.chain.robot import Chain


@dataclass(frozen=True, repr=False)
class PathProbability(Summary):
    """P(some branch passes the whole path within limits and speeds).

    Examples
    --------
    >>> robot = garra.models.ur5()
    >>> ends = robot.forward_kinematics(np.array([[0.3, -1, 1, 0.4, 0.9, 0], [0.4, -1, 1, 0.4, 0.9, 0.1]]))
    >>> garra.chain.path_probability(robot, ends, length=1e-3, angle=1e-3, samples=20).probability
    1.0
    """

    probability: float
    """share of the samples in which a branch passes"""
    interval: tuple[float, float]
    """95 % interval (Clopper-Pearson); samples without a passing branch, but with intervals without a proof, widen it"""
    passes: np.ndarray
    """[samples] True: a branch passes"""
    undecided: np.ndarray
    """[samples] True: none passes, and an interval of the path has no proof"""
    limit_distance: np.ndarray
    """[samples] of the best branch, of the joint next to a limit [rad or m]; NaN: none passes"""
    sigma_min: np.ndarray
    """[samples] smallest singular value of the best branch at the samples of the path; NaN: none passes"""


def path_probability(
    robot: Chain,
    pose: Any,
    *,
    length: float = 0.0,
    angle: float = 0.0,
    samples: int = 1000,
    seed: int = 1,
    kind: str = "straight",
    times: Any = None,
    q0: Any = None,
    near_singular: float = 0.02,
    refinements: int = 10,
    device: str = "cpu",
    threads: int = 0,
) -> PathProbability:
    """Follows a path with arms whose joint frames are displaced at random.

    Each joint's frame is turned and moved against the one before by normal angles and lengths about and along its three
    axes; this includes the offset of a joint. A frame has z along its joint's axis and its origin at the point of the axis
    that is next to the tool at q = 0 (of a slide: at the tool), wherever the robot's file has it. The probability depends
    on these origins: a turn about a far one moves the tool more.

    Parameters
    ----------
    robot : Chain
        Six joints, none of which follows another.
    pose : array_like [k, 4, 4]
        As in Chain.path().
    length, angle : float
        Standard deviations [m], [rad].
    samples : int
        Number of arms.
    seed : int
        Of the random displacements; sample i depends on the seed and i alone.
    kind, times, q0, near_singular, refinements, device, threads
        As in Chain.path().

    Returns
    -------
    PathProbability

    Raises
    ------
    ValueError
        For inconsistent shapes and negative deviations.
    garra.UsageError
        For other arms and paths.
    """
    sizes = np.repeat([real("angle", angle, 0), real("length", length, 0)], 3)
    count, like = whole("samples", samples, 1), None
    how = {"kind": kind, "times": times, "q0": q0, "near_singular": near_singular, "refinements": refinements}
    how |= {"device": device, "threads": threads}
    unit = robot.path(pose, **how).unit  # displaced axes that were parallel have far common normals
    placements, tool = _placements(robot)
    passes, undecided = np.zeros(count, bool), np.zeros(count, bool)
    room, sigma = np.full(count, np.nan), np.full(count, np.nan)
    for i in range(count):
        draws = np.random.Generator(np.random.Philox(key=[check_seed(seed), i])).standard_normal((robot.n, 6)) * sizes
        small = np.tile(np.eye(4), (robot.n, 1, 1))
        small[:, :3, :3], small[:, :3, 3] = turn_matrix(draws[:, :3]), draws[:, 3:]
        arm = type(robot)(_displaced(robot, placements @ small, tool))
        # Displaced arms have no closed form: the first one's eliminations serve all.
        like = _core.AllSolutions(arm._core, "pose") if like is None else _core.AllSolutions(arm._core, like)
        arm.__dict__ |= {"_solvers": {("pose",): like}, "_unit": unit}
        found = arm.path(pose, **how)
        passes[i], undecided[i] = bool(found), not found and len(found.undecided) > 0
        if found:
            room[i], sigma[i] = found.best.limit_distance, found.best.sigma.min()
    low = clopper_pearson(int(passes.sum()), count)[0]
    high = clopper_pearson(int((passes | undecided).sum()), count)[1]
    return PathProbability(float(passes.mean()), (low, high), passes, undecided, room, sigma)


def _placements(robot: Chain) -> tuple[np.ndarray, np.ndarray]:
    """Joint frames [n, 4, 4], z axes along the joints, each in the one before at q = 0, and the tool in the last."""
    zero = np.zeros(robot.n)
    screws, tool = robot.jacobian(zero, form="screws"), robot.forward_kinematics(zero)
    frames = np.tile(np.eye(4), (robot.n + 1, 1, 1))
    for i in range(robot.n):
        z = screws[3:, i] if robot.prismatic[i] else screws[:3, i]
        x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
        x /= np.linalg.norm(x)
        frames[i + 1, :3, :3] = np.column_stack([x, np.cross(z, x), z])
        # The point of the axis next to the tool; of a slide the tool itself.
        at = tool[:3, 3]
        frames[i + 1, :3, 3] = at if robot.prismatic[i] else np.cross(z, screws[3:, i]) + z * (z @ at)
    return np.linalg.solve(frames[:-1], frames[1:]), np.linalg.solve(frames[-1], tool)


def _displaced(robot: Chain, placements: np.ndarray, tool: np.ndarray) -> Any:
    """The arm with other joint frames, without bodies."""
    n = robot.n
    limits = np.column_stack([robot.lower, robot.upper, robot._core.velocity_limit, np.full(n, np.inf)])
    axes, bodies, zero = np.tile([0.0, 0.0, 1.0], (n, 1)), np.zeros((n, 13)), np.zeros(n)
    names, slides = list(robot.joint_names), [bool(p) for p in robot.prismatic]
    return _core.robot_from_joints(
        robot.name, names, slides, np.ascontiguousarray(placements), axes, bodies, limits, zero, zero,
        np.ascontiguousarray(tool), [0.0, 0.0, 0.0],
    )  # fmt: skip
