// The executor `cuda`, and the only __global__ function: one thread per problem runs the body that the scalar executor
// runs. For files that nvcc compiles.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "garra/core/error.hpp"
#include "garra/core/hd.hpp"

namespace garra::cuda {

inline constexpr int kThreads = 64;  ///< per block: the bodies are register-bound, so small blocks fill an SM best

// One block at least on a multiprocessor, not more: told nothing, the assembler gave the largest bodies 32 registers,
// and spilled 45 kB.
template <class Body>
__global__ void __launch_bounds__(kThreads, 1) for_each_kernel(Body body, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) body.template operator()<double>(i);
}

/// What helps after an error. One that sticks, as of a kernel that failed, is every later call's answer, too.
inline const char* remedy_of(cudaError_t status) {
  if (status == cudaErrorMemoryAllocation) return "free memory on the GPU, or use smaller chunks (sampling.chunk)";
  cudaGetLastError();
  const bool sticks = cudaFree(nullptr) != cudaSuccess;
  return sticks
             ? "this process cannot use the GPU any more: start it again (`garra resume` goes on), or use --device cpu"
             : "use --device cpu";
}
/// Throws Error(kNoDevice) with what the driver says.
inline void check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  throw Error(ExitCode::kNoDevice, std::string("CUDA: ") + doing + ": " + cudaGetErrorString(status),
              remedy_of(status));
}

/// Owning device memory of doubles (or of one object of type T).
template <class T>
class Buffer {
 public:
  explicit Buffer(std::int64_t count) : count_(count) {
    if (count > 0) check(cudaMalloc(&data_, bytes()), "allocating memory");
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }
  [[nodiscard]] T* data() const { return data_; }
  void upload(const T* host) { check(cudaMemcpy(data_, host, bytes(), cudaMemcpyHostToDevice), "copying to the GPU"); }
  void download(T* host) const {
    check(cudaMemcpy(host, data_, bytes(), cudaMemcpyDeviceToHost), "copying from the GPU");
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(T); }
  std::int64_t count_;
  T* data_ = nullptr;
};

/// A body that stays in memory.
template <class Body>
struct Resident {
  const Body* body;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    body->template operator()<S>(i);
  }
};

/// body.operator()<double>(i) for i = 0 .. count - 1. A body too large for a kernel's parameters is put in memory, and
/// waited for.
template <class Body>
void for_each(std::int64_t count, const Body& body) {
  constexpr std::size_t kParameterSpace = 4000;  // [bytes]; CUDA 12.0 knows 4,096
  if (count == 0) return;
  if constexpr (sizeof(Body) > kParameterSpace) {
    Buffer<Body> resident(1);
    resident.upload(&body);
    for_each(count, Resident<Body>{resident.data()});
    check(cudaDeviceSynchronize(), "running a kernel");
  } else {
    const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
    for_each_kernel<<<blocks, kThreads>>>(body, count);
    check(cudaGetLastError(), "starting a kernel");
  }
}

}  // namespace garra::cuda
