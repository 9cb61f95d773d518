// Small dense factorizations over S: LDLT, LU, Householder QR, symmetric Jacobi eigenvalues.
//
// Sizes are known at compile time, nothing branches on a value, and every sum has one fixed order:
// scalar code, lanes and a GPU thread return the same bits. Singular input is not an error: a pivot
// no larger than the rounding noise of its column is skipped, as if its unknown were fixed at zero,
// and counted in `bad_pivots`. Finite input of ordinary size (|a| within 1e-140 .. 1e140 in double,
// 1e-15 .. 1e15 in float, or zero) therefore gives finite output. A consistent singular system
// still gets one of its solutions; NaN stays NaN.
//
// Algorithms: G. H. Golub, C. F. Van Loan, "Matrix Computations", 4th ed., 2013: 4.1.2
// (LDLT), 3.4.4 (LU with partial pivoting), 5.2.2 (Householder QR), 8.5.5 (cyclic Jacobi).
#pragma once

#include <limits>

#include "garra/core/elementary.hpp"
#include "garra/core/far_mat.hpp"
#include "garra/core/unroll.hpp"

namespace garra {

namespace factor {

/// Rounding noise of a pivot relative to its column: an elimination of n steps loses a few n eps.
template <class S>
GARRA_HD constexpr RealOf<S> rounding_noise(int n) {
  return RealOf<S>(4 * n) * std::numeric_limits<RealOf<S>>::epsilon();
}

/// 1/pivot, or 0 (and one more bad pivot) where the pivot is within the noise.
template <class S>
GARRA_HD S inverse_or_zero(const S& pivot, const S& noise, S& bad_pivots) {
  const S zero = S(RealOf<S>(0)), one = S(RealOf<S>(1));
  const MaskOf<S> bad = pivot <= noise && -pivot <= noise;
  bad_pivots += select(bad, one, zero);
  return select(bad, zero, one / select(bad, one, pivot));
}

/// Exchanges a and b where the mask is set.
template <class S>
GARRA_HD void swap_where(const MaskOf<S>& mask, S& a, S& b) {
  const S old = a;
  a = select(mask, b, a);
  b = select(mask, old, b);
}

}  // namespace factor

/// Factors of a = L D L^T with unit lower triangular L and diagonal D.
template <class S, int N, class Matrix = Mat<S, N, N>>
struct Ldlt {
  Matrix l;         ///< ones on the diagonal, zeros above
  Vec<S, N> d;      ///< pivots as computed, also the bad ones
  Vec<S, N> inv_d;  ///< 1/d, 0 for a bad pivot
  S bad_pivots;     ///< how many pivots were zero, negative or rounding noise; 0 for a definite matrix
};

namespace factor {

/// Inverse of a pivot of LDL^T, and whether it is bad: zero, negative or rounding noise of its
/// diagonal entry.
template <class S>
struct InvertedPivot {
  MaskOf<S> bad;
  S inverse;  ///< 0 if the pivot is bad
};
template <class S>
GARRA_HD InvertedPivot<S> invert_pivot(const S& pivot, const S& diagonal, RealOf<S> noise) {
  const S zero = S(RealOf<S>(0)), one = S(RealOf<S>(1));
  const MaskOf<S> bad = pivot <= S(noise) * abs(diagonal);
  return {bad, select(bad, zero, one / select(bad, one, pivot))};
}

/// Computes column j of L and the pivot d_j from the columns before it.
template <class S, int N, class Given, class Matrix>
GARRA_HD void ldlt_step(const Given& a, Ldlt<S, N, Matrix>& f, int j, RealOf<S> noise) {
  const S zero = S(RealOf<S>(0)), one = S(RealOf<S>(1));
  Vec<S, N> w;  // row j of L D
  S pivot = a(j, j);
  for (int k = 0; k < j; ++k) {
    w[k] = f.l(j, k) * f.d[k];
    pivot = fma(-f.l(j, k), w[k], pivot);
  }
  const auto [bad, inverse] = invert_pivot(pivot, a(j, j), noise);
  f.bad_pivots += select(bad, one, zero);
  f.d[j] = pivot;
  f.inv_d[j] = inverse;
  for (int i = j + 1; i < extent<N>(); ++i) {
    S sum = a(i, j);
    for (int k = 0; k < j; ++k) sum = fma(-f.l(i, k), w[k], sum);
    f.l(i, j) = select(bad, zero, sum * f.inv_d[j]);
  }
}

}  // namespace factor

/// Factors a symmetric positive (semi)definite matrix without pivoting; reads the lower triangle
/// only. A pivot d_k <= 4 N eps |a_kk| is bad: its column of L is zero and its unknown is zero in
/// every solution. The count is exact for a well-conditioned leading block; the condition of that
/// block multiplies the noise of later pivots. `size`: N, or less if the last rows are padding,
/// which is eliminated without a trace. If l is no Mat only its entries below the diagonal are set.
template <class S, int N>
[[nodiscard]] GARRA_HD Ldlt<S, N> factor_ldlt(const Mat<S, N, N>& a, int size = extent<N>()) {
  Ldlt<S, N> f;
  f.l = Mat<S, N, N>::identity();
  f.bad_pivots = S(RealOf<S>(0));
  for_each_index<N>([&](auto j) { factor::ldlt_step(a, f, j, factor::rounding_noise<S>(size)); });
  return f;
}
template <class S, int N>
[[nodiscard]] GARRA_HD auto factor_ldlt(const SymmetricMat<S, N>& a) {
  Ldlt<S, N, SymmetricMat<S, N>> f;
  f.bad_pivots = S(RealOf<S>(0));
  for_each_index<N>([&](auto j) { factor::ldlt_step(a, f, j, factor::rounding_noise<S>(extent<N>())); });
  return f;
}
template <class S, int N, int stride>
[[nodiscard]] GARRA_HD auto factor_ldlt(const FarMat<S, N, N, stride>& a) {
  Ldlt<S, N, FarMat<S, N, N, stride>> f;
  take_room(f.l, a);
  f.bad_pivots = S(RealOf<S>(0));
  for (int j = 0; j < extent<N>(); ++j) factor::ldlt_step(a, f, j, factor::rounding_noise<S>(extent<N>()));
  return f;
}
/// Local factors of a matrix that lies elsewhere.
template <class S, int N, int stride>
[[nodiscard]] GARRA_HD auto factor_ldlt_here(const FarMat<S, N, N, stride>& a) {
  Ldlt<S, N, SymmetricMat<S, N>> f;
  f.bad_pivots = S(RealOf<S>(0));
  for (int j = 0; j < extent<N>(); ++j) factor::ldlt_step(a, f, j, factor::rounding_noise<S>(extent<N>()));
  return f;
}
template <class S, int N>
[[nodiscard]] GARRA_HD Ldlt<S, N> factor_ldlt_here(const Mat<S, N, N>& a) {
  return factor_ldlt(a);
}

namespace factor {

/// Replaces column c of b by that of L^-1 b.
template <class S, int N, int C, class Matrix>
GARRA_HD void forward(const Ldlt<S, N, Matrix>& f, int c, Mat<S, N, C>& b) {
  for_each_index<N>([&](auto i) {
    for (int k = 0; k < i; ++k) b(i, c) = fma(-f.l(i, k), b(k, c), b(i, c));
  });
}

}  // namespace factor

/// L^-1 b: b^T a^-1 b is the sum of its squared rows times inv_d, in half the work of solve().
template <class S, int N, int C>
[[nodiscard]] GARRA_HD Mat<S, N, C> solve_lower(const Ldlt<S, N>& f, Mat<S, N, C> b) {
  for (int c = 0; c < C; ++c) factor::forward(f, c, b);
  return b;
}

/// x with a x = b, for one or several right-hand sides (the columns of b).
template <class S, int N, int C, class Matrix>
[[nodiscard]] GARRA_HD Mat<S, N, C> solve(const Ldlt<S, N, Matrix>& f, Mat<S, N, C> b) {
  for (int c = 0; c < C; ++c) {
    factor::forward(f, c, b);
    for (int i = 0; i < extent<N>(); ++i) b(i, c) = b(i, c) * f.inv_d[i];
    // Known terms come first in every sum: each sum then waits for one product at most.
    for_each_index<N>([&](auto from_end) {
      const int i = extent<N>() - 1 - from_end;
      for (int k = extent<N>() - 1; k > i; --k) b(i, c) = fma(-f.l(k, i), b(k, c), b(i, c));
    });
  }
  return b;
}

/// Inverse of a 3x3 matrix and its number of bad pivots.
template <class S>
struct Inverse3 {
  Mat3<S> inverse;  ///< symmetric to the bit
  S bad_pivots;     ///< as in Ldlt
};

/// Inverse of a symmetric positive definite 3x3 matrix, L^-T D^-1 L^-1; reads the lower triangle
/// only.
template <class S>
[[nodiscard]] GARRA_HD Inverse3<S> inverse_spd(const Mat3<S>& a) {
  const Ldlt<S, 3> f = factor_ldlt(a);
  const S m10 = -f.l(1, 0), m21 = -f.l(2, 1);
  const S m20 = fma(m21, m10, -f.l(2, 0));  // below the diagonal of L^-1
  const S v12 = m21 * f.inv_d[2];
  const S v02 = m20 * f.inv_d[2];
  const S v11 = fma(m21, v12, f.inv_d[1]);
  const S v01 = fma(m10, f.inv_d[1], m20 * v12);
  const S v00 = fma(m20, v02, fma(m10, m10 * f.inv_d[1], f.inv_d[0]));
  return {{{v00, v01, v02, v01, v11, v12, v02, v12, f.inv_d[2]}}, f.bad_pivots};
}

/// Factors of P a = L U, rows chosen by size, in each lane for itself.
template <class S, int N>
struct Lu {
  Mat<S, N, N> lu;  ///< U on and above the diagonal, L (its ones left out) below
  Vec<S, N> inv_d;  ///< 1/u_kk, 0 for a bad pivot
  Vec<S, N> row;    ///< number of the row of `a` at this place
  S sign;           ///< determinant of P: 1 or -1
  S bad_pivots;     ///< how many pivots were rounding noise; 0 for a regular matrix
};

namespace factor {

/// Moves the largest remaining entry of column k to row k and reduces the rows below.
template <class S, int N>
GARRA_HD void lu_step(const Mat<S, N, N>& a, Lu<S, N>& f, int k) {
  S size = abs(a(0, k));
  for (int i = 1; i < extent<N>(); ++i) size = max(size, abs(a(i, k)));
  for (int i = k + 1; i < extent<N>(); ++i) {
    const MaskOf<S> larger = abs(f.lu(i, k)) > abs(f.lu(k, k));
    for (int j = 0; j < extent<N>(); ++j) swap_where(larger, f.lu(k, j), f.lu(i, j));
    swap_where(larger, f.row[k], f.row[i]);
    f.sign = select(larger, -f.sign, f.sign);
  }
  f.inv_d[k] = inverse_or_zero(f.lu(k, k), S(rounding_noise<S>(extent<N>())) * size, f.bad_pivots);
  for (int i = k + 1; i < extent<N>(); ++i) {
    f.lu(i, k) = f.lu(i, k) * f.inv_d[k];
    for (int j = k + 1; j < extent<N>(); ++j) f.lu(i, j) = fma(-f.lu(i, k), f.lu(k, j), f.lu(i, j));
  }
}

}  // namespace factor

/// Factors a square matrix with partial pivoting. A pivot |u_kk| <= 4 N eps max_i |a_ik| is bad:
/// its column of L is zero and its unknown is zero in every solution.
template <class S, int N>
[[nodiscard]] GARRA_HD Lu<S, N> factor_lu(const Mat<S, N, N>& a) {
  using R = RealOf<S>;
  Lu<S, N> f;
  f.lu = a;
  f.sign = S(R(1));
  f.bad_pivots = S(R(0));
  for (int i = 0; i < extent<N>(); ++i) f.row[i] = S(R(i));
  for_each_index<N>([&](auto k) { factor::lu_step(a, f, k); });
  return f;
}

/// x with a x = b, for one or several right-hand sides (the columns of b).
template <class S, int N, int C>
[[nodiscard]] GARRA_HD Mat<S, N, C> solve(const Lu<S, N>& f, const Mat<S, N, C>& b) {
  using R = RealOf<S>;
  Mat<S, N, C> x;
  for (int c = 0; c < C; ++c) {
    for_each_index<N>([&](auto i) {
      x(i, c) = b(0, c);
      for (int j = 1; j < extent<N>(); ++j) x(i, c) = select(f.row[i] == S(R(j)), b(j, c), x(i, c));
      for (int k = 0; k < i; ++k) x(i, c) = fma(-f.lu(i, k), x(k, c), x(i, c));
    });
    for_each_index<N>([&](auto from_end) {
      const int i = extent<N>() - 1 - from_end;
      for (int k = i + 1; k < extent<N>(); ++k) x(i, c) = fma(-f.lu(i, k), x(k, c), x(i, c));
      x(i, c) = x(i, c) * f.inv_d[i];
    });
  }
  return x;
}

template <class S, int N>
[[nodiscard]] GARRA_HD S determinant(const Lu<S, N>& f) {
  S product = f.sign;
  for (int k = 0; k < N; ++k) product *= f.lu(k, k);
  return product;
}

/// Factors of a = Q R by reflections H_k = I - beta_k v_k v_k^T, for R >= C.
template <class S, int R, int C>
struct Qr {
  Mat<S, R, C> qr;  ///< R above the diagonal, v_k on and below it
  Vec<S, C> d;      ///< diagonal of R
  Vec<S, C> inv_d;  ///< 1/d, 0 for a bad pivot
  Vec<S, C> beta;
  S bad_pivots;  ///< how many d_k were rounding noise; 0 for full column rank
};

namespace factor {

/// Clears column k below the diagonal by a reflection along v_k; applies it to the later columns.
template <class S, int R, int C>
GARRA_HD void qr_step(Qr<S, R, C>& f, int k) {
  using Real = RealOf<S>;
  const S zero = S(Real(0)), one = S(Real(1));
  S squares = f.qr(k, k) * f.qr(k, k);
  for (int i = k + 1; i < R; ++i) squares = fma(f.qr(i, k), f.qr(i, k), squares);
  const S length = sqrt(squares);
  const S pivot = f.qr(k, k);
  const S reach = length + abs(pivot);
  f.d[k] = select(pivot < zero, length, -length);
  const MaskOf<S> nothing = squares <= S(std::numeric_limits<Real>::min());
  f.beta[k] = select(nothing, zero, one / select(nothing, one, length * reach));
  f.qr(k, k) = select(pivot < zero, -reach, reach);
  S size = squares;  // of the original column too: reflections keep its length
  for (int i = 0; i < k; ++i) size = fma(f.qr(i, k), f.qr(i, k), size);
  f.inv_d[k] = inverse_or_zero(f.d[k], S(rounding_noise<S>(R)) * sqrt(size), f.bad_pivots);
  for (int j = k + 1; j < C; ++j) {
    S along = f.qr(k, k) * f.qr(k, j);
    for (int i = k + 1; i < R; ++i) along = fma(f.qr(i, k), f.qr(i, j), along);
    along = along * f.beta[k];
    for (int i = k; i < R; ++i) f.qr(i, j) = fma(-f.qr(i, k), along, f.qr(i, j));
  }
}

}  // namespace factor

/// Factors a tall or square matrix. |d_k| <= 4 R eps |column k of a| is bad: its unknown is zero in
/// every solution.
template <class S, int R, int C>
[[nodiscard]] GARRA_HD Qr<S, R, C> factor_qr(const Mat<S, R, C>& a) {
  static_assert(R >= C, "factor_qr: the matrix must not be wider than tall");
  Qr<S, R, C> f;
  f.qr = a;
  f.bad_pivots = S(RealOf<S>(0));
  for_each_index<C>([&](auto k) { factor::qr_step(f, k); });
  return f;
}

/// x that makes |a x - b| smallest, for one or several right-hand sides (the columns of b).
template <class S, int R, int C, int K>
[[nodiscard]] GARRA_HD Mat<S, C, K> solve(const Qr<S, R, C>& f, Mat<S, R, K> b) {
  Mat<S, C, K> x;
  for (int c = 0; c < K; ++c) {
    for_each_index<C>([&](auto k) {
      S along = f.qr(k, k) * b(k, c);
      for (int i = k + 1; i < R; ++i) along = fma(f.qr(i, k), b(i, c), along);
      along = along * f.beta[k];
      for (int i = k; i < R; ++i) b(i, c) = fma(-f.qr(i, k), along, b(i, c));
    });
    for_each_index<C>([&](auto from_end) {
      const int k = C - 1 - from_end;
      x(k, c) = b(k, c);
      for (int j = k + 1; j < C; ++j) x(k, c) = fma(-f.qr(k, j), x(j, c), x(k, c));
      x(k, c) = x(k, c) * f.inv_d[k];
    });
  }
  return x;
}

/// |det R|: |det a| of a square matrix, else the volume sqrt(det(a^T a)) that its columns span.
template <class S, int R, int C>
[[nodiscard]] GARRA_HD S abs_determinant(const Qr<S, R, C>& f) {
  S product = abs(f.d[0]);
  for (int k = 1; k < C; ++k) product *= abs(f.d[k]);
  return product;
}

/// Eigenvalues and eigenvectors: a = V diag(values) V^T, values ascending.
template <class S, int N>
struct SymmetricEigen {
  Vec<S, N> values;
  Mat<S, N, N> vectors;  ///< orthonormal columns, in the order of the values
};

namespace factor {

/// One Jacobi rotation in the plane (p, q): makes a(p, q) zero and turns the columns of v.
template <class S, int N>
GARRA_HD void rotate(Mat<S, N, N>& a, Mat<S, N, N>& v, int p, int q) {
  using R = RealOf<S>;
  const S zero = S(R(0)), one = S(R(1));
  const S gap = a(q, q) - a(p, p);
  const S twice = a(p, q) + a(p, q);
  // t = tan of the smaller of the two angles, Golub & Van Loan (8.5.2) with numerator and
  // denominator times 2 a_pq
  const S reach = abs(gap) + sqrt(fma(gap, gap, twice * twice));
  const S t = select(gap < zero, -twice, twice) / select(reach == zero, one, reach);
  const S c = one / sqrt(fma(t, t, one));
  const S s = t * c;
  a(p, p) = fma(-t, a(p, q), a(p, p));
  a(q, q) = fma(t, a(p, q), a(q, q));
  a(p, q) = zero;
  a(q, p) = zero;
  for (int k = 0; k < extent<N>(); ++k) {
    if (k != p && k != q) {
      const S akp = a(k, p), akq = a(k, q);
      a(k, p) = fma(c, akp, -(s * akq));
      a(k, q) = fma(s, akp, c * akq);
      a(p, k) = a(k, p);
      a(q, k) = a(k, q);
    }
    const S vkp = v(k, p), vkq = v(k, q);
    v(k, p) = fma(c, vkp, -(s * vkq));
    v(k, q) = fma(s, vkp, c * vkq);
  }
}

/// A power of two near the largest entry of `a`, for scaling without rounding; and its reciprocal.
template <class S>
struct Scale {
  S up, down;
};

template <class S, int N>
GARRA_HD Scale<S> find_scale(const Mat<S, N, N>& a) {
  using F = FloatFormat<RealOf<S>>;
  using Word = typename F::Bits;
  constexpr Word kExponentOfOne = Word(F::kBias) << F::kFractionBits;
  S largest = S(std::numeric_limits<RealOf<S>>::min());
  for (int k = 0; k < N * N; ++k) largest = max(largest, abs(a.m[k]));
  const BitsOf<S> up = to_bits(largest) & BitsOf<S>(Word(2 * F::kBias + 1) << F::kFractionBits);
  return {from_bits<S>(up), from_bits<S>(BitsOf<S>(2 * kExponentOfOne) - up)};
}

}  // namespace factor

/// Sweeps after which the off-diagonal part is rounding noise: convergence is quadratic,
/// tests/core/test_factor.cpp measures how many it takes.
template <int N>
inline constexpr int kJacobiSweeps = N <= 2   ? 2
                                     : N <= 4 ? 6
                                              : 8;

/// Eigenvalues and eigenvectors of a symmetric matrix by cyclic Jacobi rotations; reads the lower
/// triangle only. Absolute error of the values: a few eps times the largest |eigenvalue|.
template <class S, int N>
[[nodiscard]] GARRA_HD SymmetricEigen<S, N> symmetric_eigen(const Mat<S, N, N>& a) {
  Mat<S, N, N> w;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) {
      w(i, j) = a(i, j);
      w(j, i) = a(i, j);
    }
  const factor::Scale<S> scale = factor::find_scale(w);
  w = scale.down * w;
  SymmetricEigen<S, N> e;
  e.vectors = Mat<S, N, N>::identity();
  for (int sweep = 0; sweep < kJacobiSweeps<N>; ++sweep)
    unrolled(std::make_integer_sequence<int, N - 1>{}, [&](auto p) {
      unrolled(std::make_integer_sequence<int, N - 1 - p>{},
               [&](auto k) { factor::rotate(w, e.vectors, p, p + 1 + k); });
    });
  for (int k = 0; k < N; ++k) e.values[k] = scale.up * w(k, k);
  // Sort by exchanges, which stay the same whatever the values are.
  unrolled(std::make_integer_sequence<int, N - 1>{}, [&](auto i) {
    for (int j = i + 1; j < N; ++j) {
      const MaskOf<S> out_of_order = e.values[j] < e.values[i];
      factor::swap_where(out_of_order, e.values[i], e.values[j]);
      for (int k = 0; k < N; ++k) factor::swap_where(out_of_order, e.vectors(k, i), e.vectors(k, j));
    }
  });
  return e;
}

}  // namespace garra
