"""A small array library for a GPU: what garra asks of one, on the memory of the module with a simulated GPU.

Arrays are DLPack's, and this module is their namespace.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from math import prod
from pathlib import Path

import garra
import numpy as np
from program import PROGRAM

FOLDER = Path(PROGRAM).parent / "python-sim" / "garra"
float64, int32, uint8 = np.float64, np.int32, np.uint8


class _Tensor(ctypes.Structure):
    """DLTensor with the two members that a DLManagedTensor adds."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_kind", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("axes", ctypes.c_int32),
        ("kind", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


_kept: list[object] = []  # their deleter is null


class Array:
    """`strides` count numbers. Nothing is ever freed, which a test can afford."""

    device = 0

    def __init__(self, data: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: type) -> None:
        self.data, self.shape, self.strides, self.dtype = data, shape, strides, np.dtype(dtype)
        self.asked: list[int] = []  # for which streams

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.device

    def __array_namespace__(self):
        return sys.modules[__name__]

    def __dlpack__(self, *, stream: int) -> object:
        self.asked.append(stream)
        axes = len(self.shape)
        whole = ctypes.c_int64 * max(axes, 1)
        kind = {"i": 0, "u": 1, "f": 2}[self.dtype.kind]
        tensor = _Tensor(
            self.data, 2, self.device, axes, kind, 8 * self.dtype.itemsize, 1, whole(*self.shape), whole(*self.strides)
        )
        _kept.append(tensor)
        return _capsule(ctypes.addressof(tensor), b"dltensor", None)


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def from_dlpack(other: object) -> Array:
    """Of one that lies in order and is never freed."""
    capsule = other.__dlpack__(stream=1)
    tensor = _Tensor.from_address(_pointer(capsule, b"dltensor"))
    _kept.append(capsule)
    assert (tensor.device_kind, tensor.device) == other.__dlpack_device__() == (2, 0)
    shape = tuple(tensor.shape[: tensor.axes])
    dtype = np.dtype(f"{'iuf'[tensor.kind]}{tensor.bits // 8}")
    return Array(tensor.data + tensor.offset, shape, packed(shape), dtype.type)


def packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[i + 1 :]) for i in range(len(shape)))


def empty(shape: tuple[int, ...], *, dtype: type, device: int) -> Array:
    assert device == 0
    data = _library().gpu_allocate(max(prod(shape), 1) * np.dtype(dtype).itemsize)
    assert data
    return Array(data, tuple(shape), packed(shape), dtype)


def broadcast_to(array: Array, shape: tuple[int, ...]) -> Array:
    new = len(shape) - len(array.shape)
    strides = [0 if have == 1 != want else s for have, want, s in zip(array.shape, shape[new:], array.strides, strict=True)]
    return Array(array.data, shape, (0,) * new + tuple(strides), array.dtype)


def reshape(array: Array, shape: tuple[int, ...]) -> Array:
    """A view: NumPy finds its strides, or there is none."""
    size = array.dtype.itemsize
    view = np.lib.stride_tricks.as_strided(np.empty(1, array.dtype), array.shape, [s * size for s in array.strides])
    view = view.view()
    view.shape = shape  # raises where it would have to copy
    return Array(array.data, shape, tuple(s // size for s in view.strides), array.dtype)


def on_gpu(values: np.ndarray) -> Array:
    values = np.ascontiguousarray(values)
    array = empty(values.shape, dtype=values.dtype, device=0)
    assert _library().gpu_copy(array.data, values.ctypes.data, values.nbytes, True)
    return array


def on_host(array: Array) -> np.ndarray:
    assert array.strides == packed(array.shape)
    values = np.empty(array.shape, array.dtype)
    assert _library().gpu_copy(values.ctypes.data, array.data, values.nbytes, False)
    return values


def stream() -> int:
    return _library().gpu_stream()


def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(garra._core.__file__)
    library.gpu_allocate.restype, library.gpu_allocate.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.gpu_stream.restype = ctypes.c_void_p
    library.gpu_copy.restype = ctypes.c_bool
    library.gpu_copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_bool]
    return library


def run(code: str) -> None:
    """In a process of its own: this one has the module without a GPU."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
