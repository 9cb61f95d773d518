"""Contacts of parallel jaws at hand poses: rectangles, rotations and walls by formulas of their own."""

from __future__ import annotations

import base64
import json
import warnings
from dataclasses import replace
from pathlib import Path

import garra
import numpy as np
import pytest
from arrays import require_module
from garra.grasp import ranking_data, ranking_file
from program import garra as program

require_module()

PANDA = garra.grasp.ParallelJaw.built_in("panda")


def test_gravity_and_the_hand_stay_while_the_object_turns():
    """A box that is tilted about y turns back between flat pads; friction carries m g = 9.81 N by two pads of 20 N."""
    jaw = garra.grasp.ParallelJaw(opening=0.08, pad_width=0.02, pad_height=0.02, tip=0.12, force=20)
    hand = np.diag([1.0, -1, -1, 1])
    hand[2, 3] = 0.11
    for tilt in (0.0, 0.1, 0.3):
        c, s = np.cos(tilt), np.sin(tilt)
        turned = np.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]])  # object in world axes
        gravity = turned[:3, :3].T @ [0, 0, -9.81]
        grasps = garra.grasp.GraspSet.from_poses(jaw, [turned.T @ hand], "box:0.03,0.03,0.08", mass=1.0, gravity=gravity)
        assert grasps.touch.turn[0] == pytest.approx(tilt, abs=0.01)
        in_hand = grasps.touch.hand[0, :3, :3].T @ grasps.arrays["gravity"][0]
        np.testing.assert_allclose(in_hand, [0, 0, 9.81], atol=1e-12)
        needed = garra.grasp.rank(grasps, samples=1).required_friction[0, 1]
        assert needed == pytest.approx(9.81 / 40, abs=2e-3)


def test_an_object_that_a_finger_pushes_aside_is_between_both_pads():
    jaw = garra.grasp.ParallelJaw(opening=0.034, pad_width=0.02, pad_height=0.02, tip=0.12, force=20)
    offset = np.concatenate([np.linspace(-6.9e-3, 6.9e-3, 61), [8e-3]])
    poses = np.tile(np.diag([1.0, -1, -1, 1]), (len(offset), 1, 1))
    poses[:, 0, 3], poses[:, 2, 3] = offset, 0.11
    touch = garra.grasp.GraspSet.from_poses(jaw, poses, "box:0.03,0.03,0.06", mass=0.1).touch
    assert touch.counts() == {"touched": 61, "collision": 1}
    np.testing.assert_allclose(touch.width[:-1], 0.03, atol=1e-9)
    np.testing.assert_allclose(touch.shift[:-1], offset[:-1], atol=1e-9)  # to the middle between the pads
    np.testing.assert_allclose(touch.hand[:-1, 0, 3], 0, atol=1e-9)


def test_a_pad_touches_what_it_overlaps_by_a_cell():
    jaw = garra.grasp.ParallelJaw(opening=0.08, pad_width=0.02, pad_height=0.02, tip=0.12, force=20)
    pose = np.diag([1.0, -1, -1, 1])
    for overlap in (0.001, 0.0015, 0.002, 0.004):
        pose[2, 3] = 0.12 + 0.03 - overlap
        touch = garra.grasp.GraspSet.from_poses(jaw, [pose], "box:0.03,0.03,0.06", mass=0.1).touch
        assert touch.counts() == {"touched": 1}


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
    # A finger 10 mm within the side: the object may be pushed aside by that much. It ends in the middle between the pads.
    pushed = touch([above(x=0.03)], max_push=0.02)
    assert pushed.touch.counts() == {"touched": 1} and pushed.touch.shift[0] == pytest.approx(0.03, abs=1e-9)
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


def test_each_pose_may_have_an_object_of_its_own_size():
    """As the same poses of meshes of these sizes, one at a time."""
    scale, noise = [0.5, 1.0, 1.4], {"draws": 2, "position_noise": 0.001, "rotation_noise": 0.05}
    poses = [above(z=0.1 + 0.03 * s, turn=0.1) for s in scale]
    vertices, faces = box([-0.02, -0.02, -0.03], [0.02, 0.02, 0.03])
    options = noise | {"mass": None, "density": 800.0}
    together = garra.grasp.GraspSet.from_poses(PANDA, poses, (vertices, faces), scale=scale, **options)
    assert together.touch.counts() == {"touched": 6}
    np.testing.assert_array_equal(together.touch.scale, np.repeat(scale, 2))
    for p, s in enumerate(scale):
        alone = garra.grasp.GraspSet.from_poses(PANDA, poses, (s * vertices, faces), **options)
        of, rows = slice(2 * p, 2 * p + 2), slice(*together.first[[2 * p, 2 * p + 2]])
        own = slice(*alone.first[[2 * p, 2 * p + 2]])
        for name in ("point", "normal", "jacobian"):
            step = 3 if name == "jacobian" else 1
            mine, other = (a.arrays[name].reshape(-1, step, a.arrays[name].shape[-1])[r] for a, r in ((together, rows), (alone, own)))
            np.testing.assert_allclose(mine, other, atol=1e-9, err_msg=name)
        for name in ("mass", "com", "inertia"):
            np.testing.assert_allclose(together.arrays[name][of], alone.arrays[name][of], rtol=1e-9, atol=1e-12)
        for name in ("turn", "shift", "width", "collision", "hand"):
            np.testing.assert_allclose(getattr(together.touch, name)[of], getattr(alone.touch, name)[of], atol=1e-9)
        np.testing.assert_allclose(together.solids(2 * p)[0].vertices, s * np.asarray(together.mesh[0]))
    with pytest.raises(ValueError, match=r"expected a number or \[3\]"):
        garra.grasp.GraspSet.from_poses(PANDA, poses, (vertices, faces), mass=0.1, scale=[1.0, 2.0])


def test_the_page_of_a_ranking_has_the_jaw_at_each_grasp(tmp_path: Path):
    """From the file alone: fingers whose inner faces are as far apart as the box is wide."""
    np.savez(tmp_path / "poses.npz", pose=[above(), above(turn=0.2)])
    words = "--mesh", "box:0.04,0.04,0.06", "--mass", "0.1", "--thickness", "0.01", "-o", tmp_path / "set.h5"
    program("grasp", "touch", tmp_path / "poses.npz", *words)
    program("grasp", "rank", tmp_path / "set.h5", "-o", tmp_path / "r.h5", "--no-report", "--set", "sampling.samples=5")
    found = ranking_file.read(tmp_path / "r.h5")
    drawn = ranking_data.build(found)["pictures"]["hand"]
    vertex = np.frombuffer(base64.b64decode(drawn["vertex"]), "<f4").reshape(drawn["count"], 3, 8, 3)
    hands = garra.grasp.GraspSet.from_hdf5(tmp_path / "set.h5")
    assert hands.hand == replace(PANDA, thickness=0.01)
    for picture, grasp in zip(vertex, found.order, strict=True):
        X = hands.touch.hand[grasp]
        own = (picture - X[:3, 3]) @ X[:3, :3]  # hand axes
        half = hands.touch.width[grasp] / 2
        assert half == pytest.approx(0.02, abs=1e-4)
        np.testing.assert_allclose([own[1, :, 0].min(), own[1, :, 0].max()], [half, half + 0.01], atol=1e-6)
        np.testing.assert_allclose([own[2, :, 0].min(), own[2, :, 0].max()], [-half - 0.01, -half], atol=1e-6)
        np.testing.assert_allclose(own[1:, :, 2].max(), PANDA.tip, atol=1e-5)


def test_the_program_takes_a_scale_for_each_pose(tmp_path: Path):
    poses, scale = np.array([above(z=0.115), above(z=0.142)]), np.array([0.5, 1.4])
    np.savez(tmp_path / "poses.npz", pose=poses, scale=scale)
    read = garra.grasp.read_poses(tmp_path / "poses.npz")
    np.testing.assert_array_equal(read.scale, scale)
    program("grasp", "touch", tmp_path / "poses.npz", "--mesh", "box:0.04,0.04,0.06", "--mass", "0.1", "-o", tmp_path / "s.h5")
    written, mine = garra.grasp.GraspSet.from_hdf5(tmp_path / "s.h5"), touch(poses, scale=scale)
    np.testing.assert_array_equal(written.arrays["point"], mine.arrays["point"])
    np.testing.assert_array_equal(written.touch.scale, scale)


def test_curvatures_are_those_of_a_cylinder_along_the_fingers_and_across():
    for scale in (1.0, 2.0):
        poses = [above(z=0.04 * scale + 0.075)]
        upright = touch(poses, "cylinder:0.02,0.08", scale=None if scale == 1 else [scale] * 1, hand=replace(PANDA, opening=0.1))
        np.testing.assert_allclose(upright.arrays["curvature"], np.tile([0, 1 / (0.02 * scale)], (8, 1)), rtol=1e-6, atol=1e-6)
    across = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0.1032], [0, 1, 0, 0], [0, 0, 0, 1]])  # fingers along -y
    mine = touch([across], "cylinder:0.02,0.08", close=False)
    np.testing.assert_allclose(mine.arrays["curvature"], np.tile([50.0, 0], (8, 1)), rtol=1e-6, atol=1e-6)


def test_poses_of_other_axes_have_a_convention():
    """A tool center point between the tips that closes along y, as the page says."""
    tip = np.array([[0.0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, -0.105], [0, 0, 0, 1]])
    given = [above(turn=0.1) @ np.linalg.inv(tip)]
    np.testing.assert_allclose(given[0][:3, 3], [0, 0, 0.11 - 0.105], atol=1e-12)
    mine = touch(given, convention=tip)
    np.testing.assert_allclose(mine.arrays["point"], touch([above(turn=0.1)]).arrays["point"], atol=1e-12)
    with pytest.raises(ValueError, match="convention and poses have the shapes"):
        touch(given, convention=np.eye(3))


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


def test_several_grasps_of_a_jaw_move_in_time_and_are_changed():
    # Two pads of 40 N carry 0.1 kg by friction up to 2 mu F / m, weight included.
    grasps = touch([above(), above(turn=0.1), above(x=0.002)], friction=0.5)
    assert grasps.arrays["jacobian"].ndim == 2
    bound = 2 * 0.5 * grasps.hand.force / 0.1 - 9.81
    for share, held in ((0.9, True), (1.3, False)):
        assert grasps.simulate(1, duration=0.1, acceleration=[0, 0, share * bound]).held == held
    soft = touch([above(), above(turn=0.1)], soft=True)
    assert soft.arrays["angular_jacobian"].shape == (3 * len(soft.arrays["point"]), 1)
    # The friction that carries m g is m g / 2 F.
    heavy = touch([above(), above(turn=0.1)])
    heavy.arrays["mass"][:] = 4.0
    helps = garra.grasp.rank(heavy, friction=garra.uniform(0.2, 0.8, common=True), samples=200, friction_samples=0).what_helps(1)
    p = dict(zip(helps.change, helps.p_held, strict=True))
    needed = 4.0 * 9.81 / (2 * heavy.hand.force)
    assert helps.before == pytest.approx((0.8 - needed) / 0.6, abs=0.1)
    assert p["grip force x 1.2"] == pytest.approx((0.8 - needed / 1.2) / 0.6, abs=0.1)


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
    assert f"{counts['touched']} grasps have the best's P(held), in the order of the wrench that they resist" in answer.stdout
    for moment in ("0.001 N m", "1 mN*m", "0.001 N * m"):  # units as printed
        words = "--no-report", "--set", "sampling.samples=5", "--set", f"load.torque_radius='{moment}'"
        program("grasp", "rank", tmp_path / "set.h5", *words)
    refused = program("grasp", "rank", tmp_path / "set.h5", "--no-report", "--set", "load.torque_radius='1 N s'", expect=2)
    assert "expected a torque" in refused.stderr
    np.savez(tmp_path / "poses.npz", pose=poses[0])
    words = "grasp", "touch", tmp_path / "poses.npz", "--mesh", "box:0.04,0.04,0.06", "-o", tmp_path / "x.h5"
    answer = program(*words, expect=3)
    assert "has the shape [4, 4], not [p, 4, 4]" in answer.stderr


def test_an_open_mesh_needs_a_mass_and_arrays_of_poses_their_shape():
    v = np.array([[0, 0, 0], [0.04, 0, 0], [0, 0.04, 0], [0, 0, 0.04]])
    mesh = v, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2]])  # a tetrahedron without one face
    with pytest.raises(garra.UsageError, match="not watertight"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        garra.grasp.GraspSet.from_poses("panda", [above(z=0.1)], mesh)
    for name in ("com", "gravity"):
        with pytest.raises(ValueError, match=rf"{name} has the shape \[2\], not \[3\] or \[1, 3\]"):
            touch([above(z=0.1)], **{name: [0, 0]})
    assert touch([above(z=0.1)], force=33.0).arrays["torque"].tolist() == [[66.0]]


def test_a_set_without_any_contact_is_ranked_as_such(tmp_path: Path):
    high = touch([above(z=0.5)], "cylinder:0.03,0.1", friction=0.5)
    assert high.touch.counts() == {"no_touch": 1}
    assert garra.grasp.rank(high, samples=10).refused == {"no_contact": 1}
    np.savez(tmp_path / "poses.npz", pose=[above(z=0.5)])
    program("grasp", "touch", tmp_path / "poses.npz", "--mesh", "cylinder:0.03,0.1", "--mass", "0.1", "-o", tmp_path / "s.h5")
    said = program("grasp", "rank", tmp_path / "s.h5", "--set", "contacts.friction=0.5", "-o", tmp_path / "r.h5", "--no-report")
    assert "0 of 1 grasps ranked" in said.stdout


def test_one_more_finger_presses_as_a_pad_does():
    from garra.grasp import what_helps

    jaw = garra.grasp.ParallelJaw(opening=0.08, pad_width=0.02, pad_height=0.02, tip=0.12, force=20)
    pose = np.diag([1.0, -1, -1, 1])
    pose[2, 3] = 0.11
    for soft in (False, True):
        grasps = garra.grasp.GraspSet.from_poses(jaw, [pose], "box:0.03,0.03,0.06", mass=0.1, soft=soft)
        arrays, rows = what_helps.grasp_arrays(grasps, 0)
        assert what_helps._mean_force(what_helps._links(grasps, rows), arrays) == pytest.approx(20)


def test_a_pad_stays_flat_when_it_is_moved():
    """A ball between flat pads needs the same friction wherever the pads touch it; no pad's points slide alone."""
    jaw = garra.grasp.ParallelJaw(opening=0.08, pad_width=0.02, pad_height=0.02, tip=0.12, force=20)
    pose = np.diag([1.0, -1, -1, 1])
    pose[2, 3] = 0.11
    grasps = garra.grasp.GraspSet.from_poses(jaw, [pose], "sphere:0.03", mass=0.5)
    ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.02, 0.115, common=True), samples=50, friction_samples=0)
    helps = ranking.what_helps(0)
    moved = [p for name, p in zip(helps.change, helps.p_held, strict=True) if "moved by" in name]
    assert ranking.p_held[0] == 0 and moved and max(moved) == 0
    with pytest.raises(garra.UsageError, match="slide moves each contact by itself"):
        garra.grasp.rank(grasps, slide=0.001, samples=5)


def cone(sides: int, radius: float = 0.03, height: float = 0.09):
    """Vertices and faces of an upright cone, counterclockwise from outside; a side's middle is at +x."""
    turn = 2 * np.pi * (np.arange(sides) + 0.5) / sides
    rim = np.stack([radius * np.cos(turn), radius * np.sin(turn), np.zeros(sides)], axis=1)
    i, j = np.arange(sides), (np.arange(sides) + 1) % sides
    faces = [np.stack(f, axis=1) for f in ((i, j, np.full(sides, sides)), (j, i, np.full(sides, sides + 1)))]
    return np.concatenate([rim, [[0, 0, height], [0, 0, 0]]]), np.concatenate(faces)


@pytest.mark.parametrize(
    ("shape", "below", "slope"),
    [("sphere:0.03", 0.016, np.arcsin(8 / 30)), ("sphere:0.03", 0.024, np.arcsin(16 / 30)),
     *((cone(n), -0.03, np.arctan(np.cos(np.pi / n) / 3)) for n in (4, 8, 32, 160))],
    ids=["ball 16 mm below its middle", "ball 24 mm below", "pyramid of 4 sides", "of 8", "of 32", "cone"],
)  # fmt: skip
def test_edges_of_pads_press_along_the_normal_of_the_surface(shape, below, slope):
    """Pads squeeze a tapered object out: mu = (F sin a -+ w cos a) / (F cos a +- w sin a) by statics of one pad."""
    jaw = garra.grasp.ParallelJaw(opening=0.08, pad_width=0.016, pad_height=0.016, tip=0.12, force=25)
    pose = np.array([[1.0, 0, 0, 0], [0, 0, 1, -0.112], [0, -1, 0, -below], [0, 0, 0, 1]])  # fingers along y, pads press along x
    mass = 0.1
    grasps = garra.grasp.GraspSet.from_poses(jaw, [pose], shape, mass=mass, cell=2e-4)
    weight = mass * 9.81 / 2 * (1 if below > 0 else -1)  # the ball is pushed up, the cone down
    needed = (25 * np.sin(slope) - weight * np.cos(slope)) / (25 * np.cos(slope) + weight * np.sin(slope))
    assert garra.grasp.rank(grasps, samples=1).required_friction[0, 1] == pytest.approx(needed, rel=0.04)


def test_friction_of_each_point_of_a_pad_is_warned_of():
    pose = np.diag([1.0, -1, -1, 1])
    pose[2, 3] = 0.11
    grasps = garra.grasp.GraspSet.from_poses("panda", [pose, pose], "box:0.04,0.04,0.06", mass=0.1)
    with pytest.warns(UserWarning, match="common=True has one value for all"):
        garra.grasp.rank(grasps, friction=garra.uniform(0.3, 0.9), samples=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        garra.grasp.rank(grasps, friction=garra.uniform(0.3, 0.9, common=True), samples=5)
        soft = garra.grasp.GraspSet.from_poses("panda", [pose, pose], "box:0.04,0.04,0.06", mass=0.1, soft=True)
        garra.grasp.rank(soft, friction=garra.uniform(0.3, 0.9), samples=5)
