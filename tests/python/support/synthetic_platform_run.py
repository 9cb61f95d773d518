"""Motions of a hexagon that climbs a wall, with NumPy alone: forces are those of statics."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np

INSTANTS = 21
ENDED = 12  # instants that the second of the simulated samples reaches
DURATION = 2.0
LENGTH = 0.4
TITLE = "climb <b>& turn"
GRAVITY = np.array([-9.81, 0.0, 0.0])  # base axes: the base hangs on a wall
STROKE = (0.60, 1.11)

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
