// Body of the ladder beyond Newton (friction_rescue.hpp), a second pass over a batch. Host and device.
#pragma once

#include <cstddef>

#include "contact/batch/body.hpp"
#include "garra/solve/friction_rescue.hpp"

namespace garra::contact {

/// Where candidate i has the reason why its solver stopped.
template <class S, int N>
GARRA_HD double* reason_at(double* candidates, std::int64_t i) {
  using Candidate = solvers::Candidate<S, N>;
  constexpr int kReason = static_cast<int>(offsetof(Candidate, reason) / sizeof(S));
  return const_cast<double*>(batch::tile_at<S, Candidate>(candidates, i)) + kReason * batch::kTile;
}

/// Goes on with problem i where Newton has come to its limit; does nothing to the others.
template <int N>
struct RescueBody {
  solvers::FrictionRescue rescue;
  const double* problems;  ///< as IterateBody has them
  const double* sliding;
  double* candidates;
  int contacts;

  explicit RescueBody(const IterateBody<solvers::FrictionNewton, N>& newton)
      : problems(newton.problems), sliding(newton.sliding), candidates(newton.candidates), contacts(newton.contacts) {
    // The tolerance only: limits and steps of the ladder are its own (docs/contact-solver.md, "Beyond Newton").
    rescue.tol = newton.solver.tol;
  }

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    if (!waits<S>(i)) return;
    const auto problem = load_problem<S, N>(problems, sliding, i, contacts);
    go_on(i, problem, problem);
  }

  /// Whether problem i has come to the limit: nearly all need nothing, and the reason alone tells.
  template <class S>
  [[nodiscard]] GARRA_HD bool waits(std::int64_t i) const {
    return any(batch::load<S, S>(reason_at<S, N>(candidates, i), 0) == S(int(Status::kIterationLimit)));
  }

  /// `aside`: the same problem again (friction_rescue.hpp).
  template <class S, class Matrix>
  GARRA_HD void go_on(std::int64_t i, const solvers::FrictionProblem<S, N, 3, Matrix>& problem,
                      const solvers::FrictionProblem<S, N, 3, Matrix>& aside) const {
    auto best = batch::load<S, solvers::Candidate<S, N>>(candidates, i);
    solvers::rescue(rescue, problem, aside, best);
    batch::store<S>(candidates, i, best);
  }
};

}  // namespace garra::contact
