// What on_device.hpp calls: run_kernels(device, parts...), found beside the parts' types. A file that nvcc compiles
// defines it and ends in a line per instance,
//   template void garra::batch::on_device(const garra::Device&, const Part&, ...);
#pragma once

#include "garra/batch/for_each.cuh"
#include "garra/batch/on_device.hpp"

namespace garra::batch {

template <class... Parts>
void on_device(const Device& device, const Parts&... parts) {
  cuda::check(cudaSetDevice(device.index), "choosing the device");
  run_kernels(device, parts...);
}

}  // namespace garra::batch
