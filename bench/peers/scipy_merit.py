"""SciPy on the same problems: scipy.optimize.least_squares (trust region reflective, with bounds) on the componentwise
merit function, in the 24 variables of the papers. Prints CPU times and the shares solved;
set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1, since BLAS threads only cost at this size.

    python3 bench/peers/scipy_merit.py [count] [data/reference/contact/random_n3.h5]

A peer for benchmarks only; needs SciPy and h5py, which the project itself does not. The judge is that of
docs/theory/contact-solver.md, equation (3): the natural-map error of the scaled problem, from the force alone.
"""

import sys
import time

import h5py
import numpy as np
from scipy.optimize import least_squares

LEAST_NORMAL, INSIDE_CONE, LEAST_LAMBDA = 0.1, 0.9, 0.3  # friction_merit.hpp


class Problem:
    """One scaled problem; x = (c_n, lambda, c_t, c_o, a_t, a_o, z), direction-major as in the papers."""

    def __init__(self, A, b, mu):
        self.A, self.b, self.mu = A / A.diagonal().max(), b / np.abs(b).max(), mu
        self.contacts = len(mu)

    def force(self, x):
        n = self.contacts
        return np.stack([x[:n], x[2 * n : 3 * n], x[3 * n : 4 * n]], axis=1).ravel()

    def split(self, x):
        return x.reshape(8, self.contacts)

    def residual(self, x):
        c_n, lam, c_t, c_o, a_t, a_o, z_n, z_s = self.split(x)
        a = (self.A @ self.force(x) + self.b).reshape(-1, 3)
        s = (self.mu * c_n) ** 2 - c_t**2 - c_o**2
        limit = self.mu * c_n
        rows = [a[:, 0] - z_n, s - z_s, limit * a_t + c_t * lam, limit * a_o + c_o * lam, a_t - a[:, 1], a_o - a[:, 2]]
        return np.concatenate(rows + [c_n * z_n, lam * z_s])

    def jacobian(self, x):
        n = self.contacts
        c_n, lam, c_t, c_o, a_t, a_o, z_n, z_s = self.split(x)
        J = np.zeros((8 * n, 8 * n))
        columns = np.stack([np.arange(n), 2 * n + np.arange(n), 3 * n + np.arange(n)], axis=1).ravel()
        J[:n, columns] = self.A[0::3]
        J[4 * n : 5 * n, columns] = -self.A[1::3]
        J[5 * n : 6 * n, columns] = -self.A[2::3]

        def put(row, column, values):
            J[row * n + np.arange(n), column * n + np.arange(n)] += values

        put(0, 6, -1.0), put(1, 7, -1.0), put(4, 4, 1.0), put(5, 5, 1.0)
        put(1, 0, 2 * self.mu**2 * c_n), put(1, 2, -2 * c_t), put(1, 3, -2 * c_o)
        put(2, 0, self.mu * a_t), put(2, 4, self.mu * c_n), put(2, 2, lam), put(2, 1, c_t)
        put(3, 0, self.mu * a_o), put(3, 5, self.mu * c_n), put(3, 3, lam), put(3, 1, c_o)
        put(6, 0, z_n), put(6, 6, c_n), put(7, 1, z_s), put(7, 7, lam)
        return J

    def error(self, c):
        a = (self.A @ c + self.b).reshape(-1, 3)
        y = c.reshape(-1, 3) - a
        y[:, 0] -= self.mu * np.hypot(a[:, 1], a[:, 2])
        projected = np.array([project_on_cone(y[j], self.mu[j]) for j in range(self.contacts)])
        size = max(np.linalg.norm(self.b), np.linalg.norm(c), np.linalg.norm(a))
        return np.linalg.norm(c - projected.ravel()) / size

    def start(self, interior):
        """Zero, or the start of friction_merit.hpp: the stick force in the interior."""
        n = self.contacts
        if not interior:
            return np.zeros(8 * n)
        c = np.linalg.solve(self.A, -self.b).reshape(-1, 3)
        c = np.array([project_on_cone(c[j], self.mu[j]) for j in range(n)])
        largest = c[:, 0].max()
        least = LEAST_NORMAL * largest if largest > 0 else np.linalg.norm(self.b) / self.A.diagonal().mean()
        c[:, 0] = np.maximum(c[:, 0], least)
        c[:, 1:] *= INSIDE_CONE
        a = (self.A @ c.ravel() + self.b).reshape(-1, 3)
        lam = np.maximum(np.hypot(a[:, 1], a[:, 2]), LEAST_LAMBDA)
        s = (self.mu * c[:, 0]) ** 2 - c[:, 1] ** 2 - c[:, 2] ** 2
        slack = [np.maximum(a[:, 0], 0), np.maximum(s, 0)]
        return np.concatenate([c[:, 0], lam, c[:, 1], c[:, 2], a[:, 1], a[:, 2]] + slack)


def project_on_cone(y, mu):
    length = np.hypot(y[1], y[2])
    if length <= mu * y[0]:
        return y.copy()
    if y[0] + mu * length <= 0:
        return np.zeros(3)
    n = (y[0] + mu * length) / (1 + mu * mu)
    return np.array([n, mu * n * y[1] / length, mu * n * y[2] / length])


def measure(problems, interior):
    errors, times, jacobians = [], [], []
    for p in problems:
        n = p.contacts
        lower = np.where(np.repeat([1, 1, 0, 0, 0, 0, 1, 1], n) > 0, 0.0, -np.inf)
        x0 = p.start(interior)
        begin = time.process_time()
        found = least_squares(p.residual, x0, jac=p.jacobian, bounds=(lower, np.inf), method="trf",
                              xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=500)
        times.append(time.process_time() - begin)
        errors.append(p.error(p.force(found.x)))
        jacobians.append(found.njev)
    errors = np.array(errors)
    print(f"{'interior start' if interior else 'start at zero':15s} {len(problems)} problems: "
          f"median {1e3 * np.median(times):.2f} ms, mean {1e3 * np.mean(times):.2f} ms, "
          f"{np.median(jacobians):.0f} Jacobians, below 1e-6 {100 * np.mean(errors <= 1e-6):.1f} %, "
          f"below 1e-8 {100 * np.mean(errors <= 1e-8):.1f} %")


def check_jacobian(p):
    """A peer whose Jacobian is wrong would be no peer."""
    x = np.random.default_rng(1).uniform(0.1, 1, 8 * p.contacts)
    h = 1e-6
    numeric = np.stack([(p.residual(x + h * e) - p.residual(x - h * e)) / (2 * h) for e in np.eye(len(x))], axis=1)
    assert np.abs(numeric - p.jacobian(x)).max() < 1e-8


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    path = sys.argv[2] if len(sys.argv) > 2 else "data/reference/contact/random_n3.h5"
    with h5py.File(path) as file:
        arrays = [np.array(file[name][:count]) for name in ("A", "b", "mu")]
    problems = [Problem(A, b.ravel(), mu.ravel()) for A, b, mu in zip(*arrays)]
    check_jacobian(problems[0])
    measure(problems, interior=False)
    measure(problems, interior=True)


if __name__ == "__main__":
    main()
