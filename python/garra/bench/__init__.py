"""Benchmarks of solvers: the page of `garra contact bench`, problem sets, and comparisons with solvers of yours."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_NAMES = ("KINDS", "Comparison", "compare", "contact_set", "export", "lcp_set", "register")

__all__ = ["KINDS", "Comparison", "compare", "contact_set", "export", "lcp_set", "problems", "register"]

if TYPE_CHECKING:
    from garra.bench import problems
    from garra.bench.comparison import KINDS, Comparison, compare, contact_set, export, lcp_set, register


def __getattr__(name: str) -> Any:
    if name == "problems":
        return import_module("garra.bench.problems")
    if name in _NAMES:  # the page needs no compiled module
        value = getattr(import_module("garra.bench.comparison"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'garra.bench' has no attribute {name!r}")
