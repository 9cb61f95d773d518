// The two limits of a GPU, as kernels: multiply-adds that wait for nothing, and a copy.
#include <algorithm>
#include <chrono>

#include "garra/batch/for_each.cuh"
#include "garra/core/scalar.hpp"
#include "peak.hpp"

namespace garra::bench {

namespace {

constexpr int kSums = 8, kSteps = 2048, kTrials = 5;

/// Eight sums at once, so that no multiply-add waits for the one before.
struct MultiplyAddKernel {
  double factor, term;
  double* out;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    double x[kSums];
    for (int k = 0; k < kSums; ++k) x[k] = 0.5 + 0.01 * k;
    for (int step = 0; step < kSteps; ++step)
#pragma unroll
      for (int k = 0; k < kSums; ++k) x[k] = fma(x[k], factor, term);
    double sum = 0;
    for (int k = 0; k < kSums; ++k) sum += x[k];
    out[i] = sum;
  }
};

struct CopyKernel {
  const double* from;
  double* to;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    to[i] = from[i];
  }
};

struct EmptyKernel {
  template <class S>
  GARRA_HD void operator()(std::int64_t) const {}
};

/// The best of some trials, each waited for.
template <class Body>
double measure_seconds(std::int64_t count, const Body& body) {
  double best = 1e300;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    cuda::for_each(count, body);
    cuda::check(cudaDeviceSynchronize(), "measuring");
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace

GpuPeak measured_gpu_peak(double share) {
  cuda::check(cudaSetDevice(0), "choosing the device");
  const auto threads = std::max<std::int64_t>(64, static_cast<std::int64_t>(share * (1 << 22)));  // 20 ms and more
  const auto numbers = std::max<std::int64_t>(64, static_cast<std::int64_t>(share * (1 << 27)));  // 1 GB each way
  cuda::Buffer<double> from(numbers), to(numbers);
  const double adds = measure_seconds(threads, MultiplyAddKernel{0.999, 0.001, to.data()});
  const double copy = measure_seconds(numbers, CopyKernel{from.data(), to.data()});
  return {2.0 * kSums * kSteps * static_cast<double>(threads) / adds, 16.0 * static_cast<double>(numbers) / copy};
}

double first_launch_seconds() {
  const auto start = std::chrono::steady_clock::now();
  cuda::for_each(1, EmptyKernel{});
  cuda::check(cudaDeviceSynchronize(), "measuring");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace garra::bench
