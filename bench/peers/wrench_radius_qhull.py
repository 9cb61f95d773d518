"""The resisted force radius by qhull, of cones that are pyramids, and by garra, of exact cones with both bounds.

usage: PYTHONPATH=python .venv/bin/python bench/peers/wrench_radius_qhull.py [-n GRASPS] [--edges 8]

Each grasp has three contacts on an ellipsoid, a limit for each normal force, and no wrench: Ferrari and Canny's epsilon
with a limit for each contact. A pyramid lies within its cone, so qhull's number is to be below the true one; garra's is
a lower bound, too, at most 2 % below it. Prints both, and problems per second on one thread.
"""

from __future__ import annotations

import argparse
import itertools
import time

import garra
import numpy as np
from scipy.spatial import ConvexHull

LENGTH = 0.03 * np.sqrt(2.5)  # of moments: the set's radius of gyration is 0.03 m


def random_set(grasps: int, rng: np.random.Generator) -> garra.grasp.GraspSet:
    normals = rng.normal(size=(grasps, 3, 3))
    normals -= normals.mean(axis=1, keepdims=True)  # around the object
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    return garra.grasp.GraspSet.from_arrays(
        normals * [-0.06, -0.05, -0.04],
        normals,
        0.8,
        force_limit=rng.uniform(2.0, 6.0, (grasps, 3)),
        mass=np.ones(grasps),
        inertia=np.tile(9e-4 * np.eye(3), (grasps, 1, 1)),
        gravity=np.zeros((grasps, 3)),
    )


def by_qhull(point: np.ndarray, normal: np.ndarray, limit: np.ndarray, edges: int) -> float:
    """Distance of the nearest facet of all sums of the contacts' extreme wrenches."""
    each = []
    for p, n, most in zip(point, normal, limit, strict=True):
        t = np.cross(n, [1.0, 0, 0] if abs(n[0]) < 0.6 else [0, 1.0, 0])
        t /= np.linalg.norm(t)
        angle = 2 * np.pi * np.arange(edges)[:, None] / edges
        force = most * (n + 0.8 * (np.cos(angle) * t + np.sin(angle) * np.cross(n, t)))
        each.append(np.vstack([np.zeros(6), np.hstack([force, np.cross(p, force) / LENGTH])]))
    sums = np.array([sum(parts) for parts in itertools.product(*each)])
    return max(0.0, float(-ConvexHull(sums).equations[:, -1].max()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=20, help="grasps")
    parser.add_argument("--edges", type=int, default=8, help="of a pyramid")
    options = parser.parse_args()
    s = random_set(options.n, np.random.default_rng(1))
    start = time.perf_counter()
    r = garra.grasp.rank(s, samples=1, friction_samples=0, radius_samples=1, threads=1)
    ours, spent = r.resisted_force_radius, time.perf_counter() - start
    rows = (options.n, 3)
    start = time.perf_counter()
    theirs = np.array([
        by_qhull(p, n, f, options.edges)
        for p, n, f in zip(s.arrays["point"].reshape(*rows, 3), s.arrays["normal"].reshape(*rows, 3),
                           s.arrays["force_limit"].reshape(rows), strict=True)
    ])  # fmt: skip
    taken = time.perf_counter() - start
    some = theirs > 1e-3
    ratio = theirs[some] / ours[some]
    print(
        f"{some.sum()} of {options.n} grasps with a radius; qhull's ({options.edges} edges) over garra's: "
        f"{ratio.min():.3f} to {ratio.max():.3f}, median {np.median(ratio):.3f}\n"
        f"garra {options.n / spent:,.0f}/s, qhull {options.n / taken:,.2f}/s, ratio {taken / spent:,.0f}"
    )


if __name__ == "__main__":
    main()
