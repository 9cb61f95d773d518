// Platform files: six-legged platforms in TOML. The format is in docs/theory/platform.md; data/platforms holds
// examples.
#pragma once

#include <string>
#include <vector>

#include "garra/platform.hpp"

namespace garra::io {

/// The file that a model is read from. It is the text itself if that names a file (has a slash, ends in .toml, or
/// exists), else NAME.toml in data/platforms. Throws Error(kInputOutput) naming the available platforms.
[[nodiscard]] std::string platform_file(const std::string& model);

/// Whether a text names a file, not a platform of data/platforms.
[[nodiscard]] bool is_platform_path(const std::string& model);

/// Reads a platform by its file or name; `overrides` are "key.path=value", as for scenarios. The result is checked().
/// Throws Error: kInputOutput for a file that cannot be read; kInvalidFile ("file:line:column: key: what is wrong",
/// then the remedy) for wrong content; kUsage for overrides that do not fit.
[[nodiscard]] platform::Platform read_platform(const std::string& model,
                                               const std::vector<std::string>& overrides = {});

/// The same from a text; `name` stands in messages for the file.
[[nodiscard]] platform::Platform parse_platform(const std::string& text, const std::string& name,
                                                const std::vector<std::string>& overrides = {});

/// Whether a TOML file describes a platform: it has a table `platform` and no `job`.
[[nodiscard]] bool is_platform_toml(const std::string& path);

/// A platform file that reads back to the same numbers: every leg written out, SI units.
[[nodiscard]] std::string platform_toml(const platform::Platform& platform);

/// Human-readable description: lines on the home pose, then platform_toml().
[[nodiscard]] std::string describe_platform(const platform::Platform& platform);

}  // namespace garra::io
