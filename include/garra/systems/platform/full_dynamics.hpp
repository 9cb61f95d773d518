// Dynamics in the paper's 91 coordinates, (8): M q" + Phi_q^T lambda = Q, Phi_q q" = gamma, by the
// blocks of full.hpp (docs/theory/platform-dynamics.md). The links' columns give each leg's
// multipliers as functions of its driving one, the platform's columns a 6 x 6 system. The
// constraints are not assumed to hold: between corrections they do not.
#pragma once

#include "garra/systems/platform/dynamics.hpp"
#include "garra/systems/platform/full.hpp"

namespace garra::platform {

/// Coordinates and their rates, whose quaternions are dp/dt.
template <class S>
struct FullMotion {
  FullPlace<S> at, rate;
};

/// Baumgarte's stabilization: gamma - 2 alpha Phi' - alpha^2 Phi. 0: none.
struct Baumgarte {
  double alpha;  ///< [1/s]
};

/// Vector part of conj(a) o b: the rows of G(a) times b.
template <class S>
GARRA_HD Vec3<S> body_part(const Quaternion<S>& a, const Quaternion<S>& b) {
  const Quaternion<S> p = product(conjugate(a), b);
  return {{p[1], p[2], p[3]}};
}

/// A body's mass in the directions of Body: the paper's 4 G^T J G, and the term 8 G'^T J G' p.
template <class S>
struct BodyMass {
  S mass;
  Mat3<S> inertia;  ///< of turns about the base's axes
  Vec3<S> gyro;
  S spin;  ///< along p
};

/// `times`: the tensor in body axes times a vector.
template <class S, class Times>
GARRA_HD BodyMass<S> compute_body_mass(const S& mass, const Quaternion<S>& p, const Quaternion<S>& rate,
                                       Times&& times) {
  const Body<S> b = make_body(p);
  const Vec3<S> w = S(2) * body_part(p, rate), Jw = times(w);
  BodyMass<S> m;
  m.mass = mass;
  m.spin = S(2) * dot(w, Jw);
  Vec3<S> turn[3];
  for (int j = 0; j < 3; ++j) {
    turn[j] = S(2) * body_part(p, b.about[j]);
    m.gyro[j] = S(4) * dot(body_part(rate, b.about[j]), Jw);
  }
  for (int k = 0; k < 3; ++k) {
    const Vec3<S> Jt = times(turn[k]);
    for (int j = 0; j < 3; ++j) m.inertia(j, k) = dot(turn[j], Jt);
  }
  return m;
}

template <class S>
GARRA_HD BodyMass<S> link_mass(const S& mass, const Vec3<S>& principal, const Quaternion<S>& p,
                               const Quaternion<S>& rate) {
  return compute_body_mass(mass, p, rate, [&](const Vec3<S>& a) {
    return vec3<S>(principal[0] * a[0], principal[1] * a[1], principal[2] * a[2]);
  });
}

/// Minus gamma: second derivatives of a leg's equations with zero accelerations of the coordinates
/// and of the driven length, including Baumgarte's terms.
template <class S, class T>
GARRA_HD_CALL LegMove<S> leg_gamma(const LegForm<T>& leg, const FullMotion<S>& q, int i, const Baumgarte& keep) {
  const Place<S>&lower = q.at.lower[i], &upper = q.at.upper[i];
  const Quaternion<S>&lp = q.rate.lower[i].p, &up = q.rate.upper[i].p;
  const Mat3<S> I = Mat3<S>::identity(), L = full_rotation(lower.p), U = full_rotation(upper.p);
  const Vec3<S> ex = matrix_column(I, 0), ey = matrix_column(I, 1), ez = matrix_column(I, 2), s = cast<S>(leg.anchor);
  const Vec3<S> x = matrix_column(L, 0), y = matrix_column(L, 1), D = upper.r - lower.r;
  const Vec3<S> uy = matrix_column(U, 1), uz = matrix_column(U, 2), k = cast<S>(leg.axis);
  const Vec3<S> x1 = turned(lower.p, lp, ex), y1 = turned(lower.p, lp, ey), z1 = turned(lower.p, lp, ez);
  const Vec3<S> x2 = turned(lp, lp, ex), y2 = turned(lp, lp, ey), z2 = turned(lp, lp, ez);
  const Vec3<S> uy1 = turned(upper.p, up, ey), uz1 = turned(upper.p, up, ez);
  const Vec3<S> uy2 = turned(up, up, ey), uz2 = turned(up, up, ez);
  const Vec3<S> D1 = q.rate.upper[i].r - q.rate.lower[i].r;
  const Quaternion<S>& cp = q.rate.platform.p;
  const S c1(leg.lower_com), c2(leg.upper_com), two(2);
  LegMove<S> g;
  g.g.universal = -c1 * z2;
  g.g.angles = {{dot(k, x2), dot(x2, uz) + two * dot(x1, uz1) + dot(x, uz2),
                 dot(y2, uz) + two * dot(y1, uz1) + dot(y, uz2), dot(x2, D) + two * dot(x1, D1),
                 dot(y2, D) + two * dot(y1, D1), dot(x2, uy) + two * dot(x1, uy1) + dot(x, uy2)}};
  g.g.spherical = c2 * uz2 - turned(cp, cp, s);
  g.g.driving = dot(z2, D) + two * dot(z1, D1);
  S lower_norm = two * dot(lp, lp), upper_norm = two * dot(up, up);
  if (keep.alpha > 0) {
    const S rate(2 * keep.alpha), place(keep.alpha * keep.alpha);
    const LegResidual<S> at = leg_residual(leg, q.at.platform, lower, upper, S(0));
    g.g.universal += rate * (q.rate.lower[i].r - c1 * z1) + place * at.universal;
    const Vec<S, 6> angles = {{dot(k, x1), dot(x1, uz) + dot(x, uz1), dot(y1, uz) + dot(y, uz1),
                               dot(x1, D) + dot(x, D1), dot(y1, D) + dot(y, D1), dot(x1, uy) + dot(x, uy1)}};
    g.g.angles += rate * angles + place * at.angles;
    g.g.spherical += rate * (q.rate.upper[i].r + c2 * uz1 - q.rate.platform.r - turned(q.at.platform.p, cp, s)) +
                     place * at.spherical;
    lower_norm += rate * (two * dot(lower.p, lp)) + place * norm_residual(lower.p);
    upper_norm += rate * (two * dot(upper.p, up)) + place * norm_residual(upper.p);
  }
  g.lower_norm_rate = norm_rate_for(lower.p, lower_norm);
  g.upper_norm_rate = norm_rate_for(upper.p, upper_norm);
  return g;
}

/// The share of p in p" of the platform.
template <class S>
GARRA_HD S platform_norm_rate(const FullMotion<S>& q, const Baumgarte& keep) {
  const Quaternion<S>&p = q.at.platform.p, &rate = q.rate.platform.p;
  S norm = S(2) * dot(rate, rate);
  if (keep.alpha > 0) norm += S(4 * keep.alpha) * dot(p, rate) + S(keep.alpha * keep.alpha) * norm_residual(p);
  return norm_rate_for(p, norm);
}

/// A leg whose links' accelerations are known except for the spherical joint's part.
template <class S>
struct FullLeg {
  LegBlock<S> block;
  Mat<S, 6, 6> inverse;  ///< of block.K
  LegMove<S> move;
  Vec<S, 6> turns;  ///< of a resting joint
  BodyMass<S> lower, upper;
  Turns<S> ds;  ///< of the spherical joint with the platform
};

template <class S>
GARRA_HD Vec<S, 6> turns_for(const FullLeg<S>& l, const Vec3<S>& joint) {
  const S mx = dot(l.block.ends.x, joint), my = dot(l.block.ends.y, joint);
  Vec<S, 6> w;
  for (int j = 0; j < 6; ++j) w[j] = fnma(l.inverse(j, 4), my, fnma(l.inverse(j, 3), mx, l.turns[j]));
  return w;
}

template <class S>
GARRA_HD_CALL Mat<S, 6, 6> invert_matrix(const Mat<S, 6, 6>& a) {
  return solve(factor_lu(a), Mat<S, 6, 6>::identity());
}

template <class S, class T>
GARRA_HD_CALL FullLeg<S> full_leg(const Model<T>& m, const FullMotion<S>& q, int i, const Baumgarte& keep) {
  const LegForm<T>& leg = m.leg[i];
  FullLeg<S> l;
  l.block = leg_block(leg, q.at.lower[i], q.at.upper[i]);
  l.inverse = invert_matrix(l.block.K);
  l.move = leg_gamma(leg, q, i, keep);
  l.turns = l.inverse * leg_right(l.block, l.move).angles;
  l.lower = link_mass(S(leg.lower_mass), cast<S>(leg.lower_inertia), q.at.lower[i].p, q.rate.lower[i].p);
  l.upper = link_mass(S(leg.upper_mass), cast<S>(leg.upper_inertia), q.at.upper[i].p, q.rate.upper[i].p);
  l.ds = compute_turns(make_body(q.at.platform.p), cast<S>(leg.anchor));
  return l;
}

/// Multipliers of a leg's equations as functions of its driving one: value - slope * driving.
template <class S>
struct LegForces {
  Vec3<S> lower, upper;       ///< mass * (gravity - acceleration) of the links
  Vec<S, 6> angles, slope;    ///< the angles' multipliers
  Vec3<S> spherical, normal;  ///< the spherical joint's: force on the platform
};

/// Computes the forces for the links' accelerations; `gyro`: 1, or 0 for the effect of a change of
/// accelerations (then without gravity).
template <class S>
GARRA_HD LegForces<S> leg_forces(const FullLeg<S>& l, const LinkChanges<S>& a, const Vec3<S>& gravity, const S& gyro) {
  const LegEnds<S>& e = l.block.ends;
  LegForces<S> f;
  f.lower = l.lower.mass * (gravity - a.lower.r);
  f.upper = l.upper.mass * (gravity - a.upper.r);
  const Vec3<S> ml = gyro * l.lower.gyro + l.lower.inertia * a.lower.turn;
  const Vec3<S> mu = gyro * l.upper.gyro + l.upper.inertia * a.upper.turn;
  Vec<S, 6> moment;
  for (int j = 0; j < 3; ++j) {
    moment[j] = e.c1 * dot(e.dz.by[j], f.lower) - ml[j];
    moment[j + 3] = -e.c2 * dot(e.duz.by[j], f.upper) - mu[j];
  }
  f.angles = transpose_times(l.inverse, moment);
  f.slope = transpose_times(l.inverse, l.block.drive);
  f.spherical = f.upper - f.angles[3] * e.x - f.angles[4] * e.y;
  f.normal = e.z - f.slope[3] * e.x - f.slope[4] * e.y;
  return f;
}

/// All multipliers in the order of the equations: 12 per leg, 6 driving ones, 13 norms.
template <class S>
using Multipliers = Vec<S, kFullCoordinates>;

template <class S>
GARRA_HD void put_multipliers(const FullPlace<S>& q, const FullLeg<S>& l, const LegForces<S>& f, const S& driving,
                              int i, Multipliers<S>& to) {
  const LegBlock<S>& b = l.block;
  const LegEnds<S>& e = b.ends;
  const Vec<S, 6> a = f.angles - driving * f.slope;
  const Vec3<S> spherical = f.spherical - driving * f.normal;
  const Vec3<S> universal = f.lower + (a[3] * e.x + (a[4] * e.y + driving * e.z));
  for (int k = 0; k < 3; ++k) to[12 * i + k] = universal[k], to[12 * i + 9 + k] = spherical[k];
  for (int k = 0; k < 6; ++k) to[12 * i + 3 + k] = a[k];
  to[72 + i] = driving;
  const S lower = dot(b.dx.length, a[0] * b.axis + (a[1] * b.uz + (a[3] * b.D + a[5] * b.uy))) +
                  dot(b.dy.length, a[2] * b.uz + a[4] * b.D) + dot(e.dz.length, driving * b.D - e.c1 * universal);
  const S upper = dot(e.duz.length, e.c2 * spherical + (a[1] * e.x + a[2] * e.y)) + a[5] * dot(b.duy.length, e.x);
  to[79 + 2 * i] = S(0.5) * (l.lower.spin - lower) / dot(q.lower[i].p, q.lower[i].p);
  to[80 + 2 * i] = S(0.5) * (l.upper.spin - upper) / dot(q.upper[i].p, q.upper[i].p);
}

/// Adds the effect of a force at the spherical joint in the platform's six directions.
template <class S>
GARRA_HD void add_at_joint(const Turns<S>& ds, const Vec3<S>& force, Vec<S, 6>& to) {
  for (int k = 0; k < 3; ++k) to[k] += force[k], to[k + 3] += dot(ds.by[k], force);
}

template <class S, class T>
GARRA_HD BodyMass<S> platform_mass(const Model<T>& m, const FullMotion<S>& q) {
  return compute_body_mass(S(m.mass), q.at.platform.p, q.rate.platform.p,
                           [&](const Vec3<S>& a) { return times_inertia(m, a); });
}

/// The norm's multiplier of the platform.
template <class S>
GARRA_HD S platform_norm_multiplier(const FullPlace<S>& q, const BodyMass<S>& body, const S& joints) {
  return S(0.5) * (body.spin + joints) / dot(q.platform.p, q.platform.p);
}

/// Rates of all coordinates from the platform's: Phi_q q' = 0 except for the driving rows.
template <class S, class T>
GARRA_HD_CALL FullPlace<S> full_rate(const Model<T>& m, const FullPlace<S>& q, const Twist6<S>& t) {
  const Body<S> body = make_body(q.platform.p);
  const S zero(0);
  FullPlace<S> rate;
  rate.platform = {t.v, changed_quaternion(body, BodyChange<S>{t.v, t.w, zero})};
  for (int i = 0; i < kLegs; ++i) {
    const LegForm<T>& leg = m.leg[i];
    const LegBlock<S> e = leg_block(leg, q.lower[i], q.upper[i]);
    const Vec3<S> joint = t.v + along(compute_turns(body, cast<S>(leg.anchor)), zero, t.w);
    Vec<S, 6> right = Vec<S, 6>::zero();
    right[3] = -dot(e.ends.x, joint), right[4] = -dot(e.ends.y, joint);
    const LegMove<S> rest{{Vec3<S>::zero(), Vec<S, 6>::zero(), Vec3<S>::zero(), zero}, zero, zero};
    const LinkChanges<S> links = link_changes(e.ends, rest, solve(factor_lu(e.K), right), joint);
    rate.lower[i] = {links.lower.r, changed_quaternion(make_body(q.lower[i].p), links.lower)};
    rate.upper[i] = {links.upper.r, changed_quaternion(make_body(q.upper[i].p), links.upper)};
  }
  return rate;
}

/// Angular velocity of a body from its rate: about the base's axes.
template <class S>
GARRA_HD Vec3<S> turning(const Quaternion<S>& p, const Quaternion<S>& rate) {
  const Quaternion<S> w = product(rate, conjugate(p));
  const S scale = S(2) / dot(p, p);
  return {{scale * w[1], scale * w[2], scale * w[3]}};
}

/// Computes the energy body by body.
template <class S, class T>
GARRA_HD_CALL Energy<S> full_energy(const Model<T>& m, const FullMotion<S>& q) {
  const Vec3<S> gravity = cast<S>(m.gravity);
  Energy<S> e{S(0), S(0)};
  const auto add = [&](const Place<S>& at, const Place<S>& rate, const BodyMass<S>& body) {
    e.kinetic += fma(S(0.5) * body.mass, dot(rate.r, rate.r), S(0.25) * body.spin);
    e.potential -= body.mass * dot(gravity, at.r);
  };
  add(q.at.platform, q.rate.platform, platform_mass(m, q));
  for (int i = 0; i < kLegs; ++i) {
    const LegForm<T>& leg = m.leg[i];
    const Place<S>&l = q.rate.lower[i], &u = q.rate.upper[i];
    add(q.at.lower[i], l, link_mass(S(leg.lower_mass), cast<S>(leg.lower_inertia), q.at.lower[i].p, l.p));
    add(q.at.upper[i], u, link_mass(S(leg.upper_mass), cast<S>(leg.upper_inertia), q.at.upper[i].p, u.p));
  }
  return e;
}

template <class S>
struct FullInverse {
  Multipliers<S> lambda;  ///< forces of the actuators: minus the driving ones
  S power;                ///< d(T + V)/dt, body by body
};

/// All multipliers of a motion.
template <class S, class T>
GARRA_HD_CALL FullInverse<S> full_inverse_dynamics(const Model<T>& m, const Place<S>& place, const Twist6<S>& twist,
                                                   const Twist6<S>& acceleration, const Wrench6<S>& wrench) {
  const Baumgarte plain{0};
  FullMotion<S> q;
  q.at = full_place(m, place);
  q.rate = full_rate(m, q.at, twist);
  const BodyMass<S> body = platform_mass(m, q);
  const S norm_rate = platform_norm_rate(q, plain), one(1);
  const Vec3<S> gravity = cast<S>(m.gravity);
  const Vec3<S> force = body.mass * (acceleration.v - gravity), moment = body.gyro + body.inertia * acceleration.w;
  Vec<S, 6> right{{force[0] - wrench.force[0], force[1] - wrench.force[1], force[2] - wrench.force[2],
                   moment[0] - wrench.moment[0], moment[1] - wrench.moment[1], moment[2] - wrench.moment[2]}};
  FullInverse<S> out;
  out.power = dot(force, twist.v) + dot(moment, twist.w);
  FullLeg<S> leg[kLegs];
  LegForces<S> forces[kLegs];
  Mat<S, 6, 6> directions;
  for (int i = 0; i < kLegs; ++i) {
    FullLeg<S>& l = leg[i];
    l = full_leg(m, q, i, plain);
    const Vec3<S> joint = acceleration.v + along(l.ds, norm_rate, acceleration.w);
    const LinkChanges<S> a = link_changes(l.block.ends, l.move, turns_for(l, joint), joint);
    forces[i] = leg_forces(l, a, gravity, one);
    Vec<S, 6> share = Vec<S, 6>::zero(), direction = share;
    add_at_joint(l.ds, forces[i].spherical, share);
    add_at_joint(l.ds, forces[i].normal, direction);
    right -= share;
    for (int k = 0; k < 6; ++k) directions(k, i) = direction[k];
    out.power -= dot(forces[i].lower, q.rate.lower[i].r) + dot(forces[i].upper, q.rate.upper[i].r);
    out.power += dot(l.lower.gyro + l.lower.inertia * a.lower.turn, turning(q.at.lower[i].p, q.rate.lower[i].p)) +
                 dot(l.upper.gyro + l.upper.inertia * a.upper.turn, turning(q.at.upper[i].p, q.rate.upper[i].p));
  }
  const Vec<S, 6> f = solve(factor_lu(directions), right);
  S joints(0);
  for (int i = 0; i < kLegs; ++i) {
    put_multipliers(q.at, leg[i], forces[i], -f[i], i, out.lambda);
    joints += dot(leg[i].ds.length, forces[i].spherical + f[i] * forces[i].normal);
  }
  out.lambda[78] = platform_norm_multiplier(q.at, body, joints);
  return out;
}

/// Accelerations of all coordinates under forces of the actuators.
template <class S, class T>
GARRA_HD_CALL FullPlace<S> full_acceleration(const Model<T>& m, const FullMotion<S>& q, const Vec<S, 6>& force,
                                             const Wrench6<S>& wrench, const Baumgarte& keep, Multipliers<S>* lambda) {
  const BodyMass<S> body = platform_mass(m, q);
  const S one(1), zero(0);
  const Vec3<S> gravity = cast<S>(m.gravity), none = Vec3<S>::zero();
  BodyChange<S> c;
  c.norm_rate = platform_norm_rate(q, keep);
  Vec<S, 6> right{{fma(body.mass, gravity[0], wrench.force[0]), fma(body.mass, gravity[1], wrench.force[1]),
                   fma(body.mass, gravity[2], wrench.force[2]), wrench.moment[0] - body.gyro[0],
                   wrench.moment[1] - body.gyro[1], wrench.moment[2] - body.gyro[2]}};
  Mat<S, 6, 6> mass = Mat<S, 6, 6>::zero();
  for (int j = 0; j < 3; ++j) {
    mass(j, j) = body.mass;
    for (int k = 0; k < 3; ++k) mass(3 + j, 3 + k) = body.inertia(j, k);
  }
  FullLeg<S> leg[kLegs];
  for (int i = 0; i < kLegs; ++i) {
    FullLeg<S>& l = leg[i];
    l = full_leg(m, q, i, keep);
    const LegEnds<S>& e = l.block.ends;
    const Vec3<S> start = c.norm_rate * l.ds.length;  // of the joint, while the platform's six rest
    const LegForces<S> f = leg_forces(l, link_changes(e, l.move, turns_for(l, start), start), gravity, one);
    add_at_joint(l.ds, f.spherical + force[i] * f.normal, right);
    // the joint's force per acceleration of the joint along the base's axes
    const LegMove<S> still{{none, Vec<S, 6>::zero(), none, zero}, zero, zero};
    Vec<S, 6> pull[3], push[3];
    for (int k = 0; k < 3; ++k) {
      Vec3<S> axis = none;
      axis[k] = one;
      Vec<S, 6> w;
      for (int j = 0; j < 6; ++j) w[j] = -fma(l.inverse(j, 4), e.y[k], l.inverse(j, 3) * e.x[k]);
      const LegForces<S> d = leg_forces(l, link_changes(e, still, w, axis), none, zero);
      pull[k] = push[k] = Vec<S, 6>::zero();
      add_at_joint(l.ds, -d.spherical, push[k]);
      add_at_joint(l.ds, axis, pull[k]);
    }
    for (int r = 0; r < 6; ++r)
      for (int s = 0; s < 6; ++s)
        mass(r, s) = fma(push[0][r], pull[0][s], fma(push[1][r], pull[1][s], fma(push[2][r], pull[2][s], mass(r, s))));
  }
  const Vec<S, 6> a = solve(factor_lu(mass), right);
  c.r = {{a[0], a[1], a[2]}}, c.turn = {{a[3], a[4], a[5]}};
  FullPlace<S> to;
  to.platform = {c.r, changed_quaternion(make_body(q.at.platform.p), c)};
  S joints(0);
  for (int i = 0; i < kLegs; ++i) {
    const FullLeg<S>& l = leg[i];
    const Vec3<S> joint = c.r + along(l.ds, c.norm_rate, c.turn);
    const LinkChanges<S> links = link_changes(l.block.ends, l.move, turns_for(l, joint), joint);
    to.lower[i] = {links.lower.r, changed_quaternion(make_body(q.at.lower[i].p), links.lower)};
    to.upper[i] = {links.upper.r, changed_quaternion(make_body(q.at.upper[i].p), links.upper)};
    if (lambda == nullptr) continue;
    const LegForces<S> f = leg_forces(l, links, gravity, one);
    put_multipliers(q.at, l, f, -force[i], i, *lambda);
    joints += dot(l.ds.length, f.spherical + force[i] * f.normal);
  }
  if (lambda != nullptr) (*lambda)[78] = platform_norm_multiplier(q.at, body, joints);
  return to;
}

}  // namespace garra::platform
