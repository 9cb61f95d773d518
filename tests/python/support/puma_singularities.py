"""An arm whose singular configurations have a closed form, with NumPy alone, and a map of it by the program.

PUMA 560: det J = -a2 (a3 s3 + d4 c3) (a2 c2 + a3 c23 - d4 s23) s5, the elbow, the shoulder and the wrist.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from runs import Runs

SCENARIO = """\
schema = 1
job = "singularity"
title = "Where does the <PUMA> & its wrist lock?"
seed = 5

[robot]
model = "puma560"

[measure]
near = 0.05

[[slice]]
x = { joint = "elbow", from = "-180 deg", to = "180 deg" }
y = { joint = "wrist 2", from = "-180 deg", to = "180 deg" }
q = ["0 rad", "0.3 rad", "0 rad", "0.7 rad", "0 rad", "0 rad"]
points = 61

[sampling]
samples = 12_000

[output]
voxels = 20
"""
NAMES = ["waist", "shoulder", "elbow", "wrist 1", "wrist 2", "wrist 3"]
A2, A3, D1, D3, D4 = 0.4318, 0.0203, 0.672, 0.15005, 0.4318  # [m]
DH = ((D1, 0, 90), (0, A2, 0), (D3, A3, -90), (D4, 0, 90), (0, 0, -90), (0, 0, 0))  # d, a, alpha
LIMITS = np.radians([(-160, 160), (-45, 225), (-225, 45), (-110, 170), (-100, 100), (-266, 266)])
NEAR = 0.05
BLAME = {"wrist": (3, 5), "elbow": (1, 2, 3, 4, 5), "shoulder": (0, 1, 3, 4, 5)}  # joints from 0
Array = np.ndarray


def write_map(runs: Runs, folder: Path, *flags: object) -> dict[str, Any]:
    """A map by the program, put into `folder`; its summary."""

    def write(here: Path) -> Path:
        file = here / "map.toml"
        file.write_text(SCENARIO)
        return file

    return runs.copy(folder, "puma_lock", *flags, write=write)


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
