"""A finger of Denavit-Hartenberg rows in NumPy: frames, Jacobians, inertia, gravity torque. Independent of garra."""

from __future__ import annotations

import math
import re

import numpy as np

_SCALES = {"mm": 1e-3, "m": 1.0, "deg": math.pi / 180, "g": 1e-3, "kg": 1.0, "N": 1.0}


def si(value):
    """A number or a text with a unit of a scenario, nested lists too."""
    if isinstance(value, list):
        return np.array([si(item) for item in value])
    if isinstance(value, str):
        number, unit = re.fullmatch(r"\s*(\S+)\s*(\S*)\s*", value).groups()
        return float(number) * _SCALES[unit or "m"]
    return float(value)


def rotation(roll, pitch, yaw):
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in (roll, pitch, yaw))
    rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return rz @ ry @ rx


class Finger:
    """`table`: one [[hand.finger]] with dh, mass, com, inertia, armature, base and, if joints slide, `slides`."""

    def __init__(self, table):
        self.rows = si(table["dh"])
        n = len(self.rows)
        self.slides = table.get("prismatic", [False] * n)
        self.mass = si(table["mass"])
        self.com = si(table["com"])
        self.inertia = si(table["inertia"])
        self.armature = si(table.get("armature", [0] * n))
        base = table.get("base", {})
        self.base = np.eye(4)
        self.base[:3, :3] = rotation(*si(base.get("rpy", [0, 0, 0])))
        self.base[:3, 3] = si(base.get("position", [0, 0, 0]))

    def frames(self, q):
        """Base, then one frame behind each joint: [n + 1, 4, 4]."""
        out = [self.base]
        for (a, d, alpha, offset), x, slides in zip(self.rows, q, self.slides, strict=True):
            theta, d = (offset, d + x) if slides else (offset + x, d)
            ct, st, ca, sa = math.cos(theta), math.sin(theta), math.cos(alpha), math.sin(alpha)
            step = [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]]
            out.append(out[-1] @ np.array(step))
        return np.array(out)

    def jacobian(self, q, point, link=None):
        """Rows (velocity of the point, angular velocity of its link): [6, n]."""
        frames = self.frames(q)
        out = np.zeros((6, len(q)))
        for i in range(len(q) if link is None else link + 1):
            z = frames[i][:3, 2]
            if self.slides[i]:
                out[:3, i] = z
            else:
                out[:3, i] = np.cross(z, point - frames[i][:3, 3])
                out[3:, i] = z
        return out

    def inertia_matrix(self, q):
        frames = self.frames(q)
        out = np.diag(self.armature)
        for i in range(len(q)):
            R = frames[i + 1][:3, :3]
            jac = self.jacobian(q, frames[i + 1][:3, 3] + R @ self.com[i], i)
            out = out + self.mass[i] * jac[:3].T @ jac[:3] + jac[3:].T @ R @ np.diag(self.inertia[i]) @ R.T @ jac[3:]
        return out

    def gravity_torque(self, q, gravity):
        """Torques that hold the links."""
        frames = self.frames(q)
        out = np.zeros(len(q))
        for i in range(len(q)):
            com = frames[i + 1][:3, 3] + frames[i + 1][:3, :3] @ self.com[i]
            out -= self.mass[i] * self.jacobian(q, com, i)[:3].T @ gravity
        return out


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def wrench_matrix(point, R_PC, about):
    """Forces (n, t, o) of a contact, whose frame has the columns (t, o, n), to (force; moment about a point): [6, 3]."""
    E = R_PC[:, [2, 0, 1]]
    return np.vstack([E, hat(point - about) @ E])
