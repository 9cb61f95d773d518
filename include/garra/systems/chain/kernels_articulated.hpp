// Forward dynamics by articulated bodies in link frames: linear in the number of joints, so it is
// the fastest for many joints (R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, 7.3;
// docs/theory/chain.md, "Kernels").
#pragma once

#include "garra/systems/chain/kernels_inertia.hpp"

namespace garra::chain {

namespace kernel {

/// Inertia of an articulated body about a frame's origin: moment A w + B v, force B^T w + M v.
template <class S>
struct Articulated {
  Symmetric<S> A, M;
  Mat3<S> B;
};

template <class S>
GARRA_HD Symmetric<S> operator+(const Symmetric<S>& a, const Symmetric<S>& b) {
  return {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
template <class S>
GARRA_HD Vec3<S> operator*(const Symmetric<S>& a, const Vec3<S>& v) {
  return vec3<S>(fma(a.xx, v[0], fma(a.xy, v[1], a.xz * v[2])), fma(a.xy, v[0], fma(a.yy, v[1], a.yz * v[2])),
                 fma(a.xz, v[0], fma(a.yz, v[1], a.zz * v[2])));
}
template <class S>
GARRA_HD Vec3<S> row(const Mat3<S>& a, int i) {
  return vec3<S>(a(i, 0), a(i, 1), a(i, 2));
}
template <class S>
GARRA_HD Mat3<S> from_rows(const Vec3<S>& x, const Vec3<S>& y, const Vec3<S>& z) {
  return {{x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]}};
}

template <class S, class T>
GARRA_HD Articulated<S> rigid(const JointForm<T>& j) {
  const S m = S(j.mass), zero = S(0), sx = S(j.first[0]), sy = S(j.first[1]), sz = S(j.first[2]);
  return {body<S>(j).I, {m, m, m, zero, zero, zero}, {{zero, -sz, sy, sz, zero, -sx, -sy, sx, zero}}};
}

/// Moves the origin; the old one is at r: B + r^ M and A - B r^ + r^ (B + r^ M)^T.
template <Joints K, class S>
GARRA_HD void move_origin(const Shift<S>& r, Articulated<S>& b) {
  const S a = r.a, d = r.d;
  const Mat3<S> old = b.B;
  const Symmetric<S>& M = b.M;
  const Vec3<S> x = vec3<S>(M.xx, M.xy, M.xz), y = vec3<S>(M.xy, M.yy, M.yz), z = vec3<S>(M.xz, M.yz, M.zz);
  for_each_index<3>([&](auto c) {
    b.B(0, c) = fnma(d, y[c], old(0, c));
    b.B(1, c) = fma(d, x[c], fnma(a, z[c], old(1, c)));
    b.B(2, c) = fma(a, y[c], old(2, c));
    if constexpr (K == Joints::kMixed) {
      b.B(0, c) = fma(r.b, z[c], b.B(0, c));
      b.B(2, c) = fnma(r.b, x[c], b.B(2, c));
    }
  });
  const Mat3<S>& B = b.B;
  b.A.xx = fnma(d, old(0, 1), fnma(d, B(0, 1), b.A.xx));
  b.A.yy = fma(d, old(1, 0), fnma(a, old(1, 2), fma(d, B(1, 0), fnma(a, B(1, 2), b.A.yy))));
  b.A.zz = fma(a, old(2, 1), fma(a, B(2, 1), b.A.zz));
  b.A.xy = fma(d, old(0, 0), fnma(a, old(0, 2), fnma(d, B(1, 1), b.A.xy)));
  b.A.xz = fma(a, old(0, 1), fnma(d, B(2, 1), b.A.xz));
  b.A.yz = fma(a, old(1, 1), fma(d, B(2, 0), fnma(a, B(2, 2), b.A.yz)));
  if constexpr (K == Joints::kMixed) {
    b.A.xx = fma(r.b, old(0, 2) + B(0, 2), b.A.xx);
    b.A.zz = fnma(r.b, old(2, 0) + B(2, 0), b.A.zz);
    b.A.xy = fma(r.b, B(1, 2), b.A.xy);
    b.A.xz = fma(r.b, B(2, 2) - old(0, 0), b.A.xz);
    b.A.yz = fnma(r.b, old(1, 0), b.A.yz);
  }
}

/// Rotates rows and columns of a matrix: R B R^T for the planar rotation `rotate` of a vector.
template <class S, class Rotate>
GARRA_HD Mat3<S> rotate_general(const Mat3<S>& B, const Rotate& rotate) {
  const Mat3<S> half = from_rows(rotate(row(B, 0)), rotate(row(B, 1)), rotate(row(B, 2)));  // B R^T
  const Vec3<S> x = rotate(column(half, 0)), y = rotate(column(half, 1)), z = rotate(column(half, 2));
  return transpose(from_rows(x, y, z));
}

template <Joints K, class S, class T, int J>
GARRA_HD Articulated<S> carry_out(const Model<T, J>& m, const Angles<S, J>& x, int i, const Articulated<S>& in) {
  const S c = x.cos[i], s = x.sin[i];
  const JointForm<T>& j = m.joint[i];
  Articulated<S> out = {turn(c, s, in.A), turn(c, s, in.M),
                        rotate_general(in.B, [&](const Vec3<S>& v) { return turn(c, s, v); })};
  move_origin<K>(shift<K>(m, x, i), out);
  out.A = tilt(j, out.A);
  out.M = tilt(j, out.M);
  out.B = rotate_general(out.B, [&](const Vec3<S>& v) { return tilt(j, v); });
  return out;
}

/// Data of joint i that the pass from base to tip needs.
template <class S>
struct JointResponse {
  Wrench<S> u;       ///< column of the articulated inertia along the joint
  S inverse, moved;  ///< 1 / (u_z + armature), tau - bias at the joint
  Vec3<S> w;         ///< angular velocity of the link
  Vec3<S> cw, cv;    ///< its acceleration from velocities alone
};

/// Subtracts u u^T / D: the inertia along the freely moving joint.
template <class S>
GARRA_HD void yield_along(const JointResponse<S>& r, Articulated<S>& b) {
  const Vec3<S> n = r.inverse * r.u.n, f = r.inverse * r.u.f;
  const Vec3<S>&N = r.u.n, &F = r.u.f;
  b.A = {fnma(n[0], N[0], b.A.xx), fnma(n[1], N[1], b.A.yy), fnma(n[2], N[2], b.A.zz),
         fnma(n[0], N[1], b.A.xy), fnma(n[0], N[2], b.A.xz), fnma(n[1], N[2], b.A.yz)};
  b.M = {fnma(f[0], F[0], b.M.xx), fnma(f[1], F[1], b.M.yy), fnma(f[2], F[2], b.M.zz),
         fnma(f[0], F[1], b.M.xy), fnma(f[0], F[2], b.M.xz), fnma(f[1], F[2], b.M.yz)};
  for_each_index<3>([&](auto i) { for_each_index<3>([&](auto j) { b.B(i, j) = fma(-n[i], F[j], b.B(i, j)); }); });
}

/// Velocities from base to tip: every link's w, the velocity-dependent acceleration of its origin
/// and the wrench p_i.
template <Joints K, class S, class T, int J>
GARRA_HD void articulated_velocities(const Model<T, J>& m, const Angles<S, J>& x, const Vec<S, J>& qd,
                                     JointResponse<S>* joint, Wrench<S>* own) {
  Vec3<S> w = Vec3<S>::zero();
  for_each_index<J>([&](auto i) {
    const JointForm<T>& j = m.joint[i];
    const Vec3<S> r = origin<K, S>(m, x, i);
    const Vec3<S> centripetal = rotate_in(m, x, i, cross(w, cross(w, r)));
    w = rotate_in(m, x, i, w);
    LinkMotion<S> l = {w, Vec3<S>::zero(), centripetal};
    add_joint<Terms::kBias>(JointRates<S>{qd[i], qd[i]}, slides<K>(m, i), l);
    w = l.w;
    joint[i].w = w;
    joint[i].cw = l.wd;
    joint[i].cv = l.a;
    const Vec3<S> Iw = body<S>(j).I * w;
    own[i] = {cross(w, cross(w, cast<S>(j.first))), cross(w, Iw)};
  });
}

}  // namespace kernel

/// qdd by articulated bodies.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Vec<S, J> forward_dynamics_articulated(const Model<T, J>& m, const Angles<S, J>& x, const Vec<S, J>& qd,
                                                const Vec<S, J>& tau) {
  using namespace kernel;
  JointResponse<S> joint[kCapacity<J>];
  Wrench<S> own[kCapacity<J>];
  articulated_velocities<K>(m, x, qd, joint, own);
  Articulated<S> all = rigid<S>(m.joint[extent<J>() - 1]);
  Wrench<S> p = own[extent<J>() - 1];
  for_each_index<J>([&](auto from_tip) {
    const int i = extent<J>() - 1 - from_tip;
    JointResponse<S>& r = joint[i];
    const bool along = slides<K>(m, i);
    r.u = along ? Wrench<S>{vec3<S>(all.M.xz, all.M.yz, all.M.zz), column(all.B, 2)}
                : Wrench<S>{row(all.B, 2), vec3<S>(all.A.xz, all.A.yz, all.A.zz)};
    r.inverse = S(1) / (S(m.joint[i].armature) + felt(r.u, along));
    r.moved = tau[i] - felt(p, along);
    if (i > 0) {
      yield_along(r, all);
      const S give = r.moved * r.inverse;
      p.n = axpy(give, r.u.n, p.n) + all.A * r.cw + all.B * r.cv;
      p.f = axpy(give, r.u.f, p.f) + transpose_times(all.B, r.cw) + all.M * r.cv;
      const Articulated<S> carried = carry_out<K>(m, x, i, all), link = rigid<S>(m.joint[i > 0 ? i - 1 : 0]);
      all = {link.A + carried.A, link.M + carried.M, link.B + carried.B};
      p = carry_out<K>(m, x, i, p);
      p = {own[i > 0 ? i - 1 : 0].f + p.f, own[i > 0 ? i - 1 : 0].n + p.n};
    }
  });
  Vec<S, J> qdd;
  Vec3<S> wd = Vec3<S>::zero(), a = base_acceleration<S>(m);
  for_each_index<J>([&](auto i) {
    const JointResponse<S>& r = joint[i];
    a = rotate_in(m, x, i, a + cross(wd, origin<K, S>(m, x, i))) + r.cv;
    wd = rotate_in(m, x, i, wd) + r.cw;
    qdd[i] = (r.moved - (dot(r.u.n, wd) + dot(r.u.f, a))) * r.inverse;
    if (slides<K>(m, i))
      a[2] += qdd[i];
    else
      wd[2] += qdd[i];
  });
  return qdd;
}

/// Up to how many joints composite bodies give the accelerations: they have fewer operations there.
inline constexpr int kMaxComposite = 8;

/// qdd from H qdd + C qd + g = tau. Friction is the caller's: pass tau - damping_torque.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Vec<S, J> forward_dynamics(const Model<T, J>& m, const Angles<S, J>& x, const Vec<S, J>& qd,
                                    const Vec<S, J>& tau) {
  if constexpr (J < 0) {
    if (extent<J>() > kMaxComposite) return forward_dynamics_articulated<K>(m, x, qd, tau);
  }
  if constexpr (J <= kMaxComposite)
    return forward_dynamics_composite<K>(m, x, qd, tau);
  else
    return forward_dynamics_articulated<K>(m, x, qd, tau);
}

}  // namespace garra::chain
