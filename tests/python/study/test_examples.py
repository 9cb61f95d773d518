"""The examples of docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import garra
import numpy as np
import pytest

SKIPPED = ("viewer", "on_gpu", "_core", "__main__")


def examples() -> list[doctest.DocTest]:
    finder, found = doctest.DocTestFinder(exclude_empty=True), {}
    for info in pkgutil.walk_packages(garra.__path__, "garra."):
        if any(part in SKIPPED for part in info.name.split(".")):
            continue
        module = importlib.import_module(info.name)
        for test in finder.find(module, info.name, extraglobs={"garra": garra, "np": np}):
            if test.examples:
                found[test.name] = test
    for test in finder.find(garra, "garra", extraglobs={"garra": garra, "np": np}):
        if test.examples:
            found[test.name] = test
    return list(found.values())


@pytest.mark.parametrize("example", examples(), ids=lambda test: test.name)
def test_an_example_prints_what_it_says(example: doctest.DocTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example.globs["tmp"] = tmp_path
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert runner.run(example, out=told.append).failed == 0, "".join(told)
