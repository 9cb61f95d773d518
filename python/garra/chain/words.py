"""Designs of a chain study as people read them."""

from __future__ import annotations

from typing import Any

from garra.page.measures import measure

Table = dict[str, Any]


def settings(values: list[float], sweep: list[Table]) -> str:
    """The swept numbers of a design: `damping 0.0046 N·m·s/rad, size 1`."""
    pairs = zip(values, sweep, strict=True)
    return ", ".join(f"{key_words(entry['key'])} {measure(value, entry['unit'])}" for value, entry in pairs)


def key_words(key: str) -> str:
    """Display name of a scenario key: `vary.damping` is damping, `torque.pulse` the torque's pulse."""
    table, _, name = key.rpartition(".")
    owner = "" if table in ("", "vary") else f"{table.replace('.', ' ')} "
    return owner + name.replace("_", " ")


def short_settings(values: list[float], sweep: list[Table]) -> str:
    """The same without keys."""
    return ", ".join(measure(value, entry["unit"]) for value, entry in zip(values, sweep, strict=True))
