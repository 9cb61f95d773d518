"""Distributions of uncertain inputs. `draw(rng, samples, width)` returns [samples, width], the same for the
same seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

MOST_REDRAWS = 1000  # a truncation that leaves less than about 1 % of the normal distribution is a mistake


def _shared(values: np.ndarray, width: int) -> np.ndarray:
    return np.broadcast_to(values, (values.shape[0], width))


@dataclass(frozen=True)
class Uniform:
    """Uniform in [low, high]. `relative`: a factor on the nominal value; `common`: one draw for all contacts."""

    low: float
    high: float
    common: bool = False
    relative: bool = False

    def __post_init__(self):
        if not -np.inf < self.low <= self.high < np.inf:
            raise ValueError(f"low = {self.low}, high = {self.high}: finite numbers with low <= high are needed")

    def draw(self, rng: Generator, samples: int, width: int) -> np.ndarray:
        return _shared(rng.uniform(self.low, self.high, (samples, 1 if self.common else width)), width)


@dataclass(frozen=True)
class Normal:
    """Normal with mean and standard deviation `sd`; draws outside [min, max] are repeated."""

    mean: float
    sd: float
    min: float
    max: float
    common: bool = False
    relative: ClassVar[bool] = False

    def __post_init__(self):
        if not (np.isfinite(self.mean) and 0 <= self.sd < np.inf and self.min <= self.max):
            raise ValueError(f"{self}: a finite mean, sd >= 0 and min <= max are needed")

    def draw(self, rng: Generator, samples: int, width: int) -> np.ndarray:
        values = rng.normal(self.mean, self.sd, (samples, 1 if self.common else width))
        for _ in range(MOST_REDRAWS):
            outside = (values < self.min) | (values > self.max)
            if not outside.any():
                return _shared(values, width)
            values[outside] = rng.normal(self.mean, self.sd, outside.sum())
        raise ValueError(f"{self}: hardly any draw falls between min and max")


@dataclass(frozen=True)
class Ball:
    """Vectors [samples, 3], uniform in a ball about zero."""

    radius: float
    relative: ClassVar[bool] = False

    def __post_init__(self):
        if not 0 <= self.radius < np.inf:
            raise ValueError(f"radius = {self.radius}: a finite number >= 0 is needed")

    def draw(self, rng: Generator, samples: int, width: int = 3) -> np.ndarray:
        u = rng.random((samples, 3))
        length, z, azimuth = self.radius * np.cbrt(u[:, 0]), 2 * u[:, 1] - 1, 2 * np.pi * u[:, 2]
        ring = np.sqrt(1 - z * z)
        return length[:, None] * np.stack([ring * np.cos(azimuth), ring * np.sin(azimuth), z], axis=1)


def uniform(low: float, high: float, *, common: bool = False) -> Uniform:
    """Uniform distribution in [low, high].

    Parameters
    ----------
    low, high : float
        Range, in the unit of the input.
    common : bool
        One draw for all contacts instead of one per contact.

    Raises
    ------
    ValueError
        Unless both are finite with low <= high.
    """
    return Uniform(low, high, common)


def scale(low: float, high: float, *, common: bool = False) -> Uniform:
    """Factor on the nominal value, uniform in [low, high]; arguments as in uniform()."""
    return Uniform(low, high, common, relative=True)


def normal(
    mean: float, sd: float, min: float | None = None, max: float | None = None, *, common: bool = False
) -> Normal:
    """Normal distribution, truncated to [min, max] by repeated draws.

    Parameters
    ----------
    mean, sd : float
        Mean and standard deviation, in the unit of the input.
    min, max : float, optional
        Truncation; default: none.
    common : bool
        One draw for all contacts instead of one per contact.

    Raises
    ------
    ValueError
        Unless mean and sd are finite, sd >= 0 and min <= max.
    """
    return Normal(mean, sd, -np.inf if min is None else min, np.inf if max is None else max, common)


def ball(radius: float) -> Ball:
    """Vectors uniform in a ball about zero.

    Parameters
    ----------
    radius : float
        Of forces [N], torques [N m] or offsets [m].

    Raises
    ------
    ValueError
        Unless finite and >= 0.
    """
    return Ball(radius)


DISTRIBUTIONS = (Uniform, Normal, Ball)
