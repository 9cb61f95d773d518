"""Runs of systems that garra does not know (docs/own-study.md)."""
