"""Serial chains (robot.py), and the report of a chain study."""
