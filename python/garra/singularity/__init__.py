"""Singular configurations of serial chains by screw theory (docs/theory/singularity.md), and the report of their
maps."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from garra.renamed import accept_old, attribute
from garra.summary import Summary

if TYPE_CHECKING:
    from garra.batch import Batch
    from garra.chain.robot import Chain
    from garra.study.run import Result


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
class Vicinity:
    """The singularity next to one configuration."""

    distance: float
    """length of the joint motion that leads there [rad]; a prismatic joint's in units of L; 0: here"""
    type: str
    """"wrist", "elbow", "shoulder" or several of them; empty where the arm has no such parts"""
    joints: list[int]
    """joints to blame, from 0"""
    escape_joint: int | None
    """the joint that leads out fastest, from 0; None: none alone"""
    q: np.ndarray
    """[n] the singular configuration"""

    def __str__(self) -> str:
        where = "here" if self.distance == 0 else f"{np.degrees(self.distance):.6g} deg of joint motion away"
        blamed = f": {_named(self.joints)}" if self.joints else ""
        out = "" if self.escape_joint is None else f"; q[{self.escape_joint}] leads out"
        return f"{self.type + ', ' if self.type else ''}{where}{blamed}{out}"


@accept_old
@dataclass(frozen=True, repr=False)
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
    condition: float
    """largest by smallest singular value; infinite where the arm is singular"""
    nearest: Vicinity | None
    """the singularity next to the configuration; None: none was found, or only screws are known"""
    details: dict[str, Any]

    @property
    def escape_joints(self) -> list[list[int]]:
        """The joints of each of `escapes`."""
        return [e.joints for e in self.escapes]

    def __repr__(self) -> str:
        verdict = "singular" if self.singular else "not singular"
        lines = [f"Analysis(rank {self.rank} of {self.generic_rank}: {verdict}; condition number {self.condition:.6g}"]
        if self.nearest is not None:
            lines.append(f"nearest singularity: {self.nearest}")
        if self.singular:
            lines.append(f"joints to blame: {_named(self.responsible)}")
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
    """How near each configuration is to a singularity. Screws are scaled: moments about the center over a length L."""

    sigma_min: Any
    """[...] smallest singular value that an ordinary configuration has"""
    inverse_condition: Any
    """[...] sigma_min over the largest singular value"""
    manipulability: Any
    """[...] product of the singular values"""
    tool: Any
    """[..., 3] tool point, world axes [m]"""


@accept_old
@dataclass(frozen=True, repr=False)
class Nearest(Summary):
    """The singularity next to each configuration; NaN, 0 and -1 where `landed` is False."""

    landed: Any
    """[...] False: no singularity was found within a radian, or a joint value is not finite"""
    q: Any
    """[..., n] the singular configuration"""
    distance: Any
    """[...] joint motion that leads there [rad]; a prismatic joint's in units of L"""
    lost: Any
    """[...] freedoms that are lost there"""
    responsible: Any
    """[..., n] bool: joints to blame"""
    escape_joint: Any
    """[...] the joint that leads out fastest, from 0; -1: none alone"""
    escape_order: Any
    """[...] sigma_min grows with this power of its step"""
    wrench: Any
    """[..., 6] a wrench that the arm cannot yield to: moment about the center, force times L, world axes"""


def _named(joints: list[int]) -> str:
    """As indices of q, so that they are counted one way."""
    return ", ".join(f"q[{j}]" for j in joints)


def _vicinity(found: dict[str, Any] | None) -> Vicinity | None:
    if found is None:
        return None
    leads_out = found["escape_joint"]
    return Vicinity(
        distance=found["distance"],
        type=found["type"],
        joints=[j - 1 for j in found["joints"]],
        escape_joint=None if leads_out is None else leads_out - 1,
        q=np.array(found["q"]),
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
        responsible=[j - 1 for j in details["responsible"]],
        minimal_sets=[[j - 1 for j in interval["ssm"]] for interval in details["sosm"]],
        lost_wrenches=np.array(details["lost_wrenches"], dtype=np.float64).reshape(-1, 6),
        escapes=[Escape([j - 1 for j in e["joints"]], e["order"], e["rate"], e["sign"]) for e in details["escape"]],
        singular_values=np.array(sigma),
        condition=np.inf if singular else sigma[0] / sigma[details["generic_rank"] - 1],
        nearest=_vicinity(details.get("nearest")),
        details=details,
    )


def analyse(robot: Chain, q: Any, *, tolerance: float = 1e-10, step: float = 0.25) -> Analysis:
    """Of a chain at q [n]. tolerance: a singular value is zero at or below this share of the largest one; step: of the
    finite motions that are tried [rad]."""
    from garra import _core
    from garra.arguments import numbers, positive

    values = numbers("q", q)
    if values.shape != (robot.n,):
        raise ValueError(f"q has the shape {values.shape}, not [{robot.n}]: analyse() takes one configuration")
    return _analysis(_core.singularity_analyse(robot._core, values.tolist(), positive("tolerance", tolerance), positive("step", step)))


def analyse_screws(screws: Any, *, tolerance: float = 1e-10, step: float = 0.25) -> Analysis:
    """Of joint screws [n, 6] from the base to the tip: direction, moment about the origin."""
    from garra import _core
    from garra.arguments import positive
    from garra.batch import Batch

    rows = Batch(("screws", screws, (6,)))["screws"]
    return _analysis(_core.singularity_analyse_screws(rows, positive("tolerance", tolerance), positive("step", step)))


def measure(
    robot: Chain,
    q: Any,
    *,
    center: str = "natural",
    length: float | None = None,
    device: str = "cpu",
    threads: int = 0,
) -> Measures:
    """How near the configurations q [..., n] are to a singularity (docs/theory/singularity-maps.md).

    center: "natural" (the point nearest to all revolute axes) or "tool"; length: unit of length L of the screws [m];
    None: root mean square distance of the axes to the center. Of arms that can move in six freedoms.
    Arrays of torch, CuPy or JAX that are on a GPU stay there, whatever `device` says (docs/howto/gpu-arrays.md).
    """
    from garra import _core
    from garra.arguments import place
    from garra.batch import is_on_gpu

    unit = _unit(length)
    if is_on_gpu(q):
        _check_center(center)
        return Measures(**import_module(".on_gpu", __name__).measure(robot._core, q, center, unit))
    batch = _configurations(robot, q, center)
    arrays = _core.singularity_measure(robot._core, batch["q"], center, unit, *place(device, threads))
    return Measures(**{name: batch.out(array) for name, array in arrays.items()})


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
    """The singularity next to each configuration q [..., n], by least joint motion, and what is lost there, who is to
    blame and which joint leads out. Of near rows 0.04 % are not the nearest (docs/theory/singularity-maps.md);
    analyse() searches one configuration longer. center, length: see measure();
    singular: the smallest singular value is at most `tolerance` of the largest."""
    from garra import _core
    from garra.arguments import place, positive

    batch = _configurations(robot, q, center)
    how = (center, _unit(length), positive("tolerance", tolerance), *place(device, threads))
    arrays = _core.singularity_nearest(robot._core, batch["q"], *how)
    arrays["landed"] = arrays["landed"] == 0
    arrays["responsible"] = (arrays["responsible"][:, None] >> np.arange(robot.n, dtype=np.uint32)) % 2 == 1
    return Nearest(**{name: batch.out(array) for name, array in arrays.items()})


def map(robot: Chain, *, samples: int = 1_000_000, **how: Any) -> Result:  # noqa: A001  (the field's word)
    """Where the arm is near singular, over its joint limits or a task: a study of job = "singularity".

    how: further tables of the scenario (joints, task, measure, slice, output; docs/reference/scenario.md), and what
    garra.run() takes (out, seed, device, threads, progress, report).
    """
    from tempfile import TemporaryDirectory

    from garra.study.run import run

    running = {key: how.pop(key) for key in ("out", "seed", "device", "threads", "progress", "report") if key in how}
    with TemporaryDirectory(prefix="garra-") as folder:
        model = f"{folder}/{robot.name or 'robot'}.toml".replace(" ", "_")
        with open(model, "w", encoding="utf-8") as file:
            file.write(robot.to_toml())
        scenario = {
            "schema": 1,
            "job": "singularity",
            "title": f"Singularities of {robot.name}",
            "robot": {"file": model},
        }
        return run({**scenario, **how}, samples=samples, **running)


def _unit(length: float | None) -> float:
    """0: the library's own."""
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
