"""Inverse and forward dynamics as differentiable functions of torch and of JAX."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from garra.batch import sum_repeated

if TYPE_CHECKING:
    from garra.chain.robot import Chain


def rnea(robot: Chain, q: Any, qd: Any, qdd: Any) -> Any:
    """Joint torques as a differentiable function of q, qd and qdd, in torch or JAX.

    Derivatives are those of Chain.rnea_derivatives(); second derivatives are not defined.

    Parameters
    ----------
    robot : Chain
        The chain.
    q, qd, qdd : array or tensor [..., n]
        As in Chain.rnea().

    Returns
    -------
    array or tensor [..., n]
        Joint torques [N m or N].

    Raises
    ------
    ValueError
        For inconsistent shapes.

    Examples
    --------
    >>> robot = garra.models.puma560()
    >>> q = np.full(6, 0.2)
    >>> bool(np.allclose(garra.chain.rnea(robot, q, q, q), robot.rnea(q, q, q)))
    True
    """
    return _call(robot, "rnea", (q, qd, qdd))


def aba(robot: Chain, q: Any, qd: Any, tau: Any) -> Any:
    """Joint accelerations as a differentiable function of q, qd and tau, in torch or JAX.

    Derivatives are those of Chain.aba_derivatives(); second derivatives are not defined.

    Parameters
    ----------
    robot : Chain
        The chain.
    q, qd, tau : array or tensor [..., n]
        As in Chain.aba().

    Returns
    -------
    array or tensor [..., n]
        Joint accelerations [rad/s^2 or m/s^2].

    Raises
    ------
    ValueError
        For inconsistent shapes.

    Examples
    --------
    >>> robot = garra.models.puma560()
    >>> q = np.full(6, 0.2)
    >>> bool(np.allclose(garra.chain.aba(robot, q, q, robot.rnea(q, q, q)), q))
    True
    """
    return _call(robot, "aba", (q, qd, tau))


def _call(robot: Chain, name: str, arrays: tuple[Any, ...]) -> Any:
    libraries = {type(x).__module__.partition(".")[0] for x in arrays}
    if "torch" in libraries:
        return _torch_function().apply(robot, name, *arrays)
    if libraries & {"jax", "jaxlib"}:
        return _jax_function(_Dynamics(robot, name), *arrays)
    return getattr(robot, name)(*arrays)


class _Dynamics:
    """Values and products with derivatives, of NumPy arrays."""

    def __init__(self, robot: Chain, name: str) -> None:
        self.robot, self.name = robot, name

    def value(self, *arrays: Any) -> np.ndarray:
        kind = np.asarray(arrays[0]).dtype
        return np.asarray(getattr(self.robot, self.name)(*map(np.asarray, arrays)), dtype=kind)

    def pulled_back(self, *arrays: Any) -> tuple[np.ndarray, ...]:
        """Products of the last array with the derivatives by the others."""
        *states, cotangent = map(np.asarray, arrays)
        found = getattr(self.robot, f"{self.name}_derivatives")(*states)
        names = [key for key in type(found).__dataclass_fields__ if key not in ("qdd", "status")]
        products = (np.einsum("...i,...ij->...j", cotangent, getattr(found, key)) for key in names)
        return tuple(
            sum_repeated(product, state.shape).astype(state.dtype)
            for product, state in zip(products, states, strict=True)
        )


@cache
def _torch_function() -> Any:
    import torch

    class Dynamics(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, robot: Chain, name: str, *tensors: Any) -> Any:
            ctx.dynamics = _Dynamics(robot, name)
            ctx.states = [torch.as_tensor(x).detach().cpu().numpy() for x in tensors]
            ctx.device = next(x.device for x in tensors if torch.is_tensor(x))
            return torch.as_tensor(ctx.dynamics.value(*ctx.states), device=ctx.device)

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> tuple[Any, ...]:
            found = ctx.dynamics.pulled_back(*ctx.states, cotangent.detach().cpu().numpy())
            wanted = ctx.needs_input_grad[2:]
            return None, None, *(torch.as_tensor(x, device=ctx.device) if w else None for x, w in zip(found, wanted))

    return Dynamics


def _jax_function(dynamics: _Dynamics, *arrays: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def on_host(function: Callable[..., Any], out: Any, *given: Any) -> Any:
        return jax.pure_callback(function, out, *given, vmap_method="broadcast_all")

    @jax.custom_vjp
    def call(*states: Any) -> Any:
        return on_host(dynamics.value, jax.ShapeDtypeStruct(states[0].shape, states[0].dtype), *states)

    def forward(*states: Any) -> tuple[Any, Any]:
        return call(*states), states

    def backward(states: tuple[Any, ...], cotangent: Any) -> tuple[Any, ...]:
        out = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in states)
        return on_host(dynamics.pulled_back, out, *states, cotangent)

    call.defvjp(forward, backward)
    kind = jnp.result_type(*arrays)
    shape = jnp.broadcast_shapes(*(jnp.shape(x) for x in arrays))
    return call(*(jnp.broadcast_to(jnp.asarray(x, dtype=kind), shape) for x in arrays))
