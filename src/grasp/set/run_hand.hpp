// Runs the samples of grasps with a known hand: common interface of host and GPU.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "contact/batch/auto_solver.hpp"
#include "garra/contact.hpp"
#include "garra/solvers/friction_newton.hpp"
#include "grasp/set/hand.hpp"
#include "grasp/set/run_set.hpp"

namespace garra::grasp {

/// Counts over the samples of one grasp.
struct HandCounts {
  std::array<std::int64_t, kOutcomes> outcome{};
  std::int64_t sticks = 0, sticks_unknown = 0, resisted = 0, resisted_unknown = 0, several = 0;
  std::array<std::int64_t, kMaxSetContacts> first{};  ///< failures by contact: the one with the smallest margin

  void add(const HandCounts& other) {
    for (std::size_t k = 0; k < outcome.size(); ++k) outcome[k] += other.outcome[k];
    for (std::size_t k = 0; k < first.size(); ++k) first[k] += other.first[k];
    sticks += other.sticks;
    sticks_unknown += other.sticks_unknown;
    resisted += other.resisted;
    resisted_unknown += other.resisted_unknown;
    several += other.several;
  }
  void add(const HandResult<double>& r) {
    const auto what = static_cast<Outcome>(static_cast<int>(r.outcome));
    ++outcome[static_cast<std::size_t>(what)];
    sticks += r.sticks == 1;
    sticks_unknown += std::isnan(r.sticks);
    resisted += r.resisted == 1;
    resisted_unknown += std::isnan(r.resisted);
    several += r.several == 1;
    // Only contact failures count, not those of wrench or command.
    if (what >= Outcome::kSlipping && what != Outcome::kUnsolved) ++first[static_cast<std::size_t>(r.first)];
  }
};

/// A job of samples of grasps with a hand. D: numbers of a contact's force, 3, or 4 for soft contacts.
template <int N, int D = 3>
struct HandJob {
  const SetModel& model;
  std::span<const SetGrasp<N>> grasps;
  std::span<const SetHand<N, D>> hands;
  LimitedJoints<N, D> joints;  ///< on the host
  solvers::FrictionNewton solver;
  HeldRule held;
  bool check_uniqueness;
  std::int64_t first, samples;        ///< of each grasp
  DecisionBits* decisions = nullptr;  ///< [grasp][words_for(samples)], all zero
  HandCounts* counts = nullptr;       ///< [grasp], added to
  std::int64_t numbers = 0;           ///< count of samples, from the first on, with the numbers below
  double *critical = nullptr, *margin = nullptr, *radius = nullptr;  ///< [grasp][numbers]
  double* rows = nullptr;    ///< null, or the rows of samples(), of a single grasp on the host
  contact::Options by = {};  ///< auto: `solver`; else on the host and for kAnyContacts, D = 3
};

/// The iteration on one sample's problem.
template <int N, int D>
struct HandIterateKernel {
  solvers::FrictionNewton solver;
  const double* problems;
  double* candidates;
  const double* guesses = nullptr;  ///< tiles of Vec<S, D N>, on the host: forces to start from; null: none

  template <class S>
  GARRA_HD solvers::FrictionState<S, N, D> start(std::int64_t i) const {
    const auto problem = batch::load<S, solvers::FrictionProblem<S, N, D>>(problems, i);
    if constexpr (N < 0)
      if (guesses != nullptr) return solver.start(problem, batch::load<S, Vec<S, D * N>>(guesses, i));
    return solver.start(problem);
  }
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    auto state = start<S>(i);
    while (any(solver.running(state))) solver.step(state);
    batch::store<S>(candidates, i, solver.candidate(state));
  }
};

/// Candidates of problems with soft contacts, on the host; the thread has set their number. `guesses`: as above.
void iterate_soft(Executor executor, const HandIterateKernel<kAnyContacts, 4>& body, std::int64_t count);
/// The certificate of a candidate of such a problem.
[[nodiscard]] solvers::FrictionSolution<double, kAnyContacts, 4> certify_soft(
    const solvers::FrictionProblem<double, kAnyContacts, 4>& problem,
    const solvers::Candidate<double, kAnyContacts, 4>& found, double tolerance);

/// Tiles for Newton on a GPU, for hands with more contacts; the host's tiles for kAnyContacts.
struct NewtonTiles {
  struct Part {
    const double* problems;
    double* candidates;
  };
  int contacts;
  solvers::FrictionNewton solver;
  std::int64_t each;  ///< problems of a part, whole tiles
  std::vector<Part> parts;
};

/// Runs the job on a GPU. Throws Error(kNoDevice).
template <int N, int D>
void run_hand(const HandJob<N, D>& job, const Device& device);

/// Calls run(body) with the body that balances a job's samples.
template <int N, int D, class Run>
void with_balance(const HandBalanceKernel<N, D>& body, const LimitedJoints<N, D>& joints, const Run& run) {
  if (joints.limit)
    run(HandTorqueKernel<N, D>{body, joints});
  else
    run(body);
}

/// Records sample s of grasp g, beside its counts.
template <int N, int D>
void note(const HandJob<N, D>& job, std::int64_t g, std::int64_t s, const HandResult<double>& r) {
  DecisionBits& word = job.decisions[g * words_for(job.samples) + s / 64];
  const std::uint64_t bit = std::uint64_t{1} << (s % 64);
  if (r.outcome == static_cast<double>(Outcome::kHeld)) word.held |= bit;
  if (r.outcome == static_cast<double>(Outcome::kUnsolved)) word.undecided |= bit;
  if (s >= job.numbers) return;
  const std::int64_t at = g * job.numbers + s;
  job.critical[at] = r.critical;
  job.margin[at] = r.margin;
  job.radius[at] = r.radius;
}

/// Whether the commanded normal forces of a model have errors.
[[nodiscard]] inline bool grip_force_errors(const SetModel& model) {
  return is_off(model.contact_draw[kSetGripForceError]);
}

/// Criteria of "held" for the samples of a set.
[[nodiscard]] inline HeldRule held_rule(const SetStudy& study, const GraspSet& set) {
  return {study.held_imbalance, study.held_acceleration, !set.force_limit.empty() || std::isfinite(study.force_limit)};
}

/// The method that a set's study names for its contact problems.
[[nodiscard]] inline contact::Options contact_options(const SetStudy& study) {
  contact::Options options;
  contact::set_method(options, study.method);
  options.tolerance = study.tolerance;
  options.full_effort = contact::parse_effort(study.effort);
  return options;
}

/// Solver of the contact problems of a set by `auto`.
[[nodiscard]] inline solvers::FrictionNewton contact_solver(const SetStudy& study) {
  return contact::make_auto_solver(contact_options(study));
}

/// One sample, in full; contacts (n, t, o), soft ones (n, t, o, tau / r).
struct HandReplay {
  std::vector<double> c, command;  ///< forces found, and those of the command on contacts that do not move
  std::vector<int> state;          ///< grasp::ContactState
  Outcome outcome = Outcome::kUnsolved;
  double residual = 0, imbalance = 0, critical = 0, margin = 0, radius = 0;
  HandResult<double> result = {};  ///< what a study counts
};
template <int D>
[[nodiscard]] HandReplay replay_hand(const HandJob<kAnyContacts, D>& job, std::int64_t sample);

}  // namespace garra::grasp
