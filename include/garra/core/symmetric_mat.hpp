// A symmetric matrix stored once per entry, for GPU threads whose registers cannot hold the full
// matrix. Code written for a matrix of any kind (far_mat.hpp) gets the same results from it as from
// the full matrix. It also serves as the triangle of another matrix or of a factor.
#pragma once

#include "garra/core/mat.hpp"

namespace garra {

template <class S, int N>
struct SymmetricMat {
  S m[kCapacity<N> * (kCapacity<N> + 1) / 2];  ///< row by row, up to the diagonal

  static GARRA_HD constexpr int place(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }
  GARRA_HD S& operator()(int i, int j) { return m[place(i, j)]; }
  GARRA_HD const S& operator()(int i, int j) const { return m[place(i, j)]; }
  GARRA_HD S& operator[](int k) { return m[k]; }
  GARRA_HD const S& operator[](int k) const { return m[k]; }
};

template <class S, int N>
GARRA_HD void take_room(SymmetricMat<S, N>&, const SymmetricMat<S, N>&) {}

/// As for a Mat: sums in the same order.
template <class S, int N>
GARRA_HD Vec<S, N> operator*(const SymmetricMat<S, N>& a, const Vec<S, N>& x) {
  Vec<S, N> out;
  for_each_index<N>([&](int i) {
    S sum = a(i, 0) * x[0];
    for_each_index<N - 1>([&](int k) { sum = fma(a(i, k + 1), x[k + 1], sum); });
    out[i] = sum;
  });
  return out;
}

/// Number of entries that a matrix of some kind stores.
template <class S, int R, int C>
GARRA_HD constexpr int count_numbers(const Mat<S, R, C>&) {
  return extent<R>() * extent<C>();
}
template <class S, int N>
GARRA_HD constexpr int count_numbers(const SymmetricMat<S, N>&) {
  return N * (N + 1) / 2;
}

}  // namespace garra
