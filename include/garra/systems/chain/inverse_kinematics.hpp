// Inverse kinematics of a chain in kernel form: closed form for arms built like the PUMA, damped least squares for any
// chain (docs/theory/chain.md).
#pragma once

#include "garra/core/factor.hpp"
#include "garra/systems/chain/followers.hpp"
#include "garra/systems/chain/kernels_kinematics.hpp"

namespace garra::chain {

/// One of eight solutions: arm right/left = +1/-1, elbow up/down = +1/-1, wrist kept/flipped =
/// +1/-1.
struct Branch {
  int arm = 1, elbow = 1, wrist = 1;
};

/// Joint angles, not wrapped to (-pi, pi], and 1 if the pose can be reached, 0 if not (the angles
/// are then finite but meaningless, those of the nearest straightened arm).
template <class S, int J>
struct IkSolution {
  Vec<S, J> q;
  S reached;
};

/// True for chains that `puma_ik` solves: six revolute joints, kernel alphas (0, 90, 0, -90, 90,
/// -90) degrees, no offsets, a and d only as in the PUMA: the last three axes meet in the wrist.
[[nodiscard]] bool is_puma_like(const Model<double, 6>& m);

/// Closed form: the pose `tool` of the tool in the world. Arm: the wrist center lies d3 beside the plane of links 2 and
/// 3 (theta1), a two-link triangle in that plane (theta2, theta3). Wrist: Euler angles ZYZ.
template <class S, class T>
GARRA_HD IkSolution<S, 6> puma_ik(const Model<T, 6>& m, const Pose<S>& tool, const Branch& branch) {
  const S a2 = S(m.joint[2].a), a3 = S(m.joint[3].a), d3 = S(m.joint[1].d) + S(m.joint[2].d), d4 = S(m.joint[3].d);
  const S arm = S(branch.arm), elbow = S(branch.elbow * branch.arm), wrist = S(branch.wrist);
  const Pose<S> flange = inverse(cast_pose<S>(m.base)) * tool * inverse(cast_pose<S>(m.tool));
  const Vec3<S> p = axpy(-S(m.joint[5].d), column(flange.R, 2), flange.p);
  IkSolution<S, 6> out;

  const S in_plane2 = fma(p[0], p[0], fma(p[1], p[1], -(d3 * d3)));
  const S x = arm * sqrt(max(in_plane2, S(0)));
  const S z = p[2] - S(m.joint[0].d);
  const S q1 = atan2(p[1], p[0]) + atan2(d3, x);

  const S forearm2 = fma(a3, a3, d4 * d4);
  const S reach2 = fma(x, x, z * z);
  const S reach = sqrt(max(reach2, S(1e-24)));
  const S cosine = (fma(a2, a2, reach2) - forearm2) / (S(2) * a2 * reach);
  const S q2 = atan2(z, x) + elbow * acos(max(min(cosine, S(1)), S(-1)));
  const auto t2 = sincos(q2);
  const S q23 = atan2(fma(-a2, t2.sin, z), fma(-a2, t2.cos, x)) - atan2(d4, a3);
  out.reached = select(in_plane2 >= S(0) && abs(cosine) <= S(1), S(1), S(0));

  // R36 = (R03)^T R06 = Rz(q4) Ry(-q5) Rz(q6)
  const auto t1 = sincos(q1);
  const auto t23 = sincos(q23);
  const Vec3<S> x3 = vec3<S>(t1.cos * t23.cos, t1.sin * t23.cos, t23.sin);
  const Vec3<S> y3 = vec3<S>(-t1.sin, t1.cos, S(0));  // -z1
  const Vec3<S> z3 = vec3<S>(-(t1.cos * t23.sin), -(t1.sin * t23.sin), t23.cos);
  const Vec3<S> X = column(flange.R, 0), Y = column(flange.R, 1), Z = column(flange.R, 2);
  const S r13 = dot(x3, Z), r23 = -dot(y3, Z), r33 = dot(z3, Z);
  const S s5 = sqrt(fma(r13, r13, r23 * r23));
  const auto aligned = s5 < S(1e-9);  // joints 4 and 6 share an axis: q4 := 0
  out.q[0] = q1;
  out.q[1] = q2;
  out.q[2] = q23 - q2;
  out.q[3] = select(aligned, S(0), atan2(wrist * r23, -(wrist * r13)));
  out.q[4] = atan2(wrist * s5, r33);
  out.q[5] = select(aligned, atan2(-dot(y3, X), -dot(y3, Y)), atan2(-(wrist * dot(z3, Y)), wrist * dot(z3, X)));
  return out;
}

/// Joint rates that move a point with velocity v: J^T (J J^T + damping E)^-1 v with the first three
/// rows of its Jacobian. With damping 0 they have the least norm of all solutions.
template <class S, int J>
GARRA_HD Vec<S, J> point_rates(const Mat<S, 6, J>& jac, const Vec3<S>& v, const S& damping) {
  Mat3<S> g = Mat3<S>::zero();
  for_each_index<J>([&](auto i) {
    for_each_index<3>(
        [&](auto r) { for_each_index<3>([&](auto c) { g(r, c) = fma(jac(r, i), jac(c, i), g(r, c)); }); });
  });
  for_each_index<3>([&](auto r) { g(r, r) += damping; });
  const Vec3<S> y = solve(factor_ldlt(g), v);
  Vec<S, J> qd;
  for_each_index<J>([&](auto i) { qd[i] = fma(jac(0, i), y[0], fma(jac(1, i), y[1], jac(2, i) * y[2])); });
  return qd;
}

/// Options of numeric_ik.
struct NumericIk {
  int joints = 0;                 ///< number that move: the model's own, or fewer if it is padded
  double start[kMaxJoints] = {};  ///< first guess [rad or m]
  double tolerance = 1e-10;       ///< largest position error of a reached pose [m]
  int steps = 30;
  Followers followers = {};
};

/// Damped least squares on the position p of the tool alone (a point finger), world axes: a fixed
/// number of steps, each at most 0.5 rad. Joints from number `joints` on stay at zero.
template <Joints K = Joints::kMixed, class S, class T, int J>
GARRA_HD IkSolution<S, J> numeric_ik(const Model<T, J>& m, const Vec3<S>& p, const NumericIk& how) {
  IkSolution<S, J> out;
  for_each_index<J>([&](auto i) { out.q[i] = S(i < how.joints ? how.start[i] : 0.0); });
  follow(how.followers, out.q);
  S error2 = S(0);
  for (int k = 0; k <= how.steps; ++k) {
    const Frames<S, J> at = frames<K>(m, angles<K>(m, out.q));
    const Vec3<S> e = p - at.tool.p;
    error2 = dot(e, e);
    const auto active = error2 > S(0.01 * how.tolerance * how.tolerance);
    if (k == how.steps || !any(active)) break;
    const S damping = S(1e-9) + S(1e-3) * error2;  // vanishes with the error: the last steps are Newton's
    Mat<S, 6, J> jac = jacobian<K>(m, at, at.tool.p, how.joints - 1);
    lead_columns(how.followers, jac);
    Vec<S, J> dq = point_rates(jac, e, damping);
    follow_rates(how.followers, dq);
    S largest = S(0.5);
    for_each_index<J>([&](auto i) { largest = max(largest, abs(dq[i])); });
    const S scale = S(0.5) / largest;
    for_each_index<J>([&](auto i) { out.q[i] = select(active, fma(scale, dq[i], out.q[i]), out.q[i]); });
  }
  out.reached = select(error2 <= S(how.tolerance * how.tolerance), S(1), S(0));
  return out;
}

}  // namespace garra::chain
