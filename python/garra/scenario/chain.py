"""Classes of job = "chain". Made by tools/scenario_tables from the list of fields: not to be edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from garra.scenario.table import Quantity, Scenario, Table
from garra.study.distributions import Normal, Uniform


@dataclass(frozen=True, kw_only=True)
class RobotPayload(Table):
    """of a URDF: what the link `tip` carries, in its frame"""

    _job: ClassVar[str] = "chain"
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

    _job: ClassVar[str] = "chain"
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
class Start(Table):
    """where samples start"""

    _job: ClassVar[str] = "chain"
    _path: ClassVar[tuple[str, ...]] = ("start",)
    q: Mapping[str, Any] | Normal | Quantity | Sequence[Any] | Uniform | None = None
    """joint values"""
    qd: Mapping[str, Any] | Normal | Quantity | Sequence[Any] | Uniform | None = None
    """joint speeds"""


@dataclass(frozen=True, kw_only=True)
class Vary(Table):
    """what is uncertain of the robot"""

    _job: ClassVar[str] = "chain"
    _path: ClassVar[tuple[str, ...]] = ("vary",)
    damping: Mapping[str, Any] | Normal | Quantity | Sequence[Any] | Uniform | None = None
    """viscous"""
    mass: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """factor on masses and inertias of all links; default 1"""
    size: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """factor s on all lengths of a similar body: masses times s³, inertias times s⁵; armature and base stay; default
    1"""
    amplitude: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """factor on torque.amplitude; default 1"""


@dataclass(frozen=True, kw_only=True)
class Torque(Table):
    """what drives it"""

    _job: ClassVar[str] = "chain"
    _path: ClassVar[tuple[str, ...]] = ("torque",)
    kind: Literal["constant", "step", "ramp", "sine", "sampled", "pd", "computed"] | None = None
    """what drives the joints; default "constant"."""
    amplitude: Quantity | Sequence[Any] | None = None
    """of the torque; of sampled, pd and computed a factor on it"""
    start: Quantity | None = None
    """of the torque; default 0"""
    end: Quantity | None = None
    """from when on it is whole"""
    frequency: Quantity | Sequence[Any] | None = None
    """of the sine"""
    phase: Quantity | Sequence[Any] | None = None
    """of the sine at the start"""
    interval: Quantity | None = None
    """between two points"""
    points: Sequence[Any] | None = None
    """one row per time"""
    set_point: Quantity | Sequence[Any] | None = None
    """controllers know the medians of damping, mass and size"""
    kp: Quantity | Sequence[Any] | None = None
    """gain of the position"""
    kd: Quantity | Sequence[Any] | None = None
    """gain of the speed"""
    compensate_gravity: bool | None = None
    """adds the torque that holds the chain; default false"""
    limit: Quantity | Sequence[Any] | None = None
    """of the torque"""


@dataclass(frozen=True, kw_only=True)
class Simulation(Table):
    """how the motion is computed"""

    _job: ClassVar[str] = "chain"
    _path: ClassVar[tuple[str, ...]] = ("simulation",)
    duration: Quantity | None = None
    """the end; default 1"""
    method: Literal["rk4", "dopri5", "implicit1", "implicit"] | None = None
    """of integration; dopri5 chooses its steps; default "implicit"."""
    tolerance: Quantity | None = None
    """relative; of small numbers a hundredth; default 1e-08"""
    max_steps: int | None = None
    """accepted and rejected ones; default 100000"""
    step: Quantity | None = None
    """shortened to meet outputs and jumps; default 0.001"""
    outputs: int | None = None
    """times of the nominal trajectories; default 200"""
    limits: Literal["ignore", "finish", "stop"] | None = None
    """what a joint does at its limits: nothing, it ends the sample, or it stops there; default "ignore"."""


@dataclass(frozen=True, kw_only=True)
class Settle(Table):
    """what counts as at rest"""

    _job: ClassVar[str] = "chain"
    _path: ClassVar[tuple[str, ...]] = ("settle",)
    within: Quantity | None = None
    """settled in time: settling time <= this"""
    speed: Quantity | None = None
    """at rest: every joint slower than this; default 0.01"""
    band: Quantity | None = None
    """and this near; default 0.01"""
    at: Quantity | Sequence[Any] | None = None
    """where; none: anywhere"""


@dataclass(frozen=True, kw_only=True)
class SamplingStop(Table):
    """ends the run once half the width of the 95 % interval is at most this"""

    _job: ClassVar[str] = "chain"
    _path: ClassVar[tuple[str, ...]] = ("sampling", "stop")
    half_width: Quantity | None = None
    """of the interval"""


@dataclass(frozen=True, kw_only=True)
class Sampling(Table):
    """how many samples"""

    _job: ClassVar[str] = "chain"
    _path: ClassVar[tuple[str, ...]] = ("sampling",)
    _tables: ClassVar[dict[str, type[Table]]] = {
        "stop": SamplingStop,
    }
    samples: int | None = None
    """of each design; default 1024"""
    chunk: int | None = None
    """of all designs together; doubled until there are at most 4000 files; default 4096"""
    max_unsolved: Quantity | None = None
    """exit code 4 above this share of unsolved samples"""
    stop: SamplingStop | None = None
    time_limit: Quantity | None = None
    """ends the run after so long; it can be resumed"""


@dataclass(frozen=True, kw_only=True)
class Output(Table):
    """what is kept"""

    _job: ClassVar[str] = "chain"
    _path: ClassVar[tuple[str, ...]] = ("output",)
    keep: Literal["none", "failures", "all"] | None = None
    """samples that are stored one by one; default "failures"."""


@dataclass(frozen=True, kw_only=True)
class Chain(Scenario):
    """A scenario of job chain."""

    _job: ClassVar[str] = "chain"
    _tables: ClassVar[dict[str, type[Table]]] = {
        "robot": Robot,
        "start": Start,
        "vary": Vary,
        "torque": Torque,
        "simulation": Simulation,
        "settle": Settle,
        "sampling": Sampling,
        "output": Output,
    }
    title: str | None = None
    """heads the answer and the report"""
    seed: int | None = None
    """of all random numbers; default 1"""
    robot: Robot | None = None
    start: Start | None = None
    vary: Vary | None = None
    torque: Torque | None = None
    simulation: Simulation | None = None
    settle: Settle | None = None
    sweep: Mapping[str, Any] | None = None
    """a number of the tables from `[start]` to `[settle]`; items of lists as `"start.q.2"`"""
    sampling: Sampling | None = None
    output: Output | None = None
