"""Friction without bound: contacts that cannot slip, whatever number says so."""

import pytest
from program import garra, summary_of

SCENARIO = "data/scenarios/three_puma_sphere.toml"


def summary_with(friction, folder):
    garra("run", SCENARIO, "--set", f"contacts.friction={friction}", "--samples", 512, "--no-report", "-o", folder)
    return summary_of(folder)


@pytest.mark.parametrize("friction", ["1e7", "1e9", "1e100", "1e300"])
def test_a_grasp_that_nothing_lets_slip_stays_held_however_large_its_friction(tmp_path, friction):
    """The certificate used to take the force zero for an answer above 1e9, and nothing at all from 1e7 on."""
    enough = summary_with("1000", tmp_path / "enough")
    assert enough["no_slip"]["probability"] == 1 and enough["outcomes"]["held"] > 480
    assert summary_with(friction, tmp_path / "more")["outcomes"] == enough["outcomes"]
