// Chunk files of a run folder, with a right checksum put behind them: what a forger would write.
#include <zlib.h>

#include "fuzz.hpp"
#include "study/files/chunk_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace garra;
  std::string bytes = fuzz::to_text(data, size);
  const auto sum = static_cast<std::uint32_t>(crc32(0, data, static_cast<unsigned>(size)));
  for (int k = 0; k < 4; ++k) bytes += static_cast<char>(sum >> (8 * k) & 255);
  static const io::ChunkRules rules = {
      .shape =
          {.sums = 3, .tracked = 2, .row = 4, .counts = 6, .groups = 1, .least = 2, .buckets = 2, .outcomes = {{0, 3}}},
      .outcomes = 3};
  (void)io::decode_chunk(bytes, {"s", "l", "g"}, rules);
  return 0;
}
