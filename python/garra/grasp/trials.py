"""Trials of a ranking: its grasps with outcomes, the draws of one pose pooled, and simple scores beside P(held)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from garra.grasp.outcomes import Comparison, compare
from garra.grasp.ranking_file import Found
from garra.page.run_folder import DamagedFile

COLLISION = "collision"
MOST_HULLS = 2000  # poses whose epsilon is computed
EDGES = 8  # of a friction cone, for epsilon


def p_of_poses(
    pose: np.ndarray, p_held: np.ndarray, samples: np.ndarray, counted: np.ndarray | None = None
) -> np.ndarray:
    """P(held) of each pose over its draws: (h + 1/2) / (n + 1) with h of n samples held. A draw without P(held) counts
    as samples that failed; draws that are not `counted` are left out, unless they are all draws of the pose."""
    weight = np.ones(len(pose)) if counted is None else counted.astype(float)
    weight[np.bincount(pose, weight)[pose] == 0] = 1
    each = float(samples.max(initial=1)) * weight
    held = np.bincount(pose, np.where(np.isfinite(p_held), p_held, 0) * each)
    return (held + 0.5) / (np.bincount(pose, each) + 1)


@dataclass(frozen=True)
class Trials:
    """Poses with an outcome."""

    p: np.ndarray
    """[P] P(held)"""
    held: np.ndarray
    """[P] 1, 0"""
    group: np.ndarray
    """[P] names of objects"""
    answered: np.ndarray
    """[P] whether any draw was ranked"""
    required_friction: np.ndarray
    """[P] mean over the draws of the medians"""
    baselines: dict[str, np.ndarray]
    """[P] each"""


def has_outcomes(found: Found) -> bool:
    return found.grasps is not None and bool(np.isfinite(found.grasps.arrays.get("outcome", np.zeros(0))).any())


def find_trials(found: Found, name: str = "", *, arrived: bool = False, baselines: bool = True) -> Trials:
    """Trials of a ranking; `name` of its object where the set has no groups. Raises DamagedFile without outcomes."""
    if not has_outcomes(found):
        raise DamagedFile(f"{found.file or 'the set'}: no outcomes: {found.without or 'the set has no `outcome` [g]'}")
    grasps = found.grasps
    arrays, columns = grasps.arrays, found.columns
    count = len(columns["rank"])
    _, first, pose = np.unique(arrays.get("pose_number", np.arange(count)), return_index=True, return_inverse=True)
    counted = (arrays.get("load_case", np.zeros(count)) == 0).astype(float)
    if arrived:
        names, status = grasps.touch_names, grasps.touch.get("status")
        if status is None or COLLISION not in names:
            raise DamagedFile(f"{found.file or 'the set'}: no `touch_status`: which draws collided is not known")
        counted *= status != names.index(COLLISION)
    number = arrays.get("group")
    if number is None:
        group = np.full(len(first), name or "object")
    else:
        texts = dict(enumerate(grasps.group_names or ()))
        group = np.array([texts.get(int(k), f"{name}:{k:g}" if name else f"{k:g}") for k in number[first]])
    ranked = columns["rank"] > 0
    needed = np.where(ranked, columns["required_friction"][:, 1], np.nan)
    scores = simple_scores(grasps.first, arrays, first, pose) if baselines else {}
    held = arrays["outcome"][first]
    if (bad := ~np.isin(held, (0, 1)) & ~np.isnan(held)).any():
        raise DamagedFile(f"{found.file or 'the set'}: outcome {held[bad][0]:g}: 1 held, 0 not, NaN not known")
    known = np.isfinite(held)
    return Trials(
        p_of_poses(pose, columns["p_held"], columns["samples"], counted)[known],
        held[known],
        group[known],
        (np.bincount(pose, ranked) > 0)[known],
        _mean_of_draws(needed, pose)[known],
        {key: values[known] for key, values in scores.items() if np.isfinite(values[known]).any()},
    )


def joined(parts: Sequence[Trials]) -> Trials:
    """Trials of several rankings; scores that not all of them have are left out."""
    names = set.intersection(*(set(part.baselines) for part in parts))
    return Trials(
        *(np.concatenate([getattr(part, key) for part in parts]) for key in
          ("p", "held", "group", "answered", "required_friction")),
        {key: np.concatenate([part.baselines[key] for part in parts]) for key in parts[0].baselines if key in names},
    )  # fmt: skip


def compare_trials(trials: Trials, **options: Any) -> Comparison:
    needed = trials.required_friction if np.isfinite(trials.required_friction).any() else None
    found = compare(
        trials.p, trials.held, trials.group, baselines=trials.baselines, required_friction=needed, **options
    )
    return replace(found, missing=int((~trials.answered).sum()))


# --- simple scores


def simple_scores(
    first: np.ndarray, arrays: dict[str, np.ndarray], of_pose: np.ndarray, pose: np.ndarray
) -> dict[str, np.ndarray]:
    """Scores of each pose, larger is better; NaN without two sides. `of_pose`: first grasp of each pose."""
    k = np.diff(first)
    with_contacts = np.flatnonzero(k > 0)
    out = {name: np.full(len(k), np.nan) for name in ("antipodal angle", "area of the contacts", "thinness")}
    if not len(with_contacts):
        return {}
    starts = first[:-1][with_contacts]
    points = arrays["point"]
    normals = arrays["normal"] / np.maximum(np.linalg.norm(arrays["normal"], axis=1, keepdims=True), 1e-300)

    def total(rows: np.ndarray) -> np.ndarray:
        return np.add.reduceat(rows, starts, axis=0)

    spread = total(np.einsum("mi,mj->mij", normals, normals))
    spread[~np.isfinite(spread).all(axis=(1, 2))] = 0
    axis = np.repeat(np.linalg.eigh(spread)[1][:, :, 2], k[with_contacts], axis=0)
    side = np.einsum("mi,mi->m", normals, axis) > 0
    center, normal, area = [], [], np.zeros(len(starts))
    for at in (side, ~side):
        n = np.maximum(total(at.astype(float)), 1e-300)
        middle = total(points * at[:, None]) / n[:, None]
        mean = total(normals * at[:, None])
        mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-300)
        off = (points - np.repeat(middle, k[with_contacts], axis=0)) * at[:, None]
        moments = np.linalg.eigvalsh(np.nan_to_num(total(np.einsum("mi,mj->mij", off, off)) / n[:, None, None]))
        area += 4 * np.pi * np.sqrt(np.maximum(moments[:, 2] * moments[:, 1], 0))  # ellipse of these moments
        center.append(middle)
        normal.append(mean)
    line = center[1] - center[0]
    width = np.linalg.norm(line, axis=1)
    line /= np.maximum(width, 1e-300)[:, None]
    cosine = np.minimum(np.einsum("gi,gi->g", normal[0], line), -np.einsum("gi,gi->g", normal[1], line))
    two = (total(side.astype(float)) > 0) & (total((~side).astype(float)) > 0)
    for name, values in zip(out, (-np.arccos(np.clip(cosine, -1, 1)), area, -width), strict=True):
        out[name][with_contacts[two]] = values[two]
    scores = {name: _mean_of_draws(values, pose) for name, values in out.items()}
    with suppress(ImportError):  # SciPy is optional
        if len(of_pose) <= MOST_HULLS:
            scores["epsilon of qhull, first draw"] = epsilons(first, arrays, of_pose, pose)
    return scores


def _mean_of_draws(values: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Mean over the draws that have a value, infinite ones too; NaN without any."""
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.bincount(pose, np.where(there, values, 0)) / np.where(n := np.bincount(pose, there), n, np.nan)


def epsilons(first: np.ndarray, arrays: dict[str, np.ndarray], of_pose: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Radius of the largest ball about 0 in the convex hull of unit contact forces (Ferrari and Canny, ICRA 1992), of the
    first draw of each pose that has contacts. Moments are about com over the largest distance of a contact from it."""
    from scipy.spatial import ConvexHull, QhullError

    out = np.full(len(of_pose), np.nan)
    com = arrays.get("com", np.zeros((len(first) - 1, 3)))
    arm = arrays["point"] - np.repeat(com, np.diff(first), axis=0)
    length = max(float(np.nan_to_num(np.linalg.norm(arm, axis=1)).max(initial=0)), 1e-9)
    for g in range(len(first) - 1):
        rows, p = slice(first[g], first[g + 1]), pose[g]
        if rows.stop == rows.start or not np.isnan(out[p]):
            continue
        n = arrays["normal"][rows]
        n = n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-300)
        t = np.cross(n, np.eye(3)[np.abs(n).argmin(1)])
        t /= np.maximum(np.linalg.norm(t, axis=1, keepdims=True), 1e-300)
        turn = 2 * np.pi * np.arange(EDGES)[:, None, None] / EDGES
        mu = arrays["friction"][rows][:, None] if "friction" in arrays else 1.0
        force = n + mu * (np.cos(turn) * t + np.sin(turn) * np.cross(n, t))
        wrench = np.concatenate([force, np.cross(arm[rows], force) / length], axis=2).reshape(-1, 6)
        try:
            out[p] = max(-float(ConvexHull(wrench).equations[:, -1].max()), 0.0)
        except (QhullError, ValueError):  # flat, or not finite
            out[p] = 0.0
    return out
