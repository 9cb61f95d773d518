"""The contact problem of the reference trajectories: Signorini and Coulomb, 0 <= p_n _|_ v_n >= 0, p_T in the disk of
radius mu p_n and against v_T, where v = A p + b."""

import numpy as np


def tangent_residual(p_T, v_T, radius, rho):
    """p_T minus its projection after a step against v_T, with the derivatives by p_T, v_T and the radius."""
    y = p_T - rho * v_T
    size = np.linalg.norm(y)
    if size <= radius:
        return rho * v_T, np.zeros((2, 2)), np.eye(2) * rho, np.zeros(2)
    if radius <= 0:
        return p_T, np.eye(2), np.zeros((2, 2)), np.zeros(2)
    d = y / size
    K = radius / size * (np.eye(2) - np.outer(d, d))
    return p_T - radius * d, np.eye(2) - K, rho * K, -d


def friction_residual(A, b, mu, p, rho, slides):
    """Alart and Curnier's function of all contacts, and a generalized Jacobian. Where slides[j] is not zero, contact j
    slides that way whatever comes."""
    v = A @ p + b
    F, J = np.zeros_like(p), np.zeros_like(A)
    for j in range(len(mu)):
        n, T = 3 * j, slice(3 * j + 1, 3 * j + 3)
        press = p[n] - rho[n] * v[n]
        by_press = np.zeros(len(p))
        if press > 0:
            F[n] = rho[n] * v[n]
            J[n] = rho[n] * A[n]
            by_press = -rho[n] * A[n]
            by_press[n] += 1
        else:
            F[n] = p[n]
            J[n, n] = 1
        if slides[j].any():
            F[T] = p[T] + mu[j] * p[n] * slides[j]
            J[T, T] = np.eye(2)
            J[T, n] = mu[j] * slides[j]
            continue
        F[T], by_p, by_v, by_radius = tangent_residual(p[T], v[T], mu[j] * max(press, 0), rho[n + 1])
        J[T] = by_v @ A[T] + np.outer(by_radius, mu[j] * by_press)
        J[T, T] += by_p
    return F, J


def sweep(A, b, mu, p, rho):
    """One pass of nonsmooth Gauss-Seidel (projections)."""
    for j in range(len(mu)):
        at = slice(3 * j, 3 * j + 3)
        v = A[at] @ p + b[at]
        p[3 * j] = max(0.0, p[3 * j] - v[0] * rho[3 * j])
        T = slice(3 * j + 1, 3 * j + 3)
        y = p[T] - (A[T] @ p + b[T]) * rho[3 * j + 1]
        size, radius = np.linalg.norm(y), mu[j] * p[3 * j]
        p[T] = y if size <= radius else y * (radius / size)


def solve_contacts(A, b, mu, start, slides=None):
    """The impulses; Newton from `start`, after more and more sweeps where it does not arrive."""
    slides = np.zeros((len(mu), 2)) if slides is None else slides
    if len(b) == 0:
        return np.zeros(0)
    rho = np.zeros(len(b))
    for j in range(len(mu)):
        block = A[3 * j : 3 * j + 3, 3 * j : 3 * j + 3]
        rho[3 * j] = 1 / block[0, 0]
        rho[3 * j + 1 : 3 * j + 3] = 2 / np.trace(block[1:, 1:])
    best, worst = None, np.inf
    for sweeps in (0, 10, 100, 1000, 10000):
        p = np.array(start)
        for _ in range(sweeps):
            sweep(A, b, mu, p, rho)
        for _ in range(40):
            F, J = friction_residual(A, b, mu, p, rho, slides)
            size = np.max(np.abs(F)) / (1e-3 + np.max(np.abs(p)))
            if size < worst:
                best, worst = p, size
            if size < 1e-15:
                break
            try:
                p = p - np.linalg.solve(J, F)
            except np.linalg.LinAlgError:
                break
        if worst < 1e-12:
            return best
    raise RuntimeError(f"contact problem not solved: residual {worst:.1e}")
