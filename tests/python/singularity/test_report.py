"""The report of a singularity map seen from outside: runs of the program, HTML read by html.parser.

Where a Chromium is installed, the page's scripts run as well; elsewhere that test says that it was skipped.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from pages import (
    INPUT_OUTPUT,
    INVALID_FILE,
    PROGRAM,
    ROOT,
    USAGE,
    Page,
    assert_granted,
    assert_refused,
    edit,
    granted,
    page_of,
    report,
    scenarios_of,
)
from puma_singularities import A2, A3, BLAME, D4, NAMES, NEAR, factors, screws, singular_values, write_map

SECTIONS = (
    "estimate",
    "dependent",
    "escape",
    "workspace",
    "slices",
    "distributions",
    "configurations",
    "outcomes",
    "sampled",
    "reproduce",
)
MOST_BYTES = 4_000_000
SMALL = ("--samples", 600, "--set", "output.voxels=8")
Run = tuple[Path, dict[str, Any], Page, str]


def assert_sound(page: Page, html: str, sections: tuple[str, ...] = SECTIONS) -> None:
    """Closed tags, unique ids, every section, and nothing that a browser would fetch."""
    assert html.startswith("<!DOCTYPE html>")
    assert_granted(page, html)
    assert not page.faults
    assert [name for name, times in page.ids.items() if times > 1] == []
    assert [name for name in sections if page.ids[name] != 1] == []
    for reference in page.references:
        assert reference.startswith(("#", "data:image/png;base64,")), reference[:80]
        assert not reference.startswith("#") or reference[1:] in page.ids
    assert not re.search(r"https?:|\bsrc=|<link|@import|\bimport\b|fetch\(|XMLHttpRequest", html)
    assert all(target.startswith("#") for target in re.findall(r"url\((.*?)\)", html))
    assert len(html.encode()) < MOST_BYTES
    told = page.text.replace("None of the samples", "")
    assert not {"nan", "inf", "-inf", "undefined", "None"} & set(re.split(r"[\s,;()]+", told))


def data_of(html: str) -> dict[str, Any]:
    return json.loads(re.search(r'<script type="application/json" id="map-data">(.*?)</script>', html, re.S)[1])


def unpacked(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def powers(text: str) -> np.ndarray:
    """Numbers of their packed logarithms."""
    steps = unpacked(text, "<i2").astype(float)
    return np.where(steps == -32768, np.nan, 10 ** (steps / 2000))


def significant(x: float, digits: int = 3) -> str:
    """A number as the page writes it, by other means than the page's."""
    if x < 1e-3:
        mantissa, exponent = f"{x:.{digits - 2}e}".split("e-")
        return f"{mantissa} × 10⁻" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(k)] for k in str(int(exponent)))
    text = f"{float(f'{x:.{digits}g}'):f}"
    return text.rstrip("0").rstrip(".") if x < 1000 else f"{float(text):,.0f}"


def percent(x: float, decimals: int = 1) -> str:
    return f"{100 * x:.{decimals}f} %"


def joint_set(joints: list[int]) -> str:
    return "{" + ", ".join(map(str, joints)) + "}"


@pytest.fixture(scope="module")
def puma(runs, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = tmp_path_factory.mktemp("singularity") / "puma"
    summary = write_map(runs, run)
    return run, summary, *page_of(run)


@pytest.fixture()
def small(runs, tmp_path: Path) -> Path:
    write_map(runs, tmp_path, *SMALL)
    return tmp_path


# --- the map is one of this arm


def test_the_arm_is_singular_where_its_determinant_vanishes() -> None:
    q = np.random.default_rng(3).uniform(-3, 3, (50, 6))
    elbow, shoulder, wrist = factors(q)
    det = np.linalg.det(screws(q)[0])
    assert np.abs(np.abs(det) - np.abs(A2 * elbow * shoulder * wrist)).max() < 1e-12
    assert A3 < D4 and singular_values(q)[:, 5].min() > 0


def test_the_nearest_singularities_are_singular(puma: Run) -> None:
    with h5py.File(puma[0] / "results.h5") as file:
        assert singular_values(file["singular_q"][...])[:, 5].max() < 1e-9


def test_a_singularity_is_named_after_the_factor_of_the_determinant_that_vanishes(puma: Run) -> None:
    found = json.loads((puma[0] / "configurations.json").read_text())["configurations"]
    named = set()
    for c in found:
        sizes = dict(zip(("elbow", "shoulder", "wrist"), np.abs(factors(np.array([c["singular_q"]]))), strict=True))
        parts = c["type"].split(" and ")
        assert {part for part, size in sizes.items() if size < 1e-6} == set(parts), (c["type"], sizes)
        assert f"{c['type']}, rank 5 of 6" in puma[2].text or len(parts) > 1
        named |= set(parts)
    assert named == {"elbow", "shoulder", "wrist"}


# --- a complete run


def test_a_report_is_sound_html_that_loads_nothing(puma: Run) -> None:
    assert_sound(*puma[2:])


def test_the_page_opens_with_the_share_and_the_dependent_joints(puma: Run) -> None:
    _, summary, page, _ = puma
    p, first = summary["p_near"], summary["nearest"]["dependent_joints"][0]
    joint = max(summary["nearest"]["escape"], key=lambda row: row["order_1"])
    share = percent(joint["order_1"] / summary["nearest"]["converged"])
    assert f"{percent(p['probability'])} 95 % interval: {percent(p['low'])} to {percent(p['high'])}" in page.text
    *others, last = first["joints"]
    dependent = f"Joints {', '.join(map(str, others))} and {last}"
    most = f"{dependent} are most often dependent: {percent(first['share'])} of the nearest singularities."
    assert f"{most} Joint {joint['joint']} most often leads out best: {share}." in page.text
    assert NAMES[joint["joint"]] in page.text
    assert f"at most {NEAR:g} of the largest" in page.text
    median = significant(np.degrees(summary["nearest"]["distance"]["quantiles"]["0.5"]))
    assert f"median distance of near ones {median}°" in page.text


def test_every_set_of_dependent_joints_stands_with_its_interval(puma: Run) -> None:
    _, summary, page, _ = puma
    for row in summary["nearest"]["dependent_joints"]:
        low, high = percent(row["low"]), percent(row["high"])
        name = f"{joint_set(row['joints'])} {row['type']}".strip()
        assert f"{name} {percent(row['share'])} {low} to {high} {row['count']:,}" in page.text
    for row in summary["nearest"]["subsets"]:
        share = percent(row["count"] / summary["nearest"]["converged"])
        assert f"{joint_set(row['joints'])} {row['count']:,} {share}" in page.text


def test_shares_per_joint_add_up_over_the_sets(puma: Run) -> None:
    _, summary, page, _ = puma
    for k, name in enumerate(NAMES):
        rows = [row for row in summary["nearest"]["dependent_joints"] if k in row["joints"]]
        share = sum(row["count"] for row in rows) / summary["nearest"]["converged"]
        assert f"{k} · {name} {percent(share).replace('100.0', '100')} " in page.text


def test_escape_joints_are_counted_by_their_order(runs, tmp_path: Path, puma: Run) -> None:
    _, summary, page, _ = puma
    for row in summary["nearest"]["escape"]:
        assert f"{row['joint']} · {NAMES[row['joint']]} {row['order_1']:,}" in page.text
    write_map(runs, tmp_path, *SMALL)
    edit(tmp_path, lambda s: s["nearest"]["escape"][3].update(order_2=17))
    page, html = page_of(tmp_path)
    assert "17 of order 2" in page.text and 'class="second"' in html


def test_outcomes_quantiles_and_worst_samples_are_those_of_the_summary(puma: Run) -> None:
    run, summary, page, _ = puma
    assert f"{summary['outcomes']['regular']:,} · " in page.text and f"{summary['outcomes']['near']:,} · " in page.text
    assert "None of the samples: singular, unreached, invalid." in page.text
    for q in ("0.05", "0.5", "0.95"):
        assert significant(summary["quantiles"]["condition"][q]) in page.text
        assert significant(summary["quantiles"]["sigma_min"][q]) in page.text
    for row in summary["worst"]:
        assert f"garra replay {run} --sample {row['sample']} " in page.text
    assert f"{summary['nearest']['converged']:,} converged on one: all" in page.text
    assert f"{summary['nearest']['outside_range']:,} of {summary['nearest']['converged']:,} singularities" in page.text


def test_the_cloud_holds_the_voxels_of_map_h5(puma: Run) -> None:
    run, summary, page, html = puma
    cloud = data_of(html)["cloud"]
    with h5py.File(run / "map.h5") as file:
        count = file["voxels/count"][...].ravel()
        filled = np.flatnonzero(count)
        np.testing.assert_array_equal(unpacked(cloud["index"], "<u4"), filled)
        np.testing.assert_array_equal(unpacked(cloud["count"], "<u4"), count[filled])
        np.testing.assert_array_equal(unpacked(cloud["near"], "<u4"), file["voxels/near"][...].ravel()[filled])
        for key, name in (("min", "sigma_min"), ("p10", "sigma_p10"), ("p50", "sigma_p50"), ("max", "sigma_max")):
            np.testing.assert_allclose(powers(cloud[key]), file[f"voxels/{name}"][...].ravel()[filled], rtol=1e-3)
    assert cloud["n"] == summary["voxels"]["n"] and cloud["low"] == summary["voxels"]["low"]
    assert f"{len(filled):,} cubes hold samples, {summary['voxels']['with_near']:,} of them near ones" in page.text


def test_the_points_are_the_kept_near_samples_by_their_responsible_joints(puma: Run) -> None:
    run, summary, _, html = puma
    points = data_of(html)["cloud"]["points"]
    assert [entry["name"] for entry in points["sets"]] == [
        joint_set(row["joints"]) for row in summary["nearest"]["dependent_joints"]
    ]
    assert [entry["count"] for entry in points["sets"]] == [row["count"] for row in summary["nearest"]["dependent_joints"]]
    with h5py.File(run / "results.h5") as file:
        np.testing.assert_array_equal(unpacked(points["sample"], "<f8"), file["index"][...])
        np.testing.assert_allclose(unpacked(points["tool"], "<f4"), file["tool"][...].ravel(), atol=1e-6)
        named = [points["sets"][k]["name"] for k in unpacked(points["set"], "<u2")]
        bits = [sum(1 << int(k) for k in re.findall(r"\d+", name)) for name in named]
        np.testing.assert_array_equal(bits, file["dependent_joints"][...])


def test_a_slice_carries_its_numbers_and_its_singular_points(puma: Run) -> None:
    run, _, page, html = puma
    (part,) = data_of(html)["slices"]
    with h5py.File(run / "map.h5") as file:
        group = file["slices/0"]
        np.testing.assert_allclose(part["x"], np.degrees(group["x"][...]))
        regular = group["sigma_min"][...].ravel() > 1e-15
        np.testing.assert_allclose(powers(part["sigma"])[regular], group["sigma_min"][...].ravel()[regular], rtol=1e-3)
        q = np.tile(group.attrs["q"], (len(group["locus_x"]), 1))
        q[:, 2], q[:, 4] = group["locus_x"][...], group["locus_y"][...]
        sets, ways = group["locus_dependent_joints"][...], group["locus_escape"][...]
    assert np.abs(factors(q)).min(axis=0).max() < 1e-8  # each where the determinant vanishes
    met, counts = np.unique(sets, return_counts=True)
    assert {tuple(k for k in range(6) if bits >> k & 1) for bits in met} >= set(BLAME.values())
    for bits, n in zip(met, counts, strict=True):
        joints, here = [k for k in range(6) if bits >> k & 1], ways[sets == bits]
        out = {int(k): np.mean(here == k) for k in np.unique(here)}
        told = [f"joint {k}" + (f" {percent(share)}" if len(out) > 1 else "") for k, share in out.items()]
        assert f"{joint_set(joints)} {n} {', '.join(told)}" in page.text
    assert "Held: q[0] = 0°, q[1] = 17.19°, q[3] = 40.11°, q[5] = 0°." in page.text
    drawn = html[html.index('data-slice="0"') : html.index('data-readout="0"')]
    assert drawn.count("data:image/png") == 1
    strokes = {(path.count("M"), path.count("L")) for path in re.findall(r' d="([^"]*)"', drawn)}
    cells = np.floor((np.degrees(q[:, [2, 4]]) + 180) / 360 * 400)  # what lies so near together is drawn once
    places = [len(np.unique(cells[sets == bits], axis=0)) for bits in met]
    assert {(n, n) for n in places} <= strokes  # a stroke of no length for each point


def test_configurations_show_screws_subsets_and_ways_out(puma: Run) -> None:
    run, _, page, html = puma
    entries = json.loads((run / "configurations.json").read_text())["configurations"]
    assert html.count('<div class="configuration">') == len(entries) == 6
    for i, entry in enumerate(entries):
        assert page.ids[f"c{i}"] == 1
        away = significant(np.degrees(entry["distance"]))
        assert f"rank 5 of 6, sample {entry['sample']:,}, {away}° away" in page.text
        for way in entry["analysis"]["escape"]:
            sign = {1: "+", -1: "−", 0: "either way"}[way["sign"][0]]
            assert f"{joint_set(way['joints'])} 1 {significant(way['rate'], 4)} {sign}" in page.text
        assert " ".join(entry["text"].split()) in page.text


AXES = {"the x axis": "1, 0, 0", "the y axis": "0, 1, 0", "the z axis": "0, 0, 1"}


def coordinates(text: str) -> np.ndarray:
    return np.array([float(x.replace("−", "-")) for x in AXES.get(text, text.strip("()")).split(",")])


def test_the_lost_wrench_told_in_words_does_no_work_on_any_screw(puma: Run) -> None:
    """Read back from the page: a force f along a line through p, with a moment h f about it where it has a pitch h."""
    run, _, _, html = puma
    entries = json.loads((run / "configurations.json").read_text())["configurations"]
    parts = [Page(part).text for part in html.split('<div class="configuration">')[1:]]
    for part, entry in zip(parts, entries, strict=True):
        told = re.search(
            r"a (?:pure )?force along (the [xyz] axis|\([^)]*\)) through the point (\([^)]*\)) m"
            r"(?:, with a moment about the same line of (\S+) N·m)?",
            part,
        )
        assert told, part[:800]
        force, point = coordinates(told[1]), coordinates(told[2])
        pitch = float(told[3].replace("−", "-")) if told[3] else 0.0
        screw = np.array(entry["screws"])
        power = screw[:, 3:] @ force + screw[:, :3] @ (np.cross(point, force) + pitch * force)
        assert np.abs(power).max() < 5e-3  # three digits are printed


def test_names_and_titles_are_text_and_not_markup(puma: Run) -> None:
    _, summary, page, html = puma
    assert "<PUMA>" not in html and summary["title"] in page.text


def test_the_same_run_gives_the_same_bytes(puma: Run) -> None:
    assert page_of(puma[0])[1] == puma[3]


def browser() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def seen_free(cell: int, count: np.ndarray, n: list[int], told: dict[str, Any]) -> bool:
    """Whether nothing stands between the middle of a cube and the reader."""
    at = np.array([cell % n[0], cell // n[0] % n[1], cell // n[0] // n[1]])
    for step in np.arange(0.1, 60, 0.1):
        x, y, z = (int(k) for k in np.floor(at + 0.5 + step * np.array(told["toward"])))
        if not (0 <= x < n[0] and 0 <= y < n[1] and 0 <= z < n[2]):
            return True
        there = x + n[0] * (y + n[1] * z)
        if there != cell and count[there] and (y >= told["cut"]) == told["high"]:
            return False
    return True


@pytest.mark.skipif(not browser(), reason="no Chromium")
def test_the_scripts_draw_the_cloud_and_read_a_voxel(puma: Run, tmp_path: Path) -> None:
    """In a browser: no error, a picture of many colors, and the numbers of a voxel that map.h5 holds."""
    probe = """<script>
    addEventListener("error", (e) => { document.title = "error: " + e.message; });
    const afterAFrame = (act) => requestAnimationFrame(() => requestAnimationFrame(act));  // however busy the machine is
    addEventListener("load", () => afterAFrame(() => {
      const canvas = document.getElementById("cloud"), box = canvas.getBoundingClientRect(), scene = window.garraCloud;
      const found = [], { toward } = scene.camera();
      for (let i = 1; i < 20; i++) for (let j = 1; j < 20; j++) {
        const row = scene.pick(box.width * i / 20, box.height * j / 20);
        if (row >= 0) found.push(scene.rows.index[row]);
      }
      const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, colors = new Set();
      for (let k = 0; k < pixels.length; k += 404) colors.add(pixels[k] << 16 | pixels[k + 1] << 8 | pixels[k + 2]);
      const start = performance.now();
      for (let k = 0; k < 20; k++) { scene.turn(3, 0); scene.draw(); }
      const time = (performance.now() - start) / 20;
      document.body.dataset.probe = JSON.stringify({ found, colors: colors.size, time, toward, ...scene.state });
    }));
    </script>"""
    page = tmp_path / "page.html"
    page.write_text(granted(puma[3], probe).replace("<script>", probe + "<script>", 1))
    command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,3000",
               "--virtual-time-budget=20000", "--dump-dom", page.as_uri()]  # fmt: skip
    for _ in range(3):  # on a busy machine the browser may end before it has painted a frame
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert "error:" not in (re.search(r"<title>(.*?)</title>", done.stdout) or ["", ""])[1]
        probe_text = re.search(r'data-probe="([^"]*)"', done.stdout)
        if probe_text:
            break
    assert probe_text, done.stderr[-2000:]
    told = json.loads(probe_text[1].replace("&quot;", '"'))
    assert told["colors"] > 20 and len(told["found"]) > 20
    n = puma[1]["voxels"]["n"]
    with h5py.File(puma[0] / "map.h5") as file:
        count = file["voxels/count"][...].ravel()
    for cell in told["found"]:
        assert count[cell] > 0
        assert ((cell // n[0]) % n[1] >= told["cut"]) == told["high"]  # what is cut away cannot be pointed at
    assert np.mean([seen_free(cell, count, n, told) for cell in told["found"]]) > 0.8


# --- runs of an older garra


def raised(numbers: list[int]) -> list[int]:
    return [k + 1 for k in numbers]


def count_from_one(summary: dict[str, Any]) -> None:
    nearest = summary["nearest"]
    summary.update(schema=1, scaling={"center": "joint 5", "length": None})
    for row in summary["sampling"]["ranges"] + nearest["escape"]:
        row["joint"] += 1
    for row in nearest["dependent_joints"] + nearest["subsets"]:
        row["joints"] = raised(row["joints"])


def count_configurations_from_one(folder: Path) -> None:
    path = folder / "configurations.json"
    content = json.loads(path.read_text())
    for entry in content["configurations"]:
        analysis, entry["joints"] = entry["analysis"], raised(entry["joints"])
        analysis["dependent_joints"] = raised(analysis["dependent_joints"])
        analysis["lost_wrenches"] = [wrench[3:] + wrench[:3] for wrench in analysis["lost_wrenches"]]
        analysis["clearing_sets"] = [raised(joints) for joints in analysis["clearing_sets"]]
        for way in analysis["escape"]:
            way["joints"] = raised(way["joints"])
        for subset in analysis["sosm"]:
            subset.update(first=subset["first"] + 1, last=subset["last"] + 1, ssm=raised(subset["ssm"]))
            for actuator in subset["actuators"]:
                actuator["joint"] += 1
    path.write_text(json.dumps(content))


def test_a_run_of_schema_1_whose_joints_count_from_1_has_the_same_page(small: Path) -> None:
    edit(small, lambda s: s.update(scaling={"center": "joint 4", "length": None}))
    expected = page_of(small)[0].text
    edit(small, count_from_one)
    count_configurations_from_one(small)
    with h5py.File(small / "map.h5", "r+") as file:
        for group in file["slices"].values():
            for name in "xy":
                group.attrs.modify(name, group.attrs[name] + 1)
            group["locus_escape"][...] += 1
    with h5py.File(small / "results.h5", "r+") as file:
        file["escape_joint"][...] += 1
    told = page_of(small)[0].text
    assert "Written by an older garra: joints count from 1 here." in told
    assert told.replace("Written by an older garra: joints count from 1 here. ", "") == expected


# --- runs that lack something


def test_without_kept_rows_there_are_voxels_but_no_points(small: Path) -> None:
    (small / "results.h5").unlink()
    page, html = page_of(small)
    assert_sound(page, html)
    cloud = data_of(html)["cloud"]
    assert cloud["points"] is None and len(unpacked(cloud["index"], "<u4")) > 100
    assert '<option value="sets">' not in html
    with h5py.File(small / "results.h5", "w") as file:
        file["index"] = np.zeros(0, dtype=np.uint64)
    assert page_of(small)[1] == html


def test_without_slices_and_voxels_the_page_says_so(small: Path) -> None:
    with h5py.File(small / "map.h5", "w") as file:
        file.create_group("slices")
    edit(small, lambda s: s.update(voxels=None))
    page, html = page_of(small)
    assert_sound(page, html)
    assert "The scenario has no slice." in page.text and "The run has no map of the workspace" in page.text
    assert data_of(html)["cloud"] is None and '<canvas id="cloud"' not in html


def test_without_the_second_pass_no_joints_are_named(small: Path) -> None:
    edit(small, lambda s: s.update(nearest=None))
    (small / "configurations.json").write_text('{"configurations": []}')
    with h5py.File(small / "results.h5", "r+") as file:
        file["search_status"][...] = 1
        file["dependent_joints"][...] = 0
        file["distance"][...] = np.nan
    page, html = page_of(small)
    assert_sound(page, html)
    assert "The nearest singularities were not asked for ( nearest = false )." in page.text
    assert "No configuration was analyzed one by one." in page.text


def none_near(summary: dict[str, Any]) -> None:
    """A map of regular configurations only."""
    outcomes = dict.fromkeys(summary["outcomes"], 0) | {"regular": summary["samples"]}
    nearest = summary["nearest"]
    nearest["distance"].update(mean=None, sd=None, quantiles=dict.fromkeys(nearest["distance"]["quantiles"]), below=0)
    nearest["distance"].update(counts=[0] * len(nearest["distance"]["counts"]), above=0, undefined=0)
    nearest.update(converged=0, lost=0, outside_range=0, lost_freedoms=[], dependent_joints=[], subsets=[], no_single_joint=0)
    nearest.update(escape=[{"joint": k, "order_1": 0, "order_2": 0} for k in range(6)])
    summary.update(outcomes=outcomes, worst=[], p_near={"probability": 0.0, "low": 0.0, "high": 0.006})


def test_no_configuration_near_a_singularity(small: Path) -> None:
    edit(small, none_near)
    (small / "configurations.json").write_text('{"configurations": []}')
    (small / "results.h5").unlink()
    with h5py.File(small / "map.h5", "r+") as file:
        file["voxels/near"][...] = 0
        for name in ("locus_x", "locus_y", "locus_dependent_joints", "locus_escape"):
            kind = file["slices/0"].pop(name).dtype if name in file["slices/0"] else "f8"
            file[f"slices/0/{name}"] = np.zeros(0, dtype=kind)
    page, html = page_of(small)
    assert_sound(page, html)
    assert "Not one of 600 configurations is near a singularity." in page.text
    assert "no singular configuration in this slice" in page.text and "none near a singularity" in page.text


def test_samples_of_which_none_could_be_checked(small: Path) -> None:
    def unsolve(summary: dict[str, Any]) -> None:
        none_near(summary)
        summary["outcomes"] = dict.fromkeys(summary["outcomes"], 0) | {"unreached": summary["samples"]}
        summary["p_near"] = {"probability": None, "low": 0.0, "high": 1.0}
        summary["sampling"].update(kind="task", task={"starts": 16})
        for table in summary["histograms"].values():
            table.update(counts=[0] * len(table["counts"]), below=0, above=0, undefined=summary["samples"])
            table.update(quantiles=dict.fromkeys(table["quantiles"]), mean=None, sd=None)
        for table in summary["quantiles"].values():
            table.update(dict.fromkeys(table))

    edit(small, unsolve)
    (small / "configurations.json").write_text('{"configurations": []}')
    (small / "results.h5").unlink()
    with h5py.File(small / "map.h5", "w") as file:
        file.create_group("slices")
    page, html = page_of(small)
    assert_sound(page, html)
    assert "no configuration could be decided" in page.text and "16 starts for each target" in page.text


def test_a_run_cut_short_and_lost_searches_and_single_precision_are_told(small: Path) -> None:
    def change(summary: dict[str, Any]) -> None:
        summary.update(stopped_by="time_limit", requested=10 * summary["samples"], precision="fp32")
        summary["nearest"].update(diverged=7)
        summary["single_precision"] = {"rechecked": 2048, "missed": 3, "false_near": 1, "largest_error": 2.5e-6}

    edit(small, change)
    page, html = page_of(small)
    assert_sound(page, html)
    assert "600 of 6,000 samples: stopped at its time limit" in page.text and f"garra resume {small}" in page.text
    assert "7 (" in page.text and "did not and are in no share above" in page.text
    assert "2,048 configurations again in double: 3 near ones missed, 1 wrongly near" in page.text


def test_many_sets_share_the_last_color_and_the_rare_ones_are_counted_together(small: Path) -> None:
    def change(summary: dict[str, Any]) -> None:
        sets = [[a, b] for a in range(6) for b in range(a + 1, 6)]  # 15
        rows = [
            {"joints": joints, "count": 16 - i, "share": (16 - i) / 135, "low": 0.01, "high": 0.2, "example": i}
            for i, joints in enumerate(sets)
        ]
        summary["nearest"].update(dependent_joints=rows, converged=135)

    edit(small, change)
    page, html = page_of(small)
    assert_sound(page, html)
    assert "3 rarer sets, together 6.7 %" in page.text


def test_a_prismatic_joint_is_measured_in_millimeters(small: Path) -> None:
    edit(small, lambda s: s["robot"].update(prismatic=[False, False, True, False, False, False]))
    page, html = page_of(small)
    assert_sound(page, html)
    assert "joint 2, elbow [mm]" in html and "elbow uniform −3,926.99 mm to 785.4 mm" in page.text


def test_a_hostile_name_is_text_everywhere(small: Path) -> None:
    name = '</script><b onload="x">$\\frac$ & "q"'
    edit(small, lambda s: (s.update(title=name), s["robot"].update(name=name, names=[name] * 6)))
    path = small / "configurations.json"
    content = json.loads(path.read_text())
    content["configurations"][0]["text"] = name
    path.write_text(json.dumps(content))
    page, html = page_of(small)
    assert_sound(page, html)
    assert "<b onload" not in html and page.text.count(name) >= 9


def test_too_many_voxels_leave_their_sections(small: Path) -> None:
    side = 60
    with h5py.File(small / "map.h5", "r+") as file:
        group = file["voxels"]
        for name in list(group):
            group.pop(name)
            group[name] = np.full((side,) * 3, 2 if name in ("count", "near") else 0.1)
    page, html = page_of(small)
    assert_sound(page, html)
    assert "216,000 cubes" in page.text and "too many for a picture in space" in page.text
    assert html.count("Section through the workspace across") == 3


def test_a_redundant_arm_is_told_by_its_minimal_subset(small: Path) -> None:
    """Its ever-present self-motion makes every joint take part."""

    def change(summary: dict[str, Any]) -> None:
        nearest = summary["nearest"]
        summary["robot"].update(generic_rank=5, names=[f"joint_{k}" for k in range(6)])
        nearest["dependent_joints"] = [nearest["dependent_joints"][0] | {"joints": [0, 1, 2, 3, 4, 5]}]
        nearest["subsets"] = [{"joints": [3, 5], "count": nearest["converged"]}]

    edit(small, change)
    page, html = page_of(small)
    assert_sound(page, html)
    assert "The smallest dependent set is most often {3, 5}, in 100 %. Joint" in page.text
    assert "The arm has more joints than freedoms" in page.text and "joint_0," not in page.text


# --- errors: a message and an exit code, never a traceback


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s.pop("near"), "near: missing"),
        (lambda s: s["robot"]["names"].pop(), "robot.names: has 5 entries for 6 joints"),
        (lambda s: s["outcomes"].update(near=9), "outcomes: do not add up to the 600 samples"),
        (lambda s: s["nearest"]["dependent_joints"][0].update(joints=[-1, 9]), "nearest.dependent_joints[0].joints: is [-1, 9]"),
        (lambda s: s["nearest"].update(converged=1), "nearest.dependent_joints: add up to more than the 1 that converged"),
        (lambda s: s["nearest"]["distance"].pop("counts"), "nearest.distance.counts: missing"),
        (lambda s: s["nearest"]["escape"][0].update(joint=6), "nearest.escape[0].joint: is [6]"),
        (lambda s: s["voxels"]["n"].pop(), "voxels.n: has 2 entries for 3 axes"),
        (lambda s: s.update(single_precision={"missed": 1}), "single_precision.rechecked: missing"),
        (lambda s: s.update(job="dance"), 'job: is "dance"'),
    ],
)
def test_a_damaged_summary_is_refused_with_the_field(small: Path, change: Callable, said: str) -> None:
    edit(small, change)
    assert_refused(report(small), INVALID_FILE, "summary.json: " + said)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c.pop("configurations"), "configurations: missing"),
        (lambda c: c["configurations"][1].pop("screws"), "configurations[1].screws: missing"),
        (lambda c: c["configurations"][1]["screws"][2].pop(), "configurations[1].screws[2]: has 5 entries for 6"),
        (lambda c: c["configurations"][0]["analysis"].pop("rank"), "configurations[0].analysis.rank: missing"),
        (lambda c: c["configurations"][0]["q"].pop(), "configurations[0].q: has 5 entries for 6 joints"),
        (lambda c: c["configurations"][0]["analysis"].update(dependent_joints=[8]), "configurations[0].analysis: is [8]"),
    ],
)
def test_damaged_configurations_are_refused_with_the_field(small: Path, change: Callable, said: str) -> None:
    path = small / "configurations.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    assert_refused(report(small), INVALID_FILE, f"{path}: {said}")


def shorten(name: str) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        data = file.pop(name)[...]
        file[name] = data[:-1]

    return change


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("map.h5", lambda f: f["voxels"].pop("near"), "voxels.near: no such data set"),
        ("map.h5", shorten("voxels/sigma_p50"), "voxels.sigma_p50: expected numbers ["),
        ("map.h5", lambda f: f["voxels"].attrs.pop("side"), "voxels: attribute `side` is missing"),
        ("map.h5", shorten("slices/0/locus_y"), "slices/0.locus_y: expected numbers ["),
        ("map.h5", shorten("slices/0/x"), "slices/0.sigma_min: expected numbers [61, 60], found float64 [61, 61]"),
        ("map.h5", lambda f: f["slices/0"].attrs.modify("x", 9), "slices/0: is [9, 4]; there are joints 0 to 5"),
        ("results.h5", lambda f: f.pop("tool"), "tool: no such data set"),
        ("results.h5", shorten("dependent_joints"), "dependent_joints: expected numbers ["),
    ],
)
def test_damaged_arrays_are_refused_with_the_dataset(small: Path, file: str, change: Callable, said: str) -> None:
    with h5py.File(small / file, "r+") as content:
        change(content)
    assert_refused(report(small), INVALID_FILE, f"{small / file}: {said}")


@pytest.mark.parametrize("name", ["map.h5", "configurations.json"])
def test_missing_and_cut_files_are_told_apart(small: Path, name: str) -> None:
    path = small / name
    path.write_bytes(path.read_bytes()[:2000])
    assert_refused(report(small), INVALID_FILE, str(path))
    path.unlink()
    assert_refused(report(small), INPUT_OUTPUT, f"{path}: no such file", f"garra resume {small}")
    assert not (small / "report.html").exists()


# --- the page of one configuration


def page_command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"))
    command = [sys.executable, "-m", "garra.singularity_page", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def test_the_page_of_one_configuration(small: Path, tmp_path: Path) -> None:
    entry = json.loads((small / "configurations.json").read_text())["configurations"][0]
    (tmp_path / "in.json").write_text(json.dumps(entry | {"robot": "<PUMA> 560"}))
    done = page_command(tmp_path / "in.json", tmp_path / "out.html")
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "out.html").read_text(encoding="utf-8")
    page = Page(html)
    assert_sound(page, html, ("configuration",))
    assert "<PUMA> 560" in page.text and "rank 5 of 6" in page.text and "1 freedom lost" in page.text


def test_the_page_of_given_screws_needs_no_joint_values(small: Path, tmp_path: Path) -> None:
    entry = json.loads((small / "configurations.json").read_text())["configurations"][0]
    bare = {key: entry[key] for key in ("screws", "analysis", "text")}
    (tmp_path / "in.json").write_text(json.dumps(bare))
    assert page_command(tmp_path / "in.json", tmp_path / "out.html").returncode == 0
    html = (tmp_path / "out.html").read_text(encoding="utf-8")
    page = Page(html)
    assert_sound(page, html, ("configuration",))
    assert "Given screws" in page.text and "nearest singularity" not in page.text


def test_errors_of_the_single_page(small: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    assert page_command().returncode == USAGE
    done = page_command(tmp_path / "absent.json", target)
    assert done.returncode == INPUT_OUTPUT and "no such file" in done.stderr
    (tmp_path / "in.json").write_text('{"screws": [[0, 0, 1]], "text": "", "analysis": {}}')
    done = page_command(tmp_path / "in.json", target)
    assert done.returncode == INVALID_FILE and "in.json: analysis.joints: missing" in done.stderr
    assert "Traceback" not in done.stderr and not target.exists()


# --- runs of the program


@pytest.mark.skipif(not PROGRAM, reason="GARRA_PROGRAM names no built program")
@pytest.mark.parametrize("scenario", scenarios_of("singularity"), ids=lambda path: path.stem)
def test_the_report_of_a_run_of_the_program(tmp_path: Path, scenario: Path) -> None:
    run = tmp_path / "run"
    few = [] if "[task]" in scenario.read_text() else ["--samples", "4096"]  # a grid has as many samples as nodes
    done = subprocess.run([PROGRAM, "run", scenario, *few, "-o", run], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    page, html = page_of(run)
    assert_sound(page, html)
    summary = json.loads((run / "summary.json").read_text())
    first = summary["nearest"]["dependent_joints"][0]
    share = percent(first["share"]).replace("100.0", "100")
    assert f"{joint_set(first['joints'])} " in page.text and share in page.text
    assert sum(unpacked(data_of(html)["cloud"]["count"], "<u4")) <= summary["samples"]


# --- the picture of one configuration


def test_the_picture_of_given_screws_shows_axes_normals_wrench_and_the_way_out(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = subprocess.run([PROGRAM, "screws", ROOT / "data/screws/gallardo_1.toml", "--report", page],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = re.search(r'<script[^>]*id="arm-data"[^>]*>(.*?)</script>', page.read_text(), re.S)
    scene = json.loads(found[1])
    given = tomllib.loads((ROOT / "data/screws/gallardo_1.toml").read_text())["screws"]
    first = scene["poses"][0]
    for axis, screw in zip(first["axes"], np.array(given), strict=True):
        point, along = np.array(axis[:3]), np.array(axis[3:])
        if np.linalg.norm(screw[:3]) > 0:  # the axis is the screw's: the same direction, the same moment
            assert np.allclose(along, screw[:3], atol=1e-5)
            assert np.allclose(np.cross(point, along), screw[3:], atol=1e-4)
    for a, b, before, after in zip(first["arm"][1::2], first["arm"][2::2], first["axes"], first["axes"][1:], strict=False):
        normal = np.subtract(b, a)  # perpendicular to both axes, unless it runs along them
        assert abs(normal @ before[3:]) < 1e-5 or np.linalg.norm(np.cross(normal, before[3:])) < 1e-5
        assert abs(normal @ after[3:]) < 1e-5 or np.linalg.norm(np.cross(normal, after[3:])) < 1e-5
    assert scene["kinds"][1] == "prismatic" and scene["dependent"] == [0, 2, 3, 4, 5, 6]
    (wrench,) = scene["wrenches"]
    assert not wrench["couple"]  # a force along its line does no work in any joint
    force, moment = np.array(wrench["along"]), np.cross(wrench["point"], wrench["along"])
    assert np.allclose(np.array(given)[:, 3:] @ force + np.array(given)[:, :3] @ moment, 0, atol=2e-3)
    last = scene["poses"][-1]  # joint 2 has turned: joint 4's axis is no longer that of joint 0
    assert np.linalg.norm(np.cross(last["axes"][4][3:], last["axes"][0][3:])) > 0.5
