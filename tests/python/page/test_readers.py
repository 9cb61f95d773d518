"""What readers of the reports tripped over: cut commands, pictures without labels, numbers as programs write them.

Runs are the program's, some of them changed. The last tests open pages in a browser at the width of a desk and of a phone, where one is installed.
"""

from __future__ import annotations

import html as entities
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from garra.grasp import words as grasp_words
from garra.page import words
from pages import INVALID_FILE, MOST_BYTES, ROOT, Page, assert_refused, edit, granted, page_of, report

NARROW = "\u202f"
MOST_TICK = 1.3  # of the friction at which the curve has come to its end
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

SPHERE = "three_puma_sphere"
Seen = tuple[Path, dict, Page, str]


@pytest.fixture(scope="module")
def pictured(runs, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    run = tmp_path_factory.mktemp("runs") / "pictured"
    summary = runs.copy(run, SPHERE)
    return run, summary, *page_of(run)


@pytest.fixture(scope="module")
def shaken(runs, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    run = tmp_path_factory.mktemp("runs") / "shaken"
    summary = runs.copy(run, "three_puma_shake")
    return run, summary, *page_of(run)


def figure_of(html: str, title: str) -> str:
    found = re.search(rf'<svg [^>]*aria-label="{title}".*?</svg>', html, re.S)
    assert found, title
    return found[0]


# --- the picture of a grasp


def picture_of(html: str) -> dict:
    return json.loads(re.search(r'id="picture-data">(.*?)</script>', html, re.S)[1])


def test_the_instant_report_shows_the_samples_of_grasp_h5(pictured: Seen) -> None:
    run, _, page, html = pictured
    assert not page.faults and "The grasp" in page.text and page.ids["scene"] == page.ids["scene-near"] == 1
    data = picture_of(html)
    with h5py.File(run / "grasp.h5") as file:
        assert len(data["runs"]) == len(file)
        for told in data["runs"]:
            group = file["nominal" if told["sample"] is None else f"sample_{told['sample']}"]
            for key in ("position", "normal", "force", "force_palm"):
                stored = group[key][()].tolist()
                assert all(abs(a - b) < 1e-3 for a, b in zip(flat(told[key]), flat(stored), strict=True)), key
            assert told["mu"] == list(group.attrs["mu"]) and told["scale"] == group.attrs["scale"]
    assert data["runs"][0]["sample"] is None
    names = [entities.unescape(name) for name in re.findall(r"<option value=.\d+.>(.*?)</option>", html)]
    assert names[0] == "Nominal, held"
    for told, name in zip(data["runs"][1:], names[1:], strict=True):
        assert f"ample {told['sample']}, " in name


def flat(value: object) -> list[float]:
    return [x for item in value for x in flat(item)] if isinstance(value, list) else [value]  # type: ignore[list-item]


def test_listed_samples_lead_to_their_pictures(pictured: Seen) -> None:
    run, summary, _, html = pictured
    runs = picture_of(html)["runs"]
    links = re.findall(r'--sample (\d+)</span></code> <a href="#grasp" data-show="(\d+)"', html)
    assert {int(sample) for sample, _ in links} >= {row["sample"] for row in summary["closest"][:3]}
    for sample, place in links:
        assert runs[int(place)]["sample"] == int(sample)


def test_a_replayed_sample_joins_the_pictures(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, SPHERE)
    (tmp_path / "samples").mkdir()
    with h5py.File(tmp_path / "grasp.h5") as file:
        known = [int(name.removeprefix("sample_")) for name in file if name != "nominal"]
        for sample in (known[0], 777_777):  # one that is there, one that is not
            with h5py.File(tmp_path / "samples" / f"{sample}.h5", "w") as added:
                added.attrs.update(file.attrs)
                file.copy(f"sample_{known[0]}", added, f"sample_{sample}")
    page, html = page_of(tmp_path)
    found = [run["sample"] for run in picture_of(html)["runs"]]
    assert found[0] is None and sorted(found[1:-1]) == sorted(known) and found[-1] == 777_777
    assert f"-o {tmp_path}/samples/N.h5 && garra report {tmp_path}" in page.text


def test_without_grasp_h5_there_is_no_picture_and_no_script(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, SPHERE)
    (tmp_path / "grasp.h5").unlink()
    page, html = page_of(tmp_path)
    assert "<script" not in html and "<canvas" not in html and "#grasp" not in html and not page.faults


def test_a_damaged_grasp_h5_is_named(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, SPHERE)
    with h5py.File(tmp_path / "grasp.h5", "a") as file:
        name = next(name for name in file if name != "nominal")
        del file[f"{name}/normal"]
    assert_refused(report(tmp_path), INVALID_FILE, f"grasp.h5: {name}/normal: no such data set")


# --- outcomes and metrics are those of the summary


def test_new_outcomes_and_metrics_are_shown_with_their_words(runs, tmp_path: Path) -> None:
    def add(summary: dict) -> None:
        summary["outcomes"] |= {"not_resisted": 30, "command_insufficient": 12, "lost_in_translation": 8}
        summary["samples"] = sum(summary["outcomes"].values())
        table = {key: x for key, x in summary["metrics"]["resisted_force_radius"].items() if key not in ("label", "meaning")}
        summary["metrics"] |= {"object_acceleration": table | {"unit": "m/s^2"}, "imbalance": table | {"unit": "1"}}
        summary["no_slip"] = {"probability": 0.91, "low": 0.90, "high": 0.92}
        summary["resisted"] = {"probability": 0.97, "low": 0.96, "high": 0.98}

    runs.copy(tmp_path, SPHERE)
    edit(tmp_path, add)
    page, _ = page_of(tmp_path)
    assert "30 · no forces inside the friction cones can balance the wrench" in page.text
    assert "12 · forces could balance the wrench; those of the command do not, or one is above its limit" in page.text
    assert "lost in translation" in page.text
    assert "Object acceleration" in page.text and "Imbalance" in page.text
    assert "P(no slip) = 91.0 %" in page.text and "P(resisted) = 97.0 %" in page.text
    assert "forces leave the contacts at rest, can balance the wrench, and the given command carries it" in page.text


def test_the_bars_of_outcomes_have_one_scale(pictured: Seen) -> None:
    _, summary, _, html = pictured
    for key in (key for key, n in summary["outcomes"].items() if n):
        assert f"width:{100 * summary['outcomes'][key] / summary['samples']:.4f}%" in html


# --- numbers as people write them


@pytest.mark.parametrize(
    ("text", "unit", "said"),
    [
        ("normal(0.0, 0.03490658503988659)", "rad", "normal, 0 ± 2°"),
        ("uniform(-3.141592653589793, 3.141592653589793)", "rad", "uniform, −180° to 180°"),
        ("normal(1.0, 0.15), truncated", "kg", f"normal, 1 ± 0.15{NARROW}kg, truncated"),
        ("normal(0.0, 0.002)", "m", f"normal, 0 ± 2{NARROW}mm"),
        ("uniform(0.08, 0.12)", "kg", f"uniform, 0.08 to 0.12{NARROW}kg"),
        ("normal(0.4, 0.08)", "1", "normal, 0.4 ± 0.08"),
        ("cone(0.05235987755982988)", "rad", "uniform in a cone of 3°"),
        ("ball(2.0)", "N", f"uniform in a ball of 2{NARROW}N"),
        ("lognormal(0.05, 0.3)", "N m", f"log-normal, median 0.05{NARROW}N·m, sd of the logarithm 0.3"),
        ("something else", "m", "something else"),
    ],
)
def test_distributions_are_written_as_people_write_them(text: str, unit: str, said: str) -> None:
    assert words.distribution(text, unit) == said


def test_plain_numbers_of_the_scenario_get_their_units() -> None:
    scenario = {
        "object": {"shape": "sphere", "radius": 0.035, "mass": {"uniform": [0.08, 0.12]}},
        "contacts": {"angle": {"normal": [1.0471975511965976, 0.03490658503988659]}},
        "load": {"grip_force": 1.93},
    }
    line = " | ".join(grasp_words.study_line(scenario, 3)).replace(NARROW, " ")
    assert line == "sphere, radius 35 mm, mass 0.08 kg … 0.12 kg | 3 contacts | angle 60° ± 2° | grip force 1.93 N"


def test_a_study_of_levels_names_them_in_the_subtitle(shaken: Seen) -> None:
    friction = [level["friction"] for level in shaken[1]["levels"]]
    assert f"{len(friction)} levels of friction, {min(friction):g} to {max(friction):g}" in shaken[2].text
    assert "Each mark: the interval of one level of friction." in shaken[2].text


def test_an_upper_bound_says_its_confidence() -> None:
    said = grasp_words.odds(1.0, 0.99996, 1.0)
    assert said == "Not one sample failed: with 95\u202f% confidence at most 1 in 25,000 grasps fails."
    assert "with 95\u202f% confidence at most 1 in 250 grasps holds" in grasp_words.odds(0.0, 0.0, 0.004)


def test_swept_numbers_are_words_and_not_keys(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, "exoskeleton_damping")
    page, html = page_of(tmp_path)
    sentence = re.search(r'<p class="sentence">(.*?)</p>', html, re.S)[1]
    assert "With damping " in sentence and "vary." not in sentence
    assert not page.faults


# --- axes and labels


def numbers_on(figure: str) -> list[float]:
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", figure)
    return [float(t) for t in texts if re.fullmatch(r"\d+(\.\d+)?", t)]


def test_the_friction_axis_ends_where_the_curve_does(runs, tmp_path: Path) -> None:
    """All happens below 0.5; the table goes to 2."""

    def stretch(summary: dict) -> None:
        table = summary["held_against_friction"]
        more = [table["friction"][-1] + 0.02 * k for k in range(1, 51)]
        table["friction"] += more
        for key in ("probability", "low", "high"):
            table[key] += [table[key][-1]] * len(more)

    summary = runs.copy(tmp_path, SPHERE)
    edit(tmp_path, stretch)
    table = summary["held_against_friction"]
    full = table["probability"][-1]
    last = max(f for f, p in zip(table["friction"], table["probability"], strict=True) if abs(p - full) > 1e-3)
    drawn = max(
        max(v for v in row["bins"]["value"] if v is not None)
        for row in summary["inputs"]
        if row["name"].endswith("friction")
    )
    ticks = numbers_on(figure_of(page_of(tmp_path)[1], "Probability that no contact slips, against friction"))
    assert max(ticks) <= MOST_TICK * max(last, drawn)


def test_ticks_of_one_axis_are_of_one_style(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, SPHERE)
    edit(tmp_path, lambda s: s["convergence"]["samples"].__setitem__(-1, 10_000_000))
    figure = figure_of(page_of(tmp_path)[1], "Estimate of P\\(held\\) against the number of samples")
    ticks = [t for t in re.findall(r"<text[^>]*>([^<]*)</text>", figure) if t.startswith("10") and "%" not in t]
    assert len(ticks) >= 3 and all(re.fullmatch("10[⁰¹²³⁴⁵⁶⁷⁸⁹]+", t) for t in ticks)


def test_labels_of_survival_are_tied_to_the_ends_of_their_curves(shaken: Seen) -> None:
    _, summary, _, html = shaken
    figure = figure_of(html, "Share still in the hand over time")
    leaders = re.findall(
        r'<path d="M([\d.]+) ([\d.]+)L[\d.]+ [\d.]+L[\d.]+ [\d.]+L[\d.]+ ([\d.]+)" fill="none"', figure
    )
    # Of each curve (many points) the last one; then leaders, each followed by its name.
    curves = re.findall(r'<path d="(M[^"]*)" fill="none" stroke="var\(--held\)" stroke-width="1.7"', figure)
    ends = [float(c.split(" ")[-1]) for c in curves]
    names = [float(t) for t in re.findall(r'fill="var\(--ink\)">([\d.]+)</text>', figure)]
    levels = sorted(level["friction"] for level in summary["levels"])
    assert len(leaders) == len(names) == len(ends) == len(levels)
    heights = [float(height) for _, _, height in leaders]
    for (_, start, _), name in zip(leaders, names, strict=True):
        assert abs(float(start) - ends[levels.index(name)]) < 0.06
    assert all(b - a > 10 for a, b in zip(heights, heights[1:], strict=False))  # one above the other, none touches
    order = [ends[levels.index(name)] for name in names]
    assert order == sorted(order)


def test_shares_of_legs_and_joints_are_drawn_of_all_of_them(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path / "p", "platform_climb")
    html = page_of(tmp_path / "p")[1]
    section = html[html.index("Which leg fails first") :]
    section = section[: section.index('class="legend"')]
    assert abs(sum(map(float, re.findall(r"width:([\d.]+)%", section))) - 100) < 0.1

    runs.copy(tmp_path / "s", "puma_singularities")
    html = page_of(tmp_path / "s")[1]
    rows = re.findall(r'<b style="width:([\d.]+)%.*?</td>\s*<td>([\d.]+)\u202f%</td>', html, re.S)
    assert rows and all(abs(float(width) - float(share)) < 0.06 for width, share in rows)


# --- cones


def test_a_cone_is_shown_as_far_as_samples_lie() -> None:
    from garra.grasp import figures

    def table(extent: float, bins: int, *cells: tuple[int, int]) -> dict:
        counts = [[0] * bins for _ in range(bins)]
        for i, k in cells:
            counts[i][k] = 5
        return {"bins": bins, "extent": extent, "counts": counts}

    assert figures.cone_reach([table(2.0, 80, (40, 40))]) == 1.2
    assert figures.cone_reach([table(2.0, 80, (40, 71))]) == 1.6  # the cell from 1.55 to 1.6
    assert figures.cone_reach([table(1.2, 48, (0, 0))]) == 1.2
    assert "data:image/png;base64," in figures.cone("cone", table(2.0, 80, (40, 71)), 1.6, 230)


# --- nothing heavy, nothing on the terminal


def test_a_grasp_report_needs_no_plotting_library_and_says_nothing_else(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path / "sure", SPHERE)
    code = "import sys; from garra import report; report.main(sys.argv[1:]); print('matplotlib' in sys.modules)"
    command = [sys.executable, "-c", code, str(tmp_path / "sure")]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(ROOT / "python")}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.splitlines()[-1] == "False"


# --- commands, and what a browser makes of the page


def test_a_command_is_wrapped_and_keeps_its_sample_together(pictured: Seen) -> None:
    run, summary, _, html = pictured
    sample = summary["closest"][0]["sample"]
    assert f'<code class="command">garra replay {run} <span>--sample {sample}</span></code>' in html
    assert "code.command { white-space: normal; overflow-wrap: anywhere;" in html
    assert len(html.encode()) < MOST_BYTES


PROBE = """<script>addEventListener("load", () => setTimeout(() => {
  const small = [], cut = [], over = [], seen = (e) => e.getBoundingClientRect().width > 0;
  for (const t of document.querySelectorAll("svg text")) {
    const m = t.getScreenCTM();
    if (seen(t) && parseFloat(getComputedStyle(t).fontSize) * Math.hypot(m.b, m.d) < 10.95) small.push(t.textContent);
  }
  for (const e of document.querySelectorAll("p, td, th, li, dt, dd, span, label, figcaption, code, pre, button, select"))
    if (e.textContent.trim() && seen(e) && parseFloat(getComputedStyle(e).fontSize) < 10.95) small.push(e.textContent);
  for (const e of document.querySelectorAll("code.command, pre")) {
    const card = e.closest(".scroll table") || e.closest(".card");
    if (seen(e) && card && e.getBoundingClientRect().right > card.getBoundingClientRect().right + 1) cut.push(e.textContent);
  }
  for (const svg of document.querySelectorAll("svg")) {
    const boxes = [...svg.querySelectorAll("text")].filter((t) => seen(t) && !t.hasAttribute("transform"))
      .map((t) => [t.textContent, t.getBoundingClientRect()]);
    boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
      if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1.5 &&
        Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 4) over.push(`${a} over ${b}`);
    }));
  }
  const top = getComputedStyle(document.querySelector("a.top")).display !== "none";
  parent.postMessage(JSON.stringify({ small, cut, over, top, wide: document.documentElement.scrollWidth }), "*");
}, 800));</script></body>"""
FRAME = """<!DOCTYPE html><body style="margin:0"><iframe src="page.html" style="width:{width}px;height:900px;border:0"></iframe>
<script>onmessage = (e) => console.log("PROBE" + e.data);</script></body>"""


def said_by_browser(folder: Path, page: Path) -> list[str]:
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=6000"]
    command = [
        CHROMIUM,
        *flags,
        "--window-size=1500,1000",
        f"--user-data-dir={folder / 'profile'}",
        "--dump-dom",
        page.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here")
@pytest.mark.parametrize("width", [420, 1300])
@pytest.mark.parametrize(
    "scenario", [SPHERE, "three_puma_shake", "exoskeleton_damping", "platform_climb", "puma_singularities"]
)
def test_nothing_is_cut_or_too_small_to_read(runs, tmp_path: Path, scenario: str, width: int) -> None:
    """Text of at least 11 px, none over another in a figure, commands within their cards or tables, a page as wide as the window, a way back on a phone."""
    runs.copy(tmp_path / "run", scenario)
    html = page_of(tmp_path / "run")[1]
    (tmp_path / "page.html").write_text(granted(html, PROBE).replace("</body>", PROBE), encoding="utf-8")
    (tmp_path / "frame.html").write_text(FRAME.format(width=width), encoding="utf-8")
    said = said_by_browser(tmp_path, tmp_path / "frame.html")
    assert len(said) == 1, said
    found = json.loads(re.search(r'PROBE(\{.*\})"', said[0])[1])
    assert found["small"] == [] and found["cut"] == [] and found["over"] == [] and found["wide"] <= width
    assert found["top"] == (width == 420)


def test_pictures_of_hand_and_object_are_printed_in_the_colors_of_paper(pictured: Seen) -> None:
    html = pictured[3]
    hidden = re.findall(r"([^{}]*)\{[^{}]*display: none", html[html.index("<style>") : html.index("</style>")])
    assert not any(name in rule for rule in hidden for name in ("canvas", "#scene", ".views"))
    assert '["(prefers-color-scheme: dark)", "print"]' in html


PICTURED = """<script>addEventListener("load", () => {
  const find = (id) => document.getElementById(id), hash = () => find("scene-near").toDataURL().length;
  const cells = () => [...find("contacts-now").rows].map((row) => row.textContent).join(";");
  const first = hash(), nominal = cells();
  find("run").value = DATA;
  find("run").dispatchEvent(new Event("change"));
  console.log(`PROBE ${first !== hash()} ${nominal} | ${cells()} | ${find("outcome-now").textContent}`);
});</script></body>"""


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here to run the page's scripts")
def test_the_pictures_can_be_chosen_and_tell_their_contacts(pictured: Seen, tmp_path: Path) -> None:
    runs = picture_of(pictured[3])["runs"]
    place = next(k for k, run in enumerate(runs) if k and run["outcome"] != "held")
    probe = PICTURED.replace("DATA", str(place))
    (tmp_path / "page.html").write_text(granted(pictured[3], probe).replace("</body>", probe), encoding="utf-8")
    said = said_by_browser(tmp_path, tmp_path / "page.html")
    assert len(said) == 1, said
    nominal, chosen = (cells.split(";") for cells in re.search(r"PROBE true (.*?) \| (.*?) \| ", said[0]).groups())
    for shown, sample in ((nominal, "nominal"), (chosen, f"sample_{runs[place]['sample']}")):
        with h5py.File(pictured[0] / "grasp.h5") as file:
            force, mu = file[f"{sample}/force"][0], file[sample].attrs["mu"]
        for k, (normal, *across) in enumerate(force):
            used = np.hypot(*across) / (mu[k] * normal)
            assert re.match(rf"{k}(sticks|slips|opens)", shown[k]), "as in the picture and in the section on contacts"
            assert f"{mu[k]:.3f}{normal:.2f}{np.hypot(*across):.2f}{100 * used:.0f}\u202f%" in shown[k], shown[k]
    assert f"ample {runs[place]['sample']}: {runs[place]['outcome'].replace('_', ' ')}" in said[0]
