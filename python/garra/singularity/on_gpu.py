"""Configurations that are on a GPU. measure() comes here by itself."""

from __future__ import annotations

from typing import Any

from garra import _core
from garra.on_gpu import Rows, all_on_gpu


def measure(core: _core.Robot, q: Any, *how: Any) -> dict[str, Any]:
    """The arrays of Measures. Returns when the work is queued; with JAX's arrays, when it is done."""
    rows = Rows(all_on_gpu({"q": q}), {"q": (core.joints,)})
    out = {name: rows.empty(name, ()) for name in ("sigma_min", "inverse_condition", "manipulability")}
    out["tool"] = rows.empty("tool", (3,))
    _core.singularity_measure_on_gpu(core, rows.given, out, *how, rows.stream, rows.workspace)
    return rows.finish()
