"""Contacts that slide in a study: the papers' Tables 1 and 2, a ball on a table by hand, outcomes and errors."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pytest
import tomli_w
from program import INVALID, ROOT, garra, summary_of

PAPERS = "data/scenarios/papers_sliding.toml"
G, RADIUS, MASS, SQUEEZE, MU = 9.81, 0.05, 0.4, 3.0, 0.3


def analyzed(path, *flags):
    return json.loads(garra("grasp", "analyze", path, "--format", "json", *flags).stdout)["result"]


@pytest.fixture(scope="module")
def tables():
    return json.loads(garra("papers", "tables", "--format", "json").stdout)


@pytest.mark.parametrize("method", ["auto", "box-quacan", "nsgs"])
def test_a_scenario_gives_tables_1_and_2(tables, method):
    for row in tables["table_2"]:
        found = analyzed(PAPERS, "--set", f"contacts.friction={row['mu']}", "--set", f"solver.method={method}")
        c = np.reshape(found["force"], (3, 3))
        # The tables have their own A, b, slip directions and minimization.
        assert np.allclose(c[:, 0], row["ours"]["c_n"], rtol=1e-7)
        assert np.abs(np.reshape(found["relative_acceleration"], (3, 3))[:, 0]).max() < 1e-6


def finger():
    """Three sliding joints along z, y and x of the palm."""
    return {
        "dh": [[0, 0, "-90 deg", 0], [0, 0, "90 deg", "90 deg"], [0, 0, 0, 0]], "prismatic": [True, True, True],
        "mass": [0.3, 0.3, 0.2], "com": [[0, 0, 0]] * 3, "inertia": [[1e-4] * 3] * 3, "ik": "numeric", "start": [0.1, 0.0, 0.1],
    }  # fmt: skip


def written(folder, **tables):
    scenario = {"schema": 1, "job": "grasp", "title": "An object slides on a table", "sampling": {"samples": 1}} | tables
    scenario.setdefault("hand", {"model": "fingers", "finger": [finger()]})
    path = folder / "scenario.toml"
    path.write_text(tomli_w.dumps(scenario))
    return path


def ball(folder, hand=None, **contact):
    """A ball that slides on a table, pressed from above by a fingertip without friction."""
    tables = {
        "object": {"shape": "sphere", "radius": RADIUS, "mass": MASS, "position": [0, 0, RADIUS]},
        "contacts": {"friction": MU},
        "contact": [
            {"between": ["object", "finger 0"], "model": "frictionless", "azimuth": 0, "elevation": "90 deg", "force": [SQUEEZE, 0, 0]},
            {"between": ["object", "table"], "point": [0, 0, -RADIUS], "normal": [0, 0, 1], "tangent": [1, 0, 0], "mode": "slide"} | contact,
        ],
        "load": {"gravity": [0, 0, -G]},
    }  # fmt: skip
    return written(folder, **tables | (hand or {}))


@pytest.mark.parametrize("direction", [(1.0, 0.0), (-0.6, 0.8)])
def test_friction_opposes_a_given_slip(tmp_path, direction):
    found = analyzed(ball(tmp_path, slip=list(direction)))
    normal = MASS * G + SQUEEZE  # the fingertip cannot move down: it presses as commanded
    force = np.reshape(found["force"], (2, 3))[1]
    assert np.allclose(force, [normal, -MU * normal * direction[0], -MU * normal * direction[1]], rtol=1e-7)
    slows = [-MU * normal / MASS * d for d in direction]
    assert np.allclose(found["acceleration"][:3], [*slows, 0], atol=1e-6)


def test_the_slip_follows_from_the_motion_and_from_joint_rates(tmp_path):
    moves = {"motion": {"velocity": [0, 1e-6, 0]}}
    by_motion = analyzed(ball(tmp_path, hand=moves))
    assert np.allclose(np.reshape(by_motion["force"], (2, 3))[1, 1:], [0, -MU * (MASS * G + SQUEEZE)], rtol=1e-6)
    # The fingertip of a hand that rubs the ball from above while the table holds it: friction on the ball along the rates.
    rubs = {"hand": {"model": "fingers", "finger": [finger() | {"rates": [0, 1e-6, 0]}]}}
    path = ball(tmp_path, hand=rubs, slip=[1, 0])
    scenario = path.read_text().replace('model = "frictionless"', 'mode = "slide"\ntangent = [1, 0, 0]').replace("azimuth = 0\n", "")
    path.write_text(scenario.replace('elevation = "90 deg"', "point = [0, 0, 0.05]\nnormal = [0, 0, -1]"))
    force = np.reshape(analyzed(path)["force"], (2, 3))[0]
    along = np.array([[0, 0, -1], [1, 0, 0], np.cross([0, 0, -1], [1, 0, 0])]).T @ force  # (n, t, o) of the top
    assert along[1] == pytest.approx(MU * -along[2], rel=1e-6) and abs(along[0]) < 1e-9 * SQUEEZE


def rod(folder, slip, lift=0.0):
    """Painleve's rod: its end slides on a table at tan(angle) = 2, where friction 2 makes A~ negative for one slip."""
    half, c, s = 0.2, 1 / np.sqrt(5), 2 / np.sqrt(5)
    return written(
        folder,
        object={"shape": "points", "gyration": [0.01, *[float(half / np.sqrt(3))] * 2], "mass": MASS, "position": [0, 0, half * s],
                "rpy": [0, -float(np.arctan(2)), 0]},
        contacts={"friction": 2.0},
        contact=[
            {"between": ["object", "finger 0"], "model": "frictionless", "point": [0, 0, 0], "normal": [0, 1, 0], "force": [1, 0, 0]},
            {"between": ["object", "table"], "point": [-half, 0, 0], "normal": [s, 0, c], "tangent": [c, 0, -s], "mode": "slide", "slip": slip},
        ],
        load={"gravity": [0, 0, -G], "wrench": {"force": [0, 0, lift]}},
        output={"keep": "all"},
    )  # fmt: skip


def outcome(path, folder):
    garra("run", path, "--no-report", "-o", folder)
    return next(name for name, count in summary_of(folder)["outcomes"].items() if count == 1)


def test_painleves_rod_has_one_solution_none_or_two(tmp_path):
    # By hand: A~ = (1 + 3 cos^2 +- 3 mu sin cos) / m = (1.6 +- 2.4) / m.
    ends = {name: outcome(rod(tmp_path, *how), tmp_path / name) for name, how in
            {"one": ([1, 0],), "none": ([-1, 0],), "two": ([-1, 0], 2 * MASS * G), "opens": ([1, 0], 2 * MASS * G)}.items()}  # fmt: skip
    assert ends == {"one": "held", "none": "no_solution", "two": "non_unique", "opens": "separating"}
    with h5py.File(tmp_path / "one" / "results.h5") as file:
        assert file["c"][0][3] == pytest.approx(MASS * G / 4, rel=1e-8)
    words = summary_of(tmp_path / "none")["outcome_words"]
    assert words["held"]["label"] == "contact maintained" and not words["slipping"]["decided"]


def test_a_study_asks_one_question_over_many_values_of_friction(tmp_path):
    shown = garra("run", PAPERS, "--samples", 2048, "--no-report", "-o", tmp_path / "run").stdout
    assert "P(contact maintained)" in shown and "slipping" not in shown
    assert "sample 5: contact maintained\n" in garra("replay", tmp_path / "run", "--sample", 5).stdout
    summary = summary_of(tmp_path / "run")
    assert summary["outcomes"]["unsolved"] == 0 and summary["held"]["meaning"].endswith("all a_n = 0")
    by_friction = summary["inputs"][0]
    assert by_friction["name"] == "friction common to all contacts" and sum(by_friction["bins"]["decided"]) == 2048
    for threads, device in ((1, "scalar"), (2, "cpu")):
        garra("run", PAPERS, "--samples", 2048, "--no-report", "-o", tmp_path / device, "--threads", threads, "--device", device)
        assert (tmp_path / device / "summary.json").read_bytes() == (tmp_path / "run" / "summary.json").read_bytes()


def test_a_failure_is_kept_as_a_problem_with_its_slip(tmp_path):
    path = rod(tmp_path, [-1, 0])
    garra("run", path, "--no-report", "-o", tmp_path / "run")
    solved = garra("contact", "solve", tmp_path / "run" / "failures" / "0.h5", "-o", tmp_path / "out.h5", "--max-unsolved", 1)
    assert "no_solution" in solved.stdout.replace("no solution", "no_solution")
    with h5py.File(tmp_path / "run" / "failures" / "0.h5") as file:
        assert file["mode"][0, 1] == 1 and np.allclose(file["slip_velocity"][0, 1], [-1, 0])


def test_what_does_not_slide_is_refused_with_a_remedy(tmp_path):
    def refused(path, *flags):
        return garra("grasp", "analyze", path, *flags, expect=INVALID).stderr

    assert "nothing moves along it" in refused(ball(tmp_path))
    assert "slip = [t, o]" in refused(ball(tmp_path))
    assert "simulation finds out" in refused(ball(tmp_path, hand={"simulation": {"duration": 0.1}}, slip=[1, 0]))
    assert "hard ones" in refused(ball(tmp_path, slip=[1, 0], model="soft", torsion_radius=0.01))
    rates = {"hand": {"model": "fingers", "finger": [finger() | {"rates": [0, 1e-6, 0]}]}}
    assert "rates" in refused(ball(tmp_path, hand=rates, slip=[1, 0]))
