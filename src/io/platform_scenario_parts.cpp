#include "io/platform_scenario_parts.hpp"

#include <filesystem>

#include "garra/io/platform_file.hpp"
#include "io/platform_parts.hpp"
#include "io/suggest.hpp"
#include "io/text_file.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;

/// The copy in models/ beside the scenario, else what the scenario names.
std::string find_platform(const std::string& model, bool is_file, const std::string& scenario) {
  if (is_file) return file_beside(scenario, model);
  const fs::path copy = fs::path(scenario).parent_path() / "models" / (model + ".toml");
  std::error_code ignored;
  return fs::exists(copy, ignored) ? copy.string() : platform_file(model);
}

}  // namespace

ChosenPlatform read_chosen_platform(TableReader& root, const std::string& name) {
  ChosenPlatform chosen;
  const Node& node = root.require("platform", "Write [platform] with model = \"trepa_like\".");
  TableReader table(node, "platform");
  const Node *model = table.find("model"), *file = table.find("file");
  if ((model == nullptr) == (file == nullptr))
    fail(node.place, "platform", model == nullptr ? "no platform is named" : "both model and file",
         "Write model = \"trepa_like\", a name in data/platforms, or file = \"mine.toml\".");
  const std::string key = table.name(model != nullptr ? "model" : "file");
  const Node& named = model != nullptr ? *model : *file;
  chosen.model = read_string(named, key);
  if (model != nullptr && (chosen.model.empty() || is_platform_path(chosen.model)))
    fail(named.place, key, io::quoted(chosen.model) + " is no name", "Write file = \"...\" for a file.");
  if (file != nullptr && !is_platform_path(chosen.model))
    fail(named.place, key, io::quoted(chosen.model) + " is no platform file", "Its name ends in .toml.");
  try {
    chosen.file = find_platform(chosen.model, file != nullptr, name);
  } catch (const Error& error) {
    fail(named.place, key, error.what(), "");
  }
  chosen.platform = read_platform(chosen.file);
  // As in platform files: `wall` turns the base under gravity.
  platform::Platform& p = chosen.platform;
  if (const Node* gravity = table.find("gravity"))
    p.gravity = read_vector(*gravity, table.name("gravity"), kAcceleration);
  if (const Node* wall = table.find("wall")) {
    p.gravity = transpose_times(read_mounting(*wall, table.name("wall")), p.gravity);
    for (int k = 0; k < 3; ++k) p.gravity[k] += 0.0;  // no zero has a sign
  }
  table.finish();
  return chosen;
}

void write(const ChosenPlatform& chosen, Writer& w) {
  w.table("platform");
  w.line(is_platform_path(chosen.model) ? "file" : "model", text(chosen.model),
         chosen.platform.name + ", from " + chosen.file);
  w.quantity("gravity", chosen.platform.gravity, kAcceleration);
}

}  // namespace garra::io
