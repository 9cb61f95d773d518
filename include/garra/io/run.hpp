// A study in a run folder: chunks, manifest.json, results.h5, summary.json, in a form that survives a kill and goes on
// (docs/reference/run-folder.md). What `garra run` and `garra resume` do, for any study::Study.
#pragma once

#include <functional>
#include <string>

#include "garra/io/run_folder.hpp"
#include "garra/study/engine.hpp"

namespace garra::io {

/// What a study writes beside results.h5 and summary.json.
struct Extras {
  std::function<void(const RunFolder&, const study::Total&)> write;
  std::function<bool(const RunFolder&)> are_there;
};

struct FolderRunOptions {
  study::RunOptions run = {};                         ///< without `chunks`: the folder keeps them
  std::string command = {};                           ///< as the manifest shows it
  std::string why_not_gpu = {};                       ///< likewise: why `--device auto` is the processor; or empty
  std::function<void(const std::string&)> warn = {};  ///< hears of chunks that are computed again
  Extras extras = {};
};

struct FolderRun {
  study::RunResult result;
  std::string summary;   ///< summary.json; empty where the run can be resumed
  std::string manifest;  ///< manifest.json
  bool changed = false;  ///< files were written; else all was there already
};

/// Runs or resumes a study in a folder: sound chunks of this very study are taken as they are. results.h5 and the rest
/// are written at the end, summary.json last: where it is, the run is whole. Throws Error(kInputOutput) where another
/// process works on the folder, another version of garra has begun it, or writing fails; and as study::run.
[[nodiscard]] FolderRun run_in_folder(RunFolder& folder, const study::Study& study,
                                      const FolderRunOptions& options = {});

/// One of any number of processes, on any machines that see the folder, that compute its chunks together: each takes
/// what is missing and nobody else is at work on, and in the end what is being worked on for longest. `place`: where to
/// begin, as a share of the run. The folder needs no lock for that and has no results yet: run_in_folder() writes them
/// where all chunks are there, once. Throws Error(kInputOutput) where two processes have computed different bytes for
/// the same samples, and as run_in_folder().
[[nodiscard]] study::RunResult work_in_folder(RunFolder& folder, const study::Study& study,
                                              const FolderRunOptions& options = {}, double place = 0);

/// The same as run_in_folder with a folder by its path, made where there is none. `description` says what the study is
/// made of: it is kept as scenario.toml, and chunks of another description are not taken. For studies that no scenario
/// file describes. Throws Error(kUsage) where the folder is a run of another description, or holds anything else.
[[nodiscard]] FolderRun run_in_folder(const std::string& path, const std::string& description,
                                      const study::Study& study, const FolderRunOptions& options = {});

}  // namespace garra::io
