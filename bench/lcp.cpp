// LCPs of sliding contacts: garra's Lemke on one core, scalar and lanes, beside Siconos' on the same problems.
//
// The problems are the papers' (45)-(48) for random grasps whose contacts all slide: A~_nn = A_nn - mu (A_nt v_t + A_no
// v_o), unsymmetric. Counters:
//   ns       mean time per problem [ns], arrays in and arrays out; for Siconos the calls of lcp_lexicolemke alone
//   per_s    problems per second on one core
//   solved   share of problems with a scaled residual (solvers::lcp_error) of at most 1e-8, checked here for all alike
//   pivots   garra: mean number of pivots
//   flops    garra: mean number of operations, a fused multiply-add being two; comparisons and selections are not
//   counted
#include "garra/lcp.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <numeric>
#include <string>

#include "contact/problems/classes.hpp"
#include "counting.hpp"
#include "garra/solvers/lcp.hpp"
#include "peers/siconos_lcp.hpp"

namespace garra::bench {
namespace {

constexpr double kSolvedLcp = 1e-8;

template <class S, int N>
solvers::LcpProblem<S, N> lcp_at(const lcp::Problems& in, std::int64_t k) {
  solvers::LcpProblem<S, N> p;
  std::copy_n(in.M.data() + k * N * N, N * N, p.M.m);
  std::copy_n(in.q.data() + k * N, N, p.q.m);
  return p;
}

template <int N>
lcp::Problems sliding_problems(std::int64_t count) {
  const contact::Problems grasps = sliding_grasps(Sliding::all, {N, count});
  lcp::Problems out{N, count, {}, {}};
  for (std::int64_t k = 0; k < count; ++k) {
    solvers::FrictionProblem<double, N> p;
    std::copy_n(grasps.A.data() + k * 9 * N * N, 9 * N * N, p.A.m);
    std::copy_n(grasps.b.data() + k * 3 * N, 3 * N, p.b.m);
    std::copy_n(grasps.mu.data() + k * N, N, p.mu.m);
    solvers::SlidingContacts<double, N> sliding;
    for (int j = 0; j < N; ++j) {
      const double* v = grasps.slip_velocity.data() + (k * N + j) * 2;
      const double speed = std::hypot(v[0], v[1]);
      sliding.v[2 * j] = v[0] / speed;
      sliding.v[2 * j + 1] = v[1] / speed;
    }
    solvers::eliminate_sliding(p, sliding);
    const auto normal = solvers::normal_problem(p);
    out.M.insert(out.M.end(), normal.M.m, normal.M.m + N * N);
    out.q.insert(out.q.end(), normal.q.m, normal.q.m + N);
  }
  return out;
}

/// Share of problems that `z` solves; NaN solves nothing.
template <int N>
double solved_share(const lcp::Problems& in, const std::vector<double>& z) {
  std::int64_t solved = 0;
  for (std::int64_t k = 0; k < in.count; ++k) {
    Vec<double, N> zk;
    std::copy_n(z.data() + k * N, N, zk.m);
    const solvers::LcpCandidate<double, N> found{zk, double(int(Status::kConverged)), 0};
    solved += solvers::certify(lcp_at<double, N>(in, k), found, kSolvedLcp).status == double(int(Status::kConverged));
  }
  return static_cast<double>(solved) / static_cast<double>(in.count);
}

template <int N>
double mean_flops(const lcp::Problems& in) {
  const std::int64_t count = std::min<std::int64_t>(in.count, 1000);
  operations = {};
  for (std::int64_t k = 0; k < count; ++k) benchmark::DoNotOptimize(solvers::Lemke{}.solve(lcp_at<Counted, N>(in, k)));
  return operations.flops() / static_cast<double>(count);
}

void report(benchmark::State& state, double seconds_per_problem, double solved) {
  state.counters["ns"] = 1e9 * seconds_per_problem;
  state.counters["per_s"] = 1 / seconds_per_problem;
  state.counters["solved"] = solved;
}

template <int N>
void run_garra(benchmark::State& state, const lcp::Problems& in, Executor executor) {
  const Device device{executor, 1};
  const lcp::Solutions answers = lcp::solve(in, {}, device);  // also warms up
  double total = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(lcp::solve(in, {}, device));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    state.SetIterationTime(seconds);
    total += seconds;
  }
  const auto count = static_cast<double>(in.count);
  report(state, total / (count * static_cast<double>(state.iterations())), solved_share<N>(in, answers.z));
  state.counters["pivots"] = std::accumulate(answers.pivots.begin(), answers.pivots.end(), 0.0) / count;
  state.counters["flops"] = mean_flops<N>(in);
}

template <int N>
void run_siconos(benchmark::State& state, const lcp::Problems& in) {
  siconos::LcpAnswers answers;
  double total = 0;
  for (auto _ : state) {
    answers = siconos::solve_lcp(in);
    state.SetIterationTime(answers.seconds);
    total += answers.seconds;
  }
  report(state, total / (static_cast<double>(in.count) * static_cast<double>(state.iterations())),
         solved_share<N>(in, answers.z));
}

template <int N>
void register_size() {
  static const lcp::Problems in = sliding_problems<N>(10240);
  const std::string prefix = "lcp/sliding_n" + std::to_string(N) + "/";
  const auto add = [&](const std::string& solver, auto run) {
    benchmark::RegisterBenchmark((prefix + solver).c_str(), run)->UseManualTime()->Unit(benchmark::kMillisecond);
  };
  add("scalar", [](benchmark::State& state) { run_garra<N>(state, in, Executor::kScalar); });
  add("lanes", [](benchmark::State& state) { run_garra<N>(state, in, Executor::kLanes); });
  if (siconos::lcp_available()) add("siconos_lexicolemke", [](benchmark::State& state) { run_siconos<N>(state, in); });
}

}  // namespace
}  // namespace garra::bench

int main(int argc, char** argv) {
  using namespace garra::bench;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  if (!siconos::lcp_available()) std::cerr << "Siconos was not found when this was built: garra alone is measured\n";
  register_size<3>();
  register_size<4>();
  register_size<8>();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
