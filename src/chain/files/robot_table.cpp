// How a scenario names its robot: by a name of data/robots, or a file.
#include "chain/files/robot_table.hpp"

#include <algorithm>
#include <filesystem>

#include "base/files/number.hpp"
#include "base/files/suggest.hpp"
#include "base/files/text_file.hpp"
#include "chain/files/pose_reader.hpp"
#include "garra/io/robot.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;

/// The copy in models/ beside the scenario, else what the scenario names.
std::string find_robot(const std::string& model, bool is_file, const std::string& scenario) {
  // The scenario's own copy first: a run folder must not change with the library's robots.
  if (is_file) return file_beside(scenario, model);
  const std::string copy = robot_in((fs::path(scenario).parent_path() / "models").string(), model);
  return copy.empty() ? robot_file(model) : copy;
}

/// Where a locked joint stands, as text: the unit is the joint's, which only the URDF knows.
AnyValue lock(std::vector<JointLock>& locks, const chain::Robot& robot, const std::string& joint) {
  const auto read = [&locks, joint](const Node& node, const std::string& key) {
    const bool number = node.kind == Node::Kind::kInteger || node.kind == Node::Kind::kFloat;
    locks.push_back({joint, number ? shortest(node.number) : read_string(node, key)});
  };
  const auto write = [&robot, joint] {
    const auto is = [&](const chain::LockedJoint& one) { return one.name == joint; };
    const auto one = std::find_if(robot.locked.begin(), robot.locked.end(), is);
    return text(one->q, kJointPosition.of(one->prismatic));
  };
  return custom({read, write, "a number, or one with its unit", R"({"type": ["number", "string"]})"});
}

/// What a scenario adds to its robot.
struct Added {
  std::vector<JointLock> locks;
  Vec3<double> gravity = Vec3<double>::zero();
  chain::Body payload;
  bool has_gravity = false, has_payload = false;
};

/// Written where they are not what a URDF has by itself.
void surroundings_fields(Fields& f, const chain::Robot& robot, Added& added) {
  const Vec3<double> usual = chain::Robot().gravity;
  added.has_gravity = f.has("gravity", norm(robot.gravity - usual) > 0);
  if (f.writing()) added.gravity = robot.gravity, added.payload = robot.payload;
  if (added.has_gravity)
    f.key("gravity", vector(added.gravity, {kAcceleration}),
          {.doc = "in world axes", .otherwise = "the robot file's; of a URDF (0, 0, -9.81) m/s^2"});
  added.has_payload = f.has("payload", robot.payload.mass > 0);
  if (added.has_payload)
    f.key("payload", inlined([&added](Fields& g) { payload_fields(g, added.payload); }, "`{ mass, com, inertia }`"),
          {.doc = "of a URDF: what the link `tip` carries, in its frame", .otherwise = "nothing"});
}

void read_named(Fields& f, const std::string& scenario, bool is_file, const Added& added, const NamedRobot& named) {
  const char* key = is_file ? "file" : "model";
  if (!is_file && (named.model.empty() || is_robot_path(named.model)))
    return f.check(false, key, io::quoted(named.model) + " is no name", "Write file = \"...\" for a file.");
  try {
    named.model_file = find_robot(named.model, is_file, scenario);
  } catch (const Error& error) {
    return f.check(false, key, error.what(), "");
  }
  if (added.has_payload && fs::path(named.model_file).extension() != ".urdf")
    return f.check(false, "payload", "it is for URDF files",
                   "In TOML give mass, com and inertia of the last [[joint]] with what it carries.");
  RobotOptions options = {.base = named.base,
                          .tip = named.tip,
                          .overrides = {},
                          .locks = added.locks,
                          .needs_mass = named.needs_mass,
                          .takes_coupled = named.takes_coupled};
  if (added.has_gravity) options.gravity = added.gravity;
  if (added.has_payload) options.payload = added.payload;
  named.robot = read_robot(named.model_file, options);
}

}  // namespace

AnyValue locks(std::vector<JointLock>& locks, const chain::Robot& robot, const std::string& file) {
  std::vector<std::string> joints;
  // A robot in TOML has its locked joints built in.
  if (fs::path(file).extension() == ".urdf")
    for (const chain::LockedJoint& joint : robot.locked) joints.push_back(joint.name);
  return map_value(
      {joints, [&](const std::string& joint) { return lock(locks, robot, joint); }, "`{ joint = value, ... }`"});
}

std::vector<JointLock> read_locks(const Node& node, const std::string& key) {
  std::vector<JointLock> all;
  const chain::Robot none;
  locks(all, none, "").read(node, key);
  return all;
}

void payload_fields(Fields& f, chain::Body& payload) {
  f.key("mass", quantity(payload.mass, {kMass, Bounds::not_negative()}), {.doc = "of the payload"});
  f.key("com", vector(payload.com, {kLength}), {.doc = "center of mass in the tip link's frame"});
  f.key("inertia", inertia(payload.inertia), {.doc = "about the center of mass, the tip link's axes"});
}

void robot_fields(Fields& f, const std::string& scenario, const std::string& example, const NamedRobot& named) {
  const std::string remedy = "Write [robot] with model = \"" + example + "\".";
  f.table("robot", {.doc = "which robot", .required = remedy}, [&] {
    const std::string from = named.robot.name + ", from " + named.model_file;
    const bool now_file = is_robot_path(named.model);
    const bool by_name = f.has("model", !now_file), is_file = f.has("file", now_file);
    if (by_name)
      f.key("model", string(named.model),
            {.doc = "a name in `data/robots`; a copy in `models/` beside the scenario comes first",
             .comment = from,
             .otherwise = "this or `file`"});
    if (is_file)
      f.key("file", string(named.model),
            {.doc = "a file, relative to the scenario", .comment = from, .otherwise = "this or `model`"});
    f.check(by_name != is_file, "", by_name ? "both model and file" : "no robot is named",
            "Write model = \"exoskeleton\", a name in data/robots, or file = \"arm.urdf\".");
    f.key("base", string(named.base, true), {.doc = "of a URDF: the link that the chain starts from"});
    f.key("tip", string(named.tip, true), {.doc = "of a URDF: the link that it ends in"});
    Added added;
    f.key("lock", locks(added.locks, named.robot, named.model_file), {.doc = "of a URDF: where side branches stand"});
    surroundings_fields(f, named.robot, added);
    // After all keys are read: base, tip and locks belong to the reading.
    f.then([&] { read_named(f, scenario, is_file, added, named); });
  });
}

}  // namespace garra::io
