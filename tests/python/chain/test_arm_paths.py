"""Paths of the tool from Python and the program."""

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


def ends(robot, q, step):
    return robot.forward_kinematics(np.array([q, np.add(q, step)]))


def test_the_best_branch_follows_the_path():
    robot = garra.models.ur5()
    q = np.array([0.3, -1.2, 1.4, -0.7, 1.1, 0.2])
    pose = ends(robot, q, [0.2, 0.1, 0, 0, 0.1, 0])
    found = robot.path(pose, q0=q, times=[0, 2])
    best = found.best
    assert best.passes and np.allclose(best.q[0], q, atol=1e-9) and 0 < best.speed_share < 1
    along = robot.forward_kinematics(best.q)[:, :3, 3]
    assert np.allclose(along, (1 - found.s)[:, None] * pose[0, :3, 3] + found.s[:, None] * pose[1, :3, 3], atol=1e-9)
    assert 0 < best.sigma_bound <= best.sigma.min() and best.limit_bound <= best.limit_distance


def test_seven_joints_with_one_fixed():
    robot = garra.models.iiwa14()
    q = np.array([0.1, 0.6, 0.3, -1.2, 0.2, 0.9, 0.1])
    found = robot.path(ends(robot, q, [0.1, 0.05, 0, 0, 0, 0, 0]), fixed={2: 0.3}, q0=q)
    assert found and (found.best.q[:, 2] == 0.3).all() and found.best.q.shape[1] == 7


def test_a_singularity_on_the_path_is_found():
    robot = garra.models.puma560()
    q = np.array([0.2, 0.3, 0.4, 0.5, 0.3, 0.1])
    found = robot.path(ends(robot, q, [0, 0, 0, 0, -0.6, 0]), q0=q)
    own = [b for b in found.branches if b.first == 0 and np.abs(np.angle(np.exp(1j * (b.q[0] - q)))).max() < 1e-6]
    assert [b.end for b in own] == ["singular"]
    assert any(a <= 0.5 <= b for a, b in found.undecided)


def test_the_program_writes_the_same(tmp_path):
    robot = garra.models.ur5()
    pose = ends(robot, [0.3, -1.2, 1.4, -0.7, 1.1, 0.2], [0.2, 0.1, 0, 0, 0.1, 0])
    with h5py.File(tmp_path / "path.h5", "w") as file:
        file["pose"] = pose
    command = [PROGRAM, "chain", "path", "ur5", tmp_path / "path.h5", "-o", tmp_path / "out.h5", "--format", "json"]
    summary = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    expected = robot.path(pose)
    assert summary["branches"] == len(expected.branches) and summary["sigma_bound"] == expected.best.sigma_bound
    with h5py.File(tmp_path / "out.h5") as file:
        assert (file["q"][:] == np.concatenate([b.q for b in expected.branches])).all()


def test_bad_paths():
    robot = garra.models.ur5()
    pose = ends(robot, np.full(6, 0.4), np.full(6, 0.1))
    with pytest.raises(garra.UsageError, match="fewer than two poses"):
        robot.path(pose[:1])
    with pytest.raises(garra.UsageError, match="do not ascend"):
        robot.path(pose, times=[1, 1])
    with pytest.raises(ValueError, match="not \\[k, 4, 4\\]"):
        robot.path(pose[0])


def test_the_best_branch_is_in_the_turn_next_to_q0():
    robot = garra.load("ur10e")  # limits of two turns
    q = np.array([0.3, -1.2, 1.4, -0.7, 1.1, 5.0])
    near = robot.path(ends(robot, q, [0.1, 0.1, 0.1, 0.1, 0.1, 1.2]), q0=q).best
    assert np.allclose(near.q[[0, -1], 5], [5.0, 6.2], atol=1e-9)
    assert near.limit_distance == pytest.approx(2 * np.pi - 6.2, abs=1e-3)
    # Past the limit of 2 pi the path needs another turn, or another branch: whole turns count as distance.
    found = robot.path(ends(robot, q, [0.1, 0.1, 0.1, 0.1, 0.1, 1.4]), q0=q)
    apart = [np.linalg.norm(b.q[0] - q) for b in found.branches if b.passes and b.limit_distance >= 0]
    assert found.best.limit_distance > 0 and np.linalg.norm(found.best.q[0] - q) == pytest.approx(min(apart))


@pytest.mark.parametrize("length", [0.05, 0.4, 0.8])
def test_branches_end_singular_at_the_border_of_the_workspace(length):
    robot = garra.load("ur10e")
    middle = robot.forward_kinematics([0.3, -0.6, 0.0, -0.7, 1.1, 0.2])  # a stretched elbow
    away = np.array([-np.cos(0.3) * np.cos(0.6), -np.sin(0.3) * np.cos(0.6), np.sin(0.6)])
    pose = np.stack([middle, middle])
    pose[:, :3, 3] += np.outer([-length, 0.3 * length], away)
    branches = robot.path(pose).branches
    assert branches and {b.end for b in branches} == {"singular"}


def test_no_branch_is_near_a_singularity_all_along():
    robot = garra.models.puma560()
    pose = np.stack([robot.forward_kinematics([0.3, 0.9084570718054682, -0.2, 0.4, 0.7, 0.1])] * 2)  # over the shoulder
    pose[:, 0, 3] += [-0.1, 0.1]
    branches = robot.path(pose, near_singular=0.02).branches
    assert len(branches) > 8 and all(b.sigma.max() > 0.02 for b in branches)


def test_the_limits_of_a_fixed_joint_count():
    robot = garra.load("iiwa14")
    q = np.array([0.2, 0.6, 0.3, -1.2, 0.4, 0.9, 0.1])
    pose = robot.forward_kinematics(q + np.array([np.zeros(7), np.full(7, 0.05)]))
    best = robot.path(pose, fixed={2: 2.96}).best
    room = np.minimum(best.q - robot.lower, robot.upper - best.q)
    assert best.limit_joint == 2 and best.limit_distance == pytest.approx(room.min()) and best.limit_bound <= room.min()
    assert robot.path(pose, fixed={2: [2.96, 0.3]}, best="limits").best.q[0, 2] == 0.3
    near = robot.path(pose, fixed={2: [0.3, -0.5]}, q0=q).best
    assert near.q[0, 2] == 0.3 and near.cost == pytest.approx(np.linalg.norm(near.q[0] - q), abs=1e-9)
    found = robot.inverse_kinematics_all(pose[0], fixed={2: 2.96})
    assert np.allclose(found.limit_distance, np.minimum(found.q - robot.lower, robot.upper - found.q).min(axis=1))
    with pytest.raises(garra.UsageError, match="what best returned = nan"):
        robot.path(pose, fixed={2: 0.3}, best=lambda branch: np.nan)


def test_splines_of_joint_values_count_between_samples():
    """A step between two rows overshoots the limit by what the cubic's formula says."""
    robot = garra.models.puma560()
    q = np.tile([0.1, 0.5, -0.4, 0.2, 0, 0.3], (101, 1))
    q[:, 4] = robot.upper[4] - 0.9
    q[50:, 4] = robot.upper[4] - 0.001
    u = np.linspace(0, 1, 100_001)
    x = q[49:53, 4]  # from row 50 to 51, whose velocities are half the step and 0
    over = ((2 * u**3 - 3 * u**2 + 1) * x[1] + (u**3 - 2 * u**2 + u) * (x[2] - x[0]) / 2 + (3 * u**2 - 2 * u**3) * x[2]).max()
    found = robot.path(q, kind="spline")
    assert found.best is None and found.branches[0].limit_joint == 4
    assert found.branches[0].limit_distance == pytest.approx(robot.upper[4] - over, abs=1e-9)
    assert found.branches[0].limit_bound == found.branches[0].limit_distance
    at_limit = robot.path(np.tile(robot.upper, (3, 1)), kind="spline").branches[0]
    assert at_limit.limit_distance == 0


def test_errors_in_a_file_of_poses_name_it(tmp_path):
    for command, name in (("ik", "poses"), ("path", "path")):
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            file["pose"] = np.tile(2 * np.eye(4), (2, 1, 1))
        done = subprocess.run([PROGRAM, "chain", command, "ur5", tmp_path / f"{name}.h5"], capture_output=True, text=True, check=False)
        assert done.returncode == 3 and f"{name}.h5: pose 0: its matrix is no rotation" in done.stderr
