"""Where the files lie that come with the package."""

from __future__ import annotations

from pathlib import Path


def data(name: str) -> Path:
    """A file of the example data, in the wheel or in the source tree: data("robots/ur5.toml")."""
    package = Path(__file__).resolve().parent
    inside = package / "data"
    return (inside if inside.is_dir() else package.parents[1] / "data") / name
