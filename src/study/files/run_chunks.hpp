// Reads and writes the chunks of a run folder for the study engine.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "garra/io/run_folder.hpp"
#include "garra/study/engine.hpp"
#include "study/files/claims.hpp"
#include "study/files/worker_record.hpp"

namespace garra::io {

/// Text for messages: "is missing", "is damaged", "belongs to another scenario or version of garra".
[[nodiscard]] const char* describe_state(RunFolder::Chunk state);
/// Whether the chunk exists and cannot be used.
[[nodiscard]] bool is_fault(RunFolder::Chunk state);

/// Chunk store of the study engine in a run folder.
class RunChunks final : public study::ChunkStore {
 public:
  /// `warn` is called for chunks that exist and cannot be used.
  RunChunks(const RunFolder& folder, std::function<void(const std::string&)> warn)
      : folder_(folder), warn_(std::move(warn)) {}

  /// Makes this one of several workers. It searches work from this share of the chunks on, and records its work from
  /// its first claim on.
  void work_from(double place, std::string device);

  [[nodiscard]] std::optional<study::Total> read(std::int64_t index, std::int64_t first, std::int64_t count) override;
  /// Throws Error(kInputOutput) if another process has stored other bytes for the same samples.
  void write(std::int64_t index, const study::Total& chunk) override;
  [[nodiscard]] bool has(std::int64_t index) override;
  [[nodiscard]] std::optional<std::int64_t> claim(std::int64_t next, std::int64_t end) override;
  void give_up(std::int64_t index) override;

  /// State of the chunk read last: after study::stored(), the reason why no more follow.
  [[nodiscard]] RunFolder::Chunk last() const { return last_; }
  /// Records that the worker has ended in order.
  void end_work();

 private:
  void record(std::int64_t index, const study::Total& chunk, RunFolder::Written written);
  void write_record();
  [[nodiscard]] double seconds() const;  ///< since the worker has begun
  [[noreturn]] void refuse(std::int64_t index) const;

  const RunFolder& folder_;
  std::function<void(const std::string&)> warn_;
  RunFolder::Chunk last_ = RunFolder::Chunk::kMissing;
  std::optional<Claims> claims_;  ///< from the first claim on
  std::optional<WorkerState> worker_;
  double place_ = 0;
  std::chrono::steady_clock::time_point start_ = {};
  std::optional<double> recorded_;  ///< [s] when the record was written last
  std::set<std::int64_t> faulty_;   ///< damaged or foreign, to be replaced
  std::vector<bool> there_;         ///< seen already: chunks do not go
};

}  // namespace garra::io
