"""Chains with joints that follow others, against MuJoCo's mass matrix, Jacobian, bias and gravity of the same tree."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from arrays import require_module

require_module()
mujoco = pytest.importorskip("mujoco")

import garra  # noqa: E402

RNG = np.random.default_rng(3)
FOLLOWS = {2: (0, -0.3, 0.02), 4: (3, 1.1, 0.05), 6: (5, 0.5, -0.1)}  # follower: leader, multiplier, offset
JOINTS = 7


def urdf() -> str:
    parts = ['<robot name="coupled"><link name="l0"/>']
    for i in range(JOINTS):
        com, axis, xyz, rpy = (" ".join(f"{x:.17g}" for x in RNG.uniform(-0.3, 0.3, 3)) for _ in range(4))
        mimic = ""
        if i in FOLLOWS:
            leader, multiplier, offset = FOLLOWS[i]
            mimic = f'<mimic joint="j{leader}" multiplier="{multiplier}" offset="{offset}"/>'
        parts.append(
            f'<link name="l{i + 1}"><inertial><origin xyz="{com}"/><mass value="{1 + 0.2 * i}"/>'
            f'<inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="0.002" iyz="-0.001"/></inertial></link>'
            f'<joint name="j{i}" type="{"prismatic" if i == 2 else "revolute"}"><parent link="l{i}"/>'
            f'<child link="l{i + 1}"/><origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>'
            f'<limit lower="-3" upper="3" effort="100" velocity="10"/>{mimic}</joint>'
        )
    return "".join([*parts, "</robot>"])


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[garra.Chain, mujoco.MjModel]:
    text = urdf()
    path = tmp_path_factory.mktemp("coupled") / "r.urdf"
    path.write_text(text)
    option = '<mujoco><compiler fusestatic="false" discardvisual="false" balanceinertia="false"/></mujoco></robot>'
    model = mujoco.MjModel.from_xml_string(text.replace("</robot>", option))
    model.dof_damping[:] = 0
    return garra.load(path), model


def expansion() -> tuple[np.ndarray, np.ndarray]:
    """P and c of q = P x + c."""
    own = [i for i in range(JOINTS) if i not in FOLLOWS]
    P, c = np.zeros((JOINTS, len(own))), np.zeros(JOINTS)
    for i in range(JOINTS):
        leader, multiplier, offset = FOLLOWS.get(i, (i, 1, 0))
        P[i, own.index(leader)], c[i] = multiplier, offset
    return P, c


def test_dynamics_are_those_of_mujocos_tree(both: tuple[garra.Chain, mujoco.MjModel]) -> None:
    robot, model = both
    P, c = expansion()
    assert robot.n == 4 and robot.joint_names == ["j0", "j1", "j3", "j5"]
    assert robot.coupled["j4"] == ("j3", 1.1, 0.05)
    data = mujoco.MjData(model)
    tip = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"l{JOINTS}")
    for _ in range(5):
        x, v, a = RNG.uniform(-1, 1, (3, 4))
        data.qpos, data.qvel, data.qacc = P @ x + c, P @ v, P @ a
        mujoco.mj_forward(model, data)
        M = np.zeros((JOINTS, JOINTS))
        mujoco.mj_fullM(model, data, M) if mujoco.__version__ >= "3.4" else mujoco.mj_fullM(model, M, data.qM)
        J = np.zeros((6, JOINTS))
        mujoco.mj_jacBody(model, data, J[:3], J[3:], tip)
        bias = P.T @ data.qfrc_bias
        np.testing.assert_allclose(robot.forward_kinematics(x)[:3, 3], data.xpos[tip], atol=1e-12)
        np.testing.assert_allclose(robot.jacobian(x), J @ P, atol=1e-12)
        np.testing.assert_allclose(robot.crba(x), P.T @ M @ P, atol=1e-11)
        np.testing.assert_allclose(robot.rnea(x, v, np.zeros(4)), bias, atol=1e-10)
        np.testing.assert_allclose(robot.aba(x, v, a), np.linalg.solve(P.T @ M @ P, a - bias), atol=1e-9)
        singular = np.linalg.svd(J @ P, compute_uv=False)
        np.testing.assert_allclose(robot.manipulability(x), singular.prod(), rtol=1e-10)
    assert robot.link_poses(x).shape == (JOINTS, 4, 4)


def test_derivatives_are_those_of_differences(both: tuple[garra.Chain, mujoco.MjModel]) -> None:
    robot, _ = both
    q, qd, u = RNG.uniform(-1, 1, (3, 5, 4))
    for function, found, names in [
        (robot.rnea, robot.rnea_derivatives(q, qd, u), ("dtau_dq", "dtau_dqd", "mass_matrix")),
        (robot.aba, robot.aba_derivatives(q, qd, u), ("dqdd_dq", "dqdd_dqd", "dqdd_dtau")),
    ]:
        for k, name in enumerate(names):
            h = 1e-6 * np.eye(4)[:, None, :]
            up, down = ([*(q, qd, u)[:k], (q, qd, u)[k] + step, *(q, qd, u)[k + 1 :]] for step in (h, -h))
            differences = np.moveaxis(function(*up) - function(*down), 0, -1) / 2e-6
            np.testing.assert_allclose(getattr(found, name), differences, atol=2e-7 * np.abs(differences).max())
    np.testing.assert_array_equal(robot.aba_derivatives(q, qd, u).qdd, robot.aba(q, qd, u))
    q[2, 1] = np.nan
    broken = robot.aba_derivatives(q, qd, u)
    assert list(broken.status) == [0, 0, 3, 0, 0] and np.isnan(broken.dqdd_dtau[2]).all()
    assert np.isfinite(np.delete(broken.dqdd_dq, 2, axis=0)).all()


def test_many_states_and_copies_are_the_same(both: tuple[garra.Chain, mujoco.MjModel]) -> None:
    robot, _ = both
    x = RNG.uniform(-1, 1, (3, 5, 4))
    np.testing.assert_array_equal(robot.crba(x)[1, 2], robot.crba(x[1, 2]))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(robot)).crba(x), robot.crba(x))


def test_poses_are_found_again(both: tuple[garra.Chain, mujoco.MjModel]) -> None:
    robot, _ = both
    pose = robot.forward_kinematics(RNG.uniform(-0.5, 0.5, (20, 4)))
    found = robot.inverse_kinematics(pose)
    assert found.success.all() and found.q.shape == (20, 4)
    np.testing.assert_allclose(robot.forward_kinematics(found.q), pose, atol=1e-9)


def test_what_does_not_follow_says_so(both: tuple[garra.Chain, mujoco.MjModel]) -> None:
    robot, _ = both
    with pytest.raises(ValueError, match="coupled joints are not supported here"):
        garra.singularity.analyze(robot, np.zeros(4))
