"""The report of a study, one HTML file that loads nothing else: a grasp's here, others in *_report.py.

usage: python -m garra.report RUN [-o report.html]
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import socket
import sys
from pathlib import Path
from typing import Any

from garra import run_folder, study_parts, words
from garra.run_folder import Run, RunError

MISSING_PACKAGE = 70
CANNOT_WRITE = 5

Table = dict[str, Any]

def build(run: Run) -> str:
    """The report as HTML; raises RunError where a file that only this job has is missing or damaged."""
    if run.summary["job"] == "grasp" and run.summary.get("study") == "time":
        from garra import grasp_time_report

        return grasp_time_report.build(run)
    if run.summary["job"] == "chain":
        from garra import chain_report

        return chain_report.build(run)
    if run.summary["job"] == "singularity":
        from garra import singularity_report

        return singularity_report.build(run)
    if run.summary["job"] == "platform":
        from garra import platform_report

        return platform_report.build(run)
    if run.summary["job"] == "platform_experiment":
        from garra import platform_experiment_report

        return platform_experiment_report.build(run)
    return _build_grasp(run)


def page(template: str, **parts: Any) -> str:
    """A template of this package, filled in; everything but figures is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("garra"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["words"] = words
    return environment.get_template(template).render(**parts)


def _build_grasp(run: Run) -> str:
    from garra import grasp_picture
    from garra.platform_page import dumps

    picture = grasp_picture.picture(run)
    return page(
        "report.html",
        run=run,
        summary=run.summary,
        manifest=run.manifest,
        headline=_headline(run),
        outcomes=_outcomes(run.summary),
        friction=_friction(run),
        contacts=_contacts(run.summary),
        metrics=_metrics(run.summary),
        unresisted=[str(text) for text in run.summary.get("unresisted", [])],
        inputs=study_parts.inputs(run.summary["inputs"], run.summary["held"]["probability"], "holding", "held"),
        solver=_solver(run.summary),
        picture=picture,
        picture_json=dumps(picture["data"]) if picture else "",
        figures=_estimate_figures(run),
        replay=lambda sample: replay_command(run, sample),
        resume=f"garra resume {shlex.quote(run.folder)}",
    )


def replay_command(run: Run, sample: int) -> str:
    return f"garra replay {shlex.quote(run.folder)} --sample {sample}"


def _headline(run: Run) -> Table:
    held, samples = run.summary["held"], run.summary["samples"]
    decimals = words.decimals_for(held["low"], held["high"])
    return {
        "probability": words.percent(held["probability"], decimals),
        "low": words.percent(held["low"], decimals),
        "high": words.percent(held["high"], decimals),
        "confidence": words.percent(held["confidence"], 0),
        "odds": words.odds(held["probability"], held["low"], held["high"], held["confidence"]),
        "study": words.study_line(run.scenario, len(run.summary["contacts"])),
        "unsolved": words.share(run.summary["outcomes"]["unsolved"], samples),
        "early": run.summary["stopped_by"] in ("time_limit", "signal"),
        "beside": _beside(run.summary),
        "what": words.HELD_AND_CARRIED if "not_carried" in run.summary["outcomes"] else words.OUTCOMES["held"][2],
    }


def _outcomes(summary: Table) -> Table:
    kinds = {key: words.outcome(key) for key in words.in_order(summary["outcomes"], words.OUTCOMES)}
    if "not_carried" in kinds:
        kinds["held"] = (*kinds["held"][:2], words.HELD_AND_CARRIED)
    return study_parts.outcomes(kinds, summary["outcomes"])


def _beside(summary: Table) -> list[Table]:
    """Further probabilities of the study, with their intervals, under the headline."""
    rows = []
    for key, (label, meaning) in words.BESIDE_HELD.items():
        if key in summary:
            p = summary[key]
            decimals = words.decimals_for(p["low"], p["high"])
            found = {part: words.percent(p[part], decimals) for part in ("probability", "low", "high")}
            rows.append(found | {"label": label, "meaning": meaning})
    return rows


def _estimate_figures(run: Run) -> Table:
    from garra import figures

    summary = run.summary
    return {
        "convergence": figures.convergence(summary["convergence"], summary["held"]["probability"]),
        "friction": figures.held_against_friction(summary["held_against_friction"], _friction_spreads(run)),
        "iterations": figures.iterations(summary["solver"]["iterations"]["counts"]),
        "residuals": figures.residuals(summary["solver"]["residual_log10"], summary["solver"]["tol"]),
    }


def _friction_spreads(run: Run) -> list[tuple[str, list[float]]]:
    """The friction that the study drew from: per distinct distribution the medians of its 20 quantile bins."""
    spreads: dict[str, list[float]] = {}
    for entry in run.summary["inputs"]:
        values = [v for v in entry["bins"]["value"] if v is not None]
        if values and (entry["name"].endswith("friction") or entry["name"].startswith("friction common")):
            spreads.setdefault(entry["distribution"], values)
    table = run.scenario.get("contacts")
    constant = table.get("friction") if isinstance(table, dict) else None
    if not spreads and isinstance(constant, int | float):
        spreads["constant"] = [float(constant)]
    name = "drawn in this study" if len(spreads) == 1 else ""
    return [(name or distribution, values) for distribution, values in list(spreads.items())[:4]]


def _friction(run: Run) -> Table:
    """The smallest friction with which 95 % of the samples hold, and whether the scenario's friction is known."""
    table = run.summary["held_against_friction"]
    enough = [f for f, p in zip(table["friction"], table["probability"], strict=True) if p >= 0.95]
    return {"most": min(enough, default=None), "spreads": bool(_friction_spreads(run))}


def _contacts(summary: Table) -> Table:
    from garra import figures

    failures = sum(contact["fails_first"] for contact in summary["contacts"])
    reach = figures.cone_reach([contact["cone"] for contact in summary["contacts"]])
    limits = figures.force_range([contact["normal_force"] for contact in summary["contacts"]])
    columns = _columns(len(summary["contacts"]))
    width = 300 if columns in (1, 3) else 230  # what the page has room for
    rows = []
    for i, contact in enumerate(summary["contacts"], start=1):
        total = contact["stick"] + contact["slip"] + contact["break"]
        seen = sum(map(sum, contact["cone"]["counts"]))
        states = [("sticks", "held", "stick"), ("slips", "slip", "slip"), ("breaks", "break", "break")]
        rows.append(
            contact
            | {
                "states": [(label, color, contact[key]) for label, color, key in states],
                "total": total,
                "first_share": contact["fails_first"] / failures if failures else 0,
                "outside": max(total - seen, 0),
                "force_figure": figures.normal_force(f"force{i}", contact["normal_force"], limits, width),
                "cone_figure": figures.cone(f"cone{i}", contact["cone"], reach, width),
            }
        )
    weakest = max(rows, key=lambda row: row["fails_first"])
    return {"rows": rows, "failures": failures, "weakest": weakest, "columns": columns}


def _columns(cards: int) -> int:
    """Columns of the contacts' grid that leave no lonely last row."""
    return {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3}.get(cards, 4)


def _metrics(summary: Table) -> Table:
    tables = summary["metrics"]
    return {
        key: study_parts.card(study_parts.Metric(key, *words.metric(key)), tables[key])
        for key in words.in_order(tables, words.METRICS)
    }


def _solver(summary: Table) -> Table:
    solver = summary["solver"]
    worst, tol = solver["worst_residual"], solver["tol"]
    counts = solver["iterations"]["counts"]
    most = f"The last bar: {len(counts) - 1} or more." if counts and counts[-1] else ""
    return solver | {"all_within": worst is not None and worst <= tol, "most": most}


def write(html: str, path: Path) -> None:
    """Writes to a temporary name and renames: a reader never sees half a report, and no symbolic link is followed.

    The name is that of src/io/atomic_file.cpp, so that `garra resume` removes what a killed process leaves.
    """
    host = re.sub("[^A-Za-z0-9]", "-", socket.gethostname())
    temporary = path.with_name(f"{path.name}.garra-{host}-{os.getpid()}.part")
    temporary.unlink(missing_ok=True)
    try:
        with temporary.open("x", encoding="utf-8") as file:
            file.write(html)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="garra report", description="Writes the HTML report of a study.")
    parser.add_argument("run", metavar="RUN", help="run folder")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: RUN/report.html")
    options = parser.parse_args(arguments)
    output = Path(options.output or Path(options.run) / "report.html")
    try:
        write(build(run_folder.read(options.run)), output)
    except RunError as error:
        return _fail(str(error), error.exit_code)
    except ModuleNotFoundError as error:
        remedy = "install what garra needs: pip install numpy matplotlib jinja2 h5py"
        return _fail(f"the Python package {error.name} is missing; {remedy}", MISSING_PACKAGE)
    except OSError as error:
        return _fail(f"{error.filename or output}: {error.strerror}", CANNOT_WRITE)
    print(output)
    return 0


def _fail(message: str, code: int) -> int:
    print(f"garra report: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
