"""Load cases of sets of grasps, and the tests of published data sets as load cases (docs/howto/grasp-poses.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from garra.arguments import numbers, real
from garra.grasp.set_options import OF_CONTACTS

STANDARD_GRAVITY = 9.81
PROTOCOLS = ("six_gravity_directions", "dexgraspbench", "acronym_shake")
SIX = np.concatenate([np.eye(3), -np.eye(3)])
BENCH_MASS, BENCH_FRICTION, BENCH_TORSION = 0.1, 0.6, 0.02  # of DexGraspBench [kg], [], [m]


def repeat(grasps: Any, cases: int) -> Any:
    """Every grasp as many times in a row, with `load_case`."""
    count = np.diff(grasps.first)
    rows = np.concatenate([np.arange(a, a + k) for a, k in zip(grasps.first, count, strict=False) for _ in range(cases)] or [[]])
    rows = rows.astype(np.int64)
    arrays = {}
    for name, array in grasps.arrays.items():
        if name in ("jacobian", "angular_jacobian"):
            arrays[name] = array.reshape(-1, 3, array.shape[-1])[rows].reshape(-1, array.shape[-1])
        elif name in OF_CONTACTS or name in ("mobility", "angular_mobility"):
            arrays[name] = array[rows]
        else:
            arrays[name] = np.repeat(array, cases, axis=0)
    arrays["load_case"] = np.tile(np.arange(cases, dtype=float), len(grasps))
    again = lambda names, at: None if names is None else [names[k] for k in at]  # noqa: E731
    out = type(grasps)(
        np.concatenate([[0], np.cumsum(np.repeat(count, cases))]).astype(np.int64),
        arrays,
        grasps.mesh,
        again(grasps.names, np.repeat(np.arange(len(grasps)), cases)),
        again(grasps.contact_names, rows),
        grasps.group_names,
    )
    if grasps.touch is not None:
        parts = {name: None if x is None else np.repeat(x, cases, axis=0) for name, x in vars(grasps.touch).items()}
        out.touch = type(grasps.touch)(**parts | {"load_case": arrays["load_case"]})
    return out


def with_loads(
    grasps: Any, gravity: Any, wrench: Any, acceleration: Any, angular_acceleration: Any, about: Any
) -> Any:
    """The set under load cases; arguments as in GraspSet.with_loads()."""
    if "load_case" in grasps.arrays:
        raise ValueError("the set has load cases already: give all of them at once")
    given = {"gravity": gravity, "wrench": wrench, "acceleration": acceleration, "angular_acceleration": angular_acceleration}
    parts, count = {}, len(grasps)
    for name, value in given.items():
        if value is None:
            continue
        array, width = numbers(name, value), 6 if name == "wrench" else 3
        if array.ndim not in (2, 3) or array.shape[-1] != width or (array.ndim == 3 and array.shape[1] != count):
            raise ValueError(f"{name} has the shape {array.shape}, not [k, {width}] or [k, {count}, {width}]")
        if not len(array) or not np.isfinite(array).all():
            raise ValueError(f"{name}: no load case, or a number that is not finite")
        parts[name] = array if array.ndim == 3 else np.repeat(array[:, None], count, axis=1)
    if not parts:
        raise ValueError("with_loads() needs gravity, wrench, acceleration or angular_acceleration")
    cases = {array.shape[0] for array in parts.values()}
    if len(cases) != 1:
        raise ValueError(f"load cases: {', '.join(f'{name} {array.shape[0]}' for name, array in parts.items())}")
    k = cases.pop()
    out = repeat(grasps, k)
    own = {
        "gravity": grasps.arrays.get("gravity", np.tile([0.0, 0.0, -STANDARD_GRAVITY], (count, 1))),
        "wrench": grasps.arrays.get("wrench", np.zeros((count, 6))),
    }
    field, load = (parts.get(name, np.repeat(own[name][None], k, axis=0)) for name in ("gravity", "wrench"))
    if "acceleration" in parts:
        field = field - parts["acceleration"]
    if "angular_acceleration" in parts:
        # Of a body that turns with the hand about a point, from rest: a = alpha x r, and a moment -I alpha.
        if "inertia" not in grasps.arrays:
            raise ValueError("angular_acceleration: the set has no inertia")
        alpha = parts["angular_acceleration"]
        r = grasps.arrays.get("com", np.zeros((count, 3))) - numbers("about", np.zeros(3) if about is None else about)
        field = field - np.cross(alpha, r)
        load = load.copy()
        load[..., 3:] -= np.einsum("gij,kgj->kgi", grasps.arrays["inertia"], alpha)
    out.arrays["gravity"] = np.ascontiguousarray(field.transpose(1, 0, 2).reshape(-1, 3))
    if load.any():
        out.arrays["wrench"] = np.ascontiguousarray(load.transpose(1, 0, 2).reshape(-1, 6))
    return out


def with_protocol(grasps: Any, name: str, acceleration: float, angular_acceleration: float) -> Any:
    """The set under the load cases of a published test; arguments as in GraspSet.with_protocol()."""
    if name not in PROTOCOLS:
        raise ValueError(f"protocol {name!r}: known are {', '.join(PROTOCOLS)}")
    if "load_case" in grasps.arrays:
        raise ValueError("the set has load cases already: take the protocol of the set without them")
    if name == "six_gravity_directions":
        return grasps.with_loads(gravity=STANDARD_GRAVITY * SIX)
    if name == "dexgraspbench":
        return _bench(grasps).with_loads(gravity=np.zeros((6, 3)), wrench=np.pad(BENCH_MASS * STANDARD_GRAVITY * SIX, ((0, 0), (0, 3))))
    if grasps.touch is None:
        raise ValueError("acronym_shake: the set has no hand poses: it is for sets of from_poses()")
    linear, angular = real("acceleration", acceleration, 0), real("angular_acceleration", angular_acceleration, 0)
    if not (linear or angular):
        raise ValueError("acronym_shake: give acceleration and angular_acceleration, which the data set does not say")
    hand = grasps.touch.hand
    none = np.zeros((2, len(grasps), 3))
    x, z = (np.stack([hand[:, :3, k], -hand[:, :3, k]]) for k in (0, 2))
    return grasps.with_loads(
        gravity=np.zeros((4, 3)),
        acceleration=np.concatenate([linear * z, none]),
        angular_acceleration=np.concatenate([none, angular * x]),
        about=hand[:, :3, 3],
    )


def _bench(grasps: Any) -> Any:
    """The set with mass and friction of DexGraspBench."""
    out = repeat(grasps, 1)
    del out.arrays["load_case"]
    mass = out.arrays["mass"]
    if "inertia" in out.arrays:
        out.arrays["inertia"] = out.arrays["inertia"] * (BENCH_MASS / mass)[:, None, None]
    out.arrays["mass"] = np.full_like(mass, BENCH_MASS)
    out.arrays["friction"] = np.full_like(out.arrays["friction"], BENCH_FRICTION)
    if "torsion_radius" in out.arrays:
        out.arrays["torsion_radius"] = np.full_like(out.arrays["torsion_radius"], BENCH_TORSION / BENCH_FRICTION)
    return out
