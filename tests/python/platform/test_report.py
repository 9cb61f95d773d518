"""The reports of platform studies seen from outside: runs of the program, some of them changed, HTML read by html.parser.

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
from garra import platform_page
from garra.page.words import distribution
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

EVERY = ("estimate", "outcomes", "margins", "inputs", "samples", "reproduce")
OUTCOMES = ("feasible", "stroke", "cone", "collision", "singular", "force_limit", "tracking", "invalid")
CLIMB = "platform_climb"
GRID = ("--set", "map.points=[6,5,4]", "--set", "map.orientations=12")
PATH_SECTIONS = (*EVERY, "motion", "time", "envelope")
MAP_SECTIONS = (*EVERY, "map")
Run = tuple[Path, dict[str, Any], Page, str]


def percent(x: float, decimals: int = 1) -> str:
    return f"{100 * x:.{decimals}f} %"


@pytest.fixture(scope="module")
def climb(runs, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """With a title of markup, and upper joints that have no cone."""
    run = tmp_path_factory.mktemp("platform") / "climb"
    runs.copy(run, CLIMB)
    edit(run, lambda s: (s.update(title="climb <b>& turn"), unlimited(s["metrics"]["spherical_margin"])))
    with h5py.File(run / "path.h5", "r+") as file:
        file["spherical_margin"][...] = np.inf
    return run, json.loads((run / "summary.json").read_text()), *page_of(run)


def unlimited(table: dict[str, Any]) -> None:
    """As a distribution is whose values are all infinite."""
    table.update(mean=None, sd=None, quantiles=dict.fromkeys(table["quantiles"]), below=0, undefined=0)
    table.update(above=sum(table["counts"]), counts=[0] * len(table["counts"]))


@pytest.fixture(scope="module")
def workspace(runs, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = tmp_path_factory.mktemp("platform") / "workspace"
    summary = runs.copy(run, "platform_workspace", *GRID)
    with h5py.File(run / "map.h5", "r+") as file:
        for key in ("sigma_min", "worst_force"):
            file[key][0, 0, 0] = np.nan
    return run, summary, *page_of(run)


# --- a path


def test_a_report_of_a_path_is_sound_html_that_loads_nothing(climb: Run) -> None:
    assert_sound(*climb[2:], PATH_SECTIONS)


def test_the_page_opens_with_the_probability_and_its_interval(climb: Run) -> None:
    _, summary, page, _ = climb
    p, failed = summary["p_feasible"], summary["samples"] - summary["outcomes"]["feasible"]
    assert f"{percent(p['probability'])} 95 % interval: {percent(p['low'])} to {percent(p['high'])}" in page.text
    assert f"About {round(100 * p['probability'])} of 100 machines stay feasible." in page.text
    assert summary["outcomes"]["force_limit"] == failed > 0
    share = "100 %"
    assert f"What goes wrong first is most often force: {share} of the failures." in page.text
    assert f"failed {failed} " in page.text


def test_outcomes_and_first_legs_are_those_of_the_summary(climb: Run) -> None:
    _, summary, page, _ = climb
    for key in ("feasible", "force_limit"):
        assert summary["outcomes"][key] > 0 and f"{summary['outcomes'][key]:,} · " in page.text
    assert "None of the samples: stroke, joint angle, collision, near singular, tracking, invalid." in page.text
    assert f"an actuator would have to give more than {summary['allowed']['force']:g} N" in page.text
    legs = [sum(row[key] for key in OUTCOMES[1:]) for row in summary["first_failure"]["legs"]]
    for leg, n in enumerate(legs[1:]):
        share = percent(n / sum(legs), 0 if n in (0, sum(legs)) else 1)
        assert f" leg {leg} {share}" in page.text
    most = int(np.argmax(legs[1:]))
    assert f"Leg {most} fails first most often ({percent(legs[most + 1] / sum(legs))})." in page.text


def test_legs_that_fail_first_about_as_often_are_named_together(small: Path) -> None:
    def alike(s: dict[str, Any]) -> None:
        counts = {2: 20, 5: 19, 6: 11}
        for leg, row in enumerate(s["first_failure"]["legs"]):
            row["force_limit"] = counts.get(leg, 0)

    edit(small, alike)
    assert "Legs 1 and 4 fail first most often (78.0 % together)." in page_of(small)[0].text


def test_margins_are_shown_in_millimeters_and_degrees_and_unlimited_ones_left_out(climb: Run) -> None:
    _, summary, page, html = climb
    stroke = summary["metrics"]["stroke_margin"]["quantiles"]["0.5"]
    angle = summary["metrics"]["universal_margin"]["quantiles"]["0.05"]
    assert re.search(rf"50 % {int(1e3 * stroke)}\.\d+ mm", page.text)
    assert f"5 % {np.degrees(angle):.3g}" in page.text
    for key, drawn in (("spherical_margin", 0), ("universal_margin", 1)):
        assert html.count(f'aria-label="Histogram of the {axis_of(key, summary["metrics"][key])}"') == drawn
    assert "Upper joints" not in page.text  # no cone in path.h5 either


def test_quantiles_lie_in_the_bins_of_their_histograms(climb: Run) -> None:
    for key, table in climb[1]["metrics"].items():
        width, reached = (table["high"] - table["low"]) / len(table["counts"]), table["below"]
        counted = sum(table["counts"]) + table["below"] + table["above"]
        for p, value in table["quantiles"].items():
            ranks = np.cumsum([reached, *table["counts"]])
            place = int(np.searchsorted(ranks, float(p) * counted - 1e-9)) - 1
            if 0 <= place < len(table["counts"]):
                low = table["low"] + width * place
                assert low - 1e-9 * abs(low) <= value <= (low + width) * (1 + 1e-9) + 1e-12, (key, p)


def test_every_input_has_its_influence_and_groups_of_numbers_have_no_plot(climb: Run) -> None:
    _, summary, page, html = climb
    for row in summary["inputs"]:
        assert row["name"] in html
        assert distribution(row["distribution"], row["unit"]).replace("\u202f", " ") in page.text
    assert 'aria-label="Probability of staying feasible given payload.mass"' in html
    assert "given geometry.base_error" not in html
    assert summary["inputs"][0]["name"] == "payload.mass"
    mass = summary["inputs"][0]["influence"]
    assert f"{mass:.3f}" in html


def test_listed_samples_have_their_replay_commands(climb: Run) -> None:
    run, summary, page, _ = climb
    for row in summary["highest_force"]:
        assert f"garra replay {run} --sample {row['sample']}" in page.text
    first = summary["earliest"]["force_limit"][0]
    assert f"garra replay {run} --sample {first['sample']}" in page.text
    time = summary["first_failure"]["time"][int(first["instant"])]
    assert f"force {time:.3g} s garra replay" in page.text or f"force {1e3 * time:.3g} ms garra replay" in page.text


def test_the_animation_moves_through_the_poses_of_path_h5(climb: Run) -> None:
    with h5py.File(climb[0] / "path.h5") as file:
        shown = data_of(climb[3], "platform")
        for key in ("time", "position", "quaternion", "force", "base_anchors", "platform_anchors"):
            assert np.array_equal(np.array(shown[key]), file[key][...])


def test_lengths_and_forces_of_the_legs_are_in_the_table(climb: Run) -> None:
    with h5py.File(climb[0] / "path.h5") as file:
        for leg in range(6):
            assert f"<td>{1e3 * file['lengths'][:, leg].max():.1f}</td>" in climb[3]
            assert f"<td>{np.abs(file['force'][:, leg]).max():.1f}</td>" in climb[3]


def test_every_figure_of_a_path_is_there(climb: Run) -> None:
    labels = re.findall(r'<svg [^>]*aria-label="([^"]*)"', climb[3])
    loud = [row for row in climb[1]["inputs"] if row["influence"] > row["noise"] and row["bins"]]
    envelopes, over_time, histograms, others, inputs = 6, 6, 5, 4, min(len(loud), 6)
    assert len(labels) == envelopes + over_time + histograms + others + inputs
    figures = "".join(re.findall(r"<svg .*?</svg>", climb[3], re.S))
    assert not re.search(r"#0([1-8])0\1(?:0\1)", figures)  # every stand-in became a color of the page


def test_titles_are_text_and_not_markup(climb: Run) -> None:
    assert "climb &lt;b&gt;&amp; turn" in climb[3] and "<b>&" not in climb[3]


def test_the_same_run_gives_the_same_bytes(climb: Run, tmp_path: Path) -> None:
    again = tmp_path / "again.html"
    assert report(climb[0], "-o", again).returncode == 0
    assert again.read_text(encoding="utf-8") == climb[3]


@pytest.mark.parametrize(
    ("strength", "said"), [(100.0, "Not one sample failed; at most 1 in "), (0.3, "Every sample failed; at most 1 in ")]
)
def test_studies_without_failures_and_without_success(runs, tmp_path: Path, strength: float, said: str) -> None:
    summary = runs.copy(tmp_path, CLIMB)
    summary["outcomes"] |= dict.fromkeys(OUTCOMES, 0) | {
        "feasible" if strength > 1 else "force_limit": summary["samples"]
    }
    summary["p_feasible"] = {"probability": 1.0, "low": 0.91, "high": 1.0} if strength > 1 else {
        "probability": 0.0, "low": 0.0, "high": 0.09}  # fmt: skip
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    page, html = page_of(tmp_path)
    assert_sound(page, html, PATH_SECTIONS)
    assert said in page.text


def test_unsolved_samples_are_said(small: Path) -> None:
    edit(small, lambda s: s["outcomes"].update(invalid=3, feasible=s["outcomes"]["feasible"] - 3))
    page, html = page_of(small)
    assert_sound(page, html, PATH_SECTIONS)
    assert "3 samples (0.3 %) are unsolved and widen the interval on both sides." in page.text


def test_a_study_that_could_check_nothing(small: Path) -> None:
    def blank(s: dict[str, Any]) -> None:
        s["outcomes"] = dict.fromkeys(OUTCOMES, 0) | {"invalid": s["samples"]}
        s["p_feasible"] |= {"probability": None, "low": 0.0, "high": 1.0}
        s["convergence"] = {"samples": [s["samples"]], "probability": [None], "low": [0.0], "high": [1.0]}
        s["earliest"] = dict.fromkeys(OUTCOMES[1:], [])
        s["allowed"]["force"] = None
        for table in s["metrics"].values():
            table |= {
                "mean": None,
                "sd": None,
                "quantiles": dict.fromkeys(table["quantiles"]),
                "undefined": s["samples"],
            }
            table |= {"counts": [0] * len(table["counts"]), "below": 0, "above": 0}
        s["inputs"] = []
        s["first_failure"]["legs"] = [dict.fromkeys(OUTCOMES[1:], 0) for _ in range(7)]
        s["first_failure"]["count"] = [0] * s["path"]["instants"]
        s["peak_force_at"]["count"] = [0] * s["path"]["instants"]

    edit(small, blank)
    page, html = page_of(small)
    assert_sound(page, html, PATH_SECTIONS)
    assert "no sample could be decided" in page.text and "The scenario has no uncertain input." in page.text


# --- a map


def test_a_report_of_a_map_is_sound_html_that_loads_nothing(workspace: Run) -> None:
    assert_sound(*workspace[2:], MAP_SECTIONS)


def test_the_map_has_the_numbers_of_map_h5_and_none_where_there_is_none(workspace: Run) -> None:
    shown = data_of(workspace[3], "platform")
    with h5py.File(workspace[0] / "map.h5") as file:
        for key in ("x", "y", "z", "feasible_share", "sigma_min", "worst_force"):
            values = np.array(shown[key], dtype=float)
            assert np.array_equal(values, file[key][...], equal_nan=True)
    assert shown["sigma_min"][0][0][0] is None


def test_the_map_says_how_many_positions_are_feasible(workspace: Run) -> None:
    _, summary, page, _ = workspace
    nodes, total = summary["nodes"], summary["map"]["nodes"]
    some = total - nodes["always"] - nodes["never"]
    assert f"Of {total} positions {nodes['always']} are feasible in every orientation tried, {some} in " in page.text
    assert (
        f"6 × 5 × 4 positions 12 orientations at each actuators: at most {summary['allowed']['force']:g} N" in page.text
    )


# --- scripts


PATH_PROBE = """<script>addEventListener("load", () => {
  const find = (id) => document.getElementById(id), hash = () => find("scene").toDataURL();
  const before = hash();
  find("when").value = 20;
  find("when").dispatchEvent(new Event("input"));
  const moved = hash();
  find("scene").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  const data = JSON.parse(find("platform-data").textContent);
  const off = data.time.flatMap((_, i) => PlatformScene.tips(data, i).map((tip, leg) =>
    Math.abs(Math.hypot(...tip.map((v, c) => v - data.base_anchors[leg][c])) - data.lengths[i][leg])));
  const down = Space.turned(Space.uprightness(data.gravity), data.gravity);
  const exact = Math.max(...off, Math.abs(down[0]), Math.abs(down[1])) < 1e-9 && down[2] < 0;
  console.log(`PROBE ${before !== moved} ${moved !== hash()} ${exact} ${find("now").textContent}`);
});</script></body>"""
MAP_PROBE = """<script>addEventListener("load", () => {
  const find = (id) => document.getElementById(id);
  const drawn = () => { window.garraMap.draw(); return find("cloud").toDataURL() + find("slice").toDataURL(); };
  const before = drawn();
  find("cut").value = 0;
  find("cut").dispatchEvent(new Event("input"));
  const cut = drawn();
  find("measure").value = "worst_force";
  find("measure").dispatchEvent(new Event("change"));
  console.log(`PROBE ${before !== cut} ${cut !== drawn()} ${find("where").textContent}`);
});</script></body>"""


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here to run the page's scripts")
def test_the_scripts_run_without_errors_and_move_the_platform(climb: Run, tmp_path: Path) -> None:
    said = console(climb[3], PATH_PROBE, tmp_path)
    with h5py.File(climb[0] / "path.h5") as file:
        largest, time = np.abs(file["force"][20]).max(), file["time"][20]
    assert len(said) == 1 and f"PROBE true true true {time:.2f} s; largest force {largest:.1f} N" in said[0], said


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here to run the page's scripts")
def test_the_map_opens_at_the_cut_and_shows_other_numbers(workspace: Run, tmp_path: Path) -> None:
    said = console(workspace[3], MAP_PROBE, tmp_path)
    lowest = data_of(workspace[3], "platform")["z"][0]
    assert len(said) == 1 and f"PROBE true true z = {1e3 * lowest:.0f} mm" in said[0], said


# --- one motion


def test_the_page_of_one_motion_shows_the_numbers_of_the_file(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, CLIMB)
    with h5py.File(tmp_path / "path.h5") as file:
        data = {key: file[key][...] for key in ("lengths", "quaternion")}
    assert platform_page.main([str(tmp_path / "path.h5"), "-o", str(tmp_path / "page.html")]) == 0
    html = (tmp_path / "page.html").read_text()
    assert_sound(Page(html), html, ("motion", "time"))
    for leg in range(6):
        assert f"<td>{1e3 * data['lengths'][:, leg].max():.1f}</td>" in html
    assert np.array_equal(data_of(html, "platform")["quaternion"], data["quaternion"])


@pytest.fixture()
def simulated(tmp_path: Path) -> Path:
    """Two samples of the program: one is carried, the other falls from rest until its legs are too short."""
    if not PROGRAM:
        pytest.skip("GARRA_PROGRAM names no built program")
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    with h5py.File(source, "w") as file:
        file["position"] = [[0, 0, 1.15]] * 2
        file["quaternion"] = [[1.0, 0, 0, 0]] * 2
        file["force"] = [[64.0] * 6, [0.0] * 6]
    flags = ["--duration", "1", "--output-interval", "0.05", "--watch-limits", "--device", "cpu"]
    command = [PROGRAM, "platform", "simulate", "trepa_like", source, "-o", out, *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return out


def test_a_simulated_sample_is_shown_until_it_ends_with_its_energies(simulated: Path, tmp_path: Path) -> None:
    command = [str(simulated), "--sample", "1", "-o", str(tmp_path / "page.html")]
    assert platform_page.main(command) == 0
    html = (tmp_path / "page.html").read_text()
    page, shown = Page(html), data_of(html, "platform")
    assert_sound(page, html, ("motion", "time"))
    with h5py.File(simulated) as file:
        position, times = file["position"][1], file["times"][...]
    instants = int(np.isfinite(position[:, 2]).sum())
    assert 1 < instants < len(times) and np.array_equal(np.array(shown["position"]), position[:instants])
    fallen = position[0, 2] - 9.81 * times[:instants] ** 2 / 2  # nothing holds it
    assert np.abs(np.array(shown["position"])[:, 2] - fallen).max() < 2e-3  # legs have a little mass, too
    assert len(shown["time"]) == instants and "sample 1" in page.text
    assert f"ends at {times[instants - 1]:g} s: stroke_limit" in page.text
    labels = re.findall(r'<svg [^>]*aria-label="([^"]*)"', html)
    assert labels == ["length [mm] over time", "Energies over time", "Energy balance over time", "Drift over time"]


def test_a_sample_that_is_not_there_is_refused(
    simulated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [str(simulated), "--sample", "2", "-o", str(tmp_path / "page.html")]
    assert platform_page.main(command) == INVALID_FILE
    assert "sample 2: the file has 2 samples, from 0" in capsys.readouterr().err


# --- errors: a message and an exit code, never a traceback


@pytest.fixture()
def small(runs, tmp_path: Path) -> Path:
    runs.copy(tmp_path, CLIMB)
    return tmp_path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s["p_feasible"].pop("low"), "p_feasible.low: missing"),
        (lambda s: s.update(kind="dance"), 'kind: is "dance"; only "path" and "map" have a report'),
        (lambda s: s.pop("path"), "path: missing"),
        (lambda s: s["outcomes"].update(stroke=99), "outcomes: do not add up to the 1024 samples"),
        (lambda s: s["first_failure"]["legs"].pop(), "first_failure.legs: has 6 entries, expected 7"),
        (lambda s: s["first_failure"]["time"].pop(), "first_failure: time and count: lists of different lengths"),
        (lambda s: s["metrics"]["clearance"].pop("counts"), "metrics.clearance.counts: missing"),
        (lambda s: s["inputs"][0]["bins"]["value"].pop(), "inputs[0].bins: lists of different lengths"),
        (lambda s: s["convergence"]["low"].pop(), "convergence: lists of different lengths"),
        (lambda s: s["highest_force"][0].update(sample="1"), "highest_force[0].sample: expected an integer"),
    ],
)
def test_a_damaged_summary_is_refused_with_the_field(small: Path, change: Callable, said: str) -> None:
    edit(small, change)
    assert_refused(report(small), INVALID_FILE, "summary.json: " + said)


def test_missing_and_cut_motions_are_told_apart(small: Path) -> None:
    file = small / "path.h5"
    file.write_bytes(file.read_bytes()[:2000])
    assert_refused(report(small), INVALID_FILE, "path.h5: ")
    file.unlink()
    assert_refused(report(small), INPUT_OUTPUT, "path.h5: no such file")
    assert not (small / "report.html").exists()


@pytest.mark.parametrize("key", ["time", "quaternion", "force", "base_anchors"])
def test_a_missing_data_set_is_named(small: Path, capsys: pytest.CaptureFixture[str], key: str) -> None:
    with h5py.File(small / "path.h5", "r+") as file:
        del file[key]
    assert platform_page.main([str(small / "path.h5"), "-o", str(small / "page.html")]) == INVALID_FILE
    assert f"{key}: no such data set" in capsys.readouterr().err
    assert not (small / "page.html").exists()


def test_a_missing_file_has_its_own_exit_code(tmp_path: Path) -> None:
    assert platform_page.main([str(tmp_path / "no.h5"), "-o", str(tmp_path / "page.html")]) == INPUT_OUTPUT


def test_a_flat_map_is_cut_along_what_it_has(runs, tmp_path: Path) -> None:
    flat = ("map.points=[5,1,4]", "map.low=[-0.6,-0.25,0.8]", "map.high=[0.6,-0.25,1.8]", "map.orientations=4")
    runs.copy(tmp_path, "platform_workspace", *(flag for text in flat for flag in ("--set", text)))
    page, html = page_of(tmp_path)
    assert_sound(page, html, MAP_SECTIONS)
    assert data_of(html, "platform")["y"] == [-0.25]


def test_a_map_whose_axis_falls_is_refused(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, "platform_workspace", *GRID)
    with h5py.File(tmp_path / "map.h5", "r+") as file:
        file["y"][...] = file["y"][...][::-1]
    assert_refused(report(tmp_path), INVALID_FILE, "map.h5: y: expected growing numbers")


# --- runs of the program


@pytest.mark.skipif(not PROGRAM, reason="GARRA_PROGRAM names no built program")
@pytest.mark.parametrize("scenario", scenarios_of("platform"), ids=lambda path: path.stem)
def test_the_report_of_a_run_of_the_program(tmp_path: Path, scenario: Path) -> None:
    run = tmp_path / "run"
    less = ["--set", "map.orientations=1"] if "[map]" in scenario.read_text() else ["--samples", "256"]
    done = subprocess.run([PROGRAM, "run", scenario, *less, "-o", run], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page, html = page_of(run)
    summary = json.loads((run / "summary.json").read_text())
    assert_sound(page, html, PATH_SECTIONS if summary["kind"] == "path" else MAP_SECTIONS)
    assert f"{summary['outcomes']['feasible']:,} · " in page.text


def test_a_climb_shows_its_animation_and_its_nominal_cycle(runs, tmp_path):
    summary = runs.copy(tmp_path, "platform_climb_trunk", "--samples", "64")
    page, html = page_of(tmp_path)
    assert_sound(page, html, ("estimate", "outcomes", "climb", "cycle", "metrics", "inputs"))
    assert summary["outcomes"]["climbed"] > 0 and sum(summary["outcomes"].values()) == 64
    assert html.count("<animate ") == 6 * 2 + 2 * 2 and "Friction margin over time" not in page.text
    with h5py.File(tmp_path / "climb.h5", "a") as h5:
        del h5["lower"]
    assert_refused(report(tmp_path), INVALID_FILE, "climb.h5: lower: no such data set")
