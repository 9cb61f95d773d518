"""Trajectories of groups of objects: motions by hand, energy, thresholds of statics, executors, what is refused."""

from __future__ import annotations

import json
import math
import tomllib

import h5py
import numpy as np
import pytest
import tomli_w
from program import INVALID, ROOT
from program import garra as program

import garra

SCENARIOS = ROOT / "data" / "scenarios"
G = 9.81


def table(name):
    return tomllib.loads((SCENARIOS / f"{name}.toml").read_text())


def in_time(scenario, duration=0.2, step=1e-3, **more):
    scenario["simulation"] = {"duration": duration, "step": step, **more}
    scenario.pop("held", None)
    return scenario


def run(scenario, samples=1, **options):
    return garra.run(scenario, samples=samples, **options).summary


def drift(summary):
    """Of one sample [m], whatever its bins: the sum of one value."""
    return summary["levels"][0]["peak_drift"]["mean"]


def slope(friction, angle, radius=None, extra=()):
    """A body on a tilted table, and a block that a finger presses on the palm, which only the hand needs."""
    scenario = table("two_spheres")
    scenario["hand"]["finger"] = scenario["hand"]["finger"][1:]
    normal = [math.sin(angle), 0, math.cos(angle)]
    body = {"name": "body", "mass": 0.3, "position": [0, 0, 0.5]}
    rest = {"name": "rest", "shape": "box", "size": [0.1, 0.1, 0.1], "mass": 1.0, "position": [2, 0, 0.05]}
    table_contacts = []
    if radius:
        body.update(shape="sphere", radius=radius)
        table_contacts.append({"point": [-radius * x for x in normal], "normal": normal, "curvature": [1 / radius] * 2})
    else:
        body.update(shape="box", size=[0.2, 0.2, 0.02], rpy=[0, angle, 0])
        table_contacts += [
            {"point": [x, y, -0.01], "normal": [0, 0, 1]} for x in (-0.1, 0.1) for y in (-0.1, 0.1)
        ]
    contacts = [{"between": ["body", "table"], **c} for c in table_contacts]
    contacts += [{"between": ["rest", "palm"], "face": "-z", "at": [x, y]} for x in (-0.05, 0.05) for y in (-0.05, 0.05)]
    contacts.append({"between": ["rest", "finger 0"], "face": "+z"})
    scenario["object"] = [body, rest]
    scenario["contact"] = contacts
    scenario["contacts"] = {"friction": friction}
    scenario["hand"]["finger"][0]["start"] = [0.1, 0, 2]
    return scenario


@pytest.mark.parametrize("radius", [0.03, 0.1])
def test_a_ball_rolls_down_a_slope(radius):
    """Rolling: a = 5/7 g sin(angle), whatever the radius; energy and momentum balance."""
    angle, duration = math.radians(20), 0.3
    summary = run(in_time(slope(0.6, angle, radius), duration, drop=1.0, drop_turn=20.0))
    assert summary["outcomes"]["held"] == 1  # without slip
    assert drift(summary) == pytest.approx(0.5 * 5 / 7 * G * math.sin(angle) * duration**2, rel=1e-6)
    assert summary["audit"]["energy_balance"] < 1e-12
    assert summary["audit"]["momentum_balance"] < 1e-12


def test_a_ball_slides_where_friction_is_small():
    """mu < 2/7 tan(angle): a = g (sin - mu cos)."""
    angle, mu, duration = math.radians(20), 0.05, 0.3
    summary = run(in_time(slope(mu, angle, 0.03), duration, drop=1.0, drop_turn=20.0))
    assert summary["outcomes"]["slipped"] == 1
    expected = 0.5 * G * (math.sin(angle) - mu * math.cos(angle)) * duration**2
    assert drift(summary) == pytest.approx(expected, rel=1e-6)
    assert summary["audit"]["energy_balance"] < 1e-10


def test_a_ball_that_spins_on_a_soft_contact_comes_to_rest():
    """Friction takes at most mu N r of a push about the vertical: I w' = T - mu N r while it spins."""
    friction, radius, torsion, step = 0.6, 0.03, 0.005, 1e-4
    scenario = slope(friction, 0.0, radius)
    scenario["contact"][0] |= {"model": "soft", "torsion_radius": torsion}
    push = {"kind": "impulse", "torque": [0, 0, 6e-4], "from": 0, "to": "10 ms"}
    summary = run(in_time(scenario, 0.1, step, drop=1.0, drop_turn=20.0, load=[push]))
    inertia, most, spin, turn = 0.4 * 0.3 * radius**2, friction * 0.3 * G * torsion, 0.0, 0.0
    for k in range(1000):
        a, b = (min(max(t, 0), 0.01) for t in (k * step, (k + 1) * step))
        twist = 6e-4 / 2 * (math.cos(math.pi * a / 0.01) - math.cos(math.pi * b / 0.01))
        after = max(spin + (twist - most * step) / inertia, 0.0)
        turn, spin = turn + step * (spin + after) / 2, after
    assert spin == 0 and turn > 0.05
    assert summary["levels"][0]["peak_turn"]["mean"] == pytest.approx(turn, rel=1e-6)
    assert drift(summary) < 1e-9
    assert summary["audit"]["energy_balance"] < 1e-12


def test_a_plate_slides_on_four_points():
    """Four redundant points: a = g (sin - mu cos) above the friction angle, rest below it."""
    angle, duration = math.radians(20), 0.2
    for mu, acceleration in ((0.2, G * (math.sin(angle) - 0.2 * math.cos(angle))), (0.4, 0)):
        summary = run(in_time(slope(mu, angle), duration, drop=1.0))
        assert drift(summary) == pytest.approx(0.5 * acceleration * duration**2, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(("faces", "threshold"), [(range(8), 1.5), (range(8, 16), 0.5)], ids=["fingers", "inner"])
def test_three_boxes_stay_from_the_friction_of_statics_on(faces, threshold):
    least = threshold * 0.2 * G / 8
    ends = []
    for factor in (0.9, 1.1):
        scenario = in_time(table("three_boxes"), 0.3, slip=2e-4)
        for j, contact in enumerate(scenario["contact"]):
            contact["friction"] = factor * least if j in faces else 1.0
        ends.append(run(scenario)["outcomes"]["held"])
    assert ends == [0, 1]


def test_the_middle_box_is_lost_alone():
    scenario = in_time(table("three_boxes"), 0.3)
    for finger, x in zip(scenario["hand"]["finger"], (-0.06, 0.06), strict=True):
        base = {"rpy": [0, math.pi / 2, 0], "position": [0, 0, 0.1]}
        finger.update(dh=[[0, 0, 0, 0]], prismatic=[True], mass=[0.5], com=[[0, 0, 0]], inertia=[[1e-4] * 3], base=base)
        finger["start"] = [x]
    for j, contact in enumerate(scenario["contact"]):
        contact["friction"] = 1.0 if j < 8 else 0.02
    summary = run(scenario)
    assert summary["outcomes"]["dropped"] == 1
    held = {o["name"]: o["held"]["probability"] for o in summary["levels"][0]["objects"]}
    assert held == {"left": None, "middle": 0, "right": None}  # it stopped there: of the others nothing is known


def test_spheres_collide_and_bounce():
    """An elastic impulse passes from ball to ball: momentum and energy of the chain."""
    scenario = slope(0.0, 0.0, 0.03)
    ball = scenario["object"][0]
    ball["position"] = [0, 0, 0.03]
    scenario["object"].append({**ball, "name": "second", "position": [0.06, 0, 0.03]})
    down = {"point": [0, 0, -0.03], "normal": [0, 0, 1], "curvature": [1 / 0.03] * 2}
    scenario["contact"] += [
        {"between": ["second", "table"], **down},
        {"between": ["second", "body"], "azimuth": "180 deg", "elevation": 0},
    ]
    push = {"kind": "impulse", "force": [0.3, 0, 0], "from": 0, "to": "10 ms"}
    summary = run(in_time(scenario, 0.1, drop=1.0, load=[push]))
    # 0.3 N s on two balls of 0.3 kg that stay together: v = 0.5 m/s after half a sine of 10 ms
    assert drift(summary) == pytest.approx(0.5 * (0.1 - 0.005), rel=1e-6)
    assert summary["audit"]["momentum_balance"] < 1e-12


REFERENCE = json.loads((ROOT / "data/reference/grasp_time/groups.json").read_text())["cases"]


@pytest.mark.parametrize("name", REFERENCE)
def test_a_group_that_is_pushed_moves_as_in_mujoco(tmp_path, name):
    """Within 1 % of the farthest way, of boxes 5 %: the forces of four rigid points on a face are not unique, and turn the
    box as it slides. With its smallest steps MuJoCo still changes by 0.3 %."""
    case = REFERENCE[name]
    push = {"kind": "impulse", "force": case["push"], "from": 0, "to": "10 ms"}
    drive = {"joint_stiffness": case["stiffness"], "joint_damping": case["damping"]}
    scenario = in_time(table(name), case["duration"], 1e-4, drop=1.0, drop_turn=20.0, load=[push], drive=drive)
    friction = np.broadcast_to(case["friction"], len(scenario["contact"]))
    for contact, mu in zip(scenario["contact"], friction, strict=True):
        contact["friction"] = float(mu)
    path = tmp_path / "s.toml"
    path.write_text(tomli_w.dumps(scenario))
    program("run", path, "-o", tmp_path / "run", "--samples", 1, "--no-report")
    wanted, close = np.array(case["position"]), {"two_spheres": 0.01, "three_boxes": 0.05}[name]
    with h5py.File(tmp_path / "run" / "motion.h5") as file:
        nominal = file["nominal"]
        assert [o.decode() if isinstance(o, bytes) else o for o in file.attrs["object_names"]] == case["objects"]
        farthest = np.abs(wanted - wanted[0]).max()
        for k in range(len(case["objects"])):
            of = nominal if k == 0 else nominal[f"object_{k}"]
            way = np.stack([np.interp(case["time"][1:], nominal["time"], x) for x in of["position"][()].T], axis=1)
            np.testing.assert_allclose(way, wanted[1:, k], atol=close * farthest, err_msg=case["objects"][k])
            turn = np.stack([np.interp(case["time"][1:], nominal["time"], x) for x in of["quaternion"][()].T], axis=1)
            np.testing.assert_allclose(turn, np.array(case["quaternion"])[1:, k], atol=0.01, err_msg=case["objects"][k])


def test_a_study_in_time_has_objects_levels_and_the_same_bits(tmp_path):
    scenario = in_time(table("two_spheres"), 0.05, friction=[0.1, 0.6], instants=11)
    path = tmp_path / "s.toml"
    path.write_text(tomli_w.dumps(scenario))
    runs = []
    for k, flags in enumerate((("--device", "scalar", "--threads", 1), ("--device", "cpu", "--threads", 2))):
        program("run", path, "-o", tmp_path / str(k), "--samples", 200, "--no-report", *flags)
        runs.append((tmp_path / str(k) / "summary.json").read_bytes())
    assert runs[0] == runs[1]
    levels = json.loads(runs[0])["levels"]
    assert [len(level["objects"]) for level in levels] == [2, 2]
    assert levels[0]["held"]["probability"] <= levels[1]["held"]["probability"]
    assert np.isfinite(levels[1]["peak_force"]["mean"])
    program("report", tmp_path / "1")
    page = (tmp_path / "1" / "report.html").read_text()
    for level in levels:
        for one in level["objects"]:
            assert f"P({one['name']} held, friction {level['friction']:g})" in page


def soft_spheres():
    """Soft contacts, springs and dampers at the joints, a palm that shakes, torque limits that are reached."""
    scenario = table("two_spheres")
    for contact in scenario["contact"][:2]:
        contact |= {"model": "soft", "torsion_radius": 0.004}
    shake = {"kind": "shake", "rms": [1.0, 1.0, 1.0]}
    drive = {"joint_stiffness": 500, "joint_damping": 5, "torque_limit": [[8.0, 1.5, 1.5]] * 2}
    return in_time(scenario, 0.04, load=[shake], drive=drive, drop=0.005)


def test_boxes_at_rest_keep_the_forces_of_their_first_step(tmp_path):
    """Gaps of redundant contacts contradict one another by rounding; forces do not wander with them."""
    path = tmp_path / "s.toml"
    path.write_text(tomli_w.dumps(in_time(table("three_boxes"), 0.3)))
    program("run", path, "-o", tmp_path / "run", "--samples", 1, "--no-report")
    with h5py.File(tmp_path / "run" / "motion.h5") as file:
        force, friction = file["nominal/force"][()], file["nominal"].attrs["mu"]
        np.testing.assert_allclose(force, np.broadcast_to(force[0], force.shape), atol=2e-4)
        assert (np.hypot(force[..., 1], force[..., 2]) < friction * force[..., 0]).all()
        # Statics: each finger's face carries 1.5 of the three weights.
        weight = np.einsum("tci->ti", file["nominal/force_palm"][()][:, :4])[:, 2]
    np.testing.assert_allclose(weight, 1.5 * 0.2 * G, rtol=1e-6)


@pytest.mark.parametrize("samples", [1, 7, 9])
@pytest.mark.parametrize("name", ["lean_on_table", "three_boxes", "soft"])
def test_lanes_and_doubles_give_the_same_bits(tmp_path, name, samples):
    """For numbers of samples about those of a register."""
    scenario = soft_spheres() if name == "soft" else in_time(table(name), 0.01, instants=5)
    path = tmp_path / "s.toml"
    path.write_text(tomli_w.dumps(scenario))
    runs = []
    for device in ("scalar", "cpu"):
        program("run", path, "-o", tmp_path / device, "--samples", samples, "--no-report", "--device", device)
        runs.append((tmp_path / device / "summary.json").read_bytes())
    assert runs[0] == runs[1]


def test_a_sample_alone_moves_as_among_others(tmp_path):
    """Recomputed on doubles, a sample ends as in the study, in lanes beside samples that end before and after it."""
    path = tmp_path / "s.toml"
    path.write_text(tomli_w.dumps(in_time(table("two_spheres"), 0.1, friction=[0.1, 0.6], drop=1e-3)))
    program("run", path, "-o", tmp_path / "run", "--samples", 40, "--no-report")
    with h5py.File(tmp_path / "run" / "results.h5") as file:
        index, ends, drifts = (file[name][()] for name in ("index", "end_time", "peak_drift"))
    assert len(set(ends)) > 3
    for k, end, drift in list(zip(index, ends, drifts, strict=True))[:4]:
        said = json.loads(program("replay", tmp_path / "run", "--sample", k, "--format", "json").stdout)
        assert (said["end_time"], said["peak_drift"]) == (end, drift)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scheme": "explicit"}, "moreau-jean"),
        ({"drive": {"stiffness": 10}}, "gains of the object"),
    ],
)
def test_what_a_group_in_time_does_not_take(tmp_path, change, words):
    path = tmp_path / "s.toml"
    path.write_text(tomli_w.dumps(in_time(table("two_spheres"), 0.05, **change)))
    assert words in program("check", path, expect=INVALID).stderr


@pytest.mark.parametrize("group", [False, True])
def test_what_nothing_touches_at_the_end_is_dropped(group):
    """Fingers that are pulled away let a box fall freely, by 49 mm in 0.1 s: less than `drop`."""
    slides = {
        "dh": [[0, 0, "-90 deg", 0], [0, 0, "90 deg", "90 deg"], [0, 0, 0, 0]], "prismatic": [True] * 3,
        "mass": [0.3, 0.3, 0.2], "com": [[0, 0, 0]] * 3, "inertia": [[1e-4] * 3] * 3, "ik": "numeric",
    }  # fmt: skip
    fingers = [slides | {"start": [0.1, 0, -0.02 * s], "tau": [0.8 * G, 0, -1.0 * s]} for s in (1, -1)]
    box = {"shape": "box", "size": [0.04, 0.06, 0.08], "mass": 0.3, "position": [0, 0, 0.1]}
    contacts = [{"face": "-x"}, {"face": "+x"}]
    if group:
        rest = {"name": "rest", "shape": "box", "size": [0.1, 0.1, 0.1], "mass": 1.0, "position": [2, 0, 0.05]}
        box = [box | {"name": "box"}, rest]
        contacts = [one | {"between": ["box", f"finger {j}"]} for j, one in enumerate(contacts)]
        corners = [[x, y] for x in (-0.05, 0.05) for y in (-0.05, 0.05)]
        contacts += [{"between": ["rest", "palm"], "face": "-z", "at": at} for at in corners]
    scenario = {
        "schema": 1, "job": "grasp", "hand": {"model": "fingers", "finger": fingers}, "object": box,
        "contacts": {"friction": 0.5}, "contact": contacts, "load": {},
    }  # fmt: skip
    summary = run(in_time(scenario, 0.1, drive={"kind": "constant"}))
    assert drift(summary) == pytest.approx(0.5 * G * 0.1**2, rel=0.02)
    assert summary["outcomes"]["dropped"] == 1
    if group:
        objects = summary["levels"][0]["objects"]
        assert [one["held"]["probability"] for one in objects] == [0, 1]  # the other one rests on the palm
