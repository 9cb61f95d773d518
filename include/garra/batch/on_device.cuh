// What on_device.hpp calls: run_kernels(device, parts...), found beside the parts' types. A file that nvcc compiles
// defines it and ends in a line per instance,
//   template struct garra::batch::Kernels<Part, ...>;
#pragma once

#include "garra/batch/for_each.cuh"
#include "garra/batch/on_device.hpp"

namespace garra::batch {

template <class... Parts>
struct Kernels {
  static void run(const Device& device, const Parts&... parts) {
    cuda::check(cudaSetDevice(device.index), "choosing the device");
    run_kernels(device, parts...);
  }
  static const bool are_linked;
};

template <class... Parts>
const bool Kernels<Parts...>::are_linked = (Launch<Parts...>::kernels = run, true);

}  // namespace garra::batch
