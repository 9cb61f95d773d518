// Which configurations: [joints], [task], [[slice]].
#include <algorithm>
#include <array>
#include <cmath>

#include "garra/math/rotation.hpp"
#include "io/field_values.hpp"
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

/// x or y of a slice, written.
std::string axis_text(const Robot& robot, int joint, double low, double high) {
  const Dimension& d = kJointPosition.of(robot.joint[static_cast<std::size_t>(joint)]);
  return "{ joint = " + std::to_string(joint + 1) + ", from = " + text(low, d) + ", to = " + text(high, d) + " }";
}

/// Members of a slice that one of its axes stands for.
struct AxisMembers {
  int& joint;
  double &low, &high;
};

AnyValue axis(const AxisMembers& members, const Robot& robot) {
  const auto read = [members, &robot](const Node& node, const std::string& key) {
    const Axis axis = read_axis(node, key, robot);
    members.joint = axis.joint;
    members.low = axis.range[0];
    members.high = axis.range[1];
  };
  const auto write = [members, &robot] {
    return robot.joint.empty() ? std::string() : axis_text(robot, members.joint, members.low, members.high);
  };
  return custom({read, write, "`{ joint, from, to }`",
                 R"({"type": "object", "properties": {"joint": {"type": ["integer", "string"]},
                     "from": {"type": ["number", "string"]}, "to": {"type": ["number", "string"]}},
                     "required": ["joint", "from", "to"], "additionalProperties": false})"});
}

AnyValue configuration(std::vector<double>& q, const Robot& robot) {
  const auto read = [&](const Node& node, const std::string& key) {
    const std::vector<Node>& items = read_array(node, key, static_cast<std::size_t>(robot.joints));
    for (std::size_t j = 0; j < q.size(); ++j)
      q[j] = read_quantity(items[j], item(key, j), kJointPosition.of(robot.joint[j]));
  };
  const auto write = [&] {
    std::string out;
    for (std::size_t j = 0; j < q.size(); ++j)
      out += (j == 0 ? "" : ", ") + text(q[j], kJointPosition.of(robot.joint[j]));
    return "[" + out + "]";
  };
  return custom({read, write, "one number for each joint", R"({"type": "array"})"});
}

void one_slice(Fields& f, const Robot& robot, Slice& slice) {
  const std::string remedy = "Write x and y, each as { joint = 3, from = \"-180 deg\", to = \"180 deg\" }.";
  if (f.reading()) slice.q.assign(static_cast<std::size_t>(robot.joints), 0);
  f.key("x", axis({slice.x, slice.x_low, slice.x_high}, robot), {.doc = "what runs across", .required = remedy});
  f.key("y", axis({slice.y, slice.y_low, slice.y_high}, robot), {.doc = "what runs up", .required = remedy});
  f.check(slice.x != slice.y, "y", "the same joint as x", "Let another joint run along y.");
  f.key("q", configuration(slice.q, robot),
        {.doc = "values of the other joints", .comment = "of the other joints", .otherwise = "`0`"});
  f.key("points", count(slice.points, {.low = 3, .high = kMostSlicePoints, .remedy = "Write points = 201."}),
        {.comment = "along each side"});
}

/// Roll, pitch, yaw about the world's axes.
AnyValue orientation(std::optional<Mat3<double>>& R) {
  const auto read = [&R](const Node& node, const std::string& key) {
    R = rotation_from_rpy(read_vector(node, key, kAngle));
  };
  const auto write = [&R] { return R ? text(rpy_from_rotation(*R), kAngle) : std::string(); };
  return custom({read, write, "[roll, pitch, yaw]", R"({"type": "array", "minItems": 3, "maxItems": 3})"});
}

std::string source_text(const JointSource& source, const Dimension& d) {
  const std::string ends = "[" + text(source.low, d) + ", " + text(source.high, d) + "]";
  switch (source.kind) {
    case Kind::kFixed:
      return "{ fixed = " + text(source.low, d) + " }";
    case Kind::kUniform:
      return "{ uniform = " + ends + " }";
    case Kind::kGrid:
      return "{ grid = " + ends + ", points = " + std::to_string(source.points) + " }";
  }
  return "";
}

/// Every joint of a document's [joints]; those that it does not name over their limits.
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

}  // namespace

int read_joint(const Node& node, const std::string& key, const Robot& robot) {
  if (node.kind == Node::Kind::kInteger) return find_joint(std::to_string(node.integer), node.place, key, robot);
  return find_joint(read_string(node, key), node.place, key, robot);
}

// The keys are the robot's joints, which only it knows.
void joint_source_fields(Fields& f, const Robot& robot, const Place& place, std::vector<JointSource>& sources) {
  if (f.reading()) {
    const bool known = f.good();  // the robot
    if (!f.has("joints", true))
      return f.then([&] {
        if (known) sources = read_joint_sources({}, robot, place);
      });
    const auto read = [&](const Node& node, const std::string&) {
      if (known) sources = read_joint_sources(node, robot, place);
    };
    return f.key("joints", custom({read, {}, ""}));
  }
  if (sources.empty()) {
    const char* takes = "`{ uniform = [a, b] }`, `{ fixed = a }` or just `a`, `{ grid = [a, b], points = n }`";
    return f.key(
        "joints",
        custom({{}, [] { return std::string(); }, takes, R"({"type": "object", "additionalProperties": {"anyOf": [
                     {"type": ["number", "string"]}, {"type": "object", "properties": {"uniform": {"type": "array"},
                      "fixed": {"type": ["number", "string"]}, "grid": {"type": "array"}, "points": {"type": "integer"}},
                      "additionalProperties": false}]}})"}),
        {.doc = "of each joint, by its number from 1 or its name: drawn; held; or n values, both ends included, "
                "of which every node is visited, the last joint fastest, with one draw of the joints that are "
                "drawn",
         .otherwise = "drawn over the limits, without limits over ±180 deg; a sliding joint without limits must "
                      "be given"});
  }
  f.table("joints", {}, [&] {
    for (std::size_t j = 0; j < sources.size(); ++j) {
      const auto write = [&] { return source_text(sources[j], kJointPosition.of(robot.joint[j])); };
      f.key("\"" + std::to_string(j + 1) + "\"", custom({{}, write, ""}), {.comment = robot.joint[j].name});
    }
  });
}

void task_fields(Fields& f, TaskGrid& task) {
  const std::string remedy = "Write low = [x, y, z], high = [x, y, z] and points = [nx, ny, nz].";
  f.key("low", vector(task.low, kLength), {.doc = "corner of the grid, world axes", .required = remedy});
  f.key("high", vector(task.high, kLength), {.doc = "the opposite corner", .required = remedy});
  f.key("points", counts(task.points, {.high = kMostPoints}),
        {.doc = "along x, y and z; where it is 1, low = high", .required = remedy});
  for (int k = 0; k < 3; ++k) {
    const double a = task.low[k], b = task.high[k];
    const std::string number = "[" + std::to_string(k + 1) + "]";
    f.check(a <= b, "high" + number, "below task.low", "Write the smaller number in low.");
    f.check(a > b || (task.points[static_cast<std::size_t>(k)] == 1) == (a == b), "points" + number,
            a == b ? "more than one point at one place" : "one point for two different ends",
            "One point needs low = high there, more need low < high.");
  }
  f.key("orientation", orientation(task.orientation),
        {.doc = "of the tool, about the world's x, y, z", .comment = "rad", .otherwise = "random for each target"});
  f.key("starts", count(task.starts, {.high = kMostStarts}),
        {.doc = "searches for joint values at each target, from values drawn within `[joints]`",
         .comment = "of the search for joint values, at each node"});
}

void slice_fields(Fields& f, const Robot& robot, std::vector<Slice>& slices) {
  const std::string doc =
      "at most 16 pictures; without any, one is chosen after the run: the two joints that lead out most often, through "
      "the most frequent singularity";
  if (!f.good()) return static_cast<void>(f.has("slice", false));  // the robot may not be known
  f.tables("slice", {.doc = doc},
           {slices.size(), [&](std::size_t n) { slices.resize(n); },
            [&](std::size_t k) { one_slice(f, robot, slices[k]); }});
  f.check(slices.size() <= kMostSlices, "slice", "more than " + std::to_string(kMostSlices) + " slices", "Give fewer.");
}

}  // namespace garra::io
