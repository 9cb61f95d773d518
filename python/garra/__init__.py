"""garra: batched robotics solves, and the report of a grasp study."""

__version__ = "0.1.0"
