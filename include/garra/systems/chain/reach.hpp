// Joint values that bring the tool to a pose, within ranges of the joints: Gauss-Newton steps of
// least length, damped by the pose error (docs/theory/chain.md, "Inverse kinematics").
#pragma once

#include "garra/systems/chain/followers.hpp"
#include "garra/systems/chain/kernels_kinematics.hpp"

namespace garra::chain {

struct ReachOptions {
  bool position_only = false;
  int steps = 48;
  double tolerance = 1e-10;   ///< of the pose [rad; m in units of 1 m]
  double largest_step = 0.5;  ///< of one joint [rad or m]
};

/// Ranges of the first `joints` joints: from low to low + span [rad or m]; the others do not move.
struct JointRanges {
  int joints;
  const double *low, *span;
  const Followers* followers = nullptr;  ///< followers have their leaders' ranges; null: none
};

/// Turning joints are held at the ends of ranges below this [rad]. Others turn freely: a whole turn
/// may bring them back into a range of 5 rad, and most solutions lie inside it.
inline constexpr double kNarrow = 5;

/// Pose error: position to the target [m], and the rotation's axis times the sine of its angle.
template <class S>
GARRA_HD Vec<S, 6> pose_error(const Pose<S>& target, const Pose<S>& tool, bool position_only) {
  const Vec3<S> p = target.p - tool.p;
  Vec3<S> w = Vec3<S>::zero();
  for_each_index<3>([&](auto k) { w += cross(column(tool.R, k), column(target.R, k)); });
  const S part = S(position_only ? 0 : 0.5);
  return {{p[0], p[1], p[2], part * w[0], part * w[1], part * w[2]}};
}

namespace kernel {

/// J' (J J' + damping)^-1 e by modified Gram-Schmidt on the rows of [J, sqrt(damping) 1]. J J'
/// would lose the digits that distinguish a wrist 1e-8 rad off its singularity from a singular one.
template <class S, int J>
GARRA_HD Vec<S, J> least_step(const Mat<S, 6, J>& jac, Vec<S, 6> e) {
  // The floor keeps rows of zeros; it is far below the tolerance of a pose, squared.
  const S damping = sqrt(fma(S(0.01), dot(e, e), S(1e-22)));
  Vec<S, J + 6> row[6], sum = Vec<S, J + 6>::zero();
  for_each_index<6>([&](auto r) {
    row[r] = Vec<S, J + 6>::zero();
    for_each_index<J>([&](auto i) { row[r][i] = jac(r, i); });
    row[r][J + r] = damping;
  });
  for_each_index<6>([&](auto k) {
    const S inverse = S(1) / dot(row[k], row[k]), missing = e[k];
    sum = axpy(inverse * missing, row[k], sum);
    for_each_index<6>([&](auto j) {
      if (j <= k) return;
      const S along = inverse * dot(row[k], row[j]);
      row[j] = axpy(-along, row[k], row[j]);
      e[j] = fnma(along, missing, e[j]);
    });
  });
  Vec<S, J> out;
  for_each_index<J>([&](auto i) { out[i] = sum[i]; });
  return out;
}

/// Whether a joint is held at the ends of its range.
template <int J>
GARRA_HD bool is_held(const Model<double, J>& m, const JointRanges& range, int i) {
  return i < range.joints && (m.prismatic[i] || range.span[i] < kNarrow);
}

/// The least step without the joints at an end of their range that would leave it.
template <class S, int J>
GARRA_HD Vec<S, J> step_within(const Model<double, J>& m, const JointRanges& range, const Vec<S, J>& q,
                               const Vec<S, 6>& e, Mat<S, 6, J> jac) {
  Vec<S, J> step = Vec<S, J>::zero();
  for (int pass = 0; pass < 2; ++pass) {
    step = least_step(jac, e);
    auto some = q[0] != q[0];
    for_each_index<J>([&](auto i) {
      if (!is_held(m, range, i)) return;
      const S low = S(range.low[i]), high = S(range.low[i] + range.span[i]);
      const auto out = (q[i] <= low && step[i] < S(0)) || (q[i] >= high && step[i] > S(0));
      for_each_index<6>([&](auto r) { jac(r, i) = select(out, S(0), jac(r, i)); });
      some = some || out;
    });
    if (!any(some)) break;
  }
  return step;
}

/// Moves joints by whole turns into their ranges. False if a joint stays outside.
template <class S, int J>
GARRA_HD MaskOf<S> turn_into(const Model<double, J>& m, const JointRanges& range, Vec<S, J>& q) {
  constexpr double kTurn = 6.283185307179586, kSlack = 1e-9;
  MaskOf<S> inside = q[0] == q[0];
  for_each_index<J>([&](auto i) {
    if (i >= range.joints) return;
    const S half = S(0.5 * range.span[i] + kSlack), middle = S(range.low[i] + 0.5 * range.span[i]);
    if (!m.prismatic[i]) {
      // Nearest whole turn, by the rounding that all executors share.
      const S turns = elementary::from_rounder(elementary::to_rounder((q[i] - middle) * S(1 / kTurn)));
      q[i] = select(abs(q[i] - middle) <= half, q[i], fma(turns, S(-kTurn), q[i]));
    }
    const auto here = abs(q[i] - middle) <= half;
    inside = inside && here;
  });
  return inside;
}

}  // namespace kernel

/// Result of a search: `arrived` is 1 at the target within all ranges, else 0; number of `steps`.
template <class S>
struct ReachEnd {
  S arrived, steps;
};

/// Runs one search from q, which receives its end. One function for all callers.
template <class S, int J>
GARRA_HD_CALL void reach(const Model<double, J>& m, const JointRanges& range, const Pose<S>& target,
                         const ReachOptions& options, Vec<S, J>& q, ReachEnd<S>& end) {
  const S close = S(options.tolerance * options.tolerance), most = S(options.largest_step);
  MaskOf<S> arrived = q[0] != q[0];
  end.steps = S(0);
  if (range.followers != nullptr) follow(*range.followers, q);
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int step = 0; step <= options.steps; ++step) {
    const auto frames = chain::frames(m, angles(m, q));
    const Vec<S, 6> e = pose_error(target, frames.tool, options.position_only);
    S turned = S(0);  // trace of the remaining rotation: -1 .. 3; the sine alone also vanishes at half a turn
    for_each_index<3>([&](auto k) { turned += dot(column(frames.tool.R, k), column(target.R, k)); });
    arrived = dot(e, e) <= close && (turned > S(0) || S(options.position_only ? 1 : 0) > S(0));
    if (step == options.steps || all(arrived)) break;
    Mat<S, 6, J> jac = jacobian(m, frames);
    for_each_index<J>([&](auto i) {
      for_each_index<6>([&](auto r) {
        if (i >= range.joints || (r >= 3 && options.position_only)) jac(r, i) = S(0);
      });
    });
    if (range.followers != nullptr) lead_columns(*range.followers, jac);
    const Vec<S, J> delta = kernel::step_within(m, range, q, e, jac);
    S longest = most;
    for_each_index<J>([&](auto i) { longest = max(longest, abs(delta[i])); });
    const S part = most / longest;
    for_each_index<J>([&](auto i) {
      S next = fma(part, delta[i], q[i]);
      if (kernel::is_held(m, range, i)) next = max(S(range.low[i]), min(S(range.low[i] + range.span[i]), next));
      q[i] = select(arrived, q[i], next);
    });
    if (range.followers != nullptr) follow(*range.followers, q);
    end.steps = end.steps + select(arrived, S(0), S(1));
  }
  const auto inside = kernel::turn_into(m, range, q);
  if (range.followers != nullptr) follow(*range.followers, q);
  end.arrived = select(arrived && inside, S(1), S(0));
}

}  // namespace garra::chain
