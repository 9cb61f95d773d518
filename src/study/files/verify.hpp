// `garra verify`: checks that the content of a run folder follows from its scenario.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/io/run_folder.hpp"
#include "garra/study/engine.hpp"

namespace garra::io {

/// Options of verify().
struct VerifyOptions {
  double share = 0.01;  ///< of the chunks, computed again: at least one of them, evenly spread; 0: none
  std::vector<Device> devices = {Device{}};  ///< more than one: GPUs
  std::string scratch = {};                  ///< folder for a copy of results.h5 as the chunks give it
  std::function<void(std::int64_t done, std::int64_t all)> on_progress = {};
  std::function<bool()> is_cancelled = {};
};

/// Result of verify().
struct Verification {
  bool finished = false;
  std::int64_t chunks = 0, samples = 0;  ///< present and sound
  std::int64_t computed = 0;             ///< chunks that were computed again
  std::vector<std::string> faults;       ///< sentences
};

/// Reads all chunks and verifies the files with the checksums of manifest.json. Compares summary.json and results.h5
/// byte for byte with those from the chunks, and recomputes a share of the chunks. Changes nothing in the folder.
/// Throws Error(kInputOutput) if another version of garra has made the run or its scenario was changed, and
/// Error(kStoppedResumable) if it was canceled.
[[nodiscard]] Verification verify(RunFolder& folder, const study::Study& study, const VerifyOptions& options);

}  // namespace garra::io
