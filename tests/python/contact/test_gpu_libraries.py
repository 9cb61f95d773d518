"""Arrays of torch, CuPy and JAX on a GPU: the bits of the processor, on the library's own stream. Needs a GPU, a module with
kernels and a library; test_on_gpu.py has the same on a simulated GPU, with a library of its own."""

from __future__ import annotations

import importlib

import h5py
import numpy as np
import pytest
from arrays import REFERENCE, require_module

require_module()

import garra  # noqa: E402
from garra import contact, singularity  # noqa: E402


def _torch():
    torch = importlib.import_module("torch")
    return torch.cuda.is_available(), lambda x: torch.as_tensor(x, device="cuda"), lambda x: x.cpu().numpy()


def _cupy():
    cupy = importlib.import_module("cupy")
    return cupy.cuda.is_available(), cupy.asarray, cupy.asnumpy


def _jax():
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.default_backend() == "gpu", jax.numpy.asarray, np.asarray


LIBRARIES = {"torch": _torch, "cupy": _cupy, "jax": _jax}


@pytest.fixture(params=LIBRARIES)
def library(request):
    """To the GPU, and back."""
    pytest.importorskip(request.param)
    there, on_gpu, on_host = LIBRARIES[request.param]()
    if not there:
        pytest.skip(f"{request.param} sees no GPU")
    return on_gpu, on_host


@pytest.fixture
def problems():
    with h5py.File(REFERENCE / "contact" / "random_n3.h5") as file:
        return tuple(file[name][:] for name in ("A", "b", "mu"))


def test_answers_have_the_bits_of_the_processor(library, problems):
    on_gpu, on_host = library
    expected = contact.solve(*problems, device="scalar")
    found = contact.solve(*map(on_gpu, problems))
    for name in contact.Solutions.__dataclass_fields__:
        here, there = getattr(expected, name), getattr(found, name)
        assert type(there).__module__ == type(on_gpu(problems[0])).__module__
        assert np.array_equal(here, on_host(there), equal_nan=True), name


def test_arms_have_the_bits_of_the_processor(library):
    on_gpu, on_host = library
    robot = garra.models.puma560()
    q, qd, qdd = (np.sin(np.arange(600.0).reshape(10, 10, 6) * k) for k in (1.7, 2.3, 0.3))
    torque = robot.rnea(*map(on_gpu, (q, qd, qdd)))
    assert np.array_equal(on_host(torque), robot.rnea(q, qd, qdd, device="scalar"))
    expected, found = singularity.measure(robot, q, device="scalar"), singularity.measure(robot, on_gpu(q))
    for name in singularity.Measures.__dataclass_fields__:
        assert np.array_equal(getattr(expected, name), on_host(getattr(found, name))), name


def expect_same(found, expected, on_host, but=()):
    for name in type(expected).__dataclass_fields__:
        if name not in but:
            here, there = getattr(expected, name), on_host(getattr(found, name))
            assert there.shape == here.shape and there.astype(here.dtype).tobytes() == here.tobytes(), name


def test_simulations_have_the_bits_of_the_processor(library):
    on_gpu, on_host = library
    robot = garra.models.puma560()
    q, qd = (np.sin(np.arange(600.0).reshape(10, 10, 6) * k) for k in (1.7, 2.3))
    torque = np.cos(np.arange(6.0))
    how = {"times": [0.0, 0.01, 0.02], "step": 0.002}
    expected = robot.simulate(q, qd, torque, device="scalar", **how)
    expect_same(robot.simulate(*map(on_gpu, (q, qd, torque)), **how), expected, on_host, but=("times",))


def test_platforms_have_the_bits_of_the_processor(library):
    on_gpu, on_host = library
    machine = garra.platform.load("trepa_like")
    position, quaternion = (
        home + 0.05 * np.sin(np.arange(70.0 * len(home)).reshape(7, 10, -1) * 1.7) for home in machine.home
    )
    velocity, force = (np.sin(np.arange(420.0).reshape(7, 10, 6) * k) for k in (1.1, 0.7))
    force = 95 + 3 * force
    where, there = (position, quaternion), (on_gpu(position), on_gpu(quaternion))
    v, f = on_gpu(velocity), on_gpu(force)
    expected = machine.inverse_kinematics(*where, device="scalar")
    expect_same(machine.inverse_kinematics(*there), expected, on_host)
    found = machine.forward_kinematics(on_gpu(expected.lengths))
    expected = machine.forward_kinematics(expected.lengths, device="scalar")
    expect_same(found, expected, on_host, but=("uniqueness", "_modes"))
    expect_same(machine.inverse_dynamics(*there, v), machine.inverse_dynamics(*where, velocity, device="scalar"), on_host)
    expected = machine.forward_dynamics(*where, velocity, force, device="scalar")
    expect_same(machine.forward_dynamics(*there, v, f), expected, on_host)
    how = {"times": [0.0, 0.01, 0.02], "step": 0.005}
    expected = machine.simulate(*where, velocity, force, device="scalar", **how)
    expect_same(machine.simulate(*there, v, f, **how), expected, on_host, but=("times",))


def test_shared_numbers_and_leading_axes(library, problems):
    on_gpu, on_host = library
    A, b, mu = (x[:60].reshape(6, 10, *x.shape[1:]) for x in problems)
    expected = contact.solve(A, b, mu[0, 0], device="scalar")
    found = contact.solve(on_gpu(A), on_gpu(b), on_gpu(mu[0, 0]))
    assert found.c.shape == (6, 10, 9)
    assert np.array_equal(on_host(found.c), expected.c)


def test_work_follows_what_the_library_has_queued(library, problems):
    """The problems are made on the GPU right before, and used right after: nobody waits in between."""
    on_gpu, on_host = library
    A, b, mu = (np.concatenate([x] * 20) for x in problems)
    expected = contact.solve(2 * A, b + b, mu, device="cpu").c
    there = [on_gpu(x) for x in (A, b, mu)]
    for _ in range(5):
        found = contact.solve(there[0] + there[0], there[1] + there[1], there[2]).c + 0
        assert np.array_equal(on_host(found), expected)


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_forces_and_their_derivatives_stay_on_the_gpu(name, problems):
    pytest.importorskip(name)
    there, on_gpu, on_host = LIBRARIES[name]()
    if not there:
        pytest.skip(f"{name} sees no GPU")
    A, b, mu = (x[:50] for x in problems)
    solved = contact.solve(A, b, mu)
    expected = contact.gradients(A, mu, solved, np.ones_like(solved.c))
    if name == "torch":
        given = [on_gpu(x).requires_grad_() for x in (A, b, mu)]
        c, margin = contact.forces(*given)
        c.sum().backward()
        assert c.device == margin.device == given[0].device
        gradients = [x.grad for x in given]
    else:
        jax = importlib.import_module("jax")
        total = jax.grad(lambda *x: contact.forces(*x, margin=False).sum(), argnums=(0, 1, 2))
        gradients = jax.jit(total)(*map(on_gpu, (A, b, mu)))
    for found, values in zip(gradients, (expected.A, expected.b, expected.mu), strict=True):
        np.testing.assert_allclose(on_host(found), values, rtol=1e-12, atol=1e-300)
