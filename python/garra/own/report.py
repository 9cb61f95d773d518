"""The page of a study of a user's own system: its probability, outcomes, measures and inputs that matter."""

from __future__ import annotations

from typing import Any

from garra.page import outcomes, study_parts, words
from garra.page.html import study_page
from garra.page.run_folder import Run

Table = dict[str, Any]


def build(run: Run) -> str:
    """The report as HTML."""
    summary, event = run.summary, run.summary["event"]
    return study_page(
        "own/report.html",
        run,
        event=event["name"],
        headline=_headline(summary),
        outcomes=outcomes.bar(summary),
        metrics=[_metric(key, table) for key, table in summary["metrics"].items()],
        inputs=study_parts.inputs(summary["inputs"], event["probability"], event["name"], "held"),
        convergence=study_parts.convergence(summary["convergence"], event["probability"], f"P({event['name']})"),
    )


def _headline(summary: Table) -> Table:
    event = summary["event"]
    decimals = words.decimals_for(event["low"], event["high"])
    return {
        "known": event["probability"] is not None,
        **{key: words.percent(event[key], decimals) for key in ("probability", "low", "high")},
        "confidence": words.percent(event["confidence"], 0),
        "undecided": outcomes.undecided(summary),
        "early": summary["stopped_by"] in ("time_limit", "signal"),
        "study": [summary["job"]],
    }


def _metric(key: str, table: Table) -> Table:
    shown = study_parts.shown(table)
    return study_parts.card(study_parts.metric(key, shown), shown)
