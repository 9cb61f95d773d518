"""The report of a chain study."""
