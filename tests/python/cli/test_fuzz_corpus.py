"""What tools/fuzz has found, through the program: refused with a message or read, never more."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from program import DONE, INVALID, PROGRAM, ROOT, USAGE, garra

CORPUS = ROOT / "tests" / "fuzz" / "corpus"
FILES = sorted(file for file in CORPUS.rglob("*") if file.is_file())
SUFFIX = {"urdf": ".urdf", "problems": ".h5", "states": ".h5", "grasp_set": ".h5"}
DOCUMENTED = (0, 1, 2, 3, 4, 5, 6)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name} {file.name}")
def test_a_file_that_once_went_wrong_is_read_or_refused(tmp_path, file):
    target = file.parent.name
    copy = shutil.copy(file, tmp_path / f"file{SUFFIX.get(target, '.toml')}")
    command = {
        "screws": ["screws", copy],
        "problems": ["contact", "solve", copy],
        "states": ["chain", "eval", "puma560", copy],
        "grasp_set": ["grasp", "rank", copy],
    }.get(target, ["check", copy])
    done = garra(*command, expect=None, errors="replace")
    assert done.returncode in DOCUMENTED
    assert done.returncode == 0 or done.stderr.startswith("garra: ")


@pytest.mark.parametrize("name", ["length_beyond_64_bits", "name_of_many_dots"])
def test_what_check_prints_of_a_robot_is_read_again(tmp_path, name):
    """Found by tools/fuzz: a length of 2e21 m was written as a whole number, and a name with 85 dots as it is."""
    urdf = shutil.copy(CORPUS / "urdf" / name, tmp_path / "robot.urdf")
    printed = garra("check", urdf, "--format", "toml", expect=DONE, errors="replace").stdout
    (tmp_path / "robot.toml").write_text(printed)
    assert garra("check", tmp_path / "robot.toml", "--format", "toml", expect=DONE).stdout == printed


def test_a_number_of_4_GB_is_refused_before_memory_is_taken(tmp_path):
    """Found by tools/fuzz: a file of 9 kB whose element type has 4 GB, for which HDF5 took as much."""
    said = garra("contact", "solve", CORPUS / "problems" / "number_of_4_GB", "-o", tmp_path / "o.h5", expect=INVALID)
    assert "dataset fclib_local/W/x: claims" in said.stderr and "a file of 8992 bytes cannot hold" in said.stderr


def test_names_in_a_urdf_are_utf8(tmp_path):
    """Found by tools/fuzz: such a joint's name made a run end with exit code 70 when its summary was written."""
    file = tmp_path / "robot.urdf"
    file.write_bytes((CORPUS / "urdf" / "name_not_utf8").read_bytes())
    said = garra("check", file, expect=INVALID, errors="replace").stderr
    assert 'joint "j\ufffd": the attribute "name" is not UTF-8' in said
    file.write_bytes(file.read_bytes().replace(b"\xa5", "\u00a5".encode()))
    garra("check", file, expect=DONE)


@pytest.mark.parametrize("wrong", [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"])
def test_an_argument_that_is_not_utf8_is_refused(tmp_path, wrong):
    """Found by tools/fuzz: exit code 70 where the name went into an answer."""
    done = subprocess.run([PROGRAM.encode(), b"check", b"x" + wrong + b".toml"], cwd=tmp_path, capture_output=True)
    assert done.returncode == USAGE and b"argument 2 is not UTF-8" in done.stderr
    done = subprocess.run([PROGRAM.encode(), b"check", "\u20ac\U0001f916.toml".encode()], cwd=tmp_path, capture_output=True)
    assert b"UTF-8" not in done.stderr
