"""Paths of the files of the package."""

from __future__ import annotations

from pathlib import Path


def data(name: str) -> Path:
    """A file of the example data, in the wheel or in the source tree: data("robots/ur5.toml")."""
    package = Path(__file__).resolve().parent
    inside = package / "data"
    return (inside if inside.is_dir() else package.parents[1] / "data") / name


def named(name: str, folder: str) -> str:
    """The path that a user gives, or that of the file in data/`folder` that has this name. Raises
    garra.InputOutputError, which lists the names, where there is neither."""
    if "/" in name or "." in name or Path(name).is_file():
        return name
    own = {file.stem: file for file in sorted(data(folder).glob("*")) if file.suffix in (".toml", ".urdf")}
    if name in own:
        return str(own[name])
    from garra import _core

    raise _core.InputOutputError(f'"{name}": there is no such file, and no such model\n  Models: {", ".join(own)}.')
