"""Visible parts of a grasp at an instant as plain arrays, independent of the renderer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

SIDES = 32
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
    shape, scale = found["shape"], run["scale"]
    if shape == "sphere":
        mesh = _sphere(scale * found["radius"])
    elif shape == "cylinder":
        mesh = _prism(scale * found["radius"], scale * found["height"])
    elif shape == "box":
        mesh = _box(scale * np.array(found["size"]))
    else:
        return None
    return Body(*mesh, np.array(run["position"][i]), np.array(run["quaternion"][i]))


def _ring(radius: float, z: float) -> np.ndarray:
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(SIDES, z)], axis=1)


def _bands(rings: int) -> np.ndarray:
    """Triangles between rings of SIDES points, one after another."""
    k = np.arange(SIDES)
    k1 = (k + 1) % SIDES
    band = np.concatenate([np.stack([k, k1, k1 + SIDES], axis=1), np.stack([k, k1 + SIDES, k + SIDES], axis=1)])
    return np.concatenate([band + r * SIDES for r in range(rings - 1)])


def _caps(first: int, last: int, low: int, high: int) -> np.ndarray:
    """Triangles from the points `low` and `high` to the rings that begin at `first` and `last`."""
    k = np.arange(SIDES)
    k1 = (k + 1) % SIDES
    return np.concatenate(
        [
            np.stack([np.full(SIDES, low), first + k1, first + k], axis=1),
            np.stack([np.full(SIDES, high), last + k, last + k1], axis=1),
        ]
    )


def _closed(rings: list[np.ndarray], low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """A surface of revolution about z with its poles at heights `low` and `high`."""
    n = len(rings) * SIDES
    vertices = np.concatenate([*rings, [[0, 0, low], [0, 0, high]]])
    return vertices, np.concatenate([_bands(len(rings)), _caps(0, n - SIDES, n, n + 1)])


def _sphere(radius: float) -> tuple[np.ndarray, np.ndarray]:
    heights = -np.cos(np.pi * np.arange(1, SIDES // 2) / (SIDES // 2))
    return _closed([_ring(radius * np.sqrt(1 - h * h), radius * h) for h in heights], -radius, radius)


def _prism(radius: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    return _closed([_ring(radius, -height / 2), _ring(radius, height / 2)], -height / 2, height / 2)


def _box(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size / 2
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def cone(contact: Contact, height: float) -> tuple[np.ndarray, np.ndarray]:
    """The friction cone as a mesh: apex at the contact, about its normal, so high [m]."""
    normal = contact.normal / np.linalg.norm(contact.normal)
    aside = np.eye(3)[np.argmin(np.abs(normal))]
    t = np.cross(normal, aside)
    t /= np.linalg.norm(t)
    o = np.cross(normal, t)
    ring = _ring(height * contact.friction, 0) @ np.stack([t, o, normal]) + height * normal
    k = np.arange(SIDES)
    faces = np.stack([np.full(SIDES, SIDES), k, (k + 1) % SIDES], axis=1)
    return np.concatenate([ring, [np.zeros(3)]]) + contact.point, faces
