"""Grasp at one instant from any source: contact problem, forces and robustness."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from garra import arguments, contact
from garra.arguments import check_seed, numbers, positive
from garra.grasp import redundant
from garra.grasp.robustness import ACCELERATION, MOTION, Robustness, contact_motion, outcome_of
from garra.renamed import accept_old
from garra.study.distributions import DISTRIBUTIONS


@dataclass(frozen=True, repr=False, eq=False)
class Solution:
    """Certified forces of k contacts on the object."""

    forces: np.ndarray  #: (n, t, o) [N], [k, 3]; NaN unless converged
    forces_world: np.ndarray  #: world axes [N], [k, 3]
    acceleration: np.ndarray  #: contact point of the object minus that of the finger, (n, t, o) [m/s^2], [k, 3]
    state: list[str]  #: "stick", "slip", "open" or "unknown" of each contact
    residual: float
    converged: bool

    def __repr__(self) -> str:
        rows = [
            f"  {s:<7} {n:10.4g} {t:10.4g} {o:10.4g} N" for s, (n, t, o) in zip(self.state, self.forces, strict=True)
        ]
        return "\n".join([f"{'converged' if self.converged else 'unsolved'}, residual {self.residual:.1e}", *rows])


@dataclass(frozen=True, eq=False)
class Props:
    """l unilateral, frictionless supports of the hand besides the object: joint limits, fingers on fingers, a table.

    Law: s = bias + coupling^T c + mobility p >= 0, p >= 0, s p = 0. The contacts' a grows by coupling p."""

    coupling: np.ndarray  #: [3k, l]
    mobility: np.ndarray  #: [l, l] [1/kg]
    bias: np.ndarray  #: acceleration away from the support without forces, [l] [m/s^2]

    def __len__(self) -> int:
        return len(self.bias)

    def added(self, A: np.ndarray, b: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Contact problems [n] with the props appended as frictionless contacts."""
        n, k = mu.shape
        whole = 3 * (k + len(self))
        A_all, b_all = np.zeros((n, whole, whole)), np.zeros((n, whole))
        A_all[:, : 3 * k, : 3 * k], b_all[:, : 3 * k] = A, b
        A_all[:, : 3 * k, 3 * k :: 3] = self.coupling
        A_all[:, 3 * k :: 3, : 3 * k] = self.coupling.T
        A_all[:, 3 * k :: 3, 3 * k :: 3] = self.mobility
        b_all[:, 3 * k :: 3] = self.bias
        return A_all, b_all, np.concatenate([mu, np.zeros((n, len(self)))], axis=1)

    def locked(self, holding: np.ndarray, hand_A: np.ndarray, hand_b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A and b of the hand with the props of a mask [l] as rigid connections."""
        C, inverse = self.coupling[:, holding], np.linalg.pinv(self.mobility[holding][:, holding], redundant.NULL, True)
        return hand_A - C @ inverse @ C.T, hand_b - C @ inverse @ self.bias[holding]


def wrench_matrix(arms: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Wrench matrix [6, 3k] of contacts at [k, 3] from the center of mass, with axes [k, 3, 3]."""
    moment = np.cross(arms[:, None, :], frames.transpose(0, 2, 1)).transpose(0, 2, 1)
    return np.concatenate(list(np.concatenate([frames, moment], axis=1)), axis=1)


@dataclass(frozen=True, repr=False, eq=False)
class Grasp:
    """Object in contact with a hand at one instant (docs/theory/grasp-model.md).

    World axes, SI units, k contacts. Contact vectors list (n, t, o) contact by contact; n points into the object. c [N]
    is the force on the object; a = A c + b [m/s^2] is the acceleration of the object's contact point minus the hand's.
    Moments are about the object's center of mass. "Hand" means all bodies but the object: fingers, arm, table.
    """

    name: str
    geoms: list[tuple[str, str]]  #: (hand's, object's) of each contact
    points: np.ndarray  #: [k, 3] [m]
    frames: np.ndarray  #: E_j, its columns n, t, o, [k, 3, 3]
    mu: np.ndarray  #: [k]
    mass: float
    inertia: np.ndarray  #: about the center of mass, world axes, [3, 3] [kg m^2]
    com: np.ndarray  #: [3] [m]
    gravity: np.ndarray  #: [3] [m/s^2]
    spin: np.ndarray  #: angular velocity of the object, [3] [rad/s]
    applied: np.ndarray  #: (force; moment) on the object besides weight, contacts and gyroscopic moment, [6]
    hand_A: np.ndarray  #: the hand's part of A, J_h M_h^-1 J_h^T, [3k, 3k] [1/kg]
    hand_b: np.ndarray  #: minus the hand's contact accelerations without contact forces, [3k]: d of (10)
    b: np.ndarray  #: [3k]
    hand_jacobian: np.ndarray  #: [3k, degrees of freedom]
    object_jacobian: np.ndarray  #: [3k, degrees of freedom]
    props: Props  #: supports of the hand, perhaps none; not part of hand_A, hand_b, b
    notes: tuple[str, ...] = ()  #: omissions with respect to the source, and warnings

    @property
    def contact_names(self) -> list[str]:
        """Hand geom of each contact, numbered if it touches more than once."""
        hands = [hand for hand, _ in self.geoms]
        seen = [hands[: j + 1].count(hand) for j, hand in enumerate(hands)]
        return [f"{hand} {n}" if hands.count(hand) > 1 else hand for hand, n in zip(hands, seen, strict=True)]

    @property
    def W(self) -> np.ndarray:
        """Wrench matrix (7): wrench (force; moment) of contact forces, [6, 3k]."""
        return wrench_matrix(self.points - self.com, self.frames)

    @property
    def A(self) -> np.ndarray:
        """[3k, 3k] [1/kg], (11)."""
        return self.problem()[0]

    @property
    def radius(self) -> float:
        """Radius of gyration rho [m], rho^2 = tr I / 3m; scales moments to forces."""
        return float(np.sqrt(np.trace(self.inertia) / (3 * self.mass)))

    @property
    def weight(self) -> np.ndarray:
        """[3] [N]"""
        return self.mass * self.gravity

    @property
    def gyroscopic(self) -> np.ndarray:
        """-omega x I omega, [3] [N m]"""
        return -np.cross(self.spin, self.inertia @ self.spin)

    @property
    def object_mobility(self) -> np.ndarray:
        """Inverse of the object's mass matrix (7), [6, 6]."""
        mobility = np.zeros((6, 6))
        mobility[:3, :3] = np.eye(3) / self.mass
        mobility[3:, 3:] = np.linalg.inv(self.inertia)
        return mobility

    def problem(
        self, mass: ArrayLike | None = None, friction: ArrayLike | None = None, wrench: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Contact problems of this grasp with changed inputs.

        Parameters
        ----------
        mass : array_like [...], optional
            Mass of the object [kg]; the inertia follows in proportion.
        friction : float or array_like [..., k], optional
            Friction coefficients.
        wrench : array_like [..., 6], optional
            Additional (force; moment) on the object [N; N m].

        Returns
        -------
        A, b, mu : arrays [..., 3k, 3k], [..., 3k], [..., k]
            As in garra.contact.solve(), without the props.
        """
        factor = numbers("mass", self.mass if mass is None else mass)[..., None] / self.mass
        added = np.zeros(6) if wrench is None else numbers("wrench", wrench)
        W = self.W
        give = self.object_mobility @ W
        # Weight and gyroscopic moment are proportional to the mass and leave the acceleration unchanged;
        # `applied` is not.
        b = self.b + ((self.applied + added) / factor - self.applied) @ give
        A = self.hand_A + (W.T @ give) / factor[..., None]
        mu = self.mu if friction is None else np.broadcast_to(numbers("friction", friction), b.shape[:-1] + self.mu.shape)
        return A, b, np.array(mu)

    @accept_old
    def solve(self, tolerance: float = 1e-9) -> Solution:
        """Solves the contact forces of this instant.

        Parameters
        ----------
        tolerance : float
            Converged: residual <= tolerance.

        Returns
        -------
        Solution
        """
        A, b, mu = self.problem()
        found, _ = self._solved(A[None], b[None], mu[None], positive("tolerance", tolerance))
        c, a = found.c[0].reshape(-1, 3), found.a[0].reshape(-1, 3)
        if found.converged[0]:
            breaks, slips = contact_motion(found.a[0], b)
            state = np.select([breaks, slips], ["open", "slip"], "stick").tolist()
        else:
            state = ["unknown"] * len(mu)
        return Solution(
            forces=c,
            forces_world=np.einsum("jxi,ji->jx", self.frames, c),
            acceleration=a,
            state=state,
            residual=float(found.residual[0]),
            converged=bool(found.converged[0]),
        )

    def _solved(self, A: np.ndarray, b: np.ndarray, mu: np.ndarray, tolerance: float) -> tuple[redundant.Forces, np.ndarray]:
        """Forces at the contacts, problems [n], and which props hold, [n, l]."""
        width = b.shape[-1]
        found, holding = self._solved_with_props(*self.props.added(A, b, mu), tolerance)
        return replace(found, c=found.c[:, :width], a=found.a[:, :width]), holding

    def _solved_with_props(
        self, A: np.ndarray, b: np.ndarray, mu: np.ndarray, tolerance: float
    ) -> tuple[redundant.Forces, np.ndarray]:
        """As _solved(), for problems with the props as contacts, with the forces of the props."""
        found = redundant.solve(A, b, mu, tolerance)
        breaks, _ = contact_motion(found.a, b)
        return found, ~breaks[:, len(self.mu) :]

    def grazing(self) -> np.ndarray:
        """Mask [k] of grazing contacts: no forces that leave the object at rest press there with 1 % of the weight. No
        contact is grazing if no forces leave the object at rest."""
        A, b, mu = self.props.added(*(part[None] for part in self.problem()))
        found, _ = self._solved_with_props(A, b, mu, 1e-9)
        c = np.where(found.converged[:, None], found.c, 0)
        least, k = 0.01 * float(np.linalg.norm(self.weight)), len(self.mu)
        light = np.flatnonzero(c[0, : 3 * k : 3] < least)
        asked = np.zeros((len(light) + 1, mu.shape[1]))  # the last one asks for no force
        asked[np.arange(len(light)), light] = least
        every = [np.broadcast_to(x, (len(asked), *x.shape[1:])) for x in (A, b, mu, c)]
        answer = contact.can_rest(*every[:3], ACCELERATION, c=every[3], least_force=asked).status
        out = np.zeros(k, bool)
        out[light] = (answer[:-1] == contact.IMPOSSIBLE) & (answer[-1] == contact.POSSIBLE)
        return out

    def settling(self) -> float:
        """Acceleration of the object's center of mass under the forces of solve() [m/s^2]; NaN if unsolved."""
        forces = self.W @ self.solve().forces.ravel() + self.applied
        return float(np.linalg.norm(self.gravity + forces[:3] / self.mass))

    def examined(self) -> Grasp:
        """Copy with notes on grazing contacts and on an object that is not at rest."""
        notes = list(self.notes)
        grazing = [f"{h} on {o}" for (h, o), grazes in zip(self.geoms, self.grazing(), strict=True) if grazes]
        if grazing:
            notes.append(
                f"{len(self.mu)} contacts, {len(grazing)} grazing: no forces press there with 1 % of the weight "
                f"({', '.join(grazing)})"
            )
        if (speeding := self.settling()) > ACCELERATION:
            notes.append(f"{self.name} accelerates with {speeding:.2g} m/s^2: let it settle first")
        return replace(self, notes=tuple(notes))

    def propped(self) -> tuple[np.ndarray, np.ndarray]:
        """hand_A and hand_b with the active props of this instant as rigid connections."""
        if not self.props:
            return self.hand_A, self.hand_b
        A, b, mu = self.problem()
        holding = self._solved(A[None], b[None], mu[None], 1e-9)[1][0]
        return self.props.locked(holding, self.hand_A, self.hand_b)

    def imbalance(
        self,
        mass: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
        holding: ArrayLike | None = None,
        touching: ArrayLike | None = None,
    ) -> np.ndarray:
        """Unbalanced part of the wrench on the object under the command, relative to the whole wrench (23).

        The hand's torques exert the forces f of A_h f + d = 0 on contacts that do not move. These forces are not unique if the
        hand cannot move along some contact directions (A_h singular: a table, a slider's sides, fewer joints than contact
        directions). The structure of the hand then takes any force, and the f of least imbalance counts. Friction cones
        are not checked here, but by the contact solve and `is_resisted`.

        Parameters
        ----------
        mass : array_like [...], optional
            Mass of the object [kg].
        wrench : array_like [..., 6], optional
            Additional (force; moment) on the object [N; N m].
        holding : array_like [l], optional
            Mask of the props that are part of the structure; default: all.
        touching : array_like [k], optional
            Mask of the contacts that take part; default: all.

        Returns
        -------
        array [...]
        """
        held = np.ones(len(self.props), bool) if holding is None else np.asarray(holding, bool)
        rows = np.repeat(np.ones(len(self.mu), bool) if touching is None else np.asarray(touching, bool), 3)
        hand_A, hand_b = self.props.locked(held, self.hand_A, self.hand_b)
        hand_A, hand_b, W = hand_A[rows][:, rows], hand_b[rows], self.W[:, rows]
        factor = numbers("mass", self.mass if mass is None else mass)[..., None] / self.mass
        added = np.zeros(6) if wrench is None else numbers("wrench", wrench)
        scale = np.array([1, 1, 1, *[1 / self.radius] * 3])
        rest = (factor * np.concatenate([np.zeros(3), self.gyroscopic]) + self.applied + added) * scale
        weight = factor * np.concatenate([self.weight, np.zeros(3)])
        values, vectors = np.linalg.eigh(hand_A)
        moves = values > redundant.NULL * values.max(initial=0)
        pressed = -vectors[:, moves] @ (vectors[:, moves].T @ hand_b / values[moves])
        structure = scale[:, None] * (W @ vectors[:, ~moves])
        left = (scale * (W @ pressed)) + rest + weight
        reached, size, _ = np.linalg.svd(structure, full_matrices=False)
        reached = reached[:, size > redundant.NULL * max(size.max(initial=0), 1.0)]
        left = left - (left @ reached) @ reached.T
        whole = np.linalg.norm(weight, axis=-1) + np.linalg.norm(rest, axis=-1)
        return np.where(whole > 0, np.linalg.norm(left, axis=-1) / np.where(whole > 0, whole, 1), 0.0)

    def robustness(
        self,
        friction: Any = None,
        mass: Any = None,
        force: Any = None,
        torque: Any = None,
        *,
        samples: int = 10000,
        seed: int = 1,
        imbalance: float = 0.5,
        acceleration: float = ACCELERATION,
        force_limit: Any = None,
    ) -> Robustness:
        """Estimates the probability that the grasp holds (docs/theory/monte-carlo.md).

        A sample is held if forces within the cones and limits leave every contact at rest, such forces balance the
        wrench, and the command leaves at most `imbalance` of it. Contacts that open take no part.

        Parameters
        ----------
        friction : float, array_like [k] or distribution, optional
            Friction coefficients (`garra.uniform`, `normal`, `scale`).
        mass : float or distribution, optional
            Mass of the object [kg], or `garra.scale` of a factor; the inertia follows.
        force, torque : array_like [3] or Ball, optional
            Disturbance on the object at its center of mass, world axes [N], [N m].
        samples : int
            Number of samples.
        seed : int
            Seed of the draws.
        imbalance : float
            Largest fraction of the wrench that the command may leave unbalanced.
        acceleration : float
            Largest acceleration of a contact at rest; a contact that separates faster opens [m/s^2].
        force_limit : float or array_like [k], optional
            Largest normal forces [N].

        Returns
        -------
        Robustness

        Raises
        ------
        ValueError
            For inconsistent shapes, negative friction or a mass that is not positive.
        garra.UsageError
            For options out of range.
        """
        k = len(self.mu)
        samples, seed = arguments.whole("samples", samples, 1), check_seed(seed)
        # One random stream per input: draws of an input do not depend on other inputs.
        rngs = [np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, i]))) for i in range(4)]
        mu = _drawn(friction, self.mu, rngs[0], samples, "friction")
        masses = _drawn(mass, np.array([self.mass]), rngs[1], samples, "mass")[:, 0]
        zero = np.zeros(3)
        push = _drawn(force, zero, rngs[2], samples, "force"), _drawn(torque, zero, rngs[3], samples, "torque")
        if not (mu >= 0).all() or not (masses > 0).all():
            raise ValueError("friction must not be negative and the mass must be positive")
        wrench = np.concatenate(push, axis=1)
        A, b, mu_all = self.props.added(*self.problem(masses, wrench=wrench)[:2], mu)
        found, holding = self._solved_with_props(A, b, mu_all, 1e-9)
        limit = np.full(k, np.inf) if force_limit is None else np.broadcast_to(numbers("force_limit", force_limit), k)
        whole = wrench + self.applied + (masses / self.mass)[:, None] * np.concatenate([self.weight, self.gyroscopic])
        opens, rests = _at_rest(A, b, mu_all, found, limit, arguments.positive("acceleration", acceleration))
        opens = opens[:, :k]
        all_touch = np.ones(k, bool)
        balance, left = self._settled(masses, wrench, whole, mu, limit, holding, all_touch)
        held_balance, held_left = balance.copy(), left.copy()
        for mask in np.unique(opens[opens.any(axis=1) & (rests > 0)], axis=0):
            these = np.flatnonzero((opens == mask).all(axis=1) & (rests > 0))
            held_balance[these], held_left[these] = self._settled(
                masses[these], wrench[these], whole[these], mu[these], limit, holding[these], ~mask
            )
        carried = held_left <= imbalance
        breaks, slips = (moves[:, :k] for moves in contact_motion(found.a, b))
        solved = found.converged
        return Robustness(
            title=self.name,
            seed=seed,
            friction=mu,
            mass=masses,
            wrench=wrench,
            outcome=outcome_of(
                held=solved & (rests > 0) & (held_balance > 0) & carried,
                undecided=solved & ((rests == 0) | (rests > 0) & (held_balance == 0) & carried),
                solved=solved,
                breaks=breaks,
                slips=slips,
                balance=balance,
                carried=left <= imbalance,
            ),
            sticks=solved & ~(breaks | slips).any(axis=-1),
            solved=solved,
            balance=balance,
            imbalance=left,
            force=found.c[:, : 3 * k].reshape(samples, k, 3),
            contacts=self.contact_names,
            moves=breaks | slips,
            opens=opens,
            non_unique=found.several,
        )

    def _settled(
        self,
        masses: np.ndarray,
        wrench: np.ndarray,
        whole: np.ndarray,
        mu: np.ndarray,
        limit: np.ndarray,
        holding: np.ndarray,
        touching: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Decision whether forces of the contacts in the mask [k] balance the wrench (1, -1, 0: undecided), and the
        imbalance of the command, samples [n]."""
        left = np.zeros(len(masses))
        for props in np.unique(holding, axis=0):
            these = (holding == props).all(axis=1)
            left[these] = self.imbalance(masses[these], wrench[these], props, touching)
        if not touching.any():
            return np.where(whole.any(axis=1), -1, 1), left
        W = self.W[:, np.repeat(touching, 3)]
        answer = contact.is_resisted(W, whole, mu[:, touching], limit[touching], length=self.radius).status
        return np.where(answer == contact.POSSIBLE, 1, np.where(answer == contact.IMPOSSIBLE, -1, 0)), left

    def __repr__(self) -> str:
        lines = [f"Grasp of {self.name}: {len(self.mu)} contacts, {self.mass:.4g} kg"]
        lines += [f"  {h} on {o}, mu {m:.4g}" for (h, o), m in zip(self.geoms, self.mu, strict=True)]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])


def _at_rest(
    A: np.ndarray, b: np.ndarray, mu: np.ndarray, found: redundant.Forces, limit: np.ndarray, acceleration: float
) -> tuple[np.ndarray, np.ndarray]:
    """Mask of opening contacts [n, k], and whether the others are at rest [n]: 1, -1, 0 (undecided).

    Contacts are at rest if none is faster with the forces found, or if some forces leave them at rest by the threshold
    of contact states. Contacts without an entry in `limit` are props.
    """
    a = found.a.reshape(*mu.shape, 3)
    limits = np.concatenate([limit, np.full(mu.shape[1] - len(limit), np.inf)])
    opens = a[..., 0] > acceleration
    with np.errstate(invalid="ignore"):
        slow = (np.linalg.norm(a, axis=-1) <= acceleration) & (found.c[:, ::3] <= (1 + 1e-6) * limits)
    rests = np.where((slow | opens).all(axis=1), 1, 0)
    ask = np.flatnonzero(found.converged & (rests == 0))
    if len(ask):
        least = np.minimum(MOTION * np.abs(b[ask]).max(axis=-1), acceleration)[:, None]
        answer = contact.can_rest(
            A[ask] / least[..., None], b[ask] / least, mu[ask], 1, c=found.c[ask], force_limit=limits, left_out=opens[ask]
        ).status
        rests[ask] = np.where(answer == contact.POSSIBLE, 1, np.where(answer == contact.IMPOSSIBLE, -1, 0))
    return opens, rests


def _drawn(given: Any, nominal: np.ndarray, rng: np.random.Generator, samples: int, name: str) -> np.ndarray:
    """[samples, width of nominal] of a number, an array of that width, a distribution, or None: nominal."""
    width = len(nominal)
    if isinstance(given, DISTRIBUTIONS):
        values = given.draw(rng, samples, width)
        values = values * nominal if given.relative else values
    else:
        values = nominal if given is None else numbers(name, given)
        if not np.isfinite(values).all():
            raise ValueError(f"{name}: not finite")
    vector = name in ("force", "torque")
    if vector and given is not None and np.ndim(values) == 0:
        raise ValueError(f"{name}: a vector [3] or garra.ball(radius) is needed, not the number {given}")
    if np.ndim(values) > 0 and np.shape(values)[-1] != width or np.ndim(values) > 1 and len(values) != samples:
        shapes = "[3] or garra.ball(radius)" if vector else f"a number, [{width}] or a distribution"
        raise ValueError(f"{name}: expected {shapes}, got an array of shape {list(np.shape(values))}")
    return np.array(np.broadcast_to(values, (samples, width)))
