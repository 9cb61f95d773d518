"""Classes of random friction contact problems, and what is known of their solutions by construction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from certificate.definition import Problems, length, scales

TOL = 1e-8  # default of garra.contact.solve


def symmetric(A: np.ndarray) -> np.ndarray:
    return (A + A.swapaxes(1, 2)) / 2


def frictions(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    return rng.uniform(0.1, 1.0, (n, k))


def wide_frictions(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """0 (one of ten), and 1e-3 to 1e9 log-uniform"""
    return np.where(rng.random((n, k)) < 0.1, 0, 10 ** rng.uniform(-3, 9, (n, k)))


def loads(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    b = rng.normal(size=(n, 3 * k))
    b[:, ::3] -= 0.5
    return b


def ideal(rng: np.random.Generator, n: int, k: int) -> Problems:
    G = rng.normal(size=(n, 3 * k, 3 * k + 3))
    A = symmetric(G @ G.swapaxes(1, 2)) / (3 * k) + 0.1 * np.eye(3 * k)
    return Problems(A, loads(rng, n, k), frictions(rng, n, k))


def frames(normals: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """[n, k, 3, 3] with columns n, t, o"""
    t = np.cross(normals, rng.normal(size=normals.shape))
    t /= length(t)[..., None]
    return np.stack([normals, t, np.cross(normals, t)], -1)


def wrenches(points: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """W [n, 6, 3k] (force; moment) of unit forces along the axes"""
    arms = np.cross(points[..., None, :], axes.swapaxes(2, 3)).swapaxes(2, 3)
    W = np.concatenate([axes, arms], 2)  # [n, k, 6, 3]
    return W.swapaxes(1, 2).reshape(len(points), 6, -1)


def grasp(rng: np.random.Generator, n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on an ellipsoid and normals into it, 0.2 rad off."""
    axes = rng.uniform(0.5, 1.5, (n, 1, 3))
    at = rng.normal(size=(n, k, 3))
    at /= length(at)[..., None]
    normals = -at / axes
    normals = normals / length(normals)[..., None] + 0.2 * rng.normal(size=at.shape)
    return axes * at, normals / length(normals)[..., None]


def root_mobility(rng: np.random.Generator, n: int) -> np.ndarray:
    """sqrt(M^-1) [n, 6]: mass 0.1 to 10 kg, radii of gyration 0.4 to 0.8 m"""
    mass = 10 ** rng.uniform(-1, 1, (n, 1))
    return np.concatenate([np.repeat(mass, 3, 1), mass * rng.uniform(0.4, 0.8, (n, 3)) ** 2], 1) ** -0.5


def rigid(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """sqrt(M^-1) W [n, 6, 3k]; a quarter are point masses (moments without inertia, 3 rows)"""
    points, normals = grasp(rng, n, k)
    L = root_mobility(rng, n)[..., None] * wrenches(points, frames(normals, rng))
    L[: n // 4, 3:] = 0
    return L


def squared(L: np.ndarray) -> np.ndarray:
    return symmetric(L.swapaxes(1, 2) @ L)


def compliant(rng: np.random.Generator, n: int, k: int) -> Problems:
    points, normals = grasp(rng, n, k)
    axes = frames(normals, rng)
    L = root_mobility(rng, n)[..., None] * wrenches(points, axes)
    G = rng.normal(size=(n, k, 3, 3))
    B = (G @ G.swapaxes(2, 3) / 3 + 0.1 * np.eye(3)) * 10 ** rng.uniform(-1, 1, (n, 1, 1, 1))
    pressed = np.concatenate([rng.uniform(0, 10, (n, k, 1)), rng.normal(size=(n, k, 2))], -1)
    b = -np.einsum("nkij,nkj->nki", B, pressed).reshape(n, -1)
    b += np.einsum("nij,ni->nj", L, rng.normal(size=(n, 6)) * np.array([5, 5, 5, 1, 1, 1]))
    return Problems(symmetric(squared(L) + block_diagonal(B)), b, frictions(rng, n, k))


def block_diagonal(B: np.ndarray) -> np.ndarray:
    n, k, d, _ = B.shape
    A = np.zeros((n, k, d, k, d))
    for j in range(k):
        A[:, j, :, j] = B[:, j]
    return A.reshape(n, k * d, k * d)


def conditioned(rng: np.random.Generator, n: int, k: int) -> Problems:
    """Condition 1e2 to 1e14, eigenvalues log-uniform, friction 0.1 to 10."""
    Q, _ = np.linalg.qr(rng.normal(size=(n, 3 * k, 3 * k)))
    orders = np.sort(rng.random((n, 3 * k)), 1)
    orders[:, 0], orders[:, -1] = 0, 1
    values = 10 ** (-orders * rng.uniform(2, 14, (n, 1)))
    A = symmetric((Q * values[:, None, :]) @ Q.swapaxes(1, 2))
    return Problems(A, loads(rng, n, k), 10 ** rng.uniform(-1, 1, (n, k)))


def rescaled(p: Problems, D: np.ndarray, with_load: np.ndarray | bool = True) -> Problems:
    """D A D and, where wanted, D b, with one factor for each contact [n, k]"""
    rows = np.repeat(D, p.A.shape[1] // D.shape[1], 1)
    b = np.where(np.reshape(with_load, (-1, 1)), rows, 1) * p.b
    return replace(p, A=p.A * (rows[:, :, None] * rows[:, None, :]), b=b)


def masses(rng: np.random.Generator, n: int, k: int) -> Problems:
    """Masses 1e-3 to 1e3 in one problem; half with loads of the same size at all contacts."""
    return rescaled(ideal(rng, n, k), 10 ** rng.uniform(-1.5, 1.5, (n, k)), np.arange(n) % 2 == 0)


def rigid_masses(rng: np.random.Generator, n: int, k: int) -> Problems:
    return rescaled(rigid_solvable(rng, n, k), 10 ** rng.uniform(-1.5, 1.5, (n, k)))


def any_friction(rng: np.random.Generator, n: int, k: int) -> Problems:
    return replace(ideal(rng, n, k), mu=wide_frictions(rng, n, k))


def rigid_inside(rng: np.random.Generator, n: int, k: int) -> Problems:
    L = rigid(rng, n, k)
    return Problems(squared(L), np.einsum("nij,ni->nj", L, rng.normal(size=(n, 6))), frictions(rng, n, k))


def rigid_outside(rng: np.random.Generator, n: int, k: int) -> Problems:
    p = rigid_inside(rng, n, k)
    return replace(p, b=p.b + 0.5 * rng.normal(size=p.b.shape))


def dual_interior(rng: np.random.Generator, mu: np.ndarray) -> np.ndarray:
    """a_0 [n, k, 3] strictly inside K*: a_n > mu |a_T|, by 0.01 to 1"""
    a_T = rng.normal(size=(*mu.shape, 2)) / (1 + mu[..., None])
    return np.concatenate([(mu * length(a_T) + 10 ** rng.uniform(-2, 0, mu.shape))[..., None], a_T], -1)


def rigid_solvable(rng: np.random.Generator, n: int, k: int, mu: np.ndarray | None = None) -> Problems:
    """b = a_0 - A x with a_0 inside K*. A solution exists, since b.z > 0 for all z != 0 of the cones with A z = 0
    (V. Acary, F. Cadoux, C. Lemarechal, J. Malick, ZAMM 91, 2011)."""
    A = squared(rigid(rng, n, k))
    mu = frictions(rng, n, k) if mu is None else mu
    a_0 = dual_interior(rng, mu).reshape(n, -1)
    return Problems(A, a_0 - np.einsum("nij,nj->ni", A, rng.normal(size=a_0.shape)), mu)


def rigid_any_friction(rng: np.random.Generator, n: int, k: int) -> Problems:
    return rigid_solvable(rng, n, k, wide_frictions(rng, n, k))


def whole_walls(rng: np.random.Generator, n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """A and y >= 0 [n, k] with A E_n y = 0 exactly: W of whole numbers, the last normal balances the others."""
    W = rng.integers(-4, 5, (n, 6, k, 3)).astype(float)
    y = rng.integers(1, 4, (n, k)) * (rng.random((n, k)) < 0.7).astype(float)
    y[:, -1] = 1
    W[:, :, -1, 0] = -np.einsum("nik,nk->ni", W[:, :, :-1, 0], y[:, :-1])
    W = W.reshape(n, 6, 3 * k)
    return W.swapaxes(1, 2) @ W, y


def whole(x: np.ndarray) -> np.ndarray:
    """Multiples of 2^-10: sums and products stay exact."""
    return np.round(x * 1024) / 1024


def walls(rng: np.random.Generator, n: int, k: int) -> Problems:
    """b_n.y < 0 and A E_n y = 0, all exact: closing walls and what is like them. The walls close with 0.05 to 1."""
    A, y = whole_walls(rng, n, k)
    d = rng.normal(size=(n, k, 3))
    d[..., 0] -= ((d[..., 0] * y).sum(1) / y.sum(1) + 10 ** rng.uniform(-1.3, 0, n))[:, None]
    x = whole(rng.normal(size=(n, 3 * k)))
    return Problems(A, whole(d).reshape(n, -1) - np.einsum("nij,nj->ni", A, x), frictions(rng, n, k))


def closing(rng: np.random.Generator, n: int, k: int) -> Problems:
    """The same with contacts in space whose normals meet in a point, up to rounding; some contacts beside them."""
    points, normals = grasp(rng, n, k)
    y = rng.uniform(0.5, 2, (n, k)) * (rng.random((n, k)) < 0.7)
    y[:, 0] = 1
    last = -np.einsum("nk,nki->ni", y[:, :-1], normals[:, :-1])
    alone = length(last) < 1e-3
    normals[:, -1] = np.where(alone[:, None], normals[:, -1], last)
    y[:, -1] = np.where(alone, 0, length(last))
    normals /= length(normals)[..., None]
    center = 0.2 * rng.normal(size=(n, 1, 3))
    points = np.where((y > 0)[..., None], center - rng.uniform(0.5, 1, (n, k, 1)) * normals, points)
    A = squared(root_mobility(rng, n)[..., None] * wrenches(points, frames(normals, rng)))
    d = rng.normal(size=(n, k, 3))
    d[..., 0] -= ((d[..., 0] * y).sum(1) / np.maximum(y.sum(1), 1e-9) + 10 ** rng.uniform(-1.3, 0, n))[:, None]
    return Problems(A, d.reshape(n, -1) - np.einsum("nij,nj->ni", A, rng.normal(size=(n, 3 * k))), frictions(rng, n, k))


def border(rng: np.random.Generator, n: int, k: int, step: float) -> Problems:
    """b = a_0 - A x with a_0 = step s_j e_n where y_j > 0, inside K* elsewhere. step < 0: b_n.y = step sum y_j s_j, so
    that every load that differs by less than |step| s_j has none, too. step > 0: a solution exists."""
    A, y = whole_walls(rng, n, k)
    mu = frictions(rng, n, k)
    a_0 = np.where((y > 0)[..., None], 0, dual_interior(rng, mu))
    b = whole(a_0.reshape(n, -1)) - np.einsum("nij,nj->ni", A, whole(rng.normal(size=(n, 3 * k))))
    b[:, ::3] += step * np.where(y > 0, scales(Problems(A, b, mu))[1], 0)
    return Problems(A, b, mu)


def sliding(make: Callable, share: float) -> Callable:
    """Problems of `make` of whose contacts a share slides, one at least."""

    def sliding_problems(rng: np.random.Generator, n: int, k: int) -> Problems:
        slides = rng.random((n, k)) < share
        slides[np.arange(n), rng.integers(0, k, n)] = True
        slip = rng.normal(size=(n, k, 2))
        return replace(make(rng, n, k), slides=slides, slip=slip / length(slip)[..., None])

    return sliding_problems


def soft_object(rng: np.random.Generator, n: int, k: int) -> tuple[Problems, np.ndarray, dict[str, np.ndarray]]:
    """Object of 0.1 to 10 kg, 4 to 12 cm long, in soft contacts (n, t, o, moment / r), docs/theory/grasp-sets.md (1):
    its part of A and b; axes of the contacts; arrays of garra.grasp.GraspSet."""
    points, normals = grasp(rng, n, k)
    points, axes = 0.05 * points, frames(normals, rng)
    r = rng.uniform(0.002, 0.02, (n, k))  # [m]
    mass, squares = 10 ** rng.uniform(-1, 1, (n, 1)), rng.uniform(0.02, 0.06, (n, 3)) ** 2
    inertia = mass / 5 * (squares.sum(1, keepdims=True) - squares)  # of an ellipsoid
    M = np.concatenate([np.repeat(mass, 3, 1), inertia], 1)
    wrench = M * rng.normal(size=(n, 6)) * np.array([5, 5, 5, 50, 50, 50])
    twist = np.concatenate([np.zeros((n, k, 3)), r[..., None] * normals], 2)[..., None]
    W = np.concatenate([wrenches(points, axes).reshape(n, 6, k, 3).swapaxes(1, 2), twist], 3)
    W = W.swapaxes(1, 2).reshape(n, 6, 4 * k)
    A, b = squared(W / np.sqrt(M)[..., None]), np.einsum("nij,ni->nj", W, wrench / M)
    parts = {
        "points": points, "normals": normals, "tangent": axes[..., 1], "torsion_radius": r, "mass": mass[:, 0],
        "com": np.zeros((n, 3)), "inertia": inertia[..., None] * np.eye(3), "gravity": np.zeros((n, 3)),
        "wrench": wrench,
    }  # fmt: skip
    return Problems(A, b, frictions(rng, n, k), parts=parts), axes, parts


def soft(rng: np.random.Generator, n: int, k: int) -> Problems:
    """Compliant hands of soft contacts."""
    p, _, parts = soft_object(rng, n, k)
    mass, r = parts["mass"][:, None], parts["torsion_radius"]
    mobility, turning = 10 ** rng.uniform(-1, 1, (n, k)) / mass, 10 ** rng.uniform(2, 4, (n, k))
    B = np.concatenate([np.repeat(mobility[..., None], 3, 2), (turning * r**2)[..., None]], 2).reshape(n, -1)
    force = np.concatenate([rng.uniform(0, 10, (n, k, 1)), rng.normal(size=(n, k, 2))], -1) * mass[..., None]
    b = p.b - B * np.pad(force, ((0, 0), (0, 0), (0, 1))).reshape(n, -1)
    parts = parts | {"mobility": mobility, "angular_mobility": turning, "force": force}
    return replace(p, A=p.A + B[..., None] * np.eye(4 * k), b=b, parts=parts)


def soft_rigid(rng: np.random.Generator, n: int, k: int) -> Problems:
    """Whole hands of k joints, 0.1 kg m^2 each, that move all soft contacts. b is in the range of A, which is singular
    from three contacts on."""
    p, axes, parts = soft_object(rng, n, k)
    J, spin = rng.normal(size=(2, n, k, 3, k)) * np.array([0.1, 1])[:, None, None, None, None]  # [m], [1]
    torque = rng.normal(size=(n, k))  # [N m]
    turning = parts["torsion_radius"][..., None] * np.einsum("njx,njxq->njq", parts["normals"], spin)
    rows = np.concatenate([np.einsum("njxc,njxq->njcq", axes, J), turning[:, :, None]], 2).reshape(n, 4 * k, k)
    b = p.b - np.einsum("nrq,nq->nr", rows, torque) / 0.1
    hand = {"jacobian": J, "angular_jacobian": spin, "mass_matrix": np.tile(0.1 * np.eye(k), (n, 1, 1))}
    hand |= {"torque": torque, "bias": 0 * torque}
    return replace(p, A=symmetric(p.A + rows @ rows.swapaxes(1, 2) / 0.1), b=b, parts=parts | hand)


@dataclass
class Class:
    name: str
    make: Callable[[np.random.Generator, int, int], Problems]
    truth: str  # "spd": all are solvable, "solvable" too, "impossible": none is within 10 tolerance, "open": not known
    needed: float = 0.0  # share that has to be solved


CLASSES = [
    Class("ideal", ideal, "spd", 1),
    Class("compliant", compliant, "spd", 1),
    Class("condition", conditioned, "spd", 1),
    Class("masses", masses, "spd", 1),
    Class("friction", any_friction, "spd", 1),
    Class("rigid-inside", rigid_inside, "solvable"),
    Class("rigid-outside", rigid_outside, "open"),
    Class("rigid-solvable", rigid_solvable, "solvable", 0.9999),
    Class("rigid-masses", rigid_masses, "solvable", 0.9999),
    Class("rigid-friction", rigid_any_friction, "solvable", 0.9999),
    Class("walls", walls, "impossible"),
    Class("closing", closing, "open"),
    Class("border-plus", lambda rng, n, k: border(rng, n, k, 10 * TOL), "solvable"),
    Class("border-minus", lambda rng, n, k: border(rng, n, k, -10 * TOL), "impossible"),
    Class("mixed-ideal", sliding(ideal, 0.4), "open"),
    Class("mixed-rigid", sliding(rigid_outside, 0.4), "open"),
    Class("sliding-ideal", sliding(ideal, 1), "open"),
    Class("sliding-rigid", sliding(rigid_outside, 1), "open"),
    Class("sliding-condition", sliding(conditioned, 1), "open"),
    Class("soft", soft, "spd", 1),
    Class("soft-rigid", soft_rigid, "solvable"),
]
