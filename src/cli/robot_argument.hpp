// The argument MODEL of `garra chain ...`: a robot file, or the name of one in data/robots.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "garra/chain.hpp"
#include "garra/io/robot.hpp"

namespace garra::cli {

/// The argument MODEL with its options.
struct ModelArguments {
  std::string model;
  io::RobotOptions options;
};

/// --lock JOINT=VALUE, repeatable
void add_lock_option(Command command, std::vector<io::JointLock>& locks);

/// Prints to stderr, one per line.
void print_warnings(const std::vector<std::string>& warnings);

/// MODEL, --base, --tip, --lock, --set
void add_model_options(Command command, ModelArguments& arguments);

/// Whether MODEL is a file, not the name of a robot in data/robots.
[[nodiscard]] bool names_file(const std::string& model);

/// Reads the robot; its warnings go to stderr. Throws Error naming the available models if none has that name.
[[nodiscard]] chain::Robot read_model(const ModelArguments& arguments);

/// Joint values of a flag, given as words: rad and m, or with a unit ("30 deg", "20mm"). Values far outside the joints'
/// limits get a warning on stderr. Throws Error(kUsage) naming flag and joint.
[[nodiscard]] std::vector<double> joint_values(const std::string& flag, const std::vector<std::string>& given,
                                               const chain::Robot& robot);

}  // namespace garra::cli
