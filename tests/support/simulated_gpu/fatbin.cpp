#include "fatbin.hpp"

#include <cstdint>
#include <cstring>

#include "memory.hpp"

namespace simulated_gpu {

namespace {

constexpr std::uint32_t kWrapper = 0x466243b1, kContainer = 0xba55ed50;
constexpr std::uint16_t kPtx = 1;

template <class T>
T at(const std::byte* from, std::size_t offset) {
  T value;
  std::memcpy(&value, from + offset, sizeof value);
  return value;
}

}  // namespace

// Wrapper: magic, version, address of the container. Container: magic, version (2 bytes), bytes of this header (2),
// bytes of what follows (8); then entries: kind (2), version (2), bytes of this header (4), bytes of what follows (8),
// ...
std::string_view ptx_of(const void* wrapper) {
  const auto* outer = static_cast<const std::byte*>(wrapper);
  if (at<std::uint32_t>(outer, 0) != kWrapper) throw Fault("no fat binary");
  const auto* container = at<const std::byte*>(outer, 8);
  if (at<std::uint32_t>(container, 0) != kContainer) throw Fault("no container in a fat binary");
  const std::byte* entry = container + at<std::uint16_t>(container, 6);
  const std::byte* end = entry + at<std::uint64_t>(container, 8);
  while (entry < end) {
    const auto header = at<std::uint32_t>(entry, 4);
    const auto bytes = static_cast<std::size_t>(at<std::uint64_t>(entry, 8));
    if (at<std::uint16_t>(entry, 0) == kPtx) {
      const auto* text = reinterpret_cast<const char*>(entry + header);
      const std::string_view ptx(text, strnlen(text, bytes));
      if (ptx.find(".version") == ptx.npos) throw Fault("the PTX is compressed: compile with --no-compress");
      return ptx;
    }
    entry += header + bytes;
  }
  throw Fault("no PTX in a fat binary: compile for a virtual architecture");
}

}  // namespace simulated_gpu
