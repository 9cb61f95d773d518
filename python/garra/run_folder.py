"""Reads the folder of a study and says what is wrong with it, file and field, before anyone draws it.

What a grasp study holds is listed here, one in time in grasp_time_folder.py, a chain study in chain_folder.py, a
singularity map in singularity_folder.py, a platform study in platform_folder.py.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCHEMA = 1
OUTCOMES = ("held", "slipping", "separating", "unsolved")  # and what else the summary counts
METRICS = ("critical_friction",)  # likewise
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


# What a complete run holds. A dict lists required fields (others are ignored), a list has one shape for all its items,
# a tuple lists allowed types. Numbers that may be infinite or undefined are null in JSON.
COUNT = (int,)
REAL = (int, float)
MAYBE = (int, float, type(None))
MAYBE_TABLE = (dict, type(None))
TEXT = (str,)

HISTOGRAM = {
    "unit": TEXT,
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
BESIDE_HELD = ("no_slip", "can_be_held")  # where the summary has them
CONTACT = {
    "name": TEXT,
    "stick": COUNT,
    "slip": COUNT,
    "break": COUNT,
    "fails_first": COUNT,
    "normal_force": HISTOGRAM,
    "cone": {"bins": COUNT, "extent": REAL, "counts": [[COUNT]]},
}
INPUT = {
    "name": TEXT,
    "unit": TEXT,
    "distribution": TEXT,
    "influence": MAYBE,
    "noise": MAYBE,
    "bins": {"value": [MAYBE], "held": [COUNT], "decided": [COUNT]},
}
STUDY = {"title": TEXT, "seed": COUNT, "samples": COUNT, "requested": COUNT, "stopped_by": TEXT}  # of every study
SUMMARY = {
    **STUDY,
    "held": {**INTERVAL, "confidence": REAL},
    "outcomes": dict.fromkeys(OUTCOMES, COUNT),
    "contacts": [CONTACT],
    "metrics": dict.fromkeys(METRICS, HISTOGRAM),
    "held_against_friction": {"friction": [REAL], "probability": [REAL], "low": [REAL], "high": [REAL]},
    "inputs": [INPUT],
    "solver": {
        "method": TEXT,
        "tol": REAL,
        "worst_residual": MAYBE,
        "residual_log10": {"low": REAL, "high": REAL, "counts": [COUNT]},
        "iterations": {"counts": [COUNT]},
        "mean_iterations": MAYBE,
    },
    "convergence": {"samples": [COUNT], "probability": [REAL], "low": [REAL], "high": [REAL]},
    "closest": [{"sample": COUNT, "outcome": TEXT, "margin": MAYBE}],
    "worst": [{"sample": COUNT, "outcome": TEXT, "residual": MAYBE}],
    "failures_kept": COUNT,
}
MANIFEST = {
    "garra": TEXT,
    "command": TEXT,
    "scenario": TEXT,
    "device": TEXT,
    "started": TEXT,
    "seconds": REAL,
    "samples_per_second": REAL,
    "compiler": TEXT,
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
class Run:
    """A run that was read and found complete."""

    folder: str  # as the user wrote it: commands in the report repeat it
    summary: dict[str, Any]
    manifest: dict[str, Any]
    scenario_text: str
    scenario: dict[str, Any]


def read(folder: str) -> Run:
    """The run in `folder`; raises RunError."""
    path = Path(folder)
    if not path.is_dir():
        raise MissingFile(f"{folder}: no such run folder")
    summary = read_json(path / "summary.json", remedy=f"finish the run with `garra resume {folder}`")
    _check_summary(summary, str(path / "summary.json"))
    manifest = read_json(path / "manifest.json", remedy="run the study again: the report names its device and command")
    check(manifest, MANIFEST, At(str(path / "manifest.json")))
    text = _read_text(path / "scenario.toml", remedy="put back the scenario that the run was made from")
    return Run(folder, summary, manifest, text, _parse_toml(text, path / "scenario.toml"))


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
    """Where in a file a check is."""

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
        for key, inner in shape.items():
            if key not in value:
                raise at.key(key).fail("missing; the file is damaged or of another version of garra")
            check(value[key], inner, at.key(key))
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


def _check_summary(summary: Any, file: str) -> None:
    at = At(file)
    check(summary, {"schema": COUNT, "job": TEXT}, at)
    if summary["schema"] != SCHEMA:
        raise at.key("schema").fail(f"is {summary['schema']}; this garra reads {SCHEMA}")
    if summary["job"] == "grasp" and summary.get("study") == "time":
        from garra import grasp_time_folder  # builds on this module

        grasp_time_folder.check_summary(summary, at)
    elif summary["job"] == "grasp":
        _check_grasp(summary, at)
    elif summary["job"] == "chain":
        from garra import chain_folder  # builds on this module

        chain_folder.check_summary(summary, at)
    elif summary["job"] == "singularity":
        from garra import singularity_folder  # builds on this module

        singularity_folder.check_summary(summary, at)
    elif summary["job"] == "platform":
        from garra import platform_folder  # builds on this module

        platform_folder.check_summary(summary, at)
    elif summary["job"] == "platform_experiment":
        from garra import platform_experiment_folder  # builds on this module

        platform_experiment_folder.check_summary(summary, at)
    else:
        known = '"grasp", "chain", "singularity", "platform" and "platform_experiment"'
        raise at.key("job").fail(f'is "{summary["job"]}"; only {known} have a report')


def same_lengths(tables: list[tuple[dict[str, Any], At]]) -> None:
    """Lists that are drawn against each other must be equally long."""
    for table, place in tables:
        if len({len(column) for column in table.values() if isinstance(column, list)}) > 1:
            raise place.fail("lists of different lengths")


def _check_grasp(summary: dict[str, Any], at: At) -> None:
    check(summary, SUMMARY, at)
    if not summary["contacts"]:
        raise at.key("contacts").fail("empty; a grasp has at least one contact")
    check(list(summary["outcomes"].values()), [COUNT], at.key("outcomes"))
    for key, table in summary["metrics"].items():
        check(table, HISTOGRAM, at.key("metrics").key(key))
    for key in BESIDE_HELD:
        if key in summary:
            check(summary[key], INTERVAL, at.key(key))
    if sum(summary["outcomes"].values()) != summary["samples"]:
        raise at.key("outcomes").fail(f"do not add up to the {summary['samples']} samples")
    _check_lengths(summary, at)


def _check_lengths(summary: dict[str, Any], at: At) -> None:
    tables = [(summary[key], at.key(key)) for key in ("held_against_friction", "convergence")]
    tables += [(entry["bins"], at.key("inputs").item(i).key("bins")) for i, entry in enumerate(summary["inputs"])]
    same_lengths(tables)
    for i, contact in enumerate(summary["contacts"]):
        cone = contact["cone"]
        if len(cone["counts"]) != cone["bins"] or any(len(row) != cone["bins"] for row in cone["counts"]):
            raise at.key("contacts").item(i).key("cone.counts").fail(f"expected {cone['bins']} x {cone['bins']}")
