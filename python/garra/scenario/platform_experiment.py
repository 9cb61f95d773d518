"""Classes of job = "platform_experiment". Made by tools/scenario_tables from the list of fields: not to be edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from garra.scenario.table import Quantity, Scenario, Table


@dataclass(frozen=True, kw_only=True)
class Platform(Table):
    """which platform"""

    _job: ClassVar[str] = "platform_experiment"
    _path: ClassVar[tuple[str, ...]] = ("platform",)
    model: str | None = None
    """a name in `data/platforms`"""
    file: str | None = None
    """a file, relative to the scenario"""
    gravity: Sequence[Any] | None = None
    """in base axes"""
    wall: Literal["floor", "wall", "ceiling"] | Sequence[Any] | None = None
    """how the base is turned under gravity"""


@dataclass(frozen=True, kw_only=True)
class ExperimentStart(Table):
    """`{ position, rpy }`, or as a pose of a path"""

    _job: ClassVar[str] = "platform_experiment"
    _path: ClassVar[tuple[str, ...]] = ("experiment", "start")
    position: Sequence[Any] | None = None
    rpy: Sequence[Any] | None = None
    quaternion: Sequence[Any] | None = None
    axis_angle: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class ExperimentRotation(Table):
    """base axes; default {"axis": [1, 0, 0], "angle": 0}"""

    _job: ClassVar[str] = "platform_experiment"
    _path: ClassVar[tuple[str, ...]] = ("experiment", "rotation")
    axis: Sequence[Any] | None = None
    angle: Quantity | None = None


@dataclass(frozen=True, kw_only=True)
class Experiment(Table):
    """what is done"""

    _job: ClassVar[str] = "platform_experiment"
    _path: ClassVar[tuple[str, ...]] = ("experiment",)
    _tables: ClassVar[dict[str, type[Table]]] = {
        "start": ExperimentStart,
        "rotation": ExperimentRotation,
    }
    kind: Literal["move", "stroke", "free_motion"] | None = None
    """a key of another kind is an error"""
    start: ExperimentStart | None = None
    translation: Sequence[Any] | None = None
    """base axes; this or a rotation, at least; default [0, 0, 0]"""
    rotation: ExperimentRotation | None = None
    parts: Literal["both", "pose", "lengths"] | None = None
    """equal parts of the pose, of the leg lengths, or a path for each; default "both"."""
    travel: Quantity | None = None
    """of every leg, from its shortest length"""
    segments: Sequence[Any] | int | None = None
    """paths in that many parts; every pose is the guess of the next"""
    tolerance: Quantity | None = None
    """converged when every length is within this; default 1e-10"""
    force_factor: Quantity | None = None
    """times the forces that hold the start; default 1.2"""
    forces: Sequence[Any] | None = None
    """instead of `force_factor`"""
    duration: Quantity | None = None
    """of the motion; default 0.5"""
    step: Quantity | None = None
    """of both integrators; default 0.001"""
    instants: int | None = None
    """looked at, both ends included; default 51"""
    max_unsolved: Quantity | None = None
    """exit code 4 above this share of poses or instants that a form has not come to; default 0"""


@dataclass(frozen=True, kw_only=True)
class PlatformExperiment(Scenario):
    """A scenario of job platform_experiment."""

    _job: ClassVar[str] = "platform_experiment"
    _tables: ClassVar[dict[str, type[Table]]] = {
        "platform": Platform,
        "experiment": Experiment,
    }
    title: str | None = None
    """heads the answer and the report"""
    platform: Platform | None = None
    experiment: Experiment | None = None
