"""Single configurations from Python, against the independently computed examples."""

from __future__ import annotations

import json

import garra
import numpy as np
import pytest
from arrays import REFERENCE, require_module

require_module()

CASES = [c for c in json.loads((REFERENCE / "singularity" / "arms.json").read_text())["cases"] if c["group"] == "named"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_rank_sets_and_escapes(case):
    found = garra.singularity.analyse_screws(np.array(case["screws"]))
    assert found.rank == case["rank"]
    assert found.singular == (case["rank"] < case["generic_rank"])
    if found.singular:
        assert found.responsible == [j - 1 for j in case["responsible"]]
        assert sorted(found.escape_joints) == sorted([j - 1 for j in e["joints"]] for e in case["min_escape_sets"])


def test_of_a_robot_joints_are_indices():
    robot = garra.models.puma560()
    found = garra.singularity.analyse(robot, [0.3, -0.7, 0.5, 0.9, 0.0, -0.4])
    assert found.rank == 5 and found.singular
    assert found.minimal_sets == [[3, 5]]  # axes 4 and 6 coincide
    assert found.escape_joints == [[4]]
    assert found.details["sosm"][0]["ssm"] == [4, 6]  # as the papers count
    assert found.lost_wrenches.shape == (1, 6)
