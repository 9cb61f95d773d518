"""`python -m garra.report` seen from outside: run folders made here, the HTML read by html.parser.

The synthetic runs come from synthetic_run.py and share nothing with the program. With GARRA_PROGRAM=path/to/garra the
program's own runs are reported as well.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from pages import (
    INPUT_OUTPUT,
    INVALID_FILE,
    MOST_BYTES,
    PROGRAM,
    ROOT,
    USAGE,
    Page,
    assert_refused,
    assert_self_contained,
    edit,
    page_of,
    report,
    scenarios_of,
)  # fmt: skip
from synthetic_run import write_run

SECTIONS = ("estimate", "outcomes", "friction", "contacts", "metrics", "inputs", "solver", "samples", "reproduce")
def assert_sound(page: Page, html: str) -> None:
    assert html.startswith("<!DOCTYPE html>")
    assert not page.faults
    assert [name for name, times in page.ids.items() if times > 1] == []
    assert all(page.ids[section] == 1 for section in SECTIONS)
    assert_self_contained(page, html)
    assert len(html.encode()) < MOST_BYTES


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict, Page, str]:
    run = tmp_path_factory.mktemp("runs") / "three"
    summary = write_run(run)
    return run, summary, *page_of(run)


# --- a complete run


def test_a_report_is_sound_html_that_loads_nothing(three):
    assert_sound(*three[2:])


def test_the_headline_has_the_probability_and_its_interval(three):
    _, summary, page, _ = three
    held = summary["held"]
    for number in (held["probability"], held["low"], held["high"]):
        assert f"{100 * number:.1f} %" in page.text
    assert f"About {round(100 * held['probability'])} of 100 grasps hold." in page.text
    assert "three puma hand" in page.text and "radius 50 mm" in page.text


def test_every_outcome_is_accounted_for(three):
    _, summary, page, _ = three
    for outcome in ("held", "slipping", "separating"):
        assert f"{summary['outcomes'][outcome]:,} · " in page.text
    assert "None of the samples: no solution, several solutions, unreachable, unsolved." in page.text


def test_the_page_has_a_figure_for_everything(three):
    html = three[3]
    estimate, contacts, metrics, inputs, solver = 2, 2 * 3, 5, 1 + 6, 2
    assert html.count("<svg ") == estimate + contacts + metrics + inputs + solver
    assert html.count('role="img" aria-label=') >= html.count("<svg ")


def test_figures_take_their_colors_and_font_from_the_page(three):
    figures = "".join(re.findall(r"<svg .*?</svg>", three[3], re.S))
    assert not re.search(r"#0([1-8])0\1(?:0\1)", figures)
    assert "DejaVu" not in figures


def test_labels_in_figures_are_not_cut(three):
    median = three[1]["metrics"]["critical_friction"]["quantiles"]["0.05"]
    assert f">{median:.3f}".rstrip("0") in three[3]


def test_every_listed_sample_has_its_replay_command(three):
    run, summary, page, _ = three
    for row in summary["closest"] + summary["worst"]:
        assert f"garra replay {run} --sample {row['sample']}" in page.text


def test_the_scenario_and_the_command_are_quoted_in_full(three):
    run, _, _, html = three
    scenario = (run / "scenario.toml").read_text()
    assert scenario.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;") in html
    assert "garra run synthetic.toml --samples 20000" in html
    assert "test machine, 2 threads x 8 lanes" in html


def test_the_same_run_gives_the_same_bytes(three, tmp_path):
    run, _, _, html = three
    again = tmp_path / "again.html"
    assert report(run, "-o", again).returncode == 0
    assert again.read_text(encoding="utf-8") == html
    assert not list(tmp_path.glob("*.tmp"))


# --- edges


@pytest.mark.parametrize("contacts", [1, 2, 4, 8])
def test_any_number_of_contacts(tmp_path, contacts):
    write_run(tmp_path, contacts=contacts, samples=2000)
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert html.count("Force in the friction cone") == contacts


def test_no_failure_is_an_upper_bound_on_failing(tmp_path):
    write_run(tmp_path, samples=5000, strength=10)
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "Not one sample failed: with 95 % confidence at most 1 in 1,300 grasps fails." in page.text  # 5000 / 1.96^2
    assert "none fails first" in page.text


def test_nothing_held(tmp_path):
    write_run(tmp_path, samples=3000, strength=0.05)
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "Not one sample held" in page.text


def test_a_probability_near_one_is_never_rounded_to_one(tmp_path):
    write_run(tmp_path, samples=1000)
    edit(tmp_path, lambda s: s["held"].update(probability=0.999996, low=0.99, high=0.9999999))
    page, _ = page_of(tmp_path)
    assert "99.9996 %" in page.text and "1 in 250,000 grasps fails" in page.text


def test_unsolved_samples_are_said_to_widen_the_interval(tmp_path):
    write_run(tmp_path, samples=1000)
    edit(tmp_path, lambda s: (s["outcomes"].update(unsolved=20), s.update(samples=1020)))
    page, _ = page_of(tmp_path)
    assert "widened on both sides by the 2.0 % of samples that are unsolved" in page.text


def test_a_run_that_stopped_early_says_how_to_go_on(tmp_path):
    write_run(tmp_path, samples=1000)
    edit(tmp_path, lambda s: s.update(stopped_by="signal", requested=50_000))
    page, _ = page_of(tmp_path)
    assert "1,000 of 50,000 samples" in page.text and f"garra resume {tmp_path}" in page.text


def test_quantities_without_a_value(tmp_path):
    def blank(summary):
        for table in summary["metrics"].values():
            table.update(mean=None, sd=None, quantiles=dict.fromkeys(table["quantiles"]), counts=[0] * 200)
        for entry in summary["inputs"]:
            entry.update(influence=None, noise=None)
        summary["closest"] = summary["worst"] = []
        summary["solver"]["worst_residual"] = None

    write_run(tmp_path, samples=1000)
    edit(tmp_path, blank)
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "nan" not in page.text.lower().split()


def test_a_scenario_without_uncertain_inputs(tmp_path):
    write_run(tmp_path, samples=1000)
    edit(tmp_path, lambda s: s.update(inputs=[]))
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "no uncertain input" in page.text


def test_names_are_text_and_not_markup(tmp_path):
    write_run(tmp_path, samples=1000)
    name = '<b onload="x">$\\frac$ & "q"'
    edit(tmp_path, lambda s: (s["inputs"][0].update(name=name, influence=0.5), s["contacts"][0].update(name=name)))
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "<b onload" not in html and page.text.count(name) >= 2


# --- errors: a message and an exit code, never a traceback


def test_a_folder_that_is_not_there(tmp_path):
    assert_refused(report(tmp_path / "none"), INPUT_OUTPUT, "none: no such run folder")


@pytest.mark.parametrize("name", ["summary.json", "manifest.json", "scenario.toml"])
def test_a_missing_file_is_named(tmp_path, name):
    write_run(tmp_path, samples=500)
    (tmp_path / name).unlink()
    assert_refused(report(tmp_path), INPUT_OUTPUT, name, "no such file")
    assert not (tmp_path / "report.html").exists()


def test_an_unfinished_run_is_told_how_to_finish(tmp_path):
    write_run(tmp_path, samples=500)
    (tmp_path / "summary.json").unlink()
    assert_refused(report(tmp_path), INPUT_OUTPUT, f"garra resume {tmp_path}")


@pytest.mark.parametrize("name", ["summary.json", "manifest.json", "scenario.toml"])
def test_a_truncated_file_is_refused(tmp_path, name):
    write_run(tmp_path, samples=500)
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] + b'\n= "')
    assert_refused(report(tmp_path), INVALID_FILE, name)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s["outcomes"].pop("unsolved"), "outcomes.unsolved: missing"),
        (lambda s: s["contacts"][1]["cone"].pop("counts"), "contacts[1].cone.counts: missing"),
        (lambda s: s["held"].update(low="0.8"), "held.low: expected an integer or a number, found a text"),
        (lambda s: s["convergence"]["low"].pop(), "convergence: lists of different lengths"),
        (lambda s: s["outcomes"].update(held=1), "outcomes: do not add up"),
        (lambda s: s.update(contacts=[]), "contacts: empty"),
        (lambda s: s.update(schema=2), "schema: is 2; this garra reads 1"),
        (lambda s: s.update(job="dance"), 'job: is "dance"'),
    ],
)
def test_a_damaged_summary_is_refused_with_the_field(tmp_path, change, said):
    write_run(tmp_path, samples=500)
    edit(tmp_path, change)
    assert_refused(report(tmp_path), INVALID_FILE, "summary.json: " + said)


def test_an_output_that_cannot_be_written(tmp_path):
    write_run(tmp_path, samples=500)
    assert_refused(report(tmp_path, "-o", tmp_path / "no" / "report.html"), INPUT_OUTPUT, "report.html")


def test_a_wrong_command_line():
    assert report().returncode == USAGE


# --- the package and a run of the program


def test_the_version_is_that_of_the_program():
    text = (ROOT / "CMakeLists.txt").read_text()
    version = re.search(r"project\(garra VERSION (\S+)", text)[1]
    assert f'__version__ = "{version}"' in (ROOT / "python" / "garra" / "__init__.py").read_text()


@pytest.mark.skipif(not PROGRAM, reason="GARRA_PROGRAM names no built program")
@pytest.mark.parametrize("scenario", scenarios_of("grasp"), ids=lambda path: path.stem)
def test_the_report_of_a_run_of_the_program(tmp_path, scenario):
    run = tmp_path / "run"
    done = subprocess.run([PROGRAM, "run", scenario, "--samples", "2048", "-o", run], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page, html = page_of(run)
    assert_sound(page, html)
    held = json.loads((run / "summary.json").read_text())["held"]["probability"]
    assert held in (0, 1) or f"{100 * held:.1f} %" in page.text
