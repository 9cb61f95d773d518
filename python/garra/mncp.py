"""Mixed nonlinear complementarity problems of the built-in families (docs/theory/mncp.md):

    0 <= u ⟂ F(u, v) >= 0,   G(u, v) = 0

with x = (u, v), p complementary unknowns u and m free unknowns v. One function per family solves a batch of its
problems. `problems()` returns the 53 named problems of the test set, from MCPLIB, Hock-Schittkowski, Siconos and the
literature, with their known solutions. User-defined F and G need C++: garra::mncp::solve().
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

import numpy as np

from garra import _core
from garra.arguments import place, positive, whole
from garra.batch import Batch
from garra.options import accept_options
from garra.summary import Converged

MERITS: tuple[str, ...] = _core.mncp_merits
"""Merit functions (3), (4), (5) of docs/theory/mncp.md."""
MINIMIZERS: tuple[str, ...] = _core.mncp_minimizers
"""docs/theory/minimizers.md"""


@dataclass(frozen=True, repr=False)
class Solutions(Converged):
    """Solutions of a batch; [...] are the leading axes of the problems.

    Examples
    --------
    >>> garra.mncp.nash_cournot(demand=[4000.0, 5000.0])
    Solutions(2 of 2 converged)
    """

    x: Any
    """[..., n] the unknowns (u, v), NaN where not converged"""
    FG: Any
    """[..., n] (F, G) at x, NaN where not converged"""
    residual: Any
    """[...] largest |min(u_i, F_i)| and |G_j|, recomputed from x"""
    minimum: Any
    """[...] final value of the merit function"""
    status: Any
    """[...] index in garra.contact.STATUS. converged: residual <= tolerance; stalled, iteration_limit: of the last
    start; invalid_input: a number that is NaN or infinite"""
    iterations: Any
    """[...] outer iterations, over all starts"""
    evaluations: Any
    """[...] evaluations of the merit function"""
    stage: Any
    """[...] starts used before the last one"""
    stalls: Any
    """[...] starts that ended without a solution"""


@dataclass(frozen=True)
class SolveOptions:
    """Options of all functions of this module, which take the fields as keywords too.

    Parameters
    ----------
    merit : str
        One of MERITS.
    minimizer : str
        One of MINIMIZERS. The default pair solves the most problems.
    tolerance : float
        Converged: residual <= tolerance.
    starts : int
        Largest number of starts, from the second on around the given one.
    max_iterations : int
        Iterations of one start; 0: the minimizer's own limit.
    device : str
        "cpu" or "scalar", with the same bits; there is no GPU kernel.
    threads : int
        CPU threads; 0: all.

    Raises
    ------
    TypeError
        For values of another kind.
    garra.UsageError
        For values out of range.

    Examples
    --------
    >>> options = garra.mncp.SolveOptions(tolerance=1e-10, starts=20)
    >>> garra.mncp.kojima_shindo(options=options)
    Solutions(1 of 1 converged)
    """

    merit: str = "products"
    minimizer: str = "projected-lm"
    tolerance: float = 1e-8
    starts: int = 10
    max_iterations: int = 0
    device: str = "cpu"
    threads: int = 0

    def __post_init__(self) -> None:
        self._checked()

    def _checked(self) -> tuple[Any, ...]:
        most = whole("starts", self.starts, 1), whole("max_iterations", self.max_iterations)
        where = place(self.device, self.threads)
        return self.merit, self.minimizer, positive("tolerance", self.tolerance), *most, *where


@dataclass(frozen=True)
class Problem:
    """A named problem of the test set.

    Examples
    --------
    >>> problem = garra.mncp.problems()[0]
    >>> problem.name, problem.family, problem.solutions.round(3)
    ('billups', 'quartic', array([[2.005]]))
    """

    name: str
    family: str
    """name of the function of this module that solves it"""
    arrays: dict[str, np.ndarray]
    """arguments of that function"""
    start: np.ndarray
    """[n] initial guess of its source"""
    solutions: np.ndarray
    """[s, n] known solutions; for a continuum some of its points"""
    free: int
    """number m of free unknowns"""

    @accept_options(options=SolveOptions)
    def solve(self, *, start: Any = None, options: SolveOptions | None = None) -> Solutions:
        """Solves the problem, from its own initial guess by default. Fields of `options` are keywords too.

        Parameters
        ----------
        start : array_like [..., n], optional
            Initial guess; default: the source's.
        options : SolveOptions, optional
            Fields are keywords too.

        Returns
        -------
        Solutions
            A problem that fails has a status, never an exception.

        Raises
        ------
        ValueError
            For inconsistent shapes.
        garra.UsageError
            For unknown names and options out of range.

        Examples
        --------
        >>> garra.mncp.problems()[0].solve().x.round(3)
        array([2.005])
        """
        sizes = {"free": self.free} if self.family == "linear" else {}
        function: Callable[..., Solutions] = globals()[self.family]
        return function(**self.arrays, **sizes, start=self.start if start is None else start, options=options)


@accept_options(options=SolveOptions)
def linear(M: Any, q: Any, *, free: int = 0, start: Any = None, options: SolveOptions | None = None) -> Solutions:
    """Solves (F, G) = M x + q; the last `free` rows are G. garra.lcp.solve() is faster for free=0.

    Parameters
    ----------
    M : array_like [..., n, n]
        n is 2, 3, 4, 6 or 7 without free unknowns, or 10 with five. Leading axes broadcast.
    q : array_like [..., n]
        Constant part.
    free : int
        Number m of free unknowns.
    start : array_like [..., n], optional
        Initial guess; default: 0.
    options : SolveOptions, optional
        Fields are keywords too.

    Returns
    -------
    Solutions
        A problem that fails has a status, never an exception.

    Raises
    ------
    ValueError
        For inconsistent shapes or a size that is not built in.
    garra.UsageError
        For unknown names and options out of range.

    Examples
    --------
    >>> garra.mncp.linear([[2, 1], [1, 2]], [-5, 1]).x.round(3)
    array([2.5, 0. ])
    """
    size = np.shape(q)[-1] if np.ndim(q) else 0
    key = ("linear", size - free, free)
    if key not in _FAMILIES:
        sizes = ", ".join(f"{p + m} (free={m})" if m else str(p) for name, p, m in _FAMILIES if name == "linear")
        raise ValueError(f"q has {size} numbers, {free} of them free: built in are {sizes}")
    return _solve(key, {"M": (M, (size, size)), "q": (q, (size,))}, np.zeros(size) if start is None else start, options)


@accept_options(options=SolveOptions)
def quartic(c: Any, L: Any, Q: Any, s: Any, *, start: Any = None, options: SolveOptions | None = None) -> Solutions:
    """Solves F_i = c_i + sum_j L_ij x_j + sum_{j <= k} Q_ijk x_j x_k + s_i (1 - x_1)^4, for one or two unknowns.

    Parameters
    ----------
    c, s : array_like [..., n]
        Constant part; coefficient of the fourth power.
    L : array_like [..., n, n]
        Linear part.
    Q : array_like [..., n, n (n + 1) / 2]
        Quadratic part, with (j, k) as 11, 12, 22.
    start : array_like [..., n], optional
        Initial guess; default: 0.
    options : SolveOptions, optional
        Fields are keywords too.

    Returns
    -------
    Solutions
        A problem that fails has a status, never an exception.

    Raises
    ------
    ValueError
        For inconsistent shapes or a size that is not built in.
    garra.UsageError
        For unknown names and options out of range.

    Examples
    --------
    >>> garra.mncp.quartic([-1], [[2]], [[0]], [0]).x  # 2 x - 1 = 0
    array([0.5])
    """
    size = np.shape(c)[-1] if np.ndim(c) else 0
    if ("quartic", size, 0) not in _FAMILIES:
        raise ValueError(f"c has {size} numbers: built in are 1 and 2")
    fields = {"c": (c, (size,)), "L": (L, (size, size)), "Q": (Q, (size, size * (size + 1) // 2)), "s": (s, (size,))}
    return _solve(("quartic", size, 0), fields, np.zeros(size) if start is None else start, options)


@accept_options(options=SolveOptions)
def kojima_shindo(
    x3_in_2: Any = 10.0, x4_in_3: Any = 9.0, c3: Any = -9.0, *, start: Any = None, options: SolveOptions | None = None
) -> Solutions:
    """Solves four quadratic functions of M. Kojima and S. Shindo; with 3, 3, -1 N. Josephy's variant.

    Parameters
    ----------
    x3_in_2, x4_in_3, c3 : float or array_like [...]
        Coefficients.
    start : array_like [..., 4], optional
        Initial guess; default: 0.
    options : SolveOptions, optional
        Fields are keywords too.

    Returns
    -------
    Solutions
        A problem that fails has a status, never an exception.

    Raises
    ------
    ValueError
        For inconsistent shapes.
    garra.UsageError
        For unknown names and options out of range.

    Examples
    --------
    >>> garra.mncp.kojima_shindo().x.round(4)
    array([1.2247, 0.    , 0.    , 0.5   ])
    """
    fields = {"x3_in_2": (x3_in_2, ()), "x4_in_3": (x4_in_3, ()), "c3": (c3, ())}
    return _solve(("kojima_shindo", 4, 0), fields, start, options)


@accept_options(options=SolveOptions)
def mathiesen(*, start: Any = None, options: SolveOptions | None = None) -> Solutions:
    """Solves L. Mathiesen's Walrasian equilibrium (Math. Program. 37, 1987): activity and three prices.

    Equilibria are (3, 6 t, t, 5 t) for every t > 0. The residual is absolute: prices near `tolerance` pass it without
    being an equilibrium, and starts at which the activity does not break even (p_1 < p_2 + p_3) lead there.

    Parameters
    ----------
    start : array_like [..., 4], optional
        Initial guess; default: (1, 2, 1, 1), where the activity breaks even.
    options : SolveOptions, optional
        Fields are keywords too.

    Returns
    -------
    Solutions
        A problem that fails has a status, never an exception.

    Raises
    ------
    ValueError
        For inconsistent shapes.
    garra.UsageError
        For unknown names and options out of range.

    Examples
    --------
    >>> x = garra.mncp.mathiesen().x
    >>> (x[1:] / x[2]).round(6)  # prices in units of the second
    array([6., 1., 5.])
    """
    return _solve(("mathiesen", 4, 0), {}, (1.0, 2.0, 1.0, 1.0) if start is None else start, options)


@accept_options(options=SolveOptions)
def walras(*, start: Any = None, options: SolveOptions | None = None) -> Solutions:
    """Solves Mathiesen's equilibrium in the form of J.-S. Pang and S. Gabriel (Math. Program. 60, 1993).

    Its solutions form a segment.

    Parameters
    ----------
    start : array_like [..., 4], optional
        Initial guess; default: 1.
    options : SolveOptions, optional
        Fields are keywords too.

    Returns
    -------
    Solutions
        A problem that fails has a status, never an exception.

    Raises
    ------
    ValueError
        For inconsistent shapes.
    garra.UsageError
        For unknown names and options out of range.

    Examples
    --------
    >>> garra.mncp.walras(start=[1.5, 0, 0, 0]).x
    array([1.5, 0. , 0. , 0. ])
    """
    return _solve(("walras", 4, 0), {}, start, options)


@accept_options(options=SolveOptions)
def nash_cournot(
    demand: Any = 5000.0,
    elasticity: Any = 1.1,
    scale: Any = 5.0,
    cost: Any = None,
    power: Any = None,
    *,
    start: Any = None,
    options: SolveOptions | None = None,
) -> Solutions:
    """Solves an oligopoly of five firms (F. Murphy, H. Sherali, A. Soyster, Math. Program. 24, 1982).

    Unknowns are quantities q at the price p(Q) = (demand / Q)^(1 / elasticity) and the marginal costs
    cost_i + (q_i / scale)^(1 / power_i).

    Parameters
    ----------
    demand, elasticity, scale : float or array_like [...]
        Parameters of price and cost.
    cost, power : array_like [..., 5], optional
        Per firm; default: the paper's numbers.
    start : array_like [..., 5], optional
        Initial guess; default: 10.
    options : SolveOptions, optional
        Fields are keywords too.

    Returns
    -------
    Solutions
        A problem that fails has a status, never an exception.

    Raises
    ------
    ValueError
        For inconsistent shapes.
    garra.UsageError
        For unknown names and options out of range.

    Examples
    --------
    >>> garra.mncp.nash_cournot().x.round(2)
    array([36.93, 41.82, 43.71, 42.66, 39.18])
    """
    paper = _case("nash_cournot").arrays
    fields = {
        "demand": (demand, ()),
        "elasticity": (elasticity, ()),
        "scale": (scale, ()),
        "cost": (paper["cost"] if cost is None else cost, (5,)),
        "power": (paper["power"] if power is None else power, (5,)),
    }
    return _solve(("nash_cournot", 5, 0), fields, start, options)


@accept_options(options=SolveOptions)
def hs66(*, start: Any = None, options: SolveOptions | None = None) -> Solutions:
    """Solves the optimality conditions of Hock and Schittkowski's problem 66: three unknowns, five multipliers.

    Parameters
    ----------
    start : array_like [..., 8], optional
        Initial guess; default: the source's.
    options : SolveOptions, optional
        Fields are keywords too.

    Returns
    -------
    Solutions
        A problem that fails has a status, never an exception.

    Raises
    ------
    ValueError
        For inconsistent shapes.
    garra.UsageError
        For unknown names and options out of range.

    Examples
    --------
    >>> garra.mncp.hs66().x[:3].round(3)
    array([0.184, 1.202, 3.327])
    """
    return _solve(("hs66", 8, 0), {}, start, options)


@accept_options(options=SolveOptions)
def hard_equations(*, start: Any = None, options: SolveOptions | None = None) -> Solutions:
    """Solves three functions of MCPLIB with a Jacobian that is singular near the initial guess.

    Parameters
    ----------
    start : array_like [..., 3], optional
        Initial guess; default: the source's.
    options : SolveOptions, optional
        Fields are keywords too.

    Returns
    -------
    Solutions
        A problem that fails has a status, never an exception.

    Raises
    ------
    ValueError
        For inconsistent shapes.
    garra.UsageError
        For unknown names and options out of range.

    Examples
    --------
    >>> garra.mncp.hard_equations().x.round(3) + 0.0
    array([ 0.   ,  0.   , 14.142])
    """
    return _solve(("hard_equations", 3, 0), {}, start, options)


@accept_options(options=SolveOptions)
def one_contact(
    a_n: Any, a_t: Any, b_n: Any, b_t: Any, b_o: Any, mu: Any, *, start: Any = None, options: SolveOptions | None = None
) -> Solutions:
    """Solves one rolling contact of the papers: x = (c_n, lambda | c_t, c_o) [N, m/s^2 | N, N].

    Parameters
    ----------
    a_n, a_t : float or array_like [...]
        A = diag(a_n, a_t, a_t) [1/kg].
    b_n, b_t, b_o : float or array_like [...]
        Accelerations without contact forces [m/s^2].
    mu : float or array_like [...]
        Friction coefficient.
    start : array_like [..., 4], optional
        Initial guess; default: (1, 1, 0, 0).
    options : SolveOptions, optional
        Fields are keywords too.

    Returns
    -------
    Solutions
        A problem that fails has a status, never an exception.

    Raises
    ------
    ValueError
        For inconsistent shapes.
    garra.UsageError
        For unknown names and options out of range.

    Examples
    --------
    >>> garra.mncp.one_contact(1, 1, -9.81, 1, 0, 0.5).x.round(3)  # sticks: c_n = 9.81 N, c_t = -1 N
    array([ 9.81,  0.  , -1.  ,  0.  ])
    """
    values = {"a_n": a_n, "a_t": a_t, "b_n": b_n, "b_t": b_t, "b_o": b_o, "mu": mu}
    return _solve(("one_contact", 2, 2), {name: (value, ()) for name, value in values.items()}, start, options)


def problems() -> tuple[Problem, ...]:
    """Named problems of the test set with initial guesses and known solutions.

    Returns
    -------
    tuple of Problem

    Examples
    --------
    >>> len(garra.mncp.problems())
    53
    """
    return tuple(_problem(*case) for case in _core.mncp_cases)


_FAMILIES = {(name, p, m): i for i, (name, p, m, _) in enumerate(_core.mncp_families)}


def _solve(
    family: tuple[str, int, int],
    fields: dict[str, tuple[Any, tuple[int, ...]]],
    start: Any,
    options: SolveOptions,
) -> Solutions:
    named = [(name, value, tail) for name, (value, tail) in fields.items()]
    start = _case(family[0]).start if start is None else start
    batch = Batch(*named, ("start", start, (family[1] + family[2],)))
    numbers = [batch[name].reshape(batch.count, prod(tail)) for name, _, tail in named] or [np.empty((batch.count, 0))]
    arrays = _core.mncp_solve(
        _FAMILIES[family],
        np.concatenate(numbers, axis=1),
        batch["start"],
        *options._checked(),
    )
    return batch.result(Solutions, arrays)


@cache
def _case(family: str) -> Problem:
    """First problem of a family in the test set; its numbers are the defaults of the family's function."""
    return next(problem for problem in problems() if problem.family == family)


def _problem(name: str, family: int, numbers: list[float], start: list[float], solutions: list[list[float]]) -> Problem:
    kind, p, m, _ = _core.mncp_families[family]
    arrays, at = {}, 0
    for field, shape in _shapes(kind, p + m).items():
        size = prod(shape)
        arrays[field] = np.array(numbers[at : at + size]).reshape(shape)
        at += size
    return Problem(name, kind, arrays, np.array(start), np.array(solutions), m)


def _shapes(kind: str, n: int) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays of one problem, in the order of its C++ Data."""
    if kind == "linear":
        return {"M": (n, n), "q": (n,)}
    if kind == "quartic":
        return {"c": (n,), "L": (n, n), "Q": (n, n * (n + 1) // 2), "s": (n,)}
    if kind == "nash_cournot":
        return {"demand": (), "elasticity": (), "scale": (), "cost": (5,), "power": (5,)}
    names = {"kojima_shindo": ("x3_in_2", "x4_in_3", "c3"), "one_contact": ("a_n", "a_t", "b_n", "b_t", "b_o", "mu")}
    return dict.fromkeys(names.get(kind, ()), ())
