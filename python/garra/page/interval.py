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
