"""The program `garra`, from Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path


def path() -> str:
    """GARRA_PROGRAM, the program that came with this package, that was built in this tree, or that the PATH has."""
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
    """Reports are made by this Python."""
    return {"GARRA_PYTHON": sys.executable, **os.environ}


def main() -> None:
    """The command `garra` of an installed wheel: the program takes this process's place."""
    program = path()
    os.execve(program, ["garra", *sys.argv[1:]], environment())


def doctor() -> str:
    """What `garra doctor` says of this machine: processors, lanes, GPU, versions, a self-test; and whether the compiled
    module of this package is there, is of this version, and solves a problem."""
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
