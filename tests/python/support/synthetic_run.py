"""Writes a run folder like that of `garra run`, from a model simple enough to be drawn here with NumPy.

Each contact carries a normal force and a tangential force; it sticks while |c_T| <= mu c_n. `strength` moves the study
between nearly always failing and never failing.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np

SCENARIO = """\
schema = 1
job = "grasp"
title = "Synthetic <hand> & sphere"
seed = 7

[hand]
model = "three_puma"

[object]
shape = "sphere"
radius = "50 mm"
mass = { normal = ["0.50 kg", "0.02 kg"], min = "0.3 kg" }

[contacts]
friction = { normal = [0.4, 0.08] }

[load]
squeeze = "15 N"
"""
QUANTILES = ("0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99")


def write_run(folder: Path, contacts: int = 3, samples: int = 20_000, strength: float = 1.0) -> dict[str, Any]:
    """Fills `folder` and returns the summary."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = make_summary(contacts, samples, strength)
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "manifest.json").write_text(json.dumps(manifest(samples)))
    (folder / "scenario.toml").write_text(SCENARIO)
    return summary


def write_pictures(file: Path, samples: list[int], nominal: bool = True) -> None:
    """grasp.h5 as `garra run` writes it: three straight fingers on a sphere, the third of sample k out of reach for odd k.
    The last sample's first contact is about to slip: its force lies on the rim of its cone."""
    angle = np.deg2rad([-60.0, 60.0, 180.0])
    out = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    with h5py.File(file, "w") as h5:
        h5.attrs.update(shape="sphere", radius=0.05, height=0.2, size=[0.1, 0.1, 0.1], contacts=3, joints=[2.0, 2.0, 2.0])
        for name in [*(["nominal"] if nominal else []), *(f"sample_{k}" for k in samples)]:
            k = 0 if name == "nominal" else int(name.removeprefix("sample_"))
            group = h5.create_group(name)
            position, mu = np.array([0.001 * (k % 7), 0, 0.3]), np.array([0.4, 0.5, 0.6])
            squeeze, across = np.array([10.0, 12.0, 14.0]), np.array([4.0, 1.0, 0.0])
            group.attrs.update(
                outcome="held" if k % 2 == 0 else "unreachable", title=name.replace("_", " "), friction=math.nan,
                mu=mu, scale=1.1, end_time=0.0, slip_time=math.inf, drop_time=math.inf,
            )  # fmt: skip
            up = np.array([0, 0, 1.0])
            group["time"] = [0.0]
            group["position"], group["quaternion"] = position[None], [[1.0, 0, 0, 0]]
            group["load"], group["gravity"] = [[1.0, 0, 0, 0, 0, 0]], [[0, 0, -9.81]]
            group["normal"] = -out[None]
            group["force"] = np.stack([squeeze, 0 * across, across], axis=1)[None]
            group["force_palm"] = (across[:, None] * up - squeeze[:, None] * out)[None]
            group["state"] = [[0, 0, 0]]
            for key in ("slip_speed", "kinetic", "balance"):
                group[key] = np.full((1, 3) if key == "slip_speed" else (1,), math.nan)
            for j in range(3):
                tip = position + 0.055 * out[j]
                links = np.linspace(0, 1, 4)[:, None] * (tip - 4 * out[j] * 0.05) + 0.2 * out[j]
                links[-1] = tip
                group[f"finger_{j + 1}/links"] = np.full((1, 4, 3), math.nan) if j == 2 and k % 2 else links[None]


def manifest(samples: int) -> dict[str, Any]:
    return {
        "garra": "0.1.0",
        "command": f"garra run synthetic.toml --samples {samples}",
        "scenario": "synthetic.toml",
        "scenario_sha": "crc32:0badcafe",
        "device": "test machine, 2 threads x 8 lanes",
        "started": "2026-01-01T00:00:00Z",
        "seconds": 0.41,
        "samples_per_second": 244000.4,
        "chunks": 2,
        "compiler": "GNU 12.2",
        "resumed": 0,
    }


def make_summary(contacts: int, samples: int, strength: float) -> dict[str, Any]:
    draw = np.random.default_rng(11)
    mu = draw.normal(0.4, 0.08, (samples, contacts)).clip(0.1)
    mass = draw.normal(0.5, 0.02, samples)
    squeeze = draw.normal(15, 1.2, (samples, contacts))
    load = 3.3 / strength * mass[:, None, None] / 0.5 + draw.normal(0, 0.9 / strength, (samples, contacts, 2))
    load[:, :, 1] -= 3.0 / strength
    ratio = np.linalg.norm(load, axis=2) / squeeze
    place = load / (mu * squeeze)[..., None]
    margin = (1 - ratio / mu).min(axis=1)
    held = margin > 0
    state = np.where(ratio <= mu, 0, np.where(ratio < 1.45 * mu, 1, 2))
    separating = ~held & (state == 2).any(axis=1)
    weakest = (1 - ratio / mu).argmin(axis=1)
    inputs = {"mass": ("kg", "normal(0.5, 0.02)", mass)}
    for j in range(contacts):
        inputs[f"contact {j + 1} friction"] = ("1", "normal(0.4, 0.08)", mu[:, j])
        inputs[f"contact {j + 1} squeeze error"] = ("N", "normal(0, 1.2)", squeeze[:, j] - 15)
        inputs[f"contact {j + 1} tilt"] = ("rad", "cone_uniform(0.0524)", draw.uniform(0, 0.05, samples))
    residual = -18 + 7 * draw.beta(2, 3, samples)
    steps = draw.poisson(1.7, samples).clip(0, 30)
    return {
        "schema": 1,
        "job": "grasp",
        "title": "Synthetic <hand> & sphere",
        "seed": 7,
        "samples": samples,
        "requested": samples,
        "stopped_by": "samples",
        "held": interval(int(held.sum()), samples),
        "outcomes": outcomes(held, separating),
        "contacts": [
            contact(j, state[:, j], np.sum(~held & (weakest == j)), squeeze[:, j], place[:, j]) for j in range(contacts)
        ],
        "metrics": {
            "friction_margin": histogram(margin, "1", -1, 1),
            "critical_friction": histogram(ratio.max(axis=1), "1", 0, 2),
            "load_factor": histogram((mu / ratio).min(axis=1).clip(1) - 1, "1", 0, 20),
            "wrench_radius": histogram((margin * 5).clip(0), "N", 0, 20),
            "minimum_squeeze": histogram(np.where(held, 15 * (ratio / mu).max(axis=1), np.inf), "N", 0, 40),
        },
        "held_against_friction": against_friction(ratio.max(axis=1)),
        "inputs": [one_input(name, *entry, held) for name, entry in inputs.items()],
        "solver": {
            "method": "auto",
            "tol": 1e-9,
            "worst_residual": 10 ** float(residual.max()),
            "residual_log10": {"low": -18, "high": -6, "counts": counts(residual, -18, -6, 48)},
            "iterations": {"counts": np.bincount(steps, minlength=31).tolist()},
            "mean_iterations": float(steps.mean()),
        },
        "convergence": convergence(held),
        "closest": [
            {"sample": int(i), "outcome": "held" if held[i] else "slipping", "margin": float(margin[i])}
            for i in np.argsort(np.abs(margin))[:10]
        ],
        "worst": [
            {"sample": int(i), "outcome": "held" if held[i] else "slipping", "residual": 10 ** float(residual[i])}
            for i in np.argsort(-residual)[:10]
        ],
        "failures_kept": int((~held).sum()),
    }


def wilson(successes: int, trials: int) -> tuple[float, float]:
    z, p = 1.959963984540054, successes / trials
    center = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials**2)) / (1 + z * z / trials)
    return max(center - half, 0.0), min(center + half, 1.0)


def interval(successes: int, trials: int) -> dict[str, float]:
    low, high = wilson(successes, trials)
    p = successes / trials
    return {"probability": p, "low": min(low, p), "high": max(high, p), "confidence": 0.95}


def outcomes(held: np.ndarray, separating: np.ndarray) -> dict[str, int]:
    rest = int((~held & ~separating).sum())
    zeros = {"no_solution": 0, "several_solutions": 0, "unreachable": 0, "unsolved": 0}
    return {"held": int(held.sum()), "slipping": rest, "separating": int(separating.sum()), **zeros}


def counts(values: np.ndarray, low: float, high: float, bins: int) -> list[int]:
    return np.histogram(values[np.isfinite(values)], bins, (low, high))[0].tolist()


def histogram(values: np.ndarray, unit: str, low: float, high: float) -> dict[str, Any]:
    finite = values[np.isfinite(values)]
    quantiles = np.quantile(finite, [float(q) for q in QUANTILES]) if len(finite) else [math.nan] * len(QUANTILES)
    return {
        "unit": unit,
        "mean": float(finite.mean()) if len(finite) else None,
        "sd": float(finite.std()) if len(finite) else None,
        "quantiles": {q: (None if math.isnan(v) else float(v)) for q, v in zip(QUANTILES, quantiles, strict=True)},
        "low": low,
        "high": high,
        "counts": counts(values, low, high, 200),
        "below": int((finite < low).sum()),
        "above": int((finite > high).sum()),
        "undefined": int(len(values) - len(finite)),
    }


def contact(j: int, state: np.ndarray, first: int, force: np.ndarray, place: np.ndarray) -> dict[str, Any]:
    cone = np.histogram2d(place[:, 1], place[:, 0], 48, [(-1.2, 1.2)] * 2)[0]
    stick, slip, breaks = (int((state == s).sum()) for s in range(3))
    return {
        "name": f"contact {j + 1}",
        "stick": stick,
        "slip": slip,
        "break": breaks,
        "fails_first": int(first),
        "normal_force": histogram(force, "N", 0, 40),
        "cone": {"bins": 48, "extent": 1.2, "counts": cone.astype(int).tolist()},
    }


def against_friction(critical: np.ndarray) -> dict[str, list[float]]:
    grid = np.linspace(0, 1, 51)
    rows = [interval(int((critical <= f).sum()), len(critical)) for f in grid]
    return {"friction": grid.tolist(), **{key: [row[key] for row in rows] for key in ("probability", "low", "high")}}


def one_input(name: str, unit: str, distribution: str, values: np.ndarray, held: np.ndarray) -> dict[str, Any]:
    groups = np.array_split(np.argsort(values), 20)
    share = np.array([held[g].mean() if len(g) else 0 for g in groups])
    variance = held.var()
    return {
        "name": name,
        "unit": unit,
        "distribution": distribution,
        "influence": float(share.var() / variance - 19 / len(held)) if variance else 0.0,
        "noise": 2 * math.sqrt(2 * 19) / len(held),
        "bins": {
            "value": [float(np.median(values[g])) if len(g) else None for g in groups],
            "held": [int(held[g].sum()) for g in groups],
            "decided": [len(g) for g in groups],
        },
    }


def convergence(held: np.ndarray) -> dict[str, list[float]]:
    steps = sorted({min(int(x), len(held)) for x in np.geomspace(1, len(held), 40)} | {len(held)})
    rows = [interval(int(held[:n].sum()), n) for n in steps]
    return {"samples": steps, **{key: [row[key] for row in rows] for key in ("probability", "low", "high")}}
