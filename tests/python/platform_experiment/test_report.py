"""The reports of experiments on a platform seen from outside: runs of the program, where need be changed, HTML read by
html.parser.

Where a Chromium is installed, the pages' scripts run as well; elsewhere that test says that it was skipped.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest
from pages import (
    CHROMIUM,
    INPUT_OUTPUT,
    INVALID_FILE,
    PROGRAM,
    Page,
    assert_refused,
    assert_sound,
    console,
    data_of,
    edit,
    page_of,
    report,
    scenarios_of,
)

BOTH = ("answer", "poses", "motion", "time", "reproduce")
PATHS = (*BOTH, "steps", "flops", "agreement", "paths", "modes")
ONE_GROUP = (*BOTH, "forms", "paths", "modes")
MOTION = (*BOTH, "forms", "flops", "corrections")
REACHED = 30  # instants that the minimal form is said to come to
Table = dict[str, Any]


def scientific(x: float) -> str:
    """1.2 × 10⁻¹⁵"""
    digits, power = f"{x:.1e}".split("e")
    return f"{digits} × 10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def write_move(runs, folder: Path, parts: str = "both") -> Table:
    """A move cut into 1, 2 and 20 segments."""
    changes = ("experiment.segments=[1, 2, 20]", f'experiment.parts="{parts}"', "experiment.translation=[0, 0.3, 0.4]")
    return runs.copy(folder, "platform_move", *(word for change in changes for word in ("--set", change)))


def write_motion(runs, folder: Path) -> Table:
    """A free motion, whose minimal form is said to end early."""

    def stop(summary: Table) -> None:
        summary["solved"] -= 1
        summary["minimal"].update(status="stroke_limit", worst_drift=None)
        summary["difference"][-1] = None

    runs.copy(folder, "platform_free_motion")
    edit(folder, stop)
    with h5py.File(folder / "motion.h5", "a") as h5:
        for data in h5.values():
            if data.shape[:2] == (2, len(h5["times"])):
                data[1, REACHED:] = math.nan
    return json.loads((folder / "summary.json").read_text())


@pytest.fixture(scope="module")
def move(runs, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Table, Page, str]:
    run = tmp_path_factory.mktemp("experiment") / "move"
    return run, write_move(runs, run), *page_of(run)


@pytest.fixture(scope="module")
def motion(runs, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Table, Page, str]:
    run = tmp_path_factory.mktemp("experiment") / "motion"
    return run, write_motion(runs, run), *page_of(run)


def test_the_report_of_a_move_is_sound_and_loads_nothing(move) -> None:
    assert_sound(*move[2:], PATHS)


def test_it_opens_with_what_both_forms_took(move) -> None:
    text, paths = move[2].text, move[1]["paths"]
    assert "Poses that both forms find 46 of 46" in text
    full, minimal = (max(max(p[f"iterations_{form}"]) for p in paths) for form in ("full", "minimal"))
    assert f"at most {full} steps in the paper’s 91 coordinates and {minimal} in six" in text
    assert f"at most {scientific(max(max(p['difference']) for p in paths))} apart" in text
    assert "moved by 500 mm turned by 45°" in text


def test_every_path_has_its_steps_and_flops(move) -> None:
    _, summary, page, _ = move
    for p in summary["paths"]:
        dense, full, minimal = (sum(p["flops"][key]) for key in ("dense", "full", "minimal"))
        least, most = min(p["iterations_full"]), max(p["iterations_full"])
        steps = f"{least}" if least == most else f"{least} to {most}"
        six = p["iterations_minimal"]
        found = f"{min(six)}" if min(six) == max(six) else f"{min(six)} to {max(six)}"
        assert f" {p['segments']} {steps} {found} {scientific(max(p['difference']))} " in page.text
        assert f"{dense / minimal:,.0f} : {full / minimal:.1f} : 1" in page.text


def test_steps_flops_agreement_and_both_poses_are_drawn_for_each_way_to_cut(move) -> None:
    labels = re.findall(r'<svg [^>]*aria-label="([^"]*)"', move[3])
    for title in ("Newton steps", "Operations", "Agreement"):
        assert f"{title}: Equal parts of the pose" in labels
        assert f"{title}: Equal parts of the leg lengths" in labels
    assert {"The platform&#x27;s first pose", "The platform&#x27;s last pose"} <= set(labels)


def test_limits_that_are_left_are_said(runs, tmp_path: Path) -> None:
    write_move(runs, tmp_path)
    edit(tmp_path, lambda s: s["smallest"].update(stroke_margin=0.01))
    assert "leaves the stroke" not in page_of(tmp_path)[0].text
    edit(tmp_path, lambda s: s["smallest"].update(stroke_margin=-0.0123))
    assert "leaves the stroke of a leg by up to 12.3 mm" in page_of(tmp_path)[0].text


def test_one_way_to_cut_has_its_three_figures_side_by_side(runs, tmp_path: Path) -> None:
    write_move(runs, tmp_path, "lengths")
    page, html = page_of(tmp_path)
    assert_sound(page, html, ONE_GROUP)
    assert "Equal parts of the pose" not in page.text


def test_the_report_of_a_free_motion_is_sound_and_tells_both_forms_apart(motion) -> None:
    _, summary, page, html = motion
    assert_sound(page, html, MOTION)
    assert f"{summary['forces'][0]:.3g} N on every actuator" in page.text
    assert "ended completed stroke limit" in page.text and "method hybrid rk4" in page.text
    dense, full, minimal = (summary["flops_per_evaluation"][key] for key in ("dense", "full", "minimal"))
    assert f"{dense / minimal:,.0f} : {full / minimal:.1f} : 1" in page.text
    for of in summary["steps"]:
        dense, full, minimal = (of["flops"][key][-1] for key in ("dense", "full", "minimal"))
        assert f"all steps of {1e3 * of['step']:g} ms " in page.text
        assert f"{dense / minimal:,.0f} : {full / minimal:.1f} : 1" in page.text
    assert "operations" in page.text and "nothing to correct" in page.text
    labels = re.findall(r'<svg [^>]*aria-label="([^"]*)"', html)
    assert "balance [J] over time, both forms" in labels and "drift over time, both forms" in labels
    assert len(data_of(html, "platform")["time"]) == REACHED < len(summary["time"])


def test_what_is_not_solved_is_said(runs, tmp_path: Path) -> None:
    write_move(runs, tmp_path)
    edit(
        tmp_path,
        lambda s: (s.update(solved=45), s["paths"][2].update(solved=19), s["paths"][2].update(difference=[None] * 20)),
    )
    page, html = page_of(tmp_path)
    assert_sound(page, html, PATHS)
    assert "45 of 46" in page.text and "1 pose is not solved" in page.text and "20, 19 solved" in page.text


PROBE = """<script>addEventListener("load", () => {
  const find = (id) => document.getElementById(id), before = find("scene").toDataURL(), first = find("now").textContent;
  find("when").value = 20;
  find("when").dispatchEvent(new Event("input"));
  console.log(`PROBE ${before !== find("scene").toDataURL()} ${first}, ${find("now").textContent}`);
});</script></body>"""


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here to run the page's scripts")
def test_the_scripts_run_without_errors_and_count_segments(move, tmp_path: Path) -> None:
    said = console(move[3], PROBE, tmp_path)
    assert len(said) == 1 and "PROBE true start, segment 20 of 20" in said[0], said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s.update(kind="dance"), 'kind: is "dance"; only move, stroke, free_motion have a report'),
        (lambda s: s.pop("tolerance"), "tolerance: missing"),
        (lambda s: s.update(solved=99), "solved: more than the 46 samples"),
        (lambda s: s["paths"].pop(), "samples: is 46; 26 are listed"),
        (lambda s: s["paths"][1]["difference"].pop(), "paths[1].difference: has 1 entries, expected 2"),
        (lambda s: s["paths"][1]["flops"]["dense"].pop(), "paths[1].flops.dense: has 1 entries, expected 2"),
        (lambda s: s["paths"][1].update(parts="halves"), 'paths[1].parts: is "halves", expected pose or lengths'),
        (lambda s: s["paths"][1]["flops"].update(minimal=[0, 0]), "paths[1].flops: not positive"),
    ],
)
def test_a_damaged_summary_is_refused_with_the_field(runs, tmp_path: Path, change: Callable, said: str) -> None:
    write_move(runs, tmp_path)
    edit(tmp_path, change)
    assert_refused(report(tmp_path), INVALID_FILE, "summary.json: " + said)


def test_a_damaged_free_motion_is_refused_with_the_field(runs, tmp_path: Path) -> None:
    instants = len(write_motion(runs, tmp_path)["time"])
    edit(tmp_path, lambda s: s["full"]["drift"].pop())
    assert_refused(report(tmp_path), INVALID_FILE, f"full.drift: has {instants - 1} entries, expected {instants}")


def test_a_missing_file_or_data_set_is_named(runs, tmp_path: Path) -> None:
    write_move(runs, tmp_path)
    with h5py.File(tmp_path / "path.h5", "a") as h5:
        del h5["stroke_margin"]
    assert_refused(report(tmp_path), INVALID_FILE, "path.h5: stroke_margin: no such data set")
    (tmp_path / "path.h5").unlink()
    assert_refused(report(tmp_path), INPUT_OUTPUT, "path.h5: no such file")


@pytest.mark.skipif(not PROGRAM, reason="GARRA_PROGRAM names no built program")
@pytest.mark.parametrize("scenario", scenarios_of("platform_experiment"), ids=lambda path: path.stem)
def test_the_report_of_a_run_of_the_program(tmp_path: Path, scenario: Path) -> None:
    run = tmp_path / "run"
    done = subprocess.run([PROGRAM, "run", scenario, "-o", run], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page, html = page_of(run)
    summary = json.loads((run / "summary.json").read_text())
    assert_sound(page, html, {"move": PATHS, "stroke": ONE_GROUP, "free_motion": MOTION}[summary["kind"]])
    assert f"{summary['solved']} of {summary['samples']}" in page.text
