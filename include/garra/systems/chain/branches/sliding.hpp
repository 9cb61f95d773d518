// Loops of three or four turning joints and slides, in any order (docs/theory/chain.md, "All solutions"). Slides do not
// turn the tool. The orientation gives three turns, as of a wrist, and the place is linear in the slides then. With two
// slides one more turn is free: the place has to lie in the plane of the slides.
#pragma once

#include "garra/systems/chain/branches/spherical.hpp"

namespace garra::chain::branches {

inline constexpr int kSweep = 96;  ///< values of the free turn

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
  for (int side = 0; side < 2; ++side) {
    JointValue<S> z[3];
    Cosine<S> quality;
    find_wrist(L[1], L[2], transpose(L[3] * L[0]), side, z, quality);
    place_slides(loop, z, to.z[side]);
    to.exists[side] = quality.exists;
    to.doubtful = max(to.doubtful, quality.doubtful);
  }
}

/// Two slides: what the first turn leaves.
template <class S>
struct Sweep {
  Mat3<S> L[kLoop];
  S open[2][kSweep], exists[2][kSweep];  ///< by the side of the other turns
};

/// All joint values for a first turn. Returns how far the loop is open.
template <class S>
GARRA_HD_CALL S find_swept(const Loop<S>& loop, const Mat3<S>* L, const kernel::JointValue<S>& first, int side,
                           kernel::JointValue<S>* z, S& exists) {
  using namespace kernel;
  JointValue<S> turns[4] = {first};
  Cosine<S> quality;
  find_wrist(L[2], L[3], transpose(L[4] * (L[0] * (joint_rotation(first) * L[1]))), side, turns + 1, quality);
  exists = quality.exists;
  return place_slides(loop, turns, z);
}

template <class S>
GARRA_HD_CALL void fill_sweep(const Loop<S>& loop, Sweep<S>& to) {
  kernel::fill_rotations(loop, to.L);
  kernel::JointValue<S> z[kLoop];
  for (int k = 0; k < kSweep; ++k) {
    const auto turn = sincos(6.283185307179586 * k / kSweep);
    for (int side = 0; side < 2; ++side)
      to.open[side][k] = find_swept(loop, to.L, {S(turn.cos), S(turn.sin), S(0)}, side, z, to.exists[side][k]);
  }
}

/// Where behind value k of the first turn a solution may lie, as a part of the interval; below 0: nowhere. The opening
/// changes its sign, or has a low there without doing so, or the two sides end with opposite signs.
template <class S>
GARRA_HD S find_crossing(const Sweep<S>& from, int k, int side) {
  const int next = (k + 1) % kSweep, before = (k + kSweep - 1) % kSweep, behind = (k + 2) % kSweep;
  const S *g = from.open[side], *other = from.open[1 - side], *e = from.exists[side], zero(0), a = g[k], b = g[next];
  const auto here = e[k] > zero, there = e[next] > zero;
  const auto low = [&](int i, int j, int l) {
    return e[i] * e[j] * e[l] > zero && g[i] * g[j] > zero && g[l] * g[j] > zero && abs(g[j]) <= abs(g[i]) &&
           abs(g[j]) <= abs(g[l]);
  };
  S part = select(low(before, k, next), S(0.3), select(low(k, next, behind), S(0.7), S(-1)));
  part = select(here && !there && a * other[k] <= zero, S(0.1), part);
  part = select(there && !here && b * other[next] <= zero, S(0.9), part);
  return select(here && there && a * b <= zero, a / select(a == b, S(1), a - b), part);
}

}  // namespace garra::chain::branches
