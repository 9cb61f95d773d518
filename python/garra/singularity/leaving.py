"""Motions along which the smallest singular value of an arm grows (docs/howto/arm-servo.md)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from garra.summary import Summary

_TRIAL = 0.1
"""Length of trial motions at a singularity [rad, or of the unit of length]."""
_TURNS = 16
"""Times that a trial motion is turned to where sigma grows at its end."""


@dataclass(frozen=True, repr=False)
class WayOut(Summary):
    """Growth of sigma, the smallest singular value of the Jacobian with lengths over L.

    It is not comparable with `sigma_min` of measure() and analyze(): these have another length and center.

    Examples
    --------
    >>> robot = garra.models.puma560()
    >>> out = garra.singularity.way_out(robot, [0, 0.5, -3.3, 0, 0.1, 0])  # the wrist is nearly aligned
    >>> print(out.sigma.round(3), out.motion.round(2) + 0.0)
    0.056 [ 0.   -0.08 -0.06  0.03  0.99  0.  ]
    """

    sigma: Any
    """[...] smallest singular value that is not 0 in every configuration"""
    gradient: Any
    """[..., n] derivatives of sigma by the joint values [1/rad or 1/m]; 0 at a singularity"""
    motion: Any
    """[..., n] joint motion of unit length within the limits along which sigma grows fastest [rad or m]; 0: there is none"""
    rate: Any
    """[...] growth of sigma by this motion; at a singularity the mean over a motion of 0.1"""
    twist: Any
    """[..., 6] motion of the tool point (v, w) that goes with it, world axes"""


def way_out(
    robot: Any,
    q: Any,
    *,
    length: float = 1.0,
    margin: float = 0.0,
    tolerance: float = 1e-9,
    device: str = "cpu",
    threads: int = 0,
) -> WayOut:
    """Finds the joint motion that leaves the vicinity of a singularity fastest.

    The motion is the gradient of sigma without the joints that are at a limit. At a singularity sigma has no gradient:
    escapes of analyze() are tried by motions of 0.1, turned to where sigma grows at their ends, and the best one is returned.

    Parameters
    ----------
    robot : Chain
        Arm without coupled joints.
    q : array_like [..., n]
        Joint values [rad or m].
    length : float
        Unit of length L: L m/s counts as much as 1 rad/s, and a slide of L as much as 1 rad [m].
    margin : float
        A joint nearer to a limit than this does not move towards it [rad or m].
    tolerance : float
        A singular value at most this part of the largest is 0.
    device : str
        "cpu", "scalar", "cuda", "cuda:1"; of the Jacobian.
    threads : int
        CPU threads; 0: all.

    Returns
    -------
    WayOut
        NaN for a configuration with a value that is not finite.

    Raises
    ------
    ValueError
        For another shape of q.
    garra.UsageError
        For coupled joints and options out of range.

    Examples
    --------
    >>> robot = garra.models.puma560()
    >>> near = np.array([0, 0.5, -3.3, 0, 0.1, 0])
    >>> out = garra.singularity.way_out(robot, near)
    >>> further = garra.singularity.way_out(robot, near + 0.01 * out.motion)
    >>> bool(abs(further.sigma - out.sigma - 0.01 * out.rate) < 1e-4)
    True
    """
    from garra import _core
    from garra.arguments import finite, positive
    from garra.batch import Batch

    if robot.coupled:
        raise _core.UsageError("way_out: the robot has coupled joints\nLock them (--lock, lock=).")
    length, margin, tolerance = positive("length", length), finite("margin", margin), positive("tolerance", tolerance)
    batch = Batch(("q", q, (robot.n,)))
    at, unit = batch["q"], np.where(robot.prismatic, length, 1.0)
    rows = np.repeat([1 / length, 1.0], 3)[:, None]
    low, high = at <= robot.lower + margin, at >= robot.upper - margin

    def jacobians(q: np.ndarray) -> np.ndarray:
        return rows * robot.jacobian(q, device=device, threads=threads) * unit

    J, last = jacobians(at), _generic_rank(robot) - 1
    valid = np.isfinite(J).all(axis=(1, 2))
    U, s, V = np.linalg.svd(np.where(valid[:, None, None], J, 0.0), full_matrices=False)
    sigma = s[:, last]
    singular = valid & (sigma <= tolerance * s[:, 0])
    gradient = np.where(singular[:, None], 0.0, _slopes(J, U[:, :, last], V[:, last]))
    motion, rate = _unit(np.where((low & (gradient < 0)) | (high & (gradient > 0)), 0.0, gradient))
    for i in np.flatnonzero(singular):
        def allowed(ways: np.ndarray, i: int = i) -> np.ndarray:
            return _unit(np.where((low[i] & (ways < 0)) | (high[i] & (ways > 0)), 0.0, ways))[0]

        def tried(ways: np.ndarray, i: int = i) -> tuple[np.ndarray, np.ndarray]:
            J = jacobians(at[i] + _TRIAL * unit * ways)
            U, s, V = np.linalg.svd(J, full_matrices=False)
            return s[:, last] / _TRIAL, _slopes(J, U[:, :, last], V[:, last])

        tries = allowed(_escapes(robot, at[i], 100 * tolerance))
        grown, slopes = tried(tries)
        # Near a second singularity the escape from the first one leads nowhere: sigma is that of the second one then.
        size = np.ones(len(tries))
        for _ in range(_TURNS):
            turned = allowed(tries + size[:, None] * _unit(slopes)[0])
            further, next_slopes = tried(turned)
            better = further > grown
            size = np.where(better, size, 0.5 * size)
            grown = np.where(better, further, grown)
            tries, slopes = (np.where(better[:, None], new, old) for new, old in ((turned, tries), (next_slopes, slopes)))
        rate[i], motion[i] = max(zip(grown, tries), key=lambda way: way[0], default=(0.0, 0.0))
    twist = np.einsum("mij,mj->mi", J / rows, motion)
    named = {"sigma": sigma, "gradient": gradient / unit, "motion": motion * unit, "rate": rate, "twist": twist}
    for array in named.values():
        array[~valid] = np.nan
    return batch.result(WayOut, named)


def _slopes(J: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """[m, n] u^T (dJ/dq_j) v of Jacobians [m, 6, n] in world axes about the tool point.

    Column k = (V, W) has the derivatives W_j x (V_k, W_k) by a joint j before it, and (W_k x V_j, 0) by the others.
    """
    columns = J.transpose(0, 2, 1)
    V, W = columns[..., :3], columns[..., 3:]
    until = np.cumsum(v[..., None] * columns, axis=1)
    behind = until[:, -1:] - until
    moved = np.cross(W, behind[..., :3]) + np.cross(until[..., 3:], V)
    return np.einsum("mjx,mx->mj", np.concatenate([moved, np.cross(W, behind[..., 3:])], axis=-1), u)


def _generic_rank(robot: Any) -> int:
    """Rank of the Jacobian at random joint values, found once."""
    if "_generic_rank" not in robot.__dict__:
        spread = np.random.default_rng(0).uniform(-1, 1, (8, robot.n))
        robot.__dict__["_generic_rank"] = int(np.linalg.matrix_rank(robot.jacobian(spread)).max())
    return robot.__dict__["_generic_rank"]


def _unit(motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows over their lengths; 0 stays 0."""
    size = np.linalg.norm(motion, axis=-1)
    return motion / np.where(size > 0, size, 1.0)[:, None], size


def _escapes(robot: Any, q: np.ndarray, tolerance: float) -> np.ndarray:
    """[k, n] motions of analyze() that leave a singularity, each in both directions."""
    from garra import _core

    details = json.loads(_core.singularity_analyze(robot._core, q.tolist(), tolerance, 0.25))
    ways = [details["best_direction"]] if details["best_direction"] else []
    for escape in details["escape"]:
        way = np.zeros(robot.n)
        way[escape["joints"]] = np.multiply(escape["direction"], [sign or 1 for sign in escape["sign"]])
        ways.append(way)
    found = np.reshape(np.array(ways, dtype=float), (-1, robot.n))
    return np.concatenate([found, -found])
