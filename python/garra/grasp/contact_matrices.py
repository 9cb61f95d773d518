"""Matrices of the contact problems of a scenario (docs/theory/grasp-matrices.md)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from garra import _core
from garra.study.run import _overrides, _scenario_file

if TYPE_CHECKING:
    from garra.scenario import Grasp


@dataclass(frozen=True, eq=False)
class GraspMatrices:
    """Matrices of n samples with N contacts, B objects and Q joints of all fingers.

    Relative accelerations of the contacts are a = A c + b, with A = W^T M_obj^-1 W + J M_man^-1 J^T. Contact axes are
    (n, t, o), n into the object; wrenches are (force; moment about the center of mass); palm axes, SI units. If a
    contact is soft, each has four rows: 3 N becomes 4 N.

    Attributes
    ----------
    W : [n, 6 B, 3 N] contact forces to wrenches on the objects
    J : [n, 3 N, Q] joint rates to velocities of the fingers' contact points
    M_obj : [n, 6 B, 6 B] inertia of the objects about their centers of mass
    M_man : [n, Q, Q] joint-space inertia of the fingers
    A, b : [n, 3 N, 3 N] [1/kg], [n, 3 N] [m/s^2]
    mu : [n, N] friction coefficients
    R_PC, p_PC : [n, N, 3, 3], [n, N, 3] contact frames (columns t, o, n) and points in the palm frame
    q, qd : [n, Q] joint values and rates
    load : [n, 6 B] weight, external and gyroscopic wrench
    effort : [n, Q] torques g + h - tau
    reached : [n] True if every finger reaches its contacts
    sample : [n] number of the sample; -1: nominal
    joints : joints of each finger
    objects : names of the objects

    Examples
    --------
    >>> from garra.files import data
    >>> m = garra.grasp.matrices(data("scenarios/papers_hand.toml"))
    >>> m.W.shape, m.J.shape
    ((1, 6, 9), (1, 9, 18))
    """

    W: np.ndarray
    J: np.ndarray
    M_obj: np.ndarray
    M_man: np.ndarray
    A: np.ndarray
    b: np.ndarray
    mu: np.ndarray
    R_PC: np.ndarray
    p_PC: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    load: np.ndarray
    effort: np.ndarray
    reached: np.ndarray
    sample: np.ndarray
    joints: tuple[int, ...]
    objects: tuple[str, ...]


def matrices(
    scenario: str | PathLike[str] | Mapping[str, Any] | Grasp,
    samples: int | Sequence[int] | None = None,
    *,
    set: Mapping[str, Any] | Iterable[str] = (),
    threads: int = 0,
) -> GraspMatrices:
    """Matrices of the contact problems of a grasp scenario at one instant.

    Parameters
    ----------
    scenario : path, mapping or garra.scenario.Grasp
        Scenario with job = "grasp"; its [simulation] is not read.
    samples : int or sequence of int, optional
        Number of samples from 0 on, or the numbers themselves, as `garra run` counts them. None: the nominal grasp.
    set : mapping or iterable of str
        Values in place of the scenario's: {"contacts.friction": 0.4}.
    threads : int
        Of the processor; 0: all.

    Returns
    -------
    GraspMatrices

    Raises
    ------
    garra.FileError
        For a wrong scenario, an impossible nominal grasp, and a hand on an arm.
    garra.UsageError
        For negative numbers of samples.

    Examples
    --------
    >>> from garra.files import data
    >>> m = garra.grasp.matrices(data("scenarios/papers_hand.toml"))
    >>> A = m.W[0].T @ np.linalg.solve(m.M_obj[0], m.W[0]) + m.J[0] @ np.linalg.solve(m.M_man[0], m.J[0].T)
    >>> bool(np.allclose(A, m.A[0]))
    True
    """
    with tempfile.TemporaryDirectory(prefix="garra-") as folder:
        path = _scenario_file(scenario, Path(folder))
        text = Path(path).read_text(encoding="utf-8")
    if samples is None:
        numbers: list[int] = []
    elif isinstance(samples, int | np.integer):
        numbers = list(range(int(samples)))
        if not numbers:
            raise _core.UsageError(f"samples = {samples}: at least 1")
    else:
        numbers = [int(k) for k in samples]
    found = _core.grasp_matrices(text, path, _overrides(set), numbers, threads)
    found["reached"] = found["reached"].astype(bool)
    found["joints"], found["objects"] = tuple(found["joints"]), tuple(found["objects"])
    return GraspMatrices(**found)
