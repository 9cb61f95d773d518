// The files that a run of any job writes beside its chunks and its summary: manifest.json, results.h5.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "garra/batch/device.hpp"
#include "garra/io/run_folder.hpp"
#include "systems/study.hpp"

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
void write_results(const io::RunFolder& folder, const study::Study& study, std::int64_t chunks, std::int64_t rows);

}  // namespace garra::cli
