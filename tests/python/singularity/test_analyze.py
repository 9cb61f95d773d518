"""Single configurations from Python, against the independently computed examples."""

from __future__ import annotations

import json

import garra
import numpy as np
import pytest
from arrays import REFERENCE, require_module

require_module()

CASES = [c for c in json.loads((REFERENCE / "singularity" / "arms.json").read_text())["cases"] if c["group"] == "named"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_rank_sets_and_escapes(case):
    found = garra.singularity.analyze_screws(np.array(case["screws"]))
    assert found.rank == case["rank"]
    assert found.singular == (case["rank"] < case["generic_rank"])
    if found.singular:
        assert found.dependent_joints == [j - 1 for j in case["responsible"]]
        assert sorted(found.escape_joints) == sorted([j - 1 for j in e["joints"]] for e in case["min_escape_sets"])


def test_a_wrist_that_is_only_close_does_not_name_what_is_singular_elsewhere():
    """Axes 3 to 5 meet; axes 1 and 2 are not parallel, so that only the wrist has a name."""
    wrist = np.array([0.6, 0.1, 0.4])
    lines = (
        ([0, 0, 1], [0, 0, 0]), ([0, 1, 0.3], [0.1, 0, 0.3]), ([0.2, 1, -0.4], [0.4, 0, 0.5]),
        ([1, 0, 0], wrist), ([0, 1, 0], wrist), ([1, 0, 0], wrist),
    )  # fmt: skip
    joints = ""
    for k, (along, point) in enumerate(lines):
        w = np.array(along) / np.linalg.norm(along)
        joints += f'[[joint]]\nname = "j{k}"\nscrew = {[*w.tolist(), *np.cross(point, w).tolist()]}\n'
    head = 'schema = 1\nrobot = "own"\nconvention = "screws"\nhome = { position = [0.7, 0.1, 0.4] }\n'
    robot = garra.Chain.from_toml(head + joints)

    def q(elbow: float, bend: float) -> np.ndarray:
        return np.array([0.3, 0.5, elbow, 0.4, bend, 0.2])

    low, high = -0.8, -0.75  # the determinant changes its sign between them, whatever the wrist's angle
    sign = np.sign(np.linalg.det(robot.jacobian(q(low, 0.4))))
    for _ in range(60):
        middle = 0.5 * (low + high)
        if np.sign(np.linalg.det(robot.jacobian(q(middle, 0.4)))) == sign:
            low = middle
        else:
            high = middle
    for bend in (0.4, 0.007, 0.003):
        assert "wrist" not in str(garra.singularity.analyze(robot, q(low, bend)).nearest)
    assert "wrist" in str(garra.singularity.analyze(robot, q(0.9, 0.0)).nearest)


def test_of_a_robot_joints_are_indices():
    robot = garra.models.puma560()
    found = garra.singularity.analyze(robot, [0.3, -0.7, 0.5, 0.9, 0.0, -0.4])
    assert found.rank == 5 and found.singular
    assert found.minimal_sets == [[3, 5]]  # their axes coincide
    assert found.escape_joints == [[4]]
    assert found.details["sosm"][0]["ssm"] == [3, 5]
    assert found.lost_wrenches.shape == (1, 6)


def test_the_printed_answer_is_short_and_counts_joints_one_way():
    robot = garra.models.puma560()
    near = garra.singularity.analyze(robot, [0.3, -0.7, 0.5, 0.9, 0.02, -0.4])
    assert (near.nearest.type, near.nearest.joints, near.nearest.escape_joint) == ("wrist", [3, 5], 4)
    assert near.nearest.distance == pytest.approx(0.02, rel=1e-6)
    assert near.condition == near.singular_values[0] / near.singular_values[5]
    here = garra.singularity.analyze(robot, [0.3, -0.7, 0.5, 0.9, 0, -0.4])
    assert here.nearest.distance == 0 and here.condition == np.inf
    assert here.tool_speed is None
    per_speed = np.linalg.inv(robot.jacobian(np.array([0.3, -0.7, 0.5, 0.9, 0.02, -0.4])))[:, :3]
    np.testing.assert_allclose(near.tool_speed.joint_speed, np.linalg.norm(per_speed, axis=1), rtol=1e-9)
    assert near.tool_speed.speed == np.inf and near.tool_speed.joint == np.argmax(near.tool_speed.joint_speed)
    assert "tool speed: 1 m/s takes at most" in repr(near)
    q = np.linspace(-1, 1, 60).reshape(10, 6)
    for answer in (near, here, garra.singularity.measure(robot, q), garra.singularity.nearest(robot, q)):
        lines = repr(answer).splitlines()
        assert len(lines) <= 10 and max(map(len, lines)) <= 160 and "array(" not in repr(answer)
    assert "dependent joints: q[3], q[5]" in repr(here) and "lead out: q[4]" in repr(here)
    assert "wrist, 1.14592 deg of joint motion away: q[3], q[5]; q[4] leads out" in repr(near)


def test_the_shoulder_is_singular_where_the_wrist_center_is_over_axis_0():
    robot = garra.models.puma560()  # its tool point is the wrist's center

    def radius(q2):  # of the wrist's center in the plane of the arm
        point = robot.fkine(np.array([0.3, q2, 0.5, 0.9, 0.8, -0.4]))[:3, 3]
        return point[0] * np.cos(0.3) + point[1] * np.sin(0.3)

    low, high = 0.0, 3.0
    assert radius(low) * radius(high) < 0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if radius(low) * radius(middle) > 0 else (low, middle)
    for off in (0.0, 1e-9, 0.01):
        found = garra.singularity.analyze(robot, [0.3, low + off, 0.5, 0.9, 0.8, -0.4])
        assert found.nearest.type == "shoulder"
        assert found.nearest.distance <= off + 1e-9


def test_degrees_in_place_of_radians_are_warned_of():
    robot = garra.models.puma560()
    with pytest.warns(UserWarning, match=r"joint 2 .* 20 deg would be 0\.349066 rad"):
        garra.singularity.analyze(robot, [0, 0, 20, 0, 0, 0])


def test_many_configurations_have_the_distance_of_the_closed_forms():
    robot = garra.models.puma560()
    rng = np.random.default_rng(2)
    q = rng.uniform(-1, 1, (4, 50, 6)) + [0, -0.5, 0.3, 0, 0, 0]
    q[..., 4] = rng.uniform(-0.02, 0.02, (4, 50))
    # The wrist is straight where joint 4 is 0, and turning it leads there; a few are nearer to elbow or shoulder.
    found = garra.singularity.nearest(robot, q)
    assert found.converged.all()
    assert (found.distance < np.abs(q[..., 4]) + 1e-6).all()
    wrist = found.distance > np.abs(q[..., 4]) - 1e-6
    assert wrist.mean() > 0.95
    assert found.dependent_joints.shape == (4, 50, 6)
    assert (found.dependent_joints[wrist] == [False, False, False, True, False, True]).all()
    assert (found.escape_joint[wrist] == 4).all()
    far = garra.singularity.measure(robot, q)
    near = garra.singularity.measure(robot, found.q)
    assert (near.sigma_min < 1e-6).all() and (far.sigma_min > near.sigma_min).all()
    one = garra.singularity.measure(robot, q[1, 7])
    assert one.sigma_min == far.sigma_min[1, 7]
    np.testing.assert_allclose(far.tool, robot.fkine(q)[..., :3, 3], atol=1e-12)
    bad = q[0].copy()
    bad[3, 2] = np.nan
    again = garra.singularity.measure(robot, bad)
    assert np.isnan(again.sigma_min[3])
    np.testing.assert_array_equal(np.delete(again.sigma_min, 3), np.delete(far.sigma_min[0], 3))
    with pytest.raises(ValueError, match="center"):
        garra.singularity.measure(robot, q, center="elbow")


def test_a_map_is_a_study_of_the_arm_at_hand():
    robot = garra.models.puma560()
    found = garra.singularity.map(robot, samples=4096, seed=3, measure={"near": 0.05})
    assert found.job == "singularity"
    assert found.samples == 4096
    # The same share by counting.
    rng = np.random.default_rng(0)
    q = rng.uniform(robot.lower, robot.upper, (20000, 6))
    share = (garra.singularity.measure(robot, q).inverse_condition <= 0.05).mean()
    assert abs(found.probability - share) < 5 * np.sqrt(share / 4096)


def test_dependence_that_no_motion_removes_is_named() -> None:
    parallel = garra.singularity.analyze_screws(np.eye(6)[[0, 0, 1, 2, 3]])
    assert not parallel.singular and parallel.minimal_sets == []
    assert "dependent in every configuration: 1 of 5 joints" in repr(parallel)
    # Here a motion of the joint between them removes it.
    assert "every configuration" not in repr(garra.singularity.analyze_screws(np.eye(6)[[0, 1, 0]]))
