// Second step of a sample: inverse kinematics and dynamics of one finger, whatever hand it belongs to. Host and device.
#pragma once

#include "systems/grasp_model.hpp"

namespace garra::grasp {

/// A robot's chain in J >= robot.joints joints (FingerChain). Host only.
template <int J>
FingerChain<J> padded_chain(const chain::Robot& robot) {
  FingerChain<J> out{};
  out.joints = robot.joints;
  out.model.base = robot.base;
  out.model.tool = robot.tool;
  out.model.gravity = robot.gravity;
  for (int i = 0; i < J; ++i) {
    const auto at = static_cast<std::size_t>(i);
    out.model.joint[i].cos_alpha = out.model.joint[i].armature = 1;
    if (i >= robot.joints) continue;
    out.model.joint[i] = robot.form[at];
    out.model.prismatic[i] = robot.joint[at].prismatic;
  }
  return out;
}

/// Where the finger stands: the tool at the contact with axes (x, y, z) = (t, o, n), or only its point.
template <chain::Joints K, int J, class S>
GARRA_HD chain::IkSolution<S, J> finger_ik(const FingerModel& f, const ContactPlace<S>& at) {
  const chain::Model<double, J>& m = chain_of<J>(f).model;
  if constexpr (J == 6) {
    if (f.closed_form) {
      Pose<S> tip;
      tip.p = at.p;
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) tip.R(i, k) = at.E(i, (k + 1) % 3);
      return chain::puma_ik(m, tip, f.branch);
    }
  }
  return chain::numeric_ik<K>(m, at.p, f.numeric);
}

template <chain::Joints K, int J, class S>
GARRA_HD FingerShare<S> finger_share(const FingerModel& f, const FingerTask<S>& task, bool moving) {
  const FingerChain<J>& finger = chain_of<J>(f);
  const chain::IkSolution<S, J> ik = finger_ik<K, J>(f, task.place);
  FingerState<S, J> state = {ik.q, Vec<S, J>::zero(), moving};
  if (moving) {
    const auto at = chain::frames<K>(finger.model, chain::angles<K>(finger.model, ik.q));
    const auto jac = chain::jacobian<K>(finger.model, at, task.place.p, last_joint<K>(finger));
    state.qd = chain::point_rates(jac, task.velocity, S(0));
  }
  const TorqueCommand<S, J> command = {false, Vec<S, J>::zero(), task.compensation, task.force};
  const auto terms = finger_terms<K>(finger, task.place, state, command);
  return {terms.A, terms.drift, terms.bias, terms.velocity, ik.reached};
}

/// Step 2: finger number `finger` of every sample. J and K are those of its FingerSize.
template <chain::Joints K, int J>
struct FingerBody {
  const GraspModel* model;
  int finger;
  SampleParts parts;

  template <class S>
  GARRA_HD FingerShare<S> share(const FingerTask<S>& task) const {
    return finger_share<K, J>(model->finger[finger], task, model->moving);
  }
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    batch::store<S>(parts.shares_of(finger), i, share(batch::load<S, FingerTask<S>>(parts.tasks_of(finger), i)));
  }
};

/// Calls run(body) with the body of finger j. `host` is the model where the caller can read it, `where` where the body
/// will.
template <class Run>
void with_finger(const GraspModel& host, int j, const GraspModel* where, const SampleParts& parts, const Run& run) {
  using chain::Joints;
  switch (host.finger[j].size) {
    case FingerSize::kFour:
      return run(FingerBody<Joints::kMixed, 4>{where, j, parts});
    case FingerSize::kSix:
      return run(FingerBody<Joints::kRevolute, 6>{where, j, parts});
    case FingerSize::kEight:
      return run(FingerBody<Joints::kMixed, 8>{where, j, parts});
    case FingerSize::kSixteen:
      return run(FingerBody<Joints::kMixed, 16>{where, j, parts});
  }
}

/// Steps 1 and 2 on the host: `count` samples with all of their fingers, into draw.parts.
void draw_samples(Executor executor, const DrawBody& draw, std::int64_t count);

}  // namespace garra::grasp
