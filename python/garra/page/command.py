"""Common parts of the commands that write a page: they print its name, or an error with an exit code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from garra.page import html
from garra.page.run_folder import RunError

MISSING_PACKAGE = 70
CANNOT_WRITE = 5


def make(program: str, output: Path, build: Callable[[], str]) -> int:
    """Writes the page that `build` makes to `output`; the exit code. `program`: who speaks in messages."""

    def write() -> None:
        html.write(build(), output)
        print(output)

    return run(program, write, str(output))


def run(program: str, task: Callable[[], None], output: str = "") -> int:
    """Runs a task; the exit code, with a message for what may go wrong."""
    try:
        task()
    except RunError as error:
        return _fail(program, str(error), error.exit_code)
    except ModuleNotFoundError as error:
        remedy = "install what garra needs: pip install numpy matplotlib jinja2 h5py"
        return _fail(program, f"the Python package {error.name} is missing; {remedy}", MISSING_PACKAGE)
    except OSError as error:
        return _fail(program, f"{error.filename or output or 'output'}: {error.strerror or error}", CANNOT_WRITE)
    except (KeyError, RuntimeError) as error:  # what h5py makes of a disk that cannot be read
        if not _is_of_hdf5(error):
            raise
        return _fail(program, f"a file of the run cannot be read: {error}", CANNOT_WRITE)
    return 0


def _is_of_hdf5(error: Exception) -> bool:
    innermost = traceback.extract_tb(error.__traceback__)[-1]
    return "h5py" in innermost.filename


def _fail(program: str, message: str, code: int) -> int:
    print(f"{program}: {message}", file=sys.stderr)
    return code
