#include "garra/io/singularity_scenario.hpp"

#include <algorithm>

#include "io/distribution_reader.hpp"
#include "io/scenario_parts.hpp"
#include "io/singularity_scenario_parts.hpp"
#include "io/text_file.hpp"

namespace garra::io {

namespace {

using singularity::JointSource;
using singularity::MapScaling;
using singularity::MapScenario;
using singularity::MeasureOptions;

constexpr std::int64_t kDefaultSamples = 1'000'000;
constexpr std::int64_t kDefaultChunk = 1024 * study::kBlock;
constexpr std::int64_t kMostVoxels = 64;  ///< along a side: chunk files hold 18 counts of each

void declare_tables(TableReader& root) {
  for (const char* key :
       {"schema", "job", "title", "seed", "robot", "joints", "task", "measure", "slice", "sampling", "output"})
    static_cast<void>(root.find(key));
  root.finish();
}

/// "natural", "tool" or "joint 5".
void read_center(const Node& node, const std::string& key, const chain::Robot& robot, MapScaling& scaling) {
  const std::string text = read_string(node, key), joint = "joint ";
  if (text.starts_with(joint)) {
    Node named = node;
    named.text = text.substr(joint.size());
    scaling.center = MapScaling::Center::kJoint;
    scaling.joint = read_joint(named, key, robot);
  } else {
    scaling.center = read_choice(node, key, {"natural", "tool", "joint 5"}) == "tool" ? MapScaling::Center::kTool
                                                                                      : MapScaling::Center::kNatural;
  }
}

/// A number between 0 and `below`, neither of them allowed.
double read_fraction(const Node& node, const std::string& key, double below, const std::string& remedy) {
  const double x = read_quantity(node, key, kRatio);
  if (!(x > 0 && x < below)) fail(node.place, key, describe(node) + " is out of range", remedy);
  return x;
}

void read_measure(const Node& node, MapScenario& s) {
  TableReader table(node, "measure");
  MeasureOptions& m = s.measure;
  if (const Node* near = table.find("near"))
    m.near =
        read_fraction(*near, table.name("near"), 1,
                      "Write near = 0.02, between 0 and 1: near a singularity is where the smallest singular value "
                      "is at most so large a share of the largest.");
  if (const Node* tolerance = table.find("tolerance"))
    m.tolerance = read_fraction(*tolerance, table.name("tolerance"), m.near,
                                "Write tolerance = 1e-10, above 0 and below measure.near: singular is where the "
                                "smallest singular value is at most so large a share of the largest.");
  if (const Node* center = table.find("center")) read_center(*center, table.name("center"), s.robot, m.scaling);
  if (const Node* length = table.find("length"))
    m.scaling.length = read_bounded(*length, table.name("length"), {kLength, Bounds::positive()});
  if (const Node* precision = table.find("precision"))
    m.precision = read_choice(*precision, table.name("precision"), {"fp64", "fp32"}) == "fp32"
                      ? singularity::Precision::kSingle
                      : singularity::Precision::kDouble;
  if (const Node* nearest = table.find("nearest")) s.nearest = read_boolean(*nearest, table.name("nearest"));
  table.finish();
}

/// The number of nodes that are the samples.
std::int64_t count_nodes(const MapScenario& s, TableReader& root) {
  const char* const table = s.task ? "task" : "joints";
  std::vector<std::int64_t> sides;
  if (s.task) {
    sides.assign(s.task->points.begin(), s.task->points.end());
    sides.push_back(s.task->starts);
  } else {
    for (const JointSource& joint : s.joint)
      if (joint.kind == JointSource::Kind::kGrid) sides.push_back(joint.points);
  }
  std::int64_t nodes = 1;
  for (const std::int64_t side : sides) {
    if (side > kMostSamples / nodes) fail(root.find_table(table).place, table, "too many nodes", "Give fewer points.");
    nodes *= side;
  }
  return nodes;
}

/// What makes no sense where the nodes of a grid are the samples.
void refuse_with_nodes(TableReader& sampling, const std::string& of, std::int64_t nodes) {
  const std::string them = of + " has " + std::to_string(nodes) + " nodes, and they are the samples";
  if (const Node* samples = sampling.find("samples"))
    fail(samples->place, sampling.name("samples"), them, "Leave it out, or change the points.");
  if (const Node* stop = sampling.find("stop"))
    fail(stop->place, sampling.name("stop"), them, "Leave it out: some of the nodes would not stand for the others.");
}

void read_plan(TableReader& root, MapScenario& s) {
  TableReader table(root.find_table("sampling"), "sampling");
  study::Plan& plan = s.plan;
  plan.samples = kDefaultSamples;
  plan.chunk = kDefaultChunk;
  const std::int64_t nodes = visits_nodes(s) ? count_nodes(s, root) : 0;
  if (nodes > 0) refuse_with_nodes(table, s.task ? "the grid of [task]" : "the grid of [joints]", nodes);
  read_sampling(table, plan);
  if (nodes > 0) plan.samples = nodes;
  if (const Node* sequence = table.find("sequence")) {
    const bool even = read_choice(*sequence, table.name("sequence"), {"random", "even"}) == "even";
    if (even && (s.task || !draws_joints(s)))
      fail(sequence->place, table.name("sequence"), s.task ? "starts of [task] are always random" : "no joint is drawn",
           "Leave it out.");
    s.sequence = even ? singularity::Sequence::kLowDiscrepancy : singularity::Sequence::kRandom;
  }
  if (const Node* share = table.find("max_unsolved"))
    plan.max_unsolved = read_bounded(*share, table.name("max_unsolved"), {kRatio, {.low = 0, .high = 1}});
  table.finish();
}

void read_kept(const Node& node, MapScenario& s) {
  TableReader table(node, "output");
  s.plan.keep = "near";
  if (const Node* keep = table.find("keep")) s.plan.keep = read_choice(*keep, table.name("keep"), {"near", "none"});
  if (const Node* first = table.find("keep_from_first"))
    s.keep_from_first = read_count(*first, table.name("keep_from_first"), kMostSamples);
  if (const Node* voxels = table.find("voxels")) {
    const std::int64_t n = read_integer(*voxels, table.name("voxels"));
    if (n < 0 || n > kMostVoxels)
      fail(voxels->place, table.name("voxels"), "must be from 0 to " + std::to_string(kMostVoxels),
           "Write voxels = 32, the number of cubes along the longest side of the workspace; 0 for none.");
    s.voxels = static_cast<int>(n);
  }
  table.finish();
}

/// Asks the kernels whether they take this arm, before anything is computed.
void check_kernels(const MapScenario& s, const Place& place) {
  try {
    static_cast<void>(singularity::measure(s.robot, {}, s.measure, {}));
  } catch (const Error& error) {
    fail(place, "robot", error.what(), "");
  }
}

MapScenario build(const Node& document, const std::string& name) {
  TableReader root(document, "");
  require_job(root, "singularity", "map of singularities");
  declare_tables(root);
  MapScenario s;
  read_title_and_seed(root, s.title, s.plan);
  const Node& robot = root.require("robot", "Write [robot] with model = \"puma560\".");
  put_robot(read_robot_table(robot, name), s);
  const Node* joints = root.find("joints");
  s.joint = read_joint_sources(root.find_table("joints"), s.robot, joints != nullptr ? joints->place : robot.place);
  if (const Node* task = root.find("task")) {
    s.task = read_task(*task);
    for (const JointSource& joint : s.joint)
      if (joint.kind == JointSource::Kind::kGrid)
        fail(task->place, "task", "a grid of tool positions and one of joint values",
             "Give joints ranges with uniform: starts of the search are drawn from them.");
  }
  read_measure(root.find_table("measure"), s);
  s.slices = read_slices(root.find("slice"), s.robot);
  read_plan(root, s);
  read_kept(root.find_table("output"), s);
  check_kernels(s, robot.place);
  return s;
}

}  // namespace

bool draws_joints(const MapScenario& s) {
  return std::any_of(s.joint.begin(), s.joint.end(),
                     [](const JointSource& joint) { return joint.kind == JointSource::Kind::kUniform; });
}

bool visits_nodes(const MapScenario& s) {
  const bool grid = std::any_of(s.joint.begin(), s.joint.end(),
                                [](const JointSource& joint) { return joint.kind == JointSource::Kind::kGrid; });
  return s.task || grid || !draws_joints(s);
}

MapScenario parse_singularity_scenario(const std::string& text, const std::string& name,
                                       const std::vector<std::string>& overrides) {
  return build(parse_toml(text, name, overrides), name);
}

MapScenario read_singularity_scenario(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_singularity_scenario(read_text(path), path, overrides);
}

}  // namespace garra::io
