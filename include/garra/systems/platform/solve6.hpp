// Forces of six legs from their total wrench: block elimination with two divisions, one step of
// refinement, and pivots if that was not enough.
#pragma once

#include <limits>

#include "garra/core/factor.hpp"
#include "garra/core/mat.hpp"
#include "garra/systems/platform/model.hpp"

namespace garra::platform {

/// Wrench of one newton of every leg: columns of J^T, rows of the length Jacobian.
template <class S>
struct LegDirections {
  Vec3<S> force[kLegs], moment[kLegs];
};

template <class S>
GARRA_HD void set_leg(int i, const Vec<S, 6>& row, LegDirections<S>& d) {
  d.force[i] = vec3<S>(row[0], row[1], row[2]);
  d.moment[i] = vec3<S>(row[3], row[4], row[5]);
}

/// Refined forces are accepted if the correction was below this share of the largest: the next one
/// would be below its square, which is rounding.
inline constexpr double kTrustedCorrection = 1e-9;

/// J^T by blocks of three legs, as in newton_step() of forward.hpp: every other leg, since adjacent
/// legs tend to be parallel.
template <class S>
struct DirectionBlocks {
  Vec3<S> even[3];    ///< rows of E^-1, E = force directions of the even legs
  Vec3<S> share[3];   ///< columns of E^-1 O, O = those of the odd legs
  Vec3<S> normal[3];  ///< rows of the inverse of the odd legs' remaining moments
};

/// Rows of the inverse of the matrix with columns a, b, c.
template <class S>
GARRA_HD void inverse_rows(const Vec3<S>& a, const Vec3<S>& b, const Vec3<S>& c, Vec3<S> (&row)[3]) {
  const Vec3<S> n = cross(b, c);
  const S inverse = S(1) / dot(a, n);
  row[0] = inverse * n;
  row[1] = inverse * cross(c, a);
  row[2] = inverse * cross(a, b);
}

template <class S>
GARRA_HD Vec3<S> times_rows(const Vec3<S> (&row)[3], const Vec3<S>& a) {
  return vec3<S>(dot(row[0], a), dot(row[1], a), dot(row[2], a));
}

/// a - (c0, c1, c2) x
template <class S>
GARRA_HD Vec3<S> less_columns(const Vec3<S>& a, const Vec3<S>& c0, const Vec3<S>& c1, const Vec3<S>& c2,
                              const Vec3<S>& x) {
  Vec3<S> out;
  for_each_index<3>([&](auto k) { out[k] = fnma(c0[k], x[0], fnma(c1[k], x[1], fnma(c2[k], x[2], a[k]))); });
  return out;
}

template <class S>
GARRA_HD DirectionBlocks<S> make_direction_blocks(const LegDirections<S>& d) {
  DirectionBlocks<S> b;
  inverse_rows(d.force[0], d.force[2], d.force[4], b.even);
  Vec3<S> rest[3];
  for_each_index<3>([&](auto k) {
    b.share[k] = times_rows(b.even, d.force[2 * k + 1]);
    rest[k] = less_columns(d.moment[2 * k + 1], d.moment[0], d.moment[2], d.moment[4], b.share[k]);
  });
  inverse_rows(rest[0], rest[1], rest[2], b.normal);
  return b;
}

template <class S>
GARRA_HD Vec<S, 6> solve(const LegDirections<S>& d, const DirectionBlocks<S>& b, const Vec3<S>& force,
                         const Vec3<S>& moment) {
  const Vec3<S> alone = times_rows(b.even, force);  // the even legs without the odd ones
  const Vec3<S> odd = times_rows(b.normal, less_columns(moment, d.moment[0], d.moment[2], d.moment[4], alone));
  const Vec3<S> even = less_columns(alone, b.share[0], b.share[1], b.share[2], odd);
  return {{even[0], odd[0], even[1], odd[1], even[2], odd[2]}};
}

template <class S>
GARRA_HD_CALL void pivoted_forces(const LegDirections<S>& d, const Vec3<S>& force, const Vec3<S>& moment,
                                  Vec<S, 6>& f) {
  Mat<S, 6, 6> a;
  for (int i = 0; i < kLegs; ++i)
    for (int k = 0; k < 3; ++k) {
      a(k, i) = d.force[i][k];
      a(3 + k, i) = d.moment[i][k];
    }
  f = solve(factor_lu(a), Vec<S, 6>{{force[0], force[1], force[2], moment[0], moment[1], moment[2]}});
}

/// Forces of the legs for a wrench; if J^T is singular, those of factor_lu().
template <class S>
GARRA_HD Vec<S, 6> leg_forces(const LegDirections<S>& d, const Vec3<S>& force, const Vec3<S>& moment) {
  const DirectionBlocks<S> b = make_direction_blocks(d);
  Vec<S, 6> f = solve(d, b, force, moment);
  Vec3<S> left_force = force, left_moment = moment;
  for_each_index<kLegs>([&](auto i) {
    left_force = axpy(-f[i], d.force[i], left_force);
    left_moment = axpy(-f[i], d.moment[i], left_moment);
  });
  const Vec<S, 6> correction = solve(d, b, left_force, left_moment);
  S wrong = abs(correction[0]), largest = abs(f[0]), sum = correction[0];
  for_each_index<kLegs>([&](auto i) {
    wrong = max(wrong, abs(correction[i]));
    largest = max(largest, abs(f[i]));
    sum += correction[i];  // not finite if a term is not: max may ignore a NaN
  });
  f += correction;
  const auto finite = abs(sum) <= S(std::numeric_limits<RealOf<S>>::max());
  const auto lost = !(finite && wrong <= S(kTrustedCorrection) * largest);
  if (any(lost)) {
    Vec<S, 6> pivoted;
    pivoted_forces(d, force, moment, pivoted);
    f = select(lost, pivoted, f);
  }
  return f;
}

}  // namespace garra::platform
