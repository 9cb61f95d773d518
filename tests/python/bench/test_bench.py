"""`garra contact bench` and its page seen from outside.

Profiles are recomputed here from bench.json by the definition; the page is read by html.parser. The parts that run the program
need GARRA_PROGRAM=path/to/garra.
"""

from __future__ import annotations

import copy
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from garra import bench_report
from garra.bench import profiles as bench_profiles
from pages import Page, assert_self_contained

ROOT = Path(__file__).resolve().parents[3]

REAL = ROOT.parent / "shared" / "reference" / "contact" / "fc3d_430.npz"  # real problems, not part of the project
PROGRAM = os.environ.get("GARRA_PROGRAM", "")
USAGE, INVALID_FILE, INPUT_OUTPUT = 2, 3, 5
ENDINGS = ["converged", "stalled", "iteration_limit", "invalid_input", "no_solution", "out_of_reach", "gave_up",
           "false_claim", "crashed", "timed_out"]  # fmt: skip

needs_program = pytest.mark.skipif(not PROGRAM, reason="GARRA_PROGRAM names no built program")


def solver(name, endings, seconds, residuals):
    count = len(endings)
    failures = {ENDINGS[e]: endings.count(e) for e in sorted(set(endings)) if e}
    return {
        "name": name,
        "not_run": None,
        "tried": count,
        "solved": endings.count(0),
        "failures": failures,
        "seconds": {"mean": sum(seconds) / count, "median": sorted(seconds)[(count - 1) // 2], "p999": max(seconds)},
        "iterations": {"median": 3, "max": 9},
        "throughput": [{"device": "processor", "problems_per_second": 1e6, "threads": 2, "problems_per_core_second": 7e5}],
        "same_answers_in_lanes": True,
        "problems": {"ending": endings, "residual": residuals, "seconds": seconds, "iterations": [3] * count},
    }


@pytest.fixture
def bench():
    """Three solvers on four problems: worked out by hand below."""
    tiny = 1e-12
    return {
        "schema": 1, "kind": "contact_bench", "garra": "0.1.0", "compiler": "12", "machine": "a machine",
        "device": "a machine", "siconos": None, "command": "garra contact bench <b>", "started": "2026-01-01T00:00:00Z",
        "seconds": 2.0, "seed": 0, "tolerance": 1e-8, "time_limit": 1.0, "repetitions": 3, "trusted": 0.99,
        "endings": ENDINGS, "methods": ["auto", "nsgs", "admm", "lemke"],
        "sets": [{
            "name": "four", "description": "four <b>problems</b>", "contacts": 3, "problems": 4, "not_tried": [],
            "solvers": [
                solver("auto", [0, 0, 0, 0], [2e-6, 2e-6, 2e-6, 8e-6], [tiny] * 4),
                solver("nsgs", [0, 0, 2, 0], [1e-6, 6e-6, 9e-6, 4e-6], [tiny, tiny, 1e-3, tiny]),
                solver("admm", [0, 7], [4e-6, 1e-6], [tiny, None]),
                {"name": "lemke", "not_run": "only for problems whose contacts all slide"},
            ],
        }],
        "mncp": {"solvers": ["papers / spg", "products / spg"], "starts": 20, "problems": [
            {"name": "billups", "unknowns": 1, "solutions": 1, "isolated": True, "results": [
                {"status": "stalled", "error": 1.0, "seconds": 1e-5, "iterations": 9, "starts": 20, "solution": -1},
                {"status": "converged", "error": 1e-9, "seconds": 1e-5, "iterations": 9, "starts": 2, "solution": 0}]},
        ]},
    }  # fmt: skip


# --- profiles by the definition


def rho(group, name, tau):
    runs = [s for s in group["solvers"] if s["not_run"] is None]
    own = next(s for s in runs if s["name"] == name)
    within = 0
    for p in range(own["tried"]):
        best = min(
            (s["problems"]["seconds"][p] for s in runs if p < s["tried"] and s["problems"]["ending"][p] == 0),
            default=math.inf,
        )
        within += own["problems"]["ending"][p] == 0 and own["problems"]["seconds"][p] <= tau * best * (1 + 1e-12)
    return within / own["tried"]


def at(profile, tau):
    x, y = profile
    below = y[x <= tau * (1 + 1e-12)]
    return below[-1] if len(below) else 0.0


def test_performance_profiles_follow_their_definition(bench):
    group = bench["sets"][0]
    profiles = bench_profiles.performance(group)
    assert set(profiles) == {"auto", "nsgs", "admm"}
    for name, profile in profiles.items():
        for tau in (1, 1.5, 2, 3, 4, 100):
            assert at(profile, tau) == pytest.approx(rho(group, name, tau)), (name, tau)
    # auto is the quickest on problems 2 and 3 and twice as slow as the best on the others; nsgs never solves problem 3
    assert [at(profiles["auto"], tau) for tau in (1, 1.99, 2)] == [0.5, 0.5, 1.0]
    assert [at(profiles["nsgs"], tau) for tau in (1, 2.99, 3, 1e9)] == [0.5, 0.5, 0.75, 0.75]
    assert [at(profiles["admm"], tau) for tau in (1, 4, 1e9)] == [0.0, 0.5, 0.5]


def test_accuracy_profiles_count_residuals(bench):
    profiles = bench_profiles.accuracy(bench["sets"][0])
    assert at(profiles["nsgs"], 1e-8) == 0.75 and at(profiles["nsgs"], 1e-3) == 1.0
    assert at(profiles["admm"], 1.0) == 0.5  # no force, no residual


def test_only_reliable_solvers_are_to_be_trusted_and_the_quickest_comes_first(bench):
    group = bench["sets"][0]
    assert [s["name"] for s in bench_profiles.trusted(group, 0.99)] == ["auto"]
    assert [s["name"] for s in bench_profiles.trusted(group, 0.5)] == ["admm", "auto", "nsgs"]
    assert bench_profiles.ratio_to_best(group, group["solvers"][1], 0.99) == pytest.approx(20 / 14)


# --- the page


def page_of(bench, folder):
    (folder / "bench.json").write_text(json.dumps(bench))
    assert bench_report.main([str(folder)]) == 0
    html = (folder / "bench.html").read_text(encoding="utf-8")
    return Page(html), html


def assert_sound(page, html):
    assert html.startswith("<!DOCTYPE html>")
    assert not page.faults
    assert [name for name, times in page.ids.items() if times > 1] == []
    assert_self_contained(page, html)


def test_the_page_is_sound_and_loads_nothing(bench, tmp_path):
    page, html = page_of(bench, tmp_path)
    assert_sound(page, html)
    assert html.count('role="img" aria-label="Performance profile') == 1
    assert html.count('role="img" aria-label="Accuracy profile') == 1
    assert "four <b>problems</b>" not in html and "four <b>problems</b>" in page.text


def test_the_page_says_what_was_not_solved_and_why(bench, tmp_path):
    page, _ = page_of(bench, tmp_path)
    for text in ("auto is the quickest to trust on 1 of 1 set", "iteration limit 1", "false claim 1; tried 2 of 4",
                 "* over the problems that they got to in time: ",
                 "only for problems whose contacts all slide", "stalled"):  # fmt: skip
        assert text in page.text, text


def test_refused_files_are_counted_and_listed(bench, tmp_path):
    refused = {"file": "large.h5", "reason": "20 contacts", "problems": 15}
    bench["sets"].append({"name": "refused", "description": "", "contacts": 0, "problems": 0, "not_tried": [refused],
                          "solvers": []})  # fmt: skip
    page, html = page_of(bench, tmp_path)
    assert_sound(page, html)
    assert "Not tried: 15 problems in 1 file" in page.text and "large.h5" in page.text


def test_a_set_that_nobody_solves_has_no_solver_to_trust(bench, tmp_path):
    for entry in bench["sets"][0]["solvers"][:3]:
        entry["problems"]["ending"] = [1] * entry["tried"]
        entry["solved"] = 0
    page, html = page_of(bench, tmp_path)
    assert_sound(page, html)
    assert "No set has a solver to trust" in page.text


def test_a_benchmark_of_the_complementarity_set_alone(bench, tmp_path):
    bench["sets"] = []
    page, html = page_of(bench, tmp_path)
    assert_sound(page, html)
    assert "billups" in page.text and "Performance profiles" not in page.text


def test_the_same_numbers_give_the_same_bytes(bench, tmp_path):
    first = page_of(bench, tmp_path)[1]
    assert page_of(copy.deepcopy(bench), tmp_path)[1] == first


@pytest.mark.parametrize(("text", "code"), [(None, INPUT_OUTPUT), ("{", INVALID_FILE), ("{}", INVALID_FILE),
    ('{"kind": "contact_bench", "schema": 2}', INVALID_FILE), ('{"kind": "contact_bench", "schema": 1}', INVALID_FILE)])  # fmt: skip
def test_a_file_that_is_no_benchmark_is_refused(tmp_path, capsys, text, code):
    if text is not None:
        (tmp_path / "bench.json").write_text(text)
    assert bench_report.main([str(tmp_path)]) == code
    assert capsys.readouterr().err.startswith("garra.bench_report: ")


# --- the program


def run_bench(*arguments, expect=0, timeout=300):
    command = [PROGRAM, "contact", "bench", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == expect, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def results(folder):
    return json.loads((folder / "bench.json").read_text())


def assert_adds_up(bench):
    for group in bench["sets"]:
        for entry in group["solvers"]:
            if entry["not_run"] is None:
                assert entry["tried"] <= group["problems"]
                assert entry["solved"] + sum(entry["failures"].values()) == entry["tried"] == len(entry["problems"]["ending"])
                for ending, residual in zip(entry["problems"]["ending"], entry["problems"]["residual"], strict=True):
                    assert ending or residual <= bench["tolerance"]


@needs_program
def test_a_benchmark_of_a_built_in_set(tmp_path):
    run_bench("random_n3", "--problems", 30, "--methods", "auto,nsgs,lemke", "-o", tmp_path)
    bench = results(tmp_path)
    assert_adds_up(bench)
    group = bench["sets"][0]
    assert [s["name"] for s in group["solvers"]] == ["auto", "nsgs", "lemke"]
    assert group["solvers"][0]["solved"] == 30 and group["solvers"][0]["same_answers_in_lanes"] is True
    assert group["solvers"][2]["not_run"]
    (lanes,) = group["solvers"][0]["throughput"]
    # Threads compute for at most as long as the wall clock says; twice as fast as one cold solve, at least.
    assert lanes["problems_per_core_second"] * lanes["threads"] >= 0.9 * lanes["problems_per_second"]
    assert 1 < lanes["problems_per_core_second"] * group["solvers"][0]["seconds"]["mean"] < 1000
    html = (tmp_path / "bench.html").read_text(encoding="utf-8")
    assert_sound(Page(html), html)


@needs_program
def test_lemke_solves_the_problems_whose_contacts_all_slide(tmp_path):
    run_bench("sliding_n3", "--problems", 50, "--methods", "auto,lemke", "-o", tmp_path, "--no-report")
    bench = results(tmp_path)
    assert_adds_up(bench)
    auto, lemke = bench["sets"][0]["solvers"]
    assert lemke["tried"] == 50 and lemke["solved"] >= 48  # some have no solution: A is not symmetric any more
    assert [e == 0 for e in auto["problems"]["ending"]] == [e == 0 for e in lemke["problems"]["ending"]]
    assert not (tmp_path / "bench.html").exists()


@needs_program
def test_a_set_is_called_as_its_file(tmp_path):
    h5py, np = pytest.importorskip("h5py"), pytest.importorskip("numpy")
    with h5py.File(tmp_path / "my set.h5", "w") as file:
        file["A"], file["b"], file["mu"] = np.tile(np.eye(3), (4, 1, 1)), np.tile([-1.0, 0.1, 0], (4, 1)), np.full((4, 1), 0.5)
    run_bench(tmp_path / "my set.h5", "--methods", "auto", "-o", tmp_path / "out", "--no-report")
    assert [group["name"] for group in results(tmp_path / "out")["sets"]] == ["my_set_n1"]


@needs_program
def test_the_same_seed_gives_the_same_answers(tmp_path):
    outcomes = []
    for name in ("a", "b"):
        run_bench("rigid_n3", "--problems", 20, "--methods", "auto", "--seed", 5, "-o", tmp_path / name, "--no-report")
        outcomes.append(results(tmp_path / name)["sets"][0]["solvers"][0]["problems"]["residual"])
    assert outcomes[0] == outcomes[1]


@needs_program
def test_wrong_command_lines(tmp_path):
    assert "neither a problem set nor a file" in run_bench("no_such_set", "-o", tmp_path, expect=USAGE).stderr
    assert "unknown method" in run_bench("--methods", "magic", "-o", tmp_path, expect=USAGE).stderr


def crashing_peer(folder, last_word="os.abort()"):
    """Stands in for garra_siconos: solves a problem with the answer c = 0, and ends at every second one."""
    path = folder / "garra_siconos"
    path.write_text(f"""#!{sys.executable}
import os, sys
if len(sys.argv) == 1:
    print("shaky")
    sys.exit()
for i in range(int(sys.argv[4]), 4):
    if i % 2:
        {last_word}
    print(i, 0, 7, 1e-6, *([0.0] * 3), flush=True)
""")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("last_word", ["os.abort()", "sys.exit(0)"])
@needs_program
def test_a_peer_that_crashes_is_silent_or_lies_is_counted_and_the_benchmark_goes_on(last_word, tmp_path, monkeypatch):
    with h5py.File(tmp_path / "p.h5", "w") as out:
        out["A"] = np.tile(np.diag([1.0, 2, 3]), (4, 1, 1))
        out["b"] = np.tile([-1.0, 0.0, 0.0], (4, 1))  # c = 0 is no answer, nor is a step from it
        out["mu"] = np.full((4, 1), 0.5)
    monkeypatch.setenv("GARRA_SICONOS", str(crashing_peer(tmp_path, last_word)))
    run_bench(tmp_path / "p.h5", "--methods", "siconos-shaky", "--time-limit", 20, "-o", tmp_path / "out")
    shaky = results(tmp_path / "out")["sets"][0]["solvers"][0]
    assert shaky["solved"] == 0 and shaky["failures"] == {"false_claim": 2, "crashed": 2}


@pytest.mark.skipif(not REAL.is_file(), reason=f"the real problems are not there ({REAL})")
@needs_program
def test_the_real_problems(tmp_path):
    tool = [sys.executable, ROOT / "tools" / "problems_from_npz", REAL, tmp_path / "real"]
    subprocess.run(tool, check=True, capture_output=True)
    run_bench(tmp_path / "real", "--methods", "auto,nsgs", "--time-limit", 5, "-o", tmp_path / "out")
    bench = results(tmp_path / "out")
    assert_adds_up(bench)
    tried = {g["contacts"]: g["solvers"][0] for g in bench["sets"] if g["problems"]}
    refused = sum(entry["problems"] for g in bench["sets"] for entry in g["not_tried"])
    assert set(tried) == set(range(1, 21))
    assert sum(s["tried"] for s in tried.values()) == 430 and refused == 0
    assert sum(s["solved"] for s in tried.values()) == 430
