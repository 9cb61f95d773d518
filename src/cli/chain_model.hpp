// The MODEL of `garra chain ...`: a robot file, or the name of one in data/robots.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "garra/chain.hpp"
#include "garra/io/robot.hpp"

namespace garra::cli {

struct ModelArguments {
  std::string model;
  io::RobotOptions options;
};

/// MODEL, --base, --tip, --set
void add_model_options(CLI::App& command, ModelArguments& arguments);

/// Whether MODEL is a file, not the name of a robot in data/robots.
[[nodiscard]] bool names_file(const std::string& model);

/// Reads the robot. Throws Error naming the models there are where nothing of that name is found.
[[nodiscard]] chain::Robot read_model(const ModelArguments& arguments);

}  // namespace garra::cli
