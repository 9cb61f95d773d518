#!/usr/bin/env python3
"""Writes data/reference/singularity/nearest_arms.json: nearest singular configurations of published and random arms.

For each arm the axes at zero, configurations near a singularity, and the least joint motion to det J = 0: the best of
many descents from random starts, each with a relaxed step along the singular set. Needs numpy; shares nothing with
garra. A few minutes.
"""

import json
from pathlib import Path

import numpy as np

RIGHT = np.pi / 2
NEAR, STARTS, STEPS, ROWS, RANDOM_ARMS = 0.02, 60, 40, 40, 10
NONE = 9.0  # distance where no descent has arrived

# Rows of a, d, alpha and offset; the name says where an arm of seven joints is locked: (joint, angle).
DH = {
    "UR5e": [(0, 0.1625, RIGHT), (-0.425, 0, 0), (-0.3922, 0, 0), (0, 0.1333, RIGHT), (0, 0.0997, -RIGHT), (0, 0.0996, 0)],
    "UR10e": [(0, 0.1807, RIGHT), (-0.6127, 0, 0), (-0.57155, 0, 0), (0, 0.17415, RIGHT), (0, 0.11985, -RIGHT), (0, 0.11655, 0)],
    "PUMA 560": [(0, 0, RIGHT), (0.4318, 0, 0), (0.0203, 0.15005, -RIGHT), (0, 0.4318, RIGHT), (0, 0, -RIGHT), (0, 0, 0)],
    "Stanford": [(0, 0.412, -RIGHT), (0, 0.154, RIGHT), (0, 0, 0), (0, 0, -RIGHT), (0, 0, RIGHT), (0, 0.263, 0)],
    "Kinova Gen3 6": [(0, 0.2433, RIGHT), (0.28, 0.03, np.pi, RIGHT), (0, 0.02, RIGHT, RIGHT), (0, 0.245, RIGHT, RIGHT), (0, 0.057, RIGHT, np.pi), (0, 0.235, 0, RIGHT)],
    "iiwa 7, joint 3 at 0.5": [(0, 0.34, -RIGHT), (0, 0, RIGHT), (0, 0.4, RIGHT), (0, 0, -RIGHT), (0, 0.4, -RIGHT), (0, 0, RIGHT), (0, 0.126, 0)],
    "iiwa 14, joint 1 at 0.4": [(0, 0.36, -RIGHT), (0, 0, RIGHT), (0, 0.42, RIGHT), (0, 0, -RIGHT), (0, 0.4, -RIGHT), (0, 0, RIGHT), (0, 0.126, 0)],
    "iiwa 14, joint 3 at 0.4": [(0, 0.36, -RIGHT), (0, 0, RIGHT), (0, 0.42, RIGHT), (0, 0, -RIGHT), (0, 0.4, -RIGHT), (0, 0, RIGHT), (0, 0.126, 0)],
}  # fmt: skip
MODIFIED_DH = {
    "Panda, joint 3 at 0.3": [(0, 0.333, 0), (0, 0, -RIGHT), (0, 0.316, RIGHT), (0.0825, 0, RIGHT), (-0.0825, 0.384, -RIGHT), (0, 0, RIGHT), (0.088, 0.107, RIGHT)],
    "xArm 6": [(0, 0.267, 0), (0, 0, -RIGHT, -1.3849179), (0.28948866, 0, 0, 1.3849179), (0.0775, 0.3425, -RIGHT), (0, 0, RIGHT), (0.076, 0.097, -RIGHT)],
}  # fmt: skip
LOCKED = {
    "iiwa 7, joint 3 at 0.5": (2, 0.5),
    "iiwa 14, joint 1 at 0.4": (0, 0.4),
    "iiwa 14, joint 3 at 0.4": (2, 0.4),
    "Panda, joint 3 at 0.3": (2, 0.3),
}
SLIDES = {"Stanford": 2}


def turn(axis: int, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    a, b = (axis + 1) % 3, (axis + 2) % 3
    out = np.eye(3)
    out[a, a], out[a, b], out[b, a], out[b, b] = c, -s, s, c
    return out


class Arm:
    """Directions and points of the axes at zero; which joint slides, or -1."""

    def __init__(self, rows, modified=False, locked=(-1, 0.0), slide=-1):
        R, p, direction, point = np.eye(3), np.zeros(3), [], []
        for i, row in enumerate(rows):
            a, d, alpha, angle = (*row, 0.0)[:4]
            if modified:
                p, R = p + a * R[:, 0], R @ turn(0, alpha)
            if i != locked[0]:
                direction.append(R[:, 2])
                point.append(p)
            R = R @ turn(2, angle + (locked[1] if i == locked[0] else 0))
            p = p + d * R[:, 2]
            if not modified:
                p, R = p + a * R[:, 0], R @ turn(0, alpha)
        self.direction, self.point, self.slide = np.array(direction), np.array(point), slide
        self.turns = [i for i in range(6) if i != slide]

    def axes(self, q):
        """Of n configurations: directions and points [n,6,3]."""
        R, t = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
        z, p = np.empty((len(q), 6, 3)), np.empty((len(q), 6, 3))
        for i in range(6):
            z[:, i], p[:, i] = R @ self.direction[i], R @ self.point[i] + t
            if i == self.slide:
                t = t + q[:, i, None] * z[:, i]
                continue
            x, y, w = self.direction[i]
            K = np.array([[0, -w, y], [w, 0, -x], [-y, x, 0]])
            E = np.eye(3) + np.sin(q[:, i])[:, None, None] * K + (1 - np.cos(q[:, i]))[:, None, None] * (K @ K)
            t, R = t + R @ self.point[i] - (R @ E) @ self.point[i], R @ E
        return z, p

    def scaling(self, z, p):
        """The point nearest to all axes, and their distance from it (docs/theory/singularity.md, Scaling)."""
        z, p = z[:, self.turns], p[:, self.turns]
        across = np.eye(3) - z[..., :, None] * z[..., None, :]
        center = np.linalg.solve(across.sum(axis=1), np.einsum("njab,njb->na", across, p)[..., None])[..., 0]
        off = np.einsum("njab,njb->nja", across, p - center[:, None])
        return center, np.sqrt((off**2).sum(axis=(1, 2)) / len(self.turns))

    def screws(self, q, length):
        z, p = self.axes(q)
        center, own = self.scaling(z, p)
        v = np.cross(p - center[:, None], z) / (own if length is None else length)[:, None, None]
        w = z.copy()
        if self.slide >= 0:
            w[:, self.slide], v[:, self.slide] = 0, z[:, self.slide]
        return w, v, own

    def determinant(self, q, length):
        """det J, its slopes, and the singular values."""
        w, v, _ = self.screws(q, length)
        U, s, V = np.linalg.svd(np.concatenate([w, v], axis=2))
        sign = np.linalg.det(U) * np.linalg.det(V)
        others = np.stack([np.delete(s, k, axis=1).prod(axis=1) for k in range(6)], axis=1)
        adjugate = sign[:, None, None] * np.einsum("nki,nk,njk->nij", V, others, U)
        slope = np.zeros_like(q)
        for j in range(5):
            a, b = w[:, j, None], v[:, j, None]
            rate = np.concatenate([np.cross(a, w[:, j + 1 :]), np.cross(b, w[:, j + 1 :]) + np.cross(a, v[:, j + 1 :])], 2)
            slope[:, j] = np.einsum("nik,nki->n", adjugate[:, :, j + 1 :], rate)
        return sign * s.prod(axis=1), slope, s


def descend(arm, q, unit, length, x, steps):
    """From q + x to singular configurations near q: their distances, infinite where there is none, and x there."""
    n = len(x)
    part, last, best, best_x, going = np.ones(n), np.zeros_like(x), np.full(n, np.inf), x.copy(), np.arange(n)
    for step in range(steps):
        q, unit, length, x, part, last, going = (a[going >= 0] for a in (q, unit, length, x, part, last, going))
        if len(going) == 0:
            break
        f, g, s = arm.determinant(q + unit * x, length)
        g = g * unit
        squares = (g * g).sum(axis=1) + 1e-300
        newton = -(f / squares)[:, None] * g
        along = ((g * x).sum(axis=1) / squares)[:, None] * g - x
        short, far = np.linalg.norm(newton, axis=1), np.linalg.norm(x, axis=1)
        there = (s[:, 5] < 1e-7 * s[:, 0]) & (short < 1e-8)
        nearer = there & (far < best[going])
        best[going[nearer]], best_x[going[nearer]] = far[nearer], x[nearer]
        change = along - last
        size = (change * change).sum(axis=1)
        known = (step > 0) & (size > 1e-24)
        part = np.where(known, np.clip(-part * (last * change).sum(axis=1) / np.maximum(size, 1e-300), 0.05, 1.5), part)
        last = along
        move = newton + (0 if step >= steps - 6 else 1) * part[:, None] * along
        x = x + move * np.minimum(1, 0.4 / np.maximum(np.linalg.norm(move, axis=1), 1e-12))[:, None]
        going = np.where((there & (np.linalg.norm(along, axis=1) < 1e-7)) | (far > 3), -1, going)
    return best, best_x


def nearest(arm, q, rng):
    _, _, length = arm.screws(q, None)
    unit = np.ones((len(q), 6))
    if arm.slide >= 0:
        unit[:, arm.slide] = length
    row = np.repeat(np.arange(len(q)), STARTS)
    reach = np.full(len(q), 0.3)
    best, best_x = np.full(len(q), np.inf), np.zeros((len(q), 6))
    for spread in (1.0, 1.2):  # the second time about what the first has found
        x = rng.normal(size=(len(row), 6)) * [0, 1, 1, 1, 1, 0]
        x *= (reach[row] * rng.uniform(0, spread, len(row)) / np.linalg.norm(x, axis=1))[:, None]
        found, at = descend(arm, q[row], unit[row], length[row], x, STEPS)
        for k in np.flatnonzero(np.isfinite(found)):
            if found[k] < best[row[k]]:
                best[row[k]], best_x[row[k]] = found[k], at[k]
        reach = np.minimum(best, 1.2)
    return best


def near_rows(arm, rng):
    rows = np.empty((0, 6))
    while len(rows) < ROWS:
        q = np.round(rng.uniform(-np.pi, np.pi, (4000, 6)), 6)
        if arm.slide >= 0:
            q[:, arm.slide] = np.round(rng.uniform(0.1, 0.6, len(q)), 6)
        w, v, _ = arm.screws(q, None)
        s = np.linalg.svd(np.concatenate([w, v], axis=2), compute_uv=False)
        rows = np.concatenate([rows, q[s[:, 5] <= NEAR * s[:, 0]]])
    return rows[:ROWS]


def main() -> None:
    rng = np.random.default_rng(54)
    arms = {name: Arm(rows, False, LOCKED.get(name, (-1, 0.0)), SLIDES.get(name, -1)) for name, rows in DH.items()}
    arms |= {name: Arm(rows, True, LOCKED.get(name, (-1, 0.0))) for name, rows in MODIFIED_DH.items()}
    for k in range(RANDOM_ARMS):
        rows = [(rng.uniform(0, 0.5), rng.uniform(0, 0.5), rng.uniform(-np.pi, np.pi)) for _ in range(6)]
        arms[f"random {k}"] = Arm(rows)
    out = []
    for name, arm in arms.items():
        q = near_rows(arm, rng)
        distance = np.minimum(nearest(arm, q, rng), NONE)
        joints = [[*z, *p, float(i == arm.slide)] for i, (z, p) in enumerate(zip(arm.direction, arm.point, strict=True))]
        out.append({"name": name, "joints": joints, "q": q.tolist(), "distance": distance.tolist()})
        print(name, flush=True)
    path = Path(__file__).parents[1] / "data/reference/singularity/nearest_arms.json"
    path.write_text(json.dumps({"near": NEAR, "arms": out}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
