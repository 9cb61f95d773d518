#include "platform/files/scenario_parts.hpp"

#include <filesystem>

#include "base/files/suggest.hpp"
#include "base/files/text_file.hpp"
#include "garra/io/platform_file.hpp"
#include "platform/files/parts.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;

/// The copy in models/ beside the scenario, else what the scenario names.
std::string find_platform(const std::string& model, bool is_file, const std::string& scenario) {
  if (is_file) return file_beside(scenario, model);
  // A run folder has a copy of its model: a repeated run uses it even if the named file has
  // changed.
  const fs::path copy = fs::path(scenario).parent_path() / "models" / (model + ".toml");
  std::error_code ignored;
  return fs::exists(copy, ignored) ? copy.string() : platform_file(model);
}

void read_chosen(Fields& f, const std::string& scenario, bool is_file, const ChosenPlatform& chosen) {
  const char* key = is_file ? "file" : "model";
  if (!is_file && (chosen.model.empty() || is_platform_path(chosen.model)))
    return f.check(false, key, io::quoted(chosen.model) + " is no name", "Write file = \"...\" for a file.");
  if (is_file && !is_platform_path(chosen.model))
    return f.check(false, key, io::quoted(chosen.model) + " is no platform file", "Its name ends in .toml.");
  try {
    chosen.file = find_platform(chosen.model, is_file, scenario);
  } catch (const Error& error) {
    return f.check(false, key, error.what(), "");
  }
  chosen.platform = read_platform(chosen.file);
}

}  // namespace

void platform_fields(Fields& f, const std::string& scenario, const ChosenPlatform& chosen) {
  f.table("platform", {.doc = "which platform", .required = "Write [platform] with model = \"trepa_like\"."}, [&] {
    const std::string from = chosen.platform.name + ", from " + chosen.file;
    const bool now_file = is_platform_path(chosen.model);
    const bool named = f.has("model", !now_file), is_file = f.has("file", now_file);
    if (named)
      f.key("model", string(chosen.model),
            {.doc = "a name in `data/platforms`", .comment = from, .otherwise = "this or `file`"});
    if (is_file)
      f.key("file", string(chosen.model),
            {.doc = "a file, relative to the scenario", .comment = from, .otherwise = "this or `model`"});
    f.check(named != is_file, "", named ? "both model and file" : "no platform is named",
            "Write model = \"trepa_like\", a name in data/platforms, or file = \"mine.toml\".");
    // Between the keys: gravity in the scenario replaces that of the platform which has just been read.
    f.then([&] { read_chosen(f, scenario, is_file, chosen); });
    f.key("gravity", vector(chosen.platform.gravity, {kAcceleration}),
          {.doc = "in base axes", .otherwise = "the file's"});
    f.key("wall", wall(chosen.platform.gravity),
          {.doc = "how the base is turned under gravity", .otherwise = "`\"floor\"`"});
  });
}

}  // namespace garra::io
