// Friction as N equations around a convex problem, for the few problems that the other solvers
// leave unsolved (docs/theory/contact-solver.md). For fixed sliding speeds s_j >= 0 the friction
// problem is the optimality condition of
//   min 1/2 c.A c + (b + sum_j mu_j s_j e_n,j).c,   c_j in K_j                                                     (1)
//
// Its solution c(s) solves the friction problem if
//   |a_T,j| = s_j,   a = A c(s) + b.                                                                             (2)
//
// (V. Acary, F. Cadoux, C. Lemarechal, J. Malick, "A formulation of the linear discrete Coulomb
// friction problem via convex optimization", ZAMM 91, 2011, who show that (2) has a solution.) A
// c(s) is unique and continuous in s even if A is singular. A primal-dual interior-point method
// solves (1) without a guess. Newton's method with difference quotients solves (2), from s = 0 and
// then from speeds spread over [0, 2], most of them small, for contacts that stick.
#pragma once

#include "garra/core/factor.hpp"
#include "garra/solvers/friction_proximal.hpp"
#include "garra/solvers/second_order_cone.hpp"

namespace garra::solvers {

/// State of the solver on one problem, in scaled units. Members are S, or a matrix elsewhere.
template <class S, int N, class Matrix = Mat<S, 3 * N, 3 * N>>
struct ConvexState {
  FrictionProblem<S, N, 3, Matrix> problem;  ///< largest diagonal entry of A and largest |b| are 1
  Vec<S, 3 * N> c;                           ///< c(s)
  Vec<S, N> s, error;                        ///< |a_T| - s
  LoadScale<S, N> scale;                     ///< unit of changes of the load
  S unit;                                    ///< force unit: size_b / size_a of friction_scale
  S weyl;                    ///< low-discrepancy number in [0, 1) that spreads the speeds of later attempts
  S attempt, attempt_steps;  ///< starts before this one, and Newton steps since
  S steps;                   ///< Newton steps on (2) in all
  S running;                 ///< 1 while unfinished
};

struct FrictionConvex {
  double tolerance = 1e-8;   ///< stop: relative change of the load <= tolerance / 2 (the certificate tests tolerance)
  int max_iterations = 400;  ///< stop: Newton steps on (2) >= max_iterations
  int attempt_steps = 10;    ///< restart: Newton steps of this attempt >= this

  template <class S, int N, class Matrix>
  GARRA_HD ConvexState<S, N, Matrix> start(const FrictionProblem<S, N, 3, Matrix>& given) const;

  template <class S, int N, class Matrix>
  GARRA_HD void step(ConvexState<S, N, Matrix>& state) const;

  template <class S, int N, class Matrix>
  static GARRA_HD MaskOf<S> running(const ConvexState<S, N, Matrix>& state) {
    return state.running > S(0);
  }

  /// The candidate for the certificate, in the problem's own units.
  template <class S, int N, class Matrix>
  [[nodiscard]] GARRA_HD Candidate<S, N> candidate(const ConvexState<S, N, Matrix>& state) const {
    Effort<S> effort = Effort<S>::none();
    effort.outer = state.steps;
    effort.stage = state.attempt;
    return make_candidate<S, N>(state.unit * state.c, stop_reason(state.steps, max_iterations), effort);
  }

  /// Solves one problem per lane.
  template <class S, int N>
  [[nodiscard]] GARRA_HD FrictionSolution<S, N> solve(const FrictionProblem<S, N>& given) const {
    ConvexState<S, N> state = start(given);
    while (any(running(state))) step(state);
    return certify(given, candidate(state), tolerance);
  }
};

namespace friction_convex {

inline constexpr double kRunaway = 1e8;  ///< a larger scaled force: (1) has no solution for these speeds, restart

/// The problem with tangential forces over their friction coefficient: all cones are |c_T| <= c_n.
template <class S, int N, class Matrix>
struct RoundProblem {
  Matrix A;
  Vec<S, 3 * N> b, unit;  ///< c = unit c'
};
template <class S, int N, class Matrix>
GARRA_HD RoundProblem<S, N, Matrix> round_problem(const FrictionProblem<S, N, 3, Matrix>& p, const Vec<S, N>& s) {
  RoundProblem<S, N, Matrix> out;
  take_room(out.A, p.A);
  for (int j = 0; j < extent<N>(); ++j) {
    out.unit[3 * j] = S(1);
    out.unit[3 * j + 1] = out.unit[3 * j + 2] = p.mu[j];
  }
  for (int i = 0; i < extent<3 * N>(); ++i) {
    out.b[i] = out.unit[i] * p.b[i];
    for (int k = 0; k < extent<3 * N>(); ++k) out.A(i, k) = out.unit[i] * (p.A(i, k) * out.unit[k]);
  }
  for (int j = 0; j < extent<N>(); ++j) out.b[3 * j] = fma(p.mu[j], s[j], out.b[3 * j]);
  return out;
}

/// Longest step until a contact's force or multiplier leaves its cone.
template <class S, int N>
GARRA_HD S longest_step(const Vec<S, 3 * N>& c, const Vec<S, 3 * N>& dc) {
  S out = S(__builtin_huge_val());
  for (int j = 0; j < extent<N>(); ++j) out = min(out, cone::way_out(contact<S, N>(c, j), contact<S, N>(dc, j)));
  return out;
}

/// Forces that solve (1), without a guess: A c + b = z, c and z in the cones, products c.z to zero.
template <class S, int N, class Matrix>
GARRA_HD_CALL Vec<S, 3 * N> convex_forces(const FrictionProblem<S, N, 3, Matrix>& problem, const Vec<S, N>& s) {
  constexpr int kMaxSteps = 60;
  constexpr double kSmall = 1e-15, kOff = 1e-13;  // of c.z / N (its root has this error), and of A c + b - z
  const auto p = round_problem(problem, s);
  Vec<S, 3 * N> c = Vec<S, 3 * N>::zero();
  for (int j = 0; j < extent<N>(); ++j) c[3 * j] = S(1);
  Vec<S, 3 * N> z = c;
  for (int step = 0; step < kMaxSteps; ++step) {
    const Vec<S, 3 *N> a = p.A * c + p.b, off = a - z;
    const S mean = S(1.0 / extent<N>()) * dot(c, z);
    const auto running = mean > S(kSmall) || dot(off, off) > S(kOff * kOff);
    if (!any(running)) break;
    Matrix K = copied(p.A);  // A + H, H in blocks
    Mat3<S> H[kCapacity<N>];
    Vec<S, 3 * N> center;  // c^-1
    for (int j = 0; j < extent<N>(); ++j) {
      const Vec3<S> cj = contact<S, N>(c, j);
      const auto [w, eta2] = cone::make_scaling(cj, contact<S, N>(z, j));
      const S inverse = S(1) / eta2, depth = S(1) / cone::depth2(cj);
      for (int r = 0; r < 3; ++r) {
        center[3 * j + r] = (r == 0 ? depth : -depth) * cj[r];
        for (int k = 0; k < 3; ++k) {
          const S sign = S((r == 0) == (k == 0) ? 2 : -2), diagonal = r != k ? S(0) : S(r == 0 ? -1 : 1);
          H[j](r, k) = inverse * fma(sign * w[r], w[k], diagonal);
          K(3 * j + r, 3 * j + k) += H[j](r, k);
        }
      }
    }
    const auto factors = factor_ldlt(K);
    const auto towards = [&](const S& target, Vec<S, 3 * N>& dc, Vec<S, 3 * N>& dz) {
      dc = garra::solve(factors, axpy(target, center, -a));
      Vec<S, 3 * N> scaled;  // H dc
      for (int j = 0; j < extent<N>(); ++j) set_contact<S, N>(scaled, j, H[j] * contact<S, N>(dc, j));
      dz = axpy(target, center, -scaled) - z;
      return min(longest_step<S, N>(c, dc), longest_step<S, N>(z, dz));
    };
    Vec<S, 3 * N> dc, dz;
    const S rest = S(1) - min(towards(S(0), dc, dz), S(1));
    const S length = min(S(0.95) * towards(max(rest * rest * rest, S(1e-4)) * mean, dc, dz), S(1));
    const auto moves = running && is_finite(length) && is_finite(dot(dc, dc) + dot(dz, dz));
    if (!any(moves)) break;
    c = select(moves, axpy(length, dc, c), c);
    z = select(moves, axpy(length, dz, z), z);
  }
  for (int i = 0; i < extent<3 * N>(); ++i) c[i] *= p.unit[i];
  return c;
}

/// Computes c(s) and the residual of (2).
template <class S, int N, class Matrix>
GARRA_HD Vec<S, N> speed_error(const FrictionProblem<S, N, 3, Matrix>& p, const Vec<S, N>& s, Vec<S, 3 * N>& c) {
  c = convex_forces(p, s);
  const Vec<S, 3 * N> a = p.A * c + p.b;
  Vec<S, N> error;
  for (int j = 0; j < extent<N>(); ++j) error[j] = tangential_length(contact<S, N>(a, j)) - s[j];
  return error;
}

/// Newton's direction for (2), by difference quotients.
template <class S, int N, class Matrix>
GARRA_HD_CALL Vec<S, N> newton_direction(const ConvexState<S, N, Matrix>& x) {
  constexpr double kDifference = 1e-6;
  Mat<S, N, N> J;
  for (int i = 0; i < extent<N>(); ++i) {
    Vec<S, N> s = x.s;
    s[i] += S(kDifference);
    Vec<S, 3 * N> c;
    const Vec<S, N> change = S(-1 / kDifference) * (speed_error(x.problem, s, c) - x.error);
    for (int j = 0; j < extent<N>(); ++j) J(j, i) = change[j];
  }
  return garra::solve(factor_lu(J), x.error);
}

/// Speeds of the next attempt.
template <class S, int N>
GARRA_HD Vec<S, N> speeds_from(const S& weyl) {
  Vec<S, N> s = friction_proximal::spread_numbers<S, N>(weyl);
  for (int j = 0; j < extent<N>(); ++j) s[j] = S(2) * (s[j] * s[j] * s[j]);
  return s;
}

}  // namespace friction_convex

template <class S, int N, class Matrix>
GARRA_HD ConvexState<S, N, Matrix> FrictionConvex::start(const FrictionProblem<S, N, 3, Matrix>& given) const {
  const Scaled<S, N, 3, Matrix> in = scaled(given);
  ConvexState<S, N, Matrix> x;
  x.problem = in.problem;
  x.unit = in.unit;
  x.scale = load_scale(x.problem);
  x.s = Vec<S, N>::zero();
  x.weyl = x.attempt = x.attempt_steps = x.steps = S(0);
  x.error = friction_convex::speed_error(x.problem, x.s, x.c);
  const auto first = check_iterate(x.problem, x.scale, x.c, x.problem.A * x.c + x.problem.b, tolerance);
  x.running = select(!first.lost && !first.solved && S(max_iterations) > S(0), S(1), S(0));
  return x;
}

template <class S, int N, class Matrix>
GARRA_HD void FrictionConvex::step(ConvexState<S, N, Matrix>& x) const {
  using namespace friction_convex;
  constexpr int kHalvings = 6;
  const auto active = running(x);
  const auto anew = active && x.attempt_steps >= S(attempt_steps);
  x.weyl = select(anew, friction_proximal::next_weyl(x.weyl), x.weyl);
  const Vec<S, N> along = newton_direction(x), elsewhere = speeds_from<S, N>(x.weyl);
  const S size = norm(x.error);
  auto searching = active && !anew;
  Vec<S, N> s = x.s, error = x.error;
  Vec<S, 3 * N> c = x.c;
  double share = 1;
  for (int halving = 0; halving <= kHalvings && any(searching || anew); ++halving, share *= 0.5) {
    // The last trial is half of the fixed-point step, whatever its error.
    const bool last = halving == kHalvings;
    Vec<S, N> to;
    for (int j = 0; j < extent<N>(); ++j)
      to[j] = max(fma(S(last ? 0.5 : share), last ? x.error[j] : along[j], x.s[j]), S(0));
    to = select(anew, elsewhere, to);
    Vec<S, 3 * N> found;
    const Vec<S, N> e = speed_error(x.problem, to, found);
    const auto takes =
        (searching && (MaskOf<S>(last) || norm(e) < S(1 - 0.1 * share) * size)) || (anew && MaskOf<S>(halving == 0));
    s = select(takes, to, s);
    error = select(takes, e, error);
    c = select(takes, found, c);
    searching = searching && !takes;
    if (!any(searching)) break;
  }
  x.s = select(active, s, x.s);
  x.error = select(active, error, x.error);
  x.c = select(active, c, x.c);
  x.attempt += select(anew, S(1), S(0));
  x.attempt_steps = select(anew, S(0), x.attempt_steps + S(1));
  x.steps += select(active, S(1), S(0));
  const auto now = check_iterate(x.problem, x.scale, x.c, x.problem.A * x.c + x.problem.b, tolerance);
  const auto far = now.lost || now.size2 > S(kRunaway * kRunaway);
  x.attempt_steps = select(far, S(attempt_steps), x.attempt_steps);
  x.running = select(active && !(now.solved && !far) && x.steps < S(max_iterations), S(1), S(0));
}

}  // namespace garra::solvers
