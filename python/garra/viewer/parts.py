"""Visible parts of a grasp at an instant as plain arrays, independent of the renderer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from garra import _core
from garra.grasp.drawing import friction_cone

STATES = ("sticks", "slips", "is open")


@dataclass(frozen=True)
class Body:
    """The object about its own origin, and where that is: world is the palm's frame."""

    vertices: np.ndarray
    """[v, 3] [m]"""
    faces: np.ndarray
    """[f, 3]"""
    position: np.ndarray
    quaternion: np.ndarray
    """scalar first"""


@dataclass(frozen=True)
class Contact:
    """A contact of an object."""

    point: np.ndarray
    """[3] [m]"""
    state: int
    """index in STATES; -1: not known"""
    normal: np.ndarray | None
    """[3] into the object"""
    force: np.ndarray | None
    """[3] on the object [N]"""
    friction: float | None


@dataclass(frozen=True)
class Instant:
    time: float
    body: Body | None
    fingers: list[np.ndarray]
    """[links, 3] origins of the links' frames, the last one the fingertip; none where a finger's place is not known"""
    contacts: list[Contact]
    load: np.ndarray
    """[3] push on the object's center of mass [N]"""
    others: list[Body]
    """further objects of a group"""


def instants(run: dict[str, Any]) -> int:
    return len(run["time"])


def at(found: dict[str, Any], run: dict[str, Any], i: int) -> Instant:
    """Instant i of one trajectory that garra.grasp.scene has read."""
    fingers = [np.array(links[i], float) for links in run["links"] if None not in np.ravel(np.array(links[i], object))]
    contacts = [_contact(run, i, j) for j in range(len(run["state"][i]))]
    others = [_body(*pair, i) for pair in zip(found.get("others", ()), run.get("others", ()), strict=True)]
    return Instant(
        run["time"][i],
        _body(found, run, i),
        fingers,
        [c for c in contacts if c is not None],
        _known(run["load"][i][:3]),
        [body for body in others if body is not None],
    )


def _known(values: list[float | None]) -> np.ndarray:
    return np.array([0.0 if x is None else x for x in values])


def _vector(values: list[float | None]) -> np.ndarray | None:
    return None if None in values else np.array(values)


def _contact(run: dict[str, Any], i: int, j: int) -> Contact | None:
    point = _vector(run["point"][i][j] if "point" in run else run["links"][j][i][-1])
    if point is None:
        return None
    state, mu = run["state"][i][j], run["mu"][j] if run["mu"] else run["friction"]
    return Contact(
        point, -1 if state is None else int(state), _vector(run["normal"][i][j]), _vector(run["force_palm"][i][j]), mu
    )


def _body(found: dict[str, Any], run: dict[str, Any], i: int) -> Body | None:
    """Body of the object, or None for an object given by points only."""
    r, h, size = found["radius"], found["height"], found["size"]
    words = {"sphere": [r], "cylinder": [r, h], "box": size}.get(found["shape"])
    if words is None:
        return None
    numbers = ",".join(repr(float(run["scale"] * x)) for x in words)
    mesh = _core.MeshObject(f"{found['shape']}:{numbers}", None, None, 1.0).picture()
    return Body(*mesh, np.array(run["position"][i]), np.array(run["quaternion"][i]))


def look_from(server: Any, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lets each new client of a viser.ViserServer see all points [n, 3]; place and target of the camera."""
    low, high = points.min(axis=0), points.max(axis=0)
    target = (low + high) / 2
    eye = target + max(float(np.linalg.norm(high - low)), 1e-3) * np.array([0.6, -0.7, 0.4])

    def look(client: Any) -> None:
        client.camera.position, client.camera.look_at = eye, target

    server.on_client_connect(look)
    return eye, target


def cone(contact: Contact, height: float) -> tuple[np.ndarray, np.ndarray]:
    """The friction cone as a mesh: apex at the contact, about its normal, so high [m]."""
    normal = contact.normal / np.linalg.norm(contact.normal)
    return friction_cone(contact.point, normal, contact.friction, height)
