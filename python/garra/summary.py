"""How results of many problems print: what became of them and the range of each array, in ten lines at most."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

MOST_LINES = 10
MOST_NUMBERS = 8  # of an array that is printed whole
# Reasons and remedies of a status.
_REASONS = {
    "invalid_input": "a number is not finite or out of its range, or a matrix not semidefinite",
    "ray": "Lemke's method ended on a ray; there may be no solution",
}


class Summary:
    """Base of a frozen dataclass of arrays, whose own repr is off."""

    _statuses: ClassVar[str] = ""
    """The attribute of garra._core with the names of `status`"""

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        from garra import _core

        return getattr(_core, cls._statuses)

    def __repr__(self) -> str:
        left_out = ("status",) if self._statuses else ()
        parts = {f.name: getattr(self, f.name) for f in fields(self) if f.repr and f.name not in left_out}
        return summary(type(self).__name__ + self._outcome(), parts)

    def _outcome(self) -> str:
        """ of 300 problems: 298 converged, 2 ray (...)"""
        status = getattr(self, "status", None)
        if status is None or not self._statuses or is_elsewhere(status):
            return ""
        status = np.asarray(status)
        said = counted(status, self._names())
        return f": {said}" if status.ndim == 0 else f" of {status.size:,} problems: {said}"


class Converged:
    """Base of a frozen dataclass of solutions with a status each, whose own repr is off."""

    status: Any

    @property
    def converged(self) -> Any:
        """[...] bool: the status is "converged".

        Examples
        --------
        >>> bool(garra.mcp.solve(lambda x: x - 2, 0, 1, [0.0]).converged)
        True
        """
        return self.status == 0

    def __repr__(self) -> str:
        from garra import _core

        return f"{type(self).__name__}({describe_converged(np.asarray(self.status), _core.statuses)})"


def summary(head: str, parts: dict[str, Any]) -> str:
    """A line for each part; the names alone of those that are too many."""
    rows = [f"  {name}: {_told(part)}" for name, part in parts.items()]
    if len(rows) >= MOST_LINES:
        rows = [*rows[: MOST_LINES - 2], f"  and {', '.join(list(parts)[MOST_LINES - 2 :])}"]
    return "\n".join([head, *rows])


def counted(status: np.ndarray, names: tuple[str, ...]) -> str:
    """298 converged, 2 invalid_input (a number is not finite or out of its range, or a matrix not semidefinite)"""
    parts = []
    for number, name in enumerate(names):
        if count := int((status == number).sum()):
            reason = f" ({_REASONS[name]})" if name in _REASONS else ""
            parts.append((name if status.ndim == 0 else f"{count:,} {name}") + reason)
    return ", ".join(parts) or "none"


def describe_converged(status: np.ndarray, names: tuple[str, ...]) -> str:
    """298 of 300 converged, 2 invalid_input (...)"""
    said = f"{int((status == 0).sum())} of {status.size} converged"
    return said if (status == 0).all() else f"{said}, {counted(np.atleast_1d(status)[np.atleast_1d(status) != 0], names)}"


def is_elsewhere(value: Any) -> bool:
    """Whether an array is on a GPU."""
    return type(value) is not np.ndarray and hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] != 1


def _told(value: Any) -> str:
    """A small array whole; of a large one its shape and range."""
    if is_elsewhere(value):
        return f"{list(value.shape)} on a GPU"
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        return str(value)
    if array.size <= MOST_NUMBERS:
        return np.array2string(array, precision=6, separator=", ").replace("\n", "")
    if array.dtype.kind == "b":
        return f"{list(array.shape)}, {int(array.sum()):,} true"
    known = array[~np.isnan(array)]
    missing = f", {array.size - known.size:,} NaN" if known.size < array.size else ""
    if not known.size:
        return f"{list(array.shape)}, all NaN"
    low, middle, high = (f"{x:.4g}" for x in (known.min(), np.median(known), known.max()))
    return f"{list(array.shape)}, {low} to {high}, median {middle}{missing}"
