// A chunk file: the sums of consecutive samples, as bytes. A file is accepted only if its checksum, origin and shape
// are right (docs/reference/run-folder.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "garra/study/shape.hpp"
#include "garra/study/tally.hpp"

namespace garra::io {

/// Identity of a chunk; a reader's must be equal.
struct ChunkOrigin {
  std::string scenario;  ///< checksum of scenario, overrides and models
  std::string layout;    ///< checksum of the names and sizes of all sums and rows
  std::string program;   ///< major and minor number of garra's version
};

/// Checksum of the sizes, and of the names and places of the columns.
[[nodiscard]] std::string layout_checksum(const study::Shape& shape, const std::vector<study::RowColumn>& columns);

/// Upper bound on the bytes of a chunk of `count` samples in whole blocks.
[[nodiscard]] std::size_t largest_chunk(const study::Shape& shape, std::int64_t count);

/// The bytes of a chunk file, checksum last; the same chunk gives the same bytes.
[[nodiscard]] std::vector<std::uint8_t> encode_chunk(const study::Total& chunk, const ChunkOrigin& origin);

/// Number of outcomes of a sample; larger outcome numbers are invalid.
struct ChunkRules {
  study::Shape shape;
  int outcomes = 0;
};

enum class ChunkState { kSound, kDamaged, kForeign };
/// Result of decode_chunk().
struct DecodedChunk {
  ChunkState state = ChunkState::kDamaged;
  study::Total chunk;  ///< if it is sound
};

/// Decodes any bytes without exceptions or deep recursion.
[[nodiscard]] DecodedChunk decode_chunk(const std::string& bytes, const ChunkOrigin& origin, const ChunkRules& rules);

}  // namespace garra::io
