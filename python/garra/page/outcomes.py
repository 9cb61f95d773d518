"""Outcomes of the samples of a study, in the words of its summary (`outcomes`, `outcome_words`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from garra.page import words
from garra.page.run_folder import COUNT, HISTOGRAM, TEXT, At, check, same_lengths

COLORS = ("held", "slip", "break", "accent", "ink", "muted", "grid")  # of the page that an outcome may have
WORDS = {"label": TEXT, "color": TEXT, "meaning": TEXT, "decided": (bool,)}
# Undecided outcomes of older versions of garra, whose summaries have no words.
ONCE_UNDECIDED = ("unsolved", "undecided", "non_finite", "step_limit", "invalid_input", "unreached", "invalid")

Table = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    label: str
    color: str = "muted"
    meaning: str = ""  # {duration} stands for a number of the study
    decided: bool = True  # False: no evidence either way


def outcome(summary: Table, key: str) -> Outcome:
    """In the words of the summary; called by its key where an older garra has written none."""
    said = summary.get("outcome_words", {}).get(key)
    return read_outcome(said) if said else Outcome(words.plain(key), decided=key not in ONCE_UNDECIDED)


def read_outcome(said: Table) -> Outcome:
    found = Outcome(*(said[key] for key in WORDS))
    return found if found.color in COLORS else replace(found, color="muted")


def outcomes(summary: Table) -> dict[str, Outcome]:
    """All of the study, in the order of the summary."""
    return {key: outcome(summary, key) for key in summary["outcomes"]}


def undecided(summary: Table, counts: Table | None = None) -> int:
    """Samples that are no evidence either way; `counts`: of a part of the study, like a level or a design."""
    kinds = outcomes(summary)
    return sum(n for key, n in (counts or summary["outcomes"]).items() if not kinds[key].decided)


def bar(summary: Table, **numbers: str) -> Table:
    """Rows for bar.html, and what never happened; `numbers` go into the meanings."""
    rows = [
        {"key": key, "label": kind.label, "color": kind.color, "meaning": _filled(kind.meaning, numbers), "count": n}
        for (key, kind), n in zip(outcomes(summary).items(), summary["outcomes"].values(), strict=True)
    ]
    return {"seen": [row for row in rows if row["count"]], "none": [row["label"] for row in rows if not row["count"]]}


def _filled(meaning: str, numbers: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda name: numbers.get(name[1], name[0]), meaning)


def check_outcomes(summary: Table, at: At) -> None:
    """Raises DamagedFile where one has words but no count, or their counts are not those of the samples."""
    check(summary, {"samples": COUNT, "outcomes": (dict,)}, at)
    said = summary.get("outcome_words", {})
    check(said, dict.fromkeys(said, WORDS), at.key("outcome_words"))
    check_counts(summary, [*said, *summary["outcomes"]], at)


def check_study(summary: Table, shape: Table, at: At) -> None:
    """Raises DamagedFile where the summary of a study misses a field of `shape`, or its metrics, outcomes, estimates and
    inputs contradict themselves."""
    check(summary, shape, at)
    metrics = summary.get("metrics", {})
    check(metrics, dict.fromkeys(metrics, HISTOGRAM), at.key("metrics"))
    check_outcomes(summary, at)
    bins = [(row.get("bins"), at.key("inputs").item(i).key("bins")) for i, row in enumerate(summary["inputs"])]
    same_lengths([(summary["convergence"], at.key("convergence")), *((table, place) for table, place in bins if table)])


def check_counts(table: Table, keys: Any, at: At) -> None:
    """The same of `outcomes` and `samples` of a part of a study whose outcomes are `keys`."""
    check(table["outcomes"], dict.fromkeys(keys, COUNT), at.key("outcomes"))
    if sum(table["outcomes"][key] for key in dict.fromkeys(keys)) != table["samples"]:
        raise at.key("outcomes").fail(f"do not add up to the {table['samples']} samples")
