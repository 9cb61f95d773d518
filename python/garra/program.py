"""The program `garra`, from Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path


def path() -> str:
    """Path of the program: GARRA_PROGRAM, the package's, the source tree's build, or the PATH's.

    Returns
    -------
    str

    Raises
    ------
    FileNotFoundError
        If there is no program.

    Examples
    --------
    >>> from garra import program
    >>> program.path()
    '...garra...'
    """
    if os.environ.get("GARRA_PROGRAM"):
        return os.environ["GARRA_PROGRAM"]
    package = Path(__file__).resolve().parent
    for candidate in (package / "bin" / "garra", package.parents[1] / "build" / "garra"):
        if candidate.is_file():
            return str(candidate)
    found = shutil.which("garra")
    if found is None:
        raise FileNotFoundError("the program garra is not there: install the wheel, or build it with tools/build")
    return found


def environment() -> dict[str, str]:
    """Environment of the program, with this Python for reports.

    Returns
    -------
    dict
        os.environ and GARRA_PYTHON.

    Examples
    --------
    >>> from garra import program
    >>> "GARRA_PYTHON" in program.environment()
    True
    """
    return {"GARRA_PYTHON": sys.executable, **os.environ}


def main() -> None:
    """Command `garra` of an installed wheel: the program replaces this process."""
    program = path()
    os.execve(program, ["garra", *sys.argv[1:]], environment())


def doctor() -> str:
    """Text of `garra doctor`, with a check of the compiled module.

    The text names processors, SIMD lanes, GPU and versions, and has the result of a self-test. The check tells
    whether the module is present, of this version, and correct on one problem.

    Returns
    -------
    str

    Raises
    ------
    FileNotFoundError
        If the program is not found.

    Examples
    --------
    >>> print(garra.doctor())  # doctest: +SKIP
    garra 0.3.0, compiled by GCC 12.2.0, instruction set x86-64-v4
    ...
    Python module: ok, .../garra/_core.abi3.so
    """
    run = subprocess.run([path(), "doctor"], env=environment(), capture_output=True, text=True)
    return f"{run.stdout}{run.stderr}Python module: {_module()}\n"


def _module() -> str:
    try:
        from garra import __version__, _core, contact
    except ImportError as problem:
        return f"MISSING: {problem}"
    if _core.version != __version__:
        return f"OTHER VERSION: {_core.__file__} is {_core.version}, the package {__version__}; build it with tools/build"
    # 1 kg that 2 m/s^2 press on a wall: 2 N.
    force = contact.solve([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]], [-2.0, 0, 0], 0.5).c
    return f"{'ok' if abs(force[0] - 2) < 1e-8 else f'WRONG ANSWER {force[0]} instead of 2'}, {_core.__file__}"
