"""Hand poses of data sets: files written here in their layouts, and files that would run code."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import garra
import h5py
import numpy as np
import pytest
from arrays import require_module
from program import PROGRAM

require_module()


def rotations(n: int) -> np.ndarray:
    q, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(n, 3, 3)))
    return q * np.sign(np.linalg.det(q))[:, None, None]


def poses(n: int) -> np.ndarray:
    out = np.tile(np.eye(4), (n, 1, 1))
    out[:, :3, :3] = rotations(n)
    out[:, :3, 3] = np.random.default_rng(3).normal(size=(n, 3))
    return out


def test_acronym_and_graspgen_give_poses_outcomes_and_the_object(tmp_path: Path):
    pose, held = poses(5), np.array([1, 0, 1, 1, 0])
    with h5py.File(tmp_path / "mug.h5", "w") as file:
        file["grasps/transforms"], file["grasps/qualities/flex/object_in_gripper"] = pose, held
        file["object/file"], file["object/scale"], file["object/mass"] = "meshes/Mug/a.obj", 0.02, 0.013
        file["object/com"] = np.array([0.01, 0.0, 0.02])
    read = garra.grasp.read_poses(tmp_path / "mug.h5")
    np.testing.assert_array_equal(read.pose, pose)
    assert read.outcome.tolist() == held.astype(bool).tolist()
    assert (read.mesh, read.scale, read.mass) == ("meshes/Mug/a.obj", 0.02, 0.013)
    said = {"object": {"file": "b.obj", "scale": 0.5}, "grasps": {"transforms": pose.tolist()}}
    (tmp_path / "b.json").write_text(json.dumps(said))
    read = garra.grasp.read_poses(tmp_path / "b.json")
    np.testing.assert_array_equal(read.pose, pose)
    assert read.outcome is None and read.scale == 0.5
    (tmp_path / "b.json").write_text(json.dumps(said | {"gripper": {"name": "single_suction_cup_30mm"}}))
    with pytest.raises(garra.FileError, match="suction grippers hold by a pressure difference"):
        garra.grasp.read_poses(tmp_path / "b.json")


def test_dexgraspnet_bodex_and_isaac_give_poses_and_joints(tmp_path: Path):
    yaml = pytest.importorskip("yaml")
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    angles, places, joint = np.random.default_rng(4).normal(size=(2, 4, 3)).tolist(), None, [0.1, 0.2, 0.3, 0.4]
    angles, places = np.array(angles[0]), np.array(angles[1])
    rows = []
    for a, p, q in zip(angles, places, joint, strict=True):
        named = {f"WRJR{x}": v for x, v in zip("xyz", a, strict=True)} | {f"WRJT{x}": v for x, v in zip("xyz", p, strict=True)}
        rows.append({"qpos": named | {"robot0:FFJ3": np.float64(q)}, "scale": 0.08})
    np.save(tmp_path / "d.npy", np.array(rows, dtype=object), allow_pickle=True)
    read = garra.grasp.read_poses(tmp_path / "d.npy")
    # Fixed axes x, then y, then z.
    np.testing.assert_allclose(read.pose[:, :3, :3], rotation.from_euler("xyz", angles).as_matrix(), atol=1e-14)
    np.testing.assert_array_equal(read.pose[:, :3, 3], places)
    assert read.joints["robot0:FFJ3"].tolist() == joint and read.scale.tolist() == [0.08] * 4

    stages = np.random.default_rng(5).normal(size=(1, 4, 3, 9))
    np.save(tmp_path / "b.npy", {"robot_pose": stages, "joint_names": ["a", "b"], "scene": "x"}, allow_pickle=True)
    read = garra.grasp.read_poses(tmp_path / "b.npy")
    grasp = stages[0, :, 1]
    np.testing.assert_allclose(read.pose[:, :3, :3], rotation.from_quat(grasp[:, [4, 5, 6, 3]]).as_matrix(), atol=1e-14)
    np.testing.assert_array_equal(read.joints["b"], grasp[:, 8])
    np.testing.assert_array_equal(read.squeeze["a"], stages[0, :, 2, 7])

    quaternion = rotation.from_euler("xyz", angles[0]).as_quat()
    entry = {"position": [1, 2, 3], "orientation": {"w": float(quaternion[3]), "xyz": quaternion[:3].tolist()}}
    said = {"format": "isaac_grasp", "grasps": {"grasp_0": entry | {"cspace_position": {"finger": 0.02}}}}
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(said))
    read = garra.grasp.read_poses(tmp_path / "c.yaml")
    np.testing.assert_allclose(read.pose[0, :3, :3], rotation.from_euler("xyz", angles[0]).as_matrix(), atol=1e-14)
    assert read.joints["finger"].tolist() == [0.02]


def test_poses_of_bodex_are_in_the_axes_of_its_object(tmp_path: Path):
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation

    def row(pose):
        return np.concatenate([pose[:3, 3], rotation.from_matrix(pose[:3, :3]).as_quat()[[3, 0, 1, 2]]])

    world, hand = poses(1)[0], poses(4)
    stage = np.array([np.append(row(world @ pose), [0.1 * k, 0.2]) for k, pose in enumerate(hand)])
    said = {"robot_pose": np.stack([stage] * 3, axis=1)[None], "joint_names": ["a", "b"]}
    said |= {"obj_pose": row(world)[None], "obj_scale": np.array([0.06])}
    np.save(tmp_path / "b.npy", said, allow_pickle=True)
    read = garra.grasp.read_poses(tmp_path / "b.npy")
    np.testing.assert_allclose(read.pose, hand, atol=1e-14)
    assert read.scale == 0.06 and np.allclose(read.joints["a"], [0, 0.1, 0.2, 0.3])
    # DexGraspBench has one grasp in a file.
    one = {"grasp_qpos": stage[2], "squeeze_qpos": stage[3], "obj_pose": said["obj_pose"][0], "obj_scale": 0.06}
    np.save(tmp_path / "one.npy", one, allow_pickle=True)
    read = garra.grasp.read_poses(tmp_path / "one.npy")
    np.testing.assert_allclose(read.pose, hand[2:3], atol=1e-14)
    assert read.scale == 0.06 and read.squeeze["0"] == [stage[3][7]]
    # Ten stages are those of an arm with its hand.
    np.save(tmp_path / "arm.npy", said | {"robot_pose": np.zeros((1, 4, 10, 16))}, allow_pickle=True)
    with pytest.raises(garra.FileError, match="10 stages, not pregrasp, grasp and squeeze"):
        garra.grasp.read_poses(tmp_path / "arm.npy")


def test_the_program_takes_poses_mass_and_scale_of_data_sets(tmp_path: Path):
    """A cube of edge 1 at the scale 0.06, between the pads of a jaw whose base is 0.1034 m above its center."""
    pose = np.diag([1.0, -1, -1, 1])
    pose[2, 3] = 0.1034
    said = {"object": {"file": "c.obj", "scale": 0.06}, "grasps": {"transforms": [pose.tolist()], "object_in_gripper": [True]}}
    (tmp_path / "g.json").write_text(json.dumps(said))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["grasps/transforms"], file["grasps/qualities/flex/object_in_gripper"] = pose[None], [1]
        file["object/file"], file["object/scale"], file["object/mass"] = "c.obj", 0.06, 0.123
        file["object/com"] = np.zeros(3)
    touch = [PROGRAM, "grasp", "touch", "--mesh", "box:1,1,1", "--hand", "panda", "--opening", "0.07", "-o"]
    for name, mass in (("g.json", None), ("a.h5", 0.123)):
        done = subprocess.run([*touch, tmp_path / "set.h5", tmp_path / name], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "1 grasps of panda" in done.stdout, done.stderr
        with h5py.File(tmp_path / "set.h5") as file:
            assert file["touch_status"][:].tolist() == [0] and np.allclose(abs(file["point"][:, 0]), 0.03)
            assert mass is None or np.allclose(file["mass"][()], mass)
    done = subprocess.run([*touch, tmp_path / "set.h5", tmp_path / "g.json", "--scale", "0.07"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    with h5py.File(tmp_path / "set.h5") as file:
        assert np.allclose(abs(file["point"][:, 0]), 0.035) or file["touch_status"][:].tolist() == [3]


def test_a_small_file_of_lists_that_share_lists_is_refused(tmp_path: Path):
    lists = [1.0]
    for _ in range(40):
        lists = [lists, lists]
    np.save(tmp_path / "bomb.npy", np.array({"robot_pose": lists}, dtype=object), allow_pickle=True)
    with pytest.raises(garra.FileError, match="bomb.npy: more than .* entries"):
        garra.grasp.read_poses(tmp_path / "bomb.npy")


class Command:
    def __init__(self, text: str) -> None:
        self.text = text

    def __reduce__(self):
        return os.system, (self.text,)


def test_a_pickle_that_would_run_code_is_refused_by_name(tmp_path: Path):
    np.save(tmp_path / "e.npy", np.array([Command(f"touch {tmp_path}/ran")], dtype=object), allow_pickle=True)
    with pytest.raises(garra.FileError, match=r"e.npy: it would call .*system"):
        garra.grasp.read_poses(tmp_path / "e.npy")
    assert not (tmp_path / "ran").exists()


def test_damaged_and_unknown_files_are_errors_with_their_names(tmp_path: Path):
    np.save(tmp_path / "d.npy", np.array([{"qpos": {"WRJTx": 0.0}}], dtype=object), allow_pickle=True)
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "b.json").write_text('{"grasps": {"transforms": [[1, 2], [3]]}}')
    (tmp_path / "c.txt").write_text("")
    np.savez(tmp_path / "n.npz", pose=np.eye(4))
    whole = (tmp_path / "d.npy").read_bytes()
    (tmp_path / "cut.npy").write_bytes(whole[:-20])
    with h5py.File(tmp_path / "cut.h5", "w") as file:
        file["grasps/transforms"] = np.zeros((100, 4, 4))
    for name, end in (("cut.h5", 1500), ("n.npz", 100)):
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name.replace("n.", "cut.")).write_bytes(whole[:end])
    (tmp_path / "empty.npz").write_bytes(b"")
    scale = {"object": {"scale": -1}, "grasps": {"transforms": np.eye(4)[None].tolist()}}
    (tmp_path / "scale.json").write_text(json.dumps(scale))
    rows = [{"qpos": {f"WRJ{k}{a}": 0.0 for k in "TR" for a in "xyz"} | more} for more in ({}, {"FFJ3": 1.0})]
    np.save(tmp_path / "more.npy", np.array(rows, dtype=object), allow_pickle=True)
    damaged = ("cut.npy", "cut.h5", "cut.npz", "empty.npz", "scale.json", "more.npy")
    for name in ("d.npy", "a.json", "b.json", "c.txt", "n.npz", *damaged):
        with pytest.raises(garra.FileError, match=name):
            garra.grasp.read_poses(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        garra.grasp.read_poses(tmp_path / "none.npz")


def test_states_of_mujoco_give_the_grasps_of_each(tmp_path: Path):
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><option gravity="0 0 0"/><worldbody>
      <body name="left" pos="-0.03 0 0"><joint name="l" type="slide" axis="1 0 0"/><geom type="box" size=".01 .02 .02"/></body>
      <body name="right" pos="0.03 0 0"><joint name="r" type="slide" axis="-1 0 0"/><geom type="box" size=".01 .02 .02"/></body>
      <body name="cube"><freejoint/><geom type="box" size=".02 .015 .015" mass="0.1"/></body></worldbody>
      <actuator><motor joint="l"/><motor joint="r"/></actuator></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    closed = np.array([0.0005, 0.0005, 0, 0, 0, 1, 0, 0, 0])
    opened, broken = closed.copy(), closed.copy()
    opened[:2], broken[0] = -0.02, np.nan
    grasps = garra.grasp.from_mujoco_states(model, [closed, opened, broken], ctrl=[5.0, 5.0], object="cube")
    assert [grasp is None for grasp in grasps] == [False, True, True]
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = closed, 5.0
    one = garra.grasp.from_mujoco(model, data, object="cube")
    np.testing.assert_array_equal(grasps[0].points, one.points)
    with pytest.raises(ValueError, match=r"qpos has the shape \(9,\)"):
        garra.grasp.from_mujoco_states(model, closed)


def test_outcomes_that_are_not_known_and_joint_values_of_arrays(tmp_path: Path):
    pose = np.tile(np.eye(4), (3, 1, 1))
    np.savez(tmp_path / "p.npz", pose=pose, outcome=[1, np.nan, 0], joints=np.ones((3, 2)))
    found = garra.grasp.read_poses(tmp_path / "p.npz")
    np.testing.assert_array_equal(found.outcome, [1, np.nan, 0])
    assert found.joints.shape == (3, 2)
    np.savez(tmp_path / "p.npz", pose=pose, outcome=[1, 2, 0])
    with pytest.raises(garra.FileError, match="outcomes: not 3 times 0, 1 or NaN"):
        garra.grasp.read_poses(tmp_path / "p.npz")
