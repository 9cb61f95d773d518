// Poses and Jacobians of a chain in kernel form (docs/theory/chain.md, "Kernels"). In every kernel
// S is the batch scalar and T that of the model: double if the samples share it, S if each has its
// own; J is the exact number of joints.
//
// The transform (1) of model.hpp is two planar rotations with a shift of (a, b, d) between them,
//
//   X_{i-1,i} = Rx(alpha) T(a, b, d) Rz(theta),
// so that a vector changes frame in 8 multiplications (4 of them fused) instead of 9, without a
// rotation matrix.
#pragma once

#include "garra/core/elementary.hpp"
#include "garra/systems/chain/model.hpp"

namespace garra::chain {

/// Joint types of a kernel: kRevolute omits the terms of prismatic joints and of shifts b.
enum class Joints { kRevolute, kMixed };

/// Whether kernels of Joints::kRevolute apply to the chain.
template <class T, int J>
GARRA_HD bool fits_revolute(const Model<T, J>& m) {
  for (int i = 0; i < extent<J>(); ++i)
    if (m.prismatic[i] || m.joint[i].b != 0) return false;
  return true;
}

/// A configuration for the kernels: cos and sin of every theta_i, and travel of prismatic joints.
template <class S, int J>
struct Angles {
  S cos[J], sin[J];
  S slide[J];  ///< q_i of a prismatic joint [m], else 0; not set and not read with Joints::kRevolute
};
/// The same of kAnyJoints.
template <class S, int J>
requires(J < 0) struct Angles<S, J> {
  Vec<S, J> cos, sin, slide;
  static constexpr auto parts() { return std::tuple{&Angles::cos, &Angles::sin, &Angles::slide}; }
};

template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Angles<S, J> angles(const Model<T, J>& m, const Vec<S, J>& q) {
  Angles<S, J> x;
  for_each_index<J>([&](auto i) {
    const S offset = S(m.joint[i].theta);
    const bool slides = K == Joints::kMixed && m.prismatic[i];
    const auto turn = quick_sincos(slides ? offset : q[i] + offset);
    x.cos[i] = turn.cos;
    x.sin[i] = turn.sin;
    if (K == Joints::kMixed) x.slide[i] = slides ? q[i] : S(0);
  });
  return x;
}

// Changes of frame. Back: from frame i-1 to frame i.

/// Rz(theta) v
template <class S>
GARRA_HD Vec3<S> turn(const S& c, const S& s, const Vec3<S>& v) {
  return vec3<S>(fnma(s, v[1], c * v[0]), fma(s, v[0], c * v[1]), v[2]);
}
template <class S>
GARRA_HD Vec3<S> turn_back(const S& c, const S& s, const Vec3<S>& v) {
  return vec3<S>(fma(c, v[0], s * v[1]), fnma(s, v[0], c * v[1]), v[2]);
}
/// Rx(alpha) v
template <class S, class T>
GARRA_HD Vec3<S> tilt(const JointForm<T>& j, const Vec3<S>& v) {
  const S c = S(j.cos_alpha), s = S(j.sin_alpha);
  return vec3<S>(v[0], fnma(s, v[2], c * v[1]), fma(s, v[1], c * v[2]));
}
template <class S, class T>
GARRA_HD Vec3<S> tilt_back(const JointForm<T>& j, const Vec3<S>& v) {
  const S c = S(j.cos_alpha), s = S(j.sin_alpha);
  return vec3<S>(v[0], fma(c, v[1], s * v[2]), fnma(s, v[1], c * v[2]));
}
/// R_{i-1,i} v
template <class S, class T, int J>
GARRA_HD Vec3<S> rotate_out(const Model<T, J>& m, const Angles<S, J>& x, int i, const Vec3<S>& v) {
  return tilt(m.joint[i], turn(x.cos[i], x.sin[i], v));
}
/// R_{i-1,i}^T v
template <class S, class T, int J>
GARRA_HD Vec3<S> rotate_in(const Model<T, J>& m, const Angles<S, J>& x, int i, const Vec3<S>& v) {
  return turn_back(x.cos[i], x.sin[i], tilt_back(m.joint[i], v));
}

/// d_i of (1)
template <Joints K, class S, class T, int J>
GARRA_HD S travel(const Model<T, J>& m, const Angles<S, J>& x, int i) {
  if constexpr (K == Joints::kRevolute)
    return S(m.joint[i].d);
  else
    return S(m.joint[i].d) + x.slide[i];
}
/// The shift between the two rotations of joint i: (a, b, d).
template <class S>
struct Shift {
  S a, b, d;
};
template <Joints K, class S, class T, int J>
GARRA_HD Shift<S> shift(const Model<T, J>& m, const Angles<S, J>& x, int i) {
  return {S(m.joint[i].a), S(K == Joints::kRevolute ? T(0) : m.joint[i].b), travel<K>(m, x, i)};
}
/// p + r
template <Joints K, class S>
GARRA_HD void add_shift(const Shift<S>& r, Vec3<S>& p) {
  p[0] += r.a;
  if (K == Joints::kMixed) p[1] += r.b;
  p[2] += r.d;
}
/// n + r x f
template <Joints K, class S>
GARRA_HD void add_moment(const Shift<S>& r, const Vec3<S>& f, Vec3<S>& n) {
  n[0] = fnma(r.d, f[1], n[0]);
  n[1] = fnma(r.a, f[2], fma(r.d, f[0], n[1]));
  n[2] = fma(r.a, f[1], n[2]);
  if constexpr (K == Joints::kMixed) {
    n[0] = fma(r.b, f[2], n[0]);
    n[2] = fnma(r.b, f[0], n[2]);
  }
}
/// n - r x f
template <Joints K, class S>
GARRA_HD void subtract_moment(const Shift<S>& r, const Vec3<S>& f, Vec3<S>& n) {
  n[0] = fma(r.d, f[1], n[0]);
  n[1] = fma(r.a, f[2], fnma(r.d, f[0], n[1]));
  n[2] = fnma(r.a, f[1], n[2]);
  if constexpr (K == Joints::kMixed) {
    n[0] = fnma(r.b, f[2], n[0]);
    n[2] = fma(r.b, f[0], n[2]);
  }
}
template <Joints K, class T, int J>
GARRA_HD bool slides(const Model<T, J>& m, int i) {
  return K == Joints::kMixed && m.prismatic[i];
}

// Poses.

/// Kernel frames and the tool in the world. frame[i].R's third column is the axis of joint i, frame[i].p a point of it.
template <class S, int J>
struct Frames {
  Pose<S> frame[kCapacity<J>];
  Pose<S> tool;
};

namespace kernel {

/// A frame by its axes x, y, z and its origin p.
template <class S>
struct Axes {
  Vec3<S> x, y, z, p;
};

template <class S>
GARRA_HD Pose<S> to_pose(const Axes<S>& a) {
  return {{{a.x[0], a.y[0], a.z[0], a.x[1], a.y[1], a.z[1], a.x[2], a.y[2], a.z[2]}}, a.p};
}

/// Moves the frame along its x axis by a, turns it about x by alpha and moves it along the new y axis by b.
template <Joints K = Joints::kMixed, class S, class T>
GARRA_HD void advance_tilt(const JointForm<T>& j, Axes<S>& f) {
  const S c = S(j.cos_alpha), s = S(j.sin_alpha);
  f.p = axpy(S(j.a), f.x, f.p);
  for_each_index<3>([&](int r) {
    const S y = f.y[r], z = f.z[r];
    f.y[r] = fma(c, y, s * z);
    f.z[r] = fnma(s, y, c * z);
  });
  if (K == Joints::kMixed) f.p = axpy(S(j.b), f.y, f.p);
}
template <class S>
GARRA_HD void advance_turn(const S& c, const S& s, Axes<S>& f) {
  for_each_index<3>([&](int r) {
    const S x = f.x[r], y = f.y[r];
    f.x[r] = fma(c, x, s * y);
    f.y[r] = fnma(s, x, c * y);
  });
}

/// Calls use(i, axes) with every kernel frame in the world, from the base to the tip.
template <Joints K, class S, class T, int J, class Use>
GARRA_HD void walk(const Model<T, J>& m, const Angles<S, J>& x, Use use) {
  const Mat3<S> R = cast<S>(m.base.R);
  Axes<S> f = {column(R, 0), column(R, 1), column(R, 2), cast<S>(m.base.p)};
  for_each_index<J>([&](auto i) {
    advance_tilt<K>(m.joint[i], f);
    f.p = axpy(travel<K>(m, x, i), f.z, f.p);
    advance_turn(x.cos[i], x.sin[i], f);
    use(i, f);
  });
}

}  // namespace kernel

template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Frames<S, J> frames(const Model<T, J>& m, const Angles<S, J>& x) {
  Frames<S, J> out;
  kernel::walk<K>(m, x, [&](auto i, const kernel::Axes<S>& f) { out.frame[i] = kernel::to_pose(f); });
  out.tool = out.frame[extent<J>() - 1] * cast_pose<S>(m.tool);
  return out;
}

// Jacobians: rows 0-2 linear velocity of the point, rows 3-5 angular velocity, world axes.

/// Jacobian of a point that moves with link `last` (numbered from 0): columns after it are zero.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Mat<S, 6, J> jacobian(const Model<T, J>& m, const Frames<S, J>& k, const Vec3<S>& point,
                               int last = extent<J>() - 1) {
  Mat<S, 6, J> out;
  for_each_index<J>([&](auto i) {
    const Vec3<S> z = column(k.frame[i].R, 2), zero = Vec3<S>::zero();
    const Vec3<S> v = slides<K>(m, i) ? z : cross(z, point - k.frame[i].p);
    const Vec3<S> w = slides<K>(m, i) ? zero : z;
    for_each_index<3>([&](int r) {
      out(r, i) = i <= last ? v[r] : zero[r];
      out(r + 3, i) = i <= last ? w[r] : zero[r];
    });
  });
  return out;
}
/// Jacobian of the tool point.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Mat<S, 6, J> jacobian(const Model<T, J>& m, const Frames<S, J>& k) {
  return jacobian<K>(m, k, k.tool.p);
}
/// The same Jacobian in the axes of a frame with orientation R (body axes: of the link or tool).
template <class S, int J>
GARRA_HD Mat<S, 6, J> in_axes(const Mat3<S>& R, const Mat<S, 6, J>& jac) {
  Mat<S, 6, J> out;
  for_each_index<J>([&](auto i) {
    for_each_index<3>([&](int r) {
      out(r, i) = fma(R(0, r), jac(0, i), fma(R(1, r), jac(1, i), R(2, r) * jac(2, i)));
      out(r + 3, i) = fma(R(0, r), jac(3, i), fma(R(1, r), jac(4, i), R(2, r) * jac(5, i)));
    });
  });
  return out;
}
/// Rows in screw order: angular velocity first. At the world's origin the columns are then (direction; moment).
template <class S, int J>
GARRA_HD Mat<S, 6, J> screw_order(const Mat<S, 6, J>& jac) {
  Mat<S, 6, J> out;
  for_each_index<3 * J>([&](int k) {
    out[k] = jac[k + extent<3 * J>()];
    out[k + extent<3 * J>()] = jac[k];
  });
  return out;
}

/// Motion of a point of the chain, at qdd = 0.
template <class S>
struct PointMotion {
  Vec3<S> velocity;      ///< J qd [m/s]
  Vec3<S> acceleration;  ///< Jdot qd [m/s^2]
};

/// Computed from the point's Jacobian alone. About a fixed point at our point's position, its
/// columns are the joint screws (w; v), and a link's twist V is the sum of screws times rates. A
/// screw moved by the chain changes by V x screw.
template <class S, int J>
GARRA_HD PointMotion<S> point_motion(const Mat<S, 6, J>& jac, const Vec<S, J>& qd) {
  Screw<S> V = {Vec3<S>::zero(), Vec3<S>::zero()}, rate = V;
  for_each_index<J>([&](auto i) {
    const Screw<S> joint = {vec3(jac(3, i), jac(4, i), jac(5, i)), vec3(jac(0, i), jac(1, i), jac(2, i))};
    const Screw<S> relative = qd[i] * joint;
    rate = rate + cross(V, relative);
    V = V + relative;
  });
  return {V.v, rate.v + cross(V.w, V.v)};
}

/// Center of mass of link i in the world; the frame's origin if the link has no mass.
template <class S, class T, int J>
GARRA_HD Vec3<S> center_of_mass(const Model<T, J>& m, const Frames<S, J>& k, int i) {
  const S mass = S(m.joint[i].mass);
  const auto massless = mass == S(0);
  const S inverse = select(massless, S(0), S(1) / select(massless, S(1), mass));
  return k.frame[i].R * (inverse * cast<S>(m.joint[i].first)) + k.frame[i].p;
}

// Fused forms: the Jacobian is not stored.

/// J qd of the tool point, and the tool point itself, world axes.
template <class S>
struct ToolMotion {
  Vec3<S> p, v, w;
};

/// From the tip to the base, in link frames: at frame i, r is the tool point and (w, v) its motion relative to link i.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD ToolMotion<S> tool_motion(const Model<T, J>& m, const Angles<S, J>& x, const Vec<S, J>& qd) {
  Vec3<S> r = cast<S>(m.tool.p), v = Vec3<S>::zero(), w = Vec3<S>::zero();
  for_each_index<J>([&](auto from_tip) {
    const int i = extent<J>() - 1 - from_tip;
    if (slides<K>(m, i)) {
      v[2] += qd[i];
    } else {
      v[0] = fnma(qd[i], r[1], v[0]);
      v[1] = fma(qd[i], r[0], v[1]);
      w[2] += qd[i];
    }
    r = turn(x.cos[i], x.sin[i], r);
    add_shift<K>(shift<K>(m, x, i), r);
    r = tilt(m.joint[i], r);
    v = rotate_out(m, x, i, v);
    w = rotate_out(m, x, i, w);
  });
  const Mat3<S> R = cast<S>(m.base.R);
  return {R * r + cast<S>(m.base.p), R * v, R * w};
}

/// J^T f: joint torques that exert a force and a moment (about the tool point, world axes) at the
/// tool and balance nothing else.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD Vec<S, J> tool_torque(const Model<T, J>& m, const Angles<S, J>& x, const Vec3<S>& force,
                               const Vec3<S>& moment) {
  Vec3<S> r = cast<S>(m.tool.p);  // tool point in frame 0, from the tip inward
  for_each_index<J>([&](auto from_tip) {
    const int i = extent<J>() - 1 - from_tip;
    r = turn(x.cos[i], x.sin[i], r);
    add_shift<K>(shift<K>(m, x, i), r);
    r = tilt(m.joint[i], r);
  });
  const Mat3<S> R = cast<S>(m.base.R);
  Vec3<S> f = transpose_times(R, force);
  Vec3<S> n = transpose_times(R, moment) + cross(r, f);  // about the origin of the frame
  Vec<S, J> tau;
  for_each_index<J>([&](auto i) {
    f = tilt_back(m.joint[i], f);
    n = tilt_back(m.joint[i], n);
    subtract_moment<K>(shift<K>(m, x, i), f, n);
    tau[i] = slides<K>(m, i) ? f[2] : n[2];
    f = turn_back(x.cos[i], x.sin[i], f);
    n = turn_back(x.cos[i], x.sin[i], n);
  });
  return tau;
}

}  // namespace garra::chain
