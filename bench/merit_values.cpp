// Merit functions of contact problems (docs/theory/friction-merit.md, "Values"): value, gradient and projected gradient
// on one core. `cache`: 256 problems in tiles, without copies; counters: ns per problem; flops, operations counted, a
// fused multiply-add being two; of_fma, their share of what the core multiplies at best. `arrays`: a million problems
// of the caller's arrays; of_copy, the share of what memcpy moves, of the bytes that the call has to read and write.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "contact/batch/lanes.hpp"
#include "contact/merit/op.hpp"
#include "contact/problems/classes.hpp"
#include "counting.hpp"
#include "garra/batch/rows.hpp"
#include "garra/contact_gradient.hpp"
#include "measured_peak.hpp"

namespace garra::bench {
namespace {

constexpr int kContacts = 3;
constexpr std::int64_t kInCache = 256, kMany = 1 << 18;

/// Of this process: another program on the core does not count.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <contact::Merit M>
using Op = contact::MeritOp<M, kContacts>;

/// Problems in tiles, at forces that solve nothing.
template <contact::Merit M>
batch::Tiles<typename Op<M>::template In<double>> tiles_of(const contact::Problems& p) {
  batch::Tiles<typename Op<M>::template In<double>> tiles(kInCache);
  for (std::int64_t i = 0; i < kInCache; ++i) {
    typename Op<M>::template In<double> in;
    std::copy_n(p.A.data() + 81 * i, 81, in.problem.A.m);
    std::copy_n(p.b.data() + 9 * i, 9, in.problem.b.m);
    std::copy_n(p.mu.data() + 3 * i, 3, in.problem.mu.m);
    for (int k = 0; k < 9; ++k) in.c[k] = k % 3 == 0 ? 0.5 : 0.1;
    in.x = decltype(in.x)::zero();
    tiles.set(i, in);
  }
  return tiles;
}

template <contact::Merit M>
double flops(const contact::Problems& p) {
  operations = {};
  typename Op<M>::template In<Counted> in;
  std::copy_n(p.A.data(), 81, in.problem.A.m);
  std::copy_n(p.b.data(), 9, in.problem.b.m);
  std::copy_n(p.mu.data(), 3, in.problem.mu.m);
  for (int k = 0; k < 9; ++k) in.c[k] = k % 3 == 0 ? 0.5 : 0.1;
  benchmark::DoNotOptimize(Op<M>{true}(in));
  return operations.flops();
}

template <contact::Merit M>
void from_cache(benchmark::State& state) {
  const contact::Problems problems = random_grasps({kContacts, kInCache, 0});
  auto in = tiles_of<M>(problems);
  batch::Tiles<typename Op<M>::template Out<double>> out(kInCache);
  const batch::RowsKernel<Op<M>> body{{true}, in.data(), out.data()};
  const double peak = peak_flops(), each = flops<M>(problems);
  const double start = processor_seconds();
  for (auto _ : state) {
    batch::for_each_lanes(kInCache, body);
    benchmark::ClobberMemory();
  }
  const double seconds = (processor_seconds() - start) / static_cast<double>(state.iterations() * kInCache);
  state.counters["ns"] = 1e9 * seconds;
  state.counters["flops"] = each;
  state.counters["of_fma"] = each / seconds / peak;
}

/// Bytes per second of memcpy, read and written, of arrays as large.
double copy_rate(std::size_t bytes) {
  const std::vector<char> from(bytes, 1);
  std::vector<char> to(bytes);
  double best = 0;
  for (int trial = 0; trial < 5; ++trial) {
    const double start = processor_seconds();
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::DoNotOptimize(to.data());
    best = std::max(best, 2 * static_cast<double>(bytes) / (processor_seconds() - start));
  }
  return best;
}

template <contact::Merit M>
void from_arrays(benchmark::State& state) {
  const contact::Problems problems = random_grasps({kContacts, kMany, 0});
  const std::vector<double> c(problems.b.size(), 0.3);
  const int v = contact::merit_variables(M, kContacts);
  // A, b, mu and c are read; value, projected gradient, x and gradient are written.
  const double bytes = 8.0 * (81 + 9 + 3 + 9 + 2 + 2 * v), copies = copy_rate(std::size_t{1} << 28);
  contact::MeritValues out;
  contact::merit(problems, c, M, {Executor::kLanes, 1}, out);  // its memory is there from now on, as in a loop
  const double start = processor_seconds();
  for (auto _ : state) contact::merit(problems, c, M, {Executor::kLanes, 1}, out);
  const double seconds = (processor_seconds() - start) / static_cast<double>(state.iterations() * kMany);
  state.counters["ns"] = 1e9 * seconds;
  state.counters["of_copy"] = bytes / seconds / copies;
}

template <contact::Merit M>
void register_merit() {
  const std::string name = std::string("merit/") + name_of(M);
  benchmark::RegisterBenchmark((name + "/cache").c_str(), from_cache<M>);
  benchmark::RegisterBenchmark((name + "/arrays").c_str(), from_arrays<M>)->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace garra::bench

int main(int argc, char** argv) {
  using garra::contact::Merit;
  garra::bench::register_merit<Merit::kPapers>();
  garra::bench::register_merit<Merit::kProducts>();
  garra::bench::register_merit<Merit::kFischerBurmeister>();
  garra::bench::register_merit<Merit::kSecondOrderCone>();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
