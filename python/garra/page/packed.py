"""Arrays that travel in a page: little endian, base64."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def packed(values: np.ndarray, kind: str) -> str:
    """`kind`: "<u4", "<f4", ... as NumPy and the page's scripts name them."""
    import numpy as np

    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def column(values: np.ndarray, kind: str) -> dict[str, Any]:
    """Rows of one width: {kind, width, data}, or {all} where every row is the same."""
    import numpy as np

    rows = np.asarray(values)
    rows = rows.reshape(len(rows), int(np.prod(rows.shape[1:])))
    if len(rows) and (rows == rows[0]).all() and np.isfinite(rows[0]).all():
        return {"all": np.asarray(rows[0], dtype=kind).tolist()}
    return {"kind": kind, "width": rows.shape[1], "data": packed(rows, kind)}
