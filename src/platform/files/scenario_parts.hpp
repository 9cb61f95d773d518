// Common parts of scenarios of platforms.
#pragma once

#include <string>

#include "base/scenario/fields.hpp"
#include "garra/platform.hpp"

namespace garra::io {

/// [platform]
struct ChosenPlatform {
  std::string& model;  ///< as the scenario names it: a name in data/platforms, or a file
  std::string& file;   ///< that it was read from
  platform::Platform& platform;
};
/// `scenario` is the scenario's file: the platform is looked for in models/ beside it first.
void platform_fields(Fields& f, const std::string& scenario, const ChosenPlatform& chosen);

/// JSON Schema of a list of poses.
inline constexpr const char* kPosesSchema = R"({"type": "array", "minItems": 2, "items": {"type": "object",
    "properties": {"position": {"type": "array"}, "rpy": {"type": "array"}, "quaternion": {"type": "array"},
    "axis_angle": {"type": "object"}}, "additionalProperties": false}})";

}  // namespace garra::io
