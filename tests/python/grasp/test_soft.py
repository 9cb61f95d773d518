"""Soft contacts of grasp sets, from Python and by the program."""

from __future__ import annotations

import json
import re

import garra
import h5py
import numpy as np
import pytest
from arrays import require_module
from garra.grasp.candidates import STATUS
from program import INVALID, ROOT, table_of
from program import garra as program

require_module()

MASS, LIMIT, RADIUS = 0.3, 8.0, 0.005
WEIGHT = MASS * 9.81


def pinches(offsets, **others) -> garra.grasp.GraspSet:
    """Soft pinches of a box along x whose lines pass the center of mass at these distances."""
    points = np.zeros((len(offsets), 2, 3))
    points[:, 0, 0], points[:, 1, 0] = -0.03, 0.03
    points[..., 1] = np.asarray(offsets)[:, None]
    normals = np.zeros_like(points)
    normals[:, 0, 0], normals[:, 1, 0] = 1, -1
    others = {"friction": 0.5, "mass": MASS, "force_limit": LIMIT, "torsion_radius": RADIUS} | others
    return garra.grasp.GraspSet.from_arrays(points, normals, **others)


OFFSETS = np.array([0.0, 0.002, 0.005, 0.01])
# Each contact has half of the weight, and half of its moment.
CLOSE = 10 / 2**15  # what sixteen halvings leave of 0 to 10, where friction is sought, and the last verdict
NEEDED = WEIGHT / (2 * LIMIT) * np.sqrt(1 + (OFFSETS / RADIUS) ** 2)


def test_a_pinch_beside_the_centre_of_mass_needs_the_friction_of_the_ellipse():
    r = garra.grasp.rank(pinches(OFFSETS), samples=1)
    np.testing.assert_allclose(r.required_friction[:, 1], NEEDED, atol=CLOSE)
    assert (r.p_held == (NEEDED <= 0.5)).all()
    points = garra.grasp.rank(pinches(OFFSETS, torsion_radius=None), samples=1)
    assert list(np.isinf(points.required_friction[:, 1])) == [False, True, True, True]
    # As keywords of rank(), each contact its own; and in place of those of a set.
    s = pinches(OFFSETS)
    given = {name: s.arrays[name].reshape(4, 2, 3) for name in ("point", "normal")}
    own = garra.grasp.rank(
        points=given["point"], normals=given["normal"], mass=MASS, friction=0.5, force_limit=LIMIT, samples=1,
        torsion_radius=np.full((4, 2), RADIUS),
    )  # fmt: skip
    assert (own.required_friction == r.required_friction).all()
    again = garra.grasp.rank(pinches(OFFSETS, torsion_radius=1.0), torsion_radius=RADIUS, samples=1)
    assert (again.required_friction == r.required_friction).all()


def test_radii_are_metres_in_world_axes_too():
    pose = np.eye(4)
    pose[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    pose[:3, 3] = [100, 200, 300]
    s = pinches(OFFSETS)
    p, n = (s.arrays[name].reshape(4, 2, 3) @ pose[:3, :3].T for name in ("point", "normal"))
    there = garra.grasp.GraspSet.from_world(
        1e3 * p + pose[:3, 3], n, pose, scale=1e-3, friction=0.5, mass=MASS, force_limit=LIMIT, torsion_radius=RADIUS
    )
    r = garra.grasp.rank(there, samples=1)
    np.testing.assert_allclose(r.required_friction[:, 1], NEEDED, atol=CLOSE)


def test_files_keep_radii_and_the_program_says_the_moments(tmp_path):
    s = pinches(OFFSETS)
    s.save(tmp_path / "set.h5")
    np.savez(tmp_path / "set.npz", first=s.first, **s.arrays)
    for read in (garra.grasp.GraspSet.from_hdf5(tmp_path / "set.h5"), garra.grasp.GraspSet.from_npz(tmp_path / "set.npz")):
        assert (read.arrays["torsion_radius"] == RADIUS).all()
    program("grasp", "rank", tmp_path / "set.h5", "-o", tmp_path / "ranking.h5", "--no-report")
    expected = garra.grasp.rank(s)
    found = table_of(tmp_path / "ranking.h5")
    for name in ("p_held", "required_friction", "rank"):
        np.testing.assert_array_equal(found[name], getattr(expected, name))

    said = json.loads(program("replay", tmp_path / "ranking.h5", "--grasp", 2, "--format", "json").stdout)
    here = expected.replay(2)
    for j, contact in enumerate(said["contacts"]):
        assert contact["torsion_radius"] == here["torsion_radius"][j] == RADIUS
        assert contact["torsion"] == here["torsion"][j]
        n, t, o = contact["force"]
        assert np.sqrt(t**2 + o**2 + (contact["torsion"] / RADIUS) ** 2) <= 0.5 * n * (1 + 1e-9)
    # Normals are x and -x; what carries the weight does so 5 mm along y, and turns the box about x.
    assert here["torsion"][0] - here["torsion"][1] == pytest.approx(-WEIGHT * OFFSETS[2], rel=1e-6)
    text = program("replay", tmp_path / "ranking.h5", "--grasp", 2).stdout
    assert len(re.findall(r"about the normal +\S+ N m, radius 0\.005 m", text)) == 2


def test_bad_radii_are_a_status_and_hands_with_a_command_say_how_they_turn(tmp_path):
    radii = np.full((4, 2), RADIUS)
    radii[0, 1], radii[1, 0], radii[2, 0] = -1e-3, np.nan, 12
    r = garra.grasp.rank(pinches(OFFSETS, torsion_radius=radii), samples=1)
    assert [STATUS[s] for s in r.status] == ["bad_friction", "not_finite", "millimeters", "ranked"]
    hand = pinches(OFFSETS, mobility=1.0, force=[5.0, 0, 0])
    with pytest.raises(garra.Error, match="torsion_radius"):
        garra.grasp.rank(hand)
    assert garra.grasp.rank(hand, hand="ideal", samples=1).hand == "ideal"
    hand.save(tmp_path / "hand.h5")
    assert "angular_mobility" in program("grasp", "rank", tmp_path / "hand.h5", expect=INVALID).stderr
    with h5py.File(tmp_path / "hand.h5", "a") as file:
        del file["torsion_radius"]
        file["torsion_radius"] = np.ones(3)
    assert "torsion_radius" in program("grasp", "rank", tmp_path / "hand.h5", expect=INVALID).stderr


def test_proposed_pairs_of_soft_fingertips_keep_a_body_from_turning():
    options = {"fingers": 2, "n": 100, "mass": 0.2, "force_limit": 20.0, "friction": 0.6}
    soft = garra.grasp.propose("box:0.05,0.04,0.1", torsion_radius=0.008, **options)
    hard = garra.grasp.propose("box:0.05,0.04,0.1", **options)
    assert (soft.arrays["torsion_radius"] == 0.008).all() and "torsion_radius" not in hard.arrays
    assert (soft.arrays["point"] == hard.arrays["point"]).all()
    soft_held, hard_held = (garra.grasp.rank(s, samples=1, friction_samples=0).p_held.sum() for s in (soft, hard))
    assert soft_held > 20 and hard_held == 0
    with pytest.raises(garra.Error, match="pad_radius"):
        garra.grasp.propose("box:0.05,0.04,0.1", torsion_radius=0.008, pad_radius=0.005, **options)


def test_the_example_is_what_its_comment_says_and_runs(tmp_path):
    example = ROOT / "data" / "scenarios" / "soft_pinches.toml"
    words = re.search(r"garra (grasp propose .*) -o data/sets/bottle_pinches.h5", example.read_text())[1]
    program(*words.split(), "-o", tmp_path / "set.h5")
    kept, made = table_of(ROOT / "data" / "sets" / "bottle_pinches.h5"), table_of(tmp_path / "set.h5")
    assert kept.keys() == made.keys()
    for name in kept:
        np.testing.assert_allclose(kept[name], made[name], atol=1e-12, err_msg=name)
    program("run", example, "-o", tmp_path / "run", "--no-report", "--set", "sampling.samples=200")
    ranking = garra.grasp.Ranking.read(tmp_path / "run" / "ranking.h5")
    assert (ranking.rank > 0).all()
    assert ranking.p_held.max() > 0.8 and ranking.p_held.min() < 0.5, "there is something to choose"


def commanded(offset, **others):
    """A soft pinch of a bar along x, whose center of mass is that far beside the line: 20 N and its share each."""
    share = {"force": [20.0, WEIGHT / 2, 0], "torsion": np.array([[-0.5, 0.5]]) * WEIGHT * offset}
    return pinches([offset], tangent=np.tile([0.0, 0, 1], (1, 2, 1)), force_limit=None, **share | others)


@pytest.mark.parametrize("kind", ["h5", "npz"])
def test_soft_contacts_of_a_hand_with_a_command_by_file_and_program(tmp_path, kind):
    offset = OFFSETS[2]
    needed = np.hypot(WEIGHT / 2, WEIGHT * offset / 2 / RADIUS) / 20
    compliant = commanded(offset, mobility=0.9, angular_mobility=[[400.0, 700.0]])
    joints = np.zeros((2, 3, 12)), np.zeros((2, 3, 12))
    for j, r in np.ndindex(2, 3):
        joints[0][j, r, 6 * j + r] = joints[1][j, r, 6 * j + 3 + r] = 1
    whole = commanded(
        offset, jacobian=joints[0][None], angular_jacobian=joints[1][None], mass_matrix=np.diag(([1.1] * 3 + [2e-3] * 3) * 2)
    )
    for candidates in (compliant, whole):
        r = garra.grasp.rank(candidates, samples=1)
        assert r.required_friction[0, 1] == pytest.approx(needed, rel=1e-9)
        candidates.save(tmp_path / f"set.{kind}")
        program("grasp", "rank", tmp_path / f"set.{kind}", "--set", "sampling.samples=1", "-o", tmp_path / "ranking.h5")
        with h5py.File(tmp_path / "ranking.h5") as file:
            assert file["required_friction"][0, 1] == r.required_friction[0, 1]
        shown = json.loads(program("replay", tmp_path / "ranking.h5", "--format", "json").stdout)
        assert [c["torsion"] for c in shown["contacts"]] == pytest.approx([-WEIGHT * offset / 2, WEIGHT * offset / 2])


def simulated_turn(friction, offset) -> float:
    """Degrees by which MuJoCo's bar turns in 0.5 s that two spheres with elliptic cones pinch with 20 N beside its center
    of mass; its torsional coefficient is a length, friction times the torsion radius."""
    mujoco = pytest.importorskip("mujoco")
    finger = '<body pos="{} 0 0"><joint type="slide" axis="{} 0 0" damping="5"/><geom type="sphere" size="0.004" mass="0.05"/></body>'
    model = mujoco.MjModel.from_xml_string(f"""<mujoco>
      <option timestep="0.0005" cone="elliptic" impratio="100"/>
      <default><geom condim="4" friction="{friction} {friction * RADIUS} 0" solref="0.002 1" solimp="0.999 0.999 1e-4"/></default>
      <worldbody><body><freejoint/><inertial pos="0 {-offset} 0" mass="{MASS}" diaginertia="4e-4 3e-4 5e-4"/>
        <geom type="box" size="0.03 0.06 0.02"/></body>{finger.format(-0.034, 1)}{finger.format(0.034, -1)}</worldbody></mujoco>""")
    data = mujoco.MjData(model)
    while data.time < 0.5:
        data.qfrc_applied[6:8] = 20
        model.opt.gravity[2] = -9.81 * min(1, data.time / 0.1)
        mujoco.mj_step(model, data)
    return np.degrees(2 * np.arccos(min(1, abs(data.qpos[3]))))


@pytest.mark.parametrize("offset", [0.005, 0.02])
def test_a_simulator_lets_the_bar_turn_just_below_the_friction_that_is_needed(offset):
    r = garra.grasp.rank(commanded(offset, mobility=0.9, angular_mobility=500.0), samples=1)
    needed = r.required_friction[0, 1]
    assert simulated_turn(1.04 * needed, offset) < 0.1
    assert simulated_turn(0.96 * needed, offset) > 5
