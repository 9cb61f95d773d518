#!/usr/bin/env python3
"""Computes data/reference/grasp_time/groups.json: groups of objects in time, by MuJoCo.

usage: tools/group_time_reference.py

Needs mujoco and numpy. MuJoCo's contacts are soft: the time constant of their stiffness is four steps. Each case runs with
steps of 20, 10 and 5 us; the last one is kept. What the file holds stands in data/reference/README.md.
"""

import json
from pathlib import Path

import mujoco
import numpy as np

TARGET = Path(__file__).resolve().parent.parent / "data" / "reference" / "grasp_time" / "groups.json"
G = 9.81
TIP = 1e-4  # radius of a ball that stands for a point [m]
STIFFNESS, DAMPING = 500.0, 5.0  # of each finger's joint [N/m], [N s/m]
STEPS = (2e-5, 1e-5, 5e-6)  # [s]
SAMPLES = 21


def finger(number, place, tips):
    """Three sliding joints along z, y, x, with 0.3, 0.3 and 0.2 kg; its own weight is balanced."""
    balls = "".join(f'<geom name="f{number}t{k}" type="sphere" size="{TIP}" pos="{x} {y} {z}" mass="0"/>' for k, (x, y, z) in enumerate(tips))
    joint = f'type="slide" stiffness="{STIFFNESS}" damping="{DAMPING}"'
    inertial = '<inertial pos="0 0 0" mass="{}" diaginertia="1e-4 1e-4 1e-4"/>'
    return f"""<body pos="{place[0]} {place[1]} {place[2]}" gravcomp="1">{inertial.format(0.3)}<joint name="f{number}z" axis="0 0 1" {joint}/>
      <body gravcomp="1">{inertial.format(0.3)}<joint name="f{number}y" axis="0 1 0" {joint}/>
        <body gravcomp="1">{inertial.format(0.2)}<joint name="f{number}x" axis="1 0 0" {joint}/>{balls}</body></body></body>"""


def pair(a, b, friction):
    return f'<pair geom1="{a}" geom2="{b}" condim="3" friction="{friction} {friction} 0 0 0"/>'


def spheres():
    """data/scenarios/two_spheres.toml: a ball on another, between a finger below and a finger above."""
    radius = 0.03
    bodies = "".join(
        f"""<body name="{name}" pos="0 0 {z}"><freejoint/>
        <inertial pos="0 0 0" mass="{mass}" diaginertia="{' '.join([repr(0.4 * mass * radius**2)] * 3)}"/>
        <geom name="{name}" type="sphere" size="{radius}"/></body>"""
        for name, mass, z in (("lower", 0.3, 0.09), ("upper", 0.2, 0.15))
    )
    pairs = [("lower", "f0t0"), ("upper", "f1t0"), ("upper", "lower")]
    # squeeze of 6 N at each contact, and the smallest change of the three forces that balances both weights
    d = -G * (0.3 - 0.2) / 3
    force = {"f0z": 6 + d + 0.3 * G, "f1z": -(6 + d - 0.2 * G)}
    return {
        "names": ["lower", "upper"], "friction": 0.5, "duration": 0.1, "push": [0.12, 0, 0], "force": force,
        "bodies": bodies + finger(0, (0, 0, 0.06 - TIP), [(0, 0, 0)]) + finger(1, (0, 0, 0.18 + TIP), [(0, 0, 0)]),
        "pairs": "".join(pair(*names, 0.5) for names in pairs),
    }  # fmt: skip


def boxes():
    """data/scenarios/three_boxes.toml: the middle box slides down between the others."""
    size, mass = np.array([0.04, 0.06, 0.08]), 0.2
    inertia = mass / 12 * (np.sum(size**2) - size**2)
    points = [(y, z) for y in (0.02, -0.02) for z in (0.03, -0.03)]
    bodies, pairs = "", ""
    for name, x in (("left", -0.04), ("middle", 0.0), ("right", 0.04)):
        feet = ""
        if name == "middle":
            for side, other in ((-1, "left"), (1, "right")):
                for k, (y, z) in enumerate(points):
                    foot = f"{other}{k}"
                    feet += f'<geom name="{foot}" type="sphere" size="{TIP}" pos="{side * (0.02 - TIP)} {y} {z}" mass="0"/>'
                    pairs += pair(foot, other, 0.1)
        bodies += f"""<body name="{name}" pos="{x} 0 0.1"><freejoint/>
        <inertial pos="0 0 0" mass="{mass}" diaginertia="{inertia[0]} {inertia[1]} {inertia[2]}"/>
        <geom name="{name}" type="box" size="{size[0] / 2} {size[1] / 2} {size[2] / 2}"/>{feet}</body>"""
    for number, name, side in ((0, "left", -1), (1, "right", 1)):
        bodies += finger(number, (side * (0.06 + TIP), 0, 0.1), [(0, y, z) for y, z in points])
        pairs += "".join(pair(f"f{number}t{k}", name, 0.8) for k in range(4))
    # each finger presses with 8 N and lifts half of the weight
    force = {"f0x": 8.0, "f1x": -8.0, "f0z": 1.5 * mass * G, "f1z": 1.5 * mass * G}
    return {
        "names": ["left", "middle", "right"], "friction": [0.8] * 8 + [0.1] * 8, "duration": 0.1, "push": [0, 0.03, 0],
        "force": force, "bodies": bodies, "pairs": pairs,
    }  # fmt: skip


def simulate(case, step):
    """Positions [t, objects, 3] and quaternions [t, objects, 4]; an impulse of 10 ms pushes the first object."""
    model = mujoco.MjModel.from_xml_string(f"""<mujoco>
      <option timestep="{step}" gravity="0 0 {-G}" cone="elliptic" impratio="10" solver="Newton" iterations="200"
        tolerance="1e-14" integrator="implicitfast"/>
      <default><geom contype="0" conaffinity="0"/><pair solref="{4 * step} 1" solimp="0.9999 0.9999 0.001 0.5 2"/></default>
      <worldbody>{case["bodies"]}</worldbody><contact>{case["pairs"]}</contact></mujoco>""")
    data = mujoco.MjData(model)
    for joint, force in case["force"].items():
        data.qfrc_applied[model.jnt_dofadr[model.joint(joint).id]] = force
    bodies = [model.body(name).id for name in case["names"]]
    count = round(case["duration"] / step)
    every = count // (SAMPLES - 1)
    rows = []
    for k in range(count + 1):
        if k % every == 0:
            mujoco.mj_kinematics(model, data)
            rows.append((data.xpos[bodies].copy(), data.xquat[bodies].copy()))
        t = (k + 0.5) * step
        data.xfrc_applied[bodies[0], :3] = np.array(case["push"]) * (np.pi / 0.02 * np.sin(np.pi * t / 0.01) if t < 0.01 else 0)
        mujoco.mj_step(model, data)
    return [np.array(part) for part in zip(*rows, strict=True)]


def main():
    out = {}
    for name, make in (("two_spheres", spheres), ("three_boxes", boxes)):
        case = make()
        runs = [simulate(case, step) for step in STEPS]
        gaps = [float(np.abs(a[0] - b[0]).max()) for a, b in zip(runs, runs[1:])]
        print(name, "moved", np.abs(runs[-1][0] - runs[-1][0][0]).max(axis=(0, 2)), "change with the step", gaps)
        position, quaternion = runs[-1]
        out[name] = {
            "objects": case["names"], "friction": case["friction"], "push": case["push"], "duration": case["duration"],
            "stiffness": STIFFNESS, "damping": DAMPING, "change_with_step": gaps,
            "time": np.linspace(0, case["duration"], SAMPLES).tolist(),
            "position": position.round(9).tolist(), "quaternion": quaternion.round(9).tolist(),
        }  # fmt: skip
    TARGET.write_text(json.dumps({"mujoco": mujoco.__version__, "cases": out}) + "\n")


if __name__ == "__main__":
    main()
