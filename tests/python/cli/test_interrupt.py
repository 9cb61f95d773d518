"""Ctrl-C ends every call that can take long: from Python as KeyboardInterrupt, of the program as a run to be resumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from arrays import require_module
from program import PROGRAM, ROOT, STOPPED, garra

require_module()

ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "python")}

# [s] A call ends within a second; a busy machine gets more. Every call below would take a minute and more.
BOUND = 5.0

# What each call needs is made before the clock starts.
CALLS = {
    # Of one problem: no block of problems ends while its steps go on.
    "contact.solve, one problem": (
        "A, b, mu = np.eye(3) + .25 * np.eye(3, k=1) + .25 * np.eye(3, k=-1), np.array([-1., .75, .5]), np.full(1, .5)",
        'garra.contact.solve(A, b, mu, method="nsgs", tolerance=1e-300, max_iterations=2_000_000_000)',
    ),
    "contact.solve, many": (
        "G = np.random.default_rng(1).normal(size=(50_000, 9, 9)); A = G @ G.transpose(0, 2, 1)\n"
        "b, mu = G[:, 0].copy(), np.full((50_000, 3), .5)",
        'garra.contact.solve(A, b, mu, method="nsgs", tolerance=1e-300, max_iterations=100_000, threads=2)',
    ),
    "mncp": (
        "M, q = np.tile(np.eye(7), (200_000, 1, 1)), np.random.default_rng(1).normal(size=(200_000, 7))",
        "garra.mncp.linear(M, q, tolerance=1e-300, starts=1000)",
    ),
    "grasp.rank": (
        "r = np.random.default_rng(1).normal(size=(2000, 4, 3)); r /= np.linalg.norm(r, axis=-1, keepdims=True)",
        "garra.grasp.rank(points=.05 * r, normals=-r, mass=.2, friction=garra.normal(.5, .1), samples=1_000_000,"
        " threads=1)",
    ),
    "resisted force radius": (
        "r = np.random.default_rng(1).normal(size=(200, 4, 3)); r /= np.linalg.norm(r, axis=-1, keepdims=True)",
        "garra.grasp.rank(points=.05 * r, normals=-r, mass=.2, friction=garra.normal(.5, .1), force_limit=20.,"
        " samples=64, radius_samples=10_000_000, threads=1)",
    ),
    "grasp.propose": ("", 'garra.grasp.propose("box:0.04,0.06,0.1", fingers=4, n=10_000_000, mass=.1, threads=1)'),
    "Chain.simulate, fixed steps": (
        "robot = garra.models.puma560(); zero = np.zeros(6)",
        "robot.simulate(zero, zero, zero, times=[1e5], step=1e-3)",
    ),
    "Chain.simulate, adaptive steps": (
        "robot = garra.models.puma560(); q = np.zeros((50_000, 6)); zero = np.zeros(6)",
        'robot.simulate(q, zero, zero, times=[1000.], method="dopri5", threads=1)',
    ),
    "Platform.simulate": (
        'p = garra.platform.load("trepa_like"); r, q = p.home',
        "p.simulate(r, q, np.zeros(6), np.full(6, 50.), times=[1000.], step=1e-5)",
    ),
    "Platform.forward_kinematics": (
        'p = garra.platform.load("trepa_like"); r, q = p.home; n = 1_000_000\n'
        "lengths = np.tile(p.inverse_kinematics(r, q).lengths, (n, 1))",
        "p.forward_kinematics(lengths, certify=True, threads=1)",
    ),
    "Platform.modes": (
        'p = garra.platform.load("trepa_like"); r, q = p.home\n'
        "lengths = p.inverse_kinematics(r, q).lengths",
        "p.modes(lengths, starts=1_000_000)",
    ),
    "singularity.nearest": (
        "robot = garra.models.puma560(); q = np.random.default_rng(1).uniform(-3, 3, (2_000_000, 6))",
        "garra.singularity.nearest(robot, q, threads=1)",
    ),
    "singularity.map": ("robot = garra.models.puma560()", "garra.singularity.map(robot, samples=10**11)"),
}

SCRIPT = """
import os, signal, sys, threading, time
import numpy as np
import garra
signal.signal(signal.SIGINT, signal.default_int_handler)
{before}
sent = []
def send():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
print("ready", flush=True)
timer = threading.Timer(.3, send)
timer.start()
try:
    {call}
except KeyboardInterrupt:
    print(time.monotonic() - sent[0])
else:
    sys.exit("the call has ended before it was interrupted")
"""


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_a_call(name, tmp_path):
    before, call = CALLS[name]
    command = [sys.executable, "-c", SCRIPT.format(before=before, call=call)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
                               env=ENVIRONMENT)
    try:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        output, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    assert float(output) < BOUND


def test_a_handler_that_raises_nothing_ends_nothing():
    script = """
import os, signal, threading
import numpy as np
import garra
heard = []
signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
threading.Timer(.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
robot = garra.models.puma560()
found = robot.simulate(np.zeros(6), np.zeros(6), np.zeros(6), times=[500.])
assert heard and found.status == 0, (heard, found.status)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_run_ends_within_a_chunk_that_takes_minutes(tmp_path, stop):
    text = (ROOT / "data" / "scenarios" / "three_puma_sphere.toml").read_text()
    (tmp_path / "long.toml").write_text(text + "\n[simulation]\nuntil = 60\n")
    run = tmp_path / "run"
    command = [PROGRAM, "run", tmp_path / "long.toml", "-o", run, "--samples", "65536", "--set", "sampling.chunk=65536",
               "--no-report", "--quiet", "--device", "cpu"]  # fmt: skip
    process = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        deadline = time.monotonic() + 60
        while not (run / "manifest.json").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        start = time.monotonic()
        process.send_signal(stop)
        errors = process.communicate(timeout=60)[1]
        took = time.monotonic() - start
    finally:
        process.kill()
    assert process.returncode == STOPPED, errors
    assert took < BOUND
    assert "garra resume" in errors and "0 of 65536" in garra("status", run).stdout
