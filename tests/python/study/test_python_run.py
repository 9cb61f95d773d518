"""garra.run: any job, from a file or a mapping, with the program's own answers and errors."""

from __future__ import annotations

import html
import json
import math
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import garra
import numpy as np
import pytest
from arrays import require_module
from program import garra as program

require_module()

SCENARIOS = Path(__file__).resolve().parents[3] / "data" / "scenarios"


def test_the_answer_is_the_programs(tmp_path):
    scenario = SCENARIOS / "three_puma_sphere.toml"
    found = garra.run(scenario, tmp_path / "python", samples=4096, seed=5)
    program("run", scenario, "--samples", "4096", "--seed", "5", "-o", tmp_path / "program", "--no-report")
    theirs = (tmp_path / "program" / "summary.json").read_bytes()
    assert (tmp_path / "python" / "summary.json").read_bytes() == theirs
    summary = json.loads(theirs)
    assert found.event == "held"
    assert found.probability == summary["held"]["probability"]
    low, high = found.interval
    assert (low, high) == (summary["held"]["low"], summary["held"]["high"])
    # The interval again, from the counts.
    assert math.isclose(found.proportion_ci().low, low) and math.isclose(found.proportion_ci().high, high)
    assert found.proportion_ci(0.99).low < low < found.proportion_ci(0.5).low
    stats = pytest.importorskip("scipy.stats")
    held, unsolved = found.outcomes["held"], found.outcomes["unsolved"]
    exact = found.proportion_ci(0.9)
    assert math.isclose(exact.low, stats.beta.ppf(0.05, held, 4096 - held + 1), rel_tol=1e-12)
    assert math.isclose(exact.high, stats.beta.ppf(0.95, held + unsolved + 1, 4096 - held - unsolved), rel_tol=1e-12)
    for method in ("wilson", "wilsoncc"):
        ours = found.proportion_ci(confidence_level=0.9, method=method)
        low, _ = stats.binomtest(held, 4096).proportion_ci(0.9, method)
        _, high = stats.binomtest(held + unsolved, 4096).proportion_ci(0.9, method)
        assert math.isclose(ours.low, low, rel_tol=1e-12) and math.isclose(ours.high, high, rel_tol=1e-12)
    with pytest.raises(ValueError, match="wald"):
        found.proportion_ci(method="wald")
    assert sum(found.outcomes.values()) == found.samples == 4096
    assert found.metrics["required_friction"].unit == "1"
    assert f"{found.probability:.5f}" in repr(found) and "4,096" in repr(found)
    assert "held" in found._repr_html_()


def test_a_missing_module_is_named_with_its_remedy():
    tree = Path(garra.__file__).parents[1]
    python = f"import sys; sys.path.insert(0, {str(tree)!r}); sys.modules['garra._core'] = None; import garra; "
    assert "\nPython module: ok, " in garra.doctor()
    for use in ("from garra import _core", "import garra.contact", "garra.Error"):
        done = subprocess.run([sys.executable, "-c", python + use], capture_output=True, text=True)
        assert done.returncode == 1
        assert "ImportError: garra's compiled module garra._core is not there: build it with tools/build" in done.stderr
    done = subprocess.run([sys.executable, "-c", python + "print(garra.doctor())"], capture_output=True, text=True)
    assert "Python module: MISSING: garra's compiled module" in done.stdout


def test_a_mapping_is_a_scenario_and_settings_override_it():
    scenario = tomllib.loads((SCENARIOS / "two_finger_cylinder.toml").read_text())
    found = garra.run(scenario, samples=512, set={"contacts.friction": 0.6, "object.mass": "0.2 kg"})
    again = garra.run(
        SCENARIOS / "two_finger_cylinder.toml", samples=512, set=["contacts.friction=0.6", "object.mass=0.2"]
    )
    assert found.summary["outcomes"] == again.summary["outcomes"]
    folder = found.folder
    assert folder.is_dir()
    del found
    assert not folder.exists()
    with pytest.raises(garra.FileError, match=r"^scenario:\d+:\d+: contacts.frictoin: .*\n *Did you mean"):
        garra.run(scenario | {"contacts": {"frictoin": 0.6}}, samples=2)


def test_warnings_of_the_program_are_pythons(tmp_path):
    scenario = SCENARIOS / "two_finger_cylinder.toml"  # two points: nothing resists a torque about their line
    with pytest.warns(UserWarning, match="no contact force resists a torque about") as told:
        found = garra.run(scenario, tmp_path / "run", samples=64, report=True)
    done = program("run", scenario, "--samples", "64", "-o", tmp_path / "again", "--no-report")
    printed = [line.removeprefix("warning: ") for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert printed and [str(w.message) for w in told] == printed == found.warnings == garra.open_run(tmp_path / "again").warnings
    assert told[0].filename == __file__ and f"Warning: {html.escape(printed[0])}" in found.report().read_text()
    with warnings.catch_warnings(record=True) as left:
        warnings.simplefilter("always")  # ResourceWarning, too
        assert garra.run(SCENARIOS / "three_puma_sphere.toml", samples=64).warnings == []
    assert not left


def test_a_data_frame_without_pandas_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    ranking = garra.grasp.rank(points=[[[0, 0, -0.1]]], normals=[[[0, 0, 1]]], friction=0.5, mass=0.1, samples=1)
    with pytest.raises(ImportError, match=r"needs pandas: pip install garra\[pandas\]"):
        ranking.to_pandas()


def test_kept_samples_as_a_table():
    pytest.importorskip("pandas")
    found = garra.run(SCENARIOS / "three_puma_sphere.toml", samples=2048, set={"output.keep": "all"})
    table = found.to_pandas()
    assert len(table) == 2048 and table.index.name == "sample"
    assert (table["outcome"] == "held").sum() == found.outcomes["held"]
    assert "mass" in table.columns and "friction_margin" not in table.columns or table["margin"].notna().all()


@pytest.mark.parametrize(
    ("name", "samples", "event"),
    [("puma_singularities", 64, "near"), ("three_puma_pull", 16, "held"), ("platform_climb", 64, "feasible"),
     ("platform_climb_trunk", 64, "climbed")],
)
def test_other_jobs_have_their_event(name, samples, event):
    found = garra.run(SCENARIOS / f"{name}.toml", samples=samples)
    assert found.event == event
    assert 0 <= found.interval.low <= found.probability <= found.interval.high <= 1


def test_a_study_without_a_probability_says_so():
    found = garra.run(SCENARIOS / "platform_stroke.toml")
    assert found.job == "platform_experiment"
    with pytest.raises(AttributeError, match="no probability"):
        _ = found.probability
    assert "platform_experiment" in repr(found)


def test_a_bad_scenario_is_an_exception_with_place_and_remedy(tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text('schema = 1\njob = "grasp"\n[object]\nshape = "sphre"\n')
    with pytest.raises(garra.FileError, match=r"bad\.toml:4:1: object\.shape"):
        garra.run(file)
    with pytest.raises(garra.InputOutputError, match="nowhere"):
        garra.run(tmp_path / "nowhere.toml")
    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.tex").write_text("mine")
    with pytest.raises(garra.Error):
        garra.run(SCENARIOS / "three_puma_sphere.toml", full, samples=16)
    assert (full / "thesis.tex").read_text() == "mine"


def test_a_run_folder_is_opened_again(tmp_path):
    garra.run(SCENARIOS / "three_puma_sphere.toml", tmp_path / "run", samples=1024)
    assert garra.open_run(tmp_path / "run").samples == 1024
    assert garra.open_run(tmp_path / "run", resume=True).samples == 1024
    with pytest.raises(garra.InputOutputError, match=r"no summary\.json"):
        garra.open_run(tmp_path)
    (tmp_path / "run" / "summary.json").write_text("{")
    with pytest.raises(garra.FileError, match=r"summary\.json:1:2: not JSON"):
        garra.open_run(tmp_path / "run")


def test_the_package_is_imported_before_anything_heavy():
    code = "import garra, sys; print(sorted({'numpy', 'h5py', 'matplotlib'} & set(sys.modules)))"
    package = Path(garra.__file__).parents[1]
    run = subprocess.run([sys.executable, "-c", code], cwd=package, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_histogram_is_that_of_the_summary():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    found = garra.run(SCENARIOS / "three_puma_sphere.toml", samples=1024)
    ax = found.plot.required_friction()
    (stairs,) = ax.patches
    counts = np.array(found.metrics["required_friction"].counts)
    assert math.isclose(stairs.get_data().values.sum(), 1.0)
    assert np.count_nonzero(stairs.get_data().values) == np.count_nonzero(counts)
    table = found.metrics["min_grip_force"]
    (part,) = found.plot.min_grip_force().patches
    assert table.undefined > 0, "of all samples, not of those with a value"
    assert math.isclose(part.get_data().values.sum(), 1 - (table.undefined + table.below + table.above) / found.samples)
    assert found.plot.object_acceleration().get_xlabel() == "Object acceleration [m/s²]"
    bars = found.plot.outcomes().patches
    assert math.isclose(sum(bar.get_width() for bar in bars), 1.0)
    with pytest.raises(AttributeError, match="there are .*friction_margin"):
        _ = found.plot.frictions
    plt.close("all")


def test_progress_is_told_and_can_end_the_run(tmp_path):
    seen = []
    settings = {"samples": 65536, "set": {"sampling.chunk": 8192}}
    whole = garra.run(SCENARIOS / "three_puma_sphere.toml", progress=seen.append, **settings)
    assert seen and all(0 < r["samples"] <= r["of"] == 65536 for r in seen)
    assert [r["samples"] for r in seen] == sorted(r["samples"] for r in seen)
    assert all(r["low"] <= r["held"] <= r["high"] for r in seen)

    class EnoughError(Exception):
        pass

    def enough(record):
        raise EnoughError

    with pytest.raises(EnoughError):
        garra.run(SCENARIOS / "three_puma_sphere.toml", tmp_path / "run", progress=enough, **settings)
    assert garra.open_run(tmp_path / "run", resume=True).summary == whole.summary


def test_kept_samples_as_a_dataset():
    pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    found = garra.run(SCENARIOS / "three_puma_sphere.toml", samples=1024, set={"output.keep": "all"})
    data = found.to_xarray()
    assert data.sizes == {"sample": 1024}
    assert (data["outcome"] == "held").sum() == found.outcomes["held"]
    assert data.attrs["title"] == found.title
