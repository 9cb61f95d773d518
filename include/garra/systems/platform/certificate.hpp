// Proof that a pose has given lengths, and that no other one near it has them
// (docs/theory/platform.md): Newton-Kantorovich with an approximate inverse. About a pose, with u =
// (dr, L turn) in exponential coordinates of the turn,
//
//   F_i(u) = (|d_i|^2 - L_i^2) / 2,   X ~ F'(0)^-1,   Y >= |X F(0)|,   Z0 >= |1 - X F'(0)|,   Z2 >= |X F''| near 0.
//
// If (1 - Z0)^2 > 2 Z2 Y, F has a zero within the smaller root of Z2 r^2 / 2 - (1 - Z0) r + Y and
// no other within the larger one. X need not be exact: only Y and Z0 need a rounding allowance.
//
// F'' is bounded everywhere: F_i = (r - b_i).exp(turn) a_i + (|r - b_i|^2 + |a_i|^2 - L_i^2) / 2
// with a_i = A s_i.
//
// Bounds: |D exp[t]| <= |t| and |D^2 exp[t, t]| <= |t|^2. D^2 exp[t, t] has rank 2 and Frobenius norm
// <= sqrt(2) |t|^2: it is twice an integral of products of rotations and two skew matrices over a
// simplex of volume 1/2.
#pragma once

#include "garra/core/elementary.hpp"
#include "garra/systems/platform/model.hpp"
#include "garra/systems/platform/pose.hpp"

namespace garra::platform {

/// Radii about a pose, of u [m]. Without a proof `exists` is infinite and `unique` zero.
template <class S>
struct Radii {
  S exists;  ///< a pose with the lengths lies within
  S unique;  ///< and no other one within this
};

/// Data of a pose for the certificate that do not depend on the lengths.
template <class S>
struct Neighborhood {
  Place<S> place;
  Mat<S, 6, 6> inverse;  ///< X
  Vec<S, 6> squares;     ///< |d_i|^2
  S gap;                 ///< 1 - Z0
  S bend;                ///< Z2 within `reach`
  S reach;               ///< [m]
  S noise;               ///< rounding of |X F| [m]
};

namespace certificate {

/// Computed radii are compared with this relative tolerance; their rounding is far below.
inline constexpr double kSlack = 1e-12;
/// Rounding of d_i, in units of eps (|r| + |s_i| + |b_i|): a rotation that is orthogonal to a few eps, and three sums.
inline constexpr double kRoundings = 32;

/// Frobenius norm of a^T a: its root is at least the largest singular value of a, and at most
/// 3^(1/4) or 6^(1/4) of it.
template <class S, int R, int C>
GARRA_HD S gram_norm(const Mat<S, R, C>& a) {
  S sum = S(0);
  for (int i = 0; i < C; ++i) {
    for (int j = 0; j <= i; ++j) {
      S entry = S(0);
      for (int k = 0; k < R; ++k) entry = fma(a(k, i), a(k, j), entry);
      sum = fma(S(i == j ? 1 : 2) * entry, entry, sum);
    }
  }
  return sqrt(sum);
}

template <class S, int R, int C>
GARRA_HD S frobenius(const Mat<S, R, C>& a) {
  S sum = S(0);
  for (int k = 0; k < R * C; ++k) sum = fma(a[k], a[k], sum);
  return sqrt(sum);
}

/// Bound of X F''[u, u]: shift |dr|^2 + 2 mixed |dr| |L turn| + (turn + per_reach |dr of the pose|)
/// |L turn|^2.
template <class S>
struct Bends {
  S shift, mixed, turn, per_reach;
};

/// Its bound over all |u| = 1, and poses within `reach`.
template <class S>
GARRA_HD S largest_bend(const Bends<S>& b, const S& reach) {
  const S half(0.5), turn = fma(b.per_reach, reach, b.turn);
  const S apart = half * (b.shift - turn);
  return fma(half, b.shift + turn, sqrt(fma(apart, apart, b.mixed * b.mixed))) * S(1 + kSlack);
}

/// A pose with its legs, as the certificate needs it.
template <class S>
struct Scene {
  Place<S> place;
  Vec3<S> base[kLegs], lever[kLegs], d[kLegs];
  S length;  ///< characteristic
};

/// Inverse without pivots: accurate enough for all but nearly singular matrices.
template <class S>
GARRA_HD Mat3<S> plain_inverse(const Mat3<S>& rows) {
  const auto row = [&](int i) { return vec3<S>(rows(i, 0), rows(i, 1), rows(i, 2)); };
  const Vec3<S> n0 = cross(row(1), row(2)), n1 = cross(row(2), row(0)), n2 = cross(row(0), row(1));
  const S inverse = S(1) / dot(row(0), n0);
  return {{inverse * n0[0], inverse * n1[0], inverse * n2[0],  //
           inverse * n0[1], inverse * n1[1], inverse * n2[1],  //
           inverse * n0[2], inverse * n1[2], inverse * n2[2]}};
}

/// An approximate inverse, by elimination of dr in the rows of legs 0, 2, 4 as in newton_step(). Z0
/// measures its accuracy.
template <class S>
GARRA_HD Mat<S, 6, 6> block_inverse(const Mat<S, 6, 6>& J) {
  Mat3<S> even, even_turn, odd, odd_turn;
  for_each_index<3>([&](auto i) {
    for_each_index<3>([&](auto j) {
      even(i, j) = J(2 * i, j);
      even_turn(i, j) = J(2 * i, 3 + j);
      odd(i, j) = J(2 * i + 1, j);
      odd_turn(i, j) = J(2 * i + 1, 3 + j);
    });
  });
  const Mat3<S> inverse = plain_inverse(even);
  const Mat3<S> per_turn = inverse * even_turn, share = odd * inverse;
  const Mat3<S> turn_odd = plain_inverse(odd_turn - odd * per_turn);
  const Mat3<S> turn_even = -(turn_odd * share);
  const Mat3<S> shift_odd = -(per_turn * turn_odd), shift_even = inverse - per_turn * turn_even;
  Mat<S, 6, 6> X;
  for_each_index<3>([&](auto i) {
    for_each_index<3>([&](auto j) {
      X(i, 2 * j) = shift_even(i, j);
      X(i, 2 * j + 1) = shift_odd(i, j);
      X(3 + i, 2 * j) = turn_even(i, j);
      X(3 + i, 2 * j + 1) = turn_odd(i, j);
    });
  });
  return X;
}

template <class S>
GARRA_HD Bends<S> compute_bends(const Scene<S>& scene, const Mat<S, 6, 6>& X) {
  const S per_length = S(1) / scene.length;
  Vec3<S> middle = Vec3<S>::zero();
  for (int i = 0; i < kLegs; ++i) middle += S(1.0 / kLegs) * scene.base[i];
  Vec<S, 6> ones = Vec<S, 6>::zero();
  Mat<S, 6, 3> levers = Mat<S, 6, 3>::zero();  // sum of x_i a_i^T
  Mat<S, 9, 6> pairs = Mat<S, 9, 6>::zero();   // sum of (a_i (b_i - middle)^T) x_i^T
  for (int i = 0; i < kLegs; ++i) {
    const Vec3<S>& a = scene.lever[i];
    const Vec3<S> b = scene.base[i] - middle;
    for (int k = 0; k < 6; ++k) {
      ones[k] += X(k, i);
      for (int j = 0; j < 3; ++j) {
        const S part = X(k, i) * a[j];
        levers(k, j) += part;
        for (int l = 0; l < 3; ++l) pairs(3 * j + l, k) = fma(part, b[l], pairs(3 * j + l, k));
      }
    }
  }
  const S lever = sqrt(gram_norm(levers)), pair = sqrt(S(2) * gram_norm(pairs));
  Bends<S> to;
  to.shift = norm(ones);
  to.mixed = per_length * lever;
  to.per_reach = per_length * to.mixed;
  to.turn = fma(to.per_reach, norm(scene.place.r - middle), per_length * (per_length * pair));
  return to;
}

template <class S>
GARRA_HD_CALL void look_around(const Scene<S>& scene, Neighborhood<S>& n) {
  const S one(1), half(0.5), three(3), eps(kRoundings * std::numeric_limits<RealOf<S>>::epsilon());
  const S per_length = one / scene.length, size = dot(scene.place.r, scene.place.r);
  n.place = scene.place;
  Mat<S, 6, 6> J;
  S rows = S(0), squares = S(0);  // of bounds of J's rows and of F's terms before they cancel
  for (int i = 0; i < kLegs; ++i) {
    const Vec3<S> turn = per_length * cross(scene.lever[i], scene.d[i]);
    for (int j = 0; j < 3; ++j) J(i, j) = scene.d[i][j], J(i, 3 + j) = turn[j];
    n.squares[i] = dot(scene.d[i], scene.d[i]);
    const S lever = dot(scene.lever[i], scene.lever[i]);
    const S square = three * (size + lever + dot(scene.base[i], scene.base[i]));  // at least that of the sum
    rows = fma(square, fma(per_length * per_length, lever, one), rows);
    squares = fma(square, square, squares);
  }
  n.inverse = block_inverse(J);
  const S strength = frobenius(n.inverse);
  n.gap = one - frobenius(Mat<S, 6, 6>::identity() - n.inverse * J) - eps * (strength * sqrt(rows));
  n.noise = eps * (strength * sqrt(squares));
  const Bends<S> bends = compute_bends(scene, n.inverse);
  // The larger root is at most 2 / Z2, about the distance to which Z2 must hold. Turns below pi
  // have one vector each.
  n.reach = S(0);
  for (int k = 0; k < 2; ++k)
    n.reach = min(half * (n.reach + S(2) / largest_bend(bends, n.reach)), S(3) * scene.length);
  n.bend = largest_bend(bends, n.reach);
}

}  // namespace certificate

/// L: the characteristic length.
template <class S, class T>
GARRA_HD Neighborhood<S> neighborhood(const Model<T>& m, const Place<S>& place, const S& L) {
  certificate::Scene<S> scene;
  scene.place = place;
  scene.length = L;
  const Mat3<S> A = rotation_matrix(place.p);
  for_each_index<kLegs>([&](auto i) {
    scene.base[i] = cast<S>(m.leg[i].base);
    scene.lever[i] = A * cast<S>(m.leg[i].anchor);
    scene.d[i] = scene.lever[i] + (place.r - scene.base[i]);
  });
  Neighborhood<S> n;
  certificate::look_around(scene, n);
  return n;
}

/// X F, the Newton step's negative, for squares of lengths.
template <class S>
GARRA_HD Vec<S, 6> newton_correction(const Neighborhood<S>& n, const Vec<S, 6>& squares) {
  return n.inverse * (S(0.5) * (n.squares - squares));
}

/// Radii for |X F| of some lengths.
template <class S>
GARRA_HD Radii<S> compute_radii(const Neighborhood<S>& n, const S& newton) {
  const S zero(0), infinite(std::numeric_limits<RealOf<S>>::infinity());
  const S Y = newton + n.noise;
  const S square = n.gap * n.gap, rest = fma(S(-2) * n.bend, Y, square);
  const auto proven = n.gap > zero && rest > S(certificate::kSlack) * square;
  const S sum = n.gap + sqrt(select(proven, rest, zero));
  const S exists = S(2 + certificate::kSlack) * (Y / sum);
  const S unique = min(sum / n.bend, n.reach) * S(1 - certificate::kSlack);
  const auto both = proven && exists < unique;
  return {select(both, exists, infinite), select(both, unique, zero)};
}

/// |u| between two poses: it obeys the triangle inequality.
template <class S>
GARRA_HD S pose_distance(const Place<S>& a, const Place<S>& b, const S& L) {
  const Quaternion<S> q = product(a.p, conjugate(b.p));
  const S sine = norm(vec3<S>(q[1], q[2], q[3]));
  const S turn = S(2) * (L * atan2(sine, abs(q[0])));
  const Vec3<S> dr = a.r - b.r;
  return sqrt(fma(turn, turn, dot(dr, dr))) * S(1 + certificate::kSlack);
}

/// Whether a pose proven within `exists` of `other` lies in the uniqueness radius about `n`: both are
/// then the same pose.
template <class S>
GARRA_HD MaskOf<S> linked(const Neighborhood<S>& n, const Radii<S>& about, const Place<S>& other, const S& exists,
                          const S& L) {
  const S rounding = S(16 * std::numeric_limits<RealOf<S>>::epsilon()) * (norm(n.place.r) + L);
  return pose_distance(n.place, other, L) + (exists + rounding) <= about.unique;
}

}  // namespace garra::platform
