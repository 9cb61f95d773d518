"""`garra run` with job = "platform", seen from outside: a path under uncertainty and a map of the workspace.

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

SCENARIO = ROOT / "data" / "scenarios" / "platform_climb.toml"
WORKSPACE = ROOT / "data" / "scenarios" / "platform_workspace.toml"
SAMPLES = 6_000
SMALL = ("--set", "sampling.chunk=1024", "--set", "path.instants=21", "--set", 'output.keep="all"')


def run(folder: Path, *more, samples: int = SAMPLES, expect: int | None = DONE):
    return garra("run", SCENARIO, "-o", folder, "--samples", samples, "--no-report", *SMALL, *more, expect=expect)


def results(folder: Path) -> tuple[bytes, ...]:
    return tuple((folder / n).read_bytes() for n in ("summary.json", "results.h5", "path.h5"))


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
    assert names >= {"scenario.toml", "overrides.json", "models", "chunks", "manifest.json", "results.h5", "path.h5",
                     "summary.json"}  # fmt: skip
    model = ROOT / "data" / "platforms" / "trepa_like.toml"
    assert (whole / "models" / "trepa_like.toml").read_bytes() == model.read_bytes()


def test_the_summary_counts_what_the_table_holds(whole, table):
    summary = summary_of(whole)
    assert len(table["index"]) == SAMPLES == summary["samples"]
    k = int((table["outcome"] == 0).sum())
    p = summary["p_feasible"]
    assert 0.7 < p["probability"] < 0.99, "a scenario worth a study"
    assert p["probability"] == pytest.approx(k / SAMPLES, abs=1e-15)
    assert (p["low"], p["high"]) == pytest.approx(clopper_pearson(k, SAMPLES), abs=1e-12)
    assert list(summary["outcomes"].values()) == [int((table["outcome"] == n).sum()) for n in range(8)]
    names = list(summary["outcomes"])
    for row in summary["first_failure"]["legs"]:
        for n, name in enumerate(names[1:], 1):
            leg = -1 if row["leg"] is None else row["leg"]
            assert row[name] == ((table["outcome"] == n) & (table["leg"] == leg)).sum()
    failed = table["outcome"] > 0
    assert summary["first_failure"]["count"] == [int((table["instant"][failed] == t).sum()) for t in range(21)]
    counts = summary["metrics"]["peak_force"]
    assert sum(counts["counts"]) + counts["below"] + counts["above"] == SAMPLES
    assert summary["highest_force"][0]["force"] == table["peak_force"].max()
    over = table["peak_force"] > summary["allowed"]["force"]
    assert (over == (table["outcome"] == names.index("force_limit"))).all()


def test_the_payload_decides_and_the_geometry_does_not(whole):
    influence = {i["name"]: i["influence"] for i in summary_of(whole)["inputs"]}
    assert influence["payload.mass"] > 0.05
    assert influence["payload.mass"] > influence["geometry.base_error"]


def test_the_nominal_path_lies_within_the_envelope(whole):
    path = table_of(whole / "path.h5")
    assert path["time"][-1] == 2 and path["force"].shape == (21, 6)
    assert (path["force_low"] <= path["force"]).all() and (path["force"] <= path["force_high"]).all()
    R0, tip = path["position"][0], path["platform_anchors"]
    lengths = np.linalg.norm(R0 + tip - path["base_anchors"], axis=1)  # the first pose does not turn
    shift = path["lengths"][0] - lengths
    assert np.abs(shift).max() < 1e-12
    rates = np.gradient(path["lengths"], path["time"], axis=0)
    assert np.abs(rates - path["rates"])[1:-1].max() < 0.01


@pytest.mark.parametrize("flags", [("--threads", 1), ("--device", "scalar")])
def test_threads_and_lanes_change_no_byte(whole, tmp_path, flags):
    run(tmp_path / "run", *flags)
    assert results(tmp_path / "run") == results(whole)


def test_a_killed_run_resumes_to_the_same_bytes(whole, tmp_path):
    folder = tmp_path / "run"
    command = [PROGRAM, "run", str(SCENARIO), "-o", str(folder), "--samples", str(SAMPLES), "--no-report", *SMALL]
    process = subprocess.Popen([*command, "--threads", "1"], cwd=ROOT, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)  # fmt: skip
    for _ in range(1000):
        if process.poll() is not None or list((folder / "chunks").glob("*")):
            break
        time.sleep(0.005)
    process.kill()
    process.wait()
    garra("resume", folder, "--no-report")
    assert results(folder) == results(whole)


def test_the_folder_alone_reproduces_the_run(whole, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(whole, copy)
    for name in ("summary.json", "path.h5"):
        (copy / name).unlink()
    garra("resume", copy, "--no-report", cwd=tmp_path)
    assert results(copy) == results(whole)


def test_replay_is_the_sample_of_the_run(whole, table, tmp_path):
    k = int(np.argmax(table["outcome"] > 0))
    said = json.loads(garra("replay", whole, "--sample", k, "--format", "json", "-o", tmp_path / "s.h5").stdout)
    assert said["outcome"] == "force_limit" and said["first_failure"]["instant"] == table["instant"][k]
    assert said["peak_force"]["force"] == table["peak_force"][k]
    with h5py.File(whole / "results.h5") as f:
        assert said["inputs"]["payload.mass"] == f["inputs"][k, 0]
    series = table_of(tmp_path / "s.h5")
    assert np.abs(series["force"]).max() == pytest.approx(table["peak_force"][k], abs=1e-9)
    assert f"sample {k}: force_limit" in garra("replay", whole, "--sample", k).stdout
    assert "no contact problem" in garra("replay", whole, "--sample", k, "--problem", "x.h5", expect=USAGE).stderr


@pytest.mark.parametrize(
    ("requirement", "code", "says"),
    [("p_feasible>=0.5", DONE, ""), ("p_feasible>=0.999", REQUIREMENT, "P(feasible)"),
     ("p_held>=0.5", USAGE, "this job has no p_held")],
)  # fmt: skip
def test_requirements_are_of_the_share_feasible(tmp_path, requirement, code, says):
    assert says in run(tmp_path / "run", "--require", requirement, samples=2000, expect=code).stderr


def test_a_time_limit_stops_it_to_be_resumed(whole, tmp_path):
    run(tmp_path / "run", "--time-limit", 1e-6, expect=STOPPED)
    garra("resume", tmp_path / "run", "--no-report")
    assert results(tmp_path / "run") == results(whole)


def test_check_prints_a_scenario_that_runs_to_the_same(whole, tmp_path):
    printed = garra("check", SCENARIO, "--set", "sampling.chunk=1024", "--set", "path.instants=21", "--set",
                    'output.keep="all"').stdout  # fmt: skip
    (tmp_path / "printed.toml").write_text(printed)
    garra("run", tmp_path / "printed.toml", "-o", tmp_path / "run", "--samples", SAMPLES, "--no-report")
    assert (tmp_path / "run" / "summary.json").read_bytes() == (whole / "summary.json").read_bytes()


def test_mistakes_name_line_column_and_key(tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text(SCENARIO.read_text().replace("radius_of_gyration", "radius_of_gyraton"))
    said = garra("check", bad, expect=INVALID).stderr
    assert "payload.radius_of_gyraton" in said and "radius_of_gyration" in said and "bad.toml:" in said


def test_a_map_holds_all_nodes(tmp_path):
    folder = tmp_path / "map"
    said = garra("run", WORKSPACE, "-o", folder, "--no-report", "--set", "map.points=[5,5,4]", "--set",
                 "map.orientations=16").stdout  # fmt: skip
    summary, nodes = summary_of(folder), table_of(folder / "map.h5")
    assert summary["kind"] == "map" and summary["samples"] == 1600
    assert nodes["feasible_share"].shape == (4, 5, 5) == nodes["sigma_min"].shape
    assert nodes["feasible_share"].mean() == pytest.approx(summary["p_feasible"]["probability"], abs=1e-12)
    assert (nodes["feasible_share"] == 1).sum() == summary["nodes"]["always"]
    assert "Nodes" in said and "orientations at each of 100 nodes" in said
