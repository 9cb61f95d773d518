"""Groups of objects: matrices built in NumPy, statics by hand, falls by hand, errors, threads and executors."""

from __future__ import annotations

import json
import math
import tomllib

import numpy as np
import pytest
import tomli_w
from finger_dynamics import Finger, rotation, si, wrench_matrix
from program import DONE, INVALID, ROOT
from program import garra as program

import garra

SCENARIOS = ROOT / "data" / "scenarios"
BOXES, SPHERES, BOARD = (SCENARIOS / f"{name}.toml" for name in ("three_boxes", "two_spheres", "lean_on_table"))
G = 9.81
GRAVITY = np.array([0, 0, -G])
MASSES = {"lower": 0.3, "upper": 0.2, "board": 0.8}  # in place of distributions


def table(path):
    return tomllib.loads(path.read_text())


def written(scenario, folder):
    path = folder / "scenario.toml"
    path.write_text(tomli_w.dumps(scenario))
    return path


def analyze(path, *flags):
    return json.loads(program("grasp", "analyze", path, "--format", "json", *flags).stdout)


def outcome(scenario, **settings):
    """The outcome of one sample."""
    summary = garra.run(scenario, samples=1, set=settings).summary
    return next(name for name, count in summary["outcomes"].items() if count == 1)


def slider(start):
    """A finger of one joint that slides along x of the palm."""
    return {
        "dh": [[0, 0, 0, 0]], "prismatic": [True], "mass": [0.5], "com": [[0, 0, 0]], "inertia": [[1e-4, 1e-4, 1e-4]],
        "base": {"rpy": [0, math.pi / 2, 0], "position": [0, 0, 0.1]}, "ik": "numeric", "start": [start],
    }  # fmt: skip


def contact_matrices(path, m):
    """W, A and b of the nominal grasp from the file's numbers, the contact points and the joint values."""
    scenario = table(path)
    names = [o["name"] for o in scenario["object"]]
    fingers = [Finger(t) for t in scenario["hand"]["finger"]]
    N, B, Q = len(scenario["contact"]), len(names), sum(len(f.rows) for f in fingers)
    W, J, M_obj, M_man, w = np.zeros((6 * B, 3 * N)), np.zeros((3 * N, Q)), [], np.zeros((Q, Q)), []
    for o in scenario["object"]:
        mass = si(MASSES.get(o["name"], o["mass"]))
        R = rotation(*si(o.get("rpy", [0, 0, 0])))
        if o["shape"] == "sphere":
            squares = np.full(3, 0.4 * si(o["radius"]) ** 2)
        else:
            x, y, z = si(o["size"]) ** 2
            squares = np.array([y + z, x + z, x + y]) / 12
        block = np.zeros((6, 6))
        block[:3, :3], block[3:, 3:] = mass * np.eye(3), R @ np.diag(mass * squares) @ R.T
        M_obj.append(block)
        w += [*(mass * GRAVITY), 0, 0, 0]
    first = np.cumsum([0, *(len(f.rows) for f in fingers)])
    for j, contact in enumerate(scenario["contact"]):
        a, b = contact["between"]
        for name, sign in ((a, 1), (b, -1)):
            if name in names:
                k = names.index(name)
                com = si(scenario["object"][k]["position"])
                W[6 * k : 6 * k + 6, 3 * j : 3 * j + 3] = sign * wrench_matrix(m.p_PC[0, j], m.R_PC[0, j], com)
            elif name.startswith("finger"):
                f = int(name.split()[1])
                q = m.q[0, first[f] : first[f + 1]]
                along = m.R_PC[0, j][:, [2, 0, 1]].T @ fingers[f].jacobian(q, m.p_PC[0, j])[:3]
                J[3 * j : 3 * j + 3, first[f] : first[f + 1]] = along
    for f, finger in enumerate(fingers):
        at = slice(first[f], first[f + 1])
        M_man[at, at] = finger.inertia_matrix(m.q[0, at])
    M_obj = np.array([[M_obj[i] if i == k else np.zeros((6, 6)) for i in range(B)] for k in range(B)])
    M_obj = M_obj.transpose(0, 2, 1, 3).reshape(6 * B, 6 * B)
    A = W.T @ np.linalg.solve(M_obj, W) + J @ np.linalg.solve(M_man, J.T)
    b = W.T @ np.linalg.solve(M_obj, w) + J @ np.linalg.solve(M_man, m.effort[0])
    return W, J, A, b


@pytest.mark.parametrize("path", [BOXES, SPHERES, BOARD], ids=lambda path: path.stem)
def test_matrices_are_those_of_all_bodies(path):
    names = [o["name"] for o in table(path)["object"]]
    m = garra.grasp.matrices(path, set={f"object.{k}.mass": MASSES.get(n, 0.2) for k, n in enumerate(names)})
    W, J, A, b = contact_matrices(path, m)
    np.testing.assert_allclose(m.W[0], W, atol=1e-12)
    np.testing.assert_allclose(m.J[0], J, atol=1e-12)
    np.testing.assert_allclose(m.A[0], A, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(m.b[0], b, rtol=1e-9, atol=1e-9)
    # normals point into the first body: its force there moves its center along them
    points_in = np.einsum("jk,jk->j", m.R_PC[0, :, :, 2], np.array([centers(path)[a] for a in firsts(path)]) - m.p_PC[0])
    assert (points_in > 0).all()


def centers(path):
    return {o["name"]: si(o["position"]) for o in table(path)["object"]}


def firsts(path):
    return [c["between"][0] for c in table(path)["contact"]]


def test_singular_matrix_of_three_boxes_is_solved():
    m = garra.grasp.matrices(BOXES)
    assert np.linalg.matrix_rank(m.A[0], tol=1e-6) < len(m.A[0])
    answer = analyze(BOXES)
    assert answer["status"]["converged"] == 1
    np.testing.assert_allclose(answer["result"]["acceleration"], 0, atol=1e-5)


@pytest.mark.parametrize("method", ["auto", "nsgs"])
def test_redundant_contacts_stick_whatever_forces_the_solver_finds(method):
    """Forces that leave all contacts at rest exist in every sample: three boxes are held from 0.37 and 0.12 of friction on."""
    summary = garra.run(BOXES, samples=20, set={"solver.method": method}).summary
    assert summary["held"]["probability"] == summary["no_slip"]["probability"] == 1
    assert summary["metrics"]["object_acceleration"]["mean"] < 1e-6
    assert summary["solver"]["worst_residual"] < 1e-9


FINGER_FACES, INNER_FACES = range(8), range(8, 16)


@pytest.mark.parametrize(
    ("faces", "threshold"), [(FINGER_FACES, 1.5), (INNER_FACES, 0.5)], ids=["finger faces", "inner faces"]
)
def test_three_boxes_hold_from_the_friction_of_statics_on(faces, threshold):
    """mu N >= 1.5 m g at the fingers, 0.5 m g between the boxes: found within 1 %."""
    least = threshold * 0.2 * G / 8
    for factor, expected in ((0.99, False), (1.01, True)):
        settings = {f"contact.{j}.friction": factor * least if j in faces else 1.0 for j in range(16)}
        assert (outcome(BOXES, **settings) == "held") == expected


def test_a_board_leans_on_the_table_from_the_friction_of_statics_on():
    phi, along, half, s = math.radians(30), 0.15, 0.01, 0.25
    force = (along * math.cos(phi) - half * math.sin(phi)) / s  # of the finger, in weights
    least = force * math.sin(phi) / (1 - force * math.cos(phi))
    assert least == pytest.approx(0.440, abs=5e-4)
    for factor, expected in ((0.99, False), (1.01, True)):
        settings = {"contacts.friction": factor * least, "object.0.mass": 0.8}
        assert (outcome(BOARD, **settings) == "held") == expected
    answer = analyze(BOARD, "--set", "contacts.friction=0.6")
    c = np.array(answer["result"]["force"]).reshape(3, 3)
    np.testing.assert_allclose(c[0], [force * 0.8 * G, 0, 0], atol=1e-6)
    np.testing.assert_allclose(c[1:, 0].sum(), 0.8 * G * (1 - force * math.cos(phi)), atol=1e-6)


def test_two_spheres_one_on_the_other_are_held():
    answer = analyze(SPHERES)
    c = np.array(answer["result"]["force"]).reshape(3, 3)
    # the lower finger carries both, the upper one presses
    np.testing.assert_allclose(c[0, 0] - c[1, 0], 0.5 * G, atol=1e-6)
    np.testing.assert_allclose(c[2, 0] - c[1, 0], 0.2 * G, atol=1e-6)
    summary = garra.run(SPHERES, samples=400).summary
    assert [o["name"] for o in summary["objects"]] == ["lower", "upper"]
    assert 0.5 < summary["held"]["probability"] <= min(o["held"]["probability"] for o in summary["objects"])


def spheres_side_by_side(folder):
    scenario = table(SPHERES)
    scenario["hand"]["finger"] = [slider(-0.06), slider(0.06)]
    for o, x in zip(scenario["object"], (-0.03, 0.03), strict=True):
        o.update(position=[x, 0, 0.1], mass=0.2)
    scenario["contacts"] = {"friction": 2.0}
    for contact, azimuth in zip(scenario["contact"], ("180 deg", "0 deg", "180 deg"), strict=True):
        contact.clear()
        contact.update(azimuth=azimuth, elevation=0)
    for contact, pair in zip(
        scenario["contact"], (["lower", "finger 0"], ["upper", "finger 1"], ["upper", "lower"]), strict=True
    ):
        contact["between"] = pair
    return written(scenario, folder)


def test_two_spheres_side_by_side_roll_down(tmp_path):
    """Rolling at both sides, each sphere falls like one of 7/5 of its mass: 5 g / 7. All contacts stick."""
    path = spheres_side_by_side(tmp_path)
    answer = analyze(path)
    assert answer["result"]["mode_after"] == ["stick"] * 3
    acceleration = np.reshape(answer["result"]["acceleration"], (2, 6))
    np.testing.assert_allclose(acceleration[:, 2], -5 * G / 7, rtol=1e-9)
    np.testing.assert_allclose(acceleration[:, 4], [5 * G / 7 / 0.03, -5 * G / 7 / 0.03], rtol=1e-9)
    assert outcome(path) == "not_resisted"


def test_the_middle_box_falls_alone(tmp_path):
    """Between fingers that cannot give way up or down, with slippery inner faces; the others stay."""
    scenario = table(BOXES)
    scenario["hand"]["finger"] = [slider(-0.06), slider(0.06)]
    for j, contact in enumerate(scenario["contact"]):
        contact["friction"] = 1.0 if j < 8 else 0.02
    summary = garra.run(written(scenario, tmp_path), samples=1).summary
    assert {o["name"]: o["held"]["probability"] for o in summary["objects"]} == {"left": 1, "middle": 0, "right": 1}
    answer = analyze(tmp_path / "scenario.toml")
    falls = np.reshape(answer["result"]["acceleration"], (3, 6))[1, 2]
    # N = 8 N on two faces; points that also turn lose a little of their lift
    assert -G + 2 * 0.02 * 8 / 0.2 - 0.02 < falls < -G + 2 * 0.02 * 8 / 0.2 + 1e-6


def test_a_finger_with_two_contacts_and_a_link(tmp_path):
    """One object between the pads of one finger's two links and a fixture: J of each contact moves with its own link."""
    bottle = table(SCENARIOS / "two_finger_cylinder.toml")
    finger = bottle["hand"]["finger"][0]
    free = garra.grasp.matrices(SCENARIOS / "two_finger_cylinder.toml")
    q = free.q[0, :4]
    bottle["contact"] = [
        {"between": ["object", "finger 0"], "azimuth": 0},
        {"between": ["object", "finger 1"], "azimuth": "180 deg"},
        {"between": ["object", "finger 0 link 2"], "azimuth": 0, "height": "-20 mm"},
        {"between": ["object", "palm"], "face": "-z", "model": "frictionless"},
    ]
    m = garra.grasp.matrices(bottle)
    np.testing.assert_allclose(m.q[0, :4], q, atol=1e-9)
    for j, link in ((0, 3), (2, 2)):
        jac = Finger(finger).jacobian(q, m.p_PC[0, j], link)[:3]
        np.testing.assert_allclose(m.J[0, 3 * j : 3 * j + 3, :4], m.R_PC[0, j][:, [2, 0, 1]].T @ jac, atol=1e-9)
    assert (m.J[0, 9:] == 0).all() and m.mu[0, 3] == 0 and m.mu[0, 0] == pytest.approx(0.6, rel=1e-6)


OFF, RADIUS, PRESS = 0.02, 0.01, 8.0  # of the center of mass from the line of the contacts [m], torsion [m], [N]


def soft_pinch(model="soft", friction=1.0):
    """A box of 0.2 kg between two fingers that do not turn, held beside its center of mass."""
    scenario = table(BOXES)
    scenario["object"] = [{**scenario["object"][1], "name": "box"}]
    for finger, x in zip(scenario["hand"]["finger"], (-0.02, 0.02), strict=True):
        finger["start"] = [0.1, 0, x]
    law = {"model": model} | ({"torsion_radius": RADIUS} if model == "soft" else {})
    scenario["contact"] = [
        {"between": ["box", f"finger {k}"], "face": face, "at": [-OFF, 0], **law} for k, face in enumerate(("-x", "+x"))
    ]
    scenario["contacts"] = {"friction": friction}
    scenario["load"] = {"grip_force": PRESS}
    scenario["held"] = {"acceleration": 1e-4}
    return scenario


def test_soft_contacts_bear_a_moment_about_the_line_that_joins_them(tmp_path):
    """Each has m g / 2 and can have the moment m g OFF / 2: mu N >= m g / 2 sqrt(1 + (OFF / r)^2)."""
    weight = 0.2 * G
    least = weight / 2 * math.hypot(1, OFF / RADIUS) / PRESS
    for factor, expected in ((0.99, "slipping"), (1.01, "held")):
        assert outcome(soft_pinch(friction=factor * least)) == expected
    assert outcome(soft_pinch("hard")) == "not_resisted"
    path = written(soft_pinch(), tmp_path)
    answer = analyze(path)["result"]
    np.testing.assert_allclose(np.reshape(answer["force"], (2, 3))[:, 0], PRESS, atol=1e-9)
    signs = np.reshape(answer["normal"], (2, 3))[:, 0]
    np.testing.assert_allclose(answer["moment"] @ signs, weight * OFF, atol=1e-9)
    np.testing.assert_allclose(answer["acceleration"], 0, atol=1e-9)
    run = tmp_path / "run"
    program("run", path, "-o", run, "--samples", 1, "--no-report")
    replayed = json.loads(program("replay", run, "--sample", 0, "--format", "json").stdout)
    np.testing.assert_allclose([c["moment"] for c in replayed["contacts"]] @ signs, weight * OFF, atol=1e-9)
    assert np.shape(replayed["A"]) == (8, 8)


def test_a_soft_contact_has_a_row_of_turning_in_each_matrix():
    """Beside a hard one: columns (0; r n), rows r n.omega of the links; no row of the hard contact."""
    bottle = table(SCENARIOS / "two_finger_cylinder.toml")
    bottle["contact"][0] |= {"model": "soft", "torsion_radius": 0.004}
    m = garra.grasp.matrices(bottle)
    hard = garra.grasp.matrices(SCENARIOS / "two_finger_cylinder.toml")
    points = [0, 1, 2, 4, 5, 6]
    np.testing.assert_allclose(m.W[0][:, points], hard.W[0], atol=1e-12)
    np.testing.assert_allclose(m.J[0][points], hard.J[0], atol=1e-12)
    np.testing.assert_allclose(m.A[0][np.ix_(points, points)], hard.A[0], rtol=1e-9, atol=1e-9)
    n = m.R_PC[0, 0, :, 2]
    np.testing.assert_allclose(m.W[0][:, 3], [0, 0, 0, *(0.004 * n)], atol=1e-12)
    turning = Finger(bottle["hand"]["finger"][0]).jacobian(m.q[0, :4], m.p_PC[0, 0])[3:]
    np.testing.assert_allclose(m.J[0][3, :4], 0.004 * n @ turning, atol=1e-12)
    A = m.W[0].T @ np.linalg.solve(m.M_obj[0], m.W[0])
    A[7, 7] = A[4, 4]  # the placeholder
    A += m.J[0] @ np.linalg.solve(m.M_man[0], m.J[0].T)
    np.testing.assert_allclose(m.A[0], A, rtol=1e-9, atol=1e-9)


def test_soft_samples_have_the_same_bits(tmp_path):
    path = written(soft_pinch(friction={"uniform": [0.2, 0.5]}), tmp_path)
    runs = []
    for k, flags in enumerate((("--device", "scalar", "--threads", 1), ("--device", "cpu", "--threads", 2))):
        program("run", path, "-o", tmp_path / str(k), "--samples", 2000, "--no-report", *flags)
        runs.append((tmp_path / str(k) / "summary.json").read_bytes())
    assert runs[0] == runs[1]
    share = json.loads(runs[0])["held"]["probability"]
    # fingers share the weight; either contact may take more of the moment
    mu, half = np.linspace(0.2, 0.5, 301), 0.1 * G
    rest = np.sqrt(np.maximum((mu * PRESS) ** 2 - half**2, 0))
    enough = rest[:, None] + rest >= 2 * half * OFF / RADIUS
    assert share == pytest.approx(enough.mean(), abs=0.04)


def test_executors_and_threads_give_the_same_bits(tmp_path):
    runs = []
    for k, flags in enumerate((("--device", "scalar", "--threads", 1), ("--device", "cpu", "--threads", 2))):
        program("run", SPHERES, "-o", tmp_path / str(k), "--samples", 3000, "--no-report", *flags)
        runs.append((tmp_path / str(k) / "summary.json").read_bytes())
    assert runs[0] == runs[1]


def test_a_resolved_group_reads_back(tmp_path):
    for path in (BOXES, SPHERES, BOARD):
        text = program("check", path).stdout
        again = tmp_path / "again.toml"
        again.write_text(text)
        one, two = garra.grasp.matrices(path), garra.grasp.matrices(again)
        np.testing.assert_allclose(two.A, one.A, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(two.b, one.b, rtol=1e-9, atol=1e-9)


def stand_beside(scenario, shape, x):
    """A third object beside the upper sphere that touches the palm alone."""
    third = {"name": "third", "shape": shape, "mass": 0.1, "position": [x, 0, 0.15]}
    scenario["object"].append({**third, **({"radius": 0.03} if shape == "sphere" else {"size": [0.05, 0.05, 0.05]})})
    place = {"azimuth": 0, "elevation": "-90 deg"} if shape == "sphere" else {"face": "-z"}
    scenario["contact"].append({"between": ["third", "palm"], **place})


SOFT = {"model": "soft", "torsion_radius": "5 mm"}


def change(path, function):
    scenario = table(path)
    function(scenario)
    return scenario


@pytest.mark.parametrize(
    ("path", "function", "words"),
    [
        (SPHERES, lambda s: s["contact"][0].update(between=["lowre", "finger 0"]), ["no object is named", "lower"]),
        (SPHERES, lambda s: s["contact"][0].update(between=["lower", "finger 7"]), ["there is no finger 7"]),
        (SPHERES, lambda s: s["contact"][0].update(between=["lower", "thumb"]), ["nothing is named", "table"]),
        (SPHERES, lambda s: s["contact"][2].update(between=["upper", "upper"]), ["cannot touch itself"]),
        (SPHERES, lambda s: s["contact"][0].update(between=["lower", "finger 0 link 9"]), ["there is no link 9"]),
        (SPHERES, lambda s: s["object"][1].update(position=[0, 0, 0.145]), ["5 mm inside", '"lower"']),
        (SPHERES, lambda s: s["object"][1].update(position=[0, 0, 0.152]), ["2 mm outside", '"lower"']),
        (SPHERES, lambda s: stand_beside(s, "sphere", 0.05), ['"third" and "upper" interpenetrate', "10 mm"]),
        (SPHERES, lambda s: stand_beside(s, "box", 0.05), ['"third" and "upper" interpenetrate', "5 mm"]),
        (SPHERES, lambda s: stand_beside(s, "sphere", 0.0601), None),
        (SPHERES, lambda s: s["contact"].pop(2), None),
        (BOARD, lambda s: s["contact"].pop(0), ["finger", "touches nothing"]),
        (SPHERES, lambda s: s["object"].append({**s["object"][0], "name": "third", "position": [0, 0, 0.3]}),
         ['"third" touches nothing']),
        (SPHERES, lambda s: s["object"][1].update(name="lower"), ["another object has this name"]),
        (BOARD, lambda s: s["contact"][1].update(grip_force="3 N"), ["no finger is at this contact"]),
        (BOARD, lambda s: s["contact"][1].update(model="soft"), ["torsion_radius", "5 mm"]),
        (BOARD, lambda s: s["contact"][1].update(torsion_radius="5 mm"), ["torsion_radius", 'model = "soft"']),
        (BOARD, lambda s: s["contact"][1].update(SOFT) or s.update(solver={"method": "nsgs"}),
         ["four numbers", "nsgs", '"auto" takes them']),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path, path, function, words):
    """Every message has file, line and key; `None`: nothing is wrong."""
    file = written(change(path, function), tmp_path)
    said = program("check", file, expect=DONE if words is None else INVALID).stderr
    assert all(word in said for word in words or ()), said
    assert words is None or said.split(f"{file}:")[1][0].isdigit(), said
