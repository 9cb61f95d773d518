#!/usr/bin/env python3
"""Computes data/reference/grasp/wrench_balance.json: how large a wrench forces inside friction cones can balance.

usage: tools/wrench_balance_reference.py

An independent truth: the second-order cone program max { t : W c + t w = 0, c in the cones, c_n <= limit } by Clarabel through
CVXPY (neither is needed by anything else). Random contacts of 1 to 8 fingers, a third of them with a limit of the normal force,
a third with fingers that cannot balance everything (two contacts, or contacts on one side of the object).
"""

import json
from pathlib import Path

import cvxpy as cp
import numpy as np

TARGET = Path(__file__).resolve().parent.parent / "data" / "reference" / "grasp" / "wrench_balance.json"


def frame(normal, rng):
    t = np.cross(normal, rng.normal(size=3))
    t /= np.linalg.norm(t)
    return np.stack([normal, t, np.cross(normal, t)], axis=1)


def problem(rng, kind):
    n = int(rng.integers(1, 9)) if kind != "limited" else int(rng.integers(2, 9))
    out = rng.normal(size=(n, 3))
    if kind == "one side":
        out[:, 2] = np.abs(out[:, 2])
    out /= np.linalg.norm(out, axis=1)[:, None]
    W = np.zeros((6, 3 * n))
    for j in range(n):
        point = out[j] * rng.uniform(0.8, 1.2)
        inward = -out[j] + 0.2 * rng.normal(size=3)
        E = frame(inward / np.linalg.norm(inward), rng)
        W[:3, 3 * j:3 * j + 3] = E
        W[3:, 3 * j:3 * j + 3] = np.cross(point, E.T).T / np.sqrt(0.4)
    mu = rng.uniform(0.05, 1.2, size=n)
    w = rng.normal(size=6)
    if rng.random() < 0.5:
        w = W @ rng.normal(size=3 * n)  # within the range of W
    w /= np.linalg.norm(w)
    return W, mu, w


def largest(W, mu, w, limit):
    n = len(mu)
    c, t = cp.Variable(3 * n), cp.Variable()
    rules = [W @ c + t * w == 0, t <= 1e4]
    for j in range(n):
        rules.append(cp.SOC(mu[j] * c[3 * j], c[3 * j + 1:3 * j + 3]))
        rules.append(c[3 * j] <= limit)
    program = cp.Problem(cp.Maximize(t), rules)
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11, max_iter=400)
    return float(t.value) if program.status == "optimal" else None


def main():
    rng = np.random.default_rng(16)
    cases = []
    while len(cases) < 300:
        kind = ("limited", "any", "one side")[len(cases) % 3]
        W, mu, w = problem(rng, kind)
        limit = 1.0 if kind == "limited" else 1e3
        t = largest(W, mu, w, limit)
        if t is None or 1e-7 < t < 1e-3:  # the reference's own accuracy does not tell these from zero
            continue
        cases.append({"contacts": len(mu), "limit": limit, "W": W.tolist(), "mu": mu.tolist(), "w": w.tolist(),
                      "largest": 0.0 if t < 1e-7 else t})
    zero = sum(c["largest"] == 0 for c in cases)
    print(f"{len(cases)} cases, {zero} of them balance nothing along w")
    TARGET.write_text(json.dumps({"cases": cases}) + "\n")


if __name__ == "__main__":
    main()
