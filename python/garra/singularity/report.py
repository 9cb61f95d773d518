"""The page of a singularity map: how often an arm is near a singularity, which joints are dependent, which leave it.

`python -m garra.report RUN` calls this for runs whose job is "singularity".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from garra.page import outcomes, study_parts, words
from garra.page.colors import ramp
from garra.page.html import study_page
from garra.page.run_folder import QUANTILES, Run
from garra.page.study_parts import axis
from garra.singularity import data, figures
from garra.singularity import folder as singularity_folder
from garra.singularity import words as text
from garra.singularity.folder import Slice, Voxels
from garra.singularity.page import configuration

MOST_SETS = 12  # bars; the rest is in the table
MOST_ROWS = 40  # rows of the table of subsets

Table = dict[str, Any]

KINDS = {
    "random": "{n} at random",
    "even": "{n}, evenly spread",
    "grid": "{n} on a grid",
    "mixed": "{n}, some joints on a grid, others at random",
    "task": "{n} of inverse kinematics, for tool positions on a grid",
}


def build(run: Run) -> str:
    """The report as HTML; raises RunError where a file of the map is missing or damaged."""
    summary = run.summary
    voxels, slices = singularity_folder.read_map(run.folder, summary)
    rows = singularity_folder.read_rows(run.folder, summary)
    found = singularity_folder.read_configurations(run.folder, summary)
    drawn = _drawn(summary, voxels, slices, rows)
    return study_page(
        "singularity/report.html",
        run,
        facts=_facts(summary),
        headline=_headline(summary),
        outcomes=_outcomes(summary),
        dependent=_dependent(summary, drawn["hues"]),
        histograms=_histograms(summary),
        distance=_distance(summary),
        quantiles=_quantiles(summary),
        quantile_heads=["quantile", *(f"{100 * float(q):g}{words.NARROW}%" for q in QUANTILES)],
        drawn=drawn,
        configurations=[configuration(entry, summary["robot"]["name"], f"c{i}") for i, entry in enumerate(found)],
        ranges=_ranges(summary),
        text=text,
        ramp=ramp(),
        styles=["page/field.css"],
        scripts=["singularity/scene.js", "singularity/map.js"],
        data={"map": drawn.pop("data")},
    )


# --- the answer


def _headline(summary: Table) -> Table:
    p, robot, nearest = summary["p_near"], summary["robot"], summary["nearest"]
    known = None not in (p["probability"], p["low"], p["high"])
    decided = summary["samples"] - outcomes.undecided(summary)
    reached = f"the {words.count(decided)} reached configurations"
    return study_parts.headline(
        summary,
        p if known else dict.fromkeys(p),
        decided=decided,
        whole=reached if summary["outcomes"]["unreached"] else "configurations",
        worst=summary["worst"][0]["inverse_condition"] if summary["worst"] else None,
        dependent=_first(nearest["dependent_joints"]) if nearest else None,
        subset=_subset(nearest) if nearest else None,
        redundant=robot["joints"] > robot["generic_rank"],
        escape=_leader(nearest) if nearest else None,
        distance=text.angle(nearest["distance"]["quantiles"]["0.5"]) if nearest else words.MISSING,
    )


def _facts(summary: Table) -> list[str]:
    robot, kind = summary["robot"], summary["sampling"]["kind"]
    noun = "search start" if kind == "task" else "configuration"
    return [
        f"{robot['name']}, {words.plural(robot['joints'], 'joint')}, generic rank {robot['generic_rank']}",
        KINDS.get(kind, "{n}").format(n=words.plural(summary["samples"], noun)),
        f"near: condition at least {words.number(1 / summary['near'])}",
    ]


def _first(rows: Sequence[Table]) -> Table | None:
    return rows[0] if rows and rows[0]["count"] else None


def _subset(nearest: Table) -> Table | None:
    """The most frequent minimal subset, where it says more than the most frequent set of responsible joints."""
    dependent, subset = _first(nearest["dependent_joints"]), max(nearest["subsets"], key=lambda row: row["count"], default=None)
    if not dependent or not subset or set(subset["joints"]) == set(dependent["joints"]):
        return None
    return subset | {"share": min(subset["count"] / nearest["converged"], 1.0)}


def _leader(nearest: Table) -> Table | None:
    """The joint that is most often the best way out."""
    rows = [row | {"count": row["order_1"] + row["order_2"]} for row in nearest["escape"]]
    best = max(rows, key=lambda row: row["count"], default=None)
    return best | {"share": best["count"] / nearest["converged"]} if best and best["count"] else None


def _outcomes(summary: Table) -> Table:
    limits = {"near": words.number(summary["near"]), "tolerance": words.number(summary["tolerance"])}
    return outcomes.bar(summary, **limits)


# --- dependent joints and escape joints


def _dependent(summary: Table, hues: dict[int, str]) -> Table | None:
    nearest, joints, names = summary["nearest"], summary["robot"]["joints"], summary["robot"]["names"]
    if not nearest or not nearest["converged"]:
        return None
    converged, sets = nearest["converged"], nearest["dependent_joints"]
    rows = [
        row
        | {
            "hue": hues.get(text.bits_of(row["joints"]), text.OTHER),
            "p": study_parts.interval(row | {"probability": row["share"]}),
        }
        for row in sets
    ]
    called = [" · ".join(filter(None, (str(k), text.own_name(k, names)))) for k in range(joints)]
    escape = {row["joint"]: row for row in nearest["escape"]}
    subsets = sorted(nearest["subsets"], key=lambda row: -row["count"])
    several = (f"{words.count(n)} have {k}" for k, n in enumerate(nearest["subsets_per_configuration"]) if n)
    freedoms = (f"{row['lost']}: {words.count(row['count'])}" for row in nearest["lost_freedoms"] if row["count"])
    return {
        "rows": rows[:MOST_SETS],
        "left_out": len(rows[MOST_SETS:]),
        "left_share": words.share(sum(row["count"] for row in rows[MOST_SETS:]), converged),
        "part": [(name, sum(row["count"] for row in sets if k in row["joints"])) for k, name in enumerate(called)],
        "escape": [(name, escape.get(k, {"order_1": 0, "order_2": 0})) for k, name in enumerate(called)],
        "order_2": any(row["order_2"] for row in escape.values()),
        "subsets": subsets[:MOST_ROWS],
        "more_subsets": len(subsets) - MOST_ROWS,
        "share": lambda n: words.share(n, converged),
        "freedoms": ", ".join(freedoms),
        "several": ", ".join(several),
    }


# --- pictures


# table, label of an older garra, title, sentence
HISTOGRAMS = (
    ("log_sigma", "smallest singular value", "Smallest singular value", "σ_min of the scaled screws."),
    ("log_condition", "condition number", "Condition number",
     "Largest over smallest singular value. Shaded: near a singularity."),
    ("manipulability", "manipulability", "Manipulability",
     "Product of the singular values; it depends on the unit of length."),
)  # fmt: skip


def _histograms(summary: Table) -> list[tuple[str, str, str, Table]]:
    """Rows of title, sentence, picture and table."""
    rows = []
    for key, otherwise, title, note in HISTOGRAMS:
        table = summary["histograms"][key]
        near = -math.log10(summary["near"]) if key == "log_condition" else None
        label = axis(table, otherwise)
        log = key.startswith("log_")
        picture = figures.log_histogram(key, table, label, near) if log else figures.plain_histogram(key, table, label)
        rows.append((title, note, picture, table))
    return rows


def _distance(summary: Table) -> str:
    nearest = summary["nearest"]
    if not nearest or all(summary["robot"]["prismatic"]):
        return ""
    label = f"{axis(nearest['distance'], 'distance to the singularity')} [°]"
    return figures.plain_histogram("distance", nearest["distance"], label, 180 / math.pi)


def _quantiles(summary: Table) -> list[list[str]]:
    tables, manipulability = summary["quantiles"], summary["histograms"]["manipulability"]["quantiles"]
    rows = [
        ("smallest singular value", tables["sigma_min"], words.number),
        ("condition number", tables["condition"], words.number),
        ("manipulability", manipulability, words.number),
    ]
    if summary["nearest"]:
        rows.append(("distance to the singularity, near ones", summary["nearest"]["distance"]["quantiles"], text.angle))
    return [[name, *(show(table[q]) for q in QUANTILES)] for name, table, show in rows]


def _drawn(summary: Table, voxels: Voxels | None, slices: list[Slice], rows: Any) -> Table:
    """Everything that is drawn from map.h5 and results.h5, as figures and as data for the page's scripts."""
    nearest = summary["nearest"]
    drawn = [part.locus_dependent_joints for part in slices] + ([rows.dependent_joints] if rows else [])
    met = sorted({int(bits) for sets in drawn for bits in sets} - {0})
    hues, names = data.hues(nearest, met), data.set_names(nearest, met)
    seen = int((voxels.count > 0).sum()) if voxels else 0
    cloud = voxels if voxels and 0 < seen <= data.MOST_VOXELS else None
    shown = _slices(summary, slices, hues)
    return {
        "hues": hues,
        "names": names,
        "measures": data.choices(rows) if cloud else [],
        "rows": rows,
        "seen": seen,
        "side": voxels.side if voxels else 0.0,
        "sections": _sections(voxels) if seen else None,
        "slices": shown,
        "data": {
            "ramp": ramp(),
            "joints": summary["robot"]["joints"],
            "near": summary["near"],
            "cloud": data.cloud(voxels, rows, hues, names) if cloud else None,
            "slices": data.slices(slices, [row["axes"] for row in shown["rows"]]) if shown else [],
        },
    }


def _sections(voxels: Voxels) -> Table:
    scale = figures.choose_scale(voxels.sigma_p50)
    n = voxels.count.shape[::-1]
    thick = [axis for axis in (1, 0, 2) if min(n[:axis] + n[axis + 1 :]) > 1] or [2]
    parts = [figures.section(voxels, axis, voxels.sigma_p50, scale) for axis in thick]
    rows = [
        (f"{'xyz'[axis]} = {words.number(1e3 * at)}{words.NARROW}mm", figure)
        for axis, (figure, at) in zip(thick, parts, strict=True)
    ]
    return {"rows": rows, "ticks": scale.ticks()}


def _slices(summary: Table, slices: list[Slice], hues: dict[int, str]) -> Table | None:
    if not slices:
        return None
    names, prismatic = summary["robot"]["names"], summary["robot"]["prismatic"]
    scale = figures.choose_scale(np.concatenate([part.sigma_min.ravel() for part in slices]))
    rows = []
    for i, part in enumerate(slices):
        pairs = zip(part.joints, (part.x, part.y), strict=True)
        axes = [figures.axis_of(k, text.own_name(k, names), prismatic[k], values) for k, values in pairs]
        fixed = [
            f"q[{k}] = {text.position(q, prismatic[k])}"
            for k, q in enumerate(part.q.tolist())
            if k not in part.joints
        ]
        rows.append(
            {
                "axes": axes,
                "joints": part.joints,
                "fixed": ", ".join(fixed),
                "figure": figures.slice_map(f"slice{i}", part, scale, axes, {0: hues[0]} | hues),
                "sets": _locus(part, hues),
                "smallest": float(np.nanmin(part.sigma_min)) if np.isfinite(part.sigma_min).any() else None,
            }
        )
    return {"rows": rows, "ticks": scale.ticks()}


def _locus(part: Slice, hues: dict[int, str]) -> list[Table]:
    """Per set of responsible joints how many singular points a slice holds, and their escape joints."""
    rows = []
    for bits in [bits for bits in hues if bits in set(part.locus_dependent_joints.tolist())]:
        here = part.locus_escape[part.locus_dependent_joints == bits].tolist()
        ways = [
            (f"joint {k}" if k >= 0 else "none alone", words.share(here.count(k), len(here)))
            for k in sorted(set(here), key=lambda k: -here.count(k))
        ]
        rows.append(
            {
                "name": text.joint_set(text.members(bits)) if bits else "none",
                "hue": hues[bits],
                "count": len(here),
                "escape": ways[0][0] if len(ways) == 1 else ", ".join(f"{way} {share}" for way, share in ways),
            }
        )
    return rows


# --- what was sampled


def _ranges(summary: Table) -> list[list[Any]]:
    robot, rows = summary["robot"], []
    for entry in summary["sampling"]["ranges"]:
        k = entry["joint"]
        low, high = (text.position(entry[key], robot["prismatic"][k]) for key in ("low", "high"))
        values = low if entry["kind"] == "fixed" or low == high else f"{low} to {high}"
        if entry["kind"] == "grid":
            values += f", {words.plural(entry.get('points', 1), 'point')}"
        rows.append([k, robot["names"][k], entry["kind"], values])
    return rows
