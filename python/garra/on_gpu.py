"""Arrays that are on a GPU: read where they stand, on the stream that the caller works on, and answers are arrays of the
same library (docs/howto/gpu-arrays.md)."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from math import prod
from typing import Any

from garra import _core
from garra.batch import common_lead, is_on_gpu, leading_axes


def all_on_gpu(arrays: dict[str, Any]) -> dict[str, Any]:
    """They themselves; raises TypeError where one is not, or not of float64."""
    for name, value in arrays.items():
        if not is_on_gpu(value):
            raise TypeError(f"{name} is not on the GPU, where others are")
        if not str(value.dtype).endswith("float64"):
            raise TypeError(f"{name} is {value.dtype}: on a GPU float64 is needed")
    return arrays


_TYPES = {"status": "int32", "iterations": "int32", "limit_mask": "int32", "state": "uint8"}
"""Of answers that are not float64."""


def compute(
    call: Any, arrays: dict[str, Any], tails: dict[str, tuple[int, ...]], answers: dict[str, tuple[int, ...]], *how: Any
) -> dict[str, Any]:
    """The answers of call(given, out, *how, stream, workspace); `answers` has their axes behind the leading ones.

    Arrays that are None are left out. Returns when the work is queued; with JAX's arrays, when it is done."""
    rows = Rows(all_on_gpu({name: value for name, value in arrays.items() if value is not None}), tails)
    out = {name: rows.empty(name, tail, _TYPES.get(name, "float64")) for name, tail in answers.items()}
    call(rows.given, out, *how, rows.stream, rows.workspace)
    return rows.finish()


class Rows:
    """Arrays with leading axes that broadcast, as DLPack's capsules of [n, numbers], and memory for answers.

    >>> rows = Rows({"A": A, "b": b}, {"A": (9, 9), "b": (9,)})
    >>> rows.given["A"], rows.empty("c", (9,)), rows.finish()["c"]  # [*lead, 9]
    """

    def __init__(self, arrays: dict[str, Any], tails: dict[str, tuple[int, ...]]) -> None:
        shapes = {name: tuple(value.shape) for name, value in arrays.items()}
        self.lead = common_lead([leading_axes(name, shape, tails[name]) for name, shape in shapes.items()], shapes)
        first = next(iter(arrays.values()))
        self._memory = (_JaxMemory if type(first).__module__.partition(".")[0] in ("jax", "jaxlib") else _Memory)(first)
        self._rows = {name: self._memory.rows(value, self.lead, tails[name]) for name, value in arrays.items()}
        self._answers: dict[str, tuple[Any, tuple[int, ...]]] = {}
        self.given = {name: self._memory.capsule(value) for name, value in self._rows.items()}
        self.stream = self._memory.stream

    def empty(self, name: str, tail: tuple[int, ...], dtype: str = "float64") -> Any:
        """The capsule of an answer."""
        array = self._memory.empty(prod(self.lead), prod(tail), dtype)
        self._answers[name] = array, tail
        return self._memory.capsule(array)

    def workspace(self, size: int) -> Any:
        return self._memory.capsule(self._memory.empty(1, size, "uint8"))

    def finish(self) -> dict[str, Any]:
        """The answers, now that all is queued."""
        self._memory.finish()
        reshape = self._memory.library.reshape
        return {name: reshape(self._memory.array(x), self.lead + tail) for name, (x, tail) in self._answers.items()}


class _Memory:
    """Stream and memory of the library of an array on its GPU."""

    def __init__(self, array: Any) -> None:
        name = type(array).__module__.partition(".")[0]
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

    def empty(self, count: int, width: int, dtype: str) -> Any:
        with self._chosen:
            return self.library.empty((count, width), dtype=getattr(self.library, dtype), **self._where)

    def capsule(self, array: Any) -> Any:
        """For work on the stream; DLPack calls the default one 1."""
        return array.__dlpack__(stream=self.stream or 1)

    def finish(self) -> None:
        """Final step after all work is queued."""

    def array(self, value: Any) -> Any:
        """Result of empty() as an array of the library."""
        return value


class _JaxMemory(_Memory):
    """JAX arrays are read-only: results are written to memory of garra, which JAX takes over when they are complete."""

    stream = 0

    def __init__(self, array: Any) -> None:
        self.library = sys.modules["jax"].numpy
        self._index = array.__dlpack_device__()[1]

    def empty(self, count: int, width: int, dtype: str) -> Any:
        return _core.gpu_empty(count, width, dtype, self._index)

    def capsule(self, array: Any) -> Any:
        is_ours = not hasattr(array, "addressable_data")
        return array if is_ours else super().capsule(array)

    def finish(self) -> None:
        _core.gpu_wait(self._index)

    def array(self, value: Any) -> Any:
        return sys.modules["jax"].dlpack.from_dlpack(value)
