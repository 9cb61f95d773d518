"""garra.viewer: what it draws, and the server without a browser."""

from __future__ import annotations

import socket
import sys
from types import SimpleNamespace

import garra
import numpy as np
import pytest
from garra.grasp import scene
from garra.viewer import parts
from program import ROOT


@pytest.fixture(scope="module")
def instant_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("viewer") / "run"
    garra.run(ROOT / "data/scenarios/three_puma_sphere.toml", out, samples=1024)
    return out


@pytest.fixture(scope="module")
def time_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("viewer") / "shake"
    settings = {"simulation.duration": 0.05, "simulation.friction": [0.3]}
    garra.run(ROOT / "data/scenarios/three_puma_shake.toml", out, samples=64, set=settings)
    return out


def closed_volume(vertices, faces):
    """Of a closed surface whose triangles turn outwards (Gauss)."""
    a, b, c = vertices[faces].transpose(1, 0, 2)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


@pytest.mark.parametrize(
    ("shape", "volume", "off"),
    [("sphere", 4 / 3 * np.pi * 1e-3, 0.03), ("cylinder", np.pi * 1e-2 * 0.3, 0.01), ("box", 0.1 * 0.2 * 0.3, 1e-12)],
)
def test_bodies_are_closed_and_as_large_as_they_are(shape, volume, off):
    found = {"shape": shape, "radius": 0.05, "height": 0.15, "size": [0.05, 0.1, 0.15]}
    run = {"scale": 2.0, "position": [[1, 2, 3]], "quaternion": [[1, 0, 0, 0]]}
    body = parts._body(found, run, 0)
    assert closed_volume(body.vertices, body.faces) == pytest.approx(volume, rel=off)
    edges = np.sort(np.concatenate([body.faces[:, [0, 1]], body.faces[:, [1, 2]], body.faces[:, [2, 0]]]), axis=1)
    assert set(np.unique(edges, axis=0, return_counts=True)[1]) == {2}


def test_a_cone_has_the_angle_of_friction_about_the_normal():
    contact = parts.Contact(np.array([1.0, 2, 3]), 0, np.array([0.0, 0.6, 0.8]), None, 0.5)
    vertices, _ = parts.cone(contact, 0.06)
    rays = vertices[:-1] - contact.point
    along = rays @ contact.normal
    across = np.linalg.norm(rays - along[:, None] * contact.normal, axis=1)
    assert np.allclose(along, 0.06) and np.allclose(across / along, 0.5)
    assert np.array_equal(vertices[-1], contact.point)


def test_a_force_that_is_held_is_inside_its_cone(instant_run):
    found = scene.read_pictures(str(instant_run))
    for run in found["runs"]:
        if run["outcome"] != "held":
            continue
        for contact in parts.at(found, run, 0).contacts:
            along = contact.force @ contact.normal
            across = np.linalg.norm(contact.force - along * contact.normal)
            assert across <= contact.friction * along * (1 + 1e-3)


def test_fingers_end_on_the_object(instant_run):
    found = scene.read_pictures(str(instant_run))
    nominal = parts.at(found, found["runs"][0], 0)
    for links in nominal.fingers:
        assert np.linalg.norm(links[-1] - nominal.body.position) == pytest.approx(found["radius"], abs=2e-4)


@pytest.fixture(scope="module")
def group_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("viewer") / "group"
    garra.run(ROOT / "data/scenarios/two_spheres.toml", out, samples=200)
    return out


def test_a_group_has_all_its_objects_and_contacts_on_their_surfaces(group_run):
    """Two balls of 30 mm, one on the other: where they touch is on both; forces between them are inside their cones."""
    found = scene.read_pictures(str(group_run))
    assert len(found["runs"]) > 1 and found["contact_objects"] == [0, 1, 1]
    for run in found["runs"]:
        now = parts.at(found, run, 0)
        centers = [now.body.position, *(body.position for body in now.others)]
        assert len(centers) == 2 and len(now.contacts) == 3
        for contact, on in zip(now.contacts, ([0], [1], [0, 1]), strict=True):
            for k in on:
                assert np.linalg.norm(contact.point - centers[k]) == pytest.approx(0.03, abs=5e-5)
        if run["outcome"] == "held":
            for contact in now.contacts:
                along = contact.force @ contact.normal
                across = np.linalg.norm(contact.force - along * contact.normal)
                assert across <= contact.friction * along * (1 + 1e-3)


class Server:
    """As far as the camera is concerned."""

    def on_client_connect(self, look):
        self.look = look


@pytest.mark.parametrize("size", [0.02, 0.5, 8.0])
def test_the_first_view_has_everything_in_it_and_little_else(size):
    points = size * (np.random.default_rng(1).random((50, 3)) - 0.5) + [3.0, 1.0, -2.0]
    server, client = Server(), type("Client", (), {"camera": type("Camera", (), {})()})()
    parts.look_from(server, points)
    server.look(client)
    ahead = client.camera.look_at - client.camera.position
    rays = points - client.camera.position
    cosine = rays @ ahead / np.linalg.norm(rays, axis=1) / np.linalg.norm(ahead)
    widest = np.degrees(np.arccos(cosine)).max()
    assert 15 < widest < 37.5, "half the angle of view of viser's camera is 37.5 degrees"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture
def shown(request):
    pytest.importorskip("viser", reason="garra[viewer] is not installed")
    viewer = garra.viewer.show(request.getfixturevalue(request.param), port=free_port())
    yield viewer
    viewer.close()


@pytest.mark.parametrize("shown", ["instant_run"], indirect=True)
def test_the_window_shows_hand_object_contacts_and_cones(shown):
    names = set(shown._handles)
    assert {"/object", "/hand/0", "/hand/1", "/hand/2", "/contacts/0", "/contacts/2/cone", "/contacts/2/force"} <= names
    assert np.allclose(shown._handles["/object"].position, [0, 0, 0.3])
    with pytest.raises(garra.UsageError, match="instant = 1"):
        shown.at(1)


@pytest.mark.parametrize("shown", ["instant_run"], indirect=True)
def test_a_sample_that_is_not_stored_is_replayed(shown):
    stored = {run["sample"] for run in shown._found["runs"]}
    new = next(k for k in range(1024) if k not in stored)
    before = shown._handles["/contacts/0"].position
    shown.look(new)
    assert shown._run["sample"] == new and not np.array_equal(shown._handles["/contacts/0"].position, before)
    with pytest.raises(garra.UsageError):
        shown.look(10**9)


@pytest.mark.parametrize("shown", ["group_run"], indirect=True)
def test_the_window_shows_every_object_of_a_group(shown):
    assert {"/object", "/object 1", "/contacts/2"} <= set(shown._handles)
    assert np.allclose(shown._handles["/object 1"].position, [0, 0, 0.15])


@pytest.mark.parametrize("shown", ["time_run"], indirect=True)
def test_time_moves_what_is_shown(shown):
    assert shown.instants > 10
    before = shown._handles["/object"].position
    shown.at(shown.instants - 1)
    assert not np.allclose(shown._handles["/object"].position, before, atol=1e-6)
    assert shown._words.content.startswith("0.050 s")


def test_what_cannot_be_shown_starts_no_server(instant_run, monkeypatch):
    started = []
    monkeypatch.setitem(sys.modules, "viser", SimpleNamespace(ViserServer=lambda **named: started.append(named)))
    grasps = garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=4, mass=0.3)
    with pytest.raises(garra.UsageError, match="grasp = 99, not from 0 to 3"):
        garra.viewer.show(grasps, 99)
    with pytest.raises(garra.UsageError, match="^sample = 99999999: "):
        garra.viewer.show(instant_run, 99999999)
    assert not started


def test_a_folder_without_grasps_is_refused(tmp_path):
    with pytest.raises(garra.FileError, match="no grasp that can be shown"):
        garra.viewer.show(tmp_path)
