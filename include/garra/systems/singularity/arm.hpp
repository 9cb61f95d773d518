// An arm as the singularity kernels take it: its numbers, origin and unit of its scaled screws, and
// the generic dimensions of its joint intervals.
#pragma once

#include "garra/systems/singularity/escape.hpp"

namespace garra::singularity {

enum class CenterRule : int { kNatural, kTool, kJoint };

/// An arm of up to J joints. Padding joints count as prismatic, and their screws are zero.
template <int J, class T = double>
struct Arm {
  Model<T, J> model;
  IntervalDims<J> dims;
  Tolerances tolerances;
  int joints;
  CenterRule center;
  int center_joint;  ///< kJoint: from 0
  T length;          ///< [m]; 0: from the distances of the axes to the center
  bool helical;      ///< `pitch` counts
  T pitch[J];        ///< way along its axis of a joint that turns [m/rad]
};

/// A configuration in scaled screws. Positions from the base's origin, world axes.
template <class S, int J>
struct Posture {
  Vec3<S> tool;
  ScalingOf<S> scaling;
  ScaledScrews<S, J> screws;
};

namespace kernel {

/// Center and length by the arm's rule.
template <Joints K, class S, class T, int J>
GARRA_HD ScalingOf<S> scaling_by_rule(const Arm<J, T>& arm, const JointLines<S, J>& lines) {
  if (arm.center == CenterRule::kNatural) {
    ScalingOf<S> out = natural_scaling<K>(arm.model, lines);
    if (arm.length > T(0)) out.length = S(arm.length);
    return out;
  }
  Vec3<S> center = lines.tool;
  if (arm.center == CenterRule::kJoint)
    for_each_index<J>([&](auto i) {
      if (i == arm.center_joint) center = lines.point[i];
    });
  return {center, arm.length > T(0) ? S(arm.length) : length_about<K>(arm.model, lines, center)};
}

}  // namespace kernel

/// Helical joints slide, too, and their screws have a pitch.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Posture<S, J> posture(const Arm<J, T>& arm, const Vec<S, J>& q) {
  auto x = chain::angles<K>(arm.model, q);
  const bool helical = K == Joints::kMixed && arm.helical;
  if (helical) for_each_index<J>([&](auto i) { x.slide[i] = fma(S(arm.pitch[i]), q[i], x.slide[i]); });
  const auto lines = joint_lines<K>(arm.model, x);
  const ScalingOf<S> scaling = kernel::scaling_by_rule<K>(arm, lines);
  auto screws = scaled_screws<K>(arm.model, lines, scaling, arm.joints);
  if (helical)
    for_each_index<J>([&](auto i) {
      Vec3<S>& v = screws.joint[i].v;
      v = axpy(S(arm.pitch[i]) / scaling.length, lines.direction[i], v);
    });
  return {lines.tool, scaling, screws};
}

/// Length of one unit of each joint: 1 rad, or the scaling's length if it slides.
template <class S, class T, int J>
GARRA_HD Vec<S, J> joint_units(const Arm<J, T>& arm, const S& length) {
  Vec<S, J> out;
  for_each_index<J>([&](auto i) { out[i] = arm.model.prismatic[i] ? length : S(1); });
  return out;
}

}  // namespace garra::singularity
