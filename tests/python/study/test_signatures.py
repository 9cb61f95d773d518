"""What help() shows of the public functions: every keyword, with its default."""

from __future__ import annotations

import inspect

import garra
import pytest
from arrays import require_module

require_module()

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
