"""Chains from Python, against Pinocchio's numbers (data/reference/chain) and the ways that arrays may come."""

from __future__ import annotations

import pickle

import garra
import h5py
import numpy as np
import pytest
from arrays import REFERENCE, require_module

require_module()


@pytest.fixture(scope="module")
def states() -> dict[str, np.ndarray]:
    with h5py.File(REFERENCE / "chain" / "iiwa14.h5") as file:
        return {name: data[()] for name, data in file.items()}


@pytest.fixture(scope="module")
def robot() -> garra.Chain:
    return garra.models.iiwa14()


def near(found: np.ndarray, truth: np.ndarray, tolerance: float = 1e-12) -> None:
    assert found.shape == truth.shape
    assert np.abs(found - truth).max() <= tolerance * max(1.0, np.abs(truth).max())


def test_dynamics_are_pinocchios(robot, states):
    q, qd, qdd = states["q"], states["qd"], states["qdd_in"]
    near(robot.crba(q), states["M"])
    near(robot.gravity(q), states["g"])
    near(robot.rnea(q, qd, qdd), states["tau_rnea"])
    near(robot.aba(q, qd, states["tau"]), states["qdd_aba"], 1e-10)
    near(np.einsum("nij,nj->ni", robot.coriolis(q, qd), qd), states["Cqd"])
    near(robot.manipulability(q), states["manip"], 1e-10)


def test_words_of_the_robotics_toolbox_are_the_same_functions(robot, states):
    q, qd, qdd, tau = (states[name] for name in ("q", "qd", "qdd_in", "tau"))
    assert (robot.fkine(q) == robot.forward_kinematics(q)).all()
    assert (robot.jacob0(q) == robot.jacobian(q)).all()
    assert (robot.jacobe(q) == robot.jacobian(q, frame="tool")).all()
    assert (robot.inertia(q) == robot.crba(q)).all()
    assert (robot.rne(q, qd, qdd) == robot.rnea(q, qd, qdd)).all()
    assert (robot.accel(q, qd, tau) == robot.aba(q, qd, tau)).all()
    assert (robot.gravload(q) == robot.gravity(q)).all()


def test_leading_axes_go_through_and_broadcast(robot, states):
    q, qd, qdd = states["q"][:12], states["qd"][:12], states["qdd_in"][:12]
    all_at_once = robot.rnea(q, qd, qdd)
    assert (
        robot.rnea(q.reshape(3, 4, 7), qd.reshape(3, 4, 7), qdd.reshape(3, 4, 7)).reshape(12, 7) == all_at_once
    ).all()
    assert (robot.rnea(q[3], qd[3], qdd[3]) == all_at_once[3]).all()
    assert (robot.rnea(q, qd[0], qdd)[0] == all_at_once[0]).all()
    assert robot.manipulability(q[0]).shape == ()
    assert robot.crba(np.empty((0, 7))).shape == (0, 7, 7)
    fortran = np.asfortranarray(q)
    assert (robot.crba(fortran) == robot.crba(q)).all()
    assert (robot.crba(q[::2]) == robot.crba(q)[::2]).all()
    assert (robot.crba(q.tolist()) == robot.crba(q)).all()


def test_a_bad_state_is_nan_and_disturbs_no_other(robot, states):
    q = states["q"].copy()
    q[5, 2] = np.nan
    found = robot.evaluate(q, outputs=("mass_matrix",))
    assert np.isnan(found.mass_matrix[5]).all()
    assert found.status[5] == 3
    kept = np.arange(len(q)) != 5
    assert (found.mass_matrix[kept] == robot.crba(states["q"])[kept]).all()


def test_wrong_shapes_and_missing_arrays_say_what_is_expected(robot):
    with pytest.raises(ValueError, match=r"qd has the shape \(3,\), not \[\.\.\., 7\]"):
        robot.rnea(np.zeros(7), np.zeros(3), np.zeros(7))
    with pytest.raises(ValueError, match=r"leading axes do not fit together: q \(4, 7\), qd \(3, 7\)"):
        robot.coriolis(np.zeros((4, 7)), np.zeros((3, 7)))
    with pytest.raises(garra.UsageError, match="output tau needs qdd"):
        robot.evaluate(np.zeros(7), np.zeros(7), outputs=("tau",))
    with pytest.raises(garra.UsageError, match="poses"):
        robot.evaluate(np.zeros(7), outputs=("poses",))
    with pytest.raises(garra.InputOutputError, match="nowhere.urdf"):
        garra.load("nowhere.urdf")


def test_inverse_kinematics_reaches_what_forward_kinematics_says(robot):
    draws = np.random.default_rng(7)
    pose = robot.fkine(draws.uniform(robot.lower, robot.upper, (5, 10, 7)))
    found = robot.inverse_kinematics(pose)
    assert found.success.all()
    near(robot.fkine(found.q), pose, 1e-9)
    assert (found.q >= robot.lower).all() and (found.q <= robot.upper).all()
    away = pose[0, 0].copy()
    away[:3, 3] = 10.0
    failed = robot.inverse_kinematics(away)
    assert not failed.success and failed.residual > 1


def test_inverse_kinematics_says_how_far_the_nearest_pose_is(robot):
    pose = robot.fkine(np.zeros(7))
    found = robot.inverse_kinematics(pose)
    assert found.success and repr(found) == "InverseKinematics(1 of 1 poses reached)"
    pose[2, 3] += 1.0  # the arm stands upright: the top is 1 m below
    failed = robot.inverse_kinematics(np.stack([robot.fkine(np.full(7, 0.3)), pose]))
    assert failed.success.tolist() == [True, False]
    assert 0.99 < failed.position_error[1] < 1.2 and failed.residual[1] >= failed.position_error[1]
    assert repr(failed).startswith("InverseKinematics(1 of 2 poses reached; the nearest found of pose 1 is ")
    with pytest.raises(ValueError, match="pose 0: its matrix is no rotation"):
        robot.inverse_kinematics(2 * pose)


def test_a_falling_pendulum_keeps_its_energy():
    robot = garra.models.puma560()
    motion = robot.simulate(np.zeros((2, 6)), times=np.linspace(0, 0.5, 6), method="rk4", step=1e-3)
    energy = motion.kinetic_energy + motion.potential_energy
    assert motion.q.shape == (2, 6, 6)
    assert np.abs(energy - energy[:, :1]).max() < 1e-6 * np.abs(motion.kinetic_energy).max()
    assert (motion.status == 0).all()


def test_descriptions_read_back_to_the_same_bits(robot, states):
    again = garra.Chain.from_toml(robot.to_toml())
    q, qd, qdd = states["q"], states["qd"], states["qdd_in"]
    assert (again.rnea(q, qd, qdd) == robot.rnea(q, qd, qdd)).all()
    again.gravity_vector = (0, 0, 0)
    assert np.abs(again.gravity(q)).max() == 0


def test_tensors_come_back_as_tensors(robot):
    torch = pytest.importorskip("torch")
    q = torch.zeros(4, 7, dtype=torch.float32)
    assert isinstance(robot.crba(q), torch.Tensor)
    assert robot.crba(q).dtype == torch.float64


def test_robots_are_pickled_and_named(tmp_path):
    robot = garra.load("puma560")
    robot.gravity_vector = [0, 1.0, -9.0]
    copy = pickle.loads(pickle.dumps(robot))
    q = np.linspace(-0.5, 0.5, 6)
    np.testing.assert_array_equal(copy.rnea(q, q, q), robot.rnea(q, q, q))
    with pytest.raises(garra.Error, match="no_such_robot"):
        garra.load("no_such_robot")


def test_what_does_not_fit_is_named():
    robot = garra.models.puma560()
    np.testing.assert_array_equal(robot.evaluate(np.zeros(6), outputs="pose").pose, robot.fkine(np.zeros(6)))
    with pytest.raises(TypeError, match="q is complex"):
        robot.fkine(np.zeros(6, complex))
    assert robot.simulate(np.zeros(6), 0.1, times=0.01).q.shape == (1, 6)
    with pytest.raises(ValueError, match="times"):
        robot.simulate(np.zeros(6), times=[])
    with pytest.raises(ValueError, match=r"q has the shape \(2, 6\), not \[6\]"):
        garra.singularity.analyze(robot, np.zeros((2, 6)))


def test_a_joint_is_locked_where_it_is_told():
    whole = garra.load("iiwa14")
    locked = garra.load("iiwa14", lock={whole.joint_names[2]: 0.4, whole.joint_names[4]: "20 deg"})
    q = np.array([0.1, 0.2, 0.4, 0.3, np.radians(20), 0.5, 0.6])
    rest = [0, 1, 3, 5, 6]
    assert locked.joint_names == [whole.joint_names[j] for j in rest]
    np.testing.assert_allclose(locked.fkine(q[rest]), whole.fkine(q), atol=1e-14)
    np.testing.assert_allclose(locked.crba(q[rest]), whole.crba(q)[np.ix_(rest, rest)], atol=1e-13)


def test_every_function_of_the_module_takes_what_python_has():
    """A C++ type in a signature is one that no caller can make: lock= of load() was such a one."""
    core = garra._core
    functions = [getattr(core, name) for name in dir(core) if callable(getattr(core, name))]
    assert len(functions) > 20
    assert not [f.__name__ for f in functions if "std::" in (f.__doc__ or "")]


def test_unknown_names_get_the_list_of_robots():
    with pytest.raises(garra.InputOutputError, match="Models: exoskeleton, .*iiwa14, jaco2, panda, puma560"):
        garra.load("ur10")


def test_gravity_and_payload_of_a_urdf_change_the_torques_by_its_weight():
    path = garra.files.data("robots/iiwa14.urdf")
    gravity, com = np.array([0.5, -1.0, -3.7]), [0.03, -0.02, 0.1]
    bare = garra.load(path, gravity=gravity)
    laden = garra.load(path, gravity=gravity, payload={"mass": 2.5, "com": com})
    q = np.array([0.3, -0.7, 0.2, 1.1, -0.4, 0.9, 0.5])
    jacobian = bare.evaluate(q, outputs="jacobian", point=com).jacobian
    np.testing.assert_allclose(laden.gravity(q) - bare.gravity(q), -2.5 * jacobian[:3].T @ gravity, atol=1e-12)
    with pytest.raises(ValueError, match="payload: 'masse' is none of mass, com, inertia"):
        garra.load(path, payload={"masse": 1})


def test_an_unknown_name_gets_the_names_there_are():
    for load, names in ((garra.load, "iiwa14, jaco2, panda, puma560"), (garra.platform.load, "irregular, trepa_like")):
        with pytest.raises(garra.InputOutputError, match=names):
            load("ur10")


def test_an_inertia_may_be_three_rows():
    def mass_matrix(inertia):
        return garra.Chain.from_toml(
            "schema = 1\nrobot = 'r'\nconvention = 'dh'\n"
            f"[[joint]]\nalpha = '90 deg'\nmass = 2\ncom = [0.1, 0, 0]\ninertia = {inertia}\n"
            f"[[joint]]\na = 0.3\nmass = 1\ninertia = {inertia}\n"
        ).crba([0.3, 0.4])

    rows = [[0.0887, -0.0001, -0.0002], [-0.0001, 0.0763, 0.0072], [-0.0002, 0.0072, 0.0842]]
    flat = [0.0887, 0.0763, 0.0842, -0.0001, 0.0072, -0.0002]  # xx, yy, zz, xy, yz, xz
    np.testing.assert_array_equal(mass_matrix(rows), mass_matrix(flat))
    for wrong, said in (
        ([[1, 0, 0], [0, 1, 0], [0, 0.1, 1]], "not symmetric: entries 8 and 6 differ"),
        ([[1, 0], [0, 1], [0, 0]], r"inertia\[0\]: expected an array of 3"),
    ):
        with pytest.raises(garra.FileError, match=said):
            mass_matrix(wrong)


def test_limits_in_degrees_are_suspected(tmp_path):
    def notes(low, high, kind="revolute"):
        file = tmp_path / "r.urdf"
        limit = f'<limit lower="{low}" upper="{high}" effort="1" velocity="1"/>'
        file.write_text(
            '<robot name="r"><link name="a"/><link name="b"/><joint name="x" '
            f'type="{kind}"><parent link="a"/><child link="b"/>{limit}</joint></robot>'
        )
        return "\n".join(garra.load(file).notes)

    assert "<limit> -170 to 170 rad: degrees? URDF has radians" in notes(-170, 170)
    for low, high, kind in ((-6.28, 6.28, "revolute"), (-1e16, 1e16, "revolute"), (-40, 40, "prismatic")):
        assert "degrees" not in notes(low, high, kind)


def test_a_finger_that_only_follows_another_one_is_said(tmp_path):
    file = tmp_path / "jaw.urdf"
    slide = '<joint name="{0}" type="prismatic"><parent link="palm"/><child link="{1}"/><axis xyz="{2} 0 0"/>'
    slide += '<limit lower="0" upper="0.04" effort="40" velocity="0.1"/>{3}</joint>'
    file.write_text(
        '<robot name="jaw"><link name="palm"/><link name="left"/><link name="right"/>'
        + slide.format("jl", "left", -1, "")
        + slide.format("jr", "right", 1, '<mimic joint="jl"/>')
        + "</robot>"
    )
    assert garra.load(file, tip="left").n == 1
    with pytest.raises(garra.FileError, match='joint "jr" alone moves .* follows "jl"[^$]*from_urdf'):
        garra.load(file, tip="right")
