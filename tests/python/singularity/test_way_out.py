"""Motions that lead away from singularities, against central differences of the smallest singular value."""

from __future__ import annotations

import garra
import numpy as np
import pytest
from arrays import require_module
from garra.files import data

require_module()
LENGTH = 0.6  # unit of length of the Jacobian [m]


def sigma(robot, q, length=LENGTH):
    """Smallest singular value that is not 0 everywhere, by NumPy."""
    unit = np.where(robot.prismatic, length, 1.0)
    J = np.repeat([1 / length, 1.0], 3)[:, None] * robot.jacobian(q) * unit
    return np.linalg.svd(J, compute_uv=False)[..., min(robot.n, 6) - 1]


def states(robot, n=200):
    low, high = np.maximum(robot.lower, -3), np.minimum(robot.upper, 3)
    return np.random.default_rng(3).uniform(low + 1e-3, high - 1e-3, (n, robot.n))


@pytest.mark.parametrize("name", ["puma560", "ur10e", "panda", "gen3", "stanford", "scara"])
def test_the_gradient_is_that_of_central_differences(name):
    robot = garra.load(name)
    q, h = states(robot), 1e-6
    out = garra.singularity.way_out(robot, q, length=LENGTH)
    slopes = [(sigma(robot, q + h * e) - sigma(robot, q - h * e)) / (2 * h) for e in np.eye(robot.n)]
    assert np.allclose(out.sigma, sigma(robot, q), atol=1e-12)
    assert np.allclose(out.gradient, np.stack(slopes, axis=-1), atol=1e-7)
    assert np.allclose(out.twist, np.einsum("...ij,...j", robot.jacobian(q), out.motion), atol=1e-12)


def test_sigma_grows_fastest_along_the_motion():
    robot = garra.load("panda")
    q, h = states(robot, 50), 1e-5
    out = garra.singularity.way_out(robot, q, length=LENGTH)
    grown = (sigma(robot, q + h * out.motion) - out.sigma) / h
    assert np.allclose(grown, out.rate, atol=1e-3)
    others = np.random.default_rng(0).normal(size=(200, 1, 7))
    others /= np.linalg.norm(others, axis=-1, keepdims=True)
    assert (((sigma(robot, q + h * others) - out.sigma) / h).max(axis=0) < out.rate + 1e-3).all()


def test_joints_at_limits_stay():
    robot = garra.load("panda")
    q = states(robot, 60)
    for k, row in enumerate(q):
        row[k % 7] = (robot.upper, robot.lower)[k // 7 % 2][k % 7]
    out = garra.singularity.way_out(robot, q)
    blocked = ((out.gradient > 0) & (q >= robot.upper)) | ((out.gradient < 0) & (q <= robot.lower))
    assert blocked.any() and (out.motion[blocked] == 0).all()
    assert np.allclose(np.linalg.norm(out.motion, axis=-1), 1) and (out.rate > 0).all()
    inside = np.where(blocked, 0, out.gradient)
    assert np.allclose(out.motion, inside / np.linalg.norm(inside, axis=-1, keepdims=True))
    wide = garra.singularity.way_out(robot, q, margin=10.0)
    assert (wide.motion == 0).all() and (wide.rate == 0).all()


@pytest.mark.parametrize(
    ("name", "q"),
    [
        ("puma560", [0, 0.5, 0.3, 0.4, 0, 0.1]),  # wrist
        ("ur10e", [0.3, -1, 1, 0.2, 0, 0.5]),  # wrist
        ("ur10e", [0.3, -1, 0, 0.2, 0.7, 0.5]),  # elbow
        ("puma560", [0.3, 0.4, 0.3, 0, 0, 0]),  # wrist, axes 1 to 3 in special places
        ("iiwa14", [0.3, 0.6, 0.1, 0, 0.7, 0.5, 0.5]),  # stretched
    ],
)
def test_at_a_singularity_the_motion_leads_out(name, q):
    robot = garra.load(name)
    out = garra.singularity.way_out(robot, q)
    assert out.sigma < 1e-12 and (out.gradient == 0).all() and np.isclose(np.linalg.norm(out.motion), 1)
    assert np.isclose(sigma(robot, q + 0.1 * out.motion, 1.0), 0.1 * out.rate) and out.rate > 0.01


def test_a_singularity_at_a_limit_is_left_to_the_inside():
    at, puma = [0, 0.5, 0.3, 0.4, 0, 0.1], data("robots/puma560.toml")
    for limits, sign in (("[0, 1.7]", 1), ("[-1.7, 0]", -1)):
        robot = garra.load(puma, overrides=[f"joint.4.limits={limits}"])
        assert sign * garra.singularity.way_out(robot, at).motion[4] > 0.5


def follow(robot, q, twist, *, steps, slow=0.06, stop=0.02, dt=0.01):
    """The loop of docs/howto/arm-servo.md."""
    for _ in range(steps):
        out = garra.singularity.way_out(robot, q)
        qd = robot.rates(q, twist(q)).qd
        if out.gradient @ qd < 0:
            qd = qd * np.clip((out.sigma - stop) / (slow - stop), 0, 1)
        q = q + dt * qd
    return q


def test_a_servo_slows_down_stops_and_moves_out():
    robot = garra.models.puma560()
    start = np.array([0.2, 0.6, -3.3, 0.5, 0.6, 0.1])

    def inward(q):  # turns the tool about axis 5, straight into the aligned wrist
        return -0.3 * robot.jacobian(q)[:, 4]

    q = follow(robot, start, inward, steps=600)
    near = garra.singularity.way_out(robot, q)
    assert 0.02 <= near.sigma < 0.022
    back = follow(robot, q, lambda q: -inward(q), steps=50)
    assert np.isclose(back[4] - q[4], 50 * 0.01 * 0.3, atol=1e-9)  # at full speed
    for _ in range(50):
        q = q + 0.01 * garra.singularity.way_out(robot, q).motion
    assert sigma(robot, q, 1.0) > near.sigma + 0.4 * near.rate


def test_bad_input():
    robot = garra.models.puma560()
    q = np.full((3, 6), 0.3)
    q[1, 2] = np.nan
    out = garra.singularity.way_out(robot, q)
    assert np.isnan(out.motion[1]).all() and np.isnan(out.sigma[1])
    assert np.array_equal(out.motion[0], out.motion[2]) and np.isfinite(out.motion[0]).all()
    assert garra.singularity.way_out(robot, np.zeros((0, 6))).motion.shape == (0, 6)
    with pytest.raises(ValueError, match="not \\[..., 6\\]"):
        garra.singularity.way_out(robot, np.zeros(5))
    text = robot.to_toml().replace('name = "wrist 1"', 'name = "wrist 1"\nfollows = { joint = "elbow", multiplier = 0.5 }')
    with pytest.raises(garra.UsageError, match="coupled joints"):
        garra.singularity.way_out(garra.Chain.from_toml(text), np.zeros(5))
    with pytest.raises(garra.UsageError, match="length"):
        garra.singularity.way_out(robot, q, length=0)


@pytest.mark.parametrize("beside", [0.0, 0.0005, 0.005, 0.05])
def test_the_way_out_of_a_wrist_leads_past_a_near_elbow(beside):
    """No random motion of the same length ends with a larger sigma, whatever the elbow is."""
    robot = garra.load("puma560")
    q = np.array([0, 0.5, -1.5238184 + beside, 0, 0, 0])
    out = garra.singularity.way_out(robot, q)
    random = np.random.default_rng(0).normal(size=(800, 6))
    others = q + 0.1 * random / np.linalg.norm(random, axis=1, keepdims=True)
    sigma = np.linalg.svd(robot.jacobian(np.vstack([q + 0.1 * out.motion, others])), compute_uv=False)[:, 5]
    assert sigma[0] == pytest.approx(0.1 * out.rate, rel=1e-9)
    assert sigma[0] > sigma[1:].max()
