"""What inverse_kinematics_all says of each solution on request: its branch, sigma_min, the nearest singularity."""

from __future__ import annotations

import garra
import numpy as np
import pytest
from arrays import require_module
from garra.chain.branches import name_branches

require_module()
RANDOM = np.random.default_rng(8)


def names_of(robot, q):
    return name_branches(robot.jacobian(np.atleast_2d(q), form="screws"))


@pytest.mark.parametrize("name", ["puma560", "ur10e"])
def test_each_solution_has_a_name_of_its_own(name):
    robot = garra.load(name)
    pose = robot.forward_kinematics(RANDOM.uniform(-np.pi, np.pi, (50, 6)))
    found = robot.inverse_kinematics_all(pose, limits=False, details=True)
    assert found.count.max() == 8
    for names in found.branch:
        assert len(set(names)) == len(names) and all(a in "rl" and b in "ud" and c in "nf" for a, b, c in names)


def test_the_letters_of_a_puma_are_those_of_its_geometry():
    robot = garra.load("puma560")
    found = robot.inverse_kinematics_all(
        robot.forward_kinematics(np.array([0.3, 0.4, 0.5, 0.6, 0.7, 0.8])), limits=False, details=True
    )
    for q, name in zip(found.q, found.branch):
        for other, second in zip(found.q, found.branch):
            same = np.abs(np.angle(np.exp(1j * (q - other)))) < 1e-7
            assert same[0] == (name[0] == second[0])  # the first joint is that of the shoulder
            assert same[:3].all() == (name[:2] == second[:2])  # a flipped wrist has the same arm
            assert (np.sign(np.sin(q[4])) == np.sign(np.sin(other[4]))) == (name[2] == second[2])


@pytest.mark.parametrize("joint, letter", [(4, 2), (2, 1)])
def test_a_name_changes_where_the_arm_passes_a_singularity(joint, letter):
    robot = garra.load("ur10e")  # the wrist is aligned at q4 = 0, the arm straight at q2 = 0
    q = np.tile([0.3, -1.1, 0.9, 0.4, 0.8, 0.2], (2, 1))
    q[:, joint] = [-0.01, 0.01]
    before, after = names_of(robot, q)
    assert [k for k in range(3) if before[k] != after[k]] == [letter]


def test_a_branch_of_a_path_keeps_its_name():
    robot = garra.load("puma560")
    ends = robot.forward_kinematics(np.array([[0.2, 0.3, 0.2, 0.4, 0.9, 0.1], [0.6, 0.5, -0.1, 0.6, 1.2, 0.4]]))
    branches = [b for b in robot.path(ends).branches if b.passes]
    names = [set(names_of(robot, b.q)) for b in branches]
    assert len(branches) >= 2 and all(len(n) == 1 for n in names)
    assert len(set.union(*names)) == len(branches)


def test_arms_without_names_have_none():
    for name in ("jaco2", "stanford"):
        robot = garra.load(name)
        found = robot.inverse_kinematics_all(
            robot.forward_kinematics(np.full(6, 0.3)), limits=False, details=True
        )
        assert found.branch == [""] * len(found.q)
    assert robot.inverse_kinematics_all(robot.forward_kinematics(np.full(6, 0.3))).branch is None


def test_singularities_next_to_solutions():
    robot = garra.load("puma560")
    pose = robot.forward_kinematics(np.array([[0.3, 0.4, 0.5, 0.6, 0.05, 0.8], [0.3, 0.4, 0.5, 0.6, 0.9, 0.8]]))
    found = robot.inverse_kinematics_all(pose, limits=False, details=True)
    for q, sigma, distance in zip(found.q, found.sigma_min, found.singular_distance):
        assert np.allclose(sigma, garra.singularity.measure(robot, q).sigma_min, rtol=1e-12)
        aligned = np.abs(np.angle(np.exp(2j * q[:, 4]))) / 2
        assert (distance <= aligned + 1e-6).all() and (sigma > 0).all()
    assert np.isclose(found.singular_distance[0], 0.05, atol=1e-6).sum() == 2  # this arm, and its flipped wrist


@pytest.mark.parametrize("name, families", [("puma560", 1), ("ur10e", 2)])
def test_an_aligned_wrist_is_a_family(name, families):
    robot = garra.load(name)
    q = np.array([0.3, -0.7, 0.8, 0.2, 0.0, 0.1])
    pose = robot.forward_kinematics(q)
    found = robot.inverse_kinematics_all(pose, limits=False)
    assert found.family.sum() == families and (found.unique[found.family] == 0).all()
    if name == "ur10e":  # the links and the short one of the wrist are a crank and a rocker, with the elbow up or down
        assert np.prod(np.sign(found.q[found.family][:, 2])) < 0
    if name == "puma560":
        # Joints 3 and 5 turn about one axis: the member next to q0 has equal parts of the difference.
        q0 = q + [0, 0, 0, 0.5, 0, -0.1]
        near = robot.inverse_kinematics_all(pose, limits=False, q0=q0)
        member = near.q[near.family][0]
        assert np.allclose(member, q + [0, 0, 0, 0.3, 0, -0.3], atol=1e-6)
        assert near.family.sum() == 1 and np.allclose(robot.forward_kinematics(near.q), pose, atol=1e-9)


def test_a_double_solution_at_the_border_is_no_family():
    robot = garra.load("ur10e")
    straight = robot.forward_kinematics(np.array([0.3, -0.7, 0.0, 0.2, 0.9, 0.1]))
    assert not robot.inverse_kinematics_all(straight, limits=False).family.any()


def test_details_of_arms_with_fixed_joints_and_sweeps():
    robot = garra.models.iiwa14()
    q = RANDOM.uniform(robot.lower, robot.upper)
    found = robot.inverse_kinematics_all(robot.forward_kinematics(q), fixed={2: [q[2], 0.1]}, details=True, limits=False)
    assert len(found.sigma_min) == len(found.branch) == 2
    assert all(len(s) == len(solutions) for s, solutions in zip(found.sigma_min, found.q))
