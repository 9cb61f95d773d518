// The friction problem of a single contact, solved exactly, for the sweeps of Gauss-Seidel.
//
//   a = W c + b,   0 <= c_n ⟂ a_n >= 0,   |c_T| <= mu c_n,   mu c_n a_T + |a_T| c_T = 0
//
// Three cases, taken in this order (docs/theory/friction-cone-solvers.md):
//
//     open    b_n >= 0:                     c = 0                                                          (1a)
//     stick   -W^-1 b in the cone:          c = -W^-1 b, so a = 0                                          (1b)
//     slip    otherwise:                    a_n = 0, a_T = -gamma c_T with gamma > 0, |c_T| = mu c_n       (1c)
//
// Slip. Without c_n (Schur complement of W_nn) the tangential rows are (S + gamma I) c_T = -q with
//     S = W_TT - W_Tn W_nT / W_nn,   q = b_T - W_Tn b_n / W_nn                                             (2)
//
// Therefore c_T = -x / p, c_n = n / (W_nn p) with
//     x = adj(S) q + gamma q,   p = gamma^2 + gamma tr S + det S,   n = -b_n p + W_nT x                    (3)
//
// The cone's boundary requires n(gamma) / |x(gamma)| = W_nn / mu. The quotient is nearly linear in
// gamma, as 1/|c| is in the trust-region problem (M. D. Hebden, AERE TP 515, 1973; J. J. Moré, D.
// C. Sorensen, SIAM J. Sci. Stat. Comput. 4, 1983). It is linear if S is a multiple of I. Because
// |x| <= |adj(S) q| + gamma |q|, the positive root of
//     -b_n p + W_nT x = (W_nn / mu) (|adj(S) q| + gamma |q|)                                               (4)
//
// is an upper bound, exact in that case, and Newton starts there.
//
// The equation is a quartic, cf. O. Bonnefon, G. Daviet, Inria report RT-0414, 2011, who solve for
// its roots. If there are several solutions, stick is preferred to slip, and the slip is the one
// that Newton meets on its way down from (4).
#pragma once

#include "garra/core/mat.hpp"

namespace garra::solvers {

namespace one_contact {

/// Terms of the contact's solution that depend on W only.
template <class S>
struct Reduced {
  S nn;              ///< W_nn, or a substitute where it vanishes
  S nt, no;          ///< W_nT
  S tn, on;          ///< W_Tn / W_nn
  S tt, to, ot, oo;  ///< S of (2)
};

/// Added to the diagonal of S, relative to W_TT, if det S is rounding noise. It selects the
/// shortest of a singular block's many forces; the error in a_T is of the size of rounding.
inline constexpr double kRegularization = 1e-14;
inline constexpr double kSingular = 1e-13;  ///< S is singular: det S <= this x (largest diagonal entry of W_TT)^2

template <class S>
GARRA_HD Reduced<S> reduce(const Mat3<S>& W) {
  const S tangential = max(abs(W(1, 1)), abs(W(2, 2)));
  const S block = max(abs(W(0, 0)), tangential);
  const S size = select(block > S(0), block, S(1));
  Reduced<S> r;
  r.nn = select(W(0, 0) > S(0), W(0, 0), size);
  const S inv = S(1) / r.nn;
  r.nt = W(0, 1);
  r.no = W(0, 2);
  r.tn = W(1, 0) * inv;
  r.on = W(2, 0) * inv;
  r.tt = fma(-r.tn, r.nt, W(1, 1));
  r.to = fma(-r.tn, r.no, W(1, 2));
  r.ot = fma(-r.on, r.nt, W(2, 1));
  r.oo = fma(-r.on, r.no, W(2, 2));
  const auto singular = abs(fma(r.tt, r.oo, -(r.to * r.ot))) <= S(kSingular) * (tangential * tangential);
  const S extra = S(kRegularization) * select(tangential > S(0), tangential, size);
  r.tt += select(singular, extra, S(0));
  r.oo += select(singular, extra, S(0));
  return r;
}

template <class S>
struct Tangential {
  S t, o;
};

/// c_T with (S + gamma I) c_T = -q, eliminating from the larger diagonal entry: unlike (3) with p = 0 nearby, this
/// keeps the digits of a nearly singular S.
template <class S>
GARRA_HD Tangential<S> tangential_force(const Reduced<S>& r, const Tangential<S>& q, const S& gamma) {
  const S tt = r.tt + gamma, oo = r.oo + gamma;
  const auto swap = abs(oo) > abs(tt);
  const S a11 = select(swap, oo, tt), a22 = select(swap, tt, oo);
  const S a12 = select(swap, r.ot, r.to), a21 = select(swap, r.to, r.ot);
  const S q1 = select(swap, q.o, q.t), q2 = select(swap, q.t, q.o);
  const S inv = S(1) / select(a11 == S(0), S(1), a11);
  const S l = a21 * inv;
  const S pivot = fma(-l, a12, a22);
  const S x2 = -fma(-l, q1, q2) / select(pivot == S(0), S(1), pivot);
  const S x1 = -fma(a12, x2, q1) * inv;
  return {select(swap, x2, x1), select(swap, x1, x2)};
}

/// Most Newton steps; two to four are usual, and halving a bracket of 15 digits needs fewer.
inline constexpr int kSlipSteps = 60;
inline constexpr double kSlipTolerance =
    1e-6;                                ///< Newton is done: its step <= this x gamma (the error then is its square)
inline constexpr int kTurns = 1;         ///< corrections of the direction after that
inline constexpr double kMaxTurn = 0.1;  ///< a correction above this [rad] is omitted

/// gamma of (1c) if `slips`, by Newton on n / |x| = W_nn / mu within a bracket.
template <class S>
GARRA_HD S slip_multiplier(const Reduced<S>& r, const Tangential<S>& q, const S& load, const S& mu, MaskOf<S> slips) {
  const S ut = fma(r.oo, q.t, -(r.to * q.o)), uo = fma(r.tt, q.o, -(r.ot * q.t));  // adj(S) q
  const S trace = r.tt + r.oo, det = fma(r.tt, r.oo, -(r.to * r.ot));
  const S ratio = r.nn / mu;
  const S wq = fma(r.nt, q.t, r.no * q.o), wu = fma(r.nt, ut, r.no * uo);
  // (4): load g^2 + B g + C = 0
  const S B = fma(load, trace, wq) - ratio * sqrt(fma(q.t, q.t, q.o * q.o));
  const S C = fma(load, det, wu) - ratio * sqrt(fma(ut, ut, uo * uo));
  const S root = sqrt(max(fma(B, B, S(-4) * load * C), S(0)));
  const auto cancels = B > S(0);
  S hi = select(cancels, S(-2) * C, root - B) / select(cancels, B + root, load + load);
  // c_T has a pole where p = 0, which a definite S has below 0.
  S lo = max(S(0.5) * (sqrt(max(fma(trace, trace, S(-4) * det), S(0))) - trace), S(0));
  hi = max(min(hi, S(1e100)), lo);
  S g = hi;
  for (int k = 0; k < kSlipSteps; ++k) {
    if (!any(slips)) break;
    const S xt = fma(g, q.t, ut), xo = fma(g, q.o, uo);
    const S x2 = fma(xt, xt, xo * xo), qx = fma(q.t, xt, q.o * xo);
    const S n = fma(load, fma(g, g + trace, det), fma(r.nt, xt, r.no * xo));
    const S dn = fma(load, g + g + trace, wq);
    const S gap = fma(-ratio, sqrt(x2), n);
    const S step = -(gap * x2) / fma(dn, x2, -(n * qx));
    lo = select(slips && gap < S(0), g, lo);
    hi = select(slips && gap >= S(0), g, hi);
    const auto done = abs(step) <= S(kSlipTolerance) * g;
    const S newton = g + step, middle = S(0.5) * (lo + hi);
    const S next = select(done || (newton >= lo && newton <= hi), newton, middle);
    const auto stuck = next == g;
    g = select(slips, next, g);
    slips = slips && !done && !stuck;
  }
  return g;
}

/// The force with |c_T| = mu c_n and a_n = 0 in a direction, and how it changes as the direction turns.
template <class S>
struct SlipForce {
  S cn;       ///< -b_n / (W_nn + mu W_nT d)
  S turning;  ///< d c_n / d theta over c_n
};
template <class S>
GARRA_HD SlipForce<S> slip_force(const Reduced<S>& r, const Tangential<S>& d, const S& load, const S& mu) {
  const S yields = fma(mu, fma(r.nt, d.t, r.no * d.o), r.nn);
  // Not positive only if a larger force speeds up the approach (unsymmetric or indefinite block).
  const S inv = S(1) / select(yields > S(kRegularization) * r.nn, yields, r.nn);
  return {load * inv, -(mu * fma(r.no, d.t, -(r.nt * d.o))) * inv};
}

template <class S>
GARRA_HD Tangential<S> unit(const Tangential<S>& v) {
  const S length = sqrt(fma(v.t, v.t, v.o * v.o));
  const S inv = S(1) / select(length > S(0), length, S(1));
  return {v.t * inv, v.o * inv};
}

/// One Newton step on the angle for a_T parallel to d: restores digits if S is nearly singular.
template <class S>
GARRA_HD Tangential<S> turned(const Reduced<S>& r, const Tangential<S>& q, const Tangential<S>& d, const S& load,
                              const S& mu) {
  const SlipForce<S> f = slip_force(r, d, load, mu);
  const S length = mu * f.cn;
  const S Sdt = fma(r.tt, d.t, r.to * d.o), Sdo = fma(r.ot, d.t, r.oo * d.o);
  const S Set = fma(r.to, d.t, -(r.tt * d.o)),
          Seo = fma(r.oo, d.t, -(r.ot * d.o));  // S times e, e = d turned by 90 deg
  const S at = fma(length, Sdt, q.t), ao = fma(length, Sdo, q.o);
  const S across = fma(d.t, ao, -(d.o * at)), along = fma(d.t, at, d.o * ao);
  const S e_S_e = fma(d.t, Seo, -(d.o * Set)), e_S_d = fma(d.t, Sdo, -(d.o * Sdt));
  const S slope = fma(length, fma(f.turning, e_S_d, e_S_e), -along);
  const S step = -across / select(slope == S(0), S(1), slope);
  const S angle = select(abs(step) <= S(kMaxTurn), step, S(0));
  return unit(Tangential<S>{fma(-angle, d.o, d.t), fma(angle, d.t, d.o)});
}

/// Force of (1c) from gamma.
template <class S>
GARRA_HD Vec3<S> slip(const Reduced<S>& r, const Tangential<S>& q, const S& gamma, const S& load, const S& mu) {
  Tangential<S> d = unit(tangential_force(r, q, gamma));
  for (int k = 0; k < kTurns; ++k) d = turned(r, q, d, load, mu);
  const S cn = slip_force(r, d, load, mu).cn;
  return vec3<S>(cn, (mu * d.t) * cn, (mu * d.o) * cn);
}

}  // namespace one_contact

/// The force of (1). W may be unsymmetric or singular. The force is finite for finite input, and a
/// solution if the symmetric part of W is positive definite.
template <class S>
[[nodiscard]] GARRA_HD Vec3<S> solve_one_contact(const Mat3<S>& W, const Vec3<S>& b, const S& mu) {
  using namespace one_contact;
  const S load = -b[0];
  const auto pressed = load > S(0);
  const Reduced<S> r = reduce(W);
  const Tangential<S> q{fma(r.tn, load, b[1]), fma(r.on, load, b[2])};
  const Tangential<S> held = tangential_force(r, q, S(0));
  const S cn = -fma(r.nt, held.t, fma(r.no, held.o, b[0])) / r.nn;
  const auto sticks = sqrt(fma(held.t, held.t, held.o * held.o)) <= mu * cn;
  const auto frictionless = mu <= S(0);
  const auto slips = pressed && !sticks && !frictionless;
  Vec3<S> c = vec3<S>(cn, held.t, held.o);
  if (any(slips)) {
    const S gamma = slip_multiplier(r, q, load, select(frictionless, S(1), mu), slips);
    c = select(slips, slip(r, q, gamma, load, mu), c);
  }
  c = select(frictionless, vec3<S>(load / r.nn, S(0), S(0)), c);
  return select(pressed, c, Vec3<S>::zero());
}

}  // namespace garra::solvers
