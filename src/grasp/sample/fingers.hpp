// Second step of a sample: inverse kinematics and dynamics of one finger of any hand. SI units, palm frame P. Host and
// device.
#pragma once

#include <type_traits>

#include "grasp/sample/grasp_model.hpp"

namespace garra::grasp {

/// A robot's chain in J >= robot.joints joints (FingerChain). Host only.
template <int J>
FingerChain<J> padded_chain(const chain::Robot& robot) {
  FingerChain<J> out{};
  out.joints = robot.joints;
  out.model.base = robot.base;
  out.model.tool = robot.tool;
  out.model.gravity = robot.gravity;
  out.followers = chain::find_followers(robot);
  for (int i = 0; i < J; ++i) {
    const auto at = static_cast<std::size_t>(i);
    // A surplus joint is at rest and turns only a rotor of 1 kg m^2: M stays regular, and the numbers of the other
    // joints do not change.
    out.model.joint[i].cos_alpha = out.model.joint[i].armature = 1;
    if (i >= robot.joints) continue;
    out.model.joint[i] = robot.form[at];
    out.model.prismatic[i] = robot.joint[at].prismatic;
  }
  return out;
}

/// Target of the finger's tool point: for a ball its center, behind the surface.
template <class S>
GARRA_HD Vec3<S> tip_center(const FingerModel& f, const ContactPlace<S>& at) {
  if (!(f.tip_radius > 0)) return at.p;
  return axpy(S(-f.tip_radius), column(at.E, 0), at.p);
}

/// Inverse kinematics: the tool at the contact with axes (x, y, z) = (t, o, n), or only its point.
template <chain::Joints K, int J, class S>
GARRA_HD chain::IkSolution<S, J> finger_ik(const FingerModel& f, const ContactPlace<S>& at) {
  const chain::Model<double, J>& m = finger_chain<J>(f).model;
  if constexpr (J == 6) {
    if (f.closed_form) {
      Pose<S> tip;
      tip.p = tip_center(f, at);
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) tip.R(i, k) = at.E(i, (k + 1) % 3);
      return chain::puma_ik(m, tip, f.branch);
    }
  }
  return chain::numeric_ik<K>(m, tip_center(f, at), f.numeric);
}

/// State of the finger's joints at its task: at the contact, rolling with it.
template <chain::Joints K, int J, class S>
GARRA_HD FingerStance<S, J> finger_stance(const FingerModel& f, const FingerTask<S>& task, bool moving, S& reached) {
  const FingerChain<J>& finger = finger_chain<J>(f);
  const chain::IkSolution<S, J> ik = finger_ik<K, J>(f, task.place);
  reached = ik.reached;
  FingerStance<S, J> stance = {ik.q, Vec<S, J>::zero()};
  // At rest the rates are zero and the Jacobian is not needed.
  if (moving) {
    const auto at = chain::frames<K>(finger.model, chain::angles<K>(finger.model, ik.q));
    auto jac = chain::jacobian<K>(finger.model, at, task.place.p, last_joint<K>(finger));
    chain::lead_columns(finger.followers, jac);
    stance.qd = chain::point_rates(jac, task.velocity, S(0));
    chain::follow_rates(finger.followers, stance.qd);
  }
  return stance;
}

/// Step 2: finger number `finger` of every sample. J and K are those of its FingerSize. at_rest: for models without
/// motion, which saves registers of a GPU thread.
template <chain::Joints K, int J, bool at_rest = false>
struct FingerKernel {
  const GraspModel* model;
  int finger;
  SampleParts parts;

  [[nodiscard]] GARRA_HD bool moving() const { return !at_rest && model->moving; }

  /// `hold` is filled if it is not null.
  template <class S>
  GARRA_HD FingerShare<S> share(const FingerTask<S>& task, FingerStance<S, J>& stance,
                                FingerHold<S>* hold = nullptr) const {
    const FingerModel& f = model->finger[finger];
    S reached;
    stance = finger_stance<K, J>(f, task, moving(), reached);
    TorqueCommand<S, J> command = {f.torque_given, Vec<S, J>::zero(), task.compensation, task.force};
    if (f.torque_given)
      for (int i = 0; i < J; ++i) command.tau[i] = S(f.tau[i]);
    if (f.torque_limited) command.limit = f.torque_limit;
    const FingerState<S, J> state = {stance.q, stance.qd, moving()};
    const auto terms = finger_terms<K>(finger_chain<J>(f), task.place, state, command);
    if (hold != nullptr) *hold = compute_hold(f, terms);
    return {terms.A, terms.drift, reached, terms.bias, terms.velocity};
  }
  /// The contact Jacobian and the finger's own torques, each divided by the joint's limit.
  template <class S>
  static GARRA_HD FingerHold<S> compute_hold(const FingerModel& f, const FingerTerms<S, J>& terms) {
    FingerHold<S> out;
    for (int i = 0; i < chain::kMaxJoints; ++i) {
      out.gain[i] = Vec3<S>::zero();
      out.own[i] = S(0);
    }
    for (int i = 0; i < J && i < finger_chain<J>(f).joints; ++i) {
      // A joint without a limit has an infinite one: its rows vanish.
      const S inverse = S(1) / S(f.torque_limit[i]);
      for (int k = 0; k < 3; ++k) out.gain[i][k] = inverse * terms.Jc(k, i);
      out.own[i] = inverse * (terms.gravity[i] + terms.coriolis[i]);
    }
    out.asked = terms.asked;
    return out;
  }
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    FingerStance<S, J> stance;
    const auto task = load_part<S, FingerTask<S>>(parts.task_tile(finger), i, moving());
    const bool limited = parts.holds != nullptr;
    FingerHold<S> hold;
    store_part<S>(parts.share_tile(finger), i, share(task, stance, limited ? &hold : nullptr), moving());
    if (limited) batch::store<S>(parts.hold_tile(finger), i, hold);
    if (parts.stances != nullptr) batch::store<S>(parts.stance_tile(finger), i, stance);
  }
};

/// Calls f(joints, size) with a finger's chain::Joints and J as constants.
template <class F>
void with_finger_size(FingerSize size, const F& f) {
  using chain::Joints;
  switch (size) {
    case FingerSize::kFour:
      return f(std::integral_constant<Joints, Joints::kMixed>{}, std::integral_constant<int, 4>{});
    case FingerSize::kSix:
      return f(std::integral_constant<Joints, Joints::kRevolute>{}, std::integral_constant<int, 6>{});
    case FingerSize::kEight:
      return f(std::integral_constant<Joints, Joints::kMixed>{}, std::integral_constant<int, 8>{});
    case FingerSize::kSixteen:
      return f(std::integral_constant<Joints, Joints::kMixed>{}, std::integral_constant<int, 16>{});
  }
}

/// Calls run(body) with the body of finger j. `host` is the model readable by the caller, `where` the one readable by
/// the body.
template <class Run>
void with_finger(const GraspModel& host, int j, const GraspModel* where, const SampleParts& parts, const Run& run) {
  with_finger_size(host.finger[j].size, [&](auto joints, auto size) {
    run(FingerKernel<joints, size>{where, j, parts});
  });
}

/// Runs step 2 on the host, for all fingers.
void place_fingers(Executor executor, const GraspModel& model, const SampleParts& parts, std::int64_t count);
/// Runs steps 1 and 2 on the host: `count` samples with all of their fingers, into draw.parts.
void draw_samples(Executor executor, const DrawKernel& draw, std::int64_t count);

}  // namespace garra::grasp
