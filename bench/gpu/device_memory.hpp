// Arrays on the GPU for bench_gpu.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "garra/batch/resident.hpp"
#include "garra/core/error.hpp"

namespace garra::bench {

inline void check_cuda(cudaError_t status) {
  if (status != cudaSuccess) throw Error(ExitCode::kNoDevice, cudaGetErrorString(status));
}

template <class T>
class OnGpu {
 public:
  explicit OnGpu(std::size_t count) : count_(count) {
    void* at = nullptr;
    check_cuda(cudaMalloc(&at, count * sizeof(T)));
    data_.reset(static_cast<T*>(at));
  }
  explicit OnGpu(const std::vector<T>& values) : OnGpu(values.size()) {
    check_cuda(cudaMemcpy(data_.get(), values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> out(count_);
    check_cuda(cudaMemcpy(out.data(), data_.get(), count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
  }
  operator DeviceArray<T>() const { return {data_.get()}; }
  operator DeviceArray<const T>() const { return {data_.get()}; }
  [[nodiscard]] T* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(T* at) const { cudaFree(at); }
  };
  std::size_t count_;
  std::unique_ptr<T, Free> data_;
};

}  // namespace garra::bench
