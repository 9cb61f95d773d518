"""HDF5 files as tables of nested lists, NaN and infinity as None; errors name file and data set."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from garra.page.run_folder import DamagedFile, MissingFile
from garra.renamed import stored_name

UNLIMITED = 1e100  # a number beyond: nothing is limited there

Table = dict[str, Any]
Shapes = dict[str, tuple[Any, ...]]


def opened(file: Path, read: Callable[[Any], Any], remedy: str = "`garra run` writes it") -> Any:
    """Result of `read` for the open file; raises MissingFile or DamagedFile."""
    import h5py

    if not file.is_file():
        raise MissingFile(f"{file}: no such file; {remedy}")
    try:
        with h5py.File(file) as h5:
            return read(h5)
    except PermissionError as error:
        raise MissingFile(f"{file}: {error.strerror}") from error
    except OSError as error:
        raise DamagedFile(f"{file}: not a whole HDF5 file: {str(error).splitlines()[0]}; {remedy}") from None
    except (ValueError, TypeError, KeyError) as error:
        raise DamagedFile(f"{file}: {error}") from error


def data_sets(h5: Any, shapes: Shapes, file: Path, where: str = "") -> Table:
    """Nested lists; a named size is that of the first data set that has it. `where`: the group, for messages."""
    import numpy as np

    sizes: dict[str, int] = {}
    table = {}
    for key, shape in shapes.items():
        if (stored := stored_name(h5, key)) not in h5:
            raise DamagedFile(f"{file}: {where}{key}: no such data set")
        value = np.asarray(h5[stored][()], dtype=float)
        found = value.shape if value.ndim == len(shape) else ()
        for name, n in zip(shape, found, strict=False):
            if isinstance(name, str):
                sizes.setdefault(name, n)
        wanted = tuple(sizes.get(n, n) for n in shape)
        if value.shape != wanted:
            raise DamagedFile(f"{file}: {where}{key}: expected the shape {wanted}, found {value.shape}")
        table[key] = _listed(value.tolist())
    return table


def _listed(value: Any) -> Any:
    if isinstance(value, list):
        return [_listed(item) for item in value]
    return value if math.isfinite(value) and abs(value) < UNLIMITED else None


def text(value: Any) -> str:
    """An attribute, which may be bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)
