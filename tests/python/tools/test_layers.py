"""tools/check_layers finds a wrong include: each case plants one in a copy of the tree, which passes without it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

# file, the include planted in it, what the message says
PLANTED = [
    ("include/garra/core/mat.hpp", "garra/math/pose.hpp", "core may not include math"),
    ("include/garra/math/pose.hpp", "garra/solve/friction_problem.hpp", "math may not include solve"),
    ("include/garra/solve/friction_newton.hpp", "garra/math/pose.hpp", "solve may not include math"),
    ("include/garra/solve/friction_newton.hpp", "garra/batch/tiles.hpp", "solve may not include batch"),
    ("include/garra/systems/grasp/contact.hpp", "garra/solve/friction_newton.hpp", "systems may not include solve"),
    ("include/garra/systems/chain/model.hpp", "garra/systems/grasp/contact.hpp", "chain may not include systems/grasp"),
    ("include/garra/batch/tiles.hpp", "garra/study/study.hpp", "batch may not include study"),
    ("include/garra/batch/tiles.hpp", "garra/core/lanes.hpp", "lanes.hpp is for the host"),
    ("include/garra/study/study.hpp", "garra/io/scenario.hpp", "study may not include io"),
    ("include/garra/grasp.hpp", "garra/io/scenario.hpp", "entry may not include io"),
    ("include/garra/io/scenario.hpp", "garra/batch/tiles.hpp", "io may not include batch"),
    ("src/io/scenario.cpp", "cli/commands.hpp", "src/io may not include src/cli"),
    ("src/systems/chain_puma.cpp", "garra/io/scenario.hpp", "src/systems may not include io"),
    ("kernels/device.cu", "garra/io/scenario.hpp", "kernels may not include io"),
    ("kernels/device.cu", "garra/batch/for_each.hpp", "leads to lanes.hpp"),
    ("src/systems/contact_batch.hpp", "systems/contact_lanes.hpp", "leads to lanes.hpp"),
    ("include/garra/core/factor.hpp", "immintrin.h", "belongs in include/garra/core/lanes.hpp only"),
    ("include/garra/math/pose.hpp", "Eigen/Core", "belongs in include/garra/eigen.hpp and"),
    ("src/systems/singularity_map.cpp", "Eigen/SVD", "belongs in include/garra/eigen.hpp and"),
    ("include/garra/chain.hpp", "garra/eigen.hpp", "who does not include it needs no Eigen"),
    ("src/systems/singularity_map_batch.hpp", "systems/singularity_parts.hpp", "leads to Eigen"),
    ("src/cli/main.cpp", "garra/core/gone.hpp", "no such file"),
]


def check(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools/check_layers"), str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("include", "src", "kernels"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def test_a_copy_of_the_tree_passes(tree: Path) -> None:
    result = check(tree)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(("file", "include", "message"), PLANTED)
def test_a_wrong_include_fails(tree: Path, file: str, include: str, message: str) -> None:
    path = tree / file
    brackets = f'"{include}"' if include.startswith(("garra/", "cli/", "systems/")) else f"<{include}>"
    path.write_text(f"#include {brackets}\n" + path.read_text())
    result = check(tree)
    assert result.returncode == 1
    assert message in result.stdout


def test_threads_of_ones_own_fail(tree: Path) -> None:
    path = tree / "src/systems/lcp.cpp"
    path.write_text(path.read_text() + "\n#pragma omp parallel for\n")
    result = check(tree)
    assert result.returncode == 1
    assert "src/systems/lcp.cpp" in result.stdout and "batch::for_blocks" in result.stdout


def test_a_folder_without_sources_is_an_error(tmp_path: Path) -> None:
    assert check(tmp_path).returncode == 2
