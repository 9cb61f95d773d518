"""What a call from Python costs: a million states or problems at once, one at a time, and loops over another library.

usage: .venv/bin/pip install pin && PYTHONPATH=python .venv/bin/python bench/peers/python_calls.py [-n STATES]

Prints states or problems per second, all on the threads that the program takes by itself; medians of five. Pinocchio's
Python has no batches, so it is called once a state, on one thread. bench/calls.cpp is the same from C++.
"""

from __future__ import annotations

import argparse
import statistics
import time

import garra
import garra.files
import numpy as np

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
