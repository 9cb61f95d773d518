#include "io/robot_table.hpp"

#include <filesystem>

#include "garra/io/robot.hpp"
#include "io/number.hpp"
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

/// `{ joint = value, ... }`
std::string lock_text(const chain::Robot& robot) {
  std::string out;
  for (const chain::LockedJoint& joint : robot.locked)
    out += (out.empty() ? "{ " : ", ") + text(joint.name) + " = " + text(joint.q, joint.prismatic ? kLength : kAngle);
  return out + " }";
}

}  // namespace

std::vector<JointLock> read_locks(TableReader& table) {
  std::vector<JointLock> locks;
  const Node* node = table.find("lock");
  if (node == nullptr) return locks;
  const std::string key = table.name("lock");
  if (node->kind != Node::Kind::kTable)
    fail(node->place, key, "expected a table, found " + describe(*node), "Write lock = { joint = 0.02 }.");
  for (const Node::Member& member : node->members) {
    const Node& value = member.value;
    const bool number = value.kind == Node::Kind::kInteger || value.kind == Node::Kind::kFloat;
    locks.push_back({member.key, number ? shortest(value.number) : read_string(value, key + "." + member.key)});
  }
  return locks;
}

void write_locks(const chain::Robot& robot, const std::string& file, Writer& w) {
  if (!robot.locked.empty() && fs::path(file).extension() == ".urdf") w.line("lock", lock_text(robot));
}

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
  const std::vector<JointLock> locks = read_locks(table);
  table.finish();
  if (model != nullptr && (r.model.empty() || is_robot_path(r.model)))
    fail(named.place, table.name(key), io::quoted(r.model) + " is no name", "Write file = \"...\" for a file.");
  try {
    r.model_file = find_robot(r.model, file != nullptr, scenario);
  } catch (const Error& error) {
    fail(named.place, table.name(key), error.what(), "");
  }
  r.robot = read_robot(r.model_file, {.base = r.base, .tip = r.tip, .overrides = {}, .locks = locks});
  return r;
}

}  // namespace garra::io
