"""Studies from Python: scenarios that the program runs, and distributions."""
