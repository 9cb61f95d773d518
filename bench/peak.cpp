// The limit: fused multiply-adds per second of one core with nothing to wait for. The counter "gflops" counts two
// operations per multiply-add and lane; tools/bench sets the other programs against it.
#include <benchmark/benchmark.h>

#include "garra/core/lanes.hpp"

namespace {

using garra::fma;
using garra::Lanes;

constexpr int kChains = 16;  // independent sums: more than latency times units, fewer than registers
constexpr int kSteps = 4096;

template <class S>
void multiply_add(benchmark::State& state) {
  S x[kChains];
  for (int k = 0; k < kChains; ++k) x[k] = S(0.5 + 0.01 * k);
  // Read from memory, so that nothing is known of them. (DoNotOptimize would leave zeros here: sums that sink to
  // denormal numbers, which some processors handle a hundred times slower.)
  volatile double known_to_nobody[] = {0.999, 0.001};
  const S factor = S(known_to_nobody[0]), term = S(known_to_nobody[1]);
  for (auto _ : state) {
    for (int step = 0; step < kSteps; ++step)
      for (int k = 0; k < kChains; ++k) x[k] = fma(x[k], factor, term);
    for (int k = 0; k < kChains; ++k) benchmark::DoNotOptimize(x[k]);
  }
  const double flops = 2.0 * kChains * kSteps * garra::kWidth<S> * static_cast<double>(state.iterations());
  state.counters["gflops"] = benchmark::Counter(1e-9 * flops, benchmark::Counter::kIsRate);
}

BENCHMARK_TEMPLATE(multiply_add, Lanes<double>)->Name("peak/fma/lanes");
BENCHMARK_TEMPLATE(multiply_add, double)->Name("peak/fma/scalar");

}  // namespace

BENCHMARK_MAIN();
