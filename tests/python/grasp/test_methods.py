"""solver.method in studies and simulations: every friction method answers as `auto` does where both are certified."""

import json
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from program import PROGRAM, ROOT, garra, summary_of

from garra import UsageError
from garra.grasp import propose, rank

HAND = "data/scenarios/papers_hand.toml"
# One friction value a sample: contacts stick with the larger ones, and slide with the smaller ones.
SETS = ("--set", "contacts.friction={ uniform = [0.2, 0.9] }", "--set", "output.keep=all")
METHODS = ("semismooth-newton", "nsgs", "admm", "extragradient", "box-quacan", "spg", "projected-lm", "fischer-burmeister")


def refused(code, *arguments):
    return garra(*arguments, expect=code).stderr


def solved(folder, method, *more):
    """Outcome and forces of each sample."""
    garra("run", HAND, "--samples", 64, *SETS, "--method", method, "--set", "solver.max_unsolved=1", "--no-report", "-o", folder, *more)
    with h5py.File(folder / "results.h5") as file:
        order = np.argsort(file["index"][()])
        return file["outcome"][()][order], file["c"][()][order]


@pytest.fixture(scope="module")
def auto(tmp_path_factory):
    return solved(tmp_path_factory.mktemp("auto") / "run", "auto")


@pytest.mark.parametrize("method", METHODS)
def test_a_study_by_any_method_agrees_with_auto(tmp_path, auto, method):
    outcome, force = solved(tmp_path / "run", method)
    assert summary_of(tmp_path / "run")["solver"]["method"] == method
    unsolved = list(summary_of(tmp_path / "run")["outcomes"]).index("unsolved")
    both = (outcome != unsolved) & (auto[0] != unsolved)
    # SPG on the papers' merit function solves few problems (docs/theory/minimizers.md).
    assert both.mean() >= {"spg": 0.05, "box-quacan": 0.3}.get(method, 0.9)
    assert np.array_equal(outcome[both], auto[0][both])
    assert np.abs(force[both] - auto[1][both]).max() < 1e-4 * np.abs(auto[1]).max()


@pytest.mark.parametrize("pair", ["papers/spg-newton", "products/box-quacan", "second-order-cone/projected-lm", "second-order-cone/spg-newton"])
def test_a_study_by_any_pair_agrees_with_auto(tmp_path, auto, pair):
    merit, minimizer = pair.split("/")
    keys = ("--set", f"solver.merit={merit}", "--set", f"solver.minimizer={minimizer}")
    outcome, force = solved(tmp_path / "run", "merit", *keys)
    assert summary_of(tmp_path / "run")["solver"]["method"] == pair
    unsolved = list(summary_of(tmp_path / "run")["outcomes"]).index("unsolved")
    both = (outcome != unsolved) & (auto[0] != unsolved)
    assert both.mean() >= 0.95
    assert np.array_equal(outcome[both], auto[0][both])
    assert np.abs(force[both] - auto[1][both]).max() < 1e-4 * np.abs(auto[1]).max()


def test_a_scenario_names_the_pair_and_check_prints_it(tmp_path):
    text = garra("check", HAND, "--set", "solver.method=merit", "--set", "solver.minimizer=spg-newton").stdout
    assert 'method = "merit"' in text and 'merit = "fischer-burmeister"' in text and 'minimizer = "spg-newton"' in text
    assert "spg-newton" in refused(2, "run", HAND, "--method", "merit", "--set", "solver.minimizer=newton")
    assert "merit" in refused(2, "run", HAND, "--set", "solver.merit=papers")  # without method = "merit"


def test_scalar_and_lanes_give_the_same_bits(tmp_path):
    one, other = (solved(tmp_path / device, "fischer-burmeister", "--device", device) for device in ("cpu", "scalar"))
    assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1], equal_nan=True)


def test_a_simulation_by_another_method_agrees_with_auto(tmp_path):
    shake = ("run", "data/scenarios/three_puma_shake.toml", "--samples", 40, "--set", "simulation.duration=0.1 s", "--no-report")
    methods = ("auto", "nsgs", "projected-lm")
    for method in methods:
        garra(*shake, "--method", method, "--set", "solver.max_unsolved=1", "-o", tmp_path / method)
    ends = [summary_of(tmp_path / method)["outcomes"] for method in methods]
    assert ends[0] == ends[1]
    # One start of a merit method leaves a step of some samples unsolved; the others end as with auto.
    assert ends[2]["held"] <= ends[0]["held"] and ends[2]["held"] + ends[2]["unsolved"] >= ends[0]["held"] > 20


def test_methods_that_do_not_fit_are_refused():
    assert 'box-quacan' in refused(2, "run", HAND, "--set", "solver.method=quacan")
    assert "lemke" not in refused(2, "run", HAND, "--method", "lemke").split("Known values")[1]
    assert "solves no contact problems" in refused(2, "run", "data/scenarios/puma_singularities.toml", "--method", "spg")


def test_full_effort_is_taken_by_runs_rankings_and_analyses(tmp_path):
    grasps = propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
    by_default, longer = (rank(grasps, samples=50, effort=effort).p_held.tolist() for effort in ("bounded", "full"))
    assert by_default == longer
    with pytest.raises(UsageError, match="bounded, full"):
        rank(grasps, samples=50, effort="half")
    solved(tmp_path / "run", "auto", "--effort", "full")
    assert "solver.effort" in (tmp_path / "run" / "overrides.json").read_text()
    garra("grasp", "analyze", HAND, "--effort", "full")
    grasps.save(tmp_path / "set.h5")
    garra("grasp", "rank", tmp_path / "set.h5", "--effort", "full")
    assert "bounded" in refused(2, "run", HAND, "--effort", "half")


def test_analyses_and_simulations_take_the_limits_of_the_solver(tmp_path):
    slips = ("--set", "contacts.friction=0.05", "--max-unsolved", "1", "--format", "json")
    free, bound = (
        json.loads(garra("grasp", "analyze", HAND, *slips, *more).stdout)["result"]["iterations"]
        for more in ((), ("--set", "solver.max_iterations=1"))
    )
    assert free > 1 >= bound
    garra("run", "data/scenarios/three_puma_pull.toml", "--samples", 8, "--no-report", "-o", tmp_path / "run", "--max-unsolved", 1,
          "--set", "solver.max_iterations=1", "--set", "contacts.friction=0.05")  # fmt: skip
    assert summary_of(tmp_path / "run")["outcomes"]["unsolved"] > 0


def test_the_summary_counts_what_fallback_solvers_cost(tmp_path):
    solved(tmp_path / "run", "auto")
    solver = summary_of(tmp_path / "run")["solver"]
    counts, beyond = solver["iterations"]["counts"], solver["beyond_newton"]
    assert beyond["samples"] == sum(counts[21:])
    assert (beyond["share_of_iterations"] > 0) == (beyond["samples"] > 0)


def on_gpu(*arguments, device=("--device", "cuda"), expect=0):
    simulated = Path(PROGRAM).parent / "garra-sim"
    if not simulated.is_file():
        pytest.skip("no simulated GPU: nvcc is not here")
    done = subprocess.run([str(x) for x in (simulated, *arguments, *device)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stderr


def assert_same_bytes(tmp_path, *arguments):
    on_gpu(*arguments, "-o", tmp_path / "gpu")
    garra(*arguments, "--device", "cpu", "-o", tmp_path / "cpu")
    for name in ("summary.json", "results.h5"):
        assert (tmp_path / "gpu" / name).read_bytes() == (tmp_path / "cpu" / name).read_bytes()
    assert "GPU" in json.loads((tmp_path / "gpu" / "manifest.json").read_text())["device"]


@pytest.mark.parametrize("method", METHODS)
def test_a_study_on_a_gpu_has_the_bytes_of_the_processor(tmp_path, method):
    # SPG takes thousands of iterations for a problem that it does not solve.
    limit = ("--set", "solver.max_iterations=40") if method == "spg" else ()
    assert_same_bytes(
        tmp_path, "run", HAND, "--samples", 40, *SETS, "--method", method, *limit, "--set", "solver.max_unsolved=1", "--no-report"
    )


@pytest.mark.parametrize("method", ["nsgs", "fischer-burmeister"])
def test_a_simulation_on_a_gpu_has_the_bytes_of_the_processor(tmp_path, method):
    pull = ("run", "data/scenarios/three_puma_pull.toml", "--samples", 40, "--set", "simulation.duration=3 ms", "--no-report")
    assert_same_bytes(tmp_path, *pull, "--method", method, "--set", "solver.max_unsolved=1")


def test_four_contacts_on_a_gpu_have_the_bytes_of_the_processor(tmp_path):
    box = ("run", "data/scenarios/four_finger_box.toml", "--samples", 10, "--method", "fischer-burmeister", "--no-report")
    assert_same_bytes(tmp_path, *box, "--set", "output.keep=all", "--set", "solver.max_unsolved=1")
