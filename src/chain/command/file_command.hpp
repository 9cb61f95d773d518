// Parts of the commands that compute all states of a file for one robot.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/files/hdf5.hpp"
#include "cli/flags.hpp"
#include "cli/robot_argument.hpp"
#include "garra/core/status.hpp"

namespace garra::cli {

struct FileArguments : BatchFlags {
  ModelArguments model;
  std::string input, output;       ///< no output: nothing is written
  std::vector<std::string> fixed;  ///< --fix JOINT=VALUE of commands for six joints
};

/// MODEL with its options, IN.h5 (`input` says what it holds), -o
void add_file_options(Command command, FileArguments& a, const std::string& input);
/// --fix JOINT=VALUE, repeatable
void add_fix_option(Command command, FileArguments& a);

/// MODEL without the joints of --fix. @throws Error kUsage for another text than JOINT=VALUE.
[[nodiscard]] chain::Robot read_fixed_model(const FileArguments& a);

/// A file's name in JSON; null: none was written.
[[nodiscard]] nlohmann::ordered_json output_json(const std::string& output);

/// Prints a summary as JSON, or a line for each key.
void print_summary(const nlohmann::ordered_json& summary, const std::string& format, int width = 18);

/// Stores the statuses of rows, and names of robot and program.
void write_origin(io::Hdf5Writer& file, const std::string& model, const std::vector<Status>& status);

}  // namespace garra::cli
