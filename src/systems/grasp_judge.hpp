// Last step of a sample, after the contact solver: what became of the grasp. Host and device.
#pragma once

#include "garra/solve/friction_newton.hpp"
#include "systems/grasp_problem.hpp"

namespace garra::grasp {

/// Step 5: certificate, contact states and outcome, of up to two candidates from different starts.
template <class S, int N>
struct Verdict {
  S outcome;       ///< grasp::Outcome
  S residual;
  S iterations;
  Vec<S, N> state; ///< grasp::ContactState
  Vec<S, 3 * N> c, a;
};

template <int N>
struct JudgeBody {
  double tol;
  const double* problems;
  const double* metrics;
  const double* candidates;
  const double* second;  ///< candidates from another start, or nullptr
  double* verdicts;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto problem = batch::load<S, solvers::FrictionProblem<S, N>>(problems, i);
    const S reached = batch::load<S, Metrics<S, N>>(metrics, i).reached;
    const auto found = batch::load<S, solvers::Candidate<S, N>>(candidates, i);
    const auto one = solvers::certify(problem, found, tol);
    auto v = judge<S>(problem, one);
    if (second != nullptr) {
      const auto other = batch::load<S, solvers::Candidate<S, N>>(second, i);
      const auto two = solvers::certify(problem, other, tol);
      S apart = S(0);
      for (int k = 0; k < 3 * N; ++k) apart = max(apart, abs(one.a[k] - two.a[k]));
      const auto different = apart > S(1e-5) * solvers::friction_scale(problem).size_b;  // false where one is NaN
      v = choose(v.outcome == S(int(Outcome::kUnsolved)), judge<S>(problem, two), v);  // either certificate will do
      v.outcome = select(different, S(int(Outcome::kSeveral)), v.outcome);
    }
    v = choose(reached > S(0), v, unreachable<S>());
    batch::store<S>(verdicts, i, v);
  }

  template <class S>
  static GARRA_HD Verdict<S, N> choose(const MaskOf<S>& first, const Verdict<S, N>& a, const Verdict<S, N>& b) {
    Verdict<S, N> v;
    v.outcome = select(first, a.outcome, b.outcome);
    v.residual = select(first, a.residual, b.residual);
    v.iterations = select(first, a.iterations, b.iterations);
    v.state = select(first, a.state, b.state);
    v.c = select(first, a.c, b.c);
    v.a = select(first, a.a, b.a);
    return v;
  }

  /// No problem, so no numbers.
  template <class S>
  static GARRA_HD Verdict<S, N> unreachable() {
    const S nan = S(__builtin_nan(""));
    Verdict<S, N> v;
    v.outcome = S(int(Outcome::kUnreachable));
    v.residual = nan;
    v.iterations = S(0);
    for (int k = 0; k < N; ++k) v.state[k] = S(0);
    for (int k = 0; k < 3 * N; ++k) v.c[k] = v.a[k] = nan;
    return v;
  }

  /// Contact states: accelerations above 1e-6 of the problem's own size count as motion.
  template <class S>
  static GARRA_HD Verdict<S, N> judge(const solvers::FrictionProblem<S, N>& p,
                                      const solvers::FrictionSolution<S, N>& s) {
    Verdict<S, N> v;
    const S eps = S(1e-6) * solvers::friction_scale(p).size_b;
    auto any_slip = eps < S(0), any_break = eps < S(0);
    for (int j = 0; j < N; ++j) {
      const S at = sqrt(fma(s.a[3 * j + 1], s.a[3 * j + 1], s.a[3 * j + 2] * s.a[3 * j + 2]));
      const auto open = s.a[3 * j] > eps;
      const auto slip = !open && at > eps;
      v.state[j] = select(open, S(int(ContactState::kBreak)), select(slip, S(int(ContactState::kSlip)), S(0)));
      any_break = any_break || open;
      any_slip = any_slip || slip;
    }
    v.outcome = select(any_break, S(int(Outcome::kSeparating)), select(any_slip, S(int(Outcome::kSlipping)), S(0)));
    const auto solved = s.status == S(int(Status::kConverged));
    v.outcome = select(solved, v.outcome, S(int(Outcome::kUnsolved)));
    v.outcome = select(s.status == S(int(Status::kNoSolution)), S(int(Outcome::kNoSolution)), v.outcome);
    v.residual = s.residual;
    v.iterations = s.effort.outer;
    v.c = s.c;
    v.a = s.a;
    return v;
  }
};

}  // namespace garra::grasp
