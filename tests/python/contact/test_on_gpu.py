"""Contact problems whose arrays are on a GPU, a simulated one: a process of its own has the module that knows it."""

from __future__ import annotations

import pytest
from arrays import REFERENCE, require_module

require_module()

from gpu_arrays import FOLDER, run  # noqa: E402

if not list(FOLDER.glob("_core*")):
    pytest.skip("no module with a simulated GPU was built", allow_module_level=True)

BEGIN = f"""
import sys
import garra, gpu_arrays as gpu, h5py, numpy as np, pytest
garra.__path__[-1] = str(gpu.FOLDER)
from garra import contact

with h5py.File({str(REFERENCE / "contact" / "random_n3.h5")!r}) as file:
    A, b, mu = (file[name][:70] for name in ("A", "b", "mu"))

def expect_same(found, expected):
    for name in contact.Solutions.__dataclass_fields__:
        here, there = getattr(expected, name), gpu.on_host(getattr(found, name))
        assert there.dtype == here.dtype and there.shape == here.shape, name
        assert here.tobytes() == there.tobytes(), name
"""


def test_answers_have_the_bits_of_the_processor_and_are_on_the_gpu():
    run(BEGIN + """
for n in (0, 1, 31, 32, 33, 70):
    given = [gpu.on_gpu(values[:n]) for values in (A, b, mu)]
    found = contact.solve(*given)
    assert repr(found) == f"Solutions(({n},) on a GPU)"
    assert all(array.asked == [] for array in given)  # the views of them are read
    expect_same(found, contact.solve(A[:n], b[:n], mu[:n], device="scalar"))
poisoned = A.copy()
poisoned[7, 0, 0] = np.nan
expect_same(contact.solve(*map(gpu.on_gpu, (poisoned, b, mu)), method="nsgs", tolerance=1e-6, max_iterations=50),
            contact.solve(poisoned, b, mu, method="nsgs", tolerance=1e-6, max_iterations=50, device="scalar"))
""")


def test_leading_axes_and_strides_are_read_where_they_stand():
    run(BEGIN + """
grid = [gpu.on_gpu(values.reshape(7, 10, *values.shape[1:])) for values in (A, b)] + [gpu.on_gpu(mu[3])]
expected = contact.solve(A.reshape(7, 10, 9, 9), b.reshape(7, 10, 9), mu[3], device="scalar")
expect_same(contact.solve(*grid), expected)
by_field = gpu.on_gpu(b.T.copy())  # one number of all problems after another
by_field = gpu.Array(by_field.data, (70, 9), (1, 70), np.float64)
expect_same(contact.solve(gpu.on_gpu(A), by_field, gpu.on_gpu(mu)), contact.solve(A, b, mu, device="scalar"))
one = contact.solve(*(gpu.on_gpu(values[5]) for values in (A, b, mu)))
assert gpu.on_host(one.c).tobytes() == contact.solve(A[5], b[5], mu[5]).c.tobytes() and one.status.shape == ()
""")


def test_the_work_is_on_the_stream_that_the_library_is_on():
    run(BEGIN + """
from types import SimpleNamespace
from contextlib import nullcontext
stream, capsules = gpu.stream(), []

class Array(gpu.Array):
    device = nullcontext()  # what CuPy's is, too: a context

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, *, stream):
        capsules.append(stream)
        return gpu.Array(self.data, self.shape, self.strides, self.dtype).__dlpack__(stream=stream)

def of(array):
    return Array(array.data, array.shape, array.strides, array.dtype)

Array.__module__ = "cupy.core"
sys.modules["cupy"] = SimpleNamespace(
    float64=gpu.float64, int32=gpu.int32, uint8=gpu.uint8,
    empty=lambda shape, *, dtype: of(gpu.empty(shape, dtype=dtype, device=0)),
    reshape=lambda array, shape: of(gpu.reshape(array, shape)),
    broadcast_to=lambda array, shape: of(gpu.broadcast_to(array, shape)),
    cuda=SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=stream)))
found = contact.solve(*(of(gpu.on_gpu(values)) for values in (A, b, mu)))
assert type(found.c) is Array
assert len(capsules) == 12 and set(capsules) == {stream}
expect_same(found, contact.solve(A, b, mu, device="scalar"))
""")


def test_arrays_that_nobody_may_write_get_answers_in_memory_that_they_take_over():
    run(BEGIN + """
from types import SimpleNamespace

class Array(gpu.Array):
    addressable_data = None  # what tells JAX's

def of(array):
    return Array(array.data, array.shape, array.strides, array.dtype)

Array.__module__ = "jaxlib._jax"
sys.modules["jax"] = SimpleNamespace(
    numpy=SimpleNamespace(reshape=lambda array, shape: of(gpu.reshape(array, shape)),
                          broadcast_to=lambda array, shape: of(gpu.broadcast_to(array, shape))),
    dlpack=SimpleNamespace(from_dlpack=lambda other: of(gpu.from_dlpack(other))))
for n in (0, 1, 70):
    found = contact.solve(*(of(gpu.on_gpu(values[:n])) for values in (A, b, mu)))
    assert type(found.c) is Array
    expect_same(found, contact.solve(A[:n], b[:n], mu[:n], device="scalar"))
""")


def test_what_is_not_taken_is_said():
    run(BEGIN + """
there = dict(zip("Abm", map(gpu.on_gpu, (A, b, mu))))
def refused(kind, match, A=there["A"], b=there["b"], mu=there["m"], **how):
    with pytest.raises(kind, match=match):
        contact.solve(A, b, mu, **how)
refused(TypeError, "b is not on the GPU", b=b)
refused(TypeError, "mu is float32", mu=gpu.on_gpu(mu.astype(np.float32)))
refused(TypeError, "mode", mode=np.zeros((70, 3)))
refused(ValueError, r"b has the shape \\(70, 8\\), not \\[..., 9\\]", b=gpu.on_gpu(b[:, :8]))
refused(ValueError, "leading axes do not fit together", b=gpu.on_gpu(b[:69]))
refused(garra.UsageError, "lemke", method="lemke")
refused(garra.UsageError, "newtonn", method="newtonn")
""")


def test_a_module_without_kernels_says_so():
    code = """
import garra, gpu_arrays as gpu, numpy as np, pytest
from garra import contact
gpu.empty = lambda shape, *, dtype, device: gpu.Array(256, shape, gpu.packed(shape), dtype)
with pytest.raises(garra.DeviceError, match="no CUDA kernels"):
    contact.solve(*(gpu.empty(shape, dtype=np.float64, device=0) for shape in ((2, 9, 9), (2, 9), (2, 3))))
"""
    run(code)
