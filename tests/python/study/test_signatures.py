"""What help() shows of the public functions: every keyword, with its default."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import garra
import pytest
from arrays import require_module

require_module()

MODULES = ("bench", "chain", "contact", "grasp", "lcp", "mcp", "mncp", "models", "platform", "singularity")


def public_functions() -> Iterator[tuple[str, Any]]:
    """Name and function of every public function and of every method of a public class."""
    for where in (garra, *(getattr(garra, name) for name in MODULES)):
        names = getattr(where, "__all__", None) or [name for name in dir(where) if not name.startswith("_")]
        for name in names:
            thing = getattr(where, name)
            if not getattr(thing, "__module__", "").startswith(where.__name__):  # imported from elsewhere
                continue
            if inspect.isclass(thing):
                methods = inspect.getmembers(thing, lambda f: inspect.isfunction(f) or inspect.ismethod(f))
                yield from ((f"{name}.{n}", method) for n, method in methods if not n.startswith("_"))
            elif inspect.isfunction(thing):
                yield f"{where.__name__}.{name}", thing


def test_no_public_function_hides_its_keywords():
    functions = dict(public_functions())
    assert {"garra.mncp.linear", "Chain.rnea", "garra.singularity.map", "garra.contact.forces"} <= functions.keys()
    hidden = [
        f"{name}(**{p.name})"
        for name, function in functions.items()
        for p in inspect.signature(function).parameters.values()
        if p.kind is p.VAR_KEYWORD
    ]
    assert hidden == []


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (garra.mncp.linear, ([[1.0]], [1.0])),
        (garra.mncp.mathiesen, ()),
        (garra.contact.forces, ([[1.0]], [1.0], [0.5])),
        (garra.singularity.map, (None,)),
        (garra.models.puma560().rnea, ([0.0] * 6, [0.0] * 6, [0.0] * 6)),
        (garra.models.puma560().fkine, ([0.0] * 6,)),
    ],
)
def test_a_misspelled_keyword_is_a_type_error_that_names_it(function, arguments):
    with pytest.raises(TypeError, match="thredas"):
        function(*arguments, thredas=1)


def test_keywords_override_the_options_of_a_solve():
    problem = garra.mncp.problems()[0]
    hurried = garra.mncp.SolveOptions(starts=1, max_iterations=1)
    assert not problem.solve(options=hurried).converged
    assert problem.solve(options=hurried, starts=10, max_iterations=0).converged
    assert inspect.signature(problem.solve).parameters["tolerance"].default == 1e-8
    with pytest.raises(TypeError, match="no SolveOptions"):
        problem.solve(options={"starts": 1})
    with pytest.raises(garra.UsageError, match="tolerance = -1"):
        garra.mncp.SolveOptions(tolerance=-1)
