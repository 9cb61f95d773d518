"""Writes run folders like those of `garra run` for grasps in time: a sphere shaken by three fingers, with NumPy alone.

The tangential load of a contact is what the shaken weight asks for; what friction cannot give lets the contact slide,
and the sphere sinks with the mean of its contacts until it counts as dropped.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from synthetic_run import histogram, interval, manifest, one_input

TITLE = "Shaken <b>sphere & hand"
CONTACTS, FINGERS, JOINTS = 3, 3, 6
INSTANTS = 51
UNTIL = 2.0
STEP = 0.002
SLIP = 1e-3
DROP = 0.05
RADIUS = 0.1
CENTER = np.array([0.0, 0.0, 0.3])
FRICTION = (0.15, 0.2, 0.25, 0.3, 0.35, 0.45)
CURVE = ("probability", "low", "high")
OUTCOMES = ("held", "slipped", "dropped", "turned", "joint_limit", "unreachable", "unsolved", "non_finite")
HELD, SLIPPED, DROPPED, UNSOLVED = 0, 1, 2, 6
SCENARIO = """\
schema = 1
job = "grasp"
title = "Shaken <b>sphere & hand"
seed = 7

[hand]
model = "three_puma"

[object]
shape = "sphere"
radius = "100 mm"

[contacts]
friction = { normal = [0.4, 0.03] }

[load]
squeeze = "15 N"

[time]
until = "2 s"
friction = [0.15, 0.2, 0.25, 0.3, 0.35, 0.45]
"""
Table = dict[str, Any]
Arrays = dict[str, np.ndarray]
Friction = tuple[float | None, ...]


def trajectories(samples: int, friction: np.ndarray, seed: int = 3) -> Arrays:
    """Samples [n], contacts [n,3], over time [n,t] and [n,t,3]."""
    draw = np.random.default_rng(seed)
    time = np.linspace(0, UNTIL, INSTANTS)
    mu = friction[:, None] + draw.normal(0, 0.02, (samples, CONTACTS))
    mass = draw.normal(1, 0.08, samples)
    squeeze = 15 + draw.normal(0, 0.8, (samples, CONTACTS))
    tones, phase = np.array([2.0, 3.1, 5.3]), draw.uniform(0, 2 * math.pi, (samples, 3))
    shake = 3.0 * np.sin(2 * math.pi * tones * time[None, :, None] + phase[:, None, :]).sum(axis=2)
    normal = squeeze[:, None, :] * (1 + 0.02 * shake[:, :, None])
    wanted = np.abs(mass[:, None] * (9.81 + shake) / CONTACTS)[:, :, None]
    free = np.maximum(wanted - mu[:, None, :] * normal, 0)
    speed = 0.12 * free / (mass[:, None, None] + free)
    path = np.concatenate([np.zeros((samples, 1, CONTACTS)), np.cumsum(speed[:, 1:] * time[1], axis=1)], axis=1)
    drift = path.mean(axis=2) + 2e-4 * np.abs(shake)
    lost = drift > DROP
    end = np.where(lost.any(axis=1), lost.argmax(axis=1), INSTANTS - 1)
    gone = np.arange(INSTANTS)[None, :] > end[:, None]
    slid = path.max(axis=2) > SLIP
    slipped = (slid & ~gone).any(axis=1)
    return {
        "time": time,
        "mu": mu,
        "mass": mass,
        "squeeze": squeeze,
        "shake": shake,
        "normal": normal,
        "tangential": np.minimum(wanted, mu[:, None, :] * normal),
        "path": path,
        "speed": speed,
        "drift": drift,
        "turn": path.std(axis=2) / RADIUS,
        "margin": np.clip(1 - wanted / (mu[:, None, :] * normal), 0, 1).min(axis=2),
        "gone": gone,
        "end": end,
        "slip_at": np.where(slipped, slid.argmax(axis=1), INSTANTS),
        "first": path.argmax(axis=2)[np.arange(samples), np.minimum(slid.argmax(axis=1), INSTANTS - 1)],
        "outcome": np.where(lost.any(axis=1), DROPPED, np.where(slipped, SLIPPED, HELD)),
    }


def worst_of(found: Arrays, key: str, pick: Any) -> np.ndarray:
    """The largest or smallest value of each sample until it ended."""
    fill = -np.inf if pick is np.max else np.inf
    values = found[key] if found[key].ndim == 2 else pick(found[key], axis=2)
    return pick(np.where(found["gone"], fill, values), axis=1)


def bands(values: np.ndarray, gone: np.ndarray, unit: str) -> Table:
    kept = np.where(gone, np.nan, values)
    rows = [
        [None] * 5 if np.isnan(column).all() else np.nanquantile(column, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist()
        for column in kept.T
    ]
    return {"unit": unit, **{q: [row[k] for row in rows] for k, q in enumerate(("q05", "q25", "q50", "q75", "q95"))}}


def curve(at: np.ndarray) -> Table:
    rows = [interval(int((at > i).sum()), len(at)) for i in range(INSTANTS)]
    return {key: [row[key] for row in rows] for key in CURVE}


def level(found: Arrays, friction: float | None, rows: np.ndarray) -> Table:
    one = {key: value[rows] if key != "time" else value for key, value in found.items()}
    outcome, n = one["outcome"], len(rows)
    decided = outcome != UNSOLVED
    drop_at = np.where(outcome == DROPPED, one["end"], INSTANTS)
    return {
        "friction": friction,
        "samples": n,
        "outcomes": {name: int((outcome == k).sum()) for k, name in enumerate(OUTCOMES)},
        "held": interval(int(np.isin(outcome, (HELD, SLIPPED)).sum()), int(decided.sum())),
        "no_slip": interval(int((outcome == HELD).sum()), int(decided.sum())),
        "survival": {
            "time": one["time"].tolist(),
            "drop": curve(drop_at[decided]),
            "slip": curve(one["slip_at"][decided]),
        },
        "slip_path": histogram(worst_of(one, "path", np.max), "m", 0, 0.1),
        "peak_drift": histogram(worst_of(one, "drift", np.max), "m", 0, 2 * DROP),
        "peak_turn": histogram(worst_of(one, "turn", np.max), "rad", 0, 0.5),
        "peak_force": histogram(worst_of(one, "normal", np.max), "N", 0, 60),
        "peak_torque": None,
        "least_margin": histogram(worst_of(one, "margin", np.min), "1", 0, 1),
        "bands": {
            "time": one["time"].tolist(),
            "alive": (~one["gone"]).sum(axis=0).tolist(),
            "drift": bands(one["drift"], one["gone"], "m"),
            "turn": bands(one["turn"], one["gone"], "rad"),
            "margin": bands(one["margin"], one["gone"], "1"),
            "slip": bands(one["path"].max(axis=2), one["gone"], "m"),
            "force": bands(one["normal"].max(axis=2), one["gone"], "N"),
        },
    }


def sample_row(found: Arrays, i: int, friction: Friction) -> Table:
    return {
        "sample": int(i),
        "level": int(i) % len(friction),
        "friction": friction[int(i) % len(friction)],
        "outcome": OUTCOMES[found["outcome"][i]],
        "end_time": float(found["time"][found["end"][i]]),
        "peak_drift": float(worst_of(found, "drift", np.max)[i]),
        "slip": float(worst_of(found, "path", np.max)[i]),
    }


def make_summary(samples: int, friction: Friction, unsolved: int) -> tuple[Table, Arrays]:
    of_sample = np.arange(samples) % len(friction)
    found = trajectories(samples, np.array([f or 0.4 for f in friction])[of_sample])
    found["outcome"][:unsolved] = UNSOLVED
    levels = [level(found, f, np.flatnonzero(of_sample == k)) for k, f in enumerate(friction)]
    outcome = found["outcome"]
    decided = outcome != UNSOLVED
    kept = np.isin(outcome, (HELD, SLIPPED))
    loss = np.where(outcome == DROPPED, found["end"], INSTANTS)
    drift = worst_of(found, "drift", np.max)
    first = np.bincount(found["first"][found["slip_at"] < INSTANTS], minlength=CONTACTS)
    inputs = {"object.mass": ("kg", "normal(1, 0.08)", found["mass"])}
    for j in range(CONTACTS):
        inputs[f"contact {j + 1} friction"] = ("1", "normal(0.4, 0.02)", found["mu"][:, j])
        inputs[f"contact {j + 1} squeeze error"] = ("N", "normal(0, 0.8)", found["squeeze"][:, j] - 15)
    steps = sorted({min(int(x), samples) for x in np.geomspace(1, samples, 30)})
    so_far = [interval(int((kept & decided)[:n].sum()), n) for n in steps]
    of_contact = [
        {
            "name": f"contact {j + 1}",
            "slipped_first": int(first[j]),
            "slip_path": histogram(found["path"][:, -1, j], "m", 0, 0.1),
            "peak_force": histogram(found["normal"][:, :, j].max(axis=1), "N", 0, 60),
        }
        for j in range(CONTACTS)
    ]
    summary = {
        "schema": 1,
        "job": "grasp",
        "study": "time",
        "title": TITLE,
        "seed": 7,
        "samples": samples,
        "requested": samples,
        "stopped_by": "samples",
        "time": {
            "until": UNTIL,
            "step": STEP,
            "scheme": "moreau_jean",
            "slip": SLIP,
            "drop": DROP,
            "drop_turn": math.pi / 4,
            "drive": "controller",
            "instants": INSTANTS,
            "restitution": 0.0,
        },
        "held": interval(int((kept & decided).sum()), int(decided.sum())),
        "outcomes": {name: int((outcome == k).sum()) for k, name in enumerate(OUTCOMES)},
        "levels": levels,
        "contacts": of_contact,
        "inputs": [one_input(name, *entry, kept) for name, entry in inputs.items()],
        "audit": {
            "energy_balance": 2.1e-4,
            "momentum_balance": 3e-13,
            "worst_gap": 4.2e-7,
            "worst_cone": 1.7e-11,
            "worst_residual": 8.4e-10,
            "unstable_share": None,
            "worst_ratio": None,
        },
        "solver": {"method": "auto", "tol": 1e-9, "mean_iterations": 1.31, "steps": samples * int(UNTIL / STEP)},
        "convergence": {"samples": steps, **{key: [row[key] for row in so_far] for key in CURVE}},
        "failures_kept": int((~kept).sum()),
        "worst": [sample_row(found, i, friction) for i in np.lexsort((-drift, loss))[:10]],
        "closest": [sample_row(found, i, friction) for i in np.flatnonzero(kept)[np.argsort(-drift[kept])][:10]],
    }
    return summary, found


# --- motion.h5


def fingers(tips: np.ndarray) -> np.ndarray:
    """Links [t,joints+2,3] of a finger from a base outside of its first tip, bulging upwards: nobody’s kinematics."""
    out = tips[0] - CENTER
    out[2] = 0
    base = CENTER + 5.5 * out + np.array([0, 0, -0.3])
    share = np.linspace(0, 1, JOINTS + 2)[None, :, None]
    bulge = np.array([0, 0, 0.25]) * np.sin(math.pi * share)
    return base + share * (tips[:, None, :] - base) + bulge


def motion(found: Arrays, i: int) -> Table:
    """One sample at its instants, NaN after it stopped."""
    n = len(found["time"])
    angle = np.deg2rad([-60, 60, 180])
    out = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    down, spin = np.array([0, 0, -1.0]), 0.5 + 4 * found["path"][i].mean(axis=1) + 0.2 * found["turn"][i]
    position = CENTER + found["drift"][i][:, None] * down
    quaternion = np.stack([np.cos(spin / 2), np.sin(spin / 2), 0 * spin, 0 * spin], axis=1)
    tips = CENTER + RADIUS * out + (position - CENTER)[:, None, :] * 0.2
    c = found["normal"][i]
    t = found["tangential"][i]
    force = np.stack([c, 0 * c, t], axis=2)
    palm = -c[:, :, None] * out + t[:, :, None] * np.array([0, 0, 1.0])
    state = np.where(found["speed"][i] > 0, 1, 0)
    rows = {
        "position": position,
        "quaternion": quaternion,
        "velocity": np.gradient(position, found["time"], axis=0),
        "spin": np.zeros((n, 3)),
        "load": np.zeros((n, 6)),
        "gravity": np.stack([0.3 * found["shake"][i], 0 * found["shake"][i], -9.81 - found["shake"][i]], axis=1),
        "gap": np.zeros((n, CONTACTS)),
        "normal": np.broadcast_to(-out, (n, CONTACTS, 3)).copy(),
        "force": force,
        "force_palm": palm,
        "slip_speed": found["speed"][i],
        "kinetic": 0.5 * found["speed"][i].mean(axis=1) ** 2,
        "balance": 1e-5 * np.sin(found["time"]),
    }
    for values in rows.values():
        values[found["gone"][i]] = np.nan
    links = [fingers(tips[:, j]) for j in range(FINGERS)]
    return rows | {"time": found["time"], "state": state, "links": links}


def write_motion(file: Path, found: Arrays, kept: list[Table], without: str = "") -> None:
    """The nominal trajectory, one that never began, and those of `found` that rows `kept` of the summary name."""
    nominal = trajectories(1, np.array([0.3]))
    of_group = {"nominal": (nominal, 0, 0.3)}
    of_group |= {f"sample_{row['sample']}": (found, row["sample"], row["friction"]) for row in kept}
    with h5py.File(file, "w") as h5:
        never = h5.create_group("sample_1000000")
        never["time"] = np.zeros(0)
        never.attrs.update(outcome="unreachable", title="never began")
        h5.attrs.update(shape="sphere", radius=RADIUS, height=0.2, size=[0.1, 0.1, 0.1], contacts=CONTACTS)
        h5.attrs["joints"] = [JOINTS] * FINGERS
        for name, (source, i, friction) in of_group.items():
            group = h5.create_group(name)
            end, slip_at, outcome = (int(source[key][i]) for key in ("end", "slip_at", "outcome"))
            group.attrs.update(
                outcome=OUTCOMES[outcome],
                friction=math.nan if friction is None else friction,
                end_time=source["time"][end],
                slip_time=source["time"][slip_at] if slip_at < INSTANTS else math.inf,
                drop_time=source["time"][end] if outcome == DROPPED else math.inf,
                title=name.replace("_", " "),
            )
            if name != "nominal":
                group.attrs["mu"] = source["mu"][i]
            for key, values in motion(source, i).items():
                for j in range(FINGERS if key == "links" else 0):
                    group[f"finger_{j + 1}/links"] = values[j]
                if key not in ("links", without):
                    group[key] = values


def write_run(
    folder: Path, samples: int = 3000, friction: Friction = FRICTION, unsolved: int = 0, moves: bool = True
) -> Table:
    """Fills `folder` and returns the summary; without motion.h5 if asked."""
    folder.mkdir(parents=True, exist_ok=True)
    summary, found = make_summary(samples, friction, unsolved)
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "manifest.json").write_text(json.dumps(manifest(samples)))
    (folder / "scenario.toml").write_text(SCENARIO)
    if moves:
        kept = {row["sample"]: row for row in [*summary["worst"][:3], *summary["closest"][:1]]}
        write_motion(folder / "motion.h5", found, list(kept.values()))
    return summary
