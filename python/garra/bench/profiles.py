"""Profiles and rankings out of bench.json. docs/notes/solver-benchmark.md has the definitions.

E. D. Dolan, J. J. Moré, Benchmarking optimization software with performance profiles, Math. Program. 91, 2002:
rho_s(tau) is the share of problems that solver s solves within tau times the smallest time of any solver.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CONVERGED = 0  # index of `converged` in `endings`

Table = dict[str, Any]


def ran(solver: Table) -> bool:
    return solver["not_run"] is None and solver["tried"] > 0


def share(solver: Table) -> float:
    return solver["solved"] / solver["tried"]


def times(solver: Table, problems: int) -> np.ndarray:
    """Time of each problem: infinite where it is not solved, NaN where it was not tried."""
    out = np.full(problems, np.nan)
    ending = np.array(solver["problems"]["ending"])
    out[: solver["tried"]] = np.where(ending == CONVERGED, solver["problems"]["seconds"], np.inf)
    return out


def performance(group: Table) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Solver -> factors tau where its profile rises, and rho(tau) there. Over the problems that it tried."""
    solvers = [s for s in group["solvers"] if ran(s)]
    if not solvers:
        return {}
    table = np.array([times(s, group["problems"]) for s in solvers])
    best = np.fmin.reduce(table, axis=0)
    out = {}
    for solver, row in zip(solvers, table, strict=True):
        with np.errstate(invalid="ignore"):
            ratios = np.sort(row[: solver["tried"]] / best[: solver["tried"]])
        ratios = ratios[np.isfinite(ratios)]
        out[solver["name"]] = (ratios, np.arange(1, len(ratios) + 1) / solver["tried"])
    return out


def accuracy(group: Table) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Solver -> residuals in rising order, and the share of its problems at or below each."""
    out = {}
    for solver in group["solvers"]:
        if ran(solver):
            values = np.array([np.inf if r is None else r for r in solver["problems"]["residual"]], dtype=float)
            values = np.sort(values[np.isfinite(values)])
            out[solver["name"]] = (values, np.arange(1, len(values) + 1) / solver["tried"])
    return out


def trusted(group: Table, least: float) -> list[Table]:
    """Solvers that solve at least this share, the quickest first (mean time over all that they tried)."""
    return sorted((s for s in group["solvers"] if ran(s) and share(s) >= least), key=lambda s: s["seconds"]["mean"])


def ratio_to_best(group: Table, solver: Table, least: float) -> float | None:
    """Mean time over that of the quickest solver to trust."""
    best = trusted(group, least)
    return solver["seconds"]["mean"] / best[0]["seconds"]["mean"] if best else None
