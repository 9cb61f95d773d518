#include <algorithm>

#include "base/files/number.hpp"
#include "base/files/text_file.hpp"
#include "base/scenario/field_reader.hpp"
#include "base/scenario/field_writer.hpp"
#include "base/scenario/jobs.hpp"
#include "base/scenario/parts.hpp"
#include "garra/io/singularity_scenario.hpp"
#include "garra/math/rotation.hpp"
#include "singularity/files/scenario_parts.hpp"

namespace garra::io {

namespace {

using singularity::JointSource;
using singularity::MapScaling;
using singularity::MapScenario;

constexpr std::int64_t kDefaultSamples = 1'000'000;  ///< samples of a map that has no grid
constexpr std::int64_t kDefaultChunk = 1024 * study::kBlock;
constexpr std::int64_t kMaxVoxels = 64;  ///< along a side: chunk files hold 18 counts of each

/// "natural", "tool" or "joint 5".
AnyValue center(MapScaling& scaling, const chain::Robot& robot) {
  const auto read = [&](const Node& node, const std::string& key) {
    const std::string text = read_string(node, key), joint = "joint ";
    if (text.starts_with(joint)) {
      Node named = node;
      // The name after "joint " is read like any joint's, by number or name: a copy of the node keeps its place for
      // errors.
      named.text = text.substr(joint.size());
      scaling.center = MapScaling::Center::kJoint;
      scaling.joint = read_joint(named, key, robot);
    } else {
      scaling.center = read_choice(node, key, {"natural", "tool", "joint 5"}) == "tool" ? MapScaling::Center::kTool
                                                                                        : MapScaling::Center::kNatural;
    }
  };
  const auto write = [&] {
    return text(scaling.center == MapScaling::Center::kNatural ? std::string("natural")
                : scaling.center == MapScaling::Center::kTool  ? std::string("tool")
                                                               : "joint " + std::to_string(scaling.joint));
  };
  return custom({read, write, "`\"natural\"`, `\"tool\"`, `\"joint 5\"`",
                 R"({"type": "string", "pattern": "^(natural|tool|joint .+)$"})"});
}

/// A number between 0 and `below`, neither of them allowed.
AnyValue fraction(double& value, double below, const std::string& takes, const std::string& remedy) {
  const auto read = [&value, below, remedy](const Node& node, const std::string& key) {
    const double x = read_quantity(node, key, kRatio);
    if (!(x > 0 && x < below)) fail(node.place, key, describe(node) + " is out of range", remedy);
    value = x;
  };
  return custom(
      {read, [&value] { return shortest(value); }, takes,
       R"({"anyOf": [{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, {"type": "string"}]})"});
}

void measure_fields(Fields& f, MapScenario& s) {
  singularity::MeasureOptions& m = s.measure;
  f.key("near",
        fraction(m.near, 1, "above 0, below 1",
                 "Write near = 0.02, between 0 and 1: near a singularity is where the smallest singular value "
                 "is at most so large a share of the largest."),
        {.doc = "near: smallest singular value <= this share of the largest",
         .comment = "smallest singular value by the largest"});
  f.key("tolerance",
        // The two limits must not meet: a sample is near first and singular within that.
        fraction(m.tolerance, m.near, "above 0, below `near`",
                 "Write tolerance = 1e-10, above 0 and below measure.near: singular is where the "
                 "smallest singular value is at most so large a share of the largest."),
        {.doc = "singular: <= this share", .comment = "below it: singular"});
  f.key("center", center(m.scaling, s.robot),
        {.doc = "of the scaled screws; a joint: the origin of its kernel frame (`garra check ROBOT`)",
         .comment = "of the screws"});
  f.key("length", quantity(m.scaling.length, {kLength, Bounds::positive()}),
        {.doc = "that scales the screws", .otherwise = "natural"});
  f.key("precision", choice(m.precision),
        {.doc = "of the first pass; fp32: a sixteenth of it again in double", .comment = "of the first pass"});
  f.key("nearest", boolean(s.nearest), {.comment = "look for the singularity next to every near sample"});
}

/// The number of nodes that are the samples; one more than the most where there are more.
std::int64_t count_nodes(const MapScenario& s) {
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
    // Divided, not multiplied: the product of large grids may overflow.
    if (side > kMaxSamples / nodes) return kMaxSamples + 1;
    nodes *= side;
  }
  return nodes;
}

void sampling_fields(Fields& f, MapScenario& s, std::int64_t nodes) {
  const bool chosen = nodes == 0;
  const std::string them = std::string(s.task ? "the grid of [task]" : "the grid of [joints]") + " has " +
                           std::to_string(nodes) + " nodes, and they are the samples";
  study::Plan& plan = s.plan;
  f.when({chosen, "without grids", them, "Leave it out, or change the points."},
         [&] { samples_field(f, plan.samples, {.doc = "else the nodes of the grid (times starts) are the samples"}); });
  f.key("sequence", choice(s.sequence), {.doc = "even: low discrepancy"});
  f.check(s.sequence == singularity::Sequence::kRandom || (!s.task && draws_joints(s)), "sequence",
          s.task ? "starts of [task] are always random" : "no joint is drawn", "Leave it out.");
  if (f.reading()) larger_chunks(plan, kMaxBlocks);
  chunk_field(f, plan, {.doc = "samples of one file; more where there are many; doubled until there are at most 4000"});
  max_unsolved_field(f, plan);
  // An interval of P speaks of random draws; the nodes of a grid are all there is, so stopping early has no meaning.
  f.when({chosen, "without grids", them, "Leave it out: some of the nodes would not stand for the others."},
         [&] { stop_field(f, plan); });
  time_limit_field(f, plan);
}

void kept_fields(Fields& f, MapScenario& s) {
  f.key("keep", choice(s.plan.keep, {"near", "none"}), {.doc = "samples that are stored one by one"});
  f.key("keep_from_first", count(s.keep_from_first, {.high = kMaxSamples}),
        {.doc = "among so many first samples", .comment = "samples"});
  f.key("voxels",
        count(s.voxels, {.low = 0,
                         .high = kMaxVoxels,
                         .remedy = "Write voxels = 32, the number of cubes along the longest side of the workspace; 0 "
                                   "for none."}),
        {.doc = "cubes along the longest side of the workspace; 0: none",
         .comment = "along the longest side of the workspace"});
}

/// Asks the kernels whether they take this arm, before anything is computed.
void check_kernels(Fields& f, const MapScenario& s) {
  if (!f.reading() || !f.good()) return;
  try {
    // Zero configurations: the options and the number of joints are checked, nothing runs.
    static_cast<void>(singularity::measure(s.robot, {}, s.measure, {}));
  } catch (const Error& error) {
    f.check(false, "robot", error.what(), "");
  }
}

/// What a scenario is before its file is read.
MapScenario defaults() {
  MapScenario s;
  s.plan.samples = kDefaultSamples;
  s.plan.chunk = kDefaultChunk;
  s.plan.keep = "near";
  return s;
}

/// All that there is to say of the job. `file` is the scenario's; `robot` where it names the robot.
void map_scenario_fields(Fields& f, MapScenario& s, const std::string& file, const Place& robot) {
  header_fields(f, "singularity", s.title, &s.plan.seed);
  robot_fields(f, file, "puma560", {s.model, s.model_file, s.base, s.tip, s.robot, false, true});
  f.then([&] {
    try {
      s.robot = singularity::merge_helical(s.robot);
    } catch (const Error& error) {
      f.check(false, "robot", error.what(), "");
    }
  });
  joint_source_fields(f, s.robot, robot, s.joint);
  optional_table(f, "task", {.doc = "instead of grids of joints: targets of the tool point"}, s.task,
                 [&](singularity::TaskGrid& task) { task_fields(f, task); });
  const bool grid = std::any_of(s.joint.begin(), s.joint.end(),
                                [](const JointSource& joint) { return joint.kind == JointSource::Kind::kGrid; });
  f.check(!s.task || !grid, "task", "a grid of tool positions and one of joint values",
          "Give joints ranges with uniform: starts of the search are drawn from them.");
  f.table("measure", {.doc = "what is near, and what singular"}, [&] { measure_fields(f, s); });
  slice_fields(f, s.robot, s.slices);
  // Only where all is right so far: sources of a robot that is wrong mean nothing.
  const std::int64_t nodes = f.good() && visits_nodes(s) && f.has("robot", true) ? count_nodes(s) : 0;
  f.check(nodes <= kMaxSamples, s.task ? "task" : "joints", "more than 1e12 nodes", "Give fewer points.");
  // Grids decide the number of samples, so that it need not be written twice.
  if (f.reading() && nodes > 0) s.plan.samples = nodes;
  f.table("sampling", {.doc = "how many samples"}, [&] { sampling_fields(f, s, nodes); });
  f.table("output", {.doc = "what is kept"}, [&] { kept_fields(f, s); });
  check_kernels(f, s);
}

}  // namespace

bool draws_joints(const MapScenario& s) {
  return std::any_of(s.joint.begin(), s.joint.end(),
                     [](const JointSource& joint) { return joint.kind == JointSource::Kind::kUniform; });
}

bool visits_nodes(const MapScenario& s) {
  const bool grid = std::any_of(s.joint.begin(), s.joint.end(),
                                [](const JointSource& joint) { return joint.kind == JointSource::Kind::kGrid; });
  // Where every joint is held there is one node.
  return s.task || grid || !draws_joints(s);
}

namespace {

MapScenario build_map_scenario(const Node& document, const std::string& name) {
  const Node *joints = document.find("joints"), *robot = document.find("robot");
  // Where a joint is missing there is no key to point at: the table that should have it, else the robot's, is the
  // place.
  const Node& at = joints != nullptr ? *joints : robot != nullptr ? *robot : document;
  const auto fields = [&](Fields& f, MapScenario& s) { map_scenario_fields(f, s, name, at.place); };
  return read_job_scenario(document, "singularity", "map of singularities", defaults(), fields);
}

}  // namespace

MapScenario parse_singularity_scenario(const std::string& text, const std::string& name,
                                       const std::vector<std::string>& overrides) {
  return build_map_scenario(parse_toml(text, name, overrides), name);
}

MapScenario read_singularity_scenario(const ScenarioDocument& document) {
  return build_map_scenario(document.root(), document.name());
}

MapScenario read_singularity_scenario(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_singularity_scenario(read_text(path), path, overrides);
}

std::string resolved_toml(const MapScenario& s) {
  return written(s, [](Fields& f, MapScenario& scenario) { map_scenario_fields(f, scenario, "", {}); });
}

void describe_singularity(Fields& f) {
  MapScenario s = defaults();
  map_scenario_fields(f, s, "", {});
}

}  // namespace garra::io
