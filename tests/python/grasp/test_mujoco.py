"""Grasps from MuJoCo models: MuJoCo's own numbers, closed forms, and its contact solver, where these must agree."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco", minversion="3.3.2")
pytest.importorskip("garra._core")

from garra._core import confidence_interval  # noqa: E402
from garra.grasp import GraspSet, Robustness, rank  # noqa: E402
from garra import contact  # noqa: E402
from garra.grasp.candidates import OUTCOMES, Ranking  # noqa: E402
from garra.grasp.hand import Grasp  # noqa: E402
from garra.grasp.mujoco_scene import from_mujoco  # noqa: E402
from garra.study.distributions import ball, normal, scale, uniform  # noqa: E402

EXACT = 1e-9  # MuJoCo's numbers taken over: rounding of matrices with entries up to 1e2
SOLVED = 1e-7  # forces [N] of some 10 N from certified solutions, tolerance 1e-9

PRESS, MASS, G = 10.0, 0.5, 9.81
SHARP = 1e-6  # [m/s^2] of contacts at rest: the borders of closed forms, without the tolerance of held
NEEDED = MASS * G / 2 / PRESS  # friction at which two contacts pressed with PRESS just carry the ball

SLIDERS = """
<mujoco>
  <option gravity="0 0 -9.81"/>
  <default><geom friction="0.4 0.005 0.0001"/></default>
  <worldbody>
    <body name="left" pos="-.1 0 0"><joint name="l" type="slide" axis="1 0 0"/>
      <geom name="left pad" type="box" size=".02 .05 .05" mass=".3"/></body>
    <body name="right" pos=".1 0 0"><joint name="r" type="slide" axis="1 0 0"/>
      <geom name="right pad" type="box" size=".02 .05 .05" mass=".4"/></body>
    <body name="ball"><freejoint/><geom name="ball" type="sphere" size=".0801" mass=".5"/></body>
    {more}
  </worldbody>
  <actuator><motor joint="l"/><motor joint="r"/></actuator>
</mujoco>
"""

# Two fingers of two joints each; one tendon drives both joints of a finger, one spring pulls at all. The object's
# center of mass is not where its body's frame is, and it is turned.
TENDONS = """
<mujoco>
  <option gravity="0.3 -0.2 -9.81" cone="{cone}" jacobian="{jacobian}"/>
  <default><geom friction="0.7 0.005 0.0001"/><joint armature="0.002" damping="0.1"/></default>
  <worldbody>
    <body name="arm" pos="0 0 0"><joint name="base" type="hinge" axis="0.1 0.2 1"/>
      <geom size=".02" mass="1" contype="0" conaffinity="0"/>
      <body name="a1" pos="-.06 0 0"><joint name="a1" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 .05" size=".008" mass=".05" contype="0" conaffinity="0"/>
        <body name="a2" pos="0 0 .05"><joint name="a2" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 .02 .01 .04" size=".008" mass=".03" contype="0" conaffinity="0"/>
          <geom name="tip a" pos=".02 .01 .04" size=".012" mass=".01"/></body></body>
      <body name="b1" pos=".06 0 0"><joint name="b1" axis="0 -1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 .05" size=".008" mass=".05" contype="0" conaffinity="0"/>
        <body name="b2" pos="0 0 .05"><joint name="b2" axis="0.1 -1 0"/>
          <geom type="capsule" fromto="0 0 0 -.02 0 .04" size=".008" mass=".03" contype="0" conaffinity="0"/>
          <geom name="tip b" pos="-.02 0 .04" size=".012" mass=".01"/></body></body>
    </body>
    <body name="cube" pos="0 .004 .088" quat="1 .03 .02 .4"><freejoint/>
      <geom name="cube" type="sphere" pos=".001 .002 -.003" size=".029" mass=".08"/>
      <geom pos=".01 .01 .01" size=".005" mass=".03" contype="0" conaffinity="0"/></body>
  </worldbody>
  <tendon>
    <fixed name="ta"><joint joint="a1" coef="1"/><joint joint="a2" coef=".6"/></fixed>
    <fixed name="tb"><joint joint="b1" coef="1"/><joint joint="b2" coef=".6"/></fixed>
    <fixed name="spring" stiffness="2" springlength="0.3">
      <joint joint="a1" coef="1"/><joint joint="a2" coef="-1"/><joint joint="b1" coef="1"/><joint joint="b2" coef="-1"/>
    </fixed>
  </tendon>
  <equality><joint name="coupled" joint1="a2" joint2="b2" polycoef="0 1.5 0 0 0" active="{coupled}"/></equality>
  <actuator><motor tendon="ta"/><motor tendon="tb"/><motor joint="base"/></actuator>
</mujoco>
"""


def pressed_ball(more: str = "") -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(SLIDERS.format(more=more))
    data = mujoco.MjData(model)
    data.ctrl[:] = PRESS, -PRESS
    return model, data


def ball_between_pads() -> Grasp:
    return from_mujoco(*pressed_ball(), "ball")


def tendon_hand(cone="elliptic", jacobian="dense", coupled="false") -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(TENDONS.format(cone=cone, jacobian=jacobian, coupled=coupled))
    data = mujoco.MjData(model)
    data.qpos[:5] = 0.1, 0.05, 0.12, 0.04, 0.08
    data.ctrl[:] = 0.3, 0.25, 0.1
    # At 0.1 rad the base has turned the fingers; the cube goes with them.
    axis = np.array([0.1, 0.2, 1.0]) / np.linalg.norm([0.1, 0.2, 1.0])
    turn = np.zeros(4)
    mujoco.mju_axisAngle2Quat(turn, axis, 0.1)
    place, orientation = np.zeros(3), np.zeros(4)
    mujoco.mju_rotVecQuat(place, data.qpos[5:8].copy(), turn)
    mujoco.mju_mulQuat(orientation, turn, data.qpos[8:12].copy())
    data.qpos[5:8], data.qpos[8:12] = place, orientation
    mujoco.mj_forward(model, data)
    return model, data


def assert_same(ours: np.ndarray, theirs: np.ndarray) -> None:
    """To EXACT of the largest entry."""
    assert ours == pytest.approx(theirs, abs=EXACT * np.abs(theirs).max())


def mass_matrix(model, data) -> np.ndarray:
    """M, column by column."""
    M = np.zeros((model.nv, model.nv))
    for row, unit in zip(M, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, row, unit)
    return M


def constraint_rows(model, data) -> np.ndarray:
    """MuJoCo's constraint Jacobian, dense, [nefc, nv]."""
    J = np.zeros((data.nefc, model.nv))
    for row, unit in zip(J, np.eye(data.nefc), strict=True):
        mujoco.mj_mulJacTVec(model, data, row, unit)
    return J


def contact_rows(model, data, body: int) -> np.ndarray:
    """Contact Jacobian as MuJoCo solves with it, in garra's axes (n into the object, t, o), [3k, nv]."""
    J = constraint_rows(model, data)
    rows = []
    for c in data.contact:
        at = c.efc_address
        if model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC:
            n, t, o = J[at : at + 3]
        else:  # edges n + mu t, n - mu t, n + mu o, n - mu o of the pyramid
            e = J[at : at + 4]
            n, t, o = (e[0] + e[1]) / 2, (e[0] - e[1]) / 2 / c.friction[0], (e[2] - e[3]) / 2 / c.friction[0]
        # Theirs is geom 2 minus geom 1. Seen from the other side n and t turn, and so does the difference.
        rows += [n, t, -o] if model.geom_bodyid[c.geom[0]] == body else [n, t, o]
    return np.array(rows)


def moved(model, data, step: np.ndarray) -> mujoco.MjData:
    """Data at the configuration qpos plus a step [nv]; kinematics only."""
    other = mujoco.MjData(model)
    other.qpos[:] = data.qpos
    mujoco.mj_integratePos(model, other.qpos, step, 1)
    mujoco.mj_kinematics(model, other)
    return other


def separation(data, at: mujoco.MjData, point: np.ndarray, bodies: tuple[int, int]) -> np.ndarray:
    """Where the material points that are at `point` in `data` are apart in `at`: second body's minus first's, world."""
    there = []
    for b in bodies:
        local = data.xmat[b].reshape(3, 3).T @ (point - data.xpos[b])
        there.append(at.xpos[b] + at.xmat[b].reshape(3, 3) @ local)
    return there[1] - there[0]


# --- a ball between two pads: closed forms


def test_two_pads_carry_half_of_the_weight_each():
    grasp = ball_between_pads()
    solution = grasp.solve()
    assert solution.converged and solution.state == ["stick", "stick"]
    assert solution.forces[:, 0] == pytest.approx(PRESS, abs=SOLVED)
    half = np.array([0, 0, MASS * G / 2])
    assert solution.forces_world == pytest.approx(np.array([[PRESS, 0, 0], [-PRESS, 0, 0]]) + half, abs=SOLVED)
    assert grasp.W @ solution.forces.ravel() == pytest.approx([0, 0, MASS * G, 0, 0, 0], abs=SOLVED)
    assert grasp.imbalance() == pytest.approx(0, abs=1e-12)


def test_a_ball_too_slippery_falls_as_friction_lets_it():
    grasp = ball_between_pads()
    mu = NEEDED / 2
    A, b, _ = grasp.problem()
    found = contact.solve(A, b, np.full(2, mu), tolerance=1e-9)
    c, a = found.c.reshape(2, 3), found.a.reshape(2, 3)
    assert c[:, 0] == pytest.approx(PRESS, abs=SOLVED)
    assert np.hypot(c[:, 1], c[:, 2]) == pytest.approx(mu * PRESS, abs=SOLVED)
    falls = np.einsum("jxi,ji->jx", grasp.frames, a)
    down = np.array([0, 0, -(G - 2 * mu * PRESS / MASS)])
    assert falls == pytest.approx(np.array([down, down]), abs=1e-6)


def test_frames_are_right_handed_and_point_into_the_object():
    model, data = tendon_hand()
    for grasp in (ball_between_pads(), from_mujoco(model, data, "cube")):
        assert np.linalg.det(grasp.frames) == pytest.approx(1)
        assert all(np.einsum("jx,jx->j", grasp.frames[:, :, 0], grasp.com - grasp.points) > 0)


def test_what_becomes_of_a_ball_between_pads_is_known_beforehand():
    grasp = ball_between_pads()
    every = {"samples": 64, "acceleration": SHARP}
    assert grasp.robustness(friction=NEEDED * 1.01, **every).outcomes["held"] == 64
    assert grasp.robustness(friction=NEEDED * 0.99, **every).outcomes["slipping"] == 64
    # Two points have no lever about the line through them.
    about = grasp.robustness(friction=5.0, torque=[0.01, 0, 0], **every)
    assert about.outcomes["not_resisted"] == 64 and about.p_resisted == 0
    twist = 0.01 / (np.sqrt(2 / 5) * 0.0801)  # over the radius of gyration of a solid sphere
    assert about.imbalance == pytest.approx(twist / (twist + MASS * G), abs=1e-9)
    assert grasp.robustness(friction=5.0, torque=[0, 0.01, 0], **every).outcomes["held"] == 64
    # Along the line only the command presses: of 15 N and the weight it leaves the 15 N.
    pushed = grasp.robustness(friction=5.0, force=[15, 0, 0], **every)
    assert pushed.outcomes["command_insufficient"] == 64
    assert pushed.imbalance == pytest.approx(15 / (15 + MASS * G), abs=1e-9)
    # With a limit on the forces the pads may not press harder than they do.
    assert grasp.robustness(friction=NEEDED * 0.99, force_limit=PRESS, **every).outcomes["not_resisted"] == 64


def test_what_mujoco_applies_to_the_object_counts_as_load():
    model, data = pressed_ball()
    data.xfrc_applied[model.body("ball").id] = 0, 0, 0, 0.01, 0, 0
    assert from_mujoco(model, data, "ball").robustness(friction=5.0, samples=8).outcomes["not_resisted"] == 8
    data.xfrc_applied[:] = 0
    data.xfrc_applied[model.body("ball").id, 0] = 15
    assert from_mujoco(model, data, "ball").robustness(friction=5.0, samples=8).outcomes["command_insufficient"] == 8


def test_gravity_compensation_takes_the_weight_away():
    text = SLIDERS.format(more="").replace('<body name="ball">', '<body name="ball" gravcomp="1">')
    grasp = from_mujoco(model := mujoco.MjModel.from_xml_string(text), mujoco.MjData(model), "ball")
    assert grasp.weight == pytest.approx(np.zeros(3), abs=1e-12)
    assert grasp.applied == pytest.approx(np.zeros(6), abs=1e-12)
    result = grasp.robustness(mass=uniform(0.5, 2), samples=8)
    assert result.outcomes["held"] == 8 and (result.imbalance == 0).all()


def test_inputs_that_make_no_sense_are_refused():
    grasp = ball_between_pads()
    for wrong, what in (
        ({"friction": [0.1, 0.2, 0.3]}, r"friction: expected a number, \[2\] .* or a distribution, got \[0.1"),
        ({"friction": -0.1}, "not negative"),
        ({"mass": 0}, "mass = 0"),
        ({"torque": [1, 2]}, r"torque has the shape \(2,\), not \[3\]"),
        ({"samples": 0}, "from 1 to"),
    ):
        with pytest.raises(ValueError, match=what):
            grasp.robustness(**wrong)


@pytest.mark.parametrize(
    "inputs, truth",
    [
        ({"friction": uniform(0.1, 0.5, common=True)}, (0.5 - NEEDED) / 0.4),
        ({"friction": uniform(0.1, 0.5)}, ((0.5 - NEEDED) / 0.4) ** 2),
        ({"friction": scale(0.25, 1.25, common=True)}, (1.25 - NEEDED / 0.4)),
        ({"mass": uniform(0.5 * MASS, 2 * MASS)}, (0.4 / NEEDED - 0.5) / 1.5),
        ({"friction": 5.0, "force": ball(1e-3)}, 1.0),
    ],
)
def test_the_probability_is_that_of_the_closed_form(inputs, truth):
    result = ball_between_pads().robustness(**inputs, samples=4000, seed=5, acceleration=SHARP)
    assert abs(result.p_held - truth) <= 4 * np.sqrt(truth * (1 - truth) / 4000)  # four standard deviations
    assert result.interval[0] <= result.p_held <= result.interval[1]
    assert sum(result.outcomes.values()) == result.samples == 4000
    assert result.p_no_slip == result.p_held  # whatever sticks is carried here
    assert result.p_resisted == 1


def test_the_same_seed_draws_the_same_and_inputs_do_not_disturb_each_other():
    grasp = ball_between_pads()
    one = grasp.robustness(friction=uniform(0.1, 0.5), samples=100, seed=3)
    two = grasp.robustness(friction=uniform(0.1, 0.5), mass=normal(MASS, 0.05, min=0.25), samples=100, seed=3)
    assert np.array_equal(one.friction, two.friction)
    assert np.array_equal(one.friction[:50], grasp.robustness(friction=uniform(0.1, 0.5), samples=50, seed=3).friction)
    assert not np.array_equal(one.friction, grasp.robustness(friction=uniform(0.1, 0.5), samples=100, seed=4).friction)
    assert len(np.unique(two.mass)) == 100 and two.mass.min() >= 0.25
    assert two.mass.mean() == pytest.approx(MASS, abs=0.03)  # kg


# --- MuJoCo's own numbers


def assert_matrices_are_mujocos(model, data, name: str) -> None:
    grasp = from_mujoco(model, data, name)
    J = contact_rows(model, data, model.body(name).id)
    assert grasp.object_jacobian - grasp.hand_jacobian == pytest.approx(J, abs=EXACT)
    theirs = J @ np.linalg.solve(mass_matrix(model, data), J.T)
    assert_same(grasp.A, theirs)
    assert grasp.b == pytest.approx(J @ data.qacc_smooth, abs=EXACT * np.abs(data.qacc_smooth).max())


@pytest.mark.parametrize("cone, jacobian", [*itertools.product(("elliptic", "pyramidal"), ("dense", "sparse"))])
def test_matrices_are_those_that_mujoco_solves_with(cone, jacobian):
    model, data = tendon_hand(cone, jacobian)
    grasp = from_mujoco(model, data, "cube")
    assert grasp.mu == pytest.approx(0.7)
    assert sorted(h for h, _ in grasp.geoms) == ["tip a", "tip b"]
    assert_matrices_are_mujocos(model, data, "cube")


def test_matrices_are_mujocos_where_the_object_comes_first_in_its_contacts():
    model, data = pressed_ball()
    mujoco.mj_forward(model, data)
    assert {model.geom(g).name for g in data.contact.geom[:, 0]} == {"ball"}
    assert_matrices_are_mujocos(model, data, "ball")
    # And in the tendon hand it does not.
    model, data = tendon_hand()
    assert {model.geom(g).name for g in data.contact.geom[:, 1]} == {"cube"}


def test_contact_jacobians_are_derivatives_of_mujocos_kinematics():
    model, data = tendon_hand()
    grasp = from_mujoco(model, data, "cube")
    cube, step = model.body("cube").id, 1e-5
    for j, (tip, _) in enumerate(grasp.geoms):
        bodies = int(model.geom_bodyid[model.geom(tip).id]), cube
        for dof in range(model.nv):
            e = np.eye(model.nv)[dof] * step
            ahead, back = (separation(data, moved(model, data, s), grasp.points[j], bodies) for s in (e, -e))
            column = (grasp.object_jacobian - grasp.hand_jacobian)[3 * j : 3 * j + 3, dof]
            # Central differences: 1e-10 of the third derivative, 1e-16 / 1e-5 of rounding.
            assert column == pytest.approx(grasp.frames[j].T @ (ahead - back) / (2 * step), abs=EXACT)


def test_the_object_is_the_body_that_mujoco_compiled():
    model, data = tendon_hand()
    grasp = from_mujoco(model, data, "cube")
    cube = model.body("cube").id
    R = data.ximat[cube].reshape(3, 3)
    assert grasp.mass == pytest.approx(model.body_mass[cube], rel=1e-12)
    assert grasp.com == pytest.approx(data.xipos[cube], abs=1e-12)
    assert grasp.inertia == pytest.approx(R @ np.diag(model.body_inertia[cube]) @ R.T, rel=1e-9, abs=1e-15)
    assert grasp.applied == pytest.approx(np.zeros(6), abs=1e-12)
    part = grasp.object_jacobian @ np.linalg.solve(mass_matrix(model, data), grasp.object_jacobian.T)
    assert_same(grasp.W.T @ grasp.object_mobility @ grasp.W, part)


def test_b_is_the_contacts_acceleration_where_hand_and_object_turn_together():
    model, data = tendon_hand()
    cube = model.body("cube").id
    # The base turns at 3 rad/s and the cube as if it were fixed to it.
    data.qvel[0] = 3.0
    J = np.zeros((6, model.nv))
    mujoco.mj_jac(model, data, J[:3], J[3:], data.xpos[cube], model.body("a2").id)
    data.qvel[5:8] = J[:3, 0] * 3.0
    data.qvel[8:11] = data.xmat[cube].reshape(3, 3).T @ J[3:, 0] * 3.0
    grasp = from_mujoco(model, data, "cube")
    assert grasp.applied == pytest.approx(np.zeros(6), abs=1e-12)  # nothing but weight and gyroscopic moment
    assert grasp.spin == pytest.approx(3 * np.array([0.1, 0.2, 1]) / np.linalg.norm([0.1, 0.2, 1]))
    mujoco.mj_forward(model, data)
    h = 2e-5  # second differences: rounding 1e-17 / h^2 = 3e-8; the rest falls with h^2, at 1e-4 it was 3e-5
    for j, (tip, _) in enumerate(grasp.geoms):
        bodies = int(model.geom_bodyid[model.geom(tip).id]), cube
        ahead, here, back = (
            separation(data, moved(model, data, s * data.qvel + s * s / 2 * data.qacc_smooth), grasp.points[j], bodies)
            for s in (h, 0.0, -h)
        )
        a = grasp.frames[j].T @ (ahead - 2 * here + back) / h**2
        assert grasp.b[3 * j : 3 * j + 3] == pytest.approx(a, abs=5e-6)


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_coupled_joints_are_one_joint(jacobian):
    model, data = tendon_hand(jacobian=jacobian, coupled="true")
    data.qpos[2] = 1.5 * data.qpos[4]
    mujoco.mj_forward(model, data)
    grasp = from_mujoco(model, data, "cube")
    free_model, free_data = tendon_hand(jacobian=jacobian)
    free_data.qpos[:] = data.qpos
    mujoco.mj_forward(free_model, free_data)
    # Reduced coordinates: a2 = 1.5 b2, so velocities are T times those of the rest.
    T = np.delete(np.eye(model.nv), 2, axis=1)
    T[2, 3] = 1.5
    M, J = mass_matrix(free_model, free_data), contact_rows(free_model, free_data, model.body("cube").id)
    reduced = T @ np.linalg.inv(T.T @ M @ T) @ T.T
    theirs = J @ reduced @ J.T
    assert_same(grasp.A, theirs)
    b = J @ reduced @ free_data.qfrc_smooth
    assert grasp.b == pytest.approx(b, abs=EXACT * np.abs(free_data.qacc_smooth).max())


def test_another_mass_and_a_push_are_those_of_a_model_with_them():
    model, data = tendon_hand()
    cube = model.body("cube").id
    data.xfrc_applied[cube] = 0.1, 0.2, -0.3, 0.001, 0, 0.002  # at the center of mass, as ours
    grasp = from_mujoco(model, data, "cube")
    assert grasp.applied == pytest.approx(data.xfrc_applied[cube], abs=1e-12)
    push = np.array([0.5, -0.1, 0.2, 0.003, 0.002, -0.001])
    heavier, pushed, _ = grasp.problem(mass=1.7 * grasp.mass, wrench=push)
    model.body_mass[cube] *= 1.7
    model.body_inertia[cube] *= 1.7
    data.xfrc_applied[cube] += push
    mujoco.mj_setConst(model, mujoco.MjData(model))
    other = from_mujoco(model, data, "cube")
    assert_same(heavier, other.A)
    assert_same(pushed, other.b)
    assert grasp.imbalance(1.7 * grasp.mass, push) == pytest.approx(other.imbalance(), rel=1e-9)


def test_data_stays_as_it_was():
    model, data = pressed_ball()
    before = {name: np.array(getattr(data, name)) for name in ("qpos", "qvel", "qacc", "ctrl", "efc_force", "xpos")}
    from_mujoco(model, data, "ball")
    assert all(np.array_equal(value, getattr(data, name)) for name, value in before.items())
    assert data.ncon == 0  # not even forward kinematics was run on it


# --- MuJoCo's contact solver: the Allegro hand of example-robot-data

TIPS = ("link_3.0_tip", "link_7.0_tip", "link_11.0_tip", "link_15.0_tip")
CENTER, RADIUS, TIP_RADIUS = np.array([0.07, 0, 0.05]), 0.03, 0.012
TOWARDS = np.array([[0.2, 0.65, 0.75], [0.45, 0, 0.9], [0.2, -0.65, 0.75], [0.1, 0.3, -1]])
TOWARDS /= np.linalg.norm(TOWARDS, axis=1)[:, None]  # from the ball to each fingertip
STIFFNESS = 20.0  # N m/rad


def allegro_model(floating: bool = False) -> mujoco.MjModel:
    """The URDF's hand with position servos and a ball, contacts as hard as MuJoCo makes them."""
    robots = (Path(p) / "cmeel.prefix/share/example-robot-data/robots" for p in sys.path)
    urdf = next((r / "allegro_hand_description/urdf/allegro_right_hand.urdf" for r in robots if r.is_dir()), None)
    if urdf is None:
        pytest.skip("example-robot-data is not installed")
    # Its inertias of the last links are no rigid body's, so MuJoCo has to mend them.
    compiler = '<mujoco><compiler discardvisual="true" fusestatic="false" balanceinertia="true"/></mujoco></robot>'
    spec = mujoco.MjSpec.from_string(urdf.read_text().replace("</robot>", compiler))
    spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 100
    spec.option.timestep, spec.option.iterations, spec.option.tolerance = 5e-4, 200, 1e-14
    hard = {"friction": [0.8, 0.005, 0.0001], "solref": [0.002, 1], "solimp": [0.999, 0.9999, 1e-4, 0.5, 2]}
    for geom in spec.geoms:  # the links' boxes overlap each other: fingertips only
        geom.contype = geom.conaffinity = 0
    for tip in TIPS:
        geom = spec.body(tip).first_geom()
        geom.contype, geom.friction, geom.solref, geom.solimp = 1, *hard.values()
    for joint in spec.joints:
        servo = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        servo.gainprm[0], servo.biastype, servo.biasprm[1] = STIFFNESS, mujoco.mjtBias.mjBIAS_AFFINE, -STIFFNESS
    ball_body = spec.worldbody.add_body(name="ball", pos=CENTER)
    ball_body.add_freejoint()
    size = [RADIUS, 0, 0]
    ball_body.add_geom(
        name="ball", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=size, mass=0.1, contype=0, conaffinity=1, **hard
    )
    if floating:  # as many scenes have it: a free palm, welded to a body that is moved about
        spec.body("palm_link").add_freejoint()
        spec.worldbody.add_body(name="wrist", mocap=True)
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY, name1="palm_link", name2="wrist"
        )
    model = spec.compile()
    dofs = model.jnt_dofadr[model.actuator_trnid[:, 0]]  # the URDF's damping and friction of up to 12 N m are made up
    model.dof_frictionloss[dofs], model.dof_damping[dofs], model.dof_armature[dofs] = 0, 0.3, 1e-3
    return model


@pytest.fixture(scope="module")
def allegro():
    """The hand at rest with the ball in its fingertips, after a second of simulation."""
    model = allegro_model()
    data = mujoco.MjData(model)
    data.qpos[:16], data.qpos[12] = 0.5, 1.2
    J, torque = np.zeros((3, model.nv)), np.zeros(model.nv)
    for tip, towards, press in zip(TIPS, TOWARDS, (1.0, 1.0, 1.0, 2.5), strict=True):
        body = model.body(tip).id
        geom = model.body_geomadr[body]
        for _ in range(200):  # inverse kinematics: damped Newton
            mujoco.mj_fwdPosition(model, data)
            miss = CENTER + (RADIUS + TIP_RADIUS - 1e-4) * towards - data.geom_xpos[geom]
            mujoco.mj_jac(model, data, J, None, data.geom_xpos[geom], body)
            data.qpos[:16] += 0.5 * J[:, :16].T @ np.linalg.solve(J[:, :16] @ J[:, :16].T + 1e-5 * np.eye(3), miss)
            data.qpos[:16] = np.clip(data.qpos[:16], *model.jnt_range[:16].T)
        assert np.linalg.norm(miss) < 1e-6
        torque -= J.T @ (press * towards)
    mujoco.mj_forward(model, data)
    data.ctrl[:] = data.qpos[:16] + (torque + data.qfrc_bias)[:16] / STIFFNESS
    mujoco.mj_step(model, data, 2000)
    mujoco.mj_forward(model, data)
    assert np.abs(data.qacc).max() < 1e-6
    return model, data


def forces_of_mujoco(model, data) -> dict[str, np.ndarray]:
    """World force on the ball by name of the fingertip's body."""
    found, wrench = {}, np.zeros(6)
    for i, c in enumerate(data.contact):
        mujoco.mj_contactForce(model, data, i, wrench)
        names = [model.body(model.geom_bodyid[g]).name for g in c.geom]
        sign = -1 if names[0] == "ball" else 1  # of geom 1 on geom 2
        found[names[1] if names[0] == "ball" else names[0]] = sign * c.frame.reshape(3, 3).T @ wrench[:3]
    return found


def assert_forces_agree(grasp: Grasp, theirs: dict[str, np.ndarray], part: float) -> None:
    ours = grasp.solve()
    assert ours.converged and len(theirs) == len(grasp.geoms) == 4
    for (tip, _), force in zip(grasp.geoms, ours.forces_world, strict=True):
        assert np.linalg.norm(force - theirs[tip]) <= part * np.linalg.norm(theirs[tip])


def test_forces_of_the_allegro_hand_at_rest_are_mujocos(allegro):
    model, data = allegro
    # At rest both solve J^T c = tau, which four contacts and sixteen joints leave one solution: rounding and qacc.
    grasp = from_mujoco(model, data, "ball", hand="palm_link")
    assert grasp.notes == () and {h for h, _ in grasp.geoms} == set(TIPS)
    assert_forces_agree(grasp, forces_of_mujoco(model, data), 1e-6)
    assert grasp.imbalance() < 1e-6  # each finger's command presses with just that


def test_forces_of_the_allegro_hand_under_a_sudden_push_are_mujocos(allegro):
    model, rest = allegro
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = rest.qpos, rest.qvel, rest.ctrl
    data.qacc_warmstart[:] = rest.qacc_warmstart
    data.xfrc_applied[model.body("ball").id] = 0.3, 0.4, -0.2, 0.002, -0.003, 0.001
    mujoco.mj_forward(model, data)
    # What MuJoCo's contacts yield: 1 - solimp = 1e-3 of the change (rigid ones do not).
    assert_forces_agree(from_mujoco(model, data, "ball"), forces_of_mujoco(model, data), 2e-3)


def test_a_palm_welded_to_a_moved_body_is_a_fixed_palm(allegro):
    model, data = allegro
    floating = allegro_model(floating=True)
    other = mujoco.MjData(floating)
    for joint in range(model.njnt):
        name = model.joint(joint).name
        there = floating.joint(name) if name else floating.jnt(floating.body("ball").jntadr[0])
        other.qpos[there.qposadr[0] :][: len(data.joint(joint).qpos)] = data.joint(joint).qpos
    other.ctrl[:] = data.ctrl
    still = mujoco.MjData(model)
    still.qpos[:], still.ctrl[:] = data.qpos, data.ctrl
    fixed = from_mujoco(model, still, "ball")
    welded = from_mujoco(floating, other, "ball")
    order = [welded.geoms.index(pair) for pair in fixed.geoms]
    rows = np.ravel([[3 * j, 3 * j + 1, 3 * j + 2] for j in order])
    assert_same(welded.A[np.ix_(rows, rows)], fixed.A)
    assert_same(welded.b[rows], fixed.b)


def test_the_allegro_hand_holds_what_its_friction_holds(allegro):
    grasp = from_mujoco(*allegro, "ball")
    critical = np.max(np.hypot(*grasp.solve().forces[:, 1:].T) / grasp.solve().forces[:, 0])
    assert grasp.robustness(friction=1.01 * critical, samples=8).p_held == 1
    assert grasp.robustness(friction=0.99 * critical, samples=8).p_no_slip == 0
    result = grasp.robustness(friction=uniform(0.3, 0.9), mass=scale(0.8, 1.2), force=ball(0.5), samples=500)
    assert 0 < result.p_held < 1 and result.outcomes["unsolved"] == 0
    counted = result.force[result.outcome == "held"]
    ratio = np.hypot(counted[..., 1], counted[..., 2]) / counted[..., 0]
    assert (ratio <= result.friction[result.outcome == "held"] + 1e-6).all()


# --- a cube gripped flat: eight contacts, more than its motion has directions

GRIPPER = """
<mujoco>
  <option gravity="0 0 -9.81"/>
  <default><geom friction="0.5 0.005 0.0001"/></default>
  <worldbody>
    <body name="palm"><joint name="lift" type="slide" axis="0 0 1"/>
      <geom size=".01" mass=".5" contype="0" conaffinity="0"/>
      <body pos="-.05 0 0"><joint name="l" type="slide" axis="1 0 0" armature=".1"/>
        <geom name="l" type="box" size=".01 .02 .02" mass=".1"/></body>
      <body pos=".05 0 0"><joint name="r" type="slide" axis="-1 0 0" armature=".1"/>
        <geom name="r" type="box" size=".01 .02 .02" mass=".1"/></body>
    </body>
    <body name="cube"><freejoint/><geom name="cube" type="box" size=".0401 .03 .03" mass=".4"/></body>
  </worldbody>
  <equality><joint joint1="l" joint2="r" polycoef="0 1 0 0 0"/></equality>
  <actuator><motor joint="l"/><motor joint="lift"/></actuator>
</mujoco>
"""
GRIP, CUBE_MASS = 12.0, 0.4  # force of each jaw [N]; the motor of one drives both


def gripped_cube(apart: float = 0.0) -> Grasp:
    model = mujoco.MjModel.from_xml_string(GRIPPER)
    data = mujoco.MjData(model)
    data.joint("l").qpos += apart
    data.ctrl[:] = 2 * GRIP, G * (0.7 + CUBE_MASS)
    return from_mujoco(model, data)


def test_a_state_that_violates_an_equality_has_a_note():
    assert not gripped_cube().notes and not gripped_cube(0.0005).notes
    assert gripped_cube(0.002).notes == (
        "equality constraints are off by 0.002 (m or rad): the hand would not stay there",
    )


def test_a_cube_gripped_flat_is_held_as_one_by_all_its_contacts():
    grasp = gripped_cube()
    solution = grasp.solve()
    assert len(grasp.mu) == 8 and solution.state == ["stick"] * 8
    assert grasp.W @ solution.forces.ravel() == pytest.approx([0, 0, CUBE_MASS * G, 0, 0, 0], abs=1e-6)
    assert [solution.forces[jaw, 0].sum() for jaw in (slice(4), slice(4, 8))] == pytest.approx([GRIP, GRIP], abs=1e-6)
    # Jaws of one coefficient and no moment: Coulomb's law for each jaw as a whole.
    needed = CUBE_MASS * G / 2 / GRIP
    result = grasp.robustness(friction=uniform(0.05, 0.4, common=True), samples=4000)
    assert result.outcomes["unsolved"] == 0
    assert np.array_equal(result.outcome == "held", result.friction[:, 0] >= needed)
    # Some certified forces let it slip at once, others along one jaw only.
    assert np.isin(result.outcome[result.friction[:, 0] < needed], ("slipping", "non_unique")).all()


def test_a_gripped_cube_sticks_just_where_linear_programming_finds_forces():
    optimize = pytest.importorskip("scipy.optimize")
    grasp = gripped_cube()
    inputs = {"friction": uniform(0.05, 0.4), "force": ball(4), "torque": ball(0.2)}
    result = grasp.robustness(**inputs, samples=60)
    A, b, _ = grasp.problem(wrench=result.wrench)
    values, vectors = np.linalg.eigh(A)
    range_of_A = vectors[:, values > 1e-9 * values[-1]]
    turn = 2 * np.pi * np.arange(64) / 64
    circle = np.stack([np.zeros(64), np.cos(turn), np.sin(turn)])

    def forces_exist(mu: np.ndarray, b: np.ndarray) -> bool:
        """Some c = sum of edges of pyramids of 64 sides with A c + b = 0."""
        edges = [A[:, 3 * j : 3 * j + 3] @ (np.array([[1], [0], [0]]) + m * circle) for j, m in enumerate(mu)]
        rows = range_of_A.T @ np.concatenate(edges, axis=1)
        return optimize.linprog(np.zeros(rows.shape[1]), A_eq=rows, b_eq=-range_of_A.T @ b).status == 0

    truth = [
        # Pyramids within the cones and around them: where these differ nothing is claimed.
        (forces_exist(mu, x), forces_exist(mu / np.cos(np.pi / 64), x))
        for mu, x in zip(result.friction, b, strict=True)
    ]
    clear = [inner == outer for inner, outer in truth]
    assert sum(clear) > 50 and 10 < sum(inner for inner, _ in truth) < 50
    assert np.array_equal(result.sticks[clear], np.array(truth)[clear, 0])


# --- what is refused, what is noted


def test_what_is_no_grasp_is_refused_with_a_remedy():
    model, data = pressed_ball()
    with pytest.raises(ValueError, match="no body 'cube'.*move freely: ball"):
        from_mujoco(model, data, "cube")
    with pytest.raises(ValueError, match="'left' has no free joint.*move freely: ball"):
        from_mujoco(model, data, "left")
    data.qpos[4] = 1  # lifted out
    with pytest.raises(ValueError, match="'ball' does not touch anything"):
        from_mujoco(model, data, "ball")
    model, data = pressed_ball()
    data.qvel[4] = 0.1
    with pytest.raises(ValueError, match="(left|right) pad slides on ball with 100 mm/s"):
        from_mujoco(model, data, "ball")
    heavy = SLIDERS.format(more="").replace("<freejoint/>", '<joint type="free" armature="0.1"/>')
    with pytest.raises(ValueError, match="'ball' is no rigid body.*armature"):
        from_mujoco(model := mujoco.MjModel.from_xml_string(heavy), mujoco.MjData(model), "ball")
    weld = '<equality><weld body1="ball" body2="left"/></equality><actuator>'
    model = mujoco.MjModel.from_xml_string(SLIDERS.format(more="").replace("<actuator>", weld))
    with pytest.raises(ValueError, match="equality constraint holds the object"):
        from_mujoco(model, mujoco.MjData(model), "ball")


def test_friction_with_two_coefficients_is_refused():
    pair = '<contact><pair geom1="left pad" geom2="ball" friction="0.4 0.5 0 0 0"/></contact><actuator>'
    model = mujoco.MjModel.from_xml_string(SLIDERS.format(more="").replace("<actuator>", pair))
    with pytest.raises(ValueError, match="left pad on ball has the friction 0.4 and 0.5"):
        from_mujoco(model, mujoco.MjData(model), "ball")


def test_a_table_counts_unless_the_hand_is_named():
    table = '<geom name="table" type="box" size="1 1 .1" pos="0 0 -.18"/>'
    model, data = pressed_ball(table)
    assert sorted(h for h, _ in from_mujoco(model, data, "ball").geoms) == ["left pad", "right pad", "table"]
    alone = from_mujoco(model, data, "ball", hand="left")
    assert [h for h, _ in alone.geoms] == ["left pad"]
    assert "contacts with right pad, table are left out" in alone.notes
    data.qpos[0] = -0.02  # the left pad off the ball
    with pytest.raises(ValueError, match="does not touch 'left' in this state; it touches right pad, table"):
        from_mujoco(model, data, "ball", hand="left")


def test_a_limit_that_presses_holds_its_finger():
    # The right pad presses, the left one has no motor and cannot give way: both press with PRESS.
    text = SLIDERS.format(more="").replace('axis="1 0 0"/>', 'axis="1 0 0" range="0 1"/>', 1)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.ctrl[:] = 0, -PRESS
    data.qpos[0] = -5e-5
    grasp = from_mujoco(model, data, "ball")
    assert any("1 joints or tendons press against their limits" in note for note in grasp.notes)
    assert grasp.solve().forces[:, 0] == pytest.approx([PRESS, PRESS], abs=SOLVED)
    assert grasp.robustness(friction=1.01 * NEEDED, samples=8).p_held == 1
    assert grasp.robustness(friction=0.99 * NEEDED, samples=8).p_held == 0
    data.ctrl[:] = PRESS, 0  # away from the limit: the right pad is free to go, and the left one to follow
    data.qpos[0] = 0.0001
    grasp = from_mujoco(model, data, "ball")
    assert not any("limits" in note for note in grasp.notes)
    assert (grasp.solve().forces[:, 0] < PRESS).all()


def test_a_finger_that_presses_on_a_finger_holds_it():
    pusher = '<body name="pusher" pos="-.1398 0 0"><joint name="p" type="slide" axis="1 0 0"/>'
    pusher += '<geom type="box" size=".02 .05 .05" mass=".2"/></body>'
    model, data = pressed_ball(pusher)
    data.ctrl[:] = 0, -PRESS
    data.joint("p").qfrc_applied[:] = PRESS  # through the left pad, which has nothing of its own
    grasp = from_mujoco(model, data, "ball")
    assert any("contacts between other bodies press" in note for note in grasp.notes)
    assert grasp.solve().forces[:, 0] == pytest.approx([PRESS, PRESS], abs=SOLVED)
    assert grasp.robustness(friction=1.01 * NEEDED, samples=8, acceleration=SHARP).p_held == 1
    assert grasp.robustness(friction=0.99 * NEEDED, samples=8, acceleration=SHARP).p_held == 0
    judged = rank(GraspSet.from_grasps([grasp]), friction=1.01 * NEEDED, samples=64)
    assert judged.p_held[0] == 1


def test_a_limit_does_not_pull():
    # The left motor presses harder than the right one, and its limit takes the rest; pushed back, the pad leaves it.
    strong, push, masses = PRESS + 2, 10.0, 0.3 + 0.4 + MASS
    text = SLIDERS.format(more="").replace('axis="1 0 0"/>', 'axis="1 0 0" range="-1 -0.001"/>', 1)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.ctrl[:] = strong, -PRESS  # MuJoCo's soft limit is passed by 1 mm, and so presses
    grasp = from_mujoco(model, data, "ball")
    assert len(grasp.props) == 1
    assert grasp.solve().forces[:, 0] == pytest.approx([PRESS, PRESS], abs=SOLVED)
    assert grasp.robustness(friction=1.0, samples=8).p_held == 1
    assert grasp.robustness(friction=1.0, force=[-1.9, 0, 0], samples=8).p_held == 1
    pushed = grasp.robustness(friction=1.0, force=[-push, 0, 0], samples=8)
    away = (push + PRESS - strong) / masses
    sides = [hand for hand, _ in grasp.geoms]
    assert pushed.force[0, sides.index("left pad"), 0] == pytest.approx(strong + 0.3 * away, abs=SOLVED)
    assert pushed.force[0, sides.index("right pad"), 0] == pytest.approx(PRESS - 0.4 * away, abs=SOLVED)
    # All move together: no contact slips, but what the command leaves over is more than half of weight and push.
    assert pushed.p_no_slip == 1 and pushed.outcomes["command_insufficient"] == 8
    assert pushed.imbalance == pytest.approx((push + PRESS - strong) / (push + MASS * G), abs=SOLVED)


SIX_JOINTS = "".join(f'<joint type="{kind}" axis="{axis}"/>' for kind in ("slide", "hinge") for axis in ("1 0 0", "0 1 0", "0 0 1"))


def test_six_joints_that_leave_all_freedoms_are_a_free_joint():
    free = ball_between_pads()
    model = mujoco.MjModel.from_xml_string(SLIDERS.format(more="").replace("<freejoint/>", SIX_JOINTS))
    data = mujoco.MjData(model)
    data.ctrl[:] = PRESS, -PRESS
    grasp = from_mujoco(model, data, "ball")
    for ours, theirs in zip(grasp.problem(), free.problem(), strict=True):
        assert_same(ours, theirs)
    assert_same(grasp.W, free.W)
    data.qpos[-2] = np.pi / 2  # the first and the last hinge in one line
    with pytest.raises(ValueError, match="'ball' has no free joint of its own, nor slides and hinges"):
        from_mujoco(model, data, "ball")


def test_a_table_carries_a_ball_that_nothing_presses():
    model, data = pressed_ball('<geom name="table" type="box" size="1 1 .1" pos="0 0 -.18"/>')
    data.ctrl[:] = 0
    grasp = from_mujoco(model, data, "ball")
    result = grasp.robustness(samples=8)
    assert result.p_held == 1
    assert grasp.imbalance() == pytest.approx(0, abs=1e-12)
    assert result.force[0, [h for h, _ in grasp.geoms].index("table"), 0] == pytest.approx(MASS * G, abs=SOLVED)


def test_corners_of_a_face_stand_for_its_contacts():
    box = '<body name="box" pos="0 0 .5"><freejoint/><geom name="box" type="box" size=".05 .04 .03" mass="1"/></body>'
    walls = "".join(
        f'<geom name="{name}" type="box" size="{size}" pos="{pos}"/>'
        for name, size, pos in (
            ("floor", "1 1 .1", "0 0 .3701"),
            ("near", ".1 1 1", "-.1499 0 .5"),
            ("far", ".1 1 1", ".1499 0 .5"),
        )
    )
    model, data = pressed_ball(box + walls)
    with pytest.raises(ValueError, match=r'12 contacts .*at most 8 are solved.*reduce="corners"'):
        from_mujoco(model, data, "box", most_contacts=8)
    with pytest.raises(ValueError, match="9 contacts .*hand="):
        from_mujoco(model, data, "box", reduce="corners", most_contacts=8)
    every = from_mujoco(model, data, "box")
    assert len(every.geoms) == 12
    stands = every.robustness(force=ball(1), samples=32)  # on the floor, between the walls
    assert stands.p_held == 1 and stands.p_resisted == 1
    model.geom_contype[model.geom("floor").id] = model.geom_conaffinity[model.geom("floor").id] = 0
    grasp = from_mujoco(model, data, "box", reduce="corners")
    assert len(grasp.geoms) == 6 and "near on box: 3 of 4 contacts are kept" in grasp.notes
    face = grasp.points[:3]
    area = np.linalg.norm(np.cross(face[1] - face[0], face[2] - face[0])) / 2
    assert area == pytest.approx(0.08 * 0.06 / 2, rel=1e-6)


PINCHED = """<mujoco><option timestep="0.0005" cone="elliptic" impratio="100"/>
  <default><geom condim="{condim}" friction="0.8 0.004 0" solref="0.002 1" solimp="0.999 0.999 1e-4"/></default>
  <worldbody><body name="bar"><freejoint/><inertial pos="0 -0.01 0" mass="0.3" diaginertia="4e-4 3e-4 5e-4"/>
    <geom type="box" size="0.03 0.06 0.02"/></body>
  <body pos="-0.0339 0 0"><joint type="slide" axis="1 0 0" damping="5"/><geom type="sphere" size="0.004" mass="0.05"/></body>
  <body pos="0.0339 0 0"><joint type="slide" axis="-1 0 0" damping="5"/><geom type="sphere" size="0.004" mass="0.05"/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize("condim", [3, 4])
def test_torsional_friction_makes_contacts_soft(condim):
    """Fingers of 20 N hold a bar 10 mm beside its center of mass: mu N >= m g / 2 sqrt(1 + (10 / 5)^2), or never."""
    model = mujoco.MjModel.from_xml_string(PINCHED.format(condim=condim))
    data = mujoco.MjData(model)
    data.qfrc_applied[6:8] = 20
    mujoco.mj_forward(model, data)
    grasp = from_mujoco(model, data, "bar")
    if condim == 3:
        assert grasp.torsion is None and grasp.robustness(samples=1).p_resisted == 0
        return
    needed = rank([grasp], samples=1).required_friction[0, 1]
    grasps = GraspSet.from_grasps([grasp])
    np.testing.assert_allclose(grasps.arrays["torsion_radius"], 0.005)
    assert needed == pytest.approx(0.3 * 9.81 / 2 / 20 * np.sqrt(5), rel=0.02)
    # the fingers slide and do not turn
    np.testing.assert_allclose(grasps.arrays["angular_jacobian"], 0, atol=1e-9)
    for factor in (0.98, 1.02):
        assert grasp.robustness(samples=1, friction=factor * needed, acceleration=1e-4).p_held == (factor > 1)


def test_what_mujoco_has_and_garra_not_is_noted():
    text = SLIDERS.format(more="").replace('axis="1 0 0"/>', 'axis="1 0 0" frictionloss="0.1"/>', 1)
    text = text.replace('<geom friction="', '<geom condim="6" friction="')
    model = mujoco.MjModel.from_xml_string(text)
    notes = " ".join(from_mujoco(model, mujoco.MjData(model), "ball").notes)
    assert "frictionloss" in notes and "condim 6" in notes
    smooth = SLIDERS.format(more="").replace("<geom friction", '<geom condim="1" friction')
    model = mujoco.MjModel.from_xml_string(smooth)
    assert from_mujoco(model, mujoco.MjData(model), "ball").mu == pytest.approx(0)


# --- counting


def test_intervals_are_exact_and_unsolved_samples_widen_them():
    # scipy.stats.beta.ppf(0.025, 7, 44), .ppf(0.975, 8, 43)
    assert confidence_interval(7, 50, 0) == pytest.approx((0.0581917003, 0.2673960025), abs=1e-10)
    assert confidence_interval(0, 10, 0)[0] == 0 and confidence_interval(10, 10, 0)[1] == 1
    assert confidence_interval(7, 50, 3) == (confidence_interval(7, 53, 0)[0], confidence_interval(10, 53, 0)[1])
    assert confidence_interval(0, 0, 0) == (0, 1)


def test_draws_have_the_moments_of_their_distributions():
    inputs = {"friction": normal(0.5, 0.1, min=0.5), "force": ball(2.0)}
    result = ball_between_pads().robustness(**inputs, samples=20000)
    push, friction = result.wrench[:, :3], result.friction
    assert np.linalg.norm(push, axis=1).max() <= 2
    # |x|^3 is uniform in [0, R^3], and no direction is preferred: 4 standard deviations.
    assert (np.linalg.norm(push, axis=1) ** 3).mean() == pytest.approx(4, abs=4 * 8 / np.sqrt(12 * 20000))
    assert push.mean(axis=0) == pytest.approx(np.zeros(3), abs=4 * 2 / np.sqrt(5 * 20000))
    assert friction.min() >= 0.5 and friction.mean() == pytest.approx(0.5 + 0.1 * np.sqrt(2 / np.pi), abs=2e-3)
    assert np.abs(np.corrcoef(friction.T)[0, 1]) < 4 / np.sqrt(20000)
    common = ball_between_pads().robustness(friction=uniform(0.2, 0.4, common=True), samples=10).friction
    assert (common == common[:, :1]).all() and len(np.unique(common)) == 10
    for wrong in (lambda: uniform(2, 1), lambda: ball(-1), lambda: normal(0, -1)):
        with pytest.raises(ValueError):
            wrong()


def test_the_only_free_body_is_the_object():
    model = mujoco.MjModel.from_xml_string(SLIDERS.format(more=""))
    data = mujoco.MjData(model)
    data.ctrl[:] = PRESS, -PRESS
    assert from_mujoco(model, data).name == "ball"
    two = mujoco.MjModel.from_xml_string(
        SLIDERS.format(more='<body name="other" pos="9 9 9"><freejoint/><geom size=".1"/></body>')
    )
    with pytest.raises(ValueError, match="object= names the body that is held; bodies that move freely: ball, other"):
        from_mujoco(two, mujoco.MjData(two))


def test_names_of_contacts_and_grasps_stay_to_the_end(tmp_path):
    grasp = ball_between_pads()
    result = grasp.robustness(friction=uniform(0.5 * NEEDED, 1.5 * NEEDED), samples=400)
    failed = (result.outcome == "slipping").sum()
    assert result.contacts == ["left pad", "right pad"] == grasp.contact_names
    assert set(result.limiting_contact) <= {"left pad", "right pad"} and max(result.limiting_contact.values()) <= failed
    assert sum(result.limiting_contact.values()) >= failed > 50
    assert "slips or opens: " in repr(result) and " pad " in repr(result)
    held = result.outcome == "held"
    expected = 1 - (MASS * G / 2 / PRESS) / result.friction[held].min(axis=1)  # each pad carries half of the weight
    assert result.margin[held].min() >= -1e-9 and np.all(result.margin[held] >= expected - 1e-6)
    ranking = rank([grasp, grasp], friction=scale(0.1, 0.2), samples=50)
    assert "cube" not in repr(ranking) and "ball (grasp 0)" in repr(ranking)
    assert ranking.contact_name(1, int(ranking.limiting_contact[1])) in ("left pad", "right pad")
    lines = repr(ranking.replay(1, 3)).splitlines()
    assert lines[0].startswith("ball (grasp 1), sample 3: ") and lines[1].startswith("  left pad: ") and len(lines) == 3
    named = GraspSet.from_grasps([grasp, grasp], names=["can", "box"])
    for file in ("set.h5", "set.npz"):
        named.save(tmp_path / file)
        read = rank(tmp_path / file, samples=10)
        assert read.name(1) == "box (grasp 1)" and read.contact_name(1, 0) == "left pad"
    page = ranking.report(tmp_path / "page.html").read_text()
    assert "right pad" in page and "ball (grasp 0)" in page


def test_a_result_can_be_tabled_and_drawn():
    result = ball_between_pads().robustness(friction=uniform(0.1, 0.5), samples=200)
    assert "P(held)" in repr(result) and "200 samples" in repr(result)
    assert "P(held)" in result._repr_html_()
    pandas = pytest.importorskip("pandas")
    table = result.to_pandas()
    assert isinstance(table, pandas.DataFrame) and len(table) == 200
    assert (table["outcome"] == "held").mean() == pytest.approx(result.p_held)
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = result.plot.friction()
    x, y = axes.lines[0].get_data()
    assert (y[x < NEEDED - 0.02] == 0).all() and y[-1] > y[0]


# --- sets of grasps of MuJoCo's hands


def jaw_on_a_ball() -> Grasp:
    """One motor moves both jaws, another lifts them."""
    text = GRIPPER.replace('type="box" size=".0401 .03 .03"', 'type="sphere" size=".0401"')
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.ctrl[:] = 2 * GRIP, G * (0.7 + CUBE_MASS)
    return from_mujoco(model, data)


def assert_counts_are_equal(one: Robustness, ranking: Ranking) -> None:
    """To the last bit."""
    assert one.p_held == ranking.p_held[0] and one.interval == (ranking.low[0], ranking.high[0])
    assert one.p_resisted == ranking.p_resisted[0]
    assert list(one.outcomes.values()) == ranking.outcomes[0].tolist()
    assert one.non_unique.sum() == ranking.non_unique[0]


@pytest.mark.parametrize(
    "hand, inputs",
    [
        ("pads", {"friction": uniform(0.1, 0.5), "mass": scale(0.5, 2.5), "force": ball(5.0)}),
        ("pads", {"friction": normal(0.4, 0.1, common=True), "torque": ball(0.05), "force_limit": 12.0}),
        ("pads", {"friction": scale(0.5, 1.5), "mass": normal(MASS, 0.1), "imbalance": 0.1, "acceleration": 1e-3}),
        ("cube", {"friction": uniform(0.05, 0.4), "mass": 0.3, "force": ball(4.0)}),
    ],
)
def test_robustness_is_the_ranking_of_one_grasp(hand, inputs):
    grasp = ball_between_pads() if hand == "pads" else gripped_cube()
    one = grasp.robustness(**inputs, samples=500, seed=3)
    if inputs.get("mass") == 0.3:  # a constant mass has its inertia
        grasp = replace(grasp, mass=0.3, inertia=0.3 / grasp.mass * grasp.inertia)
    ranking = rank([grasp], samples=500, seed=3, **{k: v for k, v in inputs.items() if k != "mass" or v != 0.3})
    assert_counts_are_equal(one, ranking)
    if hand == "pads":  # forces of redundant contacts are not unique, and some let them slip
        assert one.p_no_slip == ranking.p_no_slip[0]
    sample = ranking.replay(0, 17)
    assert sample["outcome"] == one.outcome[17] and sample["mass"] == pytest.approx(one.mass[17], rel=1e-15)
    assert np.array_equal(sample["friction"], one.friction[17])
    assert hand == "cube" or np.array_equal(sample["force"], one.force[17])


def test_robustness_is_the_answer_of_the_program(tmp_path):
    from program import garra as program

    grasp = ball_between_pads()
    GraspSet.from_grasps([grasp]).save(tmp_path / "set.h5")
    study = ("contacts.friction={uniform=[0.1, 0.5]}", "load.force_radius=5.0", "sampling.samples=500", "seed=3")
    given = [word for key in study for word in ("--set", key)]
    program("grasp", "rank", tmp_path / "set.h5", "-o", tmp_path / "r.h5", "--no-report", *given)
    one = grasp.robustness(friction=uniform(0.1, 0.5, common=True), force=ball(5.0), samples=500, seed=3)
    assert_counts_are_equal(one, Ranking.read(tmp_path / "r.h5"))


def test_velocities_count_in_samples_as_in_the_contact_problem():
    model, data = tendon_hand()
    data.qvel[0] = 3.0
    J = np.zeros((6, model.nv))
    cube = model.body("cube").id
    mujoco.mj_jac(model, data, J[:3], J[3:], data.xpos[cube], model.body("a2").id)
    data.qvel[5:8] = J[:3, 0] * 3.0
    data.qvel[8:11] = data.xmat[cube].reshape(3, 3).T @ J[3:, 0] * 3.0
    grasp = from_mujoco(model, data, "cube")
    assert np.abs(grasp.drift).max() > 0.05
    assert grasp.solve().forces.ravel() == pytest.approx(contact.solve(*grasp.problem()).c, abs=SOLVED)


@pytest.mark.parametrize("hand", ["pads", "jaw", "allegro"])
def test_samples_of_a_mujoco_hand_are_grasps_of_a_set_with_the_same_outcomes(hand, request):
    if hand == "allegro":
        grasp = from_mujoco(*request.getfixturevalue("allegro"), "ball")
        inputs = {"friction": uniform(0.3, 0.9), "mass": scale(0.5, 2.0), "force": ball(0.5)}
    else:
        grasp = ball_between_pads() if hand == "pads" else jaw_on_a_ball()
        inputs = {"friction": uniform(0.1, 0.5), "mass": scale(0.5, 2.5), "force": ball(5.0)}
    result = grasp.robustness(**inputs, samples=400)
    samples = [
        replace(grasp, mu=mu, mass=mass, inertia=mass / grasp.mass * grasp.inertia, applied=grasp.applied + wrench)
        for mu, mass, wrench in zip(result.friction, result.mass, result.wrench, strict=True)
    ]
    ranking = rank(GraspSet.from_grasps(samples), samples=1, friction_samples=1)
    assert ranking.hand == "whole" and (ranking.status == 0).all()
    found = np.array(OUTCOMES)[ranking.outcomes.argmax(axis=1)]
    assert np.array_equal(found, result.outcome)
    seen = {name: int((found == name).sum()) for name in set(found)}
    assert min(seen.get("held", 0), seen.get("slipping", 0)) > 10, seen


def ten_fingers() -> Grasp:
    """Balls on three slides each press on a ball from all around, ten directions of a spiral."""
    k = np.arange(10)
    z = 1 - (2 * k + 1) / 10
    turn = np.pi * (1 + 5**0.5) * k
    out = np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], axis=-1)
    fingers, motors = "", ""
    for j, place in enumerate(0.0599 * out):
        slides = "".join(f'<joint name="{a}{j}" type="slide" axis="{x}"/>' for a, x in zip("xyz", AXES, strict=True))
        text = " ".join(map(str, place))
        fingers += f'<body pos="{text}">{slides}<geom type="sphere" size=".01" mass="{0.1 + 0.02 * j}"/></body>'
        motors += "".join(f'<motor joint="{a}{j}"/>' for a in "xyz")
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody>{fingers}
      <body name="ball"><freejoint/><geom type="sphere" size=".05" mass=".5"/></body></worldbody>
      <actuator>{motors}</actuator></mujoco>""")
    data = mujoco.MjData(model)
    weight = np.zeros((10, 3))
    weight[:, 2] = G * (0.1 + 0.02 * k + MASS / 10)
    data.ctrl[:] = (weight - PRESS * out).ravel()
    return from_mujoco(model, data, "ball", most_contacts=32)


AXES = ("1 0 0", "0 1 0", "0 0 1")
FRICTION = 0.085  # about half of the pushes need more


def test_ten_contacts_of_a_mujoco_hand_are_checked_in_a_set_by_their_stick_forces():
    grasp = ten_fingers()
    assert len(grasp.mu) == 10
    pushes = np.random.default_rng(4).normal(size=(200, 6)) * [3, 3, 3, 0.05, 0.05, 0.05]
    samples = [replace(grasp, mu=np.full(10, FRICTION), applied=grasp.applied + push) for push in pushes]
    ranking = rank(GraspSet.from_grasps(samples), samples=1, friction_samples=1, acceleration=SHARP)
    assert (ranking.status == 0).all() and ranking.unsolved.sum() == 0
    A, b, _ = grasp.problem(wrench=pushes)
    c = -np.linalg.solve(A, b[..., None]).reshape(200, 10, 3)
    needed = np.where(c[..., 0] > 0, np.hypot(c[..., 1], c[..., 2]) / c[..., 0], np.inf).max(axis=1)
    assert ranking.required_friction[:, 1] == pytest.approx(needed, rel=SOLVED)
    assert np.array_equal(ranking.p_no_slip == 1, needed <= FRICTION)
    assert 20 < (ranking.p_no_slip == 1).sum() < 180
    carried = grasp.imbalance(wrench=pushes) <= 0.5
    assert np.array_equal(ranking.p_held == 1, (needed <= FRICTION) & carried & (ranking.p_resisted == 1))
    assert ranking.replay(0)["force"].shape == (10, 3)
