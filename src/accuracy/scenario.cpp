// The fields of a scenario with job = "accuracy".
#include "accuracy/scenario.hpp"

#include <cmath>

#include "base/files/number.hpp"
#include "base/scenario/field_writer.hpp"
#include "base/scenario/jobs.hpp"
#include "base/scenario/parts.hpp"
#include "chain/files/joint_fields.hpp"
#include "chain/files/robot_table.hpp"

namespace garra::io {

namespace {

using accuracy::Scenario;

constexpr JointDimension kShift{kLength, kLength}, kTurn{kAngle, kAngle};

Scenario defaults() {
  Scenario s;
  s.plan.samples = 100'000;
  return s;
}

/// A list of one number per joint, or a list of such lists.
AnyValue poses(std::vector<double>& q, const chain::Robot& robot) {
  const auto read_pose = [&](const Node& node, const std::string& key) {
    const auto& items = read_array(node, key, static_cast<std::size_t>(robot.joints));
    // A robot that was not found has no joints, and that is said already.
    for (std::size_t j = 0; j < robot.joint.size(); ++j)
      q.push_back(read_quantity(items[j], item(key, j), kJointPosition.of(robot.joint[j])));
  };
  const auto read = [&q, read_pose](const Node& node, const std::string& key) {
    q.clear();
    const auto& items = read_array(node, key, 0);
    if (items.empty() || items[0].kind != Node::Kind::kArray) return read_pose(node, key);
    if (items.size() > accuracy::kMostPoses)
      fail(node.place, key, std::to_string(items.size()) + " poses",
           "Give at most " + std::to_string(accuracy::kMostPoses) + ".");
    for (std::size_t k = 0; k < items.size(); ++k) read_pose(items[k], item(key, k));
  };
  const auto text = [&] {
    std::string all;
    for (std::size_t k = 0; k < q.size(); k += robot.joint.size())
      all += (k == 0 ? "" : ", ") + list(q.data() + k, robot.joints, kRatio);
    return "[" + all + "]";
  };
  return custom(
      {read, text, "a list of J numbers, or up to 32 such lists, rad or m", R"({"type": "array", "minItems": 1})"});
}

void tolerance_fields(Fields& f, Scenario& s) {
  if (f.reading()) {
    const std::vector<study::Distribution> zero(static_cast<std::size_t>(s.robot.joints),
                                                study::Distribution::constant(0));
    s.frame_position = s.frame_angle = s.offset = s.backlash = {zero, true};
    s.stiffness.assign(zero.size(), INFINITY);
  }
  const auto inputs = [&](const char* name, chain::JointInputs& values, const JointDimension& of, const char* doc) {
    f.key(name, joint_distributions(values, s.robot, of, Bounds::any()), {.doc = doc, .otherwise = "`0`"});
  };
  inputs("position", s.frame_position, kShift, "shift of a link frame along each of its axes");
  inputs("angle", s.frame_angle, kTurn, "turn of a link frame about each of its axes");
  inputs("offset", s.offset, kJointPosition, "error of a joint's zero");
  inputs("backlash", s.backlash, kJointPosition, "play of a joint; the same in all poses of a sample");
  f.key("temperature", distribution(s.temperature, {kRatio}), {.doc = "above that of calibration, in K"});
  f.key("expansion", quantity(s.expansion, {kRatio, Bounds::not_negative()}),
        {.doc = "of all links per K: steel 12e-6, aluminum 23e-6"});
}

void load_fields(Fields& f, Scenario& s) {
  if (f.has("stiffness", std::isfinite(s.stiffness.empty() ? INFINITY : s.stiffness[0])))
    f.key("stiffness", joint_numbers(s.stiffness, s.robot, kJointStiffness, Bounds::positive()),
          {.doc = "of each joint's drive", .otherwise = "rigid"});
  f.key("payload", distribution(s.payload, {kMass, Bounds::not_negative()}), {.doc = "at the tool point"});
  f.key("gravity_compensated", boolean(s.gravity_compensated),
        {.doc = "the controller takes the deflection by the links' weight into account"});
}

void scenario_fields(Fields& f, Scenario& s, const std::string& file) {
  header_fields(f, "accuracy", s.title, &s.plan.seed);
  robot_fields(f, file, "puma560", {s.model, s.model_file, s.base, s.tip, s.robot});
  f.table("command", {.doc = "the poses", .required = "Write [command] with q = [...], one number per joint."}, [&] {
    f.key("q", poses(s.q, s.robot),
          {.doc = "commanded joint values of one pose or of several",
           .required = "Write q = [0, \"-45 deg\", ...], one number per joint."});
  });
  f.table("tolerance", {.doc = "of the arm"}, [&] { tolerance_fields(f, s); });
  f.table("load", {.doc = "what deflects the drives"}, [&] { load_fields(f, s); });
  f.table("limit", {.doc = "of the tool's error; `within` is the event that no pose exceeds them"}, [&] {
    f.key("position", quantity(s.position_limit, {kLength, Bounds::positive()}), {.doc = "distance of the tool point"});
    f.key("angle", quantity(s.angle_limit, {kAngle, Bounds::positive()}, INFINITY),
          {.doc = "angle between commanded and actual orientation", .otherwise = "none"});
  });
  f.table("sampling", {.doc = "how many samples"}, [&] {
    samples_field(f, s.plan.samples, {.doc = "arms that are drawn"});
    chunk_field(f, s.plan, {.doc = "samples of one file of a run"});
    max_unsolved_field(f, s.plan);
    stop_field(f, s.plan);
    time_limit_field(f, s.plan);
  });
  output_fields(f, s.plan);
  f.then([&] {
    if (!f.good()) return;  // a key that was refused has a default, which may be wrong as well
    try {
      static_cast<void>(accuracy::make_study(s));
    } catch (const Error& error) {
      f.check(false, "robot", error.what(), "");
    }
  });
}

}  // namespace

Scenario read_accuracy(const ScenarioDocument& document) {
  const auto fields = [&](Fields& f, Scenario& s) { scenario_fields(f, s, document.name()); };
  return read_job_scenario(document.root(), "accuracy", "study of an arm's accuracy", defaults(), fields);
}

std::string resolved_toml(const Scenario& s) {
  return written(s, [](Fields& f, Scenario& scenario) { scenario_fields(f, scenario, ""); });
}

void describe_accuracy(Fields& f) {
  Scenario s = defaults();
  scenario_fields(f, s, "");
}

}  // namespace garra::io
