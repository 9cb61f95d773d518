"""Derivatives of the outputs of Chain.evaluate(), exact but for rounding (docs/theory/chain.md, "Derivatives")."""

from __future__ import annotations

from typing import Any

import numpy as np

from garra import _core

_NEEDS = {
    "pose": (), "jacobian": (), "mass_matrix": (), "gravity": (), "potential_energy": (),
    "bias": ("qd",), "kinetic_energy": ("qd",), "tau": ("qd", "qdd"), "qdd": ("qd", "tau"),
}  # fmt: skip


def check(output: str, states: dict[str, Any]) -> tuple[str, ...]:
    """Names of the arrays that the output reads. Refuses outputs without derivatives, and missing arrays."""
    if output not in _NEEDS:
        raise _core.UsageError(f"there are no derivatives of {output!r}\nThere are those of {', '.join(_NEEDS)}.")
    for name in _NEEDS[output]:
        if states[name] is None:
            raise ValueError(f"{output} needs {name}")
    return ("q", *_NEEDS[output])


def first(robot: Any, output: str, states: dict[str, Any], on: tuple[str, int]) -> dict[str, np.ndarray]:
    """[m, *output, n] by each array of states [m, n] that the output reads."""
    q, qd = states["q"], states["qd"]
    zero = np.zeros_like(q)

    def torque(qd: np.ndarray, qdd: np.ndarray) -> dict[str, np.ndarray]:
        return _core.chain_derivatives(robot._core, False, q, qd, qdd, *on)

    if output == "tau":
        found = torque(qd, states["qdd"])
        return {"q": found["dtau_dq"], "qd": found["dtau_dqd"], "qdd": found["mass_matrix"]}
    if output == "qdd":
        found = _core.chain_derivatives(robot._core, True, q, qd, states["tau"], *on)
        return {"q": found["dqdd_dq"], "qd": found["dqdd_dqd"], "tau": found["dqdd_dtau"]}
    if output == "pose":
        v, w = np.split(robot.jacobian(q, device=on[0], threads=on[1])[:, :, None], 2, axis=1)
        R = robot.forward_kinematics(q, device=on[0], threads=on[1])[:, :3, :3, None]
        turned = np.cross(w, R, axis=1)
        return {"q": np.concatenate([np.concatenate([turned, v], axis=2), np.zeros((len(q), 1, 4, robot.n))], axis=1)}
    if output == "jacobian":
        return {"q": _of_jacobian(robot, q, on)}
    rest = torque(zero, zero)
    if output == "gravity":
        return {"q": rest["dtau_dq"]}
    if output == "potential_energy":
        return {"q": robot.gravity(q, device=on[0], threads=on[1])}
    if output == "bias":
        found = torque(qd, zero)
        return {"q": found["dtau_dq"] - rest["dtau_dq"], "qd": found["dtau_dqd"] - rest["dtau_dqd"]}
    if output == "kinetic_energy":
        by_q = torque(zero, qd)["dtau_dq"] - rest["dtau_dq"]
        return {"q": 0.5 * np.einsum("mi,mij->mj", qd, by_q), "qd": np.einsum("mij,mj->mi", rest["mass_matrix"], qd)}
    columns = [torque(zero, zero + row)["dtau_dq"] - rest["dtau_dq"] for row in np.eye(robot.n)]
    return {"q": np.stack(columns, axis=2)}


def _of_jacobian(robot: Any, q: np.ndarray, on: tuple[str, int]) -> np.ndarray:
    """[m, 6, n, n] from its own columns: the joint nearer to the base turns the other's axis, and moves the tool."""
    if robot.coupled:
        raise _core.UsageError("there are no derivatives of the Jacobian of a robot with coupled joints")
    v, w = np.split(robot.jacobian(q, device=on[0], threads=on[1]), 2, axis=1)
    turned = np.cross(w[:, :, None, :], v[:, :, :, None], axis=1)  # [m, 3, k, j]: w_j x v_k
    before = np.tri(robot.n, k=-1, dtype=bool)  # j before k
    of_v = np.where(before, turned, np.swapaxes(turned, 2, 3))
    of_w = np.where(before, np.cross(w[:, :, None, :], w[:, :, :, None], axis=1), 0)
    return np.concatenate([of_v, of_w], axis=1)


def second(robot: Any, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, on: tuple[str, int]) -> dict[str, np.ndarray]:
    """Second derivatives of inverse dynamics [m, n, n, n] from first ones at other states.

    Torques are of degree two in qd, one in qdd, two in a slide, and two in the cosine and sine of a turn. Differences
    with steps of 1 and, of turns, the shift rule with four angles are therefore exact.
    """
    if robot.coupled:
        raise _core.UsageError("there are no second derivatives of a robot with coupled joints")
    n = robot.n
    angles = np.pi / 4 * np.array([1, 3, 5, 7])
    rule = np.array([1, -1, 1, -1]) / (8 * np.sin(angles / 2) ** 2)
    out = {name: np.empty((len(q), n, n, n)) for name in ("dq_dq", "dq_dqd", "dqd_dqd", "dq_dqdd")}
    for k, unit in enumerate(np.eye(n)):

        def change(kind: int, steps: Any, weights: Any, unit: np.ndarray = unit) -> list[np.ndarray]:
            sums = [np.zeros((len(q), n, n)), np.zeros((len(q), n, n))]
            for step, weight in zip(steps, weights):
                at = [x + step * unit if i == kind else x for i, x in enumerate((q, qd, qdd))]
                found = _core.chain_derivatives(robot._core, False, *at, *on)
                sums = [sums[0] + weight * found["dtau_dq"], sums[1] + weight * found["dtau_dqd"]]
            return sums

        by_q = ((1, -1), (0.5, -0.5)) if robot.prismatic[k] else (angles, rule)
        out["dq_dq"][..., k] = change(0, *by_q)[0]
        out["dq_dqd"][..., k], out["dqd_dqd"][..., k] = change(1, (1, -1), (0.5, -0.5))
        out["dq_dqdd"][..., k] = change(2, (1, -1), (0.5, -0.5))[0]
    return out
