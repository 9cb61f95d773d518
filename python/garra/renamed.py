"""Names that have changed: old ones are accepted, with a warning, until version 1.0 (docs/reference/renamed.md)."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, TypeVar

Thing = TypeVar("Thing", bound=Callable[..., Any])


@cache
def _read_table() -> list[dict[str, Any]]:
    file = Path(__file__).parent / "scenario" / "renamed.json"
    if not file.is_file():
        raise ImportError(f"{file} is not there: the build of the program writes it (tools/build in a source tree)")
    return json.loads(file.read_text(encoding="utf-8"))


@cache
def names(kind: str, where: str = "*") -> dict[str, str]:
    """New names by old ones, of one kind ("key", "flag", "python", "json"), that hold in a table or everywhere."""
    return {row["old"]: row["now"] for row in _read_table() if kind in row["kinds"] and row["where"] in ("*", where)}


def stored_name(group: Any, name: str) -> str:
    """What an HDF5 group calls a data set: files of older versions have the old name."""
    if name in group:
        return name
    return next((old for old, now in names("json").items() if now == name and old in group), name)


def accept_old(thing: Thing) -> Thing:
    """Decorates a function whose keywords, or a class whose attributes, were renamed."""
    return _with_old_attributes(thing) if isinstance(thing, type) else _with_old_keywords(thing)


def attribute(module: str, name: str) -> Any:
    """What `module` calls `name` now, for its __getattr__; raises AttributeError."""
    now = names("python").get(name)
    if now is None or now not in import_module(module).__dir__():
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    _warn(f"{module}.{name}", f"{module}.{now}", 4)
    return getattr(import_module(module), now)


def with_new_names(value: Any, kind: str, path: str = "") -> Any:
    """A JSON document ("json") or a scenario ("key") of an older version with the names of today."""
    if isinstance(value, str) and kind == "json":
        return names(kind).get(value, value)
    if isinstance(value, list):
        return [with_new_names(item, kind, path) for item in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, item in value.items():
        now = names(kind, path).get(key, key)
        name = key if now in value else now
        found[name] = with_new_names(item, kind, f"{path}.{name}" if path else name)
    return found


def _warn(old: str, now: str, level: int) -> None:
    text = f"{old} is now called {now}. The old name is accepted until version 1.0."
    warnings.warn(text, FutureWarning, stacklevel=level)


def _with_old_keywords(function: Any) -> Any:
    keywords = {old: now for old, now in names("python").items() if now in signature(function).parameters}

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for old in kwargs.keys() & keywords.keys():
            now = keywords[old]
            if now in kwargs:
                raise TypeError(f"{function.__qualname__}() got {old} and {now}, which are one; leave out {old}")
            _warn(f"{function.__qualname__}({old}=)", f"{now}=", 3)
            kwargs[now] = kwargs.pop(old)
        return function(*args, **kwargs)

    kinds = [p.kind for p in signature(function).parameters.values()]
    assert Parameter.VAR_POSITIONAL not in kinds, f"{function.__qualname__}: old keywords may hide in *args"
    return call


def _with_old_attributes(cls: Any) -> Any:
    def get(self: Any, name: str) -> Any:
        now = names("python").get(name)
        if now is None or not hasattr(type(self), now) and now not in getattr(self, "__dict__", {}):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        _warn(f"{type(self).__name__}.{name}", now, 3)
        return getattr(self, now)

    cls.__getattr__ = get
    return cls
