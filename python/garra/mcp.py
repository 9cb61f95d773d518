"""Mixed complementarity problems with bounds, of your own functions (docs/theory/mcp.md):

    l <= x <= u,   F_i(x) >= 0 where x_i = l_i,   F_i(x) <= 0 where x_i = u_i,   F_i(x) = 0 between

for thousands of instances at once. F takes and returns arrays [batch, n] of NumPy, torch or JAX.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from garra import _core
from garra.arguments import numbers, place, positive, whole
from garra.batch import Batch, first_only
from garra.options import accept_options
from garra.summary import Converged

METHODS: tuple[str, ...] = ("auto", "semismooth-newton", "merit")
"""Values of SolveOptions.method"""
MERITS: tuple[str, ...] = _core.mcp_merits
"""Merit functions (docs/theory/mcp.md, 2)."""
MINIMIZERS: tuple[str, ...] = _core.mcp_minimizers[:-1]
"""docs/theory/minimizers.md"""
AFFINE_METHODS: tuple[str, ...] = _core.mcp_affine_methods
"""Methods of solve_affine()."""
_NEWTON = len(MINIMIZERS)
_LEAST_SINGLE = 1e-4
"""Least tolerance of functions in single precision."""


@dataclass(frozen=True, repr=False)
class Solutions(Converged):
    """Solutions of a batch; [...] are the leading axes of the problems.

    Examples
    --------
    >>> garra.mcp.solve(lambda x: x - 2, 0, [1, np.inf], [0, 0])
    Solutions(1 of 1 converged)
    """

    x: Any
    """[..., n] the unknowns, NaN where not converged"""
    F: Any
    """[..., n] F at x, NaN where not converged"""
    residual: Any
    """[...] largest |max(min(F_i, x_i - l_i), x_i - u_i)|, computed from x alone"""
    minimum: Any
    """[...] final value of the merit function"""
    status: Any
    """[...] index in garra.contact.STATUS. converged: residual <= tolerance; stalled, iteration_limit: of the last
    start; invalid_input: x0 or F at x0 is NaN or infinite"""
    iterations: Any
    """[...] iterations, over all starts"""
    evaluations: Any
    """[...] values of the merit function that were asked for"""
    stage: Any
    """[...] starts used before the last one"""
    method: Any
    """[...] number of the pair of "auto" that was used last, else 0"""
    calls: int
    """calls of F for values, each of all rows"""
    jacobian_calls: int
    """calls for derivatives"""


@dataclass(frozen=True)
class SolveOptions:
    """Options of solve(), which takes the fields as keywords too.

    Parameters
    ----------
    method : str
        "auto": semismooth Newton on the Fischer-Burmeister residual, then on the natural residual, then merit functions
        with projected Levenberg-Marquardt. "semismooth-newton": of `merit` "fischer-burmeister" or "natural".
        "merit": `minimizer` on `merit`.
    merit : str
        One of MERITS. "papers" and "products" take a slack variable for each bound. "natural" is for semismooth-newton.
    minimizer : str
        One of MINIMIZERS. "box-quacan" leaves out second derivatives of F.
    tolerance : float
        Converged: residual <= tolerance.
    starts : int
        Largest number of starts of one pair, from the second on around x0 in the bounds; "auto" has its own.
    max_iterations : int
        Iterations of one start; 0: the method's own limit.

    Raises
    ------
    TypeError
        For values of another kind.
    garra.UsageError
        For unknown names and values out of range.

    Examples
    --------
    >>> options = garra.mcp.SolveOptions(method="semismooth-newton", tolerance=1e-12)
    >>> garra.mcp.solve(lambda x: x**3 - 8, 0, 5, [1.0], options=options).x.round(3)
    array([2.])
    """

    method: str = "auto"
    merit: str = "fischer-burmeister"
    minimizer: str = "projected-lm"
    tolerance: float = 1e-8
    starts: int = 1
    max_iterations: int = 0

    def __post_init__(self) -> None:
        self._checked()

    def _checked(self) -> tuple[Any, ...]:
        starts = whole("starts", self.starts, 1)
        merit = _known("merit", self.merit, MERITS)
        minimizer = _known("minimizer", self.minimizer, MINIMIZERS)
        stages = {
            "auto": list(_core.mcp_auto),
            "semismooth-newton": [(merit, _NEWTON, starts)],
            "merit": [(merit, minimizer, starts)],
        }
        _known("method", self.method, METHODS)
        limit = whole("max_iterations", self.max_iterations)
        return stages[self.method], positive("tolerance", self.tolerance), limit


@accept_options(options=SolveOptions)
def solve(
    F: Callable[[Any], Any],
    lower: Any,
    upper: Any,
    x0: Any,
    jacobian: Callable[[Any], Any] | None = None,
    *,
    options: SolveOptions | None = None,
) -> Solutions:
    """Solves mixed complementarity problems of a function of your own.

    F is called with all problems at once, always with one shape: row i is instance i. A row whose problem is finished is
    evaluated again, so that the bits of a row depend on that row alone if F treats rows alone.

    Parameters
    ----------
    F : callable
        F(x) for x [batch, n] returns [batch, n], in the library of x0 (NumPy, torch or JAX). x is inside the bounds.
    lower, upper : float or array_like [..., n]
        Bounds, infinite where there is none, equal where an unknown is fixed. Leading axes broadcast.
    x0 : array_like [..., n]
        Start; moved into the bounds.
    jacobian : callable, optional
        dF_i/dx_j [batch, n, n] for x [batch, n]. Default: automatic derivatives of torch and JAX, forward differences
        with NumPy (n + 1 calls of F).
    options : SolveOptions, optional
        Fields are keywords too.

    Returns
    -------
    Solutions
        A problem that fails has a status, never an exception.

    Raises
    ------
    ValueError
        For inconsistent shapes, also of what F returns.
    garra.UsageError
        For lower > upper, NaN bounds, unknown names, options out of range, and where F or jacobian raises.

    Examples
    --------
    A thousand Cournot games of three firms with capacities; total output decides the price:

    >>> cost = np.random.default_rng(0).uniform(1, 8, (1000, 3))
    >>> capacity = np.array([2.0, 3.0, 4.0])
    >>> def loss(q):  # minus the derivative of each firm's profit (10 - total) q_i - cost_i q_i by its q_i
    ...     return cost + q + q.sum(axis=1, keepdims=True) - 10
    >>> games = garra.mcp.solve(loss, 0, capacity, np.ones((1000, 3)))
    >>> games, bool((games.x <= capacity).all())
    (Solutions(1000 of 1000 converged), True)
    """
    arrays = _Arrays(lower, upper, x0)
    arrays.check_precision(options.tolerance)
    value = _Called("F", F, arrays)
    if jacobian is not None:
        slopes: Callable[[np.ndarray], np.ndarray] = _Called("jacobian", jacobian, arrays)
    else:
        slopes = arrays.derivatives(F, value)
    found = _core.mcp_solve(arrays.lower, arrays.upper, arrays.x0, value, slopes, *options._checked())
    return Solutions(**{k: v if isinstance(v, int) else arrays.out(v) for k, v in found.items()})


@dataclass(frozen=True, repr=False)
class AffineSolutions(Converged):
    """Solutions of affine problems; [...] are the leading axes of the problems.

    Examples
    --------
    >>> garra.mcp.solve_affine([[-1.0]], [-1.0], 0, np.inf)  # -x - 1 >= 0: no x >= 0
    AffineSolutions(0 of 1 converged, 1 stalled)
    """

    x: Any
    """[..., n] the unknowns, NaN where not converged"""
    F: Any
    """[..., n] M x + q, NaN where not converged"""
    residual: Any
    """[...] largest |max(min(F_i, x_i - l_i), x_i - u_i)|, of the best method"""
    status: Any
    """[...] index in garra.contact.STATUS. no_solution: a ray proves that the constraints have no point (Lemke's method,
    positive semidefinite M); stalled, iteration_limit: of the last method; invalid_input: NaN or infinity"""
    iterations: Any
    """[...] Newton steps, pivots or interior-point steps, over all methods"""
    method: Any
    """[...] index in AFFINE_METHODS of the last method"""


def solve_affine(
    M: Any,
    q: Any,
    lower: Any,
    upper: Any,
    x0: Any = None,
    *,
    method: str = "auto",
    tolerance: float = 1e-8,
    max_iterations: int = 0,
    device: str = "cpu",
    threads: int = 0,
) -> AffineSolutions:
    """Solves F(x) = M x + q on l <= x <= u: linear, mixed linear and box complementarity problems.

    Parameters
    ----------
    M : array_like [..., n, n]
        Any square matrix, dense, up to a few hundred unknowns. Leading axes broadcast.
    q : array_like [..., n]
        Constant part.
    lower, upper : float or array_like [..., n]
        Bounds: 0 and infinity of a linear complementarity problem, both infinite of an equation.
    x0 : array_like [..., n], optional
        Start of "pivoting" and "semismooth-newton"; default: 0, moved into the bounds.
    method : str
        "lemke" (pivots along a path; finds rays), "pivoting" (exchanges blocks of rows: Newton's method on the natural
        residual), "interior-point" (for positive semidefinite M), "semismooth-newton" (Fischer-Burmeister), "auto" (the
        order is pivoting, semismooth-newton, lemke, interior-point until one solves).
    tolerance : float
        Converged: residual <= tolerance, in the problem's own units.
    max_iterations : int
        Of each method; 0: its own limit.
    device : str
        "cpu", "scalar", "auto" or "cuda": a GPU takes up to 64 unknowns by "pivoting", "semismooth-newton", or "auto",
        which is these two there. One thread solves one problem.
    threads : int
        CPU threads; 0: all.

    Returns
    -------
    AffineSolutions
        A problem that fails has a status, never an exception.

    Raises
    ------
    ValueError
        For inconsistent shapes.
    garra.UsageError
        For lower > upper, NaN bounds, unknown names and options out of range.

    Examples
    --------
    >>> s = garra.mcp.solve_affine([[2.0, 1.0], [1.0, 2.0]], [-5.0, 1.0], 0, [2.0, np.inf])
    >>> s.x, s.F
    (array([2., 0.]), array([-1.,  3.]))
    """
    size = np.shape(q)[-1] if np.ndim(q) else 0
    low, high = _bound("lower", lower, size), _bound("upper", upper, size)
    _check_bounds(low, high)
    start = np.zeros(size) if x0 is None else x0
    named = (("q", q), ("lower", low), ("upper", high), ("x0", start))
    batch = Batch(("M", M, (size, size)), *((name, value, (size,)) for name, value in named))
    number = _known("method", method, AFFINE_METHODS)
    options = number, positive("tolerance", tolerance), whole("max_iterations", max_iterations)
    arrays = (batch[name] for name in ("M", "q", "lower", "upper", "x0"))
    found = _core.mcp_solve_affine(*arrays, *options, *place(device, threads))
    return batch.result(AffineSolutions, found)


@dataclass(frozen=True)
class AffineGradients:
    """Derivatives of a function of solutions of affine problems; [...] are the leading axes of the problems.

    Examples
    --------
    >>> s = garra.mcp.solve_affine([[2.0]], [-1.0], 0, 1)  # x = -q / M
    >>> g = garra.mcp.affine_gradients([[2.0]], s, [1.0], 0, 1)
    >>> g.q, g.M
    (array([-0.5]), array([[-0.25]]))
    """

    M: Any
    """[..., n, n] by M, NaN where not valid"""
    q: Any
    """[..., n] by q, NaN where not valid"""
    valid: Any
    """[...] bool: the implicit function theorem applies"""
    margin: Any
    """[...] as in Sensitivity"""


def affine_gradients(
    M: Any, found: AffineSolutions, cotangent: Any, lower: Any, upper: Any, *, tolerance: float = 1e-6
) -> AffineGradients:
    """Derivatives of sum(cotangent * x) by M and q at solutions of affine problems.

    Parameters
    ----------
    M : array_like [..., n, n]
        As given to solve_affine().
    found : AffineSolutions
        Its answer.
    cotangent : array_like [..., n]
        Derivative of the function by x.
    lower, upper : float or array_like [..., n]
        As given to solve_affine().
    tolerance : float
        As in sensitivity().

    Returns
    -------
    AffineGradients
        One row per problem.

    Raises
    ------
    ValueError
        For inconsistent shapes.

    Examples
    --------
    >>> s = garra.mcp.solve_affine([[2.0]], [1.0], 0, 1)  # x = 0 for every q > 0
    >>> garra.mcp.affine_gradients([[2.0]], s, [1.0], 0, 1).q
    array([0.])
    """
    x, F = numbers("x", found.x), numbers("F", found.F)
    weights = np.broadcast_to(numbers("cotangent", cotangent), x.shape)
    by_q = sensitivity(x, F, M, np.broadcast_to(np.eye(x.shape[-1]), (*x.shape, x.shape[-1])), lower, upper, tolerance=tolerance)
    q = np.einsum("...i,...ij->...j", weights, by_q.x_p)
    return AffineGradients(q[..., :, None] * x[..., None, :], q, by_q.valid, by_q.margin)


@dataclass(frozen=True)
class Sensitivity:
    """Derivatives of solutions by parameters; [...] are the leading axes of the problems.

    Examples
    --------
    >>> s = garra.mcp.sensitivity([2.0], [0.0], [[1.0]], [[-1.0]], 0, 5)  # F = x - p at p = 2
    >>> s.x_p, s.valid
    (array([[1.]]), array(True))
    """

    x_p: Any
    """[..., n, m] dx_i/dp_j, NaN where not valid"""
    valid: Any
    """[...] bool: the implicit function theorem applies"""
    margin: Any
    """[...] smallest over i of the larger of |F_i| and the distance of x_i to its nearest bound: 0 where it fails"""


def sensitivity(x: Any, F: Any, J: Any, F_p: Any, lower: Any, upper: Any, *, tolerance: float = 1e-6) -> Sensitivity:
    """Derivatives of solutions by parameters p of F(x, p), by the implicit function theorem.

    With A the unknowns at a bound where F is not 0 and I the others: x_A stays, and J_II dx_I = -F_p,I dp.

    Parameters
    ----------
    x, F : array_like [..., n]
        Solution and F there, as in Solutions.
    J : array_like [..., n, n]
        dF_i/dx_j there.
    F_p : array_like [..., n, m]
        dF_i/dp_j there.
    lower, upper : float or array_like [..., n]
        Bounds, independent of p.
    tolerance : float
        Valid: x solves the problem within the tolerance, margin > tolerance, and J_II has a reciprocal condition above
        1e-12.

    Returns
    -------
    Sensitivity
        One row per problem.

    Raises
    ------
    ValueError
        For inconsistent shapes.

    Examples
    --------
    At F = x - p and x = p = 0, the lower bound, the solution max(p, 0) has a kink:

    >>> garra.mcp.sensitivity([0.0], [0.0], [[1.0]], [[-1.0]], 0, 5).valid
    array(False)
    """
    x, F, J, F_p = numbers("x", x), numbers("F", F), numbers("J", J), numbers("F_p", F_p)
    if x.ndim == 0:
        raise ValueError(f"x has the shape {x.shape}, not [..., n]")
    n = x.shape[-1]
    for name, array, fits, wanted in (
        ("F", F, F.shape[-1:] == (n,), f"[..., {n}] as"),
        ("J", J, J.shape[-2:] == (n, n), f"[..., {n}, {n}] as"),
        ("F_p", F_p, F_p.shape[-2:-1] == (n,), f"[..., {n}, m] for m parameters and"),
    ):
        if not fits:
            raise ValueError(f"{name} has the shape {array.shape}, not {wanted} x {x.shape}")
    low, high = _bound("lower", lower, n), _bound("upper", upper, n)
    gap = np.minimum(x - low, high - x)
    fixed = np.broadcast_to(low == high, gap.shape)
    size = np.where(fixed, np.inf, np.maximum(gap, abs(F)))
    margin = size.min(axis=-1)
    free = ~fixed & (gap > abs(F))
    both = free[..., :, None] & free[..., None, :]
    K = np.where(both, J, np.eye(n))
    error = abs(np.maximum(np.minimum(F, x - low), x - high)).max(axis=-1)
    known = np.isfinite(K).all(axis=(-2, -1)) & np.isfinite(F_p).all(axis=(-2, -1)) & (margin > tolerance)
    known &= error <= tolerance
    K = np.where(known[..., None, None], K, np.eye(n))
    s = np.linalg.svd(K, compute_uv=False)
    valid = known & (s[..., -1] > 1e-12 * s[..., 0])
    K = np.where(valid[..., None, None], K, np.eye(n))
    x_p = np.linalg.solve(K, np.where(free[..., None], -F_p, 0.0))
    return Sensitivity(np.where(valid[..., None, None], x_p, np.nan), np.asarray(valid), margin)


def solution(
    F: Callable[..., Any], lower: Any, upper: Any, x0: Any, *parameters: Any, options: SolveOptions | None = None
) -> tuple[Any, Any]:
    """Solutions of F(x, *parameters) as a differentiable function of the parameters, in torch or JAX.

    The backward pass solves one linear system a problem and differentiates F once, by the implicit function theorem.
    Second derivatives raise. JAX cannot trace the call: it works in jax.grad, not in jit and vmap.

    Parameters
    ----------
    F : callable
        F(x, *parameters) for x [batch, n] returns [batch, n] in torch or JAX. Row i depends on row i of x alone.
    lower, upper : float or array_like [n]
        Bounds, independent of the parameters.
    x0 : tensor or array [batch, n]
        Start, in double precision; its library is that of the call.
    *parameters : tensor or array
        Of any shape.
    options : SolveOptions, optional
        As in solve().

    Returns
    -------
    x : tensor or array [batch, n]
        NaN for unsolved problems.
    valid : tensor or array [batch]
        bool: derivatives exist (sensitivity()). Other problems add nothing to a gradient, unless their F is NaN.

    Raises
    ------
    ValueError, garra.UsageError
        As solve(); and for arrays of NumPy, which have no derivatives.

    Examples
    --------
    >>> p = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)  # doctest: +SKIP
    >>> start = torch.zeros(2, 1, dtype=torch.float64)  # doctest: +SKIP
    >>> x, valid = garra.mcp.solution(lambda x, p: x - p[:, None], 0, 2.5, start, p)  # doctest: +SKIP
    >>> x.sum().backward()  # doctest: +SKIP
    >>> p.grad  # the second solution lies on its bound  # doctest: +SKIP
    tensor([1., 0.], dtype=torch.float64)
    """
    library = _Arrays(lower, upper, x0).library
    if library not in ("torch", "jax"):
        raise _core.UsageError(
            "x0 is no tensor of torch and no array of JAX: its solution has no derivatives\n"
            "Use garra.mcp.solve() and garra.mcp.sensitivity() with arrays of NumPy."
        )
    if np.ndim(x0) != 2:
        raise ValueError(f"x0 has the shape {tuple(np.shape(x0))}, not [batch, n]")
    how = SolveOptions() if options is None else options
    problem = _Differentiable(F, lower, upper, how)
    if library == "torch":
        return problem.in_torch(x0, parameters)
    return problem.in_jax(x0, parameters)


class _Differentiable:
    """x(p) with F(x, p) = 0 in the free unknowns, and its derivative."""

    def __init__(self, F: Callable[..., Any], lower: Any, upper: Any, options: SolveOptions) -> None:
        self.F, self.lower, self.upper, self.options = F, lower, upper, options

    def solved(self, x0: Any, parameters: tuple[Any, ...]) -> Solutions:
        return solve(lambda x: self.F(x, *parameters), self.lower, self.upper, x0, options=self.options)

    def inverse(self, x: Any, F: Any, J: Any) -> tuple[np.ndarray, np.ndarray]:
        """dx/dF [batch, n, n], 0 where it is not defined, and the mask of sensitivity(): dL/dp = w' dx/dF dF/dp."""
        unit = np.broadcast_to(np.eye(np.shape(x)[-1]), np.shape(J))
        by_F = sensitivity(x, F, J, unit, self.lower, self.upper, tolerance=max(self.options.tolerance, 1e-6))
        return np.where(by_F.valid[..., None, None], by_F.x_p, 0.0), by_F.valid

    def in_torch(self, x0: Any, parameters: tuple[Any, ...]) -> tuple[Any, Any]:
        import torch

        problem = self

        class Solution(torch.autograd.Function):
            """x and the mask, as a function of the parameters."""

            @staticmethod
            def forward(ctx: Any, *parameters: Any) -> tuple[Any, Any]:
                p = tuple(q.detach() for q in parameters)
                with torch.enable_grad():
                    found = problem.solved(x0, p)
                    J = _torch_jacobian(lambda x: problem.F(x, *p), found.x.nan_to_num().detach().clone())
                ctx.save_for_backward(found.x, *parameters)
                solved = problem.inverse(*(a.detach().cpu().numpy() for a in (found.x, found.F, J)))
                ctx.by_F, ctx.valid = (torch.as_tensor(a, device=found.x.device) for a in solved)
                ctx.mark_non_differentiable(ctx.valid)
                return found.x, ctx.valid

            @staticmethod
            def backward(ctx: Any, cotangent: Any, *_: Any) -> tuple[Any, ...]:
                x, *saved = ctx.saved_tensors
                y = torch.einsum("bi,bij->bj", cotangent.nan_to_num(), ctx.by_F)
                x = torch.where(ctx.valid[:, None], x, 0)
                with torch.enable_grad():
                    p = [q.detach().requires_grad_(needed) for q, needed in zip(saved, ctx.needs_input_grad, strict=True)]
                    rows = problem.F(x.detach(), *p)
                wanted = [q for q in p if q.requires_grad]
                found = iter(torch.autograd.grad(rows, wanted, y, allow_unused=True))
                return first_only((next(found) if q.requires_grad else None for q in p), (*saved, cotangent))

        x, valid = Solution.apply(*(torch.as_tensor(p) for p in parameters))
        return x, valid

    def in_jax(self, x0: Any, parameters: tuple[Any, ...]) -> tuple[Any, Any]:
        import jax
        import jax.numpy as jnp

        def forward(*p: Any) -> tuple[tuple[Any, Any], Any]:
            found = self.solved(x0, p)
            J = _jax_jacobian(lambda x: self.F(x, *p), jnp.nan_to_num(found.x))
            by_F, valid = map(jnp.asarray, self.inverse(found.x, found.F, J))
            return (found.x, valid), (p, found.x, by_F, valid)

        def backward(kept: Any, cotangents: Any) -> tuple[Any, ...]:
            p, x, by_F, valid = kept
            y = jnp.einsum("bi,bij->bj", jnp.nan_to_num(cotangents[0]), by_F)
            x = jnp.where(valid[:, None], x, 0)
            return jax.vjp(lambda *q: self.F(x, *q), *p)[1](y)

        call = jax.custom_vjp(lambda *p: forward(*p)[0])
        call.defvjp(forward, backward)
        return call(*parameters)


def _known(name: str, value: Any, known: tuple[str, ...]) -> int:
    if value not in known:
        raise _core.UsageError(f'{name} = "{value}": no such one\nUse one of {", ".join(known)}.')
    return known.index(value)


def _bound(name: str, value: Any, n: int) -> np.ndarray:
    """[..., n] of one number or an array; the library says which numbers are no bounds."""
    array = numbers(name, value)
    array = np.broadcast_to(array, (n,)) if array.ndim == 0 else array
    if array.shape[-1] != n:
        raise ValueError(f"{name} has the shape {array.shape}, not [..., {n}] as x0")
    return array


def _check_bounds(low: np.ndarray, high: np.ndarray) -> None:
    wrong = ~(low <= high) | (low == np.inf) | (high == -np.inf)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        pair = (float(np.broadcast_to(b, wrong.shape)[at]) for b in (low, high))
        said = ", ".join(f"{name}{list(at)} = {b}" for name, b in zip(("lower", "upper"), pair, strict=True))
        shapes = f"lower has the shape {low.shape}, upper {high.shape}"
        raise _core.UsageError(f"{said}: no bounds ({shapes})\nGive lower <= upper, and infinity where there is none.")


class _Arrays:
    """The problems as [batch, n], and the library of the caller's arrays."""

    def __init__(self, lower: Any, upper: Any, x0: Any) -> None:
        self.library = {"jaxlib": "jax"}.get(name := type(x0).__module__.partition(".")[0], name)
        self.like = x0
        start = numbers("x0", x0.detach().cpu() if self.library == "torch" else x0)
        if start.ndim == 0 or start.shape[-1] == 0:
            raise ValueError(f"x0 has the shape {start.shape}, not [..., n] with n unknowns")
        self.n = start.shape[-1]
        low, high = _bound("lower", lower, self.n), _bound("upper", upper, self.n)
        try:
            shape = np.broadcast_shapes(low.shape, high.shape, start.shape)
        except ValueError:
            said = f"lower {low.shape}, upper {high.shape}, x0 {start.shape}"
            raise ValueError(f"the leading axes do not fit together: {said}") from None
        self.lead = shape[:-1]
        self.batch = prod(self.lead)
        _check_bounds(low, high)
        self.lower, self.upper, self.x0 = (
            np.ascontiguousarray(np.broadcast_to(a, shape).reshape(self.batch, self.n)) for a in (low, high, start)
        )

    def given(self, x: np.ndarray) -> Any:
        """[batch, n] in the caller's library."""
        if self.library == "torch":
            import torch

            return torch.from_numpy(x).to(self.like.device)
        if self.library == "jax":
            import jax.numpy as jnp

            return jnp.asarray(x)
        return x

    def check_precision(self, tolerance: float) -> None:
        if self.library != "jax" or tolerance >= _LEAST_SINGLE:
            return
        import jax

        if not jax.config.jax_enable_x64:
            raise _core.UsageError(
                f"x0 is an array of JAX in single precision, too coarse for tolerance = {tolerance}\n"
                f'Call jax.config.update("jax_enable_x64", True), or give a tolerance of {_LEAST_SINGLE} or more.'
            )

    def as_rows(self, name: str, value: Any, tail: tuple[int, ...]) -> np.ndarray:
        """float64 [batch, *tail] of what a function returned."""
        if self.library == "torch" and hasattr(value, "detach"):
            value = value.detach().cpu()
        array = numbers(f"what {name} returned", value)
        shape = (self.batch, *tail)
        if array.shape != shape:
            words = "[batch, n]" if len(tail) == 1 else "[batch, n, n]"
            raise ValueError(f"{name} returned an array of the shape {array.shape}, not {words} = {list(shape)}")
        return np.ascontiguousarray(array)

    def out(self, array: np.ndarray) -> Any:
        """[batch, ...] with the caller's leading axes, in the caller's library."""
        return self.given(array.reshape(self.lead + array.shape[1:])) if self.lead else self.given(array)[0]

    def derivatives(self, F: Callable[[Any], Any], value: _Called) -> Callable[[np.ndarray], np.ndarray]:
        automatic = {"torch": _torch_jacobian, "jax": _jax_jacobian}.get(self.library)
        if automatic is None:
            return lambda x: self._differences(value, x)
        return _Called("the derivative of F", lambda x: automatic(F, x), self)

    def _differences(self, value: _Called, x: np.ndarray) -> np.ndarray:
        F = value(x)
        J = np.empty((self.batch, self.n, self.n))
        h = np.sqrt(np.finfo(float).eps) * np.maximum(1.0, abs(x))
        up, down = self.upper - x, x - self.lower
        h = np.where(up >= h, h, np.where(up >= down, up, -np.minimum(h, down)))  # stays inside the bounds
        for j in range(self.n):
            moved = x.copy()
            moved[:, j] += h[:, j]
            step = moved[:, j] - x[:, j]
            moves = step != 0  # an unknown without room is fixed: its column has no effect
            J[:, :, j] = np.where(moves[:, None], (value(moved) - F) / np.where(moves, step, 1)[:, None], np.eye(self.n)[j])
        return J


class _Called:
    """A function of the caller's on NumPy arrays, with checks of what it returns."""

    def __init__(self, name: str, function: Callable[[Any], Any], arrays: _Arrays) -> None:
        if not callable(function):
            raise TypeError(f"{name} is {type(function).__name__}: a function of x [batch, n] is needed")
        self._name, self._function, self._arrays = name, function, arrays
        self._tail = (arrays.n,) * (1 if name == "F" else 2)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        value = _guarded(self._name, x, lambda: self._function(self._arrays.given(x.copy())))
        return self._arrays.as_rows(self._name, value, self._tail)


def _guarded(name: str, x: np.ndarray, call: Callable[[], Any]) -> Any:
    """What call() returns; its exception as a UsageError that names the function and the shape."""
    try:
        return call()
    except Exception as problem:
        said = f"{type(problem).__name__}: {problem}"
        raise _core.UsageError(f"{name} raised {said}, for x of the shape [batch, n] = {list(x.shape)}") from problem


def _torch_jacobian(F: Callable[[Any], Any], x: Any) -> Any:
    """[batch, n, n] by one backward pass for each row of the Jacobian: F treats the rows of x alone."""
    import torch

    x = x.requires_grad_()
    values = F(x)
    rows = [
        torch.autograd.grad(values[:, i].sum(), x, retain_graph=True, allow_unused=True)[0]
        for i in range(values.shape[1])
    ]
    return torch.stack([torch.zeros_like(x) if row is None else row for row in rows], dim=1)


def _jax_jacobian(F: Callable[[Any], Any], x: Any) -> Any:
    """[batch, n, n] by one forward pass for each column of the Jacobian."""
    import jax
    import jax.numpy as jnp

    def along(unit: Any) -> Any:
        return jax.jvp(F, (x,), (jnp.broadcast_to(unit, x.shape),))[1]

    return jnp.moveaxis(jax.vmap(along)(jnp.eye(x.shape[1], dtype=x.dtype)), 0, 2)
