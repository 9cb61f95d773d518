"""The page of a grasp study at an instant: how likely the grasp holds, where it fails, what it takes."""

from __future__ import annotations

from typing import Any

from garra.grasp import figures as grasp_figures
from garra.grasp import picture as grasp_picture
from garra.grasp import words as grasp_words
from garra.grasp.folder import BESIDE_HELD
from garra.page import figures, outcomes, study_parts, words
from garra.page.html import study_page
from garra.page.run_folder import Run

Table = dict[str, Any]


SCRIPTS = ["grasp/solids.js", "grasp/scene.js", "grasp/picture.js"]


def build(run: Run) -> str:
    """The report as HTML; raises RunError where grasp.h5 is there but damaged."""
    summary, held = run.summary, run.summary["held"]
    picture = grasp_picture.picture(run)
    own: Table = {}
    if picture:
        own = {
            "styles": ["page/motion.css", "grasp/scene.css", "grasp/picture.css"],
            "scripts": SCRIPTS,
            "starts": [("picture", "GraspPicture.start")],
            "data": {"picture": picture["data"]},
        }
    return study_page(
        "grasp/report.html",
        run,
        facts=grasp_words.study_line(run.scenario, len(summary["contacts"])),
        headline=study_parts.headline(summary, held),
        odds=grasp_words.odds(held["probability"], held["low"], held["high"], held["confidence"])
        if summary["inputs"]
        else "Nothing is uncertain in the scenario: all samples are alike, and the interval says nothing.",
        what=outcomes.outcome(summary, "held").meaning or "the grasp holds",
        beside=_beside(summary),
        outcomes=outcomes.bar(summary),
        friction=_friction(run),
        contacts=_contacts(summary),
        metrics=study_parts.metrics(summary),
        unresisted=[str(text) for text in summary.get("unresisted", [])],
        inputs=grasp_words.about_nominal(study_parts.inputs(summary["inputs"], held["probability"], "holding", "held")),
        solver=_solver(summary),
        picture=picture,
        label=lambda key: outcomes.outcome(summary, key).label,
        figures=_estimate_figures(run),
        **own,
    )


def _beside(summary: Table) -> list[Table]:
    """Further probabilities of the study, with their intervals, under the headline."""
    rows = [(key, summary[key]) for key in BESIDE_HELD if key in summary]
    most = words.quantity(summary.get("held_acceleration"), "m/s^2")
    meaning = f"the grasp holds, or the forces found accelerate this object by at most {most}"
    rows += [
        ("object", {**entry["held"], "label": f"P({entry['name']} held)", "meaning": meaning})
        for entry in summary.get("objects", ())
    ]
    return [
        study_parts.interval(p)
        | {"label": p.get("label", f"P({words.plain(key)})"), "meaning": p.get("meaning", "")}
        for key, p in rows
    ]


def _estimate_figures(run: Run) -> Table:
    summary = run.summary
    return {
        "convergence": figures.convergence(summary["convergence"], summary["held"]["probability"]),
        "friction": grasp_figures.held_against_friction(
            summary["held_against_friction"], list(_friction_spreads(run).values())
        ),
        "iterations": grasp_figures.iterations(summary["solver"]["iterations"]["counts"]),
        "residuals": grasp_figures.residuals(summary["solver"]["residual_log10"], summary["solver"]["tolerance"]),
    }


def _friction_spreads(run: Run) -> dict[str, list[float]]:
    """The friction that the study drew from: per distinct distribution the medians of its 20 quantile bins."""
    spreads: dict[str, list[float]] = {}
    for entry in run.summary["inputs"]:
        values = [v for v in entry["bins"]["value"] if v is not None]
        if values and (entry["name"].endswith("friction") or entry["name"].startswith("friction common")):
            spreads.setdefault(words.distribution(entry["distribution"], entry["unit"]), values)
    table = run.scenario.get("contacts")
    constant = table.get("friction") if isinstance(table, dict) else None
    if not spreads and isinstance(constant, int | float):
        spreads[words.number(constant)] = [float(constant)]
    return dict(list(spreads.items())[:4])


def _friction(run: Run) -> Table:
    """The smallest friction with which 95 % of the samples do not slip, and the distributions of the scenario's."""
    table = run.summary["held_against_friction"]
    enough = [f for f, p in zip(table["friction"], table["probability"], strict=True) if (p or 0) >= 0.95]
    return {"most": min(enough, default=None), "spreads": list(_friction_spreads(run))}


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
        states = [("held", "sticks", "stick"), ("slip", "slips", "slip"), ("break", "opens", "break")]
        rows.append(
            contact
            | {
                "states": [
                    (color, f"{label} {words.share(contact[key], total)}", contact[key]) for color, label, key in states
                ],
                "total": total,
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


def _solver(summary: Table) -> Table:
    solver = summary["solver"]
    worst, tolerance = solver["worst_residual"], solver["tolerance"]
    counts = solver["iterations"]["counts"]
    most = f"The last bar: {len(counts) - 1} or more." if counts and counts[-1] else ""
    return solver | {"all_within": worst is not None and worst <= tolerance, "most": most}
