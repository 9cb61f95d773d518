#include "io/text_file.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>

#include "garra/core/error.hpp"

namespace garra::io {

std::string read_text(const std::string& path) {
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  std::string text;
  if (file != nullptr) {
    char block[65536];
    std::size_t n;
    while (text.size() <= kLargestText && (n = std::fread(block, 1, sizeof block, file.get())) > 0)
      text.append(block, n);
    if (std::ferror(file.get()) == 0) return text;
  }
  throw Error(ExitCode::kInputOutput, path + ": cannot be read",
              "Check the path and its permissions; it must be a file.");
}

std::string file_beside(const std::string& scenario, const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(scenario).parent_path(), copy = folder / "models" / fs::path(file).filename();
  std::error_code ignored;
  return (fs::exists(copy, ignored) ? copy : folder / file).string();
}

}  // namespace garra::io
