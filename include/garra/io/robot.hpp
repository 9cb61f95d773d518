// Robot files: serial chains in TOML (DH, modified DH, GRyMA, screws) and URDF. The formats are in
// docs/reference/robots.md; data/robots holds examples.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "garra/chain.hpp"

namespace garra::io {

/// A fixed value for a URDF joint: "0.02", "20 mm", "30 deg".
struct JointLock {
  std::string joint, value;
};

/// Options of the caller for reading a robot file.
struct RobotOptions {
  std::string base, tip;               ///< URDF: links the chain is between; "" takes the only root, the only leaf
  std::vector<std::string> overrides;  ///< "key.path=value"; URDF: gravity, payload.mass, .com, .inertia
  std::vector<JointLock> locks = {};   ///< URDF: joints off the chain that do not stand at 0, and joints of it
  std::optional<Vec3<double>> gravity = {};  ///< instead of the file's; world axes [m/s^2]
  std::optional<chain::Body> payload = {};   ///< URDF: what the tip link carries, in its frame
  bool needs_mass = false;     ///< URDF: a last link without mass is an error, for what moves under torques
  bool takes_coupled = false;  ///< joints that follow others (Robot::coupled); false: they are an error
};

/// Reads a robot file, whose name ends in .toml or .urdf. Throws Error: kInputOutput for a file that cannot be read;
/// kInvalidFile ("file:line:column: key: what is wrong", then the remedy; URDF without a column) for wrong content;
/// kUsage for options that do not fit.
[[nodiscard]] chain::Robot read_robot(const std::string& path, const RobotOptions& options = {});

/// The same from a text; `name` stands in messages for the file.
[[nodiscard]] chain::Robot parse_robot_toml(const std::string& text, const std::string& name,
                                            const RobotOptions& options = {});
[[nodiscard]] chain::Robot parse_urdf(const std::string& text, const std::string& name,
                                      const RobotOptions& options = {});

/// Whether a TOML file describes a robot: it has `robot` or `convention` at the top, and no `job`.
[[nodiscard]] bool is_robot_toml(const std::string& path);

/// Human-readable description: every joint with its axis, limits, body and kernel constants, base, tool, notes.
[[nodiscard]] std::string describe_robot(const chain::Robot& robot);

/// The robot as a TOML file in kernel form: it reads back to the same bits, whatever the robot was read from.
[[nodiscard]] std::string robot_toml(const chain::Robot& robot);

}  // namespace garra::io
