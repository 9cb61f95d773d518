"""`garra run` with job = "chain", seen from outside: a sweep of designs, its folder, replay and exit codes.

What a summary says is counted again from results.h5. Run with GARRA_PROGRAM=path/to/garra.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
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
    UNSOLVED,
    USAGE,
    clopper_pearson,
    garra,
    summary_of,
    wait_until,
)

SCENARIO = ROOT / "data" / "scenarios" / "exoskeleton_damping.toml"
SPHERE = ROOT / "data" / "scenarios" / "three_puma_sphere.toml"
DESIGNS, SAMPLES, CHUNK, JOINTS = 4, 600, 1024, 6
SWEEP = 'sweep={ "vary.damping" = [0.001, 0.02, 0.05, 0.1] }'
COARSE = ("--set", SWEEP, "--set", "simulation.step=1 ms", "--set", "simulation.outputs=21", "--set", f"sampling.chunk={CHUNK}")


def run(folder: Path, *more, samples: int = SAMPLES, expect: int | None = DONE):
    return garra("run", SCENARIO, "-o", folder, "--samples", samples, "--no-report", *COARSE, *more, expect=expect)


def table_of(folder: Path) -> dict:
    with h5py.File(folder / "results.h5") as file:
        table = {name: file[name][:] for name in file}
        table["outcome names"] = list(file["outcome"].attrs["names"])
        table["input names"] = list(file["inputs"].attrs["names"])
    return table


def results(folder: Path) -> tuple[bytes, bytes, bytes]:
    return tuple((folder / name).read_bytes() for name in ("summary.json", "results.h5", "nominal.h5"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """One finished run that keeps every sample; tests only read it."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    run(folder, "--set", 'output.keep="all"')
    return folder


@pytest.fixture(scope="module")
def table(whole) -> dict:
    return table_of(whole)


# --- what is in the folder


def test_the_folder_holds_what_it_promises(whole):
    assert {p.name for p in whole.iterdir()} >= {"scenario.toml", "overrides.json", "models", "chunks", "manifest.json",
                                                 "results.h5", "nominal.h5", "summary.json"}  # fmt: skip
    assert (whole / "scenario.toml").read_bytes() == SCENARIO.read_bytes()
    robot = ROOT / "data" / "robots" / "exoskeleton.toml"
    assert (whole / "models" / "exoskeleton.toml").read_bytes() == robot.read_bytes()
    assert not [p for p in whole.rglob("*") if ".part" in p.name]


def test_the_summary_counts_what_the_table_holds(whole, table):
    summary = summary_of(whole)
    assert summary["job"] == "chain" and summary["samples"] == summary["requested"] == DESIGNS * SAMPLES
    assert summary["sweep"] == [
        {"key": "vary.damping", "unit": "N*m*s/rad", "values": [0.001, 0.02, 0.05, 0.1], "scale": "list"}
    ]
    assert np.array_equal(table["design"], table["index"] % DESIGNS)
    settled = table["outcome"] == table["outcome names"].index("settled")
    assert np.array_equal(settled, table["settling_time"] <= summary["settle"]["within"])
    for d, design in enumerate(summary["designs"]):
        mine = table["design"] == d
        assert design["samples"] == mine.sum() == SAMPLES
        assert design["outcomes"]["settled"] == settled[mine].sum()
        assert design["probability"] == pytest.approx(settled[mine].mean(), abs=1e-15)
        assert (design["low"], design["high"]) == pytest.approx(clopper_pearson(settled[mine].sum(), SAMPLES), abs=1e-12)
        for j, torque in enumerate(design["peak_torque"]):
            values = table["peak_torque"][mine, j]
            assert sum(torque["counts"]) + torque["below"] + torque["above"] == SAMPLES
            if torque["above"] == 0:
                assert torque["mean"] == pytest.approx(values.mean(), rel=1e-12)
        never = np.isinf(table["settling_time"][mine]).sum()
        assert design["settling_time"]["above"] == never
        assert design["worst_balance"] == np.abs(table["balance"][mine]).max()
    for outcome, count in summary["outcomes"].items():
        assert count == sum(design["outcomes"][outcome] for design in summary["designs"])


def test_the_best_design_is_the_surest_and_the_slowest_are_its_slowest(whole, table):
    summary = summary_of(whole)
    best = summary["best"]["design"]
    highest = max(summary["designs"], key=lambda design: design["probability"])
    assert summary["designs"][best]["high"] >= highest["low"]
    mine = table["design"] == best
    order = np.lexsort((table["index"][mine], -table["settling_time"][mine]))[:10]
    assert [e["sample"] for e in summary["slowest"]] == list(table["index"][mine][order])
    curve = summary["convergence"]
    assert curve["samples"][-1] == SAMPLES and curve["low"][-1] == summary["designs"][best]["low"]
    settled = table["settling_time"][mine] <= summary["settle"]["within"]
    for n, p in zip(curve["samples"], curve["probability"]):
        assert p == pytest.approx(settled[:n].mean(), abs=1e-12)


def test_all_designs_see_the_same_random_numbers(table):
    inputs = table["inputs"].reshape(SAMPLES, DESIGNS, -1)
    assert table["input names"] == ["start q", "mass factor", "size factor"]
    assert np.all(inputs == inputs[:, :1])
    assert abs(inputs[:, 0, 1].mean() - 1) < 4 * 0.05 / np.sqrt(SAMPLES)
    assert abs(inputs[:, 0, 2].std() / 0.03 - 1) < 4 / np.sqrt(2 * SAMPLES)
    assert abs(np.corrcoef(inputs[:, 0].T)[0, 1]) < 4 / np.sqrt(SAMPLES)


def test_nominal_trajectories_follow_the_law(whole, tmp_path):
    with h5py.File(whole / "nominal.h5") as file:
        t, q, qd, torque = (file[name][:] for name in ("times", "q", "qd", "torque"))
        points, tip, balance = (file[name][:] for name in ("points", "tip", "balance"))
        energy = file["kinetic_energy"][:] + file["potential_energy"][:]
        flows = file["work"][:] - file["dissipated"][:]
        assert list(file["design"]) == list(range(DESIGNS))
        assert list(file["status"].attrs["names"])[0] == "completed" and not file["status"][:].any()
    assert q.shape == (DESIGNS, 21, JOINTS) and points.shape == (DESIGNS, 21, JOINTS + 2, 3)
    assert t[0] == 0 and t[-1] == 0.2
    assert np.allclose(q[:, 0], np.radians(3), rtol=1e-12)
    assert np.abs(points[:, :, -1] - tip).max() < 1e-12
    # What the law asks for beyond its springs holds the weight: the same function of q in every design.
    law = np.array([12, 6, 3, 1.5, 1.5, 1.5]) * -q - np.array([0.12, 0.04, 0, 0, 0, 0]) * qd
    weight = torque - law
    assert np.abs(weight).max() < 0.2 and np.abs(weight[:, 0] - weight[0, 0]).max() < 1e-12
    assert np.abs(energy - energy[:, :1] - flows - balance).max() < 1e-12
    # A tenth of the step: the energies' errors, of second order but for the first fast decay, shrink by more than ten.
    run(tmp_path / "fine", "--set", "simulation.step=0.1 ms", samples=8)
    with h5py.File(tmp_path / "fine" / "nominal.h5") as file:
        assert np.abs(file["balance"][:]).max() < 0.1 * np.abs(balance).max()


# --- the same bytes, however they are computed


@pytest.mark.parametrize("flags", [("--threads", 1), ("--threads", 3), ("--device", "scalar")])
def test_threads_and_lanes_change_no_byte(whole, tmp_path, flags):
    run(tmp_path / "run", "--set", 'output.keep="all"', *flags)
    assert results(tmp_path / "run") == results(whole)


def test_the_size_of_chunks_changes_no_byte(whole, tmp_path):
    run(tmp_path / "run", "--set", 'output.keep="all"', "--set", "sampling.chunk=2048")
    assert results(tmp_path / "run") == results(whole)


def test_the_folder_alone_reproduces_the_run(whole, tmp_path):
    alone = Path(shutil.copytree(whole, tmp_path / "alone"))
    sets = [word for o in json.loads((alone / "overrides.json").read_text()) for word in ("--set", o)]
    program = Path(shutil.copy(PROGRAM, tmp_path / "garra"))  # far from any data/robots
    command = [program, "run", alone / "scenario.toml", "-o", "again", "--no-report", "--quiet", *sets]
    subprocess.run([*map(str, command)], check=True, cwd=tmp_path, timeout=300)
    assert results(tmp_path / "again") == results(whole)


def test_a_killed_run_resumes_to_the_same_bytes(whole, tmp_path):
    folder = tmp_path / "run"
    slow = ("--set", "simulation.step=0.05 ms", "--set", 'output.keep="all"')
    run(tmp_path / "uninterrupted", *slow)
    command = [PROGRAM, "run", SCENARIO, "-o", folder, "--samples", SAMPLES, "--no-report", *COARSE, *slow,
               "--device", "scalar", "--threads", 1]  # fmt: skip
    process = subprocess.Popen([*map(str, command)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until((folder / "chunks" / "000000").exists, process)
    process.kill()
    process.wait()
    assert (folder / "chunks" / "000000").exists() and not (folder / "summary.json").exists()
    assert "unfinished" in garra("status", folder).stdout and "P(settled)" in garra("status", folder).stdout
    garra("resume", folder, "--no-report")
    assert results(folder) == results(tmp_path / "uninterrupted")
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}
    garra("resume", folder, "--no-report")
    assert before == {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}


def test_another_robot_in_the_folder_is_another_run(whole, tmp_path):
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    model = folder / "models" / "exoskeleton.toml"
    model.write_text(model.read_text().replace("mass = 0.0027", "mass = 0.0037"))
    assert "chunk 0 belongs to another scenario" in garra("resume", folder, "--no-report").stderr
    assert summary_of(folder)["designs"] != summary_of(whole)["designs"]


def test_a_lost_result_is_written_again(whole, tmp_path):
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    (folder / "nominal.h5").unlink()
    garra("resume", folder, "--no-report")
    assert results(folder) == results(whole)


# --- a sample again


def test_replay_is_the_sample_of_the_run(whole, table, tmp_path):
    for i in (0, 1234, DESIGNS * SAMPLES - 1):
        out = tmp_path / f"{i}.h5"
        j = json.loads(garra("replay", whole, "--sample", i, "--format", "json", "-o", out).stdout)
        assert j["design"] == i % DESIGNS and j["swept"] == {"vary.damping": [0.001, 0.02, 0.05, 0.1][i % DESIGNS]}
        assert list(j["inputs"].values()) == list(table["inputs"][i])
        assert j["outcome"] == table["outcome names"][table["outcome"][i]]
        time_of = table["settling_time"][i]
        assert j["settling_time"] == (None if np.isinf(time_of) else time_of)
        assert j["peak_torque"] == list(table["peak_torque"][i])
        with h5py.File(out) as file:
            assert file["q"].shape == (1, 21, JOINTS)
            assert np.array_equal(file["q"][0, 0], np.full(JOINTS, table["inputs"][i, 0]))
    text = garra("replay", whole).stdout
    assert f"sample {summary_of(whole)['slowest'][0]['sample']}:" in text and "mass factor" in text


@pytest.mark.parametrize(
    "arguments, says",
    [(("--sample", 10**9), "the run has 2400 samples"), (("--problem", "x.h5"), "no contact problem")],
)
def test_replay_refuses_what_makes_no_sense(whole, arguments, says):
    assert says in garra("replay", whole, *arguments, expect=USAGE).stderr


# --- words and exit codes


def test_the_answer_is_said_in_one_sentence(whole, tmp_path):
    answer = run(tmp_path / "run").stdout
    best = summary_of(whole)["designs"][summary_of(whole)["best"]["design"]]
    assert f"With damping = {best['values'][0]:.4g} N*m*s/rad it settles within 50 ms" in answer
    assert f"P = {best['probability']:.4f}, 95 % interval [{best['low']:.4f}, {best['high']:.4f}]" in answer
    assert answer.count("█") > 5 and "garra replay" in answer and "Energy balance" in answer
    assert all(len(line) <= 120 for line in answer.splitlines() if str(tmp_path) not in line)


def test_one_design_and_no_success_are_said_too(tmp_path):
    one = garra("run", SCENARIO, "-o", tmp_path / "one", "--samples", 64, "--no-report", "--set", "sweep={}", "--set",
                "vary.damping=0.05", "--set", "simulation.step=1 ms").stdout  # fmt: skip
    assert "  It settles within 50 ms:" in one
    none = run(tmp_path / "none", "--set", "settle.within=1 ms", samples=32).stdout
    assert "No design settles within 1 ms: not one of the 128 samples did." in none
    assert summary_of(tmp_path / "none")["best"] is None


@pytest.mark.parametrize(
    "requirement, code, says",
    [("p_settled>=0.5", DONE, ""), ("p_settled>=0.999", REQUIREMENT, "P(settled) of the best design"),
     ("p_held>=0.5", USAGE, "this job has no p_held"), ("p_setled>=0.5", USAGE, "p_settled>=0.99")],
)  # fmt: skip
def test_requirements_are_of_the_best_design(tmp_path, requirement, code, says):
    assert says in run(tmp_path / "run", "--require", requirement, samples=200, expect=code).stderr
    assert (tmp_path / "run").exists() == (code != USAGE)


def test_a_swept_limit_is_said_of_the_design_that_has_it(tmp_path):
    sweep = 'sweep={ "settle.within" = ["5 ms", "50 ms"], "simulation.step" = ["1 ms", "0.5 ms"] }'
    done = garra("run", SCENARIO, "-o", tmp_path / "run", "--samples", 400, "--no-report", "--set", sweep, "--set",
                 "vary.damping=0.03", "--set", "simulation.outputs=21")  # fmt: skip
    summary = summary_of(tmp_path / "run")
    best = summary["designs"][summary["best"]["design"]]
    assert best["values"][0] == summary["settle"]["within"] == 0.05 and best["probability"] > 0.5
    assert "settles within 50 ms" in done.stdout
    assert "(implicit)" in done.stdout  # of steps of two lengths


def test_a_grasp_has_no_settling(tmp_path):
    done = garra("run", SPHERE, "-o", tmp_path / "run", "--require", "p_settled>=0.5", expect=USAGE)
    assert "this job has no p_settled" in done.stderr and "p_held>=0.99" in done.stderr


def test_unsolved_samples_end_with_their_own_code(tmp_path):
    unstable = ("--set", 'simulation.method="rk4"', "--set", "simulation.step=2 ms")
    done = run(tmp_path / "run", *unstable, samples=50, expect=UNSOLVED)
    assert "sampling.max_unsolved" in done.stderr and "simulation.step" in done.stderr
    summary = summary_of(tmp_path / "run")
    assert summary["outcomes"]["non_finite"] > 0
    broken = summary["designs"][-1]
    assert broken["low"] == pytest.approx(clopper_pearson(broken["outcomes"]["settled"], 50)[0], abs=1e-12)
    assert broken["high"] == pytest.approx(
        clopper_pearson(broken["outcomes"]["settled"] + broken["outcomes"]["non_finite"], 50)[1], abs=1e-12
    )
    run(tmp_path / "allowed", *unstable, "--max-unsolved", 1, samples=50)


def test_it_stops_when_every_design_is_known_well_enough(tmp_path):
    run(tmp_path / "run", "--stop", "half-width=0.06", samples=100_000)
    summary = summary_of(tmp_path / "run")
    assert summary["stopped_by"] == "half_width"
    assert max(design["high"] - design["low"] for design in summary["designs"]) <= 0.12
    samples = [design["samples"] for design in summary["designs"]]
    assert max(samples) - min(samples) <= 1


def test_check_prints_a_scenario_that_runs_to_the_same(whole, tmp_path):
    sets = [word for o in json.loads((whole / "overrides.json").read_text()) for word in ("--set", o)]
    text = garra("check", SCENARIO, *sets).stdout
    (tmp_path / "resolved.toml").write_text(text)
    garra("run", tmp_path / "resolved.toml", "-o", tmp_path / "run", "--no-report")
    assert summary_of(tmp_path / "run")["designs"] == summary_of(whole)["designs"]


def test_every_shipped_scenario_is_valid():
    garra("check", *sorted((ROOT / "data" / "scenarios").glob("*.toml")))


def test_mistakes_name_line_column_and_key(tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text(SCENARIO.read_text().replace('"vary.damping"', '"vary.dampin"'))
    line = 1 + bad.read_text().split('"vary.dampin"')[0].count("\n")
    done = garra("run", bad, "-o", tmp_path / "run", expect=INVALID)
    assert re.search(rf"{bad}:{line}:\d+: vary.dampin: unknown key", done.stderr) and '"damping"?' in done.stderr
    assert not (tmp_path / "run").exists()
    done = garra("run", SCENARIO, "-o", tmp_path / "run", "--set", "vary.damping=1", expect=USAGE)
    assert "vary.damping: is swept" in done.stderr


@pytest.mark.parametrize(
    ("sets", "says"),
    [(("friction.coulomb=1 N*m", "friction.breakaway=0.5 N*m"), "friction.breakaway: is below coulomb"),
     (("torque.motor.stall_torque=1 N*m", "torque.motor.no_load_speed=9 rad/s", "torque.motor.voltage=3"),
      "torque.motor.rated_voltage: is missing or 0")],
)  # fmt: skip
def test_check_sees_frictions_and_voltages_that_contradict_each_other(sets, says):
    flags = [word for one in sets for word in ("--set", one)]
    assert says in garra("check", SCENARIO, *flags, expect=USAGE).stderr
