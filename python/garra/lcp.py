"""Linear complementarity problems 0 <= z ⟂ w = M z + q >= 0 by Lemke's method (docs/theory/lcp.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from garra import _core
from garra.arguments import of_arrays, place, positive
from garra.batch import Batch
from garra.renamed import accept_old
from garra.summary import Summary

STATUS: tuple[str, ...] = tuple("ray" if name == "stalled" else name for name in _core.statuses)
"""Names of the numbers in Solutions.status. "ray": the method ended on a ray. This proves that no solution exists for a
copositive-plus M, such as a positive semidefinite one, up to rounding; for others it proves nothing."""

_MOST_IN_LANES = 32
"""Most pairs of the code for SIMD lanes; larger problems are solved one by one."""


@dataclass(frozen=True, repr=False)
class Solutions(Summary):
    """Solutions of a batch; [...] are the leading axes of the problems.

    Examples
    --------
    >>> s = garra.lcp.solve([[-1.0]], [-1.0])  # -z - 1 >= 0 has no solution
    >>> garra.lcp.STATUS[s.status]
    'ray'
    """

    _statuses = "statuses"

    z: Any
    """[..., n], NaN where not converged or ill_conditioned"""
    w: Any
    """[..., n] M z + q"""
    residual: Any
    """[...] largest change of q, over the largest |q|, with which z and w are an exact solution"""
    pivots: Any
    """[...] number of pivots"""
    status: Any
    """[...] index in STATUS"""

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return STATUS


@accept_old
@of_arrays
def solve(M: Any, q: Any, *, tolerance: float = 1e-8, device: str = "cpu", threads: int = 0) -> Solutions:
    """Solves a batch of linear complementarity problems by Lemke's method.

    Parameters
    ----------
    M : array_like [..., n, n]
        Any square matrix; n up to a few hundred (8 on a GPU). Leading axes broadcast.
    q : array_like [..., n]
        Constant part.
    tolerance : float
        Converged: residual <= tolerance, rounding included.
    device : str
        "cpu", "scalar", "cuda", "cuda:1".
    threads : int
        CPU threads; 0: all.

    Returns
    -------
    Solutions
        A problem that fails has a status, never an exception.

    Raises
    ------
    ValueError
        For inconsistent shapes.
    garra.DeviceError
        If the device cannot run, or for n above 8 on a GPU.

    Examples
    --------
    >>> s = garra.lcp.solve([[2, 1], [1, 2]], [-5, 1])
    >>> s.z, s.w
    (array([2.5, 0. ]), array([0. , 3.5]))
    """
    size = np.shape(q)[-1] if np.ndim(q) else 0
    batch = Batch(("M", M, (size, size)), ("q", q, (size,)))
    if size > _MOST_IN_LANES:
        return _solve_large(batch, positive("tolerance", tolerance), *place(device, threads))
    arrays = _core.lcp_solve(batch["M"], batch["q"], positive("tolerance", tolerance), *place(device, threads))
    return batch.result(Solutions, arrays)


def _solve_large(batch: Batch, tolerance: float, device: str, threads: int) -> Solutions:
    """Lemke's method on the scaled problems of garra.mcp.solve_affine(); scales are powers of two, which round nothing."""
    from garra.mcp import solve_affine

    def power_below(array: np.ndarray) -> np.ndarray:
        size = abs(array.reshape(len(array), -1)).max(axis=1, initial=0)
        usable = np.isfinite(size) & (size > 0)
        return np.exp2(np.floor(np.log2(np.where(usable, size, 1.0))))

    M, q = batch["M"], batch["q"]
    by_M, by_q = power_below(M), power_below(q)
    scaled = M / by_M[:, None, None], q / by_q[:, None]
    found = solve_affine(*scaled, 0, np.inf, method="lemke", tolerance=tolerance, device=device, threads=threads)
    z, w = found.x * (by_q / by_M)[:, None], found.F * by_q[:, None]
    parts = {"z": z, "w": w, "residual": found.residual, "pivots": found.iterations, "status": found.status}
    return batch.result(Solutions, parts)
