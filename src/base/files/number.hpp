// Numbers as text.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace garra::io {

/// The shortest text that reads back to the same double, without the sign of a zero. It is scientific from 1e18 on,
/// because TOML reads bare digits as a 64-bit integer.
[[nodiscard]] inline std::string shortest(double value) {
  if (value == 0) return "0";
  char digits[32];
  const auto written = std::abs(value) < 1e18
                           ? std::to_chars(digits, digits + sizeof digits, value)
                           : std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific);
  return {digits, written.ptr};
}

/// Parses digits and nothing else.
[[nodiscard]] inline std::optional<std::int64_t> whole_number(std::string_view digits) {
  std::int64_t n = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, n);
  return error == std::errc{} && stop == end && digits[0] != '-' ? std::optional(n) : std::nullopt;
}

/// The nearest number with `significant` significant digits.
[[nodiscard]] inline double rounded(double value, int significant) {
  char digits[40];
  const int length = std::snprintf(digits, sizeof digits, "%.*e", significant - 1, value);
  double out = value;
  std::from_chars(digits, digits + length, out);
  return out;
}

}  // namespace garra::io
