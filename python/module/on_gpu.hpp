// Views of arrays on a GPU by DLPack, without copies (docs/howto/gpu-arrays.md).
#pragma once

#include "arrays.hpp"
#include "garra/batch/resident.hpp"

namespace garra::python {

/// [count][width], whatever its strides.
template <class T>
using OnGpu = nb::ndarray<T, nb::ndim<2>, nb::device::cuda>;

template <class T, class Number>
DeviceArray<T> make_view(const OnGpu<Number>& a) {
  static_assert(sizeof(T) == sizeof(Number));
  return {reinterpret_cast<T*>(a.data()), a.stride(0), a.stride(1)};
}
/// The array of this name, which the caller keeps.
template <class Number, class T>
void take(const nb::dict& arrays, const char* name, DeviceArray<T>& to) {
  to = make_view<T>(nb::cast<OnGpu<Number>>(arrays[name]));
}

/// GPU and stream of a call. allocate(bytes) returns an array [1][bytes] in GPU memory that the
/// stream may use.
struct GpuPlace {
  int device;
  std::uintptr_t stream;
  const nb::callable& allocate;
};
/// run(call), with a workspace of as many bytes as count_bytes(call) says.
template <class BytesOf, class Run>
void run_gpu_call(const GpuPlace& place, const BytesOf& count_bytes, const Run& run) {
  DeviceCall call{place.device, reinterpret_cast<void*>(place.stream), nullptr, 0};
  call.bytes = count_bytes(call);
  const auto memory = nb::cast<OnGpu<std::uint8_t>>(place.allocate(call.bytes));
  call.workspace = memory.data();
  const nb::gil_scoped_release released;
  run(call);
}

}  // namespace garra::python
