// Interface for bytes stored temporarily outside of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace garra::study {

/// Byte storage outside of memory.
class Scratch {
 public:
  virtual ~Scratch() = default;
  /// For any order of calls; throw Error(kInputOutput). Bytes that were never written read as anything.
  virtual void write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  virtual void read_at(std::uint64_t offset, std::span<std::byte> bytes) = 0;
};

}  // namespace garra::study
