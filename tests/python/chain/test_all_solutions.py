"""All solutions of inverse kinematics from Python and the program."""

from __future__ import annotations

import json
import subprocess

import garra
import h5py
import numpy as np
import pytest
from arrays import require_module
from program import PROGRAM

require_module()
RANDOM = np.random.default_rng(5)


def nearest(q, solutions):
    """Largest difference of a joint of the solution next to q, turns of 360 degrees aside."""
    return np.abs(np.angle(np.exp(1j * (solutions - q)))).max(axis=-1).min()


@pytest.mark.parametrize("name", ["puma560", "ur5"])
def test_the_joint_values_that_made_a_pose_are_among_its_solutions(name):
    robot = garra.load(name)
    q = RANDOM.uniform(-np.pi, np.pi, (4, 5, 6))
    pose = robot.forward_kinematics(q)
    found = robot.inverse_kinematics_all(pose, limits=False)
    assert found.count.shape == found.complete.shape == (4, 5)
    assert len(found.q) == 20 and found.q[3].shape == (found.count.ravel()[3], 6)
    for own, target, solutions in zip(q.reshape(-1, 6), pose.reshape(-1, 4, 4), found.q):
        assert nearest(own, solutions) < 1e-6
        assert np.allclose(robot.forward_kinematics(solutions), target, atol=1e-9)


def test_seven_joints_with_one_fixed():
    robot = garra.models.iiwa14()
    q = RANDOM.uniform(robot.lower, robot.upper)
    pose = robot.forward_kinematics(q)
    for fixed in ({2: q[2]}, {robot.joint_names[2]: q[2]}):
        found = robot.inverse_kinematics_all(pose, fixed=fixed)
        assert nearest(q, found.q) < 1e-6 and (found.q[:, 2] == q[2]).all()
        assert ((found.q >= robot.lower - 1e-9) & (found.q <= robot.upper + 1e-9)).all()
    moved = robot.inverse_kinematics_all(pose, fixed={2: q[2] + 0.01}, q0=q)
    assert np.allclose(robot.forward_kinematics(moved.q), pose, atol=1e-9) and nearest(q, moved.q[:1]) < 0.2
    with pytest.raises(garra.UsageError, match="7 joints, not 6"):
        robot.inverse_kinematics_all(pose)


def test_bad_poses():
    robot = garra.models.ur5()
    pose = np.tile(robot.forward_kinematics(np.full(6, 0.4)), (3, 1, 1))
    pose[1, 0, 3] = np.nan
    pose[2, 0, 3] = 50
    found = robot.inverse_kinematics_all(pose)
    assert found.status.tolist() == [0, 3, 5] and found.count[1:].tolist() == [0, 0]
    with pytest.raises(garra.UsageError, match="pose 0: its matrix is no rotation"):
        robot.inverse_kinematics_all(np.zeros((4, 4)))


def test_the_program_writes_the_same(tmp_path):
    robot = garra.models.ur5()
    q = RANDOM.uniform(-3, 3, (6, 6))
    pose = robot.forward_kinematics(q)
    with h5py.File(tmp_path / "poses.h5", "w") as file:
        file["pose"], file["q0"] = pose, q
    command = [PROGRAM, "chain", "ik", "ur5", tmp_path / "poses.h5", "-o", tmp_path / "out.h5", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    expected = robot.inverse_kinematics_all(pose, q0=q)
    with h5py.File(tmp_path / "out.h5") as file:
        assert (file["q"][:] == np.concatenate(expected.q)).all()
        assert (np.diff(file["first"][:]) == expected.count).all()
    assert json.loads(done.stdout)["solutions"] == expected.count.sum()
