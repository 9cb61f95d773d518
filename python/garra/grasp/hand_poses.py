"""Contacts of hands with joints at given poses (docs/howto/grasp-poses.md). MuJoCo computes the hand's kinematics; the
object is garra's surface, which is never replaced by its convex hull."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from garra import _core
from garra.arguments import numbers, path_text
from garra.grasp.drawing import Solid, geom_surface, place_solid
from garra.turns import turn_matrix

if TYPE_CHECKING:
    import mujoco

MOST_CONTACTS = 32  # of a grasp
FEWEST_CELLS, MOST_CELLS = 12, 4000  # of a geom
SMALLEST_PATCH = 5e-4  # standard deviation below which a patch is a line or a point [m]
FACING = 0.5  # least cosine between a cell's normal and the way to the object
ALONG = 0.999  # cosine between the way to the object and the normal there; below: the cell is beside an edge
MOST_EDGE = 0.1  # share of a patch's pressure beside edges of the object
SAME_FACE = 0.7  # least cosine between normals of one patch
LEAST_PATCH = 0.02  # share of a link's pressure
FLAT = 0.999  # least length of the mean of a flat patch's normals
CLOSED = 2e-4  # closing ends when links are this near to touching [m]
SLOWEST = 0.9  # or when a step leaves more than this share of the largest distance
MOST_CLOSING_STEPS = 8
LARGEST_TURN = 0.2  # of a joint in a step of closing [rad or m]
AT_ONCE = 400_000  # cells in memory
OUTSIDE_LIMITS = 1e-3  # of a joint's range, or rad
STATUS = {name: k for k, name in enumerate(_core.touch_statuses)}


@dataclass(frozen=True)
class HandOptions:
    """Options of from_poses() that hands with joints have."""

    friction: float
    reach: float
    depth: float
    cell: float
    points: int
    soft: bool
    close: bool
    draws: int
    position_noise: float
    rotation_noise: float
    joint_noise: float
    force: float
    seed: int
    threads: int


@dataclass
class HandTouch:
    """What became of each pose and draw, and the contacts of those that touch."""

    first: list[int] = field(default_factory=lambda: [0])
    rows: dict[str, list[Any]] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    status: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))
    collision: np.ndarray = field(default_factory=lambda: np.zeros(0))
    distance: np.ndarray = field(default_factory=lambda: np.zeros(0))
    joints: np.ndarray = field(default_factory=lambda: np.zeros(0))
    pose: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def add(self, contacts: dict[str, list[Any]], names: list[str]) -> None:
        for name, values in contacts.items():
            self.rows.setdefault(name, []).extend(values)
        self.names += names
        self.first.append(self.first[-1] + len(names))


class JointedHand:
    """Collision geometry of a hand in a MuJoCo model, as cells of its links."""

    def __init__(self, hand: mujoco.MjModel | str | PathLike[str], cell: float, base: str | int | None, seed: int):
        import mujoco

        self.mj = mujoco
        self.model = copy.copy(hand if isinstance(hand, mujoco.MjModel) else _load(mujoco, path_text(hand)))
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        self.data = mujoco.MjData(self.model)
        # MuJoCo merges the root link of a URDF with the world.
        rooted = not isinstance(hand, mujoco.MjModel) and path_text(hand).lower().endswith(".urdf")
        self.base = 0 if base is None and rooted else self._find_base(base)
        self.bodies = [b for b in range(self.base, self.model.nbody) if self._is_in(b)]
        self._find_joints()
        self.geoms = self._cells(cell, seed)

    def _name(self, kind: str, index: int) -> str:
        return self.mj.mj_id2name(self.model, getattr(self.mj.mjtObj, f"mjOBJ_{kind}"), int(index)) or f"{kind.lower()} {index}"

    def _find_base(self, base: str | int | None) -> int:
        m = self.model
        roots = [b for b in range(1, m.nbody) if m.body_parentid[b] == 0]
        if base is None:
            if len(roots) != 1:
                if not roots or (m.geom_bodyid == 0).any() or m.nbody == 1:
                    return 0
                names = ", ".join(self._name("BODY", b) for b in roots)
                raise ValueError(f'base= names the hand\'s body: {names}, or "world", which has them all')
            return roots[0]  # a floor in the world is no part of the hand
        index = base if isinstance(base, int) else self.mj.mj_name2id(m, self.mj.mjtObj.mjOBJ_BODY, base)
        if not 0 <= index < m.nbody:
            raise ValueError(f"base: no body {base!r} in the model")
        return int(index)

    def _is_in(self, body: int) -> bool:
        while body > self.base:
            body = int(self.model.body_parentid[body])
        return body == self.base

    def _find_joints(self) -> None:
        m, kind = self.model, self.mj.mjtJoint
        own = [j for j in range(m.njnt) if self._is_in(int(m.jnt_bodyid[j])) and m.jnt_type[j] != kind.mjJNT_FREE]
        for j in own:
            if m.jnt_type[j] == kind.mjJNT_BALL:
                raise ValueError(f"joint {self._name('JOINT', j)!r} is a ball: only hinges and slides have joint values")
        self.joint_names = [self._name("JOINT", j) for j in own]
        self.qpos, self.dofs = m.jnt_qposadr[own], m.jnt_dofadr[own]
        limited = m.jnt_limited[own].astype(bool)
        self.low = np.where(limited, m.jnt_range[own, 0], -np.inf)
        self.high = np.where(limited, m.jnt_range[own, 1], np.inf)
        self.free, self.lead, self.offset = self._couplings(own)

    def _couplings(self, own: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Joints that follow no other, [n, free] and [n]: all joint values are lead @ those of the free ones + offset. The
        model's equalities of joints are taken (`mimic` of a URDF), others are named in a warning."""
        m, n = self.model, len(own)
        each, constant = np.eye(n), np.zeros(n)
        follows = np.zeros(n, bool)
        for e in np.flatnonzero(m.eq_active0):
            first, second, factors = int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e]
            of_joints = m.eq_type[e] == self.mj.mjtEq.mjEQ_JOINT
            if of_joints and first in own and (second < 0 or second in own) and not factors[2:5].any():
                f = own.index(first)
                follows[f], each[f], constant[f] = True, 0, m.qpos0[self.qpos[f]] + factors[0]
                if second >= 0:
                    leader = own.index(second)
                    each[f, leader] = factors[1]
                    constant[f] -= factors[1] * m.qpos0[self.qpos[leader]]
            elif not of_joints or first in own:
                name = self._name("EQUALITY", e)
                warnings.warn(f"{name!r} of the model is left out: only linear equalities of joints are taken", stacklevel=7)
        lead, offset = np.eye(n), np.zeros(n)
        for _ in range(n):  # a leader may follow another joint
            lead, offset = each @ lead, each @ offset + constant
        free = np.flatnonzero(~follows)
        return free, lead[:, free], offset

    def follow(self, q: np.ndarray) -> np.ndarray:
        """Joint values [..., n] in which followers have the values that their leaders give them."""
        return q[..., self.free] @ self.lead.T + self.offset

    def _cells(self, cell: float, seed: int) -> list[tuple[int, int, np.ndarray]]:
        """(geom, body, points and outward normals [n, 2, 3] in its axes) of all geoms that collide."""
        m, found = self.model, []
        for g in range(m.ngeom):
            if not self._is_in(int(m.geom_bodyid[g])) or not (m.geom_contype[g] or m.geom_conaffinity[g]):
                continue
            surface = geom_surface(self.mj, m, g)
            if surface is None:
                continue
            vertex, face = surface.picture()
            a, b, c = (vertex[face[:, k]] for k in range(3))
            area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
            count = int(np.clip(round(area / cell**2), FEWEST_CELLS, MOST_CELLS))
            drawn = surface.points(count, seed)
            found.append((g, int(m.geom_bodyid[g]), np.stack([drawn["point"], drawn["normal"]], axis=1)))
        if not found:
            raise ValueError("the hand has no geom that collides: contype and conaffinity are 0, or there are none")
        return found

    def moves(self, link: int) -> bool:
        """Whether a joint of the hand moves a link."""
        while link > self.base:
            if self.model.body_dofnum[link] > 0:
                return True
            link = int(self.model.body_parentid[link])
        return False

    def joint_values(self, given: Any, count: int, name: str = "joints") -> np.ndarray:
        """[count, n] of an array, or of a mapping by names; joints without a value keep that of the model."""
        n = len(self.joint_names)
        out = np.tile(self.model.qpos0[self.qpos], (count, 1))
        if given is None:
            return out
        if isinstance(given, Mapping):
            for key, values in given.items():
                if key not in self.joint_names:
                    raise ValueError(f"{name}: {key!r} is none of the hand's joints: {', '.join(self.joint_names)}")
                out[:, self.joint_names.index(key)] = numbers(f"{name}[{key!r}]", values)
            return out
        values = numbers(name, given)
        if values.shape not in ((n,), (count, n)):
            raise ValueError(f"{name} has the shape {values.shape}, not [{count}, {n}]: {', '.join(self.joint_names)}")
        return np.array(np.broadcast_to(values, (count, n)))

    def place(self, q: np.ndarray) -> np.ndarray:
        """Poses [geoms, 4, 4] of the geoms in the base's axes; `data` keeps the state."""
        d = self.data
        d.qpos[:] = self.model.qpos0
        d.qpos[self.qpos] = q
        self.mj.mj_kinematics(self.model, d)
        base = _matrix(d.xpos[self.base], d.xmat[self.base])
        geoms = [g for g, _, _ in self.geoms]
        out = np.zeros((len(geoms), 4, 4))
        out[:, :3, :3], out[:, :3, 3], out[:, 3, 3] = d.geom_xmat[geoms].reshape(-1, 3, 3), d.geom_xpos[geoms], 1
        self.base_pose = base
        return _inverse(base) @ out

    def jacobian(self, point: np.ndarray, body: int) -> np.ndarray:
        """(v; omega) [6, free] of a body's point, both in the base's axes, at the state of place()."""
        R, p = self.base_pose[:3, :3], self.base_pose[:3, 3]
        J = np.zeros((6, self.model.nv))
        self.mj.mj_jac(self.model, self.data, J[:3], J[3:], R @ point + p, body)
        return np.concatenate([R.T @ J[:3, self.dofs], R.T @ J[3:, self.dofs]]) @ self.lead

    def solids(self, q: np.ndarray) -> list[Solid]:
        """Geoms at joint values, in the base's axes."""
        out = []
        for pose, (g, body, _) in zip(self.place(q), self.geoms, strict=True):
            out.append(place_solid(Solid("hand", self._name("BODY", body), *geom_surface(self.mj, self.model, g).picture()), pose))
        return out

    def update(self) -> None:
        """What jacobian() needs of the state of place()."""
        self.mj.mj_comPos(self.model, self.data)

    def mass_matrix(self) -> np.ndarray:
        """[free, free] at the state of place()."""
        self.mj.mj_fwdPosition(self.model, self.data)
        inverse = np.zeros((self.model.nv, self.model.nv))
        self.mj.mj_solveM(self.model, self.data, inverse, np.eye(self.model.nv))
        M = self.lead.T @ np.linalg.inv(inverse)[np.ix_(self.dofs, self.dofs)] @ self.lead
        return (M + M.T) / 2


def _load(mj: Any, path: str) -> Any:
    try:
        return (mj.MjModel.from_binary_path if path.lower().endswith(".mjb") else mj.MjModel.from_xml_path)(path)
    except ValueError as error:
        raise _core.FileError(f"{path}: {error}") from None


def _matrix(p: np.ndarray, R: np.ndarray) -> np.ndarray:
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = np.asarray(R).reshape(3, 3), p
    return out


def _inverse(X: np.ndarray) -> np.ndarray:
    return _matrix(-X[:3, :3].T @ X[:3, 3], X[:3, :3].T)


def _is_pose(X: np.ndarray) -> bool:
    R = X[:3, :3]
    sound = np.isfinite(X).all() and np.abs(R.T @ R - np.eye(3)).max() < 1e-3 and np.linalg.det(R) > 0
    return bool(sound and not np.any(X[3, :3]) and abs(X[3, 3] - 1) < 1e-3)


# --- cells near the object


class _Cells:
    """Cells of some poses that are near the object, row by row: sorted by pose, then by link."""

    def __init__(self, hand: JointedHand, surface: Any, box: np.ndarray, o: HandOptions, margin: float):
        """`box`: of the object at scale 1; set_scale() comes before find()."""
        self.hand, self.surface, self.unit_box, self.o, self.margin = hand, surface, box, o, margin
        self.bounds = [np.linalg.norm(cells[:, 0], axis=1).max() for _, _, cells in hand.geoms]

    def set_scale(self, scale: np.ndarray) -> None:
        """Factors on the object [P] of the poses that find() takes."""
        self.scale, self.box = scale, scale[:, None] * self.unit_box[:, None]

    def find(self, poses: np.ndarray, geoms: np.ndarray) -> dict[str, np.ndarray]:
        """pose, link, geom, place and normal in the geom, place in object axes, distance, surface point and normal of the
        cells within the margin, and which of them face the object. geoms [P, k, 4, 4]."""
        parts: dict[str, list[np.ndarray]] = {"pose": [], "link": [], "geom": [], "own": []}
        for k, (_, body, own) in enumerate(self.hand.geoms):
            X = poses @ geoms[:, k]
            around = self.bounds[k] + self.margin
            low, high = self.box[0] - around, self.box[1] + around
            near = np.flatnonzero(((X[:, :3, 3] > low) & (X[:, :3, 3] < high)).all(axis=1))
            if not len(near):
                continue
            at = own[:, 0] @ X[near, :3, :3].transpose(0, 2, 1) + X[near, None, :3, 3]
            low, high = self.box[:, near, None] + [[[[-self.margin]]], [[[self.margin]]]]
            pose, cell = np.nonzero(((at > low) & (at < high)).all(2))
            values = near[pose], np.full(len(pose), body), np.full(len(pose), k), own[cell]
            for rows, value in zip(parts.values(), values, strict=True):
                rows.append(value)
        if not parts["pose"]:
            return {"pose": np.zeros(0, int), "link": np.zeros(0, int), "distance": np.zeros(0)}
        all_parts = {key: np.concatenate(rows) for key, rows in parts.items()}
        all_parts |= self._measured(all_parts, poses, geoms)
        kept = np.flatnonzero(np.isfinite(all_parts["distance"]))
        order = kept[np.lexsort((all_parts["link"][kept], all_parts["pose"][kept]))]
        return {key: rows[order] for key, rows in all_parts.items()}


    def move(self, cells: dict[str, np.ndarray], rows: np.ndarray, poses: np.ndarray, geoms: np.ndarray) -> None:
        """Renews these rows of found cells after their hands have moved."""
        some = {name: cells[name][rows] for name in ("pose", "geom", "own")}
        for name, values in self._measured(some, poses, geoms).items():
            cells[name][rows] = values

    def _measured(self, cells: dict[str, np.ndarray], poses: np.ndarray, geoms: np.ndarray) -> dict[str, np.ndarray]:
        """Place, distance, surface point and normal; the hand shrinks in place of an object that grows. A cell beside an edge
        of the object does not face it: the way to its nearest point, and perhaps the normal there, is across its own."""
        pose = cells["pose"]
        X = poses[pose] @ geoms[pose, cells["geom"]]
        placed = np.einsum("nij,nkj->nki", X[:, :3, :3], cells["own"])
        position, own = placed[:, 0] + X[:, :3, 3], placed[:, 1]
        scale = self.scale[pose]
        most = self.margin / scale.min() if len(scale) else self.margin
        found = self.surface.distances(np.ascontiguousarray(position / scale[:, None]), most, self.o.threads)
        distance, point = scale * found["distance"], scale[:, None] * found["point"]
        way = np.sign(distance) * ((point - position) * own).sum(1)
        far = np.abs(distance) > CLOSED
        # At an edge the normal is that of one of its faces: up to 90 degrees from the way, which a near cell does not have.
        faces = np.where(far, way > FACING * np.abs(distance), (found["normal"] * own).sum(1) < 0.1)
        # Outward along the shortest way. Beside an edge it is not along the normal of the nearest point.
        gap = np.where(far, distance, 1)[:, None]
        away = np.where(far[:, None], (position - point) / gap, found["normal"])
        edge = (away * found["normal"]).sum(1) < ALONG
        return {"position": position, "distance": distance, "point": point, "normal": found["normal"], "own_normal": own,
                "away": away, "faces": faces, "edge": edge}  # fmt: skip


def _facing(cells: dict[str, np.ndarray], rows: slice) -> np.ndarray:
    """Distances of a link's cells that face the object, infinite of the others; of all cells if none does."""
    distance, faces = cells["distance"][rows], cells["faces"][rows]
    return np.where(faces, distance, np.inf) if (faces & np.isfinite(distance)).any() else distance


def _groups(cells: dict[str, np.ndarray]) -> list[tuple[int, int, slice]]:
    """(pose, link, rows)."""
    pose, link = cells["pose"], cells["link"]
    if not len(pose):
        return []
    starts = np.flatnonzero(np.append(True, (np.diff(pose) != 0) | (np.diff(link) != 0)))
    ends = np.append(starts[1:], len(pose))
    return [(int(pose[a]), int(link[a]), slice(int(a), int(b))) for a, b in zip(starts, ends, strict=True)]


def _close(
    hand: JointedHand, cells: _Cells, found: dict[str, np.ndarray], poses: np.ndarray, q: np.ndarray, geoms: np.ndarray,
    o: HandOptions,
) -> tuple[np.ndarray, dict]:  # fmt: skip
    """Joint values after closing, and the cells there. Every link within `reach` at the start moves until it touches: joint
    steps are those of least squares, within the limits. `found`, `geoms`: cells and geoms at the start."""
    q = q.copy()
    if not o.close or not len(found["pose"]):
        return q, found
    active, kept = set(), np.zeros(len(found["pose"]), bool)
    for p, link, rows in _groups(found):
        if (least := found["distance"][rows].min()) <= o.reach:
            active |= {(p, link)} if hand.moves(link) else set()
            # While the link moves by `reach`, other cells do not become the nearest, nor part of its patch.
            kept[rows] = found["distance"][rows] <= least + o.depth + o.reach
    found = {key: values[kept] for key, values in found.items()}
    moving, off = sorted({p for p, _ in active}), dict.fromkeys((p for p, _ in active), np.inf)
    for _ in range(MOST_CLOSING_STEPS):
        rows_of: dict[int, list[tuple[int, int, float]]] = {}
        for p, link, rows in _groups(found):
            k = rows.start + int(_facing(found, rows).argmin())
            if (p, link) in active and p in moving:
                rows_of.setdefault(p, []).append((link, k, float(found["distance"][k])))
        now = {p: max(abs(d) for _, _, d in rows) for p, rows in rows_of.items()}
        moving = [p for p, d in now.items() if d > CLOSED and d < SLOWEST * off[p]]
        off |= now
        if not moving:
            break
        for p in moving:
            hand.place(q[p])
            hand.update()
            R, t = poses[p, :3, :3], poses[p, :3, 3]
            J = np.array(
                [(R.T @ found["away"][k]) @ hand.jacobian(R.T @ (found["position"][k] - t), link)[:3] for link, k, _ in rows_of[p]]
            )
            d = np.array([d for _, _, d in rows_of[p]])
            A = J @ J.T
            step = -J.T @ np.linalg.solve(A + (1e-3 * np.trace(A) / len(A) + 1e-12) * np.eye(len(A)), d)
            step *= min(1.0, LARGEST_TURN / max(np.abs(step).max(), 1e-12))
            moved = np.clip(q[p] + hand.lead @ step, np.minimum(hand.low, q[p]), np.maximum(hand.high, q[p]))
            q[p] = hand.follow(moved)
            geoms[p] = hand.place(q[p])
        cells.move(found, np.flatnonzero(np.isin(found["pose"], moving)), poses, geoms)
    return q, found


# --- patches


def _link_contacts(cells: dict[str, np.ndarray], rows: slice, o: HandOptions) -> list[list[tuple[np.ndarray, np.ndarray, float]]]:
    """Contacts of a link's patches: cells within `depth` of its first touch, with a pressure proportional to the depth. Cells
    whose normal and whose object's normal both differ from those of a patch's deepest cell are of another patch."""
    d = _facing(cells, rows)  # infinite of a cell that closing has taken away
    pressure = np.maximum(d.min() + o.depth - d, 0)
    left, total, out = np.flatnonzero(pressure > 0), pressure.sum(), []
    own, normal = cells["own_normal"][rows], cells["normal"][rows]
    while len(left):
        deepest = left[pressure[left].argmax()]
        same = (own[left] @ own[deepest] > SAME_FACE) | (normal[left] @ normal[deepest] > SAME_FACE)
        if pressure[left[same]].sum() >= LEAST_PATCH * total:
            out.append(_patch({key: values[rows][left[same]] for key, values in cells.items()}, pressure[left[same]], o))
        left = left[~same]
    return out


def _patch(cells: dict[str, np.ndarray], pressure: np.ndarray, o: HandOptions) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """(point, outward normal, torsion radius) of the contacts that stand for a patch: up to four points have its center and
    second moments."""
    weight, point, normal = pressure / pressure.sum(), cells["point"], cells["normal"]
    center = weight @ point
    moments, axes = np.linalg.eigh(np.einsum("k,ki,kj->ij", weight, point - center, point - center))
    first, second = np.sqrt(np.maximum(moments[2], 0)), np.sqrt(np.maximum(moments[1], 0))
    if o.soft or o.points == 1 or first < SMALLEST_PATCH:
        places = center[None]
    elif o.points == 2 or second < SMALLEST_PATCH:
        places = center + np.array([[1.0], [-1.0]]) * first * axes[:, 2]
    else:
        sides = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])  # a rectangle: the signs of the axes mean nothing
        places = center + sides * [first, second] @ axes[:, [2, 1]].T
    # Where one side is flat, its normal counts: that of the object, or of the link at an edge or a curved face. A round
    # link at an edge has the normal of its deepest cells.
    of_object, of_link = weight @ normal, -(weight @ cells["own_normal"])
    on_face = weight @ cells["edge"] <= MOST_EDGE
    flatness = min(np.linalg.norm(of_link), FLAT)
    if flatness < FLAT:
        deepest = weight**4
        of_link = -(deepest / deepest.sum() @ cells["own_normal"])
    mean = of_object if on_face and np.linalg.norm(of_object) >= flatness else of_link
    n = mean / max(np.linalg.norm(mean), 1e-12)
    out = []
    for place in places:
        cell = ((place - point) ** 2).sum(1).argmin()
        gap = point[cell] - place
        along = (gap @ normal[cell]) * normal[cell]
        # On the surface: in the plane of the nearest cell, if there is one here.
        at_surface = place + along if np.linalg.norm(gap - along) < o.cell else point[cell]
        # A disk of even pressure with these moments bears the moment mu F 2 a / 3 about its normal.
        out.append((at_surface, n, 2 / 3 * float(np.sqrt(2 * (moments[2] + moments[1])))))
    return out


# --- all poses


def touch_hand(
    hand: JointedHand, surface: Any, poses: Any, q: np.ndarray, o: HandOptions, command: Any, scale: np.ndarray
) -> HandTouch:
    """Contacts at all poses and draws. `command(p, q)`: torques [n] of pose p at joint values q, or None: an ideal hand.
    scale [P]: factor on the object of each pose; empty: 1."""
    poses = numbers("poses", poses)
    count = len(poses) * o.draws
    out = HandTouch()
    out.status = np.full(count, STATUS["no_touch"], np.uint8)
    out.collision, out.distance = np.zeros(count), np.full(count, np.inf)
    out.joints, out.pose = np.repeat(q, o.draws, axis=0), np.repeat(poses, o.draws, axis=0)
    vertex = surface.picture()[0]
    cells = _Cells(hand, surface, np.array([vertex.min(0), vertex.max(0)]), o, 2 * o.reach + o.depth)
    each = sum(len(points) for _, _, points in hand.geoms)
    size = np.repeat(scale, o.draws) if len(scale) else np.ones(count)
    step = max(AT_ONCE // each, 1)
    for start in range(0, count, step):
        _touch_some(hand, cells, range(start, min(start + step, count)), o, command, size, out)
    if out.names:
        out.rows |= _curvatures(surface, out.rows, np.repeat(size, np.diff(out.first)))
    return out


def _curvatures(surface: Any, rows: dict[str, list[Any]], size: np.ndarray) -> dict[str, Any]:
    """tangent [m, 3] and curvature [m, 2] of contacts on an object of these sizes; 0 where the mean normal of a patch is far
    from that of the surface, as at an edge."""
    normal = np.array(rows["normal"])
    tangent, curvature = surface.curvatures(np.array(rows["point"]) / size[:, None])
    edge = np.abs((tangent * normal).sum(1)) > 0.5
    tangent[edge] = np.eye(3)[np.abs(normal[edge]).argmin(1)]
    curvature[edge] = 0
    return {"tangent": tangent, "curvature": curvature / size[:, None]}


def _touch_some(
    hand: JointedHand, cells: _Cells, of: range, o: HandOptions, command: Any, size: np.ndarray, out: HandTouch
) -> None:
    slack = np.where(np.isfinite(hand.high - hand.low), OUTSIDE_LIMITS * (hand.high - hand.low), OUTSIDE_LIMITS)
    good = []
    for g in of:
        out.pose[g], out.joints[g] = _disturbed(hand, out.pose[g], out.joints[g], g, o)
        x = out.joints[g]
        if not _is_pose(out.pose[g]) or not np.isfinite(x).all():
            out.status[g] = STATUS["bad_pose"]
            out.pose[g] = np.eye(4)
        elif ((x < hand.low - slack) | (x > hand.high + slack)).any():
            out.status[g] = STATUS["joint_limits"]
        else:
            good.append(g)
    at = np.array(good, dtype=int)
    geoms = np.array([hand.place(x) for x in out.joints[at]]).reshape(len(at), len(hand.geoms), 4, 4)
    cells.set_scale(size[at])
    start = cells.find(out.pose[at], geoms)
    for p, _, rows in _groups(start):
        out.distance[at[p]] = min(out.distance[at[p]], start["distance"][rows].min())
    out.collision[of] = np.maximum(-np.where(np.isfinite(out.distance[of]), out.distance[of], 0), 0)
    deep = out.collision[at] > o.reach
    out.status[at[deep]] = STATUS["collision"]
    # Cells of the poses that go on, which are renumbered.
    kept = np.flatnonzero(~deep[start["pose"]]) if len(start["pose"]) else np.zeros(0, int)
    start = {key: rows[kept] for key, rows in start.items()}
    start["pose"] = (np.cumsum(~deep) - 1)[start["pose"]] if len(kept) else start["pose"]
    at, geoms = at[~deep], geoms[~deep]
    cells.set_scale(size[at])
    closed, found = _close(hand, cells, start, out.pose[at], out.joints[at], geoms, o)
    out.joints[at] = closed
    touching: dict[int, list[tuple[int, slice]]] = {}
    most = o.depth if o.close else o.reach
    for p, link, rows in _groups(found):
        if _facing(found, rows).min() <= most:
            touching.setdefault(int(at[p]), []).append((link, rows))
    for g in of:
        out.add(*_contacts(hand, found, touching.get(g, []), g, o, command, out))


def _disturbed(hand: JointedHand, X: np.ndarray, q: np.ndarray, g: int, o: HandOptions) -> tuple[np.ndarray, np.ndarray]:
    """Pose and joint values with the errors of draw g; the hand turns about the middle of its geoms."""
    if not (o.position_noise or o.rotation_noise or o.joint_noise) or not _is_pose(X) or not np.isfinite(q).all():
        return X, q
    drawn = np.random.default_rng([o.seed, g]).standard_normal(6 + len(q))
    middle = hand.place(q)[:, :3, 3].mean(0)
    R = turn_matrix(o.rotation_noise * drawn[3:6])
    error = _matrix(middle + o.position_noise * drawn[:3] - R @ middle, R)
    noisy = q + o.joint_noise * drawn[6:]
    return X @ error, hand.follow(np.clip(noisy, np.minimum(hand.low, q), np.maximum(hand.high, q)))


def _contacts(
    hand: JointedHand, cells: dict[str, np.ndarray], links: list[tuple[int, slice]], g: int, o: HandOptions,
    command: Any, out: HandTouch,
) -> tuple[dict[str, list[Any]], list[str]]:  # fmt: skip
    """Rows of the contacts of grasp g by the names of a set's arrays, and their links' names."""
    rows: dict[str, list[Any]] = {}
    if not links:
        if command is not None:
            rows = {"torque": [np.zeros(len(hand.free))], "mass_matrix": [np.eye(len(hand.free))]}
        return rows, []
    out.status[g] = STATUS["touched"]
    patches = [(link, patch) for link, part in links for patch in _link_contacts(cells, part, o)]
    if sum(len(patch) for _, patch in patches) > MOST_CONTACTS:
        one = replace(o, points=1)
        patches = [(link, patch) for link, part in links for patch in _link_contacts(cells, part, one)][:MOST_CONTACTS]
    X = out.pose[g]
    R, t = X[:3, :3], X[:3, 3]
    names = []
    if command is not None:
        hand.place(out.joints[g])
        hand.update()
    for link, patch in patches:
        for point, normal, radius in patch:
            names.append(hand._name("BODY", link))
            part = {"point": point, "normal": -normal, "friction": o.friction}
            if o.soft:
                part["torsion_radius"] = radius
            if command is None:
                part["force_limit"], part["pad"] = o.force, link
            else:
                J = hand.jacobian(R.T @ (point - t), link)
                part["jacobian"] = R @ J[:3]
                if o.soft:
                    part["angular_jacobian"] = R @ J[3:]
            for key, value in part.items():
                rows.setdefault(key, []).append(value)
    if command is not None:
        rows["torque"] = [hand.lead.T @ command(g // o.draws, out.joints[g])]
        rows["mass_matrix"] = [hand.mass_matrix()]
    return rows, names
