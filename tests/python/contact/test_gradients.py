"""Derivatives of contact forces against differences of solved problems, and as functions of torch and JAX."""

from __future__ import annotations

import re

import garra
import numpy as np
import pytest
from arrays import require_module

require_module()

from garra import contact  # noqa: E402


def random_problems(n: int, contacts: int, seed: int) -> tuple[np.ndarray, ...]:
    draws = np.random.default_rng(seed)
    size = 3 * contacts
    G = draws.normal(size=(n, size, size))
    A = G.swapaxes(1, 2) @ G / size + 0.3 * np.eye(size)
    # Not symmetric, as A of eliminated problems may be.
    A += 0.05 * draws.normal(size=A.shape)
    return A, draws.normal(size=(n, size)), draws.uniform(0.2, 1.0, (n, contacts))


def along(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x * y).reshape(len(x), -1).sum(axis=1)


@pytest.mark.parametrize("contacts", [1, 2, 3, 5, 8])
def test_derivatives_are_limits_of_differences(contacts):
    n = 10_000 if contacts == 3 else 1000
    A, b, mu = random_problems(n, contacts, seed=contacts)
    draws = np.random.default_rng(77)
    g, dA, db, dmu = (draws.normal(size=x.shape) for x in (b, A, b, mu))
    found = contact.solve(A, b, mu, tolerance=1e-13)
    gradients = contact.gradients(A, mu, found, g)
    h = 1e-4
    near = {k: contact.solve(A + k * h * dA, b + k * h * db, mu + k * h * dmu, tolerance=1e-13) for k in (-2, -1, 1, 2)}
    same = [found.converged, *(x.converged & (x.state == found.state).all(1) for x in near.values())]
    clear = np.all(same, axis=0) & (gradients.margin > 0.02)
    assert clear.mean() > 0.5
    # To the fourth order: what is left is the rounding of forces over h.
    difference = (8 * along(g, near[1].c - near[-1].c) - along(g, near[2].c - near[-2].c)) / (12 * h)
    exact = along(gradients.A, dA) + along(gradients.b, db) + along(gradients.mu, dmu)
    error = (np.abs(difference - exact) / (1 + np.abs(exact)))[clear]
    assert error.max() < 1e-8 and np.median(error) < 1e-11
    states = found.state[clear]
    assert all((states == s).mean() > 0.05 for s in (contact.STICK, contact.SLIP, contact.OPEN))


def test_a_closed_form():
    # One contact, A = diag(2, 4, 4): sticks at c = -b / A; slips at c_n = -b_n / 2 with c_T = -mu c_n along b_T.
    A = np.diag([2.0, 4.0, 4.0])
    b = np.array([[-2.0, 0.4, 0.0], [-2.0, 8.0, 0.0], [3.0, 1.0, 0.0]])
    found = contact.solve(A, b, [0.5])
    assert found.state[:, 0].tolist() == [contact.STICK, contact.SLIP, contact.OPEN]
    g = contact.gradients(A, [0.5], found, [0.0, 1.0, 0.0])
    assert np.allclose(g.b, [[0, -0.25, 0], [0.25, 0, 0], [0, 0, 0]], atol=1e-12)  # dc_t/db: -1/4; +mu/2; 0
    assert np.allclose(g.mu, [[0], [-1], [0]], atol=1e-12)  # dc_t/dmu = -c_n
    # c_n = -b_n / A_nn: dc_t/dA_nn = -mu dc_n/dA_nn = mu c_n / A_nn.
    assert np.isclose(g.A[1, 0, 0], 0.5 * 1.0 / 2.0)


def test_a_given_direction_of_sliding_stays():
    A, b = np.diag([2.0, 4.0, 4.0]), np.array([-2.0, 0.1, 0.0])
    found = contact.solve(A, b, [0.5], mode=[1], slip_velocity=[[0.0, 1.0]])
    g = contact.gradients(A, [0.5], found, [0.0, 0.0, 1.0], mode=[1])
    assert np.allclose(g.b, [0.25, 0, 0], atol=1e-12)
    assert np.allclose(g.mu, [-1.0], atol=1e-12)


def test_no_derivative_at_a_kink_or_without_a_solution():
    A = np.diag([2.0, 4.0, 4.0])
    at_the_cone = contact.solve(A, [-2.0, 2.0, 0.0], [0.5])
    assert contact.gradients(A, [0.5], at_the_cone, np.ones(3)).margin < 1e-6
    bad = contact.solve(A, [-2.0, np.nan, 0.0], [0.5])
    assert contact.gradients(A, [0.5], bad, np.ones(3)).margin == 0
    # Two contacts on one line: how they share the load is not determined.
    shared = np.kron(np.ones((2, 2)), A)
    free = contact.solve(shared, [-2.0, 0.1, 0.0] * 2, [0.5, 0.5])
    assert contact.gradients(shared, [0.5, 0.5], free, np.ones(6)).margin == 0


def test_executors_give_the_same_bits():
    A, b, mu = random_problems(500, 3, seed=1)
    found, g = contact.solve(A, b, mu), np.random.default_rng(2).normal(size=b.shape)
    lanes, scalar = (contact.gradients(A, mu, found, g, device=device) for device in ("cpu", "scalar"))
    for name in ("A", "b", "mu", "margin"):
        assert (getattr(lanes, name) == getattr(scalar, name)).all()


def test_torch_differentiates_forces():
    torch = pytest.importorskip("torch")
    A, b, mu = (torch.tensor(x, requires_grad=True) for x in random_problems(200, 3, seed=4))
    c, margin = garra.contact.forces(A, b, mu, tolerance=1e-12)
    with torch.no_grad():
        clear = margin > 0.05
    kept = [x[clear].detach().requires_grad_() for x in (A, b, mu)]
    assert torch.autograd.gradcheck(
        lambda *x: garra.contact.forces(*x, tolerance=1e-12)[0], tuple(x[:5] for x in kept), eps=1e-6, atol=1e-6, rtol=1e-6
    )
    # One friction coefficient for all problems: its gradient is the sum.
    shared = torch.tensor([0.5, 0.5, 0.5], dtype=torch.float64, requires_grad=True)
    garra.contact.forces(kept[0], kept[1], shared)[0].sum().backward()
    assert shared.grad.shape == (3,)


def test_jax_differentiates_forces_within_jit_and_vmap():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    A, b, mu = random_problems(50, 3, seed=4)
    found = contact.solve(A, b, mu)
    g = np.random.default_rng(5).normal(size=b.shape)
    truth = contact.gradients(A, mu, found, g)

    def number(A, b, mu):
        return (garra.contact.forces(A, b, mu)[0] * g).sum()

    for gradient in (jax.grad(number, (0, 1, 2)), jax.jit(jax.grad(number, (0, 1, 2)))):
        for x, y in zip(gradient(A, b, mu), (truth.A, truth.b, truth.mu), strict=True):
            assert np.abs(np.asarray(x) - y).max() < 1e-12 * (1 + np.abs(y).max())
    each = jax.vmap(jax.grad(lambda A, b, mu, g: (garra.contact.forces(A, b, mu)[0] * g).sum(), (1,)))
    assert np.abs(np.asarray(each(A, b, mu, g)[0]) - truth.b).max() < 1e-12 * (1 + np.abs(truth.b).max())
    shared = jax.grad(lambda m: garra.contact.forces(A, b, m)[0].sum())(np.full(3, 0.5))
    assert shared.shape == (3,)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_problems_that_do_not_count_add_nothing(library):
    """One right side is NaN; its forces are masked. Gradients of the shared A and mu are those of the other problems."""
    pytest.importorskip(library)
    A, b, mu = random_problems(30, 2, seed=8)
    A, mu = A[0], mu[0]
    kept = np.arange(30) != 7
    expected = gradients_of_masked(library, A, b[kept], mu, np.ones(29))
    b[7, 2] = np.nan
    for found, truth in zip(gradients_of_masked(library, A, b, mu, kept.astype(float)), expected, strict=True):
        assert np.allclose(found, truth, rtol=1e-12)


def gradients_of_masked(library, A, b, mu, weight):
    """By A and mu of the sum of the weighted problems' forces squared."""
    if library == "torch":
        import torch

        x, y = (torch.tensor(z, requires_grad=True) for z in (A, mu))
        c = contact.forces(x, torch.tensor(b), y, margin=False)
        torch.where(torch.tensor(weight > 0)[:, None], c, 0.0).square().sum().backward()
        return x.grad.numpy(), y.grad.numpy()
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def loss(x, y):
        c = contact.forces(x, jnp.asarray(b), y, margin=False)
        return (jnp.where(jnp.asarray(weight > 0)[:, None], c, 0.0) ** 2).sum()

    return tuple(np.asarray(g) for g in jax.grad(loss, argnums=(0, 1))(jnp.asarray(A), jnp.asarray(mu)))


def test_second_derivatives_in_torch_raise():
    torch = pytest.importorskip("torch")
    A, b, mu = (torch.tensor(x) for x in random_problems(1, 1, seed=4))
    with pytest.raises(RuntimeError, match="no second derivatives"):
        torch.autograd.functional.hessian(lambda x: contact.forces(A, x, mu)[0].square().sum(), b)


def test_second_derivatives_in_torch_raise():
    torch = pytest.importorskip("torch")
    A, b, mu = (torch.tensor(x) for x in random_problems(1, 1, seed=4))
    with pytest.raises(RuntimeError, match="no second derivatives"):
        torch.autograd.functional.hessian(lambda x: contact.forces(A, x, mu)[0].square().sum(), b)


def derivatives_in_torch(A, b, mu, g, **how):
    torch = pytest.importorskip("torch")
    inputs = [torch.tensor(x, requires_grad=True) for x in (A, b, mu)]
    c = garra.contact.forces(*inputs, **how)
    (c if how else c[0]).backward(torch.tensor(g))
    return [x.grad.numpy() for x in inputs]


def test_without_the_margin_the_derivative_is_taken_once_in_torch(monkeypatch):
    A, b, mu = random_problems(50, 3, seed=6)
    g = np.random.default_rng(7).normal(size=b.shape)
    derivative, calls = contact.gradients, []
    monkeypatch.setattr(contact, "gradients", lambda *a, **k: calls.append(1) or derivative(*a, **k))
    both = derivatives_in_torch(A, b, mu, g)
    assert len(calls) == 2
    alone = derivatives_in_torch(A, b, mu, g, margin=False)
    assert len(calls) == 3
    for x, y in zip(alone, both, strict=True):
        assert np.array_equal(x, y) and x.any()


def jax_in_doubles():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


@pytest.fixture
def jax_on_the_processor():
    """Where there is a GPU too, for which XLA is told something else."""
    jax = jax_in_doubles()
    with jax.default_device(jax.devices("cpu")[0]):
        yield


def derivatives_in_jax(g, **how):
    """Of A, b, mu: the derivatives, compiled."""
    jax = jax_in_doubles()

    def number(A, b, mu):
        c = garra.contact.forces(A, b, mu, **how)
        return ((c if how.get("margin") is False else c[0]) * g).sum()

    return jax.jit(jax.grad(number, (0, 1, 2)))


@pytest.mark.usefixtures("jax_on_the_processor")
def test_without_the_margin_the_derivative_is_taken_once_in_jax():
    problem = random_problems(50, 3, seed=6)
    g = np.random.default_rng(7).normal(size=problem[1].shape)
    both, alone = derivatives_in_jax(g), derivatives_in_jax(g, margin=False)
    # What XLA is told to do: a margin is a fourth result of the solve.
    told = [f.lower(*problem).as_text().splitlines() for f in (both, alone)]
    results = {
        name: [
            [x.rpartition("->")[2].count("tensor<") for x in lines if f"@garra_contact_{name}(" in x] for lines in told
        ]
        for name in ("solve", "gradients")
    }
    assert results == {"solve": [[4], [3]], "gradients": [[2], [2]]}
    for x, y in zip(alone(*problem), both(*problem), strict=True):
        assert np.array_equal(x, y) and np.any(x)


@pytest.mark.usefixtures("jax_on_the_processor")
def test_what_jax_compiles_needs_no_python_and_gives_what_its_callbacks_give(monkeypatch):
    from garra.contact import differentiable

    def targets(function):
        return set(re.findall(r'custom_call_target="([^"]+)"', function.lower(*problem).compile().as_text()))

    problem = random_problems(50, 3, seed=9)
    g = np.random.default_rng(8).normal(size=problem[1].shape)
    compiled = derivatives_in_jax(g, tolerance=1e-10)
    assert targets(compiled) == {"garra_contact_solve", "garra_contact_gradients"}
    found = compiled(*problem)
    differentiable._jax_function.cache_clear()
    monkeypatch.setattr(differentiable, "_xla_calls", lambda how: {})
    called_back = derivatives_in_jax(g, tolerance=1e-10)
    assert not any("garra" in name for name in targets(called_back))
    for x, y in zip(found, called_back(*problem), strict=True):
        assert np.array_equal(x, y) and np.any(x)
    differentiable._jax_function.cache_clear()


def test_jax_in_single_precision_and_on_shared_friction():
    jax = jax_in_doubles()
    A, b, mu = random_problems(20, 2, seed=3)
    c, margin = jax.jit(garra.contact.forces)(*(x.astype(np.float32) for x in (A, b, mu)))
    assert c.dtype == margin.dtype == np.float32
    assert np.abs(np.asarray(c) - contact.solve(A, b, mu).c).max() < 1e-3
    shared = jax.jit(lambda A, b: garra.contact.forces(A, b, np.full(2, 0.5), margin=False))(A, b)
    assert np.array_equal(shared, contact.solve(A, b, np.full(2, 0.5)).c)


def test_jax_says_what_was_wrong():
    A, b, mu = map(jax_in_doubles().numpy.asarray, random_problems(2, 1, seed=1))
    with pytest.raises(TypeError, match="tolrance"):
        garra.contact.forces(A, b, mu, tolrance=1)
    with pytest.raises(Exception, match="nonsense"):
        garra.contact.forces(A, b, mu, method="nonsense")[0].block_until_ready()


def test_plain_arrays_give_forces_with_or_without_the_margin():
    A, b, mu = random_problems(5, 2, seed=8)
    c, margin = garra.contact.forces(A, b, mu)
    assert margin.shape == (5,) and np.array_equal(garra.contact.forces(A, b, mu, margin=False), c)
