// The contract between merit functions and box-constrained minimizers (docs/theory/mncp.md):
//
//   minimize f(x) = |r(x)|^2   on   lower <= x <= upper                                                        (1)
// A merit M is a small struct (often a view of a problem) with
//   using Scalar = S;  static constexpr int kVariables, kResiduals;
//   lower(int i), upper(int i);                          the box, double or S, infinite where there is no bound
//   Vec<S, kResiduals> residual(x) const;
//   Mat<S, kResiduals, kVariables> jacobian(x) const;
//   void add_curvature(x, w, H) const;                   H += sum_k w_k (second derivatives of r_k)
//
// A minimizer is a struct of options with
//   template <class M> State<S, V> start(const M&, const Vec<S, V>& x0) const;
//   template <class M> void step(const M&, State<S, V>&) const;
//
// whose State has an `Iterate<S, V> at`. Every member of a State is S. step() does at most one
// outer iteration in every running lane and does not change the others.
#pragma once

#include "garra/core/large.hpp"
#include "garra/core/mat.hpp"
#include "garra/core/status.hpp"
#include "garra/solvers/effort.hpp"

namespace garra::solvers {

inline constexpr double kInfinite = __builtin_huge_val();

/// Iterate of a minimizer. It stops by its own tests with `status` kStalled (stationary, no
/// progress), kIterationLimit or kConverged (f <= its f tolerance), which is not the certificate.
template <class S, int V>
struct Iterate {
  Vec<S, V> x;           ///< inside the box
  S f;                   ///< |r(x)|^2
  S projected_gradient;  ///< 2-norm of P(x - grad f) - x
  S status;              ///< garra::Status, once it has stopped
  S running;             ///< 1 while unfinished
  Effort<S> effort;
  static constexpr auto parts() {
    return std::tuple{&Iterate::x,      &Iterate::f,       &Iterate::projected_gradient,
                      &Iterate::status, &Iterate::running, &Iterate::effort};
  }
};

template <class M>
GARRA_HD typename M::Scalar lower(const M& merit, int i) {
  return typename M::Scalar(merit.lower(i));
}
template <class M>
GARRA_HD typename M::Scalar upper(const M& merit, int i) {
  return typename M::Scalar(merit.upper(i));
}

/// Nearest point of the box.
template <class M>
GARRA_HD Vec<typename M::Scalar, M::kVariables> project(const M& m, Vec<typename M::Scalar, M::kVariables> x) {
  for_each_index<M::kVariables>([&](int i) { x[i] = min(max(x[i], lower(m, i)), upper(m, i)); });
  return x;
}

/// grad f = 2 J' r
template <class S, int R, int V>
GARRA_HD Vec<S, V> gradient(const Mat<S, R, V>& J, const Vec<S, R>& r) {
  return S(2) * transpose_times(J, r);
}

/// The same at x, where r = residual(x).
template <class M, class S, int R, int V>
GARRA_HD Vec<S, V> gradient_at(const M& merit, const Vec<S, V>& x, const Vec<S, R>& r) {
  const Large J([&] { return merit.jacobian(x); });
  return gradient(*J, r);
}

/// Hessian of f, 2 (J' J + sum_k r_k r_k''), symmetric, both triangles filled.
template <class M, class S, int R, int V>
GARRA_HD Mat<S, V, V> hessian(const M& merit, const Vec<S, V>& x, const Vec<S, R>& r, const Mat<S, R, V>& J) {
  Mat<S, V, V> H = Mat<S, V, V>::zero();
  merit.add_curvature(x, r, H);
  for_each_index<V>([&](int i) {
    for (int j = 0; j <= i; ++j) {
      S sum = H(i, j);
      for_each_index<R>([&](int k) { sum = fma(J(k, i), J(k, j), sum); });
      H(i, j) = H(j, i) = S(2) * sum;
    }
  });
  return H;
}

/// |P(x - g) - x|, zero exactly at the stationary points of (1).
template <class M>
GARRA_HD typename M::Scalar projected_gradient_norm(const M& merit, const Vec<typename M::Scalar, M::kVariables>& x,
                                                    const Vec<typename M::Scalar, M::kVariables>& g) {
  return norm(project(merit, x - g) - x);
}

}  // namespace garra::solvers
