// `garra run` for other commands: runs a scenario of any origin.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/jobs.hpp"
#include "cli/progress.hpp"
#include "garra/io/run_folder.hpp"
#include "garra/study/engine.hpp"

namespace garra::cli {

/// Flags of a run; those above `device` are short for --set.
struct RunArguments {
  std::string scenario, output, run;
  std::string command;  ///< as shown in the manifest, without the overrides; "": garra run SCENARIO
  std::int64_t samples = 0;
  std::int64_t seed = -1;
  double tolerance = 0, max_unsolved = -1;
  std::string stop, method;
  std::vector<std::string> set, require;
  std::string device = "auto", progress = "auto", format = "human";
  int threads = 0;
  double time_limit = 0;
  bool quiet = false, no_report = false, overwrite = false;
  std::string dask;  ///< address of a scheduler that the work is given to, or "local"
};

/// Flags for folder, number of samples, seed and limits. `of_samples` is added to the help of --samples.
void add_new_run_flags(Command command, RunArguments& arguments, const std::string& of_samples = {});
/// Device, threads, limits, requirements, progress and report.
void add_common_flags(Command command, RunArguments& arguments);

/// A new run: its folder is made and locked, nothing is computed.
struct NewRun {
  io::RunFolder folder;
  const JobKind& kind;
  std::unique_ptr<Job> job;
  std::string command;  ///< as shown in the manifest
};
[[nodiscard]] NewRun make_run(const RunArguments& arguments);
/// Completes a run from its present state: computes, prints the answer, writes the files, checks the requirements.
/// Every run ends here. Throws io::RunLocked if another process is doing that.
void complete_run(io::RunFolder folder, const JobKind& kind, Job& job, const RunArguments& arguments,
                  const std::string& command);
/// Sets the devices that --device names.
void set_devices(study::RunOptions& options, const RunArguments& arguments);
[[nodiscard]] Standing make_standing(const study::Progress& progress, const JobKind& kind);

/// Runs the scenario file from the start to its answer.
void run_new(const RunArguments& arguments);
/// The same from a text, which the run folder keeps as its scenario. `name` stands for the file in messages, and the
/// run folder is called run-NAME unless it is given.
void run_text(const std::string& text, const std::string& name, RunArguments arguments);

}  // namespace garra::cli
