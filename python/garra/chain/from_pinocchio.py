"""A chain out of a pinocchio.Model: its placements, axes, inertias and limits as they stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from garra import _core

_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def _axis(joint: Any) -> tuple[bool, np.ndarray] | None:
    """True for a prismatic joint, and its axis in its own frame, or None for other kinds. JointModelRZ, JointModelPX,
    JointModelRUBZ (unbounded), JointModelRevoluteUnaligned, JointModelPrismaticUnaligned."""
    name = joint.shortname().removeprefix("JointModel")
    if "Unaligned" in name and name.startswith(("Revolute", "Prismatic")):
        # Not every kind has the attribute `axis`: column of its motion subspace.
        data = joint.createData()
        joint.calc(data, np.array([1.0, 0.0]) if joint.nq == 2 else np.zeros(1))
        S = np.ravel(data.S.matrix() if hasattr(data.S, "matrix") else data.S)
        return name.startswith("Prismatic"), S[:3] if name.startswith("Prismatic") else S[3:]
    if name[:-1] in ("R", "P", "RUB") and name[-1] in _AXES:
        return name[0] == "P", np.array(_AXES[name[-1]])
    return None


def _way(model: Any, joint: int) -> list[int]:
    """Joints from the base to this one."""
    way = []
    while joint != 0:
        way.insert(0, joint)
        joint = model.parents[joint]
    return way


def chain_of(model: Any, tip: str | None, q: Any) -> _core.Robot:
    """See Chain.from_pinocchio()."""
    import pinocchio

    if tip is not None and not model.existFrame(tip):
        raise ValueError(f"the model {model.name!r} has no frame {tip!r}")
    last = model.njoints - 1 if tip is None else model.frames[model.getFrameId(tip)].parentJoint
    names = [model.names[j] for j in _way(model, last)]
    aside = [j for j in range(1, model.njoints) if model.names[j] not in names]
    if aside:
        model = pinocchio.buildReducedModel(
            model, aside, pinocchio.neutral(model) if q is None else np.asarray(q, float)
        )
    kinds = [_axis(model.joints[j]) for j in range(1, model.njoints)]
    for j, kind in enumerate(kinds):
        if kind is None:
            raise ValueError(
                f"the joint {names[j]!r} is a {model.joints[j + 1].shortname()}, neither revolute nor prismatic; "
                "choose a base behind it with pinocchio.buildReducedModel"
            )
    joints = range(1, model.njoints)
    v = [model.joints[j].idx_v for j in joints]
    # An unbounded joint has (cos, sin) for its value: it turns without limits.
    bounded = [model.joints[j].nq == 1 for j in joints]
    place = [model.joints[j].idx_q for j in joints]
    widest = 1e300  # without limits a model has the largest number there is
    limits = [
        [
            model.lowerPositionLimit[p] if b and model.lowerPositionLimit[p] > -widest else -np.inf,
            model.upperPositionLimit[p] if b and model.upperPositionLimit[p] < widest else np.inf,
            model.velocityLimit[i],
            model.effortLimit[i],
        ]
        for p, i, b in zip(place, v, bounded, strict=True)
    ]
    bodies = [
        [model.inertias[j].mass, *model.inertias[j].lever, *np.asarray(model.inertias[j].inertia).ravel()]
        for j in joints
    ]
    tool = np.eye(4) if tip is None else model.frames[model.getFrameId(tip)].placement.homogeneous
    return _core.robot_from_joints(
        model.name,
        [model.names[j] for j in joints],
        [kind[0] for kind in kinds],
        np.ascontiguousarray([model.jointPlacements[j].homogeneous for j in joints], dtype=np.float64),
        np.ascontiguousarray([kind[1] for kind in kinds], dtype=np.float64),
        np.ascontiguousarray(bodies, dtype=np.float64),
        np.ascontiguousarray(limits, dtype=np.float64),
        np.ascontiguousarray(np.asarray(model.armature)[v], dtype=np.float64),
        np.ascontiguousarray(np.asarray(model.damping)[v], dtype=np.float64),
        np.ascontiguousarray(tool, dtype=np.float64),
        [float(g) for g in model.gravity.linear],
    )
