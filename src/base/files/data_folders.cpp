#include "base/files/data_folders.hpp"

namespace garra::io {

std::vector<std::filesystem::path> data_folders(const std::string& kind) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path built = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  return {fs::path("data") / kind, built / "data" / kind, built / "share" / "garra" / kind};
}

}  // namespace garra::io
