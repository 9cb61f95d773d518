// Poses and inertias in TOML, for robots and for the fingers of a hand.
#pragma once

#include "base/scenario/field_values.hpp"
#include "garra/math/pose.hpp"

namespace garra::io {

/// [roll, pitch, yaw] about fixed axes.
[[nodiscard]] AnyValue rpy(Mat3<double>& R);

/// { position = [x, y, z], rpy = [roll, pitch, yaw] }, both optional; or rotation = three rows instead of rpy.
/// Written, it reads back to the last bit.
[[nodiscard]] AnyValue pose(Pose<double>& pose);

/// { ixx = ..., iyy = ..., izz = ..., ixy = ..., ixz = ..., iyz = ... } as in a URDF, products of inertia 0 where they
/// are left out; or a list [ixx, iyy, izz], [ixx, iyy, izz, ixy, iyz, ixz], or the matrix row by row. About the center
/// of mass; throws where the matrix is not symmetric or a principal moment is negative. Written with keys.
[[nodiscard]] AnyValue inertia(Mat3<double>& I);

/// A warning where a key "inertia" of the document is a list with products of inertia, of whose order programs have
/// different ideas; else none.
[[nodiscard]] std::vector<std::string> inertia_warnings(const Node& document);

}  // namespace garra::io
