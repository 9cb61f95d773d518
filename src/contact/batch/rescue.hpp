// Body of what follows where a solver has found no solution (friction_rescue.hpp), a second pass over a batch. Host and
// device.
#pragma once

#include <cstddef>

#include "contact/batch/body.hpp"
#include "garra/solve/friction_rescue.hpp"

namespace garra::contact {

/// Where candidate i has the reason why its solver stopped.
template <class S, int N>
GARRA_HD double* reason_at(double* candidates, std::int64_t i) {
  using Candidate = solvers::Candidate<S, N>;
  constexpr int kAfterForces = static_cast<int>((offsetof(Candidate, reason) - sizeof(Candidate::c)) / sizeof(S));
  return const_cast<double*>(batch::tile_at<S, Candidate>(candidates, i)) +
         (extent<3 * N>() + kAfterForces) * batch::kTile;
}

/// Goes on with problem i where a solver has found no solution; does nothing to the others. Where Newton's ladder has
/// come to its limit other solvers follow; what another method leaves is refined, and proofs are looked for.
template <int N>
struct RescueBody {
  solvers::FrictionRescue rescue;
  const double* problems;  ///< as IterateBody has them
  const double* sliding;
  double* candidates;
  int contacts;
  bool ladder;  ///< only candidates at the iteration limit need anything: Newton says so

  /// After a solver: `job` has Newton's options in its place where it is another one.
  RescueBody(const IterateBody<solvers::FrictionNewton, N>& job, bool newton)
      : problems(job.problems),
        sliding(job.sliding),
        candidates(job.candidates),
        contacts(job.contacts),
        ladder(newton) {
    rescue.tol = job.solver.tol;
    rescue.max_iterations = job.solver.max_iterations;
    rescue.searches = newton && job.solver.goes_on();
    if (job.solver.full) rescue.most_work = solvers::FrictionRescue::kNoLimit;
  }

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    if (!waits<S>(i)) return;
    const auto problem = load_problem<S, N>(problems, sliding, i, contacts);
    go_on(i, problem, problem);
  }

  /// Whether problem i may need anything: of Newton's nearly all need nothing, and the reason alone tells.
  template <class S>
  [[nodiscard]] GARRA_HD bool waits(std::int64_t i) const {
    const double reason = batch::load<S, S>(reason_at<S, N>(candidates, i), 0);
    return reason == int(Status::kIterationLimit) || (!ladder && reason == int(Status::kStalled));
  }

  /// `aside`: the same problem again (friction_rescue.hpp).
  template <class Matrix>
  GARRA_HD void go_on(std::int64_t i, const solvers::FrictionProblem<double, N, 3, Matrix>& problem,
                      const solvers::FrictionProblem<double, N, 3, Matrix>& aside) const {
    // The problem as given is judged, so that the elimination that `problem` went through is judged with it.
    const TileProblem<double, N> tile(problems, i, contacts);
    const auto entry = [&](int r, int k) { return tile.A(r, k); };
    const solvers::SlidingContacts<double, N> slip{
        sliding == nullptr ? Vec<double, 2 * N>::zero() : load_vector<double, 2, N>(sliding, i, contacts)};
    const Vec<double, N> mu = tile.mu();
    if (!(solvers::friction_problem_detail::defects(problem) == 0)) return;  // the certificate calls it invalid
    auto best = batch::load<double, solvers::Candidate<double, N>>(candidates, i);
    if constexpr (kTakesFewer<N>)
      for (int k = 3 * contacts; k < extent<3 * N>(); ++k) best.c[k] = 0;
    const auto given = solvers::given_problem<decltype(entry), N>(entry, tile.b(), mu, slip);
    solvers::rescue(rescue, given, problem, aside, best);
    batch::store<double>(candidates, i, best);
  }
};

}  // namespace garra::contact
