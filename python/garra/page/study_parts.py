"""Common parts of the reports of several kinds of study: distributions, inputs that matter, convergence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from garra.page import figures, outcomes, words

MOST_INPUTS = 12  # bars in the chart of influences
MOST_PLOTS = 6  # inputs that get a plot of their own

Table = dict[str, Any]


@dataclass(frozen=True)
class Metric:
    """A quantity whose distribution is shown; `reference` separates good from bad."""

    key: str
    label: str
    meaning: str
    reference: float | None = None
    axis: str = ""  # of its figure, without unit


def metric(key: str, table: Table) -> Metric:
    """A metric in the words of its table; called by its key where an older garra has written none."""
    label = table.get("label", words.plain(key).capitalize())
    return Metric(key, label, table.get("meaning", ""), table.get("reference"), axis(table, words.plain(key)))


def axis(table: Table, otherwise: str) -> str:
    """Axis label of a distribution: its label within a sentence."""
    label = str(table.get("label", ""))
    return label[:1].lower() + label[1:] or otherwise


def shown(table: Table) -> Table:
    """A distribution in what people say: mm, degrees."""
    unit, factor = words.UNITS.get(table["unit"], (table["unit"], 1.0))

    def in_unit(x: float | None) -> float | None:
        return None if x is None else factor * x

    return table | {
        "unit": unit,
        **{key: in_unit(table[key]) for key in ("mean", "sd", "low", "high", "reference") if key in table},
        "quantiles": {key: in_unit(x) for key, x in table["quantiles"].items()},
    }


def card(metric: Metric, table: Table) -> Table:
    """A distribution as metric.html wants it; `table` as it is shown."""
    low, high = (table["quantiles"][q] for q in ("0.05", "0.95"))
    alike = table["sd"] is not None and table["sd"] <= 1e-6 * abs(table["mean"])
    total = sum(table["counts"]) + table["below"] + table["above"] + table["undefined"]
    outside = {
        f"below {words.quantity(table['low'], table['unit'])}": table["below"],
        f"above {words.quantity(table['high'], table['unit'])}": table["above"],
        "undefined": table["undefined"],
    }
    return table | {
        "label": metric.label,
        "meaning": metric.meaning,
        "total": total,
        "absent": 0 < table["undefined"] == total,
        "outside": [f"{words.share(n, total)} {what}" for what, n in outside.items() if n],
        "alike": alike,
        "digits": words.digits_for(low, high),
        "figure": figures.metric(metric.key, metric.axis, table, metric.reference)
        if sum(table["counts"]) and not alike
        else "",
    }


def inputs(rows: list[Table], estimate: float | None, event: str, counted: str) -> Table:
    """Fields of inputs.html from a summary's inputs. `event` completes "probability of ...", `counted` is the key of
    its samples in the bins."""
    ranked = sorted(rows, key=lambda row: -(row["influence"] or 0))
    loud = [row for row in ranked if (row["influence"] or 0) > (row["noise"] or 0)]
    binned = [row | {"bins": row["bins"] | {"held": row["bins"][counted]}} for row in loud or ranked if row["bins"]]
    plots = [row for row in binned if any(v is not None for v in row["bins"]["value"])][:MOST_PLOTS]
    limits = figures.input_limits(plots) if plots else (0.0, 1.0)
    return {
        "count": len(rows),
        "families": _families(rows),
        "loud": loud,
        "sum": sum(row["influence"] for row in loud),
        "chart": figures.influence(ranked[:MOST_INPUTS]) if ranked else "",
        "left_out": ranked[MOST_INPUTS:],
        "plots": [
            figures.held_given_input(f"input{i}", row, estimate or 0.0, limits, event)
            for i, row in enumerate(plots, start=1)
        ],
        "groups": len(plots[0]["bins"]["value"]) if plots else 0,
    }


def _families(rows: list[Table]) -> list[Table]:
    """Inputs that differ in their contact, joint or hold only, together: "friction", "contacts 0 to 2"."""
    families: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        owner, number, name = re.fullmatch(r"(?:(contact|joint|hold) (\d+) )?(.+)", row["name"]).groups()
        numbers = families.setdefault((name, owner or "", row["distribution"], row["unit"]), [])
        numbers += [int(number)] if owner else []
    return [
        {"name": name, "owners": owner and words.numbered(owner, numbers), "distribution": words.distribution(distribution, unit)}
        for (name, owner, distribution, unit), numbers in families.items()
    ]


def interval(p: Table) -> dict[str, str]:
    """A probability and its interval with the decimals that the interval supports."""
    decimals = words.decimals_for(p["low"], p["high"]) if None not in (p["low"], p["high"]) else 1
    return {key: words.percent(p[key], decimals) for key in ("probability", "low", "high")}


def headline(summary: Table, p: Table, **more: Any) -> Table:
    """Texts of the first card: the probability `p` of the study, and of the samples that leave it open."""
    undecided = outcomes.undecided(summary)
    return {
        "known": p["probability"] is not None,
        **interval(p),
        "confidence": words.percent(p.get("confidence", 0.95), 0),
        "undecided": undecided,
        "undecided_share": words.share(undecided, summary["samples"]),
    } | more


def metrics(summary: Table) -> dict[str, Table]:
    """Rows of all metrics of a study."""
    tables = {key: shown(table) for key, table in summary["metrics"].items()}
    return {key: card(metric(key, table), table) for key, table in tables.items()}


def convergence(table: Table, estimate: float | None, what: str, label: str = "samples") -> str:
    """The figure, without the first numbers of samples where nothing was decided; empty where nothing ever was."""
    rows = [row for row in zip(*table.values(), strict=True) if None not in row]
    if estimate is None or not rows:
        return ""
    columns = dict(zip(table, map(list, zip(*rows, strict=True)), strict=True))
    return figures.convergence(columns, estimate, what, label)
