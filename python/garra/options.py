"""Functions that take an options class, and its fields as keywords."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

R = TypeVar("R")


def from_table(*rows: dict[str, Any]) -> Callable[[type], type]:
    """Makes a frozen dataclass whose fields are its own and one for each row of a table of the compiled module.

    Parameters
    ----------
    *rows : dict
        `name`, `default`, `takes` (the type, in words) and `doc` of a field. The row is the field's metadata. The line
        `{rows}` of the docstring becomes the rows' entries.

    Returns
    -------
    callable
        Decorator.

    Examples
    --------
    >>> from garra.options import from_table
    >>> @from_table({"name": "mass", "default": 1.0, "takes": "float", "doc": "of the object"})
    ... class Load:
    ...     force: float = 0.0
    >>> Load(mass=2.0)
    Load(force=0.0, mass=2.0)
    """

    def decorate(cls: type) -> type:
        for row in rows:
            cls.__annotations__[row["name"]] = "Any"
            setattr(cls, row["name"], field(default=row["default"], metadata=row))
        if cls.__doc__:
            entries = (f"{row['name']} : {row['takes']}\n        {row['doc']}" for row in rows)
            cls.__doc__ = cls.__doc__.replace("{rows}", "\n    ".join(entries))
        return dataclass(frozen=True)(cls)

    return decorate


def accept_options(**classes: type[Any]) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Decorates a function whose parameters `classes` take options, instances of dataclasses.

    The fields of these dataclasses become keywords, which override the options. The signature shows them with their
    defaults. A name of several dataclasses belongs to the first one, a parameter of the function to none.

    Parameters
    ----------
    **classes : type
        Dataclass of each parameter that takes options.

    Returns
    -------
    callable
        Decorator.

    Raises
    ------
    TypeError
        When the decorated function gets an instance of another class or an unknown keyword.

    Examples
    --------
    >>> from garra.options import accept_options
    >>> @accept_options(arrays=garra.grasp.GraspArrays)
    ... def mass(arrays=None):
    ...     return arrays.mass
    >>> mass(mass=0.2), mass(garra.grasp.GraspArrays(mass=0.3))
    (0.2, 0.3)
    """

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        own = signature(function)
        shown, owner = dict(own.parameters), {}
        for options, cls in classes.items():
            for f in fields(cls):
                if f.name not in shown:
                    shown[f.name] = Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type)
                    owner[f.name] = options

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> R:
            given: dict[str, dict[str, Any]] = {options: {} for options in classes}
            for name in kwargs.keys() & owner.keys():
                given[owner[name]][name] = kwargs.pop(name)
            try:
                bound = own.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{function.__qualname__}() {error}") from None
            for options, cls in classes.items():
                base = bound.arguments.get(options)
                if not isinstance(base, cls | None):
                    raise TypeError(f"{function.__qualname__}(): {options} = {base!r}, no {cls.__name__}")
                bound.arguments[options] = replace(base or cls(), **given[options])
            return function(*bound.args, **bound.kwargs)

        call.__signature__ = own.replace(parameters=list(shown.values()))
        return call

    return decorate
