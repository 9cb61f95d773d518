"""The reports of experiments on a platform seen from outside: run folders made here, HTML read by html.parser.

Where a Chromium is installed, the pages' scripts run as well; elsewhere that test says that it was skipped.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
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
from synthetic_platform_run import GRAVITY, INSTANTS, STROKE, TITLE, anchors, loads, path, write_trajectories
from synthetic_run import manifest

BOTH = ("answer", "poses", "motion", "time", "reproduce")
PATHS = (*BOTH, "steps", "flops", "agreement", "paths")
ONE_GROUP = (*BOTH, "forms", "paths")
MOTION = (*BOTH, "forms", "flops")
DENSE, FULL, MINIMAL = 517_000.0, 22_000.0, 500.0  # flops of a Newton step
FLOPS = {"dense": 3e6, "full": 4e4, "minimal": 3e3}
Table = dict[str, Any]


def one_path(parts: str, segments: int) -> Table:
    steps = [5] + [4] * (segments - 1)
    return {
        "parts": parts,
        "segments": segments,
        "solved": segments,
        "iterations_full": steps,
        "iterations_minimal": [4] * segments,
        "difference": [1e-12 / (k + 1) for k in range(segments)],
        "flops": {
            "dense": [DENSE * n for n in steps],
            "full": [FULL * n for n in steps],
            "minimal": [MINIMAL * 4] * segments,
        },
    }


def finish(folder: Path, summary: Table, samples: int) -> Table:
    summary = {
        "schema": 1,
        "job": "platform_experiment",
        "title": TITLE,
        "samples": samples,
        "requested": samples,
        "stopped_by": "samples",
        "solved": samples,
        "platform": {"name": "synthetic", "gravity": GRAVITY.tolist()},
    } | summary
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "manifest.json").write_text(json.dumps(manifest(samples)))
    (folder / "scenario.toml").write_text('schema = 1\njob = "platform_experiment"\n')
    return summary


def write_move(folder: Path, groups: tuple[str, ...] = ("pose", "lengths"), without: str = "") -> Table:
    """A move cut into 1, 2 and 20 segments, less one data set if asked."""
    folder.mkdir(parents=True, exist_ok=True)
    where, (base, ring) = path(), anchors()
    found = loads(where["position"], where["quaternion"], base, np.full(INSTANTS, 13.0))
    stroke = np.minimum(found["lengths"] - STROKE[0], STROKE[1] - found["lengths"])
    data = {
        "segment": np.arange(float(INSTANTS)),
        "position": where["position"],
        "quaternion": where["quaternion"],
        "lengths": found["lengths"],
        "sigma_min": found["sigma_min"],
        "stroke_margin": stroke,
        "universal_margin": np.full((INSTANTS, 6), np.inf),
        "spherical_margin": np.full((INSTANTS, 6), 0.2),
        "clearance": np.full(INSTANTS, np.inf),
        "base_anchors": base,
        "platform_anchors": ring,
        "length_min": np.full(6, STROKE[0]),
        "length_max": np.full(6, STROKE[1]),
    }
    with h5py.File(folder / "path.h5", "w") as h5:
        for key, value in data.items():
            if key != without:
                h5[key] = value
        h5.attrs.update(title=TITLE, gravity=GRAVITY)
    ends = [
        {"position": where["position"][i].tolist(), "quaternion": where["quaternion"][i].tolist(),
         "lengths": found["lengths"][i].tolist()} for i in (0, -1)
    ]  # fmt: skip
    paths = [one_path(parts, n) for parts in groups for n in (1, 2, 20)]
    summary = {
        "kind": "move",
        "translation": [0.0, 0.3, 0.4],
        "rotation": {"axis": [1.0, 0.0, 0.0], "angle": np.pi / 4},
        "tolerance": 1e-10,
        "start": ends[0],
        "end": ends[1],
        "smallest": {"stroke_margin": float(stroke.min())},
        "paths": paths,
    }
    return finish(folder, summary, sum(p["segments"] for p in paths))


def write_motion(folder: Path) -> Table:
    """Both forms; the second sample of the file, the minimal form, ends early."""
    folder.mkdir(parents=True, exist_ok=True)
    time = write_trajectories(folder / "motion.h5")["times"].tolist()
    form = {
        "method": "hybrid",
        "status": "completed",
        "steps": 500,
        "corrections": 3,
        "worst_drift": 2e-9,
        "worst_balance": 1e-8,
        "drift": [1e-10 * t for t in time],
        "balance": [-1e-9 * t for t in time],
    }
    summary = {
        "kind": "free_motion",
        "forces": [75.7] * 6,
        "duration": 2.0,
        "step": 0.004,
        "time": time,
        "full": form,
        "minimal": form | {"method": "rk4", "status": "stroke_limit", "worst_drift": None},
        "difference": [1e-11 * t for t in time[:-1]] + [None],
        "flops_per_evaluation": FLOPS,
        "flops_per_step": {key: 4 * n for key, n in FLOPS.items()},
    }
    return finish(folder, summary, len(time)) | {"solved": len(time) - 1}


@pytest.fixture(scope="module")
def move(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Table, Page, str]:
    run = tmp_path_factory.mktemp("experiment") / "move"
    return run, write_move(run), *page_of(run)


@pytest.fixture(scope="module")
def motion(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Table, Page, str]:
    run = tmp_path_factory.mktemp("experiment") / "motion"
    return run, write_motion(run), *page_of(run)


def test_the_report_of_a_move_is_sound_and_loads_nothing(move) -> None:
    assert_sound(*move[2:], PATHS)


def test_it_opens_with_what_both_forms_took(move) -> None:
    text = move[2].text
    assert "Poses that both forms find 46 of 46" in text
    assert "at most 5 steps in the paper’s 91 coordinates and 4 in six" in text
    assert "at most 1.0 × 10⁻¹² apart" in text
    assert "moved by 500 mm turned by 45°" in text


def test_every_path_has_its_steps_and_flops(move) -> None:
    _, summary, page, _ = move
    for p in summary["paths"]:
        dense, full, minimal = (sum(p["flops"][key]) for key in ("dense", "full", "minimal"))
        steps = "5" if p["segments"] == 1 else "4 to 5"
        assert f" {p['segments']} {steps} 4 1.0 × 10⁻¹² " in page.text
        assert f"{dense / minimal:,.0f} : {full / minimal:.1f} : 1" in page.text


def test_steps_flops_agreement_and_both_poses_are_drawn_for_each_way_to_cut(move) -> None:
    labels = re.findall(r'<svg [^>]*aria-label="([^"]*)"', move[3])
    for title in ("Newton steps", "Operations", "Agreement"):
        assert f"{title}: Equal parts of the pose" in labels
        assert f"{title}: Equal parts of the leg lengths" in labels
    assert {"The platform&#x27;s first pose", "The platform&#x27;s last pose"} <= set(labels)


def test_limits_that_are_left_are_said(move, tmp_path: Path) -> None:
    assert "leaves the stroke" not in move[2].text
    write_move(tmp_path)
    edit(tmp_path, lambda s: s["smallest"].update(stroke_margin=-0.0123))
    assert "leaves the stroke of a leg by up to 12.3 mm" in page_of(tmp_path)[0].text


def test_one_way_to_cut_has_its_three_figures_side_by_side(tmp_path: Path) -> None:
    write_move(tmp_path, ("lengths",))
    page, html = page_of(tmp_path)
    assert_sound(page, html, ONE_GROUP)
    assert "Equal parts of the pose" not in page.text


def test_the_report_of_a_free_motion_is_sound_and_tells_both_forms_apart(motion) -> None:
    _, summary, page, html = motion
    assert_sound(page, html, MOTION)
    assert "75.7 N on every actuator" in page.text
    assert "ended completed stroke limit" in page.text and "method hybrid rk4" in page.text
    assert "1,000 : 13.3 : 1" in page.text and "per step 1.20 × 10⁷ 160,000 12,000" in page.text
    labels = re.findall(r'<svg [^>]*aria-label="([^"]*)"', html)
    assert "balance [J] over time, both forms" in labels and "drift over time, both forms" in labels
    assert len(data_of(html, "platform")["time"]) < len(summary["time"]), "the minimal form as far as it came"


def test_what_is_not_solved_is_said(tmp_path: Path) -> None:
    write_move(tmp_path)
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
def test_a_damaged_summary_is_refused_with_the_field(tmp_path: Path, change: Callable, said: str) -> None:
    write_move(tmp_path)
    edit(tmp_path, change)
    assert_refused(report(tmp_path), INVALID_FILE, "summary.json: " + said)


def test_a_damaged_free_motion_is_refused_with_the_field(tmp_path: Path) -> None:
    write_motion(tmp_path)
    edit(tmp_path, lambda s: s["full"]["drift"].pop())
    assert_refused(report(tmp_path), INVALID_FILE, f"full.drift: has {INSTANTS - 1} entries, expected {INSTANTS}")


def test_a_missing_file_or_data_set_is_named(tmp_path: Path) -> None:
    write_move(tmp_path, without="stroke_margin")
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
