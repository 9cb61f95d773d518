// The paper's experiments.
#include "systems/platform_experiments.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace garra::platform {

namespace {

constexpr double kTolerance = 1e-10;  // of the paper's kind: more than rounding, less than any encoder sees

Device one_core() {
  Device d;
  d.executor = Executor::kScalar;
  return d;
}

Poses poses_of(const Place<double>& at) { return {{at.r[0], at.r[1], at.r[2]}, {at.p[0], at.p[1], at.p[2], at.p[3]}}; }

double difference_of(const Poses& a, const Poses& b) {
  double most = 0;
  for (std::size_t k = 0; k < a.position.size(); ++k) most = std::max(most, std::abs(a.position[k] - b.position[k]));
  double along = 0;
  for (std::size_t k = 0; k < a.quaternion.size(); ++k) along += a.quaternion[k] * b.quaternion[k];
  for (std::size_t k = 0; k < a.quaternion.size(); ++k)
    most = std::max(most, std::abs(a.quaternion[k] - std::copysign(b.quaternion[k], b.quaternion[k] * along)));
  return most;
}

Place<double> place_of(const Poses& at) {
  const std::vector<double>&r = at.position, &p = at.quaternion;
  return {{{r[0], r[1], r[2]}}, {{p[0], p[1], p[2], p[3]}}};
}

std::vector<double> lengths_at(const Platform& p, const Place<double>& at) {
  return inverse_kinematics({p}, poses_of(at), {}, {}, one_core()).lengths;
}

/// Follows lengths from a pose.
PathExperiment follow(const Platform& p, const Place<double>& start, const std::vector<std::vector<double>>& lengths) {
  PathExperiment e;
  e.segments = static_cast<int>(lengths.size());
  ForwardOptions options;
  options.tol = kTolerance;
  const Model<double> model = model_of(p);
  Poses full = poses_of(start), minimal = full;
  for (const std::vector<double>& target : lengths) {
    const ForwardKinematics a = forward_kinematics_full({p}, target, full, options, one_core());
    const ForwardKinematics b = forward_kinematics({p}, target, minimal, options, one_core());
    e.full.push_back(a.iterations.front());
    e.minimal.push_back(b.iterations.front());
    e.converged =
        e.converged && a.status.front() == PoseStatus::kConverged && b.status.front() == PoseStatus::kConverged;
    e.difference = std::max(e.difference, difference_of(a.pose, b.pose));
    const ForwardFlops flops = forward_flops(model, target, place_of(full), kTolerance);
    e.flops.full += flops.full;
    e.flops.dense += flops.dense;
    e.flops.minimal += flops.minimal;
    full = a.pose;
    minimal = b.pose;
  }
  return e;
}

std::vector<double> between(const std::vector<double>& from, const std::vector<double>& to, double share) {
  std::vector<double> at(from.size());
  for (std::size_t k = 0; k < at.size(); ++k) at[k] = std::lerp(from[k], to[k], share);
  return at;
}

Place<double> moved_home(const Platform& p, double share) {
  const double half = share * std::numbers::pi / 8;  // of 45 degrees
  Place<double> at = home_of(p);
  at.r[2] += 0.4 * share;
  at.p = product<double>({{std::cos(half), std::sin(half), 0, 0}}, at.p);
  return at;
}

PathExperiment move(const Platform& p, int segments, bool joint_space) {
  const std::vector<double> first = lengths_at(p, moved_home(p, 0)), last = lengths_at(p, moved_home(p, 1));
  std::vector<std::vector<double>> lengths;
  for (int k = 1; k <= segments; ++k) {
    const double share = static_cast<double>(k) / segments;
    lengths.push_back(joint_space ? between(first, last, share) : lengths_at(p, moved_home(p, share)));
  }
  PathExperiment e = follow(p, home_of(p), lengths);
  e.joint_space = joint_space;
  return e;
}

PathExperiment stroke(const Platform& p) {
  constexpr int kSegments = 11;
  const std::vector<double> first(6, p.leg[0].length_min), last(6, p.leg[0].length_max);
  const ForwardKinematics low = forward_kinematics({p}, first, poses_of(home_of(p)), {}, one_core());
  std::vector<std::vector<double>> lengths;
  for (int k = 1; k <= kSegments; ++k) lengths.push_back(between(first, last, static_cast<double>(k) / kSegments));
  PathExperiment e = follow(p, place_of(low.pose), lengths);
  e.joint_space = true;
  return e;
}

FreeMotionExperiment free_motion(const Platform& p) {
  FreeMotionExperiment e;
  Starts starts;
  starts.pose = poses_of(home_of(p));
  e.force = inverse_dynamics({p}, starts.pose, {}, {}, Form::kMinimal, one_core()).force;
  for (double& f : e.force) f *= 1.2;
  ForceInput force;
  force.force = e.force;
  SimulateOptions options;
  options.step = 1e-3;
  e.until = options.until;
  options.method = Integrator::kHybrid;
  e.full = simulate({p}, starts, force, options, one_core());
  options.method = Integrator::kRk4;
  e.minimal = simulate({p}, starts, force, options, one_core());
  e.difference = difference_of(e.full.end_pose, e.minimal.end_pose);
  e.flops = acceleration_flops(model_of(p), home_of(p), e.force);
  return e;
}

}  // namespace

Experiments experiments(const Platform& platform) {
  Experiments e;
  for (const bool joint_space : {false, true})
    for (const int segments : {1, 2, 5, 10, 20, 40}) e.move.push_back(move(platform, segments, joint_space));
  e.stroke = stroke(platform);
  e.free_motion = free_motion(platform);
  return e;
}

}  // namespace garra::platform
