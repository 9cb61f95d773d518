#include "io/robot_table.hpp"

#include <filesystem>

#include "garra/io/robot.hpp"
#include "io/suggest.hpp"
#include "io/text_file.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;

/// The copy in models/ beside the scenario, else what the scenario names.
std::string find_robot(const std::string& model, bool is_file, const std::string& scenario) {
  if (is_file) return file_beside(scenario, model);
  const std::string copy = robot_in((fs::path(scenario).parent_path() / "models").string(), model);
  return copy.empty() ? robot_file(model) : copy;
}

}  // namespace

NamedRobot read_robot_table(const Node& node, const std::string& scenario) {
  NamedRobot r;
  TableReader table(node, "robot");
  const Node *model = table.find("model"), *file = table.find("file");
  if ((model == nullptr) == (file == nullptr))
    fail(node.place, "robot", model == nullptr ? "no robot is named" : "both model and file",
         "Write model = \"exoskeleton\", a name in data/robots, or file = \"arm.urdf\".");
  const char* key = model != nullptr ? "model" : "file";
  const Node& named = model != nullptr ? *model : *file;
  r.model = read_string(named, table.name(key));
  if (const Node* base = table.find("base")) r.base = read_string(*base, table.name("base"));
  if (const Node* tip = table.find("tip")) r.tip = read_string(*tip, table.name("tip"));
  table.finish();
  if (model != nullptr && (r.model.empty() || is_robot_path(r.model)))
    fail(named.place, table.name(key), io::quoted(r.model) + " is no name", "Write file = \"...\" for a file.");
  try {
    r.model_file = find_robot(r.model, file != nullptr, scenario);
  } catch (const Error& error) {
    fail(named.place, table.name(key), error.what(), "");
  }
  r.robot = read_robot(r.model_file, {.base = r.base, .tip = r.tip, .overrides = {}});
  return r;
}

}  // namespace garra::io
