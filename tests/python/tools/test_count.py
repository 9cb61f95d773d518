"""The last line of tools/test: no failure and no skipped test may get lost in the sum."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# As ctest 3.25 writes it: a test that passed, one that failed, one that GoogleTest skipped, one that was never built.
CTEST = """<testsuite name="Linux" tests="4" failures="1" disabled="0" skipped="2">
<testcase name="core.A" classname="core.A" time="1" status="run"><system-out>[ OK ]</system-out></testcase>
<testcase name="core.B" classname="core.B" time="1" status="fail"><failure message=""/><system-out/></testcase>
<testcase name="batch.OnGpu" classname="batch.OnGpu" time="1" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
<system-out>[ RUN      ] Batch.OnGpu
/tree/tests/batch/test.cpp:9: Skipped
no CUDA device on this machine

[  SKIPPED ] Batch.OnGpu (0 ms)</system-out></testcase>
<testcase name="cli.gone_NOT_BUILT" classname="x" time="0" status="notrun"><skipped message="Unable to find executable"/></testcase>
</testsuite>"""
PYTEST = """<testsuites><testsuite name="pytest" errors="1" failures="0" skipped="1" tests="3">
<testcase classname="tests.a" name="one"/><testcase classname="tests.a" name="two"><error message="x"/></testcase>
<testcase classname="tests.a" name="three"><skipped type="pytest.skip" message="root may write everywhere">a.py:1</skipped></testcase>
</testsuite></testsuites>"""


def count(*arguments: str) -> tuple[int, list[str]]:
    command = [sys.executable, str(ROOT / "tools/count_tests"), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not result.stderr, result.stderr
    return result.returncode, result.stdout.splitlines()


def test_every_outcome_is_counted_once(tmp_path: Path) -> None:
    (tmp_path / "cpp.xml").write_text(CTEST)
    (tmp_path / "python.xml").write_text(PYTEST)
    code, lines = count(f"ctest=8:{tmp_path}/cpp.xml", f"pytest=1:{tmp_path}/python.xml", "check_layers=0")
    assert code == 1
    assert lines[-1] == "3 passed, 3 failed, 2 skipped"
    assert lines[-2].startswith("skipped: 1 GPU tests")
    assert lines[-2].endswith("; 1 root may write everywhere")


def test_all_passed_is_success(tmp_path: Path) -> None:
    (tmp_path / "python.xml").write_text('<testsuites><testsuite><testcase name="one"/></testsuite></testsuites>')
    code, lines = count(f"pytest=0:{tmp_path}/python.xml", "check_layers=0")
    assert (code, lines) == (0, ["skipped: none", "2 passed, 0 failed, 0 skipped"])


def test_a_program_that_dies_without_a_report_is_a_failure(tmp_path: Path) -> None:
    code, lines = count(f"ctest=139:{tmp_path}/none.xml", "check_layers=0")
    assert (code, lines[-1]) == (1, "1 passed, 1 failed, 0 skipped")


def test_a_program_that_runs_no_test_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "cpp.xml").write_text("<testsuite tests='0'/>")
    code, lines = count(f"ctest=0:{tmp_path}/cpp.xml")
    assert (code, lines[-1]) == (1, "0 passed, 1 failed, 0 skipped")
