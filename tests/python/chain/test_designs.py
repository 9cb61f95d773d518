"""Robot files of the papers: the exoskeleton in three conventions, and the mechanism of the third example of screws."""

from __future__ import annotations

import tomllib

import garra
import numpy as np
import pytest
from arrays import require_module
from program import ROOT

require_module()
RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize("name", ["exoskeleton_dh", "exoskeleton_mdh"])
def test_every_description_is_the_same_chain(name):
    gryma, other = garra.load("exoskeleton"), garra.load(name)
    q, qd, qdd = RANDOM.uniform(-2, 2, (3, 100, 6))
    for of in (
        lambda r: r.fkine(q), lambda r: r.jacobian(q), lambda r: r.crba(q), lambda r: r.gravity(q),
        lambda r: r.rnea(q, qd, qdd),
    ):  # fmt: skip
        expected = of(gryma)
        assert np.abs(of(other) - expected).max() < 1e-12 * np.abs(expected).max()


def test_the_mechanism_of_example_3_has_the_papers_screws():
    printed = tomllib.loads((ROOT / "data" / "screws" / "gallardo_3.toml").read_text())["screws"]
    screws = garra.load("gallardo_3").jacobian(np.zeros(7), form="screws").T
    assert np.allclose(screws, printed, atol=1e-12)
