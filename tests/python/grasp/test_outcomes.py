"""Scores against outcomes: pairs counted one by one, and outcomes drawn from known probabilities."""

from __future__ import annotations

import json
from pathlib import Path

import garra
import numpy as np
import pytest
from arrays import require_module
from garra.page.interval import student_quantile
from program import garra as program

require_module()


def counted(score, held):
    a, b = score[held][:, None], score[~held]
    return float(np.mean((a > b) + 0.5 * (a == b)))


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
    assert garra.grasp.compare([0.9, 0.5, 0.2], [1, np.nan, 0]).trials == 2
    with pytest.raises(ValueError, match="0 and 1 only"):
        garra.grasp.compare([0.1, 0.2], [-1, 1])
    with pytest.raises(ValueError, match="no trial has one"):
        garra.grasp.compare([0.1, 0.2], [np.nan, np.nan])
    with pytest.raises(ValueError, match="are not"):
        garra.grasp.compare([0.1, 0.2], [1])


def test_intervals_are_of_objects_and_of_trials_where_there_is_one_object():
    rng = np.random.default_rng(7)
    group = np.repeat(np.arange(6), 30)
    score = rng.random(180)
    held = rng.random(180) < 0.2 + 0.6 * score
    c = garra.grasp.compare(score, held, group, resamples=4000)
    assert "of 6 objects" in str(c) and "rate of the other objects" in str(c)
    one = str(garra.grasp.compare(score, held))
    assert "of 1 object," in one and "rate of the other trials" in one and "objects 0." not in one.split("Brier")[1]
    # The bootstrap by its definition: objects are drawn with replacement, their trials together.
    drawn = []
    for _ in range(1500):
        at = np.concatenate([np.flatnonzero(group == g) for g in rng.integers(6, size=6)])
        drawn.append(counted(score[at], held[at]))
    assert c.auc_interval == pytest.approx(tuple(np.quantile(drawn, (0.025, 0.975))), abs=0.012)
    left = np.array([counted(score[group != g], held[group != g]) for g in range(6)])
    width = 2.570582 * np.sqrt(5 / 6 * ((left - left.mean()) ** 2).sum())  # t of 5 degrees of freedom, from a table
    assert c.auc_jackknife == pytest.approx((c.auc - width, c.auc + width), abs=1e-6)
    alone = garra.grasp.compare(score, held, resamples=500)
    se = np.diff(alone.auc_interval)[0] / 3.92
    # Hanley and McNeil (1982).
    a, n, m = alone.auc, held.sum(), (~held).sum()
    q, r = a / (2 - a), 2 * a * a / (1 + a)
    assert se == pytest.approx(np.sqrt((a * (1 - a) + (n - 1) * (q - a * a) + (m - 1) * (r - a * a)) / (n * m)), rel=0.15)
    assert [g.trials for g in c.groups] == [30] * 6


def test_student_quantiles_are_those_of_tables():
    for freedom, quantile in ((1, 12.706205), (4, 2.776445), (14, 2.144787), (120, 1.979930)):
        assert student_quantile(0.975, freedom) == pytest.approx(quantile, abs=1e-6)


def test_a_baseline_that_is_the_score_differs_by_nothing_and_a_worse_one_by_its_auc():
    rng = np.random.default_rng(11)
    p = rng.random(400)
    held, group = rng.random(400) < p, rng.integers(0, 10, 400)
    c = garra.grasp.compare(p, held, group, baselines={"same": 3 * p - 7, "noise": rng.random(400)}, resamples=400)
    same, noise, rate = c.baselines
    assert (same.difference, same.difference_interval) == (0, (0, 0))
    assert noise.difference == pytest.approx(c.auc - noise.auc, abs=1e-12) and noise.difference_interval[0] > 0
    assert rate.name == "rate of the object's other trials" and rate.auc < 0.6


def test_the_rate_of_other_trials_of_objects_that_are_alike_says_nothing():
    """Eight objects with the same rate: AUC 0.5. Over objects with rates r_k, the pairs of two objects decide."""
    random = np.random.default_rng(5)
    group = np.repeat(np.arange(8), 100)
    for rates in ([0.5] * 8, [0.2, 0.8] * 4):
        rate = np.array(rates)[group]
        held = random.random(800) < rate
        c = garra.grasp.compare(random.random(800), held, group, resamples=400)
        other = next(b for b in c.baselines if b.name.startswith("rate"))
        known = np.mean((np.sign(np.subtract.outer(rate[held], rate[~held])) + 1) / 2)
        assert abs(other.auc - known) < 0.06
        low, high = other.difference_interval
        assert (low < 0 < high) == (len(set(rates)) == 1)


def test_effective_friction_may_be_below_all_that_is_needed():
    c = garra.grasp.compare([0.1, 0.2, 0.3], [0, 0, 1], required_friction=[0.2, 0.4, 0.6])
    assert c.effective_friction[0] == 0 and np.isclose(c.friction_agreement, 2 / 3)


def test_effective_friction_is_the_coefficient_that_decided():
    rng = np.random.default_rng(13)
    needed = rng.uniform(0, 1, 600)
    held = needed < 0.35
    held[:40] = ~held[:40]  # labels with errors
    c = garra.grasp.compare(-needed, held, rng.integers(0, 8, 600), required_friction=needed, resamples=300)
    value, low, high = c.effective_friction
    assert value == pytest.approx(0.35, abs=0.02) and low <= value <= high < 0.45
    assert c.friction_agreement == pytest.approx(560 / 600, abs=0.01)


def trial_set(count: int = 12):
    """A jaw beside the middle of a long box: the farther, the larger the moment of the weight."""
    poses = np.tile(np.diag([1.0, -1, -1, 1]), (count, 1, 1))
    poses[:, 1, 3], poses[:, 2, 3] = np.linspace(0, 0.09, count), 0.1
    held = (np.arange(count) < 5).astype(float)
    held[-1] = np.nan
    names = np.where(np.arange(count) % 2, "bar", "rod")
    return poses, held, names


def test_the_program_and_python_compare_the_same_trials(tmp_path: Path):
    poses, held, names = trial_set()
    options = {"mass": 0.4, "draws": 3, "position_noise": 0.001}
    grasps = garra.grasp.GraspSet.from_poses("panda", poses, "box:0.03,0.2,0.03", outcome=held, group=names, **options)
    ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.1, 0.6, common=True), samples=40, friction_samples=2)
    c = ranking.compare(resamples=200)
    assert c.trials == 11 and [g.name for g in c.groups] == ["bar", "rod"]
    p = grasps.touch.p_held(ranking)[:11]
    assert c.auc == pytest.approx(counted(p, held[:11] == 1), abs=1e-12)
    assert {b.name for b in c.baselines} >= {"antipodal angle", "area of the contacts", "thinness"}
    assert np.isfinite(c.effective_friction[0])

    for suffix in ("h5", "npz"):
        file = tmp_path / f"set.{suffix}"
        grasps.save(file)
        answer = program("grasp", "rank", file, "-o", tmp_path / "r.h5", "--set", "contacts.friction={uniform=[0.1,0.6]}",
                         "--set", "sampling.samples=40", "--set", "sampling.friction_samples=2")  # fmt: skip
        page = (tmp_path / "r.html").read_text()
        assert "Against outcomes" in page and "Share of the trials that held" in page
        answer = program("grasp", "compare", tmp_path / "r.h5", "--format", "json")
        said = json.loads(answer.stdout)
        assert said["auc"] == pytest.approx(c.auc, abs=1e-12) and said["trials"] == 11
        assert [g["name"] for g in said["groups"]] == ["bar", "rod"]
        again = garra.grasp.Ranking.read(tmp_path / "r.h5")
        assert again.compare(resamples=20).auc == pytest.approx(c.auc, abs=1e-12)
        assert again.candidates.touch.counts() == grasps.touch.counts()

    answer = program("grasp", "compare", tmp_path / "r.h5", "-o", tmp_path / "c.html")
    assert "AUC within objects" in answer.stdout and "c.html" in answer.stdout
    answer = program("grasp", "compare", tmp_path / "r.h5", "-o", tmp_path / "c.html", "--format", "json")
    assert json.loads(answer.stdout)["trials"] == 11
    assert "Reliability" in (tmp_path / "c.html").read_text()


def test_a_pose_whose_draws_all_collide_counts_as_failed_also_where_the_hand_arrived():
    poses, held, _ = trial_set(3)
    poses[2, 2, 3] = 0.05  # the palm within the bar
    grasps = garra.grasp.GraspSet.from_poses("panda", poses, "box:0.03,0.2,0.03", mass=0.01, outcome=held, draws=2)
    ranking = garra.grasp.rank(grasps, friction=0.5, samples=10, friction_samples=0)
    assert grasps.touch.p_held(ranking, arrived=True).round(3).tolist() == [0.976, 0.976, 0.024]
    assert garra.grasp.rank(grasps, samples=10, outcome=np.repeat([1, 1, 0], 2)).compare(arrived=True).missing == 1


def test_sets_without_outcomes_are_refused_in_words(tmp_path: Path):
    grasps = garra.grasp.propose("sphere:0.03", n=4, mass=0.1)
    grasps.save(tmp_path / "set.h5")
    program("grasp", "rank", tmp_path / "set.h5", "-o", tmp_path / "r.h5", "--no-report")
    answer = program("grasp", "compare", tmp_path / "r.h5", expect=3)
    assert "no `outcome`" in answer.stderr
    with pytest.raises(garra.Error, match="no `outcome`"):
        garra.grasp.rank(grasps, samples=10).compare()
    with pytest.raises(garra.Error, match="touch_status"):
        garra.grasp.rank(grasps, samples=10, outcome=[1, 0, 1, 0]).compare(arrived=True)


def test_several_rankings_are_objects_of_their_own(tmp_path: Path):
    poses, held, _ = trial_set()
    for name, thickness in (("thin", 0.02), ("thick", 0.06)):
        np.savez(tmp_path / f"{name}.npz", pose=poses, outcome=held)
        program("grasp", "touch", tmp_path / f"{name}.npz", "--mesh", f"box:{thickness},0.2,0.03", "--mass", "0.4",
                "-o", tmp_path / f"{name}_set.h5")  # fmt: skip
        program("grasp", "rank", tmp_path / f"{name}_set.h5", "-o", tmp_path / f"{name}.h5", "--no-report",
                "--set", "contacts.friction={uniform=[0.1,0.6]}", "--set", "sampling.samples=50",
                "--set", "sampling.friction_samples=2")  # fmt: skip
    answer = program("grasp", "compare", tmp_path / "thin.h5", tmp_path / "thick.h5", "--arrived", "--format", "json")
    said = json.loads(answer.stdout)
    assert [g["name"] for g in said["groups"]] == ["thick", "thin"] and said["trials"] == 22


def test_few_or_equal_outcomes_have_no_slope_and_intervals_stay_within_one():
    few = garra.grasp.compare([0.1, 0.9, 0.3, 0.6], [0, 1, 1, 0])
    assert 0 <= few.auc_jackknife[0] <= few.auc_jackknife[1] <= 1
    assert np.isnan(garra.grasp.compare([0.1, 0.9, 0.3], [1, 1, 1]).slope)
    assert np.isnan(garra.grasp.compare([0.1, 0.9, 0.3], [0, 1, 0]).slope)  # a threshold separates them
