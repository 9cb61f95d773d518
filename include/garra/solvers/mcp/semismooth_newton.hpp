// Semismooth Newton method for square residuals in a box, with a nonmonotone line search (docs/theory/mcp.md).
//
//   J d = -r,   x+ = P(x + t d),   t = 1, 1/2, ...   with   f(x+) <= max of the last M values of f
//                                                                  + gamma min(0, f'(x)(x+ - x))                  (1)
//
// with an element J of the generalized derivative. Where J is singular, d is no direction of descent or no t fulfills
// (1), the next direction is that of projected Levenberg-Marquardt, more damped after each failure.
//
// Sources: T. De Luca, F. Facchinei, C. Kanzow, Math. Program. 75 (1996) 407-439; L. Grippo, F. Lampariello, S. Lucidi,
// SIAM J. Numer. Anal. 23 (1986) 707-716.
#pragma once

#include "garra/solvers/projected_lm.hpp"

namespace garra::solvers {

inline constexpr int kNewtonMemory = 4;  ///< M of (1)

template <class S, int V>
struct SemismoothNewtonState {
  Iterate<S, V> at;
  Vec<S, kNewtonMemory> past;  ///< last values of f, the newest first
  S nu;                        ///< 0: Newton's direction comes next, else the damping of projected_lm.hpp (3)
  S iterations;                ///< outer iterations since this start
  static constexpr auto parts() {
    return std::tuple{&SemismoothNewtonState::at, &SemismoothNewtonState::past, &SemismoothNewtonState::nu,
                      &SemismoothNewtonState::iterations};
  }
};

namespace semismooth_newton {

/// Solves K d = b by elimination with partial pivoting, in place. Returns the lanes that are not singular (pivots above
/// 1e-20 of the largest number).
template <class S, int V>
GARRA_HD_CALL MaskOf<S> solve_in_place(Mat<S, V, V>& K, Vec<S, V>& b) {
  const int n = extent<V>();
  MaskOf<S> regular(true);
  S size = S(0);
  for (int k = 0; k < n * n; ++k) size = max(size, abs(K[k]));
  const S noise = S(1e-20) * size;
  for (int k = 0; k < n; ++k) {
    for (int i = k + 1; i < n; ++i) {
      const auto larger = abs(K(i, k)) > abs(K(k, k));
      if (!any(larger)) continue;
      for (int j = k; j < n; ++j) {
        const S upper = K(k, j);
        K(k, j) = select(larger, K(i, j), upper);
        K(i, j) = select(larger, upper, K(i, j));
      }
      const S upper = b[k];
      b[k] = select(larger, b[i], upper);
      b[i] = select(larger, upper, b[i]);
    }
    const auto good = abs(K(k, k)) > noise;
    regular = regular && good;
    const S inverse = S(1) / select(good, K(k, k), S(1));
    K(k, k) = inverse;
    const S* const pivot_row = &K(k, 0);
    for (int i = k + 1; i < n; ++i) {
      const S l = K(i, k) * inverse;
      if (!any(l != S(0))) continue;
      S* const row = &K(i, 0);
      for (int j = k + 1; j < n; ++j) row[j] = fma(-l, pivot_row[j], row[j]);
      b[i] = fma(-l, b[k], b[i]);
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    S sum = b[k];
    for (int j = k + 1; j < n; ++j) sum = fma(-K(k, j), b[j], sum);
    b[k] = sum * K(k, k);
  }
  return regular;
}

}  // namespace semismooth_newton

/// Options of the minimizer; each is an inequality that is tested as written.
struct SemismoothNewton {
  double f_tol = 0;           ///< stop, converged: f <= f_tol
  double stationary = 1e-12;  ///< stop, stalled: projected gradient <= stationary * |r|
  int max_iterations = 100;   ///< stop, iteration limit: iterations since this start >= max_iterations
  int halvings = 12;          ///< trials t = 1, 1/2, ..., 2^-halvings
  double gamma = 1e-4;        ///< accept: (1)
  double descent = 1e-12;     ///< Newton's direction is taken: 2 g'd <= -descent * |g| |d|
  double first_nu = 1e-3;     ///< damping after a Newton direction that failed
  double grow = 10;           ///< nu *= grow after a damped direction that failed
  double most_nu = 1e8;       ///< stop, stalled: nu > most_nu

  template <class S, int V>
  using State = SemismoothNewtonState<S, V>;

  template <class M>
  [[nodiscard]] GARRA_HD auto start(const M& merit, const Vec<typename M::Scalar, M::kVariables>& x0) const {
    using S = typename M::Scalar;
    State<S, M::kVariables> s;
    s.at.x = project(merit, x0);
    const auto r = merit.residual(s.at.x);
    s.at.f = dot(r, r);
    s.at.projected_gradient = projected_gradient_norm(merit, s.at.x, gradient_at(merit, s.at.x, r));
    s.at.effort = Effort<S>::zero();
    s.at.effort.evaluations = S(1);
    for_each_index<kNewtonMemory>([&](int k) { s.past[k] = s.at.f; });
    s.nu = s.iterations = S(0);
    s.at.status = S(int(Status::kStalled));  // of a start that is not finite and never runs
    s.at.running = select(is_finite(s.at.f) && is_finite(s.at.projected_gradient), S(1), S(0));
    stop(s, s.at.running > S(0));
    return s;
  }

  /// Does one factorization and one line search in every running lane.
  template <class M, class S, int V>
  GARRA_HD void step(const M& merit, State<S, V>& s) const {
    static_assert(M::kResiduals == V, "the residual of a semismooth Newton method is square");
    const auto on = s.at.running > S(0);
    const auto r = merit.residual(s.at.x);
    const Large J([&] { return merit.jacobian(s.at.x); });
    const Vec<S, V> g = transpose_times(*J, r);
    s.at.projected_gradient = select(on, projected_gradient_norm(merit, s.at.x, S(2) * g), s.at.projected_gradient);
    const Vec<S, V> d = choose_direction(merit, s, *J, r, g);
    search(merit, on, d, g, s);
    const S one = select(on, S(1), S(0));
    s.at.effort.outer += one;
    s.at.effort.inner += one;
    s.at.effort.products += one;
    s.iterations += one;
    stop(s, on);
  }

 private:
  template <class M, class S, int V>
  GARRA_HD Vec<S, V> choose_direction(const M& merit, State<S, V>& s, const Mat<S, V, V>& J, const Vec<S, V>& r,
                                      const Vec<S, V>& g) const {
    Vec<S, V> d = -r;
    Large K([&] { return J; });
    const auto regular = semismooth_newton::solve_in_place(*K, d);
    const auto descends = S(2) * dot(g, d) <= S(-descent) * norm(g) * norm(d);  // false for NaN
    const auto damped = s.nu > S(0) || !regular || !descends;
    s.nu = select(damped, max(s.nu, S(first_nu)), S(0));
    if (any(damped && s.at.running > S(0))) {
      Large H([&] { return projected_lm::normal_matrix(J); });
      const Vec<S, V> held = projected_lm::active(merit, s.at.x, g);
      d = select(damped, projected_lm::damped_step(*H, g, held, projected_lm::damping(s.nu, s.at.f)), d);
    }
    return d;
  }
  /// Moves to the first t with (1), or raises the damping.
  template <class M, class S, int V>
  GARRA_HD void search(const M& merit, const MaskOf<S>& on, const Vec<S, V>& d, const Vec<S, V>& g,
                       State<S, V>& s) const {
    S reference = s.past[0];
    for (int k = 1; k < kNewtonMemory; ++k) reference = max(reference, s.past[k]);
    Vec<S, V> x = s.at.x;
    S f = s.at.f, t = S(1);
    auto open = on;
    for (int trial = 0; trial <= halvings && any(open); ++trial) {
      const Vec<S, V> y = project(merit, axpy(t, d, s.at.x));
      const auto q = merit.residual(y);
      const S value = dot(q, q), slope = S(2) * dot(g, y - s.at.x);
      const auto take = open && value <= fma(S(gamma), min(S(0), slope), reference) && value < S(kInfinite);
      s.at.effort.evaluations += select(open, S(1), S(0));
      x = select(take, y, x);
      f = select(take, value, f);
      open = open && !take;
      t = S(0.5) * t;
    }
    const auto moved = on && !open;
    for (int k = kNewtonMemory - 1; k > 0; --k) s.past[k] = select(moved, s.past[k - 1], s.past[k]);
    s.past[0] = select(moved, f, s.past[0]);
    s.at.x = select(moved, x, s.at.x);
    s.at.f = select(moved, f, s.at.f);
    const S more = select(s.nu > S(0), S(grow) * s.nu, S(first_nu));
    s.nu = select(on, select(moved, S(0), more), s.nu);
  }
  template <class S, int V>
  GARRA_HD void stop(State<S, V>& s, const MaskOf<S>& on) const {
    Iterate<S, V>& at = s.at;
    const auto solved = at.f <= S(f_tol);
    const auto stalled = at.projected_gradient <= S(stationary) * sqrt(at.f) || s.nu > S(most_nu);
    const auto ends = on && (solved || stalled || s.iterations >= S(max_iterations));
    const S unsolved = select(stalled, S(int(Status::kStalled)), S(int(Status::kIterationLimit)));
    at.status = select(ends, select(solved, S(int(Status::kConverged)), unsolved), at.status);
    at.running = select(ends, S(0), at.running);
  }
};

}  // namespace garra::solvers
