"""Singular configurations of serial chains by screw theory (docs/theory/singularity.md), and the report of their
maps."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from garra.renamed import accept_old, attribute
from garra.singularity.leaving import WayOut, way_out
from garra.summary import Summary

if TYPE_CHECKING:
    from os import PathLike

    from garra.batch import Batch
    from garra.chain.robot import Chain
    from garra.study.run import Progress, Result


@dataclass(frozen=True)
class Escape:
    """Minimal set of joints whose motion leaves the singularity.

    Examples
    --------
    >>> r = garra.singularity.analyze(garra.models.puma560(), [0, 0.5, 0.3, 0, 0, 0])
    >>> r.escapes[0].joints, r.escapes[0].order
    ([4], 1)
    """

    joints: list[int]
    """indices from 0"""
    order: int
    """the smallest singular value grows as rate * step^order"""
    rate: float
    sign: list[int]
    """direction of faster growth per joint; 0: equal"""


@dataclass(frozen=True)
class Vicinity:
    """Singularity next to one configuration.

    Examples
    --------
    >>> r = garra.singularity.analyze(garra.models.puma560(), [0, 0.5, 0.3, 0, 0, 0])
    >>> print(r.nearest)
    wrist, here: q[3], q[5]; q[4] leads out
    """

    distance: float
    """length of the joint motion to it [rad]; a prismatic joint's in units of L; 0: at q"""
    type: str
    """"wrist", "elbow", "shoulder" or several of them; empty for arms without these parts"""
    joints: list[int]
    """linearly dependent joints, from 0"""
    escape_joint: int | None
    """single joint of fastest escape, from 0, or None"""
    q: np.ndarray
    """[n] the singular configuration [rad or m]"""

    def __str__(self) -> str:
        where = "here" if self.distance == 0 else f"{np.degrees(self.distance):.6g} deg of joint motion away"
        dependent = f": {_named(self.joints)}" if self.joints else ""
        out = "" if self.escape_joint is None else f"; q[{self.escape_joint}] leads out"
        return f"{self.type + ', ' if self.type else ''}{where}{dependent}{out}"


@dataclass(frozen=True)
class ToolSpeed:
    """Joint speeds that a tool speed of 1 m/s takes, at most over its directions.

    Arms of rank 6 keep the tool's orientation.

    Examples
    --------
    >>> r = garra.singularity.analyze(garra.models.puma560(), [0, 0.5, 0.3, 0, 1, 0])
    >>> print(r.tool_speed)
    1 m/s takes at most 13.89 rad/s of q[3]
    """

    joint_speed: np.ndarray
    """[n] largest [rad/s or m/s]"""
    direction: np.ndarray
    """[n, 3] of the tool velocity that takes it, world axes"""
    joint: int
    """first joint at its limit as the tool gets faster; without limits the fastest joint"""
    speed: float
    """largest tool speed that all directions allow within the joints' speed limits [m/s]; infinite without limits"""

    def __str__(self) -> str:
        if np.isfinite(self.speed):
            return f"{self.speed:.4g} m/s in every direction; q[{self.joint}] is then at its speed limit"
        return f"1 m/s takes at most {self.joint_speed[self.joint]:.4g} rad/s of q[{self.joint}]"


@accept_old
@dataclass(frozen=True, repr=False)
class Analysis:
    """Analysis of one configuration.

    Joints are indices from 0, as in q[i]. `details` is the output of `garra singularity --format json`.

    Examples
    --------
    >>> r = garra.singularity.analyze(garra.models.puma560(), [0, 0.5, 0.3, 0, 0, 0])
    >>> r.rank, r.generic_rank, r.dependent_joints
    (5, 6, [3, 5])
    """

    rank: int
    generic_rank: int
    """largest rank of the chain"""
    singular: bool
    """rank < generic_rank"""
    dependent_joints: list[int]
    """linearly dependent joints"""
    minimal_sets: list[list[int]]
    """joints of each minimal set of screws that are dependent here and not in every configuration"""
    lost_wrenches: np.ndarray
    """[m, 6] wrenches (force; moment about the origin of the screws) without power on any joint"""
    escapes: list[Escape]
    """all smallest sets of joints that leave the singularity"""
    singular_values: np.ndarray
    """of the scaled Jacobian, descending"""
    condition: float
    """ratio of largest and smallest singular value; infinite if singular"""
    nearest: Vicinity | None
    """singularity next to the configuration, or None if not found or only screws are given"""
    tool_speed: ToolSpeed | None
    """joint speeds for a motion of the tool, or None if it takes infinite ones or only screws are given"""
    details: dict[str, Any]

    @property
    def escape_joints(self) -> list[list[int]]:
        """Joints of each set in `escapes`.

        Examples
        --------
        >>> r = garra.singularity.analyze(garra.models.puma560(), [0, 0.5, 0.3, 0, 0, 0])
        >>> r.escape_joints
        [[4]]
        """
        return [e.joints for e in self.escapes]

    def __repr__(self) -> str:
        verdict = "singular" if self.singular else "not singular"
        lines = [f"Analysis(rank {self.rank} of {self.generic_rank}: {verdict}; condition number {self.condition:.6g}"]
        always = self.details["joints"] - self.generic_rank
        if self.generic_rank < min(6, self.details["joints"]):
            lines.append(f"dependent in every configuration: {always} of {self.details['joints']} joints")
        if self.nearest is not None:
            lines.append(f"nearest singularity: {self.nearest}")
        if self.tool_speed is not None:
            lines.append(f"tool speed: {self.tool_speed}")
        if self.singular:
            lines.append(f"dependent joints: {_named(self.dependent_joints)}")
            ways = " or ".join(_named(joints) for joints in self.escape_joints[:4])
            lines.append(f"lead out: {ways or 'no set of the size that was searched'}")
        if self.minimal_sets:
            sets = "; ".join(_named(joints) for joints in self.minimal_sets[:4])
            more = f"; {len(self.minimal_sets) - 4} more" if len(self.minimal_sets) > 4 else ""
            lines.append(f"minimal dependent sets: {sets}{more}")
        lines.append(f"singular values: {' '.join(f'{s:.4g}' for s in self.singular_values)}")
        return "\n  ".join(lines) + ")"


@dataclass(frozen=True, repr=False)
class Measures(Summary):
    """Distance of each configuration from a singularity, with moments about the center divided by a length L.

    Examples
    --------
    >>> garra.singularity.measure(garra.models.puma560(), np.zeros((5, 6))).tool.shape
    (5, 3)
    """

    sigma_min: Any
    """[...] singular value number g, the generic rank; 0 at a singularity"""
    inverse_condition: Any
    """[...] sigma_min divided by the largest singular value"""
    manipulability: Any
    """[...] product of the singular values"""
    tool: Any
    """[..., 3] tool point, world axes [m]"""


@accept_old
@dataclass(frozen=True, repr=False)
class Nearest(Summary):
    """Singularity next to each configuration. Rows with `converged` False hold NaN, 0 or -1.

    Examples
    --------
    >>> r = garra.singularity.nearest(garra.models.puma560(), [0, 0.5, 0.3, 0, 0.1, 0])
    >>> np.flatnonzero(r.dependent_joints), int(r.escape_joint)
    (array([3, 5]), 4)
    """

    converged: Any
    """[...] False: no singularity found within one radian, or a joint value is not finite"""
    q: Any
    """[..., n] the singular configuration [rad or m]"""
    distance: Any
    """[...] length of the joint motion to it [rad]; a prismatic joint's in units of L"""
    lost: Any
    """[...] lost degrees of freedom"""
    dependent_joints: Any
    """[..., n] bool: linearly dependent joints"""
    escape_joint: Any
    """[...] single joint of fastest escape, from 0; -1: no single joint"""
    escape_order: Any
    """[...] power of the joint's step in sigma_min: 1 or 2; 0: none"""
    wrench: Any
    """[..., 6] first lost wrench: (force times L; moment about the center), world axes"""


def _named(joints: list[int]) -> str:
    """Joints as indices of q."""
    return ", ".join(f"q[{j}]" for j in joints)


def _vicinity(found: dict[str, Any] | None) -> Vicinity | None:
    if found is None:
        return None
    return Vicinity(
        distance=found["distance"],
        type=found["type"],
        joints=found["joints"],
        escape_joint=found["escape_joint"],
        q=np.array(found["q"]),
    )


def _tool_speed(found: dict[str, Any] | None) -> ToolSpeed | None:
    if found is None:
        return None
    return ToolSpeed(
        joint_speed=np.array(found["joint_speed"]),
        direction=np.array(found["direction"]),
        joint=found["joint"],
        speed=np.inf if found["speed"] is None else found["speed"],
    )


def _analysis(text: str) -> Analysis:
    details = json.loads(text)
    for sentence in details.pop("far_outside_limits", []):
        warnings.warn(f"q: {sentence}", stacklevel=3)
    sigma = details["singular_values"]
    singular = details["arm_singular"]
    return Analysis(
        rank=details["rank"],
        generic_rank=details["generic_rank"],
        singular=singular,
        dependent_joints=details["dependent_joints"],
        minimal_sets=[interval["ssm"] for interval in details["sosm"]],
        lost_wrenches=np.array(details["lost_wrenches"], dtype=np.float64).reshape(-1, 6),
        escapes=[Escape(e["joints"], e["order"], e["rate"], e["sign"]) for e in details["escape"]],
        singular_values=np.array(sigma),
        condition=np.inf if singular else sigma[0] / sigma[details["generic_rank"] - 1],
        nearest=_vicinity(details.get("nearest")),
        tool_speed=_tool_speed(details.get("tool_speed")),
        details=details,
    )


def analyze(robot: Chain, q: Any, *, tolerance: float = 1e-10, step: float = 0.25) -> Analysis:
    """Analyzes one configuration of a chain: rank, lost wrenches, dependent joints, escapes and nearest singularity.

    Parameters
    ----------
    robot : Chain
        The arm.
    q : array_like [n]
        Joint values [rad or m].
    tolerance : float
        A singular value is zero if it is at most this fraction of the largest one.
    step : float
        Size of the finite trial motions [rad].

    Returns
    -------
    Analysis

    Raises
    ------
    ValueError
        For another shape of q.
    garra.UsageError
        For values that are not finite or options out of range.

    Examples
    --------
    >>> r = garra.singularity.analyze(garra.models.puma560(), [0, 0.5, 0.3, 0, 0, 0])
    >>> r.singular, r.nearest.type, r.lost_wrenches.shape
    (True, 'wrist', (1, 6))
    """
    from garra import _core
    from garra.arguments import numbers, positive

    values = numbers("q", q)
    if values.shape != (robot.n,):
        raise ValueError(f"q has the shape {values.shape}, not [{robot.n}]: analyze() takes one configuration")
    return _analysis(_core.singularity_analyze(robot._core, values.tolist(), positive("tolerance", tolerance), positive("step", step)))


def analyze_screws(screws: Any, *, tolerance: float = 1e-10, step: float = 0.25) -> Analysis:
    """Analyzes one configuration given by joint screws.

    Parameters
    ----------
    screws : array_like [n, 6]
        (direction; moment about the origin [m]) from the base to the tip; a prismatic joint has direction 0.
    tolerance, step : float
        As in analyze().

    Returns
    -------
    Analysis
        Without `nearest`.

    Raises
    ------
    ValueError
        For another shape.
    garra.UsageError
        For zero screws, more than 16 joints, or options out of range.

    Examples
    --------
    >>> r = garra.singularity.analyze_screws(np.eye(6)[[0, 1, 0]])  # a wrist with two joints on one axis
    >>> r.rank, r.generic_rank, r.escape_joints
    (2, 3, [[1]])
    """
    from garra import _core
    from garra.arguments import positive
    from garra.batch import Batch

    rows = Batch(("screws", screws, (6,)))["screws"]
    return _analysis(_core.singularity_analyze_screws(rows, positive("tolerance", tolerance), positive("step", step)))


def measure(
    robot: Chain,
    q: Any,
    *,
    center: str = "natural",
    length: float | None = None,
    device: str = "cpu",
    threads: int = 0,
) -> Measures:
    """Measures the distance of configurations from a singularity (docs/theory/singularity-maps.md).

    Arrays of torch, CuPy or JAX on a GPU stay there, independent of `device` (docs/howto/gpu-arrays.md).

    Parameters
    ----------
    robot : Chain
        Arm of generic rank 3 to 6 with at most 6 joints, or of rank 6 with at most 16; on a GPU rank 6.
    q : array_like [..., n]
        Joint values [rad or m].
    center : str
        "natural" (the point nearest to all revolute axes) or "tool".
    length : float, optional
        Unit of length L of the screws [m]; default: root mean square distance of the axes to the center.
    device : str
        "cpu", "scalar", "cuda", "cuda:1".
    threads : int
        CPU threads; 0: all.

    Returns
    -------
    Measures
        NaN for a configuration with a value that is not finite.

    Raises
    ------
    ValueError
        For another shape of q or another center.
    garra.Error
        UsageError for other arms, DeviceError if the device cannot run.

    Examples
    --------
    >>> r = garra.singularity.measure(garra.models.puma560(), [[0, 0.5, 0.3, 0, 1, 0], [0, 0.5, 0.3, 0, 0, 0]])
    >>> r.sigma_min.round(3) + 0.0
    array([0.144, 0.   ])
    """
    from garra import _core
    from garra.arguments import place
    from garra.batch import is_on_gpu
    from garra.on_gpu import compute

    unit = _unit(length)
    if is_on_gpu(q):
        _check_center(center)
        answers = dict.fromkeys(("sigma_min", "inverse_condition", "manipulability"), ()) | {"tool": (3,)}
        call = partial(_core.singularity_measure_on_gpu, robot._core)
        return Measures(**compute(call, {"q": q}, {"q": (robot.n,)}, answers, center, unit))
    batch = _configurations(robot, q, center)
    arrays = _core.singularity_measure(robot._core, batch["q"], center, unit, *place(device, threads))
    return batch.result(Measures, arrays)


def nearest(
    robot: Chain,
    q: Any,
    *,
    center: str = "natural",
    length: float | None = None,
    tolerance: float = 1e-10,
    device: str = "cpu",
    threads: int = 0,
) -> Nearest:
    """Finds the singularity next to each configuration by least joint motion, and analyzes it.

    In 0.04 % of the near rows the result is not the nearest singularity (docs/theory/singularity-maps.md). analyze()
    searches longer, for one configuration.

    Parameters
    ----------
    robot : Chain
        As in measure().
    q : array_like [..., n]
        Joint values [rad or m].
    center, length
        As in measure().
    tolerance : float
        Singular: the smallest singular value is at most this fraction of the largest.
    device : str
        "cpu", "scalar", "cuda", "cuda:1".
    threads : int
        CPU threads; 0: all.

    Returns
    -------
    Nearest

    Raises
    ------
    ValueError
        For another shape of q or another center.
    garra.Error
        UsageError for other arms, DeviceError if the device cannot run.

    Examples
    --------
    >>> r = garra.singularity.nearest(garra.models.puma560(), [[0, 0.5, 0.3, 0, 0.1, 0], [0, 0.5, 0.3, 0, -0.2, 0]])
    >>> r.converged, r.distance.round(6)
    (array([ True,  True]), array([0.1     , 0.141432]))
    """
    from garra import _core
    from garra.arguments import place, positive

    batch = _configurations(robot, q, center)
    how = (center, _unit(length), positive("tolerance", tolerance), *place(device, threads))
    arrays = _core.singularity_nearest(robot._core, batch["q"], *how)
    arrays["converged"] = arrays["converged"] == 0
    arrays["dependent_joints"] = (arrays["dependent_joints"][:, None] >> np.arange(robot.n, dtype=np.uint32)) % 2 == 1
    return batch.result(Nearest, arrays)


def map(  # noqa: A001  (the field's word)
    robot: Chain,
    *,
    samples: int = 1_000_000,
    title: str = "",
    joints: Any = None,
    task: Any = None,
    measure: Any = None,
    slice: Any = None,  # noqa: A002  (the scenario's key)
    sampling: Any = None,
    output: Any = None,
    out: str | PathLike[str] | None = None,
    seed: int | None = None,
    device: str = "auto",
    threads: int = 0,
    report: bool = False,
    progress: Progress = False,
) -> Result:
    """Maps the singularities of an arm over its joint limits or a task: a study of job = "singularity".

    Parameters
    ----------
    robot : Chain
        As in measure().
    samples : int
        Number of configurations.
    title : str, optional
        Default: "Singularities of NAME".
    joints, task, measure, sampling, output : mapping, optional
        Tables of the scenario (docs/reference/scenario.md).
    slice : sequence of mapping, optional
        Tables [[slice]] of the scenario.
    out, seed, device, threads, report, progress
        As in garra.run().

    Returns
    -------
    Result

    Raises
    ------
    garra.Error
        As garra.run().

    Examples
    --------
    >>> r = garra.singularity.map(garra.models.puma560(), samples=1000, out="map", device="cpu")
    >>> r
    <Result 'Singularities of PUMA 560': P(near) = ..., 1,000 samples>
    """
    from garra.study.run import run

    tables = {"joints": joints, "task": task, "measure": measure, "slice": slice, "sampling": sampling, "output": output}
    how = {"samples": samples, "seed": seed, "device": device, "threads": threads, "report": report}
    scenario = {"schema": 1, "job": "singularity", "robot": robot, "title": title or f"Singularities of {robot.name}"}
    scenario |= {key: table for key, table in tables.items() if table is not None}
    if joints is not None:
        scenario["joints"] = {str(joint): source for joint, source in joints.items()}
    return run(scenario, out, **how, progress=progress)


def _unit(length: float | None) -> float:
    """Unit of length for the library; 0: its default."""
    from garra.arguments import positive

    return 0.0 if length is None else positive("length", length)


def _check_center(center: str) -> None:
    if center not in ("natural", "tool"):
        raise ValueError(f'center = {center!r}, not "natural" or "tool"')


def _configurations(robot: Chain, q: Any, center: str) -> Batch:
    from garra.batch import Batch

    _check_center(center)
    return Batch(("q", q, (robot.n,)))


def __getattr__(name: str) -> Any:
    return attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted(globals())
