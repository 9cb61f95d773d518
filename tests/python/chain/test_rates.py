"""Joint rates of tool twists and analytic Jacobians from Python and the program, against NumPy and SciPy."""

from __future__ import annotations

import json
import subprocess

import garra
import h5py
import numpy as np
import pytest
from arrays import require_module
from program import PROGRAM
from scipy.spatial.transform import Rotation

require_module()
RANDOM = np.random.default_rng(3)


@pytest.mark.parametrize("name", ["puma560", "iiwa14", "scara", "exoskeleton"])
def test_rates_are_the_weighted_pseudoinverse(name):
    robot = garra.load(name)
    q, twist = RANDOM.uniform(-2, 2, (5, 8, robot.n)), RANDOM.uniform(-1, 1, (5, 8, 6))
    weights, length = 1 + np.arange(robot.n), 0.2
    row, column = np.repeat([1 / length, 1], 3), 1 / np.sqrt(weights)
    for form, order in (("linear-first", row), ("angular-first", row[::-1])):
        found = robot.rates(q, twist, weights=weights, length=length, near=0, form=form)
        jac = robot.jacobian(q, form=form)
        scaled = order[:, None] * jac * column
        expected = column * np.einsum("...ij,...j", np.linalg.pinv(scaled), order * twist)
        assert np.allclose(found.qd, expected, rtol=1e-8, atol=1e-8)
        assert np.allclose(found.residual, np.einsum("...ij,...j", jac, found.qd) - twist, atol=1e-9)
        assert (found.damping == 0).all() and (found.status == 0).all()


def test_rates_near_a_singularity_are_damped_and_say_so():
    robot = garra.models.puma560()
    q = np.array([[0.3, 0.4, -0.2, 0.1, angle, 0.2] for angle in (0, 1e-6, 1e-3, 0.5)])
    twist = np.array([0.1, 0.2, 0.1, 0.5, -0.3, 0.2])
    free, damped = robot.rates(q, twist, near=0), robot.rates(q, twist, near=0.01, damping=0.01)
    jac = robot.jacobian(q)
    for k, (j, s) in enumerate(zip(jac, np.linalg.svd(jac, compute_uv=False), strict=True)):
        edge = 0.01 * s[0]
        square = (1 - (s[-1] / edge) ** 2) * edge**2 if s[-1] < edge else 0.0
        assert damped.damping[k] == pytest.approx(np.sqrt(square), abs=1e-12)
        assert np.allclose(damped.qd[k], j.T @ np.linalg.solve(j @ j.T + square * np.eye(6), twist), atol=1e-8)
    assert np.abs(free.qd[1]).max() > 1e4 > 200 > np.abs(damped.qd[1]).max()


@pytest.mark.parametrize(("form", "axes"), [("euler-zyx", "ZYX"), ("euler-zyz", "ZYZ")])
def test_the_analytic_jacobian_gives_the_rates_of_scipys_euler_angles(form, axes):
    robot = garra.load("iiwa14")
    q, qd, h = RANDOM.uniform(-1, 1, (50, 7)), RANDOM.uniform(-1, 1, (50, 7)), 1e-6
    rates = np.einsum("nij,nj->ni", robot.jacobian(q, form=form), qd)[:, 3:]
    ahead, behind = (Rotation.from_matrix(robot.fkine(q + s * qd)[:, :3, :3]).as_euler(axes) for s in (h, -h))
    difference = np.angle(np.exp(1j * (ahead - behind))) / (2 * h)
    assert np.allclose(rates, difference, rtol=1e-5, atol=1e-6)


def test_the_program_writes_what_python_gives(tmp_path):
    robot = garra.load("iiwa14")
    q, twist = RANDOM.uniform(-1, 1, (70, 7)), RANDOM.uniform(-1, 1, (70, 6))
    twist[3, 2] = np.nan
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["q"], file["twist"] = q, twist
    done = subprocess.run(
        [PROGRAM, "chain", "rates", "iiwa14", tmp_path / "in.h5", "-o", tmp_path / "out.h5",
         "--weights", "4,4,1,1,1,1,1", "--near", "0.2", "--damping", "0.1", "--length", "0.5", "--format", "json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    summary = json.loads(done.stdout)
    found = robot.rates(q, twist, weights=[4, 4, 1, 1, 1, 1, 1], near=0.2, damping=0.1, length=0.5)
    with h5py.File(tmp_path / "out.h5") as file:
        assert np.array_equal(file["joint_rates"][()], found.qd, equal_nan=True)
        assert np.array_equal(file["rates_damping"][()], found.damping, equal_nan=True)
        assert np.array_equal(file["rates_residual"][()], found.residual, equal_nan=True)
    assert summary["invalid_input"] == 1 and np.isnan(found.qd[3]).all()
    assert 0 < summary["damped"] == (found.damping > 0).sum() < 70


def test_wrong_options_are_named(tmp_path):
    robot = garra.load("iiwa14")
    with pytest.raises(garra.UsageError, match="near"):
        robot.rates(np.zeros(7), np.zeros(6), near=2)
    with pytest.raises(garra.UsageError, match="weight"):
        robot.rates(np.zeros(7), np.zeros(6), weights=[0, 1, 1, 1, 1, 1, 1])
    with pytest.raises(garra.UsageError, match="euler-zyz"):
        robot.jacobian(np.zeros(7), form="euler")
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["q"] = np.zeros((2, 7))
    command = [PROGRAM, "chain", "rates", "iiwa14", tmp_path / "in.h5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "twist" in done.stderr
