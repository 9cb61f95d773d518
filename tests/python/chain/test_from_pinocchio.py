"""Chains out of pinocchio.Model: every operation compared on ten robots of the package example-robot-data.

Both packages (0.9 GB) are no requirement of this project: without them this file skips.
"""

from __future__ import annotations

import sys
from pathlib import Path

import garra
import numpy as np
import pytest
from arrays import require_module

pin = pytest.importorskip("pinocchio", reason="the package pin is not installed")
require_module()
FOLDERS = [Path(p) / "cmeel.prefix/share/example-robot-data/robots" for p in sys.path]

# Robot, and a frame at the end of one of its chains.
TIPS = {
    "panda_description/urdf/panda.urdf": "panda_hand_tcp",
    "ur_description/urdf/ur5_robot.urdf": "tool0",
    "kinova_description/robots/kinova.urdf": "j2s6s200_end_effector",
    "allegro_hand_description/urdf/allegro_right_hand.urdf": "link_3.0_tip",
    "solo_description/robots/solo.urdf": "FL_FOOT",
    "anymal_b_simple_description/robots/anymal.urdf": "LF_FOOT",
    "talos_data/robots/talos_reduced.urdf": "gripper_left_base_link",
    "tiago_description/robots/tiago.urdf": "arm_tool_link",
    "double_pendulum_description/urdf/double_pendulum.urdf": None,
    "hyq_description/robots/hyq_no_sensors.urdf": "lf_foot",
}


def file_of(name: str) -> Path:
    found = [folder / name for folder in FOLDERS if (folder / name).is_file()]
    if not found:
        pytest.skip(f"{name} is not in the package example-robot-data")
    return found[0]


@pytest.mark.parametrize("name", TIPS)
def test_all_operations_are_pinocchios(name):
    model = pin.buildModelFromUrdf(str(file_of(name)))
    tip = TIPS[name]
    if tip is not None and not model.existFrame(tip):
        pytest.skip(f"{name} has no frame {tip} in this release")
    robot = garra.Chain.from_pinocchio(model, tip=tip)
    last = model.njoints - 1 if tip is None else model.frames[model.getFrameId(tip)].parentJoint
    ours = set(robot.joint_names)
    aside = [j for j in range(1, model.njoints) if model.names[j] not in ours]
    assert model.names[last] in ours
    peer = pin.buildReducedModel(model, aside, pin.neutral(model)) if aside else model
    data = peer.createData()
    frame = None if tip is None else peer.getFrameId(tip)
    draws = np.random.default_rng(5)
    for _ in range(20):
        q, qd, qdd = draws.uniform(-1, 1, (3, robot.n))
        # Continuous joints have (cos, sin) there.
        q_pin = np.concatenate(
            [[q[i]] if j.nq == 1 else [np.cos(q[i]), np.sin(q[i])] for i, j in enumerate(list(peer.joints)[1:])]
        )
        M = pin.crba(peer, data, q_pin)
        M = np.triu(M) + np.triu(M, 1).T
        tau = pin.rnea(peer, data, q_pin, qd, qdd) + np.asarray(peer.damping) * qd
        for found, truth in (
            (robot.crba(q), M),
            (robot.gravity(q), pin.computeGeneralizedGravity(peer, data, q_pin)),
            (robot.rnea(q, qd, qdd), tau),
        ):
            assert np.abs(found - truth).max() <= 1e-10 * max(1.0, np.abs(truth).max())
        # Tiny links make M hard to solve: judged by what the accelerations need.
        found = robot.aba(q, qd, tau)
        assert np.abs(M @ (found - qdd)).max() <= 1e-9 * max(1.0, np.abs(tau).max())
        if frame is not None:
            pin.computeJointJacobians(peer, data, q_pin)
            pin.updateFramePlacements(peer, data)
            J = pin.getFrameJacobian(peer, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            assert np.abs(robot.jacobian(q) - J).max() <= 1e-10
            assert np.abs(robot.fkine(q) - data.oMf[frame].homogeneous).max() <= 1e-10


def test_a_floating_base_is_refused_by_name():
    model = pin.buildModelFromUrdf(str(file_of("ur_description/urdf/ur5_robot.urdf")), pin.JointModelFreeFlyer())
    with pytest.raises(ValueError, match="JointModelFreeFlyer"):
        garra.Chain.from_pinocchio(model, tip="tool0")


def test_an_unknown_frame_is_refused():
    model = pin.buildModelFromUrdf(str(file_of("ur_description/urdf/ur5_robot.urdf")))
    with pytest.raises(ValueError, match="no frame 'tool7'"):
        garra.Chain.from_pinocchio(model, tip="tool7")


def test_an_unbounded_joint_about_any_axis_and_joints_without_limits():
    body = """<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
    model = pin.buildModelFromXML(f"""<robot name="a"><link name="l0"/><link name="l1">{body}</link>
        <joint name="j" type="continuous"><parent link="l0"/><child link="l1"/><axis xyz="0.6 0.8 0"/></joint></robot>""")
    last = model.addJoint(1, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3])), "k")
    model.appendBodyToJoint(last, pin.Inertia.Random(), pin.SE3.Identity())
    chain = garra.Chain.from_pinocchio(model)
    assert "limits" not in chain.to_toml()
    data = model.createData()
    pin.forwardKinematics(model, data, np.array([np.cos(0.7), np.sin(0.7), 0.4]))
    assert np.allclose(chain.forward_kinematics([0.7, 0.4]), data.oMi[last].homogeneous)
