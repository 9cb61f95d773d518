"""Every call of the library that may go to a GPU has its kernels, and no kernels are there for no call."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from program import PROGRAM, ROOT, garra

BUILD = Path(PROGRAM).parent
NO_DEVICE = 6


MERITS = ("PapersMerit", "ComponentwiseMerit", "FischerBurmeisterMerit", "SecondOrderConeMerit")
MINIMIZERS = ("BoxQuacan", "SpectralProjectedGradient", "SpgNewton", "ProjectedLm")


def symbols(library: Path, pattern: str) -> set[str]:
    listing = subprocess.run(["nm", "-C", library], capture_output=True, text=True, check=True).stdout
    return set(re.findall(pattern, listing))


@pytest.mark.skipif(not (BUILD / "libgarra_kernels.a").is_file(), reason="no nvcc here: no kernels were compiled")
def test_each_call_has_kernels_and_each_kernel_a_call():
    calls = symbols(BUILD / "libgarra.a", r"garra::batch::Launch<(.*)>::kernels\b")
    kernels = symbols(BUILD / "libgarra_kernels.a", r"garra::batch::Kernels<(.*)>::are_linked\b")
    assert len(calls) > 40
    # The kernels of a merit function and a minimizer have one name for all their calls.
    pair = r"garra::contact::PairKernels<\(garra::contact::Merit\)(\d), \(garra::contact::Minimizer\)(\d)>::are_linked\b"
    kernels |= {
        f"garra::solvers::FrictionMerit<garra::solvers::{MINIMIZERS[int(z)]}, garra::solvers::{MERITS[int(m)]}>, "
        f"garra::contact::{batch}"
        for m, z in symbols(BUILD / "libgarra_kernels.a", pair)
        for batch in ("HostBatch", "DeviceBatch", "DeviceTiles")
    }
    # Kernels for rows of the host serve rows of the device, too (rows.cuh), where those have none of their own.
    assert {call if call in kernels else call.replace("ResidentRows", "Rows") for call in calls} == kernels


@pytest.mark.skipif(any(Path("/dev").glob("nvidia[0-9]*")), reason="a GPU is here")
def test_a_program_with_or_without_kernels_says_which_it_misses(tmp_path):
    scenario = ROOT / "data" / "scenarios" / "three_puma_sphere.toml"
    command = ("run", scenario, "--samples", "1024", "--device", "cuda", "-o", tmp_path / "run")
    with_kernels = BUILD / "garra-with-kernels"
    if with_kernels.is_file():
        done = subprocess.run([with_kernels, *map(str, command)], capture_output=True, text=True)
        assert done.returncode == NO_DEVICE and "no NVIDIA GPU" in done.stderr
    done = garra(*command, expect=NO_DEVICE)
    assert re.search("this program has no CUDA kernels|no NVIDIA GPU", done.stderr)
    assert "--device cpu" in done.stderr
    assert not os.path.exists(tmp_path / "run")
