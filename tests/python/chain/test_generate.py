"""Generated code of robots without masses."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from program import PROGRAM

ROOT = Path(__file__).parents[3]
ROWS = [(0.1, 0.4, 0.5), (0.5, 0.05, 0.0), (0.4, 0.0, -0.3)]  # a, d, alpha
MAIN = """#include <cstdio>
#include "arm.hpp"
int main() {
  const arm::Vec<double> q = {{0.3, -0.8, 1.1}}, v = {{1, 2, 3}};
  const auto pose = arm::tool_pose(q);
  std::printf("%.17g %.17g %.17g %.17g\\n", pose.p[0], pose.p[1], pose.p[2], arm::inverse_dynamics(q, v, v)[0]);
}
"""


def arm(path, last=""):
    rows = [f"[[joint]]\na = {a}\nd = {d}\nalpha = {alpha}\n" for a, d, alpha in ROWS]
    path.write_text('schema = 1\nrobot = "arm"\nconvention = "dh"\n' + "".join(rows) + last)
    return path


def tool(q):
    T = np.eye(4)
    for (a, d, alpha), angle in zip(ROWS, q):
        c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(alpha), np.sin(alpha)
        T = T @ np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])
    return T[:3, 3]


def generate(path, *more):
    command = [PROGRAM, "chain", "generate", path, "-o", path.parent / "arm.hpp", *more]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_robot_without_masses_gets_all_but_forward_dynamics(tmp_path):
    done = generate(arm(tmp_path / "arm.toml"))
    assert done.returncode == 0, done.stderr
    header = (tmp_path / "arm.hpp").read_text()
    assert "without  forward dynamics: joint 2 (joint 2) moves no inertia" in header
    assert "forward_dynamics" not in header and not re.search(r"\b(nan|inf)\b", header)
    (tmp_path / "main.cpp").write_text(MAIN)
    compiler = ["g++", "-std=c++20", "-I", ROOT / "include", tmp_path / "main.cpp", "-o", tmp_path / "main"]
    subprocess.run(compiler, check=True)
    *p, torque = map(float, subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout.split())
    assert np.allclose(p, tool([0.3, -0.8, 1.1]), atol=1e-14) and torque == 0


# A mass on the last axis does not load it; a rotor loads its own joint only.
@pytest.mark.parametrize(
    ("last", "code"), [("", 2), ("mass = 1.0\ncom = [-0.4, 0.0, 0.0]\n", 2), ("armature = 0.1\n", 2),
                       ("mass = 1.0\narmature = 0.1\n", 0)]
)  # fmt: skip
def test_forward_dynamics_need_inertia_of_every_joint(tmp_path, last, code):
    done = generate(arm(tmp_path / "arm.toml", last), "--operations", "forward_dynamics")
    assert done.returncode == code
    joint = 2 if "armature" not in last else 1
    assert code == 0 or f"joint {joint} (joint {joint}) moves no inertia" in done.stderr
