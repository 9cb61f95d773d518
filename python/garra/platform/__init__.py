"""Six-legged platforms (6-UPS, Stewart; docs/theory/platform.md), the report of their studies and the page of one
motion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from garra.summary import Summary, is_elsewhere

_TAILS = {"position": (3,), "quaternion": (4,), "lengths": (6,)}

if TYPE_CHECKING:
    from garra.platform.dynamics import ForwardDynamics, InverseDynamics, Trajectories


# What the bits of `mask` mean, six legs each.
_LIMITS = (
    "leg too short", "leg too long", "universal joint beyond its cone", "spherical joint beyond its cone", "leg touches another"
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class InverseKinematics(Summary):
    """Leg lengths of a batch of poses; [...] are the leading axes.

    Examples
    --------
    >>> p = garra.platform.load("trepa_like")
    >>> r = p.inverse_kinematics(*p.home)
    >>> garra.platform.STATUS[r.status], int(r.mask), round(float(r.condition), 3)
    ('converged', 0, 5.341)
    """

    _statuses = "pose_statuses"

    def _outcome(self) -> str:
        said = super()._outcome()
        if is_elsewhere(self.mask) or not (mask := np.asarray(self.mask)).any():
            return said
        broken = [words for k, words in enumerate(_LIMITS) if (mask >> 6 * k & 63).any()]
        poses = f" by {int((mask != 0).sum()):,} poses" if mask.ndim else ""
        return f"{said}; limits broken{poses}: {', '.join(broken)}"

    lengths: Any
    """[..., 6] between joint centers [m]"""
    condition: Any
    """[...] of the scaled Jacobian"""
    sigma_min: Any
    """[...] its smallest singular value"""
    determinant: Any
    """[...] of the unscaled Jacobian; its sign distinguishes assembly modes"""
    stroke_margin: Any
    """[..., 6] to the nearer end of the stroke; negative beyond it [m]"""
    mask: Any
    """[...] limits that are violated, as bits (docs/theory/platform.md)"""
    status: Any
    """[...] index in STATUS"""


@dataclass(frozen=True, repr=False)
class ForwardKinematics(Summary):
    """Poses of a batch of leg lengths; [...] are the leading axes.

    Examples
    --------
    >>> p = garra.platform.load("trepa_like")
    >>> r = p.forward_kinematics(np.full(6, 1.15), certify=True)
    >>> garra.platform.STATUS[r.status], bool(r.uniqueness > 0)
    ('certified', True)
    """

    _statuses = "pose_statuses"

    position: Any
    """[..., 3] of the platform's center of mass, base axes [m]"""
    quaternion: Any
    """[..., 4] scalar first"""
    status: Any
    """[...] index in STATUS"""
    iterations: Any
    residual: Any
    """[...] largest |length - given| [m]"""
    sigma_min: Any
    """[...] smallest singular value of the scaled Jacobian"""
    uniqueness: Any
    """[...] with certify: no other pose with these lengths in this radius [m]; 0: none proven"""
    _modes: Callable[..., Modes] | None = field(default=None, repr=False, compare=False)

    def modes(self, *, starts: int = 512, seed: int = 1) -> Modes:
        """Platform.modes() of these lengths, for a single set of lengths.

        Parameters
        ----------
        starts, seed
            As in Platform.modes().

        Returns
        -------
        Modes

        Raises
        ------
        ValueError
            For more than one set of lengths.

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> len(p.forward_kinematics(np.full(6, 1.15)).modes().found)
        16
        """
        return self._modes(starts=starts, seed=seed)


@dataclass(frozen=True, repr=False)
class Modes(Summary):
    """Assembly modes: the m poses found for one set of lengths, by height of the center of mass.

    Examples
    --------
    >>> p = garra.platform.load("trepa_like")
    >>> r = p.modes(np.full(6, 1.15))
    >>> bool((np.diff(r.position[:, 2]) >= -1e-9).all()), r.position.shape, int((r.mask == 0).sum())
    (True, (16, 3), 1)
    """

    _statuses = "pose_statuses"

    position: np.ndarray
    quaternion: np.ndarray
    status: np.ndarray
    residual: np.ndarray
    found: np.ndarray
    """[m] starts that converged to each mode; small numbers suggest that more modes exist"""
    mask: np.ndarray
    """[m] limits that are violated there, as bits: 0 within strokes, cones and clearance (docs/theory/platform.md)"""
    from_home: np.ndarray
    """[m] index in REACH: whether a path leads from the home pose to each mode, as in Platform.find_path()"""


@dataclass(frozen=True)
class PlannedPath:
    """Path between two poses that passes no singular pose: p rows. Between two rows the center of mass moves on a
    straight line and the platform turns about a fixed axis.

    Examples
    --------
    >>> p = garra.platform.load("trepa_like")
    >>> print(p.find_path([0.1, 0, 1.3], [1, 0, 0, 0]))
    reachable by 1 straight motion, 0.1803 m; smallest singular value 0.3905 at worst
    """

    reach: str
    """"reachable", "not_found" (no proof), "separate" (det J has opposite signs: every path passes a singular pose),
    "out_of_limits" (an end breaks a limit), "near_singular" (an end is)"""
    position: np.ndarray
    """[p, 3] of the center of mass, base axes [m]; no rows if none is found"""
    quaternion: np.ndarray
    """[p, 4] scalar first"""
    length: float
    """of all motions, turns counted by the characteristic length [m]"""
    sigma_min: float
    """least scaled singular value at the poses of the proof; between them it is above `near_singular`"""
    proof_steps: int
    """poses of the proof"""
    characteristic_length: float
    """[m]"""

    def __bool__(self) -> bool:
        return self.reach == "reachable"

    def __str__(self) -> str:
        if not self:
            return self.reach.replace("_", " ")
        n = len(self.position) - 1
        return (
            f"reachable by {n} straight motion{'s' * (n > 1)}, {self.length:.4g} m; smallest singular value "
            f"{self.sigma_min:.4g} at worst"
        )


@dataclass(frozen=True)
class NearestSingularPose:
    """Singular pose next to a pose. Turns count by the characteristic length.

    Examples
    --------
    >>> p = garra.platform.load("trepa_like")
    >>> print(p.nearest_singular_pose())
    singular pose 0.465009 m away: shift ...
    """

    distance: float
    """length of the motion to it [m]; 0: the pose itself is singular; infinite: none within `reach`"""
    shift: np.ndarray
    """[3] of the center of mass, base axes [m]"""
    turn: np.ndarray
    """[3] rotation vector, base axes [rad]"""
    position: np.ndarray
    """[3] of the singular pose [m]"""
    quaternion: np.ndarray
    """[4] of the singular pose, scalar first"""
    mask: int
    """limits that are violated there, as bits (docs/theory/platform.md)"""
    along_axes: np.ndarray
    """[6, 2] motions along x, y, z [m] and about x, y, z [rad] to the first singular pose: forward, backward; infinite:
    none within `reach`"""
    characteristic_length: float
    """[m]"""
    reach: float
    """longest motion that was searched [m]"""

    def __str__(self) -> str:
        if not np.isfinite(self.distance):
            return f"no singular pose within {self.reach:.4g} m"
        return f"singular pose {self.distance:.6g} m away: shift {self.shift} m, turn {self.turn} rad"


class Platform:
    """Platform of six legs. Units SI; base axes; quaternions scalar first.

    Examples
    --------
    >>> garra.platform.load("trepa_like")
    <Platform 'TREPA-like climbing platform'>
    """

    def __init__(self, core: Any) -> None:
        self._core = core

    @property
    def name(self) -> str:
        """Name of the platform."""
        return self._core.name

    @property
    def home(self) -> tuple[np.ndarray, np.ndarray]:
        """Position [3] [m] and quaternion [4] of the home pose.

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> p.home
        (array([0.  , 0.  , 1.15]), array([1., 0., 0., 0.]))
        """
        return np.array(self._core.home_position), np.array(self._core.home_quaternion)

    def describe(self) -> str:
        """Text of the platform as read, as in `garra check`.

        Returns
        -------
        str

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> print(p.describe())
        # lengths at home 1.1483 1.1483 1.1483 1.1483 1.1483 1.1483 m
        # moving mass 61 kg
        ...
        """
        return self._core.describe()

    def to_toml(self) -> str:
        """Text of a platform file that restores the same numbers.

        Returns
        -------
        str

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> print(p.to_toml())
        schema = 1
        ...
        """
        return self._core.to_toml()

    def with_tool(self, tool: Any) -> Platform:
        """The same machine for poses of a tool point, about which it turns; kinematics only, without masses.

        Parameters
        ----------
        tool : array_like [3]
            Platform frame, from the center of mass [m].

        Returns
        -------
        Platform

        Raises
        ------
        ValueError
            For another shape.
        garra.UsageError
            For a point that is not finite.

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> p.with_tool([0, 0, 0.2]).inverse_kinematics([0, 0, 1.4], [1, 0, 0, 0]).lengths.round(4)
        array([1.1967, 1.1967, 1.1967, 1.1967, 1.1967, 1.1967])
        """
        from garra.arguments import vector

        return Platform(self._core.with_tool(*vector("tool", tool, 3)))

    @classmethod
    def from_toml(cls, text: str) -> Platform:
        """Platform from the text of a platform file.

        Parameters
        ----------
        text : str
            Content of a platform file.

        Returns
        -------
        Platform

        Raises
        ------
        garra.FileError
            With line, key and remedy.

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> garra.platform.Platform.from_toml(p.to_toml())
        <Platform 'TREPA-like climbing platform'>
        """
        from garra import _core

        return cls(_core.platform_from_toml(text))

    def __reduce__(self) -> tuple[Any, ...]:
        return Platform.from_toml, (self.to_toml(),)

    def __repr__(self) -> str:
        return f"<Platform {self.name!r}>"

    def inverse_kinematics(
        self, position: Any, quaternion: Any, *, device: str = "cpu", threads: int = 0
    ) -> InverseKinematics:
        """Leg lengths of poses.

        Arrays of torch, CuPy or JAX on a GPU stay there, independent of `device` (docs/howto/gpu-arrays.md).

        Parameters
        ----------
        position : array_like [..., 3]
            Center of mass, base axes [m].
        quaternion : array_like [..., 4]
            Orientation, scalar first, of any nonzero length.
        device : str
            "cpu", "scalar", "cuda", "cuda:1".
        threads : int
            CPU threads; 0: all.

        Returns
        -------
        InverseKinematics

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> p.inverse_kinematics([0, 0, 1.2], [1, 0, 0, 0]).lengths.round(4)
        array([1.1967, 1.1967, 1.1967, 1.1967, 1.1967, 1.1967])
        """
        from garra import _core
        from garra.arguments import place
        from garra.batch import Batch, is_on_gpu
        from garra.on_gpu import compute

        if is_on_gpu(position):
            answers = dict.fromkeys(("lengths", "stroke_margin"), (6,))
            answers |= dict.fromkeys(("condition", "sigma_min", "determinant", "limit_mask", "status"), ())
            call = partial(_core.platform_inverse_on_gpu, self._core)
            there = compute(call, {"position": position, "quaternion": quaternion}, _TAILS, answers)
            return InverseKinematics(mask=there.pop("limit_mask"), **there)
        batch = Batch(("position", position, (3,)), ("quaternion", quaternion, (4,)))
        arrays = _core.platform_inverse(self._core, batch["position"], batch["quaternion"], *place(device, threads))
        return batch.result(InverseKinematics, arrays | {"mask": arrays["limit_mask"]})

    def forward_kinematics(
        self, lengths: Any, guess: tuple[Any, Any] | None = None, *, certify: bool = False, device: str = "cpu",
        threads: int = 0,
    ) -> ForwardKinematics:  # fmt: skip
        """Finds a pose with given leg lengths by Newton's method.

        "converged" means the assembly mode of the guess: found in five iterations, or at the end of a proven path.
        Arrays of torch, CuPy or JAX on a GPU stay there, independent of `device` (docs/howto/gpu-arrays.md).

        Parameters
        ----------
        lengths : array_like [..., 6]
            Between joint centers [m].
        guess : (array_like [..., 3], array_like [..., 4]), optional
            Position and quaternion of the initial guess; default: the home pose.
        certify : bool
            Prove every row by a Kantorovich test; the status says whether the proof succeeded.
        device : str
            "cpu", "scalar", "cuda", "cuda:1".
        threads : int
            CPU threads; 0: all.

        Returns
        -------
        ForwardKinematics

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> r = p.forward_kinematics(np.full(6, 1.15))
        >>> r.position.round(4) + 0.0
        array([0.    , 0.    , 1.1518])
        """
        from garra import _core
        from garra.arguments import place
        from garra.batch import Batch, is_on_gpu
        from garra.on_gpu import compute

        if is_on_gpu(lengths):
            answers = {"position": (3,), "quaternion": (4,)}
            answers |= dict.fromkeys(("residual", "sigma_min", "iterations", "status"), ())
            answers |= {"uniqueness": ()} if certify else {}
            arrays = {"lengths": lengths} | dict(zip(("position", "quaternion"), guess or (), strict=False))
            there = compute(partial(_core.platform_forward_on_gpu, self._core), arrays, _TAILS, answers, certify)
            return ForwardKinematics(**{"uniqueness": None} | there, _modes=partial(self.modes, lengths))
        position, quaternion = self.home if guess is None else guess
        batch = Batch(("lengths", lengths, (6,)), ("position", position, (3,)), ("quaternion", quaternion, (4,)))
        arrays = _core.platform_forward(
            self._core, batch["lengths"], batch["position"], batch["quaternion"], certify, *place(device, threads)
        )
        if not certify:
            arrays["uniqueness"] = None
        return batch.result(ForwardKinematics, arrays, _modes=partial(self.modes, lengths))

    def inverse_dynamics(
        self, position: Any, quaternion: Any, velocity: Any = None, acceleration: Any = None, wrench: Any = None, *,
        form: str = "minimal", device: str = "cpu", threads: int = 0,
    ) -> InverseDynamics:  # fmt: skip
        """Actuator and joint forces of given motions. Arrays on a GPU stay there.

        Parameters
        ----------
        position : array_like [..., 3]
            Center of mass, base axes [m].
        quaternion : array_like [..., 4]
            Orientation, scalar first.
        velocity, acceleration : array_like [..., 6], optional
            (v, w) and (dv/dt, dw/dt) of the center of mass, base axes; default: 0.
        wrench : array_like [..., 6], optional
            External (force at the center of mass; moment), base axes [N; N m]; default: 0.
        form : str
            "minimal": six coordinates; "full": the paper's 91.
        device : str
            "cpu", "scalar", "cuda", "cuda:1".
        threads : int
            CPU threads; 0: all.

        Returns
        -------
        InverseDynamics

        Raises
        ------
        ValueError
            For inconsistent shapes.
        garra.UsageError
            For a platform without masses or another form.

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> p.inverse_dynamics(*p.home).force.round(2)  # N, at rest
        array([63.1, 63.1, 63.1, 63.1, 63.1, 63.1])
        """
        given = {"position": position, "quaternion": quaternion, "velocity": velocity, "acceleration": acceleration}
        dynamics = import_module(".dynamics", __name__)
        return dynamics.inverse_dynamics(self._core, given | {"wrench": wrench}, form, device, threads)

    def forward_dynamics(
        self, position: Any, quaternion: Any, velocity: Any, force: Any, wrench: Any = None, *, form: str = "minimal",
        device: str = "cpu", threads: int = 0,
    ) -> ForwardDynamics:  # fmt: skip
        """Accelerations under given actuator forces.

        Parameters
        ----------
        position, quaternion, velocity, wrench, form, device, threads
            As in inverse_dynamics().
        force : array_like [..., 6]
            Actuator forces, positive if they extend the leg [N].

        Returns
        -------
        ForwardDynamics

        Raises
        ------
        ValueError, garra.UsageError
            As inverse_dynamics().

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> r = p.forward_dynamics(*p.home, np.zeros(6), np.zeros(6))  # no actuator forces
        >>> r.acceleration[2:3].round(3)
        array([-9.924])
        """
        given = {"position": position, "quaternion": quaternion, "velocity": velocity, "force": force, "wrench": wrench}
        dynamics = import_module(".dynamics", __name__)
        return dynamics.forward_dynamics(self._core, given, form, device, threads)

    def simulate(
        self, position: Any, quaternion: Any, velocity: Any = None, force: Any = None, wrench: Any = None, *,
        times: Any, method: str = "rk8", step: float = 0.01, watch_limits: bool = False, device: str = "cpu",
        threads: int = 0,
    ) -> Trajectories:  # fmt: skip
        """Simulates motions under constant actuator forces and a constant wrench. Arrays on a GPU stay there.

        Parameters
        ----------
        position, quaternion, velocity, wrench
            Initial state and external wrench, as in inverse_dynamics().
        force : array_like [..., 6], optional
            Actuator forces, positive if they extend the leg [N]; default: 0.
        times : float or array_like [t]
            Output times, ascending from 0 [s].
        method : str
            "rk8", "rk4", or "hybrid" (the paper's, in 91 coordinates).
        step : float
            Step [s].
        watch_limits : bool
            A motion ends at a stroke limit, a joint limit or a collision. It always ends near a singularity.
        device : str
            "cpu", "scalar", "cuda", "cuda:1".
        threads : int
            CPU threads; 0: all.

        Returns
        -------
        Trajectories

        Raises
        ------
        ValueError
            For inconsistent shapes.
        garra.UsageError
            For options out of range or a platform without masses.

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> r = p.simulate(*p.home, times=[0, 0.05, 0.1])  # no actuator forces
        >>> garra.platform.MOTION_STATUS[r.status], r.position[:, 2].round(4)
        ('completed', array([1.15  , 1.1376, 1.1004]))
        """
        given = {"position": position, "quaternion": quaternion, "velocity": velocity, "force": force, "wrench": wrench}
        dynamics = import_module(".dynamics", __name__)
        return dynamics.simulate(self._core, given, times, method, step, watch_limits, device, threads)

    def nearest_singular_pose(self, position: Any = None, quaternion: Any = None) -> NearestSingularPose:
        """Searches the singular pose next to one pose, and those along the axes.

        Parameters
        ----------
        position : array_like [3], optional
            Center of mass, base axes [m]; default: home.
        quaternion : array_like [4], optional
            Orientation, scalar first; default: home.

        Returns
        -------
        NearestSingularPose

        Raises
        ------
        ValueError
            For more than one pose.
        garra.UsageError
            For a pose that is not finite.

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> r = p.nearest_singular_pose()
        >>> round(r.distance, 3), r.shift.round(3)
        (0.465, array([ 0.066,  0.115, -0.064]))
        """
        from garra import _core
        from garra.batch import Batch

        home = self.home
        given = [a if b is None else b for a, b in zip(home, (position, quaternion), strict=True)]
        batch = Batch(("position", given[0], (3,)), ("quaternion", given[1], (4,)))
        if batch["position"].shape[0] != 1:
            raise ValueError(f"{batch['position'].shape[0]} poses: give one, position [3] and quaternion [4]")
        found = _core.platform_nearest_singular_pose(self._core, batch["position"], batch["quaternion"])
        if not found.pop("found"):
            nothing = {name: np.full(found[name].shape, np.nan) for name in ("shift", "turn", "position", "quaternion")}
            found |= nothing | {"distance": np.inf}
        return NearestSingularPose(**found)

    def find_path(
        self, position: Any, quaternion: Any, *, start: tuple[Any, Any] | None = None, near_singular: float = 0.02,
        limits: bool = True, tries: int = 4000, seed: int = 1, poses: int = 0,
    ) -> PlannedPath:  # fmt: skip
        """Searches a path to a pose that passes no singular pose and keeps the limits of the joints.

        The straight motion is tried first, then two trees of random poses. A path is proven over its whole length, up
        to rounding.

        Parameters
        ----------
        position : array_like [3]
            Center of mass at the end, base axes [m].
        quaternion : array_like [4]
            Orientation at the end, scalar first.
        start : (array_like [3], array_like [4]), optional
            First pose; default: home.
        near_singular : float
            The smallest singular value of the scaled Jacobian stays above this.
        limits : bool
            Keep strokes, cones and distances of legs.
        tries : int
            Random poses of the search; 0: the straight motion alone.
        seed : int
            Seed of these poses.
        poses : int
            Further rows at equal distances along the path; 0: its own poses only.

        Returns
        -------
        PlannedPath

        Raises
        ------
        ValueError
            For more than one pose, or a number out of range.
        garra.UsageError
            For a pose that is not finite.

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> turned = [np.cos(np.pi / 4), 0, 0, np.sin(np.pi / 4)]  # 90 degrees about z: singular
        >>> p.find_path([0, 0, 1.15], turned).reach
        'near_singular'
        """
        from garra import _core
        from garra.arguments import check_seed, whole
        from garra.batch import Batch

        first = self.home if start is None else start
        batch = Batch(
            ("start[0]", first[0], (3,)), ("start[1]", first[1], (4,)),
            ("position", position, (3,)), ("quaternion", quaternion, (4,)),
        )  # fmt: skip
        if batch.lead:
            raise ValueError(f"{np.prod(batch.lead)} poses: give one, position [3] and quaternion [4]")
        found = _core.platform_find_path(
            self._core, *(batch[name] for name in ("start[0]", "start[1]", "position", "quaternion")), near_singular,
            limits, whole("tries", tries, 0), check_seed(seed), whole("poses", poses, 0),
        )  # fmt: skip
        return PlannedPath(**found)

    def stiffness(self, position: Any, quaternion: Any, leg_stiffness: Any) -> Any:
        """Stiffness K = J^T diag(k) J of a platform with elastic legs.

        A small motion (shift; turn) changes the wrench of the legs (force; moment at the center of mass) by -K times
        the motion.

        Parameters
        ----------
        position : array_like [..., 3]
            Center of mass, base axes [m].
        quaternion : array_like [..., 4]
            Orientation, scalar first.
        leg_stiffness : float or array_like [..., 6]
            Along each leg [N/m].

        Returns
        -------
        ndarray [..., 6, 6]

        Raises
        ------
        ValueError
            For inconsistent shapes.
        garra.UsageError
            For a pose that is not finite, or a stiffness below 0.

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> K = p.stiffness(*p.home, 1e6)
        >>> K.shape, np.allclose(K, K.T)
        ((6, 6), True)
        """
        from garra import _core
        from garra.batch import Batch

        legs = np.broadcast_to(leg_stiffness, (6,)) if np.ndim(leg_stiffness) == 0 else leg_stiffness
        batch = Batch(("position", position, (3,)), ("quaternion", quaternion, (4,)), ("leg_stiffness", legs, (6,)))
        K = _core.platform_stiffness(self._core, batch["position"], batch["quaternion"], batch["leg_stiffness"])
        return batch.out(K)

    def modes(self, lengths: Any, *, starts: int = 512, seed: int = 1, limits: bool = True) -> Modes:
        """Searches all poses with given leg lengths from random initial guesses, and a path from home to each.

        Parameters
        ----------
        lengths : array_like [6]
            Between joint centers [m].
        starts : int
            Random starts, doubled until each mode is found 8 times.
        seed : int
            Seed of the starts.
        limits : bool
            Paths from home keep strokes, cones and distances of legs.

        Returns
        -------
        Modes

        Raises
        ------
        ValueError
            For more than one set of lengths.

        Examples
        --------
        >>> p = garra.platform.load("trepa_like")
        >>> r = p.modes(np.full(6, 1.15), limits=False)
        >>> len(r.position), bool(r.residual.max() < 1e-9)
        (16, True)
        >>> sorted({garra.platform.REACH[k] for k in r.from_home})
        ['reachable', 'separate']
        """
        from garra import _core
        from garra.arguments import check_seed, whole
        from garra.batch import Batch

        batch = Batch(("lengths", lengths, (6,)))
        if batch.lead:
            raise ValueError(f"lengths has the shape {np.shape(lengths)}, not [6]: modes() takes one set of lengths")
        arrays = _core.platform_modes(self._core, batch["lengths"], whole("starts", starts, 1), check_seed(seed), limits)
        return Modes(**{name: arrays["limit_mask" if name == "mask" else name] for name in Modes.__dataclass_fields__})


def load(model: str | PathLike[str], overrides: Iterable[str] = ()) -> Platform:
    """Reads a platform.

    Parameters
    ----------
    model : str or path
        A file, or a built-in name: "trepa_like", "trepa_short", "irregular".
    overrides : iterable of str
        "key.path=value" settings of the file.

    Returns
    -------
    Platform

    Raises
    ------
    garra.Error
        FileError with file, line, key and remedy; InputOutputError for a missing file.

    Examples
    --------
    >>> garra.platform.load("trepa_like", ["platform.name=mine"])
    <Platform 'mine'>
    """
    from garra import _core
    from garra.arguments import path_text
    from garra.files import named

    return Platform(_core.read_platform(named(path_text(model), "platforms"), list(overrides)))


def __getattr__(name: str) -> Any:
    words = {"STATUS": "pose_statuses", "MOTION_STATUS": "motion_statuses", "REACH": "platform_reaches"}
    if name in words:
        from garra import _core

        return getattr(_core, words[name])
    raise AttributeError(f"module 'garra.platform' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "STATUS", "MOTION_STATUS"})
