// Fourth step of a sample, the equilibrium check: whether any contact forces can balance the wrench on the object, and
// whether the command does (docs/theory/grasp-model.md, section 7). Host and device.
#pragma once

#include "garra/batch/device.hpp"
#include "garra/solvers/wrench_balance.hpp"
#include "grasp/sample/check.hpp"

namespace garra::grasp {

/// The object's side of a sample, moments divided by its radius of gyration: all rows are forces [N].
template <class S, int N, int D = 3>
struct ObjectWrench {
  Mat<S, 6, D * N> W;  ///< wrench of contact forces (n, t, o)
  Vec<S, 6> w;         ///< weight, external and gyroscopic wrench
  S size;              ///< |weight| + |the rest|
  S radius;            ///< of gyration: root of the mean of its squares about the three axes [m]
};

template <class S, int N>
GARRA_HD ObjectWrench<S, N> object_wrench(const GraspModel& m, const ObjectLoad<S>& load,
                                          const ContactPlace<S> (&places)[kCapacity<N>]) {
  const Body<S>& body = load.body;
  ObjectWrench<S, N> out;
  // rho^2 = tr I / 3 m   (docs/theory/grasp-model.md, section 7)
  out.radius = sqrt((body.inertia(0, 0) + body.inertia(1, 1) + body.inertia(2, 2)) / (S(3) * body.mass));
  const S inverse = S(1) / out.radius;
  for (int j = 0; j < extent<N>(); ++j) {
    const Mat<S, 6, 3> W = wrench_matrix(places[j], body.p_cm);
    for (int r = 0; r < 3; ++r)
      for (int k = 0; k < 3; ++k) {
        out.W(r, 3 * j + k) = W(r, k);
        out.W(r + 3, 3 * j + k) = inverse * W(r + 3, k);
      }
  }
  Vec<S, 6> rest = load.wrench;
  if (m.moving) {
    // At rest, omega = 0: skipped, not only zero.
    const Vec3<S> gyroscopic = cross(body.omega, body.inertia * body.omega);
    for (int i = 0; i < 3; ++i) rest[i + 3] -= gyroscopic[i];
  }
  for (int i = 0; i < 3; ++i) rest[i + 3] *= inverse;
  const Vec3<S> weight = body.mass * cast<S>(m.gravity);
  out.size = norm(weight) + norm(rest);
  out.w = rest;
  // After `size`: weight and remaining wrench are measured apart, so that a wrench that cancels the weight does not
  // hide both.
  for (int i = 0; i < 3; ++i) out.w[i] += weight[i];
  return out;
}

/// The command as contact forces (n, t, o): the finger's force on a contact that does not move, -A_j^-1 d_j. With exact
/// compensation that is the commanded force itself, which replaces it if A_j is singular.
template <class S>
GARRA_HD Vec3<S> pressed_force(const FingerTask<S>& task, const FingerShare<S>& share) {
  const auto mobility = inverse_spd(share.A);
  return select(mobility.bad_pivots > S(0), transpose_times(task.place.E, task.force),
                -(mobility.inverse * share.drift));
}

/// Largest multiples of given wrenches that may be added before balancing forces c leave their cones or limits. They
/// are lower bounds, since other forces may go farther.
template <class S>
struct BalanceReserve {
  S radius;  ///< of any wrench |(F, T / length)| [N]
  S factor;  ///< of the model's probe
  S lost;    ///< 1 if no forces balance the probe at all
};

template <class S, int N, int R, int K, int D>
GARRA_HD BalanceReserve<S> balance_reserve(const HoldUnits& m, const ObjectWrench<S, N, D>& object,
                                           const solvers::WrenchBalance<S, N, R, K, D>& p, const Vec<S, D * N>& c) {
  const auto gram = solvers::balance::gram<S, N, D>(p.W);
  Vec<S, 6> probe;
  // The probe has the row scaling of W.
  for (int r = 0; r < 6; ++r) probe[r] = S(m.probe[r]) / (r < 3 ? S(1) : object.radius);
  const Vec<S, 6> spread = solve(gram.factors, probe);
  // Converts moments in units of `radius` into those of the model's `length`.
  const S turn = S(m.length) / object.radius;
  const Vec<S, 6> lost = gram.shift * spread;  // part of the probe that no forces reach
  BalanceReserve<S> out = {S(kInfinity), S(kInfinity), S(0)};
  // Only a rank-deficient W can lose something; 1e-9 of it is the tolerance of a balance.
  out.lost = select(gram.deficient > S(0) && norm(lost) > S(1e-9) * norm(probe), S(1), S(0));
  Mat<S, D * K, 6> G_finger;  // of the contacts of a finger
  Vec<S, D * K> step_finger;
  for (int j = 0; j < extent<N>(); ++j) {
    Mat<S, 6, D> W;
    for (int r = 0; r < 6; ++r)
      for (int k = 0; k < D; ++k) W(r, k) = p.W(r, D * j + k);
    // W^T (W W^T)^-1: up to its sign, the change of the least-norm forces with an added wrench (F, T / length).
    const Mat<S, 6, D> X = solve(gram.factors, W);
    Mat<S, D, 6> G;
    for (int k = 0; k < D; ++k)
      for (int r = 0; r < 6; ++r) G(k, r) = X(r, k) * (r < 3 ? S(1) : turn);
    const Vec<S, D> cj = solvers::contact<S, N, D>(c, j), step = -transpose_times(W, spread);
    const S room = p.limit[j] - cj[0];
    // Distance of the force to cone or limit, divided by its change per unit wrench.
    out.radius = min(out.radius, max(min(cone_distance(cj, p.mu[j]), room), S(0)) / spectral_norm(G));
    const auto grows = step[0] > S(0);
    // Only a growing normal force reaches its limit.
    const S to_limit = select(grows, max(room, S(0)) / select(grows, step[0], S(1)), S(kInfinity));
    out.factor = min(out.factor, min(cone_exit(cj, step, p.mu[j]), to_limit));
    if constexpr (R > 0) {
      for (int k = 0; k < D; ++k) {
        step_finger[D * (j % K) + k] = step[k];
        for (int r = 0; r < 6; ++r) G_finger(D * (j % K) + k, r) = G(k, r);
      }
      if (j % K < K - 1) continue;
      for (int i = 0; i < p.rows; ++i) {
        const Vec<S, D* K>& gain = p.gain[j / K][i];
        const S share = solvers::balance::torque_share(p, c, j / K, i), turn = dot(gain, step_finger);
        const S size = norm(transpose_times(G_finger, gain));
        // A radius may use up a torque in either direction, the probe in its own only.
        const S left = max(S(1) - abs(share), S(0)), ahead = max(select(turn > S(0), S(1) - share, S(1) + share), S(0));
        const auto counts = size > S(0), turns = abs(turn) > S(0);
        out.radius = min(out.radius, select(counts, left / select(counts, size, S(1)), S(kInfinity)));
        out.factor = min(out.factor, select(turns, ahead / select(turns, abs(turn), S(1)), S(kInfinity)));
      }
    }
  }
  return out;
}

/// The smaller value if the wrench can be balanced, 0 if it cannot, NaN if that or the metric is unknown.
template <class S>
GARRA_HD S cut(const S& balanced, const S& metric, const S& most) {
  const S nan = S(__builtin_nan(""));
  const S value = select(balanced == S(1), min(metric, most), select(balanced == S(0), S(0), nan));
  return select(metric == metric, value, nan);
}

/// Limits load factor and resisted force radius of the stick force to wrenches that can be balanced. `reserve_of(c)`
/// returns the balance_reserve() of forces c.
template <class S, int N, int R, int K, int D, class Reserve>
GARRA_HD void cut_down(const HoldUnits& m, const solvers::BalanceAnswer<S, N, R, K, D>& answer,
                       const Reserve& reserve_of, Metrics<S, N>& out) {
  const S zero = S(0);
  S radius = S(kInfinity), factor = S(kInfinity);
  // If no lane needs a limit, the reserves are not computed.
  if (m.limited || any(answer.closed == zero || answer.rank_deficient > zero)) {
    const BalanceReserve<S> reserve = reserve_of(answer.c);
    // Without limits, more squeeze carries every wrench in the range of W.
    const auto any_force = answer.closed > zero && S(m.limited ? 1 : 0) == zero;
    radius = select(any_force, radius, reserve.radius);
    factor = select(any_force, factor, reserve.factor);
    factor = select(reserve.lost > zero, zero, factor);
  }
  // No force reaches some direction at all.
  radius = select(answer.rank_deficient > zero, zero, radius);
  out.resisted_force_radius = cut(answer.balanced, out.resisted_force_radius, radius);
  out.load_factor = cut(answer.balanced, out.load_factor, factor);
}

/// Checks a sample's wrench: whether any forces can balance it, and how much the command leaves unbalanced. `left`:
/// residual of the commanded forces, which are also the initial guess of the search for forces.
template <class S, int N, int R, int K, int D, class Reserve>
GARRA_HD void settle(const HoldUnits& m, const ObjectWrench<S, N, D>& object,
                     const solvers::WrenchBalance<S, N, R, K, D>& p, const Vec<S, D * N>& command,
                     const Vec<S, 6>& left, const Reserve& reserve_of, Metrics<S, N>& out) {
  const auto something = object.size > S(0);
  // (23) of docs/theory/grasp-model.md; a zero load counts as carried.
  out.imbalance = select(something, norm(left) / select(something, object.size, S(1)), S(0));
  const auto answer = solvers::balance_wrench(p, command);
  out.resisted = answer.balanced;
  cut_down(m, answer, reserve_of, out);
}
template <class S, int N, int R, int K, int D>
GARRA_HD void settle(const HoldUnits& m, const ObjectWrench<S, N, D>& object,
                     const solvers::WrenchBalance<S, N, R, K, D>& p, const Vec<S, D * N>& command,
                     const Vec<S, 6>& left, Metrics<S, N>& out) {
  const auto reserve_of = [&](const Vec<S, D * N>& c) { return balance_reserve(m, object, p, c); };
  settle(m, object, p, command, left, reserve_of, out);
}

/// Step 4: resisted and imbalance; limits load factor and resisted force radius to what can be balanced. R: capacity
/// for the joints of a finger if torques are limited, else 0.
template <int N, int R = 0>
struct BalanceKernel {
  const GraspModel* model;
  SampleParts from;
  double* metrics;                   ///< Metrics, read and written
  double* sample_results = nullptr;  ///< SampleResult; if given, only pending samples, without the contacts that open

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    std::uint32_t left_out = 0;
    if constexpr (kWidth<S> == 1)
      if (sample_results != nullptr) {
        if (*batch::tile_at<double, SampleResult<double, N>>(sample_results, i) != kPending) return;
        left_out = opened(batch::load<double, SampleResult<double, N>>(sample_results, i), model->held);
      }
    const Wrenches<S> given = wrenches<S>(i, left_out);
    auto out = batch::load<S, Metrics<S, N>>(metrics, i);
    const auto reserve_of = [&](const Vec<S, 3 * N>& c) { return reserve(i, c); };
    settle(model->hold, given.object, given.problem, given.command, given.problem.W * given.command + given.problem.w,
           reserve_of, out);
    if constexpr (kWidth<S> == 1)
      if (sample_results != nullptr) {
        auto v = batch::load<double, SampleResult<double, N>>(sample_results, i);
        v.resisted = out.resisted;
        v.imbalance = out.imbalance;
        return batch::store<double>(sample_results, i, v);
      }
    const auto reached = out.reached > S(0);
    const S nan = S(__builtin_nan(""));
    // A torque that is cut off does not follow the squeeze.
    if constexpr (R > 0) out.min_grip_force = select(given.asked > S(1), nan, out.min_grip_force);
    // Out of reach there are no contacts, so their numbers are undefined.
    out.imbalance = select(reached, out.imbalance, nan);
    out.resisted = select(reached, out.resisted, nan);
    batch::store<S>(metrics, i, out);
  }

 private:
  /// Wrench balance problem of one sample, with its command as contact forces (n, t, o) [N].
  template <class S>
  struct Wrenches {
    ObjectWrench<S, N> object;
    solvers::WrenchBalance<S, N, R> problem;
    Vec<S, 3 * N> command;
    S asked;  ///< largest commanded torque over its limit
  };

  /// `left_out`: bits of contacts that take no part.
  template <class S>
  GARRA_HD Wrenches<S> wrenches(std::int64_t i, std::uint32_t left_out) const {
    const GraspModel& m = *model;
    ContactPlace<S> places[kCapacity<N>];
    Wrenches<S> out;
    auto& p = out.problem;
    out.asked = S(0);
    // Rows beyond the joints of the largest finger are zero; skipping them saves their time.
    if constexpr (R > 0) p.rows = m.most_joints;
    for_each_index<N>([&](auto j) {
      const auto task = batch::load<S, FingerTask<S>>(from.task_tile(j), i);
      places[j] = task.place;
      p.mu[j] = task.friction;
      p.limit[j] = S(m.force_limit[j]);
      solvers::set_contact<S, N>(out.command, j,
                                 pressed_force(task, batch::load<S, FingerShare<S>>(from.share_tile(j), i)));
      if constexpr (R > 0) {
        const auto hold = batch::load<S, FingerHold<S>>(from.hold_tile(j), i);
        for (int k = 0; k < R; ++k) {
          p.gain[j][k] = hold.gain[k];
          p.own[j][k] = hold.own[k];
        }
        out.asked = max(out.asked, hold.asked);
      }
    });
    out.object = object_wrench<S, N>(m, batch::load<S, ObjectLoad<S>>(from.loads, i), places);
    p.W = out.object.W;
    p.w = out.object.w;
    if (left_out != 0) leave_out(left_out, p);
    return out;
  }
  template <class S>
  GARRA_HD static void leave_out(std::uint32_t which, solvers::WrenchBalance<S, N, R>& p) {
    for (int j = 0; j < extent<N>(); ++j) {
      if ((which >> j & 1) == 0) continue;
      for (int r = 0; r < 6; ++r)
        for (int k = 0; k < 3; ++k) p.W(r, 3 * j + k) = S(0);
      if constexpr (R > 0)
        for (int k = 0; k < R; ++k) p.gain[j][k] = Vec3<S>::zero();
    }
  }

  /// Few samples need it, except those of hands with limits. Its inputs are loaded again: kept from the start, they
  /// would take half of a GPU thread's registers.
  template <class S>
  GARRA_HD_CALL BalanceReserve<S> reserve(std::int64_t i, Vec<S, 3 * N> c) const {
    const Wrenches<S> given = wrenches<S>(i, 0);
    return balance_reserve(model->hold, given.object, given.problem, c);
  }
};

/// Runs step 4 on the host. Compiled once, in grasp/instances/balance.cpp and grasp/instances/balance_torques.cpp.
template <int R>
void balance(Executor executor, const BalanceKernel<kAnyContacts, R>& body, std::int64_t count);

/// Calls run(body) with the body that the model needs. `host` is the model readable by the caller, `where` the one
/// readable by the body.
template <int N = kAnyContacts, class Run>
void with_balance(const GraspModel& host, const GraspModel* where, const SampleParts& from, double* metrics,
                  const Run& run) {
  if (host.torque_limited)
    run(BalanceKernel<N, chain::kMaxJoints>{where, from, metrics});
  else
    run(BalanceKernel<N>{where, from, metrics});
}

}  // namespace garra::grasp
