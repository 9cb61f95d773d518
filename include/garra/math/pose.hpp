// Rigid transforms. R_AB maps B-frame coordinates to A, p_AB is B's origin in A [m].
#pragma once

#include "garra/core/mat.hpp"

namespace garra {

template <class S>
struct Pose {
  Mat3<S> R;
  Vec3<S> p;

  static GARRA_HD Pose identity() { return {Mat3<S>::identity(), Vec3<S>::zero()}; }
};

/// X_AC = X_AB X_BC
template <class S>
GARRA_HD Pose<S> operator*(const Pose<S>& ab, const Pose<S>& bc) {
  return {ab.R * bc.R, ab.R * bc.p + ab.p};
}
template <class S>
GARRA_HD Pose<S> inverse(const Pose<S>& x) {
  return {transpose(x.R), -transpose_times(x.R, x.p)};
}
template <class S, class T>
GARRA_HD Pose<S> cast_pose(const Pose<T>& x) {
  return {cast<S>(x.R), cast<S>(x.p)};
}

/// Two unit vectors that complete the unit vector n to a right-handed frame (n, t, o), without a
/// branch on n (Duff et al., JCGT 6(1), 2017).
template <class S>
GARRA_HD void complete_frame(const Vec3<S>& n, Vec3<S>& t, Vec3<S>& o) {
  const S sign = select(n[2] >= S(0), S(1), S(-1));
  const S a = S(-1) / (sign + n[2]);
  const S b = n[0] * n[1] * a;
  t = vec3<S>(S(1) + sign * n[0] * n[0] * a, sign * b, -sign * n[0]);
  o = vec3<S>(b, sign + n[1] * n[1] * a, -n[1]);
}

/// Symmetric 3x3 matrix R D R^T for symmetric D.
template <class S>
GARRA_HD Mat3<S> rotate_symmetric(const Mat3<S>& R, const Mat3<S>& D) {
  const Mat3<S> T = R * D;
  Mat3<S> out;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) {
      out(i, j) = fma(T(i, 0), R(j, 0), fma(T(i, 1), R(j, 1), T(i, 2) * R(j, 2)));
      out(j, i) = out(i, j);
    }
  return out;
}

}  // namespace garra
