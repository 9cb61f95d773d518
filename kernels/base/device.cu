// GPU queries of the host, for programs with kernels: number of devices, names, free memory.
#include "base/cuda_device.hpp"
#include "base/for_each.cuh"
#include "garra/batch/select.hpp"

namespace garra {

namespace {

constexpr int kMinMajor = 8;        // compute capability: below it the kernels were never compiled
constexpr int kSlowestDoubles = 4;  // float over double throughput: 2 on A100, H100; 32 or 64 on cards for graphics

int device_count() {
  int count = 0;
  // A missing driver means no device, not an error.
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

/// "13.0" of 13000.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string driver_problem() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  cudaGetLastError();  // otherwise the next call would report it
  if (status == cudaSuccess || status == cudaErrorNoDevice) return {};
  if (status != cudaErrorInsufficientDriver) return cudaGetErrorString(status);
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  // No driver at all is version 0.
  if (driver == 0) return {};
  return "its driver knows CUDA " + version_text(driver) + ", this program needs " + version_text(runtime) +
         ": update the NVIDIA driver";
}

int attribute(cudaDeviceAttr which, int index) {
  int value = 0;
  cuda::check(cudaDeviceGetAttribute(&value, which, index), "asking for an attribute of the device");
  return value;
}
std::string capability(int index) {
  return std::to_string(attribute(cudaDevAttrComputeCapabilityMajor, index)) + "." +
         std::to_string(attribute(cudaDevAttrComputeCapabilityMinor, index));
}

/// The smallest kernel: if it cannot be loaded, no kernel can.
struct Probe {
  template <class S>
  GARRA_HD void operator()(std::int64_t) const {}
};

std::string missing_kernels(int index) {
  cuda::check(cudaSetDevice(index), "choosing the device");
  cudaFuncAttributes ignored;
  const cudaError_t status = cudaFuncGetAttributes(&ignored, cuda::for_each_kernel<Probe>);
  cudaGetLastError();
  if (status == cudaSuccess) return {};
  return "compute capability " + capability(index) + ": " + cudaGetErrorString(status);
}

// Architectures that the assembler compiled for. A wheel assembles them from one PTX text, and nvcc
// reports only that one.
#ifndef GARRA_CUDA_IMAGES
#define GARRA_CUDA_IMAGES __CUDA_ARCH_LIST__
#endif

/// Code for compute capability 8.0 runs on 8.6 and 8.9; of another major version there is only PTX.
bool translates(int index) {
  constexpr int kCompiledFor[] = {GARRA_CUDA_IMAGES};
  const int major = attribute(cudaDevAttrComputeCapabilityMajor, index),
            minor = attribute(cudaDevAttrComputeCapabilityMinor, index);
  for (const int architecture : kCompiledFor)
    if (architecture / 100 == major && architecture % 100 / 10 <= minor) return false;
  return true;
}

/// Kernels of CUB have no names here. A selection of one number loads them.
void load_selection() {
  cuda::Buffer<unsigned long long> numbers(3);
  cuda::Buffer<int> places(2);
  numbers.clear();
  cuda::select(1, numbers.data(), {places.data(), numbers.data() + 1, numbers.data() + 2});
  cuda::select(1, reinterpret_cast<const bool*>(numbers.data()), {places.data(), places.data() + 1});
}

int load_all(int index) {
  cuda::check(cudaSetDevice(index), "choosing the device");
  cudaFuncAttributes ignored;
  for (const void* kernel : cuda::all_kernels())
    cuda::check(cudaFuncGetAttributes(&ignored, kernel), "loading a kernel");
  load_selection();
  return static_cast<int>(cuda::all_kernels().size());
}

void* allocate(int index, std::size_t bytes) {
  cuda::check(cudaSetDevice(index), "choosing the device");
  void* memory = nullptr;
  cuda::check(cudaMalloc(&memory, bytes), "allocating memory");
  return memory;
}
void release(void* memory) { cudaFree(memory); }
void wait(int index) {
  cuda::check(cudaSetDevice(index), "choosing the device");
  cuda::check(cudaStreamSynchronize(nullptr), "running kernels");
}

std::string drawback(int index) {
  if (attribute(cudaDevAttrComputeCapabilityMajor, index) < kMinMajor)
    return "compute capability " + capability(index) + ", below " + std::to_string(kMinMajor) + ".0";
  const int ratio = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, index);
  if (ratio <= kSlowestDoubles) return {};
  return "double precision at 1/" + std::to_string(ratio) + " of single: the processor is likely faster";
}

std::string device_name(int index) {
  cudaDeviceProp properties;
  cuda::check(cudaGetDeviceProperties(&properties, index), "asking for the device's name");
  return properties.name;
}

std::uint64_t query_free_memory(int index) {
  std::size_t free = 0, total = 0;
  cuda::check(cudaSetDevice(index), "choosing the device");
  cuda::check(cudaMemGetInfo(&free, &total), "asking for free memory");
  return free + cuda::idle_memory(index);
}

// Before main(), as all kernels announce themselves (batch/on_device.hpp).
const bool are_linked = (cuda_runtime = {device_count, device_name, query_free_memory, driver_problem, missing_kernels,
                                         drawback, translates, load_all, allocate, release, wait},
                         true);

}  // namespace

}  // namespace garra
