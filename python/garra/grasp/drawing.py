"""Pictures of grasps of poses and models: object, hand, contacts, friction cones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from garra import _core

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d import Axes3D

MOST_FACES = 4000  # of a picture
SIDES = 16  # of a cone
COLOR = {"object": "#b4b8be", "hand": "#46505c"}
CONE, CONTACT = "#2a78d6", "#26824e"


@dataclass(frozen=True)
class Solid:
    """A body of a picture."""

    kind: str
    """"object" or "hand" """
    name: str
    vertices: np.ndarray
    """[v, 3] [m]"""
    faces: np.ndarray
    """[f, 3]"""


def box_solid(kind: str, name: str, low: Any, high: Any) -> Solid:
    corners = np.array([[(low, high)[k >> 2 & 1][0], (low, high)[k >> 1 & 1][1], (low, high)[k & 1][2]] for k in range(8)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Solid(kind, name, corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]))


def place_solid(solid: Solid, pose: np.ndarray) -> Solid:
    return Solid(solid.kind, solid.name, solid.vertices @ pose[:3, :3].T + pose[:3, 3], solid.faces)


def friction_cone(point: np.ndarray, normal: np.ndarray, friction: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a friction cone with its apex at the contact."""
    t = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    t /= np.linalg.norm(t)
    angle = 2 * np.pi * np.arange(SIDES)[:, None] / SIDES
    ring = point + height * (normal + friction * (np.cos(angle) * t + np.sin(angle) * np.cross(normal, t)))
    k = np.arange(SIDES)
    return np.vstack([ring, point]), np.stack([np.full(SIDES, SIDES), k, (k + 1) % SIDES], axis=1)


def draw_grasp(ax: Axes3D | None, solids: list[Solid], points: np.ndarray, normals: np.ndarray, friction: np.ndarray) -> Axes3D:
    """Draws in a 3-D plot; contact normals point into the object."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure().add_subplot(projection="3d")
    for solid in solids:
        faces = solid.faces[:: max(len(solid.faces) // MOST_FACES, 1)]
        ax.add_collection3d(Poly3DCollection(solid.vertices[faces], facecolor=COLOR[solid.kind], alpha=0.35, linewidth=0))
    every = np.concatenate([s.vertices for s in solids if s.kind == "object"] + [points])
    height = 0.15 * float(np.ptp(every, axis=0).max()) if len(every) else 0.01
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    for p, n, mu in zip(points, normals, friction, strict=True):
        vertices, faces = friction_cone(p, n, float(mu), height)
        ax.add_collection3d(Poly3DCollection(vertices[faces], facecolor=CONE, alpha=0.4, linewidth=0))
    for k, p in enumerate(points):
        ax.text(*p, f" {k}")
    if len(points):
        ax.scatter(*points.T, color=CONTACT, depthshade=False, s=12)
    every = np.concatenate([s.vertices for s in solids] + [points])
    low, high = every.min(0), every.max(0)
    for name, a, b in zip("xyz", low, high, strict=True):
        getattr(ax, f"set_{name}lim")(a, b)
        getattr(ax, f"set_{name}label")(f"{name} [m]", labelpad=6)
    ax.locator_params(nbins=3)
    ax.set_box_aspect(np.maximum(high - low, 1e-6))
    return ax


def geom_surface(mj: Any, m: Any, g: int) -> Any:
    """Surface of a geom in its own axes; None for planes and height fields."""
    kind = mj.mjtGeom
    x, y, z = (float(v) for v in m.geom_size[g])
    words = {
        kind.mjGEOM_SPHERE: f"sphere:{x!r}",
        kind.mjGEOM_BOX: f"box:{2 * x!r},{2 * y!r},{2 * z!r}",
        kind.mjGEOM_CYLINDER: f"cylinder:{x!r},{2 * y!r}",
        kind.mjGEOM_CAPSULE: f"capsule:{x!r},{2 * y!r}",
        kind.mjGEOM_ELLIPSOID: f"ellipsoid:{x!r},{y!r},{z!r}",
    }
    shape = kind(int(m.geom_type[g]))
    if shape == kind.mjGEOM_MESH:
        k = int(m.geom_dataid[g])
        v, f = m.mesh_vertadr[k], m.mesh_faceadr[k]
        vertex = np.ascontiguousarray(m.mesh_vert[v : v + m.mesh_vertnum[k]], dtype=np.float64)
        face = np.ascontiguousarray(m.mesh_face[f : f + m.mesh_facenum[k]], dtype=np.int32)
        return _core.MeshObject("mesh of the hand", vertex, face, 1.0)
    return _core.MeshObject(words[shape], None, None, 1.0) if shape in words else None


def model_solids(model: Any, qpos: np.ndarray, of_object: set[int], only: set[int] | None = None) -> list[Solid]:
    """Geoms of a MuJoCo model that collide, in world axes; `of_object`: bodies of the object, `only`: bodies to show."""
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    out = []
    for g in range(model.ngeom):
        body = int(model.geom_bodyid[g])
        if not (model.geom_contype[g] or model.geom_conaffinity[g]) or (only is not None and body not in only):
            continue
        if (surface := geom_surface(mujoco, model, g)) is None:
            continue
        vertices, faces = surface.picture()
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = data.geom_xmat[g].reshape(3, 3), data.geom_xpos[g]
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body) or f"body {body}"
        out.append(place_solid(Solid("object" if body in of_object else "hand", name, vertices, faces), pose))
    return out
