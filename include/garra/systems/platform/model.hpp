// A six-legged platform (6-UPS, the paper's RRPS) in the form that the kernels take (docs/theory/platform.md).
//
// Base frame O at the base; the base's mounting on a floor, wall or ceiling enters only by
// gravity's direction in O. Platform frame C at the platform's center of mass. Leg i goes from a
// universal joint at b_i (base frame) to a spherical joint at s_i (platform frame):
//
//   d_i = r + A s_i - b_i,   length |d_i|                                                       (1) of the paper
#pragma once

#include "garra/core/mat.hpp"

namespace garra::platform {

inline constexpr int kLegs = 6;

/// One leg. T is double if a batch shares its platform, S if every sample has its own. Both links
/// have the leg frame's axes as principal axes (legs.hpp), z along the leg.
template <class T>
struct LegForm {
  Vec3<T> base;           ///< b: universal joint, base frame [m]
  Vec3<T> anchor;         ///< s: spherical joint, platform frame [m]
  Vec3<T> axis;           ///< k: unit vector of the universal joint's axis that is fixed to the base, base frame
  T lower_mass;           ///< of the tube, which turns with the universal joint [kg]
  T upper_mass;           ///< of the rod, which slides in it [kg]
  T lower_com;            ///< c1: the tube's center of mass lies at b + c1 z [m]
  T upper_com;            ///< c2: the rod's at b + (length - c2) z [m]
  Vec3<T> lower_inertia;  ///< principal moments about its own center of mass, leg frame [kg m^2]
  Vec3<T> upper_inertia;
};

/// A platform. Trivially copyable; all members are T.
template <class T>
struct Model {
  LegForm<T> leg[kLegs];
  T mass;                    ///< of the platform with its payload [kg]
  T xx, yy, zz, xy, xz, yz;  ///< its inertia about C, platform axes [kg m^2]; entries of the tensor, signs included
  Vec3<T> gravity;           ///< base axes [m/s^2]
};

/// Limits of the joints. Cones are about the leg's direction in the home pose, seen from the base
/// (universal joint) and from the platform (spherical joint).
template <class T>
struct Limits {
  T length_min[kLegs], length_max[kLegs];  ///< [m]
  Vec3<T> universal_axis[kLegs];           ///< unit, base frame
  Vec3<T> spherical_axis[kLegs];           ///< unit, platform frame
  T universal_cos[kLegs];                  ///< cosine of the half cone
  T spherical_cos[kLegs];
  T clearance;  ///< least distance of the center lines of two legs [m]; 0: not checked
};

/// A model whose numbers all have type S; no conversion if they have it already.
template <class S, class T>
GARRA_HD Model<S> cast_model(const Model<T>& m) {
  Model<S> to;
  for (int i = 0; i < kLegs; ++i) {
    const LegForm<T>& leg = m.leg[i];
    to.leg[i] = {cast<S>(leg.base), cast<S>(leg.anchor),        cast<S>(leg.axis),
                 S(leg.lower_mass), S(leg.upper_mass),          S(leg.lower_com),
                 S(leg.upper_com),  cast<S>(leg.lower_inertia), cast<S>(leg.upper_inertia)};
  }
  to.mass = S(m.mass);
  to.xx = S(m.xx), to.yy = S(m.yy), to.zz = S(m.zz);
  to.xy = S(m.xy), to.xz = S(m.xz), to.yz = S(m.yz);
  to.gravity = cast<S>(m.gravity);
  return to;
}

template <class S, class T>
GARRA_HD Limits<S> cast_limits(const Limits<T>& m) {
  Limits<S> to;
  for (int i = 0; i < kLegs; ++i) {
    to.length_min[i] = S(m.length_min[i]);
    to.length_max[i] = S(m.length_max[i]);
    to.universal_axis[i] = cast<S>(m.universal_axis[i]);
    to.spherical_axis[i] = cast<S>(m.spherical_axis[i]);
    to.universal_cos[i] = S(m.universal_cos[i]);
    to.spherical_cos[i] = S(m.spherical_cos[i]);
  }
  to.clearance = S(m.clearance);
  return to;
}

}  // namespace garra::platform
