"""Fits the polynomials of include/garra/core/elementary.hpp (weighted Remez exchange, needs mpmath).

Each line printed: name, degree, largest relative error of the function that the fit causes (before rounding of
the arithmetic), then the coefficients, lowest power first, rounded to the type and printed exactly.
"""
import struct

from mpmath import asin, atan, atanh, cos, exp, lu_solve, matrix, mp, mpf, sin, sqrt

mp.dps = 60


def remez(g, w, lo, hi, degree, rounds=8):
    """Minimizes max |w (p - g)| over [lo, hi]."""
    n = degree + 2
    ref = [(lo + hi) / 2 - (hi - lo) / 2 * cos(mp.pi * k / (n - 1)) for k in range(n)]
    grid = [(lo + hi) / 2 - (hi - lo) / 2 * cos(mp.pi * k / 400) for k in range(401)]
    g_grid = [g(x) for x in grid]
    w_grid = [w(x) for x in grid]
    best = None
    for _ in range(rounds):
        a = matrix(n, n)
        b = matrix(n, 1)
        for i, x in enumerate(ref):
            for j in range(degree + 1):
                a[i, j] = x**j
            a[i, degree + 1] = (-1) ** i / w(x)
            b[i] = g(x)
        c = list(lu_solve(a, b))[: degree + 1]
        err = [wg * (horner(c, x) - gx) for x, gx, wg in zip(grid, g_grid, w_grid)]
        worst = max(abs(e) for e in err)
        if best is None or worst < best[0]:
            best = (worst, c)
        # One extremum per stretch of constant sign.
        new, k = [], 0
        while k < len(grid):
            m = k
            s = err[k] > 0
            while k < len(grid) and (err[k] > 0) == s:
                if abs(err[k]) > abs(err[m]):
                    m = k
                k += 1
            new.append(grid[m])
        while len(new) > n:
            new.pop(0) if abs(err[grid.index(new[0])]) < abs(err[grid.index(new[-1])]) else new.pop()
        if len(new) < n:
            break
        ref = new
    return best


def horner(c, x):
    p = mpf(0)
    for k in reversed(c):
        p = p * x + k
    return p


def rounded(x, single):
    return struct.unpack("f", struct.pack("f", float(x)))[0] if single else float(x)


TINY = mpf("1e-6")
QUARTER_PI = mpf("0.795")  # pi/4 and what the rounding of the quadrant adds
TAN_PI_8_SQ = (sqrt(mpf(2)) - 1) ** 2 * mpf("1.0001")
FITS = {
    # name: (g, weight = how an error of g shows in the result, relatively, lo, hi, degrees for double and float)
    "sin": (lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z, TINY, QUARTER_PI**2, (5, 2)),
    "cos": (lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, lambda z: z * z / cos(sqrt(z)), TINY, QUARTER_PI**2, (5, 2)),
    "atan": (lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z, TINY, TAN_PI_8_SQ, (10, 4)),
    "asin": (lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z, TINY, mpf("0.2501"), (12, 4)),
    "exp": (lambda r: (exp(r) - 1 - r) / r**2, lambda r: r * r, mpf("-0.3470001"), mpf("0.347"), (9, 4)),
    "log": (lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z, lambda z: z / 2, TINY, mpf("0.02945"), (6, 2)),
}

if __name__ == "__main__":
    for name, (g, w, lo, hi, degrees) in FITS.items():
        for single, degree in zip((False, True), degrees):
            worst, c = remez(g, w, lo, hi, degree)
            digits = [rounded(k, single) for k in c]
            print(name, "float" if single else "double", degree, mp.nstr(worst, 3))
            print("   " + ", ".join((f"{d:.9g}f" if single else repr(d)) for d in digits))
