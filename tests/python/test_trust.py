"""What lies in a folder is data: a stranger's files run no code, and our own work destroys nobody's files (SECURITY.md)."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from program import DONE, ROOT, USAGE, garra

SPHERE = ROOT / "data" / "scenarios" / "three_puma_sphere.toml"
INPUT_OUTPUT = 5
# Found by `python -m` before the standard library and before the project's own package.
PLANTED = [
    "json.py",
    "argparse.py",
    "runpy.py",
    "numpy.py",
    "h5py.py",
    "jinja2/__init__.py",
    "matplotlib/__init__.py",
    "garra/__init__.py",
    "garra/report.py",
    "sitecustomize.py",
    "usercustomize.py",
]


def run_small(folder: Path, *more, expect: int | None = DONE, **options):
    return garra("run", SPHERE, "--samples", 2048, "--quiet", "-o", folder, *more, expect=expect, **options)


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("trust") / "run"
    run_small(folder, "--no-report")
    return folder


@pytest.fixture
def copy(small, tmp_path) -> Path:
    return Path(shutil.copytree(small, tmp_path / "copy"))


# --- nothing of a folder is executed


def plant(folder: Path, proof: Path) -> None:
    for name in PLANTED:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"open({str(proof)!r}, 'a').write({name!r} + ' ')\n")
    (folder / "matplotlibrc").write_text("backend: module://json\nfigure.dpi: 1\n")


@pytest.mark.parametrize("where", ["", "models", "elsewhere"])
def test_no_module_of_the_current_folder_or_of_the_run_folder_is_executed(copy, tmp_path, where):
    (copy / "models").mkdir(exist_ok=True)
    (tmp_path / "elsewhere").mkdir()
    proof = tmp_path / "executed"
    for folder in (copy, copy / "models", tmp_path / "elsewhere"):
        plant(folder, proof)
    current = tmp_path / "elsewhere" if where == "elsewhere" else copy / where
    run = os.path.relpath(copy, current)
    variables = os.environ | {"PYTHONPATH": f":{current}:{copy}", "PYTHONSTARTUP": str(copy / "json.py")}
    garra("report", run, cwd=current, env=variables)
    assert not proof.exists(), f"executed: {proof.read_text()}"
    assert (copy / "report.html").stat().st_size > 10_000


def test_a_new_run_executes_nothing_of_the_current_folder(tmp_path):
    plant(tmp_path, tmp_path / "executed")
    run_small(Path("run"), cwd=tmp_path)
    assert not (tmp_path / "executed").exists()
    assert (tmp_path / "run" / "report.html").exists()
    (tmp_path / "run" / "results.h5").unlink()  # resume makes the report, too
    garra("resume", "run", "--quiet", cwd=tmp_path)
    assert not (tmp_path / "executed").exists()


# --- nobody's files are destroyed

FOREIGN = ["thesis.part1.tex", "movie.mkv.part", "results.h5.part", "x.part123", "a.garra-.part", "a.garra-host-x.part"]


def dead_process() -> int:
    done = subprocess.Popen(["true"])
    done.wait()
    return done.pid


def host() -> str:
    return "".join(c if c.isalnum() else "-" for c in socket.gethostname())


@pytest.mark.parametrize("sub", ["", "chunks", "failures"])
def test_only_temporary_files_of_our_dead_processes_are_removed(copy, sub):
    folder = copy / sub
    ours = folder / f"summary.json.garra-{host()}-{dead_process()}.part"
    alive = folder / f"summary.json.garra-{host()}-{os.getpid()}.part"
    other = folder / "results.h5.garra-another-host-7.part"
    stale = folder / "map.h5.garra-another-host-7.part"
    for file in [ours, alive, other, stale, *(folder / name for name in FOREIGN)]:
        file.write_text("precious")
    os.utime(stale, (1e9, 1e9))
    (copy / "results.h5").unlink()
    garra("resume", copy, "--no-report", "--quiet")
    assert not ours.exists() and not stale.exists()
    for file in [alive, other, *(folder / name for name in FOREIGN)]:
        assert file.read_text() == "precious"


def test_a_run_takes_only_a_new_or_an_empty_folder(tmp_path):
    (tmp_path / "thesis.part1.tex").write_text("precious")
    done = run_small(tmp_path, "--no-report", expect=USAGE)
    assert "is not empty" in done.stderr and "-o" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.part1.tex"]
    (tmp_path / "empty").mkdir()
    run_small(tmp_path / "empty", "--no-report")
    assert (tmp_path / "empty" / "summary.json").exists()


@pytest.mark.parametrize("name", ["summary.json", "manifest.json", "report.html", "chunks", "chunks/000000", "failures"])
def test_nothing_is_written_through_a_symbolic_link(copy, tmp_path, name):
    victim = tmp_path / "victim"
    file = copy / name
    if file.is_dir():
        shutil.copytree(file, victim)
        shutil.rmtree(file)
    else:
        victim.write_text("precious")
        file.unlink(missing_ok=True)
    file.symlink_to(victim)
    before = {p: p.read_bytes() for p in [victim, *victim.rglob("*")] if p.is_file()}
    (copy / "results.h5").unlink()
    for command in ("resume", "report"):
        done = garra(command, copy, expect=INPUT_OUTPUT)
        assert f"{file}: is a symbolic link" in done.stderr
    assert before == {p: p.read_bytes() for p in [victim, *victim.rglob("*")] if p.is_file()}


def test_a_planted_link_at_the_old_temporary_name_of_the_report_is_not_followed(copy, tmp_path):
    (tmp_path / "victim").write_text("precious")
    python = ROOT / ".venv" / "bin" / "python"
    (copy / "report.html.tmp").symlink_to(tmp_path / "victim")
    subprocess.run([python, "-m", "garra.report", copy], check=True, env=os.environ | {"PYTHONPATH": str(ROOT / "python")})
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_model_counts_whatever_its_name_is(tmp_path):
    scenario = tmp_path / "arm.toml"
    model = (ROOT / "data" / "robots" / "puma560.toml").read_text()
    (tmp_path / "arm.part1.toml").write_text(model)
    scenario.write_text('schema = 1\njob = "singularity"\n[robot]\nfile = "arm.part1.toml"\n'
                        "[sampling]\nsamples = 2048\n[output]\nvoxels = 2\n")  # fmt: skip
    garra("run", scenario, "-o", tmp_path / "run", "--no-report", "--quiet")
    (tmp_path / "run" / "models" / "arm.part1.toml").write_text("# changed\n" + model)
    done = garra("resume", tmp_path / "run", "--no-report")
    assert "chunk 0 belongs to another scenario" in done.stderr
