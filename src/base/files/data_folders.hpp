// Locates the data folders that come with garra.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace garra::io {

/// Folders that may hold data/<kind>, best first: the working directory, the parent of the build folder, the
/// installation.
[[nodiscard]] std::vector<std::filesystem::path> data_folders(const std::string& kind);

/// Names of the files there that have one of these extensions, in alphabetical order.
[[nodiscard]] std::vector<std::string> names_in_data(const std::string& kind,
                                                     const std::vector<std::string>& extensions);

}  // namespace garra::io
