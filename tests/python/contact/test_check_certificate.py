"""tools/check_certificate: its definition of a false answer, and a few hundred answers of garra."""

from __future__ import annotations

import importlib.util
import sys
import zlib
from argparse import Namespace
from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np
import pytest
from arrays import require_module

require_module()

PROGRAM = Path(__file__).resolve().parents[3] / "tools" / "check_certificate"


@pytest.fixture(scope="module")
def check():
    """The program as a module."""
    pytest.importorskip("scipy")  # its enumeration
    loader = SourceFileLoader("check_certificate", str(PROGRAM))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module  # dataclasses look there
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    path = list(sys.path)
    try:
        loader.exec_module(module)
        yield module
    finally:
        sys.dont_write_bytecode, sys.path[:] = written, path


def reasons(check, problem, c) -> set[str]:
    """Why c is false: the same in double-double and in rational numbers."""
    forces = np.array([c], float)
    found = set(check.all_reasons(problem, forces)[0].split())
    assert found == check.judge_exactly(problem, 0, forces[0])
    return found


def test_forces_of_two_closing_walls_are_false(check):
    walls = {name: problem for name, _, problem in check.named_cases()}["two walls that close"]
    for force in (0, 1, 3.9e9, 1e14):
        assert "penetrates" in reasons(check, walls, [force, 0, 0, force, 0, 0])


def test_friction_without_normal_force_at_an_opening_contact_is_false(check):
    problem = {name: problem for name, _, problem in check.named_cases()}["mu = 1e9"]
    assert "opens" in reasons(check, problem, [1.013, -2.991, 0.949, 2.2e-9, 2.2014, 0.0844])


def test_each_condition_of_the_law_has_its_reason(check):
    # 1 kg, b_n = -2, mu = 0.5: sticks with c_T = -b_T, slips where |b_T| > 1.
    def one(b_t, slides=False):
        return check.Problems(
            np.eye(3)[None], np.array([[-2.0, b_t, 0]]), np.array([[0.5]]), np.array([[slides]]), np.array([[[1.0, 0]]])
        )

    assert not reasons(check, one(0.25), [2, -0.25, 0])
    assert not reasons(check, one(3), [2, -1, 0])
    assert not reasons(check, one(3, slides=True), [2, -1, 0])
    assert not reasons(check, one(3), [2 * (1 - 1e-8), -(1 - 1e-8), 0])
    assert reasons(check, one(0.25), [2 - 1e-4, -0.25, 0]) == {"penetrates"}
    assert reasons(check, one(0.25), [2 + 1e-4, -0.25, 0]) == {"opens"}
    assert reasons(check, one(0.25), [2, -0.25 - 1e-4, 0]) == {"sticks"}
    assert reasons(check, one(3), [2, -1.1, 0]) == {"cone"}
    assert reasons(check, one(3), [2, -np.cos(1e-4), np.sin(1e-4)]) == {"slips"}
    assert reasons(check, one(3), [2, 1, 0]) == {"slips"}
    assert reasons(check, one(3, slides=True), [2, -0.9, 0]) == {"sliding"}


def test_exact_answers_of_rigid_bodies_are_accepted_in_any_size(check):
    # Two bodies without connection, 1e9 apart in load; whole numbers, so that the answer is exact.
    A, b, c = np.zeros((6, 6)), np.zeros(6), np.zeros(6)
    A[:3, :3], A[3:, 3:] = np.eye(3), 4 * np.eye(3)
    b[:], c[:] = [-2e9, 5e8, 0, -4, 1, 0], [2e9, -5e8, 0, 1, -0.25, 0]
    problem = check.Problems(A[None], b[None], np.full((1, 2), 0.5))
    assert not reasons(check, problem, c)
    c[3] = 0.99  # of the small body, which the load of the other does not excuse
    assert reasons(check, problem, c) == {"penetrates"}


@pytest.mark.parametrize("name", ["walls", "border-minus"])
def test_walls_that_close_are_proved_to_have_no_solution(check, name):
    kind = next(c for c in check.CLASSES if c.name == name)
    p = kind.make(np.random.default_rng(1), 20, 4)
    assert (p.A == p.A.round()).all()  # whole numbers, so that A E_n y = 0 holds exactly
    assert all(check.rolling_proof(p.A[i], p.b[i]) for i in range(20))
    solvable = next(c for c in check.CLASSES if c.name == "rigid-solvable").make(np.random.default_rng(1), 20, 4)
    assert not any(check.rolling_proof(solvable.A[i], solvable.b[i]) for i in range(20))


def test_an_enumeration_finds_whether_sliding_contacts_have_a_solution(check):
    cases = {name: problem for name, _, problem in check.named_cases()}
    assert not check.sliding_solution(cases["three slide, b_t = 6"], 0)
    p = next(c for c in check.CLASSES if c.name == "sliding-ideal").make(np.random.default_rng(1), 5, 3)
    assert all(check.sliding_solution(p, i) for i in range(5))


def test_one_step_turns_the_friction_of_a_light_contact_against_its_motion(check):
    # 1 kg twice: contact 2 bears 1e-4 of the load, and its friction is off by 1e-8 of the load.
    problem = check.Problems(np.eye(6)[None], np.array([[-1.0, 0, 0, -1e-4, 1, 0]]), np.full((1, 2), 0.5))
    c = np.array([[1, 0, 0, 1e-4, -0.5e-4, 1e-8]])
    assert reasons(check, problem, c[0]) == {"slips"}
    assert not reasons(check, problem, check.one_step(problem, c)[0])


@pytest.mark.parametrize(
    ("name", "contacts", "problems", "left"),
    [
        ("condition", 8, 1000, 0),
        ("condition", 4, 1000, 0),
        ("friction", 5, 1000, 0),
        ("border-plus", 8, 1000, 0),
        ("rigid-friction", 8, 1000, 0),
        ("condition", 16, 200, 0),
        ("border-plus", 12, 100, 0),
        ("rigid-friction", 12, 100, 2),
        ("rigid-friction", 32, 5, 1),
    ],
)
def test_problems_that_are_built_with_a_solution_are_solved(check, name, contacts, problems, left):
    # Without the path by its length 6, 3, 4, 101, 50 and 12, 92, 15, 3 were left.
    kind = next(c for c in check.CLASSES if c.name == name)
    p = kind.make(np.random.default_rng([zlib.crc32(name.encode()), contacts, 0]), problems, contacts)
    found = check.solve(p)
    solved = np.isin(found.status, (0, 6))
    assert (~solved).sum() <= left
    converged = found.status == 0
    assert set(check.all_reasons(p[converged], found.c[converged])) == {""}


@pytest.mark.parametrize("mu", [1e9, 1e12, 1e100, 1e150, 1e300])
def test_friction_of_any_finite_size_is_solved(check, mu):
    # A contact slips with next to no normal force, which rational numbers tell from a contact that opens.
    p = dict((name, problem) for name, _, problem in check.named_cases())["mu = 1e9"]
    p.mu[:] = mu
    found = check.solve(p)
    assert found.status[0] == 0
    assert not check.judge_exactly(p, 0, found.c[0])


def few(samples: int, last: int = 8) -> Namespace:
    return Namespace(samples=samples, contacts=range(1, last + 1), rational_share=0.1, step=False)


def test_a_run_that_was_cut_goes_on_where_it_stopped(check, tmp_path, monkeypatch):
    kind, file = next(c for c in check.CLASSES if c.name == "condition"), tmp_path / "progress.jsonl"
    whole = check.numbers(check.check_class(kind, few(40, 4), check.Progress(file, "a")))
    lines = file.read_text().splitlines()
    assert len(lines) == 4
    file.write_text("\n".join(lines[:2]) + "\n" + lines[2][:50])  # cut while a line was written
    solved = []
    monkeypatch.setattr(check, "solve", lambda p, solve=check.solve: solved.append(len(p)) or solve(p))
    again = check.numbers(check.check_class(kind, few(40, 4), check.Progress(file, "a")))
    assert solved == [10, 1, 10, 1]  # two batches, and the slowest problem of each
    times = ("seconds", "check_seconds", "worst_seconds")
    assert {k: v for k, v in again.items() if k not in times} == {k: v for k, v in whole.items() if k not in times}
    assert check.Progress(file, "another build").rows == {}


def test_no_answer_of_garra_is_false(check):
    rows = {kind.name: check.check_class(kind, few(16), check.Progress(None, "")) for kind in check.CLASSES}
    assert {name: dict(row.reasons) for name, row in rows.items() if row.false} == {}
    assert {name: row.wrong for name, row in rows.items() if row.wrong} == {}
    assert sum(row.rational_differs for row in rows.values()) == 0
