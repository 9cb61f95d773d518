"""The exact interval of a probability (C. J. Clopper, E. S. Pearson, Biometrika 26, 1934)."""

from __future__ import annotations

from math import exp, lgamma, log

import numpy as np


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Its coverage is at least `confidence`, whatever the probability; [0, 1] without trials. As in
    src/study/interval.cpp."""
    if trials <= 0:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    return _lower_end(successes, trials, tail), 1 - _lower_end(trials - successes, trials, tail)


def _lower_end(k: int, n: int, tail: float) -> float:
    """The probability p with which P(X >= k) of n draws is `tail`, by Newton's iteration in log p, in which its
    logarithm is concave."""
    if k == 0:
        return 0.0
    if k == n:
        return exp(log(tail) / n)
    choices = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    later = np.arange(k + 1, min(n, k + 60 + int(12 * min(k, n - k) ** 0.5)) + 1)  # beyond it chances are nothing
    ratios = (n + 1 - later) / later
    p = k / n
    for step in range(60):
        first_over = 1 + np.cumprod(ratios * (p / (1 - p))).sum()  # P(X >= k) / P(X = k)
        change = (log(tail / first_over) - choices - k * log(p) - (n - k) * log(1 - p)) * first_over / k
        p *= exp(change)
        if abs(change) < 1e-14 or (step > 1 and change < 0):
            break
    return float(p)


def student_quantile(p: float, freedom: int) -> float:
    """Quantile p above 1/2 of Student's t distribution, by bisection of its integral (Gauss-Legendre, 64 points)."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    scale = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / (freedom * np.pi) ** 0.5

    def below(x: float) -> float:
        # With u = sqrt(n) tan(a) the density becomes cos(a)^(n - 1), smooth on a bounded interval.
        end = np.arctan(x / freedom**0.5)
        a = end * (nodes + 1) / 2
        return 0.5 + scale * freedom**0.5 * float((weights * np.cos(a) ** (freedom - 1)).sum() * end / 2)

    low, high = 0.0, 1.0
    while below(high) < p:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < p else (low, middle)
    return (low + high) / 2
