"""Sets of candidate grasps from Python and by the program."""

from __future__ import annotations

import csv
import dataclasses
import inspect
import json
import pydoc

import garra
import numpy as np
import pytest
import scipy.optimize
from arrays import require_module
from program import garra as program

require_module()


def box_grasps(count: int, width: float, seed: int = 3):
    """Two contacts on opposite sides of a box, off its middle along z by up to 40 mm."""
    rng = np.random.default_rng(seed)
    z = rng.uniform(-0.04, 0.04, count)
    points = np.zeros((count, 2, 3))
    points[:, 0, 0], points[:, 1, 0] = -width / 2, width / 2
    points[..., 2] = z[:, None]
    normals = np.zeros_like(points)
    normals[:, 0, 0], normals[:, 1, 0] = 1, -1
    return points, normals, z


def test_a_pinch_above_or_below_the_centre_of_mass_needs_no_moment_but_one_beside_it_does():
    points, normals, z = box_grasps(50, 0.06)
    held = garra.grasp.rank(points=points, normals=normals, friction=0.4, mass=0.3, samples=1)
    assert (held.p_held == 1).all(), "gravity along z passes through the line of the contacts"
    # The same pinches, shifted along y: a moment about the line of the contacts, which point contacts do not give.
    beside = points + [0, 0.01, 0]
    lost = garra.grasp.rank(points=beside, normals=normals, friction=0.4, mass=0.3, samples=1)
    assert (lost.p_held == 0).all()
    assert np.isinf(lost.required_friction).all()


def test_friction_that_is_drawn_gives_the_share_above_what_is_needed():
    points, normals, _ = box_grasps(20, 0.06)
    needed = 0.3 * 9.81 / (2 * 5)
    r = garra.grasp.rank(
        points=points,
        normals=normals,
        mass=0.3,
        friction=garra.uniform(0.1, 0.5, common=True),
        force_limit=5.0,
        samples=4000,
        seed=5,
    )
    share = (0.5 - needed) / 0.4
    np.testing.assert_allclose(r.p_held, share, atol=5 * np.sqrt(share * (1 - share) / 4000))
    np.testing.assert_allclose(r.required_friction, needed, atol=2e-4)
    assert (r.difference == 0).all(), "the same draws for all of them"
    # One draw per contact: moments ask half of the weight of each, so that the smaller one decides.
    own = garra.grasp.rank(
        points=points, normals=normals, mass=0.3, friction=garra.uniform(0.1, 0.5), force_limit=5.0, samples=4000
    )
    share = share**2
    np.testing.assert_allclose(own.p_held, share, atol=5 * np.sqrt(share * (1 - share) / 4000))


def test_ties_go_by_the_resisted_force_radius_where_there_are_force_limits():
    # Pinches of a light body that hold in all samples: the second one may press twice as hard, the first one has more
    # friction in hand. An added push along the line of the contacts is what the limits bear.
    points = np.array([[[-0.03, 0, 0], [0.03, 0, 0]]] * 3)
    normals = np.array([[[1.0, 0, 0], [-1, 0, 0]]] * 3)
    parts = {"friction": [[0.9, 0.9], [0.8, 0.8], [0.8, 0.8]], "mass": 0.05, "torsion_radius": 0.01}
    limited = garra.grasp.rank(points=points, normals=normals, force_limit=[[5, 5], [10, 10], [7, 7]], samples=100, **parts)
    assert (limited.p_held == 1).all() and list(limited.order) == [1, 2, 0]
    assert list(np.argsort(-limited.resisted_force_radius)) == [1, 2, 0]
    free = garra.grasp.rank(points=points, normals=normals, samples=100, **parts)
    assert np.isnan(free.resisted_force_radius).all() and free.order[0] == np.argmin(free.required_friction[:, 1])


def test_variants_say_what_would_help_most():
    # A soft pinch 10 mm beside the center of mass, along y: moved towards it, it has less moment to hold.
    s = garra.grasp.GraspSet.from_arrays(
        [[[-0.03, 0.01, 0], [0.03, 0.01, 0]]], [[[1.0, 0, 0], [-1, 0, 0]]], 0.5, mass=0.2, force_limit=5.0,
        torsion_radius=0.004, tangent=[[[0, 1, 0], [0, 1, 0]]], contact_names=[["left", "right"]],
    )  # fmt: skip
    ranking = garra.grasp.rank(s, friction=garra.scale(0.5, 1.5), force=garra.ball(0.5), samples=2000)
    assert 0.02 < ranking.p_held[0] < 0.98 and sum(ranking.outcome_counts(0).values()) == 2000
    found = ranking.variants()
    p = {name: found.p_held[g] for g, name in enumerate(found.candidates.names)}
    assert p["as it is"] == ranking.p_held[0], "the same draws"
    for better in ("force limits x 1.2", "friction x 1.2", "mass x 0.8"):
        assert p[better] > p["as it is"] + 0.01, better
    assert p["left -5 mm along t"] > p["as it is"] > p["left +5 mm along t"]
    assert "mm along t (grasp" in repr(found) or " x " in repr(found)
    # On a sphere a moved contact stays on it, to third order, and its normal looks at the middle.
    ball = garra.grasp.GraspSet.from_arrays([[[-0.03, 0, 0], [0.03, 0, 0]]], [[[1.0, 0, 0], [-1, 0, 0]]], 0.5, mass=0.2, curvature=1 / 0.03)
    moved = garra.grasp.rank(ball, samples=5).variants(move=0.001).candidates
    points, normals = moved.arrays["point"], moved.arrays["normal"]
    assert np.abs(np.linalg.norm(points, axis=1) - 0.03).max() < 1e-7
    toward = -points / np.linalg.norm(points, axis=1, keepdims=True)
    assert np.abs(normals / np.linalg.norm(normals, axis=1, keepdims=True) - toward).max() < 1e-4


def test_sets_of_any_numbers_of_contacts_go_to_files_and_back(tmp_path):
    rng = np.random.default_rng(0)
    normals = rng.normal(size=(9, 3))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    s = garra.grasp.GraspSet.from_arrays(-0.04 * normals, normals, 0.6, first=[0, 2, 5, 9], mass=0.2, com=[0, 0, 0.005])
    s.save(tmp_path / "set.h5")
    np.savez(tmp_path / "set.npz", first=s.first, **s.arrays)
    assert len(s) == 3
    assert "2 to 4 contacts" in repr(s)
    uncertain = {"mass": garra.scale(0.5, 2.0), "force": garra.ball(1.0), "slide": 0.002, "tilt": 0.1, "samples": 500}
    answers = [garra.grasp.rank(source, **uncertain) for source in (s, tmp_path / "set.h5", tmp_path / "set.npz")]
    for other in answers[1:]:
        np.testing.assert_array_equal(answers[0].held, other.held)
        np.testing.assert_array_equal(answers[0].required_friction, other.required_friction)


def test_the_program_gives_the_same_numbers_as_python(tmp_path):
    rng = np.random.default_rng(1)
    normals = rng.normal(size=(30, 4, 3))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    s = garra.grasp.GraspSet.from_arrays(-0.04 * normals, normals, 0.5, mass=0.3, force_limit=6.0)
    s.save(tmp_path / "set.h5")
    (tmp_path / "study.toml").write_text(
        'schema = 1\njob = "grasp_set"\nseed = 9\n[contacts]\nfriction = { uniform = [0.1, 0.5] }\n'
        'tilt = { cone_uniform = "0.1 rad" }\n[object]\nmass_factor = { uniform = [0.5, 1.5] }\n'
        '[load]\nforce_ball = "0.5 N"\n[sampling]\nsamples = 700\n'
    )
    ran = program(
        "grasp", "rank", tmp_path / "set.h5", tmp_path / "study.toml", "-o", tmp_path / "r.h5", "--format", "json"
    )
    r = garra.grasp.rank(
        s,
        friction=garra.uniform(0.1, 0.5, common=True),
        mass=garra.scale(0.5, 1.5),
        tilt=0.1,
        force=garra.ball(0.5),
        samples=700,
        seed=9,
    )
    answer = json.loads(ran.stdout)
    assert answer["status"]["ranked"] == 30
    assert answer["unsolved"] == 0
    import h5py

    with h5py.File(tmp_path / "r.h5") as file:
        assert list(file["status"].attrs["names"][:2]) == ["ranked", "no_contact"]
        for name in ("p_held", "low", "high", "difference", "difference_low", "required_friction", "rank", "held"):
            np.testing.assert_array_equal(file[name][()], getattr(r, name), err_msg=name)
    assert [best["grasp"] for best in answer["best"]] == list(r.order[:10])
    program("grasp", "rank", tmp_path / "set.h5", tmp_path / "study.toml", "-o", tmp_path / "r.csv")
    with (tmp_path / "r.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["grasp"]) for row in rows] == list(range(30))
    assert [float(row["p_held"]) for row in rows] == list(r.p_held)
    assert [float(row["required_friction_50"]) for row in rows] == list(r.required_friction[:, 1])
    assert {row["status"] for row in rows} == {"ranked"}
    assert ((r.p_held > 0) & (r.p_held < 1)).any()


def test_keywords_override_the_options_of_a_ranking():
    points, normals, _ = box_grasps(5, 0.06)
    grasps = garra.grasp.GraspSet.from_arrays(points, normals, arrays=garra.grasp.GraspArrays(mass=0.3, force_limit=5.0))
    options = garra.grasp.RankOptions(friction=garra.uniform(0.1, 0.5), samples=200, seed=4)
    found = garra.grasp.rank(grasps, options, samples=300)
    spelled_out = garra.grasp.rank(grasps, friction=garra.uniform(0.1, 0.5), samples=300, seed=4)
    assert (found.samples == 300).all()
    np.testing.assert_array_equal(found.p_held, spelled_out.p_held)
    np.testing.assert_array_equal(garra.grasp.rank(grasps, options).held, garra.grasp.rank(grasps, options=options).held)
    # Options of the set and of the ranking have names in common: an array goes to the set.
    heavy = garra.grasp.rank(grasps, options, mass=30.0)
    assert (heavy.p_held == 0).all()
    assert heavy.candidates.arrays["mass"].tolist() == [30.0] * 5


def test_options_are_checked_when_they_are_made():
    for wrong in ({"samples": 0}, {"tilt": -0.1}, {"seed": -1}, {"device": "gpu!"}, {"best": -1}):
        with pytest.raises(garra.UsageError, match=next(iter(wrong))):
            garra.grasp.RankOptions(**wrong)
    with pytest.raises(TypeError, match="garra.ball"):
        garra.grasp.RankOptions(force=2.0)
    with pytest.raises(ValueError, match="below 0"):
        garra.grasp.RankOptions(friction=garra.uniform(-0.1, 0.5))


def test_the_signature_of_rank_lists_every_option_with_its_default():
    shown = inspect.signature(garra.grasp.rank).parameters
    for f in dataclasses.fields(garra.grasp.RankOptions):
        assert shown[f.name].default == f.default
        assert shown[f.name].kind is inspect.Parameter.KEYWORD_ONLY
    of_set = {f.name for f in dataclasses.fields(garra.grasp.GraspArrays)}
    assert of_set <= inspect.signature(garra.grasp.GraspSet.from_arrays).parameters.keys()
    assert of_set - {"gravity"} <= inspect.signature(garra.grasp.GraspSet.from_world).parameters.keys()
    assert "radius_samples: " in pydoc.render_doc(garra.grasp.rank)


def test_a_ranking_that_cannot_be_read_is_an_error_of_garra(tmp_path):
    with pytest.raises(garra.InputOutputError, match="none.h5: no such file"):
        garra.grasp.Ranking.read(tmp_path / "none.h5")
    (tmp_path / "text.h5").write_text("rank")
    with pytest.raises(garra.FileError, match="text.h5: not a whole HDF5 file"):
        garra.grasp.Ranking.read(tmp_path / "text.h5")


def test_a_table_of_a_ranking_has_its_medians_the_best_first():
    pytest.importorskip("pandas")
    points, normals, _ = box_grasps(3, 0.06)
    points[1] *= 1000
    names = ["a", "b", "c"]
    ranking = garra.grasp.rank(points=points, normals=normals, friction=0.5, mass=0.1, samples=10, names=names)
    table = ranking.to_pandas()
    assert list(table["name"]) == [names[g] for g in (*ranking.order, 1)]
    assert list(table["required_friction"].dropna()) == list(ranking.required_friction[ranking.order, 1])
    assert list(table["status"])[-1] == "millimeters"


def test_bad_grasps_and_bad_files_say_what_is_wrong(tmp_path):
    points, normals, _ = box_grasps(4, 0.06)
    points[1] *= 1000
    normals[2] = 0
    r = garra.grasp.rank(points=points, normals=normals, friction=0.5, mass=0.1, samples=10)
    assert r.refused == {"bad_normal": 1, "millimeters": 1}
    assert list(r.rank) == [1, 0, 0, 2]
    assert r.best == 0
    with pytest.raises(ValueError, match=r"normals?"):
        garra.grasp.rank(points=points, normals=normals[:2], friction=0.5, mass=0.1)
    with pytest.raises(garra.UsageError, match="nothing that the grasps have to hold"):
        garra.grasp.rank(points=points, normals=normals, friction=0.5)
    with pytest.raises(garra.UsageError, match="without friction.*\nGive friction=0.5"):
        garra.grasp.rank(points=points, normals=normals, mass=0.1)
    with pytest.raises(TypeError, match=r"rank\(points=..., normals=..., friction=...\)"):
        garra.grasp.rank(points)
    with pytest.raises(TypeError, match="frction"):
        garra.grasp.rank(points=points, normals=normals, frction=0.5, mass=1)

    import h5py

    path = tmp_path / "set.h5"
    with h5py.File(path, "w") as file:
        file["point"], file["normal"], file["first"] = np.zeros((4, 3)), np.zeros((4, 3)), [0, 3, 2, 4]
    ran = program("grasp", "rank", path, expect=3)
    assert "set.h5: dataset first" in ran.stderr
    assert "row 2" in ran.stderr
    with h5py.File(path, "a") as file:
        file["first"][...] = [0, 1, 2, 4]
        file["friction"] = [0.5, 0.5]
    ran = program("grasp", "rank", path, expect=3)
    assert "friction" in ran.stderr
    program("grasp", "rank", tmp_path / "none.h5", expect=5)


def torus(around: int = 48, across: int = 24):
    """Vertices and triangles of a ring about z, of the radii 40 and 10 mm."""
    u, v = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.arange(across) * 2 * np.pi / across, indexing="ij")
    r = 0.04 + 0.01 * np.cos(v)
    vertices = np.stack([r * np.cos(u), r * np.sin(u), 0.01 * np.sin(v)], -1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    a, b = i * across + j, (i + 1) % around * across + j
    c, d = (i + 1) % around * across + (j + 1) % across, i * across + (j + 1) % across
    return vertices, np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])


def test_a_ring_is_grasped_from_within_where_its_mesh_or_the_caller_says_so(tmp_path):
    angle = np.array([0.3, 0.3 + 2 * np.pi / 3, 0.3 + 4 * np.pi / 3])
    out = np.stack([np.cos(angle), np.sin(angle), np.zeros(3)], -1)[None]
    settings = {"normals": out, "friction": 0.5, "mass": 0.3}
    within = {"points": 0.03 * out, **settings}
    assert garra.grasp.rank(**within, samples=1).refused == {"outward_normals": 1}
    assert garra.grasp.rank(**within, samples=1, interior_grasp=True).best == 0
    assert garra.grasp.rank(**within, samples=1, mesh=torus()).best == 0
    turned = {"points": 0.05 * out, **settings}
    assert garra.grasp.rank(**turned, samples=1, mesh=torus()).refused == {"outward_normals": 1}
    # Candidates of a ring come from all sides, and all of them are ranked.
    grasps = garra.grasp.propose(torus(), fingers=3, n=300, friction=0.8)
    arm, normal = (grasps.arrays[name].reshape(-1, 3, 3) for name in ("point", "normal"))
    inside = ((arm * normal).sum(-1) > 0).all(1)
    assert inside.sum() > 3
    assert not garra.grasp.rank(grasps, samples=1, friction_samples=0).refused
    grasps.save(tmp_path / "ring.h5")
    ranked = json.loads(program("grasp", "rank", tmp_path / "ring.h5", "--format", "json").stdout)
    assert ranked["status"]["ranked"] == 300


def test_a_file_that_is_no_hdf5_file_is_a_file_error(tmp_path):
    (tmp_path / "set.h5").write_text("not a set")
    with pytest.raises(garra.FileError, match="set.h5: no HDF5 file"):
        garra.grasp.GraspSet.from_hdf5(tmp_path / "set.h5")
    with pytest.raises(FileNotFoundError):
        garra.grasp.GraspSet.from_hdf5(tmp_path / "none.h5")


def test_a_displacement_of_the_hand_moves_all_contacts_along_their_surfaces():
    normals = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0]])
    points = np.array([[-0.03, 0, 0.001], [0.03, 0, -0.001], [0, -0.02, 0]])
    grasps = garra.grasp.GraspSet.from_arrays(points[None], normals[None], friction=0.6, mass=0.2, force_limit=20.0)
    ranking = garra.grasp.rank(grasps, displacement=garra.ball(0.004), samples=400)
    moved = []
    for sample in range(50):
        replay = ranking.replay(0, sample)
        size, cosine, azimuth = (replay["inputs"][f"displacement{part}"] for part in ("", " cos(polar angle)", " azimuth"))
        sine = np.sqrt(1 - cosine**2)
        displacement = size * np.array([sine * np.cos(azimuth), sine * np.sin(azimuth), cosine])
        along = displacement - normals * (normals @ displacement)[:, None]  # on planes the normal part moves nothing
        np.testing.assert_allclose(replay["point"], points + along, atol=1e-15)
        moved.append(size)
    assert 0.003 < max(moved) <= 0.004
    # The draws of older inputs do not depend on it.
    still, both = (garra.grasp.rank(grasps, com=garra.ball(0.003), samples=64, **more)
                   for more in ({}, {"displacement": garra.ball(0.004)}))
    assert still.replay(0, 7)["inputs"].items() <= both.replay(0, 7)["inputs"].items()


def test_what_helps_finds_the_change_that_statics_says():
    # Two pads beside each other along x bear a weight across by friction alone: friction and force help alike, and a
    # finger from below bears it without friction.
    inertia = np.tile(np.eye(3) * 1e-4, (1, 1, 1))
    points, normals = [[[-0.03, 0, 0], [0.03, 0, 0]]], [[[1.0, 0, 0], [-1, 0, 0]]]
    vertices = np.array([[x, y, z] for x in (-0.03, 0.03) for y in (-0.02, 0.02) for z in (-0.02, 0.02)])
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    faces = np.array([[q[i], q[j], q[k]] for q in quads for i, j, k in ((0, 1, 2), (0, 2, 3))])
    grasps = garra.grasp.GraspSet.from_arrays(
        points, normals, 0.5, mass=0.2, inertia=inertia, force_limit=2.0, torsion_radius=0.05, mesh=(vertices, faces)
    )
    ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.8, common=True), samples=1000)
    helps = ranking.what_helps(0)
    p = dict(zip(helps.change, helps.p_held, strict=True))
    needed = 0.2 * 9.81 / 4
    assert helps.before == pytest.approx((0.8 - needed) / 0.6, abs=0.05)
    assert p["friction x 1.2"] == pytest.approx((0.96 - needed) / 0.72, abs=0.05)
    assert p["force limits x 1.2"] == pytest.approx((0.8 - needed / 1.2) / 0.6, abs=0.05)
    assert helps.change[0].startswith("one more finger") and helps.p_held[0] == 1
    assert "difference" in repr(helps)


@pytest.mark.parametrize(("radius", "off"), [(0.003, 0.01), (0.01, 0.02)])
def test_soft_fingers_do_not_hold_what_turns_between_them(radius, off):
    """A bar held beside its center of mass: friction of force and moment together, mu N >= m g / 2 sqrt(1 + (d/r)^2)."""
    mass, grip = 0.3, 6.0
    needed = mass * 9.81 / 2 * np.sqrt(1 + (off / radius) ** 2) / grip
    sides = mass / 12 * np.diag([0.16**2 + 0.03**2, 2 * 0.03**2, 0.16**2 + 0.03**2])
    jacobian = np.zeros((1, 2, 3, 6))
    jacobian[0, 0, :, :3] = jacobian[0, 1, :, 3:] = np.eye(3)
    held = {}
    for share in (0.8, 0.95, 0.99, 1.01):
        grasps = garra.grasp.GraspSet.from_arrays(
            [[[-0.015, off, 0], [0.015, off, 0]]], [[[1.0, 0, 0], [-1, 0, 0]]], friction=share * needed, mass=mass,
            inertia=sides[None], jacobian=jacobian, angular_jacobian=np.zeros((1, 2, 3, 6)), torsion_radius=radius,
            mass_matrix=np.diag([0.2, 0.5, 0.8] * 2)[None], bias=[[0, 0, 0.8 * 9.81] * 2],
            force=[[[grip, mass * 9.81 / 2, 0]] * 2], torsion=np.zeros((1, 2)), tangent=[[[0, 0, 1.0]] * 2],
        )  # fmt: skip
        ranking = garra.grasp.rank(grasps, samples=1)
        held[share] = ranking.p_held[0]
        assert ranking.required_friction[0][1] == pytest.approx(needed, rel=0.01)
    assert held == {0.8: 0, 0.95: 0, 0.99: 0, 1.01: 1}


def test_a_stronger_grip_leaves_what_carries_the_hand():
    """The same hand by forces, and by torques that bear its own weight besides: a stronger grip helps both alike."""
    mass, grip = 0.3, 4.0
    jacobian = np.zeros((1, 2, 3, 6))
    jacobian[0, 0, :, :3] = jacobian[0, 1, :, 3:] = np.eye(3)
    bias = np.array([[0, 0, 0.8 * 9.81] * 2])
    pressed = np.array([[grip, 0, mass * 9.81 / 2, -grip, 0, mass * 9.81 / 2]])
    helped, varied = [], []
    for command in ({"force": [[[grip, mass * 9.81 / 2, 0]] * 2]}, {"torque": bias + pressed}):
        grasps = garra.grasp.GraspSet.from_arrays(
            [[[-0.02, 0, 0], [0.02, 0, 0]]], [[[1.0, 0, 0], [-1, 0, 0]]], 0.5, mass=mass,
            inertia=np.diag([2.5e-4, 2e-4, 1.3e-4])[None], jacobian=jacobian, bias=bias,
            mass_matrix=np.diag([0.2, 0.5, 0.8] * 2)[None], tangent=[[[0, 0, 1.0]] * 2], **command,
        )  # fmt: skip
        ranking = garra.grasp.rank(grasps, friction=garra.uniform(0.2, 0.6, common=True), samples=1000)
        helps = ranking.what_helps(0)
        helped.append(dict(zip(helps.change, helps.p_held, strict=True))["grip force x 1.2"])
        varied.append(max(ranking.variants(0).p_held[1:]))
        needed = mass * 9.81 / 2 / (1.2 * grip)
        assert helps.before == pytest.approx((0.6 - 1.2 * needed) / 0.4, abs=0.05)
        assert helped[-1] == pytest.approx((0.6 - needed) / 0.4, abs=0.05)
    assert helped[0] == helped[1] and varied[0] == varied[1]


@pytest.mark.parametrize(("half", "off"), [(0.0005, 0.003), (0.002, 0.01)])
def test_small_pads_of_hard_points_do_not_hold_what_turns_between_them(half, off):
    """A bar held beside its center of mass by two pads of four points: the least sum of |t_i| balances force and moment."""
    mass, grip = 0.1, 6.0
    corners = half * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1.0]])
    angles = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)  # of unit forces at each corner
    forces = np.tile(ways, (4, 1))
    arms = np.repeat(corners, len(ways), axis=0)
    balance = np.vstack([forces.T, arms[:, 0] * forces[:, 1] - arms[:, 1] * forces[:, 0]])
    load = mass * 9.81 / 2 * np.array([0, 1, off])
    needed = scipy.optimize.linprog(np.ones(len(forces)), A_eq=balance, b_eq=load).fun / grip
    points = [[x, off + y, z] for x in (-0.015, 0.015) for y, z in corners]
    normals = [[x, 0, 0] for x in (1.0, -1.0) for _ in corners]
    jacobian = np.zeros((1, 8, 3, 6))
    jacobian[0, :4, :, :3] = jacobian[0, 4:, :, 3:] = np.eye(3)
    held = {}
    for share in (0.7, 0.95, 0.99, 1.01):
        grasps = garra.grasp.GraspSet.from_arrays(
            [points], [normals], friction=share * needed, mass=mass, jacobian=jacobian,
            inertia=mass / 12 * np.diag([0.16**2 + 0.03**2, 2 * 0.03**2, 0.16**2 + 0.03**2])[None],
            mass_matrix=np.diag([0.2, 0.5, 0.8] * 2)[None], bias=[[0, 0, 0.8 * 9.81] * 2],
            force=[[[grip / 4, mass * 9.81 / 8, 0]] * 8], tangent=[[[0, 0, 1.0]] * 8],
        )  # fmt: skip
        ranking = garra.grasp.rank(grasps, samples=1)
        held[share] = ranking.p_held[0]
        assert ranking.required_friction[0][1] == pytest.approx(needed, rel=0.01)
    assert held == {0.7: 0, 0.95: 0, 0.99: 0, 1.01: 1}


def test_wrong_arguments_of_sets_name_themselves():
    points, normals = [[[-0.03, 0, 0], [0.03, 0, 0]]], [[[1, 0, 0], [-1, 0, 0]]]
    with pytest.raises(ValueError, match="com is one number: give 3"):
        garra.grasp.rank(points=points, normals=normals, friction=0.5, mass=0.2, com=0.01)
    with pytest.raises(ValueError, match=r"grasps\[0\] is None: leave out states without contact"):
        garra.grasp.rank([None])
    with pytest.raises(ValueError, match=r"baselines\['a'\] has the shape \[1\], not \[3\]"):
        garra.grasp.compare([0.1, 0.9, 0.3], [0, 1, 1], baselines={"a": [1.0]})
