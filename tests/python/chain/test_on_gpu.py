"""Chains whose states are on a GPU, a simulated one: a process of its own has the module that knows it."""

from __future__ import annotations

import pytest
from arrays import require_module

require_module()

from gpu_arrays import FOLDER, run  # noqa: E402

if not list(FOLDER.glob("_core*")):
    pytest.skip("no module with a simulated GPU was built", allow_module_level=True)

BEGIN = """
import garra, gpu_arrays as gpu, numpy as np, pytest
garra.__path__[-1] = str(gpu.FOLDER)
robot = garra.models.puma560()
q, qd, qdd = (np.sin(np.arange(70 * 6.0).reshape(7, 10, 6) * k) for k in (1.7, 2.3, 0.3))
q[3, 4, 1] = np.nan
there = [gpu.on_gpu(x) for x in (q, qd, qdd)]

def expect_same(found, expected):
    found = gpu.on_host(found)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()
"""


def test_answers_have_the_bits_of_the_processor_and_are_on_the_gpu():
    run(BEGIN + """
expect_same(robot.rnea(*there), robot.rnea(q, qd, qdd, device="scalar"))
expect_same(robot.jacobian(there[0], frame="tool"), robot.jacobian(q, frame="tool", device="scalar"))
names = ("pose", "mass_matrix", "manipulability")
found, expected = (robot.evaluate(x, outputs=names, point=(0.1, 0, 0)) for x in (there[0], q))
for name in names:
    expect_same(found[name], expected[name])
expect_same(found.status, expected.status)
assert expected.status[3, 4] == 3
one = robot.crba(gpu.on_gpu(q[0, 0]))
expect_same(one, robot.crba(q[0, 0]))
expect_same(robot.crba(gpu.on_gpu(q[0, :0])), robot.crba(q[0, :0]))
""")


def test_rates_have_the_bits_of_the_processor_and_are_on_the_gpu():
    run(BEGIN + """
twist = np.cos(np.arange(70 * 6.0).reshape(7, 10, 6))
weights = [1, 2, 1, 1, 3, 1]
found = robot.rates(there[0], gpu.on_gpu(twist), weights=weights, frame="tool")
expected = robot.rates(q, twist, weights=weights, frame="tool", device="scalar")
for name in ("qd", "damping", "residual", "status"):
    expect_same(getattr(found, name), getattr(expected, name))
assert expected.status[3, 4] == 3 and np.isnan(expected.qd[3, 4]).all()
""")


def test_shared_states_are_not_repeated():
    run(BEGIN + """
still = gpu.on_gpu(np.zeros(6))
expect_same(robot.rnea(there[0], still, still), robot.rnea(q, np.zeros(6), np.zeros(6), device="scalar"))
""")


def test_what_is_not_taken_is_said():
    run(BEGIN + """
with pytest.raises(TypeError, match="qd is not on the GPU"):
    robot.rnea(there[0], qd, there[2])
with pytest.raises(TypeError, match="q is float32"):
    robot.crba(gpu.on_gpu(q.astype(np.float32)))
with pytest.raises(ValueError, match="q has the shape"):
    robot.crba(gpu.on_gpu(q[..., :5]))
with pytest.raises(garra.UsageError, match="qd is a null pointer"):
    robot.evaluate(there[0], outputs="bias")
with pytest.raises(garra.UsageError, match="no output is called"):
    robot.evaluate(there[0], outputs="bia")
""")


def test_motions_have_the_bits_of_the_processor_and_are_on_the_gpu():
    run(BEGIN + """
torque = np.cos(np.arange(6.0))
for method in ("implicit", "rk4"):
    how = {"times": [0.0, 0.004, 0.01], "method": method, "step": 0.002}
    found = robot.simulate(there[0], there[1], gpu.on_gpu(torque), **how)
    expected = robot.simulate(q, qd, torque, device="scalar", **how)
    for name in ("q", "qd", "tip", "kinetic_energy", "potential_energy", "balance", "status"):
        expect_same(getattr(found, name), getattr(expected, name))
assert expected.status[3, 4] != expected.status[0, 0] and expected.q.shape == (7, 10, 3, 6)
expect_same(robot.simulate(there[0], times=0.002).q, robot.simulate(q, times=0.002, device="scalar").q)
with pytest.raises(TypeError, match="qd is not on the GPU"):
    robot.simulate(there[0], qd, times=0.01)
""")
