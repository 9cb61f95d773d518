"""What lies in a folder is data: a stranger's files run no code, and our own work destroys nobody's files (SECURITY.md)."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import shutil
import socket
import struct
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from chunk_files import forge, write_chunk
from program import DONE, INVALID, PROGRAM, ROOT, USAGE, garra, summary_of

SPHERE = ROOT / "data" / "scenarios" / "three_puma_sphere.toml"
INPUT_OUTPUT, NO_DEVICE = 5, 6
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
    garra("resume", copy, "--no-report", "--quiet")  # what lies in models/ counts as a part of the run
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


def test_what_a_killed_program_left_beside_an_output_goes_when_that_is_written_again(tmp_path):
    out, mark = tmp_path / "puma.hpp", "0123abcd.part"
    garra("chain", "generate", "puma560", "-o", out)
    ours = tmp_path / f"puma.hpp.garra-{host()}-{dead_process()}.{mark}"
    kept = [
        tmp_path / f"puma.hpp.garra-{host()}-{os.getpid()}.{mark}",
        tmp_path / f"other.hpp.garra-{host()}-{dead_process()}.{mark}",
        tmp_path / f"puma.hpp.garra-another-host-7.{mark}",
        tmp_path / "puma.hpp.garra-thesis.part",
    ]
    for file in (ours, *kept):
        file.write_text("precious")
    garra("chain", "generate", "puma560", "-o", out)
    assert not ours.exists() and all(file.read_text() == "precious" for file in kept)


def test_what_a_killed_report_left_goes_with_the_next_one(copy):
    ours = copy / f"report.html.garra-{host()}-{dead_process()}.part"
    kept = [
        copy / f"report.html.garra-{host()}-{os.getpid()}.part",
        copy / f"summary.json.garra-{host()}-{dead_process()}.part",
        copy / "report.html.garra-another-host-7.part",
        copy / f"report.html.garra-{host()}-thesis.part",
    ]
    for file in (ours, *kept):
        file.write_text("precious")
    garra("report", copy)
    assert not ours.exists() and all(file.read_text() == "precious" for file in kept)


def test_a_run_takes_only_a_new_or_an_empty_folder(tmp_path):
    (tmp_path / "thesis.part1.tex").write_text("precious")
    done = run_small(tmp_path, "--no-report", expect=USAGE)
    assert "is not empty" in done.stderr and "-o" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.part1.tex"]
    (tmp_path / "empty").mkdir()
    run_small(tmp_path / "empty", "--no-report")
    assert (tmp_path / "empty" / "summary.json").exists()


def test_a_run_that_was_killed_while_it_was_made_may_be_made_again(tmp_path):
    (tmp_path / "run" / "chunks").mkdir(parents=True)
    (tmp_path / "run" / "models").mkdir()
    (tmp_path / "run" / f"scenario.toml.garra-{host()}-{dead_process()}.part").write_text("half")
    run_small(tmp_path / "run", "--no-report")
    assert (tmp_path / "run" / "summary.json").exists()
    (tmp_path / "mine" / "chunks").mkdir(parents=True)
    (tmp_path / "mine" / "chunks" / "thesis.tex").write_text("precious")
    assert "is not empty" in run_small(tmp_path / "mine", "--no-report", expect=USAGE).stderr
    shutil.rmtree(tmp_path / "mine" / "chunks")
    (tmp_path / "mine" / "chunks").mkdir()
    (tmp_path / "mine" / "models").mkdir()
    (tmp_path / "mine" / "models" / "arm.toml").write_text("precious")
    assert "is not empty" in run_small(tmp_path / "mine", "--no-report", expect=USAGE).stderr


@pytest.mark.parametrize(
    "name", ["summary.json", "manifest.json", "report.html", "chunks", "chunks/000000", "failures"]
)
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
    subprocess.run(
        [python, "-m", "garra.report", copy], check=True, env=os.environ | {"PYTHONPATH": str(ROOT / "python")}
    )
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


# --- chunks: what a file says is believed only where its origin and its shape are right


def shifted(d):
    d["counts"] = d["counts"][7:] + d["counts"][:7]


def nan_in(key):
    def change(d):
        d[key] = struct.pack("<d", float("nan")) + d[key][8:]

    return change


FORGED = {
    "sums too short": lambda d: d.update(sums=d["sums"][:-1]),
    "sums empty": lambda d: d.update(sums=[]),
    "sums as bytes, as of an older form": lambda d: d.update(sums=b"\0" * 512),
    "sums not a number": lambda d: d["sums"].__setitem__(0, [1, 0]),
    "sums with an empty word": lambda d: d["sums"].__setitem__(0, [0, 33, 1, 0]),
    "sums out of place": lambda d: d["sums"].__setitem__(0, [0, 67, 1]),
    "sums of huge words": lambda d: d["sums"].__setitem__(0, [0, 3, 2**63 - 1]),
    "no buckets, as of an older form": lambda d: d.pop("buckets") and None,
    "buckets of no number": lambda d: d["buckets"].append([10368, 1]),
    "buckets of nothing": lambda d: d["buckets"].append([]),
    "more values in buckets than samples": lambda d: d["buckets"].__setitem__(0, [20000, 10**6]),
    "a bucket that there is not": lambda d: d["buckets"].__setitem__(0, [10369, 1]),
    "a bucket beyond the last": lambda d: d["buckets"].__setitem__(0, [10368, 1, 2**40, 1]),
    "buckets halved": lambda d: d["buckets"].__setitem__(0, d["buckets"][0][:-1]),
    "an empty bucket": lambda d: d["buckets"].__setitem__(0, [10368, 0]),
    "curve too short": lambda d: d.update(curve=d["curve"][:-8]),
    "curve not a number": nan_in("curve"),
    "sums a text": lambda d: d.update(sums="x"),
    "counts shifted, as of an older layout": shifted,
    "counts empty": lambda d: d.update(counts=[]),
    "counts negative": lambda d: d.update(counts=[-1, *d["counts"][1:]]),
    "counts broken": lambda d: d.update(counts=[float("nan"), *d["counts"][1:]]),
    "counts more than samples": lambda d: d.update(counts=[n + 1 for n in d["counts"]]),
    "counts enormous": lambda d: d.update(counts=[2**63 - 1, *d["counts"][1:]]),
    "counts beyond 64 bits signed": lambda d: d.update(counts=[2**64 - 1, *d["counts"][1:]]),
    "an outcome that there is not": lambda d: d.update(closest=[[0.1, 5, 99999, 0.1]]),
    "a sample of another chunk": lambda d: d.update(closest=[[0.1, 2**40, 0, 0.1]]),
    "a ranking of texts": lambda d: d.update(worst=["x"]),
    "a ranking too long": lambda d: d.update(worst=d["worst"] * 9),
    "half a row": lambda d: d.update(kept=d["kept"][: len(d["kept"]) // 2 // 8 * 8 + 8]),
    "rows out of order": lambda d: d.update(kept=d["kept"] * 2),
    "rows of another sample": lambda d: d.update(kept=struct.pack("<d", 1e9) + d["kept"][8:]),
    "no first": lambda d: d.pop("first") and None,
    "no samples": lambda d: d.update(count=0),
    "a list": lambda d: [d],
    "nothing": lambda d: {},
    "another layout": lambda d: d.update(layout="00000000"),
    "another version": lambda d: d.update(garra="0.0.1"),
    "no version": lambda d: d.pop("garra") and None,
}
NESTED = {"lists": b"\x81", "maps": b"\xa1\x61a", "lists of no length": b"\x9f"}


def computed_again(folder: Path, small: Path, says: str) -> None:
    """status says it, and resume computes it again to the same bytes."""
    assert says in garra("status", folder).stdout
    garra("replay", folder, "--sample", 3)
    done = garra("resume", folder, "--no-report")
    assert says in done.stderr and "computing it again" in done.stderr
    for name in ("summary.json", "results.h5", "chunks/000000"):
        assert (folder / name).read_bytes() == (small / name).read_bytes(), name


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_chunk_is_said_and_computed_again(copy, small, how):
    forge(copy / "chunks" / "000000", FORGED[how])
    computed_again(copy, small, "chunk 0 belongs to" if "another" in how and "sample" not in how or how in
                   ("nothing", "no version") else "chunk 0 is damaged")  # fmt: skip


@pytest.mark.parametrize("how", NESTED)
def test_a_chunk_nested_without_end_is_damaged(copy, small, how):
    write_chunk(copy / "chunks" / "000000", NESTED[how] * 200_000 + b"\x01")
    computed_again(copy, small, "chunk 0 is damaged")


def test_a_chunk_that_is_no_file_is_damaged_and_nobody_waits_for_it(copy):
    (copy / "chunks" / "000000").unlink()
    os.mkfifo(copy / "chunks" / "000000")
    assert "chunk 0 is damaged" in garra("status", copy).stdout
    assert "is a pipe or a device" in garra("resume", copy, expect=INPUT_OUTPUT).stderr
    (copy / "chunks" / "000000").unlink()
    (copy / "chunks" / "000000").symlink_to("/dev/zero")
    assert "chunk 0 is damaged" in garra("status", copy).stdout
    (copy / "chunks" / "000000").unlink()
    (copy / "chunks" / "000000").mkdir()
    assert "chunk 0 is damaged" in garra("status", copy).stdout


def test_a_lost_chunk_of_a_finished_run_is_said(copy, small):
    (copy / "chunks" / "000000").unlink()
    assert "chunk 0 is missing" in garra("status", copy).stdout
    assert "chunk" not in garra("status", small).stdout


def of_version(folder, version):
    """The run as a program of that version has left it, in its manifest and in every chunk."""
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"garra": version}))
    for file in (folder / "chunks").iterdir():
        forge(file, lambda document: document | {"garra": version})  # 0.1.0 wrote all of its number there
    return manifest["garra"]


@pytest.mark.parametrize("version", ["0.1.0", "0.0.1", "99.0.0"])
def test_a_run_of_another_version_is_left_alone(copy, version):
    ours = of_version(copy, version)
    before = {p: p.read_bytes() for p in copy.rglob("*") if p.is_file()}
    for command in ("resume", "worker", "verify"):
        done = garra(command, copy, expect=INPUT_OUTPUT)
        assert f"was begun by garra {version}, whose results may differ from those of garra {ours}" in done.stderr
        assert "continue it with that version, or begin anew: garra run" in done.stderr
    assert before == {p: p.read_bytes() for p in copy.rglob("*") if p.is_file()}


def test_a_run_of_another_version_is_read(copy, small):
    of_version(copy, "0.1.0")
    assert garra("status", copy).stdout.replace(str(copy), "") == garra("status", small).stdout.replace(str(small), "")
    assert garra("replay", copy).stdout.replace(str(copy), "") == garra("replay", small).stdout.replace(str(small), "")
    garra("report", copy)
    assert (copy / "report.html").is_file()


def test_a_run_of_another_patch_is_continued(copy, small):
    major_and_minor = json.loads((copy / "manifest.json").read_text())["garra"].rsplit(".", 1)[0]
    of_version(copy, f"{major_and_minor}.99")
    (copy / "chunks" / "000000").unlink()
    garra("resume", copy, "--no-report")
    assert (copy / "summary.json").read_bytes() == (small / "summary.json").read_bytes()


# --- results, locks, changed scenarios


@pytest.mark.parametrize("how", ["garbage", "truncated", "a flipped bit"])
@pytest.mark.parametrize("name", ["results.h5", "failures"])
def test_a_damaged_result_is_written_again(copy, small, name, how):
    file = copy / name if name == "results.h5" else sorted((copy / name).iterdir())[0]
    content = bytearray(file.read_bytes())
    content[-5] ^= 1
    file.write_bytes({"garbage": b"garbage", "truncated": content[:100], "a flipped bit": content}[how])
    garra("resume", copy, "--no-report", "--quiet")
    assert file.read_bytes() == (small / file.relative_to(copy)).read_bytes()


def test_two_processes_do_not_work_on_one_run(copy, small):
    lock = copy / "garra.lock"
    with lock.open("w") as file:
        file.write(f"process {os.getpid()} on host {host()} since now\n")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        done = garra("resume", copy, expect=INPUT_OUTPUT)
        assert "another garra is at work here" in done.stderr and f"process {os.getpid()}" in done.stderr
        assert "finished" in garra("status", copy).stdout
    garra("resume", copy, "--no-report", "--quiet")  # left by a dead process of this host
    assert not lock.exists()
    lock.write_text("process 7 on host another-one since now\n")
    done = garra("resume", copy, expect=INPUT_OUTPUT)
    assert "another-one" in done.stderr and str(lock) in done.stderr
    os.utime(lock, (1e9, 1e9))  # not renewed for long
    garra("resume", copy, "--no-report", "--quiet")
    assert not lock.exists()


def test_two_runs_into_one_folder_do_not_mix(tmp_path):
    command = [PROGRAM, "run", SPHERE, "-o", tmp_path / "run", "--samples", 200_000, "--no-report", "--quiet"]
    both = [subprocess.Popen([*map(str, command), "--seed", str(k)], stderr=subprocess.PIPE) for k in (1, 2)]
    errors = [p.communicate()[1].decode() for p in both]
    codes = [p.returncode for p in both]
    assert sorted(codes) in ([DONE, USAGE], [DONE, INPUT_OUTPUT])
    assert "already holds a run" in "".join(errors) or "is at work here" in "".join(errors)
    assert f"seed={1 + codes.index(DONE)}" in (tmp_path / "run" / "overrides.json").read_text()


@pytest.mark.parametrize("name", ["scenario.toml", "overrides.json"])
def test_a_changed_scenario_is_noticed(copy, name):
    text = (copy / name).read_text()
    changed = text.replace('grip_force = "15 N"', 'grip_force = "12 N"').replace("2048", "1024")
    assert changed != text
    (copy / name).write_text(changed)
    for command in (["status", copy], ["replay", copy, "--sample", 0], ["report", copy]):
        assert "were changed after the run" in garra(*command, expect=INPUT_OUTPUT).stderr
    garra("resume", copy, "--no-report", "--quiet")
    assert "finished" in garra("status", copy).stdout


def test_a_damaged_summary_is_no_bug(copy):
    (copy / "summary.json").write_text('{"closest": 7}')
    assert "damaged" in garra("replay", copy, expect=INPUT_OUTPUT).stderr


# --- what the environment can do


@pytest.mark.parametrize("stream", ["full", "closed"])
@pytest.mark.parametrize("command", ["run", "check", "status", "replay", "doctor", "help"])
def test_an_answer_that_cannot_be_written_is_exit_5(copy, tmp_path, command, stream):
    arguments = {
        "run": ["run", SPHERE, "--samples", 1024, "--no-report", "--format", "json", "-o", tmp_path / "new"],
        "check": ["check", SPHERE],
        "status": ["status", copy],
        "replay": ["replay", copy, "--sample", 0],
        "doctor": ["doctor"],
        "help": ["run", "--help"],
    }[command]
    shell = {"full": '"$@" > /dev/full', "closed": '"$@" >&-'}[stream]
    done = subprocess.run(
        ["sh", "-c", shell, "sh", PROGRAM, *map(str, arguments)], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    assert done.returncode == INPUT_OUTPUT and "output cannot be written" in done.stderr
    if command == "run":
        assert summary_of(tmp_path / "new")["samples"] == 1024


def test_closed_streams_do_not_end_up_in_files(tmp_path, small):
    command = f'"{PROGRAM}" run "{SPHERE}" --samples 2048 --no-report -o "{tmp_path}/run" <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", command], cwd=ROOT).returncode == INPUT_OUTPUT
    for name in ("summary.json", "results.h5", "chunks/000000"):
        assert (tmp_path / "run" / name).read_bytes() == (small / name).read_bytes()


def test_too_many_threads_are_cut(tmp_path, small):
    most = 4 * len(os.sched_getaffinity(0))
    done = garra("run", SPHERE, "--samples", 2048, "--no-report", "-o", tmp_path / "run", "--threads", 100_000)
    assert f"--threads 100000: using {most}" in done.stderr
    assert (tmp_path / "run" / "summary.json").read_bytes() == (small / "summary.json").read_bytes()
    garra(
        "run",
        SPHERE,
        "--samples",
        2048,
        "--no-report",
        "-o",
        tmp_path / "other",
        env=os.environ | {"OMP_NUM_THREADS": "100000"},
    )


def limited(limit: int, value: int):
    return lambda: resource.setrlimit(limit, (value, value))


def test_memory_that_runs_out_in_a_thread_is_exit_6(tmp_path):
    chunk = 1 << 21
    done = garra(
        "run", SPHERE, "-o", tmp_path / "run", "--no-report", "--quiet", "--threads", 2, "--samples", chunk, "--set",
        f"sampling.chunk={chunk}", "--set", "output.keep=all", expect=NO_DEVICE,
        preexec_fn=limited(resource.RLIMIT_AS, 400 << 20))  # fmt: skip
    assert "out of memory" in done.stderr and "sampling.chunk" in done.stderr


def test_threads_that_cannot_be_made_are_exit_6(tmp_path):
    done = garra("run", SPHERE, "-o", tmp_path / "run", "--no-report", "--quiet", "--threads", 4, "--samples", 4096,
                 expect=NO_DEVICE, env=os.environ | {"OMP_STACKSIZE": "1G"},
                 preexec_fn=limited(resource.RLIMIT_AS, 900 << 20))  # fmt: skip
    assert "--threads" in done.stderr


@pytest.mark.parametrize("command", ["status", "resume", "report", "replay", "run"])
def test_a_name_that_is_too_long_is_no_bug(tmp_path, command):
    name = "a" * 300
    arguments = ["run", SPHERE, "-o", name] if command == "run" else [command, name]
    done = garra(*arguments, cwd=tmp_path, expect=INPUT_OUTPUT)
    assert "bug" not in done.stderr


def test_a_temporary_folder_that_is_not_there_is_no_bug(tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path / "missing")}
    done = garra("singularity", "puma560", "--map", expect=INPUT_OUTPUT, env=environment)
    assert "bug" not in done.stderr


@pytest.mark.parametrize("command", ["check", "run"])
def test_nobody_waits_for_a_pipe(tmp_path, command):
    os.mkfifo(tmp_path / "pipe.toml")
    garra(command, tmp_path / "pipe.toml", expect=INPUT_OUTPUT)


def test_a_pipe_is_no_hdf5_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.h5")
    assert "pipe" in garra("contact", "solve", tmp_path / "pipe.h5", expect=INPUT_OUTPUT).stderr


# --- HDF5 files of strangers


def problems(file: h5py.File, n: int = 2) -> None:
    file["A"] = np.tile(np.eye(3), (n, 1, 1))
    file["b"] = np.tile([-1.0, 0, 0], (n, 1))
    file["mu"] = np.ones((n, 1))


def test_a_size_that_a_file_cannot_hold_is_refused_at_once(tmp_path):
    n = 100_000_000
    with h5py.File(tmp_path / "big.h5", "w") as f:
        for name, shape in (("A", (n, 3, 3)), ("b", (n, 3)), ("mu", (n, 1))):
            f.create_dataset(name, shape, "f8", chunks=(1000, *shape[1:]), compression="gzip")
    done = garra("contact", "solve", tmp_path / "big.h5", "-o", tmp_path / "out.h5", expect=INVALID,
                 preexec_fn=limited(resource.RLIMIT_AS, 2 << 30))  # fmt: skip
    assert "claims" in done.stderr and "cannot hold" in done.stderr


@pytest.mark.parametrize("how", ["external link", "soft link to one", "external storage", "virtual"])
def test_an_hdf5_file_shows_no_other_file(tmp_path, how):
    with h5py.File(tmp_path / "other.h5", "w") as f:
        problems(f)
    (tmp_path / "raw").write_bytes(np.ones(2).tobytes())
    with h5py.File(tmp_path / "in.h5", "w") as f:
        problems(f)
        del f["mu"]
        if how == "external link":
            f["mu"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/mu")
        elif how == "soft link to one":
            f["away"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/")
            f["mu"] = h5py.SoftLink("/away/mu")
        elif how == "external storage":
            f.create_dataset("mu", (2, 1), "f8", external=[(str(tmp_path / "raw"), 0, h5py.h5f.UNLIMITED)])
        else:
            layout = h5py.VirtualLayout((2, 1), "f8")
            layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "mu", (2, 1))
            f.create_virtual_dataset("mu", layout)
    done = garra("contact", "solve", tmp_path / "in.h5", expect=INVALID)
    assert "mu" in done.stderr and "another file" in done.stderr


# --- the terminal


def test_a_title_does_not_steer_the_terminal(tmp_path):
    scenario = tmp_path / "s.toml"
    text = SPHERE.read_text()
    title = next(line for line in text.splitlines() if line.startswith("title"))
    scenario.write_text(text.replace(title, 'title = "\\u001b[31mred \\u009b2J \\u0007 held"'))
    done = garra("run", scenario, "--samples", 1024, "--no-report", "-o", tmp_path / "run")
    assert "?[31mred ?2J ? held" in done.stdout
    assert not set(done.stdout) & {"\x1b", "\x07", "\x9b"}
    assert summary_of(tmp_path / "run")["title"] == "\x1b[31mred \x9b2J \x07 held"


# --- a disk that breaks


@pytest.fixture(scope="module")
def broken_disk(tmp_path_factory) -> Path:
    library = tmp_path_factory.mktemp("fault") / "fail_write.so"
    source = ROOT / "tests" / "fault" / "fail_write.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.mark.parametrize("at", range(1, 15))
def test_a_write_that_fails_is_exit_5_and_resume_ends_with_the_same_bytes(tmp_path, small, broken_disk, at):
    """Also within HDF5 while results.h5 is laid out and closed."""
    folder = tmp_path / "run"
    broken = os.environ | {"LD_PRELOAD": str(broken_disk), "FAULT_AT": str(at)}
    done = run_small(folder, "--no-report", "--threads", 1, env=broken, expect=INPUT_OUTPUT)
    assert "cannot write" in done.stderr
    assert not [p for p in folder.rglob("*") if ".part" in p.name]
    if (folder / "scenario.toml").exists():
        garra("resume", folder, "--no-report", "--quiet")
    else:
        run_small(folder, "--no-report")
    for name in ("summary.json", "results.h5", "chunks/000000"):
        assert (folder / name).read_bytes() == (small / name).read_bytes(), name
