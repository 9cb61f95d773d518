"""Linear complementarity problems 0 <= z ⟂ w = M z + q >= 0 by Lemke's method (docs/theory/lcp.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from garra import _core
from garra.arguments import place, positive
from garra.batch import Batch
from garra.renamed import accept_old
from garra.summary import Summary


STATUS: tuple[str, ...] = tuple("ray" if name == "stalled" else name for name in _core.statuses)
"""Names of the numbers in Solutions.status. ray: the method ended on a ray. For a copositive-plus M (positive
semidefinite ones are) there is then no solution; for others nothing is proved."""


@dataclass(frozen=True, repr=False)
class Solutions(Summary):
    """One of everything for each problem."""

    _statuses = "statuses"

    z: Any
    """[..., n], NaN where not converged"""
    w: Any
    """[..., n] M z + q"""
    residual: Any
    """[...] scaled largest |min(z_i, w_i)|"""
    pivots: Any
    """[...]"""
    status: Any
    """[...] index in STATUS"""

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return STATUS


@accept_old
def solve(M: Any, q: Any, *, tol: float = 1e-8, device: str = "cpu", threads: int = 0) -> Solutions:
    """M: [..., n, n], q: [..., n], n at most 32 (8 on a GPU). Leading axes broadcast."""
    size = np.shape(q)[-1] if np.ndim(q) else 0
    batch = Batch(("M", M, (size, size)), ("q", q, (size,)))
    arrays = _core.lcp_solve(batch["M"], batch["q"], positive("tol", tol), *place(device, threads))
    return Solutions(**{name: batch.out(arrays[name]) for name in Solutions.__dataclass_fields__})
