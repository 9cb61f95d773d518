"""Contact states are counted of samples whose forces are known, and of no others."""

from __future__ import annotations

import numpy as np
import pytest
from program import ROOT, garra, summary_of, table_of


@pytest.mark.parametrize("friction", [0.05, 0.01])
def test_states_are_counted_where_the_solver_has_converged(tmp_path, friction):
    # Two steps do not decide all problems.
    flags = ("--samples", 1024, "--max-unsolved", 1, "--quiet", "--no-report", "-o", tmp_path / "run")
    sets = ("solver.max_iterations=2", "output.keep=all", f"contacts.friction={friction}")
    scenario = ROOT / "data" / "scenarios" / "three_puma_sphere.toml"
    garra("run", scenario, *flags, *(word for s in sets for word in ("--set", s)))
    summary, rows = summary_of(tmp_path / "run"), table_of(tmp_path / "run" / "results.h5")
    known = int(np.isfinite(rows["a"]).all(axis=1).sum())
    assert 0 < known < 1024
    assert [c["stick"] + c["slip"] + c["break"] for c in summary["contacts"]] == [known] * 3
