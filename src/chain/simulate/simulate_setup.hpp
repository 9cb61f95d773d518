// What the samples of a job share, in the form that the bodies take.
#pragma once

#include "chain/simulate/simulate_job.hpp"

namespace garra::chain {

/// The joints' numbers, then `otherwise` for padding.
template <int J>
Vec<double, J> padded(const std::vector<double>& values, double otherwise) {
  Vec<double, J> v;
  for (int i = 0; i < extent<J>(); ++i)
    v[i] = static_cast<std::size_t>(i) < values.size() ? values[static_cast<std::size_t>(i)] : otherwise;
  return v;
}

/// The torque of a job; points and formulas stay in the job's memory.
template <int J>
TorqueLaw<J> make_torque_law(const TorqueInput& in, int joints, const std::vector<double>& code) {
  TorqueLaw<J> law{};
  law.kind = in.kind;
  law.compensate_gravity = in.compensate_gravity;
  law.limited = !in.limit.empty();
  law.start = in.start;
  law.end = in.end;
  law.frequency = padded<J>(in.frequency, 0);
  law.phase = padded<J>(in.phase, 0);
  law.set_point = padded<J>(in.set_point, 0);
  law.kp = padded<J>(in.kp, 0);
  law.kd = padded<J>(in.kd, 0);
  law.limit = padded<J>(in.limit, 0);
  law.points = in.points.data();
  law.points_count = static_cast<int>(in.points.size()) / joints;
  law.joints = joints;
  law.interval = in.interval;
  const MotorInput& motor = in.motor;
  law.motor = !motor.stall_torque.empty();
  law.stall = motor.drive() * padded<J>(motor.stall_torque, 0);
  law.slope = Vec<double, J>::zero();
  for (std::size_t i = 0; i < motor.stall_torque.size(); ++i)
    law.slope[static_cast<int>(i)] = motor.stall_torque[i] / motor.no_load_speed[i];  // the same at any voltage
  law.code = code.empty() ? nullptr : code.data();
  return law;
}

/// The force on the tool; points stay in the job's memory.
inline ToolForceLaw make_tool_law(const ToolForceInput& in, int joints) {
  return {
      in.kind,      joints,           in.force,
      in.moment,    in.points.data(), static_cast<int>(in.points.size()) / 6,
      in.interval,  in.place,         in.kind == ToolForceKind::kWall ? (1 / norm(in.normal)) * in.normal : in.normal,
      in.stiffness, in.damping,       in.play};
}

/// Dry friction, padded to J joints that have none.
template <int J>
FrictionLaw<J> make_friction_law(const FrictionInput& in) {
  return {!in.coulomb.empty(), padded<J>(in.coulomb, 0), padded<J>(in.breakaway, 0), padded<J>(in.stribeck, 1),
          padded<J>(in.smooth, 1)};
}

/// Everything that the samples of a job share, padded to J joints.
template <int J>
SimulateSetup<J> make_setup(const SimulateJob& job) {
  const SimulateOptions& o = job.options;
  SimulateSetup<J> s{};
  s.nominal = make_source<SharedModel<J, Joints::kMixed>>(job.robot).model;
  s.law = make_torque_law<J>(job.torque, job.robot.joints, job.code);
  s.law.followers = job.followers;
  s.tool = make_tool_law(o.tool, job.robot.joints);
  s.friction = make_friction_law<J>(o.friction);
  s.damping = padded<J>(job.damping, 0);
  // The controller's model has the damping that all samples share (docs/theory/chain-simulation.md, "Torques").
  for (int i = 0; i < extent<J>(); ++i) s.nominal.joint[i].damping = s.damping[i];
  s.amplitude = padded<J>(job.amplitude, 0);
  s.lower = padded<J>(job.lower, -kNoLimit);
  s.upper = padded<J>(job.upper, kNoLimit);
  s.settle_at = padded<J>(o.settle_at, 0);
  s.settle_at_place = !o.settle_at.empty();
  s.settle_band = o.settle_band;
  s.settle_speed = o.settle_speed;
  s.method = o.method;
  s.limits = o.limits;
  s.tolerance = o.tolerance;
  s.first_step = o.first_step;
  // 0 stands for no bound.
  s.max_step = o.max_step > 0 ? o.max_step : kNoLimit;
  s.limit_tolerance = o.limit_tolerance;
  s.max_steps = o.max_steps;
  s.joints = job.robot.joints;
  s.tableau = dormand_prince();
  return s;
}

}  // namespace garra::chain
