"""Contacts of hands with joints at given poses: boxes that slide, bowls, handles and balls, by formulas of their own."""

from __future__ import annotations

from pathlib import Path

import garra
import numpy as np
import pytest
from arrays import require_module

require_module()
mujoco = pytest.importorskip("mujoco")

from garra.grasp import ranking_report  # noqa: E402
from garra.grasp.poses import STATUS  # noqa: E402

# Two pads of 20 x 40 mm whose inner faces are 90 mm apart at 0; a positive joint value closes.
TWO_PADS = """
<mujoco>
  <worldbody>
    <body name="palm">
      <geom type="box" size="0.06 0.02 0.01"/>
      <body name="left" pos="-0.05 0 0.08">
        <joint name="l" type="slide" axis="1 0 0" range="-0.02 0.04"/><geom type="box" size="0.005 0.01 0.02"/>
      </body>
      <body name="right" pos="0.05 0 0.08">
        <joint name="r" type="slide" axis="-1 0 0" range="-0.02 0.04"/><geom type="box" size="0.005 0.01 0.02"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
BOX = "box:0.06,0.04,0.05"


def hand():
    return mujoco.MjModel.from_xml_string(TWO_PADS)


def at(x: float = 0.0, z: float = -0.08) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = x, 0, z
    return pose


def touch(poses, q, mesh=BOX, **options):
    return garra.grasp.GraspSet.from_poses(hand(), poses, mesh, joints=q, mass=0.1, **options)


@pytest.mark.parametrize("gap", [0.003, 0.0, -0.004])
def test_pads_that_hover_or_penetrate_by_millimeters_move_until_they_touch(gap):
    grasps = touch([at()], [0.015 - gap, 0.015 - gap])
    assert grasps.touch.counts() == {"touched": 1}
    assert grasps.touch.distance[0] == pytest.approx(gap, abs=1e-9)
    assert grasps.touch.collision[0] == pytest.approx(max(-gap, 0), abs=1e-9)
    np.testing.assert_allclose(grasps.touch.joints[0], 0.015, atol=2e-4)
    points, normals = grasps.arrays["point"].reshape(2, 4, 3), grasps.arrays["normal"].reshape(2, 4, 3)
    np.testing.assert_allclose(points[..., 0], [[-0.03] * 4, [0.03] * 4], atol=1e-9)
    np.testing.assert_allclose(normals, np.tile([[[1.0, 0, 0]], [[-1.0, 0, 0]]], (1, 4, 1)), atol=1e-9)
    # The patch is the pad: center and second moments of a rectangle of 20 x 40 mm, from random cells.
    np.testing.assert_allclose(points.mean(1)[:, 1:], 0, atol=3e-3)
    np.testing.assert_allclose(points.std(1)[:, 1:], np.tile([0.02, 0.04], (2, 1)) / np.sqrt(12), rtol=0.25)
    assert grasps.contact_names[0] == "left" and grasps.contact_names[4] == "right"


def test_each_pose_may_have_an_object_of_its_own_size():
    """As the same poses of boxes of these sizes, one at a time."""
    scale, q = [0.8, 1.2], [[0.015 + 0.006] * 2, [0.015 - 0.006] * 2]
    together = touch([at(), at()], q, scale=scale, points=1)
    assert together.touch.counts() == {"touched": 2}
    for p, s in enumerate(scale):
        alone = touch([at(), at()], q, "box:" + ",".join(str(s * x) for x in (0.06, 0.04, 0.05)), points=1)
        rows, own = (slice(*g.first[[p, p + 1]]) for g in (together, alone))
        for name in ("point", "normal"):
            np.testing.assert_allclose(together.arrays[name][rows], alone.arrays[name][own], atol=1e-8)
        np.testing.assert_allclose(together.arrays["inertia"][p], alone.arrays["inertia"][p], rtol=1e-9)
        np.testing.assert_allclose(together.touch.joints[p], alone.touch.joints[p], atol=1e-8)


def test_reasons_for_no_contacts_are_told_apart_and_leave_other_poses_alone():
    bad = at()
    bad[0, 0] = 2
    poses = [at(), at(x=0.5), bad, at(), at()]
    q = np.array([[0.014, 0.014], [0.014, 0.014], [0.014, 0.014], [0.05, 0.014], [0.022, 0.015]])
    grasps = touch(poses, q)
    assert [STATUS[s] for s in grasps.touch.status] == ["touched", "no_touch", "bad_pose", "joint_limits", "collision"]
    assert grasps.touch.collision[4] == pytest.approx(0.007, abs=1e-9)
    assert np.diff(grasps.first).tolist() == [8, 0, 0, 0, 0]
    alone = touch(poses[:1], q[:1])
    np.testing.assert_array_equal(alone.arrays["point"], grasps.arrays["point"])
    ranking = garra.grasp.rank(grasps, friction=0.5, samples=10)
    assert ranking.refused == {"no_contact": 4} and ranking.p_held[0] == 1
    assert "(1 no touch, 1 collision, 1 bad pose, 1 joint limits)" in repr(ranking)
    rows = ranking_report._refused(ranking._found(""))
    why = ["no touch", "collision", "bad pose", "joint limits"]
    assert [row[:2] + row[3:] for row in rows] == [[f"no contact: {w}", "1", str(g)] for w, g in zip(why, (1, 4, 2, 3), strict=True)]


def tube(outer, inner, low, high, n=48, floor=0.0):
    """A cup: closed surface of revolution with a wall; `floor` above `low`."""
    angle = 2 * np.pi * np.arange(n) / n
    ring = lambda r, z: np.stack([r * np.cos(angle), r * np.sin(angle), np.full(n, z)], axis=1)  # noqa: E731
    rings = [ring(outer, low), ring(outer, high), ring(inner, high), ring(inner, floor)]
    vertices = np.concatenate([*rings, [[0, 0, low], [0, 0, floor]]])
    k, k1 = np.arange(n), (np.arange(n) + 1) % n
    faces = [np.stack([a, b, c], 1) for s in range(3) for a, b, c in
             ((s * n + k, s * n + k1, s * n + n + k1), (s * n + k, s * n + n + k1, s * n + n + k))]  # fmt: skip
    faces += [np.stack([np.full(n, 4 * n), k1, k], 1), np.stack([np.full(n, 4 * n + 1), 3 * n + k, 3 * n + k1], 1)]
    return vertices, np.concatenate(faces)


def test_a_finger_in_a_bowl_touches_nothing_and_one_at_its_wall_touches_from_within():
    bowl = tube(0.05, 0.045, 0.0, 0.06, floor=0.005)
    ball = """<mujoco><worldbody><body name="finger"><joint name="x" type="slide" axis="1 0 0" range="-0.1 0.1"/>
              <geom type="sphere" size="0.01"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(ball)
    pose = np.eye(4)
    pose[2, 3] = 0.03  # in the middle of the bowl: within its convex hull, 35 mm from its wall
    grasps = garra.grasp.GraspSet.from_poses(model, [pose] * 2, bowl, joints=[[0.0], [0.033]], mass=0.1, base=0)
    assert [STATUS[s] for s in grasps.touch.status] == ["no_touch", "touched"]
    # The wall is a prism of 48 sides, whose faces are up to r (1 - cos(pi / 48)) nearer than the circle.
    assert grasps.touch.distance[1] == pytest.approx(0.045 - 0.033 - 0.01, abs=3e-4)
    np.testing.assert_allclose(grasps.arrays["point"][:, 0], 0.045, atol=1e-3)
    assert (grasps.arrays["normal"][:, 0] > 0.99).all()  # into the wall, outward from the axis


def test_a_handle_is_grasped_through_its_hole():
    # A square ring: a pad in the hole, the other outside of the bar.
    parts = []
    for low, high in (((-0.04, -0.01, -0.04), (-0.03, 0.01, 0.04)), ((0.03, -0.01, -0.04), (0.04, 0.01, 0.04)),
                      ((-0.03, -0.01, 0.03), (0.03, 0.01, 0.04)), ((-0.03, -0.01, -0.04), (0.03, 0.01, -0.03))):  # fmt: skip
        corners = np.array([[(low, high)[k & 1][0], (low, high)[k >> 1 & 1][1], (low, high)[k >> 2 & 1][2]] for k in range(8)])
        parts.append(corners)
    quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    one = np.array([[q[i], q[j], q[k]] for q in quads for i, j, k in ((0, 1, 2), (0, 2, 3))])
    ring = np.concatenate(parts), np.concatenate([one + 8 * k for k in range(4)])
    # From the side of y: the bar at x = -0.035 stands between the pads.
    pose = np.eye(4)
    pose[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    pose[:3, 3] = -0.035, -0.08, 0
    with pytest.warns(UserWarning, match="watertight"):
        grasps = garra.grasp.GraspSet.from_poses(hand(), [pose], ring, joints=[0.039, 0.039], mass=0.1)
    assert grasps.touch.counts() == {"touched": 1}
    assert sorted(set(grasps.arrays["point"][:, 0].round(4))) == [-0.04, -0.03]


def test_targets_and_gains_of_servos_are_the_grip():
    weight = 9.81
    for share, holds in ((0.85, 1), (1.15, 0)):
        force = 10.0
        mass = share * 2 * 0.5 * force / weight
        grasps = garra.grasp.GraspSet.from_poses(
            hand(), [at()], BOX, joints=[0.015, 0.015], squeeze=[0.115, 0.115], stiffness=force / 0.1, mass=mass, friction=0.5
        )
        np.testing.assert_allclose(grasps.arrays["torque"], force, rtol=3e-3)
        assert grasps.arrays["jacobian"].shape == (24, 2)
        np.testing.assert_allclose(grasps.arrays["jacobian"].reshape(8, 3, 2)[0], [[1, 0], [0, 0], [0, 0]], atol=1e-12)
        assert garra.grasp.rank(grasps, samples=1, friction_samples=0).p_held[0] == holds
    with pytest.raises(ValueError, match="squeeze needs stiffness"):
        touch([at()], [0.015, 0.015], squeeze=[0.1, 0.1])


def test_soft_contacts_bear_the_moment_of_their_patch():
    grasps = touch([at()], [0.015, 0.015], soft=True, cell=1e-3, depth=1e-3)
    assert len(grasps.arrays["point"]) == 2
    # A disk with the moments of a rectangle of 20 x 40 mm: a^2 / 2 = (20^2 + 40^2) / 12.
    radius = 2 / 3 * np.sqrt(2 * (0.02**2 + 0.04**2) / 12)
    np.testing.assert_allclose(grasps.arrays["torsion_radius"], radius, rtol=0.06)


def test_noise_moves_the_hand_and_its_joints_and_is_the_same_for_any_threads():
    options = {"draws": 40, "position_noise": 0.002, "joint_noise": 0.001}
    grasps = touch([at()], [0.015, 0.015], **options)
    off = grasps.touch.hand[:, :3, 3] - [0, 0, -0.08]
    assert np.abs(off.std(0) / 0.002 - 1).max() < 0.4
    assert grasps.touch.distance.std() > 3e-4
    again = touch([at()], [0.015, 0.015], threads=1, **options)
    np.testing.assert_array_equal(again.arrays["point"], grasps.arrays["point"])
    assert grasps.arrays["pose_number"].tolist() == [0] * 40


def test_files_of_models_and_names_of_joints_are_taken(tmp_path: Path):
    path = tmp_path / "hand.xml"
    path.write_text(TWO_PADS)
    by_name = garra.grasp.GraspSet.from_poses(path, [at()] * 2, BOX, joints={"r": [0.015, 0.013], "l": 0.015}, mass=0.1)
    by_order = touch([at()] * 2, [[0.015, 0.015], [0.015, 0.013]])
    np.testing.assert_array_equal(by_name.arrays["point"], by_order.arrays["point"])
    by_name.save(tmp_path / "set.h5")
    again = garra.grasp.GraspSet.from_hdf5(tmp_path / "set.h5")
    np.testing.assert_array_equal(again.touch.joints, by_name.touch.joints)

    urdf = tmp_path / "hand.urdf"
    link = '<link name="{0}"><collision><geometry><box size="{1}"/></geometry></collision><inertial><mass value="0.1"/>'
    link += '<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    joint = '<joint name="{0}" type="prismatic"><parent link="palm"/><child link="{1}"/><origin xyz="{2} 0 0.08"/>'
    joint += '<axis xyz="{3} 0 0"/><limit lower="-0.02" upper="0.04" effort="1" velocity="1"/></joint>'
    urdf.write_text(
        '<robot name="hand">' + link.format("palm", "0.12 0.04 0.02") + link.format("left", "0.01 0.02 0.04")
        + link.format("right", "0.01 0.02 0.04") + joint.format("l", "left", -0.05, 1) + joint.format("r", "right", 0.05, -1)
        + "</robot>"
    )  # fmt: skip
    from_urdf = garra.grasp.GraspSet.from_poses(urdf, [at()] * 2, BOX, joints={"r": [0.015, 0.013], "l": 0.015}, mass=0.1)
    np.testing.assert_allclose(from_urdf.arrays["point"], by_order.arrays["point"], atol=1e-12)


def test_wrong_arguments_name_the_argument():
    with pytest.raises(ValueError, match="'thumb' is none of the hand's joints: l, r"):
        touch([at()], {"thumb": [0.1]})
    with pytest.raises(ValueError, match=r"joints has the shape \(3,\), not \[1, 2\]"):
        touch([at()], [0, 0, 0])
    with pytest.raises(ValueError, match="suction grippers hold by a pressure difference"):
        garra.grasp.GraspSet.from_poses("single_suction_cup_30mm", [at()], BOX)
    with pytest.raises(ValueError, match="joints: a parallel jaw has none"):
        garra.grasp.GraspSet.from_poses("panda", [at()], BOX, joints=[0.1])
    with pytest.raises(garra.Error, match=r"absent\.xml"):
        garra.grasp.GraspSet.from_poses("absent.xml", [at()], BOX)
    with pytest.raises(ValueError, match="no geom that collides"):
        model = mujoco.MjModel.from_xml_string(TWO_PADS.replace("<geom ", '<geom contype="0" conaffinity="0" '))
        garra.grasp.GraspSet.from_poses(model, [at()], BOX)


def test_pictures_show_the_hand_where_it_touches(monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    grasps = touch([at()] * 2, [[0.012, 0.012], [0.015, 0.015]])
    solids = {solid.name: solid for solid in grasps.solids(0)}
    assert list(solids) == ["object", "palm", "left", "right"]
    # Closed until the pads lie on the box, whose sides are at -+30 mm.
    assert solids["left"].vertices[:, 0].max() == pytest.approx(-0.03, abs=2e-4)
    assert solids["right"].vertices[:, 0].min() == pytest.approx(0.03, abs=2e-4)
    assert len(grasps.plot(1).collections) == 4 + 8 + 1  # bodies, cones, points
    jaw = garra.grasp.GraspSet.from_poses("panda", [np.diag([1.0, -1, -1, 1])], "box:0.04,0.04,0.06")
    assert [solid.name for solid in jaw.solids(0)][1:] == ["palm", "finger at +x", "finger at -x"]

    from types import SimpleNamespace
    from unittest.mock import MagicMock

    viser = MagicMock()
    monkeypatch.setitem(__import__("sys").modules, "viser", SimpleNamespace(ViserServer=viser))
    viewer = garra.viewer.show(grasps, 1)
    drawn = [call.args[0] for call in viser.return_value.scene.add_mesh_simple.call_args_list]
    assert {"/object/0", "/hand/1", "/hand/3", "/cones/5"} <= set(drawn)
    with pytest.raises(garra.UsageError, match="grasp = 2"):
        viewer.look(2)


def test_a_grasp_in_time_slides_by_the_law_of_friction():
    force, mass, mu = 10.0, 0.1, 0.5
    grasps = garra.grasp.GraspSet.from_poses(
        hand(), [at()], BOX, joints=[0.015, 0.015], torque=[force, force], mass=mass, friction=mu, cell=5e-4
    )
    assert grasps.simulate(duration=0.1).held
    np.testing.assert_allclose(grasps.simulate(duration=0.02).force[-1][:, 0].sum(), 2 * force, rtol=1e-3)
    # The base accelerates upward: 2 mu F = 10 N carry a box of 0.1 kg up to 100 m/s^2, weight included.
    assert grasps.simulate(duration=0.05, acceleration=[0, 0, 85.0]).held
    lost = grasps.simulate(duration=0.2, acceleration=[0, 0, 120.0], most_shift=0.005)
    assert not lost.held and lost.unsolved == 0
    excess = 120 + 9.81 - 2 * mu * force / mass
    n = len(lost.time) - 1  # of steps, with the velocity at their end
    np.testing.assert_allclose(lost.shift[-1, 2], -excess * 1e-6 * n * (n + 1) / 2, rtol=1e-3)
    # Without friction it falls freely.
    free = grasps.simulate(duration=0.02, friction=0.0)
    np.testing.assert_allclose(free.shift[-1], [0, 0, -0.5 * 9.81 * 0.02**2], rtol=0.06, atol=1e-6)
    with pytest.raises(ValueError, match="a whole hand"):
        touch([at()], [0.015, 0.015]).simulate()


def test_mirror_images_of_a_grasp_need_the_same_friction():
    # A capsule across one face, above or below the middle of the flat finger on the other one.
    for height in (0.012, -0.012):
        model = mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody><body name="palm">
            <inertial pos="0 0 0" mass=".3" diaginertia="1e-4 1e-4 1e-4"/>
            <body name="flat" pos="0.03 0 -.05"><joint name="f" type="slide" axis="-1 0 0" range="-.03 .03"/>
              <geom type="box" size=".004 .01 .03"/></body>
            <body name="round" pos="-0.03 0 -.05"><joint name="r" type="slide" axis="1 0 0" range="-.03 .03"/>
              <geom type="capsule" size=".006" fromto="0 -.008 {height} 0 .008 {height}"/></body>
            </body></worldbody></mujoco>""")
        pose = np.eye(4)
        pose[2, 3] = 0.05
        grasps = garra.grasp.GraspSet.from_poses(
            model, [pose], "box:0.03,0.03,0.1", joints=[[0.0108, 0.0088]], mass=0.08, force=10.0, cell=1.5e-3
        )
        needed = garra.grasp.rank(grasps, friction_samples=1, samples=10).required_friction[0, 1]
        assert needed == pytest.approx(0.08 * 9.81 / (2 * 10), rel=0.02)  # that of a rigid pad
    with pytest.raises(ValueError, match="1, 2 or 4"):
        touch([at()], [0.014, 0.014], points=3)


@pytest.mark.parametrize("step", [1e-3, 2e-4])
def test_a_jaw_holds_what_friction_bears_in_time_too(step):
    # Two pads of 20 N with friction 0.3 bear 12 N; four points a pad leave the forces undetermined.
    jaw = garra.grasp.ParallelJaw(opening=0.08, pad_width=0.02, pad_height=0.02, tip=0.1, palm=0.05, force=20)
    pose = np.diag([1.0, -1, -1, 1])
    pose[2, 3] = 0.09
    grasps = garra.grasp.GraspSet.from_poses(jaw, [pose], "box:0.04,0.05,0.06", mass=1.0, friction=0.3)
    for push in ([0, 4.0, 0], [0, 6.0, 0], [0, 0, 2.0]):  # 10.6, 11.5 and 11.8 N with the weight
        motion = grasps.simulate(duration=0.2, step=step, acceleration=push)
        assert motion.held and np.linalg.norm(motion.shift[-1]) < 1e-6 and motion.turn[-1] < 1e-5
    slips = grasps.simulate(duration=0.2, step=step, acceleration=[0, 0, 2.3])
    assert slips.shift[-1, 2] == pytest.approx(-0.5 * 0.11 * 0.2**2, rel=0.02)  # 12.11 N


def test_an_open_contact_bears_nothing_until_it_closes():
    grasps = garra.grasp.GraspSet.from_poses(
        hand(), [at()], BOX, joints=[0.015, 0.015], torque=[0.0, 0.0], mass=0.1, gravity=[0, 0, 0]
    )
    # The base moves to +x, then back: the box leaves the right pad, and meets it again where it left it.
    motion = grasps.simulate(duration=0.05, friction=0.0, acceleration=lambda t: [20 if t < 0.01 else -20, 0, 0])
    right = motion.force[:, 4:, 0].sum(1)
    away = motion.shift[:, 0] < -1e-4
    assert motion.shift[:, 0].min() < -1e-3 and not right[away].any()
    after = np.flatnonzero(away)[-1]
    assert right[after : after + 4].max() > 1 and motion.shift[after + 4 :, 0].max() < 0.02


def test_the_program_takes_a_model_with_joints_and_limits_the_sum_of_a_link(tmp_path: Path):
    from program import garra as program

    (tmp_path / "hand.xml").write_text(TWO_PADS)
    q = np.array([[0.014, 0.014], [0.05, 0.014]])
    np.savez(tmp_path / "poses.npz", pose=[at(), at()], joints=q)
    words = "--hand", tmp_path / "hand.xml", "--mesh", BOX, "--mass", "0.1", "--force", "3", "-o", tmp_path / "set.h5"
    answer = program("grasp", "touch", tmp_path / "poses.npz", *words)
    assert "joint limits" in answer.stdout and "2 poses" in answer.stdout
    written, mine = garra.grasp.GraspSet.from_hdf5(tmp_path / "set.h5"), touch([at(), at()], q, force=3.0)
    for name in ("point", "force_limit", "pad"):
        np.testing.assert_array_equal(written.arrays[name], mine.arrays[name])
    assert set(mine.arrays["force_limit"]) == {3.0} and len(set(mine.arrays["pad"])) == 2
    np.savez(tmp_path / "poses.npz", pose=[at()], joints=[[0.014] * 3])
    assert "joints has the shape (1, 3)" in program("grasp", "touch", tmp_path / "poses.npz", *words, expect=2).stderr
    refused = program("grasp", "touch", tmp_path / "poses.npz", *words, "--tip", "0.1", expect=2)
    assert "lengths of a jaw" in refused.stderr


def test_poses_that_are_all_bad_keep_their_rows():
    grasps = touch([np.zeros((4, 4))] * 2, [0.014, 0.014])
    assert grasps.touch.counts() == {"bad_pose": 2} and len(grasps) == 2


GRIPPER = """<robot name="h"><link name="palm"/>{}</robot>""".format(
    "".join(
        f"""<link name="{n}"><inertial><mass value="0.05"/><inertia ixx="2e-5" iyy="2e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/>
        </inertial><collision><geometry><box size=".008 .02 .06"/></geometry></collision></link>
        <joint name="j{n}" type="prismatic"><parent link="palm"/><child link="{n}"/><origin xyz="{x} 0 -0.05"/>
        <axis xyz="{-1 if x > 0 else 1} 0 0"/><limit lower="-.03" upper=".03" effort="50" velocity="1"/></joint>"""
        for n, x in (("l", 0.03), ("r", -0.03))
    )
)


@pytest.mark.parametrize("size", ["box:0.03,0.03,0.04", "box:0.03,0.01,0.012"])
@pytest.mark.parametrize("joint", [0.0105, 0.01101, 0.012])
def test_fingers_that_protrude_beyond_a_face_press_along_its_normal(tmp_path: Path, size, joint):
    file = tmp_path / "gripper.urdf"
    file.write_text(GRIPPER)
    pose = np.eye(4)
    pose[2, 3] = 0.05
    grasps = garra.grasp.GraspSet.from_poses(file, [pose], size, joints=[[joint, joint]], mass=0.08, force=10)
    assert np.abs(grasps.arrays["normal"] @ np.diag([1.0, 0, 0])).max(1) == pytest.approx(1)
    needed = garra.grasp.rank(grasps, friction_samples=1, samples=10).required_friction[0, 1]
    assert needed == pytest.approx(0.08 * 9.81 / (2 * 10), rel=0.01)  # two friction forces bear the weight


def test_what_only_a_jaw_does_is_refused():
    with pytest.raises(ValueError, match="max_push: the object does not move while a hand with joints closes"):
        touch([at()], [0.015, 0.015], max_push=0.01)


def test_joints_that_follow_others_close_with_them():
    """Two pads with one motor, 10 N each way: by statics a box of 0.2 kg needs m g / (2 F) with F = 5 N a pad."""
    mimic = '<equality><joint joint1="r" joint2="l"/></equality>'
    both = TWO_PADS.replace("</mujoco>", mimic + "</mujoco>")
    model = mujoco.MjModel.from_xml_string(both.replace("<mujoco>", '<mujoco><compiler autolimits="true"/>'))
    pose = np.eye(4)
    pose[2, 3] = -0.08
    at = {"joints": {"l": 0.014, "r": 0.01}, "mass": 0.2, "gravity": [0, -9.81, 0]}
    grasps = garra.grasp.GraspSet.from_poses(model, [pose], BOX, torque={"l": 10.0}, **at)
    np.testing.assert_allclose(grasps.touch.joints, [[0.015, 0.015]], atol=3e-4)
    assert grasps.arrays["mass_matrix"].shape[-1] == 1
    ranking = garra.grasp.rank(grasps, samples=1)
    assert ranking.required_friction[0, 1] == pytest.approx(0.2 * 9.81 / 10, rel=2e-3)
    # A hand off the middle cannot move one finger alone.
    pose[0, 3] = 0.002
    off = garra.grasp.GraspSet.from_poses(model, [pose], BOX, torque={"l": 10.0}, **at)
    assert off.touch.joints[0, 0] == off.touch.joints[0, 1]
    with pytest.warns(UserWarning, match="'loop' of the model is left out"):
        loop = '<equality><connect name="loop" body1="left" body2="right" anchor="0 0 0"/></equality>'
        text = TWO_PADS.replace("</mujoco>", loop + "</mujoco>")
        garra.grasp.GraspSet.from_poses(mujoco.MjModel.from_xml_string(text), [pose], BOX, mass=0.2)


def of_palm(geoms: str):
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body name="palm"><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>{geoms}</body>'
        "</worldbody></mujoco>"
    )


def test_a_link_that_touches_two_faces_has_the_normals_of_both():
    """A box on the floor of a palm and at its wall rests without friction; a plate in a clip is pinched from both sides."""
    floor = '<geom type="box" size=".03 .03 .005" pos="0 0 -.005"/>'
    wall = '<geom type="box" size=".005 .03 .03" pos="-.025 0 .03"/>'
    pose = np.eye(4)
    pose[2, 3] = -0.02
    corner = garra.grasp.GraspSet.from_poses(of_palm(floor + wall), [pose], "box:0.04,0.04,0.04", mass=0.1)
    normals = {tuple(n) for n in corner.arrays["normal"].round(6) + 0.0}
    assert normals == {(0, 0, 1), (1, 0, 0)} and len(corner.arrays["point"]) == 8
    assert garra.grasp.rank(corner, samples=1).required_friction[0, 1] < 1e-5
    clip = '<geom type="box" size=".005 .02 .02" pos="-.01 0 0"/><geom type="box" size=".005 .02 .02" pos=".01 0 0"/>'
    plate = garra.grasp.GraspSet.from_poses(of_palm(clip), [np.eye(4)], "box:0.01,0.06,0.06", mass=0.1)
    np.testing.assert_allclose(plate.arrays["normal"][:, 0], -np.sign(plate.arrays["point"][:, 0]), atol=1e-9)


def test_a_round_link_at_an_edge_has_its_own_normal():
    """A ball at 60 places of a box: the normal is along the line from the nearest point of the box to the ball's center."""
    random = np.random.default_rng(4)
    off = []
    for _ in range(60):
        center = random.uniform(-1, 1, 3) * [0.03, 0.03, 0.04]
        near = np.clip(center, [-0.02, -0.02, -0.03], [0.02, 0.02, 0.03])
        if np.linalg.norm(center - near) < 1e-3:
            continue
        u = (center - near) / np.linalg.norm(center - near)
        slide = f'<joint type="slide" axis="{-u[0]} {-u[1]} {-u[2]}"/><geom type="sphere" size=".008" mass=".1"/>'
        pose = np.eye(4)
        pose[:3, 3] = near + 0.009 * u
        model = of_palm(f'<body name="f">{slide}</body>')
        grasps = garra.grasp.GraspSet.from_poses(model, [pose], "box:0.04,0.04,0.06", mass=0.1, cell=1e-3)
        off += np.degrees(np.arccos(np.clip(-grasps.arrays["normal"] @ u, -1, 1))).max(initial=0),
    assert len(off) > 20 and np.quantile(off, 0.9) < 8 and max(off) < 20


def test_nine_links_have_their_centers():
    """More than 32 points: one point a link, in the middle of its patch."""
    fingers = "".join(
        f'<body name="f{k}" pos="{0.04 * (k % 3 - 1)} {0.04 * (k // 3 - 1)} 0.005"><joint type="slide" axis="0 0 1"/>'
        '<geom type="box" size=".015 .015 .005" mass=".1"/></body>'
        for k in range(9)
    )
    pose = np.diag([1.0, -1, -1, 1])
    pose[2, 3] = 0.0305
    grasps = garra.grasp.GraspSet.from_poses(of_palm(fingers), [pose], "box:0.2,0.2,0.04", mass=0.1)
    assert len(grasps.arrays["point"]) == 9
    middle = 0.04 * np.array([[k % 3 - 1, 1 - k // 3] for k in range(9)])
    np.testing.assert_allclose(grasps.arrays["point"][:, :2], middle, atol=2e-3)


def test_a_floor_in_the_model_is_no_part_of_the_hand():
    text = TWO_PADS.replace("<worldbody>", '<worldbody><geom type="plane" size="1 1 .1" pos="0 0 -1"/>')
    text = text.replace('<body name="palm">', '<body name="palm" pos="0.1 0.2 0.3">')
    pose = np.eye(4)
    pose[2, 3] = -0.08
    at = {"joints": {"l": 0.013, "r": 0.013}, "mass": 0.2}
    grasps = garra.grasp.GraspSet.from_poses(mujoco.MjModel.from_xml_string(text), [pose], BOX, **at)
    assert grasps.touch.counts() == {"touched": 1}
