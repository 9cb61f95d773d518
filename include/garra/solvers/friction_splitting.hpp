// Shared parts of the first-order friction solvers: the scaled problem, a diagonal scaling that
// keeps the cones, and the stop test (docs/theory/friction-cone-solvers.md).
#pragma once

#include "garra/solvers/friction_problem.hpp"

namespace garra::solvers::friction_splitting {

/// A x + b
template <class S, int M, class Matrix>
GARRA_HD Vec<S, M> affine(const Matrix& A, const Vec<S, M>& x, const Vec<S, M>& b) {
  Vec<S, M> y = b;
  for_each_index<M>([&](int i) {
    S sum = y[i];
    for_each_index<M>([&](int k) { sum = fma(A(i, k), x[k], sum); });
    y[i] = sum;
  });
  return y;
}

/// A scaled force above this cannot converge: rounding alone leaves an absolute error that no
/// certificate allows. The limit also keeps every number finite.
inline constexpr double kHopeless = 1e16;

/// The solvers' common test; diverging iterates count as lost, too.
template <class S, int N, class Matrix>
GARRA_HD IterateCheck<S> check_scaled_iterate(const FrictionProblem<S, N, 3, Matrix>& p, const LoadScale<S, N>& scale,
                                              const Vec<S, 3 * N>& c, const Vec<S, 3 * N>& a, double tolerance) {
  IterateCheck<S> out = solvers::check_iterate(p, scale, c, a, tolerance);
  out.lost = out.lost || out.size2 > S(kHopeless * kHopeless);
  return out;
}

/// Contact-wise diagonal scaling (11): c = D c', a = a' / D with D = diag(n, t, t) per contact. It
/// gives the same law with A' = D A D, b' = D b, mu' = mu n / t: circular cones stay circular and
/// De Saxcé's shift scales along, since n mu |a_T| = mu' |a'_T|. D makes A'_nn = 1 and A'_tt +
/// A'_oo = 2 at every contact.
template <class S, int N>
struct Preconditioner {
  Vec<S, N> n, t;
  Vec<S, N> inv_n, inv_t;
  static constexpr auto parts() {
    return std::tuple{&Preconditioner::n, &Preconditioner::t, &Preconditioner::inv_n, &Preconditioner::inv_t};
  }
};
template <class S, int N, class Matrix>
GARRA_HD Preconditioner<S, N> preconditioner(const Matrix& A) {
  Preconditioner<S, N> d;
  for_each_index<N>([&](int j) {
    const S an = A(3 * j, 3 * j);
    const S at = S(0.5) * (A(3 * j + 1, 3 * j + 1) + A(3 * j + 2, 3 * j + 2));
    // An (almost) immobile direction keeps a bounded scale; the largest A_jj is 1.
    d.inv_n[j] = sqrt(max(an, S(1e-8)));
    d.inv_t[j] = sqrt(max(at, S(1e-8)));
    d.n[j] = S(1) / d.inv_n[j];
    d.t[j] = S(1) / d.inv_t[j];
  });
  return d;
}

/// (n_j x_n, t_j x_T) at every contact.
template <class S, int N>
GARRA_HD Vec<S, 3 * N> times_diagonal(const Vec<S, N>& n, const Vec<S, N>& t, Vec<S, 3 * N> x) {
  for_each_index<N>([&](int j) {
    x[3 * j] = n[j] * x[3 * j];
    x[3 * j + 1] = t[j] * x[3 * j + 1];
    x[3 * j + 2] = t[j] * x[3 * j + 2];
  });
  return x;
}

template <class S, int N, class Matrix>
GARRA_HD FrictionProblem<S, N, 3, Matrix> preconditioned(const FrictionProblem<S, N, 3, Matrix>& p,
                                                         const Preconditioner<S, N>& d) {
  FrictionProblem<S, N, 3, Matrix> out;
  take_room(out.A, p.A);
  const auto entry = [&](int i) { return i % 3 == 0 ? d.n[i / 3] : d.t[i / 3]; };
  for_each_index<3 * N>(
      [&](int i) { for_each_index<3 * N>([&](int k) { out.A(i, k) = (entry(i) * p.A(i, k)) * entry(k); }); });
  out.b = times_diagonal<S, N>(d.n, d.t, p.b);
  for_each_index<N>([&](int j) { out.mu[j] = p.mu[j] * (d.n[j] * d.inv_t[j]); });
  return out;
}

/// The same test on an iterate of the preconditioned problem: steps of the length 1 / g of the
/// scaled problem, in its units.
template <class S, int N, class Matrix>
GARRA_HD IterateCheck<S> check_scaled_iterate(const FrictionProblem<S, N, 3, Matrix>& p, const Preconditioner<S, N>& d,
                                              const LoadScale<S, N>& scale, const Vec<S, 3 * N>& c, double tolerance) {
  const Vec<S, 3 *N> force = times_diagonal<S, N>(d.n, d.t, c),
                     a = times_diagonal<S, N>(d.inv_n, d.inv_t, affine(p.A, c, p.b));
  Vec<S, 3 * N> dc, da;
  for_each_index<N>([&](int j) {
    const Vec3<S> cj = contact<S, N>(force, j), aj = contact<S, N>(a, j);
    const LawfulPair<S, 3> to = lawful_pair(cj, aj, p.mu[j] * (d.inv_n[j] * d.t[j]), scale.g[j]);
    set_contact<S, N>(dc, j, to.c - cj);
    set_contact<S, N>(da, j, to.a - aj);
  });
  const Vec<S, 3 * N> product = times_diagonal<S, N>(
      d.inv_n, d.inv_t, affine(p.A, times_diagonal<S, N>(d.inv_n, d.inv_t, dc), Vec<S, 3 * N>::zero()));
  S error = S(0);
  for_each_index<N>([&](int j) { error = max(error, magnitude(contact<S, N>(da - product, j)) * scale.per_s[j]); });
  IterateCheck<S> out = make_iterate_check(error, dot(force, force), dot(a, a), tolerance);
  out.lost = out.lost || out.size2 > S(kHopeless * kHopeless);
  return out;
}

/// An acceleration with De Saxcé's shift, a + mu |a_T| e_n.
template <class S, int N>
GARRA_HD Vec<S, 3 * N> shifted(Vec<S, 3 * N> a, const Vec<S, N>& mu) {
  for_each_index<N>([&](int j) { a[3 * j] = fma(mu[j], tangential_length(contact<S, N>(a, j)), a[3 * j]); });
  return a;
}

/// The limit of c0, c1, c2, ... if one real mode is left of the error, projected on the cones
/// (Lyusternik; Aitken's process for vectors). It is c2 + (c2 - c1) q / (1 - q) with q the ratio of
/// the last two changes (10), or c2 itself unless 0 < q < 1.
template <class S, int N>
GARRA_HD Vec<S, 3 * N> extrapolated(const Vec<S, N>& mu, const Vec<S, 3 * N>& c0, const Vec<S, 3 * N>& c1,
                                    const Vec<S, 3 * N>& c2) {
  const Vec<S, 3 *N> before = c1 - c0, last = c2 - c1;
  const S before2 = dot(before, before);
  const S q = dot(before, last) / select(before2 > S(0), before2, S(1));
  const auto useful = q > S(0) && q < S(1);
  const S factor = select(useful, q / select(useful, S(1) - q, S(1)), S(0));
  return project_on_cones<S, N>(axpy(factor, last, c2), mu);
}

template <class S>
GARRA_HD Effort<S> make_effort(const S& iterations) {
  Effort<S> effort = Effort<S>::none();
  effort.outer = iterations;
  return effort;
}

}  // namespace garra::solvers::friction_splitting
