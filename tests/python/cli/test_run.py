"""`garra run` and its family seen from outside: commands as a user types them, results judged by NumPy.

What a summary says is counted again from results.h5; forces are judged by the friction law itself. Run with
GARRA_PROGRAM=path/to/garra.
"""

from __future__ import annotations

import json
import os
import pty
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from program import clopper_pearson, wait_until

ROOT = Path(__file__).resolve().parents[3]
SCENARIOS = ROOT / "data" / "scenarios"
SPHERE = SCENARIOS / "three_puma_sphere.toml"
PROGRAM = os.environ.get("GARRA_PROGRAM", "")
if not Path(PROGRAM).is_file():
    pytest.skip("GARRA_PROGRAM names no built program", allow_module_level=True)

DONE, REQUIREMENT, USAGE, INVALID, UNSOLVED, INPUT_OUTPUT, NO_DEVICE, STOPPED = 0, 1, 2, 3, 4, 5, 6, 75
SAMPLES = 20_000
CHUNK = 4096
KEEP_ALL = ("--set", 'output.keep="all"')
Z = 1.959963984540054  # 97.5 % point of the normal distribution
# The program and NumPy sum in different orders; values are of size 1 to 100.
ROUNDING = 1e-12
# Certified to 1e-9 relative to the problem's size; forces are about 20 N.
FORCE_TOLERANCE = 1e-6


# --- the program


def garra(*arguments, expect: int | None = DONE, **options) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    if expect is not None:
        assert done.returncode == expect, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def run_sphere(folder: Path, *more, samples: int = SAMPLES, expect: int | None = DONE, **options):
    common = ("--samples", samples, "--no-report", "--set", f"sampling.chunk={CHUNK}")
    return garra("run", SPHERE, "-o", folder, *common, *more, expect=expect, **options)


def summary_of(folder: Path) -> dict:
    return json.loads((folder / "summary.json").read_text())


def summary_bytes(folder: Path) -> bytes:
    return (folder / "summary.json").read_bytes()


def results_of(folder: Path) -> dict:
    with h5py.File(folder / "results.h5") as file:
        table = {name: file[name][:] for name in file}
        table["outcome names"] = list(file["outcome"].attrs["names"])
        table["input names"] = list(file["inputs"].attrs["names"])
    return table


def leftovers(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if ".part" in p.name]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """One finished run that keeps every sample; tests only read it."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    run_sphere(folder, *KEEP_ALL)
    return folder


@pytest.fixture
def copy(whole, tmp_path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


@pytest.fixture(scope="module")
def table(whole) -> dict:
    return results_of(whole)


# --- what is in the folder


def test_a_run_folder_holds_what_it_promises(tmp_path):
    folder = tmp_path / "run"
    garra("run", SPHERE, "-o", folder, "--samples", 2000)
    names = {p.name for p in folder.iterdir()}
    files = {"scenario.toml", "manifest.json", "summary.json", "results.h5", "report.html"}
    assert files | {"chunks", "failures"} <= names
    assert (folder / "scenario.toml").read_bytes() == SPHERE.read_bytes()
    assert [p.name for p in (folder / "chunks").iterdir()] == ["000000"]
    assert not leftovers(folder)


def test_the_manifest_says_how_the_run_was_made(whole):
    manifest = json.loads((whole / "manifest.json").read_text())
    assert manifest["command"].startswith(f"garra run {SPHERE}")
    assert f"sampling.samples={SAMPLES}" in manifest["command"]
    assert manifest["samples_computed"] == SAMPLES and manifest["resumed"] == 0
    assert manifest["chunks"] == -(-SAMPLES // CHUNK)
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", manifest["scenario_sha"])


def test_outcomes_add_up(whole):
    summary = summary_of(whole)
    assert summary["samples"] == summary["requested"] == SAMPLES
    assert sum(summary["outcomes"].values()) == SAMPLES
    assert summary["stopped_by"] == "samples"
    failed = SAMPLES - sum(summary["outcomes"][name] for name in ("held", "not_resisted", "command_insufficient"))
    assert sum(c["limiting_contact"] for c in summary["contacts"]) == failed


def test_the_folder_alone_reproduces_the_run(whole, tmp_path):
    overrides = json.loads((whole / "overrides.json").read_text())
    sets = [word for o in overrides for word in ("--set", o)]
    garra("run", whole / "scenario.toml", "-o", tmp_path / "again", "--no-report", *sets)
    assert summary_bytes(tmp_path / "again") == summary_bytes(whole)


def test_failures_are_problem_files_of_the_closest_failures(whole):
    closest = {e["sample"]: e for e in summary_of(whole)["closest"] if e["outcome"] != "held"}
    files = sorted((whole / "failures").iterdir())
    assert {int(f.stem) for f in files} == set(closest) and 0 < len(files) <= 10
    done = garra("contact", "solve", *files, "--max-unsolved", 0, "--format", "json")
    assert json.loads(done.stdout)["solved"] == len(files)


# --- the same bytes, however they are computed


@pytest.mark.parametrize(
    "flags",
    [
        ("--threads", 1),
        ("--threads", 2),
        ("--threads", 3),
        ("--device", "scalar"),
        ("--device", "cpu", "--threads", 1),
    ],
    ids=lambda flags: " ".join(map(str, flags)),
)
def test_threads_and_lanes_change_no_byte(whole, tmp_path, flags):
    run_sphere(tmp_path / "run", *KEEP_ALL, *flags)
    assert summary_bytes(tmp_path / "run") == summary_bytes(whole)
    assert (tmp_path / "run" / "results.h5").read_bytes() == (whole / "results.h5").read_bytes()


@pytest.mark.parametrize("blocks", [1, 3, 64])
def test_the_size_of_chunks_changes_no_byte(whole, tmp_path, blocks):
    run_sphere(tmp_path / "run", *KEEP_ALL, "--set", f"sampling.chunk={1024 * blocks}")
    assert summary_bytes(tmp_path / "run") == summary_bytes(whole)
    assert (tmp_path / "run" / "results.h5").read_bytes() == (whole / "results.h5").read_bytes()


@pytest.mark.parametrize("scenario", ["four_finger_box", "two_finger_cylinder"])
def test_scalar_and_lanes_agree_to_the_bit_in_other_scenarios(tmp_path, scenario):
    for device in ("scalar", "cpu"):
        garra("run", SCENARIOS / f"{scenario}.toml", "-o", tmp_path / device, "--samples", 3001, "--no-report",
              "--device", device, *KEEP_ALL)  # fmt: skip
    assert summary_bytes(tmp_path / "scalar") == summary_bytes(tmp_path / "cpu")
    assert (tmp_path / "scalar" / "results.h5").read_bytes() == (tmp_path / "cpu" / "results.h5").read_bytes()


def test_unsolved_samples_change_no_byte_either(tmp_path):
    for name, threads, chunk in (("one", 1, 1024), ("two", 2, 4096)):
        run_sphere(tmp_path / name, "--set", "solver.max_iterations=1", "--threads", threads, "--set",
                   f"sampling.chunk={chunk}", expect=UNSOLVED, samples=6000)  # fmt: skip
    assert summary_bytes(tmp_path / "one") == summary_bytes(tmp_path / "two")


# --- killed, stopped, damaged


LONG = 600_000
SLOW = ("--device", "scalar", "--threads", 1)  # a few seconds of work, so that a signal comes in the middle


@pytest.fixture(scope="module")
def long_run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("long") / "run"
    run_sphere(folder, samples=LONG)
    return folder


def start_long(folder: Path) -> subprocess.Popen:
    command = [PROGRAM, "run", SPHERE, "-o", folder, "--samples", LONG, "--set", f"sampling.chunk={CHUNK}",
               "--no-report", *SLOW]  # fmt: skip
    return subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_chunks(folder: Path, count: int, process: subprocess.Popen) -> None:
    chunks = folder / "chunks"
    wait_until(lambda: chunks.is_dir() and len(list(chunks.iterdir())) >= count, process)


def test_a_run_killed_at_random_moments_resumes_to_the_same_bytes(long_run, tmp_path):
    folder, dice = tmp_path / "run", random.Random(7)
    process = start_long(folder)
    for kill in range(4):
        wait_for_chunks(folder, 5 * (kill + 1), process)
        time.sleep(dice.uniform(0, 0.05))
        process.kill()
        process.communicate()
        assert not (folder / "summary.json").exists()
        assert "unfinished" in garra("status", folder).stdout
        command = [PROGRAM, "resume", str(folder), "--no-report", *map(str, SLOW)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: process.poll() is not None, process)
    process.communicate()
    assert process.returncode == DONE
    assert summary_bytes(folder) == summary_bytes(long_run)
    assert (folder / "results.h5").read_bytes() == (long_run / "results.h5").read_bytes()
    assert not leftovers(folder)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_run_stopped_by_a_signal_says_how_to_continue(long_run, tmp_path, stop):
    folder = tmp_path / "run"
    process = start_long(folder)
    wait_for_chunks(folder, 3, process)
    process.send_signal(stop)
    wait_until(lambda: process.poll() is not None, process)
    output, errors = process.communicate()
    assert process.returncode == STOPPED
    assert output == "" and f"garra resume {folder}" in errors and "P(held) = 0." in errors
    garra("resume", folder, "--no-report")
    assert summary_bytes(folder) == summary_bytes(long_run)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["resumed"] == 1 and manifest["samples_computed"] == LONG
    assert manifest["command"].startswith("garra run ")


def test_a_time_limit_stops_resumably(tmp_path):
    done = run_sphere(tmp_path / "run", "--time-limit", "0.05", *SLOW, samples=10_000_000, expect=STOPPED)
    assert "time limit" in done.stderr and "garra resume" in done.stderr
    assert not (tmp_path / "run" / "summary.json").exists()


def damage(chunk: Path, how: str) -> None:
    content = bytearray(chunk.read_bytes())
    if how == "a flipped bit":
        content[len(content) // 2] ^= 4
    chunk.write_bytes({"a flipped bit": content, "truncated": content[:1000], "empty": b""}[how])


@pytest.mark.parametrize("how", ["a flipped bit", "truncated", "empty"])
def test_a_damaged_chunk_is_said_and_computed_again(whole, copy, how):
    damage(copy / "chunks" / "000002", how)
    done = garra("resume", copy, "--no-report")
    assert "chunk 2 is damaged; computing it again" in done.stderr
    assert summary_bytes(copy) == summary_bytes(whole)
    assert (copy / "chunks" / "000002").read_bytes() == (whole / "chunks" / "000002").read_bytes()


def test_chunks_of_another_scenario_are_not_mixed_in(copy, tmp_path):
    text = (copy / "scenario.toml").read_text().replace('grip_force = "15 N"', 'grip_force = "12 N"')
    (copy / "scenario.toml").write_text(text)
    done = garra("resume", copy, "--no-report")
    assert "chunk 0 belongs to another scenario" in done.stderr
    run_sphere(tmp_path / "fresh", *KEEP_ALL, "--set", "load.grip_force=12 N")
    assert summary_of(copy)["outcomes"] == summary_of(tmp_path / "fresh")["outcomes"]


def test_resuming_a_finished_run_changes_nothing(copy):
    files = [p for p in copy.rglob("*") if p.is_file()]
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in files}
    start = time.monotonic()
    garra("resume", copy, "--no-report")
    assert time.monotonic() - start < 5
    assert before == {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in copy.rglob("*") if p.is_file()}


def test_a_lost_result_is_written_again(copy, whole):
    (copy / "results.h5").unlink()
    garra("resume", copy, "--no-report")
    assert (copy / "results.h5").read_bytes() == (whole / "results.h5").read_bytes()


def test_a_run_is_never_overwritten(copy):
    done = run_sphere(copy, *KEEP_ALL, expect=USAGE)
    assert "already holds a run" in done.stderr and f"garra resume {copy}" in done.stderr
    done = run_sphere(copy, "--set", "object.mass=0.4", expect=USAGE)
    assert "already holds a run of another scenario" in done.stderr and "resume" not in done.stderr


def test_check_takes_names_of_robots():
    assert garra("check", "iiwa14").stdout == garra("check", "data/robots/iiwa14.urdf", cwd=ROOT).stdout
    assert "Did you mean" in garra("check", "iiwa15", expect=None).stderr


def test_suggested_commands_quote_folders_with_blanks(tmp_path):
    folder = tmp_path / "two words" / "it's"
    folder.parent.mkdir()
    done = run_sphere(folder)
    command = next(line for line in done.stdout.splitlines() if "garra replay" in line).split("garra ")[1]
    assert garra(*shlex.split(command)).returncode == DONE


def test_a_run_is_replaced_where_that_is_asked_for(copy):
    (copy / "notes.txt").write_text("of the old run")
    run_sphere(copy, "--seed", 99, "--overwrite", samples=2048)
    assert summary_of(copy)["seed"] == 99 and summary_of(copy)["samples"] == 2048
    assert not (copy / "notes.txt").exists()
    # What the new run is made of lies in the old one.
    done = garra("run", copy / "scenario.toml", "-o", copy, "--overwrite", expect=USAGE)
    assert "scenario.toml lies in it, and is needed" in done.stderr and summary_of(copy)["seed"] == 99


def test_a_folder_that_is_no_run_is_never_removed(tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "one.txt").write_text("dear")
    done = run_sphere(tmp_path / "letters", "--overwrite", expect=USAGE)
    assert "is not empty, and is no run folder" in done.stderr and (tmp_path / "letters" / "one.txt").exists()


def test_help_is_a_command_too():
    for command in ([], ["run"], ["grasp", "rank"]):
        assert garra("help", *command).stdout == garra(*command, "--help").stdout
    assert "garra grasp propose part.stl" in garra("help", "grasp").stdout


def test_what_is_no_scenario_is_named(tmp_path):
    done = garra("run", ROOT / "data/robots/puma560.toml", "-o", tmp_path / "r", expect=INVALID)
    assert "this is a robot, not a scenario" in done.stderr and "garra singularity" in done.stderr
    done = garra("run", ROOT / "data/platforms/trepa_like.toml", "-o", tmp_path / "r", expect=INVALID)
    assert "this is a platform, not a scenario" in done.stderr
    done = garra("replay", SPHERE, expect=USAGE)
    assert "is a scenario; a sample is replayed out of its run" in done.stderr
    done = garra("run", SPHERE, "-o", tmp_path / "r", "--set", "contact.friction=0.3", expect=USAGE)
    assert "contact.0.KEY" in done.stderr and "Did you mean contacts, which stands for all?" in done.stderr
    assert not (tmp_path / "r").exists()


# --- when it ends


def test_it_stops_at_the_asked_half_width(tmp_path):
    run_sphere(tmp_path / "run", "--stop", "half-width=0.005", samples=10_000_000)
    summary = summary_of(tmp_path / "run")
    assert summary["stopped_by"] == "half_width" and summary["samples"] % CHUNK == 0
    assert (summary["held"]["high"] - summary["held"]["low"]) / 2 <= 0.005
    # One chunk less would not have been enough.
    p, n = summary["held"]["probability"], summary["samples"] - CHUNK
    assert Z * np.sqrt(p * (1 - p) / n) > 0.005 * 0.98


@pytest.mark.parametrize(
    "requirement, code, says",
    [
        ("p_held>=0.85", DONE, ""),
        ("p_held <= 0.95", DONE, ""),
        ("p_held>=0.95", REQUIREMENT, "does not hold"),
        ("p_held<=0.5", REQUIREMENT, "does not hold"),
        ("p_held>=0.87", REQUIREMENT, "more samples may decide"),
    ],
)
def test_a_requirement_is_proved_by_the_whole_interval(tmp_path, requirement, code, says):
    done = run_sphere(tmp_path / "run", "--require", requirement, samples=4000, expect=code)
    assert says in done.stderr
    assert "more samples may decide" not in done.stderr or requirement == "p_held>=0.87"


@pytest.mark.parametrize(
    "requirement", ["p_hold>=0.9", "p_held", "p_held>0.9", "p_held>=", "p_held>=nan", "p_held>=90"]
)
def test_a_requirement_that_makes_no_sense_is_refused_before_the_work(tmp_path, requirement):
    done = run_sphere(tmp_path / "run", "--require", requirement, expect=USAGE)
    assert "--require" in done.stderr and "p_held>=0.99" in done.stderr
    assert not (tmp_path / "run").exists()


def test_too_many_unsolved_samples_are_a_failure_that_keeps_its_results(tmp_path):
    done = run_sphere(tmp_path / "run", "--set", "solver.max_iterations=1", samples=4000, expect=UNSOLVED)
    summary = summary_of(tmp_path / "run")
    unsolved, held = summary["outcomes"]["unsolved"], summary["outcomes"]["held"]
    assert unsolved > 0 and "solver.max_unsolved" in done.stderr
    assert summary["held"]["low"] == pytest.approx(clopper_pearson(held, 4000)[0], abs=1e-12)
    assert summary["held"]["high"] == pytest.approx(clopper_pearson(held + unsolved, 4000)[1], abs=1e-12)
    table = results_of(tmp_path / "run")
    first = table["index"][table["outcome"] == table["outcome names"].index("unsolved")][:5]
    assert {f"{i}.h5" for i in first} <= {p.name for p in (tmp_path / "run" / "failures").iterdir()}


# --- what goes wrong


def test_a_bad_scenario_names_the_line_column_and_key(tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text(SPHERE.read_text().replace("grip_force =", "grip_forse ="))
    line = 1 + bad.read_text().split("grip_forse =")[0].count("\n")
    done = garra("run", bad, "-o", tmp_path / "run", expect=INVALID)
    assert f"{bad}:{line}:1: load.grip_forse: unknown key" in done.stderr and 'Did you mean "grip_force"?' in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "words, suggestion",
    [
        (["rum"], "run"),
        (["repley", "x"], "replay"),
        (["contact", "slove"], "solve"),
        (["run", "--sampels", "3", "x.toml"], "--samples"),
        (["run", "x.toml", "--set", "a=1", "--thread=2"], "--threads"),
        (["resume", "x", "--devcie", "cpu"], "--device"),
        (["replay", "x", "--smaple", "3"], "--sample"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else x,
)
def test_unknown_words_get_a_suggestion(words, suggestion):
    assert f'Did you mean "{suggestion}"?' in garra(*words, expect=USAGE).stderr


@pytest.mark.parametrize(
    "flags",
    [
        ("--tolerance", "nan"),
        ("--tolerance", "inf"),
        ("--tolerance", "0"),
        ("--time-limit", "nan"),
        ("--time-limit", "-1"),
        ("--samples", "0"),
        ("--samples", "nan"),
        ("--samples", "1.5"),
        ("--samples", "1e30"),
        ("--seed", "-1"),
        ("--seed", "9223372036854775808"),
        ("--threads", "-1"),
        ("--stop", "half-width=nan"),
        ("--stop", "half-width=0"),
        ("--stop", "width=1"),
        ("--set", "load.grip_force=nan"),
        ("--device", "nonsense"),
        ("--device", "cuda:x"),
        ("--progress", "nonsense"),
        ("--format", "xml"),
    ],
    ids="=".join,
)
def test_a_nonsense_value_is_refused_before_the_work(tmp_path, flags):
    done = garra("run", SPHERE, "-o", tmp_path / "run", *flags, expect=USAGE)
    assert done.stdout == "" and done.stderr.startswith("garra: ")
    assert not (tmp_path / "run").exists()


def test_whole_numbers_may_be_written_for_people(tmp_path):
    garra("run", SPHERE, "-o", tmp_path / "a", "--samples", "2e3", "--no-report")
    garra("run", SPHERE, "-o", tmp_path / "b", "--samples", "2_000", "--no-report")
    garra("run", SPHERE, "-o", tmp_path / "c", "--samples", "100", "--seed", "1e3", "--no-report")
    assert summary_of(tmp_path / "c")["seed"] == 1000
    assert summary_of(tmp_path / "a")["samples"] == 2000
    assert summary_bytes(tmp_path / "a") == summary_bytes(tmp_path / "b")


def test_a_key_that_every_contact_overrules_has_a_warning():
    own = [f"--set=contact.{j}.friction=0.5" for j in (0, 1)]
    file = ROOT / "data" / "scenarios" / "two_finger_cylinder.toml"
    said = garra("check", file, "--set=contacts.friction=0.05", *own).stderr
    assert "contacts.friction has no effect: every [[contact]] has its own" in said
    assert "has no effect" not in garra("check", file, "--set=contacts.friction=0.05", own[0]).stderr


def test_contacts_beside_the_surface_and_normals_out_of_it_have_warnings(tmp_path):
    """A cylinder of 25 mm: contact 1 is 5 mm outside of it, then on it, with a normal that points away from the axis."""
    text = (ROOT / "data" / "scenarios" / "two_finger_cylinder.toml").read_text()
    head, rest = text.partition("[[contact]]")[0], text[text.index("[load]") :]
    tail = "\n[[contact]]\npoint = [0.02, 0.015, 0.01]\nnormal = [-0.8, -0.6, 0]\n"
    own = tmp_path / "own.toml"

    def said(point, normal):
        own.write_text(f"{head}{tail}[[contact]]\npoint = {point}\nnormal = {normal}\n\n{rest}")
        return garra("check", own).stderr

    assert "contact 1 is 5 mm outside of the object's surface\n" in said([-0.03, 0, 0], [1, 0, 0])
    assert "contact 1 is 1 mm below the object's surface\n" in said([-0.024, 0, 0], [1, 0, 0])
    away = said([-0.025, 0, 0], [-1, 0, 0])
    assert "the normal of contact 1 points out of the object" in away and "surface\n" not in away
    assert not re.search("surface|points out", said([-0.025, 0, 0], [1, 0, 0]))
    assert "points out" not in garra("check", SPHERE).stderr


def test_flags_may_stand_before_the_scenario(tmp_path):
    garra("run", "--set", "load.grip_force=12 N", "--require", "p_held>=0", SPHERE, "-o", tmp_path / "run", "--samples",
          1000, "--no-report")  # fmt: skip


@pytest.mark.parametrize("command", ["resume", "status", "replay", "report"])
def test_a_folder_without_a_run_is_an_input_error(tmp_path, command):
    assert "no run folder" in garra(command, tmp_path, expect=INPUT_OUTPUT).stderr


def test_an_output_that_cannot_be_made_is_an_input_output_error():
    done = garra("run", SPHERE, "-o", "/dev/null/run", expect=INPUT_OUTPUT)
    assert "/dev/null/run" in done.stderr and "-o" in done.stderr


def limit_files_to(size: int):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_full_disk_leaves_nothing_half_written_and_the_run_resumable(whole, tmp_path):
    """A limit on the size of files stands for the full disk: the chunk with every sample is larger, then results.h5."""
    folder, chunk = tmp_path / "run", (whole / "chunks" / "000000").stat().st_size
    done = run_sphere(folder, *KEEP_ALL, preexec_fn=limit_files_to(chunk // 2), expect=INPUT_OUTPUT)
    assert "cannot write" in done.stderr and not list((folder / "chunks").iterdir())
    done = garra("resume", folder, "--no-report", preexec_fn=limit_files_to(chunk * 2), expect=INPUT_OUTPUT)
    assert "results.h5: cannot write" in done.stderr and "garra resume" in done.stderr
    assert not leftovers(folder) and not (folder / "summary.json").exists() and not (folder / "results.h5").exists()
    garra("resume", folder, "--no-report")
    assert summary_bytes(folder) == summary_bytes(whole)


def test_cuda_without_a_gpu_says_what_to_do(tmp_path):
    done = run_sphere(tmp_path / "run", "--device", "cuda", samples=1000, expect=None)
    if done.returncode == DONE:
        pytest.skip("this machine has a GPU")
    assert done.returncode == NO_DEVICE and "--device cpu" in done.stderr
    assert not (tmp_path / "run").exists()


# --- what is printed


COMMANDS = [[], ["contact", "solve"]]
COMMANDS += [[c] for c in ("run", "resume", "status", "report", "replay", "check", "contact", "doctor")]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: " ".join(["garra", *c]))
def test_every_help_shows_two_real_examples(command):
    text = garra(*command, "--help").stdout
    examples = re.findall(r"^  (.*garra .*)$", text.split("Examples:")[1], re.MULTILINE)
    assert len(examples) >= 2
    known = garra(*command, "--help").stdout
    for flag in re.findall(r"--[a-z-]+", " ".join(e for e in examples if f"garra {' '.join(command)}" in e)):
        assert not command or flag in known.split("Examples:")[0], flag


def test_the_version_is_said():
    assert re.fullmatch(r"garra \d+\.\d+\.\d+\n", garra("--version").stdout)


def test_quiet_prints_nothing(tmp_path):
    done = garra("run", SPHERE, "-o", tmp_path / "run", "--samples", 1000, "--quiet")
    assert (done.stdout, done.stderr) == ("", "")


def test_json_is_one_document(tmp_path):
    done = garra("run", SPHERE, "-o", tmp_path / "run", "--samples", 1000, "--format", "json", "--no-report")
    document = json.loads(done.stdout)
    assert document["summary"] == summary_of(tmp_path / "run") and done.stderr == ""
    assert document["manifest"] == json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert document["run"] == str(tmp_path / "run")


def test_progress_in_json_is_one_object_per_line(tmp_path):
    lines = run_sphere(tmp_path / "run", "--progress", "json").stderr.splitlines()
    last = [json.loads(line) for line in lines][-1]
    assert last["samples"] == last["of"] == SAMPLES
    assert 0 < last["low"] < last["held"] < last["high"] < 1


def test_the_answer_names_everything_a_person_asks_for(tmp_path):
    text = run_sphere(tmp_path / "run").stdout
    for part in ("P(held) = 0.8", "P(no slip) = 0.9", "P(resisted) = 1", "95 % interval [0.", "held ", "unsolved", "Fails first", "contact 1 friction",
                 "Worst residual", "samples/s", "garra replay", "garra report"):  # fmt: skip
        assert part in text, part
    assert all(len(line) <= 80 for line in text.splitlines() if str(tmp_path) not in line)
    assert not any(line != line.rstrip() for line in text.splitlines())
    command = re.search(r"garra (replay .*)", text).group(1).split()
    assert re.match(r"sample \d+: (slipping|command_insufficient)\n", garra(*command).stdout)


def terminal_output(*arguments, environment: dict) -> str:
    pid, descriptor = pty.fork()
    if pid == 0:
        os.execve(PROGRAM, [PROGRAM, *map(str, arguments)], {**os.environ, "TERM": "xterm", **environment})
    output = b""
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:
            piece = b""
        if not piece:
            break
        output += piece
    os.close(descriptor)
    os.waitpid(pid, 0)
    return output.decode()


@pytest.mark.parametrize("no_color", ["", "1"])
def test_a_terminal_gets_a_bar_in_color_unless_no_color_is_set(tmp_path, no_color):
    text = terminal_output("run", SPHERE, "-o", tmp_path / "run", "--samples", 100_000, "--no-report",
                           environment={"NO_COLOR": no_color})  # fmt: skip
    assert "━" in text and "samples/s" in text
    assert ("\x1b[36m" in text) == (no_color == "")


def test_without_a_terminal_there_is_no_bar(tmp_path):
    assert run_sphere(tmp_path / "run").stderr == ""


# --- replay


def replay(folder: Path, sample: int, *more) -> dict:
    return json.loads(garra("replay", folder, "--sample", sample, "--format", "json", *more).stdout)


def forces_of(replayed: dict, name: str) -> np.ndarray:
    return np.array([contact[name] for contact in replayed["contacts"]])


def picked_samples(table: dict) -> list[int]:
    """Some that hold and some that do not, from all over the run."""
    held = np.flatnonzero(table["outcome"] == 0)
    failed = np.flatnonzero(table["outcome"] != 0)
    return [*held[:: len(held) // 4], *failed[:: len(failed) // 4]]


def test_replay_repeats_the_stored_sample_to_the_bit(whole, table):
    for i in picked_samples(table):
        again = replay(whole, i)
        assert table["index"][i] == i and again["outcome"] == table["outcome names"][table["outcome"][i]]
        assert np.array_equal(forces_of(again, "c").ravel(), table["c"][i])
        assert np.array_equal(forces_of(again, "a").ravel(), table["a"][i])
        assert list(again["inputs"].values()) == list(table["inputs"][i])
        assert again["residual"] == table["residual"][i] and again["metrics"]["friction_margin"] == table["margin"][i]


def test_replayed_forces_obey_the_friction_law(whole, table):
    for i in picked_samples(table):
        again = replay(whole, i)
        A, b = np.array(again["A"]), np.array(again["b"])
        c, a = forces_of(again, "c"), forces_of(again, "a")
        mu = np.array([contact["friction"] for contact in again["contacts"]])
        assert np.allclose(A @ c.ravel() + b, a.ravel(), rtol=0, atol=ROUNDING * np.abs(b).max())
        tangent, speed = np.hypot(c[:, 1], c[:, 2]), np.hypot(a[:, 1], a[:, 2])
        assert np.all(c[:, 0] >= -FORCE_TOLERANCE) and np.all(a[:, 0] >= -FORCE_TOLERANCE)
        assert np.all(np.abs(c[:, 0] * a[:, 0]) <= FORCE_TOLERANCE)
        assert np.all(tangent <= mu * c[:, 0] + FORCE_TOLERANCE)
        # Where it slides, friction is at its limit and against the motion.
        against = np.sum(c[:, 1:] * a[:, 1:], axis=1) + mu * c[:, 0] * speed
        assert np.all(np.abs(against) <= FORCE_TOLERANCE)


def test_the_outcome_and_metrics_follow_from_the_stick_forces(whole, table):
    for i in picked_samples(table):
        again = replay(whole, i)
        stick = np.linalg.solve(np.array(again["A"]), -np.array(again["b"])).reshape(-1, 3)
        mu = np.array([contact["friction"] for contact in again["contacts"]])
        needed = np.hypot(stick[:, 1], stick[:, 2]) / stick[:, 0]
        assert np.all(stick[:, 0] > 0)
        assert again["metrics"]["required_friction"] == pytest.approx(needed.max(), rel=1e-10)
        assert again["metrics"]["friction_margin"] == pytest.approx((1 - needed / mu).min(), abs=1e-10)
        sticks = "held" if np.all(needed <= mu) else "slipping"
        assert again["outcome"] == (sticks if again["metrics"]["imbalance"] <= 0.5 else "command_insufficient")


def test_a_replayed_problem_file_gives_the_same_force(whole, table, tmp_path):
    sample = int(np.flatnonzero(table["outcome"] != 0)[0])
    again = replay(whole, sample, "--problem", tmp_path / "problem.h5")
    with h5py.File(tmp_path / "problem.h5") as file:
        assert np.array_equal(file["A"][0], again["A"]) and np.array_equal(file["b"][0], again["b"])
    garra("contact", "solve", tmp_path / "problem.h5", "-o", tmp_path / "solution.h5", "--tolerance", "1e-12")
    with h5py.File(tmp_path / "solution.h5") as file:
        assert np.allclose(file["c"][0], forces_of(again, "c").ravel(), rtol=0, atol=FORCE_TOLERANCE)


def test_replay_without_a_number_takes_the_closest_failure(whole):
    first = summary_of(whole)["closest"][0]
    assert first["outcome"] != "held"
    shown = garra("replay", whole).stdout
    assert shown.startswith(f"sample {first['sample']}: {first['outcome']}")
    assert re.search(r"object mass +[\d.]+ kg\n", shown) and re.search(r"object acceleration +[\d.e-]+ m/s\^2\n", shown)
    drawn = re.findall(r"contact (\d) friction +([\d.]+)", shown)
    used = re.findall(r"contact (\d) +([\d.]+) +(?:stick|slip|break)", shown)
    assert [(k, round(float(mu), 4)) for k, mu in drawn] == [(k, float(mu)) for k, mu in used]


def test_replay_knows_the_samples_of_the_run(whole):
    done = garra("replay", whole, "--sample", SAMPLES, expect=USAGE)
    assert f"0 to {SAMPLES - 1}" in done.stderr


# --- the statistics, counted again


def test_the_probability_and_its_interval_are_those_of_the_samples(whole, table):
    held = summary_of(whole)["held"]
    count = int(np.sum(table["outcome"] == 0))
    assert held["probability"] == count / SAMPLES and held["confidence"] == 0.95
    assert (held["low"], held["high"]) == pytest.approx(clopper_pearson(count, SAMPLES), abs=ROUNDING)


def test_outcomes_are_counted_rightly(whole, table):
    counts = np.bincount(table["outcome"], minlength=len(table["outcome names"]))
    assert list(summary_of(whole)["outcomes"].items()) == list(zip(table["outcome names"], counts))


def test_kept_failures_are_the_failures(whole, table, tmp_path):
    run_sphere(tmp_path / "run")
    kept = results_of(tmp_path / "run")
    failed = table["outcome"] != 0
    assert np.array_equal(kept["index"], table["index"][failed])
    assert np.array_equal(kept["c"], table["c"][failed]) and np.array_equal(kept["inputs"], table["inputs"][failed])
    assert summary_of(tmp_path / "run")["failures_kept"] == failed.sum()


def test_nothing_is_kept_where_nothing_is_asked_for(whole, tmp_path):
    run_sphere(tmp_path / "run", "--set", 'output.keep="none"')
    assert len(results_of(tmp_path / "run")["index"]) == 0 and not (tmp_path / "run" / "failures").exists()
    assert summary_of(tmp_path / "run")["held"] == summary_of(whole)["held"]


def test_histograms_are_those_of_numpy(whole, table):
    for j, contact in enumerate(summary_of(whole)["contacts"]):
        force, normal = contact["normal_force"], table["c"][:, 3 * j]
        counts, _ = np.histogram(normal, bins=200, range=(force["low"], force["high"]))
        # A value that rounding puts on the other side of an edge moves by one bin.
        assert np.abs(np.cumsum(counts) - np.cumsum(force["counts"])).max() <= 1
        assert sum(force["counts"]) + force["below"] + force["above"] == SAMPLES
        assert force["below"] == 0 and force["above"] == 0, "else the mean is not defined"
        assert force["mean"] == pytest.approx(normal.mean(), rel=ROUNDING)
        assert force["sd"] == pytest.approx(normal.std(), rel=1e-9)


def test_sticking_slipping_and_breaking_are_counted_rightly(whole, table):
    motion = table["a"].reshape(SAMPLES, -1, 3)
    still = np.hypot(motion[:, :, 1], motion[:, :, 2]) < 1e-6
    for j, contact in enumerate(summary_of(whole)["contacts"]):
        assert contact["stick"] + contact["slip"] + contact["break"] == SAMPLES
        # "At rest" is measured against the problem's size in the program: a few samples lie in between.
        assert abs(contact["stick"] - still[:, j].sum()) <= 3


def quantile_bins(values: np.ndarray, count: int = 20) -> np.ndarray:
    """Equal bins of the values' ranks: the program's lie at the quantiles of the distribution itself."""
    ranks = np.argsort(np.argsort(values))
    return ranks * count // len(values)


def test_influences_are_first_order_sobol_indices(whole, table):
    held = (table["outcome"] == 0).astype(float)
    for k, entry in enumerate(summary_of(whole)["inputs"]):
        assert entry["name"] == table["input names"][k]
        count = entry["resolution"]
        bins = quantile_bins(table["inputs"][:, k], count)
        size = np.bincount(bins, minlength=count)
        means = np.bincount(bins, weights=held, minlength=count) / size
        index = np.sum(size * (means - held.mean()) ** 2) / SAMPLES / held.var() - (count - 1) / SAMPLES
        # Bins at the sample's own quantiles differ from the distribution's by chance: inside the noise and half of the standard
        # deviation of the index itself.
        chance = np.sqrt(max(index, 0.0) / SAMPLES)
        assert abs(entry["influence"] - max(0.0, index)) <= entry["noise"] + chance, entry["name"]
        assert count in (20, 40, 80, 160) and np.isclose(entry["noise"], 2 * np.sqrt(2 * (count - 1)) / SAMPLES)
        assert entry["unresolved"] >= 2 * entry["noise"] and len(entry["bins"]["held"]) == 20
        assert sum(entry["bins"]["held"]) == held.sum() and sum(entry["bins"]["decided"]) == SAMPLES


def test_what_no_contact_resists_is_named(tmp_path):
    done = garra("run", SCENARIOS / "two_finger_cylinder.toml", "-o", tmp_path / "run", "--samples", 1024)
    summary = summary_of(tmp_path / "run")
    assert summary["unresisted"] == ["a torque about (1, 0, 0)"]
    assert set(summary["metrics"]["resisted_force_radius"]["quantiles"].values()) == {0}
    assert "No contact force resists a torque about (1, 0, 0): resisted force radius 0" in done.stdout
    assert "resists a torque about (1, 0, 0)" in (tmp_path / "run" / "report.html").read_text()
    assert summary["outcomes"]["not_resisted"] == 1024 and summary["resisted"]["probability"] == 0


def test_friction_matters_most(whole):
    inputs = sorted(summary_of(whole)["inputs"], key=lambda entry: -entry["influence"])
    # A light object is not carried through a push: its mass matters as well.
    assert {entry["name"] for entry in inputs[:4]} == {"object mass", *(f"contact {j} friction" for j in (0, 1, 2))}


def required_friction(table: dict) -> np.ndarray:
    """Of the samples that stick, carried (0) or not (2): their forces are the stick forces."""
    c = table["c"][np.isin(table["outcome"], (0, 2))].reshape(-1, 3, 3)
    return np.max(np.hypot(c[:, :, 1], c[:, :, 2]) / c[:, :, 0], axis=1)


def test_held_against_friction_is_the_distribution_of_the_required_friction(tmp_path):
    run_sphere(tmp_path / "run", *KEEP_ALL, "--set", "contacts.friction=5")  # enough for all: every sample sticks
    table, summary = results_of(tmp_path / "run"), summary_of(tmp_path / "run")
    critical, curve = required_friction(table), summary["held_against_friction"]
    assert len(critical) == SAMPLES
    exact = np.searchsorted(np.sort(critical), curve["friction"]) / SAMPLES
    assert np.abs(np.array(curve["probability"]) - exact).max() <= 1 / SAMPLES
    for k in range(0, len(exact), 20):
        band = clopper_pearson(round(curve["probability"][k] * SAMPLES), SAMPLES)
        assert (curve["low"][k], curve["high"][k]) == pytest.approx(band, abs=1e-9)


def test_that_curve_foretells_a_run_with_one_friction_for_all(whole, tmp_path):
    run_sphere(tmp_path / "run", "--set", "contacts.friction=0.3", "--seed", 99)
    curve, held = summary_of(whole)["held_against_friction"], summary_of(tmp_path / "run")["no_slip"]
    foretold = np.interp(0.3, curve["friction"], curve["probability"])
    # Two independent samples, each with its own chance.
    assert abs(foretold - held["probability"]) <= 4 * np.sqrt(2 * foretold * (1 - foretold) / SAMPLES)


def test_the_convergence_curve_ends_at_the_answer(whole, table):
    summary = summary_of(whole)
    curve, held = summary["convergence"], table["outcome"] == 0
    for n, p in zip(curve["samples"], curve["probability"]):
        assert p == pytest.approx(held[:n].mean(), abs=ROUNDING)
    assert curve["samples"][-1] == SAMPLES and curve["low"][-1] == summary["held"]["low"]


def test_the_closest_samples_are_the_failures_of_smallest_margin(whole, table):
    order = np.lexsort((table["index"], np.abs(table["margin"]), table["outcome"] == 0))[:10]
    assert [e["sample"] for e in summary_of(whole)["closest"]] == list(order)


def test_another_seed_gives_another_run_that_agrees_within_chance(whole, tmp_path):
    run_sphere(tmp_path / "run", "--seed", 4)
    one, two = summary_of(whole)["held"], summary_of(tmp_path / "run")["held"]
    assert one["probability"] != two["probability"]
    assert abs(one["probability"] - two["probability"]) < 4 * (one["high"] - one["low"]) / 2


# --- memory

MEBIBYTE = 1 << 20


def peak_memory(folder: Path, samples: int, keep: str) -> int:
    """Of the child alone [bytes]: a process of its own asks, because the numbers of a process only grow."""
    program = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [PROGRAM, "run", SPHERE, "-o", folder, "--samples", samples, "--set", f'output.keep="{keep}"', "--quiet",
               "--no-report"]  # fmt: skip
    asked = [sys.executable, "-c", program, *map(str, command)]
    return int(subprocess.run(asked, capture_output=True, text=True, check=True).stdout) * 1024


@pytest.mark.parametrize("keep, samples", [("none", 1_000_000), ("failures", 1_000_000), ("all", 300_000)])
def test_memory_does_not_grow_with_the_samples(tmp_path, keep, samples):
    peak = peak_memory(tmp_path / "run", samples, keep)
    assert peak < 256 * MEBIBYTE, f"{peak / MEBIBYTE:.0f} MiB"
    shutil.rmtree(tmp_path / "run")  # up to 230 MB


# --- pictures


def test_grasp_h5_has_the_nominal_grasp_and_the_listed_samples(whole):
    summary = json.loads((whole / "summary.json").read_text())
    with h5py.File(whole / "grasp.h5") as file:
        listed = {row["sample"] for row in summary["closest"] + summary["worst"]}
        assert {f"sample_{i}" for i in listed} | {"nominal"} <= set(file)
        outcomes = {row["sample"]: row["outcome"] for row in summary["closest"]}
        for sample, outcome in outcomes.items():
            said = file[f"sample_{sample}"].attrs["outcome"]
            assert (said.decode() if isinstance(said, bytes) else said) == outcome
        radius, group = file.attrs["radius"], file["nominal"]
        for j in range(len(summary["contacts"])):  # the nominal fingertip lies on the surface of the sphere
            tip = group[f"finger_{j}/links"][0, -1]
            assert abs(np.linalg.norm(tip - group["position"][0]) - radius) < 1e-9


def test_replay_writes_the_picture_of_any_sample(whole, tmp_path):
    done = garra("replay", whole, "--sample", "7", "-o", tmp_path / "samples" / "7.h5")
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "samples" / "7.h5") as file:
        assert set(file) == {"nominal", "sample_7"}
