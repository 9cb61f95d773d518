"""Rotation matrices of rotation vectors."""

from __future__ import annotations

import numpy as np


def turn_matrix(v: np.ndarray) -> np.ndarray:
    """[..., 3, 3] rotations by the vectors [..., 3] (Rodrigues)."""
    angle = np.linalg.norm(v, axis=-1)[..., None, None]
    K = np.zeros((*v.shape[:-1], 3, 3))
    K[..., 0, 1], K[..., 0, 2], K[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    K -= np.swapaxes(K, -1, -2)
    half = np.sinc(angle / (2 * np.pi))
    return np.eye(3) + np.sinc(angle / np.pi) * K + 0.5 * half**2 * (K @ K)


def rotation_error(R: np.ndarray) -> np.ndarray:
    """[n] how far matrices [n, 3, 3] are from rotations: largest entry of |R' R - 1|; infinity for reflections."""
    error = np.abs(R.transpose(0, 2, 1) @ R - np.eye(3)).max(axis=(1, 2), initial=0)
    return np.where(np.linalg.det(R) > 0, error, np.inf)
