"""The page of a grasp study in time: how likely the object stays in the hand, how it moves, what it takes.

`python -m garra.report RUN` calls this for runs whose job is "grasp" and whose study is "time".
"""

from __future__ import annotations

from typing import Any

from garra.grasp import scene as grasp_scene
from garra.grasp import words as grasp_words
from garra.grasp_time import levels as grasp_time_levels
from garra.grasp_time.levels import interval_text
from garra.page import outcomes, study_parts, words
from garra.page.html import dumps, study_page
from garra.page.measures import measure, pretty
from garra.page.run_folder import Run

Table = dict[str, Any]

DRIVES = {
    "controller": "fingers under the grasp controller",
    "constant": "constant joint torques",
    "sampled": "joint torques from a table",
}
GAP_PER_SLIP = 0.01
MOST_MOMENTUM = 1e-9  # [N s]
CONE_PER_TOL = 1e3  # [N]: residuals are scale-invariant, forces are of tens of newtons
SCHEMES = {"moreau_jean": "Moreau-Jean steps", "explicit": "explicit steps"}


def build(run: Run) -> str:
    """The report as HTML; raises RunError where motion.h5 is there but damaged."""
    summary = run.summary
    levels = grasp_time_levels.sorted_levels(summary)
    motion = grasp_scene.read_motion(run.folder)
    p = summary["held"]["probability"]
    return study_page(
        "grasp_time/report.html",
        run,
        headline=headline(run, levels),
        outcomes=_outcomes(summary),
        losses=grasp_time_levels.losses(summary),
        levels=grasp_time_levels.rows(summary, levels),
        overview=grasp_time_levels.overview(levels),
        levels_json=dumps(grasp_time_levels.embedded(levels)),
        motion=motion and _choices(summary, motion),
        motion_json=dumps(motion),
        inputs=study_parts.inputs(summary["inputs"], p, "holding", "held"),
        convergence=study_parts.convergence(summary["convergence"], p, "P(held)"),
        contacts=_contacts(summary),
        audit=audit(summary),
        measure=measure,
        samples={key: _samples(run, key, motion) for key in ("worst", "closest")},
    )


# --- the answer


def headline(run: Run, levels: list[Table]) -> Table:
    """With several levels of friction the answer is the range over them: their mean is no grasp's probability."""
    summary = run.summary
    known = [level for level in levels if level["held"]["probability"] is not None]
    undecided = outcomes.undecided(summary)
    several = len(levels) > 1
    ends = sorted(known, key=lambda level: level["held"]["probability"])
    return {
        "known": bool(known),
        "several": several,
        **interval_text(summary["held"]),
        "least": _end(ends[0]) if known else None,
        "most": _end(ends[-1]) if known else None,
        "marks": [level["held"] for level in known],
        "confidence": words.percent(summary["held"]["confidence"], 0),
        "sentence": _sentence(known, several) if known else "No sample could be decided.",
        "no_slip": "" if several or not known else interval_text(known[0]["no_slip"])["probability"],
        "undecided": undecided,
        "undecided_share": words.share(undecided, summary["samples"]),
        "early": summary["stopped_by"] in ("time_limit", "signal"),
        "study": _study(run, levels),
    }


def _end(level: Table) -> Table:
    """The level with the smallest or the largest probability."""
    return interval_text(level["held"]) | {"friction": words.number(level["friction"])}


def _sentence(known: list[Table], several: bool) -> str:
    if not several:
        p = known[0]["held"]
        return grasp_words.odds(p["probability"], p["low"] or 0.0, 1.0 if p["high"] is None else p["high"])
    parts = []
    half = grasp_time_levels.crossing(known, 0.5)
    if half is not None:
        parts.append(f"Half of the grasps hold at a friction of about {words.number(half)}.")
    sure = None
    for level in reversed(known):
        if (level["held"]["low"] or 0) < 0.95:
            break
        sure = level["friction"]
    if sure is not None:
        parts.append(f"From {words.number(sure)} on, the interval lies above 95{words.NARROW}%.")
    else:
        most = words.number(known[-1]["friction"])
        parts.append(f"Not even at {most} does the interval lie above 95{words.NARROW}%.")
    return " ".join(parts)


def _study(run: Run, levels: list[Table]) -> list[str]:
    time = run.summary["time"]
    friction = [level["friction"] for level in levels] if len(levels) > 1 else []
    facts = grasp_words.study_line(run.scenario, len(run.summary["contacts"]), friction)
    steps = SCHEMES.get(time["scheme"], time["scheme"])
    facts.append(f"{measure(time['duration'], 's')} in {steps} of {measure(time['step'], 's')}")
    facts.append(DRIVES.get(time["drive"], time["drive"]))
    if len(levels) > 1:
        facts.append("the same random numbers at each friction")
    return facts


def _outcomes(summary: Table) -> Table:
    time = summary["time"]
    limits = {
        key: measure(time[key], unit)
        for key, unit in (("duration", "s"), ("slip", "m"), ("drop", "m"), ("drop_turn", "rad"))
    }
    limits["until"] = limits["duration"]  # in the words of schema 1
    lost = sum(summary["outcomes"][key] for key in grasp_time_levels.losses(summary))
    return outcomes.bar(summary, **limits) | {"lost": lost, "limits": limits}


def _contacts(summary: Table) -> Table:
    first = sum(contact["slipped_first"] for contact in summary["contacts"])
    rows = [
        {
            "name": contact["name"],
            "count": contact["slipped_first"],
            "share": words.share(contact["slipped_first"], first),
            "width": 100 * contact["slipped_first"] / first if first else 0,
            **{key: grasp_time_levels.spread(contact[key]) for key in ("slip_path", "peak_force")},
        }
        for contact in summary["contacts"]
    ]
    return {"rows": rows, "first": first}


# --- trajectories


def _choices(summary: Table, motion: Table) -> Table:
    """Texts of the page on the trajectories of motion.h5; the scripts receive the numbers."""
    names = []
    for run in motion["runs"]:
        parts = [run["title"], outcomes.outcome(summary, run["outcome"]).label]
        if run["friction"] is not None:
            parts.append(f"friction {words.number(run['friction'])}")
        names.append(", ".join(parts))
    return {"names": names, "instants": len(motion["runs"][0]["time"]), "contacts": len(motion["runs"][0]["state"][0])}


def _samples(run: Run, key: str, motion: Table | None) -> list[Table]:
    shown = {row["sample"]: k for k, row in enumerate(motion["runs"])} if motion else {}
    return [
        row | {"label": outcomes.outcome(run.summary, row["outcome"]).label, "shown": shown.get(row["sample"])}
        for row in run.summary[key]
    ]


# --- audit


def audit(summary: Table) -> list[Table]:
    """Largest errors of any decided sample with their limits; a row without limit is shown without a check."""
    found, time, tolerance = summary["audit"], summary["time"], summary["solver"]["tolerance"]
    work = "kinetic, gained beyond the work done; shrinks with the step. Limit: median peak force times slip path"
    rows = (
        ("Residual", "worst_residual", "1", tolerance, "of a solved contact problem; limit: the tolerance asked for"),
        ("Gap", "worst_gap", "m", GAP_PER_SLIP * time["slip"], "between the object and a fingertip that carries force. Limit: a hundredth of `slip`"),
        ("Cone", "worst_cone", "N", CONE_PER_TOL * tolerance, "tangential force beyond friction times normal force"),
        ("Momentum", "momentum_balance", "N*s", MOST_MOMENTUM, "of the object beyond all impulses on it: rounding"),
        ("Energy", "energy_balance", "J", _slip_work(summary), work),
    )
    table = [_audited(label, unit, found[key], limit, meaning) for label, key, unit, limit, meaning in rows]
    if time["scheme"] == "explicit":
        worst = words.number(found["worst_ratio"])
        meaning = f"share of steps beyond the explicit scheme’s bound; the largest is {worst} times the bound"
        row = _audited("Stability", "1", found["unstable_share"], 0.0, meaning)
        table.append(row | {"value": words.percent(found["unstable_share"]), "limit": "none"})
    return table


def _slip_work(summary: Table) -> float | None:
    """An energy that matters: of the level with the smallest forces."""
    medians = [level["peak_force"]["quantiles"]["0.5"] for level in summary["levels"] if level.get("peak_force")]
    known = [force for force in medians if force is not None]
    return min(known) * summary["time"]["slip"] if known else None


def _audited(label: str, unit: str, value: float | None, limit: float | None, meaning: str) -> Table:
    return {
        "label": label,
        "value": _exact(value, unit),
        "limit": words.MISSING if limit is None else _exact(limit, unit),
        "good": None if value is None or limit is None else value <= limit,
        "meaning": meaning,
    }


def _exact(x: float | None, unit: str) -> str:
    """Errors in SI units without prefixes, so that they compare by their powers of ten."""
    return words.quantity(x, pretty(unit))
