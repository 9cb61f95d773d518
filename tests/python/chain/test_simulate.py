"""`garra chain simulate` seen from outside: initial states written by h5py, answers judged by closed forms and by the
reference trajectories. Run with GARRA_PROGRAM=path/to/garra.
"""

import json
import os
import subprocess
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[3]
MODEL = ROOT / "data" / "robots" / "exoskeleton.toml"
REFERENCE = ROOT / "data" / "reference" / "chain" / "exoskeleton_trajectories.json"
PROGRAM = os.environ.get("GARRA_PROGRAM", str(ROOT / "build" / "garra"))
Q0 = [0.1, -0.2, 0.3, 0.2, -0.1, 0.15]
USAGE, INVALID_FILE, TOO_MANY_UNSOLVED = 2, 3, 4


def garra(*arguments, code=0):
    done = subprocess.run([PROGRAM, "chain", "simulate", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


def words(values):
    return ",".join(map(repr, map(float, values)))


def reference(name):
    return next(c for c in json.loads(REFERENCE.read_text())["cases"] if c["id"] == name)


def test_damped_finger_follows_the_reference(tmp_path):
    case = reference("damped_b005")
    first = case["states"][0]
    out = tmp_path / "out.h5"
    garra(MODEL, "--q0", words(first["q"]), "--qd0=" + words(first["qd"]), "--damping", case["b"], "--output-interval", 0.1,
          "--step", 1e-3, "-o", out)
    with h5py.File(out) as f:
        assert np.allclose(f["times"][()], [s["t"] for s in case["states"]], rtol=0, atol=1e-15)
        assert f["q"].shape == (1, 11, 6) and f["tip"].shape == (1, 11, 3)
        error = np.abs(f["q"][0] - np.array([s["q"] for s in case["states"]]))
        assert 1e-7 < error.max() < 1.2e-5  # second order at h = 1 ms
        assert f["status"].attrs["names"][f["status"][0]] == "completed"


def test_adaptive_steps_are_nearly_exact(tmp_path):
    case = reference("step_torque_b001")
    first = case["states"][0]
    out = tmp_path / "out.h5"
    garra(MODEL, "--q0", words(first["q"]), "--qd0=" + words(first["qd"]), "--damping", case["b"], "--output-interval", 0.1,
          "--method", "dopri5", "--relative-tolerance", 1e-9, "--absolute-tolerance", 1e-10,
          "--torque", "step", "--start", 0.2, "--amplitude=" + words(case["torque"]["A"]), "-o", out)
    with h5py.File(out) as f:
        assert np.abs(f["q"][0, -1] - case["states"][-1]["q"]).max() < 1e-11
        assert np.abs(f["balance"][()]).max() < 1e-12
        assert abs(f["work"][0, -1] - case["states"][-1]["input_work"]) < 1e-11


def write_states(path, n, **more):
    rng = np.random.default_rng(3)
    with h5py.File(path, "w") as f:
        f["q"] = rng.uniform(-0.3, 0.3, (n, 6))
        for name, values in more.items():
            f[name] = values


def test_batch_with_damping_of_its_own_and_a_summary(tmp_path):
    states, out = tmp_path / "states.h5", tmp_path / "out.h5"
    damping = np.full((9, 6), 0.02)
    damping[4] = np.nan
    write_states(states, 9, damping=damping)
    summary = json.loads(garra(MODEL, states, "--duration", 0.1, "--format", "json", "--threads", 1, "-o", out).stdout)
    assert summary["samples"] == 9 and summary["status"]["completed"] == 8 and summary["status"]["invalid_input"] == 1
    with h5py.File(out) as f:
        assert "q" not in f  # no output times asked for
        assert np.isfinite(np.delete(f["end_q"][()], 4, axis=0)).all()
        assert (f["steps"][()] == np.where(np.arange(9) == 4, 0, 100)).all()
    garra(MODEL, states, "--duration", 0.1, "--max-unsolved", 0, code=TOO_MANY_UNSOLVED)


def test_pd_settles_and_the_limit_shows(tmp_path):
    text = garra(MODEL, "--q0", words(Q0), "--damping", 0.01, "--torque", "pd", "--kp", 2, "--kd", 0.05,
                 "--compensate-gravity", "--duration", 2).stdout
    assert "completed    1" in text and "settled      1, the slowest at" in text
    weak = json.loads(garra(MODEL, "--q0", words(Q0), "--damping", 0.01, "--torque", "pd", "--kp", 2, "--kd", 0.05,
                            "--torque-limit", 0.02, "--format", "json").stdout)
    assert weak["peak_torque"] <= 0.02 and weak["settled"] == 0 and weak["slowest_settling_time"] is None


def test_mistakes_are_named(tmp_path):
    assert "--step" in garra(MODEL, "--step", 0, code=USAGE).stderr
    assert "--q0 has 2 numbers" in garra(MODEL, "--q0", "1,2", code=USAGE).stderr
    assert "ascend" in garra(MODEL, "--times", "0.5,0.4", code=USAGE).stderr
    bad = tmp_path / "bad.h5"
    write_states(bad, 2, damping=np.zeros((3, 6)))
    assert "damping" in garra(MODEL, bad, code=INVALID_FILE).stderr


def test_stops_push_and_never_pull(tmp_path):
    """Both joints at their upper stops: the first stays there, the second falls away as one link about a fixed axis.

    Without stops both would move outwards, through the coupling of their masses.
    """
    link = "mass = 1\ninertia = [0.001, 0.001, 0.001]\n"
    arm, out = tmp_path / "arm.toml", tmp_path / "out.h5"
    arm.write_text(
        'schema = 1\nrobot = "on stops"\nconvention = "dh"\ngravity = [0, 0, 0]\n'
        f"[[joint]]\na = 1.0\nlimits = [-1, 0]\ncom = [-0.5, 0, 0]\n{link}"
        f"[[joint]]\na = 0.5\nlimits = [-3, 3]\ncom = [-0.1, 0, 0]\n{link}"
    )
    rate = -0.2 / (0.001 + 0.4**2)
    for method in ("implicit", "implicit1", "rk4", "dopri5"):
        garra(arm, "--q0", "0,3", "--amplitude", "5,-0.2", "--limits", "stop", "--method", method, "--step", 1e-4, "--duration", 0.5,
              "--output-interval", 0.1, "-o", out)
        with h5py.File(out) as f:
            t, q, lost = f["times"][()], f["q"][0], f["stop_loss"][0, -1]
        assert (q[:, 0] <= 0).all() and (q[:, 0] > -1e-6).all()
        # Within a step the second joint moves as if the first were free; dopri5 makes long ones.
        long = method == "dopri5"
        assert np.allclose(q[:, 1], 3 + 0.5 * rate * t**2, rtol=0, atol=2e-2 if long else 2e-3), method
        assert 0 <= lost < (0.1 if long else 1e-2)


def test_flags_of_another_torque_or_method_are_refused():
    for flags in (("--kp", 5), ("--expression", "1"), ("--end", 2), ("--frequency", 5), ("--relative-tolerance", 1e-6)):
        assert f"{flags[0]} means nothing with" in garra(MODEL, "--q0", words(Q0), *flags, code=USAGE).stderr
    garra(MODEL, "--q0", words(Q0), "--settle-band", "nan", code=USAGE)
