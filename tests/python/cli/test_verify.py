"""`garra verify`: what a run folder holds, compared with what its scenario gives."""

from __future__ import annotations

import json
import re
import shutil
import zlib
from pathlib import Path

import h5py
import pytest
from chunk_files import forge
from program import DONE, ROOT, garra

SPHERE = ROOT / "data" / "scenarios" / "three_puma_sphere.toml"
FAILED, INPUT_OUTPUT = 1, 5


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("verify") / "run"
    chunks = ("--set", "sampling.chunk=1024")
    garra("run", SPHERE, "--samples", 4096, "--quiet", "--no-report", *chunks, "-o", folder)
    return folder


@pytest.fixture
def copy(whole, tmp_path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def files_of(folder: Path) -> dict[Path, bytes]:
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def faults_of(folder: Path, *more, expect=FAILED) -> list[str]:
    before = files_of(folder)
    done = garra("verify", folder, "--format", "json", *more, expect=expect)
    assert files_of(folder) == before
    said = json.loads(done.stdout)
    assert said["verified"] == (not said["faults"])
    return said["faults"]


def one_more_held(d) -> None:
    """A lie that only computing finds: one of the samples that failed becomes a held one."""
    failed = next(k for k in range(1, 9) if d["counts"][k] > 0)
    d["counts"][0] += 1
    d["counts"][failed] -= 1


def test_a_run_is_what_its_scenario_gives(whole):
    assert faults_of(whole, "--fraction", 1, expect=DONE) == []
    said = garra("verify", whole).stdout
    assert re.search(r"finished, the first 4 chunks with 4096 samples are sound; 1 of them computed again\nverified", said)


@pytest.mark.parametrize("device", ["scalar", "cpu"])
def test_another_device_computes_the_same_bytes(whole, device):
    assert faults_of(whole, "--fraction", 0.5, "--device", device, expect=DONE) == []


def test_a_forged_chunk_is_found_by_computing_it(copy):
    forge(copy / "chunks" / "000002", one_more_held)
    faults = faults_of(copy, "--fraction", 1)
    assert "chunk 2 is not what the scenario gives (samples 2048 to 3071)" in faults
    assert "summary.json is not that of the chunks" in faults


def test_a_summary_with_another_number_is_found(copy):
    text = (copy / "summary.json").read_text()
    (copy / "summary.json").write_text(text.replace('"probability": 0.', '"probability": 0.9', 1))
    assert faults_of(copy, "--fraction", 0) == ["summary.json is not that of the chunks"]


def test_results_with_another_number_are_found_even_with_their_checksum(copy):
    with h5py.File(copy / "results.h5", "r+") as f:
        f["residual"][0] = 0.0
    assert faults_of(copy, "--fraction", 0) == [
        "results.h5 is missing, or is not the file that the run has written",
        "results.h5 is not that of the chunks",
    ]
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["files"]["results.h5"] = f"crc32:{zlib.crc32((copy / 'results.h5').read_bytes()):08x}"
    (copy / "manifest.json").write_text(json.dumps(manifest, indent=1))
    assert faults_of(copy, "--fraction", 0) == ["results.h5 is not that of the chunks"]


def test_a_chunk_that_is_gone_or_damaged_is_named(copy):
    (copy / "chunks" / "000003").write_bytes(b"no chunk")
    assert faults_of(copy) == ["chunk 3 is damaged"]  # the summary is not compared with a part of the run
    assert "chunk 3 is damaged" in garra("status", copy).stdout
    (copy / "chunks" / "000001").unlink()
    assert "chunk 1 is missing" in faults_of(copy)


def test_an_unfinished_run_is_verified_so_far(copy):
    (copy / "summary.json").unlink()
    (copy / "chunks" / "000003").unlink()
    assert faults_of(copy, "--fraction", 1, expect=DONE) == []
    assert "unfinished, the first 3 chunks with 3072 samples are sound" in garra("verify", copy).stdout


def test_a_changed_scenario_or_no_run_is_refused(copy, tmp_path):
    (copy / "scenario.toml").write_text((copy / "scenario.toml").read_text() + "\n# changed\n")
    assert "were changed after the run" in garra("verify", copy, expect=INPUT_OUTPUT).stderr
    assert "no run folder" in garra("verify", tmp_path, expect=INPUT_OUTPUT).stderr
