"""Robots as they exist: every URDF of the package example-robot-data, its longest chain compared with Pinocchio.

Both packages (example-robot-data, pin; 0.9 GB installed) are no requirement of this project: without them this file
skips. Run with GARRA_PROGRAM=path/to/garra. Smaller relatives of the same files are in tests/chain/test_robot_files.cpp.
"""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import h5py
import numpy as np
import pytest
from program import garra

pin = pytest.importorskip("pinocchio", reason="the package pin is not installed")
FOLDERS = [Path(p) / "cmeel.prefix/share/example-robot-data/robots" for p in sys.path]
MODELS = sorted(file for folder in FOLDERS if folder.is_dir() for file in folder.rglob("*.urdf"))
if not MODELS:
    pytest.skip("the package example-robot-data is not installed", allow_module_level=True)

TOLERANCE = 1e-10  # of the largest number of an array
STATES = 8
PREFIX = "joint/"

# The longest chain of these ends in links without any mass: another tip.
TIPS = {"romeo.urdf": "l_sole", "romeo_laas_small.urdf": "l_wrist"}

# What a roboticist accepts: no chain of moving joints at all, or a file that is no robot. Nothing else is refused.
REASONS = {
    "quadrotor_base.urdf": "no joint moves",  # one link
    "iris_simple.urdf": "no joint moves",  # all fixed
    "ur3.urdf": 'the attribute "name" is missing',  # an empty <robot>
}


def name_of(file: Path) -> str:
    return file.relative_to(file.parents[2]).as_posix().replace("/", "-")


def check(file: Path, *flags: str) -> dict:
    return json.loads(garra("check", file, "--format", "json", *flags, expect=None).stdout)


def longest_chain(file: Path) -> tuple[dict, str]:
    """What garra makes of the file, and the tip: the only one, or the one that its message proposes."""
    if file.name in TIPS:
        return check(file, "--tip", TIPS[file.name]), TIPS[file.name]
    found = check(file)
    if found["ok"]:
        root = ET.parse(file).getroot()
        parents = {joint.find("parent").get("link") for joint in root.findall("joint")}
        (tip,) = {link.get("name") for link in root.findall("link")} - parents
        return found, tip
    proposed = re.search(r"The longest chain: --tip (\S+) \(", found["error"])
    if proposed is None:
        return found, ""
    return check(file, "--tip", proposed[1]), proposed[1]


class Peer:
    """Pinocchio's model of the same chain: all other joints locked where garra says that they stand."""

    def __init__(self, file: Path, model: dict, tip: str):
        root = ET.parse(file).getroot()
        # Pinocchio reduces no model where a joint has the name of a link.
        for joint in [*root.iter("joint"), *root.iter("mimic")]:
            key = "name" if joint.tag == "joint" else "joint"
            if joint.get(key) is not None:
                joint.set(key, PREFIX + joint.get(key))
        whole = pin.buildModelFromXML(ET.tostring(root, encoding="unicode"))
        neutral = pin.neutral(whole)
        for lock in model.get("locked", []):
            if not whole.existJointName(PREFIX + lock["joint"]):
                continue  # a floating or planar joint is part of no model with a fixed base
            joint = whole.joints[whole.getJointId(PREFIX + lock["joint"])]
            place = slice(joint.idx_q, joint.idx_q + joint.nq)
            neutral[place] = [np.cos(lock["q"]), np.sin(lock["q"])] if joint.nq == 2 else lock["q"]
        mine = [PREFIX + joint["name"] for joint in model["joint"]]
        others = [i for i in range(1, whole.njoints) if whole.names[i] not in mine]
        self.model = pin.buildReducedModel(whole, others, neutral)
        self.data = self.model.createData()
        assert list(self.model.names)[1:] == mine
        self.frame = self.model.getFrameId(tip, pin.FrameType.BODY)  # joints may have the same name
        assert self.frame < self.model.nframes

    def q(self, values):
        out = []
        for joint, value in zip(list(self.model.joints)[1:], values, strict=True):
            out += [np.cos(value), np.sin(value)] if joint.nq == 2 else [value]
        return np.array(out)

    def evaluate(self, values, qd, qdd) -> dict:
        m, d, q = self.model, self.data, self.q(values)
        mass = pin.crba(m, d, q).copy()
        return {
            "mass_matrix": np.triu(mass) + np.triu(mass, 1).T,
            "gravity": pin.computeGeneralizedGravity(m, d, q).copy(),
            "tau": pin.rnea(m, d, q, qd, qdd).copy(),
            "jacobian": pin.computeFrameJacobian(m, d, q, self.frame, pin.LOCAL_WORLD_ALIGNED).copy(),
            "pose": self.pose(q),
        }

    def pose(self, q):
        pin.framesForwardKinematics(self.model, self.data, q)
        return self.data.oMf[self.frame].homogeneous.copy()


def states_of(model: dict) -> dict:
    rng = np.random.default_rng(5)
    low, high = [], []
    for joint in model["joint"]:
        a, b = joint.get("limits", [-3, 3])
        low.append(max(a, -3))
        high.append(min(b, 3))
    n = len(low)
    q = rng.uniform(np.minimum(low, high), high, (STATES, n))
    return {"q": q, "qd": rng.normal(size=(STATES, n)), "qdd": rng.normal(size=(STATES, n))}


def difference(file: Path, model: dict, tip: str, flags: list[str], folder: Path) -> dict:
    """By output, the largest difference from Pinocchio relative to the largest number."""
    states = states_of(model)
    with h5py.File(folder / "states.h5", "w") as h5:
        for name, values in states.items():
            h5[name] = values
    outputs = "pose,jacobian,mass_matrix,gravity,tau"
    garra("chain", "eval", file, folder / "states.h5", "-o", folder / "out.h5", "--outputs", outputs, *flags)
    peer = Peer(file, model, tip)
    expected = [peer.evaluate(states["q"][i], states["qd"][i], states["qdd"][i]) for i in range(STATES)]
    damping = np.array([joint["damping"] for joint in model["joint"]])
    worst = {}
    with h5py.File(folder / "out.h5") as h5:
        for name in outputs.split(","):
            have = h5[name][()]
            want = np.array([one[name] for one in expected]).reshape(have.shape)
            # Gravity about vertical axes is zero but for rounding: both are torques of one size.
            torque = max(np.abs(one["tau"]).max() for one in expected)
            size = max(np.abs(want).max(), torque if name == "gravity" else 0)
            if name == "tau":
                want = want + damping * states["qd"]
            worst[name] = float(np.abs(have - want).max() / size)
    return worst


@pytest.mark.parametrize("file", MODELS, ids=name_of)
def test_every_urdf_gives_a_chain_that_pinocchio_agrees_with_or_a_reason(file, tmp_path):
    found, tip = longest_chain(file)
    if not found["ok"]:
        assert file.name in REASONS, found["error"]
        assert REASONS[file.name] in found["error"]
        return
    model = found["model"]
    worst = difference(file, model, tip, ["--tip", tip], tmp_path)
    assert max(worst.values()) < TOLERANCE, worst


def test_locked_fingers_are_part_of_the_panda(tmp_path):
    file = next(file for file in MODELS if file.name == "panda.urdf")
    flags = ["--tip", "panda_hand_tcp", "--lock", "panda_finger_joint1=0.03"]
    found = check(file, *flags)
    assert [(lock["joint"], lock["q"]) for lock in found["model"]["locked"]] == [
        ("panda_finger_joint1", 0.03),
        ("panda_finger_joint2", 0.03),  # it mimics the first
    ]
    assert max(difference(file, found["model"], "panda_hand_tcp", flags, tmp_path).values()) < TOLERANCE
