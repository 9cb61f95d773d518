"""Content of the summary of a grasp study in time; its motion.h5 is read in grasp/scene.py.

Whatever is missing or contradicts itself is refused with its file and field.
"""

from __future__ import annotations

from typing import Any

from garra.page.outcomes import check_counts, check_study
from garra.page.run_folder import (
    CONVERGENCE,
    COUNT,
    CURVE,
    HISTOGRAM,
    INPUT,
    MAYBE,
    MAYBE_INTERVAL,
    REAL,
    STUDY,
    TEXT,
    At,
    check,
    same_lengths,
)  # fmt: skip

QUANTILES = ("q05", "q25", "q50", "q75", "q95")
AUDIT = ("energy_balance", "momentum_balance", "worst_gap", "worst_cone", "worst_residual")

Table = dict[str, Any]

LEVEL = {
    "friction": MAYBE,
    "samples": COUNT,
    "outcomes": (dict,),
    "held": MAYBE_INTERVAL,
    "no_slip": MAYBE_INTERVAL,
    "survival": {"time": [REAL], "drop": CURVE, "slip": CURVE},
    "bands": {"time": [REAL], "alive": [COUNT]},  # and any names, each a BAND or null
    "objects?": [{"name": TEXT, "held": MAYBE_INTERVAL}],
}  # and any names, each a HISTOGRAM or null
BAND = {"unit": TEXT, "label?": TEXT, "meaning?": TEXT, "reference?": MAYBE, **dict.fromkeys(QUANTILES, [MAYBE])}
SAMPLE = {"sample": COUNT, "level": COUNT, "friction": MAYBE, "outcome": TEXT, "end_time": MAYBE, "peak_drift": MAYBE}
SUMMARY = {
    **STUDY,
    "time": {
        "duration": REAL,
        "step": REAL,
        "scheme": TEXT,
        "slip": REAL,
        "drop": REAL,
        "drop_turn": REAL,
        "drive": TEXT,
        "instants": COUNT,
        "restitution": REAL,
    },
    "held": MAYBE_INTERVAL | {"confidence": REAL},
    "outcomes": {"held": COUNT, "slipped": COUNT},  # and others
    "levels": [LEVEL],
    "contacts": [{"name": TEXT, "slipped_first": COUNT, "slip_path": HISTOGRAM, "peak_force": HISTOGRAM}],
    "inputs": [INPUT],
    "audit": {**dict.fromkeys(AUDIT, MAYBE), "unstable_share": MAYBE, "worst_ratio": MAYBE},
    "solver": {"method": TEXT, "tolerance": REAL, "mean_iterations": MAYBE, "steps": REAL},
    "convergence": CONVERGENCE,
    "failures_kept": COUNT,
    "worst": [SAMPLE | {"slip": MAYBE}],
    "closest": [SAMPLE | {"slip": MAYBE}],
}


def check_summary(summary: Table, at: At) -> None:
    """Raises DamagedFile where the summary misses a field or contradicts itself."""
    check_study(summary, SUMMARY, at)
    for key in ("levels", "contacts"):
        if not summary[key]:
            raise at.key(key).fail("empty; a study has at least one")
    if sum(level["samples"] for level in summary["levels"]) != summary["samples"]:
        raise at.key("levels").fail(f"do not add up to the {summary['samples']} samples")
    tables: list[tuple[Table, At]] = []
    for i, level in enumerate(summary["levels"]):
        place = at.key("levels").item(i)
        if len(summary["levels"]) > 1 and level["friction"] is None:
            raise place.key("friction").fail("null; with several levels each has one")
        check_counts(level, summary["outcomes"], place)
        tables += _check_level(summary["levels"][0], level, place)
    same_lengths(tables)


def list_metrics(levels: list[Table]) -> list[str]:
    """Metrics of each sample, by the keys of the first level; null if a level has none."""
    return [key for key in levels[0] if key not in LEVEL and f"{key}?" not in LEVEL]


def list_bands(levels: list[Table]) -> list[str]:
    """The same of what was followed over time."""
    return [key for key in levels[0]["bands"] if key not in LEVEL["bands"]]


def _check_level(first: Table, level: Table, at: At) -> list[tuple[Table, At]]:
    """Checks the optional parts of a level; returns its tables of lists that must have equal lengths."""
    check(level, dict.fromkeys(list_metrics([first]), (HISTOGRAM,)), at)
    check(level["bands"], dict.fromkeys(list_bands([first]), (BAND,)), at.key("bands"))
    time, bands = level["survival"]["time"], level["bands"]
    curves = {f"{kind} {key}": level["survival"][kind][key] for kind in ("drop", "slip") for key in CURVE}
    columns = {"time": bands["time"], "alive": bands["alive"]}
    for key in list_bands([first]):
        if bands[key] is not None:
            columns |= {f"{key} {q}": bands[key][q] for q in QUANTILES}
    return [({"time": time} | curves, at.key("survival")), (columns, at.key("bands"))]
