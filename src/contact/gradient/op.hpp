// Derivatives of contact forces by the implicit function theorem, as an operation on rows. SI units. Host and device.
//
// Each contact satisfies three equations F_j(c_j, a_j) = 0 of its regime, with a = A c + b. Their linearization is
//   (Q + P A) dc + P (dA c + db) + F_mu dmu = 0.
// Q = dF/dc and P = dF/da have one block of 3 x 3 per contact. With (Q + P A)^T y = dL/dc,
//   dL/db = -P^T y,   dL/dA = dL/db c^T,   dL/dmu_j = -y_j . dF_j/dmu_j.
#pragma once

#include "garra/core/factor.hpp"
#include "garra/solvers/friction_problem.hpp"

namespace garra::contact {

/// Linearized equations of a contact: derivatives by force, acceleration and friction.
template <class S>
struct ContactEquations {
  Mat3<S> Q, P;
  Vec3<S> friction;  ///< dF/dmu
  S margin;          ///< to another regime, of the sizes of the problem
};

/// Scales of the margins: largest force, largest acceleration without forces.
template <class S>
struct ProblemSize {
  S force, acceleration;
};

/// F of the regime, numbered as Regime, at (c, a).
template <class S>
GARRA_HD ContactEquations<S> make_contact_equations(const S& regime, const S& mu, const Vec3<S>& c, const Vec3<S>& a,
                                                    const ProblemSize<S>& size) {
  const S zero = S(0), one = S(1);
  const auto sticks = regime == zero, slips = regime == one, opens = regime == S(2), slides = regime == S(3);
  const S speed = tangential_length(a), force = tangential_length(c);
  const S per_speed = select(speed > zero, one / select(speed > zero, speed, one), zero);
  const S per_force = select(force > zero, one / select(force > zero, force, one), zero);
  ContactEquations<S> e{Mat3<S>::zero(), Mat3<S>::zero(), Vec3<S>::zero(), zero};
  // Stick: a = 0. Open: c = 0. The others: a_n = 0 and c_T + mu c_n u = 0, u the direction of motion.
  e.P(0, 0) = select(opens, zero, one);
  e.Q(0, 0) = select(opens, one, zero);
  Vec3<S> u = Vec3<S>::zero();
  for (int i = 1; i < 3; ++i) u[i] = select(slips, per_speed * a[i], select(slides, -(per_force * c[i]), zero));
  const S turns = select(slips, mu * c[0] * per_speed, zero);
  for (int i = 1; i < 3; ++i) {
    e.Q(i, i) = select(sticks, zero, one);
    e.Q(i, 0) = mu * u[i];
    e.friction[i] = c[0] * u[i];
    for (int j = 1; j < 3; ++j) {
      const S across = (i == j ? one : zero) - u[i] * u[j];
      e.P(i, j) = select(sticks, i == j ? one : zero, turns * across);
    }
  }
  const S pressed = c[0] / size.force, inside = (mu * c[0] - force) / size.force, moves = speed / size.acceleration;
  e.margin = select(opens, a[0] / size.acceleration,
                    select(sticks, min(pressed, inside), select(slips, min(pressed, moves), pressed)));
  return e;
}

/// Operation that computes the derivatives of one problem: dL/db, dL/dmu and the regimes' margin.
template <int N>
struct GradientOp {
  template <class S>
  struct In {
    Mat<S, 3 * N, 3 * N> A;
    Vec<S, N> mu;
    Vec<S, 3 * N> c, a, cotangent;
    Vec<S, N> regime;
  };
  template <class S>
  struct Out {
    Vec<S, 3 * N> b;
    Vec<S, N> mu;
    S margin;
  };

  template <class S>
  GARRA_HD Out<S> operator()(const In<S>& in) const {
    const S zero = S(0), one = S(1);
    const S forces = norm(in.c), free = norm(in.a - in.A * in.c);
    const ProblemSize<S> size = {select(forces > zero, forces, one), select(free > zero, free, one)};
    ContactEquations<S> e[N];
    Mat<S, 3 * N, 3 * N> K;  // (Q + P A)^T
    Out<S> out;
    out.margin = one;
    for (int j = 0; j < N; ++j) {
      e[j] = make_contact_equations(in.regime[j], in.mu[j], solvers::contact<S, N>(in.c, j),
                                    solvers::contact<S, N>(in.a, j), size);
      out.margin = min(out.margin, e[j].margin);
      for (int col = 0; col < 3 * N; ++col)
        for (int r = 0; r < 3; ++r) {
          S sum = col / 3 == j ? e[j].Q(r, col % 3) : zero;
          for (int k = 0; k < 3; ++k) sum = fma(e[j].P(r, k), in.A(3 * j + k, col), sum);
          K(col, 3 * j + r) = sum;
        }
    }
    const auto factors = factor_lu(K);
    const Vec<S, 3 * N> y = solve(factors, in.cotangent);
    for (int j = 0; j < N; ++j) {
      S along = zero;
      for (int k = 0; k < 3; ++k) {
        S sum = zero;
        for (int r = 0; r < 3; ++r) sum = fma(e[j].P(r, k), y[3 * j + r], sum);
        out.b[3 * j + k] = -sum;
        along = fma(y[3 * j + k], e[j].friction[k], along);
      }
      out.mu[j] = -along;
    }
    // An unsolved problem has no derivatives: its forces are NaN, and comparisons ignore NaN.
    const auto regular = factors.bad_pivots == zero && out.margin > zero && is_finite(forces + free);
    out.margin = select(regular, out.margin, zero);
    return out;
  }
};

}  // namespace garra::contact
