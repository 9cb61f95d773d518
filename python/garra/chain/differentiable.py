"""Kinematics and dynamics as differentiable functions of torch and of JAX."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from garra import _core
from garra.batch import first_only, sum_repeated
from garra.chain import derivatives

if TYPE_CHECKING:
    from garra.chain.robot import Chain


def rnea(robot: Chain, q: Any, qd: Any, qdd: Any) -> Any:
    """Joint torques as a differentiable function of q, qd and qdd, in torch or JAX.

    Derivatives are those of Chain.rnea_derivatives(); second derivatives raise.

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
    return evaluate(robot, "tau", q, qd, qdd)


def aba(robot: Chain, q: Any, qd: Any, tau: Any) -> Any:
    """Joint accelerations as a differentiable function of q, qd and tau, in torch or JAX.

    Derivatives are those of Chain.aba_derivatives(); second derivatives raise.

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
    return evaluate(robot, "qdd", q, qd, tau=tau)


def evaluate(robot: Chain, output: str, q: Any, qd: Any = None, qdd: Any = None, tau: Any = None) -> Any:
    """One output of Chain.evaluate() as a differentiable function of the arrays that it reads, in torch or JAX.

    Derivatives are those of Chain.derivative(); second derivatives raise.

    Parameters
    ----------
    robot : Chain
        The chain.
    output : str
        As in Chain.derivative().
    q, qd, qdd, tau : array or tensor [..., n]
        As in Chain.evaluate(), those that the output needs.

    Returns
    -------
    array or tensor [..., *output]

    Raises
    ------
    ValueError
        For inconsistent shapes and missing arrays.
    garra.UsageError
        For other outputs.

    Examples
    --------
    >>> robot = garra.models.puma560()
    >>> garra.chain.evaluate(robot, "pose", np.full((5, 6), 0.2)).shape
    (5, 4, 4)
    """
    given = {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
    names = derivatives.check(output, given)
    arrays, call = [given[name] for name in names], _Output(robot, output, names)
    libraries = {type(x).__module__.partition(".")[0] for x in arrays}
    if "torch" in libraries:
        return _torch_function().apply(call, *arrays)
    if libraries & {"jax", "jaxlib"}:
        return _jax_function(call, *arrays)
    return robot.evaluate(**given, outputs=output)[output]


class _Output:
    """Values and products with derivatives, of NumPy arrays."""

    def __init__(self, robot: Chain, output: str, names: tuple[str, ...]) -> None:
        self.robot, self.output, self.names = robot, output, names
        self.shape = tuple(_core.chain_output_shape(output, robot.n))

    def value(self, *arrays: Any) -> Any:
        states = dict(zip(self.names, map(np.asarray, arrays), strict=True))
        found = self.robot.evaluate(**states, outputs=self.output)[self.output]
        return np.asarray(found, dtype=np.result_type(*states.values()))

    def pulled_back(self, *arrays: Any) -> tuple[np.ndarray, ...]:
        """Products of the last array with the derivatives by the others."""
        *states, cotangent = map(np.asarray, arrays)
        lead = cotangent.shape[: cotangent.ndim - len(self.shape)]
        n = self.robot.n
        rows = {name: np.broadcast_to(x, (*lead, n)).reshape(-1, n).astype(float) for name, x in zip(self.names, states)}
        found = derivatives.first(self.robot, self.output, {"qd": None, **rows}, ("cpu", 0))
        weights = cotangent.reshape(len(rows["q"]), -1)
        products = (np.einsum("mp,mpn->mn", weights, found[name].reshape(*weights.shape, n)) for name in self.names)
        return tuple(
            sum_repeated(product.reshape(*lead, n), state.shape).astype(state.dtype)
            for product, state in zip(products, states, strict=True)
        )


@cache
def _torch_function() -> Any:
    import torch

    class Evaluate(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, call: _Output, *tensors: Any) -> Any:
            ctx.call = call
            ctx.states = [torch.as_tensor(x).detach().cpu().numpy() for x in tensors]
            ctx.inputs = tensors
            ctx.device = next(x.device for x in tensors if torch.is_tensor(x))
            return torch.as_tensor(ctx.call.value(*ctx.states), device=ctx.device)

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> tuple[Any, ...]:
            found = ctx.call.pulled_back(*ctx.states, cotangent.detach().cpu().numpy())
            wanted = ctx.needs_input_grad[1:]
            gradients = (torch.as_tensor(x, device=ctx.device) if w else None for x, w in zip(found, wanted))
            return None, *first_only(gradients, (*ctx.inputs, cotangent))

    return Evaluate


def _jax_function(output: _Output, *arrays: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def on_host(function: Callable[..., Any], out: Any, *given: Any) -> Any:
        return jax.pure_callback(function, out, *given, vmap_method="broadcast_all")

    @jax.custom_vjp
    def call(*states: Any) -> Any:
        return on_host(output.value, jax.ShapeDtypeStruct((*states[0].shape[:-1], *output.shape), states[0].dtype), *states)

    def forward(*states: Any) -> tuple[Any, Any]:
        return call(*states), states

    def backward(states: tuple[Any, ...], cotangent: Any) -> tuple[Any, ...]:
        out = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in states)
        return on_host(output.pulled_back, out, *states, cotangent)

    call.defvjp(forward, backward)
    kind = jnp.result_type(*arrays)
    shape = jnp.broadcast_shapes(*(jnp.shape(x) for x in arrays))
    return call(*(jnp.broadcast_to(jnp.asarray(x, dtype=kind), shape) for x in arrays))
