// Loops in which the axes of roles 1, 2 and 3 are parallel and those of roles 4 and 5 meet: arms of the UR class
// (docs/theory/chain.md, "All solutions"). Joints 1 to 3 move in a plane across their axes, so the height of the
// meeting point along these axes gives theta_6, their direction theta_5 and theta_4, and two links in the plane the
// rest (K. P. Hawkins, Analytic inverse kinematics for the Universal Robots UR-5/UR-10 arms, 2013).
#pragma once

#include "garra/systems/chain/branches/turns.hpp"

namespace garra::chain::branches {

namespace kernel {

/// Turns 1 to 3 of two candidates from their product.
template <class S>
GARRA_HD void find_planar(const Pose<S>& B2, const Pose<S>& B3, const Pose<S>& product, JointValue<S> (*z)[kLoop],
                          Cosine<S>& quality) {
  const Vec3<S> a = transpose_times(B2.R, vec3<S>(B2.p[0], B2.p[1], S(0)));
  const Vec3<S>&p = B3.p, &q = product.p;
  const S half(0.5), squares = fma(p[0], p[0], p[1] * p[1]) + fma(B2.p[0], B2.p[0], B2.p[1] * B2.p[1]);
  const BothTurns<S> elbow = solve_turn(fma(a[0], p[0], a[1] * p[1]), fma(a[1], p[0], -(a[0] * p[1])),
                                        half * (fma(q[0], q[0], q[1] * q[1]) - squares));
  quality = elbow.quality;
  const S by = inverse_square(q[0], q[1]);
  for (int side = 0; side < 2; ++side) {
    JointValue<S>* to = z[side];
    to[1] = elbow.z[side];
    to[0] = turn_between(B2.R * turn_only(to[1], p) + B2.p, q, by);
    // Both x axes are in the plane.
    to[2] = turn_between(turn_only(to[0], B2.R * turn_only(to[1], column(B3.R, 0))), column(product.R, 0), S(1));
    // The turn about the third axis, which may point the other way.
    to[2].sin = select(B2.R(2, 2) * B3.R(2, 2) < S(0), -to[2].sin, to[2].sin);
  }
}

}  // namespace kernel

/// All candidates; axes 4 and 5 meet at a distance `on_4` and `on_5` from the origins of their frames. `families`: two
/// candidates of each family of solutions, of which polishing would find others.
template <class S>
GARRA_HD_CALL void find_parallel(const Loop<S>& loop, double on_4, double on_5, ClosedCandidates<S>& to,
                                 bool families = false) {
  using namespace kernel;
  const Pose<S>*B = loop.link, &B2 = loop.link[1], &B3 = loop.link[2];
  const S zero(0), up2 = B2.R(2, 2), up3 = B3.R(2, 2);
  const Vec3<S> axis = column(B[0].R, 2), c3 = axpy(S(on_4), column(B[3].R, 2), B[3].p);
  const Vec3<S> point = transpose_times(B[5].R, vec3<S>(zero, zero, S(on_5)) - B[5].p);
  const S height = fma(up2, fma(up3, c3[2], B3.p[2]), B2.p[2]) + dot(axis, B[0].p);
  const Vec3<S> target = (up2 * up3) * vec3(B[3].R(2, 0), B[3].R(2, 1), B[3].R(2, 2));
  const Vec3<S> row = vec3(B[4].R(2, 0), B[4].R(2, 1), B[4].R(2, 2));
  const S by = inverse_square(target[0], target[1]);
  to.doubtful = zero;
  for (int role = 0; role < kLoop; ++role) to.shared[role] = role < 3 ? 0 : role < 5 ? 1 : 2;
  const BothTurns<S> base = solve_turn(fma(axis[0], point[0], axis[1] * point[1]),
                                       fma(axis[0], point[1], -(axis[1] * point[0])), fnma(axis[2], point[2], height));
  for (int k = 0; k < kClosed; k += 4) {
    const Vec3<S> v = B[5].R * turn_only(base.z[k / 4], axis);
    const Pose<S> end = Pose<S>{turn_columns(B[5].R, base.z[k / 4]), B[5].p} * B[0];
    const S x = fma(row[0], v[0], row[1] * v[1]), y = fma(row[1], v[0], -(row[0] * v[1]));
    const S value = fnma(row[2], v[2], target[2]);
    BothTurns<S> wrist = solve_turn(x, y, value);
    if (families) {
      // Axis 5 along the parallel ones leaves theta_5 to choose: nearest to axis 1 and farthest from it.
      const auto aligned = fma(x, x, y * y) < S(kAligned);
      const Pose<S> before = Pose<S>{turn_columns(B[3].R, turn_between(B[4].R * v, target, by)), B[3].p} * B[4];
      const JointValue<S> along = turn_between(end.p, transpose_times(before.R, before.p));
      for (int side = 0; side < 2; ++side) {
        JointValue<S>& z = wrist.z[side];
        z.cos = select(aligned, side == 0 ? along.cos : -along.cos, z.cos);
        z.sin = select(aligned, side == 0 ? along.sin : -along.sin, z.sin);
      }
      const S fits = select(abs(value) <= S(1e-6), S(1), zero);
      wrist.quality.exists = select(aligned, fits, wrist.quality.exists);
    }
    for (int c = k; c < k + 4; c += 2) {
      JointValue<S>* z = to.z[c];
      z[5] = base.z[k / 4];
      z[4] = wrist.z[c / 2 % 2];
      z[3] = turn_between(B[4].R * turn_only(z[4], v), target, by);
      const Pose<S> before = Pose<S>{turn_columns(B[3].R, z[3]), B[3].p} * B[4];
      const Pose<S> rest = Pose<S>{turn_columns(before.R, z[4]), before.p} * end;
      for (int i = 3; i < 6; ++i) to.z[c + 1][i] = z[i];
      Cosine<S> elbow;
      find_planar(B2, B3, inverse(rest), to.z + c, elbow);
      to.exists[c] = to.exists[c + 1] = base.quality.exists * (wrist.quality.exists * elbow.exists);
      to.doubtful = max(to.doubtful,
                        max(base.quality.doubtful,
                            base.quality.exists * max(wrist.quality.doubtful, wrist.quality.exists * elbow.doubtful)));
    }
  }
}

}  // namespace garra::chain::branches
