"""Forces on the tool, motors, friction and formulas from Python and the program, against SciPy's integration."""

from __future__ import annotations

import json
import subprocess

import garra
import h5py
import numpy as np
import pytest
from arrays import require_module
from program import PROGRAM, ROOT
from program import garra as program
from scipy.integrate import solve_ivp

require_module()
Q0 = np.array([0.1, -0.1, 0.2, 0.1, 0.05, 0.1])
END = 0.05
B = 2e-3


def integrated(robot, torque, wrench=lambda q, qd: np.zeros(6), friction=lambda qd: 0.0):
    """q(END) of M qdd = torque + J' f - b qd - friction - C qd - g, with J' f by NumPy."""

    def slope(t, y):
        q, qd = y[:6], y[6:]
        tau = torque(t, q, qd) + robot.jacobian(q).T @ wrench(q, qd) - friction(qd) - B * qd
        bias = robot.rnea(q, qd, np.zeros(6))
        return np.concatenate([qd, np.linalg.solve(robot.crba(q), tau - bias)])

    done = solve_ivp(slope, (0, END), np.concatenate([Q0, np.zeros(6)]), method="LSODA", rtol=1e-9, atol=1e-11)
    return done.y[:6, -1]


def simulated(robot, **more):
    motion = robot.simulate(Q0, times=END, damping=np.full(6, B), method="dopri5", **more)
    assert motion.status == 0 and abs(motion.balance[-1]) < 1e-7
    return motion.q[-1]


@pytest.fixture(scope="module")
def robot():
    return garra.load("exoskeleton")


def test_a_constant_wrench_acts_through_the_jacobian(robot):
    f, m = [0.2, -0.1, 0.3], [1e-3, 2e-3, -1e-3]
    found = simulated(robot, tool={"kind": "constant", "force": f, "moment": m})
    assert np.allclose(found, integrated(robot, lambda t, q, qd: 0.0, lambda q, qd: np.array(f + m)), atol=2e-6)


def test_wall_and_spring_push_as_their_laws_say(robot):
    height = robot.fkine(Q0)[2, 3] - 0.001

    def wall(q, qd):
        depth, speed = height - robot.fkine(q)[2, 3], (robot.jacobian(q) @ qd)[2]
        return np.array([0, 0, max(0.0, 200 * depth - 0.5 * speed) if depth > 0 else 0, 0, 0, 0])

    found = simulated(robot, tool={"kind": "wall", "place": [0, 0, height], "stiffness": 200, "damping": 0.5})
    assert np.allclose(found, integrated(robot, lambda t, q, qd: 0.0, wall), atol=2e-5)
    middle = robot.fkine(Q0)[:3, 3]

    def finger(q, qd):
        away, v = middle - robot.fkine(q)[:3, 3], (robot.jacobian(q) @ qd)[:3]
        far = np.linalg.norm(away)
        return np.concatenate([100 * (far - 0.002) * away / far - 0.2 * v if far > 0.002 else np.zeros(3), np.zeros(3)])

    tool = {"kind": "spring", "place": middle, "stiffness": 100, "damping": 0.2, "play": 0.002}
    assert np.allclose(simulated(robot, tool=tool), integrated(robot, lambda t, q, qd: 0.0, finger), atol=2e-5)


def test_motor_friction_and_formula_are_those_of_the_page(robot):
    def torque(t, q, qd):
        wanted = 0.02 * np.sin(60 * t) - 0.05 * q
        return np.clip(wanted, -0.01 - 0.01 / 15 * qd, 0.01 - 0.01 / 15 * qd)

    law = {"kind": "expression", "expression": [f"0.02 * sin(60 * t) - 0.05 * q{i}" for i in range(6)],
           "stall_torque": 0.01, "no_load_speed": 15}  # fmt: skip
    assert np.allclose(simulated(robot, law=law), integrated(robot, torque), atol=2e-5)

    def friction(qd):
        level = 1e-3 + 1e-3 * np.exp(-((qd / 0.3) ** 2))
        return level * qd / np.sqrt(qd**2 + 0.05**2)

    dry = {"coulomb": 1e-3, "breakaway": 2e-3, "stribeck": 0.3, "smooth": 0.05}
    expected = integrated(robot, lambda t, q, qd: 0.0, friction=friction)
    assert np.allclose(simulated(robot, friction=dry), expected, atol=2e-5)
    slow = robot.simulate(Q0, times=END, damping=np.full(6, B), step=2e-5, friction=dry)
    assert np.allclose(slow.q[-1], simulated(robot, friction=dry), atol=1e-4)


def test_wrong_tables_are_named(robot):
    for table, word in (({"tool": {"kind": "wall", "stifness": 1}}, "stifness"), ({"law": {"kind": "pid"}}, "pid"),
                        ({"law": {"kind": "expression", "expression": "q9"}}, "q9"),
                        ({"friction": {"coulomb": 2, "breakaway": 1}}, "breakaway")):  # fmt: skip
        with pytest.raises((ValueError, garra.UsageError), match=word):
            robot.simulate(Q0, times=0.1, **table)


def test_the_program_takes_loads_by_flags(robot, tmp_path):
    out = tmp_path / "out.h5"
    subprocess.run(
        [PROGRAM, "chain", "simulate", "exoskeleton", "--q0", ",".join(map(str, Q0)), "--damping", str(B),
         "--method", "dopri5", "--duration", str(END), "--torque", "expression", "--expression", "0.01*t", "--wall=0,0,0.2,0,0,1",
         "--stiffness", "50", "--coulomb", "0.001", "--stall-torque", "0.05", "--no-load-speed", "20", "-o", out],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    law = {"kind": "expression", "expression": "0.01*t", "stall_torque": 0.05, "no_load_speed": 20}
    tool = {"kind": "wall", "place": [0, 0, 0.2], "stiffness": 50}
    more = {"law": law, "tool": tool, "friction": {"coulomb": 0.001}}
    expected = robot.simulate(Q0, times=END, damping=np.full(6, B), method="dopri5", **more)
    with h5py.File(out) as file:
        assert np.array_equal(file["end_q"][0], expected.q[-1])


# --- the seed's simulator as a job


@pytest.fixture(scope="module")
def free(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "free"
    scenario = ROOT / "data" / "scenarios" / "exoskeleton_free.toml"
    program("run", scenario, "-o", folder, "--set", 'sweep={ "vary.damping" = [0, 1e-3, 0.01] }',
            "--set", "simulation.duration=0.4 s", "--set", "simulation.outputs=81")  # fmt: skip
    return folder


def test_free_fall_is_a_run_of_motions_without_a_verdict(free):
    summary = json.loads((free / "summary.json").read_text())
    assert summary["settle"] is None and summary["best"] is None
    assert summary["outcomes"]["completed"] == 3 == summary["samples"]
    undamped, some, most = summary["designs"]
    assert undamped["dissipated"]["mean"] == 0 and undamped["worst_balance"] < 1e-9
    assert 0 < some["dissipated"]["mean"] and some["worst_balance"] < 1e-6 > most["worst_balance"]


def test_undamped_fall_keeps_its_energy_and_is_the_chains_motion(free, robot):
    with h5py.File(free / "nominal.h5") as file:
        q, times = file["q"][0], file["times"][()]
        energy = file["kinetic_energy"][0] + file["potential_energy"][0]
    assert np.abs(energy - energy[0]).max() < 1e-9
    start = np.radians([20, -15, 10, 15, -10, 20])
    expected = robot.simulate(start, times=times, method="dopri5")
    assert np.abs(q - expected.q)[: len(times) // 2].max() < 1e-4


def test_its_report_shows_motions_and_asks_nothing(free):
    page = (free / "report.html").read_text()
    assert "No design settles" not in page and "P(settled" not in page
    assert "3 of 3 complete" in page and "Trajectories" in page and '"within":null' in page.replace(" ", "")


def test_the_proposed_motor_cannot_do_what_the_shipped_study_asks(tmp_path):
    scenario = ROOT / "data" / "scenarios" / "exoskeleton_damping.toml"
    program("run", scenario, "-o", tmp_path / "weak", "--no-report", "--set", "torque.limit=0.0432", "--samples", 512)
    weak = json.loads((tmp_path / "weak" / "summary.json").read_text())
    assert weak["outcomes"]["settled"] == 0 and "0.0432 N m" in weak["note"]
    own = ROOT / "data" / "scenarios" / "exoskeleton_motor.toml"
    program("run", own, "-o", tmp_path / "own", "--no-report", "--samples", 640)
    motor = json.loads((tmp_path / "own" / "summary.json").read_text())
    for design in motor["designs"]:  # 3 V: half the stall torque
        volt = design["values"][1]
        for peak in design["peak_torque"]:
            assert peak["quantiles"]["0.95"] is None or peak["quantiles"]["0.95"] <= 0.0432 * volt / 6 * 2.001


@pytest.mark.parametrize(
    ("tables", "word"),
    [({"law": {"kp": 1}}, "law .* has no kind"), ({"tool": {"force": [1, 0, 0]}}, "tool .* has no kind"),
     ({"tool": {"kind": "constant", "force": [np.nan, 0, 0]}}, "finite")],
)  # fmt: skip
def test_tables_without_a_kind_and_nan_are_refused(tables, word):
    with pytest.raises(garra.UsageError, match=word):
        garra.load("puma560").simulate(np.zeros(6), times=0.01, **tables)
