// Spectral projected gradient with Newton steps in the face that it identifies (docs/theory/minimizers.md), after
// GENCAN: E. G. Birgin, J. M. Martinez, Comput. Optim. Appl. 23 (2002) 101-125.
//
//   g_P = P(x - g) - x,   g_I: g_P on the free variables, those strictly between their bounds                    (1)
//
//   |g_I| >= eta |g_P|:  (H_FF + lambda I) d_F = -J'r_F,   d = 0 elsewhere,   H = J'J,   x+ = P(x + t d)            (2)
//
//   otherwise:           d = P(x - alpha g) - x,   x+ = x + t d                                                  (3)
//
// lambda, its factor nu and the gain ratio are those of projected_lm.hpp, alpha and the nonmonotone search of (3) those
// of spectral_projected_gradient.hpp. The iteration after a refused Newton step is one of (3).
#pragma once

#include "garra/solvers/projected_lm.hpp"
#include "garra/solvers/spectral_projected_gradient.hpp"

namespace garra::solvers {

template <class S, int V>
struct SpgNewtonState {
  Iterate<S, V> at;
  Vec<S, V> x_before, g_before;  ///< before the last step, for the spectral step
  Vec<S, kSpgMemory> past;       ///< last values of f, the newest first
  S nu;                          ///< factor of the damping
  S refused;                     ///< 1 if the last Newton step found no decrease
  S iterations;                  ///< outer iterations since this start
  S mark;                        ///< f at the last progress test
  S since;                       ///< iterations since then
  static constexpr auto parts() {
    return std::tuple{&SpgNewtonState::at,         &SpgNewtonState::x_before, &SpgNewtonState::g_before,
                      &SpgNewtonState::past,       &SpgNewtonState::nu,       &SpgNewtonState::refused,
                      &SpgNewtonState::iterations, &SpgNewtonState::mark,     &SpgNewtonState::since};
  }
};

/// Options of the minimizer; each is an inequality that is tested as written.
struct SpgNewton {
  ProjectedLm newton{.max_iterations = 300,
                     .window = 10};  ///< stops, damping and decrease of Newton steps, as for ProjectedLm
  double eta = 0.1;                  ///< Newton step: |g_I| >= eta |g_P|
  double gamma = 1e-4;               ///< step (3): f(x+) <= largest of the last f + gamma t g'd
  double smallest_alpha = 1e-10;     ///< alpha >= smallest_alpha
  double largest_alpha = 1e10;       ///< alpha <= largest_alpha
  int halvings = 20;                 ///< trials of (3): t = 1, 1/2, ..., 2^-halvings

  template <class S, int V>
  using State = SpgNewtonState<S, V>;

  template <class M, class S, int V>
  [[nodiscard]] GARRA_HD SpgNewtonState<S, V> start(const M& merit, const Vec<S, V>& x0) const {
    const ProjectedLmState<S, V> first = newton.start(merit, x0);
    SpgNewtonState<S, V> s;
    s.at = first.at;
    s.x_before = s.at.x;
    s.g_before = Vec<S, V>::zero();
    for (int k = 0; k < kSpgMemory; ++k) s.past[k] = s.at.f;
    s.nu = first.nu;
    s.mark = first.mark;
    s.refused = s.iterations = s.since = S(0);
    return s;
  }

  template <class M, class S, int V>
  GARRA_HD void step(const M& merit, SpgNewtonState<S, V>& s) const {
    const auto on = s.at.running > S(0);
    const auto r = merit.residual(s.at.x);
    const Large J([&] { return merit.jacobian(s.at.x); });
    const Vec<S, V> half = transpose_times(*J, r), g = S(2) * half;
    const Vec<S, V> pull = project(merit, s.at.x - g) - s.at.x, held = face(merit, s.at.x);
    S inside2 = S(0);
    for_each_index<V>([&](int i) { inside2 = fma(select(held[i] > S(0), S(0), pull[i]), pull[i], inside2); });
    const S pull2 = dot(pull, pull);
    s.at.projected_gradient = select(on, sqrt(pull2), s.at.projected_gradient);
    const auto stays = inside2 >= S(eta * eta) * pull2 && !(s.refused > S(0));

    const S alpha = spectral_step(s, g, pull);
    Vec<S, V> d = project(merit, axpy(-alpha, g, s.at.x)) - s.at.x;
    if (any(on && stays)) {
      Large H([&] { return projected_lm::normal_matrix(*J); });
      d = select(stays, projected_lm::damped_step(*H, half, held, projected_lm::damping(s.nu, s.at.f)), d);
    }
    const projected_lm::Trial<S, V> best = search(merit, s, {d, g, stays});
    const auto moves = on && best.t > S(0);
    s.x_before = select(moves, s.at.x, s.x_before);
    s.g_before = select(moves, g, s.g_before);
    const auto Jp = *J * best.p;
    const S predicted = -fma(S(2), dot(half, best.p), dot(Jp, Jp));
    const auto newton_on = on && stays;
    s.nu = select(newton_on, newton.next_nu(s.nu, s.at.f - best.f, predicted, best.t), s.nu);
    s.refused = select(on, select(stays && !(best.t > S(0)), S(1), S(0)), s.refused);
    const auto stuck = on && !stays && !(best.t > S(0));
    s.at.x = select(on, s.at.x + best.p, s.at.x);
    s.at.f = select(on, best.f, s.at.f);
    for (int k = kSpgMemory - 1; k > 0; --k) s.past[k] = select(on, s.past[k - 1], s.past[k]);
    s.past[0] = select(on, best.f, s.past[0]);
    const S one = select(on, S(1), S(0));
    s.at.effort.outer += one;
    s.at.effort.inner += select(newton_on, S(1), S(0));
    s.at.effort.evaluations += best.evaluations;
    s.at.effort.products += select(on, S(2), S(0));
    s.iterations += one;
    s.since += one;
    newton.stop(s, on);
    s.at.running = select(stuck, S(0), s.at.running);
  }

 private:
  template <class S, int V>
  struct Way {
    const Vec<S, V>&d, &g;
    MaskOf<S> newton;
  };
  /// 1 for the variables at a bound.
  template <class M, class S, int V>
  static GARRA_HD Vec<S, V> face(const M& merit, const Vec<S, V>& x) {
    Vec<S, V> held;
    for_each_index<V>([&](int i) { held[i] = select(x[i] <= lower(merit, i) || x[i] >= upper(merit, i), S(1), S(0)); });
    return held;
  }
  /// alpha of (3): s's / s'y of the last step, 1 / |g_P|_inf at the first.
  template <class S, int V>
  GARRA_HD S spectral_step(const SpgNewtonState<S, V>& s, const Vec<S, V>& g, const Vec<S, V>& pull) const {
    const Vec<S, V> step = s.at.x - s.x_before, change = g - s.g_before;
    const S ss = dot(step, step), sy = dot(step, change);
    S size = S(0);
    for_each_index<V>([&](int i) { size = max(size, abs(pull[i])); });
    const S first = S(1) / select(size > S(0), size, S(1));
    const S later = select(sy > S(0), ss / select(sy > S(0), sy, S(1)), first);
    return min(max(select(ss > S(0), later, first), S(smallest_alpha)), S(largest_alpha));
  }
  /// Length of the step along d to the first bound.
  template <class M, class S, int V>
  static GARRA_HD S reach(const M& merit, const Vec<S, V>& x, const Vec<S, V>& d) {
    S t = S(kInfinite);
    for_each_index<V>([&](int i) {
      const S room = select(d[i] > S(0), upper(merit, i) - x[i], x[i] - lower(merit, i)), speed = abs(d[i]);
      t = min(t, select(speed > S(0), room / select(speed > S(0), speed, S(1)), S(kInfinite)));
    });
    return t;
  }
  /// Shortens t until f decreases enough: a Newton step at once to the first bound, where it is a direction of descent.
  template <class M, class S, int V>
  GARRA_HD projected_lm::Trial<S, V> search(const M& merit, const SpgNewtonState<S, V>& s, const Way<S, V>& way) const {
    const Iterate<S, V>& at = s.at;
    projected_lm::Trial<S, V> best{Vec<S, V>::zero(), at.f, S(0), S(0)};
    S reference = s.past[0];
    for (int k = 1; k < kSpgMemory; ++k) reference = max(reference, s.past[k]);
    auto open = at.running > S(0);
    const S inside = S(1 + 1e-12) * reach(merit, at.x, way.d);  // rounding must not miss the bound
    S t = S(1);
    for (int trial = 0; trial <= halvings && any(open); ++trial) {
      if (trial > newton.halvings) open = open && !way.newton;
      const Vec<S, V> p = project(merit, axpy(t, way.d, at.x)) - at.x;
      const auto r = merit.residual(at.x + p);
      const S f = dot(r, r), slope = min(S(0), dot(way.g, p));
      const auto falls = f <= fma(S(newton.decrease), slope, at.f) && f < at.f;
      const auto take = open && ((way.newton && falls) || (!way.newton && f <= fma(S(gamma), slope, reference)));
      best.evaluations += select(open, S(1), S(0));
      best.p = select(take, p, best.p);
      best.f = select(take, f, best.f);
      best.t = select(take, t, best.t);
      open = open && !take;
      t = select(way.newton, min(S(0.5) * t, inside), S(0.5) * t);
    }
    return best;
  }
};

}  // namespace garra::solvers
