"""Arrays of many problems: any leading axes in, the same leading axes out, in the caller's array library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from math import prod
from typing import Any

import numpy as np

from garra import _core
from garra.arguments import numbers

_FLOAT64 = np.dtype(np.float64)  # compared by identity: quick, and another one that is equal is brought here, too


class Batch:
    """Arrays with leading axes that broadcast, each brought into the form [n, *tail] that the library takes.

    Parameters
    ----------
    *named : tuple (str, array_like or None, tuple of int)
        Name, array [*lead, *tail] and its tail. The arrays are float64 and C-contiguous in the batch; None stays None.

    Raises
    ------
    ValueError
        For a wrong tail, or leading axes that do not broadcast.
    TypeError
        For an array that does not hold real numbers.

    Examples
    --------
    >>> from garra.batch import Batch
    >>> batch = Batch(("q", np.zeros((4, 5, 7)), (7,)), ("qd", np.zeros(7), (7,)))
    >>> batch.lead, batch["q"].shape, batch["qd"].shape
    ((4, 5), (20, 7), (20, 7))
    >>> batch.out(np.ones((20, 3))).shape
    (4, 5, 3)
    """

    def __init__(self, *named: tuple[str, Any, tuple[int, ...]]) -> None:
        self._out: Callable[[np.ndarray], Any] | None = None
        arrays: dict[str, np.ndarray | None] = {}
        leads = set()
        for name, value, tail in named:
            if value is not None:
                if type(value) is not np.ndarray or value.dtype is not _FLOAT64:
                    value = self._array(name, value)
                leads.add(leading_axes(name, value.shape, tail))
            arrays[name] = value
        self.lead: tuple[int, ...] = next(iter(leads)) if len(leads) == 1 else common_lead(leads, _shapes(arrays))
        self.count = prod(self.lead)
        if len(leads) == 1 and not self.lead:
            for name, array in arrays.items():
                if array is not None:
                    arrays[name] = (array if array.flags.c_contiguous else np.ascontiguousarray(array))[None]
        else:
            for name, _, tail in named:
                if arrays[name] is not None:
                    arrays[name] = self._rows(arrays[name], tail)
        self._arrays = arrays

    @property
    def single(self) -> bool:
        """No leading axes, and answers are NumPy's."""
        return not self.lead and self._out is None

    def __getitem__(self, name: str) -> np.ndarray | None:
        return self._arrays[name]

    def out(self, array: np.ndarray) -> Any:
        """Answer [n, ...] as [*lead, ...], in the caller's array library.

        Parameters
        ----------
        array : ndarray [n, ...]
            One row per problem.

        Returns
        -------
        array [*lead, ...]
            Without leading axes: the only row.

        Examples
        --------
        >>> from garra.batch import Batch
        >>> print(Batch(("q", np.zeros(7), (7,))).out(np.array([2.5])))
        2.5
        """
        if len(self.lead) != 1:
            array = array.reshape(self.lead + array.shape[1:]) if self.lead else array[0]
        return array if self._out is None else self._out(np.asarray(array))

    def result(self, of: type, arrays: dict[str, np.ndarray | None], **more: Any) -> Any:
        """Dataclass `of` with those of the arrays [n, ...] that are its fields, as out() has them."""
        named = {name: arrays[name] for name in of.__dataclass_fields__ if name in arrays}
        return of(**{name: None if array is None else self.out(array) for name, array in named.items()}, **more)

    def _array(self, name: str, value: Any) -> np.ndarray:
        """float64 in NumPy; the first array of another library decides in which one the answers are."""
        library = type(value).__module__.partition(".")[0]
        if library == "torch":
            self._out = self._out or sys.modules["torch"].from_numpy
            value = value.detach()
        elif library in ("jax", "jaxlib"):
            self._out = self._out or sys.modules["jax"].numpy.asarray
        elif not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
            value = _from_dlpack(name, value)
        return numbers(name, value)

    def _rows(self, array: np.ndarray, tail: tuple[int, ...]) -> np.ndarray:
        if array.shape != self.lead + tail:
            array = np.broadcast_to(array, self.lead + tail)
        return np.ascontiguousarray(array.reshape((self.count, *tail)))


def as_moments(times: Any) -> np.ndarray:
    """[t] of one time or several; raises ValueError where they are neither."""
    moments = np.atleast_1d(numbers("times", times))
    if moments.ndim != 1 or not len(moments):
        raise ValueError(f"times has the shape {np.shape(times)}, not [t]")
    if (np.diff(moments) < 0).any():
        raise _core.UsageError(f"times fall from {moments[:-1][np.diff(moments) < 0][0]:g}\nSort them.")
    return moments


def _from_dlpack(name: str, value: Any) -> np.ndarray:
    """NumPy array from an array of any other library; results are NumPy arrays."""
    try:
        return np.from_dlpack(value)
    except Exception as problem:  # whatever the other library raises
        if _is_elsewhere(value):
            raise TypeError(
                f"{name} is on a device whose arrays are not taken ({problem}): bring it to the host"
            ) from None
        raise TypeError(f"{name} cannot be read by DLPack ({problem}): give a NumPy array") from None


def _is_elsewhere(value: Any) -> bool:
    try:
        return value.__dlpack_device__()[0] != _CPU
    except Exception:
        return False


def _shapes(arrays: dict[str, np.ndarray | None]) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in arrays.items() if array is not None}


_CPU, _CUDA = 1, 2
"""DLPack's numbers of these kinds of devices."""


def is_on_gpu(value: Any) -> bool:
    return type(value) is not np.ndarray and hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] == _CUDA


def leading_axes(name: str, shape: tuple[int, ...], tail: tuple[int, ...]) -> tuple[int, ...]:
    """The leading axes; raises ValueError where the others are not these."""
    first = len(shape) - len(tail)
    if first < 0 or shape[first:] != tail:
        expected = ", ".join(["...", *map(str, tail)])
        raise ValueError(f"{name} has the shape {shape}, not [{expected}]")
    return shape[:first]


def common_lead(leads: Iterable[tuple[int, ...]], shapes: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Broadcast leading axes of arrays that have these shapes."""
    try:
        return np.broadcast_shapes(*leads)
    except ValueError:
        said = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"the leading axes do not fit together: {said}") from None


def sum_repeated(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Gradient of a broadcast array: the sum over the axes along which it was repeated."""
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    repeated = tuple(i for i, size in enumerate(shape) if size == 1 and gradient.shape[i] != 1)
    return gradient.sum(axis=repeated, keepdims=True)


def first_only(gradients: Iterable[Any], inputs: Iterable[Any]) -> tuple[Any, ...]:
    """Gradients in torch whose own derivatives raise, where torch left to itself takes them to be 0.

    Parameters
    ----------
    gradients : iterable of tensor or None
        What the backward pass of a torch.autograd.Function found.
    inputs : iterable
        What they depend on: inputs of the function, and cotangents. What is no tensor is left out.

    Returns
    -------
    tuple of tensor or None

    Examples
    --------
    >>> from garra.batch import first_only
    >>> x = torch.ones(2, requires_grad=True)  # doctest: +SKIP
    >>> first_only([x.detach()], [x])[0].sum().backward()  # doctest: +SKIP
    Traceback (most recent call last):
    RuntimeError: garra has no second derivatives of this function
    """
    import torch

    gradients = tuple(gradients)
    sources = [x.sum() for x in inputs if torch.is_tensor(x) and x.requires_grad]
    if not (torch.is_grad_enabled() and sources):  # nobody will differentiate them
        return gradients

    def refuse(_: Any) -> None:
        raise RuntimeError("garra has no second derivatives of this function")

    def marked(x: Any) -> Any:
        out = torch.where(torch.ones_like(x, dtype=torch.bool), x, sum(sources).to(x.dtype))
        out.register_hook(refuse)
        return out

    return tuple(x if x is None else marked(x) for x in gradients)
