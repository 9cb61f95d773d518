"""Templates of this package filled in, and pages written."""

from __future__ import annotations

import glob
import json
import os
import re
import socket
from pathlib import Path
from typing import Any

from garra.page import measures, policy, words
from garra.page.run_folder import Run

WORDS = ("count", "plural", "number", "percent", "share", "quantity", "duration", "NARROW", "MISSING")
SECTIONS = "sections of this page"
"""Stands in the navigation until all sections are known."""


def study_page(template: str, run: Run, **parts: Any) -> str:
    """The report of a run: a template that gets what every report shows of its run, and `parts`."""
    title = run.summary["title"] or f"Study of {run.summary['job'].replace('_', ' ')}"
    shared = {"summary": run.summary | {"title": title}, "manifest": run.manifest, "replay": run.replay, "resume": run.resume}
    return page(template, run=run, **shared, **parts)


def page(template: str, data: dict[str, Any] | None = None, **parts: Any) -> str:
    """A template of this package, filled in; everything but figures is escaped. `data`: of its scripts, by names."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    from garra.page.table import table

    environment = Environment(
        loader=PackageLoader("garra"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    granted, sections = policy.Policy(), []
    environment.globals |= {name: getattr(words, name) for name in WORDS} | dict.fromkeys(("heading", "source", "ramp"), "")
    environment.globals |= dict.fromkeys(("facts", "styles", "scripts", "starts"), ()) | {
        "words": words, "policy": policy.PLACE, "sections": sections, "sections_of_page": SECTIONS, "table": table,
        "measure": measures.measure, "quantile_text": measures.quantile_text, "html": Markup,
    }  # fmt: skip
    environment.filters["script"] = lambda text: Markup(granted.script(str(text)))
    macros = environment.get_template("page/macros.html").make_module(parts)
    environment.globals |= {name: macro for name, macro in vars(macros).items() if callable(macro)}
    text = environment.get_template(template).render(data={k: dumps(v) for k, v in (data or {}).items()}, **parts)
    links = (f'<a href="#{id}">{escape(name)}</a>' for id, name in sections if name)
    return text.replace(policy.PLACE, str(granted), 1).replace(SECTIONS, "".join(links), 1)


def dumps(value: Any) -> str:
    """JSON that can stand inside a script element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def write(html: str, path: Path) -> None:
    """Writes to a temporary name and renames: a reader never sees half a report, and no symbolic link is followed.

    The name is that of src/base/files/atomic_file.cpp: `garra resume` removes what a killed process leaves, and so does
    the next report.
    """
    host = re.sub("[^A-Za-z0-9]", "-", socket.gethostname())
    for left in path.parent.glob(f"{glob.escape(path.name)}.garra-{host}-*.part"):
        if _is_dead(left.name.rpartition("-")[2].partition(".")[0]):
            left.unlink(missing_ok=True)
    temporary = path.with_name(f"{path.name}.garra-{host}-{os.getpid()}.part")
    temporary.unlink(missing_ok=True)
    try:
        with temporary.open("x", encoding="utf-8") as file:
            file.write(html)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _is_dead(number: str) -> bool:
    """Whether there is no process of this number."""
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, OverflowError):  # another user's, or no number
        return False
    return False
