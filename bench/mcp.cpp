// Complementarity problems with bounds: affine ones by each method, and functions called back. Counters:
//   per_s   problems per second, on one core
//   solved  share of problems with a residual of at most 1e-8
#include <benchmark/benchmark.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "contact/mcp/affine.hpp"

namespace garra::bench {
namespace {

/// F(x) = M x + q with M positive definite and unsymmetric, on 0 <= x <= 1 for every other unknown, x >= 0 for the
/// others.
struct Set {
  int n;
  std::int64_t count;
  std::vector<double> M, q, lower, upper, start;

  Set(int size, std::int64_t rows) : n(size), count(rows) {
    std::mt19937_64 generator(1);
    std::normal_distribution<double> normal;
    const auto width = static_cast<std::size_t>(n);
    for (std::int64_t k = 0; k < count; ++k) {
      std::vector<double> G(width * width);
      for (double& g : G) g = normal(generator) / std::sqrt(n);
      for (std::size_t i = 0; i < width; ++i)
        for (std::size_t j = 0; j < width; ++j) {
          double sum = (i == j ? 0.1 : 0) + G[i * width + j] - G[j * width + i];
          for (std::size_t a = 0; a < width; ++a) sum += G[i * width + a] * G[j * width + a];
          M.push_back(sum);
        }
      for (std::size_t i = 0; i < width; ++i) {
        q.push_back(normal(generator));
        upper.push_back(i % 2 == 0 ? 1 : std::numeric_limits<double>::infinity());
      }
    }
    lower.assign(q.size(), 0);
    start = lower;
  }
};

void report(benchmark::State& state, const Set& set, const mcp::Solutions& found) {
  state.counters["solved"] = found.solved_share();
  state.counters["per_s"] =
      benchmark::Counter(static_cast<double>(set.count), benchmark::Counter::kIsIterationInvariantRate);
}

void run_affine(benchmark::State& state, mcp::AffineMethod method) {
  const int n = static_cast<int>(state.range(0));
  const Set set(n, n < 100 ? 100 : 4);
  mcp::Solutions found;
  for ([[maybe_unused]] auto _ : state)
    found = mcp::solve_affine({set.n, set.count, set.M, set.q, set.lower, set.upper, set.start}, {method},
                              {Executor::kScalar});
  report(state, set, found);
}

/// The same problems as functions, which only multiply.
void run_called_back(benchmark::State& state) {
  const Set set(static_cast<int>(state.range(0)), 1000);
  const auto n = static_cast<std::size_t>(set.n);
  const mcp::Problems problems{set.n,
                               set.count,
                               set.lower,
                               set.upper,
                               set.start,
                               [&](const double* x, double* F) {
                                 for (std::size_t i = 0; i < set.q.size(); ++i) {
                                   F[i] = set.q[i];
                                   for (std::size_t j = 0; j < n; ++j) F[i] += set.M[i * n + j] * x[i / n * n + j];
                                 }
                               },
                               [&](const double*, double* J) { std::copy(set.M.begin(), set.M.end(), J); }};
  mcp::Solutions found;
  for ([[maybe_unused]] auto _ : state) found = mcp::solve(problems);
  report(state, set, found);
}

BENCHMARK_CAPTURE(run_affine, lemke, mcp::AffineMethod::kLemke)->Arg(10)->Arg(50)->Arg(200);
BENCHMARK_CAPTURE(run_affine, pivoting, mcp::AffineMethod::kPivoting)->Arg(10)->Arg(50)->Arg(200);
BENCHMARK_CAPTURE(run_affine, semismooth_newton, mcp::AffineMethod::kSemismoothNewton)->Arg(10)->Arg(50)->Arg(200);
BENCHMARK_CAPTURE(run_affine, interior_point, mcp::AffineMethod::kInteriorPoint)->Arg(10)->Arg(50)->Arg(200);
BENCHMARK(run_called_back)->Arg(3)->Arg(10)->Arg(30);

}  // namespace
}  // namespace garra::bench

BENCHMARK_MAIN();
