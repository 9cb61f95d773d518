// BOX-QUACAN ('easy'), the papers' minimizer, for small dense problems (docs/theory/minimizers.md,
// section 1).
//
// BOX is a trust-region method with a box instead of a ball. Outer iteration k minimizes the
// quadratic model
//     q(s) = g's + s'Hs / 2   on   max(-Delta, l - x) <= s <= min(Delta, u - x)                                  (2)
//
// by QUACAN, which explores the faces of that box: conjugate gradients inside a face, the chopped
// gradient to leave it, and a projected extrapolation if a step hits the bounds.
//
// Sources: A. Friedlander, J. M. Martinez, S. A. Santos, Appl. Math. Optim. 30 (1994) 235-266
// (BOX); R. H. Bielschowsky, A. Friedlander, F. A. M. Gomes, J. M. Martinez, M. Raydan,
// Investigacion Operativa 7 (1997) 67-102 (QUACAN).
#pragma once

#include "garra/solvers/least_squares.hpp"

namespace garra::solvers {

namespace box_quacan {

/// Sums run in eight interleaved strands and products eight rows at a time: a scalar executor fills SIMD registers with
/// them and lanes hide the latency of the fused multiply-add. The order of the sums is the same everywhere.
inline constexpr int kStrands = 8;

/// Calls f(i, k) for the i that remain after whole strands, with their number k.
template <int V, class F>
GARRA_HD void for_each_rest(const F& f) {
  if constexpr (V >= 0) {
    for_each_index<V % kStrands>([&](int k) { f(V - V % kStrands + k, k); });
  } else {
    const int rest = extent<V>() % kStrands;
    for (int k = 0; k < rest; ++k) f(extent<V>() - rest + k, k);
  }
}

template <class S, int V>
GARRA_HD S strand_dot(const Vec<S, V>& a, const Vec<S, V>& b) {
  if constexpr (V >= 0 && V <= kStrands) {
    return dot(a, b);
  } else {
    if (extent<V>() <= kStrands) return dot(a, b);
    S sum[kStrands];
    for_each_index<kStrands>([&](int k) { sum[k] = a[k] * b[k]; });
    for (int i = kStrands; i + kStrands <= extent<V>(); i += kStrands)
      for_each_index<kStrands>([&](int k) { sum[k] = fma(a[i + k], b[i + k], sum[k]); });
    for_each_rest<V>([&](int i, int k) { sum[k] = fma(a[i], b[i], sum[k]); });
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
  }
}

/// Adds the contributions of rows i .. i + B - 1 to y = H x, H symmetric. A scalar reads whole
/// rows, which suit SIMD registers. Lanes read the lower triangle only, since H and the vectors
/// exceed a first-level cache. Every sum runs over ascending columns: the bits are the same.
template <int B, class S, int V>
GARRA_HD void product_rows(const Mat<S, V, V>& H, const Vec<S, V>& x, int i, Vec<S, V>& y) {
  constexpr bool triangle = kWidth < S >> 1;
  S sum[B];
  for_each_index<B>([&](int k) { sum[k] = S(0); });
  for (int j = 0; j < i; ++j) {
    const S xj = x[j];
    if constexpr (triangle) {
      S yj = y[j];
      for_each_index<B>([&](int k) {
        sum[k] = fma(H(i + k, j), xj, sum[k]);
        yj = fma(H(i + k, j), x[i + k], yj);
      });
      y[j] = yj;
    } else {
      for_each_index<B>([&](int k) { sum[k] = fma(H(j, i + k), xj, sum[k]); });
    }
  }
  for (int j = i; j < (triangle ? i + B : extent<V>()); ++j) {
    const S xj = x[j];
    for_each_index<B>([&](int k) { sum[k] = fma(H(j, i + k), xj, sum[k]); });
  }
  for_each_index<B>([&](int k) { y[i + k] = sum[k]; });
}
template <class S, int V>
GARRA_HD void symmetric_product(const Mat<S, V, V>& H, const Vec<S, V>& x, Vec<S, V>& y) {
  for (int i = 0; i + kStrands <= extent<V>(); i += kStrands) product_rows<kStrands>(H, x, i, y);
  if constexpr (V < 0)
    for_each_rest<V>([&](int i, int) { product_rows<1>(H, x, i, y); });
  else if constexpr (V % kStrands != 0)
    product_rows<V % kStrands>(H, x, V - V % kStrands, y);
}

/// Adds J'J to columns j .. j + B - 1 of row i of H and doubles them.
template <int B, class S, int R, int V>
GARRA_HD void normal_row(const Mat<S, R, V>& J, int i, int j, Mat<S, V, V>& H) {
  S sum[B];
  for_each_index<B>([&](int k) { sum[k] = H(i, j + k); });
  for_each_index<R>([&](int r) {
    const S Jri = J(r, i);
    for_each_index<B>([&](int k) { sum[k] = fma(Jri, J(r, j + k), sum[k]); });
  });
  for_each_index<B>([&](int k) { H(i, j + k) = S(2) * sum[k]; });
}
/// H = 2 (J'J + H): hessian() of least_squares.hpp bit for bit, in an order that suits SIMD.
template <class S, int R, int V>
GARRA_HD void add_normal_matrix(const Mat<S, R, V>& J, Mat<S, V, V>& H) {
  constexpr int tail = V - V % kStrands;
  for_each_index<V>([&](int i) {
    for (int j = 0; j + kStrands <= extent<V>() && j <= i; j += kStrands) normal_row<kStrands>(J, i, j, H);
    if constexpr (V < 0) {
      for_each_rest<V>([&](int j, int) {
        if (j <= i) normal_row<1>(J, i, j, H);
      });
    } else if constexpr (tail != V) {
      if (i >= tail) normal_row<V % kStrands>(J, i, tail, H);
    }
  });
  for_each_index<V>([&](int i) {
    for (int j = 0; j < i; ++j) H(j, i) = H(i, j);
  });
}

/// Snaps the step to a bound that it misses by rounding: |x - bound| <= 1e-14 size.
template <class S>
GARRA_HD S snap(const S& x, const S& bound, const S& size) {
  return select(abs(x - bound) <= S(1e-14) * size, bound, x);
}

}  // namespace box_quacan

/// A box-constrained quadratic: minimize q(s) = b's + s'Hs / 2 on lower <= s <= upper, both finite,
/// with zero inside.
template <class S, int V>
struct BoxQuadratic {
  const Mat<S, V, V>& H;  ///< symmetric, need not be definite
  const Vec<S, V>& b;
  Vec<S, V> lower, upper;
  S eps;  ///< solved where |g_P| <= eps
};

/// State of QUACAN on one subproblem per lane.
template <class S, int V>
struct QuacanState {
  Vec<S, V> x;   ///< the start, later the iterate
  Vec<S, V> g;   ///< H x + b
  Vec<S, V> d;   ///< direction
  S f;           ///< q(x)
  S face2;       ///< |g_I|^2 at the step before
  S increment;   ///< of the extrapolation: x + increment d is its next trial
  S f_before;    ///< q at the iteration before
  S best;        ///< largest progress of an iteration so far
  S slow;        ///< consecutive iterations of slow progress
  S iterations;  ///< QuacanIt, of this subproblem
  S products;    ///< MatxVec, of this subproblem
  S busy;        ///< 1 while unfinished
  S given;       ///< 1 if the next product is that of a start that is not zero
  S expand;      ///< 1 if the next product is that of a trial of the extrapolation or of the start
  S conjugate;   ///< 1 if the next direction may be conjugate to the last
  static constexpr auto parts() {
    return std::tuple{&QuacanState::x,     &QuacanState::g,          &QuacanState::d,        &QuacanState::f,
                      &QuacanState::face2, &QuacanState::increment,  &QuacanState::f_before, &QuacanState::best,
                      &QuacanState::slow,  &QuacanState::iterations, &QuacanState::products, &QuacanState::busy,
                      &QuacanState::given, &QuacanState::expand,     &QuacanState::conjugate};
  }
};

/// Minimizer of a quadratic in a box. An option is an inequality tested before an iteration.
struct Quacan {
  double eta = 0.9;           ///< leave the face: |g_C| >= eta |g_P|
  double factor = 5;          ///< the extrapolation tries factor, factor^2, ... times the step to the first bound
  double dont = 0.01;         ///< stop: progress <= dont * best progress in `kdont` iterations in a row
  int kdont = 5;              ///< see `dont`
  int max_iterations = 1000;  ///< stop: iterations >= max_iterations (maxit)
  int max_products = 2000;    ///< stop: products >= max_products (maxmv)

  /// Begins at s.x, clipped to the box, in the lanes of the mask.
  template <class S, int V>
  static GARRA_HD void begin(const BoxQuadratic<S, V>& q, const MaskOf<S>& mask, QuacanState<S, V>& s);

  /// Runs at most `ticks` products in the unfinished lanes of the mask.
  template <class S, int V>
  GARRA_HD_CALL void advance(const BoxQuadratic<S, V>& q, int ticks, const MaskOf<S>& mask, QuacanState<S, V>& s) const;

 private:
  /// Kind of a lane's next product: masks of one tick, as in QuacanState.
  template <class S>
  struct Mode {
    MaskOf<S> busy, given, expand, conjugate;
  };
  /// -g on the free variables (g_I), and on the free and the chopped ones (g_P = g_I + g_C).
  template <class S, int V>
  struct Gradients {
    Vec<S, V> face, all;
    S face2, chopped2;
  };
  template <class S, int V>
  static GARRA_HD Gradients<S, V> split(const BoxQuadratic<S, V>& q, const QuacanState<S, V>& s);
  template <class S, int V>
  GARRA_HD MaskOf<S> stops(const MaskOf<S>& decide, const S& over_eps, QuacanState<S, V>& s) const;
  template <class S, int V>
  static GARRA_HD S break_step(const BoxQuadratic<S, V>& q, const QuacanState<S, V>& s);
  /// Choice of the lanes that begin an iteration: to leave the face or not, and the slope.
  template <class S>
  struct Choice {
    MaskOf<S> decide, leave;
    S slope;  ///< -g'd
  };
  template <class S, int V>
  GARRA_HD Choice<S> choose(const Gradients<S, V>& pull, const Mode<S>& mode, QuacanState<S, V>& s) const;
  template <class S, int V>
  GARRA_HD void tick(const BoxQuadratic<S, V>& q, const Choice<S>& next, Mode<S>& mode, QuacanState<S, V>& s) const;
};

/// State of BOX-QUACAN on one problem per lane.
template <class S, int V>
struct BoxQuacanState {
  Iterate<S, V> at;
  Mat<S, V, V> H;  ///< second derivatives of f at `at.x`
  Vec<S, V> g;     ///< grad f there
  S radius;        ///< Delta
  S predicted;     ///< -q(s) of the last accepted step
  S achieved;      ///< f(x) - f(x + s) of it
  S best;          ///< largest `achieved` so far
  S slow;          ///< consecutive iterations of slow progress
  S rising;        ///< consecutive iterations in which the projected gradient did not fall
  S inside;        ///< 1 while an outer iteration is under way
  S eps_q;         ///< tolerance of QUACAN in it
  QuacanState<S, V> sub;
  static constexpr auto parts() {
    return std::tuple{&BoxQuacanState::at,     &BoxQuacanState::H,         &BoxQuacanState::g,
                      &BoxQuacanState::radius, &BoxQuacanState::predicted, &BoxQuacanState::achieved,
                      &BoxQuacanState::best,   &BoxQuacanState::slow,      &BoxQuacanState::rising,
                      &BoxQuacanState::inside, &BoxQuacanState::eps_q,     &BoxQuacanState::sub};
  }
};

/// BOX with QUACAN inside. An option is an inequality that is tested as written; the stop tests run
/// in this order, at the start and after every outer iteration.
struct BoxQuacan {
  template <class S, int V>
  using State = BoxQuacanState<S, V>;

  double f_tol = 0;               ///< stop as converged: f <= f_tol (ftol)
  double eps = 1e-10;             ///< stop: |P(x - g) - x| <= eps
  int max_iterations = 200;       ///< stop: outer iterations >= max_iterations (itmax)
  int max_evaluations = 1000;     ///< stop: evaluations >= max_evaluations (nafmax)
  double bont = 0;                ///< stop: progress <= bont * best progress in `kbont` iterations in a row
  int kbont = 5;                  ///< see `bont`
  int kauts = 10;                 ///< stop: |P(x - g) - x| did not fall in `kauts` iterations in a row
  double smallest_radius = 1e-8;  ///< stop ("strangled"): step rejected with Delta <= smallest_radius (epsd)

  double first_radius = 1;  ///< Delta of the first iteration (delta0); iterations start with Delta >= a hundredth of it
  double growth = 4;        ///< Delta *= growth: achieved >= 0.5 predicted (par)
  double accuracy = 1e-8;   ///< QUACAN: |g_P| <= accuracy * |projected gradient of f|
  double accuracy_again = 1e-8;  ///< the same after a rejected step (acumenor)
  double relative_decrease =
      0.1;  ///< accept: f(x + s) <= f(x) + max(relative_decrease q(s), -absolute_decrease) (relarm)
  double absolute_decrease = 1e-6;  ///< see `relative_decrease` (absarm)
  /// Most products in one call of step(): an outer iteration may take several calls. Lanes whose
  /// subproblem is solved then wait less for their neighbors (measured: 69 % of the lanes work
  /// instead of 38 %).
  int ticks = 32;
  bool gauss_newton = false;  ///< H = 2 J'J, without the second derivatives of the residuals
  Quacan inner;

  template <class M>
  [[nodiscard]] GARRA_HD State<typename M::Scalar, M::kVariables> start(
      const M& merit, const Vec<typename M::Scalar, M::kVariables>& x0) const {
    using S = typename M::Scalar;
    constexpr int V = M::kVariables;
    State<S, V> s;
    s.at.x = project(merit, x0);
    s.at.effort = Effort<S>::zero();
    s.at.effort.evaluations = S(1);
    s.at.running = S(1);
    s.at.status = S(int(Status::kStalled));
    for_each_entry<V, V>([&](int k) { s.H[k] = S(0); });
    s.radius = S(first_radius);
    s.predicted = s.achieved = s.best = s.slow = s.rising = s.inside = s.eps_q = S(0);
    clear(s.sub);
    const auto r = merit.residual(s.at.x);
    s.at.f = dot(r, r);
    s.at.projected_gradient = S(kInfinite);
    s.g = Vec<S, V>::zero();
    arrive(merit, MaskOf<S>(true), s);
    return s;
  }

  /// Continues the outer iteration: subproblems with smaller radii until a step is accepted.
  template <class M>
  GARRA_HD void step(const M& merit, State<typename M::Scalar, M::kVariables>& s) const {
    using S = typename M::Scalar;
    constexpr int V = M::kVariables;
    const MaskOf<S> running = s.at.running > S(0);
    const auto fresh = running && !(s.inside > S(0));
    if (any(fresh)) open(merit, fresh, s);
    inner.advance(model(merit, s), ticks, running, s.sub);
    const auto solved = running && !(s.sub.busy > S(0));
    if (!any(solved)) return;
    count(solved, s.sub, s.at.effort);
    safeguard(model(merit, s), solved, s.sub);
    const Trial<S, V> t = evaluate(merit, s);
    const auto good = solved && acceptable(s, t);
    const auto refused = solved && !good;
    const auto strangled = refused && s.radius <= S(smallest_radius);
    s.at.running = select(strangled, S(0), s.at.running);
    if (any(refused)) shrink(merit, refused && !strangled, t, s);
    move(good, t, s);
    if (any(good)) arrive(merit, good, s);
  }

 private:
  template <class S, int V>
  struct Trial {
    Vec<S, V> x;
    S f;
  };

  template <class S, int V>
  static GARRA_HD void clear(QuacanState<S, V>& sub) {
    sub.x = sub.g = sub.d = Vec<S, V>::zero();
    sub.f = sub.face2 = sub.increment = sub.f_before = sub.best = sub.slow = S(0);
    sub.iterations = sub.products = sub.busy = sub.given = sub.expand = sub.conjugate = S(0);
  }
  /// Begins an outer iteration.
  template <class M, class S, int V>
  GARRA_HD void open(const M& merit, const MaskOf<S>& fresh, State<S, V>& s) const {
    s.radius = select(fresh, entry_radius(s), s.radius);
    s.eps_q = select(fresh, S(accuracy) * inner_gradient_norm(merit, s), s.eps_q);
    s.inside = select(fresh, S(1), s.inside);
    for_each_index<V>([&](int i) { s.sub.x[i] = select(fresh, S(0), s.sub.x[i]); });
    Quacan::begin(model(merit, s), fresh, s.sub);
  }
  template <class S, int V>
  GARRA_HD S entry_radius(const State<S, V>& s) const {
    const auto grow = s.at.effort.outer > S(0) && s.achieved >= S(0.5) * s.predicted;
    const S radius = select(grow, S(growth) * s.radius, s.radius);
    return min(max(radius, S(0.01 * first_radius)), S(1e30));
  }
  /// 2-norm of the gradient's components that are free or, at a bound, point into the box.
  template <class M, class S, int V>
  static GARRA_HD S inner_gradient_norm(const M& merit, const State<S, V>& s) {
    Vec<S, V> r;
    for_each_index<V>([&](int i) {
      r[i] = select(s.at.x[i] > lower(merit, i), -s.g[i], max(-s.g[i], S(0)));
      r[i] = select(s.at.x[i] < upper(merit, i), r[i], min(r[i], S(0)));
    });
    return sqrt(box_quacan::strand_dot(r, r));
  }
  template <class M, class S, int V>
  static GARRA_HD BoxQuadratic<S, V> model(const M& merit, const State<S, V>& s) {
    BoxQuadratic<S, V> q{s.H, s.g, {}, {}, s.eps_q};
    for_each_index<V>([&](int i) {
      q.lower[i] = max(lower(merit, i) - s.at.x[i], -s.radius);
      q.upper[i] = min(upper(merit, i) - s.at.x[i], s.radius);
    });
    return q;
  }
  template <class S, int V>
  static GARRA_HD void count(const MaskOf<S>& solved, const QuacanState<S, V>& sub, Effort<S>& effort) {
    effort.evaluations = select(solved, effort.evaluations + S(1), effort.evaluations);
    effort.inner = select(solved, effort.inner + sub.iterations, effort.inner);
    effort.products = select(solved, effort.products + sub.products, effort.products);
  }
  /// 'Easy quadratic': with d = P(-g) in the box of q, s must gain a millionth of g'd + d'd / 2.
  template <class S, int V>
  static GARRA_HD void safeguard(const BoxQuadratic<S, V>& q, const MaskOf<S>& solved, QuacanState<S, V>& sub) {
    Vec<S, V> d, slope;
    for_each_index<V>([&](int i) {
      d[i] = min(max(-q.b[i], q.lower[i]), q.upper[i]);
      slope[i] = fma(S(0.5), d[i], q.b[i]);
    });
    const S easy = box_quacan::strand_dot(d, slope);
    const auto poor = solved && !(sub.f <= S(1e-6) * easy);  // NaN too
    sub.f = select(poor, easy, sub.f);
    for_each_index<V>([&](int i) { sub.x[i] = select(poor, d[i], sub.x[i]); });
  }
  template <class M, class S, int V>
  static GARRA_HD Trial<S, V> evaluate(const M& merit, const State<S, V>& s) {
    Trial<S, V> t;
    for_each_index<V>([&](int i) {
      const S l = lower(merit, i), u = upper(merit, i), size = abs(s.at.x[i]);
      const S x = box_quacan::snap(s.at.x[i] + s.sub.x[i], l, size);
      t.x[i] = min(max(box_quacan::snap(x, u, size), l), u);
    });
    const auto r = merit.residual(t.x);
    t.f = dot(r, r);
    return t;
  }
  /// False for NaN.
  template <class S, int V>
  GARRA_HD MaskOf<S> acceptable(const State<S, V>& s, const Trial<S, V>& t) const {
    return t.f <= s.at.f + max(S(relative_decrease) * s.sub.f, S(-absolute_decrease));
  }
  template <class S, int V>
  static GARRA_HD void move(const MaskOf<S>& good, const Trial<S, V>& t, State<S, V>& s) {
    s.inside = select(good, S(0), s.inside);
    s.predicted = select(good, -s.sub.f, s.predicted);
    s.achieved = select(good, s.at.f - t.f, s.achieved);
    s.at.f = select(good, t.f, s.at.f);
    s.at.effort.outer = select(good, s.at.effort.outer + S(1), s.at.effort.outer);
    for_each_index<V>([&](int i) { s.at.x[i] = select(good, t.x[i], s.at.x[i]); });
  }
  /// Delta = |s| / 2 if the step is not much worse, else |s| / 10; QUACAN continues from s scaled.
  template <class M, class S, int V>
  GARRA_HD void shrink(const M& merit, const MaskOf<S>& refused, const Trial<S, V>& t, State<S, V>& s) const {
    S length = S(0);
    for_each_index<V>([&](int i) { length = max(length, abs(s.sub.x[i])); });
    const auto fair = t.f <= s.at.f - S(0.1) * s.sub.f;
    const S factor = select(fair, S(0.5), S(0.1));
    s.radius = select(refused, factor * length, s.radius);
    s.eps_q = select(refused, S(accuracy_again) * inner_gradient_norm(merit, s), s.eps_q);
    for_each_index<V>([&](int i) { s.sub.x[i] = select(refused, factor * s.sub.x[i], s.sub.x[i]); });
    Quacan::begin(model(merit, s), refused, s.sub);
  }
  /// Computes derivatives at a new point and runs the stop tests.
  template <class M, class S, int V>
  GARRA_HD void arrive(const M& merit, const MaskOf<S>& here, State<S, V>& s) const {
    const auto r = merit.residual(s.at.x);
    const Large J([&] { return merit.jacobian(s.at.x); });
    const Vec<S, V> g = gradient(*J, r);
    for_each_index<V>([&](int i) { s.g[i] = select(here, g[i], s.g[i]); });
    stop_tests(here, projected_gradient_norm(merit, s.at.x, g), s);
    const auto go_on = here && s.at.running > S(0);
    if (!any(go_on)) return;
    Large H([] { return Mat<S, V, V>::zero(); });
    if (!gauss_newton) merit.add_curvature(s.at.x, r, *H);
    box_quacan::add_normal_matrix(*J, *H);
    for_each_entry<V, V>([&](int k) { s.H[k] = select(go_on, (*H)[k], s.H[k]); });
  }
  template <class S, int V>
  GARRA_HD void stop_tests(const MaskOf<S>& here, const S& projected_gradient, State<S, V>& s) const {
    auto& at = s.at;
    const auto moved = here && at.effort.outer > S(0);
    const auto slow = moved && s.achieved <= S(bont) * s.best;
    const auto rises = moved && projected_gradient >= at.projected_gradient;
    s.slow = select(here, select(slow, s.slow + S(1), S(0)), s.slow);
    s.rising = select(here, select(rises, s.rising + S(1), S(0)), s.rising);
    s.best = select(moved, max(s.best, s.achieved), s.best);
    at.projected_gradient = select(here, projected_gradient, at.projected_gradient);
    const auto done = at.f <= S(f_tol);
    const auto still = !(projected_gradient > S(eps)) || !is_finite(at.f) || !is_finite(projected_gradient);
    const auto limit = at.effort.outer >= S(max_iterations) || at.effort.evaluations >= S(max_evaluations);
    const auto stands = s.slow >= S(kbont) || s.rising >= S(kauts);
    const S reason = select(limit && !still, S(int(Status::kIterationLimit)), S(int(Status::kStalled)));
    at.status = select(here, select(done, S(int(Status::kConverged)), reason), at.status);
    at.running = select(here && (done || still || limit || stands), S(0), at.running);
  }
};

template <class S, int V>
GARRA_HD void Quacan::begin(const BoxQuadratic<S, V>& q, const MaskOf<S>& mask, QuacanState<S, V>& s) {
  S size = S(0);
  for_each_index<V>([&](int i) {
    const S x = min(max(s.x[i], q.lower[i]), q.upper[i]);
    s.d[i] = select(mask, x, s.d[i]);
    s.x[i] = select(mask, S(0), s.x[i]);
    s.g[i] = select(mask, q.b[i], s.g[i]);
    size = max(size, abs(x));
  });
  const auto set = [&](S& to, double value) { to = select(mask, S(value), to); };
  set(s.f, 0);
  set(s.f_before, 0);
  set(s.best, 0);
  set(s.slow, 0);
  set(s.iterations, 0);
  set(s.products, 0);
  set(s.conjugate, 0);
  set(s.increment, 1);
  set(s.face2, 1);
  set(s.busy, 1);
  // A nonzero start is tested like a step from zero: it is rejected if q is above q(0) = 0 there.
  const S given = select(size > S(0), S(1), S(0));
  s.given = select(mask, given, s.given);
  s.expand = select(mask, given, s.expand);
}

template <class S, int V>
GARRA_HD auto Quacan::split(const BoxQuadratic<S, V>& q, const QuacanState<S, V>& s) -> Gradients<S, V> {
  Gradients<S, V> r;
  Vec<S, V> chopped;
  for_each_index<V>([&](int i) {
    const S down = -s.g[i];
    const auto above = s.x[i] > q.lower[i], below = s.x[i] < q.upper[i];
    const S inward = select(above, down, max(down, S(0)));
    r.all[i] = select(below, inward, min(inward, S(0)));
    r.face[i] = select(above, select(below, down, S(0)), S(0));
    chopped[i] = r.all[i] - r.face[i];
  });
  r.face2 = box_quacan::strand_dot(r.face, r.face);
  r.chopped2 = box_quacan::strand_dot(chopped, chopped);
  return r;
}

template <class S, int V>
GARRA_HD MaskOf<S> Quacan::stops(const MaskOf<S>& decide, const S& over_eps, QuacanState<S, V>& s) const {
  const S progress = s.f_before - s.f;
  const auto later = decide && s.iterations > S(0);
  s.slow = select(later, select(progress <= S(dont) * s.best, s.slow + S(1), S(0)), s.slow);
  s.best = select(later, max(s.best, progress), s.best);
  s.f_before = select(decide, s.f, s.f_before);
  const auto limit = s.iterations >= S(max_iterations) || s.products >= S(max_products);
  return decide && (!(over_eps > S(0)) || limit || s.slow >= S(kdont));
}

/// Step along d to the first bound: the smallest distance / |d_i|, found without dividing.
template <class S, int V>
GARRA_HD S Quacan::break_step(const BoxQuadratic<S, V>& q, const QuacanState<S, V>& s) {
  constexpr int B = V >= 0 && V < box_quacan::kStrands ? V : box_quacan::kStrands;
  S room[B], speed[B];
  for_each_index<B>([&](int k) {
    room[k] = S(1e300);
    speed[k] = S(1);
  });
  const auto look = [&](int i, int k) {
    const S r = select(s.d[i] > S(0), q.upper[i] - s.x[i], s.x[i] - q.lower[i]), v = abs(s.d[i]);
    const auto nearer = r * speed[k] < room[k] * v;
    room[k] = select(nearer, r, room[k]);
    speed[k] = select(nearer, v, speed[k]);
  };
  for (int i = 0; i + B <= extent<V>(); i += B) for_each_index<B>([&](int k) { look(i + k, k); });
  if constexpr (B == box_quacan::kStrands) box_quacan::for_each_rest<V>(look);
  for_each_index<B - 1>([&](int k) {
    const auto nearer = room[k + 1] * speed[0] < room[0] * speed[k + 1];
    room[0] = select(nearer, room[k + 1], room[0]);
    speed[0] = select(nearer, speed[k + 1], speed[0]);
  });
  return room[0] / speed[0];
}

/// Direction of the next iteration: the chopped gradient, or Fletcher-Reeves inside the face.
template <class S, int V>
GARRA_HD auto Quacan::choose(const Gradients<S, V>& pull, const Mode<S>& mode, QuacanState<S, V>& s) const
    -> Choice<S> {
  const auto decide = mode.busy && !mode.expand;
  const auto leave = pull.chopped2 >= S(eta * eta) * (pull.face2 + pull.chopped2);
  const S beta = select(mode.conjugate && !leave, pull.face2 / s.face2, S(0));
  for_each_index<V>([&](int i) {
    const S d = select(leave, pull.all[i] - pull.face[i], fma(beta, s.d[i], pull.face[i]));
    s.d[i] = select(decide, d, s.d[i]);
  });
  s.face2 = select(decide, pull.face2, s.face2);
  s.iterations = select(decide, s.iterations + S(1), s.iterations);
  return {decide, leave, select(leave, pull.chopped2, pull.face2)};
}

/// Computes one product with H in every busy lane, and the updates that follow from it.
template <class S, int V>
GARRA_HD void Quacan::tick(const BoxQuadratic<S, V>& q, const Choice<S>& next, Mode<S>& mode,
                           QuacanState<S, V>& s) const {
  Vec<S, V> p, h, x, g, fg;
  for_each_index<V>([&](int i) {
    const S trial = min(max(fma(s.increment, s.d[i], s.x[i]), q.lower[i]), q.upper[i]);
    p[i] = select(mode.expand, trial - s.x[i], s.d[i]);
  });
  box_quacan::symmetric_product(q.H, p, h);
  s.products = select(mode.busy, s.products + S(1), s.products);
  const S curvature = box_quacan::strand_dot(s.d, h), to_bound = break_step(q, s);
  const S alpha = next.slope / curvature;
  const auto inside = curvature > S(0) && alpha < to_bound;  // false for NaN
  const auto breaks = next.decide && !inside;
  const S step = select(mode.expand, s.increment, select(inside, alpha, to_bound));
  const S share = select(mode.expand, S(1), step);  // of h
  for_each_index<V>([&](int i) {
    const S bound = select(s.d[i] > S(0), q.upper[i], q.lower[i]);
    const S t = fma(step, s.d[i], s.x[i]);
    const S snapped = select(breaks, box_quacan::snap(t, bound, max(abs(s.x[i]), abs(bound))), t);
    x[i] = min(max(snapped, q.lower[i]), q.upper[i]);
    g[i] = fma(share, h[i], s.g[i]);
    fg[i] = g[i] + q.b[i];
  });
  const S f = S(0.5) * box_quacan::strand_dot(x, fg);
  const auto take = mode.busy && (next.decide || f < s.f);
  for_each_index<V>([&](int i) {
    s.x[i] = select(take, x[i], s.x[i]);
    s.g[i] = select(take, g[i], s.g[i]);
  });
  s.f = select(take, f, s.f);
  const S first = S(factor - 1) * to_bound;  // x lies at d's first bound: the next trial is at factor times that step
  s.increment = select(mode.busy, select(next.decide, first, S(factor) * s.increment), s.increment);
  mode.conjugate = next.decide && inside && !next.leave;
  mode.expand = breaks || (mode.expand && take && !mode.given);
  mode.given = MaskOf<S>(false);
}

template <class S, int V>
GARRA_HD_CALL void Quacan::advance(const BoxQuadratic<S, V>& q, int ticks, const MaskOf<S>& mask,
                                   QuacanState<S, V>& s) const {
  const S zero = S(0), one = S(1);
  Mode<S> mode{mask && s.busy > zero, s.given > zero, s.expand > zero, s.conjugate > zero};
  for (int k = 0; k < ticks; ++k) {
    const Gradients<S, V> pull = split(q, s);
    const auto decide = mode.busy && !mode.expand;
    const auto stop = stops(decide, (pull.face2 + pull.chopped2) - q.eps * q.eps, s);
    mode.busy = mode.busy && !stop;
    s.busy = select(stop, zero, s.busy);
    if (!any(mode.busy)) break;
    tick(q, choose(pull, mode, s), mode, s);
  }
  s.given = select(mode.busy, select(mode.given, one, zero), s.given);
  s.expand = select(mode.busy, select(mode.expand, one, zero), s.expand);
  s.conjugate = select(mode.busy, select(mode.conjugate, one, zero), s.conjugate);
}

}  // namespace garra::solvers
