"""The report of an experiment on a platform: the paper’s 91 coordinates beside six."""
