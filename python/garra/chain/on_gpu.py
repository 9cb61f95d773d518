"""Chains whose states are on a GPU. Chain.evaluate() and Chain.simulate() come here by themselves."""

from __future__ import annotations

from typing import Any

from garra import _core
from garra.on_gpu import Rows, all_on_gpu


def evaluate(core: _core.Robot, states: dict[str, Any], outputs: list[str], *how: Any) -> dict[str, Any]:
    """The outputs and the status. Returns when the work is queued; with JAX's arrays, when it is done."""
    there = all_on_gpu({name: value for name, value in states.items() if value is not None})
    rows = Rows(there, {name: (6,) if name == "wrench" else (core.joints,) for name in there})
    out = {name: rows.empty(name, tuple(_core.chain_output_shape(name, core.joints))) for name in outputs}
    out["status"] = rows.empty("status", (), "int32")
    _core.chain_evaluate_on_gpu(core, rows.given, out, *how, rows.stream, rows.workspace)
    return rows.finish()


def simulate(core: _core.Robot, states: dict[str, Any], times: list[float], *how: Any) -> dict[str, Any]:
    """The arrays of Trajectories. Returns when the work is queued; with JAX's arrays, when it is done."""
    there = all_on_gpu({name: value for name, value in states.items() if value is not None})
    n, t = core.joints, len(times)
    rows = Rows(there, dict.fromkeys(there, (n,)))
    out = {name: rows.empty(name, (t, width)) for name, width in (("q", n), ("qd", n), ("tip", 3))}
    out |= {name: rows.empty(name, (t,)) for name in ("kinetic_energy", "potential_energy", "balance")}
    out["status"] = rows.empty("status", (), "int32")
    _core.chain_simulate_on_gpu(core, rows.given, out, times, times[-1], *how, rows.stream, rows.workspace)
    return rows.finish()
