"""Poses and lengths of platforms that are on a GPU. Platform's functions come here by themselves."""

from __future__ import annotations

from typing import Any

from garra import _core
from garra.on_gpu import Rows, all_on_gpu


def inverse(core: _core.PlatformModel, position: Any, quaternion: Any) -> dict[str, Any]:
    """The arrays of InverseKinematics. Returns when the work is queued; with JAX's arrays, when it is done."""
    rows = Rows(all_on_gpu({"position": position, "quaternion": quaternion}), {"position": (3,), "quaternion": (4,)})
    out = {name: rows.empty(name, (6,)) for name in ("lengths", "stroke_margin")}
    out |= {name: rows.empty(name, ()) for name in ("condition", "sigma_min", "determinant")}
    out |= {name: rows.empty(name, (), "int32") for name in ("mask", "status")}
    _core.platform_inverse_on_gpu(core, rows.given, out, rows.stream, rows.workspace)
    return rows.finish()


def forward(core: _core.PlatformModel, lengths: Any, guess: tuple[Any, Any] | None, certify: bool) -> dict[str, Any]:
    """The arrays of ForwardKinematics."""
    given = {"lengths": lengths} | ({} if guess is None else {"position": guess[0], "quaternion": guess[1]})
    rows = Rows(all_on_gpu(given), {"lengths": (6,), "position": (3,), "quaternion": (4,)})
    out = {"position": rows.empty("position", (3,)), "quaternion": rows.empty("quaternion", (4,))}
    out |= {name: rows.empty(name, ()) for name in ("residual", "sigma_min") + ("uniqueness",) * certify}
    out |= {name: rows.empty(name, (), "int32") for name in ("iterations", "status")}
    _core.platform_forward_on_gpu(core, rows.given, out, certify, rows.stream, rows.workspace)
    return {"uniqueness": None} | rows.finish()
