"""Contact problems from Python's arrays: independent solutions, shapes, statuses."""

from __future__ import annotations

import json

import garra
import h5py
import numpy as np
import pytest
from arrays import REFERENCE, require_module

require_module()

from garra import contact  # noqa: E402


@pytest.fixture(scope="module")
def problems() -> dict[str, np.ndarray]:
    with h5py.File(REFERENCE / "contact" / "random_n3.h5") as file:
        return {name: data[()] for name, data in file.items()}


@pytest.mark.parametrize("precision", ["fp64", "mixed"])
def test_forces_solve_the_problem_as_the_law_says(problems, precision):
    A, b, mu = (problems[name] for name in ("A", "b", "mu"))
    found = contact.solve(A, b, mu, tolerance=1e-10, precision=precision)
    assert found.converged.all()
    c, a = found.c.reshape(-1, 3, 3), found.a.reshape(-1, 3, 3)
    # Written from the law, not from the certificate.
    assert np.abs(np.einsum("nij,nj->ni", A, found.c) + b - found.a).max() < 1e-8
    assert c[..., 0].min() > -1e-9 and a[..., 0].min() > -1e-8
    assert np.abs(c[..., 0] * a[..., 0]).max() < 1e-7
    force, slip = np.linalg.norm(c[..., 1:], axis=-1), np.linalg.norm(a[..., 1:], axis=-1)
    assert (force <= mu * c[..., 0] + 1e-8).all()
    power = (c[..., 1:] * a[..., 1:]).sum(-1)
    assert np.abs(power + mu * c[..., 0] * slip).max() < 1e-6
    pressed = c[..., 0] > 1e-6
    assert (found.state[pressed & (slip > 1e-6)] == contact.SLIP).all()
    assert (found.state[pressed & (slip < 1e-9)] == contact.STICK).all()


def test_forces_of_another_solver_pass_the_certificate(problems):
    A, b, mu = (problems[name] for name in ("A", "b", "mu"))
    judged = contact.check_solution(A, b, mu, problems["c"], tolerance=1e-6)
    assert judged.converged.all()
    wrong = problems["c"].copy()
    wrong[7] *= 1.01
    again = contact.check_solution(A, b, mu, wrong, tolerance=1e-6)
    assert not again.converged[7] or np.abs(problems["c"][7]).max() == 0
    assert np.delete(again.converged, 7).all()


def test_one_problem_needs_no_batch_and_friction_may_be_shared(problems):
    A, b = problems["A"], problems["b"]
    together = contact.solve(A[:6], b[:6], [0.5, 0.5, 0.5])
    alone = contact.solve(A[2], b[2], np.full(3, 0.5))
    assert alone.c.shape == (9,) and alone.status.shape == ()
    assert (alone.c == together.c[2]).all()
    grid = contact.solve(A[:6].reshape(2, 3, 9, 9), b[:6].reshape(2, 3, 9), [0.5, 0.5, 0.5])
    assert (grid.c.reshape(6, 9) == together.c).all()
    assert "6 of 6 converged" in repr(together)


def test_one_coefficient_stands_for_all_contacts(problems):
    A, b = problems["A"][:6], problems["b"][:6]
    k = b.shape[-1] // 3
    one, all_ = contact.solve(A, b, 0.4), contact.solve(A, b, [0.4] * k)
    assert np.array_equal(one.c, all_.c, equal_nan=True) and one.state.shape == (6, k)
    assert np.array_equal(contact.check_solution(A, b, 0.4, all_.c).residual, contact.check_solution(A, b, [0.4] * k, all_.c).residual)
    shares = [contact.gradients(A, mu, all_, np.ones_like(all_.c)).mu for mu in (0.4, [0.4] * k)]
    assert np.array_equal(*shares, equal_nan=True)
    W = np.concatenate([np.eye(3), np.zeros((3, 3))])
    assert contact.is_resisted(W, [-1.0, 0.3, 0, 0, 0, 0], 0.5).status == contact.POSSIBLE
    assert contact.is_resisted(W, [-1.0, 0.6, 0, 0, 0, 0], 0.5).status == contact.IMPOSSIBLE


def test_what_is_printed_says_why_a_problem_has_no_forces(problems):
    A, b = problems["A"][:3], problems["b"][:3].copy()
    b[1, 0] = np.nan
    text = repr(contact.solve(A, b, 0.5))
    assert "2 of 3 converged, 1 invalid_input (a number is not finite or out of its range, or a matrix not semidefinite)" in text
    assert "0 of 1 converged, invalid_input" in repr(contact.solve(A[0], b[0], -0.5)).replace("1 invalid", "invalid")


def test_a_result_prints_ten_lines_at_most(problems):
    found = garra.lcp.solve([[2.0, 1.0], [1.0, 2.0]], [[-5.0, -6.0]] * 300)
    lines = repr(found).splitlines()
    assert lines[0] == "Solutions of 300 problems: 300 converged" and len(lines) <= 10
    assert lines[1] == "  z: [300, 2], 1.333 to 2.333, median 1.833"
    single = repr(garra.lcp.solve([[0.0, -1.0], [-1.0, 0.0]], [-1.0, -1.0]))
    assert "ray (Lemke's method ended on a ray; there may be no solution)" in single
    assert garra.lcp.STATUS[1] == "ray" and len(garra.lcp.STATUS) == len(contact.STATUS)
    platform = garra.platform.load("trepa_like")
    poses = np.tile(platform.home[0], (50, 1)), np.tile(platform.home[1], (50, 1))
    robot = garra.models.puma560()
    for result in (
        platform.inverse_kinematics(*poses),
        platform.inverse_dynamics(*poses),
        robot.evaluate(np.zeros((40, 6)), outputs=("pose", "jacobian")),
        garra.singularity.measure(robot, np.full((40, 6), 0.3)),
        garra.singularity.nearest(robot, np.full((40, 6), 0.3)),
    ):
        assert 2 <= len(repr(result).splitlines()) <= 10 and len(repr(result)) < 1000, repr(result)


def test_a_sliding_contact_is_pushed_against_its_velocity():
    # 1 kg pressed with 2 N, sliding along t: c = (2, -mu 2, 0), a_t = (c_t) / m.
    found = contact.solve(np.eye(3), [-2.0, 0.0, 0.0], [0.3], mode=[1], slip_velocity=[[0.7, 0.0]])
    assert np.allclose(found.c, [2.0, -0.6, 0.0], atol=1e-9)
    assert found.state[0] == contact.SLIP


def test_a_problem_with_nan_is_a_status_and_its_neighbors_have_the_same_bits(problems):
    A, b, mu = (problems[name].copy() for name in ("A", "b", "mu"))
    before = contact.solve(A, b, mu)
    b[100, 4] = np.nan
    after = contact.solve(A, b, mu)
    assert contact.STATUS[after.status[100]] == "invalid_input"
    assert np.isnan(after.c[100]).all()
    assert (np.delete(after.c, 100, 0) == np.delete(before.c, 100, 0)).all()


def test_what_does_not_fit_is_said():
    with pytest.raises(ValueError, match=r"A has the shape \(9, 9\), not \[\.\.\., 6, 6\]"):
        contact.solve(np.eye(9), np.zeros(9), [0.5, 0.5])
    with pytest.raises(ValueError, match="mu needs an axis"):
        contact.solve(np.eye(3), np.zeros(3), [])
    with pytest.raises(garra.UsageError, match="no method is called newton"):
        contact.solve(np.eye(3), np.zeros(3), [0.5], method="newton")
    with pytest.raises(garra.UsageError, match="33 contacts per problem\n.*between 1 and 32"):
        contact.solve(np.eye(99), np.zeros(99), [0.5] * 33)
    with pytest.raises(garra.Error):
        contact.solve(np.eye(3), np.zeros(3), [0.5], device="cuda:77")


def test_the_executors_give_the_same_bits(problems):
    A, b, mu = (problems[name] for name in ("A", "b", "mu"))
    lanes, scalar = contact.solve(A, b, mu), contact.solve(A, b, mu, device="scalar")
    assert (lanes.c == scalar.c).all()
    assert (lanes.iterations == scalar.iterations).all()


def test_balance_is_that_of_linear_programs_in_fine_pyramids():
    # `largest`: by another program, the largest multiple of the wrench w that forces can balance.
    for case in json.loads((REFERENCE / "grasp" / "wrench_balance.json").read_text())["cases"]:
        if case["largest"] is None or not 0 < case["largest"] < 1e3:
            continue
        w = np.array(case["w"]) * case["largest"]
        limit = np.full(case["contacts"], np.inf if case["limit"] is None else case["limit"])
        found = contact.is_resisted(case["W"], np.stack([0.999 * w, 1.001 * w]), case["mu"], limit)
        assert found.status.tolist() == [contact.POSSIBLE, contact.IMPOSSIBLE]
        assert np.abs(np.array(case["W"]) @ found.force[0] + 0.999 * w).max() < 1e-8 * np.linalg.norm(w)


def test_balance_of_many_contacts_is_that_of_a_cone_program():
    # Of 9 to 32: both sides of the largest multiple of w that another program found.
    for case in json.loads((REFERENCE / "grasp" / "many_contacts_balance.json").read_text())["cases"]:
        w = np.array(case["w"]) * case["largest"]
        found = contact.is_resisted(case["W"], np.stack([0.9999 * w, 1.0001 * w]), case["mu"], case["limit"])
        assert found.status.tolist() == [contact.POSSIBLE, contact.IMPOSSIBLE], case["contacts"]
        force = found.force[0].reshape(-1, 3)
        assert np.abs(np.array(case["W"]) @ found.force[0] + 0.9999 * w).max() < 1e-8 * np.linalg.norm(w)
        assert (force[:, 0] <= np.array(case["limit"]) * (1 + 1e-12)).all()
        assert (np.hypot(force[:, 1], force[:, 2]) <= np.array(case["mu"]) * force[:, 0] + 1e-12).all()


def test_lcp_against_a_closed_form():
    found = garra.lcp.solve([[[2.0, 1.0], [1.0, 2.0]]], [[-5.0, -6.0], [1.0, -1.0], [1.0, 1.0]])
    assert np.allclose(found.z, [[4 / 3, 7 / 3], [0, 0.5], [0, 0]])
    assert (found.status == 0).all()


class FromElsewhere:
    """An array of a library that garra does not know."""

    def __init__(self, array: np.ndarray, device: tuple[int, int] = (1, 0)) -> None:
        self.array, self.device = array, device
        self.shape, self.ndim = array.shape, array.ndim

    def __dlpack__(self, **how):
        if self.device != (1, 0):
            raise RuntimeError("Unsupported device in DLTensor.")  # what NumPy says of an array on a GPU
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.device


def test_arrays_of_any_library_come_through_dlpack(problems):
    A, b, mu = (problems[name] for name in ("A", "b", "mu"))
    found = contact.solve(FromElsewhere(A), FromElsewhere(b), FromElsewhere(mu))
    assert np.array_equal(found.c, contact.solve(A, b, mu).c, equal_nan=True)
    with pytest.raises(TypeError, match="b is on a device .* bring it to the host"):
        contact.solve(A, FromElsewhere(b, (2, 0)), mu)


def test_lcp_is_here_too():
    assert contact.lcp is garra.lcp.solve


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_given_forces_that_are_not_finite_are_invalid_input(wrong):
    """b = 0 is solved by the force zero, for which such a force must not be taken."""
    checked = contact.check_solution(np.stack([np.eye(3)] * 2), np.zeros((2, 3)), [[0.5]] * 2, [[0, 0, 0], [wrong, 0, 0]])
    assert [contact.STATUS[k] for k in checked.status] == ["converged", "invalid_input"]
    assert checked.residual[0] == 0 and np.isnan(checked.residual[1]) and np.isnan(checked.c[1]).all()


def test_a_wrench_check_with_a_number_that_is_no_number_is_undecided():
    W = np.ones((2, 6, 3))
    W[1, 2, 1] = np.nan
    assert contact.is_resisted(W, np.zeros((2, 6)), [[0.5]] * 2).status.tolist() == [1, 2]
    assert contact.is_resisted(W[0], np.zeros(6), [np.nan]).status == 2


def test_pushes_on_a_pinch_with_a_third_finger_are_decided() -> None:
    """Two contacts on one line and a third one near their plane, millimeters to centimeters from the center of mass."""
    P = [[-0.017791, 0.049278, 0.00935], [-0.009048, 0.014533, 0.039929], [0.002532, 0.035091, -0.000914]]
    N = [[0.295458, -0.812665, -0.502276], [0.475243, 0.581105, -0.660652], [-0.475243, -0.581105, 0.660652]]
    columns = []
    for p, n in zip(np.array(P), np.array(N), strict=True):
        n = n / np.linalg.norm(n)
        t = np.cross(n, np.eye(3)[np.abs(n).argmin()])
        t /= np.linalg.norm(t)
        E = np.stack([n, t, np.cross(n, t)], axis=1)
        columns.append(np.vstack([E, np.cross(p, E.T).T]))
    W = np.hstack(columns)
    rng, count = np.random.default_rng(0), 20_000
    d = rng.normal(size=(count, 3))
    d *= (0.5 * rng.random(count) ** (1 / 3) / np.linalg.norm(d, axis=1))[:, None]
    w = np.hstack([d + [0, 0, -1.5], np.zeros((count, 3))])
    mu = rng.uniform(0.3, 0.8, (count, 3))
    found = contact.is_resisted(np.broadcast_to(W, (count, 6, 9)), w, mu)
    assert (found.status != contact.UNDECIDED).all()
    held = found.status == contact.POSSIBLE
    assert 0.8 < held.mean() < 0.95
    # Proofs, by NumPy: forces in the cones that balance w; wrenches that no forces in the cones can.
    c = found.force[held].reshape(-1, 3, 3)
    assert (np.linalg.norm(c[..., 1:], axis=-1) <= mu[held] * c[..., 0] * (1 + 1e-9) + 1e-12).all()
    np.testing.assert_allclose(found.force[held] @ W.T, -w[held], atol=1e-8)
    length = np.linalg.norm(W[3:]) / np.linalg.norm(W[:3])
    y = found.wrench[~held] / np.r_[np.ones(3), np.full(3, length)]
    against = (y @ W).reshape(-1, 3, 3)
    # W c = -w cannot be for c_n up to 1e4 |w|, the limit where none is given: y.(W c + w) keeps the sign of y.w.
    value = (y * w[~held]).sum(axis=-1)
    least = np.sign(value)[:, None] * against[..., 0] - mu[~held] * np.linalg.norm(against[..., 1:], axis=-1)
    most = 1e4 * np.linalg.norm(w[~held], axis=1)
    assert (np.abs(value) + most * np.minimum(least, 0).sum(axis=1) > 0).all()
    # The same with everything in millimeters and grams.
    again = contact.is_resisted(np.broadcast_to(W * np.r_[1, 1, 1, 1e3, 1e3, 1e3][:, None], (count, 6, 9)), w, mu)
    np.testing.assert_array_equal(again.status, found.status)


def test_forces_that_one_step_would_mend_are_no_solution():
    # With A = I the step of the certificate solves the problem from anywhere.
    A, b = np.eye(3), [-9.81, 2, 0]
    for c in ([-1.0, 0, 0], [9.81, -2.0001, 0], [9.81, -4.9, 0]):
        found = contact.check_solution(A, b, 0.5, c)
        assert contact.STATUS[found.status] == "stalled"
        assert found.residual == pytest.approx(np.linalg.norm(np.subtract(c, [9.81, -2, 0])) / 9.81)
    assert contact.STATUS[contact.check_solution(A, b, 0.5, [9.81, -2 + 1e-9, 0]).status] == "converged"


def test_an_answer_is_true_where_forces_exist():
    point = np.eye(6)[:, :3]  # one contact at the origin, pressed along x
    assert garra.contact.is_resisted(point, [-1, 0, 0.4, 0, 0, 0], 0.5)
    assert not garra.contact.is_resisted(point, [1, 0, 0, 0, 0, 0], 0.5)
    assert not garra.contact.can_rest(np.eye(3), [-9.81, 0, 6], 0.5, acceleration=0.01)  # 6 > 0.5 * 9.81
    with pytest.raises(ValueError, match="several answers"):
        bool(garra.contact.is_resisted(point, np.ones((2, 6)), 0.5))
