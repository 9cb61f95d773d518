"""What a summary says of its metrics in words is what the report says; a metric that Python has never heard of is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from garra.page import outcomes, study_parts
from garra.page.outcomes import COLORS
from pages import INVALID_FILE, Page, assert_refused, edit, page_of, report

LABEL, MEANING = "Grip <left> over", "As much as any squid needs."
IN_PAGE = "grip <left> over"  # of an axis


def words_for(table: dict, reference: float | None = None) -> dict:
    return table | {"label": LABEL, "meaning": MEANING, "reference": reference}


def new_metric(summary: dict) -> None:
    table = next(iter(summary["metrics"].values()))
    summary["metrics"]["grip_left"] = words_for(table | {"unit": "1"})


def known_metric(summary: dict) -> None:
    key = next(iter(summary["metrics"]))
    summary["metrics"][key] = words_for(summary["metrics"][key])


def level_metric(summary: dict) -> None:
    for level in summary["levels"]:
        level["peak_drift"] = words_for(level["peak_drift"], 1.0)


def labels_of(page: Page, html: str) -> tuple[int, int]:
    """How often the label is said outside of figures, and on axes."""
    figures = re.findall(r"<svg .*?</svg>", html, re.S)
    axes = sum("grip &lt;left&gt; over" in figure for figure in figures)
    return page.text.count(LABEL), axes


@pytest.mark.parametrize("change", [new_metric, known_metric])
@pytest.mark.parametrize("scenario", ["three_puma_sphere", "platform_climb"])
def test_a_metric_is_shown_in_the_words_of_the_summary(runs, tmp_path: Path, scenario: str, change) -> None:
    runs.copy(tmp_path, scenario)
    edit(tmp_path, change)
    page, html = page_of(tmp_path)
    said, axes = labels_of(page, html)
    assert said == 1 and axes >= 1 and page.text.count(MEANING) == 1 and "<left>" not in html


def test_levels_in_time_are_told_in_the_words_of_the_summary(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, "three_puma_shake")
    edit(tmp_path, level_metric)
    page, html = page_of(tmp_path)
    said, axes = labels_of(page, html)
    assert said >= 1 and axes >= 1 and MEANING in page.text


def test_axes_of_a_map_are_named_by_the_summary(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, "puma_singularities")
    edit(tmp_path, lambda s: s["histograms"]["manipulability"].update(label=LABEL))
    assert labels_of(*page_of(tmp_path))[1] == 1


def test_axes_of_a_chain_study_are_named_by_the_summary(runs, tmp_path: Path) -> None:
    def label(summary: dict) -> None:
        for design in summary["designs"]:
            design["settling_time"]["label"] = LABEL
            design["work"]["label"] = LABEL

    runs.copy(tmp_path, "exoskeleton_damping")
    edit(tmp_path, label)
    assert labels_of(*page_of(tmp_path))[1] == 2  # an axis, and a line of a legend


def test_a_reference_of_the_summary_is_drawn_in_the_units_of_the_axis(runs) -> None:
    """The red line of a length in m stands where the axis says its mm."""
    summary = json.loads((runs.made("platform_climb") / "summary.json").read_text())
    clearance = summary["metrics"]["clearance"]
    for reference, drawn in ((clearance["quantiles"]["0.5"], True), (1e3 * clearance["quantiles"]["0.5"], False)):
        table = study_parts.shown(clearance | {"reference": reference})
        figure = study_parts.card(study_parts.metric("clearance", table), table)["figure"]
        assert ('stroke="var(--break)"' in figure) == drawn


@pytest.mark.parametrize(("key", "wrong"), [("label", 3), ("meaning", None), ("reference", "0")])
def test_words_that_are_none_are_refused_with_their_field(runs, tmp_path: Path, key: str, wrong: object) -> None:
    runs.copy(tmp_path, "three_puma_sphere")
    edit(tmp_path, lambda s: s["metrics"]["friction_margin"].update({key: wrong}))
    assert_refused(report(tmp_path), INVALID_FILE, f"metrics.friction_margin.{key}: expected")


def test_no_words_of_a_run_are_needed(runs, tmp_path: Path) -> None:
    """A run of an older garra: no label, no meaning, no reference. Measures are called by their keys then."""

    def strip(summary: dict) -> None:
        for table in summary["metrics"].values():
            for key in ("label", "meaning", "reference"):
                table.pop(key, None)

    runs.copy(tmp_path, "three_puma_sphere")
    edit(tmp_path, strip)
    page, _ = page_of(tmp_path)
    assert "Resisted force radius" in page.text and "Certified" not in page.text
    assert "label" not in json.loads((tmp_path / "summary.json").read_text())["metrics"]["resisted_force_radius"]


# --- outcomes


EVERY_JOB = [
    "three_puma_sphere", "three_puma_shake", "exoskeleton_damping", "platform_climb", "puma_singularities",
]  # fmt: skip


def summary_of(run: Path) -> dict:
    return json.loads((run / "summary.json").read_text())


@pytest.mark.parametrize("scenario", EVERY_JOB)
def test_the_program_says_of_every_outcome_what_the_page_shows(runs, tmp_path: Path, scenario: str) -> None:
    summary = runs.copy(tmp_path, scenario)
    said = summary["outcome_words"]
    assert list(said) == list(summary["outcomes"]) and len({row["label"] for row in said.values()}) == len(said)
    assert all(row["color"] in COLORS and row["meaning"] for row in said.values())
    assert [key for key, row in said.items() if not row["decided"]] == UNDECIDED[summary["job"], "levels" in summary]
    page, _ = page_of(tmp_path)
    for key, row in said.items():
        shown = f"{summary['outcomes'][key]:,} · {row['meaning'].partition('{')[0].strip()}"
        assert (shown in page.text) == (summary["outcomes"][key] > 0) and row["label"] in page.text


# Of each job (in time: True), what leaves the probability open, by docs/reference/run-folder.md.
UNDECIDED = {
    ("grasp", False): ["unsolved"],
    ("grasp", True): ["unsolved", "non_finite"],
    ("chain", False): ["non_finite", "step_limit", "invalid_input"],
    ("platform", False): ["invalid"],
    ("singularity", False): ["unreached", "invalid"],
}


@pytest.mark.parametrize("scenario", EVERY_JOB)
def test_an_outcome_is_shown_in_the_words_of_the_summary(runs, tmp_path: Path, scenario: str) -> None:
    def say(summary: dict) -> None:
        key = max(summary["outcomes"], key=summary["outcomes"].get)
        summary["outcome_words"][key] |= {"label": LABEL, "meaning": f"{MEANING} {{no_such}}", "color": "<left>"}

    runs.copy(tmp_path, scenario)
    edit(tmp_path, say)
    page, html = page_of(tmp_path)
    assert LABEL in page.text and f"{MEANING} {{no_such}}" in page.text and "<left>" not in html


@pytest.mark.parametrize("scenario", EVERY_JOB)
def test_outcomes_of_an_older_run_are_called_by_their_keys(runs, tmp_path: Path, scenario: str) -> None:
    runs.copy(tmp_path, scenario)
    edit(tmp_path, lambda s: s.pop("outcome_words"))
    page, _ = page_of(tmp_path)
    assert not page.faults
    assert all(key.replace("_", " ") in page.text for key in summary_of(tmp_path)["outcomes"])
    assert outcomes.undecided(summary_of(tmp_path)) == outcomes.undecided(summary_of(runs.made(scenario)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s["outcome_words"]["held"].update(label=3), "outcome_words.held.label: expected a text"),
        (lambda s: s["outcome_words"]["held"].update(decided=1), "outcome_words.held.decided: expected true or false"),
        (lambda s: s["outcome_words"]["slipping"].pop("color"), "outcome_words.slipping.color: missing"),
        (lambda s: s["outcomes"].pop("slipping"), "outcomes.slipping: missing"),
    ],
)
def test_words_of_outcomes_are_checked(runs, tmp_path: Path, change, said: str) -> None:
    runs.copy(tmp_path, "three_puma_sphere")
    edit(tmp_path, change)
    assert_refused(report(tmp_path), INVALID_FILE, said)
