#!/usr/bin/env python3
"""Computes data/reference/grasp/torques.json: a hand at rest whose joint torques are given, computed without garra.

The two fingers of data/scenarios/two_finger_cylinder.toml at a cylinder of 0.2 kg, everything at its nominal value.
Standard Denavit-Hartenberg frames, link Jacobians from cross products, M = sum of J^T I J, gravity torques from the
centers of mass; joint values by Newton's method on the fingertip, with the finger in its plane.
docs/theory/grasp-model.md (9)-(12) by dense inversion.
"""

import json
from pathlib import Path

import numpy as np

TARGET = Path(__file__).resolve().parents[1] / "data/reference/grasp/torques.json"
GRAVITY = np.array([0.0, 0.0, -9.81])
LENGTHS = [0.0, 0.05, 0.04, 0.03]
ALPHA = [np.pi / 2, 0.0, 0.0, 0.0]
MASS = [0.03, 0.05, 0.04, 0.03]
COM = [[0, 0, 0], [-0.025, 0, 0], [-0.02, 0, 0], [-0.015, 0, 0]]
INERTIA = [[3e-6] * 3, [2e-6, 1.1e-5, 1.1e-5], [1.5e-6, 6e-6, 6e-6], [1e-6, 2.5e-6, 2.5e-6]]
ARMATURE = np.diag([2e-5, 2e-5, 1e-5, 1e-5])
START = np.deg2rad([0.0, 110.0, -40.0, -50.0])
BASES = [np.diag([-1.0, -1.0, 1.0]), np.eye(3)], [np.array([0.05, 0, 0]), np.array([-0.05, 0, 0])]
OBJECT, RADIUS, HEIGHT, OBJECT_MASS = np.array([0.0, 0.0, 0.095]), 0.025, 0.1, 0.2
TAU = [[0.011, -0.21, -0.17, -0.083], [-0.004, -0.19, -0.18, -0.091]]


def frames(q, rotation, origin):
    """Rotation and origin of the base and of each link's frame."""
    out = [(rotation, origin)]
    for a, alpha, theta in zip(LENGTHS, ALPHA, q):
        c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        local = np.array([[c, -s * ca, s * sa], [s, c * ca, -c * sa], [0, sa, ca]])
        r, p = out[-1]
        out.append((r @ local, p + r @ np.array([a * c, a * s, 0])))
    return out


def point_jacobian(at, point, joints):
    """Linear and angular velocity of a point of link number `joints`."""
    linear, angular = np.zeros((3, 4)), np.zeros((3, 4))
    for i in range(joints):
        axis = at[i][0][:, 2]
        linear[:, i], angular[:, i] = np.cross(axis, point - at[i][1]), axis
    return linear, angular


def dynamics(q, base):
    at = frames(q, *base)
    mass, gravity = ARMATURE.copy(), np.zeros(4)
    for i in range(4):
        rotation, origin = at[i + 1]
        linear, angular = point_jacobian(at, origin + rotation @ np.array(COM[i]), i + 1)
        inertia = rotation @ np.diag(INERTIA[i]) @ rotation.T
        mass += MASS[i] * linear.T @ linear + angular.T @ inertia @ angular
        gravity -= MASS[i] * linear.T @ GRAVITY
    return mass, gravity, point_jacobian(at, at[4][1], 4)[0], at[4][1]


def reach(target, base):
    """Damped least squares would do anything; the smallest step from START is what the numeric solver takes, too."""
    q = START.copy()
    for _ in range(200):
        _, _, jacobian, tip = dynamics(q, base)
        q = q + np.linalg.pinv(jacobian, rcond=1e-9) @ (target - tip)
    assert np.linalg.norm(target - dynamics(q, base)[3]) < 1e-13
    return q


def main():
    wrench, a_fingers, drift, qs, at_rest = np.zeros((6, 6)), np.zeros((6, 6)), np.zeros(6), [], []
    for j, (azimuth, tau) in enumerate(zip((0.0, np.pi), TAU)):
        base = (BASES[0][j], BASES[1][j])
        outward = np.array([np.cos(azimuth), np.sin(azimuth), 0])
        normal, along, around = -outward, np.array([0, 0, 1.0]), np.array([-np.sin(azimuth), np.cos(azimuth), 0])
        contact = np.stack([normal, along, around], axis=1)
        q = reach(OBJECT + RADIUS * outward, base)
        mass, gravity, jacobian, _ = dynamics(q, base)
        jc, at = contact.T @ jacobian, slice(3 * j, 3 * j + 3)
        a_fingers[at, at] = jc @ np.linalg.inv(mass) @ jc.T
        drift[at] = jc @ np.linalg.inv(mass) @ (gravity - np.array(tau))
        wrench[:3, at] = contact
        wrench[3:, at] = np.stack([np.cross(RADIUS * outward, column) for column in contact.T], axis=1)
        qs.append(q.tolist())
        at_rest.append(gravity.tolist())
    side = OBJECT_MASS * (RADIUS**2 / 4 + HEIGHT**2 / 12)
    inverse = np.diag(1 / np.array([OBJECT_MASS] * 3 + [side, side, OBJECT_MASS * RADIUS**2 / 2]))
    weight = np.concatenate([OBJECT_MASS * GRAVITY, np.zeros(3)])
    a = wrench.T @ inverse @ wrench + a_fingers
    b = wrench.T @ inverse @ weight + drift
    answer = {"tau": TAU, "q": qs, "gravity_torque": at_rest, "A": a.tolist(), "b": b.tolist()}
    TARGET.write_text(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
