"""The picture of an arm in a configuration: joint axes and their common normals, lost wrenches, the escape motion.

All of it follows from the screws, so a robot and a given set of screws have the same picture.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from garra.turns import turn_matrix

STEPS = 24  # poses of the escape motion
TURN = 0.6  # its last pose: each joint of the escape set by so much [rad, or of the arm's size]
FLAT = 1e-9  # directions whose sine is below are parallel

Table = dict[str, Any]


def scene(entry: Table) -> Table:
    """Data of the page's script: poses of the arm from the configuration to the end of the escape motion, in meters."""
    screws = np.array(entry["screws"], dtype=float)
    analysis = entry["analysis"]
    start = _feet(screws)
    size = float(np.linalg.norm(np.ptp(start.reshape(-1, 3), axis=0))) or 1.0
    ways = [way for way in analysis["escape"] if way["order"]]
    joints = ways[0]["joints"] if ways else []
    rate = np.zeros(len(screws))
    for k, share, sign in zip(joints, *((ways[0]["direction"], ways[0]["sign"]) if ways else ((), ())), strict=True):
        rate[k] = (sign or 1) * share * TURN * (1.0 if _turns(screws[k]) else size)
    steps = range(STEPS + 1) if ways else range(1)
    poses = [moved(screws, rate * step / STEPS) for step in steps]
    return {
        "size": size,
        "kinds": [kind(s, size) for s in screws],
        "dependent": analysis["dependent_joints"],
        "escape": {"joints": joints, "turn": TURN},
        "poses": [_pose(pose) for pose in poses],
        "wrenches": [_wrench(np.array(w, dtype=float), start) for w in analysis["lost_wrenches"]],
    }


def kind(screw: np.ndarray, size: float = 1.0) -> str:
    """Kind of the joint of a screw: "prismatic", "revolute" or "helical"."""
    if not _turns(screw):
        return "prismatic"
    return "helical" if abs(_pitch(screw)) > 1e-6 * size else "revolute"


def moved(screws: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The screws after joint motions q: each joint moves all behind it, about its axis of before."""
    out = screws.copy()
    for j in reversed(range(len(screws))):
        if q[j] != 0:
            rotation, shift = _exponential(q[j] * screws[j])
            for k in range(j + 1, len(screws)):
                w = rotation @ out[k, :3]
                out[k] = np.concatenate([w, rotation @ out[k, 3:] + np.cross(shift, w)])
    return out


def _exponential(screw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and shift of a finite motion along a screw (direction; moment)."""
    w, v = screw[:3], screw[3:]
    angle = float(np.linalg.norm(w))
    if angle < FLAT:
        return np.eye(3), v
    rotation = turn_matrix(w)
    return rotation, (np.eye(3) - rotation) @ np.cross(w, v) / angle**2 + w * (w @ v) / angle**2


def _turns(screw: np.ndarray) -> bool:
    return bool(np.linalg.norm(screw[:3]) > FLAT)


def _pitch(screw: np.ndarray) -> float:
    return float(screw[:3] @ screw[3:] / (screw[:3] @ screw[:3]))


def _direction(screw: np.ndarray) -> np.ndarray:
    along = screw[:3] if _turns(screw) else screw[3:]
    return along / np.linalg.norm(along)


def _feet(screws: np.ndarray) -> np.ndarray:
    """[n,2,3] where the arm meets each axis and where it leaves it: the feet of the common normals."""
    feet, here = [], np.zeros(3)
    for k, screw in enumerate(screws):
        u = _direction(screw)
        # A slide has no place: its axis goes through where the arm is.
        point = np.cross(screw[:3], screw[3:]) / (screw[:3] @ screw[:3]) if _turns(screw) else here
        if k == 0:
            enter = point + (here - point) @ u * u
        else:
            last, before = feet[-1][1], _direction(screws[k - 1])
            normal = np.cross(before, u)
            if np.linalg.norm(normal) < FLAT:  # parallel: from where the arm is
                enter = point + (last - point) @ u * u
            else:
                s, t = np.linalg.lstsq(np.column_stack([before, -u]), point - last, rcond=None)[0]
                feet[-1][1], enter = last + s * before, point + t * u
        feet.append([enter, enter])
        here = enter
    return np.array(feet)


def _pose(screws: np.ndarray) -> Table:
    feet = _feet(screws)
    return {
        "axes": [[*_rounded(f.mean(axis=0)), *_rounded(_direction(s))] for f, s in zip(feet, screws, strict=True)],
        "arm": [_rounded(p) for pair in feet for p in pair],
    }


def _wrench(wrench: np.ndarray, feet: np.ndarray) -> Table:
    """A line of action, or a couple at the arm's middle. Input: (force; moment about the origin)."""
    force, moment = wrench[:3], wrench[3:]
    middle = feet.reshape(-1, 3).mean(axis=0)
    if np.linalg.norm(force) < 1e-9 * np.linalg.norm(moment):
        return {"couple": True, "point": _rounded(middle), "along": _rounded(moment / np.linalg.norm(moment))}
    u = force / np.linalg.norm(force)
    point = np.cross(force, moment) / (force @ force)
    return {"couple": False, "point": _rounded(point + (middle - point) @ u * u), "along": _rounded(u)}


def _rounded(v: np.ndarray) -> list[float]:
    return [round(float(x), 6) + 0.0 for x in v]
