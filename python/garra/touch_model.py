"""`garra grasp touch` of hands with joints, whose models MuJoCo reads, and of poses of data sets.

usage: python -m garra.touch_model POSES HAND OPTIONS.json -o SET.h5
"""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from garra.page import command
from garra.page.run_folder import RunError

COMMANDS = ("joints", "squeeze", "torque", "stiffness")  # arrays of an .npz beside `pose`


def read_hand_poses(path: str) -> tuple[Any, dict[str, Any]]:
    """Poses, and the arguments of from_poses() that the file has."""
    from garra.grasp import read_poses

    read = read_poses(path)
    found: dict[str, Any] = {"joints": read.joints if len(read.joints) else None, "squeeze": read.squeeze or None, "outcome": read.outcome}
    if Path(path).suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            found |= {name: file[name] for name in (*COMMANDS, "group", "up") if name in file}
    if np.ndim(read.scale) or read.scale != 1:
        found["scale"] = read.scale
    return read.pose, found | {"mass": read.mass, "com": read.com}


def write_set(poses: str, hand: str, options: dict[str, Any], output: str) -> None:
    """Writes the set of contacts, and prints how many poses touch."""
    from garra.grasp import GraspSet, ParallelJaw

    mesh, show, lengths = options.pop("mesh"), options.pop("format"), options.pop("jaw", None)
    pose, found = read_hand_poses(poses)
    taken: Any = hand
    if np.ndim(found.get("scale", 0)) and "scale" in options:  # of the mesh, and of each pose
        found["scale"] = options.pop("scale") * found["scale"]
    if lengths is not None:
        hand = lengths.pop("name")
        taken = replace(ParallelJaw.built_in(hand), **lengths)
        found = {name: value for name, value in found.items() if name not in COMMANDS}
    elif found["squeeze"] is not None and "stiffness" not in found | options:
        print("garra: warning: --stiffness is missing: the file's squeeze targets give no torques", file=sys.stderr)
        found["squeeze"] = None
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        grasps = GraspSet.from_poses(taken, pose, mesh, **found | options)
    for warning in said:
        print(f"garra: warning: {warning.message}", file=sys.stderr)
    grasps.save(output)
    counts = grasps.touch.counts()
    if show == "json":
        print(json.dumps({"poses": len(pose), "grasps": len(grasps), "hand": hand, "status": counts, "output": output}))
        return
    rows = "".join(f"  {name.replace('_', ' '):20} {n:>9,}\n" for name, n in counts.items())
    print(f"{len(pose):,} poses, {len(grasps):,} grasps of {hand}\n\n{rows}\nP(held) of each  garra grasp rank {output} -o ranking.h5")


def main() -> int:
    poses, hand, options, _, output = sys.argv[1:]

    def task() -> None:
        from garra import FileError

        try:
            write_set(poses, hand, json.loads(options), output)
        except ValueError as error:  # garra's own, too
            said = RunError(str(error))
            said.exit_code = 3 if isinstance(error, FileError) else 2
            raise said from None

    return command.run("garra grasp touch", task, output)


if __name__ == "__main__":
    sys.exit(main())
