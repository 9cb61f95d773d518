#include "base/cuda_device.hpp"
#include "base/for_each.cuh"

namespace garra {

bool cuda_compiled_in() { return true; }

int cuda_device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string cuda_device_name(int index) {
  cudaDeviceProp properties;
  cuda::check(cudaGetDeviceProperties(&properties, index), "asking for the device's name");
  return properties.name;
}

std::uint64_t cuda_free_memory(int index) {
  std::size_t free = 0, total = 0;
  cuda::check(cudaSetDevice(index), "choosing the device");
  cuda::check(cudaMemGetInfo(&free, &total), "asking for free memory");
  return free;
}

}  // namespace garra
