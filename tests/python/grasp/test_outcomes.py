"""Scores against outcomes: pairs counted one by one, and outcomes drawn from known probabilities."""

from __future__ import annotations

import garra
import numpy as np
import pytest
from arrays import require_module

require_module()


def counted(score, held):
    pairs = [(a > b) + 0.5 * (a == b) for a in score[held] for b in score[~held]]
    return float(np.mean(pairs))


def test_auc_counts_pairs_and_ties_half():
    rng = np.random.default_rng(3)
    score, held, group = rng.integers(0, 6, 80) / 5, rng.random(80) < 0.6, rng.integers(0, 5, 80)
    c = garra.grasp.compare(score, held, group, resamples=50)
    assert c.auc == pytest.approx(counted(score, held), abs=1e-12)
    pairs = [
        ((a > b) + 0.5 * (a == b))
        for g in range(5)
        for a in score[held & (group == g)]
        for b in score[~held & (group == g)]
    ]
    assert c.auc_within == pytest.approx(float(np.mean(pairs)), abs=1e-12)
    assert c.brier == pytest.approx(float(((score - held) ** 2).mean()), abs=1e-12)
    low, high = c.auc_interval
    assert low < c.auc < high


def test_drawn_outcomes_have_slope_one_and_overconfident_scores_a_smaller_one():
    rng = np.random.default_rng(5)
    p = rng.random(6000)
    held = rng.random(6000) < p
    group = rng.integers(0, 12, 6000)
    c = garra.grasp.compare(p, held, group, resamples=20)
    assert c.slope == pytest.approx(1, abs=0.08)
    assert c.brier == pytest.approx(float((p * (1 - p)).mean()), abs=0.01)
    assert c.brier < c.brier_base
    assert all(abs(mean - share) < 0.06 for _, _, _, mean, share in c.reliability)
    twice = 1 / (1 + ((1 - p) / p) ** 2)
    assert garra.grasp.compare(twice, held, group, resamples=20).slope == pytest.approx(0.5, abs=0.05)


def test_missing_answers_count_as_zero_and_wrong_outcomes_are_refused():
    c = garra.grasp.compare([0.9, np.nan, 0.2, 0.6], [1, 0, 0, 1])
    assert c.missing == 1 and c.auc == 1
    with pytest.raises(ValueError, match="0 and 1 only"):
        garra.grasp.compare([0.1, 0.2], [-1, 1])
    with pytest.raises(ValueError, match="are not"):
        garra.grasp.compare([0.1, 0.2], [1])
