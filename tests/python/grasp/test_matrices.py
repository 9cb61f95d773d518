"""garra.grasp.matrices and `garra grasp matrices`: against matrices built in NumPy, and against the samples of a run."""

from __future__ import annotations

import json
import tomllib

import h5py
import numpy as np
import pytest
from finger_dynamics import Finger, hat, wrench_matrix
from program import INVALID, ROOT, USAGE
from program import garra as program

import garra

SCENARIOS = ROOT / "data" / "scenarios"
BOTTLE = SCENARIOS / "two_finger_cylinder.toml"
GRAVITY = np.array([0, 0, -9.81])


def test_matrices_are_those_built_from_the_file():
    """Every matrix of the nominal grasp from the scenario's own numbers; the joint values are checked by the frames."""
    fingers = [Finger(table) for table in tomllib.loads(BOTTLE.read_text())["hand"]["finger"]]
    m = garra.grasp.matrices(BOTTLE, set={"object.mass": 0.2, "contacts.friction": 0.6})
    com, r, h, mass = np.array([0, 0, 0.095]), 0.025, 0.1, 0.2
    points = com + np.array([[r, 0, 0], [-r, 0, 0]])
    np.testing.assert_allclose(m.p_PC[0], points, atol=1e-15)
    normals = np.array([[-1, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(m.R_PC[0, :, :, 2], normals, atol=1e-15)
    np.testing.assert_allclose(np.linalg.det(m.R_PC[0]), 1, atol=1e-15)
    np.testing.assert_allclose(m.mu[0], 0.6)
    W = np.hstack([wrench_matrix(p, R, com) for p, R in zip(points, m.R_PC[0], strict=True)])
    np.testing.assert_allclose(m.W[0], W, atol=1e-15)
    across = mass * (r * r / 4 + h * h / 12)
    M_obj = np.diag([mass, mass, mass, across, across, mass * r * r / 2])
    np.testing.assert_allclose(m.M_obj[0], M_obj, atol=1e-17)
    J, M_man, g, f = np.zeros((6, 8)), np.zeros((8, 8)), np.zeros(8), np.zeros((6, 1))
    for k, finger in enumerate(fingers):
        at = slice(4 * k, 4 * k + 4)
        q = m.q[0, at]
        np.testing.assert_allclose(finger.frames(q)[-1][:3, 3], points[k], atol=1e-9)
        J[3 * k : 3 * k + 3, at] = m.R_PC[0, k][:, [2, 0, 1]].T @ finger.jacobian(q, points[k])[:3]
        M_man[at, at] = finger.inertia_matrix(q)
        g[at] = finger.gravity_torque(q, GRAVITY)
    np.testing.assert_allclose(m.J[0], J, atol=1e-12)
    np.testing.assert_allclose(m.M_man[0], M_man, atol=1e-12)
    # the command: 4 N each, and half of the weight
    c = np.array([4, mass * 9.81 / 2, 0] * 2)
    up = m.R_PC[0, :, :, 0] @ [0, 0, 1]
    np.testing.assert_allclose(up, 1, atol=1e-15)
    np.testing.assert_allclose(m.effort[0], -J.T @ c, atol=1e-9)
    w = np.array([0, 0, -mass * 9.81, 0, 0, 0])
    np.testing.assert_allclose(m.load[0], w)
    A = W.T @ np.linalg.solve(M_obj, W) + J @ np.linalg.solve(M_man, J.T)
    np.testing.assert_allclose(m.A[0], A, rtol=1e-9, atol=1e-11 * np.abs(A).max())
    b = W.T @ np.linalg.solve(M_obj, w) + J @ np.linalg.solve(M_man, -J.T @ c)
    np.testing.assert_allclose(m.b[0], b, rtol=1e-7, atol=1e-8)
    assert m.reached.all() and m.joints == (4, 4) and list(m.sample) == [-1]


def test_an_uncompensated_finger_feels_its_weight():
    fingers = [Finger(table) for table in tomllib.loads(BOTTLE.read_text())["hand"]["finger"]]
    full = garra.grasp.matrices(BOTTLE)
    none = garra.grasp.matrices(BOTTLE, set={"load.compensation": 0})
    g = np.concatenate([f.gravity_torque(q, GRAVITY) for f, q in zip(fingers, full.q.reshape(2, 4), strict=True)])
    np.testing.assert_allclose((none.effort - full.effort)[0], g, atol=1e-12)


@pytest.mark.parametrize("name", ["three_puma_sphere", "four_finger_box", "two_finger_cylinder"])
def test_samples_are_those_of_a_run(tmp_path, name):
    """Sample k of a run, by replay: the study's own path, with lanes, against these matrices."""
    path = SCENARIOS / f"{name}.toml"
    result = garra.run(path, tmp_path / "run", samples=40, set={"output.keep": "all"})
    m = garra.grasp.matrices(path, samples=40)
    for k in (0, 7, 39):
        sample = json.loads(program("replay", result.folder, "--sample", k, "--format", "json").stdout)
        n = len(sample["b"])
        A, b = np.reshape(sample["A"], (n, n)), np.array(sample["b"])
        np.testing.assert_allclose(m.A[k], A, rtol=1e-9, atol=1e-11 * np.abs(A).max())
        np.testing.assert_allclose(m.b[k], b, rtol=1e-8, atol=1e-9 * np.abs(b).max())
        np.testing.assert_allclose(m.mu[k], [c["friction"] for c in sample["contacts"]], rtol=1e-14)


def test_a_moving_grasp_has_the_velocity_part(tmp_path):
    """Of samples that move: A, b of the study's own path; rolling fingers have the velocity of the object's surface."""
    path = SCENARIOS / "three_puma_sphere.toml"
    moving = {"motion.velocity": [0.1, 0, 0.2], "motion.angular_velocity": [0, 0.5, 1.0]}
    result = garra.run(path, tmp_path / "run", samples=3, set=moving)
    m = garra.grasp.matrices(path, samples=[2], set=moving)
    sample = json.loads(program("replay", result.folder, "--sample", 2, "--format", "json").stdout)
    np.testing.assert_allclose(m.b[0], sample["b"], rtol=1e-8, atol=1e-9)
    rest = m.W[0].T @ np.linalg.solve(m.M_obj[0], m.load[0]) + m.J[0] @ np.linalg.solve(m.M_man[0], m.effort[0])
    assert np.abs(m.b[0] - rest).max() > 1e-3
    V = np.array([0.1, 0, 0.2, 0, 0.5, 1.0])
    np.testing.assert_allclose(m.W[0].T @ V, m.J[0] @ m.qd[0], atol=1e-9)
    assert hat([1, 2, 3])[2, 1] == 1


def test_file_and_python_have_the_same_numbers(tmp_path):
    out = tmp_path / "M.h5"
    program("grasp", "matrices", BOTTLE, "--sample", 5, "-n", 3, "-o", out)
    m = garra.grasp.matrices(BOTTLE, samples=[5, 6, 7])
    with h5py.File(out) as file:
        for name in ("W", "J", "M_obj", "M_man", "A", "b", "mu", "R_PC", "p_PC", "q", "qd", "load", "effort"):
            np.testing.assert_array_equal(file[name][...], getattr(m, name))
        assert list(file["sample"]) == [5, 6, 7]
    said = json.loads(program("grasp", "matrices", BOTTLE, "--format", "json").stdout)
    np.testing.assert_array_equal(said["A"], garra.grasp.matrices(BOTTLE).A[0])
    assert "M_man" in program("grasp", "matrices", BOTTLE).stdout


def test_threads_change_no_bit():
    one, all_ = (garra.grasp.matrices(BOTTLE, samples=200, threads=t) for t in (1, 0))
    np.testing.assert_array_equal(one.A, all_.A)
    np.testing.assert_array_equal(one.b, all_.b)


def test_what_is_refused(tmp_path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(BOTTLE.read_text().replace('grip_force = "4 N"', 'grip_force = "-4 N"'))
    with pytest.raises(garra.FileError, match=r"wrong.toml:\d+:\d+: load.grip_force: must be at least 0 N"):
        garra.grasp.matrices(wrong)
    with pytest.raises(garra.UsageError, match="sample -1 is negative"):
        garra.grasp.matrices(BOTTLE, samples=[-1])
    assert "--count without -o" in program("grasp", "matrices", BOTTLE, "-n", 3, expect=USAGE).stderr
    other = program("grasp", "matrices", SCENARIOS / "iiwa_singularities.toml", expect=INVALID)
    assert "is no grasp study" in other.stderr
