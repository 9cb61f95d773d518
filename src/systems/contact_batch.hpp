// The two steps of a batch of friction contact problems, as bodies that every executor runs: iterate, certify.
// Shared by the contact batch and the grasp study. Host and device.
#pragma once

#include <cstdint>

#include "garra/batch/tiles.hpp"
#include "garra/solve/friction_newton.hpp"

namespace garra::contact {

/// Body of the iteration on one problem (scalar executor, GPU thread).
template <int N>
struct IterateBody {
  solvers::FrictionNewton solver;
  const double* problems;
  double* candidates;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto problem = batch::load<S, solvers::FrictionProblem<S, N>>(problems, i);
    auto state = solver.template start<S, N>(problem);
    while (any(solver.running(state))) solver.step(state);
    batch::store<S>(candidates, i, solver.candidate(state));
  }
};

/// Body of the certificate.
template <int N>
struct CertifyBody {
  solvers::FrictionNewton solver;
  const double* problems;
  const double* candidates;
  double* solutions;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto problem = batch::load<S, solvers::FrictionProblem<S, N>>(problems, i);
    const auto found = batch::load<S, solvers::Candidate<S, N>>(candidates, i);
    batch::store<S>(solutions, i, solvers::certify(problem, found.c, solver.reason(found.steps), found.steps, solver.tol));
  }
};

}  // namespace garra::contact
