"""Where a page could contradict itself or its run: overrides, units, samples that are all alike, names, numbers on axes."""

from __future__ import annotations

import re
from pathlib import Path

from garra.grasp import words as grasp_words
from garra.page import figures, words
from garra.page.plot import CHARACTER, FONT, decades
from garra.page.run_folder import _replace
from pages import page_of

NARROW = "\u202f"


def test_overrides_are_part_of_the_scenario(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, "three_puma_sphere", "--samples", 1024, "--set", "contacts.friction=0.05", "--set", "load.grip_force=9 N")
    facts = page_of(tmp_path)[0].text
    assert "friction 0.05" in facts and "grip force 9 N" in facts and "friction 0.4 ± 0.08" not in facts


def test_an_override_reaches_items_and_tables_that_are_not_there() -> None:
    scenario = {"contact": [{"friction": 1}, {"friction": 2}]}
    for key, value in (("contact.1.friction", "0.5"), ("joints.1", "0 deg"), ("contact.0", "{ friction = [1, 2] }")):
        _replace(scenario, key, value)
    assert scenario == {"contact": [{"friction": [1, 2]}, {"friction": 0.5}], "joints": {"1": "0 deg"}}


def test_units_are_written_as_people_write_them(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, "three_puma_sphere")
    page, html = page_of(tmp_path)
    before = html[: html.index('id="reproduce"')]
    for said in ("0 ± 2°, about the nominal value", "0 ± 2 mm, about the nominal value"):  # 60°, and z = 0.3 m
        assert said in page.text
    assert "object acceleration [m/s²]" in before and "m/s^2" not in before
    assert words.quantity(12.5, "rad^2*s") == f"12.5{NARROW}rad²·s" and words.quantity(12.5, "°") == "12.5°"


def test_close_quantiles_have_digits_that_tell_them_apart() -> None:
    assert [words.quantity(v, "mm", words.digits_for(145.34, 146.48)) for v in (145.34, 146.48)] == [
        f"145.34{NARROW}mm",
        f"146.48{NARROW}mm",
    ]
    assert words.digits_for(-1, 2) == words.digits_for(None, 2) == words.digits_for(5, 5) == 3


def test_a_study_without_uncertainty_has_no_statistics(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, "papers_hand", "--samples", 1024)
    page, html = page_of(tmp_path)
    assert "all samples are alike" in page.text and "confidence" not in page.text[: page.text.index("P(no slip)")]
    assert page.text.count("The same in every sample:") >= 4 and "Histogram of the critical friction" not in html


def test_one_sample_says_little() -> None:
    assert grasp_words.odds(1.0, 0.025, 1.0).endswith("at most 98 of 100 grasps fail.")
    assert words.one_in(0.004) == "1 in 250"


def test_numbers_that_are_not_defined_are_one_sentence(runs, tmp_path: Path) -> None:
    """A board on a table: its contact forces are not unique."""
    runs.copy(tmp_path, "lean_on_table", "--samples", 1024)
    page, html = page_of(tmp_path)
    assert "Not defined for any sample: Friction margin, Critical friction, Load factor" in page.text
    assert "lie outside this picture" not in page.text and "Where the contact force lies" not in html


def test_contacts_joints_and_holds_are_gathered() -> None:
    assert words.numbered("contact", list(range(30))) == "contacts 0 to 29"
    assert words.numbered("joint", [2]) == "joint 2" and words.numbered("hold", [0, 2]) == "holds 0, 2"


def test_a_long_name_leaves_room_for_its_bar() -> None:
    row = {"name": "object " + "LongName" * 15 + " mass", "influence": 0.3, "noise": 0.01}
    figure = figures.influence([row])
    assert min(float(w) for w in re.findall(r'width="(-?[\d.]+)"', figure)) > 0
    assert "object LongNam…LongName mass" in figure


def test_an_axis_without_two_powers_of_ten_has_their_doubles() -> None:
    assert [text for _, text in decades(1024, 5000)] == ["2,000", "5,000"]
    assert [text for _, text in decades(1024, 20_000)] == ["2,000", "5,000", "10,000", "20,000"]
    assert [text for _, text in decades(90, 2000)] == ["100", "1,000"]


def test_quantiles_are_not_written_over_one_another() -> None:
    table = {"unit": "1", "low": 0.0, "high": 0.2, "counts": [40, 30, 20, 10, 5, 1, 0, 0], "below": 0, "above": 0}
    table |= {"undefined": 0, "quantiles": {"0.05": 0.00226, "0.5": 0.0244, "0.95": 0.0713}}
    figure = figures.metric("m", "imbalance", table, None)
    texts = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" fill="var\(--ink\)"( text-anchor="\w+")?>([\d.]+)', figure)
    assert len(texts) == 2  # no room for the first
    part = {"": 0.0, ' text-anchor="middle"': 0.5, ' text-anchor="end"': 1.0}
    ends = sorted((float(x) - part[a] * len(t) * CHARACTER, len(t) * CHARACTER) for x, _, a, t in texts)
    assert FONT == 11 and all(a + width < b for (a, width), (b, _) in zip(ends, ends[1:], strict=False))


def test_rings_of_a_climb_are_as_wide_as_their_legs_need(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, "platform_climb_trunk", "--samples", 256)
    page, html = page_of(tmp_path)
    picture = re.search(r'<svg class="figure" role="img" aria-label="The climb from the side.*?</svg>', html, re.S)[0]
    ends = [float(x) for pair in re.findall(r'x1="([\d.]+)" x2="([\d.]+)"', picture) for x in pair]
    rings = re.findall(r'<rect x="([\d.]+)" width="([\d.]+)" height="9.6">', picture)
    assert len(ends) == 12 and len(rings) == 2 and ">1 m</text>" in picture and "max-height" in picture
    assert all(float(x) < min(ends) and max(ends) < float(x) + float(width) for x, width in rings)
    assert "P(climbed): every ring holds in every cycle" in page.text and "contacts 0 to 29" in page.text


def test_an_arm_is_told_its_limits(runs, tmp_path: Path) -> None:
    runs.copy(tmp_path, "arm_accuracy", "--samples", 1024)
    page, html = page_of(tmp_path)
    assert "the tool’s errors of position and orientation stay within their limits in every pose" in page.text
    red = {}
    for name in ("error of position", "error of orientation"):
        figure = re.search(rf'<svg[^>]*aria-label="Histogram of the {name}">.*?</svg>', html, re.S)[0]
        (at,) = re.findall(r'd="M([\d.]+) [\d.]+V[\d.]+" stroke="var\(--break\)"', figure)
        ticks = [(float(x), float(t)) for x, t in re.findall(r'<text x="([\d.]+)"[^>]*middle[^>]*>([\d.]+)</text>', figure)]
        (a, u), (b, v) = ticks[0], ticks[-1]
        red[name] = u + (float(at) - a) / (b - a) * (v - u)
    assert abs(red["error of position"] - 1) < 0.02 and abs(red["error of orientation"] - 0.1) < 0.002
