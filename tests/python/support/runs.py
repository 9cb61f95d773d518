"""Runs of the program for tests of reports: each made once per session, whatever the number of workers, then copied."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
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

    def made(self, scenario: str, *flags: object) -> Path:
        """The run folder of a shipped scenario, to be read only; `flags` of `garra run` go first."""
        if not Path(PROGRAM).is_file():
            pytest.skip("GARRA_PROGRAM names no built program")
        texts = list(map(str, flags))
        if "--samples" not in texts and SAMPLES.get(scenario):
            texts += ["--samples", str(SAMPLES[scenario])]
        run = self.folder / re.sub(r"[^\w.=+-]+", "_", " ".join([scenario, *texts]))
        with (self.folder / f"{run.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not run.exists():
                self._run(scenario, texts, run)
        return run

    def _run(self, scenario: str, flags: list[str], run: Path) -> None:
        part = run.with_name(run.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        file = ROOT / "data" / "scenarios" / f"{scenario}.toml"
        command = [PROGRAM, "run", file, *flags, "-o", part, "--no-report", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
        assert done.returncode in (DONE, UNSOLVED), done.stderr
        part.rename(run)

    def copy(self, to: Path, scenario: str, *flags: object) -> dict[str, Any]:
        """Writes what a report reads of such a run into the folder `to`; its summary. Flags as of `made`."""
        to.mkdir(parents=True, exist_ok=True)
        for file in self.made(scenario, *flags).iterdir():
            if file.is_file():
                shutil.copy(file, to)
        return json.loads((to / "summary.json").read_text())
