"""A window in the browser on the grasps of a run: hand, object, contacts, cones, forces, in time (garra[viewer]).

viewer = garra.viewer.show("run-three_puma_shake")      # or a Result of garra.run(..., out=...)
viewer.look(sample=27810)                               # another sample: replayed where it is not stored
viewer.at(120)                                          # another instant
viewer = garra.viewer.show(grasps, 7)                   # a grasp of a set, with the hand of from_poses()
"""

from garra.viewer.sets import SetViewer
from garra.viewer.window import Viewer, show

__all__ = ["SetViewer", "Viewer", "show"]
