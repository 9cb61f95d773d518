"""All solutions of inverse kinematics from Python and the program."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import re
import subprocess
import sys

import garra
import h5py
import numpy as np
import pytest
from arrays import require_module
from program import PROGRAM

ROOT = pathlib.Path(__file__).resolve().parents[3]
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


def test_arrays_of_poses_are_slices_of_the_rows_of_all():
    robot = garra.load("ur5")
    pose = robot.forward_kinematics(RANDOM.uniform(-3, 3, (5, 6)))
    pose[2, 0, 3] = 50
    found = robot.inverse_kinematics_all(pose)
    assert np.array_equal(np.diff(found.q.first), found.count) and found.count[2] == 0
    for name in ("q", "residual", "unique", "limit_distance", "family"):
        rows = getattr(found, name)
        assert len(rows) == 5 and [len(one) for one in rows] == found.count.tolist()
        assert np.array_equal(np.concatenate(rows), rows.all) and np.array_equal(rows[-1], rows[4])
        assert [len(one) for one in rows[1:4]] == found.count[1:4].tolist()
        assert rows == list(rows) == pickle.loads(pickle.dumps(rows)) and rows != rows[:4]
        assert np.array_equal(np.concatenate(rows + rows[1:]), np.concatenate([*rows, *rows[1:]]))
    with pytest.raises(IndexError):
        found.q[5]
    assert robot.inverse_kinematics_all(pose[0]).q.shape == (found.count[0], 6)


def test_other_libraries_are_compared_where_they_are_installed():
    command, environment = [sys.executable, ROOT / "tools" / "compare_ik", "20"], dict(os.environ, PYTHONPATH=ROOT / "python")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    rows = [line.split(" | ") for line in done.stdout.splitlines()[2:]]
    own = [row for row in rows if row[1].startswith("garra")]
    assert len(own) == 6 and all(float(row[2]) > 2 and float(row[5].split()[0]) < 1e-10 for row in own)


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


def test_a_joint_swept_over_values_gives_a_row_for_each():
    robot = garra.models.iiwa14()
    q = RANDOM.uniform(robot.lower, robot.upper, (2, 7))
    pose, values = robot.forward_kinematics(q), np.append(np.linspace(-2, 2, 9), q[:, 2])
    found = robot.inverse_kinematics_all(pose, fixed={2: values}, limits=False)
    assert found.count.shape == found.complete.shape == (11, 2) and len(found.q) == 22
    assert nearest(q[0], found.q[18]) < 1e-6 and nearest(q[1], found.q[21]) < 1e-6
    for k, solutions in enumerate(found.q):
        assert (solutions[:, 2] == values[k // 2]).all()
        assert np.allclose(robot.forward_kinematics(solutions), pose[k % 2], atol=1e-9)
    single = robot.inverse_kinematics_all(pose[0], fixed={2: values[:3]})
    assert single.count.shape == (3,) and single.q[1].shape == (single.count[1], 7)
    with pytest.raises(ValueError, match=r"fixed: \w+ = 90 is outside its limits, -2\.9\d* to 2\.9"):
        robot.inverse_kinematics_all(pose, fixed={2: 90.0})


@pytest.mark.parametrize("name", ["puma560", "ur10e", "jaco2"])
def test_a_seeded_call_returns_the_nearest_of_all(name):
    robot = garra.load(name)
    q = RANDOM.uniform(np.maximum(robot.lower, -6), np.minimum(robot.upper, 6), (40, 6))
    q0 = np.clip(q + RANDOM.normal(0, 0.7, (40, 6)), robot.lower, robot.upper)
    pose = robot.forward_kinematics(q)
    found = robot.inverse_kinematics(pose, q0)
    assert found.success.all() and np.allclose(robot.forward_kinematics(found.q), pose, atol=1e-9)
    away = np.linalg.norm(found.q - q0, axis=1)
    every = robot.inverse_kinematics_all(pose, windings=True)
    for row, solutions in enumerate(every.q):
        # Turns of joints without limits are free.
        turns = np.where(np.isfinite(robot.lower), 0, 2 * np.pi * np.round((q0[row] - solutions) / (2 * np.pi)))
        assert away[row] < np.linalg.norm(solutions + turns - q0[row], axis=1).min() + 1e-9
    search = robot.inverse_kinematics(pose, q0, nearest=False)
    assert (away < np.linalg.norm(search.q - q0, axis=1) + 1e-6).all()
    assert (away < np.linalg.norm(search.q - q0, axis=1) - 1e-3).any()  # the search alone finds others


@pytest.mark.parametrize("name", ["ur10e", "jaco2"])
def test_seeded_answers_along_a_path_are_continuous(name):
    robot = garra.load(name)
    s = np.linspace(0, 1, 200)[:, None]
    way = np.array([2.5, -1.2, 1.4, 2.7, 0.9, -2.9]) + s * [2.0, 0.5, -0.4, 1.5, 0.6, -2.0]  # beyond half a turn
    pose, q = robot.forward_kinematics(way), way[0]
    for row in range(len(way)):
        q = robot.inverse_kinematics(pose[row], q).q
        assert np.allclose(q, way[row], atol=1e-7)


def test_a_seeded_call_without_solution_gives_the_nearest_pose():
    robot = garra.load("ur10e")
    pose = robot.forward_kinematics(np.full((3, 6), 0.4))
    pose[1, :3, 3] = 5
    found = robot.inverse_kinematics(pose, np.full(6, 0.3), nearest=True)
    assert found.success.tolist() == [True, False, True] and found.position_error[1] > 1
    single = robot.inverse_kinematics(pose[0], np.full(6, 0.3), nearest=True)
    assert single.q.shape == (6,) and np.allclose(single.q, found.q[0])
    assert robot.inverse_kinematics(np.zeros((0, 4, 4)), np.zeros(6), nearest=True).q.shape == (0, 6)
    with pytest.raises(ValueError, match="Give q0"):
        robot.inverse_kinematics(pose, nearest=True)
    with pytest.raises(garra.UsageError, match="7 joints, not 6"):
        garra.models.iiwa14().inverse_kinematics(pose, np.zeros(7), nearest=True)
    assert garra.models.iiwa14().inverse_kinematics(pose[:1], np.zeros(7)).q.shape == (1, 7)  # searched from q0


def test_bad_poses():
    robot = garra.models.ur5()
    pose = np.tile(robot.forward_kinematics(np.full(6, 0.4)), (3, 1, 1))
    pose[1, 0, 3] = np.nan
    pose[2, 0, 3] = 50
    for bad in (np.nan, np.inf):
        pose[1, 0, 1] = bad
        assert robot.inverse_kinematics(pose, np.full((3, 6), 0.3)).success.tolist() == [True, False, False]
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


def test_nan_in_a_start_is_a_status_of_its_pose_alone():
    robot = garra.load("ur5")
    q = np.random.default_rng(3).uniform(-1, 1, (3, 6))
    pose, start = robot.forward_kinematics(q), q.copy()
    start[1, 5] = np.nan
    found = robot.inverse_kinematics_all(pose, q0=start)
    assert found.status.tolist() == [0, 3, 0] and found.count[1] == 0 and not found.complete[1]
    assert all(np.isfinite(one).all() for one in found.q)
    assert robot.inverse_kinematics(pose, start).success.tolist() == [True, False, True]


def test_wide_limits_cost_no_time_and_windings_have_a_bound():
    text = re.sub(r"limits = \[[^\]]*\]", "limits = [-1e15, 1e15]", garra.load("ur10e").to_toml())
    robot = garra.Chain.from_toml(text)
    pose = robot.forward_kinematics(np.full(6, 0.4))
    assert robot.inverse_kinematics_all(pose).count == robot.inverse_kinematics_all(pose, limits=False).count
    with pytest.raises(garra.UsageError, match="the joints are too wide for windings"):
        robot.inverse_kinematics_all(pose, windings=True)
