"""Checks of function arguments. Values of a wrong kind raise TypeError or garra.UsageError with argument and remedy."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import wraps
from math import inf
from os import PathLike, fsdecode
from typing import Any, TypeVar

import numpy as np

from garra import _core

R = TypeVar("R")
MOST_WHOLE = 2**31 - 1
"""Largest value of options that are an int in C++."""
_WORDS = frozenset(("auto", "cpu", "scalar", "cuda"))
_OTHERS = {
    "c": "is complex: real numbers are needed",
    "M": "has dates: give numbers, (dates - start) / numpy.timedelta64(1, 's')",
    "m": "has durations: give numbers, durations / numpy.timedelta64(1, 's')",
    "U": "is text: give numbers, numpy.asarray(texts).astype(float)",
}
_OTHERS |= dict.fromkeys("ST", _OTHERS["U"])


def numbers(name: str, value: Any) -> np.ndarray:
    """float64 of any shape."""
    if np.ma.is_masked(value):
        raise TypeError(f"{name} has masked elements: leave them out, or give .filled() with the numbers for them")
    if isinstance(value, dict):
        raise TypeError(f"{name} is a dictionary: give numbers, or a distribution such as garra.normal(0.5, 0.1)")
    try:
        array = np.asarray(value)
    except ValueError as problem:
        raise ValueError(f"{name} is no array of numbers: {problem}") from None
    kind = array.dtype.kind
    if kind == "O":
        others = {type(x) for x in array.flat if not hasattr(x, "__float__") and not hasattr(x, "__index__")}
        if others & {str, bytes}:
            kind = "U"
        elif others:
            raise TypeError(f"{name} is no array of numbers: it has {', '.join(sorted(x.__name__ for x in others))}")
    if kind in _OTHERS:
        if kind in "UST" and array.ndim == 0:
            raise TypeError(f"{name} is text, {value!r}: give a number in SI units, 0.002 for 2 mm")
        raise TypeError(f"{name} {_OTHERS[kind]}")
    try:
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as problem:
        raise TypeError(f"{name} is no array of numbers ({array.dtype}): {problem}") from None


def whole_numbers(name: str, value: Any) -> np.ndarray:
    """int64 of any shape."""
    array = np.asarray(value)
    if array.dtype.kind in "iu" and not np.ma.is_masked(value):
        return np.ascontiguousarray(array, dtype=np.int64)
    real = numbers(name, value)
    if not ((real == np.floor(real)) & (abs(real) < 2**53)).all():
        raise _core.UsageError(f"{name} has numbers that are not whole")
    return np.ascontiguousarray(real, dtype=np.int64)


def one_of(name: str, values: np.ndarray, allowed: dict[int, str]) -> np.ndarray:
    """uint8; `allowed`: the numbers and what they mean."""
    known = np.zeros(values.shape, dtype=bool)
    for number in allowed:
        known |= values == number
    if not known.all():
        meanings = ", ".join(f"{number} ({meaning})" for number, meaning in allowed.items())
        raise _core.UsageError(f"{name} has {values[~known][0]:g}, which means nothing\nUse {meanings}.")
    return values.astype(np.uint8)


def real(name: str, value: Any, least: float = -inf, most: float = inf) -> float:
    """From `least` to `most`; not NaN."""
    if type(value) is float and least <= value <= most:
        return value
    number = _number(name, value)
    if not least <= number <= most:
        ends = f"at least {least:g}" if most == inf else f"from {least:g} to {most:g}"
        raise _core.UsageError(f"{name} = {value}\nGive a number" + ("." if least == -inf else f" {ends}."))
    return number


def finite(name: str, value: Any) -> float:
    number = _number(name, value)
    if not -inf < number < inf:
        raise _core.UsageError(f"{name} = {value}\nGive a finite number.")
    return number


def positive(name: str, value: Any) -> float:
    """Finite and above 0."""
    if type(value) is float and 0.0 < value < inf:
        return value
    number = _number(name, value)
    if not 0 < number < inf:
        raise _core.UsageError(f"{name} = {value}\nGive a finite number above 0.")
    return number


def vector(name: str, value: Any, size: int) -> list[float]:
    """Finite numbers."""
    array = numbers(name, value)
    if array.shape != (size,):
        raise _core.UsageError(f"{name} has the shape {array.shape}, not [{size}]")
    if not np.isfinite(array).all():
        raise _core.UsageError(f"{name} = {array.tolist()}\nGive finite numbers.")
    return array.tolist()


def _number(name: str, value: Any) -> float:
    array = numbers(name, value)
    if array.size != 1:
        raise TypeError(f"{name} has the shape {array.shape}: one number is needed")
    return float(array.reshape(()))


def whole(name: str, value: Any, least: int = 0, most: int = MOST_WHOLE) -> int:
    if type(value) is int and least <= value <= most:
        return value
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {value!r}: a whole number is needed, int({name})") from None
    if not least <= number <= most:
        raise _core.UsageError(f"{name} = {number}\nGive a whole number from {least} to {most}.")
    return number


def check_seed(value: Any) -> int:
    return whole("seed", value, 0, 2**64 - 1)


def place(device: Any, threads: Any) -> tuple[str, int]:
    """Device and threads of a call on arrays; the library checks the names of GPUs."""
    if device not in _WORDS and not (isinstance(device, str) and re.fullmatch("[a-z0-9:,]+", device)):
        raise _core.UsageError(f'device = {device!r}: no such device\nUse "auto", "cpu", "scalar", "cuda" or "cuda:0".')
    return device, whole("threads", threads)


def of_arrays(function: Callable[..., R]) -> Callable[..., R]:
    """Decorates a function of arrays. The program reads them from files: its FileError is a UsageError here."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> R:
        try:
            return function(*args, **kwargs)
        except _core.FileError as error:
            raise _core.UsageError(*error.args) from None

    return call


def path_text(path: str | bytes | PathLike[Any]) -> str:
    """For the library, whose file names are UTF-8."""
    text = fsdecode(path)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _core.UsageError(f"{text!a}: the file's name is not UTF-8\nRename the file.") from None
    if "\0" in text:
        raise _core.UsageError(f"{text!a}: a file's name has no NUL")
    return text
