"""Helpers in support/ may use plain asserts: pytest shows what was compared."""

import os

import pytest

pytest.register_assert_rewrite("memory", "pages", "program", "runs")


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory):
    """Runs of the program, each made once (support/runs.py)."""
    from runs import Runs

    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "program-runs"
    folder.mkdir(exist_ok=True)
    return Runs(folder)
