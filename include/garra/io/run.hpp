// Runs or resumes any study::Study in a run folder: chunks, manifest.json, results.h5, summary.json. `garra run` and
// `garra resume` call it; a killed run continues from its chunks (docs/reference/run-folder.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "garra/io/run_folder.hpp"
#include "garra/study/engine.hpp"

namespace garra::io {

/// Further outputs of a study, beside results.h5 and summary.json.
struct Extras {
  std::function<void(const RunFolder&, const study::Total&)> write;
  std::function<bool(const RunFolder&)> are_there;
};

/// Options of a run in a folder.
struct FolderRunOptions {
  study::RunOptions run = {};                         ///< without `chunks`: the folder keeps them
  std::string command = {};                           ///< as shown in the manifest
  std::string why_not_gpu = {};                       ///< likewise: why `--device auto` chose the processor; or empty
  std::vector<std::string> warnings = {};             ///< likewise: parts of the scenario that may be unintended
  std::function<void(const std::string&)> warn = {};  ///< called for chunks that are computed again
  Extras extras = {};
};

/// Result of a run in a folder.
struct FolderRun {
  study::RunResult result;
  std::string summary;   ///< summary.json; empty if the run can be resumed
  std::string manifest;  ///< manifest.json
  bool changed = false;  ///< files were written; else all were present already
};

/// Runs or resumes a study in a folder; sound chunks of the same study are reused. results.h5 and the rest are written
/// at the end, summary.json last, so that its presence means a complete run. Throws Error(kInputOutput) if another
/// process works on the folder, another version of garra has begun it, or writing fails; and as study::run.
[[nodiscard]] FolderRun run_in_folder(RunFolder& folder, const study::Study& study,
                                      const FolderRunOptions& options = {});

/// One of any number of worker processes, on any machines that see the folder. Each worker claims an unclaimed chunk;
/// when none is left, it duplicates the oldest claimed one. `place`: first chunk, as a share of the run. Workers need
/// no lock and write no results: run_in_folder() writes them once, when all chunks are present. Throws
/// Error(kInputOutput) if two processes have computed different bytes for the same samples, and as run_in_folder().
[[nodiscard]] study::RunResult work_in_folder(RunFolder& folder, const study::Study& study,
                                              const FolderRunOptions& options = {}, double place = 0);

/// Same as run_in_folder with a folder by its path, created if missing. For studies without a scenario file:
/// `description` specifies the study, is kept as scenario.toml, and chunks of another description are not reused.
/// Throws Error(kUsage) if the folder is a run of another description, or holds anything else.
[[nodiscard]] FolderRun run_in_folder(const std::string& path, const std::string& description,
                                      const study::Study& study, const FolderRunOptions& options = {});

}  // namespace garra::io
