// Equality of numbers to the bit: NaN equals itself, zeros differ by their sign.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace garra::test {

[[nodiscard]] inline bool same_bits(const double* a, const double* b, std::size_t count) {
  return count == 0 || std::memcmp(a, b, count * sizeof(double)) == 0;
}
[[nodiscard]] inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && same_bits(a.data(), b.data(), a.size());
}

}  // namespace garra::test
