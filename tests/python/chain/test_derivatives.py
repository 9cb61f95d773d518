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


OUTPUTS = {
    "pose": "q", "jacobian": "q", "mass_matrix": "q", "gravity": "q", "potential_energy": "q", "bias": "q qd",
    "kinetic_energy": "q qd", "tau": "q qd qdd", "qdd": "q qd tau",
}  # fmt: skip
"""What each output reads."""


def central(compute, states, by):
    """Derivative of compute(**states) by states[by], on a new last axis, to the fourth power of the step."""
    h = 1e-3
    steps = h * np.eye(states[by].shape[-1])
    at = {k: np.stack([compute(**{**states, by: states[by] + k * row}) for row in steps], axis=-1) for k in (-2, -1, 1, 2)}
    return (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)


def near(found, expected, tolerance=1e-7):
    return found.shape == expected.shape and np.abs(found - expected).max() <= tolerance * max(1, np.abs(expected).max())


@pytest.mark.parametrize("device", ["cpu", "scalar"])
@pytest.mark.parametrize("name", ["puma560", "panda", "scara", "stanford"])
def test_every_output_has_its_derivatives(name, device):
    robot = garra.load(name)
    states = dict(zip(("q", "qd", "qdd", "tau"), RANDOM.uniform(-1, 1, (4, 2, 3, robot.n)), strict=True))
    for output, reads in OUTPUTS.items():
        given = {key: states[key] for key in reads.split()}
        for by in given:
            expected = central(lambda output=output, **x: robot.evaluate(**x, outputs=output)[output], given, by)
            assert near(robot.derivative(output, **given, by=by, device=device), expected), (output, by)


@pytest.mark.parametrize("name", ["puma560", "panda", "scara", "stanford"])
def test_second_derivatives_are_those_of_first_ones(name):
    robot = garra.load(name)
    states = dict(zip(("q", "qd", "qdd"), RANDOM.uniform(-1, 1, (3, 4, robot.n)), strict=True))
    found = robot.rnea_second_derivatives(**states)
    for of, by, key in (("dtau_dq", "q", "dq_dq"), ("dtau_dq", "qd", "dq_dqd"), ("dtau_dqd", "qd", "dqd_dqd")):
        expected = central(lambda of=of, **x: getattr(robot.rnea_derivatives(**x), of), states, by)
        assert near(getattr(found, f"d2tau_{key}"), expected), key
    twice = np.swapaxes(robot.derivative("mass_matrix", states["q"]), -1, -2)
    assert np.allclose(found.d2tau_dq_dqdd, twice, atol=1e-12)
    for key in ("dq_dq", "dqd_dqd"):
        both = getattr(found, f"d2tau_{key}")
        assert np.allclose(both, np.swapaxes(both, -1, -2), atol=1e-12 * max(1, np.abs(both).max()))


@pytest.mark.parametrize("name", ["puma560", "panda"])
def test_inertial_parameters_change_every_output_of_dynamics(name):
    text = garra.load(name).to_toml()
    mass = next(line for line in text.splitlines() if line.startswith("mass") and float(line.split("=")[1].split("#")[0]) > 1)
    number = float(mass.split("=")[1].split("#")[0])
    arms = [garra.Chain.from_toml(text.replace(mass, f"mass = {number + by!r}", 1)) for by in (0, 0.5)]
    change = arms[1].inertial_parameters - arms[0].inertial_parameters
    assert np.count_nonzero(change) > 1
    states = dict(zip(("q", "qd", "qdd", "tau"), RANDOM.uniform(-1, 1, (4, 3, arms[0].n)), strict=True))
    for output in ("mass_matrix", "gravity", "bias", "tau", "kinetic_energy", "potential_energy"):
        before, after = (arm.evaluate(**states, outputs=output)[output] for arm in arms)
        found = arms[0].derivative(output, **states, by="inertia")
        assert np.allclose(found @ change, after - before, atol=1e-11), output
    half, whole = (garra.Chain.from_toml(text.replace(mass, f"mass = {number + by!r}", 1)) for by in (-1e-5, 1e-5))
    expected = (whole.aba(*(states[k] for k in ("q", "qd", "tau"))) - half.aba(*(states[k] for k in ("q", "qd", "tau")))) / 2e-5
    found = arms[0].derivative("qdd", states["q"], states["qd"], tau=states["tau"], by="inertia")
    assert near(found @ (change / 0.5), expected, 1e-6)


def test_what_has_no_derivative_is_refused():
    robot = garra.models.puma560()
    q = np.full(6, 0.2)
    with pytest.raises(garra.UsageError, match="no derivatives of 'tip'"):
        robot.derivative("tip", q)
    with pytest.raises(garra.UsageError, match="does not depend on by = 'qd'"):
        robot.derivative("gravity", q, q, by="qd")
    with pytest.raises(ValueError, match="tau needs qdd"):
        robot.derivative("tau", q, q)
    with pytest.raises(garra.UsageError, match="inertia"):
        robot.derivative("jacobian", q, by="inertia")
    bad = robot.derivative("mass_matrix", np.array([q, np.nan * q]))
    assert np.isfinite(bad[0]).all() and np.isnan(bad[1]).all()
    text = robot.to_toml()
    at = text.index('name = "wrist 1"')
    coupled = garra.Chain.from_toml(text[:at] + 'follows = { joint = "elbow", multiplier = 0.5 }\n' + text[at:])
    q = np.full(5, 0.2)
    assert near(coupled.derivative("mass_matrix", q), central(coupled.crba, {"q": q}, "q"))
    for refused in (lambda: coupled.derivative("jacobian", q), lambda: coupled.rnea_second_derivatives(q, q, q)):
        with pytest.raises(garra.UsageError, match="coupled"):
            refused()


@pytest.mark.parametrize("output", OUTPUTS)
def test_torch_has_the_gradients(output):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    robot = garra.load("puma560")
    given = {key: RANDOM.uniform(-1, 1, (2, 6)) for key in OUTPUTS[output].split()}
    tensors = {key: torch.tensor(x, requires_grad=True) for key, x in given.items()}
    garra.chain.evaluate(robot, output, **tensors).square().sum().backward()
    for key, expected in gradients(robot, output, given).items():
        assert near(tensors[key].grad.numpy(), expected, 1e-6), key


def test_second_derivatives_in_torch_raise():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    robot, q = garra.load("puma560"), torch.full((6,), 0.3, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="no second derivatives"):
        torch.autograd.functional.hessian(lambda x: garra.chain.rnea(robot, x, q, q).square().sum(), q)


@pytest.mark.parametrize("output", OUTPUTS)
def test_jax_has_the_gradients(output):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_enable_x64", True)
    robot = garra.load("puma560")
    given = {key: RANDOM.uniform(-1, 1, (2, 6)) for key in OUTPUTS[output].split()}
    arrays = {key: jax.numpy.asarray(x) for key, x in given.items()}
    found = jax.grad(lambda x: (garra.chain.evaluate(robot, output, **x) ** 2).sum())(arrays)
    for key, expected in gradients(robot, output, given).items():
        assert near(np.asarray(found[key]), expected, 1e-6), key


def gradients(robot, output, given):
    """Of the sum of squares, by central differences."""
    value = robot.evaluate(**given, outputs=output)[output]
    out = {}
    for by in given:
        changes = central(lambda **x: robot.evaluate(**x, outputs=output)[output], given, by)
        out[by] = 2 * (value[..., None] * changes).reshape(2, -1, 6).sum(axis=1)
    return out
