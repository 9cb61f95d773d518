"""examples/own_study.cpp: a system that garra does not know, through the public engine, with a run folder and a report."""

from __future__ import annotations

import json
import math
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from program import PROGRAM, garra, summary_of, table_of

EXAMPLE = Path(PROGRAM).parent / "examples" / "example_own_study"
SAMPLES = 40_000
GRAVITY, UNTIL, SMALL = 9.81, 10.0, math.radians(5)

if not EXAMPLE.is_file():
    pytest.skip("the examples are not built", allow_module_level=True)


def own_study(folder, device="cpu", samples=SAMPLES):
    done = subprocess.run([EXAMPLE, folder, device, str(samples)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own") / "run"
    own_study(folder)
    return folder


def pendulum(length, damping, start, steps=20_000):
    """Largest speed of the bob and largest angle of the last second, all samples at once: semi-implicit steps, twenty times
    as many as the example's, which share neither its method nor its text."""
    h, angle, rate = UNTIL / steps, start.copy(), np.zeros_like(start)
    fastest, late = np.zeros_like(start), np.zeros_like(start)
    for k in range(steps):  # velocity Verlet for a force that depends on the velocity, too
        half = rate + h / 2 * (-GRAVITY / length * np.sin(angle) - damping * rate)
        angle = angle + h * half
        rate = (half - h / 2 * GRAVITY / length * np.sin(angle)) / (1 + h / 2 * damping)
        fastest = np.maximum(fastest, np.abs(rate))
        if (k + 1) * h >= 9.01 - 1e-9:  # the first instant after 9 s that the example looks at
            late = np.maximum(late, np.abs(angle))
    return fastest * length, late


def test_its_samples_move_as_another_integrator_says(run):
    table = table_of(run / "results.h5")
    rows = slice(0, 400)
    length, damping, start = table["inputs"][rows].T
    speed, late = pendulum(length, damping, start)
    # The example looks at its 1,000 steps only: of a peak it may miss (w h)^2 / 8, w^2 = g / length. The other integrator
    # is ahead by (w h')^2 / 24 of the phase w T at most, h' a twentieth of h: 3.6e-5 for the shortest pendulum.
    missed = GRAVITY / length * (UNTIL / 1000) ** 2 / 8
    for name, truth in (("peak_speed", speed), ("late_angle", late)):
        short = truth - table[name][rows]
        assert np.all(short > -4e-5 * truth) and np.all(short < (1.2 * missed + 4e-5) * truth), name
    assert np.all(table["late_angle"] >= SMALL)  # those that have not settled are kept


def test_its_probability_is_that_of_the_other_integrator_on_other_samples(run):
    random = np.random.default_rng(5)
    n = 20_000
    damping = random.normal(0.6, 0.2, 2 * n)
    damping = damping[(damping > 0) & (damping < 10)][:n]
    _, late = pendulum(random.uniform(0.2, 1.0, n), damping, random.uniform(0.2, 2.0, n), steps=2000)
    p, event = np.mean(late < SMALL), summary_of(run)["event"]
    assert event["name"] == "settled"
    spread = math.sqrt(p * (1 - p) * (1 / n + 1 / SAMPLES))
    assert abs(event["probability"] - p) < 4 * spread
    assert event["low"] < event["probability"] < event["high"]


def test_scalar_code_gives_the_same_bytes(run, tmp_path):
    own_study(tmp_path / "scalar", "scalar")
    for name in ("summary.json", "results.h5"):
        assert (tmp_path / "scalar" / name).read_bytes() == (run / name).read_bytes()


def test_its_kernel_gives_the_same_bytes(tmp_path):
    symbols = subprocess.run(["nm", "-C", EXAMPLE], capture_output=True, text=True, check=True).stdout
    if "simulated_gpu::" not in symbols and not any(Path("/dev").glob("nvidia[0-9]*")):
        pytest.skip("no GPU here, and no simulated one in the example")
    own_study(tmp_path / "gpu", "cuda", 3000)
    own_study(tmp_path / "scalar", "scalar", 3000)
    for name in ("summary.json", "results.h5"):
        assert (tmp_path / "gpu" / name).read_bytes() == (tmp_path / "scalar" / name).read_bytes()


def test_a_killed_run_goes_on(run, tmp_path):
    folder = tmp_path / "run"
    process = subprocess.Popen([EXAMPLE, folder, "scalar", str(SAMPLES)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(3000):
        if len(list(folder.glob("chunks/0*"))) >= 1 or process.poll() is not None:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    there = len([file for file in folder.glob("chunks/*") if re.fullmatch(r"\d+", file.name)])
    text = own_study(folder)
    computed = int(re.search(r"(\d+) of them computed now", text)[1])
    assert there >= 1 and computed == SAMPLES - min(there * 16 * 1024, SAMPLES)
    assert (folder / "summary.json").read_bytes() == (run / "summary.json").read_bytes()


def test_it_has_a_report_for_free(run, tmp_path):
    page = tmp_path / "report.html"
    garra("report", run)
    page = (run / "report.html").read_text()
    event = summary_of(run)["event"]
    assert f"P({event['name']})" in page and "Peak speed" in page and "start angle" in page
    assert f"{100 * event['probability']:.1f}"[:4] in page
    summary = summary_of(run)
    assert list(summary["outcome_words"]) == list(summary["outcomes"])
    assert [row["decided"] for row in summary["outcome_words"].values()] == [True, True, False]
    assert all(n == 0 or f"{n:,}{row['meaning'] and ' · '}{row['meaning']}<" in page for n, row in zip(
        summary["outcomes"].values(), summary["outcome_words"].values(), strict=True
    ))  # fmt: skip


def test_a_summary_that_contradicts_itself_has_none(run, tmp_path):
    for name in ("summary.json", "manifest.json", "scenario.toml"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    summary = summary_of(run)
    summary["outcomes"]["settled"] += 1
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    done = garra("report", tmp_path, expect=None)
    assert done.returncode != 0 and "do not add up" in done.stderr


def test_another_study_does_not_take_its_folder(run):
    done = subprocess.run([EXAMPLE, run, "cpu", "1024"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "another study" in done.stderr
