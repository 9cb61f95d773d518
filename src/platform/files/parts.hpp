// Keys with the same form in platform files and in scenarios of platforms.
#pragma once

#include <string>

#include "base/scenario/field_values.hpp"
#include "garra/platform.hpp"

namespace garra::io {

/// { position = [x, y, z], and the orientation: rpy = [roll, pitch, yaw], quaternion = [w, x, y, z]
/// or axis_angle = { axis = [x, y, z], angle = a } }; keys that are left out are as in `otherwise`.
/// The quaternion has unit length.
[[nodiscard]] platform::Place<double> read_place(const Node& node, const std::string& key,
                                                 const platform::Place<double>& otherwise);
/// { axis = [x, y, z], angle = a }, the axis of unit length.
struct Turn {
  Vec3<double> axis;
  double angle;  ///< [rad]
};
[[nodiscard]] Turn read_turn(const Node& node, const std::string& key);
/// Written back: { position = [...], quaternion = [...] }.
[[nodiscard]] std::string text(const platform::Place<double>& place);

/// How the base is mounted, base to world axes: "floor", "wall" (its z axis is horizontal), "ceiling", or
/// [roll, pitch, yaw].
[[nodiscard]] Mat3<double> read_mounting(const Node& node, const std::string& key);

/// `wall`, which turns the base under gravity by such a mounting.
[[nodiscard]] AnyValue wall(Vec3<double>& gravity);

/// JSON Schema of a pose.
inline constexpr const char* kPoseSchema = R"({"type": "object", "properties": {"position": {"type": "array"},
    "rpy": {"type": "array"}, "quaternion": {"type": "array"}, "axis_angle": {"type": "object"}},
    "additionalProperties": false})";

/// Euler parameters of Rz(yaw) Ry(pitch) Rx(roll).
[[nodiscard]] platform::Quaternion<double> quaternion_of_rpy(const Vec3<double>& rpy);

/// Roll, pitch, yaw of it.
[[nodiscard]] Vec3<double> rpy_of_quaternion(const platform::Quaternion<double>& p);

}  // namespace garra::io
