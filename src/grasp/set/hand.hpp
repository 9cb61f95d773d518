// Samples of grasps with a known hand: compliant contacts or a whole hand with its command. Computes contact problem
// and wrench balance from uniform numbers, as a grasp study does. Host and device; docs/theory/grasp-sets.md.
#pragma once

#include "grasp/sample/balance.hpp"
#include "grasp/sample/check.hpp"
#include "grasp/set/set_model.hpp"

namespace garra::grasp {

/// Numbers of a contact in object axes: the motion of its point, or the force there. Soft contacts (D = 4) add the
/// angular motion of the fingertip times the torsion radius, or the moment divided by it.
template <int D>
inline constexpr int kAxes = D > 3 ? 6 : 3;

/// Converts a contact's numbers (n, t, o) or (n, t, o, tau / r) to object axes: its columns are orthonormal.
template <int D, class S>
GARRA_HD Mat<S, kAxes<D>, D> contact_frame(const ContactPlace<S>& place) {
  if constexpr (D == 3) {
    return place.E;
  } else {
    auto F = Mat<S, 6, 4>::zero();
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) F(r, c) = place.E(r, c);
      F(r + 3, 3) = place.E(r, 0);
    }
    return F;
  }
}

/// The hand of a grasp with N contacts, with the object's data that its samples need. Object axes.
template <int N, int D = 3>
struct SetHand {
  static constexpr int M = kAxes<D> * N;
  Mat<double, M, M> mobility;  ///< J M^-1 J^T [1/kg]
  /// J M^-1 (bias - torque) without and with the command: how the contact points would move away [m/s^2].
  Vec<double, M> own_drift, command_drift;
  /// Forces of the same torques on contacts that do not move, without the structure's share [N].
  Vec<double, M> own_force, command_force;
  bool structured;                            ///< along some contact directions the hand cannot move
  Mat<double, M, M> structure;                ///< projects onto these
  Mat3<double> gyration2, inverse_gyration2;  ///< the object's inertia over its mass [m^2]
  HoldUnits hold;
};

/// A joint with a torque limit or a torque error, of a hand with N contacts; object axes.
template <int N, int D = 3>
struct LimitedJoint {
  double limit;               ///< of |torque| [N m or N]; infinity: none, one that fills up
  double own, command, bias;  ///< torque without and with the command, and what holds the hand itself
  static constexpr int M = kAxes<D> * N;
  /// J: torque that contact forces on the object require; for soft contacts also moments over the grasp's length.
  Vec<double, M> gain;
  Vec<double, M> drift;  ///< J M^-1: how the torque moves the contact points
  Vec<double, M> press;  ///< its force on contacts that do not move

  [[nodiscard]] static LimitedJoint zero() {
    const auto none = Vec<double, M>::zero();
    return {0, 0, 0, 0, none, none, none};
  }
};

/// Limited joints of all grasps, `each` per grasp.
template <int N, int D = 3>
struct LimitedJoints {
  const LimitedJoint<N, D>* all = nullptr;
  int each = 0;
  bool limit = false;  ///< some torques

  [[nodiscard]] GARRA_HD const LimitedJoint<N, D>* of(std::int64_t grasp) const { return all + grasp * each; }
};

/// Start data of a sample's balance besides its wrench problem. Members are S.
template <class S, int N, int D = 3>
struct HandCommand {
  Vec<S, D * N> force;  ///< commanded, (n, t, o) [N]
  Vec<S, 6> left;       ///< unbalanced wrench of the command, moments over the grasp's length [N]
  S size;               ///< |weight| + |the rest|

  static constexpr auto parts() { return std::tuple{&HandCommand::force, &HandCommand::left, &HandCommand::size}; }
};

/// Tiles passed between the steps of these samples.
struct HandTiles {
  double* problems;    ///< FrictionProblem
  double* wrenches;    ///< BalanceOp::In
  double* commands;    ///< HandCommand
  double* metrics;     ///< Metrics
  double* candidates;  ///< Candidate
  double* second;      ///< the same from another start; null: not asked for
  double* results;     ///< HandResult
};

/// Torque error of a joint.
template <class S>
GARRA_HD S torque_error(const SetModel& model, const SampleIndex<S>& index, int joint) {
  S u = S(0.5), unused;
  if (!model.torque_error.is_constant())
    uniform_pair<S>(model.seed, index, static_cast<std::uint32_t>(kJointBlock + joint), u, unused);
  return study::quantile(model.torque_error, u);
}

/// Draws samples and builds their problems.
template <int N, int D = 3, int H = N>
struct HandBuildKernel {
  static constexpr int M = kAxes<D>, kAll = M * N;  ///< numbers of a contact in object axes, and of all
  /// Whether grasps may have fewer contacts than N.
  static constexpr bool kTakesFewer = N > 0 && (N > kMaxContacts || D > 3);
  CandidateKernel<N, D, H> draw;  ///< its problems are HandTiles::wrenches
  const SetHand<H, D>* hands;
  LimitedJoints<H, D> joints;
  bool grip_force_errors;  ///< some are drawn
  HandTiles to;
  std::uint32_t left_out = 0;  ///< bits of contacts without which wrench and command are wanted, and nothing else

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto index = SampleIndex<S>::consecutive(static_cast<std::uint64_t>(draw.first + i % draw.samples));
    const SetGrasp<H>& g = draw.grasps[i / draw.samples];
    const SetHand<H, D>& hand = hands[i / draw.samples];
    auto sample = draw.sample(g, index);
    if constexpr (kTakesFewer) take_off(g, sample);
    for (int j = 0; left_out != 0 && j < extent<N>(); ++j)
      if ((left_out >> j & 1) != 0) sample.place[j].E = Mat3<S>::zero();
    const auto wrench = draw.make_problem(g, sample);
    Asked<S> asked = told(g, hand, sample);
    if (joints.each > 0) cut_off(g, joints.of(i / draw.samples), sample, index, asked);
    System<S, N, D> sys = system(g, hand, sample, asked.drift);
    auto pressed = command(hand, sample, wrench, asked.force);
    if constexpr (kTakesFewer) rest(g, sys, pressed);
    batch::store<S>(to.wrenches, i, wrench);
    batch::store<S>(to.commands, i, pressed);
    if (left_out != 0) return;
    batch::store<S>(to.problems, i, solvers::FrictionProblem<S, N, D>{sys.A, sys.b, sample.friction});
    auto metrics = hold_metrics<S, N, D>(hand.hold, sys, sample.friction, Vec<S, D * N>::zero(), S(0));
    metrics.reached = S(1);
    batch::store<S>(to.metrics, i, metrics);
  }

 private:
  /// Effect of the command, object axes.
  template <class S>
  struct Asked {
    Vec<S, kAll> drift;  ///< how the contact points would move away [m/s^2]
    Vec<S, kAll> force;  ///< force on contacts that do not move [N]
  };
  /// Padding contacts beyond those of the grasp: without axes they do not affect the object.
  template <class S>
  GARRA_HD static void take_off(const SetGrasp<H>& g, SetSample<S, N>& s) {
    for (int j = g.contacts; j < extent<N>(); ++j) {
      s.place[j].E = Mat3<S>::zero();
      s.friction[j] = S(1);
      s.grip_force_error[j] = S(0);
    }
  }
  /// Padding contacts act on a fixed body, along their cone axes; they do not affect outcomes or margins.
  template <class S>
  GARRA_HD static void rest(const SetGrasp<H>& g, System<S, N, D>& sys, HandCommand<S, N, D>& command) {
    S largest = S(0);
    for (int k = 0; k < D * g.contacts; ++k) largest = max(largest, abs(sys.b[k]));
    const S stiff = sys.A(0, 0), force = select(largest > S(0), S(0.5) * largest / stiff, S(1));
    solvers::add_spare<S, N, D>({g.contacts, stiff, force}, sys.A, sys.b);
    for (int j = g.contacts; j < extent<N>(); ++j) command.force[D * j] = force;
  }

  template <class S>
  GARRA_HD static Vec<S, M> part(const Vec<S, kAll>& all, int j) {
    Vec<S, M> its;
    for (int r = 0; r < extent<M>(); ++r) its[r] = all[M * j + r];
    return its;
  }
  /// F_i^T B_ij F_j, with the frames of contacts; E for points.
  template <class S>
  GARRA_HD static Mat<S, D, D> turned(const SetHand<H, D>& hand, const SetSample<S, N>& s, int i, int j) {
    Mat<S, M, M> B;
    for (int r = 0; r < extent<M>(); ++r)
      for (int c = 0; c < extent<M>(); ++c) B(r, c) = S(hand.mobility(M * i + r, M * j + c));
    return transpose_times(contact_frame<D>(s.place[i]), B * contact_frame<D>(s.place[j]));
  }
  /// Push errors of the command, object axes: along the modeled normals.
  template <class S>
  GARRA_HD static Vec3<S> push(const SetGrasp<H>& g, const SetSample<S, N>& s, int j) {
    return s.grip_force_error[j] * cast<S>(g.contact[j].n);
  }

  template <class S>
  GARRA_HD Asked<S> told(const SetGrasp<H>& g, const SetHand<H, D>& hand, const SetSample<S, N>& s) const {
    Asked<S> out;
    for (int k = 0; k < extent<kAll>(); ++k) {
      out.drift[k] = fma(s.command, S(hand.command_drift[k]), S(hand.own_drift[k]));
      out.force[k] = fma(s.command, S(hand.command_force[k]), S(hand.own_force[k]));
    }
    if (!grip_force_errors) return out;
    for (int j = 0; j < extent<N>(); ++j) {
      const Vec3<S> f = push(g, s, j);
      for (int k = 0; k < extent<kAll>(); ++k)
        for (int c = 0; c < 3; ++c) out.drift[k] = fma(-S(hand.mobility(k, M * j + c)), f[c], out.drift[k]);
      for (int c = 0; c < 3; ++c) out.force[M * j + c] += f[c];
    }
    return out;
  }

  /// Applies the torque errors, and cuts off torques at their limits, as a motor's current is
  /// (docs/theory/grasp-model.md, section 5).
  template <class S>
  GARRA_HD_CALL void cut_off(const SetGrasp<H>& g, const LimitedJoint<H, D>* joint, const SetSample<S, N>& s,
                             const SampleIndex<S>& index, Asked<S>& asked) const {
    const SetModel& model = draw.model;
    for (int k = 0; k < joints.each; ++k, ++joint) {
      S torque = fma(s.command, S(joint->command), S(joint->own));
      for (int j = 0; grip_force_errors && j < extent<N>(); ++j) {
        const Vec3<S> f = push(g, s, j);
        for (int c = 0; c < 3; ++c) torque = fma(S(joint->gain[M * j + c]), f[c], torque);
      }
      const S given = torque + torque_error(model, index, k);
      const S excess = max(min(given, S(joint->limit)), S(-joint->limit)) - torque;
      for (int r = 0; r < extent<kAll>(); ++r) {
        asked.drift[r] = fma(-S(joint->drift[r]), excess, asked.drift[r]);
        asked.force[r] = fma(S(joint->press[r]), excess, asked.force[r]);
      }
    }
  }

  template <class S>
  GARRA_HD System<S, N, D> system(const SetGrasp<H>& g, const SetHand<H, D>& hand, const SetSample<S, N>& s,
                                  const Vec<S, kAll>& drift) const {
    Body<S> body;
    body.mass = s.mass;
    body.inertia = s.mass * cast<S>(hand.gyration2);
    body.inverse_inertia = (S(1) / s.mass) * cast<S>(hand.inverse_gyration2);
    body.p_cm = s.com;
    body.v = body.omega = Vec3<S>::zero();
    Vec<S, 6> load = s.rest;  // includes the weight: gravity may differ between samples
    for (int r = 0; r < 3; ++r) {
      load[r] = fma(s.mass, s.gravity[r], load[r]);
      load[r + 3] *= S(g.length);
    }
    if constexpr (D == 3)
      return point_system(body, hand, s, drift, load);
    else
      return soft_system(body, g, hand, s, drift, load);
  }
  template <class S>
  GARRA_HD static System<S, N> point_system(const Body<S>& body, const SetHand<H, D>& hand, const SetSample<S, N>& s,
                                            const Vec<S, kAll>& drift, const Vec<S, 6>& load) {
    ContactTerms<S> terms[kCapacity<N>];
    for (int j = 0; j < extent<N>(); ++j)
      terms[j] = {s.place[j],      turned(hand, s, j, j), transpose_times(s.place[j].E, part(drift, j)),
                  Vec3<S>::zero(), Vec3<S>::zero(),       Vec<S, 2>::zero()};
    System<S, N> sys = assemble<S, N>(body, terms, load, Vec3<double>::zero(), false);
    // Coupling: a contact's force moves other contacts through palms, coupled joints and tendons.
    for (int i = 0; i < extent<N>(); ++i)
      for (int j = 0; j < i; ++j) add_to_blocks(turned(hand, s, i, j), i, j, sys.A);
    return sys;
  }
  /// The same with the moments about the normals: (1) of docs/theory/grasp-sets.md with (0, r n) as the fourth column
  /// of W_j.
  template <class S>
  GARRA_HD static System<S, N, D> soft_system(const Body<S>& body, const SetGrasp<H>& g, const SetHand<H, D>& hand,
                                              const SetSample<S, N>& s, const Vec<S, kAll>& drift,
                                              const Vec<S, 6>& load) {
    System<S, N, D> sys;
    for (int j = 0; j < extent<N>(); ++j) {
      const Mat<S, 6, 3> W = wrench_matrix(s.place[j], body.p_cm), X = inverse_mass_times(body, W);
      const Vec3<S> torsion = S(g.torsion_radius[j]) * column(s.place[j].E, 0),
                    turning = body.inverse_inertia * torsion;
      const Vec<S, D> along = transpose_times(contact_frame<D>(s.place[j]), part(drift, j));
      for (int r = 0; r < 6; ++r) {
        for (int c = 0; c < 3; ++c) {
          sys.W(r, D * j + c) = W(r, c);
          sys.inverse_mass_W(r, D * j + c) = X(r, c);
        }
        sys.W(r, D * j + 3) = r < 3 ? S(0) : torsion[r % 3];
        sys.inverse_mass_W(r, D * j + 3) = r < 3 ? S(0) : turning[r % 3];
      }
      for (int c = 0; c < D; ++c) {
        sys.b[D * j + c] = along[c];
        for (int r = 0; r < 6; ++r) sys.b[D * j + c] = fma(sys.inverse_mass_W(r, D * j + c), load[r], sys.b[D * j + c]);
      }
    }
    sys.A = transpose_times(sys.W, sys.inverse_mass_W);
    for (int i = 0; i < extent<N>(); ++i)
      for (int j = 0; j <= i; ++j) add_to_blocks(turned(hand, s, i, j), i, j, sys.A);
    // A point among soft contacts bears no moment: its diagonal entry is a placeholder.
    for (int j = 0; j < extent<N>(); ++j)
      if (!(g.torsion_radius[j] > 0)) sys.A(D * j + 3, D * j + 3) = sys.A(D * j, D * j);
    return sys;
  }
  /// Adds B to A's block (i, j); its rows become the columns of block (j, i).
  template <class S>
  GARRA_HD static void add_to_blocks(const Mat<S, D, D>& B, int i, int j, Mat<S, D * N, D * N>& A) {
    for (int r = 0; r < D; ++r)
      for (int c = 0; c < (i == j ? r + 1 : D); ++c) {
        A(D * i + r, D * j + c) += B(r, c);
        A(D * j + c, D * i + r) = A(D * i + r, D * j + c);
      }
  }

  template <class S>
  GARRA_HD HandCommand<S, N, D> command(const SetHand<H, D>& hand, const SetSample<S, N>& s,
                                        const typename CandidateKernel<N, D, H>::template Problem<S>& p,
                                        const Vec<S, kAll>& force) const {
    HandCommand<S, N, D> out;
    for (int j = 0; j < extent<N>(); ++j)
      solvers::set_contact<S, N, D>(out.force, j, transpose_times(contact_frame<D>(s.place[j]), part(force, j)));
    out.left = p.W * out.force + p.w;
    if (hand.structured) out.left = beyond_structure(hand, s, p.W, out.left);
    out.size = norm(s.mass * s.gravity) + norm(s.rest);
    return out;
  }

  /// Remainder of `left` after the hand's structure takes as much of it as possible.
  template <class S>
  GARRA_HD static Vec<S, 6> beyond_structure(const SetHand<H, D>& hand, const SetSample<S, N>& s,
                                             const Mat<S, 6, D * N>& W, const Vec<S, 6>& left) {
    Mat<S, 6, kAll> in_axes, reach;  // of forces in object axes; of those that the structure takes
    for (int j = 0; j < extent<N>(); ++j)
      for (int r = 0; r < 6; ++r) {
        Vec<S, D> own;
        for (int c = 0; c < D; ++c) own[c] = W(r, D * j + c);
        const Vec<S, M> row = contact_frame<D>(s.place[j]) * own;
        for (int c = 0; c < extent<M>(); ++c) in_axes(r, M * j + c) = row[c];
      }
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < extent<kAll>(); ++c) {
        S sum = in_axes(r, 0) * S(hand.structure(0, c));
        for (int k = 1; k < extent<kAll>(); ++k) sum = fma(in_axes(r, k), S(hand.structure(k, c)), sum);
        reach(r, c) = sum;
      }
    S size = S(0);
    for (int k = 0; k < 6 * extent<D * N>(); ++k) size = fma(W[k], W[k], size);
    return outside(reach, size, left);
  }

  /// The part of v outside of the range of `reach`, by powers of (1 + reach reach^T / shift)^-1. Rounding leaves 1e-7
  /// of v, as does a singular value of 1e-3 of the root of the sum of all squares. `size`: sum of squares that sets the
  /// rounding level if `reach` is zero, as for several contacts in one place.
  template <class S>
  GARRA_HD static Vec<S, 6> outside(const Mat<S, 6, kAll>& reach, const S& size, Vec<S, 6> v) {
    Mat<S, 6, 6> g;
    S trace = S(0);
    for (int r = 0; r < 6; ++r) {
      for (int c = 0; c <= r; ++c) {
        S sum = reach(r, 0) * reach(c, 0);
        for (int k = 1; k < extent<kAll>(); ++k) sum = fma(reach(r, k), reach(c, k), sum);
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

/// Balance of a sample: whether forces can balance the wrench, and the unbalanced part of the command.
template <int N, int D = 3, int H = N>
struct HandBalanceKernel {
  const SetGrasp<H>* grasps;
  const SetHand<H, D>* hands;
  std::int64_t samples;
  HandTiles at;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    using In = typename contact::BalanceOp<N, D>::template In<S>;
    const auto in = batch::load<S, In>(at.wrenches, i);
    const auto command = batch::load<S, HandCommand<S, N, D>>(at.commands, i);
    auto metrics = batch::load<S, Metrics<S, N>>(at.metrics, i);
    const solvers::WrenchBalance<S, N, 0, 1, D> p{{}, in.W, in.w, in.mu, in.limit};
    const ObjectWrench<S, N, D> object{in.W, in.w, command.size, S(grasps[i / samples].length)};
    settle(hands[i / samples].hold, object, p, command.force, command.left, metrics);
    batch::store<S>(at.metrics, i, metrics);
  }
};

/// The same with torque limits of joints.
template <int N, int D = 3, int H = N>
struct HandTorqueKernel {
  HandBalanceKernel<N, D, H> of;
  LimitedJoints<H, D> joints;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    using In = typename contact::BalanceOp<N, D>::template In<S>;
    const auto in = batch::load<S, In>(of.at.wrenches, i);
    const auto command = batch::load<S, HandCommand<S, N, D>>(of.at.commands, i);
    auto metrics = batch::load<S, Metrics<S, N>>(of.at.metrics, i);
    solvers::WrenchBalance<S, N, kMaxTorqueLimits, N, D> p;
    p.W = in.W;
    p.w = in.w;
    p.mu = in.mu;
    p.limit = in.limit;
    set_rows(joints.of(i / of.samples), p);
    const ObjectWrench<S, N, D> object{in.W, in.w, command.size, S(of.grasps[i / of.samples].length)};
    settle(of.hands[i / of.samples].hold, object, p, command.force, command.left, metrics);
    batch::store<S>(of.at.metrics, i, metrics);
  }

 private:
  template <class S>
  GARRA_HD void set_rows(const LimitedJoint<H, D>* joint,
                         solvers::WrenchBalance<S, N, kMaxTorqueLimits, N, D>& p) const {
    p.rows = joints.each;
    for (int i = 0; i < joints.each; ++i) {
      const double inverse = 1 / joint[i].limit;
      p.own[0][i] = S(inverse * joint[i].bias);
      for (int j = 0; j < extent<N>(); ++j)
        for (int c = 0; c < D; ++c) {
          // The force part of a column of W is the contact's axis; in the fourth column the moment is, over the length.
          const int part = c < 3 ? 0 : 3;
          S sum = S(0);
          for (int r = 0; r < 3; ++r)
            sum = fma(S(inverse * joint[i].gain[kAxes<D> * j + part + r]), p.W(part + r, D * j + c), sum);
          p.gain[0][i][D * j + c] = sum;
        }
    }
  }
};

/// Runs both on the host. Compiled once, in grasp/instances/set_hand_balance.cpp.
template <int D>
void balance(Executor executor, const HandBalanceKernel<kAnyContacts, D>& body, std::int64_t count);
template <int D>
void balance(Executor executor, const HandTorqueKernel<kAnyContacts, D>& body, std::int64_t count);

/// Results of a sample for the counts.
template <class S>
struct HandResult {
  S outcome;   ///< grasp::Outcome, or kPending
  S sticks;    ///< 1: every contact does; NaN: not known
  S resisted;  ///< 1: forces can balance the wrench; NaN: not known
  S first;     ///< contact with the smallest margin
  S several;   ///< 1: another certified solution moves otherwise
  S critical, margin, radius;
};

template <class S, int N, int D>
GARRA_HD HandResult<S> make_hand_result(const SampleResult<S, N, D>& v, const Metrics<S, N>& m) {
  return {v.outcome, v.sticks, m.resisted, m.first, v.several, m.critical, m.margin, m.resisted_force_radius};
}

/// A set's criteria of "held" for one of its grasps. Soft contacts have a bound of their own (is_rest).
template <int D, int H>
GARRA_HD HeldRule held_rule(HeldRule of_set, const SetGrasp<H>& grasp) {
  if constexpr (D == 3) of_set.acceleration *= grasp.rest;
  return of_set;
}

/// Last step of a hand's sample: outcome and metrics as HandResult. Arguments as of CandidateKernel.
template <int N, int D = 3, int H = N>
struct HandSampleCheckKernel {
  SampleCheck<N, D> sample_check;
  const SetGrasp<H>* grasps;
  std::int64_t samples;
  double* results;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    SampleCheck<N, D> its = sample_check;
    its.held = held_rule<D>(its.held, grasps[i / samples]);
    const auto v = its.template sample_result<S>(i);
    const auto m = batch::load<S, Metrics<S, N>>(sample_check.metrics, i);
    batch::store<S>(results, i, make_hand_result(v, m));
  }
};

/// Largest number of contacts for which a GPU runs all of a hand's samples. With more it only runs Newton: assembly and
/// balance of a sample would need 0.7 and 1.2 MB of a thread's stack, of which 0.5 MB are available.
inline constexpr int kMaxHandOnDevice = 16;
/// The same for soft contacts; with more everything runs on the host.
inline constexpr int kMaxSoftHandOnDevice = 8;

/// Calls use(N) for every number of contacts with kernels. Up to kMaxContacts it equals the grasp's number; above, some
/// contacts may be padding (HandBuildKernel).
template <class Use>
void for_hand_sizes(const Use& use) {
  [&]<int... N>(std::integer_sequence<int, N...>) { (use(std::integral_constant<int, N>{}), ...); }
  (std::integer_sequence<int, 1, 2, 3, 4, 5, 6, 7, 8, kMaxHandOnDevice>{});
}

/// The same for soft contacts, with possible padding at every size.
template <class Use>
void for_soft_hand_sizes(const Use& use) {
  [&]<int... N>(std::integer_sequence<int, N...>) { (use(std::integral_constant<int, N>{}), ...); }
  (std::integer_sequence<int, 2, 4, kMaxSoftHandOnDevice>{});
}

}  // namespace garra::grasp
