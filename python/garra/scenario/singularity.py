"""Classes of job = "singularity". Made by tools/scenario_tables from the list of fields: not to be edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from garra.scenario.table import Quantity, Scenario, Table


@dataclass(frozen=True, kw_only=True)
class RobotPayload(Table):
    """of a URDF: what the link `tip` carries, in its frame"""

    _job: ClassVar[str] = "singularity"
    _path: ClassVar[tuple[str, ...]] = ("robot", "payload")
    mass: Quantity | None = None
    """of the payload; default 0"""
    com: Sequence[Any] | None = None
    """center of mass in the tip link's frame; default [0, 0, 0]"""
    inertia: Mapping[str, Any] | Sequence[Any] | None = None
    """about the center of mass, the tip link's axes; default {"ixx": 0, "iyy": 0, "izz": 0, "ixy": 0, "ixz": 0, "iyz":
    0}"""


@dataclass(frozen=True, kw_only=True)
class Robot(Table):
    """which robot"""

    _job: ClassVar[str] = "singularity"
    _path: ClassVar[tuple[str, ...]] = ("robot",)
    _tables: ClassVar[dict[str, type[Table]]] = {
        "payload": RobotPayload,
    }
    model: str | None = None
    """a name in `data/robots`; a copy in `models/` beside the scenario comes first"""
    file: str | None = None
    """a file, relative to the scenario"""
    base: str | None = None
    """of a URDF: the link that the chain starts from"""
    tip: str | None = None
    """of a URDF: the link that it ends in"""
    lock: Mapping[str, Any] | None = None
    """of a URDF: where side branches stand"""
    gravity: Sequence[Any] | None = None
    """in world axes"""
    payload: RobotPayload | None = None


@dataclass(frozen=True, kw_only=True)
class Task(Table):
    """instead of grids of joints: targets of the tool point"""

    _job: ClassVar[str] = "singularity"
    _path: ClassVar[tuple[str, ...]] = ("task",)
    low: Sequence[Any] | None = None
    """corner of the grid, world axes"""
    high: Sequence[Any] | None = None
    """the opposite corner"""
    points: Sequence[Any] | None = None
    """along x, y and z; where it is 1, low = high"""
    orientation: Sequence[Any] | None = None
    """of the tool, about the world's x, y, z"""
    starts: int | None = None
    """searches for joint values at each target, from values drawn within `[joints]`; default 16"""


@dataclass(frozen=True, kw_only=True)
class Measure(Table):
    """what is near, and what singular"""

    _job: ClassVar[str] = "singularity"
    _path: ClassVar[tuple[str, ...]] = ("measure",)
    near: float | str | None = None
    """near: smallest singular value <= this share of the largest; default 0.02"""
    tolerance: float | str | None = None
    """singular: <= this share; default 1e-10"""
    center: str | None = None
    """of the scaled screws; a joint: its frame's origin; default "natural"."""
    length: Quantity | None = None
    """that scales the screws"""
    precision: Literal["fp64", "fp32"] | None = None
    """of the first pass; fp32: a sixteenth of it again in double; default "fp64"."""
    nearest: bool | None = None
    """look for the singularity next to every near sample; default true"""


@dataclass(frozen=True, kw_only=True)
class SliceX(Table):
    """what runs across"""

    _job: ClassVar[str] = "singularity"
    _path: ClassVar[tuple[str, ...]] = ("slice", "x")
    joint: int | str | None = None
    from_: Quantity | None = None
    to: Quantity | None = None


@dataclass(frozen=True, kw_only=True)
class SliceY(Table):
    """what runs up"""

    _job: ClassVar[str] = "singularity"
    _path: ClassVar[tuple[str, ...]] = ("slice", "y")
    joint: int | str | None = None
    from_: Quantity | None = None
    to: Quantity | None = None


@dataclass(frozen=True, kw_only=True)
class Slice(Table):
    """[slice]"""

    _job: ClassVar[str] = "singularity"
    _path: ClassVar[tuple[str, ...]] = ("slice",)
    _tables: ClassVar[dict[str, type[Table]]] = {
        "x": SliceX,
        "y": SliceY,
    }
    x: SliceX | None = None
    y: SliceY | None = None
    q: Sequence[Any] | None = None
    """values of the other joints"""
    points: int | None = None
    """along each side; default 201"""


@dataclass(frozen=True, kw_only=True)
class SamplingStop(Table):
    """ends the run once half the width of the 95 % interval is at most this"""

    _job: ClassVar[str] = "singularity"
    _path: ClassVar[tuple[str, ...]] = ("sampling", "stop")
    half_width: Quantity | None = None
    """of the interval"""


@dataclass(frozen=True, kw_only=True)
class Sampling(Table):
    """how many samples"""

    _job: ClassVar[str] = "singularity"
    _path: ClassVar[tuple[str, ...]] = ("sampling",)
    _tables: ClassVar[dict[str, type[Table]]] = {
        "stop": SamplingStop,
    }
    samples: int | None = None
    """else the nodes of the grid (times starts) are the samples; default 1000000"""
    sequence: Literal["random", "even"] | None = None
    """even: low discrepancy; default "random"."""
    chunk: int | None = None
    """samples of one file; more where there are many; doubled until there are at most 4000; default 1048576"""
    max_unsolved: Quantity | None = None
    """exit code 4 above this share of unsolved samples"""
    stop: SamplingStop | None = None
    time_limit: Quantity | None = None
    """ends the run after so long; it can be resumed"""


@dataclass(frozen=True, kw_only=True)
class Output(Table):
    """what is kept"""

    _job: ClassVar[str] = "singularity"
    _path: ClassVar[tuple[str, ...]] = ("output",)
    keep: Literal["near", "none"] | None = None
    """samples that are stored one by one; default "near"."""
    keep_from_first: int | None = None
    """among so many first samples; default 200000"""
    voxels: int | None = None
    """cubes along the longest side of the workspace; 0: none; default 32"""


@dataclass(frozen=True, kw_only=True)
class Singularity(Scenario):
    """A scenario of job singularity."""

    _job: ClassVar[str] = "singularity"
    _tables: ClassVar[dict[str, type[Table]]] = {
        "robot": Robot,
        "task": Task,
        "measure": Measure,
        "slice": Slice,
        "sampling": Sampling,
        "output": Output,
    }
    title: str | None = None
    """heads the answer and the report"""
    seed: int | None = None
    """of all random numbers; default 1"""
    robot: Robot | None = None
    joints: Mapping[str, Any] | None = None
    """of each joint, by its number from 0 or its name: drawn; held; or n values, both ends included, of which every
    node is visited, the last joint fastest, with one draw of the joints that are drawn"""
    task: Task | None = None
    measure: Measure | None = None
    slice: Sequence[Slice] | None = None
    sampling: Sampling | None = None
    output: Output | None = None
