"""Contact forces of grasps whose contacts are redundant (A singular: a cube gripped flat has eight).

Rigid contacts with friction may then have several solutions, and contact.solve may find one in which the object slips
on a few of them although all together could hold it. Here the one in which nothing moves counts, where there is one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from garra import contact
from garra.grasp.robustness import MOTION, contact_motion

NULL = 1e-10  # of the largest eigenvalue: a direction in which nothing moves


@dataclass(frozen=True, eq=False)
class Forces:
    """Results of problems [n]: forces and accelerations [n, 3k], residuals and whether they are certified [n]."""

    c: np.ndarray
    a: np.ndarray
    residual: np.ndarray
    converged: np.ndarray
    several: np.ndarray  #: the solver's own solution moves, and another certified one does not

    def still(self, b: np.ndarray) -> np.ndarray:
        """Mask of certified solutions that stick at every contact."""
        return self.converged & ~np.any(contact_motion(self.a, b), axis=(0, -1))


def solve(A: np.ndarray, b: np.ndarray, mu: np.ndarray, tolerance: float) -> Forces:
    """Problems A [n, 3k, 3k], b [n, 3k], mu [n, k], with forces that let nothing move where there are any."""
    found = _copied(contact.solve(A, b, mu, tolerance=tolerance))
    moved = A[0].any(axis=0)  # a prop has no friction: two of its rows are empty
    values = np.linalg.eigvalsh(A[0][moved][:, moved])
    left = np.flatnonzero(~found.still(b))
    if values[0] > NULL * values[-1] or not len(left):
        return found
    least = (MOTION * np.abs(b[left]).max(axis=-1))[:, None]
    least[least == 0] = 1
    start = np.where(found.converged[left, None], found.c[left], 0)
    c = contact.can_rest(A[left] / least[..., None], b[left] / least, mu[left], 1, c=start).force
    there = ~np.isnan(c).any(axis=-1)
    left, c = left[there], c[there]
    if not len(left):
        return found
    # At rest to the last bit: forces that move nothing are added or left out.
    inverse = np.linalg.pinv(A[left], rcond=NULL, hermitian=True)
    c = c - _times(inverse, _times(A[left], c) + b[left])
    checked = _copied(contact.check_solution(A[left], b[left], mu[left], c, tolerance=tolerance))
    still = checked.still(b[left])
    found.several[left[still]] = found.converged[left[still]]
    for whole, part in zip(_arrays(found), _arrays(checked), strict=True):
        whole[left[still]] = part[still]
    return found


def _times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return (matrices @ vectors[..., None])[..., 0]


def _copied(s: contact.Solutions) -> Forces:
    return Forces(*(np.array(x) for x in (s.c, s.a, s.residual, s.converged)), np.zeros(len(s.converged), bool))


def _arrays(forces: Forces) -> tuple[np.ndarray, ...]:
    return forces.c, forces.a, forces.residual, forces.converged
