"""`garra contact solve` seen from outside: files written by h5py, answers judged by NumPy.

The judge below knows the friction law, and the definition of the residual from docs/theory/contact-solver.md, and
shares nothing with the program; the program's own residual is only compared with it. Run with
GARRA_PROGRAM=path/to/garra. """

import itertools
import json
import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from load_change import contact_load_change, load_change
from memory import TWO_THREADS, peak_memory

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "data" / "reference" / "contact"
GRASP = ROOT / "data" / "reference" / "grasp"
REAL = ROOT.parent / "shared" / "reference" / "contact"  # real problems, not part of the project
MAX_CONTACTS = 32
TOLERANCE = 1e-8  # scale-invariant; the program's default
# The program and the judge sum in different orders.
ROUNDING = 1e-13

# Methods that minimize a merit function may end at a minimum that is no solution; they alone have several starts.
MINIMIZERS = ["box-quacan", "spg", "projected-lm", "fischer-burmeister"]
CONE_METHODS = ["auto", "semismooth-newton", "nsgs", "admm", "extragradient"]
LEMKE = "lemke"

USAGE, INVALID_FILE, TOO_MANY_UNSOLVED, INPUT_OUTPUT = 2, 3, 4, 5

needs_real = pytest.mark.skipif(not REAL.is_dir(), reason=f"the real problems are not there ({REAL})")


# --- the judge


def scaled(A, b, c):
    size_a = A.diagonal().max() if A.diagonal().max() > 0 else 1.0
    size_b = np.abs(b).max() if np.abs(b).max() > 0 else 1.0
    return A / size_a, b / size_b, c * size_a / size_b


def residual(A, b, mu, c):
    """The relative change of the load."""
    return load_change(A, b, mu, c)


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


def slip_directions(velocity):
    return velocity / np.hypot(velocity[..., 0], velocity[..., 1])[..., None]


def mixed_residual(A, b, mu, slides, velocity, c):
    """The relative change of the load where some contacts slide: c_T = -mu c_n v/|v| there is asked for to rounding."""
    c_T, c_n = c.reshape(-1, 3)[slides, 1:], c.reshape(-1, 3)[slides, 0]
    friction = -(mu[slides] * c_n)[:, None] * slip_directions(velocity[slides])
    np.testing.assert_allclose(c_T, friction, rtol=0, atol=ROUNDING * max(1, np.abs(c).max()))
    return load_change(A, b, mu, c, slides, velocity)


def assert_obeys_mixed_law(problems, solution, least_solved=1.0):
    """Every answer that is called converged is one; at least this share is."""
    A, b, mu, mode, velocity = problems
    converged = np.flatnonzero(solution["status"] == 0)
    assert len(converged) >= least_solved * len(b), f"{len(converged)} of {len(b)} solved"
    for i in converged:
        c = solution["c"][i]
        error = mixed_residual(A[i], b[i], mu[i], mode[i] == 1, velocity[i], c)
        assert error <= TOLERANCE + ROUNDING, f"problem {i}: residual {error}"
        assert error <= solution["residual"][i] * (1 + 1e-6) + ROUNDING, f"problem {i}"
        size = np.abs(A[i]) @ np.abs(c) + np.abs(b[i])
        assert np.all(np.abs(solution["a"][i] - (A[i] @ c + b[i])) <= ROUNDING * size), f"problem {i}"
    others = np.setdiff1d(np.arange(len(b)), converged)
    assert np.all(np.isnan(solution["c"][others]))


def draw_mixed(seed, n, contacts, slides=0.5, friction=0.5):
    """Symmetric, well conditioned A and moderate friction, so that the eliminated problem has one solution."""
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(n, 3 * contacts, 3 * contacts))
    A = 0.2 / contacts * G @ G.transpose(0, 2, 1)
    A[:, np.arange(3 * contacts), np.arange(3 * contacts)] += rng.uniform(0.5, 2, (n, 3 * contacts))
    b = 3 * rng.normal(size=(n, 3 * contacts))
    b[:, ::3] -= 1
    mu = rng.uniform(0.05, friction, (n, contacts))
    mode = (rng.random((n, contacts)) < slides).astype(np.uint8)
    return A, b, mu, mode, rng.normal(size=(n, contacts, 2))


def lcp_of(A, b, mu, velocity):
    """M, q of 0 <= c_n, M c_n + q >= 0 where all contacts slide: the papers' (45)-(48)."""
    d = slip_directions(velocity)
    normal = A[::3]
    return normal[:, ::3] - mu * (d[:, 0] * normal[:, 1::3] + d[:, 1] * normal[:, 2::3]), b[::3]


def lcp_solutions(M, q):
    """All of them, by trying every set of positive forces; None where one of these systems is singular."""
    found, k = [], len(q)
    for active in itertools.product([False, True], repeat=k):
        active = np.array(active)
        z = np.zeros(k)
        if active.any():
            block = M[np.ix_(active, active)]
            if np.linalg.cond(block) > 1e12:
                return None
            z[active] = np.linalg.solve(block, -q[active])
        if np.all(z[active] > 0) and np.all((M @ z + q)[~active] >= 0):
            found.append(z)
    return found


def assert_solved(problems, solution, tolerance=TOLERANCE):
    A, b, mu = problems
    names = solution["names"]
    unsolved = [(i, names[s]) for i, s in enumerate(solution["status"]) if names[s] != "converged"]
    assert not unsolved, f"{len(unsolved)} of {len(b)} unsolved: {unsolved[:5]}"
    for i, c in enumerate(solution["c"]):
        judged = residual(A[i], b[i], mu[i], c)
        assert judged <= tolerance + ROUNDING, f"problem {i}: residual {judged}"
        assert judged <= solution["residual"][i] * (1 + 1e-6) + ROUNDING, f"problem {i}"
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


def write_mixed(path, problems):
    A, b, mu, mode, velocity = problems
    return write_problems(path, A, b, mu, mode=mode, slip_velocity=velocity)


def one_contact(b, mu=0.5, diagonal=(2.0, 1.0, 1.0)):
    return np.diag(diagonal)[None], np.asarray(b, float)[None], np.array([[mu]])


@pytest.fixture
def small(tmp_path):
    """A file of one sticking contact."""
    return write_problems(tmp_path / "small.h5", *one_contact([-1, 0.1, 0]))


# --- the judge is judged


@pytest.mark.parametrize("contacts", [3, 4, 8])
def test_check_accepts_the_reference_and_rejects_a_slightly_wrong_answer(contacts):
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
    solve(path, "-o", tmp_path / "s.h5", "--tolerance", 1e-11, "--max-unsolved", 0)
    assert_solved(read_problems(path), read_solution(tmp_path / "s.h5"), tolerance=1e-11)


def test_one_contact_matches_its_closed_form(solve, tmp_path):
    rng = np.random.default_rng(7)
    n = 400
    a_n, a_t, mu = rng.uniform(0.2, 3, n), rng.uniform(0.2, 3, n), rng.uniform(0, 1.2, n)
    b = rng.normal(size=(n, 3))
    A = np.stack([np.diag([p, q, q]) for p, q in zip(a_n, a_t)])
    path = write_problems(tmp_path / "p.h5", A, b, mu[:, None])
    solve(path, "-o", tmp_path / "s.h5", "--tolerance", 1e-12, "--max-unsolved", 0)
    normal = np.maximum(0, -b[:, 0] / a_n)
    stick = -b[:, 1:] / a_t[:, None]
    slide = -(mu * normal / np.hypot(b[:, 1], b[:, 2]))[:, None] * b[:, 1:]
    sticks = np.hypot(b[:, 1], b[:, 2]) <= mu * a_t * normal
    expected = np.column_stack([normal, np.where(sticks[:, None], stick, slide)])
    np.testing.assert_allclose(read_solution(tmp_path / "s.h5")["c"], expected, atol=1e-9)


@pytest.mark.parametrize("method", CONE_METHODS)
def test_a_contact_without_friction_never_pulls(solve, tmp_path, method):
    """With mu = 0 and no tangential motion the cone is a half line, and a negative force is none of its points."""
    b = np.array([[1.0, 0, 0, 2, 0, 0, -1, 0, 0], [-1, 0, 0, 3, 0, 0, 1, 0, 0]])
    A, mu = np.tile(2 * np.eye(9), (2, 1, 1)), np.zeros((2, 3))
    path = write_problems(tmp_path / "p.h5", A, b, mu)
    solve(path, "-o", tmp_path / "s.h5", "--method", method, "--max-unsolved", 0)
    np.testing.assert_allclose(read_solution(tmp_path / "s.h5")["c"], np.maximum(0, -b / 2), atol=1e-7)


@needs_real
def test_real_problems_are_all_solved(solve, tmp_path):
    """One to twenty contacts. Where the matrix has full rank the forces are those that another solver found."""
    data = np.load(REAL / "fc3d_430.npz")
    by_contacts = {}
    for i, contacts in enumerate(data["nc"]):
        by_contacts.setdefault(int(contacts), []).append(i)
    solved = compared = 0
    for contacts, members in sorted(by_contacts.items()):
        problems = [np.stack([data[f"{name}{i}"] for i in members]) for name in ("W", "q", "mu")]
        path = write_problems(tmp_path / f"k{contacts}.h5", *problems)
        solve(path, "-o", tmp_path / "s.h5", "--max-unsolved", 0)
        solution = read_solution(tmp_path / "s.h5")
        assert_solved(problems, solution)
        solved += len(members)
        for i, c in zip(members, solution["c"]):
            if contacts > 8 and np.linalg.cond(data[f"W{i}"]) < 1e4:
                reference = data[f"r{i}"].ravel()
                np.testing.assert_allclose(c, reference, atol=1e-4 * np.abs(reference).max())
                compared += 1
    assert solved == 430
    assert compared == 4


@needs_real
@pytest.mark.parametrize(
    ("method", "expected"), [("semismooth-newton", 41), ("nsgs", 40), ("admm", 40), ("extragradient", 37)]
)
def test_so_many_of_the_larger_real_problems_does_a_method_solve(solve, tmp_path, method, expected):
    """The 42 with nine to twenty contacts, of which auto solves all."""
    data = np.load(REAL / "fc3d_430.npz")
    solved = 0
    for contacts in sorted(set(data["nc"][data["nc"] > 8])):
        members = np.flatnonzero(data["nc"] == contacts)
        problems = [np.stack([data[f"{name}{i}"] for i in members]) for name in ("W", "q", "mu")]
        path = write_problems(tmp_path / "p.h5", *problems)
        solve(path, "-o", tmp_path / "s.h5", "--method", method)
        solved += int((read_solution(tmp_path / "s.h5")["status"] == 0).sum())
    assert solved == expected


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
    taken = {path: p for path, p in files.items() if len(p[2]) <= MAX_CONTACTS}
    assert len(taken) == 150 and sum(len(mu) > 8 for _, _, mu in taken.values()) == 23
    done = solve(*taken, "-o", f"{tmp_path}/out/", "--max-unsolved", 0, "--format", "json")
    assert json.loads(done.stdout)["problems"] == len(taken)
    for path, (W, q, mu) in taken.items():
        solution = read_solution(tmp_path / "out" / f"{path.stem}.solution.h5")
        assert_solved((W[None], q[None], mu[None]), solution)


@needs_real
def test_fclib_files_with_too_many_contacts_are_named(solve):
    (large,) = [p for p in sorted((REAL / "fclib").glob("*.hdf5")) if len(read_fclib(p)[2]) > MAX_CONTACTS]
    done = solve(large, expect=INVALID_FILE)
    assert large.name in done.stderr and "1 to 32" in done.stderr


# --- contacts that slide


def test_the_mixed_check_rejects_a_slightly_wrong_answer():
    A, b, mu, mode, velocity = one = [v[0] for v in draw_mixed(3, 1, 3, slides=1)]
    (c_n,) = lcp_solutions(*lcp_of(A, b, mu, velocity))
    c = np.column_stack([c_n, -(mu * c_n)[:, None] * slip_directions(velocity)]).ravel()
    assert c_n.max() > 0
    assert mixed_residual(*one[:3], mode == 1, velocity, c) < 1e-12
    assert mixed_residual(*one[:3], mode == 1, velocity, c * (1 + 1e-6)) > TOLERANCE
    c[3 * c_n.argmax() + 1] += 1e-4
    with pytest.raises(AssertionError):
        mixed_residual(*one[:3], mode == 1, velocity, c)


@pytest.mark.parametrize("device", ["auto", "cpu", "scalar"])
@pytest.mark.parametrize("contacts", [1, 2, 3, 5, 8])
def test_mixed_problems_obey_the_law(solve, tmp_path, contacts, device):
    problems = draw_mixed(contacts, 200, contacts)
    assert 0 < problems[3].mean() < 1
    solve(write_mixed(tmp_path / "p.h5", problems), "-o", tmp_path / "s.h5", "--device", device)
    assert_obeys_mixed_law(problems, read_solution(tmp_path / "s.h5"))


@pytest.mark.parametrize("method", CONE_METHODS + MINIMIZERS)
def test_every_method_is_checked_by_the_mixed_law(solve, tmp_path, method):
    problems = draw_mixed(11, 100, 3)
    solve(write_mixed(tmp_path / "p.h5", problems), "-o", tmp_path / "s.h5", "--method", method)
    solution = read_solution(tmp_path / "s.h5")
    assert solution["attributes"]["method"] == method
    assert_obeys_mixed_law(problems, solution, least_solved=0.9 if method in CONE_METHODS else 0.1)


@pytest.mark.parametrize("method", ["auto", LEMKE])
@pytest.mark.parametrize("contacts", [1, 3, 8])
def test_problems_that_slide_everywhere_match_enumeration(solve, tmp_path, contacts, method):
    problems = draw_mixed(20 + contacts, 100, contacts, slides=2)
    solve(write_mixed(tmp_path / "p.h5", problems), "-o", tmp_path / "s.h5", "--method", method, "--max-unsolved", 0)
    solution = read_solution(tmp_path / "s.h5")
    assert_obeys_mixed_law(problems, solution)
    for i in range(100):
        A, b, mu, _, velocity = (v[i] for v in problems)
        exact = lcp_solutions(*lcp_of(A, b, mu, velocity))
        assert len(exact) == 1
        np.testing.assert_allclose(solution["c"][i, ::3], exact[0], atol=1e-6 * max(1, exact[0].max()))


def test_reference_problems_with_sliding_contacts_are_solved(solve, tmp_path):
    problems = [p for p in json.loads((GRASP / "problems.json").read_text()) if not all(p["roll"])]
    assert len(problems) > 50
    by_contacts = {}
    for p in problems:
        by_contacts.setdefault(p["n"], []).append(p)
    for contacts, members in by_contacts.items():
        n = len(members)
        batch = [np.array([p[name] for p in members], float) for name in ("A", "b", "mu")]
        batch[0] = batch[0].reshape(n, 3 * contacts, 3 * contacts)
        batch += [1 - np.array([p["roll"] for p in members], int), np.array([p["slide_dir"] for p in members])]
        solve(write_mixed(tmp_path / "p.h5", batch), "-o", tmp_path / "s.h5", "--max-unsolved", 0)
        solution = read_solution(tmp_path / "s.h5")
        assert_obeys_mixed_law(batch, solution)
        for p, c in zip(members, solution["c"]):
            if p["n_distinct_found"] == 1:
                np.testing.assert_allclose(c, p["c"], atol=1e-5 * (1 + np.abs(p["c"]).max()), err_msg=str(p["id"]))


def test_derived_quantities_of_sliding_contacts(solve, tmp_path):
    problems = draw_mixed(5, 50, 3)
    mu, slides = problems[2], problems[3] == 1
    solve(write_mixed(tmp_path / "p.h5", problems), "-o", tmp_path / "s.h5", "--max-unsolved", 0)
    s = read_solution(tmp_path / "s.h5")
    c, a = s["c"].reshape(50, 3, 3), s["a"].reshape(50, 3, 3)
    limit = (mu * c[..., 0]) ** 2
    assert np.all(np.abs(s["s"][slides]) <= ROUNDING * limit.max())
    np.testing.assert_allclose(s["lambda"], np.hypot(a[..., 1], a[..., 2]), rtol=1e-14)
    # The papers' f has one row per sliding contact, c_n a_n; it vanishes at a solution like the rows of the others.
    assert np.all(s["merit"] <= 1e-10)


def test_only_the_direction_of_a_slip_velocity_matters(solve, tmp_path):
    A, b, mu, mode, velocity = draw_mixed(6, 40, 3)
    answers = []
    for factor in (1.0, 2.0**-40, 2.0**300):
        path = write_mixed(tmp_path / "p.h5", (A, b, mu, mode, factor * velocity))
        solve(path, "-o", tmp_path / "s.h5", "--max-unsolved", 0)
        answers.append(read_solution(tmp_path / "s.h5")["c"])
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


@pytest.mark.parametrize("number_type", [bool, np.int8, np.uint16, np.int64])
def test_modes_of_every_type_give_the_same_answers(solve, tmp_path, number_type):
    A, b, mu, mode, velocity = draw_mixed(7, 10, 2)
    answers = []
    for values in (mode, mode.astype(number_type)):
        path = write_mixed(tmp_path / "p.h5", (A, b, mu, values, velocity))
        solve(path, "-o", tmp_path / "s.h5", "--max-unsolved", 0)
        answers.append(read_solution(tmp_path / "s.h5")["c"])
    np.testing.assert_array_equal(*answers)


def test_a_mode_of_zeros_is_a_file_without_mode(solve, small):
    solve(small, "-o", small.parent / "plain.h5")
    with h5py.File(small, "r+") as file:
        file["mode"] = np.zeros((1, 1), np.int32)
    solve(small, "-o", small.parent / "zeros.h5")
    plain, zeros = read_solution(small.parent / "plain.h5"), read_solution(small.parent / "zeros.h5")
    np.testing.assert_array_equal(plain["c"], zeros["c"])


def test_a_slip_velocity_that_is_not_a_number_is_an_invalid_problem(solve, tmp_path):
    problems = draw_mixed(8, 17, 3, slides=2)
    solve(write_mixed(tmp_path / "p.h5", problems), "-o", tmp_path / "good.h5", "--max-unsolved", 0)
    problems[4][[2, 11], 1, 0] = np.nan, np.inf
    solve(write_mixed(tmp_path / "p.h5", problems), "-o", tmp_path / "bad.h5")
    good, bad = read_solution(tmp_path / "good.h5"), read_solution(tmp_path / "bad.h5")
    for i in range(17):
        if i in (2, 11):
            assert bad["names"][bad["status"][i]] == "invalid_input" and np.all(np.isnan(bad["c"][i]))
        else:
            np.testing.assert_array_equal(bad["c"][i], good["c"][i])


def test_files_with_and_without_sliding_contacts_share_a_call(solve, tmp_path):
    mixed = write_mixed(tmp_path / "mixed.h5", draw_mixed(9, 30, 3))
    rolling = write_problems(tmp_path / "rolling.h5", *draw_mixed(10, 20, 3)[:3])
    again = write_mixed(tmp_path / "again.h5", draw_mixed(12, 5, 3))
    wide = write_mixed(tmp_path / "wide.h5", draw_mixed(13, 5, 4))
    inputs = [rolling, mixed, wide, again]
    summary = json.loads(solve(*inputs, "-o", f"{tmp_path}/out/", "--format", "json").stdout)
    slides = sum(int(h5py.File(path)["mode"][()].sum()) for path in (mixed, wide, again))
    assert summary["contacts"] == {"rolling": 3 * 55 + 4 * 5 - slides, "sliding": slides}
    for path in inputs:
        solve(path, "-o", tmp_path / "alone.h5", "--max-unsolved", 0)
        alone = read_solution(tmp_path / "alone.h5")
        together = read_solution(tmp_path / "out" / f"{path.stem}.solution.h5")
        for name in ("c", "a", "s", "lambda", "residual", "iterations", "status"):
            np.testing.assert_array_equal(alone[name], together[name], err_msg=f"{path.stem}: {name}")


@pytest.mark.parametrize("flags", [["--method", "lemke"], ["--count-solutions"]])
def test_what_needs_sliding_contacts_is_refused_before_anything_is_solved(solve, tmp_path, flags):
    sliding = write_mixed(tmp_path / "sliding.h5", draw_mixed(14, 5, 3, slides=2))
    problems = draw_mixed(15, 5, 3, slides=2)
    problems[3][3, 1] = 0
    mixed = write_mixed(tmp_path / "mixed.h5", problems)
    rolling = write_problems(tmp_path / "rolling.h5", *problems[:3])
    done = solve(sliding, mixed, "-o", f"{tmp_path}/out/", *flags, expect=INVALID_FILE)
    for word in ("mixed.h5", "dataset mode", flags[0], "problem 3, contact 1", "auto"):
        assert word in done.stderr
    assert not list((tmp_path / "out").iterdir()) and done.stdout == ""
    assert "problem 0, contact 0" in solve(rolling, *flags, expect=INVALID_FILE).stderr


def test_solutions_are_counted_as_enumeration_counts_them(solve, tmp_path):
    """Strong friction and strong coupling: Painlevé cases, without a solution or with several."""
    rng = np.random.default_rng(16)
    n, k = 300, 4
    G = rng.normal(size=(n, 3 * k, 3 * k))
    A = G @ G.transpose(0, 2, 1) / k + 0.02 * np.eye(3 * k)
    b, mu = 3 * rng.normal(size=(n, 3 * k)), rng.uniform(0.2, 2, (n, k))
    mode, velocity = np.ones((n, k), int), rng.normal(size=(n, k, 2))
    expected, kept = [], []
    for i in range(n):
        exact = lcp_solutions(*lcp_of(A[i], b[i], mu[i], velocity[i]))
        if exact is not None:
            expected.append(len(exact))
            kept.append(i)
    assert len(kept) > 290 and len(set(expected)) >= 3
    path = write_mixed(tmp_path / "p.h5", [v[kept] for v in (A, b, mu, mode, velocity)])
    done = solve(path, "-o", tmp_path / "s.h5", "--count-solutions", "--method", LEMKE, "--format", "json")
    s = read_solution(tmp_path / "s.h5")
    assert s["solutions"].dtype == np.uint8
    np.testing.assert_array_equal(s["solutions"], expected)
    assert not np.any((s["status"] == 0) & (s["solutions"] == 0))
    counts = {str(k): expected.count(k) for k in sorted(set(expected))}
    assert json.loads(done.stdout)["solutions_per_problem"] == counts
    assert "solutions exist" in solve(path, "--count-solutions").stdout


@pytest.mark.parametrize("contacts", [3, 4])
def test_reference_problems_with_none_or_several_solutions(solve, tmp_path, contacts):
    problems = [p for p in json.loads((GRASP / "lcp_nonunique.json").read_text()) if p["n"] == contacts]
    n = len(problems)
    batch = [np.array([p[name] for p in problems], float) for name in ("A", "b", "mu")]
    batch[0] = batch[0].reshape(n, 3 * contacts, 3 * contacts)
    batch += [np.ones((n, contacts), int), np.array([p["slide_dir"] for p in problems])]
    path = write_mixed(tmp_path / "p.h5", batch)
    solve(path, "-o", tmp_path / "s.h5", "--count-solutions", "--method", LEMKE)
    s = read_solution(tmp_path / "s.h5")
    assert list(s["solutions"]) == [len(p["solutions"]) for p in problems]
    assert_obeys_mixed_law(batch, s, least_solved=0)
    for i, p in enumerate(problems):
        assert (s["status"][i] == 0) <= (len(p["solutions"]) > 0)


# --- mixed precision


def test_mixed_precision_counts_the_problems_that_began_again_in_double(solve, tmp_path):
    A, b, mu = read_problems(REFERENCE / "random_n3.h5")
    mu = mu.copy()
    mu[8, 1] = 1e39  # no float holds it
    write_problems(tmp_path / "p.h5", A, b, mu)
    plain, mixed = (
        json.loads(solve(tmp_path / "p.h5", "-o", tmp_path / f"{name}.h5", "--precision", name, "--format", "json").stdout)
        for name in ("fp64", "mixed")
    )
    assert mixed["solved"] == plain["solved"] == 500 and "mixed_precision" not in plain
    again = read_solution(tmp_path / "mixed.h5")["stalls"]
    assert again[8] == 1 and again.sum() == mixed["mixed_precision"]["began_again"]
    assert mixed["iterations"]["mean"] < 1.1 < 2 < plain["iterations"]["mean"]
    text = solve(tmp_path / "p.h5", "--precision", "mixed").stdout
    assert f"mixed precision {again.sum()} of 500 began again in double" in text


def test_mixed_precision_is_refused_where_there_is_none(solve):
    done = solve(REFERENCE / "random_n3.h5", "--precision", "mixed", "--method", "nsgs", expect=2)
    assert "it is for the methods auto and semismooth-newton" in done.stderr


# --- the solution file


def test_solution_file_holds_what_its_description_says(solve, tmp_path):
    n, k = 500, 3
    path = REFERENCE / "random_n3.h5"
    solve(path, "-o", tmp_path / "s.h5", "--tolerance", 1e-9)
    s = read_solution(tmp_path / "s.h5")
    shapes = {"c": (n, 3 * k), "a": (n, 3 * k), "s": (n, k), "lambda": (n, k)}
    shapes |= {name: (n,) for name in ("merit", "residual", "contact_residual", "iterations", "status")}
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
    own = np.array([contact_load_change(A[i], b[i], mu[i], s["c"][i]) for i in range(n)])
    assert np.all(own <= s["contact_residual"] * (1 + 1e-6) + ROUNDING)
    assert np.median((own / s["contact_residual"])[s["contact_residual"] > ROUNDING]) > 0.5
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


def test_help_shows_three_examples(solve):
    assert solve("--help").stdout.count("  garra contact solve ") == 3


def test_the_restarts_says_which_stage_solved_how_many(solve, tmp_path):
    A, b, mu = read_problems(REFERENCE / "random_n8.h5")
    b = b.copy()
    b[3, 0] = np.nan
    path = write_problems(tmp_path / "p.h5", A, b, mu)
    summary = json.loads(solve(path, "-o", tmp_path / "s.h5", "--format", "json").stdout)
    s = read_solution(tmp_path / "s.h5")
    solved = s["status"] == 0
    expected = {}
    for stage, steps in zip(s["stage"][solved], s["iterations"][solved]):
        name = f"restart {stage}" if stage > 0 else "Newton" if steps > 0 else "stick test"
        expected[name] = expected.get(name, 0) + 1
    assert {r["stage"]: r["problems"] for r in summary["restarts"]} == expected
    assert sum(expected.values()) == summary["solved"] == len(b) - 1
    assert sum(r["share"] for r in summary["restarts"]) == pytest.approx(summary["solved_share"])
    assert summary["method"] == s["attributes"]["method"] == "auto"
    out = solve(path).stdout
    assert all(f"  {name} " in out for name in expected) and "restarts" in out


@pytest.mark.parametrize("method", MINIMIZERS)
def test_the_effort_of_a_minimizer_is_that_of_the_solution_file(solve, tmp_path, method):
    A, b, mu = read_problems(REFERENCE / "random_n3.h5")
    path = write_problems(tmp_path / "p.h5", A[:20], b[:20], mu[:20])
    arguments = [path, "-o", tmp_path / "s.h5", "--method", method, "--starts", 3]
    summary = json.loads(solve(*arguments, "--format", "json").stdout)
    s = read_solution(tmp_path / "s.h5")
    counted = [name for name in ("evaluations", "inner", "products") if name in s]
    assert "evaluations" in counted
    for name in ["iterations", *counted]:
        assert summary[name]["median"] == np.median(s[name])
        assert summary[name]["mean"] == pytest.approx(s[name].mean())
        assert summary[name]["max"] == s[name].max()
    assert set(summary) & {"evaluations", "inner", "products"} == set(counted)
    assert summary["starts"]["used"] == (s["stage"] + 1).sum() <= 3 * 20
    assert summary["starts"]["stalled"] == s["stalls"].sum()
    assert np.all(s["stalls"] <= s["stage"] + 1)
    assert np.all(np.isfinite(s["minimum"])) and np.all(s["minimum"] >= 0)
    assert np.all(s["projected_gradient"] >= 0) and "restarts" not in summary
    out = solve(*arguments).stdout
    assert "BoxIt" in out and "FunEval" in out and "at f > 0" in out


def test_the_papers_method_has_all_their_counters(solve, tmp_path):
    solve(REFERENCE / "random_n3.h5", "-o", tmp_path / "s.h5", "--method", "box-quacan")
    s = read_solution(tmp_path / "s.h5")
    assert all(np.all(s[name] >= 0) for name in ("iterations", "evaluations", "inner", "products"))


def test_counters_that_a_method_does_not_have_are_left_out(solve, tmp_path):
    solve(REFERENCE / "random_n3.h5", "-o", tmp_path / "s.h5")
    s = read_solution(tmp_path / "s.h5")
    assert not {"evaluations", "inner", "products", "minimum", "projected_gradient", "solutions"} & set(s)
    assert "stage" in s


# --- verdicts and outputs


def verdicts(problems, c, a):
    """State, friction margin and required friction as docs/reference/contact-files.md defines them."""
    A, b, mu = problems[:3]
    n, k = mu.shape
    forces, motion = c.reshape(n, k, 3), a.reshape(n, k, 3)
    eps = 1e-6 * np.abs(b).max(axis=1)[:, None]
    state = np.where(np.hypot(motion[:, :, 1], motion[:, :, 2]) > eps, 1, 0)
    if len(problems) > 3:
        state[problems[3] == 1] = 1
    state[motion[:, :, 0] > eps] = 2
    normal, tangent = forces[:, :, 0], np.hypot(forces[:, :, 1], forces[:, :, 2])
    normal, tangent = np.where(state == 2, 0, normal), np.where(state == 2, 0, tangent)
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = np.where(mu * normal > 0, 1 - tangent / (mu * normal), np.where((tangent == 0) & (normal >= 0), 0, -np.inf))
        critical = np.where(normal > 0, tangent / normal, np.inf)
    return state, margin.min(axis=1), critical.max(axis=1)


@pytest.mark.parametrize("device", ["cpu", "scalar"])
@pytest.mark.parametrize("mixed", [False, True])
def test_solutions_carry_a_status_per_contact(solve, tmp_path, mixed, device):
    if mixed:
        problems = draw_mixed(11, 700, 3)
        path = write_mixed(tmp_path / "p.h5", problems)
    else:
        path = REFERENCE / "random_n3.h5"
        problems = read_problems(path)
    done = solve(path, "-o", tmp_path / "s.h5", "--device", device, "--format", "json")
    found = read_solution(tmp_path / "s.h5")
    solved = found["status"] == 0
    part = tuple(values[solved] for values in problems)
    state, margin, critical = verdicts(part, found["c"][solved], found["a"][solved])
    np.testing.assert_array_equal(found["state"][solved], state)
    np.testing.assert_allclose(found["friction_margin"][solved], margin, atol=1e-12)
    np.testing.assert_allclose(found["required_friction"][solved], critical, atol=1e-12)
    assert (found["state"][~solved] == 255).all() and np.isnan(found["friction_margin"][~solved]).all()
    with h5py.File(tmp_path / "s.h5") as file:
        assert list(file["state"].attrs["names"]) == ["stick", "slip", "open"]
    counts = json.loads(done.stdout)["states"]
    assert [counts[name] for name in ("stick", "slip", "open")] == [int((state == i).sum()) for i in range(3)]
    assert sum(counts.values()) == problems[2].size


def test_an_unsolved_problem_has_no_status(solve, tmp_path):
    path = write_problems(tmp_path / "p.h5", *one_contact([np.nan, 0, 0]))
    solve(path, "-o", tmp_path / "s.h5")
    found = read_solution(tmp_path / "s.h5")
    assert found["state"].tolist() == [[255]]
    assert np.isnan(found["friction_margin"]).all() and np.isnan(found["required_friction"]).all()


def test_only_the_outputs_that_were_asked_for_are_written(solve, tmp_path):
    path = REFERENCE / "random_n4.h5"
    solve(path, "-o", tmp_path / "all.h5")
    solve(path, "-o", tmp_path / "some.h5", "--outputs", "c,lambda,required_friction,evaluations")
    every, some = read_solution(tmp_path / "all.h5"), read_solution(tmp_path / "some.h5")
    assert set(some) - {"names", "attributes"} == {"c", "lambda", "required_friction", "status"}
    for name in ("c", "lambda", "required_friction", "status"):
        np.testing.assert_array_equal(some[name], every[name])


def test_a_misspelt_output_is_put_right(solve, small, tmp_path):
    done = solve(small, "-o", tmp_path / "s.h5", "--outputs", "residul", expect=USAGE)
    assert "residual" in done.stderr
    assert not (tmp_path / "s.h5").exists()


# --- large files


def many_problems(count):
    A, b, mu = read_problems(REFERENCE / "random_n3.h5")
    rng = np.random.default_rng(3)
    rows = rng.integers(len(b), size=count)
    return A[rows], b[rows] * rng.uniform(0.5, 2, size=(count, 1)), mu[rows]


@pytest.mark.parametrize("storage", [{}, {"chunks": True, "compression": "gzip", "compression_opts": 1}])
def test_a_file_of_many_blocks_is_solved_whole_whatever_its_storage(solve, tmp_path, storage):
    problems = many_problems(1700)  # blocks of 512
    with h5py.File(tmp_path / "p.h5", "w") as out:
        for name, values in zip(("A", "b", "mu"), problems):
            out.create_dataset(name, data=values, **storage)
    solve(tmp_path / "p.h5", "-o", tmp_path / "one.h5", "--threads", 1)
    # Often: threads in an HDF5 that is not built for threads broke one run in eight.
    for _ in range(40 if storage else 1):
        (tmp_path / "three.h5").unlink(missing_ok=True)
        solve(tmp_path / "p.h5", "-o", tmp_path / "three.h5", "--threads", 3)
    one, three = read_solution(tmp_path / "one.h5"), read_solution(tmp_path / "three.h5")
    assert set(one) == set(three)
    for name in set(one) - {"names", "attributes"}:
        np.testing.assert_array_equal(one[name], three[name], err_msg=name)
    assert_solved(problems, one)
    # In other company, a problem has the same bits.
    tail = write_problems(tmp_path / "tail.h5", *(values[1111:1130] for values in problems))
    solve(tail, "-o", tmp_path / "tail_s.h5")
    for name in ("c", "residual", "merit", "state", "friction_margin"):
        np.testing.assert_array_equal(read_solution(tmp_path / "tail_s.h5")[name], one[name][1111:1130])


def test_a_file_needs_no_memory_for_all_its_problems(program, tmp_path):
    problems = many_problems(200_000)  # 149 MB
    write_problems(tmp_path / "p.h5", *problems)
    assert peak_memory([program, "contact", "solve", tmp_path / "p.h5", "-o", tmp_path / "s.h5", *TWO_THREADS]) < 60_000


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
    [["--no-such-flag"], ["--tolerance", "0"], ["--tolerance", "0.1"], ["--tolerance", "x"], ["--threads", "-1"], ["--format", "xml"],
     ["--max-iterations", "0"], ["--max-unsolved", "2"], ["--device", "abacus"], ["--method", "magic"],
     ["--method", ""], ["--starts", "0"], ["--method", "spg", "--starts", "2.5"]],
)  # fmt: skip
def test_a_wrong_command_line_is_exit_code_2(solve, small, arguments):
    assert solve(small, *arguments, expect=USAGE).stderr.strip()


def test_a_misspelt_method_is_put_right(solve, small):
    assert '"box-quacan"' in solve(small, "--method", "box-quacam", expect=USAGE).stderr
    assert '"semismooth-newton"' in solve(small, "--method", "semismoth-newton", expect=USAGE).stderr
    message = solve(small, "--method", "magic", expect=USAGE).stderr
    for name in [*CONE_METHODS, *MINIMIZERS, LEMKE]:
        assert name in message
        assert name in solve("--help").stdout


def test_any_pair_is_chosen_by_two_flags(solve, small, tmp_path):
    pair = ("--method", "merit", "--merit", "second-order-cone", "--minimizer", "spg-newton")
    summary = json.loads(solve(small, "-o", tmp_path / "s.h5", *pair, "--start", "stick", "--format", "json").stdout)
    assert (summary["method"], summary["merit"], summary["minimizer"]) == ("merit", "second-order-cone", "spg-newton")
    assert "merit (second-order-cone, spg-newton)" in solve(small, *pair).stdout
    assert "{papers,products," in solve(small, "--method", "merit", "--merit", "paper", expect=USAGE).stderr
    for flags in (("--merit", "papers"), ("--minimizer", "spg"), ("--start", "zero")):
        assert "--method merit" in solve(small, *flags, expect=USAGE).stderr


def test_starts_are_for_methods_that_start_again(solve, small):
    message = solve(small, "--starts", 5, expect=USAGE).stderr
    assert "auto" in message and all(name in message for name in MINIMIZERS)
    solve(small, "--starts", 1)


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
        ("A", np.zeros((1, 99, 99)), ["dataset A", "33 contacts", "1 to 32"]),
        ("A", np.zeros((1, 3, 3), complex), ["dataset A", "expected numbers"]),
        ("mu", np.array([["0.5"]], dtype="S3"), ["dataset mu", "strings"]),
        ("mode", np.array([[1]]), ["dataset slip_velocity", "is missing", "problem 0, contact 0"]),
        ("mode", np.array([[2]]), ["dataset mode", "0 (may roll) or 1 (slides)", "found 2"]),
        ("slip_velocity", np.ones((1, 1, 2)), ["dataset slip_velocity", "mode is missing"]),
        ("mode", np.array([[0.0]]), ["dataset mode", "whole numbers"]),
    ],
)
def test_a_wrong_file_is_exit_code_3_and_names_the_dataset(solve, small, name, values, words):
    spoil(small, name, values)
    message = solve(small, expect=INVALID_FILE).stderr
    for word in ["small.h5", *words]:
        assert word in message


def test_a_sliding_contact_that_stands_still_is_exit_code_3(solve, tmp_path):
    A, b, mu, mode, velocity = draw_mixed(17, 4, 3, slides=2)
    velocity[2, 1] = 0
    message = solve(write_mixed(tmp_path / "p.h5", (A, b, mu, mode, velocity)), expect=INVALID_FILE).stderr
    for word in ("p.h5", "dataset slip_velocity", "is zero", "problem 2, contact 1"):
        assert word in message
    mode[2, 1] = 0
    solve(write_mixed(tmp_path / "p.h5", (A, b, mu, mode, velocity)), "--max-unsolved", 0)
    path = write_mixed(tmp_path / "p.h5", (A, b, mu, mode, velocity[:, :, :1]))
    assert "expected shape [4, 3, 2]" in solve(path, expect=INVALID_FILE).stderr


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
