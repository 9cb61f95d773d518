"""Writes a run folder like that of a chain study, of a plane chain simulated here with NumPy.

Point masses at the ends of the links, revolute ("r") and prismatic ("p") joints, gravity, joint damping and a law
kp (set point - q) that compensates the gravity of the nominal masses, by RK4 with energies carried along: everything
the summary says comes from these trajectories.
"""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from synthetic_run import convergence, histogram, interval, manifest

SCENARIO = """\
schema = 1
job = "chain"
title = "Which damping makes the <arm> & tool settle in time?"
seed = 3

[robot]
model = "synthetic"

[settle]
within = "0.52 s"
"""
GRAVITY, MASS, LENGTH, ARMATURE = 9.81, 0.08, 0.15, 2e-3  # [m/s^2], [kg] and [m] per link, [kg m^2] or [kg]
UNTIL, STEPS, OUTPUTS = 0.9, 360, 181
SETTLE = {"within": 0.52, "speed": 0.05, "band": math.radians(2)}
NOMINAL = {"vary.damping": 0.2, "torque.kp": 3.0, "vary.size": 1.0}
OUTCOMES = ("settled", "late", "joint_limit", "non_finite", "step_limit", "invalid_input")
Arrays = dict[str, np.ndarray]


def write_run(
    folder: Path, joints: str = "rr", sweep: dict[str, list[float]] | None = None, samples: int = 48
) -> dict[str, Any]:
    """Fills `folder` and returns the summary; `samples` per design, `sweep` of damping, kp, or size."""
    folder.mkdir(parents=True, exist_ok=True)
    sweep = {"vary.damping": list(np.geomspace(0.05, 0.8, 7))} if sweep is None else sweep
    designs = [dict(zip(sweep, values, strict=True)) for values in itertools.product(*sweep.values())]
    mass = np.random.default_rng(5).normal(1, 0.25, samples).clip(0.2)  # the same for every design
    run = simulate(joints, _columns(designs, samples + 1), np.tile([1.0, *mass], len(designs)))
    starts = range(0, len(designs) * (samples + 1), samples + 1)
    nominal = [{key: column[i : i + 1] for key, column in run.items()} for i in starts]
    drawn = [{key: column[i + 1 : i + 1 + samples] for key, column in run.items()} for i in starts]
    studies = [_summarize(part, joints) for part in drawn]
    summary = make_summary(joints, sweep, designs, studies, samples)
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "manifest.json").write_text(json.dumps(manifest(summary["samples"])))
    (folder / "scenario.toml").write_text(SCENARIO)
    write_nominal(folder / "nominal.h5", nominal)
    return summary


def _columns(designs: list[dict[str, float]], repeat: int) -> Arrays:
    """A number per row of the simulation, `repeat` rows per design."""
    return {key: np.repeat([design.get(key, value) for design in designs], repeat) for key, value in NOMINAL.items()}


# --- the chain


def geometry(joints: str, size: np.ndarray, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions of the masses [s, j, 3], Jacobians [s, j, 3, j], accelerations that remain without qdd [s, j, 3]."""
    turns = np.array([kind == "r" for kind in joints])
    angle, rate = np.cumsum(q * turns, axis=1), np.cumsum(qd * turns, axis=1)
    length = size[:, None] * LENGTH + np.where(turns, 0, q)
    slide = np.where(turns, 0, qd)
    zero = np.zeros_like(angle)
    along = np.stack([np.sin(angle), zero, -np.cos(angle)], axis=-1)
    across = np.stack([np.cos(angle), zero, np.sin(angle)], axis=-1)
    jacobian = np.zeros((*q.shape, 3, len(joints)))
    for i in range(len(joints)):
        for k in range(i + 1):
            moved = (length[:, k : i + 1, None] * across[:, k : i + 1]).sum(axis=1)
            jacobian[:, i, :, k] = moved if turns[k] else along[:, k]
    left = 2 * (slide * rate)[..., None] * across - (length * rate**2)[..., None] * along
    return np.cumsum(length[..., None] * along, axis=1), jacobian, np.cumsum(left, axis=1)


def dynamics(joints: str, design: Arrays, mass: np.ndarray, q: np.ndarray, qd: np.ndarray) -> Arrays:
    """Accelerations, torques and energies of all samples; kp in N m/rad, a hundred times that in N/m."""
    place, jacobian, left = geometry(joints, design["vary.size"], q, qd)
    masses = MASS * mass
    stiffness = np.array([1.0 if kind == "r" else 100.0 for kind in joints])
    inertia = masses[:, None, None] * np.einsum("sixj,sixk->sjk", jacobian, jacobian) + ARMATURE * np.eye(len(joints))
    weight = np.array([0, 0, -GRAVITY])
    force = masses[:, None] * np.einsum("sixj,six->sj", jacobian, weight - left)
    hold = -MASS * np.einsum("sixj,x->sj", jacobian, weight)
    torque = hold + design["torque.kp"][:, None] * stiffness * (set_point(joints) - q)
    lost = design["vary.damping"][:, None] * stiffness**0.5 * qd
    return {
        "qdd": np.linalg.solve(inertia, (force + torque - lost)[..., None])[..., 0],
        "torque": torque,
        "dissipation": (lost * qd).sum(axis=1),
        "power": (torque * qd).sum(axis=1),
        "kinetic_energy": 0.5 * np.einsum("sj,sjk,sk->s", qd, inertia, qd),
        "potential_energy": masses * GRAVITY * place[:, :, 2].sum(axis=1),
    }


def set_point(joints: str) -> np.ndarray:
    return np.array([0.9 if kind == "r" else 0.04 for kind in joints])


def simulate(joints: str, design: Arrays, mass: np.ndarray) -> Arrays:
    """Trajectories [s, step, ...] from rest at q = 0."""
    n, h = len(joints), UNTIL / STEPS
    y = np.zeros((len(mass), 2 * n + 2))  # q, qd, dissipated, work

    def slope(y: np.ndarray) -> np.ndarray:
        now = dynamics(joints, design, mass, y[:, :n], y[:, n : 2 * n])
        return np.column_stack([y[:, n : 2 * n], now["qdd"], now["dissipation"], now["power"]])

    states = [y]
    for _ in range(STEPS):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(y)
    return _trajectories(joints, design, mass, np.stack(states, axis=1))


def _trajectories(joints: str, design: Arrays, mass: np.ndarray, y: np.ndarray) -> Arrays:
    n, shape = len(joints), y.shape[:2]
    flat, masses = y.reshape(-1, y.shape[2]), np.repeat(mass, shape[1])
    design = {key: np.repeat(column, shape[1]) for key, column in design.items()}
    now = dynamics(joints, design, masses, flat[:, :n], flat[:, n : 2 * n])
    place = geometry(joints, design["vary.size"], flat[:, :n], flat[:, n : 2 * n])[0]
    base = np.zeros((len(flat), 1, 3))
    carried = ("torque", "kinetic_energy", "potential_energy")
    out = {key: now[key].reshape(*shape, *now[key].shape[1:]) for key in carried}
    out |= {"q": y[..., :n], "qd": y[..., n : 2 * n], "dissipated": y[..., 2 * n], "work": y[..., 2 * n + 1]}
    # Base, the frame of each joint at the start of its link, the tip.
    out["points"] = np.concatenate([base, base, place], axis=1).reshape(*shape, n + 2, 3)
    energy = out["kinetic_energy"] + out["potential_energy"]
    out["balance"] = energy - energy[:, :1] + out["dissipated"] - out["work"]
    out["settling_time"] = _settling_time(out, set_point(joints))
    return out


def _settling_time(run: Arrays, place: np.ndarray) -> np.ndarray:
    """Time of the last step that is fast or away from its place; infinite where that is the last step."""
    moving = (np.abs(run["qd"]) > SETTLE["speed"]) | (np.abs(run["q"] - place) > SETTLE["band"])
    moving = moving.any(axis=2)
    last = moving.shape[1] - 1 - moving[:, ::-1].argmax(axis=1)
    return np.where(last == STEPS, np.inf, last * UNTIL / STEPS)


# --- what the program would say of it


def _summarize(run: Arrays, joints: str) -> dict[str, Any]:
    settled = run["settling_time"] <= SETTLE["within"]
    units = ["N*m" if kind == "r" else "N" for kind in joints]
    rates = ["rad/s" if kind == "r" else "m/s" for kind in joints]
    held = interval(int(settled.sum()), len(settled))
    counts = dict.fromkeys(OUTCOMES, 0) | {"settled": int(settled.sum()), "late": int((~settled).sum())}
    return {
        "samples": len(settled),
        "outcomes": counts,
        **{key: held[key] for key in ("probability", "low", "high")},
        "settling_time": settling_times(run["settling_time"]),
        "peak_torque": [peak(run["torque"][..., i], unit) for i, unit in enumerate(units)],
        "peak_speed": [peak(run["qd"][..., i], unit) for i, unit in enumerate(rates)],
        "work": _spread(run["work"][:, -1], "J"),
        "dissipated": _spread(run["dissipated"][:, -1], "J"),
        "worst_balance": float(np.abs(run["balance"]).max()),
        "times": run["settling_time"],
        "balances": np.abs(run["balance"]).max(axis=1),
    }


def settling_times(times: np.ndarray) -> dict[str, Any]:
    """Never settled counts as above; quantiles of all samples, null where they lie there."""
    table = histogram(times, "s", 0.0, UNTIL)
    never = int(np.isinf(times).sum())
    levels = {q: float(np.quantile(times, float(q), method="higher")) for q in table["quantiles"]}
    levels = {q: v if math.isfinite(v) else None for q, v in levels.items()}
    mean, sd = (None, None) if never else (table["mean"], table["sd"])
    return table | {"mean": mean, "sd": sd, "quantiles": levels, "above": never, "undefined": 0}


def peak(series: np.ndarray, unit: str) -> dict[str, Any]:
    return _spread(np.abs(series).max(axis=1), unit)


def _spread(values: np.ndarray, unit: str) -> dict[str, Any]:
    pad = 0.1 * (np.ptp(values) or 1)
    return histogram(values, unit, float(values.min() - pad), float(values.max() + pad))


def choose(studies: list[dict[str, Any]]) -> dict[str, Any] | None:
    top = max(studies, key=lambda s: s["probability"])
    if not top["probability"]:
        return None
    able = [d for d, s in enumerate(studies) if s["high"] >= top["low"]]
    torque = [max(t["quantiles"]["0.5"] for t in studies[d]["peak_torque"]) for d in able]
    return {"design": able[int(np.argmin(torque))], "why": "smallest median peak torque of those not told apart"}


def make_summary(
    joints: str, sweep: dict[str, list[float]], designs: list[dict], studies: list[dict], samples: int
) -> dict[str, Any]:
    count, best = len(designs), choose(studies)
    shown = best["design"] if best else 0
    times = studies[shown]["times"]
    balances = [(b, s * count + d, d) for d, study in enumerate(studies) for s, b in enumerate(study["balances"])]
    units = {"vary.damping": "N*m*s/rad", "torque.kp": "N*m/rad", "vary.size": ""}
    return {
        "schema": 1,
        "job": "chain",
        "title": "Which damping makes the <arm> & tool settle in time?",
        "seed": 3,
        "samples": samples * count,
        "requested": samples * count,
        "stopped_by": "samples",
        "robot": {
            "name": "synthetic",
            "joints": len(joints),
            "joint_names": [f"joint {i + 1}" for i in range(len(joints))],
            "units": ["rad" if kind == "r" else "m" for kind in joints],
            "torque_units": ["N*m" if kind == "r" else "N" for kind in joints],
        },
        "settle": SETTLE | {"at": set_point(joints).tolist()},
        "method": {"integrator": "rk4", "step": UNTIL / STEPS, "until": UNTIL, "torque": "pd", "limits": "ignore"},
        "sweep": [
            {"key": key, "unit": units[key], "values": list(map(float, values)), "scale": "log"}
            for key, values in sweep.items()
        ],
        "outcomes": {key: sum(study["outcomes"][key] for study in studies) for key in OUTCOMES},
        "designs": [
            {"values": list(map(float, design.values()))}
            | {key: value for key, value in study.items() if key not in ("times", "balances")}
            for design, study in zip(designs, studies, strict=True)
        ],
        "best": best,
        "inputs": [{"name": "mass", "unit": "1", "distribution": "normal(1, 0.25)"}],
        "convergence": {
            key: value for key, value in convergence(times <= SETTLE["within"]).items() if key != "confidence"
        },
        "worst": [
            {"sample": int(s), "design": d, "balance": float(b)} for b, s, d in sorted(balances, reverse=True)[:10]
        ],
        "slowest": [
            {"sample": int(s * count + shown), "design": shown, "settling_time": _finite(times[s])}
            for s in np.argsort(-times, kind="stable")[:10]
        ],
        "failures_kept": sum(study["outcomes"]["late"] for study in studies),
    }


def _finite(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None


def write_nominal(path: Path, runs: list[Arrays]) -> None:
    every = STEPS // (OUTPUTS - 1)
    keys = ("q", "qd", "torque", "points", "kinetic_energy", "potential_energy", "dissipated", "work", "balance")
    with h5py.File(path, "w") as file:
        file["times"] = np.linspace(0, UNTIL, OUTPUTS)
        for key in keys:
            file[key] = np.concatenate([run[key][:, ::every] for run in runs])
        file["tip"] = file["points"][:, :, -1]
        file["settling_time"] = np.concatenate([run["settling_time"] for run in runs])
        file["status"] = np.zeros(len(runs), dtype=np.uint8)
        file["status"].attrs["names"] = ["completed", "non_finite", "step_limit", "joint_limit", "invalid_input"]
        file["design"] = np.arange(len(runs), dtype=np.int32)
