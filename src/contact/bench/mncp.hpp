// The MNCP test set: every merit function with every minimizer on small problems of known solutions.
#pragma once

#include <string>
#include <vector>

#include "garra/core/status.hpp"

namespace garra::cli {

/// Result of one solver on one problem.
struct MncpResult {
  Status status = Status::kStalled;
  double error = 0;            ///< max over i of |min(u_i, F_i)| and |G_j|
  double seconds = 0;          ///< one solve from the problem's start
  int iterations = 0;          ///< outer ones, over all starts
  int starts = 1;              ///< used, the last one included
  int solution = -1;           ///< index of the listed solution that was found; -1: another one, or none
  std::vector<double> x = {};  ///< the unknowns at the end; NaN if not converged
};

/// One problem of the set with the results of all solvers.
struct MncpProblem {
  std::string name;
  int unknowns = 0;      ///< n = p + m
  int solutions = 0;     ///< listed ones
  bool isolated = true;  ///< false: solutions are not isolated, so one that is not listed is no surprise
  std::vector<MncpResult> results = {};  ///< in the order of the solvers
};

/// The whole test set.
struct MncpRecord {
  std::vector<std::string> solvers = {};  ///< "merit / minimizer"
  std::vector<MncpProblem> problems = {};
  int starts = 1;  ///< limit for a problem
};

/// Every minimizer with every merit function, one thread, up to 20 starts each.
[[nodiscard]] MncpRecord measure_mncp(double tolerance);

}  // namespace garra::cli
