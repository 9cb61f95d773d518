"""The levels of friction of a grasp study in time: table, overview, and the numbers that the page's scripts draw."""

from __future__ import annotations

from typing import Any

from garra.grasp_time import figures
from garra.grasp_time.folder import QUANTILES, list_bands, list_metrics
from garra.page import outcomes, study_parts, words
from garra.page.measures import measure
from garra.page.words import UNITS

CURVE = ("probability", "low", "high")
DIGITS = 4  # significant ones, of numbers that are drawn

Table = dict[str, Any]


def sorted_levels(summary: Table) -> list[Table]:
    return sorted(summary["levels"], key=lambda level: level["friction"] or 0.0)


def name(level: Table) -> str:
    return "all samples" if level["friction"] is None else words.number(level["friction"])


def crossing(levels: list[Table], share: float) -> float | None:
    """The friction at which P(held) first reaches a share, between the levels' on a straight line; None without one."""
    for a, b in zip(levels, levels[1:], strict=False):
        low, high = a["held"]["probability"], b["held"]["probability"]
        if low < share <= high:
            part = (share - low) / (high - low)
            return float(a["friction"] + part * (b["friction"] - a["friction"]))
    return None


def losses(summary: Table) -> dict[str, str]:
    """Outcomes in which the object is no longer in the hand, by their labels."""
    kinds = outcomes.outcomes(summary)
    return {key: kind.label for key, kind in kinds.items() if kind.decided and key not in ("held", "slipped")}


def rows(summary: Table, levels: list[Table]) -> list[list[str]]:
    """The table of levels."""
    several = len(levels) > 1
    return [
        [
            *([name(level)] if several else []),
            words.count(level["samples"]),
            *_interval(level["held"]),
            *_interval(level["no_slip"]),
            *(words.count(level["outcomes"][key]) for key in losses(summary)),
            words.count(outcomes.undecided(summary, level["outcomes"])),
            *(_half(level["survival"], kind) for kind in ("drop", "slip")),
        ]
        for level in levels
    ]


def _interval(p: Table) -> list[str]:
    text = study_parts.interval(p)
    return [text["probability"], f"{text['low']} to {text['high']}"]


def _half(survival: Table, kind: str) -> str:
    """The first instant at which half of the samples are lost, or have slipped."""
    pairs = zip(survival["time"], survival[kind]["probability"], strict=True)
    return next((measure(time, "s") for time, p in pairs if p is not None and p <= 0.5), words.MISSING)


def spread(table: Table | None) -> str:
    """Median (5 … 95 %) of a distribution, in what people say."""
    if table is None or table["quantiles"]["0.5"] is None:
        return words.MISSING
    table = study_parts.shown(table)
    median, low, high = (table["quantiles"][q] for q in ("0.5", "0.05", "0.95"))
    return f"{words.quantity(median, table['unit'])} ({words.number(low, 2)} … {words.number(high, 2)})"


def overview(levels: list[Table]) -> Table:
    """The figures and the table of distributions that show all levels at once."""
    names = [name(level) for level in levels]
    metrics = [metric for key in list_metrics(levels) if (metric := _metric(key, levels))]
    several = len(levels) > 1
    return {
        "names": names,
        "friction": figures.against_friction(levels) if several else "",
        "survival": figures.survival(levels, names),
        "metrics": metrics,
        "quantiles": [_against(metric, levels) for metric in metrics if several and _known(metric.key, levels)],
        "cards": [] if several else [study_parts.card(row, study_parts.shown(levels[0][row.key])) for row in metrics],
        "table": [[name(level), *(spread(level[metric.key]) for metric in metrics)] for level in levels],
        "bands": [_curve(key, levels) for key in _drawn(levels)],
    }


def _drawn(levels: list[Table]) -> list[str]:
    return [key for key in list_bands(levels) if any(level["bands"][key] is not None for level in levels)]


def _known(key: str, levels: list[Table]) -> bool:
    tables = [level[key] for level in levels]
    return None not in tables and any(table["quantiles"]["0.5"] is not None for table in tables)


def _metric(key: str, levels: list[Table]) -> study_parts.Metric | None:
    """Metric with the words of the first level that has it, or None if no level has it."""
    table = next((level[key] for level in levels if level[key] is not None), None)
    return table and study_parts.metric(key, study_parts.shown(table))


def _curve(key: str, levels: list[Table]) -> Table:
    """Description of a quantity over time, with the words of the first level that has it."""
    band = next(level["bands"][key] for level in levels if level["bands"][key] is not None)
    factor = UNITS.get(band["unit"], (band["unit"], 1.0))[1]
    limit = None if band.get("reference") is None else factor * band["reference"]
    label = band.get("label", words.plain(key).capitalize())
    return {"key": key, "label": label, "meaning": band.get("meaning", ""), "limit": limit}


def _against(metric: study_parts.Metric, levels: list[Table]) -> tuple[str, str, str]:
    return metric.label, figures.quantiles(metric.key, metric.label, levels, metric.reference), metric.meaning


def embedded(levels: list[Table]) -> Table:
    """Data of each level for the scripts: survival, bands, histograms, in displayed units (mm, degrees)."""
    curves = {key: _curve(key, levels) for key in _drawn(levels)}
    curves = {key: {part: curve[part] for part in ("label", "limit")} for key, curve in curves.items()}
    labels = {key: metric.label for key in list_metrics(levels) if (metric := _metric(key, levels))}
    return {"levels": [_embedded(level) for level in levels], "curves": curves, "metrics": labels}


def _embedded(level: Table) -> Table:
    survival, bands = level["survival"], level["bands"]
    return {
        "name": name(level),
        "survival": {
            "time": _short(survival["time"]),
            **{kind: {key: _short(survival[kind][key]) for key in CURVE} for kind in ("drop", "slip")},
        },
        "time": _short(bands["time"]),
        "alive": bands["alive"],
        "bands": {key: _band(bands[key]) for key in list_bands([level]) if bands[key] is not None},
        "histograms": {key: _histogram(level[key]) for key in list_metrics([level]) if level[key] is not None},
    }


def _band(table: Table) -> Table:
    unit, factor = UNITS.get(table["unit"], (table["unit"], 1.0))
    return {"unit": "" if unit == "1" else unit, **{q: _short(table[q], factor) for q in QUANTILES}}


def _histogram(table: Table) -> Table:
    table = study_parts.shown(table)
    edges, density = figures.histogram_steps(table)
    marks = [table["quantiles"][q] for q in ("0.05", "0.5", "0.95")]
    unit = "" if table["unit"] == "1" else table["unit"]
    seen = sum(table["counts"])
    return {"unit": unit, "edges": _short(edges), "density": _short(density) if seen else [], "marks": _short(marks)}


def _short(values: list[float | None], factor: float = 1.0) -> list[float | None]:
    return [None if v is None else float(f"{factor * v:.{DIGITS}g}") for v in values]
