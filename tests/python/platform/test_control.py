"""`garra run` with [simulation], seen from outside: what a summary says is counted again from results.h5."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from program import INVALID, ROOT, USAGE, garra, summary_of, table_of

SCENARIO = ROOT / "data" / "scenarios" / "platform_control.toml"
SMALL = ("--samples", 300, "--set", "path.duration=0.4", "--set", "path.instants=21", "--set", 'output.keep="all"')


def run(folder, *more, expect=0):
    return garra("run", SCENARIO, "-o", folder, *SMALL, *more, expect=expect)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "whole"
    done = run(folder)
    assert "simulated with computed torque every 1 ms" in done.stdout and "Largest distance from path" in done.stdout
    return folder


def test_errors_are_metrics_and_their_limit_is_an_outcome(whole):
    summary, rows = summary_of(whole), table_of(whole / "results.h5")
    errors = rows["position_error"]
    assert (rows["rms_position_error"] <= errors).all() and (errors > 0).all()
    low, high = (summary["metrics"]["position_error"]["quantiles"][q] for q in ("0.05", "0.95"))
    assert np.quantile(errors, [0.05, 0.95]) == pytest.approx([low, high], rel=0.05)
    tracking = summary["outcomes"]["tracking"]
    assert tracking == np.sum(errors > 0.01) or tracking + summary["outcomes"]["feasible"] < 300
    assert summary["simulation"] == {
        "control": "computed_torque", "stiffness": 900, "damping": 60, "integral": 0, "force_limit": 950,
        "period": 1e-3, "delay": 1e-3,
    }  # fmt: skip


def test_the_report_shows_errors_over_time(whole):
    html = (whole / "report.html").read_text()
    for words in ("Distance from the path", "PD with inverse dynamics", "Largest distance from the path"):
        assert words in html
    with h5py.File(whole / "path.h5") as h5:
        assert h5["position_error"].shape == h5["angle_error"].shape == (21,)


def test_a_tighter_limit_makes_tracking_the_outcome(tmp_path):
    run(tmp_path / "run", "--set", "allowed.position_error=1e-6", "--no-report")
    assert summary_of(tmp_path / "run")["outcomes"]["tracking"] == 300


def test_the_servo_of_each_leg_follows_worse_at_first(tmp_path, whole):
    run(tmp_path / "run", "--set", 'simulation.control="feedforward"', "--no-report", "--set", "allowed.position_error=1")
    open_loop = summary_of(tmp_path / "run")["metrics"]["position_error"]["quantiles"]["0.5"]
    assert open_loop > 2 * summary_of(whole)["metrics"]["position_error"]["quantiles"]["0.5"]


@pytest.mark.parametrize(
    ("changes", "code", "says"),
    [
        (("simulation.period=0.003", "simulation.delay=0"), INVALID, "simulation.period"),
        (("simulation.delay=0.0015",), USAGE, "is not 0 to 8 whole periods"),
        (("simulation.integral=5",), USAGE, "only legs have an integral"),
        (("simulation.gain=5",), USAGE, "simulation.gain"),
    ],
)
def test_bad_input_is_named(tmp_path, changes, code, says):
    flags = [word for change in changes for word in ("--set", change)]
    assert says in run(tmp_path / "run", *flags, expect=code).stderr


def test_check_prints_a_scenario_that_runs_to_the_same(whole, tmp_path):
    printed = garra("check", SCENARIO).stdout
    assert "[simulation]" in printed and "control" in printed
    (tmp_path / "printed.toml").write_text(printed)
    garra("run", tmp_path / "printed.toml", "-o", tmp_path / "run", *SMALL, "--no-report", "--threads", 1)
    assert (tmp_path / "run" / "summary.json").read_bytes() == (whole / "summary.json").read_bytes()


def test_a_map_needs_no_masses_and_has_travel_and_volume(tmp_path):
    platform = (ROOT / "data/platforms/trepa_like.toml").read_text()
    lines = [x for x in platform.splitlines() if not x.startswith(("mass", "inertia", "tube", "rod"))]
    (tmp_path / "light.toml").write_text("\n".join(lines))
    text = (ROOT / "data/scenarios/platform_workspace.toml").read_text()
    text = text.replace('model = "trepa_like"', 'file = "light.toml"').replace('force = "600 N"\n', "")
    text = text.replace("[25, 25, 21]", "[7, 7, 6]").replace("orientations = 64", "orientations = 8")
    head, rest = text.split("[payload]")
    (tmp_path / "map.toml").write_text(head + "[map]" + rest.split("[map]")[1])
    done = garra("run", tmp_path / "map.toml", "-o", tmp_path / "run")
    summary = summary_of(tmp_path / "run")
    assert summary["kinematic"] and "peak_force" not in summary["metrics"]
    assert "Reachable volume" in done.stdout and "others centered" in done.stdout and " N\n" not in done.stdout
    axes = {a["axis"]: a for a in summary["travel"]["home"]["axes"]}
    # By symmetry the machine goes as far to both sides in y, and turns as far both ways about x.
    for axis in ("y", "about x"):
        assert axes[axis]["backward"] == pytest.approx(axes[axis]["forward"], rel=1e-6)
    centered = {a["axis"]: a for a in summary["travel"]["centered"]["axes"]}
    assert centered["z"]["backward"] == pytest.approx(centered["z"]["forward"], rel=0.05)
    cell = (1.2 / 6) * (1.2 / 6) * (1.0 / 5)
    every = summary["reachable"]["every_orientation"]
    assert every["volume"] == pytest.approx(every["nodes"] * cell) and every["nodes"] == summary["nodes"]["always"]
    assert "Travel" in (tmp_path / "run" / "report.html").read_text()


def test_a_platform_that_runs_away_is_a_failure(tmp_path):
    """Gains too high for the period: the motion overflows between two instants of the path."""
    garra("run", SCENARIO, "-o", tmp_path / "run", "--samples", 64, "--set", "path.duration=0.4", "--set", "path.instants=5",
          "--set", 'simulation.control="gravity"', "--set", "simulation.stiffness=5e6", "--set", "simulation.damping=1e5",
          "--set", "simulation.period=0.002", "--set", "simulation.delay=0.002", "--set", "simulation.force_limit=1e300",
          "--no-report")  # fmt: skip
    outcomes = summary_of(tmp_path / "run")["outcomes"]
    assert outcomes["stroke"] == 64 and outcomes["invalid"] == 0
