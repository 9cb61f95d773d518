"""Held hangs on no contact that grazes and on no solver's choice: forces that leave the contacts at rest decide."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("garra._core")

import garra  # noqa: E402
from garra import contact  # noqa: E402
from garra.grasp import GraspSet, rank  # noqa: E402

ONE = np.eye(3)


@pytest.mark.parametrize("share", [0.5, 1 - 1e-6, 1 + 1e-6, 2])
def test_one_contact_rests_where_its_cone_is_near_enough(share):
    mu, b = 0.4, np.array([-2.0, 3.0, 4.0])
    left = (5 - mu * 2) / np.hypot(1, mu)  # distance of -b from the cone
    found = contact.can_rest(ONE, b, [mu], share * left)
    assert found.status == (contact.POSSIBLE if share > 1 else contact.IMPOSSIBLE)
    assert np.isnan(found.force).all() or np.linalg.norm(found.force + b) <= share * left


def test_a_contact_that_is_left_out_presses_with_nothing():
    A, b = np.eye(6), np.array([-1.0, 0, 0, 2.0, 0, 0])  # the second one flies away
    assert contact.can_rest(A, b, [0.5, 0.5], 0.1).status == contact.IMPOSSIBLE
    assert contact.can_rest(A, b, [0.5, 0.5], 0.1, left_out=[False, True]).status == contact.POSSIBLE


def test_forces_have_limits_and_a_least_size():
    b = np.array([-5.0, 0, 0])
    assert contact.can_rest(ONE, b, [0.5], 0.1, force_limit=4.89).status == contact.IMPOSSIBLE
    assert contact.can_rest(ONE, b, [0.5], 0.1, force_limit=4.91).status == contact.POSSIBLE
    assert contact.can_rest(ONE, b, [0.5], 0.1, least_force=5.09).status == contact.POSSIBLE
    assert contact.can_rest(ONE, b, [0.5], 0.1, least_force=5.11).status == contact.IMPOSSIBLE


def pads(friction: float, path) -> GraspSet:
    """A rod of 50 g between two sliding pads of two points each; each slides with 0.12 kg and is pushed with 5 N."""
    slides = np.zeros((4, 3, 2))
    slides[:2, 0, 0], slides[2:, 0, 1] = 1, -1
    np.savez(
        path,
        first=[0, 4],
        point=[[-0.005, -0.016, 0], [-0.005, 0.016, 0], [0.005, -0.016, 0], [0.005, 0.016, 0]],
        normal=[[1.0, 0, 0]] * 2 + [[-1.0, 0, 0]] * 2,
        friction=[friction] * 4,
        mass=[0.05],
        inertia=[np.diag([6e-6, 7e-7, 6e-6])],
        jacobian=slides,
        mass_matrix=[0.12 * np.eye(2)],
        torque=[[5.0, 5.0]],
    )
    return GraspSet.from_npz(path)


NEEDED = 0.05 * 9.81 / (2 * 5)


@pytest.mark.parametrize("share", [0.9, 1.1, 12])
def test_flat_pads_hold_what_their_friction_holds_and_are_not_unique(share, tmp_path):
    ranking = rank(pads(share * NEEDED, tmp_path / "pads.npz"), samples=4, friction_samples=1)
    assert ranking.p_held[0] == (1 if share > 1 else 0)
    assert ranking.unsolved[0] == 0
    if share > 10:  # all of a pad's force at one of its points would let the other one drop
        assert ranking.non_unique[0] == 4
    assert ranking.p_resisted[0] == 1


@pytest.mark.parametrize("share", [0.5, 1.5, 12])
def test_the_friction_that_flat_pads_need_is_known_whatever_forces_are_found(share, tmp_path):
    ranking = rank(pads(share * NEEDED, tmp_path / "pads.npz"), samples=4, friction_samples=4)
    np.testing.assert_allclose(ranking.required_friction[0], NEEDED, atol=3e-4)
    # Enough, and not much less is.
    assert ranking.replay(0, 0)["required_friction"] == pytest.approx(NEEDED, abs=3e-4)
    assert rank(pads(ranking.required_friction[0, 2], tmp_path / "enough.npz"), samples=1).p_held[0] == 1
    assert rank(pads(NEEDED - 5e-4, tmp_path / "less.npz"), samples=1).p_held[0] == 0


def test_a_ranking_tells_how_far_it_is(tmp_path, capsys):
    one = pads(0.6, tmp_path / "pads.npz")
    # Forty copies with five samples' worth of milliseconds each: more than one part of the work.
    copies = {name: np.concatenate([array] * 40) for name, array in one.arrays.items()}
    many = GraspSet.from_arrays(
        points=copies.pop("point").reshape(40, 4, 3),
        normals=copies.pop("normal").reshape(40, 4, 3),
        friction=copies.pop("friction").reshape(40, 4),
        jacobian=copies.pop("jacobian").reshape(40, 4, 3, 2),
        **copies,
    )
    told = []
    ranking = rank(many, samples=64, friction_samples=0, progress=told.append)
    assert told[-1]["grasps"] == 40 == told[-1]["of"] and told[-1]["seconds_left"] == 0
    assert [r["grasps"] for r in told] == sorted(r["grasps"] for r in told)
    np.testing.assert_array_equal(ranking.p_held, rank(many, samples=64, friction_samples=0, progress=True).p_held)
    assert "40 of 40 grasps, 0 s left" in capsys.readouterr().err

    def stop(record):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        rank(many, samples=64, progress=stop)


def test_variants_tell_how_far_they_are():
    grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=2, mass=0.3)
    ranking = rank(grasps, friction=garra.uniform(0.2, 0.6), samples=50)
    told: list[dict] = []
    variants = ranking.variants(0, progress=told.append)
    assert told[-1]["grasps"] == told[-1]["of"] == len(variants.p_held) > 2
    np.testing.assert_array_equal(variants.p_held, ranking.variants(0).p_held)


def torus(major=0.03, minor=0.012, n=24, m=12):
    a, b = np.meshgrid(np.arange(n) * 2 * np.pi / n, np.arange(m) * 2 * np.pi / m, indexing="ij")
    r = major + minor * np.cos(b)
    vertex = np.stack([r * np.cos(a), r * np.sin(a), minor * np.sin(b)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(n), np.arange(m), indexing="ij")
    p, q, r, s = (((i + x) % n * m + (j + y) % m).ravel() for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)))
    return vertex, np.concatenate([np.stack([p, q, r], 1), np.stack([p, r, s], 1)])


def test_friction_needed_is_that_with_which_a_jaw_begins_to_hold():
    """Four points a pad: the solver's forces open contacts that need not open. Neither answer may depend on them."""
    random = np.random.default_rng(2)
    jaw = garra.grasp.ParallelJaw(opening=0.08, pad_width=0.02, pad_height=0.02, tip=0.12, force=15)
    poses = []
    for _ in range(14):
        R, _ = np.linalg.qr(random.normal(size=(3, 3)))
        R *= np.sign(np.linalg.det(R))
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = R, R @ [random.uniform(-0.01, 0.01), random.uniform(-0.02, 0.02), -0.11]
        poses.append(X)
    grasps = GraspSet.from_poses(jaw, poses, torus(), mass=0.2, close=False)
    needed, other = (rank(grasps, friction=mu, samples=1).required_friction[:, 1] for mu in (0.5, 0.9))
    finite = np.flatnonzero(np.isfinite(needed) & (needed > 0.25))
    assert len(finite) >= 4
    np.testing.assert_allclose(needed[finite], other[finite], rtol=2e-3)
    for k in finite:
        less, more = (rank(grasps, friction=float(share * needed[k]), samples=1).p_held[k] for share in (0.98, 1.02))
        assert (less, more) == (0, 1), (k, needed[k])
