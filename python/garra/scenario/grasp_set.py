"""Classes of job = "grasp_set". Made by tools/scenario_tables from the list of fields: not to be edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from garra.scenario.table import Quantity, Scenario, Table
from garra.study.distributions import Normal, Uniform


@dataclass(frozen=True, kw_only=True)
class Set(Table):
    """which grasps"""

    _job: ClassVar[str] = "grasp_set"
    _path: ClassVar[tuple[str, ...]] = ("set",)
    file: str | None = None
    """the set (HDF5 or NPZ), relative to this file; needed to run it, not by `garra grasp rank SET.h5`"""
    checksum: str | None = None
    """`"crc32:..."` of the set's file: another one is refused. A run folder keeps it"""
    hand: Literal["auto", "ideal", "compliant", "whole"] | None = None
    """what presses on the object; auto: what the set has arrays of; default "auto"."""
    interior_grasp: bool | None = None
    """normals of a set without its object may all point away from the center of mass, as in a ring held from within;
    default false"""


@dataclass(frozen=True, kw_only=True)
class Object(Table):
    """what is held"""

    _job: ClassVar[str] = "grasp_set"
    _path: ClassVar[tuple[str, ...]] = ("object",)
    mass: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """in place of the set's mass"""
    mass_factor: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """a factor on the set's mass; default 1"""
    com_radius: Quantity | None = None
    """the center of mass is off, uniform in a ball of this radius; default 0"""


@dataclass(frozen=True, kw_only=True)
class Contacts(Table):
    """where it is touched"""

    _job: ClassVar[str] = "grasp_set"
    _path: ClassVar[tuple[str, ...]] = ("contacts",)
    friction: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """in place of the set's coefficients, common to all contacts"""
    friction_factor: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """a factor on the set's coefficients, common to all contacts; default 1"""
    per_contact_friction_factor: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """a further factor, drawn for each contact; default 1"""
    slide_t: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """of each contact point along the surface; the normal turns with the curvature; default 0"""
    slide_o: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """likewise, across; default 0"""
    tilt: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """of each true normal, towards any side; default 0"""
    force_limit: Quantity | None = None
    """of the normal force of every contact, where the set has none"""


@dataclass(frozen=True, kw_only=True)
class Load(Table):
    """what acts on it besides"""

    _job: ClassVar[str] = "grasp_set"
    _path: ClassVar[tuple[str, ...]] = ("load",)
    force_radius: Quantity | None = None
    """disturbance, uniform in a ball of this radius; default 0"""
    torque_radius: Quantity | None = None
    """likewise; default 0"""
    wrenches: Sequence[Any] | None = None
    """one of them acts besides, any as likely as the others (object axes, about the center of mass)"""
    random_gravity_direction: bool | None = None
    """gravity from a direction uniform on the sphere; default false"""


@dataclass(frozen=True, kw_only=True)
class Command(Table):
    """of a hand that is not ideal"""

    _job: ClassVar[str] = "grasp_set"
    _path: ClassVar[tuple[str, ...]] = ("command",)
    factor: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """on the commanded forces or torques; default 1"""
    grip_force_error: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """added to each contact's commanded normal force; default 0"""
    torque_error: Mapping[str, Any] | Normal | Quantity | Uniform | None = None
    """added to each joint's torque, drawn for each, of a whole hand; default 0"""


@dataclass(frozen=True, kw_only=True)
class Held(Table):
    """what held means"""

    _job: ClassVar[str] = "grasp_set"
    _path: ClassVar[tuple[str, ...]] = ("held",)
    imbalance: Quantity | None = None
    """carried: what the command leaves unbalanced is at most this share of the load; default 0.5"""
    acceleration: Quantity | None = None
    """at rest: acceleration of a contact at most this; a contact opens above it; default 0.0981"""


@dataclass(frozen=True, kw_only=True)
class Solver(Table):
    """of contact problems"""

    _job: ClassVar[str] = "grasp_set"
    _path: ClassVar[tuple[str, ...]] = ("solver",)
    check_uniqueness: bool | None = None
    """look for a second solution; default true"""


@dataclass(frozen=True, kw_only=True)
class Sampling(Table):
    """how many samples"""

    _job: ClassVar[str] = "grasp_set"
    _path: ClassVar[tuple[str, ...]] = ("sampling",)
    samples: int | None = None
    """of each grasp; default 1000"""
    friction_samples: int | None = None
    """of them asked for the friction they need; each costs as much as about twenty samples; default 100"""
    radius_samples: int | None = None
    """of them asked for the resisted force radius, of an ideal hand whose forces are limited; each costs as much as
    about a thousand samples"""
    best: int | None = None
    """only so many best are wanted (0: all): `garra grasp rank --best`, not in a run; default 0"""
    confidence: Quantity | None = None
    """that none of the true best is given up; default 0.95"""
    chunk: int | None = None
    """grasps of one file of a run"""
    max_unsolved: Quantity | None = None
    """of a run: exit code 4 above this share of unsolved samples"""
    time_limit: Quantity | None = None
    """ends the run after so long; it can be resumed"""


@dataclass(frozen=True, kw_only=True)
class GraspSet(Scenario):
    """A scenario of job grasp_set."""

    _job: ClassVar[str] = "grasp_set"
    _tables: ClassVar[dict[str, type[Table]]] = {
        "set": Set,
        "object": Object,
        "contacts": Contacts,
        "load": Load,
        "command": Command,
        "held": Held,
        "solver": Solver,
        "sampling": Sampling,
    }
    title: str | None = None
    """heads the answer and the report"""
    seed: int | None = None
    """of all random numbers; default 1"""
    set: Set | None = None
    object: Object | None = None
    contacts: Contacts | None = None
    load: Load | None = None
    command: Command | None = None
    held: Held | None = None
    solver: Solver | None = None
    sampling: Sampling | None = None
