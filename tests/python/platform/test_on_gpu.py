"""Platforms whose poses are on a GPU, a simulated one: a process of its own has the module that knows it."""

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
machine = garra.platform.load("trepa_like")
position, quaternion = (
    home + 0.05 * np.sin(np.arange(70.0 * len(home)).reshape(7, 10, -1) * 1.7) for home in machine.home
)
position[3, 4, 1] = np.nan

def expect_same(found, expected, but=()):
    for name in type(expected).__dataclass_fields__:
        if name in but:
            continue
        here, there = getattr(expected, name), gpu.on_host(getattr(found, name))
        assert there.shape == here.shape and there.astype(here.dtype).tobytes() == here.tobytes(), name
"""


def test_lengths_have_the_bits_of_the_processor_and_are_on_the_gpu():
    run(BEGIN + """
expected = machine.inverse_kinematics(position, quaternion, device="scalar")
expect_same(machine.inverse_kinematics(gpu.on_gpu(position), gpu.on_gpu(quaternion)), expected)
assert expected.status[3, 4] != 0 and expected.lengths.shape == (7, 10, 6)
with pytest.raises(TypeError, match="quaternion is not on the GPU"):
    machine.inverse_kinematics(gpu.on_gpu(position), quaternion)
""")


def test_poses_have_the_bits_of_the_processor_and_are_on_the_gpu():
    run(BEGIN + """
lengths = machine.inverse_kinematics(position, quaternion).lengths
there = gpu.on_gpu(lengths)
but = ("uniqueness", "_modes")
expected = machine.forward_kinematics(lengths, device="scalar")
expect_same(machine.forward_kinematics(there), expected, but)
guess = machine.home[0] + 0.01, machine.home[1]
expected = machine.forward_kinematics(lengths, guess, device="scalar")
expect_same(machine.forward_kinematics(there, tuple(map(gpu.on_gpu, guess))), expected, but)
expected = machine.forward_kinematics(lengths, certify=True, device="scalar")
expect_same(machine.forward_kinematics(there, certify=True), expected, but=("_modes",))
assert (expected.uniqueness > 0).any()
""")


def test_dynamics_have_the_bits_of_the_processor_and_are_on_the_gpu():
    run(BEGIN + """
velocity, force = (np.sin(np.arange(420.0).reshape(7, 10, 6) * k) for k in (1.1, 0.7))
force = 95 + 3 * force
where, there = (position, quaternion), (gpu.on_gpu(position), gpu.on_gpu(quaternion))
v, f, w = (gpu.on_gpu(x) for x in (velocity, force, np.arange(6.0)))
expect_same(machine.inverse_dynamics(*there, v, wrench=w),
            machine.inverse_dynamics(*where, velocity, wrench=np.arange(6.0), device="scalar"))
expect_same(machine.forward_dynamics(*there, v, f), machine.forward_dynamics(*where, velocity, force, device="scalar"))
how = {"times": [0.0, 0.01, 0.02], "step": 0.005}
for method in ("hybrid", "rk8"):
    expected = machine.simulate(*where, velocity, force, method=method, device="scalar", **how)
    expect_same(machine.simulate(*there, v, f, method=method, **how), expected, but=("times",))
assert expected.position.shape == (7, 10, 3, 3) and expected.status[3, 4] == 7 and expected.status[0, 0] == 0
for form in ("minimal", "full"):
    expect_same(machine.inverse_dynamics(*there, v, form=form),
                machine.inverse_dynamics(*where, velocity, form=form, device="scalar"))
expect_same(machine.forward_dynamics(*there, v, f, form="full"),
            machine.forward_dynamics(*where, velocity, force, form="full", device="scalar"))
with pytest.raises(TypeError, match="force is not on the GPU"):
    machine.simulate(*there, force=force, times=0.01)
""")
