"""A grasp of a hand that a URDF has, the arm that carries it included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import numpy as np

from garra._core import FileError
from garra.arguments import numbers, positive, vector
from garra.chain.robot import Chain, load
from garra.grasp.hand import Grasp, Props, coefficients
from garra.grasp.wrench import wrench_matrix

_ABOVE = "above the root"  # a link and a joint that no file has
MOVING = ("revolute", "continuous", "prismatic")
_FAR, _MOST_REACH = 0.2, 10.0  # of a point from its tip's frame: a note; from the center of mass: an error [m]


def from_urdf(
    path: str | PathLike[str],
    tips: Sequence[str],
    q: Mapping[str, float],
    normals: Any,
    *,
    mass: float,
    friction: Any,
    points: Any = None,
    com: Any = None,
    inertia: Any = None,
    force: Any = None,
    torque: Mapping[str, float] | None = None,
    wrench: Any = None,
    gravity: Any = (0, 0, -9.81),
    root: str | None = None,
    fixed: Sequence[str] = (),
    tangents: Any = None,
    name: str = "object",
) -> Grasp:
    """Makes the grasp of an object at rest by the tree of links and joints in a URDF.

    All quantities are in the axes of the root link, which is fixed. Every joint between the root and a tip moves, also
    those of an arm, with the inertia of all links behind it. Joints that are `fixed` (braked) and joints of fingers
    without a contact do not move. A joint with `mimic` moves with its leader. A contact of a link that no joint moves, as
    that of a palm, is rigid.

    Parameters
    ----------
    path : str or path
        URDF file.
    tips : sequence of str [k]
        Link that touches, per contact.
    q : mapping
        Joint values {joint: rad or m}; others are 0, `mimic` joints follow.
    normals : array_like [k, 3]
        Into the object.
    mass : float
        Of the object [kg].
    friction : float or array_like [k]
        Friction coefficients.
    points : array_like [k, 3], optional
        Contact points [m]; default: the origins of the tip frames.
    com : array_like [3], optional
        Center of mass [m]; default: the mean of the contact points.
    inertia : array_like [3, 3], optional
        About com [kg m^2]; default: a body whose radius of gyration is the mean distance of the contacts from com.
    force : array_like [k] or [k, 3], optional
        Commanded forces along the normals, or (n, t, o) [N]. Torques also hold arm and hand, not the object, against
        gravity.
    torque : mapping, optional
        Instead of force: all motor torques {joint: N m or N}; others are 0.
    wrench : array_like [6], optional
        External (force; moment about com) besides the weight [N; N m].
    gravity : array_like [3]
        [m/s^2].
    root : str, optional
        Root link.
    fixed : sequence of str
        Braked joints.
    tangents : array_like [k, 3], optional
        Directions t.
    name : str
        Name of the object.

    Returns
    -------
    Grasp

    Raises
    ------
    ValueError
        For inconsistent arguments, and points more than 10 m from the center of mass.
    garra.FileError
        As garra.load().

    Examples
    --------
    An object of 1 kg stands on three points of the arm's flange.

    >>> from garra.files import data
    >>> tray = [[0.04, 0, 1.31], [-0.02, 0.03, 1.31], [-0.02, -0.03, 1.31]]
    >>> load = {"mass": 1.0, "friction": 0.5, "force": 3.27, "points": tray}
    >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"] * 3, {}, [[0, 0, 1]] * 3, **load)
    >>> grasp.mass, grasp.com.round(3), grasp.hand_jacobian.shape
    (1.0, array([0.  , 0.  , 1.31]), (9, 7))
    """
    if (force is None) == (torque is None):
        raise ValueError("give one of force and torque")
    k = len(tips)
    gravity, mass = np.array(vector("gravity", gravity, 3)), positive("mass", mass)
    hand = _Tree(path, root, tips).hand(tips, q, fixed, gravity)
    points = hand.tips if points is None else _rows("points", points, k)
    frames = _frames(_rows("normals", normals, k), None if tangents is None else _rows("tangents", tangents, k))
    com = points.mean(axis=0) if com is None else np.array(vector("com", com, 3))
    if (reach := np.linalg.norm(points - com, axis=1).max(initial=0)) > _MOST_REACH:
        raise ValueError(f"points are {reach:.3g} m from the center of mass: lengths are in meters")
    away = np.linalg.norm(points - hand.tips, axis=1)
    far = tuple(
        f"contact {i} is {d:.2g} m from the frame of {tips[i]}: is it a point of this link?"
        for i, d in enumerate(away) if d > _FAR
    )  # fmt: skip
    inertia = _inertia(mass, inertia, points - com)
    applied = np.zeros(6) if wrench is None else np.array(vector("wrench", wrench, 6))
    W = wrench_matrix(points - com, frames)
    J = hand.jacobian(points, frames)
    torques = hand.bias + J.T @ _forces(force, k) if torque is None else hand.torques(torque)
    give = np.linalg.solve(hand.M, J.T).T  # J M^-1
    return Grasp(
        name=name,
        geoms=[(tip, name) for tip in tips],
        points=points,
        frames=frames,
        mu=coefficients(friction, k),
        mass=mass,
        inertia=inertia,
        com=com,
        gravity=gravity,
        spin=np.zeros(3),
        applied=applied,
        hand_A=give @ J.T,
        hand_b=give @ (hand.bias - torques),
        drift=np.zeros(3 * k),
        hand_jacobian=J,
        object_jacobian=W.T,
        props=Props(np.zeros((3 * k, 0)), np.zeros((0, 0)), np.zeros(0)),
        notes=hand.notes + far,
    )


@dataclass(frozen=True, eq=False)
class _Hand:
    """A tree of links at rest: n joints that move, k contacts."""

    joints: list[str]  #: n of them
    M: np.ndarray  #: mass matrix, [n, n]
    bias: np.ndarray  #: torques (forces) that hold it against gravity, [n]
    tips: np.ndarray  #: where the frames of the links that touch are, [k, 3]
    twists: np.ndarray  #: (v; omega) of these frames per joint rate, [k, 6, n]
    notes: tuple[str, ...]

    def jacobian(self, points: np.ndarray, frames: np.ndarray) -> np.ndarray:
        """Velocity (n, t, o) of each tip's point, [3k, n]."""
        v, omega = self.twists[:, :3], self.twists[:, 3:]
        v = v + np.cross(omega, (points - self.tips)[:, :, None], axis=1)
        return np.concatenate(list(frames.transpose(0, 2, 1) @ v))

    def torques(self, given: Mapping[str, float]) -> np.ndarray:
        for joint in given:
            if joint not in self.joints:
                raise ValueError(f"torque: {joint!r} is none of the joints that move: {', '.join(self.joints)}")
        return np.array([float(given.get(joint, 0.0)) for joint in self.joints])


class _Tree:
    """Moving joints of a URDF and their couplings. Chains and their numbers are garra's own (garra.load)."""

    def __init__(self, path: str | PathLike[str], root: str | None, tips: Sequence[str]):
        self.path, self.root = fspath(path), root
        for tip in dict.fromkeys(tips):  # the file's own errors, and before Python reads it: garra refuses entities
            try:
                load(self.path, tip=tip, base=root)
            except FileError as error:
                # Followers, and links that stand still, are no errors here.
                if "(mimic)" not in str(error) and "no joint moves" not in str(error):
                    raise
        document = ElementTree.parse(self.path).getroot()
        self.moving = [j.get("name", "") for j in document.iter("joint") if j.get("type") in MOVING]
        self.child = {j.get("name", ""): c.get("link", "") for j in document.iter("joint") for c in j.findall("child")}
        self.above = {  # of each link: the joint that carries it, and the link before
            self.child[j.get("name", "")]: (j.get("name", ""), p.get("link", ""))
            for j in document.iter("joint") for p in j.findall("parent")
        }  # fmt: skip
        self.leader: dict[str, tuple[str, float, float]] = {}  # of a joint that follows: joint, multiplier, offset
        for joint in list(document.iter("joint")):
            for mimic in joint.findall("mimic"):
                numbers = float(mimic.get("multiplier", 1)), float(mimic.get("offset", 0))
                self.leader[joint.get("name", "")] = (mimic.get("joint", ""), *numbers)
                joint.remove(mimic)
        self.without_mimic = ElementTree.tostring(document)
        # A chain has to move: links that stand still are reached over a joint above the root, at 0.
        ElementTree.SubElement(document, "link", name=_ABOVE)
        joint = ElementTree.SubElement(document, "joint", name=_ABOVE, type="prismatic")
        ElementTree.SubElement(joint, "parent", link=_ABOVE)
        ElementTree.SubElement(joint, "child", link=root or self._way(tips[0])[-1])
        ElementTree.SubElement(joint, "limit", lower="-1", upper="1", effort="1", velocity="1")
        self.with_joint_above = ElementTree.tostring(document)

    def _way(self, link: str) -> list[str]:
        """The link and those before it, to the root."""
        way = [link]
        while way[-1] != self.root and way[-1] in self.above and len(way) <= len(self.above):
            way.append(self.above[way[-1]][1])
        return way

    def stands(self, link: str) -> bool:
        """Whether no joint moves between it and the root."""
        return not any(self.above[on][0] in self.moving for on in self._way(link)[:-1])

    def followed(self, joint: str) -> tuple[str, float, float]:
        """The joint that leads it, perhaps itself, with multiplier and offset."""
        factor, offset = 1.0, 0.0
        for _ in range(len(self.leader) + 1):
            if joint not in self.leader:
                return joint, factor, offset
            joint, multiplier, more = self.leader[joint]
            factor, offset = factor * multiplier, offset + factor * more
        raise ValueError(f"{self.path}: joint {joint!r} follows itself")

    def hand(self, tips: Sequence[str], q: Mapping[str, float], fixed: Sequence[str], gravity: np.ndarray) -> _Hand:
        for what, names in (("q", q), ("fixed", fixed)):
            for joint in names:
                if joint not in self.moving or joint in self.leader:
                    own = [name for name in self.moving if name not in self.leader]
                    raise ValueError(f"{what}: {joint!r} is none of the joints of {self.path}: {', '.join(own)}")
        stands = {}
        for joint in self.moving:
            leader, factor, offset = self.followed(joint)
            stands[joint] = factor * float(q.get(leader, 0.0)) + offset
        own = self._load(dict.fromkeys(tips), lambda _: {})
        touching = {self.followed(joint)[0] for chain in own.values() for joint in chain.joint_names if joint != _ABOVE}
        moves = [joint for joint in self.moving if self.followed(joint)[0] in touching]
        # Chains to the tips, and to links beside them that coupled joints move.
        links = dict.fromkeys([*tips, *(self.child[joint] for joint in moves)])
        own = self._load(links, lambda _: {})
        chains = self._load(
            links, lambda link: {j: at for j, at in stands.items() if j not in own[link].joint_names or j not in moves}
        )
        names = list(dict.fromkeys(joint for chain in chains.values() for joint in chain.joint_names if joint != _ABOVE))
        # M of all joints: a chain includes the rest of the tree as fixed parts of its links. Shared entries of two
        # chains are therefore equal, and joints without a common chain have no common entry of M.
        M, bias = np.zeros((len(names), len(names))), np.zeros(len(names))
        twists, at = np.zeros((len(tips), 6, len(names))), np.zeros((len(tips), 3))
        for link, chain in chains.items():
            mine = [j for j, tip in enumerate(tips) if tip == link]
            if self.stands(link):
                at[mine] = chain.forward_kinematics([0.0])[:3, 3]
                continue
            here = [names.index(joint) for joint in chain.joint_names]
            angles = np.array([stands[joint] for joint in chain.joint_names])
            chain.gravity_vector = gravity
            M[np.ix_(here, here)], bias[here] = chain.crba(angles), chain.gravity(angles)
            for j in mine:
                twists[j][:, here], at[j] = chain.jacobian(angles), chain.forward_kinematics(angles)[:3, 3]
        leaders = {joint: self.followed(joint)[:2] for joint in names}
        joints = list(dict.fromkeys(leader for leader, _ in leaders.values() if leader not in fixed))
        if not joints:
            raise ValueError("fixed: no joint is left that moves")
        # Rates of all joints from those of the leaders.
        S = np.zeros((len(names), len(joints)))
        for row, (leader, factor) in enumerate(leaders.values()):
            if leader in joints:
                S[row, joints.index(leader)] = factor
        follow = [f"{joint} follows {leader}" for joint, (leader, _) in leaders.items() if joint != leader]
        still = [joint for joint in self.moving if joint not in names]
        notes = [*follow, *([f"{', '.join(still)}: without a contact, stand still"] if still else [])]
        M = S.T @ M @ S
        if not np.isfinite(M).all() or not (np.linalg.eigvalsh(M) > 0).all():
            raise ValueError(
                f"{self.path}: the mass matrix of {', '.join(joints)} is not positive definite: "
                "links that they move have no inertia, or q is no number"
            )
        return _Hand(joints, M, S.T @ bias, at, twists @ S, tuple(notes))

    def _load(self, links: Iterable[str], lock: Callable[[str], Mapping[str, float]]) -> dict[str, Chain]:
        """Chains to links, without couplings; lock(link): where joints stand that do not move in its chain."""
        with TemporaryDirectory() as folder:
            plain = Path(folder) / Path(self.path).name
            plain.write_bytes(self.without_mimic)
            above = plain.with_name(f"above {plain.name}")
            above.write_bytes(self.with_joint_above)
            return {
                link: load(above, tip=link, base=_ABOVE) if self.stands(link)
                else load(plain, tip=link, base=self.root, lock=lock(link))
                for link in links
            }  # fmt: skip


def _rows(name: str, given: Any, k: int) -> np.ndarray:
    rows = numbers(name, given)
    if rows.shape != (k, 3) or not np.isfinite(rows).all():
        raise ValueError(
            f"{name}: expected finite numbers [{k}, 3], one row for each of the tips, not {list(rows.shape)}"
        )
    return rows


def _frames(normals: np.ndarray, tangents: np.ndarray | None) -> np.ndarray:
    """Columns n, t, o = n x t, [k, 3, 3]; t perpendicular to n, any where none is given."""
    if tangents is None:
        tangents = np.eye(3)[np.abs(normals).argmin(axis=1)]
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    if not (lengths > 0).all():
        raise ValueError("normals: one is zero")
    n = normals / lengths
    t = tangents - (tangents * n).sum(axis=1, keepdims=True) * n
    lengths = np.linalg.norm(t, axis=1, keepdims=True)
    if not (lengths > 1e-9 * np.linalg.norm(tangents, axis=1, keepdims=True)).all():
        raise ValueError("tangents: one is parallel to its normal")
    t = t / lengths
    return np.stack([n, t, np.cross(n, t)], axis=2)


def _inertia(mass: float, given: Any, arms: np.ndarray) -> np.ndarray:
    reach = float(np.linalg.norm(arms, axis=1).mean())
    if given is None and not reach > 0:
        raise ValueError("inertia: needed, since all contacts are at the center of mass")
    inertia = mass * reach**2 * np.eye(3) if given is None else numbers("inertia", given).reshape(3, 3)
    if not (np.linalg.eigvalsh(inertia) > 0).all():
        raise ValueError("inertia: expected a positive definite matrix")
    return inertia


def _forces(given: Any, k: int) -> np.ndarray:
    """Commanded forces (n, t, o), [3k]."""
    force = numbers("force", given)
    if force.shape not in ((), (k,), (k, 3)):
        raise ValueError(f"force: expected a number, [{k}] along the normals or [{k}, 3], not {list(force.shape)}")
    if force.ndim < 2:
        along = np.zeros((k, 3))
        along[:, 0] = force
        force = along
    return force.reshape(-1)
