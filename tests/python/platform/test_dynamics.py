"""Dynamics of platforms from Python, against forces and motions that were computed independently."""

from __future__ import annotations

import json

import garra
import numpy as np
import pytest
from arrays import REFERENCE, require_module

require_module()


def reference(name: str):
    return json.loads((REFERENCE / "platform" / f"{name}.json").read_text())


def column(rows: list[dict], *names: str) -> np.ndarray:
    return np.concatenate([np.array([row[name] for row in rows]) for name in names], axis=-1)


def test_forces_of_a_motion_and_back():
    platform = garra.platform.load("trepa_like")
    rows = reference("invdyn_trepa_like")["points"]
    where = column(rows, "r"), column(rows, "p")
    velocity, acceleration = column(rows, "v", "w"), column(rows, "a", "alpha")
    wrench = column(rows, "external_force", "external_moment_world")
    forces = column(rows, "actuator_forces")
    for form in ("minimal", "full"):
        found = platform.inverse_dynamics(*where, velocity, acceleration, wrench, form=form)
        assert np.abs(found.force - forces).max() < 1e-9 * np.abs(forces).max()
        assert np.abs(found.spherical_force - column(rows, "spherical_force_platform_on_leg")).max() < 1e-8
        assert np.abs(found.power_balance).max() < 1e-8
        assert set(garra.platform.STATUS[s] for s in found.status) == {"converged"}
        back = platform.forward_dynamics(*where, velocity, forces, wrench, form=form)
        assert np.abs(back.acceleration - acceleration).max() < 1e-8
    with pytest.raises(garra.UsageError, match="form"):
        platform.inverse_dynamics(*where, form="half")


@pytest.mark.parametrize("run", reference("fwddyn"), ids=lambda run: run["name"])
def test_motions_under_constant_forces(run):
    platform = garra.platform.load(run["params"])
    states = run["states"]
    first = [np.array(states[0][name]) for name in ("r", "p")] + [column(states[:1], "v", "w")[0]]
    times = [state["t"] for state in states]
    forces = np.array(run["actuator_forces"]) if np.ndim(run["actuator_forces"]) == 1 else None
    if forces is None:
        pytest.skip("forces over time: a scenario's")
    found = platform.simulate(*first, forces, times=times)
    assert garra.platform.MOTION_STATUS[found.status] == "completed" and found.end_time == times[-1]
    assert np.abs(found.position - column(states, "r")).max() < 1e-8
    assert np.abs(found.quaternion - column(states, "p")).max() < 1e-8
    assert np.abs(found.velocity - column(states, "v", "w")).max() < 1e-7
    assert np.abs(found.lengths - column(states, "lengths")).max() < 1e-8
    assert np.abs(found.kinetic_energy - np.array([s["kinetic"] for s in states])).max() < 1e-7
    assert np.abs(found.balance).max() < 1e-8


def test_leading_axes_and_what_is_not_given():
    platform = garra.platform.load("trepa_like")
    position, quaternion = platform.home
    hold = platform.inverse_dynamics(position, quaternion).force
    assert hold.shape == (6,)
    # What holds the platform leaves it where it is.
    still = platform.simulate(np.tile(position, (2, 3, 1)), quaternion, force=hold, times=0.2)
    assert still.position.shape == (2, 3, 1, 3) and still.status.shape == (2, 3)
    assert np.abs(still.position - position).max() < 1e-9 and np.abs(still.velocity).max() < 1e-8
    # Without forces it falls, with what gravity gives it at first.
    first = platform.forward_dynamics(position, quaternion, np.zeros(6), np.zeros(6)).acceleration
    fall = platform.simulate(position, quaternion, times=[0.0, 0.001])
    assert first[2] < -1 and np.abs(fall.velocity[1] / 0.001 - first).max() < 1e-2
    # By hand: the legs' weights stand on the base and the platform, so the spherical joints bear its own weight.
    found = platform.inverse_dynamics(position, quaternion)
    heavier = platform.inverse_dynamics(position, quaternion, wrench=[0, 0, -10.0, 0, 0, 0])
    lift = (heavier.spherical_force - found.spherical_force).sum(0)
    assert np.abs(lift - [0, 0, -10.0]).max() < 1e-9
    limited = platform.simulate(position, quaternion, times=2.0, watch_limits=True)
    assert garra.platform.MOTION_STATUS[limited.status] != "completed" and np.isnan(limited.position[0]).all()
