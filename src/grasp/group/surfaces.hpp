// What touches in a contact of a group as it moves: a point or a ball on one side, a surface on the other. Host only.
#pragma once

#include "garra/systems/grasp/surface.hpp"
#include "grasp/group/model.hpp"

namespace garra::grasp {

/// Geometry of one contact, fixed in its two sides.
struct ContactShape {
  LocalSurface<double> first;         ///< in the frame of the first object
  SurfaceKind kind;                   ///< of the first object
  Pose<double> second;                ///< contact frame (n, t, o) in the second object, or in P for fixtures
  double radius_a = 0, radius_b = 0;  ///< of balls; 0: a plane
  Vec3<double> tip;                   ///< of a finger: the point that touches, in the frame of its link
  int link = 0;
};

/// Place of a contact and its gap [m].
struct PlaceAndGap {
  ContactPlace<double> place;
  double gap;
};

/// Shapes of the contacts of a sample as it is placed. Throws Error for surfaces that cannot be followed: between
/// objects planes and spheres are.
[[nodiscard]] std::vector<ContactShape> make_shapes(const GroupModel& m, const GroupSample& s);
/// A point (palm frame) of a finger against the object.
[[nodiscard]] PlaceAndGap touch_of_finger(const ContactShape& shape, const Pose<double>& object,
                                          const Vec3<double>& tip);
/// Two objects, or an object and a fixture (`second`: identity).
[[nodiscard]] PlaceAndGap touch_of_objects(const ContactShape& shape, const Pose<double>& first,
                                           const Pose<double>& second);

}  // namespace garra::grasp
