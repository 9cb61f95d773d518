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
    """True for a solver that tried a problem.

    Parameters
    ----------
    solver : dict
        Solver of a set of bench.json.

    Returns
    -------
    bool

    Examples
    --------
    >>> from garra.bench import profiles
    >>> profiles.ran({"not_run": None, "tried": 2})
    True
    """
    return solver["not_run"] is None and solver["tried"] > 0


def share(solver: Table) -> float:
    """Share of the tried problems that a solver solves.

    Parameters
    ----------
    solver : dict
        Solver of a set of bench.json.

    Returns
    -------
    float

    Examples
    --------
    >>> from garra.bench import profiles
    >>> profiles.share({"solved": 9, "tried": 10})
    0.9
    """
    return solver["solved"] / solver["tried"]


def times(solver: Table, problems: int) -> np.ndarray:
    """Time of each problem: infinite where it is not solved, NaN where it was not tried.

    Parameters
    ----------
    solver : dict
        Solver of a set of bench.json.
    problems : int
        Number of problems of the set.

    Returns
    -------
    array [problems]
        [s].

    Examples
    --------
    >>> from garra.bench import profiles
    >>> profiles.times({"tried": 2, "problems": {"ending": [0, 1], "seconds": [0.1, 0.2]}}, 3)
    array([0.1, inf, nan])
    """
    out = np.full(problems, np.nan)
    ending = np.array(solver["problems"]["ending"])
    out[: solver["tried"]] = np.where(ending == CONVERGED, solver["problems"]["seconds"], np.inf)
    return out


def performance(group: Table) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Performance profiles: factors tau where each profile rises, and rho(tau) there.

    A profile counts the problems that its solver tried.

    Parameters
    ----------
    group : dict
        Set of bench.json.

    Returns
    -------
    dict
        Arrays (x, y) by name.

    Examples
    --------
    >>> from garra.bench import profiles
    >>> fast = {"name": "a", "not_run": None, "tried": 2, "solved": 2, "seconds": {"mean": 1.5}}
    >>> fast["problems"] = {"ending": [0, 0], "seconds": [1.0, 2.0], "residual": [1e-9, 1e-8]}
    >>> profiles.performance({"problems": 2, "solvers": [fast]})["a"]
    (array([1., 1.]), array([0.5, 1. ]))
    """
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
    """Accuracy profiles: residuals in rising order, and the share of problems at or below each.

    Parameters
    ----------
    group : dict
        Set of bench.json.

    Returns
    -------
    dict
        Arrays (x, y) by name.

    Examples
    --------
    >>> from garra.bench import profiles
    >>> fast = {"name": "a", "not_run": None, "tried": 2, "solved": 2, "seconds": {"mean": 1.5}}
    >>> fast["problems"] = {"ending": [0, 0], "seconds": [1.0, 2.0], "residual": [1e-9, 1e-8]}
    >>> profiles.accuracy({"problems": 2, "solvers": [fast]})["a"]
    (array([1.e-09, 1.e-08]), array([0.5, 1. ]))
    """
    out = {}
    for solver in group["solvers"]:
        if ran(solver):
            values = np.array([np.inf if r is None else r for r in solver["problems"]["residual"]], dtype=float)
            values = np.sort(values[np.isfinite(values)])
            out[solver["name"]] = (values, np.arange(1, len(values) + 1) / solver["tried"])
    return out


def trusted(group: Table, least: float) -> list[Table]:
    """Solvers that solve at least this share, the quickest first (mean time over all that they tried).

    Parameters
    ----------
    group : dict
        Set of bench.json.
    least : float
        Smallest share of solved problems.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> from garra.bench import profiles
    >>> fast = {"name": "a", "not_run": None, "tried": 2, "solved": 2, "seconds": {"mean": 1.5}}
    >>> fast["problems"] = {"ending": [0, 0], "seconds": [1.0, 2.0], "residual": [1e-9, 1e-8]}
    >>> [solver["name"] for solver in profiles.trusted({"solvers": [fast]}, 0.99)]
    ['a']
    """
    return sorted((s for s in group["solvers"] if ran(s) and share(s) >= least), key=lambda s: s["seconds"]["mean"])


def ratio_to_best(group: Table, solver: Table, least: float) -> float | None:
    """Mean time over that of the quickest solver to trust.

    Parameters
    ----------
    group : dict
        Set of bench.json.
    solver : dict
        Solver of the set.
    least : float
        Smallest share of solved problems.

    Returns
    -------
    float or None
        None without a solver to trust.

    Examples
    --------
    >>> from garra.bench import profiles
    >>> fast = {"name": "a", "not_run": None, "tried": 2, "solved": 2, "seconds": {"mean": 1.5}}
    >>> fast["problems"] = {"ending": [0, 0], "seconds": [1.0, 2.0], "residual": [1e-9, 1e-8]}
    >>> profiles.ratio_to_best({"solvers": [fast]}, fast | {"seconds": {"mean": 3.0}}, 0.99)
    2.0
    """
    best = trusted(group, least)
    return solver["seconds"]["mean"] / best[0]["seconds"]["mean"] if best else None
