"""Names of the branches of inverse kinematics: which side of each singularity a solution is on."""

from __future__ import annotations

from typing import Any

import numpy as np

Lines = tuple[np.ndarray, np.ndarray]  # directions and points [m, 3]

_PARALLEL = 1e-9  # sine between two directions, and distance of two lines over the arm's size


def name_branches(screws: Any) -> list[str]:
    """Three letters of each configuration: shoulder r or l, elbow u or d, wrist n or f; "" for arms without them.

    Parameters
    ----------
    screws : array [m, 6, 6]
        Jacobian by screws (w; p x w), world axes [1, m].

    Returns
    -------
    list of str
    """
    w = np.moveaxis(screws[:, :3], 2, 0)  # [6, m, 3]
    axes = [(w[i], np.cross(w[i], screws[:, 3:, i])) for i in range(6)]
    size = 1 + np.abs(screws[:, 3:]).max(initial=0.0)
    center, tip = _meet(axes[3], axes[4], size), _meet(axes[4], axes[5], size)
    if np.abs(np.linalg.norm(w, axis=2) - 1).max(initial=0.0) > _PARALLEL or tip is None:
        return [""] * len(screws)
    wrist = center is not None and np.abs(center - tip).max(initial=0.0) <= _PARALLEL * size
    if not _parallel(w[1], w[2]) or not (wrist or _parallel(w[2], w[3])):
        return [""] * len(screws)
    upper = axes[2][1] - axes[1][1]
    forearm = (tip if wrist else axes[3][1]) - axes[2][1]
    # Each is 0 at one kind of singularity: the tip in the plane of axes 0 and 1, the arm straight, axes 3 and 5 aligned.
    shoulder = _dot(np.cross(w[1], w[0]), tip - axes[0][1])
    elbow = _dot(w[1], np.cross(upper, forearm))
    flip = _dot(np.cross(w[3], w[4]), w[5])
    letters = (("r", "l"), ("u", "d"), ("n", "f"))
    signs = (shoulder, elbow * np.where(shoulder < 0, -1, 1), flip)
    return ["".join(two[int(s < 0)] for two, s in zip(letters, row)) for row in np.transpose(signs)]


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("mi,mi->m", a, b)


def _parallel(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.abs(np.cross(a, b)).max(initial=0.0) <= _PARALLEL)


def _meet(a: Lines, b: Lines, size: float) -> np.ndarray | None:
    """Points [m, 3] where two lines meet; None if they do not in some row."""
    across = np.cross(a[0], b[0])
    sine2 = _dot(across, across)
    if sine2.min(initial=1.0) <= _PARALLEL:
        return None
    gap = b[1] - a[1]
    if (np.abs(_dot(gap, across)) / np.sqrt(sine2)).max(initial=0.0) > _PARALLEL * size:
        return None
    return a[1] + (_dot(np.cross(gap, b[0]), across) / sine2)[:, None] * a[0]
