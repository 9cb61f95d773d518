"""`garra papers tables` seen from outside: the printed digits and our rows, judged by formulas written here again.

Shares nothing with the program but the printed tables and the reference hand. Run with GARRA_PROGRAM=path/to/garra.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "data"
PRINTED = json.loads((DATA / "reference/papers/tables.json").read_text())
EFFORT = ("BoxIt", "FunEval", "QuacanIt", "MatxVec", "f")
ROUNDING = 1e-12  # the program and this file sum in different orders
USAGE, INVALID_FILE, INPUT_OUTPUT = 2, 3, 5


def garra(*arguments):
    program = os.environ.get("GARRA_PROGRAM") or str(ROOT / "build" / "garra")
    return subprocess.run([program, "papers", "tables", *arguments], capture_output=True, text=True, timeout=300)


def tables(*arguments):
    run = garra("--data", str(DATA), *arguments)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def ours():
    return json.loads(tables("--format", "json"))


def law_error(c, a, mu):
    """Largest violation of Coulomb's law over the contacts, in the units of c and a and their products."""
    worst = 0.0
    for (cn, ct, co), (an, at, ao) in zip(c.reshape(-1, 3), a.reshape(-1, 3)):
        force, slip = np.hypot(ct, co), np.hypot(at, ao)
        worst = max(worst, -cn, -an, abs(cn * an), force - mu * cn)
        worst = max(worst, abs(mu * cn * at + slip * ct), abs(mu * cn * ao + slip * co))
    return worst


def sliding_system(ours, mu):
    """A~_nn and b_n of (45), (46)."""
    A, b, v = np.array(ours["A"]), np.array(ours["b"]), np.array(ours["slip"]).reshape(3, 2)
    M = np.empty((3, 3))
    for j in range(3):
        M[:, j] = A[0::3, 3 * j] - mu * (A[0::3, 3 * j + 1] * v[j, 0] + A[0::3, 3 * j + 2] * v[j, 1])
    return M, b[0::3]


def test_another_kind_of_hand_is_refused_with_its_file(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text((DATA / "scenarios/papers_sliding.toml").read_text())
    done = garra("--data", str(DATA), "--hand", str(own))
    assert done.returncode == INVALID_FILE and "own.toml: the papers' hand holds a sphere" in done.stderr


# --- the printed digits, without the program


def test_printed_table_4_satisfies_its_own_rows_and_leaves_its_cone():
    t = PRINTED["table_4"]
    c, a = np.array([r[:3] for r in t["rows"]]), np.array([r[3:6] for r in t["rows"]])
    s, lam = np.array([r[6] for r in t["rows"]]), np.array([r[7] for r in t["rows"]])
    limit, force, slip = t["mu"] * c[:, 0], np.hypot(c[:, 1], c[:, 2]), np.hypot(a[:, 1], a[:, 2])
    for i in (1, 2):
        assert np.abs(limit * a[:, i] + c[:, i] * lam).max() <= 5e-5
    row = s - limit**2 + force**2
    assert np.abs(row).max() <= 2e-5
    assert np.abs(lam / slip - 1).max() <= 7e-4
    assert np.abs((c[:, 1] * a[:, 2] - c[:, 2] * a[:, 1]) / (force * slip)).max() <= 2e-5
    assert 3.4e-10 <= (row**2).sum() + (s @ lam + c[:, 0] @ a[:, 0]) ** 2 <= 4.5e-10
    assert (force / limit - 1).max() == pytest.approx(6.1e-4, abs=1e-5)


# --- the program


def test_the_program_evaluates_the_same_rows(ours):
    identities = ours["table_4_test"]["identities"]
    t = PRINTED["table_4"]
    rows = np.array(t["rows"])
    row = rows[:, 6] - (t["mu"] * rows[:, 0]) ** 2 + rows[:, 1] ** 2 + rows[:, 2] ** 2
    product = rows[:, 6] @ rows[:, 7]
    assert identities["s_row"] == pytest.approx(np.abs(row).max(), rel=1e-9)
    assert identities["f"] == pytest.approx((row**2).sum() + product**2, rel=1e-9)
    assert identities["cone"] == pytest.approx(6.1e-4, abs=1e-5)


def test_printed_rows_are_those_of_the_reference(ours):
    for table in ("table_1", "table_3"):
        want = PRINTED[table]["rows"]
        assert [[r["mu"], *(r["printed"][k] for k in EFFORT)] for r in ours[table]] == want
    want = PRINTED["table_2"]["rows"]
    assert [[r["mu"], *r["printed"]["c_n"], *r["printed"]["a_n"]] for r in ours["table_2"]] == want


def test_the_hand_is_the_reference_hand(ours):
    hand = json.loads((DATA / "reference/grasp/chain.json").read_text())[0]
    np.testing.assert_allclose(ours["A"], hand["A"], rtol=0, atol=4e-12)
    np.testing.assert_allclose(ours["b"], hand["b"], rtol=0, atol=1e-10)


def test_slip_directions_are_those_of_a_sphere_that_falls_and_turns(ours):
    hand = json.loads((DATA / "reference/grasp/chain.json").read_text())[0]
    r = hand["inputs"]["r"]
    for j in range(3):
        rho = np.array(hand["p_t"])[:, j] - hand["p_cm"]
        v = np.array(hand["E_nto"][j]).T @ (np.array([0, 0, -r]) + np.cross([1, 0, 1], rho))
        assert abs(v[0]) <= ROUNDING  # in the tangent plane
        np.testing.assert_allclose(ours["slip"][2 * j : 2 * j + 2], v[1:] / np.linalg.norm(v), rtol=0, atol=ROUNDING)


def test_sliding_rows_solve_the_linear_problem_and_f_is_48(ours):
    for row, effort in zip(ours["table_2"], ours["table_1"]):
        M, q = sliding_system(ours, row["mu"])
        c, a = np.array(row["ours"]["c_n"]), np.array(row["ours"]["a_n"])
        assert (c > 0).all() and np.abs(M @ c + q).max() <= 1e-9
        f = ((a - M @ c - q) ** 2).sum() + (a @ c) ** 2
        assert abs(f - effort["ours"]["f"]) <= 1e-20
        assert effort["ours"]["status"] == "converged"


def test_printed_table_2_comes_back(ours):
    for row in ours["table_2_test"]:
        assert row["smallest_minor"] > 0  # so there is no other solution
        assert row["difference"] <= 1e-6 and row["status"] == "converged"


def test_certified_answers_at_mu_0_1_obey_the_law(ours):
    t = ours["table_4"]
    A, b = np.array(ours["A"]), np.array(ours["b"])
    c = np.concatenate([contact["c"] for contact in t["certified"]])
    assert law_error(c, A @ c + b, t["mu"]) <= 1e-6
    assert t["states"] == PRINTED["table_4"]["states"]


def test_what_is_called_converged_is_close_to_the_certified_force(ours):
    for row in ours["table_3"]:
        for who in ("ours", "table_4_load"):
            if row[who]["status"] == "converged":
                assert row[who]["residual"] <= ours["tolerance"]
                assert row[who]["difference"] <= 1e-6


def test_table_4_comes_back_on_our_hand(ours):
    for solver in ("auto", "box_quacan"):
        assert ours["table_4_test"][solver]["status"] == "converged"
        assert ours["table_4_test"][solver]["difference"] <= 1e-4 / 2.1572


def test_the_page_shows_what_the_program_prints():
    def shown(text):  # numbers that are zero but for rounding depend on the order of sums
        return re.sub(r" *-?\d\.\d+e-(1[2-9]|[2-9]\d)\b", " tiny", re.sub(r" *-?0\.0e\+00", " tiny", text)).split("\n")

    page = set(shown((ROOT / "docs/notes/papers-tables.md").read_text()))
    missing = [line for line in shown(tables()) if line.strip() and line not in page]
    assert not missing, "docs/notes/papers-tables.md is not what `garra papers tables` prints"


def test_missing_data_and_a_wrong_hand_are_named(tmp_path):
    run = garra("--data", str(tmp_path))
    assert run.returncode == INPUT_OUTPUT and "tables.json" in run.stderr
    run = garra("--data", str(DATA), "--hand", str(DATA / "scenarios/two_finger_cylinder.toml"))
    assert run.returncode == INVALID_FILE and "three fingers" in run.stderr
    assert garra("--format", "html").returncode == USAGE
