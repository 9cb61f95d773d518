"""Sets of grasps with compliant and whole hands against the formulas in numpy, and as files, rankings, replays."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("garra._core")

import garra  # noqa: E402
from garra.grasp import ranking_file  # noqa: E402
from garra.program import path as program  # noqa: E402

rng = np.random.default_rng(8)
GRASPS, K, NQ = 300, 4, 7
SOLVED = 1e-7  # of numbers that both compute from matrices of condition 1e3


SHARP = 1e-6  # [m/s^2] of contacts at rest: sticking decides, without the tolerance of held


def parts() -> dict:
    """Four contacts on a ball and a hand of seven coupled joints that presses them, each grasp another one."""
    normals = rng.normal(size=(GRASPS, K, 3))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    tangents = np.cross(normals, rng.normal(size=(GRASPS, K, 3)))
    tangents /= np.linalg.norm(tangents, axis=-1, keepdims=True)
    root = rng.normal(size=(GRASPS, 3, 3))
    spread = np.einsum("gab,gcb->gac", root, root)  # of the object's mass
    jacobian = rng.normal(size=(GRASPS, 3 * K, NQ))
    wide = rng.normal(size=(GRASPS, NQ, NQ))
    return {
        "points": -0.04 * normals,
        "normals": normals,
        "tangent": tangents,
        "friction": rng.uniform(0.3, 1.5, (GRASPS, K)),
        "mass": rng.uniform(0.1, 0.6, GRASPS),
        "com": rng.uniform(-0.005, 0.005, (GRASPS, 3)),
        "inertia": 2e-5 * (np.trace(spread, axis1=1, axis2=2)[:, None, None] * np.eye(3) - spread) + 1e-4 * np.eye(3),
        "wrench": rng.normal(size=(GRASPS, 6)) * [1, 1, 1, 0.02, 0.02, 0.02],
        "jacobian": 0.1 * jacobian,
        "mass_matrix": 1e-3 * np.einsum("gab,gcb->gac", wide, wide) + 1e-3 * np.eye(NQ),
        "bias": 0.05 * rng.normal(size=(GRASPS, NQ)),
    }


def with_torque(p: dict) -> dict:
    """Torques that press along the normals, and some more."""
    J = p["jacobian"].reshape(GRASPS, K, 3, NQ)
    press = 8 * np.einsum("gkiq,gki->gq", J, p["normals"])
    return {**p, "torque": press + p["bias"] + 0.05 * rng.normal(size=(GRASPS, NQ))}


def numpys(p: dict, B: np.ndarray, drift: np.ndarray) -> dict[str, np.ndarray]:
    """Equations of docs/theory/grasp-sets.md and grasp-model.md, grasp by grasp; drift in the object's axes."""
    out = {name: [] for name in ("margin", "critical", "imbalance", "sticks")}
    for g in range(GRASPS):
        n, t = p["normals"][g], p["tangent"][g]
        E = np.stack([n, t, np.cross(n, t)], axis=-1)  # [k, 3, 3]
        arms = p["points"][g] - p["com"][g]
        W = np.concatenate([np.concatenate([e, np.cross(r, e.T).T]) for r, e in zip(arms, E, strict=True)], axis=1)
        whole = np.zeros((3 * K, 3 * K))
        for j in range(K):
            whole[3 * j : 3 * j + 3, 3 * j : 3 * j + 3] = E[j]
        M_inv = np.zeros((6, 6))
        M_inv[:3, :3] = np.eye(3) / p["mass"][g]
        M_inv[3:, 3:] = np.linalg.inv(p["inertia"][g])
        weight = np.array([0, 0, -9.81 * p["mass"][g], 0, 0, 0])
        A = W.T @ M_inv @ W + whole.T @ B[g] @ whole
        b = W.T @ M_inv @ (weight + p["wrench"][g]) + whole.T @ drift[g]
        c = -np.linalg.solve(A, b).reshape(K, 3)
        tangential = np.hypot(c[:, 1], c[:, 2])
        with np.errstate(divide="ignore"):
            margins = np.where(c[:, 0] > 0, 1 - tangential / (p["friction"][g] * c[:, 0]), -np.inf)
        out["margin"].append(margins.min())
        out["critical"].append(np.where(c[:, 0] > 0, tangential / c[:, 0], np.inf).max())
        out["sticks"].append(margins.min() >= 0)
        rho = np.sqrt(np.trace(p["inertia"][g]) / 3 / p["mass"][g])
        scale = np.array([1, 1, 1, *[1 / rho] * 3])
        pressed = -np.linalg.pinv(B[g], rcond=1e-10, hermitian=True) @ drift[g]
        left = scale * (W @ whole.T @ pressed + weight + p["wrench"][g])
        values, vectors = np.linalg.eigh(B[g])
        held = (scale[:, None] * (W @ whole.T)) @ vectors[:, values < 1e-10 * values[-1]]
        left = left - held @ np.linalg.lstsq(held, left, rcond=1e-9)[0]
        size = np.linalg.norm(weight) + np.linalg.norm(scale * p["wrench"][g])
        out["imbalance"].append(np.linalg.norm(left) / size)
    return {name: np.array(values) for name, values in out.items()}


def assert_is_numpys(ranking: garra.grasp.Ranking, truth: dict[str, np.ndarray]) -> None:
    assert (ranking.status == 0).all() and ranking.unsolved.sum() == 0
    for ours, name in ((ranking.margin[:, 1], "margin"), (ranking.required_friction[:, 1], "critical")):
        finite = np.isfinite(truth[name])
        assert np.array_equal(np.isfinite(ours), finite)
        assert ours[finite] == pytest.approx(truth[name][finite], rel=SOLVED, abs=SOLVED)
    clear = np.abs(truth["margin"]) > 1e-6
    assert np.array_equal(ranking.p_no_slip[clear] == 1, truth["sticks"][clear])
    # Forces that stick, and leave nothing of the object's acceleration to the hand, are no more than the cones ask.
    expected = truth["sticks"] & (truth["imbalance"] <= 0.5) & (ranking.p_resisted == 1)
    held = ranking.p_held == 1
    assert held[expected].all()
    # Others are held without the contacts that open.
    for g in np.flatnonzero(held & ~expected):
        assert 2 in ranking.replay(int(g))["state"]
    assert (held & ~expected).sum() < 0.05 * len(held)
    assert 20 < truth["sticks"].sum() < GRASPS - 20
    carried = np.array([ranking.replay(g)["imbalance"] for g in range(40)])
    assert carried == pytest.approx(truth["imbalance"][:40], rel=1e-6, abs=1e-9)


def test_whole_hands_are_checked_by_the_formulas():
    p = with_torque(parts())
    M_inv = np.linalg.inv(p["mass_matrix"])
    B = np.einsum("gaq,gqr,gbr->gab", p["jacobian"], M_inv, p["jacobian"])
    drift = np.einsum("gaq,gqr,gr->ga", p["jacobian"], M_inv, p["bias"] - p["torque"])
    ranking = garra.grasp.rank(garra.grasp.GraspSet.from_arrays(**p), samples=1, friction_samples=1, acceleration=SHARP)
    assert ranking.hand == "whole"
    assert_is_numpys(ranking, numpys(p, B, drift))


def test_torques_beyond_their_limits_are_cut_off():
    p = with_torque(parts())
    limit = np.quantile(np.abs(p["torque"]), 0.7, axis=0)
    limit[2] = np.inf
    M_inv = np.linalg.inv(p["mass_matrix"])
    B = np.einsum("gaq,gqr,gbr->gab", p["jacobian"], M_inv, p["jacobian"])
    cut = np.clip(p["torque"], -limit, limit)
    drift = np.einsum("gaq,gqr,gr->ga", p["jacobian"], M_inv, p["bias"] - cut)
    grasps = garra.grasp.GraspSet.from_arrays(**p, torque_limit=limit)
    limited = garra.grasp.rank(grasps, samples=1, friction_samples=1, acceleration=SHARP)
    assert_is_numpys(limited, numpys(p, B, drift))
    strong = garra.grasp.rank(garra.grasp.GraspSet.from_arrays(**p), samples=1)
    assert (limited.p_resisted <= strong.p_resisted).all()
    assert limited.p_resisted.sum() < strong.p_resisted.sum() - 20


def test_twelve_contacts_are_checked_by_the_formulas(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "K", 12)
    test_compliant_hands_are_checked_by_the_formulas()


def test_compliant_hands_are_checked_by_the_formulas():
    p = {name: values for name, values in parts().items() if name not in ("jacobian", "mass_matrix", "bias")}
    root = rng.normal(size=(GRASPS, K, 3, 3))
    mobility = 0.5 * np.einsum("gkab,gkcb->gkac", root, root) + 0.5 * np.eye(3)
    force = np.concatenate([rng.uniform(3, 9, (GRASPS, K, 1)), rng.normal(size=(GRASPS, K, 2))], axis=-1)
    B, drift = np.zeros((GRASPS, 3 * K, 3 * K)), np.zeros((GRASPS, 3 * K))
    n, t = p["normals"], p["tangent"]
    E = np.stack([n, t, np.cross(n, t)], axis=-1)
    for j in range(K):
        rows = slice(3 * j, 3 * j + 3)
        B[:, rows, rows] = mobility[:, j]
        drift[:, rows] = -np.einsum("gab,gbc,gc->ga", mobility[:, j], E[:, j], force[:, j])
    grasps = garra.grasp.GraspSet.from_arrays(**p, mobility=mobility, force=force)
    ranking = garra.grasp.rank(grasps, samples=1, friction_samples=1, imbalance=0.5, acceleration=SHARP)
    assert ranking.hand == "compliant"
    assert_is_numpys(ranking, numpys(p, B, drift))


def test_a_file_keeps_the_hand_and_the_program_ranks_and_replays_it(tmp_path):
    p = {name: values[:40] for name, values in with_torque(parts()).items()}
    grasps = garra.grasp.GraspSet.from_arrays(**p)
    grasps.save(tmp_path / "set.h5")
    np.savez(tmp_path / "set.npz", first=grasps.first, **grasps.arrays)
    options = {"friction": garra.scale(0.8, 1.2), "samples": 200, "friction_samples": 50}
    ranking = garra.grasp.rank(grasps, **options)
    for file in ("set.h5", "set.npz"):
        again = garra.grasp.rank(tmp_path / file, **options)
        assert np.array_equal(again.outcomes, ranking.outcomes)
        assert np.array_equal(again.resisted_force_radius, ranking.resisted_force_radius, equal_nan=True)
    found = tmp_path / "ranking.h5"
    factor = "contacts.per_contact_friction_factor={uniform=[0.8,1.2]}"
    command = [program(), "grasp", "rank", tmp_path / "set.h5", "-o", found, "--no-report", "--set", factor]
    command += ["--set", "sampling.samples=200", "--set", "sampling.friction_samples=50"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "the hand is whole" in said and "command insufficient" in said
    columns = ranking_file.read(found).columns
    for name in ("p_held", "p_no_slip", "p_resisted", "margin", "resisted_force_radius", "limiting_contact", "outcomes"):
        assert np.array_equal(columns[name], getattr(ranking, name), equal_nan=True), name
    assert ranking_file.read(found).hand == "whole"
    # Each sample again is one of those that were counted.
    g = int(np.argmax((ranking.outcomes > 0).sum(axis=1)))
    counted = dict.fromkeys(garra.grasp.candidates.OUTCOMES, 0)
    for sample in range(200):
        counted[ranking.replay(g, sample)["outcome"]] += 1
    assert list(counted.values()) == ranking.outcomes[g].tolist()
    replay = [program(), "replay", found, "--grasp", str(g), "--sample", "3"]
    shown = json.loads(subprocess.run([*replay, "--format", "json"], check=True, capture_output=True, text=True).stdout)
    ours = ranking.replay(g, 3)
    assert shown["outcome"] == ours["outcome"] and shown["imbalance"] == ours["imbalance"]
    assert shown["friction_margin"] == (ours["margin"] if np.isfinite(ours["margin"]) else None)
    assert np.array([c["force"] for c in shown["contacts"]]) == pytest.approx(ours["force"])
    assert "commanded" in subprocess.run(replay, check=True, capture_output=True, text=True).stdout
    (tmp_path / "set.h5").unlink()
    gone = subprocess.run(replay, capture_output=True, text=True)
    assert gone.returncode == 5 and "set.h5" in gone.stderr
    page = ranking.report(tmp_path / "page.html").read_text()
    assert "What the whole hand does" in page and "of a whole hand" in page


def test_a_sample_of_an_ideal_hand_shows_its_forces_or_what_none_go_along_with():
    points = np.array([[[-0.03, 0, 0], [0.03, 0, 0], [0, 0.03, 0]]])
    ranking = garra.grasp.rank(
        points=points, normals=-points, mass=0.5, force_limit=20.0, friction=garra.uniform(0.05, 0.4), samples=50
    )
    seen = set()
    for sample in range(50):
        r = ranking.replay(0, sample)
        seen.add(r["outcome"])
        if r["outcome"] != "held":
            assert np.linalg.norm(r["against"]) == pytest.approx(1)
            continue
        n, t, o = r["force"].T
        assert (np.hypot(t, o) <= r["friction"] * n * (1 + 1e-9)).all() and (n <= 20).all()
        assert np.linalg.norm((n[:, None] * r["normal"]).sum(axis=0) + r["wrench"][:3]) <= np.hypot(t, o).sum() + 1e-6
        assert r["required_friction"] <= r["friction"].max() + 1e-4
    assert seen == {"held", "not_resisted"}


def test_what_does_not_fit_is_refused_by_name():
    p = with_torque(parts())
    with pytest.raises(ValueError, match="jacobian has the shape"):
        garra.grasp.GraspSet.from_arrays(**{**p, "jacobian": p["jacobian"][:, :-1]})
    with pytest.raises(ValueError, match="torque has the shape"):
        garra.grasp.GraspSet.from_arrays(**{**p, "torque": np.zeros(3)})
    with pytest.raises(ValueError, match="without jacobian"):
        garra.grasp.GraspSet.from_arrays(p["points"], p["normals"], torque=np.zeros(3))
    with pytest.raises(garra.Error, match="force is missing"):
        garra.grasp.rank(points=p["points"], normals=p["normals"], friction=0.5, mass=1.0, mobility=1.0)
    with pytest.raises(garra.Error, match="hand"):
        garra.grasp.rank(points=p["points"], normals=p["normals"], friction=0.5, mass=1.0, hand="soft")


def many_joints(nq: int, mass_matrix: np.ndarray) -> dict:
    """Two grasps of a hand with nq joints, of which the last six move the contacts."""
    points = np.array([[[-0.03, 0, 0], [0.03, 0, 0]]] * 2)
    jacobian = np.zeros((2, 2, 3, nq))
    jacobian[:, :, :, -6:] = np.eye(6).reshape(2, 3, 6)
    hand = {"jacobian": jacobian, "mass_matrix": mass_matrix, "force": np.array([20.0, 0, 0]) * np.ones((2, 2, 3))}
    tangent = np.array([0, 0, 1.0]) * np.ones((2, 2, 3))
    return {"points": points, "normals": -points, "friction": 0.5, "mass": 0.3, "tangent": tangent, **hand}


def test_joints_that_a_grasp_does_not_use_cost_next_to_nothing():
    nq = 700
    dense = np.eye(nq)
    dense[:-6, :-6] += 1e-3  # of joints that move no contact: the same answers
    found, seconds = [], []
    for matrix in (np.eye(nq), dense):
        grasps = garra.grasp.GraspSet.from_arrays(**many_joints(nq, matrix))
        best = np.inf
        for _ in range(2):
            begun = time.process_time()
            found.append(garra.grasp.rank(grasps, samples=4, friction_samples=0, threads=1))
            best = min(best, time.process_time() - begun)
        seconds.append(best)
    assert (found[0].p_held == found[-1].p_held).all() and found[0].status.tolist() == [0, 0]
    assert seconds[0] < seconds[1] / 2, seconds


def test_a_hand_has_at_most_1024_joints():
    def ranked(nq: int) -> garra.grasp.Ranking:
        return garra.grasp.rank(garra.grasp.GraspSet.from_arrays(**many_joints(nq, np.eye(nq))), samples=4)

    assert ranked(1024).status.tolist() == [0, 0]
    with pytest.raises(garra.FileError, match="jacobian has 1025 joints\n.*At most 1024 are taken"):
        ranked(1025)
