"""The palm of a shaken sample as `garra replay -o` exports it, and fed back as a sampled load.

Run with GARRA_PROGRAM=path/to/garra.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
from program import ROOT, garra

SHAKE = ROOT / "data" / "scenarios" / "three_puma_shake.toml"
SAMPLE = 3
UNTIL, STEP = 0.12, 1e-3
SMALL = ("--set", f"simulation.duration={UNTIL}", "--set", "simulation.friction=[0.4, 0.5]", "--samples", "8", "--no-report")


def motion(run: Path, out: Path) -> dict[str, np.ndarray]:
    garra("replay", run, "--sample", SAMPLE, "-o", out)
    with h5py.File(out) as file:
        group = file[f"sample_{SAMPLE}"]
        found = {name: group[name][()] for name in ("time", "position", "quaternion", "gravity")}
        found |= {name: group["palm"][name][()] for name in group["palm"]}
        return found | {name: group["palm"].attrs[name] for name in group["palm"].attrs}


@pytest.fixture(scope="module")
def shaken(tmp_path_factory) -> dict[str, np.ndarray]:
    folder = tmp_path_factory.mktemp("shaken")
    garra("run", SHAKE, "-o", folder / "run", *SMALL)
    return motion(folder / "run", folder / "sample.h5")


def tones(m: dict[str, np.ndarray], t: np.ndarray) -> np.ndarray:
    """Sum of the exported tones at times t, by numpy."""
    inside = np.minimum(t - m["from"], m["to"] - t)
    fade = np.where(inside >= m["edge"], 1.0, 0.5 * (1 - np.cos(np.pi * np.clip(inside, 0, None) / m["edge"])))
    angle = 2 * np.pi * m["frequency"] * t[:, None, None] + m["phase"]
    return fade[:, None] * (m["amplitude"] * np.cos(angle)).sum(axis=2)


def test_the_exported_tones_are_the_exported_acceleration(shaken):
    assert shaken["phase"].shape == shaken["amplitude"].shape == (3, 16)
    assert np.allclose(shaken["frequency"], 2 + (np.arange(16) + 0.5) / 16 * 18, rtol=0, atol=1e-12)
    assert np.allclose(shaken["amplitude"], 0.8 * np.sqrt(2 / 16), rtol=0, atol=1e-14)
    assert len(set(shaken["phase"].ravel())) == 48
    assert np.abs(tones(shaken, shaken["time"]) - shaken["acceleration"]).max() < 1e-12
    assert np.abs(tones(shaken, shaken["step_time"]) - shaken["step_acceleration"]).max() < 1e-12
    assert np.abs(shaken["acceleration"]).max() > 0.2


def test_the_object_feels_gravity_less_the_palm(shaken):
    # `gravity` is that of the step's middle, half a step before the row.
    rows = np.rint(shaken["time"] / STEP).astype(int)
    felt = np.array([0, 0, -9.81]) - shaken["step_acceleration"][rows]
    assert np.abs(felt - shaken["gravity"]).max() < 1e-12


@pytest.mark.parametrize("way", ["steps", "fine"])
def test_fed_back_it_moves_the_object_the_same_way(shaken, tmp_path, way):
    """At the times that the steps take it: to rounding. Between other times: to what the tones curve in between."""
    t = shaken["step_time"] if way == "steps" else np.arange(0, UNTIL + 5e-5, 1e-4)
    a = shaken["step_acceleration"] if way == "steps" else tones(shaken, t)
    rows = "\n".join(",".join(repr(float(x)) for x in (time, *row)) for time, row in zip(t, a))
    (tmp_path / "palm.csv").write_text("time, ax, ay, az\n" + rows + "\n")
    text = SHAKE.read_text()
    begin, end = text.index("[[simulation.load]]"), text.index("[sampling]")
    scenario = tmp_path / "sampled.toml"
    scenario.write_text(text[:begin] + '[[simulation.load]]\nkind = "sampled"\nfile = "palm.csv"\n\n' + text[end:])
    garra("run", scenario, "-o", tmp_path / "run", *SMALL)
    (tmp_path / "palm.csv").unlink()
    shutil.move(tmp_path / "run", tmp_path / "moved")  # the folder alone reproduces the sample
    again = motion(tmp_path / "moved", tmp_path / "again.h5")
    assert "phase" not in again
    moved = np.abs(shaken["position"] - shaken["position"][0]).max()
    difference = np.abs(again["position"] - shaken["position"]).max()
    assert moved > 1e-5
    assert difference < (1e-14 if way == "steps" else 1e-3 * moved)
