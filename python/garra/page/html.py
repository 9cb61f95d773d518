"""Templates of this package filled in, and pages written."""

from __future__ import annotations

import glob
import json
import os
import re
import socket
from pathlib import Path
from typing import Any

from garra.page import policy, words
from garra.page.run_folder import Run


def study_page(template: str, run: Run, **parts: Any) -> str:
    """The report of a run: a template that gets what every report shows of its run, and `parts`."""
    return page(
        template,
        run=run,
        summary=run.summary,
        manifest=run.manifest,
        replay=run.replay,
        resume=run.resume,
        **parts,
    )


def page(template: str, **parts: Any) -> str:
    """A template of this package, filled in; everything but figures is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("garra"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    granted = policy.Policy()
    environment.globals |= {"words": words, "policy": policy.PLACE}
    environment.filters["script"] = lambda text: Markup(granted.script(str(text)))
    text = environment.get_template(template).render(**parts)
    return text.replace(policy.PLACE, str(granted), 1)


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
