"""Serial chains: kinematics and dynamics of many states (docs/theory/chain.md, docs/reference/robots.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np

from garra import _core
from garra.arguments import finite, path_text, place, positive, seed_of, vector, whole
from garra.batch import Batch, is_on_gpu, moments_of
from garra.files import named
from garra.renamed import accept_old
from garra.summary import Summary, summary

_FRAMES = {"world": False, "tool": True}


@dataclass(frozen=True, repr=False)
class Evaluation:
    """What evaluate() was asked for, by name, and the status of every state: 0 converged, 3 a number is not finite, 4
    the mass matrix is singular (only of qdd)."""

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
class Trajectories(Summary):
    """Of every start; [...] its leading axes, t the chosen times. NaN where a motion did not get there."""

    times: np.ndarray
    q: Any
    """[..., t, n]"""
    qd: Any
    """[..., t, n]"""
    tip: Any
    """[..., t, 3] tool point, world axes [m]"""
    kinetic_energy: Any
    """[..., t] [J]"""
    potential_energy: Any
    """[..., t] [J]"""
    balance: Any
    """[..., t] energy less what work and damping account for: 0 but for errors of the integration [J]"""
    status: Any
    """[...] 0 completed, 1 not finite, 2 step limit, 3 joint limit, 4 invalid input"""


@dataclass(frozen=True, repr=False)
class InverseKinematics(Summary):
    """Joint values that reach each pose, or come near it."""

    q: Any
    """[..., n] rad or m"""
    success: Any
    """[...] residual <= tol"""
    position_error: Any
    """[...] from the tool to the pose [m]"""
    rotation_error: Any
    """[...] angle from the tool's orientation to the pose's [rad]"""
    residual: Any
    """[...] root of the sum of both squares"""
    iterations: Any
    """[...] of all searches"""

    def __repr__(self) -> str:
        success, far = np.atleast_1d(self.success).ravel(), np.atleast_1d(self.residual).ravel()
        text = f"InverseKinematics({success.sum()} of {success.size} poses reached"
        if success.all():
            return text + ")"
        worst = int(np.argmax(np.where(success, -1.0, far)))
        away = np.atleast_1d(self.position_error).ravel()[worst], np.atleast_1d(self.rotation_error).ravel()[worst]
        which = f" of pose {worst}" if success.size > 1 else ""
        return text + f"; the nearest found{which} is {away[0]:.3g} m and {np.degrees(away[1]):.3g} deg away)"


class Chain:
    """A serial chain of n joints. `robot.rnea(q, qd, qdd)`: a state is [n], many are [..., n]; rad, m, kg, N, N m.

    Every method takes `device` ("cpu", "scalar", "cuda") and `threads` (0: all) as keywords. A state with a number that
    is not finite gives NaN and disturbs no other.
    """

    def __init__(self, core: _core.Robot) -> None:
        self._core = core

    # Descriptions.

    @classmethod
    def from_toml(cls, text: str) -> Chain:
        """From the text of a robot file, as to_toml() writes it."""
        return cls(_core.robot_from_toml(text))

    @classmethod
    def from_pinocchio(cls, model: Any, tip: str | None = None, *, q: Any = None) -> Chain:
        """The chain from the base of a pinocchio.Model to the frame `tip` (None: the last joint's own frame).

        Joints off this chain are locked at `q` (None: neutral), what they carry stays part of the links. Raises
        ValueError for joints that are neither revolute nor prismatic. Damping is the model's; Coulomb friction is left
        out.
        """
        from garra.chain.from_pinocchio import chain_of

        return cls(chain_of(model, tip, q))

    def to_toml(self) -> str:
        """A robot file that reads back to the same bits."""
        return self._core.to_toml()

    def describe(self) -> str:
        """Joints, limits, bodies, base and tool, as `garra check` prints them."""
        return self._core.describe()

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def n(self) -> int:
        """Joints; of coupled ones those that follow no other."""
        return self._core.joints

    @property
    def coupled(self) -> dict[str, tuple[str, float, float]]:
        """Joints that follow others (mimic): {follower: (leader, multiplier, offset)}."""
        return {joint: (leader, ratio, offset) for joint, leader, ratio, offset in self._core.coupled}

    @property
    def joint_names(self) -> list[str]:
        return self._core.joint_names

    @property
    def prismatic(self) -> np.ndarray:
        """[n] bool"""
        return np.array(self._core.prismatic)

    @property
    def lower(self) -> np.ndarray:
        """[n] least joint values [rad or m]"""
        return np.array(self._core.lower)

    @property
    def upper(self) -> np.ndarray:
        """[n] greatest joint values"""
        return np.array(self._core.upper)

    @property
    def notes(self) -> list[str]:
        """What a reader of the description should know, warnings first."""
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
        point: Any = (0.0, 0.0, 0.0),
        device: str = "cpu",
        threads: int = 0,
    ) -> Evaluation:
        """Several outputs of the same states at once (docs/reference/chain-files.md names them).

        form: rows of the Jacobian, "linear-first", "angular-first", "screws"; frame: "world" or "tool"; point: the tool
        point in the tool frame [m]. Raises ValueError where an array that an output needs is missing.

        Arrays of torch, CuPy or JAX that are on a GPU stay there, whatever `device` says (docs/howto/gpu-arrays.md).
        """
        n = self.n
        outputs = [outputs] if isinstance(outputs, str) else list(outputs)
        if frame not in _FRAMES:
            raise ValueError(f'frame = {frame!r}, not "world" or "tool"')
        how = (form, _FRAMES[frame], vector("point", point, 3))
        if is_on_gpu(q):
            states = {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "wrench": wrench}
            arrays = import_module(".on_gpu", __package__).evaluate(self._core, states, outputs, *how)
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

    def _one(self, output: str, q: Any, qd: Any = None, qdd: Any = None, **more: Any) -> Any:
        return self.evaluate(q, qd, qdd, outputs=(output,), **more)[output]

    def forward_kinematics(self, q: Any, **how: Any) -> Any:
        """[..., 4, 4] pose of the tool in the world."""
        return self._one("pose", q, **how)

    def link_poses(self, q: Any, **how: Any) -> Any:
        """[..., n, 4, 4] poses of the links' frames as described."""
        return self._one("link_poses", q, **how)

    def jacobian(self, q: Any, *, frame: str = "world", form: str = "linear-first", **how: Any) -> Any:
        """[..., 6, n] of the tool point, rows (v, w) in the axes of `frame`."""
        return self._one("jacobian", q, frame=frame, form=form, **how)

    def rnea(self, q: Any, qd: Any, qdd: Any, **how: Any) -> Any:
        """[..., n] inverse dynamics tau = M qdd + C qd + D qd + g."""
        return self._one("tau", q, qd, qdd, **how)

    def crba(self, q: Any, **how: Any) -> Any:
        """[..., n, n] mass matrix M, rotor inertias included."""
        return self._one("mass_matrix", q, **how)

    def aba(self, q: Any, qd: Any, tau: Any, **how: Any) -> Any:
        """[..., n] forward dynamics qdd = M^-1 (tau - C qd - D qd - g); NaN where M is singular."""
        return self._one("qdd", q, qd, tau=tau, **how)

    def coriolis(self, q: Any, qd: Any, **how: Any) -> Any:
        """[..., n, n] C by Christoffel symbols, so that dM/dt - 2 C is skew."""
        return self._one("coriolis_matrix", q, qd, **how)

    def gravity(self, q: Any, **how: Any) -> Any:
        """[..., n] g = dU/dq."""
        return self._one("gravity", q, **how)

    def manipulability(self, q: Any, **how: Any) -> Any:
        """[...] product of the singular values of the Jacobian (Yoshikawa)."""
        return self._one("manipulability", q, **how)

    @accept_old
    def inverse_kinematics(
        self,
        pose: Any,
        q0: Any = None,
        *,
        tol: float = 1e-10,
        max_iterations: int = 48,
        starts: int = 40,
        seed: int = 1,
    ) -> InverseKinematics:
        """Joint values for tool poses [..., 4, 4], within the joint limits, from q0 [..., n] (None: the middle of the
        limits) and then from up to starts - 1 random ones, each of at most max_iterations damped Newton steps
        (docs/theory/chain.md). Where no search arrives: the nearest pose found, and how far away it is."""
        most = [whole("max_iterations", max_iterations), whole("starts", starts, 1)]
        batch = Batch(("pose", pose, (4, 4)), ("q0", q0, (self.n,)))
        found = _core.chain_inverse_kinematics(
            self._core, batch["pose"].reshape(-1, 16), batch["q0"], positive("tol", tol), most, seed_of(seed)
        )
        found["success"] = found["success"].astype(bool)
        found["residual"] = np.hypot(found["position_error"], found["rotation_error"])
        return InverseKinematics(**{name: batch.out(array) for name, array in found.items()})

    def simulate(
        self,
        q: Any,
        qd: Any = 0.0,
        torque: Any = None,
        *,
        times: Any,
        method: str = "implicit",
        step: float = 1e-3,
        device: str = "cpu",
        threads: int = 0,
    ) -> Trajectories:
        """Motions from states q, qd under constant torques [..., n] (None: 0), at `times` [s], one or ascending from 0.

        method: "implicit" (order 2, any damping), "implicit1", "rk4", "dopri5" (docs/theory/chain-simulation.md).

        Arrays of torch, CuPy or JAX that are on a GPU stay there, whatever `device` says (docs/howto/gpu-arrays.md).
        """
        n = self.n
        moments, step = moments_of(times), positive("step", step)
        if is_on_gpu(q):
            states = {"q": q, "qd": None if np.isscalar(qd) and qd == 0 else qd, "torque": torque}
            there = import_module(".on_gpu", __package__).simulate(self._core, states, moments.tolist(), method, step)
            return Trajectories(moments, **there)
        qd = np.full(n, qd) if np.ndim(qd) == 0 else qd
        batch = Batch(("q", q, (n,)), ("qd", qd, (n,)), ("torque", torque, (n,)))
        arrays = _core.chain_simulate(
            self._core, batch["q"], batch["qd"], batch["torque"], moments.tolist(), float(moments[-1]), method, step,
            *place(device, threads),
        )  # fmt: skip
        return Trajectories(moments, **{name: batch.out(array) for name, array in arrays.items()})

    # The words of the Robotics Toolbox.

    def fkine(self, q: Any, **how: Any) -> Any:
        """forward_kinematics()"""
        return self.forward_kinematics(q, **how)

    def jacob0(self, q: Any, **how: Any) -> Any:
        """jacobian(), world axes"""
        return self.jacobian(q, **how)

    def jacobe(self, q: Any, **how: Any) -> Any:
        """jacobian(), tool axes"""
        return self.jacobian(q, frame="tool", **how)

    def inertia(self, q: Any, **how: Any) -> Any:
        """crba()"""
        return self.crba(q, **how)

    def rne(self, q: Any, qd: Any, qdd: Any, **how: Any) -> Any:
        """rnea()"""
        return self.rnea(q, qd, qdd, **how)

    def accel(self, q: Any, qd: Any, tau: Any, **how: Any) -> Any:
        """aba()"""
        return self.aba(q, qd, tau, **how)

    def gravload(self, q: Any, **how: Any) -> Any:
        """gravity()"""
        return self.gravity(q, **how)


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
    """A chain from a URDF or a robot file in TOML (docs/reference/robots.md), or by the name of one of garra.models.

    URDF: the chain between the links `base` and `tip`, None the only root and the only leaf. lock: joints that stand
    still and where, {"finger_joint1": 0.02} or "20 mm". gravity: [3] instead of the file's [m/s^2]. payload: what the
    tip link of a URDF carries, {"mass": kg, "com": [3], "inertia": [3, 3]} in its frame, inertia about com. overrides:
    "key.path=value" of a TOML file; of a URDF gravity, payload.mass, payload.com, payload.inertia. Joints with `mimic`
    follow their leaders. Raises garra.FileError, which names file, line, key and the remedy.
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
