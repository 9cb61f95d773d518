"""Content of the summary of a study of a user's own system (docs/howto/own-study.md)."""

from __future__ import annotations

from typing import Any

from garra.page.outcomes import check_study
from garra.page.run_folder import CONVERGENCE, COUNT, INPUT, MAYBE, REAL, STUDY, TEXT, At

SUMMARY = {
    **STUDY,
    "event": {"name": TEXT, "probability": MAYBE, "low": REAL, "high": REAL, "confidence": REAL},
    "metrics": {},  # any names, each a HISTOGRAM
    "inputs": [INPUT],
    "convergence": CONVERGENCE | {"low": [REAL], "high": [REAL]},
    "failures_kept": COUNT,
}


def check_summary(summary: dict[str, Any], at: At) -> None:
    """Raises DamagedFile where it misses a field or contradicts itself."""
    check_study(summary, SUMMARY, at)
