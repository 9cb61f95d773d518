// Where the data lies that comes with garra.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace garra::io {

/// Folders that may hold data/<kind>, best first: where the command runs, beside the folder that the program was built
/// in, where it was installed.
[[nodiscard]] std::vector<std::filesystem::path> data_folders(const std::string& kind);

}  // namespace garra::io
