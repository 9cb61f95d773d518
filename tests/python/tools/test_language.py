"""tools/check_language finds what it is for, with file and sentence, and passes on this tree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
GOOD = "The solver stops after the residual is small enough. " * 9


def check(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools/check_language"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_tree_is_within_its_limits() -> None:
    answer = check()
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize(
    ("page", "code", "measure"),
    [
        ("What a solver leaves is unsolved here. " * 3 + GOOD, "", "inverted openings of pages, %"),
        (GOOD + ("A sentence of " + "very " * 40 + "many words is long.\n") * 3, "", "long sentences of pages"),
        (GOOD + "The centre of mass is here.", "", "British spelling"),
        (GOOD, "/// Of the samples some are here.\nint x;\n" * 3, "inverted openings of comments, %"),
        (GOOD, "int verdict;\n" * 41, "banned words"),
    ],
)
def test_a_fault_is_named(tmp_path: Path, page: str, code: str, measure: str) -> None:
    (tmp_path / "README.md").write_text(page)
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.cpp").write_text(code)
    answer = check(str(tmp_path))
    assert answer.returncode == 1 and measure in answer.stderr, answer.stdout
    assert any(line.startswith(("README.md", "src/a.cpp")) and measure in line for line in answer.stdout.splitlines())


def test_a_good_tree_passes(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(GOOD)
    assert check(str(tmp_path)).returncode == 0
