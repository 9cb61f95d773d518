"""Compares solvers of yours with garra's methods, SciPy and Siconos on contact, LCP and MCP sets, in one run."""

from __future__ import annotations

import copy
import json
import os
import platform
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from garra import _core
from garra.bench import profiles
from garra.bench.problems import Problem, applications, lower_levels
from garra.study.progress import Progress, count_listener

KINDS = ("contact", "lcp", "mcp")
"""Kinds of sets: friction contact problems (A, b, mu), linear complementarity problems (M, q), and Problem."""
_ENDINGS = ("converged", "inaccurate", "crashed", "gave_up")
_FILES = (".npz", ".h5", ".hdf5")
_registered: dict[str, dict[str, Callable[..., Any]]] = {kind: {} for kind in KINDS}


def register(name: str, function: Callable[..., Any], kind: str = "mcp") -> None:
    """Enters a solver of yours in the comparisons of a kind.

    Parameters
    ----------
    name : str
        Name in tables. A second function of the same name replaces the first.
    function : callable
        Of one problem. "contact": A [3k, 3k], b [3k], mu [k] to forces [3k]. "lcp": M [n, n], q [n] to z [n]. "mcp": a
        Problem to x [n]. An exception counts as a failure; NaN too. The table shows the first exception.
    kind : str
        One of KINDS.

    Raises
    ------
    TypeError
        For something that is no function.
    garra.UsageError
        For an unknown kind.

    Examples
    --------
    >>> garra.bench.register("inverse", lambda M, q: np.maximum(np.linalg.solve(M, -q), 0), kind="lcp")
    >>> "inverse" in [s["name"] for s in garra.bench.compare("lcp", garra.bench.lcp_set(3, 4)).solvers]
    True
    """
    if not callable(function):
        raise TypeError(f"function is {type(function).__name__}: a function of one problem is needed")
    _registered[_kind(kind)][str(name)] = function


@dataclass(frozen=True)
class Comparison:
    """Solvers side by side on one set.

    Examples
    --------
    >>> garra.bench.compare("mcp", [garra.bench.problems.jr1()]).problems
    1
    """

    name: str
    problems: int
    tolerance: float
    solvers: list[dict[str, Any]]
    """as the sets of bench.json: name, not_run, tried, solved, seconds, and per problem ending, seconds, residual"""

    def profile(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Performance profiles (Dolan, Moré 2002).

        Returns
        -------
        dict
            Factors and shares by name, as garra.bench.profiles.performance().

        Examples
        --------
        >>> comparison = garra.bench.compare("mcp", [garra.bench.problems.jr1()])
        >>> float(comparison.profile()["garra auto"][1][-1])
        1.0
        """
        return profiles.performance({"problems": self.problems, "solvers": self.solvers})

    def add_to(self, folder: str | os.PathLike[str]) -> Path:
        """Adds the set to the benchmark of a folder, or makes one; `python -m garra.bench_report FOLDER` makes the page.

        Parameters
        ----------
        folder : path
            Folder, as that of `garra contact bench -o FOLDER`.

        Returns
        -------
        Path
            bench.json.

        Raises
        ------
        garra.page.run_folder.RunError
            For a damaged bench.json.

        Examples
        --------
        >>> comparison = garra.bench.compare("mcp", [garra.bench.problems.jr1()])
        >>> comparison.add_to(tmp / "bench").name
        'bench.json'
        """
        from garra.bench.report import SCHEMA, read

        path = Path(folder) / "bench.json"
        bench: dict[str, Any] = {
            "kind": "contact_bench",
            "schema": SCHEMA,
            "garra": _core.version,
            "machine": platform.processor() or platform.machine(),
            "device": None,
            "siconos": False,
            "tolerance": self.tolerance,
            "trusted": 0.99,
            "time_limit": 0,
            "methods": [],
            "sets": [],
            "mncp": None,
            "repetitions": 1,
            "command": "garra.bench.compare",
            "compiler": platform.python_implementation(),
            "seed": 0,
            "seconds": 0.0,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        if path.exists():
            bench = read(folder)
        group = {"name": self.name, "description": "compared from Python: wall clock of single calls", "problems": self.problems, "not_tried": []}
        bench["sets"] = [g for g in bench["sets"] if g["name"] != self.name] + [group | {"solvers": self.solvers}]
        bench["methods"] += [s["name"] for s in self.solvers if s["name"] not in bench["methods"]]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(bench))
        return path

    def __str__(self) -> str:
        rows = [f"{self.name}: {self.problems} problems, solved: residual <= {self.tolerance:g}"]
        for s in self.solvers:
            if s["not_run"] is not None:
                rows.append(f"  {s['name']:<28} not run: {s['not_run']}")
            else:
                rows.append(f"  {s['name']:<28} {s['solved']:>5} solved {1e3 * s['seconds']['mean']:>10.3f} ms a problem")
                if s["raised"]:
                    rows.append(f"  {'':<28} raised {s['raised']}")
        return "\n".join(rows)


def compare(kind: str, problems: Sequence[Any] | None = None, *, tolerance: float = 1e-6, progress: Progress = False) -> Comparison:
    """Runs garra's methods, peers and registered solvers on one set; one certificate decides for all.

    Parameters
    ----------
    kind : str
        One of KINDS.
    problems : sequence, optional
        (A, b, mu), (M, q) or Problem. Default: random contacts, random LCPs, or the set of garra.bench.problems.
    tolerance : float
        Solved: residual <= tolerance, recomputed from the answer alone. garra's methods are asked for it, or for their
        default, 1e-8, if that is less; peers and registered solvers run as they are. Other answers are "inaccurate".
    progress : bool or callable, optional
        True shows a line on stderr; a function gets {"solves", "of", "seconds", "seconds_left"} after each solve.

    Returns
    -------
    Comparison
        Times are those of single calls, by the wall clock.

    Raises
    ------
    garra.UsageError
        For an unknown kind, no problem, and problems that are not such tuples of such shapes.

    Examples
    --------
    >>> comparison = garra.bench.compare("lcp", garra.bench.lcp_set(5, 6))
    >>> comparison.solvers[0]["name"], comparison.solvers[0]["solved"]
    ('garra lemke', 5)
    """
    kind = _kind(kind)
    defaults: dict[str, Callable[[], Sequence[Any]]] = {
        "contact": contact_set,
        "lcp": lcp_set,
        "mcp": lambda: [*applications(), *lower_levels()],
    }
    given = _checked(kind, defaults[kind]() if problems is None else problems)
    error = {"contact": _contact_error, "lcp": _lcp_error, "mcp": lambda p, x: p.error(x)}[kind]
    solvers = {**_own(kind, min(tolerance, 1e-8)), **_peers(kind), **_registered[kind]}
    show = count_listener(progress, len(solvers) * len(given), "solves")
    measured: list[dict[str, Any]] = []
    for name, solve in solvers.items():
        before = len(measured) * len(given)
        measured.append(_measured(name, solve, kind, given, error, tolerance, lambda n, b=before: show and show(b + n)))
    return Comparison(kind, len(given), tolerance, measured)


def contact_set(count: int = 50, contacts: int = 3, seed: int = 0) -> list[tuple[np.ndarray, ...]]:
    """Random contact problems: A = G G' of a grasp matrix G with six rows, compliance 0.01, friction 0.2 to 1.

    Parameters
    ----------
    count, contacts : int
        Numbers of problems and of contacts of each.
    seed : int
        Of the draws.

    Returns
    -------
    list of tuple
        (A, b, mu).

    Examples
    --------
    >>> A, b, mu = garra.bench.contact_set(1, 2)[0]
    >>> A.shape, b.shape, mu.shape
    ((6, 6), (6,), (2,))
    """
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        G = rng.normal(size=(3 * contacts, 6))
        out.append((G @ G.T + 0.01 * np.eye(3 * contacts), rng.normal(size=3 * contacts), rng.uniform(0.2, 1, contacts)))
    return out


def lcp_set(count: int = 20, size: int = 50, seed: int = 0) -> list[tuple[np.ndarray, ...]]:
    """Random linear complementarity problems with positive definite matrices that are not symmetric.

    Parameters
    ----------
    count, size : int
        Numbers of problems and of pairs of each.
    seed : int
        Of the draws.

    Returns
    -------
    list of tuple
        (M, q).

    Examples
    --------
    >>> M, q = garra.bench.lcp_set(1, 7)[0]
    >>> M.shape, q.shape
    ((7, 7), (7,))
    """
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        G = rng.normal(size=(size, size)) / np.sqrt(size)
        out.append((0.1 * np.eye(size) + G @ G.T + G - G.T, rng.normal(size=size)))
    return out


def export(kind: str, problems: Sequence[Any], path: str | os.PathLike[str]) -> None:
    """Writes a set to a file, or contact problems to a folder in the layout of FCLIB.

    Parameters
    ----------
    kind : str
        "contact": arrays A, b, mu, or a folder of FCLIB files if `path` ends otherwise than a file. "lcp": M, q. "mcp": M,
        q, lower, upper, x0 and the known solution of the affine problems, under the name of each; a warning names others.
    problems : sequence
        As in compare().
    path : path
        File.npz; file.h5 (contact problems in it are read by `garra contact solve`), or a folder.

    Raises
    ------
    garra.UsageError
        For an unknown kind, problems that compare() refuses or of several sizes in one file, none that is affine, or a
        folder for other problems than contacts.

    Examples
    --------
    >>> garra.bench.export("lcp", garra.bench.lcp_set(2, 3), tmp / "set.npz")
    >>> np.load(tmp / "set.npz")["M"].shape
    (2, 3, 3)
    """
    path, problems = Path(path), _checked(_kind(kind), problems)
    if kind == "contact" and path.suffix not in _FILES:
        _write_fclib(problems, path)
        return
    if path.suffix not in _FILES:
        raise _core.UsageError(f"{path}: FCLIB has contact problems only\nGive a file whose name ends in .npz or .h5.")
    if kind == "mcp":
        named = {p.name: p for p in problems if p.M is not None}
        if left := [p.name for p in problems if p.M is None]:
            what = f"{path}: left out, because not affine (M, q): {', '.join(left)}"
            if not named:
                raise _core.UsageError(what)
            warnings.warn(what, stacklevel=2)
        fields = ("M", "q", "lower", "upper", "x0", "solution")
        known = ((f"{name}_{field}", getattr(p, field)) for name, p in named.items() for field in fields)
        arrays = {name: value for name, value in known if value is not None}
    else:
        sizes = sorted({len(problem[1]) for problem in problems})
        if len(sizes) > 1:
            remedy = "a folder, which has a file for each." if kind == "contact" else "problems of one size."
            raise _core.UsageError(f"{path}: problems of {sizes} unknowns do not go into one array\nGive {remedy}")
        names = ("A", "b", "mu") if kind == "contact" else ("M", "q")
        arrays = {name: np.stack(x) for name, x in zip(names, zip(*problems, strict=True), strict=True)}
    if path.suffix == ".npz":
        np.savez(path, **arrays)
        return
    import h5py

    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array


def _kind(kind: str) -> str:
    if kind not in KINDS:
        raise _core.UsageError(f'kind = "{kind}": no such one\nUse one of {", ".join(KINDS)}.')
    return kind


def _own(kind: str, tolerance: float) -> dict[str, Callable[..., Any]]:
    """garra's methods, each on one problem."""
    from garra import contact, lcp, mcp

    def affine(method: str) -> Callable[..., Any]:
        return lambda M, q: mcp.solve_affine(M, q, 0, np.inf, method=method, tolerance=tolerance).x

    def own(**options: Any) -> Callable[..., Any]:
        return lambda p: mcp.solve(p.F, p.lower, p.upper, p.x0, p.jacobian, tolerance=tolerance, **options).x

    if kind == "contact":
        methods = ("auto", "nsgs", "admm")
        return {f"garra {m}": lambda A, b, mu, m=m: contact.solve(A, b, mu, method=m, tolerance=tolerance).c for m in methods}
    if kind == "lcp":
        others = {f"garra {m}": affine(m) for m in ("pivoting", "interior-point", "semismooth-newton")}
        return {"garra lemke": lambda M, q: lcp.solve(M, q, tolerance=tolerance).z, **others}
    newton = {f"garra newton {m}": own(method="semismooth-newton", merit=m) for m in ("fischer-burmeister", "natural")}
    return {"garra auto": own(), **newton, "garra projected-lm": own(method="merit")}


def _peers(kind: str) -> dict[str, Callable[..., Any] | str]:
    """SciPy and Siconos, or the reason why one does not run."""
    out: dict[str, Callable[..., Any] | str] = {}
    if kind != "contact":
        out["SciPy least_squares"] = _scipy(kind)
    if kind == "lcp":
        out["Siconos lcp_lexicolemke"] = _siconos()
    if kind == "mcp":
        out["PATH"] = "no interface in this version"
    return out


def _scipy(kind: str) -> Callable[..., Any] | str:
    """scipy.optimize.least_squares with default options on the Fischer-Burmeister residual of one problem.

    Without bounds, which the residual contains: with them SciPy stays inside the box, 1e-5 from the solutions.
    """
    try:
        from scipy.optimize import least_squares
    except ImportError:
        return "SciPy is not installed"

    def phi(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a + b - np.sqrt(a * a + b * b)

    def solve(F: Callable[[np.ndarray], np.ndarray], lower: np.ndarray, upper: np.ndarray, x0: np.ndarray) -> np.ndarray:
        low, high = np.isfinite(lower), np.isfinite(upper)

        def residual(x: np.ndarray) -> np.ndarray:
            values = F(x)
            inner = np.where(high, -phi(np.where(high, upper - x, 1.0), -values), values)
            return np.where(low, phi(np.where(low, x - lower, 1.0), inner), inner)

        return least_squares(residual, np.clip(x0, lower, upper)).x

    if kind == "lcp":
        return lambda M, q: solve(lambda z: M @ z + q, np.zeros(len(q)), np.full(len(q), np.inf), np.zeros(len(q)))
    return lambda p: solve(lambda x: np.asarray(p.F(x[None]))[0], p.lower, p.upper, p.x0)


def _siconos() -> Callable[..., Any] | str:
    try:
        from siconos import numerics
    except ImportError:
        return "Siconos is not installed"

    def solve(M: np.ndarray, q: np.ndarray) -> np.ndarray:
        z, w = np.zeros(len(q)), np.zeros(len(q))
        options = numerics.SolverOptions(numerics.SICONOS_LCP_LEMKE)
        info = numerics.lcp_lexicolemke(numerics.LCP(M, q), z, w, options)
        return z if info == 0 else np.full(len(q), np.nan)

    return solve


def _contact_error(problem: tuple[np.ndarray, ...], c: np.ndarray) -> float:
    from garra import contact

    found = contact.check_solution(*problem, c)
    return float(found.residual)


def _lcp_error(problem: tuple[np.ndarray, ...], z: np.ndarray) -> float:
    M, q = problem
    return float(abs(np.minimum(z, M @ z + q)).max())


def _checked(kind: str, problems: Any) -> list[Any]:
    parts = {"contact": ("A", "b", "mu"), "lcp": ("M", "q")}.get(kind)
    if not isinstance(problems, Iterable):
        raise _core.UsageError(f"problems: {problems!r} is no sequence")
    given = list(problems)
    if not given:
        raise _core.UsageError("problems: there is none")
    for number, problem in enumerate(given):
        if parts is None:
            if not isinstance(problem, Problem):
                raise _core.UsageError(f"problem {number} is {type(problem).__name__}, no garra.bench.problems.Problem")
            continue
        if not (isinstance(problem, tuple | list) and len(problem) == len(parts)):
            raise _core.UsageError(f"problem {number} is no tuple ({', '.join(parts)})")
        shapes = [np.shape(part) for part in problem]
        n = shapes[0][0] if shapes[0] else 0
        if not n or shapes != [(n, n), (n,), (n / 3,)][: len(parts)]:
            had = ", ".join(f"{name} {list(shape)}" for name, shape in zip(parts, shapes, strict=True))
            wanted = "A [3k, 3k], b [3k], mu [k]" if kind == "contact" else "M [n, n], q [n]"
            raise _core.UsageError(f"problem {number} has {had}, not {wanted}")
    return given


def _measured(
    name: str,
    solve: Callable[..., Any] | str,
    kind: str,
    given: list[Any],
    error: Callable[[Any, np.ndarray], float],
    tolerance: float,
    done: Callable[[int], object],
) -> dict[str, Any]:
    if isinstance(solve, str):
        done(len(given))
        return {"name": name, "not_run": solve, "tried": 0, "solved": 0}
    endings, seconds, residuals, raised = [], [], [], []
    for problem in given:
        own = copy.deepcopy(problem)  # a solver may work in its arrays
        begin = perf_counter()
        try:
            try:
                x = np.asarray(solve(own) if kind == "mcp" else solve(*own), dtype=float)
            finally:
                seconds.append(perf_counter() - begin)
            unknowns = np.shape(problem.x0 if kind == "mcp" else problem[1])
            if x.shape != unknowns:
                raise ValueError(f"an answer of shape {x.shape}, not {unknowns}")
            residual = error(problem, x) if np.isfinite(x).all() else np.nan
            endings.append(0 if residual <= tolerance else 3 if np.isnan(residual) else 1)
        except Exception as failure:  # whatever a solver raises is its failure
            raised.append(f"{type(failure).__name__}: {failure}")
            residual = np.nan
            endings.append(2)
        residuals.append(None if np.isnan(residual) else residual)
        done(len(residuals))
    failures = {kind: endings.count(number) for number, kind in enumerate(_ENDINGS) if number}
    quantiles = np.quantile(seconds, [0.5, 0.999]) if seconds else np.zeros(2)
    return {
        "name": name,
        "not_run": None,
        "tried": len(given),
        "solved": endings.count(0),
        "seconds": {
            "median": float(quantiles[0]),
            "mean": float(np.mean(seconds)) if seconds else 0.0,
            "p999": float(quantiles[1]),
        },
        "iterations": {"median": None, "max": None},
        "raised": raised[0].split("\n")[0] if raised else None,
        "failures": {kind: count for kind, count in failures.items() if count},
        "throughput": [],
        "same_answers_in_lanes": None,
        "problems": {"ending": endings, "seconds": seconds, "residual": residuals},
    }


def _write_fclib(problems: Sequence[tuple[np.ndarray, ...]], folder: Path) -> None:
    """One file for each problem: u = W r + q with W by columns."""
    import h5py

    folder.mkdir(parents=True, exist_ok=True)
    for number, (A, b, mu) in enumerate(problems):
        size = len(b)
        with h5py.File(folder / f"problem_{number:05d}.hdf5", "w") as file:
            group = file.create_group("fclib_local")
            group["spacedim"] = np.array([3], dtype=np.int32)
            W = group.create_group("W")
            for key, value in {"m": size, "n": size, "nzmax": size * size, "nz": -1}.items():
                W[key] = np.array([value], dtype=np.int32)
            W["p"] = np.arange(0, size * size + 1, size, dtype=np.int32)
            W["i"] = np.tile(np.arange(size, dtype=np.int32), size)
            W["x"] = np.asarray(A, dtype=float).T.ravel()
            vectors = group.create_group("vectors")
            vectors["q"], vectors["mu"] = np.asarray(b, dtype=float), np.asarray(mu, dtype=float)
