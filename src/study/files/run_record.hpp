// Writes the files of a run of any job beside its chunks and its summary: manifest.json, results.h5.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "garra/io/run.hpp"
#include "garra/io/run_folder.hpp"
#include "garra/study/engine.hpp"

namespace garra::io {

/// manifest.json: provenance of a run over all its starts.
class Manifest {
 public:
  /// Reads the manifest of an earlier start, or writes a new one, so that a killed run has one too. If the run's
  /// scenario has changed since, its results are removed.
  Manifest(const RunFolder& folder, const std::vector<Device>& devices, const FolderRunOptions& options);
  /// Stores the checksums of the files that the run has ended with.
  void add_files();
  /// Whether these files exist undamaged.
  [[nodiscard]] bool files_are_whole() const;
  /// Adds the work of this start, and writes the file. Without new samples nothing changes.
  void add(std::int64_t samples, double seconds);
  /// Adds the work of other workers, from their records.
  void add_workers();
  [[nodiscard]] const nlohmann::ordered_json& json() const { return json_; }

 private:
  void write() const;

  const RunFolder& folder_;
  std::string device_;
  nlohmann::ordered_json json_;
};

/// A summary's statement on its run: the reason why it has ended ("" if it can be resumed), and its number of samples
/// (-1 if absent).
struct Claim {
  std::string ending;
  std::int64_t samples = -1;
};
[[nodiscard]] Claim parse_claim(const std::string& summary);

/// Expects chunks of this study, and of a version of garra with the same results (same_results).
void expect_study(RunFolder& folder, const study::Study& study);

/// The same for commands that only read: the chunks are those of the version that began the run.
void expect_study_of_any_version(RunFolder& folder, const study::Study& study);

/// Throws Error(kInputOutput) if the scenario, the overrides or the models have changed since the run was made.
void require_unchanged(const RunFolder& folder);

/// Throws Error(kInputOutput) if the manifest names a version of garra with another major or minor number. Samples of
/// that version may have other bits, and chunks of both versions would be mixed.
void require_same_program(const RunFolder& folder);

/// Names of the files that manifest.json lists and that are missing or changed; "manifest.json" if it lists none.
[[nodiscard]] std::vector<std::string> changed_files(const RunFolder& folder);

/// Visits the kept rows of these chunks, with one chunk in memory at a time. Throws Error(kInputOutput) if one is
/// damaged.
void for_kept_rows(const RunFolder& folder, std::int64_t chunks,
                   const std::function<void(const std::vector<double>&)>& hear);

/// Writes results (results.h5) to `file`, from the chunks of the run, one in memory at a time.
void write_results(const std::string& file, const RunFolder& folder, const study::Study& study,
                   const study::RunResult& result);

}  // namespace garra::io
