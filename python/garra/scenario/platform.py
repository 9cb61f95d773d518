"""Classes of job = "platform". Made by tools/scenario_tables from the list of fields: not to be edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from garra.scenario.table import Quantity, Scenario, Table
from garra.study.distributions import Normal, Uniform


@dataclass(frozen=True, kw_only=True)
class Platform(Table):
    """which platform"""

    _job: ClassVar[str] = "platform"
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
class Payload(Table):
    """what the platform carries"""

    _job: ClassVar[str] = "platform"
    _path: ClassVar[tuple[str, ...]] = ("payload",)
    mass: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """fixed to the platform; default 0"""
    com: Sequence[Any] | None = None
    """its center of mass, in the platform's frame; default [0, 0, 0]"""
    radius_of_gyration: Quantity | None = None
    """its inertia is mass times the square of it; default 0"""


@dataclass(frozen=True, kw_only=True)
class Geometry(Table):
    """how far the parts are from the drawing"""

    _job: ClassVar[str] = "platform"
    _path: ClassVar[tuple[str, ...]] = ("geometry",)
    base_error: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """of each coordinate of each joint center of the base; default 0"""
    anchor_error: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """the same of the platform; default 0"""
    leg_mass_factor: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """on masses and inertias of all legs; default 1"""


@dataclass(frozen=True, kw_only=True)
class Friction(Table):
    """common to all actuators"""

    _job: ClassVar[str] = "platform"
    _path: ClassVar[tuple[str, ...]] = ("friction",)
    coulomb: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """N, of each actuator; default 0"""
    viscous: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """of each actuator; default 0"""


@dataclass(frozen=True, kw_only=True)
class Disturbance(Table):
    """of random direction"""

    _job: ClassVar[str] = "platform"
    _path: ClassVar[tuple[str, ...]] = ("disturbance",)
    force: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """a number: radius of a ball that it is drawn from; else its size; default 0"""
    moment: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """likewise; default 0"""
    tilt: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """of gravity; a number: half angle of a cone that it leans in; else the angle; default 0"""


@dataclass(frozen=True, kw_only=True)
class PathPoses(Table):
    """[path.poses]"""

    _job: ClassVar[str] = "platform"
    _path: ClassVar[tuple[str, ...]] = ("path", "poses")
    position: Sequence[Any] | None = None
    rpy: Sequence[Any] | None = None
    quaternion: Sequence[Any] | None = None
    axis_angle: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Path(Table):
    """where the platform goes"""

    _job: ClassVar[str] = "platform"
    _path: ClassVar[tuple[str, ...]] = ("path",)
    _tables: ClassVar[dict[str, type[Table]]] = {
        "poses": PathPoses,
    }
    kind: Literal["straight", "screw", "spline", "sampled"] | None = None
    """through the poses; default "straight"."""
    instants: int | None = None
    """looked at, both ends included; default 101"""
    poses: Sequence[PathPoses] | None = None
    times: Sequence[Any] | None = None
    """of the poses"""
    law: Literal["quintic", "trapezoid", "uniform"] | None = None
    """along the path over time; default "quintic"."""
    duration: Quantity | None = None
    """of the whole path; default 1"""


@dataclass(frozen=True, kw_only=True)
class Map(Table):
    """or a map of its workspace"""

    _job: ClassVar[str] = "platform"
    _path: ClassVar[tuple[str, ...]] = ("map",)
    low: Sequence[Any] | None = None
    """corner of the grid of positions"""
    high: Sequence[Any] | None = None
    """the opposite corner"""
    points: Sequence[Any] | None = None
    """along x, y and z"""
    orientations: int | None = None
    """drawn at each node; default 64"""
    tilt: Quantity | None = None
    """the platform's axis leans by up to this; default 0"""
    turn: Quantity | None = None
    """and it is turned about it by up to this, either way; default 0"""


@dataclass(frozen=True, kw_only=True)
class Allowed(Table):
    """limits beside those of the platform itself"""

    _job: ClassVar[str] = "platform"
    _path: ClassVar[tuple[str, ...]] = ("allowed",)
    force: Quantity | None = None
    """of each actuator"""
    near_singular: Quantity | None = None
    """scaled smallest singular value of the length Jacobian; default 0.02"""
    characteristic_length: Quantity | None = None
    """what scales it"""


@dataclass(frozen=True, kw_only=True)
class SamplingStop(Table):
    """ends the run once half the width of the 95 % interval is at most this"""

    _job: ClassVar[str] = "platform"
    _path: ClassVar[tuple[str, ...]] = ("sampling", "stop")
    half_width: Quantity | None = None
    """of the interval"""


@dataclass(frozen=True, kw_only=True)
class Sampling(Table):
    """how many samples"""

    _job: ClassVar[str] = "platform"
    _path: ClassVar[tuple[str, ...]] = ("sampling",)
    _tables: ClassVar[dict[str, type[Table]]] = {
        "stop": SamplingStop,
    }
    samples: int | None = None
    """of a map the nodes times orientations; default 100000"""
    chunk: int | None = None
    """samples of one file; doubled until there are at most 4000; default 16384"""
    max_unsolved: Quantity | None = None
    """exit code 4 above this share of unsolved samples"""
    stop: SamplingStop | None = None
    time_limit: Quantity | None = None
    """ends the run after so long; it can be resumed"""


@dataclass(frozen=True, kw_only=True)
class Output(Table):
    """what is kept"""

    _job: ClassVar[str] = "platform"
    _path: ClassVar[tuple[str, ...]] = ("output",)
    keep: Literal["none", "failures", "all"] | None = None
    """samples that are stored one by one; default "failures"."""


@dataclass(frozen=True, kw_only=True)
class Platform(Scenario):
    """A scenario of job platform."""

    _job: ClassVar[str] = "platform"
    _tables: ClassVar[dict[str, type[Table]]] = {
        "platform": Platform,
        "payload": Payload,
        "geometry": Geometry,
        "friction": Friction,
        "disturbance": Disturbance,
        "path": Path,
        "map": Map,
        "allowed": Allowed,
        "sampling": Sampling,
        "output": Output,
    }
    title: str | None = None
    """heads the answer and the report"""
    seed: int | None = None
    """of all random numbers; default 1"""
    platform: Platform | None = None
    payload: Payload | None = None
    geometry: Geometry | None = None
    friction: Friction | None = None
    disturbance: Disturbance | None = None
    path: Path | None = None
    map: Map | None = None
    allowed: Allowed | None = None
    sampling: Sampling | None = None
    output: Output | None = None
