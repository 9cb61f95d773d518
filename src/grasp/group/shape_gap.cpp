#include "grasp/group/shape_gap.hpp"

#include <algorithm>
#include <cmath>

#include "garra/math/rotation.hpp"

namespace garra::grasp {

namespace {

/// Distance of a point from a box of these half edges, < 0 inside.
double distance_from_box(const Vec3<double>& p, const Vec3<double>& half) {
  Vec3<double> beyond;
  double inside = -INFINITY;
  for (int i = 0; i < 3; ++i) {
    const double d = std::abs(p[i]) - half[i];
    beyond[i] = std::max(d, 0.0);
    inside = std::max(inside, d);
  }
  return inside > 0 ? norm(beyond) : inside;
}

/// Smallest overlap of two boxes along the axes that can separate them (S. Gottschalk, 1996).
double box_overlap(const Object& a, const Object& b) {
  const Pose<double> pa = nominal_pose(a), pb = nominal_pose(b);
  double least = INFINITY;
  const auto along = [&](const Vec3<double>& axis) {
    const double length = norm(axis);
    if (length < 1e-9) return;  // parallel edges
    double reach = -std::abs(dot(axis, pb.p - pa.p));
    for (int i = 0; i < 3; ++i)
      reach +=
          std::abs(dot(axis, column(pa.R, i))) * a.size[i] / 2 + std::abs(dot(axis, column(pb.R, i))) * b.size[i] / 2;
    least = std::min(least, reach / length);
  };
  for (int i = 0; i < 3; ++i) {
    along(column(pa.R, i));
    along(column(pb.R, i));
    for (int k = 0; k < 3; ++k) along(cross(column(pa.R, i), column(pb.R, k)));
  }
  return least;
}

}  // namespace

Pose<double> nominal_pose(const Object& object) { return {rotation_from_rpy(object.rpy), object.position}; }

double distance_from(const Object& o, const Vec3<double>& p) {
  const Pose<double> pose = nominal_pose(o);
  const Vec3<double> x = transpose_times(pose.R, p - pose.p);
  switch (o.shape) {
    case Shape::kSphere:
      return norm(x) - o.radius;
    case Shape::kBox:
      return distance_from_box(x, 0.5 * o.size);
    case Shape::kCylinder:
      return distance_from_box({{std::hypot(x[0], x[1]), x[2], 0}}, {{o.radius, o.height / 2, INFINITY}});
    case Shape::kPoints:
      break;
  }
  return NAN;
}

double penetration(const Object& a, const Object& b) {
  if (a.shape == Shape::kPoints || b.shape == Shape::kPoints) return 0;
  if (a.shape == Shape::kSphere) return a.radius - distance_from(b, a.position);
  if (b.shape == Shape::kSphere) return penetration(b, a);
  if (a.shape == Shape::kBox && b.shape == Shape::kBox) return box_overlap(a, b);
  return 0;
}

Vec<double, 2> find_curvatures(const Object& o, const Mat3<double>& E) {
  if (o.shape == Shape::kSphere) return {{1 / o.radius, 1 / o.radius}};
  if (o.shape != Shape::kCylinder) return {{0, 0}};
  const Vec3<double> axis = column(nominal_pose(o).R, 2);
  // On an end the normal is the axis.
  if (std::abs(dot(axis, column(E, 0))) > 0.5) return {{0, 0}};
  Vec<double, 2> out;
  for (int k = 0; k < 2; ++k) {
    const double lean = dot(axis, column(E, k + 1));
    out[k] = (1 - lean * lean) / o.radius;  // Euler's formula: round about the axis, straight along it
  }
  return out;
}

}  // namespace garra::grasp
