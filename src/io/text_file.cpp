#include "io/text_file.hpp"

#include <cstdio>
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

}  // namespace garra::io
