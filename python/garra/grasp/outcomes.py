"""Probabilities and scores of grasps against outcomes of trials (docs/theory/grasp-outcomes.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from operator import index
from typing import Any

import numpy as np

from garra.page.interval import student_quantile
from garra.page.words import plural

OWN_RATE = "rate of the object's other trials"
BINS = (0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1)
MOST_FOLDS = 50  # of trials or objects that are left out together
AT_ONCE = 2_000_000  # weights of resamples in memory
MOST_SHOWN = 40  # objects that are printed
NAN2 = (float("nan"), float("nan"))


def aucs(score: np.ndarray, held: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """AUC for each row of weights [R, n]: the share of pairs (held, failed) whose held trial has the higher score; ties
    count half. NaN without a pair."""
    order = np.argsort(score, kind="stable")
    starts = np.flatnonzero(np.diff(score[order], prepend=np.nan) != 0)
    sorted_weights, h = weights[:, order], held[order]
    won = np.add.reduceat(sorted_weights * h, starts, axis=1)
    lost = np.add.reduceat(sorted_weights * ~h, starts, axis=1)
    pairs = won.sum(1) * lost.sum(1)
    wins = (won * (np.cumsum(lost, axis=1) - lost / 2)).sum(1)
    return np.divide(wins, pairs, out=np.full(len(weights), np.nan), where=pairs > 0)


def auc(score: np.ndarray, held: np.ndarray) -> float:
    return float(aucs(score, held, np.ones((1, len(held))))[0])


def logistic_fit(x: np.ndarray, held: np.ndarray) -> tuple[float, float]:
    """Offset and slope of the logistic regression of outcomes on x, by Newton's method with a weight of 1e-6; NaN where
    they have no finite value: one outcome only, or a threshold of x separates the outcomes."""
    yes, no = x[held], x[~held]
    if not len(yes) or not len(no) or yes.min() >= no.max() or no.min() >= yes.max():
        return float("nan"), float("nan")
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
class Baseline:
    """Another score of the same trials, and how much larger the AUC of the compared one is."""

    name: str
    auc: float
    difference: float
    difference_interval: tuple[float, float]
    """95 %, the same resamples for both scores"""


@dataclass(frozen=True)
class Group:
    """Trials of one object."""

    name: str
    trials: int
    mean: float
    """Mean score"""
    held: float
    """Share held"""
    auc: float


@dataclass(frozen=True)
class Comparison:
    """A score beside the outcomes of the same trials."""

    auc: float
    """Over all pairs of a held and a failed trial"""
    auc_interval: tuple[float, float]
    """95 %, bootstrap over groups; over trials where there is one group"""
    auc_jackknife: tuple[float, float]
    """95 %, jackknife over groups with the t distribution"""
    auc_within: float
    """Over pairs of one group"""
    auc_within_interval: tuple[float, float]
    """95 %, bootstrap over groups"""
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
    groups: list[Group] = field(default_factory=list)
    baselines: list[Baseline] = field(default_factory=list)
    effective_friction: tuple[float, float, float] = (float("nan"),) * 3
    """Coefficient at which "needs at most this friction" disagrees with the fewest outcomes, and its 95 % interval"""
    friction_agreement: float = float("nan")
    """Share of the outcomes that agree at this coefficient"""

    @property
    def units(self) -> str:
        """What is left out by turns: "objects", or "trials" of one object."""
        return "objects" if len(self.groups) > 1 else "trials"

    def __str__(self) -> str:
        share = f" ({100 * self.missing / self.trials:.1f} %)" if self.missing else ""
        objects = plural(len(self.groups), "object")
        lines = [f"{self.trials} trials of {objects}, {self.missing}{share} without an answer (P = 0)"]
        lines += [f"AUC {self.auc:.3f} {_text(self.auc_interval)} bootstrap, {_text(self.auc_jackknife)} jackknife"]
        lines += [f"AUC within objects {self.auc_within:.3f} {_text(self.auc_within_interval)}"]
        if np.isfinite(self.brier):
            lines += [
                f"Brier {self.brier:.3f}, rate of the other {self.units} {self.brier_base:.3f}, "
                f"recalibrated by the others {self.brier_recalibrated:.3f}; slope of the logit {self.slope:.2f}",
                "P(held)      trials  mean P  held",
            ]
            lines += [f"{a:4.2f} - {b:4.2f} {n:8d}  {p:6.2f}  {h:.2f}" for a, b, n, p, h in self.reliability]
        if self.baselines:
            lines += ["Baseline                        AUC   P(held) better by"]
            lines += [
                f"{b.name:30s} {b.auc:.3f}  {b.difference:+.3f} {_text(b.difference_interval, '+.3f')}"
                for b in self.baselines
            ]
        if np.isfinite(self.effective_friction[0]):
            value, *ends = self.effective_friction
            lines += [
                f"Effective friction {value:.2f} {_text(ends, '.2f')}: whether a grasp needs at most this agrees "
                f"with {100 * self.friction_agreement:.0f} % of the outcomes"
            ]
        if len(self.groups) > 1:
            lines += ["Object                        trials  mean P  held   AUC"]
            shown = self.groups[:MOST_SHOWN]
            lines += [f"{g.name[:28]:28s} {g.trials:7d}  {g.mean:6.2f}  {g.held:.2f}  {g.auc:.2f}" for g in shown]
            if len(shown) < len(self.groups):
                lines.append(f"and {len(self.groups) - len(shown)} more: `groups`")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Returns the comparison as JSON has it; numbers that do not exist are None."""
        return _plain(asdict(self))


def compare(
    score: Any,
    outcome: Any,
    group: Any = None,
    *,
    baselines: Mapping[str, Any] | None = None,
    required_friction: Any = None,
    resamples: int = 2000,
    seed: int = 1,
) -> Comparison:
    """Compares P(held), or any score, with outcomes.

    Parameters
    ----------
    score : array_like [n]
        Larger is better; NaN counts as the least, 0 for probabilities.
    outcome : array_like [n]
        True or 1: held. NaN: a trial that is left out.
    group : array_like [n], optional
        Object of each trial; trials of one object are not independent.
    baselines : dict of array_like [n], optional
        Other scores of the trials, by name.
    required_friction : array_like [n], optional
        Friction that each grasp needs, for the effective friction.
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
        For arrays of different lengths, outcomes other than 0 and 1, or no outcome at all.

    Examples
    --------
    >>> c = garra.grasp.compare([0.9, 0.8, 0.3, 0.1], [1, 1, 0, 1], group=["cup", "cup", "box", "box"])
    >>> round(c.auc, 3), round(c.auc_within, 3)
    (0.667, 0.0)
    """
    score, held = np.asarray(score, dtype=float), np.asarray(outcome, dtype=float)
    if score.ndim != 1 or held.shape != score.shape:
        raise ValueError(f"score {score.shape} and outcome {held.shape} are not [n] and [n]")
    known = ~np.isnan(held)
    if not np.isin(held[known], (0, 1)).all():
        raise ValueError("outcome: 0 and 1 only, NaN for trials without one")
    if not known.any():
        raise ValueError("outcome: no trial has one")
    held = held[known].astype(bool)
    names, number = np.unique(np.zeros(len(score)) if group is None else np.asarray(group), return_inverse=True)
    if number.shape != score.shape:
        raise ValueError(f"group {number.shape} is not [{len(score)}]")
    trials = _Trials(held, number[known], [str(name) for name in names], index(resamples), seed)
    is_probability = bool(((score >= 0) & (score <= 1) | np.isnan(score)).all())
    score, missing = _filled(score[known], 0.0 if is_probability else None)
    drawn = trials.resampled(score)
    parts: dict[str, Any] = {"brier": np.nan, "brier_base": np.nan, "slope": np.nan, "brier_recalibrated": np.nan}
    for name, values in (baselines or {}).items():
        if np.shape(values) != known.shape:
            raise ValueError(f"baselines[{name!r}] has the shape {list(np.shape(values))}, not {list(known.shape)}")
    others = {name: _filled(np.asarray(values, dtype=float)[known], None)[0] for name, values in (baselines or {}).items()}
    if len(np.unique(trials.group)) > 1:
        others[OWN_RATE] = trials.own_rate()
    value, one = auc(score, held), np.ones((1, len(held)))
    within, within_interval = trials.within(score)
    friction = {} if required_friction is None else trials.effective_friction(np.asarray(required_friction, float)[known])
    return Comparison(
        auc=value,
        auc_interval=_interval(drawn),
        auc_jackknife=trials.jackknife(score, value),
        auc_within=within,
        auc_within_interval=within_interval,
        reliability=_reliability(score, held) if is_probability else [],
        trials=len(held),
        missing=int(missing.sum()),
        groups=trials.of_groups(score),
        baselines=[
            Baseline(name, a := float(trials.of_baseline(name, other, one)[0]), value - a, interval)
            for name, other in others.items()
            for interval in [_interval(drawn - trials.resampled(other, name))]
        ],
        **(parts | (trials.calibration(score) if is_probability else {})),
        **friction,
    )


class _Trials:
    """Outcomes, and the groups that are resampled and left out together: objects, or trials of a single object."""

    def __init__(self, held: np.ndarray, group: np.ndarray, names: list[str], resamples: int, seed: int) -> None:
        self.held, self.group, self.names = held, group, names
        kinds, unit = np.unique(group, return_inverse=True)
        self.unit = unit if len(kinds) > 1 else np.arange(len(held))
        self.fold = np.unique(self.unit % MOST_FOLDS, return_inverse=True)[1]
        units = int(self.unit.max()) + 1
        self.counts = np.random.default_rng(seed).multinomial(units, np.full(units, 1 / units), size=resamples)

    def weights(self) -> Any:
        """Weights of the trials in the resamples, piece by piece."""
        step = max(AT_ONCE // len(self.held), 1)
        for first in range(0, len(self.counts), step):
            yield self.counts[first : first + step][:, self.unit].astype(float)

    def resampled(self, score: np.ndarray, name: str = "") -> np.ndarray:
        """AUC of each resample; `name`: of a baseline."""
        return np.concatenate([self.of_baseline(name, score, w) for w in self.weights()] or [np.zeros(0)])

    def of_baseline(self, name: str, score: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """AUC for each row of weights. Pairs of one object count half for the rate of the object's other trials: it
        leaves out each trial's own outcome, so that the held trial of such a pair always has the lower rate."""
        out = aucs(score, self.held, weights)
        if name != OWN_RATE:
            return out
        won, lost = weights * self.held, weights * ~self.held
        kinds = self.group[:, None] == np.unique(self.group)
        within = ((won @ kinds) * (lost @ kinds)).sum(1)
        pairs = won.sum(1) * lost.sum(1)
        return out + 0.5 * np.divide(within, pairs, out=np.full(len(weights), np.nan), where=pairs > 0)

    def jackknife(self, score: np.ndarray, value: float) -> tuple[float, float]:
        n = int(self.fold.max()) + 1
        left = np.concatenate([aucs(score, self.held, (self.fold != k)[None].astype(float)) for k in range(n)])
        left = left[np.isfinite(left)]
        if (n := len(left)) < 2:
            return NAN2
        width = student_quantile(0.975, n - 1) * float(np.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum()))
        return max(value - width, 0.0), min(value + width, 1.0)

    def within(self, score: np.ndarray) -> tuple[float, tuple[float, float]]:
        """AUC over pairs of one group, and its interval over groups."""
        kinds = np.unique(self.group)
        wins, pairs = np.zeros(len(kinds)), np.zeros(len(kinds))
        for k, g in enumerate(kinds):
            at = self.group == g
            pairs[k] = float(self.held[at].sum()) * float((~self.held[at]).sum())
            wins[k] = pairs[k] * auc(score[at], self.held[at]) if pairs[k] else 0
        if not pairs.sum():
            return float("nan"), NAN2
        interval = NAN2
        if len(kinds) > 1:
            total = self.counts @ pairs
            interval = _interval(np.divide(self.counts @ wins, total, out=np.full(len(total), np.nan), where=total > 0))
        return float(wins.sum() / pairs.sum()), interval

    def own_rate(self) -> np.ndarray:
        """Share held of the other trials of each trial's group."""
        n, k = np.bincount(self.group)[self.group], np.bincount(self.group, self.held)[self.group]
        return np.where(n > 1, (k - self.held) / np.maximum(n - 1, 1), self.held.mean())

    def calibration(self, score: np.ndarray) -> dict[str, float]:
        held = self.held
        logit = np.log(np.clip(score, 1e-9, 1)) - np.log(np.clip(1 - score, 1e-9, 1))
        out = {"brier": float(((score - held) ** 2).mean()), "slope": logistic_fit(logit, held)[1]}
        folds = int(self.fold.max()) + 1
        if folds < 2:
            return out
        rate, mapped = np.empty(len(held)), np.empty(len(held))
        for k in range(folds):
            at = self.fold == k
            rate[at] = held[~at].mean()
            offset, gain = logistic_fit(logit[~at], held[~at])
            mapped[at] = 1 / (1 + np.exp(-np.clip(offset + gain * logit[at], -700, 700)))
        out["brier_base"], out["brier_recalibrated"] = (float(((x - held) ** 2).mean()) for x in (rate, mapped))
        return out

    def effective_friction(self, needed: np.ndarray) -> dict[str, Any]:
        """Coefficient mu at which (needed <= mu) disagrees with the fewest outcomes; a missing one counts as infinite."""
        needed = np.where(np.isnan(needed), np.inf, needed)
        order = np.argsort(needed, kind="stable")
        values, held = needed[order], self.held[order]
        ends = np.flatnonzero(np.append(values[1:] > values[:-1], True))  # mu between a value and the next
        ends = ends[np.isfinite(values[ends])]
        if not len(ends):
            return {}
        least = np.append(0.0, values[ends])  # 0: no grasp needs so little

        def best(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            w = weights[:, order]
            all_held = (w * held).sum(1, keepdims=True)
            wrong = np.hstack([all_held, np.cumsum(w * ~held - w * held, axis=1)[:, ends] + all_held])
            k = wrong.argmin(1)
            return least[k], wrong[np.arange(len(k)), k] / w.sum(1)

        value, wrong = best(np.ones((1, len(held))))
        low, high = _interval(np.concatenate([best(w)[0] for w in self.weights()] or [np.zeros(0)]))
        return {"effective_friction": (float(value[0]), low, high), "friction_agreement": 1 - float(wrong[0])}

    def of_groups(self, score: np.ndarray) -> list[Group]:
        out = []
        for g in np.unique(self.group):
            at = self.group == g
            mean, held = float(score[at].mean()), float(self.held[at].mean())
            out.append(Group(self.names[g], int(at.sum()), mean, held, auc(score[at], self.held[at])))
        return out


def _filled(score: np.ndarray, least: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Scores with the least one where they are missing, and where that is."""
    missing = np.isnan(score)
    if least is None:
        least = 0.0 if missing.all() else float(score[~missing].min()) - 1
    return np.where(missing, least, score), missing


def _interval(drawn: np.ndarray) -> tuple[float, float]:
    drawn = drawn[np.isfinite(drawn)]
    return tuple(np.quantile(drawn, (0.025, 0.975)).tolist()) if len(drawn) else NAN2


def _reliability(score: np.ndarray, held: np.ndarray) -> list[tuple[float, float, int, float, float]]:
    out = []
    for low, high in zip(BINS[:-1], BINS[1:], strict=True):
        at = (score >= low) & ((score < high) | (high == 1))
        if at.any():
            out.append((low, high, int(at.sum()), float(score[at].mean()), float(held[at].mean())))
    return out


def _text(interval: Any, kind: str = ".3f") -> str:
    low, high = interval
    return f"[{low:{kind}}, {high:{kind}}]" if np.isfinite(low) else "[-, -]"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
