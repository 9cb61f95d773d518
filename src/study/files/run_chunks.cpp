#include "study/files/run_chunks.hpp"

namespace garra::io {

const char* said_of(RunFolder::Chunk state) {
  if (state == RunFolder::Chunk::kMissing) return "is missing";
  return state == RunFolder::Chunk::kDamaged ? "is damaged" : "belongs to another scenario or version of garra";
}

bool is_fault(RunFolder::Chunk state) {
  return state == RunFolder::Chunk::kDamaged || state == RunFolder::Chunk::kForeign;
}

std::optional<study::Tally> RunChunks::read(std::int64_t index, std::int64_t first, std::int64_t count) {
  auto chunk = folder_.read_chunk(index, &last_);
  // Sound, but of other samples: a chunk file under another one's name.
  if (chunk && (chunk->first != first || chunk->count != count)) {
    last_ = RunFolder::Chunk::kForeign;
    chunk.reset();
  }
  if (is_fault(last_) && warn_) warn_("chunk " + std::to_string(index) + " " + said_of(last_) + "; computing it again");
  return chunk;
}

void RunChunks::write(std::int64_t index, const study::Tally& chunk) {
  folder_.write_chunk(index, chunk);
  // After each chunk: a claim is renewed for as long as work goes on.
  folder_.renew_lock();
}

}  // namespace garra::io
