"""garra: batched solves of small robotics problems, thousands to billions at once.

>>> robot = garra.load("puma560")                            # or a URDF: garra.load("arm.urdf", tip="tool0")
>>> q = np.zeros((1000, 6))
>>> robot.rnea(q, q, q).shape                                # [..., n] in, [..., n] out
(1000, 6)
>>> bool(garra.contact.solve(np.eye(3), [-2, 0, 0], 0.5).converged)  # friction contact problems
True
>>> result = garra.run("scenario.toml", samples=100_000)     # any study  # doctest: +SKIP
>>> grasp = garra.grasp.from_mujoco(model, data)             # MuJoCo's model and data  # doctest: +SKIP

Units are SI and radians. Arrays are float64 with any leading axes. A problem that fails has a status, never an
exception. Documentation: docs/start/python.md.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from garra.library import load as _load_library

__version__ = "0.3.0"

# In a source tree the compiled module lies where it was built.
_tree = Path(__file__).resolve().parents[2]
if (_tree / "CMakeLists.txt").is_file():
    __path__.append(str(_tree / "build" / "python" / "garra"))

_load_library()

# Name: where it comes from. Nothing is imported before it is used, so that `import garra` costs nothing.
_NAMES = {
    "Chain": "garra.chain.robot",
    "load": "garra.chain.robot",
    "run": "garra.study.run",
    "open_run": "garra.study.run",
    "Result": "garra.study.run",
    "uniform": "garra.study.distributions",
    "normal": "garra.study.distributions",
    "scale": "garra.study.distributions",
    "ball": "garra.study.distributions",
    "doctor": "garra.program",
    "Error": "garra._core",
    "UsageError": "garra._core",
    "FileError": "garra._core",
    "InputOutputError": "garra._core",
    "DeviceError": "garra._core",
}
_MODULES = ("bench", "chain", "contact", "grasp", "lcp", "mcp", "mncp", "models", "platform", "scenario", "singularity", "viewer")

__all__ = [
    "Chain",
    "DeviceError",
    "Error",
    "FileError",
    "InputOutputError",
    "Result",
    "UsageError",
    "ball",
    "bench",
    "chain",
    "contact",
    "doctor",
    "grasp",
    "lcp",
    "load",
    "mcp",
    "mncp",
    "models",
    "normal",
    "open_run",
    "platform",
    "run",
    "scale",
    "scenario",
    "singularity",
    "uniform",
    "viewer",
]

if TYPE_CHECKING:
    from garra import bench, chain, contact, grasp, lcp, mcp, mncp, models, platform, scenario, singularity, viewer
    from garra._core import DeviceError, Error, FileError, InputOutputError, UsageError
    from garra.chain.robot import Chain, load
    from garra.program import doctor
    from garra.study.distributions import ball, normal, scale, uniform
    from garra.study.run import Result, open_run, run


def _compiled() -> Any:
    try:
        return import_module("garra._core")
    except ModuleNotFoundError as missing:
        if missing.name != "garra._core":
            raise
        raise ImportError(
            "garra's compiled module garra._core is not there: build it with tools/build in a source tree, "
            "or install the package with pip install",
            name="garra._core",
        ) from None


def __getattr__(name: str) -> Any:
    if name == "_core":
        return _compiled()
    if name in _NAMES:
        value = getattr(_compiled() if _NAMES[name] == "garra._core" else import_module(_NAMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"garra.{name}")
    else:
        raise AttributeError(f"module 'garra' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
