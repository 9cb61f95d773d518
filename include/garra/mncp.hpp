// Solves batches of user-defined mixed complementarity problems 0 <= u ⟂ F(u, v) >= 0, G(u, v) = 0.
// Header-only.
// Takes: a problem type, the data of each problem, and an initial guess (u, v), [n] for all or
// [count][n].
// Gives: unknowns x = (u, v) [count][n], F and G at x, residual and one Status per problem.
// Units and frames: the user's units; u before v; problems and unknowns count from 0.
// Bad input: wrong sizes throw Error. A problem that fails has a Status and NaN unknowns.
// Not for: GPUs (mncp_cuda.cuh), contact problems (contact.hpp) or linear ones (lcp.hpp).
// Docs: docs/theory/mncp.md; examples/mncp_market.cpp.
//
// A problem type P (solvers/mncp.hpp) has constants kComplementary (length of u) and kFree (of v),
// a template struct Data<S> whose members are all S, and evaluate<S>(data, x), which returns (F,
// G). Derivatives are automatic.
//
// The merit function and the minimizer are template parameters: a program compiles only the pair
// that it uses. One pair takes seconds to compile. solve_with() and evaluate_with() choose at run
// time and instantiate all nine pairs.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "garra/batch/refill.hpp"
#include "garra/batch/rows_run.hpp"
#include "garra/mncp_batch.hpp"
#include "garra/solvers/box_quacan.hpp"
#include "garra/solvers/projected_lm.hpp"
#include "garra/solvers/spectral_projected_gradient.hpp"

namespace garra::mncp {

namespace detail {

inline constexpr std::int64_t kBlock = 256;  // problems per block, which stay in the L2 cache

/// Rows of one block of problems: inputs, candidates and solutions.
template <class P>
struct Block : batch::RowTiles<Instance<P, double>, solvers::MncpSolution<P, double>> {
  Block(const batch::Rows& job, std::int64_t most)
      : batch::RowTiles<Instance<P, double>, solvers::MncpSolution<P, double>>(job, most), candidates(most) {}
  batch::Tiles<solvers::MncpCandidate<P, double>> candidates;
};

template <class P, class Solver>
void solve_block(const Solver& solver, Executor executor, Block<P>& block, std::int64_t count) {
  const IterateKernel<P, Solver> iterate{solver, block.in(), block.candidates.data()};
  const CertifyKernel<P> certify{solver.tolerance, block.in(), block.candidates.data(), block.out()};
  if (executor == Executor::kScalar)
    batch::for_each_scalar(count, iterate);
  else
    batch::iterate_lanes(iterate, count);
  batch::for_each(executor, count, certify);
}

inline void require_cpu(const Device& device) {
  if (device.executor == Executor::kCuda)
    throw Error(ExitCode::kNoDevice,
                "mncp: problems that a program defines run on the CPU where the program was compiled so",
                "include garra/mncp_cuda.cuh, compile with nvcc and call solve_on_gpu, or use Executor::kLanes");
}

}  // namespace detail

/// Solves every problem from its initial guess.
/// @param problems data of each problem.
/// @param start initial guess: n unknowns (u, v) for all problems, or [count][n].
/// @param options tolerance, starts and iteration limits.
/// @param device a CPU executor.
/// @return unknowns and one Status per problem. A problem that fails is a Status, never an
///         exception.
/// @throws Error kUsage for the size of start, kNoDevice for Executor::kCuda.
template <class Problem, class Merit = solvers::ComponentwiseMerit, class Minimizer = solvers::ProjectedLm>
[[nodiscard]] Solutions solve(const std::vector<typename Problem::template Data<double>>& problems,
                              const std::vector<double>& start, const Options& options = {},
                              const Device& device = {}) {
  const auto count = static_cast<std::int64_t>(problems.size());
  const batch::InColumn starts = detail::make_in_column(start, count, solvers::kUnknowns<Problem>);
  detail::require_cpu(device);
  const auto solver = detail::make_solver<Problem, Merit, Minimizer>(options);
  Solutions out = detail::make_solutions<Problem>(count);
  batch::Rows rows = detail::make_instances<Problem>(problems, starts, device);
  rows.out = detail::make_columns(out);
  using Block = detail::Block<Problem>;
  batch::run_tiles(
      rows, detail::kBlock, [&](std::int64_t most) { return Block(rows, most); },
      [&](Block& block, std::int64_t size) { detail::solve_block<Problem>(solver, device.executor, block, size); });
  return out;
}

/// Evaluates a merit function of every problem.
/// @param problems data of each problem.
/// @param points one point for all problems, or one for each: (u, v), or (u, v, z) with the slack z
///         of the merit function. A missing z is max(F, 0).
/// @return value, gradient and residual per problem.
/// @throws Error kUsage for the size of points, kNoDevice for Executor::kCuda.
template <class Problem, class Merit = solvers::ComponentwiseMerit>
[[nodiscard]] Values evaluate(const std::vector<typename Problem::template Data<double>>& problems,
                              const std::vector<double>& points, const Device& device = {}) {
  using Body = EvaluateKernel<Problem, Merit>;
  constexpr int V = Body::kVariables;
  const auto count = static_cast<std::int64_t>(problems.size());
  const batch::InColumn column = detail::make_point_column<Problem, Merit>(points, count);
  detail::require_cpu(device);
  Values out = detail::make_values<Problem, Merit>(count);
  batch::Rows rows = detail::make_instances<Problem, V>(problems, column, device);
  rows.out = detail::make_columns(out);
  using Tiles = batch::RowTiles<Instance<Problem, double, V>, PointValue<double, Body::kResiduals, V>>;
  batch::run_tiles(
      rows, detail::kBlock, [&](std::int64_t most) { return Tiles(rows, most); },
      [&](Tiles& tiles, std::int64_t size) {
        batch::for_each(device.executor, size, Body{column.width == V, tiles.in(), tiles.out()});
      });
  return out;
}

enum class Merit { kPapers, kComponentwise, kFischerBurmeister };
enum class Minimizer { kBoxQuacan, kSpg, kProjectedLm };

/// Merit function and minimizer. The default solves the most problems of the built-in set
/// (docs/theory/mncp.md, 6).
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

/// solve() with a merit function and a minimizer chosen at run time. @throws Error as solve().
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

/// evaluate() with a merit function chosen at run time. @throws Error as evaluate().
template <class Problem>
[[nodiscard]] Values evaluate_with(Merit merit, const std::vector<typename Problem::template Data<double>>& problems,
                                   const std::vector<double>& points, const Device& device = {}) {
  return detail::with_merit(
      merit, [&]<class M>(std::type_identity<M>) { return evaluate<Problem, M>(problems, points, device); });
}

}  // namespace garra::mncp
