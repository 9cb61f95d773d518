"""tools/check_layers finds a wrong include and a room that is not kept: each case plants one in a copy of the tree,
which passes without it. And it says truly what a new system needs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

# file, the include planted in it, what the message says
PLANTED = [
    ("include/garra/core/mat.hpp", "garra/math/pose.hpp", "core may not include math"),
    ("include/garra/math/pose.hpp", "garra/solvers/friction_problem.hpp", "math may not include solve"),
    ("include/garra/solvers/friction_newton.hpp", "garra/math/pose.hpp", "solvers may not include math"),
    ("include/garra/solvers/friction_newton.hpp", "garra/batch/tiles.hpp", "solvers may not include batch"),
    ("include/garra/systems/grasp/contact.hpp", "garra/solvers/friction_newton.hpp", "systems may not include solve"),
    ("include/garra/systems/chain/model.hpp", "garra/systems/grasp/contact.hpp", "chain may not include systems/grasp"),
    ("include/garra/batch/tiles.hpp", "garra/study/study.hpp", "batch may not include study"),
    ("include/garra/batch/tiles.hpp", "garra/core/lanes.hpp", "lanes.hpp is for the host"),
    ("include/garra/study/study.hpp", "garra/io/scenario.hpp", "study may not include io"),
    ("include/garra/grasp.hpp", "garra/io/scenario.hpp", "entry may not include io"),
    ("include/garra/io/scenario.hpp", "garra/batch/tiles.hpp", "io may not include batch"),
    # what the rooms share
    ("src/base/device.cpp", "garra/grasp.hpp", "src/base may not include entry"),
    ("src/base/cuda_device.hpp", "base/files/hdf5.hpp", "src/base may not include src/base/files"),
    ("src/base/files/hdf5.cpp", "garra/chain.hpp", "src/base/files may not include entry"),
    ("src/base/scenario/fields.hpp", "chain/files/robot_table.hpp", "src/base/files may not include system files"),
    ("src/study/engine.cpp", "base/files/hdf5.hpp", "src/study may not include src/base/files"),
    ("src/study/files/run_lock.cpp", "cli/progress.hpp", "src/study/files may not include src/cli"),
    ("src/cli/program.cpp", "grasp/study/grasp_study.hpp", "src/cli may not include system"),
    ("src/cli/jobs.cpp", "chain/files/trajectory_file.hpp", "src/cli may not include system files"),
    # systems
    ("src/contact/batch/contact_solve.cpp", "chain/model/robot.hpp", "contact may not include chain"),
    ("src/chain/model/form.cpp", "garra/io/scenario.hpp", "system may not include io"),
    ("src/chain/model/form.cpp", "chain/files/states_file.hpp", "system may not include system files"),
    ("src/chain/study/chain_study.cpp", "grasp/study/grasp_study.hpp", "chain may not include grasp"),
    ("src/grasp/sample/grasp_model.hpp", "platform/study/platform_study.hpp", "grasp may not include platform"),
    ("src/grasp/files/grasp_scenario.cpp", "cli/commands.hpp", "system files may not include src/cli"),
    ("src/grasp/files/grasp_scenario.cpp", "platform/files/parts.hpp", "grasp may not include platform"),
    ("src/singularity/map/measure.cpp", "papers/claims.hpp", "singularity may not include papers"),
    ("src/platform/command/platform_job.cpp", "grasp/study/grasp_study.hpp", "platform may not include grasp"),
    ("src/papers/tables.cpp", "cli/flags.hpp", "system may not include src/cli"),
    # kernels
    ("kernels/base/device.cu", "garra/io/scenario.hpp", "kernels may not include io"),
    ("kernels/base/device.cu", "garra/batch/for_each.hpp", "leads to lanes.hpp"),
    ("kernels/base/device.cu", "contact/batch/body.hpp", "base may not include contact"),
    ("kernels/chain/eval.cu", "grasp/sample/grasp_model.hpp", "chain may not include grasp"),
    ("kernels/chain/eval.cu", "contact/solve.cuh", "chain may not include contact"),
    ("kernels/chain/eval.cu", "chain/files/states_file.hpp", "kernels may not include system files"),
    ("src/contact/batch/body.hpp", "contact/batch/lanes.hpp", "leads to lanes.hpp"),
    # headers behind one door
    ("include/garra/core/factor.hpp", "immintrin.h", "belongs in include/garra/core/lanes.hpp only"),
    ("include/garra/math/pose.hpp", "Eigen/Core", "belongs in include/garra/eigen.hpp and"),
    ("src/singularity/map/measure.cpp", "Eigen/SVD", "belongs in include/garra/eigen.hpp and"),
    ("src/singularity/map/map_kernel.hpp", "singularity/exact/parts.hpp", "leads to Eigen"),
    ("include/garra/chain.hpp", "garra/eigen.hpp", "who does not include it needs no Eigen"),
    ("src/grasp/files/grasp_scenario.cpp", "hdf5.h", "belongs in src/base/files/ only"),
    ("src/study/engine.cpp", "zlib.h", "belongs in src/base/files/ and src/study/files/ only"),
    ("src/base/scenario/fields.hpp", "toml++/toml.h", "belongs in src/base/files/ only"),
    ("src/base/files/toml_parse.cpp", "tinyxml2.h", "belongs in src/chain/files/ only"),
    ("src/chain/files/states_file.cpp", "CLI/CLI.hpp", "belongs in src/cli/command_line.cpp only"),
    ("src/contact/bench/table.cpp", "CLI/CLI.hpp", "belongs in src/cli/command_line.cpp only"),
    ("src/base/device.cpp", "cuda_runtime.h", "belongs in kernels/"),
    ("src/cli/program.cpp", "garra/core/gone.hpp", "no such file"),
]


def check(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools/check_layers"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("include", "src", "kernels"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def expect_fault(tree: Path, message: str) -> None:
    result = check(str(tree))
    assert result.returncode == 1
    assert message in result.stdout


def test_a_copy_of_the_tree_passes(tree: Path) -> None:
    result = check(str(tree))
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(("file", "include", "message"), PLANTED)
def test_a_wrong_include_fails(tree: Path, file: str, include: str, message: str) -> None:
    path = tree / file
    ours = (ROOT / "src" / include.split("/")[0]).is_dir() or include.startswith("garra/")
    quoted = f'"{include}"' if ours else f"<{include}>"
    path.write_text(f"#include {quoted}\n" + path.read_text())
    expect_fault(tree, message)


def test_a_small_system_has_files_in_place_of_folders(tree: Path) -> None:
    room = tree / "src/small"
    room.mkdir()
    (room / "README.md").write_text("# small\n")
    (room / "scenario.cpp").write_text('#include "base/scenario/fields.hpp"\n')
    (room / "job.cpp").write_text('#include "cli/jobs.hpp"\n')
    (room / "study.cpp").write_text('#include "garra/study/system.hpp"\n')
    assert check(str(tree)).returncode == 0
    (room / "study.cpp").write_text('#include "cli/jobs.hpp"\n')
    expect_fault(tree, "src/small/study.cpp:1: includes cli/jobs.hpp: system may not include src/cli")
    (room / "study.cpp").write_text('#include "grasp/study/grasp_study.hpp"\n')
    expect_fault(tree, "small may not include grasp")


def test_a_fifth_file_of_one_name_fails(tree: Path) -> None:
    for folder in ("grasp/time", "grasp/set", "grasp/study", "chain/study", "cli"):
        (tree / "src" / folder).mkdir(parents=True, exist_ok=True)
        (tree / "src" / folder / "more.hpp").write_text("#pragma once\n")
    expect_fault(tree, "5 files of src/ have this name")


def test_a_folder_of_more_than_thirty_files_fails(tree: Path) -> None:
    for k in range(31):
        (tree / f"src/papers/p{k}.hpp").write_text("#pragma once\n")
    expect_fault(tree, "files, more than 30")


def test_a_room_without_a_readme_fails(tree: Path) -> None:
    (tree / "src/grasp/README.md").unlink()
    expect_fault(tree, "src/grasp:1: has no README.md")


def test_threads_of_ones_own_fail(tree: Path) -> None:
    path = tree / "src/contact/lcp/lcp_solve.cpp"
    path.write_text(path.read_text() + "\n#pragma omp parallel for\n")
    result = check(str(tree))
    assert result.returncode == 1
    assert "src/contact/lcp/lcp_solve.cpp" in result.stdout and "batch::for_blocks" in result.stdout


def test_two_types_of_one_name_fail(tree: Path) -> None:
    path = tree / "src/grasp/set/set_model.hpp"
    text = path.read_text().rstrip().removesuffix("}  // namespace garra::grasp")
    # A template that another file of the room has, too: declared it is the same, defined it is another.
    path.write_text(text + "template <int N>\nstruct AssembleKernel;\n\n}  // namespace garra::grasp\n")
    assert check(str(tree)).returncode == 0
    path.write_text(text + "template <int N>\nstruct AssembleKernel {\n};\n\n}  // namespace garra::grasp\n")
    expect_fault(tree, "garra::grasp::AssembleKernel is the name of another type")


def test_a_folder_without_sources_is_an_error(tmp_path: Path) -> None:
    assert check(str(tmp_path)).returncode == 2


def test_what_a_new_system_needs_is_little_and_its_places_are_there() -> None:
    result = check("--how-to-add", "system", "pendulum")
    assert result.returncode == 0
    paths = re.findall(r"^  (\S*/\S+)", result.stdout, re.MULTILINE)
    new = [path for path in paths if "pendulum" in path]
    registry = [path for path in paths if "pendulum" not in path]
    assert 5 <= len(new) <= 12
    assert len({path.rsplit("/", 1)[0] for path in new}) <= 6
    assert registry == ["src/base/scenario/jobs.hpp"]
    assert "kJobs[] = {" in (ROOT / registry[0]).read_text()
    for path in new:  # folders of its own stand where those of other systems do
        folder = Path(path).parent
        there = folder.parent if folder.name == "pendulum" else folder
        assert (ROOT / there).is_dir(), path
    for named in ("python/garra/own", "python/garra/jobs.py", "CHANGELOG.md", "README.md", "docs/howto/own-study.md"):
        assert (ROOT / named).exists()
    assert check("--how-to-add", "system", "No/such").returncode == 2
    assert check("--how-to-add", "pendulum").returncode == 2
