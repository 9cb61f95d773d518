"""`garra contact solve` seen from outside: files written by h5py, answers judged by NumPy.

The judge below knows the friction law and the natural map from the reference set's README and shares nothing with
the program; the program's own residual is only compared with it. Run with GARRA_PROGRAM=path/to/garra.
"""

import json
import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "data" / "reference" / "contact"
REAL = ROOT.parent / "shared" / "reference" / "contact"  # real problems, not part of the project
MAX_CONTACTS = 8
TOLERANCE = 1e-8  # scale-invariant; the program's default
# The program and the judge sum in different orders.
ROUNDING = 1e-13

USAGE, INVALID_FILE, TOO_MANY_UNSOLVED, INPUT_OUTPUT = 2, 3, 4, 5

needs_real = pytest.mark.skipif(not REAL.is_dir(), reason=f"the real problems are not there ({REAL})")


# --- the judge


def project_on_cone(y, mu):
    """Nearest point of {|c_T| <= mu c_n}; y is [k,3], mu is [k]."""
    normal, tangent = y[:, 0], np.hypot(y[:, 1], y[:, 2])
    out = np.zeros_like(y)
    inside = tangent <= mu * normal
    out[inside] = y[inside]
    # Neither inside the cone nor in its polar cone: nearest point of the mantle.
    mantle = ~inside & (mu * tangent + normal > 0)
    height = (normal + mu * tangent)[mantle] / (1 + mu[mantle] ** 2)
    out[mantle, 0] = height
    out[mantle, 1:] = (mu[mantle] * height / tangent[mantle])[:, None] * y[mantle, 1:]
    return out


def natural_map_error(A, b, mu, c):
    a = A @ c + b
    forces, shifted = c.reshape(-1, 3), a.reshape(-1, 3).copy()
    shifted[:, 0] += mu * np.hypot(shifted[:, 1], shifted[:, 2])
    error = np.linalg.norm(forces - project_on_cone(forces - shifted, mu))
    scale = max(np.linalg.norm(v) for v in (b, c, a))
    return error / scale if scale > 0 else error


def scaled(A, b, c):
    size_a = A.diagonal().max() if A.diagonal().max() > 0 else 1.0
    size_b = np.abs(b).max() if np.abs(b).max() > 0 else 1.0
    return A / size_a, b / size_b, c * size_a / size_b


def residual(A, b, mu, c):
    """The scale-invariant natural-map error."""
    A, b, c = scaled(A, b, c)
    return natural_map_error(A, b, mu, c)


def law_violation(A, b, mu, c):
    """How far the law itself is missed, in the natural map's units: relative to the largest of |b|, |c|, |a|."""
    A, b, c = scaled(A, b, c)
    a = A @ c + b
    scale = max(np.linalg.norm(v) for v in (b, c, a))
    if scale == 0:
        return 0.0
    c, a = (c / scale).reshape(-1, 3), (a / scale).reshape(-1, 3)
    slip = np.hypot(a[:, 1], a[:, 2])
    friction = np.hypot(c[:, 1], c[:, 2])
    return max(
        np.max(-c[:, 0]),  # no pulling
        np.max(-a[:, 0] / (1 + mu)),  # no penetration
        np.max((friction - mu * c[:, 0]) / (1 + mu)),  # inside the cone
        np.max(np.abs(c[:, 0] * a[:, 0])) / 4,  # contact or force
        np.max(np.abs(mu * c[:, 0] * slip + c[:, 1] * a[:, 1] + c[:, 2] * a[:, 2])) / 4,  # friction opposes slip, fully
    )


def assert_solved(problems, solution, tolerance=TOLERANCE):
    A, b, mu = problems
    names = solution["names"]
    unsolved = [(i, names[s]) for i, s in enumerate(solution["status"]) if names[s] != "converged"]
    assert not unsolved, f"{len(unsolved)} of {len(b)} unsolved: {unsolved[:5]}"
    for i, c in enumerate(solution["c"]):
        judged = residual(A[i], b[i], mu[i], c)
        assert judged <= tolerance + ROUNDING, f"problem {i}: residual {judged}"
        assert solution["residual"][i] == pytest.approx(judged, rel=1e-3, abs=ROUNDING), f"problem {i}"
        # The natural map bounds the law: by a factor below 2 for mu <= 1.2.
        assert law_violation(A[i], b[i], mu[i], c) <= 2 * tolerance, f"problem {i}"
        size = np.abs(A[i]) @ np.abs(c) + np.abs(b[i])
        assert np.all(np.abs(solution["a"][i] - (A[i] @ c + b[i])) <= ROUNDING * size), f"problem {i}"


# --- files and the program


@pytest.fixture(scope="session")
def program():
    path = os.environ.get("GARRA_PROGRAM")
    if not path or not Path(path).is_file():
        pytest.fail("set GARRA_PROGRAM to the built program", pytrace=False)
    return path


@pytest.fixture
def solve(program):
    def run(*arguments, expect=0):
        done = subprocess.run(
            [program, "contact", "solve", *map(str, arguments)], capture_output=True, text=True, timeout=300
        )
        assert done.returncode == expect, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run


def write_problems(path, A, b, mu, **more):
    with h5py.File(path, "w") as out:
        for name, values in {"A": A, "b": b, "mu": mu, **more}.items():
            out[name] = values
    return path


def read_problems(path):
    with h5py.File(path) as file:
        return file["A"][()], file["b"][()], file["mu"][()]


def read_solution(path):
    with h5py.File(path) as file:
        out = {name: dataset[()] for name, dataset in file.items()}
        out["names"] = list(file["status"].attrs["names"])
        out["attributes"] = dict(file.attrs)
    return out


def one_contact(b, mu=0.5, diagonal=(2.0, 1.0, 1.0)):
    return np.diag(diagonal)[None], np.asarray(b, float)[None], np.array([[mu]])


@pytest.fixture
def small(tmp_path):
    """A file of one sticking contact."""
    return write_problems(tmp_path / "small.h5", *one_contact([-1, 0.1, 0]))


# --- the judge is judged


@pytest.mark.parametrize("contacts", [3, 4, 8])
def test_judge_accepts_the_reference_and_rejects_a_slightly_wrong_answer(contacts):
    path = REFERENCE / f"random_n{contacts}.h5"
    A, b, mu = read_problems(path)
    with h5py.File(path) as file:
        c = file["c"][()]
    for i in range(len(b)):
        assert residual(A[i], b[i], mu[i], c[i]) < 1e-10
        assert law_violation(A[i], b[i], mu[i], c[i]) < 1e-10
        wrong = c[i] + 1e-4 * max(1, np.linalg.norm(c[i]))
        assert residual(A[i], b[i], mu[i], wrong) > TOLERANCE


# --- answers


@pytest.mark.parametrize("device", ["auto", "cpu", "scalar"])
@pytest.mark.parametrize("contacts", [3, 4, 8])
def test_random_grasps_are_all_solved(solve, tmp_path, contacts, device):
    path = REFERENCE / f"random_n{contacts}.h5"
    solve(path, "-o", tmp_path / "s.h5", "--device", device, "--max-unsolved", 0)
    assert_solved(read_problems(path), read_solution(tmp_path / "s.h5"))


def test_a_tighter_tolerance_is_kept(solve, tmp_path):
    path = REFERENCE / "random_n3.h5"
    solve(path, "-o", tmp_path / "s.h5", "--tol", 1e-11, "--max-unsolved", 0)
    assert_solved(read_problems(path), read_solution(tmp_path / "s.h5"), tolerance=1e-11)


def test_one_contact_matches_its_closed_form(solve, tmp_path):
    rng = np.random.default_rng(7)
    n = 400
    a_n, a_t, mu = rng.uniform(0.2, 3, n), rng.uniform(0.2, 3, n), rng.uniform(0, 1.2, n)
    b = rng.normal(size=(n, 3))
    A = np.stack([np.diag([p, q, q]) for p, q in zip(a_n, a_t)])
    path = write_problems(tmp_path / "p.h5", A, b, mu[:, None])
    solve(path, "-o", tmp_path / "s.h5", "--tol", 1e-12, "--max-unsolved", 0)
    normal = np.maximum(0, -b[:, 0] / a_n)
    stick = -b[:, 1:] / a_t[:, None]
    slide = -(mu * normal / np.hypot(b[:, 1], b[:, 2]))[:, None] * b[:, 1:]
    sticks = np.hypot(b[:, 1], b[:, 2]) <= mu * a_t * normal
    expected = np.column_stack([normal, np.where(sticks[:, None], stick, slide)])
    np.testing.assert_allclose(read_solution(tmp_path / "s.h5")["c"], expected, atol=1e-9)


@needs_real
def test_real_problems_are_all_solved(solve, tmp_path):
    data = np.load(REAL / "fc3d_430.npz")
    by_contacts = {}
    for i, contacts in enumerate(data["nc"]):
        by_contacts.setdefault(int(contacts), []).append(i)
    solved = 0
    for contacts, members in sorted(by_contacts.items()):
        if contacts > MAX_CONTACTS:
            continue
        problems = [np.stack([data[f"{name}{i}"] for i in members]) for name in ("W", "q", "mu")]
        path = write_problems(tmp_path / f"k{contacts}.h5", *problems)
        solve(path, "-o", tmp_path / "s.h5", "--max-unsolved", 0)
        assert_solved(problems, read_solution(tmp_path / "s.h5"))
        solved += len(members)
    assert solved == 388


def read_fclib(path):
    """W, q, mu of a local file in CSR, which is what all files of the set are."""
    with h5py.File(path) as file:
        w = file["fclib_local/W"]
        size, offsets, columns, values = int(w["m"][0]), w["p"][()], w["i"][()], w["x"][()]
        assert int(w["nz"][0]) == -2
        dense = np.zeros((size, size))
        for row in range(size):
            for e in range(offsets[row], offsets[row + 1]):
                dense[row, columns[e]] += values[e]
        return dense, file["fclib_local/vectors/q"][()], file["fclib_local/vectors/mu"][()]


@needs_real
def test_fclib_files_are_solved_in_one_call(solve, tmp_path):
    files = {path: read_fclib(path) for path in sorted((REAL / "fclib").glob("*.hdf5"))}
    small = {path: p for path, p in files.items() if len(p[2]) <= MAX_CONTACTS}
    assert len(small) > 100
    done = solve(*small, "-o", f"{tmp_path}/out/", "--max-unsolved", 0, "--format", "json")
    assert json.loads(done.stdout)["problems"] == len(small)
    for path, (W, q, mu) in small.items():
        solution = read_solution(tmp_path / "out" / f"{path.stem}.solution.h5")
        assert_solved((W[None], q[None], mu[None]), solution)


@needs_real
def test_fclib_files_with_too_many_contacts_are_named(solve):
    large = [p for p in sorted((REAL / "fclib").glob("*.hdf5")) if len(read_fclib(p)[2]) > MAX_CONTACTS]
    done = solve(large[0], expect=INVALID_FILE)
    assert large[0].name in done.stderr and "1 to 8" in done.stderr


# --- the solution file


def test_solution_file_holds_what_its_description_says(solve, tmp_path):
    n, k = 500, 3
    path = REFERENCE / "random_n3.h5"
    solve(path, "-o", tmp_path / "s.h5", "--tol", 1e-9)
    s = read_solution(tmp_path / "s.h5")
    shapes = {"c": (n, 3 * k), "a": (n, 3 * k), "s": (n, k), "lambda": (n, k)}
    shapes |= {name: (n,) for name in ("merit", "residual", "residual_raw", "iterations", "status")}
    assert {name: s[name].shape for name in shapes} == shapes
    assert s["status"].dtype == np.uint8 and s["c"].dtype == np.float64
    assert s["names"][:4] == ["converged", "stalled", "iteration_limit", "invalid_input"]
    assert s["attributes"]["tolerance"] == 1e-9
    assert all(isinstance(s["attributes"][name], str) for name in ("method", "device", "version"))
    A, b, mu = read_problems(path)
    c, a = s["c"].reshape(n, k, 3), s["a"].reshape(n, k, 3)
    np.testing.assert_allclose(s["lambda"], np.hypot(a[..., 1], a[..., 2]), rtol=1e-14)
    limit = (mu * c[..., 0]) ** 2
    np.testing.assert_allclose(s["s"], limit - c[..., 1] ** 2 - c[..., 2] ** 2, atol=1e-12 * limit.max())
    raw = [natural_map_error(A[i], b[i], mu[i], s["c"][i]) for i in range(n)]
    np.testing.assert_allclose(s["residual_raw"], raw, rtol=1e-3, atol=ROUNDING)
    assert np.all(s["iterations"] >= 0) and np.all(s["merit"] >= 0)


def test_invalid_problems_are_a_status_and_leave_their_neighbors_alone(solve, tmp_path):
    A, b, mu = read_problems(REFERENCE / "random_n3.h5")
    A, b, mu = A[:19].copy(), b[:19].copy(), mu[:19].copy()
    solve(write_problems(tmp_path / "good.h5", A, b, mu), "-o", tmp_path / "good_s.h5", "--max-unsolved", 0)
    A[3, 0, 0], b[9, 4], mu[12, 1], b[18, 0] = np.nan, np.inf, -0.1, np.nan
    bad = [3, 9, 12, 18]
    solve(write_problems(tmp_path / "bad.h5", A, b, mu), "-o", tmp_path / "bad_s.h5")
    good, mixed = read_solution(tmp_path / "good_s.h5"), read_solution(tmp_path / "bad_s.h5")
    for i in range(19):
        name = mixed["names"][mixed["status"][i]]
        assert name == ("invalid_input" if i in bad else "converged"), f"problem {i}"
        if i in bad:
            assert np.all(np.isnan(mixed["c"][i])) and np.all(np.isnan(mixed["a"][i]))
        else:
            np.testing.assert_array_equal(mixed["c"][i], good["c"][i])


@pytest.mark.parametrize("n", [1, 7, 8, 9, 33])
def test_answers_do_not_depend_on_the_batch(solve, tmp_path, n):
    A, b, mu = read_problems(REFERENCE / "random_n4.h5")
    solve(write_problems(tmp_path / "p.h5", A[:n], b[:n], mu[:n]), "-o", tmp_path / "s.h5", "--device", "cpu")
    solve(REFERENCE / "random_n4.h5", "-o", tmp_path / "all.h5", "--device", "cpu")
    some, everything = read_solution(tmp_path / "s.h5"), read_solution(tmp_path / "all.h5")
    np.testing.assert_array_equal(some["c"], everything["c"][:n])


def test_zero_problems_give_a_solution_file_of_zero_problems(solve, tmp_path):
    path = write_problems(tmp_path / "p.h5", np.zeros((0, 9, 9)), np.zeros((0, 9)), np.zeros((0, 3)))
    done = solve(path, "-o", tmp_path / "s.h5", "--max-unsolved", 0, "--format", "json")
    assert read_solution(tmp_path / "s.h5")["c"].shape == (0, 9)
    assert json.loads(done.stdout)["solved_share"] is None


# --- the summary


def test_json_summary_adds_up(solve, tmp_path):
    A, b, mu = read_problems(REFERENCE / "random_n3.h5")
    b = b.copy()
    b[7, 0] = np.nan
    path = write_problems(tmp_path / "p.h5", A, b, mu)
    summary = json.loads(solve(path, "-o", tmp_path / "s.h5", "--format", "json").stdout)
    s = read_solution(tmp_path / "s.h5")
    assert summary["problems"] == 500 and summary["solved"] == 499
    assert summary["solved_share"] == pytest.approx(0.998)
    assert summary["status"]["invalid_input"] == 1 and sum(summary["status"].values()) == 500
    assert summary["worst_residual"] == s["residual"][s["status"] == 0].max()
    assert summary["iterations"]["max"] == s["iterations"].max()
    assert summary["iterations"]["mean"] == pytest.approx(s["iterations"].mean())
    assert summary["problems_per_second"] > 0
    assert summary["outputs"] == [str(tmp_path / "s.h5")] and summary["unreadable"] == []


def test_human_summary_names_what_matters(solve, tmp_path):
    out = solve(REFERENCE / "random_n3.h5", "-o", tmp_path / "s.h5").stdout
    for word in ("500", "converged", "worst residual", "iterations", "problems/s", "device", str(tmp_path / "s.h5")):
        assert word in out


def test_without_an_output_nothing_is_written(solve, small):
    out = solve(small).stdout
    assert "not written" in out
    assert [p.name for p in small.parent.iterdir()] == ["small.h5"]


def test_help_shows_two_examples(solve):
    assert solve("--help").stdout.count("  garra contact solve ") == 2


# --- several inputs


def test_inputs_of_different_sizes_share_a_call(solve, tmp_path):
    inputs = [REFERENCE / f"random_n{k}.h5" for k in (3, 4, 8)]
    inputs.append(write_problems(tmp_path / "again.h5", *(v[5:9] for v in read_problems(inputs[0]))))
    (tmp_path / "out").mkdir()
    summary = json.loads(solve(*inputs, "-o", tmp_path / "out", "--format", "json").stdout)
    assert summary["problems"] == 1004
    for path in inputs:
        assert_solved(read_problems(path), read_solution(tmp_path / "out" / f"{path.stem}.solution.h5"))


def test_one_bad_file_among_several_does_not_stop_the_others(solve, small, tmp_path):
    bad = tmp_path / "bad.h5"
    bad.write_text("no")
    done = solve(bad, small, "-o", f"{tmp_path}/out/", expect=INVALID_FILE)
    assert "bad.h5" in done.stderr and "1 of 2" in done.stderr
    assert (tmp_path / "out" / "small.solution.h5").is_file()


def test_outputs_never_collide(solve, small, tmp_path):
    (tmp_path / "other").mkdir()
    twin = write_problems(tmp_path / "other" / "small.h5", *one_contact([-1, 0, 0]))
    assert "two inputs" in solve(small, twin, "-o", f"{tmp_path}/out/", expect=USAGE).stderr
    assert "folder" in solve(small, twin, "-o", tmp_path / "s.h5", expect=USAGE).stderr
    assert "overwrite" in solve(small, "-o", small, expect=USAGE).stderr
    read_problems(small)


# --- exit codes and messages


@pytest.mark.parametrize(
    "arguments",
    [["--no-such-flag"], ["--tol", "0"], ["--tol", "x"], ["--threads", "-1"], ["--format", "xml"],
     ["--max-iterations", "0"], ["--max-unsolved", "2"], ["--device", "abacus"]],
)  # fmt: skip
def test_a_wrong_command_line_is_exit_code_2(solve, small, arguments):
    assert solve(small, *arguments, expect=USAGE).stderr.strip()


def test_no_input_is_exit_code_2(solve):
    solve(expect=USAGE)


def test_too_many_unsolved_is_exit_code_4_and_the_file_is_there(solve, tmp_path):
    path = write_problems(tmp_path / "p.h5", *one_contact([np.nan, 0, 0]))
    done = solve(path, "-o", tmp_path / "s.h5", "--max-unsolved", 0.5, expect=TOO_MANY_UNSOLVED)
    assert "1 of 1" in done.stderr
    assert read_solution(tmp_path / "s.h5")["status"][0] == 3
    solve(path, "-o", tmp_path / "s.h5")


def spoil(path, name, values=None):
    with h5py.File(path, "r+") as file:
        if name in file:
            del file[name]
        if values is not None:
            file[name] = values


@pytest.mark.parametrize(
    "name, values, words",
    [
        ("mu", None, ["dataset mu", "is missing"]),
        ("b", np.zeros((1, 6)), ["dataset b", "expected shape [1, 3]", "found [1, 6]"]),
        ("A", np.zeros((3, 3)), ["dataset A", "[n, 3k, 3k]", "found [3, 3]"]),
        ("A", np.zeros((1, 27, 27)), ["dataset A", "9 contacts", "1 to 8"]),
        ("A", np.zeros((1, 3, 3), complex), ["dataset A", "expected numbers"]),
        ("mu", np.array([["0.5"]], dtype="S3"), ["dataset mu", "strings"]),
        ("mode", np.array([[1]]), ["dataset mode", "sliding", "not supported yet"]),
        ("mode", np.array([[0.0]]), ["dataset mode", "whole numbers"]),
    ],
)
def test_a_wrong_file_is_exit_code_3_and_names_the_dataset(solve, small, name, values, words):
    spoil(small, name, values)
    message = solve(small, expect=INVALID_FILE).stderr
    for word in ["small.h5", *words]:
        assert word in message


def test_a_file_of_another_format_is_exit_code_3(solve, tmp_path):
    (tmp_path / "p.h5").write_bytes(b"PK\x03\x04 not a problem")
    assert "not an HDF5 file" in solve(tmp_path / "p.h5", expect=INVALID_FILE).stderr


def test_missing_and_truncated_files_are_exit_code_5(solve, small):
    assert "No such file" in solve(small.parent / "none.h5", expect=INPUT_OUTPUT).stderr
    small.write_bytes(small.read_bytes()[:-500])
    assert "truncated" in solve(small, expect=INPUT_OUTPUT).stderr


def test_an_output_that_cannot_be_written_is_exit_code_5(solve, small):
    assert "No such file" in solve(small, "-o", small.parent / "no" / "s.h5", expect=INPUT_OUTPUT).stderr
    if os.path.exists("/dev/full"):
        assert "No space left" in solve(small, "-o", "/dev/full", expect=INPUT_OUTPUT).stderr


def test_integers_and_single_precision_are_read(solve, tmp_path):
    path = write_problems(
        tmp_path / "p.h5", np.eye(3, dtype=np.float32)[None], np.array([[-2, 0, 0]]), np.array([[1]]),
        mode=np.zeros((1, 1), np.uint8),
    )  # fmt: skip
    solve(path, "-o", tmp_path / "s.h5", "--max-unsolved", 0)
    np.testing.assert_allclose(read_solution(tmp_path / "s.h5")["c"], [[2, 0, 0]], atol=1e-7)
