"""Decides the same wrenches with Clarabel, a general interior-point solver for second-order cones, and with garra.

usage: .venv/bin/pip install clarabel && PYTHONPATH=python .venv/bin/python bench/peers/grasp_set_engines.py [-n GRASPS]

Each grasp has random contacts on a sphere, a friction and a force limit per contact, weight, and a wrench of its own:
find contact forces inside the cones that balance it. Prints, for each number of contacts, how the two verdicts agree,
problems per second on one thread (of Clarabel the solves alone, not the making of its matrices), and their ratio.
"""

from __future__ import annotations

import argparse
import time

import clarabel
import garra
import numpy as np
from scipy import sparse


def random_set(grasps: int, contacts: int, rng: np.random.Generator) -> garra.grasp.GraspSet:
    normals = rng.normal(size=(grasps, contacts, 3))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    return garra.grasp.GraspSet.from_arrays(
        -0.05 * normals,
        normals,
        rng.uniform(0.2, 1.0, (grasps, contacts)),
        force_limit=rng.uniform(2.0, 20.0, (grasps, contacts)),
        mass=rng.uniform(0.1, 1.0, grasps),
        wrench=np.concatenate([rng.normal(0, 1, (grasps, 3)), rng.normal(0, 0.02, (grasps, 3))], axis=-1),
    )


def problems_of(s: garra.grasp.GraspSet, contacts: int):
    """W [G, 6, 3k] (moments over 50 mm), w [G, 6], mu, limit [G, k]."""
    rows = (len(s), contacts)
    n = s.arrays["normal"].reshape(*rows, 3)
    p = s.arrays["point"].reshape(*rows, 3)
    t = np.cross(n, np.where(np.abs(n[..., :1]) < 0.6, [1.0, 0, 0], [0, 1.0, 0]))
    t /= np.linalg.norm(t, axis=-1, keepdims=True)
    axes = np.stack([n, t, np.cross(n, t)], axis=-2)  # [G, k, 3 directions, 3]
    wrenches = np.concatenate([axes, np.cross(p[..., None, :], axes) / 0.05], axis=-1)
    W = wrenches.reshape(len(s), 3 * contacts, 6).transpose(0, 2, 1)
    weight = s.arrays["mass"][:, None] * [0, 0, -9.81]
    w = s.arrays["wrench"].copy()
    w[:, :3] += weight
    w[:, 3:] /= 0.05
    return W, w, s.arrays["friction"].reshape(rows), s.arrays["force_limit"].reshape(rows)


def solvers_of(W, w, mu, limit):
    k = len(mu)
    cones = np.zeros((3 * k, 3 * k))
    for j in range(k):
        cones[3 * j, 3 * j] = -mu[j]
        cones[3 * j + 1, 3 * j + 1] = cones[3 * j + 2, 3 * j + 2] = -1
    normal = np.zeros((k, 3 * k))
    normal[np.arange(k), 3 * np.arange(k)] = 1
    A = sparse.csc_matrix(np.vstack([W, cones, normal]))
    b = np.concatenate([-w, np.zeros(3 * k), limit])
    kinds = [clarabel.ZeroConeT(6), *[clarabel.SecondOrderConeT(3)] * k, clarabel.NonnegativeConeT(k)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    P = sparse.csc_matrix((3 * k, 3 * k))
    return clarabel.DefaultSolver(P, np.zeros(3 * k), A, b, kinds, settings)


def compare(grasps: int, contacts: int, rng: np.random.Generator) -> None:
    s = random_set(grasps, contacts, rng)
    theirs, spent = [], 0.0
    for W, w, mu, limit in zip(*problems_of(s, contacts), strict=True):
        solver = solvers_of(W, w, mu, limit)
        start = time.perf_counter()
        status = str(solver.solve().status)
        spent += time.perf_counter() - start
        theirs.append({"Solved": 1, "PrimalInfeasible": 0}.get(status, -1))
    theirs = np.array(theirs)
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        r = garra.grasp.rank(s, samples=1, friction_samples=0, threads=1)
        best = min(best, time.perf_counter() - start)
    ours = np.where(r.unsolved > 0, -1, r.held)
    table = ", ".join(
        f"{name} {int(((ours == a) & (theirs == b)).sum())}"
        for name, a, b in (("both held", 1, 1), ("neither", 0, 0), ("garra only", 1, 0), ("Clarabel only", 0, 1))
    )
    print(
        f"{contacts:2d} contacts: {table}, undecided {int((ours < 0).sum())} / {int((theirs < 0).sum())}; "
        f"garra {grasps / best:,.0f}/s, Clarabel {grasps / spent:,.0f}/s, ratio {spent / best:.0f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=2000, help="grasps of each number of contacts")
    n = parser.parse_args().n
    rng = np.random.default_rng(1)
    for contacts in (2, 3, 4, 5, 8, 12, 20, 32):
        compare(n, contacts, rng)


if __name__ == "__main__":
    main()
