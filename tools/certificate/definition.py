"""Definition of a false answer of a friction contact problem, in double-double and in rational numbers.

With a = A c + b, g_j = tr(A_jj)/3 (1 where that is 0), |x_j| = max(|x_n|, |x_T|) and
s_j = sqrt(g_j) max |b_k|/sqrt(g_k) over the contacts k that are connected with j by nonzero blocks of A, directly or
through others (without b_T of sliding contacts), forces c are false if at some contact
    penetrates   a_n < -1e-6 s_j
    opens        a_n > 1e-6 s_j
    cone         c_n < 0 or |c_T| > (1 + 1e-6) mu c_n
    sticks       |c_T| < (1 - 1e-6) mu c_n and |a_T| > 1e-6 s_j
    slips        |c_T| lies between both bounds and |a_T + |a_T| c_T/|c_T|| > 1e-6 s_j
    sliding      c_T differs from -mu c_n v by more than 1e-6 mu c_n; v: unit slip velocity; replaces the last three
A force counts as zero, and only `penetrates` is asked, if |c_j| <= 1e-6 max|c| and g_j |c_j| <= 1e-6 s_j.
Soft contacts have a fourth component, which belongs to T, and g_j = tr(A_jj)/4.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

EPS = 1e-6
FLOOR = 1e-14  # rounding of c_T relative to c_n where mu is nearly 0
REASONS = ("penetrates", "opens", "cone", "sticks", "slips", "sliding")


@dataclass
class Problems:
    """n problems of k contacts with d numbers each (3; 4 if soft), contact-major."""

    A: np.ndarray  # [n, dk, dk] [1/kg]
    b: np.ndarray  # [n, dk] [m/s^2]
    mu: np.ndarray  # [n, k]
    slides: np.ndarray | None = None  # [n, k] bool
    slip: np.ndarray | None = None  # [n, k, 2] unit vectors, object minus finger
    parts: dict[str, Any] | None = None  # of a soft grasp

    def __post_init__(self) -> None:
        n, k = self.mu.shape
        self.slides = np.zeros((n, k), bool) if self.slides is None else self.slides
        self.slip = np.broadcast_to([1.0, 0.0], (n, k, 2)) if self.slip is None else self.slip

    def __getitem__(self, which: Any) -> Problems:
        return Problems(self.A[which], self.b[which], self.mu[which], self.slides[which], self.slip[which])

    def __len__(self) -> int:
        return len(self.mu)

    def contacts(self, x: np.ndarray) -> np.ndarray:
        """[n, dk] -> [n, k, d]"""
        return x.reshape(*self.mu.shape, -1)


def two_sum(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def halves(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """26 bits each (Dekker)."""
    high = 134217729.0 * x
    high = high - (high - x)
    return high, x - high


def acceleration(p: Problems, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a = A c + b as if in twice the precision and then rounded, and a bound of the error beyond that rounding.

    Dot2 of T. Ogita, S. M. Rump, S. Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005.
    """
    A = np.ascontiguousarray(np.moveaxis(p.A, 2, 0))  # by columns: [dk, n, dk]
    total, low = p.b.copy(), np.zeros_like(p.b)
    for column, force in zip(A, c.T[..., None], strict=True):
        product = column * force
        (x, u), (y, v) = halves(column), halves(force)
        rest = ((x * y - product) + x * v + u * y) + u * v
        total, lost = two_sum(total, product)
        low += lost + rest
    size = np.abs(p.b) + np.einsum("nij,nj->ni", np.abs(p.A), np.abs(c))
    return total + low, 2 * (len(A) + 1) ** 2 * 2.0**-106 * size


def size(x: np.ndarray) -> np.ndarray:
    """max(|x_n|, |x_T|) of [..., d]"""
    return np.maximum(np.abs(x[..., 0]), length(x[..., 1:]))


def length(x: np.ndarray) -> np.ndarray:
    largest = np.abs(x).max(-1, keepdims=True)
    unit = np.where(largest > 0, largest, 1)
    return (unit * np.sqrt(((x / unit) ** 2).sum(-1, keepdims=True)))[..., 0]


def connected(p: Problems) -> np.ndarray:
    """[n, k, k] bool: by nonzero blocks of A, directly or through other contacts"""
    n, k = p.mu.shape
    linked = (p.A != 0).reshape(n, k, -1, k, p.A.shape[1] // k).any((2, 4))
    linked |= linked.swapaxes(1, 2) | np.eye(k, dtype=bool)
    for _ in range(5):  # paths of up to 32 steps
        linked = (linked.astype(np.float32) @ linked.astype(np.float32)) > 0
    return linked


def scales(p: Problems) -> tuple[np.ndarray, np.ndarray]:
    """g_j [n, k] and s_j [n, k] of the definition."""
    g = p.contacts(np.einsum("nii->ni", p.A)).mean(-1)
    g = np.where(g > 0, g, 1)
    b = p.contacts(p.b).copy()
    b[..., 1:][p.slides] = 0
    load = size(b) / np.sqrt(g)
    return g, np.sqrt(g) * np.where(connected(p), load[:, None, :], 0).max(-1)


def one_step(p: Problems, c: np.ndarray) -> np.ndarray:
    """Forces of an exact solution for a load near b: c after one projected step with 1/g_j."""
    a = p.contacts(acceleration(p, c)[0])
    free = p.contacts(c) - a / scales(p)[0][..., None]
    c_n, c_T = np.maximum(free[..., 0], 0), free[..., 1:]
    friction = length(c_T)
    share = np.minimum(1, p.mu * c_n / np.where(friction > 0, friction, 1))
    given = -(p.mu * c_n)[..., None] * p.slip
    c_T = np.where(p.slides[..., None], given, share[..., None] * c_T) if p.slides.any() else share[..., None] * c_T
    return np.concatenate([c_n[..., None], c_T], -1).reshape(c.shape)


def judge(p: Problems, c: np.ndarray, eps: float = EPS) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Reasons why c is false, each [n] bool; and where double-double does not suffice to tell, [n] bool."""
    a, error = (p.contacts(x) for x in acceleration(p, c))
    c = p.contacts(c)
    g, s = scales(p)
    force, largest = size(c), size(c).max(-1, keepdims=True)
    borne = (force > eps * largest) | (g * force > eps * s)
    c_n, c_T, a_n, a_T = c[..., 0], c[..., 1:], a[..., 0], a[..., 1:]
    friction, motion = length(c_T), length(a_T)
    limit = p.mu * np.maximum(c_n, 0)
    outside = (c_n < 0) | (friction > (1 + eps) * limit + FLOOR * np.maximum(c_n, 0))
    inside = friction < (1 - eps) * limit
    direction = c_T / np.where(friction > 0, friction, 1)[..., None]
    aside = (friction > 0) & (length(a_T + motion[..., None] * direction) > eps * s)
    rolls = borne & ~p.slides
    given = c_T[..., :2] + limit[..., None] * p.slip
    found = {
        "penetrates": a_n < -eps * s,
        "opens": borne & (a_n > eps * s),
        "cone": rolls & outside,
        "sticks": rolls & inside & (motion > eps * s),
        "slips": rolls & ~inside & ~outside & aside,
        "sliding": borne & p.slides & ((c_n < 0) | (length(given) > eps * limit + FLOOR * np.abs(c_n))),
    }
    unsure = ~np.isfinite(a) | ~(error <= 1e-4 * eps * s[..., None]) & (error > 0)
    return {name: at.any(-1) for name, at in found.items()}, unsure.any((1, 2))


def judge_exactly(p: Problems, i: int, forces: np.ndarray, eps: float = EPS) -> set[str]:
    """The same for problem i in rational numbers: lengths are compared by their squares."""
    if not np.isfinite(forces).all():
        return {"opens"}
    e, k = Fraction(eps), p.mu.shape[1]
    A, b, c = (np.vectorize(Fraction, otypes=[object])(x) for x in (p.A[i], p.b[i], forces))
    a = (A.dot(c) + b).reshape(k, -1)
    b, c = b.reshape(k, -1), c.reshape(k, -1)
    linked = connected(p[i : i + 1])[0]

    def square(x: np.ndarray) -> Fraction:
        return max(x[0] ** 2, sum(x[1:] ** 2))

    d = a.shape[1]
    traces = [sum(A[d * j + r, d * j + r] for r in range(d)) / d for j in range(k)]
    g = [t if t > 0 else Fraction(1) for t in traces]
    load = [(b[j, 0] ** 2 if p.slides[i, j] else square(b[j])) / g[j] for j in range(k)]
    largest = max(square(x) for x in c)
    found = set()
    for j in range(k):
        s2 = (e**2) * g[j] * max(load[m] for m in range(k) if linked[j, m])  # (eps s_j)^2
        mu, (c_n, *c_T), (a_n, *a_T) = Fraction(p.mu[i, j]), c[j], a[j]
        friction2, motion2, force2 = sum(x**2 for x in c_T), sum(x**2 for x in a_T), square(c[j])
        if a_n < 0 and a_n**2 > s2:
            found.add("penetrates")
        if force2 <= e**2 * largest and g[j] ** 2 * force2 <= s2:
            continue  # counts as zero
        if a_n > 0 and a_n**2 > s2:
            found.add("opens")
        outside = c_n < 0 or friction2 > (((1 + e) * mu + Fraction(FLOOR)) * c_n) ** 2
        if p.slides[i, j]:
            v = [Fraction(x) for x in p.slip[i, j]]
            off2 = sum((x + mu * c_n * w) ** 2 for x, w in zip(c_T, v, strict=True))
            if c_n < 0 or off2 > ((e * mu + Fraction(FLOOR)) * c_n) ** 2:
                found.add("sliding")
        elif outside:
            found.add("cone")
        elif friction2 < ((1 - e) * mu * c_n) ** 2:
            if motion2 > s2:
                found.add("sticks")
        elif friction2 > 0:
            power = sum(x * y for x, y in zip(a_T, c_T, strict=True))
            # |a_T + |a_T| c_T/|c_T||^2 > s2, that is 2 |a_T| power/|c_T| > bound, without the roots
            bound = s2 - 2 * motion2
            left, right = 4 * motion2 * power**2, bound**2 * friction2
            if (power >= 0 and (bound < 0 or left > right)) or (power < 0 and bound < 0 and left < right):
                found.add("slips")
    return found


def all_reasons(p: Problems, c: np.ndarray) -> np.ndarray:
    """[n] names of the reasons, "" where none: in double-double, in rational numbers where that does not suffice"""
    found, unsure = judge(p, c)
    names = np.array([" ".join(r for r, at in found.items() if at[i]) for i in range(len(p))], object)
    for i in np.flatnonzero(unsure):
        names[i] = " ".join(sorted(judge_exactly(p, i, c[i])))
    return names
