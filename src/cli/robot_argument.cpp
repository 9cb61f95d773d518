#include "cli/robot_argument.hpp"

#include <cstdio>
#include <filesystem>

#include "base/files/robot_model.hpp"
#include "cli/flags.hpp"
#include "garra/core/error.hpp"
#include "garra/io/joint_values.hpp"

namespace garra::cli {

void add_lock_option(Command command, std::vector<io::JointLock>& locks) {
  const auto take = [&locks](const std::vector<std::string>& texts) {
    locks.clear();
    for (const std::string& text : texts) {
      const std::size_t equals = text.rfind('=');
      if (equals == std::string::npos || equals == 0)
        throw Error(ExitCode::kUsage, "--lock " + text + ": no value",
                    "Write --lock JOINT=VALUE, such as --lock gripper=0.02 or --lock \"elbow=30 deg\".");
      locks.push_back({text.substr(0, equals), text.substr(equals + 1)});
    }
  };
  command
      .add_words("--lock", take,
                 "URDF: where a joint stands that is no part of the chain (default 0); also takes joints off the chain")
      .type_name("JOINT=VALUE")
      .expected(1)
      .take_all()
      .one_value_each();
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
}

void add_model_options(Command command, ModelArguments& arguments) {
  command.add_option("model", arguments.model, "robot file (.toml, .urdf), or the name of one in data/robots")
      .required()
      .type_name("MODEL");
  command.add_option("--base", arguments.options.base, "URDF: link where the chain starts; default: the only root")
      .type_name("LINK");
  command.add_option("--tip", arguments.options.tip, "URDF: link where it ends; default: the only leaf")
      .type_name("LINK");
  add_lock_option(command, arguments.options.locks);
  add_overrides(
      command, arguments.options.overrides,
      "replace a value: of TOML such as joint.1.damping=0.1; of a URDF gravity, payload.mass, .com, .inertia");
}

bool names_file(const std::string& model) {
  std::error_code ignored;
  return io::is_robot_path(model) || std::filesystem::exists(model, ignored);
}

chain::Robot read_model(const ModelArguments& arguments) {
  const std::string& model = arguments.model;
  chain::Robot robot = io::read_robot(names_file(model) ? model : io::robot_file(model), arguments.options);
  print_warnings(robot.warnings);
  return robot;
}

std::vector<double> joint_values(const std::string& flag, const std::vector<std::string>& given,
                                 const chain::Robot& robot) {
  const std::vector<std::string> words = one_per_quantity(given);
  std::vector<double> q;
  std::vector<bool> has_unit;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool prismatic = i < robot.joint.size() && robot.joint[i].prismatic;
    const FlagQuantity value = flag_quantity(words[i], prismatic ? io::kLength : io::kAngle,
                                             flag + " " + words[i] + ": no value of joint " + std::to_string(i));
    q.push_back(value.value);
    has_unit.push_back(value.has_unit);
  }
  for (const std::string& warning : io::far_outside_limits(robot, q, has_unit)) print_warnings({flag + ": " + warning});
  return q;
}

}  // namespace garra::cli
