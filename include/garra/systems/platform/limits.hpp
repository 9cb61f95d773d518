// Margins to the joints' limits (docs/theory/platform.md): negative beyond a limit.
#pragma once

#include "garra/systems/platform/conditioning.hpp"

namespace garra::platform {

template <class S>
struct LimitMargins {
  Vec<S, 6> stroke;                ///< to the nearer end [m]
  Vec<S, 6> universal, spherical;  ///< half cone minus angle [rad]
  Vec<S, 6> apart;                 ///< distance to the nearest other leg's center line minus the required one [m]
  S clearance;                     ///< the least of these
};

/// Angle of two unit vectors; exact near 0 and pi, where the arc cosine is not.
template <class S>
GARRA_HD S angle_between(const Vec3<S>& a, const Vec3<S>& b) {
  const Vec3<S> normal = cross(a, b);
  return atan2(sqrt(dot(normal, normal)), dot(a, b));
}

template <class S>
GARRA_HD S to_unit_interval(const S& x) {
  return min(max(x, S(0)), S(1));
}

/// A segment from `from` along `by`.
template <class S>
struct Segment {
  Vec3<S> from, by;
};

/// Distance of two segments of positive length: the nearest points of the lines, clamped to one
/// segment, then the other (C. Ericson, Real-Time Collision Detection, 5.1.9). Parallel lines start
/// from an end.
template <class S>
GARRA_HD S distance(const Segment<S>& one, const Segment<S>& two) {
  const Vec3<S> r = one.from - two.from;
  const S a = dot(one.by, one.by), e = dot(two.by, two.by), b = dot(one.by, two.by);
  const S c = dot(one.by, r), f = dot(two.by, r);
  const S sine = fma(a, e, -(b * b));
  const auto parallel = sine <= S(1e-14) * (a * e);
  const S start = to_unit_interval(select(parallel, S(0), fma(b, f, -(c * e)) / select(parallel, S(1), sine)));
  const S t = to_unit_interval(fma(b, start, f) / e);
  const S s = to_unit_interval(fma(b, t, -c) / a);
  const Vec3<S> gap = axpy(-t, two.by, axpy(s, one.by, r));
  return sqrt(dot(gap, gap));
}

/// Whether two legs meet in one joint center at the base or at the platform.
template <class S, class T>
GARRA_HD auto share_joint(const LegForm<T>& one, const LegForm<T>& two) {
  const Vec3<S> base = cast<S>(one.base - two.base), anchor = cast<S>(one.anchor - two.anchor);
  return dot(base, base) <= S(0) || dot(anchor, anchor) <= S(0);
}

/// Distance of every leg's center line to the nearest other one that shares no joint with it.
template <class S, class T>
GARRA_HD Vec<S, 6> center_line_distances(const Model<T>& m, const Legs<S>& legs) {
  Vec<S, 6> nearest;
  for (int i = 0; i < kLegs; ++i) nearest[i] = S(std::numeric_limits<RealOf<S>>::infinity());
  for (int i = 0; i < kLegs; ++i) {
    for (int j = i + 1; j < kLegs; ++j) {
      const S apart = distance<S>({cast<S>(m.leg[i].base), legs.leg[i].d}, {cast<S>(m.leg[j].base), legs.leg[j].d});
      const S gap = select(share_joint<S>(m.leg[i], m.leg[j]), S(std::numeric_limits<RealOf<S>>::infinity()), apart);
      nearest[i] = min(nearest[i], gap);
      nearest[j] = min(nearest[j], gap);
    }
  }
  return nearest;
}

template <class S, class T>
GARRA_HD_CALL void limit_margins_into(const Limits<S>& limits, const Model<T>& m, const Place<S>& place,
                                      LimitMargins<S>& to) {
  const Legs<S> legs = legs_at(m, place);
  const Mat3<S> A = rotation_matrix(place.p);
  for (int i = 0; i < kLegs; ++i) {
    const LegVector<S>& l = legs.leg[i];
    to.stroke[i] = min(l.length - limits.length_min[i], limits.length_max[i] - l.length);
    to.universal[i] = acos(limits.universal_cos[i]) - angle_between(limits.universal_axis[i], l.z);
    to.spherical[i] = acos(limits.spherical_cos[i]) - angle_between(limits.spherical_axis[i], transpose_times(A, l.z));
  }
  const Vec<S, 6> nearest = center_line_distances(m, legs);
  for (int i = 0; i < kLegs; ++i) {
    to.apart[i] = nearest[i] - limits.clearance;
    to.clearance = i == 0 ? to.apart[0] : min(to.clearance, to.apart[i]);
  }
}

template <class S, class T>
GARRA_HD LimitMargins<S> limit_margins(const Limits<S>& limits, const Model<T>& m, const Place<S>& place) {
  LimitMargins<S> to;
  limit_margins_into(limits, m, place, to);
  return to;
}

}  // namespace garra::platform
