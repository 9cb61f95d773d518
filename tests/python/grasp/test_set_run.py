"""Sets of grasps as a job: checked, run, killed and resumed, divided, replayed, by the program and from Python."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest
from program import INVALID, PROGRAM, REQUIREMENT, ROOT, STOPPED, USAGE, garra, summary_of, table_of

STUDY = """schema = 1
job = "grasp_set"
title = "Pinches"
[set]
file = "grasps.h5"
[contacts]
friction_factor = { uniform = [0.6, 1.2] }
[load]
force_radius = "1 N"
[sampling]
samples = 200
friction_samples = 2
chunk = 64
"""


def write_set(path, count: int = 500, seed: int = 3):
    """Pinches of a box, some with their normals turned, one far away."""
    rng = np.random.default_rng(seed)
    point = np.zeros((count, 2, 3))
    point[:, 0, 0], point[:, 1, 0] = -0.03, 0.03
    normal = np.zeros_like(point)
    normal[:, 0, 0], normal[:, 1, 0] = 1, -1
    normal[11] *= -1
    point[17] += 100
    with h5py.File(path, "w") as file:
        file["point"], file["normal"] = point, normal
        file["friction"] = rng.uniform(0.4, 0.6, (count, 2))
        file["force_limit"] = np.full((count, 2), 8.0)
        file["mass"] = rng.uniform(0.3, 0.7, count)


@pytest.fixture
def study(tmp_path):
    write_set(tmp_path / "grasps.h5")
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


def assert_same(a: dict, b: dict):
    assert a.keys() == b.keys()
    for name, column in a.items():
        assert column.tobytes() == b[name].tobytes(), name


def test_it_is_checked_and_printed_as_any_scenario(study):
    printed = garra("check", study, "--format", "toml").stdout
    assert 'file = "' in printed and "chunk = 64" in printed
    again = study.with_name("again.toml")
    again.write_text(printed)
    assert garra("check", again, "--format", "toml", cwd=study.parent).stdout == printed
    bad = study.with_name("bad.toml")
    bad.write_text(STUDY.replace("samples = 200", "sample = 200"))
    assert "sampling.sample" in garra("check", bad, expect=INVALID).stderr
    bad.write_text(STUDY.replace('file = "grasps.h5"\n', ""))
    assert "set.file" in garra("check", bad, expect=INVALID).stderr


def test_a_run_has_the_ranking_that_the_command_gives(study, tmp_path):
    garra("run", study, "-o", tmp_path / "run")
    garra("grasp", "rank", study, "-o", tmp_path / "r.h5", "--no-report")
    ranking = table_of(tmp_path / "run/ranking.h5")
    assert_same(ranking, table_of(tmp_path / "r.h5"))
    summary = summary_of(tmp_path / "run")
    best = int(np.flatnonzero(ranking["rank"] == 1)[0])
    assert summary["samples"] == 500 and summary["outcomes"]["ranked"] == 498
    assert summary["outcomes"]["outward_normals"] == summary["outcomes"]["millimeters"] == 1
    assert (
        summary["p_held"]["probability"]
        == ranking["p_held"][best]
        == ranking["p_held"].max(where=ranking["rank"] > 0, initial=0)
    )
    assert 0.2 < summary["p_held"]["probability"] <= 1 and 0 < ranking["p_held"][0] < 1
    assert summary["held"] == ranking["held"].sum()
    assert "Pinches" in (tmp_path / "run/report.html").read_text()


def test_bytes_do_not_depend_on_chunks_and_threads(study, tmp_path):
    garra("run", study, "-o", tmp_path / "a", "--no-report")
    garra("run", study, "-o", tmp_path / "b", "--no-report", "--set", "sampling.chunk=7", "--device", "scalar")
    garra("run", study, "-o", tmp_path / "c", "--no-report", "--set", "sampling.chunk=1000", "--threads", "1")
    a, b, c = (table_of(tmp_path / f"{run}/ranking.h5") for run in "abc")
    assert_same(a, b)
    assert_same(a, c)


def test_a_killed_run_goes_on_where_it_was(study, tmp_path):
    slow = ["--set", "sampling.samples=4000", "--set", "sampling.chunk=16"]
    garra("run", study, "-o", tmp_path / "whole", "--no-report", *slow)
    command = [PROGRAM, "run", str(study), "-o", str(tmp_path / "run"), "--no-report", "--threads", "1", *slow]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (tmp_path / "run/chunks/000002").exists():
        assert process.poll() is None, "it was over before it could be killed"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    there = sorted(path.name for path in (tmp_path / "run/chunks").glob("0*"))
    assert 3 <= len(there) < 32
    kept = {name: (tmp_path / "run/chunks" / name).stat().st_mtime_ns for name in there}
    assert "unfinished" in garra("status", tmp_path / "run").stdout
    assert "resume" in garra("replay", tmp_path / "run", "--sample", 0, expect=USAGE).stderr
    # From anywhere: the folder knows where the set is.
    garra("resume", tmp_path / "run", "--no-report", cwd=tmp_path)
    assert {name: (tmp_path / "run/chunks" / name).stat().st_mtime_ns for name in there} == kept
    assert (tmp_path / "run/ranking.h5").read_bytes() == (tmp_path / "whole/ranking.h5").read_bytes()
    garra("verify", tmp_path / "run", "--fraction", "0.2")


def test_a_time_limit_stops_it_resumable(study, tmp_path):
    garra("run", study, "-o", tmp_path / "run", "--no-report", "--time-limit", "1e-9", expect=STOPPED)
    assert not (tmp_path / "run/ranking.h5").exists()
    garra("resume", tmp_path / "run", "--no-report")
    assert (tmp_path / "run/ranking.h5").exists()


def test_samples_of_a_run_are_replayed(study, tmp_path):
    garra("run", study, "-o", tmp_path / "run", "--no-report")
    ranking = table_of(tmp_path / "run/ranking.h5")
    for grasp in (0, 3):
        held = 0
        for sample in range(0, 200, 40):
            one = json.loads(
                garra("replay", tmp_path / "run", "--grasp", grasp, "--sample", sample, "--format", "json").stdout
            )
            assert one["grasp"] == grasp and one["sample"] == sample
            held += one["outcome"] == "held"
        assert 0 <= ranking["held"][grasp] - held <= 195
    best = int(np.flatnonzero(ranking["rank"] == 1)[0])
    assert f"Grasp {best}, sample 0" in garra("replay", tmp_path / "run").stdout


def test_a_set_that_has_changed_is_refused(study, tmp_path):
    garra("run", study, "-o", tmp_path / "run", "--no-report", "--time-limit", "1e-9", expect=STOPPED)
    write_set(tmp_path / "grasps.h5", seed=4)
    assert "has changed" in garra("resume", tmp_path / "run", expect=5).stderr
    # Gone, but beside the folder's scenario.
    write_set(tmp_path / "run/grasps.h5")
    (tmp_path / "grasps.h5").unlink()
    garra("resume", tmp_path / "run", "--no-report")


def test_requirements_are_about_the_best_grasp(study, tmp_path):
    garra("run", study, "-o", tmp_path / "run", "--no-report", "--require", "p_held>=0.01")
    found = garra("resume", tmp_path / "run", "--no-report", "--require", "p_held>=0.9999999", expect=REQUIREMENT)
    assert "of the best grasp" in found.stderr
    assert (
        "cannot give up" in garra("run", study, "-o", tmp_path / "b", "--set", "sampling.best=3", expect=INVALID).stderr
    )
    assert "no tolerance" in garra("run", study, "-o", tmp_path / "b", "--tolerance", "1e-8", expect=USAGE).stderr
    assert not (tmp_path / "b").exists()


def test_memory_is_bounded_by_the_chunk(tmp_path):
    def peak(count: int) -> int:
        write_set(tmp_path / "grasps.h5", count)
        few = STUDY.replace("samples = 200\nfriction_samples = 2", "samples = 1\nfriction_samples = 0")
        (tmp_path / "study.toml").write_text(few.replace("64", "2000"))
        command = [PROGRAM, "run", tmp_path / "study.toml", "-o", tmp_path / f"run{count}", "--quiet", "--no-report"]
        process = subprocess.Popen(command, cwd=ROOT)
        _, status, usage = os.wait4(process.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        return 1024 * usage.ru_maxrss

    more = 100_000
    # The set's rows alone are 168 bytes a grasp, those of its ranking 250.
    assert peak(20_000 + more) - peak(20_000) < 80 * more


def test_workers_share_it(study, tmp_path):
    garra("run", study, "-o", tmp_path / "whole", "--no-report")
    garra("submit", study, "-o", tmp_path / "run")
    garra("worker", tmp_path / "run")
    garra("resume", tmp_path / "run", "--no-report")
    assert (tmp_path / "run/ranking.h5").read_bytes() == (tmp_path / "whole/ranking.h5").read_bytes()


def test_a_simulated_gpu_gives_the_same_bytes(study, tmp_path):
    simulated = os.path.join(os.path.dirname(PROGRAM), "garra-sim")
    if not os.path.isfile(simulated):
        pytest.skip("no program with a simulated GPU was built")
    write_set(tmp_path / "grasps.h5", 20)
    few = ["--samples", "20", "--set", "sampling.chunk=8", "--no-report"]
    garra("run", study, "-o", tmp_path / "cpu", *few)
    subprocess.run([simulated, "run", study, "-o", tmp_path / "gpu", "--device", "cuda", *few], check=True, timeout=300)
    assert (tmp_path / "gpu/ranking.h5").read_bytes() == (tmp_path / "cpu/ranking.h5").read_bytes()


def test_python_runs_it(study, tmp_path):
    import garra as package
    from arrays import require_module

    require_module()
    result = package.run(study, out=tmp_path / "run")
    assert result.job == "grasp_set" and result.samples == 500
    ranking = result.ranking
    there = table_of(tmp_path / "run/ranking.h5")
    np.testing.assert_array_equal(ranking.rank, there["rank"])
    assert ranking.best == int(np.flatnonzero(there["rank"] == 1)[0])
    assert ranking.hand == "ideal" and ranking.refused == {"outward_normals": 1, "millimeters": 1}
    assert len(ranking.candidates.first) == 501
    assert package.open_run(tmp_path / "run").ranking.best == ranking.best
    shutil.rmtree(tmp_path / "run")
