"""Runs of systems that garra does not know (docs/howto/own-study.md)."""
