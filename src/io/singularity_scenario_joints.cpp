// Which configurations: [joints], [task], [[slice]].
#include <algorithm>
#include <array>
#include <cmath>

#include "garra/math/rotation.hpp"
#include "io/distribution_reader.hpp"
#include "io/scenario_parts.hpp"
#include "io/singularity_scenario_parts.hpp"
#include "io/suggest.hpp"

namespace garra::io {

namespace {

using chain::Robot;
using singularity::JointSource;
using singularity::Slice;
using singularity::TaskGrid;
using Kind = JointSource::Kind;

constexpr std::int64_t kMostPoints = 1'000'000;  ///< of one grid
constexpr std::int64_t kMostStarts = 1000;
constexpr std::int64_t kMostSlicePoints = 1001;
constexpr std::size_t kMostSlices = 16;

/// "joint 3 (elbow)"
std::string called(const Robot& robot, int joint) {
  const std::string& name = robot.joint[static_cast<std::size_t>(joint)].name;
  const std::string number = "joint " + std::to_string(joint + 1);
  return name.empty() || name == number ? number : number + " (" + name + ")";
}

/// The joint with this number or name.
int find_joint(const std::string& text, const Place& place, const std::string& key, const Robot& robot) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  for (int j = 0; j < robot.joints; ++j) {
    const bool numbered = is_number && text == std::to_string(j + 1);
    if (numbered || text == robot.joint[static_cast<std::size_t>(j)].name) return j;
  }
  std::vector<std::string> names;
  for (const chain::Joint& joint : robot.joint)
    if (!joint.name.empty()) names.push_back(joint.name);
  const std::string numbers = "Joints are numbered from 1 to " + std::to_string(robot.joints);
  fail(place, key, "the robot has no joint " + quoted(text),
       is_number || names.empty() ? numbers + "." : suggest(text, names, numbers + " or named"));
}

/// Two ends of a range, the lower one first.
std::array<double, 2> check_range(const Node& node, const std::string& key, double low, double high) {
  if (low > high) fail(node.place, key, "the range is reversed", "Write the smaller number first.");
  if (low == high) fail(node.place, key, "the range is empty", "Write two different numbers, or { fixed = ... }.");
  return {low, high};
}

std::array<double, 2> read_range(const Node& node, const std::string& key, const Dimension& dimension) {
  const std::vector<Node>& ends = read_array(node, key, 2);
  return check_range(node, key, read_quantity(ends[0], item(key, 0), dimension),
                     read_quantity(ends[1], item(key, 1), dimension));
}

/// One joint's value of [joints].
JointSource read_source(const Node& node, const std::string& key, const Dimension& dimension) {
  if (node.kind != Node::Kind::kTable) {
    const double value = read_quantity(node, key, dimension);
    return {Kind::kFixed, value, value, 1};
  }
  TableReader table(node, key);
  const Node *fixed = table.find("fixed"), *uniform = table.find("uniform"), *grid = table.find("grid");
  if ((fixed != nullptr) + (uniform != nullptr) + (grid != nullptr) != 1)
    fail(node.place, key, "must be one of fixed, uniform and grid",
         "Write { fixed = \"0 deg\" }, { uniform = [\"-90 deg\", \"90 deg\"] } or { grid = [\"-90 deg\", \"90 deg\"], "
         "points = 41 }.");
  JointSource source;
  if (fixed != nullptr) {
    source.kind = Kind::kFixed;
    source.low = source.high = read_quantity(*fixed, table.name("fixed"), dimension);
  } else {
    source.kind = grid != nullptr ? Kind::kGrid : Kind::kUniform;
    const char* name = grid != nullptr ? "grid" : "uniform";
    const auto [low, high] = read_range(grid != nullptr ? *grid : *uniform, table.name(name), dimension);
    source.low = low;
    source.high = high;
  }
  if (grid != nullptr) {
    const Node& points = table.require("points", "Write how many values, both ends included: points = 41.");
    source.points = read_count(points, table.name("points"), kMostPoints);
    if (source.points < 2)
      fail(points.place, table.name("points"), "must be at least 2", "One value is { fixed = ... }.");
  }
  table.finish();
  return source;
}

/// Where a joint that the scenario does not name goes: over its limits, or once around.
JointSource default_source(const Robot& robot, int j, const Place& place) {
  const chain::Joint& joint = robot.joint[static_cast<std::size_t>(j)];
  if (std::isfinite(joint.lower) && std::isfinite(joint.upper)) {
    if (joint.lower == joint.upper) return {Kind::kFixed, joint.lower, joint.upper, 1};
    return {Kind::kUniform, joint.lower, joint.upper, 1};
  }
  if (joint.prismatic)
    fail(place, "joints", called(robot, j) + " slides without limits",
         "Say how far: [joints] \"" + std::to_string(j + 1) + "\" = { uniform = [\"0 m\", \"0.5 m\"] }.");
  return {Kind::kUniform, -M_PI, M_PI, 1};
}

/// x or y of a slice.
struct Axis {
  int joint;
  std::array<double, 2> range;
};
Axis read_axis(const Node& node, const std::string& key, const Robot& robot) {
  TableReader table(node, key);
  const Node& joint = table.require("joint", "Write which one, by number or name: joint = 3.");
  const int j = read_joint(joint, table.name("joint"), robot);
  const Dimension& dimension = kJointPosition.of(robot.joint[static_cast<std::size_t>(j)]);
  const char* remedy = "Write from = \"-180 deg\", to = \"180 deg\".";
  const Node &from = table.require("from", remedy), &to = table.require("to", remedy);
  const double low = read_quantity(from, table.name("from"), dimension);
  const double high = read_quantity(to, table.name("to"), dimension);
  table.finish();
  return {j, check_range(node, key, low, high)};
}

std::vector<double> read_configuration(const Node& node, const std::string& key, const Robot& robot) {
  const std::vector<Node>& items = read_array(node, key, static_cast<std::size_t>(robot.joints));
  std::vector<double> q;
  for (std::size_t j = 0; j < items.size(); ++j)
    q.push_back(read_quantity(items[j], item(key, j), kJointPosition.of(robot.joint[j])));
  return q;
}

Slice read_slice(const Node& node, const std::string& key, const Robot& robot) {
  TableReader table(node, key);
  const char* remedy = "Write x and y, each as { joint = 3, from = \"-180 deg\", to = \"180 deg\" }.";
  const Node &x = table.require("x", remedy), &y = table.require("y", remedy);
  const Axis across = read_axis(x, table.name("x"), robot), up = read_axis(y, table.name("y"), robot);
  if (across.joint == up.joint) fail(y.place, table.name("y"), "the same joint as x", "Let another joint run along y.");
  Slice slice{across.joint,    up.joint,        std::vector<double>(static_cast<std::size_t>(robot.joints), 0),
              across.range[0], across.range[1], up.range[0],
              up.range[1]};
  if (const Node* q = table.find("q")) slice.q = read_configuration(*q, table.name("q"), robot);
  if (const Node* points = table.find("points")) {
    slice.points = static_cast<int>(read_count(*points, table.name("points"), kMostSlicePoints));
    if (slice.points < 3) fail(points->place, table.name("points"), "must be at least 3", "Write points = 201.");
  }
  table.finish();
  return slice;
}

}  // namespace

int read_joint(const Node& node, const std::string& key, const Robot& robot) {
  if (node.kind == Node::Kind::kInteger) return find_joint(std::to_string(node.integer), node.place, key, robot);
  return find_joint(read_string(node, key), node.place, key, robot);
}

std::vector<JointSource> read_joint_sources(const Node& node, const Robot& robot, const Place& place) {
  const TableReader table(node, "joints");
  std::vector<JointSource> sources(static_cast<std::size_t>(robot.joints));
  std::vector<bool> given(sources.size(), false);
  for (const Node::Member& m : node.members) {
    const std::string key = table.name(m.key);
    const auto j = static_cast<std::size_t>(find_joint(m.key, m.value.place, key, robot));
    if (given[j])
      fail(m.value.place, key, called(robot, static_cast<int>(j)) + " is given twice", "Keep one of the two.");
    given[j] = true;
    sources[j] = read_source(m.value, key, kJointPosition.of(robot.joint[j]));
  }
  for (std::size_t j = 0; j < sources.size(); ++j)
    if (!given[j]) sources[j] = default_source(robot, static_cast<int>(j), place);
  return sources;
}

TaskGrid read_task(const Node& node) {
  TableReader table(node, "task");
  const char* remedy = "Write low = [x, y, z], high = [x, y, z] and points = [nx, ny, nz].";
  const Node &low = table.require("low", remedy), &high = table.require("high", remedy);
  const Node& points = table.require("points", remedy);
  TaskGrid task;
  task.low = read_vector(low, table.name("low"), kLength);
  task.high = read_vector(high, table.name("high"), kLength);
  const std::vector<Node>& counts = read_array(points, table.name("points"), 3);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string key = item(table.name("points"), k);
    task.points[k] = read_count(counts[k], key, kMostPoints);
    const double a = task.low[static_cast<int>(k)], b = task.high[static_cast<int>(k)];
    if (a > b) fail(high.place, item(table.name("high"), k), "below task.low", "Write the smaller number in low.");
    if ((task.points[k] == 1) != (a == b))
      fail(counts[k].place, key, a == b ? "more than one point at one place" : "one point for two different ends",
           "One point needs low = high there, more need low < high.");
  }
  if (const Node* rpy = table.find("orientation"))
    task.orientation = rotation_from_rpy(read_vector(*rpy, table.name("orientation"), kAngle));
  if (const Node* starts = table.find("starts"))
    task.starts = static_cast<int>(read_count(*starts, table.name("starts"), kMostStarts));
  table.finish();
  return task;
}

std::vector<Slice> read_slices(const Node* node, const Robot& robot) {
  std::vector<Slice> slices;
  if (node == nullptr) return slices;
  const std::vector<Node>& items = read_array(*node, "slice", 0);
  if (items.size() > kMostSlices)
    fail(node->place, "slice", "more than " + std::to_string(kMostSlices) + " slices", "Give fewer.");
  for (std::size_t k = 0; k < items.size(); ++k) slices.push_back(read_slice(items[k], item("slice", k), robot));
  return slices;
}

}  // namespace garra::io
