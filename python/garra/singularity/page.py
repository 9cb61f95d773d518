"""The page of one configuration: its screws, singular subsets and ways out.

`python -m garra.singularity_page` writes it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from garra.page import words
from garra.page.html import page
from garra.page.run_folder import At, read_json
from garra.singularity import arm, figures
from garra.singularity import folder as singularity_folder
from garra.singularity import words as text

SCRIPTS = ["singularity/arm.js"]
TOLERANCE = 1e-10  # singular values up to this part of the largest are drawn as zero

Table = dict[str, Any]


def configuration(entry: Table, robot: str, name: str) -> Table:
    """A checked configuration as its template wants it; `name` makes the ids of its figures unique."""
    analysis = entry["analysis"]
    prismatic = [not any(abs(x) > 1e-12 for x in screw[:3]) for screw in entry["screws"]]
    dependent = analysis["dependent_joints"]
    positions = {
        key: [text.position(v, p) for v, p in zip(entry[key], prismatic, strict=True)] if entry[key] else None
        for key in ("q", "singular_q")
    }
    rows = [
        {
            "joint": k,
            "dependent": k in dependent,
            "kind": arm.kind(np.array(screw, dtype=float)),
            "direction": text.vector(screw[3:] if prismatic[k] else screw[:3]),
            "moment": words.MISSING if prismatic[k] else text.vector(screw[3:]),
            **{key: values[k] if values else None for key, values in positions.items()},
        }
        for k, screw in enumerate(entry["screws"])
    ]
    return entry | {
        "robot": robot,
        "name": name,
        "rows": rows,
        "moved": entry["q"] is not None and entry["singular_q"] is not None and entry["q"] != entry["singular_q"],
        "spectrum": figures.spectrum(f"{name}spectrum", analysis["singular_values"], TOLERANCE),
        "sigmas": ", ".join(map(words.number, analysis["singular_values"])),
        "title": _title(analysis),
        "verdict": _verdict(analysis),
        "wrenches": [text.vector(w, 4) for w in analysis["lost_wrenches"]],
        "escape": [
            [
                text.joint_set(way["joints"]),
                way["order"] or "higher",
                words.number(way["rate"], 4) if way["order"] else words.MISSING,
                text.sign_text(way["sign"]),
                words.number(way["sigma"], 4),
            ]
            for way in analysis["escape"]
        ],
        "subsets": [_subset(subset) for subset in analysis["sosm"]],
    }


def _verdict(a: Table) -> list[tuple[str, str] | tuple[()]]:
    lost = f", {words.plural(a['lost_freedoms'], 'freedom')} lost" if a["lost_freedoms"] else ""
    arm = "not singular: only sub-chains are" if a["subchain_singular"] else "not singular"
    wrenches = [text.wrench(w) for w in a["lost_wrenches"]]
    moved = a.get("recovery")
    return [
        ("rank", f"{a['rank']} of {a['generic_rank']}{lost}"),
        ("arm", "singular" if a["arm_singular"] else arm),
        ("dependent", text.joints_text(a["dependent_joints"])),
        *(("" if k else "cannot yield to", wrench) for k, wrench in enumerate(wrenches)),
        ("of these", f"{6 - a['generic_rank']} dimensions in every configuration: an arm of rank {a['generic_rank']}")
        if wrenches and a["generic_rank"] < 6 else (),
        ("self-motion", f"with the tool at rest: {text.self_motion(a['self_motion'])}") if a["arm_singular"] else (),
        ("clears all subsets", ", ".join(map(text.joint_set, a["clearing_sets"]))) if a["clearing_sets"] else (),
        ("carried out", f"rank {moved['rank']}, singular value {words.number(moved['sigma'])}, after moving "
         f"{text.vector(moved['motion'])}{words.NARROW}rad") if moved else (),
    ]  # fmt: skip


def _subset(subset: Table) -> list[str]:
    useful = [row["joint"] for row in subset.get("actuators", ()) if row["weighted_outside_span"]]
    actuators = (text.joint_set(useful) if useful else "none at first order") if "actuators" in subset else ""
    size = subset["last"] - subset["first"] + 1
    return [
        f"{subset['first']} to {subset['last']}", f"{subset['dim']} of {size}", text.joint_set(subset["ssm"]), actuators
    ]  # fmt: skip


def _title(analysis: Table) -> str:
    if analysis["arm_singular"]:
        lost = words.plural(analysis["lost_freedoms"], "freedom")
        return text.sentence(f"{text.joints_text(analysis['dependent_joints'])}: {lost} lost")
    return "Only sub-chains are singular" if analysis["subchain_singular"] else "Not singular"


def build(entry: Table, file: str) -> str:
    """The page as HTML; raises RunError where the entry is not what it should be."""
    robot = entry.get("robot", "") if isinstance(entry, dict) else ""
    checked = singularity_folder.check_configuration(entry, At(file))
    c = configuration(checked, str(robot), "c0")
    facts = [words.plural(len(c["screws"]), "joint"), f"rank {c['analysis']['rank']} of {c['analysis']['generic_rank']}"]
    facts += [] if c["sample"] is None else [f"sample {words.count(c['sample'])}"]
    picture = arm.scene(checked)
    return page(
        "singularity/page.html", {"arm": picture}, c=c, facts=facts, text=text, picture=picture,
        styles=["page/field.css", "page/motion.css"], scripts=SCRIPTS,
    )  # fmt: skip


def read(file: str) -> str:
    """The page of a file as HTML; raises RunError."""
    return build(read_json(Path(file), remedy="`garra singularity --report` writes it"), file)
