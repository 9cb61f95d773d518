// `garra run` for other commands: runs a scenario of any origin.
#pragma once

#include <string>

#include "cli/command_line.hpp"
#include "cli/run.hpp"

namespace garra::cli {

/// Flags for folder, number of samples, seed and limits. `of_samples` is added to the help of --samples.
void add_new_run_flags(Command command, RunArguments& arguments, const std::string& of_samples = {});
/// Device, threads, limits, requirements, progress and report.
void add_common_flags(Command command, RunArguments& arguments);

/// Runs a scenario, given as text, from the start to its answer; the run folder keeps the text. `name` stands for the
/// file in messages, and the run folder is called run-NAME unless it is given.
void run_text(const std::string& text, const std::string& name, RunArguments arguments);

}  // namespace garra::cli
