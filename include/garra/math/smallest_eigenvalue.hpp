// Smallest eigenvalue of a symmetric positive semidefinite 6 x 6 matrix: J J^T of a Jacobian, W W^T
// of a grasp.
#pragma once

#include <limits>

#include "garra/core/mat.hpp"
#include "garra/core/unroll.hpp"

namespace garra {

namespace tridiagonal {

/// A symmetric tridiagonal matrix, stored as its characteristic polynomial needs it.
template <class S>
struct Matrix {
  Vec<S, 6> diagonal;
  Vec<S, 5> square;  ///< of the entries beside the diagonal
};

/// Reduces column K of a symmetric matrix to that of a tridiagonal one (Householder).
template <int K, class S>
GARRA_HD void reflect(Mat<S, 6, 6>& a, Matrix<S>& t) {
  constexpr int N = 5 - K;
  Vec<S, N> v, p;
  for_each_index<N>([&](auto i) { v[i] = a(K + 1 + i, K); });
  const S square = dot(v, v), size = sqrt(square), most = fma(abs(v[0]), size, square);
  t.diagonal[K] = a(K, K);
  t.square[K] = square;
  const auto none = most <= S(std::numeric_limits<RealOf<S>>::min());
  const S h = select(none, S(0), S(1) / select(none, S(1), most));
  v[0] += select(v[0] < S(0), -size, size);
  for_each_index<N>([&](auto i) {
    S sum = a(K + 1 + i, K + 1) * v[0];
    for_each_index<N - 1>([&](auto j) { sum = fma(a(K + 1 + i, K + 2 + j), v[j + 1], sum); });
    p[i] = h * sum;
  });
  const S back = S(0.5) * h * dot(v, p);
  for_each_index<N>([&](auto i) { p[i] = fnma(back, v[i], p[i]); });
  for_each_index<N>([&](auto i) {
    for_each_index<N>([&](auto j) {
      if constexpr (j <= i) {
        const S entry = fnma(v[i], p[j], fnma(p[i], v[j], a(K + 1 + i, K + 1 + j)));
        a(K + 1 + i, K + 1 + j) = entry;
        a(K + 1 + j, K + 1 + i) = entry;
      }
    });
  });
}

/// Smallest eigenvalue by Laguerre's iteration from 0, which never passes it. It converges
/// cubically (B. Parlett, Math. Comp. 18, 1964), or by a factor of 0.3 a step to a double one.
template <class S>
GARRA_HD S smallest_root(const Matrix<S>& t, double close) {
  constexpr int kSteps = 30;
  S x = S(0), active = S(1);
  for (int step = 0; step < kSteps && any(active > S(0)); ++step) {
    S p = t.diagonal[0] - x, q = S(-1), r = S(0);  // of the leading matrices: determinant and its derivatives
    S p1 = S(1), q1 = S(0), r1 = S(0);
    for_each_index<5>([&](auto k) {
      const S a = t.diagonal[k + 1] - x, b = t.square[k];
      const S p2 = fma(a, p, -(b * p1)), q2 = fma(a, q, -fma(b, q1, p)), r2 = fma(a, r, -fma(b, r1, q + q));
      p1 = p, q1 = q, r1 = r;
      p = p2, q = q2, r = r2;
    });
    const S inside = S(5) * fma(S(5) * q, q, S(-6) * (p * r));
    const S change = S(6) * p / (sqrt(max(inside, S(0))) - q);
    const auto going = active > S(0);
    x = select(going, x + change, x);
    active = select(going && change > S(close) * x, S(1), S(0));
  }
  return x;
}

}  // namespace tridiagonal

/// Error: `close`, relative, and some eps of the largest. NaN if more than two are zero.
template <class S>
GARRA_HD S smallest_eigenvalue(Mat<S, 6, 6> a, double close = 1e-9) {
  tridiagonal::Matrix<S> t;
  for_each_index<4>([&](auto k) { tridiagonal::reflect<k>(a, t); });
  t.diagonal[4] = a(4, 4);
  t.diagonal[5] = a(5, 5);
  t.square[4] = a(5, 4) * a(5, 4);
  return tridiagonal::smallest_root(t, close);
}

}  // namespace garra
