// Which samples have a solution that is proven to be the only one: no second one is sought. Host.
#pragma once

#include "contact/batch/uniqueness.hpp"
#include "grasp/sample/check.hpp"

namespace garra::grasp {

/// Stores for each sample 1 if its solution is the only one, else 0.
template <int N>
struct ProofKernel {
  const double* problems;
  const double* sample_results;
  double* proven;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto problem = batch::load<S, solvers::FrictionProblem<S, N>>(problems, i);
    const auto found = batch::load<S, SampleResult<S, N>>(sample_results, i);
    const auto only = contact::is_only_solution(problem, found.c);  // false for the NaN of an unsolved problem
    batch::store<S>(proven, i, select(only, S(1), S(0)));
  }
};

}  // namespace garra::grasp
