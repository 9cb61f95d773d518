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

std::vector<std::string> robot_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::path& folder : data_folders("robots"))
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (is_robot_file(entry.path())) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

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
  const std::vector<std::string> names = robot_names();
  const std::string near = nearest_word(name, names);
  throw Error(ExitCode::kInputOutput, io::quoted(name) + ": there is no such file, and no such model",
              (near.empty() ? "" : "Did you mean " + io::quoted(near) + "? ") + suggest("", names, "Models"));
}

}  // namespace garra::io
