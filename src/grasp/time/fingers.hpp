// The fingers' part of a time step, for every size of finger. Host and device.
#pragma once

#include "grasp/sample/fingers.hpp"
#include "grasp/time/motion_model.hpp"

namespace garra::grasp {

/// Starts a finger at time 0, placed by place_fingers. One that does not reach its contact has `within` -1 and never
/// begins.
template <int J>
struct FingerStartKernel {
  int finger;
  MotionTiles tiles;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto stance = batch::load<S, FingerStance<S, J>>(tiles.parts.stance_tile(finger), i);
    const S reached = batch::load<S, FingerShare<S>>(tiles.parts.share_tile(finger), i).reached;
    FingerMotion<S, J> x;
    x.q = x.first = stance.q;
    x.qd = x.free = stance.qd;
    x.driven = x.kept = x.soft = Vec<S, J>::zero();
    x.give = Mat<S, J, 3>::zero();
    x.kinetic = x.work = x.peak_torque = S(0);
    x.within = select(reached > S(0), S(1), S(-1));
    batch::store<S>(tiles.finger_tile(finger), i, x);
    batch::store<S>(tiles.impulse_tile(finger), i, Vec3<S>::zero());
  }
};

/// Ends the previous step (if any) and begins the next.
template <chain::Joints K, int J>
struct FingerStepKernel {
  const MotionRules* rules;
  int finger;
  bool first;  ///< no step before
  FingerDrive<J> drive;
  MotionTiles tiles;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    auto x = batch::load<S, FingerMotion<S, J>>(tiles.finger_tile(finger), i);
    const auto order = batch::load<S, FingerOrder<S>>(tiles.order_tile(finger), i);
    // The contact problem lies between the two halves of a step, so the end of one step and the beginning of the next
    // share a pass over the finger's tile.
    if (!first) end_step(drive, batch::load<S, Vec3<S>>(tiles.impulse_tile(finger), i), order.running, x);
    const auto surface = batch::load<S, LocalSurface<S>>(tiles.surface_tile(finger), i);
    const auto step =
        begin_step<K>(finger_chain<J>(rules->grasp.finger[finger]), drive, rules->kind[finger], surface, order, x);
    batch::store<S>(tiles.finger_tile(finger), i, x);
    batch::store<S>(tiles.step_tile(finger), i, step);
  }
};

/// Data of a step that all samples share.
struct StepNow {
  Instant now;
  bool first = false;                        ///< step: torques that are kept are found in it
  const double* torques[kMaxContacts] = {};  ///< given torques of each finger at this time; host memory
};

/// Drive and limits of one finger in a step; torques beyond its joints are 0.
template <int J>
FingerDrive<J> make_finger_drive(const MotionRules& rules, int finger, const StepNow& step) {
  const FingerLimits& limits = rules.limits[finger];
  FingerDrive<J> d{};
  const FingerModel& model = rules.grasp.finger[finger];
  const double* torques = step.torques[finger];
  if (torques == nullptr && model.torque_given) torques = model.tau;
  d.given = torques != nullptr;
  d.kept = rules.drive == Drive::kConstant && !step.first;
  d.limited = limits.torque_limited;
  d.shaken = rules.shaken || rules.carried;
  d.at_start = rules.step.explicit_step;
  d.step = rules.step.step;
  // Constant and sampled torques act without springs (docs/theory/grasp-time.md, section 5).
  d.stiffness = rules.drive == Drive::kController ? rules.controller.joint_stiffness : 0;
  d.damping = rules.drive == Drive::kController ? rules.controller.joint_damping : 0;
  for (int k = 0; k < J; ++k) {
    d.tau[k] = d.given && k < finger_chain<J>(model).joints ? torques[k] : 0;
    d.torque_limit[k] = limits.torque[k];
    d.lower[k] = limits.lower[k];
    d.upper[k] = limits.upper[k];
  }
  d.known_gravity = step.now.known_gravity;
  return d;
}

/// Starts all fingers at time 0; run(body) runs a body on all samples.
template <class Run>
void start_all_fingers(const MotionRules& rules, const MotionTiles& tiles, const Run& run) {
  for (int j = 0; j < rules.grasp.contacts; ++j)
    with_finger_size(rules.grasp.finger[j].size, [&](auto, auto size) { run(FingerStartKernel<size>{j, tiles}); });
}

/// Steps all fingers.
template <class Run>
void step_all_fingers(const MotionRules& rules, const MotionRules* where, const MotionTiles& tiles, const StepNow& step,
                      const Run& run) {
  for (int j = 0; j < rules.grasp.contacts; ++j)
    with_finger_size(rules.grasp.finger[j].size, [&](auto joints, auto size) {
      run(FingerStepKernel<joints, size>{where, j, step.first, make_finger_drive<size>(rules, j, step), tiles});
    });
}

}  // namespace garra::grasp
