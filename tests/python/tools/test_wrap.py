"""tools/wrap ends lines elsewhere and changes nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LONG = "word " * 30 + "end"


def wrap(file: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "wrap"), *flags, str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def wrapped(tmp_path: Path, text: str) -> str:
    file = tmp_path / "page.md"
    file.write_text(text)
    assert wrap(file).returncode == 0
    return file.read_text()


def test_prose_is_wrapped_and_its_words_stay(tmp_path: Path) -> None:
    text = f"# {LONG}\n\nshort\n{LONG}\nlast\n"
    lines = wrapped(tmp_path, text).split("\n")
    assert lines[0] == f"# {LONG}" and lines[2] == "short"
    assert all(len(line) <= 120 for line in lines[1:])
    assert " ".join(lines).split() == text.split()


def test_items_hang_under_their_text(tmp_path: Path) -> None:
    first, second, last, _ = wrapped(tmp_path, f"- {LONG}\n- short\n").split("\n")
    assert first.startswith("- word") and second.startswith("  word") and last == "- short"


@pytest.mark.parametrize(
    "text",
    [f"| {LONG} | {LONG} |\n", f"```\n{LONG}\n```\n", f"    {LONG}\n", f"[page]: {LONG}\n", "short\nlines\nstay\n"],
)
def test_tables_code_and_short_lines_stay(tmp_path: Path, text: str) -> None:
    assert wrapped(tmp_path, text) == text


@pytest.mark.parametrize("mark", ["-", "+", "3.", "#", ">", "|"])
def test_no_line_begins_with_what_would_be_markup(tmp_path: Path, mark: str) -> None:
    """Whatever the words before it: somewhere the mark would come first."""
    for n in range(20, 28):
        text = "word " * n + f"{mark} " + "word " * 20 + "\n"
        assert not any(line.startswith(mark) for line in wrapped(tmp_path, text).split("\n"))


def test_code_within_a_line_is_not_broken(tmp_path: Path) -> None:
    for n in range(14, 24):
        assert "`garra run a scenario`" in wrapped(
            tmp_path, "word " * n + "`garra run a scenario` " + "word " * 9 + "\n"
        )


def test_check_names_the_lines_and_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text(f"short\n\n{LONG}\n")
    done = wrap(file, "--check")
    assert done.returncode == 1 and "lines 3" in done.stdout
    assert file.read_text() == f"short\n\n{LONG}\n"
    assert wrap(file).returncode == 0 and wrap(file, "--check").returncode == 0
