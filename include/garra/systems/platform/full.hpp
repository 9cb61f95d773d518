// The paper's general form of a platform: 13 bodies of 7 coordinates (center of mass, Euler
// parameters), 72 joint + 6 driving + 13 norm equations, and its Newton-Raphson (6)-(7), in
// straight-line code (docs/theory/platform.md).
//
// The matrix is bordered: a leg's 14 coordinates couple only with its own 13 + 2 equations and the
// platform's 7 coordinates. Each body's four Euler parameters are converted to (rotation, length).
// The norm equations then give the lengths, the universal and spherical points the positions of the
// links. A 6 x 6 system per leg remains, then one of 6 for the platform. This is elimination with a
// fixed order of the 91 equations: every step is the full system's Newton step.
#pragma once

#include "garra/core/factor.hpp"
#include "garra/systems/platform/legs.hpp"

namespace garra::platform {

inline constexpr int kFullCoordinates = 91;

/// Coordinates of the 13 bodies, in the paper's order: platform, then each leg's lower, upper link.
template <class S>
struct FullPlace {
  Place<S> platform;
  Place<S> lower[kLegs], upper[kLegs];
};

/// A = (2 e0^2 - 1) I + 2 (e e^T + e0 skew(e)) without normalization, for parameters not unit yet.
/// Its derivative is turned(). (rotation_matrix() of quaternion.hpp uses |p| = 1 on its diagonal; with
/// it Newton loses its order.)
template <class S>
GARRA_HD Mat3<S> full_rotation(const Quaternion<S>& p) {
  Mat3<S> A = rotation_matrix(p);
  const S two(2), w = fma(two * p[0], p[0], S(-1));
  for (int k = 0; k < 3; ++k) A(k, k) = fma(two * p[k + 1], p[k + 1], w);
  return A;
}

/// Residual of a leg's equations: 12 of its joints, and its driving one.
template <class S>
struct LegResidual {
  Vec3<S> universal;  ///< r_l + A_l (0, 0, -c1) - b
  Vec<S, 6> angles;   ///< k.x_l; x_l.z_u, y_l.z_u; x_l.D, y_l.D; x_l.y_u with D = r_u - r_l
  Vec3<S> spherical;  ///< r_u + A_u (0, 0, c2) - r - A s
  S driving;          ///< z_l.D - (length - c1 - c2)
};

/// d(A u) for a change h of the Euler parameters p, which need not be unit.
template <class S>
GARRA_HD Vec3<S> turned(const Quaternion<S>& p, const Quaternion<S>& h, const Vec3<S>& u) {
  const Vec3<S> e{{p[1], p[2], p[3]}}, g{{h[1], h[2], h[3]}};
  const S two(2);
  return (two * h[0]) * (two * p[0] * u + cross(e, u)) + two * (dot(g, u) * e + (dot(e, u) * g + p[0] * cross(g, u)));
}

/// Changes of A u: for unit turns about the base's axes, and for p growing by p.
template <class S>
struct Turns {
  Vec3<S> by[3];
  Vec3<S> length;
};

/// Four directions in which Euler parameters change: three turns, which keep their length, and p itself.
template <class S>
struct Body {
  Quaternion<S> p, about[3];
};

template <class S>
GARRA_HD Body<S> make_body(const Quaternion<S>& p) {
  Body<S> b;
  b.p = p;
  for (int j = 0; j < 3; ++j) {
    Vec3<S> axis = Vec3<S>::zero();
    axis[j] = S(1);
    b.about[j] = quaternion_rate(p, axis);
  }
  return b;
}

template <class S>
GARRA_HD Turns<S> compute_turns(const Body<S>& b, const Vec3<S>& u) {
  Turns<S> t;
  for (int j = 0; j < 3; ++j) t.by[j] = turned(b.p, b.about[j], u);
  t.length = turned(b.p, b.p, u);
  return t;
}

/// The share of p by p's norm equation, whose residual or minus its gamma is `g`.
template <class S>
GARRA_HD S norm_rate_for(const Quaternion<S>& p, const S& g) {
  return S(-0.5) * g / dot(p, p);
}
template <class S>
GARRA_HD S norm_residual(const Quaternion<S>& p) {
  return dot(p, p) - S(1);
}

template <class S>
GARRA_HD Vec3<S> along(const Turns<S>& t, const S& norm_rate, const Vec3<S>& w) {
  return norm_rate * t.length + (w[0] * t.by[0] + (w[1] * t.by[1] + w[2] * t.by[2]));
}

template <class S>
GARRA_HD Vec3<S> matrix_column(const Mat3<S>& A, int j) {
  return {{A(0, j), A(1, j), A(2, j)}};
}

template <class S, class T>
GARRA_HD LegResidual<S> leg_residual(const LegForm<T>& leg, const Place<S>& platform, const Place<S>& lower,
                                     const Place<S>& upper, const S& length) {
  const Mat3<S> L = full_rotation(lower.p), U = full_rotation(upper.p);
  const Vec3<S> x = matrix_column(L, 0), y = matrix_column(L, 1), z = matrix_column(L, 2), D = upper.r - lower.r;
  const Vec3<S> uz = matrix_column(U, 2);
  LegResidual<S> g;
  g.universal = lower.r - S(leg.lower_com) * z - cast<S>(leg.base);
  g.angles = {{dot(cast<S>(leg.axis), x), dot(x, uz), dot(y, uz), dot(x, D), dot(y, D), dot(x, matrix_column(U, 1))}};
  g.spherical = upper.r + S(leg.upper_com) * uz - platform.r - full_rotation(platform.p) * cast<S>(leg.anchor);
  g.driving = dot(z, D) - (length - S(leg.lower_com) - S(leg.upper_com));
  return g;
}

/// The length in a leg's driving equation.
template <class S, class T>
GARRA_HD S driven_length(const LegForm<T>& leg, const FullPlace<S>& q, int i) {
  const Vec3<S> z = matrix_column(full_rotation(q.lower[i].p), 2);
  return dot(z, q.upper[i].r - q.lower[i].r) + S(leg.lower_com) + S(leg.upper_com);
}

template <class S>
GARRA_HD S larger(const S& a, const S& b) {
  return select(b <= a, a, b);  // a NaN in a is replaced, one in b stays: callers pass the value so far first
}

/// Largest magnitude of all 91 equations.
template <class S, class T>
GARRA_HD S full_residual(const Model<T>& m, const FullPlace<S>& q, const Vec<S, 6>& lengths) {
  S most = abs(norm_residual(q.platform.p));
  for (int i = 0; i < kLegs; ++i) {
    const LegResidual<S> g = leg_residual(m.leg[i], q.platform, q.lower[i], q.upper[i], lengths[i]);
    for (int k = 0; k < 3; ++k) most = larger(larger(most, abs(g.universal[k])), abs(g.spherical[k]));
    for (int k = 0; k < 6; ++k) most = larger(most, abs(g.angles[k]));
    most = larger(most, abs(g.driving));
    most = larger(larger(most, abs(norm_residual(q.lower[i].p))), abs(norm_residual(q.upper[i].p)));
  }
  return most;
}

/// The leg's axis and its derivatives.
template <class S>
struct LegEnds {
  Vec3<S> x, y, z;
  Turns<S> dz, duz;
  S c1, c2;
};

/// The columns of a leg's 13 equations, after its links' positions are eliminated: rows are those
/// of LegResidual's angles, columns turns of the lower and of the upper link about the base's axes.
template <class S>
struct LegBlock {
  LegEnds<S> ends;
  Vec3<S> D, uy, uz, axis;
  Turns<S> dx, dy, duy;
  Mat<S, 6, 6> K;
  Vec<S, 6> drive;  ///< of the driving equation
};

template <class S, class T>
GARRA_HD LegBlock<S> leg_block(const LegForm<T>& leg, const Place<S>& lower, const Place<S>& upper) {
  LegBlock<S> e;
  const Mat3<S> L = full_rotation(lower.p), U = full_rotation(upper.p);
  const Vec3<S> x = matrix_column(L, 0), y = matrix_column(L, 1), z = matrix_column(L, 2);
  e.D = upper.r - lower.r;
  e.uy = matrix_column(U, 1), e.uz = matrix_column(U, 2), e.axis = cast<S>(leg.axis);
  const Body<S> l = make_body(lower.p), u = make_body(upper.p);
  const Mat3<S> I = Mat3<S>::identity();
  e.ends = {x,
            y,
            z,
            compute_turns(l, matrix_column(I, 2)),
            compute_turns(u, matrix_column(I, 2)),
            S(leg.lower_com),
            S(leg.upper_com)};
  e.dx = compute_turns(l, matrix_column(I, 0)), e.dy = compute_turns(l, matrix_column(I, 1)),
  e.duy = compute_turns(u, matrix_column(I, 1));
  const Turns<S>&dz = e.ends.dz, &duz = e.ends.duz;
  Mat<S, 6, 6>& K = e.K;
  K = Mat<S, 6, 6>::zero();
  for (int j = 0; j < 3; ++j) {
    const Vec3<S> dl = -e.ends.c1 * dz.by[j], du = -e.ends.c2 * duz.by[j];  // of D
    K(0, j) = dot(e.axis, e.dx.by[j]);
    K(1, j) = dot(e.dx.by[j], e.uz), K(1, j + 3) = dot(x, duz.by[j]);
    K(2, j) = dot(e.dy.by[j], e.uz), K(2, j + 3) = dot(y, duz.by[j]);
    K(3, j) = dot(e.dx.by[j], e.D) + dot(x, dl), K(3, j + 3) = dot(x, du);
    K(4, j) = dot(e.dy.by[j], e.D) + dot(y, dl), K(4, j + 3) = dot(y, du);
    K(5, j) = dot(e.dx.by[j], e.uy), K(5, j + 3) = dot(x, e.duy.by[j]);
    e.drive[j] = dot(dz.by[j], e.D) + dot(z, dl), e.drive[j + 3] = dot(z, du);
  }
  return e;
}

/// Motion of a leg's links: part of a solution y of Phi_q y = -g (Newton step, rate, acceleration).
template <class S>
struct LegMove {
  LegResidual<S> g;
  S lower_norm_rate, upper_norm_rate;
};

/// Right sides of the six angles' equations and of the driving one, without the spherical joint's
/// displacement. Its components along x and y enter rows 3 and 4, along z the driving equation.
template <class S>
struct LegRight {
  Vec<S, 6> angles;
  S driving;
};

template <class S>
GARRA_HD LegRight<S> leg_right(const LegBlock<S>& e, const LegMove<S>& move) {
  const LegResidual<S>& g = move.g;
  const LegEnds<S>& at = e.ends;
  const S &sl = move.lower_norm_rate, &su = move.upper_norm_rate;
  const Vec3<S> zl = sl * at.dz.length, zu = su * at.duz.length, xl = sl * e.dx.length, yl = sl * e.dy.length;
  const Vec3<S> fixed = g.universal - g.spherical - at.c2 * zu - at.c1 * zl;  // of D
  LegRight<S> r;
  r.angles = {{-g.angles[0] - dot(e.axis, xl), -g.angles[1] - dot(xl, e.uz) - dot(at.x, zu),
               -g.angles[2] - dot(yl, e.uz) - dot(at.y, zu), -g.angles[3] - dot(xl, e.D) - dot(at.x, fixed),
               -g.angles[4] - dot(yl, e.D) - dot(at.y, fixed),
               -g.angles[5] - dot(xl, e.uy) - dot(at.x, su * e.duy.length)}};
  r.driving = -g.driving - dot(zl, e.D) - dot(at.z, fixed);
  return r;
}

/// Changes of a body's seven coordinates.
template <class S>
struct BodyChange {
  Vec3<S> r, turn;
  S norm_rate;
};
template <class S>
struct LinkChanges {
  BodyChange<S> lower, upper;
};

/// Computes changes from the turns of both links and the displacement of the spherical joint.
template <class S>
GARRA_HD LinkChanges<S> link_changes(const LegEnds<S>& e, const LegMove<S>& move, const Vec<S, 6>& w,
                                     const Vec3<S>& joint) {
  const Vec3<S> l{{w[0], w[1], w[2]}}, u{{w[3], w[4], w[5]}};
  return {{e.c1 * along(e.dz, move.lower_norm_rate, l) - move.g.universal, l, move.lower_norm_rate},
          {joint - e.c2 * along(e.duz, move.upper_norm_rate, u) - move.g.spherical, u, move.upper_norm_rate}};
}

/// The change of Euler parameters.
template <class S>
GARRA_HD Quaternion<S> changed_quaternion(const Body<S>& b, const BodyChange<S>& c) {
  return c.norm_rate * b.p + (c.turn[0] * b.about[0] + (c.turn[1] * b.about[1] + c.turn[2] * b.about[2]));
}

template <class S>
GARRA_HD Place<S> changed(const Place<S>& at, const BodyChange<S>& c) {
  return {at.r + c.r, at.p + changed_quaternion(make_body(at.p), c)};
}

template <class S, class T>
GARRA_HD LegMove<S> leg_newton(const LegForm<T>& leg, const Place<S>& platform, const Place<S>& lower,
                               const Place<S>& upper, const S& length) {
  return {leg_residual(leg, platform, lower, upper, length), norm_rate_for(lower.p, norm_residual(lower.p)),
          norm_rate_for(upper.p, norm_residual(upper.p))};
}

/// Reduced form of a leg's 15 equations: turns of its links as functions of the spherical joint's
/// displacement, and one equation for that displacement.
template <class S>
struct LegStep {
  LegEnds<S> ends;
  LegMove<S> move;
  Mat<S, 6, 3> turns;  ///< columns: constant, per x_l.displacement, per y_l.displacement (both to be subtracted)
  Vec3<S> normal;      ///< normal.displacement = value
  S value;
};

template <class S, class T>
GARRA_HD LegStep<S> eliminate_leg(const LegForm<T>& leg, const FullPlace<S>& q, int i, const S& length) {
  const LegBlock<S> e = leg_block(leg, q.lower[i], q.upper[i]);
  LegStep<S> s;
  s.ends = e.ends;
  s.move = leg_newton(leg, q.platform, q.lower[i], q.upper[i], length);
  const LegRight<S> r = leg_right(e, s.move);
  Mat<S, 6, 3> right = Mat<S, 6, 3>::zero();
  for (int j = 0; j < 6; ++j) right(j, 0) = r.angles[j];
  right(3, 1) = S(1), right(4, 2) = S(1);
  s.turns = solve(factor_lu(e.K), right);
  s.normal = e.ends.z - dot(e.drive, column(s.turns, 1)) * e.ends.x - dot(e.drive, column(s.turns, 2)) * e.ends.y;
  s.value = r.driving - dot(e.drive, column(s.turns, 0));
  return s;
}

template <class S>
GARRA_HD LinkChanges<S> compute_link_changes(const LegStep<S>& s, const Vec3<S>& joint) {
  const S mx = dot(s.ends.x, joint), my = dot(s.ends.y, joint);
  Vec<S, 6> w;
  for (int j = 0; j < 6; ++j) w[j] = fnma(s.turns(j, 2), my, fnma(s.turns(j, 1), mx, s.turns(j, 0)));
  return link_changes(s.ends, s.move, w, joint);
}

/// Does one step of (6)-(7).
template <class S, class T>
GARRA_HD_CALL FullPlace<S> full_newton_step(const Model<T>& m, const FullPlace<S>& q, const Vec<S, 6>& lengths) {
  const Body<S> body = make_body(q.platform.p);
  BodyChange<S> c;
  c.norm_rate = norm_rate_for(q.platform.p, norm_residual(q.platform.p));
  LegStep<S> step[kLegs];
  Mat<S, 6, 6> J;
  Vec<S, 6> right;
  for (int i = 0; i < kLegs; ++i) {
    const LegForm<T>& leg = m.leg[i];
    step[i] = eliminate_leg(leg, q, i, lengths[i]);
    const Turns<S> ds = compute_turns(body, cast<S>(leg.anchor));
    for (int j = 0; j < 3; ++j) {
      J(i, j) = step[i].normal[j];
      J(i, j + 3) = dot(step[i].normal, ds.by[j]);
    }
    right[i] = step[i].value - dot(step[i].normal, c.norm_rate * ds.length);
  }
  const Vec<S, 6> t = solve(factor_lu(J), right);
  c.r = {{t[0], t[1], t[2]}}, c.turn = {{t[3], t[4], t[5]}};
  FullPlace<S> to;
  to.platform = changed(q.platform, c);
  for (int i = 0; i < kLegs; ++i) {
    const LegForm<T>& leg = m.leg[i];
    const Vec3<S> joint = c.r + along(compute_turns(body, cast<S>(leg.anchor)), c.norm_rate, c.turn);
    const LinkChanges<S> links = compute_link_changes(step[i], joint);
    to.lower[i] = changed(q.lower[i], links.lower);
    to.upper[i] = changed(q.upper[i], links.upper);
  }
  return to;
}

/// Computes all links from the platform's pose, by (1)-(4): all but the driving equations hold.
template <class S, class T>
GARRA_HD_CALL FullPlace<S> full_place(const Model<T>& m, const Place<S>& place) {
  FullPlace<S> q;
  q.platform = {place.r, normalized(place.p)};
  const Mat3<S> A = full_rotation(q.platform.p);
  for (int i = 0; i < kLegs; ++i) {
    const LegForm<T>& leg = m.leg[i];
    const LegVector<S> l = leg_vector(leg, place.r, A);
    const LegFrame<S> f = leg_frame(cast<S>(leg.axis), l.z);
    const Quaternion<S> p = to_quaternion(f.x, f.y, f.z);
    q.lower[i] = {cast<S>(leg.base) + S(leg.lower_com) * f.z, p};
    q.upper[i] = {cast<S>(leg.base) + (l.d - S(leg.upper_com) * f.z), p};
  }
  return q;
}

template <class S>
struct FullForward {
  FullPlace<S> place;
  S residual;    ///< of all 91 equations
  S iterations;  ///< steps taken
};

/// Newton-Raphson from the guess's pose until every equation holds to `tolerance`, at most `most` steps;
/// finished lanes do not change.
template <class S, class T>
GARRA_HD FullForward<S> full_forward(const Model<T>& m, const Vec<S, 6>& lengths, const Place<S>& guess,
                                     double tolerance, int most) {
  FullForward<S> f{full_place(m, guess), S(0), S(0)};
  f.residual = full_residual(m, f.place, lengths);
  for (int k = 0; k < most; ++k) {
    const MaskOf<S> going = S(tolerance) < f.residual;
    if (!any(going)) break;
    const FullPlace<S> next = full_newton_step(m, f.place, lengths);
    const auto move = [&](Place<S>& at, const Place<S>& to) {
      for (int c = 0; c < 3; ++c) at.r[c] = select(going, to.r[c], at.r[c]);
      for (int c = 0; c < 4; ++c) at.p[c] = select(going, to.p[c], at.p[c]);
    };
    move(f.place.platform, next.platform);
    for (int i = 0; i < kLegs; ++i) {
      move(f.place.lower[i], next.lower[i]);
      move(f.place.upper[i], next.upper[i]);
    }
    f.residual = full_residual(m, f.place, lengths);
    f.iterations += select(going, S(1), S(0));
  }
  return f;
}

}  // namespace garra::platform
