"""Solutions and proofs that decide whether `no_solution` is right."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from scipy.optimize import nnls

from certificate.definition import Problems, judge


def rolling_proof(A: np.ndarray, b: np.ndarray, d: int = 3) -> bool:
    """Is there y >= 0 with A E_n y = 0 and b_n.y < 0? By nonnegative least squares; d numbers per contact."""
    columns = A[:, ::d] / max(np.abs(A).max(), 1e-300)
    load = b[::d] / max(np.abs(b).max(), 1e-300)
    rows = np.vstack([columns, load])
    y, rest = nnls(rows, np.append(np.zeros(len(A)), -1.0), maxiter=1000)
    return bool(rest < 1e-7 and (np.abs(columns @ y) <= 1e-11 * max(y.sum(), 1)).all())


def sliding_solution(p: Problems, i: int) -> bool:
    """Does an all-sliding problem have a solution? Tries all sets of bearing contacts; the last step is exact."""
    k = p.mu.shape[1]
    blocks = p.A[i].reshape(k, 3, k, 3)[:, 0]  # rows of the normals
    M = blocks[..., 0] - p.mu[i] * (blocks[..., 1:] * p.slip[i]).sum(-1)
    bears = np.array(list(itertools.product([False, True], repeat=k)))
    parts = np.where(bears[:, :, None] & bears[:, None, :], M, np.eye(k))
    c_n = np.einsum("mij,mj->mi", np.linalg.pinv(parts), np.where(bears, -p.b[i, ::3], 0))
    c_n = np.where(bears, np.maximum(c_n, 0), 0)
    c = np.concatenate([c_n[..., None], (-p.mu[i] * c_n)[..., None] * p.slip[i]], -1).reshape(len(c_n), 3 * k)
    close = ~np.any(list(judge(p[np.full(len(c), i)], c)[0].values()), axis=0)
    return any(is_solution(M, p.b[i, ::3], np.flatnonzero(some)) for some in bears[close])


def is_solution(M: np.ndarray, q: np.ndarray, bearing: np.ndarray) -> bool:
    """Exactly: M_bb x = -q_b has one solution, x >= 0, and M x + q >= 0."""
    rows = [[Fraction(M[r, s]) for s in bearing] + [-Fraction(q[r])] for r in bearing]
    for step in range(len(rows)):  # Gauss and Jordan
        pivot = next((r for r in range(step, len(rows)) if rows[r][step] != 0), None)
        if pivot is None:
            return False
        rows[step], rows[pivot] = rows[pivot], rows[step]
        rows[step] = [x / rows[step][step] for x in rows[step]]
        for r in range(len(rows)):
            if r != step and rows[r][step] != 0:
                rows[r] = [x - rows[r][step] * y for x, y in zip(rows[r], rows[step], strict=True)]
    x = [row[-1] for row in rows]
    others = (r for r in range(len(q)) if r not in bearing)
    a = (sum((Fraction(M[r, s]) * y for s, y in zip(bearing, x, strict=True)), Fraction(q[r])) for r in others)
    return min(x, default=0) >= 0 and all(y >= 0 for y in a)
