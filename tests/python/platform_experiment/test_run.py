"""`garra run` with job = "platform_experiment", seen from outside: the paper's three experiments.

What a summary says is compared with results.h5 and with another program's numbers. Run with
GARRA_PROGRAM=path/to/garra.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from program import DONE, INVALID, REQUIREMENT, ROOT, UNSOLVED, USAGE, garra, summary_of, table_of

KINDS = ("move", "stroke", "free_motion")
ITERATED = 1e-10  # m: where both iterations stop
NEWTON = 517_665  # flops of a dense Newton step on 91 coordinates, counted by another program; 486 in the minimal form


def scenario(kind: str) -> Path:
    return ROOT / "data" / "scenarios" / f"platform_{kind}.toml"


def contents(folder: Path) -> dict[str, bytes]:
    names = ("summary.json", "results.h5", "path.h5", "motion.h5")
    return {name: (folder / name).read_bytes() for name in names if (folder / name).exists()}


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Path]:
    """The three as they are shipped; tests only read them."""
    folder = tmp_path_factory.mktemp("experiments")
    for kind in KINDS:
        garra("run", scenario(kind), "-o", folder / kind, "--no-report", "--require", "p_solved>=1")
    return {kind: folder / kind for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_the_folder_holds_what_it_promises(runs, kind):
    names = {path.name for path in runs[kind].iterdir()}
    assert names >= {"scenario.toml", "models", "chunks", "manifest.json", "results.h5", "summary.json"}
    assert ("motion.h5" if kind == "free_motion" else "path.h5") in names
    summary = summary_of(runs[kind])
    assert summary["job"] == "platform_experiment" and summary["kind"] == kind
    assert summary["solved"] == summary["samples"] == len(table_of(runs[kind] / "results.h5")["index"])


def test_a_move_takes_a_few_newton_steps_per_segment_however_it_is_cut(runs):
    summary = summary_of(runs["move"])
    cut = [(path["parts"], path["segments"]) for path in summary["paths"]]
    assert cut == [(parts, n) for parts in ("pose", "lengths") for n in (1, 2, 5, 10, 20, 40)]
    rows, first = table_of(runs["move"] / "results.h5"), 0
    for k, path in enumerate(summary["paths"], start=1):
        mine = slice(first, first + path["segments"])
        first += path["segments"]
        assert (rows["path"][mine] == k).all() and (rows["segment"][mine] == np.arange(path["segments"]) + 1).all()
        assert rows["iterations_full"][mine].tolist() == path["iterations_full"]
        assert rows["iterations_minimal"][mine].tolist() == path["iterations_minimal"]
        assert rows["difference"][mine].tolist() == path["difference"] and max(path["difference"]) < ITERATED
        assert max(path["iterations_full"]) <= (6 if path["segments"] <= 2 else 5)
        assert rows["flops_minimal"][mine].tolist() == path["flops"]["minimal"]
    rise = np.array(summary["end"]["position"]) - summary["start"]["position"]
    assert rise == pytest.approx([0, 0, 0.4], abs=ITERATED)
    assert abs(summary["end"]["quaternion"][1]) == pytest.approx(np.sin(np.pi / 8), abs=ITERATED)


def test_the_stroke_goes_through_all_lengths_at_the_papers_cost(runs):
    summary, path = summary_of(runs["stroke"]), table_of(runs["stroke"] / "path.h5")
    assert path["lengths"] == pytest.approx(
        np.repeat(1.05 + 0.8 * np.arange(12)[:, None] / 11, 6, axis=1), abs=ITERATED
    )
    assert summary["smallest"]["stroke_margin"] == pytest.approx(0, abs=ITERATED)
    (only,) = summary["paths"]
    steps = np.array(only["iterations_full"])
    assert np.array(only["flops"]["dense"]) == pytest.approx(NEWTON * steps, rel=0.02)
    assert sum(only["flops"]["dense"]) > 500 * sum(only["flops"]["minimal"])
    assert sum(only["flops"]["full"]) > 10 * sum(only["flops"]["minimal"])


def test_both_forms_move_as_another_program_does(runs):
    summary, motion = summary_of(runs["free_motion"]), table_of(runs["free_motion"] / "motion.h5")
    last = json.loads((ROOT / "data" / "reference" / "platform" / "fwddyn.json").read_text())[0]["states"][-1]
    assert motion["times"][-1] == 0.5 and motion["position"].shape == (2, 51, 3)
    for form in (0, 1):
        assert motion["position"][form, -1] == pytest.approx(last["r"], abs=1e-10)
        assert motion["kinetic_energy"][form, -1] == pytest.approx(last["kinetic"], abs=1e-8)
    assert summary["full"]["method"] == "hybrid" and summary["minimal"]["method"] == "rk4"
    assert summary["full"]["steps"] == summary["minimal"]["steps"] == 500
    assert summary["full"]["worst_drift"] < 1e-9 and summary["full"]["worst_balance"] < 1e-8
    assert max(summary["difference"]) < ITERATED
    assert [of["step"] for of in summary["steps"]] == [1e-3, 2e-3, 5e-3]
    assert [of["corrections_improve"] for of in summary["steps"]] == [None, None, False]
    for of in summary["steps"]:
        assert len(of["flops"]["full"]) == 51 and np.all(np.diff(of["flops"]["full"]) > 0)
        once = 4 * of["steps"] * summary["flops_per_evaluation"]["full"]
        assert of["flops"]["full"][-1] - of["flops"]["corrections"] == pytest.approx(once, rel=0.35)
        assert (of["flops"]["corrections"] > 0) == (of["corrections"] > 0)


@pytest.mark.parametrize("kind", KINDS)
def test_check_prints_a_scenario_that_runs_to_the_same(runs, tmp_path, kind):
    (tmp_path / "printed.toml").write_text(garra("check", scenario(kind)).stdout)
    garra("run", tmp_path / "printed.toml", "-o", tmp_path / "run", "--no-report", "--threads", 1)
    assert contents(tmp_path / "run") == contents(runs[kind])


def test_a_run_that_lost_its_end_resumes_to_the_same_bytes(runs, tmp_path):
    folder = tmp_path / "run"
    garra("run", scenario("stroke"), "-o", folder, "--no-report")
    for name in ("summary.json", "path.h5", "chunks/000000"):
        (folder / name).unlink()
    garra("resume", folder, "--no-report")
    assert contents(folder) == contents(runs["stroke"])
    assert "finished, 11 of 11 samples, P(solved) = 1.0000" in garra("status", folder).stdout


def test_replay_is_the_row_of_the_table(runs):
    said = json.loads(garra("replay", runs["move"], "--sample", 7, "--format", "json").stdout)
    rows = table_of(runs["move"] / "results.h5")
    assert said["sample"] == 7 and said["status_full"] == "converged"
    for key in ("path", "segment", "iterations_full", "difference", "flops_dense"):
        assert said[key] == rows[key][7]
    assert said["lengths"] == rows["lengths"][7].tolist()
    assert "iterations_minimal" in garra("replay", runs["move"]).stdout
    assert "no file of its own" in garra("replay", runs["move"], "-o", "x.h5", expect=USAGE).stderr


def test_what_is_not_solved_is_said_and_has_its_exit_code(tmp_path):
    impossible = ("--set", "experiment.tolerance=1e-20", "--set", "experiment.segments=2")
    done = garra("run", scenario("stroke"), *impossible, "-o", tmp_path / "run", "--no-report", expect=UNSOLVED)
    assert "0 of 2 poses solved in both forms" in done.stdout and "not all solved" in done.stdout
    assert "100 % of the samples are unsolved, more than a share of 0 (experiment.max_unsolved)" in done.stderr
    assert summary_of(tmp_path / "run")["solved"] == 0
    allowed = ("--max-unsolved", 1, "--require", "p_solved>=1")
    garra("run", scenario("stroke"), *impossible, *allowed, "-o", tmp_path / "more", "--no-report", expect=REQUIREMENT)


def test_answers_have_the_papers_numbers(tmp_path):
    said = garra("run", scenario("move"), "-o", tmp_path / "move", "--no-report").stdout
    assert "156 of 156 poses solved in both forms" in said and "Newton steps per segment" in said
    assert '"a single solution of forward kinematics in all cases": does not hold' in said
    assert "40 parts of the lengths" in said and "626 : 27.0 : 1" in said
    said = garra("run", scenario("free_motion"), "-o", tmp_path / "free", "--no-report").stdout
    assert "completed, 500 steps, 0 corrections" in said and "corrections do not improve the motion" in said


@pytest.mark.parametrize(
    ("flags", "code", "says"),
    [
        (("--samples", 5), USAGE, "nothing in an experiment is drawn at random"),
        (("--seed", 5), USAGE, "seed: nothing in an experiment is drawn at random"),
        (("--require", "p_feasible>=1"), USAGE, "this job has no p_feasible"),
        (("--set", "experiment.segmets=3"), USAGE, 'Did you mean "segments"?'),
        (("--set", "experiment.forces=[1,2,3,4,5,6]"), USAGE, 'says nothing about kind = "stroke"'),
        (
            ("--set", 'experiment.kind="move"'),
            INVALID,
            "platform_stroke.toml:14:1: experiment.travel: says nothing",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_made(tmp_path, flags, code, says):
    assert says in garra("run", scenario("stroke"), "-o", tmp_path / "run", *flags, expect=code).stderr
    assert not (tmp_path / "run").exists()


def test_the_command_of_earlier_versions_is_gone():
    assert garra("platform", "experiments", "trepa_like", expect=USAGE).returncode != DONE
