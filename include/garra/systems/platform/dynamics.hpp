// Dynamics of the platform in its six coordinates, exact with all links and the spin that the
// universal joints force on the legs (docs/theory/platform-dynamics.md). A leg touches the platform
// at its spherical joint only, so it is replaced by the force that moves that joint. In the leg's
// frame this force is affine in the joint's acceleration with a diagonal matrix.
#pragma once

#include "garra/core/factor.hpp"
#include "garra/systems/platform/legs.hpp"
#include "garra/systems/platform/solve6.hpp"

namespace garra::platform {

/// Equations of motion: mass * (dv/dt, dw/dt) + bias = J^T f + wrench, with J the length Jacobian.
template <class S>
struct Balance {
  Mat<S, 6, 6> mass;  ///< rows: force at C, moment; columns: dv/dt, dw/dt
  Vec<S, 6> bias;     ///< velocity terms and weights
};

template <class S>
struct Energy {
  S kinetic;
  S potential;  ///< zero if all centers of mass are at O
};

/// Motion of a leg. Vectors are in the leg's frame.
template <class S>
struct LegMotion {
  LegVector<S> at;
  LegFrame<S> frame;
  S spin;            ///< tau = k.z / k.y: turning about y by one turns the leg about z by tau
  Vec3<S> velocity;  ///< u, of the spherical joint; u_z is the length's rate
  Vec3<S> w;         ///< of both links, (1) of the page
};

/// Components of a base vector in the leg's frame; to_base() is the inverse.
template <class S>
GARRA_HD Vec3<S> to_leg(const LegFrame<S>& f, const Vec3<S>& a) {
  return vec3<S>(dot(f.x, a), dot(f.y, a), dot(f.z, a));
}
template <class S>
GARRA_HD Vec3<S> to_base(const LegFrame<S>& f, const Vec3<S>& a) {
  return axpy(a[0], f.x, axpy(a[1], f.y, a[2] * f.z));
}

template <class S, class T>
GARRA_HD LegMotion<S> leg_motion(const LegForm<T>& leg, const Place<S>& place, const Mat3<S>& A, const Twist6<S>& t) {
  LegMotion<S> m;
  m.at = leg_vector<S>(leg, place.r, A);
  m.frame = leg_frame(cast<S>(leg.axis), m.at.z);
  m.spin = -(m.frame.kz * (S(1) / -m.frame.ky));
  m.velocity = to_leg(m.frame, joint_velocity(m.at, t));
  const S turn = m.velocity[0] * m.at.inverse;
  m.w = vec3<S>(-(m.velocity[1] * m.at.inverse), turn, m.spin * turn);
  return m;
}

/// Principal moments of both links together, leg frame.
template <class S, class T>
GARRA_HD Vec3<S> leg_inertia(const LegForm<T>& leg) {
  return cast<S>(leg.lower_inertia) + cast<S>(leg.upper_inertia);
}

/// The leg's apparent mass at the spherical joint, (3): diagonal in its frame.
template <class S, class T>
GARRA_HD Vec3<S> apparent_mass(const LegForm<T>& leg, const LegMotion<S>& m) {
  const Vec3<S> J = leg_inertia<S>(leg);
  const S c1(leg.lower_com), upper(leg.upper_mass), i = m.at.inverse;
  const S slide = fnma(S(leg.upper_com), i, S(1));  // the rod's center moves across by this share of the joint's motion
  const S tube = S(leg.lower_mass) * c1 * c1, rod = upper * slide * slide, turned = i * i;
  return vec3<S>(fma(fma(m.spin * m.spin, J[2], tube + J[1]), turned, rod), fma(tube + J[0], turned, rod), upper);
}

/// Forces that a leg's motion requires. Leg frame.
template <class S>
struct LegEffort {
  Vec3<S> joint;   ///< of platform and actuator on the leg at the spherical joint: its z part holds the actuator's
  Vec3<S> total;   ///< sum of both links' mass times (acceleration - gravity)
  Vec3<S> moment;  ///< sum of both links' change of angular momentum about their own centers
  S power;         ///< rate of the links' kinetic and potential energy, link by link
};

/// Computes (2) and (4) for the acceleration of the spherical joint in base axes.
template <class S, class T>
GARRA_HD LegEffort<S> leg_effort(const LegForm<T>& leg, const LegMotion<S>& m, const Vec3<S>& acceleration,
                                 const Vec3<S>& gravity) {
  const Vec3<S> a = to_leg(m.frame, acceleration), g = to_leg(m.frame, gravity), J = leg_inertia<S>(leg);
  const Vec3<S>& w = m.w;
  const S i = m.at.inverse, twice = m.velocity[2] + m.velocity[2], c1(leg.lower_com), c2(leg.upper_com);
  // d^2z/dt^2, and from it and the universal joint the angular acceleration
  const Vec3<S> bend =
      vec3<S>(i * fnma(twice, w[1], a[0]), i * fma(twice, w[0], a[1]), -(fma(w[0], w[0], w[1] * w[1])));
  const S turn_y = fnma(w[0], w[2], bend[0]);
  const Vec3<S> turn = vec3<S>(fma(w[1], w[2], -bend[1]), turn_y, fnma(w[0], w[1], m.spin * fnma(w[0], w[2], turn_y)));
  LegEffort<S> e;
  e.moment = vec3<S>(fma(w[1] * w[2], J[2] - J[1], J[0] * turn[0]), fma(w[2] * w[0], J[0] - J[2], J[1] * turn[1]),
                     fma(w[0] * w[1], J[1] - J[0], J[2] * turn[2]));
  const Vec3<S> lower = S(leg.lower_mass) * axpy(c1, bend, -g);
  const Vec3<S> upper = S(leg.upper_mass) * axpy(-c2, bend, a - g);
  const S low = c1 * i, high = fnma(c2, i, S(1));
  e.joint = vec3<S>(fma(low, lower[0], fma(high, upper[0], i * fma(m.spin, e.moment[2], e.moment[1]))),
                    fma(low, lower[1], fma(high, upper[1], -(i * e.moment[0]))), upper[2]);
  e.total = lower + upper;
  const S across = fma(w[1], lower[0], -(w[0] * lower[1]));  // the tube's center moves at c1 (w_y, -w_x, 0)
  const S along = fma(w[1], upper[0], -(w[0] * upper[1]));
  e.power = fma(c1, across, fnma(c2, along, dot(m.velocity, upper))) + dot(w, e.moment);
  return e;
}

/// Tensor of the platform about C times a vector, platform axes.
template <class S, class T>
GARRA_HD Vec3<S> times_inertia(const Model<T>& m, const Vec3<S>& a) {
  const S xy(m.xy), xz(m.xz), yz(m.yz);
  return vec3<S>(fma(S(m.xx), a[0], fma(xy, a[1], xz * a[2])), fma(xy, a[0], fma(S(m.yy), a[1], yz * a[2])),
                 fma(xz, a[0], fma(yz, a[1], S(m.zz) * a[2])));
}

/// Newton and Euler for the platform's body alone: the wrench of its motion against gravity.
template <class S, class T>
GARRA_HD Wrench6<S> body_effort(const Model<T>& m, const Mat3<S>& A, const Twist6<S>& t, const Twist6<S>& a) {
  const Vec3<S> w = transpose_times(A, t.w), turn = transpose_times(A, a.w);
  return {S(m.mass) * (a.v - cast<S>(m.gravity)), A * (times_inertia(m, turn) + cross(w, times_inertia(m, w)))};
}

/// Forces that the whole machine requires for a motion: right sides of (5).
template <class S>
struct Effort {
  Wrench6<S> wrench;        ///< at C, of actuators and external wrench together
  Mat<S, 6, 6> directions;  ///< J^T: column i is the wrench of one newton of actuator i
  LegMotion<S> leg[kLegs];
  LegEffort<S> needs[kLegs];
  S power;  ///< d(T + V)/dt
};

template <class S, class T>
GARRA_HD Effort<S> effort(const Model<T>& m, const Place<S>& place, const Twist6<S>& twist, const Twist6<S>& a) {
  Effort<S> e;
  const Mat3<S> A = rotation_matrix(place.p);
  e.wrench = body_effort(m, A, twist, a);
  e.power = dot(e.wrench.force, twist.v) + dot(e.wrench.moment, twist.w);
  const Vec3<S> gravity = cast<S>(m.gravity);
  for_each_index<kLegs>([&](auto i) {
    e.leg[i] = leg_motion(m.leg[i], place, A, twist);
    const LegVector<S>& at = e.leg[i].at;
    e.needs[i] = leg_effort(m.leg[i], e.leg[i], joint_acceleration(at, twist, a), gravity);
    const Vec3<S> force = to_base(e.leg[i].frame, e.needs[i].joint);
    e.wrench.force += force;
    e.wrench.moment += cross(at.lever, force);
    e.power += e.needs[i].power;
    const Vec<S, 6> row = length_row(at);
    for_each_index<6>([&](auto k) { e.directions(k, i) = row[k]; });
  });
  return e;
}

/// Forces of the actuators for an effort, minus the contribution of the external wrench. Solved as
/// if with pivots: without pivots the forces lose two to three digits.
template <class S>
GARRA_HD Vec<S, 6> actuator_forces(const Effort<S>& e, const Wrench6<S>& external) {
  LegDirections<S> d;
  for_each_index<kLegs>([&](auto i) { set_leg(i, column(e.directions, i), d); });
  return leg_forces(d, e.wrench.force - external.force, e.wrench.moment - external.moment);
}

/// effort() and actuator_forces() in one, to the bit, without the terms for the reactions only.
template <class S, class T>
GARRA_HD Vec<S, 6> inverse_dynamics(const Model<T>& m, const Place<S>& place, const Twist6<S>& twist,
                                    const Twist6<S>& a, const Wrench6<S>& wrench) {
  const Mat3<S> A = rotation_matrix(place.p);
  Wrench6<S> w = body_effort(m, A, twist, a);
  const Vec3<S> gravity = cast<S>(m.gravity);
  LegDirections<S> d;
  for (int i = 0; i < kLegs; ++i) {
    const LegMotion<S> leg = leg_motion(m.leg[i], place, A, twist);
    const LegEffort<S> needs = leg_effort(m.leg[i], leg, joint_acceleration(leg.at, twist, a), gravity);
    const Vec3<S> force = to_base(leg.frame, needs.joint);
    w.force += force;
    w.moment += cross(leg.at.lever, force);
    set_leg(i, length_row(leg.at), d);
  }
  return leg_forces(d, w.force - wrench.force, w.moment - wrench.moment);
}

/// Adds the part E at the lever of a leg to the lower triangle: E, [lever] E, -[lever] E [lever].
template <class S>
GARRA_HD void add_apparent_mass(const LegMotion<S>& m, const Vec3<S>& mu, Mat<S, 6, 6>& mass) {
  Mat3<S> E;
  for_each_index<3>([&](auto r) {
    const S x = mu[0] * m.frame.x[r], y = mu[1] * m.frame.y[r], z = mu[2] * m.frame.z[r];
    for_each_index<3>([&](auto c) {
      if (c <= r) {
        E(r, c) = fma(x, m.frame.x[c], fma(y, m.frame.y[c], z * m.frame.z[c]));
        E(c, r) = E(r, c);
        mass(r, c) += E(r, c);
      }
    });
  });
  Mat3<S> turned;  // [lever] E
  for_each_index<3>([&](auto c) {
    const Vec3<S> n = cross(m.at.lever, column(E, c));
    for_each_index<3>([&](auto r) {
      turned(r, c) = n[r];
      mass(3 + r, c) += n[r];
    });
  });
  for_each_index<3>([&](auto r) {
    const Vec3<S> n = cross(m.at.lever, vec3<S>(turned(r, 0), turned(r, 1), turned(r, 2)));
    for_each_index<3>([&](auto c) {
      if (c <= r) mass(3 + r, 3 + c) += n[c];
    });
  });
}

/// Mass matrix of the platform's body alone, lower triangle.
template <class S, class T>
GARRA_HD Mat<S, 6, 6> body_mass(const Model<T>& m, const Mat3<S>& A) {
  auto mass = Mat<S, 6, 6>::zero();
  for_each_index<3>([&](auto r) {
    mass(r, r) = S(m.mass);
    const Vec3<S> row = times_inertia(m, vec3<S>(A(r, 0), A(r, 1), A(r, 2)));
    for_each_index<3>([&](auto c) {
      if (c <= r) mass(3 + r, 3 + c) = dot(row, vec3<S>(A(c, 0), A(c, 1), A(c, 2)));
    });
  });
  return mass;
}

/// Equations of motion: lower triangle of the mass matrix only, and the length Jacobian's rows.
template <class S>
struct LowerBalance {
  Balance<S> balance;
  Vec<S, 6> row[kLegs];
};

template <class S, class T>
GARRA_HD LowerBalance<S> lower_balance(const Model<T>& m, const Place<S>& place, const Twist6<S>& twist) {
  LowerBalance<S> out;
  const Mat3<S> A = rotation_matrix(place.p);
  const Twist6<S> still = {Vec3<S>::zero(), Vec3<S>::zero()};
  Wrench6<S> bias = body_effort(m, A, twist, still);
  Mat<S, 6, 6> mass = body_mass<S>(m, A);
  const Vec3<S> gravity = cast<S>(m.gravity);
  for_each_index<kLegs>([&](auto i) {
    const LegMotion<S> leg = leg_motion(m.leg[i], place, A, twist);
    const LegEffort<S> needs = leg_effort(m.leg[i], leg, cross(twist.w, cross(twist.w, leg.at.lever)), gravity);
    const Vec3<S> force = to_base(leg.frame, needs.joint);
    bias.force += force;
    bias.moment += cross(leg.at.lever, force);
    add_apparent_mass(leg, apparent_mass<S>(m.leg[i], leg), mass);
    out.row[i] = length_row(leg.at);
  });
  out.balance = {mass, {{bias.force[0], bias.force[1], bias.force[2], bias.moment[0], bias.moment[1], bias.moment[2]}}};
  return out;
}

template <class S, class T>
GARRA_HD Balance<S> balance(const Model<T>& m, const Place<S>& place, const Twist6<S>& twist) {
  Balance<S> b = lower_balance(m, place, twist).balance;
  for_each_index<6>([&](auto r) {
    for_each_index<6>([&](auto c) {
      if (c > r) b.mass(r, c) = b.mass(c, r);
    });
  });
  return b;
}

/// (dv/dt, dw/dt) for forces of the actuators.
template <class S, class T>
GARRA_HD Vec<S, 6> acceleration(const Model<T>& m, const Place<S>& place, const Twist6<S>& twist,
                                const Vec<S, 6>& force, const Wrench6<S>& wrench) {
  const LowerBalance<S> b = lower_balance(m, place, twist);
  Vec<S, 6> right = {{wrench.force[0], wrench.force[1], wrench.force[2],  //
                      wrench.moment[0], wrench.moment[1], wrench.moment[2]}};
  right -= b.balance.bias;
  for_each_index<kLegs>([&](auto i) { right = axpy(force[i], b.row[i], right); });
  return solve(factor_ldlt(b.balance.mass), right);
}

template <class S, class T>
GARRA_HD Energy<S> energy(const Model<T>& m, const Place<S>& place, const Twist6<S>& twist) {
  const Mat3<S> A = rotation_matrix(place.p);
  const Vec3<S> w = transpose_times(A, twist.w), gravity = cast<S>(m.gravity);
  S twice = fma(S(m.mass), dot(twist.v, twist.v), dot(w, times_inertia(m, w)));
  Vec3<S> moment = S(m.mass) * place.r;  // sum of mass times position
  for_each_index<kLegs>([&](auto i) {
    const LegForm<T>& leg = m.leg[i];
    const LegMotion<S> motion = leg_motion(leg, place, A, twist);
    const Vec3<S> mu = apparent_mass<S>(leg, motion), &u = motion.velocity;
    twice += fma(mu[0] * u[0], u[0], fma(mu[1] * u[1], u[1], mu[2] * u[2] * u[2]));
    const S along = fma(S(leg.lower_mass), S(leg.lower_com), S(leg.upper_mass) * (motion.at.length - S(leg.upper_com)));
    moment += axpy(along, motion.at.z, S(leg.lower_mass + leg.upper_mass) * cast<S>(leg.base));
  });
  return {S(0.5) * twice, -dot(gravity, moment)};
}

}  // namespace garra::platform
