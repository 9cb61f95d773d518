"""How far a run is: `garra run --progress json` writes a line of JSON now and then (docs/reference/scenario.md)."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any, TypeAlias

Progress: TypeAlias = bool | Callable[[dict[str, Any]], object]
"""False: nothing is shown; True: a bar or a line; a function receives records."""


def listener(progress: Progress) -> Callable[[dict[str, Any]], object] | None:
    """Receiver of the records: the caller's function, a bar for True, None for False."""
    if callable(progress):
        return progress
    return _bar() if progress else None


def record_of(line: str) -> dict[str, Any] | None:
    """{"samples": 3072, "of": 10000, "per_second": ..., "seconds_left": ..., event: ..., "low": ..., "high": ...}; None
    for what is no such line."""
    if not line.startswith("{"):
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if "samples" in record and "of" in record else None


def _estimate(record: dict[str, Any]) -> str:
    """The key between seconds_left and low is the event."""
    event = next(
        (key for key in record if key not in ("samples", "of", "per_second", "seconds_left", "low", "high")), ""
    )
    value = record.get(event)
    return f"P({event}) = {value:.4f}" if isinstance(value, int | float) else ""


def _bar() -> Callable[[dict[str, Any]], object]:
    """tqdm's, where it is installed; else a line that is written over."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return lambda r: print(
            f"\r{r['samples']:,} of {r['of']:,} samples  {_estimate(r)}  ", end="", file=sys.stderr, flush=True
        )
    bar = tqdm(unit=" samples", unit_scale=True)

    def show(record: dict[str, Any]) -> None:
        bar.total = record["of"]
        bar.set_postfix_str(_estimate(record), refresh=False)
        bar.update(record["samples"] - bar.n)

    return show


def count_listener(
    progress: Progress, of: int, what: str = "grasps"
) -> Callable[[int], object] | None:
    """Receiver of the number of grasps or samples that are done: the caller's function gets a record, True shows a
    line."""
    if not progress:
        return None
    start = time.perf_counter()
    tell = progress if callable(progress) else _line

    def show(done: int) -> object:
        seconds = time.perf_counter() - start
        return tell({what: done, "of": of, "seconds": seconds, "seconds_left": seconds * (of - done) / max(done, 1)})

    return show


def _line(record: dict[str, Any]) -> None:
    what, done = next(iter(record.items()))
    end = "\n" if done == record["of"] else ""
    text = f"\r{done:,} of {record['of']:,} {what}, {record['seconds_left']:.0f} s left  "
    print(text, end=end, file=sys.stderr, flush=True)
