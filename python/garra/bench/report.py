"""The page of a solver benchmark: which method to trust, and how fast it is.

`python -m garra.bench_report` writes it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from garra.bench import figures as bench_figures
from garra.bench import profiles as bench_profiles
from garra.page import words
from garra.page.html import page
from garra.page.run_folder import DamagedFile, read_json

SCHEMA = 1
MOST_FACTOR = 1e4  # the right end of performance profiles, at most
LEAST_RESIDUAL, MOST_RESIDUAL = 1e-16, 1.0
# ending: what it says in the table
ENDINGS = {
    "stalled": "stalled",
    "iteration_limit": "iteration limit",
    "invalid_input": "invalid",
    "no_solution": "no solution",
    "out_of_reach": "out of reach",
    "gave_up": "gave up",
    "false_claim": "false claim",
    "inaccurate": "inaccurate",
    "crashed": "crashed",
    "timed_out": "timed out",
}

Table = dict[str, Any]


def read(folder: str | Path) -> Table:
    """Reads the benchmark of a folder.

    Parameters
    ----------
    folder : str or path
        Folder with bench.json.

    Returns
    -------
    dict

    Raises
    ------
    garra.page.run_folder.RunError
        For an absent or damaged bench.json.

    Examples
    --------
    >>> from garra.bench import report
    >>> report.read(tmp)
    Traceback (most recent call last):
        ...
    garra.page.run_folder.MissingFile: ...
    """
    path = Path(folder) / "bench.json"
    bench = read_json(path, remedy=f"`garra contact bench -o {folder}` makes it")
    if not isinstance(bench, dict) or bench.get("kind") != "contact_bench":
        raise DamagedFile(f"{path}: is no solver benchmark")
    if bench.get("schema") != SCHEMA:
        raise DamagedFile(f"{path}: schema: is {bench.get('schema')}; this garra reads {SCHEMA}")
    return bench


def make_page(folder: str | Path) -> str:
    """Makes the page of the benchmark in a folder.

    Parameters
    ----------
    folder : str or path
        Folder with bench.json.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    garra.page.run_folder.RunError
        For an absent or damaged bench.json.

    Examples
    --------
    The folder is one that `garra contact bench -o BENCH` writes.

    >>> from garra.bench import report
    >>> report.make_page("BENCH")  # doctest: +SKIP
    """
    bench = read(folder)
    try:
        return build(bench)
    except (KeyError, TypeError, IndexError) as error:
        raise DamagedFile(f"{Path(folder) / 'bench.json'}: damaged: {error!r}") from error


def build(bench: Table) -> str:
    """Makes the page of a benchmark.

    Parameters
    ----------
    bench : dict
        Content of bench.json.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    The folder is one that `garra contact bench -o BENCH` writes.

    >>> from garra.bench import report
    >>> report.build(report.read("BENCH"))  # doctest: +SKIP
    """
    groups = [group for group in bench["sets"] if group["problems"] > 0]
    return page(
        "bench/report.html",
        facts=_facts(groups, bench),
        line=bench_figures.key,
        short_time=short_time,
        factor=factor,
        bench=bench,
        css=bench_figures.css(),
        groups=groups,
        answers=[_answer(group, bench) for group in groups],
        robust=_robust(groups, bench),
        profiles=[_profiles(group, bench) for group in groups],
        methods=_shown(groups, bench),
        cells=_cells(groups, bench),
        details=[_details(group, bench) for group in groups],
        refused=_refused(bench),
        mncp=_mncp(bench["mncp"]),
    )


def _facts(groups: list[Table], bench: Table) -> list[str]:
    siconos = ", Siconos among them" if bench["siconos"] else ""
    return [
        f"{words.plural(len(groups), 'set')} of friction contact problems",
        f"{words.plural(len(_shown(groups, bench)), 'solver')}{siconos}",
        f"solved: residual ≤ {words.number(bench['tolerance'])}, by one certificate for all",
        bench["machine"],
    ]


def short_time(seconds: float | None) -> str:
    """Time with its unit.

    Parameters
    ----------
    seconds : float or None
        Time [s].

    Returns
    -------
    str

    Examples
    --------
    >>> from garra.bench import report
    >>> report.short_time(0.0025).split()
    ['2.5', 'ms']
    """
    if seconds is None:
        return words.MISSING
    scale, unit = next(((s, u) for s, u in ((1e6, "µs"), (1e3, "ms")) if seconds * s < 1000), (1.0, "s"))
    return f"{words.number(seconds * scale)}{words.NARROW}{unit}"


def factor(ratio: float | None) -> str:
    """Factor of two digits: 1.2, 45, 1,100.

    Parameters
    ----------
    ratio : float or None
        Factor.

    Returns
    -------
    str

    Examples
    --------
    >>> from garra.bench import report
    >>> report.factor(1.23), report.factor(45.4)
    ('1.2', '45')
    """
    if ratio is None:
        return words.MISSING
    return f"{ratio:.1f}" if ratio < 9.95 else words.count(int(float(f"{ratio:.2g}")))


def share_text(part: int, whole: int) -> str:
    """Percentage with as many decimals as the number of problems carries.

    Parameters
    ----------
    part, whole : int
        Numbers of problems.

    Returns
    -------
    str

    Examples
    --------
    >>> from garra.bench import report
    >>> report.share_text(99, 100).split()
    ['99', '%']
    """
    return words.percent(part / whole, 0 if whole <= 100 else 1 if whole <= 1000 else 2)


def _answer(group: Table, bench: Table) -> Table:
    ranked = bench_profiles.trusted(group, bench["trusted"])
    rows = [{"name": solver["name"]} | _cell(group, solver, bench) for solver in ranked]
    best = max((s for s in group["solvers"] if bench_profiles.ran(s)), key=bench_profiles.share, default=None)
    most = f"{best['name']}, {share_text(best['solved'], best['tried'])}" if best and not rows else ""
    return {"name": group["name"], "description": group["description"], "rows": rows, "most": most}


def _robust(groups: list[Table], bench: Table) -> Table:
    """Solvers to trust on every set that they can take, and the sets won by each solver."""
    wins: dict[str, int] = {}
    for group in groups:
        for solver in bench_profiles.trusted(group, bench["trusted"])[:1]:
            wins[solver["name"]] = wins.get(solver["name"], 0) + 1
    everywhere = []
    for name in bench["methods"]:
        runs = [s for g in groups for s in g["solvers"] if s["name"] == name and bench_profiles.ran(s)]
        if groups and len(runs) == len(groups) and all(bench_profiles.share(s) >= bench["trusted"] for s in runs):
            everywhere.append((_mean_factor(groups, runs, bench), name))
    return {
        "everywhere": [name for _, name in sorted(everywhere)],
        "wins": _wins(sorted(wins.items(), key=lambda item: -item[1]), len(groups)),
    }


def _wins(wins: list[tuple[str, int]], sets: int) -> str:
    if not wins:
        return "No set has a solver to trust"
    (name, n), *others = wins
    also = "".join(f", {other} on {k}" for other, k in others)
    return f"{name} is the quickest to trust on {n} of {words.plural(sets, 'set')}{also}"


def _mean_factor(groups: list[Table], runs: list[Table], bench: Table) -> float:
    """Geometric mean over the sets of a solver's time over that of the quickest one to trust."""
    ratios = [bench_profiles.ratio_to_best(g, s, bench["trusted"]) or 1.0 for g, s in zip(groups, runs, strict=True)]
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def _shown(groups: list[Table], bench: Table) -> list[str]:
    """Methods that ran on at least one set, in the order of the benchmark."""
    ran = {s["name"] for g in groups for s in g["solvers"] if bench_profiles.ran(s)}
    return [name for name in bench["methods"] if name in ran]


def _profiles(group: Table, bench: Table) -> Table:
    order = {name: i for i, name in enumerate(bench["methods"])}
    curves = {
        kind: sorted(((n, x, y) for n, (x, y) in find(group).items()), key=lambda c: order.get(c[0], len(order)))
        for kind, find in (("performance", bench_profiles.performance), ("accuracy", bench_profiles.accuracy))
    }
    tops = [x[-1] for _, x, _ in curves["performance"] if len(x)]
    most = min(max(10.0, 10 ** _ceil_log10(max(tops, default=10))), MOST_FACTOR)
    lows = [x[x > 0][0] for _, x, _ in curves["accuracy"] if (x > 0).any()]
    least = max(LEAST_RESIDUAL, 10 ** (_ceil_log10(min(lows, default=LEAST_RESIDUAL)) - 1))
    name = group["name"]
    return {
        "name": name,
        "description": group["description"],
        "problems": group["problems"],
        "partial": [s["name"] for s in group["solvers"] if bench_profiles.ran(s) and s["tried"] < group["problems"]],
        "performance": bench_figures.performance(
            f"perf-{name}", name, _extended(curves["performance"], 1.0, most), most
        ),
        "accuracy": bench_figures.accuracy(
            f"acc-{name}", name, _extended(curves["accuracy"], least, MOST_RESIDUAL), bench["tolerance"],
            (least, MOST_RESIDUAL),
        ),
    }  # fmt: skip


def _ceil_log10(x: float) -> int:
    return math.ceil(math.log10(x) - 1e-12)


def _extended(curves: list, low: float, high: float) -> list:
    """Each profile from the left end of the axis to the right."""
    out = []
    for name, x, y in curves:
        start = y[x <= low][-1] if (x <= low).any() else 0.0
        inside = (x > low) & (x < high)
        last = y[x < high][-1] if (x < high).any() else start
        out.append((name, np.concatenate([[low], x[inside], [high]]), np.concatenate([[start], y[inside], [last]])))
    return out


def _failures(solver: Table) -> str:
    return ", ".join(f"{ENDINGS.get(kind, kind)} {count}" for kind, count in solver["failures"].items())


def _cells(groups: list[Table], bench: Table) -> dict[str, list[Table | None]]:
    """method -> its cell for every set, or None if it did not run."""
    table: dict[str, list[Table | None]] = {}
    for name in _shown(groups, bench):
        row: list[Table | None] = []
        for group in groups:
            solver = next((s for s in group["solvers"] if s["name"] == name and bench_profiles.ran(s)), None)
            row.append(solver and _cell(group, solver, bench))
        table[name] = row
    return table


def _cell(group: Table, solver: Table, bench: Table) -> Table:
    share = bench_profiles.share(solver)
    return {
        "share": share_text(solver["solved"], solver["tried"]),
        "part": share,
        "trusted": share >= bench["trusted"],
        "mean": solver["seconds"]["mean"],
        "ratio": bench_profiles.ratio_to_best(group, solver, bench["trusted"]),
        "failures": _failures(solver),
        "partial": solver["tried"] < group["problems"],
    }


def _details(group: Table, bench: Table) -> Table:
    runs = [solver for solver in group["solvers"] if bench_profiles.ran(solver)]
    gpus = any(_rate(solver, gpu=True) for solver in runs)
    rows = [
        solver | _cell(group, solver, bench) | {"cells": _numbers(group, solver, bench, gpus)}
        if bench_profiles.ran(solver)
        else {"name": solver["name"], "not_run": solver["not_run"].split("\n")[0]}
        for solver in group["solvers"]
    ]
    return {key: group[key] for key in ("name", "description", "problems")} | {"rows": rows, "gpus": gpus}


def _rate(solver: Table, gpu: bool) -> float | None:
    """Problems per second: of a core, or of a GPU."""
    rates = {t["device"]: t for t in solver["throughput"]}
    rate = next((t for t in rates.values() if bool(t["threads"]) != gpu), None)
    if rate is None or gpu:
        return rate and rate["problems_per_second"]
    return rate.get("problems_per_core_second", rate["problems_per_second"] / rate["threads"])


def _numbers(group: Table, solver: Table, bench: Table, gpus: bool) -> list[str]:
    rates = [_rate(solver, gpu) for gpu in ([False, True] if gpus else [False])]
    return [
        *(short_time(solver["seconds"][key]) for key in ("median", "mean", "p999")),
        factor(bench_profiles.ratio_to_best(group, solver, bench["trusted"])),
        *(words.number(solver["iterations"][key]) for key in ("median", "max")),
        *(words.count(round(rate)) if rate else words.MISSING for rate in rates),
    ]


def _refused(bench: Table) -> Table:
    files = [entry for group in bench["sets"] for entry in group["not_tried"]]
    return {"files": files, "problems": sum(entry["problems"] for entry in files)}


def _mncp(mncp: Table | None) -> Table | None:
    if not mncp or not mncp["problems"]:
        return None
    rows = []
    for i, solver in enumerate(mncp["solvers"]):
        results = [problem["results"][i] for problem in mncp["problems"]]
        solved = [r for r in results if r["status"] == "converged"]
        rows.append(
            {
                "solver": solver,
                "results": results,
                "solved": len(solved),
                "first": sum(r["starts"] == 1 for r in solved),
                "mean": sum(r["seconds"] for r in results) / len(results),
            }
        )
    unsolved = [p["name"] for p in mncp["problems"] if all(r["status"] != "converged" for r in p["results"])]
    hard = sorted(
        ((sum(r["status"] == "converged" for r in p["results"]), p["name"]) for p in mncp["problems"]),
    )
    hardest = [name for solved, name in hard if 0 < solved <= len(rows) / 2]
    return mncp | {"rows": rows, "unsolved": unsolved, "hardest": hardest}
