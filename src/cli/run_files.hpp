// The files that a run writes beside its chunks and its summary: manifest.json, results.h5, failures/.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/io/run_folder.hpp"
#include "systems/grasp_study.hpp"

namespace garra::cli {

/// manifest.json: how a run was made, over all the times that it was started.
class Manifest {
 public:
  /// Reads the one of an earlier start, or begins and writes a new one, so that a killed run has one too.
  Manifest(const io::RunFolder& folder, const Device& device, const std::string& command);
  /// Adds what this start has done, and writes it. Nothing computed changes nothing.
  void add(std::int64_t samples, double seconds);
  [[nodiscard]] const nlohmann::ordered_json& json() const { return json_; }

 private:
  void write() const;

  const io::RunFolder& folder_;
  std::string device_;
  nlohmann::ordered_json json_;
};

/// results.h5 from the first `chunks` chunks of the run, one in memory at a time; `rows` is how many samples they keep.
void write_results(const io::RunFolder& folder, const grasp::Study& study, std::int64_t chunks, std::int64_t rows);

/// failures/SAMPLE.h5: contact problems as `garra contact solve` reads them, at most 10: up to 5 of the `unanswered`
/// samples, then the failures closest to holding. None where the scenario keeps none.
void write_failures(const io::RunFolder& folder, const grasp::Study& study, const study::Total& total,
                    const std::vector<std::int64_t>& unanswered);

/// The sample to look at first: the closest that does not hold, else the closest to the border; -1 where there is none.
[[nodiscard]] std::int64_t sample_to_replay(const nlohmann::ordered_json& summary);

}  // namespace garra::cli
