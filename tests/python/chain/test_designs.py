"""The exoskeleton's files: three conventions of one chain, links from parts, the original design; helical joints."""

from __future__ import annotations

import tomllib

import garra
import numpy as np
import pytest
from arrays import require_module
from program import ROOT

require_module()
RANDOM = np.random.default_rng(5)
ROBOTS = ROOT / "data" / "robots"


@pytest.mark.parametrize("name", ["exoskeleton_dh", "exoskeleton_mdh", "exoskeleton_parts"])
def test_every_description_is_the_same_chain(name):
    gryma, other = garra.load("exoskeleton"), garra.load(name)
    q, qd, qdd = RANDOM.uniform(-2, 2, (3, 100, 6))
    for of in (
        lambda r: r.fkine(q), lambda r: r.jacobian(q), lambda r: r.crba(q), lambda r: r.gravity(q),
        lambda r: r.rnea(q, qd, qdd),
    ):  # fmt: skip
        expected = of(gryma)
        assert np.abs(of(other) - expected).max() < 1e-12 * np.abs(expected).max()


def test_a_material_is_one_line():
    text = (ROBOTS / "exoskeleton_parts.toml").read_text()
    heavy = garra.Chain.from_toml(text.replace('abs = "1020 kg/m^3"', "abs = 2040"))
    light, q = garra.load("exoskeleton_parts"), np.zeros(6)
    # Beams twice as heavy, motors and thimble as before: the gravity torques grow by those of the beams alone.
    beams = garra.Chain.from_toml(
        "\n".join(line for line in text.splitlines() if "motor" not in line and "cylinder" not in line)
        .replace("parts = [\n]", "mass = 0")
    )
    assert np.allclose(heavy.gravity(q) - light.gravity(q), beams.gravity(q), atol=1e-12)


def test_parts_of_every_shape_have_their_moments():
    def link(part):
        return garra.Chain.from_toml(
            f'schema = 1\nrobot = "one"\nconvention = "dh"\n[materials]\nlead = 11340\n[[joint]]\nparts = [{part}]\n'
        )

    density, inch = 11340, [0.1, 0.2, 0.3]
    cases = {
        '{ box = [0.1, 0.2, 0.3], material = "lead" }': (density * np.prod(inch), (0.01 + 0.04) / 12),
        "{ cylinder = 0.1, inner = 0.05, length = 0.4, density = 100 }": (100 * np.pi * 0.0075 * 0.4, 0.0125 / 2),
        "{ ball = 0.1, mass = 3 }": (3, 0.4 * 0.01),
        '{ beam = [0.1, 0.2], from = [0, 0, 0], to = [0.5, 0, 0], mass = 2 }': (2, (0.25 + 0.01) / 12 + 0.0625),
    }
    for part, (mass, radius) in cases.items():
        assert link(part).crba([0.0])[0, 0] == pytest.approx(mass * radius, rel=1e-12), part
        if "beam" not in part:  # a beam has its place by its ends
            moved = link(part.replace(" }", ", position = [0.3, 0, 0] }"))
            assert moved.crba([0.0])[0, 0] == pytest.approx(mass * (radius + 0.09), rel=1e-12)
    for wrong, word in {
        "{ box = [1, 1, 1] }": "mass",
        '{ box = [1, 1, 1], material = "gold" }': "gold",
        "{ mass = 1 }": "box",
        "{ ball = 1, box = [1, 1, 1], mass = 1 }": "one of",
        "{ cylinder = 1, inner = 2, length = 1, mass = 1 }": "bore",
    }.items():
        with pytest.raises(garra.FileError, match=word):
            link(wrong)


def test_the_original_design_has_a_spherical_wrist():
    original, modified = garra.load("exoskeleton_original"), garra.load("exoskeleton")
    assert np.allclose(original.fkine(np.zeros(6))[:3, 3], [-0.01928735, 0, 0.19538206], atol=1e-7)
    q = RANDOM.uniform(-1, 1, (200, 6))
    for robot, meets in ((original, True), (modified, False)):
        screws = robot.jacobian(q, form="screws")
        points = np.cross(screws[:, :3], screws[:, 3:], axis=1)  # nearest to the origin
        gap = []
        for s, p in zip(screws, points, strict=True):
            u, r = s[:3, 3:].T, p[:, 3:].T
            normal = np.cross(u[1], u[2])
            gap.append(abs((r[2] - r[1]) @ normal) / np.linalg.norm(normal))
        assert (max(gap) < 1e-12) == meets


# --- helical joints

HELICAL = """
schema = 1
robot = "a screw and an arm"
convention = "{convention}"
[[joint]]
{first}
mass = 0.7
com = [0.05, 0.02, -0.03]
inertia = {{ ixx = 0.02, iyy = 0.03, izz = 0.025, ixy = 0.002, ixz = -0.001, iyz = 0.003 }}
damping = 0.1
[[joint]]
{second}
mass = 0.4
com = [0.02, 0.01, 0.04]
inertia = {{ ixx = 0.01, iyy = 0.012, izz = 0.015, ixy = 0, ixz = 0, iyz = 0 }}
"""
PITCH = 0.05  # m/rad


def rodrigues(axis, angle):
    x, y, z = axis
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def pose_by_screws(q):
    """Poses of both links by the product of exponentials, written anew: a helix about z at x = 0, a turn about y."""
    first = np.eye(4)
    first[:3, :3], first[2, 3] = rodrigues([0, 0, 1], q[0]), PITCH * q[0]
    second, point = np.eye(4), np.array([0.3, 0, 0.1])
    second[:3, :3] = rodrigues([0, 1, 0], q[1])
    second[:3, 3] = point - second[:3, :3] @ point
    home = np.eye(4)
    home[:3, 3] = point
    return first, first @ second @ home


def screw_arm():
    return garra.Chain.from_toml(
        HELICAL.format(
            convention="screws",
            first=f"screw = [0, 0, 1, 0, 0, {PITCH}]",
            second="screw = [0, 1, 0, -0.1, 0, 0.3]\npose = { position = [0.3, 0, 0.1] }",
        ).replace("[[joint]]", "home = { position = [0.3, 0, 0.1] }\n[[joint]]", 1)
    )


def test_a_helical_joint_turns_and_slides_as_its_screw_says():
    robot = screw_arm()
    assert robot.n == 2
    for q in RANDOM.uniform(-3, 3, (20, 2)):
        assert np.allclose(robot.fkine(q), pose_by_screws(q)[1], atol=1e-12)
    screws = robot.jacobian([0.4, 0.0], form="screws")
    assert np.allclose(screws[:, 0], [0, 0, 1, 0, 0, PITCH], atol=1e-14)


def test_its_mass_matrix_and_gravity_are_those_of_the_bodies():
    robot, q, h = screw_arm(), np.array([0.7, -0.4]), 1e-6
    bodies = [(0.7, [0.05, 0.02, -0.03], [[0.02, 0.002, -0.001], [0.002, 0.03, 0.003], [-0.001, 0.003, 0.025]]),
              (0.4, [0.02, 0.01, 0.04], np.diag([0.01, 0.012, 0.015]))]  # fmt: skip
    mass, energy = np.zeros((2, 2)), []
    for k, (m, com, inertia) in enumerate(bodies):
        def at(q, k=k, com=com):
            pose = pose_by_screws(q)[k]
            return pose[:3, :3], pose[:3, :3] @ com + pose[:3, 3]

        rotation, _ = at(q)
        linear, angular = np.zeros((3, 2)), np.zeros((3, 2))
        for j in range(2):
            ahead, behind = at(q + h * np.eye(2)[j]), at(q - h * np.eye(2)[j])
            linear[:, j] = (ahead[1] - behind[1]) / (2 * h)
            spin = (ahead[0] - behind[0]) / (2 * h) @ rotation.T
            angular[:, j] = [spin[2, 1], spin[0, 2], spin[1, 0]]
        mass += m * linear.T @ linear + angular.T @ rotation @ inertia @ rotation.T @ angular
        energy.append(9.81 * m * linear[2])
    assert np.allclose(robot.crba(q), mass, atol=1e-9)
    assert np.allclose(robot.gravity(q), sum(energy), atol=1e-8)
    qd, qdd = np.array([1.0, -2.0]), np.array([0.5, 0.3])
    tau = robot.rnea(q, qd, qdd)
    assert np.allclose(robot.aba(q, qd, tau), qdd, atol=1e-12)


def test_it_moves_as_in_another_program():
    """The end is that of Pinocchio 4.1 with JointModelHelicalUnaligned and its ABA, by RK4 with steps of 0.1 ms."""
    robot = screw_arm()
    for method, tolerance in (("rk4", 1e-9), ("dopri5", 1e-7), ("implicit", 1e-5)):
        end = robot.simulate([0.3, -0.5], [2.0, -1.0], [0.2, 0.5], damping=[0.1, 0.1], times=[0.5], method=method)
        assert np.allclose(end.q[..., 0, :], [0.6135497778091835, 1.5377135503865884], atol=tolerance)
        assert np.allclose(end.qd[..., 0, :], [-0.43788233458064224, 6.309825735798562], atol=tolerance)


def test_dh_forms_have_helical_joints_too():
    for convention in ("dh", "modified_dh"):
        turn = f'type = "helical"\npitch = "{PITCH * 1000} mm"\nd = 0.1\na = 0.3\nalpha = "90 deg"\ntheta = 0.2'
        both = garra.Chain.from_toml(HELICAL.format(convention=convention, first=turn, second="a = 0.1"))
        plain = garra.Chain.from_toml(
            HELICAL.format(convention=convention, first=turn.split("\n", 2)[2], second="a = 0.1")
        )
        slid = turn.split("\n", 2)[2].replace("d = 0.1", f"d = {0.1 + 0.7 * PITCH}")
        shifted = garra.Chain.from_toml(HELICAL.format(convention=convention, first=slid, second="a = 0.1"))
        assert np.allclose(both.fkine([0.7, 0.3]), shifted.fkine([0.7, 0.3]), atol=1e-14)
        assert not np.allclose(both.fkine([0.7, 0.3]), plain.fkine([0.7, 0.3]), atol=1e-3)
    with pytest.raises(garra.FileError, match="pitch"):
        garra.Chain.from_toml(HELICAL.format(convention="dh", first='type = "helical"', second="a = 0.1"))


def test_inverse_kinematics_and_singularities_know_helical_joints():
    robot = screw_arm()
    q = np.array([0.5, 0.8])
    found = robot.inverse_kinematics(robot.fkine(q), q0=q + 0.1)
    assert found.success and np.allclose(found.q, q, atol=1e-8)
    analysis = garra.singularity.analyze(robot, q)
    assert analysis.rank == 2 and not analysis.singular


def test_the_mechanism_of_example_3_has_the_papers_screws():
    printed = tomllib.loads((ROOT / "data" / "screws" / "gallardo_3.toml").read_text())["screws"]
    screws = garra.load("gallardo_3").jacobian(np.zeros(7), form="screws").T
    assert np.allclose(screws, printed, atol=1e-12)
