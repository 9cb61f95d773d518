"""`garra chain eval` seen from outside: files written by h5py, answers compared with Pinocchio's numbers and NumPy.

Run with GARRA_PROGRAM=path/to/garra.
"""

import json
import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from memory import TWO_THREADS, peak_memory

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("GARRA_PROGRAM", str(ROOT / "build" / "garra"))
PUMA = ROOT / "data" / "robots" / "puma560.toml"
IIWA = ROOT / "data" / "robots" / "iiwa14.urdf"
REFERENCE = ROOT / "data" / "reference" / "chain" / "puma560.h5"
USAGE, INVALID_FILE, TOO_MANY_UNSOLVED, INPUT_OUTPUT = 2, 3, 4, 5


def run(*arguments):
    command = [PROGRAM, "chain", "eval", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def evaluate(*arguments):
    done = run(*arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write(path, **arrays):
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file[name] = values
    return path


def read(path):
    with h5py.File(path) as file:
        return {name: file[name][()] for name in file}


def close(found, expected, tolerance):
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()


@pytest.fixture
def states(tmp_path):
    with h5py.File(REFERENCE) as file:
        arrays = {name: file[name][()] for name in ("q", "qd", "tau")}
        return write(tmp_path / "states.h5", **arrays, qdd=file["qdd_in"][()])


def test_agrees_with_pinocchio(states, tmp_path):
    out = tmp_path / "out.h5"
    summary = evaluate(PUMA, states, "-o", out)
    found, expected = read(out), read(REFERENCE)
    assert set(found) == {"pose", "jacobian", "mass_matrix", "bias", "gravity", "tau", "qdd", "status"}
    close(found["pose"], expected["T_ee"], 1e-12)
    close(found["jacobian"], expected["J_lwa"], 1e-12)
    close(found["mass_matrix"], expected["M_motor"], 1e-10)
    close(found["bias"], expected["Cqd"], 1e-10)
    close(found["gravity"], expected["g"], 1e-10)
    close(found["qdd"], expected["qdd_aba_motor"], 1e-9)
    rotors = (expected["M_motor"] - expected["M"]) @ expected["qdd_in"][:, :, None]
    close(found["tau"], expected["tau_rnea"] + rotors[:, :, 0], 1e-10)
    assert summary["states"] == 80
    assert summary["status"]["converged"] == 80
    assert not found["status"].any()


def test_a_name_is_a_model_and_devices_agree_to_the_bit(states, tmp_path):
    evaluate("puma560", states, "-o", tmp_path / "lanes.h5", "--outputs", "all", "--device", "cpu")
    evaluate(PUMA, states, "-o", tmp_path / "scalar.h5", "--outputs", "all", "--device", "scalar")
    lanes, scalar = read(tmp_path / "lanes.h5"), read(tmp_path / "scalar.h5")
    assert set(lanes) == set(scalar)
    for name, values in lanes.items():
        assert np.array_equal(values, scalar[name]), name


def test_what_the_file_cannot_feed_is_left_out_and_said(tmp_path):
    source = write(tmp_path / "states.h5", q=np.zeros((5, 7)))
    summary = evaluate(IIWA, source, "-o", tmp_path / "out.h5")
    assert summary["outputs"] == ["pose", "jacobian", "mass_matrix", "gravity"]
    assert summary["left_out"] == ["bias", "tau", "qdd"]
    assert read(tmp_path / "out.h5")["mass_matrix"].shape == (5, 7, 7)
    done = run(IIWA, source, "--outputs", "bias")
    assert done.returncode == INVALID_FILE
    assert "states.h5" in done.stderr and "output bias needs qd" in done.stderr


def test_jacobian_of_another_point_in_screw_order(states, tmp_path):
    evaluate(PUMA, states, "-o", tmp_path / "screws.h5", "--outputs", "jacobian", "--jacobian", "screws")
    expected = read(REFERENCE)["J_world_spatial"]
    close(read(tmp_path / "screws.h5")["jacobian"], np.concatenate([expected[:, 3:], expected[:, :3]], axis=1), 1e-12)


def test_masses_that_differ_from_state_to_state(tmp_path):
    q = np.tile([0.1, 0.5, -0.3, 0.2, 0.4, 0.1], (3, 1))
    source = tmp_path / "states.h5"
    write(source, q=q)
    with h5py.File(source, "a") as file:
        for joint in range(6):
            file[f"parameters/{joint}.mass.scale"] = np.array([1.0, 2.0, 0.5])
    evaluate(PUMA, source, "-o", tmp_path / "out.h5", "--outputs", "gravity")
    g = read(tmp_path / "out.h5")["gravity"]
    close(g[1], 2 * g[0], 1e-12)
    close(g[2], 0.5 * g[0], 1e-12)


def test_bad_states_are_statuses(tmp_path):
    q = np.zeros((4, 6))
    q[2, 3] = np.nan
    source = write(tmp_path / "states.h5", q=q)
    summary = evaluate(PUMA, source, "-o", tmp_path / "out.h5")
    assert summary["status"]["invalid_input"] == 1
    found = read(tmp_path / "out.h5")
    assert np.isnan(found["mass_matrix"][2]).all() and np.isfinite(found["mass_matrix"][[0, 1, 3]]).all()
    done = run(PUMA, source, "--max-unsolved", "0.1")
    assert done.returncode == TOO_MANY_UNSOLVED and "1 of 4 states" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["puma56", "STATES"], INPUT_OUTPUT, "puma560"),
        (["nowhere.toml", "STATES"], INPUT_OUTPUT, "nowhere.toml"),
        ([PUMA, "none.h5"], INPUT_OUTPUT, "none.h5"),
        ([IIWA, "STATES"], INVALID_FILE, "dataset q: expected shape [n, 7]"),
        ([PUMA, "STATES", "--outputs", "mass_matrx"], USAGE, "mass_matrix"),
        ([PUMA, "STATES", "-o", "STATES"], USAGE, "overwrite"),
        ([PUMA, "STATES", "--jacobian", "sideways"], USAGE, "sideways"),
    ],
)
def test_mistakes_are_named(states, arguments, code, words):
    done = run(*(states if a == "STATES" else a for a in arguments))
    assert done.returncode == code, done.stderr
    assert words in done.stderr


@pytest.mark.parametrize("storage", [{}, {"chunks": (700, 7), "compression": "gzip", "compression_opts": 1}])
def test_a_file_of_many_blocks_is_evaluated_whole_whatever_its_storage(tmp_path, storage):
    rng = np.random.default_rng(8)
    n = 1700  # blocks of 512
    arrays = {name: rng.normal(size=(n, 7)) for name in ("q", "qd", "qdd", "tau")}
    arrays["q"][1234, 2] = np.nan
    with h5py.File(tmp_path / "states.h5", "w") as out:
        for name, values in arrays.items():
            out.create_dataset(name, data=values, **storage)
    one = evaluate(IIWA, tmp_path / "states.h5", "-o", tmp_path / "one.h5", "--threads", 1)
    evaluate(IIWA, tmp_path / "states.h5", "-o", tmp_path / "three.h5", "--threads", 3)
    assert one["status"]["converged"] == n - 1 and one["status"]["invalid_input"] == 1
    first, second = read(tmp_path / "one.h5"), read(tmp_path / "three.h5")
    assert set(first) == set(second)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
    piece = write(tmp_path / "piece.h5", **{name: values[1200:1250] for name, values in arrays.items()})
    evaluate(IIWA, piece, "-o", tmp_path / "piece_out.h5")
    for name, values in read(tmp_path / "piece_out.h5").items():
        np.testing.assert_array_equal(values, first[name][1200:1250], err_msg=name)


def test_a_file_needs_no_memory_for_all_its_states(tmp_path):
    rng = np.random.default_rng(8)
    n = 100_000  # 22 MB in, 112 MB out
    write(tmp_path / "states.h5", **{name: rng.normal(size=(n, 7)) for name in ("q", "qd", "qdd", "tau")})
    command = [PROGRAM, "chain", "eval", str(IIWA), str(tmp_path / "states.h5"), "-o", str(tmp_path / "out.h5")]
    assert peak_memory([*command, *TWO_THREADS]) < 60_000
