// What one core can do at best, measured when the program starts: the other programs' answer to bench/peak.cpp.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

#include "garra/core/lanes.hpp"
#include "garra/core/mat.hpp"

namespace garra::bench {

/// Sixteen independent sums of multiply-adds: nothing to wait for.
inline constexpr int kSums = 16, kSteps = 20000;
__attribute__((noinline, flatten)) inline Lanes<double> multiply_add(Lanes<double> factor, Lanes<double> term) {
  Vec<Lanes<double>, kSums> x;
  unrolled(std::make_integer_sequence<int, kSums>{}, [&](auto k) { x[k] = Lanes<double>(0.5 + 0.01 * k); });
  for (int step = 0; step < kSteps; ++step)
    unrolled(std::make_integer_sequence<int, kSums>{}, [&](auto k) { x[k] = fma(x[k], factor, term); });
  Lanes<double> sum = 0.0;
  unrolled(std::make_integer_sequence<int, kSums>{}, [&](auto k) { sum += x[k]; });
  return sum;
}

/// Operations per second of this core, a multiply-add being two, measured now.
inline double peak_flops() {
  double best = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    const Lanes<double> sum = multiply_add(0.999, 0.001);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    benchmark::DoNotOptimize(sum[0]);
    best = std::max(best, 2.0 * kSums * kSteps * Lanes<double>::kSize / took.count());
  }
  return best;
}

}  // namespace garra::bench
