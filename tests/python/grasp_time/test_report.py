"""The reports of grasps in time seen from outside: runs of the program, some of them changed, HTML read by html.parser.

Where a Chromium is installed, the pages' scripts run as well; elsewhere those tests say that they were skipped.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from garra.grasp import scene as grasp_scene
from garra.grasp_time import report as grasp_time_report
from garra.page.run_folder import DamagedFile
from garra.page.words import distribution
from garra.page.html import dumps
from pages import (
    CHROMIUM,
    INPUT_OUTPUT,
    INVALID_FILE,
    PROGRAM,
    Page,
    assert_refused,
    assert_sound,
    axis_of,
    console,
    data_of,
    edit,
    page_of,
    report,
    scenarios_of,
)

SECTIONS = (
    *("estimate", "motion", "friction", "time", "distributions", "outcomes", "inputs", "samples", "audit"),
    "reproduce",
)
ROUNDED = 0.51e-5  # of positions [m] and quaternions on the page
SHAKE = "three_puma_shake"
ALONE = ("--samples", 600, "--set", "simulation.friction=[0.4]", "--set", "simulation.duration=0.5")  # one level
Run = tuple[Path, dict[str, Any], Page, str]


def percent(p: float, low: float, high: float) -> str:
    """With one digit of the interval's half width, at least one decimal; 0 and 1 are exact."""
    half = 50 * (high - low)
    return f"{100 * p:.{max(1, int(np.ceil(-np.log10(half))))}f} %" if 0 < p < 1 else f"{100 * p:.0f} %"


def rows_of(html: str, section: str) -> list[list[str]]:
    """Cells of the first table of a section, without its head."""
    part = html[html.index(f'<section id="{section}">') :]
    table = re.search(r"<table>(.*?)</table>", part, re.S)[1]
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in re.findall(r"<tr>(.*?)</tr>", table, re.S)]
    clean = [[re.sub(r"<[^>]*>|\s+", " ", cell).replace("\u202f", " ").strip() for cell in row] for row in cells]
    return [row for row in clean if row]


@pytest.fixture(scope="module")
def shaken(runs, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = tmp_path_factory.mktemp("time") / "shaken"
    summary = runs.copy(run, SHAKE)
    return run, summary, *page_of(run)


@pytest.fixture(scope="module")
def single(runs, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One level, whose friction is the scenario's; no torque limits, no motion.h5."""
    run = tmp_path_factory.mktemp("time") / "single"
    runs.copy(run, SHAKE, *ALONE)
    (run / "motion.h5").unlink()
    edit(run, lambda s: s["levels"][0].update(friction=None, peak_torque=None))
    return run, json.loads((run / "summary.json").read_text()), *page_of(run)


@pytest.fixture
def small(runs, tmp_path: Path) -> Path:
    runs.copy(tmp_path, SHAKE)
    return tmp_path


def friction_of(summary: dict[str, Any]) -> list[float]:
    return [level["friction"] for level in summary["levels"]]


# --- the answer


def test_a_report_in_time_is_sound_html_that_loads_nothing(shaken: Run) -> None:
    assert_sound(*shaken[2:], SECTIONS)


def test_with_several_levels_the_answer_is_the_range_over_them_and_not_their_mean(shaken: Run) -> None:
    _, summary, page, html = shaken
    least, most = summary["levels"][0]["held"], summary["levels"][-1]["held"]
    assert least["probability"] < most["probability"]
    friction = friction_of(summary)
    ends = [percent(p["probability"], p["low"], p["high"]) for p in (least, most)]
    assert f"P(held until 2 s) at {len(friction)} levels of friction {ends[0]} to {ends[1]} " in page.text
    assert f"{100 * least['high']:.1f} % at friction {friction[0]}" in page.text
    mean = summary["held"]
    assert f"Over all levels together: {percent(mean['probability'], mean['low'], mean['high'])} (" in page.text
    value = re.search(r'<p class="value range">(.*?)</p>', html)[1]
    assert f"{100 * mean['probability']:.1f}" not in value


def test_the_sentence_says_where_half_of_the_grasps_hold(shaken: Run) -> None:
    levels, page = shaken[1]["levels"], shaken[2]
    held = [level["held"]["probability"] for level in levels]
    half = np.interp(0.5, held, friction_of(shaken[1]))
    assert f"Half of the grasps hold at a friction of about {half:.3g}." in page.text
    assert all(level["held"]["low"] < 0.95 for level in levels)
    assert f"Not even at {levels[-1]['friction']:g} does the interval lie above 95 %." in page.text


def test_the_sentence_says_from_where_on_nearly_all_hold(small: Path) -> None:
    def sure(summary: dict[str, Any]) -> None:
        for level in summary["levels"][-3:]:
            level["held"] |= {"probability": 0.99, "low": 0.97, "high": 0.999}

    edit(small, sure)
    friction = friction_of(json.loads((small / "summary.json").read_text()))
    assert f"From {friction[-3]:g} on, the interval lies above 95 %." in page_of(small)[0].text


def test_each_level_has_its_probabilities_and_counts(shaken: Run) -> None:
    _, summary, _, html = shaken
    rows = rows_of(html, "friction")
    assert len(rows) == len(summary["levels"]) > 5
    for row, level in zip(rows, summary["levels"], strict=True):
        held, no_slip = level["held"], level["no_slip"]
        assert row[0] == f"{level['friction']:g}" and row[1] == str(level["samples"])
        assert row[2] == percent(held["probability"], held["low"], held["high"])
        assert row[4] == percent(no_slip["probability"], no_slip["low"], no_slip["high"])
        assert row[6] == str(level["outcomes"]["dropped"])
        time, alive = level["survival"]["time"], level["survival"]["drop"]["probability"]
        lost = next((t for t, p in zip(time, alive, strict=True) if p <= 0.5), None)
        told = row[11].replace(" ms", "e-3").replace(" s", "")
        assert told == "–" if lost is None else np.isclose(float(told), lost, rtol=1e-2)


def test_a_single_level_opens_with_the_probability_and_its_interval(single: Run) -> None:
    _, summary, page, html = single
    assert_sound(page, html, SECTIONS)
    p = summary["levels"][0]["held"]
    told = [percent(p[key], p["low"], p["high"]) for key in ("probability", "low", "high")]
    assert f"P(held until 500 ms) {told[0]} 95 % interval: {told[1]} to {told[2]}" in page.text
    assert not re.search(r"at \d+ levels of friction", page.text)


def test_undecided_samples_are_said(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, SHAKE, *ALONE)
    edit(tmp_path, lambda s: [add_unsolved(table, 9) for table in (s, *s["levels"])])
    page, html = page_of(tmp_path)
    assert_sound(page, html, SECTIONS)
    assert "9 samples (1.5 %) are undecided and widen the intervals on both sides." in page.text
    assert "undecided 9 " in page.text


def add_unsolved(table: dict[str, Any], n: int) -> None:
    """To the counts of outcomes, at the cost of the most frequent ones."""
    for _ in range(n):
        most = max(table["outcomes"], key=lambda key: table["outcomes"][key])
        table["outcomes"][most] -= 1
        table["outcomes"]["unsolved"] += 1


@pytest.mark.parametrize("flags", [(), ALONE])
def test_a_study_that_could_check_nothing(runs, tmp_path: Path, flags: tuple[Any, ...]) -> None:
    runs.copy(tmp_path, SHAKE, *flags)
    (tmp_path / "motion.h5").unlink()
    unknown = {"probability": None, "low": 0.0, "high": 1.0}
    names = ("slip_path", "peak_drift", "peak_turn", "peak_force", "peak_torque", "least_margin")

    def blank(s: dict[str, Any]) -> None:
        for table in (s, *s["levels"]):
            table["outcomes"] = dict.fromkeys(table["outcomes"], 0) | {"unsolved": table["samples"]}
            table["held"] |= unknown
        for level in s["levels"]:
            level["no_slip"] |= unknown
            level |= dict.fromkeys(names)
            level["bands"] |= dict.fromkeys(("drift", "turn", "margin", "slip", "force"))
            for kind in ("drop", "slip"):
                level["survival"][kind]["probability"] = [None] * s["time"]["instants"]
        s["convergence"] = {"samples": [60], "probability": [None], "low": [0.0], "high": [1.0]}
        s["audit"] = dict.fromkeys(s["audit"])
        s["solver"]["mean_iterations"] = None
        s["inputs"], s["worst"], s["closest"] = [], [], []

    edit(tmp_path, blank)
    page, html = page_of(tmp_path)
    assert_sound(page, html, SECTIONS)
    assert "no sample could be decided" in page.text and "The scenario has no uncertain input." in page.text
    assert page.text.count("not checked") == 5


# --- distributions, outcomes, inputs, samples


def test_distributions_are_told_in_millimeters_with_their_quantiles(shaken: Run) -> None:
    _, summary, page, html = shaken
    for level in summary["levels"]:
        q = level["slip_path"]["quantiles"]
        if 1e-3 < q["0.05"] < q["0.95"] < 1:
            assert f"{1e3 * q['0.5']:.3g} mm ({1e3 * q['0.05']:.2g} … {1e3 * q['0.95']:.2g})" in page.text
    names = ("slip_path", "peak_drift", "peak_turn", "peak_force", "peak_torque", "least_margin")
    assert data_of(html, "levels")["levels"][0]["histograms"].keys() == set(names)


def test_without_torque_limits_there_is_no_share_of_them(single: Run) -> None:
    assert "Peak torque" not in single[2].text
    assert "peak_torque" not in data_of(single[3], "levels")["levels"][0]["histograms"]


def test_a_single_level_shows_histograms_with_the_limits(single: Run) -> None:
    _, summary, page, html = single
    for key in ("slip_path", "peak_drift", "peak_turn", "peak_force", "least_margin"):
        assert html.count(f'aria-label="Histogram of the {axis_of(key, summary["levels"][0][key])}"') == 1
    median = summary["levels"][0]["peak_drift"]["quantiles"]["0.5"]
    assert f"50 % {1e3 * median:.3g} mm" in page.text


def test_the_scripts_get_the_bands_and_curves_of_the_summary(shaken: Run) -> None:
    _, summary, _, html = shaken
    shown = data_of(html, "levels")
    for level, drawn in zip(summary["levels"], shown["levels"], strict=True):
        assert drawn["alive"] == level["bands"]["alive"]
        for key, factor in (("drift", 1e3), ("turn", 180 / np.pi), ("slip", 1e3), ("force", 1), ("margin", 1)):
            for q in ("q05", "q50", "q95"):
                told, given = (np.array(t[key][q], dtype=float) for t in (drawn["bands"], level["bands"]))
                assert np.allclose(told, factor * given, rtol=1e-3, atol=0, equal_nan=True)
        for kind in ("drop", "slip"):
            assert np.allclose(drawn["survival"][kind]["low"], level["survival"][kind]["low"], rtol=1e-3)
    assert shown["curves"]["drift"]["limit"] == 1e3 * summary["time"]["drop"]


def test_outcomes_and_first_contacts_are_those_of_the_summary(shaken: Run) -> None:
    _, summary, page, _ = shaken
    assert min(summary["outcomes"][key] for key in ("held", "slipped", "dropped")) > 0
    for key in ("held", "slipped", "dropped"):
        assert f"{summary['outcomes'][key]:,} · " in page.text
    assert "joint limit, unreachable, unsolved, not finite." in page.text
    assert "the center of mass moved by 50 mm" in page.text
    first = [contact["slipped_first"] for contact in summary["contacts"]]
    for j, n in enumerate(first):
        assert f"contact {j} {100 * n / sum(first):.1f} %" in page.text


def test_inputs_have_their_influence(shaken: Run) -> None:
    _, summary, page, html = shaken
    assert "contact 0 friction" in html and "P(held) given one input" in page.text
    assert all(
        distribution(row["distribution"], row["unit"]).replace("\u202f", " ") in page.text for row in summary["inputs"]
    )


def test_listed_samples_have_their_replay_commands_and_those_of_motion_h5_can_be_watched(shaken: Run) -> None:
    run, summary, page, html = shaken
    for row in (*summary["worst"], *summary["closest"]):
        assert f"garra replay {run} --sample {row['sample']}" in page.text
    runs = data_of(html, "motion")["runs"]
    for sample, place in re.findall(r'--sample (\d+)</span></code> <a href="#motion" data-show="(\d+)"', html):
        assert runs[int(place)]["sample"] == int(sample)
    listed = {row["sample"] for row in (*summary["worst"], *summary["closest"])}
    links = re.findall(r'--sample (\d+)</span></code> <a href="#motion"', html)
    assert links and {int(sample) for sample in links} == listed & {run["sample"] for run in runs}


# --- the animation


def test_the_animation_has_the_trajectories_of_motion_h5_until_they_stop(shaken: Run) -> None:
    run, _, _, html = shaken
    shown = data_of(html, "motion")
    assert shown["runs"][0]["sample"] is None
    with h5py.File(run / "motion.h5") as file:
        assert len(shown["runs"]) == len(file) > 2
        for told in shown["runs"]:
            group = file["nominal" if told["sample"] is None else f"sample_{told['sample']}"]
            end = len(told["time"])
            assert end > 1 and np.isnan(group["position"][end:]).all() and np.isfinite(group["position"][:end]).all()
            for key in ("position", "quaternion", "slip_speed"):
                assert np.abs(np.array(told[key]) - group[key][:end]).max() <= ROUNDED
            assert np.abs(np.array(told["force"]) - group["force"][:end]).max() <= 0.51e-3
            assert np.array_equal(told["state"], group["state"][:end])
            assert told["mu"] == (list(group.attrs["mu"]) if "mu" in group.attrs else None)


def test_a_trajectory_is_cut_where_it_stops_and_left_out_where_it_never_began(small: Path) -> None:
    with h5py.File(small / "motion.h5", "a") as file:
        first, second = [name for name in file if name != "nominal"][:2]
        for key in ("position", "quaternion", "normal", "force", "force_palm"):
            file[first][key][...] = np.nan
            file[second][key][30:] = np.nan
        shown = {int(name.removeprefix("sample_")): name for name in file if name not in ("nominal", first)}
    lengths = {run["sample"]: len(run["time"]) for run in data_of(page_of(small)[1], "motion")["runs"]}
    assert set(lengths) == {None, *shown} and lengths[int(second.removeprefix("sample_"))] == 30


def test_without_motion_h5_the_page_says_so(single: Run) -> None:
    assert "The run folder holds no motion.h5 , so no trajectory can be shown." in single[2].text
    assert "<canvas" not in single[3] and "GraspScene" not in single[3]


def test_a_full_motion_of_eight_contacts_stays_a_page_of_three_megabytes(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    with h5py.File(tmp_path / "motion.h5", "w") as h5:
        h5.attrs.update(shape="box", radius=0.1, height=0.2, size=[0.1, 0.2, 0.3], contacts=8, joints=[6] * 8)
        for name in ("nominal", "sample_1", "sample_2", "sample_3", "sample_4"):
            group = h5.create_group(name)
            group.attrs.update(outcome="held", friction=0.3, end_time=2.0, slip_time=np.inf, drop_time=np.inf)
            for key, shape in grasp_scene.MOTION.items():
                group[key] = draw.normal(0, 10, (201, *(8 if n == "n" else n for n in shape[1:])))
            for j in range(8):
                group[f"finger_{j}/links"] = draw.normal(0, 1, (201, 8, 3))
    assert len(dumps(grasp_scene.read_motion(str(tmp_path)))) < 2_500_000


# --- audit


def test_errors_within_their_tolerances_are_green(shaken: Run) -> None:
    rows = rows_of(shaken[3], "audit")
    assert [row[0] for row in rows] == ["Residual", "Gap", "Cone", "Momentum", "Energy"]
    assert [row[3] for row in rows] == ["✓ within"] * 5
    worst, tolerance = shaken[1]["audit"]["worst_residual"], shaken[1]["solver"]["tolerance"]
    for told, x in zip(rows[0][1:3], (worst, tolerance), strict=True):
        mantissa, exponent = told.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")).split(" × 10")
        assert abs(float(mantissa) * 10.0 ** int(exponent) - x) <= 0.051 * x


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ("worst_residual", "Residual"),
        ("worst_gap", "Gap"),
        ("worst_cone", "Cone"),
        ("momentum_balance", "Momentum"),
        ("energy_balance", "Energy"),
    ],
)
def test_an_error_beyond_its_tolerance_is_red(shaken: Run, key: str, label: str) -> None:
    summary = shaken[1] | {"audit": shaken[1]["audit"] | {key: 0.1}}
    assert [row["label"] for row in grasp_time_report.audit(summary) if row["good"] is False] == [label]


def test_the_explicit_scheme_has_its_stability_checked(shaken: Run) -> None:
    summary = shaken[1] | {
        "time": shaken[1]["time"] | {"scheme": "explicit"},
        "audit": shaken[1]["audit"] | {"unstable_share": 0.031, "worst_ratio": 17.5},
    }
    stability = grasp_time_report.audit(summary)[-1]
    assert stability["label"] == "Stability" and stability["value"] == "3.1\u202f%" and stability["good"] is False
    assert "17.5 times the bound" in stability["meaning"]


# --- the page as a whole


def test_titles_are_text_and_not_markup(small: Path) -> None:
    edit(small, lambda s: s.update(title="Shaken <b>sphere & hand"))
    html = page_of(small)[1]
    assert "Shaken &lt;b&gt;sphere &amp; hand" in html and "<b>sphere" not in html


def test_figures_have_no_stand_in_colors_left(shaken: Run) -> None:
    figures = "".join(re.findall(r"<svg .*?</svg>", shaken[3], re.S))
    assert figures and not re.search(r"#0([1-8])0\1(?:0\1)", figures)


def test_the_same_run_gives_the_same_bytes(shaken: Run, tmp_path: Path) -> None:
    again = tmp_path / "again.html"
    assert report(shaken[0], "-o", again).returncode == 0
    assert again.read_text(encoding="utf-8") == shaken[3]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s.pop("time"), "time: missing"),
        (lambda s: s["outcomes"].update(held=0), "outcomes: do not add up"),
        (lambda s: s["levels"].pop(), "levels: do not add up"),
        (lambda s: s["levels"].clear(), "levels: empty"),
        (lambda s: s["levels"][2].update(friction=None), "levels[2].friction: null"),
        (lambda s: s["levels"][1]["survival"]["slip"]["low"].pop(), "levels[1].survival: lists of different lengths"),
        (lambda s: s["levels"][0]["bands"]["drift"]["q05"].pop(), "levels[0].bands: lists of different lengths"),
        (lambda s: s["levels"][0]["bands"]["alive"].pop(), "levels[0].bands: lists of different lengths"),
        (lambda s: s["levels"][0]["slip_path"].pop("counts"), "levels[0].slip_path.counts: missing"),
        (lambda s: s["worst"][0].update(sample="1"), "worst[0].sample: expected an integer"),
    ],
)
def test_a_damaged_summary_is_refused_with_the_field(small: Path, change: Callable, said: str) -> None:
    edit(small, change)
    assert_refused(report(small), INVALID_FILE, "summary.json: " + said)


@pytest.mark.parametrize("key", ["time", "quaternion", "force_palm", "state"])
def test_a_missing_data_set_is_named(small: Path, key: str) -> None:
    with h5py.File(small / "motion.h5", "a") as file:
        del file[f"nominal/{key}"]
    with pytest.raises(DamagedFile, match=f"motion.h5: nominal/{key}: no such data set"):
        grasp_scene.read_motion(str(small))


def test_a_cut_motion_is_refused(small: Path) -> None:
    file = small / "motion.h5"
    file.write_bytes(file.read_bytes()[:2000])
    assert_refused(report(small), INVALID_FILE, "motion.h5: ")
    assert not (small / "report.html").exists()


def test_a_missing_summary_has_its_own_exit_code(small: Path) -> None:
    (small / "summary.json").unlink()
    assert_refused(report(small), INPUT_OUTPUT, "summary.json: no such file")


# --- scripts

PROBE = """<script>addEventListener("load", () => {
  const find = (id) => document.getElementById(id), hash = () => find("scene").toDataURL();
  const change = (id, value) => {
    find(id).value = value;
    find(id).dispatchEvent(new Event(id === "when" ? "input" : "change"));
  };
  const data = JSON.parse(find("motion-data").textContent), run = data.runs[1];
  const first = hash();
  change("run", 1);
  change("when", 9);
  const moved = hash();
  find("scene").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  const turned = hash();
  change("near", "object");
  const near = hash();
  const plots = document.querySelectorAll("[data-run-plot] svg").length;
  const bands = () => document.querySelector("[data-level-plot=drift]").innerHTML, before = bands();
  change("level", 5);
  const body = GraspScene.bodyPoints(run).map((p) => Math.abs(Math.hypot(...p) - RADIUS));
  const angle = Math.abs(GraspPage.turn(run)[9] - SPIN), exact = Math.max(...body) < 2e-4 && angle < 1e-2;
  const used = GraspPage.usage(run), most = Math.max(...used.lines.flatMap((l) => l.y));
  const slides = run.state.flat().includes(1) && Math.abs(most - 1) < 1e-3;  // all of its friction, and no more
  const spoken = find("now").textContent;
  document.querySelector("[data-show]").click();
  const changes = [first !== moved, moved !== turned, turned !== near, before !== bands()];
  console.log(`PROBE ${changes} ${plots} ${exact} ${slides} ${spoken}`);
});</script></body>"""


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here to run the page's scripts")
def test_the_scripts_run_without_errors_and_move_the_hand(shaken: Run, tmp_path: Path) -> None:
    run = data_of(shaken[3], "motion")["runs"][1]
    drift = 1e3 * np.linalg.norm(np.subtract(run["position"][9], run["position"][0]))
    turns = [2 * np.degrees(np.arcsin(np.linalg.norm(run["quaternion"][i][1:]))) for i in (0, 9)]
    with h5py.File(shaken[0] / "motion.h5") as file:
        probe = PROBE.replace("RADIUS", str(file.attrs["radius"])).replace("SPIN", str(turns[1] - turns[0]))
    said = console(shaken[3], probe, tmp_path)
    told = f"PROBE true,true,true,true 6 true true {run['time'][9]:.3f} s, drift {drift:.1f} mm"
    assert len(said) == 1 and told in said[0], said


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here to run the page's scripts")
@pytest.mark.parametrize("shape", ["box", "cylinder", "points"])
def test_every_shape_is_drawn(shaken: Run, tmp_path: Path, shape: str) -> None:
    html = shaken[3].replace('"shape":"sphere"', f'"shape":"{shape}"')
    probe = """<script>addEventListener("load", () => {
      const find = (id) => document.getElementById(id), start = find("scene").toDataURL();
      find("when").value = 20;
      find("when").dispatchEvent(new Event("input"));
      console.log(`PROBE ${start !== find("scene").toDataURL()} ${find("scene").toDataURL().length > 4000}`);
    });</script></body>"""
    said = console(html, probe, tmp_path)
    assert len(said) == 1 and "PROBE true true" in said[0], said


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here to run the page's scripts")
def test_a_page_without_motion_draws_its_level(single: Run, tmp_path: Path) -> None:
    probe = """<script>addEventListener("load", () =>
      console.log(`PROBE ${document.querySelectorAll("[data-level-plot] svg").length}`));</script></body>"""
    said = console(single[3], probe, tmp_path)
    assert len(said) == 1 and "PROBE 6" in said[0], said


# --- runs of the program


@pytest.mark.skipif(not PROGRAM, reason="GARRA_PROGRAM names no built program")
@pytest.mark.parametrize("scenario", scenarios_of("grasp in time"), ids=lambda path: path.stem)
def test_the_report_of_a_run_of_the_program(tmp_path: Path, scenario: Path) -> None:
    run = tmp_path / "run"
    done = subprocess.run([PROGRAM, "run", scenario, "--samples", "64", "-o", run], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page, html = page_of(run)
    summary = json.loads((run / "summary.json").read_text())
    assert_sound(page, html, SECTIONS)
    assert f"grasps {summary['samples']} " in page.text
    assert len(rows_of(html, "friction")) == len(summary["levels"])
    shown = data_of(html, "motion")
    assert shown["runs"][0]["sample"] is None and len(shown["runs"][0]["state"][0]) == len(summary["contacts"])
