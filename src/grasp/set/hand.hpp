// Samples of grasps whose hand is known: compliant contacts or a whole hand with its command. From uniform numbers to
// the contact problem and the wrench balance, which are those of a grasp study. Host and device; docs/grasp-sets.md.
#pragma once

#include "grasp/sample/balance.hpp"
#include "grasp/sample/judge.hpp"
#include "grasp/set/model.hpp"

namespace garra::grasp {

/// The hand of a grasp with N contacts, and what its samples need of the object besides. Object axes.
template <int N>
struct SetHand {
  Mat<double, 3 * N, 3 * N> mobility;  ///< J M^-1 J^T [1/kg]
  /// J M^-1 (bias - torque) without and with the command: how the contact points would move away [m/s^2].
  Vec<double, 3 * N> own_drift, command_drift;
  /// What the same torques press with on contacts that do not move, as far as that is theirs to say [N].
  Vec<double, 3 * N> own_force, command_force;
  bool structured;                            ///< along some contact directions the hand cannot move
  Mat<double, 3 * N, 3 * N> structure;        ///< projects onto these
  Mat3<double> gyration2, inverse_gyration2;  ///< the object's inertia over its mass [m^2]
  HoldUnits hold;
};

/// A joint with a torque limit, or with a torque that is off by something, of a hand with N contacts; object axes.
template <int N>
struct LimitedJoint {
  double limit;               ///< of |torque| [N m or N]; infinity: none, one that fills up
  double own, command, bias;  ///< torque without and with the command, and what holds the hand itself
  Vec<double, 3 * N> gain;    ///< J: torque that contact forces on the object take
  Vec<double, 3 * N> drift;   ///< J M^-1: how the torque moves the contact points
  Vec<double, 3 * N> press;   ///< what it presses with on contacts that do not move
};

/// Those of all grasps, `each` of one.
template <int N>
struct LimitedJoints {
  const LimitedJoint<N>* all = nullptr;
  int each = 0;
  bool limit = false;  ///< some torques

  [[nodiscard]] GARRA_HD const LimitedJoint<N>* of(std::int64_t grasp) const { return all + grasp * each; }
};

/// What a sample's balance starts from besides its wrench problem. Members are S.
template <class S, int N>
struct HandCommand {
  Vec<S, 3 * N> force;  ///< commanded, (n, t, o) [N]
  Vec<S, 6> left;       ///< what it leaves unbalanced, moments over the grasp's length [N]
  S size;               ///< |weight| + |the rest|
};

/// Tiles that the steps of such samples hand on.
struct HandTiles {
  double* problems;    ///< FrictionProblem
  double* wrenches;    ///< BalanceOp::In
  double* commands;    ///< HandCommand
  double* metrics;     ///< Metrics
  double* candidates;  ///< Candidate
  double* second;      ///< the same from another start; null: not asked for
  double* results;     ///< HandResult
};

/// By how much the torque of a joint is off.
template <class S>
GARRA_HD S torque_error(const SetModel& model, const SampleIndex<S>& index, int joint) {
  S u = S(0.5), unused;
  if (!model.torque_error.is_constant())
    uniform_pair<S>(model.seed, index, static_cast<std::uint32_t>(kJointBlock + joint), u, unused);
  return study::quantile(model.torque_error, u);
}

/// Draws samples and builds their problems.
template <int N>
struct HandBuildBody {
  static constexpr bool kCalls = solvers::kInMemory<N>;
  CandidateBody<N> draw;  ///< its problems are HandTiles::wrenches
  const SetHand<N>* hands;
  LimitedJoints<N> joints;
  bool squeeze_errors;  ///< some are drawn
  HandTiles to;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto index = SampleIndex<S>::consecutive(static_cast<std::uint64_t>(draw.first + i % draw.samples));
    const SetGrasp<N>& g = draw.grasps[i / draw.samples];
    const SetHand<N>& hand = hands[i / draw.samples];
    auto sample = draw.sample(g, index);
    if constexpr (N > kMaxContacts) take_off(g, sample);
    const auto wrench = draw.problem_of(g, sample);
    Asked<S> asked = told(g, hand, sample);
    if (joints.each > 0) cut_off(g, joints.of(i / draw.samples), sample, index, asked);
    System<S, N> sys = system(g, hand, sample, asked.drift);
    auto pressed = command(hand, sample, wrench, asked.force);
    if constexpr (N > kMaxContacts) rest(g, sys, pressed);
    batch::store<S>(to.problems, i, solvers::FrictionProblem<S, N>{sys.A, sys.b, sample.friction});
    auto metrics = hold_metrics<S, N>(hand.hold, sys, sample.friction, Vec<S, 3 * N>::zero(), S(0));
    metrics.reached = S(1);
    batch::store<S>(to.metrics, i, metrics);
    batch::store<S>(to.wrenches, i, wrench);
    batch::store<S>(to.commands, i, pressed);
  }

 private:
  /// What the command does, object axes.
  template <class S>
  struct Asked {
    Vec<S, 3 * N> drift;  ///< how the contact points would move away [m/s^2]
    Vec<S, 3 * N> force;  ///< what it presses with on contacts that do not move [N]
  };
  /// Contacts beyond those of the grasp: without axes they do nothing to the object.
  template <class S>
  GARRA_HD static void take_off(const SetGrasp<N>& g, SetSample<S, N>& s) {
    for (int j = g.contacts; j < N; ++j) {
      s.place[j].E = Mat3<S>::zero();
      s.friction[j] = S(1);
      s.squeeze_error[j] = S(0);
    }
  }
  /// They press on what does not move, with a force that is on the axis of its cone: no metric and no outcome is
  /// theirs.
  template <class S>
  GARRA_HD static void rest(const SetGrasp<N>& g, System<S, N>& sys, HandCommand<S, N>& command) {
    S largest = S(0);
    for (int k = 0; k < 3 * g.contacts; ++k) largest = max(largest, abs(sys.b[k]));
    const S stiff = sys.A(0, 0), force = select(largest > S(0), S(0.5) * largest / stiff, S(1));
    solvers::add_spare<S, N>({g.contacts, stiff, force}, sys.A, sys.b);
    for (int j = g.contacts; j < N; ++j) command.force[3 * j] = force;
  }

  template <class S>
  GARRA_HD static Vec3<S> part(const Vec<S, 3 * N>& all, int j) {
    return vec3(all[3 * j], all[3 * j + 1], all[3 * j + 2]);
  }
  /// E_i^T B_ij E_j.
  template <class S>
  GARRA_HD static Mat3<S> turned(const SetHand<N>& hand, const SetSample<S, N>& s, int i, int j) {
    Mat3<S> B;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) B(r, c) = S(hand.mobility(3 * i + r, 3 * j + c));
    return transpose_times(s.place[i].E, B * s.place[j].E);
  }
  /// The pushes that the command is off by, object axes: along the modelled normals.
  template <class S>
  GARRA_HD static Vec3<S> push(const SetGrasp<N>& g, const SetSample<S, N>& s, int j) {
    return s.squeeze_error[j] * cast<S>(g.contact[j].n);
  }

  template <class S>
  GARRA_HD Asked<S> told(const SetGrasp<N>& g, const SetHand<N>& hand, const SetSample<S, N>& s) const {
    Asked<S> out;
    for (int k = 0; k < 3 * N; ++k) {
      out.drift[k] = fma(s.command, S(hand.command_drift[k]), S(hand.own_drift[k]));
      out.force[k] = fma(s.command, S(hand.command_force[k]), S(hand.own_force[k]));
    }
    if (!squeeze_errors) return out;
    for (int j = 0; j < N; ++j) {
      const Vec3<S> f = push(g, s, j);
      for (int k = 0; k < 3 * N; ++k)
        for (int c = 0; c < 3; ++c) out.drift[k] = fma(-S(hand.mobility(k, 3 * j + c)), f[c], out.drift[k]);
      for (int c = 0; c < 3; ++c) out.force[3 * j + c] += f[c];
    }
    return out;
  }

  /// Torques are off by their errors, and one beyond its limit is cut off there, as a motor's current is
  /// (docs/grasp-model.md, section 5).
  template <class S>
  GARRA_HD_CALL void cut_off(const SetGrasp<N>& g, const LimitedJoint<N>* joint, const SetSample<S, N>& s,
                             const SampleIndex<S>& index, Asked<S>& asked) const {
    const SetModel& model = draw.model;
    for (int k = 0; k < joints.each; ++k, ++joint) {
      S torque = fma(s.command, S(joint->command), S(joint->own));
      for (int j = 0; squeeze_errors && j < N; ++j) {
        const Vec3<S> f = push(g, s, j);
        for (int c = 0; c < 3; ++c) torque = fma(S(joint->gain[3 * j + c]), f[c], torque);
      }
      const S given = torque + torque_error(model, index, k);
      const S excess = max(min(given, S(joint->limit)), S(-joint->limit)) - torque;
      for (int r = 0; r < 3 * N; ++r) {
        asked.drift[r] = fma(-S(joint->drift[r]), excess, asked.drift[r]);
        asked.force[r] = fma(S(joint->press[r]), excess, asked.force[r]);
      }
    }
  }

  template <class S>
  GARRA_HD System<S, N> system(const SetGrasp<N>& g, const SetHand<N>& hand, const SetSample<S, N>& s,
                               const Vec<S, 3 * N>& drift) const {
    Body<S> body;
    body.mass = s.mass;
    body.inertia = s.mass * cast<S>(hand.gyration2);
    body.inverse_inertia = (S(1) / s.mass) * cast<S>(hand.inverse_gyration2);
    body.p_cm = s.com;
    body.v = body.omega = Vec3<S>::zero();
    ContactTerms<S> terms[N];
    for (int j = 0; j < N; ++j)
      terms[j] = {s.place[j],      turned(hand, s, j, j), transpose_times(s.place[j].E, part(drift, j)),
                  Vec3<S>::zero(), Vec3<S>::zero(),       Vec<S, 2>::zero()};
    Vec<S, 6> load = s.rest;  // with the weight in it: gravity may be another one in every sample
    for (int r = 0; r < 3; ++r) {
      load[r] = fma(s.mass, s.gravity[r], load[r]);
      load[r + 3] *= S(g.length);
    }
    System<S, N> sys = assemble<S, N>(body, terms, load, Vec3<double>::zero(), false);
    // What one contact's force moves at the others: palms, coupled joints, tendons.
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < i; ++j) {
        const Mat3<S> B = turned(hand, s, i, j);
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c) {
            sys.A(3 * i + r, 3 * j + c) += B(r, c);
            sys.A(3 * j + c, 3 * i + r) = sys.A(3 * i + r, 3 * j + c);
          }
      }
    return sys;
  }

  template <class S>
  GARRA_HD HandCommand<S, N> command(const SetHand<N>& hand, const SetSample<S, N>& s,
                                     const typename CandidateBody<N>::template Problem<S>& p,
                                     const Vec<S, 3 * N>& force) const {
    HandCommand<S, N> out;
    for (int j = 0; j < N; ++j) solvers::set_contact<S, N>(out.force, j, transpose_times(s.place[j].E, part(force, j)));
    out.left = p.W * out.force + p.w;
    if (hand.structured) out.left = beyond_structure(hand, s, p.W, out.left);
    out.size = norm(s.mass * s.gravity) + norm(s.rest);
    return out;
  }

  /// What is left where the hand's structure takes as much of `left` as it can.
  template <class S>
  GARRA_HD static Vec<S, 6> beyond_structure(const SetHand<N>& hand, const SetSample<S, N>& s,
                                             const Mat<S, 6, 3 * N>& W, const Vec<S, 6>& left) {
    Mat<S, 6, 3 * N> in_axes, reach;  // of forces in object axes; of those that the structure takes
    for (int j = 0; j < N; ++j)
      for (int r = 0; r < 6; ++r) {
        const Vec3<S> row = s.place[j].E * vec3(W(r, 3 * j), W(r, 3 * j + 1), W(r, 3 * j + 2));
        for (int c = 0; c < 3; ++c) in_axes(r, 3 * j + c) = row[c];
      }
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 3 * N; ++c) {
        S sum = in_axes(r, 0) * S(hand.structure(0, c));
        for (int k = 1; k < 3 * N; ++k) sum = fma(in_axes(r, k), S(hand.structure(k, c)), sum);
        reach(r, c) = sum;
      }
    S size = S(0);
    for (int k = 0; k < 18 * N; ++k) size = fma(W[k], W[k], size);
    return outside(reach, size, left);
  }

  /// The part of v outside of the range of `reach`, by powers of (1 + reach reach^T / shift)^-1: rounding leaves 1e-7
  /// of v, as does a singular value that is 1e-3 of the root of the sum of squares of all. `size`: of squares of which
  /// rounding leaves something where `reach` is nothing, as of several contacts in one place.
  template <class S>
  GARRA_HD static Vec<S, 6> outside(const Mat<S, 6, 3 * N>& reach, const S& size, Vec<S, 6> v) {
    Mat<S, 6, 6> g;
    S trace = S(0);
    for (int r = 0; r < 6; ++r) {
      for (int c = 0; c <= r; ++c) {
        S sum = reach(r, 0) * reach(c, 0);
        for (int k = 1; k < 3 * N; ++k) sum = fma(reach(r, k), reach(c, k), sum);
        g(r, c) = g(c, r) = sum;
      }
      trace += g(r, r);
    }
    const S shift = max(S(1e-8) * trace, S(1e-22) * size);
    for (int r = 0; r < 6; ++r) g(r, r) += shift;
    const auto factors = factor_ldlt(g);
    for (int pass = 0; pass < 4; ++pass) v = shift * solve(factors, v);
    return v;
  }
};

/// Whether forces can balance the wrench, and what the command leaves of it.
template <int N>
struct HandBalanceBody {
  static constexpr bool kCalls = solvers::kInMemory<N>;
  const SetGrasp<N>* grasps;
  const SetHand<N>* hands;
  std::int64_t samples;
  HandTiles at;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    using In = typename contact::BalanceOp<N>::template In<S>;
    const auto in = batch::load<S, In>(at.wrenches, i);
    const auto command = batch::load<S, HandCommand<S, N>>(at.commands, i);
    auto metrics = batch::load<S, Metrics<S, N>>(at.metrics, i);
    const solvers::WrenchBalance<S, N> p{{}, in.W, in.w, in.mu, in.limit};
    const ObjectWrench<S, N> object{in.W, in.w, command.size, S(grasps[i / samples].length)};
    settle(hands[i / samples].hold, object, p, command.force, command.left, metrics);
    batch::store<S>(at.metrics, i, metrics);
  }
};

/// The same where joints have torque limits.
template <int N>
struct HandTorqueBody {
  static constexpr bool kCalls = solvers::kInMemory<N>;
  HandBalanceBody<N> of;
  LimitedJoints<N> joints;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    using In = typename contact::BalanceOp<N>::template In<S>;
    const auto in = batch::load<S, In>(of.at.wrenches, i);
    const auto command = batch::load<S, HandCommand<S, N>>(of.at.commands, i);
    auto metrics = batch::load<S, Metrics<S, N>>(of.at.metrics, i);
    solvers::WrenchBalance<S, N, kMostTorqueLimits, N> p;
    p.W = in.W;
    p.w = in.w;
    p.mu = in.mu;
    p.limit = in.limit;
    set_rows(joints.of(i / of.samples), p);
    const ObjectWrench<S, N> object{in.W, in.w, command.size, S(of.grasps[i / of.samples].length)};
    settle(of.hands[i / of.samples].hold, object, p, command.force, command.left, metrics);
    batch::store<S>(of.at.metrics, i, metrics);
  }

 private:
  template <class S>
  GARRA_HD void set_rows(const LimitedJoint<N>* joint, solvers::WrenchBalance<S, N, kMostTorqueLimits, N>& p) const {
    p.rows = joints.each;
    for (int i = 0; i < joints.each; ++i) {
      const double inverse = 1 / joint[i].limit;
      p.own[0][i] = S(inverse * joint[i].bias);
      for (int j = 0; j < N; ++j)
        for (int c = 0; c < 3; ++c) {
          S sum = S(0);  // the force part of a column of W is the contact's axis
          for (int r = 0; r < 3; ++r) sum = fma(S(inverse * joint[i].gain[3 * j + r]), p.W(r, 3 * j + c), sum);
          p.gain[0][i][3 * j + c] = sum;
        }
    }
  }
};

/// Both on the host. Compiled once, in grasp/instances/set_hand_balance.cpp.
template <int N>
void balance(Executor executor, const HandBalanceBody<N>& body, std::int64_t count);
template <int N>
void balance(Executor executor, const HandTorqueBody<N>& body, std::int64_t count);

/// What counting needs of a sample.
template <class S>
struct HandResult {
  S outcome;   ///< grasp::Outcome
  S sticks;    ///< 1: every contact does; NaN: not known
  S resisted;  ///< 1: forces can balance the wrench; NaN: not known
  S first;     ///< contact with the smallest margin
  S critical, margin, radius;
};

template <int N>
struct HandJudgeBody {
  static constexpr bool kCalls = solvers::kInMemory<N>;
  Judge<N> judge;
  double* results;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto v = judge.template verdict<S>(i);
    const auto m = batch::load<S, Metrics<S, N>>(judge.metrics, i);
    batch::store<S>(results, i,
                    HandResult<S>{v.outcome, v.sticks, m.resisted, m.first, m.critical, m.margin, m.wrench_radius});
  }
};

/// Calls use(N) for every number of contacts that such samples are compiled for. Up to kMaxContacts it is the grasp's
/// own; above, some contacts may have no place on the object (HandBuildBody).
template <class Use>
void for_hand_sizes(const Use& use) {
  [&]<int... N>(std::integer_sequence<int, N...>) { (use(std::integral_constant<int, N>{}), ...); }
  (std::integer_sequence<int, 1, 2, 3, 4, 5, 6, 7, 8, 16, kMostSetContacts>{});
}

}  // namespace garra::grasp
