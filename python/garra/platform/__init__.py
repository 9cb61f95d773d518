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

from garra.summary import Summary

if TYPE_CHECKING:
    from garra.platform.dynamics import ForwardDynamics, InverseDynamics, Trajectories


@dataclass(frozen=True, repr=False)
class InverseKinematics(Summary):
    """One of everything for each pose."""

    _statuses = "pose_statuses"

    lengths: Any
    """[..., 6] from joint center to joint center [m]"""
    condition: Any
    """[...] of the scaled Jacobian"""
    sigma_min: Any
    """[...] its smallest singular value"""
    determinant: Any
    """[...] of the plain Jacobian: its sign tells assembly modes apart"""
    stroke_margin: Any
    """[..., 6] to the nearer end of the stroke; negative beyond it [m]"""
    mask: Any
    """[...] limits that are violated, as bits (docs/theory/platform.md)"""
    status: Any
    """[...] index in STATUS"""


@dataclass(frozen=True, repr=False)
class ForwardKinematics(Summary):
    """One of everything for each set of lengths."""

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
    """[...] with certify: no other pose of these lengths within this radius [m]; 0: none proven"""
    _modes: Callable[..., Modes] | None = field(default=None, repr=False, compare=False)

    def modes(self, *, starts: int = 512, seed: int = 1) -> Modes:
        """Poses that have these lengths; of one set of lengths, as Platform.modes()."""
        return self._modes(starts=starts, seed=seed)


@dataclass(frozen=True, repr=False)
class Modes(Summary):
    """All poses that were found for one set of lengths, by height."""

    _statuses = "pose_statuses"

    position: np.ndarray
    quaternion: np.ndarray
    status: np.ndarray
    residual: np.ndarray
    found: np.ndarray
    """[m] starts that came to each; others may exist where one was found seldom"""


class Platform:
    """A platform of six legs."""

    def __init__(self, core: Any) -> None:
        self._core = core

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def home(self) -> tuple[np.ndarray, np.ndarray]:
        """position [3] [m] and quaternion [4] of the home pose."""
        return np.array(self._core.home_position), np.array(self._core.home_quaternion)

    def describe(self) -> str:
        """What was understood, as `garra check` prints it."""
        return self._core.describe()

    def to_toml(self) -> str:
        """A platform file that reads back to the same numbers."""
        return self._core.to_toml()

    @classmethod
    def from_toml(cls, text: str) -> Platform:
        """From the text of a platform file, as to_toml() writes it."""
        from garra import _core

        return cls(_core.platform_from_toml(text))

    def __reduce__(self) -> tuple[Any, ...]:
        return Platform.from_toml, (self.to_toml(),)

    def __repr__(self) -> str:
        return f"<Platform {self.name!r}>"

    def inverse_kinematics(
        self, position: Any, quaternion: Any, *, device: str = "cpu", threads: int = 0
    ) -> InverseKinematics:
        """Leg lengths of poses: position [..., 3], quaternion [..., 4] (need not be of unit length).

        Arrays of torch, CuPy or JAX that are on a GPU stay there, whatever `device` says (docs/howto/gpu-arrays.md).
        """
        from garra import _core
        from garra.arguments import place
        from garra.batch import Batch, is_on_gpu

        if is_on_gpu(position):
            return InverseKinematics(**import_module(".on_gpu", __name__).inverse(self._core, position, quaternion))
        batch = Batch(("position", position, (3,)), ("quaternion", quaternion, (4,)))
        arrays = _core.platform_inverse(self._core, batch["position"], batch["quaternion"], *place(device, threads))
        return InverseKinematics(**{name: batch.out(array) for name, array in arrays.items()})

    def forward_kinematics(
        self, lengths: Any, guess: tuple[Any, Any] | None = None, *, certify: bool = False, device: str = "cpu",
        threads: int = 0,
    ) -> ForwardKinematics:  # fmt: skip
        """A pose that has the lengths [..., 6], by Newton's iteration from the guess (position, quaternion), None the
        home pose. "converged": it is the guess's, found in five iterations or at the end of a proven path; certify: proves
        every row, or says that it could not.

        Arrays of torch, CuPy or JAX that are on a GPU stay there, whatever `device` says (docs/howto/gpu-arrays.md).
        """
        from garra import _core
        from garra.arguments import place
        from garra.batch import Batch, is_on_gpu

        if is_on_gpu(lengths):
            there = import_module(".on_gpu", __name__).forward(self._core, lengths, guess, certify)
            return ForwardKinematics(**there, _modes=partial(self.modes, lengths))
        position, quaternion = self.home if guess is None else guess
        batch = Batch(("lengths", lengths, (6,)), ("position", position, (3,)), ("quaternion", quaternion, (4,)))
        arrays = _core.platform_forward(
            self._core, batch["lengths"], batch["position"], batch["quaternion"], certify, *place(device, threads)
        )
        found = {name: batch.out(array) for name, array in arrays.items()}
        return ForwardKinematics(**found, _modes=partial(self.modes, lengths))

    def inverse_dynamics(
        self, position: Any, quaternion: Any, velocity: Any = None, acceleration: Any = None, wrench: Any = None, *,
        form: str = "minimal", device: str = "cpu", threads: int = 0,
    ) -> InverseDynamics:  # fmt: skip
        """Forces of the actuators that move the platform so, and what the joints bear.

        position [..., 3], quaternion [..., 4]; velocity and acceleration [..., 6] (v, w) of the center of mass, base
        axes, wrench [..., 6] (force there, moment) from outside, base axes; None: zero. form: "minimal", six
        coordinates, or "full", the paper's 91. Arrays on a GPU stay there.
        """
        given = {"position": position, "quaternion": quaternion, "velocity": velocity, "acceleration": acceleration}
        dynamics = import_module(".dynamics", __name__)
        return dynamics.inverse_dynamics(self._core, given | {"wrench": wrench}, form, device, threads)

    def forward_dynamics(
        self, position: Any, quaternion: Any, velocity: Any, force: Any, wrench: Any = None, *, form: str = "minimal",
        device: str = "cpu", threads: int = 0,
    ) -> ForwardDynamics:  # fmt: skip
        """Accelerations under forces [..., 6] of the actuators; the rest as in inverse_dynamics()."""
        given = {"position": position, "quaternion": quaternion, "velocity": velocity, "force": force, "wrench": wrench}
        dynamics = import_module(".dynamics", __name__)
        return dynamics.forward_dynamics(self._core, given, form, device, threads)

    def simulate(
        self, position: Any, quaternion: Any, velocity: Any = None, force: Any = None, wrench: Any = None, *,
        times: Any, method: str = "rk8", step: float = 0.01, watch_limits: bool = False, device: str = "cpu",
        threads: int = 0,
    ) -> Trajectories:  # fmt: skip
        """Motions under constant forces of the actuators and a constant wrench, at `times` [s], one or ascending from 0.

        method: "rk8", "rk4", "hybrid" (the paper's, of its 91 coordinates). watch_limits: a motion ends where a leg, a
        joint or a collision forbids more. It ends near a singularity in any case. Arrays on a GPU stay there.
        """
        given = {"position": position, "quaternion": quaternion, "velocity": velocity, "force": force, "wrench": wrench}
        dynamics = import_module(".dynamics", __name__)
        return dynamics.simulate(self._core, given, times, method, step, watch_limits, device, threads)

    def modes(self, lengths: Any, *, starts: int = 512, seed: int = 1) -> Modes:
        """Every pose found that has the lengths [6], from `starts` random ones, doubled until each was found 8 times."""
        from garra import _core
        from garra.arguments import seed_of, whole
        from garra.batch import Batch

        batch = Batch(("lengths", lengths, (6,)))
        if batch.lead:
            raise ValueError(f"lengths has the shape {np.shape(lengths)}, not [6]: modes() takes one set of lengths")
        arrays = _core.platform_modes(self._core, batch["lengths"], whole("starts", starts, 1), seed_of(seed))
        return Modes(**{name: arrays[name] for name in Modes.__dataclass_fields__})


def load(model: str | PathLike[str], overrides: Iterable[str] = ()) -> Platform:
    """A platform by its file, or by the name of one that comes with garra: "trepa_like", "trepa_short", "irregular"."""
    from garra import _core
    from garra.arguments import path_text
    from garra.files import named

    return Platform(_core.read_platform(named(path_text(model), "platforms"), list(overrides)))


def __getattr__(name: str) -> Any:
    if name in ("STATUS", "MOTION_STATUS"):
        from garra import _core

        return _core.pose_statuses if name == "STATUS" else _core.motion_statuses
    raise AttributeError(f"module 'garra.platform' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "STATUS", "MOTION_STATUS"})
