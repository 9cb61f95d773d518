// Bytes that are put aside for a while, where memory has no room for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace garra::study {

class Scratch {
 public:
  virtual ~Scratch() = default;
  /// In any order; throw Error(kInputOutput). What was never written reads as anything.
  virtual void write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  virtual void read_at(std::uint64_t offset, std::span<std::byte> bytes) = 0;
};

}  // namespace garra::study
