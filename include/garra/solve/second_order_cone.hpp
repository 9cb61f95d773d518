// The cone |x_T| <= x_0 of vectors x = (x_0, x_T) of three numbers, for interior-point methods (L. Vandenberghe, "The
// CVXOPT linear and quadratic cone program solvers", 2010).
#pragma once

#include "garra/core/mat.hpp"

namespace garra::solvers::cone {

/// x0^2 - |x_T|^2 of a vector of the cone |x_T| <= x0, without the cancellation of the squares.
template <class S>
GARRA_HD S depth2(const Vec3<S>& x) {
  const S xt = tangential_length(x);
  return (x[0] - xt) * (x[0] + xt);
}

/// Largest a with x + a d in the cone |x_T| <= x0, for x inside of it; infinity where it never leaves.
template <class S>
GARRA_HD S way_out(const Vec3<S>& x, const Vec3<S>& d) {
  const S A = depth2(d), B = fma(x[0], d[0], -fma(x[1], d[1], x[2] * d[2])), C = max(depth2(x), S(0));
  const S root = sqrt(max(fma(B, B, -(A * C)), S(0)));
  const auto falls = A < S(0) || B < S(0);                  // where A >= 0 and B < 0, -d is in the cone, and B^2 >= A C
  const S below = select(B < S(0), root - B, -(B + root));  // the root that does not cancel, times A
  const S a = select(B < S(0), C / select(below > S(0), below, S(1)), below / select(A < S(0), A, S(-1)));
  return select(falls, a, S(__builtin_huge_val()));
}

/// Nesterov and Todd's scaling of c and z inside of the cone: H c = z for H = (2 J w (J w)^T - J) / eta2, whose inverse
/// is eta2 (2 w w^T - J), J = diag(1, -1, -1).
template <class S>
struct Scaling {
  Vec3<S> w;
  S eta2;
};
template <class S>
GARRA_HD Scaling<S> scaling_of(const Vec3<S>& c, const Vec3<S>& z) {
  const S dc = sqrt(depth2(c)), dz = sqrt(depth2(z));
  const S ic = S(1) / dc, iz = S(1) / dz;
  const Vec3<S> cn = ic * c, zn = iz * z;
  const S half = S(1) / sqrt(S(2) * (S(1) + dot(cn, zn)));
  return {vec3<S>(half * (cn[0] + zn[0]), half * (cn[1] - zn[1]), half * (cn[2] - zn[2])), dc * iz};
}

}  // namespace garra::solvers::cone
