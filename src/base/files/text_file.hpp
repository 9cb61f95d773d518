// Reads whole files.
#pragma once

#include <string>
#include <string_view>

namespace garra::io {

/// Longest file [bytes] that the text readers accept.
inline constexpr std::size_t kMaxText = 10'000'000;

/// The bytes of a file, at most the first `most`. Throws Error(kInputOutput), also for irregular files: a pipe could
/// wait for ever, a device never end.
[[nodiscard]] std::string read_file(const std::string& path, std::size_t most);

/// The same of at most kMaxText + 1 bytes.
[[nodiscard]] std::string read_text(const std::string& path);

/// Whether a text is UTF-8: what JSON, TOML and HDF5 take as a name.
[[nodiscard]] bool is_utf8(std::string_view text);

/// CRC-32 of a regular file of any size, as eight hexadecimal digits; "" if it cannot be read.
[[nodiscard]] std::string file_checksum(const std::string& path);

/// A file that a scenario names: its copy in models/ beside the scenario (in a run folder), else relative to the
/// scenario.
[[nodiscard]] std::string file_beside(const std::string& scenario, const std::string& file);

}  // namespace garra::io
