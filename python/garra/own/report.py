"""The page of a study of a user's own system: its probability, outcomes, measures and inputs that matter."""

from __future__ import annotations

from garra.page import outcomes, study_parts
from garra.page.html import study_page
from garra.page.run_folder import Run


def build(run: Run) -> str:
    """The report as HTML."""
    summary, event = run.summary, run.summary["event"]
    return study_page(
        "own/report.html",
        run,
        facts=[summary["job"]],
        event=event["name"],
        headline=study_parts.headline(summary, event),
        outcomes=outcomes.bar(summary),
        metrics=study_parts.metrics(summary).values(),
        inputs=study_parts.inputs(summary["inputs"], event["probability"], event["name"], "held"),
        convergence=study_parts.convergence(summary["convergence"], event["probability"], f"P({event['name']})"),
    )
