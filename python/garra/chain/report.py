"""The page of a chain study: which design settles in time, what it costs, and how the chain moves.

`python -m garra.report RUN` calls this for runs whose job is "chain".
"""

from __future__ import annotations

import math
from typing import Any

from garra.chain import figures as chain_figures
from garra.chain import folder as chain_folder
from garra.chain import motion as chain_motion
from garra.chain.words import key_words, settings, short_settings
from garra.page import outcomes, study_parts, words
from garra.page.html import study_page
from garra.page.measures import Scale, defined, measure, pretty, quantile, quantile_text, scale
from garra.page.run_folder import Run

MOST_ROWS = 40  # designs in the open table; with more, the likeliest

Table = dict[str, Any]


SCRIPTS = ["page/plots.js", "chain/scene.js", "chain/page.js"]


def build(run: Run) -> str:
    """The report as HTML; raises RunError where nominal.h5 is missing or damaged."""
    summary = run.summary
    nominal = chain_folder.read_nominal(run.folder, summary)
    shown = contrasts(summary)
    motion = chain_motion.data(summary, nominal, shown)
    return study_page(
        "chain/report.html",
        run,
        facts=_facts(summary),
        headline=_headline(summary),
        torques=_torques(summary, shown[0]),
        figures=_figures(summary, shown),
        designs=_designs(summary),
        swept=[(key_words(entry["key"]), k) for k, entry in enumerate(summary["sweep"])],
        contrasts=len(shown),
        outcomes=outcomes.bar(summary),
        checks=_checks(summary, nominal),
        method=_method(summary),
        motion=motion,
        left_out=len(summary["designs"]) - len(motion["designs"]),
        pretty=pretty,
        settings=lambda d: short_settings(summary["designs"][d]["values"], summary["sweep"]) or d,
        settled_after=lambda time: "never" if time is None else measure(time, "s"),
        styles=["page/motion.css"],
        scripts=SCRIPTS,
        data={"chain": motion},
    )


def contrasts(summary: Table) -> list[int]:
    """The designs to look at first: the best (else the likeliest), the first and the last, without repeats; where
    nothing is asked of them, the first, one between, and the last."""
    designs = summary["designs"]
    first, last = 0, len(designs) - 1
    if len(summary["sweep"]) == 1:
        order = sorted(range(len(designs)), key=lambda d: designs[d]["values"][0])
        first, last = order[0], order[-1]
    leader = _leader(summary) if summary["settle"] else len(designs) // 2
    return list(dict.fromkeys([leader, first, last] if summary["settle"] else [first, leader, last]))


def _leader(summary: Table) -> int:
    """The best design; where there is none, the likeliest, of equally likely ones that with the least median time."""
    if summary["best"] is not None:
        return summary["best"]["design"]

    def rank(index: int) -> tuple[float, float]:
        median = quantile(summary["designs"][index]["settling_time"], "0.5")
        return summary["designs"][index]["probability"] or 0.0, -math.inf if math.isnan(median) else -median

    return max(range(len(summary["designs"])), key=rank)


def _settled(summary: Table) -> str:
    """The inequalities that make a sample settled, as a sentence."""
    settle, units = summary["settle"], list(dict.fromkeys(summary["robot"]["units"]))
    speed = " or ".join(f"{words.number(settle['speed'])}{words.NARROW}{unit}/s" for unit in units)
    text = f"when no joint moves faster than {speed} any more"
    if settle["at"] is None or settle["band"] is None:
        return text
    band = " or ".join(measure(settle["band"], unit) for unit in units)
    return f"{text} or is farther than {band} from its set point"


def _method(summary: Table) -> list[tuple[str, str] | tuple[()]]:
    settle, method = summary["settle"], summary["method"]
    at = ", ".join(map(measure, (settle or {}).get("at") or [], summary["robot"]["units"]))
    step = "" if method["step"] is None else f", step {measure(method['step'], 's')}"
    sweep = "; ".join(f"{key_words(entry['key'])}: {len(entry['values'])} values, {entry['scale']}" for entry in summary["sweep"])
    return [
        ("settled", _settled(summary)) if settle else (),
        ("set point", at) if at else (),
        ("integrator", f"{method['integrator']}{step}, until {measure(method['duration'], 's')}"),
        ("torque", method["torque"]),
        ("force on the tool", method.get("tool", "none")),
        ("friction", "viscous and dry" if method.get("friction") else "viscous"),
        ("joint limits", method["limits"]),
        ("designs", sweep or "one"),
        ("intervals", f"95{words.NARROW}% Clopper-Pearson"),
    ]


# --- the answer


def _headline(summary: Table) -> Table:
    best = summary["best"]
    design = summary["designs"][_leader(summary)]
    return study_parts.headline(
        summary,
        design,
        best=best is not None and bool(design["probability"]),
        design=design,
        settings=settings(design["values"], summary["sweep"]),
        short=short_settings(design["values"], summary["sweep"]),
        limit=measure(summary["settle"]["within"], "s") if summary["settle"] else "",
        median=quantile_text(design["settling_time"], "0.5"),
        completed=sum(summary["outcomes"].get(key, 0) for key in ("settled", "late", "completed")),
    )


def _facts(summary: Table) -> list[str]:
    robot = summary["robot"]
    return [
        f"{robot['name']}, {words.plural(robot['joints'], 'joint')}",
        f"torque: {summary['method']['torque']}",
        f"{words.plural(len(summary['designs']), 'design')}, {words.plural(summary['samples'], 'sample')}",
        *(f"{key_words(entry['key'])}: {_span(entry)}" for entry in summary["sweep"]),
    ]


def _span(entry: Table) -> str:
    """The values of a swept key in a few words."""
    values = entry["values"]
    if len(values) <= 3 or entry["scale"] == "list":
        shown = [measure(value, entry["unit"]) for value in values[:6]]
        return ", ".join(shown) + (f" and {len(values) - 6} more" if len(values) > 6 else "")
    steps = "logarithmic" if entry["scale"] == "log" else "even"
    low, high = (measure(value, entry["unit"]) for value in (values[0], values[-1]))
    return f"{low} to {high}, {len(values)} {steps} steps"


def _torques(summary: Table, index: int) -> list[list[str]]:
    """Per joint the peak torque and speed of a design."""
    design = summary["designs"][index]
    rows = zip(summary["robot"]["joint_names"], design["peak_torque"], design["peak_speed"], strict=True)
    return [
        [
            name,
            quantile_text(torque, "0.5"),
            f"{quantile_text(torque, '0.05')} to {quantile_text(torque, '0.95')}",
            quantile_text(speed, "0.5"),
        ]
        for name, torque, speed in rows
    ]


# --- figures and tables over the designs


def _figures(summary: Table, shown: list[int]) -> Table:
    designs, best = summary["designs"], summary["best"]["design"] if summary["best"] else None
    within, duration = (summary["settle"] or {}).get("within"), summary["method"]["duration"]
    labels = [short_settings(designs[d]["values"], summary["sweep"]) or "the design" for d in shown]
    figures: Table = {
        "survival": "" if within is None else chain_figures.survival(
            [(label, designs[d]["settling_time"]) for label, d in zip(labels, shown, strict=True)], within, duration
        ),
        "convergence": "",
    }  # fmt: skip
    if best is not None:
        figures["convergence"] = study_parts.convergence(
            summary["convergence"], designs[shown[0]]["probability"], "the best design", "samples of the best design"
        )
    if len(summary["sweep"]) == 1:
        figures |= _curves(summary, best)
    elif len(summary["sweep"]) == 2:
        figures["heats"] = _heats(summary, best)
    return figures


def _curves(summary: Table, best: int | None) -> Table:
    axis, designs = chain_figures.swept(summary), summary["designs"]
    limits = chain_figures.torque_limits(summary)
    robot = summary["robot"]
    names = zip(robot["joint_names"], robot["torque_units"], strict=True)
    within, duration = (summary["settle"] or {}).get("within"), summary["method"]["duration"]
    asked = {} if within is None else {
        "probability": chain_figures.probability(axis, designs, best),
        "settling": chain_figures.settling(axis, designs, within, duration),
    }  # fmt: skip
    return {
        **asked,
        "energy": chain_figures.energy(axis, designs),
        "balance": chain_figures.balance(axis, designs),
        "peaks": [
            (name, chain_figures.peak_torque(axis, designs, joint, name, limits[unit]))
            for joint, (name, unit) in enumerate(names)
            if any(limits[unit]["values"])
        ],
    }


def _heats(summary: Table, best: int | None) -> list[tuple[str, str]]:
    """Heat maps of the numbers that a design is chosen by."""
    designs, duration = summary["designs"], summary["method"]["duration"]
    units = summary["robot"]["torque_units"]
    probabilities = [math.nan if d["probability"] is None else 100 * d["probability"] for d in designs]
    asked = [
        ("Probability of settling in time", Scale("%"), probabilities),
        _map("Median settling time", "s", [quantile(d["settling_time"], "0.5") for d in designs], duration),
    ]
    rows = [
        *(asked if summary["settle"] else []),
        _map("Largest median peak torque", units[0], [_largest_torque(d, units) for d in designs]),
        _map("Median work of the torques", "J", [quantile(d["work"], "0.5") for d in designs]),
    ]
    return [
        (f"{title} [{shown.unit}]", chain_figures.heat(f"{i}", title, summary, values, best))
        for i, (title, shown, values) in enumerate(rows)
    ]


def _map(title: str, unit: str, values: list[float], top: float | None = None) -> tuple[str, Scale, list[float]]:
    """A heat map's title, scale and scaled values; `top`: a magnitude that sets the scale instead of the largest."""
    shown = scale(unit, top or max((abs(v) for v in values if math.isfinite(v)), default=0.0))
    return title, shown, [v * shown.factor for v in values]


def _largest_torque(design: Table, units: list[str]) -> float:
    """The largest median peak among the joints with the first joint's unit; NaN without samples."""
    same = zip(design["peak_torque"], units, strict=True)
    medians = [quantile(table, "0.5") for table, unit in same if unit == units[0]]
    return max((m for m in medians if not math.isnan(m)), default=math.nan)


def _designs(summary: Table) -> list[Table]:
    """Rows of the table of designs: all in their order, or the likeliest where they are many."""
    rows = range(len(summary["designs"]))
    if len(rows) > MOST_ROWS:
        rows = sorted(rows, key=lambda d: -(summary["designs"][d]["probability"] or 0.0))[:MOST_ROWS]
    return [_row(summary, index) for index in rows]


def _row(summary: Table, index: int) -> Table:
    design, units = summary["designs"][index], summary["robot"]["torque_units"]
    medians = [(quantile(table, "0.5"), j) for j, table in enumerate(design["peak_torque"])]
    same = [(m, j) for m, j in medians if units[j] == units[0] and not math.isnan(m)]
    largest = max(same, key=lambda row: row[0], default=(math.nan, 0))[1]
    p = study_parts.interval(design)
    unsolved = outcomes.undecided(summary, design["outcomes"])
    return {k: measure(design["values"][k], entry["unit"]) for k, entry in enumerate(summary["sweep"])} | {
        "index": index,
        "best": summary["best"] is not None and summary["best"]["design"] == index,
        "probability": p["probability"],
        "interval": f"{p['low']} to {p['high']}",
        **{level: quantile_text(design["settling_time"], level) for level in ("0.05", "0.5", "0.95")},
        "torque": f"{quantile_text(design['peak_torque'][largest], '0.5')} ({summary['robot']['joint_names'][largest]})",
        "unsolved": f"{words.count(unsolved)} of {words.count(design['samples'])}",
        "balance": design["worst_balance"],
        "work": quantile_text(design["work"], "0.5"),
        "dissipated": quantile_text(design["dissipated"], "0.5"),
    }


# --- outcomes and checks


def _checks(summary: Table, nominal: chain_folder.Nominal) -> Table:
    """How far the numbers can be trusted: the energy balance, against the energies that it is made of."""
    balances = [d["worst_balance"] for d in summary["designs"] if d["worst_balance"] is not None]
    turned = [abs(quantile(d["work"], "0.5")) for d in summary["designs"] if defined(d["work"])]
    turned = [x for x in turned if math.isfinite(x)]
    ended = [words.plain(s) for s in nominal.status if s != "completed"]
    return {
        "worst": max(balances, default=None),
        "work": max(turned, default=None),
        "ended": f"{len(ended)} ended early: {', '.join(dict.fromkeys(ended))}" if ended else "all completed",
    }
