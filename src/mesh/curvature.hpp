// Computes the curvature [1/m] of a mesh [m], face by face (S. Rusinkiewicz, 3DPVT 2004).
#pragma once

#include "mesh/corners.hpp"

namespace garra::mesh {

/// Principal directions of a face and its curvatures along them.
struct Bend {
  Vec3<double> tangent;  ///< unit, in the face
  std::array<double, 2> curvature;
};

/// Curvatures of all faces; zero for a face without area.
[[nodiscard]] std::vector<Bend> compute_bends(const Mesh& mesh, const std::vector<Vec3<double>>& normals);

/// Principal curvatures and the first direction of the form [[a, b], [b, c]] in the axes u and n x u.
struct Form {
  double a, b, c;
};
[[nodiscard]] Bend principal(const Form& form, const Vec3<double>& u, const Vec3<double>& n);

}  // namespace garra::mesh
