"""Comparisons of solvers from Python: the caller's own beside garra's, and exported sets."""

from __future__ import annotations

import garra
import numpy as np
import pytest
from arrays import require_module

require_module()


def rows(comparison):
    return {s["name"]: s for s in comparison.solvers}


def overwriting(M, q):
    M[:], q[:] = np.eye(len(q)), 1  # solved by 0
    return 0 * q


def raising(*problem):
    raise RuntimeError("no")


def test_a_registered_solver_stands_beside_the_others_and_is_measured_by_the_same_certificate():
    problems = garra.bench.lcp_set(6, 20)
    garra.bench.register("psor", projected_sor, kind="lcp")
    garra.bench.register("overwrites", overwriting, kind="lcp")
    garra.bench.register("zero", lambda M, q: 0 * q, kind="lcp")
    garra.bench.register("raises", raising, kind="lcp")
    found = rows(garra.bench.compare("lcp", problems))
    assert found["garra lemke"]["solved"] == found["garra interior-point"]["solved"] == 6
    assert found["overwrites"]["solved"] == 0
    assert found["zero"]["solved"] == 0 and found["zero"]["problems"]["ending"] == [1] * 6
    assert found["raises"]["solved"] == 0 and found["raises"]["problems"]["ending"] == [2] * 6
    assert "raised RuntimeError: no" in str(garra.bench.compare("lcp", problems[:1]))
    assert "psor" in str(garra.bench.compare("lcp", problems[:1]))
    assert found["SciPy least_squares"]["not_run"] or found["SciPy least_squares"]["solved"] == 6


def projected_sor(M, q):
    z = np.zeros(len(q))
    for _ in range(300):
        for i in range(len(q)):
            z[i] = max(0.0, z[i] - (M[i] @ z + q[i]) / M[i, i])
    return z


def test_contact_sets_are_compared_too():
    garra.bench.register("mine", lambda A, b, mu: garra.contact.solve(A, b, mu, method="nsgs").c, kind="contact")
    found = rows(garra.bench.compare("contact", garra.bench.contact_set(10), tolerance=1e-6))
    assert found["garra auto"]["solved"] == 10
    assert found["mine"]["solved"] == found["garra nsgs"]["solved"]


def test_a_tight_tolerance_is_asked_of_our_methods_too():
    # Within 1e-8, the default, 8 of these contact problems and all LCPs by the interior point would have ended.
    contacts = rows(garra.bench.compare("contact", garra.bench.contact_set(30), tolerance=1e-10))
    assert contacts["garra auto"]["solved"] == 30
    affine = rows(garra.bench.compare("lcp", garra.bench.lcp_set(5, 20), tolerance=1e-10))
    assert affine["garra interior-point"]["solved"] == affine["garra lemke"]["solved"] == 5
    garra.bench.register("nearly", lambda M, q: garra.lcp.solve(M, q).z + 1e-5, kind="lcp")
    nearly = rows(garra.bench.compare("lcp", garra.bench.lcp_set(2, 5)))["nearly"]
    assert nearly["solved"] == 0 and nearly["failures"]["inaccurate"] == 2


def test_the_default_mcp_set_is_solved_by_auto_and_path_is_skipped_plainly(monkeypatch):
    monkeypatch.setattr("garra.bench.comparison._scipy", lambda kind: "not now")  # minutes, by differences
    found = rows(garra.bench.compare("mcp"))
    assert found["garra auto"]["solved"] == 16
    assert found["PATH"]["not_run"] == "no interface in this version"


def test_exported_sets_are_read_again(tmp_path):
    problems = garra.bench.contact_set(3)
    garra.bench.export("contact", problems, tmp_path / "set.npz")
    with np.load(tmp_path / "set.npz") as file:
        assert (file["A"][2] == problems[2][0]).all() and file["mu"].shape == (3, 3)
    with pytest.warns(UserWarning, match=r"mcp.npz: left out, because not affine .*traffic"):
        garra.bench.export("mcp", garra.bench.problems.applications(), tmp_path / "mcp.npz")
    with np.load(tmp_path / "mcp.npz") as file:
        assert file["obstacle_M"].shape == (199, 199) and "traffic_M" not in file
        x, w = file["obstacle_solution"], file["obstacle_M"] @ file["obstacle_solution"] + file["obstacle_q"]
        low, high, size = file["obstacle_lower"], file["obstacle_upper"], abs(file["obstacle_M"]).max()
    assert abs(np.maximum(np.minimum(w, x - low), x - high)).max() < 1e-14 * size  # rounding of M x
    with pytest.raises(garra.UsageError, match="none.npz: left out, because not affine .*: traffic"):
        garra.bench.export("mcp", [garra.bench.problems.traffic()], tmp_path / "none.npz")
    assert not (tmp_path / "none.npz").exists()
    with pytest.raises(garra.UsageError, match="contact problems only"):
        garra.bench.export("lcp", garra.bench.lcp_set(1, 2), tmp_path / "folder")
    with pytest.raises(garra.UsageError, match=r"(?s)set.npz: problems of \[3, 9\] unknowns .*Give a folder"):
        garra.bench.export("contact", [*problems, *garra.bench.contact_set(1, contacts=1)], tmp_path / "set.npz")


@pytest.mark.parametrize("name", ["fclib", "set.h5"])
def test_exported_contact_problems_are_those_that_the_program_reads(tmp_path, name):
    from program import garra as run_program

    problems = garra.bench.contact_set(2)
    garra.bench.export("contact", problems, tmp_path / name)
    files = sorted((tmp_path / name).glob("*.hdf5")) or 2 * [tmp_path / name]
    assert len(files) == 2
    run_program("contact", "solve", str(files[1]), "-o", str(tmp_path / "out.h5"))
    import h5py

    with h5py.File(tmp_path / "out.h5") as file:
        c = np.asarray(file["c"])[-1]
    assert abs(c - garra.contact.solve(*problems[1]).c).max() < 1e-6


def test_unknown_kinds_and_things_that_are_no_function_are_errors():
    with pytest.raises(garra.UsageError, match='kind = "qp"'):
        garra.bench.compare("qp")
    with pytest.raises(garra.UsageError, match=r"problem 0 is no tuple \(A, b, mu\)"):
        garra.bench.compare("contact", [(np.eye(3), np.ones(3))])
    wrong = {
        "lcp": ([(np.eye(2), np.ones(2)), (np.eye(2), np.ones(1))], r"problem 1 has M \[2, 2\], q \[1\], not M \[n, n\]"),
        "contact": ([(np.eye(2), np.ones(2), [0.5])], r"problem 0 has A \[2, 2\], b \[2\], mu \[1\], not A \[3k, 3k\]"),
        "mcp": ([(np.eye(2), np.ones(2))], "problem 0 is tuple, no garra.bench.problems.Problem"),
    }
    for kind, (problems, message) in wrong.items():
        with pytest.raises(garra.UsageError, match=message):
            garra.bench.compare(kind, problems)
        with pytest.raises(garra.UsageError, match="problems: there is none"):
            garra.bench.compare(kind, [])
    with pytest.raises(garra.UsageError, match="problems: 3 is no sequence"):
        garra.bench.compare("lcp", 3)
    with pytest.raises(TypeError, match="function is int"):
        garra.bench.register("three", 3)


def test_the_page_shows_a_solver_of_the_users_beside_the_others(tmp_path):
    from garra.bench import report

    garra.bench.register("psor", projected_sor, kind="lcp")
    garra.bench.compare("lcp", garra.bench.lcp_set(4, 10)).add_to(tmp_path)
    garra.bench.compare("contact", garra.bench.contact_set(3)).add_to(tmp_path)
    page = report.make_page(tmp_path)
    assert "psor" in page and "garra lemke" in page and "garra auto" in page


def test_a_comparison_tells_how_far_it_is():
    seen = []
    found = garra.bench.compare("lcp", garra.bench.lcp_set(3, 5), progress=seen.append)
    assert seen[-1]["solves"] == seen[-1]["of"] == 3 * len(found.solvers)
    assert [record["solves"] for record in seen] == sorted({record["solves"] for record in seen})
