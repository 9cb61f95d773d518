"""What the commands that write a page have in common: they print its name, or say what is wrong, with an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from garra.page import html
from garra.page.run_folder import RunError

MISSING_PACKAGE = 70
CANNOT_WRITE = 5


def make(program: str, output: Path, build: Callable[[], str]) -> int:
    """Writes the page that `build` makes to `output`; the exit code. `program`: who speaks in messages."""
    try:
        html.write(build(), output)
    except RunError as error:
        return _fail(program, str(error), error.exit_code)
    except ModuleNotFoundError as error:
        remedy = "install what garra needs: pip install numpy matplotlib jinja2 h5py"
        return _fail(program, f"the Python package {error.name} is missing; {remedy}", MISSING_PACKAGE)
    except OSError as error:
        return _fail(program, f"{error.filename or output}: {error.strerror}", CANNOT_WRITE)
    print(output)
    return 0


def _fail(program: str, message: str, code: int) -> int:
    print(f"{program}: {message}", file=sys.stderr)
    return code
