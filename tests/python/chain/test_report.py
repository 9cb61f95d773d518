"""The report of a chain study seen from outside: runs of the program, some of them changed, HTML read by html.parser.

Where a Chromium is installed, the page's scripts run as well; elsewhere that test says that it was skipped.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hanging_chain import LENGTH, OUTPUTS, SETTLE, UNTIL, write
from pages import (
    CHROMIUM,
    INPUT_OUTPUT,
    INVALID_FILE,
    PROGRAM,
    Page,
    assert_granted,
    assert_refused,
    console,
    edit,
    page_of,
    report,
    scenarios_of,
)

SECTIONS = ("estimate", "sweep", "motion", "trajectories", "settling", "outcomes", "samples", "inputs", "reproduce")
MOST_BYTES = 4_000_000
OUTCOMES = ("settled", "late", "joint_limit", "non_finite", "step_limit", "invalid_input", "completed")
DAMPING = [0.05, 0.08, 0.13, 0.2, 0.32, 0.5, 0.8]
Run = tuple[Path, dict[str, Any], Page, str]


def assert_sound(page: Page, html: str) -> None:
    """Closed tags, unique ids, every section, and nothing that a browser would fetch."""
    assert html.startswith("<!DOCTYPE html>")
    assert_granted(page, html)
    assert not page.faults
    assert [name for name, times in page.ids.items() if times > 1] == []
    plain = "settling" not in page.ids  # a simulation without [settle]
    assert [name for name in SECTIONS if page.ids[name] != 1 and not (plain and name == "settling")] == []
    assert all(reference.startswith("#") and reference[1:] in page.ids for reference in page.references)
    assert not re.search(r"https?:|src=|<link|@import|\bimport\b|fetch\(|XMLHttpRequest", html)
    assert all(target.startswith("#") for target in re.findall(r"url\((.*?)\)", html))
    assert len(html.encode()) < MOST_BYTES
    assert not {"nan", "inf", "-inf", "undefined"} & set(page.text.split())


def motion_of(html: str) -> dict[str, Any]:
    return json.loads(re.search(r'<script type="application/json" id="chain-data">(.*?)</script>', html, re.S)[1])


def significant(x: float, digits: int = 3) -> str:
    """A number as the page writes it, by other means than the page's."""
    text = f"{float(f'{x:.{digits}g}'):f}".rstrip("0").rstrip(".")
    return text if x < 1000 else f"{float(text):,.0f}"


def joules(x: float) -> str:
    exponent = -3 * math.floor(math.log10(x) / 3)
    return significant(x * 10.0**exponent) + " " + {0: "", 3: "m", 6: "µ", 9: "n"}[exponent] + "J"


def write_run(
    runs: Any, to: Path, joints: str = "rr", sweep: dict[str, list[float]] | None = None, samples: int = 48
) -> Any:
    """Fills `to` with a run of the program; its summary. `samples` per design."""
    sweep = {"vary.damping": DAMPING} if sweep is None else sweep
    name = f"hanging {joints} {samples} {json.dumps(sweep)}"
    return runs.copy(to, name, write=lambda folder: write(folder, joints, sweep, samples))


@pytest.fixture(scope="module")
def swept(runs, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two revolute joints, damping swept."""
    run = tmp_path_factory.mktemp("chain") / "swept"
    summary = write_run(runs, run, samples=60)
    return run, summary, *page_of(run)


# --- a complete run


def test_a_report_is_sound_html_that_loads_nothing(swept: Run) -> None:
    assert_sound(*swept[2:])


def test_the_page_opens_with_the_best_design(swept: Run) -> None:
    _, summary, page, _ = swept
    best = summary["designs"][summary["best"]["design"]]
    assert 0 < best["probability"] <= 1
    assert summary["best"]["why"] and best["probability"] > 0.5
    damping, p = significant(best["values"][0]), f"{100 * best['probability']:.1f} %".replace("100.0", "100")
    median = significant(1e3 * best["settling_time"]["quantiles"]["0.5"])
    sentence = (
        f"With damping {damping} N·m·s/rad the chain settles within {1e3 * SETTLE['within']:g} ms "
        f"with probability {p}; median settling time {median} ms."
    )
    assert sentence in page.text
    high = f"{100 * best['high']:.1f}"
    if high == "100.0":  # said only where it is exactly that
        high = "100" if best["high"] == 1 else f"{100 * best['high']:.2f}"
    assert f"95 % interval: {100 * best['low']:.1f} % to {high} %" in page.text
    assert summary["best"]["why"] in page.text
    assert page.text.index(sentence) < page.text.index("Table of designs")


def test_peak_torques_of_the_best_design_are_listed_per_joint(swept: Run) -> None:
    _, summary, page, _ = swept
    best = summary["designs"][summary["best"]["design"]]
    for name, torque, speed in zip(
        summary["robot"]["joint_names"], best["peak_torque"], best["peak_speed"], strict=True
    ):
        low, middle, high = (significant(torque["quantiles"][q]) for q in ("0.05", "0.5", "0.95"))
        rate = significant(math.degrees(speed["quantiles"]["0.5"]))
        assert f"{name} {middle} N·m {low} N·m to {high} N·m {rate} °/s".replace(" °", "°") in page.text


def test_every_design_is_in_the_table(swept: Run) -> None:
    _, summary, page, _ = swept
    table = page.text[page.text.index("Table of designs") : page.text.index("Choose up to three")]
    for design in summary["designs"]:
        assert f"{significant(design['values'][0])} N·m·s/rad" in table
        assert joules(design["worst_balance"]) in table
        for q in ("0.05", "0.5", "0.95"):
            time = design["settling_time"]["quantiles"][q]
            assert (f"{significant(1e3 * time)} ms" if time is not None else f"> {1e3 * UNTIL:g} ms") in table


def test_outcomes_slowest_samples_and_balances_are_those_of_the_summary(swept: Run) -> None:
    run, summary, page, _ = swept
    for outcome in ("settled", "late"):
        assert f"{summary['outcomes'][outcome]:,} · " in page.text
    none = page.text.partition("None of the samples: ")[2]
    assert "joint limit, non-finite, step limit, invalid input" in none
    for row in summary["slowest"]:
        time = "never" if row["settling_time"] is None else f"{significant(1e3 * row['settling_time'])} ms"
        assert f"{time} garra replay {run} --sample {row['sample']} " in page.text
    for row in summary["worst"]:
        assert f"garra replay {run} --sample {row['sample']} " in page.text
    assert f"{joules(max(d['worst_balance'] for d in summary['designs']))} among completed samples" in page.text


def test_every_figure_is_there(swept: Run) -> None:
    html = swept[3]
    joints = 2
    probability, settling, energy, balance, survival, convergence = (1,) * 6
    assert (
        len(re.findall(r"<svg [^>$]*viewBox", html)) + 1
        == probability + settling + joints + energy + balance + survival + convergence + 1
    )
    # The last one is the text of the script that draws the others:
    kinds = ("q", "phase", "torque", "energy", "poses", "balance", "tip")
    plots = [html.count(f'data-plot="{kind}"') for kind in kinds]
    assert plots == [joints, joints, joints, 3, 3, 1, 1]  # a plane motion: one view of the tip's path
    assert html.count('<canvas id="scene"') == 1


def test_the_animation_moves_through_the_points_of_nominal_h5(swept: Run) -> None:
    run, summary, _, html = swept
    motion = motion_of(html)
    assert [joint["name"] for joint in motion["joints"]] == summary["robot"]["joint_names"]
    assert motion["chosen"][0] == summary["best"]["design"] and len(motion["designs"]) == len(summary["designs"])
    with h5py.File(run / "nominal.h5") as file:
        np.testing.assert_allclose(np.array(motion["times"]) / 1e3, file["times"], rtol=1e-4)
        for d, design in enumerate(motion["designs"]):
            np.testing.assert_allclose(design["points"], file["points"][d].ravel(), rtol=1e-4, atol=1e-12)
            np.testing.assert_allclose(design["q"], np.degrees(file["q"][d].T), rtol=1e-4, atol=1e-12)
            np.testing.assert_allclose(design["torque"], file["torque"][d].T, rtol=1e-4, atol=1e-12)
            work = {"J": 1, "mJ": 1e3, "µJ": 1e6}[motion["energy"]] * file["work"][d]
            np.testing.assert_allclose(design["energies"][3], work, rtol=1e-4, atol=1e-12)


def test_the_ghost_is_the_chain_at_its_set_point(swept: Run) -> None:
    a, b = swept[1]["settle"]["at"]
    elbow = LENGTH * np.array([math.sin(a), 0, -math.cos(a)])
    tip = elbow + LENGTH * np.array([math.sin(a + b), 0, -math.cos(a + b)])
    assert np.abs(np.array(motion_of(swept[3])["ghost"])[2:] - [elbow, tip]).max() < 2 * LENGTH * SETTLE["band"]


def test_names_and_titles_are_text_and_not_markup(swept: Run) -> None:
    _, summary, page, html = swept
    assert "<arm>" not in html and summary["title"] in page.text


def test_the_scenario_the_command_and_the_device_are_quoted(swept: Run) -> None:
    run, _, page, html = swept
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["command"] in page.text and manifest["device"] in page.text
    assert "file = &#34;" in html and "kind = &#34;pd&#34;" in html


def test_the_same_run_gives_the_same_bytes(swept: Run, tmp_path: Path) -> None:
    again = tmp_path / "again.html"
    assert report(swept[0], "-o", again).returncode == 0
    assert again.read_text(encoding="utf-8") == swept[3]


PROBE = """<script>addEventListener("load", () => {
  const find = (id) => document.getElementById(id), hash = () => find("scene").toDataURL();
  const before = hash();
  find("time").value = 0.5;
  find("time").dispatchEvent(new Event("input"));
  const moved = hash();
  find("scene").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  const plots = document.querySelectorAll("[data-plot] svg").length;
  console.log(`PROBE ${before !== moved} ${moved !== hash()} ${plots} ${find("now").textContent}`);
});</script></body>"""


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here to run the page's scripts")
def test_the_scripts_run_without_errors_and_move_the_chain(swept: Run, tmp_path: Path) -> None:
    said = console(swept[3], PROBE, tmp_path)
    assert len(said) == 1 and f"PROBE true true 14 {500 * UNTIL:.0f} ms" in said[0], said


# --- other studies


def test_two_swept_keys_are_heat_maps_and_joints_may_slide(runs, tmp_path: Path) -> None:
    sweep = {"vary.damping": [0.2, 0.6], "torque.kp": [1.0, 3.0, 9.0]}
    write_run(runs, tmp_path, joints="rrp", sweep=sweep, samples=12)
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "torque kp: 1 N·m/rad, 3 N·m/rad, 9 N·m/rad" in page.text
    assert len(re.findall(r'<svg [^>]*aria-label="[^"]* over the two swept numbers"', html)) == 4
    kinds = [(joint["prismatic"], joint["q"], joint["torque"]) for joint in motion_of(html)["joints"]]
    assert kinds == [(False, "°", "N·m")] * 2 + [(True, "mm", "N")]


def test_a_study_without_a_sweep_has_one_design(runs, tmp_path: Path) -> None:
    write_run(runs, tmp_path, joints="r", sweep={}, samples=20)
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "The scenario sweeps nothing" in page.text and "The chain settles within 520 ms" in page.text


def test_a_spatial_motion_has_three_views_of_the_tip_and_one_that_ended_early_says_so(runs, tmp_path: Path) -> None:
    write_run(runs, tmp_path, sweep={"vary.damping": [0.2, 0.3]}, samples=4)
    with h5py.File(tmp_path / "nominal.h5", "r+") as file:
        turned, angle = file["points"][...], 3 * file["times"][...][:, None]
        turned[..., 1] = np.sin(angle) * turned[..., 0]
        file["points"][...] = turned
        for name in ("q", "qd", "torque", "tip", "points", "kinetic_energy", "potential_energy", "work", "balance"):
            file[name][0, 90:] = math.nan
        file["status"][0] = 3
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert html.count('data-plot="tip"') == 3 and "1 ended early: joint limit" in page.text
    motion = motion_of(html)
    ended = [design for design in motion["designs"] if design["status"] == "joint limit"]
    assert len(ended) == 1 and ended[0]["q"][0][89] is not None and ended[0]["q"][0][90] is None


def test_three_swept_keys_are_a_table(runs, tmp_path: Path) -> None:
    sweep = {"vary.damping": [0.1, 0.2], "torque.kp": [1, 2], "vary.size": [1]}
    write_run(runs, tmp_path, joints="r", sweep=sweep, samples=4)
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "3 numbers are swept: too many for a picture" in page.text


def test_a_single_value_of_the_swept_key(runs, tmp_path: Path) -> None:
    write_run(runs, tmp_path, joints="r", sweep={"vary.damping": [0.2]}, samples=8)
    assert_sound(*page_of(tmp_path))


def test_no_design_that_settles_is_said_first(runs, tmp_path: Path) -> None:
    summary = write_run(runs, tmp_path, joints="r", sweep={"vary.damping": [1e-3, 2e-3]}, samples=8)
    assert summary["best"] is None
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "No design settles in time likeliest: 0 %" in page.text
    assert "Not one of 16 samples settles within 520 ms." in page.text


def blank(table: dict[str, Any]) -> None:
    """A distribution of samples without values."""
    total = sum(table["counts"]) + table["below"] + table["above"] + table["undefined"]
    table.update(mean=None, sd=None, quantiles=dict.fromkeys(table["quantiles"]), below=0, above=0, undefined=total)
    table["counts"] = [0] * len(table["counts"])


def unsolve(summary: dict[str, Any]) -> None:
    """Every sample ends as not finite."""
    for design in summary["designs"]:
        design["outcomes"] = dict.fromkeys(OUTCOMES, 0) | {"non_finite": design["samples"]}
        design.update(probability=0.0, low=0.0, high=1.0, worst_balance=None)
        for table in [design["settling_time"], *design["peak_torque"], *design["peak_speed"]]:
            blank(table)
        blank(design["work"])
        blank(design["dissipated"])
    summary["outcomes"] = dict.fromkeys(OUTCOMES, 0) | {"non_finite": summary["samples"]}
    empty = {"samples": [], "probability": [], "low": [], "high": []}
    summary.update(best=None, worst=[], slowest=[], convergence=empty, failures_kept=0)


@pytest.mark.parametrize("sweep", [{"vary.damping": [0.1, 0.2]}, {"vary.damping": [0.1, 0.2], "torque.kp": [1, 3]}])
def test_no_sample_completed(runs, tmp_path: Path, sweep: dict[str, list[float]]) -> None:
    write_run(runs, tmp_path, sweep=sweep, samples=6)
    edit(tmp_path, unsolve)
    with h5py.File(tmp_path / "nominal.h5", "r+") as file:
        for name in ("q", "qd", "torque", "tip", "points", "kinetic_energy", "potential_energy", "dissipated", "work"):
            file[name][:, 1:] = math.nan
        file["balance"][:, 1:] = math.nan
        file["settling_time"][...] = math.inf
        file["status"][...] = 1
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "No sample completed, so no design can be compared." in page.text
    assert "(100 %) are unsolved and widen the intervals" in page.text
    assert motion_of(html)["designs"][0]["status"] == "non finite"


def test_designs_without_any_sample_have_no_probability(runs, tmp_path: Path) -> None:
    write_run(runs, tmp_path, joints="r", sweep={"vary.damping": [0.1, 0.2]}, samples=4)

    def cut(summary: dict[str, Any]) -> None:
        unsolve(summary)
        for design in summary["designs"]:
            design.update(samples=0, probability=None, low=None, high=None, outcomes=dict.fromkeys(OUTCOMES, 0))
        summary.update(samples=0, stopped_by="time_limit", outcomes=dict.fromkeys(OUTCOMES, 0))

    edit(tmp_path, cut)
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "0 of 8 samples: stopped at its time limit" in page.text and f"garra resume {tmp_path}" in page.text


def test_a_hostile_name_is_text_everywhere(runs, tmp_path: Path) -> None:
    write_run(runs, tmp_path, joints="r", sweep={"vary.damping": [0.1, 0.2]}, samples=4)
    name = '</script><b onload="x">$\\frac$ & "q"'
    edit(tmp_path, lambda s: (s.update(title=name), s["robot"].update(name=name, joint_names=[name])))
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    assert "<b onload" not in html and page.text.count(name) >= 3
    assert motion_of(html)["joints"][0]["name"] == name


def test_many_designs_leave_the_page_small(runs, tmp_path: Path) -> None:
    sweep = {"vary.damping": np.linspace(0.2, 0.6, 8).tolist(), "torque.kp": np.linspace(1, 3, 8).tolist()}
    write_run(runs, tmp_path, joints="rrprrr", sweep=sweep, samples=1)
    page, html = page_of(tmp_path)
    assert_sound(page, html)
    motion = motion_of(html)
    assert "have no trajectory on this page" in page.text and 2 < len(motion["designs"]) < 64
    assert "The 40 likeliest of 64" in page.text


# --- errors: a message and an exit code, never a traceback


@pytest.fixture()
def small(runs, tmp_path: Path) -> Path:
    write_run(runs, tmp_path, joints="r", sweep={"vary.damping": [0.1, 0.2]}, samples=4)
    return tmp_path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s["settle"].pop("within"), "settle.within: missing"),
        (lambda s: s["designs"][1]["peak_torque"][0].pop("counts"), "designs[1].peak_torque[0].counts: missing"),
        (lambda s: s["designs"][1]["peak_torque"].pop(), "designs[1].peak_torque: has 0 entries for 1 joints"),
        (lambda s: s["robot"]["units"].append("m"), "robot.units: has 2 entries for 1 joints"),
        (lambda s: s["designs"].pop(), "designs: are 1; the sweep has 2 combinations"),
        (lambda s: s["designs"][0]["outcomes"].update(late=9), "designs[0].outcomes: do not add up to the 4 samples"),
        (lambda s: s["best"].update(design=7), "best.design: is 7; there are 2 designs"),
        (lambda s: s["settle"].update(at=["0"]), "settle.at[0]: expected an integer or a number, found a text"),
        (lambda s: s["convergence"]["low"].pop(), "convergence: lists of different lengths"),
    ],
)
def test_a_damaged_summary_is_refused_with_the_field(small: Path, change: Callable, said: str) -> None:
    edit(small, change)
    assert_refused(report(small), INVALID_FILE, "summary.json: " + said)


def remove(name: str) -> Callable[[h5py.File], None]:
    return lambda file: file.pop(name)


def reshape(file: h5py.File) -> None:
    points = file.pop("points")[...]
    file["points"] = points[:, :, :-1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (remove("points"), "points: no such data set"),
        (remove("design"), "design: no such data set"),
        (reshape, f"points: expected numbers [2, {OUTPUTS}, 3, 3], found float64 [2, {OUTPUTS}, 2, 3]"),
        (lambda file: file["status"].attrs.pop("names"), "status: attribute `names` is missing"),
        (lambda file: file["design"].write_direct(np.array([0, 5], dtype=np.int32)), "design: names a design beyond"),
    ],
)
def test_damaged_trajectories_are_refused_with_the_dataset(small: Path, change: Callable, said: str) -> None:
    with h5py.File(small / "nominal.h5", "r+") as file:
        change(file)
    assert_refused(report(small), INVALID_FILE, f"{small / 'nominal.h5'}: {said}")


def test_missing_and_cut_trajectories_are_told_apart(small: Path) -> None:
    path = small / "nominal.h5"
    path.write_bytes(path.read_bytes()[:2000])
    assert_refused(report(small), INVALID_FILE, "nominal.h5: not a whole HDF5 file")
    path.unlink()
    assert_refused(report(small), INPUT_OUTPUT, "nominal.h5: no such file", f"garra resume {small}")
    assert not (small / "report.html").exists()


# --- runs of the program


@pytest.mark.skipif(not PROGRAM, reason="GARRA_PROGRAM names no built program")
@pytest.mark.parametrize("scenario", scenarios_of("chain"), ids=lambda path: path.stem)
def test_the_report_of_a_run_of_the_program(tmp_path: Path, scenario: Path) -> None:
    run = tmp_path / "run"
    done = subprocess.run([PROGRAM, "run", scenario, "--samples", "64", "-o", run], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page, html = page_of(run)
    assert_sound(page, html)
    summary = json.loads((run / "summary.json").read_text())
    if summary["best"]:  # else nothing is to settle
        best = summary["designs"][summary["best"]["design"]]
        shown = f"{100 * best['probability']:.1f}".removesuffix(".0")  # 100 %, not 100.0 %
        assert re.search(rf"{re.escape(shown)}(\.0)? %", page.text.replace("\u202f", " "))
    with h5py.File(run / "nominal.h5") as file:
        shown = motion_of(html)
        assert len(shown["designs"]) == len(file["design"])
