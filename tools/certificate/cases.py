"""Named problems, and the same problems in other units, orders and axes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from certificate.classes import block_diagonal, ideal, rescaled, symmetric
from certificate.definition import Problems


def variants(p: Problems, rng: np.random.Generator) -> Iterator[tuple[str, Problems]]:
    """The same problems in other words (rolling or sliding, d = 3)."""
    n, k = p.mu.shape
    s, t = 10 ** rng.uniform(-3, 3, (2, n, 1))
    yield "units of A and b", replace(p, A=p.A * s[..., None], b=p.b * t)
    yield "contacts rescaled", rescaled(p, 10 ** rng.uniform(-2, 2, (n, k)))
    angle = rng.uniform(0, 2 * np.pi, (n, k))
    turn = np.zeros((n, k, 3, 3))
    turn[..., 0, 0], turn[..., 1, 1], turn[..., 2, 2] = 1, np.cos(angle), np.cos(angle)
    turn[..., 1, 2], turn[..., 2, 1] = -np.sin(angle), np.sin(angle)
    T = block_diagonal(turn)
    slip = np.einsum("nkij,nkj->nki", turn[..., 1:, 1:], p.slip)
    b = np.einsum("nij,nj->ni", T, p.b)
    yield "turned tangents", replace(p, A=symmetric(T @ p.A @ T.swapaxes(1, 2)), b=b, slip=slip)
    order = rng.permutation(k)
    rows = (3 * order[:, None] + np.arange(3)).ravel()
    yield "order of contacts", Problems(
        p.A[:, rows][:, :, rows], p.b[:, rows], p.mu[:, order], p.slides[:, order], p.slip[:, order]
    )
    A = np.zeros((n, 3 * k + 3, 3 * k + 3))
    A[:, :-3, :-3], A[:, -3:, -3:] = p.A, np.eye(3)
    b = np.append(p.b, 1e6 * np.array([-1, 0.2, 0]) * np.abs(p.b).max(1, keepdims=True), 1)
    mu, slides = np.append(p.mu, np.full((n, 1), 0.5), 1), np.append(p.slides, np.zeros((n, 1), bool), 1)
    yield "heavy unconnected body", Problems(A, b, mu, slides, np.append(p.slip, np.tile([1.0, 0], (n, 1, 1)), 1))


def one(A: Any, b: Any, mu: Any, **others: Any) -> Problems:
    return Problems(*(np.array([x], float) for x in (A, b, mu)), **{k: np.array([v]) for k, v in others.items()})


def two_walls() -> Problems:
    """Walls that close on a part which is drawn sideways: a_1n + a_2n = -0.14 for every c."""
    v, t, o = np.array([[1.0, 0, 0, -1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]])
    return one(np.outer(v, v) + np.outer(t, t) + np.outer(o, o), [-0.07, 1, 0, -0.07, 1, 0], [0.5, 0.5])


def large_friction(mu: float = 1e9) -> Problems:
    """A is positive definite (least eigenvalue 0.29), so that a solution exists for every mu."""
    A = [
        [8.7, 5.2, -4.6, -0.9, 5.4, 2.6], [5.2, 7.1, -2.9, -1.3, 7.9, 3.9], [-4.6, -2.9, 4.4, 0.3, -3.3, -1.5],
        [-0.9, -1.3, 0.3, 5.1, -0.2, 3.6], [5.4, 7.9, -3.3, -0.2, 10.1, 5.4], [2.6, 3.9, -1.5, 3.6, 5.4, 7.9],
    ]  # fmt: skip
    return one(A, [-1, 1, -0.8, -1.6, -1.4, -2.1], [mu, mu])


def sliding_three(b_t: float) -> Problems:
    """All slide without friction: M c_n + q has no solution, and b_t does not enter."""
    A, b = np.eye(9), np.full(9, b_t)
    A[::3, ::3], b[::3] = [[0, 1.5, -0.5], [0, 1, -1], [2, 0.5, 2]], [-2, -1, 0]
    return one(A, b, np.zeros(3), slides=np.ones(3, bool), slip=np.tile([1.0, 0.0], (3, 1)))


def named_cases() -> list[tuple[str, str, Problems]]:
    """Name, what is expected of the answer, problem."""
    rng, k = np.random.default_rng(5), 3
    indefinite = symmetric(rng.normal(size=(1, 9, 9)))[0]
    p, down, up = ideal(rng, 1, k), np.tile([-1.0, 0.3, 0], k), np.tile([1.0, 0.3, 0], k)
    cases = [
        ("two walls that close", "none", two_walls()),
        ("mu = 1e4", "solved", large_friction(1e4)),
        ("mu = 1e9", "solved", large_friction()),
        ("mu = 1e100", "solved", large_friction(1e100)),
        ("three slide, b_t = 1", "none", sliding_three(1)),
        ("three slide, b_t = 6", "none", sliding_three(6)),
        ("A = 0, approaching", "none", one(np.zeros((9, 9)), down, np.full(k, 0.5))),
        ("A = 0, separating", "solved", one(np.zeros((9, 9)), up, np.full(k, 0.5))),
        ("A = -I, approaching", "invalid_input", one(-np.eye(9), down, np.full(k, 0.5))),
        ("A = -I, separating", "solved", one(-np.eye(9), up, np.full(k, 0.5))),
        ("indefinite, approaching", "invalid_input", one(indefinite, down, np.full(k, 0.5))),
        ("indefinite, separating", "solved", one(indefinite, up, np.full(k, 0.5))),
        ("b = 0", "solved", replace(p, b=0 * p.b)),
    ]
    for s, t in itertools.product((1e-75, 1, 1e75), repeat=2):
        cases.append((f"ideal, A times {s:.0e}, b times {t:.0e}", "solved", replace(p, A=s * p.A, b=t * p.b)))
    return cases
