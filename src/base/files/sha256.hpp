// SHA-256 of a text (FIPS 180-4).
#pragma once

#include <string>
#include <string_view>

namespace garra::io {

/// As 64 hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace garra::io
