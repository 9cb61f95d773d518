"""Content of the summary of a grasp study at an instant; its grasp.h5 is read in scene.py."""

from __future__ import annotations

from typing import Any

from garra.page.outcomes import check_outcomes
from garra.page.run_folder import (
    COUNT,
    HISTOGRAM,
    INPUT,
    INTERVAL,
    MAYBE,
    REAL,
    STUDY,
    TEXT,
    At,
    check,
    same_lengths,
)  # fmt: skip

BESIDE_HELD = ("no_slip", "resisted")  # where the summary has them

CONTACT = {
    "name": TEXT,
    "stick": COUNT,
    "slip": COUNT,
    "break": COUNT,
    "limiting_contact": COUNT,
    "normal_force": HISTOGRAM,
    "cone": {"bins": COUNT, "extent": REAL, "counts": [[COUNT]]},
}
SUMMARY = {
    **STUDY,
    "held": {**INTERVAL, "confidence": REAL},
    "outcomes": {"held": COUNT, "unsolved": COUNT},  # and others
    "contacts": [CONTACT],
    "metrics": {},  # any names, each a HISTOGRAM
    "held_against_friction": {"friction": [REAL], "probability": [REAL], "low": [REAL], "high": [REAL]},
    "inputs": [INPUT],
    "solver": {
        "method": TEXT,
        "tolerance": REAL,
        "worst_residual": MAYBE,
        "residual_log10": {"low": REAL, "high": REAL, "counts": [COUNT]},
        "iterations": {"counts": [COUNT]},
        "mean_iterations": MAYBE,
    },
    "convergence": {"samples": [COUNT], "probability": [REAL], "low": [REAL], "high": [REAL]},
    "closest": [{"sample": COUNT, "outcome": TEXT, "margin": MAYBE}],
    "worst": [{"sample": COUNT, "outcome": TEXT, "residual": MAYBE}],
    "failures_kept": COUNT,
}


def check_summary(summary: dict[str, Any], at: At) -> None:
    """Raises DamagedFile where the summary of a grasp study misses a field or contradicts itself."""
    check(summary, SUMMARY, at)
    if not summary["contacts"]:
        raise at.key("contacts").fail("empty; a grasp has at least one contact")
    check_outcomes(summary, at)
    for key, table in summary["metrics"].items():
        check(table, HISTOGRAM, at.key("metrics").key(key))
    for key in BESIDE_HELD:
        if key in summary:
            check(summary[key], INTERVAL | {"label?": TEXT, "meaning?": TEXT}, at.key(key))
    _check_lengths(summary, at)


def _check_lengths(summary: dict[str, Any], at: At) -> None:
    tables = [(summary[key], at.key(key)) for key in ("held_against_friction", "convergence")]
    tables += [(entry["bins"], at.key("inputs").item(i).key("bins")) for i, entry in enumerate(summary["inputs"])]
    same_lengths(tables)
    for i, contact in enumerate(summary["contacts"]):
        cone = contact["cone"]
        if len(cone["counts"]) != cone["bins"] or any(len(row) != cone["bins"] for row in cone["counts"]):
            raise at.key("contacts").item(i).key("cone.counts").fail(f"expected {cone['bins']} x {cone['bins']}")
