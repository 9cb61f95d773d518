"""`garra grasp analyze`: the papers' hand as a table, states through files, a trajectory's instants, what is refused."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pytest
from program import DONE, INVALID, ROOT, UNSOLVED, USAGE, garra

HAND = ROOT / "data" / "scenarios" / "papers_hand.toml"


def write(path, **arrays):
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file[name.replace("__", "/")] = np.asarray(values, np.float64)
    return path


def analyze(*arguments, **options):
    return garra("grasp", "analyze", HAND, *arguments, **options)


def test_nominal_grasp_is_shown_contact_by_contact():
    text = analyze().stdout
    rows = [line.split() for line in text.splitlines() if line[:1] in "012" and "rolling" in line]
    assert [row[1] for row in rows] == ["rolling"] * 3
    assert [row[-1] for row in rows] == ["stick"] * 3
    for row in rows:
        force = np.array(row[2:5], float)
        assert force[0] == pytest.approx(15, abs=1e-4)
        assert np.hypot(force[1], force[2]) == pytest.approx(3.27, abs=1e-4)
        assert np.abs(np.array(row[5:8], float)).max() == 0
    answer = json.loads(analyze("--format", "json").stdout)
    assert answer["solved"] == answer["instants"] == 1
    assert answer["result"]["mode_after"] == ["stick"] * 3
    assert len(answer["result"]["tau"]) == 3
    assert max(len(line) for line in text.splitlines()[1:]) <= 80  # behind the title


def test_torques_above_their_limit_are_said_to_be_cut_off():
    said = "torque_limit cuts off what is above it"
    assert said not in analyze().stdout
    assert said in analyze("--set", "hand.torque_limit=[50, 90, 60, 15, 15, 10]").stdout


def test_states_of_a_file_become_forces_in_a_file(tmp_path):
    pull = np.linspace(0, 30, 13)
    wrench = np.zeros((13, 6))
    wrench[:, 2] = -pull
    source = write(tmp_path / "pull.h5", wrench=wrench)
    low = ("--set", "contacts.friction=0.4")
    summary = json.loads(analyze(source, "-o", tmp_path / "out.h5", "--format", "json", *low).stdout)
    assert summary["status"]["converged"] == 13
    with h5py.File(tmp_path / "out.h5") as file:
        force, after = file["force"][...], file["mode_after"][...]
        assert list(file["mode_after"].attrs["names"]) == ["stick", "slip", "break"]
        assert list(file["mode_before"].attrs["names"]) == ["rolling", "sliding", "open"]
        assert file["finger_2/qdd"].shape == (13, 6)
        object_z = file["acceleration"][:, 2]
    friction = np.hypot(force[..., 1], force[..., 2])
    assert (friction <= 0.4 * force[..., 0] * (1 + 1e-7)).all()
    assert (after[0] == 0).all() and (after[-1] == 1).all()
    assert object_z[after.max(axis=1) == 1].max() < 0
    assert np.all(np.diff(object_z) <= 1e-9)
    # Its own answer is a file of states, too: forces are found again from q, qd and tau.
    with h5py.File(tmp_path / "out.h5") as file:
        fingers = {f"finger_{j}__{name}": file[f"finger_{j}/{name}"][...] for j in (0, 1, 2) for name in ("q", "qd", "tau")}
    again = write(tmp_path / "again.h5", wrench=wrench, **fingers)
    analyze(again, "-o", tmp_path / "again_out.h5", *low)
    with h5py.File(tmp_path / "again_out.h5") as file:
        assert np.abs(file["force"][...] - force).max() < 1e-9


def test_a_group_of_a_larger_file_can_be_read(tmp_path):
    source = write(tmp_path / "motion.h5", nominal__position=[[0, 0, 0.3]] * 4, nominal__velocity=[[0, 0, 0]] * 4, nominal__time=range(4))
    answer = json.loads(analyze(source, "--group", "nominal", "--format", "json").stdout)
    assert answer["instants"] == answer["solved"] == 4
    assert answer["before"] == {"rolling": 12, "sliding": 0, "open": 0}
    assert "no such group" in analyze(source, "--group", "nominl", expect=INVALID).stderr


def test_an_instant_out_of_reach_has_a_status(tmp_path):
    source = write(tmp_path / "far.h5", position=[[0, 0, 0.3], [4, 0, 0.3]])
    run = analyze(source, "-o", tmp_path / "out.h5", "--max-unsolved", 0.1, expect=UNSOLVED)
    assert "1 of 2 instants" in run.stderr
    with h5py.File(tmp_path / "out.h5") as file:
        names = list(file["status"].attrs["names"])
        assert [names[k] for k in file["status"]] == ["converged", "out_of_reach"]
        assert np.isnan(file["force"][1]).all() and not np.isnan(file["force"][0]).any()
        assert (file["mode_after"][1] == -1).all()


def test_what_does_not_fit_is_refused_by_name(tmp_path):
    short = write(tmp_path / "short.h5", position=np.zeros((3, 3)), wrench=np.zeros((2, 6)))
    message = analyze(short, expect=INVALID).stderr
    assert "wrench" in message and "[3, 6]" in message and "[2, 6]" in message
    one = write(tmp_path / "one.h5", finger_0__q=np.zeros((1, 6)))
    assert "finger_1/q" in analyze(one, expect=INVALID).stderr
    assert "nothing that an analysis reads" in analyze(write(tmp_path / "empty.h5"), expect=INVALID).stderr
    assert "--group without a file" in analyze("--group", "nominal", expect=USAGE).stderr
    assert "overwrite" in analyze(short, "-o", short, expect=USAGE).stderr
    assert analyze(expect=DONE).stderr == ""
