"""Grasp at one instant from any source: contact problem, forces and robustness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from garra import _core, contact
from garra.arguments import check_seed, numbers, positive, real, vector, whole
from garra.grasp.candidates import NULL, STATES, GraspSet
from garra.grasp.drawing import Solid, draw_grasp, model_solids
from garra.grasp.wrench import wrench_matrix
from garra.grasp.robustness import ACCELERATION, OUTCOMES, Robustness
from garra.grasp.set_options import as_tuple, constant, is_drawn, split_friction
from garra.renamed import accept_old
from garra.study.distributions import Ball
from garra.study.progress import Progress, count_listener

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d import Axes3D


MOST_CHANGES = 64  # of the props that hold in a sample
MOTION = 1e-6  # share of the largest acceleration without forces: a prop that is passed more slowly is not passed


@dataclass(frozen=True, repr=False, eq=False)
class Solution:
    """Certified forces of k contacts on the object.

    Examples
    --------
    >>> from garra.files import data
    >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
    >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
    >>> grasp.solve().forces[:, 0].round(2), grasp.solve().state
    (array([9.81]), ['stick'])
    """

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

    Law: s = bias + coupling^T c + mobility p >= 0, p >= 0, s p = 0. The contacts' a grows by coupling p.

    Examples
    --------
    >>> from garra.grasp.hand import Props
    >>> len(Props(coupling=np.zeros((9, 1)), mobility=np.eye(1), bias=np.zeros(1)))
    1
    """

    coupling: np.ndarray  #: [3k, l]
    mobility: np.ndarray  #: [l, l] [1/kg]
    bias: np.ndarray  #: acceleration away from the support without forces, [l] [m/s^2]

    def __len__(self) -> int:
        return len(self.bias)

    def wrong(self, held: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Props of the masks `held` that would pull, and others that would be passed.

        Parameters
        ----------
        held : array of bool [n, l]
            Props that hold.
        c : array [n, k, 3]
            Contact forces [N].

        Returns
        -------
        array of bool [n, l]

        Examples
        --------
        >>> from garra.grasp.hand import Props
        >>> props = Props(coupling=np.zeros((3, 1)), mobility=np.eye(1), bias=np.array([2.0]))
        >>> props.wrong(np.array([[True], [False]]), np.zeros((2, 1, 3)))
        array([[ True],
               [False]])
        """
        free = self.bias + c.reshape(len(c), -1) @ self.coupling
        p = np.zeros_like(free)
        for mask in np.unique(held, axis=0) if len(self) else ():
            these = np.ix_((held == mask).all(axis=1), mask)
            p[these] = -free[these] @ np.linalg.pinv(self.mobility[mask][:, mask], NULL, True)
        passed = free + p @ self.mobility < -MOTION * np.abs(free).max(axis=1, initial=0, keepdims=True)
        return np.where(held, p < 0, passed)


@dataclass(frozen=True, eq=False)
class Torsion:
    """Moments about the normals of k soft contacts, for the samples: |(c_t, c_o, moment / radius)| <= mu c_n.

    Examples
    --------
    >>> from garra.grasp.hand import Torsion
    >>> Torsion(radius=np.array([0.005]), hand_A=np.eye(4), hand_b=np.zeros(4)).radius
    array([0.005])
    """

    radius: np.ndarray  #: [k] [m]; 0: a point
    hand_A: np.ndarray  #: [4k, 4k]: as Grasp.hand_A, then radius times the turns about the normals [1/kg]
    hand_b: np.ndarray  #: [4k]: as Grasp.hand_b, then radius times the turns [m/s^2]


@dataclass(frozen=True, repr=False, eq=False)
class Grasp:
    """Object in contact with a hand at one instant (docs/theory/grasp-model.md).

    World axes, SI units, k contacts. Contact vectors list (n, t, o) contact by contact; n points into the object. c [N]
    is the force on the object; a = A c + b [m/s^2] is the acceleration of the object's contact point minus the hand's.
    Moments are about the object's center of mass. "Hand" means all bodies but the object: fingers, arm, table.

    Examples
    --------
    An object of 1 kg stands on three points of the arm's flange.

    >>> from garra.files import data
    >>> tray = [[0.04, 0, 1.31], [-0.02, 0.03, 1.31], [-0.02, -0.03, 1.31]]
    >>> load = {"mass": 1.0, "friction": 0.5, "force": 3.27, "points": tray}
    >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"] * 3, {}, [[0, 0, 1]] * 3, **load)
    >>> grasp.contact_names, grasp.W.shape, grasp.A.shape, grasp.weight
    (['end_effector 1', 'end_effector 2', 'end_effector 3'], (6, 9), (9, 9), array([ 0.  ,  0.  , -9.81]))
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
    drift: np.ndarray  #: part of b from velocities alone, [3k] [m/s^2]
    hand_jacobian: np.ndarray  #: [3k, degrees of freedom]
    object_jacobian: np.ndarray  #: [3k, degrees of freedom]
    props: Props  #: supports of the hand, perhaps none; not part of hand_A, hand_b
    notes: tuple[str, ...] = ()  #: omissions with respect to the source, and warnings
    state: Any = None  #: of from_mujoco(): model, positions, and bodies of the object, for pictures
    torsion: Torsion | None = None  #: of soft contacts, of which A and b are those of points

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
    def b(self) -> np.ndarray:
        """[3k] [m/s^2], (11)."""
        load = self.applied + np.concatenate([self.weight, self.gyroscopic])
        return self.hand_b + self.drift + self.W.T @ self.object_mobility @ load

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
            As in garra.contact.solve(), without the props. A has the leading axes of mass only.

        Raises
        ------
        ValueError, TypeError
            For inconsistent shapes or no numbers.
        garra.UsageError
            For a mass that is not positive.

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> A, b, mu = grasp.problem(mass=[0.5, 1.0])
        >>> garra.contact.solve(A, b, mu).c.shape
        (2, 3)
        """
        mass = numbers("mass", self.mass if mass is None else mass)
        if not (mass > 0).all():
            raise _core.UsageError(f"mass: expected positive numbers, got {mass.min()}")
        mu = numbers("friction", self.mu if friction is None else friction)
        added = np.zeros(6) if wrench is None else numbers("wrench", wrench)
        lead = np.broadcast_shapes(mass.shape, added.shape[:-1], mu.shape[:-1])
        factor = np.broadcast_to(mass, lead)[..., None] / self.mass
        W = self.W
        give = self.object_mobility @ W
        # Weight and gyroscopic moment are proportional to the mass and leave the acceleration unchanged;
        # `applied` is not.
        b = self.b + ((self.applied + added) / factor - self.applied) @ give
        A = self.hand_A + (W.T @ give) / (mass[..., None, None] / self.mass)
        return A, b, np.array(np.broadcast_to(mu, lead + self.mu.shape))

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

        Raises
        ------
        garra.UsageError
            For a tolerance that is not positive.

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> solution = grasp.solve()
        >>> solution.converged, solution.forces_world[:, 2].round(2)
        (True, array([9.81]))
        """
        rows = self._samples({"samples": 1, "tolerance": positive("tolerance", tolerance)})
        c, solved = rows["force"][0], not np.isnan(rows["sticks"][0])
        return Solution(
            forces=c,
            forces_world=np.einsum("jxi,ji->jx", self.frames, c),
            acceleration=rows["acceleration"][0],
            state=[STATES[int(s)] if solved else "unknown" for s in rows["state"][0]],
            residual=float(rows["residual"][0]),
            converged=solved,
        )

    def _samples(
        self, study: dict[str, Any], show: Callable[[int], object] | None = None, **others: Any
    ) -> dict[str, np.ndarray]:
        """Samples by the program (`rank`), one row each. Props hold in samples in which they press.

        The props that hold change one at a time, the first wrong one (K. G. Murty, Linear Algebra and its Applications
        5, 1972, 65), each time with the same draws. `show`: of the first time. `others`: as in GraspSet.from_arrays().
        """
        study = {"interior_grasp": True, **study}

        def samples(mask: np.ndarray, show: Callable[[int], object] | None = None) -> np.ndarray:
            one = GraspSet.from_grasps([self.locked(mask)], **others)
            return _core.grasp_set_samples(one.first, one.arrays, study, show)

        held = np.ones((study["samples"], len(self.props)), bool)
        rows, left = samples(held[0], show), np.arange(len(held))
        for _ in range(MOST_CHANGES):
            wrong = self.props.wrong(held[left], _columns(rows[left])["force"])
            left, wrong = left[wrong.any(axis=1)], wrong[wrong.any(axis=1)]
            if not len(left):
                break
            held[left, wrong.argmax(axis=1)] ^= True
            for mask in np.unique(held[left], axis=0):
                these = left[(held[left] == mask).all(axis=1)]
                rows[these] = samples(mask)[these]
        columns = _columns(rows)
        columns["outcome"][left] = OUTCOMES.index("unsolved")
        for name in ("sticks", "resisted", "residual", "force", "acceleration"):
            columns[name][left] = np.nan
        return columns | {"held": held}

    def grazing(self) -> np.ndarray:
        """Contacts at which no forces that leave the object at rest press with 1 % of the weight.

        No contact is grazing if no forces leave the object at rest.

        Returns
        -------
        array of bool [k]

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> grasp.grazing()
        array([False])
        """
        propped, c = self.propped(), np.nan_to_num(self.solve().forces.ravel())
        A, b, mu = propped.problem()
        least = 0.01 * float(np.linalg.norm(self.weight))
        light = np.flatnonzero(c[::3] < least)
        asked = np.zeros((len(light) + 1, len(mu)))  # the last one asks for no force
        asked[np.arange(len(light)), light] = least
        every = [np.broadcast_to(x, (len(asked), *x.shape)) for x in (A, b, mu, c)]
        answer = contact.can_rest(*every[:3], ACCELERATION, c=every[3], least_force=asked).status
        out = np.zeros(len(mu), bool)
        out[light] = (answer[:-1] == contact.IMPOSSIBLE) & (answer[-1] == contact.POSSIBLE)
        return out

    def settling(self) -> float:
        """Acceleration of the object's center of mass under the forces of solve().

        Returns
        -------
        float
            [m/s^2], NaN if unsolved.

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> grasp.settling() < 1e-6
        True
        """
        forces = self.W @ self.solve().forces.ravel() + self.applied
        return float(np.linalg.norm(self.gravity + forces[:3] / self.mass))

    def examined(self) -> Grasp:
        """Copy with notes on grazing contacts and on an object that is not at rest.

        Returns
        -------
        Grasp

        Examples
        --------
        >>> from garra.files import data
        >>> bent = {"joint_4": 0.3}
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 0.0}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], bent, [[0, 0, 1]], **load)
        >>> grasp.examined().notes
        ('object accelerates with 1.4 m/s^2: let it settle first',)
        """
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

    def locked(self, held: ArrayLike) -> Grasp:
        """Copy with some props as rigid connections and without the others.

        Parameters
        ----------
        held : array_like of bool [l]
            Props that stay.

        Returns
        -------
        Grasp

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> len(grasp.props), len(grasp.locked([]).props)
        (0, 0)
        """
        C, D = self.props.coupling[:, held], self.props.mobility[held][:, held]
        give = C @ np.linalg.pinv(D, NULL, True)
        none = Props(np.zeros((len(C), 0)), np.zeros((0, 0)), np.zeros(0))
        return replace(
            self, hand_A=self.hand_A - give @ C.T, hand_b=self.hand_b - give @ self.props.bias[held], props=none
        )

    def propped(self) -> Grasp:
        """Copy with the active props of this instant as rigid connections.

        Returns
        -------
        Grasp

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> len(grasp.propped().props)
        0
        """
        return self.locked(self._samples({"samples": 1})["held"][0]) if self.props else self

    def imbalance(self, mass: ArrayLike | None = None, wrench: ArrayLike | None = None) -> np.ndarray:
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

        Returns
        -------
        array [...]

        Raises
        ------
        garra.UsageError
            For a mass that is not positive, or for inconsistent shapes.

        Examples
        --------
        >>> from garra.files import data
        >>> bent = {"joint_4": 0.3}
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], bent, [[0, 0, 1]], **load)
        >>> grasp.imbalance(mass=[0.5, 1.0]).round(3)
        array([1., 0.])
        """

        def one(m: Any, w: np.ndarray) -> float:
            return self._samples({"samples": 1, **_mass(float(m)), "wrenches": [w.tolist()]})["imbalance"][0]

        wrenches = np.zeros(6) if wrench is None else numbers("wrench", wrench)
        return np.vectorize(one, signature="(),(w)->()")(numbers("mass", self.mass if mass is None else mass), wrenches)

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
        method: str = "auto",
        progress: Progress = False,
    ) -> Robustness:
        """Estimates the probability that the grasp holds (docs/theory/monte-carlo.md).

        The samples are those of `rank([grasp])` with the same seed. Props hold in samples in which they press.

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
        method : str
            Method for the contact problems: one of garra.contact.METHODS but "lemke".
        progress : bool or callable
            True: a line with the samples that are done and the seconds left. A function receives {"samples": ...,
            "of": ..., "seconds": ..., "seconds_left": ...}.

        Returns
        -------
        Robustness

        Raises
        ------
        ValueError
            For inconsistent shapes, negative friction or a mass that is not positive.
        garra.UsageError
            For options out of range.

        Examples
        --------
        >>> from garra.files import data
        >>> load = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
        >>> grasp = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **load)
        >>> found = grasp.robustness(garra.uniform(0.1, 0.5), force=garra.ball(2.0), samples=100)
        >>> found.p_held, found.outcomes["not_resisted"]
        (0.89, 11)
        """
        mu = self.mu if friction is None or is_drawn(friction) else coefficients(friction, len(self.mu))
        common, own, is_factor = split_friction(friction)
        (push, radius), (turn, torque_radius) = _disturbance("force", force), _disturbance("torque", torque)
        study = {
            "friction": common,
            "per_contact_friction_factor": own,
            "friction_is_factor": is_factor,
            **_mass(mass),
            "force_radius": radius,
            "torque_radius": torque_radius,
            "wrenches": [[*push, *turn]],
            "held_imbalance": real("imbalance", imbalance),
            "held_acceleration": positive("acceleration", acceleration),
            "samples": whole("samples", samples, 1),
            "friction_samples": 0,
            "method": str(method),
            "seed": check_seed(seed),
        }
        show = count_listener(progress, study["samples"], "samples")
        rows = replace(self, mu=mu)._samples(study, show, force_limit=force_limit)
        return Robustness(
            title=self.name,
            seed=seed,
            contacts=self.contact_names,
            outcome=np.array(OUTCOMES)[rows["outcome"].astype(int)],
            sticks=rows["sticks"] == 1,
            solved=~np.isnan(rows["sticks"]),
            balance=np.nan_to_num(2 * rows["resisted"] - 1).astype(int),
            opens=rows["acceleration"][..., 0] > acceleration,
            moves=rows["state"] > 0,
            non_unique=rows["non_unique"] == 1,
            **{name: rows[name] for name in ("friction", "mass", "wrench", "imbalance", "force")},
        )

    def plot(self, ax: Axes3D | None = None) -> Axes3D:
        """Plots object, hand, contacts and friction cones of a grasp of from_mujoco(), in world axes.

        Parameters
        ----------
        ax : matplotlib 3-D axes, optional
            Axes; default: new ones.

        Returns
        -------
        matplotlib 3-D axes

        Examples
        --------
        >>> garra.grasp.from_mujoco(model, data, object="cube").plot()  # doctest: +SKIP
        """
        return draw_grasp(ax, *self._picture(0))

    def _picture(self, _: int) -> tuple[list[Solid], np.ndarray, np.ndarray, np.ndarray]:
        """Bodies, contact points, normals and friction."""
        solids = [] if self.state is None else model_solids(*self.state)
        return solids, self.points, self.frames[:, :, 0], self.mu

    def __repr__(self) -> str:
        lines = [f"Grasp of {self.name}: {len(self.mu)} contacts, {self.mass:.4g} kg"]
        lines += [f"  {h} on {o}, mu {m:.4g}" for (h, o), m in zip(self.geoms, self.mu, strict=True)]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])


def _columns(rows: np.ndarray) -> dict[str, np.ndarray]:
    """Columns [n], [n, 6], [n, k] and [n, k, 3] of rows by `grasp::samples` (garra/grasp_set.hpp)."""
    names = ("outcome", "mass", "residual", "sticks", "resisted", "imbalance", "non_unique")
    each = rows[:, 13:].reshape(len(rows), -1, 8)
    return dict(zip(names, rows.T, strict=False)) | {
        "wrench": rows[:, 7:13],
        "friction": each[..., 0],
        "state": each[..., 1],
        "force": each[..., 2:5],
        "acceleration": each[..., 5:],
    }


def coefficients(friction: Any, k: int) -> np.ndarray:
    """Friction coefficients of a number or an array.

    Parameters
    ----------
    friction : float or array_like [k]
        Coefficients.
    k : int
        Number of contacts.

    Returns
    -------
    array [k]

    Raises
    ------
    ValueError
        For another shape or a negative number.

    Examples
    --------
    >>> from garra.grasp.hand import coefficients
    >>> coefficients(0.5, 3)
    array([0.5, 0.5, 0.5])
    """
    mu = numbers("friction", friction)
    if mu.shape not in ((), (k,)) or not (mu >= 0).all():
        raise ValueError(f"friction: expected a number, [{k}] not negative or a distribution, got {mu.tolist()}")
    return np.broadcast_to(mu, k).copy()


def _mass(given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    drawn = as_tuple(given, 0.0) if is_drawn(given) else constant(positive("mass", given))
    return {"mass": drawn, "mass_is_factor": getattr(given, "relative", False)}


def _disturbance(name: str, given: Any) -> tuple[list[float], float]:
    """Constant part [3], and the radius of the ball of the drawn part."""
    if isinstance(given, Ball):
        return [0.0] * 3, given.radius
    return [0.0] * 3 if given is None else vector(name, given, 3), 0.0
