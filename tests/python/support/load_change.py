"""The relative change of the load for which contact forces are an exact solution, in extended precision.

Written from docs/theory/contact-solver.md, (3) to (5); it shares nothing with the program.
"""

from __future__ import annotations

import numpy as np

LONG = np.longdouble


def _size(x: np.ndarray, slides: np.ndarray) -> np.ndarray:
    """[k, 3] -> [k]"""
    return np.where(slides, np.abs(x[:, 0]), np.maximum(np.abs(x[:, 0]), np.hypot(x[:, 1], x[:, 2])))


def load_changes(A, b, mu, c, slides=None, velocity=None, stays=False):
    """|delta_j| of each contact [k], its own load |b_j| and its scale s_j, of one problem with forces c [3k]. `stays`:
    of the forces as they are, with the accelerations next to theirs that go with them."""
    k = len(mu)
    A, b, mu = A.astype(LONG), b.astype(LONG).reshape(k, 3), mu.astype(LONG)
    slides = np.zeros(k, bool) if slides is None else slides
    v = np.zeros((k, 2), LONG)
    if slides.any():
        v[slides] = velocity[slides] / np.hypot(velocity[slides, 0], velocity[slides, 1])[:, None]

    def with_friction(force):
        force = force.copy()
        force[slides, 1:] = (-(mu * force[:, 0])[:, None] * v)[slides]
        return force

    def acceleration(force):
        return (A @ force.ravel()).reshape(k, 3) + b

    c = with_friction(c.astype(LONG).reshape(k, 3))
    a = acceleration(c)
    g = np.einsum("jxjx->j", A.reshape(k, 3, k, 3)) / 3
    g = np.where(g > 0, g, 1)

    def changes(delta):
        return (_size(delta, slides), *_scales(A, b, g, slides))

    n = c[:, 0] - a[:, 0] / (g * np.maximum(mu, 1))
    y = c[:, 1:] - a[:, 1:] / g[:, None]
    length = np.hypot(y[:, 0], y[:, 1])
    if stays:
        length = np.where(slides, 0, np.hypot(c[:, 1], c[:, 2]))
        radius = np.where(slides, 0, mu * c[:, 0])
        opens = (c[:, 0] == 0) & (length == 0)
        power = np.minimum(np.where(length > 0, (a[:, 1:] * c[:, 1:]).sum(1) / np.where(length > 0, length, 1), 0), 0)
        slipping = (power / np.where(length > 0, length, 1))[:, None] * c[:, 1:]
        slipping[length < (1 - LONG(1e-14)) * radius] = 0
        lawful = np.column_stack([np.where(opens, np.maximum(a[:, 0], 0), 0), slipping])
        lawful[opens, 1:] = a[opens, 1:]
        lawful[(c[:, 0] < 0) | (length > (1 + LONG(1e-14)) * radius)] = np.inf  # not in its cone
        return changes(lawful - a)
    opens, slips = n <= 0, (n > 0) & (length > mu * n)
    share = np.where(slips, mu * n / np.where(length > 0, length, 1), 1)
    forces = np.where(opens[:, None], 0, np.column_stack([n, share[:, None] * y]))
    lawful = np.column_stack([np.where(opens, np.maximum(a[:, 0], 0), 0), -(g * (1 - share))[:, None] * y])
    lawful[opens, 1:] = a[opens, 1:]
    return changes(lawful - acceleration(with_friction(forces)))


def _scales(A, b, g, slides):
    k = len(g)
    coupled = np.abs(A.reshape(k, 3, k, 3)).max((1, 3)) > 0
    coupled = coupled | coupled.T | np.eye(k, dtype=bool)
    for _ in range(k):
        coupled = (coupled.astype(int) @ coupled.astype(int)) > 0
    own = _size(b, slides)
    return own, np.sqrt(g) * np.where(coupled, own / np.sqrt(g), 0).max(1)


def _largest(change, scale):
    return float(np.max(np.where(change == 0, 0, change / np.where(scale > 0, scale, np.finfo(float).tiny))))


def load_change(A, b, mu, c, slides=None, velocity=None):
    """`residual` of the program: the lesser one after a step and of the forces as they are."""
    found = [load_changes(A, b, mu, c, slides, velocity, stays) for stays in (False, True)]
    return min(_largest(change, scale) for change, _, scale in found)


def contact_load_change(A, b, mu, c, slides=None, velocity=None):
    """`contact_residual` of the forces as they are: relative to each contact's own load."""
    change, own, _ = load_changes(A, b, mu, c, slides, velocity, True)
    return float(np.max(np.where(own > 0, change / np.where(own > 0, own, 1), 0)))
