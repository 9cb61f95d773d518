"""The built program, and what the tests of its runs have in common. Skips the module that imports it where there is none."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("GARRA_PROGRAM", "")
if not Path(PROGRAM).is_file():
    pytest.skip("GARRA_PROGRAM names no built program", allow_module_level=True)

DONE, REQUIREMENT, USAGE, INVALID, UNSOLVED, STOPPED = 0, 1, 2, 3, 4, 75


def garra(*arguments, expect: int | None = DONE, **options) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, *map(str, arguments)]
    options.setdefault("cwd", ROOT)
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    if expect is not None:
        assert done.returncode == expect, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


MOST_SECONDS = 300  # of processor time, whatever else the machine has to do


def wait_until(there: Callable[[], bool], process: subprocess.Popen) -> None:
    """Until a program under way has made something. Fails where it ends before, or computes for too long without it."""
    while not there():
        ended = process.poll() is not None
        assert there() or not ended, "the program has ended without it"
        assert seconds_of(process) < MOST_SECONDS, "the program does not get on"
        time.sleep(0.002)


def seconds_of(process: subprocess.Popen) -> float:
    """Processor time of a process [s]."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def table_of(file: Path) -> dict:
    """The data sets of an HDF5 file."""
    with h5py.File(file) as f:
        return {name: f[name][()] for name in f if isinstance(f[name], h5py.Dataset)}


def summary_of(folder: Path) -> dict:
    return json.loads((folder / "summary.json").read_text())


def clopper_pearson(k: int, n: int) -> tuple[float, float]:
    """The exact 95 % interval, by quantiles of beta distributions."""
    beta = pytest.importorskip("scipy.stats").beta
    return (0 if k == 0 else beta.ppf(0.025, k, n - k + 1), 1 if k == n else beta.ppf(0.975, k + 1, n - k))
