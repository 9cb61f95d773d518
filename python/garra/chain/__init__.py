"""Serial chains (robot.py), differentiable dynamics, and the report of a chain study."""

from garra.chain import calibration
from garra.chain.differentiable import aba, evaluate, rnea
from garra.chain.path_probability import PathProbability, path_probability
from garra.chain.reach_map import ReachMap, reach_map

__all__ = ["PathProbability", "ReachMap", "aba", "calibration", "evaluate", "path_probability", "reach_map", "rnea"]
