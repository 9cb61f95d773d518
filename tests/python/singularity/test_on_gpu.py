"""Configurations that are on a GPU, a simulated one: a process of its own has the module that knows it."""

from __future__ import annotations

import pytest
from arrays import require_module

require_module()

from gpu_arrays import FOLDER, run  # noqa: E402

if not list(FOLDER.glob("_core*")):
    pytest.skip("no module with a simulated GPU was built", allow_module_level=True)


def test_measures_have_the_bits_of_the_processor_and_are_on_the_gpu():
    run("""
import garra, gpu_arrays as gpu, numpy as np, pytest
from garra import singularity
garra.__path__[-1] = str(gpu.FOLDER)
robot = garra.models.puma560()
q = np.sin(np.arange(70 * 6.0).reshape(7, 10, 6) * 1.7) * 3
q[3, 4, 1] = np.nan
expected = singularity.measure(robot, q, center="tool", length=0.4, device="scalar")
found = singularity.measure(robot, gpu.on_gpu(q), center="tool", length=0.4)
for name in singularity.Measures.__dataclass_fields__:
    here, there = getattr(expected, name), gpu.on_host(getattr(found, name))
    assert there.shape == here.shape and there.tobytes() == here.tobytes(), name
assert np.isnan(expected.sigma_min[3, 4])
with pytest.raises(ValueError, match="center"):
    singularity.measure(robot, gpu.on_gpu(q), center="tip")
with pytest.raises(ValueError, match="q has the shape"):
    singularity.measure(robot, gpu.on_gpu(q[..., :5]))
with pytest.raises(TypeError, match="q is float32"):
    singularity.measure(robot, gpu.on_gpu(q.astype(np.float32)))
""")
