// First derivatives of inverse and forward dynamics, with the joint-space inertia (docs/theory/chain.md,
// "Derivatives"). S. Singh, R. P. Russell, P. M. Wensing, IEEE Robot. Autom. Lett. 7 (2022) 1776; J. Carpentier, N.
// Mansard, RSS 2018.
#pragma once

#include "garra/systems/chain/kernels.hpp"

namespace garra::chain {

/// Derivatives of tau(q, qd, qdd): entry (i, j) is that of tau_i by variable j.
template <class S, int J>
struct TorqueDerivatives {
  Mat<S, J, J> by_q, by_qd, by_qdd;  ///< by_qdd is the joint-space inertia, rotors included
};

namespace kernel {

/// Mass properties about the base's origin, in world axes: composite bodies add up.
template <class S>
struct WorldBody {
  S mass;
  Vec3<S> first;  ///< h = m c
  Symmetric<S> inertia;
};
template <class S>
GARRA_HD Vec3<S> apply_inertia(const Symmetric<S>& a, const Vec3<S>& v) {
  return vec3<S>(fma(a.xx, v[0], fma(a.xy, v[1], a.xz * v[2])), fma(a.xy, v[0], fma(a.yy, v[1], a.yz * v[2])),
                 fma(a.xz, v[0], fma(a.yz, v[1], a.zz * v[2])));
}

/// A link's body, moved and turned to the world.
template <class S, class T>
GARRA_HD WorldBody<S> to_world(const JointForm<T>& j, const Axes<S>& f) {
  const auto turned = [&](const Vec3<S>& v) { return axpy(v[2], f.z, axpy(v[1], f.y, v[0] * f.x)); };
  const S mass = S(j.mass), two(2);
  const Vec3<S> s = turned(cast<S>(j.first)), half = axpy(S(0.5) * mass, f.p, s);
  // R I R': the columns of R I, each times R'.
  const Vec3<S> a = turned(vec3<S>(S(j.xx), S(j.xy), S(j.xz))), b = turned(vec3<S>(S(j.xy), S(j.yy), S(j.yz)));
  const Vec3<S> c = turned(vec3<S>(S(j.xz), S(j.yz), S(j.zz)));
  const auto entry = [&](int r, int k) {
    // Of the shift p: 2 (p . g) 1 - p g' - g p' with g = s + mass p / 2.
    return fma(a[r], f.x[k], fma(b[r], f.y[k], fma(c[r], f.z[k], -fma(f.p[r], half[k], half[r] * f.p[k]))));
  };
  const S spread = two * dot(f.p, half);
  return {mass,
          axpy(mass, f.p, s),
          {entry(0, 0) + spread, entry(1, 1) + spread, entry(2, 2) + spread, entry(0, 1), entry(0, 2), entry(1, 2)}};
}
template <class S>
GARRA_HD void add_body(const WorldBody<S>& b, WorldBody<S>& to) {
  to.mass += b.mass;
  to.first += b.first;
  to.inertia.xx += b.inertia.xx, to.inertia.yy += b.inertia.yy, to.inertia.zz += b.inertia.zz;
  to.inertia.xy += b.inertia.xy, to.inertia.xz += b.inertia.xz, to.inertia.yz += b.inertia.yz;
}

/// Spatial inertia times a motion: (moment n, force f).
template <class S>
GARRA_HD Wrench<S> momentum(const WorldBody<S>& b, const Screw<S>& m) {
  return {axpy(b.mass, m.v, cross(m.w, b.first)), apply_inertia(b.inertia, m.w) + cross(b.first, m.v)};
}
/// m x* f
template <class S>
GARRA_HD Wrench<S> cross_force(const Screw<S>& m, const Wrench<S>& f) {
  return {cross(m.w, f.f), cross(m.w, f.n) + cross(m.v, f.f)};
}
template <class S>
GARRA_HD S power(const Screw<S>& m, const Wrench<S>& f) {
  return dot(m.w, f.n) + dot(m.v, f.f);
}

/// 2 B of Singh et al.: m -> V x* I m + m x* I V - I (V x m). It does not depend on the linear part of m. V = (w, v);
/// h is the first moment, J the second, p = mass v. For m = (e, 0) it is
///   force 2 (w (h.e) - h (w.e) + e x p),   moment w x J e + e x J w - J (w x e) - 2 h x (v x e).
template <class S>
struct Bilinear {
  Mat3<S> force, moment;
};
template <class S>
GARRA_HD void add_bilinear(const WorldBody<S>& b, const Screw<S>& V, Bilinear<S>& to) {
  const Vec3<S>&w = V.w, &v = V.v, &h = b.first;
  const S two(2), vh = dot(v, h);
  const Vec3<S> Jw = apply_inertia(b.inertia, w), p = b.mass * v;
  const Symmetric<S>& I = b.inertia;
  const Mat3<S> J = {{I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz}};
  for_each_index<3>([&](auto c) {
    const Vec3<S> e = vec3<S>(S(c == 0 ? 1 : 0), S(c == 1 ? 1 : 0), S(c == 2 ? 1 : 0));
    const Vec3<S> f = axpy(h[c], w, axpy(-w[c], h, cross(e, p)));
    // h x (v x e) = v (h . e) - e (h . v)
    const Vec3<S> n = cross(w, column(J, c)) + cross(e, Jw) - apply_inertia(I, cross(w, e));
    for_each_index<3>([&](auto r) {
      to.force(r, c) = fma(two, f[r], to.force(r, c));
      to.moment(r, c) += fma(-two, fnma(e[r], vh, v[r] * h[c]), n[r]);
    });
  });
}

/// What the way from the base to the tip leaves of a joint.
template <class S>
struct JointMotion {
  Screw<S> psi;     ///< the joint's screw
  Screw<S> rate;    ///< v of the link before x psi
  Screw<S> second;  ///< a of the link before x psi + v of the link before x rate
  Screw<S> both;    ///< rate + v of the link x psi
  WorldBody<S> body;
  Bilinear<S> bilinear;
  Wrench<S> force;  ///< of the link's motion
};

}  // namespace kernel

/// Derivatives of inverse_dynamics(), without damping.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD void torque_derivatives(const Model<T, J>& m, const Angles<S, J>& x, const Vec<S, J>& qd, const Vec<S, J>& qdd,
                                 TorqueDerivatives<S, J>& to) {
  using namespace kernel;
  JointMotion<S> link[kCapacity<J>];
  const Vec3<S> zero = Vec3<S>::zero();
  Screw<S> V = {zero, zero}, A = {zero, -cast<S>(m.gravity)};
  walk<K>(m, x, [&](auto i, const Axes<S>& f) {
    JointMotion<S>& l = link[i];
    l.psi = slides<K>(m, i) ? Screw<S>{zero, f.z} : Screw<S>{f.z, cross(f.p, f.z)};
    l.rate = cross(V, l.psi);
    l.second = cross(A, l.psi) + cross(V, l.rate);
    // v x psi is the same before and behind the joint.
    l.both = l.rate + l.rate;
    A = A + qdd[i] * l.psi + qd[i] * l.rate;
    V = V + qd[i] * l.psi;
    l.body = to_world(m.joint[i], f);
    l.bilinear = {Mat3<S>::zero(), Mat3<S>::zero()};
    add_bilinear(l.body, V, l.bilinear);
    const Wrench<S> inertial = momentum(l.body, A), gyroscopic = cross_force(V, momentum(l.body, V));
    l.force = {inertial.f + gyroscopic.f, inertial.n + gyroscopic.n};
  });
  WorldBody<S> body = link[extent<J>() - 1].body;
  Bilinear<S> bilinear = link[extent<J>() - 1].bilinear;
  Wrench<S> force = link[extent<J>() - 1].force;
  for_each_index<J>([&](auto from_tip) {
    const int i = extent<J>() - 1 - from_tip;
    const JointMotion<S>& own = link[i];
    if (i < extent<J>() - 1) {
      add_body(own.body, body);
      bilinear.force += own.bilinear.force;
      bilinear.moment += own.bilinear.moment;
      force = {force.f + own.force.f, force.n + own.force.n};
    }
    const auto product = [&](const Screw<S>& b, const Screw<S>& inertial) {
      const Wrench<S> p = momentum(body, inertial);
      return Wrench<S>{bilinear.force * b.w + p.f, bilinear.moment * b.w + p.n};
    };
    const Wrench<S> p = momentum(body, own.psi), by_qd = product(own.psi, own.both),
                    turned = cross_force(own.psi, force);
    const Wrench<S> rates = product(own.rate, own.second), by_q = {rates.f + turned.f, rates.n + turned.n};
    // psi' 2 B as a row
    const Vec3<S> row = transpose_times(bilinear.force, own.psi.v) + transpose_times(bilinear.moment, own.psi.w);
    for_each_index<J>([&](auto j) {
      if (j > i) return;
      const JointMotion<S>& other = link[j];
      to.by_q(i, j) = dot(row, other.rate.w) + power(other.second, p);
      to.by_qd(i, j) = dot(row, other.psi.w) + power(other.both, p);
      const S inertia = power(other.psi, p);
      to.by_qdd(i, j) = inertia;
      to.by_qdd(j, i) = inertia;
      if (j < i) {
        to.by_q(j, i) = power(other.psi, by_q);
        to.by_qd(j, i) = power(other.psi, by_qd);
      }
    });
    to.by_qdd(i, i) = to.by_qdd(i, i) + S(m.joint[i].armature);
  });
}

/// Rows of states: derivatives of inverse dynamics, damping included.
template <int J>
struct InverseDynamicsDerivativesOp {
  Model<double, J> model;

  template <class S>
  struct In {
    Vec<S, J> q, qd, qdd;
  };
  template <class S>
  using Out = TorqueDerivatives<S, J>;

  template <class S>
  GARRA_HD Out<S> operator()(const In<S>& in) const {
    Out<S> out;
    torque_derivatives(model, angles(model, in.q), in.qd, in.qdd, out);
    for_each_index<J>([&](auto i) { out.by_qd(i, i) = out.by_qd(i, i) + S(model.joint[i].damping); });
    return out;
  }
};

/// Rows of states: derivatives of qdd(q, qd, tau). The inertia's inverse times those of tau at the same qdd.
template <int J>
struct ForwardDynamicsDerivativesOp {
  Model<double, J> model;
  int joints;  ///< J, or fewer: the others are padding

  template <class S>
  struct In {
    Vec<S, J> q, qd, tau;
  };
  template <class S>
  struct Out {
    Mat<S, J, J> by_q, by_qd, by_tau;
    Vec<S, J> qdd;
    S singular;  ///< > 0: the inertia has no inverse
  };

  template <class S>
  GARRA_HD Out<S> operator()(const In<S>& in) const {
    const auto x = angles(model, in.q);
    Mat<S, J, J> H = inertia_matrix(model, x);
    for (int i = joints; i < J; ++i) H(i, i) = S(1);
    const auto factors = factor_ldlt(H);
    Out<S> out;
    out.singular = factors.bad_pivots;
    const Vec<S, J> damped = damping_torque(model, in.qd);
    out.qdd = solve(factors, in.tau - damped - bias_torque(model, x, in.qd));
    TorqueDerivatives<S, J> of;
    torque_derivatives(model, x, in.qd, out.qdd, of);
    for_each_index<J>([&](auto i) { of.by_qd(i, i) = of.by_qd(i, i) + S(model.joint[i].damping); });
    out.by_tau = solve(factors, Mat<S, J, J>::identity());
    out.by_q = -(out.by_tau * of.by_q);
    out.by_qd = -(out.by_tau * of.by_qd);
    return out;
  }
};

}  // namespace garra::chain
