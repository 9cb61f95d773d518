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
    """Checks a summary.

    Parameters
    ----------
    summary : dict
        Content of summary.json.
    at : At
        Place of the summary in its file.

    Raises
    ------
    garra.page.run_folder.DamagedFile
        Where the summary misses a field or contradicts itself.

    Examples
    --------
    >>> from garra.own.folder import At, check_summary
    >>> check_summary({}, At("summary.json"))
    Traceback (most recent call last):
        ...
    garra.page.run_folder.DamagedFile: ...
    """
    check_study(summary, SUMMARY, at)
