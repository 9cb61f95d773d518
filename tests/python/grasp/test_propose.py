"""Proposed grasps from Python and by the program: files written here, masses and cones by formulas of their own."""

from __future__ import annotations

import json
import struct
import warnings
from pathlib import Path

import garra
import h5py
import numpy as np
import pytest
from arrays import require_module
from program import garra as program

require_module()


def torus(ring: float = 0.04, tube: float = 0.012, around: int = 60, across: int = 30):
    """Vertices and faces, counterclockwise from outside; axis z."""
    a, b = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    u, v = 2 * np.pi * a / around, 2 * np.pi * b / across
    radius = ring + tube * np.cos(v)
    vertices = np.stack([radius * np.cos(u), radius * np.sin(u), tube * np.sin(v)], axis=-1).reshape(-1, 3)

    def number(i, j):
        return (i % around) * across + j % across

    quads = np.stack([number(a, b), number(a + 1, b), number(a + 1, b + 1), number(a, b + 1)], axis=-1).reshape(-1, 4)
    return vertices, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def write_stl(path: Path, vertices: np.ndarray, faces: np.ndarray) -> None:
    with path.open("wb") as file:
        file.write(b"\0" * 80 + struct.pack("<I", len(faces)))
        for corners in vertices[faces].astype("<f4"):
            file.write(b"\0" * 12 + corners.tobytes() + b"\0\0")


def write_obj(path: Path, vertices: np.ndarray, faces: np.ndarray) -> None:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    lines += [f"f {a + 1}//1 {b + 1}//1 {c + 1}//1" for a, b, c in faces.tolist()]
    path.write_text("\n".join(lines))


def body(vertices: np.ndarray, faces: np.ndarray, density: float):
    """Volume integrals of 1, x, x x^T by the divergence theorem: surface integrals of x, x^2 / 2, x^2 y / 2, ..., by a
    rule that is exact for cubic polynomials on a triangle (Strang and Fix: middle -27/48, three inner points 25/48)."""
    corners = vertices[faces]
    area = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    weights = np.array([-27, 25, 25, 25]) / 48
    rule = np.array([[1 / 3, 1 / 3, 1 / 3], [0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
    points = np.einsum("qc,fci->fqi", rule, corners)

    def integral(function, axis):
        return np.einsum("fq,q,f->", function(points), weights, area[:, axis])

    volume = integral(lambda p: p[..., 0], 0)
    com = np.array([integral(lambda p, i=i: p[..., i] ** 2 / 2, i) for i in range(3)]) / volume
    second = np.zeros((3, 3))
    for i in range(3):
        second[i, i] = integral(lambda p, i=i: p[..., i] ** 3 / 3, i)
        j = (i + 1) % 3
        second[i, j] = second[j, i] = integral(lambda p, i=i, j=j: p[..., i] ** 2 / 2 * p[..., j], i)
    second -= volume * np.outer(com, com)
    return density * volume, com, density * (np.trace(second) * np.eye(3) - second)


def test_mass_and_inertia_of_a_mesh_are_its_surface_integrals():
    rng = np.random.default_rng(2)
    vertices, faces = torus()
    # Anywhere, turned and sheared: nothing is symmetric.
    vertices = vertices @ (np.eye(3) + 0.3 * rng.normal(size=(3, 3))) + [0.3, -0.2, 0.1]
    s = garra.grasp.propose((vertices, faces), n=2, density=700)
    mass, com, inertia = body(vertices, faces, 700)
    sign = np.sign(mass)  # a shear may turn it inside out, which propose() puts right
    np.testing.assert_allclose(s.arrays["mass"], abs(mass), rtol=1e-12)
    np.testing.assert_allclose(s.arrays["com"][1], com, atol=1e-13)
    np.testing.assert_allclose(s.arrays["inertia"][0], sign * inertia, atol=1e-12 * abs(inertia).max())


def test_trimesh_has_the_same_mass_and_its_meshes_are_taken():
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    mesh = trimesh.creation.torus(0.04, 0.012)
    mesh.density = 1000
    s = garra.grasp.propose(mesh, n=20)
    np.testing.assert_allclose(s.arrays["mass"][0], mesh.mass, rtol=1e-12)
    np.testing.assert_allclose(s.arrays["inertia"][0], mesh.moment_inertia, atol=1e-12 * mesh.moment_inertia.max())


def test_the_example_of_the_readme_runs(tmp_path):
    write_stl(tmp_path / "part.stl", *torus())
    ran = program(
        "grasp", "propose", "part.stl", "--fingers", 3, "-n", 400, "-o", "set.h5", "--format", "json", cwd=tmp_path
    )
    answer = json.loads(ran.stdout)
    assert answer["grasps"] == 400
    assert answer["mesh"]["watertight"] is True
    assert answer["mesh"]["merged"] == 5 * 1800, "six corners meet in each of 1800 vertices"
    assert sum(answer["rejections"].values()) == answer["samples"]
    with h5py.File(tmp_path / "set.h5") as file:
        assert file["object/vertex"].shape == (1800, 3)
        assert file["object/face"].shape == (3600, 3)
    program("grasp", "rank", "set.h5", "-o", "ranking.h5", "--set", "sampling.samples=16", cwd=tmp_path)
    # The same from Python, file and arrays.
    s = garra.grasp.propose(tmp_path / "part.stl", fingers=3, n=400)
    points, normals = (s.arrays[name].reshape(-1, 3, 3) for name in ("point", "normal"))
    interior_grasp = (np.einsum("gki,gki->gk", points, normals) > 0).all(axis=-1)
    with h5py.File(tmp_path / "ranking.h5") as file:
        assert interior_grasp.any() and (file["rank"][()] > 0).all(), "the ring grasped from its hole, too"
        assert (file["p_held"][()] == 1).all(), "forces that close hold any weight"
    np.testing.assert_array_equal(s.sample, garra.grasp.GraspSet.from_hdf5(tmp_path / "set.h5").sample)
    with h5py.File(tmp_path / "set.h5") as file:
        for name, array in s.arrays.items():
            np.testing.assert_array_equal(array, file[name][()], err_msg=name)
    best = garra.grasp.rank(s, friction=garra.normal(0.5, 0.1), samples=100).best
    assert 0 <= best < 400


def test_files_and_arrays_of_one_mesh_give_one_set(tmp_path):
    vertices, faces = torus()
    write_obj(tmp_path / "part.obj", 1000 * vertices, faces[:, ::-1])
    with pytest.raises(garra.FileError, match=r"(?s)part\.obj: it measures 104 m.*mm, --scale 0\.001 \(0\.104 x 0\.104 x 0\.0239 m, 0\.113 kg\).*scale=0\.001"):
        garra.grasp.propose(tmp_path / "part.obj")
    one = garra.grasp.propose(tmp_path / "part.obj", n=50, scale=0.001, threads=1)
    two = garra.grasp.propose((1000 * vertices, faces[:, ::-1]), n=50, scale=0.001, threads=2)
    assert one.about["mesh"]["flipped"]
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(array, two.arrays[name], err_msg=name)
    one.save(tmp_path / "set.h5")
    again = garra.grasp.GraspSet.from_hdf5(tmp_path / "set.h5")
    np.testing.assert_array_equal(again.mesh[1], one.mesh[1])
    np.testing.assert_array_equal(again.sample, one.sample)


def test_flat_pads_on_a_ball_need_the_friction_of_its_weight():
    """Two pads of F bear m g: mu = m g / (2 F), however large the pads are and however their points are turned."""
    grasps = garra.grasp.propose("sphere:0.03", fingers=2, n=4000, pad_radius=0.01, friction=0.02, mass=0.5, force_limit=20.0)
    normal = grasps.arrays["normal"].reshape(-1, 2, 3, 3)
    assert (normal == normal[:, :, :1]).all()
    level = np.nonzero((abs(normal[..., 0, 2]) < 0.01).all(1))[0]
    assert len(level) >= 5
    needed = garra.grasp.rank(grasps, samples=1, friction_samples=1).required_friction[level, 1]
    np.testing.assert_allclose(needed, 0.5 * 9.81 / 40, rtol=0.09)


def test_hollow_objects_are_grasped_at_the_wall_and_across():
    def widths(opening):
        found = garra.grasp.propose(ring, fingers=2, n=400, max_opening=opening, mass=0.1, friction=0.2)
        return np.linalg.norm(np.diff(found.arrays["point"].reshape(-1, 2, 3), axis=1), axis=2)

    turn = 2 * np.pi * np.arange(60) / 60
    rims = [[r * np.cos(turn), r * np.sin(turn), np.full(60, z)] for r, z in ((0.03, 0), (0.03, 0.06), (0.022, 0.06), (0.022, 0))]
    i, j = np.arange(60), (np.arange(60) + 1) % 60
    sides = [((k, i), (k, j), ((k + 1) % 4, j), ((k + 1) % 4, i)) for k in range(4)]
    quads = np.concatenate([np.stack([60 * k + at for k, at in side], axis=1) for side in sides])
    ring = np.transpose(rims, (0, 2, 1)).reshape(-1, 3), np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    both = widths(0.08)  # the wall has 8 mm, the tube 60 mm and is 60 mm high
    assert (both < 0.0085).sum() > 50 and (abs(both - 0.06) < 0.002).sum() > 50
    assert widths(0.05).max() < 0.0085


def test_pairs_on_a_torus_lie_in_their_cones_and_their_fingers_find_room():
    ring, tube, radius = 0.04, 0.012, 0.01
    s = garra.grasp.propose(torus(around=240, across=120), n=500, friction=0.4, finger_radius=radius, max_opening=0.03)
    points, normals = (s.arrays[name].reshape(-1, 2, 3) for name in ("point", "normal"))
    line = points[:, 1] - points[:, 0]
    length = np.linalg.norm(line, axis=-1)
    assert (length <= 0.03).all()
    for j, sign in ((0, 1), (1, -1)):
        cosine = sign * np.einsum("gi,gi->g", line, normals[:, j]) / length
        assert (np.arccos(np.clip(cosine, -1, 1)) <= np.arctan(0.4) + 1e-9).all()

    def distance(p):
        """From the torus that the mesh was cut from."""
        return np.hypot(np.hypot(p[..., 0], p[..., 1]) - ring, p[..., 2]) - tube

    # Chords of 240 and 120 pieces are within 0.05 mm of their arcs.
    assert (np.abs(distance(points)) < 5e-5).all()
    tips = points - radius * normals
    assert (distance(tips) > 0.98 * radius - 1e-4).all()
    assert (np.linalg.norm(tips[:, 0] - tips[:, 1], axis=-1) >= 2 * radius).all()
    # Principal curvatures of a torus: 1 / tube, and cos(v) / (distance from the axis).
    from_axis = np.hypot(points[..., 0], points[..., 1])
    expected = np.stack([np.full(from_axis.shape, 1 / tube), (from_axis - ring) / tube / from_axis], axis=-1)
    curvature = np.sort(s.arrays["curvature"].reshape(-1, 2, 2), axis=-1)[..., ::-1]
    np.testing.assert_allclose(curvature, np.sort(expected, axis=-1)[..., ::-1], atol=3)


def test_slides_along_the_curvature_stay_on_a_sphere():
    # On a sphere a slide turns the normal about the middle, so that contact forces go on meeting there; with the
    # curvature left out they do not.
    s = garra.grasp.propose("sphere:0.02", n=100, fingers=3, friction=0.4, seed=4)
    assert np.allclose(s.arrays["curvature"], 50)
    with_it = garra.grasp.rank(s, slide=0.003, samples=200, friction_samples=1)
    flat = garra.grasp.GraspSet(s.first, {k: v for k, v in s.arrays.items() if k != "curvature"})
    without = garra.grasp.rank(flat, slide=0.003, samples=200, friction_samples=1)
    assert (with_it.p_held != without.p_held).any()


def test_what_cannot_be_is_said(tmp_path):
    with pytest.raises(garra.UsageError, match=r"(?s)no grasp among 500 samples: 500 too_wide.*max_opening"):
        garra.grasp.propose("sphere:0.05", max_opening=0.05, max_samples=500)
    with pytest.warns(UserWarning, match="3 grasps of 10"):
        assert len(garra.grasp.propose("sphere:0.05", n=10, max_samples=3)) == 3
    vertices, faces = torus()
    with pytest.raises(garra.UsageError, match="not watertight"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        garra.grasp.propose((vertices, faces[:-1]))
    with pytest.warns(UserWarning, match="3 open"):
        garra.grasp.propose((vertices, faces[:-1]), n=2, mass=0.1)
    with pytest.raises(garra.UsageError, match="neither .stl nor .obj"):
        garra.grasp.propose("part.step")
    with pytest.raises(garra.InputOutputError):
        garra.grasp.propose(tmp_path / "none.stl")
    with pytest.raises(ValueError, match=r"faces name vertices 0 to 1799 of 1000"):
        garra.grasp.propose((vertices[:1000], faces))
    with pytest.raises(ValueError, match=r"\[v, 3\]"):
        garra.grasp.propose((vertices[:, :2], faces))
    with pytest.raises(ValueError, match="whole numbers"):
        garra.grasp.propose((vertices, faces.astype(float)))
    with pytest.raises(TypeError, match="not int"):
        garra.grasp.propose(5)
    with pytest.raises(ValueError, match="scale"):
        garra.grasp.propose("sphere:0.05", scale=0.0)
    bad = vertices.copy()
    bad[7, 1] = np.nan
    with pytest.raises(garra.FileError, match="mesh: vertex 7"):
        garra.grasp.propose((bad, faces))


def test_the_program_refuses_what_it_cannot_use(tmp_path):
    (tmp_path / "short.stl").write_bytes(b"\0" * 80 + struct.pack("<I", 2**32 - 1))
    ran = program("grasp", "propose", tmp_path / "short.stl", "-o", tmp_path / "set.h5", expect=3)
    assert "4294967295 triangles" in ran.stderr
    assert not (tmp_path / "set.h5").exists()
    write_obj(tmp_path / "part.obj", *torus())
    program("grasp", "propose", tmp_path / "part.obj", "-o", tmp_path / "part.obj", expect=2)
    program("grasp", "propose", "sphere:0.1,0.2", "-o", tmp_path / "set.h5", expect=2)
    program("grasp", "propose", "sphere:0.1", "-o", tmp_path / "set.h5", "--fingers", 12, expect=2)
    program("grasp", "propose", "sphere:0.1", "-o", tmp_path / "set.h5", "--mass", 1, "--density", 2, expect=2)
    program("grasp", "propose", "sphere:0.1", "-o", tmp_path / "no/set.h5", expect=5)
    program("grasp", "propose", "sphere:0.1", "-o", tmp_path / "set.h5", "--approach", "0,1", expect=2)
    one = garra.grasp.propose("sphere:0.1", n=5, approach=(-1, 0, 0), finger_radius=0.01)
    program(
        "grasp", "propose", "sphere:0.1", "-o", tmp_path / "set.h5", "-n", 5, "--approach=-1,0,0", "--finger-radius=.01"
    )
    np.testing.assert_array_equal(garra.grasp.GraspSet.from_hdf5(tmp_path / "set.h5").sample, one.sample)
    assert (one.sample != np.arange(5)).any()
    ran = program("grasp", "propose", "sphere:0.1", "-o", tmp_path / "set.h5", "-n", "10")
    assert "10 grasps of 2 fingers" in ran.stdout
    program("grasp", "propose", tmp_path / "none.stl", "-o", tmp_path / "set.h5", expect=5)
