// Solves a linear complementarity problem as an operation on rows (garra/batch/rows.hpp). Host and device.
#pragma once

#include "garra/solvers/lcp.hpp"

namespace garra::lcp {

/// One LCP of N pairs by Lemke's method.
template <int N>
struct SolveOp {
  solvers::Lemke solver;
  template <class S>
  using In = solvers::LcpProblem<S, N>;
  template <class S>
  using Out = solvers::LcpSolution<S, N>;
  template <class S>
  GARRA_HD Out<S> operator()(const In<S>& problem) const {
    return solver.solve(problem);
  }
};

}  // namespace garra::lcp
