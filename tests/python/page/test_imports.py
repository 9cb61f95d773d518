"""The modules of the package garra: who imports whom, read from their text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[3] / "python" / "garra"


def modules() -> dict[str, Path]:
    """Name: file of every module."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def imported(text: str, known: set[str]) -> Iterator[str]:
    """Modules of the package that a text imports, inside functions too, and those that it names in a string to be
    imported later, like jobs.py."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"garra[\w.]+", node.value)
        ):
            yield from {node.value} & known


def graph() -> dict[str, set[str]]:
    files = modules()
    del files["garra"]  # the index: it imports a name when somebody asks for it
    known = set(files)
    return {name: set(imported(path.read_text(encoding="utf-8"), known)) - {name} for name, path in files.items()}


def circle(edges: dict[str, set[str]]) -> list[str]:
    """A path of modules from one back to itself; empty where there is none."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in sorted(edges[name]):
            if found := visit(other, [*path, name]):
                return found
        done.add(name)
        return []

    return next((found for name in sorted(edges) if (found := visit(name, []))), [])


def test_a_circle_is_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["b", "c", "b"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
    assert circle({"a": {"a"}}) == ["a", "a"]


def test_imports_inside_functions_and_names_in_strings_count():
    text = (
        'import garra.x\ndef f():\n    from garra import y\nROW = ("garra.z", "garra.none")\nfrom garra.x import name\n'
    )
    assert sorted(imported(text, {"garra", "garra.x", "garra.y", "garra.z"})) == [
        "garra.x",
        "garra.x",
        "garra.y",
        "garra.z",
    ]


def test_no_modules_import_each_other_in_a_circle():
    edges = graph()
    assert sum(map(len, edges.values())) > 100
    assert circle(edges) == []


# What a room may see beside itself, page/, the arguments of arguments.py, the arrays of batch.py and the data of files.py.
SISTERS = {
    "bench": {"study"},  # its progress lines
    "grasp": {"chain", "contact", "scenario", "study"},  # as in C++: fingers are chains; matrices() takes a scenario
    "grasp_time": {"grasp"},
    "platform": {"files", "own"},
    "platform_experiment": {"platform"},
    "scenario": {"study"},
    "study": {"program", "scenario"},
    "viewer": {"grasp", "study"},
}


def test_a_room_sees_the_framework_and_the_framework_no_room():
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert {"page", "grasp", "chain", "singularity", "platform", "bench"} <= rooms
    for name, others in graph().items():
        room = name.split(".")[1] if name.count(".") > 1 else ""
        if room in rooms:
            seen = {other.split(".")[1] for other in others if other != "garra"} - {room}
            assert seen <= SISTERS.get(room, set()) | ({"page", "arguments", "batch", "files", "on_gpu", "options", "renamed", "summary", "turns"} - {room}), f"{name} sees {seen}"
