"""What the summary of a study of somebody's own system holds (docs/own-study.md)."""

from __future__ import annotations

from typing import Any

from garra.page.run_folder import COUNT, HISTOGRAM, INPUT, MAYBE, REAL, STUDY, TEXT, At, check, same_lengths

SUMMARY = {
    **STUDY,
    "event": {"name": TEXT, "probability": MAYBE, "low": REAL, "high": REAL, "confidence": REAL},
    "outcomes": {},  # any names; they add up to the samples
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
    for key, count in summary["outcomes"].items():
        check(count, COUNT, at.key("outcomes").key(key))
    if sum(summary["outcomes"].values()) != summary["samples"]:
        raise at.key("outcomes").fail(f"do not add up to the {summary['samples']} samples")
    bins = [(row["bins"], at.key("inputs").item(i).key("bins")) for i, row in enumerate(summary["inputs"])]
    same_lengths([(summary["convergence"], at.key("convergence")), *bins])
