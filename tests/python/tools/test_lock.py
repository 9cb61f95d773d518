"""What scripts install from PyPI is locked: every version and every file, and nothing besides."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LOCKED = ROOT / "tools" / "locked"
TOOLS = [file for file in (ROOT / "tools").iterdir() if file.is_file() and file.read_bytes()[:2] == b"#!"]
SCRIPTS = [file for file in TOOLS if file.name != "lock"]


def lock():
    loader = importlib.machinery.SourceFileLoader("tools_lock", str(ROOT / "tools" / "lock"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tools_lock", loader))
    loader.exec_module(module)
    return module


def name_of(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.match(r"[A-Za-z0-9._-]+", requirement)[0]).lower()


@pytest.mark.parametrize("name", sorted(lock().wanted()))
def test_a_lock_is_of_what_is_asked_for_and_has_hashes(name):
    requirements = lock().wanted()[name]
    first, *lines = (LOCKED / f"{name}.txt").read_text().splitlines()
    assert first == lock().header(requirements), "run tools/lock"
    entries = re.sub(r" \\\n +", " ", "\n".join(lines)).splitlines()
    form = re.compile(r"[a-z0-9-]+==[^\s;]+( ; [^\\]+?)?( --hash=sha256:[0-9a-f]{64})+")
    assert [entry[:60] for entry in entries if not form.fullmatch(entry)] == []
    assert {name_of(r) for r in requirements} <= {name_of(entry) for entry in entries}


def test_no_lock_is_left_over():
    assert sorted(file.stem for file in LOCKED.iterdir()) == sorted(lock().wanted())


def test_versions_agree_between_locks():
    """Of one package the same version, whichever lock it is in."""
    found: dict[str, set[str]] = {}
    for file in LOCKED.iterdir():
        for package, version in re.findall(r"^([\w-]+)==(\S+) \\$", file.read_text(), re.MULTILINE):
            found.setdefault(package, set()).add(version)
    assert {name: versions for name, versions in found.items() if len(versions) > 1} == {}


def installs(text: str) -> list[str]:
    """Commands of pip that may fetch something."""
    lines = [line.strip() for line in text.replace("\\\n", "").splitlines()]
    calls = [line for line in lines if re.search(r"pip\W+(install|wheel|download)\b", line) and line[:1] != "#"]
    return [c for c in calls if not re.search(r"--require-hashes|--no-index|--no-build-isolation", c)]


def test_no_script_installs_what_is_not_locked():
    assert {"setup", "wheel", "docs"} <= {file.name for file in SCRIPTS}
    found = {file.name: installs(file.read_text(encoding="utf-8")) for file in SCRIPTS}
    # tools/docs puts its list together before it calls pip.
    assert "--require-hashes" in (ROOT / "tools" / "docs").read_text()
    found["docs"] = [line for line in found["docs"] if not line.startswith("install = [")]
    assert {name: lines for name, lines in found.items() if lines} == {}
