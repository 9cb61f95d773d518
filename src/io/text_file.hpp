// A whole text file.
#pragma once

#include <string>

namespace garra::io {

/// Longest file [bytes] that the readers of texts take.
inline constexpr std::size_t kLargestText = 10'000'000;

/// The bytes of a file, of a very large one somewhat more than kLargestText. Throws Error(kInputOutput).
[[nodiscard]] std::string read_text(const std::string& path);

}  // namespace garra::io
