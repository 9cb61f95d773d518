"""Contact forces as a differentiable function of torch and of JAX."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from garra import _core, contact
from garra.arguments import place, positive, whole
from garra.batch import first_only, sum_repeated
from garra.renamed import accept_old


@accept_old
def forces(
    A: Any,
    b: Any,
    mu: Any,
    *,
    margin: bool = True,
    method: str = "auto",
    precision: str = "fp64",
    tolerance: float = 1e-8,
    max_iterations: int = 0,
    effort: str = "bounded",
    device: str = "cpu",
    threads: int = 0,
) -> Any:
    """Contact forces as a differentiable function of A, b and mu, in torch or JAX.

    The margin costs a second factorization of the derivative's matrix. Second derivatives raise.

    Parameters
    ----------
    A, b, mu : array or tensor
        As in garra.contact.solve().
    margin : bool
        Also return the margin of garra.contact.gradients().
    method, precision, tolerance, max_iterations, effort, device, threads
        As in garra.contact.solve().

    Returns
    -------
    c : array or tensor [..., 3k]
        Forces [N]; NaN for unsolved problems.
    margin : array or tensor [...]
        Gradients are valid where it is positive. Only with margin=True.

    Raises
    ------
    ValueError
        For inconsistent shapes.
    garra.UsageError
        For gradients and margins of more than 8 contacts.

    Examples
    --------
    >>> c, margin = garra.contact.forces(np.eye(3), np.array([-9.81, 0, 6]), 0.5)
    >>> c, bool(margin > 0)
    (array([ 9.81 ,  0.   , -4.905]), True)
    """
    how = {"method": method, "precision": precision, "tolerance": tolerance, "max_iterations": max_iterations}
    how |= {"effort": effort, "device": device, "threads": threads}
    if not np.shape(mu) and np.shape(b):  # one number for all contacts
        k = np.shape(b)[-1] // 3
        mu = mu.expand(k) if hasattr(mu, "expand") else mu * np.ones(k)
    libraries = {type(x).__module__.partition(".")[0] for x in (A, b, mu)}
    if "torch" in libraries:
        found = _torch_function().apply(A, b, mu, margin, how)
    elif libraries & {"jax", "jaxlib"}:
        found = _jax_function(margin, tuple(how.items()))(A, b, mu)
    else:
        solutions = contact.solve(A, b, mu, **how)
        found = (solutions.c, *_margin(A, mu, solutions, margin))
    return found if margin else found[0]


def _margin(A: Any, mu: Any, found: contact.Solutions, wanted: bool) -> list[Any]:
    """List of the margin, or an empty list."""
    return [contact.gradients(A, mu, found, np.zeros_like(np.asarray(found.c))).margin] if wanted else []


@cache
def _torch_function() -> Any:
    import torch

    class Forces(torch.autograd.Function):
        """c, and the margin if wanted, as a function of A, b, mu."""

        @staticmethod
        def forward(ctx: Any, A: Any, b: Any, mu: Any, wanted: bool, how: dict[str, Any]) -> tuple[Any, ...]:
            arrays = [torch.as_tensor(x).detach().cpu().numpy() for x in (A, b, mu)]
            found = contact.solve(*arrays, **how)
            ctx.problem, ctx.found, ctx.inputs = arrays, found, (A, b, mu)
            ctx.device = torch.as_tensor(A).device
            margin = _margin(arrays[0], arrays[2], found, wanted)
            margin = [torch.as_tensor(np.asarray(x), device=ctx.device) for x in margin]
            ctx.mark_non_differentiable(*margin)
            return torch.as_tensor(found.c, device=ctx.device), *margin

        @staticmethod
        def backward(ctx: Any, cotangent: Any, *_: Any) -> tuple[Any, ...]:
            A, b, mu = ctx.problem
            weight = cotangent.detach().cpu().numpy()
            g = contact.gradients(A, mu, ctx.found, weight)
            unused = (weight == 0).all(axis=-1)  # such problems add nothing, also without a solution

            def used(name: str) -> np.ndarray:
                x = np.asarray(getattr(g, name))
                return np.where(unused.reshape(unused.shape + (1,) * (x.ndim - unused.ndim)), 0, x) if unused.any() else x

            def of(name: str, like: np.ndarray) -> Any:
                if name == "A" and like.shape[:-2] == g.c.shape[:-1]:  # by torch itself: on all threads
                    by_b, c = torch.as_tensor(used("b")), torch.as_tensor(used("c"))
                    return by_b[..., :, None] * c[..., None, :]
                return torch.as_tensor(sum_repeated(used(name), like.shape))

            parts = zip(("A", "b", "mu"), (A, b, mu), ctx.needs_input_grad, strict=False)
            found = (of(name, x).to(ctx.device) if wanted else None for name, x, wanted in parts)
            return *first_only(found, (*ctx.inputs, cotangent)), None, None

    return Forces


@cache
def _jax_function(wanted: bool, how: tuple[tuple[str, Any], ...]) -> Any:
    import jax
    import jax.numpy as jnp

    calls = _xla_calls(how)

    def solved(A: Any, b: Any, mu: Any) -> tuple[np.ndarray, ...]:
        found = contact.solve(np.asarray(A), np.asarray(b), np.asarray(mu), **dict(how))
        state = np.asarray(found.state, dtype=np.uint8)
        margin = _margin(np.asarray(A), np.asarray(mu), found, wanted)
        c, a, *margin = (np.asarray(x, dtype=A.dtype) for x in (found.c, found.a, *margin))
        return c, a, state, *margin

    def solve(A: Any, b: Any, mu: Any) -> tuple[Any, ...]:
        lead, size = np.broadcast_shapes(A.shape[:-2], b.shape[:-1], mu.shape[:-1]), b.shape[-1]
        row = jax.ShapeDtypeStruct((*lead, size), A.dtype)
        margin = [jax.ShapeDtypeStruct(lead, A.dtype)] if wanted else []
        out = (row, row, jax.ShapeDtypeStruct((*lead, size // 3), jnp.uint8), *margin)
        arrays = (
            jnp.broadcast_to(x, (*lead, *tail)) for x, tail in ((A, (size, size)), (b, (size,)), (mu, (size // 3,)))
        )
        return _on_host(calls, "garra_contact_solve", solved, out, *arrays)

    def pulled_back(A: Any, mu: Any, c: Any, a: Any, state: Any, cotangent: Any) -> tuple[np.ndarray, ...]:
        nothing = np.zeros(np.shape(c)[:-1])
        found = contact.Solutions(np.asarray(c), np.asarray(a), *[nothing] * 3, np.asarray(state), nothing, nothing)
        g = contact.gradients(np.asarray(A), np.asarray(mu), found, np.asarray(cotangent))
        return tuple(np.asarray(x, dtype=A.dtype) for x in (g.b, g.mu))

    @jax.custom_vjp
    def forces(A: Any, b: Any, mu: Any) -> tuple[Any, ...]:
        c, _, _, *margin = solve(A, b, mu)
        return c, *margin

    def forward(A: Any, b: Any, mu: Any) -> tuple[Any, Any]:
        c, a, state, *margin = solve(A, b, mu)
        return (c, *margin), (A, b, mu, c, a, state)

    def backward(kept: tuple[Any, ...], cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
        A, b, mu, c, a, state = kept
        lead, size = c.shape[:-1], c.shape[-1]
        out = tuple(jax.ShapeDtypeStruct((*lead, width), A.dtype) for width in (size, size // 3))
        arrays = jnp.broadcast_to(A, (*lead, size, size)), jnp.broadcast_to(mu, (*lead, size // 3)), c, a, state
        by_b, by_mu = _on_host(calls, "garra_contact_gradients", pulled_back, out, *arrays, cotangents[0])
        used = (cotangents[0] != 0).any(axis=-1, keepdims=True)  # others add nothing, also without a solution
        by_b, by_mu, c = (jnp.where(used, x, 0) for x in (by_b, by_mu, c))
        by_A = by_b[..., :, None] * c[..., None, :]  # by JAX itself: on all threads, and where it is asked for only
        return tuple(sum_repeated(x, like.shape) for x, like in ((by_A, A), (by_b, b), (by_mu, mu)))

    forces.defvjp(forward, backward)
    return partial(_call, forces)


def _xla_calls(how: tuple[tuple[str, Any], ...]) -> dict[str, dict[str, Any]]:
    """Functions that XLA calls directly, with their attributes; empty if this JAX cannot call any."""
    import jax

    if not hasattr(jax, "ffi"):
        return {}
    _register_xla_calls()
    told = dict(how)
    device, threads = place(told["device"], told["threads"])
    limit = whole("max_iterations", told["max_iterations"])
    told |= {"max_iterations": np.int64(limit), "tolerance": np.float64(positive("tolerance", told["tolerance"]))}
    told |= {"device": device, "threads": np.int64(threads)}
    where = {name: told[name] for name in ("device", "threads")}
    return {"garra_contact_solve": told, "garra_contact_gradients": where}


@cache
def _register_xla_calls() -> None:
    import jax

    jax.ffi.register_ffi_target("garra_contact_solve", _core.contact_solve_call, platform="cpu")
    jax.ffi.register_ffi_target("garra_contact_gradients", _core.contact_gradients_call, platform="cpu")


def _on_host(calls: dict[str, dict[str, Any]], name: str, function: Any, out: tuple[Any, ...], *arrays: Any) -> Any:
    """Call `name` on host arrays. Arrays on a GPU go to the NumPy function `function`, as in XLA callbacks."""
    import jax

    def by_callback(*arrays: Any) -> Any:
        return jax.pure_callback(function, out, *arrays, vmap_method="broadcast_all")

    def by_itself(*arrays: Any) -> Any:
        return tuple(jax.ffi.ffi_call(name, out, vmap_method="broadcast_all")(*arrays, **calls[name]))

    if not calls:
        return by_callback(*arrays)
    return jax.lax.platform_dependent(*arrays, cpu=by_itself, default=by_callback)


def _call(function: Any, A: Any, b: Any, mu: Any) -> Any:
    """JAX's own arrays, of one kind: double precision where it is switched on (jax_enable_x64)."""
    import jax.numpy as jnp

    A, b, mu = (jnp.asarray(x) for x in (A, b, mu))
    kind = jnp.result_type(A, b, mu)
    return function(A.astype(kind), b.astype(kind), mu.astype(kind))
