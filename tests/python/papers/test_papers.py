"""`garra papers` seen from outside: the list of results, the page made from it, and the commands that it names."""

from __future__ import annotations

import json
import re
import shlex
import tomllib

import pytest
from program import ROOT, USAGE, garra

INPUT_OUTPUT = 5

PAGE = ROOT / "docs/start/from-the-papers.md"
DATA = tomllib.loads((ROOT / "data/papers/results.toml").read_text())
RESULTS = ("as printed", "with a corrected datum", "does not hold", "not decidable from print", "open")
ROWS = [row for paper in DATA["paper"] for row in paper["results"]]
# What each paper prints: seeds of the papers, counted by hand.
PRINTED = {
    "grasp": ("Figure 1", "Table 1", "Table 2", "Table 3", "Table 4", "Algorithm 1"),
    "screws": ("Figures 1-3", "Example 1", "Example 2", "Example 3"),
    "exoskeleton": ("Figures 1-3", "Figure 4", "Table II-A8", "Table III-B"),
    "platform": ("Figure 2", "Figure 3", "Figure 4", "Figure 5"),
}


def listed(*flags):
    return json.loads(garra("papers", "--format", "json", *flags).stdout)


def test_the_page_is_what_the_program_prints():
    printed = garra("papers", "--format", "markdown").stdout
    assert PAGE.read_text() == printed, "run: garra papers --format markdown > docs/start/from-the-papers.md"


def test_every_table_figure_and_example_of_the_papers_is_listed():
    found = {paper["name"]: [row["item"] for row in paper["results"]] for paper in listed()}
    assert {name: [item for item in items if item in found[name]] for name, items in PRINTED.items()} == {
        name: list(items) for name, items in PRINTED.items()
    }


def test_the_results_of_examples_count_their_claims():
    (paper,) = listed("--paper", "screws")
    rows = {row["item"]: row for row in paper["results"]}
    claims = json.loads(garra("papers", "claims", "--format", "json").stdout)
    counted = [0, 0, 0]
    for example in claims["examples"]:
        row = rows[f"Example {example['example']}"]
        assert row["claims"] == example["claims"]
        statuses = [claim["status"] for claim in example["claims"]]
        numbers = [statuses.count(s) for s in ("holds", "holds with corrected datum", "does not hold")]
        assert [int(n) for n in re.findall(r"\d+", row["result"])] == numbers
        counted = [a + b for a, b in zip(counted, numbers, strict=True)]
    assert sum(counted) == 97


def test_rows_can_be_chosen():
    chosen = [row for paper in listed("--result", "open") for row in paper["results"]]
    assert chosen and all(row["result"] == "open" and row["command"] == "" for row in chosen)
    assert "papers claims" in garra("papers").stdout


def test_every_page_exists_and_every_open_row_has_no_command():
    for row in ROWS:
        assert (ROOT / "docs" / row["page"].split("#")[0]).exists(), row
        assert ("example" in row) != ("result" in row)
        assert row.get("result", "as printed") in RESULTS


COMMANDS = sorted({row["command"] for row in ROWS if row["command"] and ".h5" not in row["command"]})


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs(command, tmp_path):
    words = shlex.split(command)[1:]
    if words[0] == "run":
        words += ["-o", str(tmp_path / "run"), "--no-report"]
        if "job = \"platform_experiment\"" not in (ROOT / words[1]).read_text():
            words += ["--samples", "32"]
    (tmp_path / "data").symlink_to(ROOT / "data")
    garra(*words, cwd=tmp_path)


@pytest.mark.parametrize("command", sorted({row["command"] for row in ROWS if ".h5" in row["command"]}))
def test_every_command_with_a_file_is_one_of_the_program(command):
    words = shlex.split(command)[1:]
    flags = [word for word in words if word.startswith("-")]
    text = garra(*words[:2], "--help").stdout
    assert all(re.search(rf"{flag}\b", text) for flag in flags)


def test_bad_input_is_named(tmp_path):
    assert "tables.json" in garra("papers", "tables", "--data", tmp_path, expect=INPUT_OUTPUT).stderr
    garra("papers", "--paper", "poetry", expect=USAGE)
    garra("papers", "claims", "--format", "markdown", expect=USAGE)
