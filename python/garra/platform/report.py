"""The page of a platform study: how likely a path stays feasible and what goes wrong first, or a map of the workspace.

`python -m garra.report RUN` calls this for runs whose job is "platform".
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from garra.page import outcomes, study_parts, words
from garra.page.colors import ramp
from garra.page.html import study_page
from garra.page.measures import measure
from garra.page.mpl_figures import ACCENT, BREAK
from garra.page.run_folder import Run
from garra.platform import figures
from garra.platform import folder as platform_folder
from garra.platform.page import parts

ALIKE = 0.9  # legs that fail first at least this part as often as the worst one are named with it

Table = dict[str, Any]

PATHS = {"straight": "straight path", "screw": "screw motion", "spline": "spline path", "sampled": "sampled path"}
LAWS = {"quintic": "from rest to rest, smoothly", "trapezoid": "speeding up, steady, slowing down", "uniform": "steady"}
CONTROLS = {
    "forces": "constant forces",
    "feedforward": "forces of inverse dynamics, not controlled",
    "computed_torque": "PD with inverse dynamics",
    "gravity": "PD of the lengths with gravity",
    "legs": "a servo for each leg",
}
# data set, label, unit
MEASURES = (
    ("feasible_share", "Feasible share of orientations", ""),
    ("sigma_min", "Smallest singular value over orientations", ""),
    ("worst_force", "Largest leg force over orientations", "N"),
)


def build(run: Run) -> str:
    """The report as HTML; raises RunError where path.h5 or map.h5 is missing or damaged."""
    summary, p = run.summary, run.summary["p_feasible"]["probability"]
    own = _path_parts(run) if summary["kind"] == "path" else _map_parts(run)
    return study_page(
        "platform/report.html",
        run,
        facts=_facts(summary),
        headline=_headline(summary),
        outcomes=_outcomes(summary),
        # A quantity has no limit if all samples are beyond its axis.
        metrics=[row for row in study_parts.metrics(summary).values() if row["above"] + row["undefined"] < row["total"]],
        inputs=study_parts.inputs(summary["inputs"], p, "staying feasible", "feasible"),
        first=_first(summary),
        earliest=_earliest(summary),
        convergence=study_parts.convergence(summary["convergence"], p, "P(feasible)"),
        label=lambda key: outcomes.outcome(summary, key).label,
        **own,
    )


# --- the answer


def _headline(summary: Table) -> Table:
    p, counts = summary["p_feasible"], summary["outcomes"]
    decided = summary["samples"] - outcomes.undecided(summary)
    known = None not in (p["probability"], p["low"], p["high"]) and bool(decided)
    worst = max(_failures(summary), key=lambda key: counts[key])
    failures = decided - counts["feasible"]
    return study_parts.headline(
        summary,
        p if known else dict.fromkeys(p),
        exact=bool(summary.get("map", {}).get("exact", False)),
        failures=failures,
        worst=outcomes.outcome(summary, worst).label if counts[worst] else "",
        worst_share=words.share(counts[worst], failures),
        leg=_first_leg(summary) if summary["kind"] == "path" else "",
        odds=_odds(summary) if known else "",
    )


def _failures(summary: Table) -> list[str]:
    return [key for key, kind in outcomes.outcomes(summary).items() if key != "feasible" and kind.decided]


def _odds(summary: Table) -> str:
    """The estimate for someone who does not read probabilities every day."""
    p, what = summary["p_feasible"], "machines" if summary["kind"] == "path" else "poses"
    share, low, high = p["probability"], p["low"], p["high"]
    if share >= 1:
        return "Not one sample failed" + (f"; at most {words.one_in(1 - low)} {what} may fail." if low < 1 else ".")
    if share <= 0:
        return "Every sample failed" + (f"; at most {words.one_in(high)} {what} may be feasible." if high > 0 else ".")
    if share > 0.99:
        return f"About {words.one_in(1 - share)} {what} fails."
    stay = "stay" if summary["kind"] == "path" else "are"
    return f"About {max(round(100 * share), 1)} of 100 {what} {stay} feasible."


def _first_leg(summary: Table) -> str:
    """The leg that most often fails first, with those that do so nearly as often, as a sentence."""
    first = _first(summary)
    most = max(row["count"] for row in first["rows"][1:])
    rows = [row for row in first["rows"][1:] if row["count"] >= ALIKE * most]
    if not most:
        return ""
    share = words.share(sum(row["count"] for row in rows), first["total"])
    if len(rows) == 1:
        return f"Leg {rows[0]['leg']} fails first most often ({share})."
    names = [str(row["leg"]) for row in rows]
    return f"Legs {', '.join(names[:-1])} and {names[-1]} fail first most often ({share} together)."


def _facts(summary: Table) -> list[str]:
    facts = [summary["platform"]["name"]] if summary["platform"]["name"] else []
    if summary["kind"] == "path":
        path = summary["path"]
        end = measure(summary["first_failure"]["time"][-1], "s") if summary["first_failure"]["time"] else words.MISSING
        facts.append(f"{PATHS.get(path['kind'], path['kind'])} of {end}, {LAWS.get(path['law'], path['law'])}")
        if sim := summary.get("simulation"):
            facts.append(f"simulated: {CONTROLS.get(sim['control'], sim['control'])}, every {words.number(1e3 * sim['period'])} ms")
        facts.append(f"looked at in {words.plural(path['instants'], 'instant')}")
    else:
        grid = summary["map"]
        facts.append(f"{' × '.join(map(str, grid['points']))} positions")
        facts.append(f"{words.plural(grid['orientations'], 'orientation')} at each")
    if summary["allowed"]["force"]:
        facts.append(f"actuators: at most {measure(summary['allowed']['force'], 'N')}")
    return facts


def _outcomes(summary: Table) -> Table:
    allowed = summary["allowed"]
    limits = {"near": words.number(allowed["near_singular"]), "force": measure(allowed["force"] or None, "N")}
    return outcomes.bar(summary, **limits)


# --- what fails first


def _first(summary: Table) -> Table:
    """Per leg the failures by what went wrong, none in particular first; widths in percent of all failures."""
    legs, failures, kinds = summary["first_failure"]["legs"], _failures(summary), outcomes.outcomes(summary)
    total = max(sum(row[key] for row in legs for key in failures), 1)
    rows = [
        {
            "leg": leg,
            "label": "no single leg" if leg < 0 else f"leg {leg}",
            "count": sum(row[key] for key in failures),
            "parts": [(kinds[key].label, kinds[key].color, row[key], 100 * row[key] / total) for key in failures],
        }
        for leg, row in enumerate(legs, -1)
    ]
    seen = [(kinds[key].color, kinds[key].label) for key in failures if any(row[key] for row in legs)]
    return {"rows": rows, "total": sum(row["count"] for row in rows), "seen": seen}


def _earliest(summary: Table) -> list[Table]:
    """Per outcome the sample that fails soonest along the path."""
    time, rows = summary["first_failure"]["time"], []
    for key, earliest in summary["earliest"].items():
        for row in earliest[:1]:
            at = None if row["instant"] is None else int(row["instant"])
            known = at is not None and 0 <= at < len(time)
            label = outcomes.outcome(summary, key).label
            rows.append({"label": label, "sample": row["sample"], "time": time[at] if known else None})
    return rows


# --- a path


def _path_parts(run: Run) -> Table:
    motion = platform_folder.read_path(Path(run.folder) / "path.h5")
    summary, first, peak = run.summary, run.summary["first_failure"], run.summary["peak_force_at"]
    legs = ", ".join(f"{leg}: {words.share(n, summary['samples'])}" for leg, n in enumerate(peak["legs"]))
    return parts(motion) | {
        "envelopes": figures.envelopes(motion),
        "when": figures.when("first", first, "time of the first failure", BREAK) if sum(first["count"]) else "",
        "peaks": figures.when("peak", peak, "time of the peak force", ACCENT) if sum(peak["count"]) else "",
        "peak_legs": f"Samples per instant. Per leg: {legs}.",
    }


# --- a map


def _map_parts(run: Run) -> Table:
    measures = [{"key": key, "label": label, "unit": unit} for key, label, unit in MEASURES
                if key != "worst_force" or not run.summary.get("kinematic")]  # fmt: skip
    nodes, total = run.summary["nodes"], run.summary["map"]["nodes"]
    some = total - nodes["always"] - nodes["never"]
    return _travel_parts(run.summary) | {
        "nodes": nodes | {"total": total, "some": some},
        "ramp": ramp(),
        "styles": ["page/field.css", "platform/map.css"],
        "scripts": ["platform/map.js"],
        "data": {"platform": platform_folder.read_map(run.folder) | {"ramp": ramp(), "measures": measures}},
        **dict.fromkeys(("when", "peaks", "peak_legs"), ""),
    }


def _travel_parts(summary: Table) -> Table:
    """Tables of the travel of each axis and of the reachable volume; runs of earlier versions have none."""
    if "travel" not in summary:
        return {"travel": []}

    def ends(axis: Table) -> str:
        unit, factor = ("°", 180 / math.pi) if axis["axis"].startswith("about") else (" mm", 1e3)
        if axis["backward"] is None:
            return words.MISSING
        return f"−{words.number(factor * axis['backward'])} to {words.number(factor * axis['forward'])}{unit}"

    def extent(low: float | None, high: float | None) -> str:
        return words.MISSING if low is None else f"{words.number(low)} to {words.number(high)} m"

    home, centered = (summary["travel"][key]["axes"] for key in ("home", "centered"))
    names = {"every_orientation": "feasible in every orientation", "some_orientation": "in at least one"}
    reachable = [
        [name, f"{words.number(r['volume'])} m³", *(extent(*pair) for pair in r["reach"])]
        for key, name in names.items()
        for r in [summary["reachable"][key]]
    ]
    return {
        "travel": [[a["axis"], ends(a), ends(b)] for a, b in zip(home, centered, strict=True)],
        "reachable": reachable,
        "center": ", ".join(words.number(x) for x in summary["travel"]["centered"]["position"]) + " m",
    }
