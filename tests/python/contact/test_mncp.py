"""Complementarity problems of the built-in families from Python's arrays, judged by functions written here."""

from __future__ import annotations

import garra
import numpy as np
import pytest
from arrays import require_module

require_module()

from garra import mncp  # noqa: E402

RNG = np.random.default_rng(7)


def natural(x: np.ndarray, FG: np.ndarray, free: int = 0) -> float:
    """Largest |min(u, F)| and |G| of all problems."""
    p = x.shape[-1] - free
    return max(np.abs(np.minimum(x[..., :p], FG[..., :p])).max(), np.abs(FG[..., p:]).max(initial=0))


@pytest.mark.parametrize("merit", mncp.MERITS)
@pytest.mark.parametrize(("minimizer", "least"), [("box-quacan", 49), ("spg", 43), ("projected-lm", 53)])
def test_every_pair_solves_as_many_of_the_test_set_as_the_page_says(merit, minimizer, least):
    found = {p.name: p.solve(merit=merit, minimizer=minimizer) for p in mncp.problems()}
    assert len(found) == 53
    assert sum(bool(s.converged) for s in found.values()) >= least  # docs/theory/mncp.md, 6
    assert all(np.isnan(s.x).all() for s in found.values() if not s.converged)


def test_isolated_solutions_are_those_that_the_sources_state():
    near = {}
    for p in mncp.problems():
        x = p.solve(tolerance=1e-10).x
        near[p.name] = min(np.abs(x - s).max() / max(1, np.abs(s).max()) for s in p.solutions)
    for name in ("kostreva", "cps-4", "hs35", "hs76", "murty-2", "nash-cournot", "hs66", "contact-slide", "billups"):
        assert near[name] < 1e-6, name


def test_linear_problems_are_solved_as_lemke_solves_them():
    G = RNG.normal(size=(40, 4, 4))
    M, q = G @ G.swapaxes(1, 2) + 0.1 * np.eye(4), RNG.normal(size=(40, 4))
    found = mncp.linear(M, q, tolerance=1e-10)
    assert found.converged.all()
    assert natural(found.x, np.einsum("nij,nj->ni", M, found.x) + q) < 1e-10
    assert np.abs(found.x - garra.lcp.solve(M, q).z).max() < 1e-7  # positive definite: one solution


def test_free_unknowns_come_last_and_have_equations():
    M = RNG.normal(size=(10, 10))
    M = M @ M.T / 10 + np.eye(10)
    q = RNG.normal(size=(6, 10))
    found = mncp.linear(M, q, free=5)
    assert found.converged.all() and found.x[:, 5:].min() < 0
    assert natural(found.x, found.x @ M.T + q, free=5) < 1e-8


def test_a_contact_slides_where_its_cone_cannot_hold_it():
    tangent = RNG.normal(size=(3, 5, 2)) * 10  # [m/s^2]; leading axes of two sorts
    mu = np.array([0.3, 0.5, 0.8, 1.0, 0.0])
    found = mncp.one_contact(2.0, 4.0, -10.0, tangent[..., 0], tangent[..., 1], mu)
    assert found.x.shape == (3, 5, 4) and found.converged.all()
    normal, force = found.x[..., 0], found.x[..., 2:]
    assert np.abs(normal - 5).max() < 1e-7
    sticking = -tangent / 4
    sizes = np.linalg.norm(sticking, axis=-1)
    expected = np.where(sizes <= mu * 5, 1, mu * 5 / sizes)[..., None] * sticking
    assert np.abs(force - expected).max() < 1e-5


def test_an_oligopoly_is_an_equilibrium():
    demand = np.linspace(2000, 8000, 5)
    found = mncp.nash_cournot(demand, tolerance=1e-9)
    assert found.converged.all()
    q, cost, power = found.x, np.array([10, 8, 6, 4, 2.0]), np.array([1.2, 1.1, 1.0, 0.9, 0.8])
    total = q.sum(1, keepdims=True)
    price = (demand[:, None] / total) ** (1 / 1.1)
    F = cost + (q / 5) ** (1 / power) - price + q * price / (1.1 * total)
    assert natural(q, F) < 1e-8
    assert np.abs(F - found.FG).max() < 1e-8


@pytest.mark.parametrize("case", [p for p in mncp.problems() if p.name in ("quarquad", "munson4", "dis61")], ids=str)
def test_quadratic_functions_are_what_the_docstring_says(case):
    found = case.solve()
    a = case.arrays
    for x, FG in ((found.x, found.FG),):
        pairs = np.array([x[0] * x[0], x[0] * x[1], x[1] * x[1]])
        assert np.abs(a["c"] + a["L"] @ x + a["Q"] @ pairs + a["s"] * (1 - x[0]) ** 4 - FG).max() < 1e-12


def test_threads_and_the_scalar_executor_change_no_bit():
    q = RNG.normal(size=(700, 3))
    M = np.array([[1, 2, 0], [0, 1, 2], [2, 0, 1.0]])
    one = mncp.linear(M, q, threads=1)
    for how in ({"threads": 2}, {"device": "scalar"}):
        other = mncp.linear(M, q, **how)
        assert np.array_equal(one.x, other.x, equal_nan=True) and (one.status == other.status).all()
    assert np.array_equal(mncp.linear(M, q[3]).x, one.x[3], equal_nan=True)


def test_a_problem_that_is_no_number_is_a_status_and_its_neighbors_do_not_notice():
    q = -np.ones((5, 2))
    spoilt = q.copy()
    spoilt[2, 0] = np.nan
    good, bad = mncp.linear(np.eye(2), q), mncp.linear(np.eye(2), spoilt)
    assert garra.contact.STATUS[bad.status[2]] == "invalid_input" and np.isnan(bad.x[2]).all()
    keep = [0, 1, 3, 4]
    assert (bad.x[keep] == good.x[keep]).all() and np.abs(good.x - 1).max() < 1e-8


def test_empty_batches_and_starts():
    assert mncp.linear(np.eye(2), np.zeros((0, 2))).x.shape == (0, 2)
    found = mncp.mathiesen(start=np.array([[1, 1, 1, 1], [2, 3, 1, 4.0]]))
    assert found.converged.all() and found.x.shape == (2, 4)
    y, p1, p2, p3 = found.x.T
    income = 5 * p2 + 3 * p3
    F = np.stack([p2 + p3 - p1, y - 0.9 * income / p1, 5 - y - 0.1 * income / p2, 3 - y], axis=-1)
    assert natural(found.x, F) < 1e-7


def test_misuse_says_what_is_expected():
    with pytest.raises(ValueError, match="2, 3, 4, 6, 7, 10 \\(free=5\\)"):
        mncp.linear(np.eye(5), np.zeros(5))
    with pytest.raises(ValueError, match=r"M has the shape \(3, 3\), not \[..., 2, 2\]"):
        mncp.linear(np.eye(3), np.zeros(2))
    with pytest.raises(garra.UsageError, match='(?s)merit = "paper".*Use one of papers, products'):
        mncp.linear(np.eye(2), np.zeros(2), merit="paper")
    with pytest.raises(garra.DeviceError):
        mncp.linear(np.eye(2), np.zeros(2), device="cuda")


def test_mathiesens_equilibrium_is_found_without_a_start() -> None:
    x = garra.mncp.mathiesen().x
    np.testing.assert_allclose([x[0], x[1] / x[2], x[3] / x[2]], [3, 6, 5], atol=1e-6)
