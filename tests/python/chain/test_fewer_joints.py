"""All solutions of arms with fewer than six joints, with two or three sliding joints, and with a helical joint."""

from __future__ import annotations

import json
import subprocess

import garra
import h5py
import numpy as np
import pytest
from arrays import require_module
from program import PROGRAM
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

require_module()
RANDOM = np.random.default_rng(11)


def arm(rows, **types):
    """Chain of standard DH rows (a, alpha, d, theta) without limits; types: of joints, such as j2='type = "prismatic"'."""
    text = 'schema = 1\nrobot = "arm"\nconvention = "dh"\n'
    for i, (a, alpha, d, *theta) in enumerate(rows):
        text += f"[[joint]]\na = {a}\nalpha = {alpha}\nd = {d}\ntheta = {(*theta, 0)[0]}\n{types.get(f'j{i}', '')}\n"
    return garra.Chain.from_toml(text)


def random_rows(count):
    return RANDOM.uniform(-1, 1, (count, 4)) * [0.5, np.pi, 0.5, np.pi]


def away(q, solutions, prismatic):
    """Largest difference of a joint of the solution next to q, whole turns aside."""
    by = solutions - q
    return np.abs(np.where(prismatic, by, np.angle(np.exp(1j * by)))).max(axis=-1).min(initial=np.inf)


def random_q(robot, shape):
    return RANDOM.uniform(-1, 1, (*shape, robot.n)) * np.where(robot.prismatic, 0.4, np.pi)


def test_a_scara_has_two_solutions_of_each_pose_that_it_reaches():
    robot = garra.load("scara")
    q = random_q(robot, (50,))
    pose = robot.forward_kinematics(q)
    found = robot.inverse_kinematics_all(pose, limits=False)
    assert (found.count == 2).all() and found.complete.all() and (found.distance == 0).all()
    for own, target, solutions, unique in zip(q, pose, found.q, found.unique):
        assert away(own, solutions, robot.prismatic) < 1e-6
        assert np.allclose(robot.forward_kinematics(solutions), target, atol=1e-9)
        # The elbow to either side: equal angles of the third link, opposite angles of the elbow.
        assert np.isclose(np.angle(np.exp(1j * solutions[:, 1].sum())), 0, atol=1e-7)
        assert (unique > 0).all()


def test_a_pose_off_the_reachable_set_has_its_distance():
    robot = garra.load("scara")
    q = np.array([0.1, 0.4, 0.1, 0.3])
    pose = np.tile(robot.forward_kinematics(q), (3, 1, 1))
    tilt = np.array([[1, 0, 0], [0, np.cos(0.1), -np.sin(0.1)], [0, np.sin(0.1), np.cos(0.1)]])
    pose[1, :3, :3] = tilt @ pose[1, :3, :3]  # a SCARA cannot tilt its tool: 0.1 rad are missing
    pose[2, 0, 3] = np.nan
    found = robot.inverse_kinematics_all(pose)
    assert found.status.tolist() == [0, 5, 3] and found.count.tolist()[1:] == [0, 0]
    assert found.distance[0] == 0 and np.isclose(found.distance[1], 0.1, rtol=0, atol=1e-9)
    assert robot.inverse_kinematics_all(pose[1]).distance == found.distance[1]


@pytest.mark.parametrize("joints", [4, 5])
def test_no_descent_of_scipy_ends_nearer_to_a_pose_off_the_reachable_set(joints):
    random = np.random.default_rng(joints)
    limits = "limits = [-3.3, 3.3]"
    for _ in range(4):
        rows = random.uniform(-1, 1, (joints, 4)) * [0.5, 3, 0.5, 3]
        robot = arm(rows, **{f"j{i}": limits for i in range(joints)})
        pose = robot.forward_kinematics(random.uniform(-1, 1, joints))
        pose[:3, 3] += 0.1 * random.normal(size=3)
        pose[:3, :3] = pose[:3, :3] @ Rotation.from_rotvec(0.3 * random.normal(size=3)).as_matrix()

        def error(q):
            tool = robot.forward_kinematics(q)  # noqa: B023
            turn = Rotation.from_matrix(pose[:3, :3] @ tool[:3, :3].T).as_rotvec()  # noqa: B023
            return np.concatenate([pose[:3, 3] - tool[:3, 3], turn])  # noqa: B023

        starts = random.uniform(-3.3, 3.3, (20, joints))
        best = min(np.linalg.norm(least_squares(error, q, bounds=(-3.3, 3.3)).fun) for q in starts)
        found = robot.inverse_kinematics_all(pose)
        assert found.count == 0 and found.distance <= best * (1 + 1e-5)
        assert np.isclose(np.linalg.norm(error(robot.inverse_kinematics(pose).q)), found.distance, rtol=1e-9)


@pytest.mark.parametrize("joints", [1, 2, 3, 4, 5])
def test_whole_poses_of_random_arms_of_fewer_joints(joints):
    robot = arm(random_rows(joints))
    q = random_q(robot, (100,))
    pose = robot.forward_kinematics(q)
    found = robot.inverse_kinematics_all(pose)
    for own, target, solutions in zip(q, pose, found.q):
        assert away(own, solutions, robot.prismatic) < 1e-6
        assert np.allclose(robot.forward_kinematics(solutions), target, atol=1e-9)


def test_a_point_and_an_axis_are_what_a_free_roll_leaves():
    robot = garra.load("ur10e")  # joint 5 turns the tool about its z axis
    pose = robot.forward_kinematics(random_q(robot, (40,)))
    whole = robot.inverse_kinematics_all(pose, limits=False)
    found = robot.inverse_kinematics_all(pose, task="point_axis", fixed={5: 0.3}, limits=False)
    assert (found.count == whole.count).all()
    for target, solutions, others in zip(pose, found.q, whole.q):
        for q in others:
            assert away(q[:5], solutions[:, :5], np.zeros(5, bool)) < 1e-6
        back = robot.forward_kinematics(solutions)
        assert np.allclose(back[:, :3, 3], target[:3, 3], atol=1e-9) and (solutions[:, 5] == 0.3).all()
        assert np.allclose(back[:, :3, 2], target[:3, 2], atol=1e-9)


def test_a_point_has_four_solutions_of_three_joints():
    robot = garra.load("puma560")
    fixed = {3: 0.2, 4: 0.7, 5: -0.4}
    q = random_q(robot, (40,))
    q[:, 3:] = list(fixed.values())
    point = robot.forward_kinematics(q)
    point[:, :3, :3] = np.eye(3)  # the orientation does not count
    found = robot.inverse_kinematics_all(point, task="point", fixed=fixed, limits=False)
    assert set(found.count.tolist()) <= {2, 4} and found.complete.mean() > 0.9
    for own, target, solutions, unique in zip(q, point, found.q, found.unique):
        assert away(own, solutions, robot.prismatic) < 1e-6
        assert np.allclose(robot.forward_kinematics(solutions)[:, :3, 3], target[:3, 3], atol=1e-9)
        # No other solution is within the proven distance.
        for k, radius in enumerate(unique):
            apart = np.linalg.norm(np.angle(np.exp(1j * (solutions - solutions[k]))), axis=1)
            assert (np.delete(apart, k) > radius).all()


def test_a_planar_pose_of_three_joints_is_the_law_of_cosines():
    robot = arm([(0.5, 0, 0), (0.4, 0, 0.1), (0.2, 0, 0)])
    q = random_q(robot, (30,))
    pose = robot.forward_kinematics(q)
    pose[:, 2, 3] = 7  # heights do not count
    found = robot.inverse_kinematics_all(pose, task="planar")
    assert (found.count == 2).all()
    for target, solutions in zip(pose, found.q):
        yaw = np.arctan2(target[1, 0], target[0, 0])
        wrist = target[:2, 3] - 0.2 * np.array([np.cos(yaw), np.sin(yaw)])
        elbow = np.arccos((wrist @ wrist - 0.5**2 - 0.4**2) / (2 * 0.5 * 0.4))
        assert np.allclose(np.sort(solutions[:, 1]), [-elbow, elbow], atol=1e-8)


@pytest.mark.parametrize("slides", [(0, 1), (2, 4), (0, 3), (4, 5)])
def test_arms_of_two_sliding_joints(slides):
    robot = arm(random_rows(6), **{f"j{i}": 'type = "prismatic"' for i in slides})
    q = random_q(robot, (200,))
    pose = robot.forward_kinematics(q)
    found = robot.inverse_kinematics_all(pose)
    assert found.count.max() <= 8 and found.complete.mean() > 0.98
    assert (found.count[found.complete] % 2 == 0).all()  # other roots come in complex pairs
    for own, target, solutions in zip(q, pose, found.q):
        assert away(own, solutions, robot.prismatic) < 1e-6
        assert np.allclose(robot.forward_kinematics(solutions), target, atol=1e-9)
    for k in np.flatnonzero(found.complete)[:20]:  # searches from elsewhere end in no other solution
        for start in random_q(robot, (30,)):
            other = robot.inverse_kinematics(pose[k], start, nearest=False)
            if other.success:
                assert away(other.q, found.q[k], robot.prismatic) < 1e-6


@pytest.mark.parametrize("slides", [(0, 1, 2), (3, 4, 5), (0, 2, 4), (1, 2, 5)])
def test_arms_of_three_sliding_joints_have_two_solutions(slides):
    robot = arm(random_rows(6), **{f"j{i}": 'type = "prismatic"' for i in slides})
    q = random_q(robot, (200,))
    pose = robot.forward_kinematics(q)
    found = robot.inverse_kinematics_all(pose)
    assert (found.count == 2).all() and found.complete.mean() > 0.99
    for own, target, solutions in zip(q, pose, found.q):
        assert away(own, solutions, robot.prismatic) < 1e-6
        assert np.allclose(robot.forward_kinematics(solutions), target, atol=1e-9)


@pytest.mark.parametrize("joints", [4, 6])
def test_a_helical_joint_is_searched_within_its_limits(joints):
    screw = 'type = "helical"\npitch = 0.03\nlimits = [-6, 6]'
    rows = [(0.4, 0, 0.2), (0.3, np.pi, 0), (0, 0, 0.1), (0.1, 0, 0)] if joints == 4 else random_rows(6)
    robot = arm(rows, j2=screw)
    q = random_q(robot, (3,))
    pose = robot.forward_kinematics(q)
    found = robot.inverse_kinematics_all(pose)
    assert not found.complete.any()
    for row, (own, target, solutions) in enumerate(zip(q, pose, found.q)):
        turns = np.arange(joints) == 2  # a turn of the screw is another place
        assert away(own, solutions, turns) < 1e-6
        assert np.allclose(robot.forward_kinematics(solutions), target, atol=1e-9)
        assert (abs(solutions[:, 2]) <= 6 + 1e-9).all()
        # What random searches find is in the list.
        starts = RANDOM.uniform(-3, 3, (60, joints)) * np.where(turns, 2, 1)
        other = robot.inverse_kinematics(np.tile(target, (60, 1, 1)), starts, starts=1)
        for one in other.q[other.success]:
            assert away(one, solutions, turns) < 1e-6, (row, one)


def test_joints_are_named_by_their_rows_though_one_is_a_screw():
    screw = 'type = "helical"\npitch = 0.03\nlimits = [-6, 6]'
    robot = arm(random_rows(4), j1=screw, j3='name = "hand"')
    assert robot.joint_names == ["joint 0", "joint 1", "joint 2", "hand"]
    gryma = 'schema = 1\nrobot = "arm"\nconvention = "gryma"\n' + "".join(f"[[joint]]\ntheta = {k}\n" for k in (6, 0, 5))
    assert garra.Chain.from_toml(gryma).joint_names == ["joint 0", "joint 1"]  # 0: fixed


def test_refusals():
    with pytest.raises(garra.UsageError, match="7 joints, not 6"):
        garra.load("iiwa14").inverse_kinematics_all(np.eye(4))
    with pytest.raises(garra.UsageError, match="6 joints, not 5"):
        garra.load("ur5").inverse_kinematics_all(np.eye(4), task="point_axis")
    with pytest.raises(garra.UsageError, match="no such task"):
        garra.load("ur5").inverse_kinematics_all(np.eye(4), task="line")
    with pytest.raises(garra.UsageError, match="has no limits"):
        arm(random_rows(6), j2='type = "helical"\npitch = 0.03').inverse_kinematics_all(np.eye(4))
    with pytest.raises(garra.UsageError, match="six joints"):
        garra.load("scara").path(np.tile(np.eye(4), (2, 1, 1)))


def test_the_program_takes_the_task(tmp_path):
    robot = garra.load("ur5")
    pose = robot.forward_kinematics(random_q(robot, (6,)))
    with h5py.File(tmp_path / "poses.h5", "w") as file:
        file["pose"] = pose
    command = [PROGRAM, "chain", "ik", "ur5", tmp_path / "poses.h5", "-o", tmp_path / "out.h5", "--format", "json"]
    command += ["--task", "point_axis", "--fix", "5=0"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    expected = robot.inverse_kinematics_all(pose, task="point_axis", fixed={5: 0})
    with h5py.File(tmp_path / "out.h5") as file:
        assert (file["q"][:] == np.concatenate(expected.q)[:, :5]).all() and (file["distance"][:] == 0).all()
    assert json.loads(done.stdout)["solutions"] == expected.count.sum()
