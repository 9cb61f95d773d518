// A folder for temporary files of one command.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "garra/core/error.hpp"

namespace garra::cli {

/// A temporary folder; the destructor removes it with its content.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "garra-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw Error(ExitCode::kInputOutput, pattern + ": cannot be made", "Set TMPDIR to a folder that can be written.");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace garra::cli
