"""Contacts of parallel jaws at hand poses: rectangles, rotations and walls by formulas of their own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import garra
import numpy as np
import pytest
from arrays import require_module
from program import garra as program

require_module()

PANDA = garra.grasp.ParallelJaw.built_in("panda")


def above(x: float = 0.0, z: float = 0.11, turn: float = 0.0) -> np.ndarray:
    """Hand that points down at height z above the object's origin and closes along x, turned about z."""
    pose = np.eye(4)
    c, s = np.cos(turn), np.sin(turn)
    pose[:3, :3] = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.diag([1.0, -1, -1])
    pose[:3, 3] = x, 0, z
    return pose


def touch(poses, mesh="box:0.04,0.04,0.06", hand=PANDA, **options):
    return garra.grasp.GraspSet.from_poses(hand, poses, mesh, mass=0.1, **options)


def box(low, high):
    """Vertices and faces of a box, counterclockwise from outside."""
    corners = np.array([[low, high][k >> 0 & 1][0:1] + [low, high][k >> 1 & 1][1:2] + [low, high][k >> 2 & 1][2:3]
                        for k in range(8)], dtype=float)  # fmt: skip
    quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    return corners, np.array([[q[i], q[j], q[k]] for q in quads for i, j, k in ((0, 1, 2), (0, 2, 3))])


def test_the_points_of_a_flat_side_have_the_center_and_moments_of_the_pads_rectangle():
    grasps = touch([above()])
    points = grasps.arrays["point"].reshape(2, 4, 3)
    # The pad covers z = 0.11 - tip .. 0.11 - tip + height and y = -+ width / 2 of the side.
    np.testing.assert_allclose(points.mean(1), [[0.02, 0, 0.0068], [-0.02, 0, 0.0068]], atol=1e-12)
    off = points - points.mean(1, keepdims=True)
    np.testing.assert_allclose((off[..., 1] ** 2).mean(1), PANDA.pad_width**2 / 12, rtol=1e-12)
    np.testing.assert_allclose((off[..., 2] ** 2).mean(1), PANDA.pad_height**2 / 12, rtol=1e-12)
    np.testing.assert_allclose(grasps.arrays["normal"].reshape(2, 4, 3), np.tile([[-1, 0, 0]], (2, 4, 1)) * [[[1]], [[-1]]])
    np.testing.assert_allclose(grasps.arrays["torque"], 2 * PANDA.force)


def test_a_turned_box_turns_back_until_its_sides_lie_on_the_pads():
    for angle in (0.1, -0.25, 0.4):
        grasps = touch([above(turn=angle)], closing_friction=0.0, depth=1e-4, cell=5e-4)
        assert grasps.touch.counts() == {"touched": 1}
        assert grasps.touch.turn[0] == pytest.approx(abs(angle), abs=0.01)
        assert grasps.touch.width[0] == pytest.approx(0.04, abs=3e-4)
        # The hand closes along a side of the box: its x axis in the object's axes.
        assert abs(grasps.touch.hand[0][1, 0]) < 0.01


def test_friction_jams_the_box_earlier_and_a_table_only_lets_it_turn_upright():
    free = touch([above(turn=0.3)], closing_friction=0.0).touch.turn[0]
    assert touch([above(turn=0.3)], closing_friction=0.2).touch.turn[0] < free
    assert touch([above(turn=0.3)], closing_friction=1.5).touch.turn[0] == 0
    assert touch([above(turn=0.3)], closing_friction=0.0, up=[0, 0, 1]).touch.turn[0] == pytest.approx(free, abs=0.02)
    assert touch([above(turn=0.3)], closing_friction=0.0, up=[0, 1, 0]).touch.turn[0] == 0


def test_the_reasons_for_no_contacts_are_told_apart():
    bad = above()
    bad[0, 0] = np.nan
    stretched = above()
    stretched[:3, :3] *= 1.1
    poses = [above(), above(x=0.5), above(z=0.05), bad, stretched, above(x=0.03)]
    grasps = touch(poses)
    names = [garra.grasp.poses.STATUS[s] for s in grasps.touch.status]
    assert names == ["touched", "no_touch", "collision", "bad_pose", "bad_pose", "collision"]
    assert grasps.first.tolist() == [0, 8, 8, 8, 8, 8, 8]
    # A finger 10 mm within the side: the object may be pushed aside by that much.
    pushed = touch([above(x=0.03)], max_push=0.02)
    assert pushed.touch.counts() == {"touched": 1} and pushed.touch.shift[0] == pytest.approx(0.01, abs=1e-9)
    alone = touch(poses[:1])
    np.testing.assert_array_equal(alone.arrays["point"], grasps.arrays["point"])  # others change nothing


def test_a_wall_of_a_cup_is_grasped_and_not_its_hull():
    parts = [box([-0.04, -0.03, 0], [-0.035, 0.03, 0.06]), box([0.035, -0.03, 0], [0.04, 0.03, 0.06])]
    parts.append(box([-0.035, -0.03, 0], [0.035, 0.03, 0.005]))
    vertices = np.concatenate([v for v, _ in parts])
    faces = np.concatenate([f + 8 * k for k, (_, f) in enumerate(parts)])
    grasps = touch([above(x=0.0375, z=0.15)], (vertices, faces))  # three boxes that touch
    assert grasps.touch.counts() == {"touched": 1}
    assert grasps.touch.width[0] == pytest.approx(0.005, abs=1e-9)


def test_pose_errors_have_the_spread_that_was_asked_for():
    draws = 4000
    grasps = touch([above()], "box:0.001,0.04,0.06", draws=draws, position_noise=0.002, rotation_noise=0.0)
    # The hand in object axes: only the shift along x of a free object is taken back.
    off = grasps.touch.hand[:, 1:3, 3] - [0, 0.11]
    assert np.abs(off.std(0) - 0.002).max() < 0.002 * 5 / np.sqrt(2 * draws)
    assert np.abs(off.mean(0)).max() < 0.002 * 5 / np.sqrt(draws)
    again = touch([above()], "box:0.001,0.04,0.06", draws=draws, position_noise=0.002, threads=1)
    np.testing.assert_array_equal(again.arrays["point"], grasps.arrays["point"])
    assert grasps.touch.pose.tolist() == [0] * draws


def test_a_light_box_in_a_firm_grip_holds_and_a_heavy_one_does_not():
    grasps = touch([above()])
    weight = 9.81
    # Two pads of 40 N with friction mu bear 2 mu 40 N at the center of mass.
    for mass, holds in ((0.9 * 2 * 0.5 * 40 / weight, 1), (1.1 * 2 * 0.5 * 40 / weight, 0)):
        centered = garra.grasp.GraspSet.from_poses("panda", [above(z=0.1032)], "box:0.04,0.04,0.06", mass=mass, friction=0.5)
        assert garra.grasp.rank(centered, samples=1, friction_samples=0).p_held[0] == holds
    need = garra.grasp.rank(grasps, friction=0.5, samples=1).required_friction[0, 1]
    assert need == pytest.approx(0.1 * weight / 80, rel=0.05)


def test_wrong_arguments_name_the_argument():
    with pytest.raises(ValueError, match="known jaws are panda"):
        touch([above()], hand="barrett")
    with pytest.raises(ValueError, match="opening = -1"):
        touch([above()], hand=replace(PANDA, opening=-1.0))
    with pytest.raises(ValueError, match=r"poses has the shape \(4, 4\)"):
        touch(above())
    with pytest.raises(ValueError, match="up has the shape"):
        touch([above()], up=[[0, 0, 1], [0, 0, 1]])
    assert len(touch(np.zeros((0, 4, 4)))) == 0


def test_the_program_writes_the_same_set(tmp_path: Path):
    poses = np.array([above(), above(x=0.5), above(turn=0.2)])
    np.savez(tmp_path / "poses.npz", pose=poses)
    answer = program(
        "grasp", "touch", tmp_path / "poses.npz", "--mesh", "box:0.04,0.04,0.06", "--mass", "0.1", "--draws", "3",
        "--position-noise", "0.001", "-o", tmp_path / "set.h5", "--format", "json",
    )  # fmt: skip
    counts = json.loads(answer.stdout)["status"]
    mine = touch(poses, draws=3, position_noise=0.001)
    assert {name: n for name, n in counts.items() if n} == mine.touch.counts()
    read = garra.grasp.GraspSet.from_hdf5(tmp_path / "set.h5")
    np.testing.assert_array_equal(read.arrays["point"], mine.arrays["point"])
    answer = program("grasp", "rank", tmp_path / "set.h5", "--no-report", "--set", "sampling.samples=5", "--format", "json")
    assert json.loads(answer.stdout)["tied"] == counts["touched"]
    answer = program("grasp", "rank", tmp_path / "set.h5", "--no-report", "--set", "sampling.samples=5")
    assert f"{counts['touched']} grasps have the best's P(held), in the order of the friction that they need" in answer.stdout
    np.savez(tmp_path / "poses.npz", pose=poses[0])
    words = "grasp", "touch", tmp_path / "poses.npz", "--mesh", "box:0.04,0.04,0.06", "-o", tmp_path / "x.h5"
    answer = program(*words, expect=3)
    assert "has the shape [4, 4], not [p, 4, 4]" in answer.stderr
