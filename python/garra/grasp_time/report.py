"""The page of a grasp study in time: how likely the object stays in the hand, how it moves, what it takes.

`python -m garra.report RUN` calls this for runs whose job is "grasp" and whose study is "time".
"""

from __future__ import annotations

from typing import Any

from garra.grasp import scene as grasp_scene
from garra.grasp import words as grasp_words
from garra.grasp_time import levels as grasp_time_levels
from garra.page import outcomes, study_parts, words
from garra.page.html import study_page
from garra.page.measures import measure
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


PLAYED = ["page/player.js", "grasp/solids.js", "grasp/scene.js", "grasp_time/page.js"]


def build(run: Run) -> str:
    """The report as HTML; raises RunError where motion.h5 is there but damaged."""
    summary = run.summary
    levels = grasp_time_levels.sorted_levels(summary)
    motion = grasp_scene.read_motion(run.folder)
    losses = grasp_time_levels.losses(summary)
    limits = _limits(summary["time"])
    p = summary["held"]["probability"]
    return study_page(
        "grasp_time/report.html",
        run,
        facts=_facts(run, levels),
        headline=headline(summary, levels),
        limits=limits,
        outcomes=outcomes.bar(summary, **limits),
        losses=list(losses.values()),
        lost=sum(summary["outcomes"][key] for key in losses),
        levels=grasp_time_levels.rows(summary, levels),
        overview=grasp_time_levels.overview(levels),
        motion=motion and _choices(summary, motion),
        inputs=grasp_words.about_nominal(study_parts.inputs(summary["inputs"], p, "holding", "held")),
        convergence=study_parts.convergence(summary["convergence"], p, "P(held)"),
        first=sum(contact["slipped_first"] for contact in summary["contacts"]),
        spread=grasp_time_levels.spread,
        audit=audit(summary),
        label=lambda key: outcomes.outcome(summary, key).label,
        shown={row["sample"]: k for k, row in enumerate(motion["runs"])} if motion else {},
        styles=["page/motion.css", "grasp/scene.css"],
        scripts=["page/plots.js", "grasp_time/levels.js", *(PLAYED if motion else [])],
        starts=[("levels", "GraspLevels.start"), *([("motion", "GraspPage.start")] if motion else [])],
        data={"levels": grasp_time_levels.embedded(levels)} | ({"motion": motion} if motion else {}),
    )


# --- the answer


def headline(summary: Table, levels: list[Table]) -> Table:
    """With several levels of friction the answer is the range over them: their mean is no grasp's probability."""
    known = [level for level in levels if level["held"]["probability"] is not None]
    several = len(levels) > 1
    ends = sorted(known, key=lambda level: level["held"]["probability"])
    return study_parts.headline(
        summary,
        summary["held"],
        known=bool(known),
        several=several,
        least=_end(ends[0]) if known else None,
        most=_end(ends[-1]) if known else None,
        marks=[level["held"] for level in known],
        sentence=_sentence(known, several) if known else "No sample could be decided.",
        objects=[
            study_parts.interval(entry["held"])
            | {"name": entry["name"], "friction": words.number(level["friction"]) if several else ""}
            for level in levels
            for entry in level.get("objects", ())
        ],
        no_slip="" if several or not known else study_parts.interval(known[0]["no_slip"])["probability"],
    )


def _end(level: Table) -> Table:
    """The level with the smallest or the largest probability."""
    return study_parts.interval(level["held"]) | {"friction": words.number(level["friction"])}


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


def _facts(run: Run, levels: list[Table]) -> list[str]:
    time = run.summary["time"]
    friction = [level["friction"] for level in levels] if len(levels) > 1 else []
    facts = grasp_words.study_line(run.scenario, len(run.summary["contacts"]), friction)
    steps = SCHEMES.get(time["scheme"], time["scheme"])
    facts.append(f"{measure(time['duration'], 's')} in {steps} of {measure(time['step'], 's')}")
    facts.append(DRIVES.get(time["drive"], time["drive"]))
    if len(levels) > 1:
        facts.append("the same random numbers at each friction")
    return facts


def _limits(time: Table) -> dict[str, str]:
    units = {"duration": "s", "slip": "m", "drop": "m", "drop_turn": "rad"}
    limits = {key: measure(time[key], unit) for key, unit in units.items()}
    return limits | {"until": limits["duration"]}  # in the words of schema 1


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
    return min(known) * summary["time"]["slip"] if known and min(known) > 0 else None


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
    return words.quantity(x, unit)
