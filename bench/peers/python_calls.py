"""What a call from Python costs: a million states or problems at once, one at a time, and other libraries' calls.

usage: PYTHONPATH=python .venv/bin/python bench/peers/python_calls.py [-n STATES]    (pip install pin mujoco
       pytorch-kinematics: those that are there are compared)

Prints states or problems per second, garra and torch on the threads that they take by themselves; medians of five.
The Python of Pinocchio and MuJoCo has no batches, so it is called once a state, on one thread. What they compute is
compared first. bench/calls.cpp is the same from C++.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time

import garra
import garra.files
import numpy as np

URDF = garra.files.data("robots/iiwa14.urdf")


def installed(name: str):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed")
        return None


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
    few = slice(0, min(n, 20000))
    pinocchio_loop(robot, q[few], qd[few], qdd[few])
    mujoco_loop(robot, q[few], qd[few], qdd[few])
    line(f"poses, {n:,} states from Python", n, median_time(lambda: robot.forward_kinematics(q)))
    line(f"Jacobians, {n:,} states from Python", n, median_time(lambda: robot.jacobian(q)))
    torch_batches(robot, q)


def agree(ours: np.ndarray, theirs: np.ndarray, most: float = 1e-9) -> None:
    error = np.abs(ours - theirs).max() / np.abs(ours).max()
    assert error < most, error


def pinocchio_loop(robot: garra.Chain, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> None:
    if (pinocchio := installed("pinocchio")) is None:
        return
    model = pinocchio.buildModelFromUrdf(str(URDF))
    data = model.createData()

    def loop() -> list[np.ndarray]:
        return [pinocchio.rnea(model, data, *state) for state in zip(q, qd, qdd, strict=True)]

    agree(robot.rnea(q, qd, qdd), np.array(loop()))
    line(f"Pinocchio {pinocchio.__version__}, rnea in a loop", len(q), median_time(loop))


def mujoco_loop(robot: garra.Chain, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> None:
    if (mujoco := installed("mujoco")) is None:
        return
    model = mujoco.MjModel.from_xml_path(str(URDF))
    data = mujoco.MjData(model)

    def loop() -> list[np.ndarray]:
        found = []
        for data.qpos[:], data.qvel[:], data.qacc[:] in zip(q, qd, qdd, strict=True):
            mujoco.mj_inverse(model, data)
            found.append(data.qfrc_inverse.copy())
        return found

    agree(robot.rnea(q, qd, qdd), np.array(loop()))
    line(f"MuJoCo {mujoco.__version__}, mj_inverse in a loop", len(q), median_time(loop))


def torch_batches(robot: garra.Chain, q: np.ndarray) -> None:
    kinematics, torch = installed("pytorch_kinematics"), installed("torch")
    if kinematics is None or torch is None:
        return
    text = URDF.read_bytes()
    chain = kinematics.build_serial_chain_from_urdf(text, "end_effector").to(dtype=torch.float64)
    states = torch.from_numpy(q)
    with torch.no_grad():  # its numbers of the robot are of single precision
        agree(robot.forward_kinematics(q), chain.forward_kinematics(states).get_matrix().numpy(), 1e-6)
        agree(robot.jacobian(q), chain.jacobian(states).numpy(), 1e-6)
        poses = median_time(lambda: chain.forward_kinematics(states).get_matrix())
        jacobians = median_time(lambda: chain.jacobian(states))
    line("pytorch-kinematics, poses in one batch", len(q), poses)
    line("pytorch-kinematics, Jacobians in one batch", len(q), jacobians)


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
