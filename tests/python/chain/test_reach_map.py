"""Reach in every branch, with collisions."""

from __future__ import annotations

import garra
import numpy as np
import pytest
from arrays import require_module
from garra.chain.reach_map import _box_apart, _segments_apart

require_module()
RANDOM = np.random.default_rng(4)


def brute(a, b, c, d, n=400):
    s = np.linspace(0, 1, n)
    p, r = a + s[:, None] * (b - a), c + s[:, None] * (d - c)
    return np.linalg.norm(p[:, None] - r[None], axis=2).min()


def test_distances_of_segments_and_boxes():
    for _ in range(60):
        a, b, c, d = RANDOM.uniform(-1, 1, (4, 3))
        if RANDOM.random() < 0.3:
            d = c  # a sphere
        assert np.isclose(_segments_apart(a[None], b[None], c[None], d[None])[0], brute(a, b, c, d), atol=1e-2)
        box = np.sort(RANDOM.uniform(-0.5, 0.5, (2, 3)), axis=0)
        p = a + np.linspace(0, 1, 4000)[:, None] * (b - a)
        exact = np.linalg.norm(p - np.clip(p, *box), axis=1).min()
        assert np.isclose(_box_apart(a[None], b[None], box)[0], exact, atol=1e-3)
    parallel = _segments_apart(*np.array([[[0, 0, 0.0]], [[1, 0, 0]], [[2, 1, 0]], [[0.5, 1, 0]]]))
    assert np.isclose(parallel[0], 1)


def gantry(limits, height=None):
    """Three slides along x, y, z and a spherical wrist without lengths."""
    text = 'schema = 1\nrobot = "gantry"\nconvention = "gryma"\n'
    for theta in (1, 2, 3):
        text += f"[[joint]]\ntheta = {theta}\nlimits = {height or limits if theta == 3 else limits}\n"
    for theta in (6, 5, 6):
        text += f"[[joint]]\ntheta = {theta}\n"
    return garra.Chain.from_toml(text)


def test_the_volume_of_a_gantry_is_that_of_its_limits():
    found = garra.chain.reach_map(gantry([-0.5, 0.5]), [-1] * 3, [1] * 3, samples=4000)
    assert found.interval[0] < 1 < found.interval[1] and found.interval[1] - found.interval[0] < 0.3
    assert set(found.solutions.tolist()) == {0, 2} and (found.free == found.solutions).all()


def test_collisions_with_obstacles_are_those_of_points_along_the_links():
    robot = gantry([-0.5, 0.5], [0.15, 0.5])  # the wrist is free of the lower rails
    box = np.array([[0.1, -0.3, 0.1], [0.3, 0.2, 0.4]])
    where = {"radius": 0.05, "samples": 600}
    s = np.linspace(0, 1, 400)[:, None]
    for obstacle in ({"sphere": [0.2, 0.1, 0.2], "radius": 0.15}, {"box": box}):
        found = garra.chain.reach_map(robot, [-0.5, -0.5, 0.15], [0.5] * 3, obstacles=[obstacle], **where)
        for p, free in zip(found.points, found.free):
            # The links run along the axes from one slide to the next.
            ends = np.array([[p[0], 0, 0], [p[0], p[1], 0], p])
            points = np.concatenate([a + s * (b - a) for a, b in zip(ends, ends[1:])])
            if "box" in obstacle:
                apart = np.linalg.norm(points - np.clip(points, *box), axis=1).min() - 0.05
            else:
                apart = np.linalg.norm(points - obstacle["sphere"], axis=1).min() - 0.2
            if abs(apart) > 2e-3:
                assert (free > 0) == (apart > 0)


def arm(rows):
    """DH rows (a, d, alpha) of turning joints without limits."""
    text = 'schema = 1\nrobot = "arm"\nconvention = "dh"\n'
    return garra.Chain.from_toml(text + "".join(f"[[joint]]\na = {a}\nd = {d}\nalpha = {alpha}\n" for a, d, alpha in rows))


@pytest.mark.parametrize("shoulder", [0.0, 0.3])
def test_an_obstacle_in_which_the_first_link_begins_leaves_no_posture(shoulder):
    q = np.pi / 2
    robot = arm([(shoulder, 0.4, q), (-0.43, 0, 0), (-0.38, 0, 0), (0, 0.11, q), (0, 0.09, -q), (0, 0.08, 0)])
    where = {"low": [-0.6, -0.6, 0.1], "high": [0.6, 0.6, 0.7], "samples": 300}
    # Next to the base, around the column; its middle is on every first link.
    obstacle = {"sphere": [0, 0, 0.02], "radius": 0.03}
    assert garra.chain.reach_map(robot, **where, radius=0.01).volume > 0.05
    found = garra.chain.reach_map(robot, **where, radius=0.01, obstacles=[obstacle])
    assert found.volume == 0 and (found.solutions > 0).any()
    # The first radius is that of the first link: the sphere begins 0.05 m above the base.
    above = {"obstacles": [{"capsule": [[0.2, -1, 0.05], [0.2, 1, 0.05]], "radius": 0.1}]}
    thin, thick = (garra.chain.reach_map(robot, **where, radius=[r] + [0.0] * 6, **above) for r in (0.0, 0.15))
    assert thin.volume > 0 and (shoulder > 0 or thick.volume == 0)


def test_capsules_of_arms_with_coupled_joints_reach_to_the_tool():
    """An obstacle covers all targets, so that the tool is in it."""
    rows = [(0.1, 80, 0.2), (0.3, -50, 0.1), (0.2, 70, 0.15), (0.25, -60, 0.1), (0.1, 75, 0.2), (0.15, -80, 0.1), (0.1, 60, 0.1)]
    text = 'schema = 1\nrobot = "arm"\nconvention = "dh"\ntool = { position = [0.1, 0.1, 0.3] }\n'
    for i, (a, alpha, d) in enumerate(rows):
        follows = 'follows = { joint = "j1", multiplier = -1 }\n' if i == 2 else 'limits = [-2.8, 2.8]\n'
        text += f'[[joint]]\nname = "j{i}"\na = {a}\nalpha = "{alpha} deg"\nd = {d}\n{follows}'
    robot, low, high = garra.Chain.from_toml(text), [0.2, -0.1, 0.2], [0.4, 0.1, 0.4]
    found = garra.chain.reach_map(
        robot, low, high, radius=0, obstacles=[{"sphere": [0.3, 0, 0.3], "radius": 0.18}], samples=60
    )
    assert found.solutions.sum() > 20 and found.free.sum() == 0


def test_the_points_of_three_joints_fill_their_ring():
    text = 'schema = 1\nrobot = "arm"\nconvention = "dh"\n[[joint]]\na = 0.5\n[[joint]]\na = 0.3\n'
    robot = garra.Chain.from_toml(text + '[[joint]]\ntype = "prismatic"\nlimits = [0, 0.4]\n')
    box = {"low": [-1, -1, -0.1], "high": [1, 1, 0.5], "samples": 4000}
    found = garra.chain.reach_map(robot, **box, task="point")
    ring = np.pi * ((0.5 + 0.3) ** 2 - (0.5 - 0.3) ** 2) * 0.4
    assert found.interval[0] < ring < found.interval[1] and set(found.solutions.tolist()) == {0, 2}
    with pytest.raises(garra.UsageError, match='(?s)3 joints move.*task="point"'):
        garra.chain.reach_map(robot, **box)
    with pytest.raises(garra.UsageError, match="5 joints move"):
        garra.chain.reach_map(garra.load("puma560"), **box, fixed={2: 0.1})


def test_a_box_is_given_by_any_opposite_corners_and_obstacles_need_a_radius():
    robot, where = gantry([-0.5, 0.5], [0.15, 0.5]), ([-0.5, -0.5, 0.15], [0.5] * 3)
    low, high = [0.1, -0.3, 0.1], [0.3, 0.2, 0.4]
    one, other = (
        garra.chain.reach_map(robot, *where, radius=0.05, samples=600, obstacles=[{"box": box}])
        for box in ([low, high], [high, low])
    )
    assert one.volume == other.volume and (one.free < one.solutions).any()
    with pytest.raises(garra.UsageError, match="obstacles without the radius of links"):
        garra.chain.reach_map(robot, *where, obstacles=[{"box": [low, high]}])
    with pytest.raises(ValueError, match="a box has no 'radius'"):
        garra.chain.reach_map(robot, *where, radius=0.05, obstacles=[{"box": [low, high], "radius": 1.0}])


def test_branches_of_an_arm():
    robot = garra.load("puma560")
    low, high = [0.1, -0.6, -0.5], [0.8, 0.6, 0.6]
    alone = garra.chain.reach_map(robot, low, high, samples=800)
    assert len(alone.branches) == 8 and all(v <= alone.volume + 1e-12 for v, *_ in alone.branches.values())
    thick = garra.chain.reach_map(
        robot, low, high, samples=800, radius=0.05, obstacles=[{"capsule": [[0.4, -1, 0], [0.4, 1, 0]], "radius": 0.1}]
    )
    assert (thick.points == alone.points).all() and (thick.solutions == alone.solutions).all()
    assert (thick.free <= alone.free).all() and thick.volume < alone.volume
    # A tool within the capsule collides.
    near = np.hypot(thick.points[:, 0] - 0.4, thick.points[:, 2]) < 0.15
    assert near.any() and (thick.free[near] == 0).all()


def test_bad_input():
    with pytest.raises(ValueError, match="one of sphere"):
        garra.chain.reach_map(garra.load("ur5"), [0] * 3, [1] * 3, radius=0.1, obstacles=[{"cone": 1}])
    with pytest.raises(garra.UsageError, match="7 joints"):
        garra.chain.reach_map(garra.load("iiwa14"), [0] * 3, [1] * 3, samples=5)


@pytest.mark.parametrize(
    ("low", "high", "more", "word"),
    [([1, 1, 1], [0, 2, 2], {}, "low < high"), ([np.nan, 0, 0], [1, 1, 1], {}, "finite"),
     ([0, 0, 0], [1, 1, 1], {"radius": -1}, "at least 0"),
     ([0, 0, 0], [1, 1, 1], {"radius": [0.1, 0.2]}, r"not \[7\]"),
     ([0, 0, 0], [1, 1, 1], {"orientation": [0, 0, 0]}, "orientation has the shape"),
     ([0, 0, 0], [1, 1, 1], {"radius": 0.1, "obstacles": [{"sphere": [0, 0, 0], "radius": -1}]}, "above 0"),
     ([0, 0, 0], [1, 1, 1], {"obstacles": [{"sphere": [0, 0, -1, 2], "radius": 1}]}, "center of a sphere")],
)  # fmt: skip
def test_boxes_and_radii_that_mean_nothing_are_refused(low, high, more, word):
    with pytest.raises(garra.UsageError, match=word):
        garra.chain.reach_map(garra.load("puma560"), low, high, samples=10, **more)
