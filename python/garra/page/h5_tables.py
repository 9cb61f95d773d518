"""HDF5 files as tables of nested lists, NaN and infinity as None; errors name file and data set."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from garra.page.run_folder import At, DamagedFile, MissingFile
from garra.renamed import stored_name

UNLIMITED = 1e100  # a number beyond: nothing is limited there

Table = dict[str, Any]
Shapes = dict[str, Sequence[int | str]]


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
    except (OSError, RuntimeError) as error:
        raise DamagedFile(f"{file}: not a whole HDF5 file: {str(error).splitlines()[0]}; {remedy}") from error
    except (ValueError, TypeError, KeyError) as error:
        raise DamagedFile(f"{file}: {error}") from error


def data_sets(h5: Any, shapes: Shapes, file: Path, where: str = "") -> Table:
    """Nested lists of numbers(). `where`: the group, for messages."""
    sizes: dict[str, int] = {}
    return {
        key: _listed(numbers(h5, key, shape, sizes, At(str(file), f"{where}{key}")).tolist())
        for key, shape in shapes.items()
    }


def numbers(group: Any, name: str, shape: Sequence[int | str], sizes: dict[str, int], at: At) -> Any:
    """A data set as float64. `sizes`: lengths of named axes; the first data set that has an axis sets its length."""
    import h5py

    stored = stored_name(group, name)
    if stored not in group or not isinstance(group[stored], h5py.Dataset):
        raise at.fail("no such data set; the file is damaged or of another version of garra")
    data = group[stored]
    if len(shape) == data.ndim:
        for axis, size in zip(shape, data.shape, strict=True):
            sizes.setdefault(str(axis), size)
    wanted = [sizes.get(axis, axis) if isinstance(axis, str) else axis for axis in shape]
    if data.dtype.kind not in "fiub" or list(data.shape) != wanted:
        raise at.fail(f"expected numbers [{', '.join(map(str, wanted))}], found {data.dtype} {list(data.shape)}")
    return data[...].astype(float)


def _listed(value: Any) -> Any:
    if isinstance(value, list):
        return [_listed(item) for item in value]
    return value if math.isfinite(value) and abs(value) < UNLIMITED else None


def text(value: Any) -> str:
    """An attribute, which may be bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)
