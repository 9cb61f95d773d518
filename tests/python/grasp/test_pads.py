"""Force limits of pads: a long pad by hand, linear programs, convex hulls, and jaws by formulas of their own."""

from __future__ import annotations

from itertools import product

import garra
import numpy as np
import pytest
from arrays import require_module

require_module()
optimize = pytest.importorskip("scipy.optimize")
spatial = pytest.importorskip("scipy.spatial")

GRAVITY, HALF, WIDTH = 9.81, 0.03, 0.02  # half of the pads' length, half of the object's width


def long_pads(offset: float, limit: float, mu: float = 0.5, **arrays) -> garra.grasp.GraspSet:
    """1 kg between two pads whose points are at y = -HALF and HALF; the center of mass is at y = offset."""
    points = [[x, y, 0] for x in (-WIDTH, WIDTH) for y in (-HALF, HALF)]
    normals = [[-np.sign(x), 0, 0] for x, _, _ in points]
    tangent = [[0.0, 0, 1]] * 4
    return garra.grasp.GraspSet.from_arrays([points], [normals], mu, mass=1.0, com=[0, offset, 0], tangent=[tangent],
                                            force_limit=limit, **arrays)  # fmt: skip


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9, 1.5])
def test_a_long_pad_bears_a_load_beside_its_middle_by_the_sum_of_its_points(share):
    """By hand: a pad bears W / 2, its points W / 4 (1 -+ share). Their normal forces are these over mu, together
    W / (2 mu), and W share / (2 mu) once one of the points pulls down."""
    weight, mu = GRAVITY, 0.5
    needed = weight / (2 * mu) * max(1, share)
    pads = [[0.0, 0, 1, 1]]
    for factor, holds in ((1.001, 1), (0.999, 0)):
        ranking = garra.grasp.rank(long_pads(share * HALF, factor * needed, pad=pads), samples=1)
        assert ranking.p_held[0] == holds
        # The sum decides: the friction that the same limit needs.
        assert ranking.required_friction[0, 1] == pytest.approx(mu / factor, rel=1e-3)
    single = weight / (4 * mu) * (1 + share)  # of the point that bears most
    for factor, holds in ((1.001, 1), (0.999, 0)):
        assert garra.grasp.rank(long_pads(share * HALF, factor * single), samples=1).p_held[0] == holds


def test_the_forces_of_a_sample_share_the_limit_unequally():
    ranking = garra.grasp.rank(long_pads(0.5 * HALF, 10.0, pad=[[0.0, 0, 1, 1]]), samples=1)
    force = np.asarray(ranking.replay(0, 0)["force"]).reshape(4, 3)
    assert (force[:, 0].reshape(2, 2).sum(1) <= 10.0 + 1e-9).all()
    assert force[:, 0].max() > 5.5  # more than an equal share
    np.testing.assert_allclose(force[:, 1].sum(), GRAVITY, rtol=1e-8)


def random_pads(random, pads: int, each: int, mu: float):
    """Contacts [pads * each] on an ellipsoid with the normals of a sphere; those of a pad are near each other."""
    middle = random.normal(size=(pads, 1, 3))
    n = (middle / np.linalg.norm(middle, axis=-1, keepdims=True) + 0.15 * random.normal(size=(pads, each, 3))).reshape(-1, 3)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    number = np.repeat(np.arange(pads), each)
    limit = random.uniform(2, 6, pads)[number]
    return n * [-0.06, -0.05, -0.04], n, limit, number.astype(float), np.full(len(n), mu)


def columns(points, normals):
    return np.hstack([normals, np.cross(points, normals) / LENGTH])  # [k, 6]


LENGTH = 0.03 * np.sqrt(5 / 2)  # moments count as the force that makes them on a sphere of that radius of gyration


def weightless(points, normals, limit, pad, mu, wrench, **more):
    order = np.random.default_rng(5).permutation(len(points))  # a pad's contacts need not follow each other
    return garra.grasp.GraspSet.from_arrays(
        points[order][None], normals[order][None], mu[order][None], mass=1.0, gravity=[0, 0, 0], inertia=0.03**2 * np.eye(3),
        wrench=wrench, force_limit=limit[order][None], pad=pad[order][None], **more)  # fmt: skip


def test_without_friction_the_decision_is_that_of_a_linear_program():
    random = np.random.default_rng(1)
    answers = []
    for _ in range(200):
        given = random_pads(random, int(random.integers(3, 6)), int(random.integers(1, 4)), 0.0)
        points, normals, limit, pad, mu = given
        W = columns(points, normals).T
        w = -W @ (random.dirichlet(np.ones(len(pad))) * limit * random.uniform(0.5, 5))
        w[3:] *= LENGTH
        together = (pad[None] == np.unique(pad)[:, None]).astype(float)
        # The most of w that forces within the limits balance: 1 is enough.
        scaled = np.concatenate([w[:3], w[3:] / LENGTH])
        most = optimize.linprog(
            np.append(np.zeros(len(pad)), -1), A_ub=np.hstack([together, np.zeros((len(together), 1))]),
            b_ub=[limit[pad == p][0] for p in np.unique(pad)], A_eq=np.hstack([W, scaled[:, None]]), b_eq=np.zeros(6),
        )  # fmt: skip
        if abs(-most.fun - 1) < 1e-6:
            continue
        ranking = garra.grasp.rank(weightless(*given, w), samples=1, friction_samples=0)
        assert ranking.unsolved[0] == 0
        assert ranking.p_held[0] == (-most.fun > 1)
        answers.append(-most.fun > 1)
    assert 40 < sum(answers) < len(answers) - 40


def test_without_friction_the_radius_is_that_of_a_convex_hull():
    random = np.random.default_rng(2)
    for _ in range(4):
        points, normals, limit, pad, mu = random_pads(random, 5, 3, 0.0)
        W = columns(points, normals)
        corners = [np.vstack([np.zeros(6), limit[pad == p][:, None] * W[pad == p]]) for p in range(5)]
        sums = np.array([np.sum(c, axis=0) for c in product(*corners)])
        middle = sums.mean(0)  # the load that lies in the middle of what the pads bear
        hull = spatial.ConvexHull(sums - middle)
        truth = -hull.equations[:, -1].max()
        ranking = garra.grasp.rank(
            weightless(points, normals, limit, pad, mu, -middle * [1, 1, 1, LENGTH, LENGTH, LENGTH]),
            samples=1, friction_samples=0, radius_samples=1)  # fmt: skip
        assert 0.975 * truth <= ranking.resisted_force_radius[0] <= truth * (1 + 1e-9)


@pytest.mark.parametrize("soft", [False, True])
def test_with_friction_every_sample_is_decided_and_agrees_with_bounds_of_single_limits(soft):
    """Held by limits divided among the points of a pad: held by the pad's. Not held by the pad's limit at each point:
    not held."""
    random = np.random.default_rng(3)
    held = []
    for _ in range(300):
        points, normals, limit, pad, mu = random_pads(random, int(random.integers(2, 6)), int(random.integers(1, 5)), 0.4)
        more = {"torsion_radius": 0.01} if soft else {}
        w = random.normal(size=6) * np.array([1, 1, 1, 0.03, 0.03, 0.03]) * random.uniform(0.1, 3)
        count = np.bincount(pad.astype(int))[pad.astype(int)]
        alone = np.arange(len(pad), dtype=float)
        verdict = [
            garra.grasp.rank(weightless(points, normals, *these, mu, w, **more), samples=1, friction_samples=0)
            for these in ((limit / count, alone), (limit, pad), (limit, alone))
        ]
        assert [r.unsolved[0] for r in verdict] == [0, 0, 0]
        least, its, most = (r.p_held[0] for r in verdict)
        assert least <= its <= most
        held.append((least, its, most))
    assert {(0.0, 1.0, 1.0), (0.0, 0.0, 1.0)} <= set(held)  # the limit of a pad is neither of both


def test_executors_agree_on_pads_to_the_bit():
    random = np.random.default_rng(6)
    points, normals, limit, pad, mu = random_pads(random, 4, 3, 0.4)
    grasps = weightless(points, normals, limit, pad, mu, np.zeros(6))
    study = {"force": garra.ball(4.0), "samples": 40, "friction_samples": 9, "radius_samples": 3}
    found = [garra.grasp.rank(grasps, device=device, **study) for device in ("scalar", "cpu")]
    assert 0 < found[0].p_held[0] < 1
    for column in ("p_held", "required_friction", "resisted_force_radius"):
        np.testing.assert_array_equal(getattr(found[0], column), getattr(found[1], column))


def jaw(z: float = 0.1032, **options):
    """A box of 40 mm in a Panda gripper: the pads' middle is at the box's middle at the default height."""
    pose = np.diag([1.0, -1, -1, 1])
    pose[2, 3] = z
    return garra.grasp.GraspSet.from_poses("panda", [pose], "box:0.04,0.04,0.06", friction=0.5, **options)


def test_a_jaw_has_margin_required_friction_and_the_radius_of_its_grip():
    """By hand: pads of 40 N bear 2 mu 40 N across the closing direction, and the weight takes its part of it. Moments
    count as forces at the radius of a sphere; a small one makes them no weaker than forces."""
    for mass in (0.1, 1.0, 3.0):
        ranking = garra.grasp.rank(jaw(mass=mass, moment_length=0.001), samples=4, friction_samples=4)
        weight = mass * GRAVITY
        assert ranking.required_friction[0, 1] == pytest.approx(weight / 80, abs=3e-4)
        assert ranking.margin[0, 1] == pytest.approx(1 - weight / 40, abs=1e-3)
        radius = ranking.resisted_force_radius[0]
        assert 0.97 * (40 - weight) <= radius <= 40 - weight
    heavy = garra.grasp.rank(jaw(mass=5.0), samples=4, friction_samples=4)
    assert heavy.p_held[0] == 0 and heavy.resisted_force_radius[0] == 0
    assert heavy.margin[0, 1] == pytest.approx(1 - 5 * GRAVITY / 40, abs=1e-3)


def test_pushes_within_the_radius_of_a_jaw_are_held_and_some_beyond_it_are_not():
    grasps = jaw(z=0.11, mass=0.5)
    radius = garra.grasp.rank(grasps, samples=4, friction_samples=4).resisted_force_radius[0]
    assert radius > 1
    inertia = grasps.arrays["inertia"][0]
    length = np.sqrt(5 / 2 * np.trace(inertia) / (3 * 0.5))
    random = np.random.default_rng(4)
    push = random.normal(size=(300, 6))
    push /= np.linalg.norm(push, axis=1, keepdims=True)
    for factor, least, most in ((0.99, 1.0, 1.0), (1.5, 0.0, 0.999)):
        wrench = factor * radius * push * [1, 1, 1, length, length, length]
        held = garra.grasp.rank(_pushed(grasps, wrench), samples=1, friction_samples=0).p_held
        assert least <= held.mean() <= most


def _pushed(grasps, wrench):
    """The grasp once for each wrench."""
    count = len(wrench)
    arrays = {name: np.concatenate([value] * count) for name, value in grasps.arrays.items()}
    return garra.grasp.GraspSet(len(grasps.arrays["point"]) * np.arange(count + 1), arrays | {"wrench": wrench})


def test_a_force_limit_of_pads_is_refused_where_the_command_limits_forces():
    with pytest.raises(garra.FileError, match="force limits of pads"):
        garra.grasp.rank(jaw(mass=0.1), force_limit=40.0)
    ideal = garra.grasp.rank(jaw(mass=0.1), force_limit=40.0, hand="ideal", samples=10)
    assert ideal.p_held[0] == 1 and ideal.resisted_force_radius[0] > 0
