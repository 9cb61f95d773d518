"""Climbing platforms against statics by hand and Newton's law for the whole machine."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

import garra
from garra.platform.climb import OUTCOMES, Gait, Ring, Uncertain, climb, from_toml, held_wrench, inverted

CERTAIN = {"squeeze": (1.0, 1.0), "trunk_radius": (1.0, 1.0), "payload": (0.0, 0.0), "push": (0.0, 0.0)}
G = 9.81


@pytest.fixture(scope="module")
def machine():
    return garra.platform.load("trepa_like")


def center(platform, z):
    """Mass times the center of mass of everything that moves, for a ring at height z that does not turn."""
    table = tomllib.loads(platform.to_toml())
    total = table["platform"]["mass"] * np.array([0, 0, z])
    for leg in table["leg"]:
        base, tip = np.array(leg["base"]), np.array(leg["anchor"]) + np.array([0, 0, z])
        along = (tip - base) / np.linalg.norm(tip - base)
        total = total + leg["tube"]["mass"] * (base + leg["tube"]["com"] * along)
        total = total + leg["rod"]["mass"] * (tip - leg["rod"]["com"] * along)
    return total


@pytest.mark.parametrize("down", [False, True])
def test_the_holding_ring_bears_weight_and_inertia_of_the_whole_machine(machine, down):
    p = inverted(machine) if down else machine
    z, v, a = (-1.3, -0.4, 0.9) if down else (1.3, 0.4, 0.9)
    twist, bend = np.array([0, 0, v, 0, 0, 0]), np.array([0, 0, a, 0, 0, 0])
    r = p.inverse_dynamics([0, 0, z], [1, 0, 0, 0], twist, bend)
    w = held_wrench(p, np.array([0, 0, z]), r, 25.0)
    # Newton: the force is minus the change of momentum, plus all weight; second differences along the motion.
    h = 1e-4
    at = [center(p, z + v * t + 0.5 * a * t * t) for t in (-h, 0, h)]
    rate = (at[0] - 2 * at[1] + at[2]) / h**2
    mass = 25 + 36 + 25
    assert w[:3] == pytest.approx([0, 0, -mass * G] - rate, abs=1e-4)
    # Symmetry: no moment about x and y.
    assert w[3:5] == pytest.approx([0, 0], abs=1e-9)


def test_a_payload_off_the_axis_is_a_moment_on_the_ring(machine):
    side = Uncertain(**CERTAIN | {"payload": (20.0, 20.0)}, payload_offset=(0.1, 0.1), friction=(0.9, 0.9))
    r = climb(machine, uncertain=side, samples=1)
    w = r.nominal["wrench"]
    for k in (0, 81):  # at rest, on either ring
        assert w[k, :3] == pytest.approx([0, 0, -G * (86 + 20)], abs=1e-9)
        assert w[k, 3:] == pytest.approx([-20 * G * 0.1, 20 * G * 0.1, 0], abs=1e-6)


def test_friction_decides_where_statics_says(machine):
    """At rest a load F along the trunk slips where F = 3 mu s: the pads' normal forces stay s by symmetry."""
    still = Gait(stride=1e-6, cycles=1)
    load = 86 * G
    for factor, outcome in ((1.01, "climbed"), (0.99, "slips")):
        mu = factor * load / (3 * 1000.0)
        r = climb(machine, Ring(squeeze=1000.0), still, Uncertain(**CERTAIN, friction=(mu, mu)), samples=2)
        assert [OUTCOMES[k] for k in r.outcome] == [outcome] * 2
        assert r.margin == pytest.approx(max(0, 1 - 1 / factor), abs=1e-3)


def test_a_wrench_that_no_forces_balance_is_told_from_a_slip(machine):
    weak = Uncertain(**CERTAIN, friction=(0.04, 0.04))
    assert climb(machine, Ring(force_limit=6000.0), uncertain=weak, samples=1).counts["not_resisted"] == 1


def test_limits_singularity_and_forces_end_a_climb(machine):
    assert climb(machine, gait=Gait(stride=0.9), samples=2).counts["limit"] == 2
    assert climb(machine, near_singular=0.9, samples=2).counts["singular"] == 2
    strict = climb(machine, force_limit=50.0, samples=2)
    assert strict.counts["force"] == 2 and (strict.peak_force > 50).all() and (strict.time == 0).all()


def test_a_sample_depends_on_its_number_alone(machine):
    some, more = (climb(machine, samples=n, seed=4, gait=Gait(instants=5, cycles=2)) for n in (40, 300))
    assert (some.margin == more.margin[:40]).all() and (some.outcome == more.outcome[:40]).all()
    assert len(set(more.margin)) == 300


def test_what_makes_no_sense_is_refused(machine):
    with pytest.raises(ValueError, match="at least three"):
        Ring(pads=2)
    with pytest.raises(ValueError, match="samples"):
        climb(machine, samples=0)


def test_the_animation_shows_both_rings_and_six_legs(machine):
    svg = climb(machine, samples=2).animation(machine)
    assert svg.count("<line") == 6 and svg.count("<rect") == 3 and "nan" not in svg


def test_the_shipped_climb_runs_from_its_file(tmp_path):
    file = Path(__file__).resolve().parents[3] / "data/climbs/trunk.toml"
    result, svg = from_toml(file, samples=64)
    assert 0.3 < result.probability < 1 and "animate" in svg
    bad = tmp_path / "bad.toml"
    bad.write_text(file.read_text().replace("pads =", "pad ="))
    with pytest.raises(ValueError, match="ring.pad: unknown key"):
        from_toml(bad)
