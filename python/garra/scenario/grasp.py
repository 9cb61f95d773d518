"""Classes of job = "grasp". Made by tools/scenario_tables from the list of fields: not to be edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from garra.scenario.table import Quantity, Scenario, Table
from garra.study.distributions import Normal, Uniform


@dataclass(frozen=True, kw_only=True)
class HandBase(Table):
    """where that link is in the palm's frame"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("hand", "base")
    position: Sequence[Any] | None = None
    """of the origin; default [0, 0, 0]"""
    rpy: Sequence[Any] | None = None
    """roll, pitch, yaw about fixed axes; default [0, 0, 0]"""
    rotation: Sequence[Any] | None = None
    """instead of `rpy`; default [[1, 0, 0], [0, 1, 0], [0, 0, 1]]"""


@dataclass(frozen=True, kw_only=True)
class HandFingerBase(Table):
    """where the root (of a TOML robot: its world) is in the palm"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("hand", "finger", "base")
    position: Sequence[Any] | None = None
    """of the origin; default [0, 0, 0]"""
    rpy: Sequence[Any] | None = None
    """roll, pitch, yaw about fixed axes; default [0, 0, 0]"""
    rotation: Sequence[Any] | None = None
    """instead of `rpy`; default [[1, 0, 0], [0, 1, 0], [0, 0, 1]]"""


@dataclass(frozen=True, kw_only=True)
class HandFinger(Table):
    """[hand.finger]"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("hand", "finger")
    _tables: ClassVar[dict[str, type[Table]]] = {
        "base": HandFingerBase,
    }
    model: Literal["puma560"] | None = None
    """a built-in arm"""
    tool: Mapping[str, Any] | Quantity | Sequence[Any] | None = None
    armature: Sequence[Any] | bool | None = None
    file: str | None = None
    """a robot file beside the scenario (`models/` first): URDF with the links it is between and where side branches
    stand (robots.md), or TOML"""
    root_link: str | None = None
    """of a URDF: the link that it starts from"""
    tip: str | None = None
    """of a URDF: the link that the finger ends in"""
    lock: Mapping[str, Any] | None = None
    """of a URDF: where side branches stand"""
    tip_radius: Quantity | None = None
    """of a ball about that point: the contact is on its surface, the point one radius behind it; for an object at rest,
    not in `[simulation]`"""
    dh: Sequence[Any] | None = None
    """the chain"""
    modified: bool | None = None
    """true: Craig's convention; default false"""
    prismatic: Sequence[Any] | None = None
    """which joints slide"""
    mass: Sequence[Any] | None = None
    """of each link"""
    com: Sequence[Any] | None = None
    """in the link's frame"""
    inertia: Sequence[Any] | None = None
    """about com, link axes (lists: robots.md)"""
    base: HandFingerBase | None = None
    ik: Literal["puma", "numeric"] | None = None
    """inverse kinematics"""
    branch: str | None = None
    """of the inverse kinematics: arm r or l, elbow u or d, wrist n or f; default "ldn"."""
    q: Sequence[Any] | None = None
    """of a `file`: joint values where the finger stands; the search for the contact starts there (the same as
    `start`)"""
    start: Sequence[Any] | None = None
    """numeric needs it: joint values near the grasp"""
    tau: Sequence[Any] | None = None
    """the finger's whole command, instead of the grasp controller's"""
    gravity_compensation: bool | None = None
    """false: this finger's `compensation` is 0; default true"""
    torque_limit: Literal["file"] | Sequence[Any] | None = None
    """commanded torques are cut off there, and a wrench resisted only if no joint needs more for it and the finger's
    own weight (grasp-model.md, sections 5 and 7); `"file"`: the effort limits of the finger's robot file (0 there:
    none), which are not used unless asked for; in `[simulation]` the same as `simulation.drive.torque_limit`"""


@dataclass(frozen=True, kw_only=True)
class Hand(Table):
    """the fingers"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("hand",)
    _tables: ClassVar[dict[str, type[Table]]] = {
        "base": HandBase,
        "finger": HandFinger,
    }
    model: Literal["three_puma", "fingers"] | None = None
    """three_puma: the papers' hand"""
    urdf: str | None = None
    """a URDF beside the scenario (`models/` first) that has the whole hand: in place of `model`, with a finger for each
    of `tips`"""
    tips: Sequence[Any] | None = None
    """the links at the ends of the fingers, one for each [[contact]], in their order"""
    root_link: str | None = None
    """the palm: the link that the fingers start from"""
    base: HandBase | None = None
    arm_root: str | None = None
    """the link where an arm begins that carries the palm (`root_link`) and gives way: motors hold it where `q` has it,
    but no brake does (grasp-model.md, section 3)"""
    q: Mapping[str, Any] | None = None
    """where the hand stands: the search for the contacts starts there"""
    tool: Quantity | Sequence[Any] | None = None
    tip_radius: Quantity | None = None
    """of a ball about that point: the contact is on its surface, the point one radius behind it; for an object at rest,
    not in `[simulation]`"""
    tau: Sequence[Any] | None = None
    gravity_compensation: bool | None = None
    torque_limit: Literal["file"] | Sequence[Any] | None = None
    base_distance: Quantity | None = None
    """of the bases from the palm's center; default 0.6"""
    armature: bool | None = None
    """whether the motors' inertia counts; default true"""
    branch: str | None = None
    """of the inverse kinematics: arm r or l, elbow u or d, wrist n or f; default "ldn"."""
    finger: Sequence[HandFinger] | None = None


@dataclass(frozen=True, kw_only=True)
class Object(Table):
    """what is held"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("object",)
    shape: Literal["sphere", "box", "cylinder", "points"] | None = None
    """of the object"""
    radius: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    height: Quantity | None = None
    """along z"""
    size: Sequence[Any] | None = None
    """full edge lengths"""
    gyration: Sequence[Any] | None = None
    """radii of gyration"""
    scale: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """of all its lengths; default 1"""
    mass: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """of the object"""
    position: Sequence[Any] | None = None
    """center of mass in the palm's frame; nominal place = median; default [0, 0, 0.3]"""
    shift: Sequence[Any] | None = None
    """its deviation, palm axes; default [0, 0, 0]"""
    rpy: Sequence[Any] | None = None
    """roll, pitch, yaw about fixed axes; default [0, 0, 0]"""
    turn: Sequence[Any] | None = None
    """deviation of the orientation as a rotation vector, palm axes; default [0, 0, 0]"""


@dataclass(frozen=True, kw_only=True)
class Contacts(Table):
    """what all contacts have; drawn for each by itself"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("contacts",)
    angle: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """three_puma: sigma; its median is nominal, the rest a deviation common to the contacts"""
    friction: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """each (1) times one draw for all contacts: friction that contacts share"""
    slide: Mapping[str, Any] | Normal | Quantity | Sequence[Any] | Uniform | None = None
    """deviation of the contact point along the surface; default [0, 0]"""
    tilt: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """angle between the true and the modeled normal; default 0"""
    grip_force_error: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """added to the commanded normal force; default 0"""
    force_limit: Quantity | None = None
    """the largest normal force with which a wrench may be balanced"""


@dataclass(frozen=True, kw_only=True)
class Contact(Table):
    """[contact]"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("contact",)
    point: Sequence[Any] | None = None
    """instead of the keys of the shape"""
    normal: Sequence[Any] | None = None
    """inward; with `point`"""
    tangent: Sequence[Any] | None = None
    """t; with `point`"""
    curvature: Sequence[Any] | None = None
    """with `point`"""
    angle_sign: Quantity | None = None
    """how `contacts.angle` moves it along o; with `point`"""
    azimuth: Quantity | None = None
    """about z"""
    elevation: Quantity | None = None
    """towards z; default 0"""
    height: Quantity | None = None
    """along its axis; default 0"""
    face: Literal["+x", "-x", "+y", "-y", "+z", "-z"] | None = None
    """of a cylinder `"+z"` or `"-z"`, instead of `azimuth`"""
    at: Sequence[Any] | None = None
    """from the face's center along the next two axes, cyclically; default [0, 0]"""
    roll: Quantity | None = None
    """turns t towards o; on the side of a cylinder multiples of 90 deg; default 0"""
    friction: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """each (1) times one draw for all contacts: friction that contacts share"""
    slide: Mapping[str, Any] | Normal | Quantity | Sequence[Any] | Uniform | None = None
    """deviation of the contact point along the surface; default [0, 0]"""
    tilt: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """angle between the true and the modeled normal; default 0"""
    grip_force_error: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """added to the commanded normal force; default 0"""
    force_limit: Quantity | None = None
    """the largest normal force with which a wrench may be balanced"""
    grip_force: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """this contact's commanded normal force: commands"""
    force: Sequence[Any] | None = None
    """its whole commanded force instead: commands"""


@dataclass(frozen=True, kw_only=True)
class LoadWrench(Table):
    """on the object: uniform in a ball; constant part. `force_magnitude` D, `torque_magnitude` D instead of the
    balls"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("load", "wrench")
    force_radius: Quantity | None = None
    """default 0"""
    force_magnitude: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """default 0"""
    torque_radius: Quantity | None = None
    """default 0"""
    torque_magnitude: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """default 0"""
    force: Sequence[Any] | None = None
    """default [0, 0, 0]"""
    torque: Sequence[Any] | None = None
    """default [0, 0, 0]"""


@dataclass(frozen=True, kw_only=True)
class Load(Table):
    """what acts on it"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("load",)
    _tables: ClassVar[dict[str, type[Table]]] = {
        "wrench": LoadWrench,
    }
    gravity: Sequence[Any] | None = None
    """in the palm's frame; default [0, 0, -9.81]"""
    grip_force: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """commanded normal force per contact"""
    compensation: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """factor on the fingers' gravity compensation; default 1"""
    nominal_mass: Quantity | None = None
    """that the controller balances"""
    wrench: LoadWrench | None = None


@dataclass(frozen=True, kw_only=True)
class Held(Table):
    """what counts as held"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("held",)
    imbalance: Quantity | None = None
    """held: what the command leaves unbalanced is at most this share of weight and external wrench (grasp-model.md,
    section 7); not with `[simulation]`; default 0.5"""
    acceleration: Quantity | None = None
    """held: contacts at rest have at most this acceleration, one that opens has more (grasp-model.md, section 7). A
    numerical tolerance: 0.0981 m/s², 0.01 g, would be 5 cm in a second if it lasted; not with `[simulation]`; default
    0.0981"""


@dataclass(frozen=True, kw_only=True)
class Motion(Table):
    """how it moves"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("motion",)
    velocity: Sequence[Any] | None = None
    """of the object; default [0, 0, 0]"""
    angular_velocity: Sequence[Any] | None = None
    """of the object; default [0, 0, 0]"""


@dataclass(frozen=True, kw_only=True)
class SimulationDrive(Table):
    """how the fingers are driven"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("simulation", "drive")
    kind: Literal["controller", "constant", "sampled"] | None = None
    """by the grasp controller; by the torques that the command gives each sample at its start, kept; or by a table;
    default "controller"."""
    stiffness: Quantity | None = None
    """of the object's position about its first one; default 0"""
    damping: Quantity | None = None
    """of the same; default 0"""
    turn_stiffness: Quantity | None = None
    """of its orientation; default 0"""
    turn_damping: Quantity | None = None
    """of the same; default 0"""
    joint_stiffness: Quantity | None = None
    """of each joint about its first position; of a sliding joint the same number in N/m; default 0"""
    joint_damping: Quantity | None = None
    """of the same; default 0"""
    file: str | None = None
    """the same as text: a row `time, torques of finger 0, torques of finger 1, …` per time, numbers in SI units; the
    first line may name the columns, `#` begins a remark. Relative to the scenario; the run folder keeps a copy in
    `models/`"""
    times: Sequence[Any] | None = None
    """of the rows"""
    torques: Sequence[Any] | None = None
    """linear in between, kept before the first and after the last"""
    torque_limit: Sequence[Any] | None = None
    """of each joint: torques are cut off there. Not beside `torque_limit` of the fingers, which does the same"""
    lower: Sequence[Any] | None = None
    """of each joint; one that passes it ends the trajectory"""
    upper: Sequence[Any] | None = None
    """of each joint"""


@dataclass(frozen=True, kw_only=True)
class SimulationLoad(Table):
    """[simulation.load]"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("simulation", "load")
    kind: Literal["ramp", "impulse", "tilt", "shake", "sampled"] | None = None
    """any number of loads add up; directions are palm axes"""
    force: Sequence[Any] | None = None
    """on the object: nothing until `from`, growing linearly, whole from `to` on"""
    torque: Sequence[Any] | None = None
    """about the center of mass"""
    axis: Sequence[Any] | None = None
    """that gravity turns about, at constant speed, and stays there"""
    angle: Quantity | None = None
    """how far"""
    rms: Sequence[Any] | None = None
    """root mean square of the palm's acceleration along each axis; at most one shake"""
    low: Quantity | None = None
    """of the band; default 1"""
    high: Quantity | None = None
    """sixteen tones along each axis, evenly spread over the band, of equal size and random phase, other ones in each
    sample; default 20"""
    from_: Quantity | None = None
    """when it begins; default 0"""
    to: Quantity | None = None
    """when it is done; of a shake `duration` unless it is given"""
    file: str | None = None
    """the same as text: a row `time, ax, ay, az` per time, numbers in SI units; the run folder keeps a copy"""
    times: Sequence[Any] | None = None
    """linear in between, none before the first and after the last"""
    accelerations: Sequence[Any] | None = None
    """of the palm along x, y, z, the same in all samples"""


@dataclass(frozen=True, kw_only=True)
class Simulation(Table):
    """trajectories instead of one instant"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("simulation",)
    _tables: ClassVar[dict[str, type[Table]]] = {
        "drive": SimulationDrive,
        "load": SimulationLoad,
    }
    duration: Quantity | None = None
    """how long"""
    step: Quantity | None = None
    """`duration` is a whole number of steps, at most 10⁷; default 0.001"""
    scheme: Literal["moreau-jean", "explicit"] | None = None
    """explicit: the papers' Algorithm 1, stable for small steps only; the answer tells the share of steps beyond its
    bound; default "moreau-jean"."""
    restitution: Quantity | None = None
    """speed after an impact over speed before it; not with "explicit"; default 0"""
    drift_correction: Quantity | None = None
    """share of a penetration that a step takes back; default 0.2"""
    friction: Sequence[Any] | None = None
    """the nominal friction of all contacts in turn; deviations drawn about the nominal stay as they are (of a common
    friction: its product with `each`, less the product of the medians, so that all contacts deviate together)"""
    slip: Quantity | None = None
    """path of a contact at which the grasp counts as slipped; default 0.001"""
    drop: Quantity | None = None
    """displacement of the center of mass at which it counts as dropped; default 0.05"""
    drop_turn: Quantity | None = None
    """turn from where it began at which it counts as turned; counted on beyond half a turn; default
    0.7853981633974483"""
    instants: int | None = None
    """from 0 to `duration`, at which samples are looked at; default 101"""
    drive: SimulationDrive | None = None
    load: Sequence[SimulationLoad] | None = None


@dataclass(frozen=True, kw_only=True)
class Solver(Table):
    """of the contact problem"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("solver",)
    method: Literal["auto", "semismooth-newton", "nsgs", "admm", "extragradient", "box-quacan", "spg", "projected-lm", "fischer-burmeister"] | None = None
    """of the contact problem (friction-merit.md, friction-cone-solvers.md). On a GPU: `"auto"`; default "auto"."""
    tolerance: Quantity | None = None
    """of its certificate; default 1e-09"""
    max_iterations: int | None = None
    """of one solve, over all stages; 1000: the own limit of methods other than `auto`; default 1000"""
    effort: Literal["bounded", "full"] | None = None
    """`"full"`: every solver of `auto` goes to its own limit (contact-solver.md); default "bounded"."""
    max_unsolved: Quantity | None = None
    """exit code 4 above this share of unsolved samples"""
    check_uniqueness: bool | None = None
    """solve again from another start and report a second solution; default true"""


@dataclass(frozen=True, kw_only=True)
class SamplingStop(Table):
    """ends the run once half the width of the 95 % interval is at most this"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("sampling", "stop")
    half_width: Quantity | None = None
    """of the interval"""


@dataclass(frozen=True, kw_only=True)
class Sampling(Table):
    """how many samples"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("sampling",)
    _tables: ClassVar[dict[str, type[Table]]] = {
        "stop": SamplingStop,
    }
    samples: int | None = None
    """of all; with `[simulation]` 10 000; default 100000"""
    chunk: int | None = None
    """samples of one file; with `[simulation]` a tenth of all, a quarter where there are many; else more where there
    are many; doubled until there are at most 4000; default 65536"""
    stop: SamplingStop | None = None
    time_limit: Quantity | None = None
    """ends the run after so long; it can be resumed"""


@dataclass(frozen=True, kw_only=True)
class Output(Table):
    """what is kept"""

    _job: ClassVar[str] = "grasp"
    _path: ClassVar[tuple[str, ...]] = ("output",)
    keep: Literal["none", "failures", "all"] | None = None
    """samples that are stored one by one; default "failures"."""


@dataclass(frozen=True, kw_only=True)
class Grasp(Scenario):
    """A scenario of job grasp."""

    _job: ClassVar[str] = "grasp"
    _tables: ClassVar[dict[str, type[Table]]] = {
        "hand": Hand,
        "object": Object,
        "contacts": Contacts,
        "contact": Contact,
        "load": Load,
        "held": Held,
        "motion": Motion,
        "simulation": Simulation,
        "solver": Solver,
        "sampling": Sampling,
        "output": Output,
    }
    title: str | None = None
    """heads the answer and the report"""
    seed: int | None = None
    """of all random numbers; default 1"""
    hand: Hand | None = None
    object: Object | None = None
    contacts: Contacts | None = None
    contact: Sequence[Contact] | None = None
    load: Load | None = None
    held: Held | None = None
    motion: Motion | None = None
    simulation: Simulation | None = None
    solver: Solver | None = None
    sampling: Sampling | None = None
    output: Output | None = None
