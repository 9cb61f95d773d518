"""Figures that need a plotting library, as SVG that belongs to the page: its colors, its font, its width. The others: plot.py.

Matplotlib draws with the stand-in colors below; `_of_the_page` replaces each by the page's CSS variable, so one drawing
serves light, dark and print.
"""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from garra.page.plot import LEAST, PHONE
from garra.page.words import NARROW

INK, MUTED, GRID, HELD, SLIP, BREAK, ACCENT, PAPER = (f"#0{i}0{i}0{i}" for i in range(1, 9))
VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    HELD: "held",
    SLIP: "slip",
    BREAK: "break",
    ACCENT: "accent",
    PAPER: "paper",
}

STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "garra",
    "image.interpolation": "none",
    "font.family": "DejaVu Sans",  # for measuring only; the page's font replaces it
    "font.size": 11.5,
    "text.parse_math": False,  # names are the user's
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.labelsize": 11.5,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 11,
    "path.simplify": True,
    "path.simplify_threshold": 0.3,
}

Table = dict[str, Any]


def svg(name: str, size: tuple[int, int], title: str, draw: Callable[[Axes], None]) -> str:
    """One set of axes, `size` in pixels at the page's natural scale."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(size[0] / 72, size[1] / 72), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _of_the_page(buffer.getvalue(), name, title)


def _of_the_page(text: str, name: str, title: str) -> str:
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", "", text, flags=re.S)
    view = re.search(r'viewBox="([^"]+)"', text)
    width = float(view[1].split()[2]) if view else PHONE
    least = f"--least:{LEAST * width / PHONE:.1f}px"  # of the text on a phone
    opening = f'<svg class="figure" style="{least}" viewBox="{view[1] if view else ""}" role="img" aria-label="{html.escape(title)}">'
    text = re.sub(r"<svg[^>]*>", lambda _: opening, text, count=1)
    text = re.sub(r"<style.*?</style>", "", text, flags=re.S)  # would reach beyond its figure
    for color, variable in VARIABLES.items():
        text = text.replace(color, f"var(--{variable})")
    text = re.sub(r"(?:'DejaVu Sans'|DejaVu Sans|&quot;DejaVu Sans&quot;)[^;\"]*", "var(--sans)", text)
    text = re.sub(r' id="(?:figure|axes|patch|line2d|text|matplotlib|xtick|ytick|legend)[\w.]*"', "", text)
    text = re.sub(r"(?<= id=\")|(?<=href=\"#)|(?<=url\(#)", f"{name}-", text)
    text = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]), text)
    return re.sub(r">\s+<", "><", text).replace(" \n", " ").strip()


# --- axes that read well


def percent_axis(ax: Axes, low: float, high: float) -> None:
    pad = max(0.06 * (high - low), 1e-7)
    ax.set_ylim(max(low - pad, -0.02), min(high + pad, 1.02))
    span = ax.get_ylim()[1] - ax.get_ylim()[0]
    decimals = 0 if span > 0.05 else min(1 - math.floor(math.log10(100 * span)), 6)
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=decimals, symbol=f"{NARROW}%"))


def finite(values: Sequence[float | None]) -> np.ndarray:
    return np.array([math.nan if v is None else v for v in values], dtype=float)
