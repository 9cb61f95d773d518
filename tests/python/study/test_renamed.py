"""Names that have changed: functions, keywords, attributes, keys and flags are accepted by their old names, with one
warning, and give what the new ones give (docs/reference/renamed.md)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import garra
import numpy as np
import pytest
from garra import renamed
from program import PROGRAM, ROOT

A, B, MU = np.eye(3), np.array([-1.0, 0.2, 0.1]), [0.5]


def test_every_old_python_name_leads_to_one_that_is_there() -> None:
    modules = [garra.contact, garra.grasp, garra.singularity]
    for old, now in (("judge", "check_solution"), ("can_balance", "is_resisted"), ("Set", "GraspSet"), ("analyse", "analyze")):
        assert renamed.names("python")[old] == now
        home = next(m for m in modules if now in m.__dir__())
        with pytest.warns(FutureWarning, match=now):
            assert getattr(home, old) is getattr(home, now)
    with pytest.raises(AttributeError):
        garra.contact.no_such_name  # noqa: B018


def test_an_old_keyword_gives_the_same_answer() -> None:
    new = garra.contact.solve(A, B, MU, tolerance=1e-6)
    with pytest.warns(FutureWarning, match="tolerance"):
        old = garra.contact.solve(A, B, MU, tol=1e-6)
    assert np.array_equal(old.c, new.c)
    with pytest.raises(TypeError, match="leave out tol"):
        garra.contact.solve(A, B, MU, tol=1e-6, tolerance=1e-6)


def test_an_old_attribute_is_the_new_one() -> None:
    solution = garra.contact.solve(A, B, MU)
    with pytest.warns(FutureWarning, match="required_friction"):
        assert np.array_equal(solution.critical_friction, solution.required_friction)
    with pytest.raises(AttributeError):
        solution.no_such_name  # noqa: B018


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)


def test_old_keys_and_flags_give_the_same_run(tmp_path: Path) -> None:
    scenario = ROOT / "data" / "scenarios" / "three_puma_sphere.toml"
    common = ("--samples", "64", "--no-report", "--quiet")
    new = run("run", str(scenario), "--set", "load.grip_force=14 N", "--set", "solver.tolerance=1e-8", *common, "-o", str(tmp_path / "new"))
    old = run("run", str(scenario), "--set", "load.squeeze=14 N", "--set", "solver.tol=1e-8", *common, "-o", str(tmp_path / "old"))
    assert new.returncode == old.returncode == 0, old.stderr
    assert (tmp_path / "new/summary.json").read_bytes() == (tmp_path / "old/summary.json").read_bytes()
    assert old.stderr.count("is now called") == 2 and "`squeeze` is now called `grip_force`" in old.stderr
    assert "is now called" not in new.stderr


def test_every_new_flag_is_one_of_a_command() -> None:
    source = "".join(p.read_text() for p in (ROOT / "src").rglob("*.[ch]pp") if "renamed" not in p.name)
    flags = {old: now for old, now in renamed.names("flag").items() if old not in renamed.names("key")}
    assert len(flags) >= 8
    for old, now in flags.items():
        assert f'"--{now.replace("_", "-")}"' in source and f'"--{old.replace("_", "-")}"' not in source, (old, now)


def test_a_flag_by_both_names_is_refused() -> None:
    answer = run("contact", "bench", "--tol", "1e-6", "--tolerance", "1e-6")
    assert answer.returncode == 2 and "--tol is the old name of --tolerance" in answer.stderr


def test_a_summary_of_an_older_version_is_read(tmp_path: Path) -> None:
    old = {"can_be_held": {"probability": 1}, "outcomes": {"not_carried": 3}, "solver": {"tol": 1e-9}, "label": "a tol of"}
    assert renamed.with_new_names(old, "json") == {
        "resisted": {"probability": 1},
        "outcomes": {"command_insufficient": 3},
        "solver": {"tolerance": 1e-9},
        "label": "a tol of",
    }


def test_the_page_has_every_row() -> None:
    page = (ROOT / "docs/reference/renamed.md").read_text()
    rows = json.loads(run("check", "--schema", "renamed").stdout)
    assert rows and all(f"| `{row['old']}` | `{row['now']}` |" in page for row in rows)
