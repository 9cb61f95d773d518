"""Serial chains (robot.py), differentiable dynamics, and the report of a chain study."""

from garra.chain.differentiable import aba, rnea

__all__ = ["aba", "rnea"]
