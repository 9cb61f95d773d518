// Last step of a sample, after balance and contact solver: what became of the grasp. Host and device.
#pragma once

#include "garra/solve/contact_state.hpp"
#include "garra/solve/friction_newton.hpp"
#include "grasp/sample/problem.hpp"

namespace garra::grasp {

/// Step 6: certificate, contact states and outcome, of up to two candidates from different starts.
template <class S, int N, int D = 3>
struct Verdict {
  S outcome;           ///< grasp::Outcome
  S residual;          ///< scale-invariant (contact-solver.md (3)), of the candidate that counts
  S iterations;        ///< Newton steps
  S sticks;            ///< 1 where every contact sticks, else 0; NaN: unsolved
  S acceleration;      ///< of the object's center of mass under the forces found [m/s^2]; NaN: unsolved
  Vec<S, N> state;     ///< grasp::ContactState
  Vec<S, D * N> c, a;  ///< forces on the object [N], relative accelerations [m/s^2]

  static constexpr auto parts() {
    return std::tuple{&Verdict::outcome, &Verdict::residual, &Verdict::iterations, &Verdict::sticks, &Verdict::acceleration, &Verdict::state, &Verdict::c, &Verdict::a};
  }
};

/// What samples are judged by, and the tiles that the steps before have left. Metrics have been through the balance.
template <int N, int D = 3>
struct Judge {
  double tol, held_imbalance;
  const double* problems;
  const double* metrics;
  const double* candidates;
  const double* second;  ///< candidates from another start, or nullptr

  /// Of sample i, but for the object's acceleration.
  template <class S>
  GARRA_HD Verdict<S, N, D> verdict(std::int64_t i) const {
    const auto problem = batch::load<S, solvers::FrictionProblem<S, N, D>>(problems, i);
    const auto m = batch::load<S, Metrics<S, N>>(metrics, i);
    const auto found = batch::load<S, solvers::Candidate<S, N, D>>(candidates, i);
    const auto one = solvers::certified(problem, found, tol);
    auto v = judge<S>(problem, one);
    if (second != nullptr) {
      const auto other = batch::load<S, solvers::Candidate<S, N, D>>(second, i);
      const auto two = solvers::certified(problem, other, tol);
      S apart = S(0);
      // Accelerations, not forces: these need not be unique where A is singular, and no outcome hangs on them.
      for (int k = 0; k < extent<D * N>(); ++k) apart = max(apart, abs(one.a[k] - two.a[k]));
      const auto different = apart > S(1e-5) * solvers::friction_scale(problem).size_b;  // false where one is NaN
      v = choose(v.outcome == S(int(Outcome::kUnsolved)), judge<S>(problem, two), v);    // either certificate will do
      v.outcome = select(different, S(int(Outcome::kSeveral)), v.outcome);
    }
    // Balance not decided: the sample may be held or not.
    v.outcome = select(v.outcome == S(int(Outcome::kHeld)) && !(m.resisted == m.resisted), S(int(Outcome::kUnsolved)),
                       v.outcome);
    // What rules out more comes later: no command carries what no forces can balance, and out of reach there is no
    // problem.
    v.outcome = select(m.imbalance > S(held_imbalance), S(int(Outcome::kNotCarried)), v.outcome);
    v.outcome = select(m.resisted == S(0), S(int(Outcome::kNotResisted)), v.outcome);
    return choose(m.reached > S(0), v, unreachable<S>());
  }

  /// Lane by lane one of two verdicts.
  template <class S>
  static GARRA_HD Verdict<S, N, D> choose(const MaskOf<S>& first, const Verdict<S, N, D>& a,
                                          const Verdict<S, N, D>& b) {
    Verdict<S, N, D> v;
    v.outcome = select(first, a.outcome, b.outcome);
    v.residual = select(first, a.residual, b.residual);
    v.iterations = select(first, a.iterations, b.iterations);
    v.sticks = select(first, a.sticks, b.sticks);
    v.acceleration = select(first, a.acceleration, b.acceleration);
    v.state = select(first, a.state, b.state);
    v.c = select(first, a.c, b.c);
    v.a = select(first, a.a, b.a);
    return v;
  }

  /// No problem, so no numbers.
  template <class S>
  static GARRA_HD Verdict<S, N, D> unreachable() {
    const S nan = S(__builtin_nan(""));
    Verdict<S, N, D> v;
    v.outcome = S(int(Outcome::kUnreachable));
    v.residual = nan;
    v.iterations = S(0);
    v.sticks = S(0);
    v.acceleration = nan;
    for (int k = 0; k < extent<N>(); ++k) v.state[k] = S(0);
    for (int k = 0; k < extent<D * N>(); ++k) v.c[k] = v.a[k] = nan;
    return v;
  }

  template <class S>
  static GARRA_HD Verdict<S, N, D> judge(const solvers::FrictionProblem<S, N, D>& p,
                                         const solvers::FrictionSolution<S, N, D>& s) {
    static_assert(int(ContactState::kSlip) == 1 && int(ContactState::kBreak) == 2, "as contact_state numbers them");
    Verdict<S, N, D> v;
    const S eps = S(solvers::kMotion) * solvers::friction_scale(p).size_b;
    // eps is not negative: masks that are false in all lanes.
    auto any_slip = eps < S(0), any_break = eps < S(0);
    for (int j = 0; j < extent<N>(); ++j) {
      v.state[j] = solvers::contact_state(solvers::contact<S, N, D>(s.a, j), eps);
      any_break = any_break || v.state[j] == S(int(ContactState::kBreak));
      any_slip = any_slip || v.state[j] == S(int(ContactState::kSlip));
    }
    v.outcome = select(any_break, S(int(Outcome::kSeparating)), select(any_slip, S(int(Outcome::kSlipping)), S(0)));
    const auto solved = s.status == S(int(Status::kConverged));
    v.outcome = select(solved, v.outcome, S(int(Outcome::kUnsolved)));
    v.outcome = select(s.status == S(int(Status::kNoSolution)), S(int(Outcome::kNoSolution)), v.outcome);
    v.sticks = select(solved, select(any_break || any_slip, S(0), S(1)), S(__builtin_nan("")));
    v.acceleration = S(__builtin_nan(""));
    v.residual = s.residual;
    v.iterations = s.effort.outer;
    v.c = s.c;
    v.a = s.a;
    return v;
  }
};

/// Step 6 for every sample of a study.
template <int N>
struct JudgeBody {
  static constexpr bool kCalls = solvers::kInMemory<N>;
  const GraspModel* model;
  SampleParts from;
  Judge<N> judge;
  double* verdicts;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    auto v = judge.template verdict<S>(i);
    v.acceleration = acceleration(i, v.c);
    batch::store<S>(verdicts, i, v);
  }

  /// |m g + f + sum E_j c_j| / m.
  template <class S>
  GARRA_HD S acceleration(std::int64_t i, const Vec<S, 3 * N>& c) const {
    const auto load = batch::load<S, ObjectLoad<S>>(from.loads, i);
    Vec3<S> force = load.body.mass * cast<S>(model->gravity);
    for (int k = 0; k < 3; ++k) force[k] += load.wrench[k];
    for (int j = 0; j < extent<N>(); ++j)
      force += batch::load<S, FingerTask<S>>(from.tasks_of(j), i).place.E * solvers::contact<S, N>(c, j);
    return norm(force) / load.body.mass;
  }
};

}  // namespace garra::grasp
