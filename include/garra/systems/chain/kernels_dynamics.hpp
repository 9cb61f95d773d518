// Inverse dynamics, gravity and energy of a chain in kernel form, by recursion in link frames
// (docs/theory/chain.md, "Kernels"). tau = H qdd + C qd + g; viscous friction is separate
// (damping_torque).
//
// Newton-Euler after J. Luh, M. Walker, R. Paul (1980), in the form of W. Khalil, J. Kleinfinger
// (IEEE J. Robotics and Automation 3(6), 1987). With U = [wdot]x + [w]x[w]x of a link, its point r
// accelerates by a + U r. Therefore
//
//   force  F = m a + U s,    moment  N = I wdot + w x I w + s x a (2)
//
// with the first and second moments s and I about the frame's origin, without a center of mass.
#pragma once

#include "garra/systems/chain/kernels_kinematics.hpp"

namespace garra::chain {

/// Requested terms of tau = H qdd + C qd + g.
enum class Terms { kAll, kBias, kCoriolis };  // kBias: C qd + g; kCoriolis: C qd

namespace kernel {

/// Angular velocity and acceleration of a link and the acceleration of its origin, in its own frame.
template <class S>
struct LinkMotion {
  Vec3<S> w, wd, a;
};

/// U = [wd]x + [w]x[w]x with the products in (2). Diagonal entries are minus the sums of squares.
template <class S>
struct Spin {
  S yy_zz, zz_xx, xx_yy;           // wy^2 + wz^2, ...
  S yz, zx, xy;                    // wy wz, ...
  S Uxy, Uyx, Uyz, Uzy, Uzx, Uxz;  // off the diagonal of U
  S dyz, dzx, dxy;                 // wy^2 - wz^2, ...
};

template <class S>
GARRA_HD Spin<S> make_spin(const Vec3<S>& w, const Vec3<S>& wd) {
  Spin<S> u;
  const S x2 = w[0] * w[0], y2 = w[1] * w[1], z2 = w[2] * w[2];
  u.yy_zz = y2 + z2;
  u.zz_xx = z2 + x2;
  u.xx_yy = x2 + y2;
  u.dyz = y2 - z2;
  u.dzx = z2 - x2;
  u.dxy = x2 - y2;
  u.yz = w[1] * w[2];
  u.zx = w[2] * w[0];
  u.xy = w[0] * w[1];
  u.Uxy = u.xy - wd[2];
  u.Uyx = u.xy + wd[2];
  u.Uyz = u.yz - wd[0];
  u.Uzy = u.yz + wd[0];
  u.Uzx = u.zx - wd[1];
  u.Uxz = u.zx + wd[1];
  return u;
}

/// v + U r
template <class S>
GARRA_HD Vec3<S> add_spin(const Spin<S>& u, const Vec3<S>& r, const Vec3<S>& v) {
  return vec3<S>(fma(u.Uxz, r[2], fma(u.Uxy, r[1], fnma(u.yy_zz, r[0], v[0]))),
                 fma(u.Uyx, r[0], fma(u.Uyz, r[2], fnma(u.zz_xx, r[1], v[1]))),
                 fma(u.Uzy, r[1], fma(u.Uzx, r[0], fnma(u.xx_yy, r[2], v[2]))));
}

/// N of (2), grouped by the entries of I.
template <class S, class T>
GARRA_HD Vec3<S> inertial_moment(const JointForm<T>& j, const LinkMotion<S>& l, const Spin<S>& u) {
  const S xy = S(j.xy), xz = S(j.xz), yz = S(j.yz);
  const S sx = S(j.first[0]), sy = S(j.first[1]), sz = S(j.first[2]);
  const S x = fma(sy, l.a[2], fnma(sz, l.a[1], fma(S(j.zz), u.yz, fnma(S(j.yy), u.yz, S(j.xx) * l.wd[0]))));
  const S y = fma(sz, l.a[0], fnma(sx, l.a[2], fma(S(j.xx), u.zx, fnma(S(j.zz), u.zx, S(j.yy) * l.wd[1]))));
  const S z = fma(sx, l.a[1], fnma(sy, l.a[0], fma(S(j.yy), u.xy, fnma(S(j.xx), u.xy, S(j.zz) * l.wd[2]))));
  return vec3<S>(fma(yz, u.dyz, fma(xz, u.Uyx, fnma(xy, u.Uzx, x))), fma(xz, u.dzx, fma(xy, u.Uzy, fnma(yz, u.Uxy, y))),
                 fma(xy, u.dxy, fma(yz, u.Uxz, fnma(xz, u.Uyz, z))));
}

/// Force on a body and its moment about the frame's origin, in the frame's axes.
template <class S>
struct Wrench {
  Vec3<S> f, n;
};

/// The component of the wrench along the joint at the frame's origin. (Written as statements: a
/// conditional between two lanes takes their addresses, and the wrench would live in memory.)
template <class S>
GARRA_HD S felt(const Wrench<S>& w, bool slides) {
  if (slides) return w.f[2];
  return w.n[2];
}

/// Rates of a joint that move link i: qd and, unless the term is left out, qdd.
template <class S>
struct JointRates {
  S qd, qdd;
};

/// Adds the joint's own motion to that of the previous link, given in the new frame's axes.
template <Terms Q, class S>
GARRA_HD void add_joint(const JointRates<S>& rate, bool slides, LinkMotion<S>& l) {
  if (slides) {
    const S twice = rate.qd + rate.qd;
    l.a[0] = fma(twice, l.w[1], l.a[0]);
    l.a[1] = fnma(twice, l.w[0], l.a[1]);
    if (Q == Terms::kAll) l.a[2] += rate.qdd;
  } else {
    l.wd[0] = fma(l.w[1], rate.qd, l.wd[0]);
    l.wd[1] = fnma(l.w[0], rate.qd, l.wd[1]);
    if (Q == Terms::kAll) l.wd[2] += rate.qdd;
    l.w[2] += rate.qd;
  }
}

/// Wrench f, n of frame i in the axes of frame i-1, moment about the latter's origin.
template <Joints K, class S, class T, int J>
GARRA_HD Wrench<S> carry_out(const Model<T, J>& m, const Angles<S, J>& x, int i, const Wrench<S>& in) {
  const Vec3<S> f = turn(x.cos[i], x.sin[i], in.f);
  Vec3<S> n = turn(x.cos[i], x.sin[i], in.n);
  add_moment<K>(shift<K>(m, x, i), f, n);
  return {tilt(m.joint[i], f), tilt(m.joint[i], n)};
}

/// -gravity (world axes) in the axes of frame 0: the base's acceleration replaces gravity.
template <class S, class T, int J>
GARRA_HD Vec3<S> base_acceleration(const Model<T, J>& m, const Vec3<S>& gravity) {
  return -transpose_times(cast<S>(m.base.R), gravity);
}
template <class S, class T, int J>
GARRA_HD Vec3<S> base_acceleration(const Model<T, J>& m) {
  return base_acceleration(m, cast<S>(m.gravity));
}

/// Position Rx(alpha) (a, b, d) of frame i's origin in frame i-1.
template <Joints K, class S, class T, int J>
GARRA_HD Vec3<S> origin(const Model<T, J>& m, const Angles<S, J>& x, int i) {
  const Shift<S> r = shift<K>(m, x, i);
  const S c = S(m.joint[i].cos_alpha), s = S(m.joint[i].sin_alpha);
  if constexpr (K == Joints::kRevolute)
    return vec3<S>(r.a, -(s * r.d), c * r.d);
  else
    return vec3<S>(r.a, fma(c, r.b, -(s * r.d)), fma(s, r.b, c * r.d));
}

/// First link: it starts from rest, so only rates about or along its own axis matter and, of its
/// wrench, the component along joint 0.
template <Terms Q, class S, class T>
GARRA_HD Wrench<S> first_link(const JointForm<T>& j, const JointRates<S>& rate, bool slides, LinkMotion<S>& l) {
  const S zero = S(0);
  l.w = l.wd = Vec3<S>::zero();
  Wrench<S> own = {Vec3<S>::zero(), Vec3<S>::zero()};
  if (slides) {
    if (Q == Terms::kAll) l.a[2] += rate.qdd;
    own.f[2] = S(j.mass) * l.a[2];
  } else {
    l.w[2] = rate.qd;
    if (Q == Terms::kAll) l.wd[2] = rate.qdd;
    const S moment = Q == Terms::kAll ? S(j.zz) * rate.qdd : zero;
    own.n[2] = fma(S(j.first[0]), l.a[1], fnma(S(j.first[1]), l.a[0], moment));
  }
  return own;
}

/// Acceleration of a point r of the first link, which turns about its z axis only.
template <Terms Q, class S>
GARRA_HD Vec3<S> first_point(const LinkMotion<S>& l, const Vec3<S>& r) {
  const S w2 = l.w[2] * l.w[2];
  S x = fnma(w2, r[0], l.a[0]), y = fnma(w2, r[1], l.a[1]);
  if (Q == Terms::kAll) {
    x = fnma(l.wd[2], r[1], x);
    y = fma(l.wd[2], r[0], y);
  }
  return vec3<S>(x, y, l.a[2]);
}

template <Terms Q, Joints K, class S, class T, int J>
GARRA_HD Vec<S, J> newton_euler(const Model<T, J>& m, const Angles<S, J>& x, const Vec<S, J>& qd,
                                const Vec<S, J>& qdd) {
  Wrench<S> own[kCapacity<J>];
  LinkMotion<S> l;
  Spin<S> u;
  l.a = Q == Terms::kCoriolis ? Vec3<S>::zero() : rotate_in(m, x, 0, base_acceleration<S>(m));
  own[0] = first_link<Q>(m.joint[0], JointRates<S>{qd[0], qdd[0]}, slides<K>(m, 0), l);
  for_each_index<J>([&](auto i) {
    if (i == 0) return;
    const Vec3<S> r = origin<K, S>(m, x, i);
    const Vec3<S> a = i == 1 ? first_point<Q>(l, r) : add_spin(u, r, l.a);
    l = {rotate_in(m, x, i, l.w), rotate_in(m, x, i, l.wd), rotate_in(m, x, i, a)};
    add_joint<Q>(JointRates<S>{qd[i], qdd[i]}, slides<K>(m, i), l);
    u = make_spin(l.w, l.wd);
    own[i] = {add_spin(u, cast<S>(m.joint[i].first), S(m.joint[i].mass) * l.a), inertial_moment(m.joint[i], l, u)};
  });
  Vec<S, J> tau;
  Wrench<S> sum = own[extent<J>() - 1];
  for_each_index<J>([&](auto from_tip) {
    const int i = extent<J>() - 1 - from_tip;
    const S torque = felt(sum, slides<K>(m, i));
    tau[i] = Q == Terms::kAll ? fma(S(m.joint[i].armature), qdd[i], torque) : torque;
    if (i > 0) {
      const Wrench<S> carried = carry_out<K>(m, x, i, sum);
      sum = {own[i > 0 ? i - 1 : 0].f + carried.f, own[i > 0 ? i - 1 : 0].n + carried.n};
    }
  });
  return tau;
}

}  // namespace kernel

/// Torques (forces for sliding joints) of a motion: tau = H qdd + C qd + g.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Vec<S, J> inverse_dynamics(const Model<T, J>& m, const Angles<S, J>& x, const Vec<S, J>& qd,
                                    const Vec<S, J>& qdd) {
  return kernel::newton_euler<Terms::kAll, K>(m, x, qd, qdd);
}
/// C qd + g
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Vec<S, J> bias_torque(const Model<T, J>& m, const Angles<S, J>& x, const Vec<S, J>& qd) {
  return kernel::newton_euler<Terms::kBias, K>(m, x, qd, qd);
}
/// C qd
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Vec<S, J> coriolis_torque(const Model<T, J>& m, const Angles<S, J>& x, const Vec<S, J>& qd) {
  return kernel::newton_euler<Terms::kCoriolis, K>(m, x, qd, qd);
}
/// D qd: the torque of viscous friction; tau - D qd moves the chain.
template <class S, class T, int J>
GARRA_HD Vec<S, J> damping_torque(const Model<T, J>& m, const Vec<S, J>& qd) {
  Vec<S, J> out;
  for_each_index<J>([&](int i) { out[i] = S(m.joint[i].damping) * qd[i]; });
  return out;
}
/// qd^T D qd [W]
template <class S, class T, int J>
GARRA_HD S dissipation(const Model<T, J>& m, const Vec<S, J>& qd) {
  return dot(damping_torque(m, qd), qd);
}

namespace kernel {

/// First moment of a body of mass `mass` in frame i, moved to frame i-1.
template <Joints K, class S, class T, int J>
GARRA_HD Vec3<S> carry_first(const Model<T, J>& m, const Angles<S, J>& x, int i, const T& mass, Vec3<S> s) {
  s = turn(x.cos[i], x.sin[i], s);
  const Shift<S> r = shift<K>(m, x, i);
  s[0] = fma(S(mass), r.a, s[0]);
  if (K == Joints::kMixed) s[1] = fma(S(mass), r.b, s[1]);
  s[2] = fma(S(mass), r.d, s[2]);
  return tilt(m.joint[i], s);
}

/// Calls use(i, s, mass) with the first moment and mass of links i ... J-1 in frame i, from the tip to the base, and
/// returns them for frame 0 before joint 0 (i = -1).
template <Joints K, class S, class T, int J, class Use>
GARRA_HD Vec3<S> walk_first(const Model<T, J>& m, const Angles<S, J>& x, T& mass, Use use) {
  Vec3<S> s = cast<S>(m.joint[extent<J>() - 1].first);
  mass = m.joint[extent<J>() - 1].mass;
  for_each_index<J>([&](auto from_tip) {
    const int i = extent<J>() - 1 - from_tip;
    use(i, s, mass);
    s = carry_first<K>(m, x, i, mass, s);
    if (i > 0) {
      const JointForm<T>& before = m.joint[i > 0 ? i - 1 : 0];
      s = cast<S>(before.first) + s;
      mass = before.mass + mass;
    }
  });
  return s;
}

/// The vector -gravity in every frame.
template <class S, int J>
struct Up {
  Vec3<S> frame[kCapacity<J>];
};
template <class S, class T, int J>
GARRA_HD Up<S, J> compute_up(const Model<T, J>& m, const Angles<S, J>& x, const Vec3<S>& gravity) {
  Up<S, J> up;
  for_each_index<J>([&](auto i) {
    up.frame[i] = rotate_in(m, x, i, i == 0 ? base_acceleration(m, gravity) : up.frame[i == 0 ? 0 : i - 1]);
  });
  return up;
}

/// Torque at a joint by the weight of all that it moves, with first moment s.
template <class S>
GARRA_HD S held(const Vec3<S>& s, const S& mass, const Vec3<S>& up, bool slides) {
  return slides ? mass * up[2] : fnma(s[1], up[0], s[0] * up[1]);
}

}  // namespace kernel

/// g(q): torques against gravity (world axes, m/s^2), which may differ from sample to sample.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Vec<S, J> gravity_torque(const Model<T, J>& m, const Angles<S, J>& x, const Vec3<S>& gravity) {
  const kernel::Up<S, J> up = kernel::compute_up(m, x, gravity);
  Vec<S, J> g;
  T mass;
  kernel::walk_first<K>(m, x, mass, [&](int i, const Vec3<S>& s, const T& all) {
    g[i] = kernel::held(s, S(all), up.frame[i], slides<K>(m, i));
  });
  return g;
}

/// The same with the model's own gravity.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Vec<S, J> gravity_torque(const Model<T, J>& m, const Angles<S, J>& x) {
  return gravity_torque<K>(m, x, cast<S>(m.gravity));
}

/// Energy: kinetic, rotors included, and potential -gravity . (mass times world position) [J].
template <class S>
struct Energy {
  S kinetic, potential;
};

template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD S kinetic_energy(const Model<T, J>& m, const Angles<S, J>& x, const Vec<S, J>& qd) {
  Vec3<S> w = Vec3<S>::zero(), v = Vec3<S>::zero();
  S twice = S(0);
  for_each_index<J>([&](auto i) {
    const JointForm<T>& j = m.joint[i];
    const Vec3<S> t = tilt_back(j, w);
    v = tilt_back(j, v);
    subtract_moment<K>(shift<K>(m, x, i), t, v);
    w = turn_back(x.cos[i], x.sin[i], t);
    v = turn_back(x.cos[i], x.sin[i], v);
    if (slides<K>(m, i))
      v[2] += qd[i];
    else
      w[2] += qd[i];
    const Vec3<S> s = cast<S>(j.first);
    const Vec3<S> L = vec3<S>(fma(S(j.xx), w[0], fma(S(j.xy), w[1], S(j.xz) * w[2])),
                              fma(S(j.xy), w[0], fma(S(j.yy), w[1], S(j.yz) * w[2])),
                              fma(S(j.xz), w[0], fma(S(j.yz), w[1], S(j.zz) * w[2])));
    const Vec3<S> sv = cross(s, v);
    const Vec3<S> both = L + sv + sv;
    twice = fma(S(j.armature) * qd[i], qd[i], twice + fma(S(j.mass), dot(v, v), dot(w, both)));
  });
  return S(0.5) * twice;
}

template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD S potential_energy(const Model<T, J>& m, const Angles<S, J>& x) {
  T mass;
  const Vec3<S> s = kernel::walk_first<K>(m, x, mass, [](int, const Vec3<S>&, const T&) {});
  return fnma(S(mass), dot(cast<S>(m.gravity), cast<S>(m.base.p)), dot(kernel::base_acceleration<S>(m), s));
}

template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Energy<S> energy(const Model<T, J>& m, const Angles<S, J>& x, const Vec<S, J>& qd) {
  return {kinetic_energy<K>(m, x, qd), potential_energy<K>(m, x)};
}

}  // namespace garra::chain
