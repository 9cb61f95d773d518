// One problem of a batch of LCPs, as a body that every executor runs. Host and device.
#pragma once

#include <cstdint>

#include "garra/batch/tiles.hpp"
#include "garra/solve/lcp.hpp"

namespace garra::lcp {

template <int N>
struct SolveBody {
  solvers::Lemke solver;
  const double* problems;
  double* solutions;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto problem = batch::load<S, solvers::LcpProblem<S, N>>(problems, i);
    batch::store<S>(solutions, i, solver.solve(problem));
  }
};

}  // namespace garra::lcp
