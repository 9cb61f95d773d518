"""Complementarity problems with known solutions: applications with 50 to 300 unknowns, and lower levels of MacMPEC.

Each problem has F and bounds as garra.mcp.solve() takes them. docs/theory/mcp.md, 9, has the equations. The lower levels
are optimality conditions at a fixed upper-level variable, written from S. Leyffer, MacMPEC, and the sources there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

INF = np.inf


@dataclass(frozen=True)
class Problem:
    """A complementarity problem of one instance.

    Examples
    --------
    >>> from garra.bench import problems
    >>> p = problems.obstacle(49)
    >>> p.name, p.unknowns, bool(p.error(p.solution) < 1e-12)
    ('obstacle', 49, True)
    """

    name: str
    F: Callable[[Any], Any]
    """F(x) for x [batch, n]"""
    jacobian: Callable[[Any], Any]
    """dF_i/dx_j [batch, n, n]"""
    lower: np.ndarray
    """[n]"""
    upper: np.ndarray
    """[n]"""
    x0: np.ndarray
    """[n] start"""
    solution: np.ndarray | None = None
    """[n] known solution, exact for this problem; None where only properties of it are known"""
    M: np.ndarray | None = None
    """[n, n] of an affine F = M x + q"""
    q: np.ndarray | None = None
    """[n] of an affine F"""

    @property
    def unknowns(self) -> int:
        """Number of unknowns.

        Examples
        --------
        >>> from garra.bench import problems
        >>> problems.traffic().unknowns
        98
        """
        return len(self.x0)

    def error(self, x: Any) -> float:
        """Largest |max(min(F_i, x_i - l_i), x_i - u_i)| at x.

        Parameters
        ----------
        x : array_like [n]
            Unknowns.

        Returns
        -------
        float

        Examples
        --------
        >>> from garra.bench import problems
        >>> problems.jr1(2.0).error([1.0])
        1.0
        """
        x = np.asarray(x, dtype=float)
        F = np.asarray(self.F(x[None]))[0]
        return float(abs(np.maximum(np.minimum(F, x - self.lower), x - self.upper)).max())


def _affine(name: str, M: np.ndarray, q: np.ndarray, lower: Any, upper: Any, solution: Any = None) -> Problem:
    n = len(q)
    low, high = (np.broadcast_to(np.asarray(b, dtype=float), (n,)) for b in (lower, upper))
    return Problem(
        name,
        lambda x: x @ M.T + q,
        lambda x: np.broadcast_to(M, (len(x), n, n)),
        low,
        high,
        np.clip(np.zeros(n), low, high),
        solution,
        M,
        q,
    )


def _second_difference(n: int, h: float) -> np.ndarray:
    """-u'' with u = 0 at both ends."""
    return (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)) / h**2


def obstacle(n: int = 199) -> Problem:
    """A string over a parabola: -u'' >= 0, u >= 1/2 - 2 s^2 on [-1, 1], u = 0 at the ends.

    Parameters
    ----------
    n : int
        Number of nodes, odd.

    Returns
    -------
    Problem
        With the exact discrete solution: tangent lines to the polygon of the parabola.

    Examples
    --------
    >>> from garra.bench import problems
    >>> problems.obstacle().unknowns
    199
    """
    s = np.linspace(-1, 1, n + 2)
    bound = 0.5 - 2 * s[1:-1] ** 2
    slopes = bound[: n // 2] / (1 + s[1 : 1 + n // 2])  # lines from the end to each node: the steepest one touches
    touch = int(np.argmax(slopes))
    half = np.where(np.arange(n) < touch, slopes[touch] * (1 + s[1:-1]), bound)
    return _affine("obstacle", _second_difference(n, 2 / (n + 1)), np.zeros(n), bound, INF, np.maximum(half, half[::-1]))


def torsion(n: int = 15) -> Problem:
    """Elastic-plastic torsion of a square bar: -Laplace u = 5 with |u| at most the distance to the boundary.

    Parameters
    ----------
    n : int
        Nodes along an edge; the problem has n * n unknowns.

    Returns
    -------
    Problem

    Examples
    --------
    >>> from garra.bench import problems
    >>> problems.torsion().unknowns
    225
    """
    A = _second_difference(n, 1 / (n + 1))
    M = np.kron(A, np.eye(n)) + np.kron(np.eye(n), A)
    s = np.arange(1, n + 1) / (n + 1)
    edge = np.minimum(s, 1 - s)
    distance = np.minimum(edge[:, None], edge).ravel()
    return _affine("torsion", M, np.full(n * n, -5.0), -distance, distance)


def journal_bearing(n: int = 199, eccentricity: float = 0.6) -> Problem:
    """Pressure in a long journal bearing with cavitation: -(h^3 p')' + h' >= 0, p >= 0, h = 1 + e cos(angle).

    Parameters
    ----------
    n : int
        Number of nodes on the circumference.
    eccentricity : float
        e, from 0 to 1.

    Returns
    -------
    Problem
        p = 0 at the ends 0 and 2 pi.

    Examples
    --------
    >>> from garra.bench import problems
    >>> problems.journal_bearing().unknowns
    199
    """
    step = 2 * np.pi / (n + 1)
    film = 1 + eccentricity * np.cos((np.arange(n + 1) + 0.5) * step)  # between the nodes
    cube = film**3 / step**2
    M = np.diag(cube[:-1] + cube[1:]) - np.diag(cube[1:-1], 1) - np.diag(cube[1:-1], -1)
    return _affine("journal_bearing", M, np.diff(film) / step, 0, INF)


def optimal_control(n: int = 60, weight: float = 0.01) -> Problem:
    """Control of a rod: min |y - y_d|^2 / 2 + weight |u|^2 / 2, -y'' = u + f, |u| <= 1; unknowns y, p, u.

    Parameters
    ----------
    n : int
        Number of nodes; the problem has 3 n unknowns.
    weight : float
        Weight of the control.

    Returns
    -------
    Problem
        Its continuous solution is y = sin(pi s), p = -weight 2 sin(2 pi s), u = median(-1, -p / weight, 1).

    Examples
    --------
    >>> from garra.bench import problems
    >>> problems.optimal_control().unknowns
    180
    """
    s = np.arange(1, n + 1) / (n + 1)
    A, one, zero = _second_difference(n, 1 / (n + 1)), np.eye(n), np.zeros((n, n))
    y, p = np.sin(np.pi * s), -2 * weight * np.sin(2 * np.pi * s)
    u = np.clip(-p / weight, -1, 1)
    target = y - (2 * np.pi) ** 2 * p  # -p'' = y - y_d
    force = np.pi**2 * y - u
    M = np.block([[one, -A, zero], [A, zero, -one], [zero, one, weight * one]])
    q = np.concatenate([-target, -force, np.zeros(n)])
    bound = np.repeat([INF, INF, 1.0], n)
    return _affine("optimal_control", M, q, -bound, bound)


@dataclass(frozen=True)
class Network:
    """Streets between crossings of a grid, paths of each trip, and times of streets by their flow.

    Examples
    --------
    >>> from garra.bench import problems
    >>> net = problems.network()
    >>> net.paths.shape, net.trips.tolist()
    ((94, 40), [0, 1, 2, 3])
    """

    paths: np.ndarray
    """[paths, streets] 1 where a path uses a street"""
    trip: np.ndarray
    """[paths] number of the trip"""
    free_time: np.ndarray
    """[streets] time without traffic"""
    capacity: np.ndarray
    """[streets]"""
    demand: np.ndarray
    """[trips] at travel time 0"""

    @property
    def trips(self) -> np.ndarray:
        """[trips] numbers of the trips.

        Examples
        --------
        >>> from garra.bench import problems
        >>> len(problems.network().trips)
        4
        """
        return np.arange(len(self.demand))

    def time(self, flow: np.ndarray) -> np.ndarray:
        """Time of each street by its flow (Bureau of Public Roads).

        Parameters
        ----------
        flow : array [..., streets]
            Flow of each street.

        Returns
        -------
        array [..., streets]

        Examples
        --------
        >>> from garra.bench import problems
        >>> net = problems.network()
        >>> bool((net.time(np.zeros(40)) == net.free_time).all())
        True
        """
        return self.free_time * (1 + 0.15 * (flow / self.capacity) ** 4)


def network(size: int = 5, seed: int = 0) -> Network:
    """Streets of a square grid, one-way to the right and down, with four trips.

    Parameters
    ----------
    size : int
        Crossings along an edge.
    seed : int
        Of times and capacities.

    Returns
    -------
    Network

    Examples
    --------
    >>> from garra.bench import problems
    >>> problems.network().capacity.shape
    (40,)
    """
    streets = {}
    for r in range(size):
        for c in range(size):
            for r2, c2 in ((r, c + 1), (r + 1, c)):
                if r2 < size and c2 < size:
                    streets[(r, c), (r2, c2)] = len(streets)
    last = size - 1
    trips = [((0, 0), (last, last)), ((1, 1), (last, last - 1)), ((0, 1), (last - 1, last - 1)), ((1, 0), (2, last - 1))]
    rows, numbers = [], []
    for number, (start, end) in enumerate(trips):
        down, right = end[0] - start[0], end[1] - start[1]
        for turns in combinations(range(down + right), down):
            row, at = np.zeros(len(streets)), start
            for k in range(down + right):
                to = (at[0] + 1, at[1]) if k in turns else (at[0], at[1] + 1)
                row[streets[at, to]] = 1
                at = to
            rows.append(row)
            numbers.append(number)
    rng = np.random.default_rng(seed)
    count = len(streets)
    times, capacity = rng.uniform(1, 3, count), rng.uniform(2, 5, count)
    return Network(np.array(rows), np.array(numbers), times, capacity, np.array([20.0, 12.0, 10.0, 8.0]))


def traffic(net: Network | None = None) -> Problem:
    """Wardrop's equilibrium: paths that are used take the least time, and trips fall with it.

    Parameters
    ----------
    net : Network, optional
        Default: network().

    Returns
    -------
    Problem
        Unknowns: flow of each path, then least time of each trip. Demand is demand_0 - time / 2.

    Examples
    --------
    >>> from garra.bench import problems
    >>> p = problems.traffic()
    >>> x = garra.mcp.solve(p.F, p.lower, p.upper, p.x0, p.jacobian).x
    >>> p.error(x) < 1e-8
    True
    """
    net = net or network()
    paths, trips = len(net.trip), len(net.demand)
    of_trip = (net.trip[:, None] == net.trips).astype(float)

    def F(x: np.ndarray) -> np.ndarray:
        flow, time = x[:, :paths], x[:, paths:]
        cost = net.time(flow @ net.paths) @ net.paths.T - time @ of_trip.T
        return np.concatenate([cost, flow @ of_trip - net.demand + 0.5 * time], axis=1)

    def jacobian(x: np.ndarray) -> np.ndarray:
        slope = net.free_time * 0.6 / net.capacity * (x[:, :paths] @ net.paths / net.capacity) ** 3
        J = np.zeros((len(x), paths + trips, paths + trips))
        J[:, :paths, :paths] = np.einsum("ps,bs,qs->bpq", net.paths, slope, net.paths)
        J[:, :paths, paths:], J[:, paths:, :paths] = -of_trip, of_trip.T
        J[:, paths:, paths:] = 0.5 * np.eye(trips)
        return J

    start = np.concatenate([(net.demand / of_trip.sum(axis=0))[net.trip], np.full(trips, 10.0)])
    return Problem("traffic", F, jacobian, np.zeros(paths + trips), np.full(paths + trips, INF), start)


def _written(name: str, size: int, free: int, F: Callable[..., list[Any]], solution: Any = None, start: Any = None) -> Problem:
    """A problem whose last `free` unknowns have no bounds, from F of single unknowns; derivatives by complex steps."""
    low = np.where(np.arange(size) < size - free, 0.0, -INF)

    def value(x: Any) -> Any:
        return np.stack([row + 0 * x[:, 0] for row in F(*x.T)], axis=1)

    def jacobian(x: np.ndarray) -> np.ndarray:
        step = 1e-30
        return np.stack([value(x + 1j * step * np.eye(size)[j]).imag / step for j in range(size)], axis=2)

    x0 = np.ones(size) if start is None else np.asarray(start, dtype=float)
    known = None if solution is None else np.asarray(solution, dtype=float)
    return Problem(name, value, jacobian, low, np.full(size, INF), x0, known)


def bard1(x: float = 1.0) -> Problem:
    """J. F. Bard, 1991: min (y - 1)^2 - 1.5 x y with 3 x - y >= 3, x - y / 2 <= 4, x + y <= 7, y >= 0.

    Parameters
    ----------
    x : float
        Upper-level variable; 1 at the optimum of the bilevel problem, where y = 0.

    Returns
    -------
    Problem
        Unknowns y and three multipliers.

    Examples
    --------
    >>> from garra.bench import problems
    >>> p = problems.bard1()
    >>> round(float(garra.mcp.solve(p.F, p.lower, p.upper, p.x0, p.jacobian).x[0]), 6) + 0.0
    0.0
    """
    return _written("bard1", 4, 0, lambda y, a, b, c: [
        2 * (y - 1) - 1.5 * x + a - 0.5 * b + c, 3 * x - y - 3, -x + 0.5 * y + 4, 7 - x - y])  # fmt: skip


def bard3(x1: float = 0.0, x2: float = 2.0) -> Problem:
    """J. F. Bard, 1988: min 2 x1^2 + y1^2 - 5 y2 with x1^2 - 2 x1 + x2^2 - 2 y1 + y2 >= -3, x2 + 3 y1 - 4 y2 >= 4, y >= 0.

    Parameters
    ----------
    x1, x2 : float
        Upper-level variables; 0 and 2 at the optimum, where y = (1.875, 0.90625).

    Returns
    -------
    Problem
        Unknowns y1, y2 and two multipliers.

    Examples
    --------
    >>> from garra.bench import problems
    >>> problems.bard3().solution[:2]
    array([1.875  , 0.90625])
    """
    known = [1.875, 0.90625, 0.0, 1.25] if (x1, x2) == (0, 2) else None
    return _written("bard3", 4, 0, lambda y1, y2, a, b: [
        2 * y1 + 2 * a - 3 * b, -5 - a + 4 * b, x1**2 - 2 * x1 + x2**2 - 2 * y1 + y2 + 3, x2 + 3 * y1 - 4 * y2 - 4,
    ], known)  # fmt: skip


def bilevel1(x1: float = 25.0, x2: float = 30.0) -> Problem:
    """E. Aiyoshi, K. Shimizu, 1984: min |y - x + 20|^2 with x_i - 2 y_i >= 10, -10 <= y_i <= 20.

    Parameters
    ----------
    x1, x2 : float
        Upper-level variables.

    Returns
    -------
    Problem
        Unknowns y1, y2 in their bounds and two multipliers.

    Examples
    --------
    >>> from garra.bench import problems
    >>> problems.bilevel1().solution
    array([ 5., 10.,  0.,  0.])
    """
    x = np.array([x1, x2])
    y = np.clip(x - 20, -10, np.minimum(20, (x - 10) / 2))
    multiplier = np.where(y < x - 20, np.where(y < 20, x - 20 - y, 0), 0)
    M = np.block([[2 * np.eye(2), 2 * np.eye(2)], [-2 * np.eye(2), np.zeros((2, 2))]])
    bounds = [-10.0, -10, 0, 0], [20.0, 20, INF, INF]
    return _affine("bilevel1", M, np.concatenate([2 * (20 - x), x - 10]), *bounds, np.concatenate([y, multiplier]))


def dempe(x: float = 1.0) -> Problem:
    """S. Dempe: min (y - 3)^2 with y^2 <= x.

    Parameters
    ----------
    x : float
        Upper-level variable, from 0 to 9.

    Returns
    -------
    Problem
        Unknowns: the multiplier, and y, which is free. Solution y = sqrt(x).

    Examples
    --------
    >>> from garra.bench import problems
    >>> problems.dempe(4.0).solution
    array([0.5, 2. ])
    """
    y = np.sqrt(x)
    return _written("dempe", 2, 1, lambda a, v: [x - v**2, 2 * (v - 3) + 2 * a * v], [(3 - y) / y, y])


def desilva(x1: float = 0.5, x2: float = 2.0) -> Problem:
    """A. H. de Silva, 1978: min |y - x|^2 with (y_i - 1)^2 <= 1 / 4.

    Parameters
    ----------
    x1, x2 : float
        Upper-level variables.

    Returns
    -------
    Problem
        Unknowns: two multipliers, then y1, y2. Solution: the nearest point of the square.

    Examples
    --------
    >>> from garra.bench import problems
    >>> problems.desilva().solution
    array([0. , 1. , 0.5, 1.5])
    """
    x = np.array([x1, x2])
    y = np.clip(x, 0.5, 1.5)
    force = (x - y) / np.where(y == x, 1, y - 1)
    return _written("desilva", 4, 2, lambda a, b, y1, y2: [
        0.25 - (y1 - 1) ** 2, 0.25 - (y2 - 1) ** 2, 2 * (y1 - x1) + 2 * a * (y1 - 1), 2 * (y2 - x2) + 2 * b * (y2 - 1),
    ], np.concatenate([force, y]))  # fmt: skip


def ex911(x: float = 5.0) -> Problem:
    """C. A. Floudas and others, test problem 9.2.1: max y1 with five linear constraints and 0 <= y1 <= 4, y2 >= 0.

    Parameters
    ----------
    x : float
        Upper-level variable; 5 at the optimum, where y1 = 4.

    Returns
    -------
    Problem
        Unknowns y1, y2 and three multipliers.

    Examples
    --------
    >>> from garra.bench import problems
    >>> problems.ex911().upper
    array([ 4., inf, inf, inf, inf])
    """
    A = np.array([[1.0, 4.0], [3.0, -2.0], [1.0, -3.0]])
    b = np.array([16 + 2 * x, 48 - 8 * x, 2 * x - 12])
    M = np.block([[np.zeros((2, 2)), A.T], [-A, np.zeros((3, 3))]])
    return _affine("ex911", M, np.concatenate([[-1.0, 0.0], b]), 0, [4.0, INF, INF, INF, INF])


def gauvin(x: float = 2.0) -> Problem:
    """J. Gauvin, G. Savard, 1994: min (x + 2 y - 30)^2 with x + y <= 20, 0 <= y <= 20.

    Parameters
    ----------
    x : float
        Upper-level variable; 2 at the optimum, where y = 14.

    Returns
    -------
    Problem
        Unknowns y and one multiplier.

    Examples
    --------
    >>> from garra.bench import problems
    >>> problems.gauvin().solution
    array([14.,  0.])
    """
    y = float(np.clip((30 - x) / 2, 0, min(20, 20 - x)))
    force = max(0.0, -4 * (x + 2 * y - 30)) if y == 20 - x else 0.0
    M, q = np.array([[8.0, 1.0], [-1.0, 0.0]]), np.array([4 * (x - 30), 20 - x])
    return _affine("gauvin", M, q, 0, [20.0, INF], np.array([y, force]))


def gnash(leader: float = 0.0, gamma: float = 1.1) -> Problem:
    """F. H. Murphy, H. D. Sherali, A. L. Soyster, 1982: Cournot's equilibrium of four followers of a leader's output.

    Parameters
    ----------
    leader : float
        Output of the leader.
    gamma : float
        Elasticity of demand.

    Returns
    -------
    Problem
        Unknowns: outputs of four firms, at most 200.

    Examples
    --------
    >>> from garra.bench import problems
    >>> problems.gnash().unknowns
    4
    """
    cost, power = np.array([8.0, 6.0, 4.0, 2.0]), np.array([1.1, 1.0, 0.9, 0.8])
    base = _written("gnash", 4, 0, lambda *q: _cournot(q, cost, power, leader, gamma), start=np.full(4, 10.0))
    return Problem("gnash", base.F, base.jacobian, np.full(4, 1e-3), np.full(4, 200.0), base.x0)


def _cournot(q: Any, cost: np.ndarray, power: np.ndarray, leader: float, gamma: float) -> list[Any]:
    total = leader + sum(q)
    price = (5000 / total) ** (1 / gamma)
    return [c + (out / 5) ** (1 / b) - price * (1 - out / (gamma * total)) for out, c, b in zip(q, cost, power, strict=True)]


def jr1(x: float = 0.5) -> Problem:
    """J. Outrata: 0 <= y, y - x >= 0, with the solution max(x, 0).

    Parameters
    ----------
    x : float
        Upper-level variable.

    Returns
    -------
    Problem

    Examples
    --------
    >>> from garra.bench import problems
    >>> problems.jr1().solution
    array([0.5])
    """
    return _affine("jr1", np.eye(1), np.array([-x]), 0, INF, np.array([max(x, 0.0)]))


def nash1() -> Problem:
    """P. T. Harker's game: two players with y_i from 0 to 10 and y1 + y2 <= 15, the normalized equilibrium (5, 9).

    Returns
    -------
    Problem
        Unknowns y1, y2 and the multiplier that both players share.

    Examples
    --------
    >>> from garra.bench import problems
    >>> problems.nash1().solution
    array([5., 9., 0.])
    """
    M = np.array([[2.0, 8 / 3, 1.0], [1.25, 2.0, 1.0], [-1.0, -1.0, 0.0]])
    return _affine("nash1", M, np.array([-34.0, -24.25, 15.0]), 0, [10.0, 10.0, INF], np.array([5.0, 9.0, 0.0]))


def outrata31(x: float = 4.06041) -> Problem:
    """J. V. Outrata, 1994: two equations and two constraints, 3.2077 is the least (|y - (3, 4)|^2) / 2 over x.

    Parameters
    ----------
    x : float
        Upper-level variable, from 0 to 10; default: the optimum.

    Returns
    -------
    Problem
        Unknowns: two multipliers, then y1, y2.

    Examples
    --------
    >>> from garra.bench import problems
    >>> p = problems.outrata31()
    >>> y = garra.mcp.solve(p.F, p.lower, p.upper, p.x0, p.jacobian).x[2:]
    >>> round(float(((y - [3, 4]) ** 2).sum() / 2), 4)
    3.2077
    """
    return _written("outrata31", 4, 2, lambda a, b, y1, y2: [
        0.333 * y1 - y2 + 1 - 0.1 * x, 9 + 0.1 * x - y1**2 - y2**2,
        (1 + 0.2 * x) * y1 - (3 + 1.333 * x) - 0.333 * a + 2 * y1 * b, (1 + 0.1 * x) * y2 - x + a + 2 * y2 * b,
    ])  # fmt: skip


def lower_levels() -> list[Problem]:
    """Lower levels of problems of MacMPEC, at their default upper-level variables.

    Returns
    -------
    list of Problem

    Examples
    --------
    >>> from garra.bench import problems
    >>> len(problems.lower_levels())
    11
    """
    return [bard1(), bard3(), bilevel1(), dempe(), desilva(), ex911(), gauvin(), gnash(), jr1(), nash1(), outrata31()]


def applications() -> list[Problem]:
    """The applications at their default sizes.

    Returns
    -------
    list of Problem

    Examples
    --------
    >>> from garra.bench import problems
    >>> {p.name: p.unknowns for p in problems.applications()}
    {'obstacle': 199, 'torsion': 225, 'journal_bearing': 199, 'optimal_control': 180, 'traffic': 98}
    """
    return [obstacle(), torsion(), journal_bearing(), optimal_control(), traffic()]
