"""`python -m garra.report` seen from outside: runs of the program, where need be changed, the HTML read by html.parser."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import garra
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

SPHERE = "three_puma_sphere"
SECTIONS = ("estimate", "outcomes", "friction", "contacts", "metrics", "inputs", "solver", "samples", "reproduce")


def assert_sound(page: Page, html: str) -> None:
    assert html.startswith("<!DOCTYPE html>")
    assert not page.faults
    assert [name for name, times in page.ids.items() if times > 1] == []
    assert all(page.ids[section] == 1 for section in SECTIONS)
    assert_self_contained(page, html)
    assert len(html.encode()) < MOST_BYTES


@pytest.fixture(scope="module")
def three(runs, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict, Page, str]:
    run = tmp_path_factory.mktemp("runs") / "three"
    summary = runs.copy(run, SPHERE)
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
    assert (
        "three puma hand" in page.text
        and "radius 100 mm, mass 1 kg ± 0.15 kg" in page.text
        and "3 contacts" in page.text
    )


def test_every_outcome_is_accounted_for(three):
    _, summary, page, _ = three
    seen = [key for key, n in summary["outcomes"].items() if n]
    assert seen and sum(summary["outcomes"].values()) == summary["samples"]
    assert all(f"{summary['outcomes'][key]:,} · " in page.text for key in seen)
    never = re.search(r"None of the samples: ([\w ,-]+)\.", page.text)[1].split(", ")
    assert {re.sub("[ -]", "_", name) for name in never} == set(summary["outcomes"]) - set(seen)


def test_the_page_has_a_figure_for_everything(three):
    _, summary, _, html = three
    loud = sum((entry["influence"] or 0) > (entry["noise"] or 0) for entry in summary["inputs"])
    drawn = sum(sum(table["counts"]) > 0 for table in summary["metrics"].values())
    estimate, contacts, metrics, inputs, solver = 2, 2 * 3, drawn, 1 + min(loud, 6), 2
    assert loud and drawn > 4
    assert html.count("<svg ") == estimate + contacts + metrics + inputs + solver
    assert html.count('role="img" aria-label=') >= html.count("<svg ")


def test_figures_take_their_colors_and_font_from_the_page(three):
    figures = "".join(re.findall(r"<svg .*?</svg>", three[3], re.S))
    assert not re.search(r"#0([1-8])0\1(?:0\1)", figures)
    assert "DejaVu" not in figures


def test_labels_in_figures_are_not_cut(three):
    median = three[1]["metrics"]["required_friction"]["quantiles"]["0.05"]
    assert f">{median:.3f}".rstrip("0") in three[3]


def test_every_listed_sample_has_its_replay_command(three):
    run, summary, page, _ = three
    for row in summary["closest"] + summary["worst"]:
        assert f"garra replay {run} --sample {row['sample']}" in page.text


def test_the_scenario_and_the_command_are_quoted_in_full(three):
    run, _, _, html = three
    scenario = (run / "scenario.toml").read_text()
    assert html_of(scenario) in html
    manifest = json.loads((run / "manifest.json").read_text())
    assert html_of(manifest["command"]) in html and html_of(manifest["device"]) in html


def html_of(text: str) -> str:
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;").replace("'", "&#39;")
    )


def test_the_same_run_gives_the_same_bytes(three, tmp_path):
    run, _, _, html = three
    again = tmp_path / "again.html"
    assert report(run, "-o", again).returncode == 0
    assert again.read_text(encoding="utf-8") == html
    assert not list(tmp_path.glob("*.tmp"))


# --- edges


@pytest.mark.parametrize("contacts", [1, 2, 4, 8])
def test_any_number_of_contacts(runs, tmp_path, contacts):
    def repeat(summary):
        summary["contacts"] = [dict(summary["contacts"][0], name=f"contact {k + 1}") for k in range(contacts)]

    runs.copy(tmp_path, SPHERE)
    edit(tmp_path, repeat)
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert html.count("Force in the friction cone") == contacts


def test_no_failure_is_an_upper_bound_on_failing(runs, tmp_path):
    sure = (
        "contacts.friction=4",
        "contacts.tilt=0",
        "contacts.grip_force_error=0",
        "contacts.angle='60 deg'",
        "object.mass=1",
    )
    runs.copy(tmp_path, SPHERE, "--samples", 5000, *(flag for text in sure for flag in ("--set", text)))
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "Not one sample failed: with 95 % confidence at most 1 in 1,400 grasps fails." in page.text  # 5000 / -log(0.025)
    assert "so no contact fails first" in page.text


def test_nothing_held(runs, tmp_path):
    runs.copy(tmp_path, SPHERE, "--set", "contacts.friction=0.01")
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "Not one sample held" in page.text


def test_a_probability_near_one_is_never_rounded_to_one(runs, tmp_path):
    runs.copy(tmp_path, SPHERE)
    edit(tmp_path, lambda s: s["held"].update(probability=0.999996, low=0.99, high=0.9999999))
    page, _ = page_of(tmp_path)
    assert "99.9996 %" in page.text and "1 in 250,000 grasps fails" in page.text


def test_unsolved_samples_are_said_to_widen_the_interval(runs, tmp_path):
    runs.copy(tmp_path, SPHERE)
    edit(
        tmp_path,
        lambda s: (
            s["outcomes"].update(unsolved=s["samples"] // 49 + 1),
            s.update(samples=sum(s["outcomes"].values())),
        ),
    )
    page, _ = page_of(tmp_path)
    assert "widened on both sides by the 2.0 % of samples that are unsolved" in page.text


def test_a_run_that_stopped_early_says_how_to_go_on(runs, tmp_path):
    runs.copy(tmp_path, SPHERE)
    edit(tmp_path, lambda s: s.update(stopped_by="signal", requested=50_000))
    page, _ = page_of(tmp_path)
    assert "2,048 of 50,000 samples" in page.text and f"garra resume {tmp_path}" in page.text


def test_quantities_without_a_value(runs, tmp_path):
    def blank(summary):
        for table in summary["metrics"].values():
            table.update(mean=None, sd=None, quantiles=dict.fromkeys(table["quantiles"]), counts=[0] * 200)
        for entry in summary["inputs"]:
            entry.update(influence=None, noise=None)
        summary["closest"] = summary["worst"] = []
        summary["solver"]["worst_residual"] = None

    runs.copy(tmp_path, SPHERE)
    edit(tmp_path, blank)
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "nan" not in page.text.lower().split()


def test_a_scenario_without_uncertain_inputs(runs, tmp_path):
    runs.copy(tmp_path, SPHERE)
    edit(tmp_path, lambda s: s.update(inputs=[]))
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "no uncertain input" in page.text


def test_names_are_text_and_not_markup(runs, tmp_path):
    runs.copy(tmp_path, SPHERE)
    name = '<b onload="x">$\\frac$ & "q"'
    edit(tmp_path, lambda s: (s["inputs"][0].update(name=name, influence=0.5), s["contacts"][0].update(name=name)))
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "<b onload" not in html and page.text.count(name) >= 2


# --- errors: a message and an exit code, never a traceback


def test_a_folder_that_is_not_there(tmp_path):
    assert_refused(report(tmp_path / "none"), INPUT_OUTPUT, "none: no such run folder")


@pytest.mark.parametrize("name", ["summary.json", "manifest.json", "scenario.toml"])
def test_a_missing_file_is_named(runs, tmp_path, name):
    runs.copy(tmp_path, SPHERE)
    (tmp_path / name).unlink()
    assert_refused(report(tmp_path), INPUT_OUTPUT, name, "no such file")
    assert not (tmp_path / "report.html").exists()


def test_an_unfinished_run_is_told_how_to_finish(runs, tmp_path):
    runs.copy(tmp_path, SPHERE)
    (tmp_path / "summary.json").unlink()
    assert_refused(report(tmp_path), INPUT_OUTPUT, f"garra resume {tmp_path}")


@pytest.mark.parametrize("name", ["summary.json", "manifest.json", "scenario.toml"])
def test_a_truncated_file_is_refused(runs, tmp_path, name):
    runs.copy(tmp_path, SPHERE)
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
        (lambda s: s.update(schema=3), "schema: is 3; this garra reads 1 and 2"),
        (lambda s: s.update(job="dance"), 'job: is "dance"'),
    ],
)
def test_a_damaged_summary_is_refused_with_the_field(runs, tmp_path, change, said):
    runs.copy(tmp_path, SPHERE)
    edit(tmp_path, change)
    assert_refused(report(tmp_path), INVALID_FILE, "summary.json: " + said)


def test_an_output_that_cannot_be_written(runs, tmp_path):
    runs.copy(tmp_path, SPHERE)
    assert_refused(report(tmp_path, "-o", tmp_path / "no" / "report.html"), INPUT_OUTPUT, "report.html")


def test_a_wrong_command_line():
    assert report().returncode == USAGE


# --- the package and a run of the program


@pytest.mark.skipif(not PROGRAM, reason="GARRA_PROGRAM names no built program")
def test_the_version_is_that_of_the_program():
    said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, timeout=60).stdout
    assert said == f"garra {garra.__version__}\n"


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
