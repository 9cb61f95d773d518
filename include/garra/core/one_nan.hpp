// The single NaN bit pattern that leaves the library: x86 makes 0xfff8..., a GPU 0x7fff..., and
// both pass on the NaNs they were given (docs/theory/numerics.md).
#pragma once

#include <bit>
#include <cstdint>

#include "garra/core/hd.hpp"

namespace garra {

inline constexpr std::uint64_t kOneNan = std::uint64_t{0x7ff8} << 48;

/// x, or the one NaN. Compares bits: a compiler may take one NaN for another.
GARRA_HD double with_one_nan(double x) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63, kInfinity = std::uint64_t{0x7ff} << 52, kNan = kOneNan;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return std::bit_cast<double>((bits & ~kSign) > kInfinity ? kNan : bits);
}

}  // namespace garra
