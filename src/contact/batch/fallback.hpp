// Body of the fallback solvers (friction_fallback.hpp), a second pass over a batch for problems without a solution.
// Host and device.
#pragma once

#include <cstddef>

#include "contact/batch/body.hpp"
#include "garra/solvers/friction_fallback.hpp"

namespace garra::contact {

/// Address of the reason why candidate i's solver stopped.
template <class S, int N, int D = 3>
GARRA_HD double* reason_at(double* candidates, std::int64_t i) {
  using Candidate = solvers::Candidate<S, N, D>;
  constexpr int kAfterForces = static_cast<int>((offsetof(Candidate, reason) - sizeof(Candidate::c)) / sizeof(S));
  return const_cast<double*>(batch::tile_at<S, Candidate>(candidates, i)) +
         (extent<D * N>() + kAfterForces) * batch::kTile;
}

/// Limits of the fallback solvers after a solver; `searches`: they may replace its forces by others than refined ones.
GARRA_HD solvers::FrictionFallback make_fallback(const solvers::FrictionNewton& solver, bool searches) {
  solvers::FrictionFallback fallback;
  fallback.tolerance = solver.tolerance;
  fallback.max_iterations = solver.max_iterations;
  fallback.searches = searches;
  if (solver.full) fallback.most_work = solvers::FrictionFallback::kNoLimit;
  return fallback;
}

/// Runs the fallback solvers on problem i if a solver has found no solution; leaves other problems alone. At Newton's
/// step limit other solvers follow; candidates of another method are refined, and proofs are searched.
template <int N>
struct FallbackKernel {
  solvers::FrictionFallback fallback;
  const double* problems;  ///< as IterateKernel has them
  const double* sliding;
  double* candidates;
  int contacts;
  bool restarts;  ///< only candidates at the iteration limit need anything: Newton says so

  /// For use after a solver: `job` has Newton's options in place of another solver's.
  FallbackKernel(const IterateKernel<solvers::FrictionNewton, N>& job, bool newton)
      : fallback(make_fallback(job.solver, newton && job.solver.goes_on())),
        problems(job.problems),
        sliding(job.sliding),
        candidates(job.candidates),
        contacts(job.contacts),
        restarts(newton) {}

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    if (!waits<S>(i)) return;
    const auto problem = load_problem<S, N>(problems, sliding, i, contacts);
    go_on(i, problem, problem);
  }

  /// Whether problem i may need a fallback solver. Few of Newton's do, and the stop reason suffices to tell.
  template <class S>
  [[nodiscard]] GARRA_HD bool waits(std::int64_t i) const {
    const double reason = batch::load<S, S>(reason_at<S, N>(candidates, i), 0);
    return reason == int(Status::kIterationLimit) || (!restarts && reason == int(Status::kStalled));
  }

  /// `aside`: a copy of the same problem (friction_fallback.hpp).
  template <class Matrix>
  GARRA_HD void go_on(std::int64_t i, const solvers::FrictionProblem<double, N, 3, Matrix>& problem,
                      const solvers::FrictionProblem<double, N, 3, Matrix>& aside) const {
    // The problem as given is certified, which also covers the elimination that `problem` went through.
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
    solvers::fallback(fallback, given, problem, aside, best);
    batch::store<double>(candidates, i, best);
  }
};

}  // namespace garra::contact
