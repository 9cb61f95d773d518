// The cone |x_T| <= x_0 of vectors x = (x_0, x_T) of D numbers, for interior-point methods (L. Vandenberghe, "The
// CVXOPT linear and quadratic cone program solvers", 2010).
#pragma once

#include "garra/core/mat.hpp"

namespace garra::solvers::cone {

/// x0^2 - |x_T|^2 of a vector of the cone |x_T| <= x0, without the cancellation of the squares.
template <class S, int D>
GARRA_HD S depth2(const Vec<S, D>& x) {
  const S xt = tangential_length(x);
  return (x[0] - xt) * (x[0] + xt);
}

/// Largest a with x + a d in the cone |x_T| <= x0, for x inside of it; infinity where it never leaves.
template <class S, int D>
GARRA_HD S way_out(const Vec<S, D>& x, const Vec<S, D>& d) {
  const S A = depth2(d), B = fma(x[0], d[0], -tangential_dot(x, d)), C = max(depth2(x), S(0));
  const S root = sqrt(max(fma(B, B, -(A * C)), S(0)));
  const auto falls = A < S(0) || B < S(0);                  // where A >= 0 and B < 0, -d is in the cone, and B^2 >= A C
  const S below = select(B < S(0), root - B, -(B + root));  // the root that does not cancel, times A
  const S a = select(B < S(0), C / select(below > S(0), below, S(1)), below / select(A < S(0), A, S(-1)));
  return select(falls, a, S(__builtin_huge_val()));
}

/// Nesterov and Todd's scaling of c and z inside of the cone: H c = z for H = (2 J w (J w)^T - J) / eta2, whose inverse
/// is eta2 (2 w w^T - J), J = diag(1, -1, ..., -1).
template <class S, int D>
struct Scaling {
  Vec<S, D> w;
  S eta2;
};
template <class S, int D>
GARRA_HD Scaling<S, D> make_scaling(const Vec<S, D>& c, const Vec<S, D>& z) {
  const S dc = sqrt(depth2(c)), dz = sqrt(depth2(z));
  const S ic = S(1) / dc, iz = S(1) / dz;
  const Vec<S, D> cn = ic * c, zn = iz * z;
  const S half = S(1) / sqrt(S(2) * (S(1) + dot(cn, zn)));
  Scaling<S, D> out;
  out.w[0] = half * (cn[0] + zn[0]);
  for (int k = 1; k < D; ++k) out.w[k] = half * (cn[k] - zn[k]);
  out.eta2 = dc * iz;
  return out;
}

}  // namespace garra::solvers::cone
