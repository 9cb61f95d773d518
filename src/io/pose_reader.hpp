// Poses and inertias in TOML, for robots and for the fingers of a hand.
#pragma once

#include "garra/math/pose.hpp"
#include "io/toml_reader.hpp"

namespace garra::io {

/// { position = [x, y, z], rpy = [roll, pitch, yaw] }, both optional.
[[nodiscard]] Pose<double> read_pose(const Node& node, const std::string& key);

/// [ixx, iyy, izz] or [ixx, iyy, izz, ixy, iyz, ixz] about the center of mass; throws where a principal moment is
/// negative.
[[nodiscard]] Mat3<double> read_inertia(const Node& node, const std::string& key);

}  // namespace garra::io
