"""garra.contact.merit: shapes, libraries, errors, and the command of the program."""

import h5py
import numpy as np
import pytest
from program import garra as program

import garra

PROBLEMS = "data/reference/contact/random_n3.h5"


def problems(n=12):
    with h5py.File(PROBLEMS) as file:
        return tuple(file[name][:n] for name in ("A", "b", "mu"))


@pytest.mark.parametrize("merit, each", [("papers", 8), ("products", 8), ("fischer-burmeister", 4), ("second-order-cone", 3)])
def test_leading_axes_broadcast_and_the_gradient_is_that_of_differences(merit, each):
    A, b, mu = problems()
    c = np.abs(np.random.default_rng(1).normal(size=(4, 1, 9)))
    f = garra.contact.merit(A, b, mu, c, merit=merit)
    assert f.value.shape == f.projected_gradient.shape == (4, 12) and f.gradient.shape == f.x.shape == (4, 12, 3 * each)
    step = np.random.default_rng(2).normal(size=f.x.shape) * 1e-6
    change = garra.contact.merit(A, b, mu, f.x + step, merit=merit).value - garra.contact.merit(A, b, mu, f.x - step, merit=merit).value
    assert np.allclose(change, 2 * (f.gradient * step).sum(-1), rtol=1e-5, atol=1e-10 * f.value.max())


def test_projected_gradient_steps_of_a_users_own_lower_the_value():
    A, b, mu = problems()
    size_a, size_b = np.abs(np.einsum("nii->ni", A)).max(-1), np.abs(b).max(-1)
    A, b = A / size_a[:, None, None], b / size_b[:, None]
    x = garra.contact.merit(A, b, mu, np.ones(9), merit="second-order-cone").x
    first = garra.contact.merit(A, b, mu, x, merit="second-order-cone").value
    for _ in range(200):
        f = garra.contact.merit(A, b, mu, x, merit="second-order-cone")
        x = x - 0.02 * f.gradient
        x[..., ::3] = np.maximum(x[..., ::3], 0)
    assert (f.value < first).all() and np.median(f.value / first) < 0.1


def test_a_tensor_gives_tensors():
    torch = pytest.importorskip("torch")
    A, b, mu = (torch.as_tensor(x) for x in problems())
    f = garra.contact.merit(A, b, mu, torch.ones(9, dtype=torch.float64))
    assert isinstance(f.gradient, torch.Tensor) and f.gradient.shape == (12, 24)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="none of papers"):
        garra.contact.merit(np.eye(3), np.ones(3), 0.5, np.ones(3), merit="paper")
    with pytest.raises(ValueError, match="expected 3 forces, or 8 variables of papers"):
        garra.contact.merit(np.eye(3), np.ones(3), 0.5, np.ones(4))


def test_the_program_writes_the_same_values(tmp_path):
    out = program("contact", "merit", PROBLEMS, "--merit", "products", "-o", tmp_path / "values.h5").stdout
    assert "24 variables" in out
    program("contact", "solve", PROBLEMS, "-o", tmp_path / "solutions.h5")
    program("contact", "merit", PROBLEMS, "--forces", tmp_path / "solutions.h5", "-o", tmp_path / "solved.h5")
    A, b, mu = problems(None)
    with h5py.File(tmp_path / "values.h5") as file, h5py.File(tmp_path / "solved.h5") as solved:
        f = garra.contact.merit(A, b, mu, np.zeros(9), merit="products")
        assert np.array_equal(file["value"], f.value) and np.array_equal(file["gradient"], f.gradient)
        assert np.nanmax(solved["value"]) < 1e-10 * np.median(f.value)


def test_negative_friction_has_no_value():
    A, b = np.tile(np.eye(3), (2, 1, 1)), np.array([-9.81, 0, 6])
    found = garra.contact.merit(A, b, np.array([[-0.5], [0.5]]), [1.0, 0, 0])
    assert np.isnan(found.value[0]) and np.isnan(found.gradient[0]).any() and np.isfinite(found.gradient[1]).all()
