// Body of the ladder beyond Newton (friction_rescue.hpp), a second pass over a batch. Host and device.
#pragma once

#include <cstddef>

#include "contact/batch/body.hpp"
#include "garra/solve/friction_rescue.hpp"

namespace garra::contact {

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
    using Candidate = solvers::Candidate<S, N>;
    // Nearly all need nothing: the reason alone tells.
    constexpr int kReason = static_cast<int>(offsetof(Candidate, reason) / sizeof(S));
    const double* reasons = batch::tile_at<S, Candidate>(candidates, i) + kReason * batch::kTile;
    if (!any(batch::load<S, S>(reasons, 0) == S(int(Status::kIterationLimit)))) return;
    auto best = batch::load<S, Candidate>(candidates, i);
    solvers::rescue(rescue, load_problem<S, N>(problems, sliding, i, contacts), best);
    batch::store<S>(candidates, i, best);
  }
};

}  // namespace garra::contact
