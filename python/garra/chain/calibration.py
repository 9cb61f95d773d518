"""Kinematic calibration of serial arms: what can be identified, which poses to measure, and the fit (docs/howto/calibration.md).

The parameters are displacements of the base and the described link frames, six each: shifts along and turns about their
axes, of the base about those of the world. They have no singularity at parallel axes, unlike DH numbers. Many of them move the tool in the same way: of the 6 (n + 1)
parameters of a 6R arm 30 can be identified from poses of the tool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from garra.arguments import numbers, positive, vector, whole
from garra.chain.robot import Chain
from garra.turns import rotation_error, turn_matrix

AXES: tuple[str, ...] = ("x", "y", "z", "rx", "ry", "rz")
"""Components of a frame's displacement: shifts [m], turns [rad]."""
MEASURED: tuple[str, ...] = ("pose", "position")
"""What is measured of the tool."""
_RANK = 1e-9
"""Singular values below this part of the largest are zero: parameters without effect."""
_LEAST = 1.0
"""Combinations with less than this singular value keep their prior: it tells more than the measurements."""


@dataclass(frozen=True)
class Identifiability:
    """What measurements in given poses say about p parameters.

    Examples
    --------
    >>> arm = garra.load("puma560")
    >>> q = np.random.default_rng(0).uniform(-1, 1, (40, 6))
    >>> found = garra.chain.calibration.Calibration(arm).identify(q)
    >>> found.rank, found.observability["O2"] > 0
    (30, True)
    """

    rank: int
    """number of combinations of parameters that can be identified"""
    possible: int
    """the same from any number of poses"""
    condition: float
    """largest by smallest singular value of the identifiable combinations, after scaling"""
    singular_values: np.ndarray
    """[min(m, p)] of the scaled Jacobian, descending: prior tolerance of a combination by measurement noise"""
    combinations: np.ndarray
    """[rank, p] orthonormal rows: the identifiable combinations of scaled parameters"""
    observability: dict[str, float]
    """O1: geometric mean of the singular values by sqrt(poses) (Borm, Menq 1991); O2: inverse condition (Driels, Pathre
    1990); O3: smallest one (Nahvi, Hollerbach 1994); O4: its square by the largest (Nahvi, Hollerbach 1996); O5: 1 by the
    sum of their inverses (Sun, Hollerbach 2008)"""

    def __str__(self) -> str:
        values = ", ".join(f"{name} {value:.3g}" for name, value in self.observability.items())
        return f"{self.rank} of {self.possible} combinations of parameters, condition {self.condition:.3g}, {values}"


@dataclass(frozen=True)
class Fit:
    """Parameters fitted to measurements.

    Examples
    --------
    >>> arm = garra.load("puma560")
    >>> model = garra.chain.calibration.Calibration(arm)
    >>> q = np.random.default_rng(0).uniform(-1, 1, (40, 6))
    >>> fit = model.fit(q, arm.forward_kinematics(q))  # measurements of the nominal arm
    >>> bool(abs(fit.parameters).max() < 1e-9), fit.converged
    (True, True)
    """

    parameters: np.ndarray
    """[p] displacements of the frames [m, rad]: the smallest ones, in units of their prior tolerances, that fit"""
    covariance: np.ndarray
    """[p, p] of the parameters; combinations with a singular value below 1 keep their prior variance"""
    residuals: np.ndarray
    """[n, rows] measured minus fitted [m, rad]"""
    chi_square: float
    """sum of squared residuals by noise"""
    degrees_of_freedom: int
    """measured numbers minus fitted combinations. chi_square is so much on average, and more by the squared singular values
    of combinations that keep their prior"""
    iterations: int
    """Gauss-Newton steps"""
    converged: bool
    """the last step changed the parameters by less than 1e-6 of their prior tolerances"""

    def __str__(self) -> str:
        end = "converged" if self.converged else "not converged"
        off = 1e3 * np.sqrt((self.residuals[:, :3] ** 2).sum(axis=1).mean())
        return (
            f"{end} after {self.iterations} steps: positions off by {off:.3g} mm (rms), "
            f"chi square {self.chi_square:.4g} of {self.degrees_of_freedom}"
        )


class Calibration:
    """Kinematics of an arm whose frames are displaced.

    Parameters
    ----------
    arm : garra.Chain
        The nominal arm.
    measured : str
        "pose" (position and orientation of the tool) or "position".
    noise : tuple of float
        Standard deviation of a measured coordinate [m] and of a measured turn [rad].
    prior : tuple of float
        Expected size (standard deviation) of shifts [m] and turns [rad] of the frames.

    Raises
    ------
    ValueError
        For an unknown `measured`, and for noise or priors that are not positive.

    Examples
    --------
    >>> model = garra.chain.calibration.Calibration(garra.load("puma560"))
    >>> len(model.names), model.names[0], model.names[-1]
    (42, 'base_x', 'link_5_rz')
    """

    def __init__(
        self,
        arm: Chain,
        *,
        measured: str = "pose",
        noise: tuple[float, float] = (1e-4, 1e-3),
        prior: tuple[float, float] = (1e-3, 1e-2),
    ) -> None:
        if measured not in MEASURED:
            raise ValueError(f'measured = "{measured}": one of {", ".join(MEASURED)} is needed')
        self.arm, self.measured = arm, measured
        self.rows = 6 if measured == "pose" else 3
        noise_of = [positive(f"noise[{k}]", x) for k, x in enumerate(vector("noise", noise, 2))]
        prior_of = [positive(f"prior[{k}]", x) for k, x in enumerate(vector("prior", prior, 2))]
        self.noise = np.repeat(noise_of, 3)[: self.rows]
        links = np.asarray(arm.link_poses(np.zeros((1, arm.n)))).shape[1]  # more than joints where some follow others
        self.prior = np.tile(np.repeat(prior_of, 3), links + 1)
        frames = ["base", *(f"link_{i}" for i in range(links))]
        self.names = [f"{frame}_{axis}" for frame in frames for axis in AXES]
        """[p] names of the parameters"""

    def poses(self, q: Any, parameters: Any = None) -> np.ndarray:
        """Tool poses of the displaced arm.

        Parameters
        ----------
        q : array_like [n, joints]
            [rad or m]
        parameters : array_like [p], optional
            Displacements; default: none.

        Returns
        -------
        numpy.ndarray [n, 4, 4]

        Examples
        --------
        >>> arm = garra.load("puma560")
        >>> model = garra.chain.calibration.Calibration(arm)
        >>> bool(abs(model.poses([[0.1] * 6]) - arm.forward_kinematics([[0.1] * 6])).max() < 1e-12)
        True
        """
        return self._frames(self._checked_values(q), self._displaced(parameters))[1]

    def jacobian(self, q: Any, parameters: Any = None) -> np.ndarray:
        """Derivatives of the measured numbers by further displacements of the frames.

        Parameters
        ----------
        q : array_like [n, joints]
            [rad or m]
        parameters : array_like [p], optional
            Displacements that the arm has already; default: none.

        Returns
        -------
        numpy.ndarray [n, rows, p]
            Shift of the tool point, then its turn, in world axes.

        Examples
        --------
        >>> model = garra.chain.calibration.Calibration(garra.load("puma560"), measured="position")
        >>> model.jacobian([[0.1] * 6]).shape
        (1, 3, 42)
        """
        return self._jacobian(*self._frames(self._checked_values(q), self._displaced(parameters)))

    def identify(self, q: Any) -> Identifiability:
        """What measurements in the poses q can tell.

        Parameters
        ----------
        q : array_like [n, joints]
            [rad or m]

        Returns
        -------
        Identifiability
            After scaling by noise and prior tolerances.

        Examples
        --------
        >>> model = garra.chain.calibration.Calibration(garra.load("puma560"))
        >>> model.identify([[0.1] * 6]).rank  # one pose
        6
        """
        q = self._checked_values(q)
        J = self._scaled(*self._frames(q, self._displaced(None)))
        _, s, V = np.linalg.svd(J.reshape(-1, len(self.names)), full_matrices=False)
        rank = int((s > _RANK * s[0]).sum())
        kept = s[:rank]
        observability = {
            "O1": float(np.exp(np.log(kept).mean()) / np.sqrt(len(q))),
            "O2": float(kept[-1] / kept[0]),
            "O3": float(kept[-1]),
            "O4": float(kept[-1] ** 2 / kept[0]),
            "O5": float(1 / (1 / kept).sum()),
        }
        return Identifiability(rank, self._basis(J).shape[0], float(kept[0] / kept[-1]), s, V[:rank], observability)

    def choose(self, q: Any, count: int) -> np.ndarray:
        """Poses to measure, of candidates: those that make O1 large.

        Poses are added one by one, then exchanged for others as long as the determinant of the information grows.

        Parameters
        ----------
        q : array_like [n, joints]
            Candidates that the arm can take and the instrument can see [rad or m].
        count : int
            Number of poses.

        Returns
        -------
        numpy.ndarray [count] of int
            Indices of candidates, ascending.

        Raises
        ------
        ValueError
            For more poses than candidates.

        Examples
        --------
        >>> model = garra.chain.calibration.Calibration(garra.load("puma560"))
        >>> q = np.random.default_rng(0).uniform(-2, 2, (60, 6))
        >>> best = model.choose(q, 12)
        >>> model.identify(q[best]).observability["O1"] > model.identify(q[:12]).observability["O1"]
        True
        """
        q = self._checked_values(q)
        count = whole("count", count, 1)
        if count > len(q):
            raise ValueError(f"count = {count}: there are {len(q)} candidates")
        J = self._scaled(*self._frames(q, self._displaced(None)))
        rows = J @ self._basis(J).T  # [n, rows, rank]
        information = np.einsum("nki,nkj->nij", rows, rows)
        chosen: list[int] = []
        total = 1e-6 * information.mean(0).trace() / rows.shape[-1] * np.eye(rows.shape[-1])

        def gains(inverse: np.ndarray) -> np.ndarray:
            """[n] growth of the logarithm of the determinant by each candidate."""
            inside = np.einsum("nki,ij,nlj->nkl", rows, inverse, rows)
            return np.linalg.slogdet(np.eye(rows.shape[1]) + inside)[1]

        def best_of_others() -> tuple[int, float]:
            gain = gains(np.linalg.inv(total))
            gain[chosen] = -np.inf
            return int(gain.argmax()), float(gain.max())

        for _ in range(count):
            chosen.append(best_of_others()[0])
            total = total + information[chosen[-1]]
        for _ in range(10 * count):
            inverse = np.linalg.inv(total)
            inside = np.einsum("nki,ij,nlj->nkl", rows[chosen], inverse, rows[chosen])
            loss = -np.linalg.slogdet(np.eye(rows.shape[1]) - inside)[1]
            leaves = chosen.pop(int(loss.argmin()))
            total = total - information[leaves]
            enters, gain = best_of_others()
            if gain <= loss.min() * (1 + 1e-9):
                chosen.append(leaves)
                break
            chosen.append(enters)
            total = total + information[enters]
        return np.sort(np.asarray(chosen))

    def fit(self, q: Any, measured: Any, *, max_iterations: int = 20) -> Fit:
        """Parameters that explain measurements best.

        Least squares weighted by the noise. Of the parameters that fit equally, those are returned that are smallest in
        units of their prior tolerances. Combinations that the measurements tell less of than the prior keep the prior.

        Parameters
        ----------
        q : array_like [n, joints]
            Joint values of the controller [rad or m].
        measured : array_like [n, 4, 4] or [n, 3]
            Poses of the tool in the world, or positions of the tool point [m].
        max_iterations : int
            Gauss-Newton steps at most.

        Returns
        -------
        Fit
            Covariances are those of the given noise.

        Raises
        ------
        ValueError
            For inconsistent shapes, numbers that are not finite, and poses that are no rotation and translation.

        Examples
        --------
        >>> arm = garra.load("puma560")
        >>> model = garra.chain.calibration.Calibration(arm)
        >>> q = np.random.default_rng(0).uniform(-1, 1, (40, 6))
        >>> true = np.random.default_rng(1).normal(0, 1e-3, 42)
        >>> fit = model.fit(q, model.poses(q, true))
        >>> bool(abs(model.poses(q, fit.parameters) - model.poses(q, true)).max() < 1e-9)
        True
        """
        q, measured = self._checked_values(q), numbers("measured", measured)
        shape = (len(q), 4, 4) if self.measured == "pose" else (len(q), 3)
        if measured.shape != shape:
            raise ValueError(f"measured has the shape {measured.shape}, not {shape}")
        if not np.isfinite(measured).all():
            raise ValueError(f"measured[{int(np.argwhere(~np.isfinite(measured))[0, 0])}] is not finite")
        if self.measured == "pose" and len(bad := _bad_poses(measured)):
            raise ValueError(f"measured[{bad[0]}] is no rotation and translation")
        moved, steps, converged, rank = self._displaced(None), 0, False, len(self.prior)
        while not converged and steps < max_iterations:
            G, tools = self._frames(q, moved)
            J = self._scaled(G, tools).reshape(-1, len(self.prior))
            rest = (self._residuals(measured, tools) / self.noise).reshape(-1)
            # The step in the identifiable combinations that leads to the smallest total displacement.
            at = self._logarithms(moved) / self.prior
            U, s, V = np.linalg.svd(J, full_matrices=False)
            rank = min(rank, int((s > max(_RANK * s[0], _LEAST)).sum()))
            step = V[:rank].T @ ((U[:, :rank].T @ rest) / s[:rank] + V[:rank] @ at) - at
            moved = self._apply(moved, step * self.prior)
            steps += 1
            converged = bool(abs(step).max() < 1e-6)
        G, tools = self._frames(q, moved)
        residuals = self._residuals(measured, tools)
        J = self._scaled(G, tools).reshape(-1, len(self.prior))
        _, s, V = np.linalg.svd(J, full_matrices=False)
        fitted = V[:rank]
        covariance = np.eye(len(self.prior)) + (fitted.T * (1 / s[:rank] ** 2 - 1)) @ fitted
        covariance *= self.prior[:, None] * self.prior
        free = J.shape[0] - rank
        chi_square = float(((residuals / self.noise) ** 2).sum())
        return Fit(self._logarithms(moved), covariance, residuals, chi_square, free, steps, converged)

    # Displacements are kept as transforms [p / 6, 4, 4]: their turns add up exactly.

    def _checked_values(self, q: Any) -> np.ndarray:
        q = numbers("q", q)
        if q.ndim != 2 or q.shape[1] != self.arm.n or not len(q):
            raise ValueError(f"q has the shape {q.shape}, not [n, {self.arm.n}]")
        if not np.isfinite(q).all():
            raise ValueError(f"q[{int(np.argwhere(~np.isfinite(q))[0, 0])}] is not finite")
        return q

    def _displaced(self, parameters: Any) -> np.ndarray:
        p = np.zeros(len(self.names)) if parameters is None else numbers("parameters", parameters)
        if p.shape != (len(self.names),):
            raise ValueError(f"parameters has the shape {p.shape}, not [{len(self.names)}]")
        return self._apply(np.broadcast_to(np.eye(4), (len(self.prior) // 6, 4, 4)), p)

    def _apply(self, moved: np.ndarray, step: np.ndarray) -> np.ndarray:
        d = step.reshape(-1, 6)
        out = np.tile(np.eye(4), (len(d), 1, 1))
        out[:, :3, :3], out[:, :3, 3] = turn_matrix(d[:, 3:]), d[:, :3]
        return moved @ out

    def _logarithms(self, moved: np.ndarray) -> np.ndarray:
        return np.concatenate([moved[:, :3, 3], _vectors(moved[:, :3, :3])], axis=1).reshape(-1)

    def _frames(self, q: np.ndarray, moved: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Displaced frames [n, links + 1, 4, 4] and tools [n, 4, 4] in the world."""
        links, tool = np.asarray(self.arm.link_poses(q)), np.asarray(self.arm.forward_kinematics(q))
        nominal = [np.tile(np.eye(4), (len(q), 1, 1)), *np.moveaxis(links, 1, 0), tool]
        out, at = [], nominal[0]
        for i, displacement in enumerate(moved):
            at = at @ displacement
            out.append(at)
            at = at @ np.linalg.inv(nominal[i]) @ nominal[i + 1]
        return np.stack(out, axis=1), at

    def _jacobian(self, frames: np.ndarray, tools: np.ndarray) -> np.ndarray:
        R = frames[:, :, :3, :3]  # columns: axes of the displaced frames
        arms = tools[:, None, :3, 3] - frames[:, :, :3, 3]
        shifts = np.concatenate([R, np.cross(R, arms[..., None], axis=2)], axis=3)
        turns = np.concatenate([np.zeros_like(R), R], axis=3)
        J = np.concatenate([shifts, turns], axis=2)[:, :, : self.rows]
        return np.moveaxis(J, 1, 2).reshape(len(tools), self.rows, -1)

    def _residuals(self, measured: np.ndarray, tools: np.ndarray) -> np.ndarray:
        if self.measured == "position":
            return measured - tools[:, :3, 3]
        shift = measured[:, :3, 3] - tools[:, :3, 3]
        return np.concatenate([shift, _vectors(measured[:, :3, :3] @ tools[:, :3, :3].transpose(0, 2, 1))], axis=1)

    def _scaled(self, frames: np.ndarray, tools: np.ndarray) -> np.ndarray:
        return self._jacobian(frames, tools) / self.noise[:, None] * self.prior

    def _basis(self, J: np.ndarray) -> np.ndarray:
        """[rank, p] combinations that poses all over the joints' ranges identify, and those with the Jacobian J."""
        spread = np.random.default_rng(0).uniform(-1, 1, (4 * len(self.prior), self.arm.n))
        more = self._scaled(*self._frames(spread, self._displaced(None)))
        _, s, V = np.linalg.svd(np.concatenate([more, J]).reshape(-1, len(self.names)), full_matrices=False)
        return V[s > _RANK * s[0]]


def _bad_poses(T: np.ndarray) -> np.ndarray:
    """Indices of matrices [n, 4, 4] whose last row or rotation is none, by more than 5e-4."""
    return np.flatnonzero(rotation_error(T[:, :3, :3]) + abs(T[:, 3] - [0, 0, 0, 1]).max(1) > 5e-4)


def _vectors(R: np.ndarray) -> np.ndarray:
    """[n, 3] rotation vectors of turns below half a turn."""
    sine = 0.5 * np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], -1)
    length = np.linalg.norm(sine, axis=-1, keepdims=True)
    angle = np.arctan2(length, 0.5 * (np.trace(R, axis1=-2, axis2=-1)[..., None] - 1))
    return sine * np.where(length > 1e-300, angle / np.maximum(length, 1e-300), 1.0)
