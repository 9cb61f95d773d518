"""What would raise P(held) of a grasp most: one change at a time, on the same draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from garra import _core
from garra.grasp.hand_poses import FLAT
from garra.grasp.set_options import OF_CONTACTS

PLACES = 32  # of one more finger that are tried
FINGER_MASS = 0.05  # of one more finger of a whole hand [kg]


@dataclass(frozen=True)
class WhatHelps:
    """Changes of a grasp, the most helpful first; of several ways to do the same, the best."""

    grasp: str
    change: list[str]
    p_held: np.ndarray
    """[n] with the change"""
    low: np.ndarray
    """[n] 95 % interval"""
    high: np.ndarray
    before: float
    """P(held) as it is"""

    def __repr__(self) -> str:
        lines = [f"{self.grasp}: P(held) = {self.before:.4f}", f"{'change':44s} P(held)   95 % interval      difference"]
        for name, p, low, high in zip(self.change, self.p_held, self.low, self.high, strict=True):
            lines.append(f"{name[:44]:44s} {p:.4f}    [{low:.4f}, {high:.4f}]   {p - self.before:+.4f}")
        return "\n".join(lines)


def what_helps(ranking: Any, one: Any, grasp: int, share: float, move: float, ranked: Any) -> WhatHelps:
    """`ranked(set, uncertain)` ranks a set."""
    uncertain, cases = ranking.uncertain, rows_of_cases(one, grasp)
    as_is = [grasp_arrays(one, row)[0] for row in cases]
    before = float(ranked(_joined_set([as_is]), uncertain).p_held[0])
    found = {}
    # Of each change the arrays under each load case.
    changes = [list(each) for each in zip(*(_changes(one, row, share, move) for row in cases), strict=True)]
    if changes:
        sets = [[old | changed for old, (_, _, changed) in zip(as_is, each, strict=True)] for each in changes]
        result = ranked(_joined_set(sets), uncertain)
        for k, ((kind, name, _), *_) in enumerate(changes):
            p, low, high = (float(x[k * len(cases)]) for x in (result.p_held, result.low, result.high))
            if np.isfinite(p) and (kind not in found or p > found[kind][1]):
                found[kind] = name, p, low, high
    rough = [_rougher(arrays, uncertain, share) for arrays in as_is]
    rougher = ranked(_joined_set([rough]), uncertain | _rougher_draws(uncertain, share))
    found["friction"] = f"friction x {1 + share:g}", *(float(x[0]) for x in (rougher.p_held, rougher.low, rougher.high))
    order = sorted(found.values(), key=lambda row: -row[1])
    columns = (np.array([row[k] for row in order]) for k in (1, 2, 3))
    return WhatHelps(ranking.name(cases[0]), [row[0] for row in order], *columns, before)


def rows_of_cases(of: Any, grasp: int) -> range:
    """Rows of a grasp of a set: one, or one for each of its load cases."""
    case = of.arrays.get("load_case", np.zeros(1))
    cases = int(case.max()) + 1
    return range(grasp - grasp % cases, grasp - grasp % cases + cases)


def _changes(one: Any, row: int, share: float, move: float) -> list[tuple[str, str, dict[str, np.ndarray]]]:
    """Changes of one row: kind, name, arrays."""
    arrays, rows = grasp_arrays(one, row)
    changes: list[tuple[str, str, dict[str, np.ndarray]]] = []
    if command := stronger(arrays, share):
        changes.append(("grip force", f"grip force x {1 + share:g}", command))
    if "force_limit" in arrays:
        limit = {"force_limit": (1 + share) * arrays["force_limit"]}
        changes.append(("force limits", f"force limits x {1 + share:g}", limit))
    surface = None if one.mesh is None else _surface(one.mesh)
    links = _links(one, rows)
    # The levers of several joints change with the place of a contact; those of a jaw do not.
    if "jacobian" not in arrays or arrays["mass_matrix"].shape[-1] == 1:
        changes += _moved(links, arrays, move, surface)
    return changes if surface is None else changes + _fingers(links, arrays, surface)


def stronger(arrays: dict[str, np.ndarray], share: float) -> dict[str, np.ndarray]:
    """The command with larger forces; the part of the torques that carries the hand itself stays."""
    out = {part: (1 + share) * arrays[part] for part in ("force", "torsion") if part in arrays}
    if "torque" in arrays:
        own = arrays.get("bias", 0.0)
        out["torque"] = own + (1 + share) * (arrays["torque"] - own)
    return out


def grasp_arrays(of: Any, grasp: int) -> tuple[dict[str, np.ndarray], slice]:
    """Arrays of one grasp by name, and its rows."""
    begin, end = int(of.first[grasp]), int(of.first[grasp + 1])
    rows = {**dict.fromkeys(OF_CONTACTS, 1), "mobility": 1, "angular_mobility": 1, "jacobian": 3, "angular_jacobian": 3}
    arrays = {
        name: array[rows[name] * begin : rows[name] * end] if name in rows else array[grasp : grasp + 1]
        for name, array in of.arrays.items()
        if name != "load_case"
    }
    return arrays, slice(begin, end)


def _rougher(arrays: dict[str, np.ndarray], uncertain: dict[str, Any], share: float) -> dict[str, np.ndarray]:
    """With more friction, where the study draws a factor on the set's."""
    return arrays | {"friction": (1 + share) * arrays["friction"]} if uncertain["friction_is_factor"] else arrays


def _rougher_draws(uncertain: dict[str, Any], share: float) -> dict[str, Any]:
    """With more friction, where the study draws the coefficient itself: all numbers of its distribution grow."""
    if uncertain["friction_is_factor"]:
        return {}
    name = "friction" if uncertain["friction"][0] != "constant" else "per_contact_friction_factor"
    kind, *numbers = uncertain[name]
    return {name: (kind, *((1 + share) * x for x in numbers))}


def _joined_set(grasps: list[list[dict[str, np.ndarray]]]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """first and arrays of grasps under load cases; a joint that a grasp lacks stands still."""
    sets = [arrays | {"load_case": np.array([float(k)])} for cases in grasps for k, arrays in enumerate(cases)]
    joints = max((arrays["mass_matrix"].shape[-1] for arrays in sets if "mass_matrix" in arrays), default=0)
    padded = [_with_joints(arrays, joints) if joints else arrays for arrays in sets]
    first = np.cumsum([0, *(len(arrays["point"]) for arrays in padded)]).astype(np.int64)
    return first, {name: np.ascontiguousarray(np.concatenate([arrays[name] for arrays in padded])) for name in padded[0]}


def _with_joints(arrays: dict[str, np.ndarray], joints: int) -> dict[str, np.ndarray]:
    more = joints - arrays["mass_matrix"].shape[-1]
    out = dict(arrays)
    for name in ("jacobian", "angular_jacobian", "torque", "bias"):
        if name in out:
            out[name] = np.pad(out[name], ((0, 0), (0, more)))
    if "torque_limit" in out:
        out["torque_limit"] = np.pad(out["torque_limit"], ((0, 0), (0, more)), constant_values=np.inf)
    M = np.pad(out["mass_matrix"], ((0, 0), (0, more), (0, more)))
    M[:, range(joints - more, joints), range(joints - more, joints)] = 1
    return out | {"mass_matrix": M}


def _surface(mesh: tuple[np.ndarray, np.ndarray]) -> Any:
    vertices, faces = (np.ascontiguousarray(part) for part in mesh)
    return _core.MeshObject("mesh", vertices.astype(np.float64), faces.astype(np.int32), 1.0)


def _links(one: Any, rows: slice) -> dict[str, list[int]]:
    """Contacts that move together, by the name of their link: those of one name, or of one pad of a jaw."""
    count = rows.stop - rows.start
    if one.contact_names is not None:
        names = one.contact_names[rows]
    elif one.touch is not None and count % 2 == 0:
        names = ["pad at +x"] * (count // 2) + ["pad at -x"] * (count // 2)
    else:
        names = [f"contact {j}" for j in range(count)]
    out: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        out.setdefault(name or f"contact {j}", []).append(j)
    return out


def _moved(
    links: dict[str, list[int]], arrays: dict[str, np.ndarray], move: float, surface: Any
) -> list[tuple[str, str, dict[str, np.ndarray]]]:
    """Contacts of a link moved along the surface, in four directions."""
    out = []
    for name, which in links.items():
        n = arrays["normal"][which].sum(0)
        n = n / max(np.linalg.norm(n), 1e-300)
        t = arrays["tangent"][which[0]] if "tangent" in arrays else np.eye(3)[np.abs(n).argmin()]
        t = t - (t @ n) * n
        t /= max(np.linalg.norm(t), 1e-300)
        for along, label in ((t, "t"), (np.cross(n, t), "o")):
            for sign in (1, -1):
                point, normal = arrays["point"].copy(), arrays["normal"].copy()
                point[which] += sign * move * along
                if surface is not None:
                    found = surface.distances(np.ascontiguousarray(point[which]), 1.0, 1)
                    mean = -found["normal"].mean(0)
                    if np.linalg.norm(mean) > FLAT:
                        point[which], normal[which] = found["point"], mean / np.linalg.norm(mean)
                    else:  # a flat pad on a curved surface keeps its plane and its normal
                        center = point[which].mean(0)
                        point[which] += surface.distances(np.ascontiguousarray(center[None]), 1.0, 1)["point"][0] - center
                words = f"{name} moved by {1000 * move:g} mm along {'-' if sign < 0 else ''}{label}"
                out.append((f"move {name}", words, {"point": point, "normal": normal}))
    return out


def _mean_force(links: dict[str, list[int]], arrays: dict[str, np.ndarray]) -> float:
    """Mean normal force of a link or pad of a whole hand, where normal forces alone balance its torques best."""
    joints = arrays["jacobian"].reshape(-1, 3, arrays["jacobian"].shape[-1])
    normal = arrays["normal"] / np.linalg.norm(arrays["normal"], axis=1, keepdims=True)
    torque = arrays["torque"][0] - (arrays["bias"][0] if "bias" in arrays else 0)
    force = np.linalg.lstsq(np.einsum("kcj,kc->jk", joints, normal), torque, rcond=None)[0]
    return float(np.mean([max(force[which].sum(), 0.0) for which in links.values()]))


def _fingers(
    links: dict[str, list[int]], arrays: dict[str, np.ndarray], surface: Any
) -> list[tuple[str, str, dict[str, np.ndarray]]]:
    """One more contact at places of the surface: of an ideal hand, or pressed by one more joint of a whole hand."""
    if "mobility" in arrays or "torque_limit" in arrays:
        return []
    drawn, out = surface.points(PLACES, 1), []
    force = _mean_force(links, arrays) if "torque" in arrays and "jacobian" in arrays else 0.0
    for point, outward in zip(drawn["point"], drawn["normal"], strict=True):
        changed = {"point": np.vstack([arrays["point"], point]), "normal": np.vstack([arrays["normal"], -outward])}
        for name in ("friction", "force_limit", "torsion_radius", "torsion"):
            if name in arrays:
                changed[name] = np.append(arrays[name], arrays[name].mean())
        if "pad" in arrays:
            changed["pad"] = np.append(arrays["pad"], arrays["pad"].max() + 1)
        for name in ("tangent", "curvature", "force", "drift"):
            if name in arrays:
                extra = np.zeros(arrays[name].shape[1])
                if name == "tangent":
                    extra = np.eye(3)[np.abs(outward).argmin()]
                if name == "force":
                    extra[0] = arrays[name][:, 0].mean()
                changed[name] = np.vstack([arrays[name], extra])
        if "jacobian" in arrays:
            joints = arrays["mass_matrix"].shape[-1]
            wide = _with_joints(arrays, joints + 1)
            wide["mass_matrix"][0, joints, joints] = FINGER_MASS
            own = np.zeros((3, joints + 1))
            own[:, joints] = -outward
            changed |= {name: wide[name] for name in ("mass_matrix", "torque", "bias") if name in wide}
            changed["jacobian"] = np.vstack([wide["jacobian"], own])
            if "angular_jacobian" in wide:
                changed["angular_jacobian"] = np.vstack([wide["angular_jacobian"], np.zeros_like(own)])
            if "torque" in changed:
                changed["torque"] = changed["torque"].copy()
                changed["torque"][0, joints] = force
        words = ", ".join(f"{1000 * x:.0f}" for x in point)
        out.append(("finger", f"one more finger at ({words}) mm", changed))
    return out

