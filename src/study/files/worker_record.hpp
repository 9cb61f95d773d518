// Records of the processes that work on a shared run folder: RUN/workers/NAME.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "garra/io/run_folder.hpp"

namespace garra::io {

/// Work of one worker process on a run.
struct WorkerState {
  std::string name;    ///< as worker_name() gives it
  std::string device;  ///< of its computations
  std::int64_t samples = 0;
  double seconds = 0;                 ///< from its start to its last chunk
  std::vector<std::int64_t> chunks;   ///< stored by it
  std::vector<std::int64_t> checked;  ///< computed by it too, with the same bytes as another's
  bool ended = false;

  /// [samples/s]
  [[nodiscard]] double rate() const { return seconds > 0 ? static_cast<double>(samples) / seconds : 0; }
};

/// Writes the record, whole or not at all, like every file of a run folder.
void write_worker(const RunFolder& folder, const WorkerState& worker);
/// Records of all workers of the run, sorted by name. Unreadable ones are skipped.
[[nodiscard]] std::vector<WorkerState> read_workers(const RunFolder& folder);
/// Name of the worker that has stored the chunk; "" if unknown.
[[nodiscard]] std::string writer_of_chunk(const RunFolder& folder, std::int64_t chunk);

}  // namespace garra::io
