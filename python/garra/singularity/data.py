"""Data of the page's scripts: voxels, near samples and slices as packed arrays (little endian, base64) in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from garra.page.packed import packed
from garra.singularity import figures
from garra.singularity.folder import Rows, Slice, Voxels
from garra.singularity.words import HUES, OTHER, bits_of, joint_set, members

MOST_VOXELS = 160_000  # occupied ones; with more the page has no cloud
MOST_POINTS = 12_000
MOST_HOVER = 6  # slices whose numbers travel with the page
PER_DECADE = 2000  # steps of a number's logarithm
NONE = -32768  # in place of a logarithm that does not exist

Table = dict[str, Any]


def logarithms(values: np.ndarray) -> str:
    """int16: 2000 log10, within what that can hold; NONE for what is not positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.round(np.log10(values) * PER_DECADE).clip(-32_000, 32_000)
    return packed(np.where(np.isfinite(values) & (values > 0), np.nan_to_num(steps), NONE), "<i2")


def hues(nearest: Table | None, met: Sequence[int]) -> dict[int, str]:
    """Colors of sets of responsible joints, the most frequent first; 0 stands for all others."""
    order = [bits_of(row["joints"]) for row in nearest["dependent_joints"]] if nearest else []
    order += sorted(set(met) - set(order))
    return {0: OTHER} | {bits: HUES[i] if i < len(HUES) else OTHER for i, bits in enumerate(order)}


def scales(voxels: Voxels) -> dict[str, figures.Scale]:
    """Of the quantities in whose colors cubes are drawn."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = voxels.near / np.where(voxels.count > 0, voxels.count, np.nan)
    columns = {"p50": voxels.sigma_p50, "min": voxels.sigma_min, "max": voxels.sigma_max}
    return {key: figures.choose_scale(column) for key, column in columns.items()} | {"near": figures.share_scale(share)}


def choices(rows: Rows | None) -> list[tuple[str, str]]:
    """Keys and labels of these quantities, and of the near samples."""
    names = {"p50": "median", "min": "smallest", "max": "largest"}
    return [
        *((key, f"{name} of σ_min") for key, name in names.items()),
        ("near", "share of near configurations"),
        *([("sets", "dependent joints, near configurations")] if rows else []),
    ]


def cloud(voxels: Voxels, rows: Rows | None, colors: dict[int, str], names: dict[int, str]) -> Table:
    """The voxels that hold samples, and near samples evenly chosen from the kept rows."""
    filled = np.flatnonzero(voxels.count.ravel() > 0)
    return {
        "low": voxels.low.tolist(),
        "side": voxels.side,
        "n": list(voxels.count.shape[::-1]),
        "index": packed(filled, "<u4"),
        "count": packed(voxels.count.ravel()[filled], "<u4"),
        "near": packed(voxels.near.ravel()[filled], "<u4"),
        **{key: logarithms(getattr(voxels, f"sigma_{key}").ravel()[filled]) for key in ("min", "p10", "p50", "max")},
        "scales": {
            key: {"low": scale.low, "high": scale.high, "ticks": scale.ticks()} for key, scale in scales(voxels).items()
        },
        "points": points(rows, colors, names) if rows else None,
    }


def points(rows: Rows, colors: dict[int, str], names: dict[int, str]) -> Table:
    step = max(1, -(-len(rows.sample) // MOST_POINTS))
    chosen = slice(None, None, step)
    met, place, counts = np.unique(rows.dependent_joints[chosen], return_inverse=True, return_counts=True)
    order = sorted(range(len(met)), key=lambda i: list(colors).index(int(met[i])) if int(met[i]) in colors else 999)
    rank = np.empty(len(order), dtype=int)
    rank[order] = np.arange(len(order))
    return {
        "tool": packed(rows.tool[chosen].ravel(), "<f4"),
        "set": packed(rank[place.ravel()], "<u2"),
        "sample": packed(rows.sample[chosen], "<f8"),
        "ratio": logarithms(rows.inverse_condition[chosen]),
        "distance": packed(np.degrees(rows.distance[chosen]), "<f4"),
        "escape": packed(rows.escape_joint[chosen], "i1"),
        "sets": [
            {
                "name": names.get(int(met[i]), f"{int(met[i])}"),
                "color": colors.get(int(met[i]), OTHER),
                "count": int(counts[i]),
            }
            for i in order
        ],  # fmt: skip
        "kept": len(rows.sample),
    }


def slices(parts: Sequence[Slice], axes: Sequence[Sequence[Table]]) -> list[Table]:
    return [
        {
            "x": (part.x * axis[0]["factor"]).tolist(),
            "y": (part.y * axis[1]["factor"]).tolist(),
            "units": [axis[0]["unit"], axis[1]["unit"]],
            "joints": list(part.joints),
            "sigma": logarithms(part.sigma_min.ravel()),
            "ratio": logarithms(part.inverse_condition.ravel()),
            "w": logarithms(part.manipulability.ravel()),
        }
        for part, axis in list(zip(parts, axes, strict=True))[:MOST_HOVER]
    ]


def set_names(nearest: Table | None, met: Sequence[int]) -> dict[int, str]:
    """Sets of responsible joints by their bits."""
    known = {bits_of(row["joints"]) for row in nearest["dependent_joints"]} if nearest else set()
    return {bits: joint_set(members(bits)) for bits in known | set(met)}
