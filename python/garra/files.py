"""Paths of the files of the package."""

from __future__ import annotations

from pathlib import Path


def data(name: str) -> Path:
    """Path of a file of the example data, in the wheel or in the source tree.

    Parameters
    ----------
    name : str
        Path within the data folder: "robots/...", "scenarios/...", "platforms/...", "sets/...".

    Returns
    -------
    Path
        The file need not exist.

    Examples
    --------
    >>> from garra.files import data
    >>> data("robots/ur5.toml").name, data("robots/ur5.toml").is_file()
    ('ur5.toml', True)
    """
    package = Path(__file__).resolve().parent
    inside = package / "data"
    return (inside if inside.is_dir() else package.parents[1] / "data") / name


def named(name: str, folder: str) -> str:
    """Path of a user's file, or of the example file in data/`folder` that has this name.

    Parameters
    ----------
    name : str
        Path of a file, or name of an example without suffix.
    folder : str
        Folder of the example data: "robots", "platforms".

    Returns
    -------
    str
        `name` itself if it has a slash or a dot, or if such a file exists.

    Raises
    ------
    garra.InputOutputError
        If there is no such file and no such example. The message lists the names.

    Examples
    --------
    >>> from garra.files import named
    >>> named("ur5", "robots")
    '.../robots/ur5.toml'
    >>> named("arm.urdf", "robots")
    'arm.urdf'
    """
    if "/" in name or "." in name or Path(name).is_file():
        return name
    own = {file.stem: file for file in sorted(data(folder).glob("*")) if file.suffix in (".toml", ".urdf")}
    if name in own:
        return str(own[name])
    from garra import _core

    raise _core.InputOutputError(f'"{name}": there is no such file, and no such model\n  Models: {", ".join(own)}.')
