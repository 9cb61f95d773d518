#include "base/files/data_folders.hpp"

#include <algorithm>
#include <set>

namespace garra::io {

std::vector<std::filesystem::path> data_folders(const std::string& kind) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path built = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  return {fs::path("data") / kind, built / "data" / kind, built / "share" / "garra" / kind};
}

std::vector<std::string> names_in_data(const std::string& kind, const std::vector<std::string>& extensions) {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& folder : data_folders(kind))
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
      if (std::ranges::count(extensions, entry.path().extension().string()) > 0)
        names.insert(entry.path().stem().string());
  return {names.begin(), names.end()};
}

}  // namespace garra::io
