#include "base/files/robot_model.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/files/data_folders.hpp"
#include "base/files/suggest.hpp"
#include "garra/core/error.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;

bool is_robot_file(const fs::path& file) { return file.extension() == ".toml" || file.extension() == ".urdf"; }

}  // namespace

bool is_robot_path(const std::string& model) { return model.find('/') != std::string::npos || is_robot_file(model); }

std::string robot_in(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  for (const char* extension : {".toml", ".urdf"}) {
    const fs::path file = fs::path(folder) / (name + extension);
    if (fs::is_regular_file(file, ignored)) return file.string();
  }
  return "";
}

std::string robot_file(const std::string& name) {
  for (const fs::path& folder : data_folders("robots")) {
    const std::string file = robot_in(folder.string(), name);
    if (!file.empty()) return file;
  }
  const std::vector<std::string> names = names_in_data("robots", {".toml", ".urdf"});
  const std::string near = nearest_word(name, names);
  throw Error(ExitCode::kInputOutput, io::quoted(name) + ": there is no such file, and no such model",
              (near.empty() ? "" : "Did you mean " + io::quoted(near) + "? ") + suggest("", names, "Models"));
}

}  // namespace garra::io
