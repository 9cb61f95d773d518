"""Dynamics and simulation of six-legged platforms, behind the methods of Platform
(docs/theory/platform-dynamics.md)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from garra import _core
from garra.arguments import place, positive
from garra.batch import Batch, as_moments, is_on_gpu
from garra.on_gpu import compute
from garra.summary import Summary

_TAILS = {"position": (3,), "quaternion": (4,)}
_TAILS |= dict.fromkeys(("velocity", "acceleration", "force", "wrench"), (6,))


@dataclass(frozen=True, repr=False)
class InverseDynamics(Summary):
    """Actuator and joint forces of a batch; base axes; [...] are the leading axes.

    Examples
    --------
    >>> p = garra.platform.load("trepa_like")
    >>> r = p.inverse_dynamics(*p.home)
    >>> r.force.shape, r.spherical_force.shape
    ((6,), (6, 3))
    """

    _statuses = "pose_statuses"

    force: Any
    """[..., 6] of the actuators, positive if it extends the leg [N]"""
    spherical_force: Any
    """[..., 6, 3] of the platform on each leg [N]"""
    universal_force: Any
    """[..., 6, 3] of the base on each leg [N]"""
    universal_moment: Any
    """[..., 6] of the base on each leg, about the common normal of its universal joint's axes [N m]"""
    power_balance: Any
    """[...] power of actuators and wrench minus d(T + V)/dt: the rounding error [W]"""
    condition: Any
    """[...] of the scaled Jacobian"""
    status: Any
    """[...] index in STATUS"""


@dataclass(frozen=True, repr=False)
class ForwardDynamics(Summary):
    """Accelerations of a batch; [...] are the leading axes.

    Examples
    --------
    >>> p = garra.platform.load("trepa_like")
    >>> r = p.forward_dynamics(*p.home, np.zeros(6), np.zeros(6))
    >>> round(float(r.potential_energy), 2)
    463.92
    """

    _statuses = "pose_statuses"

    acceleration: Any
    """[..., 6] (dv/dt, dw/dt), base axes [m/s^2, rad/s^2]"""
    kinetic_energy: Any
    """[...] [J]"""
    potential_energy: Any
    """[...] [J]"""
    status: Any
    """[...] index in STATUS"""


@dataclass(frozen=True, repr=False)
class Trajectories(Summary):
    """Trajectories of a batch; [...] are its leading axes, t the output times. NaN at times not reached.

    Examples
    --------
    >>> p = garra.platform.load("trepa_like")
    >>> r = p.simulate(*p.home, times=[0, 0.05])
    >>> r.position.shape, bool(abs(r.balance).max() < 1e-6)
    ((2, 3), True)
    """

    _statuses = "motion_statuses"

    times: np.ndarray
    position: Any
    """[..., t, 3] [m]"""
    quaternion: Any
    """[..., t, 4] scalar first"""
    velocity: Any
    """[..., t, 6] (v, w), base axes [m/s, rad/s]"""
    lengths: Any
    """[..., t, 6] of the legs [m]"""
    kinetic_energy: Any
    """[..., t] [J]"""
    potential_energy: Any
    """[..., t] [J]"""
    work: Any
    """[..., t] of actuators and wrench since the start [J]"""
    balance: Any
    """[..., t] energy gained minus work: the integration error [J]"""
    end_time: Any
    """[...] the last time reached [s]"""
    status: Any
    """[...] index in MOTION_STATUS"""


def inverse_dynamics(core: Any, given: dict[str, Any], form: str, device: str, threads: int) -> InverseDynamics:
    if is_on_gpu(given["position"]):
        answers = {"force": (6,), "spherical_force": (6, 3), "universal_force": (6, 3), "universal_moment": (6,),
                   "power_balance": (), "condition": ()}  # fmt: skip
        return _there(InverseDynamics, partial(_core.platform_inverse_dynamics_on_gpu, core), given, answers, form)
    batch = _batch(given)
    arrays = _core.platform_inverse_dynamics(core, *(batch[name] for name in given), form, *place(device, threads))
    return batch.result(InverseDynamics, arrays)


def forward_dynamics(core: Any, given: dict[str, Any], form: str, device: str, threads: int) -> ForwardDynamics:
    if is_on_gpu(given["position"]):
        answers = {"acceleration": (6,), "kinetic_energy": (), "potential_energy": ()}
        return _there(ForwardDynamics, partial(_core.platform_forward_dynamics_on_gpu, core), given, answers, form)
    batch = _batch(given)
    arrays = _core.platform_forward_dynamics(core, *(batch[name] for name in given), form, *place(device, threads))
    return batch.result(ForwardDynamics, arrays)


def simulate(
    core: Any, given: dict[str, Any], times: Any, method: str, step: float, watch_limits: bool, device: str, threads: int
) -> Trajectories:
    moments = as_moments(times)
    how = (moments.tolist(), method, positive("step", step), watch_limits)
    if is_on_gpu(given["position"]):
        t = len(moments)
        answers = {name: (t, width) for name, width in (("position", 3), ("quaternion", 4), ("velocity", 6), ("lengths", 6))}  # fmt: skip
        answers |= dict.fromkeys(("kinetic_energy", "potential_energy", "work", "balance"), (t,)) | {"end_time": ()}
        of = partial(Trajectories, moments)
        return _there(of, partial(_core.platform_simulate_on_gpu, core), given, answers, *how)
    batch = _batch(given)
    arrays = _core.platform_simulate(core, *(batch[name] for name in given), *how, *place(device, threads))
    return batch.result(Trajectories, arrays, times=moments)


def _batch(given: dict[str, Any]) -> Batch:
    """Batch of the given arrays; None is zero."""
    return Batch(*((name, np.zeros(6) if value is None else value, _TAILS[name]) for name, value in given.items()))


def _there(of: Any, call: Any, given: dict[str, Any], answers: dict[str, tuple[int, ...]], *how: Any) -> Any:
    """Result of a call on GPU arrays; `answers` holds names and shapes without leading axes."""
    return of(**compute(call, given, _TAILS, answers | {"status": ()}, *how))
