// Registers kernels for on_device.hpp, which calls run_kernels(device, parts...), found beside the
// parts' types. A file that nvcc compiles defines run_kernels() and ends in a line per instance,
//   template struct garra::batch::Kernels<Part, ...>;
#pragma once

#include "garra/batch/for_each.cuh"
#include "garra/batch/on_device.hpp"

namespace garra::batch {

/// Registers the kernels for these parts before main(), where the host's calls find them.
template <class... Parts>
bool announce() {
  Launch<Parts...>::kernels = [](const Device& device, const Parts&... parts) {
    cuda::check(cudaSetDevice(device.index), "choosing the device");
    cuda::keep_memory(device.index);
    run_kernels(device, parts...);
  };
  return true;
}

template <class... Parts>
struct Kernels {
  static const bool are_linked;
};
template <class... Parts>
const bool Kernels<Parts...>::are_linked = announce<Parts...>();

}  // namespace garra::batch
