"""Reads and checks the folder of a study; errors name file and field.

The folder.py of each job lists the content of its summary; jobs.py lists the jobs.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from garra.renamed import with_new_names

SCHEMAS = (1, 2)  # 1: with the old names of docs/reference/renamed.md
QUANTILES = ("0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99")


class RunError(Exception):
    """A run folder that cannot be read; the message is for the user."""

    exit_code = 70


class MissingFile(RunError):
    """A file is not there or may not be read."""

    exit_code = 5


class DamagedFile(RunError):
    """A file is there but not what it should be."""

    exit_code = 3


# Content of a complete run. A dict lists required fields (others are ignored; with "?" a field may be absent), a list
# has one shape for all its items, a tuple lists allowed types, or has the shape of what may be null. Infinite and
# undefined numbers are null in JSON.
COUNT = (int,)
REAL = (int, float)
MAYBE = (int, float, type(None))
TEXT = (str,)

HISTOGRAM = {
    "unit": TEXT,
    "label?": TEXT,  # the quantity in words, without its unit; runs of an older garra have none
    "meaning?": TEXT,  # a sentence
    "reference?": MAYBE,  # the value that separates good from bad
    "mean": MAYBE,
    "sd": MAYBE,
    "quantiles": dict.fromkeys(QUANTILES, MAYBE),
    "low": REAL,
    "high": REAL,
    "counts": [COUNT],
    "below": COUNT,
    "above": COUNT,
    "undefined": COUNT,
}
INTERVAL = {"probability": REAL, "low": REAL, "high": REAL}
MAYBE_INTERVAL = dict.fromkeys(INTERVAL, MAYBE)
CURVE = {key: [MAYBE] for key in INTERVAL}
CONVERGENCE = {"samples": [COUNT], **CURVE}
INPUT = {
    "name": TEXT,
    "unit": TEXT,
    "distribution": TEXT,
    "influence": MAYBE,
    "noise": MAYBE,
    "bins": {"value": [MAYBE], "held": [COUNT], "decided": [COUNT]},
}
STUDY = {"title": TEXT, "seed": COUNT, "samples": COUNT, "requested": COUNT, "stopped_by": TEXT}  # of every study
MANIFEST = {
    "garra": TEXT,
    "command": TEXT,
    "scenario": TEXT,
    "device": TEXT,
    "started": TEXT,
    "seconds": REAL,
    "samples_per_second": REAL,
    "compiler": TEXT,
    "overrides?": [TEXT],
    "warnings?": [TEXT],
    "campaign?": {"workers": COUNT, "machines": COUNT, "seconds": REAL, "samples_per_second": REAL},
}

KINDS = {
    dict: "a table",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    type(None): "null",
}


@dataclass(frozen=True)
class Effort:
    """Effort of a run: of the process of the manifest, or of all workers (docs/howto/campaigns.md)."""

    seconds: float
    rate: float  # samples per second
    workers: int = 0
    machines: int = 0


@dataclass(frozen=True)
class Run:
    """A run that was read and found complete."""

    folder: str  # as the user wrote it: commands in the report repeat it
    summary: dict[str, Any]
    manifest: dict[str, Any]
    scenario_text: str
    scenario: dict[str, Any]

    def replay(self, sample: int) -> str:
        """The command that computes a sample again."""
        return f"garra replay {shlex.quote(self.folder)} --sample {sample}"

    @property
    def effort(self) -> Effort:
        own = Effort(self.manifest["seconds"], self.manifest["samples_per_second"])
        if "campaign" not in self.manifest:
            return own
        all = self.manifest["campaign"]
        return Effort(
            own.seconds + all["seconds"], own.rate + all["samples_per_second"], all["workers"], all["machines"]
        )

    @property
    def resume(self) -> str:
        """The command that goes on with the run."""
        return f"garra resume {shlex.quote(self.folder)}"


def read(folder: str, check_summary: Callable[[Any, At], None]) -> Run:
    """The run in `folder`, whose summary `check_summary` finds complete; raises RunError."""
    path = Path(folder)
    if not path.is_dir():
        raise MissingFile(f"{folder}: no such run folder")
    summary = read_summary(path)
    check_summary(summary, At(str(path / "summary.json")))
    manifest = read_json(path / "manifest.json", remedy="run the study again: the report names its device and command")
    check(manifest, MANIFEST, At(str(path / "manifest.json")))
    text = _read_text(path / "scenario.toml", remedy="put back the scenario that the run was made from")
    scenario = _parse_toml(text, path / "scenario.toml")
    for override in manifest.get("overrides", []):
        _replace(scenario, *override.split("=", 1))
    return Run(folder, summary, manifest, text, with_new_names(scenario, "key"))


def _replace(scenario: dict[str, Any], key: str, value: str) -> None:
    """What `--set KEY=VALUE` does (apply_override in src/base/files/toml_parse.cpp), of a key that the program took."""
    node: Any = scenario
    *path, last = (part.strip() for part in key.split("."))
    for part in path:
        node = node[int(part)] if isinstance(node, list) else node.setdefault(part, {})
    try:
        found = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        found = value.strip()
    node[int(last) if isinstance(node, list) else last] = found


def read_summary(folder: Path) -> dict[str, Any]:
    """summary.json with the names of today; raises RunError."""
    return with_new_names(read_json(folder / "summary.json", f"finish the run with `garra resume {folder}`"), "json")


def _read_text(path: Path, remedy: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise MissingFile(f"{path}: no such file; {remedy}") from None
    except OSError as error:
        raise MissingFile(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DamagedFile(f"{path}: not UTF-8 text (byte {error.start})") from None


def read_json(path: Path, remedy: str) -> Any:
    text = _read_text(path, remedy)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DamagedFile(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}; {remedy}") from None


def _parse_toml(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DamagedFile(f"{path}: not TOML: {error}") from None


@dataclass(frozen=True)
class At:
    """Place of a check in a file."""

    file: str
    field: str = ""

    def key(self, key: str) -> At:
        return At(self.file, f"{self.field}.{key}" if self.field else key)

    def item(self, index: int) -> At:
        return At(self.file, f"{self.field}[{index}]")

    def fail(self, problem: str) -> DamagedFile:
        return DamagedFile(": ".join(part for part in (self.file, self.field, problem) if part))


def check(value: Any, shape: Any, at: At) -> None:
    """Compares a value of a JSON file with its shape, a table like SUMMARY; raises DamagedFile."""
    if isinstance(shape, dict):
        _check_type(value, (dict,), at)
        for name, inner in shape.items():
            key = name.removesuffix("?")
            if key not in value and key != name:
                continue
            if key not in value:
                raise at.key(key).fail("missing; the file is damaged or of another version of garra")
            check(value[key], inner, at.key(key))
    elif isinstance(shape, tuple) and isinstance(shape[0], dict | list):
        if value is not None:
            check(value, shape[0], at)
    elif isinstance(shape, list):
        _check_type(value, (list,), at)
        for index, item in enumerate(value):
            check(item, shape[0], at.item(index))
    else:
        _check_type(value, shape, at)


def _check_type(value: Any, allowed: tuple[type, ...], at: At) -> None:
    if type(value) not in allowed:
        names = " or ".join(KINDS[kind] for kind in allowed)
        raise at.fail(f"expected {names}, found {KINDS[type(value)]}")


def require_length(items: list[Any], length: int, what: str, at: At) -> None:
    if len(items) != length:
        raise at.fail(f"has {len(items)} entries for {length} {what}")


def same_lengths(tables: list[tuple[dict[str, Any], At]]) -> None:
    """Lists that are drawn against each other must be equally long."""
    for table, place in tables:
        if len({len(column) for column in table.values() if isinstance(column, list)}) > 1:
            raise place.fail("lists of different lengths")
