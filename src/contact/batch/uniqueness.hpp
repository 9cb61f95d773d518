// Proof that a friction problem has no other solution, from one that is known (docs/theory/contact-solver.md, "Proof of
// uniqueness"). Host and device.
#pragma once

#include "garra/core/factor.hpp"
#include "garra/solvers/friction_problem.hpp"

namespace garra::contact {

/// Proven: root of the bound (8d) <= this. The rest of 1 is for solutions that are exact for a slightly changed load.
inline constexpr double kUnique = 0.98;
/// A proof requires pivots of A above this share of its largest diagonal entry.
inline constexpr double kUniquePivot = 1e-4;

namespace uniqueness {

/// A bound of the largest eigenvalue of |M| diag(m): the largest (|M| diag(m) x)_i / x_i for any positive x, here of
/// two steps of the power method (Collatz and Wielandt). NaN where all m are zero.
template <class S, int M, class Entry>
GARRA_HD S spectral_bound(const Entry& entry, const Vec<S, M>& m) {
  Vec<S, M> x;
  for_each_index<M>([&](int i) { x[i] = S(1); });
  const auto multiply = [&](const Vec<S, M>& by) {
    Vec<S, M> y = Vec<S, M>::zero();
    for_each_index<M>([&](int k) {
      const S weighted = m[k] * by[k];
      for_each_index<M>([&](int i) { y[i] = fma(abs(entry(i, k)), weighted, y[i]); });
    });
    return y;
  };
  x = multiply(multiply(x));
  const Vec<S, M> y = multiply(x);
  S largest = S(0);
  for_each_index<M>([&](int i) { largest = max(y[i] / x[i], largest); });
  return largest;
}

/// The normal block of A^-1, from the factors of A with the normal directions last.
template <class S, int N, int M>
GARRA_HD Mat<S, N, N> normal_compliance(const Ldlt<S, M>& f) {
  const int first = extent<M>() - extent<N>();
  Mat<S, N, N> inverse_l, out;
  for_each_index<N>([&](int j) {
    for_each_index<N>([&](int i) {
      S sum = S(i == j ? 1 : 0);
      for_indices_between<N>(j, i, [&](int k) { sum = fma(-f.l(first + i, first + k), inverse_l(k, j), sum); });
      inverse_l(i, j) = sum;
    });
  });
  for_each_index<N>([&](int j) {
    for_each_index<N>([&](int i) {
      S sum = S(0);
      for_indices_between<N>(i < j ? j : i, extent<N>(),
                             [&](int k) { sum = fma(inverse_l(k, i) * f.inv_d[first + k], inverse_l(k, j), sum); });
      out(i, j) = sum;
    });
  });
  return out;
}

}  // namespace uniqueness

/// Whether the solution with forces c is proven to be the only one, for a symmetric A. False where the test does not
/// decide, or c is NaN.
template <class S, int N, int D>
GARRA_HD MaskOf<S> is_only_solution(const solvers::FrictionProblem<S, N, D>& p, const Vec<S, D * N>& c) {
  using namespace uniqueness;
  constexpr int M = D * N, T = M - N;
  // Tangential directions first, normal ones last.
  const auto place = [](int i) { return i < extent<T>() ? i / (D - 1) * D + 1 + i % (D - 1) : (i - extent<T>()) * D; };
  Mat<S, M, M> A;
  for_each_index<M>([&](int i) { for_each_index<M>([&](int k) { A(i, k) = p.A(place(i), place(k)); }); });
  S size = S(0);
  for_each_index<M>([&](int i) { size = max(size, A(i, i)); });
  const auto f = factor_ldlt(A);
  auto definite = dot(c, S(0) * c) == S(0) && size > S(0);  // false for forces that are NaN
  for_each_index<M>([&](int i) { definite = definite && f.d[i] > S(kUniquePivot) * size; });
  // The friction in use: mu where a contact slips or opens.
  Vec<S, N> used;
  Vec<S, T> of_tangents;
  for_each_index<N>([&](int j) {
    const Vec<S, D> cj = solvers::contact<S, N, D>(c, j);
    const auto pressed = cj[0] > S(0);
    used[j] = select(pressed, min(tangential_length(cj) / select(pressed, cj[0], S(1)), p.mu[j]), p.mu[j]);
    for_each_index<D - 1>([&](int i) { of_tangents[(D - 1) * j + i] = used[j]; });
  });
  const Mat<S, N, N> compliance = normal_compliance<S, N>(f);
  const S product = spectral_bound<S, T>([&](int i, int k) { return A(i, k); }, of_tangents) *
                    spectral_bound<S, N>([&](int i, int k) { return compliance(i, k); }, used);
  return definite && product <= S(4 * kUnique * kUnique);  // false for NaN
}

}  // namespace garra::contact
