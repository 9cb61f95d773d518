"""Singular configurations of serial chains by screw theory (docs/singularity.md), and the report of their maps."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from garra.chain.robot import Chain


@dataclass(frozen=True)
class Escape:
    """Joints whose motion leaves the singularity, none of them dispensable."""

    joints: list[int]
    """indices from 0"""
    order: int
    """the smallest singular value grows as rate * step^order"""
    rate: float
    sign: list[int]
    """direction of each joint in which it grows more; 0: both alike"""


@dataclass(frozen=True)
class Analysis:
    """One configuration. Joints are indices from 0, as in q[i]; `details` is what `garra singularity --format json`
    prints, where joints count from 1 as in the papers."""

    rank: int
    generic_rank: int
    """what the chain can do at best"""
    singular: bool
    """rank < generic_rank"""
    responsible: list[int]
    """joints with a part in the loss"""
    minimal_sets: list[list[int]]
    """joints of each minimal set of dependent screws"""
    lost_wrenches: np.ndarray
    """[m, 6] wrenches (moment, force) that the arm cannot yield to"""
    escapes: list[Escape]
    """all smallest sets of joints that lead out"""
    singular_values: np.ndarray
    """of the scaled Jacobian, falling"""
    details: dict[str, Any]

    @property
    def escape_joints(self) -> list[list[int]]:
        """The joints of each of `escapes`."""
        return [e.joints for e in self.escapes]


def _analysis(text: str) -> Analysis:
    details = json.loads(text)
    return Analysis(
        rank=details["rank"],
        generic_rank=details["generic_rank"],
        singular=details["arm_singular"],
        responsible=[j - 1 for j in details["responsible"]],
        minimal_sets=[[j - 1 for j in interval["ssm"]] for interval in details["sosm"]],
        lost_wrenches=np.array(details["lost_wrenches"], dtype=np.float64).reshape(-1, 6),
        escapes=[Escape([j - 1 for j in e["joints"]], e["order"], e["rate"], e["sign"]) for e in details["escape"]],
        singular_values=np.array(details["singular_values"]),
        details=details,
    )


def analyse(robot: Chain, q: Any, *, tolerance: float = 1e-10, step: float = 0.25) -> Analysis:
    """Of a chain at q [n]. tolerance: a singular value is zero at or below this share of the largest one; step: of the
    finite motions that are tried [rad]."""
    from garra import _core

    return _analysis(_core.singularity_analyse(robot._core, [float(x) for x in np.ravel(q)], tolerance, step))


def analyse_screws(screws: Any, *, tolerance: float = 1e-10, step: float = 0.25) -> Analysis:
    """Of joint screws [n, 6] from the base to the tip: direction, moment about the origin."""
    from garra import _core
    from garra.batch import Batch

    rows = Batch(("screws", screws, (6,)))["screws"]
    return _analysis(_core.singularity_analyse_screws(rows, tolerance, step))
