"""The page of one configuration: its screws, singular subsets and ways out.

`python -m garra.singularity_page` writes it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from garra.page import words
from garra.page.html import page
from garra.page.run_folder import At, read_json
from garra.singularity import figures
from garra.singularity import folder as singularity_folder
from garra.singularity import words as text

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
            "kind": "prismatic" if prismatic[k] else "revolute",
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
        "title": _title(analysis),
        "wrenches": [{"numbers": text.vector(w, 4), "words": text.wrench(w)} for w in analysis["lost_wrenches"]],
        "escape": [
            {
                "joints": text.joint_set(way["joints"]),
                "order": way["order"],
                "rate": words.number(way["rate"], 4) if way["order"] else words.MISSING,
                "sign": text.sign_text(way["sign"]),
                "sigma": words.number(way["sigma"], 4),
            }
            for way in analysis["escape"]
        ],
    }


def _title(analysis: Table) -> str:
    if analysis["arm_singular"]:
        lost = words.plural(analysis["lost_freedoms"], "freedom")
        return text.sentence(f"{text.joints_text(analysis['dependent_joints'])}: {lost} lost")
    return "Only sub-chains are singular" if analysis["subchain_singular"] else "Not singular"


def build(entry: Table, file: str) -> str:
    """The page as HTML; raises RunError where the entry is not what it should be."""
    robot = entry.get("robot", "") if isinstance(entry, dict) else ""
    checked = singularity_folder.check_configuration(entry, At(file))
    return page("singularity/page.html", c=configuration(checked, str(robot), "c0"), text=text)


def read(file: str) -> str:
    """The page of a file as HTML; raises RunError."""
    return build(read_json(Path(file), remedy="`garra singularity --report` writes it"), file)
