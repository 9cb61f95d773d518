// Poses and inertias in TOML, for robots and for the fingers of a hand.
#pragma once

#include "garra/math/pose.hpp"
#include "io/toml_reader.hpp"

namespace garra::io {

/// { position = [x, y, z], rpy = [roll, pitch, yaw] }, both optional; or rotation = three rows instead of rpy.
[[nodiscard]] Pose<double> read_pose(const Node& node, const std::string& key);
/// The same, written: it reads back to the last bit.
[[nodiscard]] std::string pose_text(const Pose<double>& pose);

/// { ixx = ..., iyy = ..., izz = ..., ixy = ..., ixz = ..., iyz = ... } as in a URDF, products of inertia 0 where they
/// are left out; or a list [ixx, iyy, izz], or [ixx, iyy, izz, ixy, iyz, ixz]. About the center of mass; throws where a
/// principal moment is negative.
[[nodiscard]] Mat3<double> read_inertia(const Node& node, const std::string& key);
/// The same with keys, written.
[[nodiscard]] std::string inertia_text(const Mat3<double>& inertia);

/// A warning where a key "inertia" of the document is a list with products of inertia, of whose order programs have
/// different ideas; else none.
[[nodiscard]] std::vector<std::string> inertia_warnings(const Node& document);

}  // namespace garra::io
