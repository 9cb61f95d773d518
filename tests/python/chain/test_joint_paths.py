"""Paths of joint values, and the choice of the best branch."""

from __future__ import annotations

import json
import subprocess

import garra
import h5py
import numpy as np
import pytest
from arrays import require_module
from garra.turns import turn_matrix
from program import PROGRAM

require_module()
TIMES = np.array([0, 1, 1.5, 4.0])


def curve(q, s, kind):
    """Joint values, and their derivatives by time, in the form of Hermite: values and velocities at the rows."""
    slopes = np.zeros_like(q)
    slopes[1:-1] = (q[2:] - q[:-2]) / (TIMES[2:] - TIMES[:-2])[:, None]
    k = np.minimum(s.astype(int), len(q) - 2)
    u, span = (s - k)[:, None], np.diff(TIMES)[k][:, None]
    a, b, va, vb = q[k], q[k + 1], span * slopes[k], span * slopes[k + 1]
    if kind == "straight":
        return a + u * (b - a), (b - a) / span
    place = a + u**2 * (3 - 2 * u) * (b - a) + u * (1 - u) ** 2 * va - u**2 * (1 - u) * vb
    return place, (6 * u * (1 - u) * (b - a) + (1 - u) * (1 - 3 * u) * va - u * (2 - 3 * u) * vb) / span


def singular_values(robot, q, unit):
    scaled = robot.jacobian(q) * np.where(robot.prismatic, unit, 1)
    scaled[:, :3] /= unit
    return np.linalg.svd(scaled)[1].min(axis=-1)


@pytest.mark.parametrize("kind", ["straight", "spline"])
@pytest.mark.parametrize("name", ["ur5", "stanford", "panda", "scara"])
def test_bounds_hold_between_samples(name, kind):
    robot = garra.load(name)
    low, high = (np.where(np.isfinite(x), x, y) for x, y in ((robot.lower, -3), (robot.upper, 3)))
    proven = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        q = rng.uniform(low, high) + rng.normal(scale=0.05 if seed % 2 else 0.5, size=(4, robot.n))
        found = robot.path(q, kind=kind, times=TIMES)
        branch = found.branches[0]
        assert len(found.branches) == 1 and branch.passes and np.allclose(branch.q, curve(q, found.s, kind)[0], atol=1e-12)
        assert np.allclose(branch.sigma, singular_values(robot, branch.q, found.unit), atol=1e-9)
        s = np.linspace(0, 3, 3001)
        at, speed = curve(q, s, kind)
        sigma = singular_values(robot, at, found.unit)
        assert branch.sigma_bound <= sigma.min() + 1e-12
        decided = np.all([(s < a) | (s > b) for a, b in found.undecided], axis=0) if len(found.undecided) else np.ones(3001, bool)
        assert (sigma[decided] > 0).all() and (branch.sigma_bound > 0) == (len(found.undecided) == 0)
        proven += branch.sigma_bound > 0
        room = np.minimum(at - robot.lower, robot.upper - at).min()
        assert branch.limit_bound <= room + 1e-12 and room - 0.01 < branch.limit_bound <= branch.limit_distance
        share = np.abs(speed / robot._core.velocity_limit).max()
        assert share - 1e-12 <= branch.speed_share <= 1.01 * share
        assert bool(found) == (branch.limit_distance >= 0 and branch.speed_share <= 1)
    assert proven > 0


def test_a_singularity_on_a_path_of_joint_values_is_not_excluded():
    robot = garra.models.puma560()
    q = np.array([[0.2, 0.3, 0.4, 0.5, 0.3, 0.1], [0.2, 0.3, 0.4, 0.5, -0.6, 0.1]])
    found = robot.path(q)
    assert found.best.passes and found.best.sigma_bound == 0
    assert [bool(a <= 1 / 3 <= b) for a, b in found.undecided] == [True] and np.ptp(found.undecided) < 1e-3


def test_the_best_branch_by_each_criterion():
    robot = garra.models.ur5()
    pose = robot.forward_kinematics(np.array([[0.3, -1.2, 1.4, -0.7, 1.1, 0.2], [0.5, -1.1, 1.4, -0.7, 1.2, 0.2]]))
    costs = {
        "sigma": lambda b: -b.sigma_bound,
        "limits": lambda b: -b.limit_distance,
        "travel": lambda b: np.linalg.norm(np.diff(b.q, axis=0), axis=1).sum(),
        "speed": lambda b: b.speed_share,
    }
    chosen = set()
    for name, cost in costs.items():
        found = robot.path(pose, times=[0, 2], best=name)
        assert np.allclose([b.cost for b in found.branches], [cost(b) for b in found.branches], atol=1e-12)
        within = [b for b in found.branches if b.passes and b.limit_distance >= 0 and b.speed_share <= 1]
        assert found.best.cost == min(b.cost for b in within)
        own = robot.path(pose, times=[0, 2], best=cost)
        assert np.array_equal(own.best.q, found.best.q) and np.isclose(own.best.cost, found.best.cost)
        chosen.add(round(float(found.best.q[0, 1]), 6))
    assert len(chosen) > 1


def test_the_best_value_of_the_redundant_joint():
    robot = garra.models.iiwa14()
    q = np.array([0.1, 0.6, 0.3, -1.2, 0.2, 0.9, 0.1])
    pose = robot.forward_kinematics(np.array([q, q + [0.1, 0.05, 0, 0, 0, 0, 0]]))
    values = np.linspace(-0.3, 0.5, 5)
    found = robot.path(pose, fixed={2: values}, best="limits")
    each = [robot.path(pose, fixed={2: value}, best="limits") for value in values]
    assert found.best.cost == min(one.best.cost for one in each if one) and found.best.q[0, 2] in values


def test_the_program_checks_joint_values(tmp_path):
    q = np.array([[0.3, -1.2, 1.4, -0.7, 1.1, 0.2], [0.5, -1.1, 1.4, -0.7, 1.2, 0.2], [0.6, -1.2, 1.3, -0.7, 1.2, 0.3]])
    with h5py.File(tmp_path / "path.h5", "w") as file:
        file["q"], file["time"] = q, [0.0, 2, 3]
    command = [PROGRAM, "chain", "path", "ur5", tmp_path / "path.h5", "--best", "travel", "--format", "json", "--kind"]
    run = subprocess.run([*command, "spline", "-o", tmp_path / "out.h5"], capture_output=True, text=True, check=True)
    expected = garra.models.ur5().path(q, kind="spline", times=[0, 2, 3], best="travel").best
    assert json.loads(run.stdout)["sigma_bound"] == expected.sigma_bound
    with h5py.File(tmp_path / "out.h5") as file:
        assert (file["q"][:] == expected.q).all() and file["cost"][0] == expected.cost
    wrong = subprocess.run([*command, "screw"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "straight, spline" in wrong.stderr


def test_bad_paths_of_joint_values():
    robot = garra.models.ur5()
    q = np.array([np.full(6, 0.4), np.full(6, 0.5)])
    for wrong, text in (({"kind": "screw"}, "straight, spline"), ({"q0": q[0]}, "leave out q0"), ({"best": "time"}, "travel")):
        with pytest.raises(garra.UsageError, match=text):
            robot.path(q, **wrong)
    with pytest.raises(garra.UsageError, match="fewer than two rows"):
        robot.path(q[:1])
    with pytest.raises(garra.UsageError, match="not finite"):
        robot.path(q * [[1], [np.nan]])


def tool_spline(pose, s):
    """Poses by the formula of the page, one after another."""
    turn = [rotation_vector(b[:3, :3] @ a[:3, :3].T) for a, b in zip(pose[:-1], pose[1:])]
    shift, none = np.diff(pose[:, :3, 3], axis=0), np.zeros(3)
    mean = [[(m[j - 1] + m[j]) / (TIMES[j + 1] - TIMES[j - 1]) for m in (turn, shift)] for j in range(1, len(turn))]
    speed = [(none, none), *mean, (none, none)]
    out = []
    for x in s:
        k = min(int(x), len(turn) - 1)
        u, third = x - k, (TIMES[k + 1] - TIMES[k]) / 3
        (w, v), (w_end, v_end) = ([third * part for part in speed[j]] for j in (k, k + 1))
        R = turn_matrix(-w_end) @ pose[k + 1][:3, :3] @ pose[k][:3, :3].T @ turn_matrix(-w)
        a, b, c = 1 - (1 - u) ** 3, u * u * (3 - 2 * u), u**3
        at = np.eye(4)
        at[:3, :3] = turn_matrix(c * w_end) @ turn_matrix(b * rotation_vector(R)) @ turn_matrix(a * w) @ pose[k][:3, :3]
        at[:3, 3] = pose[k][:3, 3] + a * v + b * (shift[k] - v - v_end) + c * v_end
        out.append(at)
    return np.array(out)


def rotation_vector(R):
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    size = np.linalg.norm(axis)
    return axis * (np.arctan2(size, (np.trace(R) - 1) / 2) / size if size > 1e-12 else 1)


@pytest.mark.parametrize("name", ["ur5", "ur10e", "jaco2"])
def test_a_spline_of_the_tool_is_smooth_and_its_bounds_hold(name):
    robot = garra.load(name)
    q = np.array([0.3, -1.2, 1.4, -0.7, 1.1, 0.2])
    pose = robot.forward_kinematics(q + np.array([[0] * 6, [0.1, 0.05, 0.02, 0.1, 0.1, 0.2], [0.2, 0, 0.04, 0, 0, 0], [0] * 6]))
    found = robot.path(pose, kind="spline", times=TIMES, q0=q)
    best = found.best
    assert best.sigma_bound > 0 and np.allclose(robot.forward_kinematics(best.q), tool_spline(pose, found.s), atol=1e-9)
    # Velocities by time on both sides of the poses in between, and 0 at the ends.
    h = 1e-5
    for s, before, after in ((1, 1, 0.5), (2, 0.5, 2.5)):
        left, at, right = tool_spline(pose, [s - h, s, s + h])
        assert np.allclose((at - left) / before, (right - at) / after, atol=3 * h * h)
    first, second, third, fourth = tool_spline(pose, [0, h, 3 - h, 3])
    assert np.allclose(first, second, atol=1e-8) and np.allclose(third, fourth, atol=1e-8)
    dense = robot.path(pose, kind="spline", times=TIMES, q0=q, samples=5000, refinements=0).best
    assert dense.sigma.min() >= best.sigma_bound and dense.limit_distance >= best.limit_bound


def test_a_spline_through_a_singularity_is_undecided_there():
    robot = garra.models.puma560()
    q = np.array([0.2, 0.3, 0.4, 0.5, 0.3, 0.1])
    pose = robot.forward_kinematics(q + np.array([[0] * 6, [0, 0, 0, 0, -0.3, 0], [0, 0, 0, 0, -0.6, 0]]))
    found = robot.path(pose, kind="spline", q0=q)
    assert any(a <= 1 <= b for a, b in found.undecided)
    own = [b for b in found.branches if b.first == 0 and np.abs(b.q[0] - q).max() < 1e-6]
    assert [b.end for b in own] == ["singular"]
