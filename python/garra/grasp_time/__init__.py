"""The report of a grasp study in time."""
