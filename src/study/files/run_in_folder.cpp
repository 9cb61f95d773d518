#include <filesystem>

#include "garra/batch/devices.hpp"
#include "garra/core/error.hpp"
#include "garra/io/run.hpp"
#include "study/files/run_chunks.hpp"
#include "study/files/run_record.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;

/// Whether the folder already has the results of this summary: resuming a finished run changes nothing.
bool is_written(const RunFolder& folder, const Manifest& manifest, const std::string& summary, const Extras& extras) {
  return folder.has("results.h5") && (!extras.are_there || extras.are_there(folder)) && folder.has("summary.json") &&
         folder.read_text("summary.json") == summary && manifest.files_are_whole();
}

void write_outputs(const RunFolder& folder, const study::Study& study, const Extras& extras, Manifest& manifest,
                   const FolderRun& run) {
  write_results(folder.file("results.h5"), folder, study, run.result);
  if (extras.write) extras.write(folder, run.result.total);
  // Before summary.json, so that its readers find the checksums of all other files.
  manifest.add_files();
  folder.write_text("summary.json", run.summary);
  Claims::remove_all(folder.path());  // left by workers that were killed
}

}  // namespace

FolderRun run_in_folder(RunFolder& folder, const study::Study& study, const FolderRunOptions& options) {
  // Before the lock, because an error must leave nothing behind.
  require_same_program(folder);
  expect_study(folder, study);
  folder.lock();
  // Under the lock, so that no file of a working process counts as leftover.
  folder.remove_leftovers();
  Manifest manifest(folder, options.run.devices(), options);
  RunChunks chunks(folder, options.warn);
  study::RunOptions in_folder = options.run;
  in_folder.chunks = &chunks;
  FolderRun run;
  run.result = study::run(study, in_folder);
  manifest.add(run.result.fresh, run.result.seconds);
  // A stopped run has no summary: its absence marks the run as incomplete.
  if (!study::is_resumable(run.result.end)) {
    folder.require_same_inputs();
    manifest.add_workers();
    run.summary = study.summary(run.result.total, study::to_string(run.result.end));
    run.changed = run.result.fresh > 0 || !is_written(folder, manifest, run.summary, options.extras);
    if (run.changed) write_outputs(folder, study, options.extras, manifest, run);
  }
  run.manifest = manifest.json().dump();
  return run;
}

study::RunResult work_in_folder(RunFolder& folder, const study::Study& study, const FolderRunOptions& options,
                                double place) {
  require_same_program(folder);
  expect_study(folder, study);
  folder.require_no_links();
  RunChunks chunks(folder, options.warn);
  chunks.work_from(place, describe(options.run.devices()));
  study::RunOptions in_folder = options.run;
  in_folder.chunks = &chunks;
  in_folder.only_work = true;
  study::RunResult result = study::run(study, in_folder);
  if (!study::is_resumable(result.end)) folder.require_same_inputs();
  chunks.end_work();
  return result;
}

FolderRun run_in_folder(const std::string& path, const std::string& description, const study::Study& study,
                        const FolderRunOptions& options) {
  std::error_code error;
  const bool is_there = fs::exists(path, error) && !fs::is_empty(path, error);
  RunFolder folder = is_there ? RunFolder::open(path) : RunFolder::create(path, description);
  // Compared byte by byte: results under another description would be taken for its own.
  if (folder.read_text("scenario.toml") != description)
    throw Error(ExitCode::kUsage, path + ": is a run of another study", "Give another folder, or remove this one.");
  return run_in_folder(folder, study, options);
}

}  // namespace garra::io
