"""Grasps in time by MuJoCo, Drake and Pinocchio (PyPI: mujoco, drake, pin), for tools/bench: what a user would take.

Three PUMA 560 with point fingertips hold a sphere, at constant joint torques that hold it exactly (15 N each and the weight;
data/reference/grasp/chain.json, id 0). With hard contacts and dry friction the fingertips stay where they are on the sphere:

  hold   friction 0.4, nothing acts, 0.5 s
  shake  friction 0.4, a force of 3 N at 8 Hz along x, 0.5 s, within the cones: nothing may slip
  pull   friction 0.3, a force that grows downward by PULL, 0.18 s: all three slip at last

usage: grasp_engines.py    prints {"benchmarks": [...]} as Google Benchmark does, medians

Of each: us per step; slip and gap: how far a fingertip has moved along the sphere and off it at the end [m], for hard
contacts 0 but for the slip of a pull, 4.02 mm; error: of the sphere's vertical velocity at the end of a pull [m/s].
One thread each. MuJoCo and Drake step in C++; Pinocchio has no step: ours, in Python, calls its solver, and `solver` is the
solver's time by its own clock.
"""

import json
import pathlib
import statistics
import sys
import time

import numpy as np

REFERENCE = pathlib.Path(__file__).resolve().parents[2] / "data" / "reference" / "grasp" / "chain.json"
RADIUS, MASS, TOOL, GRAVITY = 0.1, 1.0, 0.1, np.array([0, 0, -9.81])
TIP = 1e-6  # radius of a fingertip where an engine wants one [m]
CENTER = np.array([0, 0, 0.3])
PULL = 40.0          # [N/s]
CONVERGED = -0.211369  # vertical velocity at the end of a pull [m/s]: steps down to 0.1 ms, Pinocchio's and garra's
JOBS = {  # friction, duration [s], force [N] on the center of mass at time t
    "hold": (0.4, 0.5, lambda t: (0, 0, 0)),
    "shake": (0.4, 0.5, lambda t: (3 * np.sin(2 * np.pi * 8 * t), 0, 0)),
    "pull": (0.3, 0.18, lambda t: (0, 0, -PULL * t)),
}
DH = [(0, 0, 1), (0.4318, 0, 0), (0.0203, 0.15005, -1), (0, 0.4318, 1), (0, 0, -1), (0, 0, 0)]  # a, d, alpha / 90 deg
LINKS = [(1e-6, (0, 0, 0), (0.35, 0.35, 0.35)),  # turns about the vertical alone: only that 0.35 counts
         (17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
         (4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125)),
         (0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3)),
         (0.34, (0, 0, 0), (0.3e-3, 0.4e-3, 0.3e-3)),
         (0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3))]
ARMATURE = [62.6111**2 * 200e-6, 107.815**2 * 200e-6, 53.7063**2 * 200e-6,
            76.0364**2 * 33e-6, 71.923**2 * 33e-6, 76.686**2 * 33e-6]


class Hand:
    """Where everything is at the start, and the torques."""

    def __init__(self):
        case = json.loads(REFERENCE.read_text())[0]
        self.q, self.tau = np.array(case["q"]), np.array(case["inputs"]["tau"])  # [3,6], [18]
        self.base, self.tip = np.transpose(case["S"]), np.transpose(case["p_t"])  # a row each, palm frame


def about_x(quarters):
    c, s = (1, 0, -1, 0)[quarters % 4], (0, 1, 0, -1)[quarters % 4]
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def rotation(p):
    """Of a quaternion, scalar first."""
    e0, e = p[0], np.asarray(p[1:])
    skew = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    return (2 * e0 * e0 - 1) * np.eye(3) + 2 * (np.outer(e, e) + e0 * skew)


def link(i):
    """Of link i, in the frame that its joint turns about z: mass, center of mass, inertia about it, the next frame."""
    (a, d, alpha), (mass, com, moments) = DH[i], LINKS[i]
    R, p = about_x(alpha), np.array([a, 0, d])
    return mass, p + R @ com, R @ np.diag(moments) @ R.T, p, R


def tip_of(base, q):
    p, R = base, np.eye(3)
    for i in range(6):
        c, s = np.cos(q[i]), np.sin(q[i])
        R = R @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        p, R = p + R @ link(i)[3], R @ link(i)[4]
    return p + TOOL * R[:, 2]


def judged(hand, job, end):
    """How far the fingertips have moved along the sphere and off it at the end (q [3,6], center, quaternion, v_z)."""
    q, center, quaternion, v = end
    slip = gap = 0.0
    for base, angles, first in zip(hand.base, q, hand.tip - CENTER):
        now = rotation(quaternion).T @ (tip_of(base, angles) - center)
        slip = max(slip, np.linalg.norm(np.cross(first / RADIUS, now)))
        gap = max(gap, abs(np.linalg.norm(now) - RADIUS))
    return {"slip": slip, "gap": gap, **({"error": abs(v - CONVERGED)} if job == "pull" else {})}


# --- MuJoCo: elliptic cones; contacts are springs ---

def mjcf(hand, friction, step, stiff):
    def text(values):
        return " ".join(repr(float(x)) for x in np.ravel(values))

    def finger(j, i=0, place="0 0 0", quarters=0):
        if i == 6:
            return f'<geom type="sphere" size="{TIP}" pos="0 0 {TOOL!r}" contype="1" conaffinity="2"/>'
        (a, d, alpha), (mass, com, moments) = DH[i], LINKS[i]
        half = alpha * np.pi / 4
        R = text([np.cos(half), np.sin(half), 0, 0])
        moments = (moments[0], min(moments[1], moments[0] + moments[2]), moments[2])
        turn = text([np.cos(quarters * np.pi / 4), np.sin(quarters * np.pi / 4), 0, 0])
        inner = finger(j, i + 1, text([a, 0, d]), alpha)
        return (f'<body name="link{j}{i}" pos="{place}" quat="{turn}"><joint axis="0 0 1" armature="{ARMATURE[i]!r}"/>'
                f'<inertial pos="{text(link(i)[1])}" quat="{R}" mass="{mass!r}" diaginertia="{text(moments)}"/>'
                f'{inner}</body>')

    springs = f' solref="{4 * step!r} 1" solimp="0.9999 0.9999 0.001"' if stiff else ""
    moment = 0.4 * MASS * RADIUS**2
    fingers = "".join(finger(j, 0, text(hand.base[j])) for j in range(3))
    return (f'<mujoco><compiler angle="radian"/><option timestep="{step!r}" gravity="{text(GRAVITY)}" cone="elliptic" '
            f'impratio="{10 if stiff else 1}"/><default><geom condim="3" friction="{friction!r} 0 0"{springs}/></default>'
            f'<worldbody><body pos="{text(CENTER)}"><freejoint/>'
            f'<inertial pos="0 0 0" mass="{MASS!r}" diaginertia="{text([moment] * 3)}"/>'
            f'<geom type="sphere" size="{RADIUS!r}" contype="2" conaffinity="1"/></body>{fingers}</worldbody></mujoco>')


class MuJoCo:
    def __init__(self, hand, friction, step, stiff=False):
        import mujoco
        import mujoco.rollout
        self.mujoco, self.hand, self.step = mujoco, hand, step
        self.model = mujoco.MjModel.from_xml_string(mjcf(hand, friction, step, stiff))
        # The published third link is no physical body (Ixx + Izz < Iyy), which its reader would refuse.
        for j in range(3):
            self.model.body_inertia[self.model.body(f"link{j}2").id] = LINKS[2][2]
        self.data = mujoco.MjData(self.model)
        mujoco.mj_setConst(self.model, self.data)
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[7:] = hand.q.ravel()
        self.start = np.zeros((1, mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
        mujoco.mj_getState(self.model, self.data, self.start[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)

    def prepare(self, forces):
        self.applied = np.zeros((1, len(forces), self.model.nv))
        self.applied[0, :, :3], self.applied[0, :, 6:] = forces, self.hand.tau

    def run(self):
        states, _ = self.mujoco.rollout.rollout(self.model, self.data, self.start, self.applied,
                                                control_spec=self.mujoco.mjtState.mjSTATE_QFRC_APPLIED)
        self.end = states[0, -1]

    def result(self):
        q, v = self.end[1:1 + self.model.nq], self.end[1 + self.model.nq:]
        return q[7:].reshape(3, 6), q[:3], q[3:7], v[2]


# --- Drake: discrete, convex solver; contacts are stiff springs that carry the squeeze at the start ---

class Drake:
    def __init__(self, hand, friction, step, **choice):
        import pydrake.all as drake
        self.drake, self.hand, builder = drake, hand, drake.DiagramBuilder()
        config = drake.MultibodyPlantConfig(time_step=step, contact_model="point", use_sampled_output_ports=False, **choice)
        self.plant, _ = drake.AddMultibodyPlant(config, builder)
        self.plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
        self.material = drake.ProximityProperties()
        # Two in series, pressed in by the radius of a fingertip, give 15 N.
        drake.AddContactMaterial(self.material, point_stiffness=2 * 15 / TIP,
                                 friction=drake.CoulombFriction(friction, friction))
        self.sphere = self.plant.AddRigidBody("sphere", drake.SpatialInertia.SolidSphereWithMass(MASS, RADIUS))
        self.add_geometry(self.sphere, [0, 0, 0], RADIUS)
        self.joints = [joint for j in range(3) for joint in self.add_finger(j)]
        self.plant.Finalize()
        self.builder = builder

    def add_geometry(self, body, at, radius):
        drake = self.drake
        place = drake.RigidTransform(np.array(at, float))
        self.plant.RegisterCollisionGeometry(body, place, drake.Sphere(radius), body.name(), self.material)

    def add_finger(self, j):
        drake, plant, parent = self.drake, self.plant, self.plant.world_body()
        place = drake.RigidTransform(self.hand.base[j])
        for i in range(6):
            mass, com, inertia, p, R = link(i)
            about = drake.UnitInertia(*(inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]] / mass)).ShiftFromCenterOfMass(com)
            body = plant.AddRigidBody(f"link{j}{i}", drake.SpatialInertia(mass, com, about, skip_validity_check=True))
            joint = plant.AddJoint(drake.RevoluteJoint(f"joint{j}{i}", plant.AddFrame(drake.FixedOffsetFrame(
                f"at{j}{i}", parent.body_frame(), place)), body.body_frame(), [0, 0, 1]))
            plant.AddJointActuator(f"motor{j}{i}", joint).set_default_rotor_inertia(ARMATURE[i])
            parent, place = body, drake.RigidTransform(drake.RotationMatrix(R), p)
            yield joint
        self.add_geometry(parent, [0, 0, TOOL], TIP)

    def prepare(self, forces):
        """Forces are those of the steps; the plant takes those of a step's start."""
        drake, builder, plant = self.drake, self.builder, self.plant
        torque = builder.AddSystem(drake.ConstantVectorSource(self.hand.tau))
        builder.Connect(torque.get_output_port(), plant.get_actuation_input_port())
        times = plant.time_step() * np.arange(len(forces) + 1)
        table = np.zeros((plant.num_velocities(), len(times)))
        first = self.sphere.floating_velocities_start_in_v() + 3
        table[first:first + 3, :-1] = np.transpose(forces)
        load = builder.AddSystem(drake.TrajectorySource(drake.PiecewisePolynomial.ZeroOrderHold(times, table)))
        builder.Connect(load.get_output_port(), plant.get_applied_generalized_force_input_port())
        self.simulator, self.until = drake.Simulator(builder.Build()), times[-1]

    def run(self):
        context = self.simulator.get_mutable_context()
        self.context = self.plant.GetMyMutableContextFromRoot(context)
        context.SetTime(0)
        self.plant.SetDefaultContext(self.context)
        self.plant.SetFreeBodyPose(self.context, self.sphere, self.drake.RigidTransform(CENTER))
        for joint, angle in zip(self.joints, self.hand.q.ravel()):
            joint.set_angle(self.context, angle)
        self.simulator.Initialize()
        self.simulator.AdvanceTo(self.until)

    def result(self):
        place = self.plant.EvalBodyPoseInWorld(self.context, self.sphere)
        v = self.plant.EvalBodySpatialVelocityInWorld(self.context, self.sphere).translational()
        q = np.array([joint.get_angle(self.context) for joint in self.joints])
        return q.reshape(3, 6), place.translation(), place.rotation().ToQuaternion().wxyz(), v[2]


# --- Pinocchio: hard contacts; it has the dynamics and a solver of the contact problem, the step around them is ours ---

class Pinocchio:
    def __init__(self, hand, friction, step):
        import pinocchio as pin
        self.pin, self.hand, self.step = pin, hand, step
        self.model = model = pin.Model()
        model.gravity.linear = GRAVITY
        sphere = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "sphere")
        inertia = pin.Inertia(MASS, np.zeros(3), 0.4 * MASS * RADIUS**2 * np.eye(3))
        model.appendBodyToJoint(sphere, inertia, pin.SE3.Identity())
        self.tips = [self.add_finger(j) for j in range(3)]
        model.armature = np.concatenate([np.zeros(6), *[ARMATURE] * 3])
        self.data = model.createData()
        self.set_solver(sphere, friction)

    def add_finger(self, j):
        pin, model, parent = self.pin, self.model, 0
        place = pin.SE3(np.eye(3), self.hand.base[j])
        for i in range(6):
            mass, com, inertia, p, R = link(i)
            parent = model.addJoint(parent, pin.JointModelRZ(), place, f"{j}{i}")
            model.appendBodyToJoint(parent, pin.Inertia(mass, com, inertia), pin.SE3.Identity())
            place = pin.SE3(R, p)
        tip = pin.SE3(np.eye(3), np.array([0, 0, TOOL]))
        return model.addFrame(pin.Frame(f"tip{j}", parent, tip, pin.FrameType.OP_FRAME))

    def set_solver(self, sphere, friction):
        pin = self.pin
        self.contacts, self.contact_data = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for _ in self.tips:
            contact = pin.PointContactConstraintModel(self.model, sphere)
            contact.setFriction(friction)
            self.contacts.append(pin.ConstraintModel(contact))
            self.contact_data.append(self.contacts[len(self.contacts) - 1].createData())
        self.solver, self.solution = pin.ADMMConstraintSolver(9), pin.ADMMSolverResult()
        self.settings = pin.ADMMSolverSettings()
        self.settings.measure_timings = True

    def prepare(self, forces):
        self.forces = forces

    def rows(self):
        """(t, o, n inward) of each contact's relative velocity, sphere less fingertip, and the gaps."""
        pin, model, data = self.pin, self.model, self.data
        R, center = data.oMi[1].rotation, data.oMi[1].translation
        J, gap = np.zeros((9, model.nv)), np.zeros(9)
        for j, frame in enumerate(self.tips):
            off = center - data.oMf[frame].translation
            distance = np.linalg.norm(off)
            n = off / distance
            t = np.array([-n[1], n[0], 0.0]) / np.hypot(n[0], n[1])
            E = np.array([t, [n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0]], n])
            ER, arm = E @ R, R.T @ -off
            row = J[3 * j:3 * j + 3]
            row[:, :3] = ER
            row[:, 3:6] = ER @ np.array([[0, arm[2], -arm[1]], [-arm[2], 0, arm[0]], [arm[1], -arm[0], 0]])
            first = 6 + 6 * j
            jacobian = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
            row[:, first:first + 6] = -E @ jacobian[:3, first:first + 6]
            gap[3 * j + 2] = distance - RADIUS
        return J, gap

    def advance(self, q, v, force):
        """Moreau and Jean: forces at the middle, one impulse per contact."""
        pin, model, data, dt = self.pin, self.model, self.data, self.step
        q = pin.integrate(model, q, v * (dt / 2))
        tau = np.concatenate([pin.Quaternion(q[3:7]).toRotationMatrix().T @ force, np.zeros(3), self.hand.tau])
        free = v + dt * pin.aba(model, data, q, v, tau)
        inverse = pin.computeMinverse(model, data, q)
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        J, gap = self.rows()
        K = inverse @ J.T
        gap *= np.where(gap > 0, 1, 0.2) / dt
        delassus = pin.DelassusOperatorDense(J @ K)
        self.solver.solve(delassus, J @ free + gap, self.contacts, self.contact_data, self.settings, self.solution)
        self.microseconds += self.solver.getElapsedTime()
        impulse = self.solution.retrieveConstraintImpulses()
        v = free + K @ impulse
        return pin.integrate(model, q, v * (dt / 2)), v

    def run(self):
        self.microseconds = 0.0
        q, v = np.concatenate([CENTER, [0, 0, 0, 1], self.hand.q.ravel()]), np.zeros(self.model.nv)
        for force in self.forces:
            q, v = self.advance(q, v, force)
        self.end = q, v
        self.more = {"solver": self.microseconds / len(self.forces)}

    def result(self):
        q, v = self.end
        quaternion = np.array([q[6], *q[3:6]])
        return q[7:].reshape(3, 6), q[:3], quaternion, (rotation(quaternion) @ v[:3])[2]


ENGINES = {
    "mujoco": MuJoCo,
    "mujoco_stiff": lambda *given: MuJoCo(*given, stiff=True),
    "drake": lambda *given: Drake(*given, discrete_contact_approximation="lagged"),  # its default
    "drake_tamsi": lambda *given: Drake(*given, discrete_contact_approximation="tamsi"),
    "pinocchio": Pinocchio,
}


# --- clock ---

def median_us(work, steps, repetitions=5, seconds=0.1):
    """Of repetitions that last `seconds` each. Processor time, so that what others do on a shared machine does not count, as
    in Google Benchmark's rates."""
    start = time.process_time()
    work()
    runs = 1 + int(seconds / (time.process_time() - start))
    times = []
    for _ in range(repetitions):
        start = time.process_time()
        for _ in range(runs):
            work()
        times.append((time.process_time() - start) / (runs * steps))
    return 1e6 * statistics.median(times)


def entries(name, engine, hand):
    """All jobs at steps of 1 and 2 ms."""
    for job, (friction, duration, force) in JOBS.items():
        for step in (1e-3, 2e-3):
            peer, steps = engine(hand, friction, step), round(duration / step)
            peer.prepare(np.array([force((k + 0.5) * step) for k in range(steps)]))
            us = median_us(peer.run, steps)
            run = f"grasp_time/{job}_{1e3 * step:.0f}ms/{name}"
            yield {"run_name": run, "aggregate_name": "median", "us": us, "real_time": us, "time_unit": "us",
                   **judged(hand, job, peer.result()), **getattr(peer, "more", {})}


def main():
    hand, found = Hand(), []
    for name, engine in ENGINES.items():
        try:
            found += entries(name, engine, hand)
        except ImportError as missing:
            print(f"grasp_engines.py: {missing} (PyPI: mujoco, drake, pin)", file=sys.stderr)
    print(json.dumps({"benchmarks": found}, indent=1))


if __name__ == "__main__":
    main()
