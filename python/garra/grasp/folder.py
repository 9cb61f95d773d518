"""Content of the summary of a grasp study at an instant; its grasp.h5 is read in scene.py."""

from __future__ import annotations

from typing import Any

from garra.page.outcomes import check_study
from garra.page.run_folder import COUNT, HISTOGRAM, INPUT, INTERVAL, MAYBE, REAL, STUDY, TEXT, At, same_lengths

BESIDE_HELD = ("no_slip", "resisted")  # where the summary has them

CURVE = {key: [REAL] for key in INTERVAL}
BESIDE = INTERVAL | {"label?": TEXT, "meaning?": TEXT}
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
    "held_against_friction": {"friction": [REAL], **CURVE, "probability": [MAYBE]},
    "inputs": [INPUT],
    "solver": {
        "method": TEXT,
        "tolerance": REAL,
        "worst_residual": MAYBE,
        "residual_log10": {"low": REAL, "high": REAL, "counts": [COUNT]},
        "iterations": {"counts": [COUNT]},
        "mean_iterations": MAYBE,
        "beyond_newton?": {"samples": COUNT, "share_of_iterations": REAL},
    },
    "convergence": {"samples": [COUNT], **CURVE},
    "closest": [{"sample": COUNT, "outcome": TEXT, "margin": MAYBE}],
    "worst": [{"sample": COUNT, "outcome": TEXT, "residual": MAYBE}],
    "failures_kept": COUNT,
    **{f"{key}?": BESIDE for key in BESIDE_HELD},
}


def check_summary(summary: dict[str, Any], at: At) -> None:
    """Raises DamagedFile where the summary of a grasp study misses a field or contradicts itself."""
    check_study(summary, SUMMARY, at)
    if not summary["contacts"]:
        raise at.key("contacts").fail("empty; a grasp has at least one contact")
    same_lengths([(summary["held_against_friction"], at.key("held_against_friction"))])
    for i, contact in enumerate(summary["contacts"]):
        cone = contact["cone"]
        if len(cone["counts"]) != cone["bins"] or any(len(row) != cone["bins"] for row in cone["counts"]):
            raise at.key("contacts").item(i).key("cone.counts").fail(f"expected {cone['bins']} x {cone['bins']}")
