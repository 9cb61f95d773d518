"""Base of the scenario classes: a table of a scenario, whose keys are checked when it is made."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from garra import _core, program
from garra.scenario.rules import fault
from garra.study.distributions import Normal, Uniform

Quantity = float | str
"""A number in SI units, or a text with its unit: "50 mm"."""


@cache
def schema(job: str) -> dict[str, Any]:
    """The JSON Schema of a job, as `garra check --schema` printed it when these classes were generated.

    Parameters
    ----------
    job : str
        "accuracy", "chain", "grasp", "grasp_set", "platform", "platform_experiment", "singularity".

    Returns
    -------
    dict

    Raises
    ------
    KeyError
        For an unknown job.

    Examples
    --------
    >>> from garra.scenario import table
    >>> table.schema("grasp")["properties"]["seed"]["type"]
    'integer'
    """
    return json.loads((Path(__file__).parent / "schema.json").read_text(encoding="utf-8"))[job]


def plain(value: Any) -> Any:
    """Value of TOML for a value of Python: number, text, list or table.

    Parameters
    ----------
    value : object
        Table, distribution, mapping, list, tuple, NumPy array, number or text.

    Returns
    -------
    object

    Raises
    ------
    garra.UsageError
        For a distribution that a scenario does not have: `common` or relative ones.

    Examples
    --------
    >>> from garra.scenario import table
    >>> table.plain({"mass": garra.uniform(0.4, 0.6), "position": np.zeros(3)})
    {'mass': {'uniform': [0.4, 0.6]}, 'position': [0.0, 0.0, 0.0]}
    """
    if isinstance(value, Table):
        return value.to_dict()
    if isinstance(value, Uniform | Normal):
        return _distribution(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return plain(value.tolist()) if hasattr(value, "tolist") else value


def _distribution(value: Uniform | Normal) -> dict[str, Any]:
    if value.common or value.relative:
        raise _core.UsageError(f"{value}: a scenario has no such distribution; see docs/reference/scenario.md")
    if isinstance(value, Uniform):
        return {"uniform": [value.low, value.high]}
    ends = {"min": value.min, "max": value.max}
    return {"normal": [value.mean, value.sd], **{k: x for k, x in ends.items() if abs(x) != float("inf")}}


@dataclass(frozen=True, kw_only=True)
class Table:
    """Table of a scenario. Keys that are None keep the default, which the program fills in.

    Raises
    ------
    garra.UsageError
        For an unknown key, a missing one or an invalid value.

    Examples
    --------
    >>> garra.scenario.grasp.Hand(model="three_puma").model
    'three_puma'
    """

    _job: ClassVar[str]
    _path: ClassVar[tuple[str, ...]]
    _tables: ClassVar[dict[str, type[Table]]] = {}
    """Keys whose values are tables, or lists of them."""

    def __post_init__(self) -> None:
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}
        for name, value in given.items():
            object.__setattr__(self, name, self._made(name, value))
        rule = self._rule()
        missing = [key for key in rule.get("required", ()) if key not in ("schema", "job") and _name(key) not in given]
        if missing:
            raise _core.UsageError(f"{type(self).__name__} without {' and '.join(missing)}")
        for key, value in self.to_dict().items():
            if _name(key) in given and key not in self._tables:
                wrong = fault(rule["properties"][key], value, schema(self._job).get("definitions", {}))
                if wrong:
                    raise _core.UsageError(f"{'.'.join((*self._path, key))} = {value!r}: not {wrong}")

    def _made(self, name: str, value: Any) -> Any:
        """Mappings become the class of their table."""
        kind = self._tables.get(name)
        if kind is None:
            return value
        if isinstance(value, list | tuple):
            return tuple(self._one(name, kind, item) for item in value)
        return self._one(name, kind, value)

    def _one(self, name: str, kind: type[Table], value: Any) -> Table:
        if isinstance(value, kind):
            return value
        if not isinstance(value, Mapping):
            raise _core.UsageError(f"{'.'.join((*self._path, name))} = {value!r}: not a {kind.__name__} or a mapping")
        try:
            return kind(**{_name(key): item for key, item in value.items()})
        except TypeError:
            known = {f.name for f in fields(kind)}
            wrong = next(key for key in value if _name(key) not in known)
            raise _core.UsageError(
                f"{'.'.join((*kind._path, wrong))}: no such key; there are {', '.join(sorted(known))}"
            ) from None

    @classmethod
    def _rule(cls) -> dict[str, Any]:
        rule = schema(cls._job)
        for key in cls._path:
            rule = rule["properties"][key]
            rule = rule.get("items", rule) if rule.get("type") == "array" else rule
        return rule

    def to_dict(self) -> dict[str, Any]:
        """Content as tomllib reads it from a file.

        Returns
        -------
        dict

        Examples
        --------
        >>> garra.scenario.grasp.Hand(model="three_puma", base_distance="0.6 m").to_dict()
        {'model': 'three_puma', 'base_distance': '0.6 m'}
        """
        keys = {f.name: f.name.rstrip("_") for f in fields(self)}
        return {keys[name]: plain(getattr(self, name)) for name in keys if getattr(self, name) is not None}


def _name(key: str) -> str:
    """Name of the field of a key that may be a word of Python."""
    return f"{key}_" if key in ("from", "lambda") else key


@dataclass(frozen=True, kw_only=True)
class Scenario(Table):
    """A whole scenario: `garra.run(scenario)` runs it. Files that it names: by absolute paths.

    Raises
    ------
    garra.UsageError
        For an unknown key, a missing one or an invalid value.
    garra.FileError
        For keys that contradict one another.

    Examples
    --------
    >>> scenario = garra.scenario.Singularity(robot={"model": "puma560"}, measure={"near": 0.02})
    >>> scenario.robot.model, scenario.measure.near
    ('puma560', 0.02)
    """

    _path: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check()

    def to_dict(self) -> dict[str, Any]:
        """Content as tomllib reads it from a file, with `schema` and `job`.

        Returns
        -------
        dict

        Examples
        --------
        >>> garra.scenario.Singularity(robot={"model": "puma560"}).to_dict()
        {'schema': 1, 'job': 'singularity', 'robot': {'model': 'puma560'}}
        """
        return {"schema": 1, "job": self._job, **super().to_dict()}

    def to_toml(self) -> str:
        """Text of a scenario file (docs/reference/scenario.md).

        Returns
        -------
        str
            TOML.

        Examples
        --------
        >>> garra.scenario.Singularity(robot={"model": "puma560"}).to_toml().splitlines()[:2]
        ['schema = 1', 'job = "singularity"']
        """
        import tomli_w

        return tomli_w.dumps(self.to_dict())

    def _check(self) -> None:
        """By the program's own reader: what keys have to do with one another is written there only."""
        with tempfile.TemporaryDirectory(prefix="garra-") as folder:
            file = Path(folder) / "scenario.toml"
            file.write_text(self.to_toml(), encoding="utf-8")
            done = subprocess.run(
                [program.path(), "check", str(file)], env=program.environment(), capture_output=True, text=True,
                encoding="utf-8", errors="replace",
            )  # fmt: skip
        if done.returncode:
            raise _core.FileError(done.stderr.strip().removeprefix("garra: ").replace(f"{folder}/", ""))
