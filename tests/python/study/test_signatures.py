"""What help() shows of the public functions: every keyword, with its default."""

from __future__ import annotations

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
