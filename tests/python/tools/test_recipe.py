"""The conda recipe names what the build and the package need, in the versions that they have."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# As conda names what CMake or pip call otherwise; OpenMP and Python come with compilers and the interpreter.
OTHERWISE = {"nlohmann_json": "nlohmann_json", "Eigen3": "eigen", "CLI11": "cli11", "matplotlib": "matplotlib-base"}
PART_OF_OTHERS = {"OpenMP"}


@pytest.fixture(scope="module")
def recipe() -> dict:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / "conda/recipe.yaml").read_text())


def names(requirements: list[str]) -> set[str]:
    return {line.split()[0] for line in requirements}


def test_the_version_is_the_packages(recipe):
    told = re.search(r'__version__ = "(.+)"', (ROOT / "python/garra/__init__.py").read_text())[1]
    assert recipe["context"]["version"] == told


def test_every_library_that_cmake_needs_is_there(recipe):
    found = re.findall(r"^\s*find_package\((\w+) [^)]*REQUIRED", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    wanted = {OTHERWISE.get(name, name.lower()) for name in found if name not in PART_OF_OTHERS}
    assert len(found) > 6 and wanted <= names(recipe["requirements"]["host"])


def test_what_pip_installs_conda_does(recipe):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}
    assert {OTHERWISE.get(name, name) for name in wanted} <= names(recipe["requirements"]["run"])
    for line in project["dependencies"]:
        name, least = line.split(">=")
        assert f"{OTHERWISE.get(name, name)} >={least}" in recipe["requirements"]["run"]
