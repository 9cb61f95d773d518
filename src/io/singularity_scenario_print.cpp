// A map of singularities written back as TOML, with everything filled in.
#include "garra/io/singularity_scenario.hpp"
#include "garra/math/rotation.hpp"
#include "io/number.hpp"
#include "io/scenario_text.hpp"
#include "io/singularity_scenario_parts.hpp"

namespace garra::io {

namespace {

using singularity::JointSource;
using singularity::MapScaling;
using singularity::MapScenario;
using singularity::Slice;

std::string number_text(int joint) { return std::to_string(joint + 1); }

const Dimension& dimension_of(const MapScenario& s, int joint) {
  return kJointPosition.of(s.robot.joint[static_cast<std::size_t>(joint)]);
}

void write_joints(const MapScenario& s, Writer& w) {
  w.table("joints");
  for (int j = 0; j < s.robot.joints; ++j) {
    const JointSource& source = s.joint[static_cast<std::size_t>(j)];
    const Dimension& d = dimension_of(s, j);
    const std::string ends = "[" + text(source.low, d) + ", " + text(source.high, d) + "]";
    std::string value;
    switch (source.kind) {
      case JointSource::Kind::kFixed:
        value = "fixed = " + text(source.low, d);
        break;
      case JointSource::Kind::kUniform:
        value = "uniform = " + ends;
        break;
      case JointSource::Kind::kGrid:
        value = "grid = " + ends + ", points = " + std::to_string(source.points);
        break;
    }
    w.line("\"" + number_text(j) + "\"", "{ " + value + " }", s.robot.joint[static_cast<std::size_t>(j)].name);
  }
}

void write_task(const MapScenario& s, Writer& w) {
  if (!s.task) return;
  const singularity::TaskGrid& t = *s.task;
  w.table("task");
  w.quantity("low", t.low, kLength);
  w.quantity("high", t.high, kLength);
  w.line("points", "[" + std::to_string(t.points[0]) + ", " + std::to_string(t.points[1]) + ", " +
                       std::to_string(t.points[2]) + "]");
  if (t.orientation) w.quantity("orientation", rpy_from_rotation(*t.orientation), kAngle);
  w.line("starts", std::to_string(t.starts), "of the search for joint values, at each node");
}

void write_measure(const MapScenario& s, Writer& w) {
  const singularity::MeasureOptions& m = s.measure;
  const MapScaling& scaling = m.scaling;
  const std::string center = scaling.center == MapScaling::Center::kNatural ? "natural"
                             : scaling.center == MapScaling::Center::kTool  ? "tool"
                                                                            : "joint " + number_text(scaling.joint);
  w.table("measure");
  w.line("near", shortest(m.near), "smallest singular value by the largest");
  w.line("tolerance", shortest(m.tolerance), "below it: singular");
  w.line("center", text(center), "of the screws");
  if (scaling.length) w.quantity("length", *scaling.length, kLength);
  w.line("precision", m.precision == singularity::Precision::kSingle ? "\"fp32\"" : "\"fp64\"", "of the first pass");
  w.line("nearest", text(s.nearest), "look for the singularity next to every near sample");
}

std::string axis_text(const MapScenario& s, int joint, double low, double high) {
  const Dimension& d = dimension_of(s, joint);
  return "{ joint = " + number_text(joint) + ", from = " + text(low, d) + ", to = " + text(high, d) + " }";
}

void write_slice(const MapScenario& s, const Slice& slice, Writer& w) {
  w.table("[slice]");
  w.line("x", axis_text(s, slice.x, slice.x_low, slice.x_high));
  w.line("y", axis_text(s, slice.y, slice.y_low, slice.y_high));
  std::string q;
  for (int j = 0; j < s.robot.joints; ++j)
    q += (j == 0 ? "" : ", ") + text(slice.q[static_cast<std::size_t>(j)], dimension_of(s, j));
  w.line("q", "[" + q + "]", "of the other joints");
  w.line("points", std::to_string(slice.points), "along each side");
}

void write_plan(const MapScenario& s, Writer& w) {
  const study::Plan& plan = s.plan;
  w.table("sampling");
  if (!visits_nodes(s)) w.line("samples", std::to_string(plan.samples));
  w.line("sequence", s.sequence == singularity::Sequence::kRandom ? "\"random\"" : "\"even\"");
  w.line("chunk", std::to_string(plan.chunk));
  w.line("max_unsolved", shortest(plan.max_unsolved), "share of the samples");
  if (plan.stop_half_width > 0) w.line("stop", "{ half_width = " + shortest(plan.stop_half_width) + " }");
  if (plan.time_limit > 0) w.quantity("time_limit", plan.time_limit, kTime);
  w.table("output");
  w.line("keep", text(plan.keep));
  w.line("keep_from_first", std::to_string(s.keep_from_first), "samples");
  w.line("voxels", std::to_string(s.voxels), "along the longest side of the workspace");
}

}  // namespace

std::string resolved_toml(const MapScenario& s) {
  Writer w;
  w.line("schema", "1");
  w.line("job", "\"singularity\"");
  w.line("title", text(s.title));
  w.line("seed", std::to_string(s.plan.seed));
  write_robot_table(s, w);
  write_joints(s, w);
  write_task(s, w);
  write_measure(s, w);
  for (const Slice& slice : s.slices) write_slice(s, slice, w);
  write_plan(s, w);
  return w.take();
}

}  // namespace garra::io
