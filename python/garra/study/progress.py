"""How far a run is: `garra run --progress json` writes a line of JSON now and then (docs/reference/scenario.md)."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any


def listener(progress: bool | Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], object] | None:
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


def grasps_listener(progress: bool | Callable[[dict[str, Any]], object], of: int) -> Callable[[int], object] | None:
    """Receiver of the number of ranked grasps: the caller's function gets a record, True shows a line."""
    if not progress:
        return None
    start = time.perf_counter()
    tell = progress if callable(progress) else _grasp_line

    def show(done: int) -> object:
        seconds = time.perf_counter() - start
        return tell({"grasps": done, "of": of, "seconds": seconds, "seconds_left": seconds * (of - done) / max(done, 1)})

    return show


def _grasp_line(record: dict[str, Any]) -> None:
    done, of = record["grasps"], record["of"]
    end = "\n" if done == of else ""
    print(f"\r{done:,} of {of:,} grasps, {record['seconds_left']:.0f} s left  ", end=end, file=sys.stderr, flush=True)
