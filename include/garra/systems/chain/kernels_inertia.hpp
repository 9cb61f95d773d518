// Joint-space inertia, Coriolis matrix and forward dynamics of a chain in kernel form (docs/theory/chain.md,
// "Kernels"). R. Featherstone, "Rigid Body Dynamics Algorithms", 2008: composite rigid bodies 6.2, articulated
// bodies 7.3.
#pragma once

#include "garra/core/factor.hpp"
#include "garra/systems/chain/kernels_dynamics.hpp"

namespace garra::chain {

namespace kernel {

using chain::tilt;  // beside the overloads for matrices below
using chain::turn;

/// A symmetric 3x3 matrix.
template <class S>
struct Symmetric {
  S xx, yy, zz, xy, xz, yz;
};

/// Rz A Rz^T
template <class S>
GARRA_HD Symmetric<S> turn(const S& c, const S& s, const Symmetric<S>& a) {
  const S ux = fnma(s, a.xy, c * a.xx), uy = fnma(s, a.yy, c * a.xy);  // first row of Rz A
  const S xx = fnma(s, uy, c * ux);
  return {xx, (a.xx + a.yy) - xx, a.zz, fma(s, ux, c * uy), fnma(s, a.yz, c * a.xz), fma(s, a.xz, c * a.yz)};
}
/// Rx A Rx^T
template <class S, class T>
GARRA_HD Symmetric<S> tilt(const JointForm<T>& j, const Symmetric<S>& a) {
  const S c = S(j.cos_alpha), s = S(j.sin_alpha);
  const S uy = fnma(s, a.yz, c * a.yy), uz = fnma(s, a.zz, c * a.yz);
  const S yy = fnma(s, uz, c * uy);
  return {a.xx, yy, (a.yy + a.zz) - yy, fnma(s, a.xz, c * a.xy), fma(s, a.xy, c * a.xz), fma(s, uy, c * uz)};
}

/// First and second moment of a body about a frame's origin, in its axes; its mass stays with the model's scalar.
template <class S>
struct Composite {
  Vec3<S> s;
  Symmetric<S> I;
};

template <class S, class T>
GARRA_HD Composite<S> body(const JointForm<T>& j) {
  return {cast<S>(j.first), {S(j.xx), S(j.yy), S(j.zz), S(j.xy), S(j.xz), S(j.yz)}};
}
template <class S>
GARRA_HD Composite<S> operator+(const Composite<S>& a, const Composite<S>& b) {
  return {a.s + b.s,
          {a.I.xx + b.I.xx, a.I.yy + b.I.yy, a.I.zz + b.I.zz, a.I.xy + b.I.xy, a.I.xz + b.I.xz, a.I.yz + b.I.yz}};
}

/// Moves a body from frame i to frame i-1. The shift r = (a, b, d) adds 2 (r . h) 1 - r h^T - h r^T
/// with h = s + mass r / 2.
template <Joints K, class S, class T, int J>
GARRA_HD Composite<S> carry_out(const Model<T, J>& m, const Angles<S, J>& x, int i, const T& mass,
                                const Composite<S>& in) {
  const auto [a, b, d] = shift<K>(m, x, i);
  const S ma = S(mass) * a, md = S(mass) * d;
  Vec3<S> s = turn(x.cos[i], x.sin[i], in.s);
  Symmetric<S> I = turn(x.cos[i], x.sin[i], in.I);
  const S hx = (s[0] + s[0]) + ma, hz = (s[2] + s[2]) + md;  // 2 h
  I.xx = fma(d, hz, I.xx);
  I.yy = fma(d, hz, fma(a, hx, I.yy));
  I.zz = fma(a, hx, I.zz);
  I.xy = fnma(a, s[1], I.xy);
  I.yz = fnma(d, s[1], I.yz);
  I.xz = fnma(a, s[2], fnma(d, s[0], fnma(ma, d, I.xz)));
  if constexpr (K == Joints::kMixed) {
    const S mb = S(mass) * b, hy = (s[1] + s[1]) + mb;
    I.xx = fma(b, hy, I.xx);
    I.zz = fma(b, hy, I.zz);
    I.xy = fnma(b, s[0], fnma(mb, a, I.xy));
    I.yz = fnma(b, s[2], fnma(mb, d, I.yz));
    s[1] += mb;
  }
  s[0] += ma;
  s[2] += md;
  return {tilt(m.joint[i], s), tilt(m.joint[i], I)};
}

/// Momentum of a body that moves with unit speed about or along the z axis, as a wrench.
template <class S>
GARRA_HD Wrench<S> momentum(const Composite<S>& c, const S& mass, bool slides) {
  const S zero = S(0);
  if (slides) return {vec3<S>(zero, zero, mass), vec3<S>(c.s[1], -c.s[0], zero)};
  return {vec3<S>(-c.s[1], c.s[0], zero), vec3<S>(c.I.xz, c.I.yz, c.I.zz)};
}

/// Moves a momentum of column i from frame j to every frame before it and enters it in H. Recursion
/// instead of a loop over one wrench keeps every wrench as a value of its own in registers.
template <int j, Joints K, class S, class T, int J>
GARRA_HD void enter_inwards(const Model<T, J>& m, const Angles<S, J>& x, int i, const Wrench<S>& w, Mat<S, J, J>& H) {
  const S entry = felt(w, slides<K>(m, j));
  H(i, j) = i == j ? S(m.joint[i].armature) + entry : entry;
  H(j, i) = H(i, j);
  if constexpr (j > 0) enter_inwards<j - 1, K>(m, x, i, carry_out<K>(m, x, j, w), H);
}
template <Joints K, class S, class T, int J>
GARRA_HD void enter_column(const Model<T, J>& m, const Angles<S, J>& x, int i, Wrench<S> w, Mat<S, J, J>& H) {
  for (int j = i; j >= 0; --j) {
    const S entry = felt(w, slides<K>(m, j));
    H(i, j) = i == j ? S(m.joint[i].armature) + entry : entry;
    H(j, i) = H(i, j);
    if (j > 0) w = carry_out<K>(m, x, j, w);
  }
}

/// Calls use(from_tip, all, mass) with links i ... J-1 as one body in frame i = J-1-from_tip, from the tip to the base.
template <Joints K, class S, class T, int J, class Use>
GARRA_HD void walk_composite(const Model<T, J>& m, const Angles<S, J>& x, Use use) {
  Composite<S> all = body<S>(m.joint[extent<J>() - 1]);
  T mass = m.joint[extent<J>() - 1].mass;
  for_each_index<J>([&](auto from_tip) {
    const int i = extent<J>() - 1 - from_tip;
    if (i < extent<J>() - 1) {
      all = body<S>(m.joint[i]) + carry_out<K>(m, x, i < extent<J>() - 1 ? i + 1 : i, mass, all);
      mass = m.joint[i].mass + mass;
    }
    use(from_tip, all, mass);
  });
}

/// Enters column i = J-1-from_tip of H, and the row that it equals.
template <Joints K, class S, class T, int J, class I>
GARRA_HD void enter(const Model<T, J>& m, const Angles<S, J>& x, I from_tip, const Wrench<S>& column, Mat<S, J, J>& H) {
  const int i = extent<J>() - 1 - from_tip;
  if constexpr (J >= 0 && J <= kUnrolled)
    enter_inwards<J - 1 - I::value, K>(m, x, i, column, H);
  else
    enter_column<K>(m, x, i, column, H);
}

}  // namespace kernel

/// H(q) by composite rigid bodies, rotor inertias on the diagonal.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Mat<S, J, J> inertia_matrix(const Model<T, J>& m, const Angles<S, J>& x) {
  Mat<S, J, J> H;
  kernel::walk_composite<K>(m, x, [&](auto from_tip, const kernel::Composite<S>& all, const T& mass) {
    kernel::enter<K>(m, x, from_tip, kernel::momentum(all, S(mass), slides<K>(m, extent<J>() - 1 - from_tip)), H);
  });
  return H;
}

/// H(q) and g(q) from the same composite bodies; `gravity` (world axes, m/s^2) of each sample.
template <class S, int J>
struct InertiaAndGravity {
  Mat<S, J, J> H;
  Vec<S, J> g;
};
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD InertiaAndGravity<S, J> inertia_and_gravity(const Model<T, J>& m, const Angles<S, J>& x,
                                                     const Vec3<S>& gravity) {
  InertiaAndGravity<S, J> out;
  const kernel::Up<S, J> up = kernel::compute_up(m, x, gravity);
  kernel::walk_composite<K>(m, x, [&](auto from_tip, const kernel::Composite<S>& all, const T& mass) {
    const int i = extent<J>() - 1 - from_tip;
    out.g[i] = kernel::held(all.s, S(mass), up.frame[i], slides<K>(m, i));
    kernel::enter<K>(m, x, from_tip, kernel::momentum(all, S(mass), slides<K>(m, i)), out.H);
  });
  return out;
}
/// The same with the model's own gravity.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD InertiaAndGravity<S, J> inertia_and_gravity(const Model<T, J>& m, const Angles<S, J>& x) {
  return inertia_and_gravity<K>(m, x, cast<S>(m.gravity));
}

namespace kernel {

/// Solves H y = b for positive definite H by L D L^T of the lower triangle; pivots are not tested.
template <class S, int J>
GARRA_HD Vec<S, J> solve_definite(Mat<S, J, J> H, Vec<S, J> b) {
  S inverse[kCapacity<J>];
  const auto eliminate = [&](auto k) {
    inverse[k] = S(1) / H(k, k);
    const auto row = [&](int i) {  // row i of the remaining matrix, with the right side as last column
      const S l = H(i, k) * inverse[k];
      for_indices_between<J>(k + 1, i + 1, [&](int j) { H(i, j) = fnma(l, H(j, k), H(i, j)); });
      b[i] = fnma(l, b[k], b[i]);
    };
    for_indices_between<J>(k + 1, extent<J>(), row);
  };
  for_each_index<J>(eliminate);
  for_each_index<J>([&](auto from_end) {
    const int k = extent<J>() - 1 - from_end;
    S sum = b[k];
    for_indices_between<J>(k + 1, extent<J>(), [&](int i) { sum = fnma(H(i, k), b[i], sum); });
    b[k] = sum * inverse[k];
  });
  return b;
}

}  // namespace kernel

/// qdd from H qdd + C qd + g = tau by composite bodies, Newton-Euler and L D L^T: fewest operations
/// up to 8 joints.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Vec<S, J> forward_dynamics_composite(const Model<T, J>& m, const Angles<S, J>& x, const Vec<S, J>& qd,
                                              const Vec<S, J>& tau) {
  const Vec<S, J> b = tau - bias_torque<K>(m, x, qd);
  return kernel::solve_definite(inertia_matrix<K>(m, x), b);
}

// Coriolis matrix. For a point of mass dm at position r(q) the Christoffel symbols of its inertia
// (dr/dq)^T (dr/dq) dm are those of C = (dr/dq)^T d(dr/dq)/dt dm. Summed over the body, about the
// world's origin in world axes:
//
//   C_kj = xi_k . ( I xidot_j + B xi_j ),   B = [ (v.s) 1 - v s^T - w^ S , 0 ; -f^ , 0 ],   S = tr(I)/2 1 - I (3)
//
// with its twist (w; v), moments s, I, momentum f = m v + w x s, and xidot_j = V x xi_j. (S.
// Echeandia, P. Wensing, J. Computational and Nonlinear Dynamics 16(9), 2021, derive the same
// matrix from spatial vectors.)

namespace kernel {

/// I and B of (3), of one body or of all bodies from joint j on.
template <class S>
struct Rates {
  SpatialInertia<S> I;
  Mat3<S> B;
  Vec3<S> f;
};

/// Inertia of link i about the world's origin, in world axes.
template <class S, class T>
GARRA_HD SpatialInertia<S> world_inertia(const JointForm<T>& j, const Pose<S>& X) {
  const S xx = S(j.xx), yy = S(j.yy), zz = S(j.zz), xy = S(j.xy), xz = S(j.xz), yz = S(j.yz), mass = S(j.mass);
  SpatialInertia<S> out;
  const Vec3<S> s = X.R * cast<S>(j.first), h = axpy(S(0.5) * mass, X.p, s);
  out.mass = mass;
  out.first = axpy(mass, X.p, s);
  out.second = rotate_symmetric(X.R, Mat3<S>{{xx, xy, xz, xy, yy, yz, xz, yz, zz}});
  const S twice = S(2) * dot(X.p, h);
  for_each_index<3>([&](auto r) {
    for_each_index<3>([&](auto c) {
      const S outer = fma(X.p[r], h[c], h[r] * X.p[c]);
      out.second(r, c) = out.second(r, c) + (r == c ? twice - outer : -outer);
    });
  });
  return out;
}

template <class S>
GARRA_HD Rates<S> compute_rates(const SpatialInertia<S>& I, const Screw<S>& V) {
  Rates<S> out;
  out.I = I;
  out.f = axpy(I.mass, V.v, cross(V.w, I.first));
  const S half_trace = S(0.5) * (I.second(0, 0) + I.second(1, 1) + I.second(2, 2));
  const S vs = dot(V.v, I.first);
  for_each_index<3>([&](auto c) {
    Vec3<S> column_c = -column(I.second, c);
    column_c[c] = half_trace + column_c[c];
    const Vec3<S> turned = cross(V.w, column_c);
    for_each_index<3>([&](auto r) { out.B(r, c) = fma(-V.v[r], I.first[c], (r == c ? vs : S(0)) - turned[r]); });
  });
  return out;
}
template <class S>
GARRA_HD void add(Rates<S>& a, const Rates<S>& b) {
  a.I += b.I;
  a.B += b.B;
  a.f += b.f;
}

/// Joint screws about the world's origin, and their rates.
template <class S, int J>
struct JointScrews {
  Screw<S> xi[kCapacity<J>], rate[kCapacity<J>], twist[kCapacity<J>];  ///< twist of link i
};

template <Joints K, class S, class T, int J>
GARRA_HD JointScrews<S, J> joint_screws(const Model<T, J>& m, const Frames<S, J>& k, const Vec<S, J>& qd) {
  JointScrews<S, J> out;
  Screw<S> V = {Vec3<S>::zero(), Vec3<S>::zero()};
  for_each_index<J>([&](auto i) {
    const Vec3<S> z = column(k.frame[i].R, 2);
    out.xi[i] = slides<K>(m, i) ? Screw<S>{Vec3<S>::zero(), z} : Screw<S>{z, cross(k.frame[i].p, z)};
    out.rate[i] = cross(V, out.xi[i]);
    V = V + qd[i] * out.xi[i];
    out.twist[i] = V;
  });
  return out;
}

}  // namespace kernel

/// C(q, qd) by Christoffel symbols: C_kj = sum_i 1/2 (dH_kj/dq_i + dH_ki/dq_j - dH_ij/dq_k) qd_i; dH/dt - 2 C is skew.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Mat<S, J, J> coriolis_matrix(const Model<T, J>& m, const Frames<S, J>& k, const Vec<S, J>& qd) {
  const auto s = kernel::joint_screws<K>(m, k, qd);
  Mat<S, J, J> C;
  kernel::Rates<S> all = {SpatialInertia<S>::zero(), Mat3<S>::zero(), Vec3<S>::zero()};
  for_each_index<J>([&](auto from_tip) {
    const int j = extent<J>() - 1 - from_tip;
    kernel::add(all, kernel::compute_rates(kernel::world_inertia(m.joint[j], k.frame[j]), s.twist[j]));
    const Screw<S>& xi = s.xi[j];
    const Screw<S> momentum = all.I * xi;
    const Screw<S> change = all.I * s.rate[j] + Screw<S>{all.B * xi.w, cross(xi.w, all.f)};
    const Vec3<S> dual = transpose_times(all.B, xi.w) + cross(all.f, xi.v);  // B^T xi
    for_indices_between<J>(0, j + 1, [&](int i) {
      C(i, j) = dot(s.xi[i], change);
      if (i < j) C(j, i) = dot(s.rate[i], momentum) + dot(s.xi[i].w, dual);
    });
  });
  return C;
}

}  // namespace garra::chain
