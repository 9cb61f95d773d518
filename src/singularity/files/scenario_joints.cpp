// Which configurations: [joints], [task], [[slice]].
#include <cmath>

#include "base/files/suggest.hpp"
#include "base/scenario/field_values.hpp"
#include "base/scenario/parts.hpp"
#include "garra/math/rotation.hpp"
#include "singularity/files/scenario_parts.hpp"

namespace garra::io {

namespace {

using chain::Robot;
using singularity::JointSource;
using singularity::Slice;
using singularity::TaskGrid;
using Kind = JointSource::Kind;

constexpr std::int64_t kMaxPoints = 1'000'000;  ///< of one grid
constexpr std::int64_t kMaxStarts = 1000;
constexpr std::int64_t kMaxSlicePoints = 1001;
constexpr std::size_t kMaxSlices = 16;

/// "joint 3 (elbow)"
std::string called(const Robot& robot, int joint) {
  const std::string& name = robot.joint[static_cast<std::size_t>(joint)].name;
  const std::string number = "joint " + std::to_string(joint);
  return name.empty() || name == number ? number : number + " (" + name + ")";
}

/// The joint with this number or name.
int find_joint(const std::string& text, const Place& place, const std::string& key, const Robot& robot) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  for (int j = 0; j < robot.joints; ++j) {
    // A joint may be named "3": its number or name, whichever comes first along the arm.
    const bool numbered = is_number && text == std::to_string(j);
    if (numbered || text == robot.joint[static_cast<std::size_t>(j)].name) return j;
  }
  std::vector<std::string> names;
  for (const chain::Joint& joint : robot.joint)
    if (!joint.name.empty()) names.push_back(joint.name);
  const std::string numbers = "Joints are numbered from 0 to " + std::to_string(robot.joints - 1);
  fail(place, key, "the robot has no joint " + quoted(text),
       is_number || names.empty() ? numbers + "." : suggest(text, names, numbers + " or named"));
}

void check_range(Fields& f, const std::string& key, double low, double high) {
  f.check(low <= high, key, "the range is reversed", "Write the smaller number first.");
  f.check(low != high, key, "the range is empty", "Write two different numbers, or { fixed = ... }.");
}

/// One joint's value of [joints].
void source_fields(Fields& f, const Dimension& dimension, JointSource& source) {
  const auto has = [&](const char* name, Kind kind) { return f.has(name, source.kind == kind); };
  const bool fixed = has("fixed", Kind::kFixed), uniform = has("uniform", Kind::kUniform),
             grid = has("grid", Kind::kGrid);
  f.check(fixed + uniform + grid == 1, "", "must be one of fixed, uniform and grid",
          "Write { fixed = \"0 deg\" }, { uniform = [\"-90 deg\", \"90 deg\"] } or { grid = [\"-90 deg\", \"90 deg\"], "
          "points = 41 }.");
  if (f.reading()) source.kind = grid ? Kind::kGrid : uniform ? Kind::kUniform : Kind::kFixed;
  // One end after the other, so that an error names the number that is wrong.
  const auto end = [&](std::size_t k) { return quantity(k == 0 ? source.low : source.high, {dimension}); };
  if (fixed) f.key("fixed", quantity(source.low, {dimension}));
  for (const char* name : {"uniform", "grid"}) {
    if (!(name[0] == 'u' ? uniform : grid)) continue;
    f.key(name, list_value({2, end, "[a, b]"}));
    check_range(f, name, source.low, source.high);
  }
  f.when({grid, "`grid`"}, [&] {
    f.key("points", count(source.points, {.low = 2, .high = kMaxPoints, .remedy = "One value is { fixed = ... }."}),
          {.required = "Write how many values, both ends included: points = 41."});
  });
  // Fixed is a range of no width: samplers have one formula for all sources.
  if (f.reading() && fixed) source.high = source.low;
}

/// A plain number holds the joint there.
AnyValue joint_source(JointSource& source, const Dimension& dimension) {
  const auto held = [&source, dimension](const Node& node, const std::string& key) {
    const double value = read_quantity(node, key, dimension);
    source = {Kind::kFixed, value, value, 1};
  };
  return either(Node::Kind::kTable,
                inlined([&source, dimension](Fields& f) { source_fields(f, dimension, source); },
                        "`{ uniform = [a, b] }`, `{ fixed = a }`, `{ grid = [a, b], points = n }`"),
                custom({held, [] { return std::string(); }, "a number", R"({"type": ["number", "string"]})"}));
}

/// Where a joint that the scenario does not name goes: over its limits, or once around.
JointSource default_source(const Robot& robot, int j, const Place& place) {
  const chain::Joint& joint = robot.joint[static_cast<std::size_t>(j)];
  if (std::isfinite(joint.lower) && std::isfinite(joint.upper)) {
    if (joint.lower == joint.upper) return {Kind::kFixed, joint.lower, joint.upper, 1};
    return {Kind::kUniform, joint.lower, joint.upper, 1};
  }
  // No "once around" for a slide: a guess would decide the map's shares.
  if (joint.prismatic)
    fail(place, "joints", called(robot, j) + " slides without limits",
         "Say how far: [joints] \"" + std::to_string(j) +
             "\" = { uniform = [\"0 m\", \"0.5 m\"] }, or limits of the robot.");
  return {Kind::kUniform, -M_PI, M_PI, 1};
}

/// One axis of a slice.
struct Axis {
  int& joint;
  double &low, &high;
};

AnyValue joint_number(int& joint, const Robot& robot) {
  return custom({[&](const Node& node, const std::string& key) { joint = read_joint(node, key, robot); },
                 [&joint] { return std::to_string(joint); }, "a joint", R"({"type": ["integer", "string"]})"});
}

void axis_fields(Fields& f, const Robot& robot, const Axis& axis) {
  f.key("joint", joint_number(axis.joint, robot), {.required = "Write which one, by number or name: joint = 3."});
  const auto j = static_cast<std::size_t>(axis.joint);
  // Until the joint is known (a description, a wrong name) its values are read as angles.
  const Wanted wanted{j < robot.joint.size() ? kJointPosition.of(robot.joint[j]) : kAngle};
  const std::string remedy = "Write from = \"-180 deg\", to = \"180 deg\".";
  f.key("from", quantity(axis.low, wanted), {.required = remedy});
  f.key("to", quantity(axis.high, wanted), {.required = remedy});
  check_range(f, "", axis.low, axis.high);
}

AnyValue axis(const Axis& axis, const Robot& robot) {
  return inlined([axis, &robot](Fields& f) { axis_fields(f, robot, axis); });
}

AnyValue configuration(std::vector<double>& q, const Robot& robot) {
  const auto one = [&](std::size_t j) { return quantity(q[j], {kJointPosition.of(robot.joint[j])}); };
  return list_value({robot.joint.size(), one, "one number for each joint"});
}

void one_slice(Fields& f, const Robot& robot, Slice& slice) {
  const std::string remedy = "Write x and y, each as { joint = 3, from = \"-180 deg\", to = \"180 deg\" }.";
  // Joints that a slice does not name stand at 0.
  if (f.reading()) slice.q.assign(static_cast<std::size_t>(robot.joints), 0);
  f.key("x", axis({slice.x, slice.x_low, slice.x_high}, robot), {.doc = "what runs across", .required = remedy});
  f.key("y", axis({slice.y, slice.y_low, slice.y_high}, robot), {.doc = "what runs up", .required = remedy});
  f.check(slice.x != slice.y, "y", "the same joint as x", "Let another joint run along y.");
  f.key("q", configuration(slice.q, robot),
        {.doc = "values of the other joints", .comment = "of the other joints", .otherwise = "`0`"});
  f.key("points", count(slice.points, {.low = 3, .high = kMaxSlicePoints, .remedy = "Write points = 201."}),
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

}  // namespace

int read_joint(const Node& node, const std::string& key, const Robot& robot) {
  if (node.kind == Node::Kind::kInteger) return find_joint(std::to_string(node.integer), node.place, key, robot);
  return find_joint(read_string(node, key), node.place, key, robot);
}

// The keys are the robot's joints, which only it knows.
void joint_source_fields(Fields& f, const Robot& robot, const Place& place, std::vector<JointSource>& sources) {
  if (f.reading() && !f.good()) return static_cast<void>(f.has("joints", true));  // the robot may be what is wrong
  std::vector<bool> given(static_cast<std::size_t>(robot.joints), false);
  if (f.reading()) sources.resize(given.size());
  const auto visit = [&](const std::string& key) {
    Words words{
        .doc =
            "of each joint, by its number from 0 or its name: drawn; held; or n values, both ends included, of which "
            "every node is visited, the last joint fastest, with one draw of the joints that are drawn",
        .otherwise =
            "drawn over the limits, without limits over ±180 deg; a sliding joint without limits must be given"};
    JointSource any;
    // Without a robot there are no names: one entry stands for all in the description.
    if (key.empty()) return f.key(key, joint_source(any, kAngle), words);
    const Place at = f.find_place(key);
    const int number = find_joint(key, at, "joints." + key, robot);
    const auto j = static_cast<std::size_t>(number);
    if (given[j]) fail(at, "joints." + key, called(robot, number) + " is given twice", "Keep one of the two.");
    given[j] = true;
    words.comment = robot.joint[j].name;
    f.key(key, joint_source(sources[j], kJointPosition.of(robot.joint[j])), words);
  };
  std::vector<std::string> numbers;
  for (std::size_t j = 0; j < sources.size(); ++j) numbers.push_back(std::to_string(j));
  f.entries("joints", {numbers, visit});
  f.then([&] {
    for (std::size_t j = 0; j < sources.size(); ++j)
      if (!given[j]) sources[j] = default_source(robot, static_cast<int>(j), place);
  });
}

void task_fields(Fields& f, TaskGrid& task) {
  const std::string remedy = "Write low = [x, y, z], high = [x, y, z] and points = [nx, ny, nz].";
  f.key("low", vector(task.low, {kLength}), {.doc = "corner of the grid, world axes", .required = remedy});
  f.key("high", vector(task.high, {kLength}), {.doc = "the opposite corner", .required = remedy});
  f.key("points", counts(task.points, {.high = kMaxPoints}),
        {.doc = "along x, y and z; where it is 1, low = high", .required = remedy});
  for (int k = 0; k < 3; ++k) {
    const double a = task.low[k], b = task.high[k];
    const std::string number = "[" + std::to_string(k) + "]";
    f.check(a <= b, "high" + number, "below task.low", "Write the smaller number in low.");
    // One point needs one coordinate, several need room: else nodes would coincide.
    f.check(a > b || (task.points[static_cast<std::size_t>(k)] == 1) == (a == b), "points" + number,
            a == b ? "more than one point at one place" : "one point for two different ends",
            "One point needs low = high there, more need low < high.");
  }
  f.key("orientation", orientation(task.orientation),
        {.doc = "of the tool, about the world's x, y, z",
         .comment = "rad",
         .otherwise = "random for each target; arms of rank below 6: positions only"});
  f.key("starts", count(task.starts, {.high = kMaxStarts}),
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
  f.check(slices.size() <= kMaxSlices, "slice", "more than " + std::to_string(kMaxSlices) + " slices", "Give fewer.");
}

}  // namespace garra::io
