"""Data of the page of a ranking for its scripts: columns of the table, contacts for the pictures, the object."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from garra.grasp.ranking_file import Found, Grasps
from garra.page.packed import column, packed

MOST_ROWS = 200_000  # grasps in the table
MOST_CONTACTS = 1_000_000  # of those that have a picture
MOST_FACES = 6_000  # of the object's picture
MOST_HAND = 300_000  # vertices of the pictures that show the hand
FAR = 2.0  # larger than this [m], and 16 bits are too coarse for points

Table = dict[str, Any]


def build(found: Found) -> Table:
    """The best grasps first. Quantities that are alike for all grasps are said once."""
    order = found.order[:MOST_ROWS]
    columns = found.columns
    data: Table = {
        "count": len(order),
        "grasp": packed(order, "<u4"),
        "held": column(columns["held"][order], "<u4"),
        "unsolved": column(columns["unsolved"][order], "<u4"),
        "samples": column(columns["samples"][order], "<u4"),
        **{
            key: column(columns[key][order], "<f4")
            for key in ("p_held", "low", "high", "difference", "difference_low", "difference_high")
        },
        "friction": None,
        "radius": None,
        "names": None,
        "pictures": None,
    }
    if np.isfinite(columns["required_friction"][order]).any() or np.isinf(columns["required_friction"][order]).any():
        data["friction"] = column(columns["required_friction"][order], "<f4")
    if not np.isnan(columns["resisted_force_radius"][order]).all():
        data["radius"] = column(columns["resisted_force_radius"][order], "<f4")
    grasps = found.grasps
    if grasps:
        contacts = np.diff(grasps.first)[order]
        data["contacts"] = column(contacts, "<u2")
        if grasps.names:
            data["names"] = [grasps.names[g] for g in order]
        data["pictures"] = _pictures(grasps, order[: int(np.searchsorted(np.cumsum(contacts), MOST_CONTACTS, "right"))])
        data["pictures"]["friction"] = _friction(found, data["pictures"]["friction"])
        data["pictures"]["limit"] = _limit(found, grasps, data["pictures"]["count"])
        if not found.study.get("mass_is_factor", True):
            data["pictures"]["mass"] = None  # another one was held
    return data


def _friction(found: Found, of_set: Table | None) -> Table:
    """How high the cones are drawn: the middle of what the study drew."""
    said = found.study
    factor = float(said.get("friction_nominal", 1)) * float(said.get("per_contact_friction_factor_nominal", 1))
    is_factor = said.get("friction_is_factor", True)
    return {"factor": factor if said else 1.0, "set": of_set if is_factor else None, "known": bool(said)}


def _limit(found: Found, grasps: Grasps, count: int) -> Table | None:
    """Limit of the normal force at each contact: the smaller of the set's and the study's."""
    rows = _rows(grasps.first, found.order[:count])
    own = grasps.arrays.get("force_limit")
    limit = np.full(len(rows), np.inf) if own is None else own[rows]
    limit = np.minimum(limit, float(found.study.get("force_limit", np.inf)))
    return column(limit, "<f4") if np.isfinite(limit).any() else None


def _pictures(grasps: Grasps, order: np.ndarray) -> Table:
    rows = _rows(grasps.first, order)
    arrays = grasps.arrays
    points = arrays["point"][rows]
    normals = arrays["normal"][rows]
    normals = normals / np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-300)
    low = points.min(axis=0) if len(points) else np.zeros(3)
    extent = points.max(axis=0) - low if len(points) else np.ones(3)
    steps = 65535 if extent.max() <= FAR else 0
    if steps:
        scale = np.where(extent > 0, extent / steps, 1)
        place = {"low": low.tolist(), "step": scale.tolist()}
        points = column(np.round((points - low) / scale), "<u2")
    else:
        place = {"low": [0, 0, 0], "step": [1, 1, 1]}
        points = column(points, "<f4")
    count = len(order)
    gravity = arrays.get("gravity", np.broadcast_to([0, 0, -9.81], (len(grasps.first) - 1, 3)))[order]
    return {
        "count": count,
        "point": points | place,
        "normal": column(np.round(32767 * normals), "<i2"),
        "friction": column(arrays["friction"][rows], "<f4") if "friction" in arrays else None,
        "contact_names": [grasps.contact_names[row] for row in rows] if grasps.contact_names else None,
        "mass": column(arrays["mass"][order], "<f4") if "mass" in arrays else None,
        "com": column(arrays["com"][order] if "com" in arrays else np.zeros((count, 3)), "<f4"),
        "gravity": column(gravity, "<f4"),
        "wrench": column(arrays["wrench"][order], "<f4") if "wrench" in arrays and arrays["wrench"].any() else None,
        "mesh": _mesh(*grasps.mesh) if grasps.mesh else None,
        "hand": _hand(grasps, order),
        "size": column(grasps.touch["scale"][order], "<f4") if "scale" in grasps.touch else None,
    }


def _hand(grasps: Grasps, order: np.ndarray) -> Table | None:
    """The hand of the best grasps: vertices of each, and the faces that all have."""
    hand = grasps.hand
    if grasps.jaw and grasps.touch:
        from garra.grasp.poses import hand_solids, parse_jaw

        hand = partial(hand_solids, parse_jaw(grasps.jaw), grasps.touch)
    if hand is None or not len(order):
        return None
    solids = hand(int(order[0]))
    starts = np.cumsum([0, *(len(s.vertices) for s in solids)])
    if not starts[-1]:
        return None
    shown = order[: max(MOST_HAND // int(starts[-1]), 1)]
    vertex = [np.concatenate([s.vertices for s in hand(int(g))]) for g in shown]
    face = np.concatenate([s.faces + start for s, start in zip(solids, starts, strict=False)])
    return {"count": len(shown), "vertex": packed(np.array(vertex), "<f4"), "face": packed(face, "<u4")}


def _rows(first: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Rows of the contacts of these grasps, one grasp after another."""
    counts = (first[1:] - first[:-1])[order]
    starts = np.repeat(first[:-1][order] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
    return starts + np.arange(len(starts))


def _mesh(vertex: np.ndarray, face: np.ndarray) -> Table:
    used = np.unique(face)
    faces = len(face)
    cells = 96
    while len(face) > MOST_FACES and cells > 4:
        cells = int(cells * 0.75)
        vertex_now, face_now = _merged(vertex, face, cells)
        if len(face_now) <= MOST_FACES:
            vertex, face = vertex_now, face_now
            used = np.unique(face)
    new = np.zeros(len(vertex), np.int64)
    new[used] = np.arange(len(used))
    return {
        "vertex": packed(vertex[used], "<f4"),
        "face": packed(new[face], "<u4"),
        "faces": faces,
        "shown": len(face),
    }


def _merged(vertex: np.ndarray, face: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """A coarser mesh: the vertices of each cell of a grid become one, in their middle."""
    low = vertex.min(axis=0)
    side = max((vertex.max(axis=0) - low).max() / cells, 1e-12)
    cell, into = np.unique(np.floor((vertex - low) / side).astype(np.int64), axis=0, return_inverse=True)
    into = into.ravel()
    middle = np.stack([np.bincount(into, vertex[:, c], len(cell)) for c in range(3)], axis=-1)
    middle /= np.bincount(into, minlength=len(cell))[:, None]
    face = into[face]
    whole = (face[:, 0] != face[:, 1]) & (face[:, 1] != face[:, 2]) & (face[:, 2] != face[:, 0])
    face = face[whole]
    _, kept = np.unique(np.sort(face, axis=1), axis=0, return_index=True)
    return middle, face[np.sort(kept)]
