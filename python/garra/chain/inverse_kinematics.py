"""Numeric inverse kinematics of many poses at once, on the poses and Jacobians of a Chain."""

from __future__ import annotations

from typing import Any

import numpy as np

from garra.batch import Batch


def _vee(m: np.ndarray) -> np.ndarray:
    return np.stack([m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]], axis=-1)


def rotation_vectors(R: np.ndarray) -> np.ndarray:
    """[n, 3] of rotations [n, 3, 3], by quaternions, so that half turns are exact."""
    trace = np.trace(R, axis1=1, axis2=2)
    # Quaternion (w, v) by the largest of its four squares, after Shepperd.
    squares = np.stack([trace, R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]], axis=-1)
    best = squares.argmax(axis=-1)
    q = np.empty((len(R), 4))
    rows = np.arange(len(R))
    v = _vee(R)
    q[:, 0] = 1 + trace
    q[:, 1:] = v
    for axis in range(3):
        i, j, k = axis, (axis + 1) % 3, (axis + 2) % 3
        at = rows[best == axis + 1]
        m = R[at]
        q[at, 0] = v[at, i]
        q[at, 1 + i] = 1 + m[:, i, i] - m[:, j, j] - m[:, k, k]
        q[at, 1 + j] = m[:, i, j] + m[:, j, i]
        q[at, 1 + k] = m[:, i, k] + m[:, k, i]
    q *= np.where(q[:, :1] < 0, -1.0, 1.0)
    length = np.linalg.norm(q[:, 1:], axis=-1)
    angle = 2 * np.arctan2(length, q[:, 0])
    scale = np.where(length > 0, angle / np.where(length > 0, length, 1), 2.0)
    return q[:, 1:] * scale[:, None]


def _remaining(robot: Any, target: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Twist [n, 6] (v, w) in world axes that leads from the tool's poses to the targets, and the Jacobians [n, 6, j]."""
    found = robot.evaluate(q, outputs=("pose", "jacobian"))
    turn = target[:, :3, :3] @ found.pose[:, :3, :3].swapaxes(1, 2)
    return np.concatenate([target[:, :3, 3] - found.pose[:, :3, 3], rotation_vectors(turn)], axis=-1), found.jacobian


def _starts(robot: Any, q0: np.ndarray | None, count: int, draws: np.random.Generator | None) -> np.ndarray:
    lower = np.where(np.isfinite(robot.lower), robot.lower, -np.pi)
    upper = np.where(np.isfinite(robot.upper), robot.upper, np.pi)
    if draws is not None:
        return draws.uniform(lower, upper, (count, robot.n))
    return np.tile((lower + upper) / 2, (count, 1)) if q0 is None else q0.copy()


def _descend(
    robot: Any, target: np.ndarray, q: np.ndarray, tol: float, max_iterations: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Levenberg-Marquardt from every q; joint values stay within the limits."""
    n, joints = q.shape
    damping, iterations = np.full(n, 1e-2), np.zeros(n, dtype=np.int32)
    error, jacobian = _remaining(robot, target, q)
    size = np.linalg.norm(error, axis=-1)
    for _ in range(max_iterations):
        at = np.flatnonzero((size > tol) & (damping < 1e8))
        if not len(at):
            break
        J, e = jacobian[at], error[at]
        normal = J.swapaxes(1, 2) @ J + damping[at, None, None] * np.eye(joints)
        step = np.linalg.solve(normal, (J.swapaxes(1, 2) @ e[..., None]))[..., 0]
        trial = np.clip(q[at] + step, robot.lower, robot.upper)
        new_error, new_jacobian = _remaining(robot, target[at], trial)
        new_size = np.linalg.norm(new_error, axis=-1)
        better = new_size < size[at]
        damping[at] = np.maximum(damping[at] * np.where(better, 0.1, 10.0), 1e-15)
        iterations[at] += 1
        good = at[better]
        q[good], error[good], jacobian[good], size[good] = (
            trial[better], new_error[better], new_jacobian[better], new_size[better],
        )  # fmt: skip
    return q, size, iterations


def solve(
    robot: Any, pose: Any, q0: Any, tol: float, max_iterations: int, starts: int, seed: int
) -> tuple[Any, Any, Any, Any]:
    """See Chain.inverse_kinematics()."""
    batch = Batch(("pose", pose, (4, 4)), ("q0", q0, (robot.n,)))
    target = batch["pose"]
    q = np.full((batch.count, robot.n), np.nan)
    residual, iterations = np.full(batch.count, np.inf), np.zeros(batch.count, dtype=np.int32)
    draws = np.random.Generator(np.random.Philox(seed))
    open_ = np.flatnonzero(np.isfinite(target).all(axis=(1, 2)))
    for start in range(starts):
        first = _starts(robot, None if q0 is None else batch["q0"][open_], len(open_), draws if start else None)
        found, size, steps = _descend(robot, target[open_], first, tol, max_iterations)
        iterations[open_] += steps
        better = size < residual[open_]
        q[open_[better]], residual[open_[better]] = found[better], size[better]
        open_ = open_[residual[open_] > tol]
        if not len(open_):
            break
    return batch.out(q), batch.out(residual <= tol), batch.out(residual), batch.out(iterations)
