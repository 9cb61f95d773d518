"""Forward dynamics and trajectories of the Stewart platform by Pinocchio and MuJoCo (PyPI: pin, mujoco), for tools/bench.

Both close the six loops by constraints between the rods and a free platform. Pinocchio's answer is compared with
data/reference/platform before the clock starts; MuJoCo's loops are springs, so how far its platform ends from the reference is
a result, not a check. One call of Pinocchio from Python costs about a microsecond, which is counted.

usage: platform_engines.py    prints {"benchmarks": [...]} as Google Benchmark does, medians
"""

import json
import pathlib
import statistics
import sys
import time

import numpy as np

REFERENCE = pathlib.Path(__file__).resolve().parents[2] / "data" / "reference" / "platform"


def rotation(p):
    """Of Euler parameters, scalar first."""
    e0, e = p[0], np.asarray(p[1:])
    skew = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    return (2 * e0 * e0 - 1) * np.eye(3) + 2 * (np.outer(e, e) + e0 * skew)


def leg_frames(params):
    """Of each universal joint in the base: x its fixed axis, z near the leg at home."""
    frames = []
    for b, s, k in zip(params["base_anchors"], params["platform_anchors"], params["universal_ground_axes"]):
        leg = np.add(params["home_position"], s) - b
        z = leg - np.dot(leg, k) * np.asarray(k)
        z /= np.linalg.norm(z)
        frames.append(np.column_stack([k, np.cross(z, k), z]))
    return frames


def leg_angles(params, frames, r, p):
    """Angles of the universal joints and lengths [6,3]."""
    rows = []
    for b, s, frame in zip(params["base_anchors"], params["platform_anchors"], frames):
        leg = np.asarray(r) + rotation(p) @ s - b
        length = np.linalg.norm(leg)
        z = frame.T @ leg / length
        rows.append([np.arctan2(-z[1], z[2]), np.arcsin(z[0]), length])
    return np.array(rows)


def link_inertias(params, leg):
    """(mass, center of mass, principal moments) of tube and rod in the joint's axes, whose x is minus the leg frame's y."""
    def turned(moments):
        return [moments[1], moments[0], moments[2]]
    return ((params["lower_mass"][leg], [0, 0, params["lower_com_from_universal"][leg]], turned(params["lower_inertia_diag"][leg])),
            (params["upper_mass"][leg], [0, 0, -params["upper_com_from_spherical"][leg]], turned(params["upper_inertia_diag"][leg])))


# --- Pinocchio ---

class Pinocchio:
    def __init__(self, pin, params):
        self.pin, self.params, self.frames = pin, params, leg_frames(params)
        model = pin.Model()
        model.gravity.linear = np.array(params["gravity"], float)
        self.platform = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
        model.appendBodyToJoint(self.platform, pin.Inertia(params["platform_mass"], np.zeros(3), np.array(params["platform_inertia"], float)),
                                pin.SE3.Identity())
        self.rods = []
        for leg in range(6):
            tube, rod = (pin.Inertia(m, np.array(c, float), np.diag(i)) for m, c, i in link_inertias(params, leg))
            j = model.addJoint(0, pin.JointModelRX(), pin.SE3(self.frames[leg], np.array(params["base_anchors"][leg])), f"x{leg}")
            j = model.addJoint(j, pin.JointModelRY(), pin.SE3.Identity(), f"y{leg}")
            model.appendBodyToJoint(j, tube, pin.SE3.Identity())
            j = model.addJoint(j, pin.JointModelPZ(), pin.SE3.Identity(), f"z{leg}")
            model.appendBodyToJoint(j, rod, pin.SE3.Identity())
            self.rods.append(j)
        self.model, self.data = model, model.createData()
        # Only now: a constraint made before the last joint gives wrong accelerations, without an error.
        self.constraints, self.constraint_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for leg, rod in enumerate(self.rods):
            at = pin.SE3(np.eye(3), np.array(params["platform_anchors"][leg], float))
            c = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, rod, pin.SE3.Identity(), self.platform, at)
            self.constraints.append(c)
            self.constraint_data.append(c.createData())
        pin.initConstraintDynamics(model, self.data, self.constraints, self.constraint_data)

    def state(self, r, p, force):
        q = np.concatenate([r, p[1:], p[:1], leg_angles(self.params, self.frames, r, p).ravel()])
        tau = np.zeros(self.model.nv)
        tau[8::3] = force
        return q, np.zeros(self.model.nv), tau

    def acceleration(self, q, v, tau):
        return self.pin.constraintDynamics(self.model, self.data, q, v, tau, self.constraints, self.constraint_data)


# --- MuJoCo ---

def mjcf(params, stiff):
    def text(values):
        return " ".join(repr(float(x)) for x in np.ravel(values))

    def quaternion(R):
        w = np.sqrt(max(1e-300, 1 + np.trace(R))) / 2
        v = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w)
        return [w, *v]

    bodies, pairs = [], []
    solver = ' solref="0.002 1" solimp="0.9999 0.9999 0.001"' if stiff else ""
    for leg, frame in enumerate(leg_frames(params)):
        (m1, c1, i1), (m2, c2, i2) = link_inertias(params, leg)
        bodies.append(
            f'<body pos="{text(params["base_anchors"][leg])}" quat="{text(quaternion(frame))}">'
            f'<inertial pos="{text(c1)}" mass="{m1!r}" diaginertia="{text(i1)}"/><joint type="hinge" axis="1 0 0"/><joint type="hinge" axis="0 1 0"/>'
            f'<body><inertial pos="{text(c2)}" mass="{m2!r}" diaginertia="{text(i2)}"/><joint type="slide" axis="0 0 1"/><site name="rod{leg}"/></body></body>')
        pairs.append(f'<connect site1="rod{leg}" site2="at{leg}"{solver}/>')
    sites = "".join(f'<site name="at{leg}" pos="{text(s)}"/>' for leg, s in enumerate(params["platform_anchors"]))
    inertia = np.array(params["platform_inertia"], float)
    full = text([inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2]])
    step = 'integrator="RK4"' if stiff else ""
    return (f'<mujoco><compiler angle="radian"/><option timestep="0.001" gravity="{text(params["gravity"])}" {step}/><worldbody><body><freejoint/>'
            f'<inertial pos="0 0 0" mass="{params["platform_mass"]!r}" fullinertia="{full}"/>{sites}</body>'
            f'{"".join(bodies)}</worldbody><equality>{"".join(pairs)}</equality></mujoco>')


class MuJoCo:
    def __init__(self, mujoco, params, stiff):
        self.mujoco, self.params = mujoco, params
        self.model = mujoco.MjModel.from_xml_string(mjcf(params, stiff))
        self.data = mujoco.MjData(self.model)

    def start(self, r, p, force):
        self.mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = np.concatenate([r, p, leg_angles(self.params, leg_frames(self.params), r, p).ravel()])
        self.data.qfrc_applied[8::3] = force

    def run(self, steps):
        self.mujoco.mj_step(self.model, self.data, steps)
        return self.data.qpos[:3].copy()


# --- clock ---

def median_us(work, repetitions, inner=1):
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        for _ in range(inner):
            work()
        times.append((time.perf_counter() - start) / inner)
    return 1e6 * statistics.median(times)


def entry(name, us, **more):
    return {"run_name": name, "aggregate_name": "median", "us": us, "real_time": us, "time_unit": "us", **more}


def main():
    params = json.loads((REFERENCE / "params_trepa_like.json").read_text())
    case = next(c for c in json.loads((REFERENCE / "fwddyn.json").read_text()) if c["name"] == "S2_unequal_force")
    first, last, force = case["states"][0], case["states"][-1], case["actuator_forces"]
    entries = []
    try:
        import pinocchio
        peer = Pinocchio(pinocchio, params)
        state = peer.state(first["r"], first["p"], force)
        a = np.array(peer.acceleration(*state))[:3]  # at rest and unturned: body axes are base axes
        if np.max(np.abs(rotation(first["p"]) @ a - first["nudot"][:3])) > 1e-9:
            sys.exit(f"platform_engines.py: Pinocchio's acceleration {a} is not the reference's {first['vdot']}")
        entries.append(entry("platform/acceleration/pinocchio", median_us(lambda: peer.acceleration(*state), 21, 500)))
    except ImportError:
        print("platform_engines.py: no Pinocchio (PyPI: pin)", file=sys.stderr)
    try:
        import mujoco
        for name, stiff in (("mujoco", False), ("mujoco_stiff", True)):
            peer = MuJoCo(mujoco, params, stiff)
            steps = round(last["t"] / 1e-3)

            def trajectory():
                peer.start(first["r"], first["p"], force)
                return peer.run(steps)
            off = float(np.max(np.abs(trajectory() - last["r"])))
            entries.append(entry(f"platform/trajectory/{name}", median_us(trajectory, 11), error=off))
    except ImportError:
        print("platform_engines.py: no MuJoCo (PyPI: mujoco)", file=sys.stderr)
    print(json.dumps({"benchmarks": entries}, indent=1))


if __name__ == "__main__":
    main()
