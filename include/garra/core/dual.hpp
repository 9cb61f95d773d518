// Forward dual numbers over any S, and derivatives of templated functions by them (docs/theory/mncp.md, 3).
//
// A Dual carries a value and K partial derivatives, and arithmetic applies the chain rule.
// Derivatives are exact up to rounding, with no step size to choose (A. Griewank, A. Walther,
// "Evaluating Derivatives", 2nd ed., 2008, chapter 3). A Dual over a Dual gives second derivatives.
// Values have the bits of the same formula over S.
//
// Authors of functions write `X(2)` or plain constants, and select instead of branches. Outside of
// namespace garra they write garra::exp, garra::pow, ...: an unqualified exp(double) would be the C
// library's, with other bits.
#pragma once

#include "garra/core/elementary.hpp"
#include "garra/core/mat.hpp"

namespace garra {

template <class S, int K>
struct Dual;

/// How many times a type is a Dual of a Dual; 0 for every other type.
template <class T>
inline constexpr int kDualDepth = 0;
template <class S, int K>
inline constexpr int kDualDepth<Dual<S, K>> = 1 + kDualDepth<S>;

/// T is a type that Dual<S, K> takes as a constant: S, a constant of S, or an arithmetic type.
template <class T, class S>
concept DualConstant = std::is_convertible_v<T, S>;

template <class S, int K>
struct Dual {
  using Scalar = S;
  static constexpr int kPartials = K;

  S v;          ///< value
  Vec<S, K> d;  ///< partial derivatives

  Dual() = default;
  GARRA_HD Dual(const S& value, const Vec<S, K>& partials) : v(value), d(partials) {}
  /// A constant.
  template <DualConstant<S> T>
  GARRA_HD Dual(const T& constant) : v(S(constant)), d(Vec<S, K>::zero()) {}

  friend GARRA_HD Dual operator+(const Dual& a, const Dual& b) { return {a.v + b.v, a.d + b.d}; }
  friend GARRA_HD Dual operator-(const Dual& a, const Dual& b) { return {a.v - b.v, a.d - b.d}; }
  friend GARRA_HD Dual operator-(const Dual& a) { return {-a.v, -a.d}; }
  friend GARRA_HD Dual operator*(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v * b.v;
    for_each_index<K>([&](int k) { r.d[k] = fma(a.v, b.d[k], a.d[k] * b.v); });
    return r;
  }
  friend GARRA_HD Dual operator/(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v / b.v;
    const S inverse = S(1) / b.v;
    for_each_index<K>([&](int k) { r.d[k] = fma(-r.v, b.d[k], a.d[k]) * inverse; });
    return r;
  }
  // Operations with constants omit the products by zero.
  template <DualConstant<S> T>
  friend GARRA_HD Dual operator+(const Dual& a, const T& c) {
    return {a.v + S(c), a.d};
  }
  template <DualConstant<S> T>
  friend GARRA_HD Dual operator+(const T& c, const Dual& a) {
    return {S(c) + a.v, a.d};
  }
  template <DualConstant<S> T>
  friend GARRA_HD Dual operator-(const Dual& a, const T& c) {
    return {a.v - S(c), a.d};
  }
  template <DualConstant<S> T>
  friend GARRA_HD Dual operator-(const T& c, const Dual& a) {
    return {S(c) - a.v, -a.d};
  }
  template <DualConstant<S> T>
  friend GARRA_HD Dual operator*(const Dual& a, const T& c) {
    return a.scaled(a.v * S(c), S(c));
  }
  template <DualConstant<S> T>
  friend GARRA_HD Dual operator*(const T& c, const Dual& a) {
    return a.scaled(S(c) * a.v, S(c));
  }
  template <DualConstant<S> T>
  friend GARRA_HD Dual operator/(const Dual& a, const T& c) {
    return a.scaled(a.v / S(c), S(1) / S(c));
  }
  template <DualConstant<S> T>
  friend GARRA_HD Dual operator/(const T& c, const Dual& a) {
    const S quotient = S(c) / a.v;
    return a.scaled(quotient, -(quotient / a.v));
  }
  template <class T>
  GARRA_HD Dual& operator+=(const T& b) {
    return *this = *this + b;
  }
  template <class T>
  GARRA_HD Dual& operator-=(const T& b) {
    return *this = *this - b;
  }
  template <class T>
  GARRA_HD Dual& operator*=(const T& b) {
    return *this = *this * b;
  }
  template <class T>
  GARRA_HD Dual& operator/=(const T& b) {
    return *this = *this / b;
  }

  // Comparisons compare values only.
  friend GARRA_HD auto operator<(const Dual& a, const Dual& b) { return a.v < b.v; }
  friend GARRA_HD auto operator<=(const Dual& a, const Dual& b) { return a.v <= b.v; }
  friend GARRA_HD auto operator>(const Dual& a, const Dual& b) { return a.v > b.v; }
  friend GARRA_HD auto operator>=(const Dual& a, const Dual& b) { return a.v >= b.v; }
  friend GARRA_HD auto operator==(const Dual& a, const Dual& b) { return a.v == b.v; }
  friend GARRA_HD auto operator!=(const Dual& a, const Dual& b) { return a.v != b.v; }

  /// The chain rule: a function of this number with value `value` and derivative `slope` here.
  [[nodiscard]] GARRA_HD Dual scaled(const S& value, const S& slope) const {
    Dual r;
    r.v = value;
    for_each_index<K>([&](int k) { r.d[k] = slope * d[k]; });
    return r;
  }
};

template <class S, int K>
struct ScalarTraits<Dual<S, K>> {
  using Real = RealOf<S>;
  using Mask = MaskOf<S>;
  using Bits = BitsOf<S>;
  static constexpr int kWidth = ScalarTraits<S>::kWidth;
};

namespace dual_detail {

template <class A, class B>
using Deeper = std::conditional_t<(kDualDepth<A> >= kDualDepth<B>), A, B>;
template <class A, class B>
concept OneIsDual = (kDualDepth<A> > 0 || kDualDepth<B> > 0);

/// Number of partials in one sweep over V variables: the least that needs no more sweeps than
/// `most` partials do.
constexpr int chunk(int V, int most) {
  const int sweeps = (V + most - 1) / most;
  return (V + sweeps - 1) / sweeps;
}

/// Variable number i of a sweep that differentiates by the variables first .. first + K - 1.
template <class S, int K>
GARRA_HD Dual<S, K> variable(const S& x, int i, int first) {
  Dual<S, K> y;
  y.v = x;
  for_each_index<K>([&](int k) { y.d[k] = S(i == first + k ? 1 : 0); });
  return y;
}

}  // namespace dual_detail

template <class M, class A, class B>
requires dual_detail::OneIsDual<A, B> GARRA_HD auto select(const M& mask, const A& a, const B& b) {
  using D = dual_detail::Deeper<A, B>;
  const D x(a), y(b);
  return D(select(mask, x.v, y.v), select(mask, x.d, y.d));
}
template <class A, class B>
requires dual_detail::OneIsDual<A, B> GARRA_HD auto min(const A& a, const B& b) {
  using D = dual_detail::Deeper<A, B>;
  const D x(a), y(b);
  return select(y.v < x.v, y, x);
}
template <class A, class B>
requires dual_detail::OneIsDual<A, B> GARRA_HD auto max(const A& a, const B& b) {
  using D = dual_detail::Deeper<A, B>;
  const D x(a), y(b);
  return select(x.v < y.v, y, x);
}
/// The derivative at 0 is the one from the right.
template <class S, int K>
GARRA_HD Dual<S, K> abs(const Dual<S, K>& a) {
  return a.scaled(abs(a.v), select(a.v < S(0), S(-1), S(1)));
}
template <class A, class B, class C>
requires dual_detail::OneIsDual<dual_detail::Deeper<A, B>, C> GARRA_HD auto fma(const A& a, const B& b, const C& c) {
  using D = dual_detail::Deeper<dual_detail::Deeper<A, B>, C>;
  const D x(a), y(b);
  D r(c);
  r.v = fma(x.v, y.v, r.v);
  for_each_index<D::kPartials>([&](int k) { r.d[k] = fma(x.v, y.d[k], fma(x.d[k], y.v, r.d[k])); });
  return r;
}
/// At 0 the derivative is infinite, except along directions in which the radicand does not change
/// to first order. There it is 0: sqrt(x^2 + y^2) has at its kink a derivative from the
/// subdifferential and not NaN.
template <class S, int K>
GARRA_HD Dual<S, K> sqrt(const Dual<S, K>& a) {
  Dual<S, K> r;
  r.v = sqrt(a.v);
  const S slope = S(0.5) / r.v;
  const auto kink = r.v == S(0);
  for_each_index<K>([&](int k) { r.d[k] = select(kink && a.d[k] == S(0), S(0), slope * a.d[k]); });
  return r;
}
template <class S, int K>
GARRA_HD Dual<S, K> exp(const Dual<S, K>& a) {
  const S e = exp(a.v);
  return a.scaled(e, e);
}
template <class S, int K>
GARRA_HD Dual<S, K> log(const Dual<S, K>& a) {
  return a.scaled(log(a.v), S(1) / a.v);
}
template <class S, int K>
GARRA_HD SinCos<Dual<S, K>> sincos(const Dual<S, K>& a) {
  const SinCos<S> f = sincos(a.v);
  return {a.scaled(f.sin, f.cos), a.scaled(f.cos, -f.sin)};
}
template <class S, int K>
GARRA_HD Dual<S, K> sin(const Dual<S, K>& a) {
  return sincos(a).sin;
}
template <class S, int K>
GARRA_HD Dual<S, K> cos(const Dual<S, K>& a) {
  return sincos(a).cos;
}

/// a^b for a >= 0, as exp(b log a): relative error of about |b log a| eps. NaN for a < 0; whole powers are products.
template <class S>
[[nodiscard]] GARRA_HD S pow(const S& a, const std::type_identity_t<S>& b) {
  return select(b == S(0), S(1), exp(b * log(a)));
}
template <class S, int K, DualConstant<S> T>
[[nodiscard]] GARRA_HD Dual<S, K> pow(const Dual<S, K>& a, const T& b) {
  return a.scaled(pow(a.v, S(b)), S(b) * pow(a.v, S(b) - S(1)));
}
template <class S, int K, DualConstant<S> T>
[[nodiscard]] GARRA_HD Dual<S, K> pow(const T& a, const Dual<S, K>& b) {
  const S power = pow(S(a), b.v);
  return b.scaled(power, power * log(S(a)));
}

/// Most partials of one sweep: as many as fit into registers beside the values.
inline constexpr int kDualPartials = 4;
inline constexpr int kDualSecondPartials = 3;  ///< 3 x 3 second derivatives: 16 numbers for each variable

/// Jacobian of f: R^V -> R^R at x, where f takes a Vec<X, V> and returns a Vec<X, R> for any X over S.
template <class S, int R, int V, class F>
[[nodiscard]] GARRA_HD Mat<S, R, V> dual_jacobian(const F& f, const Vec<S, V>& x) {
  constexpr int K = dual_detail::chunk(V, kDualPartials);
  Mat<S, R, V> J;
  for (int first = 0; first < V; first += K) {
    Vec<Dual<S, K>, V> y;
    for_each_index<V>([&](int i) { y[i] = dual_detail::variable<S, K>(x[i], i, first); });
    const Vec<Dual<S, K>, R> r = f(y);
    for_each_index<K>([&](int k) {
      if (V % K == 0 || first + k < V) for_each_index<R>([&](int i) { J(i, first + k) = r[i].d[k]; });
    });
  }
  return J;
}

/// H += sum_k w_k f_k''(x), both triangles, symmetric to the bit.
template <class S, int R, int V, class F>
GARRA_HD void dual_add_curvature(const F& f, const Vec<S, V>& x, const Vec<S, R>& w, Mat<S, V, V>& H) {
  constexpr int K = dual_detail::chunk(V, kDualSecondPartials);
  using Inner = Dual<S, K>;
  for (int row = 0; row < V; row += K)
    for (int col = 0; col <= row; col += K) {
      Vec<Dual<Inner, K>, V> y;
      for_each_index<V>([&](int i) {
        y[i].v = dual_detail::variable<S, K>(x[i], i, col);
        for_each_index<K>([&](int k) { y[i].d[k] = Inner(i == row + k ? 1 : 0); });
      });
      const Vec<Dual<Inner, K>, R> r = f(y);
      for_each_index<K>([&](int a) {
        for_each_index<K>([&](int b) {
          const int i = row + a, j = col + b;
          if (i >= V || j > i) return;
          S sum = w[0] * r[0].d[a].d[b];
          for_each_index<R - 1>([&](int k) { sum = fma(w[k + 1], r[k + 1].d[a].d[b], sum); });
          H(i, j) += sum;
          if (i != j) H(j, i) += sum;
        });
      });
    }
}

}  // namespace garra
