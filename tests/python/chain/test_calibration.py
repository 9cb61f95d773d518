"""Calibration of arms: counts of identifiable parameters, derivatives, statistics of fits to synthetic measurements."""

from __future__ import annotations

import json

import garra
import numpy as np
import pytest
from arrays import REFERENCE, require_module

require_module()

from garra.chain.calibration import AXES, Calibration  # noqa: E402
from garra.turns import turn_matrix  # noqa: E402

PUMA = garra.load("puma560")
SCARA = garra.Chain.from_toml(
    """
schema = 1
robot = "scara"
convention = "dh"
[[joint]]
a = 0.3
[[joint]]
a = 0.25
alpha = "180 deg"
[[joint]]
type = "prismatic"
[[joint]]
d = 0.1
"""
)


GENERAL = garra.Chain.from_toml(
    'schema = 1\nrobot = "six"\nconvention = "dh"\ntool = { position = [0.1, 0.05, 0.2] }\n'
    + "".join(
        f'[[joint]]\na = {a}\nd = {d}\nalpha = "{alpha} deg"\n'
        for a, d, alpha in ((0.1, 0.3, 80), (0.4, 0.1, 10), (0.2, 0.1, 95), (0.1, 0.4, -70), (0.05, 0.1, 60), (0.03, 0.1, 20))
    )
)


def joints(arm, n, seed=0):
    return np.random.default_rng(seed).uniform(-2, 2, (n, arm.n))


def displaced(model, size=1.0, seed=1):
    return np.random.default_rng(seed).normal(0, size, len(model.names)) * np.tile(np.repeat([3e-4, 1e-3], 3), model.arm.n + 1)


@pytest.mark.parametrize(("arm", "measured", "expected"), [(PUMA, "pose", 4 * 6 + 6), (SCARA, "pose", 4 * 3 + 2 + 6)])
def test_as_many_combinations_can_be_identified_as_theory_says(arm, measured, expected):
    """4 of each revolute joint, 2 of each prismatic one, 6 of base and tool (Everett and others 1987)."""
    found = Calibration(arm, measured=measured).identify(joints(arm, 60))
    assert found.rank == found.possible == expected


def test_positions_tell_less_than_poses():
    """Three fewer. The PUMA's tool point lies on the three axes of its wrist, each of which shows two offsets only."""
    assert Calibration(GENERAL, measured="position").identify(joints(GENERAL, 60)).rank == 4 * 6 + 6 - 3
    assert Calibration(PUMA, measured="position").identify(joints(PUMA, 60)).rank == 4 * 3 + 6 - 3 + 2 * 3


def test_few_poses_identify_no_more_than_they_measure():
    found = Calibration(PUMA).identify(joints(PUMA, 3))
    assert found.rank == 18 and found.possible == 30


def test_jacobians_are_the_slopes_of_poses():
    model = Calibration(PUMA)
    q, p = joints(PUMA, 4), displaced(Calibration(PUMA))
    J, h = model.jacobian(q, p), 1e-6
    moved = model._displaced(p)
    for k in range(len(model.names)):
        ends = []
        for sign in (1, -1):
            step = np.zeros(len(model.names))
            step[k] = sign * h
            ends.append(model._frames(q, model._apply(moved, step))[1])
        slope = (ends[0] - ends[1]) / (2 * h)
        turn = slope[:, :3, :3] @ model.poses(q, p)[:, :3, :3].transpose(0, 2, 1)
        assert abs(slope[:, :3, 3] - J[:, :3, k]).max() < 1e-8
        assert abs(turn[:, [2, 0, 1], [1, 2, 0]] - J[:, 3:, k]).max() < 1e-8


def test_a_shift_of_the_base_moves_the_tool_as_far():
    model = Calibration(PUMA)
    p = np.zeros(len(model.names))
    p[model.names.index("base_y")] = 0.01
    q = joints(PUMA, 5)
    shift = model.poses(q, p) - PUMA.forward_kinematics(q)
    assert abs(shift[:, :3, 3] - [0, 0.01, 0]).max() < 1e-15 and abs(shift[:, :3, :3]).max() < 1e-15


def test_exact_measurements_are_explained_and_predict_other_poses():
    model = Calibration(PUMA)
    true, q, other = displaced(model), joints(PUMA, 40), joints(PUMA, 50, 7)
    fit = model.fit(q, model.poses(q, true))
    assert fit.converged and fit.degrees_of_freedom == 240 - 30
    assert abs(model.poses(other, fit.parameters) - model.poses(other, true)).max() < 1e-9
    assert np.linalg.norm(fit.parameters / model.prior) <= np.linalg.norm(true / model.prior)


def noisy(model, q, true, seed):
    random = np.random.default_rng(seed)
    poses = model.poses(q, true)
    noise = random.normal(size=(len(q), 6)) * model.noise
    poses[:, :3, :3] = turn_matrix(noise[:, 3:]) @ poses[:, :3, :3]
    poses[:, :3, 3] += noise[:, :3]
    return poses


def test_fits_of_noisy_measurements_scatter_as_their_covariance_says():
    model = Calibration(PUMA)
    true, q = displaced(model), joints(PUMA, 30)
    basis = model.identify(q).combinations / model.prior  # identifiable combinations of parameters
    fits = [model.fit(q, noisy(model, q, true, seed)) for seed in range(200)]
    chi = np.array([f.chi_square for f in fits])
    free = fits[0].degrees_of_freedom
    assert abs(chi.mean() / free - 1) < 4 * np.sqrt(2 / free / len(fits))
    scatter = np.var([basis @ f.parameters for f in fits], axis=0)
    said = np.diag(basis @ fits[0].covariance @ basis.T)
    assert 0.7 < (scatter / said).min() and (scatter / said).max() < 1.4


def test_combinations_below_the_prior_have_its_variance():
    """With noise as large as the displacements, errors of fits have the covariance's size: its inverse makes them of length p."""
    model, q = Calibration(PUMA, noise=(1e-3, 1e-2)), joints(PUMA, 8)
    squares = []
    for seed in range(200):
        true = np.random.default_rng(1000 + seed).normal(size=len(model.prior)) * model.prior
        fit = model.fit(q, noisy(model, q, true, seed))
        off = fit.parameters - true
        squares.append(off @ np.linalg.solve(fit.covariance, off))
    assert np.mean(squares) == pytest.approx(len(model.prior), rel=0.08)


@pytest.mark.parametrize("joint", ['type = "helical"\npitch = 0.05', 'type = "revolute"\nfollows = { joint = "first", multiplier = 0.5 }'])
def test_arms_with_coupled_joints_have_displacements_of_all_links(joint):
    arm = garra.Chain.from_toml(
        'schema = 1\nrobot = "coupled"\nconvention = "dh"\ntool = { position = [0.1, 0.05, 0.2] }\n'
        '[[joint]]\nname = "first"\na = 0.3\nalpha = "40 deg"\n'
        f'[[joint]]\n{joint}\na = 0.2\nalpha = "-70 deg"\n[[joint]]\nd = 0.1\na = 0.25\n'
    )
    model, q, other = Calibration(arm), joints(arm, 40), joints(arm, 20, 7)
    assert abs(model.poses(q) - arm.forward_kinematics(q)).max() < 1e-12
    assert len(model.names) == 6 * (arm.link_poses(q).shape[1] + 1)
    true = np.random.default_rng(3).normal(size=len(model.prior)) * model.prior
    fit = model.fit(q, model.poses(q, true))
    assert fit.converged
    assert abs(model.poses(other, fit.parameters) - model.poses(other, true)).max() < 1e-8


def test_positions_of_displaced_arms_are_fitted_within_their_covariance():
    # Displacements remove the symmetry of the nominal arm: more combinations have a small effect.
    model, rng = Calibration(PUMA, measured="position"), np.random.default_rng(4)
    for seed in range(8):
        q, true = joints(PUMA, 40, seed), 0.3 * rng.normal(size=len(model.prior)) * model.prior
        fit = model.fit(q, model.poses(q, true)[:, :3, 3] + rng.normal(size=(40, 3)) * model.noise)
        assert fit.converged and abs(fit.parameters / model.prior).max() < 3
        assert abs((fit.parameters - true) / np.sqrt(np.diag(fit.covariance))).max() < 5
        other = joints(PUMA, 40, 100 + seed)
        assert abs(model.poses(other, fit.parameters) - model.poses(other, true))[:, :3, 3].max() < 5e-4


def test_chosen_poses_are_better_than_random_ones():
    model, q = Calibration(PUMA), joints(PUMA, 120)
    chosen = model.choose(q, 10)
    assert len(set(chosen)) == 10
    best = model.identify(q[chosen]).observability
    others = [model.identify(joints(PUMA, 10, seed)).observability["O1"] for seed in range(30)]
    assert best["O1"] > max(others)


def test_measurements_without_sense_are_refused():
    model = Calibration(PUMA)
    with pytest.raises(ValueError, match=r"q has the shape \(6,\), not \[n, 6\]"):
        model.poses(np.zeros(6))
    with pytest.raises(ValueError, match=r"measured has the shape"):
        model.fit(np.zeros((2, 6)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="measured\\[1\\] is not finite"):
        model.fit(np.zeros((2, 6)), [np.eye(4), np.full((4, 4), np.nan)])
    mirrored = np.diag([1.0, 1.0, -1.0, 1.0])
    for bad in (np.zeros((4, 4)), mirrored, np.diag([1.0, 1.0, 1.0, 2.0]), np.diag([1.1, 1.0, 1.0, 1.0])):
        with pytest.raises(ValueError, match="measured\\[1\\] is no rotation and translation"):
            model.fit(np.zeros((2, 6)), [np.eye(4), bad])
    with pytest.raises(ValueError, match="one of pose, position"):
        Calibration(PUMA, measured="angle")
    assert len(AXES) == 6


def test_real_measurements_of_a_positioner():
    """A nominal arm that is off by up to 12 mm predicts poses that were not fitted as well as the fitted ones.

    An own product of exponentials, fitted by SciPy's least_squares, has the same chi square, 585.548808, and the same
    errors, 0.3878 and 0.4104 mm.
    """
    data = json.loads((REFERENCE / "chain" / "positioner_measurements.json").read_text())
    rows = np.array(data["rows"])
    q, measured = rows[:, :2], np.tile(np.eye(4), (len(rows), 1, 1))
    measured[:, :3, 3] = rows[:, 2:5]
    w, x, y, z = rows[:, 5:].T
    measured[:, :3, :3] = np.moveaxis(np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]), 2, 0)  # fmt: skip
    arm = garra.Chain.from_toml(
        """
schema = 1
robot = "positioner"
convention = "screws"
home = { position = [-0.63, -0.77, 0.62], rpy = [1.57, -0.19, -2.95] }
[[joint]]
name = "tilt"
screw = [0.00999950003749688, -0.99995000374968752, 0, 0.58997050221231565, 0.0058997050221231559, 0.0099995000374968752]
[[joint]]
name = "turn"
screw = [0, 0, 1, -0.59, 0, 0]
"""
    )
    model = Calibration(arm, noise=(1e-4, 5e-4), prior=(0.02, 0.02))
    fitted, other = slice(0, data["fitted"]), slice(data["fitted"], None)
    fit = model.fit(q[fitted], measured[fitted])

    def rms(part: slice, parameters=None) -> float:  # [mm]
        off = (model.poses(q[part], parameters) - measured[part])[:, :3, 3]
        return 1e3 * np.sqrt((off**2).sum(axis=1).mean())

    assert model.identify(q[fitted]).rank == 4 * 2 + 6
    assert 8 < rms(fitted) < 9 and 8 < rms(other) < 9
    assert rms(fitted, fit.parameters) == pytest.approx(0.3878, abs=1e-3)
    assert rms(other, fit.parameters) == pytest.approx(0.4104, abs=1e-3)
    assert fit.chi_square == pytest.approx(585.5488, rel=1e-4)
    assert "positions off by 0.388 mm (rms), chi square 585.5 of 178" in str(fit)
    assert str(model.identify(q[fitted])).startswith("14 of 14 combinations of parameters, condition ")
