"""Content of the run folder of a set of grasps: summary.json and ranking.h5, and the page of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from garra.grasp import ranking_file
from garra.page.run_folder import COUNT, MAYBE, REAL, STUDY, TEXT, At, Run, RunError, check

RANKING = "ranking.h5"
MOST = 3_000_000  # grasps of a page: all of them are read into memory
SUMMARY = {
    **STUDY,
    "hand": TEXT,
    "samples_each": COUNT,
    "p_held": {"probability": MAYBE, "low": REAL, "high": REAL},
    "outcomes": {"ranked": COUNT},
    "held": COUNT,
    "unsolved": COUNT,
    "drawn": COUNT,
    "sure": COUNT,
    "best": [{"grasp": COUNT, "p_held": REAL, "low": REAL, "high": REAL}],
}


def check_summary(summary: Any, at: At) -> None:
    """Raises DamagedFile where a field is missing or contradicts another."""
    check(summary, SUMMARY, at)
    if sum(summary["outcomes"].values()) != summary["samples"]:
        raise at.key("outcomes").fail("do not add up to the grasps")


def build(run: Run) -> str:
    """The page of the ranking; raises RunError."""
    from garra.grasp import ranking_report

    if run.summary["samples"] > MOST:
        raise RunError(
            f"{run.folder}: {run.summary['samples']:,} grasps are more than a page is made of ({MOST:,}); "
            f"{RANKING} has all of them"
        )
    found = ranking_file.read(Path(run.folder) / RANKING)
    return ranking_report.build(replace(found, title=run.summary["title"] or found.title))
