"""Hand poses of data sets: files written here in their layouts, and files that would run code."""

from __future__ import annotations

import json
import os
from pathlib import Path

import garra
import h5py
import numpy as np
import pytest
from arrays import require_module

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
    for name in ("d.npy", "a.json", "b.json", "c.txt", "n.npz", "cut.npy"):
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
