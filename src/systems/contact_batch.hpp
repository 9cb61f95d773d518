// A block of friction contact problems on the CPU: scalar, or lanes with refilling. Shared by the contact batch and the
// grasp study; the GPU's twin is kernels/contact.cu.
#pragma once

#include <cstdint>

#include "garra/batch/refill.hpp"
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
    batch::store<S>(candidates, i, solvers::Candidate<S, N>{solver.template force<S, N>(problem, state.c), state.steps});
  }
};

/// Body of the certificate.
template <int N>
struct CertifyBody {
  double tol;
  const double* problems;
  const double* candidates;
  double* solutions;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto problem = batch::load<S, solvers::FrictionProblem<S, N>>(problems, i);
    const auto found = batch::load<S, solvers::Candidate<S, N>>(candidates, i);
    const S reason = S(int(Status::kIterationLimit));
    batch::store<S>(solutions, i, solvers::certify(problem, found.c, reason, found.steps, tol));
  }
};

#if !defined(__CUDACC__)
/// Iterates `count` problems of one block in SIMD lanes; a finished lane takes the next problem.
template <int N>
void iterate_lanes(const IterateBody<N>& body, std::int64_t count) {
  using S = Lanes<double>;
  using Problem = solvers::FrictionProblem<S, N>;
  const auto& solver = body.solver;
  const auto start = [&](std::int64_t i) {
    return solver.template start<S, N>(batch::load<S, Problem>(body.problems, i));
  };
  const auto step = [&](auto& state) { solver.step(state); };
  const auto running = [&](const auto& state) { return solver.running(state); };
  const auto finish = [&](std::int64_t i, const auto& state, int lane) {
    const auto problem = batch::load<double, solvers::FrictionProblem<double, N>>(body.problems, i);
    Vec<double, 3 * N> scaled;
    for (int k = 0; k < 3 * N; ++k) scaled[k] = state.c[k][lane];
    const solvers::Candidate<double, N> found{solver.template force<double, N>(problem, scaled), state.steps[lane]};
    batch::store<double>(body.candidates, i, found);
  };
  batch::solve_refilling<double>(count, start, step, running, finish);
}
#endif

}  // namespace garra::contact
