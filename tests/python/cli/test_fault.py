"""Calls of the system that fail, memory that runs out, and kill -9, at a few places of every command that writes.
tools/fault does it at all of them."""

from __future__ import annotations

import errno
import shutil
import subprocess
from pathlib import Path

import faults
import pytest
from faults import SYSTEM_FAULTS, Fault, Faults
from program import PROGRAM

OPERATIONS = ["run", "resume", "contact solve", "chain eval", "chain simulate"]
KINDS = [*SYSTEM_FAULTS, ("memory", "fail", 0)]


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Faults:
    made = Faults(Path(PROGRAM), tmp_path_factory.mktemp("fault"))
    if not made.can_trace():
        pytest.skip("programs cannot be traced here (ptrace)")
    return made


def judge_all(bench: Faults, name: str, cases: list[Fault]) -> None:
    wrong = {str(fault): bench.judge(bench.operations[name], fault) for fault in cases}
    assert not {fault: said for fault, said in wrong.items() if said}


def spread(calls: int, most: int) -> list[int]:
    """The first call, the last one, and some between them that are no simple part of the whole."""
    return sorted({1, calls, *(1 + (k * calls * 618 // 1000) % calls for k in range(1, most - 1))}) if calls else []


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_call_that_fails_or_ends_the_program_costs_no_byte(bench, name):
    """Every kind of fault at up to three calls, eight kills: a documented code, a message, and the same bytes afterwards."""
    for kind, how, error in KINDS:
        operation = bench.operations[name + (" in threads" if kind == "thread" else "")]
        places = spread(bench.calls(operation, kind), 8 if how == "kill" else 3)
        judge_all(bench, operation.name, [Fault(kind, how, error, at) for at in places])


def resumed(bench: Faults, tmp_path: Path, *fault: object) -> subprocess.CompletedProcess[str]:
    """`garra resume` of half a run, whose first write is that of the lock."""
    run = shutil.copytree(bench.operations["resume"].before, tmp_path / "run")
    command = [bench.inject, "-k", "write", *fault, "--", PROGRAM, "resume", run, "--no-report", "--quiet"]
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)


def test_a_lock_that_is_written_in_two_parts_is_a_lock(bench, tmp_path):
    done = resumed(bench, tmp_path, "-h", "short", "-n", 1)
    assert done.returncode == 0, done.stderr


def test_a_lock_that_cannot_be_written_has_the_remedy_of_its_error(bench, tmp_path):
    done = resumed(bench, tmp_path, "-h", "fail", "-n", 1, "-e", errno.EROFS)
    assert done.returncode == 5
    assert "garra.lock: cannot write: Read-only file system" in done.stderr
    assert "Choose a folder that you may write to" in done.stderr


def test_a_report_that_cannot_be_written_leaves_the_run_and_can_be_made_again(bench):
    judge_all(bench, "report", [Fault("write", "fail", 28), Fault("rename", "fail", 13), Fault("any", "kill", 0, 40)])


def test_a_fault_that_is_not_survived_would_be_seen(bench):
    """The judge itself: a program that ends with another code, or leaves other bytes, is found."""
    operation = bench.operations["contact solve"]
    bench.expected(operation)
    forged = faults.Operation("contact solve", ["--version"], operation.before, [["--version"]])
    assert "exit code 0, but contact differ" in bench.judge(forged, Fault("sync", "fail", 5, 99))
