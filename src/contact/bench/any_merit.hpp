// Type-erased merit function. Minimizers are large and the problems of the test set small, so each minimizer is
// compiled once per number of variables, residuals and bounds, not once per merit function (45). This more than halves
// the compile time, and adds 5 to 30 % to solves of some microseconds.
#pragma once

#include "garra/solvers/least_squares.hpp"

namespace garra::mncp::detail {

/// Merit function whose variables 0 to p - 1, and from n on, are not negative.
template <class S, int V, int R, int p, int n>
struct AnyMerit {
  using Scalar = S;
  static constexpr int kVariables = V, kResiduals = R;
  using X = Vec<S, V>;

  template <class M>
  explicit AnyMerit(const M& merit)
      : merit_(&merit),
        residual_([](const void* m, const X& x) { return static_cast<const M*>(m)->residual(x); }),
        jacobian_([](const void* m, const X& x) { return static_cast<const M*>(m)->jacobian(x); }),
        curvature_([](const void* m, const X& x, const Vec<S, R>& w, Mat<S, V, V>& H) {
          static_cast<const M*>(m)->add_curvature(x, w, H);
        }) {}

  static double lower(int i) { return i < p || i >= n ? 0.0 : -solvers::kInfinite; }
  static double upper(int) { return solvers::kInfinite; }
  Vec<S, R> residual(const X& x) const { return residual_(merit_, x); }
  Mat<S, R, V> jacobian(const X& x) const { return jacobian_(merit_, x); }
  void add_curvature(const X& x, const Vec<S, R>& w, Mat<S, V, V>& H) const { curvature_(merit_, x, w, H); }

 private:
  const void* merit_;
  Vec<S, R> (*residual_)(const void*, const X&);
  Mat<S, R, V> (*jacobian_)(const void*, const X&);
  void (*curvature_)(const void*, const X&, const Vec<S, R>&, Mat<S, V, V>&);
};

template <class M>
using AnyOf = AnyMerit<typename M::Scalar, M::kVariables, M::kResiduals, M::p, M::n>;

/// A minimizer that sees its merit functions as AnyMerit.
template <class Minimizer>
struct OfAnyMerit : Minimizer {
  template <class M, class S, int V>
  auto start(const M& merit, const Vec<S, V>& x0) const {
    return start_any(AnyOf<M>(merit), x0);
  }
  template <class M, class State>
  void step(const M& merit, State& state) const {
    step_any(AnyOf<M>(merit), state);
  }

 private:
  template <class Any, class S, int V>
  [[gnu::noinline]] auto start_any(const Any& merit, const Vec<S, V>& x0) const {
    return Minimizer::template start<Any>(merit, x0);
  }
  template <class Any, class State>
  [[gnu::noinline]] void step_any(const Any& merit, State& state) const {
    Minimizer::step(merit, state);
  }
};

}  // namespace garra::mncp::detail
