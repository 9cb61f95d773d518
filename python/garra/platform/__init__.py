"""The report of a platform study, and the page of one motion."""
