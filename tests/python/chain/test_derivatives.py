"""Derivatives of the dynamics from Python, against central differences and Pinocchio where it is installed."""

from __future__ import annotations

import garra
import numpy as np
import pytest
from arrays import require_module

require_module()
RANDOM = np.random.default_rng(4)


@pytest.mark.parametrize("name", ["puma560", "iiwa14", "scara", "stanford"])
def test_derivatives_are_those_of_central_differences(name):
    robot = garra.load(name)
    q, qd, u = RANDOM.uniform(-2, 2, (3, 2, 5, robot.n))
    inverse, forward = robot.rnea_derivatives(q, qd, u), robot.aba_derivatives(q, qd, u)
    h = 1e-6 * np.eye(robot.n)
    for derivative, of in ((inverse, robot.rnea), (forward, robot.aba)):
        names = [key for key in derivative.__dataclass_fields__ if key not in ("status", "qdd")]
        for k, key in enumerate(names):
            states = [np.broadcast_to(x[..., None, :], (*x.shape[:-1], robot.n, robot.n)) for x in (q, qd, u)]
            up, down = list(states), list(states)
            up[k], down[k] = up[k] + h, down[k] - h
            expected = np.swapaxes(of(*up) - of(*down), -1, -2) / 2e-6
            found = getattr(derivative, key)
            assert np.allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max()), key
    assert (inverse.status == 0).all() and np.allclose(forward.qdd, robot.aba(q, qd, u))


def test_pinocchio_has_the_same():
    pin = pytest.importorskip("pinocchio", reason="the PyPI package pin is not installed")
    if not hasattr(pin, "computeRNEADerivatives"):
        pytest.skip("this module pinocchio is another package")
    model = pin.buildSampleModelManipulator()
    robot = garra.Chain.from_pinocchio(model)
    data, n = model.createData(), model.nv
    q, qd, u = RANDOM.uniform(-1, 1, (3, n))
    dq, dv, m = pin.computeRNEADerivatives(model, data, q, qd, u)
    found = robot.rnea_derivatives(q, qd, u)
    m = np.triu(m) + np.triu(m, 1).T
    for ours, theirs in ((found.dtau_dq, dq), (found.dtau_dqd, dv), (found.mass_matrix, m)):
        assert np.allclose(ours, theirs, atol=1e-9)


@pytest.mark.parametrize("name", ["rnea", "aba"])
def test_torch_has_the_gradients(name):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    robot = garra.load("puma560")
    states = [torch.tensor(x, requires_grad=True) for x in RANDOM.uniform(-1, 1, (3, 2, 6))]
    getattr(garra.chain, name)(robot, *states).square().sum().backward()
    expected = gradients(robot, name, [x.detach().numpy() for x in states])
    assert all(np.allclose(x.grad, y, rtol=1e-6, atol=1e-6 * np.abs(y).max()) for x, y in zip(states, expected))


@pytest.mark.parametrize("name", ["rnea", "aba"])
def test_jax_has_the_gradients(name):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_enable_x64", True)
    robot = garra.load("puma560")
    q, qd, u = RANDOM.uniform(-1, 1, (3, 2, 6))
    found = jax.grad(lambda *x: (getattr(garra.chain, name)(robot, *x) ** 2).sum(), argnums=(0, 1, 2))(
        *map(jax.numpy.asarray, (q, qd, u))
    )
    assert all(np.allclose(x, y, rtol=1e-6, atol=1e-6 * np.abs(y).max()) for x, y in zip(found, gradients(robot, name, [q, qd, u])))


def gradients(robot, name, states):
    """Of the sum of squares, by central differences."""
    out, h = [], 1e-6
    for k, x in enumerate(states):
        by = np.zeros_like(x)
        for i in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[i] = h
            up, down = ([*states[:k], x + s, *states[k + 1 :]] for s in (step, -step))
            by[i] = ((getattr(robot, name)(*up) ** 2).sum() - (getattr(robot, name)(*down) ** 2).sum()) / (2 * h)
        out.append(by)
    return out
