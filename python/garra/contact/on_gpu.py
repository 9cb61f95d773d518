"""Contact problems whose arrays are on a GPU: read where they stand, on the stream that the caller works on, and answers are
arrays of the same library (docs/gpu-arrays.md). garra.contact.solve() comes here by itself."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from math import prod
from typing import Any

from garra import _core, contact
from garra.batch import common_lead, is_on_gpu, lead_of

_NUMBERS = {"c": 3, "a": 3, "state": 1}
"""Of each contact; all else is one for a problem."""
_TYPES = {"status": "int32", "iterations": "int32", "state": "uint8"}


def solve(A: Any, b: Any, mu: Any, method: str, precision: str, tol: float, max_iterations: int) -> contact.Solutions:
    """As garra.contact.solve(). Returns when the work is queued."""
    given = {"A": A, "b": b, "mu": mu}
    for name, value in given.items():
        if not is_on_gpu(value):
            raise TypeError(f"{name} is not on the GPU, where others are")
        if not str(value.dtype).endswith("float64"):
            raise TypeError(f"{name} is {value.dtype}: on a GPU float64 is needed")
    memory = _Memory(A)
    contacts = contact.contacts_of(mu.shape)
    tails = {"A": (3 * contacts, 3 * contacts), "b": (3 * contacts,), "mu": (contacts,)}
    shapes = {name: tuple(value.shape) for name, value in given.items()}
    lead = common_lead([lead_of(name, shape, tails[name]) for name, shape in shapes.items()], shapes)
    rows = {name: memory.rows(value, lead, tails[name]) for name, value in given.items()}
    out = {
        name: memory.empty((prod(lead), _NUMBERS.get(name, 0) * contacts or 1), _TYPES.get(name, "float64"))
        for name in contact.Solutions.__dataclass_fields__
    }
    _core.contact_solve_on_gpu(
        *(memory.capsule(value) for value in rows.values()),
        {name: memory.capsule(value) for name, value in out.items()},
        method,
        precision,
        tol,
        max_iterations,
        memory.stream,
        lambda size: memory.capsule(memory.empty((size,), "uint8")),
    )
    return contact.Solutions(
        **{
            name: memory.library.reshape(value, lead + ((value.shape[1],) if name in _NUMBERS else ()))
            for name, value in out.items()
        }
    )


class _Memory:
    """What the library of an array does with its GPU."""

    def __init__(self, array: Any) -> None:
        name = type(array).__module__.partition(".")[0]
        if name in ("jax", "jaxlib"):
            raise TypeError("JAX's arrays on a GPU are not taken, since nobody may write them: bring them to the host")
        self.library = sys.modules[name] if name in ("torch", "cupy") else array.__array_namespace__()
        self._device = array.device
        self.stream = 0
        if name == "torch":
            self.stream = self.library.cuda.current_stream(self._device).cuda_stream
        elif name == "cupy":
            self.stream = self.library.cuda.get_current_stream().ptr
        self._chosen = self._device if name == "cupy" else nullcontext()
        self._where = {} if name == "cupy" else {"device": self._device}

    def rows(self, array: Any, lead: tuple[int, ...], tail: tuple[int, ...]) -> Any:
        """[count, numbers]; shared numbers stay shared."""
        array = array.detach() if hasattr(array, "detach") else array
        return self.library.reshape(self.library.broadcast_to(array, lead + tail), (prod(lead), prod(tail)))

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        with self._chosen:
            return self.library.empty(shape, dtype=getattr(self.library, dtype), **self._where)

    def capsule(self, array: Any) -> Any:
        """For work on the stream; DLPack calls the default one 1."""
        return array.__dlpack__(stream=self.stream or 1)
