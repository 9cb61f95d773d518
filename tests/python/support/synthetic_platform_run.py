"""Writes run folders like those of `garra run` for platform studies: a hexagon that climbs a wall, with NumPy alone.

Forces are those of statics: the six legs carry platform and payload, nothing moves fast. A sample has its own payload,
base anchors and friction; it fails where a leg is too short or too long, where the legs hardly hold, or where a force
is too large.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from synthetic_run import convergence, histogram, interval, manifest, one_input

INSTANTS = 21
ENDED = 12  # instants that the second of the simulated samples reaches
DURATION = 2.0
FORCE_LIMIT = 155.0
NEAR = 0.05
LENGTH = 0.4
TITLE = "climb <b>& turn"
GRAVITY = np.array([-9.81, 0.0, 0.0])  # base axes: the base hangs on a wall
STROKE = (0.60, 1.11)
OUTCOMES = ("feasible", "stroke", "cone", "collision", "singular", "force_limit", "invalid")
SCENARIO = """\
schema = 1
job = "platform"
title = "climb <b>& turn"

[platform]
model = "synthetic"

[payload]
mass = { normal = ["3 kg", "0.8 kg"] }
"""
Table = dict[str, Any]
Arrays = dict[str, np.ndarray]


def anchors() -> tuple[np.ndarray, np.ndarray]:
    def circle(radius: float, degrees: list[float]) -> np.ndarray:
        around = np.deg2rad(degrees)
        return radius * np.stack([np.cos(around), np.sin(around), 0 * around], axis=1)

    return circle(0.5, [-10, 10, 110, 130, 230, 250]), circle(0.3, [-50, 50, 70, 170, 190, 290])


def rotation(q: np.ndarray) -> np.ndarray:
    """[...,4] to [...,3,3]."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def loads(position: np.ndarray, quaternion: np.ndarray, base: np.ndarray, mass: np.ndarray) -> Arrays:
    """Lengths, forces and smallest singular values of poses [...,3], [...,4]; base anchors [...,6,3], mass [...]."""
    arm = np.einsum("...ij,kj->...ki", rotation(quaternion), anchors()[1])
    leg = arm + position[..., None, :] - base
    length = np.linalg.norm(leg, axis=-1)
    way = leg / length[..., None]
    jacobian = np.concatenate([way, np.cross(arm, way)], axis=-1)
    weight = np.concatenate([mass[..., None] * GRAVITY, np.zeros((*mass.shape, 3))], axis=-1)
    force = np.linalg.solve(np.swapaxes(jacobian, -1, -2), -weight[..., None])[..., 0]
    scaled = jacobian / np.array([1, 1, 1, LENGTH, LENGTH, LENGTH])
    return {"lengths": length, "force": force, "sigma_min": np.linalg.svd(scaled, compute_uv=False)[..., -1]}


def path() -> Arrays:
    s = np.linspace(0, 1, INSTANTS)
    s = s * s * (3 - 2 * s)
    angle = 0.3 * s
    return {
        "time": np.linspace(0, DURATION, INSTANTS),
        "position": np.stack([0.05 * s, 0 * s, 0.6 + 0.4 * s], axis=1),
        "quaternion": np.stack([np.cos(angle / 2), 0 * s, 0 * s, np.sin(angle / 2)], axis=1),
    }


def judged(found: Arrays, coulomb: np.ndarray) -> Arrays:
    """What becomes of samples [n] at their instants [n,t]: outcome, leg and instant of the first failure, margins."""
    force = np.abs(found["force"]) + coulomb[:, None, None]
    stroke = np.minimum(found["lengths"] - STROKE[0], STROKE[1] - found["lengths"])
    bad = np.stack([stroke.min(axis=2) < 0, found["sigma_min"] < NEAR, force.max(axis=2) > FORCE_LIMIT], axis=2)
    failed = bad.any(axis=(1, 2))
    instant = np.where(failed, bad.any(axis=2).argmax(axis=1), -1)
    rows = np.arange(len(failed))
    kind = bad[rows, instant].argmax(axis=1)
    outcome = np.where(failed, np.array([1, 4, 5])[kind], 0)
    by_stroke, by_force = stroke.argmin(axis=2)[rows, instant], force.argmax(axis=2)[rows, instant]
    leg = np.where(outcome == 1, by_stroke + 1, np.where(outcome == 5, by_force + 1, 0))
    peak = force.max(axis=2)
    return {
        "outcome": outcome,
        "instant": instant,
        "leg": leg,
        "peak_force": peak.max(axis=1),
        "peak_instant": peak.argmax(axis=1),
        "peak_leg": force.max(axis=1).argmax(axis=1) + 1,
        "stroke_margin": stroke.min(axis=(1, 2)),
        "sigma_min": found["sigma_min"].min(axis=1),
    }


def write_path(file: Path, without: str = "", envelope: Arrays | None = None) -> Arrays:
    """Writes the nominal motion, less one data set if asked, and returns what the file holds."""
    base, ring = anchors()
    where = path()
    nominal = loads(where["position"], where["quaternion"], base, np.full(INSTANTS, 13.0))
    data = where | nominal | (envelope or {}) | {
        "rates": np.gradient(nominal["lengths"], where["time"], axis=0),
        "condition": 1 / nominal["sigma_min"],
        "stroke_margin": np.minimum(nominal["lengths"] - STROKE[0], STROKE[1] - nominal["lengths"]),
        "universal_margin": np.full((INSTANTS, 6), 0.35) - 0.2 * nominal["lengths"],
        "spherical_margin": np.full((INSTANTS, 6), 1e300),  # no limit
        "clearance": np.full(INSTANTS, np.nan),
        "base_anchors": base,
        "platform_anchors": ring,
        "length_min": np.full(6, STROKE[0]),
        "length_max": np.full(6, STROKE[1]),
    }  # fmt: skip
    with h5py.File(file, "w") as h5:
        for key, value in data.items():
            if key != without:
                h5[key] = value
        h5.attrs.update(title=TITLE, force_limit=FORCE_LIMIT, gravity=GRAVITY)
    return data


def write_trajectories(file: Path) -> Arrays:
    """What `garra platform simulate` writes of two samples, as far as its page reads it; the second one ends early."""
    where, (base, ring) = path(), anchors()
    found = loads(where["position"], where["quaternion"], base, np.full(INSTANTS, 13.0))
    height = where["position"][:, 2] - where["position"][0, 2]
    rows = {
        "position": where["position"],
        "quaternion": where["quaternion"],
        "lengths": found["lengths"],
        "kinetic_energy": height * (0.4 - height),
        "potential_energy": 127.5 * height,
        "work": height * (127.9 - height) + 1e-9 * height,
        "balance": -1e-9 * height,
        "drift": 1e-13 * height,
    }
    data = {key: np.stack([value, value]) for key, value in rows.items()}
    for value in data.values():
        value[1, ENDED:] = math.nan
    data |= {"times": where["time"], "base_anchors": base, "platform_anchors": ring}
    with h5py.File(file, "w") as h5:
        for key, value in data.items():
            h5[key] = value
        h5["status"] = np.array([0, 1], dtype=np.uint8)
        h5["status"].attrs["names"] = ["completed", "stroke_limit", "cone_limit"]
        h5.attrs.update(model="synthetic")
    return data


def _finish(folder: Path, summary: Table) -> Table:
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "manifest.json").write_text(json.dumps(manifest(summary["samples"])))
    (folder / "scenario.toml").write_text(SCENARIO)
    return summary


def write_run(folder: Path, samples: int = 3000, strength: float = 1.0, unsolved: int = 0) -> Table:
    """A path study; with much `strength` none fails, with little nearly all do. Returns the summary."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(5)
    mass = draw.normal(3.0, 0.8, samples).clip(0)
    coulomb = draw.uniform(0, 10, samples)
    base = anchors()[0] + draw.normal(0, 0.004, (samples, 6, 3))
    where = path()
    shape = (samples, INSTANTS)
    found = loads(
        np.broadcast_to(where["position"], (*shape, 3)),
        np.broadcast_to(where["quaternion"], (*shape, 4)),
        base[:, None],
        np.broadcast_to((10.0 + mass)[:, None], shape) / strength,
    )
    result = judged(found, coulomb)
    result["outcome"][:unsolved] = 6
    write_path(folder / "path.h5", envelope={
        "force_low": found["force"].min(axis=0), "force_high": found["force"].max(axis=0),
    })  # fmt: skip
    summary = _summary(result, where["time"])
    decided = slice(unsolved, None)
    feasible = result["outcome"][decided] == 0
    inputs = {
        "payload.mass": ("kg", "normal(3, 0.8)", mass),
        "friction.coulomb": ("N", "uniform(0, 10)", coulomb),
    }
    rows = [_input(name, *entry[:2], entry[2][decided], feasible) for name, entry in inputs.items()]
    rows.append(rows[0] | {"name": "geometry.base_error", "unit": "m", "distribution": "normal(0, 0.004)",
                           "numbers": 18, "influence": 0.0123, "bins": None})  # fmt: skip
    return _finish(
        folder,
        summary
        | {
            "kind": "path",
            "path": {"kind": "straight", "law": "quintic", "poses": 2, "instants": INSTANTS},
            "inputs": rows,
        },
    )


def _input(name: str, unit: str, distribution: str, values: np.ndarray, feasible: np.ndarray) -> Table:
    row = one_input(name, unit, distribution, values, feasible)
    bins = {key: row["bins"][old] for key, old in (("value", "value"), ("feasible", "held"), ("decided", "decided"))}
    return row | {"numbers": 1, "bins": bins}


def _summary(result: Arrays, time: np.ndarray) -> Table:
    outcome, n = result["outcome"], len(result["outcome"])
    decided = outcome[outcome != 6]
    none = np.full(n, 1e30)  # far beyond the bins: nothing is limited
    legs = []
    for leg in range(7):
        row = {key: int(((outcome == k) & (result["leg"] == leg)).sum()) for k, key in enumerate(OUTCOMES) if k}
        legs.append({"leg": leg or None} | row)
    order = np.argsort(-result["peak_force"])[:10]
    earliest = {}
    for k, key in enumerate(OUTCOMES[1:], start=1):
        which = np.flatnonzero(outcome == k)
        which = which[np.argsort(result["instant"][which], kind="stable")][:10]
        earliest[key] = [{"sample": int(i), "outcome": key, "instant": int(result["instant"][i])} for i in which]
    return {
        "schema": 1,
        "job": "platform",
        "title": TITLE,
        "seed": 5,
        "samples": n,
        "requested": n,
        "stopped_by": "samples",
        "platform": {"name": "synthetic", "gravity": GRAVITY.tolist()},
        "allowed": {"force": FORCE_LIMIT, "near_singular": NEAR, "characteristic_length": LENGTH},
        "p_feasible": interval(int((decided == 0).sum()), max(len(decided), 1)),
        "outcomes": {key: int((outcome == k).sum()) for k, key in enumerate(OUTCOMES)},
        "first_failure": {
            "legs": legs,
            "time": time.tolist(),
            "count": [int(((outcome > 0) & (result["instant"] == k)).sum()) for k in range(len(time))],
        },
        "peak_force_at": {
            "legs": [int((result["peak_leg"] == leg).sum()) for leg in range(1, 7)],
            "time": time.tolist(),
            "count": np.bincount(result["peak_instant"], minlength=len(time)).tolist(),
        },
        "metrics": {
            "peak_force": histogram(result["peak_force"], "N", 0, 300),
            "stroke_margin": histogram(result["stroke_margin"], "m", -0.1, 0.3),
            "universal_margin": histogram(0.3 - 0.001 * result["peak_force"], "rad", -0.5, 1),
            "spherical_margin": histogram(none, "rad", -0.5, 1),
            "clearance": histogram(none, "m", -0.1, 0.3),
            "sigma_min": histogram(result["sigma_min"], "1", 0, 1),
        },
        "convergence": {k: v for k, v in convergence(decided == 0).items() if k != "confidence"},
        "highest_force": [
            {"sample": int(i), "outcome": OUTCOMES[outcome[i]], "force": float(result["peak_force"][i])} for i in order
        ],
        "earliest": earliest,
        "failures_kept": int((outcome > 0).sum()),
    }


def write_map(folder: Path, points: tuple[int, int, int] = (6, 5, 4), orientations: int = 12) -> tuple[Table, Arrays]:
    """A map of the workspace; one corner has no number. Returns the summary and what map.h5 holds."""
    folder.mkdir(parents=True, exist_ok=True)
    axes = [np.linspace(*ends, n) for ends, n in zip(((-0.3, 0.3), (-0.25, 0.25), (0.4, 1.0)), points, strict=True)]
    draw = np.random.default_rng(6)
    z, y, x = np.meshgrid(axes[2], axes[1], axes[0], indexing="ij")
    position = np.repeat(np.stack([x, y, z], axis=-1).reshape(-1, 3), orientations, axis=0)
    q = np.array([1.0, 0, 0, 0]) + draw.normal(0, 0.12, (len(position), 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    found = loads(position, q, anchors()[0], np.full(len(position), 13.0))
    result = judged({key: value[:, None] for key, value in found.items()}, np.zeros(len(position)))
    result["outcome"][:orientations] = 6
    rows = {
        "feasible_share": (result["outcome"] == 0).reshape(-1, orientations).mean(axis=1),
        "sigma_min": result["sigma_min"].reshape(-1, orientations).min(axis=1),
        "worst_force": result["peak_force"].reshape(-1, orientations).max(axis=1),
    }
    always = rows["feasible_share"] == 1
    nodes = {
        "always": int(always.sum()),
        "never": int((rows["feasible_share"] == 0).sum()) - 1,
        "sigma_min_where_always": float(rows["sigma_min"][always].min()),
        "worst_force_where_always": float(rows["worst_force"][always].max()),
    }
    for values in rows.values():
        values[0] = math.nan
    data = {key: value.reshape(z.shape) for key, value in rows.items()} | dict(zip("xyz", axes, strict=True))
    with h5py.File(folder / "map.h5", "w") as h5:
        for key, value in data.items():
            h5[key] = value
        h5.attrs.update(title=TITLE, force_limit=FORCE_LIMIT, near_singular=NEAR)
    summary = _summary(result, np.zeros(1)) | {
        "kind": "map",
        "inputs": [],
        "map": {"low": [-0.3, -0.25, 0.4], "high": [0.3, 0.25, 1.0], "points": list(points), "nodes": z.size,
                "orientations": orientations, "tilt": 0.2, "turn": 0.3},
        "nodes": nodes,
    }  # fmt: skip
    return _finish(folder, summary), data
