"""The page of a grasp study at an instant: how likely the grasp holds, where it fails, what it takes."""

from __future__ import annotations

from typing import Any

from garra.grasp import figures as grasp_figures
from garra.grasp import picture as grasp_picture
from garra.grasp import words as grasp_words
from garra.grasp.folder import BESIDE_HELD
from garra.page import figures, outcomes, study_parts, words
from garra.page.html import dumps, study_page
from garra.page.run_folder import Run

Table = dict[str, Any]


def build(run: Run) -> str:
    """The report as HTML; raises RunError where grasp.h5 is there but damaged."""
    picture = grasp_picture.picture(run)
    return study_page(
        "grasp/report.html",
        run,
        headline=_headline(run),
        outcomes=outcomes.bar(run.summary),
        friction=_friction(run),
        contacts=_contacts(run.summary),
        metrics=_metrics(run.summary),
        unresisted=[str(text) for text in run.summary.get("unresisted", [])],
        inputs=study_parts.inputs(run.summary["inputs"], run.summary["held"]["probability"], "holding", "held"),
        solver=_solver(run.summary),
        picture=picture,
        label=lambda key: outcomes.outcome(run.summary, key).label,
        picture_json=dumps(picture["data"]) if picture else "",
        figures=_estimate_figures(run),
    )


def _headline(run: Run) -> Table:
    held, samples = run.summary["held"], run.summary["samples"]
    decimals = words.decimals_for(held["low"], held["high"])
    return {
        "probability": words.percent(held["probability"], decimals),
        "low": words.percent(held["low"], decimals),
        "high": words.percent(held["high"], decimals),
        "confidence": words.percent(held["confidence"], 0),
        "odds": grasp_words.odds(held["probability"], held["low"], held["high"], held["confidence"]),
        "study": grasp_words.study_line(run.scenario, len(run.summary["contacts"])),
        "unsolved": words.share(run.summary["outcomes"]["unsolved"], samples),
        "early": run.summary["stopped_by"] in ("time_limit", "signal"),
        "beside": _beside(run.summary),
        "what": outcomes.outcome(run.summary, "held").meaning or "the grasp holds",
    }


def _beside(summary: Table) -> list[Table]:
    """Further probabilities of the study, with their intervals, under the headline."""
    rows = []
    for key in BESIDE_HELD:
        if key in summary:
            p = summary[key]
            decimals = words.decimals_for(p["low"], p["high"])
            found = {part: words.percent(p[part], decimals) for part in ("probability", "low", "high")}
            rows.append(found | {"label": p.get("label", f"P({words.plain(key)})"), "meaning": p.get("meaning", "")})
    return rows


def _estimate_figures(run: Run) -> Table:
    summary = run.summary
    return {
        "convergence": figures.convergence(summary["convergence"], summary["held"]["probability"]),
        "friction": grasp_figures.held_against_friction(summary["held_against_friction"], _friction_spreads(run)),
        "iterations": grasp_figures.iterations(summary["solver"]["iterations"]["counts"]),
        "residuals": grasp_figures.residuals(summary["solver"]["residual_log10"], summary["solver"]["tolerance"]),
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
    failures = sum(contact["limiting_contact"] for contact in summary["contacts"])
    reach = grasp_figures.cone_reach([contact["cone"] for contact in summary["contacts"]])
    limits = grasp_figures.force_range([contact["normal_force"] for contact in summary["contacts"]])
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
                "first_share": contact["limiting_contact"] / failures if failures else 0,
                "outside": max(total - seen, 0),
                "force_figure": grasp_figures.normal_force(f"force{i}", contact["normal_force"], limits, width),
                "cone_figure": grasp_figures.cone(f"cone{i}", contact["cone"], reach, width),
            }
        )
    weakest = max(rows, key=lambda row: row["limiting_contact"])
    return {"rows": rows, "failures": failures, "weakest": weakest, "columns": columns}


def _columns(cards: int) -> int:
    """Columns of the contacts' grid that leave no lonely last row."""
    return {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3}.get(cards, 4)


def _metrics(summary: Table) -> Table:
    tables = {key: study_parts.shown(table) for key, table in summary["metrics"].items()}
    return {key: study_parts.card(study_parts.metric(key, table), table) for key, table in tables.items()}


def _solver(summary: Table) -> Table:
    solver = summary["solver"]
    worst, tolerance = solver["worst_residual"], solver["tolerance"]
    counts = solver["iterations"]["counts"]
    most = f"The last bar: {len(counts) - 1} or more." if counts and counts[-1] else ""
    return solver | {"all_within": worst is not None and worst <= tolerance, "most": most}
