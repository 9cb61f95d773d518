"""Writes the scenario classes of python/garra/scenario, schema.json and renamed.json, from `garra check --schema`.

usage: tools/scenario_classes.py PROGRAM [FOLDER]    (default: python/garra/scenario)

The build of the program runs it (cmake/python.cmake); Git ignores what it writes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "python" / "garra" / "scenario"
IMPORTS = (
    ("collections.abc", ("Mapping", "Sequence")),
    ("dataclasses", ("dataclass",)),
    ("typing", ("Any", "ClassVar", "Literal")),
    ("garra.scenario.table", ("Quantity", "Scenario", "Table")),
    ("garra.study.distributions", ("Normal", "Uniform")),
)


INIT = '''"""Scenarios as classes (docs/start/python.md): one module a job, generated from the one list of fields.

scenario = garra.scenario.Grasp(
    hand=garra.scenario.grasp.Hand(model="three_puma"),
    object=garra.scenario.grasp.Object(shape="sphere", radius="50 mm", mass=garra.normal(0.5, 0.02)),
    contacts=garra.scenario.grasp.Contacts(friction=0.5),
    load=garra.scenario.grasp.Load(grip_force="8 N"),
)
garra.run(scenario, samples=10_000)
"""
'''


def head(job: str, body: str) -> str:
    """What the classes need, in the order of ruff."""
    lines = [
        f'"""Classes of job = "{job}". Made by tools/scenario_classes.py: not to be edited."""',
        "",
    ]
    lines += ["from __future__ import annotations", ""]
    for module, names in IMPORTS:
        used = [name for name in names if re.search(rf"\b{name}\b", body)]
        if module == "garra.scenario.table":
            lines.append("")
        if used:
            lines.append(f"from {module} import {', '.join(used)}")
    return "\n".join(lines) + "\n"


def camel(words: str) -> str:
    return "".join(word.capitalize() for word in words.split("_"))


EITHER = ["object", "array"]
"""Type of a table in whose place a list of tables may stand."""


def table_of(rule: dict[str, Any]) -> dict[str, Any] | None:
    """The rule of a table, or of one of a list of tables."""
    inner = rule.get("items", {}) if rule.get("type") == "array" else rule
    return inner if inner.get("type") in ("object", EITHER) and inner.get("properties") else None


def hint(rule: dict[str, Any], name: str) -> str:
    """The type of a key, for editors."""
    if table_of(rule):
        several = f"Sequence[{name}]"
        return several if rule.get("type") == "array" else f"{name} | {several}" if rule["type"] == EITHER else name
    return " | ".join(sorted(hints(rule))) or "Any"


def hints(rule: dict[str, Any]) -> set[str]:
    if "$ref" in rule:
        return {"Mapping[str, Any]", "Normal", "Uniform"}
    if "anyOf" in rule:
        every = set().union(*(hints(one) for one in rule["anyOf"]))
        return {"Any"} if "Any" in every else every - ({"float", "str"} if "Quantity" in every else set())
    if "enum" in rule or "const" in rule:
        return {f"Literal[{', '.join(json.dumps(x) for x in rule.get('enum', [rule.get('const')]))}]"}
    kinds = rule.get("type", [])
    kinds = {kinds} if isinstance(kinds, str) else set(kinds)
    if {"number", "string"} <= kinds:
        kinds = kinds - {"number", "string"} | {"quantity"}
    if kinds == {"string"} and r"\d" in rule.get("pattern", ""):
        kinds = {"quantity"}
    names = {"number": "float", "integer": "int", "string": "str", "boolean": "bool", "array": "Sequence[Any]",
             "object": "Mapping[str, Any]", "quantity": "Quantity"}  # fmt: skip
    return {names[kind] for kind in kinds}


def said(rule: dict[str, Any]) -> str:
    """Words of a key, and its default."""
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", rule.get("description", ""))
    default = f"default {json.dumps(rule['default'])}" if rule.get("default", "") != "" else ""
    return "; ".join(part for part in (words, default) if part).replace("\\", "\\\\")


def quoted(text: str) -> list[str]:
    """As a docstring in a class, in lines of 120."""
    text = f'"""{text}."""' if text.endswith('"') else f'"""{text}"""'
    return textwrap.wrap(
        text, 120, initial_indent="    ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def classes(rule: dict[str, Any], job: str, path: tuple[str, ...]) -> list[str]:
    """The text of a table's class, after those of the tables in it."""
    before: list[str] = []
    name = camel("_".join(path)) or camel(job)
    lines = ["@dataclass(frozen=True, kw_only=True)", f"class {name}({'Table' if path else 'Scenario'}):"]
    own = f"[{'.'.join(path)}]" if path else f"A scenario of job {job}."
    lines += [*quoted(said(rule) or own), "", f'    _job: ClassVar[str] = "{job}"']
    if path:
        keys = ", ".join(f'"{key}"' for key in path) + ("," if len(path) == 1 else "")
        lines.append(f"    _path: ClassVar[tuple[str, ...]] = ({keys})")
    tables = {}
    body: list[str] = []
    for key, inner in rule["properties"].items():
        if not path and key in ("schema", "job"):
            continue
        kind = camel("_".join((*path, key)))
        table = table_of(inner)
        if table:
            before += classes(table, job, (*path, key))
            tables[key] = kind
        attribute = f"{key}_" if key in ("from", "lambda") else key
        body.append(f"    {attribute}: {hint(inner, kind)} | None = None")
        if said(inner) and not table:
            body += quoted(said(inner))
    if tables:
        pairs = [f'        "{key}": {kind},' for key, kind in tables.items()]
        lines += ["    _tables: ClassVar[dict[str, type[Table]]] = {", *pairs, "    }"]
    return [*before, "\n".join([*lines, *body])]


def schema(program: str, *job: str) -> dict[str, Any]:
    command = [program, "check", "--schema", *job]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def init(jobs: list[str]) -> str:
    """The package's own file: the class of every job, and its module for the tables in it."""
    exported = sorted([*jobs, *map(camel, jobs), "Scenario"])
    lines = [INIT, f"from garra.scenario import {', '.join(sorted(jobs))}"]
    lines += [f"from garra.scenario.{job} import {camel(job)}" for job in sorted(jobs)]
    lines += ["from garra.scenario.table import Scenario", "", "__all__ = ["]
    return "\n".join([*lines, *(f'    "{name}",' for name in exported), "]"]) + "\n"


def files(program: str) -> dict[str, str]:
    """Text of every file, by its name."""
    rules = {job: schema(program, job) for job in schema(program)["properties"]["job"]["enum"]}
    renamed = ",\n".join(json.dumps(row) for row in schema(program, "renamed"))
    texts = {"__init__.py": init(list(rules)), "renamed.json": f"[\n{renamed}\n]\n"}
    texts["schema.json"] = json.dumps(rules, separators=(",", ":"), ensure_ascii=False) + "\n"
    for job, rule in rules.items():
        body = "\n\n\n".join(classes(rule, job, ()))
        texts[f"{job}.py"] = head(job, body) + "\n\n" + body + "\n"
    return texts


def main(arguments: list[str]) -> int:
    if not 1 <= len(arguments) <= 2 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[1]) if len(arguments) > 1 else FOLDER
    for name, text in files(arguments[0]).items():
        written = folder / f"{name}.{os.getpid()}"
        written.write_text(text, encoding="utf-8")
        written.replace(folder / name)  # at once: Python may import it now
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
