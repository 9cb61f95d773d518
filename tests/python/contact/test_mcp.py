"""Complementarity problems of the caller's own functions, judged by closed forms, SciPy and residuals written here."""

from __future__ import annotations

import garra
import numpy as np
import pytest
from arrays import require_module

require_module()

from garra import mcp  # noqa: E402

INF = np.inf
PAIRS = [("semismooth-newton", m, "projected-lm") for m in ("fischer-burmeister", "natural")]
PAIRS += [("merit", m, minimizer) for m in mcp.MERITS[:3] for minimizer in mcp.MINIMIZERS]
# Shares solved of the strongly monotone problems; 1 where a pair is not listed. SPG ends at its iteration limit; the
# papers' function stalls for 3 of 1,000 with every minimizer.
LEAST = {("papers", "spg"): 0.5, ("papers", "box-quacan"): 0.9, ("products", "spg"): 0.5, ("products", "box-quacan"): 0.9}
LEAST |= {("papers", "projected-lm"): 0.97}


def natural(x: np.ndarray, F: np.ndarray, lower, upper) -> np.ndarray:
    """[...] error of solutions: distance of x to the median of l, u and x - F."""
    return abs(x - np.clip(x - F, lower, upper)).max(axis=-1)


def strongly_monotone(batch: int, n: int, seed: int = 0):
    """F(x) = M x + x^3 / 10 + q with M positive definite: exactly one solution for any bounds."""
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(batch, n, n)) / np.sqrt(n)
    M = np.eye(n) + G @ G.swapaxes(1, 2) + (G - G.swapaxes(1, 2))
    q = 3 * rng.normal(size=(batch, n))

    def F(x):
        return np.einsum("bij,bj->bi", M, x) + x**3 / 10 + q

    def J(x):
        return M + 0.3 * np.eye(n) * x[:, None, :] ** 2

    return F, J


def mixed_bounds(batch: int, n: int, seed: int = 1):
    """Free, lower, upper, both and equal, in turn."""
    rng = np.random.default_rng(seed)
    lower = np.where(np.arange(n) % 5 < 2, rng.normal(size=(batch, n)), -INF)
    upper = np.where(np.isin(np.arange(n) % 5, (1, 2)), np.where(lower > -INF, lower, 0) + rng.random((batch, n)), INF)
    lower[:, 3::5] = upper[:, 3::5] = 0.25
    return lower, upper


@pytest.mark.parametrize(("method", "merit", "minimizer"), [("auto", "papers", "projected-lm"), *PAIRS])
def test_every_method_finds_the_only_solution_for_every_kind_of_bound(method, merit, minimizer):
    F, J = strongly_monotone(40, 10)
    lower, upper = mixed_bounds(40, 10)
    found = mcp.solve(F, lower, upper, np.ones((40, 10)), J, method=method, merit=merit, minimizer=minimizer)
    solved = np.asarray(found.converged)
    assert solved.mean() >= (1.0 if method == "auto" else LEAST.get((merit, minimizer), 1.0)), found
    x = found.x[solved]
    assert (x >= lower[solved]).all() and (x <= upper[solved]).all()
    rows = np.where(solved[:, None], found.x, 0)
    assert natural(rows, F(rows), lower, upper)[solved].max() <= 1e-8
    exact = mcp.solve(F, lower, upper, np.zeros((40, 10)), J, tolerance=1e-12).x
    assert abs(x - exact[solved]).max() < 1e-6  # the problem is strongly monotone with modulus 1


def test_a_row_keeps_its_bits_whatever_its_neighbors_are():
    F, J = strongly_monotone(30, 6)
    lower, upper = mixed_bounds(30, 6)
    together = mcp.solve(F, lower, upper, np.ones((30, 6)), J).x

    def poisoned(x):
        y = F(x)
        y[7] = np.nan
        y[8] = y[8] + 100
        return y

    other = mcp.solve(poisoned, lower, upper, np.ones((30, 6)), J)
    status = np.asarray(other.status)
    assert status[7] == 3 and np.isnan(other.x[7]).all() and np.isnan(other.residual[7])
    rest = np.r_[0:7, 9:30]
    assert (together[rest] == other.x[rest]).all()


def test_f_is_called_with_one_shape_inside_the_bounds():
    lower, upper = mixed_bounds(9, 5)
    F, _ = strongly_monotone(9, 5)
    shapes = set()

    def watched(x):
        shapes.add(x.shape)
        assert (x >= lower).all() and (x <= upper).all()
        return F(x)

    found = mcp.solve(watched, lower, upper, np.full((9, 5), 7.0))
    assert shapes == {(9, 5)} and found.converged.all()
    assert found.calls < 40
    start = np.full((9, 5), 7.0)
    start[3, 1] = np.nan  # a status of its row alone, for which F is called within the bounds, too
    some = mcp.solve(watched, lower, upper, start)
    assert not some.converged[3] and np.array_equal(np.delete(some.x, 3, 0), np.delete(found.x, 3, 0))


def test_differences_lead_to_the_same_solutions_as_derivatives():
    F, J = strongly_monotone(20, 8)
    lower, upper = mixed_bounds(20, 8)
    given, own = (mcp.solve(F, lower, upper, np.zeros((20, 8)), j, tolerance=1e-10).x for j in (J, None))
    assert abs(given - own).max() < 1e-8


def test_scalars_shared_bounds_and_leading_axes_broadcast():
    target = np.arange(12.0).reshape(3, 4, 1) + np.zeros(2)
    found = mcp.solve(lambda x: x - target.reshape(12, 2), 2, [5.0, 100.0], np.zeros((3, 4, 2)))
    assert found.x.shape == (3, 4, 2) and found.status.shape == (3, 4)
    assert abs(found.x - np.clip(target, 2, [5.0, 100.0])).max() < 1e-8
    single = mcp.solve(lambda x: x - 1, -INF, INF, [5.0, 6.0])
    assert single.x.shape == (2,) and abs(single.x - 1).max() < 1e-8


def test_the_named_problems_are_solved_as_functions_too():
    """Kojima and Shindo's problem and Billups', whose start is a local minimum by design."""

    def kojima(x):
        a, b, c, d = x.T
        return np.stack(
            [
                3 * a**2 + 2 * a * b + 2 * b**2 + c + 3 * d - 6,
                2 * a**2 + b**2 + a + 10 * c + 2 * d - 2,
                3 * a**2 + a * b + 2 * b**2 + 2 * c + 9 * d - 9,
                a**2 + 3 * b**2 + 2 * c + 3 * d - 3,
            ],
            axis=1,
        )

    starts = np.random.default_rng(2).uniform(0, 3, (200, 4))
    found = mcp.solve(kojima, 0, INF, starts)
    assert found.converged.mean() > 0.98
    known = np.array([[np.sqrt(6) / 2, 0, 0, 0.5], [1, 0, 3, 0]])
    away = abs(found.x[:, None] - known).max(axis=2).min(axis=1)
    assert away[found.converged].max() < 1e-4  # the second is degenerate
    billups = mcp.solve(lambda x: (x - 1) ** 2 - 1.01, 0, INF, [0.0])
    assert abs(billups.x - (1 + np.sqrt(1.01))).max() < 1e-7


def test_there_is_no_answer_where_there_is_no_solution():
    found = mcp.solve(lambda x: x**2 + 1, -INF, INF, np.linspace(-1, 1, 5)[:, None])
    assert not found.converged.any() and np.isnan(found.x).all()
    assert (found.residual >= 1).all()


@pytest.mark.parametrize(
    ("lower", "upper", "x0", "words"),
    [
        ([0, 3], [1, 2], [0, 0], r"lower\[1\] = 3.0, upper\[1\] = 2.0.*lower has the shape \(2,\)"),
        (np.nan, 1, [0, 0], r"lower\[0\] = nan"),
        (0, -INF, [0, 0], r"upper\[0\] = -inf"),
        ([0, 0, 0], 1, [0, 0], r"lower has the shape \(3,\), not \[..., 2\]"),
        (np.zeros((3, 2)), 1, np.zeros((4, 2)), r"lower \(3, 2\), upper \(2,\), x0 \(4, 2\)"),
        (0, 1, 3.0, r"x0 has the shape \(\)"),
    ],
)
def test_bad_bounds_and_shapes_are_named(lower, upper, x0, words):
    with pytest.raises(ValueError, match=words):
        mcp.solve(lambda x: x, lower, upper, x0)


def test_what_f_does_wrong_is_named_with_its_shape():
    with pytest.raises(ValueError, match=r"F returned an array of the shape \(3,\), not \[batch, n\] = \[3, 2\]"):
        mcp.solve(lambda x: x[:, 0], 0, 1, np.zeros((3, 2)))
    with pytest.raises(garra.UsageError, match=r"F raised ZeroDivisionError: .* \[batch, n\] = \[3, 2\]"):
        mcp.solve(lambda x: 1 / 0, 0, 1, np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"jacobian returned .* \(3, 2\), not \[batch, n, n\] = \[3, 2, 2\]"):
        mcp.solve(lambda x: x - 1, 0, 2, np.zeros((3, 2)), lambda x: x)
    with pytest.raises(TypeError, match="F is int: a function"):
        mcp.solve(3, 0, 1, np.zeros((3, 2)))
    with pytest.raises(garra.UsageError, match="does not take the merit natural"):
        mcp.solve(lambda x: x, 0, 1, [0.0], method="merit", merit="natural")
    with pytest.raises(garra.UsageError, match='method = "newton": no such one'):
        mcp.solve(lambda x: x, 0, 1, [0.0], method="newton")


def test_an_interrupt_in_f_ends_the_call():
    def stopped(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mcp.solve(stopped, 0, 1, np.zeros((3, 2)))


def test_sensitivities_are_those_of_differences_of_solutions():
    F, J = strongly_monotone(30, 6)
    lower, upper = mixed_bounds(30, 6)
    rng = np.random.default_rng(5)
    D = rng.normal(size=(30, 6, 2))

    def solved(p):
        return mcp.solve(lambda x: F(x) + np.einsum("bij,j->bi", D, p), lower, upper, np.ones((30, 6)), J, tolerance=1e-12)

    base = solved(np.zeros(2))
    found = mcp.sensitivity(base.x, base.F, J(base.x), D, lower, upper, tolerance=1e-3)
    assert found.valid.mean() > 0.9
    h = 1e-5
    for j in range(2):
        p = np.eye(2)[j] * h
        slope = (solved(p).x - solved(-p).x) / (2 * h)
        assert abs(found.x_p[..., j] - slope)[found.valid].max() < 1e-6
    assert np.isnan(found.x_p[~found.valid]).all()


def test_no_derivative_where_an_unknown_is_at_its_bound_with_f_zero():
    s = mcp.sensitivity([[0.0], [0.0]], [[0.0], [1.0]], [[[1.0]], [[1.0]]], [[[-1.0]], [[-1.0]]], 0, 5)
    assert s.valid.tolist() == [False, True] and s.x_p[1, 0, 0] == 0
    for x, F in (([9.0, 9.0], [-1.0, -1.0]), ([0.0, 0.0], [-1.0, -1.0]), ([0.2, 0.2], [0.05, 0.05])):  # no solutions
        assert not mcp.sensitivity(x, F, np.eye(2), np.eye(2), 0, 0.5).valid
    with pytest.raises(ValueError, match=r"^F_p has the shape \(2,\), not \[\.\.\., 2, m\] for m parameters and x \(2,\)$"):
        mcp.sensitivity([1.0, 2.0], [0.0, 0.0], np.eye(2), [1.0, 2.0], 0, 5)
    singular = mcp.sensitivity([1.0, 1.0], [0.0, 0.0], np.ones((2, 2)), np.ones((2, 1)), 0, 5)
    assert not singular.valid and np.isnan(singular.x_p).all()


def nash_in_torch_or_jax(array, x0):
    cost = array(np.random.default_rng(0).uniform(1, 8, (50, 3)))
    return mcp.solve(lambda q: cost + q + q.sum(1)[:, None] - 10, 0, [2.0, 3.0, 4.0], x0, tolerance=1e-10)


def expected_nash():
    cost = np.random.default_rng(0).uniform(1, 8, (50, 3))
    return mcp.solve(lambda q: cost + q + q.sum(1)[:, None] - 10, 0, [2.0, 3.0, 4.0], np.ones((50, 3)), tolerance=1e-10).x


def test_torch_functions_are_differentiated():
    torch = pytest.importorskip("torch")
    found = nash_in_torch_or_jax(torch.from_numpy, torch.ones(50, 3, dtype=torch.float64))
    assert isinstance(found.x, torch.Tensor)
    assert abs(found.x.numpy() - expected_nash()).max() < 1e-8


def test_jax_functions_are_differentiated():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    found = nash_in_torch_or_jax(jnp.asarray, jnp.ones((50, 3)))
    assert isinstance(found.x, jax.Array)
    assert abs(np.asarray(found.x) - expected_nash()).max() < 1e-8


def scalar_game(x, price, cost):
    """Cournot games; `price` is one number for all games, `cost` has a row each."""
    return cost + x + x.sum(1)[:, None] - price


def slopes_of_the_game(cost, price):
    """Derivatives of the total output, by the parameters, from solutions beside: central differences."""
    solved = lambda c, p: mcp.solve(
        lambda x: scalar_game(x, p, c), 0, [2.0, 3.0, 4.0], np.ones(c.shape), tolerance=1e-12
    ).x.sum(1)
    h = 1e-6
    by_cost = [(solved(cost + h * e, price) - solved(cost - h * e, price)) / (2 * h) for e in np.eye(3)]
    return np.stack(by_cost, 1), (solved(cost, price + h) - solved(cost, price - h)) / (2 * h)


def check_gradients(by_cost, by_price, valid):
    cost = np.random.default_rng(3).uniform(1, 8, (50, 3))
    expected_cost, expected_price = slopes_of_the_game(cost, 10.0)
    assert valid.all()
    assert abs(by_cost - expected_cost).max() < 1e-6 < abs(expected_cost).max()
    assert abs(by_price - expected_price.sum()) < 1e-5


def test_solutions_are_functions_of_parameters_in_torch():
    torch = pytest.importorskip("torch")
    cost = torch.from_numpy(np.random.default_rng(3).uniform(1, 8, (50, 3))).requires_grad_()
    price = torch.tensor(10.0, dtype=torch.float64, requires_grad=True)
    x, valid = mcp.solution(scalar_game, 0, [2.0, 3.0, 4.0], torch.ones(50, 3, dtype=torch.float64), price, cost)
    x.sum().backward()
    check_gradients(cost.grad.numpy(), float(price.grad), valid.numpy())


def test_second_derivatives_of_solutions_in_torch_raise():
    torch = pytest.importorskip("torch")
    start = torch.ones(1, 1, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="no second derivatives"):
        torch.autograd.functional.hessian(
            lambda p: mcp.solution(lambda x, p: x * x - p, 0, 9, start, p)[0].sum(), torch.tensor(2.0, dtype=torch.float64)
        )


def test_solutions_are_functions_of_parameters_in_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    def total(price, cost):
        x, valid = mcp.solution(scalar_game, 0, [2.0, 3.0, 4.0], jnp.ones((50, 3)), price, cost)
        return x.sum(), valid

    cost = jnp.asarray(np.random.default_rng(3).uniform(1, 8, (50, 3)))
    (by_price, by_cost), valid = jax.grad(total, argnums=(0, 1), has_aux=True)(10.0, cost)
    check_gradients(np.asarray(by_cost), float(by_price), np.asarray(valid))


def test_a_problem_without_derivative_adds_nothing_to_a_gradient():
    torch = pytest.importorskip("torch")
    # In the box, at the kink, without a solution (-x - p >= 0), at the upper bound.
    sign, target, upper = ([1.0], [1.0], [-1.0], [1.0]), ([1.0], [0.0], [-1.0], [3.0]), [[2.0], [2.0], [np.inf], [2.0]]
    sign, target = torch.tensor(sign).double(), torch.tensor(target).double()
    p = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    x, valid = mcp.solution(lambda x, p: sign * (x - p * target), 0, upper, torch.ones(4, 1, dtype=torch.float64), p)
    assert valid.tolist() == [True, False, False, True]
    torch.where(valid[:, None], x, 0).sum().backward()
    assert float(p.grad) == 1.0


def test_solutions_within_a_wide_tolerance_have_derivatives():
    torch = pytest.importorskip("torch")
    p = torch.linspace(2, 5, 20, dtype=torch.float64, requires_grad=True)
    start = torch.ones(20, 1, dtype=torch.float64)
    options = mcp.SolveOptions(tolerance=1e-2)
    x, valid = mcp.solution(lambda x, p: 1e6 * (x.exp() - p[:, None]), 0, 9, start, p, options=options)
    x.sum().backward()
    assert valid.all() and np.allclose(p.grad.numpy(), 1 / p.detach().numpy(), rtol=1e-6)


def test_a_start_without_batch_is_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"x0 has the shape \(1,\), not \[batch, n\]"):
        mcp.solution(lambda x, p: x - p, 0, 9, torch.ones(1, dtype=torch.float64), torch.tensor(2.0))


def test_solutions_of_numpy_arrays_have_no_derivatives():
    with pytest.raises(garra.UsageError, match=r"garra\.mcp\.sensitivity"):
        mcp.solution(lambda x, p: x - p, 0, 2.0, np.ones((4, 1)), np.ones((4, 1)))


def test_a_function_may_work_in_its_argument():
    def in_place(x):
        x -= 1
        return x

    found = garra.mcp.solve(in_place, 0, 5, np.full((2, 3), 4.0))
    assert found.converged.all() and np.allclose(found.x, 1)
