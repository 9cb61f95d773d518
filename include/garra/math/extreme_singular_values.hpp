// The largest and the smallest singular value of a small matrix, and the product of all: the
// distance of a Jacobian from a singularity, at a tenth of the work of all singular values by
// Jacobi's rotations.
//
// Householder's reflections from both sides leave a bidiagonal matrix B (G. H. Golub, W. Kahan,
// SIAM J. Numer. Anal. B 2, 1965, 205), whose entries are known to rounding of the largest singular
// value. The later steps lose no more. With q_k the squares of its diagonal and e_k of the entries
// beside it, det(x - B'B) = S_N,
//       S_k = x R_(k-1) - q_k S_(k-1),   R_k = S_k - e_k R_(k-1),   S_0 = R_0 = 1.                          (1)
//
// (1) is the characteristic polynomial of the matrix with zero diagonal and B's entries beside it,
// split into its even and odd part. Errors of (1) are relative errors of the q_k and e_k, which
// change even the smallest singular values by the same relative amount (J. Demmel, W. Kahan, SIAM
// J. Sci. Stat. Comput. 11, 1990, 873).
#pragma once

#include <limits>

#include "garra/core/mat.hpp"
#include "garra/core/unroll.hpp"

namespace garra {

/// Extreme singular values of a matrix and their product. Members are S.
template <class S>
struct ExtremeSingularValues {
  S largest, smallest;
  S product;  ///< of all singular values
};

namespace bidiagonal {

/// Squares of a bidiagonal matrix's entries: on the diagonal (q), and beside it (e).
template <class S, int N>
struct Squares {
  Vec<S, N> q, e;  ///< e: N - 1 numbers
};

/// The reflection I - h v v' that maps v to a multiple of the first unit vector; the constructor
/// overwrites v. Identity if v is zero.
template <class S, int M>
struct Reflection {
  Vec<S, M> v;
  S h, squares;  ///< |v|^2 before: the square of the number that is left

  GARRA_HD explicit Reflection(const Vec<S, M>& from) : v(from), squares(dot(from, from)) {
    const S size = sqrt(squares), most = fma(abs(v[0]), size, squares);
    const auto none = most <= S(std::numeric_limits<RealOf<S>>::min());
    h = select(none, S(0), S(1) / select(none, S(1), most));
    v[0] += select(v[0] < S(0), -size, size);
  }
};

/// Squares of the bidiagonal matrix that reflections from both sides leave of a.
template <class S, int R, int N>
GARRA_HD Squares<S, N> reduce(Mat<S, R, N> a) {
  static_assert(R >= N);
  Squares<S, N> out;
  for_each_index<N>([&](auto k) {
    // Column k below the diagonal, by a reflection of rows.
    if constexpr (R - k > 1) {
      Vec<S, R - k> below;
      for_each_index<R - k>([&](auto i) { below[i] = a(k + i, k); });
      const Reflection<S, R - k> rows(below);
      out.q[k] = rows.squares;
      for_each_index<N - 1 - k>([&](auto j) {
        const int c = k + 1 + j;
        S along = rows.v[0] * a(k, c);
        for_each_index<R - k - 1>([&](auto i) { along = fma(rows.v[i + 1], a(k + 1 + i, c), along); });
        along = rows.h * along;
        for_each_index<R - k>([&](auto i) { a(k + i, c) = fnma(along, rows.v[i], a(k + i, c)); });
      });
    } else {
      out.q[k] = a(k, k) * a(k, k);
    }
    // Row k beyond the entry beside the diagonal, by a reflection of columns.
    if constexpr (N - 1 - k > 1) {
      Vec<S, N - 1 - k> beside;
      for_each_index<N - 1 - k>([&](auto j) { beside[j] = a(k, k + 1 + j); });
      const Reflection<S, N - 1 - k> columns(beside);
      out.e[k] = columns.squares;
      for_each_index<R - 1 - k>([&](auto i) {
        const int r = k + 1 + i;
        S along = columns.v[0] * a(r, k + 1);
        for_each_index<N - 2 - k>([&](auto j) { along = fma(columns.v[j + 1], a(r, k + 2 + j), along); });
        along = columns.h * along;
        for_each_index<N - 1 - k>([&](auto j) { a(r, k + 1 + j) = fnma(along, columns.v[j], a(r, k + 1 + j)); });
      });
    } else if constexpr (N - 1 - k == 1) {
      out.e[k] = a(k, k + 1) * a(k, k + 1);
    }
  });
  return out;
}

/// The characteristic polynomial (1) and its first two derivatives.
template <class S>
struct Characteristic {
  S p, slope, bend;
};
template <class S, int N>
GARRA_HD Characteristic<S> characteristic(const Squares<S, N>& b, const S& x) {
  Characteristic<S> s{x - b.q[0], S(1), S(0)}, r{S(1), S(0), S(0)};
  for_each_index<N - 1>([&](auto k) {
    // R_(k+1) of S_(k+1), then S_(k+2) of both.
    r = {fnma(b.e[k], r.p, s.p), fnma(b.e[k], r.slope, s.slope), fnma(b.e[k], r.bend, s.bend)};
    s = {fma(x, r.p, -(b.q[k + 1] * s.p)), fma(x, r.slope, fnma(b.q[k + 1], s.slope, r.p)),
         fma(x, r.bend, fnma(b.q[k + 1], s.bend, S(2) * r.slope))};
  });
  return s;
}

/// Laguerre's step toward the nearest root, from beyond all of them: it never passes the root and
/// converges cubically (B. Parlett, Math. Comp. 18, 1964), linearly to a multiple root. `sign`:
/// sign of the slope there.
template <int N, class S>
GARRA_HD S laguerre_step(const Characteristic<S>& c, int sign) {
  const S inside = S(N - 1) * fma(S(N - 1) * c.slope, c.slope, -(S(N) * (c.p * c.bend)));
  const S below = c.slope + S(sign) * sqrt(max(inside, S(0)));
  const auto flat = below == S(0);  // at a multiple root
  return select(flat, S(0), -(S(N) * c.p) / select(flat, S(1), below));
}

}  // namespace bidiagonal

/// The matrix must not be wider than tall. Errors are rounding of the largest value. NaN for NaN.
template <class S, int R, int N>
GARRA_HD ExtremeSingularValues<S> extreme_singular_values(const Mat<S, R, N>& a) {
  using namespace bidiagonal;
  Squares<S, N> b = reduce(a);
  S squares = b.q[0], product = sqrt(b.q[0]);
  for_each_index<N - 1>([&](auto k) {
    squares += b.q[k + 1] + b.e[k];
    product *= sqrt(b.q[k + 1]);
  });
  // Scaled by the norm of the matrix, so that nothing overflows.
  const auto none = !(squares > S(0));
  const S unit = S(1) / select(none, S(1), squares);
  for_each_index<N>([&](auto k) { b.q[k] = unit * b.q[k]; });
  for_each_index<N - 1>([&](auto k) { b.e[k] = unit * b.e[k]; });
  constexpr int kSteps = 40, kSignBelow = N % 2 == 0 ? -1 : 1;
  constexpr RealOf<S> kClose = 64 * std::numeric_limits<RealOf<S>>::epsilon();
  S high = S(1), low = S(0), falling = S(1), rising = S(1);  // falling, rising: 1 until their root is found
  for (int step = 0; step < kSteps && any(rising > S(0) || falling > S(0)); ++step) {
    const S down = laguerre_step<N>(characteristic(b, high), 1),
            up = laguerre_step<N>(characteristic(b, low), kSignBelow);
    high = select(falling > S(0), high + down, high);
    low = select(rising > S(0), low + up, low);
    falling = select(falling > S(0) && -down > S(kClose) * high, S(1), S(0));
    rising = select(rising > S(0) && up > S(kClose) * low, S(1), S(0));
  }
  const S size = sqrt(squares);
  return {size * sqrt(max(high, S(0))), size * sqrt(max(low, S(0))), product};
}

}  // namespace garra
