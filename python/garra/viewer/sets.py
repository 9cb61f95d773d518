"""A window in the browser on the grasps of a set, or on one grasp of a MuJoCo model."""

from __future__ import annotations

from typing import Any

import numpy as np

from garra import _core
from garra.grasp.drawing import friction_cone
from garra.viewer import parts

COLOR = {"object": (180, 184, 190), "hand": (70, 76, 84)}
CONE, CONTACT = (42, 120, 214), (38, 130, 78)


class SetViewer:
    """Browser view of the grasps of a set. `server` is the viser.ViserServer, for additional content."""

    def __init__(self, grasps: Any, grasp: int | None, port: int) -> None:
        try:
            import viser
        except ImportError:
            raise ImportError("the viewer needs viser: pip install garra[viewer]") from None
        self.grasps, self.count = grasps, len(grasps) if hasattr(grasps, "arrays") else 1
        first = self._known(0 if grasp is None else grasp)  # an error leaves no server behind
        self.server = viser.ViserServer(host="127.0.0.1", port=port, label="garra", verbose=False)
        self.server.scene.set_up_direction("+z")
        self._handles: list[Any] = []
        self._number = self.server.gui.add_slider("grasp", 0, max(self.count - 1, 1), 1, 0)
        self._words = self.server.gui.add_markdown("")
        self._number.on_update(lambda _: self._draw(int(self._number.value)))
        self.look(first)
        solids, points, *_ = grasps._picture(int(self._number.value))
        parts.look_from(self.server, np.concatenate([np.reshape(points, (-1, 3)), *(s.vertices for s in solids)]))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.get_port()}"

    def look(self, grasp: int) -> None:
        """Shows another grasp."""
        self._number.value = self._known(grasp)
        self._draw(grasp)

    def close(self) -> None:
        self.server.stop()

    def _known(self, grasp: int) -> int:
        if not 0 <= grasp < self.count:
            raise _core.UsageError(f"grasp = {grasp}, not from 0 to {self.count - 1}")
        return grasp

    def _draw(self, grasp: int) -> None:
        solids, points, normals, friction = self.grasps._picture(grasp)
        scene = self.server.scene
        with self.server.atomic():
            for handle in self._handles:
                handle.remove()
            self._handles = [
                scene.add_mesh_simple(f"/{s.kind}/{k}", s.vertices, s.faces, color=COLOR[s.kind], opacity=0.6)
                for k, s in enumerate(solids)
            ]
            height = 0.15 * float(max((np.ptp(s.vertices, axis=0).max() for s in solids), default=0.1))
            for k, (p, n, mu) in enumerate(zip(points, normals, friction, strict=True)):
                vertices, faces = friction_cone(p, n / np.linalg.norm(n), float(mu), height)
                self._handles += [
                    scene.add_icosphere(f"/contacts/{k}", 0.06 * height, CONTACT, subdivisions=2, position=p),
                    scene.add_label(f"/labels/{k}", str(k), position=p),
                    scene.add_mesh_simple(f"/cones/{k}", vertices, faces, color=CONE, opacity=0.35, side="double"),
                ]
        self._words.content = f"grasp {grasp}: {len(points)} contacts"
