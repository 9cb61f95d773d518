// The paper's experiments.
#include "platform/experiment/experiments.hpp"

#include <algorithm>
#include <cmath>

#include "garra/core/error.hpp"
#include "garra/platform_dynamics.hpp"

namespace garra::platform {

namespace {

using Lengths = std::vector<double>;  // of the six legs

constexpr double kReferenceStep = 2e-3;  // of order 8 [s]: rounding remains
/// Every mode has the same lengths, so strokes do not tell them apart.
constexpr std::uint32_t kJointBits = 0x3f * (kUniversalCone + kSphericalCone + kCollision);
constexpr double kNever = 1e300;  // no constraint error is corrected

/// The executor whose operations the counting scalar repeats; times are no part of an experiment.
Device one_core() {
  Device d;
  d.executor = Executor::kScalar;
  return d;
}

Poses to_poses(const Place<double>& at) { return {{at.r[0], at.r[1], at.r[2]}, {at.p[0], at.p[1], at.p[2], at.p[3]}}; }

Place<double> to_place(const Poses& at) {
  const std::vector<double>&r = at.position, &p = at.quaternion;
  return {{{r[0], r[1], r[2]}}, {{p[0], p[1], p[2], p[3]}}};
}

Poses pose_row(const Poses& of, std::size_t k) {
  const double *r = of.position.data() + 3 * k, *p = of.quaternion.data() + 4 * k;
  return {{r, r + 3}, {p, p + 4}};
}

void append_values(const std::vector<double>& from, std::vector<double>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Differences at one pose; NaN if one of the two is.
double pose_difference(const Poses& a, const Poses& b) {
  double most = 0, along = 0;
  const auto take = [&](double x) {
    if (std::isnan(x) || x > most) most = x;
  };
  for (std::size_t k = 0; k < 3; ++k) take(std::abs(a.position[k] - b.position[k]));
  for (std::size_t k = 0; k < 4; ++k) along += a.quaternion[k] * b.quaternion[k];
  for (std::size_t k = 0; k < 4; ++k)
    // p and -p are one turn: b with the sign that makes the product of both positive.
    take(std::abs(a.quaternion[k] - std::copysign(b.quaternion[k], b.quaternion[k] * along)));
  return most;
}

Lengths lengths_at(const Platform& p, const Poses& at) {
  return inverse_kinematics({p}, at, {}, {}, one_core()).lengths;
}

void note(const ForwardKinematics& found, FormOnPath& form) {
  form.status.push_back(found.status.front());
  form.iterations.push_back(found.iterations.front());
}

/// Follows lengths from a pose, each form on its own.
PathExperiment follow(const Platform& p, const Poses& start, const std::vector<Lengths>& lengths, double tolerance) {
  PathExperiment e;
  ForwardOptions options;
  options.tolerance = tolerance;
  const Model<double> model = make_model(p);
  Poses full = start, minimal = start;
  for (const Lengths& target : lengths) {
    const ForwardKinematics a = forward_kinematics_full({p}, target, full, options, one_core());
    const ForwardKinematics b = forward_kinematics({p}, target, minimal, options, one_core());
    note(a, e.full);
    note(b, e.minimal);
    e.difference.push_back(pose_difference(a.pose, b.pose));
    e.flops.push_back(forward_flops(model, target, to_place(full), tolerance));
    append_values(target, e.lengths);
    append_values(b.pose.position, e.pose.position);
    append_values(b.pose.quaternion, e.pose.quaternion);
    // Each form follows its own poses: a difference that grew from segment to segment would show.
    full = a.pose;
    minimal = b.pose;
  }
  return e;
}

Lengths between(const Lengths& from, const Lengths& to, double share) {
  Lengths at(from.size());
  // lerp gives the end itself at share 1.
  for (std::size_t k = 0; k < at.size(); ++k) at[k] = std::lerp(from[k], to[k], share);
  return at;
}

Poses moved(const Experiment& e, double share) {
  const double half = share * e.angle / 2, s = std::sin(half);
  const Quaternion<double> turn{{std::cos(half), s * e.axis[0], s * e.axis[1], s * e.axis[2]}};
  // The turn is in base axes: it multiplies from the left (docs/reference/platform-study.md, "move").
  return to_poses({e.start.r + share * e.translation, product(turn, e.start.p)});
}

/// The lengths that a path in equal parts goes through.
std::vector<Lengths> targets(const Platform& p, const Experiment& e, int segments, bool equal_lengths) {
  const bool stroke = e.kind == Experiment::Kind::kStroke;
  Lengths first, last;
  if (stroke)
    for (const Leg& leg : p.leg) first.push_back(leg.length_min), last.push_back(leg.length_min + e.travel);
  else
    first = lengths_at(p, moved(e, 0)), last = lengths_at(p, moved(e, 1));
  std::vector<Lengths> list;
  for (int k = 1; k <= segments; ++k) {
    const double share = static_cast<double>(k) / segments;
    list.push_back(equal_lengths ? between(first, last, share) : lengths_at(p, moved(e, share)));
  }
  return list;
}

}  // namespace

bool PathExperiment::solved(int segment) const {
  const auto k = static_cast<std::size_t>(segment);
  return full.status[k] == PoseStatus::kConverged && minimal.status[k] == PoseStatus::kConverged;
}

Poses make_start(const Platform& p, const Experiment& e) {
  if (e.kind != Experiment::Kind::kStroke) return to_poses(e.start);
  Lengths shortest;
  for (const Leg& leg : p.leg) shortest.push_back(leg.length_min);
  ForwardOptions options;
  options.tolerance = e.tolerance;
  const ForwardKinematics low = forward_kinematics({p}, shortest, to_poses(home_place(p)), options, one_core());
  if (low.status.front() != PoseStatus::kConverged)
    throw Error(ExitCode::kInvalidFile,
                "experiment.kind: from home " + p.name + " does not come to a pose with all legs at their shortest (" +
                    to_string(low.status.front()) + ")",
                "Give the stroke of another platform, or kind = \"move\".");
  return low.pose;
}

std::vector<PathExperiment> make_path_experiments(const Platform& p, const Experiment& e, const Poses& start) {
  const bool stroke = e.kind == Experiment::Kind::kStroke;
  std::vector<PathExperiment> list;
  for (const bool equal_lengths : {false, true}) {
    if (e.parts == (equal_lengths ? Experiment::Parts::kPose : Experiment::Parts::kLengths)) continue;
    // A stroke is given by lengths; there is no other end pose to cut.
    if (stroke && !equal_lengths) continue;
    for (const int segments : e.segments) {
      list.push_back(follow(p, start, targets(p, e, segments, equal_lengths), e.tolerance));
      list.back().equal_lengths = equal_lengths;
    }
  }
  return list;
}

FreeMotion make_free_motion(const Platform& p, const Experiment& e) {
  FreeMotion m;
  const Starts starts{to_poses(e.start), {}, {}};
  m.force = e.force;
  if (m.force.empty()) {
    m.force = inverse_dynamics({p}, starts.pose, {}, {}, Form::kMinimal, one_core()).force;
    // Holding forces times a factor: the platform rises or sinks from rest, whatever its weight.
    for (double& f : m.force) f *= e.force_factor;
  }
  ForceInput force;
  force.force = m.force;
  SimulateOptions options;
  options.duration = e.duration;
  for (int k = 0; k < e.instants; ++k) options.times.push_back(k * e.duration / (e.instants - 1));
  // Exact end time: a product may round to a later time, which simulate() rejects.
  options.times.back() = e.duration;
  options.method = Integrator::kRk8;
  options.step = kReferenceStep;
  const Poses truth = simulate({p}, starts, force, options, one_core()).end_pose;
  for (const double step : e.steps) {
    SteppedMotion& of = m.steps.emplace_back();
    of.step = options.step = step;
    options.method = Integrator::kHybrid;
    options.correct_above = e.correct_above;
    of.full = simulate({p}, starts, force, options, one_core());
    options.correct_above = kNever;
    of.uncorrected = simulate({p}, starts, force, options, one_core());
    options.method = Integrator::kRk4;
    of.minimal = simulate({p}, starts, force, options, one_core());
    for (std::size_t k = 0; k < options.times.size(); ++k)
      of.difference.push_back(pose_difference(pose_row(of.full.pose, k), pose_row(of.minimal.pose, k)));
    of.error_full = pose_difference(of.full.end_pose, truth);
    of.error_uncorrected = pose_difference(of.uncorrected.end_pose, truth);
    of.error_minimal = pose_difference(of.minimal.end_pose, truth);
    // Steps between two instants, as simulate() shortens them.
    const double interval = e.duration / (e.instants - 1);
    const int between = std::max(1, static_cast<int>(std::ceil(interval / step * (1 - 1e-12))));
    of.flops = motion_flops(p, e.start, m.force,
                            {e.instants, between, interval / between, e.correct_above, options.baumgarte});
  }
  m.flops = acceleration_flops(make_model(p), e.start, m.force);
  return m;
}

std::vector<ModesOnPath> find_modes(const Platform& p, const std::vector<double>& lengths) {
  const auto n = static_cast<int>(lengths.size() / kLegs), shown = std::min(n, kPosesWithModes);
  std::vector<double> wanted;
  std::vector<ModesOnPath> list;
  for (int k = 0; k < shown; ++k) {
    const int segment = shown == 1 ? 0 : k * (n - 1) / (shown - 1);
    list.push_back({segment});
    append_values({lengths.begin() + kLegs * segment, lengths.begin() + kLegs * (segment + 1)}, wanted);
  }
  const AssemblyModes found = assembly_modes({p}, wanted, {}, one_core());
  for (std::size_t k = 0; k < list.size(); ++k) {
    list[k].missing = found.missing[k];
    list[k].modes = found.first[k + 1] - found.first[k];
    for (std::int64_t mode = found.first[k]; mode < found.first[k + 1]; ++mode)
      list[k].within += (found.mask[static_cast<std::size_t>(mode)] & kJointBits) == 0;
  }
  return list;
}

}  // namespace garra::platform
