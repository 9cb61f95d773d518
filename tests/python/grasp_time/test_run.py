"""`garra run` with job = "grasp" and [simulation], seen from outside: a sphere that is pulled, at three levels of friction.

What a summary says is counted again from results.h5. Run with GARRA_PROGRAM=path/to/garra.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from program import (
    DONE,
    INVALID,
    PROGRAM,
    REQUIREMENT,
    ROOT,
    STOPPED,
    USAGE,
    clopper_pearson,
    garra,
    summary_of,
    table_of,
)

SCENARIO = ROOT / "data" / "scenarios" / "three_puma_pull.toml"
SHAKE = ROOT / "data" / "scenarios" / "three_puma_shake.toml"
LEVELS = [0.4, 0.6, 0.65]
SAMPLES = 96
# A tenth of a second in which about half of the samples at the second level are lost.
SETTINGS = ("simulation.duration=0.1 s", "simulation.instants=11", f"simulation.friction={LEVELS}", "simulation.drop=4 mm", "simulation.slip=0.5 mm",
            "simulation.load.0.to=0.05 s", "simulation.load.0.force=[0, 0, -20]",
            "contacts.friction={ normal = [0.3, 0.05], min = 0.1 }", 'output.keep="all"')  # fmt: skip
SMALL = tuple(word for setting in SETTINGS for word in ("--set", setting))
HELD, SLIPPED, DROPPED = 0, 1, 2
MOST_CONE = 1e-7  # [N] of forces of 15 N, at a tolerance of 1e-9
MOST_GAP = 1e-6  # [m]


def run(folder: Path, *more, samples: int = SAMPLES, expect: int | None = DONE):
    return garra("run", SCENARIO, "-o", folder, "--samples", samples, "--no-report", *SMALL, *more, expect=expect)


def results(folder: Path) -> tuple[bytes, ...]:
    return tuple((folder / n).read_bytes() for n in ("summary.json", "results.h5", "motion.h5"))


def replayed(folder: Path, sample: int, *more) -> dict:
    return json.loads(garra("replay", folder, "--sample", sample, "--format", "json", *more).stdout)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """One finished run; tests only read it."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    run(folder)
    return folder


@pytest.fixture(scope="module")
def table(whole) -> dict:
    return table_of(whole / "results.h5")


def test_the_folder_holds_what_it_promises(whole):
    names = {p.name for p in whole.iterdir()}
    assert names >= {"scenario.toml", "overrides.json", "chunks", "manifest.json", "results.h5", "motion.h5",
                     "summary.json"}  # fmt: skip


def test_the_summary_counts_what_the_table_holds(whole, table):
    summary = summary_of(whole)
    assert (summary["job"], summary["study"], summary["samples"]) == ("grasp", "time", SAMPLES)
    assert list(summary["outcomes"].values()) == [int((table["outcome"] == n).sum()) for n in range(8)]
    in_hand = table["outcome"] <= SLIPPED
    k = int(in_hand.sum())
    assert summary["held"]["probability"] == k / SAMPLES
    assert summary["held"]["low"] < k / SAMPLES < summary["held"]["high"]
    assert [level["friction"] for level in summary["levels"]] == LEVELS
    for n, level in enumerate(summary["levels"]):
        of_level = table["level"] == n
        held, no_slip = int((of_level & in_hand).sum()), int((of_level & (table["outcome"] == HELD)).sum())
        assert level["held"]["probability"] == held / of_level.sum()
        interval = clopper_pearson(held, int(of_level.sum()))
        assert (level["held"]["low"], level["held"]["high"]) == pytest.approx(interval, abs=1e-12)
        assert level["no_slip"]["probability"] == no_slip / of_level.sum()
        drop = level["survival"]["drop"]["probability"]
        assert len(drop) == 11 and drop[0] == 1 and drop[-1] == level["held"]["probability"]
    assert 0.1 < summary["levels"][1]["held"]["probability"] < 0.9, "a scenario worth a test"


def test_all_levels_have_the_same_draws(whole, table):
    assert (table["level"] == table["index"] % 3).all()
    with h5py.File(whole / "results.h5") as f:
        inputs = f["inputs"][:].reshape(SAMPLES // 3, 3, -1)
    assert (inputs == inputs[:, :1]).all()
    end = table["end_time"].reshape(-1, 3)
    assert (end[:, 0] < end[:, 2]).all(), "less friction is sooner lost"


def test_what_is_lost_has_moved_as_far_as_counts(table):
    dropped, drift = table["outcome"] == DROPPED, table["peak_drift"]
    assert dropped.any() and (drift[dropped] >= 0.004).all() and (drift[~dropped] < 0.004).all()
    assert (table["end_time"][~dropped] == 0.1).all() and (table["end_time"][dropped] <= 0.1).all()
    assert (np.isfinite(table["slip_time"]) == (table["outcome"] != HELD)).all()


def test_the_audit_is_small(whole, table):
    audit = summary_of(whole)["audit"]
    assert audit["worst_residual"] == table["residual"].max() <= 1e-9
    assert audit["worst_cone"] < MOST_CONE and audit["worst_gap"] < MOST_GAP
    assert audit["unstable_share"] is None, "of the explicit scheme only"


@pytest.mark.parametrize("flags", [("--threads", 1), ("--device", "scalar")])
def test_threads_and_lanes_change_no_byte(whole, tmp_path, flags):
    run(tmp_path / "run", *flags)
    assert results(tmp_path / "run") == results(whole)


def test_a_killed_run_resumes_to_the_same_bytes(tmp_path):
    short = ("--samples", "3000", "--set", "simulation.duration=0.02 s", "--set", "simulation.instants=3", "--no-report")
    garra("run", SCENARIO, "-o", tmp_path / "whole", *SMALL, *short)
    assert len(list((tmp_path / "whole" / "chunks").glob("*"))) == 3
    folder = tmp_path / "killed"
    process = subprocess.Popen([PROGRAM, "run", str(SCENARIO), "-o", str(folder), *SMALL, *short, "--threads", "1"],
                               cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    for _ in range(2000):
        if process.poll() is not None or list((folder / "chunks").glob("*")):
            break
        time.sleep(0.005)
    process.kill()
    process.wait()
    assert "of 3000 samples" in garra("status", folder).stdout
    garra("resume", folder, "--no-report")
    assert results(folder) == results(tmp_path / "whole")


def test_the_folder_alone_reproduces_the_run(whole, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(whole, copy)
    for name in ("summary.json", "motion.h5"):
        (copy / name).unlink()
    garra("resume", copy, "--no-report", cwd=tmp_path)
    assert results(copy) == results(whole)


def test_replay_is_the_sample_of_the_run(whole, table, tmp_path):
    k = int(np.flatnonzero((table["outcome"] == DROPPED) & (table["level"] == 1))[-1])
    said = replayed(whole, k, "-o", tmp_path / "it.h5")
    assert (said["outcome"], said["level"], said["friction"]) == ("dropped", k % 3, LEVELS[k % 3])
    for key in ("end_time", "slip_time", "peak_drift", "peak_turn", "least_margin"):
        assert said[key] == table[key][k], key
    assert said["certificate"]["residual"] == table["residual"][k]
    assert said["certificate"]["energy_balance"] == table["energy_balance"][k]
    assert max(c["peak_force"] for c in said["contacts"]) == table["peak_force"][k]
    with h5py.File(whole / "results.h5") as f:
        assert said["inputs"]["object mass"] == f["inputs"][k, 0]
    last = said["instants"][-1]
    assert last["time"] == pytest.approx(said["end_time"], abs=1e-12)
    assert last["drift"] == pytest.approx(said["peak_drift"], rel=1e-12)
    with h5py.File(tmp_path / "it.h5") as f:
        assert list(f) == [f"sample_{k}"] and f[f"sample_{k}"].attrs["drop_time"] == said["end_time"]
        assert np.allclose(f[f"sample_{k}/position"][-1], last["position"], atol=0)
    text = garra("replay", whole, "--sample", k).stdout
    assert f"sample {k}: dropped, at friction {LEVELS[k % 3]}" in text and "Certificate: residual at most" in text
    assert "a contact problem at every step" in garra("replay", whole, "--problem", "x.h5", expect=USAGE).stderr


def test_replay_looks_at_the_first_loss_unless_told(whole, table):
    first = int(np.argmin(np.where(table["outcome"] == DROPPED, table["end_time"], np.inf)))
    said = json.loads(garra("replay", whole, "--format", "json").stdout)
    assert said["sample"] == first == summary_of(whole)["worst"][0]["sample"]


def first_losses(table) -> set[int]:
    """Of each level the sample that was lost first."""
    lost = np.where(table["outcome"] >= DROPPED, table["end_time"], np.inf)
    firsts = (int(np.argmin(np.where(table["level"] == n, lost, np.inf))) for n in range(len(LEVELS)))
    return {k for k in firsts if np.isfinite(lost[k])}


def test_the_motions_are_those_of_the_first_losses_of_levels_and_the_closest(whole, table):
    summary = summary_of(whole)
    with h5py.File(whole / "motion.h5") as f:
        assert (f.attrs["shape"], f.attrs["contacts"], list(f.attrs["joints"])) == ("sphere", 3, [6, 6, 6])
        samples = first_losses(table)
        assert len({k % 3 for k in samples}) == len(samples) > 1, "of several levels"
        others = [e["sample"] for e in summary["worst"] if e["sample"] not in samples]
        samples.update(others[: 4 - len(samples)])
        samples.add(summary["closest"][0]["sample"])
        for k in first_losses(table):
            assert f[f"sample_{k}"].attrs["title"] == f"first lost of its level: sample {k}"
        assert set(f) == {"nominal"} | {f"sample_{k}" for k in samples}
        for k in samples:
            g = f[f"sample_{k}"]
            assert g.attrs["outcome"] == list(summary["outcomes"])[table["outcome"][k]]
            assert g.attrs["friction"] == LEVELS[k % 3] and g.attrs["slip_time"] == table["slip_time"][k]
            t = len(g["time"])
            assert g["finger_0/links"].shape == (t, 8, 3) and g["force"].shape == (t, 3, 3)
            tip, n, gap = g["finger_1/links"][:, -1], g["normal"][:, 1], g["gap"][:, 1]
            center = g["position"][:]
            assert np.linalg.norm(tip - center, axis=1) == pytest.approx(0.1, abs=1e-4), "a fingertip at the sphere"
            cone = np.linalg.norm(g["force"][:, :, 1:], axis=2) - g.attrs["mu"] * g["force"][:, :, 0]
            assert cone.max() < MOST_CONE
            assert (np.abs(np.linalg.norm(n, axis=1) - 1) < 1e-12).all() and np.abs(gap).max() < 1e-3


@pytest.mark.parametrize(
    ("requirement", "code", "says"),
    [("p_held>=0.01", DONE, ""), ("p_held>=0.999", REQUIREMENT, "P(held)"),
     ("p_settled>=0.5", USAGE, "this job has no p_settled")],
)  # fmt: skip
def test_requirements_are_of_the_share_held(tmp_path, requirement, code, says):
    assert says in run(tmp_path / "run", "--require", requirement, expect=code).stderr


def test_a_time_limit_stops_it_to_be_resumed(whole, tmp_path):
    run(tmp_path / "run", "--time-limit", 1e-9, expect=STOPPED)
    garra("resume", tmp_path / "run", "--no-report")
    assert results(tmp_path / "run") == results(whole)


def test_errors_that_matter_are_said_to_be_too_large(tmp_path):
    text = run(tmp_path / "run", "--set", "simulation.slip=1e-7", samples=48).stdout
    summary = summary_of(tmp_path / "run")
    work = min(level["peak_force"]["quantiles"]["0.5"] for level in summary["levels"]) * 1e-7
    large = [n for n, k, most in (("energy", "energy_balance", work), ("gap", "worst_gap", 1e-9)) if summary["audit"][k] > most]
    assert large and f"TOO LARGE: {' and '.join(large)}, against " in text and "halve simulation.step" in text


def test_the_answer_is_a_table_of_the_levels(tmp_path):
    text = run(tmp_path / "run", samples=48).stdout
    assert "at 3 levels of friction" in text and "P(no slip)" in text and "Largest errors" in text
    summary = summary_of(tmp_path / "run")
    work = min(level["peak_force"]["quantiles"]["0.5"] for level in summary["levels"]) * summary["time"]["slip"]
    assert summary["audit"]["energy_balance"] < work and summary["audit"]["worst_gap"] < 0.01 * summary["time"]["slip"]
    assert f"small: energy and gap are below {work:.1e} J (peak force x slip)" in text
    assert f"garra replay {tmp_path / 'run'} --sample" in text
    for level in summary_of(tmp_path / "run")["levels"]:
        line = next(row for row in text.splitlines() if row.startswith(f"  {level['friction']:g} "))
        assert f"{level['held']['probability']:.4f}" in line


def test_check_prints_a_scenario_that_reads_back(tmp_path):
    for scenario in (SCENARIO, SHAKE):
        printed = garra("check", scenario).stdout
        (tmp_path / "printed.toml").write_text(printed)
        assert garra("check", tmp_path / "printed.toml").stdout == printed
        for key in ("duration", "drift_correction", "instants", "[simulation.drive]", "[[simulation.load]]"):
            assert key in printed


def test_torques_of_a_file_go_with_the_run(tmp_path):
    torques = np.zeros((2, 19))
    torques[1, 0] = 0.1
    np.savetxt(tmp_path / "torques.csv", torques, delimiter=",", header="time, finger by finger")
    text = SCENARIO.read_text().replace('kind = "constant"', 'kind = "sampled"\nfile = "torques.csv"')
    (tmp_path / "s.toml").write_text(text)
    flags = ("--samples", 8, "--no-report", "--set", "simulation.duration=0.02", "--set", "simulation.instants=3")
    garra("run", tmp_path / "s.toml", "-o", tmp_path / "run", *flags)
    (tmp_path / "torques.csv").unlink()
    assert (tmp_path / "run" / "models" / "torques.csv").exists()
    assert replayed(tmp_path / "run", 0)["steps"] == 20


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('step = "1 ms"', 'step = "0.3 s"', "simulation.step: 0.3 s does not divide simulation.duration = 0.5 s\n  Write step = 0.25"),
        ('kind = "ramp"', 'kind = "rmap"', 'simulation.load[0].kind: unknown value "rmap"\n  Did you mean "ramp"?'),
        ('duration = "0.5 s"', 'duration = "0.5 m"', "simulation.duration: expected a time (s, ms, min), found a length"),
        ("[simulation]", "[solver]\ncheck_uniqueness = true\n[simulation]", "solver.check_uniqueness: is not used with [simulation]"),
    ],
)
def test_mistakes_name_line_column_and_key(tmp_path, old, new, says):
    bad = tmp_path / "bad.toml"
    bad.write_text(SCENARIO.read_text().replace(old, new))
    said = garra("check", bad, expect=INVALID).stderr
    assert says in said and "bad.toml:" in said
