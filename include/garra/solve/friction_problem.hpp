// The friction contact problem of N contacts and the judge of its answers (docs/contact-solver.md).
//
//   a = A c + b,   per contact   K* ∋ a + mu |a_T| e_n  ⟂  c ∈ K = { |c_T| <= mu c_n }            (1)
//
// which is the papers' all-rolling problem (15)-(18), (20) in the form of De Saxcé. Contact-major order
// (n, t, o per contact); c is the force on the object [N], a the relative acceleration of the contact point
// [m/s^2] (object minus finger, a_n > 0 separates), A in 1/kg, b in m/s^2, mu without unit.
#pragma once

#include "garra/core/mat.hpp"
#include "garra/core/status.hpp"

namespace garra::solvers {

template <class S, int N>
struct FrictionProblem {
  Mat<S, 3 * N, 3 * N> A;
  Vec<S, 3 * N> b;
  Vec<S, N> mu;
};

/// A solution and its certificate. `status` and `iterations` are whole numbers stored as S.
template <class S, int N>
struct FrictionSolution {
  Vec<S, 3 * N> c;   ///< contact force; NaN unless converged
  Vec<S, 3 * N> a;   ///< A c + b; NaN unless converged
  S residual;        ///< scale-invariant natural-map error, what `converged` is judged by
  S residual_raw;    ///< the same of the problem as given, without scaling
  S iterations;      ///< Newton steps
  S status;          ///< garra::Status
};

/// What the iteration hands over to the certificate: the force in the problem's units and the steps it took.
template <class S, int N>
struct Candidate {
  Vec<S, 3 * N> c;
  S steps;
};

/// Nearest point of the friction cone K_mu to the force (n, t, o), in the Euclidean norm.
template <class S>
GARRA_HD Vec3<S> project_on_cone(const Vec3<S>& y, const S& mu) {
  const S yt = sqrt(fma(y[1], y[1], y[2] * y[2]));
  const auto inside = yt <= mu * y[0];
  const auto polar = fma(mu, yt, y[0]) <= S(0);  // in the polar cone: the apex is nearest
  // One division serves both n = (y_n + mu |y_t|) / (1 + mu^2) and the factor mu n / |y_t| on the tangent.
  const S length = select(yt > S(0), yt, S(1));
  const S over = fma(mu, yt, y[0]) / (fma(mu, mu, S(1)) * length);
  const S n = over * length, scale = mu * over;
  Vec3<S> p = vec3<S>(n, scale * y[1], scale * y[2]);
  p = select(polar, Vec3<S>::zero(), p);
  return select(inside, y, p);
}

/// |c - P_K(c - a~)| / max(|b|, |c|, |a|) in 2-norms over all contacts: the natural map of (1) with rho = 1.
/// 0 where b, c and a all vanish. `a` is A c + b, computed by the caller from the problem it wants judged.
template <class S, int N>
GARRA_HD S natural_map_error(const Vec<S, N>& mu, const Vec<S, 3 * N>& b, const Vec<S, 3 * N>& c,
                             const Vec<S, 3 * N>& a) {
  S error2 = S(0);
  for_each_index<N>([&](int j) {
    const S at = sqrt(fma(a[3 * j + 1], a[3 * j + 1], a[3 * j + 2] * a[3 * j + 2]));
    const Vec3<S> cj = vec3<S>(c[3 * j], c[3 * j + 1], c[3 * j + 2]);
    const Vec3<S> y = vec3<S>(cj[0] - fma(mu[j], at, a[3 * j]), cj[1] - a[3 * j + 1], cj[2] - a[3 * j + 2]);
    const Vec3<S> d = cj - project_on_cone(y, mu[j]);
    error2 += dot(d, d);
  });
  const S scale2 = max(dot(b, b), max(dot(c, c), dot(a, a)));
  return select(scale2 > S(0), sqrt(error2 / select(scale2 > S(0), scale2, S(1))), S(0));
}

/// The papers' merit value (4), with the rolling rows (29)-(36), at a force c and a = A c + b: lambda = |a_T|, slack
/// variables z = max(0, (a_n, s)). Zero at a solution, but no measure of accuracy (it is quadratic at the cone's apex).
template <class S, int N>
GARRA_HD S papers_merit(const Vec<S, N>& mu, const Vec<S, 3 * N>& c, const Vec<S, 3 * N>& a) {
  S squares = S(0), product = S(0);
  for (int j = 0; j < N; ++j) {
    const S cn = c[3 * j], ct = c[3 * j + 1], co = c[3 * j + 2];
    const S an = a[3 * j], at = a[3 * j + 1], ao = a[3 * j + 2];
    const S lambda = sqrt(fma(at, at, ao * ao));
    const S s = fma(mu[j] * cn, mu[j] * cn, -fma(ct, ct, co * co));
    const S g1 = fma(mu[j] * cn, at, ct * lambda), g2 = fma(mu[j] * cn, ao, co * lambda);
    const S f1 = min(an, S(0)), f2 = min(s, S(0));
    squares += fma(g1, g1, g2 * g2) + fma(f1, f1, f2 * f2);
    product += fma(cn, max(an, S(0)), lambda * max(s, S(0)));
  }
  return fma(product, product, squares);
}

/// Scales that make the problem's size and units irrelevant: A / size_a has largest diagonal entry 1, b / size_b
/// largest entry 1. Degenerate sizes (0) become 1.
template <class S>
struct FrictionScale {
  S size_a, size_b;
};
template <class S, int N>
GARRA_HD FrictionScale<S> friction_scale(const FrictionProblem<S, N>& p) {
  S size_a = S(0), size_b = S(0);
  for (int i = 0; i < 3 * N; ++i) {
    size_a = max(size_a, p.A(i, i));
    size_b = max(size_b, abs(p.b[i]));
  }
  return {select(size_a > S(0), size_a, S(1)), select(size_b > S(0), size_b, S(1))};
}

/// A relative error says nothing about a force that ran away: where no solution exists c grows without bound and (3) with
/// it in the denominator tends to 0. So a certificate also asks for an absolute error, in units of the largest |b|.
inline constexpr double kLargestAbsoluteError = 0.1;

/// The certificate: computes a = A c + b from the problem as given and both residuals, judges `converged`, and
/// replaces the outputs of an unsolved problem by NaN. Independent of how `c` was found.
/// `reason` is the status to report where the tolerance is not met.
template <class S, int N>
GARRA_HD FrictionSolution<S, N> certify(const FrictionProblem<S, N>& p, Vec<S, 3 * N> c, const S& reason,
                                        const S& iterations, double tol) {
  FrictionSolution<S, N> out;
  S wild = S(0);
  for (int i = 0; i < 3 * N; ++i) wild += c[i] - c[i];
  c = select(wild == S(0), c, Vec<S, 3 * N>::zero());  // a force that overflowed is judged as no force
  const FrictionScale<S> scale = friction_scale(p);
  const S force = scale.size_a / scale.size_b;
  const S inv_b = S(1) / scale.size_b;
  const Vec<S, 3 * N> a = p.A * c + p.b;
  out.residual_raw = natural_map_error<S, N>(p.mu, p.b, c, a);
  out.residual = natural_map_error<S, N>(p.mu, inv_b * p.b, force * c, inv_b * a);
  S sum = S(0);
  for (int i = 0; i < 9 * N * N; ++i) sum += p.A.m[i] - p.A.m[i];
  for (int i = 0; i < 3 * N; ++i) sum += p.b[i] - p.b[i];
  auto valid = sum == S(0);
  for (int j = 0; j < N; ++j) valid = valid && p.mu[j] >= S(0) && is_finite(p.mu[j]);
  const S size2 = max(dot(c, c) * (force * force), dot(a, a) * (inv_b * inv_b));
  const auto absolute = out.residual * sqrt(size2) <= S(kLargestAbsoluteError);
  const auto converged = valid && absolute && out.residual <= S(tol);  // false for NaN
  // Proved to have none: a contact that no force can move (its row of A vanishes) and that approaches all the same.
  auto impossible = tol < 0 && valid;
  for (int j = 0; j < N; ++j) {
    S row = S(0);
    for (int k = 0; k < 3 * N; ++k) row += abs(p.A(3 * j, k));
    impossible = impossible || (row == S(0) && p.b[3 * j] < S(0));
  }
  const S nan = S(__builtin_nan(""));
  out.status = select(valid, select(converged, S(int(Status::kConverged)),
                                    select(impossible, S(int(Status::kNoSolution)), reason)), S(int(Status::kInvalidInput)));
  out.c = c;
  out.a = a;
  for (int i = 0; i < 3 * N; ++i) {
    out.c[i] = select(converged, out.c[i], nan);
    out.a[i] = select(converged, out.a[i], nan);
  }
  out.iterations = iterations;
  return out;
}

}  // namespace garra::solvers
