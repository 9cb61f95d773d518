// Defines options, solutions and loop bodies of batches of mixed complementarity problems, for
// every executor.
// Takes: the data of each problem and an initial guess x = (u, v), [n] or [count][n].
// Gives: Solutions (x, F and G, residual, Status) and Values (f, gradient, residual) per problem;
// solve_one() solves one.
// Units and frames: the user's units; u before v; problems and unknowns count from 0.
// Bad input: a wrong size of the initial guess throws Error(kUsage). A problem that fails has a
// Status and NaN unknowns.
// Not for: direct inclusion: use mncp.hpp on the CPU or mncp_cuda.cuh on a GPU.
// Docs: docs/theory/mncp.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/batch/rows.hpp"
#include "garra/core/error.hpp"
#include "garra/solvers/mncp.hpp"

namespace garra::mncp {

/// Options of solve().
struct Options {
  double tolerance = 1e-8;    ///< converged: residual <= tolerance
  int starts = 1;             ///< starts before a problem counts as unsolved
  int max_iterations = 0;     ///< outer iterations of one start; 0: the minimizer's own limit
  bool check_iterate = true;  ///< false: only the minimizer's own tests stop the iteration, as in the papers
  bool zero_slack = false;    ///< start from z = 0, as in the papers, instead of z = max(F, 0)
};

/// Solutions of a batch of problems with n unknowns x = (u, v) each.
struct Solutions {
  int unknowns = 0;
  std::int64_t count = 0;
  std::vector<double> x;                   ///< [count][n]; NaN where not converged
  std::vector<double> FG;                  ///< [count][n] F and G at x; NaN where not converged
  std::vector<double> residual;            ///< [count] largest |min(u_i, F_i)| and |G_j|, in the user's units
  std::vector<double> minimum;             ///< [count] final value of the merit function
  std::vector<double> projected_gradient;  ///< [count] norm of its projected gradient
  std::vector<Status> status;              ///< [count]
  std::vector<std::int32_t> outer;         ///< [count] outer iterations over all starts: BoxIt of the papers
  std::vector<std::int32_t> evaluations;   ///< [count] FunEval
  std::vector<std::int32_t> inner;         ///< [count] QuacanIt
  std::vector<std::int32_t> products;      ///< [count] MatxVec
  std::vector<std::int32_t> stage;         ///< [count] starts used before the last one
  std::vector<std::int32_t> stalls;        ///< [count] starts that ended without a solution

  /// Fraction of the problems that converged; 1 for an empty batch.
  [[nodiscard]] double solved_share() const {
    std::int64_t solved = 0;
    for (const Status s : status) solved += s == Status::kConverged;
    return count == 0 ? 1.0 : static_cast<double>(solved) / static_cast<double>(count);
  }
  /// Fraction of all starts that ended without a solution: at a stationary point with merit f > 0,
  /// or at the iteration limit.
  [[nodiscard]] double stall_share() const {
    double failed = 0, used = 0;
    for (std::size_t i = 0; i < status.size(); ++i) {
      failed += stalls[i];
      used += 1.0 + stage[i];
    }
    return used == 0 ? 0.0 : failed / used;
  }
};

/// Values of a merit function of a batch at given points.
struct Values {
  int variables = 0, residuals = 0;
  std::int64_t count = 0;
  std::vector<double> f;         ///< [count] |residual|^2
  std::vector<double> gradient;  ///< [count][variables]
  std::vector<double> residual;  ///< [count][residuals] terms of the merit function
};

/// One problem with its initial guess or point, in the layout of a batch.
template <class P, class S, int V = solvers::kUnknowns<P>>
struct Instance {
  [[no_unique_address]] typename P::template Data<S> data;
  Vec<S, V> x;
};

/// Merit function, gradient and residual of one problem at one point.
template <class S, int R, int V>
struct PointValue {
  S f;
  Vec<S, V> gradient;
  Vec<S, R> residual;
};

/// Body of the iteration on one problem (scalar executor, GPU thread).
template <class P, class Solver>
struct IterateKernel {
  Solver solver;
  const double* instances;
  double* candidates;

  /// Initial state of the iteration on problem i.
  template <class S>
  GARRA_HD auto start(std::int64_t i) const {
    const auto given = batch::load<S, Instance<P, S>>(instances, i);
    return solver.template start<S>(given.data, given.x);
  }

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    auto state = start<S>(i);
    while (any(solver.running(state))) solver.step(state);
    batch::store<S>(candidates, i, solver.candidate(state));
  }
};

/// Body of the certificate.
template <class P>
struct CertifyKernel {
  double tolerance;
  const double* instances;
  const double* candidates;
  double* solutions;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto given = batch::load<S, Instance<P, S>>(instances, i);
    const auto found = batch::load<S, solvers::MncpCandidate<P, S>>(candidates, i);
    batch::store<S>(solutions, i, solvers::certify_mncp<P, S>(given.data, found, tolerance));
  }
};

/// Body of the evaluation of a merit function. `whole`: points include the slack variables.
template <class P, class Merit>
struct EvaluateKernel {
  template <class S>
  using View = typename Merit::template View<P, S>;
  static constexpr int kVariables = View<double>::kVariables, kResiduals = View<double>::kResiduals;

  bool whole;
  const double* instances;
  double* values;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto given = batch::load<S, Instance<P, S, kVariables>>(instances, i);
    const View<S> view(given.data);
    const auto x = whole ? given.x : view.lift(solvers::mncp_detail::head<P>(given.x));
    PointValue<S, kResiduals, kVariables> out;
    out.residual = view.residual(x);
    out.f = dot(out.residual, out.residual);
    out.gradient = solvers::gradient(view.jacobian(x), out.residual);
    batch::store<S>(values, i, out);
  }
};

namespace detail {

template <class P>
using DataOf = typename P::template Data<double>;
template <class P, class Merit, class Minimizer>
using SolverOf = solvers::MncpSolver<P, Merit, Minimizer>;

template <class P, class Merit, class Minimizer>
SolverOf<P, Merit, Minimizer> make_solver(const Options& options) {
  SolverOf<P, Merit, Minimizer> solver;
  if (options.max_iterations > 0) solver.minimizer.max_iterations = options.max_iterations;
  solver.tolerance = options.tolerance;
  solver.starts = options.starts;
  solver.check_iterate = options.check_iterate;
  solver.zero_slack = options.zero_slack;
  return solver;
}

/// Column of `width` numbers, shared by all problems or one row for each. @throws Error(kUsage) for
/// another size.
inline batch::InColumn make_in_column(const std::vector<double>& values, std::int64_t count, int width) {
  const auto w = static_cast<std::size_t>(width);
  const bool each = values.size() == static_cast<std::size_t>(count) * w;
  if (!each && values.size() != w)
    throw Error(ExitCode::kUsage, "mncp: start has " + std::to_string(values.size()) + " numbers",
                "give " + std::to_string(width) + " for all problems or " + std::to_string(width) +
                    " for each of the " + std::to_string(count));
  return {values.data(), width, !each};
}

/// Instances of V variables. Variables that `start` lacks are 0.
template <class P, int V = solvers::kUnknowns<P>>
batch::Rows make_instances(const std::vector<DataOf<P>>& problems, const batch::InColumn& start, const Device& device) {
  const auto* data = reinterpret_cast<const double*>(problems.data());
  return {static_cast<std::int64_t>(problems.size()),
          {{data, batch::kFields<double, DataOf<P>>}, start, {nullptr, V - start.width}},
          {},
          device};
}

template <class P>
Solutions make_solutions(std::int64_t count) {
  Solutions out;
  out.unknowns = solvers::kUnknowns<P>;
  out.count = count;
  const auto c = static_cast<std::size_t>(count);
  for (auto* v : {&out.x, &out.FG}) v->resize(c * static_cast<std::size_t>(out.unknowns));
  for (auto* v : {&out.residual, &out.minimum, &out.projected_gradient}) v->resize(c);
  for (auto* v : {&out.outer, &out.evaluations, &out.inner, &out.products, &out.stage, &out.stalls}) v->resize(c);
  out.status.resize(c);
  return out;
}

/// Columns in the order of the members of MncpSolution.
inline std::vector<batch::OutColumn> make_columns(Solutions& out) {
  using batch::out_column;
  return {out_column(out.x, out.unknowns),
          out_column(out.FG, out.unknowns),
          out_column(out.residual),
          out_column(out.minimum),
          out_column(out.projected_gradient),
          out_column(out.status),
          out_column(out.outer),
          out_column(out.evaluations),
          out_column(out.inner),
          out_column(out.products),
          out_column(out.stage),
          out_column(out.stalls)};
}

template <class P, class Merit>
Values make_values(std::int64_t count) {
  using Body = EvaluateKernel<P, Merit>;
  Values out;
  out.variables = Body::kVariables;
  out.residuals = Body::kResiduals;
  out.count = count;
  const auto c = static_cast<std::size_t>(count);
  out.f.resize(c);
  out.gradient.resize(c * static_cast<std::size_t>(out.variables));
  out.residual.resize(c * static_cast<std::size_t>(out.residuals));
  return out;
}

/// Columns in the order of the members of PointValue.
inline std::vector<batch::OutColumn> make_columns(Values& out) {
  using batch::out_column;
  return {out_column(out.f), out_column(out.gradient, out.variables), out_column(out.residual, out.residuals)};
}

/// Column of points: (u, v), which the body completes by slack variables, or all V variables of the
/// merit function. V numbers that are also n per problem count as (u, v).
template <class P, class Merit>
batch::InColumn make_point_column(const std::vector<double>& points, std::int64_t count) {
  constexpr int n = solvers::kUnknowns<P>, V = EvaluateKernel<P, Merit>::kVariables;
  const auto c = static_cast<std::size_t>(count);
  const bool whole = points.size() == c * V || (points.size() == V && points.size() != c * n);
  return make_in_column(points, count, whole ? V : n);
}

}  // namespace detail

/// Solves and certifies a single problem in the calling thread, with the bits of Executor::kScalar.
/// @param data the problem.
/// @param start initial guess [n].
/// @return solution with its Status.
template <class Problem, class Merit, class Minimizer>
[[nodiscard]] solvers::MncpSolution<Problem, double> solve_one(const typename Problem::template Data<double>& data,
                                                               const solvers::MncpVec<Problem, double>& start,
                                                               const Options& options = {}) {
  const auto solver = detail::make_solver<Problem, Merit, Minimizer>(options);
  auto state = solver.template start<double>(data, start);
  while (solver.running(state)) solver.step(state);
  return solvers::certify_mncp<Problem, double>(data, solver.candidate(state), options.tolerance);
}

}  // namespace garra::mncp
