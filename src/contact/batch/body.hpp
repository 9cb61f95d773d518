// Bodies of the two steps on friction contact problems, iterate and certify, which every executor runs. The contact
// batch and the grasp study share them. Host and device.
#pragma once

#include <cstdint>

#include "contact/batch/padded.hpp"
#include "garra/batch/tiles.hpp"
#include "garra/solvers/friction_problem.hpp"

namespace garra::solvers {
struct FrictionNewton;
struct FrictionMixed;
}  // namespace garra::solvers

namespace garra::contact {

/// Largest number of contacts for which lanes have code of their own, 0 for none (contact/batch/solvers.hpp). With four
/// contacts, the code for any number takes at most a tenth longer with these solvers, and a quarter longer with Newton.
template <class Solver>
inline constexpr int kOwnSizes = 3;
template <>
inline constexpr int kOwnSizes<solvers::FrictionNewton> = 4;

/// Largest number of contacts with kernels.
template <class Solver>
inline constexpr int kMaxOnDevice = kMaxContacts;
template <>
inline constexpr int kMaxOnDevice<solvers::FrictionMixed> = kMaxOwnSize;

/// Problem i for the solvers, with its sliding contacts eliminated. `sliding` may be null: all contacts may roll.
template <class S, int N>
GARRA_HD solvers::FrictionProblem<S, N> load_problem(const double* problems, const double* sliding, std::int64_t i,
                                                     int contacts) {
  auto problem = load_given<S, N>(problems, i, contacts);
  // Null if no contact of the batch slides, so that the common case copies and eliminates nothing.
  if (sliding != nullptr)
    solvers::eliminate_sliding(problem, solvers::SlidingContacts<S, N>{load_vector<S, 2, N>(sliding, i, contacts)});
  return problem;
}

/// The same in `p`, whose matrix may lie anywhere.
template <class S, int N, class Matrix>
GARRA_HD void load_problem(const double* problems, const double* sliding, std::int64_t i, int contacts,
                           solvers::FrictionProblem<S, N, 3, Matrix>& p) {
  load_padded<S, N>(problems, i, contacts, p);
  if (sliding != nullptr)
    solvers::eliminate_sliding(p, solvers::SlidingContacts<S, N>{load_vector<S, 2, N>(sliding, i, contacts)});
}

/// Body of the iteration on one problem (scalar executor, GPU thread).
template <class Solver, int N>
struct IterateKernel {
  Solver solver;
  const double* problems;           ///< tiles of FrictionProblem
  const double* sliding;            ///< tiles of SlidingContacts, or null
  double* candidates;               ///< tiles of Candidate, written
  const double* guesses = nullptr;  ///< tiles of Vec<S, 3 N>: forces to start from, for solvers that can; null: none
  int contacts = N;                 ///< of each problem (padded.hpp)

  /// Initial state of problem i. A problem with a number that is not finite, or with negative friction, takes no step:
  /// certify reports it, and neither a warp nor a register of SIMD lanes waits for it.
  template <class S>
  GARRA_HD auto start(std::int64_t i) const {
    const auto problem = load_problem<S, N>(problems, sliding, i, contacts);
    // Only Newton's method starts from a guess; the other solvers begin with their own start().
    if constexpr (requires(Vec<S, 3 * N> guess) { solver.template start<S, N>(problem, guess); }) {
      auto guess = Vec<S, 3 * N>::zero();
      if (guesses != nullptr) guess = load_vector<S, 3, N>(guesses, i, contacts);
      return solver.template start<S, N>(problem, guess);
    } else {
      return begin(problem);
    }
  }
  template <class S, class Matrix>
  GARRA_HD auto begin(const solvers::FrictionProblem<S, N, 3, Matrix>& problem) const {
    const auto valid = solvers::friction_problem_detail::defects(problem) == S(0);
    auto state = solver.template start<S, N>(problem);
    state.running = select(valid, state.running, S(0));
    return state;
  }

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    auto state = start<S>(i);
    while (any(solver.running(state))) solver.step(state);
    batch::store<S>(candidates, i, solver.candidate(state));
  }
};

/// FallbackKernel on `count` problems of the host, in a thread that has set its number of contacts. Compiled once, in
/// contact/instances/fallback.cpp.
void solve_remaining(const IterateKernel<solvers::FrictionNewton, kAnyContacts>& job, bool newton, std::int64_t count);
/// The same for problems of soft contacts after Newton's method; in contact/instances/fallback_soft.cpp.
void solve_remaining_soft(const solvers::FrictionNewton& solver, const double* problems, double* candidates,
                          std::int64_t count);

/// The part of another solver's job that FallbackKernel needs: pointers, tolerance and limit.
template <class Newton, class Solver, int N>
GARRA_HD IterateKernel<Newton, N> without_solver(const IterateKernel<Solver, N>& job) {
  Newton options;
  options.tolerance = job.solver.tolerance;
  return {options, job.problems, job.sliding, job.candidates, nullptr, job.contacts};
}

/// Candidate for a force from elsewhere. No solver gives a reason for its stop, so a force that fails the certificate
/// counts as stalled, and one that is not finite as invalid. Counters are unknown, which differs from zero.
template <class S, int N>
GARRA_HD solvers::Candidate<S, N> given_candidate(const Vec<S, 3 * N>& force) {
  S defects = S(0);
  for (int k = 0; k < extent<3 * N>(); ++k) defects += force[k] - force[k];
  const S reason =
      select(defects == S(0), S(static_cast<int>(Status::kStalled)), S(static_cast<int>(Status::kInvalidInput)));
  auto found = solvers::make_candidate<S, N>(force, reason, solvers::Effort<S>::none());
  found.effort.outer = found.effort.stage = found.effort.stalls = S(solvers::kNotCounted);
  return found;
}

/// Converts forces to candidates.
template <int N>
struct GivenKernel {
  const double* forces;
  double* candidates;
  int contacts = N;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    batch::store<S>(candidates, i, given_candidate<S, N>(load_vector<S, 3, N>(forces, i, contacts)));
  }
};

/// Body of the certificate.
template <int N>
struct CertifyKernel {
  double tolerance;  ///< of FrictionSolution::residual
  const double* problems;
  const double* sliding;
  const double* candidates;
  double* solutions;
  int contacts = N;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    auto found = batch::load<S, solvers::Candidate<S, N>>(candidates, i);
    // Drops numbers that a solver has left at padding contacts.
    if constexpr (kTakesFewer<N>)
      for (int k = 3 * contacts; k < extent<3 * N>(); ++k) found.c[k] = S(0);
    const solvers::SlidingContacts<S, N> slip{sliding == nullptr ? Vec<S, 2 * N>::zero()
                                                                 : load_vector<S, 2, N>(sliding, i, contacts)};
    put_solution<S, N>(solutions, i, checked(i, slip, found), contacts);
  }

 private:
  /// Certifies the problem as given: the certificate must not depend on the elimination that the solver's iterate went
  /// through. A stays in its tile.
  template <class S>
  GARRA_HD solvers::FrictionSolution<S, N> checked(std::int64_t i, const solvers::SlidingContacts<S, N>& slip,
                                                   const solvers::Candidate<S, N>& found) const {
    const TileProblem<S, N> p(problems, i, contacts);
    return solvers::certified<S, N>([&](int r, int k) { return p.A(r, k); }, p.b(), p.mu(), slip, found, tolerance);
  }
};

}  // namespace garra::contact
