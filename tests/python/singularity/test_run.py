"""`garra run` with job = "singularity" and `garra singularity --map`, seen from outside.

What a summary says is counted again from results.h5 and held against the closed form of the PUMA's singularities,
computed with NumPy. Run with GARRA_PROGRAM=path/to/garra.
"""

from __future__ import annotations

import json
import math
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
    STOPPED,
    USAGE,
    clopper_pearson,
    garra,
    summary_of,
    table_of,
    wait_until,
)
from puma_singularities import BLAME, LIMITS, NAMES, factors, singular_values

SCENARIO = ROOT / "data" / "scenarios" / "puma_singularities.toml"
SAMPLES, JOINTS = 30_000, 6
SMALL = ("--set", "sampling.chunk=4096", "--set", "output.voxels=12", "--set", "slice.0.points=41")


def run(folder: Path, *more, samples: int = SAMPLES, expect: int | None = DONE):
    return garra("run", SCENARIO, "-o", folder, "--samples", samples, "--no-report", *SMALL, *more, expect=expect)


def pages_of(folder: Path) -> list[dict]:
    return json.loads((folder / "configurations.json").read_text())["configurations"]


def results(folder: Path) -> tuple[bytes, ...]:
    return tuple((folder / n).read_bytes() for n in ("summary.json", "results.h5", "map.h5", "configurations.json"))


def set_of(joints: list[int]) -> int:
    return sum(1 << j for j in joints)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """One finished run; tests only read it."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    run(folder)
    return folder


@pytest.fixture(scope="module")
def table(whole) -> dict:
    return table_of(whole / "results.h5")


# --- what is in the folder, and whether it is true


def test_the_folder_holds_what_it_promises(whole):
    names = {p.name for p in whole.iterdir()}
    assert names >= {"scenario.toml", "overrides.json", "models", "chunks", "manifest.json", "results.h5", "map.h5",
                     "configurations.json", "summary.json"}  # fmt: skip
    assert (whole / "scenario.toml").read_bytes() == SCENARIO.read_bytes()
    assert (whole / "models" / "puma560.toml").read_bytes() == (ROOT / "data/robots/puma560.toml").read_bytes()
    assert not [p for p in whole.rglob("*") if ".part" in p.name]


def test_singular_values_are_those_of_numpy(whole, table):
    sigma = singular_values(table["q"])
    assert len(sigma) > 500
    assert np.abs(table["sigma_min"] / sigma[:, 5] - 1).max() < 1e-9
    assert np.abs(table["inverse_condition"] - sigma[:, 5] / sigma[:, 0]).max() < 1e-12
    assert np.abs(table["manipulability"] / sigma.prod(axis=1) - 1).max() < 1e-9
    assert (table["inverse_condition"] <= summary_of(whole)["near"]).all()


def test_the_share_near_is_that_of_independent_draws(whole):
    limits = LIMITS.copy()
    limits[5] = (-math.pi, math.pi)
    sigma = singular_values(np.random.default_rng(7).uniform(*limits.T, (20_000, JOINTS)))
    share = (sigma[:, 5] <= 0.02 * sigma[:, 0]).mean()
    ours = summary_of(whole)["p_near"]
    spread = math.sqrt(share * (1 - share) * (1 / 20_000 + 1 / SAMPLES))
    assert abs(ours["probability"] - share) < 4 * spread


def test_what_it_lands_on_is_singular_and_the_right_joints_are_dependent(table):
    converged = table["search_status"] == 0
    zero = np.abs(factors(table["singular_q"][converged]))
    assert converged.mean() > 0.99
    assert (zero.min(axis=0) < 1e-8).all(), "elbow, shoulder or wrist"
    alone = (zero < 1e-8).sum(axis=0) == 1
    for row, name in enumerate(("elbow", "shoulder", "wrist")):
        here = alone & (zero[row] < 1e-8) & (table["lost"][converged] == 1)
        assert here.sum() > 20
        assert (table["dependent_joints"][converged][here] == set_of(list(BLAME[name]))).mean() > 0.999, name
    moved = np.linalg.norm(table["singular_q"] - table["q"], axis=1)[converged]
    assert np.allclose(moved, table["distance"][converged], rtol=1e-12)


def test_the_summary_counts_what_the_table_holds(whole, table):
    summary = summary_of(whole)
    near, converged = summary["nearest"], table["search_status"] == 0
    assert summary["job"] == "singularity" and summary["samples"] == summary["requested"] == SAMPLES
    assert summary["robot"] == {"name": "PUMA 560", "joints": JOINTS, "names": NAMES, "prismatic": [False] * JOINTS,
                                "generic_rank": 6, "point_rank": 3}  # fmt: skip
    assert summary["outcomes"]["near"] + summary["outcomes"]["singular"] == len(table["index"])
    assert sum(summary["outcomes"].values()) == SAMPLES
    k = len(table["index"])
    p = summary["p_near"]
    assert p["probability"] == pytest.approx(k / SAMPLES, abs=1e-15)
    assert (p["low"], p["high"]) == pytest.approx(clopper_pearson(k, SAMPLES), abs=1e-12)
    assert near["converged"] == converged.sum() and near["diverged"] == (~converged).sum()
    for row in near["dependent_joints"]:
        mine = converged & (table["dependent_joints"] == set_of(row["joints"]))
        assert row["count"] == mine.sum() and row["example"] == table["index"][mine][0]
        assert (row["low"], row["high"]) == pytest.approx(clopper_pearson(row["count"], converged.sum()), abs=1e-12)
    # Of a PUMA: q4 = 0 folds the wrist, a stretched arm is the elbow's, the wrist over the first axis the shoulder's.
    types = {tuple(row["joints"]): row["type"] for row in near["dependent_joints"]}
    assert (types[3, 5], types[1, 2, 3, 4, 5], types[0, 1, 3, 4, 5]) == ("wrist", "elbow", "shoulder")
    counts = [row["count"] for row in near["dependent_joints"]]
    assert counts == sorted(counts, reverse=True)
    for row in near["escape"]:
        mine = converged & (table["escape_joint"] == row["joint"])
        assert row["order_1"] == (mine & (table["escape_order"] == 1)).sum()
        assert row["order_2"] == (mine & (table["escape_order"] == 2)).sum()
    for row in near["lost_freedoms"]:
        assert row["count"] == (converged & (table["lost"] == row["lost"])).sum()
    limits = LIMITS.copy()
    limits[5] = (-math.pi, math.pi)
    outside = ((table["singular_q"] < limits[:, 0]) | (table["singular_q"] > limits[:, 1])).any(axis=1)
    assert near["outside_range"] == (converged & outside).sum()
    order = np.lexsort((table["index"], table["inverse_condition"]))[:10]
    assert [row["sample"] for row in summary["worst"]] == list(table["index"][order])
    median = np.median(table["distance"][converged])
    width = (near["distance"]["high"] - near["distance"]["low"]) / len(near["distance"]["counts"])
    assert abs(near["distance"]["quantiles"]["0.5"] - median) <= width


def test_voxels_hold_all_samples(whole, table):
    summary = summary_of(whole)["voxels"]
    with h5py.File(whole / "map.h5") as file:
        voxels = {name: file["voxels"][name][:] for name in file["voxels"]}
        low, side = file["voxels"].attrs["low"], file["voxels"].attrs["side"]
    assert list(low) == summary["low"] and side == summary["side"]
    assert voxels["count"].shape == tuple(summary["n"][::-1]) and max(summary["n"]) == 12
    assert voxels["count"].sum() + summary["outside"] == SAMPLES
    assert (voxels["count"] > 0).sum() == summary["occupied"] and (voxels["near"] > 0).sum() == summary["with_near"]
    empty = voxels["count"] == 0
    assert np.isnan(voxels["sigma_min"][empty]).all() and not np.isnan(voxels["sigma_min"][~empty]).any()
    for a, b in (("sigma_min", "sigma_p10"), ("sigma_p10", "sigma_p50"), ("sigma_p50", "sigma_max")):
        assert (voxels[a][~empty] <= voxels[b][~empty]).all()
    place = ((table["tool"] - low) // side).astype(int)
    inside = ((place >= 0) & (place < summary["n"])).all(axis=1)
    count = np.zeros(voxels["near"].shape, dtype=int)
    np.add.at(count, tuple(place[inside].T[::-1]), 1)
    assert np.abs(count - voxels["near"]).sum() <= 2, "but for points on a border"


def test_the_cell_says_where_near_samples_are(whole):
    found = summary_of(whole)["voxels"]
    cell = found["cell"]
    with h5py.File(whole / "map.h5") as file:
        count, near = (file["voxels"][name][:] for name in ("count", "near"))
    enough = count >= 8
    share = near[enough] / count[enough]
    assert (cell["samples"], cell["near"], cell["cubes"]) == (count.sum(), near.sum(), enough.sum())
    assert (cell["half"], cell["tenth"]) == ((share >= 0.5).sum(), (share >= 0.1).sum()) and cell["tenth"] > 0
    # The PUMA's first axis is the world's z axis.
    z, y, x = np.indices(count.shape)
    places = [np.array(found["low"])[k] + (axis + 0.5) * found["side"] for k, axis in enumerate((x, y, z))]
    radius = np.hypot(places[0], places[1])
    for shell in cell["by_distance"]:
        inside = (count > 0) & (radius >= shell["low"] - 1e-9) & (radius < shell["high"] - 1e-9)
        if shell is cell["by_distance"][-1]:
            inside = (count > 0) & (radius >= shell["low"] - 1e-9)
        assert (shell["samples"], shell["near"]) == (count[inside].sum(), near[inside].sum())
    # The shoulder's singularities are about the axis, the elbow's where the arm is stretched.
    shares = [shell["near"] / shell["samples"] for shell in cell["by_distance"]]
    assert shares[0] > 3 * shares[2] < 2 * shares[4]
    assert cell["worst"]["near"] / cell["worst"]["samples"] == share.max()
    answer = garra("resume", whole).stdout
    assert "Where in the cell:" in answer and re.search(rf"at least a tenth near +{cell['tenth']} ", answer)


def test_a_slice_and_its_locus_are_those_of_numpy(whole):
    with h5py.File(whole / "map.h5") as file:
        group = file["slices/0"]
        x, y, sigma, inverse = (group[name][:] for name in ("x", "y", "sigma_min", "inverse_condition"))
        locus = np.stack([group["locus_x"][:], group["locus_y"][:]])
        dependent, q = group["locus_dependent_joints"][:], group.attrs["q"]
        assert (group.attrs["x"], group.attrs["y"]) == (2, 4)
    assert np.allclose(x, np.linspace(-math.pi, math.pi, 41)) and np.array_equal(x, y)
    nodes = np.tile(q, (41 * 41, 1))
    nodes[:, 2], nodes[:, 4] = (axis.ravel() for axis in np.meshgrid(x, y))
    truth = singular_values(nodes)
    assert np.abs(sigma.ravel() - truth[:, 5]).max() < 1e-9
    assert np.abs(inverse.ravel() - truth[:, 5] / truth[:, 0]).max() < 1e-9
    points = np.tile(q, (locus.shape[1], 1))
    points[:, 2], points[:, 4] = locus
    zero = np.abs(factors(points))
    assert locus.shape[1] > 100 and (zero.min(axis=0) < 1e-8).all()
    assert {name for row, name in enumerate(("elbow", "shoulder", "wrist")) if (zero[row] < 1e-8).any()} == set(BLAME)
    wrist = (zero[2] < 1e-8) & (zero[:2] > 1e-4).all(axis=0)
    assert (dependent[wrist] == set_of([3, 5])).all()


def test_pages_are_exact_analyses(whole):
    summary, pages = summary_of(whole), pages_of(whole)
    frequent = [page for page in pages if page["why"] == "most frequent"]
    assert [page["joints"] for page in frequent] == [r["joints"] for r in summary["nearest"]["dependent_joints"][:8]]
    assert [page["sample"] for page in frequent] == [r["example"] for r in summary["nearest"]["dependent_joints"][:8]]
    assert [p["sample"] for p in pages if p["why"] == "worst"] == [w["sample"] for w in summary["worst"][:3]]
    for page in pages:
        analysis = page["analysis"]
        assert analysis["dependent_joints"] == page["joints"] and analysis["arm_singular"]
        assert analysis["singular_values"][-1] <= 1e-10 * analysis["singular_values"][0]
        assert np.abs(factors(np.array([page["singular_q"]]))).min() < 1e-8
        assert len(page["screws"]) == JOINTS and "1. Screws" in page["text"]
        at = ",".join(repr(x) for x in page["singular_q"])
        single = json.loads(garra("singularity", "puma560", "--at", at, "--format", "json").stdout)
        assert single["dependent_joints"] == page["joints"] and single["lost_freedoms"] == analysis["lost_freedoms"]


# --- the same bytes, however they are computed


ELBOW = 'schema = 1\nrobot = "elbow"\nconvention = "dh"\n[[joint]]\nalpha = 1.5\n[[joint]]\na = 0.5\n[[joint]]\na = 0.4\n'


def test_answers_of_arms_of_lower_rank_say_what_counts(tmp_path):
    (tmp_path / "elbow.toml").write_text(ELBOW)
    answer = garra("singularity", tmp_path / "elbow.toml", "--map", "--samples", 2000, "-o", tmp_path / "run", "--no-report").stdout
    cell = summary_of(tmp_path / "run")["voxels"]
    assert "its tool has 3 freedoms, and turns count" in answer
    assert f"{cell['cell']['cubes']} (" in answer and f"of {cell['occupied']} reached cubes" in answer
    assert ("samples in a cube on average" in answer) == (cell["cell"]["samples"] < 100 * cell["occupied"])
    assert "most often near" not in answer or cell["cell"]["near"] > 0
    one = garra("singularity", "scara", "--at", "0.4,0,0.1,0.3").stdout
    assert "2 of these 3 dimensions are no loss: an arm of rank 4" in one


def test_a_tool_that_stays_in_a_plane_reaches_no_volume(tmp_path):
    text = 'schema = 1\nrobot = "plane"\nconvention = "dh"\n' + "".join(f"[[joint]]\na = {a}\n" for a in (0.5, 0.4, 0.2))
    (tmp_path / "plane.toml").write_text(text)
    answer = garra("singularity", tmp_path / "plane.toml", "--map", "--samples", 4000, "-o", tmp_path / "run", "--no-report").stdout
    assert "the tool point stays on a surface" in answer and "m^3" not in answer
    assert summary_of(tmp_path / "run")["robot"]["point_rank"] == 2


@pytest.mark.parametrize(("points", "volume"), [(3, False), (9, True)])
def test_cubes_with_room_between_them_are_no_volume(tmp_path, points, volume):
    task = f"low = [0.2, -0.2, 0.1]\nhigh = [0.6, 0.2, 0.1]\npoints = [{points}, {points}, 1]\nstarts = 48\n"
    file = tmp_path / "map.toml"
    file.write_text(f'schema = 1\njob = "singularity"\nrobot.model = "puma560"\n[task]\n{task}')
    answer = garra("run", file, "-o", tmp_path / "run", "--no-report").stdout
    side = summary_of(tmp_path / "run")["voxels"]["side"]
    assert (0.4 / (points - 1) <= side * (1 + 1e-9)) == volume
    assert ("m^3" in answer.split("Where in the cell")[1].split("\n")[0]) == volume


@pytest.mark.parametrize("flags", [("--threads", 1), ("--threads", 3), ("--device", "scalar")])
def test_threads_and_lanes_change_no_byte(whole, tmp_path, flags):
    run(tmp_path / "run", *flags)
    assert results(tmp_path / "run") == results(whole)


def test_the_size_of_chunks_changes_no_byte(whole, tmp_path):
    run(tmp_path / "run", "--set", "sampling.chunk=9216")
    assert results(tmp_path / "run") == results(whole)


def test_a_killed_run_resumes_to_the_same_bytes(tmp_path):
    folder, samples = tmp_path / "run", 1_000_000
    run(tmp_path / "uninterrupted", samples=samples)
    command = [PROGRAM, "run", SCENARIO, "-o", folder, "--samples", samples, "--no-report", *SMALL, "--threads", 1]
    process = subprocess.Popen([*map(str, command)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until((folder / "chunks" / "000002").exists, process)
    process.kill()
    process.wait()
    assert (folder / "chunks" / "000002").exists() and not (folder / "summary.json").exists()
    status = garra("status", folder).stdout
    assert "unfinished" in status and "P(near)" in status
    garra("resume", folder, "--no-report")
    assert results(folder) == results(tmp_path / "uninterrupted")
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}
    garra("resume", folder, "--no-report")
    assert before == {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}


def test_the_folder_alone_reproduces_the_run(whole, tmp_path):
    alone = Path(shutil.copytree(whole, tmp_path / "alone"))
    sets = [word for o in json.loads((alone / "overrides.json").read_text()) for word in ("--set", o)]
    program = Path(shutil.copy(PROGRAM, tmp_path / "garra"))  # far from any data/robots
    command = [program, "run", alone / "scenario.toml", "-o", "again", "--no-report", "--quiet", *sets]
    subprocess.run([*map(str, command)], check=True, cwd=tmp_path, timeout=300)
    assert results(tmp_path / "again") == results(whole)


def test_a_lost_result_is_written_again(whole, tmp_path):
    folder = Path(shutil.copytree(whole, tmp_path / "run"))
    (folder / "map.h5").unlink()
    garra("resume", folder, "--no-report")
    assert results(folder) == results(whole)


# --- a sample again


def test_replay_is_the_sample_of_the_run(whole, table):
    for row in (0, len(table["index"]) // 2):
        j = json.loads(garra("replay", whole, "--sample", table["index"][row], "--format", "json").stdout)
        assert j["outcome"] == "near" and j["q"] == list(table["q"][row])
        assert j["sigma_min"] == table["sigma_min"][row] and j["tool"] == list(table["tool"][row])
        near = j["nearest"]
        assert set_of(near["joints"]) == table["dependent_joints"][row] and near["distance"] == table["distance"][row]
        assert near["singular_q"] == list(table["singular_q"][row]) and near["analysis"]["arm_singular"]
        assert near["escape"]["joint"] == table["escape_joint"][row]
        assert near["escape"]["rate"] == table["escape_rate"][row]
    text = garra("replay", whole).stdout
    assert f"sample {summary_of(whole)['worst'][0]['sample']}: near" in text
    assert "joint 4, wrist 2" in text and "1. Screws" in text and "deg of joint motion away" in text
    assert "singular to 1e-10 of the largest, the map's tolerance" in text and "decided\n" in text
    assert "by 1e-06, as the map does" in text and "zero is what is below 1e-06" in text


def test_replay_of_an_unreached_target_says_how_far_the_nearest_pose_is(tmp_path):
    # A SCARA's arm of 0.325 + 0.275 m in front of a target at (0.9, 0.2) m, within the quill's height.
    task = "low = [0.9, 0.2, 0.3]\nhigh = [0.9, 0.2, 0.3]\npoints = [1, 1, 1]\nstarts = 4\n"
    file = tmp_path / "far.toml"
    file.write_text(f'schema = 1\njob = "singularity"\n[robot]\nmodel = "scara"\n[task]\n{task}')
    garra("run", file, "-o", tmp_path / "far", expect=None)
    found = json.loads(garra("replay", tmp_path / "far", "--sample", 1, "--format", "json").stdout)
    away = np.hypot(0.9, 0.2) - 0.6
    assert found["outcome"] == "unreached" and not found["nearest_pose"]["reached"]
    assert found["nearest_pose"]["position_error"] == pytest.approx(away, abs=1e-4)
    assert found["nearest_pose"]["q"][0] == pytest.approx(np.arctan2(0.2, 0.9), abs=1e-2)
    text = garra("replay", tmp_path / "far", "--sample", 1).stdout
    assert f"the nearest pose found is {away:.3g} m and 0 deg away" in text


@pytest.mark.parametrize(
    "arguments, says",
    [(("--sample", 10**9), f"the run has {SAMPLES} samples"), (("--problem", "x.h5"), "one configuration"),
     (("-o", "x.h5"), "--report FILE.html")],
)  # fmt: skip
def test_replay_refuses_what_makes_no_sense(whole, arguments, says):
    assert says in garra("replay", whole, *arguments, expect=USAGE).stderr


# --- words and exit codes


def test_the_answer_says_which_joints_are_dependent_and_which_lead_out(whole, tmp_path):
    answer = run(tmp_path / "run").stdout
    summary = summary_of(whole)
    assert f"P(near) = {summary['p_near']['probability']:.4f}" in answer and "95 % interval" in answer
    assert "joints 3 and 5" in answer and "joints 1, 2, 3, 4 and 5" in answer and "2 elbow" in answer
    assert "Joint that leads out" in answer and "at least 50 times the joint speed" in answer
    assert f"garra replay {tmp_path / 'run'} --sample {summary['worst'][0]['sample']}" in answer
    assert all(len(line) <= 120 for line in answer.splitlines() if str(tmp_path) not in line)


@pytest.mark.parametrize(
    "requirement, code, says",
    [("p_near<=0.5", DONE, ""), ("p_near<=0.001", REQUIREMENT, "the 95 % interval of P(near) is"),
     ("p_held>=0.5", USAGE, "this job has no p_held")],
)  # fmt: skip
def test_requirements_are_of_the_share_near(tmp_path, requirement, code, says):
    assert says in run(tmp_path / "run", "--require", requirement, samples=4096, expect=code).stderr


def test_it_stops_when_the_share_is_known_well_enough(tmp_path):
    run(tmp_path / "run", "--stop", "half-width=0.005", samples=10_000_000)
    summary = summary_of(tmp_path / "run")
    assert summary["stopped_by"] == "half_width" and summary["samples"] < 100_000
    assert summary["p_near"]["high"] - summary["p_near"]["low"] <= 0.01


def test_a_time_limit_stops_it_to_be_resumed(whole, tmp_path):
    done = run(tmp_path / "run", "--time-limit", 1e-6, expect=STOPPED)
    assert "P(near)" in done.stderr and f"garra resume {tmp_path / 'run'}" in done.stderr
    garra("resume", tmp_path / "run", "--no-report")
    assert results(tmp_path / "run") == results(whole)


def test_tolerance_has_its_flag(tmp_path):
    run(tmp_path / "run", "--tolerance", 1e-3, samples=20_000)
    summary = summary_of(tmp_path / "run")
    assert summary["tolerance"] == 1e-3 and summary["outcomes"]["singular"] > 0


def test_check_prints_a_scenario_that_runs_to_the_same(whole, tmp_path):
    sets = [word for o in json.loads((whole / "overrides.json").read_text()) for word in ("--set", o)]
    (tmp_path / "resolved.toml").write_text(garra("check", SCENARIO, *sets).stdout)
    garra("run", tmp_path / "resolved.toml", "-o", tmp_path / "run", "--no-report")
    assert results(tmp_path / "run") == results(whole)


def test_mistakes_name_line_column_and_key(tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text(SCENARIO.read_text().replace("[measure]", "[measur]"))
    line = 1 + bad.read_text().split("[measur]")[0].count("\n")
    done = garra("run", bad, "-o", tmp_path / "run", expect=INVALID)
    assert re.search(rf"{bad}:{line}:\d+: measur: unknown key", done.stderr) and '"measure"?' in done.stderr
    assert not (tmp_path / "run").exists()
    done = garra("run", SCENARIO, "-o", tmp_path / "run", "--set", "measure.near=2", expect=USAGE)
    assert "--set measure.near=2: measure.near" in done.stderr and "Write near = 0.02" in done.stderr


# --- garra singularity --map, and pages


def test_map_runs_the_scenario_that_its_flags_stand_for(tmp_path):
    flags = ("--samples", 8192, "--seed", 5, "--near", 0.05, "--no-report", "--set", "output.voxels=8")
    done = garra("singularity", ROOT / "data/robots/puma560.toml", "--map", *flags, cwd=tmp_path)
    folder = tmp_path / "run-puma560-singularities"
    summary = summary_of(folder)
    assert "Singularities of PUMA 560" in done.stdout and summary["near"] == 0.05 and summary["seed"] == 5
    named = garra("singularity", "puma560", "--map", *flags, "-o", tmp_path / "named", "--format", "json")
    assert json.loads(named.stdout)["summary"] == summary
    garra("run", folder / "scenario.toml", "-o", tmp_path / "again", "--samples", 8192, "--seed", 5, "--no-report",
          "--set", "measure.near=0.05", "--set", "output.voxels=8")  # fmt: skip
    assert results(tmp_path / "again") == results(folder)
    assert "finished, 8192 of 8192" in garra("status", folder).stdout
    command = json.loads((tmp_path / "named" / "manifest.json").read_text())["command"]
    assert command.startswith("garra singularity puma560 --map --set 'measure.near=0.05'")
    with h5py.File(folder / "map.h5") as file:
        slices = file["slices"]
        assert list(slices) == ["0"]
        assert {int(slices["0"].attrs[a]) for a in "xy"} == set(
            row["joint"] for row in sorted(summary["nearest"]["escape"], key=lambda r: -r["order_1"] - r["order_2"])[:2]
        )
        assert len(slices["0/locus_x"]) > 0


@pytest.mark.parametrize(
    "arguments, says",
    [((), "neither --at nor --map"), (("--at", "0,0,0,0,0,0", "--map"), "--at"),
     (("--at", "0,0,0,0,0,0", "--samples", "5"), "--samples requires --map"),
     (("--map", "--origin", "0", "0", "0"), "--origin excludes --map"),
     (("--map", "--near", "2"), "measure.near"), (("--map", "--set", "joints.9=0"), "no joint")],
)  # fmt: skip
def test_flags_that_do_not_go_together_are_refused(tmp_path, arguments, says):
    done = garra("singularity", "puma560", *arguments, expect=USAGE, cwd=tmp_path)
    assert says in done.stderr and not list(tmp_path.iterdir())


def test_an_unknown_robot_is_said_to_be_one(tmp_path):
    done = garra("singularity", "puma56", "--map", expect=None, cwd=tmp_path)
    assert done.returncode != DONE and '"puma560"?' in done.stderr


def test_other_arms_have_maps_too(tmp_path):
    for robot in ("scara", "stanford", "ur5"):
        garra("singularity", robot, "--map", "--samples", 4096, "--no-report", "-o", tmp_path / robot)
        summary = summary_of(tmp_path / robot)
        assert summary["robot"]["generic_rank"] == (4 if robot == "scara" else 6)
        assert summary["nearest"]["converged"] > 0
    iiwa = ROOT / "data" / "scenarios" / "iiwa_singularities.toml"
    garra("run", iiwa, "-o", tmp_path / "iiwa", "--no-report", "--set", "task.points=[5, 5, 3]")
    summary = summary_of(tmp_path / "iiwa")
    assert summary["sampling"]["kind"] == "task" and summary["samples"] == 75 * 16
    assert 0 < summary["outcomes"]["unreached"] < summary["samples"]
    again = [garra("replay", tmp_path / "iiwa", "--sample", i).stdout.splitlines() for i in range(600, 616)]
    unreached = [lines for lines in again if lines[0].endswith(": unreached")]
    assert all("has not reached the target" in lines[1] for lines in unreached)
    assert all("Smallest singular value" in "".join(lines) for lines in again if lines not in unreached)


@pytest.mark.parametrize("command", [("singularity", "puma560", "--at", "0,0,-90deg,0,0,0"),
                                     ("screws", ROOT / "data" / "screws" / "gallardo_1.toml")])  # fmt: skip
def test_one_configuration_makes_a_page(tmp_path, command):
    page = tmp_path / "page.html"
    garra(*command, "--report", page)
    assert "<html" in page.read_text()[:500].lower()
    missing = garra(*command, "--report", tmp_path / "no" / "page.html", expect=5)
    assert "page.html" in missing.stderr
