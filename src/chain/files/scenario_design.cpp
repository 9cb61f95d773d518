// One design of a chain study: [start], [vary], [torque], [simulation], [settle].
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files/suggest.hpp"
#include "base/scenario/parts.hpp"
#include "chain/files/joint_fields.hpp"
#include "chain/files/scenario_parts.hpp"

namespace garra::io {

namespace {

using chain::Design;
using chain::JointInputs;
using chain::Robot;
using chain::TorqueKind;
using study::Distribution;
using Json = nlohmann::ordered_json;

constexpr std::int64_t kMaxOutputs = 10'000;
constexpr double kMaxSteps = 1e9;
const std::vector<std::string> kTables = {"start", "vary", "torque", "tool", "friction", "simulation", "settle"};
constexpr Dimension kLinearStiffness = kSlidingStiffness, kLinearDamping = kSlidingDamping;

/// What numbers that all joints share are measured in: of the kind that the first joint has.
const Dimension& shared(const JointDimension& dimension, const Robot& robot) {
  return robot.joint.empty() ? dimension.turning : dimension.of(robot.joint[0]);
}

/// read(item, its name, its dimension) for every joint: from a list with one item each, or from one value for all.
template <class Read>
void for_each_joint(const Node& node, const std::string& key, const JointDimension& dimension, const Robot& robot,
                    const Read& read) {
  const bool one = node.kind != Node::Kind::kArray;
  if (!one) static_cast<void>(read_array(node, key, static_cast<std::size_t>(robot.joints)));
  const auto slides = [](const chain::Joint& joint) { return joint.prismatic; };
  const bool mixed = one && std::any_of(robot.joint.begin(), robot.joint.end(), slides) &&
                     !std::all_of(robot.joint.begin(), robot.joint.end(), slides);
  for (std::size_t j = 0; j < static_cast<std::size_t>(robot.joints); ++j) try {
      read(one ? node : node.items[j], one ? key : item(key, j), dimension.of(robot.joint[j]));
    } catch (const Error& error) {
      // The unit fits the other kind of joint only.
      if (!mixed || std::string(error.what()).find(", found a") == std::string::npos) throw;
      fail(node.place, key,
           "joint " + std::to_string(j) + (robot.joint[j].prismatic ? " slides" : " turns") +
               ", and other joints do not",
           "Give a list with one item for each joint, each with its unit.");
    }
}

/// One text where all joints have the same, else a list of them.
template <class Text>
std::string joints_text(const Robot& robot, const JointDimension& dimension, bool same, const Text& to_text) {
  if (robot.joint.empty()) return "";
  const auto of = [&](std::size_t j) { return to_text(j, dimension.of(robot.joint[j])); };
  std::string all = of(0);
  for (std::size_t j = 1; !same && j < robot.joint.size(); ++j) all += ", " + of(j);
  return same ? all : "[" + all + "]";
}

/// A value of every joint, or one for all of them.
class JointValue : public Value {
 public:
  JointValue(const Robot& robot, const JointDimension& dimension, const Bounds& bounds)
      : robot_(robot), dimension_(dimension), bounds_(bounds) {}
  [[nodiscard]] std::string unit() const override { return si_unit(shared(dimension_, robot_)); }
  [[nodiscard]] std::string takes() const override {
    const std::string turning = si_unit(dimension_.turning), sliding = si_unit(dimension_.sliding);
    const std::string units = turning == sliding ? turning : turning + " or " + sliding;
    const std::string low = std::isfinite(bounds_.low) ? bounds_.above_low ? ", above 0" : ", at least 0" : "";
    return "J" + std::string(is_drawn() ? "D" : "") + (units.empty() ? "" : ", " + units) + low;
  }
  [[nodiscard]] Json schema() const override {
    Json one = Json::parse(is_drawn() ? kDistributionSchema : R"({"type": ["number", "string"]})");
    return {{"anyOf", Json::array({one, {{"type", "array"}, {"items", one}}})}};
  }

 protected:
  [[nodiscard]] virtual bool is_drawn() const = 0;

  const Robot& robot_;
  JointDimension dimension_;
  Bounds bounds_;
};

class JointNumbers final : public JointValue {
 public:
  JointNumbers(std::vector<double>& values, const Robot& robot, const JointDimension& dimension, const Bounds& bounds)
      : JointValue(robot, dimension, bounds), values_(values) {}
  void read(const Node& node, const std::string& key) override {
    values_.clear();
    for_each_joint(node, key, dimension_, robot_, [&](const Node& from, const std::string& name, const Dimension& d) {
      values_.push_back(read_bounded(from, name, {d, bounds_}));
    });
  }
  [[nodiscard]] std::string text() const override {
    const bool same = std::adjacent_find(values_.begin(), values_.end(), std::not_equal_to<>()) == values_.end();
    return joints_text(robot_, dimension_, same,
                       [&](std::size_t j, const Dimension& d) { return io::text(values_[j], d); });
  }

 private:
  [[nodiscard]] bool is_drawn() const override { return false; }

  std::vector<double>& values_;
};

class JointDistributions final : public JointValue {
 public:
  JointDistributions(JointInputs& inputs, const Robot& robot, const JointDimension& dimension, const Bounds& bounds)
      : JointValue(robot, dimension, bounds), inputs_(inputs) {}
  void read(const Node& node, const std::string& key) override {
    inputs_ = {{}, node.kind != Node::Kind::kArray};
    for_each_joint(node, key, dimension_, robot_, [&](const Node& from, const std::string& name, const Dimension& d) {
      inputs_.value.push_back(read_distribution(from, name, {d, bounds_}));
    });
  }
  [[nodiscard]] std::string text() const override {
    return joints_text(robot_, dimension_, inputs_.common,
                       [&](std::size_t j, const Dimension& d) { return io::text(inputs_.value[j], d); });
  }

 private:
  [[nodiscard]] bool is_drawn() const override { return true; }

  JointInputs& inputs_;
};

/// The fields of one table, with what they need to know of the robot.
struct Section {
  Fields& f;
  const Robot& robot;

  /// One number per joint, `otherwise` where the key is missing.
  void joint_numbers(const char* name, std::vector<double>& values, const JointDimension& dimension, const Words& words,
                     double otherwise = 0, const Bounds& bounds = Bounds::any()) {
    // A default needs the robot: the number of joints.
    if (f.reading() && values.empty()) values.assign(static_cast<std::size_t>(robot.joints), otherwise);
    Words all = words;
    if (all.otherwise.empty()) all.otherwise = "`" + text(otherwise, kRatio) + "`";
    f.key(name, JointNumbers(values, robot, dimension, bounds), all);
  }
  /// The same, and none where the key is missing.
  void numbers_or_none(const char* name, std::vector<double>& values, const JointDimension& dimension,
                       const Words& words, const Bounds& bounds = Bounds::any()) {
    if (f.has(name, !values.empty())) f.key(name, JointNumbers(values, robot, dimension, bounds), words);
  }
  void inputs(const char* name, JointInputs& values, const JointDimension& dimension, const Words& words,
              const Bounds& bounds = Bounds::any()) {
    f.key(name, JointDistributions(values, robot, dimension, bounds), words);
  }
};

void start_fields(Section s, Design& design) {
  if (s.f.reading()) {
    // At rest at zero.
    const std::vector<Distribution> zero(static_cast<std::size_t>(s.robot.joints), Distribution::constant(0));
    design.q = design.qd = {zero, true};
  }
  s.inputs("q", design.q, kJointPosition, {.doc = "joint values", .otherwise = "`0`"});
  s.inputs("qd", design.qd, kJointSpeed, {.doc = "joint speeds", .otherwise = "`0`"});
}

void vary_fields(Section s, Design& design) {
  if (s.f.reading()) {
    design.damping = {{}, false};
    for (const auto& joint : s.robot.form) design.damping.value.push_back(Distribution::constant(joint.damping));
  }
  s.inputs("damping", design.damping, kJointDamping, {.doc = "viscous", .otherwise = "the robot's"},
           Bounds::not_negative());
  s.f.key("mass", distribution(design.mass, {kRatio, Bounds::positive()}),
          {.doc = "factor on masses and inertias of all links", .comment = "factor on masses and inertias"});
  s.f.key(
      "size", distribution(design.size, {kRatio, Bounds::positive()}),
      {.doc = "factor s on all lengths of a similar body: masses times s³, inertias times s⁵; armature and the base's "
              "origin stay, and so does the point of the first joint's axis nearest to it",
       .comment = "factor on lengths of a similar body"});
  s.f.key("amplitude", distribution(design.amplitude, {kRatio}), {.comment = "factor on torque.amplitude"});
}

/// Rows of torques, as one list.
AnyValue points(std::vector<double>& into, const Robot& robot) {
  const auto read = [&](const Node& node, const std::string& key) {
    const std::vector<Node>& rows = read_array(node, key, 0);
    if (rows.empty()) fail(node.place, key, "no points", "Write points = [[tau1, tau2, ...], ...], one row per time.");
    for (std::size_t k = 0; k < rows.size(); ++k)
      for_each_joint(rows[k], item(key, k), kJointTorque, robot,
                     [&](const Node& from, const std::string& name, const Dimension& d) {
                       into.push_back(read_quantity(from, name, d));
                     });
  };
  const auto rows_text = [&] {
    const int joints = robot.joints;
    std::string rows;
    // One row after the other, as TorqueInput::points has them.
    for (std::size_t k = 0; k < into.size(); k += robot.joint.size())
      rows += (k == 0 ? "" : ", ") + list(into.data() + k, joints, kRatio);
    return "[" + rows + "]";
  };
  return custom({read, rows_text, "rows of J, N*m or N", R"({"type": "array", "minItems": 1})"});
}

template <class Input, class Kind = decltype(Input::kind)>
Case of_kind(const Input& input, std::initializer_list<Kind> kinds) {
  Case c{std::find(kinds.begin(), kinds.end(), input.kind) != kinds.end()};
  for (const Kind kind : kinds)
    c.label += (c.label.empty() ? "kind = \"" : " or kind = \"") + std::string(name_of(kind)) + "\"";
  return c;
}

/// One formula for all joints, or one for each.
AnyValue expressions(std::vector<std::string>& into, const Robot& robot) {
  const auto read = [&](const Node& node, const std::string& key) {
    into.clear();
    const auto add = [&](const Node& from, const std::string& name) {
      if (from.kind != Node::Kind::kString) fail(from.place, name, "not a text", "Write a formula of t, q0, qd0, ...");
      into.push_back(from.text);
      try {
        static_cast<void>(chain::compile_formula(from.text, robot.joints));
      } catch (const Error& error) {
        const std::string what = error.what();
        const std::size_t line = what.find("\n  ");
        fail(from.place, name, what.substr(0, line), line == std::string::npos ? "" : what.substr(line + 3));
      }
    };
    if (node.kind != Node::Kind::kArray) return add(node, key);
    static_cast<void>(read_array(node, key, static_cast<std::size_t>(robot.joints)));
    for (std::size_t j = 0; j < node.items.size(); ++j) add(node.items[j], item(key, j));
  };
  const auto text = [&] {
    std::string all;
    for (const std::string& one : into) all += (all.empty() ? "" : ", ") + io::quoted(one);
    return into.size() == 1 ? all : "[" + all + "]";
  };
  return custom({read, text,
                 "J, a formula of `t` [s], `q0`, `qd0`, ..., `pi` with + - * / ^, sin, cos, exp, sqrt, abs, "
                 "step, min, max",
                 R"({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})"});
}

void course_fields(Section s, chain::TorqueInput& t) {
  Fields& f = s.f;
  f.when(of_kind(t, {TorqueKind::kStep, TorqueKind::kRamp}), [&] {
    f.key("start", quantity(t.start, {kTime, Bounds::not_negative()}), {.doc = "of the torque"});
  });
  f.when(of_kind(t, {TorqueKind::kRamp}), [&] {
    f.key("end", quantity(t.end, {kTime}),
          {.doc = "from when on it is whole", .required = "Write when the ramp ends: end = \"0.2 s\"."});
    f.check(t.end > t.start, "end", "not after start", "Let it end later.");
  });
  f.when(of_kind(t, {TorqueKind::kSine}), [&] {
    s.joint_numbers("frequency", t.frequency, {kFrequency, kFrequency}, {.doc = "of the sine"});
    s.joint_numbers("phase", t.phase, {kAngle, kAngle}, {.doc = "of the sine at the start"});
  });
  f.when(of_kind(t, {TorqueKind::kSampled}), [&] {
    f.key("interval", quantity(t.interval, {kTime, Bounds::positive()}),
          {.doc = "between two points", .required = "Write the time between two points: interval = \"10 ms\"."});
    f.key("points", points(t.points, s.robot),
          {.comment = "one row per time", .required = "Write points = [[tau1, tau2, ...], ...], one row per time."});
  });
  f.when(of_kind(t, {TorqueKind::kExpression}), [&] {
    f.key("expression", expressions(t.expression, s.robot),
          {.doc = "torque [N m or N] of each joint",
           .comment = "N*m or N",
           .required = "Write a formula: expression = \"0.01 * sin(2 * pi * t)\"."});
  });
}

void motor_fields(Section s, chain::MotorInput& motor) {
  Fields& f = s.f;
  s.joint_numbers("stall_torque", motor.stall_torque, kJointTorque,
                  {.doc = "of the motor with its gear, at the rated voltage"}, 0, Bounds::positive());
  s.joint_numbers("no_load_speed", motor.no_load_speed, kJointSpeed, {.doc = "at the rated voltage"}, 0,
                  Bounds::positive());
  f.key("voltage", quantity(motor.voltage, {kRatio, Bounds::not_negative()}),
        {.doc = "of the supply [V]: torque and speed are proportional to it", .otherwise = "the rated one"});
  f.key("rated_voltage", quantity(motor.rated_voltage, {kRatio, Bounds::not_negative()}), {.doc = "[V]"});
  f.check(!(motor.voltage > 0) || motor.rated_voltage > 0, "rated_voltage",
          "is missing or 0, and `voltage` refers to it",
          "Give the voltage of stall_torque and no_load_speed, or leave `voltage` out.");
  f.key("source", string(motor.source, true), {.doc = "where the numbers stand"});
}

/// Rows of a wrench, as one list.
AnyValue wrenches(std::vector<double>& into) {
  const auto read = [&](const Node& node, const std::string& key) {
    for (std::size_t k = 0; k < read_array(node, key, 0).size(); ++k) {
      const std::string name = item(key, k);
      const std::vector<Node>& row = read_array(node.items[k], name, 6);
      for (std::size_t i = 0; i < 6; ++i)
        into.push_back(read_quantity(row[i], item(name, i), i < 3 ? kForce : kTorque));
    }
  };
  const auto text = [&] {
    std::string rows;
    for (std::size_t k = 0; k < into.size(); k += 6) rows += (k == 0 ? "" : ", ") + list(into.data() + k, 6, kRatio);
    return "[" + rows + "]";
  };
  return custom({read, text, "rows of 6, N and N*m", R"({"type": "array", "minItems": 1})"});
}

void tool_fields(Section s, chain::ToolForceInput& tool) {
  using chain::ToolForceKind;
  Fields& f = s.f;
  f.key("kind", choice(tool.kind), {.doc = "force on the tool point, world axes"});
  const auto of = [&](std::initializer_list<ToolForceKind> kinds) { return of_kind(tool, kinds); };
  f.when(of({ToolForceKind::kConstant}), [&] {
    f.key("force", vector(tool.force, {kForce}));
    f.key("moment", vector(tool.moment, {kTorque}), {.doc = "about the tool point"});
  });
  f.when(of({ToolForceKind::kSampled}), [&] {
    f.key("interval", quantity(tool.interval, {kTime, Bounds::positive()}),
          {.doc = "between two points", .required = "Write the time between two points: interval = \"10 ms\"."});
    f.key("points", wrenches(tool.points),
          {.comment = "force and moment, one row per time",
           .required = "Write points = [[fx, fy, fz, mx, my, mz], ...]."});
  });
  f.when(of({ToolForceKind::kWall, ToolForceKind::kSpring}), [&] {
    f.key("place", vector(tool.place, {kLength}),
          {.doc = "a point of the wall; the middle of the body that the spring holds", .comment = "m"});
    f.key("stiffness", quantity(tool.stiffness, {kLinearStiffness, Bounds::not_negative()}));
    f.key("damping", quantity(tool.damping, {kLinearDamping, Bounds::not_negative()}));
  });
  f.when(of({ToolForceKind::kWall}), [&] {
    f.key("normal", vector(tool.normal, {kRatio}), {.doc = "out of the wall, which is frictionless and never pulls"});
    f.check(norm(tool.normal) > 0, "normal", "zero", "Give its direction, such as [0, 0, 1].");
  });
  f.when(of({ToolForceKind::kSpring}), [&] {
    f.key("play", quantity(tool.play, {kLength, Bounds::not_negative()}),
          {.doc = "distance from `place` within which there is no force"});
  });
}

void friction_fields(Section s, chain::FrictionInput& friction) {
  s.joint_numbers("coulomb", friction.coulomb, kJointTorque, {.doc = "of a sliding joint"}, 0, Bounds::not_negative());
  s.numbers_or_none("breakaway", friction.breakaway, kJointTorque,
                    {.doc = "of a joint that starts to slide", .otherwise = "`coulomb`"}, Bounds::not_negative());
  bool falls = false;
  for (std::size_t i = 0; i < std::min(friction.breakaway.size(), friction.coulomb.size()); ++i)
    falls = falls || friction.breakaway[i] < friction.coulomb[i];
  s.f.check(!falls, "breakaway", "is below coulomb",
            "A joint starts to slide at a torque of at least `coulomb`; leave `breakaway` out for the same.");
  s.joint_numbers("stribeck", friction.stribeck, kJointSpeed, {.doc = "speed at which a 1/e of the excess is left"},
                  0.1, Bounds::positive());
  s.joint_numbers("smooth", friction.smooth, kJointSpeed, {.doc = "speed below which friction is viscous"}, 1e-3,
                  Bounds::positive());
}

void torque_fields(Section s, chain::TorqueInput& t) {
  s.f.key("kind", choice(t.kind), {.doc = "what drives the joints"});
  // There the amplitude multiplies what the law gives: 1 leaves it as it is.
  const bool factor = is_factor(t.kind);
  s.joint_numbers("amplitude", t.amplitude, amplitude_dimension(t.kind),
                  {.doc = "of the torque; of sampled, expression, pd and computed a factor on it",
                   .otherwise = "`0`; a factor `1`"},
                  factor ? 1 : 0);
  course_fields(s, t);
  for (const TorqueKind kind : {TorqueKind::kPd, TorqueKind::kComputed})
    s.f.when(of_kind(t, {kind}), [&] {
      const Words medians{.doc = "controllers know the medians of damping, mass and size"};
      s.joint_numbers("set_point", t.set_point, kJointPosition, medians);
      s.joint_numbers("kp", t.kp, kp_dimension(kind), {.doc = "gain of the position"}, 0, Bounds::not_negative());
      s.joint_numbers("kd", t.kd, kd_dimension(kind), {.doc = "gain of the speed"}, 0, Bounds::not_negative());
    });
  s.f.when(of_kind(t, {TorqueKind::kPd}), [&] {
    s.f.key("compensate_gravity", boolean(t.compensate_gravity), {.doc = "adds the torque that holds the chain"});
  });
  s.numbers_or_none("limit", t.limit, kJointTorque, {.doc = "of the torque"}, Bounds::not_negative());
  if (s.f.has("motor", !t.motor.stall_torque.empty()))
    s.f.table("motor", {.doc = "torque-speed line of the motors: |tau + stall qd / no_load| <= stall"},
              [&] { motor_fields(s, t.motor); });
}

void time_fields(Section s, Design& design) {
  Fields& f = s.f;
  chain::SimulateOptions& o = design.options;
  f.key("duration", quantity(o.duration, {kTime, Bounds::positive()}), {.doc = "the end"});
  f.key("method", choice(o.method), {.doc = "of integration; dopri5 chooses its steps"});
  const bool adaptive = o.method == chain::Integrator::kDopri5;
  f.when({adaptive, "method = \"dopri5\""}, [&] {
    f.key("tolerance", quantity(o.tolerance.relative, {kRatio, {.low = 0, .high = 1e-2, .above_low = true}}),
          {.comment = "relative; of small numbers a hundredth"});
    f.key("max_steps", count(o.max_steps, {.high = 1'000'000'000}), {.doc = "accepted and rejected ones"});
    if (f.reading()) o.tolerance.absolute = 1e-2 * o.tolerance.relative;
  });
  f.when({!adaptive, "other methods"}, [&] {
    f.key("step", quantity(o.step, {kTime, Bounds::positive()}), {.doc = "shortened to meet outputs and jumps"});
    f.check(o.duration / o.step <= kMaxSteps, "step", "more than 1e9 steps until the end",
            "Give a longer step or an earlier end.");
  });
  f.key("outputs", count(design.outputs, {.low = 2, .high = kMaxOutputs, .remedy = "Write outputs = 200."}),
        {.comment = "times of the nominal trajectories"});
  f.key("limits", choice(o.limits),
        {.doc = "what a joint does at its limits: nothing, it ends the sample, or it stops there"});
}

void settle_fields(Section s, Design& design) {
  Fields& f = s.f;
  chain::SimulateOptions& o = design.options;
  f.key("within", quantity(design.within, {kTime, Bounds::positive()}),
        {.doc = "settled in time: settling time <= this",
         .required = "Write how soon it must be at rest: within = \"50 ms\"."});
  f.check(!f.good() || design.within <= o.duration, "within", "later than simulation.duration",
          "What happens after the end is not known: let the simulation go on for longer.");
  f.key("speed", quantity(o.settle_speed, {shared(kJointSpeed, s.robot), Bounds::positive()}),
        {.doc = "at rest: every joint slower than this"});
  f.key("band", quantity(o.settle_band, {shared(kJointPosition, s.robot), Bounds::positive()}),
        {.doc = "and this near"});
  s.numbers_or_none("at", o.settle_at, kJointPosition,
                    {.doc = "where; none: anywhere", .otherwise = "set point of pd and computed, else none"});
}

/// Finds the unit of one key.
class UnitFinder final : public Fields {
 public:
  explicit UnitFinder(std::string key) : key_(std::move(key)) {}

  using Fields::key;
  void key(const std::string& name, Value& value, const Words& /*words*/) override {
    // `start.q.2` has the unit of `start.q`.
    const std::string path = table_ + "." + name;
    if (key_ == path || key_.starts_with(path + ".")) unit_ = value.unit();
  }
  void table(const std::string& name, const Words& /*words*/, const Visit& visit) override {
    const std::string outer = table_;
    table_ = outer.empty() ? name : outer + "." + name;
    visit();
    table_ = outer;
  }
  void tables(const std::string& /*name*/, const Words& /*words*/, const Items& /*items*/) override {}
  void entries(const std::string& /*name*/, const Entries& /*entries*/) override {}
  void when(const Case& of, const Visit& visit) override {
    if (of.holds) visit();
  }
  [[nodiscard]] bool has(const std::string& /*name*/, bool now) override { return now; }

  [[nodiscard]] const std::string& unit() const { return unit_; }

 private:
  std::string key_, table_, unit_;
};

}  // namespace

bool is_factor(TorqueKind kind) {
  return is_feedback(kind) || kind == TorqueKind::kSampled || kind == TorqueKind::kExpression;
}
bool is_feedback(TorqueKind kind) { return kind == TorqueKind::kPd || kind == TorqueKind::kComputed; }
JointDimension amplitude_dimension(TorqueKind kind) { return is_factor(kind) ? kPlain : kJointTorque; }
JointDimension kp_dimension(TorqueKind kind) {
  constexpr Dimension rate{.s = -2};
  return kind == TorqueKind::kPd ? kJointStiffness : JointDimension{rate, rate};
}
JointDimension kd_dimension(TorqueKind kind) {
  return kind == TorqueKind::kPd ? kJointDamping : JointDimension{kFrequency, kFrequency};
}

bool is_table_of_designs(const std::string& name) {
  return std::find(kTables.begin(), kTables.end(), name) != kTables.end();
}

void design_fields(Fields& f, const Robot& robot, Design& design) {
  const Section s{f, robot};
  f.table("start", {.doc = "where samples start"}, [&] { start_fields(s, design); });
  f.table("vary", {.doc = "what is uncertain of the robot"}, [&] { vary_fields(s, design); });
  f.table("torque", {.doc = "what drives it"}, [&] { torque_fields(s, design.torque); });
  if (f.has("tool", design.options.tool.kind != chain::ToolForceKind::kNone))
    f.table("tool", {.doc = "what touches the tool"}, [&] { tool_fields(s, design.options.tool); });
  if (f.has("friction", !design.options.friction.coulomb.empty()))
    f.table("friction", {.doc = "dry friction of the joints, beside vary.damping"},
            [&] { friction_fields(s, design.options.friction); });
  f.table("simulation", {.doc = "how the motion is computed"}, [&] { time_fields(s, design); });
  if (!f.has("settle", design.settles())) return;
  f.table("settle", {.doc = "what counts as at rest; without it nothing is asked of the motions"},
          [&] { settle_fields(s, design); });
}

std::string unit_of_key(const std::string& key, const chain::Scenario& scenario) {
  UnitFinder f(key);
  // visit() may write to a design; the scenario's own stays as it is.
  Design first = scenario.designs.front();
  design_fields(f, scenario.robot, first);
  return f.unit();
}

AnyValue joint_numbers(std::vector<double>& values, const Robot& robot, const JointDimension& dimension,
                       const Bounds& bounds) {
  return AnyValue(std::make_shared<JointNumbers>(values, robot, dimension, bounds));
}

AnyValue joint_distributions(JointInputs& inputs, const Robot& robot, const JointDimension& dimension,
                             const Bounds& bounds) {
  return AnyValue(std::make_shared<JointDistributions>(inputs, robot, dimension, bounds));
}

}  // namespace garra::io
