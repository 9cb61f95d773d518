"""The figures of a benchmark: profiles of solvers, as SVG in the page's colors.

A hue is a family of algorithms, wherever it comes from; a full line is garra's, a dashed one Siconos'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from garra.page.mpl_figures import svg
from garra.page.words import NARROW, power_of_ten

# Families with their colors on light and on dark paper. Stand-ins for matplotlib, replaced by CSS variables.
FAMILIES = {
    "auto": ("#18222d", "#f2f5f7"),
    "newton": ("#1f7a7d", "#4fb3b0"),
    "gauss_seidel": ("#c9822b", "#e0a458"),
    "admm": ("#7a4fa3", "#b592dc"),
    "extragradient": ("#4a8a3a", "#8ac27a"),
    "box_quacan": ("#b8443a", "#e87f73"),
    "spg": ("#d06ca8", "#ee9ccb"),
    "projected_lm": ("#3d5f94", "#85a7dc"),
    "fischer_burmeister": ("#8a6244", "#c9a184"),
    "lemke": ("#7d7f1e", "#c3c55e"),
    "proximal": ("#7c8894", "#9aa6b2"),
}
STAND_INS = {family: f"#a{i:x}b{i:x}c{i:x}" for i, family in enumerate(FAMILIES)}
OF_METHOD = {
    "auto": "auto",
    "semismooth_newton": "newton",
    "nsgs": "gauss_seidel",
    "siconos_nsn_ac": "newton",
    "siconos_nsn_ac_hybrid": "newton",
    "siconos_nsgs": "gauss_seidel",
    "siconos_nsgs_newton": "gauss_seidel",
    "siconos_proximal": "proximal",
}
DASHES: dict[str, Any] = {"siconos_nsn_ac_hybrid": (0, (1, 1.6)), "siconos_nsgs_newton": (0, (1, 1.6))}

SIZE = (320, 220)  # [px] of a third of the page

Curve = tuple[str, np.ndarray, np.ndarray]  # method, x, share


def family(method: str) -> str:
    """Family of a method, which shares a hue.

    Parameters
    ----------
    method : str
        Name of a solver.

    Returns
    -------
    str

    Examples
    --------
    >>> from garra.bench import figures
    >>> figures.family("siconos-nsgs")
    'gauss_seidel'
    """
    name = method.replace("-", "_")
    short = name.removeprefix("siconos_")
    return OF_METHOD.get(name, short if short in FAMILIES else "proximal")


def dash(method: str) -> Any:
    """Line style of a method, for matplotlib.

    Parameters
    ----------
    method : str
        Name of a solver.

    Returns
    -------
    str or tuple

    Examples
    --------
    >>> from garra.bench import figures
    >>> figures.dash("auto")
    '-'
    """
    return DASHES.get(method.replace("-", "_"), (0, (4.5, 2.2)) if method.startswith("siconos") else "-")


def css() -> str:
    """Variables of the hues for light and dark paper.

    Returns
    -------
    str
        CSS.

    Examples
    --------
    >>> from garra.bench import figures
    >>> figures.css().startswith(":root")
    True
    """
    light = " ".join(f"--m-{name}: {colors[0]};" for name, colors in FAMILIES.items())
    dark = " ".join(f"--m-{name}: {colors[1]};" for name, colors in FAMILIES.items())
    return f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"


def _colored(svg: str) -> str:
    for name, color in STAND_INS.items():
        svg = svg.replace(color, f"var(--m-{name})")
    return svg


def key(method: str) -> Markup:
    """Line of a method, for legends and tables.

    Parameters
    ----------
    method : str
        Name of a solver.

    Returns
    -------
    Markup
        SVG.

    Examples
    --------
    >>> from garra.bench import figures
    >>> figures.key("auto")[:4]
    Markup('<svg')
    """
    style = dash(method)
    dashes = "" if style == "-" else f' stroke-dasharray="{" ".join(str(v) for v in style[1])}"'
    width = 3 if method == "auto" else 2
    return Markup(
        f'<svg class="line" viewBox="0 0 26 8" aria-hidden="true"><path d="M1 4H25" fill="none" stroke="var(--m-{family(method)})" '
        f'stroke-width="{width}"{dashes}/></svg>'
    )


def _steps(ax: Axes, curves: Sequence[Curve]) -> None:
    for method, x, y in reversed(curves):  # the first one lies on top
        ax.plot(x, y, drawstyle="steps-post", color=STAND_INS[family(method)], ls=dash(method),
                lw=2.6 if method == "auto" else 1.7, solid_capstyle="butt")  # fmt: skip


def _decades(ax: Axes, low: float, high: float, most: int = 8) -> None:
    first, last = int(np.floor(np.log10(low) + 1e-9)), int(np.ceil(np.log10(high) - 1e-9))
    step = max(1, -(-(last - first) // most))
    ax.xaxis.set_major_locator(FixedLocator([10.0**e for e in range(first, last + 1, step)]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _plain(x)))


def _plain(x: float) -> str:
    exponent = round(float(np.log10(x)))
    return f"{x:g}" if 0 <= exponent <= 2 else power_of_ten(exponent)


def _shares(ax: Axes) -> None:
    ax.set_ylim(-0.02, 1.03)
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=f"{NARROW}%"))


def _figure(name: str, title: str, draw: Callable[[Axes], None]) -> str:
    return _colored(svg(name, SIZE, title, draw))


def performance(name: str, title: str, curves: Sequence[Curve], most: float) -> str:
    """Share solved within a factor of the best solver's time.

    Parameters
    ----------
    name, title : str
        Identifier and title of the figure.
    curves : sequence of (str, array, array)
        Method, x and y.
    most : float
        Largest factor to show.

    Returns
    -------
    str
        SVG.

    Examples
    --------
    >>> from garra.bench import figures
    >>> figures.performance("p", "A set", [("auto", [1.0, 2.0], [0.5, 1.0])], 10.0)[:4]
    '<svg'
    """

    def draw(ax: Axes) -> None:
        ax.set_xscale("log")
        _steps(ax, curves)
        ax.set_xlim(1, most)
        _decades(ax, 1, most)
        _shares(ax)
        ax.set_xlabel("time / time of the best solver for the problem")

    return _figure(name, f"Performance profile, {title}", draw)


def accuracy(name: str, title: str, curves: Sequence[Curve], tolerance: float, limits: tuple[float, float]) -> str:
    """Share of problems with a residual of at most x.

    Parameters
    ----------
    name, title : str
        Identifier and title of the figure.
    curves : sequence of (str, array, array)
        Method, x and y.
    tolerance : float
        Tolerance, drawn as a line.
    limits : (float, float)
        Smallest and largest residual to show.

    Returns
    -------
    str
        SVG.

    Examples
    --------
    >>> from garra.bench import figures
    >>> figures.accuracy("a", "A set", [("auto", [1e-9, 1e-6], [0.5, 1.0])], 1e-8, (1e-12, 1.0))[:4]
    '<svg'
    """

    def draw(ax: Axes) -> None:
        ax.set_xscale("log")
        ax.axvline(tolerance, color="#010101", lw=0.9, ls=(0, (3, 2)))
        _steps(ax, curves)
        ax.set_xlim(*limits)
        _decades(ax, *limits)
        _shares(ax)
        ax.set_xlabel("residual")

    return _figure(name, f"Accuracy profile, {title}", draw)
