// The chunks of a run folder as the study engine takes and leaves them.
#pragma once

#include <functional>
#include <string>

#include "garra/io/run_folder.hpp"
#include "garra/study/engine.hpp"

namespace garra::io {

/// "is missing", "is damaged", "belongs to another scenario or version of garra"
[[nodiscard]] const char* said_of(RunFolder::Chunk state);
/// Whether it is there and cannot be taken.
[[nodiscard]] bool is_fault(RunFolder::Chunk state);

class RunChunks final : public study::ChunkStore {
 public:
  /// `warn` hears of chunks that are there and cannot be taken.
  RunChunks(const RunFolder& folder, std::function<void(const std::string&)> warn)
      : folder_(folder), warn_(std::move(warn)) {}
  [[nodiscard]] std::optional<study::Tally> read(std::int64_t index, std::int64_t first, std::int64_t count) override;
  void write(std::int64_t index, const study::Tally& chunk) override;
  /// How the chunk was that was read last: after study::stored(), why there are no more of them.
  [[nodiscard]] RunFolder::Chunk last() const { return last_; }

 private:
  const RunFolder& folder_;
  std::function<void(const std::string&)> warn_;
  RunFolder::Chunk last_ = RunFolder::Chunk::kMissing;
};

}  // namespace garra::io
