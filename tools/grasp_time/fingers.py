"""Fingers of the reference trajectories: PUMA 560 (values of Corke and Armstrong-Helouvry, 1994) in standard
Denavit-Hartenberg form, with the rotors. SI units, palm axes; arrays over fingers have the finger first."""

from dataclasses import dataclass

import numpy as np

PUMA_DH = np.array([  # a [m], d [m], alpha [rad]
    (0, 0, np.pi / 2), (0.4318, 0, 0), (0.0203, 0.15005, -np.pi / 2), (0, 0.4318, np.pi / 2), (0, 0, -np.pi / 2),
    (0, 0, 0),
])
PUMA_MASS = np.array([0, 17.4, 4.8, 0.82, 0.34, 0.09])
PUMA_COM = np.array([
    (0, 0, 0), (-0.3638, 0.006, 0.2275), (-0.0203, -0.0141, 0.070), (0, 0.019, 0), (0, 0, 0), (0, 0, 0.032),
])
PUMA_INERTIA = np.array([
    (0, 0.35, 0), (0.13, 0.524, 0.539), (0.066, 0.086, 0.0125), (1.8e-3, 1.3e-3, 1.8e-3), (0.3e-3, 0.4e-3, 0.3e-3),
    (0.15e-3, 0.15e-3, 0.04e-3),
])
PUMA_GEAR = np.array([-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686])
PUMA_ROTOR = np.array([200e-6, 200e-6, 200e-6, 33e-6, 33e-6, 33e-6])


def cross(a, b):
    return np.stack([
        a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1],
        a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
        a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0],
    ], axis=-1)


def dot(a, b):
    return np.sum(a * b, axis=-1)


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def turn(v):
    """Rotation by the rotation vector v (Rodrigues)."""
    angle = np.linalg.norm(v)
    if angle < 1e-300:
        return np.eye(3)
    axis = skew(v / angle)
    return np.eye(3) + np.sin(angle) * axis + 2 * np.sin(angle / 2) ** 2 * axis @ axis


def rotation_vector(R):
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    sine = np.linalg.norm(axis)
    return axis if sine < 1e-300 else axis * (np.arctan2(sine, (np.trace(R) - 1) / 2) / sine)


@dataclass
class FingerTerms:
    """What the equations of motion of all fingers are made of, at one (q, qd)."""

    tip: np.ndarray        # [n,3] fingertip
    tip_axes: np.ndarray   # [n,3,3]
    jacobian: np.ndarray   # [n,3,6] of the fingertip's velocity
    spin: np.ndarray       # [n,3,6] of the last link's angular velocity
    mass: np.ndarray       # [n,6,6]
    coriolis: np.ndarray   # [n,6]
    weight: np.ndarray     # [n,6] torques that hold the links against gravity
    tip_bias: np.ndarray   # [n,3] acceleration of the fingertip without joint accelerations


@dataclass
class Fingers:
    base: np.ndarray  # [n,3], axes parallel to the palm's
    tool: float       # fingertip beyond the last joint [m]

    def terms(self, q, qd, gravity):
        """Newton-Euler outwards for the links' motion, then Kane's equations with the links' Jacobians."""
        n = len(q)
        R, p = np.broadcast_to(np.eye(3), (n, 3, 3)), np.array(self.base)
        omega, alpha, acc = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
        axes, origins = [], []
        mass = np.broadcast_to(np.diag(PUMA_GEAR**2 * PUMA_ROTOR), (n, 6, 6)).copy()
        coriolis, weight = np.zeros((n, 6)), np.zeros((n, 6))
        for i in range(6):
            z, p_last = R[:, :, 2], p
            axes.append(z)
            origins.append(p_last)
            a, d, twist = PUMA_DH[i]
            c, s, ct, st = np.cos(q[:, i]), np.sin(q[:, i]), np.cos(twist), np.sin(twist)
            zero, one = np.zeros(n), np.ones(n)
            step = np.stack([
                np.stack([c, -s * ct, s * st], -1), np.stack([s, c * ct, -c * st], -1),
                np.stack([zero, st * one, ct * one], -1)], axis=1)
            p = p + np.einsum("nij,nj->ni", R, np.stack([a * c, a * s, d * one], -1))
            R = R @ step
            alpha = alpha + cross(omega, z) * qd[:, i : i + 1]
            omega = omega + z * qd[:, i : i + 1]
            acc = acc + cross(alpha, p - p_last) + cross(omega, cross(omega, p - p_last))
            arm = R @ PUMA_COM[i]
            inertia = (R * PUMA_INERTIA[i]) @ np.swapaxes(R, 1, 2)
            force = PUMA_MASS[i] * (acc + cross(alpha, arm) + cross(omega, cross(omega, arm)))
            spin_momentum = np.einsum("nij,nj->ni", inertia, omega)
            moment = np.einsum("nij,nj->ni", inertia, alpha) + cross(omega, spin_momentum)
            Jv, Jw = self._link_jacobians(axes, origins, p + arm)
            mass += PUMA_MASS[i] * np.swapaxes(Jv, 1, 2) @ Jv + np.swapaxes(Jw, 1, 2) @ inertia @ Jw
            coriolis += np.einsum("nik,ni->nk", Jv, force) + np.einsum("nik,ni->nk", Jw, moment)
            weight -= np.einsum("nik,i->nk", Jv, PUMA_MASS[i] * gravity)
        reach = R[:, :, 2] * self.tool
        tip = p + reach
        Jv, Jw = self._link_jacobians(axes, origins, tip)
        bias = acc + cross(alpha, reach) + cross(omega, cross(omega, reach))
        return FingerTerms(tip, R, Jv, Jw, mass, coriolis, weight, bias)

    @staticmethod
    def _link_jacobians(axes, origins, point):
        Jv, Jw = np.zeros((len(point), 3, 6)), np.zeros((len(point), 3, 6))
        for k, (z, o) in enumerate(zip(axes, origins)):
            Jv[:, :, k] = cross(z, point - o)
            Jw[:, :, k] = z
        return Jv, Jw
