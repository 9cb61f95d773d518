// Arrays on the GPU for tests, in whatever strides.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "garra/batch/resident.hpp"

namespace garra::test {

/// How the rows of an array lie.
enum class Layout {
  kRows,      ///< one after another
  kFields,    ///< field after field: coalesced for a thread per row
  kWithGaps,  ///< rows with other memory between them, numbers too
};

/// `count` rows of `width` numbers on the GPU; what lies between them is NaN, and stays so.
template <class T>
class OnGpu {
 public:
  OnGpu(std::int64_t count, int width, Layout layout = Layout::kRows) : count_(count), width_(width) {
    if (layout == Layout::kFields) row_ = 1, number_ = count;
    if (layout == Layout::kRows) row_ = width, number_ = 1;
    if (layout == Layout::kWithGaps) row_ = 2 * width + 3, number_ = 2;
    size_ = static_cast<std::size_t>((count - 1) * row_ + (width - 1) * number_ + 1);
    if (count * width == 0) size_ = 0;
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data_), size_ * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemset(data_, 0xff, size_ * sizeof(T)), cudaSuccess);
  }
  OnGpu(const std::vector<T>& rows, std::int64_t count, int width, Layout layout = Layout::kRows)
      : OnGpu(count, width, layout) {
    std::vector<T> all = everything();
    for (std::int64_t i = 0; i < count * width; ++i)
      all[static_cast<std::size_t>(i / width * row_ + i % width * number_)] = rows[static_cast<std::size_t>(i)];
    EXPECT_EQ(cudaMemcpy(data_, all.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  ~OnGpu() { cudaFree(data_); }

  operator DeviceArray<T>() const { return {data_, row_, number_}; }
  operator DeviceArray<const T>() const { return {data_, row_, number_}; }
  /// Row by row.
  [[nodiscard]] std::vector<T> rows() const {
    const std::vector<T> all = everything();
    std::vector<T> out;
    for (std::int64_t i = 0; i < count_ * width_; ++i)
      out.push_back(all[static_cast<std::size_t>(i / width_ * row_ + i % width_ * number_)]);
    return out;
  }
  /// As it lies there.
  [[nodiscard]] std::vector<T> everything() const {
    std::vector<T> all(size_);
    EXPECT_EQ(cudaMemcpy(all.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return all;
  }

 private:
  std::int64_t count_, row_ = 0, number_ = 1;
  int width_;
  std::size_t size_ = 0;
  T* data_ = nullptr;
};

/// A stream and a workspace for calls of as many bytes.
class Place {
 public:
  explicit Place(std::size_t bytes) : workspace_(static_cast<std::int64_t>(bytes) + kGuard, 1) {
    EXPECT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
    call_.stream = stream_;
    call_.workspace = static_cast<DeviceArray<unsigned char>>(workspace_).data;
    call_.bytes = bytes;
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    const std::vector<unsigned char> all = workspace_.everything();
    for (std::size_t k = call_.bytes; k < all.size(); ++k) EXPECT_EQ(all[k], 0xff) << "written beyond the workspace";
    cudaStreamDestroy(stream_);
  }
  [[nodiscard]] const DeviceCall& call() const { return call_; }
  void wait() const { EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess); }

 private:
  static constexpr std::int64_t kGuard = 4096;
  OnGpu<unsigned char> workspace_;
  cudaStream_t stream_ = nullptr;
  DeviceCall call_;
};

}  // namespace garra::test
