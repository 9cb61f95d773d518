// Loops in which the axes of roles 4, 5 and 6 meet in a point: spherical wrists and shoulders (docs/theory/chain.md,
// "All solutions"). The point does not depend on these three joints (D. L. Pieper, The kinematics of manipulators under
// computer control, 1968), so
//
//   Z_1 g = w,   g = B_2 Z_2 f(3),   f = B_3 Z_3 c_3,   w = B_1^-1 c_0,
//
// with c_3 and c_0 the point in frames 3 and 0. |g|^2 and g_z do not contain a turn Z_1, g_x and g_y no slide. As
// functions of G = (cos theta_2 + i sin theta_2) (f_x + i f_y) both are linear with constant coefficients,
//
//   M (Re G, Im G) = u(3),   |G| = |f_x + i f_y|,
//
// a polynomial of degree four in tan(theta_3 / 2) or q_3. Where M has rank one (axes 1 and 2 meet or are parallel), a
// combination of the u is of degree two, and each of its roots has two theta_2. Where axes 2 and 3 are parallel, f_z
// and u_2 are constant, and so is u_1 + |G|^2 / 2: with t along the line that the second row of M leaves, |G|^2 is of
// degree two in t, and each of its roots has two theta_3.
#pragma once

#include "garra/systems/chain/branches/turns.hpp"

namespace garra::chain::branches {

namespace kernel {

/// Polynomials of degree two in x: coefficients of 1, x, x^2.
template <class S>
struct Quadratic {
  S c[3];
};
template <class S>
GARRA_HD Quadratic<S> combine(const S& a, const Quadratic<S>& p, const S& b, const Quadratic<S>& q) {
  Quadratic<S> r;
  for (int k = 0; k < 3; ++k) r.c[k] = fma(a, p.c[k], b * q.c[k]);
  return r;
}
template <class S>
GARRA_HD S value_at(const Quadratic<S>& p, const S& x) {
  return fma(fma(p.c[2], x, p.c[1]), x, p.c[0]);
}
template <class S>
GARRA_HD void add_square(const S& factor, const Quadratic<S>& p, S* quartic) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) quartic[i + j] = fma(factor * p.c[i], p.c[j], quartic[i + j]);
}

/// The position problem: numerators of f and u over 1 + x^2 (turns) or 1 (slides).
template <class S>
struct PointProblem {
  Vec3<S> a, b, w;                      ///< rows (a_x, a_y), (b_x, b_y) of M
  Quadratic<S> f[3], unit, u[2], size;  ///< of f, 1, u, |f|^2
};

template <class S>
GARRA_HD_CALL void fill_point_problem(const Loop<S>& loop, const MeetingPoint& point, const JointValue<S>& offset,
                                      PointProblem<S>& to) {
  const Pose<S>&B2 = loop.link[1], &B3 = loop.link[2];
  const Vec3<S> c3 = axpy(S(point.near), column(loop.link[3].R, 2), loop.link[3].p);
  const Vec3<S> c = loop.slides[2] ? c3 : turn_only(offset, c3);
  to.w = transpose_times(loop.link[0].R, vec3<S>(S(0), S(0), S(point.far)) - loop.link[0].p);
  const Vec3<S> h = transpose_times(B3.R, B3.p);
  const S squares = dot(c, c) + dot(B3.p, B3.p), two(2), half(0.5), one(1);
  Quadratic<S>& size = to.size;
  if (loop.slides[2]) {
    const Vec3<S> at = B3.R * c + B3.p, along = column(B3.R, 2);
    for (int k = 0; k < 3; ++k) to.f[k] = {at[k], along[k], S(0)};
    to.unit = {one, S(0), S(0)};
    size = {dot(at, at), two * dot(at, along), one};
  } else {
    const Vec3<S> by_cos = B3.R * vec3<S>(c[0], c[1], S(0)), by_sin = B3.R * vec3<S>(-c[1], c[0], S(0));
    const Vec3<S> alone = axpy(c[2], column(B3.R, 2), B3.p);
    for (int k = 0; k < 3; ++k) to.f[k] = {alone[k] + by_cos[k], two * by_sin[k], alone[k] - by_cos[k]};
    to.unit = {one, S(0), one};
    const S rest = fma(two * h[2], c[2], squares), cosine = two * fma(h[0], c[0], h[1] * c[1]);
    size = {rest + cosine, S(4) * fma(h[1], c[0], -(h[0] * c[1])), rest - cosine};
  }
  const Vec3<S> rows[3] = {vec3(B2.R(0, 0), B2.R(0, 1), B2.R(0, 2)), vec3(B2.R(1, 0), B2.R(1, 1), B2.R(1, 2)),
                           vec3(B2.R(2, 0), B2.R(2, 1), B2.R(2, 2))};
  const int second = loop.slides[0] ? 1 : 2;
  to.a = loop.slides[0] ? rows[0] : transpose_times(B2.R, B2.p);
  to.b = rows[second];
  const S first = loop.slides[0] ? to.w[0] - B2.p[0] : half * (dot(to.w, to.w) - dot(B2.p, B2.p));
  to.u[0] = combine(first, to.unit, -to.a[2], to.f[2]);
  if (!loop.slides[0]) to.u[0] = combine(one, to.u[0], -half, size);
  to.u[1] = combine(to.w[second] - B2.p[second], to.unit, -to.b[2], to.f[2]);
}

/// Roots of a polynomial of degree N by the eigenvalues of its companion matrix.
template <class S, int N>
GARRA_HD Eigenvalues<S, N> find_roots(const S* c) {
  Mat<S, N, N> m = Mat<S, N, N>::zero();
  const S factor = S(-1) / select(c[N] == S(0), S(1), c[N]);
  for (int k = 0; k < N; ++k) {
    m(0, k) = factor * c[N - 1 - k];
    if (k > 0) m(k, k - 1) = S(1);
  }
  return compute_eigenvalues(m);
}

/// Of degree two: the sum without cancellation gives the root that is farther from 0, the product the other one.
template <class S>
GARRA_HD Eigenvalues<S, 2> find_roots(const Quadratic<S>& p) {
  const S zero(0), by = S(1) / select(p.c[2] == zero, S(1), p.c[2]), half = S(0.5) * (by * p.c[1]), last = by * p.c[0];
  const S square = fma(half, half, -last), size = sqrt(abs(square));
  const auto real = square >= zero;
  const S far = -select(half < zero, half - size, half + size), near = last / select(far == zero, S(1), far);
  Eigenvalues<S, 2> out;
  out.re[0] = select(real, far, -half);
  out.re[1] = select(real, select(far == zero, zero, near), -half);
  out.im[0] = select(real, zero, size);
  out.im[1] = -out.im[0];
  out.open = zero;
  return out;
}

/// x_3 of the four candidates of the position.
template <class S>
struct Roots {
  S x[4], exists[4], doubtful;
};
template <int N, class S>
GARRA_HD void take_root(const Eigenvalues<S, N>& from, int root, int k, Roots<S>& to) {
  const S size = fma(from.re[root], from.re[root], S(1)), im = abs(from.im[root]);
  to.x[k] = from.re[root] + from.im[root];
  to.exists[k] = select(im <= S(1e-6) * size, S(1), S(0));
  to.doubtful = select(im > S(0) && im <= S(1e-4) * size, S(1), to.doubtful);
}

/// Of arms whose axes 2 and 3 are parallel.
template <class S>
struct LevelProblem {
  S height, by;   ///< G = by (height b + t b'), b' across b
  S along;        ///< of a, on b'
  S level, rest;  ///< f_z, and t^2 + 2 along t + rest = 0
};
template <class S>
GARRA_HD LevelProblem<S> level_problem(const PointProblem<S>& p) {
  const S by = S(1) / sqrt(fma(p.b[0], p.b[0], p.b[1] * p.b[1])), two(2);
  const S height = by * p.u[1].c[0], x = p.f[0].c[0], y = p.f[1].c[0];  // the quadratics at 0
  const S along = by * fma(p.a[1], p.b[0], -(p.a[0] * p.b[1])), across = by * fma(p.a[0], p.b[0], p.a[1] * p.b[1]);
  const S sum = fma(two, p.u[0].c[0], fma(x, x, y * y));  // 2 u_1 + |G|^2
  return {height, by, along, p.f[2].c[0], fma(height, height, fma(two * height, across, -sum))};
}

template <class S>
GARRA_HD_CALL void find_point_roots(const PointProblem<S>& p, Placing placing, Roots<S>& to) {
  to.doubtful = S(0);
  if (placing == Placing::kLevel) {
    const LevelProblem<S> level = level_problem(p);
    const auto roots = find_roots(Quadratic<S>{{level.rest, S(2) * level.along, S(1)}});
    for (int k = 0; k < 4; ++k) take_root(roots, k / 2, k, to);
    return;
  }
  if (placing == Placing::kRankOne) {
    // The rows of M are parallel: b_n a - a_n b = 0 with n the larger direction of both.
    const S ax = abs(p.a[0]) + abs(p.b[0]), ay = abs(p.a[1]) + abs(p.b[1]);
    const auto first = ax >= ay;
    const S an = select(first, p.a[0], p.a[1]), bn = select(first, p.b[0], p.b[1]);
    const Quadratic<S> q = combine(bn, p.u[0], -an, p.u[1]);
    const auto roots = find_roots(q);
    for (int k = 0; k < 4; ++k) take_root(roots, k / 2, k, to);
    return;
  }
  const S det = fma(p.a[0], p.b[1], -(p.a[1] * p.b[0]));
  S quartic[5] = {S(0), S(0), S(0), S(0), S(0)};
  add_square(S(1), combine(p.b[1], p.u[0], -p.a[1], p.u[1]), quartic);
  add_square(S(1), combine(p.a[0], p.u[1], -p.b[0], p.u[0]), quartic);
  add_square(-(det * det), p.f[0], quartic);
  add_square(-(det * det), p.f[1], quartic);
  const auto roots = find_roots<S, 4>(quartic);
  for (int k = 0; k < 4; ++k) take_root(roots, k, k, to);
}

/// Z_2 from G.
template <class S>
GARRA_HD JointValue<S> find_second_joint(const Vec3<S>& f, const S& re, const S& im) {
  const S tiny(1e-300);
  const S c2 = fma(re, f[0], im * f[1]), s2 = fma(im, f[0], -(re * f[1]));
  const S n2 = sqrt(fma(c2, c2, s2 * s2)), by = S(1) / max(n2, tiny);
  return {select(n2 > tiny, by * c2, S(1)), by * s2, S(0)};
}
/// Z_1 behind it.
template <class S>
GARRA_HD JointValue<S> find_first_joint(const Loop<S>& loop, const PointProblem<S>& p, const Vec3<S>& f,
                                        const JointValue<S>& second) {
  const Vec3<S> g = loop.link[1].R * turn_only(second, f) + loop.link[1].p;
  if (loop.slides[0]) return {S(1), S(0), p.w[2] - g[2]};
  return turn_between(g, p.w);
}

/// What a root of the position makes of the first three joints: one candidate, or two.
template <class S>
struct ArmRoot {
  JointValue<S> third[2];
  Vec3<S> f[2];
  S re[2], im[2];
  Cosine<S> quality;
};

/// Both elbows of an arm whose axes 2 and 3 are parallel.
template <class S>
GARRA_HD void find_level(const PointProblem<S>& p, const S& t, const JointValue<S>& offset, ArmRoot<S>& to) {
  const LevelProblem<S> level = level_problem(p);
  const S half(0.5), x = half * (p.size.c[0] - p.size.c[2]), y = half * p.size.c[1];
  const S square = fma(level.height, level.height, fma(t, t, level.level * level.level));
  const BothTurns<S> elbow = solve_turn(x, y, fnma(half, p.size.c[0] + p.size.c[2], square));
  to.quality = elbow.quality;
  for (int side = 0; side < 2; ++side) {
    const JointValue<S>& z = elbow.z[side];
    to.re[side] = level.by * fma(level.height, p.b[0], -(t * p.b[1]));
    to.im[side] = level.by * fma(level.height, p.b[1], t * p.b[0]);
    for (int k = 0; k < 3; ++k) {
      const Quadratic<S>& f = p.f[k];
      to.f[side][k] = half * fma(f.c[0] - f.c[2], z.cos, fma(f.c[1], z.sin, f.c[0] + f.c[2]));
    }
    to.third[side] = {fma(z.cos, offset.cos, -(z.sin * offset.sin)), fma(z.sin, offset.cos, z.cos * offset.sin), S(0)};
  }
}

template <class S>
GARRA_HD_CALL void find_arm(const PointProblem<S>& p, const S& x, Placing placing, bool slides,
                            const JointValue<S>& offset, ArmRoot<S>& to) {
  if (placing == Placing::kLevel) return find_level(p, x, offset, to);
  const S unit = S(1) / value_at(p.unit, x);
  const Vec3<S> f = vec3(unit * value_at(p.f[0], x), unit * value_at(p.f[1], x), unit * value_at(p.f[2], x));
  const S u0 = unit * value_at(p.u[0], x), u1 = unit * value_at(p.u[1], x);
  to.f[0] = to.f[1] = f;
  to.quality = {S(1), S(0), S(1), S(0)};
  if (placing == Placing::kRankOne) {
    const S na = fma(p.a[0], p.a[0], p.a[1] * p.a[1]), nb = fma(p.b[0], p.b[0], p.b[1] * p.b[1]);
    const auto first = na >= nb;
    const S nx = select(first, p.a[0], p.b[0]), ny = select(first, p.a[1], p.b[1]);
    const S radius = sqrt(fma(f[0], f[0], f[1] * f[1])), length = sqrt(max(na, nb));
    to.quality = from_cosine(select(first, u0, u1) / max(length * radius, S(1e-300)));
    const S along = radius / max(length, S(1e-300));
    for (int side = 0; side < 2; ++side) {
      const S sine = side == 0 ? to.quality.sin : -to.quality.sin;
      to.re[side] = along * fma(nx, to.quality.cos, -(ny * sine));
      to.im[side] = along * fma(ny, to.quality.cos, nx * sine);
    }
  } else {
    const S det = S(1) / fma(p.a[0], p.b[1], -(p.a[1] * p.b[0]));
    to.re[0] = det * fma(p.b[1], u0, -(p.a[1] * u1));
    to.im[0] = det * fma(p.a[0], u1, -(p.b[0] * u0));
  }
  JointValue<S> third{S(1), S(0), x};
  if (!slides) {
    const JointValue<S> half = value_of_ratio(false, Ratio<S>{x, S(1)});
    third = {fma(half.cos, offset.cos, -(half.sin * offset.sin)), fma(half.sin, offset.cos, half.cos * offset.sin),
             S(0)};
  }
  to.third[0] = to.third[1] = third;
}

/// Z_4 R_5 Z_5 R_6 Z_6 = Q: the turns on both sides.
template <class S>
GARRA_HD_CALL void find_wrist(const Mat3<S>& R5, const Mat3<S>& R6, const Mat3<S>& Q, JointValue<S> (&z)[2][3],
                              Cosine<S>& quality, bool flips = false) {
  const Vec3<S> a = vec3(R5(2, 0), R5(2, 1), R5(2, 2)), b = column(R6, 2), target = column(Q, 2);
  const S x = fma(a[0], b[0], a[1] * b[1]), y = fma(a[1], b[0], -(a[0] * b[1]));
  const BothTurns<S> turns = solve_turn(x, y, fnma(a[2], b[2], target[2]));
  quality = turns.quality;
  const Vec3<S> X = column(Q, 0);
  for (int side = 0; side < 2; ++side) {
    JointValue<S>* to = z[side];
    to[1] = turns.z[side];
    if (side == 1 && flips) {
      for (int i = 0; i < 3; i += 2) to[i] = {-z[0][i].cos, -z[0][i].sin, S(0)};
      break;
    }
    const Vec3<S> v = R5 * turn_only(to[1], b);
    to[0] = turn_between(v, target);
    const Vec3<S> first = turn_only(to[0], R5 * turn_only(to[1], column(R6, 0)));
    const Vec3<S> second = turn_only(to[0], R5 * turn_only(to[1], column(R6, 1)));
    to[2] = {dot(first, X), dot(second, X), S(0)};
  }
}

}  // namespace kernel

/// All candidates of a loop with a meeting point.
template <class S>
GARRA_HD_CALL void find_spherical(const Loop<S>& loop, const MeetingPoint& point, double offset_angle,
                                  ClosedCandidates<S>& to) {
  using namespace kernel;
  const auto turn = sincos(offset_angle);
  const JointValue<S> offset{S(turn.cos), S(turn.sin), S(0)};
  PointProblem<S> problem;
  fill_point_problem(loop, point, offset, problem);
  Roots<S> roots;
  find_point_roots(problem, point.placing, roots);
  to.doubtful = roots.doubtful;
  for (int role = 0; role < kLoop; ++role) to.shared[role] = role < 3 ? 1 : 0;
  if (point.placing == Placing::kLevel) to.shared[0] = 2;
  ArmRoot<S> arm;
  Mat3<S> first;
  for (int k = 0; k < 4; ++k) {
    JointValue<S> wrists[2][3];
    JointValue<S>* z = to.z[2 * k];
    Cosine<S> wrist;
    const int side = point.placing == Placing::kQuartic ? 0 : k % 2;
    if (side == 0) find_arm(problem, roots.x[k], point.placing, loop.slides[2], offset, arm);
    z[1] = find_second_joint(arm.f[side], arm.re[side], arm.im[side]);
    if (side == 1 && point.placing == Placing::kLevel) {  // the same G and height, so the same Z_1
      z[0] = to.z[2 * k - 2][0];
    } else {
      z[0] = find_first_joint(loop, problem, arm.f[side], z[1]);
      first = turn_columns(loop.link[0].R, z[0]) * loop.link[1].R;
    }
    z[2] = arm.third[side];
    const S exists = arm.quality.exists * roots.exists[k];
    const Mat3<S> R = turn_columns(turn_columns(first, z[1]) * loop.link[2].R, z[2]) * loop.link[3].R;
    find_wrist(loop.link[4].R, loop.link[5].R, transpose(R), wrists, wrist, point.flips);
    for (int one = 0; one < 2; ++one) {
      const int c = 2 * k + one;
      for (int i = 0; i < kLoop; ++i) to.z[c][i] = i < 3 ? z[i] : wrists[one][i - 3];
      to.exists[c] = exists * wrist.exists;
      // Both sides of an aligned wrist are of one family.
      if (one == 1 && point.flips)
        to.exists[c] = select(fma(R(2, 0), R(2, 0), R(2, 1) * R(2, 1)) < S(kAligned), S(0), to.exists[c]);
    }
    to.doubtful =
        max(to.doubtful, select(roots.exists[k] > S(0), max(arm.quality.doubtful, exists * wrist.doubtful), S(0)));
  }
}

}  // namespace garra::chain::branches
