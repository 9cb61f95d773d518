#!/usr/bin/env python3
"""Computes data/reference/grasp/wrench_balance.json: how large a wrench forces inside friction cones can balance; and
torque_limits.json: the same for fingers whose joints have torque limits; and soft_balance.json: the same for soft contacts; and
many_contacts_balance.json: the same for 9 to 32 contacts.

usage: tools/wrench_balance_reference.py [many]

An independent truth: the second-order cone program max { t : W c + t w = 0, c in the cones, c_n <= limit } by Clarabel through
CVXPY (neither is needed by anything else). Random contacts of 1 to 8 fingers, a third of them with a limit of the normal force,
a third with fingers that cannot balance everything (two contacts, or contacts on one side of the object).

Torque limits add |g_i . c_j + h_i| <= 1 for the joints of each finger. A third of those cases is without friction: then all is
linear, and scipy's linear programming is the truth. In a third some finger's own weight takes more than its motor has, so that it
has to lean on the object.

Soft contacts also bear a moment tau about their normals, |(c_t, c_o, tau / r)| <= mu c_n, a variable of its own in the program;
those with r = 0 do not. These cases are points and normals, so that they test how a wrench is made of them, too.
"""

import json
import sys
from pathlib import Path

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog

FOLDER = Path(__file__).resolve().parent.parent / "data" / "reference" / "grasp"


def frame(normal, rng):
    t = np.cross(normal, rng.normal(size=3))
    t /= np.linalg.norm(t)
    return np.stack([normal, t, np.cross(normal, t)], axis=1)


def problem(rng, kind, n=None):
    n = n or (int(rng.integers(1, 9)) if kind != "limited" else int(rng.integers(2, 9)))
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
        rules.append(c[3 * j] <= np.broadcast_to(limit, n)[j])
    program = cp.Problem(cp.Maximize(t), rules)
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11, max_iter=400)
    return float(t.value) if program.status == "optimal" else None


def fingers(rng, n, kind):
    """Per contact: rows g (joints x 3) and own torques h, all over the torque limits."""
    gains, own = [], []
    for _ in range(n):
        joints = int(rng.integers(3, 8))
        gains.append(rng.normal(size=(joints, 3)) * np.exp(0.7 * rng.normal(size=(joints, 1))))
        own.append(rng.uniform(-0.7, 0.7, size=joints))
        if kind == "leaning" and rng.random() < 0.5:
            own[-1][0] = rng.choice([-1, 1]) * rng.uniform(1.02, 1.5)
    return gains, own


def bounds_by_cones(W, mu, w, limit, gains, own):
    """Smallest t >= 0 and largest t that can be balanced, or None where none can or the solver is not sure."""
    n = len(mu)
    c, t = cp.Variable(3 * n), cp.Variable()
    rules = [W @ c + t * w == 0, t >= 0, t <= 1e4]
    for j in range(n):
        rules.append(cp.SOC(mu[j] * c[3 * j], c[3 * j + 1:3 * j + 3]))
        rules += [c[3 * j] <= limit, cp.abs(gains[j] @ c[3 * j:3 * j + 3] + own[j]) <= 1]
    out = []
    for goal in (cp.Minimize(t), cp.Maximize(t)):
        program = cp.Problem(goal, rules)
        try:
            program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11, max_iter=400)
        except cp.SolverError:
            return None
        if program.status == "infeasible":
            return []
        if program.status != "optimal":
            return None
        out.append(float(t.value))
    return out


def bounds_without_friction(W, w, limit, gains, own):
    n = W.shape[1] // 3
    normal = W[:, ::3]
    rows, most = [], []
    for j in range(n):
        for g, h in zip(gains[j][:, 0], own[j]):
            for sign in (1, -1):
                row = np.zeros(n + 1)
                row[j] = sign * g
                rows.append(row)
                most.append(1 - sign * h)
    out = []
    for goal in (1, -1):
        a = linprog(np.append(np.zeros(n), goal), A_ub=np.array(rows), b_ub=most, A_eq=np.column_stack([normal, w]),
                    b_eq=np.zeros(6), bounds=[(0, limit)] * n + [(0, 1e4)], method="highs")
        if a.status == 2:
            return []
        if a.status != 0:
            return None
        out.append(float(a.x[-1]))
    return out


def torque_cases():
    rng = np.random.default_rng(61)
    cases = []
    while len(cases) < 120:
        kind = ("any", "leaning", "frictionless")[len(cases) % 3]
        W, mu, w = problem(rng, "limited")
        n = 8 if kind == "frictionless" else int(rng.choice([2, 3, 5]))
        while len(mu) != n:
            W, mu, w = problem(rng, "limited")
        gains, own = fingers(rng, n, kind)
        gains, own = [g.round(5) for g in gains], [h.round(5) for h in own]
        limit = 1.0 if rng.random() < 0.3 else 1e3
        if kind == "frictionless":
            mu[:] = 0
            w = -W[:, ::3] @ rng.uniform(0.2, 1, size=n)
            w /= np.linalg.norm(w)
        got = bounds_without_friction(W, w, limit, gains, own) if kind == "frictionless" else bounds_by_cones(
            W, mu, w, limit, gains, own)
        if got is None or (got and (got[1] < 1e-3 or got[1] > 9e3 or got[1] - got[0] < 1e-3)):
            continue  # the reference's own accuracy does not tell these from nothing
        # Below the smallest wrench a finger that leans finds no support.
        cases.append({"kind": kind, "contacts": n, "limit": limit, "W": W.tolist(), "mu": mu.tolist(), "w": w.tolist(),
                      "gain": [g.tolist() for g in gains], "own": [h.tolist() for h in own], "bounds": got})
    none = sum(not c["bounds"] for c in cases)
    least = sum(bool(c["bounds"]) and c["bounds"][0] > 1e-6 for c in cases)
    print(f"{len(cases)} cases with torque limits, {none} of them balance nothing, {least} need a wrench to lean on")
    (FOLDER / "torque_limits.json").write_text(json.dumps({"cases": cases}) + "\n")


SIZE = 0.05  # of soft_balance.json's objects [m]


def soft_problem(rng, kind):
    n = 2 if kind == "pinch" else int(rng.choice([1, 2, 3, 3, 4, 4, 5, 5, 6, 8, 12, 20]))
    out = rng.normal(size=(n, 3))
    if kind == "pinch":
        out[1] = -out[0] + 0.1 * rng.normal(size=3)
    out /= np.linalg.norm(out, axis=1)[:, None]
    point = SIZE * out * rng.uniform(0.8, 1.2, size=(n, 1))
    normal = -out + 0.1 * rng.normal(size=(n, 3))
    radius = rng.uniform(0.05, 0.6, size=n) * SIZE
    if kind == "some":
        radius[rng.random(n) < 0.5] = 0
    mu = rng.uniform(0.1, 1.2, size=n)
    limit = rng.uniform(1, 4, size=n) if n > 5 or rng.random() < 0.7 else np.full(n, 1e3)
    w = rng.normal(size=6)
    w /= np.linalg.norm(w)
    w[3:] *= SIZE
    if kind == "pinch" and rng.random() < 0.3:
        w = np.concatenate([np.zeros(3), SIZE * out[0]])  # a moment about their line alone
    return [a.round(6) for a in (point, normal, mu, radius, limit, w)]


def largest_of_soft(point, normal, mu, radius, limit, w):
    n = len(mu)
    normal = normal / np.linalg.norm(normal, axis=1)[:, None]
    force, turn, t = cp.Variable((n, 3)), cp.Variable(n), cp.Variable()
    total = [cp.sum(force, axis=0) + t * w[:3] == 0]
    moment = t * w[3:] / SIZE
    rules = [t <= 1e4]
    for j in range(n):
        x, y, z = point[j] / SIZE
        moment = moment + np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) @ force[j] + turn[j] * normal[j]
        pressed = force[j] @ normal[j]
        across = (np.eye(3) - np.outer(normal[j], normal[j])) @ force[j]
        if radius[j] > 0:
            across = cp.hstack([across, turn[j] * SIZE / radius[j]])
        else:
            rules.append(turn[j] == 0)
        rules += [cp.SOC(mu[j] * pressed, across), pressed <= limit[j]]
    program = cp.Problem(cp.Maximize(t), total + [moment == 0] + rules)
    try:
        program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11, max_iter=400)
    except cp.SolverError:
        return None
    return float(t.value) if program.status == "optimal" else None


def clean(t):
    return 0.0 if t < 1e-7 else t


def soft_cases():
    rng = np.random.default_rng(77)
    cases = []
    while len(cases) < 200:
        kind = ("pinch", "all", "some")[len(cases) % 3]
        point, normal, mu, radius, limit, w = soft_problem(rng, kind)
        t = largest_of_soft(point, normal, mu, radius, limit, w)
        if t is None or 1e-7 < t < 1e-3:
            continue
        hard = largest_of_soft(point, normal, mu, 0 * radius, limit, w)
        hard = None if hard is None or 1e-7 < hard < 1e-3 else hard  # as above
        case = {"point": point, "normal": normal, "mu": mu, "radius": radius, "limit": limit, "w": w}
        cases.append({name: array.tolist() for name, array in case.items()} | {
            "largest": clean(t), "largest_of_points": hard and clean(hard)})
    zero = sum(c["largest"] == 0 for c in cases)
    more = sum(c["largest_of_points"] is not None and c["largest"] > 1.01 * c["largest_of_points"] for c in cases)
    print(f"{len(cases)} cases with soft contacts, {zero} of them balance nothing along w, {more} more than points do")
    (FOLDER / "soft_balance.json").write_text(json.dumps({"cases": cases}) + "\n")


def many_cases():
    """Of more contacts than have code of their own."""
    rng = np.random.default_rng(93)
    cases = []
    while len(cases) < 40:
        n = (9, 11, 12, 14, 16, 17, 20, 24, 27, 32)[len(cases) % 10]
        W, mu, w = (a.round(6) for a in problem(rng, "one side" if rng.random() < 0.4 else "limited", n))
        limit = rng.uniform(0.2, 2, size=n).round(3)
        t = largest(W, mu, w, limit)
        if t is None or 1e-7 < t < 1e-3:
            continue
        cases.append({"contacts": n, "limit": limit.tolist(), "W": W.tolist(), "mu": mu.tolist(), "w": w.tolist(), "largest": clean(t)})
    print(f"{len(cases)} cases of many contacts, {sum(c['largest'] == 0 for c in cases)} of them balance nothing along w")
    (FOLDER / "many_contacts_balance.json").write_text(json.dumps({"cases": cases}) + "\n")


def main():
    if sys.argv[1:] == ["many"]:
        return many_cases()
    torque_cases()
    soft_cases()
    many_cases()
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
    (FOLDER / "wrench_balance.json").write_text(json.dumps({"cases": cases}) + "\n")


if __name__ == "__main__":
    main()
