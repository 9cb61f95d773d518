"""Applications with 50 to 300 unknowns and lower levels of MacMPEC, against closed forms and other discretizations."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import require_module

require_module()

from garra import mcp  # noqa: E402
from garra.bench import problems  # noqa: E402

INF = np.inf
AFFINE = [p for p in problems.applications() if p.M is not None]


def solved(p: problems.Problem, **options) -> np.ndarray:
    found = mcp.solve(p.F, p.lower, p.upper, p.x0, p.jacobian, **options)
    assert found.converged, p.name
    assert p.error(found.x) <= 1e-8, p.name
    return found.x


def affine(p: problems.Problem, method: str = "auto") -> np.ndarray:
    found = mcp.solve_affine(p.M, p.q, p.lower, p.upper, p.x0, method=method, max_iterations=1000)
    assert found.converged, (p.name, method)
    assert p.error(found.x) <= 1e-8, (p.name, method)
    return found.x


@pytest.mark.parametrize("p", problems.applications(), ids=lambda p: p.name)
def test_own_functions_solve_every_application(p):
    x = solved(p)
    if p.solution is not None:
        assert abs(x - p.solution).max() < 1e-9
    if p.name not in ("torsion", "traffic"):  # 100 steps do not suffice; path flows are not unique
        assert abs(x - solved(p, method="semismooth-newton", merit="natural")).max() < 1e-7


@pytest.mark.parametrize("p", AFFINE, ids=lambda p: p.name)
def test_lemke_pivoting_and_interior_points_agree(p):
    expected = affine(p)
    for method in ("lemke", "pivoting", "interior-point", "semismooth-newton"):
        assert abs(affine(p, method) - expected).max() < 1e-6, method


def test_the_string_leaves_the_parabola_where_its_tangent_meets_the_end():
    p = problems.obstacle(399)
    u = affine(p)
    s = np.linspace(-1, 1, 401)[1:-1]
    touch = 1 - np.sqrt(3) / 2  # 2 a^2 - 4 a + 1 / 2 = 0
    exact = np.where(abs(s) < touch, 0.5 - 2 * s**2, 4 * touch * (1 - abs(s)))
    assert abs(u - exact).max() < 2e-5  # nodes are 0.005 apart; an error of their square
    assert (u[abs(s) < touch - 0.005] == p.lower[abs(s) < touch - 0.005]).all()


def test_the_pressure_of_the_bearing_is_that_of_reynolds_condition():
    eccentricity, n = 0.6, 299
    p = affine(problems.journal_bearing(n, eccentricity))
    angle = np.linspace(0, 2 * np.pi, 200_001)
    h = 1 + eccentricity * np.cos(angle)

    def pressure(end: float) -> np.ndarray:
        """p' = (h - h(end)) / h^3, integrated from 0: zero slope at the end of the film."""
        slope = (h - (1 + eccentricity * np.cos(end))) / h**3
        return np.concatenate([[0], np.cumsum((slope[1:] + slope[:-1]) / 2) * angle[1]])

    low, high = np.pi, 2 * np.pi
    for _ in range(60):  # the end of the film: pressure zero there, too
        middle = (low + high) / 2
        low, high = (middle, high) if np.interp(middle, angle, pressure(middle)) > 0 else (low, middle)
    exact = np.where(angle < low, pressure(low), 0)
    nodes = np.arange(1, n + 1) * 2 * np.pi / (n + 1)
    assert abs(p - np.interp(nodes, angle, exact)).max() < 2e-3 * exact.max()
    assert (p[nodes > low + 0.05] == 0).all() and (p[nodes < low - 0.05] > 0).all()


def test_the_control_is_the_one_that_the_problem_was_made_from():
    errors = []
    for n in (30, 60, 90):
        x = affine(problems.optimal_control(n)).reshape(3, n)
        s = np.arange(1, n + 1) / (n + 1)
        u = np.clip(2 * np.sin(2 * np.pi * s), -1, 1)
        errors.append(abs(x[2] - u).max())
        assert abs(x[0] - np.sin(np.pi * s)).max() < 10 / n**2
        assert (abs(x[2]) == 1).sum() > n / 2  # the bounds are active on two thirds of the rod
    assert errors[2] < errors[0] / 4  # second order


def test_torsion_is_elastic_in_the_middle_of_the_edges_and_plastic_at_none_of_the_corners():
    p = problems.torsion()
    u = affine(p).reshape(15, 15)
    assert abs(u - u.T).max() < 1e-10 and abs(u - u[::-1]).max() < 1e-10
    at_bound = u == p.upper.reshape(15, 15)
    assert at_bound[0, 7] and not at_bound[0, 0] and not at_bound[7, 7]


def test_used_paths_take_the_least_time_and_flows_are_those_of_beckmanns_program():
    net = problems.network()
    x = solved(problems.traffic(net))
    paths, time = x[: len(net.trip)], x[len(net.trip) :]
    street = paths @ net.paths
    cost = net.paths @ net.time(street)
    for trip in net.trips:
        mine = net.trip == trip
        assert abs(cost[mine][paths[mine] > 1e-6] - time[trip]).max() < 1e-6
        assert cost[mine].min() > time[trip] - 1e-6
        assert abs(paths[mine].sum() - (net.demand[trip] - time[trip] / 2)) < 1e-6
    # Frank and Wolfe on Beckmann's program, with demands fixed: another algorithm, and no multipliers.
    demand = np.array([paths[net.trip == trip].sum() for trip in net.trips])
    flow = np.zeros(len(net.capacity))
    for k in range(20_000):
        times = net.paths @ net.time(flow)
        best = [np.flatnonzero(net.trip == trip)[times[net.trip == trip].argmin()] for trip in net.trips]
        flow += 2 / (k + 2) * (demand @ net.paths[best] - flow)
    assert abs(flow - street).max() < 0.02 * street.max()


@pytest.mark.parametrize("p", problems.lower_levels(), ids=lambda p: p.name)
def test_lower_levels_of_macmpec_have_their_published_solutions(p):
    x = solved(p)
    if p.solution is not None and p.name != "nash1":
        assert abs(x - p.solution).max() < 1e-6


def test_lower_levels_follow_the_upper_variable():
    for x in np.linspace(0.5, 8, 6):
        assert abs(solved(problems.dempe(x))[1] - np.sqrt(x)) < 1e-6
        assert abs(solved(problems.gauvin(x))[0] - min(15 - x / 2, 20 - x)) < 1e-7
        assert abs(solved(problems.desilva(x, 1.2))[2] - np.clip(x, 0.5, 1.5)) < 1e-6
        assert abs(solved(problems.bilevel1(4 * x, 30))[0] - problems.bilevel1(4 * x, 30).solution[0]) < 1e-7
        assert abs(solved(problems.jr1(x - 3))[0] - max(x - 3, 0)) < 1e-8
    assert abs(solved(problems.bard1())[0]) < 1e-7
    assert abs(solved(problems.ex911())[0] - 4) < 1e-7
    y = solved(problems.outrata31())[2:]
    assert abs(((y - [3, 4]) ** 2).sum() / 2 - 3.2077) < 1e-4
    y = solved(problems.nash1())
    assert abs(y[:2] - [5, 9]).max() < 1e-6 or (abs(y[0] + y[1] - 15) < 1e-6 and 9 <= y[0] <= 10)


def test_cournot_outputs_are_those_of_a_bisection_on_the_total():
    cost, power, gamma = np.array([8.0, 6.0, 4.0, 2.0]), np.array([1.1, 1.0, 0.9, 0.8]), 1.1

    def outputs(total: float) -> np.ndarray:
        """Each firm's output at a given total: the zero of a rising function of its own output."""
        price = (5000 / total) ** (1 / gamma)
        low, high = np.zeros(4), np.full(4, 200.0)
        for _ in range(80):
            q = (low + high) / 2
            rising = cost + (q / 5) ** (1 / power) - price * (1 - q / (gamma * total))
            low, high = np.where(rising < 0, q, low), np.where(rising < 0, high, q)
        return low

    low, high = 1.0, 800.0
    for _ in range(80):
        total = (low + high) / 2
        low, high = (total, high) if 30 + outputs(total).sum() > total else (low, total)
    assert abs(solved(problems.gnash(leader=30.0)) - outputs(low)).max() < 1e-6
