// Levenberg-Marquardt on a box (docs/theory/minimizers.md): Gauss-Newton steps in the free
// variables, damped so that they stay where the linear model of r is good.
//
//   A = { i : x_i at a bound, and the gradient pushes it outward },   F = the others                             (1)
//
//   (H_FF + lambda I) d_F = -g_F,   d_A = 0,   H = J'J,   g = J'r,   x+ = P(x + t d)                             (2)
//
//   lambda = nu min(|r|, 1),   nu by the gain ratio                                                              (3)
//
// (1) and (2) are the two-metric projection of D. P. Bertsekas, SIAM J. Control Optim. 20, 1982. By
// (3) the damping vanishes with |r|: quadratic convergence if |r| bounds the distance to the zeros
// from above, isolated or not (C. Kanzow, N. Yamashita, M. Fukushima, J. Comput. Appl. Math. 172,
// 2004; J. Fan, Y. Yuan, Computing 74, 2005, for the power of |r|).
#pragma once

#include "garra/solvers/least_squares.hpp"

namespace garra::solvers {

template <class S, int V>
struct ProjectedLmState {
  Iterate<S, V> at;
  S nu;          ///< factor of (3)
  S iterations;  ///< outer iterations since this start
  S mark;        ///< f at the last progress test
  S since;       ///< iterations since then
  static constexpr auto parts() {
    return std::tuple{&ProjectedLmState::at, &ProjectedLmState::nu, &ProjectedLmState::iterations,
                      &ProjectedLmState::mark, &ProjectedLmState::since};
  }
};

namespace projected_lm {

/// Result of a line search.
template <class S, int V>
struct Trial {
  Vec<S, V> p;    ///< step taken, zero if none was
  S f;            ///< |r|^2 after it
  S t;            ///< its length, 0 if none was taken
  S evaluations;  ///< of r
};

}  // namespace projected_lm

/// Options of the minimizer; each is an inequality that is tested as written.
struct ProjectedLm {
  double f_tol = 0;           ///< stop, converged: f <= f_tol
  double eps = 0;             ///< stop, stalled: projected gradient <= eps
  double stationary = 1e-10;  ///< stop, stalled: projected gradient <= stationary * |r|
  int max_iterations = 100;   ///< stop, iteration limit: iterations since this start >= max_iterations
  int window = 20;            ///< iterations between two progress tests:
  double progress = 0.9;      ///< stop, stalled: f > progress * (f at the last test)
  double most_nu = 1e8;       ///< stop, stalled: nu > most_nu
  double first_nu = 1e-3;     ///< nu at the start
  double least_nu = 1e-6;     ///< nu >= least_nu
  int halvings = 4;           ///< trials t = 1, 1/2, ..., 2^-halvings; if none succeeds, x stays and nu grows
  double decrease = 1e-4;     ///< a trial succeeds: f(x+) <= f + decrease * min(0, f'(x)(x+ - x)) and f(x+) < f
  double poor = 0.25;         ///< nu *= grow: gain ratio < poor or t < 1
  double good = 0.75;         ///< nu *= shrink: gain ratio > good and t = 1
  double grow = 4;
  double shrink = 0.1;

  template <class S, int V>
  using State = ProjectedLmState<S, V>;

  template <class M, class S, int V>
  [[nodiscard]] GARRA_HD ProjectedLmState<S, V> start(const M& merit, const Vec<S, V>& x0) const;

  /// Does one factorization and one line search in every running lane.
  template <class M, class S, int V>
  GARRA_HD void step(const M& merit, ProjectedLmState<S, V>& state) const;

  /// nu after a step of length t, 0 if none was taken.
  template <class S>
  GARRA_HD S next_nu(const S& nu, const S& gained, const S& predicted, const S& t) const {
    const auto well = gained > S(good) * predicted && t == S(1);
    const auto badly = !(gained >= S(poor) * predicted) || t < S(1);
    return max(select(well, S(shrink) * nu, select(badly, S(grow) * nu, nu)), S(least_nu));
  }
  /// Runs the stop tests. `projected_gradient` is that of the point before the last step.
  template <class AnyState>
  GARRA_HD void stop(AnyState& state, const MaskOf<decltype(AnyState::nu)>& on) const;

 private:
  template <class M, class S, int V>
  GARRA_HD projected_lm::Trial<S, V> search(const M& merit, const Iterate<S, V>& at, const Vec<S, V>& d,
                                            const Vec<S, V>& g) const;
};

namespace projected_lm {

inline constexpr int kBlock = 4;  ///< H is computed in blocks of 4 x 4, whose sums stay in registers

/// Lower triangle of H = J'J; unless the block divides V, the last rows are computed repeatedly.
template <class S, int R, int V>
GARRA_HD_CALL Mat<S, V, V> normal_matrix(const Mat<S, R, V>& J) {
  const int last = extent<V>() - 1;
  Mat<S, V, V> H;
  for (int first = 0; first <= last; first += kBlock)
    for (int second = 0; second <= first; second += kBlock) {
      const auto row = [&](int a) { return min(first + a, last); };
      const auto col = [&](int b) { return min(second + b, last); };
      Mat<S, kBlock, kBlock> sum = Mat<S, kBlock, kBlock>::zero();
      for (int k = 0; k < extent<R>(); ++k)
        for_each_index<kBlock>([&](auto a) {
          const S left = J(k, row(a));
          for_each_index<kBlock>([&](auto b) { sum(a, b) = fma(left, J(k, col(b)), sum(a, b)); });
        });
      for_each_index<kBlock>([&](auto a) { for_each_index<kBlock>([&](auto b) { H(row(a), col(b)) = sum(a, b); }); });
    }
  return H;
}

/// Solves K d = b by K = L D L', in place. Only the lower triangle of K is read; K is positive definite, since (3) has
/// been added to it. The elimination goes by columns, so that its inner loop runs along a row and waits for no sum.
template <class S, int V>
GARRA_HD_CALL void solve_in_place(Mat<S, V, V>& K, Vec<S, V>& b) {
  Vec<S, V> column;
  for (int j = 0; j < extent<V>(); ++j) {
    const S inverse = S(1) / K(j, j);
    for (int i = j + 1; i < extent<V>(); ++i) column[i] = K(i, j);
    for (int i = j + 1; i < extent<V>(); ++i) {
      const S l = column[i] * inverse;
      for (int k = j + 1; k <= i; ++k) K(i, k) = fma(-l, column[k], K(i, k));
      K(i, j) = l;
      b[i] = fma(-l, b[j], b[i]);
    }
    b[j] = b[j] * inverse;
  }
  for (int i = extent<V>() - 1; i > 0; --i)
    for (int j = 0; j < i; ++j) b[j] = fma(-K(i, j), b[i], b[j]);
}

/// lambda of (3). At a zero of r it vanishes: keeps pivots of variables without effect on r positive.
template <class S>
GARRA_HD S damping(const S& nu, const S& f) {
  return fma(nu, min(sqrt(f), S(1)), S(1e-30));
}

/// 1 for the variables of A in (1).
template <class M, class S, int V>
GARRA_HD Vec<S, V> active(const M& merit, const Vec<S, V>& x, const Vec<S, V>& g) {
  Vec<S, V> held;
  for (int i = 0; i < extent<V>(); ++i) {
    const auto at_low = x[i] <= lower(merit, i), at_high = x[i] >= upper(merit, i);
    // A fixed variable is held without a gradient, too.
    const auto holds = (at_low && g[i] > S(0)) || (at_high && g[i] < S(0)) || (at_low && at_high);
    held[i] = select(holds, S(1), S(0));
  }
  return held;
}

/// The direction (2), zero where `held` is 1. H is overwritten.
template <class S, int V>
GARRA_HD Vec<S, V> damped_step(Mat<S, V, V>& H, const Vec<S, V>& g, const Vec<S, V>& held, const S& lambda) {
  Vec<S, V> d;
  for (int i = 0; i < extent<V>(); ++i) d[i] = select(held[i] > S(0), S(0), -g[i]);
  for (int i = 0; i < extent<V>(); ++i) {
    for (int j = 0; j < i; ++j) H(i, j) = select(held[i] + held[j] > S(0), S(0), H(i, j));
    H(i, i) = select(held[i] > S(0), S(1), H(i, i) + lambda);
  }
  solve_in_place(H, d);
  return d;
}

}  // namespace projected_lm

template <class M, class S, int V>
GARRA_HD ProjectedLmState<S, V> ProjectedLm::start(const M& merit, const Vec<S, V>& x0) const {
  ProjectedLmState<S, V> s;
  s.at.x = project(merit, x0);
  const auto r = merit.residual(s.at.x);
  s.at.f = dot(r, r);
  s.at.projected_gradient = projected_gradient_norm(merit, s.at.x, gradient_at(merit, s.at.x, r));
  s.at.effort = Effort<S>::zero();
  s.at.effort.evaluations = S(1);
  s.nu = S(first_nu);
  s.iterations = s.since = S(0);
  s.mark = s.at.f;
  s.at.status = S(int(Status::kStalled));  // of a start that is not finite and never runs
  s.at.running = select(is_finite(s.at.f) && is_finite(s.at.projected_gradient), S(1), S(0));
  stop(s, s.at.running > S(0));
  return s;
}

/// Halves t until f decreases. The projected step need not be a direction of descent if it meets
/// new bounds; the first-order decrease is required only if there is one.
template <class M, class S, int V>
GARRA_HD projected_lm::Trial<S, V> ProjectedLm::search(const M& merit, const Iterate<S, V>& at, const Vec<S, V>& d,
                                                       const Vec<S, V>& g) const {
  projected_lm::Trial<S, V> best{Vec<S, V>::zero(), at.f, S(0), S(0)};
  auto open = at.running > S(0);
  S t = S(1);
  for (int trial = 0; trial <= halvings && any(open); ++trial) {
    const Vec<S, V> p = project(merit, axpy(t, d, at.x)) - at.x;
    const auto r = merit.residual(at.x + p);
    const S f = dot(r, r), slope = S(2) * dot(g, p);
    const auto take = open && f <= fma(S(decrease), min(S(0), slope), at.f) && f < at.f;
    best.evaluations += select(open, S(1), S(0));
    best.p = select(take, p, best.p);
    best.f = select(take, f, best.f);
    best.t = select(take, t, best.t);
    open = open && !take;
    t = S(0.5) * t;
  }
  return best;
}

template <class M, class S, int V>
GARRA_HD void ProjectedLm::step(const M& merit, ProjectedLmState<S, V>& s) const {
  const auto on = s.at.running > S(0);
  decltype(merit.residual(s.at.x)) r;
  const Large J([&] {
    if constexpr (requires { merit.linearize(s.at.x, r); }) {
      return merit.linearize(s.at.x, r);
    } else {
      r = merit.residual(s.at.x);
      return merit.jacobian(s.at.x);
    }
  });
  const Vec<S, V> g = transpose_times(*J, r);
  s.at.projected_gradient = select(on, projected_gradient_norm(merit, s.at.x, S(2) * g), s.at.projected_gradient);
  Large H([&] { return projected_lm::normal_matrix(*J); });
  const Vec<S, V> d =
      projected_lm::damped_step(*H, g, projected_lm::active(merit, s.at.x, g), projected_lm::damping(s.nu, s.at.f));
  const projected_lm::Trial<S, V> best = search(merit, s.at, d, g);

  const auto Jp = *J * best.p;
  const S predicted = -fma(S(2), dot(g, best.p), dot(Jp, Jp)), gained = s.at.f - best.f;
  s.nu = select(on, next_nu(s.nu, gained, predicted, best.t), s.nu);
  s.at.x = select(on, s.at.x + best.p, s.at.x);
  s.at.f = select(on, best.f, s.at.f);
  const S one = select(on, S(1), S(0));
  s.at.effort.outer += one;
  s.at.effort.inner += one;
  s.at.effort.evaluations += best.evaluations;
  s.at.effort.products += select(on, S(2), S(0));
  s.iterations += one;
  s.since += one;
  stop(s, on);
}

template <class AnyState>
GARRA_HD void ProjectedLm::stop(AnyState& s, const MaskOf<decltype(AnyState::nu)>& on) const {
  using S = decltype(AnyState::nu);
  auto& at = s.at;
  const auto asked = on && s.since >= S(window);
  const auto solved = at.f <= S(f_tol);
  const auto flat = at.projected_gradient <= max(S(eps), S(stationary) * sqrt(at.f));
  const auto stalled = flat || (asked && at.f > S(progress) * s.mark) || s.nu > S(most_nu);
  const auto ends = on && (solved || stalled || s.iterations >= S(max_iterations));
  s.mark = select(asked, at.f, s.mark);
  s.since = select(asked, S(0), s.since);
  const S unsolved = select(stalled, S(int(Status::kStalled)), S(int(Status::kIterationLimit)));
  at.status = select(ends, select(solved, S(int(Status::kConverged)), unsolved), at.status);
  at.running = select(ends, S(0), at.running);
}

}  // namespace garra::solvers
