// Text attributes of an HDF5 file.
#pragma once

#include <optional>
#include <string>

namespace garra::io {

/// The text attribute `name` of the file's root; nothing if it is missing or no text. Throws Error (kInputOutput) if
/// the file cannot be read.
[[nodiscard]] std::optional<std::string> root_attribute(const std::string& path, const std::string& name);

}  // namespace garra::io
