"""A grasp of a set in time: object and hand from rest under given accelerations, with Coulomb contacts.

The geometry is that of the instant: contact points are fixed to the object, normals and the hand's Jacobian stay. Steps
are those of J. J. Moreau (1988): velocities at the end of a step obey Coulomb's law. Forces that bring all contacts to
rest are taken where there are any, else those of garra.contact.solve().
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from garra import contact
from garra.arguments import numbers
from garra.grasp.wrench import wrench_matrix
from garra.grasp.what_helps import grasp_arrays
from garra.turns import turn_matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COMPLIANCE = 1e-4  # of contacts, over the mean of A's diagonal
AT_REST = 1e-5  # acceleration of contacts that counts as none [m/s^2]


@dataclass(frozen=True, repr=False)
class Motion:
    """Motion of the object relative to the hand's base, in object axes."""

    time: np.ndarray
    """[T] [s]"""
    shift: np.ndarray
    """[T, 3] of the center of mass [m]"""
    turn: np.ndarray
    """[T] rotation [rad]"""
    force: np.ndarray
    """[T, k, 3] contact forces (n, t, o) on the object [N]"""
    held: bool
    """Within the limits at all times"""
    unsolved: int
    """Steps whose contact problem was not solved"""

    def __repr__(self) -> str:
        end = f"{1000 * np.linalg.norm(self.shift[-1]):.2f} mm and {self.turn[-1]:.4f} rad after {self.time[-1]:.3g} s"
        return f"<Motion: {'held' if self.held else 'lost'}, {end}>"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plots the shift of the center of mass over time."""
        from garra.study.run import axes

        ax = axes(ax)
        for k, name in enumerate("xyz"):
            ax.plot(self.time, 1000 * self.shift[:, k], label=name)
        ax.set_xlabel("time [s]")
        ax.set_ylabel("shift [mm]")
        ax.legend()
        return ax


class _Bodies:
    """Object and hand of one grasp: W [6, 3k], J [3k, n] in contact axes, inertias, forces, at the instant."""

    def __init__(self, of: Any, grasp: int):
        arrays, _ = grasp_arrays(of, grasp)
        if "mass" not in arrays or "jacobian" not in arrays or "mass_matrix" not in arrays:
            raise ValueError(
                "simulate() needs the object's mass and a whole hand: jacobian, mass_matrix and torque; from_poses() sets "
                "them of a jaw, and of a hand with torque, or with squeeze and stiffness"
            )
        if "torsion_radius" in arrays:
            raise ValueError("simulate() takes points: the set has soft contacts")
        n = arrays["normal"] / np.linalg.norm(arrays["normal"], axis=1, keepdims=True)
        t = arrays["tangent"] if "tangent" in arrays else np.eye(3)[np.abs(n).argmin(axis=1)]
        t = t - (t * n).sum(1, keepdims=True) * n
        t /= np.linalg.norm(t, axis=1, keepdims=True)
        frames = np.stack([n, t, np.cross(n, t)], axis=2)
        com = arrays["com"][0] if "com" in arrays else np.zeros(3)
        arm = arrays["point"] - com
        mass = float(arrays["mass"][0])
        # Without an inertia, that of a body whose radius of gyration is the mean distance of the contacts.
        inertia = arrays["inertia"][0] if "inertia" in arrays else mass * (arm**2).sum(1).mean() * np.eye(3)
        self.friction = arrays["friction"]
        self.W = wrench_matrix(arm, frames)
        joints = arrays["mass_matrix"].shape[-1]
        self.J = np.einsum("kxc,kxq->kcq", frames, arrays["jacobian"].reshape(-1, 3, joints)).reshape(-1, joints)
        self.M = arrays["mass_matrix"][0]
        self.inverse = np.zeros((6, 6))
        self.inverse[:3, :3], self.inverse[3:, 3:] = np.eye(3) / mass, np.linalg.inv(inertia)
        gravity = arrays["gravity"][0] if "gravity" in arrays else np.array([0, 0, -9.81])
        load = arrays["wrench"][0] if "wrench" in arrays else np.zeros(6)
        self.acceleration = self.inverse @ load + np.concatenate([gravity, np.zeros(3)])
        bias = arrays["bias"][0] if "bias" in arrays else np.zeros(joints)
        torque = arrays["torque"][0] if "torque" in arrays else bias + self.J.T @ arrays["force"].reshape(-1)
        self.joint_acceleration = np.linalg.solve(self.M, torque - bias)
        self.to_joints = np.linalg.solve(self.M, self.J.T)
        self.A = self.W.T @ self.inverse @ self.W + self.J @ self.to_joints


def simulate(
    of: Any, grasp: int, friction: Any, duration: float, step: float, acceleration: Any,
    most: tuple[float, float],
) -> Motion:  # fmt: skip
    """Motion of a grasp; arguments as in GraspSet.simulate(). `most`: shift [m] and turn [rad] of an object that is held."""
    body = _Bodies(of, grasp)
    count = len(body.friction)
    mu = np.asarray(body.friction if friction is None else numbers("friction", friction), float)
    if mu.shape not in ((), (count,)) or not ((mu >= 0) & np.isfinite(mu)).all():
        raise ValueError(f"friction: one number, or {count} of contacts, at least 0")
    mu = np.ascontiguousarray(np.broadcast_to(mu, count))
    given = acceleration if callable(acceleration) else lambda _: np.zeros(3) if acceleration is None else acceleration
    twist, rates, gap, R = np.zeros(6), np.zeros(len(body.M)), np.zeros(len(mu)), np.eye(3)
    rows: list[tuple[float, np.ndarray, float, np.ndarray]] = [(0.0, np.zeros(3), 0.0, np.zeros((len(mu), 3)))]
    unsolved, held = 0, True
    for i in range(max(int(np.ceil(duration / step - 1e-9)), 1)):
        hand = np.asarray(given((i + 0.5) * step), float)  # the frame of the hand's base accelerates: -m a acts
        if hand.shape != (3,) or not np.isfinite(hand).all():
            raise ValueError(f"acceleration has the shape {hand.shape} at {(i + 0.5) * step:g} s, not three finite numbers")
        twist = twist + step * (body.acceleration - np.concatenate([hand, np.zeros(3)]))
        rates = rates + step * body.joint_acceleration
        free = body.W.T @ twist - body.J @ rates
        free[::3] += gap / step  # an open contact closes in this step at the earliest
        # Many forces may obey Coulomb's law (four points a pad): those at rest, if there are any, else the most even ones.
        rests = contact.can_rest(step * body.A, free, mu, AT_REST * step, threads=1)
        soft = step * (body.A + COMPLIANCE * np.trace(body.A) / len(body.A) * np.eye(len(body.A)))
        c = rests.force if rests.status == contact.POSSIBLE else contact.solve(soft, free, mu, threads=1).c.reshape(-1)
        if not np.isfinite(c).all():
            unsolved += 1
            c = rows[-1][3].reshape(-1)
        twist = twist + step * (body.inverse @ (body.W @ c))
        rates = rates - step * (body.to_joints @ c)
        gap = np.maximum(gap + step * (body.W.T @ twist - body.J @ rates)[::3], 0)
        R = turn_matrix(step * twist[3:]) @ R
        turn = float(np.arccos(np.clip((np.trace(R) - 1) / 2, -1, 1)))
        shift = rows[-1][1] + step * twist[:3]
        rows.append(((i + 1) * step, shift, turn, c.reshape(-1, 3)))
        held = bool(np.linalg.norm(shift) <= most[0] and turn <= most[1])
        if not held:
            break
    return Motion(*(np.array(column) for column in zip(*rows, strict=True)), held, unsolved)
