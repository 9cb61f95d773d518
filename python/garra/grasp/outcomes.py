"""Probabilities and scores of grasps against outcomes of trials (docs/theory/grasp-outcomes.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from garra.arguments import check_seed, whole


def auc(score: np.ndarray, held: np.ndarray) -> float:
    """Share of pairs (held, failed) whose held grasp has the higher score; ties count half. NaN without a pair."""
    order = np.argsort(score, kind="stable")
    _, inverse, count = np.unique(score[order], return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[inverse]
    n = int(held.sum())
    pairs = n * (len(held) - n)
    return float((rank[held[order]].sum() - n * (n + 1) / 2) / pairs) if pairs else float("nan")


def auc_within(score: np.ndarray, held: np.ndarray, group: np.ndarray) -> float:
    """The same over pairs of one group only."""
    wins = pairs = 0.0
    for g in np.unique(group):
        at = group == g
        n = float(held[at].sum()) * float((~held[at]).sum())
        if n:
            wins += n * auc(score[at], held[at])
            pairs += n
    return wins / pairs if pairs else float("nan")


def logistic_fit(x: np.ndarray, held: np.ndarray) -> tuple[float, float]:
    """Offset and slope of the logistic regression of outcomes on x, by Newton's method with a weight of 1e-6."""
    X = np.stack([np.ones_like(x), x], axis=1)
    beta = np.zeros(2)
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(X @ beta, -30, 30)))
        step = np.linalg.solve(X.T @ (X * (p * (1 - p))[:, None]) + 1e-6 * np.eye(2), X.T @ (held - p) - 1e-6 * beta)
        beta += step
        if np.abs(step).max() < 1e-10:
            break
    return float(beta[0]), float(beta[1])


@dataclass(frozen=True)
class Comparison:
    """A score beside the outcomes of the same trials."""

    auc: float
    """Over all pairs of a held and a failed trial"""
    auc_interval: tuple[float, float]
    """95 %, bootstrap over groups"""
    auc_jackknife: tuple[float, float]
    """95 %, jackknife over groups with the t distribution"""
    auc_within: float
    """Over pairs of one group"""
    brier: float
    """Mean square error of the score as a probability; NaN for scores outside [0, 1]"""
    brier_base: float
    """Of the rate of the other groups"""
    slope: float
    """Of the logistic regression on log(P / (1 - P)); 1 if calibrated; NaN for scores outside [0, 1]"""
    brier_recalibrated: float
    """After the logistic map of the other groups"""
    reliability: list[tuple[float, float, int, float, float]]
    """Bins: low, high, trials, mean score, share held"""
    trials: int
    missing: int
    """Trials without an answer, counted with the least score"""

    def __str__(self) -> str:
        low, high = self.auc_interval
        lines = [f"{self.trials} trials, {self.missing} without an answer (counted as 0)"]
        lines += [f"AUC {self.auc:.3f} [{low:.3f}, {high:.3f}], within groups {self.auc_within:.3f}"]
        if np.isfinite(self.brier):
            lines += [f"Brier {self.brier:.3f}, base rate {self.brier_base:.3f}, slope of the logit {self.slope:.2f}"]
            lines += ["P(held)      trials  mean P  held"]
            lines += [f"{a:4.2f} - {b:4.2f} {n:8d}  {p:6.2f}  {h:.2f}" for a, b, n, p, h in self.reliability]
        return "\n".join(lines)


BINS = (0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1)


def compare(score: Any, outcome: Any, group: Any = None, *, resamples: int = 2000, seed: int = 1) -> Comparison:
    """Compares P(held), or any score, with outcomes.

    Parameters
    ----------
    score : array_like [n]
        Larger is better; NaN counts as the least, 0 for probabilities.
    outcome : array_like [n]
        True or 1: held.
    group : array_like [n], optional
        Object of each trial; trials of one object are not independent.
    resamples : int
        Of the bootstrap over groups.
    seed : int
        Of the bootstrap.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        For arrays of different lengths, or outcomes other than 0 and 1.

    Examples
    --------
    >>> c = garra.grasp.compare([0.9, 0.8, 0.3, 0.1], [1, 1, 0, 1], group=["cup", "cup", "box", "box"])
    >>> round(c.auc, 3), round(c.auc_within, 3)
    (0.667, 0.0)
    """
    from scipy.stats import t

    score = np.asarray(score, dtype=float)
    held = np.asarray(outcome)
    if score.ndim != 1 or held.shape != score.shape:
        raise ValueError(f"score {score.shape} and outcome {held.shape} are not [n] and [n]")
    if not np.isin(held, (0, 1)).all():
        raise ValueError("outcome: 0 and 1 only; leave out trials without one")
    held = held.astype(bool)
    group = np.arange(len(score)) if group is None else np.unique(np.asarray(group), return_inverse=True)[1]
    missing = np.isnan(score)
    is_probability = bool(((score >= 0) & (score <= 1) | missing).all())
    least = 0.0 if is_probability or missing.all() else float(np.nanmin(score)) - 1
    score = np.where(missing, least, score)
    rng = np.random.default_rng(check_seed(seed))
    groups = [np.flatnonzero(group == g) for g in np.unique(group)]
    drawn = []
    for _ in range(whole("resamples", resamples, 0)):
        at = np.concatenate([groups[k] for k in rng.integers(len(groups), size=len(groups))])
        drawn.append(auc(score[at], held[at]))
    value = auc(score, held)
    left_out = np.array([auc(np.delete(score, at), np.delete(held, at)) for at in groups])
    n = len(groups)
    spread = float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())) if n > 1 else float("nan")
    width = float(t.ppf(0.975, n - 1)) * spread if n > 1 else float("nan")
    interval = tuple(np.nanquantile(drawn, (0.025, 0.975)).tolist()) if drawn else (float("nan"), float("nan"))
    brier = slope = recalibrated = base = float("nan")
    reliability = []
    if is_probability:
        brier = float(((score - held) ** 2).mean())
        logit = np.log(np.clip(score, 1e-9, 1)) - np.log(np.clip(1 - score, 1e-9, 1))
        slope = logistic_fit(logit, held)[1]
        if n > 1:
            rate, mapped = np.empty(len(held)), np.empty(len(held))
            for at in groups:
                others = np.delete(np.arange(len(held)), at)
                rate[at] = held[others].mean()
                offset, gain = logistic_fit(logit[others], held[others])
                mapped[at] = 1 / (1 + np.exp(-(offset + gain * logit[at])))
            base, recalibrated = float(((rate - held) ** 2).mean()), float(((mapped - held) ** 2).mean())
        for low, high in zip(BINS[:-1], BINS[1:], strict=True):
            at = (score >= low) & ((score < high) | (high == 1))
            if at.any():
                reliability.append((low, high, int(at.sum()), float(score[at].mean()), float(held[at].mean())))
    return Comparison(
        value, interval, (value - width, value + width), auc_within(score, held, group), brier, base, slope,
        recalibrated, reliability, len(held), int(missing.sum()),
    )  # fmt: skip
