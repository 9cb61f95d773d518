"""Draws the parts of a grasp with viser."""

from __future__ import annotations

import subprocess
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from garra import _core, program
from garra.grasp import scene
from garra.viewer import parts
from garra.viewer.sets import SetViewer

if TYPE_CHECKING:
    from garra.grasp.candidates import GraspSet
    from garra.grasp.hand import Grasp
    from garra.study.run import Result

BODY, FINGER, CONE, FORCE, LOAD = (180, 184, 190), (70, 76, 84), (42, 120, 214), (20, 60, 140), (200, 70, 40)
OF_STATE = {0: (38, 130, 78), 1: (214, 120, 20), 2: (150, 150, 150)}


def show(
    run: str | PathLike[str] | Result | GraspSet | Grasp, sample: int | None = None, *, port: int = 8080
) -> Viewer | SetViewer:
    """Serves a 3-D view of grasps for the browser at http://127.0.0.1:PORT until close().

    Parameters
    ----------
    run : str, path, Result, GraspSet or Grasp
        Run folder of a grasp study, or its result; a set of grasps, with the hand of a set of from_poses(); a grasp of
        from_mujoco().
    sample : int, optional
        Number of the sample, or of the grasp of a set; default: the nominal grasp, or the first.
    port : int
        Port of the server.

    Returns
    -------
    Viewer or SetViewer

    Raises
    ------
    ImportError
        Without viser (`pip install garra[viewer]`).
    """
    if hasattr(run, "_picture"):
        return SetViewer(run, sample, port)
    return Viewer(fspath(run) if isinstance(run, str | PathLike) else str(run.folder), sample, port)


class Viewer:
    """Browser view of one run. `server` is the viser.ViserServer, for additional content."""

    def __init__(self, folder: str, sample: int | None, port: int) -> None:
        self.folder = Path(folder)
        self._found = _read(folder)
        try:
            import viser
        except ImportError:
            raise ImportError("the viewer needs viser: pip install garra[viewer]") from None
        self._find(sample)  # an error leaves no server behind
        self.server = viser.ViserServer(host="127.0.0.1", port=port, label="garra", verbose=False)
        self.server.scene.set_up_direction("+z")
        self._handles: dict[str, Any] = {}
        self._list = self.server.gui.add_dropdown("sample", self._names())
        self._time = self.server.gui.add_slider("instant", 0, 1, 1, 0)
        self._words = self.server.gui.add_markdown("")
        self._list.on_update(lambda _: self._choose(self._names().index(self._list.value)))
        self._time.on_update(lambda _: self._draw(int(self._time.value)))
        self._run: dict[str, Any] = {}
        self.look(sample)
        now = parts.at(self._found, self._run, 0)
        bodies = [body.vertices + body.position for body in (now.body, *now.others) if body is not None]
        parts.look_from(self.server, np.concatenate([*now.fingers, *bodies, *(c.point[None] for c in now.contacts)]))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.get_port()}"

    @property
    def instants(self) -> int:
        """Number of instants of the displayed sample; 1 for a grasp at an instant."""
        return parts.instants(self._run)

    def look(self, sample: int | None = None) -> None:
        """Shows another sample, the nominal grasp for None; one that is not stored is computed again."""
        index = self._find(sample)
        if len(self._list.options) != len(self._found["runs"]):
            self._list.options = self._names()
        self._choose(index)

    def at(self, instant: int) -> None:
        """Shows another instant of the sample."""
        if not 0 <= instant < self.instants:
            raise _core.UsageError(f"instant = {instant}, not from 0 to {self.instants - 1}")
        self._time.value = instant
        self._draw(instant)

    def close(self) -> None:
        self.server.stop()

    def _names(self) -> list[str]:
        return [f"{run['title']}: {run['outcome']}" for run in self._found["runs"]]

    def _find(self, sample: int | None) -> int:
        """Place of a sample among those that are read; one that is not stored is computed again."""
        index = self._index(sample)
        if index is None:
            self._replay(sample)
            index = self._index(sample)
        if index is None:
            raise _core.UsageError(f"sample {sample} of {self.folder} has nothing to show")
        return index

    def _index(self, sample: int | None) -> int | None:
        return next((k for k, run in enumerate(self._found["runs"]) if run["sample"] == sample), None)

    def _replay(self, sample: int | None) -> None:
        (self.folder / "samples").mkdir(exist_ok=True)
        out = self.folder / "samples" / f"{sample}.h5"
        done = subprocess.run(
            [program.path(), "replay", str(self.folder), "--sample", str(sample), "-o", str(out)],
            env=program.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
        )  # fmt: skip
        if done.returncode not in (0, 1):
            raise _core.UsageError(done.stderr.strip().removeprefix("garra: ").replace("--sample ", "sample = ", 1))
        known = {run["sample"] for run in self._found["runs"]}
        self._found["runs"] += [run for run in _read(str(self.folder), out)["runs"] if run["sample"] not in known]

    def _choose(self, index: int) -> None:
        run = self._found["runs"][index]
        if run is self._run:
            return
        self._run = run
        self._list.value = self._names()[index]
        self._time.max = max(self.instants - 1, 1)
        self._time.disabled = self.instants == 1
        self._time.value = 0
        self._draw(0)

    def _draw(self, i: int) -> None:
        now = parts.at(self._found, self._run, min(i, self.instants - 1))
        drawn = {}
        bodies = {"/object": now.body} | {f"/object {k}": body for k, body in enumerate(now.others, start=1)}
        sizes = [float(np.ptp(body.vertices, axis=0).max()) for body in bodies.values() if body is not None]
        self._size = max(sizes, default=0.2)
        with self.server.atomic():
            for name, body in bodies.items():
                if body is not None:
                    drawn[name] = self.server.scene.add_mesh_simple(
                        name, body.vertices, body.faces, color=BODY, opacity=0.6,
                        position=body.position, wxyz=body.quaternion,
                    )  # fmt: skip
            for j, links in enumerate(now.fingers):
                drawn[f"/hand/{j}"] = self._line(f"/hand/{j}", links, FINGER, 0.04 * self._size)
            for j, contact in enumerate(now.contacts):
                drawn |= self._contact(f"/contacts/{j}", contact)
            if np.any(now.load) and now.body is not None:
                tail = now.body.position
                drawn["/load"] = self._line("/load", np.stack([tail, tail + self._scale() * now.load]), LOAD, 0.02 * self._size)
            for name in self._handles.keys() - drawn.keys():
                self._handles[name].remove()
        self._handles = drawn
        states = [parts.STATES[c.state] if 0 <= c.state < 3 else "is not known" for c in now.contacts]
        said = [f"- contact {j} {state}" for j, state in enumerate(states)]
        self._words.content = "\n".join([f"{now.time:.3f} s, {self._run['outcome']}", "", *said])

    def _contact(self, name: str, contact: parts.Contact) -> dict[str, Any]:
        color = OF_STATE.get(contact.state, OF_STATE[2])
        drawn = {
            name: self.server.scene.add_icosphere(
                name, 0.03 * self._size, color, subdivisions=2, position=contact.point
            ),
            f"{name}/label": self.server.scene.add_label(f"{name}_label", name.rpartition("/")[2], position=contact.point),
        }
        if contact.normal is not None and contact.friction:
            mesh = parts.cone(contact, 0.3 * self._size)
            drawn[f"{name}/cone"] = self.server.scene.add_mesh_simple(
                f"{name}_cone", *mesh, color=CONE, opacity=0.35, side="double"
            )
        if contact.force is not None:
            ends = np.stack([contact.point, contact.point + self._scale() * contact.force])
            drawn[f"{name}/force"] = self._line(f"{name}_force", ends, FORCE, 0.02 * self._size)
        return drawn

    def _line(self, name: str, points: np.ndarray, color: tuple[int, int, int], thickness: float) -> Any:
        segments = np.stack([points[:-1], points[1:]], axis=1)
        return self.server.scene.add_line_segments(name, segments, color, thickness=thickness)

    def _scale(self) -> float:
        """Meters for a newton: the largest contact force of the sample is as long as a cone is high, twice."""
        forces = [x for row in self._run["force_palm"] for force in row for x in force if x is not None]
        return 0.6 * self._size / max((abs(x) for x in forces), default=1.0) if forces else 0.01


def _read(folder: str, file: Path | None = None) -> dict[str, Any]:
    """Trajectories of a run, or its instants without trajectories."""
    found = scene.read_file(file) if file else scene.read_motion(folder) or scene.read_pictures(folder)
    if not found:
        raise _core.FileError(
            f"{file or folder}: no grasp that can be shown; give the folder of a run, or an object of garra.grasp "
            "(a set's file: GraspSet.from_hdf5 or from_npz)"
        )
    return found
