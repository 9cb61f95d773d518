// A run of a scenario as `garra run`, `resume`, `submit` and `worker` use it: load, plan, execute, finish.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/jobs.hpp"
#include "cli/requirement.hpp"
#include "garra/io/run.hpp"
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
  std::string stop, method, effort;
  std::vector<std::string> set, require;
  std::string device = "auto", progress = "auto", format = "human";
  int threads = 0;
  double time_limit = 0;
  bool quiet = false, no_report = false, overwrite = false;
  std::string dask;  ///< address of a scheduler that the work is given to, or "local"
};

/// A run in its folder. Steps in order: create() or open(), plan(), execute(), finish().
class Run {
 public:
  /// Loads scenario and job, and makes and locks the folder of a new run. Errors come before anything is made.
  [[nodiscard]] static Run create(const RunArguments& arguments);
  /// Loads the run of a folder. `command`: as shown in the manifest.
  [[nodiscard]] static Run open(const RunArguments& arguments, const std::string& command);

  /// Checks the requirements, and chooses devices and files.
  void plan();
  /// Computes the missing samples and writes the files. Throws Error(kStoppedResumable) if stopped, io::RunLocked if
  /// another process is doing that.
  void execute();
  /// Prints the answer, makes the report, checks the requirements.
  void finish();
  /// The last three steps.
  void complete();
  /// As one of several processes: computes chunks from the share `place` of the run on, and writes no results.
  [[nodiscard]] study::RunResult work(double place);

  [[nodiscard]] const io::RunFolder& folder() const { return folder_; }
  [[nodiscard]] const study::Study& study() const { return job_->study(); }
  [[nodiscard]] const io::FolderRunOptions& options() const { return options_; }

 private:
  Run(io::RunFolder folder, const JobKind& kind, std::unique_ptr<Job> job, const RunArguments& arguments,
      std::string command);
  template <class Compute>
  auto with_progress(const Compute& compute);

  io::RunFolder folder_;
  const JobKind& kind_;
  std::unique_ptr<Job> job_;
  RunArguments arguments_;
  std::vector<Requirement> requirements_;
  io::FolderRunOptions options_;
  io::FolderRun done_;
};

}  // namespace garra::cli
