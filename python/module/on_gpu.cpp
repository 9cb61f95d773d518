// Memory of a GPU for a library that makes no arrays which others may write.
#include "on_gpu.hpp"

#include <algorithm>

namespace garra::python {

namespace {

/// [count][width], not filled.
template <class T>
nb::object empty_array(std::size_t count, std::size_t width, int device) {
  void* const data = cuda_allocate(device, std::max<std::size_t>(1, count * width) * sizeof(T));
  const nb::capsule owner(data, [](void* memory) noexcept { cuda_release(memory); });
  const std::size_t shape[] = {count, width};
  return nb::cast(nb::ndarray<nb::array_api, T, nb::device::cuda>(data, 2, shape, owner, nullptr, nb::dtype<T>(),
                                                                  nb::device::cuda::value, device));
}
nb::object empty(std::size_t count, std::size_t width, const std::string& type, int device) {
  if (type == "int32") return empty_array<std::int32_t>(count, width, device);
  if (type == "uint8") return empty_array<std::uint8_t>(count, width, device);
  return empty_array<double>(count, width, device);
}

void wait(int device) {
  const nb::gil_scoped_release released;
  cuda_wait(device);
}

}  // namespace

void add_on_gpu(nb::module_& m) {
  m.def("gpu_empty", empty);
  m.def("gpu_wait", wait);
}

}  // namespace garra::python
