"""The same small study computed in several ways, and its bytes."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = {
    "three_puma_sphere": 6100,
    "two_finger_cylinder": 3000,
    "three_puma_shake": 60,
    "exoskeleton_damping": 48,
    "puma_singularities": 6000,
    "platform_climb": 1500,
}
JOBS = tuple(SAMPLES)
# Device, threads, blocks of 1,024 samples in a chunk: each value beside most others.
WAYS = (
    ("cpu", 1, 64),
    ("cpu", 2, 1),
    ("cpu", 3, 2),
    ("cpu", 7, 1),
    ("scalar", 1, 1),
    ("scalar", 2, 64),
    ("scalar", 3, 3),
)


def answer(program: str | Path, job: str, way: tuple[str, int, int], folder: Path) -> dict[str, bytes]:
    """The files that must not depend on the way; the same run made at `folder`."""
    device, threads, blocks = way
    flags = ["--device", device, "--threads", threads, "--set", f"sampling.chunk={1024 * blocks}", "--samples", SAMPLES[job]]
    command = [program, "run", ROOT / f"data/scenarios/{job}.toml", *flags, "-o", folder, "--no-report", "--quiet"]
    done = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, timeout=300)
    if done.returncode not in (0, 4):
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.returncode} {done.stderr}")
    return {name: (folder / name).read_bytes() for name in ("summary.json", "results.h5")}
