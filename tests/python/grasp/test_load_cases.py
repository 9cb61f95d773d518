"""Load cases: P of holding in all or any of them, against weights that friction bears in closed form."""

from __future__ import annotations

from pathlib import Path

import garra
import numpy as np
import pytest
from arrays import require_module
from program import garra as program

require_module()

SIX = np.concatenate([np.eye(3), -np.eye(3)])


def pinch(mass=0.2, limit=2.0, count=2, **arrays):
    """Soft pads at +-30 mm along x with a limited normal force, for an ideal hand."""
    points = np.tile([[[-0.03, 0, 0], [0.03, 0, 0]]], (count, 1, 1))
    normals = np.tile([[[1.0, 0, 0], [-1, 0, 0]]], (count, 1, 1))
    inertia = np.tile(np.eye(3) * mass * 0.02**2, (count, 1, 1))
    return garra.grasp.GraspSet.from_arrays(
        points, normals, 0.5, mass=mass, inertia=inertia, force_limit=limit, torsion_radius=0.05, **arrays
    )


def needed(direction: int, weight: float, limit: float) -> float:
    """Friction for a weight along x (the normals: none, if a pad bears it) or across (2 mu F)."""
    return 0.0 if direction == 0 and weight <= limit else weight / (2 * limit)


def test_all_directions_need_the_worst_friction_and_any_the_least():
    mass, limit = 0.2, 2.0
    grasps = pinch(mass, limit).with_loads(gravity=9.81 * SIX)
    assert len(grasps) == 12 and grasps.arrays["load_case"].tolist() == [0, 1, 2, 3, 4, 5] * 2
    friction = garra.uniform(0.2, 0.8, common=True)
    every = garra.grasp.rank(grasps, friction=friction, samples=2000)
    worst = max(needed(d % 3, mass * 9.81, limit) for d in range(6))
    assert every.p_held[0] == pytest.approx((0.8 - worst) / 0.6, abs=0.04)
    assert every.required_friction[0, 1] == pytest.approx(worst, abs=1e-3)
    assert np.isnan(every.p_held[1:6]).all() and every.refused == {"load_case": 10}
    assert every.order.tolist() == [0, 6]
    text = repr(every)
    assert "2 of 2 grasps under 6 load cases" in text and "grasp 1, row 6: P(held)" in text and "refused" not in text
    any_of = garra.grasp.rank(grasps, friction=friction, samples=500, any_load_case=True)
    assert any_of.p_held[0] == 1 and any_of.required_friction[0, 1] < 1e-3


@pytest.mark.parametrize("any_case", [False, True])
def test_a_replay_shows_the_case_that_decides(any_case):
    grasps = pinch().with_loads(gravity=9.81 * SIX)
    rule = {"friction": garra.uniform(0.2, 0.8, common=True), "samples": 64, "any_load_case": any_case}
    ranking = garra.grasp.rank(grasps, **rule)
    shown = [ranking.replay(0, i) for i in range(64)]
    assert sum(r["outcome"] == "held" for r in shown) == ranking.held[0]
    assert {r["load_case"] % 3 == 0 for r in shown} == {any_case}  # along the normals no friction is needed
    assert ranking.replay(3, 0)["load_case"] == 3 and "load case" in ranking.replay(0).title


def test_changes_of_a_grasp_are_ranked_under_all_its_load_cases():
    grasps = pinch().with_loads(gravity=9.81 * SIX)
    ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.8, common=True), samples=1000)
    need = needed(1, 0.2 * 9.81, 2.0)  # across; along the normals (case 0) the pads bear the weight without friction
    for row in (6, 8):  # any row stands for its grasp
        helps = ranking.what_helps(row)
        p = dict(zip(helps.change, helps.p_held, strict=True))
        assert helps.grasp == "grasp 6" and helps.before == ranking.p_held[6] == pytest.approx((0.8 - need) / 0.6, abs=0.05)
        assert p["friction x 1.2"] == pytest.approx((0.96 - need) / 0.72, abs=0.05)
        assert p["force limits x 1.2"] == pytest.approx((0.8 - need / 1.2) / 0.6, abs=0.05)
        variants = ranking.variants(row)
        assert variants.p_held[0] == ranking.p_held[6] and variants.candidates.arrays["load_case"][:7].tolist() == [*range(6), 0]
        assert [variants.name(k) for k in (0, 6)] == ["as it is (grasp 0)", "force limits x 1.2 (grasp 6)"]
        assert variants.p_held[6] == p["force limits x 1.2"] and variants.refused == {"load_case": 5 * len(variants.p_held) // 6}
    any_of = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.8, common=True), samples=64, any_load_case=True)
    assert any_of.what_helps(0).before == 1


def test_the_joint_event_is_that_of_the_samples_not_the_product_of_probabilities():
    # Two loads across that fail in the same samples: the probability of both is that of one.
    grasps = pinch().with_loads(gravity=[[0, 0, -9.81], [0, -9.81, 0]])
    alone = garra.grasp.rank(pinch(), friction=garra.uniform(0.2, 0.8, common=True), samples=1000)
    both = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.8, common=True), samples=1000)
    assert 0.2 < alone.p_held[0] < 0.8
    assert both.held[0] == pytest.approx(alone.held[0], abs=2)


def test_whole_hands_count_the_outcomes_of_all_cases():
    pose = np.diag([1.0, -1, -1, 1])
    pose[2, 3] = 0.1032
    away = pose + np.eye(4, k=3)  # a draw that touches nothing counts once, too
    grasps = garra.grasp.GraspSet.from_poses("panda", [pose, away], "box:0.04,0.04,0.06", mass=0.5, outcome=[1, 0])
    six = grasps.with_protocol("six_gravity_directions")
    ranking = garra.grasp.rank(six, friction=garra.uniform(0.02, 0.12, common=True), samples=200, friction_samples=0)
    assert ranking.outcomes[0].sum() == 6 * 200
    single = garra.grasp.rank(grasps, friction=garra.uniform(0.02, 0.12, common=True), samples=200, friction_samples=0)
    assert 0 < ranking.p_held[0] <= single.p_held[0]
    assert six.touch.p_held(ranking) == pytest.approx([(ranking.held[0] + 0.5) / 201, 0.5 / 201])
    assert ranking.compare(resamples=10).groups[0].mean == pytest.approx(six.touch.p_held(ranking).mean())


def test_inertial_loads_are_mass_times_acceleration_at_the_lever():
    grasps = pinch(count=1, com=np.array([[0.0, 0, 0.01]]), gravity=np.zeros((1, 3)))
    shaken = grasps.with_loads(acceleration=[[0, 0, 3.0], [0, 0, 0]], angular_acceleration=[[0, 0, 0], [0, 50.0, 0]], about=[0, 0, -0.09])
    np.testing.assert_allclose(shaken.arrays["gravity"], [[0, 0, -3.0], [-50 * 0.1, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(shaken.arrays["wrench"][1], [0, 0, 0, 0, -50 * 0.2 * 0.02**2, 0], atol=1e-12)
    pose = np.diag([1.0, -1, -1, 1])
    pose[2, 3] = 0.1032
    jaw = garra.grasp.GraspSet.from_poses("panda", [pose], "box:0.04,0.04,0.06", mass=0.5, gravity=[0, 0, 0])
    test = jaw.with_protocol("acronym_shake", acceleration=10.0, angular_acceleration=20.0)
    # The hand looks down: it shakes along z, and turns about x through its base 103 mm above.
    np.testing.assert_allclose(test.arrays["gravity"], [[0, 0, 10], [0, 0, -10], [0, -20 * 0.1032, 0], [0, 20 * 0.1032, 0]], atol=1e-9)
    with pytest.raises(ValueError, match="give acceleration"):
        jaw.with_protocol("acronym_shake")


def test_dexgraspbench_sets_mass_friction_and_torsion():
    bench = pinch().with_protocol("dexgraspbench")
    assert set(bench.arrays["mass"]) == {0.1} and set(bench.arrays["friction"]) == {0.6}
    np.testing.assert_allclose(bench.arrays["torsion_radius"], 0.02 / 0.6)
    np.testing.assert_allclose(bench.arrays["wrench"][:6, :3], 0.981 * SIX)
    assert not bench.arrays["gravity"].any()


def test_the_program_ranks_sets_with_load_cases_and_refuses_torn_ones(tmp_path: Path):
    grasps = pinch(count=3).with_loads(gravity=9.81 * SIX)
    grasps.save(tmp_path / "set.h5")
    words = "grasp", "rank", tmp_path / "set.h5", "--no-report", "-o", tmp_path / "r.h5"
    done = program(*words, "--set", "contacts.friction={uniform=[0.2,0.8]}", "--set", "held.any_load_case=true")
    assert "3 of 3 grasps ranked" in done.stdout and "held in any of the 6 load cases" in done.stdout
    assert garra.grasp.Ranking.read(tmp_path / "r.h5").p_held[0] == 1
    answer = program(*words, "--best", "2", expect=2)
    assert "load cases" in answer.stderr
    torn = dict(grasps.arrays)
    torn["load_case"] = torn["load_case"].copy()
    torn["load_case"][7] = 4
    garra.grasp.GraspSet(grasps.first, torn).save(tmp_path / "set.h5")
    assert "load_case: row 7 is not 1" in program(*words, expect=3).stderr
    with pytest.raises(ValueError, match="has load cases already"):
        grasps.with_loads(gravity=9.81 * SIX)
    with pytest.raises(ValueError, match=r"gravity has the shape \(3,\)"):
        pinch().with_loads(gravity=[0, 0, -9.81])
