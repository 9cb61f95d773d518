// Joint screws of a configuration in comparable numbers: taken about a center amid the axes, with
// lengths in units of the axes' distance from it. Singular values of these columns depend neither
// on the base's position nor on the unit of length. They do depend on center and length: report
// both beside them.
#pragma once

#include "garra/core/factor.hpp"
#include "garra/systems/chain/kernels_kinematics.hpp"

namespace garra::singularity {

using chain::Angles;
using chain::Joints;
using chain::Model;

/// Axes of the joints, world axes, relative to the base's origin: a distant base costs no digits.
template <class S, int J>
struct JointLines {
  Vec3<S> direction[J];  ///< unit vectors
  Vec3<S> point[J];      ///< of the axis [m]
  Vec3<S> tool;          ///< tool point [m]
};

template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD JointLines<S, J> joint_lines(const Model<T, J>& m, const Angles<S, J>& x) {
  const Mat3<S> R = cast<S>(m.base.R);
  chain::kernel::Axes<S> f = {column(R, 0), column(R, 1), column(R, 2), Vec3<S>::zero()};
  JointLines<S, J> out;
  for_each_index<J>([&](auto i) {
    chain::kernel::advance_tilt<K>(m.joint[i], f);
    f.p = axpy(chain::travel<K>(m, x, i), f.z, f.p);
    chain::kernel::advance_turn(x.cos[i], x.sin[i], f);
    out.direction[i] = f.z;
    out.point[i] = f.p;
  });
  const Vec3<S> t = cast<S>(m.tool.p);
  out.tool = axpy(t[0], f.x, axpy(t[1], f.y, axpy(t[2], f.z, f.p)));
  return out;
}

/// Center (as in JointLines) and unit of length [m] of scaled screws.
template <class S>
struct ScalingOf {
  Vec3<S> center;
  S length;
};

/// Axes that differ by less than this angle [rad] count as parallel: their intersection is not used
/// as center.
inline constexpr double kParallel = 1e-6;
/// Axes that miss one point by less than this share of the arm's size are concurrent: the length is
/// then 1 m.
template <class S>
inline constexpr double kConcurrent = sizeof(RealOf<S>) == 8 ? 1e-9 : 1e-5;

/// v without its part along the unit vector z.
template <class S>
GARRA_HD Vec3<S> across(const Vec3<S>& z, const Vec3<S>& v) {
  return axpy(-dot(z, v), z, v);
}

namespace kernel {

/// Sums over the revolute axes, their points taken from the mean of all points.
template <class S>
struct AxisSums {
  Mat3<S> normal;  ///< of 1 - z z'
  Vec3<S> right;   ///< of (1 - z z') p
  S spread;        ///< of the squared sines of the angles to the first of them
  Vec3<S> first;   ///< direction of the first
  int count;
};

template <Joints K, class S, class T, int J>
GARRA_HD AxisSums<S> sum_axes(const Model<T, J>& m, const JointLines<S, J>& l, const Vec3<S>& mean) {
  AxisSums<S> out = {Mat3<S>::zero(), Vec3<S>::zero(), S(0), l.direction[0], 0};
  for_each_index<J>([&](auto i) {
    if (!chain::slides<K>(m, i)) {
      const Vec3<S> z = l.direction[i];
      if (out.count == 0) out.first = z;
      ++out.count;
      for_each_index<3>([&](int r) {
        for_each_index<3>([&](int c) { out.normal(r, c) += r == c ? fnma(z[r], z[c], S(1)) : -(z[r] * z[c]); });
      });
      out.right += across(z, l.point[i] - mean);
      const Vec3<S> sine = cross(z, out.first);
      out.spread += dot(sine, sine);
    }
  });
  return out;
}

}  // namespace kernel

/// Center: the point with the least squared distances to the revolute axes; for parallel axes, the
/// one at the height of the mean of the frames' origins. Length: the root of these distances' mean
/// square, or 1 m if all axes meet.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD ScalingOf<S> natural_scaling(const Model<T, J>& m, const JointLines<S, J>& l) {
  Vec3<S> mean = Vec3<S>::zero();
  for_each_index<J>([&](auto i) { mean += l.point[i]; });
  mean = S(1.0 / J) * mean;
  kernel::AxisSums<S> sums = kernel::sum_axes<K>(m, l, mean);
  if (sums.count == 0) return {mean, S(1)};
  // Parallel axes leave their direction undetermined; along it the center is beside the mean.
  const auto parallel = sums.spread <= S(kParallel * kParallel * sums.count);
  const S hold = select(parallel, S(1), S(0));
  for_each_index<3>([&](int r) {
    for_each_index<3>([&](int c) { sums.normal(r, c) = fma(hold * sums.first[r], sums.first[c], sums.normal(r, c)); });
  });
  const Vec3<S> center = solve(factor_ldlt(sums.normal), sums.right);
  S squares = S(0), size = S(0);
  for_each_index<J>([&](auto i) {
    if (!chain::slides<K>(m, i)) {
      const Vec3<S> from_mean = l.point[i] - mean, off = across(l.direction[i], from_mean - center);
      squares += dot(off, off);
      size += dot(from_mean, from_mean);
    }
  });
  const auto concurrent = squares <= S(kConcurrent<S> * kConcurrent<S>) * size;
  const S length = sqrt(S(1.0 / sums.count) * select(concurrent, S(1), squares));
  return {mean + center, select(concurrent, S(1), length)};
}

/// Root mean square distance of the revolute axes to a point; 1 m if all of them meet there, or
/// there is none.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD S length_about(const Model<T, J>& m, const JointLines<S, J>& l, const Vec3<S>& center) {
  S squares = S(0), size = S(0);
  int count = 0;
  for_each_index<J>([&](auto i) {
    if (!chain::slides<K>(m, i)) {
      const Vec3<S> from = l.point[i] - center, off = across(l.direction[i], from);
      squares += dot(off, off);
      size += dot(l.point[i], l.point[i]);
      ++count;
    }
  });
  if (count == 0) return S(1);
  const auto concurrent = squares <= S(kConcurrent<S> * kConcurrent<S>) * size;
  return select(concurrent, S(1), sqrt(S(1.0 / count) * squares));
}

/// Unit screws of the joints, angular part first, about the scaling's center: (z; (p - c) x z / L) of a revolute joint,
/// (0; z) of a prismatic one, whose travel counts in units of L. Lie products of these are derivatives of these.
template <class S, int J>
struct ScaledScrews {
  Screw<S> joint[J];
};

/// Joints from number `joints` on are padding: zero screws, which change no singular value.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD ScaledScrews<S, J> scaled_screws(const Model<T, J>& m, const JointLines<S, J>& l, const ScalingOf<S>& scaling,
                                          int joints = J) {
  const S unit = S(1) / scaling.length;
  ScaledScrews<S, J> out;
  for_each_index<J>([&](auto i) {
    const Vec3<S> z = l.direction[i];
    if (i >= joints)
      out.joint[i] = {Vec3<S>::zero(), Vec3<S>::zero()};
    else if (chain::slides<K>(m, i))
      out.joint[i] = {Vec3<S>::zero(), z};
    else
      out.joint[i] = {z, unit * cross(l.point[i] - scaling.center, z)};
  });
  return out;
}

/// The screws as the columns of a 6 x J Jacobian.
template <class S, int J>
GARRA_HD Mat<S, 6, J> columns(const ScaledScrews<S, J>& screws) {
  Mat<S, 6, J> out;
  for_each_index<J>([&](auto i) {
    for_each_index<3>([&](int r) {
      out(r, i) = screws.joint[i].w[r];
      out(r + 3, i) = screws.joint[i].v[r];
    });
  });
  return out;
}

template <class S>
GARRA_HD Vec<S, 6> to_vector(const Screw<S>& a) {
  return {{a.w[0], a.w[1], a.w[2], a.v[0], a.v[1], a.v[2]}};
}

}  // namespace garra::singularity
