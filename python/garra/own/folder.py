"""Content of the summary of a study of a user's own system (docs/howto/own-study.md)."""

from __future__ import annotations

from typing import Any

from garra.page.outcomes import check_outcomes
from garra.page.run_folder import COUNT, HISTOGRAM, INPUT, MAYBE, REAL, STUDY, TEXT, At, check, same_lengths

SUMMARY = {
    **STUDY,
    "event": {"name": TEXT, "probability": MAYBE, "low": REAL, "high": REAL, "confidence": REAL},
    "metrics": {},  # any names, each a HISTOGRAM
    "inputs": [INPUT],
    "convergence": {"samples": [COUNT], "probability": [MAYBE], "low": [REAL], "high": [REAL]},
    "failures_kept": COUNT,
}


def check_summary(summary: dict[str, Any], at: At) -> None:
    """Raises DamagedFile where it misses a field or contradicts itself."""
    check(summary, SUMMARY, at)
    for key, table in summary["metrics"].items():
        check(table, HISTOGRAM, at.key("metrics").key(key))
    check_outcomes(summary, at)
    bins = [(row["bins"], at.key("inputs").item(i).key("bins")) for i, row in enumerate(summary["inputs"])]
    same_lengths([(summary["convergence"], at.key("convergence")), *bins])
