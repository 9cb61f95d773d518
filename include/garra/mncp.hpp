// Batches of mixed nonlinear complementarity problems that a user defines: the entry for C++ users, header-only.
//
//   0 <= u ⟂ F(u, v) >= 0,   G(u, v) = 0                                                            (docs/mncp.md)
//
// solve/mncp.hpp says how a problem is written, examples/mncp_market.cpp is one. The merit function and the minimizer
// are template parameters, so that a program compiles only the pair that it uses: one pair costs seconds of compile
// time, all nine cost nine times that. solve_with() and evaluate_with() choose at run time and do instantiate all of
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "garra/batch/for_each.hpp"
#include "garra/batch/refill.hpp"
#include "garra/mncp_batch.hpp"
#include "garra/solve/box_quacan.hpp"
#include "garra/solve/projected_lm.hpp"
#include "garra/solve/spectral_projected_gradient.hpp"

namespace garra::mncp {

namespace detail {

inline constexpr std::int64_t kBlock = 256;  // problems per block, which stay in the L2 cache

/// Iterates `count` problems of one block in SIMD lanes; a finished lane takes the next problem.
template <class P, class Solver>
void iterate_lanes(const IterateBody<P, Solver>& body, std::int64_t count) {
  using S = Lanes<double>;
  const Solver& solver = body.solver;
  const auto start = [&](std::int64_t i) __attribute__((flatten)) {
    const auto given = batch::load<S, Instance<P, S>>(body.instances, i);
    return solver.template start<S>(given.data, given.x);
  };
  const auto step = [&](auto& state) __attribute__((flatten)) { solver.step(state); };
  const auto running = [&](const auto& state) { return solver.running(state); };
  const auto finish = [&](std::int64_t i, const auto& state, int lane) {
    const auto all_lanes = solver.candidate(state);
    solvers::MncpCandidate<P, double> found;
    const double* from = reinterpret_cast<const double*>(&all_lanes) + lane;
    double* to = reinterpret_cast<double*>(&found);
    for (int f = 0; f < static_cast<int>(sizeof(found) / sizeof(double)); ++f) to[f] = from[f * S::kSize];
    batch::store<double>(body.candidates, i, found);
  };
  batch::solve_refilling<double>(count, start, step, running, finish);
}

template <class P, class Solver>
void solve_block(const Solver& solver, Executor executor, const batch::Tiles<Instance<P, double>>& instances,
                 batch::Tiles<solvers::MncpSolution<P, double>>& solutions) {
  const std::int64_t count = instances.count();
  batch::Tiles<solvers::MncpCandidate<P, double>> candidates(count);
  const IterateBody<P, Solver> iterate{solver, instances.data(), candidates.data()};
  const CertifyBody<P> certify{solver.tol, instances.data(), candidates.data(), solutions.data()};
  if (executor == Executor::kScalar) {
    batch::for_each_scalar(count, iterate);
    batch::for_each_scalar(count, certify);
  } else {
    iterate_lanes(iterate, count);
    batch::for_each_lanes(count, certify);
  }
}

/// work(first, how_many) for every block, on the threads of a CPU device.
template <class Work>
void for_each_block(std::int64_t count, const Device& device, const Work& work) {
  if (device.executor == Executor::kCuda)
    throw Error(ExitCode::kNoDevice,
                "mncp: problems that a program defines run on the CPU where the program was compiled so",
                "include garra/mncp_cuda.cuh, compile with nvcc and call solve_on_gpu, or use Executor::kLanes");
  const std::int64_t blocks = (count + kBlock - 1) / kBlock;
#pragma omp parallel for schedule(dynamic) num_threads(solve_threads(device))
  for (std::int64_t k = 0; k < blocks; ++k) work(k * kBlock, std::min(kBlock, count - k * kBlock));
}

}  // namespace detail

/// Solves every problem from its start; a failed problem is a status, never an exception. `start` holds n numbers for
/// all problems or for each. Throws Error where sizes do not match or the device cannot run.
template <class Problem, class Merit = solvers::ComponentwiseMerit, class Minimizer = solvers::ProjectedLm>
[[nodiscard]] Solutions solve(const std::vector<typename Problem::template Data<double>>& problems,
                              const std::vector<double>& start, const Options& options = {},
                              const Device& device = {}) {
  const auto count = static_cast<std::int64_t>(problems.size());
  const detail::Rows rows = detail::rows_of(start, count, solvers::kUnknowns<Problem>);
  const auto solver = detail::make_solver<Problem, Merit, Minimizer>(options);
  Solutions out = detail::make_solutions<Problem>(count);
  detail::for_each_block(count, device, [&](std::int64_t first, std::int64_t size) {
    batch::Tiles<Instance<Problem, double>> instances(size);
    batch::Tiles<solvers::MncpSolution<Problem, double>> solutions(size);
    detail::fill_tiles<Problem>(problems, rows, first, instances, size);
    detail::solve_block<Problem>(solver, device.executor, instances, solutions);
    for (std::int64_t i = 0; i < size; ++i) detail::store_solution<Problem>(first + i, solutions.get(i), out);
  });
  return out;
}

/// Evaluates a merit function of every problem. `points` holds one point for all problems or for each: the unknowns (u,
/// v), to which the slack variables z = max(F, 0) are added, or all variables (u, v, z).
template <class Problem, class Merit = solvers::ComponentwiseMerit>
[[nodiscard]] Values evaluate(const std::vector<typename Problem::template Data<double>>& problems,
                              const std::vector<double>& points, const Device& device = {}) {
  using Body = EvaluateBody<Problem, Merit>;
  constexpr int V = Body::kVariables;
  const auto count = static_cast<std::int64_t>(problems.size());
  const detail::Rows rows = detail::points_of<Problem, Merit>(points, count);
  Values out = detail::make_values<Problem, Merit>(count);
  detail::for_each_block(count, device, [&](std::int64_t first, std::int64_t size) {
    batch::Tiles<Instance<Problem, double, V>> instances(size);
    batch::Tiles<PointValue<double, Body::kResiduals, V>> values(size);
    detail::fill_tiles<Problem, V>(problems, rows, first, instances, size);
    const Body body{rows.width == V, instances.data(), values.data()};
    if (device.executor == Executor::kScalar)
      batch::for_each_scalar(size, body);
    else
      batch::for_each_lanes(size, body);
    for (std::int64_t i = 0; i < size; ++i) detail::store_value(first + i, values.get(i), out);
  });
  return out;
}

enum class Merit { kPapers, kComponentwise, kFischerBurmeister };
enum class Minimizer { kBoxQuacan, kSpg, kProjectedLm };

/// A merit function and a minimizer for it. The default solves the most problems of the built-in set (docs/mncp.md, 6).
struct Choice {
  Merit merit = Merit::kComponentwise;
  Minimizer minimizer = Minimizer::kProjectedLm;
};

namespace detail {

template <class Visit>
auto with_merit(Merit merit, const Visit& visit) {
  if (merit == Merit::kPapers) return visit(std::type_identity<solvers::PapersMerit>{});
  if (merit == Merit::kComponentwise) return visit(std::type_identity<solvers::ComponentwiseMerit>{});
  return visit(std::type_identity<solvers::FischerBurmeisterMerit>{});
}
template <class Visit>
auto with_minimizer(Minimizer minimizer, const Visit& visit) {
  if (minimizer == Minimizer::kBoxQuacan) return visit(std::type_identity<solvers::BoxQuacan>{});
  if (minimizer == Minimizer::kSpg) return visit(std::type_identity<solvers::SpectralProjectedGradient>{});
  return visit(std::type_identity<solvers::ProjectedLm>{});
}

}  // namespace detail

/// solve() with a pair that is chosen at run time.
template <class Problem>
[[nodiscard]] Solutions solve_with(const Choice& choice,
                                   const std::vector<typename Problem::template Data<double>>& problems,
                                   const std::vector<double>& start, const Options& options = {},
                                   const Device& device = {}) {
  return detail::with_merit(choice.merit, [&]<class M>(std::type_identity<M>) {
    return detail::with_minimizer(choice.minimizer, [&]<class Min>(std::type_identity<Min>) {
      return solve<Problem, M, Min>(problems, start, options, device);
    });
  });
}

/// evaluate() of a merit function that is chosen at run time.
template <class Problem>
[[nodiscard]] Values evaluate_with(Merit merit, const std::vector<typename Problem::template Data<double>>& problems,
                                   const std::vector<double>& points, const Device& device = {}) {
  return detail::with_merit(
      merit, [&]<class M>(std::type_identity<M>) { return evaluate<Problem, M>(problems, points, device); });
}

}  // namespace garra::mncp
