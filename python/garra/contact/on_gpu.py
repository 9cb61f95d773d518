"""Contact problems whose arrays are on a GPU. garra.contact.solve() comes here by itself."""

from __future__ import annotations

from typing import Any

from garra import _core, contact
from garra.on_gpu import Rows, all_on_gpu

_NUMBERS = {"c": 3, "a": 3, "state": 1}
"""Numbers per contact; other outputs have one number per problem."""
_TYPES = {"status": "int32", "iterations": "int32", "state": "uint8"}


def solve(A: Any, b: Any, mu: Any, *how: Any) -> contact.Solutions:
    """As garra.contact.solve(). Returns when the work is queued; with JAX's arrays, when it is done."""
    arrays = all_on_gpu({"A": A, "b": b, "mu": mu})
    k = contact.count_contacts(mu.shape)
    rows = Rows(arrays, {"A": (3 * k, 3 * k), "b": (3 * k,), "mu": (k,)})
    out = {
        name: rows.empty(name, (_NUMBERS[name] * k,) if name in _NUMBERS else (), _TYPES.get(name, "float64"))
        for name in contact.Solutions.__dataclass_fields__
    }
    _core.contact_solve_on_gpu(*rows.given.values(), out, *how, rows.stream, rows.workspace)
    return contact.Solutions(**rows.finish())
