"""What a call from Python costs: garra's arrays beside the program's own batches and beside loops over other libraries.

usage: .venv/bin/pip install pin && PYTHONPATH=python .venv/bin/python bench/peers/python_calls.py [-n STATES]

Prints states or problems per second, all on the threads that the program takes by itself; medians of five. Pinocchio's
Python has no batches, so it is called once a state, on one thread. The program's figure is the time that it states for
the same work on the same arrays, without reading and writing files.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import garra
import garra.files
import h5py
import numpy as np
from garra import program

try:
    import pinocchio
except ImportError:
    pinocchio = None


def median_time(call, repeats: int = 5) -> float:
    def once() -> float:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    once()
    return statistics.median(once() for _ in range(repeats))


def line(what: str, count: int, seconds: float) -> None:
    print(f"{what:<58} {count / seconds:14,.0f} /s   {1e6 * seconds / count:9.3f} us each", flush=True)


def chains(n: int) -> None:
    robot = garra.models.iiwa14()
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-1, 1, (3, n, robot.n))
    line(f"rnea, iiwa, {n:,} states from Python", n, median_time(lambda: robot.rnea(q, qd, qdd)))
    with tempfile.TemporaryDirectory() as folder:
        states, out = Path(folder) / "states.h5", Path(folder) / "out.h5"
        with h5py.File(states, "w") as file:
            file["q"], file["qd"], file["qdd"] = q, qd, qdd
        answers = []
        for _ in range(5):
            command = [
                program.path(),
                "chain",
                "eval",
                "iiwa14",
                states,
                "-o",
                out,
                "--outputs",
                "tau",
                "--format",
                "json",
            ]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
            answers.append(json.loads(done.stdout)["seconds"])
        line("the same by `garra chain eval`, arrays in memory", n, statistics.median(answers))
    one = q[0].copy()
    calls = 2000

    def single() -> None:
        for _ in range(calls):
            robot.rnea(one, one, one)

    line("rnea, one state a call", calls, median_time(single))
    if pinocchio is None:
        print("Pinocchio is not installed")
        return
    model = pinocchio.buildModelFromUrdf(str(garra.files.data("robots/iiwa14.urdf")))
    data = model.createData()
    few = min(n, 20000)

    def loop() -> None:
        for i in range(few):
            pinocchio.rnea(model, data, q[i], qd[i], qdd[i])

    line(f"Pinocchio {pinocchio.__version__}, a loop", few, median_time(loop))


def contacts(n: int) -> None:
    rng = np.random.default_rng(2)
    J = rng.normal(size=(n, 9, 12))
    A = J @ J.transpose(0, 2, 1) / 12
    b = rng.normal(size=(n, 9))
    mu = rng.uniform(0.2, 1.0, (n, 3))
    line(f"contact.solve, three contacts, {n:,} from Python", n, median_time(lambda: garra.contact.solve(A, b, mu)))
    with tempfile.TemporaryDirectory() as folder:
        problems, out = Path(folder) / "problems.h5", Path(folder) / "out.h5"
        with h5py.File(problems, "w") as file:
            file["A"], file["b"], file["mu"] = A, b, mu
        answers = []
        for _ in range(5):
            command = [program.path(), "contact", "solve", problems, "-o", out, "--format", "json"]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
            answers.append(json.loads(done.stdout)["seconds"])
        line("the same by `garra contact solve`, arrays in memory", n, statistics.median(answers))
    calls = 2000

    def single() -> None:
        for _ in range(calls):
            garra.contact.solve(A[0], b[0], mu[0])

    line("contact.solve, one problem a call", calls, median_time(single))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=1_000_000, help="states, problems")
    n = parser.parse_args().n
    chains(n)
    contacts(n)


if __name__ == "__main__":
    main()
