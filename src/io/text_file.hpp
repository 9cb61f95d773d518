// A whole text file.
#pragma once

#include <string>

namespace garra::io {

/// Longest file [bytes] that the readers of texts take.
inline constexpr std::size_t kLargestText = 10'000'000;

/// The bytes of a file, of a very large one somewhat more than kLargestText. Throws Error(kInputOutput).
[[nodiscard]] std::string read_text(const std::string& path);

/// A file that a scenario names: its copy in models/ beside the scenario (in a run folder), else relative to the scenario.
[[nodiscard]] std::string file_beside(const std::string& scenario, const std::string& file);

}  // namespace garra::io
