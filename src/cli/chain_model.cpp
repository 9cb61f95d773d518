#include "cli/chain_model.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "garra/core/error.hpp"
#include "io/suggest.hpp"

namespace garra::cli {
namespace {

namespace fs = std::filesystem;

/// data/robots where the command runs, and beside the folder that the program was built in.
std::vector<fs::path> model_folders() {
  std::error_code ignored;
  const fs::path built = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  return {fs::path("data") / "robots", built / "data" / "robots"};
}

bool is_model(const fs::path& file) { return file.extension() == ".toml" || file.extension() == ".urdf"; }

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::path& folder : model_folders())
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (is_model(entry.path())) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::optional<std::string> built_in(const std::string& name) {
  std::error_code ignored;
  for (const fs::path& folder : model_folders())
    for (const char* extension : {".toml", ".urdf"}) {
      const fs::path file = folder / (name + extension);
      if (fs::is_regular_file(file, ignored)) return file.string();
    }
  return std::nullopt;
}

}  // namespace

void add_model_options(CLI::App& command, ModelArguments& arguments) {
  command.add_option("model", arguments.model, "robot file (.toml, .urdf), or the name of one in data/robots")
      ->required()
      ->type_name("MODEL");
  command.add_option("--base", arguments.options.base, "URDF: link where the chain starts; default: the only root")
      ->type_name("LINK");
  command.add_option("--tip", arguments.options.tip, "URDF: link where it ends; default: the only leaf")->type_name("LINK");
  command.add_option("--set", arguments.options.overrides, "TOML: replace a value, for example joint.0.damping=0.1")
      ->type_name("KEY=VALUE");
}

chain::Robot read_model(const ModelArguments& arguments) {
  const std::string& model = arguments.model;
  std::error_code ignored;
  const bool is_name = model.find('/') == std::string::npos && !is_model(model);
  if (!is_name || fs::exists(model, ignored)) return io::read_robot(model, arguments.options);
  if (const auto file = built_in(model)) return io::read_robot(*file, arguments.options);
  throw Error(ExitCode::kInputOutput, io::quoted(model) + ": there is no such file, and no such model",
              io::suggest(model, model_names(), "Models"));
}

}  // namespace garra::cli
