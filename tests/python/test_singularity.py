"""`garra singularity` and `garra screws` seen from outside."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("GARRA_PROGRAM", "")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="GARRA_PROGRAM names no built program")


def garra(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=ROOT)


def analysis(*arguments: str | Path) -> dict[str, Any]:
    done = garra(*arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_wrist_of_the_puma_loses_one_freedom_where_its_outer_axes_align() -> None:
    found = analysis("singularity", "puma560", "--at", "0.3 0.5 -0.4 0.2 0 0.1")
    assert (found["rank"], found["generic_rank"], found["lost_freedoms"]) == (5, 6, 1)
    assert found["responsible"] == [4, 6]
    assert [5] in [way["joints"] for way in found["escape"] if way["order"] == 1]


def test_a_regular_pose_has_full_rank_and_nothing_to_escape_from() -> None:
    found = analysis("singularity", "puma560", "--at", "0.3 0.5 -0.4 0.2 0.7 0.1")
    assert (found["rank"], found["lost_freedoms"], found["responsible"]) == (6, 0, [])


def test_the_first_example_of_the_paper() -> None:
    found = analysis("screws", ROOT / "data" / "screws" / "gallardo_1.toml")
    assert found["rank"] == 5
    subsets = {(s["first"], s["last"]): s["ssm"] for s in found["sosm"]}
    assert subsets == {(1, 5): [1, 3, 4, 5], (3, 7): [3, 4, 6, 7]}
    best = max((way for way in found["escape"] if len(way["joints"]) == 1), key=lambda way: way["rate"])
    assert best["joints"] == [4] and best["rate"] == pytest.approx(0.606, abs=5e-4)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("singularity", "puma560", "--at", "0 0 0"), 2, "6"),
        (("singularity", "puma56", "--at", "0 0 0 0 0 0"), 5, 'Did you mean "puma560"?'),
        (("screws", "no-such-file.toml"), 5, "no-such-file.toml"),
    ],
)
def test_wrong_input_is_refused_with_a_remedy(arguments: tuple[str, ...], code: int, said: str) -> None:
    done = garra(*arguments)
    assert done.returncode == code and said in done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""
