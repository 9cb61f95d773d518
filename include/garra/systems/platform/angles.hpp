// Angles and Euler parameters of the leg frames, for output only; no computation uses them
// (docs/theory/platform.md).
#pragma once

#include "garra/core/elementary.hpp"
#include "garra/systems/platform/full.hpp"
#include "garra/systems/platform/legs.hpp"

namespace garra::platform {

/// sin(alpha) up to which psi and phi are undetermined: they are quotients of rounding errors.
inline constexpr double kNoNutation = 1e-12;

/// (psi, alpha, phi) of A = Rz(psi) Rx(alpha) Rz(phi), alpha in [0, pi], with the columns x, y, z
/// of A. If alpha is 0 or pi only one angle is determined: phi is 0.
template <class S>
GARRA_HD Vec3<S> euler313(const Vec3<S>& x, const Vec3<S>& y, const Vec3<S>& z) {
  const S sine = sqrt(fma(z[0], z[0], z[1] * z[1]));
  const auto none = sine <= S(kNoNutation);
  return vec3<S>(atan2(select(none, x[1], z[0]), select(none, x[0], -z[1])), atan2(sine, z[2]),
                 select(none, S(0), atan2(x[2], y[2])));
}

/// The quaternion of the pair +-p whose scalar part is not negative.
template <class S>
GARRA_HD Quaternion<S> with_positive_scalar(const Quaternion<S>& p) {
  return select(p[0] < S(0), S(-1), S(1)) * p;
}

/// Angles of a universal joint: about k, which is fixed to the base, from the leg's direction at
/// home; and about the leg's own x axis, from the position normal to k. Both right-handed.
template <class S>
struct UniversalTurns {
  S about_k, about_x;  ///< [rad]
};

template <class S>
GARRA_HD UniversalTurns<S> universal_turns(const Vec3<S>& k, const Vec3<S>& home, const LegFrame<S>& f) {
  const Vec3<S> from = cross(home, k);  // along x at home; any length
  return {atan2(dot(k, cross(from, f.x)), dot(from, f.x)), atan2(f.kz, -f.ky)};
}

}  // namespace garra::platform
