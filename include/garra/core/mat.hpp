// Mat<S, R, C>: a fixed-size dense matrix, row-major, an aggregate of S and nothing else.
//
// Eigen is not used: one implementation must give the same bits for S = double, S = Lanes<double>
// and a GPU thread. This needs one fixed order of summation with explicit fused multiply-adds,
// which a library that picks packet paths by type does not promise. An Eigen::Map with RowMajor
// reads a Mat<double, R, C> in place.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "garra/core/scalar.hpp"
#include "garra/core/unroll.hpp"

namespace garra {

template <class S, int R, int C>
struct Mat {
  S m[R * C];

  static constexpr int kRows = R;
  static constexpr int kCols = C;

  GARRA_HD S& operator()(int i, int j) { return m[i * C + j]; }
  GARRA_HD const S& operator()(int i, int j) const { return m[i * C + j]; }
  GARRA_HD S& operator[](int i) { return m[i]; }
  GARRA_HD const S& operator[](int i) const { return m[i]; }

  static GARRA_HD Mat zero() {
    Mat z;
    for_each_index<R * C>([&](int k) { z.m[k] = S(0); });
    return z;
  }
  static GARRA_HD Mat identity() {
    static_assert(R == C);
    Mat e = zero();
    for (int k = 0; k < R; ++k) e.m[k * C + k] = S(1);
    return e;
  }

  GARRA_HD Mat& operator+=(const Mat& b) {
    for_each_index<R * C>([&](int k) { m[k] += b.m[k]; });
    return *this;
  }
  GARRA_HD Mat& operator-=(const Mat& b) {
    for_each_index<R * C>([&](int k) { m[k] -= b.m[k]; });
    return *this;
  }
  friend GARRA_HD Mat operator+(const Mat& a, const Mat& b) {
    Mat r;
    for_each_index<R * C>([&](int k) { r.m[k] = a.m[k] + b.m[k]; });
    return r;
  }
  friend GARRA_HD Mat operator-(const Mat& a, const Mat& b) {
    Mat r;
    for_each_index<R * C>([&](int k) { r.m[k] = a.m[k] - b.m[k]; });
    return r;
  }
  friend GARRA_HD Mat operator-(const Mat& a) {
    Mat r;
    for_each_index<R * C>([&](int k) { r.m[k] = -a.m[k]; });
    return r;
  }
  friend GARRA_HD Mat operator*(const S& s, const Mat& a) {
    Mat r;
    for_each_index<R * C>([&](int k) { r.m[k] = s * a.m[k]; });
    return r;
  }
};

/// A matrix of a size per contact (extent.hpp): the first extent<R>() * extent<C>() numbers of its
/// memory, without gaps. A copy copies only these.
template <class S, int R, int C>
requires(R < 0 || C < 0) struct Mat<S, R, C> {
  S m[kCapacity<R> * kCapacity<C>];

  static constexpr int kRows = R;
  static constexpr int kCols = C;

  // NOLINTNEXTLINE: numbers of any value, as those of an aggregate
  GARRA_HD Mat() {}
  GARRA_HD Mat(const Mat& b) { *this = b; }
  GARRA_HD Mat& operator=(const Mat& b) {
    for_each_entry<R, C>([&](int k) { m[k] = b.m[k]; });
    return *this;
  }

  GARRA_HD S& operator()(int i, int j) { return m[i * extent<C>() + j]; }
  GARRA_HD const S& operator()(int i, int j) const { return m[i * extent<C>() + j]; }
  GARRA_HD S& operator[](int i) { return m[i]; }
  GARRA_HD const S& operator[](int i) const { return m[i]; }

  static GARRA_HD Mat zero() {
    Mat z;
    for_each_entry<R, C>([&](int k) { z.m[k] = S(0); });
    return z;
  }
  static GARRA_HD Mat identity() {
    Mat e = zero();
    for (int k = 0; k < extent<R>(); ++k) e(k, k) = S(1);
    return e;
  }

  GARRA_HD Mat& operator+=(const Mat& b) {
    for_each_entry<R, C>([&](int k) { m[k] += b.m[k]; });
    return *this;
  }
  GARRA_HD Mat& operator-=(const Mat& b) {
    for_each_entry<R, C>([&](int k) { m[k] -= b.m[k]; });
    return *this;
  }
  friend GARRA_HD Mat operator+(const Mat& a, const Mat& b) {
    Mat r;
    for_each_entry<R, C>([&](int k) { r.m[k] = a.m[k] + b.m[k]; });
    return r;
  }
  friend GARRA_HD Mat operator-(const Mat& a, const Mat& b) {
    Mat r;
    for_each_entry<R, C>([&](int k) { r.m[k] = a.m[k] - b.m[k]; });
    return r;
  }
  friend GARRA_HD Mat operator-(const Mat& a) {
    Mat r;
    for_each_entry<R, C>([&](int k) { r.m[k] = -a.m[k]; });
    return r;
  }
  friend GARRA_HD Mat operator*(const S& s, const Mat& a) {
    Mat r;
    for_each_entry<R, C>([&](int k) { r.m[k] = s * a.m[k]; });
    return r;
  }
};

/// Whether matrices, and structs of them, have a size that is known only at run time.
template <class T>
inline constexpr bool kSizedAtRunTime = false;
template <class S, int R, int C>
inline constexpr bool kSizedAtRunTime<Mat<S, R, C>> = R < 0 || C < 0;
/// The same for a struct whose parts() names its members.
template <class T>
requires requires { T::parts(); }
inline constexpr bool kSizedAtRunTime<T> = std::apply(
    [](auto... part) { return (kSizedAtRunTime<std::remove_reference_t<decltype(std::declval<T>().*part)>> || ...); },
    T::parts());

template <class S, int N>
using Vec = Mat<S, N, 1>;
template <class S>
using Vec3 = Vec<S, 3>;
template <class S>
using Mat3 = Mat<S, 3, 3>;

template <class S, int R, int K, int C>
GARRA_HD Mat<S, R, C> operator*(const Mat<S, R, K>& a, const Mat<S, K, C>& b) {
  Mat<S, R, C> p;
  for_each_index<R>([&](int i) {
    for_each_index<C>([&](int j) {
      S sum = a(i, 0) * b(0, j);
      for_each_further_index<K>([&](int k) { sum = fma(a(i, k), b(k, j), sum); });
      p(i, j) = sum;
    });
  });
  return p;
}

/// transpose(a) * b without forming the transpose.
template <class S, int K, int R, int C>
GARRA_HD Mat<S, R, C> transpose_times(const Mat<S, K, R>& a, const Mat<S, K, C>& b) {
  Mat<S, R, C> p;
  for_each_index<R>([&](int i) {
    for_each_index<C>([&](int j) {
      S sum = a(0, i) * b(0, j);
      for_each_further_index<K>([&](int k) { sum = fma(a(k, i), b(k, j), sum); });
      p(i, j) = sum;
    });
  });
  return p;
}

template <class S, int R, int C>
GARRA_HD Mat<S, C, R> transpose(const Mat<S, R, C>& a) {
  Mat<S, C, R> t;
  for_each_index<R>([&](int i) { for_each_index<C>([&](int j) { t(j, i) = a(i, j); }); });
  return t;
}

template <class S, int N>
GARRA_HD S dot(const Vec<S, N>& a, const Vec<S, N>& b) {
  S sum = a[0] * b[0];
  for_each_further_index<N>([&](int k) { sum = fma(a[k], b[k], sum); });
  return sum;
}

template <class S, int N>
GARRA_HD S norm(const Vec<S, N>& a) {
  return sqrt(dot(a, a));
}

/// Product of the tangential parts of two vectors in contact axes, (n, t, o) or longer.
template <class S, int D>
GARRA_HD S tangential_dot(const Vec<S, D>& a, const Vec<S, D>& b) {
  S sum = a[D - 1] * b[D - 1];
  for_each_index<D - 2>([&](int k) { sum = fma(a[D - 2 - k], b[D - 2 - k], sum); });
  return sum;
}
/// Length of the tangential part.
template <class S, int D>
GARRA_HD S tangential_length(const Vec<S, D>& v) {
  return sqrt(tangential_dot(v, v));
}

template <class S>
GARRA_HD Vec3<S> vec3(const S& x, const S& y, const S& z) {
  return Vec3<S>{{x, y, z}};
}

template <class S>
GARRA_HD Vec3<S> cross(const Vec3<S>& a, const Vec3<S>& b) {
  return vec3<S>(fma(a[1], b[2], -(a[2] * b[1])), fma(a[2], b[0], -(a[0] * b[2])), fma(a[0], b[1], -(a[1] * b[0])));
}

/// a + s * b
template <class S, int N>
GARRA_HD Vec<S, N> axpy(const S& s, const Vec<S, N>& b, const Vec<S, N>& a) {
  Vec<S, N> r;
  for_each_index<N>([&](int k) { r[k] = fma(s, b[k], a[k]); });
  return r;
}

template <class S, int R, int C>
GARRA_HD Vec<S, R> column(const Mat<S, R, C>& a, int j) {
  Vec<S, R> v;
  for_each_index<R>([&](int i) { v[i] = a(i, j); });
  return v;
}

/// Per-element select with one mask for the whole matrix.
template <class M, class S, int R, int C>
GARRA_HD Mat<S, R, C> select(const M& mask, const Mat<S, R, C>& a, const Mat<S, R, C>& b) {
  Mat<S, R, C> r;
  for_each_entry<R, C>([&](int k) { r.m[k] = select(mask, a.m[k], b.m[k]); });
  return r;
}

/// Converts a matrix of uniform (shared) numbers to the batch scalar.
template <class S, class T, int R, int C>
GARRA_HD Mat<S, R, C> cast(const Mat<T, R, C>& a) {
  Mat<S, R, C> r;
  for_each_index<R * C>([&](int k) { r.m[k] = S(a.m[k]); });
  return r;
}

}  // namespace garra
