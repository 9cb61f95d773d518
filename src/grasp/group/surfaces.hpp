// What touches in a contact of a group as it moves: a point or a ball on one side, a surface on the other.
#pragma once

#include "garra/systems/grasp/surface.hpp"
#include "grasp/group/model.hpp"

namespace garra::grasp {

/// What of a contact's geometry all samples share.
struct ContactKind {
  SurfaceKind kind;     ///< of the first object
  bool ball_a, ball_b;  ///< else a plane or a point
  int link;             ///< of a finger
};

/// Geometry of one contact, fixed in its two sides. Members are S.
template <class S>
struct ContactShape {
  LocalSurface<S> first;  ///< in the frame of the first object
  Pose<S> second;         ///< contact frame (n, t, o) in the second object, or in P for fixtures
  S radius_a, radius_b;   ///< of balls; 0: a plane
  Vec3<S> tip;            ///< of a finger: the point that touches, in the frame of its link
};

/// Place of a contact and its gap [m].
template <class S>
struct PlaceAndGap {
  ContactPlace<S> place;
  S gap;
};

/// Throws Error for surfaces that cannot be followed: between objects planes and spheres are.
[[nodiscard]] std::vector<ContactKind> make_kinds(const GroupModel& m);
/// Shapes of the contacts of a sample as it is placed.
[[nodiscard]] std::vector<ContactShape<double>> make_shapes(const GroupModel& m, const GroupSample& s);

/// A point (palm frame) of a finger against the object.
template <class S>
GARRA_HD PlaceAndGap<S> touch_of_finger(const ContactKind& kind, const ContactShape<S>& shape, const Pose<S>& object,
                                        const Vec3<S>& tip) {
  const Touch<S> at = touch(kind.kind, shape.first, transpose_times(object.R, tip - object.p));
  return {{tip, object.R * at.E}, at.gap};
}

/// The frame E turned such that its first column is n.
template <class S>
GARRA_HD Mat3<S> turned_to(const Mat3<S>& E, const Vec3<S>& n) {
  Vec3<S> t = column(E, 1);
  t = axpy(-dot(t, n), n, t);
  t = (S(1) / norm(t)) * t;
  const Vec3<S> o = cross(n, t);
  return {{n[0], t[0], o[0], n[1], t[1], o[1], n[2], t[2], o[2]}};
}

/// Two objects, or an object and a fixture (`second`: identity).
template <class S>
GARRA_HD PlaceAndGap<S> touch_of_objects(const ContactKind& kind, const ContactShape<S>& shape, const Pose<S>& first,
                                         const Pose<S>& second) {
  const S r_a = shape.radius_a, r_b = shape.radius_b;
  const Mat3<S> E_a = first.R * shape.first.E, E_b = second.R * shape.second.R;
  const Vec3<S> p_a = first.R * shape.first.point + first.p, p_b = second.R * shape.second.p + second.p;
  // Centers of balls are behind their surfaces: n points into the first body.
  const Vec3<S> center_a = axpy(r_a, column(E_a, 0), p_a), center_b = axpy(-r_b, column(E_b, 0), p_b);
  if (kind.ball_a && kind.ball_b) {
    const Vec3<S> apart = center_a - center_b;
    const S distance = norm(apart);
    const Vec3<S> n = (S(1) / distance) * apart;
    return {{axpy(r_b, n, center_b), turned_to(E_a, n)}, distance - r_a - r_b};
  }
  if (kind.ball_b) {  // a ball on the first object's plane
    const Vec3<S> n = column(E_a, 0);
    return {{axpy(r_b, n, center_b), E_a}, dot(p_a - center_b, n) - r_b};
  }
  // A ball of the first object, or its point, on the second one's plane.
  const Vec3<S> n = column(E_b, 0);
  return {{axpy(-r_a, n, center_a), E_b}, dot(center_a - p_b, n) - r_a};
}

}  // namespace garra::grasp
