"""A hand on an arm that gives way, in a scenario: its friction problem and what its command carries, against MuJoCo's
mass matrix, Jacobians and gravity of the whole tree."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from program import INVALID, PROGRAM, garra

mujoco = pytest.importorskip("mujoco")

ARM = ("lift", "turn")
FINGERS = "abc"
# d1 is of a finger that does not touch.
Q = {"lift": 0.1, "turn": 0.5, "d1": 0.9} | {f"{f}{i}": q for f in FINGERS for i, q in ((1, 0.2), (2, 0.5), (3, 0.6))}
PLACES = {"a": (0.05, 0.04, 0.0), "b": (0.05, -0.04, 0.1), "c": (-0.05, 0.0, 3.1)}  # x, y, turn about z
MASS, GYRATION, POSITION = 0.3, 0.02, np.array([0.0, 0.0, 0.1])
SCENARIO = """
schema = 1
job = "grasp"
[hand]
urdf = "arm.urdf"
tips = ["a_tip", "b_tip", "c_tip"]
root_link = "palm"
arm_root = "base"
q = {q}
[object]
shape = "points"
gyration = [{gyration}, {gyration}, {gyration}]
mass = {mass}
position = {position}
{uncertain}
[contacts]
friction = 0.8
{contacts}
[load]
squeeze = 6
compensation = {compensation}
gravity = {gravity}
[sampling]
samples = 100
"""


def link(name: str, mass: float) -> str:
    return (
        f'<link name="{name}"><inertial><origin xyz="0.01 0.005 0.02"/><mass value="{mass}"/>'
        f'<inertia ixx="{mass * 8e-4}" iyy="{mass * 6e-4}" izz="{mass * 5e-4}" ixy="0" ixz="0" iyz="0"/></inertial>'
        "</link>"
    )


def joint(name: str, kind: str, parent: str, child: str, xyz: str, axis: str, rpy: str = "0 0 0") -> str:
    limit = "" if kind == "fixed" else '<limit lower="-3" upper="3" effort="100" velocity="10"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{limit}</joint>'
    )


def tree() -> str:
    parts = [link("base", 5), link("fore", 2), link("palm", 0.8)]
    parts += [joint("lift", "prismatic", "base", "fore", "0 0 0.4", "0 0.6 0.8")]
    parts += [joint("turn", "revolute", "fore", "palm", "0.3 0 0", "0.6 0.8 0", "0.2 0.4 0")]
    for f, (x, y, turn) in PLACES.items():
        parts += [link(f"{f}{i}", 0.3 / i) for i in (1, 2, 3)]
        parts += [f'<link name="{f}_tip"/>']
        parts += [joint(f"{f}1", "revolute", "palm", f"{f}1", f"{x} {y} 0.02", "0 0 1", f"0 0 {turn}")]
        parts += [joint(f"{f}2", "revolute", f"{f}1", f"{f}2", "0.02 0 0.01", "0 -1 0.1")]
        parts += [joint(f"{f}3", "revolute", f"{f}2", f"{f}3", "0.01 0 0.05", "0 -1 0")]
        parts += [joint(f"{f}_end", "fixed", f"{f}3", f"{f}_tip", "0 0 0.05", "1 0 0")]
    parts += [link("d", 0.4), joint("d1", "revolute", "palm", "d", "0 0.06 0", "1 0 0")]
    return f'<robot name="arm">{"".join(parts)}</robot>'


class Truth:
    """MuJoCo's numbers of the tree, in the palm's axes where it stands at Q."""

    def __init__(self) -> None:
        text = tree().replace(">", '><mujoco><compiler fusestatic="false"/></mujoco>', 1)
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        self.stand(Q)
        palm = self.data.body("palm")
        self.R, self.p = palm.xmat.reshape(3, 3).copy(), palm.xpos.copy()
        self.gravity = self.R.T @ self.model.opt.gravity

    def stand(self, q: dict[str, float]) -> None:
        for name, value in q.items():
            self.data.qpos[self.model.joint(name).qposadr[0]] = value
        mujoco.mj_forward(self.model, self.data)

    def tip(self, f: str) -> np.ndarray:
        return self.R.T @ (self.data.body(f"{f}_tip").xpos - self.p)

    def reach(self, f: str, point: np.ndarray) -> None:
        """Turns the finger's joints until its tip is there."""
        own = [self.model.joint(f"{f}{i}").dofadr[0] for i in (1, 2, 3)]
        for _ in range(50):
            self.data.qpos[own] -= np.linalg.solve(self.jacobian(f)[:, own], self.tip(f) - point)
            mujoco.mj_forward(self.model, self.data)
        assert np.abs(self.tip(f) - point).max() < 1e-12

    def jacobian(self, f: str) -> np.ndarray:
        v = np.zeros((3, self.model.nv))
        mujoco.mj_jacBody(self.model, self.data, v, None, self.model.body(f"{f}_tip").id)
        return self.R.T @ v

    def numbers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Jacobians of the tips, [3, 3, n], mass matrix and torques against gravity of the joints that give way."""
        M = np.zeros((self.model.nv, self.model.nv))
        old = hasattr(self.data, "qM")
        mujoco.mj_fullM(self.model, M, self.data.qM) if old else mujoco.mj_fullM(self.model, self.data, M)
        own = np.arange(self.model.nv) != self.model.joint("d1").dofadr[0]
        V = np.array([self.jacobian(f)[:, own] for f in FINGERS])
        return V, M[np.ix_(own, own)], self.data.qfrc_bias[own]


@pytest.fixture
def truth() -> Truth:
    return Truth()


def frame(point: np.ndarray) -> np.ndarray:
    """Columns n (to the object's middle), t, o."""
    n = -point / np.linalg.norm(point)
    t = np.cross([0.3, 0.2, 1.0], n)
    t /= np.linalg.norm(t)
    return np.stack([n, t, np.cross(n, t)], axis=1)


def write(folder: Path, truth: Truth, compensation: object = 1, uncertain: str = "", more: str = "") -> Path:
    (folder / "arm.urdf").write_text(tree())
    contacts = ""
    for f in FINGERS:
        point = truth.tip(f) - POSITION
        n, t, _ = frame(point).T.tolist()
        contacts += f"[[contact]]\npoint = {point.tolist()}\nnormal = {n}\ntangent = {t}\n"
    fields = {
        "q": "{ " + ", ".join(f"{name} = {value}" for name, value in Q.items()) + " }",
        "gyration": GYRATION,
        "mass": MASS,
        "position": "" if uncertain else POSITION.tolist(),
        "uncertain": uncertain,
        "contacts": contacts,
        "compensation": compensation,
        "gravity": truth.gravity.tolist(),
    }
    path = folder / "arm.toml"
    text = SCENARIO.format(**fields)
    path.write_text(text.replace("position = \n", "") + more)
    return path


def run_of(path: Path, name: str, *flags: object, program: str = PROGRAM) -> Path:
    run = path.parent / name
    command = [program, "run", path, "-o", run, "--no-report", "--quiet", *flags]
    subprocess.run([*map(str, command)], check=True, capture_output=True)
    return run


class Sample:
    """One sample of a run, as replay writes it."""

    def __init__(self, run: Path, index: int) -> None:
        problem, picture = run.parent / "problem.h5", run.parent / "picture.h5"
        flags = ("--sample", index, "--problem", problem, "-o", picture, "--format", "json")
        self.said = json.loads(garra("replay", run, *flags).stdout)
        with h5py.File(problem) as file:
            self.A, self.b = file["A"][0], file["b"][0]
        with h5py.File(picture) as file:
            group = file[f"sample_{index}"]
            self.position = group["position"][0]
            self.q = [group[f"finger_{j}/q"][0] for j in (0, 1, 2)]
        self.c = np.array([contact["c"] for contact in self.said["contacts"]])


UNCERTAIN = "position = [{ uniform = [-0.004, 0.004] }, { uniform = [-0.004, 0.004] }, { uniform = [0.096, 0.104] }]"


def test_problem_and_command_are_those_of_the_whole_tree(tmp_path, truth):
    # The commanded forces: what a nominal sample with exact compensation has, in the palm's axes.
    nominal = Sample(run_of(write(tmp_path, truth), "nominal"), 0)
    assert nominal.said["outcome"] == "held" and abs(nominal.said["metrics"]["imbalance"]) < 1e-12
    points = np.array([truth.tip(f) - POSITION for f in FINGERS])
    E = np.array([frame(point) for point in points])
    force = np.einsum("jik,jk->ji", E, nominal.c)
    run = run_of(write(tmp_path, truth, 0.8, UNCERTAIN), "run")
    for index in (0, 41):
        sample = Sample(run, index)
        for f, point in zip(FINGERS, points, strict=True):
            truth.reach(f, sample.position + point)
        found = [truth.data.qpos[truth.model.joint(f"{f}{i}").qposadr[0]] for f in FINGERS for i in (1, 2, 3)]
        np.testing.assert_allclose(np.concatenate(sample.q), found, atol=1e-9)
        V, M, weight = truth.numbers()
        J = np.concatenate([e.T @ v for e, v in zip(E, V, strict=True)])
        torques = 0.8 * weight + sum(v.T @ f for v, f in zip(V, force, strict=True))
        hand_A = J @ np.linalg.solve(M, J.T)
        hand_b = J @ np.linalg.solve(M, weight - torques)
        W = np.concatenate(
            [np.concatenate([e, np.cross(p, e, axis=0)]) for p, e in zip(points, E, strict=True)], axis=1
        )
        inertia = np.diag([MASS] * 3 + [MASS * GYRATION**2] * 3)
        w = np.concatenate([MASS * truth.gravity, np.zeros(3)])
        A = hand_A + W.T @ np.linalg.solve(inertia, W)
        b = hand_b + W.T @ np.linalg.solve(inertia, w)
        np.testing.assert_allclose(sample.A, A, rtol=0, atol=1e-9 * np.abs(A).max())
        np.testing.assert_allclose(sample.b, b, rtol=0, atol=1e-8 * np.abs(b).max())
        # Fingers of a palm that stands still do not move one another.
        assert np.abs(hand_A[:3, 3:]).max() > 0.02 * np.abs(hand_A).max()
        # What the hand presses with on contacts that do not move.
        left = W @ -np.linalg.solve(hand_A, hand_b) + w
        left[3:] /= GYRATION
        imbalance = np.linalg.norm(left) / (MASS * np.linalg.norm(truth.gravity))
        assert sample.said["metrics"]["imbalance"] == pytest.approx(imbalance, rel=1e-6)
        assert imbalance > 0.05


def test_scalar_lanes_and_gpu_have_the_same_bytes(tmp_path, truth):
    path = write(tmp_path, truth, "{ normal = [1, 0.05] }", UNCERTAIN)
    runs = [run_of(path, device, "--device", device) for device in ("cpu", "scalar")]
    if (simulated := Path(PROGRAM).parent / "garra-sim").is_file():
        runs.append(run_of(path, "gpu", "--device", "cuda", program=str(simulated)))
    first, *others = [(run / "summary.json").read_bytes() for run in runs]
    assert json.loads(first)["held"]["probability"] > 0
    assert all(other == first for other in others)


def test_what_check_prints_is_the_same_scenario(tmp_path, truth):
    path = write(tmp_path, truth, "{ normal = [1, 0.05] }", UNCERTAIN)
    printed = tmp_path / "printed.toml"
    printed.write_text(garra("check", path).stdout)
    assert 'arm_root = "base"' in printed.read_text()
    one, two = (run_of(p, p.stem) for p in (path, printed))
    assert (one / "summary.json").read_bytes() == (two / "summary.json").read_bytes()


def test_a_run_folder_is_enough_to_go_on(tmp_path, truth):
    run = run_of(write(tmp_path, truth), "run")
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    os.rename(run, moved / "run")
    assert (moved / "run" / "models" / "arm.urdf").is_file()
    (tmp_path / "arm.urdf").unlink()
    assert Sample(moved / "run", 3).said["outcome"] == "held"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"arm_root": "bone"}, ("hand.arm_root", "bone")),
        ({"arm_root": "palm"}, ("hand.arm_root", "no joint moves")),
        ({"arm_root": "a1"}, ("hand.arm_root", "a1")),
        ({"root_link": None}, ("hand.root_link", "arm_root")),
        ({"arm_root": None, "root_link": "base"}, ("hand.tips[1]", "arm_root")),
        ({"tau": "[[0, 0, 0], [0, 0, 0], [0, 0, 0]]"}, ("tau", "arm")),
        ({"gravity_compensation": "false"}, ("gravity_compensation", "arm")),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, truth, change, says):
    path = write(tmp_path, truth)
    text = path.read_text()
    for key, value in change.items():
        lines = text.splitlines()
        lines = [line for line in lines if not line.startswith(f"{key} =")]
        if value is not None:
            quoted = value if value[0] == "[" or value == "false" else f'"{value}"'
            lines.insert(lines.index("[hand]") + 1, f"{key} = {quoted}")
        text = "\n".join(lines)
    path.write_text(text)
    said = garra("check", path, expect=INVALID).stderr
    assert all(word in said for word in says), said


def test_in_time_a_palm_stands_still(tmp_path, truth):
    path = write(tmp_path, truth, more="[simulation]\nuntil = 0.1\nstep = 0.001\n")
    said = garra("check", path, expect=INVALID).stderr
    assert "hand.arm_root" in said and "[simulation]" in said


def test_an_analysis_of_instants_refuses_hands_that_it_would_change(tmp_path, truth):
    path = write(tmp_path, truth)
    said = garra("grasp", "analyze", path, expect=INVALID).stderr
    assert "hand.arm_root" in said and "garra replay" in said
    path.write_text("\n".join(
        "root_link = \"palm\"\ntip_radius = 0.004" if line.startswith("root_link") else line
        for line in path.read_text().splitlines() if not line.startswith("arm_root")
    ))  # fmt: skip
    said = garra("grasp", "analyze", path, expect=INVALID).stderr
    assert "finger 0: tip_radius" in said


def test_fingers_of_three_joints_have_to_reach_the_object(tmp_path, truth):
    path = write(tmp_path, truth)
    text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("arm_root"))
    height = float(re.search(r"position = \[.*, (.*)\]", text)[1])
    path.write_text(text)
    garra("check", path)
    path.write_text(re.sub(r"(position = \[.*, ).*\]", rf"\g<1>{height + 0.09}]", text))
    said = garra("check", path, expect=INVALID).stderr
    assert re.search(r"finger \d cannot reach its contact .*: its tool misses by \d+", said), said
