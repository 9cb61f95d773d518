"""Writes a run folder like that of a singularity map, of an arm whose singular configurations have a closed form.

PUMA 560: det J = -a2 (a3 s3 + d4 c3) (a2 c2 + a3 c23 - d4 s23) s5, the elbow, the shoulder and the wrist. Everything
is computed here with NumPy: singular values of the scaled screws, the nearest zero of the three factors by Newton's
iteration, counts, voxels, a slice, and the analysis of a few configurations.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from synthetic_run import QUANTILES, histogram, interval, manifest, wilson

SCENARIO = """\
schema = 1
job = "singularity"
title = "Where does the <PUMA> & its wrist lock?"
seed = 5

[robot]
model = "puma560"

[measure]
near = 0.05
"""
NAMES = ["waist", "shoulder", "elbow", "wrist 1", "wrist 2", "wrist 3"]
A2, A3, D1, D3, D4 = 0.4318, 0.0203, 0.672, 0.15005, 0.4318  # [m]
DH = ((D1, 0, 90), (0, A2, 0), (D3, A3, -90), (D4, 0, 90), (0, 0, -90), (0, 0, 0))  # d, a, alpha
LIMITS = np.radians([(-160, 160), (-45, 225), (-225, 45), (-110, 170), (-100, 100), (-266, 266)])
NEAR, TOLERANCE, VOXELS = 0.05, 1e-10, 20
BLAME = {"wrist": (4, 6), "elbow": (2, 3, 4, 5, 6), "shoulder": (1, 2, 4, 5, 6)}
Array = np.ndarray


# --- the arm


def screws(q: Array) -> tuple[Array, Array]:
    """Screws (direction; moment about the origin) [n, 6 joints, 6] and tool points [n, 3]."""
    frame = np.broadcast_to(np.eye(4), (len(q), 4, 4))
    found = []
    for k, (d, a, twist) in enumerate(DH):
        axis, place = frame[:, :3, 2], frame[:, :3, 3]
        found.append(np.concatenate([axis, np.cross(place, axis)], axis=1))
        c, s, ct, st = np.cos(q[:, k]), np.sin(q[:, k]), math.cos(math.radians(twist)), math.sin(math.radians(twist))
        zero, one = np.zeros_like(c), np.ones_like(c)
        rows = [c, -s * ct, s * st, a * c, s, c * ct, -c * st, a * s, zero, st * one, ct * one, d * one]
        frame = frame @ np.stack([*rows, zero, zero, zero, one], axis=1).reshape(-1, 4, 4)
    return np.stack(found, axis=1), frame[:, :3, 3]


def singular_values(q: Array) -> Array:
    """Of the screws about the point nearest to all axes, in units of the axes' distance to it [n, 6]."""
    screw, _ = screws(q)
    s, m = screw[..., :3], screw[..., 3:]
    across = np.eye(3) - s[..., :, None] * s[..., None, :]
    foot = np.cross(s, m)
    center = np.linalg.solve(across.sum(axis=1), foot.sum(axis=1)[..., None])[..., 0]
    moment = m - np.cross(center[:, None], s)
    length = np.sqrt((moment**2).sum(axis=2).mean(axis=1))
    return np.linalg.svd(np.concatenate([s, moment / length[:, None, None]], axis=2), compute_uv=False)


def factors(q: Array) -> Array:
    """Zero at the elbow's, the shoulder's and the wrist's singularity [3, n]."""
    q2, q3, q5 = q[:, 1], q[:, 2], q[:, 4]
    elbow = A3 * np.sin(q3) + D4 * np.cos(q3)
    shoulder = A2 * np.cos(q2) + A3 * np.cos(q2 + q3) - D4 * np.sin(q2 + q3)
    return np.stack([elbow, shoulder, np.sin(q5)])


def nearest(q: Array) -> dict[str, Array]:
    """The nearest zero of any factor: its configuration, distance, factor and fastest joint (from 1)."""
    places, gradients = [], []
    for which in range(3):
        at = q.copy()
        for _ in range(30):
            slope = np.stack([(factors(at + h)[which] - factors(at - h)[which]) / 2e-5 for h in 1e-5 * np.eye(6)], 1)
            at = at - (factors(at)[which] / (slope**2).sum(axis=1).clip(1e-9))[:, None] * slope
        places.append(at)
        gradients.append(slope)
    far = np.linalg.norm(np.stack(places) - q, axis=2)
    far[np.abs(np.stack([factors(place)[w] for w, place in enumerate(places)])) > 1e-9] = np.inf
    best, row = far.argmin(axis=0), np.arange(len(q))
    slope = np.abs(np.stack(gradients)[best, row])
    return {"q": np.stack(places)[best, row], "distance": far[best, row], "factor": best, "joint": slope.argmax(1) + 1}


# --- counting


def write_run(folder: Path, samples: int = 12_000, voxels: int = VOXELS) -> dict[str, Any]:
    """Fills `folder` and returns the summary."""
    folder.mkdir(parents=True, exist_ok=True)
    q = np.random.default_rng(5).uniform(*LIMITS.T, (samples, 6))
    sigma = singular_values(q)
    run = {"q": q, "sigma": sigma[:, 5], "ratio": sigma[:, 5] / sigma[:, 0], "w": sigma.prod(1), "tool": screws(q)[1]}
    run["near"] = np.flatnonzero(run["ratio"] <= NEAR)
    found = nearest(q[run["near"]])
    grid = voxel_grid(run, voxels)
    summary = make_summary(run, found, grid)
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "manifest.json").write_text(json.dumps(manifest(samples)))
    (folder / "scenario.toml").write_text(SCENARIO)
    (folder / "configurations.json").write_text(json.dumps({"configurations": configurations(summary, run, found)}))
    write_map(folder / "map.h5", run, grid)
    write_rows(folder / "results.h5", run, found)
    return summary


def blame(found: dict[str, Array]) -> list[list[int]]:
    sets = [BLAME[name] for name in ("elbow", "shoulder", "wrist")]
    return [list(sets[w]) for w in found["factor"]]


def make_summary(run: dict[str, Array], found: dict[str, Array], grid: dict[str, Any]) -> dict[str, Any]:
    n, near = len(run["q"]), run["near"]
    order = near[np.argsort(run["ratio"][near])]
    landed = np.isfinite(found["distance"])
    sigma, condition = np.log10(run["sigma"]), -np.log10(run["ratio"])
    return {
        "schema": 1,
        "job": "singularity",
        "title": "Where does the <PUMA> & its wrist lock?",
        "samples": n,
        "requested": n,
        "seed": 5,
        "stopped_by": "samples",
        "robot": {"name": "PUMA 560", "joints": 6, "names": NAMES, "prismatic": [False] * 6, "generic_rank": 6},
        "sampling": {
            "kind": "random",
            "ranges": [
                {"joint": k + 1, "kind": "uniform", "low": low, "high": high, "points": 1}
                for k, (low, high) in enumerate(LIMITS.tolist())
            ],
            "task": None,
        },
        "near": NEAR,
        "tolerance": TOLERANCE,
        "precision": "fp64",
        "scaling": {"center": "natural", "length": None},
        "outcomes": {"regular": n - len(near), "near": len(near), "singular": 0, "unreached": 0, "invalid": 0},
        "p_near": interval(len(near), n),
        "histograms": {
            "log_sigma": histogram(sigma, "log10", -8, 1),
            "log_condition": histogram(condition, "log10", 0, 8),
            "manipulability": histogram(run["w"], "1", 0, 2 * float(run["w"].max())),
        },
        "quantiles": {"sigma_min": quantiles(run["sigma"]), "condition": quantiles(1 / run["ratio"])},
        "nearest": nearest_summary(found, landed, near),
        "worst": [{"sample": int(s), "inverse_condition": float(run["ratio"][s])} for s in order[:10]],
        "voxels": {key: grid[key] for key in ("low", "side", "n", "occupied", "with_near")},
    }


def quantiles(values: Array) -> dict[str, float]:
    return {q: float(np.quantile(values, float(q))) for q in QUANTILES}


def nearest_summary(found: dict[str, Array], landed: Array, near: Array) -> dict[str, Any]:
    total, rows = int(landed.sum()), []
    for name, which in (("elbow", 0), ("shoulder", 1), ("wrist", 2)):
        here = landed & (found["factor"] == which)
        low, high = wilson(int(here.sum()), total)
        row = {"joints": list(BLAME[name]), "count": int(here.sum()), "share": here.sum() / total}
        rows.append(row | {"low": low, "high": high, "example": int(near[here][0])})
    rows.sort(key=lambda row: -row["count"])
    escape = [{"joint": k, "order_1": int((landed & (found["joint"] == k)).sum()), "order_2": 0} for k in range(1, 7)]
    return {
        "landed": total,
        "lost": len(near) - total,
        "outside_range": int(((found["q"] < LIMITS[:, 0]) | (found["q"] > LIMITS[:, 1])).any(axis=1)[landed].sum()),
        "distance": histogram(found["distance"], "rad", 0, 0.5),
        "lost_freedoms": [{"lost": 1, "count": total}],
        "responsible": rows,
        "subsets": [{"joints": row["joints"], "count": row["count"]} for row in rows],
        "subsets_per_configuration": [0, total, 0, 0, 0, 0, 0],
        "escape": escape,
        "no_single_joint": 0,
    }


# --- map.h5 and results.h5


def voxel_grid(run: dict[str, Array], most: int) -> dict[str, Any]:
    tool = run["tool"]
    low, high = tool.min(0) - 1e-6, tool.max(0) + 1e-6
    side = float((high - low).max() / most)
    n = np.ceil((high - low) / side).astype(int)
    place = ((tool - low) // side).astype(int)
    flat = place[:, 0] + n[0] * (place[:, 1] + n[1] * place[:, 2])
    count = np.bincount(flat, minlength=n.prod())
    near = np.bincount(flat[run["near"]], minlength=n.prod())
    data = {name: np.full(n.prod(), math.nan) for name in ("sigma_min", "sigma_max", "sigma_p10", "sigma_p50")}
    order = np.argsort(flat, kind="stable")
    for voxel, rows in zip(*_groups(flat[order], order), strict=True):
        for name, level in (("sigma_min", 0), ("sigma_p10", 0.1), ("sigma_p50", 0.5), ("sigma_max", 1)):
            data[name][voxel] = np.quantile(run["sigma"][rows], level)
    return {
        "low": low.tolist(),
        "side": side,
        "n": n.tolist(),
        "occupied": int((count > 0).sum()),
        "with_near": int((near > 0).sum()),
        "data": {name: column.reshape(n[::-1]) for name, column in {"count": count, "near": near, **data}.items()},
    }


def _groups(keys: Array, rows: Array) -> tuple[Array, list[Array]]:
    names, starts = np.unique(keys, return_index=True)
    return names, np.split(rows, starts[1:])


def write_map(path: Path, run: dict[str, Array], grid: dict[str, Any], points: int = 61) -> None:
    with h5py.File(path, "w") as file:
        voxels = file.create_group("voxels")
        voxels.attrs["low"], voxels.attrs["side"] = grid["low"], grid["side"]
        for name, column in grid["data"].items():
            voxels[name] = column
        write_slice(file.create_group("slices/0"), points)


def write_slice(group: h5py.Group, points: int) -> None:
    """Joints 3 and 5, as in the reference data."""
    x = y = np.linspace(-math.pi, math.pi, points)
    q = np.zeros((points * points, 6))
    q[:, 1], q[:, 3] = 0.3, 0.7
    q[:, 2], q[:, 4] = (axis.ravel() for axis in np.meshgrid(x, y))
    sigma = singular_values(q)
    group.attrs["x"], group.attrs["y"], group.attrs["q"] = 3, 5, q[0]
    group["x"], group["y"] = x, y
    ratio, product = sigma[:, 5] / sigma[:, 0], sigma.prod(axis=1)
    for name, column in {"sigma_min": sigma[:, 5], "inverse_condition": ratio, "manipulability": product}.items():
        group[name] = column.reshape(points, points)
    rows = [locus for which in range(3) for locus in locus_points(which, x, q[0])]
    columns = zip(*rows, strict=True)
    for name, column, kind in zip(("x", "y", "responsible", "escape"), columns, "ffui", strict=True):
        group[f"locus_{name}"] = np.array(column, dtype={"f": "f8", "u": "u4", "i": "i4"}[kind])


def locus_points(which: int, x: Array, fixed: Array) -> list[tuple[float, float, int, int]]:
    """Zeros of a factor within the slice: lines of constant q3, or of constant q5."""
    joint, name = ((2, "elbow"), (2, "shoulder"), (4, "wrist"))[which]
    fine = np.linspace(-math.pi, math.pi, 20_001)
    line = np.tile(fixed, (len(fine), 1))
    line[:, joint] = fine
    value = factors(line)[which]
    roots = fine[:-1][np.diff(np.sign(value)) != 0]
    bits = sum(1 << (k - 1) for k in BLAME[name])
    pairs = [(root, other) if joint == 2 else (other, root) for root in roots for other in x]
    return [(float(a), float(b), bits, 5 if name == "wrist" else 3) for a, b in pairs]


def write_rows(path: Path, run: dict[str, Array], found: dict[str, Array]) -> None:
    near, count = run["near"], len(run["near"])
    bits = np.array([sum(1 << (k - 1) for k in joints) for joints in blame(found)], dtype=np.uint32)
    with h5py.File(path, "w") as file:
        file["index"] = near.astype(np.uint64)
        file["outcome"] = np.ones(count, dtype=np.uint8)
        file["outcome"].attrs["names"] = ["regular", "near", "singular", "unreached", "invalid"]
        file["landing"] = np.where(np.isfinite(found["distance"]), 0, 1).astype(np.uint8)
        file["landing"].attrs["names"] = ["landed", "lost", "non_finite"]
        file["sigma_min"], file["inverse_condition"] = run["sigma"][near], run["ratio"][near]
        file["manipulability"], file["tool"], file["q"] = run["w"][near], run["tool"][near], run["q"][near]
        file["responsible"], file["distance"], file["singular_q"] = bits, found["distance"], found["q"]
        file["escape_joint"] = found["joint"].astype(np.int32)
        file["escape_order"] = np.ones(count, dtype=np.int32)


# --- configurations.json


def configurations(summary: dict[str, Any], run: dict[str, Array], found: dict[str, Array]) -> list[dict[str, Any]]:
    most = summary["nearest"]["responsible"]
    chosen = [("most frequent", row["joints"], row["share"], row["example"]) for row in most]
    place = {int(s): i for i, s in enumerate(run["near"])}
    sets = blame(found)
    worst = [("worst", sets[place[row["sample"]]], 0.0, row["sample"]) for row in summary["worst"][:3]]
    return [one(why, joints, share, place[sample], run, found) for why, joints, share, sample in chosen + worst]


def one(why: str, joints: list[int], share: float, row: int, run: dict[str, Array], found: dict[str, Array]) -> dict:
    sample, at = int(run["near"][row]), found["q"][row]
    screw = screws(at[None])[0][0]
    return {
        "why": why,
        "joints": joints,
        "share": share,
        "sample": sample,
        "q": run["q"][sample].tolist(),
        "singular_q": at.tolist(),
        "distance": float(found["distance"][row]),
        "screws": screw.tolist(),
        "analysis": analysis(at, screw, joints),
        "text": f"1. Screws of <joints> {joints}\n3. Rank 5 of 6: the arm is singular, 1 freedom lost\n",
    }


def analysis(at: Array, screw: Array, joints: list[int]) -> dict[str, Any]:
    """As `garra singularity --format json` has it; escape by finite differences, order 1 only."""
    u, s, vt = np.linalg.svd(screw.T)
    step = 1e-4
    after = {k + 1: singular_values((at + step * np.eye(6)[k])[None])[0, 5] for k in range(1, 5)}
    rates = sorted(((value / step, k) for k, value in after.items() if value > 1e-3 * step), reverse=True)
    null = vt[-1] / np.abs(vt[-1]).max()
    return {
        "joints": 6,
        "rank": 5,
        "generic_rank": 6,
        "lost_freedoms": 1,
        "arm_singular": True,
        "subchain_singular": True,
        "responsible": joints,
        "sosm": [
            {
                "first": joints[0],
                "last": joints[-1],
                "dim": joints[-1] - joints[0],
                "ssm": joints,
                "null_vector": null[joints[0] - 1 : joints[-1]].tolist(),
                "reciprocal": [np.roll(u[:, -1], 3).tolist()],
                "actuators": [
                    {"joint": k, "products": [], "weighted_outside_span": True, "restores": True} for _, k in rates
                ],
            }
        ],
        "lost_wrenches": [u[:, -1].tolist()],
        "null_space": [vt[-1].tolist()],
        "escape": [
            {"joints": [k], "order": 1, "rate": rate, "sign": [0], "direction": [1.0], "sigma": rate * 0.25}
            for rate, k in rates
        ],
        "clearing_sets": [[k] for _, k in rates],
        "self_motion": "undecided",
        "singular_values": singular_values(at[None])[0].tolist(),
        "gap": float(s[4] / max(s[5], 1e-300)),
        "scaling": {"origin": [0.1, 0.0, 0.8], "length": 0.215},
        "recovery": {"motion": np.zeros(6).tolist(), "rank": 6, "sigma": 0.2},
    }
