"""solver.method for sets of grasps with a hand: the outcomes of `auto`, the bits of the processor on a GPU, errors."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from program import PROGRAM

pytest.importorskip("garra._core")

import garra  # noqa: E402
from garra.files import data  # noqa: E402

METHODS = ("nsgs", "admm", "fischer-burmeister", "papers/projected-lm")


def compliant(grasps=6, contacts=3, **more):
    """Fingers of 0.1 kg press with 4 N on a ball of 0.2 kg."""
    rng = np.random.default_rng(4)
    normals = rng.normal(size=(grasps, contacts, 3))
    normals -= normals.mean(1, keepdims=True)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    mobility = np.broadcast_to(10 * np.eye(3), (grasps, contacts, 3, 3))
    inertia = np.broadcast_to(1e-4 * np.eye(3), (grasps, 3, 3))
    return garra.grasp.GraspSet.from_arrays(
        points=-0.04 * normals, normals=normals, friction=0.6, mass=0.2, inertia=inertia, mobility=mobility, force=np.broadcast_to([4.0, 0, 0], normals.shape), **more
    )


def ranked(method, **more):
    options = {"friction": garra.uniform(0.05, 0.5), "force": garra.ball(4.0), "samples": 60, "friction_samples": 0, "imbalance": 5.0}
    return garra.grasp.rank(compliant(), method=method, device="cpu", **options, **more)


@pytest.mark.parametrize("method", METHODS)
def test_a_ranking_by_any_method_is_that_of_auto(method):
    auto, other = ranked("auto"), ranked(method)
    assert 0.1 < auto.p_held.mean() < 0.95
    # A method may leave samples unsolved that `auto` solves, and decides no sample otherwise.
    assert (np.abs(auto.held - other.held) <= other.unsolved).all() and other.unsolved.sum() <= 10


def test_the_program_ranks_on_a_gpu_with_the_bytes_of_the_processor(tmp_path):
    simulated = Path(PROGRAM).parent / "garra-sim"
    if not simulated.is_file():
        pytest.skip("no simulated GPU: nvcc is not here")
    compliant().save(tmp_path / "set.h5")
    for device in ("cpu", "cuda"):
        command = [simulated, "grasp", "rank", tmp_path / "set.h5", "--method", "nsgs", "--device", device, "--no-report"]
        command += ["--set", "sampling.samples=20", "--set", "contacts.friction={uniform=[0.05, 0.5]}", "-o", tmp_path / f"{device}.h5"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    one, other = (garra.grasp.Ranking.read(tmp_path / f"{device}.h5") for device in ("cpu", "cuda"))
    for name in ("held", "unsolved", "p_held", "friction_needed"):
        if hasattr(one, name):
            assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name


def test_robustness_takes_a_method():
    grasp = {"mass": 1.0, "friction": 0.5, "inertia": np.eye(3), "force": 9.81}
    iiwa = garra.grasp.from_urdf(data("robots/iiwa14.urdf"), ["end_effector"], {}, [[0, 0, 1]], **grasp)
    options = {"friction": garra.uniform(0.1, 0.5), "force": garra.ball(2.0), "samples": 100}
    assert iiwa.robustness(**options, method="box-quacan").p_held == iiwa.robustness(**options).p_held


def test_what_a_method_does_not_take_is_named():
    with pytest.raises(garra.UsageError, match="auto takes them"):
        garra.grasp.rank(compliant(torsion_radius=0.01, angular_mobility=np.broadcast_to(1e4 * np.eye(3), (6, 3, 3, 3))), method="nsgs")
    with pytest.raises(garra.UsageError, match="no method is called"):
        ranked("newton")
    with pytest.raises(garra.UsageError, match="ideal"):
        garra.grasp.rank(garra.grasp.propose("box:0.06,0.04,0.1", fingers=3, n=2, mass=0.3), method="nsgs")
