"""The report of a grasp study at an instant."""
