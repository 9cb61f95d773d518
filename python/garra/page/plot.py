"""A plot as SVG that belongs to the page: its colors, its font, its width. Ranges and ticks are given, not found.

Parts of most figures of the reports, made in milliseconds; importing a plotting library takes a second. Colors are
names of the page's CSS variables. `mpl_figures.py` is for figures that need more.
"""

from __future__ import annotations

import base64
import html
import math
import struct
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from garra.page.words import number, power_of_ten

FONT = 11  # [px] at the figure's natural size; a phone's style sheet may ask for more
CHARACTER = 0.58 * FONT  # mean width
PHONE = 352  # what a card on a phone of 420 px has room for [px]
LEAST = 11.5  # smallest text there [px]

Ticks = list[tuple[float, str]]
Range = tuple[float, float]


def ticks(low: float, high: float, most: int = 5, text: Callable[[float], str] | None = None) -> Ticks:
    """At most about `most` round values within a range."""
    if not high > low:
        return [(low, (text or number)(low))]
    rough = (high - low) / max(most, 1)
    base = 10.0 ** math.floor(math.log10(rough))
    step = next(s * base for s in (1, 2, 2.5, 5, 10) if s * base >= rough * (1 - 1e-9))
    values = [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9) + (1 if f"{step / base:g}" == "2.5" else 0))
    say = text or (lambda v: f"{v:,.{decimals}f}".replace("-", "−"))
    return [(v + 0.0, say(v + 0.0)) for v in values]


def decades(low: float, high: float) -> Ticks:
    """Powers of ten in one style: written out as long as the largest is short. Where there is at most one, also its
    double and its half."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if first >= last:
        return [(v, number(v)) for k in (last - 1, last) for v in (10.0**k, 2 * 10.0**k, 5 * 10.0**k) if low <= v <= high]
    every = max(1, math.ceil((last - first + 1) / 7))
    plain = first >= 0 and last <= 4
    return [(10.0**k, f"{10**k:,}" if plain else power_of_ten(k)) for k in range(first, last + 1, every)]


@dataclass
class Axis:
    """`log`: powers of ten are equally far apart."""

    range: Range
    ticks: Ticks = field(default_factory=list)
    label: str = ""
    log: bool = False

    def part(self, v: float) -> float:
        """0 at the lower end, 1 at the upper one."""
        low, high = self.range
        if self.log:
            low, high, v = math.log10(low), math.log10(high), math.log10(max(v, 1e-300))
        return (v - low) / (high - low) if high > low else 0.5


class Plot:
    """Elements are drawn in the order in which they are added; only what `clip` holds is cut at the axes."""

    def __init__(self, name: str, size: tuple[int, int], x: Axis, y: Axis, right: float = 14) -> None:
        self.name, self.x, self.y, (self.width, self.height) = name, x, y, size
        self.font = max(FONT, LEAST * self.width / PHONE)  # room for what a phone shows
        widest = max((len(text) for _, text in y.ticks), default=0)
        self.left = max(10.0, widest * CHARACTER * self.font / FONT + 8) + (self.font + 6 if y.label else 0)
        self.right, self.top = self.width - right, 10.0
        self.bottom = self.height - (2 * self.font + 16 if x.label else self.font + 10)
        self._clipped: list[str] = []
        self._free: list[str] = []

    # places

    def px(self, v: float) -> float:
        return self.left + (self.right - self.left) * self.x.part(v)

    def py(self, v: float) -> float:
        return self.bottom - (self.bottom - self.top) * self.y.part(v)

    def _points(self, x: Iterable[float], y: Iterable[float]) -> list[str]:
        return [f"{_short(self.px(a))} {_short(self.py(b))}" for a, b in zip(x, y, strict=True) if _known(a, b)]

    # marks

    def line(
        self, x: Iterable[float], y: Iterable[float], color: str, width: float = 1.7, dash: str = "", alpha: float = 1
    ) -> None:
        self._path("M" + "L".join(self._points(x, y)), f'fill="none" {_stroke(color, width, dash, alpha)}')

    def area(self, x: Sequence[float], low: Sequence[float], high: Sequence[float], color: str, alpha: float) -> None:
        rows = [row for row in zip(x, low, high, strict=True) if _known(*row)]
        there = self._points([r[0] for r in rows], [r[2] for r in rows])
        back = self._points([r[0] for r in rows[::-1]], [r[1] for r in rows[::-1]])
        self._path("M" + "L".join(there + back) + "Z", f'fill="var(--{color})" fill-opacity="{alpha:g}"')

    def steps(
        self, edges: Sequence[float], heights: Sequence[float], color: str, alpha: float, width: float = 0
    ) -> None:
        """A filled histogram; `width` of its outline."""
        floor = self.y.range[0]
        x = [e for e in edges for _ in (0, 1)]
        y = [floor, *(max(h, floor) for h in heights for _ in (0, 1)), floor]
        path = "M" + "L".join(self._points(x, y))
        self._path(path + "Z", f'fill="var(--{color})" fill-opacity="{alpha:g}"')
        if width:
            self._path(path, f'fill="none" {_stroke(color, width)}')

    def block(self, x: Range, y: Range, color: str, alpha: float = 1) -> None:
        (a, b), (c, d) = map(self.px, x), map(self.py, y)
        box = f'x="{_short(a)}" y="{_short(d)}" width="{_short(b - a)}" height="{_short(c - d)}"'
        self._clipped.append(f'<rect {box} fill="var(--{color})" fill-opacity="{alpha:g}"/>')

    def vertical(self, x: float, color: str, width: float = 1, dash: str = "", top: float = 1) -> None:
        """A line from the lower end up to a part of the height."""
        up = self.bottom - top * (self.bottom - self.top)
        self._path(f"M{_short(self.px(x))} {_short(self.bottom)}V{_short(up)}", _stroke(color, width, dash))

    def horizontal(self, y: float, color: str, width: float = 1, dash: str = "") -> None:
        self._path(f"M{_short(self.left)} {_short(self.py(y))}H{_short(self.right)}", _stroke(color, width, dash))

    def whisker(self, x: float, low: float, high: float, color: str) -> None:
        """An interval with its two ends."""
        at, a, b = self.px(x), self.py(low), self.py(high)
        caps = "".join(f"M{_short(at - 2.5)} {_short(end)}H{_short(at + 2.5)}" for end in (a, b))
        self._path(f"M{_short(at)} {_short(a)}V{_short(b)}{caps}", f'fill="none" {_stroke(color, 1)}')

    def dot(self, x: float, y: float, color: str, radius: float = 2.2, inner: str = "") -> None:
        ring = f'fill="var(--{inner})" {_stroke(color, 1.6)}' if inner else f'fill="var(--{color})"'
        self._free.append(f'<circle cx="{_short(self.px(x))}" cy="{_short(self.py(y))}" r="{radius:g}" {ring}/>')

    def circle(self, radius: float, color: str, width: float) -> None:
        """About the origin; of a plot whose axes have one scale."""
        r = self.px(radius) - self.px(0)
        at = f'cx="{_short(self.px(0))}" cy="{_short(self.py(0))}" r="{_short(r)}"'
        self._free.append(f'<circle {at} fill="none" {_stroke(color, width)}/>')

    def image(self, rgba: Sequence[bytes], x: Range, y: Range) -> None:
        """Rows of 4-byte pixels from the top, over a rectangle."""
        (a, b), (c, d) = map(self.px, x), map(self.py, y)
        place = f'x="{_short(a)}" y="{_short(d)}" width="{_short(b - a)}" height="{_short(c - d)}"'
        data = base64.b64encode(_png(rgba)).decode()
        self._free.append(f'<image {place} preserveAspectRatio="none" href="data:image/png;base64,{data}"/>')

    def text(
        self, words: str, x: float, y: float, color: str = "muted", align: str = "start", shift: float = 0
    ) -> None:
        """Beside a place in data; `shift` to the right [px]."""
        self.label(words, self.px(x) + shift, self.py(y) + 0.35 * self.font, color, align)

    def label(self, words: str, x: float, y: float, color: str = "muted", align: str = "start") -> None:
        """At a place of the picture, its baseline."""
        anchor = "" if align == "start" else f' text-anchor="{align}"'
        place = f'x="{_short(x)}" y="{_short(y)}" fill="var(--{color})"{anchor}'
        self._free.append(f"<text {place}>{html.escape(words)}</text>")

    def leader(self, points: Sequence[tuple[float, float]], color: str, width: float = 0.9) -> None:
        """A thin line through places of the picture."""
        path = "M" + "L".join(f"{_short(a)} {_short(b)}" for a, b in points)
        self._free.append(f'<path d="{path}" fill="none" {_stroke(color, width)}/>')

    def text_width(self, words: str) -> float:
        return len(words) * CHARACTER * self.font / FONT

    def _path(self, path: str, style: str) -> None:
        if len(path) > 2:
            self._clipped.append(f'<path d="{path}" {style}/>')

    # the picture

    def svg(self, title: str, grid: str = "xy", base: bool = True) -> str:
        """`grid`: along which axes lines are drawn; `base`: the lower axis."""
        clip = f"{self.name}-clip"
        box = f'x="{_short(self.left)}" y="{_short(self.top - 4)}" width="{_short(self.right - self.left)}"'
        box += f' height="{_short(self.bottom - self.top + 4)}"'
        parts = [
            f'<svg class="figure" style="--least:{self.font:.1f}px" viewBox="0 0 {self.width} {self.height}" '
            f'font-size="{FONT}" role="img" aria-label="{html.escape(title)}"><clipPath id="{clip}"><rect {box}/></clipPath>',
            *self._axes(grid, base),
            f'<g clip-path="url(#{clip})">',
            *self._clipped,
            "</g>",
            *self._free,
            "</svg>",
        ]
        return "".join(parts)

    def _axes(self, grid: str, base: bool) -> list[str]:
        at_x = [(self.px(v), text) for v, text in self.x.ticks if -0.001 <= self.x.part(v) <= 1.001]
        at_y = [(self.py(v), text) for v, text in self.y.ticks if -0.001 <= self.y.part(v) <= 1.001]
        lines = [f"M{_short(p)} {_short(self.top)}V{_short(self.bottom)}" for p, _ in at_x if "x" in grid]
        lines += [f"M{_short(self.left)} {_short(p)}H{_short(self.right)}" for p, _ in at_y if "y" in grid]
        lines += [f"M{_short(self.left)} {_short(self.bottom)}H{_short(self.right)}"] if base else []
        marks = [f'<path d="{"".join(lines)}" {_stroke("grid", 0.8)}/>'] if lines else []
        for p, text in at_x:
            marks.append(_text(text, p, self.bottom + self.font + 4, "muted", "middle"))
        for p, text in at_y:
            marks.append(_text(text, self.left - 6, p + 0.35 * self.font, "muted", "end"))
        if self.x.label:
            middle = (self.left + self.right) / 2
            marks.append(_text(self.x.label, middle, self.height - 6, "ink", "middle"))
        if self.y.label:
            x, y = _short(self.font), _short((self.top + self.bottom) / 2)
            turn = f'<text transform="translate({x} {y}) rotate(-90)" text-anchor="middle" fill="var(--ink)">'
            marks.append(f"{turn}{html.escape(self.y.label)}</text>")
        return marks


def _text(words: str, x: float, y: float, color: str, align: str) -> str:
    place = f'x="{_short(x)}" y="{_short(y)}" text-anchor="{align}" fill="var(--{color})"'
    return f"<text {place}>{html.escape(words)}</text>"


def _stroke(color: str, width: float, dash: str = "", alpha: float = 1) -> str:
    text = f'stroke="var(--{color})" stroke-width="{width:g}"'
    text += f' stroke-dasharray="{dash}"' if dash else ""
    return text + (f' stroke-opacity="{alpha:.2f}"' if alpha < 1 else "")


def _known(*values: float) -> bool:
    return all(v is not None and math.isfinite(v) for v in values)


def _short(v: float) -> str:
    return f"{v:.1f}".removesuffix(".0")


def _png(rows: Sequence[bytes]) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", len(rows[0]) // 4, len(rows), 8, 6, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
