// Joint values that bring the tool to a target: Newton's iteration on the pose, damped, so that it holds on beside
// singularities and stops short of what is out of reach.
#pragma once

#include "garra/systems/singularity/arm.hpp"

namespace garra::singularity {

struct ReachOptions {
  bool position_only = false;
  int steps = 48;
  double tolerance = 1e-10;   ///< of the pose [rad; m in units of 1 m]
  double largest_step = 0.5;  ///< of one joint [rad or m]
};

/// What is missing to the target: position [m], and the axis of the rotation times the sine of its angle.
template <class S>
GARRA_HD Vec<S, 6> pose_error(const Pose<S>& target, const Pose<S>& tool, bool position_only) {
  const Vec3<S> p = target.p - tool.p;
  Vec3<S> w = Vec3<S>::zero();
  for_each_index<3>([&](auto k) { w += cross(column(tool.R, k), column(target.R, k)); });
  const S part = S(position_only ? 0 : 0.5);
  return {{p[0], p[1], p[2], part * w[0], part * w[1], part * w[2]}};
}

namespace kernel {

/// J' (J J' + damping)^-1 e
template <class S, int J>
GARRA_HD Vec<S, J> damped_reach(const Mat<S, 6, J>& jac, const Vec<S, 6>& e) {
  Mat<S, 6, 6> normal;
  for_each_index<6>([&](auto r) {
    for_each_index<6>([&](auto c) {
      if (c > r) return;
      S sum = S(0);
      for_each_index<J>([&](auto i) { sum = fma(jac(r, i), jac(c, i), sum); });
      normal(r, c) = sum;
    });
  });
  const S damping = fma(S(0.01), dot(e, e), S(1e-12));
  for_each_index<6>([&](auto r) { normal(r, r) += damping; });
  const Vec<S, 6> y = solve(factor_ldlt(normal), e);
  Vec<S, J> out;
  for_each_index<J>([&](auto i) {
    S sum = S(0);
    for_each_index<6>([&](auto r) { sum = fma(jac(r, i), y[r], sum); });
    out[i] = sum;
  });
  return out;
}

}  // namespace kernel

/// From q; NaN where the tool has not come to the target.
template <class S, int J>
GARRA_HD Vec<S, J> reach(const Arm<J>& arm, const Pose<S>& target, Vec<S, J> q, const ReachOptions& options) {
  const S close = S(options.tolerance * options.tolerance), most = S(options.largest_step);
  MaskOf<S> arrived = q[0] != q[0];
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int step = 0; step <= options.steps; ++step) {
    const auto frames = chain::frames(arm.model, chain::angles(arm.model, q));
    const Vec<S, 6> e = pose_error(target, frames.tool, options.position_only);
    S turned = S(0);  // trace of the rotation that is missing: -1 .. 3, the sine alone also vanishes at half a turn
    for_each_index<3>([&](auto k) { turned += dot(column(frames.tool.R, k), column(target.R, k)); });
    arrived = dot(e, e) <= close && (turned > S(0) || S(options.position_only ? 1 : 0) > S(0));
    if (step == options.steps || all(arrived)) break;
    Mat<S, 6, J> jac = chain::jacobian(arm.model, frames);
    for_each_index<J>([&](auto i) {
      for_each_index<6>([&](auto r) {
        if (i >= arm.joints || (r >= 3 && options.position_only)) jac(r, i) = S(0);
      });
    });
    const Vec<S, J> delta = kernel::damped_reach(jac, e);
    S longest = most;
    for_each_index<J>([&](auto i) { longest = max(longest, abs(delta[i])); });
    const S part = most / longest;
    for_each_index<J>([&](auto i) { q[i] = select(arrived, q[i], fma(part, delta[i], q[i])); });
  }
  for_each_index<J>([&](auto i) { q[i] = select(arrived, q[i], S(__builtin_nan(""))); });
  return q;
}

}  // namespace garra::singularity
