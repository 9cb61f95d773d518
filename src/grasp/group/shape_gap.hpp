// Distances between objects of closed form, for the checks of a group. Host only.
#pragma once

#include "garra/grasp.hpp"
#include "garra/math/pose.hpp"

namespace garra::grasp {

/// Nominal pose of an object in the palm frame.
[[nodiscard]] Pose<double> nominal_pose(const Object& object);
/// Distance of a point of the palm frame from the surface of an object [m], < 0 inside; NaN for shape "points".
[[nodiscard]] double distance_from(const Object& object, const Vec3<double>& p);
/// Depth by which two objects interpenetrate [m], <= 0 if they do not; 0 for shapes without a closed form: those of
/// points, and pairs with a cylinder but for a sphere.
[[nodiscard]] double penetration(const Object& a, const Object& b);
/// Curvatures of the surface of an object where another one touches it, along the unit vectors t and o, with the normal
/// n of the palm frame [1/m]; 0 on flat faces.
[[nodiscard]] Vec<double, 2> find_curvatures(const Object& object, const Mat3<double>& E);

}  // namespace garra::grasp
