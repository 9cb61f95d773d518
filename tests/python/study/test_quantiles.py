"""Quantiles of a study against those of its samples, written out one by one (docs/theory/monte-carlo.md, Quantiles)."""

from __future__ import annotations

import math
from pathlib import Path

import h5py
import numpy as np
import pytest
from program import ROOT, garra, summary_of, table_of

SCENARIOS = ROOT / "data" / "scenarios"
BOUND = 1 / 128  # what the page promises, of the value; below 2^-40 values count as 0
LEAST, MOST = 2.0**-40, 2.0**40


def check(distribution: dict, values: np.ndarray) -> int:
    """How many quantiles were compared."""
    values = np.sort(values[~np.isnan(values)])
    for p, found in distribution["quantiles"].items():
        if len(values) == 0:
            assert found is None
            continue
        # p n may be rounded onto either side of a whole number.
        rank = float(p) * len(values)
        exact = values[[max(0, math.ceil(rank * s) - 1) for s in (1 - 1e-12, 1 + 1e-12)]]
        if found is None:
            assert abs(exact).max() >= MOST
            continue
        off = np.abs(found - exact) - (BOUND * np.abs(exact) + LEAST)
        assert off.min() <= 0, f"{p}: {found}, and {exact[0]} of the samples"
    return len(distribution["quantiles"]) * (len(values) > 0)


def run(folder: Path, scenario: str, samples: int, *settings: str) -> tuple[dict, dict]:
    flags = [flag for setting in settings for flag in ("--set", setting)]
    garra("run", SCENARIOS / scenario, "-o", folder, "--samples", samples, "--no-report", "--quiet", *flags)
    return summary_of(folder), table_of(folder / "results.h5")


def outcomes(folder: Path) -> list[str]:
    with h5py.File(folder / "results.h5") as file:
        return list(file["outcome"].attrs["names"])


@pytest.mark.parametrize("scenario", ["three_puma_sphere", "four_finger_box", "two_finger_cylinder"])
def test_of_a_grasp(tmp_path, scenario):
    summary, table = run(tmp_path / "run", f"{scenario}.toml", 6000, 'output.keep="all"')
    reached = table["outcome"] != outcomes(tmp_path / "run").index("unreachable")
    compared = 0
    for name, metric in summary["metrics"].items():
        compared += check(metric, table["margin" if name == "friction_margin" else name][reached])
    for j, contact in enumerate(summary["contacts"]):
        compared += check(contact["normal_force"], table["c"][reached, 3 * j])
    assert compared >= 7 * (len(summary["contacts"]) + 4)
    if scenario == "three_puma_sphere":
        margin = summary["metrics"]["friction_margin"]["quantiles"]
        assert margin["0.05"] < 0 < margin["0.5"], "both signs are put to the test"
        assert summary["metrics"]["load_factor"]["quantiles"]["0.05"] == 0, "and a lump of zeros"


def test_of_a_grasp_in_time(tmp_path):
    summary, table = run(
        tmp_path / "run",
        "three_puma_shake.toml",
        400,
        'output.keep="all"',
        "simulation.friction=[0.25, 0.5]",
        "simulation.duration=0.3",
    )
    ends = outcomes(tmp_path / "run")
    undecided = np.isin(table["outcome"], [ends.index("unsolved"), ends.index("non_finite")])
    for k, level in enumerate(summary["levels"]):
        mine = (table["level"] == k) & (table["outcome"] != ends.index("unreachable"))
        for name in ("peak_drift", "peak_turn", "peak_force", "peak_torque"):
            assert check(level[name], np.where(undecided, np.nan, table[name])[mine]) == 7


def test_of_chains(tmp_path):
    summary, table = run(
        tmp_path / "run", "exoskeleton_damping.toml", 300, 'output.keep="all"', "simulation.step=1 ms",
        'sweep={ "vary.damping" = [0.001, 0.05] }',
    )  # fmt: skip
    for d, design in enumerate(summary["designs"]):
        mine = table["design"] == d
        for name in ("settling_time", "work", "dissipated"):
            assert check(design[name], table[name][mine]) == 7
        for name in ("peak_torque", "peak_speed"):
            for j, joint in enumerate(design[name]):
                assert check(joint, table[name][mine, j]) == 7


def test_of_a_platform(tmp_path):
    summary, table = run(tmp_path / "run", "platform_climb.toml", 2000, 'output.keep="all"')
    valid = table["outcome"] != outcomes(tmp_path / "run").index("invalid")
    for name, metric in summary["metrics"].items():
        assert check(metric, table[name][valid]) == 7


def test_of_singularities(tmp_path):
    # All are near, so that all are kept.
    summary, table = run(
        tmp_path / "run", "puma_singularities.toml", 5000, "measure.near=0.999", "output.keep_from_first=5000",
        "output.voxels=0", "slice=[]",
    )  # fmt: skip
    assert len(table["index"]) == 5000
    assert check({"quantiles": summary["quantiles"]["sigma_min"]}, table["sigma_min"]) == 7
    assert check({"quantiles": summary["quantiles"]["condition"]}, 1 / table["inverse_condition"]) == 7
    assert check(summary["histograms"]["manipulability"], table["manipulability"]) == 7
    converged = table["search_status"] == 0
    assert check(summary["nearest"]["distance"], table["distance"][converged]) == 7
    for p, x in summary["histograms"]["log_sigma"]["quantiles"].items():
        assert x == pytest.approx(math.log10(summary["quantiles"]["sigma_min"][p]), abs=1e-12)
