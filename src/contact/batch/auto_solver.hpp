// Limits of the method `auto`, for problems in tiles.
#pragma once

#include "garra/contact.hpp"
#include "garra/solvers/friction_newton.hpp"

namespace garra::contact {

/// Iterations if no limit is given: with bounded effort, and without a bound.
inline constexpr int kBoundedIterations = 3000, kFullIterations = 1 << 30;
[[nodiscard]] constexpr int own_limit(bool full_effort) { return full_effort ? kFullIterations : kBoundedIterations; }

/// Newton's method, which the fallback solvers follow, by the options of a study or a simulation.
[[nodiscard]] inline solvers::FrictionNewton make_auto_solver(const Options& options) {
  solvers::FrictionNewton solver;
  solver.tolerance = options.tolerance;
  solver.full = options.full_effort;
  if (options.max_iterations > 0)
    solver.max_iterations = options.max_iterations;
  else if (solver.full)
    solver.max_iterations = kFullIterations;
  return solver;
}

}  // namespace garra::contact
