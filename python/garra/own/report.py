"""The page of a study of a user's own system: its probability, outcomes, measures and inputs that matter."""

from __future__ import annotations

from typing import Any

from garra.page import outcomes, study_parts, words
from garra.page.html import study_page
from garra.page.run_folder import Run


def build(run: Run, template: str = "own/report.html", **more: Any) -> str:
    """Makes the report of a study of a user's own system.

    Parameters
    ----------
    run : Run
        Run folder.
    template : str
        One that extends own/report.html.
    **more
        Further names of the template.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    The folder is one that a study of docs/howto/own-study.md writes.

    >>> from garra.own import folder, report
    >>> from garra.page import run_folder
    >>> report.build(run_folder.read("RUN", folder.check_summary))  # doctest: +SKIP
    """
    summary, event = run.summary, run.summary["event"]
    return study_page(
        template,
        run,
        facts=[words.plural(summary["samples"], "sample"), words.plural(len(summary["inputs"]), "uncertain input")],
        event=event["name"],
        what=outcomes.outcome(summary, event["name"]).meaning,
        headline=study_parts.headline(summary, event),
        outcomes=outcomes.bar(summary),
        metrics=study_parts.metrics(summary).values(),
        inputs=study_parts.inputs(
            [row | {"name": words.plain(row["name"])} for row in summary["inputs"]], event["probability"], event["name"], "held"),
        convergence=study_parts.convergence(summary["convergence"], event["probability"], f"P({event['name']})"),
        **more,
    )
