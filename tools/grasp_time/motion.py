"""A grasp in time, for the reference trajectories: loads, drive, and the two steps (docs/theory/grasp-time.md)."""

from dataclasses import dataclass, field

import numpy as np

from .contacts import solve_contacts
from .fingers import Fingers, FingerTerms, cross, dot, rotation_vector, skew, turn

FAR = 1e-4         # gap beyond what two steps can close, and this [m]: the contact is left out
TOUCH = 1e-6       # a contact that may bounce has met when its gap is at most this [m]
SLIP_SPEED = 1e-6  # above it a contact slides, in the explicit step [m/s]


@dataclass
class Load:
    """As garra's `[[simulation.load]]`: ramp, impulse or tilt."""

    kind: str
    start: float
    end: float
    force: tuple = (0, 0, 0)   # [N], of an impulse [N s]
    torque: tuple = (0, 0, 0)  # about the center of mass [N m], of an impulse [N m s]
    axis: tuple = (0, 0, 1)
    angle: float = 0.0         # [rad]

    def wrench(self, t0, t1):
        """Mean from t0 to t1."""
        span = self.end - self.start
        a, b = np.clip((np.array([t0, t1]) - self.start) / span, 0, 1)
        mean = 0.0
        if self.kind == "ramp":
            mean = ((b * b - a * a) / 2 * span + max(0, t1 - max(t0, self.end))) / (t1 - t0)
        if self.kind == "impulse":
            mean = (np.cos(np.pi * a) - np.cos(np.pi * b)) / (2 * (t1 - t0))
        return mean * np.concatenate([np.array(self.force, float), np.array(self.torque, float)])

    def rotation(self, t):
        if self.kind != "tilt":
            return np.eye(3)
        share = np.clip((t - self.start) / (self.end - self.start), 0, 1)
        return turn(share * self.angle * np.array(self.axis) / np.linalg.norm(self.axis))


@dataclass
class Grasp:
    fingers: Fingers
    q0: np.ndarray          # [n,6]
    mass: float
    gyration2: np.ndarray   # [3]
    position: np.ndarray    # of the center of mass [m]
    surface: str            # "sphere", "cylinder" (axis z), or "plane" for each contact's own
    frames: np.ndarray      # [n,3,3] columns n, t, o in object axes: inward normal first
    points: np.ndarray      # [n,3] contact points in object axes
    friction: float
    loads: list = field(default_factory=list)
    gravity: np.ndarray = field(default_factory=lambda: np.array([0, 0, -9.81]))
    grip_force: float = 15.0
    drive: str = "constant"            # controller, constant, sampled
    controller: dict = field(default_factory=dict)
    sample_times: np.ndarray = None
    sample_torques: np.ndarray = None  # [time,n,6]
    restitution: float = 0.0
    baumgarte: float = 0.2

    def __post_init__(self):
        self.n = len(self.q0)
        self.friction = np.full(self.n, self.friction)
        self.push = self.frames[:, :, 0]
        self.W0 = self.wrench_matrix(self.points, self.frames)
        self.balance_map = self.W0.T @ np.linalg.pinv(self.W0 @ self.W0.T, rcond=1e-10, hermitian=True)
        start = self.fingers.terms(self.q0, np.zeros_like(self.q0), self.gravity)
        self.tau0 = start.weight + np.einsum("nik,ni->nk", start.jacobian, self.command(self.weight(self.gravity)))

    @staticmethod
    def wrench_matrix(arms, frames):
        return np.hstack([np.vstack([E, skew(r) @ E]) for r, E in zip(arms, frames)])

    def weight(self, gravity):
        return np.concatenate([self.mass * gravity, np.zeros(3)])

    def command(self, wrench):
        """Commanded forces: the squeeze, and the smallest change of it that balances `wrench` (grasp-model.md (15))."""
        c0 = np.zeros(3 * self.n)
        c0[0::3] = self.grip_force
        c = c0 - self.balance_map @ (self.W0 @ c0 + wrench)
        return np.einsum("nij,nj->ni", self.frames, c.reshape(self.n, 3))

    def gravity_at(self, t):
        g = self.gravity
        for load in self.loads:
            g = load.rotation(t) @ g
        return g

    def wrench(self, t0, t1):
        return sum((load.wrench(t0, t1) for load in self.loads), np.zeros(6))


@dataclass
class State:
    """Object (position, R, v, omega) and fingers (q, qd), and what the last step did."""

    t: float
    x: np.ndarray
    R: np.ndarray
    v: np.ndarray
    omega: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    p: np.ndarray = None   # impulses of the last step [3n], (n, t, o) of each contact
    frames: np.ndarray = None  # of the contacts in the last step [n,3,3]
    gap: np.ndarray = None     # there
    slid: np.ndarray = None    # path of each contact on the object so far


def contact_geometry(g, x, R, tip):
    """Gaps and frames of the contacts where the fingertips are."""
    if g.surface in ("sphere", "cylinder"):
        out, radius = tip - x, np.linalg.norm(g.points, axis=1)
        if g.surface == "cylinder":
            axis = R[:, 2]
            out = out - np.outer(out @ axis, axis)
            radius = np.linalg.norm(g.points[:, :2], axis=1)
        distance = np.linalg.norm(out, axis=1)
        n = -out / distance[:, None]
        gap = distance - radius
        t = g.frames[:, :, 1] @ R.T
        t = t - dot(t, n)[:, None] * n
        t /= np.linalg.norm(t, axis=1)[:, None]
        return gap, np.stack([n, t, cross(n, t)], axis=2)
    E = R @ g.frames
    return dot(E[:, :, 0], x + g.points @ R.T - tip), E


def finger_torques(g, t, gravity, f, s, x, R):
    """Torques at time t but for the joint springs and dampers, which are implicit; (x, R): the object's pose."""
    if g.drive == "constant":
        return g.tau0
    if g.drive == "sampled":
        flat = g.sample_torques.reshape(len(g.sample_times), -1)
        return np.array([np.interp(t, g.sample_times, row) for row in flat.T]).reshape(g.q0.shape)
    k = g.controller
    half = rotation_vector(R) / 2
    turned = 2 * np.sinc(np.linalg.norm(half) / np.pi) * half  # twice the vector part of the quaternion
    impedance = np.concatenate([
        -k.get("stiffness", 0) * (x - g.position) - k.get("damping", 0) * s.v,
        -k.get("turn_stiffness", 0) * turned - k.get("turn_damping", 0) * s.omega,
    ])
    force = g.command(g.weight(gravity) - impedance)
    return f.weight + f.coriolis + np.einsum("nik,ni->nk", f.jacobian, force)


@dataclass
class Contacts:
    """The fingertips at the object, at one configuration."""

    gap: np.ndarray
    E: np.ndarray    # [n,3,3]
    arm: np.ndarray  # [n,3] from the center of mass
    fingers: FingerTerms
    W: np.ndarray    # [6,3n]
    J: np.ndarray    # [n,3,6] contact axes

    @staticmethod
    def at(g, x, R, fingers):
        gap, E = contact_geometry(g, x, R, fingers.tip)
        arm = fingers.tip - x
        return Contacts(gap, E, arm, fingers, g.wrench_matrix(arm, E), np.einsum("nji,njk->nik", E, fingers.jacobian))

    def relative(self, v, omega, qd):
        """Velocity of the object's point minus the fingertip's, contact axes."""
        velocity = v + cross(np.broadcast_to(omega, self.arm.shape), self.arm)
        return np.einsum("nji,nj->ni", self.E, velocity) - np.einsum("nik,nk->ni", self.J, qd)

    def delassus(self, M_inv, finger_inverses):
        A = self.W.T @ M_inv @ self.W
        for j, J in enumerate(self.J):
            A[3 * j : 3 * j + 3, 3 * j : 3 * j + 3] += J @ finger_inverses[j] @ J.T
        return A


def inverse_mass(g, R):
    """Of the object, 6 x 6; and its inertia."""
    M_inv = np.zeros((6, 6))
    M_inv[:3, :3], M_inv[3:, 3:] = np.eye(3) / g.mass, (R / g.gyration2) @ R.T / g.mass
    return M_inv, g.mass * (R * g.gyration2) @ R.T


def object_load(g, t0, t1, omega, inertia):
    """Everything but contact forces, mean from t0 to t1."""
    load = g.wrench(t0, t1) + g.weight(g.gravity_at((t0 + t1) / 2))
    load[3:] -= np.cross(omega, inertia @ omega)
    return load


def around(g, R, across):
    """k v^2 of contacts that slide at `across`: what bends a straight way off the surface."""
    if g.surface not in ("sphere", "cylinder"):
        return np.zeros(len(across))
    radius = np.linalg.norm(g.points, axis=1)
    if g.surface == "cylinder":
        axis = R[:, 2]
        across = across - np.outer(across @ axis, axis)
        radius = np.linalg.norm(g.points[:, :2], axis=1)
    return dot(across, across) / radius


def gap_bends(g, R, c, s, before):
    """The gap's second derivative while all velocities stay (of the fingers: those of their tips)."""
    n = c.E[:, :, 0]
    across = np.einsum("nji,ni->nj", c.E[:, :, 1:], before[:, 1:])
    tips = np.einsum("nij,njk,nk->ni", c.E, c.J, s.qd)
    return dot(cross(s.omega, tips - s.v), n) + dot(cross(s.omega, n), across) + around(g, R, across)


def moreau_step(g, s, dt):
    """Moreau and Jean's midpoint step: velocities and impulses, one cone law for stick, slip, opening and impact."""
    t_mid = s.t + dt / 2
    q, x, R = s.q + dt / 2 * s.qd, s.x + dt / 2 * s.v, turn(dt / 2 * s.omega) @ s.R
    gravity = g.gravity_at(t_mid)
    f = g.fingers.terms(q, s.qd, gravity)
    M_inv, inertia = inverse_mass(g, R)
    change = dt * M_inv @ object_load(g, s.t, s.t + dt, s.omega, inertia)
    v_free, omega_free = s.v + change[:3], s.omega + change[3:]

    K, D = g.controller.get("joint_stiffness", 0), g.controller.get("joint_damping", 0)
    tau = finger_torques(g, t_mid, gravity, f, s, x, R)
    effective = np.linalg.inv(f.mass + (dt * D + dt * dt * K) * np.eye(6))
    momentum = np.einsum("nij,nj->ni", f.mass, s.qd) + dt * (tau - f.weight - f.coriolis - K * (s.q - g.q0))
    qd_free = np.einsum("nij,nj->ni", effective, momentum)

    c = Contacts.at(g, x, R, f)
    before, b = c.relative(s.v, s.omega, s.qd), c.relative(v_free, omega_free, qd_free)
    near = c.gap <= 2 * dt * np.abs(b[:, 0]) + FAR
    if g.restitution > 0:
        near &= c.gap <= TOUCH
    bounce = g.restitution * np.minimum(before[:, 0], 0)
    # Of a penetration only the larger one of correction and bounce, not the sum: impacts are seen a little too late.
    b[:, 0] += np.where(c.gap > 0, c.gap / dt + bounce, np.minimum(g.baumgarte * c.gap / dt, bounce))
    b[:, 0] += dt / 2 * gap_bends(g, R, c, s, before)
    p = solve_near(g, c.delassus(M_inv, effective), b, near, s.p)

    change = M_inv @ c.W @ p
    v, omega = v_free + change[:3], omega_free + change[3:]
    qd = qd_free - np.einsum("nij,nkj,nk->ni", effective, c.J, p.reshape(g.n, 3))
    end = State(s.t + dt, x + dt / 2 * v, turn(dt / 2 * omega) @ R, v, omega, q + dt / 2 * qd, qd, p, c.E, c.gap)
    return count_slip(s, end, before, c.relative(v, omega, qd), dt)


def explicit_step(g, s, dt):
    """The papers' Algorithm 1: accelerations at the step's start, each contact that slides there keeps its direction.
    Baumgarte's accelerations hold gaps, and rolling contacts at rest. Constant and sampled torques only."""
    f = g.fingers.terms(s.q, s.qd, g.gravity_at(s.t + dt / 2))
    M_inv, inertia = inverse_mass(g, s.R)
    free = M_inv @ object_load(g, s.t, s.t + dt, s.omega, inertia)
    tau = finger_torques(g, s.t + dt / 2, None, f, s, s.x, s.R)
    inverses = np.linalg.inv(f.mass)
    qdd_free = np.einsum("nij,nj->ni", inverses, tau - f.weight - f.coriolis)

    c = Contacts.at(g, s.x, s.R, f)
    before = c.relative(s.v, s.omega, s.qd)
    tip_velocity = np.einsum("nik,nk->ni", f.jacobian, s.qd)
    bias = cross(np.broadcast_to(s.omega, c.arm.shape), tip_velocity - s.v) - f.tip_bias
    b = c.relative(free[:3], free[3:], qdd_free) + np.einsum("nji,nj->ni", c.E, bias)
    if g.surface == "sphere":
        sliding = np.einsum("nij,nj->ni", c.E[:, :, 1:], before[:, 1:])
        b[:, 0] += dot(s.v - tip_velocity, sliding) / np.linalg.norm(g.points, axis=1)
    rate = g.baumgarte / dt
    b[:, 0] += 2 * rate * before[:, 0] + rate**2 * c.gap
    speed = np.linalg.norm(before[:, 1:], axis=1)
    slides = np.where(speed[:, None] > SLIP_SPEED, before[:, 1:] / np.maximum(speed, SLIP_SPEED)[:, None], 0)
    b[:, 1:] += rate * before[:, 1:]
    near = c.gap <= 2 * dt * np.abs(before[:, 0]) + FAR
    force = solve_near(g, c.delassus(M_inv, inverses), b, near, None if s.p is None else s.p / dt, slides)

    change = dt * (free + M_inv @ c.W @ force)
    v, omega = s.v + change[:3], s.omega + change[3:]
    qd = s.qd + dt * (qdd_free - np.einsum("nij,nkj,nk->ni", inverses, c.J, force.reshape(g.n, 3)))
    R = turn(dt / 2 * omega) @ turn(dt / 2 * s.omega) @ s.R
    end = State(s.t + dt, s.x + dt / 2 * (s.v + v), R, v, omega, s.q + dt / 2 * (s.qd + qd), qd, dt * force, c.E, c.gap)
    return count_slip(s, end, before, c.relative(v, omega, qd), dt)


def solve_near(g, A, b, near, guess, slides=None):
    """Impulses (or forces) of the contacts that are near; zero for the others."""
    use = np.repeat(near, 3)
    p = np.zeros(3 * g.n)
    guess = np.zeros(3 * g.n) if guess is None else guess
    p[use] = solve_contacts(A[np.ix_(use, use)], b.ravel()[use], g.friction[near], guess[use],
                            None if slides is None else slides[near])
    return p


def count_slip(start, end, before, after, dt):
    """The way of the mean velocity along the object; what was before a contact touched does not count."""
    touched = np.ones(len(after)) if start.p is None else start.p[0::3] > 0
    mean = (touched[:, None] * before + after) / 2
    slid = np.zeros(len(after)) if start.slid is None else start.slid
    end.slid = slid + dt * np.linalg.norm(mean[:, 1:], axis=1) * (end.p[0::3] > 0)
    return end


def start_of(g):
    return State(0.0, g.position.copy(), np.eye(3), np.zeros(3), np.zeros(3), g.q0.copy(), np.zeros_like(g.q0))


def run(g, dt, until, step=moreau_step):
    states = [start_of(g)]
    for k in range(round(until / dt)):
        states.append(step(g, states[-1], dt))
        states[-1].t = (k + 1) * dt
    return states
