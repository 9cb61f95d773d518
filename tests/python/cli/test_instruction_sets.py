"""GARRA_ISA, and the same bits on every instruction set that a program has (a wheel's: cmake/isas.cmake)."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from determinism import JOBS, answer
from program import PROGRAM, ROOT, USAGE, garra, table_of

SETS = ("v2", "v3", "v4")


FOLDER = Path(PROGRAM).resolve().parents[1]
LIBRARIES = sorted((FOLDER / "lib").glob("libgarra-*.so"))
LIBRARIES += [*FOLDER.glob("_core*.so"), Path(PROGRAM)] if LIBRARIES else []
NEWEST = {b"GLIBC": (2, 28), b"GLIBCXX": (3, 4, 24), b"CXXABI": (1, 3, 11)}  # of manylinux_2_28


def with_set(isa: str) -> dict[str, str]:
    return {**os.environ, "GARRA_ISA": isa}


def runs(isa: str) -> bool:
    return subprocess.run([PROGRAM, "--version"], env=with_set(isa), capture_output=True).returncode == 0


HERE = [isa for isa in SETS if runs(isa)]
several = pytest.mark.skipif(
    len(HERE) < 2, reason="this program has one instruction set for this processor; tools/wheel makes one with more"
)


def test_doctor_says_which_one_runs():
    assert HERE
    for isa in HERE:
        said = garra("doctor", env=with_set(isa)).stdout.splitlines()[0]
        assert said.endswith(f"instruction set x86-64-{isa}")
    assert garra("doctor").stdout.splitlines()[0].endswith(f"x86-64-{HERE[-1]}")  # nothing asked for: the widest


def test_both_names_of_a_set_are_taken_and_none_is_nothing_asked_for():
    for isa in (f"x86-64-{HERE[-1]}", ""):
        assert garra("--version", env=with_set(isa)).stdout.startswith("garra ")


@pytest.mark.parametrize("isa", ["v9", "avx2", *(s for s in SETS if s not in HERE)])
def test_a_set_that_is_not_there_is_refused_with_what_to_do(isa):
    said = garra("--version", expect=USAGE, env=with_set(isa)).stderr
    assert said.startswith(f"garra: GARRA_ISA={isa}: ") and "unset" in said


def python(code: str, isa: str) -> subprocess.CompletedProcess[str]:
    environment = {**with_set(isa), "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)


def test_python_refuses_a_set_that_is_not_there():
    done = python("import garra; garra.contact", "v9")
    assert done.returncode == 1 and "ImportError: GARRA_ISA=v9: " in done.stderr and "unset" in done.stderr


def test_python_takes_the_set_that_is_wanted():
    assert python("import garra; print(garra.contact._core.isa)", HERE[0]).stdout == f"x86-64-{HERE[0]}\n"


@several
@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("device", ["cpu", "scalar"])
def test_a_study_has_the_same_bytes_on_all_of_them(job, device, tmp_path, monkeypatch):
    found = {}
    for isa in HERE:
        monkeypatch.setenv("GARRA_ISA", isa)
        found[isa] = answer(PROGRAM, job, (device, 2, 1), tmp_path / isa)
    for isa in HERE[1:]:
        assert found[isa] == found[HERE[0]], f"{isa} and {HERE[0]} differ"


@several
@pytest.mark.parametrize("method", ["auto", "nsgs", "admm", "extragradient", "projected-lm"])
def test_contact_forces_are_the_same_bits_on_all_of_them(method, tmp_path):
    problems = ROOT / "data/reference/contact/random_n3.h5"
    found = {}
    for isa in HERE:
        out = tmp_path / f"{isa}.h5"
        garra("contact", "solve", problems, "-o", out, "--method", method, env=with_set(isa))
        found[isa] = {name: values for name, values in table_of(out).items() if name != "time"}
    for isa in HERE[1:]:
        assert found[isa].keys() == found[HERE[0]].keys()
        for name, values in found[isa].items():
            assert np.array_equal(values.view(np.uint8), found[HERE[0]][name].view(np.uint8)), f"{isa}: {name}"


of_each_library = pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)


@of_each_library
def test_a_wheel_needs_no_newer_libraries_than_it_says(library):
    needed = re.findall(rb"\0(GLIBC|GLIBCXX|CXXABI)_(\d[\d.]*)(?=\0)", library.read_bytes())
    assert needed
    newer = [(kind, version) for kind, version in needed if tuple(map(int, version.split(b"."))) > NEWEST[kind]]
    assert not newer


@of_each_library
@pytest.mark.skipif(shutil.which("nm") is None, reason="nm lists what a library asks for; binutils has it")
def test_a_wheel_asks_for_nothing_that_was_not_there_then(library):
    """What only newer libraries have would be asked for without a version, and be found here (cmake/older_linux.py)."""
    table = subprocess.run(["nm", "-D", "--format=posix", library], capture_output=True, text=True, check=True).stdout
    asked = [row.split()[0] for row in table.splitlines() if row.split()[1] == "U"]
    here = [ctypes.CDLL(name) for name in ("libc.so.6", "libm.so.6", "libstdc++.so.6")]
    assert len(asked) > 3
    assert not [name for name in asked if "@" not in name and any(hasattr(found, name) for found in here)]
