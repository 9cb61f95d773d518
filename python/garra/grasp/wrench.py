"""Wrenches of contact forces."""

from __future__ import annotations

import numpy as np


def wrench_matrix(arms: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Wrench matrix of contacts.

    Parameters
    ----------
    arms : array [k, 3]
        Contact points from the center of mass [m].
    frames : array [k, 3, 3]
        Contact axes n, t, o as columns.

    Returns
    -------
    array [6, 3k]
        Wrench (force; moment) of contact forces.

    Examples
    --------
    >>> from garra.grasp.wrench import wrench_matrix
    >>> wrench_matrix(np.array([[0, 0, 0.1]]), np.eye(3)[None])[:, 0].tolist()
    [1.0, 0.0, 0.0, 0.0, 0.1, 0.0]
    """
    moment = np.cross(arms[:, None, :], frames.transpose(0, 2, 1)).transpose(0, 2, 1)
    return np.concatenate(list(np.concatenate([frames, moment], axis=1)), axis=1)
