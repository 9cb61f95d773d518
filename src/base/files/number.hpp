// Numbers as text.
#pragma once

#include <charconv>
#include <cstdio>
#include <string>

namespace garra::io {

/// The shortest text that reads back to the same double, without the sign of a zero.
[[nodiscard]] inline std::string shortest(double value) {
  if (value == 0) return "0";
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

/// The nearest number of so many significant digits.
[[nodiscard]] inline double rounded(double value, int significant) {
  char digits[40];
  const int length = std::snprintf(digits, sizeof digits, "%.*e", significant - 1, value);
  double out = value;
  std::from_chars(digits, digits + length, out);
  return out;
}

}  // namespace garra::io
