"""The regressor of the inertial parameters: against inverse dynamics, a pendulum in closed form, and Pinocchio."""

from __future__ import annotations

import tomllib
from pathlib import Path

import garra
import numpy as np
import pytest
from arrays import require_module
from garra.files import data

require_module()
ROBOTS = sorted(Path(data("robots/puma560.toml")).parent.glob("*.*"))
RANDOM = np.random.default_rng(4)


@pytest.mark.parametrize("file", ROBOTS, ids=lambda path: path.stem)
def test_times_the_parameters_it_gives_inverse_dynamics(file):
    robot = garra.load(file)
    q, qd, qdd = RANDOM.uniform(-1, 1, (3, 4, 5, robot.n))
    joints = tomllib.loads(robot.to_toml())["joint"]
    rotors, damping = ([joint[key] for joint in joints] for key in ("armature", "damping"))
    Y = robot.regressor(q, qd, qdd)
    assert Y.shape == (4, 5, robot.n, 10 * robot.n)
    assert np.allclose(Y @ robot.inertial_parameters + rotors * qdd + damping * qd, robot.rnea(q, qd, qdd), atol=1e-10, rtol=0)


def test_of_a_pendulum_it_is_the_textbook_formula():
    """One joint about -y: tau = Iyy qdd - g (mcx cos q + mcz sin q) for x forward and z up at q = 0."""
    robot = garra.Chain.from_toml(
        'schema = 1\nrobot = "pendulum"\nconvention = "screws"\n[[joint]]\nscrew = [0, 1, 0, 0, 0, 0]\nmass = 2\n'
        "com = [0.3, 0.1, -0.4]\ninertia = [0.1, 0.2, 0.3]\n"
    )
    q, qd, qdd = RANDOM.uniform(-2, 2, (3, 20, 1))
    expected = np.zeros((20, 1, 10))
    expected[..., 1], expected[..., 3], expected[..., 6] = -9.81 * np.cos(q), -9.81 * np.sin(q), qdd
    assert np.allclose(robot.regressor(q, qd, qdd), expected, atol=1e-12)
    about_origin = [2 * 0.17 + 0.1, -2 * 0.03, 2 * 0.25 + 0.2, 2 * 0.12, 2 * 0.04, 2 * 0.1 + 0.3]
    assert np.allclose(robot.inertial_parameters, [2, 0.6, 0.2, -0.8, *about_origin])


def test_a_change_of_one_parameter_changes_the_torques_by_its_column():
    text = garra.load("panda").to_toml()
    before, after = garra.Chain.from_toml(text), garra.Chain.from_toml(text.replace("com = [0.06572,", "com = [0.08,"))
    change = after.inertial_parameters - before.inertial_parameters
    assert np.count_nonzero(change) > 1
    q, qd, qdd = RANDOM.uniform(-1, 1, (3, 30, 7))
    torques = after.rnea(q, qd, qdd) - before.rnea(q, qd, qdd)
    assert np.allclose(before.regressor(q, qd, qdd) @ change, torques, atol=1e-12)


def test_rotors_and_damping_are_outside():
    robot = garra.Chain.from_toml(garra.models.puma560().to_toml().replace("damping = 0 ", "damping = 0.7 "))
    q, qd, qdd = RANDOM.uniform(-1, 1, (3, 30, 6))
    rest = robot.rnea(q, qd, qdd) - robot.regressor(q, qd, qdd) @ robot.inertial_parameters
    rotors = [joint["armature"] for joint in tomllib.loads(robot.to_toml())["joint"]]
    assert np.allclose(rest, rotors * qdd + 0.7 * qd, atol=1e-12)


def test_parameters_can_be_identified_from_torques():
    robot = garra.load("ur10e")
    q, qd, qdd = RANDOM.uniform(-2, 2, (3, 200, 6))
    Y = robot.regressor(q, qd, qdd).reshape(-1, 60)
    fitted = np.linalg.lstsq(Y, robot.rnea(q, qd, qdd).ravel(), rcond=1e-10)[0]
    assert np.linalg.matrix_rank(Y, rtol=1e-10) == 36  # of six joints, the first one vertical and 2 to 4 parallel
    q, qd, qdd = RANDOM.uniform(-2, 2, (3, 10, 6))
    assert np.allclose(robot.regressor(q, qd, qdd) @ fitted, robot.rnea(q, qd, qdd), atol=1e-9)


def test_gravity_that_is_changed_later_counts():
    robot = garra.models.puma560()
    q = RANDOM.uniform(-1, 1, (3, 6))
    robot.regressor(q, q, q)
    robot.gravity_vector = [1, 2, 3]
    assert np.allclose(robot.regressor(q, 0 * q, 0 * q) @ robot.inertial_parameters, robot.gravity(q), atol=1e-12)


def test_coupled_joints_have_columns_too():
    text = garra.models.puma560().to_toml()
    at = text.index('name = "wrist 1"')
    robot = garra.Chain.from_toml(text[:at] + 'follows = { joint = "elbow", multiplier = 0.5 }\n' + text[at:])
    q, qd, qdd = RANDOM.uniform(-1, 1, (3, 7, 5))
    robot = garra.Chain.from_toml("\n".join(line for line in robot.to_toml().splitlines() if not line.startswith("armature")))
    Y = robot.regressor(q, qd, qdd)
    assert Y.shape == (7, 5, 60) and np.allclose(Y @ robot.inertial_parameters, robot.rnea(q, qd, qdd), atol=1e-11)


def test_pinocchio_has_the_same():
    pin = pytest.importorskip("pinocchio", reason="the PyPI package pin is not installed")
    if not hasattr(pin, "computeJointTorqueRegressor"):
        pytest.skip("this module pinocchio is another package")
    model = pin.buildSampleModelManipulator()
    robot = garra.Chain.from_pinocchio(model)
    q, qd, qdd = RANDOM.uniform(-1, 1, (3, model.nv))
    expected = pin.computeJointTorqueRegressor(model, model.createData(), q, qd, qdd)
    assert np.allclose(robot.regressor(q, qd, qdd), expected, atol=1e-10)
    parameters = np.concatenate([body.toDynamicParameters() for body in list(model.inertias)[1:]])
    assert np.allclose(robot.inertial_parameters, parameters, atol=1e-12)


def test_bad_input():
    robot = garra.models.puma560()
    q = np.full((3, 6), 0.2)
    q[1, 0] = np.nan
    Y = robot.regressor(q, np.zeros(6), np.zeros(6))
    assert np.isfinite(Y[[0, 2]]).all() and np.isnan(Y[1]).any()
    assert robot.regressor(np.zeros((0, 6)), np.zeros(6), np.zeros(6)).shape == (0, 6, 60)
    with pytest.raises(ValueError, match="not \\[..., 6\\]"):
        robot.regressor(q, np.zeros(5), np.zeros(6))
