"""Grasps: from a MuJoCo state (from_mujoco), from a URDF of hand and arm (from_urdf), candidate grasps of an object
(propose), their ranking (rank), and the report of a grasp study at an instant."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from garra.renamed import attribute

if TYPE_CHECKING:
    from garra.grasp.candidates import GraspSet, RankedRun, Ranking, rank
    from garra.grasp.hand import Grasp, Solution
    from garra.grasp.mujoco_scene import from_mujoco, from_mujoco_states
    from garra.grasp.outcomes import Comparison, compare
    from garra.grasp.pose_files import PoseFile, read_poses
    from garra.grasp.poses import ParallelJaw, Touch
    from garra.grasp.proposals import propose
    from garra.grasp.robustness import Robustness
    from garra.grasp.set_options import GraspArrays, RankOptions
    from garra.grasp.urdf_hand import from_urdf
    from garra.grasp.what_helps import WhatHelps

# Imported when they are used: reports need neither NumPy nor the compiled module for this.
_NAMES = {
    "from_mujoco": ".mujoco_scene",
    "from_mujoco_states": ".mujoco_scene",
    "PoseFile": ".pose_files",
    "read_poses": ".pose_files",
    "from_urdf": ".urdf_hand",
    "Grasp": ".hand",
    "Solution": ".hand",
    "Robustness": ".robustness",
    "Comparison": ".outcomes",
    "compare": ".outcomes",
    "ParallelJaw": ".poses",
    "Touch": ".poses",
    "GraspArrays": ".set_options",
    "GraspSet": ".candidates",
    "RankOptions": ".set_options",
    "RankedRun": ".candidates",
    "Ranking": ".candidates",
    "rank": ".candidates",
    "propose": ".proposals",
    "WhatHelps": ".what_helps",
}
__all__ = list(_NAMES)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        return attribute(__name__, name)
    return getattr(import_module(_NAMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
