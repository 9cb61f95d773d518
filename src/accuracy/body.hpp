// Tool error of an arm with imperfect frames, joints and temperature (docs/theory/accuracy.md). Host and device.
#pragma once

#include "garra/core/elementary.hpp"
#include "garra/math/screw_algebra.hpp"
#include "garra/study/system_body.hpp"
#include "garra/systems/chain/kernels_kinematics.hpp"

namespace garra::accuracy {

/// One commanded pose. Deflections are joint values minus commanded ones under gravity.
template <int J>
struct CommandedPose {
  double q[J];
  double own[J];         ///< deflection by the links' weight [rad or m]
  double of_payload[J];  ///< the same by a payload of 1 kg at the tool point
  Pose<double> tool;     ///< nominal tool pose in the world
};

/// Inputs, each for joints 0, 1, ...: shift of the link frame along x, y, z, its turn about x, y, z, sensor offset,
/// backlash; then payload and temperature. Outputs: largest error of position and of orientation over the poses, and
/// the error of position in the first pose along x, y, z.
template <int J, int MostPoses>
struct ArmErrors {
  static constexpr int kOfJoint = 8, kInputs = kOfJoint * J + 2, kOutputs = 5;

  chain::Model<double, J> model;
  Pose<double> link[J];  ///< described link frames in the kernel frames
  CommandedPose<J> pose[MostPoses];
  int poses;
  double expansion, position_limit, angle_limit;

  template <class S>
  GARRA_HD study::SystemAnswer<S, kOutputs> operator()(const Vec<S, kInputs>& x) const {
    study::SystemAnswer<S, kOutputs> out;
    out.output = Vec<S, kOutputs>::zero();
    for (int p = 0; p < poses; ++p) {
      const Pose<S> tool = tool_pose(pose[p], x);
      const Vec3<S> shift = tool.p - cast<S>(pose[p].tool.p);
      out.output[0] = larger(out.output[0], norm(shift));
      out.output[1] = larger(out.output[1], turn_between(tool.R, cast<S>(pose[p].tool.R)));
      for (int i = 0; i < 3 && p == 0; ++i) out.output[2 + i] = shift[i];
    }
    const auto within = out.output[0] <= S(position_limit) && out.output[1] <= S(angle_limit);
    const S undecided = (out.output[0] - out.output[0]) + (out.output[1] - out.output[1]);
    out.event = select(within, S(1), S(0)) + undecided;
    return out;
  }

 private:
  /// The larger one; NaN if either is NaN.
  template <class S>
  static GARRA_HD S larger(const S& a, const S& b) {
    return select(b <= a, a, b) + (a - a);
  }
  /// Angle of the rotation from A to B: |A - B|^2 = 8 sin^2(angle / 2).
  template <class S>
  static GARRA_HD S turn_between(const Mat3<S>& A, const Mat3<S>& B) {
    S squares = S(0);
    for (int k = 0; k < 9; ++k) squares = fma(A.m[k] - B.m[k], A.m[k] - B.m[k], squares);
    return S(2) * asin(min(sqrt(S(0.125) * squares), S(1)));
  }

  template <class S>
  GARRA_HD Pose<S> tool_pose(const CommandedPose<J>& command, const Vec<S, kInputs>& x) const {
    const S mass = x[kOfJoint * J], scale = fma(S(expansion), x[kOfJoint * J + 1], S(1));
    Vec<S, J> q;
    for (int i = 0; i < J; ++i)
      q[i] = S(command.q[i]) + (x[kOfJoint * i + 6] + x[kOfJoint * i + 7]) +
             fma(mass, S(command.of_payload[i]), S(command.own[i]));
    const auto angles = chain::angles(model, q);
    Pose<S> frame = cast_pose<S>(model.base);
    for (int i = 0; i < J; ++i) {
      chain::kernel::Axes<S> f = {column(frame.R, 0), column(frame.R, 1), column(frame.R, 2), frame.p};
      chain::JointForm<S> j = {};
      const S length = i == 0 ? S(1) : scale;  // what carries the first joint does not grow
      j.a = length * S(model.joint[i].a);
      j.b = length * S(model.joint[i].b);
      j.cos_alpha = S(model.joint[i].cos_alpha);
      j.sin_alpha = S(model.joint[i].sin_alpha);
      chain::kernel::advance_tilt(j, f);
      // The described frame is -link.p.z behind the kernel frame, along the axis.
      const S grown = i == 0 ? fma(S(1) - scale, S(link[0].p[2]), S(model.joint[0].d)) : scale * S(model.joint[i].d);
      f.p = axpy(grown + angles.slide[i], f.z, f.p);
      chain::kernel::advance_turn(angles.cos[i], angles.sin[i], f);
      frame = chain::kernel::to_pose(f) * moved_link(i, x);
    }
    Pose<S> end = cast_pose<S>(model.tool);
    end.p = scale * end.p;
    return frame * end;
  }

  /// The displacement of link frame i, in the kernel frame.
  template <class S>
  GARRA_HD Pose<S> moved_link(int i, const Vec<S, kInputs>& x) const {
    const S* const in = &x[kOfJoint * i];
    const Pose<S> at = cast_pose<S>(link[i]);
    const Screw<S> turn = {vec3<S>(in[3], in[4], in[5]), Vec3<S>::zero()};
    const Pose<S> moved = {exp(turn).R, vec3<S>(in[0], in[1], in[2])};
    return at * moved * inverse(at);
  }
};

}  // namespace garra::accuracy
