// Forward kinematics in minimal coordinates (docs/theory/platform.md): Newton's method on g_i =
// (|d_i|^2 - L_i^2) / 2 = 0, whose Jacobian has the rows (d_i, lever_i x d_i). If a step does not
// reduce the sum of squares, the next ones are damped (Levenberg and Marquardt) until Newton's
// steps succeed again.
#pragma once

#include "garra/systems/platform/conditioning.hpp"

namespace garra::platform {

struct ForwardRule {
  double tolerance;       ///< converged: every |length - target| <= tolerance [m]
  double max_iterations;  ///< evaluations after the first
};

/// Limit of evaluations in a row without progress: each that reduces the sum of squares by less
/// than kStill of it counts one; a failed step, which only shows that it was too long, counts
/// kFailed. Newton's method near a solution squares the sum instead.
inline constexpr double kStandstill = 8;
inline constexpr double kStill = 0.01, kFailed = 0.5;

/// Damping relative to the diagonal of J^T J. First value: after a failed step; growth: at the next
/// failures; decay: after a step that left less than kGood of the sum of squares. Below the first
/// value it is zero.
inline constexpr double kFirstDamping = 0.01, kMoreDamping = 5, kLessDamping = 0.1, kGood = 0.5;

template <class S>
struct ForwardState {
  Place<S> place;    ///< best so far: the sum of squares only falls. Its quaternion is not normalized
  Vec<S, 6> step;    ///< from there: (dr, turn), base axes
  Vec<S, 6> target;  ///< lengths [m]
  S damping;         ///< of the step; 0: Newton's
  S merit;           ///< sum of the squares of g at `place`
  S excess;          ///< largest |g| there minus the allowed one; not positive: converged
  S residual;        ///< largest |length - target| at the end [m]
  S iterations, still;
  S running;  ///< 1 or 0
};

/// The equations at a pose: d, lever x d and g of every leg.
template <class S>
struct LengthEquations {
  Vec3<S> d[kLegs], moment[kLegs];
  Vec<S, 6> g;
};

template <class S, class T>
GARRA_HD LengthEquations<S> length_equations(const Model<T>& m, const Place<S>& place, const Vec<S, 6>& target) {
  const Mat3<S> A = rotation_of_any(place.p);
  LengthEquations<S> e;
  for_each_index<kLegs>([&](auto i) {
    const Vec3<S> lever = A * cast<S>(m.leg[i].anchor);
    e.d[i] = lever + (place.r - cast<S>(m.leg[i].base));
    e.moment[i] = cross(lever, e.d[i]);
    e.g[i] = S(0.5) * fnma(target[i], target[i], dot(e.d[i], e.d[i]));
  });
  return e;
}

/// Newton's step, and the determinant of the rows (d, moment), odd legs after even ones.
template <class S>
struct NewtonStep {
  Vec<S, 6> step;
  S determinant;
};

/// Elimination of dr by blocks of three legs, with two divisions in all, without a search for
/// pivots. The next step corrects one that has lost digits; a useless step fails and is damped. The
/// blocks take every other leg because adjacent legs tend to be parallel.
template <class S>
GARRA_HD NewtonStep<S> newton_step(const LengthEquations<S>& e) {
  const Vec3<S> n0 = cross(e.d[2], e.d[4]), n1 = cross(e.d[4], e.d[0]), n2 = cross(e.d[0], e.d[2]);
  const S det = dot(e.d[0], n0), inverse = S(1) / det;
  const Vec3<S> u0 = inverse * n0, u1 = inverse * n1, u2 = inverse * n2;
  const auto solved = [&](const S& a, const S& b, const S& c) { return axpy(a, u0, axpy(b, u1, c * u2)); };
  const Vec3<S> still = solved(e.g[0], e.g[2], e.g[4]);  // -dr without a turn
  Vec3<S> per_turn[3];                                   // -dr per turn about an axis
  for_each_index<3>([&](auto k) { per_turn[k] = solved(e.moment[0][k], e.moment[2][k], e.moment[4][k]); });
  Vec3<S> row[3], right;
  for_each_index<3>([&](auto i) {
    const int leg = 2 * i + 1;
    for_each_index<3>([&](auto k) { row[i][k] = e.moment[leg][k] - dot(e.d[leg], per_turn[k]); });
    right[i] = dot(e.d[leg], still) - e.g[leg];
  });
  const Vec3<S> m0 = cross(row[1], row[2]), m1 = cross(row[2], row[0]), m2 = cross(row[0], row[1]);
  const S rest = dot(row[0], m0);
  const Vec3<S> turn = (S(1) / rest) * axpy(right[0], m0, axpy(right[1], m1, right[2] * m2));
  const Vec3<S> dr = axpy(turn[0], per_turn[0], axpy(turn[1], per_turn[1], axpy(turn[2], per_turn[2], still)));
  return {{{-dr[0], -dr[1], -dr[2], turn[0], turn[1], turn[2]}}, det * rest};
}

/// Solves (J^T J + damping diag(J^T J)) step = -J^T g.
template <class S, class T>
GARRA_HD_CALL void damped_step(const Model<T>& m, const ForwardState<S>& state, Vec<S, 6>& step) {
  const LengthEquations<S> e = length_equations(m, state.place, state.target);
  Mat<S, 6, 6> normal = Mat<S, 6, 6>::zero();
  Vec<S, 6> right = Vec<S, 6>::zero();
  for (int i = 0; i < kLegs; ++i) {
    const Vec<S, 6> row = {{e.d[i][0], e.d[i][1], e.d[i][2], e.moment[i][0], e.moment[i][1], e.moment[i][2]}};
    for (int a = 0; a < 6; ++a) {
      right[a] = fnma(row[a], e.g[i], right[a]);
      for (int b = 0; b < 6; ++b) normal(a, b) = fma(row[a], row[b], normal(a, b));
    }
  }
  for (int a = 0; a < 6; ++a) normal(a, a) = fma(state.damping, normal(a, a), normal(a, a));
  step = solve(factor_ldlt(normal), right);
}

/// Evaluates a pose, keeps it if it is better, and stores the next step in the state.
template <class S, class T>
GARRA_HD void look_at(const Model<T>& m, const ForwardRule& rule, const Place<S>& trial, ForwardState<S>& state) {
  const LengthEquations<S> e = length_equations(m, trial, state.target);
  const Vec<S, 6> newton = newton_step(e).step;
  S merit = S(0), excess = S(-std::numeric_limits<RealOf<S>>::infinity());
  for_each_index<kLegs>([&](auto i) {
    merit = fma(e.g[i], e.g[i], merit);
    excess = max(excess,
                 fnma(S(0.99 * rule.tolerance), state.target[i], abs(e.g[i])));  // g = L (length - L), to first order
  });
  const auto active = state.running > S(0);
  const auto better = active && merit < state.merit;
  const auto still = !(merit < S(1 - kStill) * state.merit), good = merit < S(kGood) * state.merit;
  state.place.r = select(better, trial.r, state.place.r);
  state.place.p = select(better, trial.p, state.place.p);
  state.step = select(better, newton, state.step);
  const S less = select(good, S(kLessDamping), S(1)) * state.damping;
  state.damping = select(better, select(less < S(kFirstDamping), S(0), less),
                         max(S(kMoreDamping) * state.damping, S(kFirstDamping)));
  const S longer = state.still + select(better, S(1), S(kFailed));
  state.still = select(active, select(still, longer, S(0)), state.still);
  state.merit = select(better, merit, state.merit);
  state.excess = select(better, excess, state.excess);
  const auto going =
      active && state.excess > S(0) && state.still < S(kStandstill) && state.iterations < S(rule.max_iterations);
  state.running = select(going, S(1), S(0));
  const auto damped = going && state.damping > S(0);
  if (any(damped)) {
    Vec<S, 6> step;
    damped_step(m, state, step);
    state.step = select(damped, step, state.step);
  }
}

template <class S, class T>
GARRA_HD ForwardState<S> start(const Model<T>& m, const ForwardRule& rule, const Vec<S, 6>& target,
                               const Place<S>& guess) {
  const S infinite = S(std::numeric_limits<RealOf<S>>::infinity());
  ForwardState<S> state{guess, Vec<S, 6>::zero(), target, S(0), infinite, infinite, infinite, S(0), S(0), S(1)};
  look_at(m, rule, guess, state);
  return state;
}

template <class S, class T>
GARRA_HD void step(const Model<T>& m, const ForwardRule& rule, ForwardState<S>& state) {
  const Vec<S, 6>& s = state.step;
  state.iterations += state.running;
  look_at(m, rule,
          Place<S>{state.place.r + vec3<S>(s[0], s[1], s[2]), turned_by(state.place.p, vec3<S>(s[3], s[4], s[5]))},
          state);
}

template <class S>
GARRA_HD MaskOf<S> running(const ForwardState<S>& state) {
  return state.running > S(0);
}

/// Finishes: a unit quaternion, and the residual of the lengths themselves.
template <class S, class T>
GARRA_HD void finish(const Model<T>& m, ForwardState<S>& state) {
  state.place.p = normalized(state.place.p);
  const Mat3<S> A = rotation_matrix(state.place.p);
  state.residual = S(0);
  for_each_index<kLegs>([&](auto i) {
    state.residual = max(state.residual, abs(leg_vector(m.leg[i], state.place.r, A).length - state.target[i]));
  });
}

template <class S, class T>
GARRA_HD ForwardState<S> forward_solve(const Model<T>& m, const ForwardRule& rule, const Vec<S, 6>& target,
                                       const Place<S>& guess) {
  ForwardState<S> state = start(m, rule, target, guess);
  while (any(running(state))) step(m, rule, state);
  finish(m, state);
  return state;
}

}  // namespace garra::platform
