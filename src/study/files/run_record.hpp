// The files that a run of any job writes beside its chunks and its summary: manifest.json, results.h5.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "garra/batch/devices.hpp"
#include "garra/io/run_folder.hpp"
#include "garra/study/engine.hpp"

namespace garra::io {

/// manifest.json: how a run was made, over all the times that it was started.
class Manifest {
 public:
  /// Reads the one of an earlier start, or begins and writes a new one, so that a killed run has one too. Where the
  /// run's scenario was changed since, its results are of another one: they go.
  Manifest(const RunFolder& folder, const std::vector<Device>& devices, const std::string& command,
           const std::string& why_not_gpu = {});
  /// Remembers the files that the run has ended with, by their checksums.
  void add_files();
  /// Whether these files are there, and nothing has damaged them.
  [[nodiscard]] bool files_are_whole() const;
  /// Adds what this start has done, and writes it. Nothing computed changes nothing.
  void add(std::int64_t samples, double seconds);
  /// Adds what workers have done besides, by their records.
  void add_workers();
  [[nodiscard]] const nlohmann::ordered_json& json() const { return json_; }

 private:
  void write() const;

  const RunFolder& folder_;
  std::string device_;
  nlohmann::ordered_json json_;
};

/// What a summary says of its run: why it has ended ("" where that is no reason to end for good), and with how many
/// samples (-1 where it does not say).
struct Claim {
  std::string ending;
  std::int64_t samples = -1;
};
[[nodiscard]] Claim claim_of(const std::string& summary);

/// Chunks of the folder are those of this study, and of a version of garra with the same results (same_results).
void expect_study(RunFolder& folder, const study::Study& study);

/// The same for commands that only read: the chunks are those of the version that has begun the run.
void expect_study_of_any_version(RunFolder& folder, const study::Study& study);

/// Throws Error(kInputOutput) where the scenario, the overrides or the models are not those that the run was made of.
void require_unchanged(const RunFolder& folder);

/// Throws Error(kInputOutput) where the manifest names a version of garra with another major or minor number: samples
/// of that version may have other bits, and chunks of both versions would be mixed.
void require_same_program(const RunFolder& folder);

/// The files that the folder's manifest.json remembers and that are not there as it does, as names in the folder;
/// "manifest.json" where it remembers none.
[[nodiscard]] std::vector<std::string> changed_files(const RunFolder& folder);

/// The kept rows of these chunks, one chunk after another in memory. Throws Error(kInputOutput) where one is damaged.
void for_kept_rows(const RunFolder& folder, std::int64_t chunks,
                   const std::function<void(const std::vector<double>&)>& hear);

/// Results (results.h5) as `file`, from the chunks of the run, one in memory at a time.
void write_results(const std::string& file, const RunFolder& folder, const study::Study& study,
                   const study::RunResult& result);

}  // namespace garra::io
