"""The cells of examples/arm.ipynb run as a script, and the answers are those of each arm."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import garra
import numpy as np
import pytest
from arrays import require_module

require_module()
NOTEBOOK = Path(__file__).resolve().parents[3] / "examples" / "arm.ipynb"
ARMS = ("UR10e", "PUMA 560", "JACO2", "random 6R", "Panda", "iiwa14", "Gen3")


def code_cells() -> list[dict[str, Any]]:
    return [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_it_holds_no_outputs_and_each_task_takes_five_lines():
    cells = code_cells()
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    assert [len(cell["source"]) <= 5 for cell in cells] == [True, True, False, *[True] * (len(cells) - 3)]  # one is the arms


@pytest.fixture(scope="module")
def found():
    """Names after the last cell, and what each cell printed."""
    import contextlib
    import io

    import matplotlib

    matplotlib.use("Agg")
    names: dict[str, Any] = {}
    printed = []
    for cell in code_cells():
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec("".join(cell["source"]), names)
        printed.append(out.getvalue())
    return names, printed


def test_every_arm_gives_every_answer(found):
    _, printed = found
    for cell in printed[3:4] + printed[5:]:
        lines = cell.splitlines()
        assert [line.startswith(name) for line, name in zip(lines, ARMS, strict=True)] == [True] * 7
    branches, within, ways = printed[3], printed[5], printed[7]
    assert re.findall(r"(\d+) solutions", branches) == ["8", "8", "4", "2", "8", "8", "8"]
    assert all(float(x) < 1e-6 for x in re.findall(r"(\S+) rad off", branches))
    assert all(0.8 < float(x) <= 1 for x in re.findall(r"= (\S+),", within))
    assert "nan" not in ways


def test_the_path_of_every_arm_has_a_branch_that_passes_and_a_picture(found):
    names, _ = found
    for ax, robot in zip(names["axes"], names["arms"], strict=True):
        assert int(re.search(r"(\d+) branches pass", ax.get_title())[1]) > 0 and ax.get_title().startswith(robot.name)
        bold = [line for line in ax.lines if line.get_linewidth() == 3]
        assert len(bold) == 1 and bold[0].get_xdata()[[0, -1]].tolist() == [0, 1]


def test_a_study_takes_an_arm_as_its_robot():
    robot = garra.load("ur10e")
    study = {"schema": 1, "job": "accuracy", "command": {"q": [0, -1, 1, 0, 1, 0]}, "limit": {"position": 5e-4}}
    study["tolerance"] = {"offset": {"normal": [0, 1e-4]}}
    assert garra.run(study | {"robot": robot}, samples=2000).probability == (
        garra.run(study | {"robot": {"model": "ur10e"}}, samples=2000).probability
    )
    assert "robot" not in study and np.isfinite(robot.lower).all()
