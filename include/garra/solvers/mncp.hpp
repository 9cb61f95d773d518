// Mixed nonlinear complementarity problems and their merit functions (docs/theory/mncp.md). With F in R^p and G in R^m,
//
//   0 <= u ⟂ F(u, v) >= 0,   G(u, v) = 0                                                        (papers, 1 and 2)
//
// or, with bounds of the problem's own, l <= u <= h, and F_i >= 0 where u_i = l_i, F_i <= 0 where u_i = h_i, F_i = 0
// between them.
//
// A user writes F and G once, for every executor and for derivatives:
//
//   struct Market {
//     static constexpr int kComplementary = 2, kFree = 1;               // p and m
//     template <class S> struct Data { S a, b; };                      // numbers of one problem, all members S
//     template <class S, class X>                                      // X is S or a dual number over S
//     static GARRA_HD Vec<X, 3> evaluate(const Data<S>& d, const Vec<X, 3>& x);   // x = (u, v) -> (F, G)
//   };
//
// Optional functions, for faster derivatives than the forward dual numbers of core/dual.hpp, or for
// another measure or start:
//
//   static Mat<S, n, n> jacobian(const Data<S>&, const Vec<S, n>& x);
//   static void add_curvature(const Data<S>&, const Vec<S, n>& x, const Vec<S, n>& w, Mat<S, n, n>& H);
//   static S error(const Data<S>&, const Vec<S, n>& x);
//   static Vec<S, n> start(const Data<S>&, const Vec<S, n>& x0, const S& k);      k-th start, k = 1, 2, ...
//
// Bounds of u_i, i < p, which may be infinite (kInfinite) or equal, and differ from problem to problem:
//
//   static S lower(const Data<S>&, int i);                            0 without it
//   static S upper(const Data<S>&, int i);                            infinite without it
//   static MaskOf<S> valid(const Data<S>&);                           replaces the test that all of Data is finite,
//                                                                     or not NaN where the problem has bounds
//
// Bounds that exclude each other, or NaN, are kInvalidInput.
#pragma once

#include <limits>

#include "garra/core/dual.hpp"
#include "garra/core/runs.hpp"
#include "garra/solvers/least_squares.hpp"

namespace garra {

/// N + 1. For a size per contact, a number that stands for it; only that of -6, the rows of F and
/// G, has an extent.
template <int N>
inline constexpr int kOneMore = N >= 0 ? N + 1 : N - (1 << 10);
template <>
inline constexpr int kCapacity<kOneMore<-6>> = 6 * kContactCapacity + 1;
template <>
GARRA_HD constexpr int extent<kOneMore<-6>>() {
  return extent<-6>() + 1;
}

}  // namespace garra

namespace garra::solvers {

template <class P>
inline constexpr int kUnknowns = P::kComplementary + P::kFree;  ///< n = p + m
template <class P, class S>
using MncpVec = Vec<S, kUnknowns<P>>;

/// Whether the problem has lower or upper bounds of its own.
template <class P>
inline constexpr bool kHasLower = requires(const typename P::template Data<double>& d) {
  P::template lower<double>(d, 0);
};
template <class P>
inline constexpr bool kHasUpper = requires(const typename P::template Data<double>& d) {
  P::template upper<double>(d, 0);
};

/// Bounds of unknown i of x = (u, v).
template <class P, class S>
GARRA_HD S lower_bound(const typename P::template Data<S>& d, int i) {
  if (i >= extent<P::kComplementary>()) return S(-kInfinite);
  if constexpr (kHasLower<P>)
    return P::template lower<S>(d, i);
  else
    return S(0);
}
template <class P, class S>
GARRA_HD S upper_bound(const typename P::template Data<S>& d, int i) {
  if (i >= extent<P::kComplementary>()) return S(kInfinite);
  if constexpr (kHasUpper<P>)
    return P::template upper<S>(d, i);
  else
    return S(kInfinite);
}

/// Whether l_i <= u_i for all unknowns, none of which is NaN, and a finite number lies between them.
template <class P, class S>
GARRA_HD MaskOf<S> has_valid_bounds(const typename P::template Data<S>& d) {
  MaskOf<S> valid = true;
  if constexpr (kHasLower<P> || kHasUpper<P>)
    for_each_index<P::kComplementary>([&](int i) {
      const S l = lower_bound<P, S>(d, i), h = upper_bound<P, S>(d, i);
      valid = valid && l <= h && l < S(kInfinite) && h > S(-kInfinite);
    });
  return valid;
}

/// Derivatives of (F, G) by x = (u, v): the problem's own, else by dual numbers.
template <class P, class S>
GARRA_HD Mat<S, kUnknowns<P>, kUnknowns<P>> mncp_jacobian(const typename P::template Data<S>& d,
                                                          const MncpVec<P, S>& x) {
  if constexpr (requires { P::template jacobian<S>(d, x); })
    return P::template jacobian<S>(d, x);
  else
    return dual_jacobian<S, kUnknowns<P>, kUnknowns<P>>([&](const auto& y) { return P::evaluate(d, y); }, x);
}

/// H += sum_k w_k (second derivatives of (F, G)_k) in the first n rows and columns of H.
template <class P, class S, int V>
GARRA_HD void mncp_add_curvature(const typename P::template Data<S>& d, const MncpVec<P, S>& x, const MncpVec<P, S>& w,
                                 Mat<S, V, V>& H) {
  constexpr int n = kUnknowns<P>;
  Large C([] { return Mat<S, n, n>::zero(); });
  if constexpr (requires { P::template add_curvature<S>(d, x, w, *C); })
    P::template add_curvature<S>(d, x, w, *C);
  else
    dual_add_curvature<S, n, n>([&](const auto& y) { return P::evaluate(d, y); }, x, w, *C);
  for_each_index<n>([&](int i) { for_each_index<n>([&](int j) { H(i, j) += (*C)(i, j); }); });
}

/// Error of x: max over i of |min(u_i, F_i)|, with bounds |max(min(F_i, u_i - l_i), u_i - h_i)|, and over j of |G_j|,
/// in the problem's own units. Zero exactly at solutions, whatever solver found x; NaN where bounds exclude each other.
/// A problem may define its own measure.
template <class P, class S>
GARRA_HD S mncp_error(const typename P::template Data<S>& d, const MncpVec<P, S>& x) {
  if constexpr (requires { P::template error<S>(d, x); })
    return P::template error<S>(d, x);
  else {
    const MncpVec<P, S> FG = P::evaluate(d, x);
    S error = S(0), wild = S(0);
    for_each_index<kUnknowns<P>>([&](int i) {
      S e = FG[i];
      if (i < extent<P::kComplementary>()) {
        e = min(kHasLower<P> ? x[i] - lower_bound<P, S>(d, i) : x[i], e);
        if constexpr (kHasUpper<P>) e = max(e, x[i] - upper_bound<P, S>(d, i));
      }
      wild += (x[i] - x[i]) + (FG[i] - FG[i]);  // min(x, NaN) is x
      error = max(error, abs(e));
    });
    if constexpr (kHasLower<P> || kHasUpper<P>)
      wild = select(has_valid_bounds<P, S>(d), wild, S(std::numeric_limits<double>::quiet_NaN()));
    return error + wild;  // NaN if a number is NaN or infinite
  }
}

namespace mncp_detail {

template <class P, class S, int V>
GARRA_HD MncpVec<P, S> head(const Vec<S, V>& x) {
  MncpVec<P, S> y;
  for_each_index<kUnknowns<P>>([&](int i) { y[i] = x[i]; });
  return y;
}

/// x = (u, v, z) with a slack z >= 0 for each bound of u: base of two of the merit functions. Slack k < p belongs to
/// the lower bound of u_k, slack p + k to the upper one; that of an infinite bound is fixed at 0.
template <class P, class T>
struct Slack {
  using Scalar = T;
  static constexpr int p = P::kComplementary, n = kUnknowns<P>, kSlacks = kHasUpper<P> ? 2 * p : p,
                       kVariables = n + kSlacks;
  const typename P::template Data<T>& data;

  /// Number of slack variable k.
  static GARRA_HD int slack(int k) { return extent<n>() + k; }
  /// Number of the unknown that slack k belongs to.
  static GARRA_HD int pair(int k) { return k < extent<p>() ? k : k - extent<p>(); }
  /// 1 for lower bounds, -1 for upper ones.
  static GARRA_HD double sign(int k) { return !kHasUpper<P> || k < extent<p>() ? 1.0 : -1.0; }

  GARRA_HD T lower(int i) const { return i < extent<n>() ? lower_bound<P, T>(data, i) : T(0); }
  GARRA_HD T upper(int i) const {
    return i < extent<n>() ? upper_bound<P, T>(data, i) : select(bounded(i - extent<n>()), T(kInfinite), T(0));
  }
  /// Whether bound k is finite.
  GARRA_HD MaskOf<T> bounded(int k) const {
    if constexpr (!kHasLower<P>)
      if (k < extent<p>()) return MaskOf<T>(true);
    return k < extent<p>() ? lower_bound<P, T>(data, k) > T(-kInfinite)
                           : upper_bound<P, T>(data, pair(k)) < T(kInfinite);
  }
  /// Distance of the unknown from bound k, 0 where that is infinite.
  GARRA_HD T gap(const Vec<T, kVariables>& x, int k) const {
    const T& u = x[pair(k)];
    if (k >= extent<p>()) return select(bounded(k), upper_bound<P, T>(data, pair(k)) - u, T(0));
    if constexpr (!kHasLower<P>) return u;
    return select(bounded(k), u - lower_bound<P, T>(data, k), T(0));
  }

  /// Derivative of gap k by its unknown.
  GARRA_HD T slope(int k) const {
    if constexpr (!kHasLower<P> && !kHasUpper<P>) return T(1);
    return select(bounded(k), T(sign(k)), T(0));
  }

  /// (F - z, G), where z is the slack of the lower bound minus that of the upper one.
  template <int R>
  GARRA_HD void linear_rows(const Vec<T, kVariables>& x, Vec<T, R>& r) const {
    const Vec<T, n> FG = P::evaluate(data, head<P>(x));
    for_each_index<n>([&](int i) { r[i] = FG[i]; });
    for_each_index<kSlacks>([&](int k) { r[pair(k)] -= T(sign(k)) * x[slack(k)]; });
  }
  template <int R>
  GARRA_HD void linear_rows(const Vec<T, kVariables>& x, Mat<T, R, kVariables>& J) const {
    const Large D([&] { return mncp_jacobian<P>(data, head<P>(x)); });
    for_each_index<n>([&](int i) { for_each_index<n>([&](int j) { J(i, j) = (*D)(i, j); }); });
    for_each_index<kSlacks>([&](int k) { J(pair(k), slack(k)) = T(-sign(k)); });
  }
  template <int R>
  GARRA_HD void linear_rows(const Vec<T, kVariables>& x, const Vec<T, R>& w, Mat<T, kVariables, kVariables>& H) const {
    mncp_add_curvature<P, T>(data, head<P>(x), head<P>(w), H);
  }
  /// J'r with the rows (F - z + y, G), and the products of slack k and its gap weighted by product(k).
  template <int R, class Product>
  GARRA_HD Vec<T, kVariables> pulled(const Vec<T, kVariables>& x, const Vec<T, R>& r, const Product& product) const {
    const Vec<T, n> of_problem = P::template pull_back<T>(data, head<P>(x), head<P>(r));
    Vec<T, kVariables> g;
    for_each_index<n>([&](int i) { g[i] = of_problem[i]; });
    for_each_index<kSlacks>([&](int k) {
      g[pair(k)] = fma(slope(k) * x[slack(k)], product(k), g[pair(k)]);
      g[slack(k)] = fma(gap(x, k), product(k), T(-sign(k)) * r[pair(k)]);
    });
    return g;
  }
  /// Slack variables that belong to (u, v): z = max(F, 0) of a lower bound, max(-F, 0) of an upper one.
  GARRA_HD Vec<T, kVariables> lift(const Vec<T, n>& y) const {
    Vec<T, kVariables> x;
    const Vec<T, n> FG = P::evaluate(data, y);
    for_each_index<n>([&](int i) { x[i] = y[i]; });
    for_each_index<kSlacks>([&](int k) { x[slack(k)] = max(T(sign(k)) * FG[pair(k)], T(0)); });
    return x;
  }
};

}  // namespace mncp_detail

/// The papers' merit function: |F - z|^2 + |G|^2 + (u'z)^2 on u, z >= 0 (papers, 3 and 4); with bounds of the problem's
/// own, u is replaced by the distance to the bound of each z.
struct PapersMerit {
  template <class P, class T>
  struct View : mncp_detail::Slack<P, T> {
    using Base = mncp_detail::Slack<P, T>;
    static constexpr int p = Base::p, n = Base::n, kVariables = Base::kVariables, kResiduals = kOneMore<n>;
    using Base::gap, Base::kSlacks, Base::pair, Base::slack, Base::slope;
    GARRA_HD explicit View(const typename P::template Data<T>& d) : Base{d} {}

    GARRA_HD Vec<T, kResiduals> residual(const Vec<T, kVariables>& x) const {
      Vec<T, kResiduals> r;
      this->linear_rows(x, r);
      T& product = r[extent<n>()];
      product = T(0);
      for_each_index<kSlacks>([&](int k) { product = fma(gap(x, k), x[slack(k)], product); });
      return r;
    }
    GARRA_HD Mat<T, kResiduals, kVariables> jacobian(const Vec<T, kVariables>& x) const {
      auto J = Mat<T, kResiduals, kVariables>::zero();
      this->linear_rows(x, J);
      for_each_index<kSlacks>([&](int k) {
        J(extent<n>(), pair(k)) += slope(k) * x[slack(k)];
        J(extent<n>(), slack(k)) = gap(x, k);
      });
      return J;
    }
    /// J'r, without J, where the problem has pull_back().
    GARRA_HD Vec<T, kVariables> pull_back(const Vec<T, kVariables>& x, const Vec<T, kResiduals>& r) const {
      const T product = r[extent<n>()];
      return this->pulled(x, r, [&](int) { return product; });
    }
    GARRA_HD void add_curvature(const Vec<T, kVariables>& x, const Vec<T, kResiduals>& w,
                                Mat<T, kVariables, kVariables>& H) const {
      this->linear_rows(x, w, H);
      for_each_index<kSlacks>([&](int k) {
        H(pair(k), slack(k)) += slope(k) * w[extent<n>()];
        H(slack(k), pair(k)) += slope(k) * w[extent<n>()];
      });
    }
  };
};

/// Componentwise products: |F - z|^2 + |G|^2 + sum_i (u_i z_i)^2 on u, z >= 0. The zeros are those
/// of (4), but each pair has its own residual, which shows a least-squares solver its error.
struct ComponentwiseMerit {
  template <class P, class T>
  struct View : mncp_detail::Slack<P, T> {
    using Base = mncp_detail::Slack<P, T>;
    static constexpr int p = Base::p, n = Base::n, kVariables = Base::kVariables, kResiduals = Base::kVariables;
    // As many slacks as products: of these, too, the k-th row is slack(k).
    using Base::gap, Base::kSlacks, Base::pair, Base::slack, Base::slope;
    GARRA_HD explicit View(const typename P::template Data<T>& d) : Base{d} {}

    GARRA_HD Vec<T, kResiduals> residual(const Vec<T, kVariables>& x) const {
      Vec<T, kResiduals> r;
      this->linear_rows(x, r);
      for_each_index<kSlacks>([&](int k) { r[slack(k)] = gap(x, k) * x[slack(k)]; });
      return r;
    }
    GARRA_HD Mat<T, kResiduals, kVariables> jacobian(const Vec<T, kVariables>& x) const {
      auto J = Mat<T, kResiduals, kVariables>::zero();
      this->linear_rows(x, J);
      for_each_index<kSlacks>([&](int k) {
        J(slack(k), pair(k)) = slope(k) * x[slack(k)];
        J(slack(k), slack(k)) = gap(x, k);
      });
      return J;
    }
    /// J'r, without J, where the problem has pull_back().
    GARRA_HD Vec<T, kVariables> pull_back(const Vec<T, kVariables>& x, const Vec<T, kResiduals>& r) const {
      return this->pulled(x, r, [&](int i) { return r[slack(i)]; });
    }
    GARRA_HD void add_curvature(const Vec<T, kVariables>& x, const Vec<T, kResiduals>& w,
                                Mat<T, kVariables, kVariables>& H) const {
      this->linear_rows(x, w, H);
      for_each_index<kSlacks>([&](int k) {
        H(pair(k), slack(k)) += slope(k) * w[slack(k)];
        H(slack(k), pair(k)) += slope(k) * w[slack(k)];
      });
    }
  };
};

/// Fischer-Burmeister: sum_i phi(u_i, F_i)^2 + |G|^2 with phi(a, b) = a + b - sqrt(a^2 + b^2), on u >= 0 and without
/// slack variables (A. Fischer, Optimization 24, 1992). With bounds l and h of the problem's own the residual is
///
///   phi(u - l, -phi(h - u, -F))                     (S. C. Billups, thesis, University of Wisconsin-Madison, 1995)
///
/// where phi of an infinite bound is its other argument.
struct FischerBurmeisterMerit {
  /// phi's value without cancellation, its derivatives, and 1 / sqrt(a^2 + b^2); at the kink the element of the
  /// generalized derivative in the direction a = b.
  template <class T>
  struct Phi {
    T value, da, db, inv;
  };
  template <class T>
  static GARRA_HD Phi<T> phi(const T& a, const T& b) {
    const T length = sqrt(fma(a, a, b * b));
    const auto kink = length <= T(0);
    const T inv = T(1) / select(kink, T(1), length);
    const T slope = T(1) - T(0.70710678118654752);
    const T sum = a + b;
    const T stable = T(2) * a * b / select(sum > T(0), sum + length, T(1));
    return {select(sum > T(0), stable, sum - length), select(kink, slope, T(1) - a * inv),
            select(kink, slope, T(1) - b * inv), select(kink, T(0), inv)};
  }

  template <class P, class T>
  struct View {
    using Scalar = T;
    static constexpr int p = P::kComplementary, n = kUnknowns<P>, kVariables = n, kResiduals = n;
    const typename P::template Data<T>& data;
    GARRA_HD explicit View(const typename P::template Data<T>& d) : data(d) {}

    GARRA_HD T lower(int i) const { return lower_bound<P, T>(data, i); }
    GARRA_HD T upper(int i) const { return upper_bound<P, T>(data, i); }
    GARRA_HD Vec<T, n> lift(const Vec<T, n>& y) const { return y; }

    /// A second-order term s (alpha e - beta F')(alpha e - beta F')' of a residual, e the unit vector of its unknown.
    struct Bend {
      T s, alpha, beta;
    };
    /// Residual of unknown i < p by u and F, and its second-order terms.
    struct Pair {
      T value, du, dF;
      Bend outer, inner;
    };
    GARRA_HD Pair pair(int i, const T& u, const T& F) const {
      Pair q{F, T(0), T(1), {T(0), T(0), T(0)}, {T(0), T(0), T(0)}};
      if constexpr (kHasUpper<P>) {
        const T h = upper_bound<P, T>(data, i);
        const auto bounded = h < T(kInfinite);
        const T room = select(bounded, h - u, T(1));
        const Phi<T> f = phi<T>(room, -F);
        q.value = select(bounded, -f.value, F);
        q.du = select(bounded, f.da, T(0));
        q.dF = select(bounded, f.db, T(1));
        q.inner = {select(bounded, -f.inv, T(0)), F * f.inv, -(room * f.inv)};
      }
      const T l = lower_bound<P, T>(data, i);
      const auto bounded = kHasLower<P> ? l > T(-kInfinite) : MaskOf<T>(true);
      const T room = kHasLower<P> ? select(bounded, u - l, T(1)) : u;
      const Phi<T> f = phi<T>(room, q.value);
      const T db = select(bounded, f.db, T(1));
      q.outer = {select(bounded, f.inv, T(0)), (q.value - room * q.du) * f.inv, room * q.dF * f.inv};
      q.inner.s = db * q.inner.s;
      q.value = select(bounded, f.value, q.value);
      q.du = kHasUpper<P> ? select(bounded, fma(f.db, q.du, f.da), q.du) : select(bounded, f.da, T(0));
      q.dF = kHasUpper<P> ? db * q.dF : db;
      return q;
    }
    GARRA_HD Vec<T, n> residual(const Vec<T, n>& x) const {
      Vec<T, n> r = P::evaluate(data, x);
      for_each_index<p>([&](int i) { r[i] = pair(i, x[i], r[i]).value; });
      return r;
    }
    GARRA_HD Mat<T, n, n> jacobian(const Vec<T, n>& x) const {
      Vec<T, n> r;
      return linearize(x, r);
    }
    /// The Jacobian; r takes the residual.
    GARRA_HD Mat<T, n, n> linearize(const Vec<T, n>& x, Vec<T, n>& r) const {
      r = P::evaluate(data, x);
      Mat<T, n, n> J = mncp_jacobian<P>(data, x);
      for_each_index<p>([&](int i) {
        const Pair q = pair(i, x[i], r[i]);
        r[i] = q.value;
        for_each_index<n>([&](int j) { J(i, j) *= q.dF; });
        J(i, i) += q.du;
      });
      return J;
    }
    /// J'r, without J, where the problem has pull_back().
    GARRA_HD Vec<T, n> pull_back(const Vec<T, n>& x, const Vec<T, n>& r) const {
      const Vec<T, n> FG = P::evaluate(data, x);
      Vec<T, n> w = r, own;
      for_each_index<p>([&](int i) {
        const Pair q = pair(i, x[i], FG[i]);
        w[i] = r[i] * q.dF;
        own[i] = r[i] * q.du;
      });
      Vec<T, n> g = P::template pull_back<T>(data, x, w);
      for_each_index<p>([&](int i) { g[i] += own[i]; });
      return g;
    }
    GARRA_HD void add_curvature(const Vec<T, n>& x, const Vec<T, n>& w, Mat<T, n, n>& H) const {
      const Vec<T, n> FG = P::evaluate(data, x);
      const Large D([&] { return mncp_jacobian<P>(data, x); });
      Vec<T, n> through = w;
      for_each_index<p>([&](int k) {
        const Pair q = pair(k, x[k], FG[k]);
        through[k] = w[k] * q.dF;
        subtract(w[k], q.outer, *D, k, H);
        if constexpr (kHasUpper<P>) subtract(w[k], q.inner, *D, k, H);
      });
      mncp_add_curvature<P, T>(data, x, through, H);
    }

   private:
    static GARRA_HD void subtract(const T& w, const Bend& c, const Mat<T, n, n>& J, int k, Mat<T, n, n>& H) {
      const T a = c.beta, b = c.alpha, s = w * c.s;
      for_each_index<n>([&](int i) {
        for_each_index<n>([&](int j) { H(i, j) -= s * (a * a) * J(k, i) * J(k, j); });
        H(k, i) += s * (a * b) * J(k, i);
        H(i, k) += s * (a * b) * J(k, i);
      });
      H(k, k) -= s * (b * b);
    }
  };
};

/// Natural residual: the median of u - l, F and u - h, F where it is free. Its zeros are the solutions, but the
/// function is not smooth where two of the three agree; for Newton's method (mcp/semismooth_newton.hpp) only, which
/// then exchanges rows of the problem as a pivoting method does.
struct NaturalMerit {
  template <class P, class T>
  struct View {
    using Scalar = T;
    static constexpr int p = P::kComplementary, n = kUnknowns<P>, kVariables = n, kResiduals = n;
    const typename P::template Data<T>& data;
    GARRA_HD explicit View(const typename P::template Data<T>& d) : data(d) {}

    GARRA_HD T lower(int i) const { return lower_bound<P, T>(data, i); }
    GARRA_HD T upper(int i) const { return upper_bound<P, T>(data, i); }
    GARRA_HD Vec<T, n> lift(const Vec<T, n>& y) const { return y; }
    GARRA_HD Vec<T, n> residual(const Vec<T, n>& x) const {
      Vec<T, n> r = P::evaluate(data, x);
      for_each_index<p>([&](int i) { r[i] = max(min(r[i], x[i] - lower(i)), x[i] - upper(i)); });
      return r;
    }
    GARRA_HD Mat<T, n, n> jacobian(const Vec<T, n>& x) const {
      const Vec<T, n> FG = P::evaluate(data, x);
      Mat<T, n, n> J = mncp_jacobian<P>(data, x);
      for_each_index<p>([&](int i) {
        const auto at_bound = x[i] - lower(i) < FG[i] || x[i] - upper(i) > FG[i];
        for_each_index<n>([&](int j) { J(i, j) = select(at_bound, T(0), J(i, j)); });
        J(i, i) = select(at_bound, T(1), J(i, i));
      });
      return J;
    }
    GARRA_HD void add_curvature(const Vec<T, n>& x, const Vec<T, n>& w, Mat<T, n, n>& H) const {
      const Vec<T, n> FG = P::evaluate(data, x);
      Vec<T, n> through = w;
      for_each_index<p>(
          [&](int i) { through[i] = select(x[i] - lower(i) < FG[i] || x[i] - upper(i) > FG[i], T(0), w[i]); });
      mncp_add_curvature<P, T>(data, x, through, H);
    }
  };
};

namespace mncp_detail {

/// 1 / g with g^(n+1) = g + 1: the multiples of its first n powers, without their whole parts, fill the unit box evenly
/// (M. Roberts' R sequence; the golden ratio for n = 1).
constexpr double even_ratio(int n) {
  double g = 1.5;
  for (int round = 0; round < 60; ++round) {
    double power = 1;  // g^n
    for (int k = 0; k < n; ++k) power *= g;
    g -= (power * g - g - 1) / ((n + 1) * power - 1);
  }
  return 1 / g;
}
template <int n>
inline constexpr double kEvenRatio = even_ratio(n);
template <int n>
GARRA_HD double make_ratio() {
  if constexpr (n >= 0)
    return kEvenRatio<n>;
  else
    return even_ratio(extent<n>());
}

}  // namespace mncp_detail

/// Result of a solve, for the certificate and the user.
template <class P, class S>
struct MncpCandidate {
  MncpVec<P, S> x;       ///< (u, v)
  S f;                   ///< value of the merit function that was minimized
  S projected_gradient;  ///< of the same
  S reason;              ///< garra::Status to report if the error is above the tolerance
  Effort<S> effort;
};

/// A solution and its certificate.
template <class P, class S>
struct MncpSolution {
  MncpVec<P, S> x;       ///< (u, v); NaN unless converged
  MncpVec<P, S> FG;      ///< (F, G) at x; NaN unless converged
  S residual;            ///< mncp_error of the problem as given, tested for `converged`
  S minimum;             ///< final value of the merit function that was minimized
  S projected_gradient;  ///< of the same
  S status;              ///< garra::Status
  Effort<S> effort;
};

/// The certificate: evaluates the problem as given at the candidate, decides `converged`, and
/// replaces the outputs of an unsolved problem by NaN. Independent of the solver that found x.
template <class P, class S>
[[nodiscard]] GARRA_HD MncpSolution<P, S> certify_mncp(const typename P::template Data<S>& data,
                                                       const MncpCandidate<P, S>& found, double tolerance) {
  MncpSolution<P, S> out;
  out.residual = mncp_error<P>(data, found.x);
  const auto converged = out.residual <= S(tolerance);  // false for NaN
  const MncpVec<P, S> FG = P::evaluate(data, found.x);
  const S nan = S(__builtin_nan(""));
  for_each_index<kUnknowns<P>>([&](int i) {
    out.x[i] = select(converged, found.x[i], nan);
    out.FG[i] = select(converged, FG[i], nan);
  });
  out.minimum = found.f;
  out.projected_gradient = found.projected_gradient;
  out.status = select(converged, S(int(Status::kConverged)), found.reason);
  out.effort = found.effort;
  return out;
}

template <class P, class S, class MinimizerState>
struct MncpState {
  [[no_unique_address]] typename P::template Data<S> data;
  MncpVec<P, S> x0;          ///< the user's start
  MinimizerState minimizer;  ///< of the current start
  Effort<S> before;          ///< of the starts before it, whose number is `stage`; `stalls` counts all starts
  S running;                 ///< 1 while unfinished
  static constexpr auto parts() {
    return std::tuple{&MncpState::data, &MncpState::x0, &MncpState::minimizer, &MncpState::before, &MncpState::running};
  }
};

/// A solver that minimizes a merit function of the problem P from one or several starts. `Merit` is
/// one of the three above.
template <class P, class Merit, class Minimizer>
struct MncpSolver {
  template <class S>
  using View = typename Merit::template View<P, S>;
  template <class S>
  using State = MncpState<P, S, typename Minimizer::template State<S, View<S>::kVariables>>;

  Minimizer minimizer = {};
  double tolerance = 1e-8;    ///< stop: mncp_error <= tolerance / 2 (the certificate tests tolerance)
  int starts = 1;             ///< stop: as many starts ended without a solution
  bool check_iterate = true;  ///< false: only the minimizer's own tests stop it, as in the papers
  bool zero_slack = false;    ///< start from z = 0, as in the papers' Table 3, instead of z = max(F, 0)

  template <class S>
  [[nodiscard]] GARRA_HD State<S> start(const typename P::template Data<S>& data, const MncpVec<P, S>& x0) const {
    State<S> s{data, x0, begin<S>(data, x0), Effort<S>::zero(), S(1)};
    check_start(s);
    return s;
  }

  /// Does one outer iteration of the minimizer, or the first one of the next start if the last has
  /// ended without a solution.
  template <class S>
  GARRA_HD void step(State<S>& s) const {
    auto& at = s.minimizer.at;
    const auto on = running(s);
    const auto again = on && !(at.running > S(0));
    if (any(again)) restart(s, again);
    at.running = select(on, at.running, S(0));
    minimizer.step(View<S>(s.data), s.minimizer);
    check_start(s);
  }

  template <class S>
  static GARRA_HD MaskOf<S> running(const State<S>& s) {
    return s.running > S(0);
  }

  template <class S>
  static GARRA_HD MncpCandidate<P, S> candidate(const State<S>& s) {
    const auto& at = s.minimizer.at;
    const auto opinion = at.status == S(int(Status::kConverged));
    const S reason = select(opinion, S(int(Status::kStalled)), at.status);
    Effort<S> effort = sum(s.before, at.effort);
    effort.stage = s.before.stage;
    effort.stalls = s.before.stalls;
    return {mncp_detail::head<P>(at.x), at.f, at.projected_gradient,
            select(valid(s), reason, S(int(Status::kInvalidInput))), effort};
  }

 private:
  template <class S>
  GARRA_HD_CALL typename Minimizer::template State<S, View<S>::kVariables> begin(
      const typename P::template Data<S>& data, const MncpVec<P, S>& x) const {
    const View<S> view(data);
    auto lifted = view.lift(x);
    if (zero_slack)
      for (int i = extent<kUnknowns<P>>(); i < extent<View<S>::kVariables>(); ++i) lifted[i] = S(0);
    return minimizer.template start<View<S>>(view, project(view, lifted));
  }
  /// Stops a start at a solution or a value that is not finite; records whether the solve
  /// continues.
  template <class S>
  GARRA_HD void check_start(State<S>& s) const {
    auto& at = s.minimizer.at;
    const auto on = running(s), wild = on && !is_finite(at.f);
    at.status = select(wild, S(int(Status::kStalled)), at.status);
    at.running = select(wild, S(0), at.running);
    if (check_iterate) {
      const auto solved = mncp_error<P>(s.data, mncp_detail::head<P>(at.x)) <= S(0.5 * tolerance);
      const auto mistaken = !solved && at.status == S(int(Status::kConverged));
      at.status = select(on && solved, S(int(Status::kConverged)), at.status);
      at.status = select(on && mistaken && !(at.running > S(0)), S(int(Status::kStalled)), at.status);
      at.running = select(on && solved, S(0), at.running);
    }
    const auto ended = on && !(at.running > S(0));
    const auto failed = ended && at.status != S(int(Status::kConverged));
    s.before.stalls = select(failed, s.before.stalls + S(1), s.before.stalls);
    auto more = failed && s.before.stage + S(1) < S(starts);
    if (any(more)) more = more && valid(s);
    s.running = select(ended && !more, S(0), s.running);
  }
  /// Begins the next start in the masked lanes; the counters continue.
  template <class S>
  GARRA_HD void restart(State<S>& s, const MaskOf<S>& again) const {
    Effort<S> before = sum(s.before, s.minimizer.at.effort);
    before.stage = s.before.stage + S(1);
    before.stalls = s.before.stalls;
    const Large fresh([&] { return begin<S>(s.data, next_start(s, before.stage)); });
    select_into<S>(again, *fresh, s.minimizer);
    select_into<S>(again, before, s.before);
  }
  template <class S>
  static GARRA_HD Effort<S> sum(const Effort<S>& a, const Effort<S>& b) {
    const auto add = [](const S& p, const S& q) { return max(p + q, S(kNotCounted)); };
    return {add(a.outer, b.outer),
            add(a.evaluations, b.evaluations),
            add(a.inner, b.inner),
            add(a.products, b.products),
            S(0),
            S(0)};
  }
  /// Whether every number of the problem and of its start is finite (with bounds: none of the problem is NaN), or as
  /// the problem says, and its bounds are valid.
  template <class S>
  static GARRA_HD MaskOf<S> valid(const State<S>& s) {
    S wild = S(0);
    for_each_index<kUnknowns<P>>([&](int i) { wild += s.x0[i] - s.x0[i]; });
    if constexpr (requires { P::template valid<S>(s.data); }) {
      return wild == S(0) && has_valid_bounds<P, S>(s.data) && P::template valid<S>(s.data);
    } else if constexpr (!std::is_empty_v<typename P::template Data<S>>) {
      for_each_scalar_run<S>(
          [&](int count, const S* numbers) {
            for (int k = 0; k < count; ++k)
              if constexpr (kHasLower<P> || kHasUpper<P>)  // a bound may be infinite
                wild = select(numbers[k] == numbers[k], wild, S(1));
              else
                wild += numbers[k] - numbers[k];
          },
          s.data);
    }
    return wild == S(0) && has_valid_bounds<P, S>(s.data);
  }
  /// The problem's own k-th start, otherwise the k-th point of an even sequence in the box around x0: with size =
  /// 1 + |x0 - l|, |x0 - h| or |x0|, from the first finite of l, h - 2 size, x0 - size, to h if both are finite, else
  /// 2 size above.
  template <class S>
  static GARRA_HD MncpVec<P, S> next_start(const State<S>& s, const S& k) {
    if constexpr (requires { P::template start<S>(s.data, s.x0, k); })
      return P::template start<S>(s.data, s.x0, k);
    else {
      MncpVec<P, S> x = s.x0;
      double ratio = 1;
      for_each_index<kUnknowns<P>>([&](int i) {
        ratio *= mncp_detail::make_ratio<kUnknowns<P>>();
        const S w = S(2) * fraction(k * S(ratio));
        if constexpr (kHasLower<P> || kHasUpper<P>) {
          const S l = lower_bound<P, S>(s.data, i), h = upper_bound<P, S>(s.data, i);
          const auto low = l > S(-kInfinite), high = h < S(kInfinite);
          const S size = S(1) + abs(x[i] - select(low, l, select(high, h, S(0))));
          const S first = select(low, l, select(high, h - S(2) * size, x[i] - size));
          x[i] = fma(w, select(low && high, S(0.5) * (h - l), size), first);
        } else {
          const S size = S(1) + abs(x[i]);
          x[i] = i < extent<P::kComplementary>() ? w * size : fma(w - S(1), size, x[i]);
        }
      });
      return x;
    }
  }
  template <class S>
  static GARRA_HD S fraction(const S& a) {
    const S whole = (a + S(0x1.8p52)) - S(0x1.8p52);  // nearest whole number
    const S rest = a - whole;
    return select(rest < S(0), rest + S(1), rest);
  }
  /// Copies the masked lanes of a struct of S.
  template <class S, class T>
  static GARRA_HD void select_into(const MaskOf<S>& mask, const T& from, T& to) {
    static_assert(sizeof(T) % sizeof(S) == 0);
    for_each_scalar_run<S>(
        [&](int count, const S* source, S* target) {
          for (int f = 0; f < count; ++f) target[f] = select(mask, source[f], target[f]);
        },
        from, to);
  }
};

}  // namespace garra::solvers
