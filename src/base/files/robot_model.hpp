// Locates the file of a robot that is given by name.
#pragma once

#include <string>

namespace garra::io {

/// The file of a robot in data/robots, in the working directory or beside the build folder. Throws Error(kInputOutput)
/// naming the available robots.
[[nodiscard]] std::string robot_file(const std::string& name);

/// Whether a text names a file, not a robot of data/robots: it has a slash, or the ending of a robot file.
[[nodiscard]] bool is_robot_path(const std::string& model);

/// NAME.toml or NAME.urdf in a folder; "" if there is none.
[[nodiscard]] std::string robot_in(const std::string& folder, const std::string& name);

}  // namespace garra::io
