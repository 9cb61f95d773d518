"""The compiled module: tests of the package's arrays skip plainly where it was not built."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import garra
import pytest

REFERENCE = Path(__file__).resolve().parents[3] / "data" / "reference"


def require_module() -> None:
    """Skips the test file where Python's headers or nanobind were missing when garra was built."""
    if importlib.util.find_spec("garra._core") is None:
        pytest.skip(f"garra._core is not built; looked in {list(garra.__path__)}", allow_module_level=True)
