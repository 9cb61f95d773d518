// Loops of three or four turning joints and slides, in any order (docs/theory/chain.md, "All solutions"). Slides do not
// turn the tool. The orientation gives three turns, as of a wrist, and the place is linear in the slides then. With two
// slides one more turn is free: the place has to lie in the plane of the slides, an equation of degree eight.
#pragma once

#include "garra/systems/chain/branches/spherical.hpp"

namespace garra::chain::branches {

namespace kernel {

/// Rotations between the turning joints: L[0] Z L[1] Z ... = 1.
template <class S>
GARRA_HD void fill_rotations(const Loop<S>& loop, Mat3<S> (&L)[kLoop]) {
  for (Mat3<S>& one : L) one = Mat3<S>::identity();
  int turns = 0;
  for (int role = 0; role < kLoop; ++role) {
    L[turns] = L[turns] * loop.link[role].R;
    if (!loop.slides[role]) ++turns;
  }
}

/// All joint values from the turns. Returns how far the loop is open across two slides, times the sine between them.
template <class S>
GARRA_HD_CALL S place_slides(const Loop<S>& loop, const JointValue<S>* turns, JointValue<S>* z) {
  Pose<S> all = Pose<S>::identity();
  Mat3<S> along;
  int turn = 0, slide = 0;
  for (int role = 0; role < kLoop; ++role) {
    all = all * loop.link[role];
    if (loop.slides[role]) {
      for (int r = 0; r < 3; ++r) along(r, slide) = all.R(r, 2);
      ++slide;
    } else {
      z[role] = turns[turn++];
      all.R = all.R * joint_rotation(z[role]);
    }
  }
  const Vec3<S> across = cross(column(along, 0), column(along, 1));
  for (int r = 0; slide == 2 && r < 3; ++r) along(r, 2) = across[r];
  const Vec3<S> way = solve(factor_lu(along), -all.p);
  slide = 0;
  for (int role = 0; role < kLoop; ++role)
    if (loop.slides[role]) z[role] = {S(1), S(0), way[slide++]};
  return dot(across, all.p);
}

}  // namespace kernel

/// Both candidates of three slides.
template <class S>
GARRA_HD_CALL void find_sliding(const Loop<S>& loop, ClosedCandidates<S>& to) {
  using namespace kernel;
  Mat3<S> L[kLoop];
  fill_rotations(loop, L);
  to.exists = Vec<S, kClosed>::zero();
  to.doubtful = S(0);
  for (int& one : to.shared) one = 0;
  JointValue<S> z[2][3];
  Cosine<S> quality;
  find_wrist(L[1], L[2], transpose(L[3] * L[0]), z, quality);
  for (int side = 0; side < 2; ++side) {
    place_slides(loop, z[side], to.z[side]);
    to.exists[side] = quality.exists;
  }
  to.doubtful = max(to.doubtful, quality.doubtful);
}

/// Two slides: candidates of the first turn, theta = phase + 2 atan(x).
template <class S>
struct TwoSlides {
  Mat3<S> L[kLoop];
  S cos, sin;  ///< of the phase
  Eigenvalues<S, kClosed> x;
};

namespace kernel {

/// What the other three turns make together, once the first one is known.
template <class S>
GARRA_HD Mat3<S> wrist_rotation(const Mat3<S>* L, const JointValue<S>& first) {
  return transpose(L[4] * (L[0] * (joint_rotation(first) * L[1])));
}

/// a + r b with r^2 = `square`, which the numbers of one wrist share. A negative one means complex turns.
template <class S>
struct Rooted {
  S a, b;
};
template <class S>
GARRA_HD Rooted<S> multiply(const Rooted<S>& x, const Rooted<S>& y, const S& square) {
  return {fma(x.a, y.a, square * (x.b * y.b)), fma(x.a, y.b, x.b * y.a)};
}
template <class S>
GARRA_HD Rooted<S> combine(const S& s, const Rooted<S>& x, const S& t, const Rooted<S>& y) {
  return {fma(s, x.a, t * y.a), fma(s, x.b, t * y.b)};
}

/// Cosine and sine of a turn.
template <class S>
struct RootedTurn {
  Rooted<S> cos, sin;
};

/// Cosines and sines of all turns that follow from the first one, and 1 - T_zz^2, by which two of them are divided.
template <class S>
struct RootedTurns {
  RootedTurn<S> z[4];
  S square, divisor;
};
template <class S>
GARRA_HD void fill_turns(const Mat3<S>* L, const S& cos, const S& sin, RootedTurns<S>& to) {
  const S zero(0), one(1);
  const Mat3<S>&A = L[2], &B = L[3];
  const Mat3<S> T = wrist_rotation(L, JointValue<S>{cos, sin, zero});
  const S x = fma(A(2, 0), B(0, 2), A(2, 1) * B(1, 2)), y = fma(A(2, 1), B(0, 2), -(A(2, 0) * B(1, 2)));
  const S by = one / max(fma(x, x, y * y), S(1e-300)), m = fnma(A(2, 2), B(2, 2), T(2, 2));
  to.square = fnma(m, m, fma(x, x, y * y));
  to.divisor = fnma(T(2, 2), T(2, 2), one);
  to.z[0] = {{cos, zero}, {sin, zero}};
  to.z[2] = {{by * (x * m), -(by * y)}, {by * (y * m), by * x}};
  const auto& [c, s] = to.z[2];
  const Rooted<S> w0 = combine(B(0, 2), c, -B(1, 2), s), w1 = combine(B(0, 2), s, B(1, 2), c);
  const Rooted<S> v0 = combine(A(2, 0), c, A(2, 1), s), v1 = combine(A(2, 1), c, -A(2, 0), s);
  const auto divided = [&](const S& first, const Rooted<S>& p, const S& second, const Rooted<S>& q, const S& rest) {
    Rooted<S> sum = combine(first, p, second, q);
    sum.a += rest;
    return sum;
  };
  const auto turn = [&](const Rooted<S>& p, const Rooted<S>& q, const S& t0, const S& t1, const S& sign) {
    const S part = one / to.divisor;
    return RootedTurn<S>{combine(part * t0, p, part * t1, q), combine(sign * part * t1, p, -(sign * part) * t0, q)};
  };
  const Rooted<S> a0 = divided(A(0, 0), w0, A(0, 1), w1, A(0, 2) * B(2, 2));
  const Rooted<S> a1 = divided(A(1, 0), w0, A(1, 1), w1, A(1, 2) * B(2, 2));
  const Rooted<S> c0 = divided(B(0, 0), v0, B(1, 0), v1, A(2, 2) * B(2, 0));
  const Rooted<S> c1 = divided(B(0, 1), v0, B(1, 1), v1, A(2, 2) * B(2, 1));
  to.z[1] = turn(a0, a1, T(0, 2), T(1, 2), one);
  to.z[3] = turn(c0, c1, T(2, 0), T(2, 1), -one);
}

/// The product of both openings across the slides for a first turn, times 1 - T_zz^2: a sum of cosines and sines of 0
/// to 4 times this turn.
template <class S>
GARRA_HD_CALL S opening_product(const Loop<S>& loop, const Mat3<S>* L, const S& cos, const S& sin) {
  RootedTurns<S> turns;
  fill_turns(L, cos, sin, turns);
  Mat3<S> Ra = Mat3<S>::identity(), Rb = Mat3<S>::zero();
  Vec3<S> pa = Vec3<S>::zero(), pb = pa, along_a[2], along_b[2];
  int turn = 0, slide = 0;
  for (int role = 0; role < kLoop; ++role) {
    pa = pa + Ra * loop.link[role].p;
    pb = pb + Rb * loop.link[role].p;
    Ra = Ra * loop.link[role].R;
    Rb = Rb * loop.link[role].R;
    if (loop.slides[role]) {
      along_a[slide] = column(Ra, 2);
      along_b[slide++] = column(Rb, 2);
      continue;
    }
    const auto& [c, s] = turns.z[turn++];
    for (int r = 0; r < 3; ++r) {
      const Rooted<S> u{Ra(r, 0), Rb(r, 0)}, v{Ra(r, 1), Rb(r, 1)};
      const Rooted<S> uc = multiply(u, c, turns.square), us = multiply(u, s, turns.square);
      const Rooted<S> vc = multiply(v, c, turns.square), vs = multiply(v, s, turns.square);
      Ra(r, 0) = uc.a + vs.a, Rb(r, 0) = uc.b + vs.b;
      Ra(r, 1) = vc.a - us.a, Rb(r, 1) = vc.b - us.b;
    }
  }
  const Vec3<S> across_a = cross(along_a[0], along_a[1]) + turns.square * cross(along_b[0], along_b[1]);
  const Vec3<S> across_b = cross(along_a[0], along_b[1]) + cross(along_b[0], along_a[1]);
  const S a = fma(turns.square, dot(across_b, pb), dot(across_a, pa)), b = dot(across_a, pb) + dot(across_b, pa);
  return turns.divisor * fma(a, a, -(turns.square * (b * b)));
}

inline constexpr int kDegree = kClosed / 2;  ///< of opening_product() in the turn

/// Coefficients in x of (1 + x^2)^4 cos(k t) and (1 + x^2)^4 sin(k t), x = tan(t/2): parts of
/// (1 + ix)^(4+k) (1 - ix)^(4-k).
struct HalfTurns {
  double cos[kDegree + 1][kClosed + 1] = {}, sin[kDegree + 1][kClosed + 1] = {};
};
constexpr HalfTurns half_turns() {
  HalfTurns to;
  for (int k = 0; k <= kDegree; ++k) {
    double* const re = to.cos[k];
    double* const im = to.sin[k];
    re[0] = 1;
    for (int factor = 0; factor < kClosed; ++factor)
      for (int j = kClosed; j > 0; --j) {
        const double sign = factor < kDegree + k ? 1 : -1, a = re[j - 1], b = im[j - 1];
        re[j] -= sign * b;
        im[j] += sign * a;
      }
  }
  return to;
}

}  // namespace kernel

template <class S>
GARRA_HD_CALL void eliminate(const Loop<S>& loop, double /*offset*/, TwoSlides<S>& to) {
  using namespace kernel;
  constexpr int kSamples = kClosed + 1;
  fill_rotations(loop, to.L);
  double c[kSamples], s[kSamples];
  Vec<S, kSamples> f;
  S most(-1);
  for (int j = 0; j < kSamples; ++j) {
    const auto turn = sincos(6.283185307179586 * j / kSamples);
    c[j] = turn.cos, s[j] = turn.sin;
    f[j] = opening_product(loop, to.L, S(c[j]), S(s[j]));
    const auto larger = abs(f[j]) > most;
    most = select(larger, abs(f[j]), most);
    // Half a turn from the largest: it is the leading coefficient below.
    to.cos = select(larger, S(-c[j]), to.cos);
    to.sin = select(larger, S(-s[j]), to.sin);
  }
  constexpr HalfTurns half = half_turns();
  Vec<S, kClosed + 1> p = Vec<S, kClosed + 1>::zero();
  S turned_cos(1), turned_sin(0);
  for (int k = 0; k <= kDegree; ++k) {
    S a(0), b(0);
    for (int j = 0; j < kSamples; ++j) {
      a = fma(S((k == 0 ? 1.0 : 2.0) / kSamples * c[j * k % kSamples]), f[j], a);
      b = fma(S(2.0 / kSamples * s[j * k % kSamples]), f[j], b);
    }
    const S even = fma(a, turned_cos, b * turned_sin), odd = fma(b, turned_cos, -(a * turned_sin));
    for (int j = 0; j <= kClosed; ++j) p[j] = fma(S(half.cos[k][j]), even, fma(S(half.sin[k][j]), odd, p[j]));
    const S next = fma(turned_cos, to.cos, -(turned_sin * to.sin));
    turned_sin = fma(turned_sin, to.cos, turned_cos * to.sin);
    turned_cos = next;
  }
  to.x = find_roots<S, kClosed>(p.m);
}

/// Joint values in the order of the roles that belong to an x, on the side that the loop closes better.
template <class S>
GARRA_HD_CALL void find_joint_values(const Loop<S>& loop, const TwoSlides<S>& from, double /*offset*/, const S& x,
                                     Vec<S, kLoop>& q) {
  using namespace kernel;
  const S by = S(1) / fma(x, x, S(1)), c = by * fnma(x, x, S(1)), s = by * (S(2) * x);
  JointValue<S> turns[4] = {{fma(c, from.cos, -(s * from.sin)), fma(s, from.cos, c * from.sin), S(0)}};
  JointValue<S> wrists[2][3];
  Cosine<S> quality;
  find_wrist(from.L[2], from.L[3], wrist_rotation(from.L, turns[0]), wrists, quality);
  S least(std::numeric_limits<RealOf<S>>::infinity());
  for (int side = 0; side < 2; ++side) {
    JointValue<S> z[kLoop];
    for (int i = 0; i < 3; ++i) turns[1 + i] = wrists[side][i];
    const S open = abs(place_slides(loop, turns, z));
    const auto better = open < least;
    least = select(better, open, least);
    q = select(better, to_values(loop, z), q);
  }
}

}  // namespace garra::chain::branches
