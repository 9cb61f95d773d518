#!/usr/bin/env python3
"""Writes data/reference/singularity/nearest.json: singular configurations nearest to given ones, of an irregular arm.

Sequential quadratic programming on det J = 0 from many starts. Needs numpy and scipy; shares nothing with garra.
"""

import json
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

DH = [(0.11, 0.30, 1.2), (0.42, 0.07, 0.4), (0.09, 0.13, -1.4), (0.16, 0.38, 1.1), (0.05, 0.09, -1.7), (0.03, 0.12, 0.0)]
NEAR, CASES, STARTS = 0.02, 60, 24
VOLUME = 50  # brings det J to the order of the angles


def axes(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions and points of the joints' axes; complex q for derivatives by a complex step."""
    rotation, point = np.eye(3, dtype=q.dtype), np.zeros(3, dtype=q.dtype)
    directions, points = [], []
    for (a, d, alpha), angle in zip(DH, q, strict=True):
        directions.append(rotation[:, 2])
        points.append(point)
        c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(alpha), np.sin(alpha)
        point = point + rotation @ np.array([a * c, a * s, d])
        rotation = rotation @ np.array([[c, -s * ca, s * sa], [s, c * ca, -c * sa], [0, sa, ca]])
    return np.array(directions), np.array(points)


def volume(q: np.ndarray):
    z, p = axes(q)
    return VOLUME * np.linalg.det(np.concatenate([z, np.cross(p, z)], axis=1))


def gradient(q: np.ndarray) -> np.ndarray:
    steps = q + 1e-30j * np.eye(6)
    return np.array([volume(step).imag for step in steps]) / 1e-30


def singular_values(q: np.ndarray) -> np.ndarray:
    """About the point nearest to all axes, in units of their distance from it (docs/theory/singularity.md, Scaling)."""
    z, p = axes(q)
    p = p - p.mean(axis=0)
    across = np.eye(3) - z[:, :, None] * z[:, None, :]
    center = np.linalg.solve(across.sum(axis=0), np.einsum("jab,jb->a", across, p))
    off = np.einsum("jab,jb->ja", across, p - center)
    length = np.sqrt((off**2).sum() / 6)
    return np.linalg.svd(np.concatenate([z, np.cross(p - center, z) / length], axis=1), compute_uv=False)


def nearest(q: np.ndarray, rng: np.random.Generator) -> tuple[float, np.ndarray]:
    best, best_q = np.inf, q
    for start in range(STARTS):
        spread = 0 if start == 0 else (0.03, 0.1, 0.25)[start % 3]
        found = minimize(
            lambda x: 100 * ((x - q) ** 2).sum(), q + spread * rng.normal(size=6), jac=lambda x: 200 * (x - q),
            constraints={"type": "eq", "fun": volume, "jac": gradient}, method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 200},
        ).x  # fmt: skip
        sigma, distance = singular_values(found), float(np.linalg.norm(found - q))
        if sigma[5] < 1e-7 * sigma[0] and distance < best:
            best, best_q = distance, found
    return best, best_q


def main() -> None:
    rng = np.random.default_rng(16)
    cases = []
    while len(cases) < CASES:
        q = rng.uniform(-np.pi, np.pi, 6)
        sigma = singular_values(q)
        if sigma[5] > NEAR * sigma[0]:
            continue
        distance, singular_q = nearest(q, rng)
        cases.append({"q": q.tolist(), "distance": distance, "singular_q": singular_q.tolist()})
    path = Path(__file__).parents[1] / "data/reference/singularity/nearest.json"
    path.write_text(json.dumps({"dh": DH, "near": NEAR, "cases": cases}, indent=0) + "\n")


if __name__ == "__main__":
    main()
