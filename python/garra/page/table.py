"""Tables of pages: a row of data is a row of cells, by the columns that a template gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

from garra.page.measures import measure

Column = str | tuple[Any, ...]


def table(
    rows: Sequence[Any], columns: Sequence[Column], none: str = "", box: str = "scroll", label: str = "",
    kind: str = "", marked: str = "", body: str = "",
) -> Markup:  # fmt: skip
    """A table in a box of its own.

    A column is a head and a cell's key in its row, or a function of the row; then a unit or a function that shows the
    cell. A head alone takes the cells in their order. `>head`: the column is at the right; `head~`: its text is wrapped.

    none: the only cell of an empty table. box, label: class and name of the box. kind: class of the table. marked: the key
    whose rows have its name as class. body: id of the rows, which a script fills.
    """
    shown = [(column,) if isinstance(column, str) else column for column in columns]
    kinds = ["right" if str(head).startswith(">") else "wrap" if str(head).endswith("~") else "" for head, *_ in shown]
    heads = [_cell("th", _strip(head), kind.replace("wrap", "")) for (head, *_), kind in zip(shown, kinds, strict=True)]
    lines = [
        Markup("<tr{}>{}</tr>").format(
            _class(marked if marked and row[marked] else ""),
            Markup("").join(
                _cell("td", _text(row, k, *how), kind) for k, ((_, *how), kind) in enumerate(zip(shown, kinds, strict=True))
            ),
        )
        for row in rows
    ]
    if none and not rows:
        lines = [Markup('<tr><td colspan="{}">{}</td></tr>').format(len(shown), none)]
    region = Markup(' tabindex="0" role="region" aria-label="{}"').format(label) if label else ""
    top = Markup("<tr>{}</tr>").format(Markup("").join(heads))
    if body:
        top = Markup('<thead>{}</thead><tbody id="{}"></tbody>').format(top, body)
    return Markup('<div class="{}"{}><table{}>{}{}</table></div>').format(
        box, region, _class(kind), top, Markup("\n").join(lines)
    )


def _strip(head: Any) -> Any:
    return head.removeprefix(">").removesuffix("~") if isinstance(head, str) else head


def _class(name: str) -> Markup:
    return Markup(' class="{}"').format(name) if name else Markup("")


def _cell(tag: str, text: Any, kind: str) -> Markup:
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), _class(kind), text)


def _text(row: Any, place: int, key: str | int | Callable[[Any], Any] | None = None, how: Any = None) -> Any:
    value = key(row) if callable(key) else row[place if key is None else key]
    if isinstance(how, str):
        return measure(value, how)
    return how(value) if how else value
