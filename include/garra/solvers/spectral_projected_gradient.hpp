// Spectral projected gradient, SPG2 of E. G. Birgin, J. M. Martinez, M. Raydan, SIAM J. Optim. 10 (2000) 1196-1211
// (docs/theory/minimizers.md, section 2).
//
//   d = P(x - alpha g) - x,   x+ = x + t d   with   f(x+) <= max of the last M values of f + gamma t g'd           (11)
//
//   alpha = s's / s'y         with   s = x+ - x, y = g+ - g                                                       (12)
#pragma once

#include "garra/solvers/least_squares.hpp"

namespace garra::solvers {

inline constexpr int kSpgMemory = 10;  ///< M of (11)

template <class S, int V>
struct SpgState {
  Iterate<S, V> at;
  Vec<S, V> g;              ///< grad f at `at.x`
  Vec<S, kSpgMemory> past;  ///< last values of f, the newest first
  S alpha;                  ///< spectral step
  static constexpr auto parts() { return std::tuple{&SpgState::at, &SpgState::g, &SpgState::past, &SpgState::alpha}; }
};

/// Options of the minimizer; each is an inequality that is tested as written.
struct SpectralProjectedGradient {
  template <class S, int V>
  using State = SpgState<S, V>;

  double f_tol = 0;               ///< stop as converged: f <= f_tol
  double eps = 1e-10;             ///< stop: |P(x - g) - x| <= eps
  int max_iterations = 10000;     ///< stop: outer iterations >= max_iterations
  int max_evaluations = 20000;    ///< stop: evaluations >= max_evaluations
  double gamma = 1e-4;            ///< accept: (11)
  double smallest_alpha = 1e-30;  ///< alpha >= smallest_alpha
  double largest_alpha = 1e30;    ///< alpha <= largest_alpha, and alpha = largest_alpha if s'y <= 0
  double sigma1 = 0.1;            ///< a step that quadratic interpolation proposes is used if sigma1 t <= it
  double sigma2 = 0.9;            ///< and it <= sigma2 t, else t / 2
  double smallest_step = 1e-20;   ///< stop: largest component of t d < smallest_step

  template <class M>
  [[nodiscard]] GARRA_HD State<typename M::Scalar, M::kVariables> start(
      const M& merit, const Vec<typename M::Scalar, M::kVariables>& x0) const {
    using S = typename M::Scalar;
    constexpr int V = M::kVariables;
    State<S, V> s;
    s.at.x = project(merit, x0);
    s.at.effort = Effort<S>::zero();
    s.at.effort.evaluations = S(1);
    s.at.effort.inner = s.at.effort.products = S(kNotCounted);
    s.at.running = S(1);
    s.at.status = S(int(Status::kStalled));
    const auto r = merit.residual(s.at.x);
    s.at.f = dot(r, r);
    s.g = gradient_at(merit, s.at.x, r);
    for_each_index<kSpgMemory>([&](int k) { s.past[k] = s.at.f; });
    const Vec<S, V> d = project(merit, s.at.x - s.g) - s.at.x;
    const S size = largest(d);  // first step: one unit in the largest component
    s.alpha = clip(S(1) / select(size > S(0), size, S(1)));
    s.at.projected_gradient = norm(d);
    stop_tests(MaskOf<S>(true), s.at);
    return s;
  }

  /// Does one iteration with its line search.
  template <class M>
  GARRA_HD void step(const M& merit, State<typename M::Scalar, M::kVariables>& s) const {
    using S = typename M::Scalar;
    constexpr int V = M::kVariables;
    const MaskOf<S> running = s.at.running > S(0);
    const Vec<S, V> d = project(merit, axpy(-s.alpha, s.g, s.at.x)) - s.at.x;
    Search<S, V> search{d, dot(s.g, d), s.past[0], largest(d), S(1), s.at.x, s.at.f};
    for (int k = 1; k < kSpgMemory; ++k) search.reference = max(search.reference, s.past[k]);
    const auto found = line_search(merit, running, s.at, search);
    s.at.running = select(running && !found, S(0), s.at.running);
    arrive(merit, found, search, s);
  }

 private:
  template <class S, int V>
  struct Search {
    Vec<S, V> d;
    S slope;      ///< g'd
    S reference;  ///< largest of the last values of f
    S length;     ///< largest component of d
    S t;
    Vec<S, V> x;  ///< last trial
    S f;
  };

  template <class S, int V>
  static GARRA_HD S largest(const Vec<S, V>& d) {
    S size = S(0);
    for_each_index<V>([&](int i) { size = max(size, abs(d[i])); });
    return size;
  }
  template <class S>
  GARRA_HD S clip(const S& alpha) const {
    return min(max(alpha, S(smallest_alpha)), S(largest_alpha));
  }
  /// Searches for a step with (11); returns the lanes that found one. A trial that is NaN is
  /// rejected.
  template <class M, class S, int V>
  GARRA_HD MaskOf<S> line_search(const M& merit, const MaskOf<S>& running, Iterate<S, V>& at, Search<S, V>& q) const {
    MaskOf<S> busy = running, found(false);
    while (any(busy)) {
      const Vec<S, V> x = project(merit, axpy(q.t, q.d, at.x));
      const auto r = merit.residual(x);
      const S f = dot(r, r);
      at.effort.evaluations = select(busy, at.effort.evaluations + S(1), at.effort.evaluations);
      const auto good = busy && f <= fma(S(gamma) * q.t, q.slope, q.reference);
      for_each_index<V>([&](int i) { q.x[i] = select(good, x[i], q.x[i]); });
      q.f = select(good, f, q.f);
      found = found || good;
      const S excess = f - fma(q.t, q.slope, at.f);
      const S proposed = S(-0.5) * (q.t * q.t) * q.slope / excess;
      const auto usable = proposed >= S(sigma1) * q.t && proposed <= S(sigma2) * q.t;
      q.t = select(busy && !good, select(usable, proposed, S(0.5) * q.t), q.t);
      busy = busy && !good && q.t * q.length >= S(smallest_step) && at.effort.evaluations < S(max_evaluations);
    }
    const auto limit = running && !found && at.effort.evaluations >= S(max_evaluations);
    at.status = select(limit, S(int(Status::kIterationLimit)), at.status);
    return found;
  }
  template <class M, class S, int V>
  GARRA_HD void arrive(const M& merit, const MaskOf<S>& here, const Search<S, V>& q, State<S, V>& s) const {
    const auto r = merit.residual(q.x);
    const Vec<S, V> g = gradient_at(merit, q.x, r);
    const Vec<S, V> step = q.x - s.at.x, change = g - s.g;
    const S sy = dot(step, change);
    const S alpha = select(sy > S(0), dot(step, step) / select(sy > S(0), sy, S(1)), S(largest_alpha));
    s.alpha = select(here, clip(alpha), s.alpha);
    for_each_index<V>([&](int i) {
      s.at.x[i] = select(here, q.x[i], s.at.x[i]);
      s.g[i] = select(here, g[i], s.g[i]);
    });
    s.at.f = select(here, q.f, s.at.f);
    for (int k = kSpgMemory - 1; k > 0; --k) s.past[k] = select(here, s.past[k - 1], s.past[k]);
    s.past[0] = select(here, q.f, s.past[0]);
    s.at.projected_gradient = select(here, projected_gradient_norm(merit, q.x, g), s.at.projected_gradient);
    s.at.effort.outer = select(here, s.at.effort.outer + S(1), s.at.effort.outer);
    stop_tests(here, s.at);
  }
  template <class S, int V>
  GARRA_HD void stop_tests(const MaskOf<S>& here, Iterate<S, V>& at) const {
    const auto done = at.f <= S(f_tol);
    const auto still = !(at.projected_gradient > S(eps)) || !is_finite(at.f) || !is_finite(at.projected_gradient);
    const auto limit = at.effort.outer >= S(max_iterations) || at.effort.evaluations >= S(max_evaluations);
    const S reason = select(limit && !still, S(int(Status::kIterationLimit)), S(int(Status::kStalled)));
    at.status = select(here, select(done, S(int(Status::kConverged)), reason), at.status);
    at.running = select(here && (done || still || limit), S(0), at.running);
  }
};

}  // namespace garra::solvers
