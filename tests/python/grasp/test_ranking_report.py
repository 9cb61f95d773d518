"""The page of a ranking: its numbers against the ranking's file, its scripts in a browser, what it is without a set."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import garra
import h5py
import numpy as np
import pytest
from arrays import require_module
from pages import CHROMIUM, INPUT_OUTPUT, INVALID_FILE, ROOT, Page, assert_sound, console, data_of
from program import garra as program

require_module()

from garra.grasp import ranking_data, ranking_file, ranking_report, ranking_words  # noqa: E402
from garra.page.outcomes import Outcome  # noqa: E402

SECTIONS = ("answer", "best", "ranking", "distribution", "refused", "meaning", "study")
EVIL = '<b>"evil" & </script><script>console.log("PWNED")</script>'
KINDS = {"<u2": np.uint16, "<i2": np.int16, "<u4": np.uint32, "<f4": np.float32}
COUNT = 60


def octahedron(radius: float):
    vertex = radius * np.concatenate([np.eye(3), -np.eye(3)])
    face = [[i, j, k] for i in (0, 3) for j in (1, 4) for k in (2, 5)]
    return vertex, np.array(face)


def random_set(**others) -> garra.grasp.GraspSet:
    """Grasps of two to four contacts on a sphere; number 7 has a zero normal, number 11 is in millimeters."""
    rng = np.random.default_rng(4)
    first = np.concatenate([[0], np.cumsum(rng.integers(2, 5, COUNT))])
    normals = rng.normal(size=(first[-1], 3))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    points = -0.04 * normals
    normals[first[7]] = 0
    points[first[11]] *= 1000
    return garra.grasp.GraspSet.from_arrays(
        points, normals, 0.5, first=first, mass=0.3, force_limit=8.0, com=[0, 0, 0.004], **others
    )


def test_soft_fingertips_are_no_points(tmp_path):
    soft = random_set(torsion_radius=np.full(int(random_set().first[-1]), 0.005))
    soft.save(tmp_path / "soft.h5")
    program("grasp", "rank", tmp_path / "soft.h5", "--set", "sampling.samples=20", "-o", tmp_path / "r.h5")
    text = (tmp_path / "r.html").read_text()
    assert re.search(r"Contacts are soft fingertips, .*torsion radius 5.mm\)", text) and "rigid points" not in text


STUDY = ("--set", "contacts.friction={uniform=[0.2,0.9]}", "--set", "sampling.samples=300", "--set",
         'load.force_radius="0.5 N"', "--set", 'contacts.tilt={cone_uniform="5 deg"}')  # fmt: skip


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict, str]:
    """Folder with set.h5, r.h5 and r.html of the program; the columns of r.h5; the page."""
    folder = tmp_path_factory.mktemp("ranked")
    names = [EVIL if k % 3 == 0 else f"candidate {k}" for k in range(COUNT)]
    random_set(names=names, mesh=octahedron(0.06)).save(folder / "set.h5")
    done = program("grasp", "rank", folder / "set.h5", *STUDY, "-o", folder / "r.h5")
    assert f"Report             {folder}/r.html" in done.stdout
    with h5py.File(folder / "r.h5") as file:
        columns = {name: file[name][()] for name in file}
    return folder, columns, (folder / "r.html").read_text(encoding="utf-8")


def remade(ranking: Path) -> str:
    return ranking_report.build(ranking_file.read(ranking))


def unpacked(column: dict, count: int) -> np.ndarray:
    if "all" in column:
        return np.broadcast_to(column["all"], (count, len(column["all"]))).squeeze(-1)
    values = np.frombuffer(base64.b64decode(column["data"]), KINDS[column["kind"]])
    return values.reshape(-1, column["width"]).squeeze()


# --- what it says


def test_the_page_is_sound_and_loads_nothing(ranked):
    assert_sound(Page(ranked[2]), ranked[2], SECTIONS)


def test_the_headline_counts_the_grasps_that_hold(ranked):
    _, r, html = ranked
    text = Page(html).text
    good, sure = int((r["p_held"] >= 0.95).sum()), int((r["low"] >= 0.95).sum())
    assert good > sure > 0
    assert f"{good} of 58" in text
    assert f"{sure} of them surely" in text
    same = int((r["difference_high"][r["rank"] > 0] >= 0).sum())
    assert f"{same} grasps, it included, are not told apart from the best" in text
    always, never = int((r["held"] == 300).sum()), int(((r["held"] + r["unsolved"] == 0) & (r["rank"] > 0)).sum())
    assert f"{always} held in every sample, {never} in none" in text
    assert "partly luck" in text
    assert "ideal hand" in text
    assert f"Here: {r['unsolved'].sum():,} of {58 * 300:,} samples" in text


def test_bad_grasps_are_listed_with_their_reason(ranked):
    text = Page(ranked[2]).text
    assert "2 grasps of 60" in text
    assert "bad normal 1 a normal is zero, or a tangent is parallel to its normal candidate 7 (grasp 7)" in text
    assert "lengths are in meters candidate 11 (grasp 11)" in text


def test_what_the_numbers_of_a_ranking_stand_for_is_read_from_it(ranked, tmp_path):
    """Of an older garra, which wrote names alone, grasps without a rank are called by them."""
    for name in ("set.h5", "r.h5"):
        (tmp_path / name).write_bytes((ranked[0] / name).read_bytes())
    with h5py.File(tmp_path / "r.h5", "r+") as file:
        for data in (file["status"], file["outcomes"]):
            names, labels, meanings = (list(data.attrs[key]) for key in ("names", "labels", "meanings"))
            assert len(names) == len(labels) == len(meanings) == len(set(labels))
        assert labels[:2] == ["held", "not resisted"] and names[:2] == ["held", "not_resisted"]
        file["status"].attrs.modify("labels", ["<b>" + label for label in file["status"].attrs["labels"]])
    assert "<b>bad normal 1 a normal is zero" in Page(remade(tmp_path / "r.h5")).text
    with h5py.File(tmp_path / "r.h5", "r+") as file:
        for data in (file["status"], file["outcomes"]):
            del data.attrs["labels"], data.attrs["meanings"]
    text = Page(remade(tmp_path / "r.h5")).text
    assert "bad normal 1 candidate 7 (grasp 7)" in text and "millimeters 1 candidate 11 (grasp 11)" in text


def test_the_study_is_told_with_units(ranked):
    text = Page(ranked[2]).text
    assert "friction uniform, 0.2 to 0.9, common to all contacts" in text
    assert "disturbing force uniform in a ball of 0.5 N" in text
    assert "normals tilted by uniform in a cone of 5°" in text
    assert "mass the set’s" in text


def test_the_table_carries_the_columns_of_the_file(ranked):
    _, r, html = ranked
    data = data_of(html, "ranking")
    order = np.argsort(np.where(r["rank"] > 0, r["rank"], 10**6))[:58]
    assert data["count"] == 58
    np.testing.assert_array_equal(np.frombuffer(base64.b64decode(data["grasp"]), np.uint32), order)
    for name in ("held", "unsolved"):
        np.testing.assert_array_equal(unpacked(data[name], 58), r[name][order])
    for name in ("low", "high", "difference", "difference_low", "difference_high"):
        np.testing.assert_array_equal(unpacked(data[name], 58), r[name][order].astype(np.float32))
    np.testing.assert_array_equal(unpacked(data["friction"], 58), r["required_friction"][order].astype(np.float32))


def test_pictures_have_the_contacts_of_the_set(ranked):
    folder, r, html = ranked
    pictures = data_of(html, "ranking")["pictures"]
    contacts = unpacked(data_of(html, "ranking")["contacts"], 58)
    s = garra.grasp.GraspSet.from_hdf5(folder / "set.h5")
    order = np.argsort(np.where(r["rank"] > 0, r["rank"], 10**6))[:58]
    rows = np.concatenate([np.arange(s.first[g], s.first[g + 1]) for g in order])
    np.testing.assert_array_equal(contacts, np.diff(s.first)[order])
    point = pictures["point"]["low"] + unpacked(pictures["point"], len(rows)) * np.array(pictures["point"]["step"])
    np.testing.assert_allclose(point, s.arrays["point"][rows], atol=0.09 / 65535, err_msg="half a step of 16 bits")
    np.testing.assert_allclose(unpacked(pictures["normal"], len(rows)) / 32767, s.arrays["normal"][rows], atol=2e-5)
    assert pictures["com"] == {"all": pytest.approx([0, 0, 0.004])}
    assert pictures["friction"] == {"factor": pytest.approx(0.55), "set": None, "known": True}
    assert (pictures["mesh"]["faces"], pictures["mesh"]["shown"]) == (8, 8)
    for k in range(10):
        assert f'data-picture="{k}"' in html


def test_the_friction_curve_is_the_share_of_grasps_that_need_less(ranked):
    _, r, html = ranked
    needed = r["required_friction"][r["rank"] > 0]
    figure = re.search(r'<svg [^>]*aria-label="Share of the grasps.*?</svg>', html, re.S)[0]
    right = min(max(1.15 * np.quantile(needed[np.isfinite(needed)], 0.99), 0.1), ranking_report.MOST_FRICTION)
    friction = np.linspace(0, right, 301)
    for color, q in (("muted", 0), ("accent", 1), ("held", 2)):
        path = re.search(rf'<path d="M([\d. L-]+)" fill="none" stroke="var\(--{color}\)"', figure)[1]
        y = np.array([float(point.split()[1]) for point in path.split("L")])
        share = np.array([(needed[:, q] <= mu).mean() for mu in friction])
        scale, zero = np.polyfit(share, y, 1)
        assert scale < -100, "upwards"
        assert np.abs(zero + scale * share - y).max() < 0.11, "[px], which are written with one decimal"


def test_hostile_names_are_text(ranked):
    assert EVIL not in ranked[2]
    assert "PWNED" in Page(ranked[2]).text
    assert "<script>console" not in ranked[2]


def test_the_same_ranking_gives_the_same_bytes(ranked):
    assert remade(ranked[0] / "r.h5") == ranked[2]


def test_pushes_wrenches_and_torque_errors_are_told(tmp_path):
    """The resisted force radius under a picture is the ranking's; what acts and what is off stands in the study."""
    drawn = {"wrenches": [[0.5, 0, 0, 0, 0.01, 0], [0, 0, 1, 0, 0, 0]], "torque_error": garra.normal(0, 0.1)}
    r = garra.grasp.rank(random_set(), samples=20, friction_samples=0, radius_samples=3, **drawn)
    text = Page(r.report(tmp_path / "page.html").read_text(encoding="utf-8")).text
    best = r.resisted_force_radius[int(np.flatnonzero(r.rank == 1)[0])]
    assert best > 0 and f"every push below {ranking_report.words.number(float(best))} N" in text
    assert "one of the wrenches acts (0.5, 0, 0) N, (0, 0.01, 0) N m; (0, 0, 1) N, (0, 0, 0) N m" in text
    assert "errors of the torques" in text and "for each joint on its own" in text


def test_python_writes_the_same_table(ranked, tmp_path):
    folder, _, html = ranked
    tilt = 5 * np.pi / 180
    uncertain = {"friction": garra.uniform(0.2, 0.9, common=True), "tilt": tilt, "force": garra.ball(0.5)}
    r = garra.grasp.rank(folder / "set.h5", samples=300, **uncertain)
    page = r.report(tmp_path / "page.html", title="Mine & yours").read_text(encoding="utf-8")
    assert_sound(Page(page), page, SECTIONS)
    assert "Mine &amp; yours" in page
    assert data_of(page, "ranking") == data_of(html, "ranking")
    for told in re.findall(r"<dt>(friction|disturbing force|normals tilted by)</dt><dd>(.*?)</dd>", html):
        assert f"<dt>{told[0]}</dt><dd>{told[1]}</dd>" in page


def test_distributions_of_python_are_told(tmp_path):
    def said(**uncertain) -> dict:
        r = garra.grasp.rank(random_set(), samples=5, friction_samples=0, **uncertain)
        return dict(ranking_words.study(r.study, r.candidates.arrays))

    told = said(friction=garra.normal(0.5, 0.1), mass=garra.uniform(0.1, 0.2), com=garra.ball(0.003), slide=0.002)
    assert told["friction"].replace("\u202f", " ") == "normal, 0.5 ± 0.1, truncated, for each contact on its own"
    assert told["mass"].replace("\u202f", " ") == "uniform, 0.1 to 0.2 kg"
    assert told["center of mass off by"].replace("\u202f", " ") == "uniform in a ball of 3 mm"
    assert told["contacts slide by"].startswith("normal, 0 ± 2\u202fmm")
    told = said(friction=garra.scale(0.8, 1.2), random_gravity_direction=True)
    assert told["friction"] == "the set’s × (uniform, 0.8 to 1.2, for each contact on its own)"
    assert "any direction" in told["gravity"]


# --- sets that are not as they were


def copied(ranked, tmp_path: Path) -> Path:
    for name in ("set.h5", "r.h5"):
        (tmp_path / name).write_bytes((ranked[0] / name).read_bytes())
    with h5py.File(tmp_path / "r.h5", "a") as file:
        file.attrs["set"] = str(tmp_path / "gone" / "set.h5")
    return tmp_path / "r.h5"


def test_ranking_and_set_may_move_together(ranked, tmp_path):
    assert 'data-picture="9"' in remade(copied(ranked, tmp_path))


@pytest.mark.parametrize("change", ["changed", "gone"])
def test_a_set_that_changed_is_not_shown_beside_the_ranking(ranked, tmp_path, change):
    ranking = copied(ranked, tmp_path)
    if change == "gone":
        (tmp_path / "set.h5").unlink()
    else:
        with h5py.File(tmp_path / "set.h5", "a") as file:
            file["point"][0] = 0
    html = remade(ranking)
    page = Page(html)
    assert_sound(page, html, tuple(name for name in SECTIONS if name != "best"))
    told = {"changed": "has changed since it was ranked", "gone": "is no longer where it was"}
    assert f"No pictures: set.h5 {told[change]}" in page.text


def make(*arguments, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "garra.ranking_page", *map(str, arguments)]
    env = os.environ | {"PYTHONPATH": str(ROOT / "python")} | environment
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)


def test_what_is_wrong_with_a_ranking_is_said(ranked, tmp_path):
    done = make(tmp_path / "none.h5")
    assert (done.returncode, done.stderr.count("\n")) == (INPUT_OUTPUT, 1)
    ranking = copied(ranked, tmp_path)
    with h5py.File(ranking, "a") as file:
        del file["low"]
    done = make(ranking)
    assert done.returncode == INVALID_FILE
    assert "r.h5: low: no such data set" in done.stderr
    assert not ranking.with_suffix(".html").exists()


def test_no_report_where_none_is_wanted_or_none_can_be(tmp_path):
    s = tmp_path / "set.h5"
    random_set().save(s)
    few = ("--set", "sampling.samples=5")
    program("grasp", "rank", s, *few, "-o", tmp_path / "a.h5", "--no-report")
    program("grasp", "rank", s, *few, "-o", tmp_path / "b.csv")
    program("grasp", "rank", s, *few)
    without = os.environ | {"GARRA_PYTHON": "/none/python"}
    done = program("grasp", "rank", s, *few, "-o", tmp_path / "c.h5", env=without)
    assert "c.html was not made; it needs Python 3" in done.stderr
    done = program("grasp", "rank", s, *few, "-o", tmp_path / "d.html", "--format", "json")
    assert "report" not in json.loads(done.stdout), "the ranking itself has that name"
    with h5py.File(tmp_path / "d.html") as file:
        assert len(file["rank"]) == COUNT
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.h5", "b.csv", "c.h5", "d.html", "set.h5"]


def test_a_set_without_a_grasp_that_can_be_ranked(tmp_path):
    r = garra.grasp.rank(points=np.zeros((2, 2, 3)), normals=np.zeros((2, 2, 3)), friction=0.5, mass=1, samples=5)
    html = r.report(tmp_path / "page.html").read_text(encoding="utf-8")
    page = Page(html)
    assert_sound(page, html, ("answer", "refused", "meaning", "study"))
    assert "0 of 2" in page.text
    assert "bad normal 2" in page.text


def test_many_faces_become_few(tmp_path):
    n = 120
    theta, phi = np.meshgrid(np.linspace(0, np.pi, n), np.linspace(0, 2 * np.pi, n), indexing="ij")
    vertex = 0.05 * np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], -1).reshape(
        -1, 3
    )
    k = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    face = np.concatenate([np.stack([k, k + n, k + 1], -1), np.stack([k + 1, k + n, k + n + 1], -1)])
    r = garra.grasp.rank(random_set(mesh=(vertex, face)), samples=5, friction_samples=0)
    html = r.report(tmp_path / "page.html").read_text(encoding="utf-8")
    mesh = data_of(html, "ranking")["pictures"]["mesh"]
    assert mesh["faces"] == len(face)
    assert 1000 < mesh["shown"] <= ranking_data.MOST_FACES
    corners = np.frombuffer(base64.b64decode(mesh["vertex"]), np.float32).reshape(-1, 3)
    assert np.abs(np.linalg.norm(corners, axis=-1) - 0.05).max() < 0.002
    with pytest.raises(ValueError, match="mesh"):
        random_set(mesh=(vertex, face + 1000 * n))


# --- Parquet


def test_a_ranking_goes_to_parquet_and_back(ranked, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    r = garra.grasp.rank(ranked[0] / "set.h5", samples=50)
    r.to_parquet(tmp_path / "r.parquet")
    frame = pandas.read_parquet(tmp_path / "r.parquet")
    assert list(frame.index[:58]) == list(r.order)
    np.testing.assert_array_equal(frame["required_friction_95"], r.required_friction[frame.index, 2])
    np.testing.assert_array_equal(frame["held"], r.held[frame.index])
    assert frame["status"].iloc[-1] in ("bad_normal", "millimeters")


def test_parquet_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    r = garra.grasp.rank(random_set(), samples=5, friction_samples=0)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pandas", pytest.importorskip("pandas"))
    with pytest.raises(ModuleNotFoundError, match="pip install pandas pyarrow"):
        r.to_parquet(tmp_path / "r.parquet")


# --- in a browser

PROBE = """<script>addEventListener("load", () => {
  const find = (id) => document.getElementById(id);
  const rows = () => [...find("grasps").rows].map((r) => r.cells[0].textContent);
  const name = () => find("picture-name").textContent.split(":")[0];
  const type = (id, text) => { find(id).value = text; find(id).dispatchEvent(new Event("input")); };
  const say = (...words) => console.log("PROBE " + words.join(" | "));
  say(rows().length, rows()[0], find("told").textContent);
  type("least", "90"); say("P", find("told").textContent);
  type("most", "0.25"); say("mu", find("told").textContent);
  type("contacts-of", "4"); say("k", find("told").textContent);
  ["least", "most", "contacts-of"].forEach((id) => type(id, ""));
  document.querySelector("[data-key=friction]").click(); say("sorted", rows().slice(0, 3));
  const before = find("picture-canvas").toDataURL();
  find("grasps").rows[9].querySelector("button").click();
  say("picture", before !== find("picture-canvas").toDataURL(), name(), find("picture-contacts").rows.length);
  document.querySelectorAll("[data-picture]")[9].click(); say("best", name());
  const written = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const sizes = [...document.querySelectorAll("main *")].filter(written).map((e) => getComputedStyle(e).fontSize);
  say("least font", Math.min(...sizes.map(parseFloat)) >= 11, document.documentElement.scrollWidth <= innerWidth);
});</script></body>"""


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here to run the page's scripts")
def test_filters_sorting_and_pictures_work_in_a_browser(ranked, tmp_path):
    _, r, html = ranked
    ranks = r["rank"]
    needed = np.where(ranks > 0, r["required_friction"][:, 2], np.nan)
    contacts = np.diff(h5py.File(ranked[0] / "set.h5")["first"][()])
    p = (ranks > 0) & (r["p_held"] >= 0.9)
    mu = p & (needed <= 0.25)
    k = mu & (contacts == 4)
    assert p.sum() > mu.sum() > k.sum() > 0
    order = sorted(np.flatnonzero(ranks > 0), key=lambda g: (np.float32(needed[g]), ranks[g]))
    tenth = order[9]
    said = [line.split("PROBE ")[1].split('", source')[0] for line in console(html, PROBE, tmp_path)]
    assert said == [
        "25 | 1 | 1 to 25 of 58",
        f"P | 1 to {min(25, p.sum())} of {p.sum()} (of all 58)",
        f"mu | 1 to {min(25, mu.sum())} of {mu.sum()} (of all 58)",
        f"k | 1 to {min(25, k.sum())} of {k.sum()} (of all 58)",
        "sorted | " + ",".join(str(ranks[g]) for g in order[:3]),
        f"picture | true | Rank {ranks[tenth]} | {contacts[tenth]}",
        "best | Rank 10",
        "least font | true | true",
    ]


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here to run the page's scripts")
def test_a_hundred_thousand_grasps_open(tmp_path):
    count, k, samples = 100_000, 3, 1000
    rng = np.random.default_rng(2)
    normal = rng.normal(size=(count * k, 3))
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    held = -np.sort(-rng.integers(0, samples + 1, count))
    p = held / samples
    columns = {"status": np.zeros(count, int), "rank": np.arange(1, count + 1), "p_held": p, "low": p, "high": p}
    columns |= {
        "held": held,
        "unsolved": np.zeros(count, int),
        "samples": np.full(count, samples),
        "difference": p - p[0],
        "difference_low": p - p[0],
        "resisted_force_radius": np.full(count, np.nan),
    }
    columns |= {"difference_high": p - p[0], "required_friction": np.sort(rng.uniform(0, 2, (count, 3)), axis=1)}
    grasps = ranking_file.Grasps(np.arange(count + 1) * k, {"point": -0.04 * normal, "normal": normal})
    ranked = {"ranked": Outcome("ranked")}
    html = ranking_report.build(ranking_file.Found(columns, ranked, {}, "many", grasps=grasps))
    assert 9e6 < len(html.encode()) < 12e6, "docs/theory/grasp-sets.md says 11 MB"
    probe = """<script>addEventListener("load", () => {
      const find = (id) => document.getElementById(id);
      find("least").value = "99.5"; find("least").dispatchEvent(new Event("input"));
      const told = find("told").textContent;
      find("least").value = ""; document.querySelector("[data-key=friction]").click();
      console.log(`PROBE ${told} | ${find("told").textContent}`);
    });</script></body>"""
    said = console(html, probe, tmp_path)
    assert len(said) == 1
    assert f"PROBE 1 to 25 of {(p >= 0.995).sum():,} (of all 100,000) | 1 to 25 of 100,000" in said[0]


@pytest.mark.parametrize("probability", [[0.97 - 0.03 * g for g in range(30)], [0.9] * 5], ids=["decided", "equal"])
def test_the_best_are_found_or_it_is_said_that_they_are_not(tmp_path, probability):
    """Pinches that hold where 2 mu L carries the weight, mu uniform in 0.2 to 0.4."""
    count = len(probability)
    limit = 0.5 * 9.81 / (2 * (0.4 - 0.2 * np.array(probability)))
    set_ = garra.grasp.GraspSet.from_arrays(
        np.tile([[-0.03, 0, 0], [0.03, 0, 0]], (count, 1, 1)), np.tile([[1, 0, 0], [-1, 0, 0]], (count, 1, 1)),
        mass=0.5, force_limit=np.repeat(limit[:, None], 2, axis=1),
    )  # fmt: skip
    set_.save(tmp_path / "set.h5")
    settings = ("--set", "contacts.friction={uniform=[0.2,0.4]}", "--set", "sampling.samples=6000")
    program("grasp", "rank", tmp_path / "set.h5", *settings, "--best", 3, "-o", tmp_path / "r.h5")
    r = garra.grasp.rank(set_, friction=garra.uniform(0.2, 0.4, common=True), samples=6000, best=3)
    table = ranking_file.read(tmp_path / "r.h5")
    assert (table.columns["rank"] == r.rank).all() and (table.columns["samples"] == r.samples).all()
    assert r.decided == table.decided == (count == 30)
    assert ((r.low <= probability) & (probability <= r.high)).all()
    text = Page((tmp_path / "r.html").read_text()).text
    if r.decided:
        assert sorted(r.order[:3]) == [0, 1, 2]
        assert r.samples.sum() < 0.3 * count * r.samples.max()
        assert "The best 3 are found: with a confidence of 95" in text
        assert f"{int((r.samples < r.samples.max()).sum())} grasps were given up" in text
        # A grasp that was given up after 64 samples, all held, is not one of those with P(held) >= 95 %.
        whole = r.samples == r.samples.max()
        assert f"{(r.p_held[whole] >= 0.95).sum()} of {whole.sum()} that had all samples" in text
    else:
        assert (r.samples == 6000).all()
        assert "The best 3 were not told apart from the others within these samples: 5 grasps are left" in text
    assert f"{r.samples.sum():,} in all" in text


def test_reported_options_are_those_of_the_compiled_table():
    from garra import _core
    from garra.grasp.ranking_words import _REPORTED

    rows = [option for option in _core.grasp_set_options if option["report"]]
    keys = ("name", "default", "report", "unit", "ball", "each")
    assert _REPORTED == tuple(tuple(row[k].replace("*", " ") if k == "unit" else row[k] for k in keys) for row in rows)


def test_poses_are_ranked_over_their_draws(tmp_path):
    """Two pads with 2 N each bear a weight across where 2 mu F >= m g; a pose has three draws of an object, one two."""
    mass, pose = np.array([0.1, 0.25, 0.3, 0.2, 0.25]), np.array([7.0, 7, 7, 9, 9])
    points, normals = np.tile([[-0.03, 0, 0], [0.03, 0, 0.0]], (5, 1, 1)), np.tile([[1.0, 0, 0], [-1, 0, 0]], (5, 1, 1))
    normals[4] = 0  # a draw without an answer fails
    grasps = garra.grasp.GraspSet.from_arrays(
        points, normals, 0.5, mass=mass, force_limit=2.0, torsion_radius=0.05, pose_number=pose,
    )  # fmt: skip
    grasps.save(tmp_path / "set.h5")
    words = tmp_path / "set.h5", "--set", "contacts.friction={uniform=[0.2,0.8]}", "--set", "sampling.samples=500"
    said = program("grasp", "rank", *words, "-o", tmp_path / "r.csv").stdout
    table = np.genfromtxt(tmp_path / "r.csv", delimiter=",", names=True, dtype=None, encoding=None)
    p = {k: (table["held"][pose == k].sum() + 0.5) / (500 * (pose == k).sum() + 1) for k in (7, 9)}
    exact = np.clip((0.8 - mass * 9.81 / 4) / 0.6, 0, 1) * [1, 1, 1, 1, 0]
    assert p[7] == pytest.approx(exact[:3].mean(), abs=0.04) and p[9] == pytest.approx(exact[3:].mean(), abs=0.04)
    assert table["pose_number"].tolist() == pose.tolist()
    np.testing.assert_allclose(table["p_held_of_pose"], [p[k] for k in pose], rtol=1e-12)
    rows = [line.split() for line in said.partition("pose  P(held)   draws\n")[2].splitlines()[:2]]
    assert rows == [["7", f"{p[7]:.5f}", "3"], ["9", f"{p[9]:.5f}", "2"]] and "(h + 1/2) / (n + 1)" in said
    shown = json.loads(program("grasp", "rank", *words, "-o", tmp_path / "r.h5", "--format", "json").stdout)["poses"]
    assert [(row["pose"], row["draws"]) for row in shown] == [(7, 3), (9, 2)]
    assert [row["p_held"] for row in shown] == pytest.approx([p[7], p[9]])
    page = (tmp_path / "r.html").read_text()
    assert f"Best pose: 7, P(held) = {100 * p[7]:.2f}" in page and 'id="poses"' in page
    grasps = garra.grasp.GraspSet.from_arrays(points, normals, 0.5, mass=mass, pose_number=np.arange(5.0))
    grasps.save(tmp_path / "set.h5")
    assert "draws" not in program("grasp", "rank", *words, "--no-report").stdout  # one draw each
