// Sorting and completion of small sets of vectors, in addition to their orthogonalization
// (chain/kernels_singular.hpp): sorted by length, completed to a basis.
#pragma once

#include <limits>

#include "garra/core/factor.hpp"
#include "garra/systems/chain/kernels_singular.hpp"

namespace garra::singularity::kernel {

using chain::kernel::VectorSet;

using chain::kernel::head_dot;
using chain::kernel::make_orthogonal;

/// Exchanges a and b where the mask is set.
template <class S, int W>
GARRA_HD void swap_where(const MaskOf<S>& mask, Vec<S, W>& a, Vec<S, W>& b) {
  const Vec<S, W> old = a;
  a = select(mask, b, a);
  b = select(mask, old, b);
}

/// Sorts vectors by `length`, longest first (odd-even transposition).
template <class S, int N, int W>
GARRA_HD void sort_descending(Vec<S, N>& length, VectorSet<S, N, W>& a) {
  for_each_index<N>([&](auto round) {
    for_each_index<N - 1>([&](auto k) {
      if ((k + round) % 2 == 0) {
        const auto wrong = length[k] < length[k + 1];
        factor::swap_where(wrong, length[k], length[k + 1]);
        swap_where<S, W>(wrong, a.v[k], a.v[k + 1]);
      }
    });
  });
}
template <class S, int N>
GARRA_HD void sort_descending(Vec<S, N>& value) {
  for_each_index<N>([&](auto round) {
    for_each_index<N - 1>([&](auto k) {
      if ((k + round) % 2 == 0) {
        const S high = max(value[k], value[k + 1]), low = min(value[k], value[k + 1]);
        value[k] = high;
        value[k + 1] = low;
      }
    });
  });
}

template <int L, class S, int N, int W>
GARRA_HD Vec<S, N> head_lengths(const VectorSet<S, N, W>& a) {
  Vec<S, N> out;
  for_each_index<N>([&](auto k) { out[k] = sqrt(head_dot<L>(a.v[k], a.v[k])); });
  return out;
}

/// Rows of R of the vectors' QR decomposition, by modified Gram-Schmidt: the same singular values
/// in vectors of length N, for any length of the vectors. If they are dependent, R is still
/// accurate (A. Bjorck, BIT 7, 1967).
template <class S, int N, int L>
GARRA_HD VectorSet<S, N, N> triangular(VectorSet<S, N, L> a) {
  VectorSet<S, N, N> r;
  for_each_index<N>([&](auto k) {
    const S squares = dot(a.v[k], a.v[k]), inverse = chain::kernel::reciprocal_or_zero(squares);
    const S length = sqrt(squares);
    for_each_index<N>([&](auto j) {
      if (j < k) r.v[k][j] = S(0);
      if (j == k) r.v[k][j] = length;
      if (j > k) {
        const S along = dot(a.v[k], a.v[j]) * inverse;
        r.v[k][j] = along * length;
        for_each_index<L>([&](auto e) { a.v[j][e] = fnma(along, a.v[k][e], a.v[j][e]); });
      }
    });
  });
  return r;
}

/// Orthonormal vectors that complete the first R of `basis`, orthonormal as well, in a space of L dimensions.
template <int R, class S, int N, int L>
GARRA_HD VectorSet<S, L - R, L> complement(const VectorSet<S, N, L>& basis) {
  Mat<S, L, L> rest = Mat<S, L, L>::identity();  // projector onto the missing part
  const auto take_away = [&](const Vec<S, L>& v) {
    for_each_index<L>([&](auto i) { for_each_index<L>([&](auto j) { rest(i, j) = fnma(v[i], v[j], rest(i, j)); }); });
  };
  for_each_index<R>([&](auto k) { take_away(basis.v[k]); });
  VectorSet<S, L - R, L> out;
  for_each_index<L - R>([&](auto k) {
    S best = rest(0, 0);
    Vec<S, L> v = column(rest, 0);
    for_each_index<L - 1>([&](auto c) {
      const auto larger = rest(c + 1, c + 1) > best;
      best = select(larger, rest(c + 1, c + 1), best);
      v = select(larger, column(rest, c + 1), v);
    });
    out.v[k] = (S(1) / sqrt(best)) * v;  // the length of column i of a projector is the root of its entry (i, i)
    take_away(out.v[k]);
  });
  return out;
}

}  // namespace garra::singularity::kernel
