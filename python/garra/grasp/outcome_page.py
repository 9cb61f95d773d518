"""P(held) against outcomes in pages: a section of a ranking's page, and the page of `garra grasp compare`."""

from __future__ import annotations

from typing import Any

import numpy as np

from garra.grasp.outcomes import Comparison
from garra.page import words
from garra.page.figures import percent_axis
from garra.page.html import page
from garra.page.interval import clopper_pearson
from garra.page.plot import Plot
from garra.page.words import HALF


def parts(c: Comparison) -> dict[str, Any]:
    """Values of templates/grasp/outcomes.html."""
    brier = [("Brier score of P(held)", c.brier), (f"of the rate of the other {c.units}", c.brier_base)]
    brier += [(f"recalibrated by the other {c.units}", c.brier_recalibrated), ("slope of the logit (1: calibrated)", c.slope)]
    return {
        "trials": c.trials,
        "missing": c.missing,
        "share": words.percent(c.missing / c.trials, 1),
        "objects": len(c.groups),
        "auc": [
            ("AUC", _with(c.auc, c.auc_interval)),
            ("by jackknife", _with(c.auc, c.auc_jackknife)),
            ("within objects", _with(c.auc_within, c.auc_within_interval)),
        ],
        "brier": [(name, _number(value)) for name, value in brier],
        "figure": _diagram(c),
        "baselines": [[b.name, _number(b.auc), _with(b.difference, b.difference_interval)] for b in c.baselines],
        "groups": [[g.name, words.count(g.trials), _number(g.mean, 2), _number(g.held, 2), _number(g.auc, 2)] for g in c.groups],
        "friction": _with(c.effective_friction[0], c.effective_friction[1:], 2),
        "agreement": words.percent(c.friction_agreement, 0) if np.isfinite(c.friction_agreement) else "",
    }


def build(c: Comparison, files: list[str]) -> str:
    """The page of a comparison."""
    return page("grasp/compare.html", outcomes=parts(c), files=files, data={})


def _diagram(c: Comparison) -> str:
    """Share held against mean P(held) of the bins, with 95 % intervals; dashed: calibrated."""
    if not c.reliability:
        return ""
    x, y = percent_axis(0, 1), percent_axis(0, 1)
    x.label, y.label = "mean P(held) of the trials in a bin", "share held"
    plot = Plot("reliability", HALF, x, y, right=22)
    plot.line([0, 1], [0, 1], "muted", 1, "4 3")
    for _, _, n, mean, held in c.reliability:
        plot.whisker(mean, *clopper_pearson(round(held * n), n), "held")
        plot.dot(mean, held, "held", 3)
    plot.line([row[3] for row in c.reliability], [row[4] for row in c.reliability], "held", 1.2)
    return plot.svg("Share of the trials that held, against P(held)")


def _number(value: float, decimals: int = 3) -> str:
    return f"{value:.{decimals}f}".replace("-", "−") if np.isfinite(value) else words.MISSING


def _with(value: float, interval: Any, decimals: int = 3) -> str:
    ends = [_number(end, decimals) for end in interval]
    return f"{_number(value, decimals)} [{', '.join(ends)}]" if np.isfinite(interval[0]) else _number(value, decimals)
