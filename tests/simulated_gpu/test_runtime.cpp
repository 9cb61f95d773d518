// The stand-in for the CUDA runtime behaves as the runtime does where it matters: launches run late, errors arrive late
// and stay, and memory is what was allocated.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "simulated_gpu/control.hpp"

namespace simulated_gpu {
namespace {

struct Runtime : testing::Test {
  ~Runtime() override { recover(); }
};

TEST_F(Runtime, ReadsEveryKernelOfTheLibrary) { EXPECT_GE(read_all_kernels(), 200); }

TEST_F(Runtime, CopiesBetweenTheHostAndWhatWasAllocatedOnly) {
  const std::vector<double> in = {1, 2, 3};
  std::vector<double> out(3);
  double* on_device = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&on_device), 24), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(out.data(), on_device, 24, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_TRUE(std::isnan(out[0])) << "never written";
  EXPECT_EQ(cudaMemcpy(on_device, in.data(), 24, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(out.data(), on_device, 24, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(out, in);
  EXPECT_EQ(cudaMemcpy(out.data(), on_device + 1, 24, cudaMemcpyDeviceToHost), cudaErrorInvalidValue) << "too long";
  EXPECT_EQ(cudaMemcpy(out.data(), in.data(), 24, cudaMemcpyDeviceToHost), cudaErrorInvalidValue) << "of the host";
  EXPECT_EQ(cudaMemcpy(on_device, on_device, 24, cudaMemcpyHostToDevice), cudaErrorInvalidValue) << "mixed up";
  EXPECT_EQ(cudaFree(on_device), cudaSuccess);
  EXPECT_EQ(cudaFree(on_device), cudaErrorInvalidValue) << "twice";
  EXPECT_EQ(cudaMemcpy(out.data(), on_device, 24, cudaMemcpyDeviceToHost), cudaErrorInvalidValue) << "given back";
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
}

TEST_F(Runtime, MemoryOfOneDeviceIsNoneOfAnother) {
  ASSERT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice) << "there is one unless a test wants more";
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  set_devices(2);
  int count = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 2);
  double* at = nullptr;
  double x = 1;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&at), 8), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(at, &x, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "another device's error";
  EXPECT_EQ(cudaMemcpy(at, &x, 8, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaFree(at), cudaSuccess);
  set_devices(1);
}

TEST_F(Runtime, HasNoMoreMemoryThanItSays) {
  const std::size_t before = memory();
  set_memory(1 << 20);
  std::size_t free = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(total, 1u << 20);
  void* at = nullptr;
  EXPECT_EQ(cudaMalloc(&at, free + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "an error that passes is told once";
  set_memory(before);
}

TEST_F(Runtime, RunsAStreamsCopiesInItsOrderAndWaitsForNoOther) {
  std::vector<double> in = {1, 2, 3}, out(3);
  double* at = nullptr;
  cudaStream_t one = nullptr, other = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&at), 24), cudaSuccess);
  EXPECT_EQ(cudaStreamCreate(&one), cudaSuccess);
  EXPECT_EQ(cudaStreamCreate(&other), cudaSuccess);
  EXPECT_NE(one, other);
  EXPECT_EQ(cudaMemcpyAsync(at, in.data(), 24, cudaMemcpyHostToDevice, one), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(out.data(), at, 24, cudaMemcpyDeviceToHost, one), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(one), cudaSuccess);
  EXPECT_EQ(out, in);
  EXPECT_EQ(cudaStreamDestroy(one), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  EXPECT_EQ(cudaFree(at), cudaSuccess);
}

TEST_F(Runtime, ReadsAndWritesPinnedMemoryAsLateAsItMay) {
  double *at = nullptr, *pinned = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&at), 8), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(reinterpret_cast<void**>(&pinned), 16, cudaHostAllocPortable), cudaSuccess);
  EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  pinned[0] = 1;
  EXPECT_EQ(cudaMemcpyAsync(at, pinned, 8, cudaMemcpyHostToDevice, stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(pinned + 1, at, 8, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_TRUE(std::isnan(pinned[1])) << "nobody has waited";
  pinned[0] = 2;
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(pinned[1], 2) << "what was written before the copy was done";
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaErrorInvalidValue) << "twice";
  EXPECT_EQ(cudaFree(at), cudaSuccess);
}

TEST_F(Runtime, DiesForGoodWhereADeviceIsLost) {
  double *at = nullptr, x = 1;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&at), 8), cudaSuccess);
  fail(Failure::kCopy, 2);
  EXPECT_EQ(cudaMemcpy(at, &x, 8, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(at, &x, 8, cudaMemcpyHostToDevice), cudaErrorDevicesUnavailable);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorDevicesUnavailable);
  EXPECT_EQ(cudaGetLastError(), cudaErrorDevicesUnavailable);
  EXPECT_EQ(cudaGetLastError(), cudaErrorDevicesUnavailable) << "told as often as one asks";
  recover();
  EXPECT_EQ(cudaFree(at), cudaSuccess);
}

}  // namespace
}  // namespace simulated_gpu
