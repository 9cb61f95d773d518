// Grasp quality by closed formulas on the stick force c_s = -A^-1 b (docs/theory/grasp-model.md,
// section 6).
#pragma once

#include "garra/core/elementary.hpp"
#include "garra/core/factor.hpp"
#include "garra/core/mat.hpp"

namespace garra::grasp {

/// Value of unbounded metrics, e.g. the required friction of a contact that is pulled open.
inline constexpr double kInfinity = __builtin_huge_val();

/// Friction margin 1 - |c_T| / (mu c_n) of one contact; negative outside the cone, -inf if c_n <=
/// 0, and 0 on the axis of a cone without width (mu = 0), which has no margin.
template <class S, int D = 3>
GARRA_HD S friction_margin(const Vec<S, D>& c, const S& mu) {
  const S ct = tangential_length(c);
  const auto pressed = mu * c[0] > S(0);
  const auto on_axis = ct == S(0) && c[0] >= S(0);
  return select(pressed, S(1) - ct / select(pressed, mu * c[0], S(1)), select(on_axis, S(0), S(-kInfinity)));
}

/// Smallest friction coefficient with which c lies in the cone: |c_T| / c_n; inf if c_n <= 0.
template <class S, int D = 3>
GARRA_HD S required_friction(const Vec<S, D>& c) {
  const S ct = tangential_length(c);
  const auto pressed = c[0] > S(0);
  return select(pressed, ct / select(pressed, c[0], S(1)), S(kInfinity));
}

/// Distance from c to the cone's boundary [N]: (mu c_n - |c_T|) / sqrt(1 + mu^2).
template <class S, int D = 3>
GARRA_HD S cone_distance(const Vec<S, D>& c, const S& mu) {
  const S ct = tangential_length(c);
  return fma(mu, c[0], -ct) / sqrt(fma(mu, mu, S(1)));
}

/// Exit of c0 + L c1 from the cone K_mu: the smallest L > 0, inf if it never leaves, 0 if c0 is
/// already outside. The boundary is |c_T|^2 = mu^2 c_n^2, a quadratic in L.
template <class S, int D = 3>
GARRA_HD S cone_exit(const Vec<S, D>& c0, const Vec<S, D>& c1, const S& mu) {
  const S m2 = mu * mu;
  S qa = -(m2 * (c1[0] * c1[0]));
  S qb = -(m2 * (c0[0] * c1[0]));  // half the linear term
  S qc = -(m2 * (c0[0] * c0[0]));
  for_each_index<D - 1>([&](int k) {
    const S x0 = c0[D - 1 - k], x1 = c1[D - 1 - k];
    qa = fma(x1, x1, qa);
    qb = fma(x0, x1, qb);
    qc = fma(x0, x0, qc);
  });
  const auto inside = qc <= S(0) && c0[0] >= S(0);
  const S disc = fma(qb, qb, -(qa * qc));
  // Roots in the form that does not cancel. Inside the cone qc <= 0, so the product of the roots qc
  // / qa decides. qa > 0: one root of each sign, the positive one is the exit; qa <= 0: both of one
  // sign, or none.
  const S root = sqrt(max(disc, S(0)));
  const S w = select(qb >= S(0), -(qb + root), root - qb);
  const S r1 = w / select(qa == S(0), S(1), qa);
  const S r2 = qc / select(w == S(0), S(1), w);
  const S inf = S(kInfinity);
  const auto usable = disc >= S(0);
  const S e1 = select(usable && !(qa == S(0)) && r1 > S(0), r1, inf);
  const S e2 = select(usable && !(w == S(0)) && r2 > S(0), r2, inf);
  // A root on the mirror cone (c_n < 0) comes after the apex, which comes after the true exit: the smaller root counts.
  return select(inside, min(e1, e2), S(0));
}

/// Largest eigenvalue of a symmetric positive semidefinite 3x3 matrix, by the trigonometric solution of its cubic
/// (relative error a few eps: the largest root is well conditioned).
template <class S>
GARRA_HD S largest_eigenvalue(const Mat3<S>& a) {
  const S mean = (a(0, 0) + a(1, 1) + a(2, 2)) * S(1.0 / 3.0);
  const S d0 = a(0, 0) - mean, d1 = a(1, 1) - mean, d2 = a(2, 2) - mean;
  const S off = fma(a(0, 1), a(0, 1), fma(a(0, 2), a(0, 2), a(1, 2) * a(1, 2)));
  const S p2 = fma(d0, d0, fma(d1, d1, fma(d2, d2, S(2) * off))) * S(1.0 / 6.0);
  const auto isotropic = !(p2 > S(0));
  const S p = sqrt(max(p2, S(0)));
  const S det =
      fma(d0, fma(d1, d2, -(a(1, 2) * a(1, 2))),
          fma(a(0, 1), fma(a(1, 2), a(0, 2), -(a(0, 1) * d2)), a(0, 2) * fma(a(0, 1), a(1, 2), -(d1 * a(0, 2)))));
  const S r = det / (S(2) * select(isotropic, S(1), p2 * p));
  const S angle = acos(max(min(r, S(1)), S(-1))) * S(1.0 / 3.0);
  return select(isotropic, mean, fma(S(2) * p, cos(angle), mean));
}

/// The same of a 4x4 matrix, by Jacobi's rotations.
template <class S>
GARRA_HD S largest_eigenvalue(const Mat<S, 4, 4>& a) {
  return symmetric_eigen(a).values[3];
}

/// G G^T of a matrix with D rows, from its columns: the first sets it, the others are added.
template <class S, int D = 3>
struct ColumnGram {
  Vec<S, D*(D + 1) / 2> lower;  ///< by rows

  GARRA_HD void set(const Vec<S, D>& g) {
    for_each_entry([&](auto at, auto r, auto c) { lower[at] = g[c] * g[r]; });
  }
  GARRA_HD void add(const Vec<S, D>& g) {
    for_each_entry([&](auto at, auto r, auto c) { lower[at] = fma(g[c], g[r], lower[at]); });
  }
  /// The matrix's spectral norm.
  [[nodiscard]] GARRA_HD S norm() const {
    Mat<S, D, D> gram;
    for_each_entry([&](auto at, auto r, auto c) { gram(r, c) = gram(c, r) = lower[at]; });
    return sqrt(max(largest_eigenvalue(gram), S(0)));
  }

 private:
  template <class Do>
  static GARRA_HD void for_each_entry(const Do& run) {
    for_each_index<D>([&](auto r) { for_each_index<r + 1>([&](auto c) { run(r * (r + 1) / 2 + c, r, c); }); });
  }
};

/// Spectral norm of a D x 6 matrix.
template <class S, int D>
GARRA_HD S spectral_norm(const Mat<S, D, 6>& g) {
  ColumnGram<S, D> gram;
  gram.set(column(g, 0));
  for (int k = 1; k < 6; ++k) gram.add(column(g, k));
  return gram.norm();
}

}  // namespace garra::grasp
