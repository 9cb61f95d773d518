#include "cli/chain_model.hpp"

#include <filesystem>

#include "io/robot_model.hpp"

namespace garra::cli {

void add_model_options(CLI::App& command, ModelArguments& arguments) {
  command.add_option("model", arguments.model, "robot file (.toml, .urdf), or the name of one in data/robots")
      ->required()
      ->type_name("MODEL");
  command.add_option("--base", arguments.options.base, "URDF: link where the chain starts; default: the only root")
      ->type_name("LINK");
  command.add_option("--tip", arguments.options.tip, "URDF: link where it ends; default: the only leaf")
      ->type_name("LINK");
  command.add_option("--set", arguments.options.overrides, "TOML: replace a value, for example joint.1.damping=0.1")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

bool names_file(const std::string& model) {
  std::error_code ignored;
  return io::is_robot_path(model) || std::filesystem::exists(model, ignored);
}

chain::Robot read_model(const ModelArguments& arguments) {
  const std::string& model = arguments.model;
  return io::read_robot(names_file(model) ? model : io::robot_file(model), arguments.options);
}

}  // namespace garra::cli
