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

/// One body of a problem: contacts that A couples, directly or through others. The body's problem has inactive contacts
/// in place of all others (docs/theory/contact-solver.md, 8b).
template <int N, int D>
struct Body {
  const Vec<double, N>& number;  ///< of each contact's body
  double mine;
  double stiffness;  ///< diagonal entries of the others [1/kg]

  [[nodiscard]] GARRA_HD bool has(int contact) const { return number[contact] == mine; }
  /// Entry (i, k) of its matrix, from that of the whole problem.
  template <class Entry>
  [[nodiscard]] GARRA_HD double entry(const Entry& A, int i, int k) const {
    return has(i / D) && has(k / D) ? A(i, k) : i == k ? stiffness : 0;
  }
  /// A vector with E numbers a contact, zero at the others.
  template <int E>
  [[nodiscard]] GARRA_HD Vec<double, E * N> restricted(Vec<double, E * N> v) const {
    for (int i = 0; i < extent<E * N>(); ++i) v[i] = has(i / E) ? v[i] : 0;
    return v;
  }
  template <class Matrix>
  GARRA_HD void restrict(solvers::FrictionProblem<double, N, D, Matrix>& p) const {
    for (int i = 0; i < extent<D * N>(); ++i)
      for (int k = 0; k < extent<D * N>(); ++k) p.A(i, k) = entry(p.A, i, k);
    p.b = restricted<D>(p.b);
  }
};

/// The reason of a problem is that of the body which comes last here.
GARRA_HD int weight_of(double reason) {
  constexpr Status kOrder[] = {Status::kIllConditioned, Status::kIterationLimit, Status::kStalled, Status::kNoSolution,
                               Status::kInvalidInput};
  int k = 0;
  while (k < 4 && reason != static_cast<double>(static_cast<int>(kOrder[k]))) ++k;
  return k;
}

/// Runs the fallback solvers on a problem, body by body: a heavy body must not set the units of a light one.
/// `load(p)` sets the problem with its sliding contacts eliminated; `aside` as in solvers::fallback.
template <int N, int D, class Entry, class Problem, class Load>
GARRA_HD_CALL void solve_bodies(solvers::FrictionFallback options, const Entry& A, const Vec<double, D * N>& b,
                                const Vec<double, N>& mu, const solvers::SlidingContacts<double, N, D>& slip,
                                const Load& load, Problem& problem, Problem& aside,
                                solvers::Candidate<double, N, D>& best) {
  Vec<double, N> number;
  for (int j = 0; j < extent<N>(); ++j) number[j] = j;
  number = solvers::friction_problem_detail::largest_of_coupled<N, D, double>(A, number);
  int worst = -1;
  for (int j = 0; j < extent<N>(); ++j) {
    if (number[j] != j) continue;
    Body<N, D> body{number, static_cast<double>(j), 0};
    for (int i = 0; i < extent<D * N>(); ++i)
      if (body.has(i / D)) body.stiffness = max(body.stiffness, A(i, i));
    if (!(body.stiffness > 0)) body.stiffness = 1;
    for (Problem* p : {&problem, &aside}) {
      load(*p);
      body.restrict(*p);
    }
    const auto entry = [&](int i, int k) { return body.entry(A, i, k); };
    solvers::Candidate<double, N, D> found = best;
    found.c = body.template restricted<D>(best.c);
    const auto given = solvers::given_problem<decltype(entry), N, D>(entry, body.template restricted<D>(b), mu,
                                                                     {body.template restricted<D - 1>(slip.v)});
    const solvers::FallbackEnd end = solvers::fallback(options, given, problem, aside, found);
    options.most_work -= end.work;
    best.effort = found.effort;
    for (int i = 0; i < extent<D * N>(); ++i) best.c[i] = body.has(i / D) ? found.c[i] : best.c[i];
    if (end.solved || weight_of(found.reason) <= worst) continue;
    worst = weight_of(found.reason);
    best.reason = found.reason;
  }
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
    solvers::FrictionProblem<double, N> problem, aside;
    go_on(i, problem, aside);
  }

  /// Whether problem i may need a fallback solver. Few of Newton's do, and the stop reason suffices to tell.
  template <class S>
  [[nodiscard]] GARRA_HD bool waits(std::int64_t i) const {
    const double reason = batch::load<S, S>(reason_at<S, N>(candidates, i), 0);
    return reason == int(Status::kIterationLimit) || (!restarts && reason == int(Status::kStalled));
  }

  /// `problem`, `aside`: memory of the problem, and of the same for Newton's method (friction_fallback.hpp).
  template <class Problem>
  GARRA_HD void go_on(std::int64_t i, Problem& problem, Problem& aside) const {
    // The problem as given is certified, which also covers the elimination that `problem` went through.
    const TileProblem<double, N> tile(problems, i, contacts);
    const auto entry = [&](int r, int k) { return tile.A(r, k); };
    const solvers::SlidingContacts<double, N> slip{
        sliding == nullptr ? Vec<double, 2 * N>::zero() : load_vector<double, 2, N>(sliding, i, contacts)};
    const Vec<double, N> mu = tile.mu();
    const auto load = [&](Problem& p) { load_problem<double, N>(problems, sliding, i, contacts, p); };
    load(problem);
    if (!(solvers::friction_problem_detail::defects(problem) == 0)) return;  // the certificate calls it invalid
    auto best = batch::load<double, solvers::Candidate<double, N>>(candidates, i);
    if constexpr (kTakesFewer<N>)
      for (int k = 3 * contacts; k < extent<3 * N>(); ++k) best.c[k] = 0;
    solve_bodies<N, 3>(fallback, entry, tile.b(), mu, slip, load, problem, aside, best);
    batch::store<double>(candidates, i, best);
  }
};

}  // namespace garra::contact
