// Which reader a robot file is for.
#include <filesystem>

#include "base/files/robot_model.hpp"
#include "base/files/text_file.hpp"
#include "base/files/toml_reader.hpp"
#include "garra/io/robot.hpp"

namespace garra::io {

chain::Robot read_robot(const std::string& path, const RobotOptions& options) {
  // By its ending: both are text that a parser of the other would only find wrong.
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".toml") return parse_robot_toml(read_text(path), path, options);
  if (ending == ".urdf") return parse_urdf(read_text(path), path, options);
  // A name, not a path: of the robots that come with the program.
  if (!is_robot_path(path) && ending.empty()) return read_robot(robot_file(path), options);
  throw Error(ExitCode::kInvalidFile, path + ": unknown kind of robot file",
              "A robot file ends in .toml or .urdf (of a .xacro file, make a URDF with the program xacro).");
}

bool is_robot_toml(const std::string& path) {
  const Node document = parse_toml(read_text(path), path);
  return document.find("job") == nullptr &&
         (document.find("convention") != nullptr || document.find("robot") != nullptr);
}

}  // namespace garra::io
