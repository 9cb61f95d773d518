"""Affine complementarity problems with bounds, judged by enumeration, SciPy and residuals written here."""

from __future__ import annotations

from itertools import product

import garra
import numpy as np
import pytest
from arrays import require_module

require_module()

from garra import mcp  # noqa: E402

INF = np.inf
METHODS = mcp.AFFINE_METHODS
MONOTONE = ("auto", "lemke", "interior-point", "semismooth-newton")


def natural(x, F, lower, upper):
    return abs(x - np.clip(x - F, lower, upper)).max(axis=-1)


def monotone(batch: int, n: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(batch, n, n)) / np.sqrt(n)
    M = 0.5 * np.eye(n) + G @ G.swapaxes(1, 2) + (G - G.swapaxes(1, 2))
    lower = np.where(np.arange(n) % 5 < 2, rng.normal(size=(batch, n)), -INF)
    upper = np.where(np.isin(np.arange(n) % 5, (1, 2)), np.where(lower > -INF, lower, 0) + rng.random((batch, n)), INF)
    lower[:, 3::5] = upper[:, 3::5] = 0.25
    return M, 3 * rng.normal(size=(batch, n)), lower, upper


@pytest.mark.parametrize("method", MONOTONE)
@pytest.mark.parametrize("n", [1, 5, 30, 120])
def test_every_method_solves_monotone_problems_with_every_kind_of_bound(method, n):
    M, q, lower, upper = monotone(12, n)
    found = mcp.solve_affine(M, q, lower, upper, method=method)
    assert found.converged.all(), found
    F = np.einsum("bij,bj->bi", M, found.x) + q
    assert natural(found.x, F, lower, upper).max() <= 1e-8
    assert abs(found.F - F).max() < 1e-12 * max(1, abs(F).max())
    other = mcp.solve_affine(M, q, lower, upper, method="lemke", tolerance=1e-6).x
    assert abs(found.x - other).max() < 1e-6  # strongly monotone: one solution


def enumerated(M, q, lower, upper):
    """Every solution, by the 3^n choices of at the lower bound, at the upper bound or between."""
    n, out = len(q), []
    for sides in product((-1, 0, 1), repeat=n):
        sides = np.array(sides)
        at = np.where(sides < 0, lower, upper)
        if not np.isfinite(at[sides != 0]).all():
            continue
        x, free = np.where(sides == 0, 0.0, at), sides == 0
        try:
            x[free] = np.linalg.solve(M[np.ix_(free, free)], -(q + M @ x)[free])
        except np.linalg.LinAlgError:
            continue
        if natural(x, M @ x + q, lower, upper) < 1e-9 and (x >= lower - 1e-9).all() and (x <= upper + 1e-9).all():
            out.append(x)
    return np.array(out)


def test_answers_are_among_the_enumerated_solutions_of_any_matrix():
    rng = np.random.default_rng(3)
    for _ in range(60):
        M, q, lower = rng.normal(size=(4, 4)), rng.normal(size=4), -rng.random(4)
        upper = np.where(rng.random(4) < 0.5, 1.0, INF)
        every = enumerated(M, q, lower, upper)
        for method in METHODS:
            found = mcp.solve_affine(M, q, lower, upper, method=method, tolerance=1e-10)
            if found.converged:
                assert len(every) and abs(every - found.x).max(axis=1).min() < 1e-7


def test_finite_boxes_always_have_an_answer_of_auto():
    rng = np.random.default_rng(4)
    M, q = rng.normal(size=(300, 6, 6)), rng.normal(size=(300, 6))
    found = mcp.solve_affine(M, q, -1, 1)  # a continuous map of a box: there is a solution
    assert found.converged.mean() > 0.99


def test_a_ray_proves_that_a_semidefinite_problem_has_no_feasible_point_and_nothing_else():
    # x1 - x2 >= 1 and x2 - x1 >= 1 exclude each other; M is 0 in the other block: positive semidefinite.
    C = np.array([[1.0, -1.0], [-1.0, 1.0]])
    M = np.block([[np.zeros((2, 2)), -C.T], [C, np.zeros((2, 2))]])
    q = np.array([1.0, 1.0, -1.0, -1.0])
    for method in ("lemke", "auto"):
        found = mcp.solve_affine(M, q, 0, INF, method=method)
        assert garra.contact.STATUS[int(found.status)] == "no_solution"
    # M = [[0, 1], [1, 0]] - like games: a ray, but M is not positive semidefinite, and nothing is proved.
    ray = mcp.solve_affine([[0.0, 1.0], [-0.5, -1.0]], [-1.0, -1.0], 0, INF, method="lemke")
    assert garra.contact.STATUS[int(ray.status)] == "stalled"


def test_feasible_semidefinite_problems_are_never_called_infeasible():
    rng = np.random.default_rng(5)
    for n, rank in ((6, 2), (20, 5), (60, 20)):
        B = rng.normal(size=(20, n, rank))
        M = B @ B.swapaxes(1, 2)
        z, w = rng.random((2, 20, n)) * (rng.random((1, 20, n)) < 0.5) ** np.array([1, 0])[:, None, None]
        w = np.where(z > 0, 0, w)
        q = w - np.einsum("bij,bj->bi", M, z)  # z is a solution
        found = mcp.solve_affine(M, q, 0, INF, method="lemke", tolerance=1e-7)
        assert (np.asarray(found.status) != garra.contact.STATUS.index("no_solution")).all()
        assert found.converged.mean() > 0.9


def test_linear_programs_are_solved_as_their_conditions():
    optimize = pytest.importorskip("scipy.optimize")
    rng = np.random.default_rng(6)
    A, c = rng.random((8, 12)), rng.random(12)
    b = A @ rng.random(12)
    M = np.block([[np.zeros((12, 12)), -A.T], [A, np.zeros((8, 8))]])
    q = np.r_[c, -b]  # min c'x, A x >= b, x >= 0
    expected = optimize.linprog(c, -A, -b).fun
    for method in ("lemke", "interior-point"):
        found = mcp.solve_affine(M, q, 0, INF, method=method)
        assert found.converged, method
        assert abs(c @ found.x[:12] - expected) < 1e-6


def test_lcp_solve_takes_hundreds_of_pairs():
    rng = np.random.default_rng(7)
    B = rng.normal(size=(3, 150, 150)) / 12
    M, q = 1e6 * (B @ B.swapaxes(1, 2) + 0.1 * np.eye(150)), 1e-3 * rng.normal(size=(3, 150))
    s = garra.lcp.solve(M, q)
    assert (np.asarray(s.status) == 0).all() and (s.pivots > 10).all()
    w = np.einsum("bij,bj->bi", M, s.z) + q
    assert abs(np.minimum(1e6 * s.z, w)).max() < 1e-8 * abs(q).max()
    small = garra.lcp.solve(M[:, :30, :30], q[:, :30]).z
    large = np.zeros((3, 33))
    large[:, :30] = small
    M33, q33 = np.tile(np.eye(33) * 1e6, (3, 1, 1)), np.full((3, 33), 1e-3)
    M33[:, :30, :30], q33[:, :30] = M[:, :30, :30], q[:, :30]
    assert abs(garra.lcp.solve(M33, q33).z - large).max() < 1e-16 + 1e-9 * abs(small).max()


def test_gradients_are_those_of_differences_of_solutions():
    M, q, lower, upper = monotone(10, 6)
    cotangent = np.random.default_rng(8).normal(size=(10, 6))
    solve = lambda M, q: mcp.solve_affine(M, q, lower, upper, tolerance=1e-12)  # noqa: E731
    g = mcp.affine_gradients(M, solve(M, q), cotangent, lower, upper, tolerance=1e-3)
    assert g.valid.mean() > 0.8
    h = 1e-6
    for i, j in ((0, 0), (2, 4), (5, 1)):
        E = np.zeros((6, 6))
        E[i, j] = h
        slope = ((solve(M + E, q).x - solve(M - E, q).x) * cotangent).sum(axis=1) / (2 * h)
        assert abs(g.M[:, i, j] - slope)[g.valid].max() < 1e-6
        slope = ((solve(M, q + E[i, j] * np.eye(6)[i]).x - solve(M, q - E[i, j] * np.eye(6)[i]).x) * cotangent).sum(axis=1)
        assert abs(g.q[:, i] - slope / (2 * h))[g.valid].max() < 1e-6


def test_bad_numbers_are_a_status_and_bad_arguments_errors():
    M, q, lower, upper = monotone(6, 4)
    expected = mcp.solve_affine(M, q, lower, upper).x
    M[2, 1, 1] = np.nan
    found = mcp.solve_affine(M, q, lower, upper)
    assert found.status.tolist() == [0, 0, 3, 0, 0, 0] and np.isnan(found.x[2]).all()
    assert (np.delete(found.x, 2, 0) == np.delete(expected, 2, 0)).all()
    with pytest.raises(ValueError, match=r"M has the shape \(6, 4, 4\), not \[..., 3, 3\]"):
        mcp.solve_affine(M, q[:, :3], 0, 1)
    with pytest.raises(garra.UsageError, match=r"lower\[1\] = 2.0, upper\[1\] = 1.0"):
        mcp.solve_affine(M, q, [0, 2, 0, 0], 1)
    with pytest.raises(garra.UsageError, match='method = "simplex"'):
        mcp.solve_affine(M, q, 0, 1, method="simplex")
