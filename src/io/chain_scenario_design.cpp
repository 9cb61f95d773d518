// One design of a chain study: [start], [vary], [torque], [time], [settle].
#include <cmath>

#include "io/chain_scenario_parts.hpp"
#include "io/distribution_reader.hpp"
#include "io/scenario_parts.hpp"

namespace garra::io {

namespace {

using chain::Design;
using chain::JointInputs;
using chain::Robot;
using chain::TorqueKind;
using study::Distribution;

constexpr std::int64_t kMostOutputs = 10'000;
constexpr double kMostSteps = 1e9;

/// read(item, its name, its dimension) for every joint: from a list with one item each, or from one value for all.
template <class Read>
void for_each_joint(const Node& node, const std::string& key, const JointDimension& dimension, const Robot& robot,
                    const Read& read) {
  const bool one = node.kind != Node::Kind::kArray;
  if (!one) static_cast<void>(read_array(node, key, static_cast<std::size_t>(robot.joints)));
  for (std::size_t j = 0; j < static_cast<std::size_t>(robot.joints); ++j)
    read(one ? node : node.items[j], one ? key : item(key, j), dimension.of(robot.joint[j]));
}

/// A table of a design with what its readers need.
struct Section {
  TableReader table;
  const Robot& robot;

  /// One number per joint; `otherwise` where the key is missing.
  std::vector<double> numbers(const char* name, const JointDimension& dimension, double otherwise,
                              const Bounds& bounds = Bounds::any()) {
    const Node* node = table.find(name);
    if (node == nullptr) return std::vector<double>(static_cast<std::size_t>(robot.joints), otherwise);
    std::vector<double> out;
    for_each_joint(*node, table.name(name), dimension, robot,
                   [&](const Node& from, const std::string& key, const Dimension& d) {
                     out.push_back(read_bounded(from, key, {d, bounds}));
                   });
    return out;
  }

  /// One distribution per joint into `into`, where the key is there.
  void inputs(const char* name, const JointDimension& dimension, const Bounds& bounds, JointInputs& into) {
    const Node* node = table.find(name);
    if (node == nullptr) return;
    into = {{}, node->kind != Node::Kind::kArray};
    for_each_joint(*node, table.name(name), dimension, robot,
                   [&](const Node& from, const std::string& key, const Dimension& d) {
                     into.value.push_back(read_distribution(from, key, {d, bounds}));
                   });
  }

  void factor(const char* name, const Bounds& bounds, Distribution& into) {
    if (const Node* node = table.find(name)) into = read_distribution(*node, table.name(name), {kRatio, bounds});
  }

  void number(const char* name, const Wanted& wanted, double& into) {
    if (const Node* node = table.find(name)) into = read_bounded(*node, table.name(name), wanted);
  }
};

void read_start(const Node& node, const Robot& robot, Design& design) {
  Section s{TableReader(node, "start"), robot};
  const std::vector<Distribution> zero(static_cast<std::size_t>(robot.joints), Distribution::constant(0));
  design.q = design.qd = {zero, true};
  s.inputs("q", kJointPosition, Bounds::any(), design.q);
  s.inputs("qd", kJointSpeed, Bounds::any(), design.qd);
  s.table.finish();
}

void read_vary(const Node& node, const Robot& robot, Design& design) {
  Section s{TableReader(node, "vary"), robot};
  design.damping = {{}, false};
  for (const auto& joint : robot.form) design.damping.value.push_back(Distribution::constant(joint.damping));
  s.inputs("damping", kJointDamping, Bounds::not_negative(), design.damping);
  s.factor("mass", Bounds::positive(), design.mass);
  s.factor("size", Bounds::positive(), design.size);
  s.factor("amplitude", Bounds::any(), design.amplitude);
  s.table.finish();
}

/// Rows of torques, as one list.
std::vector<double> read_points(const Node& node, const std::string& key, const Robot& robot) {
  std::vector<double> out;
  const std::vector<Node>& rows = read_array(node, key, 0);
  if (rows.empty()) fail(node.place, key, "no points", "Write points = [[tau1, tau2, ...], ...], one row per time.");
  for (std::size_t k = 0; k < rows.size(); ++k)
    for_each_joint(rows[k], item(key, k), kJointTorque, robot,
                   [&](const Node& from, const std::string& name, const Dimension& d) {
                     out.push_back(read_quantity(from, name, d));
                   });
  return out;
}

void read_feedback(Section& s, chain::TorqueInput& torque) {
  torque.set_point = s.numbers("set_point", kJointPosition, 0);
  torque.kp = s.numbers("kp", kp_dimension(torque.kind), 0, Bounds::not_negative());
  torque.kd = s.numbers("kd", kd_dimension(torque.kind), 0, Bounds::not_negative());
  if (torque.kind != TorqueKind::kPd) return;
  if (const Node* node = s.table.find("compensate_gravity"))
    torque.compensate_gravity = read_boolean(*node, s.table.name("compensate_gravity"));
}

void read_course(Section& s, chain::TorqueInput& torque) {
  const bool ramp = torque.kind == TorqueKind::kRamp;
  if (ramp || torque.kind == TorqueKind::kStep) s.number("start", {kTime, Bounds::not_negative()}, torque.start);
  if (ramp) {
    const Node& end = s.table.require("end", "Write when the ramp ends: end = \"0.2 s\".");
    torque.end = read_quantity(end, s.table.name("end"), kTime);
    if (!(torque.end > torque.start)) fail(end.place, s.table.name("end"), "not after start", "Let it end later.");
  }
  if (torque.kind == TorqueKind::kSine) {
    torque.frequency = s.numbers("frequency", {kFrequency, kFrequency}, 0);
    torque.phase = s.numbers("phase", {kAngle, kAngle}, 0);
  }
  if (torque.kind == TorqueKind::kSampled) {
    const Node& interval = s.table.require("interval", "Write the time between two points: interval = \"10 ms\".");
    torque.interval = read_bounded(interval, s.table.name("interval"), {kTime, Bounds::positive()});
    const Node& points = s.table.require("points", "Write points = [[tau1, tau2, ...], ...], one row per time.");
    torque.points = read_points(points, s.table.name("points"), s.robot);
  }
}

void read_torque(const Node& node, const Robot& robot, Design& design) {
  Section s{TableReader(node, "torque"), robot};
  chain::TorqueInput& torque = design.torque;
  if (const Node* kind = s.table.find("kind"))
    torque.kind = chain::parse_torque_kind(
        read_choice(*kind, s.table.name("kind"), {"constant", "step", "ramp", "sine", "sampled", "pd", "computed"}));
  const bool factor = is_feedback(torque.kind) || torque.kind == TorqueKind::kSampled;
  torque.amplitude = s.numbers("amplitude", amplitude_dimension(torque.kind), factor ? 1 : 0);
  is_feedback(torque.kind) ? read_feedback(s, torque) : read_course(s, torque);
  if (s.table.find("limit") != nullptr) torque.limit = s.numbers("limit", kJointTorque, 0, Bounds::not_negative());
  s.table.finish();
}

void read_time(const Node& node, const Robot& robot, Design& design) {
  Section s{TableReader(node, "time"), robot};
  chain::SimulateOptions& o = design.options;
  s.number("until", {kTime, Bounds::positive()}, o.until);
  if (const Node* method = s.table.find("method"))
    o.method = chain::parse_integrator(
        read_choice(*method, s.table.name("method"), {"implicit", "implicit1", "rk4", "dopri5"}));
  if (o.method == chain::Integrator::kDopri5) {
    s.number("tolerance", {kRatio, {.low = 0, .high = 1e-2, .above_low = true}}, o.tolerance.relative);
    o.tolerance.absolute = 1e-2 * o.tolerance.relative;
    if (const Node* n = s.table.find("max_steps"))
      o.max_steps = static_cast<int>(read_count(*n, s.table.name("max_steps"), 1'000'000'000));
  } else {
    s.number("step", {kTime, Bounds::positive()}, o.step);
    if (o.until / o.step > kMostSteps)
      fail(s.table.place(), "time.step", "more than 1e9 steps until the end", "Give a longer step or an earlier end.");
  }
  if (const Node* n = s.table.find("outputs")) {
    design.outputs = static_cast<int>(read_count(*n, s.table.name("outputs"), kMostOutputs));
    if (design.outputs < 2) fail(n->place, s.table.name("outputs"), "must be at least 2", "Write outputs = 200.");
  }
  if (const Node* limits = s.table.find("limits")) {
    const std::string rule = read_choice(*limits, s.table.name("limits"), {"ignore", "finish", "stop"});
    o.limits = rule == "ignore"   ? chain::LimitRule::kIgnore
               : rule == "finish" ? chain::LimitRule::kFinish
                                  : chain::LimitRule::kStop;
  }
  s.table.finish();
}

/// Numbers that all joints share are of the kind that the first joint has.
void read_settle(const Node& node, const Robot& robot, Design& design) {
  Section s{TableReader(node, "settle"), robot};
  chain::SimulateOptions& o = design.options;
  const Node& within = s.table.require("within", "Write how soon it must be at rest: within = \"50 ms\".");
  design.within = read_bounded(within, s.table.name("within"), {kTime, Bounds::positive()});
  if (design.within > o.until)
    fail(within.place, s.table.name("within"), "later than time.until",
         "What happens after the end is not known: let the simulation go on for longer.");
  s.number("speed", {kJointSpeed.of(robot.joint[0]), Bounds::positive()}, o.settle_speed);
  s.number("band", {kJointPosition.of(robot.joint[0]), Bounds::positive()}, o.settle_band);
  if (s.table.find("at") != nullptr) o.settle_at = s.numbers("at", kJointPosition, 0);
  s.table.finish();
}

}  // namespace

bool is_feedback(TorqueKind kind) { return kind == TorqueKind::kPd || kind == TorqueKind::kComputed; }
JointDimension amplitude_dimension(TorqueKind kind) {
  return is_feedback(kind) || kind == TorqueKind::kSampled ? kPlain : kJointTorque;
}
JointDimension kp_dimension(TorqueKind kind) {
  constexpr Dimension rate{.s = -2};
  return kind == TorqueKind::kPd ? kJointStiffness : JointDimension{rate, rate};
}
JointDimension kd_dimension(TorqueKind kind) {
  return kind == TorqueKind::kPd ? kJointDamping : JointDimension{kFrequency, kFrequency};
}

Design read_design(TableReader& root, const Robot& robot) {
  Design design;
  read_start(root.find_table("start"), robot, design);
  read_vary(root.find_table("vary"), robot, design);
  read_torque(root.find_table("torque"), robot, design);
  read_time(root.find_table("time"), robot, design);
  read_settle(root.require("settle", "Write a [settle] table with within = \"50 ms\"."), robot, design);
  return design;
}

std::string unit_of_key(const std::string& key, const chain::Scenario& scenario) {
  const TorqueKind kind = scenario.designs.front().torque.kind;
  const struct {
    const char* key;
    JointDimension dimension;
  } known[] = {{"start.q", kJointPosition},
               {"start.qd", kJointSpeed},
               {"vary.damping", kJointDamping},
               {"torque.amplitude", amplitude_dimension(kind)},
               {"torque.start", {kTime, kTime}},
               {"torque.end", {kTime, kTime}},
               {"torque.frequency", {kFrequency, kFrequency}},
               {"torque.phase", {kAngle, kAngle}},
               {"torque.interval", {kTime, kTime}},
               {"torque.set_point", kJointPosition},
               {"torque.kp", kp_dimension(kind)},
               {"torque.kd", kd_dimension(kind)},
               {"torque.limit", kJointTorque},
               {"time.until", {kTime, kTime}},
               {"time.step", {kTime, kTime}},
               {"settle.within", {kTime, kTime}},
               {"settle.speed", kJointSpeed},
               {"settle.band", kJointPosition},
               {"settle.at", kJointPosition}};
  for (const auto& entry : known)
    if (key == entry.key || key.starts_with(std::string(entry.key) + "."))
      return si_unit(entry.dimension.of(scenario.robot.joint[0]));
  return "";
}

}  // namespace garra::io
