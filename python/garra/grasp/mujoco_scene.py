"""Grasps from a compiled MuJoCo model and its state, with MuJoCo's own numbers."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from garra.grasp.hand import Grasp, Props, Torsion
from garra.grasp.wrench import wrench_matrix

if TYPE_CHECKING:
    import mujoco

OLDEST = (3, 3, 2)  # before, mj_jacDot was wrong for free joints
MOST_CONTACTS = 32
REST = 1e-3  # [m/s]: contact points that move faster against each other slide; the law for that is another one
FREE = 1e-6  # least singular value of a free body's Jacobian [m, rad]: below it three hinges stand in one plane
MET = 1e-3  # equality constraints that are off by more have a note [m or rad]
RANK = 1e-10  # of the largest singular value: equality constraints that say the same thing twice


def from_mujoco(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    object: str | int | None = None,
    hand: str | int | None = None,
    *,
    reduce: str | None = None,
    most_contacts: int = MOST_CONTACTS,
) -> Grasp:
    """Reads the grasp in the state `data`, which is not changed.

    Rigid contacts with Coulomb cones replace MuJoCo's soft ones. Actuators, springs, tendons, damping, gravity and
    applied forces enter the unconstrained acceleration; active equality constraints hold exactly. Limits of joints and
    tendons, and contacts between other bodies that press at this instant, support the hand without friction
    (`Grasp.props`). Torsional friction (condim 4 or 6) makes contacts soft (`Grasp.torsion`). Servo forces are those of this instant. `Grasp.notes` lists omissions.

    Parameters
    ----------
    model : mujoco.MjModel
        Compiled model.
    data : mujoco.MjData
        State.
    object : str or int, optional
        Body that is held, with a free joint or with slides and hinges of six degrees of freedom in a world at rest;
        default: the only such body.
    hand : str or int, optional
        Root body of the hand; other contacts are left out; default: all contacts of the object, also with a table.
    reduce : str, optional
        "corners": keep the three contacts per pair of geoms that span the largest area.
    most_contacts : int
        Largest number of contacts; at most 32.

    Returns
    -------
    Grasp

    Raises
    ------
    ValueError
        For unknown bodies, another `reduce`, or too many contacts.
    ImportError
        For an old MuJoCo.

    Examples
    --------
    The example needs MuJoCo, a model and a state in which the hand touches the object.

    >>> grasp = garra.grasp.from_mujoco(model, data, object="cube")  # doctest: +SKIP
    >>> grasp.solve().converged  # doctest: +SKIP
    """
    if reduce not in (None, "corners"):
        raise ValueError(f'reduce={reduce!r}: None or "corners" is known')
    scene = _Scene(model, data)
    held = scene.held_body(object)
    chosen = scene.contacts(held, None if hand is None else scene.body(hand))
    if reduce == "corners":
        chosen = scene.corners(chosen)
    if len(chosen) > most_contacts:
        pairs = ", ".join(sorted({f"{c.geoms[0]} on {c.geoms[1]}" for c in chosen}))
        remedy = "hand=, which leaves a table out, or simpler geoms" if reduce else 'reduce="corners"'
        raise ValueError(f"{len(chosen)} contacts ({pairs}), at most {most_contacts} are solved: try {remedy}")
    return scene.grasp(held, chosen).examined()


class _Untouched(ValueError):
    """The object touches nothing."""


def from_mujoco_states(
    model: mujoco.MjModel,
    qpos: Any,
    ctrl: Any = None,
    object: str | int | None = None,
    hand: str | int | None = None,
    *,
    reduce: str | None = None,
    most_contacts: int = MOST_CONTACTS,
) -> list[Grasp | None]:
    """Reads the grasps in many states at rest.

    Parameters
    ----------
    model : mujoco.MjModel
        Compiled model.
    qpos : array_like [P, nq]
        Positions of each state.
    ctrl : array_like [P, nu] or [nu], optional
        Controls; default: those of a new MjData.
    object, hand, reduce, most_contacts
        As in from_mujoco().

    Returns
    -------
    list of Grasp or None
        None where the object touches nothing, or a number is not finite.

    Raises
    ------
    ValueError
        For other shapes, unknown bodies, or too many contacts in a state, which is named.

    Examples
    --------
    The example needs MuJoCo, a model and states in which the hand touches the object.

    >>> grasps = garra.grasp.from_mujoco_states(model, qpos, ctrl, object="cube")  # doctest: +SKIP
    >>> garra.grasp.rank(garra.grasp.GraspSet.from_grasps(filter(None, grasps)))  # doctest: +SKIP
    """
    import mujoco

    qpos = np.asarray(qpos, dtype=float)
    if qpos.ndim != 2 or qpos.shape[1] != model.nq:
        raise ValueError(f"qpos has the shape {qpos.shape}, not [P, {model.nq}]")
    data = mujoco.MjData(model)
    controls = np.array(data.ctrl) if ctrl is None else np.asarray(ctrl, dtype=float)
    if controls.shape not in ((model.nu,), (len(qpos), model.nu)):
        raise ValueError(f"ctrl has the shape {controls.shape}, not [{model.nu}] or [P, {model.nu}]")
    controls = np.broadcast_to(controls, (len(qpos), model.nu))
    grasps: list[Grasp | None] = []
    for state, (q, u) in enumerate(zip(qpos, controls, strict=True)):
        if not (np.isfinite(q).all() and np.isfinite(u).all()):
            grasps.append(None)
            continue
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.ctrl[:] = q, u
        try:
            grasp = from_mujoco(model, data, object, hand, reduce=reduce, most_contacts=most_contacts)
        except _Untouched:
            grasps.append(None)
            continue
        except ValueError as error:
            raise ValueError(f"state {state}: {error}") from None
        grasps.append(grasp)
    return grasps


@dataclass(frozen=True, eq=False)
class _Contact:
    point: np.ndarray
    frame: np.ndarray  #: columns n, t, o; n into the object
    mu: float
    torsion_radius: float
    geom_ids: tuple[int, int]  #: (other, object's)
    geoms: tuple[str, str]
    bodies: tuple[int, int]


class _Scene:
    """Model with an updated copy of its data."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData):
        import mujoco

        if tuple(int(part) for part in mujoco.__version__.split(".")[:3]) < OLDEST:
            raise ImportError(
                f"MuJoCo {mujoco.__version__} is too old: {'.'.join(map(str, OLDEST))} or newer is needed"
            )
        self.mj, self.model, self.data = mujoco, model, copy.copy(data)
        mujoco.mj_forward(model, self.data)
        self.notes: list[str] = []

    def name(self, kind: str, index: int) -> str:
        found = self.mj.mj_id2name(self.model, getattr(self.mj.mjtObj, f"mjOBJ_{kind.upper()}"), int(index))
        return found or f"{kind} {index}"

    def geom_name(self, geom: int) -> str:
        """Name of a geom, or of its body if the geom has none."""
        name = self.mj.mj_id2name(self.model, self.mj.mjtObj.mjOBJ_GEOM, int(geom))
        return name or self.name("body", self.model.geom_bodyid[geom])

    def body(self, body: str | int) -> int:
        index = body if not isinstance(body, str) else self.mj.mj_name2id(self.model, self.mj.mjtObj.mjOBJ_BODY, body)
        if not 0 <= index < self.model.nbody:
            raise ValueError(f"no body {body!r} in the model; bodies: {self._names(range(1, self.model.nbody))}")
        return int(index)

    def _names(self, bodies) -> str:
        return ", ".join(self.name("body", b) for b in bodies) or "none"

    def held_body(self, object: str | int | None) -> int:
        """Body with six degrees of freedom and no moving parts. Raises ValueError if it is not unique or not free."""
        m = self.model
        free = [b for b in range(1, m.nbody) if self._is_free(b)]
        if object is None:
            if len(free) != 1:
                raise ValueError(f"object= names the body that is held; bodies that move freely: {self._names(free)}")
            object = free[0]
        if isinstance(object, str) and self.mj.mj_name2id(m, self.mj.mjtObj.mjOBJ_BODY, object) < 0:
            raise ValueError(f"no body {object!r} in the model; bodies that move freely: {self._names(free)}")
        body = self.body(object)
        if body not in free:
            raise ValueError(
                f"body {self.name('body', body)!r} has no free joint of its own, nor slides and hinges that leave it six "
                "freedoms: name the free body that carries it (add <freejoint/> where it has none); bodies that move "
                f"freely: {self._names(free)}"
            )
        moving = [b for b in self._part(body) if b != body and m.body_dofnum[b] > 0]
        if moving:
            raise ValueError(f"{self._names(moving)} moves on {self.name('body', body)!r}: the object must be rigid")
        return body

    def _is_free(self, body: int) -> bool:
        """True with a free joint, or with joints of six degrees of freedom at this state, in a world at rest."""
        m = self.model
        if m.body_dofnum[body] != 6 or m.body_dofnum[self._carriers(body)].any():
            return False
        first = m.body_dofadr[body]
        J = self._jacobian(np.array(self.data.xipos[body]), body)[0][:, first : first + 6]
        return bool(np.linalg.matrix_rank(J, FREE) == 6)

    def _carriers(self, body: int) -> list[int]:
        """The bodies between this one and the world."""
        carriers = []
        while (body := int(self.model.body_parentid[body])) > 0:
            carriers.append(body)
        return carriers

    def _part(self, body: int) -> set[int]:
        """A body and all that hangs on it."""
        part = {body}
        for b in range(body + 1, self.model.nbody):  # a parent's number is below its children's
            if self.model.body_parentid[b] in part:
                part.add(b)
        return part

    # --- contacts

    def contacts(self, held: int, hand: int | None) -> list[_Contact]:
        """Contacts of the object with the hand, or with anything."""
        own = self._part(held)
        allowed = None if hand is None else self._part(hand)
        chosen: list[_Contact] = []
        others: list[_Contact] = []
        for index in range(self.data.ncon):
            raw = self.data.contact[index]
            sides = [self.model.geom_bodyid[geom] in own for geom in raw.geom]
            if raw.exclude or min(raw.geom) < 0 or sides[0] == sides[1]:  # in the gap, of a flexible body, of others
                continue
            found = self._contact(index, own)
            (chosen if allowed is None or found.bodies[0] in allowed else others).append(found)
        elsewhere = ", ".join(sorted({c.geoms[0] for c in others}))
        if not chosen:
            where = "anything" if hand is None else repr(self.name("body", hand))
            rest = f"; it touches {elsewhere}: leave out hand= to count all" if others else ""
            raise _Untouched(f"{self.name('body', held)!r} does not touch {where} in this state{rest}")
        if others:
            self.notes.append(f"contacts with {elsewhere} are left out")
        return chosen

    def _contact(self, index: int, own: set[int]) -> _Contact:
        raw = self.data.contact[index]
        swap = self.model.geom_bodyid[raw.geom[0]] in own
        other, mine = (int(g) for g in (raw.geom[::-1] if swap else raw.geom))
        names = self.geom_name(other), self.geom_name(mine)
        frame = np.array(raw.frame).reshape(3, 3).T
        if swap:  # MuJoCo's normal points from the first geom to the second; n and t turn, the frame stays right-handed
            frame = frame * np.array([-1, -1, 1])
        if raw.dim > 1 and raw.friction[0] != raw.friction[1]:
            raise ValueError(
                f"{names[0]} on {names[1]} has the friction {raw.friction[0]:g} and {raw.friction[1]:g} in its two "
                "directions; garra has Coulomb cones with one coefficient: give the contact pair one"
            )
        if raw.dim > 4 and max(raw.friction[3:]) > 0:
            self._note(f"rolling friction (condim {raw.dim}) is left out")
        soft = raw.dim > 3 and raw.friction[0] > 0
        return _Contact(
            point=np.array(raw.pos),
            frame=frame,
            mu=float(raw.friction[0]) if raw.dim > 1 else 0.0,
            torsion_radius=float(raw.friction[2] / raw.friction[0]) if soft else 0.0,
            geom_ids=(other, mine),
            geoms=names,
            bodies=(int(self.model.geom_bodyid[other]), int(self.model.geom_bodyid[mine])),
        )

    def corners(self, contacts: list[_Contact]) -> list[_Contact]:
        """At most three contacts per pair of geoms: those that span the largest area."""
        kept: list[_Contact] = []
        for pair in dict.fromkeys(c.geom_ids for c in contacts):
            group = [c for c in contacts if c.geom_ids == pair]
            if len(group) > 3:
                self._note(f"{' on '.join(group[0].geoms)}: 3 of {len(group)} contacts are kept")
                group = list(max(combinations(group, 3), key=_area))
            kept += group
        return kept

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    # --- dynamics

    def grasp(self, held: int, contacts: list[_Contact]) -> Grasp:
        m, d = self.model, self.data
        first = m.body_dofadr[held]
        own = np.zeros(m.nv, bool)
        own[first : first + 6] = True
        frames = np.array([c.frame for c in contacts])
        J_object, bias_object = self._rows(contacts, 1)
        J_hand, bias_hand = self._rows(contacts, 0)
        speeds = np.linalg.norm(((J_object - J_hand) @ d.qvel).reshape(-1, 3), axis=1)
        if speeds.max() > REST:
            fastest = contacts[int(speeds.argmax())].geoms
            raise ValueError(
                f"{fastest[0]} slides on {fastest[1]} with {1000 * speeds.max():.3g} mm/s, and 1 mm/s is at rest: let the "
                "grasp settle, or set data.qvel to zero to ask about this pose"
            )
        M_inv, acceleration = self._free_motion(own)
        com = np.array(d.subtree_com[held])
        twist, twist_bias = self._jacobian(com, held)  # (v; omega) of the center of mass
        mobility = twist @ M_inv @ twist.T
        mass, inertia = float(m.body_subtreemass[held]), np.linalg.inv(mobility[3:, 3:])
        if np.abs(mass * mobility[:3, :3] - np.eye(3)).max() > 1e-6:
            raise ValueError(
                f"{self.name('body', held)!r} is no rigid body: its joint or a tendon there has an armature; "
                f"model.dof_armature[{first}:{first + 6}] = 0 leaves it its own inertia"
            )
        inertia = _symmetric(inertia)
        spin = (twist @ d.qvel)[3:]
        part = sorted(self._part(held))
        share = 1 - m.body_gravcomp[part] @ m.body_mass[part] / mass  # of gravity that acts on the object
        off = m.opt.disableflags & self.mj.mjtDisableBit.mjDSBL_GRAVITY
        gravity = np.zeros(3) if off else share * m.opt.gravity
        load = np.linalg.solve(mobility, twist @ acceleration + twist_bias)  # whole wrench without contacts
        rigid = np.concatenate([mass * gravity, -np.cross(spin, inertia @ spin)])
        self._note_what_is_left_out(own)
        props = self._props(held, own)
        if len(contacts) + len(props) > MOST_CONTACTS:
            raise ValueError(
                f"{len(contacts)} contacts and {len(props)} that prop the hand up (limits, contacts between other bodies), "
                f'at most {MOST_CONTACTS} together are solved: try reduce="corners", or simpler geoms'
            )
        torsion = self._torsion(contacts, len(props), J_hand, (M_inv, acceleration))
        give, points = J_hand @ M_inv, np.array([c.point for c in contacts])
        W = wrench_matrix(points - com, frames)
        return Grasp(
            name=self.name("body", held),
            geoms=[c.geoms for c in contacts],
            points=points,
            frames=frames,
            mu=np.array([c.mu for c in contacts]),
            mass=mass,
            inertia=inertia,
            com=com,
            gravity=gravity,
            spin=spin,
            applied=load - rigid,
            hand_A=_symmetric(give @ J_hand.T),
            hand_b=-J_hand @ acceleration,
            drift=bias_object - bias_hand - W.T @ twist_bias,
            props=Props(-give @ props.T, _symmetric(props @ M_inv @ props.T), props @ acceleration),
            hand_jacobian=J_hand,
            object_jacobian=J_object,
            notes=tuple(self.notes),
            state=(m, np.array(d.qpos), self._part(held)),
            torsion=torsion,
        )

    def _torsion(self, contacts: list[_Contact], props: int, J_hand: np.ndarray, free: tuple[np.ndarray, np.ndarray]) -> Torsion | None:
        """Of contacts with torsional friction, unless there are supports of the hand, on which moments would act, too."""
        radius = np.array([c.torsion_radius for c in contacts])
        if not radius.any():
            return None
        if props:
            self._note("torsional friction is left out: joints or contacts prop the hand up")
            return None
        turn = [c.torsion_radius * c.frame[:, 0] @ self._jacobian(c.point, c.bodies[0])[0][3:] for c in contacts]
        J = np.concatenate([J_hand, turn])
        return Torsion(radius, _symmetric(J @ free[0] @ J.T), -J @ free[1])

    def _jacobian(self, point: np.ndarray, body: int) -> tuple[np.ndarray, np.ndarray]:
        """(v; omega) of a body's point, world axes: Jacobian [6, nv], and the acceleration where qacc = 0, [6]."""
        J, J_dot = np.zeros((6, self.model.nv)), np.zeros((6, self.model.nv))
        self.mj.mj_jac(self.model, self.data, J[:3], J[3:], point, body)
        if np.any(self.data.qvel):
            self.mj.mj_jacDot(self.model, self.data, J_dot[:3], J_dot[3:], point, body)
        return J, J_dot @ self.data.qvel

    def _rows(self, contacts: list[_Contact], side: int) -> tuple[np.ndarray, np.ndarray]:
        """The same at all contact points, (n, t, o) of each, of the hand (side 0) or the object (1): [3k, nv], [3k]."""
        parts = [self._jacobian(c.point, c.bodies[side]) for c in contacts]
        turned = [[c.frame.T @ x[:3] for x in part] for c, part in zip(contacts, parts, strict=True)]
        return np.concatenate([J for J, _ in turned]), np.concatenate([a for _, a in turned])

    def _free_motion(self, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Inverse mass matrix and acceleration without contacts, where equality constraints E qacc = 0 hold exactly:

        M^-1 - M^-1 E^T (E M^-1 E^T)^+ E M^-1,   qacc - M^-1 E^T (E M^-1 E^T)^+ E qacc
        """
        m, d = self.model, self.data
        M_inv, acceleration = np.zeros((m.nv, m.nv)), np.array(d.qacc_smooth)
        self.mj.mj_solveM(m, d, M_inv, np.eye(m.nv))
        equal = d.efc_type == self.mj.mjtConstraint.mjCNSTR_EQUALITY
        if (off := np.max(np.abs(d.efc_pos[equal]), initial=0.0)) > MET:
            self._note(f"equality constraints are off by {off:.2g} (m or rad): the hand would not stay there")
        E = self._constraints(equal)
        if np.any(E[:, own]):
            raise ValueError("an equality constraint holds the object itself: switch it off (data.eq_active)")
        if not len(E):
            return M_inv, acceleration
        take = M_inv @ E.T @ np.linalg.pinv(E @ M_inv @ E.T, rcond=RANK, hermitian=True) @ E
        return M_inv - take @ M_inv, acceleration - take @ acceleration

    def _props(self, held: int, own: np.ndarray) -> np.ndarray:
        """Supports of the hand [l, nv]: rows s = P qacc >= 0 of limits and pressing contacts between other bodies."""
        kind = self.mj.mjtConstraint
        at_limit = np.isin(self.data.efc_type, (kind.mjCNSTR_LIMIT_JOINT, kind.mjCNSTR_LIMIT_TENDON))
        limits = self._constraints(at_limit & (self.data.efc_force > 0))
        limits = limits[~np.any(limits[:, own], axis=1)]
        if len(limits):
            self._note(f"{len(limits)} joints or tendons press against their limits: they may only move away from these")
        contacts = self._other_contacts(held)
        if len(contacts):
            self._note(f"{len(contacts)} contacts between other bodies press: without friction, along their normals")
        contacts = contacts[contacts.any(axis=1)]  # a normal through a hinge moves nothing
        return np.concatenate([limits, contacts])

    def _constraints(self, chosen: np.ndarray) -> np.ndarray:
        """Rows of the constraints' Jacobian, [chosen, nv]."""
        E = np.zeros((int(chosen.sum()), self.model.nv))
        for e, row in zip(E, np.flatnonzero(chosen), strict=True):
            unit = np.zeros(self.data.nefc)  # J^T times a unit vector: the same for dense and sparse Jacobians
            unit[row] = 1
            self.mj.mj_mulJacTVec(self.model, self.data, e, unit)
        return E

    def _other_contacts(self, held: int) -> np.ndarray:
        """Rows of the normals of contacts that press, none of which is the object's, [contacts, nv]."""
        part, rows, force = self._part(held), [], np.zeros(6)
        for index in range(self.data.ncon):
            raw = self.data.contact[index]
            if raw.efc_address < 0 or min(raw.geom) < 0:
                continue
            bodies = [int(self.model.geom_bodyid[geom]) for geom in raw.geom]
            self.mj.mj_contactForce(self.model, self.data, index, force)
            if part & set(bodies) or force[0] <= 0:
                continue
            apart = [self._jacobian(np.array(raw.pos), body)[0][:3] for body in bodies]
            row = raw.frame[:3] @ (apart[1] - apart[0])
            rows.append(row)
        return np.array(rows).reshape(-1, self.model.nv)

    def _note_what_is_left_out(self, own: np.ndarray) -> None:
        m = self.model
        if np.any(m.dof_frictionloss[~own]) or np.any(m.tendon_frictionloss):
            self._note("dry friction of joints or tendons (frictionloss) is left out")


def _symmetric(A: np.ndarray) -> np.ndarray:
    return (A + A.T) / 2


def _area(three: tuple[_Contact, ...]) -> float:
    a, b, c = (contact.point for contact in three)
    return float(np.linalg.norm(np.cross(b - a, c - a)))
