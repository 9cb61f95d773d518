"""Counts of solutions of inverse kinematics against Sturm's theorem in exact rational numbers.

The polynomial of degree 16 in tan(theta_3 / 2) of M. Raghavan and B. Roth (J. Mech. Des. 115 (1993) 502) is built from
determinants of 12 x 12 matrices of fractions, for arms and poses with rational numbers. As a program: number of poses.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import product
from math import gcd, lcm

import garra
import numpy as np
import pytest
from arrays import require_module

require_module()
NODES = ((1, 0), (0, 1), (-1, 0))  # (cos, sin)
BASIS = [[Fraction(c), Fraction(s), Fraction(1)] for c, s in NODES]


def turn(x):
    """(cos, sin) from the tangent of half the angle."""
    return (1 - x * x) / (1 + x * x), 2 * x / (1 + x * x)


def times(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(4)) for j in range(4)] for i in range(4)]


def inverse(T):
    R = [[T[j][i] for j in range(3)] for i in range(3)]
    p = [-sum(R[i][k] * T[k][3] for k in range(3)) for i in range(3)]
    return [[*R[i], p[i]] for i in range(3)] + [[0, 0, 0, 1]]


def link(row, joint):
    """Standard DH: row (a, cos and sin of alpha, d), (cos, sin) of the joint."""
    (a, (ca, sa), d), (c, s) = row, joint
    return [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]]


def functions(T):
    """The 14 functions of place p and direction l."""
    p, v = [T[i][3] for i in range(3)], [T[i][2] for i in range(3)]
    pp, pl = sum(x * x for x in p), sum(x * y for x, y in zip(p, v))
    across = [p[(i + 1) % 3] * v[(i + 2) % 3] - p[(i + 2) % 3] * v[(i + 1) % 3] for i in range(3)]
    return [*p, *v, pp, pl, *across, *(pp * v[i] - 2 * pl * p[i] for i in range(3))]


def solve(A, b):
    """x with A x = b for several columns, and det A, by elimination of fractions."""
    n, rows, det = len(A), [list(r) + list(c) for r, c in zip(A, b)], Fraction(1)
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k] != 0), None)
        if pivot is None:
            return None, Fraction(0)
        if pivot != k:
            rows[k], rows[pivot], det = rows[pivot], rows[k], -det
        det *= rows[k][k]
        scale = 1 / rows[k][k]
        rows[k] = [x * scale for x in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                f = rows[i][k]
                rows[i] = [x - f * y for x, y in zip(rows[i], rows[k])]
    return [r[n:] for r in rows], det


TO_BASIS = solve(BASIS, [[Fraction(int(i == j)) for j in range(3)] for i in range(3)])[0]


def coefficients(values, angles):
    """Of the products of (cos, sin, 1), from values at the nodes: {indices: [14]}."""
    for axis in range(angles):
        out = {}
        for index in product(range(3), repeat=angles):
            ends = [values[(*index[:axis], k, *index[axis + 1 :])] for k in range(3)]
            out[index] = [sum(TO_BASIS[index[axis]][k] * ends[k][f] for k in range(3)) for f in range(14)]
        values = out
    return values


def polynomial(rows, pose):
    """Values at 19 whole numbers of the polynomial of degree 16 in x_3."""
    end = inverse(link(rows[5], NODES[0]))  # its third and fourth column do not depend on theta_6
    left, right = {}, {}
    for i in product(range(3), repeat=3):
        left[i] = functions(times(times(link(rows[2], NODES[i[0]]), link(rows[3], NODES[i[1]])), link(rows[4], NODES[i[2]])))
    for i in product(range(3), repeat=2):
        back = times(inverse(link(rows[1], NODES[i[1]])), inverse(link(rows[0], NODES[i[0]])))
        right[i] = functions(times(times(back, pose), end))
    left, right = coefficients(left, 3), coefficients(right, 2)
    columns = [i for i in product(range(3), repeat=2) if i != (2, 2)]
    # Six rows that are orthogonal to the eight columns of the right side, from eight rows that are not dependent.
    order = sorted(range(14), key=lambda f: f not in (0, 1, 2, 6, 8, 9, 10, 11))
    for shift in range(14):
        chosen = [order[(shift + k) % 14] for k in range(8)]
        rest = [f for f in range(14) if f not in chosen]
        A = [[right[c][f] for f in chosen] for c in columns]
        found, det = solve(A, [[-right[c][f] for f in rest] for c in columns])
        if det != 0:
            break
    else:
        return None  # special angles: every choice is dependent
    null = [{**{f: found[k][m] for k, f in enumerate(chosen)}, rest[m]: Fraction(1)} for m in range(6)]
    values = []
    for x in range(-9, 10):
        trig = (*(Fraction(v) for v in (1 - x * x, 2 * x)), Fraction(1 + x * x))
        matrix = []
        for combination in null:
            of_products = {}
            for i4, i5 in product(range(3), repeat=2):
                term = sum(
                    w * sum(trig[i3] * left[i3, i4, i5][f] for i3 in range(3)) for f, w in combination.items()
                )
                if (i4, i5) == (2, 2):
                    term -= trig[2] * sum(w * right[2, 2][f] for f, w in combination.items())
                of_products[i4, i5] = term
            # (cos, sin, 1) in 1, x, x^2 over 1 + x^2
            power = ((1, 0, -1), (0, 2, 0), (1, 0, 1))
            row = [
                sum(of_products[a, b] * power[a][i] * power[b][j] for a in range(3) for b in range(3))
                for i in range(3)
                for j in range(3)
            ]
            zeros = [Fraction(0)] * 3
            matrix += [row + zeros, zeros + row]
        det = solve(matrix, [[] for _ in matrix])[1]
        values.append(det / (1 + x * x) ** 4)
    return values


def interpolate(values):
    """Whole coefficients, constant first, of the polynomial of least degree at -9, -8, ... (Newton's form)."""
    nodes, table = list(range(-9, 10)), list(values)
    for k in range(1, len(table)):
        for i in range(len(table) - 1, k - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - k])
    out = [Fraction(0)]
    for k in range(len(table) - 1, -1, -1):
        shifted = [Fraction(0), *out]
        out = [s - nodes[k] * (out[i] if i < len(out) else 0) for i, s in enumerate(shifted)]
        out[0] += table[k]
    while out and out[-1] == 0:
        out.pop()
    common = lcm(*(c.denominator for c in out))
    return primitive([int(c * common) for c in out])


def primitive(p):
    common = gcd(*p)
    return [c // common for c in p]


def sturm_count(p):
    """Number of different real roots of a polynomial with whole coefficients."""
    chain = [p, primitive([k * c for k, c in enumerate(p)][1:])]
    while len(chain[-1]) > 1:
        a, b = list(chain[-2]), chain[-1]
        while len(a) >= len(b):
            # times a square or positive number: signs stay
            f, lead = a[-1], b[-1]
            a = [abs(lead) * c for c in a]
            f = f if lead > 0 else -f
            for i in range(len(b)):
                a[len(a) - len(b) + i] -= f * b[i]
            a.pop()
            while a and a[-1] == 0:
                a.pop()
        if not a:
            break
        chain.append(primitive([-c for c in a]))
    ends = [[(1 if p[-1] > 0 else -1) * (side if len(p) % 2 == 0 else 1) for p in chain] for side in (-1, 1)]
    changes = [sum(a != b for a, b in zip(signs, signs[1:])) for signs in ends]
    return changes[0] - changes[1]


def rational(random, most=4):
    return Fraction(int(random.integers(-most * 8, most * 8 + 1)), 8)


def compare(poses, seed=1):
    """Counts by Sturm and by garra of random arms, ten poses each, and whether garra's lists are complete."""
    random = np.random.default_rng(seed)
    out = []
    for _ in range(poses // 10):
        tangents = [rational(random, 2) for _ in range(6)]
        rows = [(rational(random, 1), turn(x), rational(random, 1)) for x in tangents]
        text = 'schema = 1\nrobot = "arm"\nconvention = "dh"\n'
        for x, (a, _, d) in zip(tangents, rows):
            text += f"[[joint]]\na = {float(a)}\nalpha = {2 * np.arctan(float(x))}\nd = {float(d)}\n"
        robot = garra.Chain.from_toml(text)
        for _ in range(10):
            pose = [[Fraction(int(i == j)) for j in range(4)] for i in range(4)]
            for row in rows:
                pose = times(pose, link(row, turn(rational(random, 3))))
            values = polynomial(rows, pose)
            p = [] if values is None else interpolate(values)
            if len(p) != 17:
                continue  # special angles: a lower degree
            found = robot.inverse_kinematics_all(np.array(pose, float))
            out.append((sturm_count(p), int(found.count), bool(found.complete)))
    return out


def test_sturm_counts_of_polynomials_that_are_known():
    for roots in ([], [3], [-2, 5], [-7, 0, 1, 4]):
        p = [1, 0, 2]  # no real root
        for r in roots:
            p = [a - r * b for a, b in zip([0, *p], [*p, 0])]
        assert sturm_count(p) == len(roots)


def test_complete_lists_have_as_many_solutions_as_sturm_counts():
    counts = compare(20)
    assert len(counts) == 20
    assert all(exact == own for exact, own, complete in counts if complete)
    assert sum(complete for *_, complete in counts) > 16


if __name__ == "__main__":
    counts = compare(int(sys.argv[1]))
    wrong = [c for c in counts if c[2] and c[0] != c[1]]
    print(len(counts), "poses,", sum(c[2] for c in counts), "complete,", len(wrong), "of these with another count")
    print("not complete:", [c[:2] for c in counts if not c[2]])
