"""Antipodal grasps of a parallel jaw, sampled as data sets sample them, and how many of them hold with less friction.

usage: python examples/antipodal_grasps.py [SET.h5]

An ellipsoid of 0.3 kg lies about in the world in any orientation. A grasp is a point of its surface, a direction in the
friction cone there, and the point where that direction leaves the object: kept if the direction lies in the cone of
that point, too (Nguyen, 1988), and the jaw opens wide enough. The sampler takes friction 0.8, as if it wanted to miss
nothing. A jaw's pad is soft: four point contacts on a circle of 4 mm, with the normal of its middle, 20 N in all.
"""

from __future__ import annotations

import sys

import garra
import numpy as np

AXES = np.array([0.034, 0.024, 0.046])  # half, of the ellipsoid [m]
SAMPLED = 0.8  # friction that the sampler believes in
WIDEST = 0.08  # the jaw opens so far [m]
PAD = 0.004  # radius [m]
FORCE = 20.0  # of a pad [N]


def normals_at(points: np.ndarray) -> np.ndarray:
    """Into the ellipsoid."""
    n = -points / AXES**2
    return n / np.linalg.norm(n, axis=-1, keepdims=True)


def antipodal(count: int, friction: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two points [count, 2, 3] of the ellipsoid and their normals."""
    pairs = np.zeros((0, 2, 3))
    while len(pairs) < count:
        u = rng.normal(size=(4 * count, 3))
        first = AXES * u / np.linalg.norm(u, axis=-1, keepdims=True)
        n = normals_at(first)
        # A direction uniform in the cone.
        across = np.cross(n, rng.normal(size=n.shape))
        across /= np.linalg.norm(across, axis=-1, keepdims=True)
        cosine = rng.uniform(np.cos(np.arctan(friction)), 1, (len(n), 1))
        d = cosine * n + np.sqrt(1 - cosine**2) * across
        # Where it leaves: |(p + s d) / axes| = 1, and s = 0 is the first point.
        s = -2 * np.sum(first * d / AXES**2, -1) / np.sum((d / AXES) ** 2, -1)
        second = first + s[:, None] * d
        fits = (np.sum(-d * normals_at(second), -1) >= np.cos(np.arctan(friction))) & (s <= WIDEST)
        pairs = np.concatenate([pairs, np.stack([first, second], axis=1)[fits]])
    return pairs[:count], normals_at(pairs[:count])


def pads(points: np.ndarray, normals: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Each contact as four: [G, 2, 3] becomes [G, 8, 3]."""
    t = np.cross(normals, np.where(np.abs(normals[..., :1]) < 0.6, [1.0, 0, 0], [0, 1.0, 0]))
    t /= np.linalg.norm(t, axis=-1, keepdims=True)
    o = np.cross(normals, t)
    four = np.stack([points + radius * v for v in (t, o, -t, -o)], axis=2)
    return four.reshape(len(points), 8, 3), np.repeat(normals, 4, axis=1)


def poses(count: int, rng: np.random.Generator) -> np.ndarray:
    """[count, 4, 4]: any orientation, somewhere on a table."""
    pose = np.tile(np.eye(4), (count, 1, 1))
    R = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    pose[:, :3, :3] = R * np.linalg.det(R)[:, None, None]
    pose[:, :3, 3] = rng.uniform(-0.5, 0.5, (count, 3))
    return pose


def in_world(pose: np.ndarray, points: np.ndarray, normals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As a data set would have them."""
    R = pose[:, None, :3, :3]
    return np.einsum("gkij,gkj->gki", R, points) + pose[:, None, :3, 3], np.einsum("gkij,gkj->gki", R, normals)


def main() -> None:
    rng = np.random.default_rng(1)
    pose = poses(10_000, rng)
    points, normals = in_world(pose, *pads(*antipodal(len(pose), SAMPLED, rng), PAD))
    grasps = garra.grasp.GraspSet.from_world(points, normals, pose, friction=SAMPLED, force_limit=FORCE / 4, mass=0.3)
    if len(sys.argv) > 1:
        grasps.save(sys.argv[1])
    held = {
        mu: garra.grasp.rank(grasps, friction=np.full(8 * len(pose), mu), samples=1, friction_samples=0).held == 1
        for mu in (SAMPLED, 0.6, 0.5, 0.4, 0.3, 0.2)
    }
    valid = held[SAMPLED]
    print(f"{len(pose)} antipodal grasps sampled at friction {SAMPLED}: {valid.sum()} hold the weight with it")
    for mu, holds in held.items():
        print(f"  at {mu}: {100 * (holds & valid).sum() / valid.sum():5.1f} % of those hold")


if __name__ == "__main__":
    main()
