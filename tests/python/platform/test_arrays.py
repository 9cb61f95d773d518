"""Platforms from Python, against independently computed poses."""

from __future__ import annotations

import json
import pickle

import garra
import numpy as np
import pytest
from arrays import REFERENCE, require_module

require_module()


@pytest.fixture(scope="module")
def poses() -> dict[str, np.ndarray]:
    rows = json.loads((REFERENCE / "platform" / "ik_fk_trepa_like.json").read_text())["poses"]
    return {key: np.array([row[key] for row in rows]) for key in ("r", "p", "lengths", "det", "guess_r", "guess_p")}


def test_lengths_and_back(poses):
    platform = garra.platform.load("trepa_like")
    found = platform.inverse_kinematics(poses["r"], poses["p"])
    assert np.abs(found.lengths - poses["lengths"]).max() < 1e-12
    assert np.abs(found.determinant / poses["det"] - 1).max() < 1e-9
    back = platform.forward_kinematics(poses["lengths"], (poses["guess_r"], poses["guess_p"]))
    good = back.status <= 1
    assert good.mean() > 0.9
    assert (
        np.abs(platform.inverse_kinematics(back.position, back.quaternion).lengths - poses["lengths"])[good].max()
        < 1e-11
    )


def test_broken_limits_are_printed_in_words():
    p = garra.platform.load("trepa_like")
    far = p.inverse_kinematics([[0, 0, 1150.0], [0, 0, 0.01], p.home[0]], p.home[1])
    assert "3 converged; limits broken by 2 poses: leg too short, leg too long" in repr(far)
    assert repr(p.inverse_kinematics(*p.home)).startswith("InverseKinematics: converged\n")


def test_one_pose_from_the_home_pose_and_its_modes():
    platform = garra.platform.load("trepa_like")
    position, quaternion = platform.home
    lengths = platform.inverse_kinematics(position + [0.01, 0.0, 0.02], quaternion).lengths
    found = platform.forward_kinematics(lengths, certify=True)
    assert np.allclose(found.position, position + [0.01, 0.0, 0.02], atol=1e-10)
    assert garra.platform.STATUS[found.status] == "certified"
    modes = platform.modes(lengths)
    assert np.array_equal(found.modes().position, modes.position)
    assert np.abs(platform.inverse_kinematics(modes.position, modes.quaternion).lengths - lengths).max() < 1e-10
    nearest = np.abs(modes.position - found.position).sum(-1)
    assert nearest.min() < 1e-9 and modes.mask[nearest.argmin()] == 0
    assert np.array_equal(modes.mask, platform.inverse_kinematics(modes.position, modes.quaternion).mask)


def test_a_platform_reads_back_and_an_unknown_one_is_named(tmp_path):
    platform = garra.platform.load("trepa_like")
    file = tmp_path / "mine.toml"
    file.write_text(platform.to_toml())
    again = garra.platform.load(file)
    position, quaternion = platform.home
    assert (
        again.inverse_kinematics(position, quaternion).lengths
        == platform.inverse_kinematics(position, quaternion).lengths
    ).all()
    with pytest.raises(garra.InputOutputError, match="nonsense"):
        garra.platform.load("nonsense")


def test_platforms_are_pickled_and_modes_take_one_set_of_lengths():
    p = garra.platform.load("trepa_like")
    copy = pickle.loads(pickle.dumps(p))
    position, quaternion = p.home
    np.testing.assert_array_equal(
        copy.inverse_kinematics(position, quaternion).lengths, p.inverse_kinematics(position, quaternion).lengths
    )
    with pytest.raises(ValueError, match=r"not \[6\]"):
        p.modes(np.full((2, 6), 1.2))


def test_a_platform_with_a_tool_has_its_home_there_and_no_masses():
    p = garra.platform.load("trepa_like")
    tool = p.with_tool([0.1, 0, 0.2])
    np.testing.assert_allclose(tool.home[0], p.home[0] + [0.1, 0, 0.2], atol=1e-15)
    np.testing.assert_allclose(tool.modes(np.full(6, 1.15)).position.shape, (16, 3))
    with pytest.raises(garra.UsageError, match="mass"):
        tool.inverse_dynamics(*tool.home)
