"""Probability that a path passes with displaced joint frames."""

from __future__ import annotations

import garra
import numpy as np
import pytest
from arrays import require_module

require_module()
Q = np.array([[0.3, -1.0, 1.0, 0.4, 0.9, 0.0], [0.5, -1.2, 1.1, 0.2, 0.9, 0.1]])


def test_an_arm_without_displacements_passes_as_the_nominal_one():
    for name in ("ur5", "puma560", "stanford"):
        robot = garra.load(name)
        q = np.clip(Q, robot.lower + 0.1, robot.upper - 0.1)
        pose = robot.forward_kinematics(q)
        nominal = robot.path(pose, q0=q[0])
        found = garra.chain.path_probability(robot, pose, samples=2, q0=q[0])
        assert found.probability == float(bool(nominal)) and found.passes.all() == bool(nominal)
        if nominal:
            assert np.allclose(found.limit_distance, nominal.best.limit_distance, atol=1e-6)
            assert np.allclose(found.sigma_min, nominal.best.sigma.min(), rtol=1e-6)


def test_half_of_the_arms_pass_a_path_that_ends_at_a_limit():
    rows = [(0, 90, 0.089), (-0.425, 0, 0), (-0.392, 0, 0), (0, 90, 0.109), (0, -90, 0.095), (0, 0, 0.082)]
    text = 'schema = 1\nrobot = "arm"\nconvention = "dh"\n'
    for i, (a, alpha, d) in enumerate(rows):
        limits = "[-0.5, 0.5]" if i == 0 else "[-3.1, 3.1]"
        text += f'[[joint]]\na = {a}\nalpha = "{alpha} deg"\nd = {d}\nlimits = {limits}\n'
    robot = garra.Chain.from_toml(text)
    q = np.array([Q[0], [0.5, -1.2, 1.1, 0.2, 0.9, 0.1]])  # joint 0 ends at its limit
    pose = robot.forward_kinematics(q)
    found = garra.chain.path_probability(robot, pose, length=1e-4, angle=1e-4, samples=60, seed=3)
    assert found.interval[0] < 0.5 < found.interval[1] and found.interval[1] - found.interval[0] < 0.3
    assert found.passes.mean() == found.probability


def test_samples_depend_on_seed_and_number_alone():
    robot = garra.load("ur5")
    pose = robot.forward_kinematics(Q)
    few = garra.chain.path_probability(robot, pose, length=1e-3, angle=1e-3, samples=3, q0=Q[0])
    more = garra.chain.path_probability(robot, pose, length=1e-3, angle=1e-3, samples=6, q0=Q[0])
    other = garra.chain.path_probability(robot, pose, length=1e-3, angle=1e-3, samples=3, seed=2, q0=Q[0])
    assert np.allclose(few.limit_distance, more.limit_distance[:3], atol=1e-9)
    assert not np.allclose(few.limit_distance, other.limit_distance, atol=1e-6)
    assert few.probability == 1 and few.interval[0] < 1 and few.interval[1] == 1


def test_bad_input():
    robot = garra.load("ur5")
    pose = robot.forward_kinematics(Q)
    with pytest.raises(garra.UsageError, match="length"):
        garra.chain.path_probability(robot, pose, length=-1)
    with pytest.raises(garra.UsageError):
        garra.chain.path_probability(garra.load("scara"), pose, samples=1)


def test_arms_with_a_screw_are_refused():
    text = 'schema = 1\nrobot = "screw"\nconvention = "dh"\n' + '[[joint]]\na = 0.3\nalpha = "80 deg"\nd = 0.1\n' * 5
    screw = garra.Chain.from_toml(text + '[[joint]]\ntype = "helical"\npitch = 0.05\nlimits = [-3, 3]\n')
    with pytest.raises(garra.UsageError, match="follow"):
        garra.chain.path_probability(screw, screw.forward_kinematics(Q), samples=1)
