"""Sets as data sets have them: contacts in world axes with the object's pose; examples/antipodal_grasps.py."""

from __future__ import annotations

import importlib.util
from itertools import product
from pathlib import Path
from types import ModuleType

import garra
import numpy as np
import pytest
from arrays import require_module

require_module()

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "antipodal_grasps.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("antipodal_grasps", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random_grasps(count: int, contacts: int, rng: np.random.Generator):
    normals = rng.normal(size=(count, contacts, 3))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    return -normals * [0.03, 0.04, 0.05], normals


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_grasps_in_world_axes_are_those_about_the_poses_origin(example, scale):
    rng = np.random.default_rng(5)
    pose = example.poses(80, rng)
    p_W, n_W = example.in_world(pose, *random_grasps(80, 3, rng))
    scaled = pose.copy()
    scaled[:, :3, 3] /= scale
    s = garra.grasp.GraspSet.from_world(p_W / scale, n_W, scaled, scale=scale, friction=0.5, mass=0.2, force_limit=6.0)
    r = garra.grasp.rank(s, samples=1, friction_samples=1)
    # Independently: nothing is turned, the center of mass is where the object is.
    there = garra.grasp.GraspSet.from_arrays(p_W, n_W, 0.5, mass=0.2, force_limit=6.0, com=pose[:, :3, 3])
    world = garra.grasp.rank(there, samples=1, friction_samples=1)
    assert 5 < r.held.sum() < 75
    np.testing.assert_array_equal(r.held, world.held)
    # Each is known to 1e-4 of it.
    np.testing.assert_allclose(r.required_friction, world.required_friction, rtol=3e-4)


def test_grasps_with_different_numbers_of_contacts_have_their_own_poses(example):
    rng = np.random.default_rng(6)
    pose = example.poses(2, rng)
    p_O, n_O = random_grasps(1, 7, rng)
    first, of = [0, 3, 7], np.repeat([0, 1], [3, 4])
    p_W = np.einsum("mij,mj->mi", pose[of, :3, :3], p_O[0]) + pose[of, :3, 3]
    n_W = np.einsum("mij,mj->mi", pose[of, :3, :3], n_O[0])
    s = garra.grasp.GraspSet.from_world(p_W, n_W, pose, first=first, mass=1)
    np.testing.assert_allclose(s.arrays["point"], p_O[0], atol=1e-15)
    np.testing.assert_allclose(s.arrays["normal"], n_O[0], atol=1e-15)
    np.testing.assert_allclose(s.arrays["gravity"], pose[:, 2, :3] * -9.81, atol=1e-14)


def test_a_pose_with_a_scale_in_it_is_refused(example):
    rng = np.random.default_rng(5)
    pose = example.poses(4, rng)
    pose[2, :3, :3] *= 0.001
    with pytest.raises(ValueError, match="pose 2 .*`scale`"):
        garra.grasp.GraspSet.from_world(*random_grasps(4, 3, rng), pose)
    pose[2, :3, :3] *= -1000
    with pytest.raises(ValueError, match="pose 2"):
        garra.grasp.GraspSet.from_world(*random_grasps(4, 3, rng), pose)


def test_a_jaw_whose_pads_are_points_needs_the_friction_of_nguyens_criterion(example):
    """Force closure of two soft fingers: the line through the contacts lies in both cones. Closure is against every
    direction of the weight: what the worst of 26 needs, which a single one may help."""
    rng = np.random.default_rng(8)
    pairs, normals = example.antipodal(25, 0.8, rng)
    line = pairs[:, 1] - pairs[:, 0]
    line /= np.linalg.norm(line, axis=-1, keepdims=True)
    cosines = np.stack([np.sum(line * normals[:, 0], -1), np.sum(-line * normals[:, 1], -1)])
    needed = np.tan(np.arccos(cosines)).max(axis=0)
    assert 0.1 < needed.min() < 0.4 < needed.max() <= 0.8 + 1e-9
    directions = np.array([d for d in product((-1, 0, 1), repeat=3) if any(d)])
    directions = directions / np.linalg.norm(directions, axis=-1, keepdims=True)
    pads = example.pads(pairs, normals, 2e-4)
    r = garra.grasp.rank(
        points=np.repeat(pads[0], 26, axis=0),
        normals=np.repeat(pads[1], 26, axis=0),
        friction=0.8,
        mass=0.1,
        gravity=9.81 * np.tile(directions, (25, 1)),
        samples=1,
        friction_samples=1,
    )
    worst = r.required_friction[:, 1].reshape(25, 26).max(axis=1)
    # Pads of 0.4 mm tilt the line by as much as that on 40 mm and more.
    np.testing.assert_allclose(worst, needed, atol=0.02)


def test_the_example_tells_how_many_hold_with_less_friction(example, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example.sys, "argv", ["antipodal_grasps.py", str(tmp_path / "set.h5")])
    example.main()
    said = capsys.readouterr().out
    assert "10000 antipodal grasps sampled at friction 0.8" in said
    shares = [float(line.split()[2]) for line in said.splitlines()[1:]]
    assert shares[0] == 100
    assert shares == sorted(shares, reverse=True)
    assert shares[4] == pytest.approx(10.2, abs=0.1), "docs/theory/grasp-sets.md says so"
    assert len(garra.grasp.GraspSet.from_hdf5(tmp_path / "set.h5")) == 10_000
