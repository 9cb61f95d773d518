"""Runs of the program for tests of reports: each made once per session, whatever the number of workers, then copied."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("GARRA_PROGRAM", "")
DONE, UNSOLVED = 0, 4
# Samples of a scenario that are enough for a report of every part; None: as the scenario says.
SAMPLES: dict[str, int | None] = {
    "three_puma_sphere": 2048,
    "two_finger_cylinder": 1024,
    "four_finger_box": 1024,
    "three_puma_shake": 240,
    "three_puma_pull": 256,
    "exoskeleton_damping": 512,
    "puma_singularities": 20_000,
    "platform_climb": 1024,
}


class Runs:
    """`folder` is shared by all workers of a session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def made(self, scenario: str, *flags: object, write: Callable[[Path], Path] | None = None) -> Path:
        """The run folder of a shipped scenario, to be read only; `flags` of `garra run` go first. `write`: puts a scenario
        of this name into a folder and returns its file."""
        if not Path(PROGRAM).is_file():
            pytest.skip("GARRA_PROGRAM names no built program")
        texts = list(map(str, flags))
        if "--samples" not in texts and SAMPLES.get(scenario):
            texts += ["--samples", str(SAMPLES[scenario])]
        name = " ".join([scenario, *texts])
        run = self.folder / f"{re.sub(r'[^A-Za-z0-9.]+', '-', name)[:60]}-{zlib.crc32(name.encode()):08x}"
        with (self.folder / f"{run.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not run.exists():
                part = run.with_name(run.name + ".part")
                shutil.rmtree(part, ignore_errors=True)
                part.mkdir()
                self._run(
                    write(part) if write else ROOT / "data" / "scenarios" / f"{scenario}.toml", texts, part / "run"
                )
                (part / "run").rename(run)
        return run

    @staticmethod
    def _run(file: Path, flags: list[str], run: Path) -> None:
        command = [PROGRAM, "run", file, *flags, "-o", run, "--no-report", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
        assert done.returncode in (DONE, UNSOLVED), done.stderr

    def copy(
        self, to: Path, scenario: str, *flags: object, write: Callable[[Path], Path] | None = None
    ) -> dict[str, Any]:
        """Writes what a report reads of such a run into the folder `to`; its summary. The others as of `made`."""
        to.mkdir(parents=True, exist_ok=True)
        for file in self.made(scenario, *flags, write=write).iterdir():
            if file.is_file():
                shutil.copy(file, to)
        return json.loads((to / "summary.json").read_text())
