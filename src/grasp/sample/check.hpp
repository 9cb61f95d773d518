// Last steps of a sample, after balance and contact solver: the outcome of the grasp (docs/theory/grasp-model.md,
// section 7). Host and device.
#pragma once

#include "garra/solvers/friction_newton.hpp"
#include "garra/solvers/rest_forces.hpp"
#include "grasp/sample/problem.hpp"

namespace garra::grasp {

/// Result of step 6: certificate, contact states and outcome, from up to two candidates of different starts.
template <class S, int N, int D = 3>
struct SampleResult {
  S outcome;           ///< grasp::Outcome, or kPending
  S otherwise;         ///< for a pending sample: the outcome if it is not held
  S residual;          ///< change of the load (contact-solver.md (5)), of the candidate that counts
  S iterations;        ///< Newton steps
  S sticks;            ///< 1 if every contact sticks, else 0; NaN: unsolved
  S acceleration;      ///< of the object's center of mass under the forces found [m/s^2]; NaN: unsolved
  S several;           ///< 1: another certified solution moves otherwise, else 0
  S opens;             ///< contacts that open: a_n above HeldRule::acceleration
  S resisted;          ///< Metrics::resisted and ...
  S imbalance;         ///< ... Metrics::imbalance of the contacts that do not open
  Vec<S, N> state;     ///< grasp::ContactState
  Vec<S, D * N> c, a;  ///< forces on the object [N], relative accelerations [m/s^2]

  static constexpr auto parts() {
    return std::tuple{&SampleResult::outcome,    &SampleResult::otherwise, &SampleResult::residual,
                      &SampleResult::iterations, &SampleResult::sticks,    &SampleResult::acceleration,
                      &SampleResult::several,    &SampleResult::opens,     &SampleResult::resisted,
                      &SampleResult::imbalance,  &SampleResult::state,     &SampleResult::c,
                      &SampleResult::a};
  }
};

/// Outcome of a sample that is held if forces exist that leave its closed contacts at rest (RestKernel).
inline constexpr int kPending = kOutcomes;

/// Whether a contact's acceleration counts as rest. The fourth number of a soft contact is the angular acceleration
/// times its torsion radius, of millimeters, and has a thousandth of the bound: an object could turn out of the hand.
template <class S, int D>
GARRA_HD MaskOf<S> is_rest(const Vec<S, D>& a, const S& most) {
  if constexpr (D == 3)
    return norm(a) <= most;
  else
    return norm(vec3(a[0], a[1], a[2])) <= most && abs(a[3]) <= S(1e-3) * most;
}

/// Rule and input tiles of the outcome. Metrics have passed the balance step.
template <int N, int D = 3>
struct SampleCheck {
  double tolerance;
  HeldRule held;
  const double* problems;
  const double* metrics;
  const double* candidates;
  const double* second;  ///< candidates from another start, or nullptr

  /// Outcome of sample i, without the object's acceleration.
  template <class S>
  GARRA_HD SampleResult<S, N, D> sample_result(std::int64_t i) const {
    const auto problem = batch::load<S, solvers::FrictionProblem<S, N, D>>(problems, i);
    const auto m = batch::load<S, Metrics<S, N>>(metrics, i);
    SampleResult<S, N, D> v;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (const double* from = candidates; from != nullptr; from = from == candidates ? second : nullptr) {
      const auto found = batch::load<S, solvers::Candidate<S, N, D>>(from, i);
      const auto here = sample_check<S>(problem, solvers::certified(problem, found, tolerance));
      if (from == candidates) {
        v = here;
        continue;
      }
      S apart = S(0);
      // Compares accelerations, not forces: forces need not be unique if A is singular, and no outcome depends on them.
      for (int k = 0; k < extent<D * N>(); ++k) apart = max(apart, abs(v.a[k] - here.a[k]));
      const auto different = apart > S(1e-5) * solvers::friction_scale(problem).size_b;  // false if one is NaN
      v = choose(v.outcome == S(int(Outcome::kUnsolved)), here, v);                      // either certificate will do
      v.several = select(different, S(1), S(0));
    }
    conclude(m, v);
    return choose(m.reached > S(0), v, unreachable<S>());
  }

  /// The outcome of a sample with the contact states of `v`.
  template <class S>
  GARRA_HD void conclude(const Metrics<S, N>& m, SampleResult<S, N, D>& v) const {
    const S most = S(held.acceleration), held_so = S(int(Outcome::kHeld));
    auto rests = v.sticks == v.sticks;  // solved
    const auto solved = rests;
    v.opens = S(0);
    for (int j = 0; j < extent<N>(); ++j) {
      const Vec<S, D> a = solvers::contact<S, N, D>(v.a, j);
      rests = rests && is_rest(a, most);
      v.opens += select(a[0] > most, S(1), S(0));
    }
    v.resisted = m.resisted;
    v.imbalance = m.imbalance;
    const auto sure = rests && MaskOf<S>(!held.limited);
    // Contacts stick, but are not at rest: forces exceed their limits.
    S fails = select(v.outcome == held_so, S(int(Outcome::kCommandInsufficient)), v.outcome);
    fails = select(solved && v.several > S(0), S(int(Outcome::kSeveral)), fails);
    v.outcome = select(sure, held_so, fails);
    // Undecided balance: the sample may be held or not.
    v.outcome = select(sure && !(m.resisted == m.resisted), S(int(Outcome::kUnsolved)), v.outcome);
    // Stronger reasons come later: no command carries a wrench that no forces can balance, and out of reach there is no
    // problem.
    v.outcome = select(m.imbalance > S(held.imbalance), S(int(Outcome::kCommandInsufficient)), v.outcome);
    v.outcome = select(m.resisted == S(0), S(int(Outcome::kNotResisted)), v.outcome);
    v.otherwise = v.outcome;
    const auto carried = v.opens > S(0) || !(m.imbalance > S(held.imbalance));
    v.outcome = select(solved && !sure && carried && !(m.resisted == S(0)), S(kPending), v.outcome);
  }

  /// Selects one of two results per lane.
  template <class S>
  static GARRA_HD SampleResult<S, N, D> choose(const MaskOf<S>& first, const SampleResult<S, N, D>& a,
                                               const SampleResult<S, N, D>& b) {
    SampleResult<S, N, D> v;
    v.outcome = select(first, a.outcome, b.outcome);
    v.otherwise = select(first, a.otherwise, b.otherwise);
    v.residual = select(first, a.residual, b.residual);
    v.iterations = select(first, a.iterations, b.iterations);
    v.sticks = select(first, a.sticks, b.sticks);
    v.acceleration = select(first, a.acceleration, b.acceleration);
    v.several = select(first, a.several, b.several);
    v.opens = select(first, a.opens, b.opens);
    v.resisted = select(first, a.resisted, b.resisted);
    v.imbalance = select(first, a.imbalance, b.imbalance);
    v.state = select(first, a.state, b.state);
    v.c = select(first, a.c, b.c);
    v.a = select(first, a.a, b.a);
    return v;
  }

  /// Out of reach there is no problem, so all numbers are undefined.
  template <class S>
  static GARRA_HD SampleResult<S, N, D> unreachable() {
    const S nan = S(__builtin_nan(""));
    SampleResult<S, N, D> v;
    v.outcome = v.otherwise = S(int(Outcome::kUnreachable));
    v.residual = v.acceleration = v.resisted = v.imbalance = nan;
    v.iterations = v.sticks = v.several = v.opens = S(0);
    for (int k = 0; k < extent<N>(); ++k) v.state[k] = S(0);
    for (int k = 0; k < extent<D * N>(); ++k) v.c[k] = v.a[k] = nan;
    return v;
  }

  template <class S>
  static GARRA_HD SampleResult<S, N, D> sample_check(const solvers::FrictionProblem<S, N, D>& p,
                                                     const solvers::FrictionSolution<S, N, D>& s) {
    static_assert(int(ContactState::kSlip) == 1 && int(ContactState::kBreak) == 2, "as contact_state numbers them");
    SampleResult<S, N, D> v;
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
    v.acceleration = v.otherwise = v.resisted = v.imbalance = S(__builtin_nan(""));
    v.several = v.opens = S(0);
    v.residual = s.residual;
    v.iterations = s.effort.outer;
    v.c = s.c;
    v.a = s.a;
    return v;
  }
};

/// Step 6 for every sample of a study.
template <int N>
struct SampleCheckKernel {
  const GraspModel* model;
  SampleParts from;
  SampleCheck<N> sample_check;
  double* sample_results;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    auto v = sample_check.template sample_result<S>(i);
    v.acceleration = acceleration(i, v.c);
    batch::store<S>(sample_results, i, v);
  }

  /// |m g + f + sum E_j c_j| / m.
  template <class S>
  GARRA_HD S acceleration(std::int64_t i, const Vec<S, 3 * N>& c) const {
    const auto load = batch::load<S, ObjectLoad<S>>(from.loads, i);
    Vec3<S> force = load.body.mass * cast<S>(model->gravity);
    for (int k = 0; k < 3; ++k) force[k] += load.wrench[k];
    for (int j = 0; j < extent<N>(); ++j)
      force += batch::load<S, FingerTask<S>>(from.task_tile(j), i).place.E * solvers::contact<S, N>(c, j);
    return norm(force) / load.body.mass;
  }
};

/// Bits of the opening contacts of a pending sample.
template <int N, int D>
GARRA_HD std::uint32_t opened(const SampleResult<double, N, D>& v, const HeldRule& held) {
  std::uint32_t bits = 0;
  for (int j = 0; j < extent<N>(); ++j)
    if (v.a[D * j] > held.acceleration) bits |= std::uint32_t{1} << j;
  return bits;
}

/// Input of the check whether the contacts of a sample are at rest, except for those in `left_out`. They are if no
/// contact is faster than HeldRule::acceleration under the found forces. They also are if some forces leave them at
/// rest by the criterion of contact states. Only the first `contacts` of N count.
struct RestTask {
  const double* problem;  ///< of FrictionProblem, in its tile
  const double *c, *a;    ///< a solution
  const double* limit;    ///< of each contact's normal force
  double most;            ///< HeldRule::acceleration
  int size;               ///< N
  int contacts;
  std::uint32_t left_out;
};
template <int D>
GARRA_HD solvers::RestAnswer at_rest(const RestTask& task, double* room) {
  int kept[32], n = 0;
  bool rests = true;
  for (int j = 0; j < task.contacts; ++j) {
    if ((task.left_out >> j & 1) != 0) continue;
    kept[n++] = j;
    Vec<double, D> a;
    for (int k = 0; k < D; ++k) a[k] = task.a[D * j + k];
    rests = rests && is_rest(a, task.most) && task.c[D * j] <= (1 + 1e-6) * task.limit[j];
  }
  if (rests) return {1, 0};
  const std::int64_t all = D * task.size;
  const auto given = [&](std::int64_t field) { return task.problem[field * batch::kTile]; };
  double load = 0;
  for (int i = 0; i < all; ++i) load = max(load, abs(given(all * all + i)));
  const solvers::RestProblem<D> p{n, min(load > 0 ? solvers::kMotion * load : 1.0, task.most), room};
  for (int i = 0; i < n; ++i) {
    for (int r = 0; r < D; ++r) {
      const int row = D * kept[i] + r;
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < D; ++k) p.A(D * i + r, D * j + k) = given(row * all + D * kept[j] + k);
      p.b()[D * i + r] = given(all * all + row);
      p.c()[D * i + r] = task.c[row];
    }
    p.mu()[i] = given(all * all + all + kept[i]);
    p.limit()[i] = task.limit[kept[i]];
    p.least()[i] = 0;
  }
  return solvers::rest_forces(p);
}

/// Step 7: a pending sample is held if forces leave all contacts at rest and these resist and carry the wrench. Else
/// the same of the contacts that do not open under the found forces: with redundant contacts the solver may find forces
/// that open one although it need not. The sample stays pending then, because the remaining contacts need another
/// balance.
template <int N, int D>
GARRA_HD void look_again(RestTask task, double* room, const HeldRule& held, SampleResult<double, N, D>& v) {
  if (v.opens > 0 && v.resisted == 1 && !(v.imbalance > held.imbalance)) {
    const std::uint32_t left_out = task.left_out;
    task.left_out = 0;
    if (at_rest<D>(task, room).exists == 1) {
      v.opens = 0;
      v.outcome = int(Outcome::kHeld);
      return;
    }
    task.left_out = left_out;
  }
  if (v.opens >= task.contacts) {  // nothing is left to hold
    v.outcome = v.otherwise;
    return;
  }
  const double exists = at_rest<D>(task, room).exists;
  if (exists == 0) v.outcome = v.otherwise;
  if (!(exists == exists)) v.outcome = int(Outcome::kUnsolved);
  if (exists == 1 && v.opens == 0) settle_pending(held, v);
}
/// Settles the outcome after the balance of the contacts that do not open.
template <int N, int D>
GARRA_HD void settle_pending(const HeldRule& held, SampleResult<double, N, D>& v) {
  const bool fails = v.resisted == 0 || v.imbalance > held.imbalance;
  v.outcome = fails ? v.otherwise : v.resisted == 1 ? int(Outcome::kHeld) : int(Outcome::kUnsolved);
}

/// Step 7 of a study, one sample after another: few of them are pending.
template <int N>
struct RestKernel {
  const GraspModel* model;
  const double* problems;
  double* sample_results;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    if (*batch::tile_at<double, SampleResult<double, N>>(sample_results, i) != kPending) return;
    auto v = batch::load<double, SampleResult<double, N>>(sample_results, i);
    double room[solvers::RestProblem<3>::room(kCapacity<N>)];
    const double* problem = batch::tile_at<double, solvers::FrictionProblem<double, N>>(problems, i);
    look_again({problem, v.c.m, v.a.m, model->force_limit, model->held.acceleration, extent<N>(), extent<N>(),
                opened(v, model->held)},
               room, model->held, v);
    batch::store<double>(sample_results, i, v);
  }
};

/// Step 8: pending samples after a second BalanceKernel.
template <int N>
struct SettleKernel {
  HeldRule held;
  double* sample_results;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    if (*batch::tile_at<double, SampleResult<double, N>>(sample_results, i) != kPending) return;
    auto v = batch::load<double, SampleResult<double, N>>(sample_results, i);
    settle_pending(held, v);
    batch::store<double>(sample_results, i, v);
  }
};

}  // namespace garra::grasp
