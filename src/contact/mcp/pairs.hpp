// The pairs of a merit function and a minimizer, each compiled once for any size.
#pragma once

#include "contact/mcp/row_problem.hpp"
#include "contact/mcp/solve.hpp"
#include "garra/solvers/box_quacan.hpp"
#include "garra/solvers/mcp/semismooth_newton.hpp"
#include "garra/solvers/spectral_projected_gradient.hpp"

namespace garra::mcp {

using AnyProblem = RowProblem<AnyRow>;
using Solution = solvers::MncpSolution<AnyProblem, double>;

/// One pair on one problem.
struct PairJob {
  Stage stage;
  mncp::Options options;
  AnyRow* row;
  const Numbers* start;
};

template <class Merit, class Minimizer>
[[gnu::noinline]] Solution run_pair(const PairJob& job) {
  const AnyProblem::Given data{job.row};
  const auto solver = mncp::detail::make_solver<AnyProblem, Merit, Minimizer>(job.options);
  auto state = solver.template start<double>(data, *job.start);
  while (solver.running(state)) solver.step(state);
  return solvers::certify_mncp<AnyProblem, double>(data, solver.candidate(state), job.options.tolerance);
}

template <class Merit>
Solution run_merit(const PairJob& job) {
  if (job.stage.minimizer == Stage::Minimizer::kBoxQuacan) return run_pair<Merit, solvers::BoxQuacan>(job);
  if (job.stage.minimizer == Stage::Minimizer::kSpg) return run_pair<Merit, solvers::SpectralProjectedGradient>(job);
  return run_pair<Merit, solvers::ProjectedLm>(job);
}

// One file each.
Solution run_papers(const PairJob& job);
Solution run_products(const PairJob& job);
Solution run_fischer_burmeister(const PairJob& job);
Solution run_newton(const PairJob& job);

/// The pair of the job's stage.
[[nodiscard]] Solution run_stage(const PairJob& job);
/// Unknowns that a problem of `size` takes with a minimizer: BOX-QUACAN works in strands. Those above are fixed at 0.
[[nodiscard]] int padded_size(Stage::Minimizer minimizer, int size);

}  // namespace garra::mcp
