// A triangle given by its corners.
#pragma once

#include "garra/mesh.hpp"

namespace garra::mesh {

/// Corners of a triangle; (b - a) x (c - a) is along its normal.
struct Corners {
  Vec3<double> a, b, c;

  /// Twice the area, along the normal.
  [[nodiscard]] Vec3<double> area_vector() const { return cross(b - a, c - a); }
  [[nodiscard]] double area() const { return 0.5 * norm(area_vector()); }
  [[nodiscard]] Corners about(const Vec3<double>& origin) const { return {a - origin, b - origin, c - origin}; }
};

[[nodiscard]] inline Vec3<double> get_vertex(const Mesh& m, std::int32_t number) {
  const double* x = m.vertex.data() + 3 * static_cast<std::size_t>(number);
  return vec3(x[0], x[1], x[2]);
}
[[nodiscard]] inline Corners get_corners(const Mesh& m, std::int64_t face) {
  const std::int32_t* v = m.face.data() + 3 * face;
  return {get_vertex(m, v[0]), get_vertex(m, v[1]), get_vertex(m, v[2])};
}

/// A unit vector perpendicular to n: the normalized part, across n, of the axis least aligned with n.
[[nodiscard]] inline Vec3<double> across(const Vec3<double>& n) {
  int least = 0;
  for (int i = 1; i < 3; ++i)
    if (std::abs(n[i]) < std::abs(n[least])) least = i;
  Vec3<double> e = Vec3<double>::zero();
  e[least] = 1;
  const Vec3<double> t = axpy(-n[least], n, e);
  return (1 / norm(t)) * t;
}

}  // namespace garra::mesh
