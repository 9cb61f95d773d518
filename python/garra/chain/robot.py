"""Serial chains: kinematics and dynamics of many states (docs/theory/chain.md, docs/reference/robots.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from garra import _core
from garra.arguments import check_seed, finite, numbers, of_arrays, path_text, place, positive, vector, whole
from garra.batch import Batch, as_moments, is_on_gpu
from garra.chain.branches import name_branches
from garra.files import named
from garra.on_gpu import compute
from garra.renamed import accept_old
from garra.summary import Summary, summary

_FRAMES = {"world": False, "tool": True}
_TOOL = (0.0, 0.0, 0.0)

# Keys of the tables that simulate() takes: one number, a list of numbers, a text or list of texts, yes or no.
_NUMBER, _LIST, _TEXT, _TEXTS, _FLAG = range(5)
_TOOL_KEYS = {
    "kind": _TEXT, "force": _LIST, "moment": _LIST, "points": _LIST, "place": _LIST, "normal": _LIST,
    "interval": _NUMBER, "stiffness": _NUMBER, "damping": _NUMBER, "play": _NUMBER,
}  # fmt: skip
_FRICTION_KEYS = dict.fromkeys(("coulomb", "breakaway", "stribeck", "smooth"), _LIST)
_LAW_KEYS = {
    "kind": _TEXT, "expression": _TEXTS, "compensate_gravity": _FLAG, "start": _NUMBER, "end": _NUMBER,
    "interval": _NUMBER,
    **dict.fromkeys(
        ("amplitude", "frequency", "phase", "points", "set_point", "kp", "kd", "limit", "stall_torque",
         "no_load_speed"),
        _LIST,
    ),
}  # fmt: skip


def _table(name: str, given: Mapping[str, Any] | None, keys: Mapping[str, int]) -> dict[str, Any]:
    """Values of a table as the compiled module takes them."""
    out: dict[str, Any] = {}
    for key, value in (given or {}).items():
        if key not in keys:
            raise ValueError(f"{name}: {key!r} is none of {', '.join(keys)}")
        kind = keys[key]
        if kind == _NUMBER:
            out[key] = finite(f"{name}[{key!r}]", value)
        elif kind == _LIST:
            array = numbers(f"{name}[{key!r}]", value).ravel()
            out[key] = vector(f"{name}[{key!r}]", array, array.size)
        elif kind == _TEXTS:
            out[key] = [value] if isinstance(value, str) else [str(text) for text in value]
        else:
            out[key] = bool(value) if kind == _FLAG else str(value)
    if "kind" in keys and "kind" not in out and out.keys() - {"stall_torque", "no_load_speed"}:
        raise _core.UsageError(f"{name} = {dict(given or {})!r} has no kind\nAdd one, as in the documentation.")
    return out



@dataclass(frozen=True, repr=False)
class Evaluation:
    """Outputs of evaluate() by name, as items and as attributes, and the status of every state.

    Status: 0 converged, 3 a number is not finite, 4 the mass matrix is singular (only for qdd).

    Examples
    --------
    >>> found = garra.models.puma560().evaluate(np.zeros((5, 6)), outputs=["pose", "jacobian"])
    >>> found["pose"].shape, found.jacobian.shape, found.status.tolist()
    ((5, 4, 4), (5, 6, 6), [0, 0, 0, 0, 0])
    """

    status: Any
    outputs: Mapping[str, Any]

    def __repr__(self) -> str:
        return summary("Evaluation", {"status": self.status, **self.outputs})

    def __getitem__(self, name: str) -> Any:
        return self.outputs[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.outputs[name]
        except KeyError:
            raise AttributeError(f"{name!r} was not asked for; there are {', '.join(self.outputs)}") from None


@dataclass(frozen=True, repr=False)
class JointRates(Summary):
    """Joint rates of a batch of tool twists.

    Examples
    --------
    >>> robot = garra.models.puma560()
    >>> found = robot.rates(np.full((4, 6), 0.2), [0.1, 0, 0, 0, 0, 0])
    >>> found.qd.shape, found.damping.shape, bool((found.damping > 0).any())
    ((4, 6), (4,), False)
    """

    qd: Any
    """[..., n] joint rates [rad/s or m/s]"""
    damping: Any
    """[...] lambda of the damped least squares; 0: undamped"""
    residual: Any
    """[..., 6] J qd - twist, rows and axes of the twist [m/s and rad/s]"""
    status: Any
    """[...] 0 converged, 3 a number is not finite"""


@dataclass(frozen=True, repr=False)
class RneaDerivatives(Summary):
    """Derivatives of inverse dynamics; entry [..., i, j] is that of torque i by variable j.

    Examples
    --------
    >>> robot = garra.models.puma560()
    >>> q = np.full((4, 6), 0.2)
    >>> found = robot.rnea_derivatives(q, q, q)
    >>> found.dtau_dq.shape, bool(np.allclose(found.mass_matrix, robot.crba(q)))
    ((4, 6, 6), True)
    """

    dtau_dq: Any
    """[..., n, n] [N m/rad, ...]"""
    dtau_dqd: Any
    """[..., n, n] damping included [N m s/rad, ...]"""
    mass_matrix: Any
    """[..., n, n] dtau_dqdd, rotor inertias included [kg m^2, ...]"""
    status: Any
    """[...] 0 converged, 3 a number is not finite"""


@dataclass(frozen=True, repr=False)
class AbaDerivatives(Summary):
    """Derivatives of forward dynamics; entry [..., i, j] is that of acceleration i by variable j.

    Examples
    --------
    >>> robot = garra.models.puma560()
    >>> q = np.full((4, 6), 0.2)
    >>> found = robot.aba_derivatives(q, q, q)
    >>> found.dqdd_dqd.shape, bool(np.allclose(found.qdd, robot.aba(q, q, q)))
    ((4, 6, 6), True)
    """

    dqdd_dq: Any
    """[..., n, n] [1/s^2, ...]"""
    dqdd_dqd: Any
    """[..., n, n] [1/s, ...]"""
    dqdd_dtau: Any
    """[..., n, n] inverse of the mass matrix [1/(kg m^2), ...]"""
    qdd: Any
    """[..., n] the accelerations themselves [rad/s^2 or m/s^2]"""
    status: Any
    """[...] 0 converged, 3 a number is not finite, 4 the mass matrix is singular"""


@dataclass(frozen=True, repr=False)
class RneaSecondDerivatives(Summary):
    """Second derivatives of inverse dynamics; entry [..., i, j, k] is that of torque i by variables j and k.

    Examples
    --------
    >>> q = np.full((4, 6), 0.2)
    >>> garra.models.puma560().rnea_second_derivatives(q, q, q).d2tau_dq_dqd.shape
    (4, 6, 6, 6)
    """

    d2tau_dq_dq: Any
    """[..., n, n, n] [N m/rad^2, ...]"""
    d2tau_dq_dqd: Any
    """[..., n, n, n] [N m s/rad^2, ...]"""
    d2tau_dqd_dqd: Any
    """[..., n, n, n] [N m s^2/rad^2, ...]"""
    d2tau_dq_dqdd: Any
    """[..., n, n, n] of entry i, k of the mass matrix by q_j [kg m^2/rad, ...]"""


@dataclass(frozen=True, repr=False)
class Trajectories(Summary):
    """Trajectories of a batch; [...] are its leading axes, t the output times. NaN at times not reached.

    Examples
    --------
    >>> fall = garra.models.scara().simulate(np.zeros((3, 4)), times=[0, 0.01])
    >>> fall.q.shape, fall.tip.shape, fall.status.tolist()
    ((3, 2, 4), (3, 2, 3), [0, 0, 0])
    """

    times: np.ndarray
    """[t] output times [s]"""
    q: Any
    """[..., t, n] joint values [rad or m]"""
    qd: Any
    """[..., t, n] joint velocities [rad/s or m/s]"""
    tip: Any
    """[..., t, 3] tool point, world axes [m]"""
    kinetic_energy: Any
    """[..., t] [J]"""
    potential_energy: Any
    """[..., t] [J]"""
    balance: Any
    """[..., t] energy minus work and damping losses: the integration error [J]"""
    status: Any
    """[...] 0 completed, 1 not finite, 2 step limit, 3 joint limit, 4 invalid input"""


@dataclass(frozen=True, repr=False)
class InverseKinematics(Summary):
    """Joint values for each pose, exact or the nearest found.

    Examples
    --------
    >>> robot = garra.models.ur5()
    >>> robot.inverse_kinematics(robot.forward_kinematics(np.full((4, 6), 0.3)))
    InverseKinematics(4 of 4 poses reached)
    """

    q: Any
    """[..., n] rad or m"""
    success: Any
    """[...] residual <= tolerance"""
    position_error: Any
    """[...] distance of the tool from the pose [m]"""
    rotation_error: Any
    """[...] angle between the orientations of tool and pose [rad]"""
    residual: Any
    """[...] root of the sum of the squared errors"""
    iterations: Any
    """[...] steps of all searches"""

    def __repr__(self) -> str:
        success, far = np.atleast_1d(self.success).ravel(), np.atleast_1d(self.residual).ravel()
        text = f"InverseKinematics({success.sum()} of {success.size} poses reached"
        if success.all():
            return text + ")"
        worst = int(np.argmax(np.where(success, -1.0, far)))
        away = np.atleast_1d(self.position_error).ravel()[worst], np.atleast_1d(self.rotation_error).ravel()[worst]
        which = f" of pose {worst}" if success.size > 1 else ""
        return text + f"; the nearest found{which} is {away[0]:.3g} m and {np.degrees(away[1]):.3g} deg away)"


class PerPose(Sequence[Any]):
    """The arrays of a batch of poses: item i is that of pose i, in C order of the leading axes.

    Examples
    --------
    >>> robot = garra.models.ur5()
    >>> found = robot.inverse_kinematics_all(robot.forward_kinematics(np.full((4, 6), 0.3)), limits=False)
    >>> found.q[1].shape, found.q.all.shape, found.q.first.tolist()
    ((8, 6), (32, 6), [0, 8, 16, 24, 32])
    """

    def __init__(self, rows: Any, first: np.ndarray) -> None:
        self.all, self.first = rows, first
        """rows of all poses, one after another; those of pose i begin at first[i] and end before first[i + 1]"""

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(len(self))[i]]
        k = range(len(self))[i]
        return self.all[self.first[k] : self.first[k + 1]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(np.array_equal, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Sequence[Any]) -> list[Any]:
        return [*self, *other]

    def __repr__(self) -> str:
        return f"PerPose of {len(self)} poses, {len(self.all)} rows"


@dataclass(frozen=True, repr=False)
class AllSolutions:
    """All joint values for each pose of a batch. Sequences (PerPose) have an item for each pose.

    Examples
    --------
    >>> robot = garra.models.ur5()
    >>> robot.inverse_kinematics_all(robot.forward_kinematics(np.full((4, 6), 0.3)), limits=False).count.tolist()
    [8, 8, 8, 8]
    """

    q: Any
    """sequence of arrays [k, n], k the pose's count [rad or m]; for a single pose the array"""
    residual: Any
    """sequence of arrays [k] norm of the pose error [m and rad]"""
    unique: Any
    """sequence of arrays [k] no other solution has |dq| below this [rad or m]; 0: not proven"""
    limit_distance: Any
    """sequence of arrays [k] distance of the joint next to a limit [rad or m]; negative: outside"""
    family: Any
    """sequence of arrays [k] True: one of infinitely many, between which the arm moves without its tool"""
    count: Any
    """[...] number of solutions"""
    complete: Any
    """[...] True: no solution is missing, as far as the digits of the elimination show"""
    status: Any
    """[...] 0 there are solutions, 3 a number is not finite, 5 no solution (within the limits)"""
    distance: Any
    """[...] arms of fewer than six joints, whole poses without solution: error of the nearest pose that a search finds
    [m and rad]; otherwise 0"""
    branch: Any = None
    """details: sequence of lists of str: three letters (docs/howto/all-solutions.md), or "" for arms without names"""
    sigma_min: Any = None
    """details: sequence of arrays [k] smallest singular value of the scaled Jacobian, as of garra.singularity.measure();
    with `fixed` that of the arm whose fixed joints are locked"""
    singular_distance: Any = None
    """details: sequence of arrays [k] joint motion to the nearest singularity [rad]; NaN: none found within one radian"""

    def __repr__(self) -> str:
        count = np.atleast_1d(self.count)
        complete = int(np.count_nonzero(self.complete))
        return f"AllSolutions({count.sum()} solutions of {count.size} poses, {complete} of them complete)"


@dataclass(frozen=True, repr=False)
class PathBranch(Summary):
    """Joint values that follow a path of the tool continuously.

    Examples
    --------
    >>> robot = garra.models.ur5()
    >>> ends = robot.forward_kinematics(np.array([[0.3, -1, 1, 0.4, 0.9, 0], [0.4, -1, 1, 0.4, 0.9, 0.1]]))
    >>> branch = robot.path(ends).branches[0]
    >>> branch.begin, branch.end, branch.q.shape[1], len(branch.q) == len(branch.sigma)
    ('path_end', 'path_end', 6, True)
    """

    first: int
    """sample with which it begins"""
    q: np.ndarray
    """[m, n] at successive samples, in the turn next to q0 that the limits allow, without q0 that with most room [rad or m]"""
    sigma: np.ndarray
    """[m] smallest singular value of the scaled Jacobian"""
    sigma_bound: float
    """proven: sigma of the whole branch, between samples too, is at least this; 0: an interval is not proven"""
    limit_distance: float
    """of the samples (paths of joint values: of the whole path), of the joint next to a limit; negative: outside [rad or m]"""
    limit_joint: int
    """this joint"""
    limit_bound: float
    """proven: limit_distance of the whole branch is at least this; -inf: an interval is not proven"""
    speed_share: float
    """largest mean joint speed between samples over its limit; 0 without times or limits"""
    cost: float
    """what `best` says of it; the least is the best"""
    begin: str
    """"path_end"; "singular": next to a singularity or the border of the workspace; "undecided": without proof"""
    end: str
    """likewise"""

    @property
    def passes(self) -> bool:
        """True if it follows the whole path."""
        return self.begin == self.end == "path_end"


@dataclass(frozen=True, repr=False)
class PathCheck:
    """Branches of inverse kinematics along a path of the tool, or the one branch of a path of joint values.

    Examples
    --------
    >>> robot = garra.models.ur5()
    >>> ends = robot.forward_kinematics(np.array([[0.3, -1, 1, 0.4, 0.9, 0], [0.4, -1, 1, 0.4, 0.9, 0.1]]))
    >>> found = robot.path(ends)
    >>> bool(found), found.best.passes, bool(found.best.sigma_bound > 0)
    (True, True, True)
    """

    s: np.ndarray
    """[t] samples; s is 0 at the first pose, 1 at the second, and so on"""
    branches: list[PathBranch]
    """all of them; those with `passes` follow the whole path"""
    best: PathBranch | None
    """of the branches that pass within limits and speeds, the one with the least cost"""
    undecided: np.ndarray
    """[m, 2] intervals of s in which some solution has no proven continuation; of joint values: in which a singularity is
    not excluded"""
    unit: float
    """length of the scaled Jacobian [m]"""

    def __bool__(self) -> bool:
        return self.best is not None

    def plot(self, ax: Any = None) -> Any:
        """Draws the smallest singular value of each branch; the best one is bold, undecided intervals are gray.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes; default: new ones.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> robot = garra.models.ur5()
        >>> ends = robot.forward_kinematics(np.array([[0.3, -1, 1, 0.4, 0.9, 0], [0.4, -1, 1, 0.4, 0.9, 0.1]]))
        >>> robot.path(ends).plot().get_xlabel()
        's, number of the pose'
        """
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots()[1]
        for branch in self.branches:
            s = self.s[branch.first : branch.first + len(branch.sigma)]
            ax.plot(s, branch.sigma, lw=3 if branch is self.best else 1, ls="-" if branch.passes else ":")
        for begin, end in self.undecided:
            ax.axvspan(begin, end, color="gray", alpha=0.2, lw=0)
        ax.set(xlabel="s, number of the pose", ylabel="smallest singular value", xlim=self.s[[0, -1]], ylim=(0, None))
        return ax

    def __repr__(self) -> str:
        passing = sum(branch.passes for branch in self.branches)
        text = f"PathCheck({len(self.branches)} branches, {passing} pass the whole path"
        if self.best is None:
            return text + ", none within limits and speeds)"
        return text + f"; best: sigma >= {self.best.sigma_bound:.3g}, {self.best.limit_distance:.3g} from a limit)"


def _stacked(found: list[AllSolutions], single: bool) -> AllSolutions:
    """Results with a new first axis; `single`: of one pose each."""
    lists = {}
    for name in ("q", "residual", "unique", "limit_distance", "family", "branch", "sigma_min", "singular_distance"):
        each = [getattr(one, name) for one in found]
        if any(one is None for one in each):
            continue
        rows = each if single else [one.all for one in each]
        count = np.concatenate([[len(one)] if single else np.diff(one.first) for one in each])
        every = np.concatenate(rows) if isinstance(rows[0], np.ndarray) else [name for names in rows for name in names]
        lists[name] = PerPose(every, np.concatenate([[0], np.cumsum(count)]))
    return AllSolutions(**lists, **{name: np.stack([getattr(one, name) for one in found])
                                    for name in ("count", "complete", "status", "distance")})  # fmt: skip


class Chain:
    """Serial chain of n joints. States are [..., n] in rad or m; units SI; world axes; joints count from 0.

    Methods that evaluate states take the keywords of evaluate(), such as `device` ("cpu", "scalar", "cuda") and
    `threads` (0: all). A state with a number that is not finite gives NaN and does not affect others.

    Examples
    --------
    >>> robot = garra.models.puma560()
    >>> q = np.zeros((1000, 6))  # [..., n] in, [..., n] out
    >>> robot.rnea(q, q, q).shape
    (1000, 6)
    >>> robot.n, robot.joint_names[:2], bool(robot.prismatic.any())
    (6, ['waist', 'shoulder'], False)
    >>> print(robot.lower[:2].round(3), robot.upper[:2].round(3))
    [-2.793 -0.785] [2.793 3.927]
    """

    def __init__(self, core: _core.Robot) -> None:
        self._core = core

    # Descriptions.

    @classmethod
    def from_toml(cls, text: str) -> Chain:
        """Chain from the text of a robot file.

        Parameters
        ----------
        text : str
            TOML (docs/reference/robots.md).

        Returns
        -------
        Chain

        Raises
        ------
        garra.FileError
            With line, key and remedy.

        Examples
        --------
        >>> garra.Chain.from_toml(garra.models.scara().to_toml()).n
        4
        """
        return cls(_core.robot_from_toml(text))

    @classmethod
    def from_pinocchio(cls, model: Any, tip: str | None = None, *, q: Any = None) -> Chain:
        """Chain from the base of a pinocchio.Model to a frame. Damping is the model's; Coulomb friction is left out.

        Parameters
        ----------
        model : pinocchio.Model
            The model.
        tip : str, optional
            Name of the last frame; default: the last joint's own frame.
        q : array_like, optional
            Configuration at which joints off this chain are locked; default: neutral. Their
            bodies stay part of the links.

        Returns
        -------
        Chain

        Raises
        ------
        ValueError
            For joints that are neither revolute nor prismatic.

        Examples
        --------
        >>> garra.Chain.from_pinocchio(model, "tool0")  # doctest: +SKIP
        """
        from garra.chain.from_pinocchio import chain_of

        return cls(chain_of(model, tip, q))

    def to_toml(self) -> str:
        """Text of a robot file that restores the same bits.

        Returns
        -------
        str
            TOML (docs/reference/robots.md).

        Examples
        --------
        >>> garra.models.scara().to_toml().splitlines()[1]
        'robot = "SCARA (Adept Cobra 600)"'
        """
        return self._core.to_toml()

    def describe(self) -> str:
        """Text with joints, limits, bodies, base and tool, as in `garra check`.

        Returns
        -------
        str

        Examples
        --------
        >>> print(garra.models.puma560().describe().splitlines()[3])
        moving mass     23.45 kg
        """
        return self._core.describe()

    @property
    def name(self) -> str:
        """Name in the file."""
        return self._core.name

    @property
    def n(self) -> int:
        """Number of joints; with coupled joints, of those that follow no other."""
        return self._core.joints

    @property
    def coupled(self) -> dict[str, tuple[str, float, float]]:
        """Coupled joints (mimic): {follower: (leader, multiplier, offset)}."""
        return {joint: (leader, ratio, offset) for joint, leader, ratio, offset in self._core.coupled}

    @property
    def joint_names(self) -> list[str]:
        """[n] names from the base to the tool."""
        return self._core.joint_names

    @property
    def prismatic(self) -> np.ndarray:
        """[n] True for joints that slide."""
        return np.array(self._core.prismatic)

    @property
    def lower(self) -> np.ndarray:
        """[n] lower joint limits [rad or m]"""
        return np.array(self._core.lower)

    @property
    def upper(self) -> np.ndarray:
        """[n] upper joint limits [rad or m]"""
        return np.array(self._core.upper)

    @property
    def notes(self) -> list[str]:
        """Remarks on the description, warnings first."""
        return [*self._core.warnings, *self._core.notes]

    @property
    def gravity_vector(self) -> np.ndarray:
        """[3] acceleration, world axes [m/s^2]"""
        return np.array(self._core.gravity)

    @gravity_vector.setter
    def gravity_vector(self, value: Any) -> None:
        self._core.gravity = vector("gravity_vector", value, 3)

    def __reduce__(self) -> tuple[Any, ...]:
        return Chain.from_toml, (self.to_toml(),)

    def __repr__(self) -> str:
        kinds = "".join("P" if p else "R" for p in self._core.prismatic)
        return f"<Chain {self.name!r}: {self.n} joints {kinds}>"

    # Kinematics and dynamics.

    @of_arrays
    def evaluate(
        self,
        q: Any,
        qd: Any = None,
        qdd: Any = None,
        tau: Any = None,
        wrench: Any = None,
        *,
        outputs: str | Iterable[str],
        form: str = "linear-first",
        frame: str = "world",
        point: Any = _TOOL,
        device: str = "cpu",
        threads: int = 0,
    ) -> Evaluation:
        """Evaluates several outputs of the same states.

        Arrays of torch, CuPy or JAX on a GPU stay there, independent of `device` (docs/howto/gpu-arrays.md).

        Parameters
        ----------
        q : array_like [..., n]
            Joint values [rad or m].
        qd, qdd, tau : array_like [..., n], optional
            Joint velocities, accelerations and torques [N m or N], for outputs that need them.
        wrench : array_like [..., 6], optional
            (force; moment) at the tool point, world axes [N; N m].
        outputs : str or iterable of str
            Names of docs/reference/chain-files.md.
        form : str
            Rows of the Jacobian: "linear-first", "angular-first", "screws".
        frame : str
            Axes of Jacobian and tool velocity: "world" or "tool".
        point : array_like [3]
            Tool point in the tool frame [m].
        device : str
            "cpu", "scalar", "cuda", "cuda:1".
        threads : int
            CPU threads; 0: all.

        Returns
        -------
        Evaluation

        Raises
        ------
        ValueError
            For inconsistent shapes, a missing array or another frame.
        garra.UsageError
            For unknown outputs, forms and devices.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q = np.full(6, 0.2)
        >>> found = robot.evaluate(q, outputs=["pose", "gravity"])
        >>> print(found.pose.shape, found.gravity[1:3].round(2))
        (4, 4) [33.1  -3.19]
        """
        n = self.n
        outputs = [outputs] if isinstance(outputs, str) else list(outputs)
        if frame not in _FRAMES:
            raise ValueError(f'frame = {frame!r}, not "world" or "tool"')
        how = (form, _FRAMES[frame], vector("point", point, 3))
        if is_on_gpu(q):
            states = {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "wrench": wrench}
            answers = {name: tuple(_core.chain_output_shape(name, n)) for name in outputs} | {"status": ()}
            call = partial(_core.chain_evaluate_on_gpu, self._core)
            arrays = compute(call, states, dict.fromkeys(states, (n,)) | {"wrench": (6,)}, answers, *how)
            return Evaluation(arrays.pop("status"), arrays)
        batch = Batch(
            ("q", q, (n,)), ("qd", qd, (n,)), ("qdd", qdd, (n,)), ("tau", tau, (n,)), ("wrench", wrench, (6,))
        )
        arrays = _core.chain_evaluate(
            self._core,
            *(batch[name] for name in ("q", "qd", "qdd", "tau", "wrench")),
            outputs,
            *how,
            *place(device, threads),
        )
        shaped = {name: batch.out(array) for name, array in arrays.items()}
        return Evaluation(shaped.pop("status"), shaped)

    def _one(self, output: str, how: tuple[Any, str, int], *states: Any, **more: Any) -> Any:
        point, device, threads = how
        return self.evaluate(*states, outputs=output, point=point, device=device, threads=threads, **more)[output]

    def forward_kinematics(self, q: Any, *, point: Any = _TOOL, device: str = "cpu", threads: int = 0) -> Any:
        """Pose of the tool in the world.

        Parameters
        ----------
        q : array_like [..., n]
            Joint values [rad or m].
        point, device, threads
            As in evaluate().

        Returns
        -------
        array [..., 4, 4]
            Homogeneous matrices; translation in m.

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q = np.full(6, 0.2)
        >>> print(robot.forward_kinematics(q)[:3, 3].round(3))
        [ 0.298 -0.093  1.163]
        """
        return self._one("pose", (point, device, threads), q)

    def link_poses(self, q: Any, *, point: Any = _TOOL, device: str = "cpu", threads: int = 0) -> Any:
        """Poses of the described link frames in the world.

        Parameters
        ----------
        q : array_like [..., n]
            Joint values [rad or m].
        point, device, threads
            As in evaluate().

        Returns
        -------
        array [..., n, 4, 4]
            Homogeneous matrices; translation in m.

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> robot.link_poses(np.zeros((5, 6))).shape
        (5, 6, 4, 4)
        """
        return self._one("link_poses", (point, device, threads), q)

    def jacobian(
        self,
        q: Any,
        *,
        frame: str = "world",
        form: str = "linear-first",
        point: Any = _TOOL,
        device: str = "cpu",
        threads: int = 0,
    ) -> Any:
        """Jacobian of the tool point.

        Parameters
        ----------
        q : array_like [..., n]
            Joint values [rad or m].
        frame : str
            Axes: "world" or "tool".
        form : str
            Rows: "linear-first" (v, w), "angular-first" (w, v), "screws", or the analytic Jacobian
            with the rates of Euler angles in rows 3-5, "euler-zyx" (R = Rz(a) Ry(b) Rx(c)), "euler-zyz"
            (world axes, arrays of the host; NaN in gimbal lock).
        point, device, threads
            As in evaluate().

        Returns
        -------
        array [..., 6, n]

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q = np.full(6, 0.2)
        >>> robot.jacobian(q).shape
        (6, 6)
        >>> print(robot.jacobian(q, frame="tool")[:, 4].round(3))
        [ 0.     0.     0.    -0.199 -0.98   0.   ]
        """
        if form in ("euler-zyx", "euler-zyz"):
            batch = Batch(("q", q, (self.n,)))
            found = _core.chain_analytic_jacobian(
                self._core, batch["q"], form, vector("point", point, 3), *place(device, threads)
            )
            return batch.out(found)
        return self._one("jacobian", (point, device, threads), q, form=form, frame=frame)

    def rates(
        self,
        q: Any,
        twist: Any,
        *,
        weights: Any = None,
        near: float = 1e-3,
        damping: float = 1e-3,
        length: float = 1.0,
        frame: str = "world",
        form: str = "linear-first",
        point: Any = _TOOL,
        device: str = "cpu",
        threads: int = 0,
    ) -> JointRates:
        """Joint rates of a twist of the tool: least norm, damped near a singularity (docs/theory/chain.md).

        Arrays of torch, CuPy or JAX on a GPU stay there, independent of `device`; not with coupled joints.

        Parameters
        ----------
        q : array_like [..., n]
            Joint values [rad or m].
        twist : array_like [..., 6]
            Velocity and angular velocity of the tool point [m/s, rad/s], in the rows of `form`.
        weights : array_like [n], optional
            Of the redundant solutions, sum weights * qd^2 is least; default: 1 [s^2/rad^2 or s^2/m^2].
        near : float
            Damped where the smallest singular value is below `near` times the largest; 0: never.
        damping : float
            lambda at a loss of rank, over the largest singular value.
        length : float
            An error of `length` m/s counts as much as one of 1 rad/s [m].
        frame, form, point, device, threads
            As in evaluate().

        Returns
        -------
        JointRates

        Raises
        ------
        ValueError
            For inconsistent shapes.
        garra.UsageError
            For options out of range.

        Examples
        --------
        >>> robot = garra.load("iiwa14")
        >>> q, twist = np.full(7, 0.3), np.array([0.1, 0, 0, 0, 0, 0])
        >>> found = robot.rates(q, twist)
        >>> bool(np.allclose(robot.jacobian(q) @ found.qd, twist))
        True
        """
        if frame not in _FRAMES:
            raise ValueError(f'frame = {frame!r}, not "world" or "tool"')
        costs = () if weights is None else vector("weights", weights, self.n)
        how = (
            form, _FRAMES[frame], vector("point", point, 3),
            finite("near", near), finite("damping", damping), positive("length", length), costs,
        )  # fmt: skip
        if is_on_gpu(q):
            tails, answers = {"q": (self.n,), "twist": (6,)}, {"qd": (self.n,), "damping": (), "residual": (6,), "status": ()}
            call = partial(_core.chain_rates_on_gpu, self._core)
            return JointRates(**compute(call, {"q": q, "twist": twist}, tails, answers, how))
        batch = Batch(("q", q, (self.n,)), ("twist", twist, (6,)))
        found = _core.chain_rates(self._core, batch["q"], batch["twist"], how, *place(device, threads))
        return batch.result(JointRates, found)

    def rnea(self, q: Any, qd: Any, qdd: Any, *, point: Any = _TOOL, device: str = "cpu", threads: int = 0) -> Any:
        """Inverse dynamics tau = M qdd + C qd + D qd + g.

        Parameters
        ----------
        q : array_like [..., n]
            Joint values [rad or m].
        qd : array_like [..., n]
            Joint velocities [rad/s or m/s].
        qdd : array_like [..., n]
            Joint accelerations [rad/s^2 or m/s^2].
        point, device, threads
            As in evaluate().

        Returns
        -------
        array [..., n]
            Joint torques [N m or N].

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q = np.full(6, 0.2)
        >>> print(robot.rnea(q, np.zeros(6), np.ones(6)).round(2))
        [ 3.22 37.41 -2.09  0.19  0.16  0.19]
        """
        return self._one("tau", (point, device, threads), q, qd, qdd)

    def rnea_derivatives(
        self, q: Any, qd: Any, qdd: Any, *, device: str = "cpu", threads: int = 0
    ) -> RneaDerivatives:
        """First derivatives of rnea(), analytical, with the mass matrix (docs/theory/chain.md).

        Parameters
        ----------
        q : array_like [..., n]
            Joint values [rad or m].
        qd : array_like [..., n]
            Joint velocities [rad/s or m/s].
        qdd : array_like [..., n]
            Joint accelerations [rad/s^2 or m/s^2].
        device : str
            "cpu", "scalar", "cuda", "cuda:1".
        threads : int
            CPU threads; 0: all.

        Returns
        -------
        RneaDerivatives

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q, h = np.full(6, 0.2), 1e-6 * np.eye(6)
        >>> found = robot.rnea_derivatives(q, q, q)
        >>> differences = (robot.rnea(q + h, q, q) - robot.rnea(q - h, q, q)).T / 2e-6
        >>> bool(np.allclose(found.dtau_dq, differences, atol=1e-7))
        True
        """
        return RneaDerivatives(**self._derivatives(False, ("q", q), ("qd", qd), ("qdd", qdd), on=(device, threads)))

    def aba_derivatives(
        self, q: Any, qd: Any, tau: Any, *, device: str = "cpu", threads: int = 0
    ) -> AbaDerivatives:
        """First derivatives of aba(), analytical (docs/theory/chain.md).

        Parameters
        ----------
        q : array_like [..., n]
            Joint values [rad or m].
        qd : array_like [..., n]
            Joint velocities [rad/s or m/s].
        tau : array_like [..., n]
            Joint torques [N m or N].
        device : str
            "cpu", "scalar", "cuda", "cuda:1".
        threads : int
            CPU threads; 0: all.

        Returns
        -------
        AbaDerivatives

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q = np.full(6, 0.2)
        >>> found = robot.aba_derivatives(q, q, q)
        >>> bool(np.allclose(found.dqdd_dtau @ robot.crba(q), np.eye(6)))
        True
        """
        return AbaDerivatives(**self._derivatives(True, ("q", q), ("qd", qd), ("tau", tau), on=(device, threads)))

    def rnea_second_derivatives(
        self, q: Any, qd: Any, qdd: Any, *, device: str = "cpu", threads: int = 0
    ) -> RneaSecondDerivatives:
        """Second derivatives of rnea(), exact but for rounding, from 4 n to 8 n first ones.

        Parameters
        ----------
        q, qd, qdd : array_like [..., n]
            As in rnea().
        device, threads
            As in rnea_derivatives().

        Returns
        -------
        RneaSecondDerivatives

        Raises
        ------
        ValueError
            For inconsistent shapes.
        garra.UsageError
            For robots with coupled joints.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q, h = np.full(6, 0.2), np.array([1e-6, 0, 0, 0, 0, 0])
        >>> found = robot.rnea_second_derivatives(q, q, q).d2tau_dq_dqd
        >>> up, down = (robot.rnea_derivatives(q, q + step, q).dtau_dq for step in (h, -h))
        >>> bool(np.allclose(found[:, :, 0], (up - down) / 2e-6, atol=1e-7))
        True
        """
        from garra.chain import derivatives

        n = self.n
        batch = Batch(("q", q, (n,)), ("qd", qd, (n,)), ("qdd", qdd, (n,)))
        found = derivatives.second(self, batch["q"], batch["qd"], batch["qdd"], place(device, threads))
        return RneaSecondDerivatives(**{f"d2tau_{name}": batch.out(array) for name, array in found.items()})

    def derivative(
        self,
        output: str,
        q: Any,
        qd: Any = None,
        qdd: Any = None,
        tau: Any = None,
        *,
        by: str = "q",
        device: str = "cpu",
        threads: int = 0,
    ) -> Any:
        """Derivative of an output of evaluate(), exact but for rounding.

        Parameters
        ----------
        output : str
            "pose", "jacobian", "mass_matrix", "gravity", "bias", "tau", "qdd", "kinetic_energy", "potential_energy".
        q, qd, qdd, tau : array_like [..., n]
            As in evaluate(), those that the output needs.
        by : str
            Variable: "q", "qd", "qdd", "tau", where the output reads it; "inertia", the `inertial_parameters`, not of
            poses and Jacobians.
        device, threads
            As in rnea_derivatives().

        Returns
        -------
        array [..., *output, n] or [..., *output, 10 n]
            The variable is the last axis.

        Raises
        ------
        ValueError
            For inconsistent shapes and missing arrays.
        garra.UsageError
            For other outputs and variables; for Jacobians of robots with coupled joints.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q = np.full((50, 6), 0.2)
        >>> robot.derivative("mass_matrix", q).shape, robot.derivative("kinetic_energy", q, q, by="inertia").shape
        ((50, 6, 6, 6), (50, 60))
        """
        from garra.chain import derivatives, regressor

        given = {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
        derivatives.check(output, given)
        batch = Batch(*((name, value, (self.n,)) for name, value in given.items()))
        states, on = {name: batch[name] for name in given}, place(device, threads)
        if by == "inertia" and output not in ("pose", "jacobian"):
            return batch.out(regressor.by_inertia(self, output, states, on))
        found = derivatives.first(self, output, states, on)
        if by not in found:
            others = [*found, *([] if output in ("pose", "jacobian") else ["inertia"])]
            raise _core.UsageError(f"{output} does not depend on by = {by!r}\nIt depends on {', '.join(others)}.")
        return batch.out(found[by])

    def _derivatives(self, forward: bool, *named: tuple[str, Any], on: tuple[str, int]) -> dict[str, Any]:
        batch = Batch(*((name, value, (self.n,)) for name, value in named))
        arrays = (batch[name] for name, _ in named)
        found = _core.chain_derivatives(self._core, forward, *arrays, *place(*on))
        return {name: batch.out(array) for name, array in found.items()}

    @property
    def inertial_parameters(self) -> np.ndarray:
        """[10 n] of each link: m, m c, and ixx ixy iyy ixz iyz izz about the origin of its frame [kg, kg m, kg m^2]"""
        from garra.chain import regressor

        return regressor.of_links(self)

    def regressor(self, q: Any, qd: Any, qdd: Any, *, device: str = "cpu", threads: int = 0) -> Any:
        """Derivatives Y of rnea() by the inertial parameters: tau = Y inertial_parameters (docs/theory/chain.md).

        Rotors and damping are not part of it: rnea() has armature * qdd + damping * qd besides.

        Parameters
        ----------
        q, qd, qdd : array_like [..., n]
            As in rnea().
        device, threads
            As in evaluate().

        Returns
        -------
        array [..., n, 10 n]
            Columns in the order of `inertial_parameters`; ten for each coupled joint, too.

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> robot = garra.load("panda")
        >>> q, qd, qdd = np.random.default_rng(0).normal(size=(3, 50, 7))
        >>> Y = robot.regressor(q, qd, qdd)
        >>> Y.shape, bool(np.allclose(Y @ robot.inertial_parameters, robot.rnea(q, qd, qdd)))
        ((50, 7, 70), True)
        """
        return self.derivative("tau", q, qd, qdd, by="inertia", device=device, threads=threads)

    def crba(self, q: Any, *, point: Any = _TOOL, device: str = "cpu", threads: int = 0) -> Any:
        """Mass matrix M with rotor inertias.

        Parameters
        ----------
        q : array_like [..., n]
            Joint values [rad or m].
        point, device, threads
            As in evaluate().

        Returns
        -------
        array [..., n, n]

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q = np.full(6, 0.2)
        >>> print(robot.crba(q).diagonal().round(2))
        [3.64 4.3  0.94 0.19 0.17 0.19]
        """
        return self._one("mass_matrix", (point, device, threads), q)

    def aba(self, q: Any, qd: Any, tau: Any, *, point: Any = _TOOL, device: str = "cpu", threads: int = 0) -> Any:
        """Forward dynamics qdd = M^-1 (tau - C qd - D qd - g).

        Parameters
        ----------
        q : array_like [..., n]
            Joint values [rad or m].
        qd : array_like [..., n]
            Joint velocities [rad/s or m/s].
        tau : array_like [..., n]
            Joint torques [N m or N].
        point, device, threads
            As in evaluate().

        Returns
        -------
        array [..., n]
            Joint accelerations; NaN if M is singular.

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q = np.full(6, 0.2)
        >>> tau = robot.rnea(q, np.zeros(6), np.ones(6))
        >>> print(robot.aba(q, np.zeros(6), tau).round(9))
        [1. 1. 1. 1. 1. 1.]
        """
        return self._one("qdd", (point, device, threads), q, qd, tau=tau)

    def coriolis(self, q: Any, qd: Any, *, point: Any = _TOOL, device: str = "cpu", threads: int = 0) -> Any:
        """Coriolis matrix C by Christoffel symbols: dM/dt - 2 C is skew-symmetric.

        Parameters
        ----------
        q : array_like [..., n]
            Joint values [rad or m].
        qd : array_like [..., n]
            Joint velocities [rad/s or m/s].
        point, device, threads
            As in evaluate().

        Returns
        -------
        array [..., n, n]

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q = np.full(6, 0.2)
        >>> print(robot.coriolis(q, np.ones(6))[1].round(2))
        [ 0.53 -0.38 -0.76 -0.   -0.    0.  ]
        """
        return self._one("coriolis_matrix", (point, device, threads), q, qd)

    def gravity(self, q: Any, *, point: Any = _TOOL, device: str = "cpu", threads: int = 0) -> Any:
        """Gravity torques g = dU/dq.

        Parameters
        ----------
        q : array_like [..., n]
            Joint values [rad or m].
        point, device, threads
            As in evaluate().

        Returns
        -------
        array [..., n]
            Joint torques [N m or N].

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q = np.full(6, 0.2)
        >>> print(robot.gravity(q)[1:3].round(2))
        [33.1  -3.19]
        """
        return self._one("gravity", (point, device, threads), q)

    def manipulability(self, q: Any, *, point: Any = _TOOL, device: str = "cpu", threads: int = 0) -> Any:
        """Manipulability (Yoshikawa): product of the singular values of the Jacobian.

        Parameters
        ----------
        q : array_like [..., n]
            Joint values [rad or m].
        point, device, threads
            As in evaluate().

        Returns
        -------
        array [...]

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q = np.full(6, 0.2)
        >>> print(robot.manipulability(q).round(4))
        0.01
        """
        return self._one("manipulability", (point, device, threads), q)

    @accept_old
    def inverse_kinematics(
        self,
        pose: Any,
        q0: Any = None,
        *,
        nearest: bool | None = None,
        tolerance: float = 1e-10,
        max_iterations: int = 48,
        starts: int = 40,
        seed: int = 1,
    ) -> InverseKinematics:
        """Finds joint values within the limits for tool poses, by damped Newton steps (docs/theory/chain.md).

        With q0 an arm of up to six joints gets the nearest of all solutions of inverse_kinematics_all(), and answers along a
        path are continuous. Other searches from q0 may end at a solution that is not the nearest one.

        Parameters
        ----------
        pose : array_like [..., 4, 4]
            Homogeneous matrices of the tool in the world.
        q0 : array_like [..., n], optional
            Initial guess of the first search [rad or m]; default: the middle of the limits.
        nearest : bool, optional
            Start at the solution next to q0, of all; False: at q0, which is faster (docs/howto/all-solutions.md). By
            default with q0, where all solutions can be found and no joint follows another.
        tolerance : float
            Success: norm of the pose error <= tolerance [m and rad].
        max_iterations : int
            Largest number of steps of one search.
        starts : int
            Largest number of searches; all but the first start at random.
        seed : int
            Seed of the random starts.

        Returns
        -------
        InverseKinematics
            Without success: the nearest pose found and its error.

        Raises
        ------
        ValueError
            For inconsistent shapes, and `nearest` without q0.
        garra.UsageError
            For matrices that are no poses and options out of range; `nearest`: robots without six joints to move.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q = np.full(6, 0.2)
        >>> found = robot.inverse_kinematics(robot.forward_kinematics(q), q0=np.zeros(6))
        >>> bool(found.success), found.q.shape
        (True, (6,))
        """
        most = [whole("max_iterations", max_iterations), whole("starts", starts, 1)]
        batch = Batch(("pose", pose, (4, 4)), ("q0", q0, (self.n,)))
        start = batch["q0"]
        if nearest and start is None:
            raise ValueError("nearest: to which joint values? Give q0")
        if nearest or (nearest is None and start is not None and self.n <= 6 and not self.coupled):
            start = self._nearest(batch["pose"], start, required=bool(nearest))
        found = _core.chain_inverse_kinematics(
            self._core, batch["pose"].reshape(-1, 16), start, positive("tolerance", tolerance), most, check_seed(seed)
        )
        found["success"] = found["success"].astype(bool)
        found["residual"] = np.hypot(found["position_error"], found["rotation_error"])
        return batch.result(InverseKinematics, found)

    def _nearest(self, pose: np.ndarray, q0: np.ndarray, required: bool) -> np.ndarray:
        """The solutions next to q0, or q0 itself where there is none."""
        try:
            solutions = self.inverse_kinematics_all(pose, q0=q0, proofs=False).q
        except _core.UsageError:  # also of arms whose equations cannot be eliminated
            if required:
                raise
            return q0
        nearest, some = q0.copy(), np.diff(solutions.first) > 0
        nearest[some] = solutions.all[solutions.first[:-1][some]]
        return nearest

    def inverse_kinematics_all(
        self,
        pose: Any,
        *,
        task: str = "pose",
        limits: bool = True,
        windings: bool = False,
        details: bool = False,
        proofs: bool = True,
        q0: Any = None,
        fixed: Mapping[int | str, Any] | None = None,
        device: str = "cpu",
        threads: int = 0,
    ) -> AllSolutions:
        """Finds all joint values for tool poses, by elimination (docs/howto/all-solutions.md).

        Parameters
        ----------
        pose : array_like [..., 4, 4]
            Homogeneous matrices of the tool in the world.
        task : str
            What counts of a pose: "pose"; "point_axis", the tool's origin and z axis; "point", its origin; "planar", x, y
            and the yaw angle.
        limits : bool
            Keep only solutions within the joint limits, in the turn that is within them.
        windings : bool
            With limits: every turn of a joint within its limits is a solution of its own.
        details : bool
            Also give each solution's branch name, `sigma_min` and distance to the nearest singularity.
        proofs : bool
            False: faster; `unique` is 0, and continuous families are not searched.
        q0 : array_like [..., n], optional
            Solutions are sorted by their distance from it; joints without limits are in the turn next to it.
        fixed : mapping, optional
            Joint number or name -> value [rad or m] that it keeps: for arms of more joints than the task has coordinates (6,
            5, 3, 3). An array [v] of values of one joint gives results with a further first axis v.
        device : str
            "cpu", "scalar" or "cuda".
        threads : int
            CPU threads; 0: all.

        Returns
        -------
        AllSolutions
            With the values of all n joints, those of fixed joints included.

        Raises
        ------
        ValueError
            For inconsistent shapes.
        garra.UsageError
            For more joints to move than the task has coordinates, and matrices that are no poses.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> found = robot.inverse_kinematics_all(robot.forward_kinematics(np.full(6, 0.2)), limits=False)
        >>> found.q.shape, int(found.count)
        ((8, 6), 8)
        >>> bool((abs(found.q - 0.2).max(axis=1) < 1e-9).any())
        True
        """
        for joint, values in (fixed or {}).items():
            if np.ndim(values) == 1:
                how = {"task": task, "limits": limits, "windings": windings, "details": details, "q0": q0}
                how |= {"proofs": proofs, "device": device, "threads": threads}
                return _stacked(
                    [self.inverse_kinematics_all(pose, fixed={**fixed, joint: value}, **how) for value in values],
                    single=np.ndim(pose) == 2,
                )
        locked, moving = self._locked(fixed)
        batch = Batch(("pose", pose, (4, 4)), ("q0", q0, (self.n,)))
        start = batch["q0"]
        found = self._solver(locked, task).solve(
            batch["pose"].reshape(-1, 16), None if start is None else np.ascontiguousarray(start[:, moving]),
            limits, windings, proofs, *place(device, threads),
        )  # fmt: skip
        rows = {name: found[name] for name in ("residual", "unique", "limit_distance")}
        for joint, value in locked.items():
            rows["limit_distance"] = np.minimum(rows["limit_distance"], self._room(joint, value))
        rows["family"] = found["family"].astype(bool)
        if details:
            rows |= self._details(found["q"], locked, place(device, threads))
        rows["q"] = self._with_locked(found["q"], locked, moving)
        first = found["first"]
        lists = {name: PerPose(array, first) if batch.lead else array for name, array in rows.items()}
        return AllSolutions(
            **lists,
            count=batch.out(np.diff(first)),
            complete=batch.out(found["complete"].astype(bool)),
            status=batch.out(found["status"]),
            distance=batch.out(found["distance"]),
        )

    def path(
        self,
        pose: Any,
        *,
        kind: str = "straight",
        times: Any = None,
        q0: Any = None,
        best: str | Callable[[PathBranch], float] | None = None,
        fixed: Mapping[int | str, Any] | None = None,
        near_singular: float = 0.02,
        samples: int = 101,
        refinements: int = 10,
        device: str = "cpu",
        threads: int = 0,
    ) -> PathCheck:
        """Follows every branch of inverse kinematics along a path of the tool, or checks a path of joint values.

        Between samples Newton-Kantorovich proves that a branch is one curve without singularity; intervals without a
        proof are bisected (docs/howto/arm-paths.md).

        Parameters
        ----------
        pose : array_like [k, 4, 4] or [k, n]
            Two or more poses of the tool in the world, or joint values [rad or m].
        kind : str
            "straight": position on a line, rotation about one fixed axis; lines in joint values. "spline": cubic with
            continuous velocity, at rest at both ends. Of poses also "screw": one screw motion from pose to pose.
        times : array_like [k], optional
            Of the poses, ascending: joint speeds are compared with their limits [s].
        q0 : array_like [n], optional
            The best branch starts next to these joint values, unless `best` says otherwise.
        best : str or callable, optional
            Of the branches that pass: largest bound of "sigma" (default), largest distance to "limits", least "travel" of
            the joints, least "speed" share, "start" next to q0; or a function that gives the cost of a PathBranch.
        fixed : mapping, optional
            Joint number or name -> value [rad or m] that it keeps: an arm of seven joints needs one. Of an array [v] of
            values of one joint, the value with the best branch is chosen.
        near_singular : float
            A branch that ends with sigma <= this ends at a singularity.
        samples : int
            At first, along the whole path.
        refinements : int
            Largest number of bisections of an interval.
        device, threads
            As in inverse_kinematics_all().

        Returns
        -------
        PathCheck

        Raises
        ------
        ValueError
            For inconsistent shapes.
        garra.UsageError
            For fewer than two poses, matrices that are no poses, and poses of robots without six joints to move.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q = np.array([[0.2, 0.3, 0.2, 0.4, 0.9, 0.1], [0.3, 0.3, 0.2, 0.4, 0.9, 0.1]])
        >>> robot.path(robot.forward_kinematics(q)).best.passes, robot.path(q, kind="spline").best.passes
        (True, True)
        """
        for joint, values in (fixed or {}).items():
            if np.ndim(values) == 1 and not len(values):
                raise ValueError(f"fixed[{joint!r}] has no value")
            if np.ndim(values) == 1:
                how = {"kind": kind, "times": times, "q0": q0, "best": best, "near_singular": near_singular}
                how |= {"samples": samples, "refinements": refinements, "device": device, "threads": threads}
                each = [self.path(pose, fixed={**fixed, joint: value}, **how) for value in values]
                return min(each, key=lambda one: one.best.cost if one else np.inf)
        locked, moving = self._locked(fixed)
        of_joints = np.ndim(pose) == 2 and not locked and np.shape(pose)[1] == self.n
        if not of_joints and (np.ndim(pose) != 3 or np.shape(pose)[1:] != (4, 4)):
            text = f"pose has the shape {list(np.shape(pose))}, not [k, 4, 4] or, without `fixed`, joint values [k, {self.n}]"
            raise ValueError(text)
        if not (isinstance(best, str) or best is None or callable(best)):
            raise ValueError(f"best = {best!r}: a name or a function of a branch")
        batch = Batch(("pose", pose, (self.n,) if of_joints else (4, 4)))
        start = None if q0 is None else np.ascontiguousarray(vector("q0", q0, self.n))[moving][None]
        at = None if times is None else np.ascontiguousarray(vector("times", times, batch.count), dtype=float)[:, None]
        how = (
            finite("near_singular", near_singular), whole("samples", samples, 2), whole("refinements", refinements), kind,
            best if isinstance(best, str) else "sigma" if start is None else "start", self.__dict__.get("_unit", 0.0),
        )  # fmt: skip
        check = _core.chain_check_path if of_joints else self._solver(locked).check_path
        arm = self._without(locked)
        found = check(arm, np.reshape(batch["pose"], (batch.count, -1)), at, start, how, *place(device, threads))
        branches = []
        for branch in found.pop("branches"):
            branch["q"] = self._with_locked(branch["q"], locked, moving)
            branch["limit_joint"] = moving[branch["limit_joint"]]
            for joint, value in locked.items():
                room = self._room(joint, value)
                if room < branch["limit_distance"]:
                    branch["limit_distance"], branch["limit_joint"] = room, joint
                branch["limit_bound"] = min(branch["limit_bound"], room)
                if how[4] == "start" and q0 is not None:
                    branch["cost"] = float(np.hypot(branch["cost"], value - np.asarray(q0, dtype=float)[joint]))
            if how[4] == "limits":
                branch["cost"] = -branch["limit_distance"]
            one = PathBranch(**branch)
            branches.append(replace(one, cost=finite("what best returned", best(one))) if callable(best) else one)
        within = [b for b in branches if b.passes and b.limit_distance >= 0 and b.speed_share <= 1]
        return PathCheck(branches=branches, best=min(within, key=lambda b: b.cost, default=None), **found)

    def _room(self, joint: int, value: float) -> float:
        """Distance of a joint's value from its limits."""
        return float(min(value - self.lower[joint], self.upper[joint] - value))

    def _locked(self, fixed: Mapping[int | str, float] | None) -> tuple[dict[int, float], list[int]]:
        """Values of fixed joints by number, and the other joints."""
        names = self.joint_names
        locked = {}
        for joint, value in (fixed or {}).items():
            if isinstance(joint, str) and joint not in names:
                raise ValueError(f"fixed: there is no joint {joint!r}; there are {', '.join(names)}")
            locked[names.index(joint) if isinstance(joint, str) else int(joint)] = finite("fixed", value)
        return locked, [i for i in range(self.n) if i not in locked]

    def _with_locked(self, q: np.ndarray, locked: Mapping[int, float], moving: list[int]) -> np.ndarray:
        """Values of all joints."""
        if not locked:
            return q
        full = np.empty((len(q), self.n))
        full[:, moving] = q
        for joint, value in locked.items():
            full[:, joint] = value
        return full

    def _details(self, q: np.ndarray, locked: Mapping[int, float], where: tuple[str, int]) -> dict[str, Any]:
        """Branch names, smallest singular values and distances to the nearest singularity, of joints that move."""
        arm = self._without(locked)
        measured = _core.singularity_measure(arm, q, "natural", 0.0, *where)
        nearest = _core.singularity_nearest(arm, q, "natural", 0.0, 1e-10, *where)
        distance = np.where(nearest["converged"] == 0, nearest["distance"], np.nan)
        screws = Chain(arm).jacobian(q, form="screws") if q.shape[1] == 6 else np.empty((len(q), 6, 0))
        names = name_branches(screws) if q.shape[1] == 6 else [""] * len(q)
        return {"branch": names, "sigma_min": measured["sigma_min"], "singular_distance": distance}

    def _without(self, locked: Mapping[int, float]) -> Any:
        """The chain with fixed joints."""
        core = self._core
        for joint in sorted(locked, reverse=True):
            core = _core.chain_lock_joint(core, joint, locked[joint])
        return core

    def _solver(self, locked: Mapping[int, float], task: str = "pose") -> _core.AllSolutions:
        """Solver of the chain with fixed joints; the last ones of each set of joints are kept."""
        key = (task, *sorted(locked.items()))
        kept = self.__dict__.setdefault("_solvers", {})
        if key not in kept:
            core = self._without(locked)
            same = [task, *sorted(locked)]
            like = next((kept[k] for k in kept if [k[0], *(joint for joint, _ in k[1:])] == same), None)
            if len(kept) >= 1024:  # a sweep of many values: the oldest half goes
                for other in list(kept)[:512]:
                    del kept[other]
            kept[key] = _core.AllSolutions(core, task) if like is None else _core.AllSolutions(core, like)
        return kept[key]

    @of_arrays
    def simulate(
        self,
        q: Any,
        qd: Any = 0.0,
        torque: Any = None,
        *,
        times: Any,
        law: Mapping[str, Any] | None = None,
        damping: Any = None,
        tool: Mapping[str, Any] | None = None,
        friction: Mapping[str, Any] | None = None,
        method: str = "implicit",
        step: float = 1e-3,
        device: str = "cpu",
        threads: int = 0,
    ) -> Trajectories:
        """Simulates motions under joint torques, forces on the tool and friction.

        Arrays of torch, CuPy or JAX on a GPU stay there, independent of `device` (docs/howto/gpu-arrays.md).

        Parameters
        ----------
        q : array_like [..., n]
            Initial joint values [rad or m].
        qd : float or array_like [..., n]
            Initial joint velocities [rad/s or m/s].
        torque : array_like [..., n], optional
            Constant torques [N m or N]; with `law` its amplitude. Default: 0, or a factor 1.
        times : float or array_like [t]
            Output times, ascending from 0 [s].
        law : mapping, optional
            Torques over time or of a controller, with the keys of [torque] of a scenario (but voltages) in SI units and
            `stall_torque`, `no_load_speed` of motors: {"kind": "pd", "kp": 2, "set_point": 0.1}.
        damping : array_like [..., n], optional
            Viscous damping of the joints [N m s/rad or N s/m]; default: the robot's.
        tool : mapping, optional
            Force on the tool, with the keys of [tool]: {"kind": "wall", "place": [0, 0, 0.1], "stiffness": 500}.
        friction : mapping, optional
            Dry friction, with the keys of [friction]: {"coulomb": 0.01, "breakaway": 0.02}.
        method : str
            "implicit" (order 2, any damping), "implicit1", "rk4", "dopri5" (docs/theory/chain-simulation.md).
        step : float
            Step of the methods with fixed steps [s].
        device : str
            "cpu", "scalar", "cuda", "cuda:1".
        threads : int
            CPU threads; 0: all.

        Returns
        -------
        Trajectories
            A motion that fails has a status, never an exception.

        Raises
        ------
        ValueError
            For inconsistent shapes.
        garra.UsageError
            For options out of range.

        Examples
        --------
        >>> robot = garra.models.puma560()
        >>> q = np.full(6, 0.2)
        >>> motion = robot.simulate(q, torque=robot.gravity(q), times=[0, 0.1])
        >>> print(motion.q[-1].round(6))
        [0.2 0.2 0.2 0.2 0.2 0.2]
        >>> held = robot.simulate(q, times=0.1, law={"kind": "pd", "kp": 500, "kd": 50, "set_point": q})
        >>> bool(abs(held.q - q).max() < 0.1)
        True
        """
        n = self.n
        moments, step = as_moments(times), positive("step", step)
        how = (method, step, _table("tool", tool, _TOOL_KEYS), _table("friction", friction, _FRICTION_KEYS))
        torques = _table("law", law, _LAW_KEYS)
        if is_on_gpu(q):
            states = {"q": q, "qd": None if np.isscalar(qd) and qd == 0 else qd, "torque": torque, "damping": damping}
            t = len(moments)
            answers = {"q": (t, n), "qd": (t, n), "tip": (t, 3), "status": ()}
            answers |= dict.fromkeys(("kinetic_energy", "potential_energy", "balance"), (t,))
            call = partial(_core.chain_simulate_on_gpu, self._core)
            at = moments.tolist(), float(moments[-1])
            there = compute(call, states, dict.fromkeys(states, (n,)), answers, *at, torques, how)
            return Trajectories(moments, **there)
        qd = np.full(n, qd) if np.ndim(qd) == 0 else qd
        batch = Batch(("q", q, (n,)), ("qd", qd, (n,)), ("torque", torque, (n,)), ("damping", damping, (n,)))
        arrays = _core.chain_simulate(
            self._core, *(batch[name] for name in ("q", "qd", "torque", "damping")), moments.tolist(),
            float(moments[-1]), torques, how, *place(device, threads),
        )  # fmt: skip
        return batch.result(Trajectories, arrays, times=moments)

    # Names of the Robotics Toolbox.

    fkine = forward_kinematics
    jacob0 = jacobian
    inertia = crba
    rne = rnea
    accel = aba
    gravload = gravity

    def jacobe(
        self, q: Any, *, form: str = "linear-first", point: Any = _TOOL, device: str = "cpu", threads: int = 0
    ) -> Any:
        """Alias of jacobian() in tool axes.

        Parameters
        ----------
        q : array_like [..., n]
            Joint values [rad or m].
        form : str
            As in jacobian().
        point, device, threads
            As in evaluate().

        Returns
        -------
        array [..., 6, n]

        Raises
        ------
        ValueError
            For inconsistent shapes.

        Examples
        --------
        >>> garra.models.puma560().jacobe(np.zeros(6)).shape
        (6, 6)
        """
        return self.jacobian(q, frame="tool", form=form, point=point, device=device, threads=threads)


def load(
    path: str | PathLike[str],
    tip: str | None = None,
    *,
    base: str | None = None,
    lock: Mapping[str, float | str] | None = None,
    gravity: Any = None,
    payload: Mapping[str, Any] | None = None,
    overrides: Iterable[str] = (),
) -> Chain:
    """Reads a chain from a URDF, a robot file in TOML, or garra.models (docs/reference/robots.md).

    Parameters
    ----------
    path : str or path
        A .urdf or .toml file, or the name of a built-in model.
    tip, base : str, optional
        URDF: last and first link; default: the only leaf and the only root. Joints with `mimic` follow their leaders.
    lock : mapping, optional
        URDF: fixed joints and their values, {"finger_joint1": 0.02} or "20 mm".
    gravity : array_like [3], optional
        Replaces the file's gravity, world axes [m/s^2].
    payload : mapping, optional
        URDF: {"mass": kg, "com": [3], "inertia": [3, 3]} of the tip link, in its frame; inertia about com.
    overrides : iterable of str
        "key.path=value" of a TOML file; URDF: gravity, payload.mass, payload.com, payload.inertia.

    Returns
    -------
    Chain

    Raises
    ------
    garra.Error
        FileError with file, line, key and remedy; UsageError for unknown links, joints and arguments.

    Examples
    --------
    >>> garra.load("iiwa14")
    <Chain 'iiwa14': 7 joints RRRRRRR>
    >>> garra.load("panda.urdf", tip="panda_hand_tcp")  # doctest: +SKIP
    """
    path = named(path_text(path), "robots")
    locks = [
        (joint, value if isinstance(value, str) else repr(finite(f"lock[{joint!r}]", value)))
        for joint, value in (lock or {}).items()
    ]
    more = [*overrides, *_surroundings(gravity, payload)]
    return Chain(_core.read_robot(path, base or "", tip or "", more, locks))


def _surroundings(gravity: Any, payload: Mapping[str, Any] | None) -> list[str]:
    """Gravity and payload as overrides."""
    words = [] if gravity is None else [f"gravity={vector('gravity', gravity, 3)}"]
    for key, value in (payload or {}).items():
        if key not in ("mass", "com", "inertia"):
            raise ValueError(f"payload: {key!r} is none of mass, com, inertia")
        number = finite(key, value) if key == "mass" else np.asarray(value, dtype=float).ravel().tolist()
        words.append(f"payload.{key}={number}")
    return words
