// The pairs of a merit function and a minimizer, each compiled once for any size.
#pragma once

#include "contact/mcp/oracle.hpp"
#include "contact/mcp/solve.hpp"
#include "garra/core/error.hpp"
#include "garra/solvers/box_quacan.hpp"
#include "garra/solvers/mcp/semismooth_newton.hpp"
#include "garra/solvers/spectral_projected_gradient.hpp"

namespace garra::mcp {

using Solution = solvers::MncpSolution<AskedProblem, double>;

template <class Merit, class Minimizer>
[[gnu::noinline]] Solution run_pair(const Stage& stage, const Options& options, Oracle& oracle, const Numbers& start) {
  const AskedProblem::Given data{&oracle};
  const auto solver = mncp::detail::make_solver<AskedProblem, Merit, Minimizer>(
      {.tolerance = options.tolerance, .starts = stage.starts, .max_iterations = options.max_iterations});
  auto state = solver.template start<double>(data, start);
  while (solver.running(state)) solver.step(state);
  return solvers::certify_mncp<AskedProblem, double>(data, solver.candidate(state), options.tolerance);
}

template <class Merit>
Solution run_merit(const Stage& stage, const Options& options, Oracle& oracle, const Numbers& start) {
  if (stage.minimizer == Stage::Minimizer::kBoxQuacan)
    return run_pair<Merit, solvers::BoxQuacan>(stage, options, oracle, start);
  if (stage.minimizer == Stage::Minimizer::kSpg)
    return run_pair<Merit, solvers::SpectralProjectedGradient>(stage, options, oracle, start);
  return run_pair<Merit, solvers::ProjectedLm>(stage, options, oracle, start);
}

// One file each.
Solution run_papers(const Stage& stage, const Options& options, Oracle& oracle, const Numbers& start);
Solution run_products(const Stage& stage, const Options& options, Oracle& oracle, const Numbers& start);
Solution run_fischer_burmeister(const Stage& stage, const Options& options, Oracle& oracle, const Numbers& start);
Solution run_newton(const Stage& stage, const Options& options, Oracle& oracle, const Numbers& start);

}  // namespace garra::mcp
