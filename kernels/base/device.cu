// What the host may ask of the GPU where kernels are linked: how many there are, names, free memory.
#include "base/cuda_device.hpp"
#include "base/for_each.cuh"

namespace garra {

namespace {

int device_count() {
  int count = 0;
  // No driver is no device, not an error.
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string device_name(int index) {
  cudaDeviceProp properties;
  cuda::check(cudaGetDeviceProperties(&properties, index), "asking for the device's name");
  return properties.name;
}

std::uint64_t free_memory_of(int index) {
  std::size_t free = 0, total = 0;
  cuda::check(cudaSetDevice(index), "choosing the device");
  cuda::check(cudaMemGetInfo(&free, &total), "asking for free memory");
  return free;
}

// Before main(), as all kernels announce themselves (batch/on_device.hpp).
const bool are_linked = (cuda_runtime = {device_count, device_name, free_memory_of}, true);

}  // namespace

}  // namespace garra
