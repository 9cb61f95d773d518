// For gpu_arrays.py: memory of the GPU, linked into a module of its own beside the simulated GPU.
#include <cuda_runtime_api.h>

#include <cstddef>

extern "C" [[gnu::visibility("default")]] void* gpu_allocate(std::size_t bytes) {
  void* memory = nullptr;
  return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : nullptr;
}

/// Waits for what was queued before, on any stream.
extern "C" [[gnu::visibility("default")]] bool gpu_copy(void* to, const void* from, std::size_t bytes, bool to_gpu) {
  return cudaDeviceSynchronize() == cudaSuccess &&
         cudaMemcpy(to, from, bytes, to_gpu ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost) == cudaSuccess;
}

extern "C" [[gnu::visibility("default")]] void* gpu_stream() {
  cudaStream_t stream = nullptr;
  return cudaStreamCreate(&stream) == cudaSuccess ? stream : nullptr;
}
