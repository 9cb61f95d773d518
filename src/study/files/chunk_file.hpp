// A chunk file: what consecutive samples add up to, as bytes. What a file says is believed only where its checksum, its
// origin and its shape are right (docs/reference/run-folder.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "garra/study/shape.hpp"
#include "garra/study/tally.hpp"

namespace garra::io {

/// Whose chunk it is: each of these must be that of the reader.
struct ChunkOrigin {
  std::string scenario;  ///< checksum of scenario, overrides and models
  std::string layout;    ///< checksum of all names and sizes of what the study keeps
  std::string program;   ///< major and minor number of garra's version
};

/// Checksum of the sizes, and of the names and places of the columns.
[[nodiscard]] std::string layout_checksum(const study::Shape& shape, const std::vector<study::RowColumn>& columns);

/// No chunk of `count` samples in whole blocks is longer [bytes].
[[nodiscard]] std::size_t largest_chunk(const study::Shape& shape, std::int64_t count);

/// The bytes of a chunk file, checksum last; the same chunk gives the same bytes.
[[nodiscard]] std::vector<std::uint8_t> encode_chunk(const study::Total& chunk, const ChunkOrigin& origin);

/// How many ways a sample can end: larger numbers of outcomes name none.
struct ChunkRules {
  study::Shape shape;
  int outcomes = 0;
};

enum class ChunkState { kSound, kDamaged, kForeign };
struct DecodedChunk {
  ChunkState state = ChunkState::kDamaged;
  study::Total chunk;  ///< where it is sound
};

/// Never throws and never goes deep, whatever the bytes are.
[[nodiscard]] DecodedChunk decode_chunk(const std::string& bytes, const ChunkOrigin& origin, const ChunkRules& rules);

}  // namespace garra::io
