#!/usr/bin/env python3
"""Computes data/reference/grasp_time/: trajectories of grasps in time, for the tests.

usage: tools/grasp_time_reference.py [CASE ...]     (default: all)

An independent truth: it shares nothing with garra but the equations (docs/theory/grasp-time.md) and the parameters.
Needs numpy. What the files hold stands in data/reference/README.md; the model is in tools/grasp_time/.
"""

import json
import sys
from pathlib import Path

import numpy as np

from grasp_time.fingers import Fingers, cross, rotation_vector, turn
from grasp_time.motion import Grasp, Load, explicit_step, moreau_step, run

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "data" / "reference" / "grasp_time"


def default_hand(**options):
    """Three PUMA fingers about a sphere, as data/scenarios/papers_hand.toml."""
    azimuth = np.array([-np.pi / 3, np.pi / 3, np.pi])
    guess = np.array([-1.4317, -2.8350, 2.7872, 0.3849, 1.6150, 0.0179])
    direction = np.stack([np.cos(azimuth), np.sin(azimuth), 0 * azimuth], 1)
    t = np.tile([0.0, 0.0, 1.0], (3, 1))
    frames = np.stack([-direction, t, cross(-direction, t)], axis=2)
    frames[2] = frames[2] @ turn((-np.pi / 2, 0, 0))  # the papers' third contact frame
    fingers = Fingers(0.6 * direction, 0.1)
    center = np.array([0, 0, 0.3])
    start = np.array([guess, guess, guess])
    start[:, 0] += azimuth - azimuth[0]
    start[2, 5] -= np.pi / 2
    q0 = reach(fingers, center + 0.1 * direction, frames, start)
    return Grasp(fingers=fingers, q0=q0, mass=1.0, gyration2=np.full(3, 0.4 * 0.1**2), position=center,
                 surface="sphere", frames=frames, points=0.1 * direction, **options)


def cylinder_hand(**options):
    """The default hand about a cylinder of 100 mm radius and 200 mm height that stands in it."""
    g = default_hand(**options)
    g.surface = "cylinder"
    g.gyration2 = np.array([0.1**2 / 4 + 0.2**2 / 12, 0.1**2 / 4 + 0.2**2 / 12, 0.1**2 / 2])
    return g


def reach(fingers, points, frames, guess):
    """Newton's method from `guess` to the tool frames (x, y, z) = (t, o, n) at the points."""
    q = np.array(guess, float)
    wanted = frames[:, :, [1, 2, 0]]
    for _ in range(30):
        f = fingers.terms(q, np.zeros_like(q), np.zeros(3))
        error = np.array([rotation_vector(w @ r.T) for w, r in zip(wanted, f.tip_axes)])
        J = np.concatenate([f.jacobian, f.spin], axis=1)
        q = q + np.linalg.solve(J, np.concatenate([points - f.tip, error], axis=1)[:, :, None])[:, :, 0]
    return q


def box_hand(azimuths, heights, **options):
    """PUMA fingers about a 200 x 200 x 150 mm box of 1.5 kg, as data/scenarios/four_finger_box.toml."""
    azimuth = np.array(azimuths)
    guess = default_hand(friction=0.5).q0[0]
    direction = np.round(np.stack([np.cos(azimuth), np.sin(azimuth), 0 * azimuth], 1))
    t = np.tile([0.0, 0.0, 1.0], (len(azimuth), 1))
    frames = np.stack([-direction, t, cross(-direction, t)], axis=2)
    points = 0.1 * direction
    points[:, 2] = heights
    fingers = Fingers(0.6 * direction, 0.1)
    center = np.array([0, 0, 0.3])
    start = np.tile(guess, (len(azimuth), 1))
    start[:, 0] += azimuth + np.pi / 3
    q0 = reach(fingers, center + points, frames, start)
    size2 = np.array([0.2, 0.2, 0.15]) ** 2
    return Grasp(fingers=fingers, q0=q0, mass=1.5, gyration2=(np.sum(size2) - size2) / 12, position=center,
                 surface="plane", frames=frames, points=points, **options)


def ramp_pull():
    return default_hand(friction=0.3, loads=[Load("ramp", 0, 0.18, force=(0, 0, -6.48))])


def pushes():
    """Constant torques; pushes and twists, some contacts slide."""
    return default_hand(friction=0.28, loads=[
        Load("ramp", 0.01, 0.05, force=(1.5, -2, 1), torque=(0.05, 0, 0.1)),
        Load("impulse", 0.03, 0.06, force=(0.1, 0.15, -0.1), torque=(0.002, -0.004, 0.01)),
        Load("impulse", 0.08, 0.12, force=(-0.2, -0.1, 0.1), torque=(0, 0.006, -0.015)),
    ])


def lost_contact(restitution=0.0):
    """A blow along x: the third finger loses the sphere and meets it again."""
    return default_hand(friction=0.5, restitution=restitution,
                        loads=[Load("impulse", 0.02, 0.03, force=(0.4, 0.01, 0))])


def bounce():
    return lost_contact(0.5)


def sampled():
    """Torques out of a table: a hand that squeezes more and rocks."""
    g = default_hand(friction=0.3)
    g.drive = "sampled"
    g.sample_times = np.array([0, 0.03, 0.08, 0.11, 0.16])
    swing = np.array([0.8, -2.5, 1.5, 0.05, 0.1, 0])
    shares = (0, 1, -1, 0.5, 0)
    rock = [np.outer((1, -0.5, -0.4), s * swing) for s in shares]
    g.sample_torques = np.array([g.tau0 + r for r in rock])
    return g


def box_four():
    """Four fingers hold a box; blows turn it and let it slide along its faces."""
    return box_hand(np.arange(4) * np.pi / 2, (0, 0, 0, 0.01), friction=0.4, grip_force=20.0, loads=[
        Load("impulse", 0.02, 0.05, force=(0.1, -0.2, -0.3), torque=(0.01, -0.02, 0.03)),
        Load("ramp", 0.05, 0.15, force=(0, 0, -8)),
    ])


def box_two():
    """Two fingers hold a box that can turn about their line."""
    return box_hand((0, np.pi), (0, 0), friction=0.6, grip_force=30.0, loads=[
        Load("impulse", 0.02, 0.05, force=(0.05, -0.05, 0), torque=(0.05, 0.002, -0.001)),
    ])


def cylinder():
    """A cylinder is pulled down and twisted until it slides."""
    return cylinder_hand(friction=0.3, loads=[
        Load("ramp", 0, 0.1, force=(0.5, -0.3, -6), torque=(0.01, 0.02, 0.2)),
        Load("impulse", 0.02, 0.05, force=(0.1, 0.2, 0.05), torque=(0.004, -0.002, 0.003)),
    ])


def controlled():
    """The controller with every gain, while gravity turns and pushes come."""
    return default_hand(friction=0.5, drive="controller", controller={
        "stiffness": 400, "damping": 30, "turn_stiffness": 2, "turn_damping": 0.15, "joint_stiffness": 60,
        "joint_damping": 8,
    }, loads=[
        Load("tilt", 0.02, 0.3, axis=(1, 2, 0.5), angle=0.5),
        Load("impulse", 0.05, 0.08, force=(0.1, -0.05, 0.15), torque=(0.003, 0.002, -0.004)),
        Load("ramp", 0.1, 0.2, force=(0.5, 1, -1)),
    ])


def explicit_slide():
    """The papers' step where it is stable: the pull of the first step already lets all contacts slide, and fast."""
    return default_hand(friction=0.3, loads=[Load("ramp", 0, 1e-4, force=(1, 0.5, -15))])


def falling():
    """Hardly any friction: the sphere falls through the fingers."""
    return default_hand(friction=0.02)


CASES = {  # name: (grasp, step [s], steps, steps from one written instant to the next); explicit_...: the papers' step
    "ramp_pull": (ramp_pull, 1e-3, 180, 18),
    "pushes": (pushes, 1e-3, 150, 15),
    "lost_contact": (lost_contact, 1e-3, 150, 10),
    "bounce": (bounce, 1e-3, 150, 10),
    "sampled": (sampled, 1e-3, 160, 20),
    "box_four": (box_four, 1e-3, 150, 15),
    "box_two": (box_two, 1e-3, 150, 15),
    "cylinder": (cylinder, 1e-3, 150, 15),
    "controlled": (controlled, 2e-3, 150, 15),
    "explicit_slide": (explicit_slide, 1e-4, 300, 30),
    "falling": (falling, 1e-3, 130, 10),
}


def written(g, s, dt):
    """One instant as it goes into a file. Forces are impulses of the last step over its length, in palm axes."""
    out = {"t": s.t, "position": s.x, "rotation": s.R, "velocity": s.v, "spin": s.omega, "q": s.q, "qd": s.qd}
    if s.p is not None:
        force = np.einsum("nij,nj->ni", s.frames, s.p.reshape(g.n, 3)) / dt
        out |= {"normal_force": s.p[0::3] / dt, "force": force, "slip_path": s.slid}
    return {key: np.asarray(value).tolist() for key, value in out.items()}


def described(g):
    """What the grasp is made of, so that a test can build the same."""
    loads = [{key: getattr(load, key) for key in ("kind", "start", "end", "force", "torque", "axis", "angle")}
             for load in g.loads]
    out = {"hand": "box" if g.surface == "plane" else "three_puma", "surface": g.surface,
           "friction": g.friction[0], "grip_force": g.grip_force, "mass": g.mass, "drive": g.drive,
           "restitution": g.restitution, "baumgarte": g.baumgarte, "loads": loads}
    if g.surface == "plane":
        out |= {"contacts": g.points.tolist()}
    if g.drive == "controller":
        out |= {"controller": g.controller}
    if g.drive == "sampled":
        out |= {"sample_times": g.sample_times.tolist(), "sample_torques": g.sample_torques.tolist()}
    return out


def write(name, document):
    TARGET.mkdir(parents=True, exist_ok=True)
    path = TARGET / f"{name}.json"
    path.write_text(json.dumps(document, separators=(",", ":")) + "\n")
    print(f"{path.stat().st_size:>9} {path.relative_to(ROOT)}")


def convergence(grasp, until, steps):
    """Vertical velocity at `duration` for each step, and its limit by Richardson's extrapolation."""
    v_z = [run(grasp(), dt, until)[-1].v[2] for dt in steps]
    once = [2 * fine - coarse for coarse, fine in zip(v_z, v_z[1:])]
    twice = [(4 * fine - coarse) / 3 for coarse, fine in zip(once, once[1:])]
    return {"until": until, "steps": list(steps), "v_z": v_z, "limit": twice[-1],
            "limit_error": abs(twice[-1] - twice[-2])}


def check_fingers():
    """The fingers' terms against the reference set's hands."""
    for hand in json.loads((TARGET.parent / "grasp" / "chain.json").read_text()):
        given = hand["inputs"]
        if not given["armature"]:
            continue
        fingers = Fingers(np.array(hand["S"]).T, given["tool"])
        q, qd = np.array(hand["q"]), np.array(given["qd_man"])
        f = fingers.terms(q, qd.reshape(q.shape), np.array(given["gvec"]))
        pairs = ((f.tip - fingers.base, np.array(hand["p_tt"]).T), (f.tip_axes, hand["R_PC"]), (f.mass, hand["M_f"]),
                 (f.weight, hand["g_f"]), (f.coriolis, hand["h_f"]), (f.tip_bias, hand["jdot_qd"]),
                 (np.concatenate([f.jacobian, f.spin], axis=1), hand["J_geo"]))
        for ours, theirs in pairs:
            assert np.abs(ours - theirs).max() <= 1e-12 * (1 + np.abs(theirs).max()), f"hand {hand['id']}"


def main():
    check_fingers()
    for name in sys.argv[1:] or CASES:
        grasp, dt, steps, every = CASES[name]
        g = grasp()
        explicit = name.startswith("explicit")
        states = run(g, dt, steps * dt, explicit_step if explicit else moreau_step)
        document = described(g) | {"scheme": "explicit" if explicit else "moreau-jean", "step": dt, "steps": steps,
                                   "every": every, "states": [written(g, s, dt) for s in states[::every]]}
        if name == "ramp_pull":
            document["convergence"] = convergence(grasp, 0.18, (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4))
        if name == "falling":
            fallen = next(s for s in states if np.linalg.norm(s.x - g.position) >= 0.05)
            document["dropped"] = {"drift": 0.05, "time": fallen.t}
        write(name, document)


if __name__ == "__main__":
    main()
