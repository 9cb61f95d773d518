"""Distributions of uncertain inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np


@dataclass(frozen=True)
class Uniform:
    """Uniform in [low, high]. `relative`: a factor on the nominal value; `common`: one draw for all contacts.

    Examples
    --------
    >>> garra.uniform(0.3, 0.8).high
    0.8
    """

    low: float
    high: float
    common: bool = False
    relative: bool = False

    def __post_init__(self):
        if not -np.inf < self.low <= self.high < np.inf:
            raise ValueError(f"low = {self.low}, high = {self.high}: finite numbers with low <= high are needed")


@dataclass(frozen=True)
class Normal:
    """Normal with mean and standard deviation `sd`; draws outside [min, max] are repeated.

    Examples
    --------
    >>> garra.normal(0.5, 0.1, min=0).max
    inf
    """

    mean: float
    sd: float
    min: float
    max: float
    common: bool = False
    relative: ClassVar[bool] = False

    def __post_init__(self):
        if not (np.isfinite(self.mean) and 0 <= self.sd < np.inf and self.min <= self.max):
            raise ValueError(f"{self}: a finite mean, sd >= 0 and min <= max are needed")


@dataclass(frozen=True)
class Ball:
    """Vectors [samples, 3], uniform in a ball about zero.

    Examples
    --------
    >>> garra.ball(2.0).radius
    2.0
    """

    radius: float
    relative: ClassVar[bool] = False

    def __post_init__(self):
        if not 0 <= self.radius < np.inf:
            raise ValueError(f"radius = {self.radius}: a finite number >= 0 is needed")


def uniform(low: float, high: float, *, common: bool = False) -> Uniform:
    """Uniform distribution in [low, high].

    Parameters
    ----------
    low, high : float
        Range, in the unit of the input.
    common : bool
        One draw for all contacts instead of one per contact.

    Returns
    -------
    Uniform

    Raises
    ------
    ValueError
        Unless both are finite with low <= high.

    Examples
    --------
    >>> garra.uniform(0.3, 0.8, common=True)
    Uniform(low=0.3, high=0.8, common=True, relative=False)
    """
    return Uniform(low, high, common)


def scale(low: float, high: float, *, common: bool = False) -> Uniform:
    """Factor on the nominal value, uniform in [low, high].

    Parameters
    ----------
    low, high : float
        Range of the factor [1].
    common : bool
        One draw for all contacts instead of one per contact.

    Returns
    -------
    Uniform
        With `relative`.

    Raises
    ------
    ValueError
        Unless both are finite with low <= high.

    Examples
    --------
    >>> garra.scale(0.8, 1.2)
    Uniform(low=0.8, high=1.2, common=False, relative=True)
    """
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
        Truncation; default: none, but friction and mass are at least 0.
    common : bool
        One draw for all contacts instead of one per contact.

    Returns
    -------
    Normal

    Raises
    ------
    ValueError
        Unless mean and sd are finite, sd >= 0 and min <= max.

    Examples
    --------
    >>> garra.normal(0.5, 0.1, min=0)
    Normal(mean=0.5, sd=0.1, min=0, max=inf, common=False)
    """
    return Normal(mean, sd, -np.inf if min is None else min, np.inf if max is None else max, common)


def ball(radius: float) -> Ball:
    """Vectors uniform in a ball about zero.

    Parameters
    ----------
    radius : float
        Of forces [N], torques [N m] or offsets [m].

    Returns
    -------
    Ball

    Raises
    ------
    ValueError
        Unless finite and >= 0.

    Examples
    --------
    >>> garra.ball(2.0)
    Ball(radius=2.0)
    """
    return Ball(radius)

