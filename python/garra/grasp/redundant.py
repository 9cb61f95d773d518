"""Contact forces of grasps whose contacts are redundant (A singular: a cube gripped flat has eight).

Rigid contacts with friction may then have several solutions, and contact.solve may find one in which the object slips
on a few of them although all together could hold it. Here the one in which nothing moves counts, where there is one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from garra import contact
from garra.grasp.robustness import contact_motion

NULL = 1e-10  # of the largest eigenvalue: a direction in which nothing moves
STEPS, STEPS_AT_ONCE = 2000, 100  # of the search; on 200 random pushes of a cube all forces that exist came within 1000


@dataclass(frozen=True, eq=False)
class Forces:
    """Of problems [n]: forces and accelerations [n, 3k], residuals and whether they are certified [n]."""

    c: np.ndarray
    a: np.ndarray
    residual: np.ndarray
    converged: np.ndarray

    def still(self, b: np.ndarray) -> np.ndarray:
        """Which are certified and stick at every contact."""
        return self.converged & ~np.any(contact_motion(self.a, b), axis=(0, -1))


def solve(A: np.ndarray, b: np.ndarray, mu: np.ndarray, tol: float) -> Forces:
    """Problems A [n, 3k, 3k], b [n, 3k], mu [n, k], with forces that let nothing move where there are any."""
    found = _copied(contact.solve(A, b, mu, tol=tol))
    moved = A[0].any(axis=0)  # a prop has no friction: two of its rows are empty
    values = np.linalg.eigvalsh(A[0][moved][:, moved])
    left = np.flatnonzero(~found.still(b))
    if values[0] > NULL * values[-1]:
        return found
    inverse = np.linalg.pinv(A[left], rcond=NULL, hermitian=True)
    least = -_times(inverse, b[left])  # least forces of A c + b = 0; all others differ by forces that move nothing
    free = np.eye(A.shape[-1]) - inverse @ A[left]
    x = least.copy()
    for _ in range(STEPS // STEPS_AT_ONCE):
        if not len(left):
            break
        c = _search(x, least, free, mu[left])
        judged = _copied(contact.judge(A[left], b[left], mu[left], c, tol=tol))
        still = judged.still(b[left])
        for whole, part in zip(_arrays(found), _arrays(judged), strict=True):
            whole[left[still]] = part[still]
        left, least, free, x = (rows[~still] for rows in (left, least, free, x))
    return found


def _search(x: np.ndarray, least: np.ndarray, free: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """Forces in the cones, near A c + b = 0, by Douglas and Rachford's projections, which end in forces that are in
    both where there are any; x [n, 3k] is carried on in place. contact.judge decides."""
    for _ in range(STEPS_AT_ONCE):
        sticking = least + _times(free, x)
        x += _in_cones(2 * sticking - x, mu) - sticking
    return _in_cones(least + _times(free, x), mu)


def _in_cones(c: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """The nearest forces within the friction cones."""
    n, t, o = np.moveaxis(c.reshape(*mu.shape, 3), -1, 0)
    size = np.hypot(t, o)
    pressed = np.where(size <= mu * n, n, np.maximum((n + mu * size) / (1 + mu * mu), 0))
    share = np.where(size <= mu * pressed, 1, mu * pressed / np.where(size > 0, size, 1))
    return np.stack([pressed, share * t, share * o], axis=-1).reshape(c.shape)


def _times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return (matrices @ vectors[..., None])[..., 0]


def _copied(s: contact.Solutions) -> Forces:
    return Forces(*(np.array(x) for x in (s.c, s.a, s.residual, s.converged)))


def _arrays(forces: Forces) -> tuple[np.ndarray, ...]:
    return forces.c, forces.a, forces.residual, forces.converged
